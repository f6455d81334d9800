/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.c -- operators of the other doors as recorded, ONNX's own node tests and those of
 * TensorFlow Lite: conformance-onnx [--reference] FOLDER [NAME].
 *
 * --reference: by the reference kernels, which object to what TOSA leaves undefined.
 *
 * FOLDER/cases.txt has a line for each: name, inputs, results, relative and absolute tolerance, and
 * where there are several, the runs, of which the last is compared;
 * FOLDER/NAME has model.onnx or model.tflite, in_N.npy and want_N.npy.  A number holds when it is
 * within absolute + relative * |expected|, as NumPy's allclose has it. */
#include <math.h>
#include <stdio.h>

#include "num/load.h"
#include "read/data.h"
#include "tosac/tosac.h"

enum { MOST = 24 };

typedef struct test {
    char name[200];
    int n_in, n_out, runs;
    double relative, absolute;
} test;

static const char *path_of(tc_ctx *ctx, const char *folder, const test *t, const char *what, int i)
{
    return i < 0 ? ti_text_format(&ctx->arena, "%s/%s/%s", folder, t->name, what)
                 : ti_text_format(&ctx->arena, "%s/%s/%s_%d.npy", folder, t->name, what, i);
}

static bool holds(double got, double want, const test *t)
{
    if (isnan(want) || isinf(want) || isnan(got) || isinf(got))
        return (isnan(want) && isnan(got)) || want == got;
    return fabs(got - want) <= t->absolute + t->relative * fabs(want);
}

/* NULL, or what is wrong with result i. */
static const char *compare(tc_ctx *ctx, const char *folder, const test *t, tc_tensor got, int i)
{
    tc_npy *array;
    size_t count;
    if (ti_npy_open(ctx, path_of(ctx, folder, t, "want", i), &array, &count) != TC_OK)
        return "the expected result cannot be read";
    bool same = array->rank == got.type->rank;
    for (int k = 0; same && k < array->rank; k++)
        same = array->dim[k] == got.type->dim[k];
    if (!same)
        return ti_text_format(&ctx->arena, "result %d is %s", i,
                              ti_type_text(&ctx->arena, got.type));
    tc_dtype dtype = ti_data_dtype(array);
    tc_tensor want =
        ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, got.type->rank, got.type->dim));
    if (ti_data_convert(ctx, array, 0, &want) != TC_OK)
        return "the expected result cannot be read";
    int parts = dtype == TC_c64 ? 2 : 1;
    for (int64_t k = 0; k < parts * array->count; k++) {
        double a = parts == 2 ? (double)((const float *)got.data)[k] : ti_load_f64(got, k);
        double b = parts == 2 ? (double)((const float *)want.data)[k] : ti_load_f64(want, k);
        if (!holds(a, b, t))
            return ti_text_format(&ctx->arena, "result %d, number %" PRId64 ": %g, expected %g", i,
                                  k, a, b);
    }
    return NULL;
}

static const char *model_of(tc_ctx *ctx, const char *folder, const test *t)
{
    const char *path = path_of(ctx, folder, t, "model.tflite", -1);
    FILE *file = fopen(path, "rb");
    if (!file)
        return path_of(ctx, folder, t, "model.onnx", -1);
    fclose(file);
    return path;
}

static const char *run(tc_ctx *ctx, const char *folder, const test *t)
{
    const char *data[MOST];
    tc_model *model;
    tc_program *program;
    tc_dataset *set;
    size_t samples;
    for (int i = 0; i < t->n_in; i++)
        data[i] = path_of(ctx, folder, t, "in", i);
    tc_model_options options = tc_model_options_default();
    options.data = data;
    options.n_data = (size_t)t->n_in;
    if (tc_model_open(ctx, model_of(ctx, folder, t), &options, &model) != TC_OK ||
        tc_program_new(ctx, model, NULL, &program) != TC_OK ||
        tc_dataset_open(ctx, data, (size_t)t->n_in, &set) != TC_OK ||
        tc_program_bind_data(program, set, &samples, NULL, NULL) != TC_OK)
        return ti_buf_cstr(&ctx->messages);
    tc_tensor in[MOST];
    size_t n_in = tc_program_input_count(program);
    for (size_t i = 0; i < n_in; i++) {
        tc_port_info port = {.size = sizeof port};
        tc_program_input(program, i, &port);
        in[i] = (tc_tensor){port.type, tc_program_input_buffer(program, i)};
    }
    for (int k = 0; k < t->runs; k++)
        if (samples != 1 || tc_dataset_sample(ctx, set, 0, in, n_in) != TC_OK ||
            tc_program_run(program) != TC_OK)
            return ti_buf_cstr(&ctx->messages);
    for (int i = 0; i < t->n_out; i++) {
        const char *wrong = compare(ctx, folder, t, tc_program_result(program, (size_t)i), i);
        if (wrong)
            return wrong;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int good = 0, bad = 0;
    char line[400], path[1000];
    bool reference = argc > 1 && !strcmp(argv[1], "--reference");
    argc -= reference;
    argv += reference;
    if (argc < 2) {
        fputs("conformance-onnx [--reference] FOLDER [NAME]\n", stderr);
        return 2;
    }
    snprintf(path, sizeof path, "%s/cases.txt", argv[1]);
    FILE *list = fopen(path, "r");
    while (list && fgets(line, sizeof line, list)) {
        test t = {.runs = 1};
        if (sscanf(line, "%199s %d %d %lf %lf %d", t.name, &t.n_in, &t.n_out, &t.relative,
                   &t.absolute, &t.runs) < 5 ||
            t.n_in > MOST || (argc > 2 && strcmp(argv[2], t.name) != 0))
            continue;
        tc_ctx *ctx = tc_ctx_new();
        tc_ctx_set_reference_kernels(ctx, reference);
        const char *wrong = run(ctx, argv[1], &t);
        if (wrong)
            fprintf(stderr, "%s: %s\n", t.name, wrong);
        good += !wrong;
        bad += wrong != NULL;
        tc_ctx_free(ctx);
    }
    if (list)
        fclose(list);
    printf("%d passed, %d failed\n", good, bad + !list);
    return bad || !list;
}
