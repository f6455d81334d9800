/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c -- tosac compile: a model becomes what a target loads. */
#include "../api/program.h"

#include <stdio.h>

#include "../wire/file.h"
#include "cli.h"
#include "dump.h"
#include "report.h"

typedef struct compile_options {
    const char *target, *output, *emit, *config, *cpu, *dump_dir, *dump_after;
    const char *vela_ini, *system_config, *memory_mode, *optimise;
    int64_t vela_timeout, max_scratch;
    tc_texts calib;
    bool check;
} compile_options;

/* ---- what is written ---- */

typedef struct output {
    tc_ctx *ctx;
    const tc_compiled *c;
    const compile_options *o;
    tc_written written;
} output;

typedef struct file_kind {
    const char *name, *extension;
    tc_status (*write)(output *out);
} file_kind;

static tc_status put_file(output *out, const char *path, tc_bytes bytes)
{
    out->written.bytes += bytes.size;
    return tc_file_write(out->ctx, path, bytes);
}

/* OUT for one region; OUT.0.ext, OUT.1.ext, ... for several. */
static tc_status put_regions(output *out, const char *extension, const tc_payload *payload)
{
    const char *path = out->o->output;
    size_t stem = strlen(path), e = strlen(extension);
    if (out->c->n_region == 0) {
        tc_status status = tc_error(
            out->ctx, &(tc_loc){.file = out->c->module->file}, TC_E_STRUCTURE,
            "no operator goes to '%s', so there is nothing for '%s'", out->c->target.text, path);
        tc_note(out->ctx, NULL, "'tosac explain' tells why; a .pte holds what the CPU runs");
        return status;
    }
    if (out->c->n_region == 1)
        return put_file(out, path, payload[0].bytes);
    if (stem > e && tc_text_eq(path + stem - e, extension))
        stem -= e;
    for (size_t i = 0; i < out->c->n_region; i++)
        TC_TRY(put_file(
            out, tc_text_format(&out->ctx->arena, "%.*s.%zu%s", (int)stem, path, i, extension),
            payload[i].bytes));
    out->written.path = tc_text_format(&out->ctx->arena, "%.*s.0%s to %.*s.%zu%s", (int)stem, path,
                                       extension, (int)stem, path, out->c->n_region - 1, extension);
    return TC_OK;
}

static tc_status write_tosa(output *out)
{
    tc_payload *payload = tc_new_n(&out->ctx->arena, tc_payload, out->c->n_region);
    for (size_t i = 0; i < out->c->n_region; i++)
        TC_TRY(tc_region_tosa(out->ctx, &out->c->region[i], &payload[i].bytes));
    return put_regions(out, ".tosa", payload);
}

static tc_status write_vgf(output *out)
{
    tc_ctx *ctx = out->ctx;
    const tc_compiled *c = out->c;
    tc_bytes bytes;
    if (c->n_region != 1) {
        tc_status status =
            tc_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_STRUCTURE,
                     "the program has %zu regions, a .vgf file holds one", c->n_region);
        tc_note(ctx, NULL, "a .pte holds them all, with the CPU's part between them");
        return status;
    }
    TC_TRY(tc_emit_vgf(ctx, c->region[0].module, &bytes));
    return put_file(out, out->o->output, bytes);
}

static tc_status write_ir(output *out)
{
    return tc_write_text(out->ctx, out->c->module, out->o->output);
}

static tc_status make_payloads(output *out, bool keep_tosa, tc_payload **payload)
{
    const compile_options *o = out->o;
    tc_vela_options vela = {.ini = o->vela_ini,
                            .system_config = o->system_config,
                            .memory_mode = o->memory_mode,
                            .optimise = o->optimise,
                            .timeout = (double)o->vela_timeout,
                            .max_scratch = o->max_scratch};
    return tc_payloads(out->ctx, out->c, &vela, keep_tosa, payload, &out->written.jobs);
}

static tc_status write_vela(output *out)
{
    tc_payload *payload;
    if (out->c->target.machine->packing != TC_PACKED_VELA)
        return tc_usage(out->ctx, "--emit vela is for Ethos-U targets, not for '%s'",
                        out->c->target.text);
    TC_TRY(make_payloads(out, false, &payload));
    return put_regions(out, ".bin", payload);
}

static tc_status put_program(output *out, bool keep_tosa)
{
    tc_payload *payload;
    tc_program program;
    TC_TRY(make_payloads(out, keep_tosa, &payload));
    TC_TRY(tc_program_make(out->ctx, out->c, payload, out->c->n_region, NULL, &program));
    out->written.memory = program.memory;
    return put_file(out, out->o->output, program.pte);
}

static tc_status write_pte(output *out) { return put_program(out, false); }
static tc_status write_pte_tosa(output *out) { return put_program(out, true); }

static const file_kind kinds[] = {
    {"tosa", ".tosa", write_tosa},
    {"vgf", ".vgf", write_vgf},
    {"pte", ".pte", write_pte},
    {"pte+tosa", "", write_pte_tosa},
    {"vela", ".bin", write_vela},
    {"ir", ".ir", write_ir},
};

static const char *kind_name(size_t i, const void *from)
{
    (void)from;
    return i < TC_COUNT(kinds) ? kinds[i].name : NULL;
}

