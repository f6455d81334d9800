/* SPDX-License-Identifier: Apache-2.0 */
/* place.c -- see place.h.
 *
 * Items that share a place are one unit: rectangles of bytes and steps with one address.  Units are
 * placed one after the other, each at the first gap that is free in all its steps; the order
 * decides.  Several orders are tried, then the best one is changed where the memory is highest,
 * until it is as small as what is needed at the same time. */
#include "place.h"

#include <stdlib.h>

/* Bytes [lo, hi) of a unit in steps [first, last]. */
typedef struct rect {
    int64_t lo, hi;
    int32_t first, last;
    size_t unit;
} rect;

typedef struct unit {
    size_t rect, n_rect; /* its rectangles lie side by side */
    int64_t bytes;
    int32_t first, last; /* of all of them */
    int64_t crowd;       /* bytes that are needed in the most crowded of its steps */
    int64_t address;
} unit;

/* A list of rectangles. */
typedef struct entry {
    size_t rect;
    uint32_t next; /* 1 + an entry; 0: the end */
} entry;

/* Addresses that a unit cannot have: those between. */
typedef struct taken {
    int64_t lo, hi;
} taken;

typedef struct placer {
    tc_arena *arena;
    int64_t align;
    unit *unit;
    rect *rect;
    size_t n_unit, n_rect;
    int32_t *step; /* those at which something begins or ends, in order: rectangles have their
                      numbers */
    size_t n_step;
    /* What was placed: a tree over the steps.  A rectangle hangs on the fewest nodes that are its
     * steps, and on the leaf where it begins. */
    size_t leaves;
    uint32_t *covers, *begins, *hung, *below; /* lists by node and by step; how many hang on a node,
                                                and begin below it */
    int64_t *top, *raised; /* by node: the highest end below it; that of all of it */
    entry *entry;
    size_t n_entry, cap_entry;
    taken *taken;
    size_t n_taken, cap_taken;
    int64_t *needs; /* by node of a tree over the steps: the most bytes */
    int64_t work;   /* rectangles looked at */
} placer;

enum {
    CROWDED = 1024, /* that are met in a unit's steps: it is put on top of them */
    ROUNDS = 200    /* changes of the order that are tried */
};
static const int64_t enough = INT64_C(3000000); /* rectangles looked at, and no round more */

static int64_t round_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b * b;
}

/* ---- units ---- */

static int by_step(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t index_of(const placer *p, int32_t step)
{
    size_t lo = 0, hi = p->n_step;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        *(p->step[mid] <= step ? &lo : &hi) = mid;
    }
    return (int32_t)lo;
}

static void number_steps(placer *p)
{
    p->step = tc_new_n(p->arena, int32_t, 2 * p->n_rect + 1);
    for (size_t i = 0; i < p->n_rect; i++) {
        p->step[2 * i] = p->rect[i].first;
        p->step[2 * i + 1] = p->rect[i].last;
    }
    qsort(p->step, 2 * p->n_rect, sizeof *p->step, by_step);
    for (size_t i = 0; i < 2 * p->n_rect; i++)
        if (!p->n_step || p->step[p->n_step - 1] != p->step[i])
            p->step[p->n_step++] = p->step[i];
    for (size_t i = 0; i < p->n_rect; i++) {
        p->rect[i].first = index_of(p, p->rect[i].first);
        p->rect[i].last = index_of(p, p->rect[i].last);
    }
}

static void add_rect(placer *p, size_t of, int64_t lo, int64_t bytes, int32_t first, int32_t last)
{
    if (bytes > 0 && first <= last)
        p->rect[p->n_rect++] = (rect){lo / p->align * p->align, round_up(lo + bytes, p->align),
                                      first, last, of};
}

static int by_unit(const void *a, const void *b)
{
    const rect *x = a, *y = b;
    return x->unit != y->unit ? (x->unit > y->unit) - (x->unit < y->unit)
           : x->lo != y->lo   ? (x->lo > y->lo) - (x->lo < y->lo)
                              : (x->first > y->first) - (x->first < y->first);
}

