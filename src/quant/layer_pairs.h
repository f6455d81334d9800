/* SPDX-License-Identifier: Apache-2.0 */
/* layer_pairs.h -- a program before and after: the same product in the real program, in the typed
 * one, and in the typed one as float arithmetic. */
#ifndef TC_LAYER_PAIRS_H
#define TC_LAYER_PAIRS_H

#include "quantizer.h"

typedef struct tc_pair {
    const tc_node *real, *typed, *sim;
} tc_pair;

/* Convolutions and linear layers on integers, with constant weights and a bias that is constant or
 * left out, in the order of the graph; out has room for typed->n_node.  The rewrites keep the order
 * of nodes, and their locations. */
size_t ti_pairs_find(const tc_graph *real, const tc_graph *typed, const tc_graph *sim,
                     tc_pair *out);

#endif
