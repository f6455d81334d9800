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
#include "quantizer.h"

#include <math.h>

#include "../base/attempt.h"
#include "../base/mapped.h"
#include "../ir/rewrite.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "../run/plan.h"
#include "feedback.h"
#include "gram_matrix.h"
#include "layer_pairs.h"
#include "replace_weights.h"
#include "sample_runner.h"
#include "observations.h"

enum {
    MOST_SAMPLES = 32,
    LEAST_SAMPLES = 4,
    TRY_EVERY = 4, /* samples: new codes are tried on it */
    CHANNELS = 32, /* at a time */
    ROWS_BYTES = 4 << 20 /* of what is added to rows of weights at a time */
};
enum { REAL, TYPED }; /* the two programs */
static const size_t MOST_BYTES = (size_t)3 << 27; /* of activations that are alive at once */

/* A convolution or linear layer. */
typedef struct product {
    tc_pair pair;
    tc_replaced *out;
    int axis;          /* of the channels in the result */
    int64_t n;         /* channels */
    double positions;  /* numbers in a channel */
    bool rounds;       /* its weights are rounded anew */
    size_t keeper;     /* the last product with the same windows: what is kept is kept there */
    tc_columns shape;
    tc_setting setting;
} product;

/* What is kept of a product's input until its turn comes. */
typedef struct kept {
    tc_arena room;
    float *window[2]; /* NULL: not there yet; none where new codes are only tried */
    bool centred; /* their means are taken off */
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
    tc_replacement *out;
    product *product;
    size_t n_product;
    tc_samples picked;
    runner *runner;
    const product *now; /* the product in hand */
    float *by;          /* what is added to some rows of weights, or channels' moves */
    int64_t first_row, n_row; /* those rows */
    double *variance, *before, *after; /* by channel; after: NULL while that is not known */
    double *sums;       /* of the two programs, by sample and channel */
    tc_tensor old;      /* the codes of the product in hand as they were */
    size_t n_thread, n_part; /* for samples; for parts of other work */
    size_t n_done;
} correction;

/* ---- products ---- */

/* Rows that gain, and that have no other reader. */
static void may_round(const correction *c, product *p, const tc_graph *typed,
                      const uint32_t *readers)
{
    tc_level level;
    const tc_node *real = p->pair.real;
    const tc_graph *g = c->graph[REAL];
    const tc_quant *q = ti_type_of(typed, p->pair.typed->in[1])->quant;
    tc_tensor w = ti_tensor_of(g, real->in[1]);
    p->setting =
        ti_config_scheme(c->how->config, real->loc, g->val[real->out[0]]->name, &level).weight;
    p->rounds = c->how->longest && readers[p->pair.typed->in[1]] == 1 && w.data &&
                w.type->dtype == TC_f32 && q->axis <= 0 &&
                !ti_weights_are_known(c->how->config, ti_tensor_of(typed, p->pair.typed->in[1]).data);
}

static void find_products(correction *c, const tc_graph *typed)
{
    const tc_graph *sim = c->graph[TYPED];
    tc_pair *pair = tc_new_n(&c->ctx->arena, tc_pair, typed->n_node);
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    const uint32_t *readers = ti_graph_readers(c->ctx, typed);
    c->n_product = ti_pairs_find(c->graph[REAL], typed, sim, pair);
    c->product = tc_new_n(&c->ctx->arena, product, c->n_product);
    c->out->of = tc_new_n(&c->out->room, tc_replaced, c->n_product);
    c->out->n = c->n_product;
    for (size_t i = 0; i < c->n_product; i++) {
        const tc_node *node = pair[i].sim;
        const tc_type *y = ti_type_of(sim, node->out[0]), *w = ti_type_of(sim, node->in[1]);
        product *p = &c->product[i];
        *p = (product){.pair = pair[i]};
        p->axis = node->op == TC_OP_linear ? y->rank - 1 : y->rank - 1 - (w->rank - 2);
        p->n = y->dim[p->axis];
        p->positions = (double)(tc_type_count(y) / p->n);
        p->out = &c->out->of[i];
        *p->out = (tc_replaced){.typed = pair[i].typed,
                            .n = p->n,
                            .move = tc_new_n(&c->out->room, int64_t, (size_t)p->n)};
        may_round(c, p, typed, readers);
    }
    ti_arena_rewind(&c->ctx->scratch, mark);
}

/* ---- sums by channel ---- */

