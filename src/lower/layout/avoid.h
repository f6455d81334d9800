/* SPDX-License-Identifier: Apache-2.0 */
/* avoid.h -- nodes put in place of others by passes over the TOSA form, and RESCALEs read. */
#ifndef TC_AVOID_H
#define TC_AVOID_H

#include "../../ir/rewrite.h"

/* A node of the new graph, from where `like` came; its one result. */
TC_MUST_USE tc_status tc_avoid_put(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr,
                                   const tc_val *in, int n, tc_val *out);
TC_MUST_USE tc_status tc_avoid_put2(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr,
                                    tc_val a, tc_val b, tc_val *out);

/* An i32 or i8, with so many axes of extent 1. */
tc_val tc_avoid_number(tc_rewrite *rw, const tc_node *like, tc_dtype dtype, int rank,
                       int64_t value);

/* What stands for the node's result: a value of the same numbers, with its type. */
void tc_avoid_take(tc_rewrite *rw, const tc_node *node, tc_val v, bool *done);

/* A pass of one rewriter. */
TC_MUST_USE tc_status tc_avoid_over(tc_module *module, tc_rewriter *rewriter);

/* A RESCALE by one factor for all, multiplier / 2^shift. */
typedef struct tc_avoid_change {
    const tc_node *node;
    int64_t multiplier, shift;
} tc_avoid_change;
bool tc_avoid_read_change(const tc_graph *g, const tc_node *node, tc_avoid_change *c);

/* The factor as a whole number that 15 bits hold, or 0. */
int64_t tc_avoid_whole(const tc_avoid_change *c);

#endif
