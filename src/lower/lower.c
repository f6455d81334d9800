/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c -- the stage: node by node through the rules of lower.def. */
#include "lower.h"

#include <stdarg.h>
#include <stdio.h>

#include "plain/as_real.h"
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
static_assert(N_ROW == (int)TC_OP_tosa_argmax, "lower.def says something of every operator");

bool tc_lower_knows(tc_op op, bool quantized)
{
    return quantized ? rules[op].quantized : rules[op].plain;
}

void tc_lower_refuse(tc_lower *lw, const char *format, ...)
{
    if (lw->status != TC_OK)
        return;
    va_list args;
    char text[256];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lw->why = tc_text_format(&lw->ctx->arena, "%s", text);
    lw->status = TC_UNSUPPORTED;
}

/* What an output's type says and no TOSA node computes: its domain.  A value that is an input, a
 * constant, or already has another meaning goes through IDENTITY. */
static tc_val with_domain(tc_lower *lw, tc_val v, const tc_type *type)
{
    tc_value *value = lw->to->val[v];
    if (value->type == type && value->def && !value->data)
        return v;
    if (!value->def || value->data || value->type->quant) {
        v = tc_put1(lw, TC_OP_tosa_identity, NULL, v);
        if (!v)
            return v;
        value = lw->to->val[v];
    }
    value->type = type;
    return v;
}

static void lower_const(tc_lower *lw, const tc_node *node)
{
    const tc_value *old = lw->from->val[node->out[0]];
    const tc_type *t = old->type;
    lw->now[node->out[0]] = tc_graph_const(lw->to, tc_type_make(lw->ctx, t->dtype, t->rank, t->dim),
                                           old->data, old->name, node->loc);
}

static bool fits(const tc_type *have, const tc_type *want)
{
    return have && have->dtype == want->dtype && tc_same_dims(have, want);
}

/* TOSA's tensors have elements, and at most six axes. */
static bool has_a_shape(tc_lower *lw, const tc_node *node, const tc_type *t)
{
    if (t && t->rank > 6)
        tc_lower_refuse(lw, "it has a tensor of rank %d, TOSA has ranks up to 6", (int)t->rank);
    else if (t && !tc_type_count(t) && node->op != TC_OP_cat)
        tc_lower_refuse(lw, "it has a tensor without elements");
    return lw->status == TC_OK;
}

static bool has_shapes(tc_lower *lw, const tc_node *node)
{
    bool good = true;
    for (int i = 0; i < node->n_in; i++)
        good = good && has_a_shape(lw, node, tc_type_of(lw->from, node->in[i]));
    for (int i = 0; i < node->n_out; i++)
        good = good && has_a_shape(lw, node, tc_type_of(lw->from, node->out[i]));
    return good;
}

/* What is TOSA already, as a model that came quantized has it, stays as it is. */
static void lower_as_is(tc_lower *lw, const tc_node *node, tc_val *out)
{
    tc_val *in = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        in[i] = lw->now[node->in[i]];
    tc_node *same =
        tc_graph_add(lw->to, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = tc_type_of(lw->from, node->out[i]);
        lw->to->val[same->out[i]]->type = tc_type_make(lw->ctx, t->dtype, t->rank, t->dim);
        out[i] = same->out[i];
    }
    lw->status = tc_node_infer(lw->to, same);
}

/* By its integer rule, or, where there is none or it refuses and the target has floats, by the
 * plain one between conversions. */
static void lower_by_rule(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const rule_pair *pair = &rules[node->op];
    bool quantized = tc_node_quantized(lw->from, node),
         floats = lw->target->tosa >> TC_FEATURE_FP & 1u;
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
        tc_lower_refuse(lw, quantized ? "it has no integer form" : "it has no float form");
    if (!quantized || lw->status != TC_UNSUPPORTED || !pair->plain || !floats ||
        tc_op_sees_storage(node->op))
        return;
    const char *why = lw->why;
    lw->status = TC_OK;
    lw->why = NULL;
    tc_lower_as_real(lw, node, pair->plain, out);
    if (lw->status == TC_UNSUPPORTED)
        lw->why = why;
}

static void lower_node(tc_lower *lw, const tc_node *node)
{
    lw->node = node;
    if (node->op == TC_OP_const) {
        lower_const(lw, node);
        return;
    }
    tc_val *out = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_out);
    lower_by_rule(lw, node, out);
    for (int i = 0; lw->status == TC_OK && i < node->n_out; i++) {
        if (!out[i])
            continue;
        if (!fits(tc_type_of(lw->to, out[i]), tc_type_of(lw->from, node->out[i])))
            lw->status = tc_bug(
                lw->ctx, node->loc, "result %d of '%s' was lowered to %s, expected %s", i,
                tc_ops[node->op].name, tc_type_text(&lw->ctx->arena, tc_type_of(lw->to, out[i])),
                tc_type_text(&lw->ctx->arena, tc_type_of(lw->from, node->out[i])));
        lw->now[node->out[i]] = out[i];
        tc_value *value = lw->to->val[out[i]];
        if (!value->name && value->def)
            value->name = lw->from->val[node->out[i]]->name;
    }
}

static tc_status refused(tc_lower *lw)
{
    if (lw->status == TC_UNSUPPORTED && lw->why)
        return tc_unsupported(lw->ctx, lw->node->loc, TC_E_UNSUPPORTED,
                              "'%s' cannot become TOSA: %s", tc_ops[lw->node->op].name, lw->why);
    return lw->status;
}

