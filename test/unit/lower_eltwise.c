/* SPDX-License-Identifier: Apache-2.0 */
/* lower_eltwise.c -- quantized elementwise operators as TOSA, beside the typed form. */
#include "lower_check.h"

static const char INT[] = "TOSA-1.0+INT", INT16[] = "TOSA-1.0+INT+int16",
                  U55[] = "TOSA-1.0+INT+int16+u55";

/* "%2 = <op>" between domains; %0 and %1 are operands. */
static bool agrees(const char *target, double within, const char *x, const char *y, const char *op,
                   const char *to)
{
    char text[800];
    snprintf(text, sizeof text, "graph @t(%%0: %s, %%1: %s) {\n  %%2 = %s : %s\n  return %%2\n}\n",
             x, y, op, to);
    bool good = lower_agrees(target, within, text);
    if (!good)
        fprintf(stderr, "%s from %s and %s\n", op, x, y);
    return good;
}

#define A8 "i8[2,3,40] q(0.05:-3)"
#define B8 "i8[3,1] q(0.031:7)"
#define C8 "i8[2,3,40] q(0.05:20)"
#define A16 "i16[2,3,400] q(0.0002:0)"
#define B16 "i16[3,400] q(0.00013:0)"

static void binary(void)
{
    static const char *const op[] = {
        "add %0, %1 alpha=1", "sub %0, %1 alpha=1", "add %0, %1 alpha=-2.5",
        "mul %0, %1",         "maximum %0, %1",     "minimum %0, %1",
        "fmax %0, %1"};
    for (size_t i = 0; i < TC_COUNT(op); i++) {
        CHECK(agrees(INT, 1, A8, B8, op[i], "i8[2,3,40] q(0.07:2)"));
        CHECK(agrees(INT, 1, A8, C8, op[i], "i8[2,3,40] q(0.09:-11 in -127..100)"));
        CHECK(agrees(INT16, 1, A16, B16, op[i], "i16[2,3,400] q(0.0004:0)"));
        CHECK(agrees(U55, 1, A8, B8, op[i], "i8[2,3,40] q(0.07:2)"));
        CHECK(agrees(INT16, 1, A8, "i16[2,3,40] q(0.0003:0)", op[i], "i8[2,3,40] q(0.1:2)"));
    }
    LOWERS(INT, 1, "graph @t(%0: " A8 ", %1: " A8 ", %2: i8[40] q(0.1:3)) {\n"
                   "  %3 = clamp_tensor %0, %1, %2 : i8[2,3,40] q(0.05:0)\n"
                   "  %4 = clamp_tensor %0, none, %2 : i8[2,3,40] q(0.04:0)\n  return %3, %4\n}\n");
    LOWERS(INT, 1,
           "graph @t(%0: " A8 ") {\n  %1 = const ? : f32[3,1]\n  %2 = const ? : i64[40]\n"
           "  %3 = add %0, %1 alpha=1 : i8[2,3,40] q(0.06:0)\n  %4 = mul %0, %1 : i8[2,3,40] "
           "q(0.04:0)\n"
           "  %5 = sub %2, %0 alpha=0.5 : i8[2,3,40] q(1:0)\n  return %3, %4, %5\n}\n");
}

/* A constant of each channel: one depthwise convolution, for the channels of a plane and for the
 * last axis. */
static void by_channel(void)
{
    static const char plane[] =
        "graph @t(%0: i8[2,5,6,7] q(0.05:-3)) {\n  %1 = const ? : i8[5,1,1] q(0.01:9)\n"
        "  %2 = mul %0, %1 : i8[2,5,6,7] q(0.06:2)\n  %3 = sub %2, %1 alpha=2 : i8[2,5,6,7] "
        "q(0.07:1)\n"
        "  %4 = add %1, %3 alpha=1 : i8[2,5,6,7] q(0.08:1)\n  return %2, %3, %4\n}\n";
    static const char last[] =
        "graph @t(%0: i8[2,6,7] q(0.05:-3)) {\n  %1 = const [0.5, -1, 0, 3, 1, 2, -0.1] : f32[7]\n"
        "  %2 = mul %1, %0 : i8[2,6,7] q(0.06:2)\n  %3 = add %2, %1 alpha=-1 : i8[2,6,7] "
        "q(0.07:1)\n"
        "  return %2, %3\n}\n";
    LOWERS(INT, 1, plane);
    LOWERS(INT, 1, last);
    CHECK(lower_count(INT, TC_OP_tosa_depthwise_conv2d, plane) == 3);
    CHECK(lower_count(INT, TC_OP_tosa_mul, last) == 0);
}

