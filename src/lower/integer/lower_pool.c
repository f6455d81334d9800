/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pool.c -- pooling of quantized values.
 *
 * The largest of a window is MAX_POOL2D, the domain changed afterwards.  The mean is AVG_POOL2D
 * where the result has the operand's domain; else a sum (DEPTHWISE_CONV2D by ones) whose one rescale
 * holds the division too, or, where windows differ in size, a multiplication by each
 * window's share. */
#include <math.h>

#include "../../base/real.h"
#include "arith.h"
#include "../move/lower_move.h"
#include "lower_pool.h"
#include "../product/product.h"

typedef tc_pool_window window;

static window window_of(const tc_type *x, const tc_type *y, int axes)
{
    window w = {.batch = x->rank > axes + 1 ? x->dim[0] : 1,
                .channels = x->dim[x->rank - axes - 1],
                .in = {1, 1},
                .out = {1, 1},
                .kernel = {1, 1},
                .stride = {1, 1},
                .dilation = {1, 1}};
    for (int i = 2 - axes; i < 2; i++) {
        w.in[i] = x->dim[x->rank - 2 + i];
        w.out[i] = y->dim[y->rank - 2 + i];
    }
    return w;
}

static void place(tc_ints from, int64_t *to)
{
    for (int i = 0; i < from.n; i++)
        to[2 - from.n + i] = from.v[i];
}

/* [n?,c,..] as [n,h,w,c], and back. */
static tc_val channels_last(tc_build *lw, tc_val x, const window *w)
{
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){w->batch, w->channels, w->in[0], w->in[1]});
    return ti_b_tosa_channels_last(lw, x);
}

/* Elements to add after the input for the windows to divide it: padding, or negative (cropped). */
static tc_val even(tc_build *lw, tc_val x, const window *w, int64_t *pad)
{
    for (int i = 0; i < 2; i++) {
        int64_t after = (w->out[i] - 1) * w->stride[i] + w->kernel[i] - w->in[i] - w->pad[i];
        pad[2 * i] = w->pad[i];
        pad[2 * i + 1] = after > 0 ? after : 0;
        if (after < 0)
            x = ti_b_tosa_slice_axis(lw, x, 1 + i, 0, w->in[i] + after);
    }
    return x;
}

/* ---- the largest ---- */

tc_val ti_put_max_pool(tc_build *lw, tc_val x, const int64_t *kernel, const int64_t *stride,
                       const int64_t *pad)
{
    tc_attr_tosa_max_pool *a = tc_new(&lw->ctx->arena, tc_attr_tosa_max_pool);
    *a = (tc_attr_tosa_max_pool){.kernel = ti_ints_copy(&lw->ctx->arena, kernel, 2),
                                 .stride = ti_ints_copy(&lw->ctx->arena, stride, 2),
                                 .pad = ti_ints_copy(&lw->ctx->arena, pad, 4),
                                 .nan_mode = TC_nan_mode_propagate};
    return ti_b_1(lw, tosa_max_pool2d, a, x);
}

/* Gaps between the taps, or 16-bit elements without EXT-INT16: the largest of shifted copies, axis
 * by axis. */
