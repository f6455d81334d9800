/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_reduce.c -- builders of reductions and of resizing on codes. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_fixed.h"
#include "tflite_window.h"

static tc_val along(tc_build *m, tc_op op, tc_val x, tc_ints axes)
{
    for (int i = 0; i < axes.n && m->status == TC_OK; i++) {
        const void *a = op == TC_OP_tosa_reduce_sum
                            ? (const void *)ti_b_attr(m, tosa_axis, axes.v[i])
                            : ti_b_attr(m, tosa_axis_nan, axes.v[i], TC_nan_mode_propagate);
        x = ti_b_op(m, op, a, &x, 1);
    }
    return x;
}

/* The axes of extent one go, unless they are kept. */
static tc_val without(tc_tfl_node *n, tc_val x, tc_ints axes)
{
    int64_t dim[TC_MAX_RANK];
    int rank = 0, k = 0;
    if (n->m.status != TC_OK || ti_tfl_bool(n, 0, false))
        return x;
    const tc_type *t = ti_b_type(&n->m, x);
    for (int i = 0; i < t->rank; i++) {
        if (k < axes.n && axes.v[k] == i)
            k++;
        else
            dim[rank++] = t->dim[i];
    }
    return ti_b_reshape(&n->m, x, rank, dim);
}

/* The largest divisor of n that is not more than `most`. */
static int64_t part_of(int64_t n, int64_t most)
{
    int64_t part = ti_min_i64(n, most);
    while (n % part)
        part--;
    return part;
}

/* Sums of codes of [n, h, w, c] over rows, columns or both, per channel: i32, of 16 bits i48.  A
 * window of ones; a longer axis is split.  TC_NONE: too many elements. */
static tc_val sums(tc_build *m, tc_val x, int64_t zero, bool rows, bool columns)
{
    enum { SIDE = 64, TAPS = SIDE * SIDE, MOST = 1 << 15 };
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int64_t kernel[2] = {rows ? t->dim[1] : 1, columns ? t->dim[2] : 1}, one = 1, none = 0;
    int64_t high = part_of(kernel[0], SIDE),
            shape[4] = {high, part_of(kernel[1], TAPS / high), t->dim[3], 1};
    bool whole = shape[0] == kernel[0] && shape[1] == kernel[1];
    if (kernel[0] * kernel[1] > MOST || kernel[0] > 16 * shape[0] || kernel[1] > 16 * shape[1] ||
        (!whole && t->dtype != TC_i8))
        return TC_NONE;
    static const int64_t pad[4] = {0, 0, 0, 0}, ones[2] = {1, 1};
    int64_t step[2] = {whole ? 1 : shape[0], whole ? 1 : shape[1]};
    tc_dtype sum = t->dtype == TC_i16 ? TC_i48 : TC_i32;
    tc_tensor w = ti_b_tensor(m, TC_i8, 4, shape);
    memset(w.data, 1, tc_type_bytes(w.type));
    tc_attr_tosa_conv *a = ti_b_attr(m, tosa_conv, .pad = ti_ints_copy(&m->ctx->arena, pad, 4),
                                     .stride = ti_ints_copy(&m->ctx->arena, step, 2),
                                     .dilation = ti_ints_copy(&m->ctx->arena, ones, 2),
                                     .local_bound = false, .acc_type = sum);
    tc_val in[5] = {x};
    in[1] = ti_b_const(m, w, NULL);
    in[2] = ti_tfl_const_of(m, sum, 1, &one, &none);
    in[3] = ti_tfl_number(m, t->dtype, 1, zero);
    in[4] = ti_tfl_number(m, TC_i8, 1, 0);
    x = ti_b_op(m, TC_OP_tosa_depthwise_conv2d, a, in, 5);
    int64_t plane[2] = {1, 2};
    return whole ? x : along(m, TC_OP_tosa_reduce_sum, x, (tc_ints){rows + columns, plane + !rows});
}

