/* SPDX-License-Identifier: Apache-2.0 */
/* range_search.c -- from observations to a scale and a zero point.
 *
 * The search tries ranges [a min, b max], a and b among the factors below, and keeps the one with
 * the least
 *
 *   E = sum_i n_i (f(x_i) - f(y_i))^2        y_i: x_i on the grid of the range
 *
 * over the bins i of a histogram: n_i elements around x_i.  f is the only reader of the values, or
 * the identity.  All bins of one code have the same y, so that with running sums of n, n f(x) and n
 * f(x)^2 a code costs a few operations, however many bins it has. */
#include "observations.h"

#include <math.h>

#include "role.h"

enum { FACTORS = 35, MOST_CODES = 1024 };

/* 0.05, 0.10 ... 0.45, 0.50, 0.52 ... 1.00, from the last. */
static double factor(int i)
{
    return i <= 25 ? 1 - 0.02 * i : 0.45 - 0.05 * (i - 26);
}

static tc_grid grid_at_least(const tc_setting *setting, double scale, double lo)
{
    double least = setting->floor > 0 ? setting->floor : TC_LEAST_SCALE;
    if (!(scale > 0))
        least = fmax(least, TC_SCALE_OF_ZERO);
    tc_grid g = {(double)(float)(scale > least ? scale : least), 0};
    if (setting->symmetric)
        return g;
    double zero = (double)setting->qmin - rint(lo / g.scale);
    g.zero = zero > (double)setting->qmax   ? setting->qmax
             : zero > (double)setting->qmin ? (int64_t)zero
                                            : setting->qmin;
    return g;
}

/* Steps on the longer side of 0 when zero is 0. */
static double half_steps(const tc_setting *s)
{
    return (double)(s->qmin < 0 && -s->qmin < s->qmax ? -s->qmin : s->qmax);
}

tc_grid ti_grid_of(const tc_setting *setting, double lo, double hi)
{
    lo = lo < 0 && lo <= hi ? lo : 0;
    hi = hi > 0 && lo <= hi ? hi : 0;
    double scale = setting->symmetric ? fmax(-lo, hi) / half_steps(setting)
                                      : (hi - lo) / (double)(setting->qmax - setting->qmin);
    return grid_at_least(setting, scale, lo);
}

/* ---- the search ---- */

typedef struct search {
    const tc_node *after;
    bool top; /* the largest values are kept */
    tc_arena *scratch;
    const tc_type *type, *pair; /* f32[number of codes], f32[2] */
    double min, width, per_unit; /* of the bins */
    double n[TC_BINS + 1], f[TC_BINS + 1], ff[TC_BINS + 1]; /* running sums */
    int codes;
    double y[MOST_CODES], fy[MOST_CODES];
} search;

/* f of n elements of the type. */
static void apply(const search *s, const tc_type *type, const double *x, double *out)
{
    int64_t n = tc_type_count(type);
    if (!s->after) {
        memcpy(out, x, (size_t)n * sizeof *x);
        return;
    }
    tc_mark mark = ti_arena_mark(s->scratch);
    float *in = ti_arena_raw(s->scratch, (size_t)n * sizeof *in),
          *result = ti_arena_raw(s->scratch, (size_t)n * sizeof *in);
    for (int64_t i = 0; i < n; i++)
        in[i] = (float)x[i];
    tc_tensor a = {type, in}, b = {type, result};
    tc_call call = {s->after->attr, 1, 1, &a, &b, s->scratch, NULL};
    tc_ops[s->after->op].kernel(&call);
    for (int64_t i = 0; i < n; i++)
        out[i] = (double)result[i];
    ti_arena_rewind(s->scratch, mark);
}

static void sum_up(search *s, const uint64_t *count)
{
    double *x = tc_new_n(s->scratch, double, TC_BINS), *fx = tc_new_n(s->scratch, double, TC_BINS);
    for (int i = 0; i < TC_BINS; i++)
        x[i] = s->min + (i + 0.5) * s->width;
    apply(s, &(tc_type){.dtype = TC_f32, .rank = 1, .dim = {TC_BINS}}, x, fx);
    for (int i = 0; i < TC_BINS; i++) {
        double n = (double)count[i];
        s->n[i + 1] = s->n[i] + n;
        s->f[i + 1] = s->f[i] + n * fx[i];
        s->ff[i + 1] = s->ff[i] + n * fx[i] * fx[i];
    }
}

/* The bins with their middle below x. */
static int bins_below(const search *s, double x)
{
    double at = ceil((x - s->min) * s->per_unit - 0.5);
    return at <= 0 ? 0 : at >= TC_BINS ? TC_BINS : (int)at;
}

