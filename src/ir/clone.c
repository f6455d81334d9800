/* SPDX-License-Identifier: Apache-2.0 */
/* clone.c -- a deep copy of a module. */
#include "graph.h"

static void *again(tc_arena *arena, const void *data, size_t n, size_t size)
{
    void *copy = ti_arena_array(arena, n, size, _Alignof(max_align_t));
    return n ? memcpy(copy, data, n * size) : copy;
}

static tc_graph *clone_graph(tc_module *module, const tc_graph *from)
{
    tc_arena *arena = &module->ctx->arena;
    tc_graph *g = again(arena, from, 1, sizeof *from);
    g->module = module;
    g->val = tc_new_n(arena, tc_value *, from->n_val);
    for (size_t v = 1; v < from->n_val; v++)
        g->val[v] = again(arena, from->val[v], 1, sizeof *from->val[v]);
    g->node = tc_new_n(arena, tc_node *, from->n_node);
    for (size_t k = 0; k < from->n_node; k++) {
        tc_node *node = g->node[k] = again(arena, from->node[k], 1, sizeof **from->node);
        node->in = again(arena, node->in, (size_t)node->n_in, sizeof *node->in);
        node->out = again(arena, node->out, (size_t)node->n_out, sizeof *node->out);
        for (int i = 0; i < node->n_out; i++)
            g->val[node->out[i]]->def = node;
    }
    g->in = again(arena, from->in, from->n_in, sizeof *from->in);
    g->out = again(arena, from->out, from->n_out, sizeof *from->out);
    g->mutation = again(arena, from->mutation, from->n_mutation, sizeof *from->mutation);
    g->cap_val = from->n_val;
    g->cap_node = from->n_node;
    g->cap_in = from->n_in;
    g->cap_out = from->n_out;
    g->cap_mutation = from->n_mutation;
    return g;
}

tc_module *ti_module_clone(const tc_module *module)
{
    tc_module *copy = ti_module_copy(module);
    for (size_t i = 0; i < module->n_graph; i++)
        copy->graph[i] = clone_graph(copy, module->graph[i]);
    copy->state = NULL;
    return copy;
}
