/* SPDX-License-Identifier: Apache-2.0 */
/* avoid.h -- what the passes around Vela's faults share. */
#ifndef TC_LOWER_AVOID_H
#define TC_LOWER_AVOID_H

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

/* The same numbers from an operation of their own, which Vela leaves alone: a CLAMP that lets all
 * of them pass; for i32, which has none, plus nothing; for bool, or itself. */
TC_MUST_USE tc_status tc_put_pause(tc_rewrite *rw, const tc_node *like, tc_val x, tc_val *out);
bool tc_can_pause(const tc_type *t); /* i8, i16, i32 */

/* The node that gives the numbers, whatever shape they are read in; NULL: none. */
const tc_node *tc_behind_reshapes(const tc_graph *g, tc_val v);

/* A RESHAPE, or a TRANSPOSE that moves nothing but axes of extent 1. */
bool tc_is_view(const tc_graph *g, const tc_node *node);

/* What the value's numbers lie in, whatever shape they are read in. */
tc_val tc_memory_of(const tc_graph *g, tc_val v);

/* A SLICE, PAD, CONCAT or TILE, reshaped or not. */
bool tc_is_cut(const tc_graph *g, tc_val v);

/* The node as it is, but for operands that the mask names: those read a pause. */
TC_MUST_USE tc_status tc_pause_operands(tc_rewrite *rw, const tc_node *node, uint32_t mask,
                                        bool *done);

/* CONCAT and PAD with a pause behind each part that `is` so. */
TC_MUST_USE tc_status tc_pause_parts(tc_rewrite *rw, const tc_node *node,
                                     bool (*is)(const tc_graph *g, tc_val v), bool *done);

#endif
