/* SPDX-License-Identifier: Apache-2.0 */
/* data_fit.c -- see data_fit.h.
 *
 * A batch norm keeps mean and variance of each channel that it read in training.  Up to the first
 * such norm the model is run on a few samples, and over the channels
 *
 *   spread = median of (variance / running variance)
 *   offset = median of |mean - running mean| / sqrt(running variance)
 *
 * For data that is scaled as in training they are near 1 and 0, whatever it shows; values of 0 to
 * 255 instead of -1 to 1 make a spread of thousands, values of 0 to 1 one of a sixth. */
#include "data_fit.h"

#include <math.h>
#include <stdlib.h>

#include "../base/attempt.h"
#include "../num/load.h"
#include "../run/exec.h"
#include "model.h"
#include "road.h"

enum { SAMPLES = 8, ENOUGH = 32 /* elements of a channel that are enough for its variance */ };
static const double LEAST = 0.22, MOST = 6, OFF = 2.5;

typedef struct fit {
    double spread, offset, lo, hi; /* lo, hi: of the real-valued inputs */
    const tc_node *norm;           /* NULL: there is none to go by */
} fit;

/* Whether a norm has been trained: it is not still at mean 0 and variance 1. */
static bool is_trained(tc_tensor mean, tc_tensor var)
{
    for (int64_t c = 0; c < tc_type_count(var.type); c++)
        if (ti_load_f64(var, c) != 1 || ti_load_f64(mean, c) != 0)
            return true;
    return false;
}

static bool is_known(const tc_graph *g, const tc_node *norm)
{
    return ti_is_const(g, norm->in[3]) && ti_is_const(g, norm->in[4]) &&
           ti_type_of(g, norm->in[0])->rank >= 2 &&
           is_trained(ti_tensor_of(g, norm->in[3]), ti_tensor_of(g, norm->in[4]));
}

/* The first norm that real inputs reach, where its statistics are known. */
static const tc_node *first_norm(tc_ctx *ctx, const tc_graph *g)
{
    bool *reached = tc_new_n(&ctx->arena, bool, g->n_val);
    for (size_t i = 0; i < g->n_in; i++)
        reached[g->in[i]] = ti_is_float(ti_type_of(g, g->in[i])->dtype);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_in; i++)
            any = any || (node->in[i] && reached[node->in[i]]);
        for (int i = 0; i < node->n_out; i++)
            reached[node->out[i]] = any;
        if (node->op == TC_OP_batch_norm && any)
            return is_known(g, node) ? node : NULL;
    }
    return NULL;
}

/* ---- moments ---- */

typedef struct moments {
    tc_tensor mean, var; /* of the norm */
    double eps;
    double *sum, *square; /* by channel, of (x - mean) / sqrt(var + eps) */
    int64_t channels, n;  /* elements of each channel */
} moments;

/* x: [batch, channels, ...]. */
static void add(moments *m, tc_tensor x)
{
    int64_t all = tc_type_count(x.type), outer = x.type->dim[0] * m->channels,
            inner = outer ? all / outer : 0;
    for (int64_t i = 0; i < outer; i++) {
        int64_t c = i % m->channels;
        double mean = ti_load_f64(m->mean, c), scale = 1 / sqrt(ti_load_f64(m->var, c) + m->eps);
        for (int64_t j = 0; j < inner; j++) {
            double d = (ti_load_f64(x, i * inner + j) - mean) * scale;
            m->sum[c] += d;
            m->square[c] += d * d;
        }
    }
    m->n += m->channels ? all / m->channels : 0;
}

static double median(double *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof *v, ti_by_f64);
    return v[n / 2];
}

static void settle(moments *m, fit *out)
{
    for (int64_t c = 0; c < m->channels; c++) {
        double mean = m->sum[c] / (double)m->n;
        m->square[c] = m->square[c] / (double)m->n - (m->n < ENOUGH ? 0 : mean * mean);
        m->square[c] = m->square[c] < 0 ? 0 : m->square[c]; /* rounded, where nothing varies */
        m->sum[c] = fabs(mean);
    }
    out->offset = median(m->sum, m->channels);
    out->spread = median(m->square, m->channels);
    if (m->n < ENOUGH) { /* the spread is about the running mean, so it can only be too large */
        out->offset = 0;
        out->spread = fmax(1, out->spread);
    }
}

