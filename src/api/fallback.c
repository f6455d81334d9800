/* SPDX-License-Identifier: Apache-2.0 */
/* fallback.c -- a region that is refused as a whole, by a rule or by the machine's own compiler.
 *
 * Its nodes, in the order of the model, are tried in prefixes: the shortest one that is refused
 * ends with the node that is to blame in what stands before it.  That node goes to the CPU, with
 * the refusal as its reason, and the program is compiled anew.  A region that is still refused
 * after ROUNDS of that goes to the CPU as a whole, and so does one whose trials, all of which stay
 * in the context's memory, have become too many or too large. */
#include "compile.h"

enum { ROUNDS = 12, TRIALS = 128 };
static const size_t trial_bytes = (size_t)1 << 30;

typedef struct search {
    tc_ctx *ctx;
    const tc_compiled *c; /* as it was refused */
    tc_region_judge *judge;
    const tc_region *region;
    const char *why; /* of the last refusal */
    int *trials;     /* that are left */
    size_t most;     /* bytes that may be in use before another one */
} search;

static bool may_go_on(const search *s)
{
    return *s->trials > 0 && s->ctx->arena.used < s->most;
}

/* Compiled and judged, in silence; what was said. */
static tc_status attempt(tc_ctx *ctx, tc_compiled *c, tc_region_judge *judge, size_t *failed,
                         const char **why)
{
    tc_trial trial;
    tc_trial_begin(ctx, &trial);
    tc_status status = tc_compile_regions(ctx, c, NULL, failed);
    if (status == TC_OK && judge)
        status = judge(ctx, c, failed);
    tc_trial_end(ctx, &trial);
    *why = trial.why ? trial.why : "it is refused";
    return status;
}

/* Whether the first n nodes of the region are refused by themselves. */
static bool refused(search *s, size_t n)
{
    tc_compiled c = *s->c;
    tc_map left;
    size_t failed;
    const char *why;
    --*s->trials;
    tc_map_init(&left, &s->ctx->arena);
    const tc_graph *g = tc_main(c.typed);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc->node)
            *tc_map_at(&left, tc_str_of(g->node[k]->loc->node)) = "it is not tried";
    for (size_t i = 0; i < n; i++)
        *tc_map_at(&left, tc_str_of(s->region->node[i])) =
            tc_map_get(&s->c->left, tc_str_of(s->region->node[i]));
    c.left = left;
    if (attempt(s->ctx, &c, s->judge, &failed, &why) == TC_OK)
        return false;
    s->why = why;
    return true;
}

/* The node to blame; NULL: no part of the region is refused, only the whole. */
static const char *blame(search *s)
{
    size_t good = 0, bad = s->region->n_node;
    if (!bad || !may_go_on(s) || !refused(s, bad))
        return NULL;
    while (bad - good > 1) {
        if (!may_go_on(s))
            return NULL;
        size_t middle = good + (bad - good) / 2;
        if (refused(s, middle))
            bad = middle;
        else
            good = middle;
    }
    return s->region->node[bad - 1];
}

static const tc_loc *loc_of(const tc_compiled *c, const char *name)
{
    static const tc_loc nowhere = {0};
    const tc_graph *g = tc_main(c->typed);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc->node && tc_text_eq(g->node[k]->loc->node, name))
            return g->node[k]->loc;
    return &nowhere;
}

static void leave(tc_ctx *ctx, tc_compiled *c, const char *name, const char *why)
{
    *tc_map_at(&c->left, tc_str_of(name)) = tc_text_format(&ctx->arena, "%s", why);
}

tc_status tc_fall_back(tc_ctx *ctx, tc_compiled *c, tc_region_judge *judge, size_t failed,
                       const char *why)
{
    tc_status status = TC_OK;
    int trials = TRIALS;
    size_t most = ctx->arena.used + trial_bytes;
    for (int round = 0; failed != SIZE_MAX && failed < c->n_region; round++) {
        const tc_region *region = &c->region[failed];
        search s = {ctx, c, judge, region, why, &trials, most};
        const char *name = round < ROUNDS ? blame(&s) : NULL;
        if (!name && !region->n_node)
            return tc_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_TOOL,
                            "the region '%s' is refused: %s", region->name, why);
        if (name) {
            leave(ctx, c, name, s.why);
            tc_warning(ctx, loc_of(c, name), TC_E_FALLBACK, "'%s' goes to the CPU: %s", name,
                       s.why);
        } else {
            for (size_t i = 0; i < region->n_node; i++)
                leave(ctx, c, region->node[i], why);
            tc_warning(ctx, loc_of(c, region->node[0]), TC_E_FALLBACK,
                       "the region that begins with '%s' goes to the CPU, %zu nodes: %s",
                       region->node[0], region->n_node, why);
        }
        status = attempt(ctx, c, judge, &failed, &why);
        if (status == TC_OK)
            return TC_OK;
    }
    return tc_error(ctx, &(tc_loc){.file = c->typed->file}, TC_E_TOOL, "%s", why);
}
