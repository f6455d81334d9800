/* SPDX-License-Identifier: Apache-2.0 */
/* sample_runner.c -- see sample_runner.h. */
#include "sample_runner.h"

#include <pthread.h>
#include <time.h>

#include "../run/plan.h"

enum { MOST_THREADS = 64 };

typedef struct worker {
    tc_runner *runner;
    void *guest;
    tc_watch watch;
    tc_plan *plan;
    tc_tensor *in, *out, *after;
    tc_memory memory, declared;
} worker;

struct tc_runner {
    tc_ctx *ctx;
    tc_graph *g;
    const bool *wanted;
    worker *worker;
    size_t n_worker;
    tc_spread_run *threads;
    const tc_visit *visit;
    size_t done;
    tc_arena room; /* of samples */
};

/* Of interleaved runs: fewer where one is large. */
static const size_t ABREAST = (size_t)3 << 28;

/* ---- one thread's work ---- */

static void show(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const worker *w = who;
    w->runner->visit->see(w->guest, v, seen, order);
}

static void show_inputs(worker *w, const tc_memory *memory)
{
    static const int8_t plain[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    const tc_graph *g = w->runner->g;
    for (size_t i = 0; i < g->n_in; i++)
        if (w->runner->wanted[g->in[i]])
            show(w, g->in[i], w->in[i], plain);
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_val v = g->mutation[i].before;
        if (w->runner->wanted[v])
            show(w, v, (tc_tensor){ti_type_of(g, v), memory->now[i]}, plain);
    }
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool ti_clock_past(double until)
{
    return until > 0 && ti_seconds() > until;
}

static tc_status read_sample(void *who, size_t i, size_t k)
{
    const tc_runner *t = who;
    const worker *w = &t->worker[i];
    const tc_samples *samples = t->visit->samples;
    double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    tc_status status = samples->read(samples->from, k, w->in);
    if (t->visit->reading)
        *t->visit->reading += seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
    return status ? status
                  : ti_sample_check(t->ctx, t->g, ti_sample_number(samples, k), w->in);
}

static tc_status explain(void *who, size_t i, size_t k)
{
    (void)k;
    return ti_plan_explain(((const tc_runner *)who)->worker[i].plan);
}

static tc_status count_sample(void *who, size_t i, size_t k)
{
    tc_runner *t = who;
    const tc_samples *samples = t->visit->samples;
    (void)i, (void)k;
    t->done++;
    if (samples->progress)
        samples->progress(samples->who, t->visit->what, t->done, samples->n);
    return TC_OK;
}

/* The sample as the program's first call; the new state is dropped. */
static tc_status run_fresh(worker *w)
{
    show_inputs(w, &w->declared);
    return ti_plan_try(w->plan, w->in, w->out, w->declared.now, w->after);
}

static tc_status run_sample(void *who, size_t i, size_t k)
{
    tc_runner *t = who;
    worker *w = &t->worker[i];
    const tc_visit *visit = t->visit;
    if (visit->enter && !visit->enter(w->guest, k, w->in))
        return TC_OK;
    const tc_samples *samples = visit->samples;
    if (samples->reset)
        ti_memory_reset(&w->memory);
    else if (visit->fresh && k && t->g->n_mutation && !samples->state)
        TC_TRY(run_fresh(w));
    if (samples->state)
        ti_memory_copy(&w->memory, samples->state(samples->from, k));
    show_inputs(w, &w->memory);
    TC_TRY(ti_plan_try(w->plan, w->in, w->out, w->memory.now, w->after));
    if (visit->leave)
        visit->leave(w->guest, k, w->out);
    ti_memory_keep(&w->memory, w->after);
    return TC_OK;
}

/* ---- together ---- */

static void prepare(worker *w, tc_runner *t)
{
    tc_arena *arena = &t->ctx->arena;
    const tc_graph *g = t->g;
    w->runner = t;
    w->watch = (tc_watch){t->wanted, show, w};
    w->in = ti_input_buffers_in(&t->room, g);
    w->out = tc_new_n(arena, tc_tensor, g->n_out);
    w->after = tc_new_n(arena, tc_tensor, g->n_mutation);
    w->memory = ti_memory_new(&t->room, g);
    w->declared = ti_memory_new(&t->room, g);
}

static void free_room(void *what)
{
    ti_arena_free(&((tc_runner *)what)->room);
}

tc_status ti_runner_new(tc_ctx *ctx, tc_graph *g, const bool *wanted, size_t n_samples,
                        tc_runner **out)
{
    tc_runner *t = tc_new(&ctx->arena, tc_runner);
    t->ctx = ctx;
    t->g = g;
    t->wanted = wanted;
    t->n_worker = ti_each_threads(ctx, n_samples);
    ti_arena_init_like(&t->room, &ctx->arena);
    ti_ctx_defer(ctx, free_room, t);
    worker *w = t->worker = tc_new_n(&ctx->arena, worker, t->n_worker);
    prepare(&w[0], t);
    w[0].plan = ti_plan_new(ctx, g, &w[0].watch);
    if (!w[0].plan)
        return ti_unsupported(ctx, NULL, TC_E_UNSUPPORTED,
                              "the program has operators that cannot be calibrated");
    if (!ti_plan_parallel(w[0].plan))
        t->n_worker = 1;
    while (t->n_worker > 1 && ti_plan_bytes(w[0].plan) > ABREAST / t->n_worker)
        t->n_worker--;
    for (size_t i = 1; i < t->n_worker; i++) {
        prepare(&w[i], t);
        w[i].plan = ti_plan_twin(w[0].plan, &w[i].watch);
    }
    t->threads = ti_spread_new(ctx, t->n_worker);
    *out = t;
    return TC_OK;
}

size_t ti_runner_threads(const tc_runner *runner)
{
    return runner->n_worker;
}

jmp_buf *ti_runner_oom(tc_runner *runner, size_t i)
{
    return ti_spread_oom(runner->threads, i);
}

/* A sample may fail because of the state: more of them than a cache has room for. */
static tc_status blame_state(const tc_runner *t, tc_status status)
{
    if (status == TC_BAD_MODEL && t->done)
        ti_note(t->ctx, NULL,
                "it came to sample %zu with the state that the samples before it had left: --reset "
                "starts every sample from the initial state",
                t->done);
    return status;
}

tc_status ti_runner_run(tc_runner *t, const tc_visit *visit)
{
    bool carries = t->g->n_mutation && !visit->samples->state && !visit->samples->reset;
    bool in_order = visit->in_order || carries;
    tc_spread all = {.ctx = t->ctx,
                     .n = visit->samples->n,
                     .who = t,
                     .read = read_sample,
                     .work = run_sample,
                     .explain = explain,
                     .take = count_sample,
                     .any_order = true};
    t->visit = visit;
    t->done = 0;
    for (size_t i = 0; i < t->n_worker; i++) {
        t->worker[i].guest = visit->guest[i];
        ti_plan_on_oom(t->worker[i].plan, ti_spread_oom(t->threads, i));
        ti_memory_reset(&t->worker[i].memory);
    }
    tc_status status = ti_spread_samples(t->threads, &all, in_order ? 1 : t->n_worker);
    return carries ? blame_state(t, status) : status;
}

void ti_runner_end(tc_runner *t)
{
    for (size_t i = 0; i < t->n_worker; i++)
        ti_plan_end(t->worker[i].plan);
    free_room(t);
}

/* ---- pieces of work ---- */

typedef struct share {
    void (*work)(void *, size_t, tc_arena *);
    void *what;
    size_t first, step, n;
    pthread_t thread;
    tc_arena room;
    jmp_buf oom;
    bool no_memory, started;
} share;

static void *do_share(void *of)
{
    share *s = of;
    s->room.oom = &s->oom;
    if (setjmp(s->oom) != 0)
        s->no_memory = true;
    for (; !s->no_memory && s->first < s->n; s->first += s->step) {
        s->work(s->what, s->first, &s->room);
        ti_arena_free(&s->room);
    }
    ti_arena_free(&s->room);
    return NULL;
}

void ti_each(tc_ctx *ctx, size_t n, size_t n_thread,
             void (*work)(void *what, size_t i, tc_arena *room), void *what)
{
    share shares[MOST_THREADS];
    bool no_memory = false;
    n_thread = n_thread < MOST_THREADS ? n_thread : MOST_THREADS;
    for (size_t t = 0; t < n_thread; t++) {
        shares[t] = (share){.work = work, .what = what, .first = t, .step = n_thread, .n = n};
        ti_arena_init_like(&shares[t].room, &ctx->scratch);
        shares[t].started = t && pthread_create(&shares[t].thread, NULL, do_share, &shares[t]) == 0;
    }
    for (size_t t = 0; t < n_thread; t++)
        if (!shares[t].started)
            do_share(&shares[t]);
    for (size_t t = 0; t < n_thread; t++) {
        if (shares[t].started)
            pthread_join(shares[t].thread, NULL);
        no_memory |= shares[t].no_memory;
    }
    if (no_memory)
        ti_arena_raw(&ctx->arena, SIZE_MAX); /* takes the jump */
}

void ti_lap(double *since, double *to)
{
    double now = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (to)
        *to += now - *since;
    *since = now;
}
