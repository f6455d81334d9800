/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_calls.c -- see kernel_calls.h.
 *
 * The region is walked from outputs to inputs: a value is made by one call if its node is the end
 * of a pattern, CONV2D, RESCALE, CLAMP and so on. */
#include "kernel_piece.h"

#include "../ir/rewrite.h"
#include "../num/load.h"

int64_t ti_cm_at(const tc_cm_region *r, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(r->from, v), i);
}

struct pattern {
    tc_op op; /* of the last node */
    tc_cm_pattern *call;
};

static const struct pattern patterns[] = {
    {TC_OP_tosa_rescale, ti_cm_product},      {TC_OP_tosa_clamp, ti_cm_product},
    {TC_OP_tosa_rescale, ti_cm_batch_matmul}, {TC_OP_tosa_clamp, ti_cm_batch_matmul},
    {TC_OP_tosa_rescale, ti_cm_sum},          {TC_OP_tosa_clamp, ti_cm_sum},
    {TC_OP_tosa_rescale, ti_cm_times},        {TC_OP_tosa_rescale, ti_cm_softmax_call},
    {TC_OP_tosa_max_pool2d, ti_cm_max_pool},  {TC_OP_tosa_avg_pool2d, ti_cm_avg_pool},
};

/* Operators with kernels in ExecuTorch, and with loops in C. */
static const struct pattern others[] = {
    {TC_OP_tosa_transpose, ti_cm_transpose},
    {TC_OP_tosa_pad, ti_cm_pad},
};

static tc_val one_of(const struct pattern *p, size_t n, tc_cm_region *r, const tc_node *node)
{
    tc_val y = TC_NONE;
    for (size_t i = 0; i < n && !y && r->b.status == TC_OK; i++)
        if (p[i].op == node->op)
            y = p[i].call(r, node);
    return y;
}

tc_val ti_cm_call(tc_cm_region *r, const tc_node *node)
{
    r->why = NULL;
    tc_val y = one_of(patterns, TC_COUNT(patterns), r, node);
    if (r->caller == TC_CM_C)
        return y;
    if (!y && r->b.status == TC_OK)
        y = one_of(others, TC_COUNT(others), r, node);
    if (!y && r->b.status == TC_OK)
        y = ti_cm_any_function(r, node);
    if (!y && r->b.status == TC_OK)
        y = ti_cm_choice(r, node);
    return y;
}

static void refuse(tc_cm_region *r, const tc_node *node)
{
    r->b.status = ti_unsupported(
        r->ctx, node->loc, TC_E_UNSUPPORTED,
        "'%s' has no kernel of ExecuTorch's for a Cortex-M, nor integer kernels for any CPU%s%s",
        tc_ops[node->op].name, r->why ? ": " : "", r->why ? r->why : "");
    ti_note(r->ctx, NULL, "--emit c has kernels for every integer operator");
}

tc_val ti_cm_value(tc_cm_region *r, tc_val v)
{
    const tc_value *value = ti_value_of(r->from, v);
    if (r->b.status != TC_OK || r->now[v])
        return r->b.status == TC_OK ? r->now[v] : TC_NONE;
    if (value->data) /* 48 bits are stored in 64 */
        return r->now[v] = ti_b_data(&r->b,
                                     ti_type_make(r->ctx, ti_cm_held(value->type->dtype),
                                                  value->type->rank, value->type->dim),
                                     value->data);
    const tc_node *node = value->def;
    r->b.loc = node->loc;
    tc_val y = ti_cm_call(r, node);
    if (r->b.status != TC_OK)
        return TC_NONE;
    r->b.loc = node->loc;
    if (!y && !ti_cm_plain(r, node, &y) && r->b.status == TC_OK)
        refuse(r, node);
    return r->now[v] = r->b.status == TC_OK ? y : TC_NONE;
}

