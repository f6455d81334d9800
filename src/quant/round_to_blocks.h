/* SPDX-License-Identifier: Apache-2.0 */
/* round_to_blocks.h -- the float program with block-scaled operands of its layers, and what stayed
 * float. */
#ifndef TC_ROUND_TO_BLOCKS_H
#define TC_ROUND_TO_BLOCKS_H

#include "quantizer.h"

typedef struct tc_block_left {
    tc_op op;
    const tc_loc *loc;
    const char *why; /* a clause, "its weights are computed" */
} tc_block_left;

typedef struct tc_block_report {
    size_t n_block; /* products with block-scaled operands */
    tc_block_left *left;
    size_t n_left, cap_left;
} tc_block_report;

/* out may be NULL. */
TC_MUST_USE tc_status ti_quant_round_to_blocks(tc_ctx *ctx, tc_module *module,
                                               const tc_config *config, tc_block_report *out);

#endif
