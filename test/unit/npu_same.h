/* SPDX-License-Identifier: Apache-2.0 */
/* npu_same.h -- whether two operations say the same: every field that their kind reads.  The name of
 * the first field that differs, or NULL. */
#ifndef TC_NPU_SAME_H
#define TC_NPU_SAME_H

#include "npu/npu_op.h"

#define SAME(field)                                                                                \
    do {                                                                                           \
        if (a->field != b->field)                                                                  \
            return #field;                                                                         \
    } while (0)

static inline const char *same_map(const tc_npu_map *a, const tc_npu_map *b)
{
    SAME(used);
    SAME(is_signed);
    SAME(bytes);
    SAME(zero);
    SAME(storage);
    SAME(format);
    if (!a->used)
        return NULL;
    SAME(broadcast);
    SAME(h);
    SAME(w);
    SAME(c);
    if (a->broadcast & TC_BROADCAST_SCALAR || a->storage == TC_STORE_NONE)
        return NULL;
    SAME(region);
    if (a->storage == TC_STORE_CHAIN)
        return NULL;
    SAME(width0);
    SAME(height0);
    SAME(height1);
    SAME(stride_x);
    SAME(stride_y);
    SAME(stride_c);
    for (int i = 0; i < 4; i++)
        SAME(base[i]);
    return NULL;
}

static inline const char *same_scale(const tc_npu_scale *a, const tc_npu_scale *b)
{
    SAME(multiplier);
    SAME(shift);
    SAME(double_bits);
    SAME(round);
    return NULL;
}

static inline const char *same_window(const tc_npu_window *a, const tc_npu_window *b)
{
    SAME(kh);
    SAME(kw);
    SAME(stride_y);
    SAME(stride_x);
    SAME(dilation_y);
    SAME(dilation_x);
    SAME(top);
    SAME(left);
    SAME(bottom);
    SAME(right);
    SAME(ih);
    SAME(iw);
    SAME(upscale);
    SAME(part_kernel);
    SAME(decompose_4x4);
    return NULL;
}

static inline const char *same_axis(const tc_npu_axis *a, const tc_npu_axis *b)
{
    SAME(scale);
    SAME(step);
    SAME(offset);
    SAME(one_int);
    SAME(one_mod);
    SAME(block_int);
    SAME(block_mod);
    return NULL;
}

static inline const char *same_dma(const tc_npu_dma *a, const tc_npu_dma *b)
{
    SAME(src_internal);
    SAME(dst_internal);
    SAME(src_indexed);
    SAME(dst_indexed);
    SAME(src_region);
    SAME(dst_region);
    SAME(src);
    SAME(dst);
    SAME(bytes);
    SAME(rows);
    SAME(planes);
    if (a->rows != 1 || a->planes != 1 || a->src_indexed || a->dst_indexed) {
        SAME(src_row);
        SAME(dst_row);
    }
    if (a->planes != 1) {
        SAME(src_plane);
        SAME(dst_plane);
    }
    if (a->src_indexed || a->dst_indexed) {
        SAME(index_region);
        SAME(index);
        SAME(index_max);
        SAME(index_skip);
    }
    return NULL;
}

static inline const char *same_streams(const tc_npu_machine *machine, const tc_npu_op *a,
                                       const tc_npu_op *b)
{
    bool weighs = a->kind == TC_NPU_KIND_CONV || a->kind == TC_NPU_KIND_DEPTHWISE;
    for (int i = 0; weighs && !a->weights_ifm2 && i < a->cores; i++) {
        SAME(weights.bytes[i]);
        if (a->weights.bytes[i])
            SAME(weights.base[i]);
        SAME(weights.region);
        SAME(weights.fast);
        SAME(weights.sparse);
    }
    bool scales = (weighs || a->kind == TC_NPU_KIND_POOL) && a->per_channel && a->acc_output;
    for (int i = 0; scales && i < (machine->product == TC_U85 ? 1 : a->cores); i++) {
        SAME(scale_region);
        SAME(scale_bytes[i]);
        if (a->scale_bytes[i])
            SAME(scale_base[i]);
    }
    return NULL;
}

static inline const char *same_kernel(const tc_npu_machine *machine, const tc_npu_op *a,
                                      const tc_npu_op *b)
{
    bool u85 = machine->product == TC_U85, ew = a->kind == TC_NPU_KIND_ELEMENTWISE;
    const char *differs = same_map(&a->ifm, &b->ifm);
    differs = differs ? differs : same_map(&a->ofm, &b->ofm);
    SAME(ifm2.used);
    differs = differs || !a->ifm2.used ? differs : same_map(&a->ifm2, &b->ifm2);
    differs = differs ? differs : same_window(&a->window, &b->window);
    differs = differs ? differs : same_streams(machine, a, b);
    differs = differs ? differs : same_axis(&a->x, &b->x);
    differs = differs ? differs : same_axis(&a->y, &b->y);
    SAME(per_channel);
    if (u85 || !a->per_channel)
        differs = differs ? differs : same_scale(&a->ofm_scale, &b->ofm_scale);
    SAME(ofm_scale.round);
    if (u85 ? ew : ew && (a->mode == TC_EW_ADD || a->mode == TC_EW_SUB)) {
        differs = differs ? differs : same_scale(&a->ifm_scale, &b->ifm_scale);
        if (a->ifm2.used || a->mode == TC_EW_LRELU)
            differs = differs ? differs : same_scale(&a->ifm2_scale, &b->ifm2_scale);
    }
    if (differs)
        return differs;
    SAME(weights_ifm2);
    if (!(a->ifm.broadcast & TC_BROADCAST_SCALAR))
        SAME(depth);
    SAME(block.h);
    SAME(block.w);
    SAME(block.depth);
    SAME(microblock);
    SAME(transpose);
    SAME(reverse);
    SAME(acc_bits);
    SAME(acc_input);
    SAME(acc_output);
    SAME(cores);
    SAME(scale_mode);
    SAME(swapped);
    if ((a->ifm.used && a->ifm.broadcast & TC_BROADCAST_SCALAR) ||
        (a->ifm2.used && a->ifm2.broadcast & TC_BROADCAST_SCALAR))
        SAME(scalar);
    SAME(function);
    SAME(table);
    SAME(clip);
    SAME(lo);
    SAME(hi);
    SAME(ib_end);
    SAME(ab_start);
    if (ew && a->ifm2.used)
        SAME(ib2_start);
    return NULL;
}

static inline const char *same_op(const tc_npu_machine *machine, const tc_npu_op *a,
                                  const tc_npu_op *b)
{
    SAME(kind);
    SAME(mode);
    SAME(param);
    SAME(conditional);
    SAME(target);
    if (a->kind == TC_NPU_KIND_DMA)
        return same_dma(&a->dma, &b->dma);
    return ti_npu_is_kernel(a->kind) ? same_kernel(machine, a, b) : NULL;
}

#undef SAME

#endif
