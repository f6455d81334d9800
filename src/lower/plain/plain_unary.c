/* SPDX-License-Identifier: Apache-2.0 */
/* plain_unary.c -- elementwise operators of one operand on plain numbers. */
#include <math.h>

#include "plain.h"

/* The element type of the result, and whether it can be computed with. */
static bool start(tc_lower *lw, const tc_node *node, tc_dtype *type)
{
    *type = tc_lower_result(lw, node, 0)->dtype;
    return tc_plain_computes(lw, *type);
}

/* ---- one TOSA operator ---- */

void tc_lower_plain_direct(tc_lower *lw, const tc_node *node, tc_val *out)
{
    static const tc_op direct[TC_OP_COUNT] = {
        [TC_OP_exp] = TC_OP_tosa_exp,
        [TC_OP_log] = TC_OP_tosa_log,
        [TC_OP_sin] = TC_OP_tosa_sin,
        [TC_OP_cos] = TC_OP_tosa_cos,
        [TC_OP_tanh] = TC_OP_tosa_tanh,
        [TC_OP_erf] = TC_OP_tosa_erf,
        [TC_OP_rsqrt] = TC_OP_tosa_rsqrt,
        [TC_OP_floor] = TC_OP_tosa_floor,
        [TC_OP_ceil] = TC_OP_tosa_ceil,
        [TC_OP_sigmoid] = TC_OP_tosa_sigmoid,
        [TC_OP_reciprocal] = TC_OP_tosa_reciprocal,
        [TC_OP_abs] = TC_OP_tosa_abs,
    };
    tc_dtype type;
    if (!start(lw, node, &type))
        return;
    tc_val x = tc_plain_in(lw, node, 0, tc_plain_type(type), 0);
    bool same = !tc_is_float(type) &&
                (node->op == TC_OP_floor || node->op == TC_OP_ceil); /* integers are */
    out[0] = tc_put_cast(lw, same ? x : tc_f_op(lw, direct[node->op], x), type);
}

/* ---- formulas ---- */

void tc_lower_plain_formula(tc_lower *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type;
    if (!start(lw, node, &type))
        return;
    if (!tc_is_float(type)) {
        if (node->op == TC_OP_nan_to_num)
            out[0] = tc_lower_in(lw, node, 0);
        else
            tc_lower_refuse(lw, "it is defined on floats");
        return;
    }
    tc_f_function *formula = tc_f_formula(node->op);
    if (!formula) {
        tc_lower_refuse(lw, "plain_math.c has no formula for it");
        return;
    }
    tc_val x = tc_plain_in(lw, node, 0, TC_f32, 0);
    out[0] = tc_put_cast(lw, formula(lw, x, node->attr), type);
}

/* ---- rounding ---- */

typedef tc_val unary(tc_lower *lw, tc_val x, const tc_node *node);

static tc_val rounded(tc_lower *lw, tc_val x, const tc_node *node)
{
    int64_t decimals = ((const tc_attr_round *)node->attr)->decimals;
    double by = pow(10, (double)decimals);
    if (!decimals)
        return tc_f_round(lw, x);
    return tc_f_scale(lw, tc_f_round(lw, tc_f_scale(lw, x, by)), 1 / by);
}

/* Floats in f32; integers are what they are. */
static void on_floats(tc_lower *lw, const tc_node *node, unary *f, tc_val *out)
{
    tc_dtype type;
    if (!start(lw, node, &type))
        return;
    tc_val x = tc_plain_in(lw, node, 0, tc_plain_formula_type(type), 0);
    out[0] = tc_put_cast(lw, tc_is_float(type) ? f(lw, x, node) : x, type);
}

static tc_val truncated(tc_lower *lw, tc_val x, const tc_node *node)
{
    (void)node;
    return tc_f_trunc(lw, x);
}

static tc_val fraction(tc_lower *lw, tc_val x, const tc_node *node)
{
    (void)node;
    return tc_f_sub(lw, x, tc_f_trunc(lw, x));
}

void tc_lower_plain_round(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_floats(lw, node, rounded, out);
}
void tc_lower_plain_trunc(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_floats(lw, node, truncated, out);
}
void tc_lower_plain_frac(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_floats(lw, node, fraction, out);
}

/* ---- on floats and integers alike ---- */

static void on_numbers(tc_lower *lw, const tc_node *node, unary *f, tc_val *out)
{
    tc_dtype type;
    if (start(lw, node, &type))
        out[0] =
            tc_put_cast(lw, f(lw, tc_plain_in(lw, node, 0, tc_plain_type(type), 0), node), type);
}

/* 0 - x, which every profile has on i32. */
static tc_val negated(tc_lower *lw, tc_val x, const tc_node *node)
{
    (void)node;
    if (x && tc_is_float(tc_put_type(lw, x)->dtype))
        return tc_f_negate(lw, x);
    return tc_f_from(lw, 0, x);
}

static tc_val sign_of(tc_lower *lw, tc_val x, const tc_node *node)
{
    (void)node;
    tc_val zero = tc_f_number(lw, x, 0), minus = tc_f_number(lw, x, -1);
    tc_val below = tc_put_select(lw, tc_f_below(lw, x, 0), minus, zero);
    tc_val one = tc_f_number(lw, x, 1);
    return tc_put_select(lw, tc_f_above(lw, x, 0), one, below);
}

static tc_val squared(tc_lower *lw, tc_val x, const tc_node *node)
{
    (void)node;
    return tc_put_mul(lw, x, x);
}

