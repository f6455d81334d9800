/* SPDX-License-Identifier: Apache-2.0 */
/* plain_pool.c -- pooling of unquantized values, of one to three axes: the last two by TOSA's
 * pools, the first of three by another one, since maxima and means of windows go axis by axis. */
#include <math.h>

#include "plain.h"
#include "../integer/lower_pool.h"
#include "../move/lower_resize.h"

/* One axis. */
typedef struct span {
    int64_t in, out, kernel, stride, pad, dilation;
} span;

typedef struct pooling {
    int n;                 /* axes */
    span axis[3];
    int64_t planes;        /* batch and channels */
    bool most, include_pad;
    bool divides;          /* means: with a fixed divisor, wherever the window is */
    double scale;          /* area / divisor, where there is one */
} pooling;

static int64_t item(tc_ints list, int i, int64_t otherwise)
{
    return i < list.n ? list.v[i] : otherwise;
}

static void extents(const tc_type *x, const tc_type *y, int axes, pooling *p)
{
    p->n = axes;
    p->planes = 1;
    for (int i = 0; i < x->rank - axes; i++)
        p->planes *= x->dim[i];
    for (int i = 0; i < axes; i++)
        p->axis[i] = (span){x->dim[x->rank - axes + i], y->dim[y->rank - axes + i], 1, 1, 0, 1};
}

static bool start(tc_build *lw, const tc_node *node, tc_val *x)
{
    tc_dtype t = ti_lower_type(lw, node, 0)->dtype;
    if (node->n_out > 1 && lw->rw->readers[node->out[1]])
        ti_lower_refuse(lw, "the indices of the largest are read");
    else if (t == TC_f64 || t == TC_i64 || t == TC_bool || tc_dtypes[t].kind == TC_UINT ||
             (!ti_is_float(t) &&
              (node->op == TC_OP_avg_pool || node->op == TC_OP_adaptive_avg_pool)))
        ti_lower_refuse(lw, "TOSA does not pool %s", tc_dtypes[t].name);
    else
        *x = ti_plain_in(lw, node, 0, ti_is_float(t) ? ti_plain_type(t) : t, 0);
    return lw->status == TC_OK;
}

/* ---- windows ---- */

/* The least number of a type: what padding holds where the largest is looked for. */
static double lowest(tc_dtype t) { return ti_is_float(t) ? -INFINITY : (double)ti_dtype_min(t); }

/* How far the last window reaches past x and the padding before it. */
static int64_t reach(const span *s)
{
    return (s->out - 1) * s->stride + (s->kernel - 1) * s->dilation + 1 - s->in - s->pad;
}

/* Taps with gaps, or of types that MAX_POOL2D does not take: the largest of stepped copies. */
static tc_val most_of_taps(tc_build *lw, tc_val x, int axis, const span *s)
{
    if (!x)
        return x;
    int64_t around[2 * TC_MAX_RANK] = {0}, after = reach(s);
    around[2 * axis] = s->pad;
    around[2 * axis + 1] = after > 0 ? after : 0;
    x = ti_b_tosa_pad(lw, x, around, lowest(ti_b_dtype(lw, x)));
    tc_val most = TC_NONE;
    for (int64_t k = 0; k < s->kernel; k++) {
        tc_val tap = ti_put_stepped(lw, x, axis, k * s->dilation, s->stride, s->out);
        most = most ? ti_b_tosa_maximum(lw, most, tap) : tap;
    }
    return most;
}

static tc_val avg_pool(tc_build *lw, tc_val x, const int64_t *kernel, const int64_t *stride,
                       const int64_t *pad)
{
    tc_attr_tosa_avg_pool *a = tc_new(&lw->ctx->arena, tc_attr_tosa_avg_pool);
    *a = (tc_attr_tosa_avg_pool){.kernel = ti_ints_copy(&lw->ctx->arena, kernel, 2),
                                 .stride = ti_ints_copy(&lw->ctx->arena, stride, 2),
                                 .pad = ti_ints_copy(&lw->ctx->arena, pad, 4), .acc_type = TC_f32};
    tc_val zero = ti_b_zero_point(lw, x, 0);
    return ti_b_3(lw, tosa_avg_pool2d, a, x, zero, zero);
}

