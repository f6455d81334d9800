/* SPDX-License-Identifier: Apache-2.0 */
/* rotate.c -- see rotate.h.
 *
 *   h = W x + b,  y = V (g norm(h) + c)    =>    h' = R W x + R b,  y = (V g) R' norm(h') + V c
 *
 * R = U S is orthogonal: S signs, U the Hadamard matrix of the largest power of two in the number
 * of channels, times a reflection for the odd rest.  What one channel of h had much of, all
 * channels of h' have some of: one scale serves them.
 *
 * A norm that takes a mean off becomes one that does not: the constants make h' of R h less its
 * mean, W - 1 1' W / n.  So nothing but norms may read it. */
#include "rotate.h"

#include <math.h>

#include "../ir/axis.h"
#include "../ir/rewrite.h"
#include "../num/load.h"
#include "known_layers.h"

enum { LEAST = 16 }; /* the power of two: less mixes too little */

typedef struct turning {
    tc_ctx *ctx;
    const tc_graph *g;
    tc_val *parent;        /* by value: union-find */
    int8_t *axis;          /* by value: of its channels; -1: none are known */
    bool *fixed;           /* by root: not turned */
    bool *sized;           /* by root: a norm that leaves the mean reads it, */
    bool *centred;         /* one that does not, */
    bool *bare;            /* a layer without any */
    const tc_node **norm;  /* by value: the norm that it is the result of, moved; or NULL */
} turning;

/* ---- the matrix ---- */

/* The size of the Hadamard matrix. */
static int64_t power_in(int64_t n)
{
    return n & -n;
}

/* x := H x, of each of n / m rows, H' H = m. */
static void mix_rows(double *x, int64_t n, int64_t m)
{
    for (int64_t step = 1; step < m; step *= 2)
        for (int64_t i = 0; i < n; i += 2 * step)
            for (int64_t j = i; j < i + step; j++) {
                double a = x[j], b = x[j + step];
                x[j] = a + b;
                x[j + step] = a - b;
            }
}

/* x := (I - u u' / (p - sqrt(p))) x, of each of m columns;  u = (1, .., 1) - sqrt(p) e0. */
static void mix_columns(double *x, int64_t p, int64_t m)
{
    double root = sqrt((double)p);
    for (int64_t j = 0; j < m && p > 1; j++) {
        double sum = -root * x[j];
        for (int64_t i = 0; i < p; i++)
            sum += x[i * m + j];
        sum /= (double)p - root;
        for (int64_t i = 0; i < p; i++)
            x[i * m + j] -= sum;
        x[j] += root * sum;
    }
}

/* x := R x. */
static void turn(double *x, int64_t n)
{
    int64_t m = power_in(n);
    uint32_t state = 1;
    double scale = 1 / sqrt((double)m);
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] *= state >> 31 ? -scale : scale;
    }
    mix_rows(x, n, m);
    mix_columns(x, n / m, m);
}

static void centre(double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    for (int64_t i = 0; i < n; i++)
        x[i] -= sum / (double)n;
}

/* ---- sets ---- */

static tc_val root_of(const turning *t, tc_val v)
{
    while (t->parent[v] != v)
        v = t->parent[v] = t->parent[t->parent[v]];
    return v;
}

static void fix(turning *t, tc_val v)
{
    if (v)
        t->fixed[root_of(t, v)] = true;
}

static int64_t channels(const turning *t, tc_val v)
{
    return t->axis[v] < 0 ? 0 : ti_type_of(t->g, v)->dim[t->axis[v]];
}

static void tie(turning *t, tc_val a, tc_val b)
{
    tc_val ra = root_of(t, a), rb = root_of(t, b);
    if (ra == rb)
        return;
    t->parent[rb] = ra;
    t->fixed[ra] = t->fixed[ra] || t->fixed[rb];
    t->sized[ra] = t->sized[ra] || t->sized[rb];
    t->centred[ra] = t->centred[ra] || t->centred[rb];
}

/* A layer that mixes all channels. */
static bool is_layer(const tc_graph *g, const tc_node *node)
{
    return ti_known_layer(g, node) &&
           (node->op == TC_OP_linear || ((const tc_attr_conv *)node->attr)->groups == 1);
}

