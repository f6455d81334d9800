/* SPDX-License-Identifier: Apache-2.0 */
/* cli_explain.c -- tosac explain: what goes where, and why. */
#include "cli_compile_options.h"

typedef struct explain_options {
    cli_asked asked;
    bool cost;
} explain_options;

/* The forms that were offered, then what all parts of the program cost, next to the whole program's
 * cost. */
static tc_status show_cost(cli *c, tc_compiled *compiled)
{
    const char *text;
    tc_profile *profile;
    CLI_TRY(tc_compiled_report(c->ctx, compiled, TC_REPORT_CHOICES, &text));
    fputs(text, stdout);
    CLI_TRY(tc_profile_new(c->ctx, compiled, &profile));
    cli_progress_end(c);
    CLI_TRY(tc_profile_report(c->ctx, profile, TC_PROFILE_BY_KIND, SIZE_MAX, TC_FORM_TEXT, &text));
    fputs(text, stdout);
    double cycles = 0;
    tc_region_info region = tc_region_info_default();
    tc_profile_info info = tc_profile_info_default();
    for (size_t i = 0; tc_compiled_region(compiled, i, &region); i++)
        cycles += region.stream.cycles;
    tc_profile_get_info(profile, &info);
    if (info.instructions > 0)
        return TC_OK;
    printf("total: %.0f cycles; the parts add up to %.0f (%+.2f %%)\n", cycles,
           info.total.cycles, cycles > 0 ? 100 * (info.total.cycles / cycles - 1) : 0);
    return TC_OK;
}

static tc_status run_explain(cli *c, const void *record, const cli_texts *args)
{
    explain_options own = *(const explain_options *)record, *o = &own;
    tc_compiled *compiled;
    const char *report;
    CLI_TRY(cli_asked_target(c, &o->asked, "TOSA-1.0+INT, vgf, ethos-u85-256, cpu ..."));
    CLI_TRY(cli_compile_anyhow(c, &o->asked, args->v[0], &compiled));
    if (o->cost)
        return show_cost(c, compiled);
    CLI_TRY(tc_compiled_report(
        c->ctx, compiled, c->common.json ? TC_REPORT_EXPLAIN_JSON : TC_REPORT_EXPLAIN, &report));
    fputs(report, stdout);
    return TC_OK;
}

static const cli_option options[] = {
    CLI_ROW_TARGET(explain_options, CLI_TARGETS_HELP),
    CLI_ROW_CALIB(
        explain_options,
        "calibration data (default: random data; only the ranges depend on it)"),
    CLI_ROWS_SETTINGS(explain_options),
    CLI_ROWS_ETHOSU(explain_options),
    {"--cost", NULL, NULL, CLI_FLAG, offsetof(explain_options, cost),
     "Ethos-U: the alternative forms, their cost and which were chosen; then every part; "
     "Cortex-M: every part"},
    {0},
};

const cli_verb cli_explain = {
    .name = "explain",
    .arguments = "MODEL (-t TARGET | --board NAME)",
    .summary = "show what runs where, and why",
    .help = "Prints the regions for the accelerator, the tensors that go in and out, and for "
            "every operator that stays\n"
            "on the CPU the reason and its Python line.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(explain_options),
    .run = run_explain,
};