/* A clamp in the operand's domain, in another one, at saturation, and of an accumulator. */
static void clamps(void)
{
    static const char moved[] =
        "graph @t(%0: " A8 ") {\n  %1 = relu %0 : i8[2,3,40] q(0.03:-100)\n  return %1\n}\n";
    static const char saturated[] =
        "graph @t(%0: " A8 ") {\n  %1 = relu %0 : i8[2,3,40] q(0.03:-128)\n  return %1\n}\n";
    CHECK(agrees(INT, 0, A8, A8, "relu %0", A8));
    CHECK(agrees(INT, 0, A8, A8, "clamp %0 lo=-1 hi=2.5", "i8[2,3,40] q(0.03:-9)"));
    CHECK(agrees(INT, 1, "i32[2,3,40] q(axis=1; 0.001:0, 0.002:0, 0.0015:0)", A8,
                 "clamp %0 lo=0 hi=6", "i8[2,3,40] q(0.025:-128)"));
    CHECK(agrees(INT16, 1, A16, A8, "clamp %0 lo=-inf hi=2.5", "i16[2,3,400] q(0.0001:0)"));
    LOWERS(INT, 0, moved);
    CHECK(lower_count(INT, TC_OP_tosa_table, moved) == 1 &&
          lower_count(INT, TC_OP_tosa_clamp, moved) == 0);
    LOWERS(INT, 1, saturated);
    CHECK(lower_count(INT, TC_OP_tosa_rescale, saturated) == 1 &&
          lower_count(INT, TC_OP_tosa_clamp, saturated) == 0);
}

/* 0 / 0 is 0 wherever the domains have their zeros, and so is a remainder of 0. */
static void quotients_of_zero(void)
{
    static const char x8[] = "i8[2,3,40] q(0.05:-3 in -5..-1)",
                      y8[] = "i8[2,3,40] q(0.031:7 in 5..9)",
                      x16[] = "i16[2,3,40] q(0.0002:0 in -2..2)",
                      y16[] = "i16[2,3,40] q(0.0003:0 in -2..2)", to8[] = "i8[2,3,40] q(0.1:-40)",
                      to16[] = "i16[2,3,40] q(0.001:0)";
    static const char *const target[] = {INT16, U55};
    for (int i = 0; i < 2; i++)
        CHECK(agrees(target[i], 1, x8, y8, "div %0, %1 mode=exact", to8));
    CHECK(agrees(INT16, 1, x16, y16, "div %0, %1 mode=exact", to16));
    CHECK(agrees(INT16, 1, x16, y8, "div %0, %1 mode=exact", to8));
    CHECK(agrees(INT16, 1, x8, y16, "div %0, %1 mode=floor", to8));
    CHECK(agrees(INT16, 1, "i8[2,3,40] q(0.05:-128 in -128..-126)", y16, "div %0, %1 mode=exact",
                 to16));
    CHECK(agrees(INT16, 1, x8, y8, "remainder %0, %1", to8));
    CHECK(agrees(INT16, 1, x16, y16, "remainder %0, %1", "i16[2,3,40] q(0.0002:0)"));
    CHECK(agrees(INT16, 1, x16, y16, "fmod %0, %1", "i16[2,3,40] q(0.0002:0)"));
    CHECK(agrees("TOSA-1.0+INT+FP", 1, x8, "f32[2,3,40]", "mul %0, %1", to8));
}

