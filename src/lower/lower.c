/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c -- the stage: node by node through the rules of lower.def. */
#include "lower.h"

#include <stdarg.h>
#include <stdio.h>

#include "plain/as_real.h"
#include "../base/attempt.h"
#include "../ir/rewrite.h"
#include "put.h"

typedef struct rule_pair {
    tc_lower_rule *quantized, *plain;
} rule_pair;

#define NONE NULL
static const rule_pair rules[TC_OP_COUNT] = {
#define LOWER(op, quantized, plain, tile) [TC_OP_##op] = {quantized, plain},
#include "lower.def"
};
#undef NONE

/* No operator is left out: those before the first of TOSA's are the rich and typed forms. */
enum {
#define LOWER(op, quantized, plain, tile) ROW_##op,
#include "lower.def"
    N_ROW
};
static_assert(N_ROW == (int)TC_OP_tosa_argmax, "lower.def has a row for every operator");

bool ti_lower_knows(tc_op op, bool quantized)
{
    return quantized ? rules[op].quantized : rules[op].plain;
}

void ti_lower_refuse(tc_build *lw, const char *format, ...)
{
    TC_STOP(lw);
    va_list args;
    char text[256];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lw->lower->why = ti_text_format(&lw->ctx->arena, "%s", text);
    lw->status = TC_UNSUPPORTED;
}

/* The domain of an output, which its type has and no TOSA node computes.  A value that is an input,
 * a constant, or already has another domain goes through IDENTITY. */
static tc_val with_domain(tc_build *lw, tc_val v, const tc_type *type)
{
    tc_value *value = lw->g->val[v];
    if (value->type == type && value->def && !value->data)
        return v;
    if (!value->def || value->data || value->type->quant) {
        v = ti_b_tosa_identity(lw, v);
        if (!v)
            return v;
        value = lw->g->val[v];
    }
    value->type = type;
    return v;
}

static void lower_const(tc_build *lw, const tc_node *node)
{
    const tc_value *old = lw->rw->from->val[node->out[0]];
    const tc_type *t = old->type;
    lw->rw->now[node->out[0]] = ti_graph_const(
        lw->g, ti_type_make(lw->ctx, t->dtype, t->rank, t->dim), old->data, old->name, node->loc);
}

static bool fits(const tc_type *have, const tc_type *want)
{
    return have && have->dtype == want->dtype && ti_same_dims(have, want);
}

/* TOSA's tensors have elements, and at most six axes. */
static bool has_a_shape(tc_build *lw, const tc_node *node, const tc_type *t)
{
    if (t && t->rank > 6)
        ti_lower_refuse(lw, "it has a tensor of rank %d, TOSA has ranks up to 6", (int)t->rank);
    else if (t && !tc_type_count(t) && node->op != TC_OP_cat)
        ti_lower_refuse(lw, "it has a tensor without elements");
    return lw->status == TC_OK;
}

static bool has_shapes(tc_build *lw, const tc_node *node)
{
    bool good = true;
    for (int i = 0; i < node->n_in; i++)
        good = good && has_a_shape(lw, node, ti_type_of(lw->rw->from, node->in[i]));
    for (int i = 0; i < node->n_out; i++)
        good = good && has_a_shape(lw, node, ti_type_of(lw->rw->from, node->out[i]));
    return good;
}

/* TOSA nodes, as of a model that was already quantized, are kept. */
static void lower_as_is(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_val *in = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        in[i] = lw->rw->now[node->in[i]];
    tc_node *same =
        ti_graph_add(lw->g, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_type_of(lw->rw->from, node->out[i]);
        lw->g->val[same->out[i]]->type =
            ti_type_carried(lw->ctx, ti_type_make(lw->ctx, t->dtype, t->rank, t->dim));
        out[i] = same->out[i];
    }
    lw->status = ti_node_infer(lw->g, same);
}

/* By its integer rule, or, without one or if it refuses and the target has floats, by the plain one
 * between conversions. */
