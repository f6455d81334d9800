/* SPDX-License-Identifier: Apache-2.0 */
/* round_to_blocks.c -- operands of linear layers and convolutions become block scaled: 32 input
 * channels share a scale (num/block_scaled.h).
 *
 *   linear(x, w)  =>  linear(block_round(x), block_round(w))
 *
 * Everything else stays real.  No data is needed: activations get their scales when they are
 * computed. */
#include "round_to_blocks.h"

#include "../ir/build.h"
#include "../ir/rewrite.h"
#include "../num/block_scaled.h"

typedef struct pass {
    const tc_config *config;
    tc_block_report *report;
} pass;

/* Products that TOSA has no block-scaled form of, or that have no constant weights. */
static bool is_other_product(tc_op op)
{
    static const tc_op ops[] = {TC_OP_matmul,   TC_OP_addmm,     TC_OP_einsum,       TC_OP_sdpa,
                                TC_OP_lstm,     TC_OP_gru,       TC_OP_rnn_tanh,     TC_OP_rnn_relu,
                                TC_OP_lstm_cell, TC_OP_gru_cell, TC_OP_rnn_tanh_cell, TC_OP_rnn_relu_cell,
                                TC_OP_conv_transpose};
    for (size_t i = 0; i < TC_COUNT(ops); i++)
        if (ops[i] == op)
            return true;
    return false;
}

/* Input channels that each output reads, and their groups. */
static int64_t channels_of(const tc_node *node, const tc_type *w, int64_t *groups)
{
    *groups = node->op == TC_OP_conv ? ((const tc_attr_conv *)node->attr)->groups : 1;
    return node->op == TC_OP_conv ? w->dim[1] : w->dim[w->rank - 1];
}

/* Why a product stays real; NULL: it need not. */
static const char *why_real(tc_ctx *ctx, const tc_graph *g, const tc_node *node,
                            const tc_scheme *scheme)
{
    const tc_type *x = ti_type_of(g, node->in[0]), *w = ti_type_of(g, node->in[1]);
    int64_t groups, n = channels_of(node, w, &groups);
    if (!ti_is_block(scheme->act.dtype) && !ti_is_block(scheme->weight.dtype))
        return "its settings leave it in float";
    if (x->dtype != TC_f32 || w->dtype != TC_f32)
        return ti_text_format(&ctx->arena, "its operands are %s and %s", tc_dtypes[x->dtype].name,
                              tc_dtypes[w->dtype].name);
    if (!ti_is_const(g, node->in[1]))
        return "its weights are computed";
    if (node->op == TC_OP_conv && w->rank > 4)
        return "TOSA's block-scaled convolutions have two axes";
    if (groups > 1 && n % TC_BLOCK)
        return ti_text_format(&ctx->arena,
                              "its %" PRId64 " groups have %" PRId64 " input channel%s each, and a block has %d",
                              groups, n, n == 1 ? "" : "s", TC_BLOCK);
    if (2 * n < TC_BLOCK)
        return ti_text_format(&ctx->arena,
                              "it has %" PRId64 " input channel%s: most of a block of %d would be padding", n,
                              n == 1 ? "" : "s", TC_BLOCK);
    return NULL;
}

static void report(tc_ctx *ctx, tc_block_report *r, const tc_node *node, const char *why)
{
    if (!r)
        return;
    if (!why) {
        r->n_block++;
        return;
    }
    tc_grow(&ctx->arena, r->left, r->n_left, r->cap_left);
    r->left[r->n_left++] = (tc_block_left){node->op, node->loc, why};
}

static tc_val rounded(tc_build *b, tc_val x, tc_dtype block, int axis)
{
    return ti_is_block(block) ? ti_b_1(b, block_round, ti_b_attr(b, block, block, axis), x) : x;
}

static tc_status round_operands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    pass *p = rw->user;
    bool layer = node->op == TC_OP_linear || node->op == TC_OP_conv;
    if (!layer && is_other_product(node->op))
        report(rw->ctx, p->report, node, "only linear layers and convolutions have block-scaled forms");
    if (!layer)
        return TC_OK;
    tc_level level;
    tc_scheme scheme =
        ti_config_scheme(p->config, node->loc, rw->from->val[node->out[0]]->name, &level);
    const char *why = why_real(rw->ctx, rw->from, node, &scheme);
    report(rw->ctx, p->report, node, why);
    if (why)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    const tc_type *x = ti_type_of(rw->from, node->in[0]), *w = ti_type_of(rw->from, node->in[1]);
    bool linear = node->op == TC_OP_linear;
    tc_val in[3] = {rounded(&b, ti_rewrite_in(rw, node, 0), scheme.act.dtype,
                            linear ? x->rank - 1 : x->rank - (w->rank - 1))};
    in[1] = rounded(&b, ti_rewrite_in(rw, node, 1), scheme.weight.dtype, linear ? w->rank - 1 : 1);
    in[2] = node->n_in > 2 && node->in[2] ? ti_rewrite_in(rw, node, 2) : TC_NONE;
    return ti_b_again(&b, in, node->n_in, done);
}

tc_status ti_quant_round_to_blocks(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                   tc_block_report *out)
{
    static tc_rewriter *const rewriters[] = {round_operands};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), &(pass){config, out});
}