/* The tensor as stored, seen from logical axis `axis`: outer blocks of n rows of `inner` numbers.
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
    ti_channel_sums(t.data, outer, n, inner, sum);
}

static void move_channels(tc_tensor t, const int8_t *order, int axis, int64_t n, const float *by)
{
    int64_t outer, inner;
    extents(t, order, axis, &outer, &inner);
    ti_channel_move(t.data, outer, n, inner, by);
}

/* Channels first .. first+count-1 of both programs, as stored: the sum of real - typed, and of
 * its square. */
static void add_errors(const runner *r, const product *p, int64_t first, int64_t count, double *sum,
                       double *square)
{
    const side *a = &r->side[REAL], *b = &r->side[TYPED];
    int64_t outer, inner;
    extents(b->seen, b->order, p->axis, &outer, &inner);
    const float *x = (const float *)a->seen.data + first * inner,
                *y = (const float *)b->seen.data + first * inner;
    for (int64_t o = 0; o < outer; o++, x += p->n * inner, y += p->n * inner) {
        if (inner == 1) {
            ti_gram_errors(x, y, count, sum, square);
            continue;
        }
        for (int64_t k = 0; k < count; k++)
            for (int64_t i = k * inner; i < (k + 1) * inner; i++) {
                double e = (double)x[i] - (double)y[i];
                sum[k] += e;
                square[k] += e * e;
            }
    }
}

/* ---- both programs, all samples abreast ---- */

static void keep_input(const side *s, size_t i, tc_tensor seen, const int8_t *order)
{
    const product *p = &s->runner->c->product[i];
    kept *k = &s->runner->kept[i];
    size_t sample = (size_t)(s->runner - s->runner->c->runner),
           n = sample % TRY_EVERY ? (size_t)(p->shape.each * p->shape.groups * p->shape.k) : 0;
    k->window[s->which] = ti_arena_raw(&k->room, n * sizeof(float));
    if (n)
        ti_columns_take(&p->shape, seen, order, sample, k->window[s->which]);
    if (s->which == REAL)
        return;
    k->input = (tc_tensor){ti_arena_copy(&k->room, seen.type, sizeof *seen.type),
                           ti_arena_copy(&k->room, seen.data, tc_type_bytes(seen.type))};
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
        if (c->product[i].rounds && c->product[i].keeper == i &&
            node_of(&c->product[i], s->which)->in[0] == v)
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
        ti_plan_on_oom(r->side[k].plan, room->oom);
        r->failed = k;
        if (!c->n_done)
            see_inputs(&r->side[k]);
        r->status = ti_plan_go(r->side[k].plan, node_of(c->now, k)->out[0]);
        ti_plan_rest(r->side[k].plan, room);
    }
}

static tc_status advance_all(correction *c)
{
    ti_each(c->ctx, c->picked.n, c->n_thread, advance, c);
    for (size_t i = 0; i < c->picked.n; i++)
        if (c->runner[i].status)
            return ti_plan_explain(c->runner[i].side[c->runner[i].failed].plan);
    return TC_OK;
}

/* ---- weights ---- */

static double weight_step(const tc_type *w, int64_t c)
{
    return w->quant->scale[w->quant->axis >= 0 ? c : 0];
}

/* What the results become with rows of weights that are by[] more. */
static void add_weights(void *what, size_t i, tc_arena *room)
{
    const correction *c = what;
    const product *p = c->now;
    runner *r = &c->runner[i];
    const kept *k = &r->kept[p->keeper];
    ti_columns_multiply(&p->shape, room, k->input, k->order,
                        (tc_some_rows){c->first_row, c->n_row, c->by}, r->side[TYPED].seen,
                        r->side[TYPED].order);
}

/* Errors of CHANNELS channels, of the samples on which new codes are tried. */
static void try_some(void *what, size_t block, tc_arena *room)
{
    const correction *c = what;
    const product *p = c->now;
    int64_t first = (int64_t)block * CHANNELS, count = ti_min_i64(CHANNELS, p->n - first);
    double sum[CHANNELS] = {0}, n = 0, *variance = c->variance + first;
    (void)room;
    memset(variance, 0, (size_t)count * sizeof *variance);
    for (size_t i = 0; i < c->picked.n; i += TRY_EVERY, n += p->positions)
        add_errors(&c->runner[i], p, first, count, sum, variance);
    for (int64_t k = 0; k < count; k++)
        variance[k] -= sum[k] * sum[k] / n;
}

static void try_out(correction *c, double *variance)
{
    c->variance = variance;
    ti_each(c->ctx, (size_t)((c->now->n + CHANNELS - 1) / CHANNELS), c->n_part, try_some, c);
}

/* What the new codes of a row add to its weights; `after`: nothing, where they pay, and else they
 * are taken back. */