/* Numbers of 48 bits are not what a program takes or gives. */
static tc_status check_ports(tc_ctx *ctx, const tc_graph *g, const tc_val *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ti_type_of(g, v[i])->dtype == TC_i48)
            return ti_unsupported(ctx, &(tc_loc){.file = g->module->file}, TC_E_UNSUPPORTED,
                                  "a program for ExecuTorch takes and gives no i48");
    return TC_OK;
}

/* State and control flow have no form here. */
static tc_status check_nodes(tc_ctx *ctx, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!(tc_ops[node->op].traits & (T_STATE | T_CONTROL)))
            continue;
        tc_cm_region r = {.ctx = ctx};
        refuse(&r, node);
        return r.b.status;
    }
    return TC_OK;
}

typedef struct selection {
    const tc_target *target;
    tc_cm_softmax *softmax;
} selection;

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const selection *s = rw->user;
    const tc_target *target = s->target;
    const tc_attr_call *call = node->attr;
    if (node->op != TC_OP_call || !ti_text_eq(call->target, target->text))
        return TC_OK;
    tc_graph *g = ti_node_callee(rw->from->module, node, 0);
    TC_TRY(check_nodes(rw->ctx, g));
    TC_TRY(check_ports(rw->ctx, g, g->in, g->n_in));
    TC_TRY(check_ports(rw->ctx, g, g->out, g->n_out));
    tc_cm_region r = {.ctx = rw->ctx,
                      .from = g,
                      .b = {.ctx = rw->ctx, .g = rw->to, .loc = node->loc},
                      .now = tc_new_n(&rw->ctx->arena, tc_val, g->n_val),
                      .readers = ti_graph_readers(rw->ctx, g),
                      .core = target->machine->core,
                      .softmax = s->softmax};
    /* a region has the bytes of u8 as i8 (ti_type_carried), and casts keep them */
    for (size_t i = 0; i < g->n_in; i++)
        r.now[g->in[i]] = ti_b_cast(&r.b, rw->now[node->in[i]], ti_type_of(g, g->in[i])->dtype);
    for (size_t i = 0; i < g->n_out && r.b.status == TC_OK; i++) {
        tc_val y = ti_cm_value(&r, g->out[i]);
        if (y)
            ti_rewrite_bind(rw, node->out[i],
                            ti_b_cast(&r.b, y, ti_type_of(rw->from, node->out[i])->dtype));
    }
    *done = true;
    return r.b.status;
}

/* Quantize and dequantize nodes have the domains of codes now. */
static void forget_quantization(tc_ctx *ctx, tc_module *m)
{
    tc_graph *g = ti_main(m);
    for (size_t i = 0; i < m->signature.n_in + m->signature.n_out; i++) {
        tc_port *port = i < m->signature.n_in ? &m->signature.in[i] : &m->signature.out[i - m->signature.n_in];
        const tc_type *t = ti_type_of(g, port->val);
        if (t && t->quant && !port->codes)
            port->codes = t;
    }
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v]->type)
            g->val[v]->type = ti_cm_bare(ctx, g->val[v]->type);
}

/* Regions that are not called any more. */
static void drop_regions(tc_module *m, const tc_target *target, const tc_graph *before)
{
    size_t kept = 1;
    for (size_t i = 1; i < m->n_graph; i++) {
        bool called = false;
        for (size_t k = 0; k < before->n_node; k++) {
            const tc_node *node = before->node[k];
            const tc_attr_call *call = node->op == TC_OP_call ? node->attr : NULL;
            called = called || (call && ti_text_eq(call->target, target->text) &&
                                ti_text_eq(call->graph, m->graph[i]->name));
        }
        if (!called)
            m->graph[kept++] = m->graph[i];
    }
    m->n_graph = kept;
}

tc_status ti_cm_select(tc_ctx *ctx, tc_module *module, const tc_target *target,
                       tc_cm_softmax *softmax_of)
{
    selection s = {target, softmax_of};
    static tc_rewriter *const rewriters[] = {take};
    const tc_graph before = *ti_main(module);
    forget_quantization(ctx, module);
    TC_TRY(ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), &s));
    drop_regions(module, target, &before);
    return TC_OK;
}
