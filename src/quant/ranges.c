/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c -- the first pass: outlier samples, and the range of each domain over the others.
 *
 * A sample is far out in a domain when its largest magnitude there is more than FAR times the
 * median over the samples; it is odd when that is so in more than a quarter of the domains.  One
 * broken image would otherwise set every range.
 *
 * It is odd, too, if it alone, or with few, is far beyond all others in some domain: more than
 * ALONE times as far, and by more than their own spread,
 *
 *   first / second > (second / median)^2
 *
 * One broken pixel is enough for that; a long tail is not.
 *
 * A domain whose median is 0 is inactive in most samples: activity there is not odd.  If more than
 * one in RARE is odd, none is: such data is heavy-tailed, and its largest samples are valid. */
#include "observations.h"

#include <math.h>
#include <stdlib.h>

static const double FAR = 2, SHARE = 0.25, ALONE = 4;
enum { RARE = 20, LEAST_SAMPLES = 4 };
static const float AVERAGING = 0.01f; /* weight of a new sample in the moving average */

/* The median of n values, which are sorted; of an even number, the mean of the middle two. */
static double median(float *v, size_t n)
{
    qsort(v, n, sizeof *v, ti_by_f32);
    return n ? ((double)v[n / 2] + (double)v[(n - 1) / 2]) / 2 : 0;
}

/* by sample: in how many domains it is far out. */
static void count_far(tc_ctx *ctx, const tc_first *first, const bool *watched, size_t *far_in)
{
    float *v = tc_new_n(&ctx->scratch, float, first->n_sample);
    for (size_t d = 0; d < first->n_domain; d++) {
        if (!watched[d])
            continue;
        for (size_t k = 0; k < first->n_sample; k++)
            v[k] = ti_ends_size(first->ends[k * first->n_domain + d]);
        double limit = FAR * median(v, first->n_sample);
        for (size_t k = 0; k < first->n_sample; k++)
            far_in[k] +=
                limit > 0 && (double)ti_ends_size(first->ends[k * first->n_domain + d]) > limit;
    }
}

static size_t few_of(size_t n)
{
    return n < 2 * TC_ALONE ? 1 : n / TC_ALONE;
}

double ti_reach_without_few(tc_arena *scratch, const float *v, size_t n)
{
    if (n < LEAST_SAMPLES)
        return 0;
    tc_mark mark = ti_arena_mark(scratch);
    float *sorted = ti_arena_copy(scratch, v, n * sizeof *v);
    double middle = median(sorted, n), found = 0;
    for (size_t i = n - 1; i + few_of(n) >= n && !(found > 0); i--) {
        double above = (double)sorted[i], below = (double)sorted[i - 1];
        bool apart = above > ALONE * below && above * middle * middle > below * below * below;
        found = middle > 0 && apart ? below : 0;
    }
    ti_arena_rewind(scratch, mark);
    return found;
}

/* far, by sample: an input of the program before any other domain. */
static void find_alone(tc_ctx *ctx, const tc_first *first, const bool *watched, tc_far_out *far)
{
    float *v = tc_new_n(&ctx->scratch, float, first->n_sample);
    for (size_t d = 0; d < first->n_domain; d++) {
        bool given = first->given && first->given[d];
        for (size_t k = 0; k < first->n_sample; k++)
            v[k] = ti_ends_size(first->ends[k * first->n_domain + d]);
        double others =
            watched[d] ? ti_reach_without_few(&ctx->scratch, v, first->n_sample) : 0;
        for (size_t k = 0; others > 0 && k < first->n_sample; k++)
            if ((double)v[k] > others && (far[k].domain < 0 || (given && !far[k].given)))
                far[k] = (tc_far_out){(int32_t)d, given, (double)v[k], others};
    }
}

/* If more than a few are outliers somewhere, only those in an input count. */
static void forget_many(tc_far_out *far, size_t n)
{
    for (int given = 0; given < 2; given++) {
        size_t alone = 0;
        for (size_t k = 0; k < n; k++)
            alone += far[k].domain >= 0;
        for (size_t k = 0; alone > few_of(n) && k < n; k++)
            if (given || !far[k].given)
                far[k] = (tc_far_out){.domain = -1};
    }
}

/* If an input shows outliers, the other samples are valid: each verdict is about one kind. */
static void only_given(tc_far_out *far, size_t *far_in, size_t n)
{
    bool any = false;
    for (size_t k = 0; k < n; k++)
        any = any || far[k].given;
    for (size_t k = 0; any && k < n; k++)
        if (!far[k].given) {
            far[k].domain = -1;
            far_in[k] = 0;
        }
}

static bool is_odd(size_t far_in, size_t n_watched)
{
    return (double)far_in > SHARE * (double)n_watched;
}

static size_t count_odd(const size_t *far_in, size_t n, size_t n_watched)
{
    size_t odd = 0;
    for (size_t k = 0; k < n; k++)
        odd += is_odd(far_in[k], n_watched);
    return odd;
}

