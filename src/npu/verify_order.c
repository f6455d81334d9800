/* SPDX-License-Identifier: Apache-2.0 */
/* verify_order.c -- kernel after kernel: what the first block reads is not among the blocks that
 * the operation before may still be writing.
 *
 * BLOCKDEP d lets an operation begin while the last d blocks of the one before are unfinished.
 * Blocks are counted depth first, then width, then height.  Only maps in one tile with unchanged
 * axes are checked. */
#include "verifier.h"

#include "block.h"

/* h x w x c elements of a map from (y, x, z) on; false: not distinguishable from their
 * neighbours. */
static bool part(const tc_npu_map *m, const int32_t at[3], int32_t h, int32_t w, int32_t c,
                 tc_npu_access *out)
{
    bool bricks = m->format == TC_NHCWB16;
    int64_t step = bricks ? 16 * m->bytes : m->stride_x;
    bool one_tile = m->height0 >= m->h && m->width0 >= m->w;
    bool apart = m->storage > TC_STORE_TILES_3X1 || m->broadcast & TC_BROADCAST_SCALAR;
    if (!m->used || !one_tile || apart || (bricks && at[2] % 16) || h < 1 || w < 1 || c < 1)
        return false;
    *out = (tc_npu_access){.exact = true, .map = *m, .h = h, .w = w, .c = c};
    int64_t deep = bricks ? at[2] / 16 * m->stride_c : at[2] * m->bytes;
    out->map.base[0] += (uint64_t)(at[0] * m->stride_y + at[1] * step + deep);
    out->map.height0 = out->map.height1 = out->map.width0 = INT32_MAX;
    out->range = ti_npu_map_range(&out->map, h, w, c);
    return true;
}

/* The part of the ifm that the first block of the output is made of. */
static bool first_read(const tc_npu_machine *machine, const tc_npu_op *op, const tc_npu_map *m,
                       tc_npu_access *out)
{
    static const int32_t origin[3] = {0, 0, 0};
    const tc_npu_window *k = &op->window;
    int32_t h = ti_min_i32(op->block.h, op->ofm.h), w = ti_min_i32(op->block.w, op->ofm.w);
    int32_t c = ti_min_i32(ti_npu_ifm_block(machine, op).depth, m->c);
    if (op->kind == TC_NPU_KIND_RESIZE || op->weights_ifm2)
        return false;
    if (op->kind != TC_NPU_KIND_ELEMENTWISE) {
        if (k->upscale)
            return false;
        h = (h - 1) * k->stride_y + ti_min_i32((k->kh - 1) * k->dilation_y + 1, 8) - k->top;
        w = (w - 1) * k->stride_x + ti_min_i32((k->kw - 1) * k->dilation_x + 1, 8) - k->left;
    }
    return part(m, origin, ti_min_i32(h, m->h), ti_min_i32(w, m->w), c, out);
}

/* Block i of an output, from the last one on. */
static bool last_written(const tc_npu_op *op, int32_t i, tc_npu_access *out)
{
    const tc_npu_map *m = &op->ofm;
    const tc_npu_block *b = &op->block;
    int32_t ny = (m->h + b->h - 1) / b->h, nx = (m->w + b->w - 1) / b->w,
            nz = (m->c + b->depth - 1) / b->depth;
    int64_t n = (int64_t)ny * nx * nz - 1 - i;
    if (n < 0)
        return false;
    int32_t at[3] = {(int32_t)(n / nz / nx) * b->h, (int32_t)(n / nz % nx) * b->w,
                     (int32_t)(n % nz) * b->depth};
    return part(m, at, ti_min_i32(b->h, m->h - at[0]), ti_min_i32(b->w, m->w - at[1]),
                ti_min_i32(b->depth, m->c - at[2]), out);
}

static bool is_plain(const tc_npu_op *op)
{
    return !op->transpose && !op->reverse && op->acc_output && op->cores == 1 && op->block.h > 0 &&
           op->block.w > 0 && op->block.depth > 0 && op->ofm.storage != TC_STORE_CHAIN;
}

static void check_operand(tc_npu_verifier *v, const tc_npu_op *op, const tc_npu_map *m,
                          const char *what)
{
    tc_npu_access read, write;
    if (!first_read(v->machine, op, m, &read) || m->region != v->last.ofm.region)
        return;
    for (int32_t i = 0; i < op->blockdep; i++)
        if (last_written(&v->last, i, &write) && ti_npu_overlap(v, &read, &write)) {
            ti_npu_found(v, TC_CHECK_WAIT,
                         "its first block of the %s is read while operation %zu may still write "
                         "its last %d blocks",
                         what, v->last.number, op->blockdep);
            return;
        }
}

void ti_npu_verify_order(tc_npu_verifier *v, const tc_npu_op *op)
{
    bool follows = v->has_last && v->n_kernel && !v->branches && !v->in_chain;
    if (follows && op->blockdep && is_plain(&v->last) && is_plain(op)) {
        check_operand(v, op, &op->ifm, "ifm");
        if (op->kind == TC_NPU_KIND_ELEMENTWISE)
            check_operand(v, op, &op->ifm2, "ifm2");
    }
    v->last = *op;
    v->has_last = true;
}
