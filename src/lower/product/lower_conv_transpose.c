/* SPDX-License-Identifier: Apache-2.0 */
/* lower_conv_transpose.c -- transposed convolutions of one and two axes.
 *
 * TRANSPOSE_CONV2D has neither groups nor dilation: constant weights are expanded with zeros for
 * the other groups, and between the taps of a dilated kernel. Its padding stays above minus the
 * kernel; what PyTorch crops beyond that is sliced off.
 *
 * Where a machine is slow at this, results that are s apart use the same taps: ordinary
 * convolutions, one for each row of s, have them as channels, (sx, c), and are concatenated by
 * rows. */
#include "../move/lower_move.h"
#include "product.h"

#include "../../num/load.h"

typedef struct spread {
    int64_t in[2], kernel[2], taps[2], stride[2], dilation[2], pad[2],
        out[2];                                     /* kernel: with its gaps */
    int64_t batch, channels, outputs, groups, each; /* each: outputs of a group */
} spread;

static spread spread_of(const tc_attr_conv_transpose *a, const tc_type *x, const tc_type *w,
                        const tc_type *y)
{
    int given = w->rank - 2, more = 2 - given;
    spread s = {.batch = x->rank == w->rank ? x->dim[0] : 1,
                .channels = w->dim[0],
                .each = w->dim[1],
                .groups = a->groups,
                .outputs = w->dim[1] * a->groups};
    for (int i = 0; i < 2; i++) {
        int k = i - more;
        s.in[i] = k < 0 ? 1 : x->dim[x->rank - given + k];
        s.out[i] = k < 0 ? 1 : y->dim[y->rank - given + k];
        s.taps[i] = k < 0 ? 1 : w->dim[2 + k];
        s.stride[i] = k < 0 ? 1 : a->stride.v[k];
        s.dilation[i] = k < 0 ? 1 : a->dilation.v[k];
        s.pad[i] = k < 0 ? 0 : a->pad.v[k];
        s.kernel[i] = s.dilation[i] * (s.taps[i] - 1) + 1;
    }
    return s;
}

/* [c, oc / groups, kh, kw] -> [oc, kh, kw, c], zeros where a group or a gap has nothing. */
static tc_val spread_weights(tc_build *lw, tc_val w, const spread *s, int64_t zero)
{
    tc_tensor from = ti_b_constant(lw, w);
    tc_dtype dtype =
        from.type->dtype == TC_i4 && !ti_lower_has(lw, TC_FEATURE_INT4) ? TC_i8 : from.type->dtype;
    int64_t dim[] = {s->outputs, s->kernel[0], s->kernel[1], s->channels},
            inner = s->channels / s->groups;
    tc_tensor to = ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, dtype, 4, dim));
    for (int64_t i = 0, n = lw->lower->dry ? 0 : tc_type_count(to.type); i < n; i++) {
        int64_t c = i % dim[3], x = i / dim[3] % dim[2], row = i / dim[3] / dim[2],
                y = row % dim[1], o = row / dim[1];
        bool tap = y % s->dilation[0] == 0 && x % s->dilation[1] == 0 && c / inner == o / s->each;
        int64_t at = ((c * s->each + o % s->each) * s->taps[0] + y / s->dilation[0]) * s->taps[1] +
                     x / s->dilation[1];
        if (ti_is_float(dtype))
            ti_store_f64(to, i, tap ? ti_load_f64(from, at) : 0);
        else
            ti_store_i64(to, i, tap ? ti_load_i64(from, at) : zero);
    }
    return ti_b_data(lw, to.type, to.data);
}

/* Weights that are computed are only put in another order. */
static tc_val weights(tc_build *lw, const tc_node *node, const tc_product *p, const spread *s)
{
    tc_val w = ti_lower_in(lw, node, 1);
    if (w && ti_b_constant(lw, w).data)
        return spread_weights(lw, w, s, ti_product_w_zero(p));
    if (s->groups > 1 || s->dilation[0] > 1 || s->dilation[1] > 1) {
        ti_lower_refuse(lw, "its weights are not constant");
        return TC_NONE;
    }
    int64_t dim[] = {s->outputs, s->kernel[0], s->kernel[1], s->channels}, two[] = {1, 2, 3, 0},
            one[] = {1, 2, 0};
    return ti_put_weights(lw, w, p->w->rank == 4 ? two : one, 4, dim);
}

/* ---- strides that the machine does not take, or not well ---- */

/* Ethos-U could enlarge by 2, but multiplies by the zeros in between, or writes phases of 32 bits
 * that are rescaled by themselves. */
static bool is_walked(const tc_build *lw, const spread *s)
{
    return lw->lower->target->machine->can.stride == INT64_MAX ||
           (s->stride[0] == 1 && s->stride[1] == 1);
}

/* Taps of the convolution along an axis. */
static int64_t taps_of(const spread *s, int i)
{
    return (s->kernel[i] + s->stride[i] - 1) / s->stride[i];
}

/* [oc, kh, kw, c] -> [(sx, oc), taps, taps, c] for rows of phase `py`: result r + q s sees x[q - j]
 * by tap r + j s. */
