/* SPDX-License-Identifier: Apache-2.0 */
/* fold_constants.c -- compute what is already known, with the kernels in num/.
 *
 * A node whose operands are all constants becomes constants.  Kept are: buffers that the program
 * changes; dequantize, which says what integers mean, and block_round, which says what is stored;
 * rescales to more bits, which machines fuse into the next operator; and what would grow the file
 * beyond a bound. What the kernels reject (an index out of range, say) is kept: it is an error only
 * if it is ever run.  A branch whose condition is known becomes the nodes of the graph that
 * runs. */
#include "tidy.h"
#include "../run/eval.h"

enum { ALWAYS_FITS = 1 << 20 }; /* bytes; beyond it a result may be four times its operands */

static bool foldable(const tc_rewrite *rw, const tc_node *node)
{
    const tc_op_info *info = &tc_ops[node->op];
    if (node->op == TC_OP_tosa_dim)
        return true; /* by its type */
    if (node->op == TC_OP_const || node->op == TC_OP_dequantize ||
        node->op == TC_OP_block_round || !info->kernel ||
        (!node->n_out && node->op != TC_OP_tosa_assert_equal_shape) || (info->traits & (T_CONTROL | T_STATE)) || node->op == TC_OP_tosa_custom)
        return false;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !ti_rewrite_is_fixed(rw, ti_rewrite_in(rw, node, i)))
            return false;
    return true;
}

/* A constant that a machine rescales to more bits as it reads it: it stays narrow, and so does the
 * next operator. */
static bool widens(const tc_rewrite *rw, const tc_node *node)
{
    return node->op == TC_OP_tosa_rescale && tc_type_bytes(ti_type_of(rw->from, node->out[0])) >
                                                 tc_type_bytes(ti_type_of(rw->from, node->in[0]));
}

static bool fits(const tc_rewrite *rw, const tc_node *node)
{
    size_t in = 0, out = 0;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i])
            in += tc_type_bytes(ti_type_of(rw->from, node->in[i]));
    for (int i = 0; i < node->n_out; i++)
        out += tc_type_bytes(ti_type_of(rw->from, node->out[i]));
    return out <= ALWAYS_FITS || out / 4 <= in;
}

/* The result, or NULL; a rejection gives no message. */
static tc_tensor *evaluate(tc_rewrite *rw, const tc_node *node)
{
    tc_ctx *ctx = rw->ctx;
    tc_tensor *in = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_in);
    tc_tensor *out = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_tensor_of(rw->to, ti_rewrite_in(rw, node, i));
    tc_trial trial;
    ti_trial_begin(ctx, &trial);
    tc_status status = ti_eval_node((tc_graph *)(uintptr_t)rw->from, node, in, out, &ctx->arena);
    ti_trial_end(ctx, &trial);
    return status == TC_OK ? out : NULL;
}

/* op(constants) => constants */
static tc_status fold_constants(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!foldable(rw, node) || widens(rw, node) || !fits(rw, node))
        return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    const tc_tensor *out = evaluate(rw, node);
    for (int i = 0; out && i < node->n_out; i++)
        ti_rewrite_bind(rw, node->out[i],
                        ti_graph_const(rw->to, ti_type_of(rw->from, node->out[i]), out[i].data,
                                       NULL, node->loc));
    *done = out != NULL;
    ti_arena_rewind(&rw->ctx->scratch, mark);
    return TC_OK;
}

/* cond(constant, x...) or COND_IF => the nodes of the graph that it takes, on x... */
static tc_status take_branch(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if ((node->op != TC_OP_cond && node->op != TC_OP_tosa_cond_if) ||
        !ti_rewrite_is_fixed(rw, ti_rewrite_in(rw, node, 0)))
        return TC_OK;
    tc_tensor test = ti_tensor_of(rw->to, ti_rewrite_in(rw, node, 0));
    const tc_graph *g = ti_node_callee(rw->from->module, node, !*(const uint8_t *)test.data);
    if (!g || g->n_mutation || g->n_in != (size_t)node->n_in - 1 || g->n_out < (size_t)node->n_out)
        return TC_OK;
    for (int i = 0; i < node->n_out; i++)
        if (ti_type_of(g, g->out[i]) != ti_type_of(rw->from, node->out[i]))
            return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    tc_rewrite inner = {rw->ctx, g, rw->to, tc_new_n(&rw->ctx->scratch, tc_val, g->n_val), NULL,
                        NULL};
    for (size_t i = 0; i < g->n_in; i++)
        inner.now[g->in[i]] = ti_rewrite_in(rw, node, (int)i + 1);
    for (size_t k = 0; k < g->n_node; k++)
        ti_rewrite_copy(&inner, g->node[k]);
    for (int i = 0; i < node->n_out; i++)
        ti_rewrite_bind(rw, node->out[i], inner.now[g->out[i]]);
    ti_arena_rewind(&rw->ctx->scratch, mark);
    *done = true;
    return TC_OK;
}

TC_REWRITES(ti_tidy_fold_constants, fold_constants, take_branch)
