/* SPDX-License-Identifier: Apache-2.0 */
/* float.c -- products and what follows them, joined: the numbers of the reference kernels, NaN and
 * infinity too. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "run/exec.h"
#include "ir/text.h"
#include "ir/verify.h"

static tc_module *parsed(tc_ctx *ctx, const char *then)
{
    tc_module *m = NULL;
    const char *text = tc_text_format(
        &ctx->arena,
        "graph @main(%%0: f32[1,2,2,2]) {\n  %%1 = const [1, -2, 0.5, 3, -1, 4] : f32[3,2,1,1]\n"
        "  %%2 = conv %%0, %%1 stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,3,2,2]\n"
        "  %%3 = %s : f32[1,3,2,2]\n  return %%3\n}\n",
        then);
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (tc_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &m) != TC_OK ||
        tc_verify(ctx, m) != TC_OK) {
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
    tc_tensor in = tc_tensor_new(&ctx->arena, tc_type_of(tc_main(m), tc_main(m)->in[0])), quick,
              plain;
    const float numbers[] = {1, NAN, -2, 3, INFINITY, 0.25f, -INFINITY, -4};
    memcpy(in.data, numbers, sizeof numbers);
    bool good = tc_exec_run(tc_exec_new(ctx, m), &in, &quick) == TC_OK &&
                tc_eval(tc_main(m), &in, &plain, &ctx->arena) == TC_OK;
    for (int i = 0; good && i < 12; i++) {
        float a = ((float *)quick.data)[i], b = ((float *)plain.data)[i];
        good = isnan(b) ? isnan(a) : a == b || fabsf(a - b) <= 1e-6f * fabsf(b);
    }
    tc_ctx_free(ctx);
    return good;
}

int main(void)
{
    CHECK(agrees("relu %2"));
    CHECK(agrees("clamp %2 lo=0 hi=6"));
    CHECK(agrees("clamp %2 lo=-inf hi=1"));
    CHECK(agrees("hardswish %2"));
    CHECK(agrees("sigmoid %2"));
    CHECK(agrees("tanh %2"));
    CHECK(agrees("gelu %2 form=erf"));
    return check_done();
}
