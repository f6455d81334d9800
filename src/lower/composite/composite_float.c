/* SPDX-License-Identifier: Apache-2.0 */
/* composite_float.c -- composites in floats: softmax, norms, variance.  Computed in f32, whatever
 * their element type. */
#include <float.h>
#include <math.h>

#include "composite.h"

#include "../../base/real.h"
#include "../move/lower_move.h"

/* Operand 0 as f32. */
static tc_val start(tc_build *lw, const tc_node *node)
{
    tc_dtype d = ti_lower_type(lw, node, 0)->dtype;
    if (d != TC_f32 && d != TC_f16 && d != TC_bf16) {
        ti_lower_refuse(lw, "its operand is %s", tc_dtypes[d].name);
        return TC_NONE;
    }
    return ti_b_tosa_cast(lw, ti_lower_in(lw, node, 0), TC_f32);
}

static tc_val finish(tc_build *lw, const tc_node *node, tc_val y)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    return ti_b_tosa_reshape(lw, ti_b_tosa_cast(lw, y, t->dtype), t->rank, t->dim);
}

static int last_of(tc_build *lw, tc_val x)
{
    return x ? ti_b_type(lw, x)->rank - 1 : 0;
}

static tc_val sum(tc_build *lw, tc_val x)
{
    return ti_b_tosa_reduce_sum(lw, x, last_of(lw, x));
}
/* ---- softmax: rows are the last axis ---- */

static tc_val below_max(tc_build *lw, tc_val x)
{
    return ti_b_tosa_sub(lw, x, ti_b_tosa_reduce_max(lw, x, last_of(lw, x)));
}

tc_val ti_put_real_softmax(tc_build *lw, tc_val x)
{
    tc_val e = ti_b_tosa_exp(lw, below_max(lw, x));
    return ti_b_tosa_mul(lw, e, ti_b_tosa_reciprocal(lw, sum(lw, e)));
}

static tc_val log_softmax(tc_build *lw, tc_val x)
{
    tc_val d = below_max(lw, x), e = ti_b_tosa_exp(lw, d);
    return ti_b_tosa_sub(lw, d, ti_b_tosa_log(lw, sum(lw, e)));
}

void ti_lower_real_softmax(tc_build *lw, const tc_node *node, tc_val *out)
{
    int axis = (int)((const tc_attr_axis *)node->attr)->axis;
    tc_val x = ti_b_tosa_axis_last(lw, ti_b_tosa_rank(lw, start(lw, node), 1), axis);
    x = node->op == TC_OP_softmax ? ti_put_real_softmax(lw, x) : log_softmax(lw, x);
    out[0] = finish(lw, node, ti_b_tosa_axis_back(lw, x, axis));
}

void ti_lower_real_logsumexp(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axes *a = node->attr;
    tc_val x = ti_put_axes_last(lw, start(lw, node), a->axes);
    tc_val max = ti_b_tosa_reduce_max(lw, x, last_of(lw, x));
    max = ti_put_clamp(lw, max, -FLT_MAX, FLT_MAX); /* a row of -inf gives that, no NaN */
    tc_val e = ti_b_tosa_exp(lw, ti_b_tosa_sub(lw, x, max));
    out[0] = finish(lw, node, ti_b_tosa_add(lw, max, ti_b_tosa_log(lw, sum(lw, e))));
}

