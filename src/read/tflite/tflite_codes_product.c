/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_product.c -- builders of windows and products on codes.
 *
 * Sums of int8 products are int32, of int16 by int8 products int48; both become the result's codes
 * by one RESCALE, per channel. */
#include "../../num/load.h"
#include "tflite_fixed.h"
#include "tflite_window.h"

/* The factor of each of `count` channels: x_scale * w_scale / y_scale.  uint8 has one for all, and
 * the runtime rounds its x_scale * w_scale to f32. */
static bool factors(tc_tfl_node *n, const tc_tfl_tensor *x, const tc_tfl_tensor *w,
                    const tc_tfl_tensor *y, int axis, int64_t count, tc_tfl_factor **out,
                    int64_t *n_out)
{
    double xs = ti_tfl_scale(n, x), ys = ti_tfl_scale(n, y);
    if (!w || !w->n_scale || w->block)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the weights have no scale");
    else if (w->n_scale > 1 && (w->n_scale != count || w->axis != axis))
        ti_b_bad(&n->m, TC_E_ARGUMENT,
                 "the weights have %d scales on axis %d, expected "
                 "%" PRId64 " on axis %d",
                 w->n_scale, w->axis, count, axis);
    TC_STOP_WITH(&n->m, false);
    *n_out = w->n_scale;
    *out = tc_new_n(&n->m.ctx->arena, tc_tfl_factor, (size_t)w->n_scale);
    for (int i = 0; i < w->n_scale; i++)
        (*out)[i] = ti_tfl_factor_of(
            (x->shifted ? (double)((float)xs * (float)w->scale[i]) : xs * w->scale[i]) / ys);
    return true;
}

/* One zero for all weights: codes of many zeros are brought to 0 where they are constants. */
static int64_t weight_zero(tc_tfl_node *n, const tc_tfl_tensor *w)
{
    for (int i = 1; i < w->n_scale; i++)
        if (w->zero[i] != w->zero[0]) {
            ti_b_unsupported(&n->m, "weights with a zero point for each channel");
            return 0;
        }
    return w->zero[0];
}

/* Bias in the type of the sum; zeros if absent. */
static tc_val bias_of(tc_tfl_node *n, int i, int64_t count, tc_dtype sum)
{
    tc_build *m = &n->m;
    tc_val b = ti_tfl_in(n, i);
    int64_t one = 1, zero = 0;
    TC_STOP_WITH(m, TC_NONE);
    if (!b)
        return ti_tfl_const_of(m, sum, 1, &one, &zero);
    if (tc_type_count(ti_b_type(m, b)) != count) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " biases for %" PRId64 " channels",
                 tc_type_count(ti_b_type(m, b)), count);
        return TC_NONE;
    }
    b = ti_b_flat(m, b);
    if (ti_b_dtype(m, b) == sum)
        return b;
    tc_tensor t;
    if (!ti_b_known(m, b, &t)) {
        ti_b_unsupported(m, "a bias that is not constant");
        return TC_NONE;
    }
    int64_t *v = tc_new_n(&m->ctx->arena, int64_t, (size_t)count);
    ti_read_i64(t, 0, (size_t)count, v);
    return ti_tfl_const_of(m, sum, 1, &count, v);
}

static tc_dtype sum_of(const tc_tfl_tensor *x)
{
    return x->dtype == TC_i16 ? TC_i48 : TC_i32;
}

/* To the result's codes, activated. */
static tc_val finish(tc_tfl_node *n, tc_val y, const tc_tfl_factor *f, int64_t count,
                     int activation)
{
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    y = ti_tfl_rescale(&n->m, y, f, count, 0, ti_tfl_zero(t), t->dtype);
    if (activation > TFL_RELU6)
        ti_b_unsupported(&n->m, "activation %d on codes", activation);
    return ti_tfl_clamp(&n->m, y, ti_tfl_range_of(t, activation));
}

/* What no window reads is cut off: TOSA's windows end where the input does. */
static tc_val cropped(tc_build *m, tc_val x, const tc_tfl_window *w)
{
    for (int i = 0; i < 2; i++)
        x = ti_b_slice(m, x, 1 + i, 0, w[i].used, 1);
    return x;
}

