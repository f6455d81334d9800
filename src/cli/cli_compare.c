/* SPDX-License-Identifier: Apache-2.0 */
/* cli_compare.c -- tosac compare: two forms of a program on the same data, value by value, the
 * largest contribution to the error of the outputs first. */
#include "cli.h"

#include <math.h>
#include <stddef.h>

#include "cli_json.h"
#include "cli_report.h"

typedef struct compare_options {
    cli_texts data;
    int64_t most;
    const char *report, *preprocess;
    bool dequantize;
} compare_options;

static const char *place_of(const tc_compared_value *v)
{
    return v->loc ? v->loc->place : NULL;
}

static void print_row(const tc_compared_value *v)
{
    char steps[32] = "-", saturated[32] = "-", alone[32] = "-";
    if (!isnan(v->max_steps)) {
        snprintf(steps, sizeof steps, "%.2f", v->max_steps);
        snprintf(saturated, sizeof saturated, "%.3f %%", 100 * v->saturated);
    }
    if (!isnan(v->alone_db))
        snprintf(alone, sizeof alone, "%.2f", v->alone_db);
    printf("%-28s %-5s %8.2f %9.6f %12.6g %9s %9s %8s  %s%s\n", v->name,
           tc_dtype_name(v->type->dtype), v->sqnr_db, v->cosine, v->max_error, steps, saturated,
           alone, place_of(v) ? place_of(v) : "", v->cut ? " (cut on purpose)" : "");
}

static void print_table(const tc_comparison *c, size_t most)
{
    tc_compared_value v = {.size = sizeof v};
    size_t samples = tc_comparison_samples(c);
    printf("%-28s %-5s %8s %9s %12s %9s %9s %8s  %s\n", "value", "type", "SQNR dB", "cosine",
           "max error", "in steps", "saturated", "alone dB", "from");
    for (size_t i = 0; i < most && tc_comparison_value(c, i, &v); i++)
        print_row(&v);
    printf("%zu values compared on %zu sample%s\n", tc_comparison_count(c), samples,
           samples == 1 ? "" : "s");
}

/* inputs: NULL where all samples are of one size. */
static void print_json(cli_json_out *to, const char *inputs, const tc_comparison *c, size_t most)
{
    tc_compared_value v = {.size = sizeof v};
    cli_json_open(to, NULL, '{');
    if (inputs)
        cli_json_put_text(to, "inputs", inputs);
    cli_json_put_int(to, "samples", (int64_t)tc_comparison_samples(c));
    cli_json_open(to, "values", '[');
    for (size_t i = 0; i < most && tc_comparison_value(c, i, &v); i++) {
        cli_json_open(to, NULL, '{');
        cli_json_put_text(to, "name", v.name);
        cli_json_put_text(to, "dtype", tc_dtype_name(v.type->dtype));
        cli_json_put_real(to, "sqnr_db", v.sqnr_db);
        cli_json_put_real(to, "cosine", v.cosine);
        cli_json_put_real(to, "max_error", v.max_error);
        cli_json_put_real(to, "max_steps", v.max_steps);
        cli_json_put_real(to, "saturated", v.saturated);
        cli_json_put_real(to, "alone_db", v.alone_db);
        cli_json_put_bool(to, "cut", v.cut != 0);
        cli_json_put_text(to, "place", place_of(&v));
        cli_json_put_text(to, "module", v.loc ? v.loc->module : NULL);
        cli_json_close(to, '}');
    }
    cli_json_close(to, ']');
    cli_json_close(to, '}');
}

/* Both at one size. */
static tc_status compare_at(cli *c, const compare_options *o, const tc_sized_model *a,
                            const tc_model *b, tc_comparison **out)
{
    CLI_TRY(tc_compare_models(c->ctx, a->model, b, a->data, out));
    cli_progress_end(c);
    if (!o->report)
        return TC_OK;
    tc_report_options r = tc_report_options_default();
    r.model = a->model;
    r.second = b;
    r.comparison = *out;
    return cli_write_report(c, &r, &o->data, o->report);
}

static void print_all(const cli *c, const compare_options *o, const tc_sized_model *at,
                      tc_comparison *const *comparison, size_t n)
{
    cli_json_out out = {0};
    if (c->common.json && n > 1) {
        cli_json_open(&out, NULL, '{');
        cli_json_open(&out, "sizes", '[');
    }
    for (size_t i = 0; i < n; i++) {
        size_t most = o->most ? (size_t)o->most : tc_comparison_count(comparison[i]);
        const char *inputs = n > 1 ? cli_input_types(at[i].model) : NULL;
        if (c->common.json) {
            print_json(&out, inputs, comparison[i], most);
            continue;
        }
        if (inputs)
            printf("%s%s\n", i ? "\n" : "", inputs);
        print_table(comparison[i], most);
    }
    if (c->common.json && n > 1) {
        cli_json_close(&out, ']');
        cli_json_close(&out, '}');
    }
}

static tc_status run_compare(cli *c, const void *record, const cli_texts *args)
{
    const compare_options *o = record;
    const tc_sized_model *a, *b;
    tc_dataset *data;
    size_t n, same;
    tc_model_options reading = tc_model_options_default();
    reading.dequantize = o->dequantize;
    reading.data = o->data.v;
    reading.n_data = o->data.n;
    CLI_TRY(cli_data_by(c, &o->data, o->preprocess, true, &data));
    CLI_TRY(tc_model_open_sizes(c->ctx, args->v[0], &reading, data, &a, &n));
    if (n > 1 && o->report)
        return cli_usage(c, "--report is for samples of one size; the data has %zu", n);
    tc_comparison **comparison = cli_memory(n, sizeof *comparison);
    for (size_t i = 0; i < n; i++) {
        CLI_TRY(tc_model_open_sizes(c->ctx, args->v[1], &reading, a[i].data, &b, &same));
        CLI_TRY(compare_at(c, o, &a[i], b->model, &comparison[i]));
    }
    print_all(c, o, a, comparison, n);
    return TC_OK;
}

#define AT(field) offsetof(compare_options, field)
static const cli_option options[] = {
    {"--input", "-i", "DATA", CLI_TEXTS, AT(data),
     "a .npy, a .npz or a folder of them; repeat for further inputs"},
    {"--preprocess", NULL, "RULES", CLI_TEXT, AT(preprocess), CLI_PREPROCESS_HELP},
    {"--dequantize", NULL, NULL, CLI_FLAG, AT(dequantize),
     "take float data for quantized inputs and outputs, by their types or by FILE.json"},
    {"--report", NULL, "FILE", CLI_TEXT, AT(report), CLI_REPORT_HELP},
    {"--most", NULL, "N", CLI_NUMBER, AT(most), "show only the N worst values"},
    {0},
};

const cli_verb cli_compare = {
    .name = "compare",
    .arguments = "A B -i DATA...",
    .summary = "run two forms of a program on the same data and show where they differ",
    .help = "A is the reference, such as the float model; B is another form of it, such as a "
            "typed program.  Values are\n"
            "matched by name and shape; quantized values are dequantized first.  SQNR is 10 log10 "
            "(sum a^2 / sum (a - b)^2);\n"
            "steps are those of B's scale; saturated elements have the lowest or highest code.  "
            "alone dB is the SQNR of A's\n"
            "outputs with only this value quantized as in B: the largest contribution to their "
            "error comes first.  Values that are\n"
            "clipped on purpose do not affect the outputs.  Sizes that A or B leaves open are those "
            "of the data.\n",
    .least = 2,
    .most = 2,
    .option = options,
    .record = sizeof(compare_options),
    .run = run_compare,
};
