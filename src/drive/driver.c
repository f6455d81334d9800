/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c -- the stages, in order: read, quant, split, lower. */
#include "driver.h"

#include "choose.h"

#include "checker.h"
#include "data_fit.h"
#include "region_sample.h"
#include "model.h"
#include "program_file.h"
#include "typed_cost.h"

#include "../ir/rewrite.h"
#include "../ir/verify.h"
#include "../lower/lower.h"
#include "../read/read.h"

/* ---- the typed program ---- */

static bool is_tosa(const tc_module *module)
{
    const tc_graph *g = tc_main(module);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const)
            return tc_ops[g->node[k]->op].tosa != 0;
    return false;
}

static bool has_floats(const tc_module *module)
{
    const tc_graph *g = tc_main(module);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out && g->node[k]->op != TC_OP_const; i++)
            if (tc_is_float(tc_type_of(g, g->node[k]->out[i])->dtype))
                return true;
    return false;
}

static bool has(const tc_target *t, tc_feature feature)
{
    return t->tosa >> feature & 1u;
}

static tc_status no_data(tc_ctx *ctx, const tc_compile_request *r)
{
    tc_status status = tc_usage(
        ctx,
        "%s is a float model and the target '%s' computes with integers: calibration data is "
        "missing",
        r->model, r->target);
    tc_note(
        ctx, NULL,
        "add --calib DATA; --calib=random:1 uses random data; -q none keeps the model in float");
    return status;
}

/* Whether a quantized program would have no place on the accelerator. */
static bool is_float_only(const tc_compiled *c)
{
    return c->target.machine->packing != TC_PACKED_NOT && has(&c->target, TC_FEATURE_FP) &&
           !has(&c->target, TC_FEATURE_INT);
}

/* Settings that quantize. */
static bool asks_for_integers(const tc_compile_request *r)
{
    return r->settings || (r->config && !tc_text_eq(r->config, "none"));
}

/* A target that computes in float: settings that quantize are a mistake, data changes nothing. */
static tc_status check_float_only(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c)
{
    if (!is_float_only(c) || r->calib_only_if_needed)
        return TC_OK;
    if (asks_for_integers(r)) {
        tc_status status = tc_usage(ctx, "%s%s: the target '%s' computes in float",
                                    r->config ? "-q " : "settings that quantize",
                                    r->config ? r->config : "", r->target);
        tc_note(ctx, NULL, "TOSA-1.0+INT computes with integers, TOSA-1.0+INT+FP with both; "
                           "without -q the program stays in float");
        return status;
    }
    if (r->calib && !tc_dataset_invented(r->calib) && !(r->config || r->check)) {
        tc_warning(ctx, NULL, TC_E_NO_EFFECT,
                   "calibration data quantizes nothing here: the target '%s' computes in float",
                   r->target);
        tc_note(ctx, NULL, "TOSA-1.0+INT computes with integers, TOSA-1.0+INT+FP with both");
    }
    return TC_OK;
}

/* Whether a float program is to be quantized. */
static bool wants_integers(const tc_compile_request *r, const tc_compiled *c)
{
    bool asked = asks_for_integers(r);
    if ((r->config && !asked) || is_float_only(c))
        return false;
    bool integers_only = has(&c->target, TC_FEATURE_INT) && !has(&c->target, TC_FEATURE_FP);
    if (!asked && !integers_only && (!r->calib || r->calib_only_if_needed))
        return false;
    return asked || has_floats(c->module);
}

/* Ranges that the model chooses when it runs give way to those of calibration data. */
static tc_status settle_ranges(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    if (!wants_integers(r, c) || !tc_quant_is_dynamic(ctx, c->module))
        return TC_OK;
    tc_note(ctx, NULL,
            "%s is quantized dynamically, or only its weights are: all ranges come from "
            "calibration data instead; -t cpu without data and -q keeps them",
            r->model);
    return tc_run_passes(ctx, c->module, "remove-dynamic-quantization,tidy", r->trace);
}

