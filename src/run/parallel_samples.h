/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_samples.h -- samples spread over threads as if one came after the other.
 *
 * One sample is worked on by one thread.  Samples are read in their order, what comes of them is
 * taken in their order, and the first of them that fails, by its number, is the one that is
 * reported: nothing that can be seen from outside depends on how many threads there are. */
#ifndef TC_PARALLEL_SAMPLES_H
#define TC_PARALLEL_SAMPLES_H

#include "../ir/graph.h"

typedef struct tc_spread {
    tc_ctx *ctx;
    size_t n; /* samples */
    void *who;
    /* One at a time and in order, with the context to itself: sample k for the worker.  A failure
     * is told by asking once more when its turn has come. */
    tc_status (*read)(void *who, size_t worker, size_t k);
    /* Side by side; the context must be left alone. */
    tc_status (*work)(void *who, size_t worker, size_t k);
    /* Tells why work on a sample has failed, and gives the status. */
    tc_status (*explain)(void *who, size_t worker, size_t k);
    /* One at a time, with the context to itself, after the sample has been worked on.  May be NULL.
     */
    tc_status (*take)(void *who, size_t worker, size_t k);
    bool any_order; /* take need not wait for the samples before */
} tc_spread;

/* By worker: where its memory jumps to when it runs out, for everything that it uses in `work`. */
typedef struct tc_spread_run tc_spread_run;
jmp_buf *ti_spread_oom(tc_spread_run *run, size_t worker);

/* Threads that so many pieces of work are worth: the context's, the machine's; one at least. */
size_t ti_each_threads(const tc_ctx *ctx, size_t n);

/* So many workers, made ready; goes with the context. */
tc_spread_run *ti_spread_new(tc_ctx *ctx, size_t n_worker);

/* Every sample once, by the first n_worker of them; one is the calling thread. */
TC_MUST_USE tc_status ti_spread_samples(tc_spread_run *run, const tc_spread *what, size_t n_worker);

#endif
