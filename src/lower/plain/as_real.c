/* SPDX-License-Identifier: Apache-2.0 */
/* as_real.c -- a node on quantized values without an integer form, where the target has floats: its
 * operands are dequantized, its plain rule applied, its results quantized. */
#include "as_real.h"

#include "../move/lower_move.h"

#include "../../num/quant.h"

/* The node on real values, alone in a graph. */
static tc_node *real_node(tc_build *lw, const tc_node *node, tc_graph *g)
{
    tc_val *in = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *t = ti_lower_type(lw, node, i);
        tc_tensor known = ti_tensor_of(lw->rw->from, node->in[i]);
        if (!t)
            continue;
        if (known.data && t->quant)
            known = ti_dequantized(lw->ctx, &lw->ctx->arena, known);
        in[i] = known.data ? ti_graph_const(g, known.type, known.data, NULL, node->loc)
                           : ti_graph_input(g, ti_type_real(lw->ctx, t), NULL);
    }
    tc_node *made = ti_graph_add(g, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++)
        g->val[made->out[i]]->type = ti_type_real(lw->ctx, ti_lower_result(lw, node, i));
    return made;
}

void ti_lower_as_real(tc_build *lw, const tc_node *node, tc_lower_rule *rule, tc_val *out)
{
    tc_graph g = ti_graph_empty(lw->rw->from->module, lw->rw->from->name);
    tc_node *real = real_node(lw, node, &g);
    uint32_t *readers = tc_new_n(&lw->ctx->arena, uint32_t, g.n_val);
    tc_lowering own = *lw->lower;
    tc_build inner = *lw;
    own.rw.from = &g;
    own.rw.readers = readers;
    own.rw.now = tc_new_n(&lw->ctx->arena, tc_val, g.n_val);
    inner.rw = &own.rw;
    inner.lower = &own;
    for (int i = 0; i < node->n_out; i++)
        readers[real->out[i]] = lw->rw->readers[node->out[i]];
    for (int i = 0; i < node->n_in; i++) {
        if (!real->in[i])
            continue;
        const tc_value *v = g.val[real->in[i]];
        own.rw.now[real->in[i]] = v->data ? ti_b_data(&inner, v->type, v->data)
                                          : ti_put_convert(&inner, ti_lower_in(lw, node, i),
                                                           ti_lower_type(lw, node, i), v->type);
    }
    tc_val *made = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_out);
    if (inner.status == TC_OK)
        rule(&inner, real, made);
    for (int i = 0; i < node->n_out; i++)
        if (made[i])
            out[i] = ti_put_convert(&inner, made[i], g.val[real->out[i]]->type,
                                    ti_lower_result(lw, node, i));
    lw->status = inner.status;
    lw->lower->why = own.why;
}
