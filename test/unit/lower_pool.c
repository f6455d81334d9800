/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pool.c -- pools of quantized values: three axes, and steps beyond what a machine's windows
 * take. */
#include "lower_check.h"

#define INT "TOSA-1.0+INT"
#define U55 "ethos-u55-128"
#define GRAPH(x, op, y) "graph @t(%0: " x ") {\n  %1 = " op " : " y "\n  return %1\n}\n"
#define MAX(k, s, p, d)                                                                            \
    "max_pool %0 kernel=" k " stride=" s " pad=" p " dilation=" d " ceil=false"
#define AVG(k, s, p, more) "avg_pool %0 kernel=" k " stride=" s " pad=" p " ceil=false " more

static void deep_max(void)
{
    LOWERS(INT, 0, GRAPH("i8[2,3,4,6,5] q(0.05:3)", MAX("[2,3,2]", "[2,2,1]", "[1,1,0]", "[1,1,1]"),
                         "i8[2,3,3,3,4] q(0.05:3)"));
    LOWERS(INT, 0, GRAPH("i8[2,3,4,6,5] q(0.05:3)", MAX("[3,2,2]", "[1,1,1]", "[1,0,1]", "[1,2,1]"),
                         "i8[2,3,4,4,6] q(0.05:3)"));
    LOWERS(INT, 0, GRAPH("i8[2,3,4,6,5] q(0.05:3)", MAX("[1,3,3]", "[1,2,2]", "[0,1,1]", "[1,1,1]"),
                         "i8[2,3,4,3,3] q(0.05:3)"));
    LOWERS(INT, 1, GRAPH("i8[3,4,6,5] q(0.05:3)", MAX("[3,1,1]", "[1,1,1]", "[1,0,0]", "[1,1,1]"),
                         "i8[3,4,6,5] q(0.04:0)"));
    LOWERS(INT, 0,
           "graph @t(%0: i8[1,2,5,6,7] q(0.05:3)) {\n  %1, %2 = adaptive_max_pool %0 size=[2,3,4] "
           ": i8[1,2,2,3,4] q(0.05:3), i64[1,2,2,3,4]\n  return %1\n}\n");
}

static void deep_mean(void)
{
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)",
                         AVG("[2,3,2]", "[2,2,1]", "[1,1,0]", "include_pad=true divisor=0"),
                         "i8[2,3,3,3,4] q(0.04:-9)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)",
                         AVG("[2,3,2]", "[2,2,1]", "[1,1,0]", "include_pad=false divisor=0"),
                         "i8[2,3,3,3,4] q(0.04:-9)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)",
                         AVG("[2,3,2]", "[1,2,1]", "[0,0,0]", "include_pad=true divisor=5"),
                         "i8[2,3,3,2,4] q(0.1:-9)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)",
                         AVG("[4,2,2]", "[1,1,1]", "[0,0,0]", "include_pad=true divisor=0"),
                         "i8[2,3,1,5,4] q(0.05:3)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)",
                         AVG("[1,2,2]", "[1,2,2]", "[0,0,0]", "include_pad=true divisor=0"),
                         "i8[2,3,4,3,2] q(0.05:3)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)",
                         AVG("[2,1,1]", "[2,1,1]", "[0,0,0]", "include_pad=true divisor=0"),
                         "i8[2,3,2,6,5] q(0.05:3)"));
    LOWERS(INT "+int16", 1,
           GRAPH("i16[1,3,4,6,5] q(0.0005:0)",
                 AVG("[2,3,2]", "[2,2,1]", "[0,0,0]", "include_pad=true divisor=0"),
                 "i16[1,3,2,2,4] q(0.0005:0)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,5] q(0.05:3)", "adaptive_avg_pool %0 size=[1,1,1]",
                         "i8[2,3,1,1,1] q(0.03:4)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,4,6,6] q(0.05:3)", "adaptive_avg_pool %0 size=[2,3,2]",
                         "i8[2,3,2,3,2] q(0.03:4)"));
    LOWERS(INT, 1, GRAPH("i8[2,3,5,6,7] q(0.05:3)", "adaptive_avg_pool %0 size=[2,3,4]",
                         "i8[2,3,2,3,4] q(0.03:4)"));
}

/* Steps above 3 on U55. */
static void far_steps(void)
{
    LOWERS(U55, 1, GRAPH("i8[1,4,8,8] q(0.05:3)",
                         AVG("[8,8]", "[8,8]", "[0,0]", "include_pad=true divisor=0"),
                         "i8[1,4,1,1] q(0.05:3)"));
    LOWERS(U55, 1, GRAPH("i8[2,4,9,17] q(0.05:3)",
                         AVG("[4,8]", "[4,8]", "[0,0]", "include_pad=true divisor=0"),
                         "i8[2,4,2,2] q(0.04:-3)"));
    LOWERS(U55, 1, GRAPH("i8[2,4,9,17] q(0.05:3)",
                         AVG("[1,8]", "[1,8]", "[0,0]", "include_pad=true divisor=0"),
                         "i8[2,4,9,2] q(0.05:3)"));
    LOWERS(U55, 1, GRAPH("i8[1,4,17,17] q(0.05:3)",
                         AVG("[5,5]", "[4,4]", "[0,0]", "include_pad=true divisor=0"),
                         "i8[1,4,4,4] q(0.05:3)"));
    LOWERS(U55, 0, GRAPH("i8[1,4,17,17] q(0.05:3)", MAX("[5,5]", "[4,4]", "[1,1]", "[1,1]"),
                         "i8[1,4,4,4] q(0.05:3)"));
    LOWERS(U55, 1, GRAPH("i8[1,4,24,24] q(0.05:3)", "adaptive_avg_pool %0 size=[3,6]",
                         "i8[1,4,3,6] q(0.05:3)"));
}

int main(void)
{
    deep_max();
    deep_mean();
    far_steps();
    return check_done();
}
