/* SPDX-License-Identifier: Apache-2.0 */
/* channel_groups.c -- see channel_groups.h.
 *
 *   y = w2 f(w1 x + b1)    =>    y = (w2 P s) cat over g of  f(w1_g x + b1_g) / s_g
 *
 * f a curve.  Channels are sorted by range, P, and cut into groups, each with a scale of its own
 * before the curve; s_g is the range of a group behind it, relative to the largest, so that all
 * share one scale there.  The next layer's weights take P and s.  A depthwise layer between, and its
 * curve, are cut into the same groups; others only have their rows sorted.  What a scale for each
 * channel would give, at the price of a few more operations on the same numbers. */
#include "channel_groups.h"

#include <math.h>

#include "../ir/build.h"
#include "../ir/formula_write.h"
#include "../num/load.h"
#include "known_layers.h"
#include "role.h"
#include "sample_runner.h"

enum { SAMPLES = 16, GROUPS = 4, SMALL = 4, BRICK = 16, LINKS = 2 };
static const double LEAST = 1.0 / 64, /* of s */
    SHARE = 1.0 / 64;                 /* of what all candidates would gain */

/* A layer and its curve. */
typedef struct link {
    const tc_node *layer, *curve;
    size_t place;   /* of its channels among all */
    double *range;  /* by channel */
    double *factor; /* s, by place in the result */
    double noise;   /* that both grids make */
} link;

/* A layer of all channels, and a depthwise one behind it, if there is one. */
typedef struct candidate {
    link link[LINKS];
    int n_link;
    int axis;
    int64_t n, unit; /* channels; groups are multiples of the unit */
    int64_t *order;  /* by place in the result: the channel that goes there */
    double gain;
    bool ranked, taken;
} candidate;

typedef struct tc_groups {
    tc_ctx *ctx;
    tc_module *module;
    const tc_graph *g;
    const tc_domains *domains;
    const uint32_t *readers;
    const bool *pinned;
    const tc_node **reader; /* by value: the last that reads it */
    candidate *of, *loud[TC_GROUPED_MOST];
    size_t n;
    int32_t *sorted; /* by value: the candidate that its channels are sorted for, or -1 */
    size_t n_place;
    float *seen; /* by sample and place: the largest magnitude */
} grouping;

/* ---- candidates ---- */

static const tc_node *only_reader(const grouping *p, tc_val v)
{
    return p->readers[v] == 1 && !p->pinned[v] ? p->reader[v] : NULL;
}

static bool is_depthwise(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_conv && ti_known_layer(g, node) &&
           ((const tc_attr_conv *)node->attr)->groups == ti_type_of(g, node->in[0])->dim[1] &&
           ti_type_of(g, node->in[1])->dim[0] == ti_type_of(g, node->in[0])->dim[1];
}

static bool mixes_all(const tc_graph *g, const tc_node *node)
{
    return ti_known_layer(g, node) &&
           (node->op == TC_OP_linear || ((const tc_attr_conv *)node->attr)->groups == 1);
}

static bool is_curve(const tc_node *node)
{
    return node->n_in == 1 && node->n_out == 1 && ti_role_curve(node->op);
}

/* From v on, by depthwise layers and curves, a layer reads the channels along its own axis. */
static bool ends_in_layer(const grouping *p, tc_val v, int axis)
{
    for (const tc_node *node; (node = only_reader(p, v)); v = node->out[0]) {
        if (node->in[0] != v || node->n_out != 1)
            return false;
        if (mixes_all(p->g, node))
            return axis == ti_known_layer_axis(p->g, node, v);
        if (!is_curve(node) && !(is_depthwise(p->g, node) && axis == 1))
            return false;
    }
    return false;
}

static bool is_free(const tc_domains *domains, tc_val v)
{
    int32_t d = domains->of[v];
    return d >= 0 && !domains->domain[d].named && domains->domain[d].setting.dtype == TC_i8 &&
           domains->domain[d].setting.observer != TC_OBSERVER_fixed;
}

/* A layer whose result only a curve reads, both on grids of their own. */
static bool find_link(grouping *p, const tc_node *layer, link *out)
{
    const tc_node *curve = only_reader(p, layer->out[0]);
    *out = (link){.layer = layer, .curve = curve};
    return curve && is_curve(curve) && is_free(p->domains, layer->out[0]) &&
           is_free(p->domains, curve->out[0]);
}

static void add_link(grouping *p, candidate *c, link l)
{
    l.place = p->n_place;
    p->n_place += (size_t)c->n;
    c->link[c->n_link++] = l;
}

