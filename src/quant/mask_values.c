/* SPDX-License-Identifier: Apache-2.0 */
/* mask_values.c -- see mask_values.h: which values hold mask values ("never").
 *
 *   const, full, pad     its own elements
 *   input, clamp, ...    one value far beyond all others
 *   moves, where, cat    as an operand, if the others stay below
 *   all others           as an operand, if what was seen is apart in the same way
 *
 * Operators that select elements (max, topk, slice) have far ones only if observed. */
#include "mask_values.h"

#include <math.h>

#include "../base/mapped.h"
#include "../ir/build.h"
#include "../num/load.h"
#include "role.h"

/* Far: this many times the range of the others.  A value is far from `least` on; one found among
 * other constants, computed or given, from `least_mixed` on. */
static const double times = 16, least = 64, least_mixed = 1e3, least_made = 1e6;

/* ---- what was seen ---- */

void ti_reach_init(tc_reach *reach)
{
    for (int i = 0; i < TC_REACHES; i++) {
        reach->lo[i] = INFINITY;
        reach->hi[i] = -INFINITY;
    }
}

static int reach_at(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int e = (int)(bits >> 23 & 255);
    return e < 127 ? 0 : e - 126;
}

void ti_reach_see(tc_reach *reach, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int k = reach_at(x[i]);
        reach->lo[k] = x[i] < reach->lo[k] ? x[i] : reach->lo[k];
        reach->hi[k] = x[i] > reach->hi[k] ? x[i] : reach->hi[k];
    }
}

void ti_reach_add(tc_reach *reach, const tc_reach *more)
{
    for (int i = 0; i < TC_REACHES; i++) {
        reach->lo[i] = more->lo[i] < reach->lo[i] ? more->lo[i] : reach->lo[i];
        reach->hi[i] = more->hi[i] > reach->hi[i] ? more->hi[i] : reach->hi[i];
    }
}

static bool is_seen(const tc_reach *r, int k)
{
    return r->lo[k] <= r->hi[k];
}

static double magnitude(const tc_reach *r, int k)
{
    return is_seen(r, k) ? fmax(fabs((double)r->lo[k]), fabs((double)r->hi[k])) : 0;
}

/* The far ones from bin k on; from 0 if the others come too near. */
static tc_far split_at(const tc_reach *r, int k)
{
    tc_far far = {.from = ldexp(1, k - 1), .one = NAN, .alone = true};
    float lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < TC_REACHES; i++) {
        if (!is_seen(r, i))
            continue;
        if (i < k) {
            far.ordinary = magnitude(r, i);
            far.alone = false;
            continue;
        }
        lo = fminf(lo, r->lo[i]);
        hi = fmaxf(hi, r->hi[i]);
    }
    far.one = lo == hi ? (double)lo : NAN;
    far.alike = (double)hi - (double)lo <= fmax(-(double)lo, (double)hi) / 64;
    if (k < 1 || far.ordinary * times > 4 * far.from)
        far.from = 0;
    return far;
}

static int top_of(const tc_reach *r)
{
    int k = TC_REACHES - 1;
    while (k >= 0 && !is_seen(r, k))
        k--;
    return k;
}

/* By its own elements: those within a quarter of the largest are far, if far enough. */
static tc_far own_far(const tc_reach *r, double from)
{
    int k = top_of(r);
    if (k < 1 || magnitude(r, k) < from)
        return (tc_far){.from = 0};
    tc_far far = split_at(r, k > 1 ? k - 1 : 1);
    return far;
}

/* ---- which values have them ---- */

typedef struct finder {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_reach *const *reach; /* by value, or NULL */
    tc_far *far;
    bool *fixed;
} finder;

static bool is_f32(const finder *f, tc_val v)
{
    const tc_type *t = ti_type_of(f->g, v);
    return t && t->dtype == TC_f32 && !t->quant;
}

/* Known elements: all equal, or one far from the others. */
static tc_far known_far(const tc_reach *r)
{
    tc_far far = own_far(r, least);
    bool mixed = far.from > 0 && !far.alone, one = far.one == far.one || (mixed && far.alike);
    return !one || (mixed && far.from < least_mixed / 4) ? (tc_far){.from = 0} : far;
}

static tc_far known_number(double x)
{
    tc_reach r;
    float y = (float)x;
    ti_reach_init(&r);
    ti_reach_see(&r, &y, 1);
    return known_far(&r);
}

static tc_far known_tensor(tc_tensor t)
{
    enum { MOST = 1 << 22 }; /* masks are smaller */
    tc_reach r;
    ti_reach_init(&r);
    if (t.data && t.type->dtype == TC_f32 && tc_type_count(t.type) <= MOST)
        ti_reach_see(&r, t.data, tc_type_count(t.type));
    return known_far(&r);
}