/* Padding adds no offset. */
static bool takes_offset(const tc_node *node)
{
    const tc_attr_conv *a = node->op == TC_OP_conv ? node->attr : NULL;
    for (int i = 0; a && i < a->pad.n; i++)
        if (a->pad.v[i])
            return false;
    return true;
}

/* Rows of a table in f32. */
static bool is_table(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_embedding && ti_known_constant(g, node->in[0]) &&
           ti_type_of(g, node->in[0])->rank == 2;
}

static bool is_norm(const tc_graph *g, const tc_node *node)
{
    if ((node->op != TC_OP_layer_norm && node->op != TC_OP_rms_norm) ||
        ((const tc_attr_layer_norm *)node->attr)->n_axes != 1)
        return false;
    for (int i = 1; i < node->n_in; i++)
        if (node->in[i] && !ti_known_constant(g, node->in[i]))
            return false;
    return true;
}

static bool has_weights(const tc_node *norm)
{
    return norm->in[1] || (norm->n_in > 2 && norm->in[2]);
}

/* A constant that is added along the channels: all of them, for every position or for each. */
static bool is_added(const turning *t, tc_val v, tc_val to)
{
    const tc_type *c = ti_type_of(t->g, v), *y = ti_type_of(t->g, to);
    int axis = t->axis[to] - (y->rank - c->rank);
    return ti_known_constant(t->g, v) && axis >= 0 && c->dim[axis] == channels(t, to);
}

/* The axis of the result's channels, from that of operand `from`; -1: the node mixes them. */
static int kept_axis(const turning *t, const tc_node *node, int axis)
{
    const tc_graph *g = t->g;
    if (node->op == TC_OP_add || node->op == TC_OP_sub)
        return ti_type_of(g, node->in[0]) == ti_type_of(g, node->out[0]) ? axis : -1;
    if (is_norm(g, node))
        return axis == ti_type_of(g, node->in[0])->rank - 1 ? axis : -1;
    return node->op == TC_OP_mean ? ti_averaged_axis(g, node, axis) : ti_moved_axis(g, node, axis);
}

static void follow(turning *t, const tc_node *node)
{
    const tc_graph *g = t->g;
    tc_val out = node->n_out ? node->out[0] : TC_NONE, v = node->n_in ? node->in[0] : TC_NONE;
    if (is_table(g, node) || is_layer(g, node)) {
        t->axis[out] = (int8_t)(is_table(g, node) ? ti_type_of(g, out)->rank - 1
                                                  : ti_known_layer_axis(g, node, out));
        return;
    }
    int axis = v && t->axis[v] >= 0 ? kept_axis(t, node, t->axis[v]) : -1;
    bool sum = node->op == TC_OP_add || node->op == TC_OP_sub;
    if (axis >= 0)
        t->axis[out] = (int8_t)axis;
    if (axis >= 0 && sum && !is_added(t, node->in[1], out) &&
        (ti_type_of(g, node->in[1]) != ti_type_of(g, out) || t->axis[node->in[1]] != axis))
        axis = -1;
    for (int i = 0; i < node->n_in && axis < 0; i++)
        fix(t, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        t->fixed[node->out[i]] = axis < 0;
    if (axis < 0)
        return;
    tie(t, v, out);
    if (sum && !ti_is_const(g, node->in[1]))
        tie(t, node->in[1], out);
    if (is_norm(g, node))
        (node->op == TC_OP_rms_norm ? t->sized : t->centred)[root_of(t, out)] = true;
    t->norm[out] = is_norm(g, node) ? node : sum ? NULL : t->norm[v];
}

/* Layers read the channels that they multiply, and take gains and offsets; others do not. */
static void check_reader(turning *t, const tc_node *node)
{
    const tc_graph *g = t->g;
    bool layer = is_layer(g, node);
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        if (!v || t->axis[v] < 0)
            continue;
        const tc_node *norm = t->norm[v];
        bool passes = node->n_out == 1 && t->norm[node->out[0]] == norm, good = passes;
        if (layer)
            good = !i && t->axis[v] == ti_known_layer_axis(g, node, v) && takes_offset(node);
        if (layer && !norm)
            t->bare[root_of(t, v)] = true;
        if (layer ? !good : norm && has_weights(norm) && !good)
            fix(t, v);
    }
}

