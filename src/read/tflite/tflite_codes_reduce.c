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

tc_val ti_tfl_sums(tc_build *m, tc_val x, int64_t zero, const int64_t *kernel,
                   const int64_t *stride)
{
    enum { SIDE = 64, PART = 16, MOST = 1 << 15 };
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    if (t->rank != 4 || kernel[0] < 1 || kernel[1] < 1 || kernel[0] * kernel[1] > MOST)
        return TC_NONE;
    int64_t shape[4] = {kernel[0], kernel[1], t->dim[3], 1}, one = 1, none = 0;
    int64_t step[2] = {stride[0], stride[1]}, part[2];
    bool whole = kernel[0] > PART || kernel[1] > PART;
    for (int i = 0; i < 2; i++) {
        part[i] = part_of(kernel[i], PART);
        whole = whole && kernel[i] == t->dim[1 + i] && kernel[i] <= PART * part[i];
    }
    for (int i = 0; whole && i < 2; i++) /* a large plane's parts first: many at once */
        shape[i] = step[i] = part[i];
    if (shape[0] > SIDE || shape[1] > SIDE)
        return TC_NONE;
    static const int64_t pad[4] = {0, 0, 0, 0}, ones[2] = {1, 1};
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
    if (sum != TC_i32)
        x = ti_tfl_rescale(m, x, &(tc_tfl_factor){1 << 30, 1}, 1, 0, 0, TC_i32);
    int64_t plane[2] = {1, 2};
    return whole ? along(m, TC_OP_tosa_reduce_sum, x, (tc_ints){2, plane}) : x;
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
    int64_t count = 1;
    for (int i = 0; i < axes.n; i++)
        count *= type->dim[axes.v[i]];
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
    bool places = axes.n == 2 && axes.v[0] == 1 && axes.v[1] == 2;
    static const int64_t step[2] = {1, 1};
    tc_val sum = places && type->rank == 4
                     ? ti_tfl_sums(m, x, ti_tfl_zero(t), type->dim + 1, step)
                     : TC_NONE;
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
 * Shares are whole numbers of 1/1024; sums of four products are divided by 2^20, halves away from
 * zero. */
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

/* RESIZE where both extents grow by the same power of two and pixels are centred. */
static tc_val as_resize(tc_build *m, tc_val x, int64_t factor, bool up)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t scale[4] = {2 * factor, 2, 2 * factor, 2}, offset[2] = {1 - factor, 1 - factor},
            border[2] = {factor - 1, factor - 1}, four = 4, two = 2;
    int shift = 2;
    for (int64_t f = factor; f > 1; f >>= 1)
        shift += 2;
    tc_val in[4] = {x};
    in[1] = ti_tfl_const_of(m, TC_shape, 1, &four, scale);
    in[2] = ti_tfl_const_of(m, TC_shape, 1, &two, offset);
    in[3] = ti_tfl_const_of(m, TC_shape, 1, &two, border);
    TC_STOP_WITH(m, TC_NONE);
    tc_node *node =
        ti_graph_add(m->g, TC_OP_tosa_resize, ti_b_attr(m, tosa_resize, TC_resize_mode_bilinear),
                     in, 4, 1, m->loc);
    int64_t dim[4] = {t->dim[0], t->dim[1] * factor, t->dim[2] * factor, t->dim[3]};
    ti_value_of(m->g, node->out[0])->type = ti_type_make(m->ctx, TC_i32, 4, dim);
    m->status = ti_node_infer(m->g, node);
    if (up) /* uint8: halves go up */
        return ti_tfl_rescale_once(m, node->out[0], &(tc_tfl_factor){1 << 30, 1 - shift}, 1, 0,
                                   TC_i8);
    return ti_tfl_halves_away(m, node->out[0], shift, 0, TC_i8);
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
    int64_t factor = out[0] / type->dim[1], up = t->shifted ? 128 : 0;
    bool power = factor > 1 && factor <= 16 && (factor & (factor - 1)) == 0 &&
                 out[0] == type->dim[1] * factor && out[1] == type->dim[2] * factor;
    if (power && half && type->dtype == TC_i8) {
        ti_tfl_bind(n, 0, as_resize(m, x, factor, t->shifted));
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