static tc_status quantize(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    if (!wants_integers(r, c))
        return TC_OK;
    if (!r->calib && tc_main(c->module)->n_in)
        return no_data(ctx, r);
    TC_TRY(tc_run_passes(
        ctx, c->module,
        c->target.machine->can.selects
            ? "widen-half-floats,convert-attention-masks,convert-added-masks"
            : "widen-half-floats,decompose-attention,convert-added-masks",
        r->trace));
    TC_TRY(tc_run_passes(ctx, c->module, tc_passes_for(&c->config), r->trace));
    if (r->calib && r->calib_only_if_needed && tc_dataset_invented(r->calib))
        tc_data_missing(ctx, &c->config);
    tc_quant_request q = {.config = &c->config};
    if (r->calib)
        TC_TRY(tc_open_dataset(ctx, r->calib, tc_main(c->module), &q.samples));
    else /* a program without inputs says itself what it computes with */
        TC_TRY(tc_open_samples(ctx, tc_main(c->module), NULL, 0, &q.samples));
    tc_job job = {.target = &c->target,
                  .config = &c->config,
                  .samples = &q.samples,
                  .labels = r->labels,
                  .keep_odd = r->keep_odd,
                  .gains = &c->gains};
    TC_TRY(tc_typed_cost(ctx, r, c, &job.cost));
    return tc_run_stages(ctx, c->module, "quantize-model", &job, r->trace);
}

static tc_status read_model(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *out)
{
    *out = (tc_compiled){.vela = out->vela};
    TC_TRY(tc_target_parse(ctx, r->target, &out->target));
    out->module = r->module;
    if (!out->module) {
        TC_TRY(tc_read(ctx, r->model, &out->module));
        TC_TRY(tc_verify(ctx, out->module));
    }
    const tc_graph *g = tc_main(out->module);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_call)
            return tc_unsupported(
                ctx, g->node[k]->loc, TC_E_UNSUPPORTED,
                "the program has been split into regions already; compile the model it was made "
                "from");
    if (r->settings)
        out->config = *r->settings;
    else
        TC_TRY(tc_config_read(ctx, r->config, &out->config));
    if (out->target.machine->packing == TC_PACKED_VELA)
        tc_config_pack(&out->config);
    if (r->beside)
        tc_methods_adopt_state(tc_main(out->module), r->beside);
    out->module->shared = r->method != NULL;
    if (r->beside)
        tc_methods_same_state(ctx, g, r->beside, &out->config);
    TC_TRY(tc_config_check(ctx, &out->config,
                           g)); /* its names are those of the model as it was written */
    out->config.checked = true;
    return TC_OK;
}

tc_status tc_compile_typed(tc_ctx *ctx, const tc_target *target, tc_module *typed,
                           const tc_trace *trace)
{
    TC_TRY(tc_run_passes(ctx, typed, "widen-accumulators", trace));
    if (has(target, TC_FEATURE_CF) && !has(target, TC_FEATURE_FP))
        TC_TRY(tc_run_passes(ctx, typed, "quantize-control-flow", trace));
    return tc_run_passes(ctx, typed, "eliminate-common-subexpressions,remove-dead-code", trace);
}

/* While the program still has the norms that know what it was trained on. */
static tc_status judge_data(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c)
{
    TC_TRY(check_float_only(ctx, r, c));
    if (r->calib && !r->calib_only_if_needed && wants_integers(r, c))
        tc_data_fit(ctx, c->module, r->calib);
    return TC_OK;
}

