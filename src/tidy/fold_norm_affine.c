/* SPDX-License-Identifier: Apache-2.0 */
/* fold_norm_affine.c -- the bias of a norm folds into the layers that read it; its gain too where
 * rows are long, and that of an RMS norm.
 *
 *   w (norm(x) g + b) + c  =>  w (norm(x) g) + (c + w b)      rows of up to MATRIX_ROW
 *                          =>  (w g) norm(x) + (c + w b)      longer ones
 *
 * where only linear layers and convolutions without padding read the norm, perhaps through
 * movement. Saves one addition per element and centres the range at 0.  The value in between is no
 * longer the model's, and loses its name.
 *
 * Gains of short rows stay: the matrix that subtracts their mean multiplies by them at no cost.  So
 * do gains that would add more rounding error to the weights than they remove from the input, and
 * where tied weights are to stay one, those before a layer whose weights are a table, too. */
#include <math.h>

#include "tidy.h"

#include "../ir/axis.h"
#include "../num/load.h"

enum { MATRIX_ROW = 128 };

typedef struct offsets {
    const tc_node ***reader; /* by old value: its readers, NULL at the end */
    const bool *pinned;      /* by old value: read from outside */
    const tc_node **norm;    /* by old value: the norm whose offset it has lost */
    bool *bare;              /* by old value: its gain too */
    bool keeps_ties;
} offsets;

/* A layer that adds along what it multiplies: the channels of its operand are axis `axis`. */
static bool takes_offset(const tc_graph *g, const tc_node *node, tc_val v, int axis)
{
    const tc_type *x = ti_type_of(g, v);
    if ((node->op != TC_OP_linear && node->op != TC_OP_conv) || node->in[0] != v ||
        node->in[1] == v || !node->in[1] || !ti_may_be_folded(g, node->in[1]) ||
        (node->n_in > 2 && (node->in[2] == v || !ti_may_be_folded(g, node->in[2]))))
        return false;
    if (node->op == TC_OP_linear)
        return axis == x->rank - 1 && ti_type_of(g, node->in[1])->rank == 2;
    const tc_attr_conv *a = node->attr;
    for (int i = 0; i < a->pad.n; i++)
        if (a->pad.v[i])
            return false;
    return axis == 1 && a->groups == 1;
}

/* Whether everyone who reads the value can do without the offset along its axis. */
static bool can_lose(const offsets *o, const tc_graph *g, tc_val v, int axis)
{
    const tc_node **r = o->reader[v];
    if (o->pinned[v] || !r || !*r)
        return false;
    for (; *r; r++) {
        int next = -1;
        if (takes_offset(g, *r, v, axis))
            continue;
        next = ti_moved_axis(g, *r, axis);
        if (next < 0 || !can_lose(o, g, (*r)->out[0], next))
            return false;
    }
    return true;
}

static bool is_layer(const tc_node *node)
{
    return node->op == TC_OP_linear || node->op == TC_OP_conv;
}

static void lose(offsets *o, const tc_graph *g, tc_val v, const tc_node *norm, bool bare)
{
    o->norm[v] = norm;
    o->bare[v] = bare;
    for (const tc_node **r = o->reader[v]; *r; r++)
        if (!is_layer(*r))
            lose(o, g, (*r)->out[0], norm, bare);
}

/* What rounding to 8 bits would put into the results of a layer, squared and summed, in some unit:
 * its weights by output channel in steps of their largest, times rows of variance 1 and gain g; its
 * operand in steps of the largest, PEAK times what it is on average, times the weights. */
static double noise(tc_tensor w, tc_tensor gain, bool inside)
{
    const double peak = 4;
    int64_t n = w.type->dim[0], c = w.type->dim[1], each = tc_type_count(w.type) / (n * c);
    double most_gain = 0, squares = 0, sum = 0;
    for (int64_t k = 0; k < c; k++) {
        double g = inside ? 1 : ti_load_f64(gain, k);
        most_gain = fmax(most_gain, fabs(g));
        squares += g * g;
    }
    for (int64_t i = 0; i < n; i++) {
        double most = 0, weights = 0;
        for (int64_t k = 0; k < c * each; k++) {
            double x = ti_load_f64(w, i * c * each + k);
            x *= inside ? ti_load_f64(gain, k / each) : 1;
            most = fmax(most, fabs(x));
            weights += x * x;
        }
        sum += most * most * squares * (double)each + peak * peak * most_gain * most_gain * weights;
    }
    return sum;
}

