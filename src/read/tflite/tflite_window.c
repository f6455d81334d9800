/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_window.c -- builders of windows and products on real values.
 *
 * The file has channels last; our operators have them second.  Each operator is between two
 * permutes, which cancel with their neighbours'. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_hybrid.h"
#include "tflite_window.h"

enum { MOST_AXES = 3 };

tc_val ti_tfl_channels_first(tc_build *m, tc_val x)
{
    int64_t perm[TC_MAX_RANK];
    TC_STOP_WITH(m, TC_NONE);
    int rank = ti_b_type(m, x)->rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
    return ti_b_permute(m, x, perm);
}

tc_val ti_tfl_channels_last(tc_build *m, tc_val x)
{
    int64_t perm[TC_MAX_RANK];
    TC_STOP_WITH(m, TC_NONE);
    int rank = ti_b_type(m, x)->rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
    return ti_b_permute(m, x, perm);
}

/* Along one axis: rows `before` and `after` it that a PAD put there; whether they can be the
 * window's own. */
static bool take_border(tc_tfl_window *w, int64_t before, int64_t after)
{
    int64_t in = w->in - before - after, reach = (w->kernel - 1) * w->dilation;
    int64_t used = ti_min_i64(w->used - before, in);
    if (w->before || w->after || before < 0 || after < 0 || before > reach || used < 1 ||
        w->used - before - used > reach)
        return false;
    w->after = w->used - before - used;
    w->before = before;
    w->used = used;
    w->in = in;
    return true;
}

tc_val ti_tfl_unpadded(tc_build *m, tc_val x, tc_tfl_window *win, int64_t zero)
{
    const tc_node *def = m->status == TC_OK ? ti_def(m->g, x) : NULL;
    if (!def || def->op != TC_OP_pad)
        return x;
    const tc_attr_pad *a = def->attr;
    const int64_t *pad = a->pad.v;
    tc_tfl_window w[2] = {win[0], win[1]};
    if (a->mode != TC_pad_mode_constant || a->value != (double)zero || a->pad.n != 8 || pad[0] ||
        pad[1] || pad[6] || pad[7] || !take_border(&w[0], pad[2], pad[3]) ||
        !take_border(&w[1], pad[4], pad[5]))
        return x;
    win[0] = w[0];
    win[1] = w[1];
    return def->in[0];
}

/* Stride, then dilation, of each axis from these options; -1: 1. */
typedef struct fields {
    int stride[MOST_AXES], dilation[MOST_AXES], activation;
} fields;

/* x: [n, .., c]  w: [o, .., c / groups] with its window at axes `at`; groups 0: c / that. */
static tc_val convolve(tc_tfl_node *n, tc_val x, tc_val w, tc_val bias, const tc_tfl_window *win,
                       int axes, int64_t groups)
{
    tc_build *m = &n->m;
    int64_t stride[MOST_AXES], pad[2 * MOST_AXES], dilation[MOST_AXES];
    for (int i = 0; i < axes; i++) {
        stride[i] = win[i].stride;
        dilation[i] = win[i].dilation;
        pad[2 * i] = win[i].before;
        pad[2 * i + 1] = win[i].after;
    }
    tc_attr_conv *a =
        ti_b_attr(m, conv, .stride = ti_ints_of(m, stride, axes), .pad = ti_ints_of(m, pad, 2 * axes),
                  .dilation = ti_ints_of(m, dilation, axes), .groups = groups);
    x = ti_tfl_channels_first(m, x);
    tc_val in[] = {x, w, bias};
    tc_val y = ti_b_op(m, TC_OP_conv, a, in, bias ? 3 : 2);
    return ti_tfl_channels_last(m, y);
}

