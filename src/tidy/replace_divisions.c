/* SPDX-License-Identifier: Apache-2.0 */
/* replace_divisions.c -- division by a constant becomes multiplication.
 *
 *   x / c  =>  x * (1 / c)      c constant floats, 1/c finite and normal
 *
 * Bit-exact where c is a power of two, else within one unit in the last place.
 *
 *   (x * c) * d  =>  x * (c d)      c or d beyond 2^60 or below 2^-60, c d finite and normal
 *
 * The value in between then needs no quantized range.  Within two units in the last place, unless
 * x * c overflows or underflows. */
#include <math.h>

#include "tidy.h"

#include "../num/load.h"

static bool is_divisor(const tc_rewrite *rw, const tc_node *node)
{
    if (node->op != TC_OP_div || ((const tc_attr_div *)node->attr)->mode != TC_div_mode_exact)
        return false;
    const tc_type *x = ti_type_of(rw->from, node->in[0]), *c = ti_type_of(rw->from, node->in[1]),
                  *y = ti_type_of(rw->from, node->out[0]);
    if (x->quant || c->quant || y->quant || !ti_is_float(x->dtype) || c->dtype != x->dtype ||
        y->dtype != x->dtype || (x->dtype != TC_f32 && x->dtype != TC_f64) ||
        !ti_rewrite_is_fixed(rw, rw->now[node->in[1]]) || ti_is_const(rw->to, rw->now[node->in[0]]))
        return false;
    tc_tensor t = ti_tensor_of(rw->to, rw->now[node->in[1]]);
    double least = x->dtype == TC_f32 ? 0x1p-126 : 0x1p-1022;
    for (int64_t i = 0; i < tc_type_count(c); i++) {
        double r = 1 / ti_load_f64(t, i);
        if (!(fabs(r) >= least) || !(fabs(r) < 1 / least))
            return false;
    }
    return true;
}

static tc_status as_factor(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!is_divisor(rw, node))
        return TC_OK;
    tc_tensor c = ti_tensor_of(rw->to, rw->now[node->in[1]]);
    tc_tensor r = ti_tensor_new(&rw->ctx->arena, c.type);
    for (int64_t i = 0; i < tc_type_count(c.type); i++)
        if (c.type->dtype == TC_f32)
            ((float *)r.data)[i] = (float)(1 / (double)((const float *)c.data)[i]);
        else
            ((double *)r.data)[i] = 1 / ((const double *)c.data)[i];
    tc_build b = ti_build_instead(rw, node);
    return ti_b_replace(&b, ti_b_mul(&b, ti_b_in(&b, 0), ti_b_const(&b, r, NULL)), done);
}

/* The one number of a constant operand; 0: it is none, or of another kind. */
static double factor_of(const tc_rewrite *rw, const tc_node *node, int operand)
{
    tc_val v = node->in[operand];
    if (!ti_is_const(rw->to, v) || tc_type_count(ti_type_of(rw->to, v)) != 1 ||
        ti_type_of(rw->to, v)->dtype != TC_f32 || ti_type_of(rw->to, v)->quant)
        return 0;
    return ti_load_f64(ti_tensor_of(rw->to, v), 0);
}

static bool far_out(double c) { return !(fabs(c) < 0x1p60 && fabs(c) > 0x1p-60); }

/* The product of two far-out factors, and the value under both. */
static double joined(const tc_rewrite *rw, const tc_node *node, tc_val *x)
{
    for (int i = 0; i < 2; i++) {
        tc_node here = *node;
        tc_val in[2] = {ti_rewrite_in(rw, node, 0), ti_rewrite_in(rw, node, 1)};
        here.in = in;
        double d = factor_of(rw, &here, i);
        const tc_node *inner = ti_def(rw->to, in[1 - i]);
        if (d == 0 || !inner || inner->op != TC_OP_mul || rw->readers[node->in[1 - i]] != 1)
            continue;
        for (int k = 0; k < 2; k++) {
            double c = factor_of(rw, inner, k), both = c * d;
            *x = inner->in[1 - k];
            if ((far_out(c) || far_out(d)) && fabs(both) >= 0x1p-126 && fabs(both) < 0x1p126)
                return both;
        }
    }
    return 0;
}

static tc_status join_factors(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_mul)
        return TC_OK;
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    tc_val x = TC_NONE;
    if (y->dtype != TC_f32 || y->quant)
        return TC_OK;
    double both = joined(rw, node, &x);
    const tc_type *t = both != 0 ? ti_type_of(rw->to, x) : NULL;
    if (!t || t->quant || t->dtype != TC_f32 || !ti_same_dims(t, y))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return ti_b_replace(&b, ti_b_mul(&b, x, ti_b_scalar(&b, TC_f32, both)), done);
}

TC_REWRITES(ti_tidy_replace_divisions, as_factor, join_factors)
