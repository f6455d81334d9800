/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c -- see fold.h. */
#include "fold.h"

#include "../num/load.h"

bool ti_fold_number(const tc_graph *g, tc_val v, int64_t *out)
{
    if (!ti_is_const(g, v) || tc_type_count(ti_type_of(g, v)) != 1)
        return false;
    *out = ti_load_i64(ti_tensor_of(g, v), 0);
    return true;
}

tc_val ti_fold_value(tc_hw *hw, tc_graph *g, const tc_type *type, const char *name,
                     const void *data)
{
    tc_value *value = tc_new(hw->arena, tc_value);
    *value = (tc_value){.type = type, .name = name, .data = data};
    g->val[g->n_val] = value;
    return (tc_val)g->n_val++;
}

tc_node *ti_fold_node(tc_hw *hw, tc_graph *g, const tc_node *of, tc_op op, const void *attr,
                      int n_in, const tc_val *in, tc_val out)
{
    tc_arena *arena = &hw->ctx->arena;
    tc_node *node = tc_new(arena, tc_node);
    *node = (tc_node){.op = op,
                      .n_in = n_in,
                      .n_out = 1,
                      .in = ti_arena_copy(arena, in, (size_t)n_in * sizeof *in),
                      .out = ti_arena_copy(arena, &out, sizeof out),
                      .attr = attr,
                      .loc = of->loc};
    g->val[out]->def = node;
    return node;
}

tc_val ti_fold_scaled(const tc_graph *g, tc_val v, tc_dtype to, tc_npu_scale *out)
{
    const tc_node *node = ti_def(g, v);
    int64_t factor, shift, from_zero, to_zero;
    if (!node || node->op != TC_OP_tosa_rescale || ti_type_of(g, v)->dtype != to ||
        !ti_fold_number(g, node->in[1], &factor) || !ti_fold_number(g, node->in[2], &shift) ||
        !ti_fold_number(g, node->in[3], &from_zero) || !ti_fold_number(g, node->in[4], &to_zero))
        return TC_NONE;
    const tc_attr_tosa_rescale *a = node->attr;
    bool plain = !from_zero && !to_zero && !a->input_unsigned && !a->output_unsigned &&
                 a->rounding_mode != TC_rounding_inexact;
    *out = (tc_npu_scale){(uint32_t)factor, (uint8_t)shift, 0,
                          a->rounding_mode == TC_rounding_double ? TC_ROUND_DOUBLE
                                                                 : TC_ROUND_NATURAL};
    return plain ? node->in[0] : TC_NONE;
}

bool ti_fold_is_one(const tc_npu_scale *s)
{
    return s->shift < 32 && s->multiplier == UINT32_C(1) << s->shift;
}
