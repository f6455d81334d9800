/* SPDX-License-Identifier: Apache-2.0 */
/* select_shift.c -- the three shifts.
 *
 *   U85   SHR, SHL, LSR of any width
 *   U55   SHR and SHL of 32 bits, SHR rounding half up or to zero.  With p = 2^(n-1), 0 if n = 0:
 *
 *         down        (x - p) shifted half up; of 32 bits, x first clamped to at least -2^31 + p,
 *                     which changes no result
 *         n constant  a sum of 8 or 16 bits, x - p or x + 0, whose own scale shifts
 *         left        of 8 and 16 bits in the upper bits of 32
 *         logical     of 8 and 16 bits: unsigned in 32, to zero; of 32 bits, n constant: down, and
 *                     the low 32 - n bits of that
 *         low n bits  x - (x down by n, and left by n) */
#include "select.h"

enum { TOP = 31 };

static tc_hw_op shift_right(const tc_sel *s, const tc_node *node, uint8_t bytes, tc_npu_round round)
{
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SHR, bytes);
    op.op.ofm_scale.round = round;
    return op;
}

static void shift_u85(tc_sel *s, const tc_node *node, tc_sel_operand a, tc_sel_operand b)
{
    bool left = node->op == TC_OP_tosa_logical_left_shift;
    tc_hw_op op = ti_sel_eltwise(s, node, left ? TC_EW_SHL : TC_EW_LSR, a.bytes);
    if (node->op == TC_OP_tosa_arithmetic_right_shift)
        op = shift_right(s, node, a.bytes,
                         ((const tc_attr_tosa_shift *)node->attr)->round ? TC_ROUND_NATURAL
                                                                         : TC_ROUND_DOWN);
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, false, &a, &b, &to);
}

/* ---- U55 ---- */

/* 2^(n-1), 0 where n = 0: 2^30 >> (31 - n), in `bytes`. */
static tc_sel_operand half_of(tc_sel *s, const tc_node *node, const tc_sel_operand *n, uint8_t bytes)
{
    if (n->is_number)
        return ti_sel_operand_number(n->number ? INT64_C(1) << (n->number - 1) : 0, bytes);
    tc_sel_operand top = ti_sel_operand_number(TOP, n->bytes),
                   bit = ti_sel_operand_number(INT64_C(1) << (TOP - 1), 4);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SUB, 4);
    tc_sel_operand by = ti_sel_step(s, &op, false, &top, n);
    op = shift_right(s, node, bytes, TC_ROUND_TO_ZERO);
    return ti_sel_step(s, &op, false, &bit, &by);
}

/* x of 32 bits, shifted down by a constant. */
static tc_sel_operand shifted_down(tc_sel *s, const tc_node *node, const tc_sel_operand *x,
                                   int64_t by)
{
    tc_sel_operand half = ti_sel_operand_number(INT64_C(1) << (by - 1), 4),
                   least = ti_sel_operand_number(INT32_MIN + half.number, 4),
                   n = ti_sel_operand_number(by, 4);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MAX, 4);
    tc_sel_operand y = ti_sel_step(s, &op, true, x, &least);
    op = ti_sel_eltwise(s, node, TC_EW_SUB, 4);
    y = ti_sel_step(s, &op, false, &y, &half);
    op = shift_right(s, node, 4, TC_ROUND_NATURAL);
    return ti_sel_step(s, &op, false, &y, &n);
}

void ti_sel_low_bits(tc_sel *s, const tc_node *node, const tc_sel_operand *x, int64_t bits,
                     const tc_view *to)
{
    tc_sel_operand high = shifted_down(s, node, x, bits), n = ti_sel_operand_number(bits, 4);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SHL, 4);
    high = ti_sel_step(s, &op, false, &high, &n);
    op = ti_sel_eltwise(s, node, TC_EW_SUB, 4);
    ti_sel_combine(s, &op, false, x, &high, to);
}

/* x - p or x + 0 of 8 or 16 bits, shifted by its own scale. */
static void sum_shifted(tc_sel *s, const tc_node *node, const tc_sel_operand *a, int64_t less,
                        int64_t by)
{
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SUB, a->bytes);
    op.op.ofm_scale.shift = (uint8_t)by;
    tc_sel_operand p = ti_sel_operand_number(less, a->bytes);
    p.is_signed = a->is_signed;
    op.op.ofm.is_signed = a->is_signed;
    if (!a->is_signed) {
        op.op.lo = 0;
        op.op.hi = a->bytes == 1 ? UINT8_MAX : UINT16_MAX;
    }
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, false, a, &p, &to);
}

