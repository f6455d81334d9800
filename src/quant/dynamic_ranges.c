/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_ranges.c -- values quantized with ranges computed at run time become real again.
 *
 *   dequantize(quantize(x, s, z), s, z)  =>  x      s computed
 *   dequantize(constant codes)           =>  their real values
 *
 * Integer targets have no run-time ranges: they come from calibration data instead, as for any
 * float model. */
#include "quantizer.h"

#include "../ir/rewrite.h"
#include "../run/eval.h"

/* The quantize of the codes that the node reads, with the same computed scale; or NULL. */
static const tc_node *made_by(const tc_graph *g, const tc_node *node)
{
    const tc_node *def = node->op == TC_OP_dequantize ? ti_def(g, node->in[0]) : NULL;
    if (!def || def->op != TC_OP_quantize || def->n_in != node->n_in || node->n_in < 2 ||
        ti_is_const(g, node->in[1]))
        return NULL;
    for (int i = 1; i < node->n_in; i++)
        if (def->in[i] != node->in[i])
            return NULL;
    const tc_attr_quantize *a = def->attr, *b = node->attr;
    return a->axis == b->axis && ti_type_of(g, def->in[0]) == ti_type_of(g, node->out[0]) ? def
                                                                                         : NULL;
}

static bool of_constants(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !ti_is_const(g, node->in[i]))
            return false;
    return node->op == TC_OP_dequantize;
}

/* Only such pairs and constants. */
static bool is_dynamic(tc_ctx *ctx, const tc_graph *g, bool *any)
{
    const uint32_t *readers = ti_graph_readers(ctx, g);
    uint32_t *pairs = tc_new_n(&ctx->scratch, uint32_t, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k], *def = made_by(g, node);
        if (node->op != TC_OP_dequantize)
            continue;
        if (!def && !of_constants(g, node))
            return false;
        *any = true;
        pairs[node->in[0]]++;
    }
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_quantize && pairs[g->node[k]->out[0]] != readers[g->node[k]->out[0]])
            return false;
    return true;
}

bool ti_quant_is_dynamic(tc_ctx *ctx, const tc_module *module)
{
    bool any = false, all = true;
    for (size_t i = 0; i < module->n_graph && all; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        all = is_dynamic(ctx, module->graph[i], &any);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return any && all;
}

static tc_status take_pair(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *def = made_by(rw->from, node);
    if (!def)
        return TC_OK;
    return ti_rewrite_with(rw, node, rw->now[def->in[0]], done);
}

static tc_status take_constant(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!of_constants(rw->from, node))
        return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    tc_tensor *in = tc_new_n(&rw->ctx->scratch, tc_tensor, (size_t)node->n_in), out;
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_tensor_of(rw->from, node->in[i]);
    tc_status status =
        ti_eval_node((tc_graph *)(uintptr_t)rw->from, node, in, &out, &rw->ctx->arena);
    ti_arena_rewind(&rw->ctx->scratch, mark);
    TC_TRY(status);
    const char *name = rw->from->val[node->in[0]]->name;
    ti_rewrite_bind(rw, node->out[0],
                    ti_graph_const(rw->to, ti_type_of(rw->from, node->out[0]), out.data, name,
                                   node->loc));
    *done = true;
    return TC_OK;
}

TC_REWRITES(ti_quant_remove_dynamic_quantization, take_pair, take_constant)