/* Zeros that count: the requested padding; with a fixed divisor also the overhang. */
static tc_val padded(tc_build *lw, tc_val x, span *s, const pooling *p)
{
    int64_t around[8] = {0};
    for (int i = 0; i < 2; i++) {
        int64_t over = reach(&s[i]), after = !p->divides ? s[i].pad : over > 0 ? over : 0;
        around[4 + 2 * i] = s[i].pad;
        around[5 + 2 * i] = after;
        s[i].in += s[i].pad + after;
        s[i].pad = 0;
    }
    return ti_b_tosa_pad(lw, x, around, 0);
}

/* x [n,c,h,w] over its last two axes. */
static tc_val pool_two(tc_build *lw, tc_val x, const span *two, const pooling *p)
{
    span s[] = {two[0], two[1]};
    if (p->most && (s[0].dilation > 1 || s[1].dilation > 1 || (x && ti_b_dtype(lw, x) == TC_i32)))
        return most_of_taps(lw, most_of_taps(lw, x, 2, &s[0]), 3, &s[1]);
    if (!p->most && p->include_pad)
        x = padded(lw, x, s, p);
    int64_t kernel[2], stride[2], pad[4];
    for (int i = 0; i < 2; i++) {
        int64_t over = reach(&s[i]);
        kernel[i] = s[i].kernel;
        stride[i] = s[i].stride;
        pad[2 * i] = s[i].pad;
        pad[2 * i + 1] = over > 0 ? over : 0;
        if (over < 0)
            x = ti_b_tosa_slice_axis(lw, x, 2 + i, 0, s[i].in + over);
    }
    x = ti_b_tosa_channels_last(lw, x);
    x = p->most ? ti_put_max_pool(lw, x, kernel, stride, pad)
                : avg_pool(lw, x, kernel, stride, pad);
    return ti_b_tosa_channels_first(lw, x);
}

static tc_val pool(tc_build *lw, tc_val x, const pooling *p, int64_t batch)
{
    const span none = {1, 1, 1, 1, 0, 1}, *last = p->axis + p->n - 1;
    span two[] = {p->n > 1 ? last[-1] : none, *last};
    if (p->n < 3) {
        x = ti_b_tosa_reshape(lw, x, 4,
                              (int64_t[]){batch, p->planes / batch, two[0].in, two[1].in});
        return pool_two(lw, x, two, p);
    }
    int64_t depth = p->axis[0].in, plane = two[0].out * two[1].out;
    x = pool_two(lw,
                 ti_b_tosa_reshape(lw, x, 4, (int64_t[]){p->planes, depth, two[0].in, two[1].in}),
                 two, p);
    span deep[] = {p->axis[0], {plane, plane, 1, 1, 0, 1}};
    return pool_two(lw, ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, p->planes, depth, plane}), deep,
                    p);
}

static int64_t batch_of(const tc_type *x, int axes) { return x->rank == axes + 2 ? x->dim[0] : 1; }

void ti_lower_plain_max_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_max_pool *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    pooling p = {.most = true, .scale = 1};
    tc_val x;
    if (!start(lw, node, &x))
        return;
    extents(t, ti_lower_result(lw, node, 0), a->kernel.n, &p);
    for (int i = 0; i < p.n; i++) {
        p.axis[i].kernel = a->kernel.v[i];
        p.axis[i].stride = item(a->stride, i, 1);
        p.axis[i].pad = item(a->pad, i, 0);
        p.axis[i].dilation = item(a->dilation, i, 1);
    }
    ti_plain_finish(lw, node, pool(lw, x, &p, batch_of(t, p.n)), out);
}

