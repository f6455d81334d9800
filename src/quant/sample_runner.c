/* SPDX-License-Identifier: Apache-2.0 */
/* sample_runner.c -- see sample_runner.h. */
#include "sample_runner.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "../run/plan.h"

enum { MOST_THREADS = 64 };

typedef struct worker {
    tc_runner *runner;
    void *guest;
    tc_watch watch;
    tc_plan *plan;
    tc_tensor *in, *out, *after;
    tc_memory memory, declared;
    pthread_t thread;
    size_t k;    /* the sample in hand */
    bool locked; /* it holds the lock: memory may run out under it */
    jmp_buf oom;
} worker;

struct tc_runner {
    tc_ctx *ctx;
    tc_graph *g;
    const bool *wanted;
    worker *worker;
    size_t n_worker;
    const tc_visit *visit;
    pthread_mutex_t lock; /* over everything below, and over the context */
    size_t next, done;
    tc_status status;
    bool no_memory;
};

size_t tc_each_threads(const tc_ctx *ctx, size_t n_samples)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = ctx->threads > 0 ? (size_t)ctx->threads : cores > 0 ? (size_t)cores : 1;
    n = n < MOST_THREADS ? n : MOST_THREADS;
    return n < n_samples ? n : n_samples ? n_samples : 1;
}

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
            show(w, v, (tc_tensor){tc_type_of(g, v), memory->now[i]}, plain);
    }
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The next sample into w->in, with the lock held; false when there is none. */
static bool take(worker *w)
{
    tc_runner *t = w->runner;
    const tc_samples *samples = t->visit->samples;
    if (t->status || t->no_memory || t->next >= samples->n)
        return false;
    w->k = t->next++;
    t->ctx->arena.oom = t->ctx->scratch.oom = &w->oom; /* reading may allocate */
    double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    t->status = samples->read(samples->from, w->k, w->in);
    if (t->visit->reading)
        *t->visit->reading += seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (!t->status)
        t->status = tc_sample_check(t->ctx, t->g, w->k, w->in);
    return !t->status;
}

static void finish(worker *w, tc_status status)
{
    tc_runner *t = w->runner;
    const tc_samples *samples = t->visit->samples;
    if (status && !t->status)
        t->status = tc_plan_explain(w->plan);
    t->done++;
    if (samples->progress)
        samples->progress(samples->who, t->visit->what, t->done, samples->n);
}

/* The sample as the program's first call; what it leaves is forgotten. */
static tc_status run_fresh(worker *w)
{
    show_inputs(w, &w->declared);
    return tc_plan_try(w->plan, w->in, w->out, w->declared.now, w->after);
}

static tc_status run_one(worker *w)
{
    const tc_visit *visit = w->runner->visit;
    size_t k = w->k;
    if (visit->enter && !visit->enter(w->guest, k, w->in))
        return TC_OK;
    const tc_samples *samples = visit->samples;
    if (visit->fresh && k && w->runner->g->n_mutation && !samples->state)
        TC_TRY(run_fresh(w));
    if (samples->state)
        tc_memory_copy(&w->memory, samples->state(samples->from, k));
    show_inputs(w, &w->memory);
    TC_TRY(tc_plan_try(w->plan, w->in, w->out, w->memory.now, w->after));
    if (visit->leave)
        visit->leave(w->guest, k, w->out);
    tc_memory_keep(&w->memory, w->after);
    return TC_OK;
}

static void lock(worker *w)
{
    pthread_mutex_lock(&w->runner->lock);
    w->locked = true;
}

static void unlock(worker *w)
{
    w->locked = false;
    pthread_mutex_unlock(&w->runner->lock);
}

/* One sample more; false when there is none. */
static bool run_next(worker *w)
{
    lock(w);
    bool more = take(w);
    unlock(w);
    if (!more)
        return false;
    tc_status status = run_one(w);
    lock(w);
    finish(w, status);
    unlock(w);
    return true;
}

static void *run_samples(void *what)
{
    worker *w = what;
    if (setjmp(w->oom) != 0) {
        if (!w->locked)
            lock(w);
        w->runner->no_memory = true;
        unlock(w);
        return NULL;
    }
    while (run_next(w))
        ;
    return NULL;
}

/* ---- together ---- */

