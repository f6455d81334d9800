/* SPDX-License-Identifier: Apache-2.0 */
/* promote_integers.c -- integer operands of float arithmetic are cast first.
 *
 *   f(x f32, n i64)  =>  f(x, cast(n))      f arithmetic, or a choice
 *
 * The operators do so themselves, element by element; a target without i64 would otherwise leave
 * the arithmetic to the CPU, and not just the cast, and a choice of a quantized result has no
 * integers to choose from. */
#include "tidy.h"

static bool computes(tc_op op)
{
    return TC_OP_IN(op, TC_OP_add, TC_OP_sub, TC_OP_mul, TC_OP_div, TC_OP_maximum, TC_OP_minimum,
                    TC_OP_fmax, TC_OP_fmin, TC_OP_where);
}

/* An operand of integers that is not a condition.  Constants of arithmetic stay: they are quantized
 * by their range; a select keeps its operands. */
static bool is_integer(const tc_rewrite *rw, const tc_node *node, int i, tc_val v)
{
    const tc_type *t = ti_type_of(rw->to, v);
    bool chosen = node->op == TC_OP_where;
    return !t->quant && (ti_is_int(t->dtype) || t->dtype == TC_bool) &&
           (chosen ? i > 0 : !ti_is_const(rw->to, v));
}

static tc_status cast_integers(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_type *y = node->n_out == 1 ? ti_type_of(rw->from, node->out[0]) : NULL;
    if (!computes(node->op) || !ti_is_float(y->dtype) || y->quant)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in[3];
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = ti_rewrite_in(rw, node, i);
        if (!is_integer(rw, node, i, in[i]))
            continue;
        in[i] = ti_b_cast(&b, in[i], y->dtype);
        any = true;
    }
    if (!any)
        return TC_OK;
    tc_val made = ti_b_op(&b, node->op, node->attr, in, node->n_in);
    return made && ti_b_type(&b, made) != y ? TC_OK : ti_b_replace(&b, made, done);
}

TC_REWRITES(ti_tidy_promote_integers, cast_integers)
