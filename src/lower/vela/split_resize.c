/* SPDX-License-Identifier: Apache-2.0 */
/* split_resize.c -- TOSA form: an i32 RESIZE that sets the peak memory, in bands of rows.
 *
 *   RESIZE of i8 to i32, ADD with itself, RESCALE to i8
 *
 * keeps four bytes per element until all of them are there.  Bands of rows do the same one after
 * the other, each from its rows and one more on either side; their results are concatenated.  Done
 * where the program's peak memory is, with as few bands as bring it below what the rest of the
 * program needs, eight at most. */
#include "../layout/tosa_forms.h"

#include "../../num/load.h"
#include "../ethosu/live_memory.h"

enum { MOST = 8, LEAST_ROWS = 2 };

typedef struct bands {
    int *pieces;             /* by value that leaves such a chain: how many bands, 0: none */
    const uint32_t *readers; /* by value */
} bands;

/* The RESIZE, the sum, or NULL, and the rescale that gives v. */
typedef struct chain {
    const tc_node *resize, *sum, *rescale;
} chain;

static const tc_node *only(const tc_graph *g, const uint32_t *readers, tc_val v, uint32_t n)
{
    return readers[v] == n ? ti_def(g, v) : NULL;
}

static bool chain_of(const tc_graph *g, const uint32_t *readers, const tc_node *node, chain *c)
{
    if (node->op != TC_OP_tosa_rescale || ti_type_of(g, node->out[0])->dtype != TC_i8)
        return false;
    const tc_node *up = only(g, readers, node->in[0], 1);
    bool doubled = up && up->op == TC_OP_tosa_add && up->in[0] == up->in[1];
    *c = (chain){up, NULL, node};
    if (doubled)
        *c = (chain){only(g, readers, up->in[0], 2), up, node};
    const tc_type *x = c->resize ? ti_type_of(g, c->resize->in[0]) : NULL;
    return x && c->resize->op == TC_OP_tosa_resize && x->dtype == TC_i8 && x->rank == 4 &&
           ((const tc_attr_tosa_resize *)c->resize->attr)->mode == TC_resize_mode_bilinear &&
           !((const tc_attr_tosa_rescale *)node->attr)->per_channel;
}

static int64_t number(const tc_graph *g, tc_val shape, int i)
{
    return ti_load_i64(ti_tensor_of(g, shape), i);
}

/* Rows of whole steps, centred: output rows y = r n/d .. of input rows r, as many for each. */
static bool is_even(const tc_graph *g, const tc_node *resize, int64_t *times)
{
    for (int i = 1; i < 4; i++)
        if (!ti_is_const(g, resize->in[i]))
            return false;
    int64_t n = number(g, resize->in[1], 0), d = number(g, resize->in[1], 1),
            offset = number(g, resize->in[2], 0);
    const tc_type *x = ti_type_of(g, resize->in[0]), *y = ti_type_of(g, resize->out[0]);
    *times = n / d;
    return n % d == 0 && *times > 1 && offset <= 0 && offset > -n &&
           y->dim[1] == x->dim[1] * *times;
}

/* How many bands each chain is cut into; whether any is. */
static bool choose(tc_ctx *ctx, const tc_graph *g, const bands *b)
{
    const uint32_t *readers = b->readers;
    bool any = false;
    int64_t *bytes = tc_new_n(&ctx->scratch, int64_t, g->n_val), times;
    int64_t *at = tc_new_n(&ctx->scratch, int64_t, g->n_node + 1);
    chain c;
    for (tc_val v = 1; v < g->n_val; v++)
        bytes[v] = ti_live_bytes(g, v, readers[v]);
    ti_live_sums(ctx, g, bytes, at);
    for (size_t k = 0; k < g->n_node; k++)
        if (chain_of(g, readers, g->node[k], &c))
            bytes[c.resize->out[0]] /= MOST;
    int64_t rest = ti_live_peak(ctx, g, bytes);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!chain_of(g, readers, node, &c) || !is_even(g, c.resize, &times))
            continue;
        int64_t wide = bytes[c.resize->out[0]] * MOST, x = bytes[c.resize->in[0]], n;
        if (at[k] <= rest)
            continue;
        int64_t rows = ti_type_of(g, c.resize->in[0])->dim[1];
        for (n = 2; n < MOST && at[k] - wide + (wide + x) / n + x > rest;) /* a copy of its rows */
            n *= 2;
        while (n > 1 && rows < n * LEAST_ROWS)
            n /= 2;
        if (n == 1)
            continue;
        b->pieces[node->out[0]] = (int)n;
        any = true;
    }
    return any;
}

