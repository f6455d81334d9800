/* SPDX-License-Identifier: Apache-2.0 */
/* correct.c -- bias correction.
 *
 * Rounding weights and activations shifts the mean of a product's channels.  The real and the typed
 * program run side by side over a few samples, all samples abreast: after each convolution or
 * linear layer, in the order of the graph, channel c of the typed one is moved by
 *
 *   d_c = mean(real - typed)       over samples and positions, before the activation
 *
 * rounded to the grid of the bias, and the run goes on with the moved numbers.  Which samples:
 * those with the least content hash, so that their order does not matter; sums are taken in that
 * order. */
#include "quant.h"

#include <math.h>

#include "../ir/rewrite.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "../run/plan.h"
#include "sample_runner.h"
#include "seen.h"

enum { MOST_SAMPLES = 32, LEAST_SAMPLES = 4 };
static const size_t MOST_BYTES = (size_t)1 << 30; /* of activations that are alive at once */

/* A convolution or linear layer. */
typedef struct product {
    const tc_node *real, *typed, *sim;
    int axis;         /* of the channels in the result */
    int64_t n;        /* channels */
    size_t at;        /* of its first channel in a sample's row of sums */
    double positions; /* numbers in a channel */
    int64_t *move;    /* by channel: steps of the bias */
} product;

/* A typed program that runs one sample. */
typedef struct runner {
    struct correction *c;
    tc_watch watch;
    tc_plan *plan;
    tc_tensor *in;
    double *sum; /* of the channel in hand: n of them */
    tc_tensor seen;
    const int8_t *order;
    tc_status status;
} runner;

typedef struct correction {
    tc_ctx *ctx;
    tc_graph *real, *sim;
    const tc_samples *samples;
    product *product;
    size_t n_product, n_channel;
    tc_samples picked;
    double *real_sum; /* picked.n rows of n_channel */
    runner *runner;
    const product *now; /* the product in hand */
    size_t n_thread;
} correction;

/* ---- products ---- */

static bool is_product(const tc_node *node)
{
    return node->op == TC_OP_conv || node->op == TC_OP_linear || node->op == TC_OP_conv_transpose;
}

static const tc_node *next_product(const tc_graph *g, size_t *k)
{
    while (*k < g->n_node)
        if (is_product(g->node[(*k)++]))
            return g->node[*k - 1];
    return NULL;
}

/* Integer arithmetic with a bias that is an integer, or left out. */
static bool correctable(const tc_graph *g, const tc_node *node)
{
    const tc_type *x = tc_type_of(g, node->in[0]), *w = tc_type_of(g, node->in[1]);
    tc_val b = node->n_in > 2 ? node->in[2] : TC_NONE;
    return x->quant && w->quant && x->quant->axis < 0 && tc_is_const(g, node->in[1]) &&
           (!b || (tc_is_const(g, b) && tc_type_of(g, b)->quant));
}

static bool is_some_f32(const tc_type *t) { return t->dtype == TC_f32 && tc_type_count(t) > 0; }

static void add_product(correction *c, const tc_node *real, const tc_node *typed,
                        const tc_node *sim)
{
    const tc_type *y = tc_type_of(c->sim, sim->out[0]), *w = tc_type_of(c->sim, sim->in[1]);
    product *p = &c->product[c->n_product++];
    *p = (product){.real = real, .typed = typed, .sim = sim, .at = c->n_channel};
    p->axis = typed->op == TC_OP_linear ? y->rank - 1 : y->rank - 1 - (w->rank - 2);
    p->n = y->dim[p->axis];
    p->positions = (double)(tc_type_count(y) / p->n);
    p->move = tc_new_n(&c->ctx->arena, int64_t, (size_t)p->n);
    c->n_channel += (size_t)p->n;
}

/* The same product in the three programs: the rewrites keep the order of nodes, and the place each
 * came from. */
static void find_products(correction *c, const tc_graph *typed)
{
    size_t i = 0, j = 0, k = 0;
    const tc_node *real, *node, *sim;
    c->product = tc_new_n(&c->ctx->arena, product, typed->n_node);
    while ((node = next_product(typed, &j)) && (sim = next_product(c->sim, &k))) {
        size_t before = i;
        do
            real = next_product(c->real, &i);
        while (real && (real->loc != node->loc || real->op != node->op));
        if (!real)
            i = before;
        else if (correctable(typed, node) && is_some_f32(tc_type_of(c->sim, sim->out[0])))
            add_product(c, real, node, sim);
    }
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

/* ---- the real program ---- */

typedef struct guest {
    correction *c;
    double *row;
    const product **of; /* by value */
} guest;

static bool real_enter(void *who, size_t k, const tc_tensor *in)
{
    (void)in;
    guest *g = who;
    g->row = g->c->real_sum + k * g->c->n_channel;
    return true;
}

static void real_see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const guest *g = who;
    const product *p = g->of[v];
    sum_channels(seen, order, p->axis, p->n, g->row + p->at);
}