/* The noise of all layers after a value. */
static double noise_behind(const offsets *o, const tc_graph *g, tc_val v, tc_tensor gain,
                           bool inside)
{
    double sum = 0;
    for (const tc_node **r = o->reader[v]; *r; r++)
        sum += is_layer(*r) ? noise(ti_tensor_of(g, (*r)->in[1]), gain, inside)
                            : noise_behind(o, g, (*r)->out[0], gain, inside);
    return sum;
}

static bool all_are(const tc_graph *g, tc_val v, double number)
{
    tc_tensor t = ti_tensor_of(g, v);
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        if (ti_load_f64(t, i) != number)
            return false;
    return true;
}

/* A norm along the last axis, of known gain, and offset where it has one. */
static bool is_norm(const tc_graph *g, const tc_node *node)
{
    if (node->op == TC_OP_rms_norm)
        return node->in[1] && ti_may_be_folded(g, node->in[1]) &&
               ti_type_of(g, node->out[0])->dtype == TC_f32;
    return node->op == TC_OP_layer_norm && node->n_in >= 3 && node->in[2] &&
           ((const tc_attr_layer_norm *)node->attr)->n_axes == 1 && ti_may_be_folded(g, node->in[2]) &&
           ti_type_of(g, node->out[0])->dtype == TC_f32;
}

static bool is_tied_behind(const offsets *o, const tc_graph *g, tc_val v)
{
    bool any = false;
    for (const tc_node **r = o->reader[v]; *r; r++)
        any = any || (is_layer(*r) ? ti_is_tied(g, (*r)->in[1])
                                   : is_tied_behind(o, g, (*r)->out[0]));
    return any;
}

/* Whether its gain leaves it too. */
static bool loses_gain(const offsets *o, const tc_graph *g, const tc_node *norm)
{
    if (!norm->in[1] || !ti_may_be_folded(g, norm->in[1]) || all_are(g, norm->in[1], 1) ||
        (norm->op == TC_OP_layer_norm &&
         tc_type_count(ti_type_of(g, norm->in[1])) <= MATRIX_ROW) ||
        (o->keeps_ties && is_tied_behind(o, g, norm->out[0])))
        return false;
    tc_tensor gain = ti_tensor_of(g, norm->in[1]);
    return noise_behind(o, g, norm->out[0], gain, true) <=
           noise_behind(o, g, norm->out[0], gain, false);
}

static void look(offsets *o, tc_ctx *ctx, const tc_graph *g)
{
    const uint32_t *count = ti_graph_readers(ctx, g);
    uint32_t *n = tc_new_n(&ctx->scratch, uint32_t, g->n_val);
    o->pinned = ti_graph_pinned(ctx, g);
    o->norm = tc_new_n(&ctx->scratch, const tc_node *, g->n_val);
    o->bare = tc_new_n(&ctx->scratch, bool, g->n_val);
    o->reader = tc_new_n(&ctx->scratch, const tc_node **, g->n_val);
    for (tc_val v = 1; v < g->n_val; v++)
        o->reader[v] = tc_new_n(&ctx->scratch, const tc_node *, (size_t)count[v] + 1);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i])
                o->reader[g->node[k]->in[i]][n[g->node[k]->in[i]]++] = g->node[k];
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!is_norm(g, node) ||
            !can_lose(o, g, node->out[0], ti_type_of(g, node->out[0])->rank - 1))
            continue;
        bool bare = loses_gain(o, g, node);
        if (bare || (node->op == TC_OP_layer_norm && !all_are(g, node->in[2], 0)))
            lose(o, g, node->out[0], node, bare);
    }
}

static void forget_name(tc_rewrite *rw, const tc_node *node)
{
    rw->to->val[rw->now[node->out[0]]]->name = NULL;
}

static tc_val all_ones(tc_rewrite *rw, const tc_node *norm)
{
    tc_tensor one = ti_tensor_new(&rw->ctx->arena, ti_type_of(rw->from, norm->in[1]));
    for (int64_t i = 0; i < tc_type_count(one.type); i++)
        ti_store_f64(one, i, 1);
    return ti_graph_const(rw->to, one.type, one.data, NULL, norm->loc);
}

