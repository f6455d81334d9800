/* SPDX-License-Identifier: Apache-2.0 */
/* block_fit.c -- what an output block takes of a machine's memories, and whether there is room.
 *
 * U55 and U65 share one memory of banks: two of outputs, inputs from the third on, accumulators up
 * to the tables.  U85 has a memory each for inputs and accumulators. */
#include "block.h"

enum { OUTPUT_BANKS = 2, TABLE_BANKS = 2, FEW_BANKS = 16, BRICK = 16, REVERSE_C = 3 };

/* ---- inputs ---- */

tc_npu_block ti_npu_unit(const tc_npu_machine *m, const tc_npu_op *op)
{
    int i = m->product == TC_U85 ? op->microblock : 0;
    tc_npu_block b = i < TC_NPU_MICROBLOCKS ? m->microblock[i] : (tc_npu_block){0};
    return b.depth ? b : (tc_npu_block){1, 1, 8};
}

tc_npu_block ti_npu_piece(const tc_npu_machine *m, const tc_npu_op *op, int32_t depth, int32_t bits)
{
    static const tc_npu_block small[3] = {{1, 2, 1}, {1, 1, 2}, {1, 1, 2}},
                              middle[3] = {{2, 2, 1}, {1, 2, 2}, {1, 1, 4}},
                              long_[3] = {{1, 4, 1}, {1, 2, 2}, {1, 1, 4}},
                              large[3] = {{2, 4, 1}, {2, 2, 2}, {1, 2, 4}},
                              long_large[3] = {{2, 4, 1}, {1, 4, 2}, {1, 2, 4}},
                              largest[3] = {{4, 4, 1}, {2, 4, 2}, {2, 2, 4}},
                              long_largest[3] = {{4, 4, 1}, {2, 4, 2}, {1, 4, 4}};
    bool is_long = op->microblock == 2;
    const tc_npu_block *row = m->macs == 128    ? small
                              : m->macs <= 512  ? (is_long ? long_ : middle)
                              : m->macs == 1024 ? (is_long ? long_large : large)
                                                : (is_long ? long_largest : largest);
    tc_npu_block b = row[depth * bits <= 128 ? 0 : depth * bits <= 256 ? 1 : 2];
    b.depth *= 128 / bits > 1 ? 128 / bits : 1;
    return b;
}

/* Rows (or columns) of the input below `out` of the output; sub-kernels are at most 8 long. */
static int32_t below(int32_t out, int32_t stride, int32_t kernel, int32_t dilation,
                     tc_npu_upscale upscale)
{
    int32_t n = (out - 1) * stride + ti_min_i32((kernel - 1) * dilation + 1, 8);
    return upscale ? (n + 1) / 2 + (n % 2 == 0) : n;
}

bool ti_npu_sums_channels(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_CONV ||
           (op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_REDUCE_SUM);
}

bool ti_npu_is_pointwise(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_ELEMENTWISE || op->kind == TC_NPU_KIND_RESIZE;
}

/* In steps of microblocks, channels as they are taken in. */
static tc_npu_block input_block(const tc_npu_machine *m, const tc_npu_op *op, int32_t bits)
{
    const tc_npu_window *k = &op->window;
    tc_npu_block b = op->block, unit = ti_npu_unit(m, op);
    if (ti_npu_is_pointwise(op))
        return b;
    b.h = below(op->block.h, k->stride_y, k->kh, k->dilation_y, k->upscale);
    b.w = below(op->block.w, k->stride_x, k->kw, k->dilation_x, k->upscale);
    if (!ti_npu_sums_channels(op))
        return b;
    if (m->product == TC_U85)
        b.depth = k->part_kernel ? 16
                  : bits == 32 || (m->macs <= 256 && unit.depth == 16 && !op->weights.sparse) ? 32
                  : op->weights.sparse && bits == 8                                           ? 128
                                                                                              : 64;
    else if (bits == 16)
        b.depth = (int32_t)ti_round_up(ti_min_i32(op->ifm.c, 16), 4);
    else
        b.depth = (int32_t)ti_round_up(ti_min_i32(op->ifm.c, k->part_kernel ? 16 : 32), 8);
    return b;
}