static tc_status run_real(correction *c)
{
    tc_arena *arena = &c->ctx->arena;
    bool *wanted = tc_new_n(arena, bool, c->real->n_val);
    const product **of = tc_new_n(arena, const product *, c->real->n_val);
    tc_runner *run;
    for (size_t i = 0; i < c->n_product; i++) {
        of[c->product[i].real->out[0]] = &c->product[i];
        wanted[c->product[i].real->out[0]] = true;
    }
    c->real_sum = tc_new_n(arena, double, c->picked.n * c->n_channel);
    TC_TRY(tc_runner_new(c->ctx, c->real, wanted, c->picked.n, &run));
    c->n_thread = tc_runner_threads(run);
    void **guests = tc_new_n(arena, void *, c->n_thread);
    for (size_t i = 0; i < c->n_thread; i++) {
        guest *g = guests[i] = tc_new(arena, guest);
        *g = (guest){.c = c, .of = of};
    }
    tc_visit visit = {.samples = &c->picked,
                      .what = "samples, real means",
                      .guest = guests,
                      .enter = real_enter,
                      .see = real_see};
    return tc_runner_run(run, &visit);
}

/* ---- the typed program, all samples abreast ---- */

static void typed_see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    runner *r = who;
    const product *p = r->c->now;
    if (v != p->sim->out[0])
        return;
    r->seen = seen;
    r->order = order;
    memset(r->sum, 0, (size_t)p->n * sizeof *r->sum);
    sum_channels(seen, order, p->axis, p->n, r->sum);
}

static void advance(void *what, size_t i, jmp_buf *oom)
{
    const correction *c = what;
    runner *r = &c->runner[i];
    tc_plan_on_oom(r->plan, oom);
    r->status = tc_plan_go(r->plan, c->now->sim->out[0]);
}

static tc_status advance_all(correction *c)
{
    tc_each(c->ctx, c->picked.n, c->n_thread, advance, c);
    for (size_t i = 0; i < c->picked.n; i++)
        if (c->runner[i].status)
            return tc_plan_explain(c->runner[i].plan);
    return TC_OK;
}

/* The step of the bias in channel k: input scale times weight scale. */
static double bias_step(const tc_graph *typed, const product *p, int64_t k)
{
    const tc_type *x = tc_type_of(typed, p->typed->in[0]), *w = tc_type_of(typed, p->typed->in[1]);
    tc_val b = p->typed->n_in > 2 ? p->typed->in[2] : TC_NONE;
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
    for (int64_t k = 0; k < p->n; k++) {
        double d = 0, step = bias_step(typed, p, k);
        for (size_t i = 0; i < c->picked.n; i++)
            d += c->real_sum[i * c->n_channel + p->at + (size_t)k] - c->runner[i].sum[k];
        d = rint(d / (p->positions * (double)c->picked.n) / step);
        p->move[k] = fabs(d) < 0x1p30 ? (int64_t)d : 0; /* NaN does not move anything */
        by[k] = (float)((double)p->move[k] * step);
    }
    for (size_t i = 0; i < c->picked.n; i++)
        move_channels(c->runner[i].seen, c->runner[i].order, p->axis, p->n, by);
    tc_arena_rewind(&c->ctx->scratch, mark);
}

/* Samples are real; an input of the typed program may be integers. */
static tc_status start_runner(correction *c, runner *r, size_t k)
{
    r->in = tc_input_buffers(c->ctx, c->sim);
    r->sum = tc_new_n(&c->ctx->arena, double, c->n_channel);
    tc_tensor *real = tc_new_n(&c->ctx->arena, tc_tensor, c->sim->n_in);
    for (size_t i = 0; i < c->sim->n_in; i++)
        real[i] = r->in[i].type->quant
                      ? tc_tensor_new(&c->ctx->arena, tc_type_of(c->real, c->real->in[i]))
                      : r->in[i];
    TC_TRY(c->picked.read(c->picked.from, k, real));
    for (size_t i = 0; i < c->sim->n_in; i++)
        if (r->in[i].type->quant)
            tc_quantize_into(real[i], r->in[i]);
    tc_plan_start(r->plan, r->in, c->picked.state(c->picked.from, k));
    return TC_OK;
}

static tc_status run_typed(correction *c, const tc_graph *typed)
{
    for (size_t k = 0; k < c->picked.n; k++)
        TC_TRY(start_runner(c, &c->runner[k], k));
    for (size_t i = 0; i < c->n_product; i++) {
        c->now = &c->product[i];
        TC_TRY(advance_all(c));
        move(c, typed, c->now);
        if (c->samples->progress)
            c->samples->progress(c->samples->who, "biases", i + 1, c->n_product);
    }
    return TC_OK;
}

