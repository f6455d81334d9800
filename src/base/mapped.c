/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.c -- see mapped.h. */
#define _DEFAULT_SOURCE 1 /* madvise */
#include "mapped.h"

#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { WORTH_WHILE = 1 << 18, PIECE = 1 << 15 }; /* smaller files are read, smaller pieces stay */

struct tc_mapped {
    struct tc_mapped *next;
    uint8_t *at;
    size_t size;
};

static void close_mapped(void *what)
{
    struct tc_mapped *m = what;
    munmap(m->at, m->size);
}

const uint8_t *ti_mapped_open(tc_ctx *ctx, int fd, size_t size)
{
    if (!ctx->may_map || size < WORTH_WHILE)
        return NULL;
    struct tc_mapped *m = tc_new(&ctx->arena, struct tc_mapped);
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    *m = (struct tc_mapped){ctx->mapped, at, size};
    ctx->mapped = m;
    ti_ctx_defer(ctx, close_mapped, m);
    return m->at;
}

static void drop_pages(const void *data, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)data, to = from + size;
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

void ti_mapped_forget(const tc_ctx *ctx, const void *data, size_t size)
{
    if (size < PIECE)
        return;
    for (const struct tc_mapped *m = ctx->mapped; m; m = m->next) {
        uintptr_t from = (uintptr_t)data, begin = (uintptr_t)m->at;
        if (from < begin || from + size > begin + m->size)
            continue;
        drop_pages(data, size);
        return;
    }
}

void ti_mapped_rest(const tc_ctx *ctx)
{
    for (const struct tc_mapped *m = ctx->mapped; m; m = m->next)
        drop_pages(m->at, m->size);
}

void ti_pages_drop(const tc_ctx *ctx, const void *data, size_t size)
{
    if (size >= PIECE && !ctx->allocator.allocate)
        drop_pages(data, size);
}

void ti_memory_trim(const tc_ctx *ctx)
{
#ifdef __GLIBC__
    if (!ctx->allocator.allocate)
        malloc_trim(0);
#else
    (void)ctx;
#endif
}