tc_npu_block ti_npu_input_block(const tc_npu_machine *m, const tc_npu_op *op, int32_t bits)
{
    tc_npu_block b = input_block(m, op, bits), step = ti_npu_unit(m, op);
    if (ti_npu_is_pointwise(op))
        return b;
    if (m->product == TC_U85) {
        step = ti_npu_piece(m, op, b.depth, bits);
        b.depth = (int32_t)ti_round_up(b.depth, step.depth);
    }
    b.h = (int32_t)ti_round_up(b.h, step.h);
    b.w = (int32_t)ti_round_up(b.w, step.w);
    return b;
}

tc_npu_block ti_npu_ifm_block(const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_npu_block b = input_block(m, op, 8 * op->ifm.bytes), unit = ti_npu_unit(m, op);
    if (ti_npu_is_pointwise(op))
        return b;
    b.h = (int32_t)ti_round_up(b.h, unit.h);
    b.w = (int32_t)ti_round_up(b.w, unit.w);
    return b;
}

/* ---- U55, U65 ---- */

static int64_t banks(int64_t bytes, int64_t granule)
{
    return ti_round_up(2 * ((bytes + TC_NPU_BANK - 1) / TC_NPU_BANK), granule);
}

static tc_npu_granule input_granule(const tc_npu_op *op)
{
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE;
    return op->ifm.bytes >= 4   ? TC_GRANULE_IFM32
           : op->ifm.bytes == 2 ? (ew ? TC_GRANULE_EW16 : TC_GRANULE_IFM16)
                                : (ew ? TC_GRANULE_EW8 : TC_GRANULE_IFM8);
}

/* Rows of a block that take accumulators: of a single row below a kernel of one row, the other half
 * of a microblock of two takes none. */
static int32_t rows_held(const tc_npu_machine *m, const tc_npu_op *op)
{
    return ti_npu_unit(m, op).h == 2 && op->ofm.h == 1 && op->window.kh == 1 ? 1 : op->block.h;
}

int64_t ti_npu_acc_banks(const tc_npu_machine *m, const tc_npu_op *op, int32_t rows)
{
    tc_npu_granule g = op->acc_bits == 40   ? TC_GRANULE_ACC40
                       : op->acc_bits == 16 ? TC_GRANULE_ACC16
                                            : TC_GRANULE_ACC32;
    int64_t bytes = (int64_t)rows * op->block.w * ti_round_up(op->block.depth, 8) * op->acc_bits / 8;
    return banks(bytes, m->granule[g]);
}

tc_npu_banks ti_npu_banks_of(const tc_npu_machine *m, const tc_npu_op *op)
{
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE, table = op->function == TC_NPU_LOOKUP;
    tc_npu_block in = ti_npu_ifm_block(m, op);
    tc_npu_banks n = {
        .ifm = banks((int64_t)in.h * in.w * ti_round_up((int64_t)in.depth * op->ifm.bytes, 8),
                     m->granule[input_granule(op)]),
        .end = m->banks - (m->banks == FEW_BANKS && !table ? 0 : TABLE_BANKS)};
    if (!ew)
        n.acc = ti_npu_acc_banks(m, op, rows_held(m, op));
    else if (op->ifm2.used && !(op->ifm2.broadcast & TC_BROADCAST_SCALAR))
        n.ifm2 = n.ifm;
    return n;
}

void ti_npu_set_banks(const tc_npu_machine *m, tc_npu_op *op)
{
    if (m->product == TC_U85)
        return;
    tc_npu_banks n = ti_npu_banks_of(m, op);
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE;
    op->ab_start = (uint8_t)(n.end - n.acc);
    op->ib_end = (uint8_t)(ew ? op->ab_start : OUTPUT_BANKS + n.ifm);
    op->ib2_start = (uint8_t)(OUTPUT_BANKS + n.ifm);
}

/* ---- U85 ---- */

int64_t ti_npu_acc_bytes(const tc_npu_op *op)
{
    return (int64_t)op->block.h * op->block.w * ti_round_up(op->block.depth, BRICK) *
           (op->acc_bits > 32 ? 8 : 4);
}

