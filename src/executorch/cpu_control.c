/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_control.c -- a choice between two graphs: both are run, and one result is taken. */
#include "cpu_forms.h"

/* The nodes of a graph on these operands; its results in `out`. */
static void inline_graph(tc_build *m, const tc_graph *sub, const tc_val *in, tc_val *out)
{
    tc_val *now = tc_new_n(&m->ctx->arena, tc_val, sub->n_val);
    for (size_t i = 0; i < sub->n_in; i++)
        now[sub->in[i]] = in[i];
    for (size_t k = 0; k < sub->n_node; k++) {
        const tc_node *node = sub->node[k];
        tc_node *copy =
            ti_graph_add(m->g, node->op, node->attr, node->in, node->n_in, node->n_out, node->loc);
        for (int i = 0; i < node->n_in; i++)
            copy->in[i] = now[node->in[i]];
        for (int i = 0; i < node->n_out; i++) {
            const tc_value *old = ti_value_of(sub, node->out[i]);
            tc_value *value = ti_value_of(m->g, copy->out[i]);
            value->type = old->type;
            value->name = old->name;
            value->data = old->data;
            now[node->out[i]] = copy->out[i];
        }
    }
    for (size_t i = 0; i < sub->n_out; i++)
        out[i] = now[sub->out[i]];
}

bool ti_cpu_form_cond(tc_build *m)
{
    const tc_node *node = m->node;
    const tc_module *module = m->rw->from->module;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)node->n_in);
    tc_val *out[2], chosen = ti_b_in(m, 0);
    for (int i = 1; i < node->n_in; i++)
        in[i - 1] = ti_b_in(m, i);
    for (int side = 0; side < 2; side++) {
        out[side] = tc_new_n(&m->ctx->arena, tc_val, (size_t)node->n_out);
        inline_graph(m, ti_node_callee(module, node, side), in, out[side]);
    }
    chosen = ti_b_reshape(m, chosen, 0, NULL);
    for (int i = 0; i < node->n_out && m->status == TC_OK; i++) {
        tc_val both[] = {chosen, out[0][i], out[1][i]};
        ti_cpu_give(m, i, ti_b_typed(m, TC_OP_where, NULL, both, 3, ti_b_out_type(m, i)));
    }
    return true;
}
