/* SPDX-License-Identifier: Apache-2.0 */
/* place.c -- see place.h.
 *
 * Items at one address are one unit: rectangles of bytes and steps.  Units are placed in sequence,
 * each at the first gap that is free in all its steps; the order decides.  Several orders are
 * tried, then the best one is changed at the peak, until the size equals the most bytes live at
 * once. */
#include "place.h"

#include "occupied.h"

#include <stdlib.h>

/* Bytes [lo, hi) of a unit. */
typedef struct rect {
    int64_t lo, hi;
    tc_life life;
    size_t unit;
} rect;

typedef struct unit {
    size_t rect, n_rect; /* its rectangles are contiguous */
    int64_t bytes;
    tc_life life;        /* of all of them */
    int64_t crowd;       /* bytes that are needed in the most crowded of its steps */
    int64_t address;
} unit;

typedef struct placer {
    tc_arena *arena;
    int64_t align;
    unit *unit;
    rect *rect;
    size_t n_unit, n_rect;
    int32_t *step; /* those at which something begins or ends, sorted: rectangles use their
                      indices */
    size_t n_step;
    tc_occupied *occupied; /* by the units that are placed */
    int64_t *needs; /* by node of a tree over the steps: the most bytes */
} placer;

enum { ROUNDS = 200 }; /* changes of the order that are tried */
static const int64_t enough = INT64_C(30000000); /* of ti_occupied_work(), and no round more */

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
        p->step[2 * i] = p->rect[i].life.first;
        p->step[2 * i + 1] = p->rect[i].life.last;
    }
    qsort(p->step, 2 * p->n_rect, sizeof *p->step, by_step);
    for (size_t i = 0; i < 2 * p->n_rect; i++)
        if (!p->n_step || p->step[p->n_step - 1] != p->step[i])
            p->step[p->n_step++] = p->step[i];
    for (size_t i = 0; i < p->n_rect; i++) {
        p->rect[i].life.first = index_of(p, p->rect[i].life.first);
        p->rect[i].life.last = index_of(p, p->rect[i].life.last);
    }
}

static void add_rect(placer *p, size_t of, int64_t lo, int64_t bytes, tc_life life)
{
    if (bytes > 0 && life.first <= life.last)
        p->rect[p->n_rect++] = (rect){lo / p->align * p->align, ti_round_up(lo + bytes, p->align),
                                      life, of};
}

static int by_unit(const void *a, const void *b)
{
    const rect *x = a, *y = b;
    return x->unit != y->unit ? (x->unit > y->unit) - (x->unit < y->unit)
           : x->lo != y->lo   ? (x->lo > y->lo) - (x->lo < y->lo)
                              : (x->life.first > y->life.first) - (x->life.first < y->life.first);
}

/* The same bytes in consecutive steps are one rectangle: a value that is repeatedly changed in
 * place. */
static void join_rects(placer *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_rect; i++) {
        const rect *r = &p->rect[i];
        rect *last = n ? &p->rect[n - 1] : NULL;
        if (last && last->unit == r->unit && last->lo == r->lo && last->hi == r->hi &&
            r->life.first <= last->life.last + 1)
            ti_life_use(&last->life, r->life.last);
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
            ti_max_i64(p->unit[unit_of[i]].bytes, ti_round_up(at[i] + t->bytes, p->align));
        if (!t->n_part)
            add_rect(p, unit_of[i], at[i], t->bytes, t->life);
        for (size_t k = 0; k < t->n_part; k++)
            add_rect(p, unit_of[i], at[i] + t->part[k].offset, t->part[k].bytes,
                     t->part[k].life);
    }
    number_steps(p);
    qsort(p->rect, p->n_rect, sizeof *p->rect, by_unit);
    join_rects(p);
    for (size_t i = 0; i < p->n_rect; i++) {
        const rect *r = &p->rect[i];
        unit *u = &p->unit[r->unit];
        if (!u->n_rect)
            *u = (unit){.rect = i, .bytes = u->bytes, .life = r->life};
        u->n_rect++;
        ti_life_use(&u->life, r->life.first);
        ti_life_use(&u->life, r->life.last);
    }
}

/* ---- what is needed at the same time ---- */

/* A unit's bytes, step by step, as differences; of rectangles that overlap the common bytes count
 * once. */
