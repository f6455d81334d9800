/* SPDX-License-Identifier: Apache-2.0 */
/* c_steps.c -- which nodes are computed together.
 *
 * A sum of products takes the RESCALE and CLAMP behind it along.  Elementwise nodes whose results
 * only one loop reads, in its shape, are computed in that loop: none of their results is stored. */
#include "c_model.h"

enum { NOBODY = -1, SEVERAL = -2 };

bool ti_c_is_view(const tc_node *node)
{
    return node->op == TC_OP_tosa_reshape || node->op == TC_OP_tosa_identity;
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
    int64_t *reader; /* by value: the node that alone reads it; NOBODY, SEVERAL */
    bool *kept;      /* by value: outputs and state */
    int64_t *group;  /* by node: where its chain ends, or its product is finished; NOBODY: itself */
    tc_c_step *step; /* by node: what ends there */
    bool *taken;     /* by node: part of another's step */
} grouping;

static void find_readers(grouping *p)
{
    const tc_graph *g = p->g;
    for (size_t v = 0; v < g->n_val; v++)
        p->reader[v] = NOBODY;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            tc_val v = g->node[k]->in[i];
            p->reader[v] = p->reader[v] == NOBODY ? (int64_t)k : SEVERAL;
        }
    for (size_t i = 0; i < g->n_out; i++)
        p->kept[g->out[i]] = true;
}

/* ---- products ---- */

static bool holds(const tc_graph *g, tc_val v, int64_t number)
{
    return ti_is_const(g, v) && ti_load_i64(ti_tensor_of(g, v), 0) == number;
}

/* A RESCALE that a product's call can do: by constants, of signed numbers. */
static bool finishes(const tc_graph *g, const tc_node *node, tc_val sum)
{
    const tc_attr_tosa_rescale *a = node->attr;
    return node->op == TC_OP_tosa_rescale && node->in[0] == sum && !a->input_unsigned &&
           !a->output_unsigned && ti_is_const(g, node->in[1]) && ti_is_const(g, node->in[2]) &&
           holds(g, node->in[3], 0) && ti_is_const(g, node->in[4]);
}

/* The one node that reads the node's result, and nothing else does. */
static const tc_node *next(const grouping *p, const tc_node *node, size_t *at)
{
    tc_val v = node->out[0];
    if (p->kept[v] || p->reader[v] < 0)
        return NULL;
    *at = (size_t)p->reader[v];
    return p->g->node[*at];
}

static int64_t channels(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    return t->rank ? t->dim[t->rank - 1] : 1;
}

/* The same, behind views of the result with the same channels. */
static const tc_node *next_but_views(const grouping *p, const tc_node *node, size_t *at)
{
    const tc_node *then = next(p, node, at);
    while (then && ti_c_is_view(then) &&
           channels(p->g, then->out[0]) == channels(p->g, node->out[0]))
        then = next(p, then, at);
    return then;
}

static void finish_product(grouping *p, size_t k)
{
    const tc_node *node = p->g->node[k], *then;
    tc_c_step step = {.node = node, .out = node->out[0]};
    size_t end = k, at = k;
    then = next_but_views(p, node, &at);
    if (then && finishes(p->g, then, then->in[0])) {
        step.rescale = then;
        step.out = then->out[0];
        p->taken[end] = true;
        end = at;
        then = next(p, then, &at);
        if (then && then->op == TC_OP_tosa_clamp) {
            step.clamp = then;
            step.out = then->out[0];
            p->taken[end] = true;
            end = at;
        }
    }
    p->step[end] = step;
}

/* ---- chains ---- */

/* What reads a value by elements: chain `group`, or somebody else. */
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
static bool is_idle(const tc_node *node)
{
    return node->op == TC_OP_const || node->op == TC_OP_tosa_variable || ti_c_is_view(node);
}

void ti_c_steps(tc_ctx *ctx, tc_c_graph *cg)
{
    const tc_graph *g = cg->g;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    grouping p = {g,
                  tc_new_n(&ctx->scratch, int64_t, g->n_val),
                  tc_new_n(&ctx->scratch, bool, g->n_val),
                  tc_new_n(&ctx->scratch, int64_t, g->n_node),
                  tc_new_n(&ctx->scratch, tc_c_step, g->n_node),
                  tc_new_n(&ctx->scratch, bool, g->n_node)};
    find_readers(&p);
    for (size_t k = 0; k < g->n_node; k++) {
        p.group[k] = NOBODY;
        if (tc_ops[g->node[k]->op].traits & T_MAC)
            finish_product(&p, k);
    }
    find_chains(&p, ctx);
    fill_chains(&p, ctx);
    cg->in_chain = tc_new_n(&ctx->arena, size_t, g->n_val);
    cg->stream = tc_new_n(&ctx->arena, size_t, g->n_val);
    cg->step = tc_new_n(&ctx->arena, tc_c_step, g->n_node);
    for (size_t k = 0; k < g->n_node; k++) {
        if (p.taken[k] || is_idle(g->node[k]))
            continue;
        for (size_t i = 0; i < p.step[k].n_chain; i++)
            cg->in_chain[p.step[k].chain[i]->out[0]] = 1 + cg->n_step;
        if (!p.step[k].node)
            p.step[k] = (tc_c_step){.node = g->node[k],
                                    .out = g->node[k]->n_out ? g->node[k]->out[0] : TC_NONE};
        cg->step[cg->n_step++] = p.step[k];
    }
    ti_arena_rewind(&ctx->scratch, mark);
}
