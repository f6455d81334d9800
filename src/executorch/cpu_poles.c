/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_poles.c -- results that may be infinite, before they are rounded to codes.
 *
 * ExecuTorch's quantize kernel turns round(x / scale) + zero into a whole number and keeps that
 * within its bounds afterwards: of an infinity C++ leaves the number open, and x86 makes the least
 * code of both.  PyTorch's keeps the real number within its bounds.  So does the program: */
#include "cpu_forms.h"

#include <math.h>

#include "../num/load.h"
#include "../num/quant.h"

/* Of finite operands the result is infinite where operand `in` lies from lo to hi, if anywhere. */
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
    {TC_OP_pow, 1, -(double)INFINITY, -0x1p-149},
    {TC_OP_exp, 0, 88, (double)INFINITY},
    {TC_OP_expm1, 0, 88, (double)INFINITY},
    {TC_OP_exp2, 0, 127, (double)INFINITY},
    {TC_OP_sinh, 0, 88, (double)INFINITY},
    {TC_OP_sinh, 0, -(double)INFINITY, -88},
    {TC_OP_cosh, 0, 88, (double)INFINITY},
    {TC_OP_cosh, 0, -(double)INFINITY, -88},
};

/* The real numbers that a domain holds, of all its channels together. */
static void range_of(const tc_quant *q, double *lo, double *hi)
{
    *lo = (double)INFINITY;
    *hi = -(double)INFINITY;
    for (int64_t c = 0; c < q->count; c++) {
        *lo = fmin(*lo, (double)(q->lo - q->zero[c]) * q->scale[c]);
        *hi = fmax(*hi, (double)(q->hi - q->zero[c]) * q->scale[c]);
    }
}

/* Whether a number of operand `in` may lie within the pole; of a constant, whether one does. */
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
