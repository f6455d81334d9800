/* SPDX-License-Identifier: Apache-2.0 */
/* quant_never.c -- numbers that stand for "never" take no range: masks as constants, as inputs,
 * computed, in front of everything that reads them. */
#include "check.h"

#include <math.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"
#include "quant/mask_values.h"
#include "run/exec.h"

enum { SAMPLES = 32 };

/* ---- what is far ---- */

static tc_far far_of(const char *body, const float *x, int64_t n)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    const char *text =
        ti_text_format(&ctx->arena, "graph @main(%%0: f32[8]) {\n%s  return %%1\n}\n", body);
    CHECK(ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                   (tc_bytes){NULL, 0}, &m) == TC_OK &&
          ti_infer_missing(ctx, m) == TC_OK);
    const tc_graph *g = ti_main(m);
    const tc_reach **reach = tc_new_n(&ctx->arena, const tc_reach *, g->n_val);
    for (size_t v = 0; v < g->n_val; v++) {
        tc_reach *r = tc_new(&ctx->arena, tc_reach);
        ti_reach_init(r);
        if (v == g->in[0])
            ti_reach_see(r, x, n);
        reach[v] = r;
    }
    tc_far far = ti_mask_values_find(ctx, g, reach)[g->in[0]];
    tc_ctx_free(ctx);
    return far;
}

static void test_reach(void)
{
    const char *added = "  %1 = add %0, %0 alpha=1 : f32[8]\n";
    tc_far far = far_of(added, (float[]){0, 0.5f, -1e9f, -1e9f}, 4);
    CHECK(far.from > 1e8 && far.from < 1e9 && far.one == -1e9f && far.ordinary == 0.5);
    far = far_of(added, (float[]){0, -1e4f, NAN}, 3);
    CHECK(far.from > 2000 && far.one == -1e4);
    CHECK(far_of(added, (float[]){0, 100, 5000, 1e4f}, 4).from == 0);  /* a range */
    CHECK(far_of(added, (float[]){1, -9e8f, -1e9f}, 3).from == 0);     /* not one number */
    CHECK(far_of(added, (float[]){-1e9f, -1e9f}, 2).from == 0);        /* nothing else */
    CHECK(far_of(added, (float[]){1, 500}, 2).from == 0);              /* not far */
    CHECK(far_of("  %1 = mul %0, %0 : f32[8]\n", (float[]){0, 1e6f}, 2).from == 0); /* no mask */
}

/* ---- programs ---- */

/* Inputs of sample k: numbers between -2 and 2; a mask, of which the first of each row is false;
 * the same as 0 and `low`. */
typedef struct source {
    const tc_graph *g;
    double low;
} source;

static tc_status read(void *from, size_t k, const tc_tensor *in)
{
    const source *s = from;
    uint32_t state = (uint32_t)k * 7919 + 1;
    for (int64_t i = 0; i < tc_type_count(in[0].type); i++) {
        state = state * 1664525u + 1013904223u;
        ti_store_f64(in[0], i, ((double)(state >> 8) / (1 << 24) - 0.5) * 4);
    }
    for (int64_t i = 0; s->g->n_in > 1 && i < tc_type_count(in[1].type); i++) {
        state = state * 1664525u + 1013904223u;
        bool hides = i % 6 && state >> 31;
        ti_store_f64(in[1], i, in[1].type->dtype == TC_bool ? hides : hides ? s->low : 0);
    }
    return TC_OK;
}

/* SQNR of a program quantized by its samples, over numbers below 1e3 and over the others, whichever
 * is worse; of integers all or nothing. */
