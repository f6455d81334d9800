/* SPDX-License-Identifier: Apache-2.0 */
/* fold_shifts.c -- numbers of 8 and 16 bits that a RESCALE widens and a constant moves left: one
 * RESCALE, which an addition takes along.
 *
 * TOSA's RESCALE has no such factors for numbers as large as these; the machine's does. */
#include "../num/load.h"
#include "select.h"

enum { ONE = 30 }; /* 2^30 is a factor's one */

/* x 2^n of 8 or 16 bits, nothing rounded; sets n. */
static bool is_exact(const tc_graph *g, const tc_node *node, int64_t *n)
{
    if (!node || node->op != TC_OP_tosa_rescale || ti_type_of(g, node->out[0])->dtype != TC_i32 ||
        tc_dtypes[ti_type_of(g, node->in[0])->dtype].bits > 16)
        return false;
    for (int i = 1; i < node->n_in; i++)
        if (!ti_is_const(g, node->in[i]) || tc_type_count(ti_type_of(g, node->in[i])) != 1)
            return false;
    *n = ONE - ti_load_i64(ti_tensor_of(g, node->in[2]), 0);
    return ti_load_i64(ti_tensor_of(g, node->in[1]), 0) == INT64_C(1) << ONE && *n >= 0;
}

/* By how much a constant of one element moves left; -1: there is none. */
static int64_t moved_by(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_tosa_logical_left_shift || !ti_is_const(g, node->in[1]) ||
        tc_type_count(ti_type_of(g, node->in[1])) != 1)
        return -1;
    return ti_load_i64(ti_tensor_of(g, node->in[1]), 0);
}

static tc_val shift_constant(tc_hw *hw, tc_graph *g, tc_val like, int64_t shift)
{
    int8_t *data = tc_new(hw->arena, int8_t);
    tc_value *value = tc_new(hw->arena, tc_value);
    *data = (int8_t)shift;
    *value = (tc_value){.type = ti_type_of(g, like), .name = "shift", .data = data};
    g->val[g->n_val] = value;
    return (tc_val)g->n_val++;
}

void ti_sel_fold_shifts(tc_hw *hw, tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        int64_t by = moved_by(g, node), n = 0;
        const tc_node *before = by >= 0 ? ti_def(g, node->in[0]) : NULL;
        if (!is_exact(g, before, &n))
            continue;
        /* with its zero point taken off, a number has a bit more */
        int bits = tc_dtypes[ti_type_of(g, before->in[0])->dtype].bits + 1;
        if (bits + n + by > 32 || n + by > ONE)
            continue;
        tc_node *one = tc_new(&hw->ctx->arena, tc_node);
        tc_val *in = ti_arena_copy(hw->arena, before->in, (size_t)before->n_in * sizeof *in);
        *one = *before;
        in[2] = shift_constant(hw, g, before->in[2], ONE - n - by);
        one->in = in;
        one->out = node->out;
        one->loc = node->loc;
        g->node[k] = one;
        g->val[one->out[0]]->def = one;
    }
}
