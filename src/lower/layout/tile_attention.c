/* SPDX-License-Identifier: Apache-2.0 */
/* tile_attention.c -- typed form: attention by batch and head.
 *
 * A linear layer over merged heads asks for tiles (tile_values.h), and everything before it
 * follows: all batches and heads at once (stacked_attention.c); where there would be too many
 * scores, some batches at a time: the heads stay separate, from the query's rows of the weights up
 * to the projection.  The old nodes are left to pass `remove-dead-code`.  Only for quantized
 * values: on machines that compute in float, movement is cheap. */
#include "../lower_pass.h"
#include "tile_values.h"

/* Of all attention together: a compiler has to take them. */
enum { HEADS_MAX = 512 };

static tc_status merged_heads(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_val o = ti_merged_heads(rw->from, node);
    if (!o || !ti_type_of(rw->from, node->out[0])->quant)
        return TC_OK;
    tc_tiler *t = ti_tiler_at(rw->user, rw, node);
    tc_val y = ti_tile_stacks(t, node) ? ti_tile_stacked(t, node) : TC_NONE;
    if (!y && t->b.status == TC_OK)
        y = ti_tile_projection(t, node, (tc_range){0, ti_type_of(rw->from, o)->dim[0], 1});
    TC_TRY(t->b.status);
    return ti_rewrite_with(rw, node, y, done);
}

/* Batches that a piece of attention must hold, so that there are not too many pieces. */
static int64_t batches_together(const tc_graph *g)
{
    int64_t pieces = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        tc_val o = ti_merged_heads(g, g->node[k]);
        if (o)
            pieces += ti_type_of(g, o)->dim[0] * ti_type_of(g, o)->dim[1];
    }
    return (pieces + HEADS_MAX - 1) / HEADS_MAX;
}

tc_status ti_lower_tile_attention(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {merged_heads};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_tiler tiler = {.together = batches_together(module->graph[i])};
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &tiler);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
