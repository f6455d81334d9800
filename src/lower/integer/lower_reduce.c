/* SPDX-License-Identifier: Apache-2.0 */
/* lower_reduce.c -- quantized values reduced over axes.
 *
 * Sums of i8 are convolutions by ones: over the last axis a 1x1 convolution with one output
 * channel, over a plane two depthwise ones, rows first, i16 between them.  The zero point is taken
 * off inside, and the one rescale at the end holds the division of a mean.  i16 is summed
 * by REDUCE_SUM, whose i32 keeps every bit. */
#include <math.h>

#include "arith.h"
#include "../composite/composite.h"
#include "../move/lower_move.h"
#include "lower_pool.h"
#include "../product/product.h"

/* A tensor seen as [outer, reduced, inner]. */
typedef struct span {
    int64_t outer, reduced, inner;
} span;

static bool is_reduced(tc_ints axes, int axis)
{
    for (int k = 0; k < axes.n; k++)
        if (axes.v[k] == axis)
            return true;
    return false;
}

/* The reduced axes together: if they are adjacent already, the axes stay; else they come last.
 */
static tc_val gathered(tc_build *lw, tc_val x, const tc_type *t, tc_ints axes, span *s)
{
    int first = t->rank, last = -1, n = 0;
    int64_t perm[TC_MAX_RANK];
    *s = (span){1, 1, 1};
    for (int i = 0; i < t->rank; i++)
        if (is_reduced(axes, i)) {
            first = i < first ? i : first;
            last = i;
            s->reduced *= t->dim[i];
        }
    bool together = axes.n == 0 || last - first + 1 == axes.n;
    for (int i = 0; i < t->rank; i++) {
        if (is_reduced(axes, i))
            continue;
        perm[n++] = i;
        if (together && i > last)
            s->inner *= t->dim[i];
        else
            s->outer *= t->dim[i];
    }
    if (together)
        return x;
    for (int i = 0; i < t->rank; i++)
        if (is_reduced(axes, i))
            perm[n++] = i;
    return ti_b_tosa_transpose(lw, x, perm);
}

/* ---- sums ---- */

tc_val ti_put_matrix(tc_build *lw, tc_val x, int64_t zero, int64_t n, int64_t k,
                     const double *weight)
{
    if (!x)
        return x;
    tc_dtype acc = ti_b_dtype(lw, x) == TC_i16 ? TC_i48 : TC_i32;
    tc_val w = ti_b_numbers(lw, TC_i8, 4, (int64_t[]){n, 1, 1, k}, weight);
    return ti_put_conv(lw, TC_OP_tosa_conv2d, x, zero, w, 0, ti_b_single(lw, acc, 1, 0),
                       &(tc_window_shape){.axes = 2}, acc);
}

/* An accumulator of this scale as `to`. */
static tc_val narrowed(tc_build *lw, tc_val sum, double scale, const tc_type *to)
{
    const tc_quant *q = to->quant;
    if (sum && ti_b_dtype(lw, sum) == to->dtype && q->scale[0] == scale)
        return sum;
    return ti_put_codes(
        lw, ti_put_rescale(lw, sum, ti_scale_factor(scale, q->scale[0]), 0, q->zero[0], to->dtype),
        q);
}

static tc_val reduced(tc_build *lw, tc_op op, tc_val x, int axis)
{
    tc_attr_tosa_axis *a = tc_new(&lw->ctx->arena, tc_attr_tosa_axis);
    a->axis = axis;
    return ti_b_op(lw, op, a, (tc_val[]){x}, 1);
}

/* Elements of i16, or more of them than a kernel may have: REDUCE_SUM of i32. */
static tc_val by_reduce(tc_build *lw, tc_val x, const span *s, const tc_type *from, double scale,
                        const tc_type *to)
{
    int down;
    x = ti_put_rescale(lw, x, 1, ti_zero_of(from), 0, TC_i32);
    x = ti_put_long_sum(lw, x, (int64_t[]){s->outer, s->reduced, s->inner},
                        from->dtype == TC_i8 ? 256 : 32768, &down);
    return narrowed(lw, x, ldexp(scale, down), to);
}