static void add_needs(const placer *p, const unit *u, int64_t *more)
{
    const rect *r = p->rect + u->rect;
    if (u->n_rect == 1) {
        more[r->life.first] += r->hi - r->lo;
        more[r->life.last + 1] -= r->hi - r->lo;
        return;
    }
    /* At each of its steps where anything changes: bytes that are covered, from the lowest on. */
    tc_mark mark = ti_arena_mark(p->arena);
    int32_t *change = tc_new_n(p->arena, int32_t, 2 * u->n_rect);
    int64_t before = 0;
    for (size_t i = 0; i < u->n_rect; i++) {
        change[2 * i] = r[i].life.first;
        change[2 * i + 1] = r[i].life.last + 1;
    }
    qsort(change, 2 * u->n_rect, sizeof *change, by_step);
    for (size_t k = 0; k < 2 * u->n_rect; k++) {
        int64_t bytes = 0, end = 0;
        if (k && change[k] == change[k - 1])
            continue;
        for (size_t i = 0; i < u->n_rect; i++)
            if (r[i].life.first <= change[k] && change[k] <= r[i].life.last && r[i].hi > end) {
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
    size_t leaves = 1;
    while (leaves < p->n_step)
        leaves *= 2;
    p->needs = tc_new_n(p->arena, int64_t, 2 * leaves);
    for (size_t i = 0; i < p->n_unit; i++)
        if (p->unit[i].n_rect)
            add_needs(p, &p->unit[i], more);
    for (size_t i = 0; i < p->n_step; i++)
        p->needs[leaves + i] = now += more[i];
    for (size_t i = leaves; i-- > 1;)
        p->needs[i] = ti_max_i64(p->needs[2 * i], p->needs[2 * i + 1]);
    for (size_t i = 0; i < p->n_unit; i++) {
        unit *u = &p->unit[i];
        size_t lo = leaves + (size_t)u->life.first, hi = leaves + (size_t)u->life.last + 1;
        for (; u->n_rect && lo < hi; lo /= 2, hi /= 2) {
            if (lo & 1)
                u->crowd = ti_max_i64(u->crowd, p->needs[lo++]);
            if (hi & 1)
                u->crowd = ti_max_i64(u->crowd, p->needs[--hi]);
        }
    }
}

/* ---- addresses ---- */

/* The lowest address at which every rectangle of the unit is free. */
static int64_t first_fit(placer *p, const unit *u)
{
    int64_t address = 0, before;
    do {
        before = address;
        for (size_t i = u->rect; i < u->rect + u->n_rect; i++) {
            const rect *r = &p->rect[i];
            address = ti_occupied_free(p->occupied, (size_t)r->life.first, (size_t)r->life.last,
                                       address + r->lo, r->hi - r->lo) -
                      r->lo;
        }
    } while (u->n_rect > 1 && address != before);
    return address;
}

/* Every unit, in this order; the bytes up to the end of the last. */
static int64_t place(placer *p, const size_t *order)
{
    int64_t end = 0;
    ti_occupied_clear(p->occupied);
    for (size_t i = 0; i < p->n_unit; i++) {
        unit *u = &p->unit[order[i]];
        u->address = first_fit(p, u);
        for (size_t k = u->rect; k < u->rect + u->n_rect; k++)
            ti_occupied_put(p->occupied, (size_t)p->rect[k].life.first, (size_t)p->rect[k].life.last,
                            u->address + p->rect[k].lo, p->rect[k].hi - p->rect[k].lo);
        end = ti_max_i64(end, u->address + u->bytes);
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
        int64_t steps = u->life.last - u->life.first + 1;
        int64_t major[ORDERS] = {u->bytes, u->crowd, u->bytes / 16 * steps, steps, -u->life.first};
        work[i] = (key){major[by], by == LARGEST ? steps : u->bytes, i};
    }
    qsort(work, p->n_unit, sizeof *work, by_key);
    for (size_t i = 0; i < p->n_unit; i++)
        order[i] = work[i].unit;
}

/* An order, and where it puts the units. */
typedef struct found {
    size_t *order;
    int64_t *address, end;
} found;

static uint32_t roll(uint32_t *dice)
{
    *dice = *dice * 1664525u + 1013904223u;
    return *dice >> 8;
}

/* One of the highest units is moved before one that it overlaps; a fixed pseudo-random sequence
 * chooses. */
static void change_order(const placer *p, const found *best, size_t *order, uint32_t *dice)
{
    size_t high = 0, n_high = 0, before = 0, n_before = 0;
    for (size_t i = 0; i < p->n_unit; i++) {
        bool highest = best->address[order[i]] + p->unit[order[i]].bytes == best->end;
        uint32_t drawn = roll(dice);
        if (highest && drawn % ++n_high == 0)
            high = i;
    }
    for (size_t i = 0; i < high; i++) {
        uint32_t drawn = roll(dice);
        if (ti_lives_meet(p->unit[order[i]].life, p->unit[order[high]].life) &&
            drawn % ++n_before == 0)
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

static bool is_enough(const placer *p, const found *best, int64_t bound)
{
    return best->end <= bound || ti_occupied_work(p->occupied) >= enough;
}

static int64_t search(placer *p, int64_t bound, int orders, int rounds)
{
    size_t *order = tc_new_n(p->arena, size_t, p->n_unit + 1);
    key *work = tc_new_n(p->arena, key, p->n_unit + 1);
    found best = {tc_new_n(p->arena, size_t, p->n_unit + 1),
                  tc_new_n(p->arena, int64_t, p->n_unit + 1), INT64_MAX};
    uint32_t dice = 1;
    for (int by = 0; by < orders && !is_enough(p, &best, bound); by++) {
        sort_units(p, by, work, order);
        int64_t end = place(p, order);
        if (end < best.end)
            keep(p, order, end, &best);
    }
    for (int i = 0; i < rounds && !is_enough(p, &best, bound); i++) {
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

static tc_placement place_items(tc_arena *arena, tc_place_item *item, size_t n, int64_t align,
                                int orders, int rounds)
{
    assert(align > 0);
    tc_mark mark = ti_arena_mark(arena);
    placer p = {.arena = arena, .align = align};
    size_t *unit_of = tc_new_n(arena, size_t, n + 1);
    int64_t *at = tc_new_n(arena, int64_t, n + 1);
    make_units(&p, item, n, unit_of, at);
    count_needs(&p);
    p.occupied = ti_occupied_new(arena, p.n_step);
    tc_placement out = {.bound = p.needs[1]};
    out.bytes = search(&p, out.bound, orders, rounds);
    for (size_t i = 0; i < n; i++)
        item[i].address = p.unit[unit_of[i]].address + at[i];
    ti_arena_rewind(arena, mark);
    return out;
}

tc_placement ti_place_items(tc_arena *arena, tc_place_item *item, size_t n, int64_t align)
{
    return place_items(arena, item, n, align, ORDERS, ROUNDS);
}

tc_placement ti_place_once(tc_arena *arena, tc_place_item *item, size_t n, int64_t align)
{
    return place_items(arena, item, n, align, 1, 0);
}