/* Everything up to the typed program. */
static tc_status front(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *out)
{
    TC_TRY(tc_tell_progress(ctx, "tidying", 0, 1));
    bool quantized = tc_quant_is_pt2e(out->module) || tc_quant_is_typed(out->module) ||
                     tc_quant_is_lowered(out->module);
    if (!quantized)
        TC_TRY(judge_data(ctx, r, out));
    if (!has(&out->target, TC_FEATURE_FFT))
        TC_TRY(tc_run_passes(ctx, out->module, "infer-types,expand-complex", r->trace));
    TC_TRY(tc_run_passes(ctx, out->module, "tidy", r->trace));
    TC_TRY(tc_check_places(out->module));
    TC_TRY(settle_ranges(ctx, r, out));
    if ((r->config || r->settings) && !tc_quant_is_dynamic(ctx, out->module) &&
        (tc_quant_is_pt2e(out->module) || tc_quant_is_typed(out->module) ||
         tc_quant_is_lowered(out->module)))
        return tc_usage(ctx, "%s%s: %s is quantized already", r->config ? "-q " : "settings",
                        r->config ? r->config : "", r->model);
    if (tc_quant_is_lowered(out->module)) /* it came with the codes that it computes with */
        return tc_run_passes(ctx, out->module, "eliminate-common-subexpressions,remove-dead-code",
                             r->trace);
    if (tc_quant_is_pt2e(out->module))
        TC_TRY(tc_run_passes(ctx, out->module, "convert-qdq-to-types,remove-dead-code", r->trace));
    else if (!tc_quant_is_typed(out->module))
        TC_TRY(quantize(ctx, r, out));
    return tc_compile_typed(ctx, &out->target, out->module, r->trace);
}

/* ---- regions ---- */

static void take_along(tc_ctx *ctx, const tc_module *from, tc_module *to, tc_graph *g)
{
    for (size_t i = 0; i < to->n_graph; i++)
        if (to->graph[i] == g)
            return;
    tc_grow(&ctx->arena, to->graph, to->n_graph, to->cap_graph);
    to->graph[to->n_graph++] = g;
    g->module = to;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < tc_node_calls(g->node[k]); i++) {
            tc_graph *callee = tc_node_callee(from, g->node[k], i);
            if (callee)
                take_along(ctx, from, to, callee);
        }
}

/* The graph, with those that it runs, in a module of its own, for passes and writers that look at
 * whole modules. */
static tc_module *alone(tc_ctx *ctx, const tc_module *from, tc_graph *g)
{
    tc_module *m = tc_module_new(ctx, from->file);
    take_along(ctx, from, m, g);
    return m;
}

static void bring_back(tc_module *from, tc_module *to)
{
    for (size_t i = 0; i < from->n_graph; i++)
        from->graph[i]->module = to;
}

/* ---- checking ---- */

static tc_node *call_of(const tc_module *module, const char *name)
{
    const tc_graph *g = tc_main(module);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_call && ((const tc_attr_call *)g->node[k]->attr)->graph == name)
            return g->node[k];
    return NULL;
}

/* What the program hands to a region on each sample. */
static void region_inputs(tc_ctx *ctx, const tc_checker *main, const tc_module *module,
                          const char *name, tc_tensor **in)
{
    const tc_node *call = call_of(module, name);
    for (size_t k = 0; k < main->n; k++) {
        in[k] = tc_new_n(&ctx->arena, tc_tensor, (size_t)call->n_in);
        for (int i = 0; i < call->n_in; i++)
            in[k][i] = tc_check_value(main, k, call->in[i]);
    }
}

/* Typed rewrites, the rules, then what can be said simpler in TOSA. */
static tc_status lower_region(tc_ctx *ctx, tc_compiled *c, tc_graph *g, tc_region *region,
                              const tc_trace *trace, const tc_lower_check *check)
{
    region->module = alone(ctx, c->module, g);
    TC_TRY(tc_run_passes(ctx, region->module, c->target.machine->region, trace));
    tc_job job = {.target = &c->target, .check = check, .choices = c->choices};
    TC_TRY(tc_run_stages(ctx, region->module, "lower-to-tosa,tosa", &job, trace));
    if (c->target.machine->cheaper && c->target.tosa >> TC_FEATURE_INT & 1u)
        TC_TRY(tc_run_stages(ctx, region->module, c->target.machine->cheaper, &job, trace));
    return c->target.machine->detours
               ? tc_run_passes(ctx, region->module, c->target.machine->detours, trace)
               : TC_OK;
}

