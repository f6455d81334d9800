/* SPDX-License-Identifier: Apache-2.0 */
/* cli_advise.c -- tosac advise: what to change, and what that saves. */
#include "cli_compile_options.h"
#include "cli_report.h"

typedef struct advise_options {
    cli_asked asked;
    int64_t tries;
    const char *report;
} advise_options;

static tc_status write_report(cli *c, const advise_options *o, const tc_model *model,
                              tc_dataset *data, const tc_advice *advice, const cli_texts *files)
{
    tc_report_options r = tc_report_options_default();
    r.model = model;
    r.compiled = tc_advice_compiled(advice);
    r.advice = advice;
    r.samples = o->asked.calib.n ? data : NULL;
    r.config = o->asked.config;
    return cli_write_report(c, &r, files, o->report);
}

static tc_status run_advise(cli *c, const void *record, const cli_texts *args)
{
    advise_options o = *(const advise_options *)record;
    cli_texts files = o.asked.calib;
    tc_dataset *data;
    tc_model *model;
    tc_advice *advice;
    tc_advise_options how = tc_advise_options_default();
    const char *text;
    CLI_TRY(cli_asked_target(c, &o.asked, "ethos-u55-128, ethos-u85-256, cortex-m55, vgf ..."));
    if (!files.n)
        cli_add(&files, "random:1");
    CLI_TRY(tc_model_open(c->ctx, args->v[0], NULL, &model));
    CLI_TRY(cli_data(c, &files, false, &data));
    tc_compile_options compile = cli_asked_options(&o.asked, data);
    compile.quant.only_if_needed = !o.asked.calib.n;
    how.tries = o.tries > 0 ? (size_t)o.tries : 0;
    CLI_TRY(tc_advise(c->ctx, model, &compile, &how, &advice));
    cli_progress_end(c);
    CLI_TRY(tc_advice_report(c->ctx, advice, c->common.json ? TC_FORM_JSON : TC_FORM_TEXT, &text));
    fputs(text, stdout);
    return o.report ? write_report(c, &o, model, data, advice, &files) : TC_OK;
}

static const cli_option options[] = {
    CLI_ROW_TARGET(advise_options, CLI_TARGETS_HELP),
    {"--tries", NULL, "N", CLI_NUMBER, offsetof(advise_options, tries),
     "how many changes to try at most, the most promising of each kind first (default: 24)"},
    CLI_ROW_CALIB(advise_options,
                  "calibration data (default: random data, and nothing is said of accuracy)"),
    CLI_ROWS_SETTINGS(advise_options),
    CLI_ROWS_ETHOSU(advise_options),
    {"--report", NULL, "FILE", CLI_TEXT, offsetof(advise_options, report), CLI_REPORT_HELP},
    {0},
};

const cli_verb cli_advise = {
    .name = "advise",
    .arguments = "MODEL (-t TARGET | --board NAME)",
    .summary = "show what to change in a model or its settings, and what that saves",
    .help = "Changes the model (kernels, strides, channels, activations, norms, its input) or the "
            "settings (memory, bits), compiles the\n"
            "whole program with each change and prints what it saves in cycles, SRAM, flash and "
            "operators on the CPU, the most first;\n"
            "with calibration data also what it gives or costs in dB.  Changes that bring too "
            "little are listed below.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(advise_options),
    .run = run_advise,
};
