/* SPDX-License-Identifier: Apache-2.0 */
/* plain_binary.c -- elementwise operators of two and three unquantized operands: both are cast to
 * the result's element type (or, compared, to one that holds both) and broadcast. */
#include <math.h>

#include "plain.h"

#include "../../num/load.h"

/* The operands of a node, ready. */
typedef struct pair {
    tc_dtype type; /* of the result */
    tc_dtype with; /* computed in */
    tc_val a, b;
} pair;

static bool start(tc_build *lw, const tc_node *node, bool formula, pair *p)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    *p = (pair){.type = t->dtype};
    if (!ti_plain_computes(lw, t->dtype))
        return false;
    p->with = formula ? ti_plain_formula_type(t->dtype) : ti_plain_type(t->dtype);
    p->a = ti_plain_in(lw, node, 0, p->with, t->rank);
    p->b = ti_plain_in(lw, node, 1, p->with, t->rank);
    return lw->status == TC_OK;
}

static tc_val finish(tc_build *lw, const pair *p, tc_val y) { return ti_put_cast(lw, y, p->type); }

/* ---- sums and products ---- */

void ti_lower_plain_add(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_op op = node->op == TC_OP_add ? TC_OP_tosa_add : TC_OP_tosa_sub;
    double alpha = ((const tc_attr_alpha *)node->attr)->alpha;
    pair p;
    if (!start(lw, node, false, &p))
        return;
    if (p.type == TC_bool) { /* x + by y, which is 0 for two ones only where by is -1 */
        double by = trunc(op == TC_OP_tosa_add ? alpha : -alpha);
        tc_op on_bools = by == -1 ? TC_OP_tosa_logical_xor : TC_OP_tosa_logical_or;
        out[0] = by == 0 ? p.a : ti_b_binary(lw, on_bools, p.a, p.b);
        return;
    }
    if (!ti_is_float(p.type) && (alpha != floor(alpha) || fabs(alpha) >= 0x1p31)) {
        ti_lower_refuse(lw, "integers times %g", alpha);
        return;
    }
    if (alpha != 1)
        p.b = ti_plain_scale(lw, p.b, alpha);
    out[0] = finish(lw, &p, ti_b_op(lw, op, NULL, (tc_val[]){p.a, p.b}, 2));
}

void ti_lower_plain_mul(tc_build *lw, const tc_node *node, tc_val *out)
{
    pair p;
    if (!start(lw, node, false, &p))
        return;
    if (p.type == TC_bool)
        out[0] = ti_b_tosa_logical_and(lw, p.a, p.b);
    else
        out[0] = finish(lw, &p, ti_b_tosa_mul(lw, p.a, p.b));
}

void ti_lower_plain_extreme(tc_build *lw, const tc_node *node, tc_val *out)
{
    bool most = node->op == TC_OP_maximum || node->op == TC_OP_fmax;
    bool nan_wins = node->op == TC_OP_maximum || node->op == TC_OP_minimum;
    tc_field_nan_mode nan = nan_wins ? TC_nan_mode_propagate : TC_nan_mode_ignore;
    pair p;
    if (!start(lw, node, false, &p))
        return;
    if (p.type == TC_bool)
        out[0] = (most ? ti_b_tosa_logical_or : ti_b_tosa_logical_and)(lw, p.a, p.b);
    else
        out[0] = finish(lw, &p,
                        ti_b_op(lw, most ? TC_OP_tosa_maximum : TC_OP_tosa_minimum,
                                ti_b_attr(lw, tosa_nan, nan), (tc_val[]){p.a, p.b}, 2));
}

/* ---- quotients ---- */

/* 1 where an i32 is negative. */
static tc_val sign_bit(tc_build *lw, tc_val x)
{
    return ti_b_tosa_logical_right_shift(lw, x, ti_plain_number(lw, x, 31));
}