static void lower_by_rule(tc_build *lw, const tc_node *node, tc_val *out)
{
    const rule_pair *pair = &rules[node->op];
    bool quantized = ti_node_quantized(lw->rw->from, node),
         floats = lw->lower->target->tosa >> TC_FEATURE_FP & 1u;
    tc_lower_rule *rule = quantized ? pair->quantized : pair->plain;
    if (!has_shapes(lw, node))
        return;
    if (tc_ops[node->op].tosa) {
        lower_as_is(lw, node, out);
        return;
    }
    if (rule)
        rule(lw, node, out);
    else
        ti_lower_refuse(lw, quantized ? "it has no integer form" : "it has no float form");
    if (!quantized || lw->status != TC_UNSUPPORTED || !pair->plain || !floats ||
        ti_op_sees_storage(node->op))
        return;
    const char *why = lw->lower->why;
    lw->status = TC_OK;
    lw->lower->why = NULL;
    ti_lower_as_real(lw, node, pair->plain, out);
    if (lw->status == TC_UNSUPPORTED)
        lw->lower->why = why;
}

static void lower_node(tc_build *lw, const tc_node *node)
{
    lw->node = node;
    lw->loc = node->loc;
    if (node->op == TC_OP_const) {
        lower_const(lw, node);
        return;
    }
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    tc_val *out = tc_new_n(&lw->ctx->scratch, tc_val, (size_t)node->n_out);
    lower_by_rule(lw, node, out);
    for (int i = 0; lw->status == TC_OK && i < node->n_out; i++) {
        if (!out[i])
            continue;
        const tc_type *want = ti_type_of(lw->rw->from, node->out[i]);
        if (tc_ops[node->op].tosa)
            want = ti_type_carried(lw->ctx, want);
        if (!fits(ti_type_of(lw->g, out[i]), want))
            lw->status = ti_bug(
                lw->ctx, node->loc, "result %d of '%s' was lowered to %s, expected %s", i,
                tc_ops[node->op].name, ti_type_text(&lw->ctx->arena, ti_type_of(lw->g, out[i])),
                ti_type_text(&lw->ctx->arena, want));
        lw->rw->now[node->out[i]] = out[i];
        tc_value *value = lw->g->val[out[i]];
        if (!value->name && value->def)
            value->name = lw->rw->from->val[node->out[i]]->name;
    }
    ti_arena_rewind(&lw->ctx->scratch, mark);
}

static tc_status refused(tc_build *lw)
{
    if (lw->status == TC_UNSUPPORTED && lw->lower->why)
        return ti_unsupported(lw->ctx, lw->loc, TC_E_UNSUPPORTED, "'%s' cannot become TOSA: %s",
                              tc_ops[lw->node->op].name, lw->lower->why);
    return lw->status;
}

static tc_build builder(tc_lowering *own)
{
    ti_map_init(&own->constants, &own->rw.ctx->arena);
    ti_map_init(&own->bounds, &own->rw.ctx->arena);
    return (tc_build){.ctx = own->rw.ctx,
                      .g = own->rw.to,
                      .rw = &own->rw,
                      .lower = own,
                      .constants = &own->constants};
}

static void lower_all(tc_build *lw)
{
    const tc_graph *g = lw->rw->from;
    for (size_t i = 0; i < g->n_in; i++)
        lw->rw->now[g->in[i]] =
            ti_graph_input(lw->g, ti_type_of(g, g->in[i]), g->val[g->in[i]]->name);
    for (size_t k = 0; k < g->n_node && lw->status == TC_OK; k++)
        lower_node(lw, g->node[k]);
    for (size_t i = 0; i < g->n_out && lw->status == TC_OK; i++) {
        tc_val v = with_domain(lw, lw->rw->now[g->out[i]], ti_type_of(g, g->out[i]));
        if (v)
            ti_graph_output(lw->g, v);
    }
}

void ti_lower_sub(tc_build *lw, const tc_graph *from, tc_graph *to)
{
    tc_lowering *own = lw->lower, sub = *own;
    sub.rw.from = from;
    sub.rw.to = to;
    sub.rw.now = tc_new_n(&lw->ctx->arena, tc_val, from->n_val);
    sub.rw.readers = ti_graph_readers(lw->ctx, from);
    tc_build inner = builder(&sub);
    lower_all(&inner);
    lw->status = inner.status;
    own->callee = sub.callee;
    own->n_callee = sub.n_callee;
    own->cap_callee = sub.cap_callee;
    if (sub.why)
        own->why = ti_text_format(&lw->ctx->arena, "in '%s', '%s' %s", from->name,
                                  tc_ops[inner.node->op].name, sub.why);
}

