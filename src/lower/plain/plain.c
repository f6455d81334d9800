/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c -- see plain.h: operators by one and by several TOSA operators. */
#include "plain.h"

#include <math.h>

tc_val tc_plain_number(tc_build *lw, tc_val like, double number)
{
    return like ? tc_b_like(lw, like, tc_b_dtype(lw, like), number) : like;
}

tc_val tc_plain_add(tc_build *lw, tc_val x, double number)
{
    return tc_b_tosa_add(lw, x, tc_plain_number(lw, x, number));
}
tc_val tc_plain_scale(tc_build *lw, tc_val x, double number)
{
    return tc_b_tosa_mul(lw, x, tc_plain_number(lw, x, number));
}
tc_val tc_plain_from(tc_build *lw, double number, tc_val x)
{
    return tc_b_tosa_sub(lw, tc_plain_number(lw, x, number), x);
}
tc_val tc_plain_above(tc_build *lw, tc_val x, double number)
{
    return tc_b_tosa_greater(lw, x, tc_plain_number(lw, x, number));
}
/* x < number */
static tc_val below(tc_build *lw, tc_val x, double number)
{
    return tc_b_tosa_greater(lw, tc_plain_number(lw, x, number), x);
}

tc_val tc_plain_negate(tc_build *lw, tc_val x)
{
    tc_val to = tc_b_zero_point(lw, x, 0), from = tc_b_zero_point(lw, x, 0);
    return tc_b_3(lw, tosa_negate, NULL, x, from, to);
}

tc_val tc_plain_divide(tc_build *lw, tc_val a, tc_val b)
{
    return tc_b_tosa_mul(lw, a, tc_b_tosa_reciprocal(lw, b));
}

tc_val tc_plain_sqrt(tc_build *lw, tc_val x)
{
    return tc_b_tosa_reciprocal(lw, tc_b_tosa_rsqrt(lw, x));
}

/* CAST to an integer rounds halves to even; from 2^23 on an f32 is an integer. */
tc_val tc_plain_round(tc_build *lw, tc_val x)
{
    if (!x)
        return x;
    tc_val rounded = tc_b_tosa_cast(lw, tc_b_tosa_cast(lw, x, TC_i32), tc_b_dtype(lw, x));
    tc_val small = below(lw, tc_b_tosa_abs(lw, x), 8388608);
    return tc_b_tosa_select(lw, small, rounded, x);
}

tc_val tc_plain_polynomial(tc_build *lw, tc_val x, const double *c, int n)
{
    tc_val y = tc_plain_scale(lw, x, c[n - 1]);
    for (int i = n - 2; i > 0; i--)
        y = tc_b_tosa_mul(lw, tc_plain_add(lw, y, c[i]), x);
    return tc_plain_add(lw, y, c[0]);
}

/* ---- operands ---- */

bool tc_plain_computes(tc_build *lw, tc_dtype t)
{
    if (t == TC_bool || t == TC_i32 || t == TC_i16 || t == TC_i8 || (tc_is_float(t) && t != TC_f64))
        return true;
    if (t == TC_i64)
        tc_lower_refuse(lw, "TOSA has no i64, and its numbers may need more than 32 bits");
    else
        tc_lower_refuse(lw, "TOSA does not compute with %s", tc_dtypes[t].name);
    return false;
}

tc_dtype tc_plain_type(tc_dtype t)
{
    if (t == TC_e4m3 || t == TC_e5m2)
        return TC_f16;
    return t == TC_i8 || t == TC_i16 ? TC_i32 : t;
}

tc_dtype tc_plain_formula_type(tc_dtype t) { return tc_is_float(t) ? TC_f32 : tc_plain_type(t); }

/* i32 with ones in front where the profile moves no integers: its two halves as f32, and together
 * again. */
static tc_val raised_by_halves(tc_build *lw, tc_val x, int rank)
{
    tc_val sixteen = tc_plain_number(lw, x, 16),
           high = tc_b_tosa_logical_right_shift(lw, x, sixteen);
    tc_val low = tc_b_tosa_sub(lw, x, tc_b_tosa_logical_left_shift(lw, high, sixteen)),
           half[] = {high, low};
    for (int i = 0; i < 2; i++)
        half[i] = tc_b_tosa_cast(lw, tc_b_tosa_rank(lw, tc_b_tosa_cast(lw, half[i], TC_f32), rank),
                                   TC_i32);
    high = tc_b_tosa_logical_left_shift(lw, half[0], tc_plain_number(lw, half[0], 16));
    return tc_b_tosa_add(lw, high, half[1]);
}

tc_val tc_plain_in(tc_build *lw, const tc_node *node, int i, tc_dtype dtype, int rank)
{
    tc_val x = tc_put_cast(lw, tc_lower_in(lw, node, i), dtype);
    if (x && dtype == TC_i32 && !tc_lower_has(lw, TC_FEATURE_INT) && !tc_is_const(lw->g, x) &&
        tc_b_type(lw, x)->rank < rank)
        return raised_by_halves(lw, x, rank);
    return tc_b_tosa_rank(lw, x, rank);
}
