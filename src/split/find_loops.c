/* SPDX-License-Identifier: Apache-2.0 */
/* find_loops.c -- see loops.h.
 *
 * Nodes have keys: operator, attributes, types of the results, constant operands.  A run of keys that
 * repeats is looked at operand by operand: each has to come from the same place in every step. */
#include "loops.h"

enum { FEWEST = 24 }; /* nodes that a loop must save */

/* ---- keys ---- */

static uint64_t key_of_const(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    uint64_t key = ti_hash(&t, sizeof t, 3);
    return ti_hash(g->val[v]->data, tc_type_bytes(t), key);
}

static bool is_pure(const tc_node *node)
{
    return !(tc_ops[node->op].traits & (T_CONTROL | T_STATE)) && node->n_in && node->n_out;
}

/* Where a slice begins may go on from step to step. */
static bool may_go_on(const tc_node *node, int operand) { return node->op == TC_OP_tosa_slice && operand == 1; }

/* Without the operands that are computed. */
static uint64_t key_of(const tc_graph *g, const tc_node *node)
{
    uint64_t key = ti_attr_hash(tc_ops[node->op].attr, node->attr, (uint64_t)node->op + 1);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_type_of(g, node->out[i]);
        key = ti_hash(&t, sizeof t, key);
    }
    for (int i = 0; i < node->n_in; i++) {
        bool known = ti_is_const(g, node->in[i]) && !may_go_on(node, i);
        uint64_t operand = !node->in[i] ? 1 : known ? key_of_const(g, node->in[i]) : 2;
        key = ti_hash(&operand, sizeof operand, key);
    }
    return key;
}

static bool same_const(const tc_graph *g, tc_val a, tc_val b)
{
    const tc_type *t = ti_type_of(g, a);
    return ti_is_const(g, a) && ti_is_const(g, b) && t == ti_type_of(g, b) &&
           (g->val[a]->data == g->val[b]->data ||
            !memcmp(g->val[a]->data, g->val[b]->data, tc_type_bytes(t)));
}

static bool alike(const tc_graph *g, const tc_node *a, const tc_node *b)
{
    bool same = a->op == b->op && a->n_in == b->n_in && a->n_out == b->n_out &&
                ti_attr_equal(tc_ops[a->op].attr, a->attr, b->attr);
    for (int i = 0; same && i < a->n_out; i++)
        same = ti_type_of(g, a->out[i]) == ti_type_of(g, b->out[i]);
    for (int i = 0; same && i < a->n_in; i++)
        same = !a->in[i] == !b->in[i] && (!a->in[i] || ti_type_of(g, a->in[i]) == ti_type_of(g, b->in[i]));
    return same;
}

/* ---- where an operand comes from ---- */

/* v is result `index` of node `row` of the loop, at time t. */
static bool is_made(const tc_loops *l, size_t loop, tc_val v, uint32_t row, int index, int64_t t)
{
    const tc_loop_place *p = &l->at[v];
    return p->loop == loop + 1 && p->row == row && p->time == t && l->g->val[v]->index == index;
}

static bool is_outside(const tc_loops *l, size_t loop, tc_val v) { return l->at[v].loop != loop + 1; }

tc_loop_source ti_loop_source(const tc_loops *l, size_t loop, size_t row, int operand)
{
    const tc_loop *of = &l->loop[loop];
    tc_val first = ti_loop_node(of, row, 0)->in[operand], second = ti_loop_node(of, row, 1)->in[operand];
    const tc_loop_place p = l->at[first], q = l->at[second];
    int at_first = l->g->val[first] ? l->g->val[first]->index : 0,
        at_second = l->g->val[second] ? l->g->val[second]->index : 0;
    bool constant = true, inside = true, carried = is_outside(l, loop, first), held = carried, series = carried;
    for (int64_t t = 0; t < of->times; t++) {
        tc_val v = ti_loop_node(of, row, t)->in[operand];
        constant = constant && (v ? same_const(l->g, first, v) : !first);
        inside = inside && is_made(l, loop, v, p.row, at_first, t);
        carried = carried && (!t || is_made(l, loop, v, q.row, at_second, t - 1));
        held = held && v == first;
        series = series && v && is_outside(l, loop, v);
    }
    bool passed = first && ti_type_of(l->g, first)->dtype != TC_shape;
    return constant            ? TC_LOOP_CONSTANT
           : inside            ? TC_LOOP_INSIDE
           : carried && passed ? TC_LOOP_CARRIED
           : held && passed    ? TC_LOOP_HELD
           : series && passed  ? TC_LOOP_SERIES
                               : TC_LOOP_UNKNOWN;
}