/* The same bytes in steps that follow each other are one rectangle: a value that is changed in place
 * again and again. */
static void join_rects(placer *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_rect; i++) {
        const rect *r = &p->rect[i];
        rect *last = n ? &p->rect[n - 1] : NULL;
        if (last && last->unit == r->unit && last->lo == r->lo && last->hi == r->hi &&
            r->first <= last->last + 1)
            last->last = r->last > last->last ? r->last : last->last;
        else
            p->rect[n++] = *r;
    }
    p->n_rect = n;
}

/* unit_of, at: the unit of every item, and its byte in it. */
static void make_units(placer *p, const tc_place_item *item, size_t n, size_t *unit_of, int64_t *at)
{
    size_t rects = n;
    for (size_t i = 0; i < n; i++)
        rects += item[i].n_part;
    p->unit = tc_new_n(p->arena, unit, n + 1);
    p->rect = tc_new_n(p->arena, rect, rects + 1);
    for (size_t i = 0; i < n; i++) {
        const tc_place_item *t = &item[i];
        assert(t->same_as <= i);
        unit_of[i] = t->same_as ? unit_of[t->same_as - 1] : p->n_unit++;
        at[i] = t->same_as ? at[t->same_as - 1] + t->at : 0;
        p->unit[unit_of[i]].bytes =
            ti_max_i64(p->unit[unit_of[i]].bytes, round_up(at[i] + t->bytes, p->align));
        if (!t->n_part)
            add_rect(p, unit_of[i], at[i], t->bytes, t->first, t->last);
        for (size_t k = 0; k < t->n_part; k++)
            add_rect(p, unit_of[i], at[i] + t->part[k].offset, t->part[k].bytes, t->part[k].first,
                     t->part[k].last);
    }
    number_steps(p);
    qsort(p->rect, p->n_rect, sizeof *p->rect, by_unit);
    join_rects(p);
    for (size_t i = 0; i < p->n_rect; i++) {
        const rect *r = &p->rect[i];
        unit *u = &p->unit[r->unit];
        if (!u->n_rect)
            *u = (unit){.rect = i, .bytes = u->bytes, .first = r->first, .last = r->last};
        u->n_rect++;
        u->first = r->first < u->first ? r->first : u->first;
        u->last = r->last > u->last ? r->last : u->last;
    }
}

/* ---- what is needed at the same time ---- */

/* A unit's bytes, step by step, as differences; of rectangles that overlap the common bytes count
 * once. */
static void add_needs(const placer *p, const unit *u, int64_t *more)
{
    const rect *r = p->rect + u->rect;
    if (u->n_rect == 1) {
        more[r->first] += r->hi - r->lo;
        more[r->last + 1] -= r->hi - r->lo;
        return;
    }
    /* At each of its steps where anything changes: bytes that are covered, from the lowest on. */
    tc_mark mark = ti_arena_mark(p->arena);
    int32_t *change = tc_new_n(p->arena, int32_t, 2 * u->n_rect);
    int64_t before = 0;
    for (size_t i = 0; i < u->n_rect; i++) {
        change[2 * i] = r[i].first;
        change[2 * i + 1] = r[i].last + 1;
    }
    qsort(change, 2 * u->n_rect, sizeof *change, by_step);
    for (size_t k = 0; k < 2 * u->n_rect; k++) {
        int64_t bytes = 0, end = 0;
        if (k && change[k] == change[k - 1])
            continue;
        for (size_t i = 0; i < u->n_rect; i++)
            if (r[i].first <= change[k] && change[k] <= r[i].last && r[i].hi > end) {
                bytes += r[i].hi - ti_max_i64(r[i].lo, end);
                end = r[i].hi;
            }
        more[change[k]] += bytes - before;
        before = bytes;
    }
    ti_arena_rewind(p->arena, mark);
}

