/* SPDX-License-Identifier: Apache-2.0 */
/* replace_weights.c -- see replace_weights.h. */
#include "replace_weights.h"

#include <math.h>

#include "../ir/build.h"
#include "../num/load.h"

static void release(void *what)
{
    ti_arena_free(&((tc_replacement *)what)->room);
}

void ti_replacement_init(tc_ctx *ctx, tc_replacement *renewal)
{
    ti_arena_init_like(&renewal->room, &ctx->arena);
    ti_ctx_defer(ctx, release, renewal);
}

void ti_replacement_clear(tc_replacement *renewal)
{
    release(renewal);
    renewal->of = NULL;
    renewal->n = 0;
    renewal->done = false;
}

static tc_val bias_of(const tc_replaced *p)
{
    return p->typed->n_in > 2 ? p->typed->in[2] : TC_NONE;
}

double ti_replace_bias_step(const tc_graph *typed, const tc_replaced *p, int64_t k)
{
    const tc_type *x = ti_type_of(typed, p->typed->in[0]),
                  *old = ti_type_of(typed, p->typed->in[1]), *w = p->codes.data ? p->codes.type : old;
    tc_val b = bias_of(p);
    if (b && w == old) {
        const tc_quant *q = ti_type_of(typed, b)->quant;
        return q->scale[q->axis >= 0 ? k : 0];
    }
    return (double)(float)(x->quant->scale[0] * w->quant->scale[k % w->quant->count]);
}

static const tc_replaced *find(const tc_replacement *all, const tc_node *typed)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->of[i].typed == typed)
            return &all->of[i];
    return NULL;
}

/* The type of a bias, with new steps: as it was, or by channel where there is none yet. */
static const tc_type *bias_type(tc_rewrite *rw, const tc_replaced *p, const tc_type *old)
{
    bool wide = tc_dtypes[ti_type_of(rw->from, p->typed->in[0])->dtype].bits > 8;
    int64_t most = ti_dtype_max(wide ? TC_i48 : TC_i32);
    tc_quant q = {0, (int32_t)p->n, -most, most, NULL, NULL};
    tc_type type = {.dtype = wide ? TC_i48 : TC_i32, .rank = 1, .dim = {p->n}};
    if (old) {
        type = *old;
        q = *old->quant;
    } else
        q.zero = tc_new_n(&rw->ctx->scratch, int64_t, (size_t)p->n);
    double *scale = tc_new_n(&rw->ctx->scratch, double, (size_t)q.count);
    for (int64_t k = 0; k < q.count; k++)
        scale[k] = ti_replace_bias_step(rw->from, p, k);
    q.scale = scale;
    type.quant = &q;
    return ti_type_intern(rw->ctx, &type);
}

static double step_of(const tc_type *type, int64_t k)
{
    return type->quant->scale[type->quant->axis >= 0 ? k : 0];
}

static tc_val new_bias(tc_rewrite *rw, const tc_replaced *p)
{
    tc_val b = bias_of(p);
    tc_tensor was = ti_tensor_of(rw->from, b);
    const tc_type *type = bias_type(rw, p, was.type);
    tc_tensor codes = ti_tensor_new(&rw->ctx->arena, type);
    for (int64_t k = 0; k < tc_type_count(type); k++) {
        double code = b ? (double)ti_load_i64(was, k) * step_of(was.type, k) / step_of(type, k) : 0;
        int64_t moved = (int64_t)nearbyint(code) + p->move[k];
        ti_store_i64(codes, k, ti_max_i64(type->quant->lo, ti_min_i64(type->quant->hi, moved)));
    }
    const tc_value *old = b ? rw->from->val[b] : NULL;
    return ti_graph_const(rw->to, type, codes.data, old ? old->name : NULL,
                          old ? old->def->loc : p->typed->loc);
}

static tc_val new_codes(tc_rewrite *rw, const tc_replaced *p)
{
    const tc_value *old = rw->from->val[p->typed->in[1]];
    const tc_type *type = ti_type_intern(rw->ctx, p->codes.type);
    return ti_graph_const(rw->to, type, p->codes.data, old->name, old->def->loc);
}

/* Replaced weights and biases without other readers: left in the program they would be dequantized
 * with the others when it is measured. */
static bool is_replaced(const tc_rewrite *rw, const tc_replacement *all, const tc_node *node)
{
    if (node->op != TC_OP_const || rw->readers[node->out[0]] != 1)
        return false;
    for (size_t i = 0; i < all->n; i++) {
        const tc_replaced *p = &all->of[i];
        if ((p->codes.data && p->typed->in[1] == node->out[0]) ||
            (p->typed->n_in > 2 && p->typed->in[2] == node->out[0]))
            return true;
    }
    return false;
}

static tc_status give_constants(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_replacement *all = rw->user;
    *done = is_replaced(rw, all, node);
    const tc_replaced *p = *done ? NULL : find(all, node);
    if (!p)
        return TC_OK;
    *done = true;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    tc_val in[3] = {ti_rewrite_in(rw, node, 0)};
    in[1] = p->codes.data ? new_codes(rw, p) : ti_rewrite_in(rw, node, 1);
    in[2] = new_bias(rw, p);
    ti_arena_rewind(&rw->ctx->scratch, mark);
    tc_build b = ti_build_instead(rw, node);
    return ti_b_again(&b, in, 3, done);
}

tc_status ti_replace_constants(tc_graph *typed, tc_replacement *renewal)
{
    static tc_rewriter *const rewriters[] = {give_constants};
    return ti_rewrite_graph(typed, rewriters, TC_COUNT(rewriters), renewal);
}
