/* SPDX-License-Identifier: Apache-2.0 */
/* occupied.c -- see occupied.h.
 *
 * A tree over the steps.  A node has the addresses that are occupied in all of its steps, and those
 * that are in any of them, as sets of intervals: a query looks at the sets of a few nodes, not at
 * what was put there one by one. */
#include "occupied.h"

typedef struct interval {
    int64_t from, to;
} interval;

/* Intervals in order, none touching the next. */
typedef struct set {
    interval *at;
    size_t n, cap;
} set;

struct tc_occupied {
    tc_arena *arena;
    size_t leaves;
    set *always, *sometimes; /* by node; the root is 1 */
    int64_t work;
};

/* The first interval that ends at `address` or after it. */
static size_t first_ending(const set *t, int64_t address)
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

static void add(tc_occupied *o, set *t, interval x)
{
    size_t i = first_ending(t, x.from), end = i;
    for (; end < t->n && t->at[end].from <= x.to; end++) {
        x.from = t->at[end].from < x.from ? t->at[end].from : x.from;
        x.to = t->at[end].to > x.to ? t->at[end].to : x.to;
    }
    if (end == i)
        tc_grow(o->arena, t->at, t->n, t->cap);
    if (end < t->n && end != i + 1)
        memmove(t->at + i + 1, t->at + end, (t->n - end) * sizeof *t->at);
    t->n = t->n - (end - i) + 1;
    t->at[i] = x;
    o->work += 1 + (int64_t)(end - i);
}

tc_occupied *ti_occupied_new(tc_arena *arena, size_t n)
{
    tc_occupied *o = tc_new(arena, tc_occupied);
    *o = (tc_occupied){.arena = arena, .leaves = 1};
    while (o->leaves < n)
        o->leaves *= 2;
    o->always = tc_new_n(arena, set, 2 * o->leaves);
    o->sometimes = tc_new_n(arena, set, 2 * o->leaves);
    return o;
}

void ti_occupied_clear(tc_occupied *o)
{
    for (size_t i = 0; i < 2 * o->leaves; i++)
        o->always[i].n = o->sometimes[i].n = 0;
}

/* Steps first .. last; a node k has `count` of them from `from` on. */
typedef struct query {
    size_t first, last;
    interval x; /* to be put; or its first byte: where the search begins */
    struct {
        const interval *next, *end; /* those that may overlap still */
    } met[4 * 64]; /* at most two nodes of each level, and two above them */
    size_t n_met;
} query;

static bool is_outside(const query *q, size_t from, size_t count)
{
    return from > q->last || from + count <= q->first;
}

static bool is_inside(const query *q, size_t from, size_t count)
{
    return q->first <= from && from + count <= q->last + 1;
}

static void put_in(tc_occupied *o, const query *q, size_t k, size_t from, size_t count)
{
    if (is_outside(q, from, count))
        return;
    add(o, &o->sometimes[k], q->x);
    if (is_inside(q, from, count)) {
        add(o, &o->always[k], q->x);
        return;
    }
    put_in(o, q, 2 * k, from, count / 2);
    put_in(o, q, 2 * k + 1, from + count / 2, count / 2);
}

static void find_sets(const tc_occupied *o, query *q, size_t k, size_t from, size_t count)
{
    if (is_outside(q, from, count) || !o->sometimes[k].n)
        return;
    bool inside = is_inside(q, from, count);
    const set *met = inside ? &o->sometimes[k] : &o->always[k];
    size_t next = first_ending(met, q->x.from + 1);
    if (next < met->n) {
        q->met[q->n_met].next = met->at + next;
        q->met[q->n_met++].end = met->at + met->n;
    }
    if (inside)
        return;
    find_sets(o, q, 2 * k, from, count / 2);
    find_sets(o, q, 2 * k + 1, from + count / 2, count / 2);
}

/* All sets at the same time, each walked once. */
int64_t ti_occupied_free(tc_occupied *o, size_t first, size_t last, int64_t at, int64_t bytes)
{
    query q; /* its sets are filled in as they are found */
    int64_t before;
    if (bytes <= 0)
        return at;
    q.first = first;
    q.last = last;
    q.x = (interval){at, at};
    q.n_met = 0;
    find_sets(o, &q, 1, 0, o->leaves);
    do {
        before = at;
        for (size_t i = 0; i < q.n_met; i++) {
            const interval *x = q.met[i].next, *end = q.met[i].end;
            while (x < end && x->to <= at)
                x++;
            for (; x < end && x->from < at + bytes; x++)
                at = x->to;
            o->work += 1 + (int64_t)(x - q.met[i].next);
            q.met[i].next = x;
        }
    } while (at != before);
    return at;
}

void ti_occupied_put(tc_occupied *o, size_t first, size_t last, int64_t at, int64_t bytes)
{
    query q;
    q.first = first;
    q.last = last;
    q.x = (interval){at, at + bytes};
    if (bytes > 0)
        put_in(o, &q, 1, 0, o->leaves);
}

int64_t ti_occupied_work(const tc_occupied *o)
{
    return o->work;
}
