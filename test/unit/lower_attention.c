/* SPDX-License-Identifier: Apache-2.0 */
/* lower_attention.c -- attention as TOSA, beside the typed form. */
#include "lower_rows.h"

static const char INT[] = "TOSA-1.0+INT", WIDE[] = "TOSA-1.0+INT+int16", FP[] = "TOSA-1.0+FP";

#define SDPA(q, k, v, mask, more, out)                                                             \
    "graph @t(%0: " q ", %1: " k ", %2: " v ") {\n" mask "  %4 = sdpa %0, %1, %2" more " : " out   \
    "\n  return %4\n}\n"
#define Q8 "i8[2,3,7,16] q(0.03:2)"
#define K8 "i8[2,3,9,16] q(0.02:-3)"
#define V8 "i8[2,3,9,5] q(0.05:10)"
#define Y8 "i8[2,3,7,5] q(0.04:0)"

#define Q16 "i16[2,3,7,16] q(0.0003:0)"
#define K16 "i16[2,3,9,16] q(0.0002:0)"
#define V16 "i16[2,3,9,5] q(0.0005:0)"
#define Y16 "i16[2,3,7,5] q(0.0004:0)"
#define PLAIN " scale=0.25 causal=false gqa=false"

/* Results of 16 bits: two steps, sharp rows and flat ones, with every kind of mask. */
static void sixteen(void)
{
    ROWS(WIDE, 2, SDPA(Q16, K16, V16, "", PLAIN, Y16));
    ROWS(WIDE, 2, SDPA(Q16, K16, V16, "", " scale=0.25 causal=true gqa=false", Y16));
    ROWS(WIDE, 2, SDPA(Q16, K16, V16, "  %3 = const ? : f32[7,9]\n", ", %3" PLAIN, Y16));
    ROWS(WIDE, 2, SDPA(Q16, K16, V16, "  %3 = const ? : bool[2,3,7,9]\n", ", %3" PLAIN, Y16));
    ROWS(WIDE, 2, SDPA(Q8, K8, V8, "", PLAIN, Y16));
    ROWS(WIDE, 2,
         SDPA("i16[1,7,64] q(0.0005:0)", "i16[1,90,64] q(0.0003:0)", "i16[1,90,5] q(0.0002:0)", "",
              " scale=0.125 causal=false gqa=false", "i16[1,7,5] q(0.0002:0)"));
    ROWS(WIDE, 2,
         SDPA("i16[1,7,8] q(0.00001:0)", "i16[1,1000,8] q(0.00002:0)", "i16[1,1000,5] q(0.0002:0)",
              "", " scale=0.3 causal=false gqa=false", "i16[1,7,5] q(0.00005:0)"));
    ROWS(WIDE, 2, /* a mask that is computed */
         "graph @t(%0: " Q16 ", %1: " K16 ", %2: " V16 ", %3: bool[7,9]) {\n"
         "  %4 = sdpa %0, %1, %2, %3" PLAIN " : " Y16 "\n  return %4\n}\n");
}

/* A row of which nothing is let through gives 0; one that is far down as a whole counts by its
 * differences, unless floats lose the scores beside it. */
static void whole_rows(const char *target, double within, const char *q, const char *k,
                       const char *v, const char *y, const char *more)
{
    static const char *const mask[] = {
        "const [false,false,false,true,false,false,true,true,false] : bool[3,3]",
        "const [-inf,-inf,-inf,0,-inf,1,-inf,0.5,-inf] : f32[3,3]",
        "const [-3.4e38,-3.4e38,-3.4e38,0,-3.4e38,1,0,0,0] : f32[3,3]",
        /* floats have ten bits left beside this, less than 16-bit results show */
        "const [-10000,-10000,-10001,0,-10000,1,-10000,-10000,-10000] : f32[3,3]"};
    for (size_t i = 0; i < TC_COUNT(mask) - (within == 2); i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "graph @t(%%0: %s, %%1: %s, %%2: %s) {\n  %%3 = %s\n"
                 "  %%4 = sdpa %%0, %%1, %%2, %%3%s : %s\n  return %%4\n}\n",
                 q, k, v, mask[i], more, y);
        ROWS(target, within, text);
    }
    char text[600];
    snprintf(text, sizeof text,
             "graph @t(%%0: %s, %%1: %s, %%2: %s, %%3: bool[3,3]) {\n"
             "  %%4 = sdpa %%0, %%1, %%2, %%3%s : %s\n  return %%4\n}\n",
             q, k, v, more, y);
    ROWS(target, within, text);
}

