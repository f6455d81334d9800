/* SPDX-License-Identifier: Apache-2.0 */
/* older.c -- TOSA 1.1 in the words of 1.0: the same numbers before and behind, bit-exact. */
#include "check.h"

#include <math.h>

#include "drive/road.h"
#include "emit/emit.h"
#include "ir/ir_text.h"
#include "num/load.h"
#include "read/read.h"
#include "run/exec.h"
#include "target/target.h"

static const char whole[] =
    "vgf:TOSA-1.1+INT+FP+int16+bf16+fp8e4m3+fp8e5m2+int64+shape+mxfp";
static const char without_fp8[] = "vgf:TOSA-1.1+INT+FP+bf16+int64+shape+mxfp";

static tc_module *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "text", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(module != NULL);
    return module;
}

/* The program as a VGF file, read back. */
static tc_module *as_vgf(tc_ctx *ctx, const tc_module *module, const char *spec)
{
    tc_target target;
    tc_bytes bytes;
    tc_module *older = ti_module_clone(module), *back = NULL;
    CHECK(ti_target_parse(ctx, spec, &target) == TC_OK);
    tc_status status = ti_road_run(ctx, older, TC_AT_FORMED, TC_AT_LEGAL,
                                   &(tc_job){.target = &target}, NULL);
    if (status != TC_OK || ti_emit_vgf(ctx, older, &bytes) != TC_OK ||
        ti_read_vgf(ctx, "file.vgf", bytes, &back) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(back != NULL);
    return back;
}

static void run(tc_ctx *ctx, tc_module *module, const tc_tensor *in, tc_tensor *out)
{
    const tc_graph *g = ti_main(module);
    tc_tensor own[4];
    for (size_t i = 0; i < g->n_in; i++)
        own[i] = (tc_tensor){ti_type_of(g, g->in[i]), in[i].data};
    CHECK(ti_exec_run(ti_exec_new(ctx, module), own, out) == TC_OK);
}

static bool same(tc_tensor a, tc_tensor b)
{
    size_t size = tc_dtypes[a.type->dtype].bytes;
    for (int64_t i = 0; i < tc_type_count(a.type); i++) {
        bool equal = memcmp((char *)a.data + (size_t)i * size, (char *)b.data + (size_t)i * size,
                            size) == 0;
        if (!equal && !(isnan(ti_load_f64(a, i)) && isnan(ti_load_f64(b, i))))
            return false;
    }
    return true;
}

/* The program and what becomes of it give the same bits for these inputs. */
static void check_same(const char *text, const char *spec, const double *number)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parse(ctx, text), *older = as_vgf(ctx, module, spec);
    const tc_graph *g = ti_main(module);
    tc_tensor in[4], want[4], got[4];
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++)
            ti_store_f64(in[i], k, *number++);
    }
    run(ctx, module, in, want);
    run(ctx, older, in, got);
    for (size_t i = 0; i < g->n_out; i++)
        CHECK(same(got[i], want[i]));
    tc_ctx_free(ctx);
}

/* ---- blocks ---- */

enum { BLOCKS = 64, COUNT = BLOCKS * 32 };

static uint32_t next(uint32_t *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

/* Blocks around the limit of a value type, at every scale, with zeros of both signs, halves between
 * steps, infinities and NaNs. */
static void hard_blocks(double limit, double *x)
{
    uint32_t state = 1;
    for (int k = 0; k < BLOCKS; k++) {
        int e = (int)(next(&state) % 250) - 130;
        for (int i = 0; i < 32; i++) {
            double part = (double)((int)(next(&state) % 257) - 128) / 128;
            x[k * 32 + i] = (float)ldexp(limit * part, k < 16 ? k - 8 : e);
        }
        x[k * 32 + 1] = -0.0;
        if (k % 4 == 0)
            x[k * 32] = (float)ldexp(limit, k - 8);
        if (k % 4 == 1)
            x[k * 32] = nextafterf((float)ldexp(limit, k - 9), 0);
    }
    x[5 * 32 + 7] = INFINITY;
    x[6 * 32 + 9] = NAN;
    for (int i = 0; i < 32; i++) {
        x[7 * 32 + i] = i % 2 ? 0.0 : -0.0;
        x[9 * 32 + i] = (i % 2 ? 1 : -1) * 3.4028234e38;
        x[10 * 32 + i] = ldexp(i % 2 ? 1 : -1, -149);
    }
}

static void test_casts_to_blocks_are_exact(void)
{
    static const struct {
        const char *name;
        double limit;
    } value[] = {{"e4m3", 464}, {"e5m2", 61440}, {"e2m3", 7.75},
                 {"e3m2", 30},  {"e2m1", 7},     {"mxint8", 127.5 / 64}};
    static double x[COUNT];
    for (size_t i = 0; i < TC_COUNT(value); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "graph @main(%%0: f32[%d,32]) {\n  %%1 = tosa.cast %%0 : bs32_%s[%d,32]\n"
                 "  %%2 = tosa.cast %%1 : f32[%d,32]\n  %%3 = tosa.cast %%1 : bf16[%d,32]\n"
                 "  return %%2, %%3\n}\n",
                 BLOCKS, value[i].name, BLOCKS, BLOCKS, BLOCKS);
        hard_blocks(value[i].limit, x);
        check_same(text, whole, x);
        check_same(text, without_fp8, x);
    }
}

