/* SPDX-License-Identifier: Apache-2.0 */
/* select_table.c -- TABLE.  One of int8 codes that is a factor and bounds is those.  U55 has no tables of 16 bits whose results have more: with
 *
 *   slope = 256 h + l,   -128 <= l < 128
 *   128 base + slope f = 256 (base / 2 + h f) + (128 (base & 1) + l f)
 *
 * it is 256 a + b of two tables of 16 bits, which are exact: their slopes are multiples of 128. */
#include "select.h"
#include "table_line.h"

enum { PAIRS = 512, ENTRIES = 256 };

static void put_pair(uint8_t *p, int64_t base, int64_t slope)
{
    p[0] = (uint8_t)base;
    p[1] = (uint8_t)(base >> 8);
    p[2] = (uint8_t)slope;
    p[3] = (uint8_t)(slope >> 8);
}

/* The two tables; false: a slope has more than 16 bits. */
static bool split(const int64_t *x, uint8_t *high, uint8_t *low)
{
    for (int i = 0; i < PAIRS; i++) {
        int64_t slope = x[i + 1] - x[i], l = ((slope + 128) & 255) - 128, h = (slope - l) / 256;
        if (slope < INT16_MIN || slope > INT16_MAX)
            return false;
        put_pair(high + 4 * i, (x[i] - (x[i] & 1)) / 2, 128 * h);
        put_pair(low + 4 * i, 128 * (x[i] & 1), 128 * l);
    }
    return true;
}

static tc_sel_operand look_up(tc_sel *s, const tc_node *node, const tc_view *from,
                              const uint8_t *table)
{
    tc_hw_op op = ti_sel_pointwise(s, node);
    ti_sel_map(&op.op.ifm, 2, true, 0);
    ti_sel_map(&op.op.ofm, 2, true, 0);
    op.op.lo = INT16_MIN;
    op.op.hi = INT16_MAX;
    op.op.function = TC_NPU_LOOKUP;
    op.table = ti_hw_table(s->hw, table, TC_NPU_LUT);
    tc_view to = ti_sel_working(s, "looked up", 2, from->rank, from->dim);
    ti_sel_emit_parts(s, &op, from, NULL, &to);
    return ti_sel_operand_of(&to, 2);
}

/* A RESCALE after it reads the sum as it is; else the machine's sums to 32 bits have no factors. */
static void add_up(tc_sel *s, const tc_node *node, tc_sel_operand a, tc_sel_operand b)
{
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.scaled = true, .bounds = true});
    if (op.op.ofm.bytes <= 2)
        a.factor = 256;
    else {
        tc_hw_op mul = ti_sel_eltwise(s, node, TC_EW_MUL, 4);
        tc_sel_operand k = ti_sel_operand_number(256, 2);
        a = ti_sel_step(s, &mul, true, &a, &k);
        b = ti_sel_widened(s, node, &b);
    }
    tc_view to = ti_sel_result_of(s, node, v);
    ti_sel_combine(s, &op, true, &a, &b, &to);
}

/* The root that a table of 8 bits is loaded from when the program runs: the caller's, or a copy that
 * stays in order. */
static int32_t table_root(tc_sel *s, const tc_node *node)
{
    tc_view from = ti_sel_view(s, node->in[1]);
    if (s->hw->refused || (s->hw->root[from.root].kind == TC_ROOT_INPUT && !from.at &&
                           ti_view_is_dense(&from)))
        return from.root;
    tc_view to = ti_sel_working(s, "table", 1, from.rank, from.dim);
    s->hw->root[to.root].h = 0;
    ti_sel_copy(s, node, &from, &to);
    return to.root;
}

/* A table that is an operand like any other. */
static void look_up_moving(tc_sel *s, const tc_node *node)
{
    if (ti_sel_dtype(s, node->in[0]) != TC_i8) {
        ti_hw_refuse(s->hw, node, "its table of 16 bits is not constant");
        return;
    }
    int32_t root = table_root(s, node);
    if (s->hw->refused)
        return;
    tc_hw_op op = ti_sel_pointwise(s, node);
    ti_sel_map(&op.op.ifm, 1, true, 0);
    ti_sel_map(&op.op.ofm, 1, true, 0);
    op.op.lo = INT8_MIN;
    op.op.hi = INT8_MAX;
    op.op.function = ti_hw_is_u85(s->hw) ? TC_NPU_LOOKUP_I8_8 : TC_NPU_LOOKUP;
    op.table = ti_hw_table_from(s->hw, root, NULL, ENTRIES);
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]);
    ti_sel_emit_parts(s, &op, &from, NULL, &to);
}

/* The factor, zero points and bounds that it is: nothing is loaded, and U55 is twice as quick. */
static bool emit_line(tc_sel *s, const tc_node *node)
{
    int64_t n;
    const int64_t *x = ti_sel_numbers(s, node->in[1], &n);
    tc_table_line line;
    if (ti_sel_dtype(s, node->in[0]) != TC_i8 || ti_sel_dtype(s, node->out[0]) != TC_i8 || !x ||
        !ti_table_line(x, &line))
        return false;
    tc_hw_op op = ti_sel_pointwise(s, node);
    ti_sel_map(&op.op.ifm, 1, true, line.in_zero);
    ti_sel_map(&op.op.ofm, 1, true, line.out_zero);
    op.op.ofm_scale.multiplier = (uint32_t)line.multiplier;
    op.op.ofm_scale.shift = line.shift;
    op.op.lo = line.lo;
    op.op.hi = line.hi;
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]);
    if (!s->hw->refused)
        ti_sel_emit_parts(s, &op, &from, NULL, &to);
    return true;
}

void ti_npu_select_table(tc_sel *s, const tc_node *node)
{
    if (!ti_is_const(s->g, node->in[1])) {
        look_up_moving(s, node);
        return;
    }
    if (emit_line(s, node))
        return;
    int64_t n = 0;
    const int64_t *x = ti_sel_numbers(s, node->in[1], &n);
    if (ti_hw_is_u85(s->hw) || ti_sel_dtype(s, node->out[0]) != TC_i32 || !x || n != PAIRS + 1 ||
        ti_sel_to_16_bits(s, node)) {
        ti_npu_select_pointwise(s, node);
        return;
    }
    uint8_t *high = tc_new_n(s->hw->arena, uint8_t, TC_NPU_LUT),
            *low = tc_new_n(s->hw->arena, uint8_t, TC_NPU_LUT);
    tc_view from = ti_sel_view(s, node->in[0]);
    if (!split(x, high, low))
        ti_hw_refuse(s->hw, node, "a slope of its table has more than 16 bits");
    if (s->hw->refused)
        return;
    tc_sel_operand a = look_up(s, node, &from, high), b = look_up(s, node, &from, low);
    add_up(s, node, a, b);
}
