/* SPDX-License-Identifier: Apache-2.0 */
/* order.c -- another order of the operations, in which less is needed at the same time.
 *
 * The operations of one node, and a chain, stay together: a unit.  Three orders are tried:
 *
 *   from the begin on     of the units that could be next, that one that leaves the fewest bytes
 *   from the end backwards  the same
 *   by needs              before a unit what it needs, first what has the greatest need of its own */
#include "hw.h"

#include <stdlib.h>

/* Lists of indices, by index. */
typedef struct lists {
    uint32_t *at; /* n + 1 of them */
    int32_t *v;
} lists;

typedef struct edge {
    int32_t from, to;
} edge;

typedef struct units {
    tc_hw *hw;
    int32_t n;
    size_t *begin;     /* the first operation of each; n + 1 of them */
    edge *edge;        /* what comes before what */
    size_t n_edge, cap_edge;
    lists roots, users; /* of a unit; of a root */
} units;

/* ---- what there is ---- */

static bool counts(const tc_hw *hw, int32_t root)
{
    return root >= 0 && hw->root[root].kind != TC_ROOT_CONSTANT;
}

static void find_units(units *u)
{
    const tc_hw *hw = u->hw;
    u->begin = tc_new_n(hw->arena, size_t, hw->n_op + 1);
    for (size_t i = 0; i < hw->n_op; i++)
        if (!i || (hw->op[i].node != hw->op[i - 1].node && !hw->op[i].joins))
            u->begin[u->n++] = i;
    u->begin[u->n] = hw->n_op;
}

static void add_edge(units *u, int32_t from, int32_t to)
{
    if (from < 0 || from == to)
        return;
    tc_grow(u->hw->arena, u->edge, u->n_edge, u->cap_edge);
    u->edge[u->n_edge++] = (edge){from, to};
}

/* Pairs (from, to) as the lists of all `to`, by from. */
static lists lists_of(tc_arena *arena, const edge *pair, size_t n, size_t count, bool turned)
{
    lists l = {tc_new_n(arena, uint32_t, count + 1), tc_new_n(arena, int32_t, n + 1)};
    for (size_t i = 0; i < n; i++)
        l.at[turned ? pair[i].to : pair[i].from]++;
    for (size_t i = 0, sum = 0; i <= count; i++) {
        sum += i < count ? l.at[i] : 0;
        l.at[i] = (uint32_t)sum;
    }
    for (size_t i = n; i-- > 0;) {
        int32_t by = turned ? pair[i].to : pair[i].from, what = turned ? pair[i].from : pair[i].to;
        l.v[--l.at[by]] = what;
    }
    return l;
}

/* Who wrote a root last, and who has read it since. */
typedef struct root_use {
    int32_t writer, reader; /* reader: 1 + the last in `read` */
    int32_t seen;           /* 1 + the unit that it was last counted for */
} root_use;

typedef struct reading {
    int32_t unit, next;
} reading;

typedef struct walk {
    units *u;
    root_use *use;
    reading *read;
    size_t n_read, cap_read;
    edge *pair; /* (unit, root) */
    size_t n_pair, cap_pair;
} walk;

static void touch(walk *w, int32_t unit, int32_t root, bool writes)
{
    tc_arena *arena = w->u->hw->arena;
    if (!counts(w->u->hw, root))
        return;
    root_use *r = &w->use[root];
    add_edge(w->u, r->writer, unit);
    if (writes) {
        for (int32_t k = r->reader; k; k = w->read[k - 1].next)
            add_edge(w->u, w->read[k - 1].unit, unit);
        r->writer = unit;
        r->reader = 0;
    } else {
        tc_grow(arena, w->read, w->n_read, w->cap_read);
        w->read[w->n_read] = (reading){unit, r->reader};
        r->reader = (int32_t)++w->n_read;
    }
    if (r->seen == unit + 1)
        return;
    r->seen = unit + 1;
    tc_grow(arena, w->pair, w->n_pair, w->cap_pair);
    w->pair[w->n_pair++] = (edge){unit, root};
}

