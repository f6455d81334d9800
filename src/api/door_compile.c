/* SPDX-License-Identifier: Apache-2.0 */
/* door_compile.c -- compile for callers: the files that come out, and what went where. */
#include <math.h>

#include "../drive/budget.h"
#include "../drive/choose.h"
#include "../drive/driver.h"

#include "../wire/file.h"
#include "../drive/borders.h"
#include "../drive/emit_c.h"
#include "../base/enter.h"
#include "../drive/model.h"
#include "../drive/payload.h"
#include "../drive/program_file.h"

static const char *const *copy_texts(tc_ctx *ctx, const char *const *text, size_t n)
{
    const char **copy = tc_new_n(&ctx->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = tc_intern_text(ctx, text[i]);
    return copy;
}

/* Methods of one program have names of their own, and one target. */
static tc_status check_method(tc_ctx *ctx, const tc_compile_options *o)
{
    if (o->beside && !o->method)
        return tc_usage(ctx, "one of several methods has no name");
    if (o->method && !*o->method)
        return tc_usage(ctx, "a method has no name");
    for (const tc_compiled *c = o->beside; c; c = c->beside) {
        if (tc_text_eq(c->method, o->method))
            return tc_usage(ctx, "two methods are called '%s'", o->method);
        if (!tc_text_eq(c->target.text, o->target))
            return tc_usage(ctx, "the method '%s' is for '%s', and '%s' for '%s'", c->method,
                            c->target.text, o->method, o->target);
    }
    return TC_OK;
}

/* A goal takes the place of settings. */
static tc_status settle_goal(tc_ctx *ctx, const tc_compile_options *o, tc_compile_request *r,
                             tc_frontier_row **rows, size_t *n)
{
    tc_goal goal = {.sqnr_db = o->goal.sqnr_db,
                    .drop = o->goal.drop,
                    .cycles = o->goal.cycles,
                    .flash = o->goal.flash,
                    .seconds = o->goal.seconds,
                    .labels = tc_intern_text(ctx, o->goal.labels),
                    .ini = o->vela.ini,
                    .system_config = o->vela.system_config,
                    .memory_mode = o->vela.memory_mode};
    tc_target target;
    TC_TRY(tc_target_parse(ctx, r->target, &target));
    goal.best = r->config && tc_text_eq(r->config, "best") && r->calib &&
                target.machine->packing == TC_PACKED_VELA;
    if (!tc_goal_asks(&goal))
        return TC_OK;
    if ((r->config && !goal.best) || r->settings)
        return tc_usage(ctx, "a goal chooses the settings, so it cannot be combined with -q");
    tc_config *config = tc_new(&ctx->arena, tc_config);
    TC_TRY(tc_budget_search(ctx, r, &goal, config, rows, n));
    r->settings = config;
    return TC_OK;
}

const tc_frontier_row *tc_compiled_frontier(const tc_compiled *compiled, size_t *n)
{
    *n = compiled->n_frontier;
    return compiled->frontier;
}

/* What Vela will be told, before anything that takes time. */
static tc_status check_vela(tc_ctx *ctx, const char *target_name, const tc_compile_options *o)
{
    tc_target target;
    tc_verdicts *unused;
    TC_TRY(tc_target_parse(ctx, target_name, &target));
    if (o->vela.optimise && target.machine->packing == TC_PACKED_VELA &&
        !tc_text_eq(o->vela.optimise, "Performance") && !tc_text_eq(o->vela.optimise, "Size"))
        return tc_usage(ctx, "--optimise %s: expected Performance or Size", o->vela.optimise);
    return tc_verdicts_for(ctx, &target, o->vela.ini, o->vela.system_config, o->vela.memory_mode, &unused);
}

static tc_status compile(tc_ctx *ctx, const tc_model *model, const tc_compile_options *options,
                         tc_compiled **out)
{
    tc_compile_options o = TC_TAKE(tc_compile_options, options);
    tc_pass_hook hook = {o.on_pass, o.user};
    tc_trace trace = tc_hook_trace(&hook);
    if (!o.target)
        return tc_usage(ctx, "the target is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    TC_TRY(check_method(ctx, &o));
    TC_TRY(check_vela(ctx, o.target, &o));
    tc_compile_request r = {.model = model->name,
                            .module = tc_module_clone(model->module),
                            .target = tc_intern_text(ctx, o.target),
                            .config = tc_intern_text(ctx, o.quant.config),
                            .settings = o.quant.settings,
                            .calib = o.quant.samples,
                            .calib_only_if_needed = o.quant.only_if_needed,
                            .cpu = copy_texts(ctx, o.cpu, o.n_cpu),
                            .n_cpu = o.n_cpu,
                            .trace = o.on_pass ? &trace : NULL,
                            .check = o.check,
                            .strict = o.strict,
                            .unexecuted = o.no_execute,
                            .keep_odd = o.quant.keep_odd,
                            .method = tc_intern_text(ctx, o.method),
                            .beside = o.beside};
    tc_compiled *c = tc_new(&ctx->arena, tc_compiled);
    tc_frontier_row *frontier = NULL;
    size_t n_frontier = 0;
    TC_TRY(settle_goal(ctx, &o, &r, &frontier, &n_frontier));
    c->vela = (tc_vela_options){.ini = tc_intern_text(ctx, o.vela.ini),
                                .system_config = tc_intern_text(ctx, o.vela.system_config),
                                .memory_mode = tc_intern_text(ctx, o.vela.memory_mode),
                                .optimise = tc_intern_text(ctx, o.vela.optimise),
                                .timeout = o.vela.timeout,
                                .search = o.vela.refusal_seconds,
                                .max_scratch = o.vela.max_scratch,
                                .notes = o.details};
    TC_TRY(tc_compile_stages(ctx, &r, c));
    c->frontier = frontier;
    c->n_frontier = n_frontier;
    c->method = r.method ? r.method : "forward";
    c->beside = o.beside;
    c->places = o.locations;
    c->model = tc_model_of(ctx, model->name, c->module);
    *out = c;
    return TC_OK;
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
    tc_trace trace = tc_hook_trace(&hook);
    tc_target target;
    tc_config config;
    tc_samples samples;
    tc_job job = {.cpu = o.cpu, .n_cpu = o.n_cpu, .config = o.quant.settings};
    if (o.target) {
        TC_TRY(tc_target_parse(ctx, tc_intern_text(ctx, o.target), &target));
        job.target = &target;
    }
    if (!job.config) {
        TC_TRY(tc_config_read(ctx, o.quant.config, &config));
        job.config = &config;
    }
    if (o.quant.samples) {
        TC_TRY(tc_open_dataset(ctx, o.quant.samples, tc_main(model->module), &samples));
        job.samples = &samples;
    }
    return tc_run_stages(ctx, model->module, passes ? passes : "", &job, o.on_pass ? &trace : NULL);
}

tc_status tc_model_run_stages(tc_ctx *ctx, tc_model *model, const char *passes,
                              const tc_compile_options *options)
{
    TC_ENTER(ctx, run_stages(ctx, model, passes, options));
}

/* ---- kinds of files ---- */

static void add_file(tc_written *w, tc_bytes bytes)
{
    w->file[w->n_file++] = bytes;
    w->bytes += bytes.size;
}

/* path: for messages, or NULL. */
typedef tc_status maker(tc_ctx *ctx, tc_compiled *c, const char *path);

static tc_status nothing_to_write(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    tc_status status = tc_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_STRUCTURE,
                                "no operator goes to '%s', so there is nothing for '%s'",
                                c->target.text, path ? path : "memory");
    tc_note(ctx, NULL, "'tosac explain' says why; a .pte also holds what the CPU runs");
    return status;
}

static tc_status make_tosa(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    for (size_t i = 0; i < c->n_region; i++) {
        tc_bytes bytes;
        TC_TRY(tc_region_tosa(ctx, &c->region[i], &bytes));
        add_file(&c->written, bytes);
    }
    return c->n_region ? TC_OK : nothing_to_write(ctx, c, path);
}

static tc_status make_vgf(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    tc_bytes bytes;
    if (c->n_region != 1) {
        tc_status status =
            tc_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_STRUCTURE,
                     "the program has %zu regions, but a .vgf file holds one", c->n_region);
        tc_note(ctx, NULL, "a .pte holds them all, with the CPU's part between them");
        return status;
    }
    TC_TRY(tc_emit_vgf(ctx, c->region[0].module, &bytes));
    add_file(&c->written, bytes);
    return TC_OK;
}

