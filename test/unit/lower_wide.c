/* SPDX-License-Identifier: Apache-2.0 */
/* lower_wide.c -- logarithms, roots, powers and sizes of i32 against exact arithmetic: every code up
 * to 2^16, the neighbours of every power of two, and a geometric sequence through all others. */
#include "lower_check.h"

static const char *const TARGETS[] = {"TOSA-1.0+INT", "TOSA-1.0+INT+int16",
                                      "TOSA-1.0+INT+int16+u55"};

enum { LOW = 65536, NEAR = 3 * 31, MORE = 40000, ALL = LOW + NEAR + MORE };

static int32_t code_at(int64_t i)
{
    if (i < LOW)
        return (int32_t)i;
    i -= LOW;
    if (i < NEAR)
        return (int32_t)(((int64_t)1 << (i / 3)) + i % 3 - 1);
    return (int32_t)floor(exp2(16 + 15 * (double)(i - NEAR) / MORE));
}

typedef struct function {
    const char *text; /* of the node, %0 => %2 */
    double (*exact)(double);
    double scale, step; /* of the operand and of the result */
    const char *dtype;
    double within; /* steps of the result, beside its rounding */
} function;

static double inverse_root(double x) { return 1 / sqrt(x); }
static double fourth_root(double x) { return pow(x, 0.25); }
static double sized(double x) { return hypot(x, 4096e-6); }

/* The largest distance from the exact result, in steps; codes saturate. */
static double distance(const char *target, const function *f)
{
    char text[600];
    tc_ctx *ctx = tc_ctx_new();
    snprintf(text, sizeof text,
             "graph @t(%%0: i32[%d] q(%.9g:0 in 0..2147483647)) {\n"
             "  %%1 = const %s\n"
             "  %%2 = %s : %s[%d] q(%.9g:0)\n  return %%2\n}\n",
             (int)ALL, f->scale,
             f->exact == sized ? "4096 : i32[] q(1e-06:0)" : "0.25 : f32[]", f->text, f->dtype, (int)ALL, f->step);
    tc_module *tosa = lower_module(ctx, target, lower_expand(ctx, text));
    double most = tosa ? 0 : HUGE_VAL;
    if (tosa) {
        tc_graph *g = ti_main(tosa);
        tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), out = {NULL, NULL};
        for (int64_t i = 0; i < ALL; i++)
            ti_store_i64(in, i, code_at(i));
        most = ti_eval(g, &in, &out, &ctx->arena) == TC_OK ? 0 : HUGE_VAL;
        double hi = out.type ? (double)ti_dtype_max(out.type->dtype) : 0, lo = -hi - 1;
        for (int64_t i = 0; i < ALL && most < HUGE_VAL; i++) {
            double want = f->exact(f->scale * (double)code_at(i)) / f->step;
            want = want < lo ? lo : want > hi ? hi : want;
            double off = fabs(ti_load_f64(out, i) - want);
            off = out.type->dtype == TC_i32 ? off / fmax(1, fabs(want) * 0x1p-14 + 1) : off;
            most = fmax(most, off);
        }
    }
    tc_ctx_free(ctx);
    return most;
}

int main(void)
{
    static const function all[] = {
        {"log %0", log, 1e-6, 5e-4, "i16", 0.1},
        {"log %0", log, 3e-12, 0.12, "i8", 0.01},
        {"log2 %0", log2, 250, 2e-3, "i16", 0.1},
        {"log10 %0", log10, 1e-9, 3e-4, "i16", 0.1},
        {"log1p %0", log1p, 1e-5, 5e-4, "i16", 0.1},
        {"sqrt %0", sqrt, 1e-6, 1.5e-3, "i16", 1.2},
        {"sqrt %0", sqrt, 1e-6, 0.4, "i8", 0.02},
        {"rsqrt %0", inverse_root, 1e-6, 4e-3, "i16", 0.5},
        {"pow %0, %1", fourth_root, 1e-6, 3e-4, "i16", 0.5},
        {"hypot %0, %1", sized, 1e-6, 4e-6, "i32", 0.5},
    };
    for (size_t t = 0; t < TC_COUNT(TARGETS); t++)
        for (size_t i = 0; i < TC_COUNT(all); i++) {
            double off = distance(TARGETS[t], &all[i]);
            if (off > 0.5 + all[i].within)
                fprintf(stderr, "%s, %s to %s: %g steps\n", TARGETS[t], all[i].text, all[i].dtype,
                        off);
            CHECK(off <= 0.5 + all[i].within);
        }
    return check_done();
}
