/* SPDX-License-Identifier: Apache-2.0 */
/* own_backend.c -- see own_backend.h. */
#include "own_backend.h"

#include <math.h>

#include "../base/attempt.h"
#include "../npu/cost.h"
#include "road.h"
#include "verdicts.h"

static tc_status find_system(tc_ctx *ctx, const tc_compiled *c, tc_npu_system *out)
{
    const tc_ethosu_options *o = &c->asked.ethosu;
    return ti_npu_system_find(ctx, c->target.npu, o->ini, o->system_config, o->memory_mode, out);
}

static tc_status find_options(tc_ctx *ctx, const tc_compiled *c, tc_codegen_options *out)
{
    const tc_ethosu_options *o = &c->asked.ethosu;
    tc_pricer *pricer = c->work.choices ? c->work.choices->pricer : NULL;
    if (!pricer)
        TC_TRY(ti_pricer_for(ctx, &c->target, o->ini, o->system_config, o->memory_mode, &pricer));
    *out = pricer->options;
    out->size = ti_ethosu_for_size(o);
    out->products = o->products;
    out->marks = o->marks;
    out->max_scratch = o->max_scratch;
    return TC_OK;
}

tc_status ti_own_generate(tc_ctx *ctx, const tc_compiled *c, const tc_graph *g,
                          const tc_codegen_shared *before, tc_codegen_result *out)
{
    tc_codegen_options options;
    TC_TRY(find_options(ctx, c, &options));
    options.before = before;
    *out = (tc_codegen_result){0};
    return ti_codegen(ctx, &options, g, out);
}

/* ---- what a region may be made of ---- */

static const char *refuses(tc_ctx *ctx, const void *who, const tc_graph *g)
{
    return ti_codegen_refuses(ctx, who, g);
}

tc_status ti_own_judges(tc_ctx *ctx, tc_compiled *c)
{
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return TC_OK;
    tc_codegen_options *options = tc_new(&ctx->arena, tc_codegen_options);
    TC_TRY(find_options(ctx, c, options));
    c->target.back_end = refuses;
    c->target.who = options;
    return TC_OK;
}

/* ---- a region ---- */

/* What the target's rules refuse is not asked about. */
static const char *against_rules(tc_ctx *ctx, const tc_compiled *c, const tc_region *region)
{
    tc_trial trial;
    tc_module *m = region->module;
    ti_trial_begin(ctx, &trial);
    tc_status status = ti_road_run(ctx, m, TC_AT_TOSA, TC_AT_LEGAL,
                                   &(tc_job){.target = &c->target}, NULL);
    ti_trial_end(ctx, &trial);
    for (size_t i = 0; i < m->n_graph; i++)
        m->graph[i]->facts &= ~(uint32_t)TC_FACT_LEGAL; /* it continues on the road */
    return status == TC_OK ? NULL : trial.why ? trial.why : "the target's rules refuse it";
}

/* Region 0 (shared constants) as left by earlier regions and earlier methods; NULL: nothing is
 * shared. */
static const tc_codegen_shared *left_by(const tc_compiled *c, const tc_region *region)
{
    static const tc_codegen_shared nothing = {0};
    size_t i = (size_t)(region - c->region);
    if (!c->asked.ethosu.share_weights || !c->request.method)
        return NULL;
    for (const tc_compiled *m = c;; i = m->n_region) {
        while (i-- > 0)
            if (ti_own_takes(&m->region[i]))
                return &m->region[i].own->shared;
        m = m == c ? c->request.beside : m->asked.beside;
        if (!m)
            return &nothing;
    }
}

/* ---- in tiles, or in one piece ---- */

static const struct {
    unsigned tiles;
    const char *pass;
} tilings[] = {{TC_TILE_MOVES, "tile-transposes"}, {TC_TILE_HEADS, "tile-attention"}};

/* What is left untiled, from everything tiled to nothing tiled: where heads are not tiled, tiling
 * their transposes does not pay either. */
static const unsigned ways[] = {0, TC_TILE_MOVES, TC_TILE_MOVES | TC_TILE_HEADS};
enum { WAYS = TC_COUNT(ways) };

/* So many more cycles are accepted to reuse weights that exist already; so much more memory is
 * accepted for fewer cycles, and few_bytes always are. */
static const double fair_cycles = 1.05, fair_memory = 1.25, few_bytes = 16 * 1024;

typedef struct way_trial {
    tc_ctx *ctx;
    const tc_compiled *c;
    const tc_region *region;
    unsigned acts;        /* tilings that change something */
    unsigned untiled;
    double cycles, bytes; /* of the price; INFINITY: the back end refuses it */
} way_trial;

