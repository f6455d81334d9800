/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c -- the reference interpreter: one node after the other, kernels of num/ only.
 *
 * On quantized values every operator means quantize(op(dequantize(inputs))); ti_op_nan_is_zero says
 * where NaN is 0. */
#include "eval.h"

#include "../num/quant.h"

enum { MOST_ROUNDS = 10 * 1000 * 1000 }; /* of a loop */

void ti_call_kernel(const tc_ctx *ctx, tc_op op, tc_kernel *kernel, tc_call *call)
{
    if (op == TC_OP_ethosu && ctx->device)
        ctx->device->run(ctx->device, call);
    else
        kernel(call);
}

static tc_status run_kernel(tc_graph *g, const tc_node *node, tc_call *call)
{
    const tc_op_info *info = &tc_ops[node->op];
    tc_ctx *ctx = g->module->ctx;
    if (!info->kernel)
        return ti_unsupported(ctx, node->loc, TC_E_UNSUPPORTED,
                              "'%s' cannot be run here: it is a custom operator",
                              info->name);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    call->scratch = &ctx->scratch;
    ti_call_kernel(ctx, node->op, info->kernel, call);
    tc_status status = TC_OK;
    if (call->error)
        status = ti_error(ctx, node->loc, TC_E_NUMBERS, "'%s': %s", info->name, call->error);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* The called graph, if it takes these operands and gives this many results. */
static tc_status callee(tc_graph *g, const tc_node *node, const char *name, const tc_tensor *in,
                        size_t n_in, size_t n_out, tc_graph **out)
{
    tc_graph *sub = ti_module_find(g->module, name);
    bool fits = sub && sub->n_in == n_in && sub->n_out == n_out;
    for (size_t i = 0; fits && i < n_in; i++) {
        const tc_type *type = ti_type_of(sub, sub->in[i]);
        fits = type && in[i].type && type->dtype == in[i].type->dtype &&
               ti_same_dims(type, in[i].type);
    }
    *out = sub;
    return fits ? TC_OK
                : ti_error(g->module->ctx, node->loc, TC_E_STRUCTURE,
                           "the graph '%s' is missing or does not match the call", name);
}

static tc_status eval_cond(tc_graph *g, const tc_node *node, const char *then_graph,
                           const char *else_graph, const tc_tensor *in, tc_tensor *out,
                           tc_arena *arena)
{
    tc_graph *sub;
    const char *name = *(const uint8_t *)in[0].data ? then_graph : else_graph;
    TC_TRY(callee(g, node, name, in + 1, (size_t)node->n_in - 1, (size_t)node->n_out, &sub));
    return ti_eval(sub, in + 1, out, arena);
}

/* A region takes the bytes of u8 as i8 (ti_type_carried). */
static tc_tensor passed(tc_tensor t, const tc_type *as)
{
    bool same = t.type && as && (t.type->dtype == TC_u8 || t.type->dtype == TC_i8) &&
                (as->dtype == TC_u8 || as->dtype == TC_i8) && !t.type->quant && !as->quant &&
                ti_same_dims(t.type, as);
    return same ? (tc_tensor){as, t.data} : t;
}

static tc_status eval_call(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                           tc_arena *arena)
{
    const tc_attr_call *call = node->attr;
    size_t n_in = (size_t)node->n_in, n_out = (size_t)node->n_out;
    tc_graph *sub = ti_module_find(g->module, call->graph);
    tc_tensor *inner = ti_arena_copy(arena, in, n_in * sizeof *in);
    for (size_t i = 0; sub && i < n_in && i < sub->n_in; i++)
        inner[i] = passed(in[i], ti_type_of(sub, sub->in[i]));
    TC_TRY(callee(g, node, call->graph, inner, n_in, n_out, &sub));
    TC_TRY(ti_eval(sub, inner, out, arena));
    for (size_t i = 0; i < n_out; i++)
        out[i] = passed(out[i], ti_type_of(g, node->out[i]));
    return TC_OK;
}

/* The part of a tensor that the graph is given, or gives, at time t. */
static tc_tensor part_of(tc_tensor all, const tc_type *type, int64_t move, int64_t t, int64_t times)
{
    int64_t at = ti_repeat_part(move, t, times) * (int64_t)tc_type_bytes(type);
    return (tc_tensor){type, (uint8_t *)all.data + at};
}

/* The first `until` times; inner: the operands of the time after that.  out NULL: its results are not
 * asked for. */
static tc_status repeat(tc_graph *g, const tc_node *node, const tc_tensor *in, int64_t until,
                        tc_tensor *inner, tc_tensor *out, tc_arena *arena)
{
    const tc_attr_call_times *a = node->attr;
    tc_graph *sub = ti_node_callee(g->module, node, 0);
    tc_tensor *result = tc_new_n(arena, tc_tensor, (size_t)node->n_out + 1);
    for (int i = 0; i < node->n_in; i++)
        if (a->carried.v[i] >= 0) {
            inner[i] = ti_tensor_new(arena, ti_type_of(sub, sub->in[i]));
            memcpy(inner[i].data, in[i].data, tc_type_bytes(inner[i].type));
        }
    for (int64_t t = 0; t <= until; t++) {
        tc_mark mark = ti_arena_mark(arena);
        for (int i = 0; i < node->n_in; i++)
            if (a->carried.v[i] < 0)
                inner[i] = part_of(in[i], ti_type_of(sub, sub->in[i]), a->moves.v[i],
                                   ti_min_i64(t, a->times - 1), a->times);
        if (t == until)
            break;
        TC_TRY(ti_eval(sub, inner, result, arena));
        for (int i = 0; i < node->n_in; i++)
            if (a->carried.v[i] >= 0)
                memcpy(inner[i].data, result[a->carried.v[i]].data, tc_type_bytes(inner[i].type));
        for (int i = 0; out && i < node->n_out; i++)
            memcpy(part_of(out[i], result[i].type, a->gives.v[i], t, a->times).data, result[i].data,
                   tc_type_bytes(result[i].type));
        ti_arena_rewind(arena, mark);
    }
    return TC_OK;
}

tc_status ti_eval_until(tc_graph *g, const tc_node *node, const tc_tensor *in, int64_t until,
                        tc_tensor *inner, tc_arena *arena)
{
    return repeat(g, node, in, until, inner, NULL, arena);
}

static tc_status eval_repeat(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                             tc_arena *arena)
{
    tc_tensor *inner = tc_new_n(arena, tc_tensor, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_out; i++)
        out[i] = ti_tensor_new(arena, ti_type_of(g, node->out[i]));
    return repeat(g, node, in, ((const tc_attr_call_times *)node->attr)->times, inner, out, arena);
}

/* Whether the carried tensors are equal. */
static bool unchanged(const tc_tensor *a, const tc_tensor *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(a[i].data, b[i].data, tc_type_bytes(a[i].type)) != 0)
            return false;
    return true;
}

