/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.c -- what ExecuTorch's Arm quantizer does differently: doc/figures/anchor-parameters.md. */
#include "dataflow.h"

bool ti_anchor_shares(tc_op op)
{
    static const tc_op ops[] = {TC_OP_relu,
                                TC_OP_clamp,
                                TC_OP_clamp_tensor,
                                TC_OP_silu,
                                TC_OP_avg_pool,
                                TC_OP_adaptive_avg_pool,
                                TC_OP_upsample_linear,
                                TC_OP_eq,
                                TC_OP_ne,
                                TC_OP_lt,
                                TC_OP_le,
                                TC_OP_gt,
                                TC_OP_ge,
                                TC_OP_cond,
                                TC_OP_while_loop};
    for (size_t i = 0; i < TC_COUNT(ops); i++)
        if (ops[i] == op)
            return true;
    return false;
}

/* PyTorch operators that the anchor distinguishes and the graph does not, by their full names.
 */
static const char *const spellings[][2] = {
    [TC_SPELLED_MATMUL] = {"aten.matmul.default", NULL},
    [TC_SPELLED_HARDTANH] = {"aten.hardtanh.default", "aten.hardtanh_.default"},
    [TC_SPELLED_CONTIGUOUS] = {"aten.contiguous.default", NULL},
    [TC_SPELLED_MAX_POOL1D] = {"aten.max_pool1d.default", NULL},
};

bool ti_anchor_spelled(const tc_node *node, tc_spelling as)
{
    const char *target = node->loc->target;
    for (int i = 0; i < 2 && target; i++)
        if (spellings[as][i] && ti_text_eq(target, spellings[as][i]))
            return true;
    return false;
}

bool ti_anchor_parts(const tc_node *node, int operand)
{
    bool adds =
        node->op == TC_OP_index_put && ((const tc_attr_index_put *)node->attr)->accumulate;
    return (adds && operand == 1) || ti_anchor_spelled(node, TC_SPELLED_MAX_POOL1D);
}

/* Whether PyTorch stores the tensor contiguously. */
static bool contiguous(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    if (!def || !(tc_ops[def->op].traits & T_MOVES))
        return true;
    switch (def->op) {
    case TC_OP_permute:
    case TC_OP_expand:
        return false;
    case TC_OP_select:
        return ((const tc_attr_select *)def->attr)->axis == 0 && contiguous(g, def->in[0]);
    case TC_OP_unbind:
        return ((const tc_attr_axis *)def->attr)->axis == 0 && contiguous(g, def->in[0]);
    case TC_OP_slice:
        return ((const tc_attr_slice *)def->attr)->axis == 0 && contiguous(g, def->in[0]);
    case TC_OP_split:
        return ((const tc_attr_split *)def->attr)->axis == 0 && contiguous(g, def->in[0]);
    case TC_OP_identity:
        return !def->loc->target || ti_anchor_spelled(def, TC_SPELLED_CONTIGUOUS) ||
               contiguous(g, def->in[0]);
    default:
        return true;
    }
}

uint8_t ti_anchor_looks(const tc_dataflow *f, tc_val v)
{
    unsigned looks = 1;
    for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++) {
        const tc_node *node = f->use[u].node;
        bool batched = node->op == TC_OP_matmul && ti_type_of(f->g, node->in[0])->rank > 2 &&
                       ti_type_of(f->g, node->in[1])->rank > 2;
        if (batched && ti_anchor_spelled(node, TC_SPELLED_MATMUL))
            looks += contiguous(f->g, v) ? 2 : 3;
    }
    return (uint8_t)ti_min_i64(looks, UINT8_MAX);
}
