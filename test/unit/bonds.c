/* SPDX-License-Identifier: Apache-2.0 */
/* bonds.c -- items at fixed distances: what is bound is there, what is needed at the same time is
 * apart. */
#include "check.h"

#include "base/bonds.h"

enum { ALIGN = 16 };

/* A scratch of step 2 with an operand and a result in the same bytes, as a stream may have them. */
static void test_in_place(tc_arena *arena)
{
    const tc_place_item item[] = {{.bytes = 64, .life = {2, 2}},
                                  {.bytes = 16, .life = {0, 2}},
                                  {.bytes = 16, .life = {2, 5}},
                                  {.bytes = 16, .life = {1, 4}}};
    int64_t address[4];
    tc_bonds b;
    ti_bonds_begin(arena, item, 4, ALIGN, &b);
    CHECK(ti_bind(&b, 0, 1, 32, 2));
    CHECK(ti_bind(&b, 0, 2, 32, 2));
    CHECK(!ti_bind(&b, 0, 3, 32, 2)); /* it is needed before, with the operand */
    CHECK(!ti_bind(&b, 0, 1, 16, 2)); /* it lies elsewhere */
    CHECK(!ti_bind(&b, 0, 3, 8, 2));  /* not on 16 bytes */
    CHECK(ti_bonds_place(arena, &b, address).bytes == 80);
    CHECK(address[1] - address[0] == 32);
    CHECK(address[2] - address[0] == 32);
    CHECK(address[3] + 16 <= address[0] || address[3] >= address[0] + 64);
}

/* An item below the one that it is bound to. */
static void test_below(tc_arena *arena)
{
    const tc_place_item item[] = {{.bytes = 16, .life = {0, 1}},
                                  {.bytes = 64, .life = {1, 1}}};
    int64_t address[2];
    tc_bonds b;
    ti_bonds_begin(arena, item, 2, ALIGN, &b);
    CHECK(ti_bind(&b, 1, 0, 48, 1));
    CHECK(ti_bonds_place(arena, &b, address).bytes == 64);
    CHECK(address[0] == 48);
    CHECK(address[1] == 0);
}

static uint32_t dice = 1;
static int32_t roll(int32_t n)
{
    dice = dice * 1664525u + 1013904223u;
    return (int32_t)((dice >> 8) % (uint32_t)n);
}

/* Steps with a scratch each and values between them, at random places in it. */
static void test_random(tc_arena *arena)
{
    enum { STEPS = 8, VALUES = 12, N = STEPS + VALUES };
    tc_place_item item[N] = {{0}};
    struct bond {
        size_t to, i;
        int64_t at;
    } kept[4 * VALUES];
    size_t n_kept = 0;
    for (int32_t i = 0; i < STEPS; i++)
        item[i] = (tc_place_item){.bytes = 128 + 16 * roll(8), .life = {i, i}};
    for (int i = STEPS; i < N; i++) {
        int32_t first = roll(STEPS), last = first + roll(STEPS - first);
        item[i] = (tc_place_item){.bytes = 16 + roll(80), .life = {first, last}};
    }
    tc_bonds b;
    int64_t address[N];
    bool bound[N][STEPS] = {{false}};
    ti_bonds_begin(arena, item, N, ALIGN, &b);
    for (int32_t step = 0; step < STEPS; step++)
        for (size_t i = STEPS; i < N; i++) {
            bool ends = item[i].life.first == step || item[i].life.last == step;
            int64_t at = 16 * roll(4);
            if (ends && roll(2) && ti_bind(&b, (size_t)step, i, at, step)) {
                kept[n_kept++] = (struct bond){(size_t)step, i, at};
                bound[i][step] = bound[step][step] = true;
            }
        }
    int64_t bytes = ti_bonds_place(arena, &b, address).bytes;
    for (size_t k = 0; k < n_kept; k++)
        CHECK(address[kept[k].i] - address[kept[k].to] == kept[k].at);
    for (size_t i = 0; i < N; i++) {
        CHECK(address[i] >= 0 && address[i] + item[i].bytes <= bytes && address[i] % ALIGN == 0);
        for (size_t k = 0; k < i; k++) {
            int32_t first = item[i].life.first > item[k].life.first ? item[i].life.first : item[k].life.first;
            int32_t last = item[i].life.last < item[k].life.last ? item[i].life.last : item[k].life.last;
            bool shared = first == last && bound[i][first] && bound[k][first];
            bool apart = address[i] + item[i].bytes <= address[k] ||
                         address[k] + item[k].bytes <= address[i];
            CHECK(first > last || shared || apart);
        }
    }
}

int main(void)
{
    tc_arena arena;
    ti_arena_init(&arena);
    test_in_place(&arena);
    test_below(&arena);
    for (int i = 0; i < 300; i++)
        test_random(&arena);
    ti_arena_free(&arena);
    return check_done();
}
