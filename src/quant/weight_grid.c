/* SPDX-License-Identifier: Apache-2.0 */
/* weight_grid.c -- weights of few bits: ranges by search, and steps by group of input channels.
 *
 * TOSA has one scale for each output channel.  A group of input channels can still have its own
 * scale if that is an integer multiple of the channel's: code = step * q, q of 4 bits. */
#include "weight_grid.h"

#include <math.h>

#include "../num/lanes.h"
#include "../num/load.h"
#include "sample_runner.h"

/* The greatest q; without groups the upper end, as for all other weights. */
static int64_t greatest(const tc_setting *s)
{
    return s->group ? ti_max_i64(s->qmax, -s->qmin) : s->qmax;
}

/* The greatest step: 15 of -8 .. 7, so that 8 * 15 is a code of 8 bits; 1 without groups. */
static int64_t most_steps(const tc_setting *s)
{
    return s->group && greatest(s) > 0 ? ti_max_i64(1, 127 / greatest(s)) : 1;
}

int64_t ti_lattice_top(const tc_setting *s) { return greatest(s) * most_steps(s); }

/* Element i: its channel along the axis, and its index among the channel's elements. */
typedef struct place {
    int64_t channel, k;
} place;

static place place_of(int64_t i, int64_t n, int64_t inner)
{
    return (place){i / inner % n, i / (n * inner) * inner + i % inner};
}

static double nearest(double x, double scale, int64_t lo, int64_t hi)
{
    return fmax((double)lo, fmin((double)hi, nearbyint(x / scale)));
}

/* Elements of a channel that make a group: input channels are before the output channels (linear's
 * transpose), or right after them, with the taps of each. */
static int64_t group_size(const tc_type *t, int axis, int64_t group, int64_t inner)
{
    if (axis + 1 < t->rank)
        return group * (inner / ti_max_i64(1, t->dim[axis + 1]));
    return group;
}

/* ---- steps by group ---- */

enum { MOST_STEPS = 2 * 127 };

/* Adds by * (x - s q)^2 for each of n scales s, q the nearest code. */
TC_LANES_BODY add_error(double x, double by, double lo, double hi, const double *restrict scale,
                        double *restrict error, int n)
{
    for (int j = 0; j < n; j++) {
        double q = nearbyint(x / scale[j]);
        q = q < hi ? q : hi;
        q = q > lo ? q : lo;
        double e = x - scale[j] * q;
        error[j] += by * e * e;
    }
}
TC_LANES(static, add_errors, add_error,
         (double x, double by, double lo, double hi, const double *restrict scale,
          double *restrict error, int n),
         (x, by, lo, hi, scale, error, n))

typedef struct searching {
    const tc_lattice *l;
    tc_tensor w;
    tc_importance counts;
    int64_t step[MOST_STEPS]; /* of a group, in order of preference */
    int n_step;
} searching;

/* The steps of one channel's groups. */
static void search_channel(void *what, size_t channel, tc_arena *room)
{
    const searching *s = what;
    const tc_lattice *l = s->l;
    int64_t c = (int64_t)channel, k = tc_type_count(s->w.type) / ti_max_i64(1, l->n_channel),
            part = ti_max_i64(1, l->n_channel / ti_max_i64(1, s->counts.rows));
    const float *x = s->w.data, *by = s->counts.by ? s->counts.by + c / part * k : NULL;
    double scale[MOST_STEPS], error[MOST_STEPS];
    (void)room;
    for (int j = 0; j < s->n_step; j++)
        scale[j] = l->quant->scale[c] * (double)s->step[j];
    for (int64_t g = 0; g < l->n_group; g++) {
        memset(error, 0, (size_t)s->n_step * sizeof *error);
        for (int64_t i = g * l->each; i < ti_min_i64(k, (g + 1) * l->each); i++)
            add_errors((double)x[(i / l->inner * l->n_channel + c) * l->inner + i % l->inner],
                       by ? (double)by[i] : 1, (double)l->lo, (double)l->hi, scale, error,
                       s->n_step);
        int best = 0;
        for (int j = 1; j < s->n_step; j++)
            best = error[j] < error[best] ? j : best;
        l->step[c * l->n_group + g] = (int8_t)s->step[best];
    }
}