static tc_val dilated_max(tc_build *lw, tc_val x, const window *w, int64_t lowest)
{
    int64_t around[8] = {0, 0, w->pad[0], 0, w->pad[1], 0, 0, 0};
    for (int i = 0; i < 2; i++) {
        int64_t reach = (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
        around[3 + 2 * i] = reach > w->in[i] + w->pad[i] ? reach - w->in[i] - w->pad[i] : 0;
    }
    x = ti_b_tosa_pad(lw, x, around, (double)lowest);
    tc_dtype dtype = x ? ti_b_dtype(lw, x) : TC_i8;
    for (int i = 0; i < 2; i++) {
        tc_val most = TC_NONE;
        for (int64_t k = 0; k < w->kernel[i]; k++) {
            tc_val tap = ti_put_stepped(lw, x, 1 + i, k * w->dilation[i], w->stride[i], w->out[i]);
            tap = ti_put_rescale(lw, tap, 1, 0, 0, TC_i32);
            most = k ? ti_b_tosa_maximum(lw, most, tap) : tap;
        }
        x = ti_put_rescale(lw, most, 1, 0, 0, dtype);
    }
    return x;
}

/* ---- windows too far apart for a machine's strides ---- */

static bool is_far(const tc_build *lw, const window *w)
{
    int64_t most = lw->lower->target->machine->can.stride;
    return w->stride[0] > most || w->stride[1] > most;
}

/* A single window takes no step. */
static window without_idle_strides(const tc_build *lw, const window *w)
{
    window v = *w;
    for (int i = 0; i < 2; i++)
        if (v.out[i] == 1 && v.stride[i] > lw->lower->target->machine->can.stride)
            v.stride[i] = 1;
    return v;
}

static bool is_side_by_side(const window *w)
{
    bool beside = true;
    for (int i = 0; i < 2; i++)
        beside = beside && w->kernel[i] == w->stride[i] && w->dilation[i] == 1 && !w->pad[i] &&
                 w->out[i] * w->kernel[i] <= w->in[i];
    return beside;
}

/* The windows at every position, of which `stepped` takes those that are wanted. */
static window at_every_place(const window *w)
{
    window v = *w;
    for (int i = 0; i < 2; i++) {
        v.out[i] = (w->out[i] - 1) * w->stride[i] + 1;
        v.stride[i] = 1;
    }
    return v;
}

static tc_val stepped(tc_build *lw, tc_val x, const window *w)
{
    x = ti_put_stepped(lw, x, 1, 0, w->stride[0], w->out[0]);
    return ti_put_stepped(lw, x, 2, 0, w->stride[1], w->out[1]);
}

/* Each axis separately, the largest of each window. */
static tc_val folded_max(tc_build *lw, tc_val x, const window *w)
{
    static const int64_t once[] = {1, 1}, none[] = {0, 0, 0, 0};
    int64_t n = w->batch, c = w->channels, kh = w->kernel[0], kw = w->kernel[1], oh = w->out[0],
            ow = w->out[1];
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, n * oh * kh * ow, kw, c});
    x = ti_put_max_pool(lw, x, (int64_t[]){1, kw}, once, none);
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, n * oh, kh, ow * c});
    x = ti_put_max_pool(lw, x, (int64_t[]){1, kh}, once, none);
    return ti_b_tosa_reshape(lw, x, 4, (int64_t[]){n, oh, ow, c});
}

tc_val ti_put_window_max(tc_build *lw, tc_val x, const window *given)
{
    window w = without_idle_strides(lw, given);
    if (!x)
        return x;
    tc_dtype dtype = ti_b_dtype(lw, x);
    bool wide = dtype == TC_i16 && !ti_lower_has(lw, TC_FEATURE_INT16); /* no MAX_POOL2D */
    if (w.dilation[0] > 1 || w.dilation[1] > 1 || wide)
        return dilated_max(lw, x, &w, ti_dtype_min(dtype));
    if (is_far(lw, &w) && !is_side_by_side(&w)) {
        window all = at_every_place(&w);
        return stepped(lw, ti_put_window_max(lw, x, &all), &w);
    }
    int64_t pad[4];
    x = even(lw, x, &w, pad);
    return is_far(lw, &w) ? folded_max(lw, x, &w)
                          : ti_put_max_pool(lw, x, w.kernel, w.stride, pad);
}

static bool start(tc_build *lw, const tc_node *node)
{
    if (!ti_is_activation(ti_lower_type(lw, node, 0)) ||
             !ti_is_activation(ti_lower_result(lw, node, 0)))
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
    else if (node->n_out > 1 && lw->rw->readers[node->out[1]])
        ti_lower_refuse(lw, "the indices of the largest are read");
    return lw->status == TC_OK;
}

void ti_lower_int_max_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_max_pool *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!start(lw, node))
        return;
    if (a->kernel.n == 3) {
        out[0] = ti_put_deep_max(lw, node, a);
        return;
    }
    window w = window_of(from, to, a->kernel.n);
    place(a->kernel, w.kernel);
    place(a->stride, w.stride);
    place(a->dilation, w.dilation);
    place(a->pad, w.pad);
    tc_val x = channels_last(lw, ti_lower_in(lw, node, 0), &w);
    x = ti_put_window_max(lw, x, &w);
    out[0] = ti_put_channels_first(lw, x ? ti_put_domain(lw, x, from, to) : x, to);
}

/* ---- the mean ---- */

int64_t ti_pool_span(const window *w, bool include_pad, int axis, int64_t at)
{
    int64_t begin = at * w->stride[axis] - w->pad[axis], end = begin + w->kernel[axis];
    int64_t lo = include_pad ? -w->pad[axis] : 0,
            hi = w->in[axis] + (include_pad ? w->pad[axis] : 0);
    return (end < hi ? end : hi) - (begin > lo ? begin : lo);
}