/* Rows that a computed mask hides by infinities are 0; by the lowest number, the mean. */
static void hidden_rows(const char *low)
{
    char text[600];
    snprintf(text, sizeof text,
             "graph @t(%%0: f32[2,3,4], %%1: f32[2,3,4], %%2: f32[2,3,5], %%3: bool[3,1]) {\n"
             "  %%4 = const %s : f32[]\n  %%5 = const 0 : f32[]\n"
             "  %%6 = where %%3, %%5, %%4 : f32[3,1]\n"
             "  %%7 = sdpa %%0, %%1, %%2, %%6" PLAIN " : f32[2,3,5]\n  return %%7\n}\n",
             low);
    ROWS(FP, 1e-5, text);
}

/* Shares of 8 bits: three steps of the result at most, where its steps are those of v; zero points
 * at both ends, every kind of mask, rows as long as they may be without and with a shift. */
static void coarse(void)
{
#define FAST " scale=0.25 causal=false gqa=false coarse=true"
    static const char *const target[] = {INT, WIDE, "TOSA-1.0+INT+u55"};
    for (size_t i = 0; i < TC_COUNT(target); i++) {
        ROWS(target[i], 2, SDPA(Q8, K8, V8, "", FAST, "i8[2,3,7,5] q(0.05:0)"));
        ROWS(target[i], 2,
             SDPA(Q8, K8, "i8[2,3,9,5] q(0.05:127)", "", FAST, "i8[2,3,7,5] q(0.05:127)"));
        ROWS(target[i], 2,
             SDPA(Q8, K8, "i8[2,3,9,5] q(0.05:-128)", "", FAST, "i8[2,3,7,5] q(0.05:-128)"));
    }
    whole_rows(INT, 3, "i8[2,3,4] q(0.03:2)", "i8[2,3,4] q(0.02:-3)", "i8[2,3,5] q(0.05:10)",
               "i8[2,3,5] q(0.05:0)", FAST);
    ROWS(INT, 2,
         SDPA(Q8, K8, V8, "", " scale=0.25 causal=true gqa=false coarse=true",
              "i8[2,3,7,5] q(0.05:0)"));
    ROWS(INT, 3,
         SDPA("i8[40,16] q(0.03:2)", "i8[300,16] q(0.02:-3)", "i8[300,8] q(0.05:10)", "", FAST,
              "i8[40,8] q(0.05:0)"));
    ROWS(INT, 3, /* flat rows */
         SDPA("i8[40,16] q(0.003:2)", "i8[4000,16] q(0.002:-3)", "i8[4000,8] q(0.05:10)", "", FAST,
              "i8[40,8] q(0.05:0)"));
    /* v from a product, whose further channel is the column that sums; after a clamp, without */
    ROWS(INT, 2,
         "graph @t(%0: i8[7,16] q(0.03:2), %1: i8[9,16] q(0.02:-3), %2: i8[9,6] q(0.05:10)) {\n"
         "  %3 = const ? : i8[5,6] q(0.01:0)\n"
         "  %4 = linear %2, %3 : i8[9,5] q(0.02:-7)\n"
         "  %5 = sdpa %0, %1, %4" FAST " : i8[7,5] q(0.02:-7)\n  return %5\n}\n");
    ROWS(INT, 2,
         "graph @t(%0: i8[7,16] q(0.03:2), %1: i8[9,16] q(0.02:-3), %2: i8[9,6] q(0.05:10)) {\n"
         "  %3 = const ? : i8[5,6] q(0.01:0)\n"
         "  %4 = linear %2, %3 : i8[9,5] q(0.02:100)\n"
         "  %5 = sdpa %0, %1, %4" FAST " : i8[7,5] q(0.02:100)\n"
         "  %6 = relu %4 : i8[9,5] q(0.02:100)\n"
         "  %7 = sdpa %0, %1, %6" FAST " : i8[7,5] q(0.02:100)\n  return %5, %7\n}\n");
#undef FAST
}