static bool find_windows(tc_tfl_node *n, const tc_type *x, const int64_t *kernel, const fields *f,
                         int axes, tc_tfl_window *win)
{
    int padding = ti_tfl_enum(n, 0);
    for (int i = 0; i < axes; i++) {
        win[i] = (tc_tfl_window){
            .in = x->dim[1 + i],
            .kernel = kernel[i],
            .stride = ti_tfl_int(n, (uint32_t)f->stride[i], 0),
            .dilation = f->dilation[i] < 0 ? 1 : ti_tfl_int(n, (uint32_t)f->dilation[i], 1)};
        if (!ti_tfl_window_of(n, padding, &win[i]))
            return false;
    }
    return true;
}

/* CONV_2D and CONV_3D.  Weights [o, h, w, i], of three axes [d, h, w, i, o]. */
void ti_tfl_build_conv(tc_tfl_node *n)
{
    static const fields two = {{2, 1}, {5, 4}, 3}, three = {{1, 3, 2}, {5, 7, 6}, 4};
    static const int64_t order3[] = {4, 3, 0, 1, 2};
    tc_build *m = &n->m;
    int axes = (int)n->row->extra;
    const fields *f = axes == 3 ? &three : &two;
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1), bias = ti_tfl_in(n, 2);
    tc_tfl_window win[MOST_AXES];
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    if (t->rank != axes + 2 || k->rank != axes + 2) {
        ti_b_bad(m, TC_E_SHAPE, "a window of rank %d over a tensor of rank %d", k->rank, t->rank);
        return;
    }
    int64_t each = axes == 3 ? k->dim[3] : k->dim[k->rank - 1];
    if (!find_windows(n, t, axes == 3 ? k->dim : k->dim + 1, f, axes, win))
        return;
    if (each < 1 || t->dim[t->rank - 1] % each) {
        ti_b_bad(m, TC_E_SHAPE, "weights for %" PRId64 " channels over %" PRId64, each,
                 t->dim[t->rank - 1]);
        return;
    }
    tc_tfl_hybrid hybrid = {.weight_first = true};
    const tc_tfl_tensor *codes = ti_tfl_in_tensor(n, 1);
    bool unlike = each != t->dim[t->rank - 1];
    for (int i = 1; codes && i < codes->n_scale; i++)
        unlike = unlike || codes->scale[i] != codes->scale[0];
    if (!ti_tfl_hybrid_begin(n, &hybrid, 0, 1, 1, axes == 2 ? 0 : -1, unlike, &x, &w))
        return;
    tc_val own = hybrid.on ? TC_NONE : bias;
    w = axes == 3 ? ti_b_permute(m, w, order3) : ti_tfl_channels_first(m, w);
    x = axes == 2 ? ti_tfl_unpadded(m, x, win, 0) : x;
    tc_val y = convolve(n, x, w, own, win, axes, t->dim[t->rank - 1] / each);
    y = ti_tfl_hybrid_end(n, &hybrid, y, bias);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, (uint32_t)f->activation)));
}

void ti_tfl_bad_weights(tc_build *m, const tc_type *w, const tc_type *x)
{
    ti_b_bad(m, TC_E_SHAPE, "weights %s over %s", ti_type_text(&m->ctx->arena, w),
             ti_type_text(&m->ctx->arena, x));
}

bool ti_tfl_is_depthwise(tc_build *m, const tc_type *w, const tc_type *x)
{
    if (x->rank == 4 && w->rank == 4 && w->dim[0] == 1 && x->dim[3] && w->dim[3] % x->dim[3] == 0)
        return true;
    ti_tfl_bad_weights(m, w, x);
    return false;
}

/* Weights [1, h, w, c m]: each channel by itself. */
void ti_tfl_build_depthwise(tc_tfl_node *n)
{
    static const fields f = {{2, 1}, {6, 5}, 4};
    static const int64_t order[] = {3, 0, 1, 2};
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1), bias = ti_tfl_in(n, 2);
    tc_tfl_window win[MOST_AXES];
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    if (!ti_tfl_is_depthwise(m, k, t))
        return;
    if (!find_windows(n, t, k->dim + 1, &f, 2, win))
        return;
    tc_tfl_hybrid hybrid = {0};
    if (!ti_tfl_hybrid_begin(n, &hybrid, 0, 1, 1, 3, true, &x, &w))
        return;
    tc_val own = hybrid.on ? TC_NONE : bias;
    w = ti_b_permute(m, w, order);
    x = ti_tfl_unpadded(m, x, win, 0);
    tc_val y = convolve(n, x, w, own, win, 2, t->dim[3]);
    y = ti_tfl_hybrid_end(n, &hybrid, y, bias);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, 4)));
}

