/* SPDX-License-Identifier: Apache-2.0 */
/* observations.h -- what calibration observed of each domain, and what follows from it.
 *
 * First pass: the ends of each domain in each sample.  From them: which samples are odd, and the
 * range of each domain over the others.  Second pass: how many elements are in each of TC_BINS
 * equal bins of that range.  Rows and counts merge exactly, in any order.
 */
#ifndef TC_OBSERVATIONS_H
#define TC_OBSERVATIONS_H

#include <math.h>

#include "quantizer.h"

enum { TC_BINS = 4096 };

/* The least and greatest finite value of a domain; lo > hi: nothing was observed. */
typedef struct tc_ends {
    float lo, hi;
} tc_ends;

/* ---- loops over elements (histogram.c) ---- */

static inline float ti_ends_size(tc_ends e)
{
    return e.lo > e.hi ? 0 : fmaxf(-e.lo, e.hi);
}
tc_ends ti_ends_none(void);
void ti_ends_add(tc_ends *ends, tc_ends more);
void ti_ends_see(tc_ends *ends, const float *x, int64_t n); /* NaN and infinities do not count */

bool ti_all_finite(const float *x, int64_t n);

/* Counts of one domain on one thread; all zeros: nothing was counted.  Memory grows with the
 * elements: of a few, their bins are kept one by one; of many, 16-bit counts, so that all domains
 * stay in the cache; beyond those, 64-bit counts too. */
enum { TC_SPARE_BINS = 16 };
typedef struct tc_tally {
    uint16_t *few;   /* the bins of n_few elements */
    uint16_t *count; /* TC_BINS + TC_SPARE_BINS, or NULL */
    uint64_t *whole; /* TC_BINS, or NULL */
    uint32_t n_few, cap_few;
    uint32_t total; /* in `count` */
} tc_tally;

/* Counts n elements in bins over [ends.lo, ends.hi]; elements outside go to the outermost bin. Of
 * 2^14 elements and more, a quarter is counted. */
void ti_count(tc_tally *tally, tc_arena *arena, const float *x, int64_t n, tc_ends ends);

/* Adds the tally to TC_BINS counts. */
void ti_tally_add(const tc_tally *tally, tc_ends ends, uint64_t *count);

/* Elements as outer blocks of n channels of `inner`: added to the sum of their channel, and
 * moved. */
void ti_channel_sums(const float *x, int64_t outer, int64_t n, int64_t inner, double *sum);
void ti_channel_move(float *x, int64_t outer, int64_t n, int64_t inner, const float *by);

/* ---- the first pass ---- */

typedef struct tc_sample_id {
    uint64_t hash;     /* of its content */
    const char *where; /* the file of observations it came from, or NULL */
    size_t index;      /* its index there */
} tc_sample_id;

typedef struct tc_first {
    size_t n_sample, n_domain;
    tc_sample_id *sample;
    tc_ends *ends; /* n_sample rows of n_domain */
    const bool *given; /* by domain: it contains an input of the program; NULL: unknown */
} tc_first;

/* Of n magnitudes, the range of all but a few, if those few (one in TC_ALONE, or a single one) are
 * far beyond; 0: none is. */
enum { TC_ALONE = 10 };
double ti_reach_without_few(tc_arena *scratch, const float *v, size_t n);

/* A domain in which a sample, alone or with few, is far beyond all others. */
typedef struct tc_far_out {
    int32_t domain; /* -1: there is none */
    bool given;     /* it contains an input of the program */
    double reach, others;
} tc_far_out;

/* The result of the rows of all samples. */
typedef struct tc_ranges {
    size_t n_domain, n_sample, n_kept;
    uint64_t kept; /* sum of the hashes of the kept ones */
    uint64_t rows;         /* a hash of all rows */
    tc_ends *ends;         /* by domain, over the kept samples */
    tc_ends *average;      /* by domain: the moving average of the kept samples' ends */
    tc_sample_id *odd;     /* samples set aside, by hash */
    size_t *odd_in;        /* in how many domains each of them is far out, */
    tc_far_out *odd_far;   /* and one in which it is far beyond all others */
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
/* The same where the observed range replaces a natural one. */
#define TC_NATURAL_MARGIN 1.25

/* The margin of the odds of a softmax's largest probability, with 16 bits. */
#define TC_ODDS_MARGIN 4.0

/* For logits: all probabilities are wrong if the largest is beyond its range. */
#define TC_TOP_MARGIN 1.125

/* The grid of a range, widened to hold 0. */
tc_grid ti_grid_of(const tc_setting *setting, double lo, double hi);

/* The range with the least squared error over a histogram; after: the only reader of the values, or
 * NULL, and then it is the error of its result that counts.  A softmax keeps its largest values,
 * however few: all probabilities depend on them. */
tc_grid ti_search(tc_arena *scratch, const tc_setting *setting, tc_ends ends,
                  const uint64_t *count, const tc_node *after);

/* The range without the (100 - percent) % of the elements at each end. */
tc_grid ti_percentile(const tc_setting *setting, tc_ends ends, const uint64_t *count,
                      double percent);

/* ---- ranges that are known beforehand (fixed_ranges.c) ---- */

/* Whether the domain keeps its natural range, and the range that it has otherwise, with its
 * margin. */
bool ti_natural_kept(const tc_graph *g, const tc_domains *domains, size_t d, tc_ends seen);
void ti_natural_range(const tc_graph *g, const tc_domain *domain, tc_ends seen, double *lo,
                      double *hi);
/* The end of a domain's range with 16 bits, from the largest observed value. */
double ti_wide_end(const tc_domain *domain, double seen);

#endif
