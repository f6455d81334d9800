/* SPDX-License-Identifier: Apache-2.0 */
/* correct.c -- weights and biases of the typed program, corrected product by product.
 *
 * The real and the typed program run side by side over a few samples, all samples abreast: after
 * each convolution or linear layer, in the order of the graph, its weights may be rounded anew
 * (feedback.c), and channel c of the typed one is moved by
 *
 *   d_c = mean(real - typed)       over samples and positions, before the activation
 *
 * rounded to the grid of the bias, and the run goes on with the new numbers.  New codes of a row
 * are kept only if they lower its error on samples that had no part in finding them.  Which
 * samples: those with the least content hash, so that their order does not matter; sums are taken
 * in that order. */
#include "quant.h"

#include <math.h>

#include "../ir/rewrite.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "../run/plan.h"
#include "feedback.h"
#include "gram.h"
#include "pairs.h"
#include "sample_runner.h"
#include "seen.h"

enum {
    MOST_SAMPLES = 32,
    LEAST_SAMPLES = 4,
    TRY_EVERY = 4 /* samples: new codes are tried on it */
};
enum { REAL, TYPED }; /* the two programs */
static const size_t MOST_BYTES = (size_t)3 << 27; /* of activations that are alive at once */

/* A convolution or linear layer. */
typedef struct product {
    tc_pair pair;
    int axis;          /* of the channels in the result */
    int64_t n;         /* channels */
    double positions;  /* numbers in a channel */
    int64_t *move;     /* by channel: steps of the bias */
    bool rounds;       /* its weights are rounded anew */
    tc_columns shape;
    tc_setting setting;
    tc_tensor codes;   /* new ones; data NULL: as they were */
} product;

/* What is kept of a product's input until its turn comes. */
typedef struct kept {
    tc_arena room;
    float *window[2];
    tc_tensor input; /* of the typed program, whole */
    int8_t order[TC_MAX_RANK];
} kept;

/* One of the two programs on one sample. */
typedef struct side {
    struct runner *runner;
    int which;
    tc_watch watch;
    tc_plan *plan;
    tc_tensor *in, seen;
    const int8_t *order;
} side;

typedef struct runner {
    struct correction *c;
    side side[2];
    kept *kept;          /* by product */
    tc_status status;
    int failed;
} runner;

typedef struct correction {
    tc_ctx *ctx;
    tc_graph *graph[2]; /* the real program; the typed one as float arithmetic */
    const tc_samples *samples;
    const tc_correction *how;
    product *product;
    size_t n_product;
    int64_t widest; /* channels */
    tc_samples picked;
    runner *runner;
    const product *now; /* the product in hand */
    float *by;          /* weights that are added, or channels' moves */
    size_t n_thread, n_done;
} correction;

/* ---- products ---- */

/* Rows that are worth it and that nobody else reads. */
static void may_round(const correction *c, product *p, const tc_graph *typed,
                      const uint32_t *readers)
{
    tc_level level;
    const tc_node *real = p->pair.real;
    const tc_graph *g = c->graph[REAL];
    const tc_quant *q = tc_type_of(typed, p->pair.typed->in[1])->quant;
    tc_tensor w = tc_tensor_of(g, real->in[1]);
    p->setting =
        tc_config_scheme(c->how->config, real->loc, g->val[real->out[0]]->name, &level).weight;
    p->rounds = c->how->longest && readers[p->pair.typed->in[1]] == 1 && w.data &&
                w.type->dtype == TC_f32 && q->axis <= 0;
}

static void find_products(correction *c, const tc_graph *typed)
{
    const tc_graph *sim = c->graph[TYPED];
    tc_pair *pair = tc_new_n(&c->ctx->arena, tc_pair, typed->n_node);
    tc_mark mark = tc_arena_mark(&c->ctx->scratch);
    const uint32_t *readers = tc_graph_readers(c->ctx, typed);
    c->n_product = tc_pairs_find(c->graph[REAL], typed, sim, pair);
    c->product = tc_new_n(&c->ctx->arena, product, c->n_product);
    for (size_t i = 0; i < c->n_product; i++) {
        const tc_node *node = pair[i].sim;
        const tc_type *y = tc_type_of(sim, node->out[0]), *w = tc_type_of(sim, node->in[1]);
        product *p = &c->product[i];
        *p = (product){.pair = pair[i]};
        p->axis = node->op == TC_OP_linear ? y->rank - 1 : y->rank - 1 - (w->rank - 2);
        p->n = y->dim[p->axis];
        p->positions = (double)(tc_type_count(y) / p->n);
        p->move = tc_new_n(&c->ctx->arena, int64_t, (size_t)p->n);
        c->widest = tc_max_i64(c->widest, p->n);
        may_round(c, p, typed, readers);
    }
    tc_arena_rewind(&c->ctx->scratch, mark);
}

