/* SPDX-License-Identifier: Apache-2.0 */
/* op_range.c -- how far an operation's maps reach. */
#include "npu_op.h"

void ti_npu_written(const tc_npu_op *op, int32_t *h, int32_t *w, int32_t *c)
{
    static const uint8_t axis[8][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0},
                                       {0, 1, 2}, {0, 1, 2}, {2, 0, 1}, {2, 1, 0}};
    const int32_t from[3] = {op->ofm.h, op->ofm.w, op->ofm.c};
    const uint8_t *to = axis[op->transpose];
    *h = from[to[0]];
    *w = from[to[1]];
    *c = from[to[2]];
}

/* Tiles are at most 65536 elements wide and high, strides of 40 bits: all of it fits 64. */
static void reach(tc_npu_range *r, const tc_npu_map *m, int tile, int32_t h, int32_t w, int32_t c)
{
    bool bricks = m->format == TC_NHCWB16;
    int64_t e = m->bytes, step_x = bricks ? 16 * e : m->stride_x, base = (int64_t)m->base[tile];
    int64_t last_c = bricks ? (c - 1) / 16 * m->stride_c : (c - 1) * e;
    int64_t end_c = bricks ? (c > 16 ? 16 : c) * e
                           : e; /* past the last; a brick may be stepped over backwards */
    int64_t y = (h - 1) * m->stride_y, x = (w - 1) * step_x;
    int64_t lo = base + (y < 0 ? y : 0) + (x < 0 ? x : 0) + (last_c < 0 ? last_c : 0);
    int64_t hi = base + (y > 0 ? y : 0) + (x > 0 ? x : 0) + (last_c > 0 ? last_c : 0);
    if (bricks && last_c > 0 && c % 16) {
        /* The last brick is not full: what ends last may be the one before it. */
        int64_t partial = last_c + (c % 16) * e, full = last_c - m->stride_c + 16 * e;
        hi += (partial > full ? partial : full) - last_c;
    } else
        hi += end_c;
    if (r->hi == r->lo)
        *r = (tc_npu_range){lo, hi};
    r->lo = lo < r->lo ? lo : r->lo;
    r->hi = hi > r->hi ? hi : r->hi;
}

tc_npu_range ti_npu_map_range(const tc_npu_map *m, int32_t h, int32_t w, int32_t c)
{
    tc_npu_range r = {0, 0};
    if (m->broadcast & TC_BROADCAST_SCALAR || m->storage > TC_STORE_TILES_3X1 || h < 1 || w < 1 ||
        c < 1)
        return r;
    int32_t left = ti_min_i32(w, m->width0);
    reach(&r, m, 0, ti_min_i32(h, m->height0), left, c);
    if (h > m->height0)
        reach(&r, m, 2, h - m->height0, left, c);
    if (w > m->width0) {
        reach(&r, m, 1, ti_min_i32(h, m->height1), w - m->width0, c);
        if (h > m->height1)
            reach(&r, m, 3, h - m->height1, w - m->width0, c);
    }
    return r;
}
