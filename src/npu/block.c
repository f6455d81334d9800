/* SPDX-License-Identifier: Apache-2.0 */
/* block.c -- see block.h. */
#include "block.h"

#include <math.h>

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
/* ---- what fits ---- */

static int32_t bits_of(const tc_npu_op *op)
{
    bool starts = op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_NONE; /* its input is ifm2 */
    return 8 * (starts ? op->ifm2.bytes : op->ifm.bytes);
}

/* Room for two blocks, where one is filled while the other is used. */
static bool fits_times(const tc_npu_machine *m, const tc_npu_op *op, int32_t copies)
{
    int32_t bits = bits_of(op);
    tc_npu_block in = ti_npu_input_block(m, op, bits), b = op->block;
    int32_t depth = ti_npu_sums_channels(op) ? ti_min_i32(in.depth, op->ifm.c) : b.depth;
    depth = ti_round_up_i32(depth, ti_npu_piece(m, op, in.depth, bits).depth);
    bool whole = b.h >= op->ofm.h && b.w >= op->ofm.w && b.depth >= op->ofm.c;
    int64_t inputs = (int64_t)in.h * in.w * depth * bits / 8 *
                     (copies == 1 && ti_npu_sums_channels(op) && !whole ? 2 : copies);
    int64_t sums =
        (int64_t)b.h * b.w * ti_round_up_i32(b.depth, 16) * (op->acc_bits > 32 ? 8 : 4) * copies;
    return inputs <= m->ifm_ram && sums <= m->acc_ram;
}

/* U55, U65: every row has accumulators, 32-bit operands take an operand's space, and any function a
 * table's. */
static bool fits_amply(const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_npu_banks n = ti_npu_banks_of(m, op);
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE, wide = op->ifm2.used && op->ifm.bytes > 2;
    int64_t second = ew && wide ? n.ifm : n.ifm2;
    int64_t sums = ew ? 0 : ti_npu_acc_banks(m, op, op->block.h);
    int64_t end = op->function ? m->banks - 2 : n.end;
    return 2 + n.ifm + second + sums <= end;
}

static bool fits(const tc_npu_machine *m, const tc_npu_op *op, int32_t copies)
{
    return ti_npu_block_fits(m, op) &&
           (m->product == TC_U85 ? fits_times(m, op, copies) : fits_amply(m, op));
}

bool ti_npu_block_is_roomy(const tc_npu_machine *m, const tc_npu_op *op, int32_t copies)
{
    return m->product != TC_U85 || ti_npu_is_pointwise(op) || fits_times(m, op, copies);
}

/* ---- what is chosen ---- */

/* The order of weights that keeps more multipliers busy. */
static bool by_kernel(const tc_npu_machine *m, const tc_npu_op *op)
{
    double c = op->ifm.c, taps = (double)op->window.kh * op->window.kw;
    bool narrow = op->ifm.bytes == 1;
    if (op->kind != TC_NPU_KIND_CONV || op->weights_ifm2)
        return false;
    if (m->product == TC_U85) {
        double left = fmod(taps, 5), rounded = taps - left + (left > 2 ? left : 2);
        return c / (16 * ceil(c / 16)) * (taps / rounded) >= c / (64 * ceil(c / 64));
    }
    double step = narrow ? 4 : 2, deep = narrow ? 32 : 16;
    return c <= 8 || c / (8 * ceil(c / 8)) * (taps / (step * ceil(taps / step))) >=
                         c / (deep * ceil(c / deep));
}

/* Those of many channels are for channels by themselves, of 8 bits, on the small machines, and for
 * convolutions on the large ones. */
bool ti_npu_may_use(const tc_npu_machine *m, const tc_npu_op *op, int i)
{
    bool conv = op->kind == TC_NPU_KIND_CONV, sums = ti_npu_sums_channels(op),
         one = op->window.kh == 1 && op->window.kw == 1;
    int32_t bytes = op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_NONE ? 1 : op->ifm.bytes;
    if (!m->microblock[i].depth || ti_npu_is_pointwise(op) || m->macs == 512)
        return m->microblock[i].depth != 0;
    if (m->macs > 512)
        return m->microblock[i].depth == 16 ? !op->weights_ifm2 : conv;
    bool deep = m->microblock[i].depth == 16;
    if (bytes == 1)
        return sums ? !deep : deep;
    return bytes == 2 && conv && !op->weights_ifm2 && one && !op->window.part_kernel ? true : !deep;
}

