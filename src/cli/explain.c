/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c -- tosac explain: what goes where, and why. */
#include "asked.h"

typedef struct explain_options {
    cli_asked asked;
} explain_options;

static tc_status run_explain(cli *c, const void *record, const cli_texts *args)
{
    const explain_options *o = record;
    tc_compiled *compiled;
    const char *report;
    if (!o->asked.target)
        return cli_usage(c, "-t TARGET is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    CLI_TRY(cli_compile_anyhow(c, &o->asked, args->v[0], &compiled));
    CLI_TRY(tc_compiled_report(
        c->ctx, compiled, c->common.json ? TC_REPORT_EXPLAIN_JSON : TC_REPORT_EXPLAIN, &report));
    fputs(report, stdout);
    return TC_OK;
}

static const cli_option options[] = {
    CLI_ROW_TARGET(explain_options, CLI_TARGETS_HELP),
    CLI_ROW_CALIB(
        explain_options,
        "calibration data; without, numbers are invented: only the ranges follow from them"),
    CLI_ROWS_SETTINGS(explain_options),
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
