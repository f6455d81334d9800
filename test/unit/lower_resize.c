/* SPDX-License-Identifier: Apache-2.0 */
/* lower_resize.c -- pooling of plain numbers and resampling as TOSA. */
#include "lower_check.h"

static const char FP[] = "TOSA-1.0+FP", INT[] = "TOSA-1.0+INT";

static void on_f32(double within, const char *in, const char *op, const char *out)
{
    char text[512];
    snprintf(text, sizeof text, "graph @t(%%0: f32[%s]) {\n  %%1 = %s : f32[%s]\n  return %%1\n}\n",
             in, op, out);
    LOWERS(FP, within, text);
}

static void pools(void)
{
    on_f32(0, "2,3,9,8",
           "max_pool %0 kernel=[3,2] stride=[2,2] pad=[1,0] dilation=[1,1] ceil=false", "2,3,5,4");
    on_f32(0, "2,3,9,8", "max_pool %0 kernel=[3,3] stride=[2,2] pad=[1,1] dilation=[1,1] ceil=true",
           "2,3,5,5");
    on_f32(0, "2,3,9,8",
           "max_pool %0 kernel=[3,2] stride=[1,2] pad=[1,1] dilation=[2,3] ceil=false", "2,3,7,4");
    on_f32(0, "3,9", "max_pool %0 kernel=[2] stride=[2] pad=[0] dilation=[1] ceil=false", "3,4");
    on_f32(0, "1,3,5,6,7",
           "max_pool %0 kernel=[2,3,2] stride=[2,1,2] pad=[0,1,1] dilation=[1,1,1] ceil=false",
           "1,3,2,6,4");
    on_f32(1e-6, "2,3,9,8",
           "avg_pool %0 kernel=[3,2] stride=[2,2] pad=[1,1] ceil=false include_pad=true divisor=0",
           "2,3,5,5");
    on_f32(1e-6, "2,3,9,8",
           "avg_pool %0 kernel=[3,2] stride=[2,2] pad=[1,1] ceil=false include_pad=false divisor=0",
           "2,3,5,5");
    on_f32(1e-6, "2,3,9,8",
           "avg_pool %0 kernel=[3,3] stride=[2,2] pad=[1,1] ceil=true include_pad=true divisor=0",
           "2,3,5,5");
    on_f32(1e-6, "2,3,9,8",
           "avg_pool %0 kernel=[3,3] stride=[2,2] pad=[1,1] ceil=true include_pad=true divisor=5",
           "2,3,5,5");
    on_f32(1e-6, "1,3,5,6,7",
           "avg_pool %0 kernel=[2,3,2] stride=[2,1,2] pad=[0,1,1] ceil=false include_pad=false "
           "divisor=0",
           "1,3,2,6,4");
    on_f32(1e-6, "2,3,8,9", "adaptive_avg_pool %0 size=[4,3]", "2,3,4,3");
    on_f32(1e-6, "2,3,7,5", "adaptive_avg_pool %0 size=[3,9]", "2,3,3,9");
    LOWERS(FP, 0,
           "graph @t(%0: f32[2,3,7,5]) {\n  %1, %2 = adaptive_max_pool %0 size=[3,4] : "
           "f32[2,3,3,4], i64[2,3,3,4]\n  return %1\n}\n");
}