/* A constant, or a buffer's initial value. */
static tc_far known_const(const tc_graph *g, tc_val v)
{
    tc_tensor t = {g->val[v]->type, (void *)(uintptr_t)g->val[v]->data};
    tc_far far = known_tensor(t);
    if (t.data)
        ti_mapped_forget(g->module->ctx, t.data, tc_type_bytes(t.type));
    return far;
}

/* One value far beyond all others, without another explanation. */
static tc_far made_far(const finder *f, tc_val v, double from)
{
    tc_far far = f->reach ? own_far(f->reach[v], from) : (tc_far){.from = 0};
    return isnan(far.one) || far.alone ? (tc_far){.from = 0} : far;
}

/* Every reader, after movement, adds it or selects by it: a mask.  An operand of a product is an
 * ordinary value. */
static bool is_mask_like(const finder *f, tc_val v, int depth)
{
    const tc_graph *g = f->g;
    bool any = false;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            const tc_node *node = g->node[k];
            if (node->in[i] != v)
                continue;
            any = true;
            if (ti_role_carries(node, i) && node->n_out == 1 && depth < 8) {
                if (!is_mask_like(f, node->out[0], depth + 1))
                    return false;
            } else if (!(tc_ops[node->op].traits & T_ELTWISE) || node->op == TC_OP_mul)
                return false;
        }
    return any || depth > 0;
}

/* Only some of one operand's elements may be in the result. */
static bool picks(const tc_node *node)
{
    return !TC_OP_IN(node->op, TC_OP_identity, TC_OP_reshape, TC_OP_permute, TC_OP_expand,
                     TC_OP_repeat, TC_OP_flip, TC_OP_roll, TC_OP_where, TC_OP_cat, TC_OP_stack);
}

/* Operators that give far values for ordinary ones. */
static bool makes_far(const tc_node *node)
{
    return TC_OP_IN(node->op, TC_OP_clamp, TC_OP_clamp_tensor, TC_OP_nan_to_num, TC_OP_maximum,
                    TC_OP_minimum, TC_OP_div, TC_OP_reciprocal, TC_OP_log);
}

/* Far elements of an operand may be in the result. */
static bool hands_on(const tc_node *node, int i)
{
    uint32_t traits = tc_ops[node->op].traits;
    return ti_role_carries(node, i) || node->op == TC_OP_log_softmax ||
           (!ti_role_moves(node) && (traits & (T_ELTWISE | T_REDUCES)));
}

/* Far ones that come from an operand of the node; or none. */
static tc_far handed_on(const finder *f, const tc_node *node, tc_val v)
{
    double from = 0;
    bool arithmetic = !ti_role_moves(node), alone = true;
    for (int i = 0; i < node->n_in; i++) {
        const tc_far *x = &f->far[node->in[i]];
        if (!(x->from > 0) || !hands_on(node, i) || (node->op == TC_OP_div && i == 1))
            continue;
        from = from > 0 ? fmin(from, x->from) : x->from;
        alone = alone && x->alone;
    }
    if (!(from > 0))
        return (tc_far){.from = 0};
    if (!f->reach || f->fixed[v])
        return (tc_far){.from = arithmetic && alone ? 0 : from, .one = NAN};
    tc_far far = split_at(f->reach[v], ilogb(from) + 1);
    if (!(far.from > 0) && arithmetic)
        far = own_far(f->reach[v], least_mixed);
    int top = top_of(f->reach[v]);
    bool there = top >= 0 && far.from > 0 && magnitude(f->reach[v], top) >= far.from;
    if (arithmetic && alone) /* times a scalar: a mask has only 0 and that */
        return (node->op == TC_OP_mul && from >= least_mixed / 4 && !far.alone &&
                (there ? !isnan(far.one) : far.ordinary == 0))
                   ? far
                   : (tc_far){.from = 0};
    if (far.from > 0 && !there && (picks(node) || arithmetic))
        return (tc_far){.from = 0};
    return far;
}

static tc_far far_of(const finder *f, const tc_node *node, tc_val v)
{
    tc_far far = {.from = 0};
    if (!is_f32(f, v))
        return far;
    if (node->op == TC_OP_const) {
        far = known_const(f->g, v);
        far.alone = far.alone && !ti_graph_keeps(f->g, v);
        return far;
    }
    if (node->op == TC_OP_full)
        return known_number(((const tc_attr_full *)node->attr)->value);
    if (node->op == TC_OP_pad) {
        const tc_attr_pad *a = node->attr;
        if (a->mode == TC_pad_mode_constant)
            far = known_number(a->value);
        far = far.from > 0 && f->reach ? split_at(f->reach[v], ilogb(far.from) + 1) : far;
        if (far.from > 0)
            return far;
    }
    far = handed_on(f, node, v);
    return far.from > 0 || f->fixed[v] || !makes_far(node) ? far : made_far(f, v, least_made);
}

