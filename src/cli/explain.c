/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c -- tosac explain: what goes where, and why. */
#include "cli.h"

#include <stddef.h>

typedef struct explain_options {
    const char *target, *config, *cpu;
    cli_texts calib;
} explain_options;

static tc_status run_explain(cli *c, const void *record, const cli_texts *args)
{
    const explain_options *o = record;
    cli_texts cpu = {0}, files = o->calib;
    tc_dataset *data;
    tc_model *model;
    tc_compiled *compiled;
    const char *report;
    if (!o->target)
        return cli_usage(c, "-t TARGET is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    cli_add_names(&cpu, o->cpu);
    if (!files.n) /* where nodes go does not depend on the ranges, so invented numbers do */
        cli_add(&files, "random:1");
    CLI_TRY(tc_target_check(c->ctx, o->target));
    CLI_TRY(tc_model_open(c->ctx, args->v[0], NULL, &model));
    CLI_TRY(cli_data(c, &files, false, &data));
    tc_compile_options r = tc_compile_options_default();
    r.target = o->target;
    r.config = o->config;
    r.samples = data;
    r.samples_only_if_needed = !o->calib.n;
    r.cpu = cpu.v;
    r.n_cpu = cpu.n;
    CLI_TRY(tc_compile(c->ctx, model, &r, &compiled));
    cli_progress_end(c);
    CLI_TRY(tc_compiled_report(
        c->ctx, compiled, c->common.json ? TC_REPORT_EXPLAIN_JSON : TC_REPORT_EXPLAIN, &report));
    fputs(report, stdout);
    return TC_OK;
}

#define AT(field) offsetof(explain_options, field)
static const cli_option options[] = {
    {"--target", "-t", "TARGET", CLI_TEXT, AT(target),
     "TOSA-1.0+INT, TOSA-1.0+FP, vgf, ethos-u85-256, cpu, ..."},
    {"--calib", NULL, "DATA", CLI_TEXTS, AT(calib),
     "calibration data; without, numbers are invented: only the ranges follow from them"},
    {"--quant", "-q", "CONFIG", CLI_TEXT, AT(config),
     "int8, int8+16:K, a16w8, a8w4, a16w4, none, anchor, or a JSON file"},
    {"--cpu", NULL, "NODES", CLI_TEXT, AT(cpu),
     "names or operators that stay on the CPU, comma-separated"},
    {0},
};

const cli_verb cli_explain = {
    .name = "explain",
    .arguments = "MODEL -t TARGET",
    .summary = "tell what goes where, and why",
    .help = "Prints the regions that the target takes, what crosses their borders, and for every "
            "operator that stays\n"
            "on the CPU the reason and its line of Python.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(explain_options),
    .run = run_explain,
};
