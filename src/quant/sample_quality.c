/* SPDX-License-Identifier: Apache-2.0 */
/* sample_quality.c -- see sample_quality.h.
 *
 * Of each input: whether it ever varies, whether it varies within a sample, whether it has more
 * than two values.  Of the samples: how many differ.  Of the ranges: whether they still grow: the
 * ratio of the range of all samples to that of a quarter of them. */
#include "sample_quality.h"

#include <math.h>
#include <stdlib.h>

#include "../num/load.h"

enum { QUARTERS = 4, PICTURE = 64 }; /* elements of an input enough for it to vary */
static const double GROWING = 1.4;

typedef struct input {
    double lo, hi;
    double value[2]; /* the distinct values, up to a limit */
    int n_value;     /* 3: there are */
    bool uneven;     /* some sample has two values */
} input;

struct tc_sample_quality {
    const tc_graph *g;
    input *in; /* by input of the program */
};

tc_sample_quality *ti_sample_quality_new(tc_ctx *ctx, const tc_graph *g)
{
    tc_sample_quality *w = tc_new(&ctx->arena, tc_sample_quality);
    w->g = g;
    w->in = tc_new_n(&ctx->arena, input, g->n_in);
    for (size_t i = 0; i < g->n_in; i++)
        w->in[i] = (input){.lo = INFINITY, .hi = -INFINITY};
    return w;
}

static void see_value(input *s, double x)
{
    for (int i = 0; i < s->n_value && i < 2; i++)
        if (s->value[i] == x)
            return;
    if (s->n_value < 2)
        s->value[s->n_value] = x;
    if (s->n_value < 3)
        s->n_value++;
}

static void see_one(input *s, tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    tc_ends e = ti_ends_none();
    if (t.type->dtype == TC_f32)
        ti_ends_see(&e, t.data, n);
    double lo = (double)e.lo, hi = (double)e.hi;
    for (int64_t i = 0; t.type->dtype != TC_f32 && i < n; i++) {
        double x = ti_load_f64(t, i);
        lo = i ? fmin(lo, x) : x;
        hi = i ? fmax(hi, x) : x;
    }
    if (n && lo <= hi) {
        s->lo = fmin(s->lo, lo) + 0.0; /* -0 is 0 */
        s->hi = fmax(s->hi, hi) + 0.0;
        s->uneven = s->uneven || lo < hi;
    }
    for (int64_t i = 0; i < n && s->n_value < 3; i++)
        see_value(s, ti_load_f64(t, i));
}

void ti_sample_quality_see(tc_sample_quality *w, const tc_tensor *in)
{
    for (size_t i = 0; i < w->g->n_in; i++)
        see_one(&w->in[i], in[i]);
}

static input merged(tc_sample_quality *const *by, size_t n, size_t i)
{
    input all = by[0]->in[i];
    for (size_t k = 1; k < n; k++) {
        const input *s = &by[k]->in[i];
        all.lo = fmin(all.lo, s->lo);
        all.hi = fmax(all.hi, s->hi);
        all.uneven = all.uneven || s->uneven;
        if (s->n_value > 2)
            all.n_value = 3;
        for (int j = 0; j < s->n_value && j < 2; j++)
            see_value(&all, s->value[j]);
    }
    return all;
}

/* ---- messages ---- */

static const char *name_of(const tc_graph *g, size_t i)
{
    const char *name = g->val[g->in[i]]->name;
    return name ? name : "the input";
}

/* Values that stand for infinity do not count as ends. */
static bool varies(const input *s)
{
    return s->lo < s->hi || s->n_value > 1;
}

static void say_what_to_do(tc_ctx *ctx)
{
    ti_note(ctx, NULL,
            "use %d or more typical samples, preprocessed as for the float model",
            TC_FEW_SAMPLES);
}

/* Of all inputs together, in one sample. */
static int64_t numbers_of(const tc_graph *g)
{
    int64_t n = 0;
    for (size_t i = 0; i < g->n_in; i++)
        n += tc_type_count(ti_type_of(g, g->in[i]));
    return n;
}

static size_t count_different(const tc_first *rows)
{
    size_t n = rows->n_sample > 0;
    for (size_t k = 1; k < rows->n_sample; k++)
        n += rows->sample[k].hash != rows->sample[k - 1].hash;
    return n;
}

/* If no input varies, nothing else is reported. */
static bool say_constant(tc_ctx *ctx, const tc_graph *g, const input *in, size_t n_sample)
{
    for (size_t i = 0; i < g->n_in; i++)
        if (varies(&in[i]))
            return false;
    if (numbers_of(g) < 2)
        return false;
    ti_warning(ctx, NULL, TC_E_DATA,
               "calibration data is constant: '%s' is %.6g everywhere, in %zu sample%s; the "
               "ranges cover nothing else",
               name_of(g, 0), in[0].lo, n_sample, n_sample == 1 ? "" : "s");
    say_what_to_do(ctx);
    return true;
}