static void count_needs(placer *p)
{
    int64_t *more = tc_new_n(p->arena, int64_t, p->n_step + 1), now = 0;
    for (p->leaves = 1; p->leaves < p->n_step;)
        p->leaves *= 2;
    p->needs = tc_new_n(p->arena, int64_t, 2 * p->leaves);
    for (size_t i = 0; i < p->n_unit; i++)
        if (p->unit[i].n_rect)
            add_needs(p, &p->unit[i], more);
    for (size_t i = 0; i < p->n_step; i++)
        p->needs[p->leaves + i] = now += more[i];
    for (size_t i = p->leaves; i-- > 1;)
        p->needs[i] = ti_max_i64(p->needs[2 * i], p->needs[2 * i + 1]);
    for (size_t i = 0; i < p->n_unit; i++) {
        unit *u = &p->unit[i];
        size_t lo = p->leaves + (size_t)u->first, hi = p->leaves + (size_t)u->last + 1;
        for (; u->n_rect && lo < hi; lo /= 2, hi /= 2) {
            if (lo & 1)
                u->crowd = ti_max_i64(u->crowd, p->needs[lo++]);
            if (hi & 1)
                u->crowd = ti_max_i64(u->crowd, p->needs[--hi]);
        }
    }
}

/* ---- what was placed ---- */

static void hang(placer *p, uint32_t *head, size_t r)
{
    tc_grow(p->arena, p->entry, p->n_entry, p->cap_entry);
    p->entry[p->n_entry] = (entry){r, *head};
    *head = (uint32_t)++p->n_entry;
}

static void cover(placer *p, size_t node, size_t r, int64_t end)
{
    hang(p, &p->covers[node], r);
    p->hung[node]++;
    p->raised[node] = ti_max_i64(p->raised[node], end);
    for (; node; node /= 2)
        p->top[node] = ti_max_i64(p->top[node], end);
}

static void put(placer *p, const unit *u)
{
    for (size_t i = u->rect; i < u->rect + u->n_rect; i++) {
        const rect *r = &p->rect[i];
        size_t lo = p->leaves + (size_t)r->first, hi = p->leaves + (size_t)r->last + 1;
        hang(p, &p->begins[r->first], i);
        for (size_t k = lo; k; k /= 2)
            p->below[k]++;
        for (; lo < hi; lo /= 2, hi /= 2) {
            if (lo & 1)
                cover(p, lo++, i, u->address + r->hi);
            if (hi & 1)
                cover(p, --hi, i, u->address + r->hi);
        }
    }
}

/* How many rectangles there are in r's steps, and how high they reach. */
static size_t crowd(const placer *p, const rect *r, int64_t *top)
{
    size_t lo = p->leaves + (size_t)r->first, hi = p->leaves + (size_t)r->last + 1, n = 0;
    for (size_t k = lo; k; k /= 2) {
        n += p->hung[k];
        *top = ti_max_i64(*top, p->raised[k]);
    }
    for (size_t k = hi - 1; k; k /= 2)
        *top = ti_max_i64(*top, p->raised[k]);
    for (size_t a = lo + 1, b = hi; a < b; a /= 2, b /= 2) {
        n += a & 1 ? p->below[a++] : 0;
        n += b & 1 ? p->below[--b] : 0;
    }
    for (; lo < hi; lo /= 2, hi /= 2) {
        if (lo & 1)
            *top = ti_max_i64(*top, p->top[lo++]);
        if (hi & 1)
            *top = ti_max_i64(*top, p->top[--hi]);
    }
    return n;
}

/* Addresses at which r would meet one of a list. */
static void meet(placer *p, const rect *r, uint32_t list)
{
    for (; list; list = p->entry[list - 1].next) {
        const rect *q = &p->rect[p->entry[list - 1].rect];
        int64_t base = p->unit[q->unit].address;
        tc_grow(p->arena, p->taken, p->n_taken, p->cap_taken);
        p->taken[p->n_taken++] = (taken){base + q->lo - r->hi, base + q->hi - r->lo};
        p->work++;
    }
}

