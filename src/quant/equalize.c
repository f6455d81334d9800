/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.c -- see equalize.h.
 *
 *   v = w1 x + b1,  y = w2 f(v)      =>      v' = (w1 / s) x + b1 / s,  y = (w2 s) f(v')
 *
 * with a factor s for each channel of v, where f is nothing, relu, a sum of two such values, a mean
 * over positions, a product with a factor by channel, or a movement that keeps the channels. Values
 * connected by such operators share the factors: a set.  A set that any other operator makes or
 * reads is not changed.
 *
 * With a clamp at c, factors are at most 1 and observed values stay below it: channel v' / s is
 * clipped at s c, beyond what was observed, as a range would clip it.
 *
 * With one scale for all channels a small one has few codes; weights have a scale per output
 * channel, which absorbs the factor at no cost.
 *
 * Half way, s becomes sqrt(s), for sets with products of two computed values alone, as between the
 * layers of a gated unit: their tails are long.  Weights lose less by it, and ranges that few
 * numbers have shown are exceeded by less. */
#include "equalize.h"

#include <math.h>

#include "../ir/axis.h"
#include "../ir/rewrite.h"
#include "../num/load.h"
#include "dataflow.h"
#include "known_layers.h"
#include "sample_runner.h"

enum { SAMPLES = 32 };
/* Elements of a channel that its range needs: with fewer, the observed range is no bound. */
static const double ENOUGH = 1 << 14;
static const double LEAST = 1.0 / 64; /* of a factor, relative to the largest of its set */
static const double MARGIN = 1.05;    /* a clamp clips this far beyond what was observed */

/* Values whose channels share their factors. */
typedef struct set {
    int64_t n;      /* channels */
    double cap;     /* the least bound of its clamps; INFINITY: none */
    double *factor; /* by channel */
    bool small;     /* too little data */
} set;

typedef struct evening {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_config *config;
    tc_val *parent;        /* by value: union-find */
    int8_t *axis;          /* by value: of its channels; -1: none are known */
    bool *fixed;           /* by root: not changed */
    bool *made;            /* by root: some layer makes it */
    bool *gated;           /* by root */
    bool half;
    double *cap;           /* by root */
    bool *waits;           /* by value: only a clamp reads it */
    int32_t *of;           /* by value: its set, or -1 */
    set *set;
    size_t n_set;
    size_t *place;         /* by value: where its channels begin */
    size_t n_place;
    bool *wanted;          /* by value: it is observed */
} evening;

/* ---- sets ---- */

static tc_val root_of(const evening *e, tc_val v)
{
    while (e->parent[v] != v)
        v = e->parent[v] = e->parent[e->parent[v]];
    return v;
}

static void fix(evening *e, tc_val v)
{
    if (v)
        e->fixed[root_of(e, v)] = true;
}

/* Both have the same channels, along those axes. */
static void tie(evening *e, tc_val a, tc_val b)
{
    const tc_type *ta = ti_type_of(e->g, a), *tb = ti_type_of(e->g, b);
    if (e->axis[a] < 0 || e->axis[b] < 0 || ta->dim[e->axis[a]] != tb->dim[e->axis[b]]) {
        fix(e, a);
        fix(e, b);
        return;
    }
    tc_val ra = root_of(e, a), rb = root_of(e, b);
    if (ra == rb)
        return;
    e->parent[rb] = ra;
    e->fixed[ra] = e->fixed[ra] || e->fixed[rb];
    e->made[ra] = e->made[ra] || e->made[rb];
    e->gated[ra] = e->gated[ra] || e->gated[rb];
    e->cap[ra] = fmin(e->cap[ra], e->cap[rb]);
}

/* The channel axis of operand 0 in the result of an operator that commutes with factors; -1: none.
 */
static int kept_axis(const evening *e, const tc_node *node, int axis)
{
    switch (node->op) {
    case TC_OP_relu:
    case TC_OP_add:
    case TC_OP_mul:
        return axis;
    case TC_OP_clamp:
        return ((const tc_attr_clamp *)node->attr)->lo == 0 ? axis : -1;
    case TC_OP_max_pool:
    case TC_OP_avg_pool:
    case TC_OP_adaptive_avg_pool:
        return axis == 1 && node->n_out == 1 ? axis : -1;
    case TC_OP_mean:
        return ti_averaged_axis(e->g, node, axis);
    default:
        return ti_moved_axis(e->g, node, axis);
    }
}

