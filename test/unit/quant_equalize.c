/* SPDX-License-Identifier: Apache-2.0 */
/* quant_equalize.c -- channels of unlike ranges become alike, the program gives what it gave, and
 * what cannot take a factor is left alone. */
#include <math.h>

#include "quant/equalize.h"
#include "run/exec.h"
#include "quant_case.h"

enum { SIDE = 32, SAMPLES = 16, CHANNELS = 4 };

#define ONE " stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1"
#define OWN " stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=4"
#define MAP " : f32[1,4,32,32]"

/* Between the first two layers BENT, between the next two a clamp, then a sum of two layers, whose
 * mean a layer reads. */
#define MODEL(BENT)                                                                               \
    "graph @main(%0 \"x\": f32[1,2,32,32]) {\n"                                                   \
    "  %1 = const [2, 1, 0.2, 0.1, 0.06, 0.03, -1, 0.5] : f32[4,2,1,1]\n"                         \
    "  %2 = const [0.5, 0.05, 0.015, 0.25] : f32[4]\n"                                            \
    "  %3 \"first\" = conv %0, %1, %2" ONE MAP "\n"                                               \
    "  %4 \"bent\" = " BENT " %3" MAP "\n"                                                        \
    "  %5 = const [1,2,1,2,3,2,1,2,1, 9,2,1,2,3,2,1,2,9, 1,2,1,-2,30,2,1,2,1, 1,0,1,2,3,0,1,2,0]" \
    " : f32[4,1,3,3]\n"                                                                           \
    "  %6 = conv %4, %5, none" OWN MAP "\n"                                                       \
    "  %7 \"cut\" = clamp %6 lo=0 hi=80" MAP "\n"                                                 \
    "  %8 = const [1,2,3,4, 0.1,0.2,0.3,0.4, 3,1,2,1, 4,3,2,1] : f32[4,4,1,1]\n"                  \
    "  %9 \"left\" = conv %7, %8, none" ONE MAP "\n"                                              \
    "  %10 \"right\" = conv %9, %8, none" ONE MAP "\n"                                            \
    "  %11 \"sum\" = add %9, %10 alpha=1" MAP "\n"                                                \
    "  %12 \"mean\" = mean %11 axes=[2,3] keepdim=false : f32[1,4]\n"                             \
    "  %13 = const [1,2,3,4, 4,3,2,-1] : f32[2,4]\n"                                              \
    "  %14 \"y\" = linear %12, %13 : f32[1,2]\n"                                                  \
    "  return %14\n"                                                                              \
    "}\n"

/* What the program gives for all samples, and the largest number of each channel of
 * what that node makes. */
static void run(tc_ctx *ctx, tc_module *m, const char *op, size_t which, double *out, double *most)
{
    tc_module *shown = ti_module_copy(m);
    tc_graph *g = ti_main(shown);
    for (size_t k = 0, n = 0; op && k < g->n_node; k++)
        if (!strcmp(tc_ops[g->node[k]->op].name, op) && n++ == which)
            ti_graph_output(g, g->node[k]->out[0]);
    tc_exec *exec = ti_exec_new(ctx, shown);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), y[2];
    for (size_t k = 0; k < SAMPLES; k++) {
        CHECK(case_sample(NULL, k, &in) == TC_OK && ti_exec_run(exec, &in, y) == TC_OK);
        for (int i = 0; out && i < 2; i++)
            out[2 * k + (size_t)i] = (double)((const float *)y[0].data)[i];
        for (int64_t i = 0; op && i < tc_type_count(y[1].type); i++) {
            double x = fabs((double)((const float *)y[1].data)[i]), *to = &most[i / (SIDE * SIDE)];
            *to = x > *to ? x : *to;
        }
    }
}

static size_t equalize(tc_ctx *ctx, tc_module *m, const char *preset)
{
    tc_config config;
    size_t n = 99;
    CHECK(ti_config_preset(preset, &config));
    tc_quant_request request = {.config = &config, .samples = {.n = SAMPLES, .read = case_sample}};
    tc_domains domains = {0};
    CHECK(ti_quant_equalize(ctx, m, &request, &domains, false, &n) == TC_OK && ti_verify(ctx, m) == TC_OK);
    return n;
}

static double unlike(const double *most)
{
    double least = INFINITY, greatest = 0;
    for (int c = 0; c < CHANNELS; c++) {
        least = fmin(least, most[c]);
        greatest = fmax(greatest, most[c]);
    }
    return greatest / least;
}

static bool has_name(const tc_module *m, const char *name)
{
    const tc_graph *g = ti_main(m);
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v]->name && !strcmp(g->val[v]->name, name))
            return true;
    return false;
}

/* Three sets: behind the relu, behind the clamp, and the sum with what it adds. */
static void test_equal(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = case_parse(ctx, MODEL("relu"), NULL, 0), *was = ti_module_copy(m);
    double y[2 * SAMPLES], z[2 * SAMPLES], a[CHANNELS] = {0}, b[CHANNELS] = {0};
    CHECK(equalize(ctx, m, "int8") == 3);
    run(ctx, was, "relu", 0, y, a);
    run(ctx, m, "relu", 0, z, b);
    CHECK(unlike(a) > 30 && unlike(b) < 1.001);
    for (int i = 0; i < 2 * SAMPLES; i++)
        CHECK(fabs(y[i] - z[i]) < 1e-4 * fabs(y[i]));
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    run(ctx, was, "clamp", 0, NULL, a);
    run(ctx, m, "clamp", 0, NULL, b);
    CHECK(unlike(a) > 2 && unlike(b) < 1.1); /* none is above the clamp's bound */
    for (int c = 0; c < CHANNELS; c++)
        CHECK(b[c] <= 80);
    memset(b, 0, sizeof b);
    run(ctx, m, "add", 0, NULL, b);
    CHECK(unlike(b) < 4);
    /* other numbers than the model's have no names of the model's */
    CHECK(!has_name(m, "bent") && !has_name(m, "sum") && has_name(m, "x") && has_name(m, "y"));
    tc_ctx_free(ctx);
}

/* A curve does not take factors: what it reads and gives stays as it is. */
static void test_left(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = case_parse(ctx, MODEL("silu"), NULL, 0);
    double a[CHANNELS] = {0}, b[CHANNELS] = {0};
    run(ctx, m, "silu", 0, NULL, a);
    CHECK(equalize(ctx, m, "int8") == 2);
    run(ctx, m, "silu", 0, NULL, b);
    CHECK(!memcmp(a, b, sizeof a) && has_name(m, "bent") && has_name(m, "first"));
    tc_ctx_free(ctx);
}

int main(void)
{
    test_equal();
    test_left();
    return check_done();
}
