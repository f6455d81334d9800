/* SPDX-License-Identifier: Apache-2.0 */
/* select_cast.c -- CAST between integers: low bits are kept.
 *
 *   wider           x + 0
 *   narrower        U85: x + 0, not saturated; U55: of 32 bits, the low ones shifted up
 *                   and back down
 *   to bool         8 and 16 bits: x x, clamped to 0..1
 *                   32 bits: U85 x != 0; U55 32 - leading zeros, clamped to 0..1 */
#include "select.h"

static void to_bool(tc_sel *s, const tc_node *node, const tc_sel_operand *x, const tc_view *to)
{
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MUL, 1);
    op.op.clip = 0;
    op.op.lo = 0;
    op.op.hi = 1;
    if (x->bytes <= 2) {
        ti_sel_combine(s, &op, true, x, x, to);
        return;
    }
    if (ti_hw_is_u85(s->hw)) {
        tc_sel_operand zero = ti_sel_operand_number(0, 4), one = ti_sel_operand_number(1, 1);
        op = ti_sel_eltwise(s, node, TC_EW_CMP_NE, 1);
        tc_sel_operand mask = ti_sel_step(s, &op, true, x, &zero);
        op = ti_sel_eltwise(s, node, TC_EW_AND, 1);
        ti_sel_combine(s, &op, true, &mask, &one, to);
        return;
    }
    tc_hw_op count = ti_sel_eltwise(s, node, TC_EW_CLZ, 4);
    tc_sel_operand zeros = ti_sel_step(s, &count, false, x, NULL),
                   all = ti_sel_operand_number(32, 4);
    op.op.mode = TC_EW_SUB;
    op.op.param = TC_EW_SUB;
    ti_sel_combine(s, &op, false, &all, &zeros, to);
}

static void narrow_u55(tc_sel *s, const tc_node *node, const tc_sel_operand *x, uint8_t bytes,
                       const tc_view *to)
{
    tc_sel_operand by = ti_sel_operand_number(32 - 8 * bytes, 4), a = ti_sel_widened(s, node, x);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SHL, 4);
    a = ti_sel_step(s, &op, false, &a, &by);
    op = ti_sel_eltwise(s, node, TC_EW_SHR, bytes);
    ti_sel_combine(s, &op, false, &a, &by, to);
}

void ti_npu_select_cast(tc_sel *s, const tc_node *node)
{
    tc_dtype from = ti_sel_dtype(s, node->in[0]), type = ti_sel_dtype(s, node->out[0]);
    uint8_t in = ti_sel_bytes(s, node->in[0]), out = ti_sel_bytes(s, node->out[0]);
    if (in > 4 || out > 4) {
        ti_hw_refuse(s->hw, node, "numbers of this type have no such operation");
        return;
    }
    if (from == type || (from == TC_bool && out == 1)) {
        ti_npu_select_identity(s, node);
        return;
    }
    tc_sel_operand x = ti_sel_operand(s, node->in[0]), zero = ti_sel_operand_number(0, in);
    tc_view to = ti_sel_result(s, node->out[0]);
    if (type == TC_bool)
        to_bool(s, node, &x, &to);
    else if (out < in && !ti_hw_is_u85(s->hw))
        narrow_u55(s, node, &x, out, &to);
    else if (out == 2 && !ti_hw_is_u85(s->hw) && !x.is_number) {
        tc_hw_op op = ti_sel_pointwise(s, node); /* faster there; it has no 32 bits */
        ti_sel_map(&op.op.ifm, in, true, 0);
        ti_sel_plain_output(s, &op.op, node->out[0]);
        ti_sel_emit_parts(s, &op, &x.view, NULL, &to);
    } else {
        tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, out);
        ti_sel_combine(s, &op, true, &x, &zero, &to);
    }
}
