/* SPDX-License-Identifier: Apache-2.0 */
/* lives.h -- the steps in which a graph's values are needed, where nodes run in their order. */
#ifndef TC_LIVES_H
#define TC_LIVES_H

#include "../base/life.h"
#include "graph.h"

/* Whose memory a value has: another value's, or its own. */
typedef tc_val tc_root_of(const tc_graph *g, tc_val v);

/* By value, TC_NEVER where another value is its root.  Step k is node k.  Inputs are there from step 0
 * on, outputs until step n_node, buffers that the graph changes all the time.  root: NULL where every
 * value has memory of its own.  is_free: nodes that read nothing while they run; NULL: none. */
tc_life *ti_graph_lives(tc_arena *arena, const tc_graph *g, tc_root_of *root,
                        bool (*is_free)(const tc_node *node));

#endif
