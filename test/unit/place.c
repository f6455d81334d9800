/* SPDX-License-Identifier: Apache-2.0 */
/* place.c -- addresses of items: nothing that is needed is written over, and no byte too many. */
#include "check.h"

#include "base/place.h"

#include <stdlib.h>
#include <time.h>

enum { ALIGN = 16 };

static uint32_t dice = 1;
static int32_t draw(int32_t below)
{
    dice = dice * 1664525u + 1013904223u;
    return (int32_t)((dice >> 8) % (uint32_t)below);
}

/* ---- by brute force ---- */

/* What of an item is needed when: its parts, or itself. */
static tc_place_part part_of(const tc_place_item *t, size_t k)
{
    return t->n_part ? t->part[k] : (tc_place_part){0, t->bytes, t->life};
}
static size_t parts(const tc_place_item *t)
{
    return t->n_part ? t->n_part : 1;
}

static size_t root(const tc_place_item *item, size_t i)
{
    while (item[i].same_as)
        i = item[i].same_as - 1;
    return i;
}

static bool apart(const tc_place_item *a, const tc_place_item *b)
{
    for (size_t i = 0; i < parts(a); i++)
        for (size_t k = 0; k < parts(b); k++) {
            tc_place_part x = part_of(a, i), y = part_of(b, k);
            int64_t at_x = a->address + x.offset, at_y = b->address + y.offset;
            if (ti_lives_meet(x.life, y.life) && at_x < at_y + y.bytes &&
                at_y < at_x + x.bytes)
                return false;
        }
    return true;
}

static bool sound(const tc_place_item *item, size_t n, tc_placement made)
{
    bool good = made.bytes >= made.bound && made.bytes % ALIGN == 0;
    for (size_t i = 0; i < n && good; i++) {
        good = item[i].address >= 0 && item[i].address + item[i].bytes <= made.bytes;
        if (item[i].same_as)
            good = good && item[i].address == item[item[i].same_as - 1].address + item[i].at;
        else
            good = good && item[i].address % ALIGN == 0;
        for (size_t k = 0; k < i && good; k++)
            good = root(item, i) == root(item, k) || apart(&item[i], &item[k]);
    }
    return good;
}

/* Bytes of roots that stand alone, whole, at a step. */
static int64_t live_at(const tc_place_item *item, size_t n, int32_t step)
{
    int64_t all = 0;
    for (size_t i = 0; i < n; i++)
        if (item[i].life.first <= step && step <= item[i].life.last)
            all += (item[i].bytes + ALIGN - 1) / ALIGN * ALIGN;
    return all;
}

/* ---- random ones ---- */

static void make(tc_place_item *item, size_t n, tc_place_part *part, bool plain)
{
    for (size_t i = 0; i < n; i++) {
        tc_place_item *t = &item[i];
        int32_t first = draw((int32_t)n + 1), length = draw(4) ? draw(4) : draw((int32_t)n + 1);
        *t = (tc_place_item){.bytes = draw(8) ? 16 * (1 + draw(64)) : 1 + draw(1000),
                             .life = {first, first + length}};
        if (!plain && i && draw(5) == 0) { /* in place: it begins where the other one ends */
            const tc_place_item *of = &item[i - 1 - (size_t)draw((int32_t)i)];
            t->same_as = (size_t)(of - item) + 1;
            t->life.first = of->life.last;
            t->life.last = t->life.first + length;
            t->at = draw(2) ? 0 : draw((int32_t)of->bytes);
        }
        if (!plain && draw(4) == 0) {
            t->n_part = (size_t)(1 + draw(3));
            t->part = part + 3 * i;
            for (size_t k = 0; k < t->n_part; k++) {
                int64_t from = t->bytes * (int64_t)k / (int64_t)t->n_part,
                        to = t->bytes * (int64_t)(k + 1) / (int64_t)t->n_part;
                int32_t begin = t->life.first + draw(t->life.last - t->life.first + 1);
                part[3 * i + k] = (tc_place_part){from, to - from, {begin, t->life.last}};
            }
        }
    }
}

