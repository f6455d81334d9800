/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c -- tosac explain: what goes where, and why. */
#include "cli.h"
#include "report.h"

typedef struct explain_options {
    const char *target, *config, *cpu;
    tc_texts calib;
} explain_options;

static tc_status run_explain(tc_ctx *ctx, const tc_common *common, const void *record,
                             const tc_texts *args)
{
    static const char *const invented[] = {"random:1"};
    const explain_options *o = record;
    if (!o->target)
        return tc_usage(ctx, "-t TARGET is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    tc_texts cpu = {0};
    tc_cli_names(ctx, o->cpu, &cpu);
    /* Where nodes go does not depend on the ranges, so invented numbers do. */
    tc_compile_request r = {.model = args->v[0],
                            .target = o->target,
                            .config = o->config,
                            .calib = o->calib.n ? o->calib.v : (const char *const *)invented,
                            .n_calib = o->calib.n ? o->calib.n : 1,
                            .calib_only_if_needed = !o->calib.n,
                            .cpu = cpu.v,
                            .n_cpu = cpu.n};
    tc_compiled c;
    TC_TRY(tc_compile(ctx, &r, &c));
    if (common->json)
        tc_report_json(ctx, &c, NULL);
    else
        tc_report_text(&c);
    return TC_OK;
}

#define AT(field) offsetof(explain_options, field)
static const tc_option options[] = {
    {"--target", "-t", "TARGET", TC_OPTION_TEXT, AT(target),
     "TOSA-1.0+INT, TOSA-1.0+FP, vgf, ethos-u85-256, cpu, ..."},
    {"--calib", NULL, "DATA", TC_OPTION_TEXTS, AT(calib),
     "calibration data; without, numbers are invented: only the ranges follow from them"},
    {"--quant", "-q", "CONFIG", TC_OPTION_TEXT, AT(config),
     "int8, int8+16:K, a16w8, a8w4, none, anchor, or a JSON file"},
    {"--cpu", NULL, "NODES", TC_OPTION_TEXT, AT(cpu),
     "names or operators that stay on the CPU, comma-separated"},
    {0},
};

const tc_verb tc_cli_explain = {
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
