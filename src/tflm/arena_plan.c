/* SPDX-License-Identifier: Apache-2.0 */
/* arena_plan.c -- one plan for the arena of a program with regions.
 *
 * Time 2k + 1 is node k, time 2k the copies of its operands in front of it; inputs are there at
 * time 0, outputs stay to the end.  A region takes a block while it runs, with its operands and
 * results at fixed places inside; so a group is a block and the values that lie in it, each a
 * rectangle of times and addresses, and groups are placed as wholes, the largest first, each at the
 * lowest address where it meets nobody.
 *
 * A value lies in the block of the region that makes it; else in that of the region that reads it
 * last; else it is a group by itself.  Where a region reads a value that lies elsewhere, it is copied
 * in front of it, unless the two places turn out to be the same, which is tried first. */
#include "tflm_select.h"

#include "../run/taken.h"
#include "../target/cpu.h"

#include <stdlib.h>

typedef struct rect {
    size_t first, last; /* times */
    int64_t at, bytes;  /* within its group */
    tc_val home;        /* the value that lies there; or TC_NONE */
    tc_val copy;        /* the value that is copied there; or TC_NONE */
} rect;

typedef struct group {
    rect *rect;
    size_t n, cap;
    int64_t bytes; /* of the largest address in it */
    int64_t base;  /* < 0: not placed yet */
} group;

/* A rectangle, as one of the value that lies there or is copied there. */
typedef struct link {
    size_t group, rect;
    size_t next; /* 1 + another; 0: the last */
} link;

typedef struct planner {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_tflm_block *block;
    size_t n_block;
    tc_map block_of; /* by the graph's name: 1 + its number */
    group *group; /* the blocks first */
    size_t n_group, cap_group;
    size_t *first, *last; /* by root value: times */
    bool *lives;          /* by root value: it lies in the arena */
    size_t *home_group;   /* by root value, */
    int64_t *home_at;     /* and where in the group, */
    size_t *home_rect;    /* as which of its rectangles */
    size_t *links;        /* by root value: 1 + the last of its links; 0: none */
    link *link;
    size_t n_link, cap_link;
    size_t *read_at;      /* by root value: the last node seen that reads it */
    tc_taken *taken;      /* by the groups that are placed */
} planner;

/* ---- lifetimes ---- */

static bool is_variable(const tc_graph *g, tc_val v)
{
    return ti_cpu_buffer(g, v) >= 0;
}

/* Whose memory v shows: of a view of a variable, or of a constant, its own. */
static tc_val root_of(const tc_graph *g, tc_val v)
{
    tc_val root = ti_cpu_root(g, v);
    return root != v && (is_variable(g, root) || ti_is_const(g, root)) ? v : root;
}

static size_t block_of(const planner *p, const tc_node *node)
{
    if (node->op != TC_OP_call)
        return SIZE_MAX;
    const tc_attr_call *call = node->attr;
    return (size_t)(uintptr_t)ti_map_get(&p->block_of, ti_str_of(call->graph)) - 1;
}

static void born(planner *p, tc_val v, size_t time)
{
    if (is_variable(p->g, v) || ti_is_const(p->g, v) || root_of(p->g, v) != v)
        return;
    p->lives[v] = true;
    p->first[v] = p->last[v] = time;
}

static void used(planner *p, tc_val v, size_t time)
{
    tc_val root = v ? root_of(p->g, v) : TC_NONE;
    if (root && p->lives[root] && p->last[root] < time)
        p->last[root] = time;
}

static void find_lives(planner *p)
{
    const tc_graph *g = p->g;
    size_t end = 2 * g->n_node + 1;
    for (size_t i = 0; i < g->n_in; i++)
        born(p, g->in[i], 0);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in; i++)
            used(p, node->in[i], 2 * k + 1);
        for (int i = 0; i < node->n_out; i++)
            born(p, node->out[i], 2 * k + 1);
    }
    for (size_t i = 0; i < g->n_out; i++)
        used(p, g->out[i], end);
    for (size_t i = 0; i < g->n_mutation; i++)
        used(p, g->mutation[i].after, end);
}

/* ---- groups ---- */

static int64_t rounded(int64_t bytes)
{
    return (bytes + TC_TFLM_ALIGN - 1) / TC_TFLM_ALIGN * TC_TFLM_ALIGN;
}

static int64_t bytes_of(const planner *p, tc_val v)
{
    return rounded((int64_t)tc_type_bytes(ti_type_of(p->g, v)));
}