/* ---- transposed ---- */

/* Along one axis: the whole has (in - 1) stride + kernel elements, of which `out` are taken from
 * `before` on. */
typedef struct spread {
    int64_t stride, kernel, whole, before, out;
} spread;

static bool find_spread(tc_tfl_node *n, int padding, int64_t in, spread *s)
{
    if (s->stride < 1 || s->stride > INT32_MAX || s->out < 1 || in < 1) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a stride of %" PRId64 " onto %" PRId64 " places", s->stride,
                 s->out);
        return false;
    }
    (void)padding; /* it is in the size of the result already */
    s->whole = (in - 1) * s->stride + s->kernel;
    s->before = s->whole > s->out ? (s->whole - s->out) / 2 : 0;
    return true;
}

/* x: [n, .., c]  w: as our operator has it, [c, o, ..]; bias per channel, or none. */
static tc_val convolve_up(tc_tfl_node *n, tc_val x, tc_val w, tc_val bias, const spread *s,
                          int axes)
{
    tc_build *m = &n->m;
    int64_t stride[MOST_AXES], pad[MOST_AXES], out_pad[MOST_AXES], ones[MOST_AXES] = {1, 1, 1};
    bool direct = true;
    for (int i = 0; i < axes; i++) {
        stride[i] = s[i].stride;
        pad[i] = s[i].before;
        out_pad[i] = s[i].out - (s[i].whole - 2 * pad[i]);
        direct = direct && out_pad[i] >= 0 && out_pad[i] < stride[i];
    }
    for (int i = 0; i < axes && !direct; i++)
        pad[i] = out_pad[i] = 0;
    tc_attr_conv_transpose *a =
        ti_b_attr(m, conv_transpose, .stride = ti_ints_of(m, stride, axes), .pad = ti_ints_of(m, pad, axes),
                  .out_pad = ti_ints_of(m, out_pad, axes), .dilation = ti_ints_of(m, ones, axes), .groups = 1);
    x = ti_tfl_channels_first(m, x);
    tc_val in[] = {x, w, bias};
    tc_val y = ti_b_op(m, TC_OP_conv_transpose, a, in, bias && direct ? 3 : 2);
    y = ti_tfl_channels_last(m, y);
    for (int i = 0; i < axes && !direct && m->status == TC_OK; i++) {
        int64_t to = ti_min_i64(s[i].before + s[i].out, s[i].whole), border[2 * TC_MAX_RANK] = {0};
        y = ti_b_slice(m, y, 1 + i, s[i].before, to, 1);
        border[2 * (1 + i) + 1] = s[i].before + s[i].out - to;
        y = ti_b_pad(m, y, border, 0);
    }
    return bias && !direct ? ti_b_add(m, y, bias) : y;
}

tc_ints ti_tfl_spread_shape(tc_tfl_node *n, int axes, const int64_t *x, const int64_t *kernel,
                            const int64_t *stride)
{
    bool stated = false;
    tc_ints shape = ti_tfl_shape(n, 0, 0, ((1u << axes) - 1) << 1, &stated);
    bool same = ti_tfl_enum(n, 0) == 0;
    for (int i = 0; i < axes && stated && shape.n == axes + 2; i++) {
        int64_t s = stride[i], out = shape.v[1 + i],
                from = same ? out + s - 1 : out + s - kernel[i];
        if (s > 0 && from / s != x[i])
            ti_b_bad(&n->m, TC_E_SHAPE,
                     "%" PRId64 " places by a window of %" PRId64 " with stride %" PRId64
                     " do not make the %" PRId64 " that the file states",
                     x[i], kernel[i], s, out);
    }
    return shape;
}