/* Ratios that RESIZE has and others, one to three axes. */
static void resampling(void)
{
    static const struct {
        const char *in, *size, *out;
    } list[] = {{"1,2,4,6", "[8,12]", "1,2,8,12"}, {"1,2,4,6", "[7,9]", "1,2,7,9"},
                {"1,2,9,8", "[4,3]", "1,2,4,3"},   {"1,2,5", "[13]", "1,2,13"},
                {"1,2,1,3", "[4,4]", "1,2,4,4"},   {"1,2,2,3,4", "[4,3,7]", "1,2,4,3,7"},
                {"1,1,40,3", "[1,3]", "1,1,1,3"}};
    static const char *const kind[] = {
        "upsample_nearest %%0 size=%s scale=[] align_corners=false",
        "upsample_nearest_exact %%0 size=%s scale=[] align_corners=false",
        "upsample_linear %%0 size=%s scale=[] align_corners=false",
        "upsample_linear %%0 size=%s scale=[] align_corners=true",
        "upsample_cubic %%0 size=%s scale=[] align_corners=false"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
            char op[256], text[512];
            if (k == 4 && strlen(list[i].in) != 7)
                continue;
            snprintf(op, sizeof op, kind[k], list[i].size);
            on_f32(k < 2 ? 0 : 2e-6, list[i].in, op + 0, list[i].out);
            snprintf(
                text, sizeof text,
                "graph @t(%%0: i8[%s] q(0.05:-3)) {\n  %%1 = %s : i8[%s] q(%s)\n  return %%1\n}\n",
                list[i].in, op, list[i].out, k < 2 ? "0.05:-3" : "0.07:5");
            LOWERS(INT, k < 2 ? 0 : 1, text);
        }
    LOWERS("ethos-u55-128", 0,
           "graph @t(%0: i8[1,2,4,6] q(0.05:-3)) {\n"
           "  %1 = upsample_nearest %0 size=[16,24] scale=[] align_corners=false : i8[1,2,16,24] "
           "q(0.05:-3)\n"
           "  return %1\n}\n");
    on_f32(0, "1,2,4,6", "upsample_nearest %0 size=[7,10] scale=[1.9,1.7] align_corners=false",
           "1,2,7,10");
    on_f32(2e-6, "1,2,4,6", "upsample_linear %0 size=[7,10] scale=[1.9,1.7] align_corners=false",
           "1,2,7,10");
    LOWERS("TOSA-1.0+INT+int16", 1,
           "graph @t(%0: i16[1,2,4,6] q(0.001:0)) {\n"
           "  %1 = upsample_linear %0 size=[8,9] scale=[] align_corners=false : i16[1,2,8,9] "
           "q(0.0013:0)\n"
           "  return %1\n}\n");
}

static void samples(void)
{
    static const char *const mode[] = {"bilinear", "nearest", "bicubic"}, *const pad[] = {
                                                                              "zeros", "border",
                                                                              "reflection"};
    lower_plain.float_lo = -1.3;
    lower_plain.float_hi = 1.3;
    for (int m = 0; m < 3; m++)
        for (int p = 0; p < 3; p++)
            for (int corners = 0; corners < 2; corners++) {
                char text[512];
                snprintf(text, sizeof text,
                         "graph @t(%%0: f32[2,3,5,6], %%1: f32[2,4,7,2]) {\n  %%2 = grid_sample "
                         "%%0, %%1 mode=%s pad=%s "
                         "align_corners=%s : f32[2,3,4,7]\n  return %%2\n}\n",
                         mode[m], pad[p], corners ? "true" : "false");
                LOWERS(FP, 1e-5, text);
            }
    LOWERS(FP, 1e-5,
           "graph @t(%0: f32[1,2,3,4,5], %1: f32[1,2,3,4,3]) {\n"
           "  %2 = grid_sample %0, %1 mode=bilinear pad=zeros align_corners=false : "
           "f32[1,2,2,3,4]\n  return %2\n}\n");
    /* a plain rule between conversions */
    LOWERS("TOSA-1.0+INT+FP", 1,
           "graph @t(%0: i8[1,2,4,5] q(0.05:-3), %1: i8[1,3,4,2] q(0.008:0)) {\n"
           "  %2 = grid_sample %0, %1 mode=bilinear pad=zeros align_corners=false : i8[1,2,3,4] "
           "q(0.05:-3)\n"
           "  return %2\n}\n");
    REFUSES(
        "TOSA-1.0+INT",
        "graph @t(%0: i8[1,2,4,5] q(0.05:-3), %1: i8[1,3,4,2] q(0.008:0)) {\n"
        "  %2 = grid_sample %0, %1 mode=bilinear pad=reflection align_corners=false : i8[1,2,3,4] "
        "q(0.05:-3)\n"
        "  return %2\n}\n",
        "only linear sampling without reflection has an integer form");
}

int main(void)
{
    samples();
    pools();
    resampling();
    return check_done();
}
