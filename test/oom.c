/* SPDX-License-Identifier: Apache-2.0 */
/* oom.c -- every allocation of a whole quantize, compile and run fails once.
 *
 *   oom [--every N] [--blocks N] MODEL DATA TARGET OUT
 *
 * The allocator of a context counts, and says no to the K-th request, for every K that there is or
 * every N-th (--blocks); then the K-th request inside the arenas' blocks fails, for every N-th K
 * (--every).  Each time the call gives TC_NO_MEMORY and the context gives back all that it took:
 * memory, open files, threads, names. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tosac/tosac.h"

enum { NEVER = -1 };

/* An allocator that counts; requests come from several threads. */
typedef struct counter {
    atomic_long asked, held;
    atomic_size_t bytes;
    long refuse; /* the request that is refused, from 0; NEVER */
} counter;

static void *allocate(void *user, size_t size, size_t align)
{
    counter *c = user;
    if (atomic_fetch_add(&c->asked, 1) == c->refuse)
        return NULL;
    size_t rounded = (size + align - 1) / align * align;
    void *block = align > sizeof(void *) ? aligned_alloc(align, rounded) : malloc(size);
    if (block) {
        atomic_fetch_add(&c->held, 1);
        atomic_fetch_add(&c->bytes, size);
    }
    return block;
}

static void release(void *user, void *block, size_t size)
{
    counter *c = user;
    atomic_fetch_sub(&c->held, 1);
    atomic_fetch_sub(&c->bytes, size);
    free(block);
}

typedef struct job {
    const char *model, *data, *target, *out;
} job;

/* Everything that a user does with a model, short of looking at it. */
static tc_status work(tc_ctx *ctx, const job *j)
{
    tc_model *model = NULL, *typed = NULL;
    tc_dataset *calib = NULL, *inputs = NULL;
    tc_compiled *compiled = NULL;
    tc_program *program = NULL;
    tc_quantize_options q = tc_quantize_options_default();
    tc_compile_options o = tc_compile_options_default();
    TC_TRY(tc_model_open(ctx, j->model, NULL, &model));
    TC_TRY(tc_dataset_open(ctx, &j->data, 1, &calib));
    q.samples = calib;
    TC_TRY(tc_quantize_model(ctx, model, &q, &typed, NULL));
    o.target = j->target;
    TC_TRY(tc_compile(ctx, typed, &o, &compiled));
    TC_TRY(tc_compiled_write(ctx, compiled, TC_OUTPUT_PTE, j->out));
    TC_TRY(tc_program_new(ctx, tc_compiled_model(compiled), NULL, &program));
    TC_TRY(tc_dataset_open(ctx, &j->data, 1, &inputs));
    TC_TRY(tc_program_bind_data(program, inputs, NULL, NULL, NULL));
    return tc_program_run(program);
}

static int open_files(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

typedef struct totals {
    long tried, bad;
} totals;

static void complain(totals *t, const char *kind, long k, const char *what)
{
    t->bad++;
    fprintf(stderr, "%s %ld: %s\n", kind, k, what);
}

/* One run; refuse: the allocator's request that fails; inside: the arena's. */
static tc_status run(const job *j, counter *c, long refuse, long inside)
{
    remove(j->out); /* every run finds the same */
    *c = (counter){.refuse = refuse};
    tc_ctx_options o = tc_ctx_options_default();
    o.allocator = (tc_allocator){allocate, release, c};
    o.threads = 2;
    tc_ctx *ctx = tc_ctx_new_with(&o);
    if (!ctx)
        return TC_NO_MEMORY;
    ctx->arena.fail_after = inside;
    tc_status status = work(ctx, j);
    if (status != TC_OK && status != TC_NO_MEMORY)
        fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return status;
}

static void try_one(const job *j, totals *t, const char *kind, long refuse, long inside, int files)
{
    counter c;
    long k = refuse == NEVER ? inside : refuse;
    tc_status status = run(j, &c, refuse, inside);
    if (refuse != NEVER && atomic_load(&c.asked) <= refuse)
        return; /* two threads share their work anew each time, and ask a block more or less */
    t->tried++;
    if (status != TC_NO_MEMORY)
        complain(t, kind, k, tc_status_text(status));
    if (atomic_load(&c.held) || atomic_load(&c.bytes))
        complain(t, kind, k, "memory is not given back");
    if (open_files() != files)
        complain(t, kind, k, "a file stays open");
}

/* How many requests to the arena one run makes. */
static long count_inside(const job *j)
{
    long low = 0, high = 1;
    counter c;
    while (run(j, &c, NEVER, high) == TC_NO_MEMORY)
        high *= 2;
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (run(j, &c, NEVER, middle) == TC_NO_MEMORY)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int main(int argc, char **argv)
{
    long every = 1, each_block = 1, at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2)
        *(strcmp(argv[at], "--blocks") == 0 ? &each_block : &every) = atol(argv[at + 1]);
    if (argc - at != 4 || every < 1 || each_block < 1) {
        fputs("oom [--every N] [--blocks N] MODEL DATA TARGET OUT\n", stderr);
        return 2;
    }
    job j = {argv[at], argv[at + 1], argv[at + 2], argv[at + 3]};
    counter c;
    totals t = {0, 0};
    tc_status status = run(&j, &c, NEVER, NEVER); /* libraries keep what they made the first time */
    if (status != TC_OK) {
        fprintf(stderr, "without a failure: %s\n", tc_status_text(status));
        return 1;
    }
    int files = open_files();
    run(&j, &c, NEVER, NEVER);
    long blocks = atomic_load(&c.asked), inside = count_inside(&j);
    for (long k = 0; k < blocks; k += each_block)
        try_one(&j, &t, "block", k, NEVER, files);
    for (long k = 0; k < inside; k += every)
        try_one(&j, &t, "request", NEVER, k, files);
    if (run(&j, &c, NEVER, NEVER) != TC_OK || atomic_load(&c.held))
        complain(&t, "afterwards", 0, "it does not work any more");
    printf("%s: %ld blocks, each %ldth tried, %ld requests, each %ldth: %ld passed, %ld failed\n",
           j.model, blocks, each_block, inside, every, t.tried - t.bad, t.bad);
    return t.bad != 0;
}