static tc_status make_vela(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    tc_payload *payload;
    if (c->target.machine->packing != TC_PACKED_VELA)
        return tc_usage(ctx, "--emit vela is for Ethos-U targets, not for '%s'", c->target.text);
    TC_TRY(tc_judged_payloads(ctx, c, false, &payload));
    for (size_t i = 0; i < c->n_region; i++)
        add_file(&c->written, payload[i].bytes);
    return c->n_region ? TC_OK : nothing_to_write(ctx, c, path);
}

/* Making a program leaves its graph in kernels: that is done to a copy. */
static tc_compiled copy_for_program(tc_ctx *ctx, const tc_compiled *c)
{
    tc_compiled copy = *c;
    copy.module = tc_module_clone(c->module);
    if (c->n_region == 1 && c->region[0].module == c->module) {
        copy.region = tc_arena_copy(&ctx->arena, c->region, sizeof *c->region);
        copy.region[0].module = copy.module;
    }
    return copy;
}

static size_t method_count(const tc_compiled *c)
{
    size_t n = 0;
    for (; c; c = c->beside)
        n++;
    return n;
}

/* The program with all its methods, in the order in which they were compiled. */
static tc_status make_program(tc_ctx *ctx, tc_compiled *c, bool keep_tosa)
{
    size_t n = method_count(c), k = n;
    tc_program_part *part = tc_new_n(&ctx->arena, tc_program_part, n);
    tc_compiled *copy = tc_new_n(&ctx->arena, tc_compiled, n);
    tc_pte *program = tc_new_n(&ctx->arena, tc_pte, n);
    for (tc_compiled *m = c; m; m = m->beside) {
        tc_payload *payload;
        TC_TRY(tc_judged_payloads(ctx, m, keep_tosa, &payload));
        TC_TRY(tc_tell_idle(ctx, m));
        copy[--k] = copy_for_program(ctx, m);
        part[k] = (tc_program_part){&copy[k], m->method, payload, m->n_region};
    }
    TC_TRY(tc_program_join(ctx, part, n, NULL, program));
    k = n;
    for (tc_compiled *m = c; m; m = m->beside) {
        k--;
        m->written.memory = program[k].memory;
        m->written.state = program[k].state;
        m->written.plan = program[k].plan;
        m->written.planned = program[k].planned;
        TC_TRY(tc_prove(ctx, m, program[k].planned->module));
    }
    add_file(&c->written, program[n - 1].pte);
    return TC_OK;
}

