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

#include "../target/cpu.h"

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
    int64_t base;
    bool placed;
} group;

typedef struct planner {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_tflm_block *block;
    size_t n_block;
    group *group; /* the blocks first */
    size_t n_group, cap_group;
    size_t *first, *last; /* by root value: times */
    bool *lives;          /* by root value: it lies in the arena */
    size_t *home_group;   /* by root value, */
    int64_t *home_at;     /* and where in the group */
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
    size_t i = 0;
    if (node->op != TC_OP_call)
        return SIZE_MAX;
    const tc_attr_call *call = node->attr;
    while (i < p->n_block && !ti_text_eq(p->block[i].graph, call->graph))
        i++;
    return i < p->n_block ? i : SIZE_MAX;
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
}

static size_t new_group(planner *p)
{
    tc_grow(&p->ctx->arena, p->group, p->n_group, p->cap_group);
    p->group[p->n_group] = (group){0};
    return p->n_group++;
}

static void settle(planner *p, tc_val v, size_t group_at, int64_t at, size_t last)
{
    p->home_group[v] = group_at;
    p->home_at[v] = at;
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

static bool is_first_use(const tc_graph *g, const tc_node *node, int i)
{
    for (int k = 0; k < i; k++)
        if (root_of(g, node->in[k]) == root_of(g, node->in[i]))
            return false;
    return true;
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
            bool here = p->lives[v] && p->home_group[v] == SIZE_MAX && p->last[v] == 2 * k + 1 &&
                        is_first_use(p->g, node, i);
            if (here)
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
    for (size_t k = 0; k < p->g->n_node; k++)
        for (int i = 0; block_of(p, p->g->node[k]) != SIZE_MAX && i < p->g->node[k]->n_in; i++) {
            tc_val v = root_of(p->g, p->g->node[k]->in[i]);
            if (!p->lives[v] || p->last[v] != 2 * k + 1 || p->home_group[v] == SIZE_MAX ||
                p->home_group[v] == block_of(p, p->g->node[k]))
                continue;
            group *q = &p->group[p->home_group[v]];
            for (size_t r = 0; r < q->n; r++)
                if (q->rect[r].home == v)
                    q->rect[r].last = 2 * k;
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
    for (size_t i = 0; i < p->n_group && base >= 0; i++) {
        const group *other = &p->group[i];
        for (size_t a = 0; other->placed && a < other->n; a++)
            for (size_t b = 0; b < q->n; b++)
                if (meet(&other->rect[a], other->base, &q->rect[b], base))
                    return false;
    }
    return base >= 0;
}

/* Bases at which a rectangle of the group stands behind one that is there, or on the value that it
 * is a copy of. */
static int64_t candidate(const rect *there, int64_t base, const rect *own, bool same)
{
    if (same)
        return is_same_value(there, own) ? base + there->at - own->at : -1;
    bool together = there->first <= own->last && own->first <= there->last;
    return together ? rounded(base + there->at + there->bytes - own->at) : -1;
}

static int64_t best_base(const planner *p, const group *q, bool same)
{
    int64_t best = same || !fits(p, q, 0) ? -1 : 0;
    for (size_t i = 0; i < p->n_group && best != 0; i++) {
        const group *other = &p->group[i];
        for (size_t a = 0; other->placed && a < other->n; a++)
            for (size_t b = 0; b < q->n; b++) {
                int64_t at = candidate(&other->rect[a], other->base, &q->rect[b], same);
                if (at >= 0 && at % TC_TFLM_ALIGN == 0 && (best < 0 || at < best) && fits(p, q, at))
                    best = at;
            }
    }
    return best;
}

static void place(planner *p, group *q)
{
    int64_t base = best_base(p, q, true);
    q->base = base >= 0 ? base : best_base(p, q, false);
    q->placed = true;
}

static void place_all(planner *p, tc_tflm_plan *plan)
{
    for (size_t n = 0; n < p->n_group; n++) {
        group *next = NULL;
        for (size_t i = 0; i < p->n_group; i++)
            if (!p->group[i].placed && (!next || p->group[i].bytes > next->bytes))
                next = &p->group[i];
        place(p, next);
        if (next->base + next->bytes > plan->bytes)
            plan->bytes = next->base + next->bytes;
    }
}

tc_tflm_plan ti_tflm_plan(tc_ctx *ctx, const tc_graph *g, const tc_tflm_block *block, size_t n)
{
    planner p = {.ctx = ctx, .g = g, .block = block, .n_block = n};
    p.first = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.last = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.lives = tc_new_n(&ctx->arena, bool, g->n_val);
    p.home_group = tc_new_n(&ctx->arena, size_t, g->n_val);
    p.home_at = tc_new_n(&ctx->arena, int64_t, g->n_val);
    memset(p.home_group, 0xff, g->n_val * sizeof *p.home_group);
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