void ti_lower_real_log_bands(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_bands *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *w = ti_lower_type(lw, node, 1);
    int64_t k = w->dim[1], n = w->dim[0], rows = k ? tc_type_count(t) / k : 0, swap[] = {0, 2, 1};
    if (t->dtype != TC_f32) {
        ti_lower_refuse(lw, "its operands are %s", tc_dtypes[t->dtype].name);
        return;
    }
    tc_val x = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 0), 3, (int64_t[]){1, rows, k}),
           y = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 2), 3, (int64_t[]){1, rows, k}),
           by = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 1), 3, (int64_t[]){1, n, k});
    x = ti_b_tosa_mul(lw, x, x);
    x = ti_b_tosa_add(lw, x, ti_b_tosa_mul(lw, y, y));
    tc_val zero[] = {ti_b_zero_point(lw, x, 0), TC_NONE};
    zero[1] = ti_b_zero_point(lw, by, 0);
    x = ti_b_op(lw, TC_OP_tosa_matmul, NULL,
                (tc_val[]){x, ti_b_tosa_transpose(lw, by, swap), zero[0], zero[1]}, 4);
    tc_val floor = ti_b_single(lw, TC_f32, 3, a->floor), unit = ti_b_single(lw, TC_f32, 3, a->octave / ti_log(2));
    x = a->adds ? ti_b_tosa_add(lw, x, floor) : ti_b_tosa_maximum(lw, x, floor);
    x = ti_b_tosa_mul(lw, ti_b_tosa_log(lw, x), unit);
    const tc_type *z = ti_lower_result(lw, node, 0);
    out[0] = ti_b_tosa_reshape(lw, x, z->rank, z->dim);
}

/* ---- norms ---- */

static tc_val number(tc_build *lw, tc_val like, double x)
{
    return like ? ti_b_single(lw, TC_f32, ti_b_type(lw, like)->rank, x) : TC_NONE;
}

static tc_val times(tc_build *lw, tc_val a, double x)
{
    return ti_b_tosa_mul(lw, a, number(lw, a, x));
}

static int64_t row_of(tc_build *lw, tc_val x)
{
    return x ? ti_b_type(lw, x)->dim[last_of(lw, x)] : 1;
}

static tc_val less_mean(tc_build *lw, tc_val x)
{
    return ti_b_tosa_sub(lw, x, times(lw, sum(lw, x), 1 / (double)row_of(lw, x)));
}

/* x - mean of each row; the rounding error of the mean is subtracted the same way, since 1 /
 * sqrt(eps) would amplify it in rows of equal elements. */
static tc_val centred(tc_build *lw, tc_val x)
{
    return less_mean(lw, less_mean(lw, x));
}

/* x / sqrt(mean square + eps) of each row. */
static tc_val scaled(tc_build *lw, tc_val x, double eps)
{
    tc_val v = times(lw, sum(lw, ti_b_tosa_mul(lw, x, x)), 1 / (double)row_of(lw, x));
    return ti_b_tosa_mul(lw, x, ti_b_tosa_rsqrt(lw, ti_b_tosa_add(lw, v, number(lw, v, eps))));
}

/* Operand i, one value per index of an axis, as f32 of the rank of `like`; none if absent. */
static tc_val by_axis(tc_build *lw, const tc_node *node, int i, tc_val like, int axis)
{
    tc_val v = ti_lower_in(lw, node, i);
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!v || !like)
        return TC_NONE;
    dim[axis] = tc_type_count(ti_b_type(lw, v));
    return ti_b_tosa_reshape(lw, ti_b_tosa_cast(lw, v, TC_f32), ti_b_type(lw, like)->rank, dim);
}

static tc_val affine(tc_build *lw, const tc_node *node, tc_val x, int axis)
{
    tc_val gain = by_axis(lw, node, 1, x, axis), bias = by_axis(lw, node, 2, x, axis);
    x = gain ? ti_b_tosa_mul(lw, x, gain) : x;
    return bias ? ti_b_tosa_add(lw, x, bias) : x;
}

void ti_lower_real_layer_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_layer_norm *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int keep = t->rank - (int)a->n_axes;
    int64_t dim[TC_MAX_RANK], n = 1;
    for (int i = keep; i < t->rank; i++)
        n *= t->dim[i];
    memcpy(dim, t->dim, sizeof dim);
    dim[keep] = n;
    tc_val x = ti_b_tosa_reshape(lw, start(lw, node), keep + 1, dim);
    x = node->op == TC_OP_layer_norm ? centred(lw, x) : x;
    out[0] = finish(lw, node, affine(lw, node, scaled(lw, x, a->eps), keep));
}