static void quotients(void)
{
    /* divisors of 0, on a machine that neither divides nor chooses */
    CHECK(agrees(U55, 1, A8, "i8[2,3,40] q(0.031:7 in 0..14)", "div %0, %1 mode=exact",
                 "i8[2,3,40] q(0.5:4)"));
    CHECK(agrees(U55, 1, A8, "i8[2,3,40] q(0.031:7 in 0..14)", "div %0, %1 mode=exact",
                 "i8[2,3,40] q(10:-20)"));
    CHECK(agrees(INT, 0, A8, B8, "div %0, %1 mode=exact", "i8[2,3,40] q(0.3:2)"));
    CHECK(agrees(INT16, 1, A8, "i16[2,3,40] q(0.0003:0)", "div %0, %1 mode=exact",
                 "i8[2,3,40] q(0.3:2)"));
    CHECK(agrees(INT16, 1, "i16[2,3,400] q(0.000244140625:0)", "i16[3,400] q(0.000244140625:0)",
                 "div %0, %1 mode=floor", "i16[2,3,400] q(1:0)"));
    CHECK(agrees(INT16, 1, "i16[2,3,400] q(0.000244140625:0)", "i16[3,400] q(0.000244140625:0)",
                 "remainder %0, %1", "i16[2,3,400] q(0.0002:0)"));
    CHECK(agrees(U55, 1, "i8[2,3,40] q(0.05:-3)", "i8[3,1] q(0.031:-128 in -100..127)",
                 "div %0, %1 mode=exact", "i8[2,3,40] q(0.05:2)"));
    CHECK(agrees(INT16, 1, A16, B16, "div %0, %1 mode=exact", "i16[2,3,400] q(0.01:0)"));
    CHECK(agrees(INT, 0, A8, C8, "div %0, %1 mode=floor", "i8[2,3,40] q(1:2)"));
    CHECK(agrees(INT, 0, A8, C8, "div %0, %1 mode=trunc", "i8[2,3,40] q(1:2)"));
    CHECK(agrees(INT, 1, A8, "i8[3,1] q(0.05:-128 in -127..127)", "remainder %0, %1",
                 "i8[2,3,40] q(0.05:2)"));
    CHECK(agrees(INT, 1, A8, "i8[3,1] q(0.05:-128 in -127..127)", "fmod %0, %1",
                 "i8[2,3,40] q(0.05:2)"));
    LOWERS(INT, 1,
           "graph @t(%0: " A8 ", %1: " B8
           ", %2: i8[40] q(0.1:-128 in -90..127)) {\n  %3 = const 0.3 : f32[]\n"
           "  %4 = addcmul %0, %1, %2 value=-0.7 : i8[2,3,40] q(0.3:1)\n"
           "  %5 = addcdiv %0, %1, %2 value=2 : i8[2,3,40] q(0.1:1)\n"
           "  %6 = lerp %0, %1, %2 : i8[2,3,40] q(0.3:1)\n  %7 = lerp %0, %1, %3 : i8[2,3,40] "
           "q(0.05:1)\n"
           "  return %4, %5, %6, %7\n}\n");
    LOWERS(
        INT, 1,
        "graph @t(%0: " A8
        ") {\n  %1 = const [0.25, -0.5, 2] : f32[3]\n  %2 = const [0.25] : f32[1]\n"
        "  %3 = prelu %0, %1 : i8[2,3,40] q(0.06:1)\n  %4 = prelu %0, %2 : i8[2,3,40] q(0.04:1)\n"
        "  %5 = glu %0 axis=2 : i8[2,3,20] q(0.05:0)\n  return %3, %4, %5\n}\n");
    LOWERS(INT16, 2,
           "graph @t(%0: " A16
           ") {\n  %1 = glu %0 axis=2 : i16[2,3,200] q(0.0002:0)\n  return %1\n}\n");
    /* gates that are all small, of large values */
    LOWERS(INT, 1, "graph @t(%0: i8[2,40] q(0.05:127)) {\n"
                   "  %1 = glu %0 axis=1 : i8[2,20] q(0.003:127)\n  return %1\n}\n");
    LOWERS(U55, 1, "graph @t(%0: i8[2,40] q(0.05:127)) {\n"
                   "  %1 = glu %0 axis=1 : i8[2,20] q(0.003:127)\n  return %1\n}\n");
}

/* What a smaller target can take in: the factors of its table, and nothing shared. */
static void factors(void)
{
    static const char equal[] = "graph @t(%0: " A8 ", %1: " C8 ") {\n"
                                "  %2 = add %0, %1 alpha=1 : i8[2,3,40] q(0.1:2)\n  return %2\n}\n";
    static const char same[] =
        "graph @t(%0: " A8 ") {\n  %1 = mul %0, %0 : i8[2,3,40] q(0.1:2)\n  return %1\n}\n";
    LOWERS(INT, 0, same);
    CHECK(lower_count(INT, TC_OP_tosa_rescale, same) == 0); /* a table */
    CHECK(lower_count(INT, TC_OP_tosa_rescale, equal) == 3);
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = lower_module(ctx, INT, lower_expand(ctx, equal));
    const tc_graph *g = ti_main(m);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_tosa_add)
            for (int i = 0; i < 2; i++) {
                const tc_node *rescale = ti_def(g, g->node[k]->in[i]);
                CHECK(ti_load_i64(ti_tensor_of(g, rescale->in[1]), 0) == 1 << 30);
                CHECK(ti_load_i64(ti_tensor_of(g, rescale->in[2]), 0) == 30);
            }
    tc_ctx_free(ctx);
}

