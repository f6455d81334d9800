/* SPDX-License-Identifier: Apache-2.0 */
/* opt.c -- tosac opt: one pass at a time, text in, text out. */
#include <stdio.h>

#include "../api/pass.h"
#include "../emit/emit.h"
#include "../ir/text.h"
#include "../read/read.h"
#include "cli.h"
#include "dump.h"

typedef struct opt_options {
    const char *passes, *output, *dump_after;
    int64_t arena_limit;
    bool no_loc;
} opt_options;

/* Without places, and everything in place: what a test compares. */
static void print_plain(tc_ctx *ctx, const tc_module *module)
{
    tc_buf text;
    tc_buf_init(&text, &ctx->arena);
    tc_print(module, &(tc_print_options){.locs = false}, &text);
    fwrite(text.data, 1, text.size, stdout);
}

static tc_status run_opt(tc_ctx *ctx, const tc_common *common, const void *record,
                         const tc_texts *args)
{
    const opt_options *o = record;
    (void)common;
    if (o->arena_limit)
        ctx->arena.limit = (size_t)o->arena_limit;
    tc_module *module;
    TC_TRY(tc_read(ctx, args->v[0], &module));
    TC_TRY(tc_verify(ctx, module));
    tc_dumper dumper = {.ctx = ctx, .after = o->dump_after};
    tc_trace trace = {tc_dump_pass, &dumper};
    TC_TRY(tc_run_passes(ctx, module, o->passes ? o->passes : "", o->dump_after ? &trace : NULL));
    if (!o->no_loc)
        return tc_write_text(ctx, module, o->output ? o->output : "-");
    if (o->output)
        return tc_usage(ctx, "--no-loc is for standard output; a file keeps its places");
    print_plain(ctx, module);
    return TC_OK;
}

#define AT(field) offsetof(opt_options, field)
static const tc_option options[] = {
    {"--pass", NULL, "A,B", TC_OPTION_TEXT, AT(passes),
     "passes and lists of passes to run, in order; doc/passes.md has them"},
    {"--output", "-o", "OUT", TC_OPTION_TEXT, AT(output),
     "write the text there, large constants to OUT.bin (default: standard output)"},
    {"--dump-after", NULL, "PASS", TC_OPTION_TEXT, AT(dump_after),
     "show the graph on standard error after this pass, or after 'all'"},
    {"--no-loc", NULL, NULL, TC_OPTION_FLAG, AT(no_loc), "leave out where the nodes came from"},
    {"--arena-limit", NULL, "BYTES", TC_OPTION_COUNT, AT(arena_limit),
     "fail when the graph and the work on it need more memory"},
    {0},
};

const tc_verb tc_cli_opt = {
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
