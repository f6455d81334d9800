/* SPDX-License-Identifier: Apache-2.0 */
/* cli_quantize.c -- tosac quantize: a float model and data become a typed program. */
#include "cli.h"

#include <math.h>
#include <stddef.h>

#include "cli_compile_options.h"
#include "cli_json.h"
#include "cli_report.h"

typedef struct quantize_options {
    cli_texts calib, merge, real;
    const char *config, *rate, *target, *board, *output, *qparams, *report, *preprocess, *budget;
    bool observe_only, keep_odd, all_samples, reset;
} quantize_options;

/* The first argument is the model; what a shell made of "--merge part*.obs" or "--calib *.npy"
 * follows it. */
static tc_status sort_arguments(cli *c, const cli_texts *args, quantize_options *o,
                                const char **model)
{
    for (size_t i = 0; i < args->n; i++) {
        const char *word = args->v[i];
        bool obs = cli_ends(word, ".obs");
        if (obs && o->merge.n)
            cli_add(&o->merge, word);
        else if (!obs && !*model)
            *model = word;
        else if (!obs && o->calib.n)
            cli_add(&o->calib, word);
        else
            return cli_usage(
                c, "unexpected argument '%s': data needs --calib, observations need --merge", word);
    }
    return *model ? TC_OK : cli_usage(c, "the model is missing");
}

/* A name with an extension that only compile writes. */
static bool is_program_name(const char *path)
{
    for (int kind = 0; tc_output_name((tc_output)kind); kind++) {
        const char *end = tc_output_extension((tc_output)kind);
        if (kind != TC_OUTPUT_IR && *end && cli_ends(path, end))
            return true;
    }
    return cli_ends(path, ".onnx") || cli_ends(path, ".pt2");
}

static tc_status check_options(cli *c, const quantize_options *o)
{
    if (!o->output)
        return cli_usage(c, "-o FILE is missing: where the %s",
                         o->observe_only ? "observations go" : "typed program goes");
    if (!o->observe_only && is_program_name(o->output)) {
        tc_status status = cli_usage(
            c, "-o %s: quantize writes the typed program as text, a .ir", o->output);
        cli_note(c, "'tosac compile MODEL -t TARGET --calib DATA -o %s' quantizes and compiles", o->output);
        return status;
    }
    if (o->observe_only && o->qparams)
        return cli_usage(c, "--qparams cannot be combined with --observe-only");
    if (o->observe_only && o->report)
        return cli_usage(c, "--report cannot be combined with --observe-only");
    if (o->observe_only && o->budget)
        return cli_usage(c, "--budget cannot be combined with --observe-only");
    return TC_OK;
}

static void print_json(const tc_quantize_report *r)
{
    cli_json_out out = {0};
    cli_json_open(&out, NULL, '{');
    cli_json_put_int(&out, "quantized", (int64_t)r->quantized);
    cli_json_put_int(&out, "float", (int64_t)r->real);
    cli_json_put_int(&out, "samples", (int64_t)r->samples);
    cli_json_put_real(&out, "first_pass_s", r->first_pass);
    cli_json_put_real(&out, "second_pass_s", r->second_pass);
    cli_json_put_real(&out, "read_s", r->read);
    cli_json_put_real(&out, "search_s", r->search);
    cli_json_put_real(&out, "rank_s", r->rank);
    cli_json_put_real(&out, "bias_s", r->correct);
    cli_json_put_real(&out, "sqnr_db", r->sqnr_db);
    cli_json_put_int(&out, "kept_back", (int64_t)r->kept_back);
    cli_json_put_text(&out, "measured_on", r->measured_on);
    cli_json_put_real(&out, "plain_sqnr_db", r->plain_sqnr_db);
    cli_json_put_real(&out, "agreement", r->agreement);
    cli_json_open(&out, "methods", '[');
    for (size_t i = 0; i < r->n_method; i++) {
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "name", r->method[i].name);
        cli_json_put_real(&out, "sqnr_db", r->method[i].sqnr_db);
        cli_json_put_bool(&out, "taken", r->method[i].taken);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_close(&out, '}');
}

static void print_figure(const tc_quantize_report *r)
{
    if (!r->measured_on)
        printf("\n");
    else if (isinf(r->sqnr_db))
        printf("; against float: the same numbers on %s\n", r->measured_on);
    else
        printf("; against float: %.1f dB on %s\n", r->sqnr_db, r->measured_on);
}

/* What each quantization method gained, on calibration samples. */
static void print_gains(const tc_quantize_report *r)
{
    if (!r->n_method)
        return;
    printf("  %-10s %6.2f dB  on calibration samples, as those below\n", "nearest", r->plain_sqnr_db);
    for (size_t i = 0; i < r->n_method; i++)
        printf("  %-10s %6.2f dB  %s: %s\n", r->method[i].name, r->method[i].sqnr_db,
               r->method[i].taken ? "taken" : "left out", r->method[i].what);
}

static tc_status observe(cli *c, const tc_model *model, const tc_quantize_options *request,
                         const quantize_options *o)
{
    tc_bytes seen;
    CLI_TRY(tc_observe_model(c->ctx, model, request, &seen));
    CLI_TRY(tc_write_file(c->ctx, o->output, seen));
    if (c->common.json) {
        cli_json_out out = {0};
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "observations", o->output);
        cli_json_put_int(&out, "bytes", (int64_t)seen.size);
        cli_json_close(&out, '}');
    }
    return TC_OK;
}

