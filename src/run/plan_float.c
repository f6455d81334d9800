/* SPDX-License-Identifier: Apache-2.0 */
/* plan_float.c -- f32 convolutions and matrix products through fast/, fused with the activations
 * and residual additions that follow them. */
#include "plan_steps.h"

#include "../base/mapped.h"

/* An activation as a post-operation of a product. */
static bool as_then(const tc_node *node, tc_then *out)
{
    *out = (tc_then){0};
    switch (node->op) {
    case TC_OP_relu:
        out->kind = TC_THEN_relu;
        return true;
    case TC_OP_clamp: {
        const tc_attr_clamp *a = node->attr;
        *out = (tc_then){TC_THEN_clip, (float)a->lo, (float)a->hi};
        return a->lo <= a->hi;
    }
    case TC_OP_hardswish:
        out->kind = TC_THEN_hardswish;
        return true;
    case TC_OP_sigmoid:
        out->kind = TC_THEN_sigmoid;
        return true;
    case TC_OP_silu:
        out->kind = TC_THEN_silu;
        return true;
    case TC_OP_gelu:
        out->kind = ((const tc_attr_gelu *)node->attr)->form == TC_gelu_form_erf ? TC_THEN_gelu_erf
                                                                               : TC_THEN_gelu_tanh;
        return true;
    default:
        return false;
    }
}

/* A product and the nodes that can be fused with it. */
typedef struct chain {
    const tc_node *last; /* its result is the chain's */
    tc_then then[TC_MAX_THEN];
    int n_then;
    tc_val extra; /* operand of the addition, or none */
    const tc_node *part[TC_MAX_THEN];
} chain;

/* Adding a value of the same shape that is computed before the product. */
static bool joins_add(const tc_maker *m, const tc_node *user, tc_val v, chain *c)
{
    if (user->op != TC_OP_add || ((const tc_attr_alpha *)user->attr)->alpha != 1 || c->n_then)
        return false;
    tc_val other = user->in[0] == v ? user->in[1] : user->in[0];
    const tc_type *t = m->g->val[v]->type;
    if (other == v || !m->at[other] || m->g->val[other]->type != t || t->dtype != TC_f32)
        return false;
    c->extra = other;
    c->then[0] = (tc_then){.kind = TC_THEN_add};
    return true;
}

static chain follow(const tc_maker *m, const tc_node *product)
{
    chain c = {.last = product};
    while (c.n_then < TC_MAX_THEN) {
        tc_val v = c.last->out[0];
        const tc_node *user = ti_plan_only_user(m, v);
        if (!user || m->g->val[user->out[0]]->type != m->g->val[v]->type) /* it may give codes */
            break;
        if (!joins_add(m, user, v, &c) && !as_then(user, &c.then[c.n_then]))
            break;
        c.part[c.n_then++] = user;
        c.last = user;
    }
    return c;
}

/* Drop the last n fused nodes. */
static void shorten(chain *c, const tc_node *product, int keep)
{
    c->n_then = keep;
    c->last = keep ? c->part[keep - 1] : product;
    if (!keep)
        c->extra = TC_NONE;
}

void ti_run_product(const void *what, void *const *in, void *out, void *scratch)
{
    ti_product_run(what, in[0], in[1], in[2], out, scratch);
}

static void emit_product(tc_maker *m, const tc_node *node, const tc_product *product,
                         const place *a, const place *b, tc_layout layout, const chain *c)
{
    const place *in[3] = {a, b, c->extra ? ti_place_want(m, c->extra, layout, node) : NULL};
    ti_step_prepared(m, node, ti_run_product, product, ti_product_scratch(product), in, 3,
                     c->last->out[0], layout);
    for (int i = 0; i < c->n_then; i++)
        m->joined[c->part[i]->out[0]] = true;
    tc_val w = node->in[1];
    if (!b && m->plan->own && m->plan->own[w] && m->only_user[w] && ti_product_packed(product))
        ti_pages_drop(m->ctx, m->g->val[w]->data, tc_type_bytes(ti_type_of(m->g, w)));
}

