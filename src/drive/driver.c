/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c -- compiling a model: one pipeline, and searches that run it again.
 *
 * The pipeline is the steps of road.def, from READ to WHOLE (front.c), from there to SPLIT, and for
 * each region from REGION to LEGAL (regions.c), where the Ethos-U back end is asked at point TOSA;
 * output/payload.c then checks what it made.  Around it are loops, as what is best, or even
 * possible, is known only at the end:
 *
 *   READ -> TIDY -> REAL -> READY -> TYPED -> WHOLE -> SPLIT, each region REGION -> LEGAL -> judged
 *    ^                        |         |       ^                             |               |
 *    |                        +---------+       +---------- refused ----------+---------------+
 *    |                     bits, by cost:         fallback.c: the part to blame stays on the CPU
 *    +--- goal: goal_search.c  typed_cost.c walks from TYPED to LEGAL for each proposal
 *
 * A fourth search is inside a region's road: tilings are priced on copies, and the cheapest is
 * taken (own_backend.c); the back end chooses the forms of operations itself (codegen/form.def). */
#include "driver.h"

#include "checker.h"
#include "own_backend.h"
#include "region_sample.h"

#include "../ir/verify.h"
#include "../read/read.h"
#include "image_check.h"

/* The machine without forms and costs that depend on extents. */
static const tc_machine *for_any_size(tc_ctx *ctx, const tc_machine *machine, int64_t largest)
{
    tc_machine *plain = ti_arena_copy(&ctx->arena, machine, sizeof *plain);
    plain->shapes = false;
    plain->cost = (tc_costs){.free_moves = true};
    plain->any_size = largest;
    return plain;
}

/* One program, whose weights no other shares, and data that was not invented. */
static bool is_for_size(const tc_compile_request *r, const tc_compiled *c)
{
    return ti_ethosu_for_size(&c->asked.ethosu) &&
           c->target.machine->packing == TC_PACKED_STREAM && !r->settings && !r->method &&
           !r->beside && r->data.calib && !ti_dataset_invented(r->data.calib);
}

static tc_status read_model(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *out)
{
    *out = (tc_compiled){.asked.ethosu = out->asked.ethosu};
    TC_TRY(ti_target_parse(ctx, r->target, &out->target));
    if (r->sizes.any)
        out->target.machine = for_any_size(ctx, out->target.machine, r->sizes.any);
    TC_TRY(ti_own_judges(ctx, out));
    out->module = r->module;
    if (!out->module) {
        TC_TRY(ti_read(ctx, r->model, &out->module));
        TC_TRY(ti_verify(ctx, out->module));
    }
    ti_take_real(ctx, r, out);
    out->module->open.any = r->sizes.record || r->sizes.as || r->sizes.any;
    const tc_graph *g = ti_main(out->module);
    for (size_t k = 0; k < g->n_node; k++)
        if (ti_region_run_by(g->node[k]))
            return ti_unsupported(
                ctx, g->node[k]->loc, TC_E_UNSUPPORTED,
                "the program has been split into regions already; compile the model it was made "
                "from");
    if (r->settings)
        out->quant.config = *r->settings;
    else
        TC_TRY(ti_config_read(ctx, r->config, &out->quant.config));
    if (is_for_size(r, out))
        ti_config_for_size(&out->quant.config);
    if (r->n_image)
        ti_images_fix_codes(ctx, g, r->image, r->n_image, &out->quant.config);
    if (out->target.machine->packing == TC_PACKED_STREAM)
        ti_config_pack(&out->quant.config);
    if (r->beside)
        ti_methods_adopt_state(ti_main(out->module), r->beside);
    out->module->shared = r->method != NULL;
    if (r->beside)
        ti_methods_same_state(ctx, g, r->beside, &out->quant.config);
    if (r->beside && out->asked.ethosu.share_weights)
        ti_methods_same_weights(ctx, g, r->beside, &out->quant.config);
    TC_TRY(ti_config_check(ctx, &out->quant.config,
                           g)); /* its names are those of the model as it was read */
    out->quant.config.checked = true;
    return TC_OK;
}

