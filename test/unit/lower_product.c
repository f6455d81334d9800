/* SPDX-License-Identifier: Apache-2.0 */
/* lower_product.c -- convolutions, linear layers and matrix products as TOSA, beside the typed
 * form. */
#include "lower_check.h"

static const char INT[] = "TOSA-1.0+INT", INT16[] = "TOSA-1.0+INT+int16",
                  INT4[] = "TOSA-1.0+INT+int4", FP[] = "TOSA-1.0+FP";

/* A product of x by weights w with this attribute text; bias: NULL for none. */
static bool agrees(const char *target, double within, const char *x, const char *w,
                   const char *bias, const char *op, const char *attr, const char *y)
{
    char text[1200], constant[200] = "";
    if (bias)
        snprintf(constant, sizeof constant, "  %%2 = const ? : %s\n", bias);
    snprintf(text, sizeof text,
             "graph @t(%%0: %s) {\n  %%1 = const ? : %s\n%s  %%3 = %s %%0, %%1, %s %s : %s\n"
             "  return %%3\n}\n",
             x, w, constant, op, bias ? "%2" : "none", attr, y);
    bool good = lower_agrees(target, within, text);
    if (!good)
        fprintf(stderr, "%s %s: %s by %s\n", op, attr, x, w);
    return good;
}

static void linear(void)
{
    LOWERS(INT, 1, "graph @t(%0: i8[2,9] q(0.05:-3)) {\n"
                   "  %1 = const ? : i8[4,9] q(axis=0; 0.02:0, 0.01:0, 0.03:0, 0.02:0)\n"
                   "  %2 = const ? : i32[4] q(axis=0; 0.001:0, 0.0005:0, 0.0015:0, 0.001:0)\n"
                   "  %3 = linear %0, %1, %2 : i8[2,4] q(0.1:5)\n"
                   "  return %3\n}\n");
    CHECK(agrees(INT, 1, "i8[9] q(0.05:-3)", "i8[4,9] q(0.02:0)", "f32[4]", "linear", "",
                 "i8[4] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[2,3,9] q(0.05:-3)", "i8[4,9] q(0.02:9)", NULL, "linear", "",
                 "i8[2,3,4] q(0.1:5)"));
    CHECK(agrees(INT4, 1, "i8[2,9] q(0.05:-3)", "i4[4,9] q(0.1:0)", NULL, "linear", "",
                 "i8[2,4] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[2,9] q(0.05:-3)", "i4[4,9] q(0.1:0)", NULL, "linear", "",
                 "i8[2,4] q(0.1:5)"));
    CHECK(agrees(INT16, 1, "i16[2,9] q(0.0005:0)", "i8[4,9] q(0.02:0)", "i32[4] q(0.00001:0)",
                 "linear", "", "i16[2,4] q(0.004:0)"));
    CHECK(agrees(FP, 1e-6, "f32[2,9]", "f32[4,9]", "f32[4]", "linear", "", "f32[2,4]"));
    LOWERS(INT, 1, "graph @t(%0: i8[2,9] q(0.05:-3), %1: i8[4,9] q(0.02:5)) {\n"
                   "  %2 = linear %0, %1, none : i8[2,4] q(0.1:5)\n  return %2\n}\n");
    REFUSES(INT,
            "graph @t(%0: i8[2,9] q(0.05:-3), %1: i32[4] q(0.001:0)) {\n  %2 = const ? : i8[4,9] "
            "q(0.02:0)\n"
            "  %3 = linear %0, %2, %1 : i8[2,4] q(0.1:5)\n  return %3\n}\n",
            "bias is not constant");
}

#define U55 "ethos-u55-128"
#define PC4 "q(axis=0; 0.02:0, 0.01:0, 0.03:0, 0.02:0)"

