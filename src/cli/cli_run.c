/* SPDX-License-Identifier: Apache-2.0 */
/* cli_run.c -- tosac run: a program over samples, results into files or a summary. */
#include "cli.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cli_results.h"

typedef struct run_options {
    cli_texts data;
    const char *folder, *preprocess, *method, *device;
    bool raw, reset, tosa, dequantize;
    int64_t bench, steps;
} run_options;

typedef struct run {
    cli *c;
    tc_program *program;
    tc_dataset *data;
    size_t samples;
    tc_tensor *in; /* the program's own buffers */
    size_t n_in;
    bool reset; /* every sample starts from the initial state */
} run;

static tc_status prepare(run *r)
{
    r->n_in = tc_program_input_count(r->program);
    r->in = cli_memory(r->n_in, sizeof *r->in);
    for (size_t i = 0; i < r->n_in; i++) {
        tc_port_info port = {.size = sizeof port};
        tc_program_input(r->program, i, &port);
        r->in[i] = (tc_tensor){port.type, tc_program_input_buffer(r->program, i)};
        if (!r->in[i].data)
            return TC_NO_MEMORY;
    }
    return TC_OK;
}

static tc_status read_sample(run *r, size_t k)
{
    return tc_dataset_sample(r->c->ctx, r->data, k, r->in, r->n_in);
}

static tc_status add_results(void *results, const tc_sample_result *sample)
{
    return cli_results_add(results, sample->out);
}

static tc_status all_samples(run *r, cli_results *results)
{
    tc_run_data_options o = tc_run_data_options_default();
    o.reset = r->reset;
    o.on_result = add_results;
    o.user = results;
    CLI_TRY(tc_program_run_data(r->program, r->data, &o));
    cli_progress_end(r->c);
    return TC_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One operator's share of the time. */
typedef struct op_time {
    const char *name;
    double mean;
} op_time;

typedef struct timing {
    size_t n; /* 0: not asked for */
    double least, median;
    double peak_mb;     /* of the process, so far */
    double read;        /* the model */
    op_time *op, *line; /* by operator; by line of Python, the most expensive first */
    size_t n_op, n_line;
} timing;

static double peak_mb(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
}

static void take_times(const run *r, timing *t)
{
    const char *name;
    while (tc_program_seconds(r->program, t->n_op, &name) >= 0)
        t->n_op++;
    t->op = cli_memory(t->n_op, sizeof *t->op);
    for (size_t i = 0; i < t->n_op; i++)
        t->op[i].mean = tc_program_seconds(r->program, i, &t->op[i].name) / (double)t->n;
}

static int by_place(const void *a, const void *b)
{
    return strcmp(((const op_time *)a)->name, ((const op_time *)b)->name);
}

static int costliest_first(const void *a, const void *b)
{
    double x = ((const op_time *)a)->mean, y = ((const op_time *)b)->mean;
    return x != y ? (x < y ? 1 : -1) : by_place(a, b);
}

/* Steps of the same line, or of the same node where lines are not known, put together. */
static void take_lines(const run *r, timing *t)
{
    tc_step_time step = tc_step_time_default();
    size_t n = 0, kept = 0;
    while (tc_program_step_time(r->program, n, &step))
        n++;
    t->line = cli_memory(n, sizeof *t->line);
    for (size_t i = 0; i < n && tc_program_step_time(r->program, i, &step); i++) {
        const tc_loc *loc = step.loc;
        const char *name = loc && loc->place ? loc->place : loc && loc->node ? loc->node : step.op;
        t->line[i] = (op_time){name, step.seconds / (double)t->n};
    }
    if (n)
        qsort(t->line, n, sizeof *t->line, by_place);
    for (size_t i = 0; i < n; i++)
        if (kept && cli_is(t->line[kept - 1].name, t->line[i].name))
            t->line[kept - 1].mean += t->line[i].mean;
        else
            t->line[kept++] = t->line[i];
    if (kept)
        qsort(t->line, kept, sizeof *t->line, costliest_first);
    t->n_line = kept;
}

/* Times n runs, one sample each, cycling through the samples, after one that is not counted; nor is
 * reading the samples. */
static tc_status bench(run *r, size_t n, timing *t)
{
    double *seconds = cli_memory(n, sizeof *seconds);
    CLI_TRY(read_sample(r, 0));
    CLI_TRY(tc_program_run(r->program));
    tc_program_reset(r->program);
    CLI_TRY(tc_program_time(r->program));
    for (size_t k = 0; k < n; k++) {
        CLI_TRY(read_sample(r, k % r->samples));
        double begin = cli_seconds();
        CLI_TRY(tc_program_run(r->program));
        seconds[k] = cli_seconds() - begin;
        cli_on_progress(r->c, "runs", k + 1, n);
    }
    cli_progress_end(r->c);
    qsort(seconds, n, sizeof *seconds, by_value);
    t->n = n;
    take_times(r, t);
    take_lines(r, t);
    t->least = seconds[0];
    t->median = (seconds[n / 2] + seconds[(n - 1) / 2]) / 2;
    t->peak_mb = peak_mb();
    return TC_OK;
}

static void json_timing(cli_json_out *out, const timing *t)
{
    cli_json_open(out, "bench", '{');
    cli_json_put_int(out, "runs", (int64_t)t->n);
    cli_json_put_real(out, "read_s", t->read);
    cli_json_put_real(out, "min_s", t->least);
    cli_json_put_real(out, "median_s", t->median);
    cli_json_put_real(out, "peak_mb", t->peak_mb);
    cli_json_open(out, "mean_s_by_operator", '{');
    for (size_t i = 0; i < t->n_op; i++)
        if (t->op[i].mean > 0)
            cli_json_put_real(out, t->op[i].name, t->op[i].mean);
    cli_json_close(out, '}');
    cli_json_open(out, "mean_s_by_line", '{');
    for (size_t i = 0; i < t->n_line; i++)
        cli_json_put_real(out, t->line[i].name, t->line[i].mean);
    cli_json_close(out, '}');
    cli_json_close(out, '}');
}

/* What took most of the time, down to a hundredth of it. */
static void print_costliest(const char *heading, op_time *row, size_t n)
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += row[i].mean;
    if (all > 0)
        printf("%s\n", heading);
    if (n)
        qsort(row, n, sizeof *row, costliest_first);
    for (size_t i = 0; i < n && row[i].mean > all / 100; i++)
        printf("  %-32s %9.3f ms %5.1f %%\n", row[i].name, 1e3 * row[i].mean,
               100 * row[i].mean / all);
}

