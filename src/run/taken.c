/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c -- see taken.h. */
#include "taken.h"

#include <stdlib.h>

typedef struct interval {
    size_t from, to;
} interval;

/* Intervals in order, none touching the next. */
typedef struct set {
    interval *at;
    size_t n, cap;
} set;

/* The first interval that ends at `address` or after it. */
static size_t first_ending(const set *t, size_t address)
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

static void take(tc_arena *scratch, set *t, interval x)
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

/* A tree over the steps.  A node knows the addresses of spans that are there all its time, and of
 * those that are there at some of it: a span meets those of a few nodes, not one by one. */
struct tc_taken {
    tc_arena *scratch;
    size_t *step; /* the steps at which spans begin, in order: others make no difference */
    size_t n_step, leaves;
    set *always, *sometimes;
};

static int by_step(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

tc_taken *ti_taken_new(tc_arena *scratch, size_t *step, size_t n)
{
    tc_taken *t = tc_new(scratch, tc_taken);
    *t = (tc_taken){.scratch = scratch, .step = step, .leaves = 1};
    if (n)
        qsort(step, n, sizeof *step, by_step);
    for (size_t i = 0; i < n; i++)
        if (!i || step[i] != step[t->n_step - 1])
            step[t->n_step++] = step[i];
    while (t->leaves < t->n_step)
        t->leaves *= 2;
    t->always = tc_new_n(scratch, set, 2 * t->leaves);
    t->sometimes = tc_new_n(scratch, set, 2 * t->leaves);
    return t;
}

/* The last of the tree's steps that is not after this one. */
static size_t rank_of(const tc_taken *t, size_t step)
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
    interval x; /* to be taken */
    struct {
        const interval *next, *end; /* those that may be met still */
    } met[4 * 64]; /* at most two nodes of each level, and two above them */
    size_t n_met;
    size_t at; /* where to begin */
} visit;

static bool is_outside(const visit *v, size_t from, size_t count)
{
    return from > v->last || from + count <= v->first;
}

static bool is_inside(const visit *v, size_t from, size_t count)
{
    return v->first <= from && from + count <= v->last + 1;
}

static void put_in(tc_taken *t, const visit *v, size_t k, size_t from, size_t count)
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

static void meet(const tc_taken *t, visit *v, size_t k, size_t from, size_t count)
{
    if (is_outside(v, from, count) || !t->sometimes[k].n)
        return;
    bool inside = is_inside(v, from, count);
    const set *met = inside ? &t->sometimes[k] : &t->always[k];
    size_t next = first_ending(met, v->at + 1);
    if (next < met->n) {
        v->met[v->n_met].next = met->at + next;
        v->met[v->n_met++].end = met->at + met->n;
    }
    if (inside)
        return;
    meet(t, v, 2 * k, from, count / 2);
    meet(t, v, 2 * k + 1, from + count / 2, count / 2);
}

/* All sets side by side, each walked once. */
size_t ti_taken_free(const tc_taken *t, size_t first, size_t last, size_t at, size_t size)
{
    visit v = {.first = rank_of(t, first), .last = rank_of(t, last), .at = at};
    size_t before;
    if (!size)
        return at;
    meet(t, &v, 1, 0, t->leaves);
    do {
        before = at;
        for (size_t i = 0; i < v.n_met; i++) {
            const interval *x = v.met[i].next, *end = v.met[i].end;
            while (x < end && x->to <= at)
                x++;
            for (; x < end && x->from < at + size; x++)
                at = x->to;
            v.met[i].next = x;
        }
    } while (at != before);
    return at;
}

void ti_taken_put(tc_taken *t, size_t first, size_t last, size_t at, size_t size)
{
    visit v = {.first = rank_of(t, first), .last = rank_of(t, last), .x = {at, at + size}};
    if (size)
        put_in(t, &v, 1, 0, t->leaves);
}