static tc_status try_acts(void *what)
{
    way_trial *t = what;
    tc_module *still = ti_module_copy(t->region->module);
    TC_TRY(ti_run_passes(t->ctx, still, "remove-dead-code", NULL));
    t->acts = 0;
    for (size_t i = 0; i < TC_COUNT(tilings); i++) {
        tc_module *m = ti_module_copy(still);
        TC_TRY(ti_run_passes(t->ctx, m, tilings[i].pass, NULL));
        TC_TRY(ti_run_passes(t->ctx, m, "remove-dead-code", NULL));
        if (!ti_graph_same(ti_main(m), ti_main(still)))
            t->acts |= tilings[i].tiles;
    }
    return TC_OK;
}

static tc_status try_way(void *what)
{
    way_trial *t = what;
    tc_codegen_price price;
    tc_codegen_options options;
    tc_ctx *ctx = t->ctx;
    tc_module *m = ti_module_copy(t->region->module);
    tc_job job = {.target = &t->c->target, .untiled = t->untiled};
    TC_TRY(ti_road_run(ctx, m, TC_AT_REGION, TC_AT_TOSA, &job, NULL));
    TC_TRY(find_options(ctx, t->c, &options));
    options.before = left_by(t->c, t->region);
    options.cascades = true;
    ti_codegen_price(ctx, &options, ti_main(m), &price);
    if (price.refused)
        return TC_OK;
    t->cycles = price.cost.total.cycles;
    t->bytes = (double)price.memory;
    return TC_OK;
}

/* The quickest of those that take little memory; of equal ones the first. */
static size_t best_way(const way_trial way[WAYS], bool for_size)
{
    double least = INFINITY, cycles = INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < WAYS; i++)
        least = fmin(least, way[i].bytes);
    double most = for_size ? least : fmax(fair_memory * least, least + few_bytes);
    for (size_t i = 0; i < WAYS; i++)
        if (way[i].bytes <= most && way[i].cycles < cycles) {
            best = i;
            cycles = way[i].cycles;
        }
    return best;
}

/* Records what each tiling saves: each step from one way to the next. */
static void tell(tc_ctx *ctx, const tc_compiled *c, const way_trial way[WAYS], unsigned untiled)
{
    for (size_t i = 0; i < TC_COUNT(tilings) && c->work.choices; i++)
        if (way->acts & tilings[i].tiles)
            ti_verdicts_add(ctx, c->work.choices,
                            &(tc_verdict){.form = tilings[i].pass,
                                          .region = ti_main(way->region->module)->name,
                                          .places = 1,
                                          .without = way[i + 1].cycles,
                                          .with = way[i].cycles,
                                          .taken = !(untiled & tilings[i].tiles)});
}

tc_status ti_own_untiled(tc_ctx *ctx, const tc_compiled *c, const tc_region *region,
                         unsigned *untiled)
{
    way_trial way[WAYS] = {{ctx, c, region, 0, 0, INFINITY, INFINITY}};
    *untiled = 0;
    if (c->target.machine->packing != TC_PACKED_STREAM || c->asked.ethosu.unmade)
        return TC_OK;
    TC_TRY(ti_attempt_work(ctx, try_acts, way));
    if (!way->acts)
        return TC_OK;
    for (size_t i = 0; i < WAYS; i++) {
        bool same = i && !((ways[i] ^ ways[i - 1]) & way->acts);
        way[i] = i ? way[i - 1] : *way;
        if (same)
            continue;
        way[i].untiled = ways[i];
        way[i].cycles = way[i].bytes = INFINITY;
        TC_TRY(ti_attempt_work(ctx, try_way, &way[i]));
    }
    size_t best = best_way(way, ti_ethosu_for_size(&c->asked.ethosu)), whole = WAYS - 1;
    if (left_by(c, region) && way[whole].cycles <= fair_cycles * way[best].cycles)
        best = whole;
    *untiled = ways[best];
    tell(ctx, c, way, *untiled);
    return TC_OK;
}

/* ---- */

/* Records the forms of its operations. */
static void tell_forms(tc_ctx *ctx, const tc_compiled *c, const tc_region *region)
{
    for (size_t i = 0; i < region->own->n_form && c->work.choices; i++) {
        const tc_codegen_form *f = &region->own->form[i];
        ti_verdicts_add(ctx, c->work.choices,
                        &(tc_verdict){.form = f->name,
                                      .region = ti_main(region->module)->name,
                                      .node = f->node,
                                      .shape = f->type ? ti_type_text(&ctx->arena, f->type) : "",
                                      .places = f->places,
                                      .without = f->without,
                                      .with = f->with,
                                      .taken = f->taken});
    }
}

tc_status ti_own_ask(tc_ctx *ctx, const tc_compiled *c, tc_region *region)
{
    region->own = NULL;
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return TC_OK;
    region->own = tc_new(&ctx->arena, tc_codegen_result);
    region->own->refused = against_rules(ctx, c, region);
    if (region->own->refused)
        return TC_OK;
    if (c->asked.ethosu.unmade) {
        tc_codegen_options options;
        TC_TRY(find_options(ctx, c, &options));
        region->own->refused = ti_codegen_refuses(ctx, &options, ti_main(region->module));
        return TC_OK;
    }
    TC_TRY(ti_own_generate(ctx, c, ti_main(region->module), left_by(c, region), region->own));
    tell_forms(ctx, c, region);
    return TC_OK;
}