static tc_val phase_weights(tc_build *lw, tc_val w, const spread *s, int64_t py, int64_t zero)
{
    tc_tensor from = ti_b_constant(lw, w);
    int64_t ty = taps_of(s, 0), tx = taps_of(s, 1),
            dim[] = {s->stride[1] * s->outputs, ty, tx, s->channels};
    tc_type type = {.dtype = from.type->dtype, .rank = 4};
    memcpy(type.dim, dim, sizeof dim);
    tc_tensor to = ti_tensor_new(&lw->ctx->arena, ti_type_intern(lw->ctx, &type));
    for (int64_t i = 0, n = lw->lower->dry ? 0 : tc_type_count(to.type); i < n; i++) {
        int64_t c = i % dim[3], row = i / dim[3], x = row % tx, y = row / tx % ty,
                channel = row / tx / ty, o = channel % s->outputs,
                ky = py + (ty - 1 - y) * s->stride[0],
                kx = channel / s->outputs + (tx - 1 - x) * s->stride[1];
        bool tap = ky < s->kernel[0] && kx < s->kernel[1];
        int64_t at = ((o * s->kernel[0] + ky) * s->kernel[1] + kx) * s->channels + c;
        ti_store_i64(to, i, tap ? ti_load_i64(from, at) : zero);
    }
    return ti_b_data(lw, to.type, to.data);
}

/* The bias of every phase of a row. */
static tc_val phase_bias(tc_build *lw, const tc_node *node, const tc_product *p, const spread *s)
{
    tc_val b = ti_product_bias(lw, node, p, 0, s->outputs);
    if (!b || tc_type_count(ti_b_type(lw, b)) != s->outputs || s->outputs == 1)
        return b;
    tc_tensor one = ti_b_constant(lw, b);
    int64_t n = s->stride[1] * s->outputs;
    double *all = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        all[i] = (double)ti_load_i64(one, i % s->outputs);
    return ti_b_numbers(lw, p->made, 1, &n, all);
}

/* x [n,h,w,c]: the result, [n,oh,ow,oc].  Rows of one phase are a convolution,
 * [n, qy, qx, (sx, c)]; concatenated along qx they are the rows of the plane. */
static tc_val by_phases(tc_build *lw, const tc_node *node, const spread *s, tc_val x, tc_val w)
{
    int64_t sy = s->stride[0], sx = s->stride[1], q[2], pad[4], cut[4] = {0, s->pad[0], s->pad[1]};
    tc_product p;
    if (!w || !ti_product_start(lw, node, sx * s->outputs, &p))
        return TC_NONE;
    for (int i = 0; i < 2; i++) {
        q[i] = (s->out[i] + s->pad[i] + s->stride[i] - 1) / s->stride[i];
        pad[2 * i] = taps_of(s, i) - 1;
        pad[2 * i + 1] = q[i] > s->in[i] ? q[i] - s->in[i] : 0;
        if (q[i] < s->in[i])
            x = ti_b_tosa_slice_axis(lw, x, 1 + i, 0, q[i]);
    }
    tc_window_shape shape = {.axes = 2, .pad = pad};
    tc_val bias = phase_bias(lw, node, &p, s);
    tc_val *row = tc_new_n(&lw->ctx->arena, tc_val, (size_t)sy);
    for (int64_t i = 0; i < sy; i++) {
        tc_val taps = phase_weights(lw, w, s, i, ti_product_w_zero(&p));
        row[i] = ti_put_long_conv(lw, &p, TC_OP_tosa_conv2d, x, taps, bias, &shape);
        row[i] = ti_product_finish(lw, row[i], &p, 0, sx * s->outputs);
    }
    tc_val plane = ti_b_tosa_reshape(lw, ti_put_join(lw, row, (int)sy, 2), 4,
                                     (int64_t[]){s->batch, q[0] * sy, q[1] * sx, s->outputs});
    return ti_b_tosa_slice(lw, plane, cut, (int64_t[]){s->batch, s->out[0], s->out[1], s->outputs});
}

void ti_lower_conv_transpose(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *w = ti_lower_type(lw, node, 1), *y = ti_lower_result(lw, node, 0);
    const tc_attr_conv_transpose *a = node->attr;
    tc_product p;
    if (w->rank > 4 || w->dtype == TC_i16) {
        ti_lower_refuse(lw, w->rank > 4 ? "it has three axes" : "its weights are i16");
        return;
    }
    if (!ti_product_start(lw, node, w->dim[1] * a->groups, &p))
        return;
    spread s = spread_of(a, p.x, w, y);
    tc_val x = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 0), 4,
                                 (int64_t[]){s.batch, s.channels, s.in[0], s.in[1]});
    x = ti_b_tosa_channels_last(lw, x);
    tc_val k = weights(lw, node, &p, &s);
    bool joins = y->dtype != TC_i16 || ti_lower_has(lw, TC_FEATURE_INT16);
    if (k && !is_walked(lw, &s) && joins && p.scale && ti_b_constant(lw, k).data) {
        x = by_phases(lw, node, &s, x, k);
        out[0] = ti_b_tosa_reshape(lw, ti_b_tosa_channels_first(lw, x), y->rank, y->dim);
        return;
    }
    int64_t pad[4], cut[4] = {0};
    for (int i = 0; i < 2; i++) {
        int64_t full = (s.in[i] - 1) * s.stride[i] + s.kernel[i], least = 1 - s.kernel[i];
        pad[2 * i] = -s.pad[i] > least ? -s.pad[i] : least;
        cut[1 + i] = -s.pad[i] > least ? 0 : least + s.pad[i];
        int64_t after = s.out[i] + cut[1 + i] - full - pad[2 * i];
        pad[2 * i + 1] = after > least ? after : least;
    }
    tc_window_shape shape = {.axes = 2, .pad = pad, .stride = s.stride};
    tc_val bias = ti_product_bias(lw, node, &p, 0, s.outputs);
    tc_val made = ti_put_long_conv(lw, &p, TC_OP_tosa_transpose_conv2d, x, k, bias, &shape);
    made = ti_product_finish(lw, made, &p, 0, s.outputs);
    made = ti_b_tosa_slice(lw, made, cut, (int64_t[]){s.batch, s.out[0], s.out[1], s.outputs});
    out[0] = ti_b_tosa_reshape(lw, ti_b_tosa_channels_first(lw, made), y->rank, y->dim);
}
