/* SPDX-License-Identifier: Apache-2.0 */
/* lower_bands.c -- logarithms of bands against exact arithmetic: frames of every level from one code to
 * i32's ends, loud bins beside faint ones, floors far below and above; what rounding the powers to 31
 * bits of their frame makes of it is allowed, and half a step. */
#include "lower_check.h"

#include <float.h>

static const char *const TARGETS[] = {"TOSA-1.0+INT+int16", "TOSA-1.0+INT+int16+u55"};

enum { FRAMES = 2000, BINS = 19, BANDS = 4 };

typedef struct bands {
    double scale, floor, octave, step;
    bool adds;
    const char *dtype;
} bands;

static const int WEIGHT[BANDS][BINS] = {{127},
                                        {0, 3, 64, 127, 100, 1},
                                        {[6] = 10, 127, 127, 127, 50, 20, 10, 9, 8, 7, 6, 5, 4},
                                        {[18] = 1}};
#define WEIGHT_STEP 0.004

static uint32_t seed = 1;

static double share(void) /* 0 to 1 */
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 16777216.0;
}

static int32_t part(int frame)
{
    double level = exp2(31.0 * (frame % 500) / 499), x = level * (2 * share() - 1);
    if (frame >= 500)
        x *= exp2(-20 * share());
    if (frame >= 1500)
        x = share() < 0.1 ? level : 0;
    return (int32_t)fmax(-2147483647.0, fmin(2147483647.0, rint(x)));
}

static void put_graph(char *text, size_t size, const bands *b)
{
    char list[1000] = "";
    for (int i = 0; i < BANDS * BINS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? ", " : "",
                 WEIGHT[i / BINS][i % BINS]);
    snprintf(text, size,
             "graph @t(%%0: i32[%d,%d] q(%.9g:0 in -2147483647..2147483647), %%1: i32[%d,%d] q(%.9g:0 in "
             "-2147483647..2147483647)) {\n  %%2 = const [%s] : i8[%d,%d] q(axis=0; %g:0, %g:0, %g:0, %g:0)\n"
             "  %%3 = log_bands %%0, %%2, %%1 floor=%.17g adds=%s octave=%.17g : %s[%d,%d] q(%.9g:0)\n"
             "  return %%3\n}\n",
             (int)FRAMES, (int)BINS, b->scale, (int)FRAMES, (int)BINS, b->scale, list, (int)BANDS,
             (int)BINS, WEIGHT_STEP, WEIGHT_STEP, WEIGHT_STEP, WEIGHT_STEP, b->floor,
             b->adds ? "true" : "false", b->octave, b->dtype, (int)FRAMES, (int)BANDS, b->step);
}

/* How far, in steps, what was not allowed goes. */
static double distance(const char *target, const bands *b)
{
    char text[3000];
    tc_ctx *ctx = tc_ctx_new();
    put_graph(text, sizeof text, b);
    tc_module *tosa = lower_module(ctx, target, lower_expand(ctx, text));
    double worst = tosa ? 0 : HUGE_VAL;
    if (tosa) {
        tc_graph *g = ti_main(tosa);
        tc_tensor in[2], out = {NULL, NULL};
        for (int i = 0; i < 2; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            for (int k = 0; k < FRAMES * BINS; k++)
                ti_store_i64(in[i], k, part(k / BINS));
        }
        if (ti_eval(g, in, &out, &ctx->arena) != TC_OK)
            worst = HUGE_VAL;
        double unit = (double)(float)b->scale, top = out.type ? (double)ti_dtype_max(out.type->dtype) : 0;
        for (int r = 0; r < FRAMES && worst < HUGE_VAL; r++) {
            double most = 0, largest = 0;
            for (int k = r * BINS; k < (r + 1) * BINS; k++)
                most = fmax(most, fmax(fabs(ti_load_f64(in[0], k)), fabs(ti_load_f64(in[1], k))));
            for (int c = 0; c < BANDS; c++) {
                double w = 0;
                for (int k = 0; k < BINS; k++)
                    w += WEIGHT[c][k] * WEIGHT_STEP;
                largest = fmax(largest, w);
            }
            /* of a power of the frame, and of a sum, in real numbers; softer frames than the floor are
             * not raised further */
            double code = most * most * unit * unit * 0x1p-28, sum_code = largest * 4 * code + b->floor * 0x1p-27;
            for (int c = 0; c < BANDS; c++) {
                double sum = 0, w = 0;
                for (int k = 0; k < BINS; k++) {
                    double x = ti_load_f64(in[0], r * BINS + k) * unit, y = ti_load_f64(in[1], r * BINS + k) * unit;
                    sum += WEIGHT[c][k] * WEIGHT_STEP * (x * x + y * y);
                    w += WEIGHT[c][k] * WEIGHT_STEP;
                }
                sum = b->adds ? sum + b->floor : fmax(sum, b->floor);
                double want = b->octave * log2(sum) / b->step, error = sum * 0x1p-14 + w * code + sum_code;
                double allowed = 0.51 + b->octave / b->step * (log2(1 + error / sum) + 0x1p-14);
                double low = error < sum ? b->octave * log2(sum - error) / b->step - 1 : -HUGE_VAL;
                want = fmax(-top - 1, fmin(top, want));
                double got = ti_load_f64(out, r * BANDS + c), off = fabs(got - want);
                bool below = got <= want && got >= fmin(top, low);
                worst = fmax(worst, below ? 0 : off / allowed);
            }
        }
    }
    tc_ctx_free(ctx);
    return worst;
}

int main(void)
{
    static const bands all[] = {
        {1e-6, 1e-6, 0.6931471805599453, 1e-3, true, "i16"}, {1e-6, 1e-6, 0.6931471805599453, 1e-3, false, "i16"},
        {1e-6, 1e-10, 0.30102999566398, 5e-4, true, "i16"},  {1e-6, 1e-16, 1, 2e-3, false, "i16"},
        {1e-6, 100, 1, 0.3, true, "i8"},                     {3e-5, 1e-5, 0.6931471805599453, 0.2, true, "i8"},
        {0.002, 1, 0.6931471805599453, 0.2, false, "i8"},
    };
    for (size_t t = 0; t < TC_COUNT(TARGETS); t++)
        for (size_t i = 0; i < TC_COUNT(all); i++) {
            double off = distance(TARGETS[t], &all[i]);
            if (!(off <= 1))
                fprintf(stderr, "%s, %zu to %s: %g of what is allowed\n", TARGETS[t], i, all[i].dtype, off);
            CHECK(off <= 1);
        }
    return check_done();
}
