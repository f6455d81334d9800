/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c -- the loops over observed values: ends, counts, sums by channel.
 *
 * The order of elements never matters, so they are read in memory order. */
#include "observations.h"

#include "../num/lanes.h"

#include <float.h>
#include <math.h>

enum { WIDTH = 64, BLOCK = 64, MANY = 1 << 14, FEW = 1024 };

tc_ends ti_ends_none(void) { return (tc_ends){FLT_MAX, -FLT_MAX}; }

void ti_ends_add(tc_ends *ends, tc_ends more)
{
    ends->lo = more.lo < ends->lo ? more.lo : ends->lo;
    ends->hi = more.hi > ends->hi ? more.hi : ends->hi;
}

static void see_plainly(tc_ends *ends, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (fabsf(x[i]) < TC_HUGE)
            ti_ends_add(ends, (tc_ends){x[i], x[i]});
}

/* The ends of each of WIDTH columns of n rows; a comparison with NaN is false. */
TC_LANES_BODY columns_body(const float *x, int64_t n, float *lo, float *hi)
{
    float a[WIDTH], b[WIDTH];
    memcpy(a, lo, sizeof a);
    memcpy(b, hi, sizeof b);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < WIDTH; j++) {
            float v = x[i * WIDTH + j];
            a[j] = v < a[j] ? v : a[j];
            b[j] = v > b[j] ? v : b[j];
        }
    memcpy(lo, a, sizeof a);
    memcpy(hi, b, sizeof b);
}
TC_LANES(static, columns, columns_body, (const float *x, int64_t n, float *lo, float *hi),
         (x, n, lo, hi))

void ti_ends_see(tc_ends *ends, const float *x, int64_t n)
{
    float lo[WIDTH], hi[WIDTH];
    for (int j = 0; j < WIDTH; j++) {
        lo[j] = ends->lo;
        hi[j] = ends->hi;
    }
    columns(x, n / WIDTH, lo, hi);
    int64_t i = n / WIDTH * WIDTH;
    tc_ends all = *ends;
    for (int j = 0; j < WIDTH; j++)
        ti_ends_add(&all, (tc_ends){lo[j], hi[j]});
    if (all.lo <= -TC_HUGE ||
        (all.hi >= TC_HUGE && all.lo <= all.hi)) /* infinities: again, without them */
        i = 0;
    else
        *ends = all;
    see_plainly(ends, x + i, n - i);
}

/* Whether some of n elements is NaN or infinite: then 0 times it is not 0. */
TC_LANES_BODY finite_body(const float *x, int64_t n, uint32_t *bad)
{
    uint32_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= !(x[i] * 0.0f == 0.0f);
    *bad = found;
}
TC_LANES(static, find_bad, finite_body, (const float *x, int64_t n, uint32_t *bad), (x, n, bad))

bool ti_all_finite(const float *x, int64_t n)
{
    uint32_t bad;
    find_bad(x, n, &bad);
    return !bad;
}

/* The bins of n <= BLOCK elements; those of bin `zero` alternate with the spare ones at the end,
 * since repeated adds to one address stall. */
TC_LANES_BODY bins_body(const float *restrict x, int64_t n, float lo, float per_unit, int32_t zero,
                        int32_t *restrict bin)
{
    for (int64_t i = 0; i < n; i++) {
        float at = (x[i] - lo) * per_unit;
        at = at > 0 ? at : 0;
        at = at < (float)(TC_BINS - 1) ? at : (float)(TC_BINS - 1);
        int32_t b = (int32_t)at;
        bin[i] = b == zero ? TC_BINS + ((int32_t)i & (TC_SPARE_BINS - 1)) : b;
    }
}
TC_LANES(static, bins_of, bins_body,
         (const float *restrict x, int64_t n, float lo, float per_unit, int32_t zero,
          int32_t *restrict bin),
         (x, n, lo, per_unit, zero, bin))

static float bins_per_unit(tc_ends ends)
{
    return (float)(TC_BINS / ((double)ends.hi - (double)ends.lo));
}

/* The bin of 0, the most frequent value. */
static int32_t zero_bin(tc_ends ends)
{
    const float zero = 0;
    int32_t bin;
    bins_body(&zero, 1, ends.lo, bins_per_unit(ends), -1, &bin);
    return bin;
}

/* The 16-bit counts onto wide ones. */
static void add_counts(const uint16_t *from, tc_ends ends, uint64_t *count)
{
    for (int i = 0; i < TC_BINS; i++)
        count[i] += from[i];
    for (int i = TC_BINS; i < TC_BINS + TC_SPARE_BINS; i++)
        count[zero_bin(ends)] += from[i];
}

