/* SPDX-License-Identifier: Apache-2.0 */
/* select_arith.c -- NEGATE, ABS, CLZ, INTDIV: one operation each; CLAMP of 32 bits: one a bound. */
#include "select.h"

#include <math.h>

/* Zero points that are not constant: their sum less x, in twice the bits; 32 bits wrap. */
static void negate_open(tc_sel *s, const tc_node *node, uint8_t bytes)
{
    uint8_t wide = bytes <= 2 ? (uint8_t)(2 * bytes) : 4;
    tc_sel_operand x = ti_sel_operand(s, node->in[0]), a = ti_sel_operand(s, node->in[1]),
                   b = ti_sel_operand(s, node->in[2]), zero = ti_sel_operand_number(0, bytes);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, wide);
    tc_sel_operand all = ti_sel_step(s, &op, true, &a, &b);
    if (bytes <= 2) {
        op = ti_sel_eltwise(s, node, TC_EW_ADD, wide);
        x = ti_sel_step(s, &op, true, &x, &zero);
    }
    op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_SUB);
    ti_sel_plain_output(s, &op.op, node->out[0]);
    tc_view to = ti_sel_result(s, node->out[0]);
    if (all.view.root >= 0)
        all.view.rank = 0; /* one element, of any rank */
    ti_sel_combine(s, &op, false, &all, &x, &to);
}

/* 0 - (x - its zero point), which saturates. */
void ti_npu_select_negate(tc_sel *s, const tc_node *node)
{
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    if (!ti_is_const(s->g, node->in[1]) || !ti_is_const(s->g, node->in[2])) {
        negate_open(s, node, bytes);
        return;
    }
    tc_sel_operand zero = ti_sel_operand_number(0, bytes), x = ti_sel_operand(s, node->in[0]);
    x.zero = (int32_t)ti_sel_number(s, node->in[1]);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_SUB);
    ti_sel_plain_output(s, &op.op, node->out[0]);
    op.op.ofm.zero = (int32_t)ti_sel_number(s, node->in[2]);
    if (bytes > 2 && (x.zero || op.op.ofm.zero))
        ti_hw_refuse(s->hw, node, "zero points of 32 bits are none of the machine's");
    if (s->hw->refused)
        return;
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.bounds = bytes <= 2});
    tc_view place = ti_sel_result_of(s, node, v);
    ti_sel_combine(s, &op, false, &zero, &x, &place);
}

/* ABS reads 8 and 16 bits less their zero point and scales what it finds. */
void ti_npu_select_unary(tc_sel *s, const tc_node *node)
{
    bool sizes = node->op == TC_OP_tosa_abs;
    tc_sel_operand x =
        sizes ? ti_sel_operand_before(s, node->in[0]) : ti_sel_operand(s, node->in[0]);
    tc_hw_op op = ti_sel_eltwise(s, node, sizes ? TC_EW_ABS : TC_EW_CLZ, 4);
    tc_val v = node->out[0];
    if (sizes && x.bytes <= 2)
        v = ti_sel_take_tail(s, &op, v, (tc_sel_tail){.scaled = true, .bounds = true});
    if (s->hw->refused)
        return;
    tc_view to = ti_sel_result_of(s, node, v);
    ti_sel_combine(s, &op, false, &x, NULL, &to);
}

void ti_npu_select_intdiv(tc_sel *s, const tc_node *node)
{
    if (!ti_hw_is_u85(s->hw)) {
        ti_hw_refuse(s->hw, node, "the machine does not divide");
        return;
    }
    tc_sel_operand a = ti_sel_operand(s, node->in[0]), b = ti_sel_operand(s, node->in[1]);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_DIV, 4);
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, false, &a, &b, &to);
}

/* Bounds of 32 bits have no register; one that excludes nothing needs no operation. */
void ti_npu_select_clamp(tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_clamp *a = node->attr;
    if (a->min_val > a->max_val) {
        ti_hw_refuse(s->hw, node, "its lower bound is above the upper one");
        return;
    }
    if (ti_sel_dtype(s, node->in[0]) != TC_i32) {
        ti_npu_select_pointwise(s, node);
        return;
    }
    tc_sel_operand x = ti_sel_operand(s, node->in[0]),
                   lo = ti_sel_operand_number((int64_t)fmax(a->min_val, INT32_MIN), 4),
                   hi = ti_sel_operand_number((int64_t)fmin(a->max_val, INT32_MAX), 4);
    bool low = lo.number > INT32_MIN, high = hi.number < INT32_MAX;
    if (!low && !high) {
        ti_npu_select_identity(s, node);
        return;
    }
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MAX, 4);
    if (low && high && !s->hw->refused)
        x = ti_sel_step(s, &op, true, &x, &lo);
    op = ti_sel_eltwise(s, node, high ? TC_EW_MIN : TC_EW_MAX, 4);
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, true, &x, high ? &hi : &lo, &to);
}
