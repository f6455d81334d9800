/* SPDX-License-Identifier: Apache-2.0 */
/* quant_groups.c -- channels of unlike ranges are made in groups: the program gives what it gave,
 * each group has a range of its own before the curve and all have one behind it; a depthwise layer is
 * cut into the groups of the layer before it; a curve that two read is left alone. */
#include <math.h>

#include "quant/channel_groups.h"
#include "run/exec.h"
#include "quant_case.h"

enum { CHANNELS = 16, SIDE = 8, SAMPLES = 8 };

#define MAP " : f32[1,16,8,8]"
#define ONE " stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1"
/* Two layers with curves one behind the other, a depthwise one after the second. */
#define MODEL(LAST)                                                                                \
    "graph @main(%0 \"x\": f32[1,2,8,8]) {\n"                                                      \
    "  %1 = const @bin(0) : f32[16,2,1,1]\n"                                                       \
    "  %2 = const @bin(128) : f32[16]\n"                                                           \
    "  %3 \"first\" = conv %0, %1, %2" ONE MAP "\n"                                                \
    "  %4 \"bent\" = silu %3" MAP "\n"                                                             \
    "  %5 = const @bin(192) : f32[16,16,1,1]\n"                                                    \
    "  %6 \"second\" = conv %4, %5, %2" ONE MAP "\n"                                               \
    "  %7 \"again\" = silu %6" MAP "\n"                                                            \
    "  %8 = const @bin(1216) : f32[16,1,3,3]\n"                                                    \
    "  %9 \"own\" = conv %7, %8, %2 stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=16" MAP "\n"  \
    "  %10 \"third\" = silu %9" MAP "\n"                                                           \
    "  %11 = const @bin(1792) : f32[3,16,1,1]\n"                                                   \
    "  %12 \"y\" = conv " LAST ", %11, none" ONE " : f32[1,3,8,8]\n"                               \
    "  return %12\n"                                                                               \
    "}\n"

static float constants[496];

static void fill(void)
{
    case_noise(constants, TC_COUNT(constants), 7);
    for (int k = 0; k < CHANNELS; k++) { /* rows of the first two layers: 0.03 to 3 */
        float by = 0.03f * expf(0.307f * (float)(k * 5 % CHANNELS));
        for (int i = 0; i < 2; i++)
            constants[2 * k + i] *= by;
        constants[32 + k] *= by;
        for (int i = 0; i < CHANNELS; i++)
            constants[48 + CHANNELS * k + i] *= by;
    }
}

static size_t group(tc_ctx *ctx, tc_module *m, const char *preset, double least)
{
    tc_config config;
    tc_domains domains;
    size_t n = 99;
    CHECK(ti_config_preset(preset, &config));
    tc_quant_request request = {.config = &config, .samples = {.n = SAMPLES, .read = case_sample}};
    CHECK(ti_quant_decide(ctx, m, &config, NULL, &domains) == TC_OK &&
          ti_quant_observe(ctx, m, &request, &domains) == TC_OK);
    tc_groups *groups = ti_groups_find(ctx, ti_module_copy(m), &domains);
    if (!groups)
        return 0;
    CHECK(ti_groups_rank(groups, &request, least, &n) == TC_OK);
    CHECK(!n || (ti_groups_form(groups, m, UINT32_MAX) == TC_OK && ti_verify(ctx, m) == TC_OK));
    return n;
}

/* What the program gives, and the largest magnitude of every value that `op` makes. */
static size_t run(tc_ctx *ctx, const tc_module *m, tc_op op, double *out, double *most)
{
    tc_module *shown = ti_module_copy(m);
    tc_graph *g = ti_main(shown);
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == op && ++n)
            ti_graph_output(g, g->node[k]->out[0]);
    tc_exec *exec = ti_exec_new(ctx, shown);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), y[24];
    CHECK(n + 1 < TC_COUNT(y) && case_sample(NULL, 3, &in) == TC_OK &&
          ti_exec_run(exec, &in, y) == TC_OK);
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        out[i] = (double)((const float *)y[0].data)[i];
    for (size_t k = 0; k < n; k++) {
        most[k] = 0;
        for (int64_t i = 0; i < tc_type_count(y[k + 1].type); i++)
            most[k] = fmax(most[k], fabs((double)((const float *)y[k + 1].data)[i]));
    }
    return n;
}

static void test_grouped(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = case_parse(ctx, MODEL("%10"), constants, TC_COUNT(constants)), *was = ti_module_copy(m);
    double y[3 * SIDE * SIDE], z[3 * SIDE * SIDE], a[24], b[24];
    CHECK(group(ctx, m, "int8", 0) == 2);
    run(ctx, was, TC_OP_silu, y, a);
    CHECK(run(ctx, m, TC_OP_conv, z, a) == 3 * 4 + 1); /* the depthwise one, too */
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        CHECK(fabs(y[i] - z[i]) < 1e-5 * (1 + fabs(y[i])));
    CHECK(a[3] > 8 * a[0] && a[7] > 8 * a[4]);
    CHECK(run(ctx, m, TC_OP_mul, z, b) == 0); /* the factor is in the curve */
    CHECK(run(ctx, m, TC_OP_silu, z, a) == 3); /* the group with the largest range has none */
    CHECK(run(ctx, m, TC_OP_function, z, b) == 3 * 3);
    for (int k = 0; k < 3; k++)
        for (int g = 0; g < 3; g++)
            CHECK(b[3 * k + g] < 3 * a[k] && a[k] < 3 * b[3 * k + g]);
    tc_ctx_free(ctx);
}

static void test_left(const char *text, const char *preset, double least, size_t wanted)
{
    tc_ctx *ctx = tc_ctx_new();
    CHECK(group(ctx, case_parse(ctx, text, constants, TC_COUNT(constants)), preset, least) == wanted);
    tc_ctx_free(ctx);
}

int main(void)
{
    fill();
    test_grouped();
    test_left(MODEL("%7"), "int8", 0, 1);  /* two read the second curve */
    test_left(MODEL("%10"), "a16w8", 0, 0);
    test_left(MODEL("%10"), "int8", 1, 0); /* there is not so much noise */
    return check_done();
}