static void look(units *u)
{
    const tc_hw *hw = u->hw;
    walk w = {.u = u, .use = tc_new_n(hw->arena, root_use, hw->n_root + 1)};
    for (size_t i = 0; i < hw->n_root; i++)
        w.use[i].writer = -1;
    for (int32_t k = 0; k < u->n; k++)
        for (size_t i = u->begin[k]; i < u->begin[k + 1]; i++) {
            const tc_hw_op *op = &hw->op[i];
            touch(&w, k, op->ifm.root, false);
            touch(&w, k, op->ifm2.root, false);
            touch(&w, k, op->made, false);
            touch(&w, k, op->ofm.root, true);
        }
    u->roots = lists_of(hw->arena, w.pair, w.n_pair, (size_t)u->n, false);
    u->users = lists_of(hw->arena, w.pair, w.n_pair, hw->n_root, true);
}

/* ---- one way through ---- */

typedef struct ready {
    int64_t more; /* bytes that it leaves more than there were */
    int32_t unit;
} ready;

typedef struct line {
    const units *u;
    bool backwards;
    bool *alive, *done;
    int32_t *left, *waits; /* users of a root that are to come; units before one */
    ready *heap;
    size_t n_heap, cap_heap;
    int64_t now, most;
} line;

/* Live before the first unit, or after the last. */
static bool given(const line *l, int32_t root, bool first)
{
    return l->u->hw->root[root].kind == (first != l->backwards ? TC_ROOT_INPUT : TC_ROOT_OUTPUT);
}

static int64_t more_of(const line *l, int32_t unit)
{
    const lists *roots = &l->u->roots;
    int64_t more = 0;
    for (uint32_t k = roots->at[unit]; k < roots->at[unit + 1]; k++) {
        int32_t r = roots->v[k];
        int64_t bytes = ti_hw_root_bytes(&l->u->hw->root[r]);
        more += l->alive[r] ? 0 : bytes;
        more -= l->left[r] == 1 && !given(l, r, false) ? bytes : 0;
    }
    return more;
}

static bool goes_first(const line *l, ready a, ready b)
{
    return a.more != b.more ? a.more < b.more : (a.unit < b.unit) != l->backwards;
}