/* TRANSPOSE_CONV: shape, weights [o, h, w, i], x, bias; CONV_3D_TRANSPOSE: weights [d, h, w, o, i].
 */
void ti_tfl_build_transpose_conv(tc_tfl_node *n)
{
    static const int64_t order2[] = {3, 0, 1, 2}, order3[] = {4, 3, 0, 1, 2};
    tc_build *m = &n->m;
    int axes = (int)n->row->extra;
    tc_val w = ti_tfl_need(n, 1), x = ti_tfl_need(n, 2), bias = ti_tfl_in(n, 3);
    spread s[MOST_AXES];
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    if (t->rank != axes + 2 || k->rank != axes + 2) {
        ti_b_bad(m, TC_E_SHAPE, "a window of rank %d over a tensor of rank %d", k->rank, t->rank);
        return;
    }
    static const uint32_t strides[][MOST_AXES] = {{2, 1}, {1, 3, 2}};
    int64_t stride[MOST_AXES];
    for (int i = 0; i < axes; i++)
        stride[i] = ti_tfl_int(n, strides[axes - 2][i], 0);
    const int64_t *kernel = axes == 2 ? k->dim + 1 : k->dim;
    tc_ints shape = ti_tfl_spread_shape(n, axes, t->dim + 1, kernel, stride);
    TC_STOP(m);
    if (shape.n != axes + 2) {
        ti_b_bad(m, TC_E_SHAPE, "a window of rank %d onto rank %d", k->rank, shape.n);
        return;
    }
    for (int i = 0; i < axes; i++) {
        s[i] = (spread){.stride = stride[i], .kernel = kernel[i], .out = shape.v[1 + i]};
        if (!find_spread(n, ti_tfl_enum(n, 0), t->dim[1 + i], &s[i]))
            return;
    }
    tc_tfl_hybrid hybrid = {.weight_first = true};
    if (!ti_tfl_hybrid_begin(n, &hybrid, 2, 1, 1, axes == 2 ? 0 : -1, true, &x, &w))
        return;
    w = ti_b_permute(m, w, axes == 2 ? order2 : order3);
    tc_val y = convolve_up(n, x, w, hybrid.on ? TC_NONE : bias, s, axes);
    y = ti_tfl_hybrid_end(n, &hybrid, y, bias);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, axes == 2 ? 3 : 4)));
}

/* mediapipe's: weights [o, h, w, i], bias; padding, strides in its own record (tflite_custom.c). */
void ti_tfl_transpose_bias(tc_tfl_node *n, int padding, int64_t stride_h, int64_t stride_w)
{
    static const int64_t order[] = {3, 0, 1, 2};
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1), bias = ti_tfl_need(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *k = ti_b_type(m, w);
    if (t->rank != 4 || k->rank != 4) {
        ti_b_bad(m, TC_E_SHAPE, "a window of rank %d over a tensor of rank %d", k->rank, t->rank);
        return;
    }
    spread s[2] = {{.stride = stride_h, .kernel = k->dim[1]},
                   {.stride = stride_w, .kernel = k->dim[2]}};
    for (int i = 0; i < 2; i++) {
        if (s[i].stride < 1 || s[i].stride > INT32_MAX) {
            ti_b_bad(m, TC_E_ARGUMENT, "a stride of %" PRId64, s[i].stride);
            return;
        }
        s[i].out = padding == 0 ? t->dim[1 + i] * s[i].stride
                                : (t->dim[1 + i] - 1) * s[i].stride + s[i].kernel;
        if (!find_spread(n, padding, t->dim[1 + i], &s[i]))
            return;
    }
    ti_tfl_bind(n, 0, convolve_up(n, x, ti_b_permute(m, w, order), bias, s, 2));
}

/* ---- pools ---- */