static void find_candidates(grouping *p)
{
    const tc_graph *g = p->g;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *layer = g->node[k];
        link first, second;
        if (!mixes_all(g, layer) || !find_link(p, layer, &first))
            continue;
        int axis = ti_known_layer_axis(g, layer, layer->out[0]);
        int64_t n = ti_type_of(g, layer->out[0])->dim[axis],
                unit = n >= GROUPS * BRICK ? BRICK : SMALL;
        if (n < GROUPS * SMALL || n % unit || !ends_in_layer(p, first.curve->out[0], axis))
            continue;
        candidate *c = &p->of[p->n++];
        *c = (candidate){.axis = axis, .n = n, .unit = unit};
        add_link(p, c, first);
        const tc_node *next = only_reader(p, first.curve->out[0]);
        if (is_depthwise(g, next) && !mixes_all(g, next) && find_link(p, next, &second))
            add_link(p, c, second);
    }
}

/* ---- ranges ---- */

typedef struct looker {
    const grouping *p;
    const candidate **of; /* by value */
    const link **at;
    size_t sample;
} looker;

static bool enter(void *who, size_t k, const tc_tensor *in)
{
    (void)in;
    ((looker *)who)->sample = k;
    return true;
}

static void look(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const looker *l = who;
    const candidate *c = l->of[v];
    float *most = l->p->seen + l->sample * l->p->n_place + l->at[v]->place;
    const float *x = seen.data;
    int64_t inner = 1, count = tc_type_count(seen.type);
    int at = 0;
    while (order[at] != c->axis)
        at++;
    for (int i = at + 1; i < seen.type->rank; i++)
        inner *= seen.type->dim[i];
    for (int64_t row = 0; row < count; row += inner * c->n)
        for (int64_t k = 0; k < c->n; k++) {
            float top = most[k];
            for (int64_t i = 0; i < inner; i++, x++)
                top = fabsf(*x) > top ? fabsf(*x) : top;
            most[k] = top;
        }
}

static tc_status look_at(grouping *p, tc_graph *g, const tc_samples *samples)
{
    tc_arena *a = &p->ctx->arena;
    bool *wanted = tc_new_n(a, bool, g->n_val);
    const candidate **of = tc_new_n(a, const candidate *, g->n_val);
    const link **at = tc_new_n(a, const link *, g->n_val);
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; k < p->of[i].n_link; k++) {
            tc_val v = p->of[i].link[k].curve->out[0];
            wanted[v] = true;
            of[v] = &p->of[i];
            at[v] = &p->of[i].link[k];
        }
    p->seen = tc_new_n(a, float, samples->n * p->n_place);
    tc_runner *runner;
    TC_TRY(ti_runner_new(p->ctx, g, wanted, samples->n, &runner));
    size_t n = ti_runner_threads(runner);
    looker *l = tc_new_n(a, looker, n);
    void **guest = tc_new_n(a, void *, n);
    for (size_t i = 0; i < n; i++) {
        l[i] = (looker){p, of, at, 0};
        guest[i] = &l[i];
    }
    tc_visit visit = {.samples = samples, .what = "samples, groups of channels", .guest = guest,
                      .enter = enter, .see = look};
    TC_TRY(ti_runner_run(runner, &visit));
    ti_runner_end(runner);
    return TC_OK;
}

/* ---- groups ---- */

/* The mean over samples of a channel's largest magnitude: one sample does not decide. */
static void find_ranges(const grouping *p, const candidate *c, link *l, size_t n_sample)
{
    l->range = tc_new_n(&p->ctx->arena, double, (size_t)c->n);
    for (int64_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < n_sample; i++)
            l->range[k] += (double)p->seen[i * p->n_place + l->place + (size_t)k];
}

static double widest(const candidate *c, const link *l)
{
    double most = 0;
    for (int64_t k = 0; k < c->n; k++)
        most = fmax(most, l->range[k]);
    return most;
}

/* By the noise that a channel would make with scales of its own. */
static void sort_channels(const grouping *p, candidate *c)
{
    double *key = tc_new_n(&p->ctx->arena, double, (size_t)c->n);
    for (int i = 0; i < c->n_link; i++) {
        const link *l = &c->link[i];
        double whole = widest(c, l);
        for (int64_t k = 0; k < c->n && whole > 0; k++)
            key[k] += l->noise * (l->range[k] / whole) * (l->range[k] / whole);
    }
    c->order = tc_new_n(&p->ctx->arena, int64_t, (size_t)c->n);
    for (int64_t k = 0, i; k < c->n; k++) {
        for (i = k; i > 0 && key[c->order[i - 1]] > key[k]; i--)
            c->order[i] = c->order[i - 1];
        c->order[i] = k;
    }
}

