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

/* ---- who is there at the same time ---- */

/* Spans in the order of their first steps, and over them a tree of the latest last step among those
 * that have their place: so the ones that meet a span are found without looking at the others. */
typedef struct meeting {
    tc_span **by_first;
    size_t *rank;   /* of span i in that order */
    size_t *latest; /* node k: of its half of the leaves, plus one; 0: none has its place yet */
    size_t leaves, n;
    tc_span **found;
    size_t n_found;
} meeting;

static meeting meeting_of(tc_arena *scratch, tc_span *span, size_t n)
{
    meeting m = {.n = n, .leaves = 1};
    while (m.leaves < n)
        m.leaves *= 2;
    m.by_first = tc_new_n(scratch, tc_span *, n);
    m.found = tc_new_n(scratch, tc_span *, n);
    m.rank = tc_new_n(scratch, size_t, n);
    m.latest = tc_new_n(scratch, size_t, 2 * m.leaves);
    for (size_t i = 0; i < n; i++)
        m.by_first[i] = &span[i];
    qsort(m.by_first, n, sizeof *m.by_first, earlier_first);
    for (size_t i = 0; i < n; i++)
        m.rank[m.by_first[i] - span] = i;
    return m;
}

static void has_its_place(meeting *m, const tc_span *span, const tc_span *s)
{
    for (size_t k = m->leaves + m->rank[s - span]; k; k /= 2)
        if (m->latest[k] < s->last + 1)
            m->latest[k] = s->last + 1;
}

/* Those below node k, whose leaves begin at `from`, that are there at some step of s. */
static void meets(meeting *m, const tc_span *s, size_t k, size_t from, size_t count)
{
    if (from >= m->n || m->latest[k] <= s->first || m->by_first[from]->first > s->last)
        return;
    if (count == 1) {
        m->found[m->n_found++] = m->by_first[from];
        return;
    }
    meets(m, s, 2 * k, from, count / 2);
    meets(m, s, 2 * k + 1, from + count / 2, count / 2);
}

static int lower_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    int o = by(y->offset, x->offset);
    return o ? o : arrival(x, y);
}

/* In this order, each at the lowest address where it meets nobody. */
static size_t pack_in(tc_arena *scratch, tc_span *span, size_t n, size_t align, order *o)
{
    tc_mark mark = ti_arena_mark(scratch);
    tc_span **sorted = tc_new_n(scratch, tc_span *, n);
    meeting m = meeting_of(scratch, span, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &span[i];
    qsort(sorted, n, sizeof *sorted, o);
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        tc_span *s = sorted[i];
        size_t at = 0;
        m.n_found = 0;
        meets(&m, s, 1, 0, m.leaves);
        qsort(m.found, m.n_found, sizeof *m.found, lower_first);
        for (size_t k = 0; k < m.n_found; k++) {
            const tc_span *other = m.found[k];
            if (other->offset + other->size <= at)
                continue;
            if (at + s->size <= other->offset)
                break;
            at = (other->offset + other->size + align - 1) / align * align;
        }
        s->offset = at;
        has_its_place(&m, span, s);
        if (at + s->size > total)
            total = at + s->size;
    }
    ti_arena_rewind(scratch, mark);
    return total;
}

size_t ti_pack(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    return pack_in(scratch, span, n, align, larger_first);
}

size_t ti_pack_best(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    static order *const orders[] = {larger_first, longer_first, earlier_first, later_first};
    tc_mark mark = ti_arena_mark(scratch);
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
    ti_arena_rewind(scratch, mark);
    return best;
}