/* ---- new biases ---- */

static const product *product_of(const correction *c, const tc_node *typed)
{
    for (size_t i = 0; i < c->n_product; i++)
        if (c->product[i].typed == typed)
            return &c->product[i];
    return NULL;
}

/* The type of a bias where there is none yet. */
static const tc_type *new_bias_type(tc_rewrite *rw, const product *p)
{
    bool wide = tc_dtypes[tc_type_of(rw->from, p->typed->in[0])->dtype].bits > 8;
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
    tc_val b = p->typed->n_in > 2 ? p->typed->in[2] : TC_NONE;
    const tc_type *type = b ? tc_type_of(rw->from, b) : new_bias_type(rw, p);
    tc_tensor codes = tc_tensor_new(&rw->ctx->arena, type);
    for (int64_t k = 0; k < tc_type_count(type); k++) {
        int64_t code = (b ? tc_load_i64(tc_tensor_of(rw->from, b), k) : 0) + p->move[k];
        tc_store_i64(codes, k, tc_max_i64(type->quant->lo, tc_min_i64(type->quant->hi, code)));
    }
    const tc_value *old = b ? rw->from->val[b] : NULL;
    return tc_graph_const(rw->to, type, codes.data, old ? old->name : NULL,
                          old ? old->def->loc : p->typed->loc);
}

static tc_status give_bias(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const product *p = product_of(rw->user, node);
    if (!p)
        return TC_OK;
    *done = true;
    tc_mark mark = tc_arena_mark(&rw->ctx->scratch);
    tc_val in[3] = {tc_rewrite_in(rw, node, 0), tc_rewrite_in(rw, node, 1), new_bias(rw, p)};
    tc_arena_rewind(&rw->ctx->scratch, mark);
    tc_node *copy = tc_graph_add(rw->to, node->op, node->attr, in, 3, node->n_out, node->loc);
    rw->to->val[copy->out[0]]->type = tc_type_of(rw->from, node->out[0]);
    rw->to->val[copy->out[0]]->name = rw->from->val[node->out[0]]->name;
    TC_TRY(tc_node_infer(rw->to, copy));
    tc_rewrite_bind(rw, node->out[0], copy->out[0]);
    return TC_OK;
}

/* ---- the whole ---- */

/* Plans for as many samples as memory is meant for. */
static tc_status prepare(correction *c, const tc_domains *domains)
{
    tc_arena *arena = &c->ctx->arena;
    bool *wanted = tc_new_n(arena, bool, c->sim->n_val);
    for (size_t i = 0; i < c->n_product; i++)
        wanted[c->product[i].sim->out[0]] = true;
    runner *r = c->runner = tc_new_n(arena, runner, MOST_SAMPLES);
    for (size_t k = 0; k < MOST_SAMPLES; k++) {
        r[k].c = c;
        r[k].watch = (tc_watch){wanted, typed_see, &r[k]};
    }
    r[0].plan = tc_plan_new(c->ctx, c->sim, &r[0].watch);
    if (!r[0].plan)
        return tc_unsupported(c->ctx, NULL, TC_E_UNSUPPORTED,
                              "the program holds operators whose biases cannot be corrected");
    size_t fit = MOST_BYTES / (tc_plan_bytes(r[0].plan) + 1);
    fit = fit < LEAST_SAMPLES ? LEAST_SAMPLES : fit < MOST_SAMPLES ? fit : MOST_SAMPLES;
    TC_TRY(tc_pick_samples(c->ctx, c->real, c->samples, domains, fit, &c->picked));
    for (size_t k = 1; k < c->picked.n; k++) {
        r[k].plan = tc_plan_twin(r[0].plan, &r[k].watch);
        if (!r[k].plan)
            tc_arena_raw(arena, SIZE_MAX);
    }
    return TC_OK;
}

tc_status tc_quant_correct(tc_ctx *ctx, tc_module *real, tc_module *typed,
                           const tc_samples *samples, const tc_domains *domains)
{
    static tc_rewriter *const rewriters[] = {give_bias};
    tc_module *sim = tc_module_copy(typed);
    TC_TRY(tc_quant_simulate(ctx, sim));
    correction *c = tc_new(&ctx->arena, correction);
    *c = (correction){.ctx = ctx, .real = tc_main(real), .sim = tc_main(sim), .samples = samples};
    find_products(c, tc_main(typed));
    if (!c->n_product || !samples->n)
        return TC_OK;
    TC_TRY(prepare(c, domains));
    if (!c->picked.n)
        return TC_OK;
    TC_TRY(run_real(c));
    if (!tc_plan_parallel(c->runner[0].plan))
        c->n_thread = 1;
    TC_TRY(run_typed(c, tc_main(typed)));
    return tc_rewrite_graph(tc_main(typed), rewriters, TC_COUNT(rewriters), c);
}
