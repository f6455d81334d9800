/* SPDX-License-Identifier: Apache-2.0 */
/* cli_opt.c -- tosac opt: one pass at a time, text in, text out. */
#include "cli_dump.h"

#include <stddef.h>

#include "cli_json.h"

typedef struct opt_options {
    const char *passes, *output, *dump_after, *target, *config;
    cli_texts calib;
    int64_t arena_limit;
    bool no_loc;
} opt_options;

/* Without source locations, and all constants inline: what a test compares. */
static tc_status print_plain(cli *c, const tc_model *model)
{
    tc_bytes text;
    CLI_TRY(tc_model_text(c->ctx, model, 0, &text));
    fwrite(text.data, 1, text.size, stdout);
    return TC_OK;
}

/* The graph's text as a member, or the file that has it. */
static tc_status print_json(cli *c, const tc_model *model, const opt_options *o)
{
    cli_json_out out = {0};
    tc_bytes text = {0};
    if (o->output)
        CLI_TRY(tc_model_write(c->ctx, model, o->output));
    else
        CLI_TRY(tc_model_text(c->ctx, model, !o->no_loc, &text));
    cli_json_open(&out, NULL, '{');
    cli_json_put_text(&out, "passes", o->passes);
    cli_json_put_text(&out, "file", o->output);
    cli_json_put_text(&out, "graph", (const char *)text.data);
    cli_json_close(&out, '}');
    return TC_OK;
}

static tc_status run_opt(cli *c, const void *record, const cli_texts *args)
{
    const opt_options *o = record;
    cli_dumper dumper = {.c = c, .after = o->dump_after};
    tc_model *model;
    CLI_TRY(cli_dump_known(c, o->dump_after));
    CLI_TRY(cli_try_output(c, o->output));
    if (o->arena_limit)
        tc_ctx_set_memory_limit(c->ctx, (size_t)o->arena_limit);
    CLI_TRY(tc_model_open(c->ctx, args->v[0], NULL, &model));
    tc_compile_options told = tc_compile_options_default();
    told.target = o->target;
    told.quant.config = o->config;
    told.on_pass = o->dump_after ? cli_dump_pass : NULL;
    told.user = &dumper;
    CLI_TRY(cli_data(c, &o->calib, false, &told.quant.samples));
    CLI_TRY(tc_model_run_stages(c->ctx, model, o->passes, &told));
    cli_progress_end(c);
    if (c->common.json)
        return print_json(c, model, o);
    if (!o->no_loc)
        return cli_write_model(c, model, o->output ? o->output : "-");
    if (o->output)
        return cli_usage(c, "--no-loc is for standard output; a file keeps its locations");
    return print_plain(c, model);
}

#define AT(field) offsetof(opt_options, field)
static const cli_option options[] = {
    {"--pass", NULL, "A,B", CLI_TEXT, AT(passes),
     "passes and lists of passes to run, in order; doc/passes.md lists them"},
    {"--target", "-t", "TARGET", CLI_TEXT, AT(target),
     "for narrow-integers, split-regions and lower-to-tosa: TOSA-1.0+INT, ethos-u85-256, ..."},
    {"--calib", NULL, "DATA", CLI_TEXTS, AT(calib),
     "for quantize-model: .npy, .npz, a folder, or random:SEED"},
    {"--quant", "-q", "CONFIG", CLI_TEXT, AT(config),
     "for quantize-model: int8, a16w8, ... or a JSON file"},
    {"--output", "-o", "OUT", CLI_TEXT, AT(output),
     "write the text there, large constants to OUT.bin (default: standard output)"},
    {"--dump-after", NULL, "PASS", CLI_TEXT, AT(dump_after),
     "show the graph on standard error after this pass, or after 'all'"},
    {"--no-loc", NULL, NULL, CLI_FLAG, AT(no_loc), "leave out the source locations of nodes"},
    {"--arena-limit", NULL, "BYTES", CLI_BYTES, AT(arena_limit),
     "fail when the graph and the passes need more memory"},
    {0},
};

const cli_verb cli_opt = {
    .name = "opt",
    .arguments = "--pass=A,B FILE [-o OUT]",
    .summary = "run one pass at a time, and show the graph as text",
    .help = "FILE is anything that tosac reads; '-' is a text graph on standard input.  The graph "
            "is verified\n"
            "before the first pass and after each.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(opt_options),
    .run = run_opt,
};
