/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c -- the error of a typed program against the real one, on samples.
 *
 *   noise of an output = sum (typed - real)^2 / sum real^2      over all samples
 *   SQNR = -10 log10 (mean of that over the real outputs)
 *
 * Each sample's sums are kept and added in one order: the same on any number of threads. */
#include "measure.h"

#include <math.h>

#include "../base/attempt.h"
#include "../base/mapped.h"
#include "../base/real.h"
#include "../num/quant.h"
#include "sample_runner.h"

enum { LEAST_SAMPLES = 4, FRESH = 24 };
static const size_t MOST_BYTES = (size_t)1 << 28; /* of the real program's results, */
static const size_t NEVER_MORE = (size_t)3 << 27; /* and with the samples: fewer, if one is large */

typedef struct measuring {
    tc_ctx *ctx;
    tc_yardstick *y;
    const tc_module *module; /* the real one, or the typed one that is measured */
    size_t from, to;         /* samples */
    bool *measured;          /* by output */
    double *error; /* by sample and output; NULL: the real program runs, and is recorded */
    int64_t *first;
} measuring;

/* Output i of sample k of the real program. */
static float *room_of(const tc_yardstick *y, size_t k, size_t i)
{
    return y->real[k * y->n_out + i];
}

/* Element i of a tensor, as a real value. */
static double number(tc_tensor t, int64_t i)
{
    const tc_quant *q = t.type->quant;
    if (!q)
        return (double)((const float *)t.data)[i];
    int64_t code = t.type->dtype == TC_i16  ? ((const int16_t *)t.data)[i]
                   : t.type->dtype == TC_u8 ? ((const uint8_t *)t.data)[i]
                                            : ((const int8_t *)t.data)[i];
    return q->scale[0] * (double)(code - q->zero[0]);
}

static bool is_measured(const tc_type *real, const tc_type *t)
{
    return real->dtype == TC_f32 && (t->dtype == TC_f32 || (t->quant && t->quant->axis < 0));
}

static int64_t greatest(tc_tensor t)
{
    int64_t at = 0;
    for (int64_t i = 1; i < tc_type_count(t.type); i++)
        if (number(t, i) > number(t, at))
            at = i;
    return at;
}

static void leave(void *who, size_t at, const tc_tensor *out)
{
    const measuring *m = who;
    tc_yardstick *y = m->y;
    size_t k = m->from + at;
    for (size_t i = 0; i < y->n_out; i++) {
        if (!is_measured(y->type[i], out[i].type))
            continue;
        const float *real = room_of(y, k, i);
        if (!m->error) {
            memcpy(room_of(y, k, i), out[i].data, tc_type_bytes(out[i].type));
            continue;
        }
        double e = 0;
        for (int64_t j = 0; j < tc_type_count(out[i].type); j++) {
            double d = number(out[i], j) - (double)real[j];
            e += d * d;
        }
        m->error[k * y->n_out + i] = e;
    }
    if (y->n_out && is_measured(y->type[0], out[0].type))
        m->first[k] = greatest(out[0]);
}

static void see_nothing(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)who, (void)v, (void)seen, (void)order;
}

/* Samples are real; an input of the typed program may be integers. */
typedef struct feed {
    const tc_samples *from;
    size_t first;
    tc_tensor *real;
    size_t n;
} feed;

static tc_status read_feed(void *from, size_t k, const tc_tensor *in)
{
    const feed *f = from;
    TC_TRY(f->from->read(f->from->from, f->first + k, f->real));
    for (size_t i = 0; i < f->n; i++)
        if (in[i].type->quant)
            ti_quantize_into(f->real[i], in[i]);
        else
            memcpy(in[i].data, f->real[i].data, tc_type_bytes(in[i].type));
    return TC_OK;
}

static void *const *feed_state(void *from, size_t k)
{
    const feed *f = from;
    return f->from->state(f->from->from, f->first + k);
}