static void prepare(worker *w, tc_runner *t)
{
    tc_arena *arena = &t->ctx->arena;
    const tc_graph *g = t->g;
    w->runner = t;
    w->watch = (tc_watch){t->wanted, show, w};
    w->in = tc_input_buffers(t->ctx, g);
    w->out = tc_new_n(arena, tc_tensor, g->n_out);
    w->after = tc_new_n(arena, tc_tensor, g->n_mutation);
    w->memory = tc_memory_new(t->ctx, g);
    w->declared = tc_memory_new(t->ctx, g);
}

tc_status tc_runner_new(tc_ctx *ctx, tc_graph *g, const bool *wanted, size_t n_samples,
                        tc_runner **out)
{
    tc_runner *t = tc_new(&ctx->arena, tc_runner);
    t->ctx = ctx;
    t->g = g;
    t->wanted = wanted;
    t->n_worker = tc_each_threads(ctx, n_samples);
    worker *w = t->worker = tc_new_n(&ctx->arena, worker, t->n_worker);
    for (size_t i = 0; i < t->n_worker; i++)
        prepare(&w[i], t);
    w[0].plan = tc_plan_new(ctx, g, &w[0].watch);
    if (!w[0].plan)
        return tc_unsupported(ctx, NULL, TC_E_UNSUPPORTED,
                              "the program holds operators that cannot be calibrated");
    if (!tc_plan_parallel(w[0].plan))
        t->n_worker = 1;
    for (size_t i = 1; i < t->n_worker; i++)
        w[i].plan = tc_plan_twin(w[0].plan, &w[i].watch);
    *out = t;
    return TC_OK;
}

size_t tc_runner_threads(const tc_runner *runner)
{
    return runner->n_worker;
}

jmp_buf *tc_runner_oom(tc_runner *runner, size_t i)
{
    return &runner->worker[i].oom;
}

/* The first worker is this thread; one that cannot be started leaves its samples to the others. */
static void work_together(worker *w, size_t n)
{
    bool started[MOST_THREADS] = {false};
    for (size_t i = 1; i < n; i++)
        started[i] = pthread_create(&w[i].thread, NULL, run_samples, &w[i]) == 0;
    run_samples(&w[0]);
    for (size_t i = 1; i < n; i++)
        if (started[i])
            pthread_join(w[i].thread, NULL);
}

tc_status tc_runner_run(tc_runner *t, const tc_visit *visit)
{
    tc_ctx *ctx = t->ctx;
    jmp_buf *oom = ctx->arena.oom, *scratch_oom = ctx->scratch.oom;
    t->visit = visit;
    t->next = t->done = 0;
    t->status = TC_OK;
    for (size_t i = 0; i < t->n_worker; i++) {
        t->worker[i].guest = visit->guest[i];
        tc_plan_on_oom(t->worker[i].plan, &t->worker[i].oom);
        tc_memory_reset(&t->worker[i].memory);
    }
    pthread_mutex_init(&t->lock, NULL);
    bool in_order = visit->in_order || (t->g->n_mutation && !visit->samples->state);
    work_together(t->worker, in_order ? 1 : t->n_worker);
    pthread_mutex_destroy(&t->lock);
    ctx->arena.oom = oom;
    ctx->scratch.oom = scratch_oom;
    if (t->no_memory)
        tc_arena_raw(&ctx->arena, SIZE_MAX); /* takes the jump */
    return t->status;
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
        tc_arena_free(&s->room);
    }
    tc_arena_free(&s->room);
    return NULL;
}

void tc_each(tc_ctx *ctx, size_t n, size_t n_thread,
             void (*work)(void *what, size_t i, tc_arena *room), void *what)
{
    share shares[MOST_THREADS];
    bool no_memory = false;
    n_thread = n_thread < MOST_THREADS ? n_thread : MOST_THREADS;
    for (size_t t = 0; t < n_thread; t++) {
        shares[t] = (share){.work = work, .what = what, .first = t, .step = n_thread, .n = n};
        tc_arena_init_like(&shares[t].room, &ctx->scratch);
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
        tc_arena_raw(&ctx->arena, SIZE_MAX); /* takes the jump */
}

void tc_lap(double *since, double *to)
{
    double now = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (to)
        *to += now - *since;
    *since = now;
}