tc_status ti_lower_graph(tc_ctx *ctx, tc_graph *g, const tc_target *target,
                         const tc_lower_check *check)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_graph fresh = ti_graph_empty(g->module, g->name);
    fresh.facts = g->facts;
    tc_lowering own = {.rw = {.ctx = ctx, .from = g, .to = &fresh}, .target = target};
    own.rw.now = tc_new_n(&ctx->scratch, tc_val, g->n_val);
    own.rw.readers = ti_graph_readers(ctx, g);
    tc_build lw = builder(&own);
    lower_all(&lw);
    tc_status status = refused(&lw);
    for (size_t k = 0; check && k < check->n && status == TC_OK; k++)
        status = ti_lower_compare(&lw, check->in[k]);
    if (check && check->broke)
        *check->broke = *check->broke || status == TC_BUG;
    if (status == TC_OK)
        *g = fresh;
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* ---- can it be done? ---- */

/* Constants that the rule did not use are dropped. */
static void drop_unread(tc_ctx *ctx, tc_graph *g)
{
    const uint32_t *readers = ti_graph_readers(ctx, g);
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const || readers[g->node[k]->out[0]])
            g->node[n++] = g->node[k];
    g->n_node = n;
}

/* What the rule made with the node's results as outputs, and with the graphs that it runs. */
static const tc_graph *with_results(const tc_build *lw, tc_module *module)
{
    tc_graph *g = tc_new(&lw->ctx->scratch, tc_graph);
    *g = *lw->g;
    g->module = module;
    g->n_out = 0;
    g->out = tc_new_n(&lw->ctx->scratch, tc_val, (size_t)lw->node->n_out + 1);
    for (int i = 0; i < lw->node->n_out; i++)
        if (lw->rw->now[lw->node->out[i]])
            g->out[g->n_out++] = lw->rw->now[lw->node->out[i]];
    return g;
}

/* Whether the target takes what the rule made: TOSA's rules, then the machine's. */
static bool accepted(tc_build *lw)
{
    tc_graph **list = tc_new_n(&lw->ctx->scratch, tc_graph *, lw->lower->n_callee + 1);
    list[0] = lw->g;
    for (size_t i = 0; i < lw->lower->n_callee; i++)
        list[1 + i] = lw->lower->callee[i];
    for (size_t i = 0; i <= lw->lower->n_callee; i++)
        drop_unread(lw->ctx, list[i]);
    tc_module module = *lw->g->module;
    module.graph = list;
    module.n_graph = module.cap_graph = lw->lower->n_callee + 1;
    if (ti_verify_tosa_for(lw->ctx, &module, lw->lower->target) != TC_OK)
        return false;
    if (!lw->lower->why)
        lw->lower->why = ti_target_refuses(lw->ctx, lw->lower->target, with_results(lw, &module));
    return !lw->lower->why;
}

struct tc_lower_asker {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_target *target;
    tc_val *now;
    const uint32_t *readers;
    const tc_node **reader; /* by value: one of those nodes */
};

tc_lower_asker *ti_lower_ask(tc_ctx *ctx, const tc_graph *g, const tc_target *target)
{
    tc_lower_asker *a = tc_new(&ctx->arena, tc_lower_asker);
    *a = (tc_lower_asker){.ctx = ctx,
                          .g = g,
                          .target = target,
                          .now = tc_new_n(&ctx->arena, tc_val, g->n_val),
                          .reader = tc_new_n(&ctx->arena, const tc_node *, g->n_val)};
    const uint32_t *readers = ti_graph_readers(ctx, g);
    a->readers = ti_arena_copy(&ctx->arena, readers, g->n_val * sizeof *readers);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            a->reader[g->node[k]->in[i]] = g->node[k];
    return a;
}

/* The value, or of a complex one, which TOSA does not have, what it is made from. */
static tc_val read_from(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    return def && def->n_in && tc_dtypes[ti_type_of(g, v)->dtype].kind == TC_COMPLEX ? def->in[0]
                                                                                     : v;
}