static void weigh_row(void *what, size_t i, tc_arena *room)
{
    const correction *c = what;
    const product *p = c->now;
    int64_t k = p->shape.k, row = c->first_row + (int64_t)i, first = row * k;
    float *to = c->by + (int64_t)i * k;
    tc_tensor old = c->old, new = p->out->codes;
    bool back = c->after != NULL, good = back && c->after[row] < c->before[row];
    double step = weight_step(old.type, row);
    (void)room;
    for (int64_t j = first; j < first + k; j++) {
        int64_t was = ti_load_i64(old, j), is = ti_load_i64(new, j);
        int64_t by = back ? was - is : is - was;
        to[j - first] = good ? 0 : (float)((double)by * step);
        if (back && !good)
            ti_store_i64(new, j, was);
    }
}

/* Both for all rows, some at a time: as real numbers all of them are many times the codes. */
static void weigh_rows(correction *c, const product *p)
{
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    int64_t row_bytes = ti_max_i64(1, p->shape.k) * (int64_t)sizeof *c->by,
            fit = ti_max_i64(1, ROWS_BYTES / row_bytes),
            each = p->shape.groups > 1 ? p->n : ti_min_i64(fit, p->n);
    c->by = ti_arena_raw(&c->ctx->scratch, (size_t)(each * row_bytes));
    for (int64_t first = 0; first < p->n; first += each) {
        c->first_row = first;
        c->n_row = ti_min_i64(each, p->n - first);
        ti_each(c->ctx, (size_t)c->n_row, c->n_part, weigh_row, c);
        ti_each(c->ctx, c->picked.n, c->n_thread, add_weights, c);
    }
    ti_arena_rewind(&c->ctx->scratch, mark);
}

/* Rows of the new codes that do not pay are taken back. */
static void keep_good_rows(correction *c, const product *p)
{
    size_t good = 0;
    for (int64_t i = 0; i < p->n; i++)
        good += c->after[i] < c->before[i];
    c->how->result->rows += (size_t)p->n;
    c->how->result->rows_kept += good;
    if (good < (size_t)p->n)
        weigh_rows(c, p);
}

static void round_weights(correction *c, const tc_graph *typed, product *p)
{
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    tc_arena *scratch = &c->ctx->scratch;
    tc_tensor old = ti_tensor_of(typed, p->pair.typed->in[1]);
    size_t n = 0;
    double *before = tc_new_n(scratch, double, (size_t)p->n),
           *after = tc_new_n(scratch, double, (size_t)p->n);
    tc_windows *window = tc_new_n(scratch, tc_windows, c->picked.n);
    for (size_t i = 0; i < c->picked.n; i++) {
        const kept *k = &c->runner[i].kept[p->keeper];
        if (i % TRY_EVERY)
            window[n++] = (tc_windows){k->window[REAL], k->window[TYPED]};
    }
    tc_feedback f = {.ctx = c->ctx,
                     .n_thread = c->n_part,
                     .shape = &p->shape,
                     .real = ti_tensor_of(c->graph[REAL], p->pair.real->in[1]),
                     .codes = old,
                     .setting = &p->setting,
                     .window = window,
                     .n_window = n,
                     .centred = c->runner[0].kept[p->keeper].centred,
                     .to = &c->out->room};
    c->runner[0].kept[p->keeper].centred = true;
    p->out->codes = ti_feedback_codes(&f);
    try_out(c, before);
    c->old = old;
    c->before = before;
    c->after = NULL;
    weigh_rows(c, p);
    try_out(c, after);
    c->after = after;
    keep_good_rows(c, p);
    ti_arena_rewind(scratch, mark);
}

/* Both programs have the layer's input, stored in the same order. */
static bool can_round(const correction *c, const product *p)
{
    const runner *r = c->runner;
    const kept *k = &r->kept[p->keeper];
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
            ti_arena_free(&c->runner[i].kept[k].room);
}

/* ---- biases ---- */

/* One sample's sums by channel: the real program's, then the typed one's. */
static void sum_sample(void *what, size_t i, tc_arena *room)
{
    const correction *c = what;
    const product *p = c->now;
    double *sum = c->sums + 2 * (int64_t)i * p->n;
    (void)room;
    for (int k = 0; k < 2; k++) {
        const side *s = &c->runner[i].side[k];
        sum_channels(s->seen, s->order, p->axis, p->n, sum + k * p->n);
    }
}

static void move_sample(void *what, size_t i, tc_arena *room)
{
    const correction *c = what;
    const side *s = &c->runner[i].side[TYPED];
    (void)room;
    move_channels(s->seen, s->order, c->now->axis, c->now->n, c->by);
}

