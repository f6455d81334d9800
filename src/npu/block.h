/* SPDX-License-Identifier: Apache-2.0 */
/* block.h -- in what pieces an operation goes through a machine: what fits, and what is chosen.
 *
 * A stream says which output block was chosen; whoever has no stream yet chooses here, as Vela
 * would: the block that fetches least for each output, of those that fit the machine's memories. */
#ifndef TC_BLOCK_H
#define TC_BLOCK_H

#include "npu_op.h"

/* The microblock that the operation uses; of one that there is not, 1 x 1 x 8. */
tc_npu_block ti_npu_unit(const tc_npu_machine *machine, const tc_npu_op *op);
/* The pieces in which U85 deals out its memory of inputs, by microblock and bits of a block's
 * depth. */
tc_npu_block ti_npu_piece(const tc_npu_machine *machine, const tc_npu_op *op, int32_t depth,
                          int32_t bits);

/* What is read for an output block at a time; bits: of an input element. */
tc_npu_block ti_npu_input_block(const tc_npu_machine *machine, const tc_npu_op *op, int32_t bits);

/* Of a kernel operation whose maps and window are set: microblock, block, and in which order
 * weights are walked through. */
void ti_npu_choose_block(const tc_npu_machine *machine, tc_npu_op *op);

#endif
