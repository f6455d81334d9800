/* SPDX-License-Identifier: Apache-2.0 */
/* api_methods.c -- several models as the methods of one .pte: what they remember and their
 * constants are there once, and each reads what the other has written. */
#include "tosac/tosac.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

/* Four rows of the buffer at once; and one row at a place, with the sums over all rows. */
static const char fill_text[] = "graph @main(%0 \"x\": f32[4,2]) {\n"
                                "  %1 \"k\" = const [0,0,0,0,0,0,0,0,0,0,0,0] : f32[6,2]\n"
                                "  %2 = const [0,1,2,3] : i64[4]\n"
                                "  %3 \"w\" = const [0.5,0.25,2,0.125] : f32[2,2]\n"
                                "  %4 = matmul %0, %3\n"
                                "  %5 = index_copy %1, %2, %4 axis=0\n"
                                "  %6 = tanh %4\n"
                                "  mutate %1 -> %5\n  return %6\n}\n";
static const char step_text[] = "graph @main(%0 \"x\": f32[1,2], %1 \"pos\": i64[1]) {\n"
                                "  %2 \"k\" = const [0,0,0,0,0,0,0,0,0,0,0,0] : f32[6,2]\n"
                                "  %3 \"w\" = const [0.5,0.25,2,0.125] : f32[2,2]\n"
                                "  %4 = matmul %0, %3\n"
                                "  %5 = index_copy %2, %1, %4 axis=0\n"
                                "  %6 = sum %5 axes=[0] keepdim=false\n"
                                "  mutate %2 -> %5\n  return %6\n}\n";

/* Only reads the buffer. */
static const char look_text[] = "graph @main(%0 \"x\": f32[1,2]) {\n"
                                "  %1 \"k\" = const [1,1,1,1,1,1,1,1,1,1,1,1] : f32[6,2]\n"
                                "  %2 = sum %1 axes=[0] keepdim=false\n"
                                "  %3 = add %2, %0 alpha=1\n  return %3\n}\n";

