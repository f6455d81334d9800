/* SPDX-License-Identifier: Apache-2.0 */
/* select_curve.c -- what fold_curves.c and fold_leaky.c find, of int16: tanh and sigmoid are a pool of
 * one tap that scales, whose points U85 reads from the memory of tables; LRELU has an operation. */
#include "../npu/curve.h"
#include "select.h"

void ti_npu_select_curve(tc_sel *s, const tc_node *node)
{
    tc_npu_curve curve = node->op == TC_OP_tosa_tanh ? TC_CURVE_TANH : TC_CURVE_SIGMOID;
    tc_hw_op op = ti_sel_pointwise(s, node);
    if (node->n_in != 3) {
        ti_hw_refuse(s->hw, node, "the machine has no numbers of this type");
        return;
    }
    ti_sel_map(&op.op.ifm, 2, true, 0);
    ti_sel_map(&op.op.ofm, 2, true, 0);
    op.op.lo = INT16_MIN;
    op.op.hi = INT16_MAX;
    op.op.ofm_scale = (tc_npu_scale){.multiplier = (uint32_t)ti_sel_number(s, node->in[1]),
                                     .shift = (uint8_t)ti_sel_number(s, node->in[2]),
                                     .round = TC_ROUND_NATURAL};
    op.op.function = ti_npu_curve_function(s->hw->machine, curve);
    if (ti_hw_is_u85(s->hw)) {
        uint8_t *table = tc_new_n(s->hw->arena, uint8_t, TC_NPU_LUT);
        ti_npu_curve_table(curve, table);
        op.table = ti_hw_table(s->hw, table, TC_NPU_LUT);
    }
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]);
    ti_sel_emit_parts(s, &op, &from, NULL, &to);
}

static tc_npu_scale scale_of(tc_sel *s, const tc_val *in)
{
    return (tc_npu_scale){.multiplier = (uint32_t)ti_sel_number(s, in[0]),
                          .shift = (uint8_t)ti_sel_number(s, in[1]),
                          .round = (tc_npu_round)ti_sel_number(s, in[2])};
}

/* U55's output scale is for what is below zero, and there is none for the rest. */
void ti_npu_select_leaky(tc_sel *s, const tc_node *node)
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_LRELU);
    tc_npu_scale up = scale_of(s, node->in + 1), down = scale_of(s, node->in + 4);
    tc_sel_operand x = ti_sel_operand(s, node->in[0]);
    ti_sel_plain_output(s, &op.op, node->out[0]);
    if (ti_hw_is_u85(s->hw)) {
        op.op.ifm_scale = up;
        op.op.ifm2_scale = down;
    } else
        op.op.ofm_scale = down;
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.bounds = true});
    tc_view to = ti_sel_result_of(s, node, v);
    ti_sel_combine(s, &op, false, &x, NULL, &to);
}