/* The divisor of the window at (y, x). */
static int64_t share(const window *w, const tc_attr_avg_pool *a, int64_t oy, int64_t ox)
{
    return a->divisor ? a->divisor
                      : ti_pool_span(w, a->include_pad, 0, oy) *
                            ti_pool_span(w, a->include_pad, 1, ox);
}

/* Whether every window has the same divisor, and whether it is the count of elements inside. */
static void shares(const window *w, const tc_attr_avg_pool *a, bool *same, bool *present)
{
    tc_attr_avg_pool inside = {.include_pad = false};
    *same = *present = true;
    for (int64_t y = 0; y < w->out[0]; y++)
        for (int64_t x = 0; x < w->out[1]; x++) {
            *same = *same && share(w, a, y, x) == share(w, a, 0, 0);
            *present = *present && share(w, a, y, x) == share(w, &inside, y, x);
        }
}

static tc_val put_avg_pool(tc_build *lw, tc_val x, const window *w, const int64_t *pad,
                           int64_t zero)
{
    tc_attr_tosa_avg_pool *a = tc_new(&lw->ctx->arena, tc_attr_tosa_avg_pool);
    *a = (tc_attr_tosa_avg_pool){.kernel = ti_ints_copy(&lw->ctx->arena, w->kernel, 2),
                                 .stride = ti_ints_copy(&lw->ctx->arena, w->stride, 2),
                                 .pad = ti_ints_copy(&lw->ctx->arena, pad, 4), .acc_type = TC_i32};
    tc_val z = ti_b_zero_point(lw, x, zero);
    return ti_b_3(lw, tosa_avg_pool2d, a, x, z, z);
}

tc_val ti_put_window_sum(tc_build *lw, tc_val x, int64_t zero, const int64_t *kernel,
                         const int64_t *stride, const int64_t *pad)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    int64_t dim[] = {kernel[0], kernel[1], t->dim[3], 1}, n = dim[0] * dim[1] * dim[2];
    tc_dtype acc = t->dtype == TC_i16 ? TC_i48 : TC_i32;
    double *one = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        one[i] = 1;
    tc_val w = ti_b_numbers(lw, TC_i8, 4, dim, one);
    tc_window_shape shape = {.axes = 2, .pad = pad, .stride = stride};
    return ti_put_conv(lw, TC_OP_tosa_depthwise_conv2d, x, zero, w, 0, ti_b_single(lw, acc, 1, 0),
                       &shape, acc);
}

tc_val ti_put_shares(tc_build *lw, tc_val sum, int64_t area, const int64_t *share, double *unit)
{
    if (!sum)
        return sum;
    const tc_type *t = ti_b_type(lw, sum);
    int64_t dim[] = {1, t->dim[1], t->dim[2], 1}, n = dim[1] * dim[2], least = share[0];
    double *inverse = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        least = share[i] < least ? share[i] : least;
    *unit = ti_exp2(floor(ti_log2(0x1p30 / (256.0 * (double)area)))) * (double)least;
    for (int64_t i = 0; i < n; i++)
        inverse[i] = *unit / (double)share[i];
    tc_val shift = ti_b_single(lw, TC_i8, 1, 0);
    tc_val shares = ti_b_numbers(lw, TC_i32, 4, dim, inverse);
    return ti_b_3(lw, tosa_mul, NULL, sum, shares, shift);
}

static tc_val divided(tc_build *lw, tc_val sum, const window *w, const tc_attr_avg_pool *a,
                      double *unit)
{
    int64_t n = w->out[0] * w->out[1], *by = tc_new_n(&lw->ctx->arena, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        by[i] = share(w, a, i / w->out[1], i % w->out[1]);
    return ti_put_shares(lw, sum, w->kernel[0] * w->kernel[1], by, unit);
}

/* Windows as rows: [n,h,w,c] -> [1, windows, kernel, c]. */
static tc_val windows_as_rows(tc_build *lw, tc_val x, const window *w, window *rows)
{
    int64_t n = w->batch * w->out[0], kh = w->kernel[0], kw = w->kernel[1], ow = w->out[1],
            pad[4];
    x = even(lw, x, w, pad);
    if (kh > 1) {
        x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){n, kh, ow, kw * w->channels});
        x = ti_b_tosa_transpose(lw, x, (int64_t[]){0, 2, 1, 3});
    }
    *rows = (window){.batch = 1,
                     .channels = w->channels,
                     .in = {n * ow, kh * kw},
                     .out = {n * ow, 1},
                     .kernel = {1, kh * kw},
                     .stride = {1, 1},
                     .dilation = {1, 1}};
    return ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, n * ow, kh * kw, w->channels});
}

