/* SPDX-License-Identifier: Apache-2.0 */
/* cli_evaluate.c -- tosac evaluate: how often programs are right, in one table. */
#include "cli.h"

#include <math.h>
#include <stddef.h>

#include "cli_json.h"

typedef struct evaluate_options {
    cli_texts data;
    const char *labels, *preprocess, *device;
    int64_t most;
    bool tosa, dequantize, perplexity;
} evaluate_options;

enum { MISTAKES = 5 };

static const char *decibels(double db, char out[32])
{
    snprintf(out, 32, isinf(db) ? "equal" : "%.1f dB", db);
    return out;
}

static void print_program(const tc_evaluation *e, size_t i, int width)
{
    tc_evaluated v = {.size = sizeof v};
    char db[32];
    tc_evaluation_program(e, i, &v);
    double n = (double)v.n;
    bool reference = i == tc_evaluation_reference(e);
    printf("%-*s", width, v.name);
    if (tc_evaluation_has_labels(e)) {
        printf("  %6.2f %%  %5.1f .. %5.1f", 100 * (double)v.right / n, 100 * v.low, 100 * v.high);
        if (v.classes > 5)
            printf("  %6.2f %%", 100 * (double)v.right5 / n);
        if (reference)
            printf("  %23s", "");
        else
            printf("  %+6.2f (%+.2f .. %+.2f)", 100 * v.gain, 100 * v.gain_low, 100 * v.gain_high);
    }
    if (v.predicted) {
        tc_evaluated base = {.size = sizeof base};
        tc_evaluation_program(e, tc_evaluation_reference(e), &base);
        printf("  %10.3f  %7.4f x", v.perplexity, v.perplexity / base.perplexity);
    }
    if (reference)
        printf("  reference");
    else
        printf("  %6.2f %%  %s", 100 * (double)v.agree / n, decibels(v.sqnr_db, db));
    printf("\n");
}

static void print_class(size_t number, const char *name)
{
    if (name)
        printf("%s", name);
    else
        printf("%zu", number);
}

static void print_mistakes(const tc_evaluation *e, size_t i)
{
    tc_confusion c = {.size = sizeof c};
    tc_evaluated v = {.size = sizeof v};
    tc_evaluation_program(e, i, &v);
    if (!tc_evaluation_confusion(e, i, 0, &c))
        return;
    printf("%s takes", v.name);
    for (size_t k = 0; k < MISTAKES && tc_evaluation_confusion(e, i, k, &c); k++) {
        printf(k ? ", " : " ");
        print_class(c.label, c.label_name);
        printf(" for ");
        print_class(c.said, c.said_name);
        printf(" (%zu of %zu)", c.count, c.of);
    }
    printf("\n");
}

static void print_table(const tc_evaluation *e)
{
    tc_evaluated v = {.size = sizeof v};
    int width = 7;
    for (size_t i = 0; tc_evaluation_program(e, i, &v); i++)
        width = (int)strlen(v.name) > width ? (int)strlen(v.name) : width;
    tc_evaluation_program(e, 0, &v);
    printf("%-*s", width, "program");
    if (tc_evaluation_has_labels(e))
        printf("     top-1  95 %% within %s  points from the reference",
               v.classes > 5 ? "    top-5" : "");
    if (v.predicted)
        printf("  perplexity  of float");
    printf("   agrees  SQNR\n");
    for (size_t i = 0; tc_evaluation_program(e, i, &v); i++)
        print_program(e, i, width);
    for (size_t i = 0; tc_evaluation_program(e, i, &v); i++)
        print_mistakes(e, i);
    tc_evaluation_program(e, 0, &v);
    if (v.predicted)
        printf("%zu tokens predicted, of %zu\n", v.predicted, v.classes);
    else
        printf("%zu samples, %zu classes\n", v.n, v.classes);
}

static void json_mistakes(const tc_evaluation *e, size_t i, cli_json_out *out)
{
    tc_confusion c = {.size = sizeof c};
    cli_json_open(out, "confusions", '[');
    for (size_t k = 0; tc_evaluation_confusion(e, i, k, &c); k++) {
        cli_json_open(out, NULL, '{');
        cli_json_put_int(out, "label", (int64_t)c.label);
        cli_json_put_int(out, "said", (int64_t)c.said);
        if (c.label_name)
            cli_json_put_text(out, "label_name", c.label_name);
        if (c.said_name)
            cli_json_put_text(out, "said_name", c.said_name);
        cli_json_put_int(out, "count", (int64_t)c.count);
        cli_json_put_int(out, "of", (int64_t)c.of);
        cli_json_close(out, '}');
    }
    cli_json_close(out, ']');
}