/* An operator whose result's type does not follow from its operands alone. */
static tc_val typed(tc_build *lw, const tc_node *like, const tc_val *in, tc_dtype dtype,
                    const int64_t *dim)
{
    tc_val y = TC_NONE;
    lw->loc = like->loc;
    if (lw->status == TC_OK)
        y = ti_b_typed(lw, like->op, like->attr, in, like->n_in,
                       ti_type_make(lw->ctx, dtype, 4, dim));
    lw->loc = lw->node->loc;
    return y;
}

/* What the chain makes of rows [from, to) of x. */
static tc_val band(tc_build *lw, const tc_rewrite *rw, const chain *c, int64_t times, int64_t from,
                   int64_t to)
{
    const tc_graph *g = lw->rw->from;
    const tc_type *t = ti_type_of(g, c->resize->in[0]), *y = ti_type_of(g, c->resize->out[0]);
    int64_t begin = from > 0 ? from - 1 : 0, end = ti_min_i64(to + 1, t->dim[1]);
    int64_t n = number(g, c->resize->in[1], 0), d = number(g, c->resize->in[1], 1);
    int64_t dim[4] = {y->dim[0], (to - from) * times, y->dim[2], y->dim[3]};
    int64_t offset[2] = {number(g, c->resize->in[2], 0) + (from - begin) * n,
                         number(g, c->resize->in[2], 1)};
    int64_t border[2] = {(dim[1] - 1) * d + offset[0] - (end - begin - 1) * n,
                         number(g, c->resize->in[3], 1)};
    tc_val in[5] = {ti_rewrite_in(rw, c->resize, 0), ti_rewrite_in(rw, c->resize, 1)};
    in[0] = ti_b_tosa_slice_axis(lw, in[0], 1, begin, end - begin);
    in[2] = ti_b_shape(lw, 2, offset);
    in[3] = ti_b_shape(lw, 2, border);
    tc_val v = typed(lw, c->resize, in, TC_i32, dim);
    if (c->sum)
        v = ti_b_tosa_add(lw, v, v);
    for (int i = 1; i < c->rescale->n_in; i++)
        in[i] = ti_rewrite_in(rw, c->rescale, i);
    in[0] = v;
    return typed(lw, c->rescale, in, TC_i8, dim);
}

static tc_status cut(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const bands *b = rw->user;
    int n = node->n_out == 1 ? b->pieces[node->out[0]] : 0;
    chain c;
    int64_t times;
    if (!n || !chain_of(rw->from, b->readers, node, &c) || !is_even(rw->from, c.resize, &times))
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    int64_t rows = ti_type_of(rw->from, c.resize->in[0])->dim[1];
    tc_val part[MOST];
    for (int i = 0; i < n; i++)
        part[i] = band(&lw, rw, &c, times, rows * i / n, rows * (i + 1) / n);
    tc_val whole = lw.status == TC_OK ? ti_put_concat(&lw, part, n, 1) : TC_NONE;
    return ti_b_replace(&lw, whole, done);
}

tc_status ti_lower_split_resize_by_rows(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {cut};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_graph *g = module->graph[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        bands b = {tc_new_n(&ctx->scratch, int, g->n_val), ti_graph_readers(ctx, g)};
        if (choose(ctx, g, &b))
            status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &b);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
