/* SPDX-License-Identifier: Apache-2.0 */
/* core_part.c -- an Ethos-U with a Cortex-M next to it.
 *
 * The program is split for the Ethos-U first.  What it leaves, between its regions, is split again
 * for the core; every call of a region stays as it is:
 *
 *     x -> [region_0] -> argsort, gather -> [region_1] -> y      Ethos-U and typed operators
 *     x -> [region_0] -> [core_0]        -> [region_1] -> y      calls alone */
#include "../drive/driver.h"
#include "../drive/model.h"
#include "payload.h"
#include "../drive/program_file.h"

static bool takes(void *who, const tc_graph *g, const tc_node *node, const char **why)
{
    (void)g;
    return ti_lower_can(who, node, why);
}

static tc_status split(tc_ctx *ctx, tc_compiled *core)
{
    tc_split_request request = {
        .target = core->target.name,
        .prefix = "core",
        .ask = takes,
        .who = ti_lower_ask(ctx, ti_main(core->module), &core->target),
    };
    return ti_split(ctx, core->module, &request, &core->split);
}

tc_status ti_core_part(tc_ctx *ctx, tc_compiled *c)
{
    size_t failed;
    if (!c->target.core || c->core.region)
        return TC_OK;
    TC_TRY(ti_pack_regions(ctx, c));
    if (c->n_region == 1 && c->module == c->region->module) /* it was TOSA, and all of it is taken */
        c->module = ti_program_of(ctx, c);
    tc_compiled core = *c;
    core.target = *c->target.core;
    core.work.choices = NULL;
    TC_TRY(split(ctx, &core));
    TC_TRY(ti_finish_regions(ctx, &core, NULL, &failed));
    c->core.region = core.region;
    c->core.n = core.n_region;
    for (size_t i = 0; i < c->core.n; i++)
        c->core.nodes += core.split.nodes[i];
    for (size_t k = 0; k < core.split.n_left; k++) /* a TOSA program's control flow */
        c->core.nodes += tc_ops[core.split.left[k].node->op].tosa != 0;
    c->model = ti_model_of(ctx, c->model->name, c->module);
    c->proof.of = NULL; /* it is another program now */
    return ti_verify(ctx, c->module);
}