/* i32: the truncated quotient, and the rest of it; 1 where they must step down to be floored: a
 * rest that is not zero and whose sign is not b's. */
static tc_val int_divide(tc_build *lw, tc_val a, tc_val b, tc_val *rest, tc_val *down)
{
    tc_val q = ti_b_tosa_intdiv(lw, a, b);
    *rest = ti_b_tosa_sub(lw, a, ti_b_tosa_mul(lw, q, b));
    tc_val negative = sign_bit(lw, *rest), differ = ti_b_tosa_sub(lw, negative, sign_bit(lw, b));
    tc_val any = ti_b_tosa_add(lw, negative, sign_bit(lw, ti_plain_from(lw, 0, *rest)));
    *down = ti_b_tosa_mul(lw, any, ti_b_tosa_mul(lw, differ, differ));
    return q;
}

static tc_val int_quotient(tc_build *lw, const pair *p, bool floored)
{
    if (!floored)
        return ti_b_tosa_intdiv(lw, p->a, p->b);
    tc_val rest, down, q = int_divide(lw, p->a, p->b, &rest, &down);
    return ti_b_tosa_sub(lw, q, down);
}

void ti_lower_plain_div(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_field_div_mode mode = ((const tc_attr_div *)node->attr)->mode;
    pair p;
    if (!start(lw, node, mode != TC_div_mode_exact, &p))
        return;
    tc_val y = TC_NONE;
    if (!ti_is_float(p.with))
        y = int_quotient(lw, &p, mode == TC_div_mode_floor);
    else if (mode == TC_div_mode_exact)
        y = ti_plain_divide(lw, p.a, p.b);
    else
        y = ti_plain_whole_quotient(lw, node, p.a, p.b, mode == TC_div_mode_floor);
    out[0] = finish(lw, &p, y);
}

void ti_lower_plain_remainder(tc_build *lw, const tc_node *node, tc_val *out)
{
    pair p;
    if (!start(lw, node, true, &p))
        return;
    tc_val y, down;
    if (ti_is_float(p.with))
        y = ti_plain_rest(lw, node, p.a, p.b);
    else {
        int_divide(lw, p.a, p.b, &y, &down);
        if (node->op == TC_OP_remainder)
            y = ti_b_tosa_add(lw, y, ti_b_tosa_mul(lw, down, p.b));
    }
    out[0] = finish(lw, &p, y);
}

/* ---- bits ---- */

void ti_lower_plain_bitwise(tc_build *lw, const tc_node *node, tc_val *out)
{
    static const tc_op how[TC_OP_COUNT][2] = {
        [TC_OP_bitwise_and] = {TC_OP_tosa_bitwise_and, TC_OP_tosa_logical_and},
        [TC_OP_bitwise_or] = {TC_OP_tosa_bitwise_or, TC_OP_tosa_logical_or},
        [TC_OP_bitwise_xor] = {TC_OP_tosa_bitwise_xor, TC_OP_tosa_logical_xor}};
    const tc_type *t = ti_lower_result(lw, node, 0);
    if (!ti_plain_computes(lw, t->dtype))
        return;
    tc_val b = ti_plain_in(lw, node, 1, t->dtype, t->rank);
    tc_val a = ti_plain_in(lw, node, 0, t->dtype, t->rank);
    out[0] = ti_b_op(lw, how[node->op][t->dtype == TC_bool], NULL, (tc_val[]){a, b}, 2);
}

/* TOSA shifts by 0 to the width less 1; constants can be looked at. */
static bool shifts(tc_build *lw, const tc_node *node)
{
    tc_tensor n = ti_tensor_of(lw->rw->from, node->in[1]);
    int64_t width = tc_dtypes[ti_lower_result(lw, node, 0)->dtype].bits;
    for (int64_t i = 0; n.data && i < tc_type_count(n.type); i++)
        if (ti_load_i64(n, i) < 0 || ti_load_i64(n, i) >= width) {
            ti_lower_refuse(lw, "a shift by %lld", (long long)ti_load_i64(n, i));
            return false;
        }
    if (ti_lower_result(lw, node, 0)->dtype == TC_bool) {
        ti_lower_refuse(lw, "TOSA does not shift bool");
        return false;
    }
    return ti_plain_computes(lw, ti_lower_result(lw, node, 0)->dtype);
}

