/* SPDX-License-Identifier: Apache-2.0 */
/* widen_channels.c -- TOSA form: 17 to 32 channels are padded to 40, bit-exact.
 *
 * Ethos-U85 runs 1x1 convolutions of at most 32 channels at a quarter of its speed, those of 40 at
 * full speed.  Values of 17 to 32 channels that are connected by elementwise operators (ADD,
 * RESCALE, CLAMP, TABLE) are widened together: their producers get output channels with weights 0,
 * their readers input channels with weights 0.  Done where the readers gain more than the producers
 * lose, in cycles of the machine with 256 multipliers:
 *
 *   reader, 1x1 to o channels   gains o / 4 per pixel
 *   producer of c               costs max(round16(c) / 4, c / 32 * taps * round64(i) / 8) per pixel
 *   ADD                         costs round16(c) / 4 per pixel
 *
 * and where the program's peak memory does not grow. */
#include "../layout/tosa_forms.h"

#include "../../num/load.h"
#include "live_memory.h"

enum { NARROW_LEAST = 17, NARROW_MOST = 32, WIDE = 40, ROOM = 48 }; /* bricks of 16 */

typedef struct wider {
    tc_val *root; /* by value: what it grows with; TC_NONE: it is not narrow */
    double *gain; /* by root: cycles */
    bool *fixed;  /* by root: something reads or makes it that cannot grow */
} wider;

static void unite(wider *w, tc_val a, tc_val b)
{
    a = ti_group_of(w->root, a);
    b = ti_group_of(w->root, b);
    if (a == b)
        return;
    w->root[b] = a;
    w->gain[a] += w->gain[b];
    w->fixed[a] = w->fixed[a] || w->fixed[b];
}

static bool is_narrow(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    return t && !ti_is_const(g, v) && t->rank == 4 && t->dim[0] == 1 && t->dim[3] >= NARROW_LEAST &&
           t->dim[3] <= NARROW_MOST && (t->dtype == TC_i8 || t->dtype == TC_i32) &&
           tc_type_count(t) > 0;
}

/* Cycles per pixel to make c channels of `deep` elements each; round64 of what is more than 64. */
static double cost_of(int64_t c, int64_t taps, int64_t deep)
{
    double write = (double)((c + 15) / 16 * 4);
    double multiply = (double)(c * taps * (deep > 64 ? (deep + 63) / 64 * 64 : deep)) / 256;
    return multiply > write ? multiply : write;
}

static double places(const tc_type *t)
{
    return (double)(t->dim[1] * t->dim[2]);
}

/* Operands of one pixel and one channel at a time: how many, from the first on. */
static int pointwise(const tc_node *node)
{
    switch (node->op) {
    case TC_OP_tosa_add:
    case TC_OP_tosa_sub:
    case TC_OP_tosa_mul:
    case TC_OP_tosa_maximum:
    case TC_OP_tosa_minimum:
        return 2;
    case TC_OP_tosa_rescale:
    case TC_OP_tosa_clamp:
    case TC_OP_tosa_table:
        return 1;
    default:
        return 0;
    }
}

/* Constants that have a number for each channel are made longer. */
static bool parts_known(const tc_graph *g, const tc_node *node, int from)
{
    for (int i = from; i < node->n_in; i++)
        if (!ti_is_const(g, node->in[i]))
            return false;
    return true;
}

static void look_at_conv(wider *w, const tc_graph *g, const tc_node *node)
{
    const tc_type *k = ti_type_of(g, node->in[1]), *y = ti_type_of(g, node->out[0]);
    bool can = parts_known(g, node, 1) && k->dtype == TC_i8;
    tc_val in = w->root[node->in[0]] ? ti_group_of(w->root, node->in[0]) : TC_NONE;
    tc_val out = w->root[node->out[0]] ? ti_group_of(w->root, node->out[0]) : TC_NONE;
    int64_t taps = k->dim[1] * k->dim[2];
    if (in) {
        w->fixed[in] = w->fixed[in] || !can;
        if (taps == 1)
            w->gain[in] += places(y) * (double)k->dim[0] / 4;
    }
    if (out) {
        w->fixed[out] = w->fixed[out] || !can;
        w->gain[out] -=
            places(y) * (cost_of(WIDE, taps, k->dim[3]) - cost_of(y->dim[3], taps, k->dim[3]));
    }
}

static void look_at_pointwise(wider *w, const tc_graph *g, const tc_node *node)
{
    tc_val out = node->out[0];
    const tc_type *y = ti_type_of(g, out);
    for (int i = 0; i < pointwise(node); i++) {
        tc_val in = node->in[i];
        const tc_type *x = ti_type_of(g, in);
        if (w->root[in] && w->root[out])
            unite(w, in, out);
        else if (w->root[in])
            w->fixed[ti_group_of(w->root, in)] = true;
        else if (w->root[out] && !ti_is_const(g, in) && x->dim[x->rank - 1] != 1)
            w->fixed[ti_group_of(w->root, out)] = true;
    }
    if (!w->root[out])
        return;
    if (!parts_known(g, node, pointwise(node)))
        w->fixed[ti_group_of(w->root, out)] = true;
    if (pointwise(node) == 2)
        w->gain[ti_group_of(w->root, out)] -=
            places(y) * (cost_of(WIDE, 0, 0) - cost_of(y->dim[3], 0, 0));
}

