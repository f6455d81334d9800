/* SPDX-License-Identifier: Apache-2.0 */
/* cycles.c -- what programs of a few operators cost on Ethos-U85-256, by the streams that are made of
 * them: each stands for a form that once was expensive, and fails when what made it cheap stops paying.
 * Limits are today's figures and at most 3 %; in brackets what it was, or is without its form
 * (codegen/form.def). */
#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tosac/tosac.h"

enum { WEIGHTS = 512 * 512 * 9 };

/* Cycles of a float program with these weights, quantized on invented data; -1: it failed. */
static double cycles(const char *text, const char *target, const float *weight)
{
    static const char *const random[] = {"random:1"};
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model = NULL;
    tc_compiled *compiled = NULL;
    tc_profile *p = NULL;
    tc_profile_info info = tc_profile_info_default();
    tc_model_options read = tc_model_options_default();
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    read.side = (tc_bytes){(const uint8_t *)weight, WEIGHTS * sizeof *weight};
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    bool good = tc_dataset_open(ctx, random, 1, &o.quant.samples) == TC_OK &&
                tc_model_read(ctx, "cycles", bytes, &read, &model) == TC_OK &&
                tc_compile(ctx, model, &o, &compiled) == TC_OK &&
                tc_profile_new(ctx, compiled, &p) == TC_OK;
    if (good)
        tc_profile_get_info(p, &info);
    else
        fputs(tc_diagnostics(ctx), stderr);
    double result = good ? info.total.cycles : -1;
    tc_ctx_free(ctx);
    return result;
}

#define CONV1 " stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1\n"
#define CONV3 " stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1\n"

/* Channels first at the border, of few places [13.96 M; Vela 21.9 M]. */
static const char leaving[] = "graph @main(%0: f32[1,512,3,3]) {\n"
                              "  %1 = const @bin(0) : f32[512,512,3,3]\n"
                              "  %2 = conv %0, %1" CONV3 "  return %2\n}\n";

/* An image's channels last, in pairs of columns [72 K]. */
static const char image[] = "graph @main(%0: f32[1,3,96,96]) {\n"
                            "  %1 = const @bin(0) : f32[16,3,3,3]\n"
                            "  %2 = conv %0, %1 stride=[2,2] pad=[1,1,1,1] dilation=[1,1] "
                            "groups=1\n  %3 = relu %2\n  return %3\n}\n";

/* Convolution, gain by channel, constants, residual. */
#define BLOCK(more, last)                                                                          \
    "graph @main(%0: f32[1,64,28,28]) {\n"                                                         \
    "  %1 = const @bin(0) : f32[128,64,1,1]\n"                                                     \
    "  %2 = conv %0, %1" CONV1 "  %3 = relu %2\n"                                                  \
    "  %4 = const @bin(65536) : f32[64,128,1,1]\n"                                                 \
    "  %5 = conv %3, %4" CONV1 more "  %20 = add " last ", %0 alpha=1\n  return %20\n}\n"
static const char plain[] = BLOCK("", "%5");
static const char layer_scale[] = BLOCK("  %6 = const @bin(131072) : f32[1,64,1,1]\n"
                                        "  %7 = mul %5, %6\n",
                                        "%7");
static const char chain[] = BLOCK("  %6 = const 3 : f32[]\n"
                                  "  %7 = mul %5, %6\n"
                                  "  %8 = const 0.25 : f32[]\n"
                                  "  %9 = add %7, %8 alpha=1\n"
                                  "  %10 = const 7 : f32[]\n"
                                  "  %11 = div %9, %10 mode=exact\n",
                                  "%11");