static double measure(const char *mask, double low, const char *body, const char *preset)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    const char *text = ti_text_format(&ctx->arena, "graph @main(%%0: f32[3,6], %%1: %s) {\n%s}\n",
                                      mask, body);
    CHECK(ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                   (tc_bytes){NULL, 0}, &m) == TC_OK &&
          ti_infer_missing(ctx, m) == TC_OK && ti_verify(ctx, m) == TC_OK);
    tc_module *real = ti_module_copy(m);
    source s = {ti_main(m), low};
    tc_config config;
    CHECK(ti_config_preset(preset, &config));
    tc_quant_request r = {.config = &config,
                          .samples = {.n = SAMPLES, .read = read, .from = &s}};
    bool works = ti_quantize(ctx, m, &r) == TC_OK;
    CHECK(works && !strstr(tc_diagnostics(ctx), "throughout")); /* of a mask's 0 and infinity */
    tc_exec *a = ti_exec_new(ctx, real), *b = ti_exec_new(ctx, m);
    double power[2] = {0}, error[2] = {0}, least = 1e9;
    for (size_t k = SAMPLES; works && k < SAMPLES + 8; k++) {
        tc_tensor in[2], x[1], y[1];
        for (size_t i = 0; i < 2; i++)
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(real), ti_main(real)->in[i]));
        CHECK(read(&s, k, in) == TC_OK);
        CHECK(ti_exec_run(a, in, x) == TC_OK && ti_exec_run(b, in, y) == TC_OK);
        for (int64_t i = 0; i < tc_type_count(x[0].type); i++) {
            double want = ti_load_f64(x[0], i), got = ti_load_f64(y[0], i);
            bool whole = x[0].type->dtype != TC_f32, far = fabs(want) >= 1e3;
            power[far] += want * want;
            error[far] += (whole && want != got ? 1e9 : 1) * (want - got) * (want - got);
        }
    }
    for (int i = 0; i < 2; i++)
        if (power[i] > 0)
            least = fmin(least, 10 * log10(power[i] / (error[i] + 1e-30)));
    if (least < 25)
        fprintf(stderr, "%.1f dB:\n%s%s", least, text, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return least;
}

#define CHOSEN(low) "  %2 = const " low " : f32[]\n  %3 = where %1, %2, %0 : f32[3,6]\n"
#define ADDED(low)                                                                                 \
    "  %2 = const " low " : f32[]\n  %8 = cast %1 dtype=f32 : f32[3,6]\n"                          \
    "  %9 = mul %8, %2 : f32[3,6]\n  %3 = add %0, %9 alpha=1 : f32[3,6]\n"
#define GIVEN "  %3 = add %0, %1 alpha=1 : f32[3,6]\n"

static void test_programs(const char *preset)
{
    static const char *const behind[] = {
        "  %4 = argmax %3 axis=1 keepdim=false : i64[3]\n  return %4\n",
        "  %4 = amax %3 axes=[1] keepdim=false : f32[3]\n  return %4\n",
        "  %4 = softmax %3 axis=1 : f32[3,6]\n  return %4\n",
        "  %4 = log_softmax %3 axis=1 : f32[3,6]\n  return %4\n",
        "  %4 = logsumexp %3 axes=[1] keepdim=false : f32[3]\n  return %4\n",
        "  %4, %5 = topk %3 k=1 axis=1 largest=true : f32[3,1], i64[3,1]\n  return %4\n",
        "  %4 = tanh %3 : f32[3,6]\n  return %4\n",
        "  %4 = leaky_relu %3 slope=0.1 : f32[3,6]\n"
        "  %5 = amax %4 axes=[1] keepdim=false : f32[3]\n  return %5\n",
        "  %4 = const 0.1 : f32[]\n  %5 = mul %3, %4 : f32[3,6]\n"
        "  %6 = softmax %5 axis=1 : f32[3,6]\n  return %6\n",
        "  return %3\n",
    };
    static const char *const bools[] = {CHOSEN("-10000"), CHOSEN("-1000000000"), CHOSEN("-1e30"),
                                        ADDED("-10000"), ADDED("-1000000000")};
    for (size_t i = 0; i < TC_COUNT(behind); i++) {
        tc_ctx *ctx = tc_ctx_new();
        for (size_t k = 0; k < TC_COUNT(bools); k++)
            CHECK(measure("bool[3,6]", 0,
                          ti_text_format(&ctx->arena, "%s%s", bools[k], behind[i]), preset) > 25);
        double given[] = {-1e4, -1e9, -3.4e38};
        for (size_t k = 0; k < TC_COUNT(given); k++)
            CHECK(measure("f32[3,6]", given[k],
                          ti_text_format(&ctx->arena, "%s%s", GIVEN, behind[i]), preset) > 25);
        tc_ctx_free(ctx);
    }
}