tc_refusal ti_own_refusal(tc_ctx *ctx, const tc_region *region)
{
    const tc_codegen_result *own = region->own;
    const tc_node *node = own ? own->refused_node : NULL;
    if (!own || !own->refused)
        return (tc_refusal){0};
    return node ? (tc_refusal){ti_text_format(&ctx->arena, "our own back end does not take '%s': %s",
                                              tc_ops[node->op].name, own->refused),
                               node->loc->node}
                : (tc_refusal){ti_text_format(&ctx->arena, "our own back end does not take it: %s",
                                              own->refused),
                               NULL};
}

/* ---- what it made ---- */

/* A tensor of the program is the region's value with this index. */
static bool same_side(const tc_graph *g, const tc_val *v, size_t n, const tc_npu_tensor *t,
                      size_t found)
{
    bool same = n == found;
    for (size_t i = 0; same && i < n; i++) {
        const tc_type *type = ti_type_of(g, v[i]);
        int64_t each = type->dtype == TC_i48 ? 8 : tc_dtypes[type->dtype].bytes;
        same = t[i].element_bytes == each && t[i].bytes == each * tc_type_count(type);
    }
    return same;
}

/* Bytes of the arenas that are in SRAM. */
static double sram_of(const tc_npu_program *p, const tc_npu_system *system)
{
    const int64_t bytes[] = {0, p->scratch, p->fast > 0 ? p->fast : 0};
    double sum = 0;
    for (int i = 1; i < 3; i++) {
        const char *name = system->memory[system->of_region[i]].name;
        sum += name && ti_text_eq(name, "Sram") ? (double)bytes[i] : 0;
    }
    return sum;
}

tc_status ti_own_pack(tc_ctx *ctx, const tc_compiled *c, const tc_codegen_result *own,
                      tc_ethosu_job *job)
{
    tc_npu_program file = own->program, p;
    tc_npu_system system;
    tc_npu_stream_cost cost;
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = job->graph->name;
    file.fast = -1; /* ExecuTorch has no memory for it */
    job->payload = ti_npu_backend_payload(&ctx->arena, &file);
    TC_TRY(ti_npu_read_backend(ctx, loc, job->payload, &p));
    p.fast = own->program.fast > 0 ? own->program.fast : 0;
    if (!same_side(job->graph, job->graph->in, job->graph->n_in, p.in, p.n_in) ||
        !same_side(job->graph, job->graph->out, job->graph->n_out, p.out, p.n_out))
        return ti_bug(ctx, loc, "our own back end made a program with other inputs or outputs than "
                                "the region's");
    job->scratch = p.scratch;
    job->fast_scratch = p.fast;
    job->weights = (int64_t)(p.weights.size - own->taken);
    TC_TRY(find_system(ctx, c, &system));
    const char *wrong = ti_npu_cost_stream(&ctx->arena, &p, &system, &cost);
    if (wrong)
        return ti_bug(ctx, loc, "the stream of our own back end is not one: %s", wrong);
    const tc_npu_cost all = ti_npu_cost_repeated(&cost.total, job->times);
    job->cycles = rint(all.cycles);
    tc_npu_band band = ti_npu_band(&all);
    job->cycles_low = band.low;
    job->cycles_high = band.high;
    job->macs = all.macs;
    job->sram_kib = sram_of(&p, &system) / 1024;
    job->inferences_per_second = job->cycles > 0 ? system.clock / job->cycles : 0;
    return TC_OK;
}

const tc_node *ti_own_node(const tc_codegen_result *own, size_t word)
{
    size_t n = ti_npu_records_upto(own->origin, own->n_origin, sizeof *own->origin, word);
    return n ? own->origin[n - 1].node : NULL;
}

tc_bytes ti_own_lines(tc_ctx *ctx, const tc_codegen_result *own)
{
    tc_buf b;
    const tc_loc *last = NULL;
    ti_buf_init(&b, &ctx->arena);
    for (size_t i = 0; i < own->n_origin; i++) {
        const tc_loc *loc = own->origin[i].node ? own->origin[i].node->loc : NULL;
        if (!loc || loc == last)
            continue;
        const char *part[] = {loc->node, loc->target, loc->module, loc->place};
        ti_buf_printf(&b, "%zu", (size_t)own->origin[i].word);
        for (size_t k = 0; k < TC_COUNT(part); k++)
            ti_buf_printf(&b, "\t%s", part[k] ? part[k] : "");
        ti_buf_text(&b, "\n");
        last = loc;
    }
    return (tc_bytes){b.data, b.size};
}
