/* SPDX-License-Identifier: Apache-2.0 */
/* widen_half_floats.c -- arithmetic on f16 and bf16 becomes arithmetic on f32.
 *
 *   f(x f16, ...) : f16   =>   cast(f(cast(x), ...) : f32) : f16
 *
 * Casts stay at inputs, outputs and state; between them everything is f32, constants too.  For
 * quantization, which works on f32: its grids are finer than the rounding of f16. */
#include "tidy.h"

#include "../num/load.h"

typedef struct widening {
    tc_val *wide; /* by old value: its f32 form in the new graph, where it has one */
} widening;

static bool is_half(const tc_type *t)
{
    return t && !t->quant && (t->dtype == TC_f16 || t->dtype == TC_bf16);
}

/* An attribute record whose element type is a half: the same with f32. */
static const void *wide_attr(tc_ctx *ctx, const tc_node *node)
{
#define CASE(name, record)                                                                         \
    case TC_OP_##name: {                                                                           \
        tc_attr_##record *a = ti_arena_copy(&ctx->arena, node->attr, sizeof *a);                   \
        a->dtype = a->dtype == TC_f16 || a->dtype == TC_bf16 ? TC_f32 : a->dtype;                  \
        return a;                                                                                  \
    }
    switch (node->op) {
        CASE(cast, cast)
        CASE(full, full)
        CASE(arange, arange)
        CASE(linspace, linspace)
        CASE(eye, eye)
    default:
        return node->attr;
    }
#undef CASE
}

/* Operands as f32: a constant at once, others through a cast. */
static tc_val widen(tc_build *b, tc_val old)
{
    widening *w = b->rw->user;
    tc_val x = b->rw->now[old];
    const tc_type *t = ti_b_type(b, x);
    if (w->wide[old] || !is_half(t))
        return w->wide[old] ? w->wide[old] : x;
    if (!ti_is_const(b->g, x))
        return w->wide[old] = ti_b_cast(b, x, TC_f32);
    tc_tensor real = ti_b_tensor(b, TC_f32, t->rank, t->dim);
    ti_read_f32(ti_tensor_of(b->g, x), 0, (size_t)tc_type_count(t), real.data);
    return w->wide[old] = ti_b_const(b, real, b->rw->from->val[old]->name);
}

static tc_status compute_wide(tc_rewrite *rw, const tc_node *node, bool *done)
{
    widening *w = rw->user;
    bool any = false;
    for (int i = 0; i < node->n_in; i++)
        any = any || is_half(ti_type_of(rw->from, node->in[i]));
    for (int i = 0; i < node->n_out; i++)
        any = any || is_half(ti_type_of(rw->from, node->out[i]));
    if (!any || node->op == TC_OP_const)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] ? widen(&b, node->in[i]) : TC_NONE;
    tc_node *made = ti_b_ops(&b, node->op, wide_attr(rw->ctx, node), in, node->n_in, node->n_out);
    for (int i = 0; made && i < node->n_out; i++) {
        tc_val v = node->out[i];
        const tc_type *was = ti_type_of(rw->from, v);
        rw->to->val[made->out[i]]->name = rw->from->val[v]->name;
        rw->now[v] = made->out[i];
        if (!is_half(was))
            continue;
        w->wide[v] = made->out[i]; /* its own form is created on demand; else it is dead */
        rw->now[v] = ti_b_cast(&b, made->out[i], was->dtype);
    }
    *done = true;
    return b.status;
}

tc_status ti_tidy_widen_half_floats(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {compute_wide};
    tc_graph *g = ti_main(module);
    if (module->n_graph > 1) /* what branches and loops hand over keeps its type */
        return TC_OK;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    widening w = {tc_new_n(&ctx->scratch, tc_val, g->n_val)};
    tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &w);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
