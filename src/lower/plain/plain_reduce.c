/* SPDX-License-Identifier: Apache-2.0 */
/* plain_reduce.c -- reductions of unquantized values: TOSA reduces one axis at a time and keeps
 * it. */
#include <math.h>

#include "plain.h"

static tc_val reduce_axis(tc_build *lw, tc_op op, tc_val x, int axis)
{
    bool nan = op == TC_OP_tosa_reduce_max || op == TC_OP_tosa_reduce_min;
    tc_attr_tosa_axis_nan *with_nan = tc_new(&lw->ctx->arena, tc_attr_tosa_axis_nan);
    tc_attr_tosa_axis *without = tc_new(&lw->ctx->arena, tc_attr_tosa_axis);
    *with_nan = (tc_attr_tosa_axis_nan){axis, TC_nan_mode_propagate};
    without->axis = axis;
    return ti_b_op(lw, op, nan ? (const void *)with_nan : without, (tc_val[]){x}, 1);
}

static tc_val reduce_axes(tc_build *lw, tc_op op, tc_val x, tc_ints axes)
{
    for (int i = 0; i < axes.n && x; i++)
        if (ti_b_type(lw, x)->dim[axes.v[i]] > 1)
            x = reduce_axis(lw, op, x, (int)axes.v[i]);
    return x;
}

/* Floats are summed in f32, integers in i32. */
static bool start(tc_build *lw, const tc_node *node, tc_val *x)
{
    tc_dtype in = ti_lower_type(lw, node, 0)->dtype, t = ti_lower_result(lw, node, 0)->dtype;
    if (!ti_plain_computes(lw, in) || !ti_plain_computes(lw, t))
        return false;
    *x = ti_plain_in(lw, node, 0, ti_is_float(t) ? TC_f32 : TC_i32, 0);
    return lw->status == TC_OK;
}

void ti_lower_plain_sum(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_val x;
    if (start(lw, node, &x))
        ti_plain_finish(lw, node,
               reduce_axes(lw, TC_OP_tosa_reduce_sum, x, ((const tc_attr_axes *)node->attr)->axes),
               out);
}

void ti_lower_plain_mean(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_ints axes = ((const tc_attr_axes *)node->attr)->axes;
    const tc_type *t = ti_lower_type(lw, node, 0);
    double count = (double)ti_axes_count(t, axes);
    tc_val x;
    if (!start(lw, node, &x))
        return;
    x = reduce_axes(lw, TC_OP_tosa_reduce_sum, x, axes);
    ti_plain_finish(lw, node, count == 1 ? x : ti_plain_scale(lw, x, 1 / count), out);
}

/* Integers, for which there is no REDUCE_PRODUCT, by halves. */
static tc_val int_product(tc_build *lw, tc_val x, int axis)
{
    for (int64_t n = x ? ti_b_type(lw, x)->dim[axis] : 1; n > 1 && x; n = (n + 1) / 2) {
        int64_t half = n / 2;
        tc_val second = ti_b_tosa_slice_axis(lw, x, axis, half, half);
        tc_val y = ti_b_tosa_mul(lw, ti_b_tosa_slice_axis(lw, x, axis, 0, half), second);
        if (n % 2)
            y = ti_put_concat(lw, (tc_val[]){y, ti_b_tosa_slice_axis(lw, x, axis, n - 1, 1)}, 2,
                              axis);
        x = y;
    }
    return x;
}

void ti_lower_plain_prod(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_ints axes = ((const tc_attr_axes *)node->attr)->axes;
    tc_val x;
    if (!start(lw, node, &x))
        return;
    if (ti_is_float(ti_lower_result(lw, node, 0)->dtype))
        x = reduce_axes(lw, TC_OP_tosa_reduce_product, x, axes);
    else
        for (int i = 0; i < axes.n; i++)
            x = int_product(lw, x, (int)axes.v[i]);
    ti_plain_finish(lw, node, x, out);
}

/* Of bools the largest is any, the smallest all. */
void ti_lower_plain_amax(tc_build *lw, const tc_node *node, tc_val *out)
{
    bool most = node->op == TC_OP_amax;
    tc_dtype t = ti_lower_type(lw, node, 0)->dtype;
    if (!ti_plain_computes(lw, t))
        return;
    tc_op op = t == TC_bool ? (most ? TC_OP_tosa_reduce_any : TC_OP_tosa_reduce_all)
                            : (most ? TC_OP_tosa_reduce_max : TC_OP_tosa_reduce_min);
    tc_val x = ti_plain_in(lw, node, 0, ti_is_float(t) ? ti_plain_type(t) : t, 0);
    ti_plain_finish(lw, node, reduce_axes(lw, op, x, ((const tc_attr_axes *)node->attr)->axes), out);
}

void ti_lower_plain_any(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_op op = node->op == TC_OP_any ? TC_OP_tosa_reduce_any : TC_OP_tosa_reduce_all;
    if (ti_plain_computes(lw, ti_lower_type(lw, node, 0)->dtype))
        ti_plain_finish(lw, node,
               reduce_axes(lw, op, ti_plain_in(lw, node, 0, TC_bool, 0),
                           ((const tc_attr_axes *)node->attr)->axes),
               out);
}

/* ---- indices of the largest ---- */

/* x with the order turned round: ~x for integers, which have one number more below zero than above.
 */
