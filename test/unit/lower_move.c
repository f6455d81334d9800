/* SPDX-License-Identifier: Apache-2.0 */
/* lower_move.c -- movement as TOSA: exactly the same numbers. */
#include "lower_check.h"

/* One operator on f32, bool and quantized numbers; equal, bit by bit. */
static void moves(const char *shape, const char *op, const char *result)
{
    static const struct {
        const char *target, *type, *domain;
    } kinds[] = {{"TOSA-1.0+FP", "f32", ""},
                 {"TOSA-1.0+INT", "i32", ""},
                 {"TOSA-1.0+INT", "i8", " q(0.05:-3)"},
                 {"TOSA-1.0+INT", "i16", " q(0.001:0)"},
                 {"TOSA-1.0+INT+FP", "bool", ""}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "graph @t(%%0: %s[%s]%s) {\n  %%1 = %s : %s[%s]%s\n  return %%1\n}\n",
                 kinds[i].type, shape, kinds[i].domain, op, kinds[i].type, result, kinds[i].domain);
        LOWERS(kinds[i].target, 0, text);
    }
}

static void axes(void)
{
    moves("3,1,2", "expand %0 shape=[4,3,5,2]", "4,3,5,2");
    moves("2,9", "slice %0 axis=1 start=1 end=8 step=1", "2,7");
    moves("2,9,3", "slice %0 axis=1 start=1 end=9 step=3", "2,3,3");
    moves("2,9,3", "slice %0 axis=1 start=0 end=9 step=2", "2,5,3");
    moves("2,9,3", "slice %0 axis=1 start=2 end=9 step=4", "2,2,3");
    moves("2,9,3", "slice %0 axis=1 start=0 end=9 step=8", "2,2,3");
    LOWERS("ethos-u55-128", 0,
           "graph @t(%0: i8[1,3,9,8] q(0.05:-3)) {\n"
           "  %1 = slice %0 axis=2 start=1 end=9 step=3 : i8[1,3,3,8] q(0.05:-3)\n"
           "  %2 = slice %1 axis=3 start=1 end=8 step=2 : i8[1,3,3,4] q(0.05:-3)\n  return %1, "
           "%2\n}\n");
    moves("2,9,3", "select %0 axis=1 index=4", "2,3");
    moves("2,3", "cat %0, %0, %0 axis=1", "2,9");
    moves("2,3", "stack %0, %0 axis=1", "2,2,3");
    moves("2,3", "repeat %0 repeats=[2,1,3]", "2,2,9");
    moves("2,3,2", "repeat_interleave %0 axis=1 repeats=2", "2,6,2");
    moves("2,3,4", "flip %0 axes=[0,2]", "2,3,4");
    moves("2,5", "roll %0 shifts=[1,-2] axes=[0,1]", "2,5");
    moves("2,3,4", "permute %0 perm=[2,0,1]", "4,2,3");
}

static void borders(void)
{
    moves("2,5", "pad %0 pad=[0,1,2,-1] mode=constant value=1", "3,6");
    moves("2,5", "pad %0 pad=[0,0,2,4] mode=reflect value=0", "2,11");
    moves("3,5", "pad %0 pad=[1,2,2,-1] mode=replicate value=0", "6,6");
    moves("3,5", "pad %0 pad=[1,3,2,1] mode=circular value=0", "7,8");
    moves("2,4,5", "diagonal %0 offset=1 axis1=1 axis2=2", "2,4");
    moves("4,2,5", "diagonal %0 offset=-2 axis1=0 axis2=2", "2,2");
    moves("2,4,5", "tril %0 diagonal=1", "2,4,5");
    moves("4,5", "triu %0 diagonal=-1", "4,5");
    LOWERS(
        "TOSA-1.0+INT+u55", 0,
        "graph @t(%0: i8[2,4,5] q(0.05:-3)) {\n  %1 = tril %0 diagonal=0 : i8[2,4,5] q(0.05:-3)\n"
        "  return %1\n}\n");
}