/* Samples of the calibration data, or invented ones. */
static tc_status begin_check(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c,
                             tc_checker *checker)
{
    static const char *const invented[] = {"random:1"};
    tc_samples samples;
    const tc_graph *g = ti_main(c->module);
    if (r->check_on) {
        ti_check_begin_with(checker, ctx, &r->check_on, 1);
        checker->then = r->trace;
        return TC_OK;
    }
    if (r->data.calib && !r->sizes.as)
        TC_TRY(ti_open_dataset(ctx, r->data.calib, g, &samples));
    else if (g->n_in)
        TC_TRY(ti_open_samples(ctx, g, invented, 1, &samples));
    else
        TC_TRY(ti_open_samples(ctx, g, NULL, 0, &samples));
    TC_TRY(ti_check_begin(checker, ctx, g, &samples));
    checker->then = r->trace;
    return TC_OK;
}

static tc_status all_stages(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    size_t failed;
    TC_TRY(ti_compile_front(ctx, r, c));
    c->request = *r;
    c->work.typed = c->module;
    ti_map_init(&c->work.left, &ctx->arena);
    if (r->strict || r->check) /* a check that fails is a bug of ours, and must be visible */
        return ti_compile_regions(ctx, c, r->trace, &failed);
    tc_hold hold = ti_hold_begin(ctx);
    tc_status status = ti_compile_regions(ctx, c, r->trace, &failed);
    if (status == TC_OK || failed == SIZE_MAX) {
        ti_hold_keep(ctx, hold);
        return status;
    }
    const char *node = ti_hold_node(ctx, hold);
    return ti_fall_back(ctx, c, failed, &(tc_refusal){ti_hold_drop(ctx, hold), node});
}

/* All stages; the program is run before and after each. */
static tc_status checked_stages(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    tc_checker checker;
    TC_TRY(begin_check(ctx, r, c, &checker));
    c->work.checker = &checker;
    checker.count = &c->work.checked;
    tc_compile_request watched = *r;
    tc_trace trace = {ti_check_pass, &checker};
    watched.trace = &trace;
    tc_status status = all_stages(ctx, &watched, c);
    ti_check_end(&checker);
    c->work.checker = NULL;
    return status;
}

/* The same for a program that is TOSA already. */
static tc_status checked_whole(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    tc_checker checker;
    TC_TRY(begin_check(ctx, r, c, &checker));
    checker.count = &c->work.checked;
    tc_status status = ti_take_whole(ctx, &(tc_trace){ti_check_pass, &checker}, &checker, c);
    ti_check_end(&checker);
    return status;
}

/* A quantized TFLite file is read as what its runtime computes on codes: rescales by 31-bit
 * fractions, which ExecuTorch's kernels do not have. */
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
        ti_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                       "the file is quantized, and '%s' has no kernels for its integers",
                       c->target.text);
    ti_note(ctx, NULL,
            "compile it for TOSA-1.0+INT, vgf or an Ethos-U; 'tosac run' runs it directly; the "
            "float model compiles for '%s'", c->target.text);
    return status;
}

/* A TOSA program that an Ethos-U and a core compute together: it is split, unless it has variables,
 * whose reads and writes must keep their order. */
static bool is_shared(const tc_compiled *c)
{
    return c->target.core && !ti_module_has_state(c->module);
}

static tc_status whole_or_stages(tc_ctx *ctx, const tc_compile_request *asked, tc_compiled *out)
{
    const tc_compile_request *r = &out->request;
    out->request = *asked;
    out->request.trace = asked->faults ? asked->faults : asked->trace;
    if (ti_is_tosa(out) && !is_shared(out))
        return r->check ? checked_whole(ctx, r, out) : ti_take_whole(ctx, r->trace, NULL, out);
    if (out->target.machine->packing == TC_PACKED_NOT && computes_on_codes(out->module) &&
        !ti_reading(ctx)->keep_unread)
        return no_codes(ctx, out);
    return r->check ? checked_stages(ctx, r, out) : all_stages(ctx, r, out);
}