enum { LONGEST = 8192, MOST_CHANNELS = 65536, WIDE = 4096 }; /* kernel; feature map; weights */

static tc_val all_ones(tc_build *lw, tc_val x, const span *s, int64_t zero)
{
    double *one = tc_new_n(&lw->ctx->arena, double, (size_t)s->reduced);
    for (int64_t i = 0; i < s->reduced; i++)
        one[i] = 1;
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, 1, s->outer, s->reduced});
    return ti_put_matrix(lw, x, zero, 1, s->reduced, one);
}

/* The most channels up to `most` that divide n. */
static int64_t channels_of(int64_t n, int64_t most)
{
    int64_t parts = (n + most - 1) / most;
    while (n % parts)
        parts++;
    return n / parts;
}

/* [outer, reduced, inner] as [n,h,w,c] with at most `most` channels, and the window that covers the
 * middle: a row; a column if the channels are in several columns. */
static tc_val as_windows(tc_build *lw, tc_val x, const span *s, int64_t most, int64_t window[2])
{
    int64_t channels = channels_of(s->inner, most), columns = s->inner / channels;
    window[0] = columns == 1 ? 1 : s->reduced;
    window[1] = columns == 1 ? s->reduced : 1;
    return ti_b_tosa_reshape(
        lw, x, 4, (int64_t[]){s->outer, window[0], columns == 1 ? s->reduced : columns, channels});
}

/* The sum over the middle of [outer, reduced, inner].  A window of ones has weights for each
 * channel, so a long row of channels becomes columns of fewer. */
static tc_val middle_sum(tc_build *lw, tc_val x, const span *s, const tc_type *from, double scale,
                         const tc_type *to)
{
    if (from->dtype == TC_i16 || s->reduced > LONGEST)
        return by_reduce(lw, x, s, from, scale, to);
    int64_t window[2];
    tc_val sum = s->inner == 1
                     ? all_ones(lw, x, s, ti_zero_of(from))
                     : ti_put_window_sum(lw, as_windows(lw, x, s, WIDE, window), ti_zero_of(from),
                                         window, (int64_t[]){1, 1}, (int64_t[]){0, 0, 0, 0});
    return narrowed(lw, sum, scale, to);
}

tc_val ti_put_plane_sum(tc_build *lw, tc_val x, const tc_type *from, double scale,
                        const tc_type *to)
{
    static const int64_t once[] = {1, 1}, none[] = {0, 0, 0, 0};
    if (!x)
        return x;
    const int64_t *d = ti_b_type(lw, x)->dim;
    int64_t n = d[0], h = d[1], w = d[2], c = d[3];
    if (from->dtype == TC_i16 || h * w > LONGEST || h * w == 1) {
        tc_val y = middle_sum(lw, x, &(span){n, h * w, c}, from, scale, to);
        return ti_b_tosa_reshape(lw, y, 4, (int64_t[]){n, 1, 1, c});
    }
    int64_t side = h > w ? h : w;
    if (!ti_lower_has(lw, TC_FEATURE_INT16) || side <= lw->lower->target->machine->cost.tree_side)
        return ti_put_tree_sum(lw, x, 1, 2, from, scale, to);
    if (h == 1 || w == 1)
        return narrowed(lw,
                        ti_put_window_sum(lw, x, ti_zero_of(from), (int64_t[]){h, w}, once, none),
                        scale, to);
    double unit = 1; /* rows of more than 128 are kept coarser in i16 */
    for (int64_t rows = h; rows > 128; rows = (rows + 1) / 2)
        unit /= 2;
    x = ti_put_window_sum(lw, x, ti_zero_of(from), (int64_t[]){h, 1}, once, none);
    x = ti_put_rescale(lw, x, unit, 0, 0, TC_i16);
    x = ti_put_window_sum(lw, x, 0, (int64_t[]){1, w}, once, none);
    return narrowed(lw, x, scale / unit, to);
}