tc_val ti_put_window_mean(tc_build *lw, tc_val x, const window *given, const tc_attr_avg_pool *a,
                          const tc_type *from, const tc_type *to)
{
    int64_t pad[4];
    window near = without_idle_strides(lw, given), rows, *w = &near;
    if (is_far(lw, w) && is_side_by_side(w)) {
        x = windows_as_rows(lw, x, w, &rows);
        x = ti_put_window_mean(lw, x, &rows, a, from, to);
        return ti_b_tosa_reshape(lw, x, 4,
                                 (int64_t[]){w->batch, w->out[0], w->out[1], w->channels});
    }
    if (is_far(lw, w)) {
        window all = at_every_place(w);
        return stepped(lw, ti_put_window_mean(lw, x, &all, a, from, to), w);
    }
    bool same, present,
        equal = ti_scale_of(from) == ti_scale_of(to) && ti_zero_of(from) == ti_zero_of(to) &&
                from->dtype == to->dtype;
    shares(w, a, &same, &present);
    x = even(lw, x, w, pad);
    bool fits = pad[0] < w->kernel[0] && pad[1] < w->kernel[0] && pad[2] < w->kernel[1] &&
                pad[3] < w->kernel[1];
    if (present && fits && (equal || (!same && from->dtype == TC_i16)))
        return x ? ti_put_domain(lw, put_avg_pool(lw, x, w, pad, ti_zero_of(from)), from, to) : x;
    if (!same && from->dtype == TC_i16) {
        ti_lower_refuse(lw, "its windows are divided by different numbers");
        return TC_NONE;
    }
    const tc_quant *q = to->quant;
    double factor = ti_scale_of(from) / ti_scale_of(to), unit = 1;
    tc_val sum = ti_put_window_sum(lw, x, ti_zero_of(from), w->kernel, w->stride, pad);
    if (same)
        factor /= (double)share(w, a, 0, 0);
    else
        sum = divided(lw, sum, w, a, &unit);
    return ti_put_codes(lw, ti_put_rescale(lw, sum, factor / unit, 0, q->zero[0], to->dtype), q);
}

void ti_lower_int_avg_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_avg_pool *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!start(lw, node))
        return;
    if (a->kernel.n == 3) {
        out[0] = ti_put_deep_mean(lw, node, a);
        return;
    }
    window w = window_of(from, to, a->kernel.n);
    place(a->kernel, w.kernel);
    place(a->stride, w.stride);
    place(a->pad, w.pad);
    tc_val x = channels_last(lw, ti_lower_in(lw, node, 0), &w);
    out[0] = ti_put_channels_first(lw, ti_put_window_mean(lw, x, &w, a, from, to), to);
}

/* ---- windows that tile the plane ---- */

static int64_t tile_start(int64_t in, int64_t out, int64_t i) { return i * in / out; }
static int64_t tile_end(int64_t in, int64_t out, int64_t i)
{
    return ((i + 1) * in + out - 1) / out;
}

bool ti_pool_tiles_evenly(window *w)
{
    bool all = true;
    for (int i = 0; i < 2; i++) {
        w->kernel[i] = w->stride[i] = w->in[i] / w->out[i];
        all = all && w->in[i] % w->out[i] == 0;
    }
    return all;
}

tc_val ti_put_tiled_max(tc_build *lw, tc_val x, const window *w)
{
    for (int axis = 0; axis < 2; axis++) {
        int64_t in = w->in[axis], out = w->out[axis];
        if (in == out)
            continue;
        tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)out);
        for (int64_t i = 0; i < out; i++) {
            int64_t first = tile_start(in, out, i), n = tile_end(in, out, i) - first,
                    kernel[] = {1, 1};
            kernel[axis] = n;
            part[i] = ti_b_tosa_slice_axis(lw, x, 1 + axis, first, n);
            part[i] =
                ti_put_max_pool(lw, part[i], kernel, (int64_t[]){1, 1}, (int64_t[]){0, 0, 0, 0});
        }
        x = ti_put_join(lw, part, (int)out, 1 + axis);
    }
    return x;
}

