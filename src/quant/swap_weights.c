/* SPDX-License-Identifier: Apache-2.0 */
/* swap_weights.c -- see swap_weights.h.
 *
 *   bias'[r] = bias[r] + sum over j of (w[r, j] - q[r, j]) mean[j] */
#include "swap_weights.h"

#include <math.h>

#include "../base/attempt.h"
#include "../base/real.h"
#include "../ir/build.h"
#include "../num/load.h"
#include "sample_runner.h"

tc_tensor ti_swap_weights(tc_arena *arena, const tc_graph *typed, tc_val v)
{
    tc_tensor codes = ti_tensor_of(typed, v);
    const tc_quant *q = codes.type->quant;
    tc_type type = *codes.type;
    int64_t inner = 1, n = tc_type_count(codes.type);
    for (int i = q->axis + 1; q->axis >= 0 && i < type.rank; i++)
        inner *= type.dim[i];
    float *x = ti_arena_raw(arena, (size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = q->axis >= 0 ? i / inner % q->count : 0;
        x[i] = (float)(q->scale[c] * (double)(ti_load_i64(codes, i) - q->zero[c]));
    }
    return (tc_tensor){codes.type, x};
}

/* ---- means ---- */

typedef struct meaning {
    tc_ctx *ctx;
    const tc_swap *s;
    tc_arena room;
    double *sum; /* as long as the longest windows */
} meaning;

static void add_windows(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    meaning *m = who;
    for (size_t i = 0; i < m->s->n; i++) {
        const tc_columns *c = &m->s->shape[i];
        if (!m->s->mean[i] || m->s->pair[i].real->in[0] != v)
            continue;
        ti_columns_sums(c, &m->room, seen, order, m->sum);
        for (int64_t j = 0; j < c->groups * c->k; j++)
            m->s->mean[i][j] += m->sum[j];
    }
}

static tc_status look_at_inputs(meaning *m, const tc_samples *samples, const bool *wanted)
{
    tc_ctx *ctx = m->ctx;
    tc_runner *runner;
    TC_TRY(ti_runner_new(ctx, ti_main(m->s->real), wanted, samples->n, &runner));
    void **guest = tc_new_n(&ctx->arena, void *, ti_runner_threads(runner));
    for (size_t i = 0; i < ti_runner_threads(runner); i++)
        guest[i] = m; /* one after the other */
    ti_arena_init_like(&m->room, &ctx->arena);
    m->room.oom = ti_runner_oom(runner, 0);
    ti_ctx_defer(ctx, ti_arena_end, &m->room);
    tc_visit visit = {.samples = samples, .what = "samples, means of layers", .in_order = true,
                      .guest = guest, .see = add_windows};
    tc_status status = ti_runner_run(runner, &visit);
    ti_arena_free(&m->room);
    ti_runner_end(runner);
    return status;
}

tc_status ti_swap_means(tc_ctx *ctx, tc_swap *s, const bool *wanted, const tc_samples *samples)
{
    enum { MOST = 32 };
    tc_arena *a = &ctx->arena;
    tc_samples some = *samples;
    bool *seen = tc_new_n(a, bool, ti_main(s->real)->n_val);
    meaning *m = tc_new(a, meaning);
    int64_t longest = 1;
    some.n = some.n < MOST ? some.n : MOST;
    s->mean = tc_new_n(a, double *, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        if (!wanted[i])
            continue;
        int64_t n = s->shape[i].groups * s->shape[i].k;
        s->mean[i] = tc_new_n(a, double, (size_t)n);
        seen[s->pair[i].real->in[0]] = true;
        longest = ti_max_i64(longest, n);
    }
    *m = (meaning){.ctx = ctx, .s = s, .sum = tc_new_n(a, double, (size_t)longest)};
    TC_TRY(look_at_inputs(m, &some, seen));
    for (size_t i = 0; i < s->n; i++)
        for (int64_t j = 0; s->mean[i] && j < s->shape[i].groups * s->shape[i].k; j++)
            s->mean[i][j] /= (double)some.n * (double)s->shape[i].position;
    return TC_OK;
}

/* ---- noise ---- */

typedef struct hybrid {
    const tc_swap *s;
    const tc_module *typed;
    const tc_pair *coarse;
    const bool *taken;
} hybrid;

/* The bias of a layer, with what other weights take from the means of its results. */
static void move_bias(const tc_swap *s, size_t pair, tc_tensor coarse, float *out)
{
    const tc_graph *g = ti_main(s->real);
    const tc_node *node = s->pair[pair].real;
    const tc_columns *c = &s->shape[pair];
    const float *w = ti_tensor_of(g, node->in[1]).data, *q = coarse.data;
    tc_tensor bias = ti_tensor_of(g, node->n_in > 2 ? node->in[2] : TC_NONE);
    for (int64_t r = 0; r < c->rows; r++) {
        const double *mean = s->mean[pair] + r / (c->rows / c->groups) * c->k;
        double sum = bias.data ? ti_load_f64(bias, r) : 0;
        for (int64_t j = 0; j < c->k; j++)
            sum += ((double)w[r * c->k + j] - (double)q[r * c->k + j]) * mean[j];
        out[r] = (float)sum;
    }
}

static tc_status take_layer(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const hybrid *h = rw->user;
    size_t i = 0;
    while (i < h->s->n && (!h->taken[i] || h->coarse[i].real != node))
        i++;
    if (i == h->s->n)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in[3] = {ti_rewrite_in(rw, node, 0)};
    tc_tensor w = ti_swap_weights(&rw->ctx->arena, ti_main(h->typed), h->coarse[i].typed->in[1]);
    w.type = ti_type_make(rw->ctx, TC_f32, w.type->rank, w.type->dim);
    in[1] = ti_b_const(&b, w, NULL);
    if (h->s->mean && h->s->mean[i]) {
        tc_tensor bias = ti_b_tensor(&b, TC_f32, 1, w.type->dim);
        move_bias(h->s, i, w, bias.data);
        in[2] = ti_b_const(&b, bias, NULL);
    } else if (node->n_in > 2 && node->in[2])
        in[2] = ti_rewrite_in(rw, node, 2);
    return ti_b_again(&b, in, in[2] ? 3 : 2, done);
}

double ti_swap_noise_of(const tc_measured *m)
{
    double noise = ti_exp2(-m->sqnr_db / 10 * 3.321928094887362);
    return isfinite(noise) ? noise : 1;
}

tc_status ti_swap_noise(tc_ctx *ctx, const tc_swap *s, tc_yardstick *yard, const tc_module *typed,
                        const tc_pair *coarse, const bool *taken, double *noise)
{
    static tc_rewriter *const rewriters[] = {take_layer};
    tc_attempt attempt;
    tc_measured m;
    hybrid h = {s, typed, coarse, taken};
    ti_attempt_begin(ctx, &attempt);
    tc_module *mixed = ti_module_copy(s->real);
    tc_status status = ti_rewrite_graph(ti_main(mixed), rewriters, TC_COUNT(rewriters), &h);
    if (status == TC_OK)
        status = ti_yardstick_measure(ctx, yard, mixed, &m);
    if (status == TC_OK)
        *noise = ti_swap_noise_of(&m);
    ti_attempt_end(ctx, &attempt);
    return status;
}
