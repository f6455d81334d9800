/* SPDX-License-Identifier: Apache-2.0 */
/* block_search.h -- the cheapest block by the cost model.
 *
 * Vela takes the block that fetches least; the machine's time is another matter.  Of all blocks
 * that fit, on all microblocks that may be used, the cheapest is taken whose traffic is at most
 * 1.1 times that of Vela's choice; 1.4 times for who asks for more.  The order of weights is Vela's and does not depend on prices:
 * Vela's own rule and its cost model contradict each other there. */
#ifndef TC_BLOCK_SEARCH_H
#define TC_BLOCK_SEARCH_H

#include "system.h"

/* Operations of equal shapes have equal blocks: they are searched once. */
typedef struct tc_npu_block_memo tc_npu_block_memo;
tc_npu_block_memo *ti_npu_block_memo_new(tc_arena *arena);

/* Of a kernel operation whose maps, window, scaling and accumulators' bits are set:
 * microblock, block, order of weights and U55's banks.
 *
 *   weight_bytes  of its encoded weights, of all cores; about so many */
void ti_npu_best_block(const tc_npu_machine *machine, const tc_npu_system *system, tc_npu_op *op,
                       double weight_bytes);

/* The same of n operations that have one block and one microblock: a chain, or those that keep each
 * other's accumulators.
 *
 *   memo          NULL: none
 *   weight_bytes  of each; NULL: as op->weights says
 *   again         more may be read again */
void ti_npu_best_blocks(tc_npu_block_memo *memo, const tc_npu_machine *machine,
                        const tc_npu_system *system, tc_npu_op *op, size_t n,
                        const double *weight_bytes, bool again);

/* An order of weights: channels of a block and of a microblock. */
typedef struct tc_npu_order {
    int32_t depth, unit;
    bool part_kernel;
} tc_npu_order;

/* The same with weights in a given order, shared with others, whatever the cost; false: the machine
 * does not support one of the operations so, and they are unchanged. */
bool ti_npu_best_blocks_of(const tc_npu_machine *machine, const tc_npu_system *system,
                           tc_npu_op *op, size_t n, const double *weight_bytes, tc_npu_order order);

#endif
