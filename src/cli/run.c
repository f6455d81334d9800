/* SPDX-License-Identifier: Apache-2.0 */
/* run.c -- tosac run: a program over samples, results into files or a summary. */
#include "cli.h"

#include "../api/pass.h"
#include "../ir/verify.h"
#include "../quant/quant.h"
#include "../read/read.h"
#include "../run/exec.h"
#include "results.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

typedef struct run_options {
    tc_texts data;
    const char *folder;
    bool raw, reset, tosa;
    int64_t bench, steps;
} run_options;

typedef struct run {
    tc_ctx *ctx;
    tc_graph *g;
    tc_exec *exec;
    tc_data *data;
    tc_tensor *in, *out;
    bool reset; /* every sample starts with what the program remembers at first */
} run;

static void prepare(run *r)
{
    tc_arena *arena = &r->ctx->arena;
    r->in = tc_new_n(arena, tc_tensor, r->g->n_in);
    r->out = tc_new_n(arena, tc_tensor, r->g->n_out);
    for (size_t i = 0; i < r->g->n_in; i++)
        r->in[i] = tc_tensor_new(arena, tc_type_of(r->g, r->g->in[i]));
}

static tc_status all_samples(run *r, tc_results *results)
{
    size_t n = tc_data_samples(r->data);
    tc_progress progress;
    tc_progress_begin(&progress, "samples", n);
    tc_status status = TC_OK;
    for (size_t k = 0; k < n && !status; k++) {
        status = tc_data_sample(r->data, k, r->in);
        if (r->reset)
            tc_exec_reset(r->exec);
        if (!status)
            status = tc_exec_run(r->exec, r->in, r->out);
        if (!status)
            status = tc_results_add(results, r->out);
        tc_progress_step(&progress, k + 1);
    }
    tc_progress_end(&progress);
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct timing {
    size_t n; /* 0: not asked for */
    double least, median;
    double peak_mb; /* of the process, so far */
    double read;    /* the model */
    double by_op[TC_OP_COUNT];
} timing;

static double peak_mb(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
}

/* Times n runs, one sample each, going round the samples, after one that is not counted; nor is
 * reading the samples. */
static tc_status bench(run *r, size_t n, timing *t)
{
    double *seconds = tc_new_n(&r->ctx->arena, double, n);
    size_t samples = tc_data_samples(r->data);
    tc_progress progress;
    tc_progress_begin(&progress, "runs", n);
    TC_TRY(tc_data_sample(r->data, 0, r->in));
    TC_TRY(tc_exec_run(r->exec, r->in, r->out));
    tc_exec_reset(r->exec);
    tc_exec_time(r->exec, t->by_op);
    for (size_t k = 0; k < n; k++) {
        TC_TRY(tc_data_sample(r->data, k % samples, r->in));
        double begin = tc_seconds();
        TC_TRY(tc_exec_run(r->exec, r->in, r->out));
        seconds[k] = tc_seconds() - begin;
        tc_progress_step(&progress, k + 1);
    }
    tc_progress_end(&progress);
    qsort(seconds, n, sizeof *seconds, by_value);
    for (int op = 0; op < TC_OP_COUNT; op++)
        t->by_op[op] /= (double)n;
    t->n = n;
    t->least = seconds[0];
    t->median = (seconds[n / 2] + seconds[(n - 1) / 2]) / 2;
    t->peak_mb = peak_mb();
    return TC_OK;
}

static void json_timing(tc_json_out *out, const timing *t)
{
    tc_json_open(out, "bench", '{');
    tc_json_put_int(out, "runs", (int64_t)t->n);
    tc_json_put_real(out, "read_s", t->read);
    tc_json_put_real(out, "min_s", t->least);
    tc_json_put_real(out, "median_s", t->median);
    tc_json_put_real(out, "peak_mb", t->peak_mb);
    tc_json_open(out, "mean_s_by_operator", '{');
    for (int op = 0; op < TC_OP_COUNT; op++)
        if (t->by_op[op] > 0)
            tc_json_put_real(out, tc_ops[op].name, t->by_op[op]);
    tc_json_close(out, '}');
    tc_json_close(out, '}');
}

/* The operators that took most of the time, down to a hundredth of it. */
static void print_by_op(const timing *t)
{
    double all = 0;
    bool told[TC_OP_COUNT] = {false};
    for (int op = 0; op < TC_OP_COUNT; op++)
        all += t->by_op[op];
    for (;;) {
        int most = -1;
        for (int op = 0; op < TC_OP_COUNT; op++)
            if (!told[op] && t->by_op[op] > all / 100 &&
                (most < 0 || t->by_op[op] > t->by_op[most]))
                most = op;
        if (most < 0)
            return;
        told[most] = true;
        printf("  %-24s %9.3f ms %5.1f %%\n", tc_ops[most].name, 1e3 * t->by_op[most],
               100 * t->by_op[most] / all);
    }
}

static void tell(const run *r, const run_options *o, const tc_results *results, const timing *t,
                 bool json)
{
    tc_json_out out = {0};
    if (json) {
        tc_json_open(&out, NULL, '{');
        tc_json_put_int(&out, "samples", (int64_t)tc_data_samples(r->data));
        if (results)
            tc_results_json(results, &out);
        if (t->n)
            json_timing(&out, t);
        tc_json_close(&out, '}');
        return;
    }
    if (results && !o->folder)
        tc_results_print(results);
    if (t->n)
        printf("%zu runs: min %.3f ms, median %.3f ms a sample; read in %.1f ms, peak memory %.1f "
               "MB\n",
               t->n, 1e3 * t->least, 1e3 * t->median, 1e3 * t->read, t->peak_mb);
    print_by_op(t);
}

static tc_status run_program(tc_ctx *ctx, const tc_common *common, const void *record,
                             const tc_texts *args)
{
    const run_options *o = record;
    tc_module *module;
    timing t = {0};
    double begin = tc_seconds();
    ctx->prefer_tosa = o->tosa;
    TC_TRY(tc_read(ctx, args->v[0], &module));
    TC_TRY(
        tc_verify(ctx, module)); /* a mistake in the file is not ours, and kernels rely on types */
    if (!ctx->reference_kernels)
        TC_TRY(tc_run_passes(
            ctx, module,
            tc_quant_is_typed(module) && !tc_quant_is_lowered(module) ? "simulate,tidy" : "tidy",
            NULL));
    t.read = tc_seconds() - begin;
    run r = {.ctx = ctx, .g = tc_main(module), .reset = o->reset};
    TC_TRY(tc_read_data(ctx, r.g, o->data.v, o->data.n, &r.data));
    if (o->steps)
        TC_TRY(tc_data_repeat(r.data, (size_t)o->steps));
    r.exec = tc_exec_new(ctx, module);
    prepare(&r);
    tc_results *results = NULL;
    if (o->folder || !o->bench) {
        TC_TRY(tc_results_new(ctx, r.g, r.data, o->folder, o->raw, &results));
        TC_TRY(all_samples(&r, results));
        TC_TRY(tc_results_commit(results));
    }
    if (o->bench)
        TC_TRY(bench(&r, (size_t)o->bench, &t));
    tell(&r, o, results, &t, common->json);
    return TC_OK;
}

#define AT(field) offsetof(run_options, field)
static const tc_option options[] = {
    {"--input", "-i", "DATA", TC_OPTION_TEXTS, AT(data),
     "a .npy, a .npz or a folder of them; again for each further input"},
    {"--output", "-o", "DIR", TC_OPTION_TEXT, AT(folder),
     "write output_0.npy, output_1.npy, ... there"},
    {"--steps", NULL, "N", TC_OPTION_COUNT, AT(steps),
     "call a program without inputs N times"},
    {"--reset", NULL, NULL, TC_OPTION_FLAG, AT(reset),
     "start every sample from the stored state, not from what the last one left"},
    {"--raw", NULL, NULL, TC_OPTION_FLAG, AT(raw),
     "write bf16 and fp8 as their bits, not as float32"},
    {"--tosa", NULL, NULL, TC_OPTION_FLAG, AT(tosa),
     "run the TOSA that is kept beside an Ethos-U's stream"},
    {"--bench", NULL, "N", TC_OPTION_COUNT, AT(bench),
     "time N runs, a sample each; without -o nothing else is done"},
    {0},
};

const tc_verb tc_cli_run = {
    .name = "run",
    .arguments =
        "PROGRAM [-i DATA]... [-o DIR] [--steps N] [--reset] [--raw] [--tosa] [--bench N]",
    .summary = "run a program on data and keep or show what it gives",
    .help = "PROGRAM is a .pt2, a .tosa, a .vgf, a .pte, Vela's _vela.npz or a text graph .ir.  A sample is an array "
            "of the input's own shape; an\n"
            "array with a longer first axis, or with one axis more, holds several, and their "
            "results are joined\n"
            "along the first axis (a new one where the output has none that goes with it).  What "
            "the program\n"
            "remembers is carried from sample to sample (--reset: it is not).  Numbers must fit the input's type "
            "exactly: integers\n"
            "of another width and floats of another width are taken when none of them changes.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(run_options),
    .run = run_program,
};
