/* SPDX-License-Identifier: Apache-2.0 */
/* split_transforms.c -- 16-bit weights of a transform: the two layers add up to the one that was
 * there, their 8-bit codes hold its weights to half a step of 127 * 254 in each row, and what is
 * split is not split again; rows of zeros, and of one weight, too. */
#include <math.h>
#include <string.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/spectra.h"
#include "run/exec.h"
#include "check.h"

enum { ROWS = 16, TAPS = 32 };

static const char model[] =
    "graph @main(%0 \"x\": f32[1,32]) {\n"
    "  %1 = const @bin(0) : f32[16,32]\n"
    "  %2 = const @bin(2048) : f32[16]\n"
    "  %3 \"re\" = linear %0, %1, %2 : f32[1,16]\n"
    "  %4 \"re2\" = mul %3, %3 : f32[1,16]\n"
    "  %5 \"log\" = log %4 : f32[1,16]\n"
    "  return %5\n"
    "}\n";

static float constants[(TAPS + 1) * ROWS];

static void fill(uint32_t s)
{
    for (size_t i = 0; i < TC_COUNT(constants); i++) {
        s = s * 1664525u + 1013904223u;
        constants[i] = (float)(s >> 8) / 8388608.0f - 1;
    }
    memset(constants, 0, TAPS * sizeof *constants);
    memset(constants + TAPS, 0, (TAPS - 1) * sizeof *constants);
    for (int k = 2; k < ROWS; k++)
        for (int i = 0; i < TAPS; i++)
            constants[TAPS * k + i] *= powf(10, (float)(k - 8));
}

static void results(tc_ctx *ctx, tc_module *m, float *out)
{
    tc_exec *exec = ti_exec_new(ctx, m);
    tc_graph *g = ti_main(m);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), y[1];
    for (int i = 0; i < TAPS; i++)
        ((float *)in.data)[i] = sinf((float)(3 * i + 1));
    CHECK(ti_exec_run(exec, &in, y) == TC_OK);
    memcpy(out, y[0].data, ROWS * sizeof *out);
}

static double code(double w, double step) { return step > 0 ? step * rint(w / step) : 0; }

static void check_weights(const tc_graph *g)
{
    const float *half[2];
    int n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_linear && n < 2)
            half[n++] = ti_tensor_of(g, g->node[k]->in[1]).data;
    CHECK(n == 2);
    for (int c = 0; c < ROWS && n == 2; c++) {
        double most[2] = {0, 0}, whole = 0;
        for (int i = c * TAPS; i < (c + 1) * TAPS; i++) {
            whole = fmax(whole, fabs((double)constants[i]));
            for (int h = 0; h < 2; h++)
                most[h] = fmax(most[h], fabs((double)half[h][i]));
        }
        for (int i = c * TAPS; i < (c + 1) * TAPS; i++) {
            double got = code((double)half[0][i], most[0] / 127) + code((double)half[1][i], most[1] / 127);
            CHECK(fabs(got - (double)constants[i]) <= whole / (127 * 254) * 0.501 + whole * 0x1p-23);
        }
    }
}

static void try(uint32_t seed)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    tc_config config;
    float before[ROWS], after[ROWS];
    bool any;
    fill(seed);
    tc_bytes text = {(const uint8_t *)model, sizeof model - 1},
             data = {(const uint8_t *)constants, sizeof constants};
    CHECK(ti_parse(ctx, "t.ir", text, data, &m) == TC_OK && ti_verify(ctx, m) == TC_OK &&
          ti_config_preset("int8", &config));
    results(ctx, m, before);
    CHECK(ti_spectra_split(ctx, m, &config, &any) == TC_OK && any && ti_verify(ctx, m) == TC_OK);
    check_weights(ti_main(m));
    results(ctx, m, after);
    for (int c = 0; c < ROWS; c++)
        CHECK(fabs((double)(before[c] - after[c])) < 1e-4 * (1 + fabs((double)before[c])));
    CHECK(ti_spectra_split(ctx, m, &config, &any) == TC_OK && !any);
    tc_ctx_free(ctx);
}

int main(void)
{
    for (uint32_t seed = 1; seed <= 20; seed++)
        try(seed);
    return check_done();
}