/* (sum - zero count) by a factor, which a mean divides by the count. */
static void sum_or_mean(tc_tfl_node *n, bool mean)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0), *y = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0);
    double xs = ti_tfl_scale(n, t), ys = ti_tfl_scale(n, y);
    TC_STOP(m);
    const tc_type *type = ti_b_type(m, x);
    tc_ints axes = ti_tfl_axes(n, type->rank);
    tc_tfl_factor f = ti_tfl_factor_of(xs / ys);
    int64_t count = ti_axes_count(type, axes);
    if (count < 1) {
        ti_b_unsupported(m, "a mean of no elements");
        return;
    }
    if (mean) {
        int shift = 0;
        while (count >> (shift + 1))
            shift++;
        shift = (int)ti_min_i64(ti_min_i64(shift, 32), 31 + f.shift);
        f.fraction = (int32_t)(((int64_t)f.fraction << shift) / count);
        f.shift -= shift;
    }
    bool axis[4] = {false}, places = type->rank == 4 && axes.n > 0;
    for (int i = 0; i < axes.n && places; i++) {
        axis[axes.v[i]] = true;
        places = axes.v[i] == 1 || axes.v[i] == 2;
    }
    tc_val sum = places ? sums(m, x, ti_tfl_zero(t), axis[1], axis[2]) : TC_NONE;
    if (sum && type->dtype == TC_i16)
        sum = ti_tfl_rescale(m, sum, &(tc_tfl_factor){1 << 30, 1}, 1, 0, 0, TC_i32);
    if (!sum) {
        sum = ti_tfl_widen(m, x, ti_tfl_zero(t), 0);
        sum = along(m, TC_OP_tosa_reduce_sum, sum, axes);
    }
    x = ti_tfl_rescale(m, sum, &f, 1, 0, ti_tfl_zero(y), y->dtype);
    ti_tfl_bind(n, 0, without(n, x, axes));
}

void ti_tfl_codes_sum(tc_tfl_node *n) { sum_or_mean(n, false); }
void ti_tfl_codes_mean(tc_tfl_node *n) { sum_or_mean(n, true); }

void ti_tfl_codes_reduce_extreme(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    TC_STOP(&n->m);
    tc_ints axes = ti_tfl_axes(n, ti_b_type(&n->m, x)->rank);
    tc_op op = n->row->op == TC_OP_amax ? TC_OP_tosa_reduce_max : TC_OP_tosa_reduce_min;
    x = along(&n->m, op, x, axes);
    ti_tfl_bind(n, 0, without(n, x, axes));
}

/* ---- RESIZE_BILINEAR ----
 *
 * Weights are integers in units of 1/1024; sums of four products are divided by 2^20, halves away
 * from zero. */
typedef struct place {
    int64_t lower, upper, share; /* of the upper */
} place;

static int64_t step_of(int64_t in, int64_t out, bool align)
{
    return align && out > 1 ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1)
                            : (1024 * in + out / 2) / out;
}

static place place_of(int64_t i, int64_t in, int64_t step, bool half)
{
    int64_t at = half ? i * step + step / 2 - 512 : i * step;
    place p = {ti_max_i64(at / 1024, 0), ti_min_i64((at + 1023) / 1024, in - 1), 0};
    p.share = at - 1024 * p.lower;
    p.lower = ti_min_i64(p.lower, in - 1);
    return p;
}

/* lower (1024 - share) + upper share along an axis; i32 */
static tc_val blend(tc_build *m, tc_val x, int axis, int64_t out, bool align, bool half)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t in = ti_b_type(m, x)->dim[axis], dim[4] = {1, 1, 1, 1}, step = step_of(in, out, align);
    dim[axis] = out;
    int64_t *row[2], *share[2];
    for (int k = 0; k < 2; k++) {
        row[k] = tc_new_n(&m->ctx->arena, int64_t, (size_t)out);
        share[k] = tc_new_n(&m->ctx->arena, int64_t, (size_t)out);
    }
    for (int64_t i = 0; i < out; i++) {
        place p = place_of(i, in, step, half);
        row[0][i] = p.lower;
        row[1][i] = p.upper;
        share[0][i] = 1024 - p.share;
        share[1][i] = p.share;
    }
    tc_val part[2];
    for (int k = 0; k < 2; k++) {
        tc_val list = ti_b_list(m, row[k], out);
        part[k] = ti_b_index_select(m, x, list, axis);
        tc_val weight = ti_tfl_const_of(m, TC_i32, 4, dim, share[k]);
        part[k] = ti_tfl_mul(m, part[k], weight, 0);
    }
    return ti_tfl_two(m, TC_OP_tosa_add, part[0], part[1]);
}

