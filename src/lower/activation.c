/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c -- changes of domain, and clamps at the quantized limits of the result's own domain. */
#include <math.h>

#include "move.h"

void tc_lower_int_rescale(tc_lower *lw, const tc_node *node, tc_val *out)
{
    out[0] = tc_put_convert(lw, tc_lower_in(lw, node, 0), tc_lower_type(lw, node, 0), tc_lower_result(lw, node, 0));
}

/* A real limit as a code of the domain, inside its codes. */
static double code_at(double real, const tc_quant *q)
{
    double v = rint(real / q->scale[0]) + (double)q->zero[0];
    return v < (double)q->lo ? (double)q->lo : v > (double)q->hi ? (double)q->hi : v;
}

/* clamp(x, lo, hi): into the result's domain, then between the codes of lo and hi. */
static tc_val clamp_in_domain(tc_lower *lw, const tc_node *node, double lo, double hi)
{
    const tc_type *from = tc_lower_type(lw, node, 0), *to = tc_lower_result(lw, node, 0);
    if (!from->quant || !tc_is_activation(to)) {
        tc_lower_refuse(lw, "only one of its ends is quantized");
        return TC_NONE;
    }
    tc_quant q = *to->quant;
    q.lo = (int64_t)code_at(lo, to->quant);
    q.hi = (int64_t)code_at(hi, to->quant);
    tc_type narrowed = *to;
    narrowed.quant = &q;
    return tc_put_domain(lw, tc_lower_in(lw, node, 0), from, &narrowed);
}

void tc_lower_int_relu(tc_lower *lw, const tc_node *node, tc_val *out)
{
    out[0] = clamp_in_domain(lw, node, 0, INFINITY);
}

void tc_lower_int_clamp(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_clamp *a = node->attr;
    out[0] = clamp_in_domain(lw, node, a->lo, a->hi);
}
