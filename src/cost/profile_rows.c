/* SPDX-License-Identifier: Apache-2.0 */
/* profile_rows.c -- operations grouped by line, module, node or kind; see profile.h. */
#include "profile.h"

#include <stdlib.h>

enum { NAMED = 3 }; /* nodes that a row names */

static const char *const hints[TC_CAUSE_COUNT] = {
    [TC_CAUSE_COLUMNS] = "a matrix product of two computed operands is computed column by column "
                         "here; U85 computes it at once",
    [TC_CAUSE_TRANSPOSE] = "elements are reordered: a permute, or a channels-first input or "
                           "output; channels-last data moves less",
    [TC_CAUSE_COPY] =
        "elements are only copied: a cat, slice, pad or reshape that is not free",
    [TC_CAUSE_WEIGHTS] = "it waits for its weights: few outputs for many weights, in a slow memory",
    [TC_CAUSE_CONSTANT] =
        "it waits for a constant operand; per channel it could be folded into the weights before "
        "it",
    [TC_CAUSE_MEMORY] = "it waits for memory, not for arithmetic: large tensors, little to compute",
    [TC_CAUSE_ONCE] =
        "a few results of many channels: every weight is read for one or two multiplications",
    [TC_CAUSE_SHALLOW] =
        "few input channels: the machine multiplies 16 or more at a time, and most multipliers "
        "are idle",
    [TC_CAUSE_DEPTHWISE] = "a depthwise convolution leaves most multipliers idle",
    [TC_CAUSE_TABLE] = "an elementwise operation that could not be fused into the operation "
                       "before it",
    [TC_CAUSE_RESCALE] = "a rescale that could not be fused into the operation before it",
    [TC_CAUSE_WIDE] = "elements of 32 bits take two to four times as long",
};

const char *ti_profile_hint(tc_npu_cause cause)
{
    return hints[cause];
}

tc_cost_figures ti_profile_figures(const tc_profile *p, const tc_npu_cost *c)
{
    tc_npu_band band = ti_npu_band(c);
    tc_cost_figures f = {.cycles = c->cycles,
                         .macs = c->macs,
                         .cycles_low = band.low,
                         .cycles_high = band.high};
    if (p->core.title) {
        f.cycles_low = c->cycles * p->core.factor.low / p->core.factor.about;
        f.cycles_high = c->cycles * p->core.factor.high / p->core.factor.about;
    }
    f.utilisation = p->machine ? ti_npu_utilisation(p->machine, c) : 0;
    for (int i = 0; i < TC_PROFILE_MEMORIES; i++) {
        f.read[i] = c->read[i];
        f.written[i] = c->written[i];
    }
    return f;
}

/* A row while it is built. */
typedef struct group {
    const char *name;
    size_t n, first;
    tc_npu_cost cost;
    double by_cause[TC_CAUSE_COUNT];
    double top_cycles; /* of its operations */
    const tc_loc *loc;
    const char *node[NAMED]; /* the first ones */
    size_t n_node;
    const char *last;  /* node */
    size_t n_reducing; /* operations of reductions */
} group;

static const char *key_of(const tc_profile_entry *e, tc_profile_by by)
{
    const char *key = NULL;
    if (by == TC_PROFILE_BY_KIND)
        return e->name;
    if (!e->loc)
        return "";
    switch (by) {
    case TC_PROFILE_BY_LINE:
        key = e->loc->place;
        break;
    case TC_PROFILE_BY_MODULE:
        key = e->loc->module;
        break;
    default:
        key = e->loc->node;
        break;
    }
    return key ? key : e->loc->node ? e->loc->node : "";
}

static void add_node(group *g, const char *node)
{
    if (!node || (g->last && strcmp(g->last, node) == 0))
        return;
    g->last = node;
    for (size_t i = 0; i < g->n_node && i < NAMED; i++)
        if (strcmp(g->node[i], node) == 0)
            return;
    if (g->n_node < NAMED)
        g->node[g->n_node] = node;
    g->n_node++;
}

static void add_entry(group *g, const tc_profile_entry *e)
{
    g->n++;
    ti_npu_cost_add(&g->cost, &e->cost);
    g->by_cause[e->cause] += e->cost.cycles;
    if (!e->loc)
        return;
    add_node(g, e->loc->node);
    if (!g->loc || e->cost.cycles > g->top_cycles) {
        g->loc = e->loc;
        g->top_cycles = e->cost.cycles;
    }
    const char *t = e->loc->target;
    g->n_reducing +=
        t && (strstr(t, "mean") || strstr(t, "sum") || strstr(t, "avg_pool") || strstr(t, "amax"));
}

/* What causes most of a row. */
static const char *hint_of(const group *g)
{
    static const char reduction[] =
        "a reduction: much is read and little computed, in several steps where the window is large";
    if (g->n_reducing == g->n && g->n)
        return reduction;
    tc_npu_cause most = TC_CAUSE_NONE + 1;
    for (tc_npu_cause c = most; c < TC_CAUSE_COUNT; c++)
        most = g->by_cause[c] > g->by_cause[most] ? c : most;
    return g->by_cause[most] > 0 && 2 * g->by_cause[most] >= g->cost.cycles ? ti_profile_hint(most)
                                                                            : NULL;
}

static const char *nodes_of(tc_ctx *ctx, const group *g)
{
    tc_buf b;
    if (!g->n_node)
        return NULL;
    ti_buf_init(&b, &ctx->arena);
    for (size_t i = 0; i < g->n_node && i < NAMED; i++)
        ti_buf_printf(&b, "%s%s", i ? ", " : "", g->node[i]);
    if (g->n_node > NAMED)
        ti_buf_printf(&b, " and %zu more", g->n_node - NAMED);
    return ti_buf_cstr(&b);
}

static int more_expensive(const void *a, const void *b)
{
    const group *x = *(const group *const *)a, *y = *(const group *const *)b;
    if (x->cost.cycles != y->cost.cycles)
        return x->cost.cycles < y->cost.cycles ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void make(tc_ctx *ctx, tc_profile *p, tc_profile_by by)
{
    tc_map map;
    group **list = tc_new_n(&ctx->arena, group *, p->n_entry + 1);
    size_t n = 0;
    ti_map_init(&map, &ctx->arena);
    for (size_t i = 0; i < p->n_entry; i++) {
        const char *key = key_of(&p->entry[i], by);
        void **slot = ti_map_at(&map, ti_str_of(key));
        if (!*slot) {
            group *g = tc_new(&ctx->arena, group);
            *g = (group){.name = key, .first = i};
            *slot = list[n++] = g;
        }
        add_entry(*slot, &p->entry[i]);
    }
    qsort(list, n, sizeof *list, more_expensive);
    p->row[by] = tc_new_n(&ctx->arena, tc_profile_row, n + 1);
    p->n_row[by] = n;
    for (size_t i = 0; i < n; i++) {
        const group *g = list[i];
        p->row[by][i] =
            (tc_profile_row){.name = g->name,
                             .nodes = nodes_of(ctx, g),
                             .module = g->loc ? g->loc->module : NULL,
                             .operations = g->n,
                             .share = p->total.cycles > 0 ? g->cost.cycles / p->total.cycles : 0,
                             .cost = ti_profile_figures(p, &g->cost),
                             .hint = hint_of(g)};
    }
}

void ti_profile_make_rows(tc_ctx *ctx, tc_profile *p)
{
    for (int by = 0; by < TC_PROFILE_BYS; by++)
        make(ctx, p, (tc_profile_by)by);
}