void ti_tally_add(const tc_tally *tally, tc_ends ends, uint64_t *count)
{
    for (uint32_t i = 0; i < tally->n_few; i++)
        count[tally->few[i]]++;
    if (tally->count)
        add_counts(tally->count, ends, count);
    for (int i = 0; tally->whole && i < TC_BINS; i++)
        count[i] += tally->whole[i];
}

/* Space for more bins, one by one. */
static void reserve_few(tc_tally *t, tc_arena *arena, int64_t n)
{
    if (t->n_few + n <= t->cap_few)
        return;
    t->cap_few = (uint32_t)ti_max_i64(2 * t->cap_few, ti_max_i64(t->n_few + n, 8));
    uint16_t *more = tc_new_n(arena, uint16_t, t->cap_few);
    if (t->n_few)
        memcpy(more, t->few, t->n_few * sizeof *more);
    t->few = more;
}

/* Too many: what was kept one by one is counted. */
static void begin_counts(tc_tally *t, tc_arena *arena)
{
    t->count = tc_new_n(arena, uint16_t, TC_BINS + TC_SPARE_BINS);
    for (uint32_t i = 0; i < t->n_few; i++)
        t->count[t->few[i]]++;
    t->total = t->n_few;
    t->n_few = 0;
}

static void empty_counts(tc_tally *t, tc_arena *arena, tc_ends ends)
{
    if (!t->whole)
        t->whole = tc_new_n(arena, uint64_t, TC_BINS);
    add_counts(t->count, ends, t->whole);
    memset(t->count, 0, (TC_BINS + TC_SPARE_BINS) * sizeof *t->count);
    t->total = 0;
}

/* One block in four, without a pattern that the axes of a tensor could follow. */
static bool chosen(int64_t block)
{
    return (uint32_t)block * UINT32_C(2654435761) >> 30 == 0;
}

void ti_count(tc_tally *tally, tc_arena *arena, const float *x, int64_t n, tc_ends ends)
{
    int32_t bin[BLOCK];
    bool few = !tally->count && tally->n_few + n <= FEW;
    int32_t zero = few ? -1 : zero_bin(ends);
    float per_unit = bins_per_unit(ends);
    if (few)
        reserve_few(tally, arena, n);
    else if (!tally->count)
        begin_counts(tally, arena);
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = ti_min_i64(BLOCK, n - i);
        if (n >= MANY && !chosen(i / BLOCK))
            continue;
        bins_of(x + i, m, ends.lo, per_unit, zero, bin);
        for (int64_t j = 0; few && j < m; j++)
            tally->few[tally->n_few++] = (uint16_t)bin[j];
        if (few)
            continue;
        if (tally->total > UINT16_MAX - BLOCK)
            empty_counts(tally, arena, ends);
        for (int64_t j = 0; j < m; j++)
            tally->count[bin[j]]++;
        tally->total += (uint32_t)m;
    }
}

/* ---- channels ---- */

enum { LANES = 8 };

TC_LANES_BODY sums_body(const float *restrict x, int64_t outer, int64_t n, int64_t inner,
                        double *restrict sum)
{
    for (int64_t o = 0; inner == 1 && o < outer; o++)
        for (int64_t c = 0; c < n; c++)
            sum[c] += (double)x[o * n + c];
    for (int64_t row = 0; inner > 1 && row < outer * n; row++) {
        const float *y = x + row * inner;
        double lane[LANES] = {0}, all = 0;
        int64_t i = 0;
        for (; i + LANES <= inner; i += LANES)
            for (int j = 0; j < LANES; j++)
                lane[j] += (double)y[i + j];
        for (; i < inner; i++)
            all += (double)y[i];
        for (int j = 0; j < LANES; j++)
            all += lane[j];
        sum[row % n] += all;
    }
}
TC_LANES(, ti_channel_sums, sums_body,
         (const float *restrict x, int64_t outer, int64_t n, int64_t inner, double *restrict sum),
         (x, outer, n, inner, sum))

TC_LANES_BODY move_body(float *restrict x, int64_t outer, int64_t n, int64_t inner,
                        const float *restrict by)
{
    for (int64_t o = 0; inner == 1 && o < outer; o++)
        for (int64_t c = 0; c < n; c++)
            x[o * n + c] += by[c];
    for (int64_t row = 0; inner > 1 && row < outer * n; row++)
        for (int64_t i = 0; i < inner; i++)
            x[row * inner + i] += by[row % n];
}
TC_LANES(, ti_channel_move, move_body,
         (float *restrict x, int64_t outer, int64_t n, int64_t inner, const float *restrict by),
         (x, outer, n, inner, by))
