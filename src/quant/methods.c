/* SPDX-License-Identifier: Apache-2.0 */
/* methods.c -- methods that reduce the error of a typed program.
 *
 * Each row of the table begins with the nearest codes and is measured on samples that it has not
 * learned from, if there are any; the best stays, and the report lists all results. Nothing is
 * tried that the settings forbid, or that takes long unless requested. */
#include "methods.h"

#include <math.h>

#include "sample_runner.h"

static const double QUICK = 4e11;       /* multiplications that rounding may take by default, */
static const double ASKED = 2e12;       /* and where few bits need it */
static const int64_t LONGEST = 4096;    /* of a row that is rounded jointly */

typedef struct trial {
    tc_ctx *ctx;
    const tc_quant_request *request;
    const tc_domains *domains;
    tc_module *real;
    tc_real_means *means;
} trial;

/* The work of rounding a product's rows jointly: sums over windows, and the descent. */
static double rounding_work(const tc_module *typed)
{
    const tc_graph *g = ti_main(typed);
    double work = 0;
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_node *node = g->node[i];
        if ((node->op != TC_OP_conv && node->op != TC_OP_linear) || !ti_is_const(g, node->in[1]))
            continue;
        const tc_type *w = ti_type_of(g, node->in[1]);
        double n = (double)w->dim[0], k = (double)tc_type_count(w) / fmax(1, n);
        double groups =
            node->op == TC_OP_conv ? (double)((const tc_attr_conv *)node->attr)->groups : 1;
        work += (2 * groups * fmax(2048, fmin(3 * k, 4096)) + 2 * n) * k * k;
    }
    return work;
}

static bool wants_biases(const trial *t, const tc_module *typed)
{
    (void)typed;
    return t->request->config->correct_bias;
}

static bool wants_rounding(const trial *t, const tc_module *typed)
{
    const tc_config *c = t->request->config;
    return c->correct_bias && c->round_weights &&
           (ti_config_needs_rounding(c) || c->thorough || rounding_work(typed) < QUICK);
}

static tc_status move_biases(const trial *t, tc_module *typed, tc_corrected *result)
{
    tc_correction how = {t->request->config, 0, 0, 0, result, t->means};
    return ti_quant_correct(t->ctx, t->real, typed, &how, &t->request->samples, t->domains);
}

static tc_status round_weights(const trial *t, tc_module *typed, tc_corrected *result)
{
    const tc_config *config = t->request->config;
    double work = config->thorough            ? INFINITY
                  : config->rounding_work > 0 ? config->rounding_work
                                              : ASKED;
    tc_correction how = {config, LONGEST, work, t->request->until, result, t->means};
    return ti_quant_correct(t->ctx, t->real, typed, &how, &t->request->samples, t->domains);
}

/* Each begins with the nearest codes; a later one does what those before it do, too. */
static const struct {
    const char *name, *doing, *what;
    bool (*wanted)(const trial *t, const tc_module *typed);
    tc_status (*run)(const trial *t, tc_module *typed, tc_corrected *result);
} methods[] = {
    {"bias", "correcting biases", "biases are corrected so that every channel keeps its mean", wants_biases,
     move_biases},
    {"rounding", "rounding weights",
     "weights are rounded together by error feedback, and biases are corrected",
     wants_rounding,
     round_weights},
};
_Static_assert(TC_COUNT(methods) <= TC_METHODS, "room for every method in the report");

/* What was done, with how many products it was not done to. */
static const char *said(tc_ctx *ctx, const char *what, const tc_corrected *result)
{
    return result->rounded == result->products
               ? what
               : ti_text_format(&ctx->arena,
                                "%s; %zu of %zu layers keep the nearest codes: rows too long, "
                                "too much work or no time left", what,
                                result->products - result->rounded, result->products);
}

double ti_quant_expected_noise(const tc_quant_gains *gains, size_t i)
{
    double noise = gains->n_measured && gains->signal[i] > 0 ? gains->noise[i] / gains->signal[i] : 0;
    noise = fmax(isfinite(noise) ? noise : 0, gains->unseen ? gains->unseen[i] : 0);
    return noise;
}

void ti_quant_say_over(tc_ctx *ctx, const char *method)
{
    ti_note(ctx, NULL, "%s is skipped: its time is over", method);
}

void ti_quant_take_over(tc_module *to, const tc_module *from)
{
    *ti_main(to) = *ti_main(from);
    ti_main(to)->module = to;
    to->signature.in = from->signature.in;
    to->signature.out = from->signature.out;
}

static size_t learned_of(const tc_quant_request *request)
{
    return ti_learned_of(request->samples.n, ti_config_needs_rounding(request->config));
}

size_t ti_quant_measured_of(const tc_quant_request *request)
{
    return learned_of(request) + TC_KEEP_BACK;
}