void ti_lower_int_adaptive_max_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_size *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!start(lw, node))
        return;
    if (a->size.n == 3) {
        out[0] = ti_put_deep_max(lw, node, NULL);
        return;
    }
    window w = window_of(from, to, a->size.n);
    tc_val x = channels_last(lw, ti_lower_in(lw, node, 0), &w);
    x = ti_pool_tiles_evenly(&w) ? ti_put_window_max(lw, x, &w) : ti_put_tiled_max(lw, x, &w);
    out[0] = ti_put_channels_first(lw, x ? ti_put_domain(lw, x, from, to) : x, to);
}

/* Place i of a grid as one number per axis. */
static void unravel(int64_t i, int axes, const int64_t *dim, int64_t *at)
{
    for (int k = axes; k-- > 0; i /= dim[k])
        at[k] = i % dim[k];
}

/* The mean of each tile: the last axes, as channels, by a matrix of zeros and ones; the division is
 * in the rescale of each result. */
static tc_val tiled_mean(tc_build *lw, tc_val x, int axes, const tc_type *from, const tc_type *to)
{
    const int64_t *in = from->dim + from->rank - axes, *out = to->dim + to->rank - axes;
    int64_t plane = 1, tiles = 1, p[3], t[3];
    for (int i = 0; i < axes; i++) {
        plane *= in[i];
        tiles *= out[i];
    }
    if (plane * tiles > 1 << 24) {
        ti_lower_refuse(lw, "its tiles are too many");
        return TC_NONE;
    }
    double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)(plane * tiles));
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)tiles);
    for (int64_t k = 0; k < tiles; k++) {
        int64_t n = 0;
        unravel(k, axes, out, t);
        for (int64_t i = 0; i < plane; i++) {
            bool inside = true;
            unravel(i, axes, in, p);
            for (int c = 0; c < axes; c++)
                inside = inside && p[c] >= tile_start(in[c], out[c], t[c]) &&
                         p[c] < tile_end(in[c], out[c], t[c]);
            weight[k * plane + i] = inside;
            n += inside;
        }
        factor[k] = ti_scale_of(from) / ((double)n * ti_scale_of(to));
    }
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, 1, tc_type_count(from) / plane, plane});
    x = ti_put_matrix(lw, x, ti_zero_of(from), tiles, plane, weight);
    x = ti_put_rescale_channels(lw, x, factor, 0, ti_zero_of(to), to->dtype);
    return ti_b_tosa_reshape(lw, ti_put_codes(lw, x, to->quant), to->rank, to->dim);
}

void ti_lower_int_adaptive_avg_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_size *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!start(lw, node))
        return;
    bool even = true, whole = a->size.n < 3;
    for (int i = 1; i <= a->size.n; i++)
        whole = whole && to->dim[to->rank - i] == 1;
    if (whole && ti_lower_any_size(lw)) {
        window all = window_of(from, to, a->size.n);
        tc_val plane = channels_last(lw, ti_lower_in(lw, node, 0), &all);
        const int64_t dim[] = {all.batch, all.in[0] * all.in[1], all.channels};
        plane = ti_put_middle_mean(lw, plane, dim, from, to);
        out[0] = ti_b_tosa_reshape(lw, plane, to->rank, to->dim);
        return;
    }
    for (int i = 1; i <= a->size.n; i++)
        even = even && from->dim[from->rank - i] % to->dim[to->rank - i] == 0;
    tc_val x = ti_lower_in(lw, node, 0);
    if (!even) {
        out[0] = tiled_mean(lw, x, a->size.n, from, to);
        return;
    }
    if (a->size.n == 3) {
        out[0] = ti_put_deep_mean(lw, node, NULL);
        return;
    }
    window w = window_of(from, to, a->size.n);
    ti_pool_tiles_evenly(&w);
    x = channels_last(lw, x, &w);
    if (w.out[0] == 1 && w.out[1] == 1)
        x = ti_put_plane_sum(lw, x, from, ti_scale_of(from) / (double)(w.in[0] * w.in[1]), to);
    else
        x = ti_put_window_mean(lw, x, &w, &(tc_attr_avg_pool){.include_pad = true}, from, to);
    out[0] = ti_put_channels_first(lw, x, to);
}