static tc_model *model_of(tc_ctx *ctx, const char *text)
{
    tc_model *model = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (tc_model_read(ctx, "method.ir", bytes, NULL, &model) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(model);
    return model;
}

static float number(size_t k, size_t e)
{
    return (float)sin(1.0 + 0.9 * (double)k + 0.37 * (double)e);
}

static tc_status sample(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    (void)user;
    for (size_t i = 0; i < n_in; i++)
        for (int64_t e = 0; e < tc_type_count(in[i].type); e++)
            if (in[i].type->dtype == TC_i64)
                ((int64_t *)in[i].data)[e] = (int64_t)(k % 6);
            else
                ((float *)in[i].data)[e] = number(k, (size_t)e);
    return TC_OK;
}

static tc_status compile(tc_ctx *ctx, const char *text, const char *name, const char *target,
                         tc_compiled *beside, tc_compiled **out)
{
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    o.method = name;
    o.beside = beside;
    CHECK(tc_dataset_new(ctx, 12, sample, NULL, &o.quant.samples) == TC_OK);
    o.quant.only_if_needed = true;
    return tc_compile(ctx, model_of(ctx, text), &o, out);
}

/* Both methods in one file. */
static tc_bytes both(tc_ctx *ctx, const char *target, tc_compiled **step)
{
    tc_compiled *fill = NULL;
    size_t n = 0;
    bool made = compile(ctx, fill_text, "fill", target, NULL, &fill) == TC_OK &&
                compile(ctx, step_text, "step", target, fill, step) == TC_OK &&
                tc_compiled_make(ctx, *step, TC_OUTPUT_PTE, &n) == TC_OK;
    if (!made)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(made && n == 1);
    return tc_compiled_bytes(*step, 0);
}

static tc_program *program_of(tc_ctx *ctx, tc_bytes pte, const char *method)
{
    tc_model_options o = tc_model_options_default();
    tc_model *model = NULL;
    tc_program *program = NULL;
    o.method = method;
    CHECK(tc_model_read(ctx, "both.pte", pte, &o, &model) == TC_OK);
    CHECK(strcmp(tc_model_method(model, 0), "fill") == 0 &&
          strcmp(tc_model_method(model, 1), "step") == 0 && !tc_model_method(model, 2));
    CHECK(tc_program_new(ctx, model, NULL, &program) == TC_OK);
    return program;
}

/* fill, then step at row 4: the sums see all five rows. */
static void handed_over(const char *target, double tolerance)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled *c = NULL;
    tc_compiled_info info = tc_compiled_info_default();
    tc_bytes pte = both(ctx, target, &c);
    tc_compiled_get_info(c, &info);
    CHECK(info.state >= 12 && strcmp(info.method, "step") == 0);
    tc_program *fill = program_of(ctx, pte, "fill"), *step = program_of(ctx, pte, "step");
    float x[8], y[2] = {0.5f, -0.75f}, want[2] = {0, 0};
    static const float w[2][2] = {{0.5f, 0.25f}, {2, 0.125f}};
    for (size_t i = 0; i < 8; i++)
        x[i] = number(i / 2, i % 2); /* rows that the calibration of both has seen */
    for (int r = 0; r < 5; r++)
        for (int j = 0; j < 2; j++)
            want[j] += r < 4 ? x[2 * r] * w[0][j] + x[2 * r + 1] * w[1][j]
                             : y[0] * w[0][j] + y[1] * w[1][j];
    size_t taken = 0;
    memcpy(tc_program_input_buffer(fill, 0), x, sizeof x);
    CHECK(tc_program_run(fill) == TC_OK);
    CHECK(tc_program_take_state(step, fill, &taken) == TC_OK && taken == 1);
    memcpy(tc_program_input_buffer(step, 0), y, sizeof y);
    *(int64_t *)tc_program_input_buffer(step, 1) = 4;
    CHECK(tc_program_run(step) == TC_OK);
    const float *got = tc_program_result(step, 0).data;
    CHECK(fabs((double)(got[0] - want[0])) < tolerance &&
          fabs((double)(got[1] - want[1])) < tolerance);
    tc_ctx_free(ctx);
}

/* What the one method writes, another that never changes it reads. */
static void only_read(const char *target, double tolerance)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled *fill = NULL, *look = NULL;
    size_t n = 0, taken = 0;
    CHECK(compile(ctx, fill_text, "fill", target, NULL, &fill) == TC_OK &&
          compile(ctx, look_text, "step", target, fill, &look) == TC_OK &&
          tc_compiled_make(ctx, look, TC_OUTPUT_PTE, &n) == TC_OK);
    tc_bytes pte = tc_compiled_bytes(look, 0);
    tc_program *writes = program_of(ctx, pte, "fill"), *reads = program_of(ctx, pte, "step");
    float *x = tc_program_input_buffer(writes, 0), want[2] = {0, 0};
    for (size_t i = 0; i < 8; i++)
        x[i] = number(i / 2, i % 2);
    for (int r = 0; r < 4; r++) {
        want[0] += 0.5f * x[2 * r] + 2 * x[2 * r + 1];
        want[1] += 0.25f * x[2 * r] + 0.125f * x[2 * r + 1];
    }
    CHECK(tc_program_run(writes) == TC_OK);
    CHECK(tc_program_take_state(reads, writes, &taken) == TC_OK && taken == 1);
    memset(tc_program_input_buffer(reads, 0), 0, 2 * sizeof(float));
    CHECK(tc_program_run(reads) == TC_OK);
    const float *got = tc_program_result(reads, 0).data;
    CHECK(fabs((double)(got[0] - want[0])) < tolerance &&
          fabs((double)(got[1] - want[1])) < tolerance);
    tc_ctx_free(ctx);
}

