/* SPDX-License-Identifier: Apache-2.0 */
/* typed_cost.c -- see typed_cost.h. */
#include "typed_cost.h"

#include <math.h>

#include "../base/attempt.h"
#include "core_cost.h"
#include "price.h"
#include "road.h"

typedef struct costing {
    tc_ctx *ctx;
    const tc_compile_request *request;
    const tc_compiled *c;
    tc_pricer *pricer; /* NULL: the target is a core */
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

/* The program lowered; *taken: as much of it runs as of the first one. */
static tc_status lower(costing *k, const tc_module *typed, tc_compiled *t, bool *taken)
{
    *t = (tc_compiled){.target = k->c->target,
                       .asked.ethosu = k->c->asked.ethosu,
                       .request = *k->request};
    size_t failed;
    *taken = false;
    t->asked.ethosu.unmade = true;
    t->module = ti_module_copy(typed);
    TC_TRY(ti_road_run(k->ctx, t->module, TC_AT_SETTLED, TC_AT_WHOLE,
                       &(tc_job){.target = &t->target}, NULL));
    t->work.typed = t->module;
    ti_map_init(&t->work.left, &k->ctx->arena);
    tc_status status = ti_compile_regions(k->ctx, t, NULL, &failed);
    if (status != TC_OK)
        return failed != SIZE_MAX ? TC_OK : status; /* a region is refused: that is expensive */
    *taken = runs_as_much(k, t);
    return TC_OK;
}

/* ---- by layer ---- */

/* The layer's figures, by the name of its node; NULL: it is none of them. */
static tc_bytes_cycles *part_of(const tc_map *layers, const tc_node *node)
{
    return node && node->loc && node->loc->node
               ? ti_map_get(layers, ti_str_of(node->loc->node))
               : NULL;
}

/* whole: as it will be made, with cascades, whose memory counts. */
static void add_region(costing *k, const tc_module *region, const tc_map *layers, bool whole,
                       tc_bytes_cycles *all)
{
    tc_codegen_price price;
    tc_codegen_options options = k->pricer->options;
    options.cascades = options.cascades || whole;
    ti_codegen_price(k->ctx, &options, ti_main(region), &price);
    if (price.refused) {
        *all = (tc_bytes_cycles){INFINITY, INFINITY, INFINITY};
        return;
    }
    all->bytes += (double)price.constants;
    all->cycles += price.cost.total.cycles;
    all->memory = fmax(all->memory, (double)price.memory);
    for (size_t i = 0; i < price.n_share; i++) {
        tc_bytes_cycles *part = part_of(layers, price.share[i].node);
        if (part)
            part->bytes += (double)price.share[i].bytes;
    }
    for (size_t i = 0; i < price.cost.n_op; i++) {
        tc_bytes_cycles *part = part_of(layers, price.node[i]);
        if (part)
            part->cycles += price.cost.op[i].cost.cycles;
    }
}

/* All regions in C. */
static tc_status add_core(costing *k, const tc_compiled *t, const tc_map *layers,
                          tc_bytes_cycles *all)
{
    tc_core_cost cost;
    TC_TRY(ti_core_cost(k->ctx, t, &cost));
    *all = (tc_bytes_cycles){(double)(cost.constants + cost.code), cost.cycles, 0};
    for (size_t i = 0; i < cost.n_part; i++)
        for (size_t s = 0; s < cost.part[i].n_cost; s++) {
            const tc_c_cost *step = &cost.part[i].cost[s];
            tc_bytes_cycles *part = part_of(layers, step->node);
            if (part) {
                part->bytes += step->weights;
                part->cycles += step->instructions * t->target.machine->cycles.about;
            }
        }
    return TC_OK;
}

typedef struct asking {
    costing *k;
    const tc_module *typed;
    const char *const *name;
    size_t n;
    tc_bytes_cycles *layer, *all;
} asking;

static tc_status ask(void *what)
{
    asking *a = what;
    costing *k = a->k;
    tc_map layers;
    tc_compiled t;
    bool taken;
    memset(a->layer, 0, a->n * sizeof *a->layer);
    *a->all = (tc_bytes_cycles){INFINITY, INFINITY, INFINITY};
    ti_map_init(&layers, &k->ctx->arena);
    for (size_t i = 0; i < a->n; i++)
        *ti_map_at(&layers, ti_str_of(a->name[i])) = &a->layer[i];
    TC_TRY(lower(k, a->typed, &t, &taken));
    if (!taken)
        return TC_OK;
    *a->all = (tc_bytes_cycles){0, 0, 0};
    for (size_t i = 0; i < t.n_region && k->pricer; i++)
        add_region(k, t.region[i].module, &layers, !a->n, a->all);
    return k->pricer ? TC_OK : add_core(k, &t, &layers, a->all);
}

static tc_status by_layers(void *who, const tc_module *typed, const char *const *name, size_t n,
                           tc_bytes_cycles *layer, tc_bytes_cycles *all)
{
    costing *k = who;
    asking a = {k, typed, name, n, layer, all};
    tc_attempt attempt; /* many are asked one after the other: its memory serves the next */
    ti_attempt_begin(k->ctx, &attempt);
    tc_status status = ask(&a);
    ti_attempt_end(k->ctx, &attempt);
    return status == TC_OK || status == TC_CANCELLED ? status : ask(&a);
}

tc_status ti_typed_cost(tc_ctx *ctx, const tc_compile_request *request, const tc_compiled *c,
                        tc_quant_cost *out)
{
    tc_pricer *pricer;
    bool core = c->target.machine->packing == TC_PACKED_C;
    *out = (tc_quant_cost){0};
    TC_TRY(ti_pricer_for(ctx, &c->target, c->asked.ethosu.ini, c->asked.ethosu.system_config,
                           c->asked.ethosu.memory_mode, &pricer));
    if (!pricer && !core)
        return TC_OK;
    costing *k = tc_new(&ctx->arena, costing);
    *k = (costing){.ctx = ctx, .request = request, .c = c, .pricer = pricer};
    *out = (tc_quant_cost){by_layers, k, core};
    return TC_OK;
}