static tc_ints ints(tc_build *m, int n, const int64_t *v)
{
    return ti_ints_copy(&m->ctx->arena, v, n);
}

static tc_val product(tc_tfl_node *n, tc_op op, tc_val x, tc_val w, tc_val bias,
                      const tc_tfl_window *win, int64_t x_zero, int64_t w_zero)
{
    tc_build *m = &n->m;
    tc_dtype dtype = ti_b_dtype(m, x);
    TC_STOP_WITH(m, TC_NONE);
    int64_t pad[4] = {win[0].before, win[0].after, win[1].before, win[1].after},
            stride[2] = {win[0].stride, win[1].stride},
            dilation[2] = {win[0].dilation, win[1].dilation};
    tc_attr_tosa_conv *a =
        ti_b_attr(m, tosa_conv, .pad = ints(m, 4, pad), .stride = ints(m, 2, stride),
                  .dilation = ints(m, 2, dilation), .local_bound = false,
                  .acc_type = dtype == TC_i16 ? TC_i48 : TC_i32);
    tc_val in[5] = {x, w, bias};
    in[3] = ti_tfl_number(m, dtype, 1, x_zero);
    in[4] = ti_tfl_number(m, TC_i8, 1, w_zero);
    return ti_b_op(m, op, a, in, 5);
}

static bool windows(tc_tfl_node *n, const tc_type *x, const int64_t *kernel, const uint32_t *stride,
                    const uint32_t *dilation, tc_tfl_window *w)
{
    for (int i = 0; i < 2; i++) {
        w[i] = (tc_tfl_window){.in = x->dim[1 + i],
                               .kernel = kernel[i],
                               .stride = ti_tfl_int(n, stride[i], 0),
                               .dilation = ti_tfl_int(n, dilation[i], 1)};
        if (!ti_tfl_window_of(n, ti_tfl_enum(n, 0), &w[i]))
            return false;
    }
    return true;
}

static bool are_codes(tc_tfl_node *n, const tc_tfl_tensor *x, const tc_tfl_tensor *w)
{
    const tc_tfl_tensor *y = ti_tfl_out_tensor(n, 0);
    if (ti_tfl_is_codes(x) && ti_tfl_is_codes(w) && w->dtype == TC_i8 && ti_tfl_is_codes(y))
        return true;
    ti_b_unsupported(&n->m, "a product of %s with %s weights to %s",
                     x ? ti_tfl_type_name(x->code) : "", w ? ti_tfl_type_name(w->code) : "",
                     y ? ti_tfl_type_name(y->code) : "");
    return false;
}

void ti_tfl_codes_conv(tc_tfl_node *n)
{
    static const uint32_t stride[] = {2, 1}, dilation[] = {5, 4};
    tc_build *m = &n->m;
    const tc_tfl_tensor *xt = ti_tfl_in_tensor(n, 0), *wt = ti_tfl_in_tensor(n, 1);
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1);
    tc_tfl_window win[2];
    tc_tfl_factor *f;
    int64_t count;
    if (m->status != TC_OK || !are_codes(n, xt, wt))
        return;
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    int64_t each = k->rank == 4 ? k->dim[3] : 0;
    if (t->rank != 4 || k->rank != 4 || each < 1 || t->dim[3] < 1 ||
        t->dim[3] % each || k->dim[0] % (t->dim[3] / each)) {
        ti_tfl_bad_weights(m, k, t);
        return;
    }
    int64_t groups = t->dim[3] / each, rows = k->dim[0] / groups;
    if (!windows(n, t, k->dim + 1, stride, dilation, win) ||
        !factors(n, xt, wt, ti_tfl_out_tensor(n, 0), 0, k->dim[0], &f, &count))
        return;
    int64_t w_zero = weight_zero(n, wt);
    tc_val bias = bias_of(n, 2, k->dim[0], sum_of(xt)), y;
    x = cropped(m, ti_tfl_unpadded(m, x, win, ti_tfl_zero(xt)), win);
    if (groups == 1)
        y = product(n, TC_OP_tosa_conv2d, x, w, bias, win, ti_tfl_zero(xt), w_zero);
    else {
        tc_val *part = tc_new_n(&m->ctx->arena, tc_val, (size_t)groups);
        bool one = m->status == TC_OK && tc_type_count(ti_b_type(m, bias)) == 1;
        for (int64_t g = 0; g < groups && m->status == TC_OK; g++) {
            tc_val xg = ti_b_slice(m, x, 3, g * each, (g + 1) * each, 1);
            tc_val wg = ti_b_slice(m, w, 0, g * rows, (g + 1) * rows, 1);
            tc_val bg = one ? bias : ti_b_slice(m, bias, 0, g * rows, (g + 1) * rows, 1);
            part[g] = product(n, TC_OP_tosa_conv2d, xg, wg, bg, win, ti_tfl_zero(xt), w_zero);
        }
        y = m->status == TC_OK ? ti_b_cat(m, 3, part, (int)groups) : TC_NONE;
    }
    ti_tfl_bind(n, 0, finish(n, y, f, count, ti_tfl_enum(n, 3)));
}

