/* SPDX-License-Identifier: Apache-2.0 */
/* merge_cells.c -- one step of a recurrent layer after the other becomes the layer.
 *
 *   h, c = lstm_cell(x[0], h, c, W..);  h, c = lstm_cell(x[1], h, c, W..);  ..   =>   y, h, c = lstm(x, h, c, W..)
 *
 * The weights are the same values, a step's states those of the step before, and no x follows from them. */
#include "tidy.h"

enum { FEWEST = 4, MOST = 4096 };

/* The layer whose steps such a node is. */
static const tc_op layer_of[TC_OP_COUNT] = {
    [TC_OP_lstm_cell] = TC_OP_lstm,
    [TC_OP_gru_cell] = TC_OP_gru,
    [TC_OP_rnn_tanh_cell] = TC_OP_rnn_tanh,
    [TC_OP_rnn_relu_cell] = TC_OP_rnn_relu,
};

typedef struct chain {
    tc_node *step[MOST];
    size_t n;
    int states;
} chain;

static bool goes_on(const tc_graph *g, const tc_node *a, const tc_node *b, int states)
{
    bool same = a->op == b->op && a->n_in == b->n_in && ti_type_of(g, a->in[0]) == ti_type_of(g, b->in[0]);
    for (int i = 0; same && i < states; i++)
        same = b->in[1 + i] == a->out[i];
    for (int i = 1 + states; same && i < a->n_in; i++)
        same = a->in[i] == b->in[i];
    return same;
}

/* Both biases, or none. */
static bool has_bias(const tc_node *node, int states, int which)
{
    return node->n_in > 3 + states + which && node->in[3 + states + which];
}

/* The steps from node k on. */
static bool find(const tc_graph *g, size_t k, chain *c)
{
    tc_node *first = g->node[k];
    *c = (chain){.states = first->op == TC_OP_lstm_cell ? 2 : 1};
    if (!layer_of[first->op] || ti_type_of(g, first->in[0])->rank != 2 || ti_type_of(g, first->in[0])->quant ||
        has_bias(first, c->states, 0) != has_bias(first, c->states, 1))
        return false;
    for (; k < g->n_node && c->n < MOST; k++)
        if (!c->n || goes_on(g, c->step[c->n - 1], g->node[k], c->states))
            c->step[c->n++] = g->node[k];
    return c->n >= FEWEST;
}

/* By value: whether it follows from what the steps make. */
static bool *after(tc_ctx *ctx, const tc_graph *g, const chain *c)
{
    bool *follows = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (int i = 0; i < c->states; i++)
        follows[c->step[0]->out[i]] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool now = false;
        for (int i = 0; i < node->n_in; i++)
            now = now || follows[node->in[i]];
        for (int i = 0; now && i < node->n_out; i++)
            follows[node->out[i]] = true;
    }
    return follows;
}

/* Some step's c is read by others than the next step, or an x follows from a step. */
static bool is_open(tc_ctx *ctx, const tc_graph *g, const chain *c, const bool *follows)
{
    const uint32_t *readers = ti_graph_readers(ctx, g);
    for (size_t k = 0; k < c->n; k++)
        if (follows[c->step[k]->in[0]] || (c->states == 2 && k + 1 < c->n && readers[c->step[k]->out[1]] > 1))
            return true;
    return false;
}

/* The steps of x: an axis of one value, from the first index on, where they are that; else side by side. */
static tc_val sequence(tc_build *b, const chain *c, bool *batch_first)
{
    const tc_node *first = ti_def(b->g, c->step[0]->in[0]);
    const tc_attr_select *a = first && first->op == TC_OP_select ? first->attr : NULL;
    bool along = a && a->axis < 2;
    for (size_t k = 1; along && k < c->n; k++) {
        const tc_node *def = ti_def(b->g, c->step[k]->in[0]);
        const tc_attr_select *s = def && def->op == TC_OP_select ? def->attr : NULL;
        along = s && def->in[0] == first->in[0] && s->axis == a->axis && s->index == a->index + (int64_t)k;
    }
    *batch_first = along && a->axis == 1;
    if (along)
        return ti_b_slice(b, first->in[0], (int)a->axis, a->index, a->index + (int64_t)c->n, 1);
    tc_val *x = tc_new_n(&b->ctx->arena, tc_val, c->n);
    for (size_t k = 0; k < c->n; k++)
        x[k] = c->step[k]->in[0];
    return ti_b_op(b, TC_OP_stack, ti_b_attr(b, axis, 0), x, (int)c->n);
}