/* By name, else by the file's extension. */
static tc_status find_kind(tc_ctx *ctx, const compile_options *o, const file_kind **out)
{
    size_t n = strlen(o->output);
    for (size_t i = 0; i < TC_COUNT(kinds); i++) {
        size_t e = strlen(kinds[i].extension);
        *out = &kinds[i];
        if (o->emit ? tc_text_eq(o->emit, kinds[i].name)
                    : e && n > e && tc_text_eq(o->output + n - e, kinds[i].extension))
            return TC_OK;
    }
    if (!o->emit)
        return tc_usage(ctx,
                        "what to write into '%s' does not follow from its name: say it with --emit",
                        o->output);
    tc_status status = tc_usage(ctx, "--emit %s: no such kind of file", o->emit);
    const char *near = tc_cli_nearest(o->emit, kind_name, NULL);
    if (near)
        tc_note(ctx, NULL, "did you mean '%s'?", near);
    return status;
}

static tc_status run_compile(tc_ctx *ctx, const tc_common *common, const void *record,
                             const tc_texts *args)
{
    const compile_options *o = record;
    if (!o->target)
        return tc_usage(ctx, "-t TARGET is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    const file_kind *kind = NULL;
    if (o->output)
        TC_TRY(find_kind(ctx, o, &kind));
    tc_texts cpu = {0};
    tc_cli_names(ctx, o->cpu, &cpu);
    tc_dumper dumper = {.ctx = ctx, .folder = o->dump_dir, .after = o->dump_after};
    tc_trace trace = {tc_dump_pass, &dumper};
    tc_compile_request r = {.model = args->v[0],
                            .target = o->target,
                            .config = o->config,
                            .calib = o->calib.v,
                            .n_calib = o->calib.n,
                            .cpu = cpu.v,
                            .n_cpu = cpu.n,
                            .trace = o->dump_dir || o->dump_after ? &trace : NULL,
                            .check = o->check};
    tc_compiled c;
    if (o->dump_dir)
        TC_TRY(tc_dump_begin(&dumper));
    TC_TRY(tc_compile(ctx, &r, &c));
    if (o->dump_dir)
        TC_TRY(tc_dump_end(&dumper, &c));
    output out = {ctx, &c, o, {.path = o->output}};
    if (kind)
        TC_TRY(kind->write(&out));
    if (common->json)
        tc_report_json(ctx, &c, &out.written);
    else
        tc_report_line(&c, &out.written);
    return TC_OK;
}

#define AT(field) offsetof(compile_options, field)
static const tc_option options[] = {
    {"--target", "-t", "TARGET", TC_OPTION_TEXT, AT(target),
     "TOSA-1.0+INT, TOSA-1.0+FP, vgf, ethos-u85-256, cpu, ..."},
    {"--output", "-o", "OUT", TC_OPTION_TEXT, AT(output),
     "the file to write; its extension says what"},
    {"--emit", NULL, "KIND", TC_OPTION_TEXT, AT(emit),
     "what to write, whatever the extension: tosa, vgf, vela, pte, pte+tosa, ir"},
    {"--calib", NULL, "DATA", TC_OPTION_TEXTS, AT(calib),
     "calibration data: .npy, .npz, a folder, or random:SEED"},
    {"--quant", "-q", "CONFIG", TC_OPTION_TEXT, AT(config),
     "int8, int8+16:K, a16w8, a8w4, none, anchor, or a JSON file"},
    {"--cpu", NULL, "NODES", TC_OPTION_TEXT, AT(cpu),
     "names or operators that stay on the CPU, comma-separated"},
    {"--vela-ini", NULL, "FILE", TC_OPTION_TEXT, AT(vela_ini),
     "Ethos-U: a system description of your own for Vela"},
    {"--system-config", NULL, "NAME", TC_OPTION_TEXT, AT(system_config),
     "Ethos-U: which system of the description"},
    {"--memory-mode", NULL, "NAME", TC_OPTION_TEXT, AT(memory_mode),
     "Ethos-U: which memory mode of the description"},
    {"--optimise", NULL, "WHAT", TC_OPTION_TEXT, AT(optimise), "Ethos-U: Performance or Size"},
    {"--vela-timeout", NULL, "S", TC_OPTION_COUNT, AT(vela_timeout),
     "Ethos-U: seconds that Vela may take for a region (600)"},
    {"--max-scratch", NULL, "BYTES", TC_OPTION_COUNT, AT(max_scratch),
     "Ethos-U: turn the program down when a region needs more memory"},
    {"--check", NULL, NULL, TC_OPTION_FLAG, AT(check),
     "run the program before and after every step, on samples of the calibration data"},
    {"--dump-dir", NULL, "DIR", TC_OPTION_TEXT, AT(dump_dir),
     "the graph after each pass, each region's .tosa, and trace.json"},
    {"--dump-after", NULL, "PASS", TC_OPTION_TEXT, AT(dump_after),
     "show the graph on standard error after this pass, or after 'all'"},
    {0},
};

const tc_verb tc_cli_compile = {
    .name = "compile",
    .arguments = "MODEL -t TARGET [-o OUT]",
    .summary = "make a model into what a target loads",
    .help = "MODEL is a .pt2, a .tosa or a text graph.  A float model for a target that computes "
            "with integers needs\n"
            "--calib; an export that went through PT2E names its own quantization.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(compile_options),
    .run = run_compile,
};