/* [1, h, w, c m] as TOSA has it, [h, w, c, m]. */
void ti_tfl_codes_depthwise(tc_tfl_node *n)
{
    static const uint32_t stride[] = {2, 1}, dilation[] = {6, 5};
    tc_build *m = &n->m;
    const tc_tfl_tensor *xt = ti_tfl_in_tensor(n, 0), *wt = ti_tfl_in_tensor(n, 1);
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1);
    tc_tfl_window win[2];
    tc_tfl_factor *f;
    int64_t count;
    if (m->status != TC_OK || !are_codes(n, xt, wt))
        return;
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    if (!ti_tfl_is_depthwise(m, k, t))
        return;
    if (!windows(n, t, k->dim + 1, stride, dilation, win) ||
        !factors(n, xt, wt, ti_tfl_out_tensor(n, 0), 3, k->dim[3], &f, &count))
        return;
    int64_t w_zero = weight_zero(n, wt);
    tc_val bias = bias_of(n, 2, k->dim[3], sum_of(xt));
    w = ti_b_reshape(m, w, 4, (int64_t[]){k->dim[1], k->dim[2], t->dim[3], k->dim[3] / t->dim[3]});
    x = cropped(m, ti_tfl_unpadded(m, x, win, ti_tfl_zero(xt)), win);
    tc_val y =
        product(n, TC_OP_tosa_depthwise_conv2d, x, w, bias, win, ti_tfl_zero(xt), w_zero);
    ti_tfl_bind(n, 0, finish(n, y, f, count, ti_tfl_enum(n, 4)));
}

/* A product of rows is a window of 1 x 1. */
tc_val ti_tfl_rows_by(tc_tfl_node *n, tc_val x, int64_t x_zero, tc_val w, int64_t w_zero,
                      tc_val bias)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *k = ti_b_type(m, w);
    const tc_tfl_window one = {.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .used = 1};
    const tc_tfl_window win[2] = {one, one};
    int64_t rows = ti_b_type(m, x)->dim[0];
    x = ti_b_reshape(m, x, 4, (int64_t[]){1, 1, rows, k->dim[1]});
    w = ti_b_reshape(m, w, 4, (int64_t[]){k->dim[0], 1, 1, k->dim[1]});
    return product(n, TC_OP_tosa_conv2d, x, w, bias, win, x_zero, w_zero);
}

void ti_tfl_codes_fully_connected(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *xt = ti_tfl_in_tensor(n, 0), *wt = ti_tfl_in_tensor(n, 1);
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1);
    int64_t dim[TC_MAX_RANK], count;
    tc_tfl_factor *f;
    int rank;
    if (m->status == TC_OK && xt && xt->code == TFL_FLOAT32) {
        n->row->build(n);
        return;
    }
    if (m->status != TC_OK || !are_codes(n, xt, wt))
        return;
    if (ti_tfl_enum(n, 1)) {
        ti_b_unsupported(m, "weights in a shuffled order");
        return;
    }
    const tc_type *k = ti_b_type(m, w);
    x = ti_tfl_as_rows(n, x, k, dim, &rank);
    if (m->status != TC_OK ||
        !factors(n, xt, wt, ti_tfl_out_tensor(n, 0), 0, k->dim[0], &f, &count))
        return;
    tc_val bias = bias_of(n, 2, k->dim[0], sum_of(xt));
    tc_val y = ti_tfl_rows_by(n, x, ti_tfl_zero(xt), w, weight_zero(n, wt), bias);
    if (xt->shifted) { /* the runtime rounds once, with all bits */
        const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 0);
        y = ti_tfl_rescale_once(m, y, f, count, ti_tfl_zero(to), to->dtype);
        y = ti_tfl_clamp(m, y, ti_tfl_range_of(to, ti_tfl_enum(n, 0)));
    } else
        y = finish(n, y, f, count, ti_tfl_enum(n, 0));
    ti_tfl_bind(n, 0, ti_b_reshape(m, y, rank, dim));
}

