/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c -- see plain.h: operators by one and by several TOSA operators. */
#include "plain.h"

#include <math.h>

tc_val tc_f_op(tc_lower *lw, tc_op op, tc_val x) { return tc_put1(lw, op, NULL, x); }

tc_val tc_f_number(tc_lower *lw, tc_val like, double number)
{
    return like ? tc_put_number(lw, tc_put_type(lw, like)->dtype, tc_put_type(lw, like)->rank,
                                number)
                : like;
}

tc_val tc_f_add(tc_lower *lw, tc_val x, double number)
{
    return tc_put_add(lw, x, tc_f_number(lw, x, number));
}
tc_val tc_f_scale(tc_lower *lw, tc_val x, double number)
{
    return tc_put_mul(lw, x, tc_f_number(lw, x, number));
}
tc_val tc_f_sub(tc_lower *lw, tc_val a, tc_val b)
{
    return tc_put2(lw, TC_OP_tosa_sub, NULL, a, b);
}
tc_val tc_f_from(tc_lower *lw, double number, tc_val x)
{
    return tc_f_sub(lw, tc_f_number(lw, x, number), x);
}
tc_val tc_f_greater(tc_lower *lw, tc_val a, tc_val b)
{
    return tc_put2(lw, TC_OP_tosa_greater, NULL, a, b);
}

tc_val tc_f_above(tc_lower *lw, tc_val x, double number)
{
    return tc_f_greater(lw, x, tc_f_number(lw, x, number));
}
tc_val tc_f_below(tc_lower *lw, tc_val x, double number)
{
    return tc_f_greater(lw, tc_f_number(lw, x, number), x);
}

tc_val tc_f_equals(tc_lower *lw, tc_val x, double number)
{
    return tc_put2(lw, TC_OP_tosa_equal, NULL, x, tc_f_number(lw, x, number));
}

tc_val tc_f_negate(tc_lower *lw, tc_val x)
{
    tc_val to = tc_put_zero_point(lw, x, 0), from = tc_put_zero_point(lw, x, 0);
    return tc_put3(lw, TC_OP_tosa_negate, NULL, x, from, to);
}

static tc_val larger(tc_lower *lw, tc_op op, tc_val a, tc_val b, bool nan_wins)
{
    tc_attr_tosa_nan *attr = tc_new(&lw->ctx->arena, tc_attr_tosa_nan);
    attr->nan_mode = nan_wins ? TC_nan_mode_propagate : TC_nan_mode_ignore;
    return tc_put2(lw, op, attr, a, b);
}

tc_val tc_f_max(tc_lower *lw, tc_val a, tc_val b, bool nan_wins)
{
    return larger(lw, TC_OP_tosa_maximum, a, b, nan_wins);
}
tc_val tc_f_min(tc_lower *lw, tc_val a, tc_val b, bool nan_wins)
{
    return larger(lw, TC_OP_tosa_minimum, a, b, nan_wins);
}

tc_val tc_f_divide(tc_lower *lw, tc_val a, tc_val b)
{
    return tc_put_mul(lw, a, tc_f_op(lw, TC_OP_tosa_reciprocal, b));
}

tc_val tc_f_sqrt(tc_lower *lw, tc_val x)
{
    return tc_f_op(lw, TC_OP_tosa_reciprocal, tc_f_op(lw, TC_OP_tosa_rsqrt, x));
}

/* CAST to an integer rounds halves to even; from 2^23 on an f32 is an integer. */
tc_val tc_f_round(tc_lower *lw, tc_val x)
{
    if (!x)
        return x;
    tc_val rounded =
        tc_put_tosa_cast(lw, tc_put_tosa_cast(lw, x, TC_i32), tc_put_type(lw, x)->dtype);
    return tc_put_select(lw, tc_f_below(lw, tc_f_op(lw, TC_OP_tosa_abs, x), 8388608), rounded, x);
}

tc_val tc_f_polynomial(tc_lower *lw, tc_val x, const double *c, int n)
{
    tc_val y = tc_f_scale(lw, x, c[n - 1]);
    for (int i = n - 2; i > 0; i--)
        y = tc_put_mul(lw, tc_f_add(lw, y, c[i]), x);
    return tc_f_add(lw, y, c[0]);
}

/* ---- operands ---- */

bool tc_plain_computes(tc_lower *lw, tc_dtype t)
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
static tc_val raised_by_halves(tc_lower *lw, tc_val x, int rank)
{
    tc_val sixteen = tc_f_number(lw, x, 16),
           high = tc_put2(lw, TC_OP_tosa_logical_right_shift, NULL, x, sixteen);
    tc_val low = tc_f_sub(lw, x, tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, high, sixteen)),
           half[] = {high, low};
    for (int i = 0; i < 2; i++)
        half[i] = tc_put_tosa_cast(lw, tc_put_rank(lw, tc_put_tosa_cast(lw, half[i], TC_f32), rank),
                                   TC_i32);
    high = tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, half[0], tc_f_number(lw, half[0], 16));
    return tc_put_add(lw, high, half[1]);
}

tc_val tc_plain_in(tc_lower *lw, const tc_node *node, int i, tc_dtype dtype, int rank)
{
    tc_val x = tc_put_cast(lw, tc_lower_in(lw, node, i), dtype);
    if (x && dtype == TC_i32 && !tc_lower_has(lw, TC_FEATURE_INT) && !tc_is_const(lw->g, x) &&
        tc_put_type(lw, x)->rank < rank)
        return raised_by_halves(lw, x, rank);
    return tc_put_rank(lw, x, rank);
}
