/* SPDX-License-Identifier: Apache-2.0 */
/* lower_reduce.c -- quantized pools, reductions and running sums as TOSA, beside the typed form. */
#include "lower_check.h"

static const char INT[] = "TOSA-1.0+INT", INT16[] = "TOSA-1.0+INT+int16";

/* One operand, one operator. */
static bool agrees(const char *target, double within, const char *x, const char *op,
                   const char *attr, const char *y)
{
    char text[600];
    snprintf(text, sizeof text, "graph @t(%%0: %s) {\n  %%1 = %s %%0 %s : %s\n  return %%1\n}\n", x,
             op, attr, y);
    bool good = lower_agrees(target, within, text);
    if (!good)
        fprintf(stderr, "%s %s of %s\n", op, attr, x);
    return good;
}

#define PLANE8 "i8[2,3,7,5] q(0.05:-3)"
#define PLANE16 "i16[2,3,7,5] q(0.0005:0)"

static void reductions(void)
{
    static const char *const axes[] = {"[2,3]", "[1]",       "[3]",   "[2]",  "[0]",
                                       "[1,3]", "[0,1,2,3]", "[0,2]", "[1,2]"};
    static const char *const shape[] = {"[2,3,1,1]", "[2,1,7,5]", "[2,3,7,1]",
                                        "[2,3,1,5]", "[1,3,7,5]", "[2,1,7,1]",
                                        "[1,1,1,1]", "[1,3,1,5]", "[2,1,1,5]"};
    static const struct {
        const char *op;
        double scale;
    } kind[] = {{"mean", 0.02}, {"sum", 0.7}, {"amax", 0.04}, {"amin", 0.05}};
    for (size_t k = 0; k < TC_COUNT(kind); k++)
        for (size_t i = 0; i < TC_COUNT(axes); i++) {
            char attr[64], y[64];
            snprintf(attr, sizeof attr, "axes=%s keepdim=true", axes[i]);
            snprintf(y, sizeof y, "i8%s q(%g:5)", shape[i], kind[k].scale);
            CHECK(agrees(INT, 1, PLANE8, kind[k].op, attr, y));
            CHECK(agrees(INT16, 1, PLANE8, kind[k].op, attr, y));
            snprintf(y, sizeof y, "i16%s q(%g:0)", shape[i], kind[k].scale / 100);
            CHECK(agrees(INT16, 1, PLANE16, kind[k].op, attr, y));
        }
    CHECK(agrees(INT, 1, PLANE8, "mean", "axes=[2,3] keepdim=false", "i8[2,3] q(0.02:5)"));
    CHECK(agrees(INT16, 1, "i8[1,2,300,6] q(0.05:-3)", "mean", "axes=[2,3] keepdim=true",
                 "i8[1,2,1,1] q(0.005:5)"));
    CHECK(agrees(INT, 1, "i8[2,9000] q(0.05:-3)", "sum", "axes=[1] keepdim=false", "i8[2] q(3:5)"));
    /* more channels than a feature map holds */
    CHECK(agrees("ethos-u85-256", 0, "i8[2,3,70000] q(0.05:-3)", "amax", "axes=[1] keepdim=false",
                 "i8[2,70000] q(0.05:-3)"));
    CHECK(agrees(INT, 0, PLANE8, "any", "axes=[1,2] keepdim=false", "bool[2,5]"));
    CHECK(agrees(INT, 0, PLANE8, "all", "axes=[1] keepdim=true", "bool[2,1,7,5]"));
    /* A global mean is two depthwise convolutions where the target has i16, unless it is small. */
    CHECK(lower_count(
              INT16, TC_OP_tosa_depthwise_conv2d,
              "graph @t(%0: i8[2,3,40,30] q(0.05:-3)) {\n"
              "  %1 = mean %0 axes=[2,3] keepdim=true : i8[2,3,1,1] q(0.02:5)\n  return %1\n}\n") ==
          2);
}

/* More numbers of 16 bits than i32 can add: in parts, with and without a rest. */
static void long_sums(void)
{
    CHECK(agrees(INT16, 1, "i16[1,2,300,500] q(0.0005:0)", "mean", "axes=[2,3] keepdim=false",
                 "i16[1,2] q(0.000002:0)"));
    CHECK(agrees(INT16, 1, "i16[3,70001] q(0.0005:0)", "mean", "axes=[1] keepdim=true",
                 "i16[3,1] q(0.000002:0)"));
    CHECK(agrees(INT16, 1, "i16[140002,3] q(0.0005:0)", "sum", "axes=[0] keepdim=false",
                 "i16[3] q(0.1:0)"));
    CHECK(agrees(INT16, 1, "i16[2,70001] q(0.0005:0)", "var", "axes=[1] correction=1 keepdim=false",
                 "i16[2] q(0.01:0)"));
}

