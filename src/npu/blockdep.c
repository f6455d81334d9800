/* SPDX-License-Identifier: Apache-2.0 */
/* blockdep.c -- how far an operation may run ahead of the end of the one before.
 *
 * With BLOCKDEP d, job i of an operation begins when the last d - i blocks of the one before may be
 * unfinished.  So d is safe when for all i + j < d job i reads nothing of what the j-th last block
 * wrote.  Blocks are numbered depth first, then width, then height; a job is the input of a block,
 * the jobs side by side.  Where the operand is not just what the operation before wrote, row for
 * row, it is 0. */
#include "npu_write.h"

#include "block.h"

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

typedef struct box {
    int32_t lo[3], hi[3]; /* height, width, depth */
} box;

/* The n-th piece of an area. */
static box piece(const int32_t area[3], const int32_t step[3], int64_t n)
{
    int32_t wide = (area[1] + step[1] - 1) / step[1], deep = (area[2] + step[2] - 1) / step[2];
    box b = {.lo = {(int32_t)(n / deep / wide) * step[0], (int32_t)(n / deep % wide) * step[1],
                    (int32_t)(n % deep) * step[2]}};
    for (int k = 0; k < 3; k++)
        b.hi[k] = least(b.lo[k] + step[k], area[k]);
    return b;
}

static int64_t pieces(const int32_t area[3], const int32_t step[3])
{
    int64_t n = 1;
    for (int k = 0; k < 3; k++)
        n *= (area[k] + step[k] - 1) / step[k];
    return n;
}

static bool meet(box a, box b)
{
    for (int k = 0; k < 3; k++)
        if (a.lo[k] >= b.hi[k] || b.lo[k] >= a.hi[k])
            return false;
    return true;
}

static bool overlap(tc_npu_range a, tc_npu_range b)
{
    return a.lo < b.hi && b.lo < a.hi;
}

/* Regions 1 and 2 may be one memory. */
static bool may_be_same(uint8_t a, uint8_t b)
{
    return a == b || (a + b == 3 && a && b);
}

static bool is_one_tile(const tc_npu_map *m)
{
    return m->height0 >= m->h && m->width0 >= m->w;
}

/* Whether both name each element by the same address. */
static bool same_frame(const tc_npu_map *a, const tc_npu_map *b)
{
    bool strides = a->stride_y == b->stride_y && a->stride_x == b->stride_x &&
                   (a->format == TC_NHWC || a->stride_c == b->stride_c);
    return a->region == b->region && a->base[0] == b->base[0] && a->format == b->format &&
           a->bytes == b->bytes && a->h == b->h && a->w == b->w && a->c == b->c && strides &&
           is_one_tile(a) && is_one_tile(b);
}

/* Input of an output block. */
static void job_of(const tc_npu_machine *machine, const tc_npu_op *op, int32_t out[3])
{
    const tc_npu_window *k = &op->window;
    tc_npu_block in = ti_npu_input_block(machine, op, 8 * op->ifm.bytes);
    out[0] = op->block.h;
    out[1] = op->block.w;
    out[2] = in.depth;
    if (op->kind == TC_NPU_KIND_ELEMENTWISE)
        return;
    out[0] = (op->block.h - 1) * k->stride_y + (k->kh - 1) * k->dilation_y + 1;
    out[1] = (op->block.w - 1) * k->stride_x + (k->kw - 1) * k->dilation_x + 1;
}

static int32_t by_jobs(const tc_npu_machine *machine, const tc_npu_op *before, const tc_npu_op *op,
                       const tc_npu_map *m, int32_t most)
{
    const int32_t area[3] = {m->h, m->w, m->c},
                  block[3] = {before->block.h, before->block.w, before->block.depth};
    int32_t job[3];
    job_of(machine, op, job);
    for (int k = 0; k < 3; k++)
        if (block[k] < 1 || job[k] < 1)
            return 0;
    int64_t written = pieces(area, block), read = pieces(area, job);
    most = (int32_t)(most < written ? most : written);
    most = (int32_t)(most < read ? most : read);
    for (int32_t d = 0; d < most; d++)
        for (int32_t i = 0; i <= d; i++)
            if (meet(piece(area, job, i), piece(area, block, written - 1 - (d - i))))
                return d;
    return most;
}

static int32_t by_operand(const tc_npu_machine *machine, const tc_npu_op *before,
                          const tc_npu_op *op, const tc_npu_map *m, int32_t most)
{
    int32_t h, w, c;
    ti_npu_written(before, &h, &w, &c);
    if (!m->used || !before->ofm.used || !may_be_same(m->region, before->ofm.region) ||
        !overlap(ti_npu_map_range(m, m->h, m->w, m->c), ti_npu_map_range(&before->ofm, h, w, c)))
        return most;
    bool weights = op->weights_ifm2 && m == &op->ifm2;
    if (m->broadcast || weights || op->window.upscale || op->kind == TC_NPU_KIND_RESIZE ||
        !same_frame(m, &before->ofm))
        return 0;
    return by_jobs(machine, before, op, m, most);
}

/* Weights and scales that the operation before has just written. */
static bool reads_as_stream(const tc_npu_op *before, const tc_npu_op *op)
{
    int32_t h, w, c;
    ti_npu_written(before, &h, &w, &c);
    if (!before->ofm.used || !before->acc_output)
        return false;
    tc_npu_range written = ti_npu_map_range(&before->ofm, h, w, c);
    bool weighs =
        (op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE) && !op->weights_ifm2;
    for (int i = 0; weighs && i < op->cores; i++) {
        int64_t at = (int64_t)op->weights.base[i];
        if (may_be_same(op->weights.region, before->ofm.region) &&
            overlap(written, (tc_npu_range){at, at + (int64_t)op->weights.bytes[i]}))
            return true;
    }
    bool scales = op->kind != TC_NPU_KIND_ELEMENTWISE && op->kind != TC_NPU_KIND_RESIZE &&
                  op->per_channel && op->acc_output;
    for (int i = 0; scales && i < 2; i++) {
        int64_t at = (int64_t)op->scale_base[i];
        if (may_be_same(op->scale_region, before->ofm.region) &&
            overlap(written, (tc_npu_range){at, at + (int64_t)op->scale_bytes[i]}))
            return true;
    }
    return false;
}

uint8_t ti_npu_blockdep(const tc_npu_machine *machine, const tc_npu_op *before, const tc_npu_op *op)
{
    int32_t most = machine->product == TC_U85 ? 7 : 3;
    bool shared = machine->product != TC_U85 && machine->banks == 16; /* tables lie among the rest */
    if (!before || before->transpose || before->reverse || reads_as_stream(before, op) ||
        (shared && before->function == 16 && op->function != 16))
        return 0;
    int32_t first = by_operand(machine, before, op, &op->ifm, most),
            second = by_operand(machine, before, op, &op->ifm2, most);
    return (uint8_t)least(first, second);
}
