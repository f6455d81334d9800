/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c -- addresses of buffers, beside the words of pack.h taken literally. */
#include "check.h"

#include "run/pack.h"

#include <stdlib.h>

enum { ALIGN = 16, MOST = 64 };

static uint64_t seed;

static size_t draw(size_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(seed >> 33) % n;
}

static bool meet(const tc_span *a, const tc_span *b)
{
    return a->first <= b->last && b->first <= a->last && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

/* Largest first, the first of equals; each at the lowest address where it meets nobody. */
static size_t pack_plainly(tc_span *span, size_t n)
{
    bool placed[MOST] = {false};
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        size_t best = n;
        for (size_t k = 0; k < n; k++)
            if (!placed[k] && (best == n || span[k].size > span[best].size))
                best = k;
        tc_span *s = &span[best];
        bool met = true;
        for (s->offset = 0; met; s->offset += met ? ALIGN : 0) {
            met = false;
            for (size_t k = 0; k < n; k++)
                met = met || (placed[k] && meet(s, &span[k]));
        }
        placed[best] = true;
        total = s->offset + s->size > total ? s->offset + s->size : total;
    }
    return total;
}

/* Steps far apart too, and buffers of no bytes. */
static void test_lowest(tc_arena *scratch)
{
    tc_span span[MOST], plain[MOST];
    for (seed = 0; seed < 4000; seed++) {
        uint64_t keep = seed;
        size_t n = draw(MOST), steps = 1 + draw(40), far = draw(2) ? 1 : 1000003;
        for (size_t i = 0; i < n; i++) {
            size_t first = draw(steps), last = first + (draw(3) ? draw(4) : draw(steps));
            span[i] = (tc_span){draw(5) * (1 + draw(20)), first * far, last * far + far / 2, 0};
            plain[i] = span[i];
        }
        size_t total = ti_pack(scratch, span, n, ALIGN);
        CHECK(total == pack_plainly(plain, n));
        for (size_t i = 0; i < n; i++)
            CHECK(span[i].offset == plain[i].offset);
        CHECK(ti_pack_best(scratch, span, n, ALIGN) <= total);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < i; k++)
                CHECK(!meet(&span[i], &span[k]));
        seed = keep;
    }
}

/* The first half is there from the start on, the second to the end: the largest first takes no more
 * than is alive at once, and that is what comes out, without a look at other orders. */
static void test_many(tc_arena *scratch)
{
    enum { N = 40000 };
    tc_span *span = malloc(2 * N * sizeof *span), *once = span + N;
    for (size_t i = 0; i < N; i++)
        once[i] = span[i] = i < N / 2 ? (tc_span){ALIGN, 0, i, 0} : (tc_span){ALIGN, i, N, 0};
    size_t total = ti_pack(scratch, once, N, ALIGN);
    CHECK(total == (size_t)N / 2 * ALIGN);
    CHECK(ti_pack_best(scratch, span, N, ALIGN) == total);
    bool same = true;
    for (size_t i = 0; i < N; i++)
        same = same && span[i].offset == once[i].offset;
    CHECK(same);
    free(span);
}

int main(void)
{
    tc_arena scratch;
    ti_arena_init(&scratch);
    test_lowest(&scratch);
    test_many(&scratch);
    CHECK(scratch.used == 0);
    ti_arena_free(&scratch);
    return check_done();
}