#define WEIGHTS                                                                                    \
    "  %2 = const [-0.7, 0.7, 0.5, -0.5, -0.0, -0.1, "                                             \
    "0.3, 0.6, -0.8, -0.9, 0.7, -0.1, "                                                            \
    "0.5, -1.0, -0.1, 0.4, -0.5, 0.9, "                                                            \
    "0.8, -0.9, -0.9, 0.1, 0.9, -0.2, "                                                            \
    "-0.6, -0.2, -0.9, -0.6, -0.1, -0.0, "                                                         \
    "-0.5, -0.5, -0.6, -0.1, -0.4, -1.0] : f32[6,6]\n"

/* Biases that forbid classes, masks that are logarithms. */
static void test_others(const char *preset)
{
    static const char *const programs[] = {
        WEIGHTS "  %3 = const [0, -10000, 0.5, 0, -10000.25, 1] : f32[6]\n"
        "  %4 = linear %0, %2, %3 : f32[3,6]\n  %5 = log_softmax %4 axis=1 : f32[3,6]\n"
        "  return %5\n",
        WEIGHTS "  %3 = const [0, -1000000000, 0.5, 0, 0, 1] : f32[6]\n"
        "  %4 = linear %0, %2, %3 : f32[3,6]\n  return %4\n",
        "  %2 = logical_not %1 : bool[3,6]\n  %3 = cast %2 dtype=f32 : f32[3,6]\n"
        "  %4 = log %3 : f32[3,6]\n  %5 = add %0, %4 alpha=1 : f32[3,6]\n"
        "  %6 = softmax %5 axis=1 : f32[3,6]\n  return %6\n",
    };
    for (size_t i = 0; i < TC_COUNT(programs); i++)
        CHECK(measure("bool[3,6]", 0, programs[i], preset) > 25);
}

/* Observations alone do not tell a mask from other numbers: that is said. */
static void test_merged(double low, bool said)
{
    static const char text[] = "graph @main(%0: f32[3,6], %1: f32[3,6]) {\n" GIVEN
                               "  %4 = argmax %3 axis=1 keepdim=false : i64[3]\n  return %4\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    CHECK(ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                   (tc_bytes){NULL, 0}, &m) == TC_OK &&
          ti_infer_missing(ctx, m) == TC_OK);
    source s = {ti_main(m), low};
    tc_config config;
    tc_bytes seen;
    CHECK(ti_config_preset("int8", &config));
    config.global.act.observer = TC_OBSERVER_minmax;
    tc_quant_request first = {
        .config = &config,
        .samples = {.n = SAMPLES, .read = read, .from = &s},
        .observe_only = &seen};
    CHECK(ti_quantize(ctx, m, &first) == TC_OK);
    tc_observations merge = {"first.obs", seen};
    tc_quant_request second = {.config = &config, .merge = &merge, .n_merge = 1};
    CHECK(ti_quantize(ctx, m, &second) == TC_OK);
    CHECK((strstr(tc_diagnostics(ctx), "values reach 1e6 and more") != NULL) == said);
    tc_ctx_free(ctx);
}

int main(void)
{
    test_reach();
    test_programs("int8");
    test_programs("a16w8");
    test_others("int8");
    test_others("a16w8");
    test_merged(-1e9, true);
    test_merged(-10, false);
    return check_done();
}