void ti_lower_real_group_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_group_norm *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t n = tc_type_count(t), rows[] = {t->dim[0], a->groups, n / (t->dim[0] * a->groups)};
    tc_val x = scaled(lw, centred(lw, ti_b_tosa_reshape(lw, start(lw, node), 3, rows)), a->eps);
    out[0] = finish(lw, node, affine(lw, node, ti_b_tosa_reshape(lw, x, t->rank, t->dim), 1));
}

/* (x - mean) * (weight / sqrt(variance + eps)) + bias, all by channel. */
void ti_lower_real_batch_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_eps *a = node->attr;
    tc_val x = start(lw, node), v = by_axis(lw, node, 4, x, 1);
    tc_val scale = ti_b_tosa_rsqrt(lw, ti_b_tosa_add(lw, v, number(lw, v, a->eps)));
    tc_val gain = by_axis(lw, node, 1, x, 1), bias = by_axis(lw, node, 2, x, 1);
    if (gain)
        scale = ti_b_tosa_mul(lw, scale, gain);
    x = ti_b_tosa_mul(lw, ti_b_tosa_sub(lw, x, by_axis(lw, node, 3, x, 1)), scale);
    out[0] = finish(lw, node, bias ? ti_b_tosa_add(lw, x, bias) : x);
}

/* ---- variance and vector norms ---- */

/* Powers of what is 0 or more. */
static tc_val power(tc_build *lw, tc_val x, double by)
{
    return by == 1   ? x
           : by == 2 ? ti_b_tosa_mul(lw, x, x)
                     : ti_b_tosa_pow(lw, x, number(lw, x, by));
}

/* Rows with an element past 2^50 are computed 2^-80 times as large: neither sums nor squares leave
 * f32, and what that rounds to 0 is less than 2^-80 of the result.  Such a row's 2^-80, or 1. */
static tc_val size_down(tc_build *lw, tc_val x)
{
    tc_val most = ti_b_tosa_reduce_max(lw, ti_b_tosa_abs(lw, x), last_of(lw, x));
    tc_val far = ti_b_tosa_greater(lw, most, number(lw, most, 0x1p50));
    tc_val down = number(lw, most, 0x1p-80), one = number(lw, most, 1);
    return ti_b_tosa_select(lw, far, down, one);
}

void ti_lower_real_var(tc_build *lw, const tc_node *node, tc_val *out)
{
    const bool root = node->op == TC_OP_std;
    const tc_attr_var *a = node->attr;
    tc_val x = ti_put_axes_last(lw, start(lw, node), a->axes), down = size_down(lw, x);
    tc_val d = centred(lw, ti_b_tosa_mul(lw, x, down)), up = ti_b_tosa_reciprocal(lw, down);
    double n = fmax(0, (double)row_of(lw, d) - a->correction);
    tc_val v = times(lw, sum(lw, ti_b_tosa_mul(lw, d, d)), 1 / n);
    v = ti_b_tosa_mul(lw, root ? power(lw, v, 0.5) : v, up);
    out[0] = finish(lw, node, root ? v : ti_b_tosa_mul(lw, v, up));
}

/* How many are not 0. */
static tc_val count(tc_build *lw, tc_val x)
{
    tc_val none = ti_b_tosa_equal(lw, x, number(lw, x, 0));
    tc_val one = number(lw, x, 1), zero = number(lw, x, 0);
    return sum(lw, ti_b_tosa_select(lw, none, zero, one));
}

void ti_lower_real_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_norm *a = node->attr;
    tc_val x = ti_put_axes_last(lw, start(lw, node), a->axes),
           size = ti_b_unary(lw, TC_OP_tosa_abs, x);
    if (a->ord == 0)
        x = count(lw, x);
    else if (isinf(a->ord))
        x = ti_b_tosa_reduce(lw, a->ord > 0 ? TC_OP_tosa_reduce_max : TC_OP_tosa_reduce_min, size,
                             last_of(lw, x));
    else
        x = power(lw, sum(lw, power(lw, size, a->ord)), 1 / a->ord);
    out[0] = finish(lw, node, x);
}
