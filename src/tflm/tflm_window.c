/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_window.c -- convolutions, pools and resampling of floats, channels first, as TFLM has them: channels last,
 * without padding.  Borders are added in front; what no window reads is cut off. */
#include <float.h>

#include "../num/load.h"
#include "tflm_forms.h"

enum { H = 1, W = 2 }; /* channels last */

/* A window over two axes; one of one axis has another of extent 1. */
typedef struct window {
    int64_t kernel[2], stride[2], dilation[2], pad[4];
    int axes; /* that there are */
} window;

static window window_of(tc_ints kernel, tc_ints stride, tc_ints dilation)
{
    window w = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .axes = kernel.n};
    for (int i = 0; i < kernel.n && kernel.n <= 2; i++) {
        int at = 2 - kernel.n + i;
        w.kernel[at] = kernel.v[i];
        w.stride[at] = stride.v[i];
        w.dilation[at] = dilation.n ? dilation.v[i] : 1;
    }
    return w;
}

/* [n, c, l] or [n, c, h, w] as [n, h, w, c]. */
static tc_val channels_last(tc_build *m, tc_val x)
{
    static const int64_t last[] = {0, 2, 3, 1};
    const tc_type *t = ti_b_type(m, x);
    TC_STOP_WITH(m, TC_NONE);
    if (t->rank == 3)
        x = ti_b_reshape(m, x, 4, (int64_t[]){t->dim[0], t->dim[1], 1, t->dim[2]});
    return ti_b_permute(m, x, last);
}

static bool finish(tc_build *m, tc_val y)
{
    static const int64_t first[] = {0, 3, 1, 2};
    y = ti_b_permute(m, y, first);
    const tc_type *t = ti_b_out_type(m, 0);
    return ti_cpu_done(m, ti_b_reshape(m, y, t->rank, t->dim));
}

/* The part that windows read, borders included. */
static tc_val bordered(tc_build *m, const window *w, tc_val x, double border)
{
    const tc_type *out = ti_b_out_type(m, 0);
    int64_t pad[8] = {0, 0, w->pad[0], w->pad[1], w->pad[2], w->pad[3], 0, 0};
    if (w->pad[0] || w->pad[1] || w->pad[2] || w->pad[3])
        x = ti_b_pad(m, x, pad, border);
    for (int i = 0; i < 2; i++) {
        int64_t count = i == 0 && out->rank == 3 ? 1 : out->dim[out->rank - 2 + i];
        int64_t used = (count - 1) * w->stride[i] + w->dilation[i] * (w->kernel[i] - 1) + 1;
        const tc_type *t = ti_b_type(m, x);
        TC_STOP_WITH(m, TC_NONE);
        if (used < t->dim[H + i])
            x = ti_b_slice(m, x, H + i, 0, used, 1);
    }
    return x;
}

static tc_ints pair(tc_build *m, const int64_t *v)
{
    return (tc_ints){2, ti_arena_copy(&m->ctx->arena, v, 2 * sizeof *v)};
}

static tc_ints no_pad(void)
{
    static const int64_t none[4];
    return (tc_ints){4, none};
}

static tc_val zero(tc_build *m)
{
    int64_t one = 1;
    return ti_b_full(m, 1, &one, 0, TC_f32);
}

static bool is_f32(tc_build *m)
{
    const tc_type *t = ti_b_in_type(m, 0);
    return t->dtype == TC_f32 && !t->quant && (t->rank == 3 || t->rank == 4) &&
           ti_b_out_type(m, 0)->rank == t->rank;
}

/* [o, i, kh, kw] as TOSA has them; depthwise [kh, kw, c, m]. */
static tc_val kernel_of(tc_build *m, bool depthwise, int64_t channels)
{
    static const int64_t plain[] = {0, 2, 3, 1}, deep[] = {2, 3, 0, 1};
    tc_val w = ti_b_in(m, 1);
    const tc_type *t = ti_b_type(m, w);
    int64_t kh = t->rank == 3 ? 1 : t->dim[2], kw = t->dim[t->rank - 1];
    if (!depthwise)
        return ti_b_permute(m, ti_b_reshape(m, w, 4, (int64_t[]){t->dim[0], t->dim[1], kh, kw}),
                            plain);
    return ti_b_permute(
        m, ti_b_reshape(m, w, 4, (int64_t[]){channels, t->dim[0] / channels, kh, kw}), deep);
}