/* Where group g begins; GROUPS: the end. */
static int64_t group_at(const candidate *c, int g)
{
    return c->n / c->unit * g / GROUPS * c->unit;
}

/* Factors, and the share of the squared error of a grid that groups remove. */
static double find_factors(const grouping *p, const candidate *c, link *l)
{
    double whole = widest(c, l), left = 0;
    l->factor = tc_new_n(&p->ctx->arena, double, (size_t)c->n);
    for (int g = 0; g < GROUPS && whole > 0; g++) {
        int64_t from = group_at(c, g), to = group_at(c, g + 1);
        double s = LEAST;
        for (int64_t k = from; k < to; k++)
            s = fmax(s, l->range[c->order[k]] / whole);
        for (int64_t k = from; k < to; k++)
            l->factor[k] = s;
        left += s * s * (double)(to - from) / (double)c->n;
    }
    return whole > 0 ? 1 - left : 0;
}

/* Those that gain most, more than this share of what all would; *n of them, 0: less than `least`. */
static void choose(grouping *p, double share, double least, size_t *n)
{
    double all = 0, taken = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->of[i].ranked = false;
        all += p->of[i].gain;
    }
    for (*n = 0; *n < TC_GROUPED_MOST; (*n)++) {
        candidate *best = NULL;
        for (size_t i = 0; i < p->n; i++)
            if (!p->of[i].ranked && p->of[i].gain > (best ? best->gain : share * all))
                best = &p->of[i];
        if (!(p->loud[*n] = best))
            break;
        best->ranked = true;
        taken += best->gain;
    }
    *n = taken < least ? 0 : *n;
}

/* Values whose channels are sorted, up to the layer that takes that. */
static void follow(grouping *p)
{
    for (tc_val v = 0; v < p->g->n_val; v++)
        p->sorted[v] = -1;
    for (size_t i = 0; i < p->n; i++) {
        tc_val v = p->of[i].link->curve->out[0];
        for (const tc_node *node = p->of[i].link->curve; p->of[i].taken && !mixes_all(p->g, node);
             node = only_reader(p, v)) {
            v = node->out[0];
            p->sorted[v] = (int32_t)i;
        }
    }
}

/* ---- the new graph ---- */

/* Rows `order[0 .. n-1]` of a constant, times a factor for each. */
static tc_tensor rows_of(tc_ctx *ctx, tc_tensor t, const int64_t *order, const double *factor,
                         int64_t n)
{
    tc_type type = *t.type;
    int64_t each = tc_type_count(t.type) / t.type->dim[0];
    type.dim[0] = n;
    tc_tensor made = ti_tensor_new(&ctx->arena, ti_type_intern(ctx, &type));
    for (int64_t i = 0; i < n * each; i++)
        ti_store_f64(made, i, ti_load_f64(t, order[i / each] * each + i % each) *
                                  (factor ? factor[i / each] : 1));
    return made;
}

/* Columns of a layer's weights, likewise. */
static tc_tensor columns_of(tc_ctx *ctx, tc_tensor w, const candidate *c, const double *factor)
{
    tc_tensor made = ti_tensor_new(&ctx->arena, w.type);
    int64_t taps = tc_type_count(w.type) / (w.type->dim[0] * c->n);
    for (int64_t i = 0; i < tc_type_count(w.type); i++) {
        int64_t k = i / taps % c->n, old = i + (c->order[k] - k) * taps;
        ti_store_f64(made, i, ti_load_f64(w, old) * (factor ? factor[k] : 1));
    }
    return made;
}

/* What the channels of a sorted value were made larger by; NULL: by nothing. */
static const double *factor_of(const candidate *c, tc_val v)
{
    for (int k = 0; k < c->n_link; k++)
        if (c->link[k].curve->out[0] == v)
            return c->link[k].factor;
    return NULL;
}

/* The weights of a layer or of a depthwise one, for operands that are sorted. */
static tc_tensor weights_of(tc_ctx *ctx, const grouping *p, const tc_node *node)
{
    tc_tensor w = ti_tensor_of(p->g, node->in[1]);
    int32_t at = p->sorted[node->in[0]];
    if (at < 0)
        return w;
    const candidate *c = &p->of[at];
    const double *factor = factor_of(c, node->in[0]);
    return mixes_all(p->g, node) ? columns_of(ctx, w, c, factor)
                                 : rows_of(ctx, w, c->order, factor, c->n);
}

