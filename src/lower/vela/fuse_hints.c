/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_hints.c -- TOSA form: where Vela fuses one form and not another, bit-exact.
 *
 * hoist-tables              f(RESHAPE(x)) of i8, f a TABLE or CLAMP  =>  RESHAPE(f(x)), where f
 *                           fuses with what made x
 * add-zero-before-rescale   RESCALE of i32 behind an operator that it cannot be fused with  =>
 *                           behind ADD 0, which it can: a quarter of the cycles */
#include "../layout/tosa_forms.h"

/* ---- hoist-tables ---- */

static tc_status hoist_tables(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_table && node->op != TC_OP_tosa_clamp)
        return TC_OK;
    const tc_node *moved = ti_rewrite_def(rw, node, 0);
    if (!moved || moved->op != TC_OP_tosa_reshape || rw->readers[node->in[0]] != 1 ||
        ti_type_of(rw->from, node->in[0])->dtype != TC_i8 ||
        ti_type_of(rw->from, node->out[0])->dtype != TC_i8)
        return TC_OK;
    const tc_node *made = ti_def(rw->to, moved->in[0]);
    if (!made || made->op != TC_OP_tosa_rescale)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val in[2] = {moved->in[0], node->n_in > 1 ? ti_rewrite_in(rw, node, 1) : TC_NONE};
    tc_val y = ti_b_op(&lw, node->op, node->attr, in, node->n_in);
    y = ti_b_2(&lw, tosa_reshape, NULL, y, moved->in[1]);
    return ti_b_replace(&lw, y, done);
}

tc_status ti_lower_hoist_tables(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, hoist_tables);
}

/* ---- add-zero-before-rescale ---- */

/* Element by element in 32 bits, and not one that a rescale becomes part of. */
static bool keeps_wide(const tc_graph *g, const tc_node *def)
{
    switch (def->op) {
    case TC_OP_tosa_logical_left_shift:
    case TC_OP_tosa_logical_right_shift:
    case TC_OP_tosa_arithmetic_right_shift:
    case TC_OP_tosa_clz:
        return true;
    case TC_OP_tosa_mul:
        for (int i = 0; i < 2; i++) {
            const tc_node *from = ti_def(g, def->in[i]);
            if (ti_type_of(g, def->in[i])->dtype != TC_i32 ||
                (from && from->op == TC_OP_tosa_rescale))
                return false;
        }
        return true;
    default:
        return false;
    }
}

static tc_status add_zero_before_rescale(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_rescale || rw->readers[node->in[0]] != 1 ||
        ((const tc_attr_tosa_rescale *)node->attr)->per_channel ||
        ti_type_of(rw->from, node->in[0])->dtype != TC_i32 ||
        ti_type_of(rw->from, node->out[0])->dtype == TC_i32 ||
        ti_type_of(rw->from, node->in[0])->rank == 0)
        return TC_OK;
    const tc_node *def = ti_rewrite_def(rw, node, 0);
    if (!def || !keeps_wide(rw->to, def))
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val x = ti_rewrite_in(rw, node, 0);
    tc_val none = ti_b_single(&lw, TC_i32, ti_type_of(rw->to, x)->rank, 0);
    tc_val sum = ti_b_tosa_add(&lw, x, none);
    TC_TRY(lw.status);
    ti_rewrite_copy(rw, node);
    rw->to->node[rw->to->n_node - 1]->in[0] = sum;
    *done = true;
    return TC_OK;
}

tc_status ti_lower_add_zero_before_rescale(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, add_zero_before_rescale);
}