/* ---- runs of steps ---- */

typedef struct run {
    size_t first, period, times;
} run;

/* The run from `first` on that saves most nodes. */
static run run_at(const uint64_t *key, size_t n, size_t first)
{
    run best = {first, 1, 1};
    size_t saved = FEWEST - 1;
    for (size_t period = 1; first + period < n && n - first - period > saved; period++) {
        size_t k = first;
        while (k + period < n && key[k] == key[k + period])
            k++;
        size_t times = 1 + (k - first) / period;
        if ((times - 1) * period > saved) {
            saved = (times - 1) * period;
            best = (run){first, period, times};
        }
    }
    return best;
}

/* Bytes that a step which begins at `first` takes from the one before; at: by value, its node's place
 * + 1 in the list. */
static size_t carried_bytes(tc_arena *arena, const tc_graph *g, tc_node *const *node, const size_t *at,
                            size_t first, size_t period)
{
    tc_mark mark = ti_arena_mark(arena);
    bool *seen = tc_new_n(arena, bool, g->n_val);
    size_t bytes = 0;
    for (size_t k = first + period; k < first + 2 * period; k++)
        for (int i = 0; i < node[k]->n_in; i++) {
            tc_val v = node[k]->in[i];
            bool before = at[v] > first && at[v] <= first + period && !seen[v];
            bytes += before ? tc_type_bytes(ti_type_of(g, v)) : 0;
            seen[v] = seen[v] || before;
        }
    ti_arena_rewind(arena, mark);
    return bytes;
}

/* The same run from where its steps take the least from the one before: a first step that begins otherwise
 * moves where keys begin to repeat. */
static run in_phase(tc_ctx *ctx, const tc_graph *g, tc_node *const *node, const uint64_t *key,
                    const size_t *at, size_t n, run r)
{
    size_t end = r.first, best = r.first, least = SIZE_MAX;
    while (end + r.period < n && key[end] == key[end + r.period])
        end++;
    end += r.period;
    for (size_t first = r.first; first < r.first + r.period && first + 2 * r.period <= end; first++) {
        size_t bytes = carried_bytes(&ctx->scratch, g, node, at, first, r.period);
        if (bytes < least) {
            least = bytes;
            best = first;
        }
    }
    return (run){best, r.period, (end - best) / r.period};
}

static void add_row(tc_ctx *ctx, tc_loops *l, size_t loop, tc_node *const *node)
{
    tc_loop *to = &l->loop[loop];
    size_t times = (size_t)to->times;
    if (to->n_row == to->cap_row) {
        tc_node **more = tc_new_n(&ctx->arena, tc_node *, (2 * to->cap_row + 16) * times);
        if (to->n_row)
            memcpy(more, to->node, to->n_row * times * sizeof *more);
        to->node = more;
        to->cap_row = 2 * to->cap_row + 16;
    }
    for (size_t t = 0; t < times; t++) {
        to->node[to->n_row * times + t] = node[t];
        for (int i = 0; i < node[t]->n_out; i++)
            l->at[node[t]->out[i]] = (tc_loop_place){(uint32_t)loop + 1, (uint32_t)to->n_row, (int64_t)t};
    }
    to->n_row++;
}

static void forget(tc_loops *l, size_t loop)
{
    const tc_loop *of = &l->loop[loop];
    for (size_t k = 0; k < of->n_row * (size_t)of->times; k++)
        for (int i = 0; i < of->node[k]->n_out; i++)
            l->at[of->node[k]->out[i]].loop = 0;
}