/* shape, weights [o, h, w, i], x, bias */
void ti_tfl_codes_transpose_conv(tc_tfl_node *n)
{
    static const uint32_t field[] = {2, 1};
    tc_build *m = &n->m;
    const tc_tfl_tensor *wt = ti_tfl_in_tensor(n, 1), *xt = ti_tfl_in_tensor(n, 2);
    tc_val w = ti_tfl_need(n, 1), x = ti_tfl_need(n, 2);
    tc_tfl_factor *f;
    int64_t count, pad[4], stride[2];
    if (m->status != TC_OK || !are_codes(n, xt, wt))
        return;
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    if (t->rank != 4 || k->rank != 4 || k->dim[3] != t->dim[3]) {
        ti_tfl_bad_weights(m, k, t);
        return;
    }
    for (int i = 0; i < 2; i++)
        stride[i] = ti_tfl_int(n, field[i], 0);
    tc_ints shape = ti_tfl_spread_shape(n, 2, t->dim + 1, k->dim + 1, stride);
    TC_STOP(m);
    if (shape.n != 4) {
        ti_b_bad(m, TC_E_SHAPE, "a window of rank %d onto rank %d", k->rank, shape.n);
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (stride[i] < 1 || stride[i] > INT32_MAX || shape.v[1 + i] < 1) {
            ti_b_bad(m, TC_E_ARGUMENT, "a stride of %" PRId64, stride[i]);
            return;
        }
        int64_t whole = (t->dim[1 + i] - 1) * stride[i] + k->dim[1 + i],
                before = whole > shape.v[1 + i] ? (whole - shape.v[1 + i]) / 2 : 0;
        pad[2 * i] = -before;
        pad[2 * i + 1] = shape.v[1 + i] - whole + before;
        if (-pad[2 * i] >= k->dim[1 + i] || -pad[2 * i + 1] >= k->dim[1 + i]) {
            ti_b_unsupported(m, "a result of %" PRId64 " places out of %" PRId64, shape.v[1 + i],
                             whole);
            return;
        }
    }
    if (!factors(n, xt, wt, ti_tfl_out_tensor(n, 0), 0, k->dim[0], &f, &count))
        return;
    tc_attr_tosa_transpose_conv *a =
        ti_b_attr(m, tosa_transpose_conv, .out_pad = ints(m, 4, pad), .stride = ints(m, 2, stride),
                  .local_bound = false, .acc_type = sum_of(xt));
    tc_val in[5] = {x, w};
    in[2] = bias_of(n, 3, k->dim[0], sum_of(xt));
    in[3] = ti_tfl_number(m, xt->dtype, 1, ti_tfl_zero(xt));
    in[4] = ti_tfl_number(m, TC_i8, 1, weight_zero(n, wt));
    tc_val y = ti_b_op(m, TC_OP_tosa_transpose_conv2d, a, in, 5);
    ti_tfl_bind(n, 0, finish(n, y, f, count, ti_tfl_enum(n, 3)));
}

