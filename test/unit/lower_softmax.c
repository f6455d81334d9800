/* SPDX-License-Identifier: Apache-2.0 */
/* lower_softmax.c -- softmax and its logarithms as TOSA, beside the typed form. */
#include "lower_rows.h"

static const char *const targets[] = {"TOSA-1.0+INT", "TOSA-1.0+INT+int16"};

#define GRAPH(in, line, out) "graph @t(%0: " in ") {\n  %1 = " line " : " out "\n  return %1\n}\n"

static void softmax(const char *target)
{
    ROWS(target, 1,
         GRAPH("i8[34,49] q(0.05:3)", "softmax %0 axis=1", "i8[34,49] q(0.00390625:-128)"));
    ROWS(target, 1,
         GRAPH("i8[6,197] q(0.4:-20)", "softmax %0 axis=1", "i8[6,197] q(0.00390625:-128)"));
    ROWS(target, 1,
         GRAPH("i8[18,256] q(0.01:0)", "softmax %0 axis=1", "i8[18,256] q(0.0002:-128)"));
    ROWS(target, 1,
         GRAPH("i8[2,5,3,4] q(0.1:0)", "softmax %0 axis=1", "i8[2,5,3,4] q(0.004:-100)"));
    ROWS(target, 1, GRAPH("i8[7,1] q(0.1:0)", "softmax %0 axis=1", "i8[7,1] q(0.004:-128)"));
    ROWS(target, 1,
         GRAPH("i16[34,49] q(0.003:0)", "softmax %0 axis=1", "i8[34,49] q(0.00390625:-128)"));
    ROWS(target, 1,
         GRAPH("i16[34,33] q(0.0001:0)", "softmax %0 axis=1", "i8[34,33] q(0.00390625:-128)"));
    ROWS(target, 1,
         GRAPH("i32[34,20] q(0.00001:0)", "softmax %0 axis=1", "i8[34,20] q(0.00390625:-128)"));
    ROWS(target, 8,
         GRAPH("i16[34,20] q(0.001:0)", "softmax %0 axis=1", "i16[34,20] q(0.000030517578125:0)"));
}

static void logarithms(const char *target)
{
    ROWS(target, 1, GRAPH("i8[34,49] q(0.05:3)", "log_softmax %0 axis=1", "i8[34,49] q(0.06:127)"));
    ROWS(target, 1, GRAPH("i8[3,9,4] q(0.02:3)", "log_softmax %0 axis=1", "i8[3,9,4] q(0.02:100)"));
    ROWS(target, 1,
         GRAPH("i16[34,20] q(0.0005:0)", "log_softmax %0 axis=1", "i8[34,20] q(0.2:127)"));
    ROWS(target, 3, /* thousands of small numbers count, and have 16 bits each */
         GRAPH("i16[18,3000] q(0.0005:0)", "logsumexp %0 axes=[1] keepdim=false",
               "i16[18] q(0.0008:0)"));
    ROWS(target, 2, /* of steps wider than tables': nothing overflows */
         GRAPH("i16[34,20] q(0.05:0)", "log_softmax %0 axis=1", "i16[34,20] q(0.1:0)"));
    ROWS(target, 1,
         GRAPH("i8[4,5,6] q(0.05:3)", "logsumexp %0 axes=[0,2] keepdim=true",
               "i8[1,5,1] q(0.05:-90)"));
    ROWS(target, 1,
         GRAPH("i16[4,6] q(0.002:0)", "logsumexp %0 axes=[1] keepdim=false", "i8[4] q(0.5:0)"));
}

static void floats(void)
{
    ROWS("TOSA-1.0+FP", 1e-6, GRAPH("f32[3,5,7]", "softmax %0 axis=1", "f32[3,5,7]"));
    ROWS("TOSA-1.0+FP", 1e-6, GRAPH("f32[3,5,7]", "log_softmax %0 axis=2", "f32[3,5,7]"));
    ROWS("TOSA-1.0+FP", 1e-6,
         GRAPH("f32[3,5,7]", "logsumexp %0 axes=[0,2] keepdim=false", "f32[5]"));
    ROWS("TOSA-1.0+FP", 1e-3, GRAPH("f16[3,5,7]", "softmax %0 axis=2", "f16[3,5,7]"));
    ROWS("TOSA-1.0+FP+bf16", 1e-2, GRAPH("bf16[3,5,7]", "log_softmax %0 axis=2", "bf16[3,5,7]"));
}

/* 16 bits where the target has tables of 16 bits, whatever the rows are like. */
static void sixteen(const char *target)
{
    ROWS(target, 1,
         GRAPH("i16[34,20] q(0.05:0)", "log_softmax %0 axis=1", "i16[34,20] q(0.1:0)"));
    ROWS(target, 1,
         GRAPH("i16[18,3000] q(0.0005:0)", "log_softmax %0 axis=1", "i16[18,3000] q(0.0008:0)"));
    ROWS(target, 1,
         GRAPH("i16[18,3000] q(0.0005:0)", "logsumexp %0 axes=[1] keepdim=false",
               "i16[18] q(0.0008:0)"));
    ROWS(target, 2,
         GRAPH("i16[34,20] q(0.001:0)", "softmax %0 axis=1", "i16[34,20] q(0.000030517578125:0)"));
    ROWS(target, 2,
         GRAPH("i16[34,7] q(0.00001:0)", "softmax %0 axis=1", "i16[34,7] q(0.000030517578125:0)"));
    ROWS(target, 2,
         GRAPH("i16[18,1000] q(0.01:0)", "softmax %0 axis=1", "i16[18,1000] q(0.00001:0)"));
    ROWS(target, 2,
         GRAPH("i16[18,300] q(1:0)", "softmax %0 axis=1", "i16[18,300] q(0.000030517578125:0)"));
    ROWS(target, 2,
         GRAPH("i8[34,49] q(0.1:3)", "softmax %0 axis=1", "i16[34,49] q(0.000030517578125:0)"));
}

int main(void)
{
    sixteen("TOSA-1.0+INT+int16");
    for (int i = 0; i < 2; i++) {
        softmax(targets[i]);
        logarithms(targets[i]);
    }
    floats();
    REFUSES("TOSA-1.0+INT",
            GRAPH("i8[1,70000] q(0.05:3)", "softmax %0 axis=1", "i8[1,70000] q(0.00390625:-128)"),
            "longer than 65535");
    return check_done();
}
