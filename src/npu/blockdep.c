/* SPDX-License-Identifier: Apache-2.0 */
/* blockdep.c -- BLOCKDEP: how far an operation may overlap the one before.
 *
 * With BLOCKDEP d, job i of an operation begins when the last d - i blocks of the one before may be
 * unfinished.  So d is safe when for all i + j < d job i reads nothing of what the j-th last block
 * wrote.  Blocks are numbered depth first, then width, then height; a job is the input of a block,
 * the jobs adjacent.  If the operand's rows and columns are not those that the operation before
 * wrote, or only some of both, it is 0. */
#include "writer.h"

#include "block.h"

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
        b.hi[k] = ti_min_i32(b.lo[k] + step[k], area[k]);
    return b;
}

static int64_t pieces(const int32_t area[3], const int32_t step[3])
{
    int64_t n = 1;
    for (int k = 0; k < 3; k++)
        n *= (area[k] + step[k] - 1) / step[k];
    return n;
}

static bool overlap(tc_npu_range a, tc_npu_range b)
{
    return a.lo < b.hi && b.lo < a.hi;
}

/* Two consecutive operations. */
typedef struct pair {
    const tc_npu_machine *machine;
    bool apart; /* regions 1 and 2 are two memories */
    const tc_npu_op *before, *op;
    tc_npu_range written; /* by the one before */
    int32_t most;
} pair;

/* Whether bytes of the region are among those that were written. */
static bool was_written(const pair *p, uint8_t region, tc_npu_range bytes)
{
    uint8_t to = p->before->ofm.region;
    bool same = region == to || (!p->apart && region && to && region + to == 3);
    return same && overlap(bytes, p->written);
}

/* ---- two maps as parts of one ---- */

/* The parts of a map: its upper and its lower tile. */
typedef struct place {
    int32_t rows;     /* of the upper one */
    int32_t at[2][3]; /* where each begins, in elements */
} place;

/* Offset of an address from the beginning. */
static void split(const tc_npu_map *m, uint64_t bytes, int32_t at[3])
{
    bool bricks = m->format == TC_NHCWB16;
    uint64_t row = (uint64_t)m->stride_y, left = bytes % row, z = 0,
             step = bricks ? 16u * m->bytes : (uint64_t)m->stride_x;
    if (bricks) {
        z = left / (uint64_t)m->stride_c;
        left %= (uint64_t)m->stride_c;
    }
    at[0] = (int32_t)(bytes / row);
    at[1] = (int32_t)(left / step);
    at[2] = (int32_t)(left % step / m->bytes + 16 * z);
}

/* Whether an element's position follows from its address: rows after whole rows, columns after
 * whole columns. */
static bool is_nested(const tc_npu_map *m, const int32_t at[3])
{
    int64_t deep = (int64_t)at[2] + m->c, wide = (int64_t)at[1] + m->w;
    if (m->format == TC_NHCWB16)
        return at[2] % 16 == 0 && m->stride_c >= 16 * m->bytes * wide &&
               m->stride_y >= (deep + 15) / 16 * m->stride_c;
    return m->stride_x >= deep * m->bytes && m->stride_y >= wide * m->stride_x;
}

static bool is_even(const tc_npu_map *m)
{
    return m->width0 >= m->w && m->stride_y > 0 && m->stride_x > 0 && m->stride_c > 0;
}

static uint64_t first_of(const tc_npu_map *m)
{
    bool two = m->h > m->height0;
    return two && m->base[2] < m->base[0] ? m->base[2] : m->base[0];
}

static bool find_place(const tc_npu_map *m, uint64_t begin, place *out)
{
    bool fits = true;
    *out = (place){.rows = m->height0};
    for (int t = 0; t < (m->h > m->height0 ? 2 : 1); t++) {
        uint64_t apart = m->base[2 * t] - begin;
        split(m, apart, out->at[t]);
        fits = fits && apart % m->bytes == 0 && apart >> 30 == 0 && is_nested(m, out->at[t]);
    }
    return fits;
}

/* Whether rows, columns and channels of both are those of one map. */
static bool find_places(const tc_npu_map *a, const tc_npu_map *b, place *of_a, place *of_b)
{
    bool bricks = a->format == TC_NHCWB16;
    if (a->region != b->region || a->format != b->format || a->bytes != b->bytes || !is_even(a) ||
        !is_even(b) || a->stride_y != b->stride_y ||
        (bricks ? a->stride_c != b->stride_c : a->stride_x != b->stride_x))
        return false;
    uint64_t begin = first_of(a) < first_of(b) ? first_of(a) : first_of(b);
    return find_place(a, begin, of_a) && find_place(b, begin, of_b);
}

/* The part of a box in a tile, in the tile's coordinates; false: none. */
static bool in_tile(const box *b, const place *p, int tile, box *out)
{
    int32_t from = tile ? p->rows : 0, to = tile ? INT32_MAX : p->rows;
    *out = *b;
    out->lo[0] = (b->lo[0] > from ? b->lo[0] : from) - from;
    out->hi[0] = ti_min_i32(b->hi[0], to) - from;
    for (int k = 0; k < 3; k++) {
        out->lo[k] += p->at[tile][k];
        out->hi[k] += p->at[tile][k];
    }
    return out->lo[0] < out->hi[0];
}