/* The same, each rule beside its node and each pass beside what was before. */
static tc_status lower_checked(tc_ctx *ctx, tc_compiled *c, tc_graph *g, tc_region *region)
{
    tc_tensor *in[TC_CHECK_SAMPLES];
    const tc_tensor *sample[TC_CHECK_SAMPLES];
    region_inputs(ctx, c->checker, c->module, region->name, in);
    for (size_t k = 0; k < c->checker->n; k++)
        sample[k] = in[k];
    tc_checker checker;
    tc_check_begin_with(&checker, ctx, in, c->checker->n);
    checker.then = c->checker->then;
    tc_trace trace = {tc_check_pass, &checker};
    tc_status status =
        lower_region(ctx, c, g, region, &trace, 
                     &(tc_lower_check){sample, c->checker->n, &c->rule_broke});
    tc_check_end(&checker);
    return status;
}

/* Inputs that nobody reads any more go, from the region and from its call: Vela leaves them out,
 * and what it makes would not fit the call. */
static void drop_inputs(tc_ctx *ctx, const tc_module *module, tc_graph *g)
{
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    const uint32_t *readers = tc_graph_readers(ctx, g);
    tc_node *call = call_of(module, g->name);
    size_t kept = 0;
    for (size_t i = 0; i < g->n_in; i++)
        if (readers[g->in[i]]) {
            g->val[g->in[i]]->index = (int)kept;
            call->in[kept] = call->in[i];
            g->in[kept++] = g->in[i];
        }
    g->n_in = kept;
    call->n_in = (int)kept;
    tc_arena_rewind(&ctx->scratch, mark);
}

/* What the region is given stays with it, for its command stream. */
static void keep_samples(tc_ctx *ctx, const tc_compiled *c, tc_region *region)
{
    tc_tensor *in[TC_CHECK_SAMPLES];
    region_inputs(ctx, c->checker, c->module, region->name, in);
    region->n_sample = c->checker->n;
    for (size_t k = 0; k < region->n_sample; k++) {
        region->sample[k] = in[k];
        for (size_t i = 0; i < tc_main(region->module)->n_in; i++)
            in[k][i].data = tc_arena_copy(&ctx->arena, in[k][i].data, tc_type_bytes(in[k][i].type));
    }
}

/* The model's nodes that the region is made of, each once, in order. */
static void name_nodes(tc_ctx *ctx, const tc_graph *g, tc_region *region)
{
    tc_map seen;
    tc_map_init(&seen, &ctx->arena);
    region->node = tc_new_n(&ctx->arena, const char *, g->n_node);
    for (size_t k = 0; k < g->n_node; k++) {
        const char *name = g->node[k]->op == TC_OP_const ? NULL : g->node[k]->loc->node;
        void **slot = name ? tc_map_at(&seen, tc_str_of(name)) : NULL;
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
    tc_graph *g = tc_module_find(c->module, region->name);
    tc_status status = c->checker ? lower_checked(ctx, c, g, region)
                                  : lower_region(ctx, c, g, region, trace, NULL);
    if (status == TC_OK && c->target.machine->packing == TC_PACKED_VELA)
        drop_inputs(ctx, c->module, g);
    if (status == TC_OK && c->target.machine->packing == TC_PACKED_VELA && c->checker)
        keep_samples(ctx, c, region);
    if (status == TC_OK && c->target.tosa >> TC_FEATURE_VAR & 1u && !c->request.method &&
        c->target.machine->packing != TC_PACKED_VGF)
        tc_split_hold_state(ctx, c->module, g, call_of(c->module, g->name), is_variable,
                            &c->target);
    if (status == TC_OK)
        status = tc_verify_tosa_for(ctx, region->module, &c->target);
    if (status == TC_OK)
        status = tc_emit_tosa(ctx, region->module, &region->tosa);
    bring_back(region->module, c->module);
    return status;
}

static tc_status no_kernels(tc_ctx *ctx, const tc_compiled *c)
{
    tc_status status = tc_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                                      "the program is TOSA, and '%s' has no kernels for it",
                                      c->target.text);
    tc_note(ctx, NULL,
            "compile the model it was made from; 'tosac run' runs TOSA programs directly");
    return status;
}

