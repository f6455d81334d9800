/* SPDX-License-Identifier: Apache-2.0 */
/* plain_expand.c -- operators by their formulas (ir/formula.h), in TOSA's operators. */
#include "plain.h"

#include <math.h>

#include "../../ir/formula.h"

/* ---- what formulas are made of ---- */

/* One TOSA operator on the same operands. */
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
    [TC_OP_pow] = TC_OP_tosa_pow,
    [TC_OP_eq] = TC_OP_tosa_equal,
    [TC_OP_gt] = TC_OP_tosa_greater,
    [TC_OP_ge] = TC_OP_tosa_greater_equal,
    [TC_OP_logical_and] = TC_OP_tosa_logical_and,
    [TC_OP_logical_or] = TC_OP_tosa_logical_or,
    [TC_OP_logical_not] = TC_OP_tosa_logical_not,
};

static bool on_floats(const tc_build *lw, tc_val x)
{
    return !x || ti_is_float(ti_b_type(lw, x)->dtype);
}

/* A scalar of the type of `like`. */
static tc_val as_value(tc_build *lw, tc_term t, tc_val like)
{
    if (!t.known)
        return t.made;
    bool whole = t.number == floor(t.number) && fabs(t.number) < 0x1p31;
    if (!whole && !on_floats(lw, like))
        ti_lower_refuse(lw, "integers beside %g", t.number);
    return ti_plain_number(lw, like, t.number);
}

static tc_val quotient(tc_build *lw, const tc_term *in, const tc_val *v)
{
    if (in[1].known)
        return ti_plain_scale(lw, v[0], 1 / in[1].number);
    if (!on_floats(lw, v[1]))
        ti_lower_refuse(lw, "it is computed on floats");
    return ti_plain_divide(lw, v[0], v[1]);
}

/* Operators that take more than one of TOSA's. */
static bool special(tc_build *lw, tc_op op, const tc_term *in, const tc_val *v, tc_val *y)
{
    switch (op) {
    case TC_OP_relu:
        *y = ti_put_clamp(lw, v[0], 0, INFINITY);
        return true;
    case TC_OP_add:
    case TC_OP_sub:
        *y = in[2].number == 1 ? v[1] : ti_plain_scale(lw, v[1], in[2].number);
        *y = (op == TC_OP_add ? ti_b_tosa_add : ti_b_tosa_sub)(lw, v[0], *y);
        return true;
    case TC_OP_mul:
        *y = ti_b_tosa_mul(lw, v[0], v[1]);
        return true;
    case TC_OP_div:
        *y = quotient(lw, in, v);
        return true;
    case TC_OP_neg:
        *y = on_floats(lw, v[0]) ? ti_plain_negate(lw, v[0]) : ti_plain_from(lw, 0, v[0]);
        return true;
    case TC_OP_lt:
        *y = ti_b_tosa_greater(lw, v[1], v[0]);
        return true;
    case TC_OP_le:
        *y = ti_b_tosa_greater_equal(lw, v[1], v[0]);
        return true;
    case TC_OP_maximum:
    case TC_OP_minimum:
        *y = (op == TC_OP_maximum ? ti_b_tosa_maximum : ti_b_tosa_minimum)(lw, v[0], v[1]);
        return true;
    case TC_OP_where:
        *y = ti_b_tosa_select(lw, v[0], v[1], v[2]);
        return true;
    case TC_OP_clamp:
        *y = ti_put_clamp(lw, v[0], in[1].number, in[2].number);
        return true;
    case TC_OP_round:
        *y = ti_plain_round(lw, v[0]);
        return true;
    default:
        return false;
    }
}

