/* SPDX-License-Identifier: Apache-2.0 */
/* lower_variance.c -- variance, vector norms, running sums as TOSA, beside the typed form. */
#include "lower_rows.h"

static const char INT[] = "TOSA-1.0+INT", FP[] = "TOSA-1.0+FP";

#define GRAPH(in, line, out) "graph @t(%0: " in ") {\n  %1 = " line " : " out "\n  return %1\n}\n"

static void spread(void)
{
    ROWS(INT, 1,
         GRAPH("i8[34,40] q(0.05:3)", "var %0 axes=[1] keepdim=true correction=1.0",
               "i8[34,1] q(0.05:-128)"));
    ROWS(INT, 1,
         GRAPH("i8[5,6,7] q(0.05:3)", "var %0 axes=[0,2] keepdim=false correction=0.0",
               "i8[6] q(0.05:-128)"));
    ROWS(INT, 1,
         GRAPH("i8[34,40] q(0.05:3)", "std %0 axes=[1] keepdim=false correction=1.0",
               "i8[34] q(0.02:-128)"));
    ROWS(INT, 1,
         GRAPH("i16[34,40] q(0.0002:0)", "var %0 axes=[1] keepdim=false correction=1.0",
               "i8[34] q(0.1:-128)"));
    ROWS(INT, 2,
         GRAPH("i16[34,40] q(0.0002:0)", "std %0 axes=[1] keepdim=false correction=1.0",
               "i16[34] q(0.0004:0)"));
    ROWS(INT, 2,
         GRAPH("i16[34,40] q(0.0002:0)", "var %0 axes=[1] keepdim=false correction=1.0",
               "i16[34] q(0.0005:0)"));
    ROWS(INT, 2,
         GRAPH("i16[17,3000] q(0.0002:0)", "var %0 axes=[1] keepdim=false correction=0.0",
               "i16[17] q(0.0001:0)"));
    ROWS(INT, 2,
         GRAPH("i16[17,7] q(0.01:0)", "std %0 axes=[1] keepdim=false correction=1.0",
               "i16[17] q(0.005:0)"));
    ROWS(INT, 2,
         GRAPH("i8[34,40] q(0.05:3)", "std %0 axes=[1] keepdim=false correction=1.0",
               "i16[34] q(0.0002:0)"));
    ROWS(INT, 2,
         GRAPH("i16[34,40] q(0.0002:0)", "norm %0 axes=[1] keepdim=true ord=2.0",
               "i16[34,1] q(0.0013:0)"));
    REFUSES(INT,
            GRAPH("i8[3,1] q(0.05:3)", "var %0 axes=[1] keepdim=true correction=1.0",
                  "i8[3,1] q(0.05:0)"),
            "divides by zero");
    ROWS(FP, 1e-5, GRAPH("f32[5,6,7]", "var %0 axes=[0,2] keepdim=false correction=1.0", "f32[6]"));
    ROWS(FP, 1e-5,
         GRAPH("f32[5,6,7]", "std %0 axes=[1] keepdim=true correction=0.0", "f32[5,1,7]"));
}

static void norms(void)
{
    ROWS(INT, 1,
         GRAPH("i8[34,40] q(0.05:3)", "norm %0 axes=[1] keepdim=true ord=2.0",
               "i8[34,1] q(0.3:-128)"));
    ROWS(INT, 1,
         GRAPH("i16[34,40] q(0.0002:0)", "norm %0 axes=[1] keepdim=true ord=2.0",
               "i8[34,1] q(0.3:-128)"));
    ROWS(INT, 1,
         GRAPH("i8[34,40] q(0.05:3)", "norm %0 axes=[0,1] keepdim=false ord=1.0",
               "i8[] q(40.0:-128)"));
    ROWS(INT, 1,
         GRAPH("i8[34,40] q(0.05:3)", "norm %0 axes=[0] keepdim=false ord=inf",
               "i8[40] q(0.1:-128)"));
    REFUSES(
        INT,
        GRAPH("i8[3,4] q(0.05:3)", "norm %0 axes=[1] keepdim=true ord=3.0", "i8[3,1] q(0.05:0)"),
        "not 3");
    ROWS(FP, 1e-5, GRAPH("f32[5,6,7]", "norm %0 axes=[0,2] keepdim=false ord=2.0", "f32[6]"));
    ROWS(FP, 1e-5, GRAPH("f32[5,6,7]", "norm %0 axes=[1] keepdim=false ord=3.0", "f32[5,7]"));
    ROWS(FP, 1e-5, GRAPH("f32[5,6,7]", "norm %0 axes=[1] keepdim=false ord=-inf", "f32[5,7]"));
    ROWS(FP, 1e-5, GRAPH("f32[5,6,7]", "norm %0 axes=[1] keepdim=false ord=0.0", "f32[5,7]"));
}

static void running(void)
{
    ROWS(INT, 1, GRAPH("i8[3,10,4] q(0.05:3)", "cumsum %0 axis=1", "i8[3,10,4] q(0.2:-5)"));
    ROWS(INT, 1, GRAPH("i8[2,300] q(0.05:3)", "cumsum %0 axis=1", "i8[2,300] q(5.0:-5)"));
    ROWS(FP, 1e-5, GRAPH("f32[3,10,4]", "cumsum %0 axis=1", "f32[3,10,4]"));
    ROWS(FP, 1e-5, GRAPH("f32[3,10,4]", "cumprod %0 axis=1", "f32[3,10,4]"));
    REFUSES(INT, GRAPH("i8[3,4] q(0.05:3)", "cumprod %0 axis=1", "i8[3,4] q(0.05:0)"),
            "no integer form");
}

int main(void)
{
    spread();
    norms();
    running();
    return check_done();
}
