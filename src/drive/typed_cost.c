/* SPDX-License-Identifier: Apache-2.0 */
/* typed_cost.c -- see typed_cost.h. */
#include "typed_cost.h"

#include <math.h>

#include "price.h"
#include "road.h"

typedef struct costing {
    tc_ctx *ctx;
    const tc_compile_request *request;
    const tc_compiled *c;
    tc_pricer *pricer;
    size_t most_left, most_regions; /* of the first program that was priced */
    bool asked;
} costing;

/* Fewer nodes on the target, or more pieces, are not a saving. */
static bool runs_as_much(costing *k, const tc_compiled *t)
{
    if (!k->asked) {
        k->asked = true;
        k->most_left = t->split.n_left;
        k->most_regions = t->n_region;
    }
    return t->split.n_left <= k->most_left && t->n_region <= k->most_regions;
}

static tc_status cycles_of(void *who, const tc_module *typed, double *out)
{
    costing *k = who;
    tc_compiled t = {.target = k->c->target,
                     .asked.ethosu = k->c->asked.ethosu,
                     .request = *k->request};
    size_t failed;
    *out = INFINITY;
    t.asked.ethosu.unmade = true;
    t.module = ti_module_copy(typed);
    TC_TRY(ti_road_run(k->ctx, t.module, TC_AT_SETTLED, TC_AT_WHOLE,
                       &(tc_job){.target = &t.target}, NULL));
    t.work.typed = t.module;
    ti_map_init(&t.work.left, &k->ctx->arena);
    tc_status status = ti_compile_regions(k->ctx, &t, NULL, &failed);
    if (status != TC_OK)
        return failed != SIZE_MAX ? TC_OK : status; /* a region is refused: that is expensive */
    if (!runs_as_much(k, &t))
        return TC_OK;
    *out = 0;
    for (size_t i = 0; i < t.n_region; i++)
        *out += ti_price_cycles(k->ctx, k->pricer, t.region[i].module);
    return TC_OK;
}

tc_status ti_typed_cost(tc_ctx *ctx, const tc_compile_request *request, const tc_compiled *c,
                        tc_quant_cost *out)
{
    tc_pricer *pricer;
    *out = (tc_quant_cost){0};
    TC_TRY(ti_pricer_for(ctx, &c->target, c->asked.ethosu.ini, c->asked.ethosu.system_config,
                           c->asked.ethosu.memory_mode, &pricer));
    if (!pricer)
        return TC_OK;
    costing *k = tc_new(&ctx->arena, costing);
    *k = (costing){.ctx = ctx, .request = request, .c = c, .pricer = pricer};
    *out = (tc_quant_cost){cycles_of, k};
    return TC_OK;
}