/* One of the sizes that the data has: its results. */
typedef struct sized_run {
    const tc_model *model;
    run r;
    double ready;         /* when the program was ready to run */
    cli_results *results; /* NULL: only its time counts */
} sized_run;

static void json_sizes(const sized_run *s, size_t n, cli_json_out *out)
{
    cli_json_open(out, "sizes", '[');
    for (size_t i = 0; i < n; i++) {
        cli_json_open(out, NULL, '{');
        cli_json_put_text(out, "inputs", cli_input_types(s[i].model));
        cli_json_put_int(out, "samples", (int64_t)s[i].r.samples);
        cli_results_json(s[i].results, out);
        cli_json_close(out, '}');
    }
    cli_json_close(out, ']');
}

static void tell(cli *c, const run_options *o, const sized_run *s, size_t n, const timing *t)
{
    cli_json_out out = {0};
    size_t samples = 0;
    for (size_t i = 0; i < n; i++)
        samples += s[i].r.samples;
    if (c->common.json) {
        cli_json_open(&out, NULL, '{');
        cli_json_put_int(&out, "samples", (int64_t)samples);
        if (n > 1)
            json_sizes(s, n, &out);
        else if (s->results)
            cli_results_json(s->results, &out);
        if (t->n)
            json_timing(&out, t);
        cli_json_close(&out, '}');
        return;
    }
    for (size_t i = 0; i < n && s[i].results && !o->folder; i++) {
        if (n > 1)
            printf("%s%s: %zu sample%s\n", i ? "\n" : "", cli_input_types(s[i].model),
                   s[i].r.samples, s[i].r.samples == 1 ? "" : "s");
        cli_results_print(s[i].results);
    }
    if (t->n)
        printf("%zu runs: min %.3f ms, median %.3f ms a sample; read in %.1f ms, peak memory %.1f "
               "MB\n",
               t->n, 1e3 * t->least, 1e3 * t->median, 1e3 * t->read, t->peak_mb);
    print_costliest("by operator", t->op, t->n_op);
    print_costliest("by line", t->line, t->n_line);
}

/* The program at one size, over its samples. */
static tc_status run_size(cli *c, const run_options *o, const tc_sized_model *at, size_t all,
                          sized_run *out)
{
    cli_results_shape shape = {.number = at->number, .all = all};
    out->model = at->model;
    out->r = (run){.c = c, .reset = o->reset, .data = at->data};
    CLI_TRY(tc_program_new(c->ctx, at->model, NULL, &out->r.program));
    out->ready = cli_seconds();
    CLI_TRY(tc_program_bind_data(out->r.program, at->data, &out->r.samples, &shape.join,
                                 &shape.extent));
    if (!o->folder && o->bench)
        return TC_OK;
    shape.samples = out->r.samples;
    if (at->number && shape.samples != at->n_sample)
        return cli_usage(c, "the inputs' arrays hold different numbers of samples");
    if (at->number)
        shape.join = TC_JOINED_NOT;
    CLI_TRY(cli_results_new(c, out->r.program, shape, o->folder, o->raw, &out->results));
    return all_samples(&out->r, out->results);
}