/* Every operand has its place, and one is of the step before. */
static bool recurs(const tc_loops *l, size_t loop)
{
    const tc_loop *of = &l->loop[loop];
    bool carried = false;
    for (size_t row = 0; row < of->n_row; row++) {
        const tc_node *node = ti_loop_node(of, row, 0);
        for (int64_t t = 1; t < of->times; t++)
            if (!alike(l->g, node, ti_loop_node(of, row, t)))
                return false;
        for (int i = 0; i < node->n_in; i++) {
            tc_loop_source from = ti_loop_source(l, loop, row, i);
            if (from == TC_LOOP_UNKNOWN)
                return false;
            carried = carried || from == TC_LOOP_CARRIED;
        }
    }
    return carried;
}

/* Slices of one value, each of another part: they stay outside, a series. */
static bool goes_on(const tc_graph *g, tc_node *const *node, size_t times)
{
    bool same = true;
    for (size_t t = 1; t < times; t++) {
        if (node[0]->op != TC_OP_tosa_slice || node[t]->in[0] != node[0]->in[0])
            return false;
        same = same && same_const(g, node[0]->in[1], node[t]->in[1]);
    }
    return !same;
}

static void take_run(tc_ctx *ctx, tc_loops *l, tc_node *const *node, run r)
{
    tc_node **row = tc_new_n(&ctx->arena, tc_node *, r.times);
    l->loop[l->n] = (tc_loop){.times = (int64_t)r.times};
    for (size_t k = 0; k < r.period; k++) {
        for (size_t t = 0; t < r.times; t++)
            row[t] = node[r.first + t * r.period + k];
        if (!goes_on(l->g, row, r.times))
            add_row(ctx, l, l->n, row);
    }
    if (recurs(l, l->n))
        l->n++;
    else
        forget(l, l->n);
}

/* ---- what belongs to a step as well ---- */

/* By value: whether it follows from what a loop makes; steps of another loop do so together. */
static bool *after_loop(tc_arena *arena, const tc_loops *l, size_t loop)
{
    const tc_graph *g = l->g;
    bool *after = tc_new_n(arena, bool, g->n_val), *of_loop = tc_new_n(arena, bool, l->n + 1);
    of_loop[loop + 1] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < g->n_node; k++) {
            const tc_node *node = g->node[k];
            uint32_t in = node->n_out ? l->at[node->out[0]].loop : 0;
            bool now = in && of_loop[in];
            for (int i = 0; i < node->n_in; i++)
                now = now || after[node->in[i]];
            for (int i = 0; now && i < node->n_out; i++) {
                more = more || !after[node->out[i]];
                after[node->out[i]] = true;
            }
            if (now && in && !of_loop[in])
                of_loop[in] = more = true;
        }
    }
    return after;
}

/* Nodes of one form that read values of one step each. */
typedef struct family {
    size_t loop;
    tc_node **node; /* by step */
    int64_t n;
} family;

/* The last of the loops whose values the node reads, + 1, and the step, if it is one; 0: none. */
static size_t read_by(const tc_loops *l, const tc_node *node, int64_t *time)
{
    size_t last = 0;
    for (int i = 0; i < node->n_in; i++)
        last = l->at[node->in[i]].loop > last ? l->at[node->in[i]].loop : last;
    *time = -1;
    for (int i = 0; i < node->n_in; i++) {
        const tc_loop_place *p = &l->at[node->in[i]];
        if (!last || p->loop != last)
            continue;
        if (*time >= 0 && *time != p->time)
            return 0;
        *time = p->time;
    }
    return last;
}

static uint64_t family_key(const tc_loops *l, const tc_node *node, size_t loop)
{
    uint64_t key = ti_hash(&loop, sizeof loop, key_of(l->g, node));
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        uint32_t place[3] = {l->at[v].loop == loop, l->at[v].row, v ? (uint32_t)l->g->val[v]->index : 0};
        key = ti_hash(place, place[0] ? sizeof place : sizeof *place, key);
    }
    return key;
}

