/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c -- the first pass: outlier samples, and the range of each domain over the others.
 *
 * A sample is far out in a domain when its largest magnitude there is more than FAR times the
 * median over the samples; it is odd when that is so in more than a quarter of the domains.  One
 * broken picture would otherwise set every range.
 *
 * A domain whose median is 0 sleeps in most samples: being awake there is not odd.  Where more than
 * one in RARE is odd, none is: such data has long tails, and its largest samples belong to it. */
#include "observations.h"

#include <math.h>
#include <stdlib.h>

static const double FAR = 2, SHARE = 0.25;
enum { RARE = 20 };
static const float AVERAGING = 0.01f; /* weight of a new sample in the moving average */

static int by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float magnitude(tc_ends e)
{
    return e.lo > e.hi ? 0 : fmaxf(-e.lo, e.hi);
}

/* Of n numbers, which are put in order; of an even number, the mean of the middle two. */
static double median(float *v, size_t n)
{
    qsort(v, n, sizeof *v, by_float);
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
            v[k] = magnitude(first->ends[k * first->n_domain + d]);
        double limit = FAR * median(v, first->n_sample);
        for (size_t k = 0; k < first->n_sample; k++)
            far_in[k] +=
                limit > 0 && (double)magnitude(first->ends[k * first->n_domain + d]) > limit;
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

/* By content: the order in which the samples came is forgotten. */
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
    sort_rows(ctx, first);
    for (size_t d = 0; d < n; d++) {
        r.ends[d] = r.average[d] = ti_ends_none();
        r.n_watched += watched[d];
    }
    if (drop && first->n_sample >= RARE)
        count_far(ctx, first, watched, far_in);
    if (count_odd(far_in, first->n_sample, r.n_watched) > first->n_sample / RARE)
        memset(far_in, 0, first->n_sample * sizeof *far_in);
    for (size_t k = 0; k < first->n_sample; k++) {
        const tc_ends *ends = first->ends + k * n;
        r.rows = ti_hash(ends, n * sizeof *ends, r.rows ^ first->sample[k].hash);
        if (!is_odd(far_in[k], r.n_watched)) {
            keep(&r, ends);
            r.kept += first->sample[k].hash;
            continue;
        }
        r.odd_in[r.n_odd] = far_in[k];
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
