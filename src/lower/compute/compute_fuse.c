/* SPDX-License-Identifier: Apache-2.0 */
/* compute_fuse.c -- several operators in one shader.
 *
 *   y = relu(a * x + b)  =>  one invocation for each element of y, nothing between is stored
 *
 * A value with one reader is computed at its use, element by element.  It is rounded, wrapped or
 * quantized as when stored, so every bit is as before.  Which families give and take such values is
 * in compute.def; one that would be computed more often than it has elements (an operand that is
 * broadcast or repeated) stays a tensor, unless it is only moved. */
#include "compute.h"

#include "../../ir/rewrite.h"

enum { MOST_NODES = 24 };

/* ---- in the code ----------------------------------------------------------------------------- */

/* Swaps the current ports with those of an operand. */
static void exchange(tc_cs *s, tc_cs_made *m)
{
    tc_cs_made now = *m;
    memcpy(m->port, s->port, sizeof m->port);
    m->n_in = s->n_in;
    m->n_port = s->n_port;
    m->result = s->result;
    memcpy(s->port, now.port, sizeof s->port);
    s->n_in = now.n_in;
    s->n_port = now.n_port;
    s->result = now.result;
}

uint32_t ti_cs_made_at(tc_cs *s, tc_cs_made *made, tc_cs_val place)
{
    exchange(s, made);
    s->inner++;
    made->family->make(s, made->node, place);
    s->inner--;
    exchange(s, made);
    return s->taken;
}

/* ---- what is fused --------------------------------------------------------------------------- */

typedef struct fusion {
    enum { SEVERAL, RESULT, OPERAND } takes;
    enum { NEVER, ONCE, OFTEN } gives;
} fusion;

static fusion fusion_of(const tc_node *node)
{
    static const struct {
        const char *family;
        fusion is;
    } rows[] = {
#define FAMILY(name, each, moves)
#define SHADER(op, family)
#define FUSE(family, takes, gives) {#family, {takes, gives}},
#include "compute.def"
    };
    const tc_cs_family *family = ti_cs_family(node->op);
    bool small = node->n_in + node->n_out <= TC_CS_PORTS && node->n_out == 1;
    for (size_t i = 0; small && family && i < TC_COUNT(rows); i++)
        if (ti_text_eq(rows[i].family, family->name))
            return rows[i].is;
    return (fusion){SEVERAL, NEVER};
}

/* What is known of a value while it is decided what is fused. */
typedef struct plan {
    const tc_graph *g;
    const uint32_t *readers;
    bool *fused;
    int *nodes;    /* in the shader that makes it */
    bool *is_free; /* it may be computed any number of times */
} plan;

/* The node is its only reader, and computes no more of its elements than it has, or for nothing. */
static bool joins(const plan *p, const tc_node *node, tc_val v)
{
    const tc_node *def = ti_def(p->g, v);
    fusion reader = fusion_of(node);
    if (!def || p->readers[v] != 1 || fusion_of(def).gives == NEVER || reader.takes == SEVERAL)
        return false;
    const tc_type *own = ti_type_of(p->g, v), *t = ti_type_of(p->g, node->out[0]);
    if (ti_type_open(t) || ti_type_open(own))
        return false;
    return p->is_free[v] || reader.takes == OPERAND || tc_type_count(t) <= tc_type_count(own);
}

/* Nothing is fused into the shader of the node. */
static void take_apart(const tc_graph *g, const tc_node *node, bool *fused)
{
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || !fused[node->in[i]])
            continue;
        fused[node->in[i]] = false;
        take_apart(g, ti_def(g, node->in[i]), fused);
    }
}

/* The operands that are computed in the node's own shader. */
static void join_operands(const plan *p, const tc_node *node)
{
    int n = 1;
    bool is_free = fusion_of(node).gives == OFTEN;
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        if (!v || ti_is_const(p->g, v) || !joins(p, node, v) || n + p->nodes[v] > MOST_NODES)
            continue;
        p->fused[v] = true;
        n += p->nodes[v];
        is_free = is_free && p->is_free[v];
    }
    for (int i = 0; i < node->n_out; i++) {
        p->nodes[node->out[i]] = n;
        p->is_free[node->out[i]] = is_free;
    }
}

bool *ti_cs_fuse(tc_ctx *ctx, const tc_graph *g)
{
    plan p = {g, ti_graph_readers(ctx, g), tc_new_n(&ctx->scratch, bool, g->n_val),
              tc_new_n(&ctx->scratch, int, g->n_val), tc_new_n(&ctx->scratch, bool, g->n_val)};
    tc_cs_code code;
    for (size_t k = 0; k < g->n_node; k++)
        join_operands(&p, g->node[k]);
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool whole = node->n_out == 1 && !p.fused[node->out[0]] && p.nodes[node->out[0]] > 1;
        if (whole && ti_cs_node(ctx, g, node, 0, p.fused, &code))
            take_apart(g, node, p.fused);
    }
    return p.fused;
}
