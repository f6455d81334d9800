/* SPDX-License-Identifier: Apache-2.0 */
/* share.c -- region 0 of several programs: equal weights are packed alike, and are stored once. */
#include "hw.h"

#include "../npu/block.h"

uint64_t ti_hw_hash(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* Elements of so many channels. */
static size_t numbers_of(const tc_hw_op *op, int32_t channels)
{
    const tc_npu_op *o = &op->op;
    return (size_t)channels * (size_t)o->window.kh * (size_t)o->window.kw *
           (size_t)(o->kind == TC_NPU_KIND_DEPTHWISE ? 1 : o->ifm.c);
}

const tc_codegen_packing *ti_hw_known(const tc_hw *hw, const tc_hw_op *op)
{
    const tc_codegen_shared *before = hw->options->before;
    if (!before || !before->n_packing || !op->weight)
        return NULL;
    size_t n = numbers_of(op, op->op.ofm.c);
    uint64_t hash = ti_hw_hash(op->weight, n * sizeof *op->weight);
    for (size_t i = 0; i < before->n_packing; i++) {
        const tc_codegen_packing *p = &before->packing[i];
        if (p->hash == hash && p->n == n && p->channels == op->op.ofm.c)
            return p;
    }
    return NULL;
}

void ti_hw_know(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_op; i++)
        hw->op[i].known = ti_hw_known(hw, &hw->op[i]);
}

int64_t ti_hw_there(const tc_hw *hw, uint64_t hash, const void *data, size_t bytes)
{
    const tc_codegen_shared *before = hw->options->before;
    for (size_t i = 0; before && i < before->n_piece; i++) {
        const tc_codegen_piece *p = &before->piece[i];
        if (p->hash == hash && p->bytes == bytes && !memcmp(before->weights.data + p->at, data, bytes))
            return (int64_t)p->at;
    }
    return -1;
}

/* ---- what is left for the next one ---- */

static void leave_pieces(const tc_hw *hw, tc_codegen_shared *out)
{
    const tc_codegen_shared *before = hw->options->before;
    out->piece = tc_new_n(&hw->ctx->arena, tc_codegen_piece, before->n_piece + hw->n_root + 1);
    for (; out->n_piece < before->n_piece; out->n_piece++)
        out->piece[out->n_piece] = before->piece[out->n_piece];
    for (size_t i = 0; i < hw->n_root; i++) {
        const tc_root *r = &hw->root[i];
        if (r->kind != TC_ROOT_CONSTANT || r->address < (int64_t)before->weights.size)
            continue;
        size_t bytes = (size_t)(r->count * r->bytes);
        out->piece[out->n_piece++] =
            (tc_codegen_piece){ti_hw_hash(r->data, bytes), (size_t)r->address, bytes};
    }
}

static void leave_packing(const tc_hw *hw, const tc_hw_op *op, int32_t channels, int32_t step,
                          int32_t more, tc_codegen_shared *out)
{
    size_t n = numbers_of(op, channels);
    tc_codegen_packing p = {.hash = ti_hw_hash(op->weight, n * sizeof *op->weight),
                            .n = n,
                            .channels = channels,
                            .step = step,
                            .more = more};
    if (step == channels) {
        p.depth = op->op.block.depth;
        p.unit = ti_npu_unit(hw->machine, &op->op).depth;
        p.part_kernel = op->op.window.part_kernel;
        p.fast = hw->packed[op->packed].fast;
    }
    out->packing[out->n_packing++] = p;
}

void ti_hw_leave(const tc_hw *hw, tc_bytes weights, tc_codegen_shared *out)
{
    const tc_codegen_shared *before = hw->options->before;
    *out = (tc_codegen_shared){.weights = weights};
    leave_pieces(hw, out);
    out->packing =
        tc_new_n(&hw->ctx->arena, tc_codegen_packing, before->n_packing + 2 * hw->n_op + 1);
    for (; out->n_packing < before->n_packing; out->n_packing++)
        out->packing[out->n_packing] = before->packing[out->n_packing];
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        if (!op->weight || op->packed < 0)
            continue;
        if (op->cut_of)
            leave_packing(hw, op, op->cut_of, op->op.ofm.c, op->more, out);
        leave_packing(hw, op, op->op.ofm.c, op->op.ofm.c, 0, out);
    }
}
