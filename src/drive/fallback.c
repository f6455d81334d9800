/* SPDX-License-Identifier: Apache-2.0 */
/* fallback.c -- a region that is refused as a whole, by a rule or by the machine's own compiler.
 *
 * Where our own back end names the node that it does not take, or where a stream was made but is
 * not right, and the node was found that this comes from, that node is to blame.
 * Else its nodes, in the order of the model, are tried in prefixes: the shortest one that is
 * refused ends with the node that is to blame in what stands before it.  That node goes to the CPU,
 * with the refusal as its reason, and the program is compiled anew.
 *
 * All this has so many seconds, and so many trials, all of which stay in the context's memory.
 * When they are over, the nodes behind the longest prefix that was taken go to the CPU. */
#include "driver.h"

#include <math.h>

enum { ROUNDS = 12, TRIALS = 128, SECONDS = 60 };
static const size_t trial_bytes = (size_t)1 << 30;

typedef struct search {
    tc_ctx *ctx;
    const tc_compiled *c; /* as it was refused */
    tc_region_judge *judge;
    const tc_region *region;
    const char *why; /* of the last refusal */
    int *trials;     /* that are left */
    size_t most;     /* bytes that may be in use before another one */
    size_t good;     /* the longest prefix that is known to be taken */
    bool cut_short;
} search;

double ti_search_seconds(const tc_compiled *c)
{
    return c->ethosu.search > 0 ? c->ethosu.search : SECONDS;
}

static bool may_go_on(const search *s)
{
    return *s->trials > 0 && s->ctx->arena.used < s->most && !ti_clock_past(s->c->search_until) &&
           ti_tell_progress(s->ctx, "parts tried to find what is refused",
                            (size_t)(TRIALS - *s->trials), TRIALS) == TC_OK;
}

/* Compiled and judged, in silence; what was said. */
static tc_status attempt(tc_ctx *ctx, tc_compiled *c, tc_region_judge *judge, size_t *failed,
                         const char **why)
{
    tc_trial trial;
    c->jobs = NULL; /* of regions that are no more */
    ti_trial_begin(ctx, &trial);
    tc_status status = ti_compile_regions(ctx, c, NULL, failed);
    if (status == TC_OK && judge)
        status = judge(ctx, c, failed);
    ti_trial_end(ctx, &trial);
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
    c.prefix_only = true;
    ti_map_init(&left, &s->ctx->arena);
    const tc_graph *g = ti_main(c.typed);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc->node)
            *ti_map_at(&left, ti_str_of(g->node[k]->loc->node)) = "it is not tried";
    for (size_t i = 0; i < n; i++)
        *ti_map_at(&left, ti_str_of(s->region->node[i])) =
            ti_map_get(&s->c->left, ti_str_of(s->region->node[i]));
    c.left = left;
    if (attempt(s->ctx, &c, s->judge, &failed, &why) == TC_OK)
        return false;
    s->why = why;
    return true;
}

/* The node that is named with a refusal, where it is one of the region. */
static const char *named(const tc_compiled *c, tc_region_judge *judge, size_t region)
{
    const tc_ethosu_job *jobs = judge ? c->jobs : NULL;
    const char *name = jobs && jobs[region].refused ? jobs[region].blamed : NULL;
    const tc_region *r = &c->region[region];
    for (size_t i = 0; name && i < r->n_node; i++)
        if (ti_text_eq(r->node[i], name))
            return r->node[i];
    return NULL;
}

/* The node to blame; NULL: no part of the region is refused, only the whole, or the search was cut
 * short. */
static const char *blame(search *s)
{
    size_t bad = s->region->n_node;
    s->good = 0;
    s->cut_short = !may_go_on(s);
    if (!bad || s->cut_short || !refused(s, bad))
        return NULL;
    while (bad - s->good > 1) {
        s->cut_short = !may_go_on(s);
        if (s->cut_short)
            return NULL;
        size_t middle = s->good + (bad - s->good) / 2;
        if (refused(s, middle))
            bad = middle;
        else
            s->good = middle;
    }
    return s->region->node[bad - 1];
}

