/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c -- the typed program is split, and each region takes its own road from REGION to LEGAL,
 * alone in a module. */
#include "driver.h"
#include "own_backend.h"
#include "road.h"
#include "region_loops.h"
#include "verdicts.h"

#include "../base/mapped.h"
#include "../ir/rewrite.h"
#include "../ir/verify.h"
#include "../lower/lower.h"
#include "../run/eval.h"

static void take_along(tc_ctx *ctx, const tc_module *from, tc_module *to, tc_graph *g)
{
    for (size_t i = 0; i < to->n_graph; i++)
        if (to->graph[i] == g)
            return;
    tc_grow(&ctx->arena, to->graph, to->n_graph, to->cap_graph);
    to->graph[to->n_graph++] = g;
    g->module = to;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < ti_node_calls(g->node[k]); i++) {
            tc_graph *callee = ti_node_callee(from, g->node[k], i);
            if (callee)
                take_along(ctx, from, to, callee);
        }
}

/* The graph, with those that it runs, in a module of its own, for passes and writers that look at
 * whole modules. */
static tc_module *alone(tc_ctx *ctx, const tc_module *from, tc_graph *g)
{
    tc_module *m = ti_module_new(ctx, from->file);
    take_along(ctx, from, m, g);
    return m;
}

void ti_bring_back(tc_module *from, tc_module *to)
{
    for (size_t i = 0; i < from->n_graph; i++)
        from->graph[i]->module = to;
}

tc_node *ti_call_of(const tc_graph *g, const char *name)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (ti_region_run_by(g->node[k]) == name)
            return g->node[k];
    return NULL;
}

/* The inputs of a region on each sample; of one that is repeated, the first time. */
static tc_status region_inputs(tc_ctx *ctx, const tc_checker *main, const tc_module *module,
                               const char *name, tc_tensor **in)
{
    const tc_node *call = ti_call_of(ti_main(module), name);
    for (size_t k = 0; k < main->n; k++) {
        in[k] = tc_new_n(&ctx->arena, tc_tensor, (size_t)call->n_in);
        for (int i = 0; i < call->n_in; i++)
            in[k][i] = ti_check_value(main, k, call->in[i]);
        if (call->op == TC_OP_call_times)
            TC_TRY(ti_eval_until(ti_main(module), call, in[k], 0, in[k], &ctx->arena));
    }
    return TC_OK;
}

/* Drops inputs that nothing reads any more, before a command stream is made; a checker continues
 * without them. */
static tc_status drop_inputs(tc_ctx *ctx, const tc_compiled *c, tc_region *region,
                             tc_checker *checker)
{
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return TC_OK;
    ti_drop_inputs(ctx, c->module, ti_main(region->module));
    return checker ? region_inputs(ctx, c->work.checker, c->module, region->name, checker->in) : TC_OK;
}

/* Typed rewrites, the rules, then simplifications in TOSA; then the back end of Ethos-U is
 * asked: if it goes so far. */
static tc_status lower_region(tc_ctx *ctx, tc_compiled *c, tc_region *region, tc_point to,
                              const tc_trace *trace, tc_checker *checker,
                              const tc_lower_check *check)
{
    tc_job job = {.target = &c->target, .check = check};
    TC_TRY(ti_own_untiled(ctx, c, region, &job.untiled));
    TC_TRY(ti_road_run(ctx, region->module, TC_AT_REGION, to, &job, trace));
    if (to != TC_AT_TOSA)
        return TC_OK;
    TC_TRY(drop_inputs(ctx, c, region, checker));
    return ti_own_ask(ctx, c, region);
}

/* The same, each rule compared with its node and each pass with the program before it. */
static tc_status lower_checked(tc_ctx *ctx, tc_compiled *c, tc_region *region, tc_point to)
{
    tc_tensor *in[TC_CHECK_SAMPLES];
    const tc_tensor *sample[TC_CHECK_SAMPLES];
    TC_TRY(region_inputs(ctx, c->work.checker, c->module, region->name, in));
    for (size_t k = 0; k < c->work.checker->n; k++)
        sample[k] = in[k];
    tc_checker checker;
    ti_check_begin_with(&checker, ctx, in, c->work.checker->n);
    checker.then = c->work.checker->then;
    checker.count = c->work.checker->count;
    tc_trace trace = {ti_check_pass, &checker};
    tc_status status =
        lower_region(ctx, c, region, to, &trace, &checker,
                     &(tc_lower_check){sample, c->work.checker->n, &c->work.rule_broke});
    ti_check_end(&checker);
    return status;
}