/* Whether the typed form, in f32 of scales in f32, orders all codes as their
 * real values are. */
static bool floats_tell(double sa, int za, double sb, int zb)
{
    for (int x = -128 - za; x < 128 - za; x++) {
        double y = rint(x * sa / sb), a = x * sa, b = y * sb;
        float fa = (float)x * (float)sa, fb = (float)y * (float)sb;
        if (y >= -128 - zb && y < 128 - zb && ((a > b) != (fa > fb) || (a < b) != (fa < fb)))
            return false;
    }
    return true;
}

/* Steps by which two codes stand for almost the same number: the ends of the codes, or any. */
static void nearly_equal(void)
{
    static const char *const op[] = {"lt", "le", "eq", "ge"};
    uint32_t seed = 3;
    for (int i = 0; i < 1500; i++) {
        int za = (int)lower_dice(&seed, 256) - 128, zb = (int)lower_dice(&seed, 256) - 128,
            ca = (int)lower_dice(&seed, 256) - 128, cb = (int)lower_dice(&seed, 256) - 128;
        if (i % 4 < 3)
            cb = i % 4 < 2 ? 127 : -128;
        if ((ca - za) * (cb - zb) <= 0)
            continue;
        double apart = 1e-9 * (1 + lower_dice(&seed, 256) / 64.0);
        double other = 0.03 + lower_dice(&seed, 65536) / 1e6;
        double step = other * (cb - zb) / (ca - za) * (i & 1 ? 1 + apart : 1 - apart);
        if (!floats_tell(step, za, other, zb))
            continue;
        char a[80], b[80], text[40];
        snprintf(a, sizeof a, "i8[400,1] q(%.17g:%d)", step, za);
        snprintf(b, sizeof b, "i8[1,400] q(%.17g:%d)", other, zb);
        snprintf(text, sizeof text, "%s %%0, %%1", op[lower_dice(&seed, 4)]);
        CHECK(agrees(INT, 0, a, b, text, "bool[400,400]"));
    }
}

