/* SPDX-License-Identifier: Apache-2.0 */
/* fold_shapes.c -- shapes computed from constants and types become constants; ASSERT_EQUAL_SHAPE is
 * checked and removed. */
#include "../lower_pass.h"

#include "../../ir/rewrite.h"
#include "../../ir/settle.h"

/* user: by value of `from`, what shapes hold (ti_known_shapes). */
static tc_status fold(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const int64_t *const *known = rw->user;
    if (node->op == TC_OP_tosa_assert_equal_shape) {
        *done = known[node->in[0]] && known[node->in[1]]; /* they have been compared */
        return TC_OK;
    }
    if (node->op == TC_OP_const || node->n_out != 1 || !known[node->out[0]])
        return TC_OK;
    const tc_value *old = rw->from->val[node->out[0]];
    void *data = ti_arena_copy(&rw->ctx->arena, known[node->out[0]], tc_type_bytes(old->type));
    tc_val v = ti_graph_const(rw->to, old->type, data, old->name, node->loc);
    return ti_rewrite_with(rw, node, v, done);
}

tc_status ti_lower_fold_shapes(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {fold};
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        TC_TRY(ti_check_shapes(g));
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_status status = ti_rewrite_graph(g, rewriters, 1, ti_known_shapes(&ctx->scratch, g));
        ti_arena_rewind(&ctx->scratch, mark);
        TC_TRY(status);
    }
    return TC_OK;
}