static tc_status make_pte(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    return make_program(ctx, c, false);
}

static tc_status make_pte_tosa(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    return make_program(ctx, c, true);
}

/* OUT.c and OUT.h. */
static tc_status make_c(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    tc_bytes source, header;
    TC_TRY(make_program(ctx, c, false));
    size_t program = c->written.bytes; /* what lies on the device: not the length of the text */
    TC_TRY(tc_emit_c(ctx, c, path ? path : "model.c", c->written.file[0], &source, &header));
    c->written.n_file = 0;
    c->written.bytes = 0;
    add_file(&c->written, source);
    add_file(&c->written, header);
    c->written.bytes = program;
    return TC_OK;
}

static tc_status make_ir(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    tc_bytes text;
    TC_TRY(tc_model_text(ctx, c->model, 1, &text));
    add_file(&c->written, text);
    return TC_OK;
}

static const struct {
    const char *name, *extension;
    maker *make;
    bool packed; /* holds the regions as their machine takes them */
} kinds[] = {
    [TC_OUTPUT_TOSA] = {"tosa", ".tosa", make_tosa, false},
    [TC_OUTPUT_VGF] = {"vgf", ".vgf", make_vgf, true},
    [TC_OUTPUT_PTE] = {"pte", ".pte", make_pte, true},
    [TC_OUTPUT_PTE_TOSA] = {"pte+tosa", "", make_pte_tosa, true},
    [TC_OUTPUT_VELA] = {"vela", ".bin", make_vela, true},
    [TC_OUTPUT_IR] = {"ir", ".ir", make_ir, false},
    [TC_OUTPUT_C] = {"c", ".c", make_c, true},
};

