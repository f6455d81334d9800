/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_samples.c -- see parallel_samples.h. */
#include "parallel_samples.h"

#include "../base/diag.h"

#include <pthread.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

/* Where a sample failed; TAKING: the message has been given. */
typedef enum step { READING, WORKING, TAKING } step;

typedef struct worker {
    tc_spread_run *run;
    size_t index, k; /* the current sample */
    pthread_t thread;
    bool started, locked; /* it holds the lock: an allocation may fail meanwhile */
    jmp_buf oom;
} worker;

struct tc_spread_run {
    tc_ctx *ctx;
    worker *worker;
    size_t n_worker;
    const tc_spread *what;
    bool alone;                /* one worker only: its messages are given at once */
    tc_on_diagnostic *told;    /* the context's */
    pthread_mutex_t lock; /* over everything below, and over the context */
    pthread_cond_t turn;
    size_t next, taken; /* the next sample to be read; those that were taken */
    size_t failed;      /* the first sample that failed; SIZE_MAX: none */
    size_t failed_by;   /* who had it */
    step failed_in;
    tc_status status; /* of TAKING */
    bool no_memory;
};

size_t ti_each_threads(const tc_ctx *ctx, size_t n_samples)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = ctx->threads > 0 ? (size_t)ctx->threads : cores > 0 ? (size_t)cores : 1;
    n = n < MOST_THREADS ? n : MOST_THREADS;
    return n < n_samples ? n : n_samples ? n_samples : 1;
}

tc_spread_run *ti_spread_new(tc_ctx *ctx, size_t n_worker)
{
    tc_spread_run *r = tc_new(&ctx->arena, tc_spread_run);
    r->ctx = ctx;
    r->n_worker = n_worker < MOST_THREADS ? n_worker : MOST_THREADS;
    r->worker = tc_new_n(&ctx->arena, worker, r->n_worker);
    for (size_t i = 0; i < r->n_worker; i++) {
        r->worker[i].run = r;
        r->worker[i].index = i;
    }
    return r;
}

jmp_buf *ti_spread_oom(tc_spread_run *run, size_t i)
{
    return &run->worker[i].oom;
}

/* ---- one worker ---- */

static void lock(worker *w)
{
    pthread_mutex_lock(&w->run->lock);
    w->locked = true;
    w->run->ctx->arena.oom = w->run->ctx->scratch.oom = &w->oom;
}

static void unlock(worker *w)
{
    w->locked = false;
    pthread_mutex_unlock(&w->run->lock);
}

/* With the lock held: a sample has failed; earlier samples may still be running. */
static void fail(worker *w, step in, tc_status status)
{
    tc_spread_run *r = w->run;
    if (w->k < r->failed) {
        r->failed = w->k;
        r->failed_by = w->index;
        r->failed_in = in;
        r->status = status;
    }
    pthread_cond_broadcast(&r->turn);
}

/* The next sample, with the lock held; false when there is none.  If reading fails while others are
 * running its messages are dropped: only the first failure is reported, at the end. */
static bool read_next(worker *w)
{
    tc_spread_run *r = w->run;
    if (r->no_memory || r->failed != SIZE_MAX || r->next >= r->what->n)
        return false;
    w->k = r->next++;
    if (r->alone) {
        tc_status status = r->what->read(r->what->who, w->index, w->k);
        if (status)
            fail(w, TAKING, status);
        return !status;
    }
    tc_hold hold = ti_hold_begin(r->ctx);
    tc_status status = r->what->read(r->what->who, w->index, w->k);
    if (status) {
        ti_hold_drop(r->ctx, hold);
        fail(w, READING, status);
    } else
        ti_hold_keep(r->ctx, hold);
    return !status;
}

/* With the lock held: waits until all earlier samples are taken; false: one of them failed. */
static bool await_turn(worker *w)
{
    tc_spread_run *r = w->run;
    while (!r->what->any_order && r->taken != w->k && r->failed > w->k && !r->no_memory) {
        w->locked = false;
        pthread_cond_wait(&r->turn, &r->lock);
        w->locked = true;
    }
    r->ctx->arena.oom = r->ctx->scratch.oom = &w->oom;
    return r->failed > w->k && !r->no_memory;
}

static void take(worker *w)
{
    tc_spread_run *r = w->run;
    tc_status status = r->what->take ? r->what->take(r->what->who, w->index, w->k) : TC_OK;
    if (status)
        fail(w, TAKING, status);
    r->taken++;
    pthread_cond_broadcast(&r->turn);
}

/* One sample more; false when there is none, or it is the last. */
static bool run_next(worker *w)
{
    const tc_spread *what = w->run->what;
    lock(w);
    bool more = read_next(w);
    unlock(w);
    if (!more)
        return false;
    tc_status status = what->work(what->who, w->index, w->k);
    lock(w);
    if (status)
        fail(w, WORKING, status);
    else if (await_turn(w))
        take(w);
    more = !status && w->run->failed == SIZE_MAX;
    unlock(w);
    return more;
}

static void *run_samples(void *what)
{
    worker *w = what;
    if (setjmp(w->oom) != 0) {
        if (!w->locked)
            lock(w);
        w->run->no_memory = true;
        pthread_cond_broadcast(&w->run->turn);
        unlock(w);
        return NULL;
    }
    while (run_next(w))
        ;
    return NULL;
}

/* ---- together ---- */

/* The first worker is this thread; one that cannot be started leaves its samples to the others. */
static void work_together(worker *w, size_t n)
{
    for (size_t i = 1; i < n; i++)
        w[i].started = pthread_create(&w[i].thread, NULL, run_samples, &w[i]) == 0;
    run_samples(&w[0]);
    for (size_t i = 1; i < n; i++)
        if (w[i].started)
            pthread_join(w[i].thread, NULL);
}

static tc_status tell_failure(const tc_spread_run *r)
{
    const tc_spread *what = r->what;
    if (r->failed == SIZE_MAX || r->failed_in == TAKING)
        return r->failed == SIZE_MAX ? TC_OK : r->status;
    tc_status status = (r->failed_in == READING ? what->read : what->explain)(
        what->who, r->failed_by, r->failed);
    return status ? status : r->status;
}

tc_status ti_spread_samples(tc_spread_run *r, const tc_spread *what, size_t n_worker)
{
    tc_ctx *ctx = r->ctx;
    jmp_buf *oom = ctx->arena.oom, *scratch_oom = ctx->scratch.oom;
    r->what = what;
    r->next = r->taken = 0;
    r->failed = SIZE_MAX;
    r->status = TC_OK;
    r->no_memory = false;
    n_worker = n_worker < r->n_worker ? n_worker : r->n_worker;
    r->alone = n_worker == 1;
    r->told = ctx->on_diagnostic;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->turn, NULL);
    work_together(r->worker, n_worker);
    pthread_cond_destroy(&r->turn);
    pthread_mutex_destroy(&r->lock);
    ctx->arena.oom = oom;
    ctx->scratch.oom = scratch_oom;
    ctx->on_diagnostic = r->told;
    if (r->no_memory)
        ti_arena_raw(&ctx->arena, SIZE_MAX); /* takes the jump */
    return tell_failure(r);
}