/* The operand that carries the factors: of a product the one with the shape of the result. */
static int main_operand(const evening *e, const tc_node *node)
{
    if (node->op != TC_OP_mul)
        return 0;
    for (int i = 0; i < 2; i++)
        if (!ti_is_const(e->g, node->in[i]) && e->axis[node->in[i]] >= 0 &&
            !e->fixed[root_of(e, node->in[i])] &&
            ti_same_dims(ti_type_of(e->g, node->in[i]), ti_type_of(e->g, node->out[0])))
            return i;
    return -1;
}

static void follow(evening *e, const tc_node *node)
{
    const tc_graph *g = e->g;
    tc_val out = node->n_out ? node->out[0] : TC_NONE;
    if (ti_known_layer(g, node)) {
        e->axis[out] = (int8_t)ti_known_layer_axis(g, node, out);
        e->made[root_of(e, out)] = true;
        return;
    }
    int from = node->n_in ? main_operand(e, node) : -1;
    tc_val v = from >= 0 ? node->in[from] : TC_NONE;
    int axis = v && e->axis[v] >= 0 ? kept_axis(e, node, e->axis[v]) : -1;
    if (node->op == TC_OP_add && axis >= 0 &&
        (ti_type_of(g, node->in[0]) != ti_type_of(g, out) || ti_is_const(g, node->in[1]) ||
         ti_type_of(g, node->in[1]) != ti_type_of(g, out)))
        axis = -1;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && (axis < 0 || (i != from && node->op != TC_OP_add)))
            fix(e, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        e->fixed[node->out[i]] = axis < 0;
    if (axis < 0)
        return;
    e->axis[out] = (int8_t)axis;
    tie(e, v, out);
    if (node->op == TC_OP_add)
        tie(e, node->in[1], out);
    if (node->op == TC_OP_mul && ti_same_dims(ti_type_of(g, node->in[!from]), ti_type_of(g, out)))
        e->gated[root_of(e, out)] = true;
    if (node->op == TC_OP_clamp) {
        double hi = ((const tc_attr_clamp *)node->attr)->hi;
        tc_val r = root_of(e, out);
        e->cap[r] = fmin(e->cap[r], hi);
    }
}

/* Layers read the channels that they multiply. */
static void check_reader(evening *e, const tc_node *node)
{
    for (int i = 0; i < node->n_in && ti_known_layer(e->g, node); i++)
        if (i || e->axis[node->in[0]] != ti_known_layer_axis(e->g, node, node->in[0]))
            fix(e, node->in[i]);
}

