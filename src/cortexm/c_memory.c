/* SPDX-License-Identifier: Apache-2.0 */
/* c_memory.c -- where values lie: inputs and outputs with the caller, constants in flash, the rest in
 * one arena, in which what is never needed at the same time shares bytes.
 *
 * An elementwise loop writes over an operand that nobody reads any more, where that has the same
 * shape and elements no smaller.  What an Ethos-U reads and writes lies in its scratch, where its
 * stream has it. */
#include "c_bonds.h"
#include "c_model.h"

typedef struct planner {
    tc_ctx *ctx;
    tc_c_graph *cg;
    tc_place_item *item;
    size_t n_item;
    size_t *of; /* by value: its item + 1; 0: it is not in the arena */
} planner;

static void find_roots(tc_c_graph *cg)
{
    const tc_graph *g = cg->g;
    for (size_t v = 1; v < g->n_val; v++)
        if (g->val[v])
            cg->place[v] = (tc_c_place){.root = (tc_val)v};
    for (size_t i = 0; i < g->n_in; i++)
        cg->place[g->in[i]] = (tc_c_place){g->in[i], TC_C_INPUT, i};
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            cg->place[node->out[0]].home = TC_C_CONST;
        if (ti_c_is_view(node))
            cg->place[node->out[0]] = cg->place[node->in[0]];
    }
}

/* What a step makes and the caller wants is made where the caller wants it. */
static void find_outputs(tc_c_graph *cg)
{
    const tc_graph *g = cg->g;
    for (size_t i = 0; i < g->n_out; i++) {
        tc_c_place *p = &cg->place[cg->place[g->out[i]].root];
        if (p->home != TC_C_ARENA)
            continue;
        *p = (tc_c_place){p->root, TC_C_OUTPUT, i};
        cg->direct[i] = true;
    }
}

static size_t new_item(planner *p, int64_t bytes, size_t step)
{
    p->item[p->n_item] =
        (tc_place_item){.bytes = bytes, .first = (int32_t)step, .last = (int32_t)step};
    return p->n_item++;
}

static void keep(planner *p, tc_val v, size_t step)
{
    size_t i = v ? p->of[p->cg->place[v].root] : 0;
    if (i && p->item[i - 1].last < (int32_t)step)
        p->item[i - 1].last = (int32_t)step;
}

static void read_by(planner *p, const tc_node *node, size_t step)
{
    for (int i = 0; node && i < node->n_in; i++)
        keep(p, node->in[i], step);
}

static void make(planner *p, size_t k)
{
    tc_c_step *s = &p->cg->step[k];
    const tc_node *last = s->clamp ? s->clamp : s->rescale ? s->rescale : s->node;
    for (int i = 0; i < last->n_out; i++) {
        tc_val v = last->out[i];
        if (p->cg->place[v].home == TC_C_ARENA)
            p->of[v] = 1 + new_item(p, (int64_t)tc_type_bytes(ti_type_of(p->cg->g, v)), k);
    }
    if (s->scratch)
        s->scratch_at = (int64_t)new_item(p, s->scratch, k); /* an item, for now */
}

/* Whether chain k reads the item's value element by element only, each before its place is written. */
static bool reads_in_step(const planner *p, const tc_c_step *s, size_t item)
{
    const tc_type *out = ti_type_of(p->cg->g, s->out);
    for (size_t c = 0; c < s->n_chain; c++)
        for (int i = 0; i < s->chain[c]->n_in; i++) {
            tc_val v = s->chain[c]->in[i];
            const tc_type *t = ti_type_of(p->cg->g, v);
            if (p->of[p->cg->place[v].root] == item &&
                (i >= ti_c_streams(s->chain[c]) || !ti_same_dims(t, out) ||
                 tc_dtypes[t->dtype].bytes < tc_dtypes[out->dtype].bytes))
                return false;
        }
    return true;
}

