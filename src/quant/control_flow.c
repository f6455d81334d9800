/* SPDX-License-Identifier: Apache-2.0 */
/* control_flow.c -- control flow passes integers: a dequantize before or after a branch or loop
 * moves inside.
 *
 * Operands are passed as stored.  A branch's result has the domain that all its readers want.  Loop
 * state gets its own domain, i32 with 27 bits for the largest value that enters or is carried. */
#include <math.h>

#include "quantizer.h"

typedef struct carrying {
    tc_ctx *ctx;
    tc_graph *g;       /* the graph of the node */
    size_t at;         /* its index there */
    tc_node *node;
    tc_graph *sub[2];  /* what it runs: branches, or condition and body */
} carrying;

/* The stored value that v dequantizes, or none. */
static tc_val stored_of(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    bool real = def && def->op == TC_OP_rescale && !ti_type_of(g, v)->quant &&
                ti_type_of(g, def->in[0])->quant;
    return real ? def->in[0] : TC_NONE;
}

/* A rescale of v to a type, inserted before node `at` of the graph. */
static tc_val put_rescale(tc_graph *g, size_t at, tc_val v, const tc_type *type, const tc_loc *loc)
{
    tc_node *node = ti_graph_add(g, TC_OP_rescale, NULL, &v, 1, 1, loc);
    g->val[node->out[0]]->type = type;
    memmove(g->node + at + 1, g->node + at, (g->n_node - 1 - at) * sizeof *g->node);
    g->node[at] = node;
    return node->out[0];
}

/* v, which was real, now has a domain: rescales read it directly, others through a new rescale at
 * `at`. */
static void give_domain(tc_graph *g, size_t at, tc_val v, const tc_type *type, const tc_loc *loc)
{
    const tc_type *real = ti_type_of(g, v);
    g->val[v]->type = type;
    bool read = ti_graph_gives(g, v);
    for (size_t k = at; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            read = read || (g->node[k]->in[i] == v && g->node[k]->op != TC_OP_rescale);
    if (!read)
        return;
    tc_val as_real = put_rescale(g, at, v, real, loc);
    for (size_t k = at + 1; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == v && g->node[k]->op != TC_OP_rescale)
                g->node[k]->in[i] = as_real;
    for (size_t i = 0; i < g->n_out; i++)
        if (g->out[i] == v)
            g->out[i] = as_real;
}

/* An operand of the node in stored form, in both graphs. */
static void take_stored(carrying *c, int operand, int input)
{
    tc_val stored = stored_of(c->g, c->node->in[operand]);
    if (!stored)
        return;
    const tc_type *type = ti_type_of(c->g, stored);
    c->node->in[operand] = stored;
    for (int i = 0; i < 2; i++)
        give_domain(c->sub[i], 0, c->sub[i]->in[input], type, c->node->loc);
}

static void give_stored(tc_graph *sub, size_t i, const tc_type *type, const tc_loc *loc)
{
    tc_val stored = stored_of(sub, sub->out[i]);
    sub->out[i] = put_rescale(sub, sub->n_node, stored ? stored : sub->out[i], type, loc);
}

/* ---- branches ---- */

/* The one domain that all readers of a value want, or NULL. */
static const tc_type *wanted(const tc_graph *g, tc_val v)
{
    const tc_type *type = NULL;
    if (ti_graph_gives(g, v) || ti_type_of(g, v)->dtype != TC_f32)
        return NULL;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            if (g->node[k]->in[i] != v)
                continue;
            const tc_type *t =
                g->node[k]->op == TC_OP_rescale ? ti_type_of(g, g->node[k]->out[0]) : NULL;
            if (!t || !t->quant || (type && type != t))
                return NULL;
            type = t;
        }
    return type;
}

static void carry_branches(carrying *c)
{
    for (int i = 1; i < c->node->n_in; i++)
        take_stored(c, i, i - 1);
    for (int i = 0; i < c->node->n_out; i++) {
        const tc_type *type = wanted(c->g, c->node->out[i]);
        if (!type)
            continue;
        for (int b = 0; b < 2; b++)
            give_stored(c->sub[b], (size_t)i, type, c->node->loc);
        c->g->val[c->node->out[i]]->type = type;
    }
}

/* ---- loops ---- */

/* The largest magnitude of a domain. */
static double reach(const tc_type *t)
{
    double most = 0;
    for (int i = 0; i < t->quant->count; i++)
        most =
            fmax(most, t->quant->scale[i] * fmax(fabs((double)(t->quant->lo - t->quant->zero[i])),
                                                 fabs((double)(t->quant->hi - t->quant->zero[i]))));
    return most;
}

static const tc_type *carried_type(tc_ctx *ctx, const tc_type *in, const tc_type *round)
{
    double scale = ldexp(fmax(reach(in), reach(round)), -27);
    int64_t zero = 0;
    tc_quant q = {-1, 1, INT32_MIN, INT32_MAX, &scale, &zero};
    tc_type t = *in;
    t.dtype = TC_i32;
    t.quant = &q;
    return ti_type_intern(ctx, &t);
}

/* Loop state i: its entry, in both graphs, its update, and its exit. */
static void carry_round(carrying *c, int i)
{
    tc_graph *body = c->sub[1];
    tc_val in = stored_of(c->g, c->node->in[i]), round = stored_of(body, body->out[i]);
    if (!in || !round)
        return;
    const tc_type *type = carried_type(c->ctx, ti_type_of(c->g, in), ti_type_of(body, round));
    for (int k = 0; k < 2; k++)
        give_domain(c->sub[k], 0, c->sub[k]->in[i], type, c->node->loc);
    give_stored(body, (size_t)i, type, c->node->loc);
    c->node->in[i] = put_rescale(c->g, c->at++, in, type, c->node->loc);
    give_domain(c->g, c->at + 1, c->node->out[i], type, c->node->loc);
}

static void carry_loop(carrying *c)
{
    for (int i = 0; i < c->node->n_out; i++)
        carry_round(c, i);
    for (int i = c->node->n_out; i < c->node->n_in; i++)
        take_stored(c, i, i);
}

/* Graphs run by several nodes keep their types. */
static bool runs_alone(const tc_module *module, const tc_graph *sub)
{
    int n = 0;
    for (size_t i = 0; i < module->n_graph; i++)
        for (size_t k = 0; k < module->graph[i]->n_node; k++)
            for (int which = 0; which < ti_node_calls(module->graph[i]->node[k]); which++)
                n += ti_node_callee(module, module->graph[i]->node[k], which) == sub;
    return n == 1;
}

tc_status ti_quant_quantize_control_flow(tc_ctx *ctx, tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        for (size_t k = 0; k < g->n_node; k++) {
            tc_node *node = g->node[k];
            if (node->op != TC_OP_cond && node->op != TC_OP_while_loop)
                continue;
            carrying c = {ctx,
                          g,
                          k,
                          node,
                          {ti_node_callee(module, node, 0), ti_node_callee(module, node, 1)}};
            if (!c.sub[0] || !c.sub[1] || !runs_alone(module, c.sub[0]) ||
                !runs_alone(module, c.sub[1]))
                continue;
            if (node->op == TC_OP_cond)
                carry_branches(&c);
            else
                carry_loop(&c);
            k = c.at;
        }
    }
    return TC_OK;
}