static void find_fixed(const finder *f, const tc_node *node)
{
    bool fixed = !(tc_ops[node->op].traits & (T_CONTROL | T_STATE)) &&
                 !(node->op == TC_OP_const && ti_graph_keeps(f->g, node->out[0]));
    for (int i = 0; i < node->n_in; i++)
        fixed = fixed && (!node->in[i] || f->fixed[node->in[i]]);
    for (int i = 0; i < node->n_out; i++)
        f->fixed[node->out[i]] = fixed;
}

bool *ti_mask_suspects(tc_ctx *ctx, const tc_graph *g)
{
    bool *may = tc_new_n(&ctx->arena, bool, g->n_val + 1);
    for (size_t i = 0; i < g->n_in; i++)
        may[g->in[i]] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool any = node->op == TC_OP_const || node->op == TC_OP_full || node->op == TC_OP_pad ||
                   makes_far(node);
        for (int i = 0; i < node->n_in; i++)
            any = any || (may[node->in[i]] && hands_on(node, i));
        for (int i = 0; i < node->n_out; i++) {
            const tc_type *t = ti_type_of(g, node->out[i]);
            may[node->out[i]] = any && t && t->dtype == TC_f32 && !t->quant;
        }
    }
    return may;
}

tc_far *ti_mask_values_find(tc_ctx *ctx, const tc_graph *g, const tc_reach *const *reach)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    finder f = {ctx, g, reach, tc_new_n(&ctx->arena, tc_far, g->n_val + 1),
                tc_new_n(&ctx->scratch, bool, g->n_val + 1)};
    for (size_t i = 0; i < g->n_in; i++)
        if (is_f32(&f, g->in[i]) && reach && is_mask_like(&f, g->in[i], 0))
            f.far[g->in[i]] = made_far(&f, g->in[i], least_mixed);
    for (size_t k = 0; k < g->n_node; k++) {
        find_fixed(&f, g->node[k]);
        for (int i = 0; i < g->node[k]->n_out; i++)
            f.far[g->node[k]->out[i]] = far_of(&f, g->node[k], g->node[k]->out[i]);
    }
    for (size_t v = 0; v < g->n_val && !reach; v++)
        if (f.far[v].from < least_made / 4)
            f.far[v].from = 0;
    ti_arena_rewind(&ctx->scratch, mark);
    return f.far;
}

/* A constant operand that may bring far values into the result: selected, or as a mask. */
static bool is_suspect(const tc_graph *g, const tc_node *node, int i)
{
    tc_val v = node->in[i];
    const tc_node *def = v ? ti_def(g, v) : NULL;
    const tc_type *t = v ? ti_type_of(g, v) : NULL;
    tc_far far = {.from = 0};
    if (!t || t->dtype != TC_f32 || (!hands_on(node, i) && ti_role_bias(node) != i))
        return false;
    if (def && def->op == TC_OP_const)
        far = known_const(g, v);
    else if (def && def->op == TC_OP_full)
        far = known_number(((const tc_attr_full *)def->attr)->value);
    bool factor = node->op == TC_OP_mul && far.from >= least_mixed / 4;
    return far.from > 0 && (ti_role_moves(node) || !far.alone || factor || ti_graph_keeps(g, v));
}

bool ti_mask_suspected(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_log ||
            (node->op == TC_OP_pad && fabs(((const tc_attr_pad *)node->attr)->value) >= least))
            return true;
        for (int i = 0; i < node->n_in; i++)
            if (is_suspect(g, node, i))
                return true;
    }
    return false;
}

/* ---- biases ---- */

/* A constant in the shape of channels: [n] for a linear layer, [n,1,1] for a convolution. */
static tc_val channels(tc_rewrite *rw, const tc_node *node, const float *x, int64_t n)
{
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    int64_t dim[TC_MAX_RANK] = {n, 1, 1, 1, 1, 1, 1, 1};
    int rank = node->op == TC_OP_conv ? y->rank - 1 : 1;
    const tc_type *type = ti_type_make(rw->ctx, TC_f32, rank, dim);
    return ti_graph_const(rw->to, type, x, NULL, node->loc);
}