int64_t ti_npu_input_bytes(const tc_npu_machine *m, const tc_npu_op *op)
{
    const tc_npu_map *ifm = &op->ifm;
    if (ti_npu_is_pointwise(op) || !ifm->used || ifm->bytes > 4)
        return 0;
    tc_npu_block in = ti_npu_ifm_block(m, op);
    in.depth = ti_min_i32(in.depth, ifm->c);
    tc_npu_block piece = ti_npu_piece(m, op, in.depth, 8 * ifm->bytes);
    int64_t bytes = ti_round_up(in.h, piece.h) * ti_round_up(in.w, piece.w) *
                    ti_round_up(in.depth, piece.depth) * ifm->bytes;
    int64_t all = ti_round_up(ifm->h, piece.h) * ti_round_up(ifm->w, piece.w) *
                  ti_round_up(ifm->c, piece.depth) * ifm->bytes;
    return bytes < all ? bytes : all;
}

/* ---- both ---- */

/* RESIZE: the columns that a row of the block is made of, one more and one to spare, have a byte each
 * multiplier for 16 channels. */
static int32_t most_resized(const tc_npu_machine *m, const tc_npu_op *op)
{
    int64_t columns = m->macs / (BRICK * (op->ifm.bytes ? op->ifm.bytes : 1)), w = m->most.w;
    if (op->x.step > 0 && columns > 1)
        w = (columns - 2) * op->x.scale / op->x.step + 1;
    return w < m->most.w ? (int32_t)w : m->most.w;
}

tc_npu_block ti_npu_most_block(const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_npu_block most = m->most;
    if (m->product != TC_U85)
        return most;
    if (op->transpose & 2) /* channels become columns, or rows */
        most.depth = ti_min_i32(most.depth, op->transpose & 4 ? most.h : most.w);
    if (op->reverse == REVERSE_C)
        most.depth = BRICK;
    return op->kind == TC_NPU_KIND_RESIZE ? (tc_npu_block){1, most_resized(m, op), BRICK}
                                          : most;
}

tc_npu_block ti_npu_block_step(const tc_npu_machine *m, const tc_npu_op *op)
{
    static const char channels[8] = {[2] = 'w', [3] = 'h', [6] = 'w', [7] = 'h'};
    tc_npu_block step = ti_npu_unit(m, op);
    bool bricks = op->ofm.format == TC_NHCWB16;
    if (op->kind == TC_NPU_KIND_RESIZE)
        return (tc_npu_block){1, 1, 8};
    step.w = bricks && channels[op->transpose & 7] == 'w' ? BRICK : step.w;
    step.h = bricks && channels[op->transpose & 7] == 'h' ? BRICK : step.h;
    if (m->product == TC_U85 && !ti_npu_sums_channels(op) && step.depth > BRICK)
        step.depth = BRICK;
    return step;
}

static bool sides_fit(const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_npu_block b = op->block, most = ti_npu_most_block(m, op), step = ti_npu_block_step(m, op);
    bool u85 = m->product == TC_U85, row = !u85 && b.h == 1 && op->ofm.h == 1;
    if (b.h < 1 || b.w < 1 || b.depth < 1 || b.h > most.h || b.w > most.w || b.depth > most.depth)
        return false;
    if (u85 && (op->microblock >= TC_NPU_MICROBLOCKS || !m->microblock[op->microblock].depth ||
                b.depth < BRICK))
        return false;
    /* Resuming an output's channels begins at a brick. */
    return (b.h % step.h == 0 || row) && b.w % step.w == 0 &&
           b.depth % step.depth == 0 && (b.depth % BRICK == 0 || b.depth >= op->ofm.c);
}

bool ti_npu_block_fits(const tc_npu_machine *m, const tc_npu_op *op)
{
    if (!sides_fit(m, op))
        return false;
    if (m->product == TC_U85)
        return ti_npu_is_pointwise(op) || (ti_npu_acc_bytes(op) <= m->acc_ram &&
                                           ti_npu_input_bytes(m, op) <= m->ifm_ram);
    tc_npu_banks n = ti_npu_banks_of(m, op);
    return OUTPUT_BANKS + n.ifm + n.ifm2 + n.acc <= n.end;
}
