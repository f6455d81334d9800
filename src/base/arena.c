/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c -- blocks that stay put, doubling in size; a rewind gives whole blocks back. */
#include "arena.h"

#include <stdlib.h>

enum { FIRST_BLOCK = 64 * 1024, LARGEST_STEP = 4 * 1024 * 1024, ALIGN = 64 };

/* With the address sanitizer, only allocated bytes may be read: not the gap after an array, nor
 * what a rewind freed. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define WATCHED
#endif
#endif
#if defined WATCHED || defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = 64, LEAST_ALIGN = 8 };
#define FORBID(at, size) __asan_poison_memory_region(at, size)
#define ALLOW(at, size) __asan_unpoison_memory_region(at, size)
#else
enum { GAP = 0, LEAST_ALIGN = 1 };
#define FORBID(at, size) ((void)0)
#define ALLOW(at, size) ((void)0)
#endif

typedef struct tc_block {
    struct tc_block *below;
    size_t size, at;
    uint8_t *data; /* size bytes, 64-byte aligned */
} tc_block;

void ti_arena_init(tc_arena *arena)
{
    *arena = (tc_arena){.fail_after = -1};
}

void ti_arena_init_like(tc_arena *arena, const tc_arena *other)
{
    *arena = (tc_arena){.fail_after = -1, .oom = other->oom, .from = other->from};
}

/* Windows frees aligned memory by a separate function. */
#ifdef _WIN32
#include <malloc.h>
#define TAKE(size, align) _aligned_malloc(size, align)
#define GIVE(block) _aligned_free(block)
#else
#define TAKE(size, align) ((align) > _Alignof(max_align_t) ? aligned_alloc(align, size) : malloc(size))
#define GIVE(block) free(block)
#endif

void *ti_take_block(const tc_allocator *from, size_t size, size_t align)
{
    if (from && from->allocate)
        return from->allocate(from->user, size, align);
    return TAKE(size, align);
}

void ti_give_block(const tc_allocator *from, void *block, size_t size)
{
    if (!block)
        return;
    if (from && from->release)
        from->release(from->user, block, size);
    else
        GIVE(block);
}

static void drop_top(tc_arena *arena)
{
    tc_block *block = arena->top;
    arena->top = block->below;
    ALLOW(block->data, block->size);
    ti_give_block(arena->from, block->data, block->size);
    ti_give_block(arena->from, block, sizeof *block);
}

void ti_arena_free(tc_arena *arena)
{
    while (arena->top)
        drop_top(arena);
    arena->used = 0;
}

void ti_arena_end(void *arena)
{
    ti_arena_free(arena);
}

/* Every public call sets a jump target; without one, running out of memory is fatal. */
static TC_NORETURN void out_of_memory(const tc_arena *arena)
{
    if (arena->oom)
        longjmp(*arena->oom, 1);
    __builtin_trap();
}

static tc_block *push_block(tc_arena *arena, size_t need)
{
    size_t size = arena->top ? arena->top->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    if (size < need)
        size = (need + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    tc_block *block = ti_take_block(arena->from, sizeof *block, _Alignof(tc_block));
    uint8_t *data = block && size >= need ? ti_take_block(arena->from, size, ALIGN) : NULL;
    if (!data) {
        ti_give_block(arena->from, block, sizeof *block);
        out_of_memory(arena);
    }
    *block = (tc_block){.below = arena->top, .size = size, .data = data};
    FORBID(data, size);
    return arena->top = block;
}

static void *take(tc_arena *arena, size_t size, size_t align)
{
    if (arena->fail_after >= 0 && arena->fail_after-- == 0)
        out_of_memory(arena);
    if (arena->limit && (size > arena->limit || arena->used > arena->limit - size))
        out_of_memory(arena);
    tc_block *block = arena->top;
    align = align < LEAST_ALIGN ? LEAST_ALIGN : align;
    size_t at = block ? (block->at + GAP + align - 1) & ~(align - 1) : 0;
    if (!block || at > block->size || size > block->size - at) {
        if (size > SIZE_MAX / 2)
            out_of_memory(arena);
        block = push_block(arena, size);
        at = 0;
    }
    block->at = at + size;
    ALLOW(block->data + at, size);
    arena->used += size;
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    return block->data + at;
}

void *ti_arena_array(tc_arena *arena, size_t count, size_t size, size_t align)
{
    size_t bytes;
    if (!ti_mul_size(count, size, &bytes))
        out_of_memory(arena);
    void *data = take(arena, bytes ? bytes : 1, align);
    return memset(data, 0, bytes);
}

void *ti_arena_raw(tc_arena *arena, size_t size)
{
    return take(arena, size ? size : 1, ALIGN);
}

void *ti_arena_copy(tc_arena *arena, const void *data, size_t size)
{
    void *copy = ti_arena_raw(arena, size);
    return size ? memcpy(copy, data, size) : copy;
}

void *ti_arena_grow(tc_arena *arena, void *items, size_t n, size_t *cap, size_t size)
{
    *cap = *cap ? *cap * 2 : 8;
    size_t bytes, used = n * size;
    if (!ti_mul_size(*cap, size, &bytes))
        out_of_memory(arena);
    uint8_t *more = take(arena, bytes, _Alignof(max_align_t));
    if (used)
        memcpy(more, items, used);
    memset(more + used, 0, bytes - used);
    return more;
}

tc_mark ti_arena_mark(const tc_arena *arena)
{
    return (tc_mark){arena->top, arena->top ? arena->top->at : 0, arena->used};
}

void ti_arena_rewind(tc_arena *arena, tc_mark mark)
{
    while (arena->top != mark.top)
        drop_top(arena);
    if (arena->top) {
        arena->top->at = mark.at;
        FORBID(arena->top->data + mark.at, arena->top->size - mark.at);
    }
    arena->used = mark.used;
}
