/* SPDX-License-Identifier: Apache-2.0 */
/* lower_sort.c -- topk and sort as TOSA: numbers and places, equals in their order. */
#include "lower_check.h"

#define INT "TOSA-1.0+INT"
#define FP "TOSA-1.0+FP"
/* Values of type v and, as the target counts, places in i32. */
#define BOTH(x, op, y, at)                                                                         \
    "graph @t(%0: " x ") {\n  %1, %2 = " op " : " y ", " at "\n  return %1, %2\n}\n"

static void codes(void)
{
    LOWERS(INT, 0, BOTH("i8[3,40] q(0.05:3)", "topk %0 k=5 axis=1 largest=true",
                        "i8[3,5] q(0.05:3)", "i32[3,5]"));
    LOWERS(INT, 0, BOTH("i8[3,300] q(0.05:3)", "topk %0 k=5 axis=1 largest=false",
                        "i8[3,5] q(0.05:3)", "i32[3,5]"));
    LOWERS(INT, 1, BOTH("i8[2,9,3] q(0.05:3)", "topk %0 k=4 axis=1 largest=true",
                        "i8[2,4,3] q(0.04:0)", "i32[2,4,3]"));
    LOWERS(INT, 0, BOTH("i8[2,9,3] q(0.05:3)", "sort %0 axis=1 descending=false",
                        "i8[2,9,3] q(0.05:3)", "i32[2,9,3]"));
    LOWERS(INT "+int16", 0, BOTH("i16[2,9] q(0.0005:0)", "sort %0 axis=1 descending=true",
                                 "i16[2,9] q(0.0005:0)", "i32[2,9]"));
    LOWERS(INT, 0, BOTH("i8[5]", "topk %0 k=1 axis=0 largest=true", "i8[1]", "i32[1]"));
    lower_plain.int_lo = -3; /* many equals */
    lower_plain.int_hi = 3;
    LOWERS(INT, 0, BOTH("i32[2,12]", "topk %0 k=7 axis=1 largest=true", "i32[2,7]", "i32[2,7]"));
    LOWERS(INT, 0, BOTH("i32[9,2]", "sort %0 axis=0 descending=false", "i32[9,2]", "i32[9,2]"));
    lower_plain.int_lo = INT32_MIN; /* also the least there is */
    lower_plain.int_hi = INT32_MAX;
    LOWERS(INT, 0, BOTH("i32[2,12]", "sort %0 axis=1 descending=true", "i32[2,12]", "i32[2,12]"));
    REFUSES(INT, BOTH("i64[5]", "topk %0 k=1 axis=0 largest=true", "i64[1]", "i64[1]"),
            "does not sort i64");
    REFUSES("ethos-u55-128",
            BOTH("i8[5] q(0.05:3)", "topk %0 k=1 axis=0 largest=true", "i8[1] q(0.05:3)", "i32[1]"),
            "does not compare");
}

static void floats(void)
{
    LOWERS(FP, 0, BOTH("f32[3,40]", "topk %0 k=5 axis=1 largest=true", "f32[3,5]", "i32[3,5]"));
    LOWERS(FP, 0, BOTH("f32[3,40]", "topk %0 k=5 axis=1 largest=false", "f32[3,5]", "i32[3,5]"));
    LOWERS(FP, 0,
           BOTH("f32[2,9,3]", "sort %0 axis=1 descending=false", "f32[2,9,3]", "i32[2,9,3]"));
}

int main(void)
{
    codes();
    floats();
    return check_done();
}
