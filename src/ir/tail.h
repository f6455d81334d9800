/* SPDX-License-Identifier: Apache-2.0 */
/* tail.h -- which RESCALE, CLAMP or TABLE belongs to the operation before it.
 *
 * The tail of a value is a row of such nodes, each the only reader of the one before, as its first
 * operand.  How much of it is computed together with the value is each machine's own limit: who asks
 * takes one node after the other for as long as it can. */
#ifndef TC_TAIL_H
#define TC_TAIL_H

#include "graph.h"

/* By value: the node that reads it, where it is read once and by nothing else: neither an output nor
 * state.  NULL elsewhere. */
const tc_node **ti_only_readers(tc_arena *arena, const tc_graph *g);

typedef struct tc_tail {
    const tc_graph *g;
    const tc_node *(*reader)(const void *who, tc_val v); /* the only one, or NULL; of ti_only_readers()
                                                            where this is NULL, too */
    const void *who;
    bool views; /* RESHAPE and IDENTITY that keep the channels do not end it */
} tc_tail;

/* The next node of v's tail, or NULL.  It reads v, or a view of v. */
const tc_node *ti_tail_next(const tc_tail *tail, tc_val v);

/* The same from the end: what makes the node's first operand, or what that is a view of, where
 * nothing else reads it; or NULL.  readers: as ti_graph_readers() counts them. */
const tc_node *ti_tail_before(const tc_graph *g, const uint32_t *readers, const tc_node *node,
                              bool views);

#endif
