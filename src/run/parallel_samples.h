/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_samples.h -- samples over threads, with the results of a sequential run.
 *
 * One sample is worked on by one thread.  Samples are read in order, results are taken in order,
 * and the failure with the lowest index is reported: nothing observable depends on the number of
 * threads. */
#ifndef TC_PARALLEL_SAMPLES_H
#define TC_PARALLEL_SAMPLES_H

#include "../ir/graph.h"

typedef struct tc_spread {
    tc_ctx *ctx;
    size_t n; /* samples */
    void *who;
    /* One at a time and in order, with exclusive use of the context: sample k for the worker.  A
     * failure is reported by calling it again at that sample's turn. */
    tc_status (*read)(void *who, size_t worker, size_t k);
    /* Concurrent; must not use the context. */
    tc_status (*work)(void *who, size_t worker, size_t k);
    /* Reports why work on a sample failed, and gives the status. */
    tc_status (*explain)(void *who, size_t worker, size_t k);
    /* One at a time, with exclusive use of the context, after the sample has been worked on.  May
       be NULL.
     */
    tc_status (*take)(void *who, size_t worker, size_t k);
    bool any_order; /* take need not wait for the samples before */
} tc_spread;

/* By worker: the jump target when its memory runs out, for everything used in `work`. */
typedef struct tc_spread_run tc_spread_run;
jmp_buf *ti_spread_oom(tc_spread_run *run, size_t worker);

/* Threads for n pieces of work: at most the context's and the machine's; at least one. */
size_t ti_each_threads(const tc_ctx *ctx, size_t n);

/* n workers, prepared; freed with the context. */
tc_spread_run *ti_spread_new(tc_ctx *ctx, size_t n_worker);

/* Every sample once, by the first n_worker of them; one is the calling thread. */
TC_MUST_USE tc_status ti_spread_samples(tc_spread_run *run, const tc_spread *what, size_t n_worker);

#endif