static void arithmetic_u55(tc_sel *s, const tc_node *node, tc_sel_operand a, tc_sel_operand b)
{
    bool down = !((const tc_attr_tosa_shift *)node->attr)->round;
    uint8_t bytes = a.bytes;
    if (bytes <= 2 && b.is_number && !a.is_number) {
        sum_shifted(s, node, &a, down && b.number ? INT64_C(1) << (b.number - 1) : 0, b.number);
        return;
    }
    if (down) {
        tc_sel_operand half = half_of(s, node, &b, bytes);
        tc_hw_op op;
        if (bytes == 4) {
            tc_sel_operand least = ti_sel_operand_number(INT32_MIN, 4);
            if (half.is_number)
                least.number += half.number;
            else {
                op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
                least = ti_sel_step(s, &op, true, &half, &least);
            }
            op = ti_sel_eltwise(s, node, TC_EW_MAX, 4);
            a = ti_sel_step(s, &op, true, &a, &least);
        }
        op = ti_sel_eltwise(s, node, TC_EW_SUB, 4);
        a = ti_sel_step(s, &op, false, &a, &half);
    }
    a = ti_sel_widened(s, node, &a);
    b = ti_sel_widened(s, node, &b);
    tc_hw_op op = shift_right(s, node, bytes, TC_ROUND_NATURAL);
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, false, &a, &b, &to);
}

static void left_u55(tc_sel *s, const tc_node *node, tc_sel_operand a, tc_sel_operand b)
{
    int32_t room = 32 - 8 * a.bytes;
    uint8_t bytes = a.bytes;
    b = ti_sel_widened(s, node, &b);
    a = ti_sel_widened(s, node, &a);
    tc_sel_operand by = ti_sel_operand_number(room, 4);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SHL, 4);
    if (room) {
        a = ti_sel_step(s, &op, false, &a, &by);
        op = ti_sel_eltwise(s, node, TC_EW_SHL, 4);
        a = ti_sel_step(s, &op, false, &a, &b);
        op = shift_right(s, node, bytes, TC_ROUND_NATURAL);
    }
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, false, &a, room ? &by : &b, &to);
}

static void logical_u55(tc_sel *s, const tc_node *node, tc_sel_operand a, tc_sel_operand b)
{
    uint8_t bytes = a.bytes;
    if (bytes == 4 && b.is_number && b.number > 0 && !a.is_number) {
        tc_sel_operand down = shifted_down(s, node, &a, b.number);
        tc_view to = ti_sel_result(s, node->out[0]);
        ti_sel_low_bits(s, node, &down, 32 - b.number, &to);
        return;
    }
    if (bytes == 4) {
        ti_hw_refuse(s->hw, node, "the machine's shifts of 32 bits keep the sign");
        return;
    }
    if (a.is_number && a.number < 0)
        a.number += bytes == 1 ? 256 : 65536;
    a.is_signed = false;
    if (b.is_number && !a.is_number) {
        sum_shifted(s, node, &a, b.number ? INT64_C(1) << (b.number - 1) : 0, b.number);
        return;
    }
    a = ti_sel_widened(s, node, &a);
    b = ti_sel_widened(s, node, &b);
    tc_hw_op op = shift_right(s, node, bytes, TC_ROUND_TO_ZERO);
    op.op.ofm.is_signed = false;
    op.op.lo = 0;
    op.op.hi = bytes == 1 ? UINT8_MAX : UINT16_MAX;
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, false, &a, &b, &to);
}

void ti_npu_select_shift(tc_sel *s, const tc_node *node)
{
    tc_sel_operand a = ti_sel_operand(s, node->in[0]), b = ti_sel_operand(s, node->in[1]);
    if (s->hw->refused)
        return;
    if (ti_hw_is_u85(s->hw))
        shift_u85(s, node, a, b);
    else if (node->op == TC_OP_tosa_arithmetic_right_shift)
        arithmetic_u55(s, node, a, b);
    else if (node->op == TC_OP_tosa_logical_left_shift)
        left_u55(s, node, a, b);
    else
        logical_u55(s, node, a, b);
}
