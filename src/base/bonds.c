/* SPDX-License-Identifier: Apache-2.0 */
/* bonds.c -- see bonds.h.
 *
 * Bound items are one group, with an offset for each in it.  Two groups are merged unless two of
 * their items would be live in the same bytes at the same step; then they stay separate, and the
 * caller copies. */
#include "bonds.h"

typedef struct span {
    int64_t lo, hi;
} span;

static span span_of(const tc_bonds *b, size_t i, int64_t shift)
{
    int64_t at = b->at[i] + shift;
    return (span){at, at + (b->item[i].bytes + b->align - 1) / b->align * b->align};
}

/* Operands and results of one step may have the same bytes in it, each before or after the other:
 * who made the step has seen to that. */
static bool meet_in(const tc_bonds *b, size_t i, size_t k, int32_t step)
{
    tc_life x = b->item[i].life, y = b->item[k].life;
    int32_t first = x.first > y.first ? x.first : y.first;
    int32_t last = x.last < y.last ? x.last : y.last;
    bool here = first == step && last == step;
    return first <= last && !(here && b->step[i] == step && b->step[k] == step);
}

/* Whether the groups can be one, with all of the second `shift` bytes further on. */
static bool fits(const tc_bonds *b, size_t one, size_t other, int64_t shift, int32_t step)
{
    size_t i = one, k = other;
    do {
        do {
            span x = span_of(b, i, 0), y = span_of(b, k, shift);
            if (x.lo < y.hi && y.lo < x.hi && meet_in(b, i, k, step))
                return false;
        } while ((k = b->next[k]) != other);
    } while ((i = b->next[i]) != one);
    return true;
}

void ti_bonds_begin(tc_arena *arena, const tc_place_item *item, size_t n, int64_t align,
                    tc_bonds *out)
{
    *out = (tc_bonds){item,
                      n,
                      align,
                      tc_new_n(arena, size_t, n + 1),
                      tc_new_n(arena, size_t, n + 1),
                      tc_new_n(arena, int64_t, n + 1),
                      tc_new_n(arena, int32_t, n + 1)};
    for (size_t i = 0; i < n; i++) {
        out->group[i] = out->next[i] = i;
        out->step[i] = -1;
    }
}

bool ti_bind(tc_bonds *b, size_t to, size_t i, int64_t at, int32_t step)
{
    size_t one = b->group[to], other = b->group[i];
    int64_t shift = b->at[to] + at - b->at[i];
    if (one == other)
        return shift == 0;
    int32_t was_to = b->step[to], was = b->step[i];
    b->step[to] = b->step[i] = step;
    if (at % b->align || !fits(b, one, other, shift, step)) {
        b->step[to] = was_to;
        b->step[i] = was;
        return false;
    }
    size_t k = other, after = b->next[other];
    do {
        b->group[k] = one;
        b->at[k] += shift;
    } while ((k = b->next[k]) != other);
    b->next[other] = b->next[one];
    b->next[one] = after;
    return true;
}

/* A group has an item of no bytes where its lowest begins, before its first. */
tc_placement ti_bonds_place(tc_arena *arena, const tc_bonds *b, int64_t *address)
{
    tc_place_item *item = tc_new_n(arena, tc_place_item, 2 * b->n + 1);
    size_t *head = tc_new_n(arena, size_t, b->n + 1), *where = tc_new_n(arena, size_t, b->n + 1);
    int64_t *low = tc_new_n(arena, int64_t, b->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        low[b->group[i]] = b->at[i] < low[b->group[i]] ? b->at[i] : low[b->group[i]];
    for (size_t i = 0; i < b->n; i++) {
        size_t group = b->group[i];
        if (!head[group]) {
            item[n++] = (tc_place_item){0};
            head[group] = n;
        }
        where[i] = n;
        item[n] = b->item[i];
        item[n].same_as = head[group];
        item[n++].at = b->at[i] - low[group];
    }
    tc_placement placed = ti_place_items(arena, item, n, b->align);
    for (size_t i = 0; i < b->n; i++)
        address[i] = item[where[i]].address;
    return placed;
}