void ti_lower_plain_avg_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_avg_pool *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    pooling p = {.include_pad = a->include_pad || a->divisor, .divides = a->divisor, .scale = 1};
    tc_val x;
    if (!start(lw, node, &x))
        return;
    extents(t, ti_lower_result(lw, node, 0), a->kernel.n, &p);
    int64_t area = 1;
    for (int i = 0; i < p.n; i++) {
        p.axis[i].kernel = a->kernel.v[i];
        p.axis[i].stride = item(a->stride, i, 1);
        p.axis[i].pad = item(a->pad, i, 0);
        area *= a->kernel.v[i];
    }
    if (a->divisor)
        p.scale = (double)area / (double)a->divisor;
    x = pool(lw, x, &p, batch_of(t, p.n));
    ti_plain_finish(lw, node, p.scale == 1 ? x : ti_plain_scale(lw, x, p.scale), out);
}

/* ---- windows that tile the plane ---- */

static int64_t tile_start(const span *s, int64_t i) { return i * s->in / s->out; }
static int64_t tile_end(const span *s, int64_t i)
{
    return ((i + 1) * s->in + s->out - 1) / s->out;
}

static bool regular(pooling *p)
{
    bool all = true;
    for (int i = 0; i < p->n; i++) {
        p->axis[i].kernel = p->axis[i].stride = p->axis[i].in / p->axis[i].out;
        all = all && p->axis[i].in % p->axis[i].out == 0;
    }
    return all;
}

static tc_val mean_tiles(tc_build *lw, tc_val x, int axis, const span *s)
{
    double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)(s->out * s->in));
    for (int64_t i = 0; i < s->out; i++)
        for (int64_t k = tile_start(s, i); k < tile_end(s, i); k++)
            weight[i * s->in + k] = 1.0 / (double)(tile_end(s, i) - tile_start(s, i));
    return ti_put_axis_matrix(lw, x, axis, s->out, weight);
}

/* The same of elements that may be infinite: the sum of each tile, and a factor. */
static tc_val mean_each_tile(tc_build *lw, tc_val x, int axis, const span *s)
{
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)s->out);
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)s->out);
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int64_t i = 0; i < s->out; i++) {
        int64_t first = tile_start(s, i), n = tile_end(s, i) - first;
        part[i] = ti_b_1(lw, tosa_reduce_sum, ti_b_attr(lw, tosa_axis, axis),
                         ti_b_tosa_slice_axis(lw, x, axis, first, n));
        factor[i] = 1.0 / (double)n;
    }
    tc_val sum = ti_put_join(lw, part, (int)s->out, axis);
    if (!sum)
        return sum;
    dim[axis] = s->out;
    const tc_type *t = ti_b_type(lw, sum);
    return ti_b_tosa_mul(lw, sum, ti_b_numbers(lw, t->dtype, t->rank, dim, factor));
}

static tc_val most_of_tiles(tc_build *lw, tc_val x, int axis, const span *s)
{
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)s->out);
    for (int64_t i = 0; i < s->out; i++) {
        tc_attr_tosa_axis_nan *a = tc_new(&lw->ctx->arena, tc_attr_tosa_axis_nan);
        *a = (tc_attr_tosa_axis_nan){axis, TC_nan_mode_propagate};
        int64_t first = tile_start(s, i);
        part[i] = ti_b_1(lw, tosa_reduce_max, a,
                         ti_b_tosa_slice_axis(lw, x, axis, first, tile_end(s, i) - first));
    }
    return ti_put_join(lw, part, (int)s->out, axis);
}

void ti_lower_plain_adaptive_pool(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_type(lw, node, 0);
    pooling p = {.most = node->op == TC_OP_adaptive_max_pool, .scale = 1};
    tc_val x;
    if (!start(lw, node, &x))
        return;
    extents(t, ti_lower_result(lw, node, 0), ((const tc_attr_size *)node->attr)->size.n, &p);
    bool infinite = ti_may_be_infinite(lw->rw->from, node->in[0]);
    tc_val (*tiles)(tc_build *, tc_val, int, const span *) = p.most     ? most_of_tiles
                                                             : infinite ? mean_each_tile
                                                                        : mean_tiles;
    if (regular(&p))
        x = pool(lw, x, &p, batch_of(t, p.n));
    else
        for (int i = 0; i < p.n; i++)
            x = tiles(lw, x, t->rank - p.n + i, &p.axis[i]);
    ti_plain_finish(lw, node, x, out);
}