/* Channels from .. from + n - 1 of the result, out of operands that are sorted where the layer is
 * depthwise. */
static tc_val layer_of(tc_build *b, const tc_rewrite *rw, const grouping *p, const candidate *c,
                       const tc_node *layer, int64_t from, int64_t n)
{
    bool mixes = mixes_all(p->g, layer), has = layer->n_in > 2 && layer->in[2];
    tc_val in[3] = {rw->now[layer->in[0]], TC_NONE, TC_NONE};
    const double *factor = mixes ? NULL : factor_of(c, layer->in[0]);
    tc_tensor w = mixes ? weights_of(rw->ctx, p, layer) : ti_tensor_of(rw->from, layer->in[1]);
    const void *attr = layer->attr;
    in[1] = ti_b_const(b, rows_of(rw->ctx, w, c->order + from, factor ? factor + from : NULL, n), NULL);
    if (has)
        in[2] = ti_b_const(b, rows_of(rw->ctx, ti_tensor_of(rw->from, layer->in[2]), c->order + from,
                                      NULL, n), NULL);
    if (!mixes) {
        tc_attr_conv *part = ti_arena_copy(&rw->ctx->arena, layer->attr, sizeof *part);
        part->groups = n;
        attr = part;
        in[0] = ti_b_slice(b, in[0], c->axis, from, from + n, 1);
    }
    b->loc = layer->loc;
    return in[0] ? ti_b_op(b, layer->op, attr, in, 3) : in[0];
}

/* The curve times a number, as a formula; NULL: it is none. */
static const char *formula_of(tc_arena *a, const tc_graph *g, const tc_node *curve, double by)
{
    const char *text = NULL;
    if (curve->op == TC_OP_function)
        text = ((const tc_attr_function *)curve->attr)->formula;
    else if (ti_formula_takes(g, curve))
        text = ti_formula_write(a, g, curve->in[0], &curve, 1);
    const char *last = text ? strrchr(text, ';') : NULL;
    int head = last ? (int)(last + 1 - text) : 0;
    return text ? ti_text_format(a, "%.*s%s(%s) * %.9g", head, text, head ? " " : "", text + head,
                                 (double)(float)by)
                : NULL;
}

/* The same of x: one function, so that nothing is rounded between. */
static tc_val curve_of(tc_build *b, const tc_graph *g, const tc_node *curve, tc_val x, double by)
{
    const char *text = by == 1 ? NULL : formula_of(&b->ctx->arena, g, curve, by);
    if (!x)
        return x;
    if (text)
        return ti_b_1(b, function, ti_b_attr(b, function, text), x);
    x = ti_b_op(b, curve->op, curve->attr, &x, 1);
    return x ? ti_b_mul_n(b, x, by) : x;
}

/* Instead of the curve: layers, curves and factors by group, put together. */
static tc_status put_groups(tc_rewrite *rw, const grouping *p, const candidate *c, const link *l,
                            bool *done)
{
    tc_build b = ti_build_instead(rw, l->curve);
    tc_val part[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        int64_t from = group_at(c, g), n = group_at(c, g + 1) - from;
        tc_val x = layer_of(&b, rw, p, c, l->layer, from, n);
        b.loc = l->curve->loc;
        part[g] = curve_of(&b, p->g, l->curve, x, 1 / l->factor[from]);
    }
    tc_val all = b.status == TC_OK ? ti_b_cat(&b, c->axis, part, GROUPS) : TC_NONE;
    if (b.status != TC_OK || !all)
        return b.status;
    TC_TRY(ti_rewrite_with(rw, l->curve, all, done));
    rw->to->val[all]->name = NULL; /* not the model's numbers */
    return TC_OK;
}