/* How far each channel has to move, in steps, and the samples in hand with it. */
static void move(correction *c, const tc_graph *typed, const product *p)
{
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    c->by = tc_new_n(&c->ctx->scratch, float, (size_t)p->n);
    c->sums = tc_new_n(&c->ctx->scratch, double, 2 * c->picked.n * (size_t)p->n);
    ti_each(c->ctx, c->picked.n, c->n_part, sum_sample, c);
    for (int64_t k = 0; k < p->n; k++) {
        double d = 0, step = ti_replace_bias_step(typed, p->pair.typed, k);
        for (size_t i = 0; i < c->picked.n; i++) {
            const double *sum = c->sums + 2 * (int64_t)i * p->n + k;
            d += sum[0] - sum[p->n];
        }
        double steps = rint(d / (p->positions * (double)c->picked.n) / step);
        p->out->move[k] =
            fabs(steps) < 0x1p30 ? (int64_t)steps : 0; /* NaN does not move anything */
        c->by[k] = (float)((double)p->out->move[k] * step);
    }
    ti_each(c->ctx, c->picked.n, c->n_part, move_sample, c);
    ti_arena_rewind(&c->ctx->scratch, mark);
}

/* Samples are real; an input of the typed program may be integers. */
static tc_status start_runner(correction *c, runner *r, size_t k)
{
    const tc_graph *sim = c->graph[TYPED];
    void *const *state = c->picked.state(c->picked.from, k);
    r->c = c;
    r->kept = tc_new_n(&c->ctx->arena, kept, c->n_product);
    for (size_t i = 0; i < c->n_product; i++)
        ti_arena_init_like(&r->kept[i].room, &c->ctx->arena);
    side *a = &r->side[REAL], *b = &r->side[TYPED];
    a->in = ti_input_buffers(c->ctx, c->graph[REAL]);
    b->in = ti_input_buffers(c->ctx, sim);
    TC_TRY(c->picked.read(c->picked.from, k, a->in));
    for (size_t i = 0; i < sim->n_in; i++)
        if (b->in[i].type->quant)
            ti_quantize_into(a->in[i], b->in[i]);
        else
            b->in[i] = a->in[i];
    for (int i = 0; i < 2; i++)
        ti_plan_start(r->side[i].plan, r->side[i].in, state);
    return TC_OK;
}

static tc_status run_both(correction *c, const tc_graph *typed)
{
    for (size_t i = 0; i < c->n_product; i++) {
        product *p = &c->product[i];
        c->now = p;
        TC_TRY(advance_all(c));
        bool late = ti_clock_past(c->how->until);
        if (can_round(c, p) && !late)
            round_weights(c, typed, p);
        c->how->result->rounded -= p->rounds && late;
        if (c->how->biases)
            move(c, typed, p);
        c->n_done = i + 1;
        for (size_t k = 0; k < c->picked.n; k++)
            ti_arena_free(&c->runner[k].kept[i].room);
        tc_tensor w = ti_tensor_of(c->graph[REAL], p->pair.real->in[1]);
        if (w.data)
            ti_mapped_forget(c->ctx, w.data, tc_type_bytes(w.type));
        if (c->samples->progress)
            c->samples->progress(c->samples->who, "weights and biases", i + 1, c->n_product);
    }
    return TC_OK;
}

/* ---- the whole ---- */

/* Multiplications that rounding a product's rows together takes: sums over windows of all samples
 * but those on which codes are tried, and the descent. */
static double rounding_work(const correction *c, const product *p)
{
    size_t learned = c->picked.n - (c->picked.n + TRY_EVERY - 1) / TRY_EVERY;
    double k = (double)p->shape.k, windows = (double)p->shape.each * (double)learned;
    return 2 * ((double)p->shape.groups * windows + (double)p->shape.rows) * k * k;
}

static double work_per_weight(const correction *c, const product *p)
{
    return rounding_work(c, p) / (double)(p->shape.rows * p->shape.k);
}

/* Of the products those that take the least work for a weight, as many as the work is enough for;
 * of equal ones the first. */
static void keep_within_work(correction *c)
{
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    bool *taken = tc_new_n(&c->ctx->scratch, bool, c->n_product);
    double left = c->how->work;
    for (;;) {
        const product *best = NULL;
        for (size_t i = 0; i < c->n_product; i++) {
            const product *p = &c->product[i];
            if (p->rounds && !taken[i] &&
                (!best || work_per_weight(c, p) < work_per_weight(c, best)))
                best = p;
        }
        if (!best || rounding_work(c, best) > left)
            break;
        left -= rounding_work(c, best);
        taken[best - c->product] = true;
        c->how->result->rounded++;
    }
    for (size_t i = 0; i < c->n_product; i++)
        c->product[i].rounds = taken[i];
    ti_arena_rewind(&c->ctx->scratch, mark);
}