static void search_steps(tc_ctx *ctx, tc_arena *arena, tc_lattice *l, tc_tensor w,
                         tc_importance counts, int64_t most)
{
    searching s = {.l = l, .w = w, .counts = counts};
    l->step = tc_new_n(arena, int8_t, (size_t)(l->n_channel * l->n_group));
    for (int64_t step = l->lo == -l->hi ? 1 : -most; step <= most; step += step == -1 ? 2 : 1)
        s.step[s.n_step++] = step;
    size_t n = (size_t)l->n_channel;
    ti_each(ctx, n, ti_each_threads(ctx, n), search_channel, &s);
}

bool ti_lattice_plain(const tc_setting *setting) { return most_steps(setting) <= 1; }

tc_lattice ti_lattice_of(tc_ctx *ctx, tc_arena *arena, tc_tensor w, const tc_quant *q,
                         const tc_setting *s, tc_importance importance)
{
    tc_lattice l = {.quant = q, .lo = s->qmin, .hi = s->qmax, .n_channel = q->count, .inner = 1};
    int64_t count = tc_type_count(w.type), each = count / ti_max_i64(1, q->count);
    for (int i = q->axis + 1; q->axis >= 0 && i < w.type->rank; i++)
        l.inner *= w.type->dim[i];
    l.inner = q->axis < 0 ? ti_max_i64(1, count) : l.inner;
    l.each = s->group && q->axis >= 0 ? group_size(w.type, q->axis, s->group, l.inner) : each;
    l.each = ti_max_i64(1, ti_min_i64(l.each, each));
    l.n_group = (each + l.each - 1) / l.each;
    if (most_steps(s) > 1)
        search_steps(ctx, arena, &l, w, importance, most_steps(s));
    return l;
}

void ti_lattice_round(const tc_lattice *l, tc_tensor w, tc_tensor codes)
{
    for (int64_t i = 0; i < tc_type_count(w.type); i++) {
        place at = place_of(i, l->n_channel, l->inner);
        int64_t step = ti_lattice_step(l, at.channel, at.k);
        double x = (double)((const float *)w.data)[i];
        double q = nearest(x, l->quant->scale[at.channel] * (double)step, l->lo, l->hi);
        ti_store_i64(codes, i, step * (int64_t)q);
    }
}

/* ---- ranges ---- */

enum { TRIES = 25 }; /* 1, 0.98 ... 0.52 of the largest magnitude */

typedef struct ranging {
    tc_tensor w;
    int64_t n, inner, qmax;
    float *most; /* by channel */
} ranging;

static void range_channel(void *what, size_t channel, tc_arena *room)
{
    const ranging *r = what;
    int64_t c = (int64_t)channel, outer = tc_type_count(r->w.type) / (r->n * r->inner);
    double scale[TRIES], error[TRIES] = {0}, whole = (double)r->most[c], hi = (double)r->qmax;
    (void)room;
    for (int k = 0; k < TRIES; k++)
        scale[k] = whole * (1 - 0.02 * k) / hi;
    for (int64_t o = 0; o < outer && whole > 0; o++) {
        const float *x = (const float *)r->w.data + (o * r->n + c) * r->inner;
        for (int64_t i = 0; i < r->inner; i++)
            add_errors((double)x[i], 1, -hi, hi, scale, error, TRIES);
    }
    int best = 0;
    for (int k = 1; k < TRIES; k++)
        best = error[k] < error[best] ? k : best;
    r->most[c] = (float)(whole * (1 - 0.02 * best));
}

void ti_weights_search(tc_ctx *ctx, tc_tensor w, int axis, int64_t n, int64_t qmax, float *most)
{
    int64_t count = tc_type_count(w.type);
    ranging r = {w, n, axis < 0 ? ti_max_i64(1, count) : 1, qmax, most};
    for (int i = axis + 1; axis >= 0 && i < w.type->rank; i++)
        r.inner *= w.type->dim[i];
    if (n > 0 && r.inner > 0)
        ti_each(ctx, (size_t)n, ti_each_threads(ctx, (size_t)n), range_channel, &r);
}
