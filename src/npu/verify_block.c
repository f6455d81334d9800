/* SPDX-License-Identifier: Apache-2.0 */
/* verify_block.c -- output blocks against the machine: its microblocks, its limits, its buffers.
 *
 * U55 and U65 share one memory of banks: two of outputs, inputs from the third on, accumulators up
 * to the tables. U85 has a memory each for inputs and accumulators. */
#include "verifier.h"

#include "block.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static int64_t round_up(int64_t a, int64_t b)
{
    return ceil_div(a, b) * b;
}
static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static bool is_conv_like(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_CONV ||
           (op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_REDUCE_SUM);
}

static tc_npu_block microblock(const tc_npu_machine *m, const tc_npu_op *op)
{
    int i = m->product == TC_U85 ? op->microblock : 0;
    return i < TC_NPU_MICROBLOCKS ? m->microblock[i] : (tc_npu_block){0};
}

/* Rows (or columns) of the input below `out` of the output; sub-kernels are at most 8 long. */
static int32_t below(int32_t out, int32_t stride, int32_t kernel, tc_npu_upscale upscale)
{
    int32_t n = (out - 1) * stride + least(kernel, 8);
    return upscale ? (n + 1) / 2 + (n % 2 == 0) : n;
}

static int32_t ifm_depth_u85(const tc_npu_machine *m, const tc_npu_op *op, int32_t unit_depth)
{
    if (op->window.part_kernel)
        return 16;
    if (op->ifm.bytes == 4 || (m->macs <= 256 && unit_depth == 16 && !op->weights.sparse))
        return 32;
    return op->weights.sparse && op->ifm.bytes == 1 ? 128 : 64;
}

/* Rows of a block that take memory.  U55 and U65: of a single row below a kernel of one row, the
 * other half of a microblock of two takes none. */
static int32_t rows_held(const tc_npu_machine *m, const tc_npu_op *op)
{
    bool half = m->product != TC_U85 && microblock(m, op).h == 2 && op->ofm.h == 1 &&
                op->kind != TC_NPU_KIND_ELEMENTWISE && op->window.kh == 1;
    return half ? 1 : op->block.h;
}

tc_npu_block ti_npu_ifm_block(const tc_npu_machine *m, const tc_npu_op *op)
{
    const tc_npu_window *k = &op->window;
    tc_npu_block unit = microblock(m, op), b = op->block;
    if (op->kind == TC_NPU_KIND_ELEMENTWISE || op->kind == TC_NPU_KIND_RESIZE)
        return b;
    b.h = (int32_t)round_up(
        below(op->block.h, k->stride_y, (k->kh - 1) * k->dilation_y + 1, k->upscale),
        unit.h ? unit.h : 1);
    b.w = (int32_t)round_up(
        below(op->block.w, k->stride_x, (k->kw - 1) * k->dilation_x + 1, k->upscale),
        unit.w ? unit.w : 1);
    if (!is_conv_like(op))
        return b;
    if (m->product == TC_U85)
        b.depth = ifm_depth_u85(m, op, unit.depth);
    else if (op->ifm.bytes == 2)
        b.depth = (int32_t)round_up(least(op->ifm.c, 16), 4);
    else
        b.depth = (int32_t)round_up(least(op->ifm.c, k->part_kernel ? 16 : 32), 8);
    return b;
}

/* ---- U55, U65 ---- */

static tc_npu_granule ifm_granule(const tc_npu_op *op)
{
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE;
    return op->ifm.bytes >= 4   ? TC_GRANULE_IFM32
           : op->ifm.bytes == 2 ? (ew ? TC_GRANULE_EW16 : TC_GRANULE_IFM16)
                                : (ew ? TC_GRANULE_EW8 : TC_GRANULE_IFM8);
}

static int64_t banks(int64_t bytes, int64_t granule)
{
    return round_up(2 * ceil_div(bytes, TC_NPU_BANK), granule);
}

static void banks_u55(tc_npu_verifier *v, const tc_npu_op *op)
{
    const tc_npu_machine *m = v->machine;
    tc_npu_block in = ti_npu_ifm_block(m, op);
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE, table = op->function == 16;
    int64_t top = m->banks - (m->banks == 16 && !table ? 0 : 2);
    int64_t ifm = banks((int64_t)in.h * in.w * round_up((int64_t)in.depth * op->ifm.bytes, 8),
                        m->granule[ifm_granule(op)]);
    if (op->ab_start > top)
        ti_npu_found(v, TC_CHECK_BLOCK,
                     "its accumulators begin at bank %d, tables have those from %" PRId64 " on",
                     op->ab_start, top);
    if (ew) {
        bool second = op->ifm2.used && !(op->ifm2.broadcast & TC_BROADCAST_SCALAR);
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
    int64_t bytes =
        (int64_t)rows_held(m, op) * op->block.w * round_up(op->block.depth, 8) * op->acc_bits / 8;
    int64_t acc = banks(bytes, m->granule[op->acc_bits == 40   ? TC_GRANULE_ACC40
                                          : op->acc_bits == 16 ? TC_GRANULE_ACC16
                                                               : TC_GRANULE_ACC32]);
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
    int64_t acc = (int64_t)op->block.h * op->block.w * round_up(op->block.depth, 16) *
                  (op->acc_bits == 48 ? 8 : 4);
    if (acc > m->acc_ram)
        ti_npu_found(v, TC_CHECK_BLOCK, "its accumulators need %" PRId64 " bytes, there are %d",
                     acc, m->acc_ram);
    if (!op->ifm.used || op->ifm.bytes > 4)
        return;
    tc_npu_block in = ti_npu_ifm_block(m, op);
    in.depth = least(in.depth, op->ifm.c);
    tc_npu_block piece = ti_npu_piece(m, op, in.depth, 8 * op->ifm.bytes);
    int64_t bytes = round_up(in.h, piece.h) * round_up(in.w, piece.w) *
                    round_up(in.depth, piece.depth) * op->ifm.bytes;
    int64_t all = round_up(op->ifm.h, piece.h) * round_up(op->ifm.w, piece.w) *
                  round_up(op->ifm.c, piece.depth) * op->ifm.bytes;
    bytes = bytes < all ? bytes : all;
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
