/* SPDX-License-Identifier: Apache-2.0 */
/* isolate_reshapes.c -- TOSA form: around what Vela translates wrongly of reshapes, bit-exact.
 *
 * transpose-constants        TRANSPOSE of a constant  =>  a constant
 * isolate-reshaped-matmuls   CONCAT or PAD of RESHAPE(MATMUL)  =>  with a pause in front of it
 * isolate-reduce-min         RESHAPE(REDUCE_MIN), and REDUCE_MIN of what is reshaped  =>  with a
 *                            pause in between */
#include "../lower_pass.h"

#include "../layout/axis_order.h"
#include "pause.h"

/* ---- transpose-constants ---- */

static tc_status transpose_constants(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_transpose || !ti_is_const(rw->to, ti_rewrite_in(rw, node, 0)) ||
        ti_type_of(rw->from, node->out[0])->quant)
        return TC_OK;
    const tc_value *x = rw->to->val[ti_rewrite_in(rw, node, 0)];
    const int64_t *perm = ((const tc_attr_tosa_perms *)node->attr)->perms.v;
    ti_rewrite_bind(rw, node->out[0],
                    ti_graph_const(rw->to, ti_type_of(rw->from, node->out[0]),
                                   ti_transposed(&rw->ctx->arena, x->type, x->data, perm), x->name,
                                   node->loc));
    *done = true;
    return TC_OK;
}

tc_status ti_lower_transpose_constants(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *[]){transpose_constants}, 1, NULL);
}

/* ---- isolate-reshaped-matmuls ---- */

/* RESHAPE(MATMUL), with a RESCALE or without. */
static bool is_reshaped_product(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    if (!def || def->op != TC_OP_tosa_reshape)
        return false;
    def = ti_behind_reshapes(g, v);
    if (def && def->op == TC_OP_tosa_rescale)
        def = ti_def(g, def->in[0]);
    return def && def->op == TC_OP_tosa_matmul;
}

static tc_status isolate_reshaped_matmuls(tc_rewrite *rw, const tc_node *node, bool *done)
{
    return ti_pause_parts(rw, node, is_reshaped_product, done);
}

tc_status ti_lower_isolate_reshaped_matmuls(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *[]){isolate_reshaped_matmuls}, 1, NULL);
}

/* ---- isolate-reduce-min ---- */

/* RESHAPE(REDUCE_MIN) */
static tc_status lowest_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!ti_is_view(rw->from, node) || !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *def = ti_rewrite_def(rw, node, 0);
    return def && def->op == TC_OP_tosa_reduce_min ? ti_pause_operands(rw, node, 1, done) : TC_OK;
}

/* REDUCE_MIN of numbers that are read in another shape as well: it takes that one. */
static tc_status lowest_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const bool *reshaped = rw->user;
    if (node->op != TC_OP_tosa_reduce_min || !ti_can_pause(ti_type_of(rw->from, node->in[0])) ||
        !reshaped[ti_memory_of(rw->from, node->in[0])])
        return TC_OK;
    return ti_pause_operands(rw, node, 1, done);
}

tc_status ti_lower_isolate_reduce_min(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {lowest_first, lowest_last};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_graph *g = module->graph[i];
        bool *reshaped = tc_new_n(&ctx->scratch, bool, g->n_val);
        for (size_t k = 0; k < g->n_node; k++)
            if (ti_is_view(g, g->node[k]))
                reshaped[ti_memory_of(g, g->node[k]->in[0])] = true;
        status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), reshaped);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
