/* SPDX-License-Identifier: Apache-2.0 */
/* plain_unary.c -- elementwise operators of one unquantized operand. */
#include <math.h>

#include "plain.h"

#include "../../num/load.h"

/* The element type of the result, and whether it can be computed with. */
static bool start(tc_build *lw, const tc_node *node, tc_dtype *type)
{
    *type = ti_lower_result(lw, node, 0)->dtype;
    return ti_plain_computes(lw, *type);
}

/* A number that integers have. */
static bool is_whole(double v) { return v == floor(v) && fabs(v) < 0x1p31; }

/* 0 - x for integers, which every profile has on i32. */
void ti_lower_plain_neg(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type;
    if (!start(lw, node, &type))
        return;
    tc_val x = ti_plain_in(lw, node, 0, ti_plain_type(type), 0);
    x = ti_is_float(type) ? ti_plain_negate(lw, x) : ti_plain_from(lw, 0, x);
    out[0] = ti_put_cast(lw, x, type);
}

/* CLAMP knows floats, i8 and i16; i32 goes through MAXIMUM and MINIMUM. */
static tc_val between(tc_build *lw, tc_val x, double lo, double hi)
{
    if (!x)
        return x;
    tc_dtype t = ti_b_type(lw, x)->dtype;
    lo = fmin(lo, hi);
    if (ti_is_float(t))
        return ti_put_clamp(lw, x, lo, hi);
    double least = (double)ti_dtype_min(t), most = (double)ti_dtype_max(t);
    lo = ceil(fmin(fmax(lo, least), most));
    hi = floor(fmin(fmax(hi, least), most));
    if (t != TC_i32)
        return ti_put_clamp(lw, x, lo, hi);
    if (lo > least)
        x = ti_b_tosa_maximum(lw, x, ti_plain_number(lw, x, lo));
    return hi < most ? ti_b_tosa_minimum(lw, x, ti_plain_number(lw, x, hi)) : x;
}

static void clamped(tc_build *lw, const tc_node *node, double lo, double hi, tc_val *out)
{
    tc_dtype type;
    if (!start(lw, node, &type))
        return;
    bool whole = (lo == -INFINITY || is_whole(lo)) && (hi == INFINITY || is_whole(hi));
    if (isnan(lo) || isnan(hi) || (!ti_is_float(type) && !whole)) {
        ti_lower_refuse(lw, "its limits cannot be represented in the result's type");
        return;
    }
    tc_dtype in = ti_is_float(type) ? ti_plain_type(type) : type == TC_bool ? TC_i32 : type;
    out[0] = ti_put_cast(lw, between(lw, ti_plain_in(lw, node, 0, in, 0), lo, hi), type);
}

void ti_lower_plain_relu(tc_build *lw, const tc_node *node, tc_val *out)
{
    clamped(lw, node, 0, INFINITY, out);
}

/* Of a bound that a narrow type does not hold PyTorch takes the low bits. */
static double held(tc_dtype t, double bound)
{
    bool narrow = !ti_is_float(t) && tc_dtypes[t].bits < 32;
    return narrow && is_whole(bound) ? (double)ti_wrap(t, ti_trunc_i64(bound)) : bound;
}

void ti_lower_plain_clamp(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_clamp *a = node->attr;
    tc_dtype t = ti_type_of(lw->rw->from, node->out[0])->dtype;
    clamped(lw, node, held(t, a->lo), held(t, a->hi), out);
}

/* ---- to and from bool ---- */

void ti_lower_plain_bitwise_not(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type;
    if (start(lw, node, &type))
        out[0] = (type == TC_bool ? ti_b_tosa_logical_not
                                  : ti_b_tosa_bitwise_not)(lw, ti_lower_in(lw, node, 0));
}

void ti_lower_plain_logical_not(tc_build *lw, const tc_node *node, tc_val *out)
{
    out[0] = ti_b_tosa_logical_not(lw, ti_plain_in(lw, node, 0, TC_bool, 0));
}

void ti_lower_plain_cast(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type = ti_lower_result(lw, node, 0)->dtype, from = ti_lower_type(lw, node, 0)->dtype;
    if (!ti_plain_computes(lw, from))
        return;
    if (type == TC_i64) /* it fits, and leaves so */
        ti_lower_refuse(lw, "TOSA does not compute with i64");
    else if (ti_plain_computes(lw, type))
        out[0] = ti_put_cast(lw, ti_lower_in(lw, node, 0), type);
}
