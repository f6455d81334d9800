/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c -- see passes.h. */
#include "passes.h"

#include "../base/attempt.h"
#include "../ir/rewrite.h"

#define PASS(folder, function, ...)                                                                \
    extern tc_status ti_##folder##_##function(tc_ctx *ctx, tc_module *module);
#define STAGE(function, ...)                                                                       \
    extern tc_status ti_stage_##function(tc_ctx *ctx, tc_module *module, const tc_job *job);
#include "passes.def"

/* Names of the table's enumerators. */
enum {
    NONE = 0,
#define FACT(name, how, doc) name = TC_FACT_##name,
#include "../ir/fact.def"
    EXACT = TC_EXACT,
    CLOSE = TC_CLOSE,
    APPROX = TC_APPROX,
    NOTHING = 0,
    TARGET = TC_WANTS_TARGET,
    CONFIG = TC_WANTS_CONFIG,
    SAMPLES = TC_WANTS_SAMPLES
};

const tc_pass tc_passes[] = {
#define PASS(folder, function, name, needs, gives, breaks, numbers, doc)                           \
    {name, ti_##folder##_##function, NULL, 0, needs, gives, breaks, (tc_numbers)numbers, doc},
#define STAGE(function, name, wants, needs, gives, breaks, numbers, doc)                           \
    {name, NULL, ti_stage_##function, wants, needs, gives, breaks, (tc_numbers)numbers, doc},
#include "passes.def"
    {0},
};

const tc_pass_list tc_pass_lists[] = {
#define LIST(name, passes, doc) {#name, passes, doc},
#define WHEN(name, doc)
#define POINT(name, doc)
#define STEP(when, passes)
#include "road.def"
    {0},
};

/* What the job does not have; 0: nothing is missing. */
static uint32_t missing(const tc_pass *pass, const tc_job *job)
{
    uint32_t has = (job && job->target ? TC_WANTS_TARGET : 0u) |
                   (job && job->config ? TC_WANTS_CONFIG : 0u) |
                   (job && job->samples ? TC_WANTS_SAMPLES : 0u);
    return pass->wants & ~has;
}

static tc_status check_wants(tc_ctx *ctx, const tc_pass *pass, const tc_job *job)
{
    uint32_t lacks = missing(pass, job);
    return !lacks ? TC_OK
                  : ti_usage(ctx, "the pass '%s' needs %s", pass->name,
                             lacks & TC_WANTS_TARGET    ? "a target"
                             : lacks & TC_WANTS_SAMPLES ? "calibration data"
                                                        : "how to quantize");
}

static tc_status check_needs(tc_ctx *ctx, const tc_module *module, const tc_pass *pass)
{
    for (size_t i = 0; i < module->n_graph; i++) {
        uint32_t missing = pass->needs & ~module->graph[i]->facts;
        for (int bit = 0; bit < TC_FACT_COUNT; bit++)
            if (missing & 1u << bit)
                return ti_usage(ctx, "the pass '%s' needs %s (%s), which does not hold for '%s'",
                                pass->name, tc_fact_names[bit], tc_fact_docs[bit],
                                module->graph[i]->name);
    }
    return TC_OK;
}

/* The state of a module before a pass. */
typedef struct moment {
    tc_footing footing;
    size_t n_message;
    tc_module module;      /* its record, byte by byte */
    const tc_graph *graph; /* the graphs' records, in scratch memory */
} moment;

static void take_moment(tc_ctx *ctx, const tc_module *module, moment *m)
{
    tc_graph *g = tc_new_n(&ctx->scratch, tc_graph, module->n_graph);
    for (size_t i = 0; i < module->n_graph; i++)
        g[i] = *module->graph[i];
    memcpy(&m->module, module, sizeof *module);
    m->graph = g;
    m->n_message = ctx->n_message;
    ti_footing_take(ctx, &m->footing);
}

/* Whether all nodes are the same as before.  Nodes that were not made `anew` may have been changed
 * in place. */
static bool is_same(const tc_module *module, const moment *before, bool *anew)
{
    bool same = module->n_graph == before->module.n_graph;
    *anew = true;
    for (size_t i = 0; same && i < module->n_graph; i++) {
        *anew = *anew && module->graph[i]->node != before->graph[i].node;
        same = *anew && ti_graph_same(&before->graph[i], module->graph[i]);
    }
    return same;
}

/* With no new fact and the same nodes the module has been verified already. */
static bool has_new_facts(const tc_module *module, const moment *before)
{
    for (size_t i = 0; i < module->n_graph; i++)
        if (module->graph[i]->facts & ~before->graph[i].facts)
            return true;
    return false;
}

/* Restores the old nodes in place of equal new ones, which are dropped with all else that the pass
 * has made.  Not where it has given a message or changed the module itself. */
static void take_back(tc_ctx *ctx, tc_module *module, const moment *before)
{
    if (ctx->n_message != before->n_message ||
        memcmp(module, &before->module, sizeof *module) != 0)
        return;
    for (size_t i = 0; i < module->n_graph; i++) {
        uint32_t facts = module->graph[i]->facts;
        *module->graph[i] = before->graph[i];
        module->graph[i]->facts = facts;
    }
    ti_footing_back(ctx, &before->footing);
}

/* Each finds the facts it needs, leaves the facts it promises, and hands on a verified module. */
static tc_status run_pass(tc_ctx *ctx, tc_module *module, const tc_pass *pass,
                          const tc_job *job, const tc_trace *trace)
{
    TC_TRY(ti_go_on(ctx));
    TC_TRY(check_wants(ctx, pass, job));
    TC_TRY(check_needs(ctx, module, pass));
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    moment before;
    take_moment(ctx, module, &before);
    bool anew;
    TC_TRY(pass->run ? pass->run(ctx, module) : pass->stage(ctx, module, job));
    uint32_t breaks = pass->breaks | TC_FACT_LEGAL; /* whatever a pass changes */
    for (size_t i = 0; i < module->n_graph; i++)
        module->graph[i]->facts = (module->graph[i]->facts & ~breaks) | pass->gives;
    bool same = is_same(module, &before, &anew);
    bool verified = same && !has_new_facts(module, &before);
    if (same && anew && pass->run)
        take_back(ctx, module, &before);
    else
        module->changed++;
    ti_arena_rewind(&ctx->scratch, mark);
    if (!verified && ti_verify(ctx, module) != TC_OK)
        return ti_bug(ctx, &(tc_loc){.file = module->file},
                      "the pass '%s' made a graph that does not verify", pass->name);
    module->verified++;
    return trace ? trace->after(trace->user, module, pass) : TC_OK;
}

static const char *name_near(const char *name)
{
    const char *near = NULL;
    size_t best = 4;
    for (const tc_pass *p = tc_passes; p->name; p++) {
        size_t distance = ti_text_distance(name, p->name);
        if (distance < best) {
            best = distance;
            near = p->name;
        }
    }
    return near;
}

/* "fold-constants" or "fold_constants". */
static bool is_name(tc_str spelled, const char *name)
{
    size_t i = 0;
    for (; i < spelled.n && name[i]; i++)
        if ((spelled.p[i] == '_' ? '-' : spelled.p[i]) != name[i])
            return false;
    return i == spelled.n && !name[i];
}

static const tc_pass *find_pass(tc_str name)
{
    for (const tc_pass *p = tc_passes; p->name; p++)
        if (is_name(name, p->name))
            return p;
    return NULL;
}

static tc_status run_named(tc_ctx *ctx, tc_module *module, tc_str name, const tc_job *job,
                           const tc_trace *trace)
{
    for (const tc_pass_list *list = tc_pass_lists; list->name; list++)
        if (ti_str_is(name, list->name))
            return ti_run_list(ctx, module, list->passes, job, trace);
    const tc_pass *pass = find_pass(name);
    if (pass)
        return run_pass(ctx, module, pass, job, trace);
    const char *spelled = ti_text_copy(&ctx->arena, name), *near = name_near(spelled);
    tc_status status = ti_usage(ctx, "there is no pass '%s'", spelled);
    if (near)
        ti_note(ctx, NULL, "did you mean '%s'?", near);
    else
        ti_note(ctx, NULL, "doc/passes.md lists them");
    return status;
}

tc_status ti_run_list(tc_ctx *ctx, tc_module *module, const char *names, const tc_job *job,
                      const tc_trace *trace)
{
    for (size_t i = 0; i < module->n_graph; i++)
        module->graph[i]->facts |= ti_facts_seen(module->graph[i]);
    while (*names) {
        size_t n = strcspn(names, ",");
        TC_TRY(run_named(ctx, module, (tc_str){names, n}, job, trace));
        names += n + (names[n] == ',');
    }
    return TC_OK;
}

tc_status ti_run_stages(tc_ctx *ctx, tc_module *module, const char *names, const tc_job *job,
                        const tc_trace *trace)
{
    for (size_t i = 0; i < module->n_graph; i++)
        module->graph[i]->facts |= tc_facts_told;
    return ti_run_list(ctx, module, names, job, trace);
}

tc_status ti_run_passes(tc_ctx *ctx, tc_module *module, const char *names, const tc_trace *trace)
{
    return ti_run_stages(ctx, module, names, NULL, trace);
}
