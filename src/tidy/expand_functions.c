/* SPDX-License-Identifier: Apache-2.0 */
/* expand_functions.c -- where nothing is a table, a function is its operators again.
 *
 *   function(x) of floats  =>  the operators of its formula
 *
 * Where x is quantized, a rescale comes before them; the last one has the result's type. */
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

static tc_val in_domain(tc_build *b, tc_val x, const tc_type *type)
{
    return ti_b_typed(b, TC_OP_rescale, NULL, &x, 1, type);
}

/* A float result as the function's own, quantized: the last operator has its type, as NaN is 0 in
 * typed results and code 0 after a rescale. */
static tc_val with_type(tc_build *b, tc_val v, const tc_type *type)
{
    const tc_node *last = ti_def(b->g, v);
    if (b->status != TC_OK || !type->quant)
        return v;
    if (!last || last->op == TC_OP_const || !(tc_ops[last->op].traits & T_ELTWISE))
        return in_domain(b, v, type);
    b->g->val[v]->type = type;
    return v;
}

static tc_status expand(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_function)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    const tc_type *x = ti_b_in_type(&b, 0), *y = ti_b_out_type(&b, 0);
    if ((x->quant && y->quant) || !(x->quant || ti_is_float(x->dtype)))
        return TC_OK;
    tc_formula f = {((const tc_attr_function *)node->attr)->formula, TC_ATTR_none, NULL,
                    {x->quant ? in_domain(&b, ti_b_in(&b, 0), y) : ti_b_in(&b, 0)}, make, &b};
    tc_term out = {0};
    const char *wrong;
    if (!ti_formula_apply(&f, &out, &wrong))
        return ti_bug(b.ctx, b.loc, "the formula cannot be read at '%s'", wrong);
    return ti_b_replace(&b, with_type(&b, out.made, y), done);
}

tc_status ti_tidy_expand_functions(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *const[]){expand}, 1, NULL);
}