bool ti_tflm_form_conv(tc_build *m)
{
    const tc_attr_conv *a = m->node->attr;
    const tc_type *x = ti_b_in_type(m, 0), *k = ti_b_in_type(m, 1);
    bool depthwise = a->groups > 1 && a->groups == x->dim[1] && k->dim[1] == 1;
    bool fixed = ti_rewrite_is_fixed(m->rw, ti_b_in(m, 1)); /* which depthwise weights must be */
    if (!is_f32(m) || k->rank != x->rank || (a->groups > 1 && !(depthwise && fixed)))
        return false;
    window w = window_of((tc_ints){k->rank - 2, k->dim + 2}, a->stride, a->dilation);
    for (int i = 0; i < a->pad.n; i++)
        w.pad[4 - a->pad.n + i] = a->pad.v[i];
    int64_t n_out = k->dim[0];
    tc_val in[5] = {bordered(m, &w, channels_last(m, ti_b_in(m, 0)), 0)};
    in[1] = kernel_of(m, depthwise, x->dim[1]);
    in[2] = ti_b_in(m, 2) ? ti_b_in(m, 2) : ti_b_full(m, 1, &n_out, 0, TC_f32);
    in[3] = zero(m);
    in[4] = zero(m);
    const void *attr = ti_b_attr(m, tosa_conv, no_pad(), pair(m, w.stride), pair(m, w.dilation),
                                 false, TC_f32);
    return finish(
        m, ti_b_op(m, depthwise ? TC_OP_tosa_depthwise_conv2d : TC_OP_tosa_conv2d, attr, in, 5));
}

static bool set_pads(window *w, tc_ints pad)
{
    for (int i = 0; i < pad.n; i++)
        w->pad[2 * (2 - pad.n + i)] = w->pad[2 * (2 - pad.n + i) + 1] = pad.v[i];
    return w->pad[0] || w->pad[2];
}

bool ti_tflm_form_max_pool(tc_build *m)
{
    const tc_attr_max_pool *a = m->node->attr;
    window w = window_of(a->kernel, a->stride, a->dilation);
    if (!is_f32(m) || a->ceil || w.dilation[0] > 1 || w.dilation[1] > 1 || ti_b_is_read(m, 1))
        return false;
    (void)set_pads(&w, a->pad);
    tc_val x = bordered(m, &w, channels_last(m, ti_b_in(m, 0)), -FLT_MAX);
    const void *attr = ti_b_attr(m, tosa_max_pool, pair(m, w.kernel), pair(m, w.stride), no_pad(),
                                 TC_nan_mode_propagate);
    return finish(m, ti_b_op(m, TC_OP_tosa_max_pool2d, attr, &x, 1));
}

bool ti_tflm_form_avg_pool(tc_build *m)
{
    const tc_attr_avg_pool *a = m->node->attr;
    window w = window_of(a->kernel, a->stride, (tc_ints){0});
    bool padded = set_pads(&w, a->pad);
    if (!is_f32(m) || a->ceil || a->divisor || (padded && !a->include_pad))
        return false;
    tc_val in[3] = {bordered(m, &w, channels_last(m, ti_b_in(m, 0)), 0)};
    in[1] = zero(m);
    in[2] = zero(m);
    const void *attr =
        ti_b_attr(m, tosa_avg_pool, pair(m, w.kernel), pair(m, w.stride), no_pad(), TC_f32);
    return finish(m, ti_b_op(m, TC_OP_tosa_avg_pool2d, attr, in, 3));
}

/* Windows that tile the plane: all of it, or equal parts. */
bool ti_tflm_form_adaptive(tc_build *m)
{
    const tc_type *x = ti_b_in_type(m, 0), *out = ti_b_out_type(m, 0);
    int n = ((const tc_attr_size *)m->node->attr)->size.n;
    int64_t axis[TC_MAX_RANK], *part = tc_new_n(&m->ctx->arena, int64_t, (size_t)n + 1);
    bool whole = true, equal = is_f32(m);
    for (int i = 0; i < n; i++) {
        int at = x->rank - n + i;
        axis[i] = at;
        whole = whole && out->dim[at] == 1;
        equal = equal && x->dim[at] % out->dim[at] == 0;
        part[i] = x->dim[at] / out->dim[at];
    }
    if (whole)
        return ti_cpu_done(m, ti_b_reduce(m, TC_OP_mean, ti_cpu_real(m, 0), axis, n, true));
    if (!equal)
        return false;
    tc_ints parts = {n, part}, none = {n, tc_new_n(&m->ctx->arena, int64_t, (size_t)n + 1)};
    return ti_cpu_done(
        m, ti_b_1(m, avg_pool, ti_b_attr(m, avg_pool, parts, parts, none, false, true, 0),
                  ti_b_in(m, 0)));
}

