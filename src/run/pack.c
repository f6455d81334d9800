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

/* Addresses that are taken: intervals in order, none touching the next. */
typedef struct interval {
    size_t from, to;
} interval;
typedef struct taken {
    interval *at;
    size_t n, cap;
} taken;

/* The first interval that ends at `address` or after it. */
static size_t first_ending(const taken *t, size_t address)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (t->at[middle].to < address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static void take(tc_arena *scratch, taken *t, interval x)
{
    size_t i = first_ending(t, x.from), end = i;
    for (; end < t->n && t->at[end].from <= x.to; end++) {
        x.from = t->at[end].from < x.from ? t->at[end].from : x.from;
        x.to = t->at[end].to > x.to ? t->at[end].to : x.to;
    }
    if (end == i && t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 2;
        interval *more = tc_new_n(scratch, interval, t->cap);
        if (t->n)
            memcpy(more, t->at, t->n * sizeof *more);
        t->at = more;
    }
    if (end < t->n)
        memmove(t->at + i + 1, t->at + end, (t->n - end) * sizeof *t->at);
    t->n = t->n - (end - i) + 1;
    t->at[i] = x;
}

/* The lowest address from `at` on with so many bytes that are not taken. */
static size_t lowest_free(const taken *t, size_t at, size_t size)
{
    for (size_t i = first_ending(t, at + 1); i < t->n && t->at[i].from < at + size; i++)
        at = t->at[i].to;
    return at;
}

/* A tree over the steps.  A node knows the addresses of spans that are there all its time, and of
 * those that are there at some of it: a span meets those of a few nodes, not one by one. */
typedef struct span_tree {
    tc_arena *scratch;
    size_t *step; /* the steps at which spans begin, in order: others make no difference */
    size_t n_step, leaves;
    taken *always, *sometimes;
} span_tree;

static int by_step(const void *a, const void *b)
{
    return by(*(const size_t *)b, *(const size_t *)a);
}

static span_tree tree_of(tc_arena *scratch, const tc_span *span, size_t n)
{
    span_tree t = {.scratch = scratch, .leaves = 1};
    t.step = tc_new_n(scratch, size_t, n);
    for (size_t i = 0; i < n; i++)
        t.step[i] = span[i].first;
    qsort(t.step, n, sizeof *t.step, by_step);
    for (size_t i = 0; i < n; i++)
        if (!i || t.step[i] != t.step[t.n_step - 1])
            t.step[t.n_step++] = t.step[i];
    while (t.leaves < t.n_step)
        t.leaves *= 2;
    t.always = tc_new_n(scratch, taken, 2 * t.leaves);
    t.sometimes = tc_new_n(scratch, taken, 2 * t.leaves);
    return t;
}

/* The last of the tree's steps that is not after this one. */
static size_t rank_of(const span_tree *t, size_t step)
{
    size_t lo = 0, hi = t->n_step;
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (t->step[middle] <= step)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Leaves first .. last, as node k sees them, whose own are `count` from `from` on. */
typedef struct visit {
    size_t first, last;
    interval x;               /* to be taken */
    const taken *met[4 * 64]; /* at most two nodes of each level, and two above them */
    size_t n_met;
} visit;

static bool is_outside(const visit *v, size_t from, size_t count)
{
    return from > v->last || from + count <= v->first;
}

static bool is_inside(const visit *v, size_t from, size_t count)
{
    return v->first <= from && from + count <= v->last + 1;
}

static void put_in(span_tree *t, const visit *v, size_t k, size_t from, size_t count)
{
    if (is_outside(v, from, count))
        return;
    take(t->scratch, &t->sometimes[k], v->x);
    if (is_inside(v, from, count)) {
        take(t->scratch, &t->always[k], v->x);
        return;
    }
    put_in(t, v, 2 * k, from, count / 2);
    put_in(t, v, 2 * k + 1, from + count / 2, count / 2);
}

static void meet(const span_tree *t, visit *v, size_t k, size_t from, size_t count)
{
    if (is_outside(v, from, count) || !t->sometimes[k].n)
        return;
    bool inside = is_inside(v, from, count);
    const taken *met = inside ? &t->sometimes[k] : &t->always[k];
    if (met->n)
        v->met[v->n_met++] = met;
    if (inside)
        return;
    meet(t, v, 2 * k, from, count / 2);
    meet(t, v, 2 * k + 1, from + count / 2, count / 2);
}

/* The lowest address where the span meets nobody; every address is a multiple of align, so that
 * what lies behind an end up to the next one is as good as taken. */
static size_t place(span_tree *t, const tc_span *s, size_t align)
{
    visit v = {.first = rank_of(t, s->first), .last = rank_of(t, s->last)};
    size_t at = 0, before;
    if (!s->size)
        return 0;
    meet(t, &v, 1, 0, t->leaves);
    do {
        before = at;
        for (size_t i = 0; i < v.n_met; i++)
            at = lowest_free(v.met[i], at, s->size);
    } while (at != before);
    v.x = (interval){at, (at + s->size + align - 1) / align * align};
    put_in(t, &v, 1, 0, t->leaves);
    return at;
}

/* In this order, each at the lowest address where it meets nobody. */
static size_t pack_in(tc_arena *scratch, tc_span *span, size_t n, size_t align, order *o)
{
    tc_mark mark = ti_arena_mark(scratch);
    tc_span **sorted = tc_new_n(scratch, tc_span *, n);
    span_tree tree = tree_of(scratch, span, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &span[i];
    qsort(sorted, n, sizeof *sorted, o);
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        tc_span *s = sorted[i];
        s->offset = place(&tree, s, align);
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
