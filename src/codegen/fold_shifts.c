/* SPDX-License-Identifier: Apache-2.0 */
/* fold_shifts.c -- values of 8 and 16 bits that a RESCALE widens and a constant shifts left: one
 * RESCALE, which an addition fuses.
 *
 * TOSA's RESCALE has no such factors for values as large as these; the machine's does. */
#include "fold.h"

enum { ONE = 30 }; /* 2^30 is a factor's one */

/* x 2^n of 8 or 16 bits, nothing rounded; sets n. */
static bool is_exact(const tc_graph *g, const tc_node *node, int64_t *n)
{
    int64_t factor, shift, zero;
    if (!node || node->op != TC_OP_tosa_rescale || ti_type_of(g, node->out[0])->dtype != TC_i32 ||
        tc_dtypes[ti_type_of(g, node->in[0])->dtype].bits > 16 ||
        !ti_fold_number(g, node->in[1], &factor) || !ti_fold_number(g, node->in[2], &shift) ||
        !ti_fold_number(g, node->in[3], &zero) || !ti_fold_number(g, node->in[4], &zero))
        return false;
    *n = ONE - shift;
    return factor == INT64_C(1) << ONE && *n >= 0;
}

static tc_val shift_constant(tc_hw *hw, tc_graph *g, tc_val like, int64_t shift)
{
    int8_t *data = tc_new(hw->arena, int8_t);
    *data = (int8_t)shift;
    return ti_fold_value(hw, g, ti_type_of(g, like), "shift", data);
}

void ti_fold_shifts(tc_hw *hw, tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        int64_t by, n;
        if (node->op != TC_OP_tosa_logical_left_shift || !ti_fold_number(g, node->in[1], &by) ||
            by < 0)
            continue;
        const tc_node *before = ti_def(g, node->in[0]);
        if (!is_exact(g, before, &n))
            continue;
        /* less its zero point, a value has a bit more */
        int bits = tc_dtypes[ti_type_of(g, before->in[0])->dtype].bits + 1;
        if (bits + n + by > 32 || n + by > ONE)
            continue;
        tc_val in[5];
        memcpy(in, before->in, sizeof in);
        in[2] = shift_constant(hw, g, before->in[2], ONE - n - by);
        g->node[k] =
            ti_fold_node(hw, g, node, before->op, before->attr, before->n_in, in, node->out[0]);
    }
}