static int choose_unit(const tc_npu_machine *m, const tc_npu_op *op)
{
    /* In this order the first of those that waste as little is taken. */
    static const int order[] = {1, 0, 2, 3, 4, 5}, wide[] = {3, 2, 4, 5, 1, 0};
    double least_waste = INFINITY;
    int best = 0;
    for (int k = 0; k < TC_NPU_MICROBLOCKS; k++) {
        int i = (m->macs <= 256 ? order : wide)[k];
        if (!ti_npu_may_use(m, op, i))
            continue;
        tc_npu_block u = m->microblock[i];
        double all = (double)ti_round_up_i32(op->ofm.h, u.h) * ti_round_up_i32(op->ofm.w, u.w) *
                     ti_round_up_i32(op->ofm.c, u.depth);
        if (all < least_waste) {
            least_waste = all;
            best = i;
        }
    }
    return best;
}

/* Elements that are fetched for each output; blocks whose inputs fit twice are worth half. */
static double fetched(const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_npu_block in = ti_npu_input_block(m, op, bits_of(op)), b = op->block;
    const tc_npu_window *k = &op->window;
    double h = (double)op->ofm.h / b.h, w = (double)op->ofm.w / b.w,
           d = (double)op->ofm.c / b.depth;
    double outputs = (double)op->ofm.h * op->ofm.w * op->ofm.c, channels = op->ifm.c;
    if (ti_npu_is_pointwise(op) || op->weights_ifm2) /* as large as possible */
        return outputs / ((double)b.h * b.w * b.depth);
    double repeats = ceil(((k->kw - 1) * k->dilation_x + 1) / 8.0) *
                     ceil(((k->kh - 1) * k->dilation_y + 1) / 8.0);
    double inputs =
        (double)in.h * in.w * channels * repeats * h * w * (ti_npu_sums_channels(op) ? ceil(d) : 1);
    double weights = 0;
    if (op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE)
        weights = (double)k->kh * k->kw * channels * ceil(h) * ceil(w) *
                  (op->kind == TC_NPU_KIND_CONV ? d * b.depth : 1);
    if (m->product == TC_U85 && op->kind != TC_NPU_KIND_CONV) /* as few and as large as possible */
        return (double)in.h * in.w * ceil(h) * ceil(w) / ((double)op->ofm.h * op->ofm.w) +
               1e-6 * ceil(h) * ceil(w) * ceil(d);
    bool twice = (double)op->ifm.h * op->ifm.w * op->ifm.c < 2.0 * in.h * in.w * in.depth;
    return (inputs + weights) / outputs / (twice ? 2 : 1);
}

/* How often a block's input goes into the whole input, by area. */
static double coverage(const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_npu_block in = ti_npu_input_block(m, op, bits_of(op));
    double area = (double)op->ifm.h * op->ifm.w;
    return area / fmax(1, (double)ti_min_i32(op->ifm.h, in.h) * ti_min_i32(op->ifm.w, in.w));
}

/* All blocks that fit, the one that fetches least; of equals the first, or a small one that covers
 * more. */
static bool search(const tc_npu_machine *m, tc_npu_op *op, tc_npu_block end, int32_t copies)
{
    tc_npu_block unit = ti_npu_block_step(m, op), best = {0};
    double least_fetched = INFINITY, least_uncovered = INFINITY;
    int32_t step = 16, first = most(unit.depth, ti_min_i32(end.depth, step));
    for (int32_t depth = first < op->ofm.c ? ti_round_up_i32(first, step) : first; depth <= end.depth;) {
        int32_t widest = end.w;
        for (int32_t h = unit.h; h <= end.h; h += unit.h)
            for (int32_t w = unit.w; w <= widest; w += unit.w) {
                op->block = (tc_npu_block){h, w, depth};
                if (!fits(m, op, copies)) {
                    widest = w - unit.w; /* nor does a wider one, here or with more rows */
                    break;
                }
                double f = fetched(m, op), uncovered = coverage(m, op);
                bool equal = fabs(f - least_fetched) <= 1e-7 * f;
                bool small = (h <= 4 && w <= 4) || op->weights_ifm2;
                if (equal ? small && uncovered <= least_uncovered : f < least_fetched) {
                    least_uncovered = equal ? uncovered : INFINITY;
                    least_fetched = f;
                    best = op->block;
                }
            }
        depth += unit.depth;
        if (depth < op->ofm.c)
            depth = ti_round_up_i32(depth, step);
    }
    op->block = best;
    return best.depth != 0;
}

