/* SPDX-License-Identifier: Apache-2.0 */
/* block_search.c -- see block_search.h. */
#include "block_search.h"

#include "block.h"

struct tc_npu_block_memo {
    tc_arena *arena;
};

tc_npu_block_memo *ti_npu_block_memo_new(tc_arena *arena)
{
    tc_npu_block_memo *memo = tc_new(arena, tc_npu_block_memo);
    memo->arena = arena;
    return memo;
}

void ti_npu_best_blocks(tc_npu_block_memo *memo, const tc_npu_machine *machine,
                        const tc_npu_system *system, tc_npu_op *op, size_t n,
                        const double *weight_bytes)
{
    (void)memo;
    (void)system;
    (void)weight_bytes;
    ti_npu_choose_block(machine, op);
    ti_npu_set_banks(machine, op);
    for (size_t i = 1; i < n; i++) {
        op[i].block = op->block;
        op[i].microblock = op->microblock;
    }
}

void ti_npu_best_block(const tc_npu_machine *machine, const tc_npu_system *system, tc_npu_op *op,
                       double weight_bytes)
{
    ti_npu_best_blocks(NULL, machine, system, op, 1, &weight_bytes);
}
