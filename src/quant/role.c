/* SPDX-License-Identifier: Apache-2.0 */
/* role.c -- see role.h.  op.def and role.def say what an operator is; this file says what its
 * attributes change. */
#include "role.h"

static const tc_role *role_of(tc_op op)
{
    return &tc_roles[tc_ops[op].role];
}

bool ti_role_carries(const tc_node *node, int i)
{
    const tc_role *role = role_of(node->op);
    if (role == &tc_roles[TC_ROLE_carry_set] &&
        ((const tc_attr_scatter *)node->attr)->combine != TC_combine_set)
        return false;
    return ti_among(role->carries, i);
}

bool ti_role_moves(const tc_node *node)
{
    for (int i = 0; i < node->n_in && i < 3; i++)
        if (ti_role_carries(node, i))
            return true;
    return false;
}

bool ti_role_carried(const tc_node *node, int i)
{
    return ti_role_moves(node) && ti_among(role_of(node->op)->carried, i);
}

bool ti_role_clamps(tc_op op)
{
    return role_of(op)->is == TC_IS_clamp;
}
bool ti_role_curve(tc_op op)
{
    return role_of(op)->is == TC_IS_curve;
}

bool ti_role_natural(tc_op op, double *lo, double *hi)
{
    const tc_role *role = role_of(op);
    *lo = role->range == TC_RESULT_sign ? -1 : 0;
    *hi = 1;
    return role->range != TC_RESULT_any;
}

bool ti_role_weight(const tc_node *node, int i)
{
    return ti_among(role_of(node->op)->weight, i);
}

int ti_role_channel_axis(const tc_node *node, const tc_type *w)
{
    const tc_role *role = role_of(node->op);
    /* [in, out / groups, ...]: with groups a channel is not a column of one axis */
    if (role == &tc_roles[TC_ROLE_layer_up] &&
        ((const tc_attr_conv_transpose *)node->attr)->groups != 1)
        return -1;
    return w->rank > 1 ? role->channel : -1;
}

int ti_role_bias(const tc_node *node)
{
    const tc_role *role = role_of(node->op);
    if (role == &tc_roles[TC_ROLE_factors_sum]) {
        const tc_attr_addmm *a = node->attr;
        return a->alpha == 1 && a->beta == 1 ? role->bias : -1;
    }
    return role->bias >= 0 && node->n_in > role->bias && node->in[role->bias] ? role->bias : -1;
}

bool ti_role_real(const tc_node *node, int i)
{
    uint8_t flows = role_of(node->op)->flows;
    return flows != TC_ANY && i >= flows;
}

static bool is_among(tc_op op, const tc_op *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == op)
            return true;
    return false;
}

bool ti_role_reads_wide(tc_op op)
{
    static const tc_op wide[] = {TC_OP_add,        TC_OP_sub,        TC_OP_mul,
                                 TC_OP_layer_norm, TC_OP_group_norm, TC_OP_rms_norm,
                                 TC_OP_softmax,    TC_OP_log_softmax};
    return is_among(op, wide, TC_COUNT(wide));
}

bool ti_role_gives_wide(tc_op op)
{
    static const tc_op wide[] = {
        TC_OP_add,        TC_OP_sub,   TC_OP_mul,           TC_OP_conv,       TC_OP_linear,
        TC_OP_matmul,     TC_OP_addmm, TC_OP_layer_norm,    TC_OP_group_norm, TC_OP_rms_norm,
        TC_OP_batch_norm, TC_OP_mean,  TC_OP_conv_transpose};
    return is_among(op, wide, TC_COUNT(wide));
}

bool ti_role_puts_together(tc_op op)
{
    return op == TC_OP_cat || op == TC_OP_stack || op == TC_OP_slice_scatter ||
           op == TC_OP_select_scatter;
}

bool ti_role_shares(tc_op op)
{
    return op == TC_OP_softmax || op == TC_OP_log_softmax;
}

bool ti_role_steep(tc_op op)
{
    return TC_OP_IN(op, TC_OP_log, TC_OP_log2, TC_OP_log10, TC_OP_log1p, TC_OP_sqrt, TC_OP_rsqrt);
}

bool ti_role_bears_wide(tc_op op)
{
    static const tc_op two[] = {TC_OP_pow, TC_OP_eq, TC_OP_ne, TC_OP_gt,
                                TC_OP_ge,  TC_OP_lt, TC_OP_le};
    bool function = (tc_ops[op].traits & T_ELTWISE) && tc_ops[op].max_in == 1;
    return function || is_among(op, two, TC_COUNT(two));
}