static void conv(void)
{
    static const char same[] = "stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1";
    CHECK(agrees(INT, 1, "i8[1,3,8,8] q(0.05:-3)", "i8[4,3,3,3] " PC4, NULL, "conv", same,
                 "i8[1,4,8,8] q(0.3:5)"));
    CHECK(agrees(INT, 1, "i8[3,8,8] q(0.05:-3)", "i8[4,3,3,3] " PC4, "f32[4]", "conv", same,
                 "i8[4,8,8] q(0.3:5)"));
    /* strides that do not come out even: off the padding, and off the input */
    CHECK(agrees(INT, 1, "i8[2,3,8,9] q(0.05:-3)", "i8[4,3,3,3] " PC4, NULL, "conv",
                 "stride=[2,3] pad=[1,1,0,0] dilation=[1,1] groups=1", "i8[2,4,4,3] q(0.3:5)"));
    CHECK(agrees(INT, 1, "i8[1,3,11,11] q(0.05:-3)", "i8[4,3,2,2] " PC4, NULL, "conv",
                 "stride=[4,4] pad=[0,1,1,0] dilation=[2,1] groups=1", "i8[1,4,3,3] q(0.3:5)"));
    /* groups: depthwise, with a multiplier, and in between */
    CHECK(agrees(INT, 1, "i8[1,4,6,6] q(0.05:-3)", "i8[4,1,3,3] " PC4, "f32[4]", "conv",
                 "stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=4", "i8[1,4,6,6] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[1,3,6,6] q(0.05:-3)", "i8[6,1,3,3] q(0.02:0)", "f32[6]", "conv",
                 "stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=3", "i8[1,6,4,4] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[1,6,6,6] q(0.05:-3)", "i8[4,3,3,3] " PC4, "f32[4]", "conv",
                 "stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=2", "i8[1,4,6,6] q(0.1:5)"));
    /* one and three axes */
    CHECK(agrees(INT, 1, "i8[2,3,20] q(0.05:-3)", "i8[4,3,5] " PC4, "f32[4]", "conv",
                 "stride=[2] pad=[2,2] dilation=[1] groups=1", "i8[2,4,10] q(0.3:5)"));
    CHECK(agrees(INT, 1, "i8[2,4,20] q(0.05:-3)", "i8[4,1,5] " PC4, NULL, "conv",
                 "stride=[1] pad=[2,2] dilation=[1] groups=4", "i8[2,4,20] q(0.3:5)"));
    CHECK(agrees(INT, 1, "i8[1,2,4,5,6] q(0.05:-3)", "i8[4,2,2,3,3] " PC4, NULL, "conv",
                 "stride=[1,2,2] pad=[1,1,1,1,0,0] dilation=[1,1,1] groups=1",
                 "i8[1,4,5,3,2] q(0.3:5)"));
    CHECK(agrees(INT, 1, "i8[1,4,4,5,6] q(0.05:-3)", "i8[4,2,2,3,3] " PC4, NULL, "conv",
                 "stride=[1,2,2] pad=[1,1,1,1,0,0] dilation=[1,1,1] groups=2",
                 "i8[1,4,5,3,2] q(0.3:5)"));
    /* wide operands, an accumulator for a result, floats, computed weights */
    CHECK(agrees(INT16, 1, "i16[1,3,8,8] q(0.0005:0)", "i8[4,3,3,3] " PC4, "f32[4]", "conv", same,
                 "i16[1,4,8,8] q(0.01:0)"));
    CHECK(agrees(INT, 0, "i8[1,3,8,8] q(0.05:-3)", "i8[4,3,3,3] q(0.02:0)", NULL, "conv", same,
                 "i32[1,4,8,8] q(0.001:0)"));
    CHECK(agrees(FP, 1e-6, "f32[1,6,9,8]", "f32[4,3,3,3]", "f32[4]", "conv",
                 "stride=[2,2] pad=[1,1,1,1] dilation=[1,1] groups=2", "f32[1,4,5,4]"));
    LOWERS(INT, 1,
           "graph @t(%0: i8[1,3,8,8] q(0.05:-3), %1: i8[4,3,3,3] q(0.02:7)) {\n"
           "  %2 = conv %0, %1, none stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1 : "
           "i8[1,4,8,8] q(0.3:5)\n"
           "  return %2\n}\n");
    CHECK(lower_count(INT, TC_OP_tosa_rescale,
                      "graph @t(%0: i8[1,3,8,8] q(0.05:-3)) {\n"
                      "  %1 = const ? : i8[4,3,3,3] " PC4
                      "\n  %2 = conv %0, %1, none stride=[1,1] pad=[1,1,1,1] "
                      "dilation=[1,1] groups=1 : i8[1,4,8,8] q(0.3:5)\n  return %2\n}\n") == 1);
}