/* Axes along which an operand is repeated, unless one of them is a single number. */
static uint8_t broadcast_of(const tc_npu_op *op)
{
    const tc_npu_map *map[] = {&op->ifm, &op->ifm2};
    uint8_t all = 0;
    for (size_t i = 0; i < TC_COUNT(map); i++) {
        const tc_npu_map *m = map[i];
        if (m->used && (m->broadcast & TC_BROADCAST_SCALAR ||
                        (m->broadcast && m->h == 1 && m->w == 1 && m->c == 1)))
            return 0;
        all |= m->used ? m->broadcast : 0;
    }
    return all;
}

/* Elementwise operations of U85 fill the output memory, sixteen channels wide and more if the width
 * is small; a broadcast operand uses the smaller chain memory. */
static void choose_pointwise(const tc_npu_machine *m, tc_npu_op *op)
{
    enum { SLOTS = 6, BRICK = 16 };
    tc_npu_block unit = ti_npu_unit(m, op);
    uint8_t broadcast = broadcast_of(op);
    int32_t bytes = op->ifm.bytes, w = ti_round_up_i32(op->ofm.w, unit.w), c = ti_round_up_i32(op->ofm.c, BRICK);
    int32_t wide = m->chain_ram / bytes / BRICK, few = m->out_ram / SLOTS / (BRICK * bytes),
            narrow = few / unit.h;
    int32_t parts = (op->ofm.h + m->most.h - 1) / m->most.h;
    int32_t h = ti_min_i32(ti_round_up_i32(op->ofm.h / parts, unit.h), m->most.h), depth = BRICK;
    int32_t need = most(ti_round_up_i32(ti_min_i32(ti_min_i32(w, wide), m->most.w), unit.w), unit.w);
    if (op->kind == TC_NPU_KIND_RESIZE) {
        op->block = (tc_npu_block){1, ti_min_i32(w, ti_npu_most_block(m, op).w), BRICK};
        return;
    }
    if (broadcast & TC_BROADCAST_C) {
        depth = ti_min_i32(c, m->most.depth);
        wide = narrow;
        if (broadcast == TC_BROADCAST_C) { /* rows as far as their columns leave room */
            int32_t rows = few / ti_min_i32(w, most(narrow, 1)) / unit.h * unit.h;
            h = ti_min_i32(h, most(rows, unit.h));
            wide = few / h;
        }
    } else {
        wide = broadcast & TC_BROADCAST_H ? narrow : wide;
        int32_t more = ti_min_i32(wide / need, ti_min_i32(c, m->most.depth) / BRICK);
        wide /= more > 1 ? more : 1;
        depth *= more > 1 ? more : 1;
    }
    op->block = (tc_npu_block){h, ti_min_i32(ti_round_up_i32(most(wide, 1), unit.w), m->most.w), depth};
}

void ti_npu_set_order(const tc_npu_machine *m, tc_npu_op *op)
{
    op->window.part_kernel = by_kernel(m, op);
    op->microblock = (uint8_t)(m->product == TC_U85 ? choose_unit(m, op) : 0);
}

void ti_npu_choose_block(const tc_npu_machine *m, tc_npu_op *op)
{
    ti_npu_set_order(m, op);
    tc_npu_block unit = ti_npu_block_step(m, op);
    tc_npu_block end = {ti_round_up_i32(ti_min_i32(op->ofm.h, m->most.h), unit.h),
                        ti_round_up_i32(ti_min_i32(op->ofm.w, m->most.w), unit.w),
                        ti_round_up_i32(ti_min_i32(op->ofm.c, m->most.depth),
                                 m->product == TC_U85 ? most(16, unit.depth) : unit.depth)};
    if (m->product == TC_U85 && ti_npu_is_pointwise(op)) {
        choose_pointwise(m, op);
        return;
    }
    bool alone = m->product == TC_U85 && op->kind != TC_NPU_KIND_CONV; /* one block at a time */
    if (!search(m, op, end, alone ? 1 : 2) && !search(m, op, end, 1))
        op->block = (tc_npu_block){unit.h, unit.w, most(unit.depth, 16)};
}