const char *tc_output_name(tc_output kind)
{
    return (size_t)kind < TC_COUNT(kinds) ? kinds[kind].name : NULL;
}

const char *tc_output_extension(tc_output kind)
{
    return (size_t)kind < TC_COUNT(kinds) ? kinds[kind].extension : NULL;
}

static tc_status ready(tc_ctx *ctx, const char *target, tc_output kind)
{
    tc_target parsed;
    TC_TRY(tc_target_parse(ctx, target, &parsed));
    bool by_vela = parsed.machine->packing == TC_PACKED_VELA;
    return by_vela && (size_t)kind < TC_COUNT(kinds) && kinds[kind].packed ? tc_vela_here(ctx)
                                                                           : TC_OK;
}

tc_status tc_output_ready(tc_ctx *ctx, const char *target, tc_output kind)
{
    TC_ENTER(ctx, ready(ctx, target, kind));
}

/* Numbers among what the model returns have no place in files of tensors alone. */
static void say_numbers(tc_ctx *ctx, const tc_compiled *c, tc_output kind)
{
    const tc_module *m = c->module;
    for (size_t k = 0; k < m->n_out_port; k++) {
        const tc_port *port = &m->out_port[k];
        if (port->val == TC_NONE && port->text && !tc_text_eq(port->text, "None"))
            tc_warning(ctx, &(tc_loc){.file = m->file, .place = "outputs"}, TC_E_STRUCTURE,
                       "output %zu is %s, not a tensor: %s cannot hold it, a .pte can", k,
                       port->text, kinds[kind].extension);
    }
}

static tc_status make_files(tc_ctx *ctx, tc_compiled *c, tc_output kind, const char *path)
{
    if ((size_t)kind >= TC_COUNT(kinds))
        return tc_usage(ctx, "unknown kind of file %d (see tc_output)", (int)kind);
    if (c->beside && kind != TC_OUTPUT_PTE && kind != TC_OUTPUT_PTE_TOSA)
        return tc_usage(ctx, "several methods (%zu) need a .pte, not %s", method_count(c),
                        kinds[kind].name);
    c->written = (tc_written){.file = tc_new_n(&ctx->arena, tc_bytes, c->n_region + 2)};
    if (kind == TC_OUTPUT_TOSA || kind == TC_OUTPUT_VGF || kind == TC_OUTPUT_VELA)
        say_numbers(ctx, c, kind);
    TC_TRY(kinds[kind].make(ctx, c, path));
    return c->written.planned ? TC_OK : tc_prove(ctx, c, c->module);
}

static tc_status make_in_memory(tc_ctx *ctx, tc_compiled *c, tc_output kind, size_t *count)
{
    TC_TRY(make_files(ctx, c, kind, NULL));
    if (count)
        *count = c->written.n_file;
    return TC_OK;
}

tc_status tc_compiled_make(tc_ctx *ctx, tc_compiled *compiled, tc_output kind, size_t *count)
{
    TC_ENTER(ctx, make_in_memory(ctx, compiled, kind, count));
}

tc_bytes tc_compiled_bytes(const tc_compiled *compiled, size_t i)
{
    return i < compiled->written.n_file ? compiled->written.file[i] : (tc_bytes){NULL, 0};
}

/* A region's file; with what crosses its borders beside it. */
static tc_status write_region(tc_ctx *ctx, const tc_compiled *c, size_t i, const char *path,
                              bool borders)
{
    tc_bytes bytes = c->written.file[i];
    if (!borders)
        return tc_file_write(ctx, path, bytes);
    return tc_file_write_two(ctx, path, bytes, tc_text_format(&ctx->arena, "%s.json", path),
                             tc_borders_json(ctx, c, &c->region[i]));
}

/* OUT.c and OUT.h. */
static tc_status write_c(tc_ctx *ctx, tc_written *w, const char *path)
{
    size_t stem = strlen(path);
    stem -= tc_text_ends(path, ".c") ? 2 : 0;
    w->path = path;
    const char *source = tc_text_format(&ctx->arena, "%.*s.c", (int)stem, path);
    const char *header = tc_text_format(&ctx->arena, "%.*s.h", (int)stem, path);
    return tc_file_write_two(ctx, source, w->file[0], header, w->file[1]);
}