/* Three axes as two: no deep kernels, one plane only, a kernel for each channel. */
static void deep(void)
{
    const char *plain = "stride=[1,2,1] pad=[1,1,1,1,0,0] dilation=[1,1,2] groups=1",
               *channels = "stride=[2,1,1] pad=[1,1,1,1,1,1] dilation=[1,1,1] groups=4";
    CHECK(agrees(U55, 1, "i8[2,2,4,5,6] q(0.05:-3)", "i8[4,2,3,3,2] " PC4, "f32[4]", "conv", plain,
                 "i8[2,4,4,3,4] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[2,2,1,5,6] q(0.05:-3)", "i8[4,2,3,3,2] " PC4, "f32[4]", "conv", plain,
                 "i8[2,4,1,3,4] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[2,4,5,5,6] q(0.05:-3)", "i8[4,1,3,3,3] " PC4, "f32[4]", "conv",
                 channels, "i8[2,4,3,5,6] q(0.1:5)"));
    CHECK(agrees(U55, 1, "i8[4,5,5,6] q(0.05:-3)", "i8[8,1,3,3,3] q(0.02:0)", NULL, "conv",
                 channels, "i8[8,3,5,6] q(0.1:5)"));
    CHECK(agrees(FP, 1e-6, "f32[1,4,5,5,6]", "f32[4,1,3,3,3]", "f32[4]", "conv", channels,
                 "f32[1,4,3,5,6]"));
    CHECK(agrees(U55, 1, "i8[1,3,4,20,21] q(0.05:-3)", "i8[4,3,3,7,7] " PC4, NULL, "conv",
                 "stride=[2,4,4] pad=[1,1,3,3,3,3] dilation=[1,1,1] groups=1",
                 "i8[1,4,2,5,6] q(0.3:5)"));
    CHECK(agrees(U55, 1, "i8[1,4,20,21] q(0.05:-3)", "i8[4,1,3,3] " PC4, NULL, "conv",
                 "stride=[4,5] pad=[1,1,1,1] dilation=[1,1] groups=4", "i8[1,4,5,5] q(0.1:5)"));
    CHECK(lower_count(INT, TC_OP_tosa_depthwise_conv2d,
                      "graph @t(%0: i8[1,4,5,5,6] q(0.05:-3)) {\n"
                      "  %1 = const ? : i8[4,1,3,3,3] q(0.02:0)\n"
                      "  %2 = conv %0, %1, none stride=[1,1,1] pad=[1,1,1,1,1,1] "
                      "dilation=[1,1,1] groups=4 : i8[1,4,5,5,6] q(0.1:5)\n  return %2\n}\n") == 3);
}

