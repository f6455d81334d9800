/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c -- the types of a node's results, from the shape function that op.def names. */
#include "graph.h"

bool ti_op_sees_storage(tc_op op)
{
    return tc_ops[op].tosa || op == TC_OP_rescale || op == TC_OP_quantize ||
           op == TC_OP_dequantize || op == TC_OP_ethosu || (tc_ops[op].traits & T_CONTROL);
}

bool ti_node_quantized(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && g->val[node->in[i]]->type->quant)
            return true;
    for (int i = 0; i < node->n_out; i++)
        if (g->val[node->out[i]]->type && g->val[node->out[i]]->type->quant)
            return true;
    return false;
}

bool ti_node_late(const tc_graph *g, const tc_node *node)
{
    if (!tc_ops[node->op].tosa || !node->n_out || (tc_ops[node->op].traits & (T_CONTROL | T_STATE)))
        return false;
    bool rows = node->op == TC_OP_tosa_row_gather || node->op == TC_OP_tosa_slice_shape ||
                node->op == TC_OP_tosa_row_gather_block_scaled;
    for (int i = 0; i < node->n_in; i++) {
        bool counts = ti_type_of(g, node->in[i])->dtype == TC_shape || (rows && i == node->n_in - 1);
        if (counts && !ti_is_const(g, node->in[i]))
            return true;
    }
    return false;
}

static tc_status declared_differs(tc_ctx *ctx, const tc_graph *g, const tc_node *node, int i,
                                  const tc_type *declared, const tc_type *computed)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_status status =
        ti_error(ctx, node->loc, TC_E_MISMATCH, "result %d of '%s' is declared %s, and is %s", i,
                 tc_ops[node->op].name, ti_type_text(&ctx->scratch, declared),
                 ti_type_text(&ctx->scratch, computed));
    ti_arena_rewind(&ctx->scratch, mark);
    (void)g;
    return status;
}

/* The result type known beforehand: as declared, and for a call that of the called graph's output.
 */
static const tc_type *given_type(const tc_graph *g, const tc_node *node, int i)
{
    const tc_graph *sub = ti_node_is_call(node) ? ti_node_callee(g->module, node, 0) : NULL;
    if (!sub || sub->n_out != (size_t)node->n_out || sub->out[i] >= sub->n_val ||
        !ti_type_of(sub, sub->out[i]))
        return g->val[node->out[i]]->type;
    const tc_type *inner = ti_type_of(sub, sub->out[i]), *outer = g->val[node->out[i]]->type;
    bool carried = node->op == TC_OP_call && inner == ti_type_carried(g->module->ctx, outer);
    return carried ? outer : inner;
}

/* Indices and counts, i64 in PyTorch, may be kept in 32 bits. */
static bool kept_in_32(const tc_node *node, const tc_type *declared, const tc_type *computed)
{
    bool counts = (tc_ops[node->op].traits & T_REDUCES) || node->op == TC_OP_bucketize ||
                  node->op == TC_OP_topk || node->op == TC_OP_sort || node->op == TC_OP_cumsum;
    return counts && !tc_ops[node->op].tosa && computed->dtype == TC_i64 &&
           declared->dtype == TC_i32 && !declared->quant && ti_same_dims(declared, computed);
}

static tc_status infer(tc_graph *g, tc_node *node, tc_tensor *in, tc_type *out)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_op_info *info = &tc_ops[node->op];
    bool typed = !ti_op_sees_storage(node->op) && ti_node_quantized(g, node);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = ti_tensor_of(g, node->in[i]);
        if (node->in[i] && !in[i].type)
            return ti_bug(ctx, node->loc, "operand %d of '%s' has no type yet", i, info->name);
        bool first = i == 0 && info->min_in && !(info->traits & T_CONTROL);
        if (!node->in[i] && (info->tosa || first))
            return ti_error(ctx, node->loc, TC_E_STRUCTURE, "operand %d of '%s' is left out", i,
                            info->name);
        if (typed && in[i].type && in[i].type->quant)
            in[i] = (tc_tensor){ti_type_real(ctx, in[i].type), NULL};
    }
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *declared = given_type(g, node, i);
        out[i] = declared ? *(typed ? ti_type_real(ctx, declared) : declared)
                          : (tc_type){TC_none, 0, {0}, NULL};
    }
    tc_infer call = {ctx, node->loc, info->name, node->attr, node->n_in, node->n_out, in, out};
    TC_TRY(info->shape(&call));
    for (int i = 0; i < node->n_out; i++) {
        tc_value *value = g->val[node->out[i]];
        if (out[i].dtype == TC_none || ti_dims_count(out[i].rank, out[i].dim) < 0)
            return ti_error(ctx, node->loc, TC_E_TOO_LARGE,
                            "the result of '%s' is too large, or of too high a rank", info->name);
        const tc_type *computed = ti_type_intern(ctx, &out[i]);
        if (!value->type)
            value->type = computed;
        else if ((typed ? ti_type_real(ctx, value->type) : value->type) != computed &&
                 !kept_in_32(node, value->type, computed))
            return declared_differs(ctx, g, node, i, value->type, computed);
    }
    return TC_OK;
}

tc_status ti_node_infer(tc_graph *g, tc_node *node)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_op_info *info = &tc_ops[node->op];
    if (node->n_in < info->min_in || (info->max_in != TC_ANY && node->n_in > info->max_in))
        return ti_error(ctx, node->loc, TC_E_STRUCTURE, "'%s' has %d operands, expected %d to %d",
                        info->name, node->n_in, info->min_in, info->max_in);
    if (info->n_out != TC_ANY && node->n_out != info->n_out)
        return ti_error(ctx, node->loc, TC_E_STRUCTURE, "'%s' has %d results, expected %d",
                        info->name, node->n_out, info->n_out);
    if (info->attr != TC_ATTR_none && !node->attr)
        return ti_error(ctx, node->loc, TC_E_STRUCTURE, "'%s' has no attributes", info->name);
    if (node->op == TC_OP_const)
        return TC_OK; /* its declared type holds */
    if (!info->shape)
        return ti_unsupported(ctx, node->loc, TC_E_UNSUPPORTED, "'%s' has no shape function yet",
                              info->name);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_tensor *in = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_in);
    tc_type *out = tc_new_n(&ctx->scratch, tc_type, (size_t)node->n_out);
    tc_status status = infer(g, node, in, out);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static bool has_results(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_out; i++)
        if (!g->val[node->out[i]]->type)
            return false;
    return true;
}

static tc_status infer_graph(tc_ctx *ctx, tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        tc_node *node = g->node[k];
        if (has_results(g, node))
            continue;
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] && !g->val[node->in[i]]->type)
                return ti_error(ctx, node->loc, TC_E_TYPE, "operand %d of '%s' has no type", i,
                                tc_ops[node->op].name);
        TC_TRY(ti_node_infer(g, node));
    }
    return TC_OK;
}

tc_status ti_infer_missing(tc_ctx *ctx, tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++)
        TC_TRY(infer_graph(ctx, module->graph[i]));
    return TC_OK;
}
