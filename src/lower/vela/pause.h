/* SPDX-License-Identifier: Apache-2.0 */
/* pause.h -- an operation that changes nothing between two others, so that Vela does not fuse them.
 *
 * Each pass around a fault of Vela is one fault; a target lists those that concern it.
 * test/vela-faults has the smallest graph of each, and tools/peer/vela_faults.py tells which of
 * them a Vela still has. */
#ifndef TC_PAUSE_H
#define TC_PAUSE_H

#include "../layout/rescale_factor.h"

/* The same numbers from an operation of their own, which Vela leaves alone: a CLAMP that lets all
 * of them pass; for i32, which has none, plus 0; for bool, or itself. */
tc_val ti_put_pause(tc_build *b, tc_val x);
bool ti_can_pause(const tc_type *t); /* i8, i16, i32 */

/* The node that gives the numbers, whatever shape they are read in; NULL: none. */
const tc_node *ti_behind_reshapes(const tc_graph *g, tc_val v);

/* A RESHAPE, or a TRANSPOSE that moves nothing but axes of extent 1. */
bool ti_is_view(const tc_graph *g, const tc_node *node);

/* What the value's numbers lie in, whatever shape they are read in. */
tc_val ti_memory_of(const tc_graph *g, tc_val v);

/* A SLICE, PAD, CONCAT or TILE, reshaped or not. */
bool ti_is_cut(const tc_graph *g, tc_val v);

/* The node as it is, but for operands that the mask names: those read a pause. */
TC_MUST_USE tc_status ti_pause_operands(tc_rewrite *rw, const tc_node *node, uint32_t mask,
                                        bool *done);

/* CONCAT and PAD with a pause behind each part that `is` so. */
TC_MUST_USE tc_status ti_pause_parts(tc_rewrite *rw, const tc_node *node,
                                     bool (*is)(const tc_graph *g, tc_val v), bool *done);

#endif
