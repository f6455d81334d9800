/* SPDX-License-Identifier: Apache-2.0 */
/* estimate_memo.h -- what one estimate after another would compute again: the blocks of operations,
 * and the entropy of weights.  Tables of fixed size; without a memo (NULL) everything is computed. */
#ifndef TC_ESTIMATE_MEMO_H
#define TC_ESTIMATE_MEMO_H

#include "../base/diag.h"
#include "../npu/block.h"

typedef struct tc_estimate_memo tc_estimate_memo;

/* In the context's arena.  Weights are known by their address: those that are met inside a later
 * attempt (base/attempt.h), and go with it, are not remembered. */
tc_estimate_memo *ti_estimate_memo_new(tc_ctx *ctx);

/* ti_npu_choose_block(). */
void ti_memo_block(tc_estimate_memo *memo, const tc_npu_machine *machine, tc_npu_op *op);

/* Bits of a number: the entropy of all. */
double ti_memo_entropy(tc_estimate_memo *memo, const int8_t *number, int64_t n);

#endif
