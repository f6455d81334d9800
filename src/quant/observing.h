/* SPDX-License-Identifier: Apache-2.0 */
/* observing.h -- calibration in progress: what observe.c records, and choose_scales.c reads. */
#ifndef TC_OBSERVING_H
#define TC_OBSERVING_H

#include "observations.h"
#include "sample_quality.h"
#include "sample_runner.h"
#include "torchao.h"

typedef struct tc_observing tc_observing;
typedef struct tc_party tc_party;

/* State of one thread. */
typedef struct tc_observer_guest {
    tc_observing *o;
    tc_party *party;
    size_t sample;
    bool far; /* an input held values that may be masks */
    uint64_t counted, sum;
    tc_arena scratch; /* elements that are not f32 */
    tc_arena counted_in;
    tc_tally *tally; /* by domain */
    tc_sample_quality *worth; /* of the inputs, first pass; NULL: not needed */
} tc_observer_guest;

/* The samples of one size, and the program of that size. */
struct tc_party {
    const tc_samples *samples;
    tc_graph *g;
    tc_runner *runner;
    tc_observer_guest **guests;
    tc_first first;
};

struct tc_observing {
    tc_ctx *ctx;
    tc_module *module;
    const tc_quant_request *request;
    tc_domains *domains;
    bool *watched; /* by domain: it is observed */
    tc_party *party; /* the first is the program that is quantized */
    size_t n_party; /* that are prepared to run */
    tc_ranges ranges;
    bool *judged;     /* by domain: its rows decide what is odd */
    bool *binned;     /* second pass, by domain: its elements are counted */
    uint64_t **merged; /* by domain: TC_BINS counts from files; NULL: own tallies */
    uint64_t counted; /* samples of the second pass */
    uint64_t sum;     /* of their hashes, where the counts are written */
    tc_torchao *
        *torchao; /* second pass, by domain: for those that are observed in the anchor's way */
};

/* ---- choose_scales.c ---- */

/* Where the values of a domain are after merges. */
static inline size_t ti_domain_home(const tc_domains *domains, size_t d)
{
    while (domains->domain[d].joined >= 0)
        d = (size_t)domains->domain[d].joined;
    return d;
}

/* More bits than need a search; i32: concat_domains.c. */
static inline bool ti_setting_wide(const tc_setting *s)
{
    return s->dtype == TC_i16 || s->dtype == TC_i32;
}

/* The range of a domain's bins: observed, and 0. */
tc_ends ti_bins_range(const tc_observing *o, size_t d);
/* The merged counts of a domain; of several sizes each counts the same. */
const uint64_t *ti_counts_of(const tc_observing *o, size_t d, tc_arena *room);
/* Scale and zero point of every domain. */
void ti_choose_scales(tc_observing *o);

#endif