static void random_ones(tc_arena *arena)
{
    enum { MOST = 60 };
    tc_place_item item[MOST];
    tc_place_part part[3 * MOST];
    int64_t all = 0, bound = 0;
    for (int round = 0; round < 2000; round++) {
        size_t n = (size_t)draw(round % 10 ? 20 : MOST + 1);
        bool plain = round % 2;
        make(item, n, part, plain);
        tc_placement made = ti_place_items(arena, item, n, ALIGN);
        CHECK(sound(item, n, made));
        if (plain) {
            int64_t most = 0;
            for (size_t i = 0; i < n; i++)
                most = ti_max_i64(most, live_at(item, n, item[i].life.first));
            CHECK(made.bound == most);
        }
        all += made.bytes;
        bound += made.bound;
        if (round % 20)
            continue;
        tc_place_item again[MOST];
        memcpy(again, item, sizeof again);
        tc_placement twice = ti_place_items(arena, again, n, ALIGN);
        CHECK(twice.bytes == made.bytes && !memcmp(again, item, n * sizeof *item));
    }
    printf("random ones: %.2f %% above what is needed at the same time\n",
           100.0 * (double)(all - bound) / (double)bound);
    CHECK(all <= bound + bound / 50);
}

/* At each lower address the item would meet one that is no smaller. */
static bool lowest(const tc_place_item *item, size_t n, size_t i)
{
    tc_place_item t = item[i];
    bool met = true;
    for (t.address = 0; t.bytes && met && t.address < item[i].address; t.address += ALIGN) {
        met = false;
        for (size_t k = 0; k < n; k++)
            met = met || (k != i && item[k].bytes + ALIGN > t.bytes && !apart(&t, &item[k]));
    }
    return met;
}

/* Also steps that are far from each other, and items of no bytes. */
static void once(tc_arena *arena)
{
    tc_place_item item[60];
    for (int round = 0; round < 2000; round++) {
        size_t n = (size_t)draw(60);
        int32_t steps = 1 + draw(40), far = draw(2) ? 1 : 1000003;
        for (size_t i = 0; i < n; i++) {
            int32_t first = draw(steps), last = first + (draw(3) ? draw(4) : draw(steps));
            item[i] = (tc_place_item){.bytes = draw(5) * (1 + draw(20)),
                                      .life = {first * far, last * far + far / 2}};
        }
        tc_placement made = ti_place_once(arena, item, n, ALIGN);
        CHECK(sound(item, n, made));
        for (size_t i = 0; i < n; i++)
            CHECK(lowest(item, n, i));
        CHECK(ti_place_items(arena, item, n, ALIGN).bytes <= made.bytes);
    }
}

/* The first half is there from the start, the second to the end: all of them meet. */
static void crowd(tc_arena *arena)
{
    enum { N = 40000 };
    tc_place_item *item = calloc(N, sizeof *item);
    for (int32_t i = 0; i < N; i++)
        item[i] = (tc_place_item){.bytes = ALIGN,
                                  .life = {i < N / 2 ? 0 : i, i < N / 2 ? i : N}};
    CHECK(ti_place_items(arena, item, N, ALIGN).bytes == (int64_t)N / 2 * ALIGN);
    free(item);
}

/* ---- those that networks have ---- */

static void chain(tc_arena *arena)
{
    tc_place_item item[64];
    int64_t most = 0;
    for (int i = 0; i < 64; i++)
        item[i] = (tc_place_item){.bytes = 16 * (1 + (i * 37) % 50), .life = {i, i + 1}};
    for (int i = 0; i + 1 < 64; i++)
        most = ti_max_i64(most, item[i].bytes + item[i + 1].bytes);
    tc_placement made = ti_place_items(arena, item, 64, ALIGN);
    CHECK(made.bound == most && made.bytes == most && sound(item, 64, made));
}

