/* SPDX-License-Identifier: Apache-2.0 */
/* sample_runner.h -- runs a graph over samples on several threads, with observers of the values.
 *
 * One sample is run by one thread, and each thread has a guest of its own who sees the values; what
 * guests gather must not depend on who saw which sample. */
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
    bool in_order;      /* one sample after the other, by the first guest alone */
    bool fresh;         /* each is shown from the declared state too, as a first call */
    void *const *guest; /* one per thread */
    /* Before a sample is run; false: leave it out.  May be NULL. */
    bool (*enter)(void *guest, size_t k, const tc_tensor *in);
    /* A value as stored: seen.type->dim[i] is logical axis order[i]. */
    void (*see)(void *guest, tc_val v, tc_tensor seen, const int8_t *order);
    /* After it has been run.  May be NULL. */
    void (*leave)(void *guest, size_t k, const tc_tensor *out);
} tc_visit;

/* Makes the graph ready; visits may follow each other.  wanted, by value: the guests see it, inputs
 * too. n_samples says how many threads are worth while. */
TC_MUST_USE tc_status ti_runner_new(tc_ctx *ctx, tc_graph *g, const bool *wanted, size_t n_samples,
                                    tc_runner **out);

/* Threads, and so the guests that are needed. */
size_t ti_runner_threads(const tc_runner *runner);
/* Where guest i's arenas jump to when memory runs out during a visit. */
jmp_buf *ti_runner_oom(tc_runner *runner, size_t i);

/* Every sample once.  What the program remembers is carried from sample to sample, in order and by
 * the first guest alone, from what was declared; or it is what samples->state says. */
TC_MUST_USE tc_status ti_runner_run(tc_runner *runner, const tc_visit *visit);

/* It will not be run any more: its memory goes back. */
void ti_runner_end(tc_runner *runner);

/* work(what, i, room) for every i < n, on so many threads.  What it puts into `room` goes with the
 * piece of work; plans must jump to room->oom when out of memory. */
void ti_each(tc_ctx *ctx, size_t n, size_t n_thread,
             void (*work)(void *what, size_t i, tc_arena *room), void *what);

/* Adds the seconds of processor time since the last call to *to, where to is not NULL. */
void ti_lap(double *since, double *to);

/* ---- samples ---- */

/* Samples: so many are learned from at least, and at most, where there are enough; so many are kept
 * back to measure on. */
enum { TC_LEARN_LEAST = 32, TC_LEARN_MOST = 64, TC_KEEP_BACK = 32 };

/* Of n samples, those that methods learn from: the ones with the least hashes.  few_codes: weights
 * have so few that rounding them together gains more, the more samples there are, than could be
 * misjudged: none are kept back. */
static inline size_t ti_learned_of(size_t n, bool few_codes)
{
    size_t some = few_codes ? n : n > TC_KEEP_BACK ? n - TC_KEEP_BACK : 0;
    return some < TC_LEARN_LEAST ? TC_LEARN_LEAST : some < TC_LEARN_MOST ? some : TC_LEARN_MOST;
}

/* Of the samples, at most so many, those with the least hashes: the same whatever their order;
 * without odd ones, or only those (domains->only_odd). */
TC_MUST_USE tc_status ti_choose_samples(tc_ctx *ctx, const tc_graph *g, const tc_samples *from,
                                        const tc_domains *domains, size_t most, tc_samples *out);

/* The numbers of the k-th of those, which go with the choice. */
const tc_tensor *ti_picked_inputs(const tc_samples *samples, size_t k);

/* Without the first n of those. */
void ti_picked_skip(const tc_ctx *ctx, tc_samples *samples, size_t n);

/* Which of all samples the k-th of those was. */
size_t ti_picked_index(const tc_samples *samples, size_t k);

/* What was chosen is read no more: its memory goes back. */
void ti_chosen_end(const tc_samples *chosen);

/* A buffer for each input of the program. */
tc_tensor *ti_input_buffers(tc_ctx *ctx, const tc_graph *g);
tc_tensor *ti_input_buffers_in(tc_arena *arena, const tc_graph *g);
/* What a program remembers, from call to call. */
typedef struct tc_memory {
    const tc_graph *g;
    void **now;   /* by mutation */
    void **other; /* the second place of each */
} tc_memory;

tc_memory ti_memory_new(tc_arena *arena, const tc_graph *g);
void ti_memory_reset(const tc_memory *m);                       /* as declared */
void ti_memory_keep(const tc_memory *m, const tc_tensor *after); /* what a run has left */
void ti_memory_copy(const tc_memory *m, void *const *from);

/* A number for the content of a sample: the same wherever it comes from. */
uint64_t ti_sample_hash(const tc_tensor *in, size_t n);

/* A mistake of the data: a number that is not finite. */
TC_MUST_USE tc_status ti_sample_check(tc_ctx *ctx, const tc_graph *g, size_t k,
                                      const tc_tensor *in);

#endif
