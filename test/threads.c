/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c -- eight contexts on eight threads, each reading, quantizing, compiling and running,
 * and each with threads of its own: the same bytes come out of all.        threads MODEL DATA
 * TARGET FOLDER */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tosac/tosac.h"

enum { THREADS = 8, ROUNDS = 2 };

typedef struct job {
    const char *model, *data, *target, *folder;
    int number;
    int reference; /* kernels: ours alone on every second thread */
    unsigned char *bytes;
    size_t size;
    double sum; /* of what the program gave */
    tc_status status;
} job;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        tc_status status_ = (call);                                                                \
        if (status_ != TC_OK)                                                                      \
            return status_;                                                                        \
    } while (0)

static tc_status add_up(void *user, const tc_sample_result *result)
{
    job *j = user;
    tc_tensor out = result->out[0];
    for (int64_t i = 0; i < tc_type_count(out.type); i++) {
        double v;
        tc_tensor_get_f64(&out, i, 1, &v);
        j->sum += v * (double)(i + 1) / (double)(result->index + 1);
    }
    return TC_OK;
}

static tc_status run_program(tc_ctx *ctx, job *j, const tc_model *model)
{
    tc_program *program;
    tc_dataset *inputs;
    tc_run_data_options o = tc_run_data_options_default();
    o.on_result = add_up;
    o.user = j;
    TRY(tc_program_new(ctx, model, NULL, &program));
    TRY(tc_dataset_open(ctx, &j->data, 1, &inputs));
    TRY(tc_program_bind_data(program, inputs, NULL, NULL, NULL));
    return tc_program_run_data(program, inputs, &o);
}

static tc_status judge(tc_ctx *ctx, job *j, const tc_model *model, const tc_model *typed)
{
    tc_dataset *inputs;
    tc_comparison *compared;
    tc_evaluation *evaluation;
    tc_compared_value worst = tc_compared_value_default();
    tc_evaluated found = tc_evaluated_default();
    tc_evaluate_options o = tc_evaluate_options_default();
    const tc_model *both[2] = {model, typed};
    TRY(tc_dataset_open(ctx, &j->data, 1, &inputs));
    TRY(tc_compare_models(ctx, model, typed, inputs, &compared));
    if (tc_comparison_value(compared, 0, &worst))
        j->sum += worst.sqnr_db;
    TRY(tc_dataset_open(ctx, &j->data, 1, &inputs));
    o.program = both;
    o.n_program = 2;
    o.data = inputs;
    TRY(tc_evaluate(ctx, &o, &evaluation));
    if (tc_evaluation_program(evaluation, 1, &found))
        j->sum += found.sqnr_db;
    return TC_OK;
}

static tc_status work(tc_ctx *ctx, job *j)
{
    tc_model *model, *typed;
    tc_dataset *calib;
    tc_compiled *compiled;
    size_t n;
    tc_quantize_options q = tc_quantize_options_default();
    tc_compile_options o = tc_compile_options_default();
    char path[4096];
    TRY(tc_model_open(ctx, j->model, NULL, &model));
    TRY(tc_dataset_open(ctx, &j->data, 1, &calib));
    q.samples = calib;
    TRY(tc_quantize_model(ctx, model, &q, &typed, NULL));
    o.target = j->target;
    TRY(tc_compile(ctx, typed, &o, &compiled));
    TRY(tc_compiled_make(ctx, compiled, TC_OUTPUT_PTE, &n));
    tc_bytes bytes = tc_compiled_bytes(compiled, 0);
    j->bytes = malloc(bytes.size);
    if (!j->bytes)
        return TC_NO_MEMORY;
    memcpy(j->bytes, bytes.data, bytes.size);
    j->size = bytes.size;
    snprintf(path, sizeof path, "%s/same.pte", j->folder); /* all write the same file */
    TRY(tc_write_file(ctx, path, bytes));
    TRY(judge(ctx, j, model, typed));
    return run_program(ctx, j, tc_compiled_model(compiled));
}

static void *run(void *what)
{
    job *j = what;
    for (int round = 0; round < ROUNDS && j->status == TC_OK; round++) {
        tc_ctx_options o = tc_ctx_options_default();
        o.threads = 2;
        o.reference_kernels = j->reference;
        tc_ctx *ctx = tc_ctx_new_with(&o);
        if (!ctx) {
            j->status = TC_NO_MEMORY;
            return NULL;
        }
        free(j->bytes);
        j->bytes = NULL;
        j->sum = 0;
        j->status = work(ctx, j);
        if (j->status != TC_OK)
            fputs(tc_diagnostics(ctx), stderr);
        tc_ctx_free(ctx);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("threads MODEL DATA TARGET FOLDER\n", stderr);
        return 2;
    }
    static job all[THREADS];
    pthread_t thread[THREADS];
    int passed = 0, failed = 0;
    for (int i = 0; i < THREADS; i++) {
        all[i] = (job){.model = argv[1], .data = argv[2], .target = argv[3], .folder = argv[4],
                       .number = i, .reference = i & 1};
        if (pthread_create(&thread[i], NULL, run, &all[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        const job *j = &all[i], *like = &all[i & 1]; /* the first with the same kernels */
        int good = j->status == TC_OK && j->size == like->size && j->size &&
                   memcmp(j->bytes, like->bytes, j->size) == 0 && j->sum == like->sum;
        if (!good)
            fprintf(stderr, "thread %d: %s, %zu bytes\n", i, tc_status_text(j->status), j->size);
        passed += good;
        failed += !good;
    }
    for (int i = 0; i < THREADS; i++)
        free(all[i].bytes);
    printf("%d threads: %d passed, %d failed\n", THREADS, passed, failed);
    return failed != 0;
}
