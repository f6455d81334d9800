/* SPDX-License-Identifier: Apache-2.0 */
/* npu_text.c -- see npu_text.h. */
#include "npu_text.h"

const char *ti_npu_op_name(tc_arena *arena, const tc_npu_op *op)
{
    const char *mode = ti_npu_mode_name(op->kind, op->mode);
    return *mode == '?' ? ti_npu_kind_name(op->kind)
                        : ti_text_format(arena, "%s %s", ti_npu_kind_name(op->kind), mode);
}

void ti_npu_weight_bytes(const tc_npu_op *op, uint64_t *encoded, uint64_t *plain)
{
    *encoded = 0;
    for (int i = 0; i < op->cores && i < TC_NPU_CORES; i++)
        *encoded += op->weights.bytes[i];
    uint64_t in = op->kind == TC_NPU_KIND_DEPTHWISE ? 1 : (uint64_t)op->ifm.c;
    *plain = (uint64_t)op->ofm.c * (uint64_t)op->window.kh * (uint64_t)op->window.kw * in;
}

static void put_map(tc_buf *out, const tc_npu_op *op, const tc_npu_map *m)
{
    if (m->broadcast & TC_BROADCAST_SCALAR) {
        ti_buf_printf(out, "%" PRId64, op->scalar);
        return;
    }
    ti_buf_printf(out, "%dx%dx%d %c%d ", m->h, m->w, m->c, m->is_signed ? 'i' : 'u', 8 * m->bytes);
    if (m->storage == TC_STORE_CHAIN)
        ti_buf_printf(out, "chain %d", m->region);
    else if (m->storage == TC_STORE_NONE)
        ti_buf_text(out, "nowhere");
    else
        ti_buf_printf(out, "r%d+%#" PRIx64 "%s", m->region, m->base[0],
                      m->format == TC_NHCWB16 ? " bricks" : "");
}

static void put_window(tc_buf *out, const tc_npu_window *w)
{
    static const char *const upscale[] = {"", ", upscale nearest", ", upscale zeros", ""};
    if (w->kh > 1 || w->kw > 1)
        ti_buf_printf(out, ", %dx%d", w->kh, w->kw);
    if (w->stride_y > 1 || w->stride_x > 1)
        ti_buf_printf(out, ", stride %dx%d", w->stride_y, w->stride_x);
    if (w->dilation_y > 1 || w->dilation_x > 1)
        ti_buf_printf(out, ", dilation %dx%d", w->dilation_y, w->dilation_x);
    if (w->top || w->left || w->bottom || w->right)
        ti_buf_printf(out, ", pad %d,%d,%d,%d", w->top, w->left, w->bottom, w->right);
    ti_buf_text(out, upscale[w->upscale & 3]);
}

static void put_weights(tc_buf *out, const tc_npu_op *op)
{
    uint64_t encoded, plain;
    ti_npu_weight_bytes(op, &encoded, &plain);
    ti_buf_printf(out, ", weights %" PRIu64 " of %" PRIu64 " bytes (%.0f %%)%s%s%s", encoded, plain,
                  plain ? 100.0 * (double)encoded / (double)plain : 0,
                  op->window.part_kernel ? ", part kernel" : "", op->weights.fast ? ", fast" : "",
                  op->weights.sparse ? ", sparse" : "");
}