static tc_status quantize(cli *c, const tc_model *model, const tc_quantize_options *request,
                          const quantize_options *o)
{
    tc_quantize_report report = {.size = sizeof report};
    tc_model *typed;
    CLI_TRY(tc_quantize_model(c->ctx, model, request, &typed, &report));
    cli_progress_end(c);
    CLI_TRY(cli_write_model(c, typed, o->output));
    if (o->qparams)
        CLI_TRY(tc_model_write_qparams(c->ctx, typed, o->qparams));
    if (o->report) {
        tc_report_options r = tc_report_options_default();
        r.model = model;
        r.typed = typed;
        r.samples = request->samples;
        r.config = o->config;
        CLI_TRY(cli_write_report(c, &r, &o->calib, o->report));
    }
    if (c->common.json)
        print_json(&report);
    else if (!c->common.quiet) {
        printf("%s: %zu values quantized, %zu in float", o->output, report.quantized, report.real);
        print_figure(&report);
        print_gains(&report);
    }
    return TC_OK;
}

static tc_status run_quantize(cli *c, const void *record, const cli_texts *args)
{
    quantize_options own = *(const quantize_options *)record, *o = &own;
    const char *path = NULL;
    tc_config *config = NULL;
    tc_model *model;
    tc_quantize_options request = tc_quantize_options_default();
    CLI_TRY(sort_arguments(c, args, o, &path));
    CLI_TRY(check_options(c, o));
    CLI_TRY(cli_try_output(c, o->output));
    CLI_TRY(cli_try_output(c, o->qparams));
    CLI_TRY(cli_try_output(c, o->report));
    if (o->board)
        CLI_TRY(cli_board_target(c, o->board, &o->target));
    o->config = cli_settings(o->config, &o->real, o->rate);
    if (o->config)
        CLI_TRY(tc_config_open(c->ctx, o->config, &config));
    CLI_TRY(tc_model_open(c->ctx, path, NULL, &model));
    CLI_TRY(cli_data_by(c, &o->calib, o->preprocess, false, &request.samples));
    tc_observations *merge = cli_memory(o->merge.n, sizeof *merge);
    for (size_t i = 0; i < o->merge.n; i++)
        merge[i].name = o->merge.v[i];
    request.config = config;
    request.target = o->target;
    request.merge = merge;
    request.n_merge = o->merge.n;
    request.keep_odd = o->keep_odd;
    request.all_samples = o->all_samples;
    request.reset = o->reset;
    if (o->budget && (request.budget_seconds = cli_amount(o->budget)) < 0)
        return cli_usage(c, "--budget '%s': expected a number above 0", o->budget);
    return o->observe_only ? observe(c, model, &request, o) : quantize(c, model, &request, o);
}

#define AT(field) offsetof(quantize_options, field)
static const cli_option options[] = {
    {"--calib", NULL, "DATA", CLI_TEXTS, AT(calib),
     "calibration data: .npy, .npz, a folder, or random:SEED"},
    {"--preprocess", NULL, "RULES", CLI_TEXT, AT(preprocess), CLI_PREPROCESS_HELP},
    {"--merge", NULL, "OBS", CLI_TEXTS, AT(merge),
     "observations of other runs; repeat for further files"},
    {"--quant", "-q", "CONFIG", CLI_TEXT, AT(config), CLI_QUANT_HELP},
    {"--float", NULL, "NODES", CLI_TEXTS, AT(real), CLI_FLOAT_HELP},
    {"--rate", NULL, "DB", CLI_TEXT, AT(rate), CLI_RATE_HELP},
    {"--target", "-t", "TARGET", CLI_TEXT, AT(target),
     "the target to quantize for: compile then writes the same bytes as from MODEL "
     "(default: TOSA-1.0+INT)"},
    {"--board", NULL, "NAME|FILE", CLI_TEXT, AT(board), "the same, for a board's target"},
    {"--output", "-o", "OUT", CLI_TEXT, AT(output),
     "the typed program as text, with large constants in OUT.bin"},
    {"--qparams", NULL, "JSON", CLI_TEXT, AT(qparams),
     "write the scale and zero point of every value"},
    {"--report", NULL, "FILE", CLI_TEXT, AT(report), CLI_REPORT_HELP},
    {"--budget", NULL, "TIME", CLI_TEXT, AT(budget),
     "skip methods that have not begun by then: 90s, 10min (default: no limit)"},
    {"--observe-only", NULL, NULL, CLI_FLAG, AT(observe_only),
     "write the observations to OUT and stop"},
    {"--keep-odd-samples", NULL, NULL, CLI_FLAG, AT(keep_odd), "keep every sample, outliers too"},
    {"--all-samples", NULL, NULL, CLI_FLAG, AT(all_samples),
     "keep none back to measure on: quicker, and the figure is optimistic"},
    CLI_ROW_RESET(AT(reset)),
    {0},
};

const cli_verb cli_quantize = {
    .name = "quantize",
    .arguments = "MODEL (--calib DATA... | --merge OBS...) [-q CONFIG] [-t TARGET] -o OUT",
    .summary = "quantize a float model with calibration data",
    .help = "MODEL is a .pt2, an .onnx, a .tflite or a text graph; a PT2E export needs no data.  "
            "Of the settings\n"
            "for a value the most specific wins: node, operator (target), module, module type, "
            "io, global.\n"
            "Observations of parts of the data, in any order and from any machine, merge to the "
            "same parameters.\n",
    .least = 1,
    .most = INT32_MAX,
    .option = options,
    .record = sizeof(quantize_options),
    .run = run_quantize,
};
