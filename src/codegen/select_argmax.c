/* SPDX-License-Identifier: Apache-2.0 */
/* select_argmax.c -- ARGMAX: the index of the largest element along an axis, the first of equals.
 *
 *   U85   a pool that gives the index, in windows up to 32768; of a longer axis the parts' maxima
 *         and indices, and the index of the part that is larger than all before it
 *   U55   elements and their indices as one integer, the index reversed, whose maximum is taken:
 *
 *         int8, up to 256 elements   256 x + 255 - i in 16 bits; a table has 255 less its low byte
 *         of channels, up to 128     128 x + 127 - i, a convolution of every channel
 *         up to 32768 elements       65536 x + 32767 - i in 32 bits; less 65536 x again */
#include "select_form.h"

enum { WINDOW = 32768, LOW_BYTE = 256, LOW_BITS = 128, PLACES = 32768, HALF = 16 };

static tc_view like(tc_sel *s, const char *name, uint8_t bytes, const tc_view *v, int32_t axis)
{
    int64_t dim[TC_VIEW_DIMS];
    memcpy(dim, v->dim, sizeof dim);
    dim[axis] = 1;
    return ti_sel_working(s, name, bytes, v->rank, dim);
}

/* ---- U85 ---- */

static tc_hw_op place_pool(const tc_sel *s, const tc_node *node, uint8_t bytes)
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_ARGMAX_X);
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    ti_sel_map(&op.op.ofm, 4, true, 0);
    op.op.ofm_scale.shift = 16; /* the element is in the bits above its index */
    op.op.ofm_scale.round = TC_ROUND_DOWN;
    op.op.clip = 1;
    op.op.lo = INT16_MIN;
    op.op.hi = -1;
    return op;
}

static tc_sel_operand place_of(tc_sel *s, const tc_node *node, const tc_view *x, int32_t axis,
                               int64_t begin)
{
    tc_hw_op op = place_pool(s, node, s->hw->root[x->root].bytes);
    tc_view to = like(s, "place", 4, x, axis);
    ti_sel_pool_axis(s, &op, *x, to, axis);
    tc_sel_operand out = ti_sel_operand_of(&to, 4), by = ti_sel_operand_number(begin, 4);
    op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
    return begin ? ti_sel_step(s, &op, true, &out, &by) : out;
}

static tc_sel_operand largest_of(tc_sel *s, const tc_node *node, const tc_view *x, int32_t axis)
{
    uint8_t bytes = s->hw->root[x->root].bytes;
    tc_hw_op op = ti_sel_extreme(s, node, TC_NPU_KIND_POOL, TC_POOL_MAX, bytes);
    tc_view to = like(s, "largest", bytes, x, axis);
    ti_sel_pool_axis(s, &op, *x, to, axis);
    tc_sel_operand narrow = ti_sel_operand_of(&to, bytes);
    return ti_sel_widened(s, node, &narrow);
}

/* mask: 0 or -1. */
static tc_sel_operand choose(tc_sel *s, const tc_node *node, const tc_sel_operand *mask,
                             const tc_sel_operand *a, const tc_sel_operand *b)
{
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_AND, 4);
    tc_sel_operand x = ti_sel_step(s, &op, true, a, mask);
    op = ti_sel_eltwise(s, node, TC_EW_AND_NOT, 4);
    tc_sel_operand y = ti_sel_step(s, &op, false, b, mask);
    op = ti_sel_eltwise(s, node, TC_EW_OR, 4);
    return ti_sel_step(s, &op, true, &x, &y);
}

static void argmax_parts(tc_sel *s, const tc_node *node, const tc_view *x, const tc_view *to,
                         int32_t axis)
{
    tc_view part = ti_view_slice(x, axis, 0, WINDOW);
    tc_sel_operand place = place_of(s, node, &part, axis, 0),
                   most = largest_of(s, node, &part, axis);
    for (int64_t at = WINDOW; at < x->dim[axis] && !s->hw->refused; at += WINDOW) {
        part = ti_view_slice(x, axis, at, ti_min_i64(WINDOW, x->dim[axis] - at));
        tc_sel_operand next = place_of(s, node, &part, axis, at),
                       larger = largest_of(s, node, &part, axis);
        tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_CMP_GT, 4);
        tc_sel_operand mask = ti_sel_step(s, &op, false, &larger, &most);
        place = choose(s, node, &mask, &next, &place);
        op = ti_sel_eltwise(s, node, TC_EW_MAX, 4);
        most = ti_sel_step(s, &op, true, &larger, &most);
    }
    ti_sel_copy(s, node, &place.view, to);
}