static void windows(void)
{
    moves("2,9", "as_strided %0 size=[2,3] stride=[9,3] offset=1", "2,3");
    moves("2,9", "as_strided %0 size=[3,4,2] stride=[2,3,1] offset=2", "3,4,2");
    moves("2,9", "as_strided %0 size=[3,2,2] stride=[0,9,1] offset=0", "3,2,2");
    moves("20", "as_strided %0 size=[2,8] stride=[1,2] offset=3", "2,8");
    moves("2,9,3", "unfold %0 axis=1 size=3 step=2", "2,4,3,3");
    moves("2,9,3", "unfold %0 axis=1 size=2 step=4", "2,2,3,2");
    moves("1,2,5,6", "im2col %0 kernel=[3,2] dilation=[1,2] pad=[1,0] stride=[2,1]", "1,12,12");
    moves("1,8,2,3", "pixel_shuffle %0 factor=2", "1,2,4,6");
    moves("1,2,4,6", "pixel_unshuffle %0 factor=2", "1,8,2,3");
    LOWERS("ethos-u85-256", 0,
           "graph @t(%0: i8[2,8,2,3] q(0.05:-3)) {\n"
           "  %1 = pixel_shuffle %0 factor=2 : i8[2,2,4,6] q(0.05:-3)\n"
           "  %2 = pixel_unshuffle %1 factor=2 : i8[2,8,2,3] q(0.05:-3)\n  return %1, %2\n}\n");
    moves("1,6,2,3", "channel_shuffle %0 factor=3", "1,6,2,3");
    LOWERS("TOSA-1.0+FP", 1e-6,
           "graph @t(%0: f32[1,12,12]) {\n"
           "  %1 = col2im %0 size=[5,6] kernel=[3,2] dilation=[1,2] pad=[1,0] stride=[2,1] : "
           "f32[1,2,5,6]\n"
           "  return %1\n}\n");
    LOWERS("TOSA-1.0+INT", 1,
           "graph @t(%0: i8[1,12,12] q(0.05:-3)) {\n"
           "  %1 = col2im %0 size=[5,6] kernel=[3,2] dilation=[1,2] pad=[1,0] stride=[2,1] : "
           "i8[1,2,5,6] q(0.11:4)\n"
           "  return %1\n}\n");
}

/* Results that have domains of their own. */
static void domains(void)
{
    LOWERS("TOSA-1.0+INT", 0, /* CONCAT of i16 is an extension's */
           "graph @t(%0: i16[2,6] q(0.001:0), %1: i16[3,6] q(0.001:0)) {\n"
           "  %2 = cat %0, %1, %0 axis=0 : i16[7,6] q(0.001:0)\n  return %2\n}\n");
    LOWERS("TOSA-1.0+INT+FP", 0,
           "graph @t(%0: i8[2,6] q(0.05:-3)) {\n  %1 = rescale %0 : f32[2,6]\n  return %1\n}\n");
    LOWERS("TOSA-1.0+INT+FP", 0,
           "graph @t(%0: f32[2,60]) {\n  %1 = rescale %0 : i8[2,60] q(0.03:-3)\n  return %1\n}\n");
    LOWERS("TOSA-1.0+INT+FP", 0,
           "graph @t(%0: f32[2,60]) {\n  %1 = rescale %0 : i8[2,60] q(0.03:0 in -127..127)\n  "
           "return %1\n}\n");
    LOWERS(
        "TOSA-1.0+INT+FP", 0,
        "graph @t(%0: f16[2,60]) {\n"
        "  %1 = quantize %0 scale=0.03 zero=-3 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[2,60]\n"
        "  %2 = dequantize %1 scale=0.03 zero=-3 axis=-1 qmin=-128 qmax=127 dtype=f16 : f16[2,60]\n"
        "  return %1, %2\n}\n");
    REFUSES("TOSA-1.0+INT",
            "graph @t(%0: f32[2,6]) {\n  %1 = rescale %0 : i8[2,6] q(0.03:-3)\n  return %1\n}\n",
            "no floats");
}

