/* SPDX-License-Identifier: Apache-2.0 */
/* expand_blocks.c -- block-scaled tensors as f32 of the same values, with scales in the type or in
 * a separate tensor.
 *
 * value * scale is exact in f32, or the infinity that CAST gives too, so movement moves f32
 * instead.  fp6, fp4, MXINT8 and separate scales are f32 as well; fp8 stays. */
#include "older.h"

#include "../../num/block_scaled.h"
#include "../../num/load.h"
#include "../lower.h"

typedef struct {
    const tc_target *target;
} expansion;

typedef tc_status rule(tc_rewrite *rw, const tc_node *node);

/* TOSA 1.0 has no such type, and f32 holds all its values: blocks, fp6, fp4, scales. */
static bool is_real(tc_dtype t)
{
    return ti_is_block(t) || t == TC_e2m1 || t == TC_e2m3 || t == TC_e3m2 || t == TC_mxint8 ||
           t == TC_ue8m0;
}

tc_status ti_older_ports(tc_ctx *ctx, const tc_graph *g, bool (*lacks)(tc_dtype), const char *note)
{
    for (size_t i = 0; i < g->n_in + g->n_out; i++) {
        bool in = i < g->n_in;
        size_t at = in ? i : i - g->n_in;
        const tc_value *v = ti_value_of(g, in ? g->in[at] : g->out[at]);
        if (!lacks(v->type->dtype))
            continue;
        tc_status status = ti_error(
            ctx, &(tc_loc){.file = g->module->file, .node = v->name}, TC_E_TOSA_PROFILE,
            "%s %zu of graph '%s' is %s, which TOSA 1.0 and with it a VGF file do not have",
            in ? "input" : "output", at, g->name, ti_type_text(&ctx->arena, v->type));
        ti_note(ctx, NULL, "%s", note);
        return status;
    }
    return TC_OK;
}

/* The type that replaces another. */
static const tc_type *stand_in(tc_ctx *ctx, const tc_type *t)
{
    return is_real(t->dtype) ? ti_type_make(ctx, TC_f32, t->rank, t->dim) : t;
}

/* Result i of the node is this value, whose type may be the replacement. */
static void stand(tc_build *b, int i, tc_val v)
{
    tc_val old = b->node->out[i];
    if (b->status != TC_OK || !v)
        return;
    assert(ti_b_type(b, v) == stand_in(b->ctx, ti_b_out_type(b, i)));
    b->rw->now[old] = v;
    if (!b->g->val[v]->name && b->g->val[v]->def)
        b->g->val[v]->name = b->rw->from->val[old]->name;
}

static bool has_fp8(const tc_rewrite *rw, tc_dtype value)
{
    const expansion *e = rw->user;
    tc_feature f = value == TC_e5m2 ? TC_FEATURE_E5M2 : TC_FEATURE_E4M3;
    return !e->target || e->target->tosa >> f & 1u;
}

static tc_status constant(tc_rewrite *rw, const tc_node *node)
{
    tc_tensor from = ti_tensor_of(rw->from, node->out[0]);
    tc_tensor to = ti_tensor_new(&rw->ctx->arena, stand_in(rw->ctx, from.type));
    for (int64_t i = 0; i < tc_type_count(to.type); i++)
        ti_store_f64(to, i, ti_load_f64(from, i));
    rw->now[node->out[0]] = ti_graph_const(rw->to, to.type, to.data,
                                           rw->from->val[node->out[0]]->name, node->loc);
    return TC_OK;
}

/* The same operator on the replacements of its operands. */
static tc_status again(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_b_in(&b, i);
    const tc_type *type = stand_in(rw->ctx, ti_b_out_type(&b, 0));
    tc_val y = ti_b_typed(&b, node->op, node->attr, in, node->n_in, type);
    stand(&b, 0, y);
    return b.status;
}

static tc_status cast(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_dtype to = ti_b_out_type(&b, 0)->dtype;
    tc_val x = ti_b_in(&b, 0);
    if (ti_is_block(to)) {
        tc_dtype value = ti_block_value(to);
        x = ti_b_tosa_cast(&b, x, TC_f32);
        stand(&b, 0, ti_older_round(&b, x, value, has_fp8(rw, value), NULL, NULL));
    } else {
        stand(&b, 0, ti_b_tosa_cast(&b, x, to));
    }
    return b.status;
}

/* Values and separate scales as f32. */
static tc_val joined(tc_build *b, tc_val values, tc_val scales)
{
    if (!values || !scales)
        return TC_NONE;
    const tc_type *t = ti_b_type(b, values);
    int64_t blocks = tc_type_count(t) / TC_BLOCK;
    tc_val v = ti_b_tosa_cast(b, values, TC_f32);
    v = ti_b_tosa_reshape(b, v, 2, (int64_t[]){blocks, TC_BLOCK});
    tc_val s = ti_b_tosa_reshape(b, scales, 2, (int64_t[]){blocks, 1});
    return ti_b_tosa_reshape(b, ti_b_tosa_mul(b, v, s), t->rank, t->dim);
}

