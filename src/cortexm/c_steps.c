/* SPDX-License-Identifier: Apache-2.0 */
/* c_steps.c -- fusion: which nodes are computed together.
 *
 * A sum of products is fused with the RESCALE and CLAMP after it.  Elementwise nodes read by only
 * one loop, in its shape, are computed in that loop: their results are not stored. */
#include "c_model.h"

#include "../ir/tail.h"

enum { NOBODY = -1, SEVERAL = -2 };

bool ti_c_is_view(const tc_node *node)
{
    return node->op == TC_OP_tosa_reshape || node->op == TC_OP_tosa_identity;
}

/* Whether a value is an input, or a view of one. */
static bool is_of_input(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    int64_t first;
    while (def && (ti_c_is_view(def) || ti_c_is_part(g, def, &first)))
        def = ti_def(g, def->in[0]);
    return !def;
}

bool ti_c_is_part(const tc_graph *g, const tc_node *node, int64_t *first)
{
    if (node->op != TC_OP_tosa_slice || !ti_is_const(g, node->in[1]))
        return false;
    const tc_type *x = ti_type_of(g, node->in[0]), *part = ti_type_of(g, node->out[0]);
    int64_t size = 1;
    bool cut = false, whole = true;
    *first = 0;
    for (int i = x->rank - 1; i >= 0; i--) {
        whole = whole && (!cut || part->dim[i] == 1); /* beyond a cut axis: one of each */
        cut = cut || part->dim[i] != x->dim[i];
        *first += ti_load_i64(ti_tensor_of(g, node->in[1]), i) * size;
        size *= x->dim[i];
    }
    return whole && is_of_input(g, node->in[0]);
}

int ti_c_streams(const tc_node *node)
{
    switch (node->op) {
    case TC_OP_tosa_mul:
        return 2;
    case TC_OP_tosa_table:
    case TC_OP_tosa_negate:
    case TC_OP_tosa_rescale:
        return 1;
    default:
        return node->n_in;
    }
}

static bool is_elementwise(const tc_node *node)
{
    return tc_ops[node->op].traits & T_ELTWISE;
}

typedef struct grouping {
    const tc_graph *g;
    const tc_node **reader; /* by value: the only one */
    size_t *made_at;        /* by value: its node */
    bool *kept;      /* by value: outputs and state */
    int64_t *group;  /* by node: where its chain ends, or its product is finished; NOBODY: itself */
    tc_c_step *step; /* by node: what ends there */
    bool *taken;     /* by node: part of another's step */
} grouping;

static void find_readers(grouping *p, tc_arena *scratch)
{
    const tc_graph *g = p->g;
    p->reader = ti_only_readers(scratch, g);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++)
            p->made_at[g->node[k]->out[i]] = k;
    for (size_t i = 0; i < g->n_out; i++)
        p->kept[g->out[i]] = true;
}

/* ---- products ---- */

static bool holds(const tc_graph *g, tc_val v, int64_t number)
{
    return ti_is_const(g, v) && ti_load_i64(ti_tensor_of(g, v), 0) == number;
}

/* A RESCALE that a product's call can do: by constants, of signed elements. */
static bool finishes(const tc_graph *g, const tc_node *node)
{
    const tc_attr_tosa_rescale *a = node->attr;
    return node->op == TC_OP_tosa_rescale && !a->input_unsigned && !a->output_unsigned &&
           ti_is_const(g, node->in[1]) && ti_is_const(g, node->in[2]) &&
           holds(g, node->in[3], 0) && ti_is_const(g, node->in[4]);
}

static void finish_product(grouping *p, size_t k)
{
    const tc_node *node = p->g->node[k];
    const tc_tail sums = {p->g, NULL, p->reader, true}, codes = {p->g, NULL, p->reader, false};
    tc_c_step step = {.node = node, .out = node->out[0]};
    const tc_node *then = ti_tail_next(&sums, step.out);
    if (then && finishes(p->g, then)) {
        p->taken[k] = true;
        step.rescale = then;
        step.out = then->out[0];
        then = ti_tail_next(&codes, step.out);
        if (then && then->op == TC_OP_tosa_clamp) {
            p->taken[p->made_at[step.out]] = true;
            step.clamp = then;
            step.out = then->out[0];
        }
    }
    p->step[p->made_at[step.out]] = step;
}

/* ---- chains ---- */

/* The reader of a value by elements: chain `group`, or another. */
static void tell_readers(grouping *p, int64_t *join, size_t k)
{
    const tc_node *node = p->g->node[k];
    bool chain = p->group[k] != NOBODY;
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        int64_t who = chain && i < ti_c_streams(node) ? p->group[k] : SEVERAL;
        join[v] = join[v] == NOBODY || join[v] == who ? who : SEVERAL;
    }
}

