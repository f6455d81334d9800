/* SPDX-License-Identifier: Apache-2.0 */
/* lower_sample.c -- quantized images read at the places of a grid, beside the typed form. */
#include "lower_check.h"

#define INT "TOSA-1.0+INT"
#define SAMPLE(x, grid, attr, y)                                                                   \
    "graph @t(%0: " x ", %1: " grid ") {\n  %2 = grid_sample %0, %1 " attr " : " y                 \
    "\n  return %2\n}\n"

int main(void)
{
    LOWERS(INT, 1, SAMPLE("i8[2,3,6,5] q(0.05:3)", "i8[2,4,7,2] q(0.01:0)",
                          "mode=bilinear pad=zeros align_corners=false", "i8[2,3,4,7] q(0.05:3)"));
    LOWERS(INT, 1, SAMPLE("i8[2,3,6,5] q(0.05:3)", "i8[2,4,7,2] q(0.01:20)",
                          "mode=bilinear pad=border align_corners=true", "i8[2,3,4,7] q(0.04:-7)"));
    LOWERS(INT, 1, SAMPLE("i8[1,2,4,6,5] q(0.05:3)", "i8[1,3,2,3,3] q(0.01:0)",
                          "mode=bilinear pad=zeros align_corners=false",
                          "i8[1,2,3,2,3] q(0.05:3)"));
    LOWERS(INT "+int16", 1, SAMPLE("i8[1,3,60,50] q(0.05:3)", "i16[1,4,7,2] q(0.00004:0)",
                                   "mode=bilinear pad=zeros align_corners=true",
                                   "i8[1,3,4,7] q(0.05:3)"));
    REFUSES(INT "+int16", SAMPLE("i16[1,3,6,5] q(0.0005:0)", "i16[1,4,7,2] q(0.00004:0)",
                                 "mode=bilinear pad=border align_corners=false",
                                 "i16[1,3,4,7] q(0.0005:0)"),
            "too coarse");
    LOWERS(INT, 1, SAMPLE("i8[1,3,1,5] q(0.05:3)", "i8[1,4,7,2] q(0.01:0)",
                          "mode=bilinear pad=zeros align_corners=true", "i8[1,3,4,7] q(0.05:3)"));
    REFUSES(INT, SAMPLE("i8[2,3,6,5] q(0.05:3)", "i8[2,4,7,2] q(0.01:0)",
                        "mode=nearest pad=zeros align_corners=false", "i8[2,3,4,7] q(0.05:3)"),
            "only linear sampling");
    REFUSES("ethos-u55-128", SAMPLE("i8[2,3,6,5] q(0.05:3)", "i8[2,4,7,2] q(0.01:0)",
                                    "mode=bilinear pad=zeros align_corners=false",
                                    "i8[2,3,4,7] q(0.05:3)"),
            "has no gather");
    return check_done();
}