/* A quantized TFLite file is read as what its runtime computes on codes: changes of scale by
 * fractions of 31 bits, which ExecuTorch's kernels have not. */
static bool computes_on_codes(const tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++)
        for (size_t k = 0; k < module->graph[i]->n_node; k++)
            if (module->graph[i]->node[k]->op == TC_OP_tosa_rescale)
                return true;
    return false;
}

static tc_status no_codes(tc_ctx *ctx, const tc_compiled *c)
{
    tc_status status =
        tc_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                       "the file is quantized, and '%s' has no kernels for its integers",
                       c->target.text);
    tc_note(ctx, NULL,
            "compile it for TOSA-1.0+INT, vgf or an Ethos-U; 'tosac run' runs it directly; the "
            "float model compiles for '%s'", c->target.text);
    return status;
}

static bool reads_all_inputs(tc_ctx *ctx, const tc_graph *g)
{
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    const uint32_t *readers = tc_graph_readers(ctx, g);
    bool all = true;
    for (size_t i = 0; i < g->n_in; i++)
        all = all && readers[g->in[i]];
    tc_arena_rewind(&ctx->scratch, mark);
    return all;
}

/* The program keeps its inputs and calls a region that has only those which somebody reads. */
static void set_apart(tc_ctx *ctx, tc_compiled *c)
{
    tc_module *region = c->module;
    c->module = tc_program_calling(ctx, region, tc_intern_text(ctx, c->target.text));
    drop_inputs(ctx, c->module, tc_main(region));
    bring_back(region, c->module);
}

/* A program that is TOSA already. */
static tc_status take_whole(tc_ctx *ctx, const tc_trace *trace, tc_compiled *c)
{
    if (c->target.machine->packing == TC_PACKED_NOT)
        return no_kernels(ctx, c);
    c->region = tc_new(&ctx->arena, tc_region);
    c->n_region = 1;
    c->region->module = c->module;
    c->region->name = tc_main(c->module)->name;
    if (c->target.machine->detours)
        TC_TRY(tc_run_passes(ctx, c->module, c->target.machine->detours, trace));
    TC_TRY(tc_verify_tosa_for(ctx, c->module, &c->target));
    if (c->target.machine->packing == TC_PACKED_VELA && !reads_all_inputs(ctx, tc_main(c->module)))
        set_apart(ctx, c);
    return c->target.machine->packing == TC_PACKED_VGF
               ? TC_OK
               : tc_emit_tosa(ctx, c->region->module, &c->region->tosa);
}

tc_status tc_region_tosa(tc_ctx *ctx, const tc_region *region, tc_bytes *out)
{
    *out = region->tosa;
    return out->data ? TC_OK : tc_emit_tosa(ctx, region->module, out);
}

static tc_status split_program(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace)
{
    const tc_compile_request *r = &c->request;
    tc_job job = {.target = &c->target,
                  .cpu = r->cpu,
                  .n_cpu = r->n_cpu,
                  .left = &c->left,
                  .split = &c->split};
    bool cpu = c->target.machine->packing == TC_PACKED_NOT;
    if (!cpu)
        TC_TRY(tc_run_passes(ctx, c->module, "reduce-rank,remove-dead-code", trace));
    if (!cpu && !c->target.machine->can.selects)
        TC_TRY(tc_run_passes(ctx, c->module, "replace-selects", trace));
    if (!cpu && !has(&c->target, TC_FEATURE_DOUBLE))
        TC_TRY(tc_run_passes(ctx, c->module, "split-double-rounding", trace));
    return tc_run_stages(ctx, c->module,
                         cpu ? "split-regions" : "narrow-integers,remove-dead-code,split-regions",
                         &job, trace);
}