tc_status ti_region_ruled(tc_ctx *ctx, tc_compiled *c, const char *name, const tc_trace *trace,
                          tc_module **out)
{
    tc_module *m = alone(ctx, c->module, ti_module_find(c->module, name));
    tc_region region = {.name = name, .module = ti_module_clone(m)};
    ti_bring_back(m, c->module);
    *out = region.module;
    return c->work.checker ? lower_checked(ctx, c, &region, TC_AT_RULED)
                           : lower_region(ctx, c, &region, TC_AT_RULED, trace, NULL, NULL);
}

/* The entries of the operands that are kept, of a repeated region. */
static void keep_ports(tc_ctx *ctx, tc_node *call, const bool *kept)
{
    tc_attr_call_times *a = ti_arena_copy(&ctx->arena, call->attr, sizeof *a);
    int64_t *move = tc_new_n(&ctx->arena, int64_t, (size_t)call->n_in);
    int64_t *carried = tc_new_n(&ctx->arena, int64_t, (size_t)call->n_in);
    int32_t n = 0;
    for (int i = 0; i < call->n_in; i++)
        if (kept[i]) {
            move[n] = a->moves.v[i];
            carried[n++] = a->carried.v[i];
        }
    a->moves = (tc_ints){n, move};
    a->carried = (tc_ints){n, carried};
    call->attr = a;
}

void ti_drop_inputs(tc_ctx *ctx, const tc_module *module, tc_graph *g)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const uint32_t *readers = ti_graph_readers(ctx, g);
    tc_node *call = ti_call_of(ti_main(module), g->name);
    size_t kept = 0;
    bool *read = tc_new_n(&ctx->scratch, bool, g->n_in + 1);
    for (size_t i = 0; i < g->n_in; i++)
        read[i] = readers[g->in[i]] > 0;
    if (call->op == TC_OP_call_times)
        keep_ports(ctx, call, read);
    for (size_t i = 0; i < g->n_in; i++)
        if (read[i]) {
            g->val[g->in[i]]->index = (int)kept;
            call->in[kept] = call->in[i];
            g->in[kept++] = g->in[i];
        }
    g->n_in = kept;
    call->n_in = (int)kept;
    ti_arena_rewind(&ctx->scratch, mark);
}

/* The region's inputs stay with it, for its command stream. */
static tc_status keep_samples(tc_ctx *ctx, const tc_compiled *c, tc_region *region)
{
    tc_tensor *in[TC_CHECK_SAMPLES];
    TC_TRY(region_inputs(ctx, c->work.checker, c->module, region->name, in));
    region->n_sample = c->work.checker->n;
    for (size_t k = 0; k < region->n_sample; k++) {
        region->sample[k] = in[k];
        for (size_t i = 0; i < ti_main(region->module)->n_in; i++)
            in[k][i].data = ti_arena_copy(&ctx->arena, in[k][i].data, tc_type_bytes(in[k][i].type));
    }
    return TC_OK;
}

/* The model's nodes that the region was made from, each once, in order. */
static void name_nodes(tc_ctx *ctx, const tc_graph *g, tc_region *region)
{
    tc_map seen;
    ti_map_init(&seen, &ctx->arena);
    region->node = tc_new_n(&ctx->arena, const char *, g->n_node);
    for (size_t k = 0; k < g->n_node; k++) {
        const char *name = g->node[k]->op == TC_OP_const ? NULL : g->node[k]->loc->node;
        void **slot = name ? ti_map_at(&seen, ti_str_of(name)) : NULL;
        if (!slot || *slot)
            continue;
        *slot = (void *)(uintptr_t)name;
        region->node[region->n_node++] = name;
    }
}

/* EXT-VARIABLE has i8, and f16 and f32. */
static bool is_variable(const void *who, tc_dtype dtype)
{
    const tc_target *t = who;
    return dtype == TC_i8 ? t->tosa >> TC_FEATURE_INT & 1u
                          : (dtype == TC_f16 || dtype == TC_f32) && t->tosa >> TC_FEATURE_FP & 1u;
}

