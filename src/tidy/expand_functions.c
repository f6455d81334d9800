/* SPDX-License-Identifier: Apache-2.0 */
/* expand_functions.c -- where nothing is a table, a function is its operators again.
 *
 *   function(x) of floats  =>  the operators of its formula */
#include "tidy.h"

#include "../ir/formula.h"

static tc_term make(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    tc_build *b = f->maker;
    if (op == TC_FORMULA_LIKE)
        return (tc_term){.made = ti_b_number(b, in[0].made, in[1].number)};
    int operands = n < tc_ops[op].max_in ? n : tc_ops[op].max_in;
    tc_val v[3] = {0}, like = ti_formula_like(f, op, in, operands);
    for (int i = 0; i < operands; i++)
        v[i] = in[i].known ? ti_b_number(b, like, in[i].number) : in[i].made;
    const void *attr = ti_formula_attr(&b->ctx->arena, f, op, in + operands, n - operands);
    return (tc_term){.made = ti_b_op(b, op, attr, v, operands)};
}

static tc_status expand(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_type *x = ti_type_of(rw->from, node->n_in ? node->in[0] : TC_NONE);
    if (node->op != TC_OP_function || x->quant || !ti_is_float(x->dtype))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_formula f = {((const tc_attr_function *)node->attr)->formula, TC_ATTR_none, NULL,
                    {ti_b_in(&b, 0)}, make, &b};
    tc_term out = {0};
    const char *wrong;
    if (!ti_formula_apply(&f, &out, &wrong))
        return ti_bug(b.ctx, b.loc, "the formula cannot be read at '%s'", wrong);
    return ti_b_replace(&b, out.made, done);
}

tc_status ti_tidy_expand_functions(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *const[]){expand}, 1, NULL);
}
