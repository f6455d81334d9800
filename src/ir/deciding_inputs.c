/* SPDX-License-Identifier: Apache-2.0 */
/* deciding_inputs.c -- which small inputs determine a value: a rate, a flag, a mode. */
#include "../base/text.h"
#include "graph.h"

static const char *name_of(const tc_graph *g, tc_val v)
{
    const tc_module *m = g->module;
    for (size_t k = 0; k < m->signature.n_in; k++)
        if (m->signature.in[k].val == v && m->signature.in[k].name)
            return m->signature.in[k].name;
    return g->val[v]->name;
}

const bool *ti_graph_leads_to(const tc_graph *g, tc_val x)
{
    bool *needed = tc_new_n(&g->module->ctx->scratch, bool, g->n_val);
    needed[x] = true;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_out; i++)
            any = any || needed[node->out[i]];
        for (int i = 0; any && i < node->n_in; i++)
            if (node->in[i])
                needed[node->in[i]] = true;
    }
    return needed;
}

const char *ti_steering_input(const tc_graph *g, tc_val x)
{
    tc_ctx *ctx = g->module->ctx;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const bool *needed = ti_graph_leads_to(g, x);
    const char *found = NULL;
    for (size_t i = 0; i < g->n_in && g == ti_main(g->module); i++) {
        if (!needed[g->in[i]])
            continue;
        bool only = !found && tc_type_count(ti_type_of(g, g->in[i])) == 1;
        found = only ? name_of(g, g->in[i]) : NULL;
        if (!found)
            break;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return found;
}