static void print_json(const tc_evaluation *e)
{
    cli_json_out out = {0};
    tc_evaluated v = {.size = sizeof v};
    cli_json_open(&out, NULL, '{');
    cli_json_put_int(&out, "reference", (int64_t)tc_evaluation_reference(e));
    cli_json_open(&out, "programs", '[');
    for (size_t i = 0; tc_evaluation_program(e, i, &v); i++) {
        double n = (double)v.n;
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "program", v.name);
        cli_json_put_int(&out, "samples", (int64_t)v.n);
        cli_json_put_int(&out, "classes", (int64_t)v.classes);
        if (tc_evaluation_has_labels(e)) {
            cli_json_put_real(&out, "top1", (double)v.right / n);
            cli_json_put_real(&out, "top1_low", v.low);
            cli_json_put_real(&out, "top1_high", v.high);
            cli_json_put_real(&out, "top5", (double)v.right5 / n);
            cli_json_put_real(&out, "gain", v.gain);
            cli_json_put_real(&out, "gain_low", v.gain_low);
            cli_json_put_real(&out, "gain_high", v.gain_high);
            json_mistakes(e, i, &out);
        }
        if (v.predicted) {
            cli_json_put_int(&out, "predicted", (int64_t)v.predicted);
            cli_json_put_real(&out, "perplexity", v.perplexity);
        }
        cli_json_put_real(&out, "agreement", (double)v.agree / n);
        cli_json_put_real(&out, "sqnr_db", v.sqnr_db); /* null: equal */
        cli_json_put_real(&out, "seconds", v.seconds);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_close(&out, '}');
}

/* Every program at every size that the first of them finds in the data. */
static tc_status open_all(cli *c, const cli_texts *path, const tc_model_options *reading,
                          tc_evaluate_options *out)
{
    const tc_sized_model *first, *other;
    size_t n, same;
    CLI_TRY(tc_model_open_sizes(c->ctx, path->v[0], reading, out->data, &first, &n));
    tc_sized_model *all = cli_memory(n * path->n, sizeof *all);
    for (size_t p = 0; p < n; p++) {
        all[p * path->n] = first[p];
        for (size_t i = 1; i < path->n; i++) {
            tc_sized_model *at = &all[p * path->n + i];
            CLI_TRY(tc_model_open_sizes(c->ctx, path->v[i], reading, first[p].data, &other, &same));
            *at = *other;
            at->number = first[p].number;
        }
    }
    out->sized = all;
    out->n_sized = n;
    return TC_OK;
}

static tc_status run_evaluate(cli *c, const void *record, const cli_texts *args)
{
    const evaluate_options *o = record;
    tc_evaluate_options r = tc_evaluate_options_default();
    tc_model_options reading = tc_model_options_default();
    tc_evaluation *e;
    if (!o->data.n)
        return cli_usage(c, "--data is missing: a folder of images, a .npy or a .npz");
    reading.prefer_tosa = o->tosa;
    reading.dequantize = o->dequantize;
    reading.data = o->data.v;
    reading.n_data = o->data.n;
    CLI_TRY(cli_use_device(c, o->device));
    r.n_program = args->n;
    r.labels = o->labels;
    r.perplexity = o->perplexity;
    CLI_TRY(cli_data_by(c, &o->data, o->preprocess, true, &r.data));
    tc_dataset_limit(r.data, (size_t)o->most);
    CLI_TRY(open_all(c, args, &reading, &r));
    if (r.n_sized > 1 && o->most)
        return cli_usage(c, "--most is for samples of one size; the data has %zu", r.n_sized);
    CLI_TRY(tc_evaluate(c->ctx, &r, &e));
    cli_progress_end(c);
    (c->common.json ? print_json : print_table)(e);
    if (args->n == 1 && !o->labels && !o->perplexity && !c->common.json)
        cli_note(c, "there is nothing to compare with: --labels FILE counts what is right, a second program "
                    "what agrees");
    return TC_OK;
}

#define AT(field) offsetof(evaluate_options, field)
static const cli_option options[] = {
    {"--data", NULL, "DATA", CLI_TEXTS, AT(data),
     "a folder of images (with --preprocess), a .npy or a .npz"},
    {"--labels", NULL, "FILE", CLI_TEXT, AT(labels),
     "by-folder, a .npy, or a text file with one label a line"},
    {"--perplexity", NULL, NULL, CLI_FLAG, AT(perplexity),
     "samples are tokens: how well each is predicted from those before it"},
    {"--preprocess", NULL, "RULES", CLI_TEXT, AT(preprocess), CLI_PREPROCESS_HELP},
    {"--most", NULL, "N", CLI_NUMBER, AT(most), "only the first N samples"},
    {"--dequantize", NULL, NULL, CLI_FLAG, AT(dequantize),
     "take float data for quantized inputs and outputs, by their types or by FILE.json"},
    {"--tosa", NULL, NULL, CLI_FLAG, AT(tosa),
     "run the TOSA that is stored beside an Ethos-U stream"},
    CLI_ROW_DEVICE(AT(device)),
    {0},
};

const cli_verb cli_evaluate = {
    .name = "evaluate",
    .arguments = "PROGRAM... --data DATA [--labels FILE|by-folder] [--perplexity]",
    .summary = "measure the accuracy of programs, side by side on the same data",
    .help = "PROGRAM is anything that 'tosac run' takes; its first output has a score for every "
            "class.  The first float\n"
            "program is the reference for the others: points gained or lost, how often the class "
            "is the same, and the SQNR of\n"
            "the scores.  Intervals are 95 %: where one contains 0, the difference may be "
            "chance.\n",
    .least = 1,
    .most = INT32_MAX,
    .option = options,
    .record = sizeof(evaluate_options),
    .run = run_evaluate,
};
