/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c -- changes of domain, and clamps at the quantized limits of the result's own domain.
 */
#include <math.h>

#include "table_function.h"
#include "../move/lower_move.h"

static tc_val limited(tc_build *lw, tc_val x, tc_op op, double limit)
{
    return x ? ti_b_binary(lw, op, x, ti_b_single(lw, TC_i32, ti_b_type(lw, x)->rank, limit)) : x;
}

/* The program's own i32 values into i16: real values in between would have had 24 bits, so they are
 * rounded to that first (15 of the code and 9 of fraction); beyond i16 all is equal. */
static tc_val through_real(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to)
{
    double factor = ti_scale_factor(ti_scale_of(from), ti_scale_of(to)),
           most = ceil(32800 / factor);
    if (most > 0x1p30 || factor > 1)
        return ti_put_convert(lw, x, from, to);
    x = limited(lw, limited(lw, x, TC_OP_tosa_minimum, most), TC_OP_tosa_maximum, -most);
    x = ti_put_rescale(lw, x, factor * 512, 0, 0, TC_i32);
    return ti_put_codes(lw, ti_put_rescale(lw, x, 1.0 / 512, 0, 0, TC_i16), to->quant);
}

void ti_lower_int_rescale(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    bool own = from->dtype == TC_i32 && from->quant && from->quant->axis < 0 &&
               ti_zero_of(from) == 0 && to->dtype == TC_i16 && ti_is_activation(to) &&
               !ti_def(lw->rw->from, node->in[0]);
    tc_val x = ti_lower_in(lw, node, 0);
    out[0] = own ? through_real(lw, x, from, to) : ti_put_convert(lw, x, from, to);
}

/* A real limit as a code of the domain, inside its codes. */
static double code_at(double real, const tc_quant *q)
{
    double v = rint(real / q->scale[0]) + (double)q->zero[0];
    return v < (double)q->lo ? (double)q->lo : v > (double)q->hi ? (double)q->hi : v;
}

/* clamp(x, lo, hi): into the result's domain, then between the codes of lo and hi. */
static tc_val clamp_in_domain(tc_build *lw, const tc_node *node, double lo, double hi)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!from->quant || !ti_is_activation(to)) {
        ti_lower_refuse(lw, "only its operand or only its result is quantized");
        return TC_NONE;
    }
    tc_quant q = *to->quant;
    q.lo = (int64_t)code_at(lo, to->quant);
    q.hi = (int64_t)code_at(hi, to->quant);
    bool clamped = q.lo > ti_dtype_min(to->dtype) || q.hi < ti_dtype_max(to->dtype);
    bool moved = ti_scale_of(from) != ti_scale_of(to) || ti_zero_of(from) != ti_zero_of(to);
    tc_val y;
    if (clamped && moved && from->dtype == TC_i8 && to->dtype == TC_i8 &&
        ti_lower_try_function(lw, node, &y))
        return y; /* one table for both */
    tc_type narrowed = *to;
    narrowed.quant = &q;
    return ti_put_domain(lw, ti_lower_in(lw, node, 0), from, &narrowed);
}

void ti_lower_int_relu(tc_build *lw, const tc_node *node, tc_val *out)
{
    out[0] = clamp_in_domain(lw, node, 0, INFINITY);
}

void ti_lower_int_clamp(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_clamp *a = node->attr;
    out[0] = clamp_in_domain(lw, node, a->lo, a->hi);
}