/* The output of our pools along an axis with padding `before` and windows that may reach
 * past the end. */
static int64_t pooled(const tc_tfl_window *w)
{
    int64_t out = (w->in + 2 * w->before - w->kernel + w->stride - 1) / w->stride + 1;
    return (out - 1) * w->stride >= w->in + w->before ? out - 1 : out;
}

static tc_val pool(tc_build *m, tc_op op, tc_val x, const tc_tfl_window *win)
{
    int64_t kernel[2], stride[2], pad[2], ones[2] = {1, 1};
    bool fits = true, ceil_mode = false;
    for (int i = 0; i < 2; i++) {
        kernel[i] = win[i].kernel;
        stride[i] = win[i].stride;
        pad[i] = win[i].before;
        ceil_mode = ceil_mode || win[i].after > win[i].before;
    }
    for (int i = 0; i < 2; i++)
        fits = fits && (ceil_mode ? pooled(&win[i])
                                  : (win[i].in + 2 * pad[i] - kernel[i]) / stride[i] + 1) ==
                           win[i].out;
    if (!fits)
        return TC_NONE;
    x = ti_tfl_channels_first(m, x);
    tc_val y = op == TC_OP_max_pool
                   ? ti_b_1(m, max_pool,
                            ti_b_attr(m, max_pool, .kernel = ti_ints_of(m, kernel, 2),
                                      .stride = ti_ints_of(m, stride, 2), .pad = ti_ints_of(m, pad, 2),
                                      .dilation = ti_ints_of(m, ones, 2), .ceil = ceil_mode),
                            x)
                   : ti_b_1(m, avg_pool,
                            ti_b_attr(m, avg_pool, .kernel = ti_ints_of(m, kernel, 2),
                                      .stride = ti_ints_of(m, stride, 2), .pad = ti_ints_of(m, pad, 2),
                                      .ceil = ceil_mode, .include_pad = false),
                            x);
    return ti_tfl_channels_last(m, y);
}

/* Borders that our pools lack: padded explicitly; a mean is corrected for the padding. */
static tc_val pool_by_hand(tc_build *m, tc_op op, tc_val x, tc_tfl_window *win)
{
    int64_t border[8] = {0, 0, win[0].before, win[0].after, win[1].before, win[1].after, 0, 0};
    int64_t dim[4] = {1, win[0].out, win[1].out, 1};
    tc_tensor share = ti_b_tensor(m, TC_f32, 4, dim);
    for (int64_t i = 0; i < dim[1] * dim[2]; i++) {
        int64_t at[2] = {i / dim[2], i % dim[2]}, count = 1;
        for (int k = 0; k < 2; k++) {
            int64_t from = at[k] * win[k].stride - win[k].before, to = from + win[k].kernel;
            count *= ti_min_i64(to, win[k].in) - ti_max_i64(from, 0);
        }
        ((float *)share.data)[i] = (float)(win[0].kernel * win[1].kernel) / (float)count;
    }
    x = ti_b_pad(m, x, border, op == TC_OP_max_pool ? -INFINITY : 0);
    for (int k = 0; k < 2; k++) {
        win[k].in += win[k].before + win[k].after;
        win[k].before = win[k].after = 0;
    }
    tc_val y = pool(m, op, x, win);
    return op == TC_OP_max_pool ? y : ti_b_mul(m, y, ti_b_const(m, share, NULL));
}

bool ti_tfl_pool_windows(tc_tfl_node *n, const tc_type *t, tc_tfl_window *win)
{
    static const uint32_t stride[] = {2, 1}, kernel[] = {4, 3};
    if (t->rank != 4) {
        ti_b_bad(&n->m, TC_E_SHAPE, "a pool over a tensor of rank %d", t->rank);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        win[i] = (tc_tfl_window){.in = t->dim[1 + i],
                                 .kernel = ti_tfl_int(n, kernel[i], 0),
                                 .stride = ti_tfl_int(n, stride[i], 0),
                                 .dilation = 1};
        if (!ti_tfl_window_of(n, ti_tfl_enum(n, 0), &win[i]))
            return false;
    }
    return true;
}

