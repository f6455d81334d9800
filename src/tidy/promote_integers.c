/* SPDX-License-Identifier: Apache-2.0 */
/* promote_integers.c -- integer operands of float arithmetic are cast first.
 *
 *   f(x f32, n i64)  =>  f(x, cast(n))
 *
 * The operators do so themselves, element by element; a target without i64 would otherwise leave
 * the arithmetic to the CPU, and not just the cast. */
#include "tidy.h"

static bool computes(tc_op op)
{
    return TC_OP_IN(op, TC_OP_add, TC_OP_sub, TC_OP_mul, TC_OP_div, TC_OP_maximum, TC_OP_minimum);
}

static tc_status cast_integers(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_type *y = node->n_out == 1 ? ti_type_of(rw->from, node->out[0]) : NULL;
    if (!computes(node->op) || y->dtype != TC_f32 || y->quant)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in[2];
    bool any = false;
    for (int i = 0; i < 2; i++) {
        in[i] = ti_rewrite_in(rw, node, i);
        const tc_type *t = ti_type_of(rw->to, in[i]);
        if (t->quant || (!ti_is_int(t->dtype) && t->dtype != TC_bool) ||
            ti_is_const(rw->to, in[i]))
            continue;
        in[i] = ti_b_cast(&b, in[i], TC_f32);
        any = true;
    }
    if (!any)
        return TC_OK;
    tc_val made = ti_b_op(&b, node->op, node->attr, in, 2);
    return made && ti_b_type(&b, made) != y ? TC_OK : ti_b_replace(&b, made, done);
}

tc_status ti_tidy_promote_integers(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {cast_integers};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}
