/* SPDX-License-Identifier: Apache-2.0 */
/* float.c -- products and what follows them, joined: the numbers of the reference kernels, NaN and
 * infinity too. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "run/eval.h"
#include "run/exec.h"
#include "ir/ir_text.h"
#include "ir/verify.h"

static tc_module *parsed(tc_ctx *ctx, const char *then)
{
    tc_module *m = NULL;
    const char *text = ti_text_format(
        &ctx->arena,
        "graph @main(%%0: f32[1,2,2,2]) {\n  %%1 = const [1, -2, 0.5, 3, -1, 4] : f32[3,2,1,1]\n"
        "  %%2 = conv %%0, %%1 stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,3,2,2]\n"
        "  %%3 = %s : f32[1,3,2,2]\n  return %%3\n}\n",
        then);
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &m) != TC_OK ||
        ti_verify(ctx, m) != TC_OK) {
        fprintf(stderr, "%s", tc_diagnostics(ctx));
        exit(1);
    }
    return m;
}

/* The same element by element, NaN where the other is NaN. */
static bool agrees(const char *then)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = parsed(ctx, then);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(m), ti_main(m)->in[0])), quick,
              plain;
    const float numbers[] = {1, NAN, -2, 3, INFINITY, 0.25f, -INFINITY, -4};
    memcpy(in.data, numbers, sizeof numbers);
    bool good = ti_exec_run(ti_exec_new(ctx, m), &in, &quick) == TC_OK &&
                ti_eval(ti_main(m), &in, &plain, &ctx->arena) == TC_OK;
    for (int i = 0; good && i < 12; i++) {
        float a = ((float *)quick.data)[i], b = ((float *)plain.data)[i];
        good = isnan(b) ? isnan(a) : a == b || fabsf(a - b) <= 1e-6f * fabsf(b);
    }
    tc_ctx_free(ctx);
    return good;
}

/* Weights that stay codes: K = 4096 and 300 rows are two whole blocks and a rest; the greatest
 * difference from real weights beside the greatest number. */
static double codes_apart(bool by_row, bool bias)
{
    enum { K = 4096, N = 300, ROWS = 3 };
    tc_ctx *ctx = tc_ctx_new();
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_buf_text(&text, "graph @main(%0: f32[1,3,4096]) {\n  %1 = const [");
    for (int i = 0; i < N * K; i++)
        ti_buf_printf(&text, "%s%d", i ? ", " : "", (i * 37 + i / K * 11) % 251 - 125);
    ti_buf_text(&text, "] : i8[300,4096]\n  %2 = const [");
    for (int i = 0; i < N; i++)
        ti_buf_printf(&text, "%s%d", i ? ", " : "", i - 100);
    ti_buf_text(&text, "] : f32[300]\n");
    if (by_row) {
        ti_buf_text(&text, "  %3 = const [");
        for (int i = 0; i < N; i++)
            ti_buf_printf(&text, "%s%g", i ? ", " : "", 0.0625 * (1 + i % 7));
        ti_buf_text(&text, "] : f32[300]\n  %4 = const [");
        for (int i = 0; i < N; i++)
            ti_buf_printf(&text, "%s%d", i ? ", " : "", i % 3);
        ti_buf_text(&text, "] : i64[300]\n  %5 = dequantize %1, %3, %4 scale=0 zero=0 axis=0");
    } else
        ti_buf_text(&text, "  %5 = dequantize %1 scale=0.125 zero=-3 axis=-1");
    ti_buf_text(&text, " qmin=-128 qmax=127 dtype=f32 : f32[300,4096]\n");
    ti_buf_printf(&text, "  %%6 = linear %%0, %%5%s : f32[1,3,300]\n  return %%6\n}\n",
                  bias ? ", %2" : "");
    tc_module *m = NULL;
    CHECK(ti_parse(ctx, "t.ir", (tc_bytes){text.data, text.size}, (tc_bytes){NULL, 0}, &m) ==
              TC_OK && ti_verify(ctx, m) == TC_OK);
    fputs(tc_diagnostics(ctx), stderr);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(m), ti_main(m)->in[0])), quick,
              plain;
    for (int i = 0; i < ROWS * K; i++)
        ((float *)in.data)[i] = (float)((i * 29) % 63 - 31) / 32;
    CHECK(ti_exec_run(ti_exec_new(ctx, m), &in, &quick) == TC_OK &&
          ti_eval(ti_main(m), &in, &plain, &ctx->arena) == TC_OK);
    double apart = 0, most = 0;
    for (int i = 0; i < ROWS * N; i++) {
        double a = ((float *)quick.data)[i], b = ((float *)plain.data)[i];
        bool is_new = !(fabs(a - b) <= apart); /* a NaN too, which stays */
        apart = is_new && !isnan(apart) ? fabs(a - b) : apart;
        most = fabs(b) > most ? fabs(b) : most;
    }
    tc_ctx_free(ctx);
    return most > 1 ? apart / most : 1;
}

int main(void)
{
    CHECK(codes_apart(false, false) < 1e-5);
    CHECK(codes_apart(false, true) < 1e-5);
    CHECK(codes_apart(true, true) < 1e-5);
    CHECK(agrees("relu %2"));
    CHECK(agrees("clamp %2 lo=0 hi=6"));
    CHECK(agrees("clamp %2 lo=-inf hi=1"));
    CHECK(agrees("hardswish %2"));
    CHECK(agrees("sigmoid %2"));
    CHECK(agrees("tanh %2"));
    CHECK(agrees("gelu %2 form=erf"));
    return check_done();
}