bool ti_plan_conv(tc_maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_tensor w = ti_place_known(m, node->in[1]),
              b = ti_place_known(m, node->n_in > 2 ? node->in[2] : TC_NONE);
    if (!w.data || (b.type && !b.data))
        return false;
    chain c = follow(m, node);
    const tc_product *p = NULL;
    ti_product_wait(m->ctx, m->plan->late && m->plan->late[node->in[1]]);
    for (int keep = c.n_then; keep >= 0 && !p; keep--) {
        shorten(&c, node, keep);
        p = node->op == TC_OP_conv
                ? ti_product_conv(m->ctx, node->attr, x, y, w, b, c.then, c.n_then)
                : ti_product_deconv(m->ctx, node->attr, x, y, w, b, c.then, c.n_then);
    }
    ti_product_wait(m->ctx, false);
    if (!p)
        return false;
    tc_layout last = ti_layout_channels_last(x->rank);
    emit_product(m, node, p, ti_place_want(m, node->in[0], last, node), NULL, last, &c);
    return true;
}

/* x w^T + b, if the last axis of x is last in memory: the other axes are rows, in any order. */
bool ti_plan_linear(tc_maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_tensor w = ti_place_known(m, node->in[1]),
              b = ti_place_known(m, node->n_in > 2 ? node->in[2] : TC_NONE);
    if (!w.data || (b.type && !b.data) || x->dtype != TC_f32 || w.type->dtype != TC_f32 ||
        w.type->rank != 2 || x->rank < 1 || !tc_type_count(y) || !tc_type_count(x))
        return false;
    int64_t k = w.type->dim[1], n = w.type->dim[0], rows = tc_type_count(x) / k;
    tc_strided ad = {2, {rows, k}, {k, 1}}, bd = {2, {k, n}, {1, k}}, yd = {2, {rows, n}, {n, 1}};
    chain c = follow(m, node);
    const tc_product *p = NULL;
    ti_product_wait(m->ctx, m->plan->late && m->plan->late[node->in[1]]);
    for (int keep = c.n_then; keep >= 0 && !p; keep--) {
        shorten(&c, node, keep);
        p = ti_product_matmul(m->ctx, &ad, &bd, &yd, w.data, b, c.then, c.n_then);
    }
    ti_product_wait(m->ctx, false);
    if (!p)
        return false;
    tc_layout layout = m->at[node->in[0]]->layout;
    if (layout.axis[x->rank - 1] != x->rank - 1)
        layout = ti_layout_plain(x->rank);
    emit_product(m, node, p, ti_place_want(m, node->in[0], layout, node), NULL, layout, &c);
    return true;
}

tc_strided ti_plan_strided(const tc_type *t, const tc_layout *l, int32_t rank)
{
    tc_strided s = {.rank = rank};
    int lead = rank - t->rank;
    ti_layout_strides(l, t, s.stride + lead);
    for (int i = 0; i < rank; i++) {
        s.dim[i] = i < lead ? 1 : t->dim[i - lead];
        if (i < lead)
            s.stride[i] = tc_type_count(t);
    }
    return s;
}

bool ti_plan_matmul(tc_maker *m, const tc_node *node)
{
    const tc_type *a = m->g->val[node->in[0]]->type, *b = m->g->val[node->in[1]]->type;
    const tc_type *y = m->g->val[node->out[0]]->type;
    if (a->dtype != TC_f32 || b->dtype != TC_f32 || a->rank < 2 || b->rank < 2 ||
        !tc_type_count(y) || !tc_type_count(a))
        return false;
    tc_layout plain_y = ti_layout_plain(y->rank);
    const place *pa = m->at[node->in[0]], *pb = m->at[node->in[1]];
    chain c = follow(m, node);
    for (int again = 0; again < 2; again++) {
        tc_strided ad = ti_plan_strided(a, &pa->layout, y->rank),
                   bd = ti_plan_strided(b, &pb->layout, y->rank);
        tc_strided yd = ti_plan_strided(y, &plain_y, y->rank);
        const store *sb = &m->plan->store[pb->store];
        const void *b_data = sb->kind == STORE_KNOWN ? sb->data : NULL;
        const tc_product *p = NULL;
        for (int keep = c.n_then; keep >= 0 && !p; keep--) {
            shorten(&c, node, keep);
            p = ti_product_matmul(m->ctx, &ad, &bd, &yd, b_data, (tc_tensor){NULL, NULL}, c.then,
                                  c.n_then);
        }
        if (p) {
            emit_product(m, node, p, pa, b_data ? NULL : pb, plain_y, &c);
            return true;
        }
        c = follow(m, node);
        pa = ti_place_plain(m, node->in[0], node);
        pb = ti_place_plain(m, node->in[1], node);
    }
    return false;
}

