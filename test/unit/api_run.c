/* SPDX-License-Identifier: Apache-2.0 */
/* api_run.c -- running as a caller does it: bound inputs and outputs, state, data, comparing. */
#include "tosac/tosac.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const char SUM[] = "graph @main(%0 \"x\": f32[1,3]) {\n"
                          "  %1 \"total\" = const [0, 0, 0] : f32[1,3]\n"
                          "  %2 \"sum\" = add %1, %0 alpha=1 : f32[1,3]\n"
                          "  mutate %1 -> %2\n"
                          "  return %2\n"
                          "}\n";
static const char COUNT[] = "graph @main() {\n"
                            "  %0 \"n\" = const 5 : i64[]\n"
                            "  %1 = const 1 : i64[]\n"
                            "  %2 = add %0, %1 alpha=1 : i64[]\n"
                            "  mutate %0 -> %2\n"
                            "  return %2\n"
                            "}\n";

static tc_model *graph(tc_ctx *ctx, const char *text)
{
    tc_model *m = NULL;
    CHECK(tc_model_read(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)}, NULL, &m) ==
          TC_OK);
    return m;
}

static tc_model *digits(tc_ctx *ctx)
{
    tc_model *m = NULL;
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &m) == TC_OK);
    return m;
}

static tc_dataset *files(tc_ctx *ctx, const char *path)
{
    tc_dataset *data = NULL;
    CHECK(tc_dataset_open(ctx, &path, path != NULL, &data) == TC_OK);
    return data;
}

/* By number and by name, in the program's memory and in the caller's; state from call to call. */
static void test_binding(tc_ctx *ctx)
{
    tc_program *p;
    tc_port_info port = {.size = sizeof port};
    float in[3] = {1, 2, 3}, out[3] = {0};
    CHECK(tc_program_new(ctx, graph(ctx, SUM), NULL, &p) == TC_OK);
    CHECK(tc_program_input_count(p) == 1 && tc_program_output_count(p) == 1);
    CHECK(tc_program_find_input(p, "x") == 0 && tc_program_find_input(p, "y") == -1);
    CHECK(tc_program_find_output(p, "sum") == 0 && tc_program_find_output(p, "x") == -1);
    CHECK(tc_program_input(p, 0, &port) && port.type->dim[1] == 3 &&
          !tc_program_input(p, 1, &port));
    CHECK(tc_program_output(p, 0, &port) && !tc_program_output(p, 1, &port));
    CHECK(!tc_program_result(p, 0).data && !tc_program_result(p, 1).type);

    CHECK(tc_program_bind_input(p, 0, in) == TC_OK && tc_program_bind_output(p, 0, out) == TC_OK);
    CHECK(tc_program_bind_input(p, 1, in) == TC_USAGE);
    CHECK(tc_program_bind_output(p, 1, out) == TC_USAGE);
    for (int call = 1; call <= 3; call++) {
        CHECK(tc_program_run(p) == TC_OK);
        CHECK(out[0] == (float)call && out[2] == (float)(3 * call));
    }
    CHECK(((const float *)tc_program_result(p, 0).data)[1] == 6);
    tc_program_reset(p);
    CHECK(tc_program_bind_input(p, 0, NULL) == TC_OK);
    float *own = tc_program_input_buffer(p, 0);
    CHECK(own && own[1] == 0 && !tc_program_input_buffer(p, 1));
    own[1] = 40;
    CHECK(tc_program_run(p) == TC_OK && out[0] == 0 && out[1] == 40);
    CHECK(tc_program_bind_output(p, 0, NULL) == TC_OK && tc_program_run(p) == TC_OK);
    CHECK(out[1] == 40 && ((const float *)tc_program_result(p, 0).data)[1] == 80);
}

/* Two programs of one model do not share their state; memory does not grow with the runs. */
static void test_apart(tc_ctx *ctx)
{
    tc_model *m = graph(ctx, COUNT);
    tc_program *a, *b;
    tc_ctx_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    CHECK(tc_program_new(ctx, m, NULL, &a) == TC_OK && tc_program_new(ctx, m, NULL, &b) == TC_OK);
    CHECK(tc_program_run(a) == TC_OK && tc_program_run(a) == TC_OK && tc_program_run(b) == TC_OK);
    CHECK(*(const int64_t *)tc_program_result(a, 0).data == 7);
    CHECK(*(const int64_t *)tc_program_result(b, 0).data == 6);
    tc_ctx_get_stats(ctx, &before);
    for (int i = 0; i < 1000; i++)
        CHECK(tc_program_run(a) == TC_OK);
    tc_ctx_get_stats(ctx, &after);
    CHECK(*(const int64_t *)tc_program_result(a, 0).data == 1007);
    CHECK(after.memory == before.memory);
}