static void find_sets(turning *t, const tc_config *config)
{
    const tc_graph *g = t->g;
    tc_arena *a = &t->ctx->arena;
    const bool *pinned = ti_graph_pinned(t->ctx, g);
    t->parent = tc_new_n(a, tc_val, g->n_val);
    t->axis = tc_new_n(a, int8_t, g->n_val);
    t->fixed = tc_new_n(a, bool, g->n_val);
    t->sized = tc_new_n(a, bool, g->n_val);
    t->centred = tc_new_n(a, bool, g->n_val);
    t->bare = tc_new_n(a, bool, g->n_val);
    t->norm = tc_new_n(a, const tc_node *, g->n_val);
    for (tc_val v = 0; v < g->n_val; v++) {
        t->parent[v] = v;
        t->axis[v] = -1;
    }
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const)
            follow(t, g->node[k]);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        check_reader(t, node);
        for (int i = 0; i < node->n_out; i++) {
            tc_val v = node->out[i];
            tc_level level;
            ti_config_scheme(config, node->loc, g->val[v]->name, &level);
            if (pinned[v] || level >= TC_LEVEL_io || ti_type_of(g, v)->dtype != TC_f32 ||
                ti_type_of(g, v)->quant || power_in(channels(t, v)) < LEAST)
                fix(t, v);
        }
    }
}

static bool turns(const turning *t, tc_val v)
{
    tc_val r = v ? root_of(t, v) : TC_NONE;
    return v && t->axis[v] >= 0 && !t->fixed[r] && !ti_is_const(t->g, v) &&
           t->sized[r] != t->centred[r] && !(t->centred[r] && t->bare[r]);
}

/* ---- new constants ---- */

typedef struct numbers {
    tc_tensor t;
    double *x;
    int64_t count;
} numbers;

static numbers take_numbers(tc_rewrite *rw, tc_val v)
{
    numbers n = {.t = ti_tensor_of(rw->from, v)};
    n.count = tc_type_count(n.t.type);
    n.x = tc_new_n(&rw->ctx->scratch, double, (size_t)n.count);
    for (int64_t i = 0; i < n.count; i++)
        n.x[i] = ti_load_f64(n.t, i);
    return n;
}

static tc_val give_numbers(tc_rewrite *rw, const numbers *n, const tc_type *type, tc_val old,
                           const tc_loc *loc)
{
    tc_tensor t = ti_tensor_new(&rw->ctx->arena, type);
    for (int64_t i = 0; i < tc_type_count(type); i++)
        ti_store_f64(t, i, n->x[i]);
    return ti_graph_const(rw->to, type, t.data, old ? rw->from->val[old]->name : NULL, loc);
}

static int64_t inner_of(const tc_type *type, int axis)
{
    int64_t inner = 1;
    for (int i = axis + 1; i < type->rank; i++)
        inner *= type->dim[i];
    return inner;
}

/* R along one axis; of what makes v, centred. */
static void turn_numbers(const turning *t, numbers *c, int axis, tc_val v)
{
    int64_t n = c->t.type->dim[axis], inner = inner_of(c->t.type, axis);
    double *row = tc_new_n(&t->ctx->scratch, double, (size_t)n);
    for (int64_t i = 0; i < c->count; i += n * inner)
        for (int64_t j = i; j < i + inner; j++) {
            for (int64_t k = 0; k < n; k++)
                row[k] = c->x[j + k * inner];
            if (v && t->centred[root_of(t, v)])
                centre(row, n);
            turn(row, n);
            for (int64_t k = 0; k < n; k++)
                c->x[j + k * inner] = row[k];
        }
}

/* A layer's weights: with the gain of the norm that it reads, turned on either side. */
static tc_val weights(tc_rewrite *rw, const turning *t, const tc_node *node)
{
    numbers w = take_numbers(rw, node->in[1]);
    int64_t inner = inner_of(w.t.type, 1), in = w.t.type->dim[1];
    const tc_node *norm = turns(t, node->in[0]) ? t->norm[node->in[0]] : NULL;
    if (norm && norm->in[1])
        for (int64_t i = 0; i < w.count; i++)
            w.x[i] *= ti_load_f64(ti_tensor_of(t->g, norm->in[1]), i / inner % in);
    if (turns(t, node->in[0]))
        turn_numbers(t, &w, 1, TC_NONE);
    if (turns(t, node->out[0]))
        turn_numbers(t, &w, 0, node->out[0]);
    return give_numbers(rw, &w, w.t.type, node->in[1], node->loc);
}

