/* SPDX-License-Identifier: Apache-2.0 */
/* isolate_slices.c -- TOSA form: RESCALE from or to i32 of a SLICE, PAD, CONCAT or TILE, and those
 * of such a RESCALE.
 *
 * Vela makes the RESCALE a MUL and forgets where the slice lies: with a pause in between, unless it
 * is fused with a neighbour.  A RESHAPE of one likewise, where several read it. */
#include "../lower_pass.h"

#include "pause.h"

static bool is_wide_rescale(const tc_graph *g, const tc_node *node)
{
    return node && node->op == TC_OP_tosa_rescale &&
           (ti_type_of(g, node->in[0])->dtype == TC_i32 ||
            ti_type_of(g, node->out[0])->dtype == TC_i32);
}

/* What Vela computes in one operation, both rescales included: factors of one; of sums also
 * equal whole ones, or unlike ones of which the larger is 2^19 (i8) or 2^14 (i16). */
static bool is_joined(const tc_graph *g, const tc_node *node)
{
    bool sum = node->op == TC_OP_tosa_add || node->op == TC_OP_tosa_sub;
    if (!sum && node->op != TC_OP_tosa_mul && node->op != TC_OP_tosa_maximum &&
        node->op != TC_OP_tosa_minimum)
        return false;
    tc_rescale_factor side[2];
    double factor[2];
    for (int i = 0; i < 2; i++) {
        if (!ti_read_rescale_factor(g, ti_def(g, node->in[i]), &side[i]))
            return false;
        factor[i] = (double)side[i].multiplier / (double)(INT64_C(1) << side[i].shift);
    }
    tc_dtype a = ti_type_of(g, side[0].node->in[0])->dtype,
             b = ti_type_of(g, side[1].node->in[0])->dtype;
    if (a != b || (a != TC_i8 && a != TC_i16))
        return false;
    if (factor[0] == 1 && factor[1] == 1)
        return true;
    double top = a == TC_i8 ? 0x1p19 : 0x1p14, most = factor[0] > factor[1] ? factor[0] : factor[1];
    return sum && ((factor[0] == factor[1] && ti_whole_factor(&side[0])) ||
                   (factor[0] != factor[1] && most == top));
}

/* Whether the RESCALE is taken in by what it reads. */
static bool is_taken_in(const tc_graph *g, const tc_node *rescale)
{
    const tc_node *def = ti_def(g, rescale->in[0]);
    if (!def)
        return false;
    if (tc_ops[def->op].traits & T_MAC || def->op == TC_OP_tosa_reduce_sum)
        return true;
    tc_rescale_factor c;
    bool picks = def->op == TC_OP_tosa_maximum || def->op == TC_OP_tosa_minimum;
    return is_joined(g, def) && (!picks || (ti_read_rescale_factor(g, rescale, &c) &&
                                            c.multiplier == INT64_C(1) << c.shift));
}

/* The only reader of each value; NULL where there are more, or an output. */
typedef struct only_reader {
    const tc_node **node;
} only_reader;

static const tc_node **find_readers(tc_ctx *ctx, const tc_graph *g)
{
    const uint32_t *n = ti_graph_readers(ctx, g);
    const tc_node **reader = tc_new_n(&ctx->scratch, const tc_node *, g->n_val);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] && n[g->node[k]->in[i]] == 1)
                reader[g->node[k]->in[i]] = g->node[k];
    return reader;
}

/* A slice, as it is or through rescales that become one with the last. */
static bool is_cut_before(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_behind_reshapes(g, v);
    while (def && def->op == TC_OP_tosa_rescale && !is_wide_rescale(g, def)) {
        v = def->in[0];
        def = ti_behind_reshapes(g, v);
    }
    return ti_is_cut(g, v);
}

/* RESCALE(SLICE) */
static tc_status slice_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    if (!is_wide_rescale(rw->from, node) ||
        !is_cut_before(rw->to, ti_rewrite_in(rw, node, 0)) ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *reader = only->node[node->out[0]];
    if (reader && is_joined(rw->from, reader))
        return TC_OK;
    return ti_pause_operands(rw, node, 1, done);
}

/* CONCAT(RESCALE), PAD(RESCALE), SLICE(RESCALE) */
static tc_status slice_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    bool concat = node->op == TC_OP_tosa_concat;
    if ((!concat && node->op != TC_OP_tosa_pad && node->op != TC_OP_tosa_slice) ||
        !ti_can_pause(ti_type_of(rw->from, node->out[0])))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = ti_rewrite_in(rw, node, i);
        if (i && !concat)
            continue;
        const tc_node *def = ti_behind_reshapes(rw->to, in[i]),
                      *was = ti_behind_reshapes(rw->from, node->in[i]);
        bool alone =
            was && was->n_in && only->node[was->in[0]]; /* else what it reads stays as it is */
        if (!is_wide_rescale(rw->to, def) || (alone && is_taken_in(rw->to, def)))
            continue;
        in[i] = ti_put_pause(&b, in[i]);
        any = true;
    }
    if (!any)
        return TC_OK;
    return ti_b_replace(&b, ti_b_op(&b, node->op, node->attr, in, node->n_in), done);
}

/* RESHAPE(RESCALE) that several read: each gets a RESCALE of its own, in the shape before. */
static tc_status shape_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    if (!ti_is_view(rw->from, node) || only->node[node->out[0]] ||
        !is_wide_rescale(rw->to, ti_rewrite_def(rw, node, 0)) ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *was = ti_def(rw->from, node->in[0]);
    if (was && was->n_in && only->node[was->in[0]] &&
        is_taken_in(rw->to, ti_rewrite_def(rw, node, 0)))
        return TC_OK;
    return ti_pause_operands(rw, node, 1, done);
}

tc_status ti_lower_isolate_slice_rescales(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {slice_first, slice_last, shape_last};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        only_reader only = {find_readers(ctx, module->graph[i])};
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &only);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