static void find_sets(evening *e)
{
    const tc_graph *g = e->g;
    tc_arena *a = &e->ctx->arena;
    const bool *pinned = ti_graph_pinned(e->ctx, g);
    const uint32_t *readers = ti_graph_readers(e->ctx, g);
    e->parent = tc_new_n(a, tc_val, g->n_val);
    e->axis = tc_new_n(a, int8_t, g->n_val);
    e->fixed = tc_new_n(a, bool, g->n_val);
    e->made = tc_new_n(a, bool, g->n_val);
    e->gated = tc_new_n(a, bool, g->n_val);
    e->cap = tc_new_n(a, double, g->n_val);
    e->waits = tc_new_n(a, bool, g->n_val);
    e->of = tc_new_n(a, int32_t, g->n_val);
    e->place = tc_new_n(a, size_t, g->n_val);
    e->wanted = tc_new_n(a, bool, g->n_val);
    for (tc_val v = 0; v < g->n_val; v++) {
        e->parent[v] = v;
        e->axis[v] = -1;
        e->cap[v] = INFINITY;
        e->of[v] = -1;
    }
    for (size_t i = 0; i < g->n_in; i++)
        fix(e, g->in[i]);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const)
            follow(e, g->node[k]);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        check_reader(e, node);
        for (int i = 0; i < node->n_out; i++) {
            tc_val v = node->out[i];
            tc_level level;
            ti_config_scheme(e->config, node->loc, g->val[v]->name, &level);
            if (pinned[v] || level >= TC_LEVEL_io || ti_type_of(g, v)->dtype != TC_f32 ||
                ti_type_of(g, v)->quant)
                fix(e, v);
        }
        if ((node->op == TC_OP_relu || node->op == TC_OP_clamp) && readers[node->in[0]] == 1)
            e->waits[node->in[0]] = true;
    }
    e->set = tc_new_n(a, set, g->n_val);
    int32_t *at = tc_new_n(a, int32_t, g->n_val);
    for (tc_val v = 1; v < g->n_val; v++) {
        tc_val r = root_of(e, v);
        if (e->axis[v] < 0 || e->fixed[r] || !e->made[r] || ti_is_const(g, v) ||
            (e->half && !e->gated[r]))
            continue;
        int64_t n = ti_type_of(g, v)->dim[e->axis[v]];
        if (n < 2)
            continue;
        if (!at[r]) {
            e->set[e->n_set] =
                (set){.n = n, .cap = e->cap[r], .factor = tc_new_n(a, double, (size_t)n)};
            at[r] = (int32_t)++e->n_set;
        }
        e->of[v] = at[r] - 1;
        const tc_node *def = ti_def(g, v);
        e->wanted[v] = !e->waits[v] && !ti_role_moves(def);
        e->place[v] = e->n_place;
        e->n_place += e->wanted[v] ? (size_t)n : 0;
    }
}

/* Averages stay within the range of their operands. */
static bool averages(const tc_node *node)
{
    return node->op == TC_OP_mean || node->op == TC_OP_avg_pool ||
           node->op == TC_OP_adaptive_avg_pool;
}

/* Sets with too little data are not changed. */
static size_t leave_small(evening *e, size_t n_sample)
{
    size_t left = 0;
    for (tc_val v = 1; v < e->g->n_val; v++) {
        if (e->of[v] < 0 || !e->wanted[v] || averages(ti_def(e->g, v)))
            continue;
        set *s = &e->set[e->of[v]];
        int64_t places = tc_type_count(ti_type_of(e->g, v)) / s->n;
        s->small = s->small || (!e->half && (double)places * (double)n_sample < ENOUGH);
    }
    for (tc_val v = 1; v < e->g->n_val; v++)
        if (e->of[v] >= 0 && e->set[e->of[v]].small) {
            e->of[v] = -1;
            e->wanted[v] = false;
        }
    for (size_t i = 0; i < e->n_set; i++)
        left += !e->set[i].small;
    return left;
}

/* ---- ranges ---- */

typedef struct looker {
    const evening *e;
    float *most; /* by position */
} looker;

static void look(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    looker *l = who;
    const evening *e = l->e;
    float *most = l->most + e->place[v];
    int64_t inner = 1, n = e->set[e->of[v]].n, count = tc_type_count(seen.type);
    int at = 0;
    while (order[at] != e->axis[v])
        at++;
    for (int i = at + 1; i < seen.type->rank; i++)
        inner *= seen.type->dim[i];
    const float *x = seen.data;
    for (int64_t i = 0; i < count; i += inner)
        for (int64_t j = i, c = i / inner % n; j < i + inner; j++) {
            float m = fabsf(x[j]);
            most[c] = m > most[c] ? m : most[c];
        }
}

static tc_status look_at(evening *e, tc_graph *g, const tc_samples *samples, float **out)
{
    tc_runner *runner;
    TC_TRY(ti_runner_new(e->ctx, g, e->wanted, samples->n, &runner));
    size_t n = ti_runner_threads(runner);
    looker *l = tc_new_n(&e->ctx->arena, looker, n);
    void **guest = tc_new_n(&e->ctx->arena, void *, n);
    for (size_t i = 0; i < n; i++) {
        l[i] = (looker){e, tc_new_n(&e->ctx->arena, float, e->n_place)};
        guest[i] = &l[i];
    }
    tc_visit visit = {
        .samples = samples, .what = "samples, channels", .guest = guest, .see = look};
    TC_TRY(ti_runner_run(runner, &visit));
    *out = l[0].most;
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < e->n_place; k++)
            (*out)[k] = fmaxf((*out)[k], l[i].most[k]);
    return TC_OK;
}