static void push(line *l, int32_t unit)
{
    if (l->done[unit] || l->waits[unit])
        return;
    tc_grow(l->u->hw->arena, l->heap, l->n_heap, l->cap_heap);
    ready e = {more_of(l, unit), unit};
    size_t i = l->n_heap++;
    for (; i && goes_first(l, e, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
        l->heap[i] = l->heap[(i - 1) / 2];
    l->heap[i] = e;
}

static ready pop(line *l)
{
    ready top = l->heap[0], e = l->heap[--l->n_heap];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < l->n_heap; i = k) {
        k += k + 1 < l->n_heap && goes_first(l, l->heap[k + 1], l->heap[k]);
        if (!goes_first(l, l->heap[k], e))
            break;
        l->heap[i] = l->heap[k];
    }
    l->heap[i] = e;
    return top;
}

/* Bytes that need no memory of their own: an elementwise operation writes over an operand. */
static int64_t in_place(const line *l, int32_t unit)
{
    const units *u = l->u;
    const tc_hw_op *op = &u->hw->op[u->begin[unit]];
    if (u->begin[unit + 1] - u->begin[unit] > 1 || op->op.kind != TC_NPU_KIND_ELEMENTWISE ||
        !counts(u->hw, op->ofm.root))
        return 0;
    int64_t bytes = ti_hw_root_bytes(&u->hw->root[op->ofm.root]);
    const int32_t from[] = {op->ifm.root, op->ifm2.root};
    for (size_t i = 0; i < TC_COUNT(from); i++)
        if (counts(u->hw, from[i]) && u->hw->root[from[i]].kind == TC_ROOT_VALUE &&
            !l->left[from[i]] && ti_hw_root_bytes(&u->hw->root[from[i]]) == bytes)
            return bytes;
    return 0;
}

/* The unit is next; others may have become cheaper by that. */
static void take(line *l, int32_t unit)
{
    const lists *roots = &l->u->roots, *users = &l->u->users;
    l->done[unit] = true;
    for (uint32_t k = roots->at[unit]; k < roots->at[unit + 1]; k++) {
        int32_t r = roots->v[k];
        bool changed = !l->alive[r] || l->left[r] == 2;
        l->now += l->alive[r] ? 0 : ti_hw_root_bytes(&l->u->hw->root[r]);
        l->alive[r] = true;
        l->left[r]--;
        for (uint32_t j = users->at[r]; changed && j < users->at[r + 1]; j++)
            push(l, users->v[j]);
    }
    l->most = ti_max_i64(l->most, l->now - in_place(l, unit));
    for (uint32_t k = roots->at[unit]; k < roots->at[unit + 1]; k++) {
        int32_t r = roots->v[k];
        l->now -= !l->left[r] && !given(l, r, false) ? ti_hw_root_bytes(&l->u->hw->root[r]) : 0;
    }
}

static line begin(const units *u, bool backwards)
{
    const tc_hw *hw = u->hw;
    line l = {.u = u, .backwards = backwards};
    l.alive = tc_new_n(hw->arena, bool, hw->n_root + 1);
    l.left = tc_new_n(hw->arena, int32_t, hw->n_root + 1);
    l.done = tc_new_n(hw->arena, bool, (size_t)u->n + 1);
    l.waits = tc_new_n(hw->arena, int32_t, (size_t)u->n + 1);
    for (size_t r = 0; r < hw->n_root; r++) {
        l.left[r] = (int32_t)(u->users.at[r + 1] - u->users.at[r]);
        l.alive[r] = counts(hw, (int32_t)r) && given(&l, (int32_t)r, true);
        l.now += l.alive[r] ? ti_hw_root_bytes(&hw->root[r]) : 0;
    }
    return l;
}

/* The bytes that are needed at the same time, in this order. */
static int64_t most_in(const units *u, const int32_t *order)
{
    line l = begin(u, false);
    for (int32_t k = 0; k < u->n; k++)
        l.waits[k] = 1; /* none is ready by itself */
    for (int32_t k = 0; k < u->n; k++)
        take(&l, order ? order[k] : k);
    return l.most;
}

static int32_t *order_of(const units *u, bool backwards)
{
    line l = begin(u, backwards);
    lists next = lists_of(u->hw->arena, u->edge, u->n_edge, (size_t)u->n, backwards);
    int32_t *order = tc_new_n(u->hw->arena, int32_t, (size_t)u->n + 1), n = 0;
    for (size_t i = 0; i < u->n_edge; i++)
        l.waits[backwards ? u->edge[i].from : u->edge[i].to]++;
    for (int32_t k = 0; k < u->n; k++)
        push(&l, k);
    while (l.n_heap) {
        ready e = pop(&l);
        if (l.done[e.unit] || e.more != more_of(&l, e.unit))
            continue; /* it was pushed again when that changed */
        order[backwards ? u->n - 1 - n : n] = e.unit;
        n++;
        take(&l, e.unit);
        for (uint32_t k = next.at[e.unit]; k < next.at[e.unit + 1]; k++)
            if (--l.waits[next.v[k]] == 0)
                push(&l, next.v[k]);
    }
    return n == u->n ? order : NULL;
}

/* ---- by needs ---- */

/* Of a unit: bytes that it writes, and that are needed at the same time until it is done, as if all
 * before it were a tree. */
typedef struct need {
    int64_t written, most;
    int32_t unit;
} need;

static int by_need(const void *a, const void *b)
{
    const need *x = a, *y = b;
    int64_t p = x->most - x->written, q = y->most - y->written;
    return p != q ? (p < q) - (p > q) : (x->unit > y->unit) - (x->unit < y->unit);
}

static int64_t written_by(const units *u, int32_t unit)
{
    int64_t bytes = 0;
    for (uint32_t k = u->roots.at[unit]; k < u->roots.at[unit + 1]; k++) {
        int32_t r = u->roots.v[k];
        bool first = u->users.v[u->users.at[r]] == unit;
        bytes += first ? ti_hw_root_bytes(&u->hw->root[r]) : 0;
    }
    return bytes;
}

/* What is before each unit, the greatest need first. */
static lists sorted_before(const units *u)
{
    tc_arena *arena = u->hw->arena;
    lists before = lists_of(arena, u->edge, u->n_edge, (size_t)u->n, true);
    need *of = tc_new_n(arena, need, (size_t)u->n + 1),
         *list = tc_new_n(arena, need, u->n_edge + 1);
    for (int32_t k = 0; k < u->n; k++) {
        size_t n = before.at[k + 1] - before.at[k];
        int64_t held = 0, most = 0;
        for (size_t i = 0; i < n; i++)
            list[i] = of[before.v[before.at[k] + i]];
        qsort(list, n, sizeof *list, by_need);
        for (size_t i = 0; i < n; i++) {
            before.v[before.at[k] + i] = list[i].unit;
            if (i && list[i].unit == list[i - 1].unit)
                continue;
            most = ti_max_i64(most, held + list[i].most);
            held += list[i].written;
        }
        int64_t written = written_by(u, k);
        of[k] = (need){written, ti_max_i64(most, held + written), k};
    }
    return before;
}

static int32_t *order_by_needs(const units *u)
{
    tc_arena *arena = u->hw->arena;
    lists before = sorted_before(u);
    int32_t *order = tc_new_n(arena, int32_t, (size_t)u->n + 1), n = 0;
    int32_t *stack = tc_new_n(arena, int32_t, (size_t)u->n + 1);
    uint32_t *at = tc_new_n(arena, uint32_t, (size_t)u->n + 1);
    bool *seen = tc_new_n(arena, bool, (size_t)u->n + 1);
    for (int32_t end = u->n; end-- > 0;) {
        int32_t depth = 0;
        if (!seen[end])
            stack[depth++] = end;
        seen[end] = true;
        while (depth) {
            int32_t k = stack[depth - 1];
            if (before.at[k] + at[k] == before.at[k + 1]) {
                order[n++] = k;
                depth--;
                continue;
            }
            int32_t next = before.v[before.at[k] + at[k]++];
            if (!seen[next])
                stack[depth++] = next;
            seen[next] = true;
        }
    }
    return order;
}

bool ti_hw_order(tc_hw *hw)
{
    units u = {.hw = hw};
    if (hw->n_label || hw->n_op < 3 || hw->n_op > INT32_MAX)
        return false;
    find_units(&u);
    look(&u);
    int64_t most = most_in(&u, NULL);
    const int32_t *best = NULL;
    for (int way = 0; way < 3; way++) {
        const int32_t *order = way < 2 ? order_of(&u, way == 1) : order_by_needs(&u);
        int64_t now = order ? most_in(&u, order) : most;
        best = now < most ? order : best;
        most = now < most ? now : most;
    }
    if (!best)
        return false;
    tc_hw_op *op = tc_new_n(hw->arena, tc_hw_op, hw->n_op);
    size_t n = 0;
    for (int32_t k = 0; k < u.n; k++)
        for (size_t i = u.begin[best[k]]; i < u.begin[best[k] + 1]; i++)
            op[n++] = hw->op[i];
    hw->op = op;
    hw->cap_op = hw->n_op;
    return true;
}