static void put_kernel(tc_buf *out, const tc_npu_machine *machine, const tc_npu_op *op)
{
    static const char *const turn[] = {"", ", to WHC", ", to HCW", ", to WCH",
                                       "", "",         ", to CHW", ", to CWH"};
    static const char *const mirror[] = {"", ", mirrored H", ", mirrored W", ", mirrored C"};
    if (op->ifm.used)
        put_map(out, op, &op->ifm);
    if (op->ifm2.used) {
        ti_buf_text(out, op->ifm.used ? ", " : "");
        put_map(out, op, &op->ifm2);
    }
    ti_buf_text(out, " -> ");
    put_map(out, op, &op->ofm);
    bool window = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE ||
                  op->kind == TC_NPU_KIND_POOL;
    if (window)
        put_window(out, &op->window);
    if ((op->kind == TC_NPU_KIND_CONV && !op->weights_ifm2) || op->kind == TC_NPU_KIND_DEPTHWISE)
        put_weights(out, op);
    if (window && op->per_channel)
        ti_buf_text(out, ", scales by channel");
    else if (op->ofm_scale.multiplier != 1 || op->ofm_scale.shift)
        ti_buf_printf(out, ", scale %" PRIu32 ">>%d", op->ofm_scale.multiplier,
                      op->ofm_scale.shift);
    if (op->function)
        ti_buf_printf(out, ", table %d", op->table);
    ti_buf_text(out, turn[op->transpose & 7]);
    ti_buf_text(out, mirror[op->reverse & 3]);
    ti_buf_printf(out, ", block %dx%dx%d", op->block.h, op->block.w, op->block.depth);
    if (machine->product == TC_U85 && op->acc_input)
        ti_buf_text(out, op->acc_input == 1 ? ", accumulators kept" : ", accumulators from ifm2");
    if (!op->acc_output)
        ti_buf_text(out, ", accumulates only");
}

static void put_end(tc_buf *out, bool internal, uint8_t region, uint64_t at)
{
    if (internal)
        ti_buf_printf(out, "tables+%#" PRIx64, at);
    else
        ti_buf_printf(out, "r%d+%#" PRIx64, region, at);
}

static void put_dma(tc_buf *out, const tc_npu_dma *d)
{
    ti_buf_printf(out, "%" PRIu64 " bytes ", d->bytes);
    if (d->rows != 1 || d->planes != 1)
        ti_buf_printf(out, "x %" PRId64 " x %" PRId64 " ", d->rows, d->planes);
    put_end(out, d->src_internal, d->src_region, d->src);
    ti_buf_text(out, d->src_indexed ? "[index] -> " : " -> ");
    put_end(out, d->dst_internal, d->dst_region, d->dst);
    ti_buf_text(out, d->dst_indexed ? "[index]" : "");
}

void ti_npu_op_text(tc_buf *out, const tc_npu_machine *machine, const tc_npu_op *op)
{
    const char *mode = ti_npu_mode_name(op->kind, op->mode);
    ti_buf_text(out, ti_npu_kind_name(op->kind));
    ti_buf_text(out, *mode == '?' ? "" : " ");
    ti_buf_text(out, *mode == '?' ? "" : mode);
    if (op->kind == TC_NPU_KIND_KERNEL_WAIT || op->kind == TC_NPU_KIND_DMA_WAIT)
        ti_buf_printf(out, " %d", op->param);
    else if (op->kind == TC_NPU_KIND_BRANCH)
        ti_buf_printf(out, " to word %" PRIu32 "%s", op->target / 4,
                      op->conditional ? " if set" : "");
    else if (op->kind == TC_NPU_KIND_DMA) {
        ti_buf_text(out, "  ");
        put_dma(out, &op->dma);
    } else if (ti_npu_is_kernel(op->kind)) {
        ti_buf_text(out, "  ");
        put_kernel(out, machine, op);
    }
}

void ti_npu_changes(const tc_npu_machine *machine, const tc_npu_registers *reg,
                    tc_npu_register_taker *take, void *user)
{
    for (size_t i = 0; i < tc_npu_n_command; i++) {
        const tc_npu_command_info *c = &tc_npu_commands[i];
        if (c->is_operation || !(c->products >> machine->product & 1))
            continue;
        if (c->words == 1 && reg->fresh[c->code - 256])
            take(user, c->name, false, reg->set[c->code - 256], 0);
        else if (c->words == 2 && reg->fresh2[c->code])
            take(user, c->name, true, reg->set2[c->code].param, reg->set2[c->code].payload);
    }
}