static void argmax_u85(tc_sel *s, const tc_node *node, const tc_view *x, const tc_view *to,
                       int32_t axis)
{
    if (x->dim[axis] > WINDOW) {
        argmax_parts(s, node, x, to, axis);
        return;
    }
    tc_hw_op op = place_pool(s, node, s->hw->root[x->root].bytes);
    ti_sel_pool_axis(s, &op, *x, *to, axis);
}

/* ---- U55 ---- */

/* first - i along the axis, the other axes 1. */
static tc_sel_operand backwards(tc_sel *s, const tc_view *x, int32_t axis, int64_t first,
                                uint8_t bytes)
{
    int64_t n = x->dim[axis], dim[TC_VIEW_DIMS];
    uint8_t *data = tc_new_n(s->hw->arena, uint8_t, (size_t)(n * bytes) + 1);
    for (int32_t i = 0; i < x->rank; i++)
        dim[i] = i == axis ? n : 1;
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++)
            data[i * bytes + b] = (uint8_t)((uint64_t)(first - i) >> 8 * b);
    tc_view v = ti_sel_constant(s, "places", bytes, x->rank, dim, data);
    return ti_sel_operand_of(&v, bytes);
}

/* 512 pairs of a base and a slope; v has the low byte 128 (i & 1) + f: 255 less that, or 127
 * less f. */
static const uint8_t *low_table(tc_sel *s, int64_t of)
{
    enum { PAIRS = 512 };
    uint8_t *t = tc_new_n(s->hw->arena, uint8_t, TC_NPU_LUT);
    for (int i = 0; i < PAIRS; i++) {
        int base = of == LOW_BITS ? 127 : 255 - 128 * (i & 1), slope = -128;
        t[4 * i] = (uint8_t)base;
        t[4 * i + 1] = (uint8_t)(base >> 8);
        t[4 * i + 2] = (uint8_t)slope;
        t[4 * i + 3] = (uint8_t)((unsigned)slope >> 8);
    }
    return t;
}

static tc_view by_sum(tc_sel *s, const tc_node *node, const tc_view *x, int32_t axis)
{
    tc_sel_operand a = ti_sel_operand_of(x, 1), b = backwards(s, x, axis, 127, 1);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, 2);
    a.factor = LOW_BYTE;
    op.op.ofm.zero = 128;
    return ti_sel_step(s, &op, true, &a, &b).view;
}

/* Its biases have ten bytes a channel, of which that many pixels are worth it. */
enum { PIXELS = 64 };

static tc_view by_channel(tc_sel *s, const tc_node *node, const tc_view *x)
{
    int64_t n = x->dim[x->rank - 1], *bias = tc_new_n(s->hw->arena, int64_t, (size_t)n);
    int16_t *weight = tc_new_n(s->hw->arena, int16_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        weight[i] = LOW_BITS;
        bias[i] = LOW_BITS - 1 - i;
    }
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_DEPTHWISE, 0);
    tc_view to = ti_sel_working(s, "numbers and places", 2, x->rank, x->dim);
    ti_sel_map(&op.op.ifm, 1, true, 0);
    ti_sel_map(&op.op.ofm, 2, true, 0);
    op.op.lo = INT16_MIN;
    op.op.hi = INT16_MAX;
    op.op.per_channel = true;
    op.weight = weight;
    op.bias = bias;
    ti_sel_unit_scales(s, &op, n);
    ti_sel_emit_parts(s, &op, x, NULL, &to);
    return to;
}

