/* SPDX-License-Identifier: Apache-2.0 */
/* tail.c -- see tail.h. */
#include "tail.h"

const tc_node **ti_only_readers(tc_arena *arena, const tc_graph *g)
{
    const tc_node **only = tc_new_n(arena, const tc_node *, g->n_val);
    bool *known = tc_new_n(arena, bool, g->n_val);
    for (size_t i = 0; i < g->n_out; i++)
        known[g->out[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        known[g->mutation[i].before] = known[g->mutation[i].after] = true;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            tc_val v = g->node[k]->in[i];
            only[v] = known[v] ? NULL : g->node[k];
            known[v] = true;
        }
    return only;
}

static const tc_node *reader_of(const tc_tail *t, tc_val v)
{
    return t->reader ? t->reader(t->who, v) : ((const tc_node *const *)t->who)[v];
}

static int64_t channels(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    return t->rank ? t->dim[t->rank - 1] : -1;
}

static bool is_view(const tc_graph *g, const tc_node *node)
{
    return (node->op == TC_OP_tosa_reshape || node->op == TC_OP_tosa_identity) &&
           channels(g, node->in[0]) == channels(g, node->out[0]) && channels(g, node->in[0]) >= 0;
}

const tc_node *ti_tail_before(const tc_graph *g, const uint32_t *readers, const tc_node *node,
                              bool views)
{
    const tc_node *def = ti_def(g, node->in[0]);
    bool alone = readers[node->in[0]] == 1;
    while (alone && def && views && is_view(g, def)) {
        alone = readers[def->in[0]] == 1;
        def = ti_def(g, def->in[0]);
    }
    return alone ? def : NULL;
}

const tc_node *ti_tail_next(const tc_tail *t, tc_val v)
{
    const tc_node *next = reader_of(t, v);
    while (next && t->views && next->in[0] == v && is_view(t->g, next)) {
        v = next->out[0];
        next = reader_of(t, v);
    }
    bool ends = !next || next->in[0] != v ||
                !TC_OP_IN(next->op, TC_OP_tosa_rescale, TC_OP_tosa_clamp, TC_OP_tosa_table);
    return ends ? NULL : next;
}
