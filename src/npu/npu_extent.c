/* SPDX-License-Identifier: Apache-2.0 */
/* npu_extent.c -- how far a stream's operations reach into each region. */
#include "npu_extent.h"

typedef enum way { READS, WRITES } way;

static void add(tc_npu_extents *e, int region, int64_t lo, int64_t hi, way how)
{
    if (lo == hi)
        return;
    e->before[region] |= lo < 0;
    e->end[region] = hi > e->end[region] ? hi : e->end[region];
    e->read[region] |= how == READS;
    e->written[region] |= how == WRITES;
}

static void add_map(tc_npu_extents *e, const tc_npu_map *m, int32_t h, int32_t w, int32_t c, way how)
{
    if (!m->used || m->storage > TC_STORE_TILES_3X1)
        return;
    tc_npu_range r = ti_npu_map_range(m, h, w, c);
    add(e, m->region, r.lo, r.hi, how);
}

/* Of registers of any stream: kept within 2^60. */
static int64_t times(int64_t a, int64_t b)
{
    const double most = 1152921504606846976.0, product = (double)a * (double)b;
    return product > most ? (int64_t)most : product < -most ? -(int64_t)most : a * b;
}

/* One side of a copy. */
static void add_side(tc_npu_extents *e, const tc_npu_dma *d, bool to)
{
    int64_t at = (int64_t)(to ? d->dst : d->src), row = to ? d->dst_row : d->src_row;
    int64_t plane = times(d->planes - 1, to ? d->dst_plane : d->src_plane);
    int64_t rows = times((to ? d->dst_indexed : d->src_indexed) ? d->index_max : d->rows - 1, row);
    int64_t below = (rows < 0 ? rows : 0) + (plane < 0 ? plane : 0);
    int64_t above = (rows > 0 ? rows : 0) + (plane > 0 ? plane : 0);
    if (!(to ? d->dst_internal : d->src_internal) && d->bytes)
        add(e, to ? d->dst_region : d->src_region, at + below, at + above + (int64_t)d->bytes,
            to ? WRITES : READS);
}

static void add_dma(tc_npu_extents *e, const tc_npu_dma *d)
{
    add_side(e, d, false);
    add_side(e, d, true);
    if (d->src_indexed || d->dst_indexed) {
        int64_t at = (int64_t)d->index, plane = 4 * d->rows + d->index_skip;
        add(e, d->index_region, at, at + times(d->planes - 1, plane) + 4 * d->rows, READS);
    }
}

static void add_constants(tc_npu_extents *e, const tc_npu_op *op)
{
    bool weights = (op->kind == TC_NPU_KIND_CONV && !op->weights_ifm2) ||
                   op->kind == TC_NPU_KIND_DEPTHWISE;
    for (int i = 0; weights && i < TC_NPU_CORES; i++) {
        int64_t at = (int64_t)op->weights.base[i];
        add(e, op->weights.region, at, at + (int64_t)op->weights.bytes[i], READS);
    }
    for (int i = 0; op->per_channel && i < 2; i++) {
        int64_t at = (int64_t)op->scale_base[i];
        add(e, op->scale_region, at, at + (int64_t)op->scale_bytes[i], READS);
    }
}

void ti_npu_extents_add(tc_npu_extents *e, const tc_npu_op *op)
{
    int32_t h, w, c;
    if (op->kind == TC_NPU_KIND_DMA)
        add_dma(e, &op->dma);
    if (!ti_npu_is_kernel(op->kind))
        return;
    ti_npu_written(op, &h, &w, &c);
    add_map(e, &op->ofm, h, w, c, WRITES);
    add_map(e, &op->ifm, op->ifm.h, op->ifm.w, op->ifm.c, READS);
    add_map(e, &op->ifm2, op->ifm2.h, op->ifm2.w, op->ifm2.c, READS);
    add_constants(e, op);
}