/* Branches that an input of one number decides keep both their graphs, on the CPU. */
static void say_steered(tc_ctx *ctx, const tc_compiled *c)
{
    const tc_graph *g = tc_main(c->module);
    for (size_t i = 0; i < g->n_node && c->target.machine->packing != TC_PACKED_NOT; i++) {
        const tc_node *node = g->node[i];
        const char *input =
            node->op == TC_OP_cond ? tc_steering_input(g, node->in[0]) : NULL;
        if (!input)
            continue;
        tc_warning(ctx, node->loc, TC_E_NO_EFFECT,
                   "the input '%s' decides which branch runs, so both branches stay on the CPU%s",
                   input, c->n_region ? "" : ", and nothing goes to the accelerator");
        tc_note(ctx, node->loc,
                "--set %s=VALUE makes it a constant: only the branch that runs is compiled", input);
        return;
    }
}

tc_status tc_compile_regions(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace, size_t *failed)
{
    *failed = SIZE_MAX;
    TC_TRY(tc_tell_progress(ctx, "splitting", 0, 1));
    c->module = tc_module_clone(c->typed);
    if (!c->all_forms)
        TC_TRY(tc_verdicts_for(ctx, &c->target, c->vela.ini, c->vela.system_config,
                               c->vela.memory_mode, &c->choices));
    TC_TRY(split_program(ctx, c, trace));
    c->n_region = c->split.n_region;
    c->region = tc_new_n(&ctx->arena, tc_region, c->n_region);
    for (size_t i = 0; i < c->n_region; i++) {
        c->region[i].name = c->split.region[i];
        name_nodes(ctx, tc_module_find(c->module, c->region[i].name), &c->region[i]);
    }
    for (size_t i = 0; i < c->n_region; i++) {
        TC_TRY(tc_tell_progress(ctx, "regions lowered", i, c->n_region));
        tc_status status = finish_region(ctx, trace, c, &c->region[i]);
        if (status != TC_OK)
            *failed = i;
        TC_TRY(status);
    }
    say_steered(ctx, c);
    return tc_verify(ctx, c->module);
}

static tc_status all_stages(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    size_t failed;
    TC_TRY(front(ctx, r, c));
    c->request = *r;
    c->typed = c->module;
    tc_map_init(&c->left, &ctx->arena);
    if (r->strict || r->check) /* a check that fails is a mistake of ours, to be seen */
        return tc_compile_regions(ctx, c, r->trace, &failed);
    tc_hold hold = tc_hold_begin(ctx);
    tc_status status = tc_compile_regions(ctx, c, r->trace, &failed);
    if (status == TC_OK || failed == SIZE_MAX) {
        tc_hold_keep(ctx, hold);
        return status;
    }
    const char *why = tc_hold_drop(ctx, hold);
    return tc_fall_back(ctx, c, NULL, failed, why);
}

/* Samples of the calibration data, or invented ones. */
static tc_status begin_check(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c,
                             tc_checker *checker)
{
    static const char *const invented[] = {"random:1"};
    tc_samples samples;
    const tc_graph *g = tc_main(c->module);
    if (r->check_on) {
        tc_check_begin_with(checker, ctx, &r->check_on, 1);
        checker->then = r->trace;
        return TC_OK;
    }
    if (r->calib)
        TC_TRY(tc_open_dataset(ctx, r->calib, g, &samples));
    else if (g->n_in)
        TC_TRY(tc_open_samples(ctx, g, invented, 1, &samples));
    else
        TC_TRY(tc_open_samples(ctx, g, NULL, 0, &samples));
    TC_TRY(tc_check_begin(checker, ctx, g, &samples));
    checker->then = r->trace;
    return TC_OK;
}

