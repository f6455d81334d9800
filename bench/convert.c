/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c -- a TOSA file to VGF inside one process: the least seconds of RUNS conversions, from
 * bytes to bytes, each in a fresh context.        bench-convert FILE.tosa TARGET RUNS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tosac/tosac.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tc_bytes whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    tc_bytes none = {NULL, 0};
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return none;
    long size = ftell(file);
    uint8_t *data = size > 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    size_t got = data ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    return got == (size_t)size ? (tc_bytes){data, got} : none;
}

static tc_status convert(tc_ctx *ctx, tc_bytes file, const char *target)
{
    tc_model *model;
    tc_compiled *compiled;
    tc_model_options from = tc_model_options_default();
    tc_compile_options options = tc_compile_options_default();
    size_t n;
    from.borrow = 1;
    options.target = target;
    tc_status status = tc_model_read(ctx, "model.tosa", file, &from, &model);
    if (status == TC_OK)
        status = tc_compile(ctx, model, &options, &compiled);
    if (status == TC_OK)
        status = tc_compiled_make(ctx, compiled, TC_OUTPUT_VGF, &n);
    return status;
}

int main(int argc, char **argv)
{
    tc_bytes file = argc == 4 ? whole(argv[1]) : (tc_bytes){NULL, 0};
    double best = -1;
    for (int i = 0; file.data && i < atoi(argv[3]); i++) {
        double begin = now();
        tc_ctx *ctx = tc_ctx_new();
        if (convert(ctx, file, argv[2]) != TC_OK) {
            fputs(tc_diagnostics(ctx), stderr);
            return 1;
        }
        tc_ctx_free(ctx);
        double taken = now() - begin;
        best = best < 0 || taken < best ? taken : best;
    }
    printf("%.9f\n", best);
    return best < 0;
}