/* Attention of four heads in four batches; scores divided, multiplied, or as one operator. */
#define HEADS(core)                                                                                \
    "graph @main(%0: f32[4,64,64]) {\n"                                                            \
    "  %1 = const @bin(0) : f32[192,64]\n"                                                         \
    "  %2 = linear %0, %1, none\n"                                                                 \
    "  %3 = reshape %2 shape=[4,64,3,4,16]\n"                                                      \
    "  %4 = permute %3 perm=[2,0,3,1,4]\n"                                                         \
    "  %5, %6, %7 = unbind %4 axis=0\n" core "  %30 = permute %20 perm=[0,2,1,3]\n"                \
    "  %31 = reshape %30 shape=[4,64,64]\n"                                                        \
    "  %32 = const @bin(65536) : f32[64,64]\n"                                                     \
    "  %33 = linear %31, %32, none\n  return %33\n}\n"
static const char together[] =
    HEADS("  %20 = sdpa %5, %6, %7 scale=0.25 causal=false gqa=false\n");
static const char divided[] = HEADS("  %8 = permute %6 perm=[0,1,3,2]\n"
                                    "  %9 = matmul %5, %8\n"
                                    "  %10 = const 4 : f32[]\n"
                                    "  %11 = div %9, %10 mode=exact\n"
                                    "  %12 = softmax %11 axis=3\n"
                                    "  %20 = matmul %12, %7\n");

/* Rows brought to mean 0, in front of a layer. */
static const char norm[] = "graph @main(%0: f32[1,196,96]) {\n"
                           "  %1 = const @bin(0) : f32[96]\n"
                           "  %2 = const @bin(4096) : f32[96]\n"
                           "  %3 = layer_norm %0, %1, %2 n_axes=1 eps=1e-05\n"
                           "  %4 = const @bin(65536) : f32[96,96]\n"
                           "  %5 = linear %3, %4, none\n  return %5\n}\n";

/* From 32 channels to 8, pixel by pixel: two pixels at a time [160 K]. */
static const char thin[] = "graph @main(%0: f32[1,32,48,48]) {\n"
                           "  %1 = const @bin(0) : f32[32,1,3,3]\n"
                           "  %2 = conv %0, %1 stride=[1,1] pad=[1,1,1,1] dilation=[1,1] "
                           "groups=32\n  %3 = relu %2\n"
                           "  %4 = const @bin(65536) : f32[8,32,1,1]\n"
                           "  %5 = conv %3, %4" CONV1 "  %6 = const @bin(131072) : f32[96,8,1,1]\n"
                           "  %7 = conv %5, %6" CONV1 "  %8 = relu %7\n  return %8\n}\n";

/* Many small parts [313]. */
static const char parts[] = "graph @main(%0: f32[1,2], %1: f32[1,2], %2: f32[1,2]) {\n"
                            "  %3 = cat %0, %1, %2, %0, %1, %2, %0, %1, %2 axis=1\n"
                            "  return %3\n}\n";

static float *made_weights(void)
{
    float *w = malloc(WEIGHTS * sizeof *w);
    uint32_t seed = 1;
    for (size_t i = 0; w && i < WEIGHTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        w[i] = ((float)(seed >> 8) / 0x1p23f - 1) * 0.05f;
    }
    return w;
}

int main(void)
{
    static const char u85[] = "ethos-u85-256", u55[] = "ethos-u55-128";
    float *w = made_weights();
    if (!w)
        return 1;
    CHECK(cycles(leaving, u85, w) <= 300e3);
    CHECK(cycles(image, u85, w) <= 26e3);
    CHECK(cycles(norm, u85, w) <= 29.1e3);
    CHECK(cycles(thin, u85, w) <= 158.5e3);
    CHECK(cycles(parts, u55, w) <= 250);
    double least = cycles(plain, u85, w), small = cycles(plain, u55, w);
    CHECK(least > 0 && small > 0);
    CHECK(cycles(layer_scale, u85, w) <= 1.005 * least);
    CHECK(cycles(layer_scale, u55, w) <= 1.005 * small);
    CHECK(cycles(chain, u85, w) <= 1.005 * least);
    CHECK(cycles(chain, u55, w) <= 1.005 * small);
    least = cycles(together, u85, w);
    CHECK(least > 0 && least <= 122.7e3);
    CHECK(cycles(divided, u85, w) <= 1.005 * least);
    CHECK(cycles(together, u55, w) <= 3.31e6);
    free(w);
    return check_done();
}