/* All stages, the program run before and after each. */
static tc_status checked_stages(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    tc_checker checker;
    TC_TRY(begin_check(ctx, r, c, &checker));
    c->checker = &checker;
    tc_compile_request watched = *r;
    tc_trace trace = {tc_check_pass, &checker};
    watched.trace = &trace;
    tc_status status = all_stages(ctx, &watched, c);
    tc_check_end(&checker);
    c->checker = NULL;
    return status;
}

/* What a program of TOSA is given stays with its region, for the command stream. */
static void keep_inputs(tc_ctx *ctx, const tc_compiled *c, const tc_checker *checker)
{
    tc_region *r = c->region;
    const tc_graph *main = tc_main(c->module);
    const tc_node *call = r->module == c->module ? NULL : call_of(c->module, r->name);
    r->n_sample = checker->n;
    for (size_t k = 0; k < checker->n; k++) {
        r->sample[k] = checker->in[k];
        if (!call)
            continue;
        r->sample[k] = tc_new_n(&ctx->arena, tc_tensor, (size_t)call->n_in);
        for (int i = 0; i < call->n_in; i++)
            r->sample[k][i] = checker->in[k][tc_value_of(main, call->in[i])->index];
    }
}

/* The same of TOSA. */
static tc_status checked_whole(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    tc_checker checker;
    TC_TRY(begin_check(ctx, r, c, &checker));
    tc_status status = take_whole(ctx, &(tc_trace){tc_check_pass, &checker}, c);
    if (status == TC_OK)
        keep_inputs(ctx, c, &checker);
    tc_check_end(&checker);
    return status;
}

static tc_status whole_or_stages(tc_ctx *ctx, const tc_compile_request *asked, tc_compiled *out)
{
    const tc_compile_request *r = &out->request;
    out->request = *asked;
    out->request.trace = asked->faults ? asked->faults : asked->trace;
    if (is_tosa(out->module))
        return r->check ? checked_whole(ctx, r, out) : take_whole(ctx, r->trace, out);
    if (out->target.machine->packing == TC_PACKED_NOT && computes_on_codes(out->module))
        return no_codes(ctx, out);
    return r->check ? checked_stages(ctx, r, out) : all_stages(ctx, r, out);
}

/* The request that c was compiled by, for a second time. */
static tc_compile_request again(const tc_compiled *c)
{
    tc_compile_request r = c->request;
    r.module = tc_module_clone(c->real);
    r.trace = r.faults;
    r.unexecuted = true;
    return r;
}

tc_status tc_compile_checked(tc_ctx *ctx, const tc_compiled *c, tc_tensor *sample, bool *rule)
{
    tc_compile_request r = again(c);
    tc_compiled out = {.vela = c->vela};
    r.check = true;
    r.check_on = sample;
    tc_status status = tc_compile_stages(ctx, &r, &out);
    *rule = out.rule_broke;
    return status;
}

tc_status tc_compile_otherwise(tc_ctx *ctx, const tc_compiled *c, const char *config, bool keep_odd,
                               tc_compiled *out)
{
    tc_compile_request r = again(c);
    r.check = false;
    r.keep_odd = r.keep_odd || keep_odd;
    if (config) {
        r.config = config;
        r.settings = NULL;
    }
    TC_TRY(read_model(ctx, &r, out));
    out->config.quiet = true;
    return front(ctx, &r, out);
}

tc_status tc_compile_stages(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *out)
{
    TC_TRY(read_model(ctx, r, out));
    if (!r->unexecuted)
        out->real = tc_module_clone(out->module);
    out->config.proved = out->real != NULL;
    TC_TRY(whole_or_stages(ctx, r, out));
    if (out->real)
        tc_take_samples(ctx, r, out);
    return TC_OK;
}