/* The loop's state is double-buffered: memory does not grow with iterations.  An infinite loop is
 * an error: an iteration that changes nothing would repeat for ever. */
static tc_status eval_while(tc_graph *g, const tc_node *node, const char *cond_graph,
                            const char *body_graph, const tc_tensor *in, tc_tensor *out,
                            tc_arena *arena)
{
    size_t n = (size_t)node->n_in, carried = (size_t)node->n_out;
    tc_graph *cond, *body;
    TC_TRY(callee(g, node, cond_graph, in, n, 1, &cond));
    TC_TRY(callee(g, node, body_graph, in, n, carried, &body));
    if (carried > n)
        return ti_error(g->module->ctx, node->loc, TC_E_STRUCTURE,
                        "the loop has more results than operands");
    tc_tensor *now = ti_arena_copy(arena, in, n * sizeof *in);
    tc_tensor *next = ti_arena_copy(arena, in, n * sizeof *in);
    tc_tensor *result = tc_new_n(arena, tc_tensor, carried + 1);
    for (size_t i = 0; i < carried; i++) {
        now[i] = ti_tensor_new(arena, in[i].type);
        next[i] = ti_tensor_new(arena, in[i].type);
        memcpy(now[i].data, in[i].data, tc_type_bytes(in[i].type));
    }
    size_t round = 0;
    for (tc_mark mark = ti_arena_mark(arena);; ti_arena_rewind(arena, mark)) {
        TC_TRY(ti_eval(cond, now, result, arena));
        if (!*(const uint8_t *)result[0].data)
            break;
        if (++round > MOST_ROUNDS ||
            (round > 1 && !g->module->state && unchanged(now, next, carried)))
            return ti_error(g->module->ctx, node->loc, TC_E_NUMBERS,
                            "'%s': the loop does not end (iteration %zu)", tc_ops[node->op].name,
                            round);
        TC_TRY(ti_eval(body, now, result, arena));
        for (size_t i = 0; i < carried; i++) {
            if (!ti_same_dims(result[i].type, now[i].type) ||
                result[i].type->dtype != now[i].type->dtype)
                return ti_error(g->module->ctx, node->loc, TC_E_MISMATCH,
                                "result %zu of '%s' does not match the loop's state", i,
                                body_graph);
            memcpy(next[i].data, result[i].data, tc_type_bytes(now[i].type));
        }
        tc_tensor *last = now;
        now = next;
        next = last;
    }
    memcpy(out, now, carried * sizeof *out);
    return TC_OK;
}