/* The node takes its step's place in its family; of several in a step the families are in order. */
static void join_family(tc_ctx *ctx, const tc_loops *l, tc_map *map, tc_node *node, size_t loop, int64_t t)
{
    uint64_t key[2] = {family_key(l, node, loop), 0};
    for (;; key[1]++) {
        void **slot = ti_map_at(map, (tc_str){(const char *)key, sizeof key});
        family *f = *slot;
        if (!f) {
            *slot = f = tc_new(&ctx->arena, family);
            f->loop = loop - 1;
            f->node = tc_new_n(&ctx->arena, tc_node *, (size_t)l->loop[loop - 1].times);
        }
        if (f->node[t])
            continue;
        f->node[t] = node;
        f->n++;
        return;
    }
}

/* A whole family becomes a row of its loop, unless an operand waits for the end of that. */
static bool take_family(tc_ctx *ctx, tc_loops *l, const family *f)
{
    tc_loop *of = &l->loop[f->loop];
    if (f->n != of->times)
        return false;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const bool *after = after_loop(&ctx->scratch, l, f->loop);
    bool fit = true;
    for (int64_t t = 0; t < of->times; t++) {
        fit = fit && alike(l->g, f->node[0], f->node[t]);
        for (int i = 0; fit && i < f->node[t]->n_in; i++)
            fit = l->at[f->node[t]->in[i]].loop == f->loop + 1 || !after[f->node[t]->in[i]];
    }
    ti_arena_rewind(&ctx->scratch, mark);
    if (!fit)
        return false;
    add_row(ctx, l, f->loop, f->node);
    for (int i = 0; fit && i < f->node[0]->n_in; i++)
        fit = ti_loop_source(l, f->loop, of->n_row - 1, i) != TC_LOOP_UNKNOWN;
    if (fit)
        return true;
    for (int64_t t = 0; t < of->times; t++)
        for (int i = 0; i < f->node[t]->n_out; i++)
            l->at[f->node[t]->out[i]].loop = 0;
    of->n_row--;
    return false;
}

static bool take_families(tc_ctx *ctx, tc_loops *l)
{
    tc_map map;
    bool any = false;
    ti_map_init(&map, &ctx->arena);
    for (size_t k = 0; k < l->g->n_node; k++) {
        tc_node *node = l->g->node[k];
        int64_t t;
        if (!is_pure(node) || l->at[node->out[0]].loop)
            continue;
        size_t loop = read_by(l, node, &t);
        if (loop)
            join_family(ctx, l, &map, node, loop, t);
    }
    for (size_t i = 0; i < map.n; i++)
        any = take_family(ctx, l, map.entry[i].value) || any;
    return any;
}

/* ---- what a later loop makes better for itself ---- */

/* The loop whose steps alone read all that the row makes, and in which order: 1, or -1 from the end;
 * 0: there is none. */
static size_t only_reader(const tc_loops *l, size_t loop, size_t row, int64_t *order)
{
    const tc_graph *g = l->g;
    const int64_t times = l->loop[loop].times;
    size_t reader = 0;
    *order = 0;
    for (size_t i = 0; i < g->n_out; i++)
        if (l->at[g->out[i]].loop == loop + 1 && l->at[g->out[i]].row == row)
            return 0;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            const tc_loop_place *p = &l->at[g->node[k]->in[i]];
            if (p->loop != loop + 1 || p->row != row)
                continue;
            const tc_loop_place *by = g->node[k]->n_out ? &l->at[g->node[k]->out[0]] : NULL;
            if (!by || !by->loop || by->loop == loop + 1 || (reader && reader != by->loop) ||
                l->loop[by->loop - 1].times != times)
                return 0;
            int64_t way = by->time == p->time ? 1 : by->time == times - 1 - p->time ? -1 : 0;
            bool middle = by->time == p->time && 2 * p->time == times - 1; /* either */
            if (!middle && (!way || (*order && *order != way)))
                return 0;
            *order = middle ? *order : way;
            reader = by->loop;
        }
    return *order ? reader : 0;
}