static void transposed(void)
{
    /* strides that U55 does not take */
    CHECK(agrees(U55, 1, "i8[2,3,4,5] q(0.05:-3)",
                 "i8[3,4,8,7] q(axis=1; 0.02:0, 0.01:0, 0.03:0, 0.02:0)", "f32[4]",
                 "conv_transpose", "stride=[4,3] pad=[2,1] out_pad=[1,0] dilation=[1,1] groups=1",
                 "i8[2,4,17,17] q(0.1:5)"));
    CHECK(agrees(U55, 1, "i8[1,4,9] q(0.05:-3)", "i8[4,2,16] q(0.02:0)", NULL, "conv_transpose",
                 "stride=[8] pad=[4] out_pad=[0] dilation=[1] groups=1", "i8[1,2,72] q(0.1:5)"));
    CHECK(agrees(U55, 1, "i8[1,4,5,5] q(0.05:-3)", "i8[4,3,4,4] q(0.02:0)", NULL, "conv_transpose",
                 "stride=[4,4] pad=[0,0] out_pad=[0,0] dilation=[1,1] groups=2",
                 "i8[1,6,20,20] q(0.1:5)"));
    CHECK(agrees(INT, 1, "i8[1,3,5,6] q(0.05:-3)",
                 "i8[3,4,3,3] q(axis=1; 0.02:0, 0.01:0, 0.03:0, 0.02:0)", "f32[4]",
                 "conv_transpose", "stride=[2,2] pad=[1,1] out_pad=[1,0] dilation=[1,1] groups=1",
                 "i8[1,4,10,11] q(0.2:5)"));
    CHECK(agrees(INT, 1, "i8[4,5,6] q(0.05:-3)", "i8[4,2,3,2] q(axis=1; 0.02:0, 0.01:0)", "f32[4]",
                 "conv_transpose", "stride=[2,1] pad=[0,0] out_pad=[0,0] dilation=[2,3] groups=2",
                 "i8[4,13,9] q(0.2:5)"));
    CHECK(agrees(INT, 1, "i8[1,3,7] q(0.05:-3)", "i8[3,4,2] q(0.02:3)", NULL, "conv_transpose",
                 "stride=[2] pad=[3] out_pad=[0] dilation=[1] groups=1", "i8[1,4,8] q(0.2:5)"));
    CHECK(agrees(INT16, 1, "i16[1,3,4,4] q(0.0005:0)", "i8[3,4,2,2] q(0.02:0)", "f32[4]",
                 "conv_transpose", "stride=[2,2] pad=[0,0] out_pad=[0,0] dilation=[1,1] groups=1",
                 "i16[1,4,8,8] q(0.003:0)"));
    CHECK(agrees(FP, 1e-6, "f32[1,4,5,6]", "f32[4,2,3,2]", "f32[4]", "conv_transpose",
                 "stride=[2,1] pad=[0,0] out_pad=[0,0] dilation=[2,3] groups=2", "f32[1,4,13,9]"));
}

static bool multiplies(const char *target, double within, const char *a, const char *b,
                       const char *y)
{
    char text[600];
    snprintf(text, sizeof text,
             "graph @t(%%0: %s, %%1: %s) {\n  %%2 = matmul %%0, %%1 : %s\n  return %%2\n}\n", a, b,
             y);
    bool good = lower_agrees(target, within, text);
    if (!good)
        fprintf(stderr, "%s by %s\n", a, b);
    return good;
}

