/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c -- tosac compile: a model becomes what a target loads. */
#include "../program.h"

#include <stdio.h>

#include "../wire/file.h"
#include "cli.h"
#include "dump.h"

typedef struct compile_options {
    const char *target, *output, *emit, *config, *cpu, *dump_dir, *dump_after;
    tc_texts calib;
    bool check;
} compile_options;

/* ---- what is written ---- */

typedef struct file_kind {
    const char *name, *extension;
    tc_status (*write)(tc_ctx *ctx, const tc_compiled *c, const char *path);
} file_kind;

static tc_status write_tosa(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    tc_bytes bytes;
    if (c->n_region == 1) {
        TC_TRY(tc_region_tosa(ctx, &c->region[0], &bytes));
        return tc_file_write(ctx, path, bytes);
    }
    size_t stem = strlen(path);
    if (stem > 5 && tc_text_eq(path + stem - 5, ".tosa"))
        stem -= 5;
    for (size_t i = 0; i < c->n_region; i++) {
        const char *name = tc_text_format(&ctx->arena, "%.*s.%zu.tosa", (int)stem, path, i);
        TC_TRY(tc_region_tosa(ctx, &c->region[i], &bytes));
        TC_TRY(tc_file_write(ctx, name, bytes));
    }
    return TC_OK;
}

static tc_status write_vgf(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    tc_bytes bytes;
    if (c->n_region != 1) {
        tc_status status = tc_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_STRUCTURE,
                                    "the program has %zu regions, a .vgf file holds one", c->n_region);
        tc_note(ctx, NULL, "a .pte holds them all, with the CPU's part between them");
        return status;
    }
    TC_TRY(tc_emit_vgf(ctx, c->region[0].module, &bytes));
    return tc_file_write(ctx, path, bytes);
}

static tc_status write_ir(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    return tc_write_text(ctx, c->module, path);
}

static tc_status write_pte(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    tc_payload *payload = tc_new_n(&ctx->arena, tc_payload, c->n_region);
    for (size_t i = 0; i < c->n_region; i++)
        payload[i] = tc_program_tosa_payload(ctx, c, &c->region[i]);
    tc_program program;
    TC_TRY(tc_program_make(ctx, c, payload, c->n_region, NULL, &program));
    return tc_file_write(ctx, path, program.pte);
}

static const file_kind kinds[] = {
    {"tosa", ".tosa", write_tosa},
    {"vgf", ".vgf", write_vgf},
    {"pte", ".pte", write_pte},
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
                    : n > e && tc_text_eq(o->output + n - e, kinds[i].extension))
            return TC_OK;
    }
    if (!o->emit)
        return tc_usage(ctx, "what to write into '%s' does not follow from its name: say it with --emit", o->output);
    tc_status status = tc_usage(ctx, "--emit %s: no such kind of file", o->emit);
    const char *near = tc_cli_nearest(o->emit, kind_name, NULL);
    if (near)
        tc_note(ctx, NULL, "did you mean '%s'?", near);
    return status;
}

/* ---- what is said ---- */

static void report(const tc_compiled *c, const compile_options *o)
{
    size_t nodes = 0;
    for (size_t i = 0; i < c->split.n_region; i++)
        nodes += c->split.nodes[i];
    printf("%s: %zu region%s", o->output ? o->output : "compiled", c->n_region, c->n_region == 1 ? "" : "s");
    if (c->split.n_region)
        printf(", %zu operators on %s, %zu on the CPU", nodes, c->target.text, c->split.n_left);
    printf("\n");
}

static tc_status run_compile(tc_ctx *ctx, const tc_common *common, const void *record, const tc_texts *args)
{
    const compile_options *o = record;
    (void)common;
    if (!o->target)
        return tc_usage(ctx, "-t TARGET is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    const file_kind *kind = NULL;
    if (o->output)
        TC_TRY(find_kind(ctx, o, &kind));
    tc_texts cpu = {0};
    tc_cli_names(ctx, o->cpu, &cpu);
    tc_dumper dumper = {.ctx = ctx, .folder = o->dump_dir, .after = o->dump_after};
    tc_trace trace = {tc_dump_pass, &dumper};
    tc_compile_request r = {.model = args->v[0], .target = o->target, .config = o->config,
                            .calib = o->calib.v, .n_calib = o->calib.n, .cpu = cpu.v, .n_cpu = cpu.n,
                            .trace = o->dump_dir || o->dump_after ? &trace : NULL, .check = o->check};
    tc_compiled c;
    if (o->dump_dir)
        TC_TRY(tc_dump_begin(&dumper));
    TC_TRY(tc_compile(ctx, &r, &c));
    if (o->dump_dir)
        TC_TRY(tc_dump_end(&dumper, &c));
    if (kind)
        TC_TRY(kind->write(ctx, &c, o->output));
    report(&c, o);
    return TC_OK;
}

#define AT(field) offsetof(compile_options, field)
static const tc_option options[] = {
    {"--target", "-t", "TARGET", TC_OPTION_TEXT, AT(target), "TOSA-1.0+INT, TOSA-1.0+FP, vgf, ethos-u85-256, cpu, ..."},
    {"--output", "-o", "OUT", TC_OPTION_TEXT, AT(output), "the file to write; its extension says what"},
    {"--emit", NULL, "KIND", TC_OPTION_TEXT, AT(emit), "what to write, whatever the extension: tosa, vgf, pte, ir"},
    {"--calib", NULL, "DATA", TC_OPTION_TEXTS, AT(calib), "calibration data: .npy, .npz, a folder, or random:SEED"},
    {"--quant", "-q", "CONFIG", TC_OPTION_TEXT, AT(config), "int8, int8+16:K, a16w8, a8w4, none, anchor, or a JSON file"},
    {"--cpu", NULL, "NODES", TC_OPTION_TEXT, AT(cpu), "names or operators that stay on the CPU, comma-separated"},
    {"--check", NULL, NULL, TC_OPTION_FLAG, AT(check), "run the program before and after every step, on samples of the calibration data"},
    {"--dump-dir", NULL, "DIR", TC_OPTION_TEXT, AT(dump_dir), "the graph after each pass, each region's .tosa, and trace.json"},
    {"--dump-after", NULL, "PASS", TC_OPTION_TEXT, AT(dump_after), "show the graph on standard error after this pass, or after 'all'"},
    {0},
};

const tc_verb tc_cli_compile = {
    .name = "compile",
    .arguments = "MODEL -t TARGET [-o OUT]",
    .summary = "make a model into what a target loads",
    .help = "MODEL is a .pt2, a .tosa or a text graph.  A float model for a target that computes with integers needs\n"
            "--calib; an export that went through PT2E names its own quantization.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(compile_options),
    .run = run_compile,
};