static void compared(void)
{
    nearly_equal();
    static const char *const op[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    char text[64];
    for (size_t i = 0; i < TC_COUNT(op); i++) {
        snprintf(text, sizeof text, "%s %%0, %%1", op[i]);
        CHECK(agrees(INT, 0, A8, C8, text, "bool[2,3,40]"));
        CHECK(agrees(INT, 0, A8, B8, text, "bool[2,3,40]"));
        CHECK(agrees(INT16, 0, A16, "i16[2,3,400] q(0.0002:0)", text, "bool[2,3,400]"));
        CHECK(agrees(INT16, 0, A16, "i16[2,3,400] q(0.0004:0)", text, "bool[2,3,400]"));
        char body[300];
        snprintf(body, sizeof body,
                 "graph @t(%%0: i16[4000] q(0.001:0), %%1: i8[600] q(0.05:-3)) {\n"
                 "  %%2 = const 0.4 : f32[]\n  %%3 = %s %%0, %%2 : bool[4000]\n  %%4 = %s %%2, %%1 "
                 ": bool[600]\n"
                 "  return %%3, %%4\n}\n",
                 op[i], op[i]);
        LOWERS(INT16, 0, body);
    }
    LOWERS(INT, 1, "graph @t(%0: bool[3,40], %1: " A8 ", %2: i8[1] q(0.02:4)) {\n"
                   "  %3 = where %0, %1, %2 : i8[2,3,40] q(0.04:-7)\n  return %3\n}\n");
    LOWERS(INT, 1, "graph @t(%0: bool[2,3,40], %1: " A8 ") {\n  %2 = const -3.5 : f32[]\n"
                   "  %3 = where %0, %2, %1 : i8[2,3,40] q(0.05:-3)\n  return %3\n}\n");
    /* steps that are hardly apart: no code but 0 stands for the same number */
    CHECK(agrees(INT, 0, "i8[40000] q(0.05:0)", "i8[40000] q(0.05000001:0)", "ne %0, %1",
                 "bool[40000]"));
    CHECK(agrees(INT, 0, "i8[40000] q(0.05:0)", "i8[40000] q(0.05000001:3)", "lt %0, %1",
                 "bool[40000]"));
}

/* Every code of i8: the table is the operator's own kernel, so nothing may differ. */
static void functions8(void)
{
    static const char *const op[] = {"sign %0",
                                     "floor %0",
                                     "ceil %0",
                                     "round %0 decimals=0",
                                     "exp %0",
                                     "log %0",
                                     "log1p %0",
                                     "sqrt %0",
                                     "rsqrt %0",
                                     "reciprocal %0",
                                     "sin %0",
                                     "tan %0",
                                     "asin %0",
                                     "acosh %0",
                                     "atanh %0",
                                     "erf %0",
                                     "erfinv %0",
                                     "sigmoid %0",
                                     "silu %0",
                                     "mish %0",
                                     "hardswish %0",
                                     "gelu %0 form=tanh",
                                     "softplus %0 beta=1 threshold=20",
                                     "elu %0 alpha=1 scale=1 input_scale=1",
                                     "leaky_relu %0 slope=0.1",
                                     "logit %0 eps=1e-06",
                                     "abs %0",
                                     "neg %0",
                                     "square %0",
                                     "threshold %0 threshold=0.5 value=-1",
                                     "hardshrink %0 lambda=0.5"};
    for (size_t i = 0; i < TC_COUNT(op); i++) {
        CHECK(agrees(INT, 0, "i8[1000] q(0.03:-20)", "i8[1]", op[i], "i8[1000] q(0.02:4)"));
        CHECK(agrees(INT16, strncmp(op[i], "square", 6) == 0, "i8[1000] q(0.03:-20)", "i8[1]",
                     op[i], "i16[1000] q(0.0002:0)"));
    }
    LOWERS(INT, 0,
           "graph @t(%0: i8[900] q(0.03:-20)) {\n  %1 = const 2.5 : f32[]\n  %2 = const [2, 2] : "
           "i64[2,1]\n"
           "  %3 = pow %0, %1 : i8[900] q(0.1:0)\n  %4 = remainder %0, %1 : i8[900] q(0.02:0)\n"
           "  %6 = pow %1, %0 : i8[900] q(0.1:0)\n"
           "  %7 = mul %0, %2 : i8[2,900] q(0.05:0)\n  %8 = logical_not %0 : bool[900]\n"
           "  return %3, %4, %6, %7, %8\n}\n");
}

/* Two operands: every pair of codes from a list. */
static void pairs(void)
{
    static const char *const op[] = {"pow %0, %1", "atan2 %0, %1", "hypot %0, %1",
                                     "copysign %0, %1", "logaddexp %0, %1"};
    for (size_t i = 0; i < TC_COUNT(op); i++)
        CHECK(agrees(INT, 0, A8, B8, op[i], "i8[2,3,40] q(0.07:2)"));
    CHECK(agrees(INT, 0, A8, B8, "logical_xor %0, %1", "bool[2,3,40]"));
    REFUSES(U55,
            "graph @t(%0: " A8 ", %1: " B8
            ") {\n  %2 = pow %0, %1 : i8[2,3,40] q(0.1:0)\n  return %2\n}\n",
            "more of its operands vary");
}

/* i16: straight pieces between entries, corrected where the curve bends; the steepest from a list.
 */
static void functions16(void)
{
    static const char *const op[] = {"sigmoid %0",
                                     "tanh %0",
                                     "gelu %0 form=erf",
                                     "silu %0",
                                     "exp %0",
                                     "rsqrt %0",
                                     "log %0",
                                     "reciprocal %0",
                                     "sqrt %0",
                                     "floor %0",
                                     "sign %0",
                                     "tan %0",
                                     "abs %0",
                                     "neg %0",
                                     "square %0",
                                     "hardswish %0",
                                     "leaky_relu %0 slope=0.01"};
    for (size_t i = 0; i < TC_COUNT(op); i++) {
        CHECK(agrees(INT16, 2, "i16[6000] q(0.0001:0)", "i8[1]", op[i], "i16[6000] q(0.00012:0)"));
        CHECK(agrees(INT16, 2, "i16[6000] q(0.0003:0)", "i8[1]", op[i],
                     "i16[6000] q(0.00003:0 in -32767..32767)"));
        CHECK(agrees(INT16, 1, "i16[6000] q(0.0003:0)", "i8[1]", op[i], "i8[6000] q(0.02:5)"));
    }
    LOWERS(INT16, 1, "graph @t(%0: i16[6000] q(0.00003:0)) {\n"
                     "  %1 = sigmoid %0 : i32[6000] q(1.1920928955078125e-07:0)\n  return %1\n}\n");
    CHECK(agrees(U55, 1, "i16[6000] q(0.0002:0)", "i8[1]", "sigmoid %0", "i16[6000] q(0.00003:0)"));
    LOWERS(INT16, 1, "graph @t(%0: i32[6000] q(1.1920928955078125e-07:0)) {\n"
                     "  %1 = rescale %0 : i16[6000] q(3.049820770684164e-05:0)\n  return %1\n}\n");
    CHECK(lower_count(INT16, TC_OP_tosa_gather, "graph @t(%0: i16[60] q(0.0003:0)) {\n"
                      "  %1 = hardswish %0 : i16[60] q(0.0003:0)\n  return %1\n}\n") == 0);
    REFUSES(U55,
            "graph @t(%0: i16[60] q(0.001:0)) {\n  %1 = floor %0 : i16[60] q(0.0003:0)\n  return "
            "%1\n}\n",
            "change too fast");
}

/* The same without EXT-INT16: a list, which is exact, and a table for each byte. */
static void functions_without(void)
{
    static const char *const op[] = {"sigmoid %0", "sqrt %0", "log %0", "tan %0", "exp %0"};
    for (size_t i = 0; i < TC_COUNT(op); i++) {
        CHECK(agrees(INT, 0, "i16[6000] q(0.0003:0)", "i8[1]", op[i], "i16[6000] q(0.00003:0)"));
        CHECK(agrees(INT, 0, "i16[6000] q(0.0003:0)", "i8[1]", op[i], "i8[6000] q(0.02:5)"));
        CHECK(agrees(INT, 0, A8, "i8[1]", op[i], "i16[2,3,40] q(0.0001:0)"));
        CHECK(agrees(INT, 0, A8, "i8[1]", op[i], "i32[2,3,40] q(1.1920928955078125e-07:0)"));
    }
    CHECK(agrees(INT, 0, A16, A16, "relu %0", A16));
    CHECK(agrees(INT, 1, A16, A16, "clamp %0 lo=-1 hi=2.5", "i16[2,3,400] q(0.0001:0)"));
    CHECK(agrees(INT, 0, A16, A16, "eq %0, %1", "bool[2,3,400]"));
    LOWERS(INT, 0, "graph @t(%0: i16[2,3,9,8] q(0.05:0)) {\n"
                   "  %1 = max_pool %0 kernel=[3,2] stride=[2,1] pad=[1,0] dilation=[1,1] ceil=true"
                   " : i16[2,3,5,7] q(0.05:0)\n  return %1\n}\n");
}

static void casts(void)
{
    CHECK(agrees(INT, 0, "bool[2,3,40]", A8, "cast %0 dtype=f32", "i8[2,3,40] q(0.00390625:-128)"));
    CHECK(agrees(INT, 0, "bool[2,3,40]", A8, "cast %0 dtype=f32", "i16[2,3,40] q(0.0001:0)"));
    CHECK(agrees(INT, 1, "i32[2,3,40]", A8, "cast %0 dtype=f32", "i8[2,3,40] q(0.07:3)"));
    CHECK(agrees(INT, 1, "i32[2,3,40]", A8, "cast %0 dtype=f32", "i16[2,3,40] q(2.5:0)"));
    CHECK(agrees(INT, 1, "i8[2,3,40]", A8, "cast %0 dtype=f32", "i8[2,3,40] q(1e-6:-128)"));
    CHECK(agrees(INT, 1, "i32[2,3,40]", A8, "cast %0 dtype=f32", "i16[2,3,40] q(1e-12:0)"));
    CHECK(agrees(INT, 0, A8, A8, "cast %0 dtype=bool", "bool[2,3,40]"));
    CHECK(agrees(INT, 0, A16, A8, "cast %0 dtype=bool", "bool[2,3,400]"));
    CHECK(agrees(INT, 0, A8, A8, "cast %0 dtype=i32", "i32[2,3,40]"));
    CHECK(agrees(INT, 0, A16, A8, "cast %0 dtype=i8", "i8[2,3,400]"));
    CHECK(agrees(U55, 0, A8, A8, "cast %0 dtype=i32", "i32[2,3,40]"));
}

int main(void)
{
    casts();
    functions_without();
    binary();
    clamps();
    by_channel();
    quotients_of_zero();
    quotients();
    factors();
    compared();
    functions8();
    pairs();
    functions16();
    return check_done();
}
