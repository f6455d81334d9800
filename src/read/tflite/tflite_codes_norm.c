/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_norm.c -- L2_NORMALIZATION of codes, as the runtime computes it in fixed point.
 *
 * The sum s of a row's squares is s = v 4^k, v in [1/4, 1) with 28 bits of fraction; 1 / sqrt(v)
 * is found by five of Newton's steps, x (3 - v x^2) / 2, from 1.  Results are x 128 / sqrt(s),
 * rounded. */
#include "tflite_fixed.h"

enum { ONE = 1 << 28 };

static tc_val pick(tc_build *m, tc_val x, int64_t above, tc_val then, tc_val other)
{
    tc_val more = ti_tfl_two(m, TC_OP_tosa_greater, x, ti_tfl_i32(m, x, above));
    return ti_b_tosa_select(m, more, then, other);
}

static tc_val at_least_0(tc_build *m, tc_val x)
{
    return ti_tfl_two(m, TC_OP_tosa_maximum, x, ti_tfl_i32(m, x, 0));
}

/* 1 / sqrt(v), both with 28 bits of fraction. */
static tc_val inverse_root(tc_build *m, tc_val v)
{
    tc_val half = ti_tfl_shift_right(m, v, ti_tfl_i32(m, v, 1), true), x = ti_tfl_i32(m, v, ONE);
    for (int i = 0; i < 5; i++) {
        tc_val cube = ti_tfl_mul(m, x, x, 31);
        cube = ti_tfl_mul(m, cube, x, 31);
        tc_val most = ti_tfl_i32(m, v, INT32_MAX), wide = ti_tfl_shift_left(m, cube, ti_tfl_i32(m, v, 6));
        cube = pick(m, cube, (1 << 25) - 1, most, wide);
        x = ti_tfl_mul(m, x, ti_tfl_i32(m, v, ONE + ONE / 2), 31);
        tc_val taken = ti_tfl_mul(m, half, cube, 31);
        x = ti_tfl_less(m, x, taken);
        x = ti_tfl_shift_left(m, x, ti_tfl_i32(m, v, 3));
    }
    return x;
}

/* The factor 1 / sqrt(sum): a fraction of 31 bits, to be shifted right; where sum is 0, of 1. */
static tc_val factor(tc_build *m, tc_val sum, tc_val *right)
{
    const int64_t large = (1 << 29) - 1;
    tc_val quarter = ti_tfl_shift_right(m, sum, ti_tfl_i32(m, sum, 2), false);
    tc_val part = pick(m, sum, large, quarter, sum);
    tc_val shift_large = ti_tfl_i32(m, sum, 13), shift = ti_tfl_i32(m, sum, 12);
    shift = pick(m, sum, large, shift_large, shift);
    tc_val pairs = ti_b_tosa_clz(m, part);
    pairs = ti_tfl_less(m, pairs, ti_tfl_i32(m, sum, 1));
    pairs = ti_tfl_shift_right(m, pairs, ti_tfl_i32(m, sum, 1), false);
    shift = ti_tfl_less(m, shift, pairs);
    tc_val up = ti_tfl_less(m, pairs, ti_tfl_i32(m, sum, 1));
    up = ti_tfl_shift_left(m, up, ti_tfl_i32(m, sum, 1));
    part = ti_tfl_shift_left(m, part, up);
    part = ti_tfl_shift_right(m, part, ti_tfl_i32(m, sum, 1), false);
    tc_val root = inverse_root(m, part); /* times sqrt(1/2) */
    root = ti_tfl_mul(m, root, ti_tfl_i32(m, sum, 1518500250), 31);
    tc_val back = ti_tfl_less(m, ti_tfl_i32(m, sum, 0), shift);
    root = ti_tfl_shift_left(m, root, at_least_0(m, back));
    tc_val none = ti_tfl_i32(m, sum, 0);
    *right = pick(m, sum, 1, at_least_0(m, shift), none);
    tc_val most = ti_tfl_i32(m, sum, INT32_MAX);
    return pick(m, sum, 1, root, most);
}

/* x / 2^right, halves away from zero. */
static tc_val divided(tc_build *m, tc_val x, tc_val right)
{
    tc_val size = ti_tfl_shift_right(m, ti_b_tosa_abs(m, x), right, true);
    tc_val below = ti_tfl_less(m, ti_tfl_i32(m, x, 0), size);
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
    tc_val seven = ti_tfl_i32(m, v, 7);
    if (t->shifted) /* uint8: all of the 7 bits before, int8: as many as are not taken back */
        v = ti_tfl_shift_left(m, v, seven);
    else {
        tc_val before = ti_tfl_less(m, seven, right), after = ti_tfl_less(m, right, seven);
        v = ti_tfl_shift_left(m, v, at_least_0(m, before));
        right = at_least_0(m, after);
    }
    v = divided(m, ti_tfl_mul(m, v, by, 31), right);
    ti_tfl_bind(n, 0, ti_tfl_rescale(m, v, &same, 1, 0, 0, TC_i8));
}