/* The bias of a linear layer or convolution with far ones among others; -1: none. */
static int far_bias(const tc_graph *g, const tc_node *node, tc_far *far)
{
    int at = node->op == TC_OP_linear || node->op == TC_OP_conv ? ti_role_bias(node) : -1;
    tc_tensor b = ti_tensor_of(g, at >= 0 ? node->in[at] : TC_NONE);
    if (!b.data || b.type->rank != 1)
        return -1;
    const tc_type *y = ti_type_of(g, node->out[0]);
    bool batched = node->op == TC_OP_linear || y->rank == ti_type_of(g, node->in[1])->rank;
    *far = known_tensor(b);
    return far->from > 0 && !far->alone && batched ? at : -1;
}

/* linear(x, w, b), b with far ones: linear(x, w, those below) + the far ones. */
static tc_status part(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_far far;
    int at = far_bias(rw->from, node, &far);
    if (at < 0)
        return TC_OK;
    tc_tensor b = ti_tensor_of(rw->from, node->in[at]);
    int64_t n = tc_type_count(b.type);
    float *near = ti_arena_copy(&rw->ctx->arena, b.data, (size_t)n * sizeof *near),
          *away = tc_new_n(&rw->ctx->arena, float, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        if ((double)fabsf(near[i]) >= far.from) {
            away[i] = near[i];
            near[i] = 0;
        }
    tc_build build = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_b_in(&build, i);
    in[at] = ti_b_data(&build, b.type, near);
    tc_val y = ti_b_op(&build, node->op, node->attr, in, node->n_in);
    return ti_b_replace(&build, ti_b_add(&build, y, channels(rw, node, away, n)), done);
}

tc_status ti_mask_split(tc_module *module)
{
    static tc_rewriter *const rewriters[] = {part};
    tc_graph *g = ti_main(module);
    tc_far far;
    bool any = false;
    for (size_t k = 0; k < g->n_node; k++)
        any = any || far_bias(g, g->node[k], &far) >= 0;
    return any ? ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), NULL) : TC_OK;
}

/* ---- sums as selections ---- */

static const double least_chosen = 1e6; /* it absorbs what it is added to */

typedef struct chooser {
    const tc_far *far;
    size_t n;
} chooser;

/* The operand of a sum that is a mask over the other; -1: none. */
static int mask_of(const tc_graph *g, const tc_node *node, const tc_far *far)
{
    if ((node->op != TC_OP_add && node->op != TC_OP_sub) ||
        ((const tc_attr_alpha *)node->attr)->alpha != 1)
        return -1;
    int at = far[node->in[1]].from > 0;
    const tc_far *m = &far[node->in[at]];
    bool masks = m->from > 0 && fabs(m->one) >= least_chosen && !m->alone;
    bool over = far[node->out[0]].from > 0 && !(far[node->in[!at]].from > 0);
    return masks && over && !ti_is_const(g, node->in[!at]) ? at : -1;
}

static tc_status choose(tc_rewrite *rw, const tc_node *node, bool *done)
{
    chooser *c = rw->user;
    bool sub = node->op == TC_OP_sub;
    int at = mask_of(rw->from, node, c->far);
    if (at < 0)
        return TC_OK;
    const tc_far *m = &c->far[node->in[at]];
    tc_build b = ti_build_instead(rw, node);
    tc_val mask = ti_b_in(&b, at), x = ti_b_in(&b, !at);
    tc_val limit = ti_b_scalar(&b, TC_f32, copysign(m->from, m->one));
    tc_val kept = m->one < 0 ? ti_b_gt(&b, mask, limit) : ti_b_lt(&b, mask, limit);
    if (m->ordinary > 0 || (sub && !at)) {
        tc_val near = ti_b_where(&b, kept, mask, ti_b_scalar(&b, TC_f32, 0));
        x = ti_b_binary(&b, node->op, at ? x : near, at ? near : x);
    }
    tc_val one = ti_b_scalar(&b, TC_f32, sub && at ? -m->one : m->one);
    tc_val y = ti_b_where(&b, kept, x, one);
    if (y && ti_b_type(&b, y) != ti_b_out_type(&b, 0))
        return TC_OK;
    c->n++;
    return ti_b_replace(&b, y, done);
}

tc_status ti_mask_select(tc_module *module, const tc_far *far, size_t *n)
{
    static tc_rewriter *const rewriters[] = {choose};
    chooser c = {far, 0};
    const tc_graph *g = ti_main(module);
    bool any = false;
    for (size_t k = 0; k < g->n_node; k++)
        any = any || mask_of(g, g->node[k], far) >= 0;
    if (any)
        TC_TRY(ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), &c));
    *n = c.n;
    return TC_OK;
}