static tc_status run_program(cli *c, const void *record, const cli_texts *args)
{
    const run_options *o = record;
    timing t = {0};
    tc_dataset *data;
    const tc_sized_model *at;
    size_t n, all = 0;
    double begin = cli_seconds();
    tc_model_options reading = tc_model_options_default();
    reading.prefer_tosa = o->tosa;
    reading.dequantize = o->dequantize;
    reading.method = o->method;
    reading.data = o->data.v;
    reading.n_data = o->data.n;
    CLI_TRY(cli_use_device(c, o->device));
    CLI_TRY(cli_data_by(c, &o->data, o->preprocess, true, &data));
    tc_dataset_repeat(data, (size_t)o->steps);
    CLI_TRY(tc_model_open_sizes(c->ctx, args->v[0], &reading, data, &at, &n));
    if (n > 1 && o->bench)
        return cli_usage(c, "--bench is for samples of one size; the data has %zu", n);
    sized_run *s = cli_memory(n, sizeof *s);
    for (size_t i = 0; i < n; i++)
        all += at[i].n_sample;
    for (size_t i = 0; i < n; i++)
        CLI_TRY(run_size(c, o, &at[i], all, &s[i]));
    t.read = s->ready - begin;
    for (size_t i = 0; i < n; i++)
        if (s[i].results)
            CLI_TRY(cli_results_commit(s[i].results));
    if (o->bench) {
        CLI_TRY(prepare(&s->r));
        CLI_TRY(bench(&s->r, (size_t)o->bench, &t));
    }
    tell(c, o, s, n, &t);
    return TC_OK;
}

#define AT(field) offsetof(run_options, field)
static const cli_option options[] = {
    {"--input", "-i", "DATA", CLI_TEXTS, AT(data),
     "a .npy, a .npz or a folder of them; repeat for further inputs"},
    {"--preprocess", NULL, "RULES", CLI_TEXT, AT(preprocess), CLI_PREPROCESS_HELP},
    {"--output", "-o", "DIR", CLI_TEXT, AT(folder),
     "write output_0.npy, output_1.npy, ... to this folder; samples of several sizes: "
     "output_0/0.npy, ..."},
    {"--method", NULL, "NAME", CLI_TEXT, AT(method),
     "the method of a .pte (default: forward, else the first)"},
    {"--steps", NULL, "N", CLI_NUMBER, AT(steps), "call a program without inputs N times"},
    CLI_ROW_RESET(AT(reset)),
    {"--raw", NULL, NULL, CLI_FLAG, AT(raw), "write bf16 and fp8 as their bits, not as float32"},
    {"--tosa", NULL, NULL, CLI_FLAG, AT(tosa),
     "run the TOSA that is stored beside an Ethos-U stream"},
    {"--dequantize", NULL, NULL, CLI_FLAG, AT(dequantize),
     "take float data for quantized inputs and outputs, by their types or by FILE.json"},
    CLI_ROW_DEVICE(AT(device)),
    {"--bench", NULL, "N", CLI_NUMBER, AT(bench),
     "time N runs of one sample each; without -o do nothing else"},
    {0},
};

const cli_verb cli_run = {
    .name = "run",
    .arguments = "PROGRAM [-i DATA]... [-o DIR] [--steps N] [--reset] [--raw] [--tosa] [--bench N]",
    .summary = "run a program on data, and write or show its outputs",
    .help =
        "PROGRAM is a .pt2, an .onnx, a .tflite, a .tosa, a .vgf, a .pte, Vela's _vela.npz or a "
        "text graph .ir.\n"
        "A sample is an array of the input's own shape; an array with a longer first axis, or with "
        "one more axis, holds\n"
        "several samples, and their results are concatenated along the first axis (or stacked on a "
        "new one).  State is\n"
        "kept from sample to sample, unless --reset.  A program that leaves sizes open takes them "
        "from the data: files, or\n"
        "members arr_0, arr_1, ... of a .npz, may have one each.\n"
        "Numbers must fit the input's type exactly: integers and floats of another width are "
        "accepted when no value changes.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(run_options),
    .run = run_program,
};
