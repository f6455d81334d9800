/* SPDX-License-Identifier: Apache-2.0 */
/* role.c -- see role.h. */
#include "role.h"

bool tc_role_carries(const tc_node *node, int i)
{
    switch (node->op) {
    case TC_OP_max_pool:
    case TC_OP_adaptive_max_pool:
    case TC_OP_amax:
    case TC_OP_amin:
    case TC_OP_max_dim:
    case TC_OP_min_dim:
    case TC_OP_topk:
    case TC_OP_sort:
    case TC_OP_upsample_nearest:
    case TC_OP_upsample_nearest_exact:
        return i == 0;
    case TC_OP_where:
        return i > 0;
    case TC_OP_scatter:
        return i != 1 && ((const tc_attr_scatter *)node->attr)->combine == TC_combine_set;
    case TC_OP_cat:
    case TC_OP_stack:
        return true;
    case TC_OP_index_put:
    case TC_OP_slice_scatter:
    case TC_OP_select_scatter:
        return i < 2;
    case TC_OP_index_copy:
        return i != 1;
    default:
        return i == 0 && (tc_ops[node->op].traits & T_MOVES);
    }
}

bool tc_role_moves(const tc_node *node)
{
    for (int i = 0; i < node->n_in && i < 3; i++)
        if (tc_role_carries(node, i))
            return true;
    return false;
}

bool tc_role_carried(const tc_node *node, int i)
{
    bool cuts = node->op == TC_OP_split || node->op == TC_OP_unbind;
    return tc_role_moves(node) && (i == 0 || cuts);
}

bool tc_role_clamps(tc_op op)
{
    return op == TC_OP_relu || op == TC_OP_clamp;
}

bool tc_role_curve(tc_op op)
{
    static const tc_op curve[] = {
        TC_OP_gelu, TC_OP_silu, TC_OP_hardswish, TC_OP_hardsigmoid, TC_OP_sigmoid, TC_OP_tanh,
        TC_OP_mish, TC_OP_elu,  TC_OP_softplus,  TC_OP_log_sigmoid, TC_OP_erf,     TC_OP_softsign};
    for (size_t i = 0; i < TC_COUNT(curve); i++)
        if (curve[i] == op)
            return true;
    return false;
}

bool tc_role_natural(tc_op op, double *lo, double *hi)
{
    *hi = 1;
    *lo = op == TC_OP_tanh || op == TC_OP_rnn_tanh ? -1 : 0;
    return op == TC_OP_softmax || op == TC_OP_sigmoid || op == TC_OP_tanh;
}

bool tc_role_weight(const tc_node *node, int i)
{
    switch (node->op) {
    case TC_OP_conv:
    case TC_OP_conv_transpose:
    case TC_OP_linear:
        return i == 1;
    case TC_OP_matmul:
        return i < 2;
    case TC_OP_addmm:
        return i == 1 || i == 2;
    default:
        return false;
    }
}

int tc_role_channel_axis(const tc_node *node, const tc_type *w)
{
    switch (node->op) {
    case TC_OP_conv:
    case TC_OP_linear:
        return w->rank > 1 ? 0 : -1;
    case TC_OP_conv_transpose: /* [in, out / groups, ...]: with groups a channel is no row of one
                                  axis */
        return ((const tc_attr_conv_transpose *)node->attr)->groups == 1 ? 1 : -1;
    default: /* a product of two matrices has one scale for each; where it can be, it is a linear
                layer by now */
        return -1;
    }
}

int tc_role_bias(const tc_node *node)
{
    if (node->op == TC_OP_addmm) {
        const tc_attr_addmm *a = node->attr;
        return a->alpha == 1 && a->beta == 1 ? 0 : -1;
    }
    bool has =
        node->op == TC_OP_conv || node->op == TC_OP_conv_transpose || node->op == TC_OP_linear;
    return has && node->n_in > 2 && node->in[2] ? 2 : -1;
}

/* How many of a composite's operands, from the first, are numbers that flow; the others stay real.
 */
static int flowing(tc_op op)
{
    switch (op) {
    case TC_OP_sdpa: /* the mask may be infinite */
    case TC_OP_lstm:
    case TC_OP_lstm_cell:
        return 3;
    case TC_OP_gru:
    case TC_OP_rnn_tanh:
    case TC_OP_rnn_relu:
    case TC_OP_gru_cell:
    case TC_OP_rnn_tanh_cell:
    case TC_OP_rnn_relu_cell:
        return 2;
    default:
        return 1;
    }
}

bool tc_role_real(const tc_node *node, int i)
{
    return (tc_ops[node->op].traits & T_COMPOSITE) && i >= flowing(node->op);
}
