/* SPDX-License-Identifier: Apache-2.0 */
/* block.h -- blocks of an operation: which fit, and which is chosen.
 *
 * A stream has its output blocks; before there is one they are chosen here, by Vela's rule: the
 * block that fetches least per output, of those that fit the machine's memories. */
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
/* The same of the first operand, in steps of microblocks only. */
tc_npu_block ti_npu_ifm_block(const tc_npu_machine *machine, const tc_npu_op *op);

/* A sum over input channels; elementwise and resizing operations, which have no window. */
bool ti_npu_sums_channels(const tc_npu_op *op);
bool ti_npu_is_pointwise(const tc_npu_op *op);

/* ---- what fits ---- */

/* U55, U65: banks that the operation's block takes. */
typedef struct tc_npu_banks {
    int64_t ifm, ifm2, acc;
    int64_t end; /* the first bank of tables */
} tc_npu_banks;
tc_npu_banks ti_npu_banks_of(const tc_npu_machine *machine, const tc_npu_op *op);
/* Those of accumulators, if this many rows of the block take any. */
int64_t ti_npu_acc_banks(const tc_npu_machine *machine, const tc_npu_op *op, int32_t rows);

/* U85: bytes of inputs and of accumulators. */
int64_t ti_npu_input_bytes(const tc_npu_machine *machine, const tc_npu_op *op);
int64_t ti_npu_acc_bytes(const tc_npu_op *op);

/* The largest sides of the operation's block, and what they are multiples of. */
tc_npu_block ti_npu_most_block(const tc_npu_machine *machine, const tc_npu_op *op);
tc_npu_block ti_npu_block_step(const tc_npu_machine *machine, const tc_npu_op *op);

/* Whether the operation's block, on its microblock and with its accumulators, is one that the
 * machine takes: its sides, and room for it in the memories. */
bool ti_npu_block_fits(const tc_npu_machine *machine, const tc_npu_op *op);

/* U55, U65: ib_end, ib2_start and ab_start, of an operation whose block fits. */
void ti_npu_set_banks(const tc_npu_machine *machine, tc_npu_op *op);

/* ---- what is chosen ---- */

/* Whether U85's memories have the room that Vela requires: `copies` 2 for convolutions, which are
 * double-buffered, or 1 if none fits so. */
bool ti_npu_block_is_roomy(const tc_npu_machine *machine, const tc_npu_op *op, int32_t copies);

/* Whether an operation of U85 may use a microblock. */
bool ti_npu_may_use(const tc_npu_machine *machine, const tc_npu_op *op, int microblock);

/* In which order weights are walked through, and the microblock, by Vela's rule. */
void ti_npu_set_order(const tc_npu_machine *machine, tc_npu_op *op);

/* Order, microblock and block, of one whose accumulators' bits are set too. */
void ti_npu_choose_block(const tc_npu_machine *machine, tc_npu_op *op);

#endif