/* OUT for one file; OUT.0.ext, OUT.1.ext, ... for several. */
static tc_status write_all(tc_ctx *ctx, const tc_compiled *c, tc_written *w, const char *path,
                           const char *extension, bool borders)
{
    size_t stem = strlen(path), e = strlen(extension);
    w->path = path;
    if (w->n_file == 1)
        return write_region(ctx, c, 0, path, borders);
    if (stem > e && tc_text_eq(path + stem - e, extension))
        stem -= e;
    for (size_t i = 0; i < w->n_file; i++) {
        const char *part = tc_text_format(&ctx->arena, "%.*s.%zu%s", (int)stem, path, i, extension);
        TC_TRY(write_region(ctx, c, i, part, borders));
    }
    w->path = tc_text_format(&ctx->arena, "%.*s.0%s to %.*s.%zu%s", (int)stem, path, extension,
                             (int)stem, path, w->n_file - 1, extension);
    return TC_OK;
}

static tc_status write_files(tc_ctx *ctx, tc_compiled *c, tc_output kind, const char *path)
{
    path = tc_intern_text(ctx, path);
    if (kind == TC_OUTPUT_IR && !c->beside) {
        c->written = (tc_written){.path = path};
        TC_TRY(tc_prove(ctx, c, c->module));
        return tc_write_text(ctx, c->module, path);
    }
    TC_TRY(make_files(ctx, c, kind, path));
    if (kind == TC_OUTPUT_C)
        return write_c(ctx, &c->written, path);
    bool borders =
        (kind == TC_OUTPUT_TOSA && tc_borders_quantized(c)) || kind == TC_OUTPUT_VELA;
    return write_all(ctx, c, &c->written, path, kinds[kind].extension, borders);
}

tc_status tc_compiled_write(tc_ctx *ctx, tc_compiled *compiled, tc_output kind, const char *path)
{
    TC_ENTER(ctx, write_files(ctx, compiled, kind, path));
}

static tc_status set_name(tc_ctx *ctx, tc_compiled *c, const char *name)
{
    c->written.path = tc_intern_text(ctx, name);
    return TC_OK;
}

tc_status tc_compiled_set_name(tc_ctx *ctx, tc_compiled *compiled, const char *name)
{
    TC_ENTER(ctx, set_name(ctx, compiled, name));
}

static tc_status region_tosa(tc_ctx *ctx, const tc_compiled *c, size_t region, tc_bytes *out)
{
    if (region >= c->n_region)
        return tc_usage(ctx, "there is no region %zu: the program has %zu", region, c->n_region);
    return tc_region_tosa(ctx, &c->region[region], out);
}

tc_status tc_compiled_region_tosa(tc_ctx *ctx, const tc_compiled *compiled, size_t region,
                                  tc_bytes *out)
{
    TC_ENTER(ctx, region_tosa(ctx, compiled, region, out));
}

const tc_model *tc_compiled_model(const tc_compiled *compiled)
{
    return compiled->model;
}

/* ---- what went where ---- */

void tc_compiled_get_info(const tc_compiled *compiled, tc_compiled_info *out)
{
    const tc_compiled *c = compiled;
    tc_compiled_info info = {.target = c->target.text,
                             .n_region = c->n_region,
                             .on_cpu = c->split.n_left,
                             .bytes = c->written.bytes,
                             .memory = c->written.memory,
                             .state = c->written.state,
                             .method = c->method,
                             .samples = c->proof.ran - c->proof.odd,
                             .set_aside = c->proof.odd,
                             .invented = c->proof.invented};
    for (size_t i = 0; i < c->split.n_region; i++)
        info.on_target += c->split.nodes[i];
    tc_fill_record(out, &info, sizeof info);
}

tc_status tc_compiled_prove(tc_ctx *ctx, tc_compiled *compiled)
{
    TC_ENTER(ctx, tc_prove(ctx, compiled, compiled->module));
}