/* A trained network on recorded data: it knows most of the digits, with either kernels. */
static void test_digits(tc_ctx *ctx)
{
    enum { MOST = 50 };
    tc_dataset *data = files(ctx, TOSAC_FIXTURES "/digits/test.npz");
    tc_program *p;
    size_t n;
    tc_join_kind join;
    int64_t extent;
    tc_model *m = digits(ctx);
    CHECK(tc_program_new(ctx, m, NULL, &p) == TC_OK);
    CHECK(tc_program_bind_data(p, data, &n, &join, &extent) == TC_OK);
    CHECK(n == 1000 && join == TC_JOINED_FIRST && extent == 1);
    tc_port_info port = {.size = sizeof port};
    tc_program_input(p, 0, &port);
    tc_tensor in = {port.type, tc_program_input_buffer(p, 0)};
    CHECK(tc_program_run(p) == TC_OK && tc_program_time(p) == TC_OK);
    for (size_t k = 0; k < MOST; k++) {
        CHECK(tc_dataset_sample(ctx, data, k, &in, 1) == TC_OK && tc_program_run(p) == TC_OK);
        const float *y = tc_program_result(p, 0).data;
        CHECK(isfinite(y[0]) && isfinite(y[9]));
    }
    double all = 0, conv = 0;
    const char *op;
    for (size_t i = 0; tc_program_seconds(p, i, &op) >= 0; i++) {
        all += tc_program_seconds(p, i, &op);
        conv += strcmp(op, "conv") == 0 ? tc_program_seconds(p, i, &op) : 0;
    }
    double steps = 0;
    size_t lines = 0;
    tc_step_time step = tc_step_time_default();
    for (size_t i = 0; tc_program_step_time(p, i, &step); i++) {
        steps += step.seconds;
        lines +=
            step.loc && step.loc->place && strstr(step.loc->place, "digits_models.py:") != NULL;
    }
    CHECK(steps > 0.999 * all && steps < 1.001 * all); /* the same time, put together otherwise */
    CHECK(lines > 10);
    CHECK(conv > 0 && all >= conv);
    CHECK(tc_dataset_sample(ctx, data, n, &in, 1) == TC_USAGE);
    CHECK(tc_dataset_bind(ctx, data, m, NULL, NULL, NULL) == TC_OK);
}

static void test_data(tc_ctx *ctx)
{
    tc_program *p;
    size_t n;
    tc_tensor none = {0};
    CHECK(tc_program_new(ctx, graph(ctx, COUNT), NULL, &p) == TC_OK);
    tc_dataset *steps = files(ctx, NULL), *missing = files(ctx, "/nowhere.npy");
    CHECK(tc_dataset_sample(ctx, steps, 0, &none, 0) == TC_USAGE); /* not bound yet */
    tc_dataset_repeat(steps, 4);
    CHECK(tc_program_bind_data(p, steps, &n, NULL, NULL) == TC_OK && n == 4);
    CHECK(tc_program_new(ctx, graph(ctx, SUM), NULL, &p) == TC_OK);
    CHECK(tc_program_bind_data(p, missing, &n, NULL, NULL) == TC_BAD_MODEL);
    CHECK(tc_program_bind_data(p, files(ctx, "random:3"), &n, NULL, NULL) == TC_OK && n == 32);
    CHECK(tc_program_bind_data(p, files(ctx, "random:"), &n, NULL, NULL) == TC_USAGE);
}

/* Results as a file, read back as data. */
static void test_npy(tc_ctx *ctx)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/tosac-api-%ld.npy", (long)getpid());
    const int64_t dim[] = {2, 3};
    const tc_type row = {TC_f32, 2, {1, 3}, NULL};
    float a[] = {1, 2, 3}, b[] = {4, 5, 6}, got[3];
    tc_npy_writer *w;
    tc_program *p;
    size_t n;
    CHECK(tc_npy_create(ctx, path, TC_f32, 0, 2, dim, &w) == TC_OK);
    CHECK(tc_npy_append(w, &(tc_tensor){&row, a}) == TC_OK);
    CHECK(tc_npy_append(w, &(tc_tensor){&row, b}) == TC_OK);
    CHECK(access(path, F_OK) != 0 && tc_npy_commit(w) == TC_OK && access(path, F_OK) == 0);
    CHECK(tc_npy_append(w, &(tc_tensor){&(tc_type){TC_i8, 1, {3}, NULL}, a}) == TC_USAGE);
    CHECK(tc_program_new(ctx, graph(ctx, SUM), NULL, &p) == TC_OK);
    tc_dataset *data = files(ctx, path);
    CHECK(tc_program_bind_data(p, data, &n, NULL, NULL) == TC_OK && n == 2);
    CHECK(tc_dataset_sample(ctx, data, 1, &(tc_tensor){&row, got}, 1) == TC_OK && got[2] == 6);
    CHECK(tc_npy_create(ctx, path, TC_none, 0, 0, NULL, &w) == TC_USAGE);
    CHECK(tc_npy_create(ctx, "/nowhere/x.npy", TC_f32, 0, 2, dim, &w) == TC_BAD_MODEL);
    unlink(path);
}

/* A float model beside its typed form. */
static void test_compare(tc_ctx *ctx)
{
    tc_model *m = digits(ctx), *typed;
    tc_comparison *c;
    tc_quantize_options o = tc_quantize_options_default();
    o.samples = files(ctx, TOSAC_FIXTURES "/digits/calib.npz");
    CHECK(tc_quantize_model(ctx, m, &o, &typed, NULL) == TC_OK);
    CHECK(tc_compare_models(ctx, m, typed, o.samples, &c) == TC_OK);
    CHECK(tc_comparison_samples(c) == 128 && tc_comparison_count(c) > 20);
    tc_compared_value v = {.size = sizeof v};
    double last = -INFINITY;
    for (size_t i = 0; tc_comparison_value(c, i, &v); i++) {
        double by = isnan(v.alone_db) ? INFINITY : v.alone_db; /* those not measured come last */
        CHECK(by >= last && v.sqnr_db > 10 && v.cosine > 0.9 && v.cosine < 1.0001);
        last = by;
    }
    CHECK(!tc_comparison_value(c, tc_comparison_count(c), &v));
    CHECK(tc_compare_models(ctx, graph(ctx, SUM), m, o.samples, &c) == TC_BAD_MODEL);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_binding(ctx);
    test_apart(ctx);
    test_digits(ctx);
    test_data(ctx);
    test_npy(ctx);
    test_compare(ctx);
    tc_ctx_set_reference_kernels(ctx, 1);
    test_binding(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