/* Factors beyond what a multiplier and a shift can say: any step is past the last code. */
static void steep(void)
{
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i8[2,60] q(0.5:3)) {\n  %1 = rescale %0 : i8[2,60] q(1e-20:4)\n"
           "  return %1\n}\n");
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i16[2,60] q(0.5:0)) {\n  %1 = rescale %0 : i8[2,60] q(1e-20:4)\n"
           "  return %1\n}\n");
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i8[20,9] q(0.5:3)) {\n  %1 = const ? : i8[4,9] q(0.1:0)\n"
           "  %2 = linear %0, %1, none : i8[20,4] q(1e-20:4)\n  return %2\n}\n");
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i8[2,60] q(1e-20:3)) {\n  %1 = rescale %0 : i8[2,60] q(0.5:4)\n"
           "  return %1\n}\n");
}

/* Integers that somebody gives are any: those beyond the codes are at their ends. */
static void given(void)
{
    lower_plain.int_lo = INT32_MIN;
    lower_plain.int_hi = INT32_MAX;
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i32[2,60]) {\n  %1 = cast %0 dtype=f32 : i16[2,60] q(0.125:0)\n"
           "  return %1\n}\n");
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i32[2,60]) {\n  %1 = reshape %0 shape=[120] : i32[120]\n"
           "  %2 = cast %1 dtype=f32 : i8[120] q(2:3)\n  return %2\n}\n");
    lower_plain.int_lo = -20;
    lower_plain.int_hi = 20;
}

static void places(void)
{
    lower_plain.int_lo = 0;
    lower_plain.int_hi = 3;
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i8[2,4,3] q(0.05:-3), %1: i32[5]) {\n"
           "  %2 = index_select %0, %1 axis=1 : i8[2,5,3] q(0.05:-3)\n  return %2\n}\n");
    LOWERS("TOSA-1.0+FP", 0, "graph @t(%0: f32[4,3], %1: i32[2,5]) {\n"
                             "  %2 = embedding %0, %1 : f32[2,5,3]\n  return %2\n}\n");
    LOWERS("TOSA-1.0+INT", 0, "graph @t(%0: i32[3,4,5], %1: i32[2,7,4]) {\n"
                              "  %2 = gather %0, %1 axis=1 : i32[2,7,4]\n  return %2\n}\n");
    LOWERS("TOSA-1.0+INT", 0, "graph @t(%0: i32[3,4], %1: i32[2,7]) {\n"
                              "  %2 = gather %0, %1 axis=1 : i32[2,7]\n  return %2\n}\n");
    lower_plain.int_lo = -4;
    LOWERS("TOSA-1.0+FP", 0, "graph @t(%0: f32[2,4,4,3], %1: i32[5,1], %2: i32[2]) {\n"
                             "  %3 = index %0, none, %1, %2 : f32[2,5,2,3]\n  return %3\n}\n");
    LOWERS(
        "TOSA-1.0+FP", 0,
        "graph @t(%0: f32[4,3,4], %1: i32[5]) {\n"
        "  %2 = const [-1] : i32[1]\n  %3 = index %0, %1, none, %2 : f32[5,3]\n  return %3\n}\n");
    LOWERS("TOSA-1.0+INT+u55", 0,
           "graph @t(%0: i8[4,3] q(0.1:0)) {\n  %1 = const [3,2,1,3] : i32[4]\n"
           "  %2 = index %0, %1 : i8[4,3] q(0.1:0)\n  return %2\n}\n");
    LOWERS(
        "TOSA-1.0+INT+FP", 0,
        "graph @t(%0: bool[4,3], %1: i32[6]) {\n  %2 = index %0, %1 : bool[6,3]\n  return %2\n}\n");
}

int main(void)
{
    axes();
    borders();
    windows();
    domains();
    steep();
    given();
    places();
    return check_done();
}
