/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c -- the loops over observed numbers: ends and counts.
 *
 * The order of the numbers never matters, so they are taken as they lie in memory. */
#include "seen.h"

#include "../num/wide.h"

#include <float.h>
#include <math.h>

enum { WIDTH = 64, BLOCK = 64, FEW = 4 * TC_BINS, MANY = 1 << 14 };

tc_ends tc_ends_none(void) { return (tc_ends){FLT_MAX, -FLT_MAX}; }

void tc_ends_add(tc_ends *ends, tc_ends more)
{
    ends->lo = more.lo < ends->lo ? more.lo : ends->lo;
    ends->hi = more.hi > ends->hi ? more.hi : ends->hi;
}

static void see_plainly(tc_ends *ends, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (fabsf(x[i]) < TC_HUGE)
            tc_ends_add(ends, (tc_ends){x[i], x[i]});
}

/* The ends of each of WIDTH columns of n rows; a comparison with NaN is false. */
TC_WIDE_BODY columns_body(const float *x, int64_t n, float *lo, float *hi)
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
TC_WIDE(static, columns, columns_body, (const float *x, int64_t n, float *lo, float *hi), (x, n, lo, hi))

void tc_ends_see(tc_ends *ends, const float *x, int64_t n)
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
        tc_ends_add(&all, (tc_ends){lo[j], hi[j]});
    if (all.lo <= -TC_HUGE || (all.hi >= TC_HUGE && all.lo <= all.hi)) /* infinities: again, without them */
        i = 0;
    else
        *ends = all;
    see_plainly(ends, x + i, n - i);
}

/* The bins that n <= BLOCK numbers belong to. */
TC_WIDE_BODY bins_body(const float *restrict x, int64_t n, float lo, float per_unit, int32_t *restrict bin)
{
    for (int64_t i = 0; i < n; i++) {
        float at = (x[i] - lo) * per_unit;
        at = at > 0 ? at : 0;
        at = at < (float)(TC_BINS - 1) ? at : (float)(TC_BINS - 1);
        bin[i] = (int32_t)at;
    }
}

TC_WIDE(static, bins_of, bins_body, (const float *restrict x, int64_t n, float lo, float per_unit, int32_t *restrict bin),
               (x, n, lo, per_unit, bin))

/* Neighbouring numbers are often equal, and adding twice to one place has to wait: four places take turns. */
static void add_lanes(tc_tally *tally, const int32_t *bin, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        tally->lane[0][bin[i]]++;
        tally->lane[1][bin[i + 1]]++;
        tally->lane[2][bin[i + 2]]++;
        tally->lane[3][bin[i + 3]]++;
    }
    for (; i < n; i++)
        tally->lane[0][bin[i]]++;
}

static void empty_lanes(tc_tally *tally, uint64_t *count)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < TC_BINS; i++)
            count[i] += tally->lane[k][i];
    memset(tally, 0, sizeof *tally);
}

/* One block in four, without a pattern that the axes of a tensor could follow. */
static bool chosen(int64_t block)
{
    return ((uint32_t)block * UINT32_C(2654435761)) >> 30 == 0;
}

void tc_count(tc_tally *tally, const float *x, int64_t n, tc_ends ends, uint64_t *count)
{
    const int64_t most = INT64_C(1) << 31; /* what a lane can hold for sure */
    int32_t bin[BLOCK];
    bool few = n < (n < MANY ? FEW : 4 * FEW);
    float per_unit = (float)(TC_BINS / ((double)ends.hi - (double)ends.lo));
    for (int64_t start = 0; start < n; start += most) {
        int64_t end = tc_min_i64(n, start + most);
        for (int64_t i = start; i < end; i += BLOCK) {
            int64_t m = tc_min_i64(BLOCK, end - i);
            if (n >= MANY && !chosen(i / BLOCK))
                continue;
            bins_of(x + i, m, ends.lo, per_unit, bin);
            if (few)
                for (int64_t j = 0; j < m; j++)
                    count[bin[j]]++;
            else
                add_lanes(tally, bin, m);
        }
        if (!few)
            empty_lanes(tally, count);
    }
}
