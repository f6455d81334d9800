/* SPDX-License-Identifier: Apache-2.0 */
/* stored_order.h -- how pass `sink-transposes` holds the values of the old graph in the new one. */
#ifndef TC_STORED_ORDER_H
#define TC_STORED_ORDER_H

#include "reshape_chain.h"
#include "axis_order.h"

#include "../../ir/build.h"

/* A value of the old graph: the stored value, and in which order.  After a reshape of axes that are
 * not contiguous: the pending chain; the next steps may make them contiguous again.
 */
typedef struct tc_stored {
    tc_val val;
    tc_order order;
    const tc_chain *chain; /* then `order` means nothing */
} tc_stored;

typedef struct tc_stored_graph {
    tc_rewrite *rw;
    tc_stored *now; /* by old value */
    tc_map laid;    /* (value of the new graph, perm) -> its transpose */
} tc_stored_graph;

static inline int64_t ti_bytes_of(const tc_type *t)
{
    return tc_type_count(t) * tc_dtypes[t->dtype].bytes;
}

/* A node of the new graph, with the location of `like`. */
tc_val ti_stored_add(tc_stored_graph *l, const tc_node *like, tc_op op, const void *attr,
                     const tc_val *in, int n, const tc_type *type);
tc_val ti_stored_shape(tc_stored_graph *l, const tc_node *like, int n, const int64_t *v);

/* The new value x, or constant, with other extents. */
tc_val ti_stored_reshape(tc_stored_graph *l, const tc_node *like, tc_val x, int rank,
                         const int64_t *dim);

/* An old value stored by `order`, or in the order of its type: a transpose is made once. */
tc_val ti_stored_laid(tc_stored_graph *l, const tc_node *like, tc_val old, const tc_order *order);
tc_val ti_stored_plain(tc_stored_graph *l, const tc_node *like, tc_val old);

/* Bytes that must move for that. */
int64_t ti_stored_cost(tc_stored_graph *l, tc_val old, const tc_order *order);

/* What is stored by this order, as the logical type `to`. */
tc_stored ti_stored_regrouped(tc_stored_graph *l, const tc_node *like, tc_val x, const tc_type *to,
                              tc_order q);

/* Materializes a pending chain: one transpose of as few axes as possible; afterwards the order is
 * defined. */
void ti_stored_force(tc_stored_graph *l, const tc_node *like, tc_val old);

/* The axes of that transpose. */
int ti_stored_groups(const tc_chain *c, int64_t *dim, int64_t *perm);

#endif