/* An operand of chain k that dies there and whose bytes its result may take; 0: none. */
static size_t dying(const planner *p, size_t k)
{
    const tc_c_step *s = &p->cg->step[k];
    for (size_t c = 0; c < s->n_chain; c++)
        for (int i = 0; i < ti_c_streams(s->chain[c]); i++) {
            size_t item = p->of[p->cg->place[s->chain[c]->in[i]].root];
            if (item && p->item[item - 1].last == (int32_t)k &&
                p->item[item - 1].first < (int32_t)k && reads_in_step(p, s, item))
                return item;
        }
    return 0;
}

static void share(planner *p, tc_c_bonds *bonds)
{
    for (size_t k = 0; k < p->cg->n_step; k++) {
        size_t item = p->of[p->cg->step[k].out];
        size_t operand = p->cg->step[k].n_chain && item ? dying(p, k) : 0;
        if (operand)
            (void)ti_c_bind(bonds, operand - 1, item - 1, 0, (int32_t)k);
    }
}

/* An operand that is needed later stays outside: the stream may write over it. */
static void bind_ports(planner *p, tc_c_bonds *bonds, size_t k, const tc_c_npu *npu)
{
    const tc_c_step *s = &p->cg->step[k];
    size_t scratch = (size_t)s->scratch_at;
    for (int i = 0; i < s->node->n_in + s->node->n_out; i++) {
        bool result = i >= s->node->n_in;
        tc_val v = result ? s->node->out[i - s->node->n_in] : s->node->in[i];
        size_t item = p->of[p->cg->place[v].root];
        int64_t at = result ? npu->out[i - s->node->n_in] : npu->in[i];
        if (item && (result || p->item[item - 1].last == (int32_t)k))
            (void)ti_c_bind(bonds, scratch, item - 1, at, (int32_t)k);
    }
}

void ti_c_roots(tc_ctx *ctx, tc_c_graph *cg)
{
    cg->place = tc_new_n(&ctx->arena, tc_c_place, cg->g->n_val);
    cg->direct = tc_new_n(&ctx->arena, bool, cg->g->n_out);
    find_roots(cg);
    find_outputs(cg);
}

void ti_c_places(const tc_c_model *m, tc_c_graph *cg)
{
    tc_ctx *ctx = m->ctx;
    const tc_graph *g = cg->g;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    planner p = {ctx, cg, tc_new_n(&ctx->scratch, tc_place_item, g->n_val + cg->n_step), 0,
                 tc_new_n(&ctx->scratch, size_t, g->n_val)};
    for (size_t k = 0; k < cg->n_step; k++)
        make(&p, k);
    for (size_t k = 0; k < cg->n_step; k++) {
        const tc_c_step *s = &cg->step[k];
        read_by(&p, s->node, k);
        for (size_t c = 0; c < s->n_chain; c++)
            read_by(&p, s->chain[c], k);
    }
    for (size_t i = 0; i < g->n_out; i++)
        keep(&p, g->out[i], cg->n_step);
    tc_c_bonds bonds;
    int64_t *address = tc_new_n(&ctx->scratch, int64_t, p.n_item + 1);
    ti_c_bonds_begin(&ctx->scratch, p.item, p.n_item, TC_C_ALIGN, &bonds);
    for (size_t k = 0; k < cg->n_step; k++)
        if (ti_c_npu_of(m, cg->step[k].node))
            bind_ports(&p, &bonds, k, ti_c_npu_of(m, cg->step[k].node));
    share(&p, &bonds);
    cg->arena = ti_c_bonds_place(&ctx->scratch, &bonds, address);
    for (size_t v = 1; v < g->n_val; v++)
        if (p.of[v])
            cg->place[v].at = (size_t)address[p.of[v] - 1];
    for (size_t k = 0; k < cg->n_step; k++)
        if (cg->step[k].scratch)
            cg->step[k].scratch_at = address[cg->step[k].scratch_at];
    ti_arena_rewind(&ctx->scratch, mark);
}