/* Single inputs among others that vary. */
static void say_inputs(tc_ctx *ctx, const tc_graph *g, const input *in, size_t n_sample)
{
    for (size_t i = 0; i < g->n_in; i++) {
        const tc_type *t = ti_type_of(g, g->in[i]);
        int64_t n = tc_type_count(t);
        if (!ti_is_float(t->dtype) || n < 2)
            continue;
        if (!varies(&in[i]) && n_sample > 1)
            ti_note(ctx, NULL,
                    "'%s' is %.6g everywhere in all %zu calibration samples: the ranges cover "
                    "nothing else",
                    name_of(g, i), in[i].lo, n_sample);
        else if (!in[i].uneven && n >= PICTURE && n_sample > 1) {
            ti_warning(ctx, NULL, TC_E_DATA,
                       "each calibration sample of '%s' is constant, from %.6g to %.6g: the "
                       "ranges after it are those of flat inputs",
                       name_of(g, i), in[i].lo, in[i].hi);
            say_what_to_do(ctx);
        } else if (in[i].n_value == 2 && n >= PICTURE && t->rank == 4)
            ti_note(ctx, NULL,
                    "'%s' is only %.6g or %.6g in the calibration data: the ranges after it may "
                    "be too wide or too narrow for other values",
                    name_of(g, i), in[i].lo, in[i].hi);
    }
}

/* Ratio of the range of all samples to that of a quarter: the mean over QUARTERS, the median over
 * domains.  By content, so that no order of the samples matters. */
static double growth(tc_ctx *ctx, const tc_first *rows, const tc_ranges *ranges,
                     const bool *judged)
{
    double *ratio = tc_new_n(&ctx->arena, double, rows->n_domain);
    size_t n = 0;
    for (size_t d = 0; d < rows->n_domain; d++) {
        double part[QUARTERS] = {0}, all = 0, sum = 0;
        bool seen = judged[d];
        for (size_t k = 0; k < rows->n_sample && judged[d]; k++) {
            double *to = &part[k * QUARTERS / rows->n_sample];
            if (!ti_ranges_odd(ranges, rows->sample[k].hash))
                *to = fmax(*to, (double)ti_ends_size(rows->ends[k * rows->n_domain + d]));
        }
        for (int i = 0; i < QUARTERS; i++) {
            all = fmax(all, part[i]);
            seen = seen && part[i] > 0;
        }
        for (int i = 0; i < QUARTERS && seen; i++)
            sum += all / part[i] / QUARTERS;
        if (seen)
            ratio[n++] = sum;
    }
    qsort(ratio, n, sizeof *ratio, ti_by_f64);
    return n ? ratio[n / 2] : 1;
}

static void say_number(tc_ctx *ctx, const tc_first *rows, const tc_ranges *ranges,
                       const bool *judged)
{
    size_t n = rows->n_sample, different = count_different(rows);
    if (n > 1 && different == 1) {
        ti_warning(ctx, NULL, TC_E_DATA,
                   "all %zu calibration samples are equal: the ranges are those of one sample", n);
        say_what_to_do(ctx);
        return;
    }
    const char *of_which =
        different < n ? ti_text_format(&ctx->arena, ", of which %zu differ", different) : "";
    if (different < TC_FEW_SAMPLES) {
        ti_warning(ctx, NULL, TC_E_DATA,
                   "%zu calibration sample%s%s: ranges from fewer than %d varied ones are often "
                   "too narrow",
                   n, n == 1 ? "" : "s", of_which, TC_FEW_SAMPLES);
        return;
    }
    double more = growth(ctx, rows, ranges, judged);
    if (more > GROWING) {
        ti_warning(ctx, NULL, TC_E_DATA,
                   "%zu calibration samples%s are too few for the ranges: all of them reach %.1f "
                   "times as far as a quarter of them, for half of the values",
                   n, of_which, more);
        ti_note(ctx, NULL, "values beyond the ranges are clipped: use more samples");
    }
}

void ti_sample_quality_tell(tc_ctx *ctx, const tc_graph *g, tc_sample_quality *const *by, size_t n,
                            const tc_first *rows, const tc_ranges *ranges, const bool *judged)
{
    input *in = tc_new_n(&ctx->arena, input, g->n_in);
    for (size_t i = 0; by && i < g->n_in; i++)
        in[i] = merged(by, n, i);
    if (!numbers_of(g) || (by && say_constant(ctx, g, in, rows->n_sample)))
        return;
    say_number(ctx, rows, ranges, judged);
    if (by)
        say_inputs(ctx, g, in, rows->n_sample);
}