static void argmax_bytes(tc_sel *s, const tc_node *node, const tc_view *x, const tc_view *to,
                         int32_t axis)
{
    int64_t n = x->dim[axis];
    bool channels = axis == x->rank - 1 && x->stride[axis] == 1 && n <= LOW_BITS &&
                    ti_view_count(x) >= PIXELS * n;
    tc_view both = channels ? by_channel(s, node, x) : by_sum(s, node, x, axis);
    tc_hw_op op = ti_sel_extreme(s, node, TC_NPU_KIND_POOL, TC_POOL_MAX, 2),
             halves = ti_sel_extreme(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MAX, 2);
    op.op.function = halves.op.function = TC_NPU_LOOKUP;
    op.table = halves.table =
        ti_hw_table(s->hw, low_table(s, channels ? LOW_BITS : LOW_BYTE), TC_NPU_LUT);
    tc_view place = like(s, "place", 2, x, axis);
    tc_sel_ways ways = ti_sel_ways(s, node);
    ti_sel_pool_axis(s, &op, both, place, axis);
    if (n > 1 && ti_sel_may_halve(s, &both)) {
        ti_sel_plain(&ways);
        ti_sel_halves(s, &halves, both, place, axis);
        ti_sel_form(&ways, TC_SEL_HALVES, true);
    }
    tc_sel_operand zero = ti_sel_operand_number(0, 2), narrow = ti_sel_operand_of(&place, 2);
    op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
    ti_sel_combine(s, &op, true, &narrow, &zero, to);
}

static void argmax_wide(tc_sel *s, const tc_node *node, const tc_view *x, const tc_view *to,
                        int32_t axis)
{
    tc_sel_operand by = ti_sel_operand_number(HALF, 4),
                   places = backwards(s, x, axis, PLACES - 1, 4),
                   narrow = ti_sel_operand_of(x, s->hw->root[x->root].bytes),
                   a = ti_sel_widened(s, node, &narrow);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SHL, 4);
    a = ti_sel_step(s, &op, false, &a, &by);
    op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
    a = ti_sel_step(s, &op, true, &a, &places);
    if (s->hw->refused)
        return;
    tc_view largest = like(s, "largest", 4, x, axis);
    op = ti_sel_extreme(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MAX, 4);
    if (a.view.dim[axis] > 1)
        ti_sel_halves(s, &op, a.view, largest, axis);
    else
        ti_sel_copy(s, node, &a.view, &largest);
    a = ti_sel_operand_of(&largest, 4);
    op = ti_sel_eltwise(s, node, TC_EW_SHR, 4); /* half up: x, as the index is less than half */
    tc_sel_operand high = ti_sel_step(s, &op, false, &a, &by),
                   first = ti_sel_operand_number(PLACES - 1, 4);
    op = ti_sel_eltwise(s, node, TC_EW_SHL, 4);
    high = ti_sel_step(s, &op, false, &high, &by);
    op = ti_sel_eltwise(s, node, TC_EW_SUB, 4);
    a = ti_sel_step(s, &op, false, &high, &a);
    op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
    ti_sel_combine(s, &op, true, &a, &first, to);
}

void ti_npu_select_argmax(tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_argmax *a = node->attr;
    tc_view x = ti_sel_view(s, node->in[0]), out = ti_sel_result(s, node->out[0]), to;
    int32_t axis = (int32_t)a->axis;
    if (s->hw->refused)
        return;
    int64_t dim[TC_VIEW_DIMS];
    memcpy(dim, x.dim, sizeof dim);
    dim[axis] = 1;
    if (!ti_view_reshape(&out, x.rank, dim, &to)) {
        ti_hw_refuse(s->hw, node, "its result has no place in one piece");
        return;
    }
    uint8_t bytes = s->hw->root[x.root].bytes;
    if (bytes > 2)
        ti_hw_refuse(s->hw, node, "numbers of this type have no such operation");
    else if (ti_hw_is_u85(s->hw))
        argmax_u85(s, node, &x, &to, axis);
    else if (bytes == 1 && x.dim[axis] <= LOW_BYTE)
        argmax_bytes(s, node, &x, &to, axis);
    else if (x.dim[axis] <= PLACES)
        argmax_wide(s, node, &x, &to, axis);
    else
        ti_hw_refuse(s->hw, node, "the axis is longer than %d", PLACES);
}