static tc_status without(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const offsets *o = rw->user;
    if (node->n_out != 1 || !o->norm[node->out[0]])
        return TC_OK;
    tc_val zero = TC_NONE, one = TC_NONE;
    if (node->op == TC_OP_layer_norm) {
        one = o->bare[node->out[0]] ? all_ones(rw, node) : TC_NONE;
        const tc_type *type = ti_type_of(rw->from, node->in[2]);
        tc_tensor none = ti_tensor_new(&rw->ctx->arena, type);
        memset(none.data, 0, tc_type_bytes(type));
        zero = ti_graph_const(rw->to, type, none.data, NULL, node->loc);
    }
    ti_rewrite_copy(rw, node);
    if (node->op == TC_OP_rms_norm)
        rw->to->node[rw->to->n_node - 1]->in[1] = TC_NONE;
    if (zero)
        rw->to->node[rw->to->n_node - 1]->in[2] = zero;
    if (one)
        rw->to->node[rw->to->n_node - 1]->in[1] = one;
    forget_name(rw, node);
    *done = true;
    return TC_OK;
}

/* c + w b, summed in double. */
static tc_val with_offset(tc_rewrite *rw, const tc_node *node, const tc_node *norm)
{
    const tc_graph *g = rw->from;
    tc_tensor w = ti_tensor_of(g, node->in[1]), b = ti_tensor_of(g, norm->in[2]);
    bool has = node->n_in > 2 && node->in[2];
    int64_t n = w.type->dim[0], c = w.type->dim[1], each = tc_type_count(w.type) / (n * c);
    tc_tensor t = ti_tensor_new(&rw->ctx->arena, ti_type_make(rw->ctx, TC_f32, 1, &n));
    for (int64_t i = 0; i < n; i++) {
        double sum = has ? ti_load_f64(ti_tensor_of(g, node->in[2]), i) : 0;
        for (int64_t k = 0; k < c * each; k++)
            sum += ti_load_f64(w, i * c * each + k) * ti_load_f64(b, k / each);
        ti_store_f64(t, i, sum);
    }
    const char *name = has ? g->val[node->in[2]]->name : NULL;
    return ti_graph_const(rw->to, t.type, t.data, name, node->loc);
}

/* w g, each input channel by its gain. */
static tc_val with_gain(tc_rewrite *rw, const tc_node *node, const tc_node *norm)
{
    const tc_graph *g = rw->from;
    tc_tensor w = ti_tensor_of(g, node->in[1]), gain = ti_tensor_of(g, norm->in[1]);
    tc_tensor t = ti_tensor_new(&rw->ctx->arena, w.type);
    int64_t c = w.type->dim[1], each = tc_type_count(w.type) / (w.type->dim[0] * c);
    for (int64_t i = 0; i < tc_type_count(w.type); i++)
        ti_store_f64(t, i, ti_load_f64(w, i) * ti_load_f64(gain, i / each % c));
    return ti_graph_const(rw->to, t.type, t.data, g->val[node->in[1]]->name, node->loc);
}

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const offsets *o = rw->user;
    const tc_node *norm = is_layer(node) ? o->norm[node->in[0]] : NULL;
    if (!norm)
        return TC_OK;
    tc_val in[3] = {rw->now[node->in[0]], rw->now[node->in[1]], TC_NONE};
    if (o->bare[node->in[0]])
        in[1] = with_gain(rw, node, norm);
    if (norm->op == TC_OP_layer_norm)
        in[2] = with_offset(rw, node, norm);
    else
        in[2] = node->n_in > 2 && node->in[2] ? rw->now[node->in[2]] : TC_NONE;
    tc_build b = ti_build_instead(rw, node);
    return ti_b_again(&b, in, 3, done);
}

static tc_status fold(tc_ctx *ctx, tc_module *module, bool keeps_ties)
{
    static tc_rewriter *const rewriters[] = {without, take};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        offsets o = {.keeps_ties = keeps_ties};
        look(&o, ctx, module->graph[i]);
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &o);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}

tc_status ti_tidy_fold_norm_affine(tc_ctx *ctx, tc_module *module)
{
    return fold(ctx, module, false);
}

tc_status ti_tidy_fold_untied_norm_affine(tc_ctx *ctx, tc_module *module)
{
    return fold(ctx, module, true);
}
