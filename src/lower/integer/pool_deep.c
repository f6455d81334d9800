/* SPDX-License-Identifier: Apache-2.0 */
/* pool_deep.c -- pools of three axes of quantized values, as two of two axes: [n,c,d,h,w] is first
 * [n d, h, w, c], pooled over h and w, then [n, d, h w, c], pooled over d.
 *
 * The largest of the largest is exact.  A mean is one sum, of 32 bits between the two, and one
 * rescale, so it is rounded once. */
#include "../move/lower_move.h"
#include "lower_pool.h"

typedef tc_pool_window window;

typedef struct deep {
    int64_t batch, channels;
    window plane, depth; /* h and w; d and (h w) */
} deep;

static deep deep_of(const tc_type *x, const tc_type *y)
{
    const int64_t *in = x->dim + x->rank - 3, *out = y->dim + y->rank - 3;
    int64_t n = x->rank > 4 ? x->dim[0] : 1, c = x->dim[x->rank - 4], hw = out[1] * out[2];
    return (deep){.batch = n,
                  .channels = c,
                  .plane = {.batch = n * in[0],
                            .channels = c,
                            .in = {in[1], in[2]},
                            .out = {out[1], out[2]},
                            .kernel = {1, 1},
                            .stride = {1, 1},
                            .dilation = {1, 1}},
                  .depth = {.batch = n,
                            .channels = c,
                            .in = {in[0], hw},
                            .out = {out[0], hw},
                            .kernel = {1, 1},
                            .stride = {1, 1},
                            .dilation = {1, 1}}};
}

static void place(tc_ints from, int64_t *plane, int64_t *depth)
{
    plane[0] = from.v[1];
    plane[1] = from.v[2];
    depth[0] = from.v[0];
}

static tc_val as_planes(tc_build *lw, tc_val x, const deep *p)
{
    const int64_t *in = p->plane.in, d = p->depth.in[0];
    x = ti_b_tosa_reshape(lw, x, 5, (int64_t[]){p->batch, p->channels, d, in[0], in[1]});
    x = ti_b_tosa_channels_last(lw, x);
    return ti_b_tosa_reshape(lw, x, 4, (int64_t[]){p->batch * d, in[0], in[1], p->channels});
}

static tc_val as_depths(tc_build *lw, tc_val x, const deep *p)
{
    const int64_t *in = p->depth.in;
    return ti_b_tosa_reshape(lw, x, 4, (int64_t[]){p->batch, in[0], in[1], p->channels});
}

static tc_val as_result(tc_build *lw, tc_val x, const deep *p, const tc_type *to)
{
    const int64_t *out = p->plane.out, d = p->depth.out[0];
    x = ti_b_tosa_reshape(lw, x, 5, (int64_t[]){p->batch, d, out[0], out[1], p->channels});
    return ti_b_tosa_reshape(lw, ti_b_tosa_channels_first(lw, x), to->rank, to->dim);
}

static bool is_idle(const window *w)
{
    bool idle = true;
    for (int i = 0; i < 2; i++)
        idle =
            idle && w->kernel[i] == 1 && w->stride[i] == 1 && !w->pad[i] && w->in[i] == w->out[i];
    return idle;
}

/* ---- the largest ---- */

static tc_val largest(tc_build *lw, tc_val x, window *w, bool tiles)
{
    if (tiles && !ti_pool_tiles_evenly(w))
        return ti_put_tiled_max(lw, x, w);
    return is_idle(w) ? x : ti_put_window_max(lw, x, w);
}

/* a: NULL for tiles. */
tc_val ti_put_deep_max(tc_build *lw, const tc_node *node, const tc_attr_max_pool *a)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    deep p = deep_of(from, to);
    if (a) {
        place(a->kernel, p.plane.kernel, p.depth.kernel);
        place(a->stride, p.plane.stride, p.depth.stride);
        place(a->dilation, p.plane.dilation, p.depth.dilation);
        place(a->pad, p.plane.pad, p.depth.pad);
    }
    tc_val x = as_planes(lw, ti_lower_in(lw, node, 0), &p);
    x = as_depths(lw, largest(lw, x, &p.plane, !a), &p);
    x = largest(lw, x, &p.depth, !a);
    return as_result(lw, x ? ti_put_domain(lw, x, from, to) : x, &p, to);
}

/* ---- the mean ---- */

/* One window that holds everything. */
static bool is_whole(const deep *p)
{
    const window *w[] = {&p->plane, &p->plane, &p->depth};
    static const int axis[] = {0, 1, 0};
    bool whole = true;
    for (int i = 0; i < 3; i++)
        whole = whole && w[i]->out[axis[i]] == 1 && w[i]->kernel[axis[i]] == w[i]->in[axis[i]] &&
                !w[i]->pad[axis[i]];
    return whole;
}