/* Those that begin at steps [first, last], of the node's [lo, lo + n). */
static void meet_beginners(placer *p, const rect *r, size_t node, size_t lo, size_t n, size_t first,
                           size_t last)
{
    if (!p->below[node] || lo > last || lo + n <= first)
        return;
    if (n == 1) {
        meet(p, r, p->begins[lo]);
        return;
    }
    meet_beginners(p, r, 2 * node, lo, n / 2, first, last);
    meet_beginners(p, r, 2 * node + 1, lo + n / 2, n / 2, first, last);
}

static int by_address(const void *a, const void *b)
{
    const taken *x = a, *y = b;
    return x->lo != y->lo ? (x->lo > y->lo) - (x->lo < y->lo) : (x->hi > y->hi) - (x->hi < y->hi);
}

/* The first address at which the unit meets nothing. */
static int64_t first_fit(placer *p, const unit *u)
{
    int64_t a = 0, top = 0;
    size_t met = 0;
    p->n_taken = 0;
    for (size_t i = u->rect; i < u->rect + u->n_rect; i++)
        met += crowd(p, &p->rect[i], &top);
    if (met > CROWDED)
        return top;
    for (size_t i = u->rect; i < u->rect + u->n_rect; i++) {
        const rect *r = &p->rect[i];
        for (size_t k = p->leaves + (size_t)r->first; k; k /= 2)
            meet(p, r, p->covers[k]);
        if (r->last > r->first)
            meet_beginners(p, r, 1, 0, p->leaves, (size_t)r->first + 1, (size_t)r->last);
    }
    if (p->n_taken > 1)
        qsort(p->taken, p->n_taken, sizeof *p->taken, by_address);
    for (size_t i = 0; i < p->n_taken && p->taken[i].lo < a; i++)
        a = ti_max_i64(a, p->taken[i].hi);
    return a;
}

/* Every unit, in this order; the bytes behind the last. */
static int64_t place(placer *p, const size_t *order)
{
    int64_t end = 0;
    memset(p->covers, 0, 2 * p->leaves * sizeof *p->covers);
    memset(p->begins, 0, p->leaves * sizeof *p->begins);
    memset(p->below, 0, 2 * p->leaves * sizeof *p->below);
    memset(p->hung, 0, 2 * p->leaves * sizeof *p->hung);
    memset(p->top, 0, 2 * p->leaves * sizeof *p->top);
    memset(p->raised, 0, 2 * p->leaves * sizeof *p->raised);
    p->n_entry = 0;
    for (size_t i = 0; i < p->n_unit; i++) {
        unit *u = &p->unit[order[i]];
        u->address = first_fit(p, u);
        put(p, u);
        end = ti_max_i64(end, u->address + u->bytes);
        p->work++;
    }
    return end;
}

/* ---- orders ---- */

typedef struct key {
    int64_t major, minor; /* larger ones first */
    size_t unit;
} key;

static int by_key(const void *a, const void *b)
{
    const key *x = a, *y = b;
    return x->major != y->major   ? (x->major < y->major) - (x->major > y->major)
           : x->minor != y->minor ? (x->minor < y->minor) - (x->minor > y->minor)
                                  : (x->unit > y->unit) - (x->unit < y->unit);
}

enum { LARGEST, MOST_CROWDED, LARGEST_AREA, LONGEST, FIRST, ORDERS };

static void sort_units(const placer *p, int by, key *work, size_t *order)
{
    for (size_t i = 0; i < p->n_unit; i++) {
        const unit *u = &p->unit[i];
        int64_t steps = u->last - u->first + 1;
        int64_t major[ORDERS] = {u->bytes, u->crowd, u->bytes / 16 * steps, steps, -u->first};
        work[i] = (key){major[by], by == LARGEST ? steps : u->bytes, i};
    }
    qsort(work, p->n_unit, sizeof *work, by_key);
    for (size_t i = 0; i < p->n_unit; i++)
        order[i] = work[i].unit;
}

