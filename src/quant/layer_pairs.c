/* SPDX-License-Identifier: Apache-2.0 */
/* layer_pairs.c -- see layer_pairs.h. */
#include "layer_pairs.h"

static bool is_product(const tc_node *node)
{
    return node->op == TC_OP_conv || node->op == TC_OP_linear || node->op == TC_OP_conv_transpose;
}

static const tc_node *next_product(const tc_graph *g, size_t *k)
{
    while (*k < g->n_node)
        if (is_product(g->node[(*k)++]))
            return g->node[*k - 1];
    return NULL;
}

/* Integer arithmetic with an integer bias, or none. */
static bool is_integer(const tc_graph *g, const tc_node *node)
{
    const tc_type *x = ti_type_of(g, node->in[0]), *w = ti_type_of(g, node->in[1]);
    tc_val b = node->n_in > 2 ? node->in[2] : TC_NONE;
    return x->quant && w->quant && x->quant->axis < 0 && ti_is_const(g, node->in[1]) &&
           (!b || (ti_is_const(g, b) && ti_type_of(g, b)->quant));
}

static bool is_some_f32(const tc_type *t) { return t->dtype == TC_f32 && tc_type_count(t) > 0; }

size_t ti_pairs_find(const tc_graph *real, const tc_graph *typed, const tc_graph *sim, tc_pair *out)
{
    size_t i = 0, j = 0, k = 0, n = 0;
    const tc_node *a, *b, *c;
    while ((b = next_product(typed, &j)) && (c = next_product(sim, &k))) {
        size_t before = i;
        do
            a = next_product(real, &i);
        while (a && (a->loc != b->loc || a->op != b->op));
        if (!a)
            i = before;
        else if (is_integer(typed, b) && is_some_f32(ti_type_of(sim, c->out[0])))
            out[n++] = (tc_pair){a, b, c};
    }
    return n;
}