/* The largest range of each channel over the values of a set, relative to its largest channel. */
static void choose_factors(const evening *e, const float *most)
{
    for (tc_val v = 1; v < e->g->n_val; v++) {
        if (e->of[v] < 0 || !e->wanted[v])
            continue;
        const set *s = &e->set[e->of[v]];
        const float *m = most + e->place[v];
        double largest = 0;
        for (int64_t c = 0; c < s->n; c++)
            largest = fmax(largest, (double)m[c]);
        largest = s->cap < INFINITY ? fmax(largest, s->cap) : largest;
        for (int64_t c = 0; c < s->n && largest > 0; c++)
            s->factor[c] = fmax(s->factor[c], (double)m[c] / largest);
    }
    for (size_t i = 0; i < e->n_set; i++)
        for (int64_t c = 0; c < e->set[i].n; c++) {
            double *f = &e->set[i].factor[c], m = e->set[i].cap < INFINITY ? MARGIN : 1;
            *f = *f > 0 ? fmin(1, fmax(LEAST, *f * m)) : 1;
            *f = e->half ? sqrt(*f) : *f;
        }
}

/* ---- new weights ---- */

static double factor_of(const evening *e, tc_val v, int64_t c)
{
    return e->of[v] < 0 ? 1 : e->set[e->of[v]].factor[c];
}

static tc_val scaled(tc_rewrite *rw, const evening *e, const tc_node *node, int operand)
{
    tc_tensor w = ti_tensor_of(rw->from, node->in[operand]),
              t = ti_tensor_new(&rw->ctx->arena, w.type);
    int64_t rows = w.type->dim[0], each = tc_type_count(w.type) / rows, groups = 1, taps = each;
    if (operand == 1) {
        groups = node->op == TC_OP_conv ? ((const tc_attr_conv *)node->attr)->groups : 1;
        taps = each / w.type->dim[1];
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < each; j++) {
            int64_t in = r / (rows / groups) * (each / taps) + j / taps;
            double by = operand == 1 ? factor_of(e, node->in[0], in) : 1;
            ti_store_f64(t, r * each + j,
                         ti_load_f64(w, r * each + j) * by / factor_of(e, node->out[0], r));
        }
    const tc_value *old = rw->from->val[node->in[operand]];
    return ti_graph_const(rw->to, t.type, t.data, old->name, node->loc);
}

static tc_status change(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const evening *e = rw->user;
    bool layer = ti_known_layer(e->g, node);
    if (node->n_out != 1 || (e->of[node->out[0]] < 0 && !(layer && e->of[node->in[0]] >= 0)))
        return TC_OK;
    *done = true;
    tc_val w = layer ? scaled(rw, e, node, 1) : TC_NONE;
    tc_val b = layer && node->n_in > 2 && node->in[2] ? scaled(rw, e, node, 2) : TC_NONE;
    ti_rewrite_copy(rw, node);
    tc_node *made = rw->to->node[rw->to->n_node - 1];
    if (w)
        made->in[1] = w;
    if (b)
        made->in[2] = b;
    if (e->of[node->out[0]] >= 0)
        rw->to->val[made->out[0]]->name = NULL; /* a different constant than in the model */
    return TC_OK;
}

tc_status ti_quant_equalize(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                            const tc_domains *domains, bool half, size_t *n)
{
    static tc_rewriter *const rewriters[] = {change};
    tc_graph *g = ti_main(module);
    evening *e = tc_new(&ctx->arena, evening);
    *e = (evening){.ctx = ctx, .g = g, .config = request->config, .half = half};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    find_sets(e);
    ti_arena_rewind(&ctx->scratch, mark);
    *n = 0;
    if (!e->n_set || !request->samples.n)
        return TC_OK;
    tc_samples samples;
    float *most;
    TC_TRY(ti_choose_samples(ctx, g, &request->samples, domains, SAMPLES, &samples));
    if (!(*n = leave_small(e, samples.n)))
        return TC_OK;
    TC_TRY(look_at(e, g, &samples, &most));
    ti_chosen_end(&samples);
    choose_factors(e, most);
    return ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), e);
}