/* Over some samples of the reference; its result is already allocated. */
static tc_status run(void *what)
{
    measuring *m = what;
    tc_ctx *ctx = m->ctx;
    tc_graph *g = ti_main(m->module);
    if (m->error) {
        tc_module *sim = ti_module_copy(m->module);
        TC_TRY(ti_quant_simulate_quantization(ctx, sim));
        g = ti_main(sim);
    }
    for (size_t i = 0; i < g->n_out; i++)
        m->measured[i] = is_measured(m->y->type[i], ti_type_of(g, g->out[i]));
    tc_runner *runner;
    feed f = {.from = &m->y->samples, .first = m->from, .real = m->y->in, .n = g->n_in};
    tc_samples samples = m->y->samples;
    samples.n = m->to - m->from;
    samples.read = read_feed;
    samples.name = NULL;
    samples.state = feed_state;
    samples.from = &f;
    TC_TRY(ti_runner_new(ctx, g, tc_new_n(&ctx->arena, bool, g->n_val), samples.n, &runner));
    size_t n = ti_runner_threads(runner);
    void **guests = tc_new_n(&ctx->arena, void *, n);
    for (size_t i = 0; i < n; i++)
        guests[i] = m;
    tc_visit visit = {.samples = &samples,
                      .what = "samples, accuracy",
                      .guest = guests,
                      .see = see_nothing,
                      .leave = leave};
    return ti_runner_run(runner, &visit);
}

void ti_yardstick_end(const tc_yardstick *y)
{
    ti_arena_free(y->room);
    ti_chosen_end(&y->samples);
}

tc_status ti_yardstick_open(tc_ctx *ctx, tc_module *real, const tc_samples *samples,
                            const tc_domains *domains, size_t most, tc_yardstick *out)
{
    tc_graph *g = ti_main(real);
    size_t bytes = 1, all;
    *out = (tc_yardstick){.of = ti_module_copy(real), .n_out = g->n_out};
    for (size_t i = 0; i < g->n_out; i++)
        bytes += tc_type_bytes(ti_type_of(g, g->out[i]));
    all = bytes;
    for (size_t i = 0; i < g->n_in; i++)
        all += tc_type_bytes(ti_type_of(g, g->in[i]));
    size_t fit = MOST_BYTES / bytes < LEAST_SAMPLES ? LEAST_SAMPLES : MOST_BYTES / bytes;
    fit = fit < NEVER_MORE / all ? fit : NEVER_MORE / all;
    most = fit < 1 ? 1 : fit < most ? fit : most;
    TC_TRY(ti_choose_samples(ctx, g, samples, domains, most, &out->samples));
    size_t n = out->samples.n;
    out->room = tc_new(&ctx->arena, tc_arena);
    ti_arena_init_like(out->room, &ctx->arena);
    ti_ctx_defer(ctx, ti_arena_end, out->room);
    out->in = ti_input_buffers_in(out->room, g);
    out->type = tc_new_n(&ctx->arena, const tc_type *, g->n_out);
    out->real = tc_new_n(&ctx->arena, float *, n * g->n_out);
    out->first = tc_new_n(&ctx->arena, int64_t, n);
    for (size_t i = 0; i < g->n_out; i++) {
        out->type[i] = ti_type_of(g, g->out[i]);
        for (size_t k = 0; k < n && out->type[i]->dtype == TC_f32; k++)
            out->real[k * g->n_out + i] =
                ti_arena_raw(out->room, tc_type_bytes(out->type[i]));
    }
    return TC_OK;
}

void ti_yardstick_skip(tc_ctx *ctx, tc_yardstick *y, size_t n)
{
    if (y->samples.n < n + FRESH)
        return;
    ti_picked_skip(ctx, &y->samples, n);
    for (size_t i = 0; i < n * y->n_out; i++)
        if (y->real[i])
            ti_pages_drop(ctx, y->real[i], tc_type_bytes(y->type[i % y->n_out]));
    y->real += n * y->n_out;
    y->first += n;
    y->known = y->known > n ? y->known - n : 0;
}

/* The real program's results on its first n samples. */
static tc_status reach(tc_ctx *ctx, tc_yardstick *y, size_t n)
{
    measuring m = {.ctx = ctx,
                   .y = y,
                   .module = y->of,
                   .from = y->known,
                   .to = n,
                   .measured = tc_new_n(&ctx->arena, bool, y->n_out),
                   .first = y->first};
    if (y->known >= n)
        return TC_OK;
    TC_TRY(ti_attempt_work(ctx, run, &m));
    y->known = n;
    return TC_OK;
}