static tc_status cast_from(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val x = joined(&b, ti_b_in(&b, 0), ti_b_in(&b, 1));
    stand(&b, 0, ti_b_tosa_cast(&b, x, ti_b_out_type(&b, 0)->dtype));
    return b.status;
}

static tc_status cast_to(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_dtype value = ti_b_out_type(&b, 0)->dtype;
    tc_val x = ti_b_tosa_cast(&b, ti_b_in(&b, 0), TC_f32), values, scales;
    ti_older_round(&b, x, value, has_fp8(rw, value), &values, &scales);
    if (b.status == TC_OK) {
        stand(&b, 0, is_real(value) ? values : ti_b_tosa_cast(&b, values, value));
        stand(&b, 1, scales);
    }
    return b.status;
}

static tc_status matmul(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val x = joined(&b, ti_b_in(&b, 0), ti_b_in(&b, 1)),
           y = joined(&b, ti_b_in(&b, 2), ti_b_in(&b, 3)), zero = ti_b_single(&b, TC_f32, 1, 0);
    tc_val in[] = {x, y, zero, zero};
    stand(&b, 0, ti_b_typed(&b, TC_OP_tosa_matmul_t, NULL, in, 4, ti_b_out_type(&b, 0)));
    return b.status;
}

static tc_status conv(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val x = joined(&b, ti_b_in(&b, 0), ti_b_in(&b, 1)),
           w = joined(&b, ti_b_in(&b, 2), ti_b_in(&b, 3)), zero = ti_b_single(&b, TC_f32, 1, 0);
    tc_ints pad = ti_older_shape(&b, 5), stride = ti_older_shape(&b, 6), dilation = ti_older_shape(&b, 7);
    if (b.status != TC_OK)
        return b.status;
    const void *attr = ti_b_attr(&b, tosa_conv, .pad = pad, .stride = stride, .dilation = dilation,
                                 .acc_type = TC_f32);
    tc_val in[] = {x, w, ti_b_in(&b, 4), zero, zero};
    stand(&b, 0, ti_b_typed(&b, TC_OP_tosa_conv2d, attr, in, 5, ti_b_out_type(&b, 0)));
    return b.status;
}

/* RESHAPE or ROW_GATHER of the values and, where there are any, of the scales. */
static tc_status reshape(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_b_out_type(&b, i);
        stand(&b, i, ti_b_tosa_reshape(&b, ti_b_in(&b, i), t->rank, t->dim));
    }
    return b.status;
}

static tc_status row_gather(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    for (int i = 0; i < node->n_out; i++) {
        tc_val in[] = {ti_b_in(&b, i), ti_b_in(&b, node->n_out), ti_b_in(&b, node->n_out + 1)};
        const tc_type *t = stand_in(rw->ctx, ti_b_out_type(&b, i));
        stand(&b, i, ti_b_typed(&b, TC_OP_tosa_row_gather, NULL, in, 3, t));
    }
    return b.status;
}

static const struct {
    tc_op op;
    rule *rule;
} rules[] = {
    {TC_OP_const, constant},
    {TC_OP_tosa_cast, cast},
    {TC_OP_tosa_cast_from_block_scaled, cast_from},
    {TC_OP_tosa_cast_to_block_scaled, cast_to},
    {TC_OP_tosa_matmul_t_block_scaled, matmul},
    {TC_OP_tosa_conv2d_block_scaled, conv},
    {TC_OP_tosa_reshape_block_scaled, reshape},
    {TC_OP_tosa_row_gather_block_scaled, row_gather},
};

static bool touches_blocks(const tc_graph *g, const tc_node *node)
{
    bool is = false;
    for (int i = 0; i < node->n_in; i++)
        is |= node->in[i] && is_real(ti_type_of(g, node->in[i])->dtype);
    for (int i = 0; i < node->n_out; i++)
        is |= is_real(ti_type_of(g, node->out[i])->dtype);
    return is;
}

static tc_status expand(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool old_form = node->op == TC_OP_tosa_reshape_block_scaled ||
                    node->op == TC_OP_tosa_row_gather_block_scaled; /* without scales too */
    if (!touches_blocks(rw->from, node) && !old_form)
        return TC_OK;
    *done = true;
    for (size_t i = 0; i < TC_COUNT(rules); i++)
        if (rules[i].op == node->op)
            return rules[i].rule(rw, node);
    if (node->n_out == 1 && !(tc_ops[node->op].traits & (T_CONTROL | T_STATE)))
        return again(rw, node);
    return ti_error(rw->ctx, node->loc, TC_E_TOSA_PROFILE,
                    "'%s' of block-scaled numbers has no form in TOSA 1.0", tc_ops[node->op].name);
}

tc_status ti_lower_expand_blocks(tc_ctx *ctx, tc_module *module, const tc_target *target)
{
    static tc_rewriter *const rewriters[] = {expand};
    expansion e = {target};
    for (size_t i = 0; i < module->n_graph; i++) {
        TC_TRY(ti_older_ports(ctx, module->graph[i], is_real,
                              "give and take it as f32, with CAST inside the program"));
        TC_TRY(ti_rewrite_graph(module->graph[i], rewriters, 1, &e));
    }
    return TC_OK;
}