/* Its bias: with the offset of the norm. */
static tc_val bias(tc_rewrite *rw, const turning *t, const tc_node *node)
{
    const tc_node *norm = turns(t, node->in[0]) ? t->norm[node->in[0]] : NULL;
    tc_val old = node->n_in > 2 ? node->in[2] : TC_NONE,
           offset = norm && norm->n_in > 2 ? norm->in[2] : TC_NONE;
    if (!old && !offset)
        return TC_NONE;
    int64_t n = ti_type_of(t->g, node->in[1])->dim[0];
    numbers b = {.t = {ti_type_make(rw->ctx, TC_f32, 1, &n), NULL}, .count = n};
    if (old)
        b = take_numbers(rw, old);
    else
        b.x = tc_new_n(&rw->ctx->scratch, double, (size_t)n);
    tc_tensor w = ti_tensor_of(t->g, node->in[1]);
    int64_t each = tc_type_count(w.type) / n, inner = inner_of(w.type, 1);
    for (int64_t i = 0; offset && i < n; i++)
        for (int64_t k = 0; k < each; k++)
            b.x[i] += ti_load_f64(w, i * each + k) *
                      ti_load_f64(ti_tensor_of(t->g, offset), k / inner);
    if (turns(t, node->out[0]))
        turn_numbers(t, &b, 0, node->out[0]);
    return give_numbers(rw, &b, b.t.type, old, node->loc);
}

static tc_status change(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const turning *t = rw->user;
    tc_val out = node->n_out == 1 ? node->out[0] : TC_NONE;
    bool layer = is_layer(t->g, node);
    if (!out || (!turns(t, out) && !(layer && turns(t, node->in[0]))))
        return TC_OK;
    *done = true;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    tc_val in[3] = {TC_NONE, TC_NONE, TC_NONE};
    for (int i = 0; i < node->n_in && i < 3; i++)
        in[i] = node->in[i] ? rw->now[node->in[i]] : TC_NONE;
    if (layer) {
        in[1] = weights(rw, t, node);
        in[2] = bias(rw, t, node);
    } else if (is_table(t->g, node)) {
        numbers table = take_numbers(rw, node->in[0]);
        turn_numbers(t, &table, 1, out);
        in[0] = give_numbers(rw, &table, table.t.type, node->in[0], node->loc);
    } else if ((node->op == TC_OP_add || node->op == TC_OP_sub) && ti_is_const(t->g, node->in[1])) {
        numbers c = take_numbers(rw, node->in[1]);
        turn_numbers(t, &c, t->axis[out] - (ti_type_of(t->g, out)->rank - c.t.type->rank), out);
        in[1] = give_numbers(rw, &c, c.t.type, node->in[1], node->loc);
    } else if (is_norm(t->g, node)) {
        in[1] = TC_NONE;
    }
    ti_arena_rewind(&rw->ctx->scratch, mark);
    bool norm = is_norm(t->g, node);
    int n_in = layer ? 3 : norm ? 2 : node->n_in;
    tc_node *made = ti_graph_add(rw->to, norm ? TC_OP_rms_norm : node->op, node->attr, in, n_in, 1, node->loc);
    tc_value *value = rw->to->val[made->out[0]];
    value->type = ti_type_of(rw->from, out);
    ti_rewrite_bind(rw, out, made->out[0]);
    if (turns(t, out))
        value->name = NULL; /* not the model's numbers */
    return TC_OK;
}

tc_status ti_quant_rotate(tc_ctx *ctx, tc_module *module, const tc_config *config, size_t *n)
{
    static tc_rewriter *const rewriters[] = {change};
    tc_graph *g = ti_main(module);
    turning *t = tc_new(&ctx->arena, turning);
    *t = (turning){.ctx = ctx, .g = g};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    find_sets(t, config);
    ti_arena_rewind(&ctx->scratch, mark);
    *n = 0;
    for (tc_val v = 1; v < g->n_val; v++)
        *n += turns(t, v) && root_of(t, v) == v;
    return *n ? ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), t) : TC_OK;
}
