/* SPDX-License-Identifier: Apache-2.0 */
/* fallback.c -- a region that is refused, by a rule or by the back end of Ethos-U.
 *
 * A refusal names the node that it comes from: that node goes to the CPU, with the refusal as its
 * reason, and the program is compiled anew, until nothing is refused.  Where no node of the region
 * is named, and after ROUNDS of this, the whole region goes there. */
#include "driver.h"

#include "own_backend.h"

enum { ROUNDS = 128 };

/* Compiled, without messages.  *refusal: what a rule said, where one refuses a region. */
static tc_status attempt(tc_ctx *ctx, tc_compiled *c, size_t *failed, tc_refusal *refusal)
{
    tc_trial trial;
    ti_trial_begin(ctx, &trial);
    tc_status status = ti_compile_regions(ctx, c, NULL, failed);
    ti_trial_end(ctx, &trial);
    *refusal = (tc_refusal){trial.why ? trial.why : "it is refused", trial.node};
    return status;
}

static const tc_loc *loc_of(const tc_compiled *c, const char *name)
{
    static const tc_loc nowhere = {0};
    const tc_graph *g = ti_main(c->work.typed);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc->node && ti_text_eq(g->node[k]->loc->node, name))
            return g->node[k]->loc;
    return &nowhere;
}

/* The node that a refusal names, where it is one of the region. */
static const char *named(const tc_region *region, const char *node)
{
    for (size_t i = 0; node && i < region->n_node; i++)
        if (ti_text_eq(region->node[i], node))
            return region->node[i];
    return NULL;
}

static void leave_node(tc_compiled *c, const char *name, const char *why)
{
    *ti_map_at(&c->work.left, ti_str_of(name)) = (void *)(uintptr_t)why;
}

static tc_status leave(tc_ctx *ctx, tc_compiled *c, const tc_region *region,
                       const tc_refusal *refusal, bool whole)
{
    const char *name = whole ? NULL : named(region, refusal->node);
    if (name) {
        leave_node(c, name, refusal->why);
        ti_warning(ctx, loc_of(c, name), TC_E_FALLBACK, "'%s' goes to the CPU: %s", name,
                   refusal->why);
        return TC_OK;
    }
    if (!region->n_node)
        return ti_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                              "the region '%s' is refused: %s", region->name, refusal->why);
    for (size_t i = 0; i < region->n_node; i++)
        leave_node(c, region->node[i], refusal->why);
    ti_warning(ctx, loc_of(c, region->node[0]), TC_E_FALLBACK,
               "the region that begins with '%s' goes to the CPU, %zu node%s: %s", region->node[0],
               region->n_node, region->n_node == 1 ? "" : "s", refusal->why);
    return TC_OK;
}

/* The back end reports for every region at once what it does not take; *any: there is something. */
static tc_status leave_refused(tc_ctx *ctx, tc_compiled *c, bool whole, bool *any)
{
    *any = false;
    for (size_t i = 0; i < c->n_region; i++) {
        tc_refusal refusal = ti_own_refusal(ctx, &c->region[i]);
        if (refusal.why)
            TC_TRY(leave(ctx, c, &c->region[i], &refusal, whole));
        *any = *any || refusal.why;
    }
    return TC_OK;
}

tc_status ti_fall_back(tc_ctx *ctx, tc_compiled *c, size_t failed, const tc_refusal *by_rule)
{
    tc_refusal refusal = by_rule ? *by_rule : (tc_refusal){0};
    for (size_t round = 0;; round++) {
        bool whole = round >= ROUNDS, any = true;
        if (failed != SIZE_MAX)
            TC_TRY(leave(ctx, c, &c->region[failed], &refusal, whole));
        else if (!by_rule)
            TC_TRY(leave_refused(ctx, c, whole, &any));
        if (!any)
            return TC_OK;
        TC_TRY(ti_tell_progress(ctx, "refused parts left to the CPU", round, ROUNDS));
        tc_status status = attempt(ctx, c, &failed, &refusal);
        TC_TRY(ti_go_on(ctx));
        if (status == TC_OK && by_rule)
            return TC_OK;
        if (status == TC_BUG && failed == SIZE_MAX)
            return ti_bug(ctx, NULL, "%s", refusal.why);
        if (status != TC_OK && failed == SIZE_MAX)
            return ti_unsupported(ctx, &(tc_loc){.file = c->work.typed->file}, TC_E_UNSUPPORTED, "%s",
                                  refusal.why);
    }
}
