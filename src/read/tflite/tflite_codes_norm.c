/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_norm.c -- L2_NORMALIZATION of codes, as the runtime computes it in fixed point.
 *
 * The sum s of a row's squares is s = v 4^k, v in [1/4, 1) with 28 bits of fraction; 1 / sqrt(v)
 * is found by five of Newton's steps, x (3 - v x^2) / 2, from 1.  Results are x 128 / sqrt(s),
 * rounded. */
#include "tflite_fixed.h"

enum { ONE = 1 << 28 };

static tc_val number(tc_build *m, tc_val like, int64_t v)
{
    return m->status == TC_OK ? ti_tfl_number(m, TC_i32, ti_b_type(m, like)->rank, v) : TC_NONE;
}

static tc_val pick(tc_build *m, tc_val x, int64_t above, tc_val then, tc_val other)
{
    tc_val more = ti_tfl_two(m, TC_OP_tosa_greater, x, number(m, x, above));
    return ti_b_tosa_select(m, more, then, other);
}

static tc_val left(tc_build *m, tc_val x, tc_val by)
{
    return ti_tfl_two(m, TC_OP_tosa_logical_left_shift, x, by);
}

static tc_val less(tc_build *m, tc_val a, tc_val b)
{
    return ti_tfl_two(m, TC_OP_tosa_sub, a, b);
}

static tc_val at_least_0(tc_build *m, tc_val x)
{
    return ti_tfl_two(m, TC_OP_tosa_maximum, x, number(m, x, 0));
}

/* 1 / sqrt(v), both with 28 bits of fraction. */
static tc_val inverse_root(tc_build *m, tc_val v)
{
    tc_val half = ti_tfl_shift_right(m, v, number(m, v, 1), true), x = number(m, v, ONE);
    for (int i = 0; i < 5; i++) {
        tc_val cube = ti_tfl_mul(m, x, x, 31);
        cube = ti_tfl_mul(m, cube, x, 31);
        tc_val most = number(m, v, INT32_MAX), wide = left(m, cube, number(m, v, 6));
        cube = pick(m, cube, (1 << 25) - 1, most, wide);
        x = ti_tfl_mul(m, x, number(m, v, ONE + ONE / 2), 31);
        tc_val taken = ti_tfl_mul(m, half, cube, 31);
        x = less(m, x, taken);
        x = left(m, x, number(m, v, 3));
    }
    return x;
}

/* The factor 1 / sqrt(sum): a fraction of 31 bits, to be shifted right; where sum is 0, of 1. */
static tc_val factor(tc_build *m, tc_val sum, tc_val *right)
{
    const int64_t large = (1 << 29) - 1;
    tc_val quarter = ti_tfl_shift_right(m, sum, number(m, sum, 2), false);
    tc_val part = pick(m, sum, large, quarter, sum);
    tc_val shift_large = number(m, sum, 13), shift = number(m, sum, 12);
    shift = pick(m, sum, large, shift_large, shift);
    tc_val pairs = ti_b_tosa_clz(m, part);
    pairs = less(m, pairs, number(m, sum, 1));
    pairs = ti_tfl_shift_right(m, pairs, number(m, sum, 1), false);
    shift = less(m, shift, pairs);
    tc_val up = less(m, pairs, number(m, sum, 1));
    up = left(m, up, number(m, sum, 1));
    part = left(m, part, up);
    part = ti_tfl_shift_right(m, part, number(m, sum, 1), false);
    tc_val root = inverse_root(m, part); /* times sqrt(1/2) */
    root = ti_tfl_mul(m, root, number(m, sum, 1518500250), 31);
    tc_val back = less(m, number(m, sum, 0), shift);
    root = left(m, root, at_least_0(m, back));
    tc_val none = number(m, sum, 0);
    *right = pick(m, sum, 1, at_least_0(m, shift), none);
    tc_val most = number(m, sum, INT32_MAX);
    return pick(m, sum, 1, root, most);
}

/* x / 2^right, halves away from zero. */
static tc_val divided(tc_build *m, tc_val x, tc_val right)
{
    tc_val size = ti_tfl_shift_right(m, ti_b_tosa_abs(m, x), right, true);
    tc_val below = less(m, number(m, x, 0), size);
    return pick(m, x, -1, size, below);
}

void ti_tfl_codes_l2_norm(tc_tfl_node *n)
{
    static const tc_tfl_factor same = {1 << 30, 1};
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0), *y = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0);
    double scale = ti_tfl_scale(n, y);
    if (m->status != TC_OK || !t || !y)
        return;
    int64_t last = ti_b_type(m, x)->rank - 1;
    if (t->dtype != TC_i8 || y->code != t->code || scale * 128 != 1 || ti_tfl_zero(y) != 0 ||
        last < 0 || ti_tfl_enum(n, 0) != TFL_NONE) {
        ti_b_unsupported(m,
                         "L2_NORMALIZATION from %s to %s other than in steps of 1/128, or "
                         "with an activation",
                         ti_tfl_type_name(t->code), ti_tfl_type_name(y->code));
        return;
    }
    tc_val v = ti_tfl_widen(m, x, ti_tfl_zero(t), 0), right;
    tc_val sum = ti_b_tosa_reduce_sum(m, ti_tfl_mul(m, v, v, 0), last);
    tc_val by = factor(m, sum, &right);
    tc_val seven = number(m, v, 7);
    if (t->shifted) /* uint8: all of the 7 bits before, int8: as many as are not taken back */
        v = left(m, v, seven);
    else {
        tc_val before = less(m, seven, right), after = less(m, right, seven);
        v = left(m, v, at_least_0(m, before));
        right = at_least_0(m, after);
    }
    v = divided(m, ti_tfl_mul(m, v, by, 31), right);
    ti_tfl_bind(n, 0, ti_tfl_rescale(m, v, &same, 1, 0, 0, TC_i8));
}
