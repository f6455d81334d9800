/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c -- see pack.h. */
#include "pack.h"

#include "taken.h"

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

/* The lowest address where the span meets nobody; every address is a multiple of align, so that
 * what lies behind an end up to the next one is as good as taken. */
static size_t place(tc_taken *taken, const tc_span *s, size_t align)
{
    size_t at = ti_taken_free(taken, s->first, s->last, 0, s->size);
    ti_taken_put(taken, s->first, s->last, at, (s->size + align - 1) / align * align);
    return at;
}

/* In this order, each at the lowest address where it meets nobody. */
static size_t pack_in(tc_arena *scratch, tc_span *span, size_t n, size_t align, order *o)
{
    tc_mark mark = ti_arena_mark(scratch);
    tc_span **sorted = tc_new_n(scratch, tc_span *, n);
    size_t *step = tc_new_n(scratch, size_t, n);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &span[i];
        step[i] = span[i].first;
    }
    tc_taken *taken = ti_taken_new(scratch, step, n);
    qsort(sorted, n, sizeof *sorted, o);
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        tc_span *s = sorted[i];
        s->offset = place(taken, s, align);
        if (s->offset + s->size > total)
            total = s->offset + s->size;
    }
    ti_arena_rewind(scratch, mark);
    return total;
}

size_t ti_pack(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    return pack_in(scratch, span, n, align, larger_first);
}

static int begins_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    return by(y->first, x->first);
}

static int ends_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    return by(y->last, x->last);
}

/* The most bytes that are alive at once: no order takes fewer. */
static size_t most_alive(tc_arena *scratch, tc_span *span, size_t n)
{
    tc_mark mark = ti_arena_mark(scratch);
    tc_span **begin = tc_new_n(scratch, tc_span *, n), **end = tc_new_n(scratch, tc_span *, n);
    size_t alive = 0, most = 0;
    for (size_t i = 0; i < n; i++)
        begin[i] = end[i] = &span[i];
    qsort(begin, n, sizeof *begin, begins_first);
    qsort(end, n, sizeof *end, ends_first);
    for (size_t i = 0, gone = 0; i < n; i++) {
        for (; end[gone]->last < begin[i]->first; gone++)
            alive -= end[gone]->size;
        alive += begin[i]->size;
        most = alive > most ? alive : most;
    }
    ti_arena_rewind(scratch, mark);
    return most;
}

size_t ti_pack_best(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    static order *const orders[] = {larger_first, longer_first, earlier_first, later_first};
    tc_mark mark = ti_arena_mark(scratch);
    size_t *offset = tc_new_n(scratch, size_t, n), best = SIZE_MAX;
    size_t least = n ? most_alive(scratch, span, n) : 0;
    for (size_t k = 0; k < TC_COUNT(orders) && best > least; k++) {
        size_t total = pack_in(scratch, span, n, align, orders[k]);
        if (total >= best)
            continue;
        best = total;
        for (size_t i = 0; i < n; i++)
            offset[i] = span[i].offset;
    }
    for (size_t i = 0; i < n; i++)
        span[i].offset = offset[i];
    ti_arena_rewind(scratch, mark);
    return best;
}