static void look(wider *w, const tc_graph *g)
{
    for (tc_val v = 1; v < g->n_val; v++)
        w->root[v] = is_narrow(g, v) ? v : TC_NONE;
    for (size_t i = 0; i < g->n_in; i++)
        if (w->root[g->in[i]])
            w->fixed[g->in[i]] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_tosa_conv2d)
            look_at_conv(w, g, node);
        else if (pointwise(node))
            look_at_pointwise(w, g, node);
        else {
            for (int i = 0; i < node->n_in; i++)
                if (w->root[node->in[i]])
                    w->fixed[ti_group_of(w->root, node->in[i])] = true;
            for (int i = 0; i < node->n_out; i++)
                if (w->root[node->out[i]])
                    w->fixed[ti_group_of(w->root, node->out[i])] = true;
        }
    }
    for (size_t i = 0; i < g->n_out; i++)
        if (w->root[g->out[i]])
            w->fixed[ti_group_of(w->root, g->out[i])] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (w->root[g->mutation[i].after])
            w->fixed[ti_group_of(w->root, g->mutation[i].after)] = true;
}

static bool grows(wider *w, tc_val v)
{
    if (!w->root[v])
        return false;
    v = ti_group_of(w->root, v);
    return !w->fixed[v] && w->gain[v] > 0;
}

/* Not done if the program's memory would grow. */
static void spare(tc_ctx *ctx, wider *w, const tc_graph *g)
{
    const uint32_t *readers = ti_graph_readers(ctx, g);
    int64_t *bytes = tc_new_n(&ctx->scratch, int64_t, g->n_val);
    for (tc_val v = 1; v < g->n_val; v++)
        bytes[v] = ti_live_bytes(g, v, readers[v]);
    int64_t most = ti_live_peak(ctx, g, bytes);
    for (tc_val root = 1; root < g->n_val; root++) {
        if (w->root[root] != root || !grows(w, root))
            continue;
        for (int grown = 1; grown >= 0; grown--) {
            for (tc_val v = 1; v < g->n_val; v++)
                if (w->root[v] && ti_group_of(w->root, v) == root && bytes[v])
                    bytes[v] = tc_type_count(ti_type_of(g, v)) / ti_type_of(g, v)->dim[3] *
                               (grown ? ROOM : NARROW_MOST);
            if (ti_live_peak(ctx, g, bytes) <= most)
                break;
            w->fixed[root] = true;
        }
    }
}

/* A constant with a number for each of `from` channels on its last axis, for 40. */
static tc_val longer(tc_build *lw, tc_val constant, int64_t from, int64_t fill)
{
    const tc_type *t = ti_b_type(lw, constant);
    bool by_channel = t->rank > 0 && t->dim[t->rank - 1] == from;
    return by_channel ? ti_put_padded(lw, constant, t->rank - 1, WIDE - from, fill) : constant;
}

static tc_val grown_conv(tc_build *lw, const tc_node *node, tc_val *in, bool in_grows,
                         bool out_grows)
{
    const tc_type *k = ti_type_of(lw->rw->from, node->in[1]);
    int64_t zero = ti_only_number(lw->g, in[4]);
    if (in_grows)
        in[1] = ti_put_padded(lw, in[1], 3, WIDE - k->dim[3], zero);
    if (out_grows) {
        in[1] = ti_put_padded(lw, in[1], 0, WIDE - k->dim[0], zero);
        in[2] = longer(lw, in[2], k->dim[0], 0);
    }
    return ti_b_op(lw, node->op, node->attr, in, node->n_in);
}

/* The new channels hold zeros, whatever their factor. */
static tc_val grown_rescale(tc_build *lw, const tc_node *node, tc_val *in)
{
    tc_type y = *ti_type_of(lw->rw->from, node->out[0]);
    if (ti_is_const(lw->g, in[0]))
        in[0] = longer(lw, in[0], y.dim[3], 0);
    in[1] = longer(lw, in[1], y.dim[3], 1 << 30);
    in[2] = longer(lw, in[2], y.dim[3], 31);
    y.dim[3] = WIDE;
    return ti_b_typed(lw, node->op, node->attr, in, node->n_in,
                      ti_type_make(lw->ctx, y.dtype, 4, y.dim));
}

static tc_val grown_pointwise(tc_build *lw, const tc_node *node, tc_val *in)
{
    int64_t c = ti_type_of(lw->rw->from, node->out[0])->dim[3];
    for (int i = 0; i < pointwise(node); i++)
        if (ti_is_const(lw->g, in[i]))
            in[i] = longer(lw, in[i], c, 0);
    return ti_b_op(lw, node->op, node->attr, in, node->n_in);
}

static tc_status grow(tc_rewrite *rw, const tc_node *node, bool *done)
{
    wider *w = rw->user;
    bool conv = node->op == TC_OP_tosa_conv2d;
    if (node->n_out != 1 || (!conv && !pointwise(node)))
        return TC_OK;
    bool in_grows = grows(w, node->in[0]), out_grows = grows(w, node->out[0]);
    if (!out_grows && !(conv && in_grows))
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val in[5], v;
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_rewrite_in(rw, node, i);
    if (conv)
        v = grown_conv(&lw, node, in, in_grows, out_grows);
    else if (node->op == TC_OP_tosa_rescale)
        v = grown_rescale(&lw, node, in);
    else
        v = grown_pointwise(&lw, node, in);
    if (!out_grows)
        return ti_b_replace(&lw, v, done);
    TC_TRY(lw.status);
    rw->to->val[v]->name = rw->from->val[node->out[0]]->name;
    rw->now[node->out[0]] = v;
    *done = true;
    return TC_OK;
}

tc_status ti_lower_widen_channels(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {grow};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_graph *g = module->graph[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        wider w = {.root = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                   .gain = tc_new_n(&ctx->scratch, double, g->n_val),
                   .fixed = tc_new_n(&ctx->scratch, bool, g->n_val)};
        look(&w, g);
        spare(ctx, &w, g);
        status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &w);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
