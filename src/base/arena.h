/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h -- zeroed memory that is given back all at once.
 *
 * Everything a compilation makes lives in the context's arena and goes when the
 * context goes.  Working space inside a function comes from ctx->scratch between a
 * mark and a rewind.  Allocation never returns NULL: running out of memory takes the
 * one jump back to the public call that started the work. */
#ifndef TC_ARENA_H
#define TC_ARENA_H

#include <setjmp.h>

#include "base.h"

typedef struct tc_arena {
    struct tc_block *top;  /* newest block; older ones are linked after it */
    size_t used;           /* bytes allocated and not rewound */
    size_t peak;           /* the most that was ever in use */
    size_t limit;          /* 0: none; otherwise used may not pass it */
    jmp_buf *oom;          /* where to go when memory runs out; NULL: there is nowhere */
    long fail_after;       /* tests: the allocation that fails, counted down; < 0: never */
    const tc_allocator *from; /* where blocks come from; NULL: malloc */
} tc_arena;

typedef struct tc_mark {
    struct tc_block *top;
    size_t at, used;
} tc_mark;

/* Blocks from the allocator, malloc's when it is empty; NULL: out of memory. */
void *ti_take_block(const tc_allocator *from, size_t size, size_t align);
void ti_give_block(const tc_allocator *from, void *block, size_t size);

void ti_arena_init(tc_arena *arena);
/* Another arena: memory from the same source, and the same jump when it runs out. */
void ti_arena_init_like(tc_arena *arena, const tc_arena *other);
void ti_arena_free(tc_arena *arena);
void ti_arena_end(void *arena); /* the same, as a clean-up */

/* count * size zeroed bytes. */
void *ti_arena_array(tc_arena *arena, size_t count, size_t size, size_t align);

/* The same without the zeros, for buffers that are about to be filled; 64-byte aligned. */
void *ti_arena_raw(tc_arena *arena, size_t size);

tc_mark ti_arena_mark(const tc_arena *arena);
void ti_arena_rewind(tc_arena *arena, tc_mark mark);

#define tc_new(arena, T) ((T *)ti_arena_array((arena), 1, sizeof(T), _Alignof(T)))
#define tc_new_n(arena, T, n) ((T *)ti_arena_array((arena), (n), sizeof(T), _Alignof(T)))

/* A copy of n elements. */
void *ti_arena_copy(tc_arena *arena, const void *data, size_t size);

/* A growing array: makes room for one more element in items[n], doubling as it goes. */
#define tc_grow(arena, items, n, cap)                                                              \
    ((n) < (cap) ? (void)0                                                                         \
                 : (void)((items) = ti_arena_grow((arena), (items), (n), &(cap), sizeof *(items))))
void *ti_arena_grow(tc_arena *arena, void *items, size_t n, size_t *cap, size_t size);

#endif