/* A number that integers have. */
static bool is_whole(double v) { return v == floor(v) && fabs(v) < 0x1p31; }

static tc_val over_threshold(tc_lower *lw, tc_val x, const tc_node *node)
{
    const tc_attr_threshold *a = node->attr;
    if (x && !tc_is_float(tc_put_type(lw, x)->dtype) &&
        !(is_whole(a->threshold) && is_whole(a->value))) {
        tc_lower_refuse(lw, "its threshold or value is no integer");
        return TC_NONE;
    }
    tc_val within =
        tc_put2(lw, TC_OP_tosa_greater_equal, NULL, tc_f_number(lw, x, a->threshold), x);
    return tc_put_select(lw, within, tc_f_number(lw, x, a->value), x);
}

void tc_lower_plain_neg(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_numbers(lw, node, negated, out);
}
void tc_lower_plain_sign(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_numbers(lw, node, sign_of, out);
}
void tc_lower_plain_square(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_numbers(lw, node, squared, out);
}

void tc_lower_plain_threshold(tc_lower *lw, const tc_node *node, tc_val *out)
{
    on_numbers(lw, node, over_threshold, out);
}

/* CLAMP knows floats, i8 and i16; i32 goes through MAXIMUM and MINIMUM. */
static tc_val between(tc_lower *lw, tc_val x, double lo, double hi)
{
    if (!x)
        return x;
    tc_dtype t = tc_put_type(lw, x)->dtype;
    lo = fmin(lo, hi);
    if (tc_is_float(t))
        return tc_put_clamp(lw, x, lo, hi);
    double least = (double)tc_dtype_min(t), most = (double)tc_dtype_max(t);
    lo = ceil(fmin(fmax(lo, least), most));
    hi = floor(fmin(fmax(hi, least), most));
    if (t != TC_i32)
        return tc_put_clamp(lw, x, lo, hi);
    if (lo > least)
        x = tc_f_max(lw, x, tc_f_number(lw, x, lo), true);
    return hi < most ? tc_f_min(lw, x, tc_f_number(lw, x, hi), true) : x;
}

static void clamped(tc_lower *lw, const tc_node *node, double lo, double hi, tc_val *out)
{
    tc_dtype type;
    if (!start(lw, node, &type))
        return;
    bool whole = (lo == -INFINITY || is_whole(lo)) && (hi == INFINITY || is_whole(hi));
    if (isnan(lo) || isnan(hi) || (!tc_is_float(type) && !whole)) {
        tc_lower_refuse(lw, "its limits are no numbers of the result's type");
        return;
    }
    tc_dtype in = tc_is_float(type) ? tc_plain_type(type) : type == TC_bool ? TC_i32 : type;
    out[0] = tc_put_cast(lw, between(lw, tc_plain_in(lw, node, 0, in, 0), lo, hi), type);
}

void tc_lower_plain_relu(tc_lower *lw, const tc_node *node, tc_val *out)
{
    clamped(lw, node, 0, INFINITY, out);
}

void tc_lower_plain_clamp(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_clamp *a = node->attr;
    clamped(lw, node, a->lo, a->hi, out);
}

/* ---- to and from bool ---- */

void tc_lower_plain_bitwise_not(tc_lower *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type;
    if (start(lw, node, &type))
        out[0] = tc_f_op(lw, type == TC_bool ? TC_OP_tosa_logical_not : TC_OP_tosa_bitwise_not,
                         tc_lower_in(lw, node, 0));
}

void tc_lower_plain_logical_not(tc_lower *lw, const tc_node *node, tc_val *out)
{
    out[0] = tc_f_op(lw, TC_OP_tosa_logical_not, tc_plain_in(lw, node, 0, TC_bool, 0));
}

/* Integers are finite. */
static tc_val all_the_same(tc_lower *lw, const tc_node *node, bool answer)
{
    const tc_type *t = tc_lower_result(lw, node, 0);
    return tc_put_expand(lw, tc_put_number(lw, TC_bool, t->rank, answer), t->rank, t->dim);
}

void tc_lower_plain_is(tc_lower *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type = tc_lower_type(lw, node, 0)->dtype;
    if (!tc_is_float(type)) {
        out[0] = all_the_same(lw, node, node->op == TC_OP_isfinite);
        return;
    }
    tc_val x = tc_plain_in(lw, node, 0, tc_plain_type(type), 0);
    if (node->op == TC_OP_isnan)
        out[0] = tc_f_op(lw, TC_OP_tosa_logical_not, tc_put2(lw, TC_OP_tosa_equal, NULL, x, x));
    else if (node->op == TC_OP_isinf)
        out[0] = tc_f_equals(lw, tc_f_op(lw, TC_OP_tosa_abs, x), INFINITY);
    else
        out[0] = tc_f_below(lw, tc_f_op(lw, TC_OP_tosa_abs, x), INFINITY);
}

void tc_lower_plain_cast(tc_lower *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type = tc_lower_result(lw, node, 0)->dtype, from = tc_lower_type(lw, node, 0)->dtype;
    if (!tc_plain_computes(lw, from))
        return;
    if (type == TC_i64) /* it fits, and leaves so */
        tc_lower_refuse(lw, "TOSA does not compute with i64");
    else if (tc_plain_computes(lw, type))
        out[0] = tc_put_cast(lw, tc_lower_in(lw, node, 0), type);
}