static bool same_windows(const product *a, const product *b)
{
    return a->pair.real->in[0] == b->pair.real->in[0] && a->pair.sim->in[0] == b->pair.sim->in[0] &&
           !a->shape.axes && !b->shape.axes && a->shape.k == b->shape.k &&
           a->shape.each == b->shape.each && a->shape.position == b->shape.position;
}

/* Windows of as many samples as there are, for rows of a length that is worth it. */
static void settle_shapes(correction *c)
{
    for (size_t i = 0; i < c->n_product; i++) {
        product *p = &c->product[i];
        c->how->result->products += p->rounds;
        p->rounds = p->rounds &&
                    ti_columns_of(c->graph[TYPED], p->pair.sim, c->picked.n, &p->shape) &&
                    p->shape.k <= c->how->longest && p->shape.rows == p->n;
    }
    keep_within_work(c);
    for (size_t i = 0; i < c->n_product; i++) {
        product *p = &c->product[i];
        p->keeper = i;
        for (size_t k = i + 1; k < c->n_product && p->rounds; k++)
            if (c->product[k].rounds && same_windows(p, &c->product[k]))
                p->keeper = k;
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
        r[0].side[i].plan = ti_plan_new(c->ctx, c->graph[i], &r[0].side[i].watch);
        if (!r[0].side[i].plan)
            return ti_unsupported(c->ctx, NULL, TC_E_UNSUPPORTED,
                                  "the program has operators whose biases cannot be corrected");
        bytes += ti_plan_bytes(r[0].side[i].plan);
    }
    size_t fit = MOST_BYTES / bytes;
    fit = fit < LEAST_SAMPLES ? LEAST_SAMPLES : fit < MOST_SAMPLES ? fit : MOST_SAMPLES;
    TC_TRY(ti_choose_samples(c->ctx, c->graph[REAL], c->samples, domains, fit, &c->picked));
    for (size_t k = 1; k < c->picked.n; k++)
        for (int i = 0; i < 2; i++) {
            r[k].side[i].plan = ti_plan_twin(r[0].side[i].plan, &r[k].side[i].watch);
            if (!r[k].side[i].plan)
                ti_arena_raw(arena, SIZE_MAX);
        }
    c->n_thread = 1;
    if (ti_plan_parallel(r[0].side[REAL].plan) && ti_plan_parallel(r[0].side[TYPED].plan))
        c->n_thread = ti_each_threads(c->ctx, c->picked.n);
    c->n_part = ti_each_threads(c->ctx, MOST_SAMPLES);
    return TC_OK;
}

/* What is asked for, and where what comes of it goes. */
typedef struct task {
    tc_ctx *ctx;
    tc_module *real, *typed;
    const tc_correction *how;
    const tc_samples *samples;
    const tc_domains *domains;
    tc_replacement out;
} task;

static tc_status work(void *what)
{
    task *t = what;
    tc_ctx *ctx = t->ctx;
    tc_module *sim = ti_module_copy(t->typed);
    ti_replacement_clear(&t->out);
    *t->how->result = (tc_corrected){0};
    TC_TRY(ti_quant_simulate_quantization(ctx, sim));
    correction *c = tc_new(&ctx->arena, correction);
    *c = (correction){.ctx = ctx,
                      .graph = {ti_main(t->real), ti_main(sim)},
                      .samples = t->samples,
                      .how = t->how,
                      .out = &t->out};
    find_products(c, ti_main(t->typed));
    if (!c->n_product || !t->samples->n)
        return TC_OK;
    TC_TRY(prepare(c, t->domains));
    if (!c->picked.n)
        return TC_OK;
    settle_shapes(c);
    c->now = c->product;
    for (size_t k = 0; k < c->picked.n; k++)
        TC_TRY(start_runner(c, &c->runner[k], k));
    ti_ctx_defer(ctx, forget, c);
    TC_TRY(run_both(c, ti_main(t->typed)));
    t->out.done = true;
    return TC_OK;
}

tc_status ti_quant_correct(tc_ctx *ctx, tc_module *real, tc_module *typed,
                           const tc_correction *how, const tc_samples *samples,
                           const tc_domains *domains)
{
    task *t = tc_new(&ctx->arena, task);
    *t = (task){ctx, real, typed, how, samples, domains, {.biases = how->biases}};
    ti_replacement_init(ctx, &t->out);
    TC_TRY(ti_attempt_work(ctx, work, t));
    return t->out.done ? ti_replace_constants(ti_main(typed), &t->out) : TC_OK;
}
