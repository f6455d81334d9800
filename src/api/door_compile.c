/* SPDX-License-Identifier: Apache-2.0 */
/* door_compile.c -- compile for callers. */
#include "../base/enter.h"
#include "../board/board.h"
#include "../drive/goal_search.h"
#include "../drive/driver.h"
#include "../drive/many_sizes.h"
#include "../drive/model.h"
#include "../drive/own_backend.h"
#include "../output/payload.h"
#include "../drive/price.h"

static const char *const *copy_texts(tc_ctx *ctx, const char *const *text, size_t n)
{
    const char **copy = tc_new_n(&ctx->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = ti_intern_text(ctx, text[i]);
    return copy;
}

static tc_status two_methods(tc_ctx *ctx, const char *name)
{
    tc_status status = ti_usage(ctx, "two methods are called '%s'", name);
    ti_note(ctx, NULL, "NAME=MODEL names a method otherwise than its file");
    return status;
}

/* Methods of one program have names of their own, and one target. */
static tc_status check_method(tc_ctx *ctx, const tc_compile_options *o)
{
    if (o->beside && !o->method)
        return ti_usage(ctx, "one of several methods has no name");
    if (o->method && !*o->method)
        return ti_usage(ctx, "a method has no name");
    for (const tc_compiled *c = o->beside; c; c = c->asked.beside) {
        if (ti_text_eq(c->asked.method, o->method))
            return two_methods(ctx, o->method);
        if (!ti_text_eq(c->target.text, o->target))
            return ti_usage(ctx, "the method '%s' is for '%s', and '%s' for '%s'", c->asked.method,
                            c->target.text, o->method, o->target);
    }
    return TC_OK;
}

/* A goal replaces settings. */
static tc_status settle_goal(tc_ctx *ctx, const tc_compile_options *o, const tc_ethosu_options *e,
                             tc_compile_request *r, tc_frontier_row **rows, size_t *n)
{
    tc_goal goal = {.sqnr_db = o->goal.sqnr_db,
                    .drop = o->goal.drop,
                    .cycles = o->goal.cycles,
                    .flash = o->goal.flash,
                    .seconds = o->goal.seconds,
                    .labels = ti_intern_text(ctx, o->goal.labels),
                    .ethosu = e};
    tc_target target;
    TC_TRY(ti_target_parse(ctx, r->target, &target));
    goal.best = r->config && ti_text_eq(r->config, "best") && r->data.calib &&
                target.machine->packing == TC_PACKED_STREAM;
    if (!ti_goal_asks(&goal))
        return TC_OK;
    if ((r->config && !goal.best) || r->settings)
        return ti_usage(ctx, "a goal chooses the settings, so it cannot be combined with -q");
    tc_config *config = tc_new(&ctx->arena, tc_config);
    TC_TRY(ti_budget_search(ctx, r, &goal, config, rows, n));
    r->settings = config;
    return TC_OK;
}

/* Checks what the back end will be given, before anything that takes time. */
static tc_status check_ethosu(tc_ctx *ctx, const char *target_name, const tc_ethosu_options *o)
{
    tc_target target;
    tc_pricer *unused;
    TC_TRY(ti_target_parse(ctx, target_name, &target));
    if (o->optimise && target.machine->packing == TC_PACKED_STREAM &&
        !ti_text_eq(o->optimise, "Performance") && !ti_text_eq(o->optimise, "Size"))
        return ti_usage(ctx, "--optimise %s: expected Performance or Size", o->optimise);
    return ti_pricer_for(ctx, &target, o->ini, o->system_config, o->memory_mode, &unused);
}

/* A refusal changes the program: the back end is asked before anything is reported, and the core
 * next to an Ethos-U gets the rest. */
static tc_status make_streams(tc_ctx *ctx, tc_compiled *c)
{
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return TC_OK;
    if (c->n_region)
        TC_TRY(ti_pack_regions(ctx, c));
    return ti_core_part(ctx, c);
}

/* Only C for a Cortex-M has a choice. */
static tc_status check_kernels(tc_ctx *ctx, const tc_compile_options *o)
{
    tc_target target;
    if (!o->kernels)
        return TC_OK;
    if (!ti_text_eq(o->kernels, "cmsis-nn"))
        return ti_usage(ctx, "kernels '%s': expected 'cmsis-nn'", o->kernels);
    TC_TRY(ti_target_parse(ctx, o->target, &target));
    return target.core || target.machine->packing == TC_PACKED_C
               ? TC_OK
               : ti_usage(ctx, "kernels of CMSIS-NN are for C for a Cortex-M, not for '%s'", o->target);
}

/* Only VGF files hold shaders. */
static tc_status check_shaders(tc_ctx *ctx, const tc_compile_options *o, tc_shaders *out)
{
    tc_target target;
    if (!ti_shaders_named(o->shaders, out))
        return ti_usage(ctx, "shaders '%s': expected 'auto', 'all', 'resample', 'samplers' or 'none'",
                        o->shaders);
    TC_TRY(ti_target_parse(ctx, o->target, &target));
    return !o->shaders || target.machine->packing == TC_PACKED_VGF
               ? TC_OK
               : ti_usage(ctx, "shaders are for the target 'vgf', not for '%s'", o->target);
}

/* Only VGF files have images. */
static tc_status check_images(tc_ctx *ctx, const tc_model *model, const tc_compile_options *o,
                              tc_shaders shaders, tc_image_port **out)
{
    tc_target target;
    *out = NULL;
    if (!o->n_images)
        return TC_OK;
    TC_TRY(ti_target_parse(ctx, o->target, &target));
    if (target.machine->packing != TC_PACKED_VGF)
        return ti_usage(ctx, "--image %s: images are for the target 'vgf', not for '%s'", o->images[0],
                        o->target);
    if (shaders == TC_SHADERS_NONE)
        return ti_usage(ctx, "--image %s: images need shaders", o->images[0]);
    return ti_image_ports_read(ctx, ti_main(model->module), o->images, o->n_images, out);
}

/* Marks are an Ethos-U's. */
static tc_status check_marks(tc_ctx *ctx, const tc_compile_options *o)
{
    tc_target target;
    if (!o->ethosu.marks)
        return TC_OK;
    if (ti_npu_marks_of(o->ethosu.marks) == TC_MARKS_COUNT)
        return ti_usage(ctx, "--marks %s: expected irq or wait", o->ethosu.marks);
    TC_TRY(ti_target_parse(ctx, o->target, &target));
    return target.machine->packing == TC_PACKED_STREAM
               ? TC_OK
               : ti_usage(ctx, "--marks %s: '%s' has no command streams", o->ethosu.marks, o->target);
}

static tc_ethosu_options ethosu_of(tc_ctx *ctx, const tc_compile_options *o)
{
    tc_system_name system = ti_system_name_read(ctx, o->ethosu.system);
    return (tc_ethosu_options){.products = o->ethosu.u55_products,
                               .share_weights = o->ethosu.share_weights,
                               .ini = system.ini,
                               .system_config = system.config,
                               .memory_mode = system.mode,
                               .optimise = ti_intern_text(ctx, o->ethosu.optimise),
                               .marks = ti_npu_marks_of(o->ethosu.marks),
                               .few_bytes = o->goal.flash > 0,
                               .max_scratch = o->ethosu.max_scratch};
}

/* What the caller leaves open is taken from the board. */
static tc_status take_board(tc_ctx *ctx, tc_compile_options *o, tc_ethosu_options *e,
                            const tc_board **out)
{
    tc_target target;
    *out = NULL;
    if (!o->board)
        return TC_OK;
    tc_board *board = tc_new(&ctx->arena, tc_board);
    TC_TRY(ti_board_find(ctx, o->board, board));
    TC_TRY(ti_board_target(ctx, board, o->target, &o->target));
    *out = board;
    TC_TRY(ti_target_parse(ctx, o->target, &target));
    if (target.machine->packing != TC_PACKED_STREAM)
        return TC_OK;
    if (!e->ini && !e->system_config) {
        e->ini = board->ini;
        e->system_config = board->system_config;
    }
    if (!e->memory_mode)
        e->memory_mode = board->memory_mode;
    e->call = board->npu_call;
    return TC_OK;
}

/* From the request to what its target loads. */
static tc_status compile_request(tc_ctx *ctx, const tc_compile_options *o,
                                 const tc_ethosu_options *e, const tc_board *board,
                                 tc_compile_request *r, tc_compiled **out)
{
    tc_compiled *c = tc_new(&ctx->arena, tc_compiled);
    tc_frontier_row *frontier = NULL;
    size_t n_frontier = 0;
    TC_TRY(settle_goal(ctx, o, e, r, &frontier, &n_frontier));
    c->asked.ethosu = *e;
    TC_TRY(ti_compile(ctx, r, c));
    c->asked.board = board;
    c->quant.frontier = frontier;
    c->quant.n_frontier = n_frontier;
    c->asked.method = r->method ? r->method : "forward";
    c->asked.beside = o->beside;
    c->asked.cmsis_nn = o->kernels != NULL;
    c->asked.goal = o->goal;
    c->asked.places = o->locations;
    c->asked.vectors = o->vectors;
    c->model = ti_model_of(ctx, r->model, c->module);
    TC_TRY(make_streams(ctx, c));
    *out = c;
    return TC_OK;
}

/* The same model at every size of a list, as methods of one program. */
static tc_status compile_sizes(tc_ctx *ctx, const tc_compile_options *options,
                               const tc_ethosu_options *ethosu, const tc_board *board,
                               const tc_compile_request *request, tc_compiled **out)
{
    const tc_module *m = request->module;
    tc_compile_options o = *options;
    tc_ethosu_options e = *ethosu;
    tc_compile_request r = *request;
    tc_size_choice *choice;
    tc_sized_data *part;
    size_t n, n_part;
    TC_TRY(ti_split_by_size(ctx, m, o.quant.samples, &part, &n_part));
    TC_TRY(ti_size_choices(ctx, m, o.method, part, n_part, &choice, &n));
    int64_t *most = tc_new_n(&ctx->arena, int64_t, m->open.n);
    for (size_t i = 0; i < m->open.n; i++)
        most[i] = m->open.size[i].hi;
    r.data.calib = part[0].data;
    r.sizes.largest = ti_ready_at(ctx, &r, m, most);
    TC_TRY(ti_observe_sizes(ctx, m, part + 1, n_part - 1, &r));
    r.sizes.record = true;
    e.share_weights = true;
    tc_compiled *first = NULL;
    for (size_t k = 0; k < n; k++) {
        tc_compiled *c;
        o.method = choice[k].method;
        TC_TRY(check_method(ctx, &o));
        TC_TRY(ti_request_at(ctx, m, &choice[k], &r));
        r.beside = o.beside;
        r.sizes.own_samples = k && choice[k].data;
        r.data.calib = r.sizes.own_samples ? choice[k].data : part[0].data;
        TC_TRY(compile_request(ctx, &o, &e, board, &r, &c));
        first = first ? first : c;
        r.sizes.first = first;
        r.sizes.record = false;
        r.sizes.as = first->quant.record.asked ? &first->quant.record : NULL;
        o.goal = tc_compile_options_default().goal; /* settings have been found by now */
        o.beside = *out = c;
    }
    return TC_OK;
}

/* Sizes are open, and lists say which are wanted. */
static bool is_listed(const tc_module *m)
{
    for (size_t i = 0; i < m->open.n; i++)
        if (m->open.size[i].list)
            return true;
    return false;
}

static tc_status compile(tc_ctx *ctx, const tc_model *model, const tc_compile_options *options,
                         tc_compiled **out)
{
    tc_compile_options o = TC_TAKE(tc_compile_options, options);
    tc_pass_hook hook = {o.on_pass, o.user};
    tc_trace trace = ti_hook_trace(&hook);
    const tc_board *board;
    tc_ethosu_options e = ethosu_of(ctx, &o);
    TC_TRY(take_board(ctx, &o, &e, &board));
    if (!o.target)
        return ti_usage(ctx, "the target is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    TC_TRY(check_method(ctx, &o));
    TC_TRY(check_ethosu(ctx, o.target, &e));
    TC_TRY(check_marks(ctx, &o));
    TC_TRY(check_kernels(ctx, &o));
    tc_shaders shaders;
    TC_TRY(check_shaders(ctx, &o, &shaders));
    tc_image_port *image;
    TC_TRY(check_images(ctx, model, &o, shaders, &image));
    if (o.quant.samples)
        o.quant.samples->reset = o.quant.reset;
    tc_compile_request r = {.model = model->name,
                            .module = ti_module_clone(model->module),
                            .target = ti_intern_text(ctx, o.target),
                            .config = ti_intern_text(ctx, o.quant.config),
                            .settings = o.quant.settings,
                            .data.calib = o.quant.samples,
                            .data.only_if_needed = o.quant.only_if_needed,
                            .cpu = copy_texts(ctx, o.cpu, o.n_cpu),
                            .n_cpu = o.n_cpu,
                            .trace = o.on_pass ? &trace : NULL,
                            .check = o.check,
                            .strict = o.strict,
                            .unexecuted = o.no_execute,
                            .data.keep_odd = o.quant.keep_odd,
                            .data.all_samples = o.quant.all_samples,
                            .shaders = shaders,
                            .image = image,
                            .n_image = o.n_images,
                            .method = ti_intern_text(ctx, o.method),
                            .beside = o.beside};
    return is_listed(r.module) ? compile_sizes(ctx, &o, &e, board, &r, out)
                               : compile_request(ctx, &o, &e, board, &r, out);
}

tc_compiled *tc_compiled_beside(const tc_compiled *compiled)
{
    return compiled->asked.beside;
}

tc_status tc_compile(tc_ctx *ctx, const tc_model *model, const tc_compile_options *options,
                     tc_compiled **out)
{
    TC_ENTER(ctx, compile(ctx, model, options, out));
}

static tc_status run_stages(tc_ctx *ctx, tc_model *model, const char *passes,
                            const tc_compile_options *options)
{
    tc_compile_options o = TC_TAKE(tc_compile_options, options);
    tc_pass_hook hook = {o.on_pass, o.user};
    tc_trace trace = ti_hook_trace(&hook);
    tc_compiled *c = tc_new(&ctx->arena, tc_compiled);
    tc_config config;
    tc_samples samples;
    tc_job job = {.cpu = o.cpu, .n_cpu = o.n_cpu, .config = o.quant.settings};
    if (o.target) {
        TC_TRY(ti_target_parse(ctx, ti_intern_text(ctx, o.target), &c->target));
        TC_TRY(ti_own_judges(ctx, c));
        job.target = &c->target;
    }
    if (!job.config) {
        TC_TRY(ti_config_read(ctx, o.quant.config, &config));
        job.config = &config;
    }
    if (o.quant.samples) {
        TC_TRY(ti_open_dataset(ctx, o.quant.samples, ti_main(model->module), &samples));
        job.samples = &samples;
    }
    return ti_run_stages(ctx, model->module, passes ? passes : "", &job, o.on_pass ? &trace : NULL);
}

tc_status tc_model_run_stages(tc_ctx *ctx, tc_model *model, const char *passes,
                              const tc_compile_options *options)
{
    TC_ENTER(ctx, run_stages(ctx, model, passes, options));
}