static bool meets(const unit *a, const unit *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* An order, and where it puts the units. */
typedef struct found {
    size_t *order;
    int64_t *address, end;
} found;

/* Of the units that are highest, one goes in front of one that it meets: which ones, a number that
 * is the same on every run decides. */
static void change_order(const placer *p, const found *best, size_t *order, uint32_t *dice)
{
    size_t high = 0, n_high = 0, before = 0, n_before = 0;
    for (size_t i = 0; i < p->n_unit; i++) {
        bool highest = best->address[order[i]] + p->unit[order[i]].bytes == best->end;
        *dice = *dice * 1664525u + 1013904223u;
        if (highest && (*dice >> 8) % ++n_high == 0)
            high = i;
    }
    for (size_t i = 0; i < high; i++) {
        *dice = *dice * 1664525u + 1013904223u;
        if (meets(&p->unit[order[i]], &p->unit[order[high]]) && (*dice >> 8) % ++n_before == 0)
            before = i;
    }
    size_t moved = order[high];
    memmove(order + before + 1, order + before, (high - before) * sizeof *order);
    order[before] = moved;
}

static void keep(const placer *p, const size_t *order, int64_t end, found *best)
{
    best->end = end;
    memcpy(best->order, order, p->n_unit * sizeof *order);
    for (size_t i = 0; i < p->n_unit; i++)
        best->address[i] = p->unit[i].address;
}

static int64_t search(placer *p, int64_t bound)
{
    size_t *order = tc_new_n(p->arena, size_t, p->n_unit + 1);
    key *work = tc_new_n(p->arena, key, p->n_unit + 1);
    found best = {tc_new_n(p->arena, size_t, p->n_unit + 1),
                  tc_new_n(p->arena, int64_t, p->n_unit + 1), INT64_MAX};
    uint32_t dice = 1;
    for (int by = 0; by < ORDERS && best.end > bound && p->work < enough; by++) {
        sort_units(p, by, work, order);
        int64_t end = place(p, order);
        if (end < best.end)
            keep(p, order, end, &best);
    }
    for (int i = 0; i < ROUNDS && best.end > bound && p->work < enough; i++) {
        memcpy(order, best.order, p->n_unit * sizeof *order);
        change_order(p, &best, order, &dice);
        int64_t end = place(p, order);
        if (end <= best.end)
            keep(p, order, end, &best);
    }
    for (size_t i = 0; i < p->n_unit; i++)
        p->unit[i].address = best.address[i];
    return best.end;
}

tc_placement ti_place_items(tc_arena *arena, tc_place_item *item, size_t n, int64_t align)
{
    assert(align > 0);
    tc_mark mark = ti_arena_mark(arena);
    placer p = {.arena = arena, .align = align};
    size_t *unit_of = tc_new_n(arena, size_t, n + 1);
    int64_t *at = tc_new_n(arena, int64_t, n + 1);
    make_units(&p, item, n, unit_of, at);
    count_needs(&p);
    p.covers = tc_new_n(arena, uint32_t, 2 * p.leaves);
    p.below = tc_new_n(arena, uint32_t, 2 * p.leaves);
    p.begins = tc_new_n(arena, uint32_t, p.leaves);
    p.hung = tc_new_n(arena, uint32_t, 2 * p.leaves);
    p.top = tc_new_n(arena, int64_t, 2 * p.leaves);
    p.raised = tc_new_n(arena, int64_t, 2 * p.leaves);
    tc_placement out = {.bound = p.needs[1]};
    out.bytes = search(&p, out.bound);
    for (size_t i = 0; i < n; i++)
        item[i].address = p.unit[unit_of[i]].address + at[i];
    ti_arena_rewind(arena, mark);
    return out;
}
