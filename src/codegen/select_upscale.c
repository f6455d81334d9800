/* SPDX-License-Identifier: Apache-2.0 */
/* select_upscale.c -- see select_upscale.h.
 *
 * Upscaling is part of an operation with a window, which finds every row and column of its input twice:
 * a pool of one tap copies them, for k = 2^n again and again.
 *
 * RESIZE to k times as much, bilinear, from the first pixel on: result k i + p is
 *
 *   ((k - p) x[i] + p x[i + 1]) / k
 *
 * the mean of the k places from there on in the plane that has every pixel k times, of which k - p are
 * x[i].  At the end only those inside count: x[i] alone. */
#include "select_upscale.h"

#include "../num/fixed.h"

enum { IMAGE_ROWS = 1, IMAGE_COLUMNS = 2 }; /* axes */

/* The operation, whose window has taps and no padding yet, on all images: upscaled by two. */
static void emit_images(tc_sel *s, const tc_hw_op *whole, const tc_view *from, const tc_view *to)
{
    tc_hw_op op = *whole;
    tc_npu_window *w = &op.op.window;
    w->upscale = TC_UPSCALE_NEAREST;
    for (int64_t i = 0; i < to->dim[0]; i++) {
        op.ifm = ti_view_at(from, i);
        op.ofm = ti_view_at(to, i);
        op.op.ofm.h = (int32_t)op.ofm.dim[0];
        op.op.ofm.w = (int32_t)op.ofm.dim[1];
        op.op.ifm.c = op.op.ofm.c = op.op.depth = (int32_t)op.ifm.dim[2];
        w->ih = op.op.ofm.h + w->kh - 1 - w->bottom;
        w->iw = op.op.ofm.w + w->kw - 1 - w->right;
        op.ifm.dim[0] = op.op.ifm.h = (w->ih + 1) / 2;
        op.ifm.dim[1] = op.op.ifm.w = (w->iw + 1) / 2;
        ti_sel_emit(s, &op);
    }
}

/* Every row and column twice; `to` may be less than that. */
static void twice(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    tc_hw_op op = ti_sel_pointwise(s, node);
    uint8_t bytes = s->hw->root[from->root].bytes;
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    ti_sel_map(&op.op.ofm, bytes, true, 0);
    op.op.lo = bytes == 1 ? INT8_MIN : INT16_MIN;
    op.op.hi = bytes == 1 ? INT8_MAX : INT16_MAX;
    emit_images(s, &op, from, to);
}

/* Half of the way: every row and column k / 2 times. */
static tc_view half_way(tc_sel *s, const tc_node *node, int64_t k, tc_view from)
{
    for (; k > 2 && !s->hw->refused; k /= 2) {
        int64_t dim[4];
        memcpy(dim, from.dim, sizeof dim);
        dim[IMAGE_ROWS] *= 2;
        dim[IMAGE_COLUMNS] *= 2;
        tc_view next = ti_sel_working(s, "upscaled", s->hw->root[from.root].bytes, 4, dim);
        twice(s, node, &from, &next);
        from = next;
    }
    return from;
}

void ti_sel_times(tc_sel *s, const tc_node *node, int64_t k, int64_t first, tc_view from,
                  const tc_view *to)
{
    from = half_way(s, node, k, from);
    for (int32_t axis = IMAGE_ROWS; axis <= IMAGE_COLUMNS; axis++)
        from = ti_view_slice(&from, axis, first / 2, from.dim[axis] - first / 2);
    if (!s->hw->refused)
        twice(s, node, &from, to);
}

void ti_sel_times_mean(tc_sel *s, const tc_hw_op *whole, int64_t k, tc_view from, const tc_view *to)
{
    static const tc_npu_scale one = {.multiplier = 1, .round = TC_ROUND_NATURAL};
    tc_hw_op op = *whole;
    bool counts = to->dim[IMAGE_ROWS] == k * from.dim[IMAGE_ROWS];
    op.op.kind = TC_NPU_KIND_POOL;
    op.op.mode = TC_POOL_AVERAGE;
    op.op.param = TC_POOL_AVERAGE;
    op.op.acc_bits = 32;
    op.op.per_channel = false;
    op.op.ofm_scale = one;
    op.bias = NULL;
    op.factor = NULL;
    op.shift = NULL;
    op.op.window = (tc_npu_window){.kh = (int32_t)k,
                                   .kw = (int32_t)k,
                                   .stride_y = 1,
                                   .stride_x = 1,
                                   .dilation_y = 1,
                                   .dilation_x = 1};
    if (counts)
        op.op.window.bottom = op.op.window.right = (int32_t)k - 1;
    else { /* the machine does not divide where nothing is outside */
        tc_scale r = ti_reciprocal_scale((uint32_t)(k * k));
        op.op.ofm_scale.multiplier = (uint32_t)r.multiplier;
        op.op.ofm_scale.shift = (uint8_t)r.shift;
    }
    from = half_way(s, op.node, k, from);
    if (!s->hw->refused)
        emit_images(s, &op, &from, to);
}
