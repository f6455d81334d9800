/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c -- see pack.h. */
#include "pack.h"

#include <stdlib.h>

typedef int order(const void *a, const void *b);

static int by(size_t x, size_t y) { return x < y ? 1 : x > y ? -1 : 0; } /* the larger first */

/* Equals in the order of arrival: pointers into one array. */
static int arrival(const tc_span *x, const tc_span *y) { return x < y ? -1 : x > y; }

static size_t life(const tc_span *s) { return s->last - s->first; }

static int larger_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    int o = by(x->size, y->size);
    return o ? o : arrival(x, y);
}

static int longer_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    int o = by(life(x), life(y));
    return o ? o : larger_first(a, b);
}

static int earlier_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    int o = by(y->first, x->first);
    return o ? o : larger_first(a, b);
}

static int later_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    int o = by(x->last, y->last);
    return o ? o : larger_first(a, b);
}

static bool meet(const tc_span *a, const tc_span *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Insert into the list that is sorted by address. */
static void insert(tc_span **placed, size_t n, tc_span *s)
{
    size_t i = n;
    for (; i > 0 && placed[i - 1]->offset > s->offset; i--)
        placed[i] = placed[i - 1];
    placed[i] = s;
}

/* In this order, each at the lowest address where it meets nobody. */
static size_t pack_in(tc_arena *scratch, tc_span *span, size_t n, size_t align, order *o)
{
    tc_mark mark = tc_arena_mark(scratch);
    tc_span **sorted = tc_new_n(scratch, tc_span *, n), **placed = tc_new_n(scratch, tc_span *, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &span[i];
    qsort(sorted, n, sizeof *sorted, o);
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        tc_span *s = sorted[i];
        size_t at = 0;
        for (size_t k = 0; k < i; k++) {
            const tc_span *other = placed[k];
            if (!meet(s, other) || other->offset + other->size <= at)
                continue;
            if (at + s->size <= other->offset)
                break;
            at = (other->offset + other->size + align - 1) / align * align;
        }
        s->offset = at;
        insert(placed, i, s);
        if (at + s->size > total)
            total = at + s->size;
    }
    tc_arena_rewind(scratch, mark);
    return total;
}

size_t tc_pack(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    return pack_in(scratch, span, n, align, larger_first);
}

size_t tc_pack_best(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    static order *const orders[] = {larger_first, longer_first, earlier_first, later_first};
    tc_mark mark = tc_arena_mark(scratch);
    size_t *offset = tc_new_n(scratch, size_t, n), best = 0;
    for (size_t k = 0; k < TC_COUNT(orders); k++) {
        size_t total = pack_in(scratch, span, n, align, orders[k]);
        if (k && total >= best)
            continue;
        best = total;
        for (size_t i = 0; i < n; i++)
            offset[i] = span[i].offset;
    }
    for (size_t i = 0; i < n; i++)
        span[i].offset = offset[i];
    tc_arena_rewind(scratch, mark);
    return best;
}