static tc_status change(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const grouping *p = rw->user;
    const tc_graph *g = rw->from;
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; p->of[i].taken && k < p->of[i].n_link; k++) {
            const link *l = &p->of[i].link[k];
            if (node == l->layer) {
                *done = true;
                return TC_OK;
            }
            if (node == l->curve)
                return put_groups(rw, p, &p->of[i], l, done);
        }
    int32_t at = node->n_in && node->in[0] ? p->sorted[node->in[0]] : -1;
    if (at < 0)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in[3] = {rw->now[node->in[0]], TC_NONE, TC_NONE};
    if (is_curve(node))
        return TC_OK;
    in[1] = ti_b_const(&b, weights_of(rw->ctx, p, node), g->val[node->in[1]]->name);
    if (node->n_in > 2 && node->in[2])
        in[2] = mixes_all(g, node) ? rw->now[node->in[2]]
                                   : ti_b_const(&b, rows_of(rw->ctx, ti_tensor_of(g, node->in[2]),
                                                            p->of[at].order, NULL, p->of[at].n), NULL);
    return ti_b_again(&b, in, 3, done);
}

/* Sorted channels are not the model's value. */
static void forget_names(const grouping *p, tc_graph *g)
{
    for (tc_val v = 1; v < p->g->n_val; v++)
        if (p->sorted[v] >= 0 && p->g->val[v]->name)
            for (tc_val w = 1; w < g->n_val; w++)
                if (g->val[w]->name == p->g->val[v]->name)
                    g->val[w]->name = NULL;
}

/* ---- the whole ---- */

tc_groups *ti_groups_find(tc_ctx *ctx, tc_module *module, const tc_domains *domains)
{
    tc_arena *a = &ctx->arena;
    tc_graph *g = ti_main(module);
    grouping *p = tc_new(a, grouping);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    *p = (grouping){.ctx = ctx, .module = module, .g = g, .domains = domains,
                    .of = tc_new_n(a, candidate, g->n_node),
                    .reader = tc_new_n(a, const tc_node *, g->n_val),
                    .sorted = tc_new_n(a, int32_t, g->n_val)};
    p->readers = ti_arena_copy(a, ti_graph_readers(ctx, g), g->n_val * sizeof *p->readers);
    p->pinned = ti_arena_copy(a, ti_graph_pinned(ctx, g), g->n_val * sizeof *p->pinned);
    ti_arena_rewind(&ctx->scratch, mark);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            p->reader[g->node[k]->in[i]] = g->node[k];
    find_candidates(p);
    return p->n ? p : NULL;
}

/* More than the noise of a candidate's grids no groups remove. */
static tc_status measure_noise(grouping *p, const tc_quant_request *request)
{
    const int32_t *of = p->domains->of;
    double *noise = tc_new_n(&p->ctx->arena, double, p->domains->n);
    bool *watched = tc_new_n(&p->ctx->arena, bool, p->domains->n);
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; k < p->of[i].n_link; k++)
            watched[of[p->of[i].link[k].layer->out[0]]] =
                watched[of[p->of[i].link[k].curve->out[0]]] = true;
    TC_TRY(ti_quant_noise(p->ctx, p->module, request, p->domains, watched, noise));
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; k < p->of[i].n_link; k++) {
            link *l = &p->of[i].link[k];
            l->noise = noise[of[l->layer->out[0]]] + noise[of[l->curve->out[0]]];
            p->of[i].gain += l->noise;
        }
    return TC_OK;
}

tc_status ti_groups_rank(tc_groups *p, const tc_quant_request *request, double least, size_t *n)
{
    tc_samples samples;
    TC_TRY(measure_noise(p, request));
    choose(p, 0, least, n);
    if (!*n) /* not even if groups removed all of it */
        return TC_OK;
    TC_TRY(ti_choose_samples(p->ctx, p->g, &request->samples, p->domains, SAMPLES, &samples));
    TC_TRY(look_at(p, ti_main(p->module), &samples));
    for (size_t i = 0; i < p->n; i++) {
        candidate *c = &p->of[i];
        for (int k = 0; k < c->n_link; k++)
            find_ranges(p, c, &c->link[k], samples.n);
        sort_channels(p, c);
        c->gain = 0;
        for (int k = 0; k < c->n_link; k++)
            c->gain += find_factors(p, c, &c->link[k]) * c->link[k].noise;
    }
    ti_chosen_end(&samples);
    choose(p, SHARE, least, n);
    return TC_OK;
}

tc_status ti_groups_form(tc_groups *p, tc_module *copy, uint32_t only)
{
    static tc_rewriter *const rewriters[] = {change};
    tc_graph *g = ti_main(copy), was = *g;
    for (size_t i = 0; i < TC_GROUPED_MOST && p->loud[i]; i++)
        p->loud[i]->taken = only >> i & 1;
    p->g = &was;
    follow(p);
    tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), p);
    if (status == TC_OK)
        forget_names(p, g);
    p->g = ti_main(p->module);
    return status;
}