bool tc_compiled_accuracy(const tc_compiled *compiled, size_t i, tc_accuracy *out)
{
    const tc_proof *p = &compiled->proof;
    if (!p->of || i >= p->n_out)
        return 0;
    const tc_proof_output *o = &p->out[i];
    const tc_proof_sums *s = &o->by[0], *odd = &o->by[1];
    tc_fill_record(out,
                   &(tc_accuracy){
                       .output = o->name,
                       .real = o->real,
                       .sqnr_db = o->real && o->compared ? tc_proof_db(s, &s->written) : NAN,
                       .agreement = o->compared ? tc_proof_agreement(s, &s->written) : NAN,
                       .lost = s->written.lost + odd->written.lost,
                       .typed_sqnr_db = o->real && p->quantized ? tc_proof_db(s, &s->typed) : NAN,
                       .typed_agreement = p->quantized ? tc_proof_agreement(s, &s->typed) : NAN,
                       .aside_sqnr_db = o->real && odd->n ? tc_proof_db(odd, &odd->written) : NAN,
                       .aside_agreement = odd->n ? tc_proof_agreement(odd, &odd->written) : NAN,
                   },
                   sizeof *out);
    return 1;
}

static tc_vela_figures figures(const tc_vela_job *job)
{
    return (tc_vela_figures){.cycles = job->cycles,
                             .macs = job->macs,
                             .sram_kib = job->sram_kib,
                             .inferences_per_second = job->inferences_per_second,
                             .scratch = job->scratch,
                             .fast_scratch = job->fast_scratch,
                             .weights = job->weights,
                             .payload = (int64_t)job->payload.size};
}

bool tc_compiled_region(const tc_compiled *compiled, size_t i, tc_region_info *out)
{
    const tc_compiled *c = compiled;
    if (i >= c->n_region)
        return 0;
    tc_region_border b = tc_border_of(&c->region[i]);
    const tc_graph *g = tc_main(c->region[i].module);
    tc_region_info info = {.name = c->region[i].name,
                           .operators = i < c->split.n_region ? c->split.nodes[i] : b.n_tosa,
                           .tosa_operators = b.n_tosa,
                           .transposes = b.n_transpose,
                           .bytes_in = b.bytes_in,
                           .bytes_out = b.bytes_out,
                           .n_in = g->n_in,
                           .n_out = g->n_out};
    if (c->written.jobs) {
        info.has_vela = 1;
        info.vela = figures(&c->written.jobs[i]);
    }
    tc_fill_record(out, &info, sizeof info);
    return 1;
}

const tc_type *tc_compiled_region_port(const tc_compiled *compiled, size_t region, bool output,
                                       size_t i)
{
    if (region >= compiled->n_region)
        return NULL;
    const tc_graph *g = tc_main(compiled->region[region].module);
    if (i >= (output ? g->n_out : g->n_in))
        return NULL;
    return tc_type_of(g, output ? g->out[i] : g->in[i]);
}

bool tc_compiled_cpu_node(const tc_compiled *compiled, size_t i, tc_cpu_node_info *out)
{
    if (i >= compiled->split.n_left)
        return 0;
    const tc_split_left *l = &compiled->split.left[i];
    const char *op = tc_ops[l->node->op].name;
    tc_fill_record(out,
                   &(tc_cpu_node_info){.node = l->node->loc->node ? l->node->loc->node : op,
                                       .op = op,
                                       .loc = l->node->loc,
                                       .why = l->why},
                   sizeof *out);
    return 1;
}

static tc_status report(tc_ctx *ctx, const tc_compiled *c, tc_report_kind kind, const char **out)
{
    tc_buf text;
    tc_buf_init(&text, &ctx->arena);
    if (kind == TC_REPORT_LINE)
        tc_report_line(c, &text);
    else if (kind == TC_REPORT_EXPLAIN)
        tc_report_text(c, &text);
    else if (kind == TC_REPORT_CHOICES)
        tc_verdicts_text(c->choices, &text);
    else if (kind == TC_REPORT_JSON || kind == TC_REPORT_EXPLAIN_JSON)
        tc_report_json(ctx, c, kind == TC_REPORT_JSON, &text);
    else
        return tc_usage(ctx, "unknown kind of report %d (see tc_report_kind)", (int)kind);
    *out = tc_buf_cstr(&text);
    return TC_OK;
}

tc_status tc_compiled_report(tc_ctx *ctx, const tc_compiled *compiled, tc_report_kind kind,
                             const char **out)
{
    TC_ENTER(ctx, report(ctx, compiled, kind, out));
}