/* A short axis before long others: slices are added in place, in any order of the axes. */
static bool adds_slices(const tc_build *lw, const tc_type *from, tc_ints axes)
{
    int64_t n = axes.n == 1 ? from->dim[axes.v[0]] : 0;
    return from->dtype == TC_i8 && n > 1 && n <= lw->lower->target->machine->cost.tree_side &&
           axes.v[0] < from->rank - 1 && tc_type_count(from) / n > WIDE;
}

/* Programs for many sizes: RESCALE's factor is a constant and cannot hold 1/n.  REDUCE_SUM in i32,
 * with `more` bits below the step, then INTDIV by n, which is a number of the program. */
tc_val ti_put_middle_mean(tc_build *lw, tc_val x, const int64_t dim[3], const tc_type *from,
                          const tc_type *to)
{
    enum { MOST = 65536, MORE = 7 }; /* 255 * MOST * 2^MORE is below 2^31 */
    int more = from->dtype == TC_i8 ? MORE : 0;
    if (dim[1] > MOST) {
        ti_lower_refuse(lw, "its mean is of more than %d numbers", MOST);
        return TC_NONE;
    }
    x = ti_b_tosa_reshape(lw, x, 3, dim);
    x = ti_put_rescale(lw, x, ldexp(1, more), ti_zero_of(from), 0, TC_i32);
    x = reduced(lw, TC_OP_tosa_reduce_sum, x, 1);
    tc_val n = ti_b_single(lw, TC_i32, 3, (double)dim[1]);
    return narrowed(lw, x ? ti_b_tosa_intdiv(lw, x, n) : x, ldexp(ti_scale_of(from), -more), to);
}

/* The same without a division. */
static tc_val any_size_sum(tc_build *lw, tc_val x, const span *s, const tc_type *from,
                           const tc_type *to)
{
    enum { MOST = 65536 };
    if (s->reduced > MOST) {
        ti_lower_refuse(lw, "its sum is of more than %d numbers", MOST);
        return TC_NONE;
    }
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){s->outer, s->reduced, s->inner});
    x = ti_put_rescale(lw, x, 1, ti_zero_of(from), 0, TC_i32);
    return narrowed(lw, reduced(lw, TC_OP_tosa_reduce_sum, x, 1), ti_scale_of(from), to);
}

static tc_val any_size_over(tc_build *lw, const tc_node *node, tc_ints axes, bool mean)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    span s;
    tc_val x = gathered(lw, ti_lower_in(lw, node, 0), from, axes, &s);
    x = mean ? ti_put_middle_mean(lw, x, (int64_t[]){s.outer, s.reduced, s.inner}, from, to)
             : any_size_sum(lw, x, &s, from, to);
    return ti_b_tosa_reshape(lw, x, to->rank, to->dim);
}

/* The sum of (code - zero) over axes, `scale` for each code. */
static tc_val sum_over(tc_build *lw, tc_val x, const tc_type *from, tc_ints axes, double scale,
                       const tc_type *to)
{
    bool plane = from->rank == 4 && !is_reduced(axes, 0) && !is_reduced(axes, 1) && axes.n > 0;
    if (plane && from->dim[1] > 1 && axes.n == 2) {
        x = ti_put_plane_sum(lw, ti_b_tosa_channels_last(lw, x), from, scale, to);
        x = ti_b_tosa_channels_first(lw, x);
    } else if (adds_slices(lw, from, axes)) {
        int axis = (int)axes.v[0];
        x = ti_put_tree_sum(lw, x, axis, axis, from, scale, to);
    } else {
        span s;
        x = gathered(lw, x, from, axes, &s);
        x = middle_sum(lw, x, &s, from, scale, to);
    }
    return ti_b_tosa_reshape(lw, x, to->rank, to->dim);
}

static bool start(tc_build *lw, const tc_node *node)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!ti_is_activation(from) || !to->quant || to->quant->axis >= 0)
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
    else if (from->dtype == TC_i16 && ti_zero_of(from))
        ti_lower_refuse(lw, "its i16 operand has a zero point");
    return lw->status == TC_OK;
}