static void find_chains(grouping *p, tc_ctx *ctx)
{
    const tc_graph *g = p->g;
    int64_t *join = tc_new_n(&ctx->scratch, int64_t, g->n_val);
    for (size_t v = 0; v < g->n_val; v++)
        join[v] = p->kept[v] ? SEVERAL : NOBODY;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        if (is_elementwise(node) && !p->taken[k] && !p->step[k].node) {
            int64_t end = join[node->out[0]];
            bool joins = end >= 0 && ti_same_dims(ti_type_of(g, node->out[0]),
                                                  ti_type_of(g, g->node[end]->out[0]));
            p->group[k] = joins ? end : (int64_t)k;
            p->taken[k] = joins;
            p->step[p->group[k]].n_chain++;
        }
        tell_readers(p, join, k);
    }
}

/* The nodes of each chain, in order; its last is its step. */
static void fill_chains(grouping *p, tc_ctx *ctx)
{
    size_t *n = tc_new_n(&ctx->scratch, size_t, p->g->n_node);
    for (size_t k = 0; k < p->g->n_node; k++) {
        const tc_node *node = p->g->node[k];
        if (p->group[k] == NOBODY)
            continue;
        tc_c_step *step = &p->step[p->group[k]];
        if (!step->chain)
            step->chain = tc_new_n(&ctx->arena, const tc_node *, step->n_chain);
        step->chain[n[p->group[k]]++] = node;
        step->node = node;
        step->out = node->out[0];
    }
}

/* ---- all ---- */

/* Constants, views and declarations cost nothing when it runs. */
static bool is_idle(const tc_graph *g, const tc_node *node)
{
    int64_t first;
    return node->op == TC_OP_const || node->op == TC_OP_tosa_variable || ti_c_is_view(node) ||
           ti_c_is_part(g, node, &first);
}

enum { FEW = 4 };

/* A CONCAT of many is a step for each operand: they may repeat, and each operand is needed no longer than that. */
static int parts_of(const tc_node *node)
{
    return node->op == TC_OP_tosa_concat && node->n_in > FEW ? node->n_in : 1;
}

static size_t most_steps(const tc_graph *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += (size_t)parts_of(g->node[k]);
    return n;
}

static void add_step(tc_c_graph *cg, tc_c_step step)
{
    int parts = parts_of(step.node);
    for (int i = 0; i < parts; i++) {
        step.part = parts > 1 ? 1 + i : 0;
        cg->step[cg->n_step++] = step;
    }
}

void ti_c_steps(tc_ctx *ctx, tc_c_graph *cg)
{
    const tc_graph *g = cg->g;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    grouping p = {.g = g,
                  .made_at = tc_new_n(&ctx->scratch, size_t, g->n_val),
                  .kept = tc_new_n(&ctx->scratch, bool, g->n_val),
                  .group = tc_new_n(&ctx->scratch, int64_t, g->n_node),
                  .step = tc_new_n(&ctx->scratch, tc_c_step, g->n_node),
                  .taken = tc_new_n(&ctx->scratch, bool, g->n_node)};
    find_readers(&p, &ctx->scratch);
    for (size_t k = 0; k < g->n_node; k++) {
        p.group[k] = NOBODY;
        if (tc_ops[g->node[k]->op].traits & T_MAC)
            finish_product(&p, k);
    }
    find_chains(&p, ctx);
    fill_chains(&p, ctx);
    cg->in_chain = tc_new_n(&ctx->arena, size_t, g->n_val);
    cg->line = tc_new_n(&ctx->arena, size_t, g->n_val);
    cg->stream = tc_new_n(&ctx->arena, size_t, g->n_val);
    cg->step = tc_new_n(&ctx->arena, tc_c_step, most_steps(g));
    for (size_t k = 0; k < g->n_node; k++) {
        if (p.taken[k] || is_idle(g, g->node[k]))
            continue;
        for (size_t i = 0; i < p.step[k].n_chain; i++) {
            cg->in_chain[p.step[k].chain[i]->out[0]] = 1 + cg->n_step;
            cg->line[p.step[k].chain[i]->out[0]] = i;
        }
        if (!p.step[k].node)
            p.step[k] = (tc_c_step){.node = g->node[k],
                                    .out = g->node[k]->n_out ? g->node[k]->out[0] : TC_NONE};
        add_step(cg, p.step[k]);
    }
    ti_arena_rewind(&ctx->scratch, mark);
}