static const tc_loc *loc_of(const tc_compiled *c, const char *name)
{
    static const tc_loc nowhere = {0};
    const tc_graph *g = ti_main(c->typed);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc->node && ti_text_eq(g->node[k]->loc->node, name))
            return g->node[k]->loc;
    return &nowhere;
}

static void leave(tc_ctx *ctx, tc_compiled *c, const char *name, const char *why)
{
    *ti_map_at(&c->left, ti_str_of(name)) = ti_text_format(&ctx->arena, "%s", why);
}

static void leave_one(tc_ctx *ctx, tc_compiled *c, const char *name, const char *why)
{
    leave(ctx, c, name, why);
    ti_warning(ctx, loc_of(c, name), TC_E_FALLBACK, "'%s' goes to the CPU: %s", name, why);
}

/* Our own back end says of every region at once which node it does not take. */
static bool leave_refused(tc_ctx *ctx, tc_compiled *c, tc_region_judge *judge)
{
    bool any = false;
    for (size_t i = 0; judge && c->jobs && i < c->n_region; i++) {
        const char *name = c->jobs[i].own && c->jobs[i].why ? named(c, judge, i) : NULL;
        if (name)
            leave_one(ctx, c, name, c->jobs[i].why);
        any = any || name;
    }
    return any;
}

/* The nodes from the first that is not known to be good. */
static void leave_rest(const search *s, tc_compiled *c, const char *why)
{
    const tc_region *r = s->region;
    size_t n = r->n_node - s->good;
    for (size_t i = s->good; i < r->n_node; i++)
        leave(s->ctx, c, r->node[i], why);
    ti_warning(s->ctx, loc_of(c, r->node[s->good]), TC_E_FALLBACK,
               s->good ? "everything after '%s' in its region goes to the CPU, %zu node%s: %s"
                       : "the region that begins with '%s' goes to the CPU, %zu node%s: %s",
               r->node[s->good], n, n == 1 ? "" : "s", why);
    if (s->cut_short)
        ti_note(s->ctx, NULL,
                "the refused part was not found within %d trials; --refusal-seconds %.0f gives "
                "more time",
                TRIALS - *s->trials, ceil(10 * ti_search_seconds(c)));
}

tc_status ti_fall_back(tc_ctx *ctx, tc_compiled *c, tc_region_judge *judge, size_t failed,
                       const char *why)
{
    tc_status status = TC_OK;
    int trials = TRIALS;
    size_t most = ctx->arena.used + trial_bytes;
    if (c->search_until == 0)
        c->search_until = ti_clock() + ti_search_seconds(c);
    for (int round = 0; failed != SIZE_MAX && failed < c->n_region;) {
        const tc_region *region = &c->region[failed];
        search s = {ctx, c, judge, region, why, &trials, most, 0, round >= ROUNDS};
        if (!may_go_on(&s) || !leave_refused(ctx, c, judge)) {
            const char *name = round < ROUNDS ? named(c, judge, failed) : NULL;
            if (!name && round < ROUNDS)
                name = blame(&s);
            TC_TRY(ti_go_on(ctx));
            if (!name && !region->n_node)
                return ti_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_TOOL,
                                "the region '%s' is refused: %s", region->name, why);
            if (name)
                leave_one(ctx, c, name, s.why);
            else
                leave_rest(&s, c, why);
            round++;
        }
        trials--;
        TC_TRY(ti_tell_progress(ctx, "parts tried to find what is refused",
                                (size_t)(trials < 0 ? TRIALS : TRIALS - trials), TRIALS));
        status = attempt(ctx, c, judge, &failed, &why);
        if (status == TC_OK)
            return TC_OK;
    }
    return ti_error(ctx, &(tc_loc){.file = c->typed->file}, TC_E_TOOL, "%s", why);
}