/* ---- products ---- */

/* Small whole numbers, whose sums are exact in every type. */
static void test_products_of_small_integers_are_exact(void)
{
    static const char *const operand[] = {"e4m3", "e5m2", "f16", "bf16", "f32", "bs32_e2m1", "bs32_mxint8"};
    double x[2 * 32 + 3 * 32];
    uint32_t state = 7;
    for (size_t i = 0; i < TC_COUNT(x); i++)
        x[i] = (double)(next(&state) % 3) - 1;
    for (size_t i = 0; i < TC_COUNT(operand); i++)
        for (size_t k = 0; k < TC_COUNT(operand); k++)
            for (int narrow = 0; narrow < 2; narrow++) {
                char text[800];
                bool wide = ti_text_eq(operand[i], "f32") || ti_text_eq(operand[k], "f32");
                bool half = ti_text_eq(operand[i], "f16") && ti_text_eq(operand[k], "f16");
                const char *zero[2] = {operand[i], operand[k]};
                for (int z = 0; z < 2; z++)
                    zero[z] = ti_text_starts(zero[z], "bs32") ? "f32" : zero[z];
                if (narrow && (wide || half)) /* not among the types of 1.1 */
                    continue;
                snprintf(text, sizeof text,
                         "graph @main(%%0: f32[2,1,32], %%1: f32[1,3,32]) {\n"
                         "  %%2 = tosa.%s %%0 : %s[2,1,32]\n  %%3 = tosa.%s %%1 : %s[1,3,32]\n"
                         "  %%4 = const [0] : %s[1]\n  %%5 = const [0] : %s[1]\n"
                         "  %%6 = tosa.matmul_t %%2, %%3, %%4, %%5 : %s[2,1,3]\n  return %%6\n}\n",
                         ti_text_eq(operand[i], "f32") ? "identity" : "cast", operand[i],
                         ti_text_eq(operand[k], "f32") ? "identity" : "cast", operand[k], zero[0],
                         zero[1], narrow ? "bf16" : "f32");
                check_same(text, whole, x);
            }
}

/* ---- what cannot be said ---- */

static void check_refused(const char *text, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parse(ctx, text);
    tc_target target;
    CHECK(ti_target_parse(ctx, whole, &target) == TC_OK);
    CHECK(ti_road_run(ctx, module, TC_AT_FORMED, TC_AT_TOSA, &(tc_job){.target = &target}, NULL) ==
          TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), words));
    tc_ctx_free(ctx);
}

static void test_nothing_is_cut_off(void)
{
    check_refused("graph @main(%0 \"x\": i64[2]) {\n  %1 = tosa.abs %0 : i64[2]\n  return %1\n}\n",
                  "input 0 of graph 'main' is i64[2]");
    check_refused("graph @main(%0: i32[2]) {\n  %1 = tosa.cast %0 : i64[2]\n"
                  "  %2 \"size\" = tosa.abs %1 : i64[2]\n  %3 = tosa.cast %2 : i32[2]\n"
                  "  return %3\n}\n",
                  "'size' is i64[2] with numbers from 0 to 2147483648");
    check_refused("graph @main(%0: i32[2]) {\n  %1 \"wide\" = tosa.cast %0 : i64[2]\n"
                  "  %2 = tosa.clz %1 : i64[2]\n  %3 = tosa.cast %2 : i32[2]\n  return %3\n}\n",
                  "looks at all 64 bits");
    check_refused("graph @main(%0: f32[2]) {\n"
                  "  %1 = const [40, 3] : i64[2]\n  %2 = const [1, 1] : i64[2]\n"
                  "  %3 = tosa.arithmetic_right_shift %2, %1 round=false : i64[2]\n"
                  "  %4 = tosa.cast %3 : i32[2]\n  return %4, %0\n}\n",
                  "a shift of 32 bits is from 0 to 31");
}

static void test_sums_of_whole_numbers_stay(void)
{
    static const double x[] = {3, -5, 7, 2147483647.0, 1, 0, 4, -2147483648.0};
    check_same("graph @main(%0: i32[2,4]) {\n  %1 = const [255] : i32[1,1]\n"
               "  %2 = tosa.bitwise_and %0, %1 : i32[2,4]\n  %3 = tosa.cast %2 : i64[2,4]\n"
               "  %4 = tosa.reduce_sum %3 axis=1 : i64[2,1]\n"
               "  %5 = const [2] : i64[1,1]\n  %6 = tosa.logical_left_shift %4, %5 : i64[2,1]\n"
               "  %7 = tosa.clz %6 : i64[2,1]\n  %8 = tosa.cast %7 : i32[2,1]\n"
               "  %9 = tosa.cast %6 : i32[2,1]\n  return %8, %9\n}\n",
               whole, x);
}

int main(void)
{
    test_casts_to_blocks_are_exact();
    test_products_of_small_integers_are_exact();
    test_nothing_is_cut_off();
    test_sums_of_whole_numbers_stay();
    return check_done();
}