static void instead(tc_graph *g, tc_val old, tc_val now)
{
    g->val[now]->name = g->val[old]->name;
    ti_graph_read_instead(g, old, now);
}

/* The layer, and parts of its results for those of the steps. */
static tc_status put_layer(tc_build *b, const chain *c)
{
    const tc_node *first = c->step[0], *last = c->step[c->n - 1];
    const tc_type *h = ti_b_type(b, first->in[1]);
    tc_val in[16];
    bool batch_first;
    int n = 0;
    in[n++] = sequence(b, c, &batch_first);
    for (int i = 0; i < c->states; i++)
        in[n++] = ti_b_reshape(b, first->in[1 + i], 3, (int64_t[]){1, h->dim[0], h->dim[1]});
    bool bias = has_bias(first, c->states, 0);
    for (int i = 1 + c->states; i < 3 + c->states + 2 * bias; i++)
        in[n++] = first->in[i];
    tc_node *layer = ti_b_ops(b, layer_of[first->op],
                              ti_b_attr(b, rnn, .layers = 1, .batch_first = batch_first, .has_bias = bias), in, n,
                              1 + c->states);
    for (size_t k = 0; layer && k + 1 < c->n && b->status == TC_OK; k++)
        instead(b->g, c->step[k]->out[0], ti_b_select(b, layer->out[0], batch_first, (int64_t)k));
    for (int i = 0; layer && i < c->states && b->status == TC_OK; i++)
        instead(b->g, last->out[i], ti_b_reshape(b, layer->out[1 + i], 2, h->dim));
    return b->status;
}

/* What the layer needs, the layer, and what follows from it. */
static void set_order(tc_ctx *ctx, tc_graph *g, size_t n_old, const bool *follows)
{
    tc_node **was = ti_arena_copy(&ctx->scratch, g->node, g->n_node * sizeof *was);
    size_t n = 0;
    for (int later = 0; later < 2; later++) {
        for (size_t k = 0; k < n_old; k++) {
            bool waits = was[k]->n_out && follows[was[k]->out[0]];
            if (waits == later)
                g->node[n++] = was[k];
        }
        for (size_t k = n_old; !later && k < g->n_node; k++)
            g->node[n++] = was[k];
    }
}

static tc_status merge(tc_ctx *ctx, tc_graph *g, const chain *c, bool *done)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const bool *follows = after(ctx, g, c);
    size_t n_old = g->n_node;
    tc_build b = {.ctx = ctx, .g = g, .loc = c->step[0]->loc};
    *done = !is_open(ctx, g, c, follows);
    tc_status status = *done ? put_layer(&b, c) : TC_OK;
    if (*done && status == TC_OK)
        set_order(ctx, g, n_old, follows);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

tc_status ti_tidy_merge_cells(tc_ctx *ctx, tc_module *module)
{
    chain *c = tc_new(&ctx->arena, chain);
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        const uint32_t *readers = ti_graph_readers(ctx, g);
        for (size_t k = 0; k < g->n_node; k++) {
            bool done = false;
            if (g->node[k]->n_out && readers[g->node[k]->out[0]] && find(g, k, c))
                TC_TRY(merge(ctx, g, c, &done));
            if (done) { /* from the front again: a layer's steps may be those of another's x */
                k = SIZE_MAX;
                readers = ti_graph_readers(ctx, g);
            }
        }
    }
    return TC_OK;
}