static tc_term make(const tc_formula *f, tc_op op, const tc_term *given, int n)
{
    tc_build *lw = f->maker;
    if (op == TC_FORMULA_LIKE)
        return (tc_term){.made = ti_plain_number(lw, given[0].made, given[1].number)};
    int operands = n < tc_ops[op].max_in ? n : tc_ops[op].max_in;
    tc_term in[3] = {{.known = true}, {.known = true}, {.known = true, .number = 1}};
    tc_val v[3] = {0}, y, like = ti_formula_like(f, op, given, operands);
    for (int i = 0; i < n && i < 3; i++)
        in[i] = given[i];
    for (int i = 0; i < operands; i++)
        if (op != TC_OP_div || i == 0 || !in[i].known)
            v[i] = as_value(lw, in[i], like);
    if (op == TC_OP_div && n > 2 && given[2].number != TC_div_mode_exact)
        ti_lower_refuse(lw, "a formula with a rounded quotient");
    if (op == TC_OP_add && like && !ti_is_float(ti_b_type(lw, like)->dtype) &&
        (in[2].number != floor(in[2].number) || fabs(in[2].number) >= 0x1p31))
        ti_lower_refuse(lw, "integers times %g", in[2].number);
    if (lw->lower->why)
        return (tc_term){0};
    if (!special(lw, op, in, v, &y))
        y = direct[op] ? ti_b_op(lw, direct[op], NULL, v, operands)
                       : ti_plain_apply(lw, op,
                                        ti_formula_attr(&lw->ctx->arena, f, op, given + operands,
                                                        n - operands),
                                        v);
    return (tc_term){.made = y};
}

tc_val ti_plain_apply(tc_build *lw, tc_op op, const void *attr, const tc_val *in)
{
    tc_formula f = {ti_formula_of(op, attr).tosa, tc_ops[op].attr, attr, {0}, make, lw};
    tc_term out;
    const char *wrong;
    if (!f.text || (tc_ops[op].attr != TC_ATTR_none && !attr))
        ti_lower_refuse(lw, "'%s' has no formula for TOSA", tc_ops[op].name);
    if (lw->lower->why || lw->status != TC_OK)
        return TC_NONE;
    memcpy(f.in, in, (size_t)tc_ops[op].max_in * sizeof *in);
    if (!ti_formula_apply(&f, &out, &wrong)) {
        ti_lower_refuse(lw, "the formula of '%s' cannot be read at '%s'", tc_ops[op].name, wrong);
        return TC_NONE;
    }
    return out.made;
}

/* ---- rules ---- */

void ti_lower_plain_formula(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_op_formula f = ti_formula_of(node->op, node->attr);
    tc_val x[3] = {0};
    if (!ti_plain_computes(lw, t->dtype))
        return;
    if (f.on == TC_ON_rounding && !ti_is_float(t->dtype)) {
        out[0] = ti_put_cast(lw, ti_lower_in(lw, node, 0), t->dtype);
        return;
    }
    if ((f.on == TC_ON_floats && !ti_is_float(t->dtype)) ||
        (f.on == TC_ON_wide && t->dtype == TC_bool)) {
        ti_lower_refuse(lw, "it is computed on floats");
        return;
    }
    tc_dtype with =
        f.on == TC_ON_numbers ? ti_plain_type(t->dtype) : ti_plain_formula_type(t->dtype);
    for (int i = 0; i < node->n_in; i++)
        x[i] = ti_plain_in(lw, node, i, with, node->n_in > 1 ? t->rank : 0);
    out[0] = ti_put_cast(lw, ti_plain_apply(lw, node->op, node->attr, x), t->dtype);
}

/* One TOSA operator, in the element type itself. */
void ti_lower_plain_direct(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_dtype type = ti_lower_result(lw, node, 0)->dtype;
    if (!ti_plain_computes(lw, type))
        return;
    tc_val x = ti_plain_in(lw, node, 0, ti_plain_type(type), 0);
    bool same = !ti_is_float(type) &&
                (node->op == TC_OP_floor || node->op == TC_OP_ceil); /* integers are */
    x = same ? x : ti_b_op(lw, direct[node->op], NULL, &x, 1);
    out[0] = ti_put_cast(lw, x, type);
}

/* A row FUNCTION of op.def. */
void ti_lower_plain_function(tc_build *lw, const tc_node *node, tc_val *out)
{
    (direct[node->op] ? ti_lower_plain_direct : ti_lower_plain_formula)(lw, node, out);
}

/* Integers are finite. */
void ti_lower_plain_is(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_dtype type = ti_lower_type(lw, node, 0)->dtype;
    if (!ti_is_float(type)) {
        tc_val answer = ti_b_single(lw, TC_bool, t->rank, node->op == TC_OP_isfinite);
        out[0] = ti_b_tosa_expand(lw, answer, t->rank, t->dim);
        return;
    }
    tc_val x = ti_plain_in(lw, node, 0, ti_plain_type(type), 0);
    out[0] = ti_plain_apply(lw, node->op, NULL, &x);
}