/* ---- sums by channel ---- */

/* The tensor as it lies, seen from logical axis `axis`: outer blocks of n rows of `inner` numbers.
 */
static void extents(tc_tensor t, const int8_t *order, int axis, int64_t *outer, int64_t *inner)
{
    int at = 0;
    *outer = *inner = 1;
    while (order[at] != axis)
        at++;
    for (int i = 0; i < at; i++)
        *outer *= t.type->dim[i];
    for (int i = at + 1; i < t.type->rank; i++)
        *inner *= t.type->dim[i];
}

static void sum_channels(tc_tensor t, const int8_t *order, int axis, int64_t n, double *sum)
{
    int64_t outer, inner;
    extents(t, order, axis, &outer, &inner);
    tc_channel_sums(t.data, outer, n, inner, sum);
}

static void move_channels(tc_tensor t, const int8_t *order, int axis, int64_t n, const float *by)
{
    int64_t outer, inner;
    extents(t, order, axis, &outer, &inner);
    tc_channel_move(t.data, outer, n, inner, by);
}

/* Numbers of channel i of both programs, as they lie: the sum of real - typed, and of its square.
 */
static void add_errors(const runner *r, int axis, int64_t n, double *sum, double *square)
{
    const side *a = &r->side[REAL], *b = &r->side[TYPED];
    int64_t outer, inner;
    extents(b->seen, b->order, axis, &outer, &inner);
    const float *x = a->seen.data, *y = b->seen.data;
    for (int64_t o = 0; o < outer; o++, x += n * inner, y += n * inner) {
        if (inner == 1) {
            tc_gram_errors(x, y, n, sum, square);
            continue;
        }
        for (int64_t k = 0; k < n * inner; k += inner, sum++, square++)
            for (int64_t i = k; i < k + inner; i++) {
                double e = (double)x[i] - (double)y[i];
                *sum += e;
                *square += e * e;
            }
        sum -= n;
        square -= n;
    }
}

/* ---- both programs, all samples abreast ---- */

static void keep_input(const side *s, size_t i, tc_tensor seen, const int8_t *order)
{
    const product *p = &s->runner->c->product[i];
    kept *k = &s->runner->kept[i];
    size_t n = (size_t)(p->shape.each * p->shape.groups * p->shape.k);
    k->window[s->which] = tc_arena_raw(&k->room, n * sizeof(float));
    tc_columns_take(&p->shape, seen, order, (size_t)(s->runner - s->runner->c->runner),
                    k->window[s->which]);
    if (s->which == REAL)
        return;
    k->input = (tc_tensor){tc_arena_copy(&k->room, seen.type, sizeof *seen.type),
                           tc_arena_copy(&k->room, seen.data, tc_type_bytes(seen.type))};
    memcpy(k->order, order, sizeof k->order);
}

static const tc_node *node_of(const product *p, int which)
{
    return which == REAL ? p->pair.real : p->pair.sim;
}

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    side *s = who;
    const correction *c = s->runner->c;
    for (size_t i = c->n_done; i < c->n_product; i++)
        if (c->product[i].rounds && node_of(&c->product[i], s->which)->in[0] == v)
            keep_input(s, i, seen, order);
    if (v != node_of(c->now, s->which)->out[0])
        return;
    s->seen = seen;
    s->order = order;
}

