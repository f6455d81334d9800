/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c -- the typed form as float arithmetic.
 *
 *   y = op(x, ...) : d     =>     y = dequantize(quantize(op(x, ...), d), d) : f32
 *
 * A quantized value becomes its f32 value, so that its readers need not convert it; the results are
 * those of quantize(op(dequantize(inputs))). */
#include "quantizer.h"

#include <math.h>

#include "../ir/build.h"
#include "../num/quant.h"

bool ti_quant_is_typed(const tc_module *module)
{
    for (size_t k = 0; k < module->n_graph; k++) {
        const tc_graph *g = module->graph[k];
        for (size_t v = 1; v < g->n_val; v++)
            if (g->val[v]->type && g->val[v]->type->quant)
                return true;
    }
    return false;
}

bool ti_quant_is_lowered(const tc_module *module)
{
    for (size_t k = 0; k < module->n_graph; k++)
        for (size_t i = 0; i < module->graph[k]->n_node; i++) {
            tc_op op = module->graph[k]->node[i]->op;
            if (op == TC_OP_call || op == TC_OP_ethosu ||
                (op != TC_OP_const && tc_ops[op].tosa))
                return true;
        }
    return false;
}

/* The attribute and operands that say domain `type` to quantize and dequantize. */
static tc_attr_quantize *say_domain(tc_build *b, const tc_type *type, tc_val *in, int *n_in)
{
    const tc_quant *q = type->quant;
    tc_attr_quantize *a =
        ti_b_attr(b, quantize, .scale = q->scale[0], .zero = q->zero[0], .axis = q->axis,
                  .qmin = q->lo, .qmax = q->hi, .dtype = type->dtype);
    *n_in = 1;
    if (q->axis < 0)
        return a;
    int64_t n = q->count;
    tc_tensor scale = ti_b_tensor(b, TC_f32, 1, &n);
    for (int64_t i = 0; i < n; i++)
        ((float *)scale.data)[i] = (float)q->scale[i];
    in[1] = ti_b_const(b, scale, NULL);
    in[2] = ti_b_data(b, ti_type_make(b->ctx, TC_i64, 1, &n), q->zero);
    a->scale = 0;
    *n_in = 3;
    return a;
}

/* One of the two, on value x. */
static tc_status convert(tc_graph *g, const tc_loc *loc, tc_op op, const tc_type *domain, tc_val x,
                         tc_val *out)
{
    tc_build b = {.ctx = g->module->ctx, .g = g, .loc = loc};
    tc_val in[3] = {x};
    int n_in;
    tc_attr_quantize *a = say_domain(&b, domain, in, &n_in);
    if (op == TC_OP_dequantize)
        a->dtype = TC_f32;
    *out = ti_b_op(&b, op, a, in, n_in);
    return b.status;
}

/* The node's quotients, or products with infinities: NaN is 0. */
static tc_status nan_to_zero(tc_rewrite *rw, const tc_node *node, tc_val *v)
{
    bool floats = node->op != TC_OP_mul;
    for (int i = 0; i < node->n_in; i++)
        floats = floats || !ti_type_of(rw->from, node->in[i])->quant;
    if (!ti_op_nan_is_zero(node->op) || !floats)
        return TC_OK;
    tc_build b = {.ctx = rw->ctx, .g = rw->to, .loc = node->loc};
    *v = ti_b_op(&b, TC_OP_nan_to_num,
                 ti_b_attr(&b, nan_to_num, .nan = 0, .posinf = (double)INFINITY,
                           .neginf = -(double)INFINITY), v, 1);
    return b.status;
}

/* If dequantized weights exceed the first number of bytes, those past the second stay codes and are
 * dequantized at use, a few rows at a time (run/plan_codes.c). */
enum { MUCH = 128 << 20, LARGE = 1 << 20 };

static bool many_weights(const tc_graph *g)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_type *type = ti_type_of(g, g->node[i]->out[0]);
        if (g->node[i]->op == TC_OP_const && type->quant)
            bytes += tc_type_count(type) * (int64_t)sizeof(float);
    }
    return bytes > MUCH;
}