static tc_val turned(tc_build *lw, tc_val x)
{
    bool floats = x && ti_is_float(ti_b_dtype(lw, x));
    return floats ? ti_plain_negate(lw, x) : ti_b_tosa_bitwise_not(lw, x);
}

/* i32, which ARGMAX does not take: the smallest index where x is its row's maximum. */
static tc_val first_of_equals(tc_build *lw, tc_val x, int axis)
{
    if (!x)
        return x;
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, n = ti_b_type(lw, x)->dim[axis];
    dim[axis] = n;
    double *place = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        place[i] = (double)i;
    tc_val places = ti_b_numbers(lw, TC_i32, ti_b_type(lw, x)->rank, dim, place);
    tc_val top = ti_b_tosa_equal(lw, x, reduce_axis(lw, TC_OP_tosa_reduce_max, x, axis));
    tc_val chosen = ti_b_tosa_select(lw, top, places, ti_plain_number(lw, places, (double)n));
    return reduce_axis(lw, TC_OP_tosa_reduce_min, chosen, axis);
}

/* Any shape along an axis: i32, the axis removed or of extent 1. */
static tc_val place_of_most(tc_build *lw, tc_val x, int axis)
{
    if (!x)
        return x;
    if (!ti_b_type(lw, x)->rank) /* the only one */
        return ti_b_single(lw, TC_i32, 0, 0);
    if (ti_b_dtype(lw, x) == TC_i32)
        return first_of_equals(lw, x, axis);
    tc_attr_tosa_argmax *a = tc_new(&lw->ctx->arena, tc_attr_tosa_argmax);
    *a = (tc_attr_tosa_argmax){axis, TC_nan_mode_propagate};
    return ti_b_1(lw, tosa_argmax, a, x);
}

/* Indices in the result's shape; PRO-FP moves no integers, but converts small ones exactly. */
static tc_val shaped(tc_build *lw, tc_val at, const tc_type *t)
{
    if (at && !ti_lower_has(lw, TC_FEATURE_INT) && !ti_same_dims(ti_b_type(lw, at), t))
        at = ti_b_tosa_cast(lw, at, TC_f32);
    return ti_b_tosa_cast(lw, ti_b_tosa_reshape(lw, at, t->rank, t->dim), t->dtype);
}

/* Codes of one scale are ordered as their values. */
static bool ordered(tc_build *lw, const tc_type *t)
{
    if (t->quant && t->quant->axis >= 0)
        ti_lower_refuse(lw, "its operand has a scale per channel");
    return lw->status == TC_OK && ti_plain_computes(lw, t->dtype);
}

void ti_lower_plain_argmax(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_arg *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    if (!ordered(lw, t))
        return;
    tc_val x = t->dtype == TC_bool ? ti_plain_in(lw, node, 0, TC_i8, 0) : ti_lower_in(lw, node, 0);
    tc_val at = place_of_most(lw, node->op == TC_OP_argmin ? turned(lw, x) : x, (int)a->axis);
    out[0] = shaped(lw, at, y);
}

/* The values and their indices, each if it is used. */
void ti_lower_plain_max_dim(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_arg *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0),
                  *index = ti_lower_result(lw, node, 1);
    bool most = node->op == TC_OP_max_dim;
    if (!ordered(lw, t))
        return;
    tc_val x = ti_lower_in(lw, node, 0), rank_1 = ti_b_tosa_rank(lw, x, 1);
    if (lw->rw->readers[node->out[0]]) {
        tc_val top = reduce_axis(lw, most ? TC_OP_tosa_reduce_max : TC_OP_tosa_reduce_min, rank_1,
                                 (int)a->axis);
        out[0] = ti_put_convert(lw, ti_b_tosa_reshape(lw, top, y->rank, y->dim), t, y);
    }
    if (lw->rw->readers[node->out[1]]) {
        tc_val at = place_of_most(lw, most ? x : turned(lw, x), (int)a->axis);
        out[1] = shaped(lw, at, index);
    }
}

/* The number of boundaries that x is not below (right) or is above; no number is above all. */
void ti_lower_bucketize(tc_build *lw, const tc_node *node, tc_val *out)
{
    bool right = ((const tc_attr_bucketize *)node->attr)->right;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t n = tc_type_count(ti_lower_type(lw, node, 1)), count = tc_type_count(t);
    bool ints = ti_lower_has(lw, TC_FEATURE_INT);
    if (!ti_plain_computes(lw, t->dtype) || !ti_plain_computes(lw, y->dtype))
        return;
    tc_dtype with =
        !ti_is_float(t->dtype) && !ti_is_float(ti_lower_type(lw, node, 1)->dtype) && ints ? TC_i32
                                                                                          : TC_f32;
    tc_val x = ti_b_tosa_reshape(lw, ti_plain_in(lw, node, 0, with, 0), 2, (int64_t[]){count, 1});
    tc_val bound = ti_b_tosa_reshape(lw, ti_plain_in(lw, node, 1, with, 0), 2, (int64_t[]){1, n});
    tc_val over = ti_b_binary(lw, right ? TC_OP_tosa_greater : TC_OP_tosa_greater_equal, bound, x);
    tc_val below =
        ti_put_cast(lw, ti_b_tosa_logical_not(lw, over), ints ? TC_i32 : TC_f32);
    tc_val sum = reduce_axis(lw, TC_OP_tosa_reduce_sum, below, 1);
    out[0] = shaped(lw, sum, y);
}
