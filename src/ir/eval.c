/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c -- the reference interpreter: one node after the other, kernels of num/ only.
 *
 * On quantized values every operator means quantize(op(dequantize(inputs))). */
#include "graph.h"

#include "../num/quant.h"

static tc_status run_kernel(tc_graph *g, const tc_node *node, tc_call *call)
{
    const tc_op_info *info = &tc_ops[node->op];
    tc_ctx *ctx = g->module->ctx;
    if (!info->kernel)
        return tc_unsupported(ctx, node->loc, TC_E_UNSUPPORTED, "'%s' has no kernel yet", info->name);
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    call->scratch = &ctx->scratch;
    info->kernel(call);
    tc_status status = TC_OK;
    if (call->error)
        status = tc_error(ctx, node->loc, TC_E_NUMBERS, "'%s': %s", info->name, call->error);
    tc_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* Operators whose operands and results are what is stored. */
static bool sees_storage(const tc_node *node)
{
    return tc_ops[node->op].tosa || node->op == TC_OP_quantize || node->op == TC_OP_dequantize ||
           node->op == TC_OP_rescale;
}

static tc_status eval_cond(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                           tc_arena *arena)
{
    const tc_attr_cond *a = node->attr;
    const char *name = *(const uint8_t *)in[0].data ? a->then_graph : a->else_graph;
    tc_graph *sub = tc_module_find(g->module, name);
    if (!sub || sub->n_in != (size_t)node->n_in - 1 || sub->n_out != (size_t)node->n_out)
        return tc_error(g->module->ctx, node->loc, TC_E_STRUCTURE,
                        "the graph '%s' does not fit the call", name);
    return tc_eval(sub, in + 1, out, arena);
}

static tc_status eval_while(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                            tc_arena *arena)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_attr_while_loop *a = node->attr;
    tc_graph *cond = tc_module_find(g->module, a->cond_graph);
    tc_graph *body = tc_module_find(g->module, a->body_graph);
    size_t n = (size_t)node->n_in, carried = (size_t)node->n_out;
    if (!cond || !body || cond->n_in != n || body->n_in != n || body->n_out != carried ||
        cond->n_out != 1 || carried > n)
        return tc_error(ctx, node->loc, TC_E_STRUCTURE, "the loop's graphs do not fit the call");
    tc_tensor *state = tc_new_n(arena, tc_tensor, n), go;
    memcpy(state, in, n * sizeof *in);
    for (;;) {
        TC_TRY(tc_eval(cond, state, &go, arena));
        if (!*(const uint8_t *)go.data)
            break;
        tc_tensor *next = tc_new_n(arena, tc_tensor, n);
        memcpy(next, state, n * sizeof *in);
        TC_TRY(tc_eval(body, state, next, arena));
        state = next;
    }
    memcpy(out, state, carried * sizeof *out);
    return TC_OK;
}

tc_status tc_eval_node(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                       tc_arena *arena)
{
    tc_ctx *ctx = g->module->ctx;
    if (node->op == TC_OP_cond)
        return eval_cond(g, node, in, out, arena);
    if (node->op == TC_OP_while_loop)
        return eval_while(g, node, in, out, arena);
    tc_tensor *real_in = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
    tc_tensor *real_out = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
    bool typed = !sees_storage(node);
    for (int i = 0; i < node->n_in; i++)
        real_in[i] = typed && in[i].type && in[i].type->quant ? tc_dequantized(ctx, arena, in[i]) : in[i];
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *type = g->val[node->out[i]]->type;
        out[i] = tc_tensor_new(arena, type);
        real_out[i] = out[i];
        if (typed && type->quant)
            real_out[i] = tc_tensor_new(arena, tc_type_make(ctx, TC_f32, type->rank, type->dim));
    }
    tc_call call = {node->attr, node->n_in, node->n_out, real_in, real_out, NULL, NULL};
    TC_TRY(run_kernel(g, node, &call));
    for (int i = 0; i < node->n_out; i++)
        if (real_out[i].data != out[i].data)
            tc_quantize_into(real_out[i], out[i]);
    return TC_OK;
}

tc_status tc_eval(tc_graph *g, const tc_tensor *in, tc_tensor *out, tc_arena *arena)
{
    tc_tensor *at = tc_new_n(arena, tc_tensor, g->n_val);
    for (size_t i = 0; i < g->n_in; i++)
        at[g->in[i]] = in[i];
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const) {
            at[node->out[0]] = tc_tensor_of(g, node->out[0]);
            continue;
        }
        tc_tensor *operand = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
        tc_tensor *result = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
        for (int i = 0; i < node->n_in; i++)
            operand[i] = at[node->in[i]];
        TC_TRY(tc_eval_node(g, node, operand, result, arena));
        for (int i = 0; i < node->n_out; i++)
            at[node->out[i]] = result[i];
    }
    for (size_t i = 0; i < g->n_out; i++)
        out[i] = at[g->out[i]];
    return TC_OK;
}