static void lower_all(tc_lower *lw)
{
    const tc_graph *g = lw->from;
    for (size_t i = 0; i < g->n_in; i++)
        lw->now[g->in[i]] = tc_graph_input(lw->to, tc_type_of(g, g->in[i]), g->val[g->in[i]]->name);
    for (size_t k = 0; k < g->n_node && lw->status == TC_OK; k++)
        lower_node(lw, g->node[k]);
    for (size_t i = 0; i < g->n_out && lw->status == TC_OK; i++) {
        tc_val v = with_domain(lw, lw->now[g->out[i]], tc_type_of(g, g->out[i]));
        if (v)
            tc_graph_output(lw->to, v);
    }
}

void tc_lower_sub(tc_lower *lw, const tc_graph *from, tc_graph *to)
{
    tc_lower inner = *lw;
    inner.from = from;
    inner.to = to;
    inner.now = tc_new_n(&lw->ctx->arena, tc_val, from->n_val);
    inner.readers = tc_graph_readers(lw->ctx, from);
    lower_all(&inner);
    lw->status = inner.status;
    lw->callee = inner.callee;
    lw->n_callee = inner.n_callee;
    lw->cap_callee = inner.cap_callee;
    if (inner.why)
        lw->why = tc_text_format(&lw->ctx->arena, "in '%s', '%s' %s", from->name,
                                 tc_ops[inner.node->op].name, inner.why);
}

tc_status tc_lower_graph(tc_ctx *ctx, tc_graph *g, const tc_target *target,
                         const tc_lower_check *check)
{
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    tc_graph fresh = tc_graph_empty(g->module, g->name);
    fresh.facts = g->facts;
    tc_lower lw = {.ctx = ctx,
                   .from = g,
                   .to = &fresh,
                   .target = target,
                   .now = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                   .readers = tc_graph_readers(ctx, g)};
    lower_all(&lw);
    tc_status status = refused(&lw);
    for (size_t k = 0; check && k < check->n && status == TC_OK; k++)
        status = tc_lower_compare(&lw, check->in[k]);
    if (check && check->broke)
        *check->broke = *check->broke || status == TC_BUG;
    if (status == TC_OK)
        *g = fresh;
    tc_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* ---- can it be done? ---- */

/* Constants that the rule did not use after all are nobody's business. */
static void drop_unread(tc_ctx *ctx, tc_graph *g)
{
    const uint32_t *readers = tc_graph_readers(ctx, g);
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const || readers[g->node[k]->out[0]])
            g->node[n++] = g->node[k];
    g->n_node = n;
}

/* Whether the target takes what the rule made: TOSA's rules, then the machine's. */
static bool accepted(tc_lower *lw)
{
    tc_graph **list = tc_new_n(&lw->ctx->scratch, tc_graph *, lw->n_callee + 1);
    list[0] = lw->to;
    for (size_t i = 0; i < lw->n_callee; i++)
        list[1 + i] = lw->callee[i];
    for (size_t i = 0; i <= lw->n_callee; i++)
        drop_unread(lw->ctx, list[i]);
    tc_module module = *lw->to->module;
    module.graph = list;
    module.n_graph = module.cap_graph = lw->n_callee + 1;
    if (tc_verify_tosa_for(lw->ctx, &module, lw->target) != TC_OK)
        return false;
    if (!lw->why)
        lw->why = tc_machine_refuses(lw->ctx, lw->target->machine, lw->to);
    return !lw->why;
}

struct tc_lower_asker {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_target *target;
    tc_val *now;
    const uint32_t *readers;
};

tc_lower_asker *tc_lower_ask(tc_ctx *ctx, const tc_graph *g, const tc_target *target)
{
    tc_lower_asker *a = tc_new(&ctx->arena, tc_lower_asker);
    *a = (tc_lower_asker){ctx, g, target, tc_new_n(&ctx->arena, tc_val, g->n_val), NULL};
    const uint32_t *readers = tc_graph_readers(ctx, g);
    a->readers = tc_arena_copy(&ctx->arena, readers, g->n_val * sizeof *readers);
    return a;
}

/* The value, or of a complex one, which TOSA does not have, what it is made from. */
static tc_val read_from(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    return def && def->n_in && tc_dtypes[tc_type_of(g, v)->dtype].kind == TC_COMPLEX ? def->in[0]
                                                                                     : v;
}

bool tc_lower_can(tc_lower_asker *a, const tc_node *node, const char **why)
{
    tc_ctx *ctx = a->ctx;
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    tc_trial trial;
    tc_graph fresh = tc_graph_empty(a->g->module, a->g->name);
    tc_lower lw = {.ctx = ctx,
                   .from = a->g,
                   .to = &fresh,
                   .target = a->target,
                   .node = node,
                   .dry = true,
                   .now = a->now,
                   .readers = a->readers};
    tc_trial_begin(ctx, &trial);
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = read_from(a->g, node->in[i]);
        if (!v || lw.now[v])
            continue;
        if (tc_is_const(a->g, v))
            lower_const(&lw, tc_def(a->g, v));
        else
            lw.now[v] = tc_graph_input(&fresh, tc_type_of(a->g, v), NULL);
    }
    lower_node(&lw, node);
    bool can = lw.status == TC_OK && accepted(&lw);
    tc_trial_end(ctx, &trial);
    *why = can ? NULL : lw.why ? lw.why : trial.why ? trial.why : "";
    for (int i = 0; i < node->n_in; i++)
        a->now[read_from(a->g, node->in[i])] = TC_NONE;
    for (int i = 0; i < node->n_out; i++)
        a->now[node->out[i]] = TC_NONE;
    tc_arena_rewind(&ctx->scratch, mark);
    return can;
}
