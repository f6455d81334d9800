/* SPDX-License-Identifier: Apache-2.0 */
/* sample_runner.h -- runs a graph over samples on several threads, with observers of the values.
 *
 * One sample is run by one thread, and each thread has its own guest, who sees the values; what
 * guests gather must not depend on which thread ran which sample. */
#ifndef TC_SAMPLE_RUNNER_H
#define TC_SAMPLE_RUNNER_H

#include "../run/parallel_samples.h"
#include "quantizer.h"

typedef struct tc_runner tc_runner;

/* One pass over samples. */
typedef struct tc_visit {
    const tc_samples *samples;
    const char *what;   /* for the progress line */
    double *reading;    /* seconds are added there; or NULL */
    bool in_order;      /* samples in sequence, by the first guest alone */
    bool fresh;         /* each is also run from the initial state, as a first call */
    void *const *guest; /* one per thread */
    /* Before a sample is run; false: skip it.  May be NULL. */
    bool (*enter)(void *guest, size_t k, const tc_tensor *in);
    /* A value as stored: seen.type->dim[i] is logical axis order[i]. */
    void (*see)(void *guest, tc_val v, tc_tensor seen, const int8_t *order);
    /* After it has been run.  May be NULL. */
    void (*leave)(void *guest, size_t k, const tc_tensor *out);
} tc_visit;

/* Prepares the graph; visits may follow each other.  wanted, by value: the guests see it, inputs
 * too. n_samples: for the number of threads. */
TC_MUST_USE tc_status ti_runner_new(tc_ctx *ctx, tc_graph *g, const bool *wanted, size_t n_samples,
                                    tc_runner **out);

/* Threads, and so the guests that are needed. */
size_t ti_runner_threads(const tc_runner *runner);
/* The jump target of guest i's arenas when memory runs out during a visit. */
jmp_buf *ti_runner_oom(tc_runner *runner, size_t i);

/* Every sample once.  State is carried from sample to sample, in order and by the first guest
 * alone, from the initial one; or it is samples->state, or with samples->reset the initial one. */
TC_MUST_USE tc_status ti_runner_run(tc_runner *runner, const tc_visit *visit);

/* It will not run any more: frees its memory. */
void ti_runner_end(tc_runner *runner);

/* work(what, i, room) for every i < n, on n threads.  What it puts into `room` is freed with the
 * piece of work; plans must jump to room->oom when out of memory. */
void ti_each(tc_ctx *ctx, size_t n, size_t n_thread,
             void (*work)(void *what, size_t i, tc_arena *room), void *what);

/* Adds the seconds of processor time since the last call to *to, where to is not NULL. */
void ti_lap(double *since, double *to);

/* ---- samples ---- */

/* Samples: the least and the most to learn from, if there are enough; and how many are kept back to
 * measure on. */
enum { TC_LEARN_LEAST = 32, TC_LEARN_MOST = 64, TC_KEEP_BACK = 32 };

/* Of n samples, those that methods learn from: the ones with the least hashes.  coarse: joint
 * rounding gains more from samples than a wrong judgement could lose: none are kept back. */
static inline size_t ti_learned_of(size_t n, bool coarse)
{
    size_t some = coarse ? n : n > TC_KEEP_BACK ? n - TC_KEEP_BACK : 0;
    return some < TC_LEARN_LEAST ? TC_LEARN_LEAST : some < TC_LEARN_MOST ? some : TC_LEARN_MOST;
}

/* At most n of the samples, those with the least hashes, whatever their order; without odd ones, or
 * only those (domains->only_odd). */
TC_MUST_USE tc_status ti_choose_samples(tc_ctx *ctx, const tc_graph *g, const tc_samples *from,
                                        const tc_domains *domains, size_t most, tc_samples *out);

/* Choices from one source of samples that are asked for again are not read again. */
tc_shelf *ti_shelf_new(tc_ctx *ctx);
/* Nobody asks any more. */
void ti_shelf_clear(tc_shelf *shelf);

/* The content of the k-th of those, freed with the choice. */
const tc_tensor *ti_picked_inputs(const tc_samples *samples, size_t k);

/* Without the first n of those, which have served. */
void ti_picked_skip(const tc_ctx *ctx, tc_samples *samples, size_t n);

/* The index among all samples of the k-th of those. */
size_t ti_picked_index(const tc_samples *samples, size_t k);

/* The choice is not needed any more: frees its memory. */
void ti_chosen_end(const tc_samples *chosen);

/* A buffer for each input of the program. */
tc_tensor *ti_input_buffers(tc_ctx *ctx, const tc_graph *g);
tc_tensor *ti_input_buffers_in(tc_arena *arena, const tc_graph *g);
/* The state of a program, from call to call. */
typedef struct tc_memory {
    const tc_graph *g;
    void **now;   /* by mutation */
    void **other; /* the second buffer of each */
} tc_memory;

tc_memory ti_memory_new(tc_arena *arena, const tc_graph *g);
void ti_memory_reset(const tc_memory *m);                       /* as declared */
void ti_memory_keep(const tc_memory *m, const tc_tensor *after); /* the new state of a run */
void ti_memory_copy(const tc_memory *m, void *const *from);

/* A hash of the content of a sample. */
uint64_t ti_sample_hash(const tc_tensor *in, size_t n);

/* An error in the data: a non-finite value. */
TC_MUST_USE tc_status ti_sample_check(tc_ctx *ctx, const tc_graph *g, size_t k,
                                      const tc_tensor *in);

#endif