static bool is_i48(const tc_graph *g, tc_val v)
{
    return v && ti_type_of(g, v) && ti_type_of(g, v)->dtype == TC_i48;
}

/* Features that most machines have together are checked together. */
enum { GROUP = 8 };

/* A sum of 48 bits and the RESCALE that reads it. */
static size_t sum_and_rescale(const tc_lower_asker *a, const tc_node *node, const tc_node **group)
{
    size_t n = 0;
    const tc_node *sum = node->n_in && is_i48(a->g, node->in[0]) ? ti_def(a->g, node->in[0]) : NULL;
    if (node->op == TC_OP_tosa_rescale && sum)
        group[n++] = sum;
    group[n++] = node;
    const tc_node *next =
        node->n_out && is_i48(a->g, node->out[0]) ? a->reader[node->out[0]] : NULL;
    if (n == 1 && next && next->op == TC_OP_tosa_rescale)
        group[n++] = next;
    return n;
}

/* A GATHER from a constant list, after the conversion of codes to indices. */
static size_t codes_and_gather(const tc_lower_asker *a, const tc_node *node, const tc_node **group)
{
    size_t n = 0;
    group[GROUP - ++n] = node;
    for (const tc_node *def = ti_def(a->g, node->in[1]); def && n < GROUP;
         def = ti_def(a->g, def->in[0])) {
        if (def->op != TC_OP_reshape && def->op != TC_OP_tosa_add && def->op != TC_OP_tosa_rescale)
            break;
        group[GROUP - ++n] = def;
    }
    memmove(group, group + GROUP - n, n * sizeof *group);
    return n;
}

static size_t group_of(const tc_lower_asker *a, const tc_node *node, const tc_node **group)
{
    bool listed = node->op == TC_OP_tosa_gather && ti_is_const(a->g, node->in[0]);
    return listed ? codes_and_gather(a, node, group) : sum_and_rescale(a, node, group);
}

/* A RESCALE is what reads u8. */
static const tc_type *type_read(tc_ctx *ctx, const tc_graph *g, const tc_node *node, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    return node->op == TC_OP_tosa_rescale ? ti_type_carried(ctx, t) : t;
}

/* An operand of the node that was not made. */
static void bind_operands(tc_lower_asker *a, tc_build *lw, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = read_from(a->g, node->in[i]);
        if (!v || a->now[v])
            continue;
        if (ti_is_const(a->g, v))
            lower_const(lw, ti_def(a->g, v));
        else
            a->now[v] = ti_graph_input(lw->g, type_read(lw->ctx, a->g, node, v), NULL);
    }
}

static void unbind(tc_lower_asker *a, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        a->now[read_from(a->g, node->in[i])] = TC_NONE;
    for (int i = 0; i < node->n_out; i++)
        a->now[node->out[i]] = TC_NONE;
}

bool ti_lower_can(tc_lower_asker *a, const tc_node *node, const char **why)
{
    tc_ctx *ctx = a->ctx;
    tc_footing footing;
    tc_trial trial;
    const tc_node *group[GROUP];
    ti_footing_take(ctx, &footing);
    size_t n = group_of(a, node, group);
    tc_graph fresh = ti_graph_empty(a->g->module, a->g->name);
    tc_lowering own = {
        .rw = {ctx, a->g, &fresh, a->now, a->readers, NULL}, .target = a->target, .dry = true};
    tc_build lw = builder(&own);
    ti_trial_begin(ctx, &trial);
    for (size_t k = 0; k < n && lw.status == TC_OK; k++) {
        bind_operands(a, &lw, group[k]);
        lower_node(&lw, group[k]);
    }
    bool can = lw.status == TC_OK && accepted(&lw);
    ti_trial_end(ctx, &trial);
    *why = can ? NULL : own.why ? own.why : trial.why ? trial.why : "";
    for (size_t k = 0; k < n; k++)
        unbind(a, group[k]);
    if (can) /* else the reason stays */
        ti_footing_back(ctx, &footing);
    else
        ti_arena_rewind(&ctx->scratch, footing.scratch);
    return can;
}