/* The shift count, as `dtype`: a computed one out of range becomes `instead`, and *within says
 * where it is not; none for constants. */
static tc_val amount(tc_build *lw, const tc_node *node, tc_dtype dtype, double instead,
                     tc_val *within)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    *within = TC_NONE;
    if (ti_tensor_of(lw->rw->from, node->in[1]).data)
        return ti_plain_in(lw, node, 1, dtype, t->rank);
    bool ints = ti_lower_has(lw, TC_FEATURE_INT);
    tc_val n = ti_plain_in(lw, node, 1, ints ? TC_i32 : TC_f32, t->rank);
    tc_val width = ti_plain_number(lw, n, tc_dtypes[t->dtype].bits);
    tc_val least = ti_plain_number(lw, n, 0);
    tc_val below = ti_b_tosa_greater(lw, width, n),
           from = ti_b_tosa_greater_equal(lw, n, least);
    *within = ti_b_tosa_logical_and(lw, below, from);
    n = ti_b_tosa_select(lw, *within, n, ti_plain_number(lw, n, instead));
    return ti_b_tosa_cast(lw, n, dtype);
}

/* By the width and more nothing is left. */
void ti_lower_plain_shift_left(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    if (!shifts(lw, node))
        return;
    bool ints = ti_lower_has(lw, TC_FEATURE_INT),
         known = ti_tensor_of(lw->rw->from, node->in[1]).data;
    tc_dtype with = ints || known ? t->dtype : TC_i32;
    tc_val within, n = amount(lw, node, with, 0, &within),
                   x = ti_plain_in(lw, node, 0, with, t->rank);
    tc_val y = ti_b_tosa_logical_left_shift(lw, x, n);
    if (within && ints)
        y = ti_b_tosa_select(lw, within, y, ti_plain_number(lw, y, 0));
    else if (within) {
        tc_val one = ti_b_single(lw, TC_f32, t->rank, 1),
               none = ti_b_single(lw, TC_f32, t->rank, 0);
        tc_val factor = ti_b_tosa_select(lw, within, one, none);
        y = ti_b_tosa_mul(lw, y, ti_b_tosa_cast(lw, factor, TC_i32));
    }
    out[0] = ti_put_cast(lw, y, t->dtype);
}

/* By the width and more the sign is left.  Without ARITHMETIC_RIGHT_SHIFT, which only PRO-INT has,
 * the ones that a sign brings in are subtracted as 2^(32 - n), in two steps for n = 0. */
void ti_lower_plain_shift_right(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_attr_tosa_shift *a = tc_new(&lw->ctx->arena, tc_attr_tosa_shift);
    double most = tc_dtypes[t->dtype].bits - 1;
    tc_val within;
    if (!shifts(lw, node))
        return;
    if (ti_lower_has(lw, TC_FEATURE_INT)) {
        tc_val by = amount(lw, node, t->dtype, most, &within);
        tc_val shifted = ti_plain_in(lw, node, 0, t->dtype, t->rank);
        out[0] = ti_b_op(lw, TC_OP_tosa_arithmetic_right_shift, a, (tc_val[]){shifted, by}, 2);
        return;
    }
    tc_val x = ti_plain_in(lw, node, 0, TC_i32, t->rank),
           n = amount(lw, node, TC_i32, most, &within);
    tc_val up = ti_plain_from(lw, 31, n);
    tc_val ones = ti_b_tosa_logical_left_shift(lw, sign_bit(lw, x), up);
    ones = ti_b_tosa_logical_left_shift(lw, ones, ti_plain_number(lw, ones, 1));
    x = ti_b_tosa_sub(lw, ti_b_tosa_logical_right_shift(lw, x, n), ones);
    out[0] = ti_put_cast(lw, x, t->dtype);
}

