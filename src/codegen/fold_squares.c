/* SPDX-License-Identifier: Apache-2.0 */
/* fold_squares.c -- U85: the sum of x * x along channels, x of 8 bits.
 *
 * In TOSA it is a MUL, RESCALEs that change nothing (squares have 15 bits) and a REDUCE_SUM.  Where MUL and
 * REDUCE_SUM are one operator, it may be a matrix product of x and itself (select_reduce.c). */
#include "fold.h"

/* x, where v is x * x through RESCALEs of factor one to 16 and 32 bits. */
static tc_val squared(const tc_graph *g, tc_val v)
{
    const tc_node *node = ti_def(g, v);
    while (node && node->op == TC_OP_tosa_rescale) {
        tc_npu_scale q;
        tc_dtype to = ti_type_of(g, v)->dtype;
        v = to == TC_i16 || to == TC_i32 ? ti_fold_scaled(g, v, to, &q) : TC_NONE;
        node = v && ti_fold_is_one(&q) ? ti_def(g, v) : NULL;
    }
    bool square = node && node->op == TC_OP_tosa_mul && node->in[0] == node->in[1];
    return square && ti_type_of(g, node->in[0])->dtype == TC_i8 ? node->in[0] : TC_NONE;
}

void ti_fold_squares(tc_hw *hw, tc_graph *g)
{
    for (size_t k = 0; k < g->n_node && ti_hw_is_u85(hw); k++) {
        const tc_node *node = g->node[k];
        const tc_attr_tosa_axis *a = node->attr;
        if (node->op != TC_OP_tosa_reduce_sum || a->axis != ti_type_of(g, node->in[0])->rank - 1)
            continue;
        tc_val x = squared(g, node->in[0]), both[2] = {x, x};
        if (x)
            g->node[k] = ti_fold_node(hw, g, node, node->op, node->attr, 2, both, node->out[0]);
    }
}
