/* SPDX-License-Identifier: Apache-2.0 */
/* live_memory.h -- how much memory the values of a TOSA graph need while each node runs. */
#ifndef TC_LIVE_MEMORY_H
#define TC_LIVE_MEMORY_H

#include "../../ir/graph.h"

/* What a value takes of an Ethos-U's memory: 8 and 16 bits with channels in bricks of 16; 0 where
 * it is computed on the way to another, as sums of 32 bits are, but for those of a RESIZE. */
int64_t ti_live_bytes(const tc_graph *g, tc_val v, uint32_t readers);

/* The most bytes of all values that are there while a node runs. */
int64_t ti_live_peak(tc_ctx *ctx, const tc_graph *g, const int64_t *bytes);

#endif
