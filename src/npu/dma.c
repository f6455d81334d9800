/* SPDX-License-Identifier: Apache-2.0 */
/* dma.c -- DMA: planes of rows of bytes, from memory to memory or into the memory of tables.
 *
 *   row i of plane j goes from src + j src_plane + i src_row to dst + j dst_plane + i dst_row;
 *   where a side is indexed, i is the 32-bit number at index + 4 i + j (4 rows + skip) for it. */
#include "state.h"

static bool read_index(tc_npu_exec *x, const tc_npu_dma *d, int64_t j, int64_t i, int64_t *out)
{
    uint64_t at = d->index + 4 * (uint64_t)i + (uint64_t)(j * (4 * d->rows + d->index_skip));
    const uint8_t *p = ti_npu_span(x, d->index_region, at, 4);
    if (!p)
        return ti_npu_outside(x, d->index_region, "an index of a DMA lies outside region %d",
                              d->index_region);
    *out = (int32_t)ti_le32(p);
    if (*out < 0 || *out > d->index_max)
        return ti_npu_fail(x, "a DMA has the index %" PRId64 ", the largest is %" PRId64, *out,
                           d->index_max);
    return true;
}

static bool copy_row(tc_npu_exec *x, const tc_npu_dma *d, int64_t j, int64_t i)
{
    int64_t from = i, to = i;
    if (d->src_indexed && !read_index(x, d, j, i, &from))
        return false;
    if (d->dst_indexed && !read_index(x, d, j, i, &to))
        return false;
    int src_region = d->src_internal ? TC_NPU_INTERNAL : d->src_region;
    int dst_region = d->dst_internal ? TC_NPU_INTERNAL : d->dst_region;
    uint64_t a = d->src + (uint64_t)(j * d->src_plane) + (uint64_t)from * (uint64_t)d->src_row;
    uint64_t b = d->dst + (uint64_t)(j * d->dst_plane) + (uint64_t)to * (uint64_t)d->dst_row;
    const uint8_t *p = ti_npu_span(x, src_region, a, d->bytes),
                  *q = ti_npu_span(x, dst_region, b, d->bytes);
    if (!p || !q)
        return ti_npu_outside(x, p ? dst_region : src_region,
                              "a DMA of %" PRIu64 " bytes lies outside region %d: byte %" PRIu64,
                              d->bytes, p ? dst_region : src_region, p ? b : a);
    memmove((uint8_t *)(uintptr_t)q, p, (size_t)d->bytes);
    return true;
}

bool ti_npu_copy(tc_npu_exec *x, const tc_npu_op *op)
{
    const tc_npu_dma *d = &op->dma;
    if (!ti_npu_spend(x, (double)d->rows * (double)d->planes * (1 + (double)d->bytes)))
        return false;
    for (int64_t j = 0; j < d->planes; j++)
        for (int64_t i = 0; i < d->rows; i++)
            if (!copy_row(x, d, j, i))
                return false;
    return true;
}
