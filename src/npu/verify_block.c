/* SPDX-License-Identifier: Apache-2.0 */
/* verify_block.c -- output blocks against the machine: its microblocks, its limits, its buffers.
 *
 * U55 and U65 share one memory of banks: two of outputs, inputs from the third on, accumulators up
 * to the tables. U85 has a memory each for inputs and accumulators. */
#include "verifier.h"

#include "block.h"

static tc_npu_block microblock(const tc_npu_machine *m, const tc_npu_op *op)
{
    int i = m->product == TC_U85 ? op->microblock : 0;
    return i < TC_NPU_MICROBLOCKS ? m->microblock[i] : (tc_npu_block){0};
}

/* ---- U55, U65 ---- */

static void banks_u55(tc_npu_verifier *v, const tc_npu_op *op)
{
    const tc_npu_machine *m = v->machine;
    tc_npu_banks n = ti_npu_banks_of(m, op);
    int64_t top = n.end, ifm = n.ifm, acc = n.acc;
    if (op->ab_start > top)
        ti_npu_found(v, TC_CHECK_BLOCK,
                     "its accumulators begin at bank %d, tables have those from %" PRId64 " on",
                     op->ab_start, top);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE) {
        bool second = n.ifm2 != 0;
        if (second && (op->ib2_start < 2 + ifm || op->ib2_start + ifm > op->ab_start))
            ti_npu_found(v, TC_CHECK_BLOCK,
                         "its operands need %" PRId64
                         " banks each: bank 2 to %d and on to %d have no room",
                         ifm, op->ib2_start, op->ab_start);
        else if (!second && 2 + ifm > op->ab_start)
            ti_npu_found(v, TC_CHECK_BLOCK,
                         "its operand needs %" PRId64 " banks: bank 2 to %d have no room", ifm,
                         op->ab_start);
        return;
    }
    if (op->ib_end < 2 + ifm || op->ib_end > op->ab_start)
        ti_npu_found(v, TC_CHECK_BLOCK,
                     "its ifm needs %" PRId64
                     " banks from bank 2 on; it has those to %d, accumulators begin at %d",
                     ifm, op->ib_end, op->ab_start);
    if (op->ab_start + acc > top)
        ti_npu_found(v, TC_CHECK_BLOCK,
                     "its accumulators need %" PRId64 " banks from %d on; there are %" PRId64, acc,
                     op->ab_start, top);
}

/* ---- U85 ---- */

static void memories_u85(tc_npu_verifier *v, const tc_npu_op *op)
{
    const tc_npu_machine *m = v->machine;
    if (op->kind == TC_NPU_KIND_ELEMENTWISE || op->kind == TC_NPU_KIND_RESIZE)
        return;
    int64_t acc = ti_npu_acc_bytes(op), bytes = ti_npu_input_bytes(m, op);
    if (acc > m->acc_ram)
        ti_npu_found(v, TC_CHECK_BLOCK, "its accumulators need %" PRId64 " bytes, there are %d",
                     acc, m->acc_ram);
    if (bytes > m->ifm_ram)
        ti_npu_found(v, TC_CHECK_BLOCK, "its ifm block needs %" PRId64 " bytes, there are %d",
                     bytes, m->ifm_ram);
}

/* ---- both ---- */

void ti_npu_verify_block(tc_npu_verifier *v, const tc_npu_op *op)
{
    const tc_npu_machine *m = v->machine;
    tc_npu_block unit = microblock(m, op), b = op->block;
    bool u85 = m->product == TC_U85;
    if (!unit.depth) {
        ti_npu_found(v, TC_CHECK_BLOCK, "the machine has no microblock %d", op->microblock);
        return;
    }
    if (b.h > m->most.h || b.w > m->most.w || b.depth > m->most.depth)
        ti_npu_found(v, TC_CHECK_BLOCK, "its block of %d x %d x %d is larger than %d x %d x %d",
                     b.h, b.w, b.depth, m->most.h, m->most.w, m->most.depth);
    bool row =
        !u85 && b.h == 1 && op->ofm.h == 1; /* of one row, a microblock of two may be half empty */
    int32_t depth = u85 ? 8 : unit.depth;
    if (op->kind != TC_NPU_KIND_RESIZE &&
        ((b.h % unit.h && !row) || b.w % unit.w || b.depth % depth))
        ti_npu_found(v, TC_CHECK_BLOCK, "its block of %d x %d x %d is not a multiple of %d x %d x "
                                        "%d",
                     b.h, b.w, b.depth, unit.h, unit.w, depth);
    if (op->kind == TC_NPU_KIND_RESIZE && (b.h != 1 || b.depth > 16))
        ti_npu_found(v, TC_CHECK_BLOCK,
                     "its block of %d x %d x %d is not one row of at most 16 channels", b.h, b.w,
                     b.depth);
    if (u85)
        memories_u85(v, op);
    else
        banks_u55(v, op);
}
