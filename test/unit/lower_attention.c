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

int main(void)
{
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
    ROWS(WIDE, 32,
         SDPA("i16[1,7,16] q(0.0002:0)", "i16[1,9,16] q(0.0002:0)", "i16[1,9,5] q(0.0002:0)", "",
              " scale=0.25 causal=false gqa=false", "i16[1,7,5] q(0.0002:0)"));
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
    REFUSES(
        INT,
        SDPA(Q8, K8, V8,
             "  %3 = const [false,false,false,false,false,false,false,false,false] : bool[1,9]\n",
             ", %3 scale=0.25 causal=false gqa=false", Y8),
        "lets nothing through");
    return check_done();
}