static void see_inputs(const tc_tensor *in, size_t n, fit *out)
{
    for (size_t i = 0; i < n; i++)
        for (int64_t k = 0; ti_is_float(in[i].type->dtype) && k < tc_type_count(in[i].type); k++) {
            double x = ti_load_f64(in[i], k);
            out->lo = fmin(out->lo, x);
            out->hi = fmax(out->hi, x);
        }
}

/* ---- running up to the norm ---- */

static tc_status measure(tc_ctx *ctx, const tc_module *model, tc_dataset *data, fit *out)
{
    *out = (fit){.lo = INFINITY, .hi = -INFINITY, .norm = first_norm(ctx, ti_main(model))};
    if (!out->norm || ti_main(model)->n_mutation)
        return TC_OK;
    tc_module *m = ti_module_clone(model);
    tc_graph *g = ti_main(m);
    tc_samples samples;
    moments sums = {.mean = ti_tensor_of(g, out->norm->in[3]),
                    .var = ti_tensor_of(g, out->norm->in[4]),
                    .eps = ((const tc_attr_eps *)out->norm->attr)->eps};
    sums.channels = tc_type_count(sums.var.type);
    sums.sum = tc_new_n(&ctx->arena, double, (size_t)sums.channels);
    sums.square = tc_new_n(&ctx->arena, double, (size_t)sums.channels);
    TC_TRY(ti_open_dataset(ctx, data, g, &samples));
    g->n_out = 0;
    ti_graph_output(g, out->norm->in[0]);
    TC_TRY(ti_road_run(ctx, m, TC_AT_COPY, TC_AT_AS_READ, NULL, NULL));
    TC_TRY(ti_road_run(ctx, m, TC_AT_AS_RUN, TC_AT_RUNNABLE, NULL, NULL));
    tc_exec *exec = ti_exec_new(ctx, m);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in), x;
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
    size_t n = samples.n < SAMPLES ? samples.n : SAMPLES;
    for (size_t k = 0; k < n; k++) { /* evenly among all */
        TC_TRY(samples.read(samples.from, k * samples.n / n, in));
        see_inputs(in, g->n_in, out);
        TC_TRY(ti_exec_run(exec, in, &x));
        add(&sums, x);
    }
    if (!sums.n || !sums.channels)
        out->norm = NULL;
    else
        settle(&sums, out);
    return TC_OK;
}

/* Inputs that do not vary at all are reported by calibration. */
static bool is_off(const fit *f)
{
    return f->norm && f->hi > f->lo &&
           !(f->spread >= LEAST && f->spread <= MOST && f->offset <= OFF);
}

static void tell_off(tc_ctx *ctx, const fit *f)
{
    if (isfinite(f->spread) && isfinite(f->offset))
        ti_warning(ctx, f->norm->loc, TC_E_DATA,
                   "calibration data is not scaled as in training: at the first batch norm its "
                   "spread is %.3g times what the statistics say, its mean %.2g standard deviations "
                   "off",
                   sqrt(f->spread), f->offset);
    else
        ti_warning(ctx, f->norm->loc, TC_E_DATA,
                   "calibration data is not scaled as in training: at the first batch norm its "
                   "numbers are not finite");
    ti_note(ctx, NULL,
            "the inputs reach from %.4g to %.4g: scale and normalize them as in training "
            "(--preprocess does it for images)",
            f->lo, f->hi);
}

void ti_data_fit(tc_ctx *ctx, const tc_module *model, tc_dataset *data)
{
    tc_attempt attempt;
    fit f;
    if (ti_dataset_invented(data)) {
        ti_warning(ctx, NULL, TC_E_DATA,
                   "%s: random data: the ranges, and so the accuracy, mean nothing",
                   data->path[0]);
        return;
    }
    const tc_dataset before = *data; /* what is opened in between is released with the attempt */
    ti_attempt_begin(ctx, &attempt);
    tc_status status = measure(ctx, model, data, &f);
    ti_attempt_end(ctx, &attempt);
    *data = before;
    if (status == TC_OK && is_off(&f)) /* otherwise whoever needs the data reports what is wrong
                                          with it */
        tell_off(ctx, &f);
}

void ti_data_missing(tc_ctx *ctx, tc_config *config)
{
    config->widen_noisy = false;
    ti_warning(ctx, NULL, TC_E_DATA,
               "no calibration data: ranges come from random numbers; which values need 16 bits, "
               "and the forms of softmax and attention, are not known");
    ti_note(ctx, NULL, "use --calib DATA: without it costs may be off by a third, in another "
                       "order");
}