/* Sums [n,d,hw,c] of 32 bits over windows of d. */
static tc_val sum_over_depth(tc_build *lw, tc_val sum, const window *w)
{
    int64_t after = (w->out[0] - 1) * w->stride[0] + w->kernel[0] - w->in[0] - w->pad[0];
    int64_t around[8] = {[2] = w->pad[0], [3] = after > 0 ? after : 0};
    sum = ti_b_tosa_pad(lw, sum, around, 0);
    if (w->out[0] == 1 && w->kernel[0] > 2) {
        tc_attr_tosa_axis *a = tc_new(&lw->ctx->arena, tc_attr_tosa_axis);
        a->axis = 1;
        sum = ti_b_tosa_slice_axis(lw, sum, 1, 0, w->kernel[0]);
        return ti_b_1(lw, tosa_reduce_sum, a, sum);
    }
    tc_val all = TC_NONE;
    for (int64_t k = 0; k < w->kernel[0]; k++) {
        tc_val tap = ti_put_stepped(lw, sum, 1, k, w->stride[0], w->out[0]);
        all = k ? ti_b_tosa_add(lw, all, tap) : tap;
    }
    return all;
}

/* Sums over windows of the plane, 32 bits; what is before and after the input counts as 0. */
static tc_val sum_over_plane(tc_build *lw, tc_val x, const window *w, const tc_type *from)
{
    int64_t pad[4], stride[2];
    for (int i = 0; i < 2; i++) {
        int64_t after = (w->out[i] - 1) * w->stride[i] + w->kernel[i] - w->in[i] - w->pad[i];
        pad[2 * i] = w->pad[i];
        pad[2 * i + 1] = after > 0 ? after : 0;
        stride[i] = w->out[i] == 1 ? 1 : w->stride[i];
        if (after < 0)
            x = ti_b_tosa_slice_axis(lw, x, 1 + i, 0, w->in[i] + after);
    }
    x = ti_put_window_sum(lw, x, ti_zero_of(from), w->kernel, stride, pad);
    return from->dtype == TC_i16 ? ti_put_rescale(lw, x, 1, 0, 0, TC_i32) : x;
}

/* What each of the windows [d, h w] is divided by; whether that is the same for all. */
static bool shares(const deep *p, const tc_attr_avg_pool *a, int64_t *share)
{
    int64_t hw = p->depth.out[1], n = p->depth.out[0] * hw;
    bool same = true;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i % hw;
        share[i] = a->divisor;
        if (!a->divisor)
            share[i] = ti_pool_span(&p->depth, a->include_pad, 0, i / hw) *
                       ti_pool_span(&p->plane, a->include_pad, 0, at / p->plane.out[1]) *
                       ti_pool_span(&p->plane, a->include_pad, 1, at % p->plane.out[1]);
        same = same && share[i] == share[0];
    }
    return same;
}

static tc_val mean_of_sums(tc_build *lw, tc_val x, const deep *p, const tc_attr_avg_pool *a,
                           const tc_type *from, const tc_type *to)
{
    int64_t area = p->plane.kernel[0] * p->plane.kernel[1] * p->depth.kernel[0],
            *share = tc_new_n(&lw->ctx->arena, int64_t,
                              (size_t)(p->depth.out[0] * p->depth.out[1]));
    bool same = shares(p, a, share);
    double factor = ti_scale_of(from) / ti_scale_of(to), unit = 1;
    if (area > 4096 || (!same && from->dtype == TC_i16)) {
        ti_lower_refuse(lw, same ? "its windows are too large"
                                 : "its windows are divided by different numbers");
        return TC_NONE;
    }
    tc_val sum = as_depths(lw, sum_over_plane(lw, x, &p->plane, from), p);
    sum = sum_over_depth(lw, sum, &p->depth);
    if (same)
        factor /= (double)share[0];
    else
        sum = ti_put_shares(lw, sum, area, share, &unit);
    sum = ti_put_rescale(lw, sum, factor / unit, 0, ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, sum, to->quant);
}

/* a: NULL for tiles of one size. */
tc_val ti_put_deep_mean(tc_build *lw, const tc_node *node, const tc_attr_avg_pool *a)
{
    static const tc_attr_avg_pool tiles = {.include_pad = true};
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    deep p = deep_of(from, to);
    if (a) {
        place(a->kernel, p.plane.kernel, p.depth.kernel);
        place(a->stride, p.plane.stride, p.depth.stride);
        place(a->pad, p.plane.pad, p.depth.pad);
    } else {
        ti_pool_tiles_evenly(&p.plane);
        ti_pool_tiles_evenly(&p.depth);
        a = &tiles;
    }
    tc_val x = as_planes(lw, ti_lower_in(lw, node, 0), &p);
    const int64_t *in = p.plane.in, d = p.depth.in[0];
    if (is_whole(&p) && !a->divisor) {
        x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){p.batch, d * in[0], in[1], p.channels});
        x = ti_put_plane_sum(lw, x, from, ti_scale_of(from) / (double)(d * in[0] * in[1]), to);
    } else if (is_idle(&p.depth))
        x = ti_put_window_mean(lw, x, &p.plane, a, from, to);
    else if (is_idle(&p.plane))
        x = ti_put_window_mean(lw, as_depths(lw, x, &p), &p.depth, a, from, to);
    else
        x = mean_of_sums(lw, x, &p, a, from, to);
    return as_result(lw, x, &p, to);
}
