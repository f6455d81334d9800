/* SPDX-License-Identifier: Apache-2.0 */
/* quant_input_grids.c -- an input whose ends are cut off gets its whole range where the outputs have less
 * noise with it: areas of one value are not averaged away. */
#include <string.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/quantizer.h"
#include "check.h"

enum { SIDE = 16, SAMPLES = 8 };

/* Sums of 4 x 4 places. */
static const char model[] = "graph @main(%0 \"x\": f32[1,1,16,16]) {\n"
                            "  %1 = const @bin(0) : f32[1,1,4,4]\n"
                            "  %2 = conv %0, %1, none stride=[4,4] pad=[0,0,0,0] dilation=[1,1] groups=1"
                            " : f32[1,1,4,4]\n"
                            "  return %2\n"
                            "}\n";

/* A corner at the end of the range, all else within it. */
static tc_status sample(void *from, size_t k, const tc_tensor *in)
{
    uint32_t s = 12345u + 77u * (uint32_t)k;
    float *x = in[0].data;
    (void)from;
    for (int i = 0; i < SIDE * SIDE; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = i % SIDE < 4 && i < 4 * SIDE ? 1 : 0.9f * ((float)(s >> 8) / 8388608.0f - 1);
    }
    return TC_OK;
}

/* The part of the range that the input's grid holds, where the search found one of `part`. */
static double held(double part, double least)
{
    static const float weights[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    tc_config config;
    tc_domains domains;
    tc_bytes text = {(const uint8_t *)model, strlen(model)},
             data = {(const uint8_t *)weights, sizeof weights};
    CHECK(ti_parse(ctx, "t.ir", text, data, &m) == TC_OK && ti_infer_missing(ctx, m) == TC_OK &&
          ti_verify(ctx, m) == TC_OK && ti_config_preset("int8", &config));
    bool kept[1] = {false};
    bool found;
    tc_quant_request request = {.config = &config, .samples = {.n = SAMPLES, .read = sample},
                                .whole_inputs = kept};
    CHECK(ti_quant_decide(ctx, m, &config, NULL, &domains) == TC_OK &&
          ti_quant_observe(ctx, m, &request, &domains) == TC_OK);
    tc_domain *d = &domains.domain[domains.of[ti_main(m)->in[0]]];
    double range = d->hi - d->lo, codes = (double)(d->setting.qmax - d->setting.qmin);
    d->scale = part * range / codes;
    CHECK(ti_quant_input_cut(ti_main(m), &domains) == (part < 0.99));
    CHECK(ti_quant_input_grids(ctx, m, &request, &domains, least, &found) == TC_OK);
    double first = d->scale;
    CHECK(found == (first != part * range / codes));
    d->scale = part * range / codes; /* the same once more */
    ti_quant_set_inputs(ti_main(m), &request, &domains);
    CHECK(d->scale == first);
    tc_ctx_free(ctx);
    return first * codes / range;
}

int main(void)
{
    CHECK(held(0.94, 0) > 0.999); /* [-0.9, 1]: the ends are not alike */
    double same = held(0.94, 1); /* there is not so much noise */
    CHECK(same > 0.939 && same < 0.941);
    same = held(0.995, 0); /* next to nothing is cut off */
    CHECK(same > 0.994 && same < 0.996);
    return check_done();
}