/* ---- truth ---- */

void ti_lower_plain_logical(tc_build *lw, const tc_node *node, tc_val *out)
{
    int rank = ti_lower_result(lw, node, 0)->rank;
    tc_op op = node->op == TC_OP_logical_and  ? TC_OP_tosa_logical_and
               : node->op == TC_OP_logical_or ? TC_OP_tosa_logical_or
                                              : TC_OP_tosa_logical_xor;
    tc_val b = ti_plain_in(lw, node, 1, TC_bool, rank), a = ti_plain_in(lw, node, 0, TC_bool, rank);
    out[0] = ti_b_op(lw, op, NULL, (tc_val[]){a, b}, 2);
}

/* A type that holds both operands: i32, the float they share, or f32. */
static tc_dtype common(tc_build *lw, tc_dtype a, tc_dtype b)
{
    bool ints = ti_lower_has(lw, TC_FEATURE_INT);
    if (a == b && (a == TC_f16 || a == TC_bf16 || a == TC_f32))
        return a;
    if (!ti_is_float(a) && !ti_is_float(b) && ints)
        return TC_i32;
    if (!ti_is_float(a) && !ti_is_float(b) && (a == TC_i32 || b == TC_i32))
        ti_lower_refuse(lw, "the target does not compare 32-bit integers");
    return TC_f32;
}

void ti_lower_plain_compare(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_dtype ta = ti_lower_type(lw, node, 0)->dtype, tb = ti_lower_type(lw, node, 1)->dtype;
    int rank = ti_lower_result(lw, node, 0)->rank;
    if (!ti_plain_computes(lw, ta) || !ti_plain_computes(lw, tb))
        return;
    bool bools = ta == TC_bool && tb == TC_bool && (node->op == TC_OP_eq || node->op == TC_OP_ne);
    tc_dtype with = bools ? TC_bool : common(lw, ta, tb);
    tc_val a = ti_plain_in(lw, node, 0, with, rank), b = ti_plain_in(lw, node, 1, with, rank);
    static const struct {
        tc_op op;
        bool swapped, negated;
    } how[TC_OP_COUNT] = {[TC_OP_eq] = {TC_OP_tosa_equal, false, false},
                          [TC_OP_ne] = {TC_OP_tosa_equal, false, true},
                          [TC_OP_gt] = {TC_OP_tosa_greater, false, false},
                          [TC_OP_ge] = {TC_OP_tosa_greater_equal, false, false},
                          [TC_OP_lt] = {TC_OP_tosa_greater, true, false},
                          [TC_OP_le] = {TC_OP_tosa_greater_equal, true, false}};
    bool negated = how[node->op].negated != bools;
    tc_op op = bools ? TC_OP_tosa_logical_xor : how[node->op].op;
    bool swapped = how[node->op].swapped;
    tc_val y = ti_b_op(lw, op, NULL, (tc_val[]){swapped ? b : a, swapped ? a : b}, 2);
    out[0] = negated ? ti_b_tosa_logical_not(lw, y) : y;
}

void ti_lower_plain_where(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    if (!ti_plain_computes(lw, t->dtype))
        return;
    tc_dtype with = ti_is_float(t->dtype) ? ti_plain_type(t->dtype) : t->dtype;
    tc_val no = ti_plain_in(lw, node, 2, with, t->rank);
    tc_val yes = ti_plain_in(lw, node, 1, with, t->rank);
    tc_val y = ti_b_tosa_select(lw, ti_plain_in(lw, node, 0, TC_bool, t->rank), yes, no);
    out[0] = ti_put_cast(lw, ti_b_tosa_expand(lw, y, t->rank, t->dim), t->dtype);
}