static void add_rect(planner *p, size_t group_at, rect r)
{
    group *q = &p->group[group_at];
    tc_grow(&p->ctx->arena, q->rect, q->n, q->cap);
    q->rect[q->n++] = r;
    q->bytes = r.at + r.bytes > q->bytes ? r.at + r.bytes : q->bytes;
    tc_val v = r.home ? r.home : r.copy;
    if (!v)
        return;
    tc_grow(&p->ctx->arena, p->link, p->n_link, p->cap_link);
    p->link[p->n_link] = (link){group_at, q->n - 1, p->links[v]};
    p->links[v] = ++p->n_link;
}

static size_t new_group(planner *p)
{
    tc_grow(&p->ctx->arena, p->group, p->n_group, p->cap_group);
    p->group[p->n_group] = (group){.base = -1};
    return p->n_group++;
}

static void settle(planner *p, tc_val v, size_t group_at, int64_t at, size_t last)
{
    p->home_group[v] = group_at;
    p->home_at[v] = at;
    p->home_rect[v] = p->group[group_at].n;
    add_rect(
        p, group_at,
        (rect){.first = p->first[v], .last = last, .at = at, .bytes = bytes_of(p, v), .home = v});
}

/* Results lie where the region leaves them. */
static void settle_results(planner *p)
{
    for (size_t k = 0; k < p->g->n_node; k++) {
        const tc_node *node = p->g->node[k];
        size_t b = block_of(p, node);
        for (int i = 0; b != SIZE_MAX && i < node->n_out; i++)
            settle(p, node->out[i], b, p->block[b].out[i], p->last[node->out[i]]);
    }
}

/* Of operands that show the same memory, the first. */
static bool is_first_use(planner *p, tc_val root, size_t k)
{
    bool first = p->read_at[root] != k + 1;
    p->read_at[root] = k + 1;
    return first;
}

/* Operands: at their places in the block where this is the last use, and nobody made them in another
 * block; else they are copied, and need to be there only until then. */
static void settle_operands(planner *p)
{
    for (size_t k = 0; k < p->g->n_node; k++) {
        const tc_node *node = p->g->node[k];
        size_t b = block_of(p, node);
        for (int i = 0; b != SIZE_MAX && i < node->n_in; i++) {
            tc_val v = root_of(p->g, node->in[i]);
            bool first = is_first_use(p, v, k);
            if (first && p->lives[v] && p->home_group[v] == SIZE_MAX && p->last[v] == 2 * k + 1)
                settle(p, v, b, p->block[b].in[i], 2 * k + 1);
            else
                add_rect(p, b,
                         (rect){.first = 2 * k, .last = 2 * k + 1, .at = p->block[b].in[i],
                                .bytes = bytes_of(p, v), .copy = v});
        }
    }
}

/* A value made in one block and last read by another is needed there until it is copied. */
static void shorten(planner *p)
{
    for (size_t k = 0; k < p->g->n_node; k++) {
        const tc_node *node = p->g->node[k];
        size_t b = block_of(p, node);
        for (int i = 0; b != SIZE_MAX && i < node->n_in; i++) {
            tc_val v = root_of(p->g, node->in[i]);
            size_t home = p->home_group[v];
            if (p->lives[v] && p->last[v] == 2 * k + 1 && home != SIZE_MAX && home != b)
                p->group[home].rect[p->home_rect[v]].last = 2 * k;
        }
    }
}

static void find_groups(planner *p)
{
    const tc_graph *g = p->g;
    for (size_t b = 0; b < p->n_block; b++)
        new_group(p);
    for (size_t k = 0; k < g->n_node; k++) {
        size_t b = block_of(p, g->node[k]);
        if (b != SIZE_MAX)
            add_rect(p, b, (rect){.first = 2 * k + 1, .last = 2 * k + 1,
                                  .bytes = rounded(p->block[b].bytes)});
    }
    settle_results(p);
    settle_operands(p);
    shorten(p);
    for (tc_val v = 1; v < g->n_val; v++)
        if (p->lives[v] && p->home_group[v] == SIZE_MAX)
            settle(p, v, new_group(p), 0, p->last[v]);
}

/* ---- places ---- */

static bool is_same_value(const rect *a, const rect *b)
{
    return (a->copy && a->copy == b->home) || (b->copy && b->copy == a->home);
}

static bool meet(const rect *a, int64_t base_a, const rect *b, int64_t base_b)
{
    int64_t at_a = base_a + a->at, at_b = base_b + b->at;
    if (a->first > b->last || b->first > a->last || at_a >= at_b + b->bytes ||
        at_b >= at_a + a->bytes)
        return false;
    return !(is_same_value(a, b) && at_a == at_b);
}

static bool fits(const planner *p, const group *q, int64_t base)
{
    for (size_t i = 0; i < p->n_group; i++) {
        const group *other = &p->group[i];
        for (size_t a = 0; other->base >= 0 && a < other->n; a++)
            for (size_t b = 0; b < q->n; b++)
                if (meet(&other->rect[a], other->base, &q->rect[b], base))
                    return false;
    }
    return true;
}

