/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.c -- weights of few bits: ranges by search, and steps by group of input channels.
 *
 * TOSA has one scale for each output channel.  A group of input channels has a scale of its own
 * nevertheless when that is a whole multiple of the channel's: code = step * q, q of 4 bits. */
#include "lattice.h"

#include <math.h>

#include "../num/load.h"

/* The greatest q; without groups the upper end, as for all other weights. */
static int64_t greatest(const tc_setting *s)
{
    return s->group ? tc_max_i64(s->qmax, -s->qmin) : s->qmax;
}

int64_t tc_lattice_most(const tc_setting *s)
{
    return s->group && greatest(s) > 0 ? tc_max_i64(1, 127 / greatest(s)) : 1;
}

int64_t tc_lattice_top(const tc_setting *s) { return greatest(s) * tc_lattice_most(s); }

/* Where number i stands: its channel along the axis, and its place among the channel's numbers. */
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

/* Numbers of a channel that make a group: input channels stand before the output channels
 * (linear's transpose), or right behind them, with the taps of each. */
static int64_t group_size(const tc_type *t, int axis, int64_t group, int64_t inner)
{
    if (axis + 1 < t->rank)
        return group * (inner / tc_max_i64(1, t->dim[axis + 1]));
    return group;
}

/* The error of every group with that step. */
static void add_errors(const tc_lattice *l, tc_tensor w, tc_importance counts, int64_t step,
                       double *error)
{
    int64_t count = tc_type_count(w.type), k = count / tc_max_i64(1, l->n_channel),
            part = tc_max_i64(1, l->n_channel / tc_max_i64(1, counts.rows));
    for (int64_t i = 0; i < count; i++) {
        place at = place_of(i, l->n_channel, l->inner);
        double x = (double)((const float *)w.data)[i],
               s = l->quant->scale[at.channel] * (double)step;
        double e = x - s * nearest(x, s, l->lo, l->hi),
               by = counts.by ? (double)counts.by[at.channel / part * k + at.k] : 1;
        error[at.channel * l->n_group + at.k / l->each] += by * e * e;
    }
}

static void search_steps(tc_arena *arena, tc_lattice *l, tc_tensor w, tc_importance counts,
                         int64_t most)
{
    size_t n = (size_t)(l->n_channel * l->n_group);
    double *error = tc_new_n(arena, double, n), *best = tc_new_n(arena, double, n);
    l->step = tc_new_n(arena, int8_t, n);
    for (int64_t step = l->lo == -l->hi ? 1 : -most; step <= most; step += step == -1 ? 2 : 1) {
        memset(error, 0, n * sizeof *error);
        add_errors(l, w, counts, step, error);
        for (size_t g = 0; g < n; g++)
            if (!l->step[g] || error[g] < best[g]) {
                best[g] = error[g];
                l->step[g] = (int8_t)step;
            }
    }
}

tc_lattice tc_lattice_of(tc_arena *arena, tc_tensor w, const tc_quant *q, const tc_setting *s,
                         tc_importance importance)
{
    tc_lattice l = {.quant = q, .lo = s->qmin, .hi = s->qmax, .n_channel = q->count, .inner = 1};
    int64_t count = tc_type_count(w.type), each = count / tc_max_i64(1, q->count);
    for (int i = q->axis + 1; q->axis >= 0 && i < w.type->rank; i++)
        l.inner *= w.type->dim[i];
    l.inner = q->axis < 0 ? tc_max_i64(1, count) : l.inner;
    l.each = s->group && q->axis >= 0 ? group_size(w.type, q->axis, s->group, l.inner) : each;
    l.each = tc_max_i64(1, tc_min_i64(l.each, each));
    l.n_group = (each + l.each - 1) / l.each;
    if (tc_lattice_most(s) > 1)
        search_steps(arena, &l, w, importance, tc_lattice_most(s));
    return l;
}

void tc_lattice_round(const tc_lattice *l, tc_tensor w, tc_tensor codes)
{
    for (int64_t i = 0; i < tc_type_count(w.type); i++) {
        place at = place_of(i, l->n_channel, l->inner);
        int64_t step = tc_lattice_step(l, at.channel, at.k);
        double x = (double)((const float *)w.data)[i];
        double q = nearest(x, l->quant->scale[at.channel] * (double)step, l->lo, l->hi);
        tc_store_i64(codes, i, step * (int64_t)q);
    }
}

void tc_weights_search(tc_tensor w, int axis, int64_t n, int64_t qmax, float *most)
{
    enum { TRIES = 25 }; /* 1, 0.98 ... 0.52 of the largest magnitude */
    const float *x = w.data;
    int64_t count = tc_type_count(w.type), inner = axis < 0 ? tc_max_i64(1, count) : 1;
    for (int i = axis + 1; axis >= 0 && i < w.type->rank; i++)
        inner *= w.type->dim[i];
    for (int64_t c = 0; c < n; c++) {
        double least = INFINITY, whole = (double)most[c];
        for (int k = 0; k < TRIES && whole > 0; k++) {
            double s = whole * (1 - 0.02 * k) / (double)qmax, error = 0;
            for (int64_t o = 0; o < count / (n * inner); o++)
                for (int64_t i = 0; i < inner; i++) {
                    double v = (double)x[(o * n + c) * inner + i];
                    double e = v - s * nearest(v, s, -qmax, qmax);
                    error += e * e;
                }
            if (error < least) {
                least = error;
                most[c] = (float)(whole * (1 - 0.02 * k));
            }
        }
    }
}