/* Only one linear layer multiplies by it: it takes codes directly. */
static bool only_multiplied(const tc_graph *g, tc_val v)
{
    size_t readers = 0, others = 0;
    for (size_t i = 0; i < g->n_node; i++)
        for (int k = 0; k < g->node[i]->n_in; k++)
            if (g->node[i]->in[k] == v) {
                readers++;
                others += g->node[i]->op != TC_OP_linear || k != 1;
            }
    return readers == 1 && !others;
}

static tc_status real_constant(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_type *type = ti_type_of(rw->from, node->out[0]);
    if (node->op != TC_OP_const || !type->quant)
        return TC_OK;
    if (tc_type_count(type) * (int64_t)sizeof(float) >= LARGE &&
        many_weights(rw->from) && only_multiplied(rw->from, node->out[0]))
        return TC_OK;
    *done = true;
    const tc_value *value = rw->from->val[node->out[0]];
    tc_tensor codes = {type, (void *)(uintptr_t)value->data};
    tc_tensor real = ti_dequantized(rw->ctx, &rw->ctx->arena, codes);
    rw->now[node->out[0]] =
        ti_graph_const(rw->to, real.type, real.data, value->name, node->loc);
    rw->to->val[rw->now[node->out[0]]]->state = value->state;
    return TC_OK;
}

/* An operand as real values; a quantized graph input is dequantized at its first use. */
static tc_status real_operand(tc_rewrite *rw, const tc_node *node, int i, tc_val *out)
{
    tc_val v = node->in[i];
    const tc_type *type = ti_type_of(rw->to, rw->now[v]);
    if (type && type->quant)
        TC_TRY(convert(rw->to, node->loc, TC_OP_dequantize, type, rw->now[v], &rw->now[v]));
    *out = rw->now[v];
    return TC_OK;
}

static tc_status real_operator(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op == TC_OP_const)
        return TC_OK;
    *done = true;
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        TC_TRY(real_operand(rw, node, i, &in[i]));
    tc_val first = in[0];
    tc_node *copy = NULL;
    if (node->op != TC_OP_rescale) {
        copy = ti_graph_add(rw->to, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
        for (int i = 0; i < node->n_out; i++)
            if (!ti_type_of(rw->from, node->out[i])->quant)
                rw->to->val[copy->out[i]]->type = ti_type_of(rw->from, node->out[i]);
        TC_TRY(ti_node_infer(rw->to, copy));
    }
    /* Moved elements are on the grid already, unless the movement adds one. */
    bool moves = copy && tc_ops[node->op].traits & T_MOVES && node->op != TC_OP_pad &&
                 node->op != TC_OP_index_put;
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *type = ti_type_of(rw->from, node->out[i]);
        tc_val v = copy ? copy->out[i] : first;
        if (type->quant && !moves) {
            TC_TRY(nan_to_zero(rw, node, &v));
            TC_TRY(convert(rw->to, node->loc, TC_OP_quantize, type, v, &v));
            TC_TRY(convert(rw->to, node->loc, TC_OP_dequantize, type, v, &v));
        }
        rw->now[node->out[i]] = v;
        if (rw->to->val[v]->def && !rw->to->val[v]->name)
            rw->to->val[v]->name = rw->from->val[node->out[i]]->name;
    }
    return TC_OK;
}

/* A quantized output leaves as codes, with its domain. */
static tc_status codes_out(tc_graph *g, const tc_type *const *was)
{
    for (size_t i = 0; i < g->n_out; i++)
        if (was[i]->quant && ti_type_of(g, g->out[i])->dtype == TC_f32) {
            TC_TRY(convert(g, NULL, TC_OP_quantize, was[i], g->out[i], &g->out[i]));
            g->val[g->out[i]]->type = was[i];
        }
    return TC_OK;
}

tc_status ti_quant_simulate_quantization(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {real_constant, real_operator};
    for (size_t k = 0; k < module->n_graph; k++) {
        tc_graph *g = module->graph[k];
        const tc_type **was = tc_new_n(&ctx->arena, const tc_type *, g->n_out);
        for (size_t i = 0; i < g->n_out; i++)
            was[i] = ti_type_of(g, g->out[i]);
        TC_TRY(ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), NULL));
        TC_TRY(codes_out(g, was));
    }
    return TC_OK;
}