tc_status ti_yardstick_make(tc_ctx *ctx, tc_module *real, const tc_samples *samples,
                            const tc_domains *domains, size_t most, tc_yardstick *out)
{
    TC_TRY(ti_yardstick_open(ctx, real, samples, domains, most, out));
    return reach(ctx, out, out->samples.n);
}

double ti_sqnr_db(double signal, double noise)
{
    return noise > 0 ? 10 * ti_log10(signal / noise) : INFINITY;
}

double ti_unseen_db(double signal, double noise, double seen)
{
    return fmin(ti_sqnr_db(signal, noise), ti_sqnr_db(1, seen));
}

double ti_noise_ratio(double error, double square)
{
    return square > 0 ? error / square : error;
}

/* Of output i of sample k of the real program. */
static double square_of(const tc_yardstick *y, size_t k, size_t i)
{
    double sum = 0;
    for (int64_t j = 0; j < tc_type_count(y->type[i]); j++)
        sum += (double)room_of(y, k, i)[j] * (double)room_of(y, k, i)[j];
    return sum;
}

/* The errors of the typed program on samples that it has not run on yet. */
static tc_status score(tc_ctx *ctx, tc_yardstick *y, const tc_module *typed, size_t n,
                       tc_score *s)
{
    size_t all = y->samples.n;
    if (!s->error)
        *s = (tc_score){.measured = tc_new_n(&ctx->arena, bool, y->n_out),
                        .error = tc_new_n(&ctx->arena, double, all * y->n_out),
                        .first = tc_new_n(&ctx->arena, int64_t, all)};
    TC_TRY(reach(ctx, y, n));
    measuring m = {.ctx = ctx, .y = y, .module = typed, .from = s->n, .to = n,
                   .measured = s->measured, .error = s->error, .first = s->first};
    if (s->n >= n)
        return TC_OK;
    TC_TRY(ti_attempt_work(ctx, run, &m));
    s->n = n;
    return TC_OK;
}

tc_status ti_yardstick_first(tc_ctx *ctx, tc_yardstick *y, const tc_module *typed, size_t n,
                             tc_score *s, tc_measured *out)
{
    n = n < y->samples.n ? n : y->samples.n;
    *out = (tc_measured){.sqnr_db = INFINITY, .agree = 1};
    if (!n)
        return TC_OK;
    TC_TRY(score(ctx, y, typed, n, s));
    out->measured = s->measured;
    out->error = tc_new_n(&ctx->arena, double, y->n_out);
    out->square = tc_new_n(&ctx->arena, double, y->n_out);
    out->n = n;
    double noise = 0, outputs = 0, same = 0;
    for (size_t i = 0; i < y->n_out; i++) {
        if (!s->measured[i])
            continue;
        for (size_t k = 0; k < n; k++) {
            double error = s->error[k * y->n_out + i], square = square_of(y, k, i);
            out->error[i] += error;
            out->square[i] += square;
            out->each += fmin(1, ti_noise_ratio(error, square)) / (double)out->n;
        }
        noise += ti_noise_ratio(out->error[i], out->square[i]);
        outputs++;
    }
    out->each /= fmax(1, outputs);
    for (size_t k = 0; k < n; k++)
        same += s->first[k] == y->first[k];
    for (size_t k = 0; k < n && y->labels; k++) {
        int64_t label = y->labels[ti_picked_index(&y->samples, k)];
        out->drop +=
            100.0 * ((y->first[k] == label) - (s->first[k] == label)) / (double)n;
    }
    out->sqnr_db = outputs > 0 && noise > 0 ? -10 * ti_log10(noise / outputs) : INFINITY;
    out->agree = same / (double)n;
    return TC_OK;
}

tc_status ti_yardstick_measure(tc_ctx *ctx, tc_yardstick *y, const tc_module *typed,
                               tc_measured *out)
{
    return ti_yardstick_first(ctx, y, typed, y->samples.n, &(tc_score){0}, out);
}
