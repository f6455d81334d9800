/* SPDX-License-Identifier: Apache-2.0 */
/* table_line.c -- see table_line.h.
 *
 * Between its bounds the line goes through (in_zero, out_zero), so that an entry t of code x says
 *
 *   t - out_zero - 1/2  <=  a (x - in_zero)  <  t - out_zero + 1/2
 *
 * and one at a bound only half of it.  All zero points are tried; what is left of a is an interval,
 * whose middle is tried on all codes. */
#include "table_line.h"

#include "../npu/scale.h"

#include <math.h>

enum { CODES = 256, FIRST = -128, BITS = 30, MOST = 127 };

/* Entries ascend by steps that differ by one at most, but at the bounds. */
static bool may_be(const int64_t *t)
{
    int64_t least = INT64_MAX, most = 0;
    for (int i = 1; i < CODES; i++) {
        int64_t step = t[i] - t[i - 1];
        if (step < 0)
            return false;
        most = step > most ? step : most;
        if (t[i - 1] > t[0] && t[i] < t[CODES - 1] && step < least)
            least = step;
    }
    return t[0] < t[CODES - 1] && (least == INT64_MAX || most - least <= 1);
}

static int64_t value_of(const tc_table_line *l, int64_t x)
{
    int64_t y = ti_npu_scaled(x - l->in_zero, (uint32_t)l->multiplier, l->shift,
                              TC_ROUND_NATURAL, 0) + l->out_zero;
    return y < l->lo ? l->lo : y > l->hi ? l->hi : y;
}

static bool is_line(const int64_t *t, const tc_table_line *l)
{
    for (int i = 0; i < CODES; i++)
        if (value_of(l, FIRST + i) != t[i])
            return false;
    return true;
}

/* The factors that every entry allows: [*least, *most]. */
static bool factors_of(const int64_t *t, const tc_table_line *l, double *least, double *most)
{
    *least = 0;
    *most = CODES;
    for (int i = 0; i < CODES && *least <= *most; i++) {
        double x = FIRST + i - l->in_zero, y = (double)(t[i] - l->out_zero), lo = y - 0.5, hi = y + 0.5;
        bool below = t[i] == l->lo, above = t[i] == l->hi;
        if (x == 0) {
            if ((below ? y < 0 : y != 0) && (above ? y > 0 : y != 0))
                return false;
            continue;
        }
        /* a x >= lo unless it is at the lower bound, a x < hi unless at the upper one. */
        if (!below)
            *(x > 0 ? least : most) = x > 0 ? fmax(*least, lo / x) : fmin(*most, lo / x);
        if (!above)
            *(x > 0 ? most : least) = x > 0 ? fmin(*most, hi / x) : fmax(*least, hi / x);
    }
    return *least <= *most && *most > 0;
}

static bool try_zeros(const int64_t *t, tc_table_line *l)
{
    double least, most;
    if (!factors_of(t, l, &least, &most))
        return false;
    double a = (least + most) / 2;
    l->shift = BITS;
    while (l->shift && ldexp(a, l->shift) >= ldexp(1, BITS))
        l->shift--;
    l->multiplier = (int32_t)rint(ldexp(a, l->shift));
    return l->multiplier > 0 && is_line(t, l);
}

bool ti_table_line(const int64_t *t, tc_table_line *out)
{
    if (!may_be(t))
        return false;
    *out = (tc_table_line){.lo = (int32_t)t[0], .hi = (int32_t)t[CODES - 1]};
    for (int i = 0; i < CODES; i++) {
        out->in_zero = FIRST + i;
        /* Its own entry, or beyond the bound that it is at. */
        int64_t first = t[i] == out->lo ? FIRST : t[i], end = t[i] == out->hi ? MOST : t[i];
        for (int64_t zero = first; zero <= end; zero++) {
            out->out_zero = (int32_t)zero;
            if (try_zeros(t, out))
                return true;
        }
    }
    return false;
}