/* Operators that run graphs, or read and write state; false: a kernel's. */
static bool eval_special(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                         tc_arena *arena, tc_status *status)
{
    const tc_attr_cond *rich_cond = node->attr;
    const tc_attr_tosa_cond_if *cond = node->attr;
    const tc_attr_while_loop *rich_loop = node->attr;
    const tc_attr_tosa_while *loop = node->attr;
    const tc_attr_tosa_custom *custom = node->attr;
    const tc_attr_tflite_op *kept = node->attr;
    switch (node->op) {
    case TC_OP_cond:
        *status = eval_cond(g, node, rich_cond->then_graph, rich_cond->else_graph, in, out, arena);
        return true;
    case TC_OP_tosa_cond_if:
        *status = eval_cond(g, node, cond->then_graph, cond->else_graph, in, out, arena);
        return true;
    case TC_OP_call:
        *status = eval_call(g, node, in, out, arena);
        return true;
    case TC_OP_call_times:
        *status = eval_repeat(g, node, in, out, arena);
        return true;
    case TC_OP_tflite_op:
        *status = ti_node_calls(node) ? eval_call(g, node, in, out, arena)
                                      : ti_unsupported(g->module->ctx, node->loc, TC_E_UNSUPPORTED,
                                                       "what '%s' computes is not known here",
                                                       kept->name);
        return true;
    case TC_OP_while_loop:
        *status = eval_while(g, node, rich_loop->cond_graph, rich_loop->body_graph, in, out, arena);
        return true;
    case TC_OP_tosa_while_loop:
        *status = eval_while(g, node, loop->cond_graph, loop->body_graph, in, out, arena);
        return true;
    case TC_OP_tosa_variable:
    case TC_OP_tosa_variable_read:
    case TC_OP_tosa_variable_write:
        *status = ti_eval_variable(g, node, in, out, arena);
        return true;
    case TC_OP_tosa_custom:
        *status = ti_unsupported(g->module->ctx, node->loc, TC_E_UNSUPPORTED,
                                 "the custom operator '%s' of '%s' is unknown",
                                 custom->operator_name, custom->domain_name);
        return true;
    default:
        return false;
    }
}

/* The results agree with their declared types, now that every shape is known. */
static tc_status check_late(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_arena *arena)
{
    tc_ctx *ctx = g->module->ctx;
    tc_type *out = tc_new_n(arena, tc_type, (size_t)node->n_out);
    for (int i = 0; i < node->n_out; i++)
        out[i] = *ti_type_of(g, node->out[i]);
    tc_infer call = {ctx,         node->loc, tc_ops[node->op].name, node->attr, node->n_in,
                     node->n_out, in,        out};
    TC_TRY(tc_ops[node->op].shape(&call));
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *declared = ti_type_of(g, node->out[i]);
        if (out[i].dtype != declared->dtype || !ti_same_dims(&out[i], declared))
            return ti_error(ctx, node->loc, TC_E_NUMBERS, "'%s': the result is declared %s, and is %s",
                            tc_ops[node->op].name, ti_type_text(&ctx->arena, declared),
                            ti_type_text(&ctx->arena, &out[i]));
    }
    return TC_OK;
}