/* Products of matrices, batches broadcast. */
void ti_tfl_codes_batch_matmul(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t[2] = {ti_tfl_in_tensor(n, 0), ti_tfl_in_tensor(n, 1)},
                        *y = ti_tfl_out_tensor(n, 0);
    tc_val in[4];
    int64_t batch[TC_MAX_RANK], batches = 1, dim[TC_MAX_RANK];
    int rank = 0;
    for (int k = 0; k < 2; k++) {
        in[k] = ti_tfl_need(n, k);
        TC_STOP(m);
        int r = ti_b_type(m, in[k])->rank;
        if (!ti_tfl_is_codes(t[k]) || r < 2 || t[k]->dtype != t[0]->dtype || !y) {
            ti_b_unsupported(m, "matrices of %s and %s, rank %d",
                             t[0] ? ti_tfl_type_name(t[0]->code) : "",
                             t[1] ? ti_tfl_type_name(t[1]->code) : "", r);
            return;
        }
        if (ti_tfl_bool(n, (uint32_t)k, false))
            in[k] = ti_b_swap(m, in[k], r - 2, r - 1);
        rank = r > rank ? r : rank;
    }
    TC_STOP(m);
    for (int i = 0; i < rank - 2; i++) {
        batch[i] = 1;
        for (int k = 0; k < 2; k++) {
            const tc_type *type = ti_b_type(m, in[k]);
            int at = i - (rank - type->rank);
            batch[i] = at >= 0 && type->dim[at] != 1 ? type->dim[at] : batch[i];
        }
        batches *= batch[i];
        dim[i] = batch[i];
    }
    for (int k = 0; k < 2; k++) {
        const tc_type *type = ti_b_type(m, in[k]);
        int64_t full[TC_MAX_RANK], a = type->dim[type->rank - 2], b = type->dim[type->rank - 1];
        memcpy(full, batch, sizeof full);
        full[rank - 2] = a;
        full[rank - 1] = b;
        dim[rank - 2 + k] = k ? b : a;
        in[k] = ti_b_expand(m, in[k], rank, full);
        in[k] = ti_b_reshape(m, in[k], 3, (int64_t[]){batches, a, b});
        in[2 + k] = ti_tfl_number(m, t[k]->dtype, 1, ti_tfl_zero(t[k]));
    }
    double xs = ti_tfl_scale(n, t[0]), ws = ti_tfl_scale(n, t[1]), ys = ti_tfl_scale(n, y);
    tc_val sum = ti_b_op(m, TC_OP_tosa_matmul, NULL, in, 4);
    tc_tfl_factor f = ti_tfl_factor_of(xs * ws / ys);
    sum = finish(n, sum, &f, 1, TFL_NONE);
    ti_tfl_bind(n, 0, ti_b_reshape(m, sum, rank, dim));
}

/* ---- pools ---- */

/* Means are rounded half away from zero, of uint8 half up.  So are TOSA's, both below and above
 * zero: its reciprocal is slightly more than 1 / n, thus a half is more than a half. */
static tc_val average(tc_tfl_node *n, tc_val x, const void *attr)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0);
    tc_val zero = ti_tfl_number(&n->m, t->dtype, 1, t->shifted ? -128 : 0);
    return ti_b_op(&n->m, TC_OP_tosa_avg_pool2d, attr, (tc_val[]){x, zero, zero}, 3);
}

void ti_tfl_codes_pool(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0), *to = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0), y;
    tc_tfl_window w[2];
    if (m->status != TC_OK || !to || !ti_tfl_pool_windows(n, ti_b_type(m, x), w))
        return;
    if (n->row->extra == 2) {
        ti_b_unsupported(m, "L2_POOL_2D on quantized numbers");
        return;
    }
    x = cropped(m, x, w);
    int64_t kernel[2] = {w[0].kernel, w[1].kernel}, stride[2] = {w[0].stride, w[1].stride},
            pad[4] = {w[0].before, w[0].after, w[1].before, w[1].after};
    for (int i = 0; i < 2; i++) /* one window: any step does */
        if (w[i].used + w[i].before + w[i].after == kernel[i])
            stride[i] = 1;
    if (n->row->op == TC_OP_max_pool)
        y = ti_b_1(m, tosa_max_pool2d,
                   ti_b_attr(m, tosa_max_pool, .kernel = ints(m, 2, kernel),
                             .stride = ints(m, 2, stride), .pad = ints(m, 4, pad),
                             .nan_mode = TC_nan_mode_propagate),
                   x);
    else
        y = average(n, x,
                    ti_b_attr(m, tosa_avg_pool, .kernel = ints(m, 2, kernel),
                              .stride = ints(m, 2, stride), .pad = ints(m, 4, pad),
                              .acc_type = TC_i32));
    ti_tfl_bind(n, 0, ti_tfl_clamp(m, y, ti_tfl_range_of(t->n_scale ? to : t, ti_tfl_enum(n, 5))));
}