/* i32 of one scale, as power spectra are; its range is its codes'.  false: it is not. */
static bool wide_sum(tc_build *lw, const tc_node *node, tc_ints axes, double by, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    span s;
    int down;
    if (from->dtype != TC_i32 || !from->quant || from->quant->axis >= 0 || ti_zero_of(from) ||
        !to->quant || to->quant->axis >= 0 || ti_lower_any_size(lw))
        return false;
    double most = fmax(fabs((double)from->quant->lo), fabs((double)from->quant->hi));
    tc_val x = gathered(lw, ti_lower_in(lw, node, 0), from, axes, &s);
    x = ti_put_long_sum(lw, x, (int64_t[]){s.outer, s.reduced, s.inner}, most, &down);
    double scale = ldexp(ti_scale_of(from) * by, down);
    bool same = to->dtype == TC_i32 && fabs(scale / ti_scale_of(to) - 1) < 1e-6;
    x = same ? x : narrowed(lw, x, scale, to);
    out[0] = ti_b_tosa_reshape(lw, x, to->rank, to->dim);
    return true;
}

void ti_lower_int_sum(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axes *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0);
    if (wide_sum(lw, node, a->axes, 1, out) || !start(lw, node))
        return;
    out[0] = ti_lower_any_size(lw)
                 ? any_size_over(lw, node, a->axes, false)
                 : sum_over(lw, ti_lower_in(lw, node, 0), from, a->axes, ti_scale_of(from),
                            ti_lower_result(lw, node, 0));
}

void ti_lower_int_mean(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axes *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0);
    int64_t n = 1;
    for (int i = 0; i < from->rank; i++)
        n *= is_reduced(a->axes, i) ? from->dim[i] : 1;
    if (wide_sum(lw, node, a->axes, 1 / (double)n, out) || !start(lw, node))
        return;
    out[0] = ti_lower_any_size(lw)
                 ? any_size_over(lw, node, a->axes, true)
                 : sum_over(lw, ti_lower_in(lw, node, 0), from, a->axes,
                            ti_scale_of(from) / (double)n, ti_lower_result(lw, node, 0));
}

/* ---- extremes: an order is kept by every change of domain ---- */

/* The largest over the middle of [outer, reduced, inner]. */
static tc_val middle_max(tc_build *lw, tc_val x, const span *s, bool smallest)
{
    if (s->inner == 1 || s->reduced > LONGEST) {
        tc_attr_tosa_axis_nan *a = tc_new(&lw->ctx->arena, tc_attr_tosa_axis_nan);
        *a = (tc_attr_tosa_axis_nan){.axis = 1, .nan_mode = TC_nan_mode_propagate};
        x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){s->outer, s->reduced, s->inner});
        return ti_b_op(lw, smallest ? TC_OP_tosa_reduce_min : TC_OP_tosa_reduce_max, a,
                       (tc_val[]){x}, 1);
    }
    int64_t window[2];
    x = as_windows(lw, x, s, MOST_CHANNELS, window);
    x = ti_put_max_pool(lw, smallest ? ti_b_tosa_bitwise_not(lw, x) : x, window, (int64_t[]){1, 1},
                        (int64_t[]){0, 0, 0, 0});
    return smallest ? ti_b_tosa_bitwise_not(lw, x) : x;
}

static tc_val extreme_over(tc_build *lw, tc_val x, const tc_type *from, tc_ints axes, bool smallest,
                           const tc_type *to)
{
    span s;
    bool plane = from->rank == 4 && axes.n == 2 && is_reduced(axes, 2) && is_reduced(axes, 3) &&
                 from->dim[1] > 1;
    if (plane) { /* [n,h,w,c]: the plane is in a row, channels innermost */
        x = ti_b_tosa_channels_last(lw, x);
        s = (span){from->dim[0], from->dim[2] * from->dim[3], from->dim[1]};
    } else
        x = gathered(lw, x, from, axes, &s);
    x = middle_max(lw, x, &s, smallest);
    return ti_b_tosa_reshape(lw, x ? ti_put_domain(lw, x, from, to) : x, to->rank, to->dim);
}