/* A number that both have by name: the second file half as large as two files. */
static void stored_once(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled *c = NULL, *alone = NULL;
    size_t n;
    static const float w[] = {0.5f, 0.25f, 2, 0.125f};
    tc_bytes pte = both(ctx, "cpu", &c);
    size_t seen = 0;
    for (size_t i = 0; i + sizeof w <= pte.size; i += 4)
        seen += memcmp(pte.data + i, w, sizeof w) == 0;
    CHECK(seen == 1);
    CHECK(compile(ctx, step_text, NULL, "cpu", NULL, &alone) == TC_OK &&
          tc_compiled_make(ctx, alone, TC_OUTPUT_PTE, &n) == TC_OK);
    tc_compiled_info info = tc_compiled_info_default();
    tc_compiled_get_info(alone, &info);
    CHECK(info.state == 0 && strcmp(info.method, "forward") == 0);
    tc_ctx_free(ctx);
}

static void mistakes(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled *fill = NULL, *other = NULL;
    tc_model *model = NULL;
    size_t n;
    CHECK(compile(ctx, fill_text, "fill", "cpu", NULL, &fill) == TC_OK);
    CHECK(compile(ctx, step_text, "fill", "cpu", fill, &other) == TC_USAGE);
    CHECK(compile(ctx, step_text, NULL, "cpu", fill, &other) == TC_USAGE);
    CHECK(compile(ctx, step_text, "step", "TOSA-1.0+INT", fill, &other) == TC_USAGE);
    CHECK(compile(ctx, step_text, "step", "cpu", fill, &other) == TC_OK);
    CHECK(tc_compiled_make(ctx, other, TC_OUTPUT_TOSA, &n) == TC_USAGE);
    CHECK(tc_compiled_make(ctx, other, TC_OUTPUT_PTE, &n) == TC_OK);
    tc_model_options o = tc_model_options_default();
    o.method = "none";
    CHECK(tc_model_read(ctx, "both.pte", tc_compiled_bytes(other, 0), &o, &model) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "there is 'step'"));
    tc_bytes text = {(const uint8_t *)step_text, sizeof step_text - 1};
    CHECK(tc_model_read(ctx, "step.ir", text, &o, &model) == TC_USAGE);
    tc_ctx_free(ctx);
}

/* A list of sizes: a method for each, the largest first where no data says otherwise. */
static void sizes(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model = NULL;
    tc_compiled *last = NULL;
    tc_model_options o = tc_model_options_default();
    tc_compile_options c = tc_compile_options_default();
    size_t n, k = 0;
    o.open_sizes = true;
    c.target = "cpu";
    CHECK(tc_ctx_set_dim(ctx, "s77=3,,4") == TC_USAGE);
    CHECK(tc_ctx_set_dim(ctx, "s77=5,3,7") == TC_OK);
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/../golden/error/dynamic.pt2", &o, &model) == TC_OK);
    CHECK(model && tc_compile(ctx, model, &c, &last) == TC_OK);
    for (const tc_compiled *m = last; m; m = tc_compiled_beside(m))
        k++;
    CHECK(k == 3);
    CHECK(last && tc_compiled_make(ctx, last, TC_OUTPUT_PTE, &n) == TC_OK);
    o = tc_model_options_default();
    o.method = "forward_s773";
    CHECK(last && tc_model_read(ctx, "m.pte", tc_compiled_bytes(last, 0), &o, &model) == TC_OK);
    tc_port_info port = tc_port_info_default();
    CHECK(tc_model_input(model, 0, &port) && tc_type_count(port.type) == 9);
    tc_ctx_free(ctx);
}

int main(void)
{
    sizes();
    handed_over("cpu", 1e-5);
    handed_over("TOSA-1.0+INT", 0.1);
    handed_over("TOSA-1.0+INT+var", 0.1);
    only_read("cpu", 1e-5);
    only_read("TOSA-1.0+INT", 0.2);
    stored_once();
    mistakes();
    return check_done();
}