/* The request that c was compiled with, to compile it again. */
static tc_compile_request again(const tc_compiled *c)
{
    tc_compile_request r = c->request;
    r.module = ti_module_clone(c->work.real);
    r.trace = r.faults;
    r.unexecuted = true;
    r.data.all_samples = true; /* its predicted noise is known */
    return r;
}

tc_status ti_compile_checked(tc_ctx *ctx, const tc_compiled *c, tc_tensor *sample, bool *rule)
{
    tc_compile_request r = again(c);
    tc_compiled out = {.asked.ethosu = c->asked.ethosu};
    r.check = true;
    r.check_on = sample;
    tc_status status = ti_compile_stages(ctx, &r, &out);
    *rule = out.work.rule_broke;
    return status;
}

tc_status ti_compile_otherwise(tc_ctx *ctx, const tc_compiled *c, const char *config, bool keep_odd,
                               tc_compiled *out)
{
    tc_compile_request r = again(c);
    r.check = false;
    r.data.keep_odd = r.data.keep_odd || keep_odd;
    r.data.only_learned = c->given.held_out;
    r.data.all_samples = !c->given.held_out;
    if (config) {
        r.config = config;
        r.settings = NULL;
    }
    TC_TRY(read_model(ctx, &r, out));
    out->quant.config.quiet = true;
    return ti_compile_front(ctx, &r, out);
}

tc_status ti_compile_on_cpu(tc_ctx *ctx, const tc_compiled *c, const char *name, tc_compiled *out)
{
    tc_compile_request r = again(c);
    const char **cpu = tc_new_n(&ctx->arena, const char *, r.n_cpu + 1);
    for (size_t i = 0; i < r.n_cpu; i++)
        cpu[i] = r.cpu[i];
    cpu[r.n_cpu++] = name;
    r.cpu = cpu;
    r.check = false;
    tc_config quiet = c->quant.config;
    quiet.quiet = true;
    r.settings = &quiet;
    r.config = NULL;
    return ti_compile_stages(ctx, &r, out);
}

tc_status ti_compile_ready(tc_ctx *ctx, const tc_compile_request *request, tc_module **out)
{
    tc_compile_request r = *request;
    tc_compiled c = {0};
    r.sizes.ready_only = true;
    r.sizes.record = true;
    r.trace = NULL;
    TC_TRY(read_model(ctx, &r, &c));
    c.quant.config.quiet = true;
    TC_TRY(ti_compile_front(ctx, &r, &c));
    *out = c.module;
    return TC_OK;
}

/* An operator of a TFLite file that stays whole and cannot be read: nothing here can run it. */
static const tc_node *unknown_operator(const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_tflite_op && !ti_node_calls(g->node[k]))
            return g->node[k];
    return NULL;
}

tc_status ti_compile_stages(tc_ctx *ctx, const tc_compile_request *asked, tc_compiled *out)
{
    tc_compile_request request = *asked, *r = &request;
    TC_TRY(read_model(ctx, r, out));
    const tc_node *unknown = unknown_operator(out->module);
    if (unknown && !r->unexecuted) {
        ti_note(ctx, unknown->loc, "'%s' stays as it is: what is written is not run here",
                ((const tc_attr_tflite_op *)unknown->attr)->name);
        r->unexecuted = true;
    }
    if (!r->unexecuted)
        out->work.real = ti_module_clone(out->module);
    out->work.source = out->work.real || !r->n_cpu ? out->work.real : ti_module_clone(out->module);
    out->quant.config.proved = out->work.real != NULL;
    TC_TRY(whole_or_stages(ctx, r, out));
    if (out->work.real)
        ti_take_samples(ctx, r, out);
    return TC_OK;
}
