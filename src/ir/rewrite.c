/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c -- see rewrite.h. */
#include "rewrite.h"

const uint32_t *ti_graph_readers(tc_ctx *ctx, const tc_graph *g)
{
    uint32_t *readers = tc_new_n(&ctx->scratch, uint32_t, g->n_val);
    const tc_module *m = g->module;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            readers[g->node[k]->in[i]]++;
    for (size_t i = 0; i < g->n_out; i++)
        readers[g->out[i]]++;
    for (size_t i = 0; i < g->n_mutation; i++) {
        readers[g->mutation[i].before]++;
        readers[g->mutation[i].after]++;
    }
    for (size_t i = 0; g == ti_main(m) && i < m->signature.n_out; i++)
        readers[m->signature.out[i].val]++;
    return readers;
}

const bool *ti_graph_pinned(tc_ctx *ctx, const tc_graph *g)
{
    bool *pinned = tc_new_n(&ctx->scratch, bool, g->n_val);
    const tc_module *m = g->module;
    for (size_t i = 0; i < g->n_out; i++)
        pinned[g->out[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        pinned[g->mutation[i].before] = pinned[g->mutation[i].after] = true;
    for (size_t i = 0; g == ti_main(m) && i < m->signature.n_out; i++)
        pinned[m->signature.out[i].val] = true;
    pinned[TC_NONE] = false;
    return pinned;
}

void ti_rewrite_bind(tc_rewrite *rw, tc_val old, tc_val val)
{
    tc_value *value = rw->to->val[val];
    assert(value->type == rw->from->val[old]->type);
    rw->now[old] = val;
    if (!value->name && value->def)
        value->name = rw->from->val[old]->name;
}

bool ti_rewrite_is_fixed(const tc_rewrite *rw, tc_val val)
{
    return ti_is_const(rw->to, val);
}

tc_status ti_rewrite_as(tc_rewrite *rw, const tc_node *node, tc_op op, const void *attr, tc_val in,
                        bool *done)
{
    tc_node *added = ti_graph_add(rw->to, op, attr, &in, 1, 1, node->loc);
    rw->to->val[added->out[0]]->type = ti_type_of(rw->from, node->out[0]);
    TC_TRY(ti_node_infer(rw->to, added));
    ti_rewrite_bind(rw, node->out[0], added->out[0]);
    *done = true;
    return TC_OK;
}

void ti_rewrite_copy(tc_rewrite *rw, const tc_node *node)
{
    tc_node *copy =
        ti_graph_add(rw->to, node->op, node->attr, node->in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_in; i++)
        copy->in[i] = rw->now[node->in[i]];
    for (int i = 0; i < node->n_out; i++) {
        const tc_value *old = rw->from->val[node->out[i]];
        tc_value *value = rw->to->val[copy->out[i]];
        value->type = old->type;
        value->name = old->name;
        value->data = old->data;
        value->state = old->state;
        value->image = old->image;
        rw->now[node->out[i]] = copy->out[i];
    }
}

static tc_status stream(tc_rewrite *rw, tc_rewriter *const *rewriter, size_t n)
{
    for (size_t i = 0; i < rw->from->n_in; i++) {
        const tc_value *old = rw->from->val[rw->from->in[i]];
        rw->now[rw->from->in[i]] = ti_graph_input(rw->to, old->type, old->name);
        ti_value_of(rw->to, rw->to->in[i])->image = old->image;
    }
    for (size_t k = 0; k < rw->from->n_node; k++) {
        const tc_node *node = rw->from->node[k];
        bool done = false;
        for (size_t r = 0; r < n && !done; r++)
            TC_TRY(rewriter[r](rw, node, &done));
        if (!done)
            ti_rewrite_copy(rw, node);
    }
    return TC_OK;
}

/* Inputs stay inputs, whatever replaces their uses.  Ports are mostly in the order of inputs: the
 * search continues where the last one was found. */
static tc_val input_of(const tc_graph *from, const tc_graph *to, const tc_val *now, tc_val old,
                       size_t *next)
{
    for (size_t k = 0; k < from->n_in; k++) {
        size_t i = *next + k < from->n_in ? *next + k : *next + k - from->n_in;
        if (from->in[i] == old) {
            *next = i + 1 < from->n_in ? i + 1 : 0;
            return to->in[i];
        }
    }
    return now[old];
}

void ti_graph_hand_over(const tc_graph *from, tc_graph *to, const tc_val *now)
{
    tc_module *m = from->module;
    for (size_t i = 0; i < from->n_out; i++)
        ti_graph_output(to, now[from->out[i]]);
    for (size_t i = 0; i < from->n_mutation; i++)
        ti_graph_mutate(to, now[from->mutation[i].before], now[from->mutation[i].after]);
    if (to != ti_main(m) && from != ti_main(m))
        return;
    for (size_t i = 0, next = 0; i < m->signature.n_in; i++)
        if (m->signature.in[i].val != TC_NONE)
            m->signature.in[i].val = input_of(from, to, now, m->signature.in[i].val, &next);
    for (size_t i = 0; i < m->signature.n_out; i++)
        m->signature.out[i].val = now[m->signature.out[i].val];
}

tc_status ti_rewrite_graph(tc_graph *g, tc_rewriter *const *rewriter, size_t n, void *user)
{
    tc_ctx *ctx = g->module->ctx;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_graph fresh = ti_graph_empty(g->module, g->name);
    fresh.facts = g->facts;
    tc_rewrite rw = {.ctx = ctx,
                     .from = g,
                     .to = &fresh,
                     .user = user,
                     .now = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                     .readers = ti_graph_readers(ctx, g)};
    tc_status status = stream(&rw, rewriter, n);
    if (status == TC_OK) {
        ti_graph_hand_over(g, &fresh, rw.now);
        *g = fresh;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

tc_status ti_rewrite_module(tc_module *module, tc_rewriter *const *rewriter, size_t n, void *user)
{
    for (size_t i = 0; i < module->n_graph; i++)
        TC_TRY(ti_rewrite_graph(module->graph[i], rewriter, n, user));
    return TC_OK;
}

static bool same_results(const tc_graph *g, const tc_node *x, const tc_graph *h, const tc_node *y)
{
    for (int i = 0; i < x->n_out; i++) {
        const tc_value *a = g->val[x->out[i]], *b = h->val[y->out[i]];
        if (x->out[i] != y->out[i] || a->type != b->type || a->data != b->data ||
            a->state != b->state || a->name != b->name)
            return false;
    }
    return true;
}

bool ti_graph_same(const tc_graph *before, const tc_graph *now)
{
    if (before->n_node != now->n_node || before->n_val != now->n_val ||
        before->n_in != now->n_in || before->n_out != now->n_out ||
        before->n_mutation != now->n_mutation)
        return false;
    for (size_t k = 0; k < before->n_node; k++) {
        const tc_node *x = before->node[k], *y = now->node[k];
        if (x->op != y->op || x->attr != y->attr || x->loc != y->loc || x->n_in != y->n_in ||
            x->n_out != y->n_out ||
            (x->n_in && memcmp(x->in, y->in, (size_t)x->n_in * sizeof *x->in) != 0) ||
            !same_results(before, x, now, y))
            return false;
    }
    for (size_t i = 0; i < before->n_out; i++)
        if (before->out[i] != now->out[i])
            return false;
    for (size_t i = 0; i < before->n_mutation; i++)
        if (before->mutation[i].before != now->mutation[i].before ||
            before->mutation[i].after != now->mutation[i].after)
            return false;
    return true;
}