static void scans(void)
{
    CHECK(agrees(INT, 1, "i8[4,6,3] q(0.05:-3)", "cumsum", "axis=1", "i8[4,6,3] q(0.2:5)"));
    CHECK(agrees(INT, 1, "i8[9] q(0.05:-3)", "cumsum", "axis=0", "i8[9] q(0.2:5)"));
    CHECK(agrees(INT16, 1, "i16[4,6] q(0.0005:0)", "cumsum", "axis=1", "i16[4,6] q(0.002:0)"));
}

static void pools(void)
{
    CHECK(agrees(INT, 0, PLANE8, "max_pool",
                 "kernel=[3,2] stride=[2,2] pad=[1,1] dilation=[1,1] ceil=false",
                 "i8[2,3,4,3] q(0.05:-3)"));
    CHECK(agrees(INT, 1, PLANE8, "max_pool",
                 "kernel=[2,2] stride=[2,2] pad=[0,0] dilation=[1,1] ceil=false",
                 "i8[2,3,3,2] q(0.04:7)"));
    CHECK(agrees(INT, 0, PLANE8, "max_pool",
                 "kernel=[2,2] stride=[2,2] pad=[0,0] dilation=[1,1] ceil=true",
                 "i8[2,3,4,3] q(0.05:-3)"));
    CHECK(agrees(INT, 0, PLANE8, "max_pool",
                 "kernel=[3,2] stride=[1,2] pad=[1,1] dilation=[2,3] ceil=false",
                 "i8[2,3,5,2] q(0.05:-3)"));
    CHECK(agrees(INT16, 0, "i16[3,20] q(0.0005:0)", "max_pool",
                 "kernel=[3] stride=[2] pad=[1] dilation=[1] ceil=false", "i16[3,10] q(0.0005:0)"));
    CHECK(agrees("TOSA-1.0+INT+u55", 0, "i8[2,3,9,13] q(0.05:-3)", "max_pool",
                 "kernel=[4,6] stride=[4,6] pad=[0,0] dilation=[1,1] ceil=false",
                 "i8[2,3,2,2] q(0.05:-3)"));
    REFUSES(
        INT,
        "graph @t(%0: " PLANE8 ") {\n  %1, %2 = max_pool %0 kernel=[2,2] stride=[2,2] pad=[0,0] "
        "dilation=[1,1] ceil=false : i8[2,3,3,2] q(0.05:-3), i64[2,3,3,2]\n  return %1, %2\n}\n",
        "indices of the largest");
    static const char *const how[] = {"include_pad=true divisor=0", "include_pad=false divisor=0",
                                      "include_pad=true divisor=5"};
    for (size_t i = 0; i < TC_COUNT(how); i++) {
        char attr[128];
        snprintf(attr, sizeof attr, "kernel=[3,3] stride=[2,2] pad=[1,1] ceil=false %s", how[i]);
        CHECK(agrees(INT, 1, PLANE8, "avg_pool", attr, "i8[2,3,4,3] q(0.05:-3)"));
        CHECK(agrees(INT, 1, PLANE8, "avg_pool", attr, "i8[2,3,4,3] q(0.03:9)"));
        snprintf(attr, sizeof attr, "kernel=[2,2] stride=[2,2] pad=[0,0] ceil=true %s", how[i]);
        CHECK(agrees(INT, 1, PLANE8, "avg_pool", attr, "i8[2,3,4,3] q(0.05:-3)"));
        CHECK(agrees(INT, 1, PLANE8, "avg_pool", attr, "i8[2,3,4,3] q(0.03:9)"));
    }
    CHECK(agrees(INT16, 1, PLANE16, "avg_pool",
                 "kernel=[3,3] stride=[1,1] pad=[0,0] ceil=false include_pad=true divisor=0",
                 "i16[2,3,5,3] q(0.0003:0)"));
    CHECK(agrees(INT, 1, PLANE8, "adaptive_avg_pool", "size=[3,2]", "i8[2,3,3,2] q(0.03:9)"));
    CHECK(agrees(INT, 1, "i8[2,3,8,6] q(0.05:-3)", "adaptive_avg_pool", "size=[4,2]",
                 "i8[2,3,4,2] q(0.03:9)"));
    CHECK(agrees(INT16, 1, PLANE8, "adaptive_avg_pool", "size=[1,1]", "i8[2,3,1,1] q(0.02:9)"));
    CHECK(agrees(INT16, 1, PLANE16, "adaptive_avg_pool", "size=[3,2]", "i16[2,3,3,2] q(0.0003:0)"));
    LOWERS(INT, 0,
           "graph @t(%0: " PLANE8
           ") {\n  %1, %2 = adaptive_max_pool %0 size=[3,2] : i8[2,3,3,2] q(0.05:-3), "
           "i64[2,3,3,2]\n  return %1\n}\n");
}

int main(void)
{
    reductions();
    long_sums();
    scans();
    pools();
    return check_done();
}