/* An axis as in TOSA's RESIZE: result i is at (i step + offset) / scale. */
typedef struct axis {
    int64_t scale, step, offset, border;
} axis;

/* The runtime's shares in lowest terms; false: TOSA's RESIZE does not reach that far, or shares are so
 * fine that no window of bytes has them. */
static bool axis_of(int64_t in, int64_t out, bool align, bool half, axis *a)
{
    int64_t step = step_of(in, out, align), offset = half ? step / 2 - 512 : 0;
    *a = (axis){1024, step, offset, 0};
    while (a->scale > 1 && a->step % 2 == 0 && a->offset % 2 == 0) {
        a->scale /= 2;
        a->step /= 2;
        a->offset /= 2;
    }
    if (half && a->scale == 1) { /* TOSA's smallest scale that has halves */
        *a = (axis){2, 2 * a->step, 2 * a->offset, 0};
    }
    a->border = (out - 1) * a->step + a->offset - (in - 1) * a->scale;
    return a->scale <= 32 && a->step > 0 && a->step < 16 * a->scale && a->offset >= -a->scale &&
           a->offset < 16 * a->scale && a->border >= -16 * a->scale && a->border < a->scale;
}

static int log_of(int64_t scale)
{
    int n = 0;
    while (scale >> (n + 1))
        n++;
    return n;
}

/* RESIZE to sums: i32, of 16 bits i48. */
static tc_val resized(tc_build *m, tc_val x, const axis *a, const int64_t *out, bool nearest)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t scale[4], offset[2], border[2], four = 4, two = 2,
            dim[4] = {t->dim[0], out[0], out[1], t->dim[3]};
    for (int i = 0; i < 2; i++) {
        scale[2 * i] = a[i].scale;
        scale[2 * i + 1] = a[i].step;
        offset[i] = a[i].offset;
        border[i] = a[i].border;
    }
    tc_val in[4] = {x};
    in[1] = ti_tfl_const_of(m, TC_shape, 1, &four, scale);
    in[2] = ti_tfl_const_of(m, TC_shape, 1, &two, offset);
    in[3] = ti_tfl_const_of(m, TC_shape, 1, &two, border);
    TC_STOP_WITH(m, TC_NONE);
    tc_node *node = ti_graph_add(
        m->g, TC_OP_tosa_resize,
        ti_b_attr(m, tosa_resize, nearest ? TC_resize_mode_nearest : TC_resize_mode_bilinear), in,
        4, 1, m->loc);
    tc_dtype sum = nearest ? t->dtype : t->dtype == TC_i16 ? TC_i48 : TC_i32;
    ti_value_of(m->g, node->out[0])->type = ti_type_make(m->ctx, sum, 4, dim);
    m->status = ti_node_infer(m->g, node);
    return node->out[0];
}

/* A scale of twice the factor has the halves. */
tc_val ti_tfl_nearest_corners(tc_build *m, tc_val x, const int64_t *out)
{
    enum { MOST = 4 }; /* times; beyond that rows are selected more quickly */
    const tc_type *t = ti_b_type(m, x);
    axis a[2];
    for (int i = 0; i < 2; i++) {
        int64_t in = t->dim[1 + i] - 1, by = in > 0 ? (out[i] - 1) / in : 0;
        if (by < 1 || by > MOST || in * by != out[i] - 1)
            return TC_NONE;
        a[i] = (axis){2 * by, 2, 0, 0};
    }
    return resized(m, x, a, out, true);
}

