/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_poles.c -- results that may be infinite, before they are rounded to codes.
 *
 * ExecuTorch's quantize kernel converts round(x / scale) + zero to an integer and clamps
 * afterwards: for an infinity C++ leaves that undefined, and x86 gives the least code for both.
 * PyTorch's clamps the real value.  So does the program: */
#include "cpu_forms.h"

#include <math.h>

#include "../num/load.h"
#include "../num/quant.h"

/* Of finite operands the result is infinite where operand `in` is in lo .. hi, if anywhere. */
static const struct pole {
    tc_op op;
    int in;
    double lo, hi;
} poles[] = {
    {TC_OP_reciprocal, 0, 0, 0},
    {TC_OP_rsqrt, 0, 0, 0},
    {TC_OP_log, 0, 0, 0},
    {TC_OP_log2, 0, 0, 0},
    {TC_OP_log10, 0, 0, 0},
    {TC_OP_log1p, 0, -1, -1},
    {TC_OP_logit, 0, 0, 0},
    {TC_OP_logit, 0, 1, 1},
    {TC_OP_atanh, 0, -1, -1},
    {TC_OP_atanh, 0, 1, 1},
    {TC_OP_erfinv, 0, -1, -1},
    {TC_OP_erfinv, 0, 1, 1},
    {TC_OP_div, 1, 0, 0},
    {TC_OP_addcdiv, 2, 0, 0},
    {TC_OP_pow, 1, -(double)INFINITY, -0x1p-149},
    {TC_OP_exp, 0, 88, (double)INFINITY},
    {TC_OP_expm1, 0, 88, (double)INFINITY},
    {TC_OP_exp2, 0, 127, (double)INFINITY},
    {TC_OP_sinh, 0, 88, (double)INFINITY},
    {TC_OP_sinh, 0, -(double)INFINITY, -88},
    {TC_OP_cosh, 0, 88, (double)INFINITY},
    {TC_OP_cosh, 0, -(double)INFINITY, -88},
};

/* The range of a domain, over all its channels. */
static void range_of(const tc_quant *q, double *lo, double *hi)
{
    *lo = (double)INFINITY;
    *hi = -(double)INFINITY;
    for (int64_t c = 0; c < q->count; c++) {
        *lo = fmin(*lo, (double)(q->lo - q->zero[c]) * q->scale[c]);
        *hi = fmax(*hi, (double)(q->hi - q->zero[c]) * q->scale[c]);
    }
}

/* Whether an element of operand `in` may be within the pole; of a constant, whether one is. */
static bool meets(tc_build *m, const struct pole *p)
{
    tc_val x = ti_b_in(m, p->in);
    const tc_type *t = ti_b_type(m, x);
    double lo = -(double)INFINITY, hi = (double)INFINITY;
    if (!t || !ti_rewrite_is_fixed(m->rw, x)) {
        if (t && t->quant)
            range_of(t->quant, &lo, &hi);
        return lo <= p->hi && hi >= p->lo;
    }
    tc_tensor known = ti_tensor_of(m->g, x);
    if (t->quant)
        known = ti_dequantized(m->ctx, &m->ctx->arena, known);
    for (int64_t i = 0; i < tc_type_count(t); i++) {
        double number = ti_load_f64(known, i);
        if (number >= p->lo && number <= p->hi)
            return true;
    }
    return false;
}

/* Operand i of the node may be 0. */
static bool may_be_zero(tc_build *m, int i)
{
    return meets(m, &(struct pole){m->node->op, i, 0, 0});
}

/* Operand i of the node may be infinite: codes are not. */
static bool may_be_infinite(tc_build *m, int i)
{
    const tc_type *t = ti_b_type(m, ti_b_in(m, i));
    return t && ti_is_float(t->dtype) && !t->quant && !ti_rewrite_is_fixed(m->rw, ti_b_in(m, i));
}

tc_val ti_cpu_no_nan(tc_build *m, tc_val real)
{
    tc_op op = m->node->op;
    bool infinite = false;
    for (int i = 0; i < m->node->n_in; i++)
        infinite = infinite || may_be_infinite(m, i);
    if (!ti_op_nan_is_zero(op) ||
        (!infinite && (op == TC_OP_mul || !may_be_zero(m, op == TC_OP_addcdiv ? 2 : 1))))
        return real;
    tc_val none = ti_b_isnan(m, real);
    return ti_b_where(m, none, ti_b_like(m, real, TC_f32, 0), real);
}

tc_val ti_cpu_finite(tc_build *m, tc_val real, const tc_quant *q)
{
    for (size_t i = 0; i < TC_COUNT(poles); i++)
        if (poles[i].op == m->node->op && meets(m, &poles[i])) {
            double lo, hi;
            range_of(q, &lo, &hi);
            return ti_b_clamp(m, real, lo, hi);
        }
    return real;
}