static void matmul(void)
{
    CHECK(multiplies(INT, 1, "i8[5,9] q(0.05:-3)", "i8[9,4] q(0.03:8)", "i8[5,4] q(0.1:2)"));
    CHECK(multiplies(INT, 1, "i8[2,5,9] q(0.05:-3)", "i8[2,9,4] q(0.03:8)", "i8[2,5,4] q(0.1:2)"));
    CHECK(multiplies(INT, 1, "i8[3,1,5,9] q(0.05:-3)", "i8[2,9,4] q(0.03:8)",
                     "i8[3,2,5,4] q(0.1:2)"));
    CHECK(
        multiplies(INT, 1, "i8[3,2,5,9] q(0.05:-3)", "i8[9,4] q(0.03:8)", "i8[3,2,5,4] q(0.1:2)"));
    CHECK(multiplies(INT, 1, "i8[5,9] q(0.05:-3)", "i8[2,9,4] q(0.03:8)", "i8[2,5,4] q(0.1:2)"));
    CHECK(multiplies(INT, 1, "i8[9] q(0.05:-3)", "i8[9] q(0.03:8)", "i8[] q(0.1:2)"));
    CHECK(multiplies(INT, 1, "i8[2,5,9] q(0.05:-3)", "i8[9] q(0.03:8)", "i8[2,5] q(0.1:2)"));
    CHECK(multiplies(INT, 1, "i8[9] q(0.05:-3)", "i8[2,9,5] q(0.03:8)", "i8[2,5] q(0.1:2)"));
    CHECK(multiplies(INT16, 1, "i16[2,5,9] q(0.0005:0)", "i16[2,9,4] q(0.0003:0)",
                     "i16[2,5,4] q(0.01:0)"));
    CHECK(multiplies(INT16, 1, "i8[2,5,9] q(0.05:-3)", "i16[2,9,4] q(0.0003:0)",
                     "i8[2,5,4] q(0.1:0)"));
    CHECK(multiplies(FP, 1e-6, "f32[3,1,5,9]", "f32[2,9,4]", "f32[3,2,5,4]"));
    static const char right[] =
        "graph @t(%0: i8[2,5,9] q(0.05:-3)) {\n  %1 = const ? : i8[9,4] q(0.03:8)\n"
        "  %2 = matmul %0, %1 : i8[2,5,4] q(0.1:2)\n  return %2\n}\n";
    static const char left[] =
        "graph @t(%0: i8[2,9,3] q(0.05:-3)) {\n  %1 = const ? : i8[4,9] q(0.03:8)\n"
        "  %2 = matmul %1, %0 : i8[2,4,3] q(0.1:2)\n  return %2\n}\n";
    LOWERS(INT, 1, right);
    LOWERS(INT, 1, left);
    CHECK(lower_count(INT, TC_OP_tosa_matmul, right) == 0);
    CHECK(lower_count(INT, TC_OP_tosa_matmul, left) == 0);
    LOWERS(INT, 1,
           "graph @t(%0: i8[4] q(0.2:-3), %1: i8[5,9] q(0.05:1), %2: i8[9,4] q(0.03:8)) {\n"
           "  %3 = addmm %0, %1, %2 beta=0.5 alpha=-2 : i8[5,4] q(0.1:2)\n"
           "  %4 = addmm %0, %1, %2 beta=0 alpha=1 : i8[5,4] q(0.1:2)\n  return %3, %4\n}\n");
    LOWERS(
        INT16, 2,
        "graph @t(%0: i16[5,4] q(0.001:0), %1: i16[5,9] q(0.0005:0), %2: i16[9,4] q(0.0003:0)) {\n"
        "  %3 = addmm %0, %1, %2 beta=1 alpha=1 : i16[5,4] q(0.01:0)\n  return %3\n}\n");
}

static void einsum(void)
{
    LOWERS(INT, 1,
           "graph @t(%0: i8[2,5,3,9] q(0.05:-3), %1: i8[3,4,9,2] q(0.03:8)) {\n"
           "  %2 = einsum %0, %1 equation=\"bihk,hjkb->jbih\" : i8[4,2,5,3] q(0.1:2)\n  return "
           "%2\n}\n");
    LOWERS(INT, 1,
           "graph @t(%0: i8[5,9] q(0.05:-3), %1: i8[4,9] q(0.03:8)) {\n"
           "  %2 = einsum %0, %1 equation=\"ik,jk->ij\" : i8[5,4] q(0.1:2)\n"
           "  %3 = einsum %0, %1 equation=\"ik,jl->klij\" : i8[9,9,5,4] q(0.1:2)\n  return %2, "
           "%3\n}\n");
    REFUSES(INT,
            "graph @t(%0: i8[5,9] q(0.05:-3), %1: i8[4,9] q(0.03:8)) {\n"
            "  %2 = einsum %0, %1 equation=\"ik,jk->j\" : i8[4] q(0.1:2)\n  return %2\n}\n",
            "not a matrix product");
}

int main(void)
{
    linear();
    conv();
    deep();
    transposed();
    matmul();
    einsum();
    return check_done();
}