/* extra 2: L2_POOL_2D, sqrt(mean of squares) */
void ti_tfl_build_pool(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_tfl_window win[2];
    if (m->status != TC_OK || !ti_tfl_pool_windows(n, ti_b_type(m, x), win))
        return;
    if (n->row->extra == 2)
        x = ti_b_mul(m, x, x);
    tc_val y = pool(m, n->row->op, x, win);
    if (!y && m->status == TC_OK)
        y = pool_by_hand(m, n->row->op, x, win);
    if (n->row->extra == 2)
        y = ti_b_sqrt(m, y);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, 5)));
}

/* ---- products ---- */

/* x flat but for its last axis, which is as long as the weights' rows. */
tc_val ti_tfl_as_rows(tc_tfl_node *n, tc_val x, const tc_type *w, int64_t *dim, int *rank)
{
    tc_build *m = &n->m;
    const tc_type *t = ti_b_type(m, x);
    int64_t count = tc_type_count(t);
    if (w->rank != 2 || w->dim[1] < 1 || count % w->dim[1]) {
        ti_tfl_bad_weights(m, w, t);
        return TC_NONE;
    }
    bool keep = ti_tfl_bool(n, 2, false) && t->rank > 0 && t->dim[t->rank - 1] == w->dim[1];
    *rank = keep ? t->rank : 2;
    if (keep)
        memcpy(dim, t->dim, sizeof t->dim);
    else
        dim[0] = count / w->dim[1];
    dim[*rank - 1] = w->dim[0];
    return ti_b_reshape(m, x, 2, (int64_t[]){count / w->dim[1], w->dim[1]});
}

/* x W^T + b */
void ti_tfl_build_fully_connected(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), w = ti_tfl_need(n, 1), bias = ti_tfl_in(n, 2);
    int64_t dim[TC_MAX_RANK];
    int rank;
    TC_STOP(m);
    if (ti_tfl_enum(n, 1)) {
        ti_b_unsupported(m, "weights in a shuffled order");
        return;
    }
    x = ti_tfl_as_rows(n, x, ti_b_type(m, w), dim, &rank);
    tc_tfl_hybrid hybrid = {0};
    if (m->status != TC_OK ||
        !ti_tfl_hybrid_begin(n, &hybrid, 0, 1, 1, 0, ti_tfl_bool(n, 3, false), &x, &w))
        return;
    tc_val in[] = {x, w, bias};
    tc_val y = ti_b_op(m, TC_OP_linear, NULL, in, bias && !hybrid.on ? 3 : 2);
    y = ti_tfl_hybrid_end(n, &hybrid, y, bias);
    y = ti_b_reshape(m, y, rank, dim);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, 0)));
}

void ti_tfl_build_batch_matmul(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val a = ti_tfl_need(n, 0), b = ti_tfl_need(n, 1);
    TC_STOP(m);
    int ra = ti_b_type(m, a)->rank, rb = ti_b_type(m, b)->rank;
    if (ra < 2 || rb < 2) {
        ti_b_bad(m, TC_E_SHAPE, "matrices of rank %d and %d", ra, rb);
        return;
    }
    if (ti_tfl_bool(n, 0, false))
        a = ti_b_swap(m, a, ra - 2, ra - 1);
    if (ti_tfl_bool(n, 1, false))
        b = ti_b_swap(m, b, rb - 2, rb - 1);
    tc_tfl_hybrid hybrid = {0};
    if (!ti_tfl_hybrid_begin(n, &hybrid, 0, 1, ra - 1, -1, ti_tfl_bool(n, 2, false), &a, &b))
        return;
    tc_val y = ti_b_matmul(m, a, b);
    ti_tfl_bind(n, 0, ti_tfl_hybrid_end(n, &hybrid, y, TC_NONE));
}