/* Blocks with a way around: x -> a -> b -> x + b. */
static void residual(tc_arena *arena)
{
    tc_place_item item[90];
    for (int i = 0; i < 30; i++) {
        item[3 * i] = (tc_place_item){.bytes = 1024, .life = {3 * i, 3 * i + 3}};
        item[3 * i + 1] = (tc_place_item){.bytes = 6144, .life = {3 * i + 1, 3 * i + 2}};
        item[3 * i + 2] = (tc_place_item){.bytes = 6144, .life = {3 * i + 2, 3 * i + 3}};
    }
    tc_placement made = ti_place_items(arena, item, 90, ALIGN);
    CHECK(made.bytes == made.bound && sound(item, 90, made));
}

/* Four pieces are put together one by one: while the first is made, nothing else is there. */
static void concat(tc_arena *arena)
{
    tc_place_part part[4];
    tc_place_item item[5] = {{.bytes = 4096, .life = {0, 8}, .part = part, .n_part = 4}};
    for (int i = 0; i < 4; i++) {
        part[i] = (tc_place_part){1024 * i, 1024, {2 * i + 1, 8}};
        item[1 + i] = (tc_place_item){.bytes = 4096 - 1024 * i, .life = {2 * i, 2 * i + 1}};
    }
    tc_placement made = ti_place_items(arena, item, 5, ALIGN);
    CHECK(made.bound == 5120 && sound(item, 5, made));
    CHECK(made.bytes == 5120);
}

/* y is made where x was. */
static void in_place(tc_arena *arena)
{
    tc_place_item item[3] = {{.bytes = 1024, .life = {0, 1}},
                             {.bytes = 1024, .life = {1, 2}, .same_as = 1},
                             {.bytes = 512, .life = {2, 3}}};
    tc_placement made = ti_place_items(arena, item, 3, ALIGN);
    CHECK(made.bound == 1536 && made.bytes == 1536 && item[0].address == item[1].address);
    CHECK(sound(item, 3, made));
}

static void nothing(tc_arena *arena)
{
    tc_place_item item[2] = {{.bytes = 0, .life = {0, 5}}, {.bytes = 5}};
    CHECK(ti_place_items(arena, item, 0, ALIGN).bytes == 0);
    CHECK(ti_place_items(arena, item, 1, ALIGN).bytes == 0);
    CHECK(ti_place_items(arena, item, 2, ALIGN).bytes == 16);
}

/* ---- many ---- */

static double seconds(tc_arena *arena, size_t n, int32_t long_ones, tc_placement *made)
{
    tc_place_item *item = calloc(n, sizeof *item);
    dice = 7;
    for (size_t i = 0; i < n; i++) {
        int32_t at = (int32_t)i, length = 1 + draw(4);
        if (long_ones && draw(long_ones) == 0)
            length = draw((int32_t)n);
        item[i] = (tc_place_item){.bytes = 16 * (1 + draw(4000)), .life = {at, at + length}};
    }
    clock_t begin = clock();
    *made = ti_place_items(arena, item, n, ALIGN);
    double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CHECK(made->bytes >= made->bound);
    if (n <= 4000)
        CHECK(sound(item, n, *made));
    free(item);
    return took;
}

static void many(tc_arena *arena)
{
    static const int32_t long_ones[] = {0, 100, 1};
    for (size_t i = 0; i < TC_COUNT(long_ones); i++)
        for (size_t n = 1250; n <= 20000; n *= 4) {
            tc_placement made;
            double took = seconds(arena, n, long_ones[i], &made);
            printf("%zu items, one in %d long: %.3f s, %.3f of what is needed\n", n, long_ones[i],
                   took, (double)made.bytes / (double)made.bound);
            CHECK(took < 10);
            CHECK(made.bytes <= made.bound + made.bound / 10);
        }
}

int main(void)
{
    tc_arena arena;
    ti_arena_init(&arena);
    nothing(&arena);
    chain(&arena);
    residual(&arena);
    concat(&arena);
    in_place(&arena);
    random_ones(&arena);
    once(&arena);
    crowd(&arena);
    many(&arena);
    CHECK(arena.used == 0);
    ti_arena_free(&arena);
    return check_done();
}