static tc_status finish_region(tc_ctx *ctx, const tc_trace *trace, tc_compiled *c,
                               tc_region *region)
{
    tc_graph *g = ti_module_find(c->module, region->name);
    region->module = alone(ctx, c->module, g);
    tc_status status = c->work.checker ? lower_checked(ctx, c, region, TC_AT_TOSA)
                                  : lower_region(ctx, c, region, TC_AT_TOSA, trace, NULL, NULL);
    if (status == TC_OK)
        status = drop_inputs(ctx, c, region, NULL);
    if (status == TC_OK && c->target.machine->packing == TC_PACKED_STREAM && c->work.checker)
        status = keep_samples(ctx, c, region);
    if (status == TC_OK && c->target.tosa >> TC_FEATURE_VAR & 1u && !c->request.method &&
        c->target.machine->packing != TC_PACKED_VGF)
        ti_split_hold_state(ctx, c->module, g, ti_call_of(ti_main(c->module), g->name), is_variable,
                            &c->target);
    if (status == TC_OK)
        status = ti_road_run(ctx, region->module, TC_AT_TOSA, TC_AT_LEGAL,
                             &(tc_job){.target = &c->target}, NULL);
    if (status == TC_OK)
        status = ti_emit_tosa(ctx, region->module, &region->tosa);
    ti_bring_back(region->module, c->module);
    return status;
}

tc_status ti_region_tosa(tc_ctx *ctx, const tc_region *region, tc_bytes *out)
{
    *out = region->tosa;
    return out->data ? TC_OK : ti_emit_tosa(ctx, region->module, out);
}

static tc_status split_program(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace)
{
    tc_job job = {.target = &c->target,
                  .cpu = c->request.cpu,
                  .n_cpu = c->request.n_cpu,
                  .source = c->work.source ? ti_main(c->work.source) : NULL,
                  .resamples = c->request.shaders == TC_SHADERS_RESAMPLE ||
                               c->request.shaders == TC_SHADERS_SAMPLERS,
                  .left = &c->work.left,
                  .split = &c->split};
    return ti_road_run(ctx, c->module, TC_AT_WHOLE, TC_AT_SPLIT, &job, trace);
}

/* Branches whose condition is an input of one element keep both their graphs, on the CPU. */
static void say_steered(tc_ctx *ctx, const tc_compiled *c)
{
    const tc_graph *g = ti_main(c->module);
    for (size_t i = 0; i < g->n_node && c->target.machine->packing != TC_PACKED_NOT; i++) {
        const tc_node *node = g->node[i];
        const char *input =
            node->op == TC_OP_cond ? ti_steering_input(g, node->in[0]) : NULL;
        if (!input)
            continue;
        ti_warning(ctx, node->loc, TC_E_NO_EFFECT,
                   "the input '%s' decides which branch runs, so both branches stay on the CPU%s",
                   input, c->n_region ? "" : ", and nothing goes to the accelerator");
        ti_note(ctx, node->loc,
                "--set %s=VALUE makes it a constant: only the branch that runs is compiled", input);
        return;
    }
}

tc_status ti_finish_regions(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace, size_t *failed)
{
    c->n_region = c->split.n_region;
    c->region = tc_new_n(&ctx->arena, tc_region, c->n_region);
    for (size_t i = 0; i < c->n_region; i++) {
        c->region[i].name = c->split.region[i];
        const tc_node *call = ti_call_of(ti_main(c->module), c->region[i].name);
        c->region[i].times = call->op == TC_OP_call_times ? ((const tc_attr_call_times *)call->attr)->times : 1;
        name_nodes(ctx, ti_module_find(c->module, c->region[i].name), &c->region[i]);
    }
    for (size_t i = 0; i < c->n_region; i++) {
        TC_TRY(ti_tell_progress(ctx, "regions lowered", i, c->n_region));
        tc_status status = finish_region(ctx, trace, c, &c->region[i]);
        if (status != TC_OK)
            *failed = i;
        TC_TRY(status);
    }
    return TC_OK;
}

tc_status ti_compile_regions(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace, size_t *failed)
{
    *failed = SIZE_MAX;
    TC_TRY(ti_tell_progress(ctx, "splitting", 0, 1));
    c->module = ti_module_clone(c->work.typed);
    TC_TRY(ti_verdicts_for(ctx, &c->target, c->asked.ethosu.ini, c->asked.ethosu.system_config,
                           c->asked.ethosu.memory_mode, &c->work.choices));
    TC_TRY(split_program(ctx, c, trace));
    TC_TRY(ti_keep_loops(ctx, c, trace));
    TC_TRY(ti_finish_regions(ctx, c, trace, failed));
    ti_memory_trim(ctx); /* of all that was tried */
    say_steered(ctx, c);
    return ti_verify(ctx, c->module);
}
