/* SPDX-License-Identifier: Apache-2.0 */
/* known_layers.h -- layers whose weights and bias may be changed together with what they read or
 * make. */
#ifndef TC_KNOWN_LAYERS_H
#define TC_KNOWN_LAYERS_H

#include "../ir/graph.h"

/* A constant in f32, or nothing. */
static inline bool ti_known_constant(const tc_graph *g, tc_val v)
{
    return !v ||
           (ti_is_const(g, v) && ti_type_of(g, v)->dtype == TC_f32 && !ti_type_of(g, v)->quant);
}

/* A linear layer or a convolution, of such weights and bias. */
static inline bool ti_known_layer(const tc_graph *g, const tc_node *node)
{
    if ((node->op != TC_OP_linear && node->op != TC_OP_conv) || node->n_in < 2 || !node->in[1] ||
        !ti_known_constant(g, node->in[1]) ||
        (node->n_in > 2 && !ti_known_constant(g, node->in[2])))
        return false;
    const tc_type *w = ti_type_of(g, node->in[1]), *x = ti_type_of(g, node->in[0]);
    return node->op == TC_OP_linear ? w->rank == 2 : x->rank == w->rank;
}

/* The channels' axis of what it reads or makes. */
static inline int ti_known_layer_axis(const tc_graph *g, const tc_node *node, tc_val v)
{
    return node->op == TC_OP_linear ? ti_type_of(g, v)->rank - 1 : 1;
}

#endif