typedef struct row {
    tc_sample_id id;
    const tc_ends *ends;
    size_t n_domain;
} row;

/* By content: the order of the samples is irrelevant. */
static int by_content(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->id.hash != y->id.hash)
        return x->id.hash < y->id.hash ? -1 : 1;
    return memcmp(x->ends, y->ends, x->n_domain * sizeof *x->ends);
}

static void sort_rows(tc_ctx *ctx, tc_first *first)
{
    size_t n = first->n_domain;
    row *r = tc_new_n(&ctx->scratch, row, first->n_sample);
    for (size_t k = 0; k < first->n_sample; k++)
        r[k] = (row){first->sample[k], first->ends + k * n, n};
    qsort(r, first->n_sample, sizeof *r, by_content);
    tc_ends *ends = ti_arena_raw(&ctx->scratch, first->n_sample * n * sizeof *ends);
    for (size_t k = 0; k < first->n_sample; k++) {
        memcpy(ends + k * n, r[k].ends, n * sizeof *ends);
        first->sample[k] = r[k].id;
    }
    memcpy(first->ends, ends, first->n_sample * n * sizeof *ends);
}

static void keep(tc_ranges *r, const tc_ends *ends)
{
    for (size_t d = 0; d < r->n_domain; d++) {
        ti_ends_add(&r->ends[d], ends[d]);
        tc_ends *average = &r->average[d];
        if (ends[d].lo > ends[d].hi)
            continue;
        if (average->lo > average->hi)
            *average = ends[d];
        average->lo += AVERAGING * (ends[d].lo - average->lo);
        average->hi += AVERAGING * (ends[d].hi - average->hi);
    }
    r->n_kept++;
}

tc_ranges ti_ranges_of(tc_ctx *ctx, tc_first *first, const bool *watched, bool drop)
{
    size_t n = first->n_domain;
    tc_ranges r = {.n_domain = n, .n_sample = first->n_sample};
    r.ends = tc_new_n(&ctx->arena, tc_ends, n);
    r.average = tc_new_n(&ctx->arena, tc_ends, n);
    r.odd = tc_new_n(&ctx->arena, tc_sample_id, first->n_sample);
    r.odd_in = tc_new_n(&ctx->arena, size_t, first->n_sample);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    size_t *far_in = tc_new_n(&ctx->scratch, size_t, first->n_sample);
    tc_far_out *far = tc_new_n(&ctx->scratch, tc_far_out, first->n_sample);
    r.odd_far = tc_new_n(&ctx->arena, tc_far_out, first->n_sample);
    sort_rows(ctx, first);
    for (size_t k = 0; k < first->n_sample; k++)
        far[k].domain = -1;
    for (size_t d = 0; d < n; d++) {
        r.ends[d] = r.average[d] = ti_ends_none();
        r.n_watched += watched[d];
    }
    if (drop && first->n_sample >= RARE)
        count_far(ctx, first, watched, far_in);
    if (count_odd(far_in, first->n_sample, r.n_watched) > first->n_sample / RARE)
        memset(far_in, 0, first->n_sample * sizeof *far_in);
    if (drop) {
        find_alone(ctx, first, watched, far);
        forget_many(far, first->n_sample);
        only_given(far, far_in, first->n_sample);
    }
    for (size_t k = 0; k < first->n_sample; k++) {
        const tc_ends *ends = first->ends + k * n;
        r.rows = ti_hash(ends, n * sizeof *ends, r.rows ^ first->sample[k].hash);
        if (!is_odd(far_in[k], r.n_watched) && far[k].domain < 0) {
            keep(&r, ends);
            r.kept += first->sample[k].hash;
            continue;
        }
        r.odd_in[r.n_odd] = far_in[k];
        r.odd_far[r.n_odd] = far[k];
        r.odd[r.n_odd++] = first->sample[k];
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return r;
}

void ti_ranges_add(tc_ranges *r, const tc_ranges *more)
{
    float share = r->n_kept + more->n_kept ? (float)more->n_kept / (float)(r->n_kept + more->n_kept)
                                           : 0;
    for (size_t d = 0; d < r->n_domain; d++) {
        tc_ends *average = &r->average[d], other = more->average[d];
        ti_ends_add(&r->ends[d], more->ends[d]);
        if (other.lo > other.hi)
            continue;
        if (average->lo > average->hi)
            *average = other;
        average->lo += share * (other.lo - average->lo);
        average->hi += share * (other.hi - average->hi);
    }
    r->n_sample += more->n_sample;
    r->n_kept += more->n_kept;
    r->kept += more->kept;
}

bool ti_ranges_odd(const tc_ranges *ranges, uint64_t hash)
{
    for (size_t i = 0; i < ranges->n_odd; i++)
        if (ranges->odd[i].hash == hash)
            return true;
    return false;
}