static trial trial_of(tc_ctx *ctx, tc_module *real, const tc_quant_request *request,
                      const tc_domains *domains)
{
    tc_real_means *means = tc_new(&ctx->arena, tc_real_means);
    ti_arena_init_like(&means->room, &ctx->arena);
    ti_ctx_defer(ctx, ti_arena_end, &means->room);
    return (trial){ctx, request, domains, real, means};
}

static void take(tc_quant_gains *out, const tc_measured *m)
{
    out->db = m->sqnr_db;
    out->agree = m->agree;
    out->drop = m->drop;
    out->noise = m->error;
    out->signal = m->square;
    out->n_measured = m->n;
}

/* Samples that methods did not learn from count, if there are enough; the others have served. */
static void keep_fresh(tc_ctx *ctx, const tc_quant_request *request, tc_yardstick *yard, tc_score *known)
{
    size_t all = yard->samples.n;
    ti_yardstick_skip(ctx, yard, learned_of(request));
    if (yard->samples.n < all)
        *known = (tc_score){0};
}

tc_status ti_quant_improve_by(tc_ctx *ctx, tc_module *real, tc_module *typed,
                              const tc_quant_request *request, const tc_domains *domains,
                              tc_yardstick *yard, tc_score *known, tc_quant_gains *out)
{
    trial t = trial_of(ctx, real, request, domains);
    tc_module *plain = ti_module_copy(typed), *tried[TC_COUNT(methods)] = {NULL};
    tc_measured by[TC_COUNT(methods)], measured;
    tc_corrected result[TC_COUNT(methods)] = {{0}};
    TC_TRY(ti_tell_progress(ctx, "measuring the quantized program", 0, 1));
    keep_fresh(ctx, request, yard, known);
    yard->labels = request->labels;
    TC_TRY(ti_yardstick_first(ctx, yard, plain, SIZE_MAX, known, &measured));
    *out = (tc_quant_gains){.plain_db = measured.sqnr_db};
    take(out, &measured);
    for (size_t i = TC_COUNT(methods); i-- > 0;) { /* the first uses what later ones find out */
        if (!methods[i].wanted(&t, plain))
            continue;
        if (i && ti_clock_past(request->until)) {
            ti_quant_say_over(ctx, methods[i].name);
            continue;
        }
        tried[i] = ti_module_copy(plain);
        TC_TRY(ti_tell_progress(ctx, methods[i].doing, 0, 1));
        TC_TRY(methods[i].run(&t, tried[i], &result[i]));
        TC_TRY(ti_yardstick_measure(ctx, yard, tried[i], &by[i]));
    }
    ti_arena_free(&t.means->room);
    const tc_module *best = NULL;
    for (size_t i = 0; i < TC_COUNT(methods); i++) {
        if (!tried[i])
            continue;
        bool taken = by[i].sqnr_db > out->db + (i ? TC_GAIN : -TC_GAIN); /* the first is the usual one */
        out->method[out->n++] = (tc_quant_gain){
            methods[i].name, said(ctx, methods[i].what, &result[i]), by[i].sqnr_db, taken};
        if (taken) {
            best = tried[i];
            take(out, &by[i]);
        }
    }
    if (best)
        ti_quant_take_over(typed, best);
    return TC_OK;
}

tc_status ti_quant_improve(tc_ctx *ctx, tc_module *real, tc_module *typed,
                           const tc_quant_request *request, const tc_domains *domains,
                           tc_quant_gains *out)
{
    tc_yardstick yard;
    TC_TRY(ti_yardstick_open(ctx, real, &request->samples, domains, ti_quant_measured_of(request), &yard));
    TC_TRY(ti_quant_improve_by(ctx, real, typed, request, domains, &yard, &(tc_score){0}, out));
    ti_yardstick_end(&yard);
    return TC_OK;
}

/* Methods that the result has, first ones of the table: so many. */
static size_t taken_of(const tc_quant_gains *gains)
{
    size_t n = 0;
    for (size_t i = 0; i < TC_COUNT(methods); i++)
        for (size_t k = 0; k < gains->n; k++)
            if (gains->method[k].taken && !strcmp(gains->method[k].name, methods[i].name))
                n = i + 1;
    return n;
}

tc_status ti_quant_repeat(tc_ctx *ctx, tc_module *real, tc_module *typed,
                          const tc_quant_request *request, const tc_domains *domains,
                          const tc_quant_gains *as)
{
    trial t = trial_of(ctx, real, request, domains);
    tc_corrected result = {0};
    size_t n = taken_of(as);
    while (n && !methods[n - 1].wanted(&t, typed))
        n--;
    return n ? methods[n - 1].run(&t, typed, &result) : TC_OK;
}
