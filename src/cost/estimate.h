/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h -- what a graph of TOSA operators would cost on an Ethos-U, without a stream:
 * operations as Vela would make them of the graph, roughly, and their figures by the same model. */
#ifndef TC_ESTIMATE_H
#define TC_ESTIMATE_H

#include "../ir/graph.h"
#include "../npu/cost.h"
#include "estimate_memo.h"

typedef struct tc_estimate {
    tc_npu_stream_cost cost;
    const tc_node **node; /* by operation of it: where it comes from */
    size_t n_unknown;     /* operators that no cost is known of; they count 0 */
} tc_estimate;

/* The result lies in `arena`, what it takes to get there too.  Nodes that nobody needs count 0. */
void ti_estimate_graph(tc_ctx *ctx, tc_arena *arena, const tc_graph *graph,
                       const tc_npu_machine *machine, const tc_npu_system *system,
                       tc_estimate_memo *memo, tc_estimate *out);

#endif
