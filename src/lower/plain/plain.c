/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c -- see plain.h: operators by one and by several TOSA operators. */
#include "plain.h"

#include <math.h>

tc_val ti_plain_number(tc_build *lw, tc_val like, double number)
{
    return like ? ti_b_like(lw, like, ti_b_dtype(lw, like), number) : like;
}

tc_val ti_plain_add(tc_build *lw, tc_val x, double number)
{
    return ti_b_tosa_add(lw, x, ti_plain_number(lw, x, number));
}
tc_val ti_plain_scale(tc_build *lw, tc_val x, double number)
{
    return ti_b_tosa_mul(lw, x, ti_plain_number(lw, x, number));
}
tc_val ti_plain_from(tc_build *lw, double number, tc_val x)
{
    return ti_b_tosa_sub(lw, ti_plain_number(lw, x, number), x);
}
tc_val ti_plain_above(tc_build *lw, tc_val x, double number)
{
    return ti_b_tosa_greater(lw, x, ti_plain_number(lw, x, number));
}
/* x < number */
static tc_val below(tc_build *lw, tc_val x, double number)
{
    return ti_b_tosa_greater(lw, ti_plain_number(lw, x, number), x);
}

tc_val ti_plain_negate(tc_build *lw, tc_val x)
{
    tc_val to = ti_b_zero_point(lw, x, 0), from = ti_b_zero_point(lw, x, 0);
    return ti_b_3(lw, tosa_negate, NULL, x, from, to);
}

tc_val ti_plain_divide(tc_build *lw, tc_val a, tc_val b)
{
    return ti_b_tosa_mul(lw, a, ti_b_tosa_reciprocal(lw, b));
}

tc_val ti_plain_sqrt(tc_build *lw, tc_val x)
{
    return ti_b_tosa_reciprocal(lw, ti_b_tosa_rsqrt(lw, x));
}

/* CAST to an integer rounds halves to even; from 2^23 on an f32 is an integer. */
tc_val ti_plain_round(tc_build *lw, tc_val x)
{
    if (!x)
        return x;
    tc_val rounded = ti_b_tosa_cast(lw, ti_b_tosa_cast(lw, x, TC_i32), ti_b_dtype(lw, x));
    tc_val small = below(lw, ti_b_tosa_abs(lw, x), 8388608);
    return ti_b_tosa_select(lw, small, rounded, x);
}

tc_val ti_plain_polynomial(tc_build *lw, tc_val x, const double *c, int n)
{
    tc_val y = ti_plain_scale(lw, x, c[n - 1]);
    for (int i = n - 2; i > 0; i--)
        y = ti_b_tosa_mul(lw, ti_plain_add(lw, y, c[i]), x);
    return ti_plain_add(lw, y, c[0]);
}

/* ---- operands ---- */

bool ti_plain_computes(tc_build *lw, tc_dtype t)
{
    if (t == TC_bool || t == TC_i32 || t == TC_i16 || t == TC_i8 || (ti_is_float(t) && t != TC_f64))
        return true;
    if (t == TC_i64)
        ti_lower_refuse(lw, "TOSA has no i64, and its numbers may need more than 32 bits");
    else
        ti_lower_refuse(lw, "TOSA does not compute with %s", tc_dtypes[t].name);
    return false;
}

tc_dtype ti_plain_type(tc_dtype t)
{
    if (t == TC_e4m3 || t == TC_e5m2)
        return TC_f16;
    return t == TC_i8 || t == TC_i16 ? TC_i32 : t;
}

tc_dtype ti_plain_formula_type(tc_dtype t) { return ti_is_float(t) ? TC_f32 : ti_plain_type(t); }

/* i32 with leading ones where the profile moves no integers: its two halves as f32, and together
 * again. */
static tc_val raised_by_halves(tc_build *lw, tc_val x, int rank)
{
    tc_val sixteen = ti_plain_number(lw, x, 16),
           high = ti_b_tosa_logical_right_shift(lw, x, sixteen);
    tc_val low = ti_b_tosa_sub(lw, x, ti_b_tosa_logical_left_shift(lw, high, sixteen)),
           half[] = {high, low};
    for (int i = 0; i < 2; i++)
        half[i] = ti_b_tosa_cast(lw, ti_b_tosa_rank(lw, ti_b_tosa_cast(lw, half[i], TC_f32), rank),
                                   TC_i32);
    high = ti_b_tosa_logical_left_shift(lw, half[0], ti_plain_number(lw, half[0], 16));
    return ti_b_tosa_add(lw, high, half[1]);
}

tc_val ti_plain_in(tc_build *lw, const tc_node *node, int i, tc_dtype dtype, int rank)
{
    tc_val x = ti_put_cast(lw, ti_lower_in(lw, node, i), dtype);
    if (x && dtype == TC_i32 && !ti_lower_has(lw, TC_FEATURE_INT) && !ti_is_const(lw->g, x) &&
        ti_b_type(lw, x)->rank < rank)
        return raised_by_halves(lw, x, rank);
    return ti_b_tosa_rank(lw, x, rank);
}
