/* SPDX-License-Identifier: Apache-2.0 */
/* observations.h -- what calibration has seen of each domain, and what follows from it.
 *
 * First pass: the ends of each domain in each sample.  From them: which samples are odd, and the
 * range of each domain over the others.  Second pass: how often numbers fall into each of TC_BINS
 * equal bins of that range.  Rows and counts merge exactly, in any order, wherever they were taken.
 */
#ifndef TC_OBSERVATIONS_H
#define TC_OBSERVATIONS_H

#include "quantizer.h"

enum { TC_BINS = 4096 };

/* The least and greatest finite number of a domain; lo > hi: nothing was seen. */
typedef struct tc_ends {
    float lo, hi;
} tc_ends;

/* ---- loops over numbers (histogram.c) ---- */

tc_ends ti_ends_none(void);
void ti_ends_add(tc_ends *ends, tc_ends more);
void ti_ends_see(tc_ends *ends, const float *x, int64_t n); /* NaN and infinities do not count */

bool ti_all_finite(const float *x, int64_t n);

/* Counts of one domain on one thread; all zeros: nothing was counted.  Memory comes with the
 * numbers: of a few, their bins are kept one by one; of many, 16-bit counts, so that all domains
 * stay in the cache; of more than those can hold, 64-bit counts too. */
enum { TC_SPARE_BINS = 16 };
typedef struct tc_tally {
    uint16_t *few;   /* the bins of n_few numbers */
    uint16_t *count; /* TC_BINS + TC_SPARE_BINS, or NULL */
    uint64_t *whole; /* TC_BINS, or NULL */
    uint32_t n_few, cap_few;
    uint32_t total; /* in `count` */
} tc_tally;

/* Counts n numbers in bins over [ends.lo, ends.hi]; numbers outside go to the outermost bin. Of
 * 2^14 numbers and more, a quarter is counted. */
void ti_count(tc_tally *tally, tc_arena *arena, const float *x, int64_t n, tc_ends ends);

/* The tally is added to TC_BINS counts. */
void ti_tally_add(const tc_tally *tally, tc_ends ends, uint64_t *count);

/* Numbers as outer blocks of n channels of `inner` neighbours: added to the sum of their channel,
 * and moved. */
void ti_channel_sums(const float *x, int64_t outer, int64_t n, int64_t inner, double *sum);
void ti_channel_move(float *x, int64_t outer, int64_t n, int64_t inner, const float *by);

/* ---- the first pass ---- */

typedef struct tc_sample_id {
    uint64_t hash;     /* of its content */
    const char *where; /* the file of observations it came from, or NULL */
    size_t index;      /* its number there */
} tc_sample_id;

typedef struct tc_first {
    size_t n_sample, n_domain;
    tc_sample_id *sample;
    tc_ends *ends; /* n_sample rows of n_domain */
} tc_first;

/* What follows from the rows of all samples. */
typedef struct tc_ranges {
    size_t n_domain, n_sample, n_kept;
    uint64_t kept; /* sum of the hashes of those that are kept */
    uint64_t rows;         /* a number for the content of all rows */
    tc_ends *ends;         /* by domain, over the kept samples */
    tc_ends *average;      /* by domain: the moving average of the kept samples' ends */
    tc_sample_id *odd;     /* samples set aside, by hash */
    size_t *odd_in;        /* in how many domains each of them is far out */
    size_t n_odd, n_watched; /* domains that were observed */
} tc_ranges;

/* ranges.c.  drop: samples that are odd are set aside.  watched, by domain: it takes part. */
tc_ranges ti_ranges_of(tc_ctx *ctx, tc_first *first, const bool *watched, bool drop);
/* Of further samples, none of them set aside. */
void ti_ranges_add(tc_ranges *ranges, const tc_ranges *more);
bool ti_ranges_odd(const tc_ranges *ranges, uint64_t hash);

/* ---- a range as a scale and a zero point (range_search.c) ---- */

typedef struct tc_grid {
    double scale;
    int64_t zero;
} tc_grid;

/* 16 bits have room to spare: their ranges are this much wider than what was seen. */
#define TC_WIDE_MARGIN 1.25
/* The same where a natural range is left for what was seen. */
#define TC_NATURAL_MARGIN 1.25

/* What a softmax reads: all shares are off where the greatest number is beyond its range. */
#define TC_TOP_MARGIN 1.125

/* The grid of a range, widened to hold 0. */
tc_grid ti_grid_of(const tc_setting *setting, double lo, double hi);

/* The range with the least squared error over a histogram; after: the operator that alone reads the
 * values, or NULL, and then it is the error of its result that counts.  A softmax keeps its
 * greatest numbers, however few they are: all shares are of theirs. */
tc_grid ti_search(tc_arena *scratch, const tc_setting *setting, tc_ends ends,
                  const uint64_t *count, const tc_node *after);

/* The range that leaves out (100 - percent) % of the numbers at each end. */
tc_grid ti_percentile(const tc_setting *setting, tc_ends ends, const uint64_t *count,
                      double percent);

/* ---- ranges that are known beforehand (fixed_ranges.c) ---- */

/* Whether the domain keeps its natural range, and the range that it has else, with its margin. */
bool ti_natural_kept(const tc_graph *g, const tc_domains *domains, size_t d, tc_ends seen);
void ti_natural_range(const tc_graph *g, const tc_domain *domain, tc_ends seen, double *lo,
                      double *hi);

#endif