tc_status ti_eval_node(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                       tc_arena *arena)
{
    tc_ctx *ctx = g->module->ctx;
    tc_status status;
    if (eval_special(g, node, in, out, arena, &status))
        return status;
    if (ti_node_late(g, node))
        TC_TRY(check_late(g, node, in, arena));
    tc_tensor *real_in = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
    tc_tensor *real_out = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
    bool typed = !ti_op_sees_storage(node->op);
    for (int i = 0; i < node->n_in; i++)
        real_in[i] =
            typed && in[i].type && in[i].type->quant ? ti_dequantized(ctx, arena, in[i]) : in[i];
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *type = g->val[node->out[i]]->type;
        out[i] = ti_tensor_new(arena, type);
        real_out[i] = out[i];
        if (typed && type->quant)
            real_out[i] = ti_tensor_new(arena, ti_type_make(ctx, TC_f32, type->rank, type->dim));
    }
    tc_call call = {node->attr, node->n_in, node->n_out, real_in, real_out, NULL, NULL};
    TC_TRY(run_kernel(g, node, &call));
    for (int i = 0; i < node->n_out; i++) {
        if (real_out[i].data == out[i].data)
            continue;
        if (ti_op_nan_is_zero(node->op))
            ti_nan_to_zero(real_out[i]);
        ti_quantize_into(real_out[i], out[i]);
    }
    return TC_OK;
}

tc_status ti_eval_operator(tc_module *module, const tc_node *node, const tc_tensor *in,
                           tc_tensor *out, tc_arena *arena)
{
    tc_graph g = ti_graph_empty(module, "operator");
    tc_val *operand = tc_new_n(arena, tc_val, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        operand[i] = in[i].type ? ti_graph_input(&g, in[i].type, NULL) : TC_NONE;
    tc_node *made;
    TC_TRY(ti_graph_emit(&g, node->op, node->attr, operand, node->n_in, 1, node->loc, &made));
    return ti_eval_node(&g, made, in, out, arena);
}

static tc_status eval_nodes(tc_graph *g, tc_tensor *at, tc_arena *arena)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const) {
            const tc_value *value = g->val[node->out[0]];
            at[node->out[0]] = (tc_tensor){value->type, (void *)(uintptr_t)value->data};
            continue;
        }
        tc_tensor *operand = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
        tc_tensor *result = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
        for (int i = 0; i < node->n_in; i++)
            operand[i] = at[node->in[i]];
        TC_TRY(ti_eval_node(g, node, operand, result, arena));
        for (int i = 0; i < node->n_out; i++)
            at[node->out[i]] = result[i];
    }
    return TC_OK;
}

tc_status ti_eval_all(tc_graph *g, const tc_tensor *in, tc_tensor *at, tc_arena *arena)
{
    enum { DEEPEST = 64 }; /* graphs that call each other without end, as a file may have them */
    tc_module *module = g->module;
    if (module->depth == DEEPEST)
        return ti_error(module->ctx, NULL, TC_E_STRUCTURE, "graphs are nested %d deep",
                        DEEPEST);
    for (size_t i = 0; i < g->n_in; i++)
        at[g->in[i]] = in[i];
    module->depth++;
    tc_status status = eval_nodes(g, at, arena);
    module->depth--;
    return status;
}

tc_status ti_eval(tc_graph *g, const tc_tensor *in, tc_tensor *out, tc_arena *arena)
{
    tc_tensor *at = tc_new_n(arena, tc_tensor, g->n_val);
    tc_status status = ti_eval_all(g, in, at, arena);
    for (size_t i = 0; status == TC_OK && i < g->n_out; i++)
        out[i] = at[g->out[i]];
    return status;
}
