/* SPDX-License-Identifier: Apache-2.0 */
/* dead_code.c -- removes nodes with unused results.
 *
 * Live are: outputs, buffers that the program reads or writes, results that the signature names,
 * and the operands of live nodes.  Nodes with side effects (state, custom operators) are live.
 * Inputs always stay; graphs that nothing runs are removed. */
#include "tidy.h"

typedef struct dead {
    const tc_module *module;
    bool *acts; /* by graph: running it does more than make its outputs */
    bool *used; /* by graph: the program runs it */
    bool *live; /* by id, in the current graph: live */
} dead;

static size_t graph_index(const tc_module *m, const tc_graph *g)
{
    size_t i = 0;
    while (m->graph[i] != g)
        i++;
    return i;
}

/* A graph that a T_CONTROL node runs. */
static size_t called(const tc_module *m, const tc_node *node, int which)
{
    return graph_index(m, ti_node_callee(m, node, which));
}

static bool acts(const dead *d, const tc_node *node)
{
    uint32_t traits = tc_ops[node->op].traits;
    for (int which = 0; which < ti_node_calls(node); which++)
        if (d->acts[called(d->module, node, which)])
            return true;
    return (traits & T_STATE) || node->op == TC_OP_tosa_custom ||
           node->op == TC_OP_tosa_assert_equal_shape;
}

/* What the program runs, graph by graph, and which of it acts. */
static void visit(dead *d, size_t i)
{
    const tc_graph *g = d->module->graph[i];
    if (d->used[i])
        return;
    d->used[i] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int which = 0; which < ti_node_calls(node); which++)
            visit(d, called(d->module, node, which));
        d->acts[i] = d->acts[i] || acts(d, node);
    }
}

static void find_live(dead *d, const tc_graph *g)
{
    const tc_module *m = d->module;
    for (size_t i = 0; i < g->n_out; i++)
        d->live[g->out[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        d->live[g->mutation[i].before] = d->live[g->mutation[i].after] = true;
    for (size_t i = 0; g == ti_main(m) && i < m->signature.n_out; i++)
        d->live[m->signature.out[i].val] = true;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool needed = acts(d, node);
        for (int i = 0; i < node->n_out; i++)
            needed = needed || d->live[node->out[i]];
        for (int i = 0; needed && i < node->n_in; i++)
            d->live[node->in[i]] = true;
        for (int i = 0; needed && i < node->n_out; i++)
            d->live[node->out[i]] = true; /* they are live or dead together */
    }
}

/* A node without a live result => nothing. */
static tc_status drop(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const dead *d = rw->user;
    *done = node->n_out > 0 ? !d->live[node->out[0]] : !acts(d, node);
    return TC_OK;
}

static tc_status drop_nodes(tc_ctx *ctx, dead *d, tc_graph *g)
{
    static tc_rewriter *const rewriters[] = {drop};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    d->live = tc_new_n(&ctx->scratch, bool, g->n_val);
    find_live(d, g);
    tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), d);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static void drop_graphs(const dead *d, tc_module *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n_graph; i++)
        if (d->used[i])
            m->graph[kept++] = m->graph[i];
    m->n_graph = kept;
}

tc_status ti_tidy_remove_dead_code(tc_ctx *ctx, tc_module *module)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    dead d = {.module = module,
              .acts = tc_new_n(&ctx->scratch, bool, module->n_graph),
              .used = tc_new_n(&ctx->scratch, bool, module->n_graph)};
    visit(&d, 0);
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++)
        if (d.used[i])
            status = drop_nodes(ctx, &d, module->graph[i]);
    memset(d.used, 0, module->n_graph); /* again: the caller of a graph may have been removed */
    visit(&d, 0);
    drop_graphs(&d, module);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