/* Sums by 2^shift; of int8 and int16 halves go away from zero, of uint8 up. */
static tc_val shared_out(tc_build *m, tc_val sum, int shift, bool up, tc_dtype to)
{
    if (ti_b_dtype(m, sum) == TC_i48)
        sum = ti_tfl_rescale(m, sum, &(tc_tfl_factor){1 << 30, 1}, 1, 0, 0, TC_i32);
    if (up)
        return ti_tfl_rescale_once(m, sum, &(tc_tfl_factor){1 << 30, 1 - shift}, 1, 0, to);
    return ti_tfl_rescale_once(m, sum, &(tc_tfl_factor){(1 << 30) + 1, 1 - shift}, 1, 0, to);
}

/* Both axes by RESIZE; an axis of one pixel is spread.  TC_NONE where it does not reach. */
static tc_val as_resize(tc_build *m, tc_val x, const int64_t *out, bool align, bool half, bool up)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t size[2], dim[4] = {t->dim[0], out[0], out[1], t->dim[3]};
    tc_dtype dtype = t->dtype;
    axis a[2];
    for (int i = 0; i < 2; i++) {
        size[i] = t->dim[1 + i] == 1 ? 1 : out[i];
        if (!axis_of(t->dim[1 + i], size[i], align, half, &a[i]))
            return TC_NONE;
    }
    int shift = log_of(a[0].scale) + log_of(a[1].scale);
    if (dtype == TC_i16 && shift > 14) /* 2^30 and more */
        return TC_NONE;
    if (size[0] != t->dim[1] || size[1] != t->dim[2])
        x = shared_out(m, resized(m, x, a, size, false), shift, up, dtype);
    return ti_b_expand(m, x, 4, dim);
}

void ti_tfl_codes_resize_bilinear(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0), *y = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0);
    int64_t out[2];
    bool align, half;
    if (m->status != TC_OK || !y || !ti_tfl_resize_of(n, ti_b_type(m, x), 2, out, &align, &half))
        return;
    const tc_type *type = ti_b_type(m, x);
    int64_t up = t->shifted ? 128 : 0;
    tc_val whole = as_resize(m, x, out, align, half, t->shifted);
    if (whole || m->status != TC_OK) {
        ti_tfl_bind(n, 0, whole);
        return;
    }
    x = ti_tfl_widen(m, x, -up, 0);
    x = blend(m, x, 2, out[1], align, half);
    if (type->dtype == TC_i8) {
        x = blend(m, x, 1, out[0], align, half);
        ti_tfl_bind(n, 0, ti_tfl_halves_away(m, x, 20, -up, TC_i8));
        return;
    }
    /* 16 bits by 2^20 are more than 32: the rows' sums, of 26 bits, are split at bit 12. */
    tc_val twelve = ti_tfl_number(m, TC_i32, 4, 12);
    tc_val high = ti_tfl_shift_right(m, x, twelve, false);
    tc_val low = ti_tfl_two(m, TC_OP_tosa_bitwise_and, x, ti_tfl_number(m, TC_i32, 4, 4095));
    high = blend(m, high, 1, out[0], align, half);
    low = blend(m, low, 1, out[0], align, half);
    /* high 2^12 + low, halves away from zero: bits that are shifted out of low only count as one */
    tc_val carry = ti_tfl_shift_right(m, low, twelve, false);
    tc_val rest = ti_tfl_two(m, TC_OP_tosa_bitwise_and, low, ti_tfl_number(m, TC_i32, 4, 4095));
    tc_val any = ti_tfl_two(m, TC_OP_tosa_minimum, rest, ti_tfl_number(m, TC_i32, 4, 1));
    high = ti_tfl_two(m, TC_OP_tosa_add, high, carry);
    high = ti_tfl_two(m, TC_OP_tosa_logical_left_shift, high, ti_tfl_number(m, TC_i32, 4, 1));
    high = ti_tfl_two(m, TC_OP_tosa_add, high, any);
    ti_tfl_bind(n, 0, ti_tfl_halves_away(m, high, 9, 0, TC_i16));
}