/* All that windows write, then the requested part. */
bool ti_tflm_form_conv_transpose(tc_build *m)
{
    static const int64_t last[] = {1, 2, 3, 0}, none[4];
    const tc_attr_conv_transpose *a = m->node->attr;
    const tc_type *k = ti_b_in_type(m, 1), *out = ti_b_out_type(m, 0);
    window w = window_of((tc_ints){k->rank - 2, k->dim + 2}, a->stride, a->dilation);
    if (!is_f32(m) || k->rank != ti_b_in_type(m, 0)->rank || a->groups != 1 || w.dilation[0] > 1 || w.dilation[1] > 1)
        return false;
    for (int i = 0; i < a->pad.n; i++)
        if (a->out_pad.v[i] > a->pad.v[i])
            return false;
    tc_val kernel = ti_b_reshape(m, ti_b_in(m, 1), 4, (int64_t[]){k->dim[0], k->dim[1], w.kernel[0], w.kernel[1]});
    tc_val in[5] = {channels_last(m, ti_b_in(m, 0))};
    in[1] = ti_b_permute(m, kernel, last);
    in[2] = ti_b_in(m, 2) ? ti_b_in(m, 2) : ti_b_full(m, 1, &k->dim[1], 0, TC_f32);
    in[3] = zero(m);
    in[4] = zero(m);
    const void *attr = ti_b_attr(m, tosa_transpose_conv, (tc_ints){4, none}, pair(m, w.stride), false, TC_f32);
    tc_val y = ti_b_op(m, TC_OP_tosa_transpose_conv2d, attr, in, 5);
    for (int i = 0; i < a->pad.n; i++) {
        int axis = H + 2 - a->pad.n + i;
        int64_t count = out->dim[out->rank - a->pad.n + i];
        TC_STOP_WITH(m, false);
        if (count < ti_b_type(m, y)->dim[axis])
            y = ti_b_slice(m, y, axis, a->pad.v[i], a->pad.v[i] + count, 1);
    }
    return finish(m, y);
}

/* ---- resampling: one axis after the other ---- */

/* The axis by its indices. */
static tc_val picked(tc_build *m, tc_val x, int axis, const tc_resize_axis *a)
{
    tc_tensor index = ti_b_tensor(m, TC_i32, 1, &a->out);
    for (int64_t o = 0; o < a->out; o++)
        ti_store_i64(index, o, a->place[o]);
    return ti_b_index_select(m, x, ti_b_const(m, index, NULL), axis);
}

/* The axis by its weights: a product with a constant matrix, the axis being the last. */
static tc_val blended(tc_build *m, tc_val x, int axis, int rank, const tc_resize_axis *a)
{
    int64_t order[TC_MAX_RANK];
    tc_tensor weight = ti_b_tensor(m, TC_f32, 2, (int64_t[]){a->out, a->in});
    memset(weight.data, 0, tc_type_bytes(weight.type));
    for (int64_t k = 0; k < a->out * a->taps; k++)
        ((float *)weight.data)[k / a->taps * a->in + a->place[k]] += (float)a->weight[k];
    for (int i = 0; i < rank; i++)
        order[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    x = axis == rank - 1 ? x : ti_b_permute(m, x, order);
    x = ti_b_linear(m, x, ti_b_const(m, weight, NULL), TC_NONE);
    return axis == rank - 1 ? x : ti_b_permute(m, x, order);
}

bool ti_tflm_form_upsample(tc_build *m)
{
    const tc_attr_upsample *a = m->node->attr;
    const tc_type *x = ti_b_in_type(m, 0);
    tc_val y = ti_b_in(m, 0);
    if (x->dtype != TC_f32 || x->quant)
        return false;
    for (int i = 0; i < a->size.n; i++) {
        int axis = x->rank - a->size.n + i;
        tc_resize_axis of = ti_resize_axis_of(&m->ctx->arena, ti_resize_kind(m->node->op), a, i,
                                              x->dim[axis], false);
        if (of.in != of.out)
            y = of.taps == 1 ? picked(m, y, axis, &of) : blended(m, y, axis, x->rank, &of);
    }
    return ti_cpu_done(m, y);
}
