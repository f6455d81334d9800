/* SPDX-License-Identifier: Apache-2.0 */
/* lives.c -- see lives.h. */
#include "lives.h"

typedef struct walk {
    const tc_graph *g;
    tc_root_of *root;
    tc_life *life;
} walk;

static tc_val root_of(const walk *w, tc_val v)
{
    return w->root ? w->root(w->g, v) : v;
}

static void use(walk *w, tc_val v, size_t step)
{
    if (v)
        ti_life_use(&w->life[root_of(w, v)], (int32_t)step);
}

static void use_node(walk *w, const tc_node *node, size_t k, bool is_free)
{
    for (int i = 0; i < node->n_in && !is_free; i++)
        use(w, node->in[i], k);
    for (int i = 0; i < node->n_out; i++)
        if (root_of(w, node->out[i]) == node->out[i])
            use(w, node->out[i], k);
}

tc_life *ti_graph_lives(tc_arena *arena, const tc_graph *g, tc_root_of *root,
                        bool (*is_free)(const tc_node *node))
{
    walk w = {g, root, tc_new_n(arena, tc_life, g->n_val + 1)};
    for (tc_val v = 0; v < g->n_val; v++)
        w.life[v] = TC_NEVER;
    for (size_t i = 0; i < g->n_in; i++)
        use(&w, g->in[i], 0);
    for (size_t i = 0; i < g->n_mutation; i++) {
        use(&w, g->mutation[i].before, 0);
        use(&w, g->mutation[i].before, g->n_node);
        use(&w, g->mutation[i].after, g->n_node);
    }
    for (size_t k = 0; k < g->n_node; k++)
        use_node(&w, g->node[k], k, is_free && is_free(g->node[k]));
    for (size_t i = 0; i < g->n_out; i++)
        use(&w, g->out[i], g->n_node);
    return w.life;
}