static bool touch(const box *a, const box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->lo[k] >= b->hi[k] || b->lo[k] >= a->hi[k])
            return false;
    return true;
}

static bool meet(const box *a, const place *of_a, const box *b, const place *of_b)
{
    box x, y;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (in_tile(a, of_a, i, &x) && in_tile(b, of_b, j, &y) && touch(&x, &y))
                return true;
    return false;
}

/* ---- jobs ---- */

/* Input of an output block. */
static void job_of(const tc_npu_machine *machine, const tc_npu_op *op, int32_t out[3])
{
    const tc_npu_window *k = &op->window;
    bool starts = !op->ifm.used; /* from ifm2, which is all its input */
    int32_t bits = 8 * (starts ? op->ifm2.bytes : op->ifm.bytes);
    out[0] = op->block.h;
    out[1] = op->block.w;
    out[2] = bits > 0 ? ti_npu_input_block(machine, op, bits).depth : 0;
    if (op->kind == TC_NPU_KIND_ELEMENTWISE)
        return;
    out[0] = (op->block.h - 1) * k->stride_y + (k->kh - 1) * k->dilation_y + 1;
    out[1] = (op->block.w - 1) * k->stride_x + (k->kw - 1) * k->dilation_x + 1;
}

static int32_t by_jobs(const pair *p, const tc_npu_map *m, const place *of_read,
                       const place *of_written)
{
    const tc_npu_block *b = &p->before->block;
    const tc_npu_map *o = &p->before->ofm;
    const int32_t in[3] = {m->h, m->w, m->c}, out[3] = {o->h, o->w, o->c},
                  block[3] = {b->h, b->w, b->depth};
    int32_t job[3];
    job_of(p->machine, p->op, job);
    for (int k = 0; k < 3; k++)
        if (block[k] < 1 || job[k] < 1)
            return 0;
    int64_t written = pieces(out, block), read = pieces(in, job), most = p->most;
    most = most < written ? most : written;
    most = most < read ? most : read;
    for (int32_t d = 0; d < most; d++)
        for (int32_t i = 0; i <= d; i++) {
            box r = piece(in, job, i), w = piece(out, block, written - 1 - (d - i));
            if (meet(&r, of_read, &w, of_written))
                return d;
        }
    return (int32_t)most;
}

static int32_t by_operand(const pair *p, const tc_npu_map *m)
{
    const tc_npu_op *op = p->op;
    if (!m->used || !was_written(p, m->region, ti_npu_map_range(m, m->h, m->w, m->c)))
        return p->most;
    place read, written;
    bool weights = op->weights_ifm2 && m == &op->ifm2;
    if (m->broadcast || weights || op->window.upscale || op->kind == TC_NPU_KIND_RESIZE ||
        !find_places(m, &p->before->ofm, &read, &written))
        return 0;
    return by_jobs(p, m, &read, &written);
}

/* Weights and scales that the operation before has just written. */
static bool reads_as_stream(const pair *p)
{
    const tc_npu_op *op = p->op;
    bool weighs = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE;
    bool scales = (weighs || op->kind == TC_NPU_KIND_POOL) && op->per_channel && op->acc_output;
    bool found = false;
    for (int i = 0; weighs && !op->weights_ifm2 && i < op->cores; i++) {
        int64_t at = (int64_t)op->weights.base[i], end = at + (int64_t)op->weights.bytes[i];
        found = found || was_written(p, op->weights.region, (tc_npu_range){at, end});
    }
    for (int i = 0; scales && i < 2; i++) {
        int64_t at = (int64_t)op->scale_base[i], end = at + (int64_t)op->scale_bytes[i];
        found = found || was_written(p, op->scale_region, (tc_npu_range){at, end});
    }
    return found;
}

uint8_t ti_npu_blockdep_in(const tc_npu_machine *machine, bool apart, const tc_npu_op *before,
                           const tc_npu_op *op)
{
    bool shared = machine->product != TC_U85 && machine->banks == 16; /* tables share the memory */
    if (!before || before->transpose || before->reverse ||
        (shared && before->function == TC_NPU_LOOKUP && op->function != TC_NPU_LOOKUP))
        return 0;
    pair p = {machine, apart, before, op, {0, 0}, machine->product == TC_U85 ? 7 : 3};
    const tc_npu_map *out = &before->ofm;
    if (out->used && before->acc_output)
        p.written = ti_npu_map_range(out, out->h, out->w, out->c);
    if (reads_as_stream(&p))
        return 0;
    return (uint8_t)ti_min_i32(by_operand(&p, &op->ifm), by_operand(&p, &op->ifm2));
}

uint8_t ti_npu_blockdep(const tc_npu_machine *machine, const tc_npu_op *before, const tc_npu_op *op)
{
    return ti_npu_blockdep_in(machine, false, before, op);
}