/* The lowest base at which a rectangle of the group stands on the value that it is a copy of, or on
 * a copy of it; -1: none. */
static int64_t base_on_copy(const planner *p, const group *q)
{
    int64_t best = -1;
    for (size_t b = 0; b < q->n; b++) {
        const rect *own = &q->rect[b];
        tc_val v = own->home ? own->home : own->copy;
        for (size_t i = v ? p->links[v] : 0; i; i = p->link[i - 1].next) {
            const group *other = &p->group[p->link[i - 1].group];
            const rect *there = &other->rect[p->link[i - 1].rect];
            if (other->base < 0 || !is_same_value(there, own))
                continue;
            int64_t at = other->base + there->at - own->at;
            if (at >= 0 && at % TC_TFLM_ALIGN == 0 && (best < 0 || at < best) && fits(p, q, at))
                best = at;
        }
    }
    return best;
}

/* The lowest base at which no rectangle of the group meets one that is there.  None is a copy of the
 * other at the same place: that was tried before. */
static int64_t base_apart(const planner *p, const group *q)
{
    int64_t base = 0, before;
    do {
        before = base;
        for (size_t i = 0; i < q->n; i++) {
            const rect *r = &q->rect[i];
            size_t at = ti_taken_free(p->taken, r->first, r->last, (size_t)(base + r->at),
                                      (size_t)r->bytes);
            base = rounded((int64_t)at - r->at);
        }
    } while (base != before);
    return base;
}

static void place(planner *p, group *q)
{
    int64_t base = base_on_copy(p, q);
    q->base = base >= 0 ? base : base_apart(p, q);
    for (size_t i = 0; i < q->n; i++)
        ti_taken_put(p->taken, q->rect[i].first, q->rect[i].last,
                     (size_t)(q->base + q->rect[i].at), (size_t)q->rect[i].bytes);
}

/* The larger first, equals in the order of arrival: pointers into one array. */
static int larger_first(const void *a, const void *b)
{
    const group *x = *(group *const *)a, *y = *(group *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : (x > y) - (x < y);
}

static void place_all(planner *p, tc_tflm_plan *plan)
{
    tc_mark mark = ti_arena_mark(&p->ctx->scratch);
    group **order = tc_new_n(&p->ctx->scratch, group *, p->n_group + 1);
    size_t n_rect = 0, n = 0;
    for (size_t i = 0; i < p->n_group; i++) {
        order[i] = &p->group[i];
        n_rect += p->group[i].n;
    }
    size_t *step = tc_new_n(&p->ctx->scratch, size_t, n_rect + 1);
    for (size_t i = 0; i < p->n_group; i++)
        for (size_t r = 0; r < p->group[i].n; r++)
            step[n++] = p->group[i].rect[r].first;
    p->taken = ti_taken_new(&p->ctx->scratch, step, n);
    qsort(order, p->n_group, sizeof *order, larger_first);
    for (size_t i = 0; i < p->n_group; i++) {
        place(p, order[i]);
        if (order[i]->base + order[i]->bytes > plan->bytes)
            plan->bytes = order[i]->base + order[i]->bytes;
    }
    ti_arena_rewind(&p->ctx->scratch, mark);
}

tc_tflm_plan ti_tflm_plan(tc_ctx *ctx, const tc_graph *g, const tc_tflm_block *block, size_t n)
{
    planner p = {.ctx = ctx, .g = g, .block = block, .n_block = n};
    p.first = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.last = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.lives = tc_new_n(&ctx->arena, bool, g->n_val);
    p.home_group = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.home_at = tc_new_n(&ctx->arena, int64_t, g->n_val);
    p.home_rect = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.links = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.read_at = tc_new_n(&ctx->arena, size_t, g->n_val);
    memset(p.home_group, 0xff, g->n_val * sizeof *p.home_group);
    ti_map_init(&p.block_of, &ctx->arena);
    for (size_t b = n; b-- > 0;) /* of blocks of one graph, the first */
        *ti_map_at(&p.block_of, ti_str_of(block[b].graph)) = (void *)(uintptr_t)(b + 1);
    find_lives(&p);
    find_groups(&p);
    tc_tflm_plan plan = {.offset = tc_new_n(&ctx->arena, int64_t, g->n_val),
                         .base = tc_new_n(&ctx->arena, int64_t, n + 1)};
    place_all(&p, &plan);
    for (tc_val v = 1; v < g->n_val; v++) {
        tc_val root = root_of(g, v);
        plan.offset[v] =
            p.lives[root] ? p.group[p.home_group[root]].base + p.home_at[root] : -1;
    }
    for (size_t b = 0; b < n; b++)
        plan.base[b] = p.group[b].base;
    return plan;
}