/* A plan does not show what it is given. */
static void see_inputs(side *s)
{
    static const int8_t plain[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    const tc_graph *g = s->runner->c->graph[s->which];
    for (size_t i = 0; i < g->n_in; i++)
        see(s, g->in[i], s->in[i], plain);
}

static void advance(void *what, size_t i, tc_arena *room)
{
    const correction *c = what;
    runner *r = &c->runner[i];
    for (size_t k = c->n_done; k < c->n_product; k++)
        r->kept[k].room.oom = room->oom;
    for (int k = 0; k < 2 && !r->status; k++) {
        tc_plan_on_oom(r->side[k].plan, room->oom);
        r->failed = k;
        if (!c->n_done)
            see_inputs(&r->side[k]);
        r->status = tc_plan_go(r->side[k].plan, node_of(c->now, k)->out[0]);
    }
}

static tc_status advance_all(correction *c)
{
    tc_each(c->ctx, c->picked.n, c->n_thread, advance, c);
    for (size_t i = 0; i < c->picked.n; i++)
        if (c->runner[i].status)
            return tc_plan_explain(c->runner[i].side[c->runner[i].failed].plan);
    return TC_OK;
}

/* ---- weights ---- */

static double weight_step(const tc_type *w, int64_t c)
{
    return w->quant->scale[w->quant->axis >= 0 ? c : 0];
}

/* What the results become with weights that are by[] more. */
static void add_weights(void *what, size_t i, tc_arena *room)
{
    const correction *c = what;
    const product *p = c->now;
    runner *r = &c->runner[i];
    kept *k = &r->kept[p - c->product];
    tc_columns_multiply(&p->shape, room, k->input, k->order, c->by, r->side[TYPED].seen,
                        r->side[TYPED].order);
}

/* Errors by channel of the samples on which new codes are tried. */
static void try_out(correction *c, double *variance)
{
    tc_mark mark = tc_arena_mark(&c->ctx->scratch);
    const product *p = c->now;
    double *sum = tc_new_n(&c->ctx->scratch, double, (size_t)p->n), n = 0;
    memset(variance, 0, (size_t)p->n * sizeof *variance);
    for (size_t i = 0; i < c->picked.n; i += TRY_EVERY, n += p->positions)
        add_errors(&c->runner[i], p->axis, p->n, sum, variance);
    for (int64_t k = 0; k < p->n; k++)
        variance[k] -= sum[k] * sum[k] / n;
    tc_arena_rewind(&c->ctx->scratch, mark);
}

/* Rows of the new codes that do not pay are taken back. */
static void keep_good_rows(correction *c, product *p, tc_tensor old, const double *before,
                           const double *after)
{
    int64_t k = p->shape.k;
    bool any = false;
    memset(c->by, 0, (size_t)(p->shape.rows * k) * sizeof *c->by);
    for (int64_t i = 0; i < p->n; i++) {
        bool good = after[i] < before[i];
        any = any || !good;
        for (int64_t j = i * k; j < (i + 1) * k && !good; j++) {
            int64_t was = tc_load_i64(old, j), is = tc_load_i64(p->codes, j);
            c->by[j] = (float)((double)(was - is) * weight_step(old.type, i));
            tc_store_i64(p->codes, j, was);
        }
        c->how->result->rows += 1;
        c->how->result->rows_kept += good;
    }
    if (any)
        tc_each(c->ctx, c->picked.n, c->n_thread, add_weights, c);
}

static void round_weights(correction *c, const tc_graph *typed, product *p)
{
    tc_mark mark = tc_arena_mark(&c->ctx->scratch);
    tc_arena *scratch = &c->ctx->scratch;
    tc_tensor old = tc_tensor_of(typed, p->pair.typed->in[1]);
    size_t count = (size_t)tc_type_count(old.type), n = 0;
    double *before = tc_new_n(scratch, double, (size_t)p->n),
           *after = tc_new_n(scratch, double, (size_t)p->n);
    tc_windows *window = tc_new_n(scratch, tc_windows, c->picked.n);
    for (size_t i = 0; i < c->picked.n; i++) {
        const kept *k = &c->runner[i].kept[p - c->product];
        if (i % TRY_EVERY)
            window[n++] = (tc_windows){k->window[REAL], k->window[TYPED]};
    }
    tc_feedback f = {.ctx = c->ctx,
                     .n_thread = tc_each_threads(c->ctx, MOST_SAMPLES),
                     .shape = &p->shape,
                     .real = tc_tensor_of(c->graph[REAL], p->pair.real->in[1]),
                     .codes = old,
                     .setting = &p->setting,
                     .window = window,
                     .n_window = n};
    p->codes = tc_feedback_codes(&f);
    try_out(c, before);
    c->by = tc_new_n(scratch, float, count);
    for (size_t i = 0; i < count; i++)
        c->by[i] = (float)((double)(tc_load_i64(p->codes, (int64_t)i) -
                                    tc_load_i64(old, (int64_t)i)) *
                           weight_step(old.type, (int64_t)i / p->shape.k));
    tc_each(c->ctx, c->picked.n, c->n_thread, add_weights, c);
    try_out(c, after);
    keep_good_rows(c, p, old, before, after);
    tc_arena_rewind(scratch, mark);
}

/* Both programs have the product's input, and it lies the same way in both results. */
static bool can_round(const correction *c, const product *p)
{
    const runner *r = c->runner;
    const kept *k = &r->kept[p - c->product];
    if (!p->rounds || c->picked.n < 2 || !k->window[REAL] || !k->window[TYPED])
        return false;
    return !memcmp(r->side[REAL].order, r->side[TYPED].order,
                   (size_t)r->side[TYPED].seen.type->rank);
}

static void forget(void *what)
{
    const correction *c = what;
    for (size_t i = 0; i < c->picked.n; i++)
        for (size_t k = 0; k < c->n_product && c->runner[i].kept; k++)
            tc_arena_free(&c->runner[i].kept[k].room);
}

/* ---- biases ---- */

/* The step of the bias in channel k: input scale times weight scale. */
static double bias_step(const tc_graph *typed, const product *p, int64_t k)
{
    const tc_type *x = tc_type_of(typed, p->pair.typed->in[0]),
                  *w = tc_type_of(typed, p->pair.typed->in[1]);
    tc_val b = p->pair.typed->n_in > 2 ? p->pair.typed->in[2] : TC_NONE;
    if (b) {
        const tc_quant *q = tc_type_of(typed, b)->quant;
        return q->scale[q->axis >= 0 ? k : 0];
    }
    return (double)(float)(x->quant->scale[0] * w->quant->scale[k % w->quant->count]);
}

/* How far each channel has to move, in steps, and the samples in hand with it. */
static void move(correction *c, const tc_graph *typed, const product *p)
{
    tc_mark mark = tc_arena_mark(&c->ctx->scratch);
    float *by = tc_new_n(&c->ctx->scratch, float, (size_t)p->n);
    double *real = tc_new_n(&c->ctx->scratch, double, (size_t)p->n),
           *own = tc_new_n(&c->ctx->scratch, double, (size_t)p->n),
           *d = tc_new_n(&c->ctx->scratch, double, (size_t)p->n);
    for (size_t i = 0; i < c->picked.n; i++) {
        const side *s = c->runner[i].side;
        memset(real, 0, (size_t)p->n * sizeof *real);
        memset(own, 0, (size_t)p->n * sizeof *own);
        sum_channels(s[REAL].seen, s[REAL].order, p->axis, p->n, real);
        sum_channels(s[TYPED].seen, s[TYPED].order, p->axis, p->n, own);
        for (int64_t k = 0; k < p->n; k++)
            d[k] += real[k] - own[k];
    }
    for (int64_t k = 0; k < p->n; k++) {
        double step = bias_step(typed, p, k),
               steps = rint(d[k] / (p->positions * (double)c->picked.n) / step);
        p->move[k] = fabs(steps) < 0x1p30 ? (int64_t)steps : 0; /* NaN does not move anything */
        by[k] = (float)((double)p->move[k] * step);
    }
    for (size_t i = 0; i < c->picked.n; i++)
        move_channels(c->runner[i].side[TYPED].seen, c->runner[i].side[TYPED].order, p->axis, p->n,
                      by);
    tc_arena_rewind(&c->ctx->scratch, mark);
}

/* Samples are real; an input of the typed program may be integers. */
static tc_status start_runner(correction *c, runner *r, size_t k)
{
    const tc_graph *sim = c->graph[TYPED];
    void *const *state = c->picked.state(c->picked.from, k);
    r->c = c;
    r->kept = tc_new_n(&c->ctx->arena, kept, c->n_product);
    for (size_t i = 0; i < c->n_product; i++)
        tc_arena_init_like(&r->kept[i].room, &c->ctx->arena);
    side *a = &r->side[REAL], *b = &r->side[TYPED];
    a->in = tc_input_buffers(c->ctx, c->graph[REAL]);
    b->in = tc_input_buffers(c->ctx, sim);
    TC_TRY(c->picked.read(c->picked.from, k, a->in));
    for (size_t i = 0; i < sim->n_in; i++)
        if (b->in[i].type->quant)
            tc_quantize_into(a->in[i], b->in[i]);
        else
            b->in[i] = a->in[i];
    for (int i = 0; i < 2; i++)
        tc_plan_start(r->side[i].plan, r->side[i].in, state);
    return TC_OK;
}

static tc_status run_both(correction *c, const tc_graph *typed)
{
    for (size_t i = 0; i < c->n_product; i++) {
        product *p = &c->product[i];
        c->now = p;
        TC_TRY(advance_all(c));
        if (can_round(c, p))
            round_weights(c, typed, p);
        if (c->how->biases)
            move(c, typed, p);
        c->n_done = i + 1;
        for (size_t k = 0; k < c->picked.n; k++)
            tc_arena_free(&c->runner[k].kept[i].room);
        if (c->samples->progress)
            c->samples->progress(c->samples->who, "weights and biases", i + 1, c->n_product);
    }
    return TC_OK;
}

/* ---- new constants ---- */

static const product *product_of(const correction *c, const tc_node *typed)
{
    for (size_t i = 0; i < c->n_product; i++)
        if (c->product[i].pair.typed == typed)
            return &c->product[i];
    return NULL;
}

/* The type of a bias where there is none yet. */
static const tc_type *new_bias_type(tc_rewrite *rw, const product *p)
{
    bool wide = tc_dtypes[tc_type_of(rw->from, p->pair.typed->in[0])->dtype].bits > 8;
    double *scale = tc_new_n(&rw->ctx->scratch, double, (size_t)p->n);
    int64_t *zero = tc_new_n(&rw->ctx->scratch, int64_t, (size_t)p->n),
            most = tc_dtype_max(wide ? TC_i48 : TC_i32);
    for (int64_t k = 0; k < p->n; k++)
        scale[k] = bias_step(rw->from, p, k);
    tc_quant q = {0, (int32_t)p->n, -most, most, scale, zero};
    tc_type type = {.dtype = wide ? TC_i48 : TC_i32, .rank = 1, .dim = {p->n}, .quant = &q};
    return tc_type_intern(rw->ctx, &type);
}

static tc_val new_bias(tc_rewrite *rw, const product *p)
{
    tc_val b = p->pair.typed->n_in > 2 ? p->pair.typed->in[2] : TC_NONE;
    const tc_type *type = b ? tc_type_of(rw->from, b) : new_bias_type(rw, p);
    tc_tensor codes = tc_tensor_new(&rw->ctx->arena, type);
    for (int64_t k = 0; k < tc_type_count(type); k++) {
        int64_t code = (b ? tc_load_i64(tc_tensor_of(rw->from, b), k) : 0) + p->move[k];
        tc_store_i64(codes, k, tc_max_i64(type->quant->lo, tc_min_i64(type->quant->hi, code)));
    }
    const tc_value *old = b ? rw->from->val[b] : NULL;
    return tc_graph_const(rw->to, type, codes.data, old ? old->name : NULL,
                          old ? old->def->loc : p->pair.typed->loc);
}

static tc_val new_codes(tc_rewrite *rw, const product *p)
{
    const tc_value *old = rw->from->val[p->pair.typed->in[1]];
    return tc_graph_const(rw->to, old->type, p->codes.data, old->name, old->def->loc);
}

static tc_status give_constants(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const correction *c = rw->user;
    const product *p = product_of(c, node);
    if (!p)
        return TC_OK;
    *done = true;
    tc_mark mark = tc_arena_mark(&rw->ctx->scratch);
    tc_val in[3] = {tc_rewrite_in(rw, node, 0)};
    in[1] = p->codes.data ? new_codes(rw, p) : tc_rewrite_in(rw, node, 1);
    bool has = node->n_in > 2 && node->in[2];
    in[2] = c->how->biases ? new_bias(rw, p) : has ? tc_rewrite_in(rw, node, 2) : TC_NONE;
    tc_arena_rewind(&rw->ctx->scratch, mark);
    tc_node *copy = tc_graph_add(rw->to, node->op, node->attr, in, in[2] ? 3 : node->n_in,
                                 node->n_out, node->loc);
    rw->to->val[copy->out[0]]->type = tc_type_of(rw->from, node->out[0]);
    rw->to->val[copy->out[0]]->name = rw->from->val[node->out[0]]->name;
    TC_TRY(tc_node_infer(rw->to, copy));
    tc_rewrite_bind(rw, node->out[0], copy->out[0]);
    return TC_OK;
}

/* ---- the whole ---- */

/* Windows of as many samples as there are, for rows of a length that is worth it. */
static void settle_shapes(correction *c)
{
    for (size_t i = 0; i < c->n_product; i++) {
        product *p = &c->product[i];
        p->rounds = p->rounds &&
                    tc_columns_of(c->graph[TYPED], p->pair.sim, c->picked.n, &p->shape) &&
                    p->shape.k <= c->how->longest && p->shape.rows == p->n;
    }
}

/* Plans for as many samples as memory is meant for. */
static tc_status prepare(correction *c, const tc_domains *domains)
{
    tc_arena *arena = &c->ctx->arena;
    bool *wanted[2];
    runner *r = c->runner = tc_new_n(arena, runner, MOST_SAMPLES);
    size_t bytes = 1;
    for (int i = 0; i < 2; i++) {
        wanted[i] = tc_new_n(arena, bool, c->graph[i]->n_val);
        for (size_t k = 0; k < c->n_product; k++) {
            wanted[i][node_of(&c->product[k], i)->out[0]] = true;
            if (c->product[k].rounds)
                wanted[i][node_of(&c->product[k], i)->in[0]] = true;
        }
        for (size_t k = 0; k < MOST_SAMPLES; k++) {
            r[k].side[i] = (side){.runner = &r[k], .which = i};
            r[k].side[i].watch = (tc_watch){wanted[i], see, &r[k].side[i]};
        }
        r[0].side[i].plan = tc_plan_new(c->ctx, c->graph[i], &r[0].side[i].watch);
        if (!r[0].side[i].plan)
            return tc_unsupported(c->ctx, NULL, TC_E_UNSUPPORTED,
                                  "the program holds operators whose biases cannot be corrected");
        bytes += tc_plan_bytes(r[0].side[i].plan);
    }
    size_t fit = MOST_BYTES / bytes;
    fit = fit < LEAST_SAMPLES ? LEAST_SAMPLES : fit < MOST_SAMPLES ? fit : MOST_SAMPLES;
    TC_TRY(tc_pick_samples(c->ctx, c->graph[REAL], c->samples, domains, fit, &c->picked));
    for (size_t k = 1; k < c->picked.n; k++)
        for (int i = 0; i < 2; i++) {
            r[k].side[i].plan = tc_plan_twin(r[0].side[i].plan, &r[k].side[i].watch);
            if (!r[k].side[i].plan)
                tc_arena_raw(arena, SIZE_MAX);
        }
    c->n_thread = 1;
    if (tc_plan_parallel(r[0].side[REAL].plan) && tc_plan_parallel(r[0].side[TYPED].plan))
        c->n_thread = tc_each_threads(c->ctx, c->picked.n);
    return TC_OK;
}

tc_status tc_quant_correct(tc_ctx *ctx, tc_module *real, tc_module *typed,
                           const tc_correction *how, const tc_samples *samples,
                           const tc_domains *domains)
{
    static tc_rewriter *const rewriters[] = {give_constants};
    tc_module *sim = tc_module_copy(typed);
    TC_TRY(tc_quant_simulate(ctx, sim));
    correction *c = tc_new(&ctx->arena, correction);
    *c = (correction){
        .ctx = ctx, .graph = {tc_main(real), tc_main(sim)}, .samples = samples, .how = how};
    find_products(c, tc_main(typed));
    if (!c->n_product || !samples->n)
        return TC_OK;
    TC_TRY(prepare(c, domains));
    if (!c->picked.n)
        return TC_OK;
    settle_shapes(c);
    c->now = c->product;
    for (size_t k = 0; k < c->picked.n; k++)
        TC_TRY(start_runner(c, &c->runner[k], k));
    tc_ctx_defer(ctx, forget, c);
    TC_TRY(run_both(c, tc_main(typed)));
    return tc_rewrite_graph(tc_main(typed), rewriters, TC_COUNT(rewriters), c);
}
