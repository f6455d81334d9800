/* SPDX-License-Identifier: Apache-2.0 */
/* lower_norm.c -- layer, rms, group and batch norms as TOSA, beside the typed form. */
#include "lower_rows.h"

static const char *const targets[] = {"TOSA-1.0+INT", "TOSA-1.0+INT+int16+u55"};

#define LAYER(in, n, axes, out)                                                                    \
    "graph @t(%0: " in ") {\n  %1 = const ? : f32[" n "]\n  %2 = const ? : f32[" n "]\n"           \
    "  %3 = layer_norm %0, %1, %2 n_axes=" axes " eps=0.00001 : " out "\n  return %3\n}\n"
#define BARE(op, in, out) "graph @t(%0: " in ") {\n  %1 = " op " : " out "\n  return %1\n}\n"
#define GROUP(in, c, groups, out)                                                                  \
    "graph @t(%0: " in ") {\n  %1 = const ? : f32[" c "]\n  %2 = const ? : f32[" c "]\n"           \
    "  %3 = group_norm %0, %1, %2 groups=" groups " eps=0.00001 : " out "\n  return %3\n}\n"
#define BATCH(in, out)                                                                             \
    "graph @t(%0: " in                                                                             \
    ") {\n  %1 = const ? : f32[4]\n  %2 = const ? : f32[4]\n  %3 = const ? : f32[4]\n"             \
    "  %4 = const [0.5, 2.0, 0.1, 1.0] : f32[4]\n"                                                 \
    "  %5 = batch_norm %0, %1, %2, %3, %4 eps=0.001 : " out "\n  return %5\n}\n"

/* i8: rows with a standard deviation of a quarter of a code and more. */
static void layer(const char *target)
{
    rows_skip = 1 << 7;
    ROWS(target, 1, LAYER("i8[34,40] q(0.05:3)", "40", "1", "i8[34,40] q(0.03:-5)"));
    ROWS(target, 1, LAYER("i8[1,3,5,192] q(0.02:-40)", "192", "1", "i8[1,3,5,192] q(0.05:0)"));
    ROWS(target, 1, LAYER("i8[17,768] q(0.1:0)", "768", "1", "i8[17,768] q(0.05:0)"));
    ROWS(target, 1, LAYER("i8[17,6,10] q(0.1:0)", "6,10", "2", "i8[17,6,10] q(0.02:0)"));
    ROWS(target, 1,
         BARE("layer_norm %0, none, none n_axes=1 eps=0.000001", "i8[17,24] q(0.1:0)",
              "i8[17,24] q(0.04:0)"));
    ROWS(target, 1,
         BARE("rms_norm %0, none n_axes=1 eps=0.000001", "i8[17,24] q(0.1:9)",
              "i8[17,24] q(0.04:0)"));
    /* rows as long as codes go, in fine results; and short ones */
    ROWS("TOSA-1.0+INT", 1,
         BARE("rms_norm %0, none n_axes=1 eps=0.000001", "i8[17,24] q(0.1:-128)",
              "i8[17,24] q(0.01:-128)"));
    ROWS("TOSA-1.0+INT+int16+u55", 1,
         BARE("rms_norm %0, none n_axes=1 eps=0.000001", "i8[17,600] q(0.1:-128)",
              "i8[17,600] q(0.008:-128)"));
    rows_skip = 0;
}

/* i16: deviations are kept to two codes, so that rows that differ by less are left out. */
static void wide(const char *target)
{
    rows_skip = 1 << 4 | 1 << 7;
    ROWS(target, 1, LAYER("i16[34,64] q(0.0005:0)", "64", "1", "i8[34,64] q(0.03:9)"));
    rows_skip = 0;
    ROWS(target, 2, LAYER("i16[34,64] q(0.0005:0)", "64", "1", "i16[34,64] q(0.0002:0)"));
    ROWS(target, 2, LAYER("i16[7,1000] q(0.0005:0)", "1000", "1", "i16[7,1000] q(0.001:0)"));
    ROWS(target, 2, LAYER("i8[34,64] q(0.05:3)", "64", "1", "i16[34,64] q(0.0002:0)"));
    ROWS(target, 2, LAYER("i16[17,9] q(0.00001:0)", "9", "1", "i16[17,9] q(0.0001:0)"));
    ROWS(target, 2, LAYER("i16[3,9000] q(0.0005:0)", "9000", "1", "i16[3,9000] q(0.003:0)"));
    ROWS(target, 2,
         BARE("rms_norm %0, none n_axes=1 eps=0.000001", "i16[17,1024] q(0.0003:0)",
              "i16[17,1024] q(0.001:0)"));
    ROWS(target, 2,
         BARE("rms_norm %0, none n_axes=1 eps=10.0", "i16[17,24] q(0.0003:0)",
              "i16[17,24] q(0.0001:0)"));
    ROWS(target, 2, GROUP("i16[2,6,5,7] q(0.0005:0)", "6", "3", "i16[2,6,5,7] q(0.0002:0)"));
    ROWS(target, 2, GROUP("i16[1,4,40,40] q(0.0005:0)", "4", "1", "i16[1,4,40,40] q(0.0002:0)"));
    ROWS(target, 2,
         GROUP("i16[1,2,300,301] q(0.0005:0)", "2", "1", "i16[1,2,300,301] q(0.0002:0)"));
    ROWS(target, 2, BATCH("i16[2,4,5] q(0.0002:0)", "i16[2,4,5] q(0.0003:0)"));
}

static void others(const char *target)
{
    rows_skip = 1 << 7;
    ROWS(target, 1, GROUP("i8[2,6,5,7] q(0.05:3)", "6", "3", "i8[2,6,5,7] q(0.04:-5)"));
    ROWS(target, 1, GROUP("i8[1,4,40,40] q(0.05:3)", "4", "1", "i8[1,4,40,40] q(0.04:-5)"));
    ROWS(target, 1, BATCH("i8[2,4,5,6] q(0.05:3)", "i8[2,4,5,6] q(0.05:3)"));
    ROWS(target, 1, BATCH("i8[7,4] q(0.05:3)", "i8[7,4] q(0.05:3)"));
    ROWS(target, 1, BATCH("i16[2,4,5] q(0.0002:0)", "i8[2,4,5] q(0.1:0)"));
    rows_skip = 0;
}

static void floats(void)
{
    ROWS("TOSA-1.0+FP", 1e-5, LAYER("f32[17,4,10]", "4,10", "2", "f32[17,4,10]"));
    ROWS("TOSA-1.0+FP", 2e-3, LAYER("f16[17,40]", "40", "1", "f16[17,40]"));
    ROWS("TOSA-1.0+FP", 1e-5,
         BARE("rms_norm %0, none n_axes=1 eps=0.000001", "f32[17,24]", "f32[17,24]"));
    ROWS("TOSA-1.0+FP", 1e-5, GROUP("f32[2,6,5,7]", "6", "3", "f32[2,6,5,7]"));
    ROWS("TOSA-1.0+FP", 1e-5, BATCH("f32[2,4,5,6]", "f32[2,4,5,6]"));
    ROWS("TOSA-1.0+FP", 1e-5, BATCH("f32[7,4]", "f32[7,4]"));
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        layer(targets[i]);
        wide(targets[i]);
        others(targets[i]);
    }
    floats();
    return check_done();
}
