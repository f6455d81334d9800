/* SPDX-License-Identifier: Apache-2.0 */
/* api_sizes.c -- samples of several sizes: calibration sees all of them. */
#include "tosac/tosac.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "elsewhere.h"

#define POOLED TOSAC_FIXTURES "/dynamic/pooled/"
#define TOKENS TOSAC_FIXTURES "/dynamic/tokens/"

static char folder[] = "/tmp/tosac-unit-XXXXXX";

static tc_dataset *files(tc_ctx *ctx, const char *path)
{
    tc_dataset *data = NULL;
    CHECK(tc_dataset_open(ctx, &path, 1, &data) == TC_OK);
    return data;
}

static tc_compiled *compiled(tc_ctx *ctx, const char *path, const char *target, const char *dim,
                             const char *calib)
{
    tc_model *model = NULL;
    tc_compiled *out = NULL;
    tc_model_options open = tc_model_options_default();
    tc_compile_options o = tc_compile_options_default();
    open.open_sizes = 1;
    if (dim)
        CHECK(tc_ctx_set_dim(ctx, dim) == TC_OK);
    CHECK(tc_model_open(ctx, path, &open, &model) == TC_OK);
    o.target = target;
    o.quant.samples = files(ctx, calib);
    CHECK(tc_compile(ctx, model, &o, &out) == TC_OK);
    return out;
}

/* All results of a program on the samples of a file, as numbers; how many. */
static size_t results(tc_ctx *ctx, tc_model *model, const char *path, double *out, size_t most)
{
    tc_program *p = NULL;
    tc_dataset *data = files(ctx, path);
    size_t n = 0, at = 0;
    tc_port_info in = {.size = sizeof in};
    CHECK(tc_program_new(ctx, model, NULL, &p) == TC_OK);
    CHECK(tc_program_bind_data(p, data, &n, NULL, NULL) == TC_OK && tc_program_input(p, 0, &in));
    tc_tensor x = {in.type, tc_program_input_buffer(p, 0)};
    for (size_t k = 0; k < n; k++) {
        CHECK(tc_dataset_sample(ctx, data, k, &x, 1) == TC_OK && tc_program_run(p) == TC_OK);
        tc_tensor y = tc_program_result(p, 0);
        size_t count = (size_t)tc_type_count(y.type);
        CHECK(at + count <= most);
        tc_tensor_get_f64(&y, 0, count, out + at);
        at += count;
    }
    return at;
}

/* Those of a .npy of f32, whatever its shape. */
static size_t numbers_of(const char *path, double *out, size_t most)
{
    float v[4096];
    uint8_t head[10];
    FILE *f = fopen(path, "rb");
    CHECK(f && fread(head, 1, sizeof head, f) == sizeof head && most <= sizeof v / sizeof *v);
    CHECK(f && fseek(f, 10 + head[8] + 256 * head[9], SEEK_SET) == 0);
    size_t n = f ? fread(v, sizeof *v, most, f) : 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (double)v[i];
    if (f)
        fclose(f);
    return n;
}

/* Beside what PyTorch gives at that size. */
static double sqnr(const char *from, const char *program, const char *method, int size)
{
    enum { MOST = 4096 };
    tc_ctx *ctx = tc_ctx_new();
    char path[256];
    double want[MOST], got[MOST], signal = 0, noise = 0;
    tc_model *model = NULL;
    tc_model_options open = tc_model_options_default();
    snprintf(path, sizeof path, "%sx%d.npy", from, size);
    const char *data[] = {path};
    open.data = data;
    open.n_data = 1;
    open.dequantize = !method;
    open.method = method;
    CHECK(tc_model_open(ctx, program, &open, &model) == TC_OK);
    size_t n = results(ctx, model, path, got, MOST);
    snprintf(path, sizeof path, "%sy%d.npy", from, size);
    CHECK(n && numbers_of(path, want, MOST) == n);
    for (size_t i = 0; i < n; i++) {
        signal += want[i] * want[i];
        noise += (want[i] - got[i]) * (want[i] - got[i]);
    }
    tc_ctx_free(ctx);
    return 10 * log10(signal / noise);
}

static void write_file(const char *path, tc_output kind, const char *from, const char *target,
                       const char *dim, const char *data)
{
    tc_ctx *ctx = tc_ctx_new();
    char model[256], calib[256];
    snprintf(model, sizeof model, "%smodel.pt2", from);
    snprintf(calib, sizeof calib, "%s%s", from, data);
    tc_compiled *c = compiled(ctx, model, target, dim, calib);
    CHECK(c && tc_compiled_write(ctx, c, kind, path) == TC_OK);
    tc_ctx_free(ctx);
}

/* The mean of two numbers is wider than that of 64, which is all that samples of one size show. */
static void test_one_program(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/p.tosa", folder);
    write_file(path, TC_OUTPUT_TOSA, POOLED, "TOSA-1.1+INT+shape", NULL, "one.npz");
    CHECK(sqnr(POOLED, path, NULL, 64) > 30 && sqnr(POOLED, path, NULL, 2) < 15);
    write_file(path, TC_OUTPUT_TOSA, POOLED, "TOSA-1.1+INT+shape", NULL, "calib.npz");
    CHECK(sqnr(POOLED, path, NULL, 64) > 30 && sqnr(POOLED, path, NULL, 7) > 30 &&
          sqnr(POOLED, path, NULL, 2) > 30);
}

/* Tokens, products without biases and a mask that is added: biases come with correcting, and sums with the
 * mask become choices, at every size the same. */
static void test_tokens(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/t.tosa", folder);
    write_file(path, TC_OUTPUT_TOSA, TOKENS, "TOSA-1.1+INT+shape", NULL, "calib.npz");
    CHECK(sqnr(TOKENS, path, NULL, 2) > 30 && sqnr(TOKENS, path, NULL, 7) > 30 &&
          sqnr(TOKENS, path, NULL, 18) > 30);
}

static void test_methods(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/p.pte", folder);
    write_file(path, TC_OUTPUT_PTE, POOLED, "TOSA-1.0+INT", "seq=2,7,64", "one.npz");
    CHECK(sqnr(POOLED, path, "forward_seq64", 64) > 30 &&
          sqnr(POOLED, path, "forward_seq2", 2) < 15);
    write_file(path, TC_OUTPUT_PTE, POOLED, "TOSA-1.0+INT", "seq=2,7,64", "calib.npz");
    CHECK(sqnr(POOLED, path, "forward_seq64", 64) > 30 &&
          sqnr(POOLED, path, "forward_seq7", 7) > 30 && sqnr(POOLED, path, "forward_seq2", 2) > 30);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_one_program();
    test_tokens();
    test_methods();
    CHECK(remove_folder(folder));
    return check_done();
}