/* It makes no less of what the loop gives than it reads of it. */
static bool makes_more(const tc_loops *l, size_t loop, size_t row)
{
    const tc_node *node = ti_loop_node(&l->loop[loop], row, 0);
    size_t in = 0, out = 0;
    for (int i = 0; i < node->n_in; i++)
        in += l->at[node->in[i]].loop == loop + 1 ? tc_type_bytes(ti_type_of(l->g, node->in[i])) : 0;
    for (int i = 0; i < node->n_out; i++)
        out += tc_type_bytes(ti_type_of(l->g, node->out[i]));
    return in && out >= in;
}

static void number_rows(tc_loops *l, size_t loop)
{
    const tc_loop *of = &l->loop[loop];
    for (size_t row = 0; row < of->n_row; row++)
        for (int64_t t = 0; t < of->times; t++)
            for (int i = 0; i < ti_loop_node(of, row, t)->n_out; i++)
                l->at[ti_loop_node(of, row, t)->out[i]] =
                    (tc_loop_place){(uint32_t)loop + 1, (uint32_t)row, t};
}

/* The row becomes the first of the other loop's. */
static void move_row(tc_ctx *ctx, tc_loops *l, size_t loop, size_t row, size_t to, int64_t order)
{
    tc_loop *from = &l->loop[loop], *into = &l->loop[to];
    size_t times = (size_t)from->times;
    tc_node **node = tc_new_n(&ctx->arena, tc_node *, times);
    for (int64_t t = 0; t < from->times; t++)
        node[ti_repeat_part(order, t, from->times)] = ti_loop_node(from, row, t);
    memmove(from->node + row * times, from->node + (row + 1) * times,
            (from->n_row - row - 1) * times * sizeof *node);
    from->n_row--;
    add_row(ctx, l, to, node);
    memmove(into->node + times, into->node, (into->n_row - 1) * times * sizeof *node);
    memcpy(into->node, node, times * sizeof *node);
    number_rows(l, loop);
    number_rows(l, to);
}

/* What is widened for a later loop, such as halves that are put beside each other, is widened there:
 * less is kept between them. */
static void move_rows(tc_ctx *ctx, tc_loops *l, size_t loop)
{
    for (size_t row = l->loop[loop].n_row; row-- > 0;) {
        int64_t order;
        size_t to = makes_more(l, loop, row) ? only_reader(l, loop, row, &order) : 0;
        if (to > loop + 1)
            move_row(ctx, l, loop, row, to - 1, order);
    }
}

void ti_find_loops(tc_ctx *ctx, const tc_graph *g, tc_loops *out)
{
    tc_arena *arena = &ctx->arena;
    tc_node **node = tc_new_n(arena, tc_node *, g->n_node + 1);
    uint64_t *key = tc_new_n(arena, uint64_t, g->n_node + 1);
    size_t *at = tc_new_n(arena, size_t, g->n_val), n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const) {
            node[n] = g->node[k];
            key[n] = is_pure(node[n]) ? key_of(g, node[n]) : k;
            n++;
            for (int i = 0; i < node[n - 1]->n_out; i++)
                at[node[n - 1]->out[i]] = n;
        }
    *out = (tc_loops){.g = g, .loop = tc_new_n(arena, tc_loop, n / FEWEST + 2),
                      .at = tc_new_n(arena, tc_loop_place, g->n_val)};
    for (size_t k = 0; k < n;) {
        run r = run_at(key, n, k);
        if (r.times > 1) {
            r = in_phase(ctx, g, node, key, at, n, r);
            take_run(ctx, out, node, r);
        }
        k = r.first + r.period * r.times;
    }
    while (out->n && take_families(ctx, out))
        continue;
    for (size_t i = 0; i < out->n; i++)
        move_rows(ctx, out, i);
}