/* The error when bins from .. to become a value whose f is y. */
static double cost(const search *s, int from, int to, double y)
{
    return (s->ff[to] - s->ff[from]) -
           y * (2 * (s->f[to] - s->f[from]) - y * (s->n[to] - s->n[from]));
}

/* E of a grid of codes 0 .. codes - 1, of value step (k - zero); `best` or more when it is not the
 * least. The outermost codes, which hold what is clipped, often decide. */
static double error_of(search *s, double step, double zero, double best)
{
    int last = s->codes - 1;
    double end[2] = {step * (0 - zero), step * (last - zero)}, f_end[2];
    apply(s, s->pair, end, f_end);
    int first = bins_below(s, end[0] + step / 2), top = bins_below(s, end[1] - step / 2);
    double e = cost(s, 0, first, f_end[0]) + cost(s, top, TC_BINS, f_end[1]);
    if (e >= best)
        return e;
    for (int k = 0; k <= last; k++)
        s->y[k] = step * (k - zero);
    apply(s, s->type, s->y, s->fy);
    for (int k = 1, from = first; k < last; k++) {
        int to = k == last - 1 ? top : bins_below(s, s->y[k] + step / 2);
        if (to > from)
            e += cost(s, from, to, s->fy[k]);
        from = to;
    }
    return e;
}

/* Both ends by themselves. */
static void search_affine(search *s, double min, double max, double *lo, double *hi)
{
    double best = INFINITY;
    for (int i = 0; i < (min < 0 ? FACTORS : 1); i++)
        for (int j = 0; j < (max > 0 && !s->top ? FACTORS : 1); j++) {
            double a = factor(i) * min, b = (s->top ? TC_TOP_MARGIN : factor(j)) * max,
                   step = (b - a) / (s->codes - 1);
            double e = error_of(s, step, rint(-a / step), best);
            if (e < best) {
                best = e;
                *lo = a;
                *hi = b;
            }
        }
}

/* Both ends at once, symmetric. */
static void search_symmetric(search *s, const tc_setting *setting, double min, double max,
                             double *lo, double *hi)
{
    double best = INFINITY, most = fmax(-min, max);
    for (int i = 0; i < FACTORS && !(s->top && i && factor(i) * most < TC_TOP_MARGIN * max); i++) {
        double a = fmax(factor(i) * most, s->top ? TC_TOP_MARGIN * max : 0),
               e = error_of(s, a / half_steps(setting), (double)-setting->qmin, best);
        if (e < best) {
            best = e;
            *lo = -a;
            *hi = a;
        }
    }
}

tc_grid ti_search(tc_arena *scratch, const tc_setting *setting, tc_ends ends,
                  const uint64_t *count, const tc_node *after)
{
    double min = (double)ends.lo, max = (double)ends.hi, lo = min, hi = max;
    int64_t codes = setting->qmax - setting->qmin + 1;
    if (!(max - min > TC_LEAST_SCALE) || codes < 3 || codes > MOST_CODES || max - min > 1e30)
        return ti_grid_of(setting, min, max);
    tc_mark mark = ti_arena_mark(scratch);
    tc_type type = {.dtype = TC_f32, .rank = 1, .dim = {codes}},
            pair = {.dtype = TC_f32, .rank = 1, .dim = {2}};
    search *s = tc_new(scratch, search);
    s->top = after && ti_role_shares(after->op);
    s->after = s->top ? NULL : after;
    s->scratch = scratch;
    s->codes = (int)codes;
    s->type = &type;
    s->pair = &pair;
    s->min = min;
    s->width = (max - min) / TC_BINS;
    s->per_unit = TC_BINS / (max - min);
    sum_up(s, count);
    if (setting->symmetric)
        search_symmetric(s, setting, min, max, &lo, &hi);
    else
        search_affine(s, min, max, &lo, &hi);
    ti_arena_rewind(scratch, mark);
    return ti_grid_of(setting, lo, hi);
}

/* ---- percentile ---- */

/* The quantile `share`, counted from bin `from` in direction `by`; uniform within a bin. */
static double position(const uint64_t *count, double share, int from, int by)
{
    double at = 0;
    for (int k = 0, i = from; k < TC_BINS; k++, i += by) {
        double n = (double)count[i];
        if (n > 0 && share < n)
            return at + share / n;
        share -= n;
        at++;
    }
    return TC_BINS;
}

tc_grid ti_percentile(const tc_setting *setting, tc_ends ends, const uint64_t *count,
                      double percent)
{
    double total = 0, min = (double)ends.lo, max = (double)ends.hi, width = (max - min) / TC_BINS;
    for (int i = 0; i < TC_BINS; i++)
        total += (double)count[i];
    double out = total * (1 - percent / 100);
    return ti_grid_of(setting, min + width * position(count, out, 0, 1),
                      max - width * position(count, out, TC_BINS - 1, -1));
}