void ti_lower_int_amax(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axes *a = node->attr;
    if (start(lw, node))
        out[0] = extreme_over(lw, ti_lower_in(lw, node, 0), ti_lower_type(lw, node, 0), a->axes,
                              node->op == TC_OP_amin, ti_lower_result(lw, node, 0));
}

/* ---- indices ---- */

static tc_val place_of(tc_build *lw, tc_val x, int64_t axis, bool smallest, const tc_type *to)
{
    tc_attr_tosa_argmax *a = tc_new(&lw->ctx->arena, tc_attr_tosa_argmax);
    *a = (tc_attr_tosa_argmax){.axis = axis, .nan_mode = TC_nan_mode_propagate};
    x = ti_b_1(lw, tosa_argmax, a, smallest ? ti_b_tosa_bitwise_not(lw, x) : x);
    return ti_b_tosa_reshape(lw, x, to->rank, to->dim);
}

void ti_lower_int_argmax(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_arg *a = node->attr;
    if (!ti_is_activation(ti_lower_type(lw, node, 0)))
        ti_lower_refuse(lw, "its operand does not have one scale");
    else
        out[0] = place_of(lw, ti_lower_in(lw, node, 0), a->axis, node->op == TC_OP_argmin,
                          ti_lower_result(lw, node, 0));
}

void ti_lower_int_max_dim(tc_build *lw, const tc_node *node, tc_val *out)
{
    const bool smallest = node->op == TC_OP_min_dim;
    const tc_attr_arg *a = node->attr;
    tc_ints axes = ti_ints_copy(&lw->ctx->arena, &a->axis, 1);
    if (!start(lw, node))
        return;
    tc_val x = ti_lower_in(lw, node, 0);
    if (lw->rw->readers[node->out[0]])
        out[0] = extreme_over(lw, x, ti_lower_type(lw, node, 0), axes, smallest,
                              ti_lower_result(lw, node, 0));
    if (lw->rw->readers[node->out[1]])
        out[1] = place_of(lw, x, a->axis, smallest, ti_lower_result(lw, node, 1));
}

/* ---- truth ---- */

/* Whether codes differ from the zero point, over axes. */
void ti_lower_int_any(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_op op = node->op == TC_OP_any ? TC_OP_tosa_reduce_any : TC_OP_tosa_reduce_all;
    const tc_attr_axes *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!ti_is_activation(from)) {
        ti_lower_refuse(lw, "its operand does not have one scale");
        return;
    }
    tc_val x = ti_put_rescale(lw, ti_lower_in(lw, node, 0), 1, ti_zero_of(from), 0, TC_i32);
    x = ti_b_tosa_cast(lw, x, TC_bool);
    for (int i = 0; i < a->axes.n; i++)
        x = reduced(lw, op, x, (int)a->axes.v[i]);
    out[0] = ti_b_tosa_reshape(lw, x, to->rank, to->dim);
}

/* ---- running sums: the axis, last, by a triangle of ones ---- */

void ti_lower_int_cumsum(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axis *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!start(lw, node) || from->rank == 0) {
        out[0] =
            lw->status == TC_OK ? ti_put_domain(lw, ti_lower_in(lw, node, 0), from, to) : TC_NONE;
        return;
    }
    int64_t k = from->dim[a->axis];
    if (k * k > 1 << 24) {
        ti_lower_refuse(lw, "its axis is too long");
        return;
    }
    double *triangle = tc_new_n(&lw->ctx->arena, double, (size_t)(k * k));
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++)
            triangle[i * k + j] = 1;
    tc_val last = ti_b_tosa_axis_last(lw, ti_lower_in(lw, node, 0), (int)a->axis);
    if (!last)
        return;
    tc_val x = ti_b_tosa_reshape(lw, last, 4, (int64_t[]){1, 1, tc_type_count(from) / k, k});
    x = narrowed(lw, ti_put_matrix(lw, x, ti_zero_of(from), k, k, triangle), ti_scale_of(from), to);
    x = ti_b_tosa_reshape(lw, x, from->rank, ti_b_type(lw, last)->dim);
    out[0] = ti_b_tosa_axis_back(lw, x, (int)a->axis);
}