int main(void)
{
    sixteen();
    coarse();
    whole_rows(INT, 1, "i8[2,3,4] q(0.03:2)", "i8[2,3,4] q(0.02:-3)", "i8[2,3,5] q(0.05:10)",
               "i8[2,3,5] q(0.04:0)", PLAIN);
    whole_rows(WIDE, 2, "i16[2,3,4] q(0.0003:0)", "i16[2,3,4] q(0.0002:0)",
               "i16[2,3,5] q(0.0005:0)", "i16[2,3,5] q(0.0004:0)", PLAIN);
    hidden_rows("-inf");
    hidden_rows("-3.4028235e38");
    whole_rows(FP, 1e-5, "f32[2,3,4]", "f32[2,3,4]", "f32[2,3,5]", "f32[2,3,5]", PLAIN);
    ROWS(INT, 1, /* many keys, the least codes */
         SDPA("i8[40,16] q(0.03:2)", "i8[1000,16] q(0.02:-3)", "i8[1000,8] q(0.05:127)", "",
              " scale=0.25 causal=false gqa=false", "i8[40,8] q(0.04:0)"));
    ROWS(INT, 1, SDPA(Q8, K8, V8, "", " scale=0.25 causal=false gqa=false", Y8));
    ROWS(WIDE, 1, SDPA(Q8, K8, V8, "", " scale=0.25 causal=false gqa=false", Y8));
    ROWS(INT, 1, SDPA(Q8, K8, V8, "", " scale=0.25 causal=true gqa=false", Y8));
    ROWS(INT, 1,
         SDPA(Q8, K8, V8, "  %3 = const ? : f32[7,9]\n", ", %3 scale=0.25 causal=false gqa=false",
              Y8));
    ROWS(INT, 1,
         SDPA(Q8, K8, V8, "  %3 = const ? : f32[2,3,7,9]\n",
              ", %3 scale=0.25 causal=false gqa=false", Y8));
    ROWS(INT, 1,
         SDPA(Q8, K8, V8,
              "  %3 = const [true,true,false,true,false,false,true,true,false] : bool[1,9]\n",
              ", %3 scale=0.25 causal=false gqa=false", Y8));
    ROWS(INT, 1,
         SDPA("i8[2,4,7,16] q(0.03:2)", "i8[2,2,9,16] q(0.02:-3)", "i8[2,2,9,5] q(0.05:10)", "",
              " scale=0.25 causal=false gqa=true", "i8[2,4,7,5] q(0.04:0)"));
    ROWS(INT, 1,
         SDPA("i8[40,16] q(0.03:2)", "i8[300,16] q(0.02:-3)", "i8[300,8] q(0.05:10)", "",
              " scale=0.25 causal=false gqa=false", "i8[40,8] q(0.04:0)"));
    ROWS(FP, 1e-5,
         SDPA("f32[2,3,7,16]", "f32[2,3,9,16]", "f32[2,3,9,5]", "",
              " scale=0.25 causal=true gqa=false", "f32[2,3,7,5]"));
    ROWS(FP, 1e-5,
         SDPA("f32[2,4,7,16]", "f32[2,2,9,16]", "f32[2,2,9,5]", "  %3 = const ? : f32[7,9]\n",
              ", %3 scale=0.25 causal=false gqa=true", "f32[2,4,7,5]"));
    ROWS(FP, 1e-5,
         SDPA("f32[7,16]", "f32[9,16]", "f32[9,5]",
              "  %3 = const [true,true,false,true,false,false,true,true,false] : bool[1,9]\n",
              ", %3 scale=0.25 causal=false gqa=false", "f32[7,5]"));
    return check_done();
}
