/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rnn.c -- recurrent layers as TOSA, beside the typed form. */
#include "lower_rows.h"

/* w: the element type of weights, wq: their domain. */
#define WEIGHTS(w, wq, g, in, n)                                                                   \
    "  %3 = const ? : " w "[" g "," in "]" wq "\n  %4 = const ? : " w "[" g "," n "]" wq "\n"      \
    "  %5 = const ? : f32[" g "]\n  %6 = const ? : f32[" g "]\n"
#define MORE(w, wq, g, in, n)                                                                      \
    "  %13 = const ? : " w "[" g "," in "]" wq "\n  %14 = const ? : " w "[" g "," n "]" wq "\n"    \
    "  %15 = const ? : f32[" g "]\n  %16 = const ? : f32[" g "]\n"
#define USE(what, ...) what(__VA_ARGS__)
#define W8 "i8", " q(0.0078125:0)"
#define W32 "f32", ""

/* x [7,2,5], hidden 4 */
#define ONE(op, gates, x, h, y, w)                                                                 \
    "graph @t(%0: " x "[7,2,5]" h ", %1: " x "[1,2,4]" h                                           \
    ") {\n" USE(WEIGHTS, w, gates, "5",                                                            \
                "4") "  %7, %8 = " op " %0, %1, %3, %4, %5, %6 layers=1 bidirectional=false "      \
                     "batch_first=false has_bias=true : " x "[7,2,4]" y ", " x "[1,2,4]" y         \
                     "\n  return %7, %8\n}\n"
#define LSTM(x, q, hq, yq, cq, w)                                                                  \
    "graph @t(%0: " x "[2,9,5]" q ", %1: " x "[2,2,4]" hq ", %2: " x "[2,2,4]" cq                  \
    ") {\n" USE(WEIGHTS, w, "16", "5", "4")                                                        \
        USE(MORE, w, "16", "5",                                                                    \
            "4") "  %7, %8, %9 = lstm %0, %1, %2, %3, %4, %5, %6, %13, %14, %15, %16 "             \
                 "layers=1 bidirectional=true "                                                    \
                 "batch_first=true has_bias=true : " x "[2,9,8]" yq ", " x "[2,2,4]" yq ", " x     \
                 "[2,2,4]" cq "\n  return %7, %8, %9\n}\n"
#define DEEP(x, q, hq, w)                                                                          \
    "graph @t(%0: " x "[6,2,5]" q ", %1: " x "[2,2,4]" hq ", %2: " x "[2,2,4]" q                   \
    ") {\n" USE(WEIGHTS, w, "16", "5", "4")                                                        \
        USE(MORE, w, "16", "4",                                                                    \
            "4") "  %7, %8, %9 = lstm %0, %1, %2, %3, %4, %5, %6, %13, %14, %15, %16 "             \
                 "layers=2 bidirectional=false "                                                   \
                 "batch_first=false has_bias=true : " x "[6,2,4]" hq ", " x "[2,2,4]" hq ", " x    \
                 "[2,2,4]" q "\n  return %7, %8, %9\n}\n"
/* h of 3 from 4, two layers in both directions */
#define SHOWN(n, w, wq, in)                                                                        \
    "  %1" n " = const ? : " w "[16," in "]" wq "\n  %2" n " = const ? : " w "[16,3]" wq "\n"       \
    "  %3" n " = const ? : f32[16]\n  %4" n " = const ? : f32[16]\n"                               \
    "  %5" n " = const ? : " w "[3,4]" wq "\n"
#define PROJECTED(x, q, hq, cq, w)                                                                 \
    "graph @t(%0: " x "[2,4,5]" q ", %1: " x "[4,2,3]" hq ", %2: " x "[4,2,4]" cq                  \
    ") {\n" USE(SHOWN, "0", w, "5") USE(SHOWN, "1", w, "5") USE(SHOWN, "2", w, "6")                \
        USE(SHOWN, "3", w, "6") "  %7, %8, %9 = lstm %0, %1, %2, %10, %20, %30, %40, %50, %11, "   \
                                "%21, %31, %41, %51, %12, %22, %32, %42, %52, %13, %23, %33, "     \
                                "%43, %53 layers=2 bidirectional=true batch_first=true "           \
                                "has_bias=true : " x "[2,4,6]" hq ", " x "[4,2,3]" hq ", " x       \
                                "[4,2,4]" cq "\n  return %7, %8, %9\n}\n"
#define CELL(x, q, hq, w)                                                                          \
    "graph @t(%0: " x "[3,5]" q ", %1: " x "[3,4]" hq ", %2: " x "[3,4]" q                         \
    ") {\n" USE(WEIGHTS, w, "16", "5", "4") "  %7, %8 = lstm_cell %0, %1, %2, %3, %4, %5, %6 : " x \
                                            "[3,4]" hq ", " x "[3,4]" q "\n  return %7, %8\n}\n"

#define Q " q(0.03:3)"
#define H " q(0.0078125:0)"

/* Weights become 8 bits wide, which the typed form does not know of: more than one step here and
 * there. */
static void integers(const char *target)
{
    ROWS(target, 1, ONE("gru", "12", "i8", H, H, W8));
    ROWS(target, 1, ONE("rnn_tanh", "4", "i8", H, H, W8));
    ROWS(target, 1, ONE("rnn_relu", "4", "i8", " q(0.01:0)", " q(0.05:-100)", W8));
    ROWS(target, 1, LSTM("i8", Q, H, H, " q(0.05:2)", W8));
    /* a c whose codes are fine */
    ROWS(target, 1, CELL("i8", " q(0.001:0)", H, W8));
    /* a state that starts beyond 1 */
    ROWS(target, 1, ONE("gru", "12", "i8", " q(0.025:3)", " q(0.025:3)", W8));
    ROWS(target, 1, ONE("rnn_tanh", "4", "i8", " q(0.025:3)", H, W8));
    ROWS(target, 1, LSTM("i8", Q, " q(0.025:3)", H, " q(0.05:2)", W8));
    /* what comes of x and of the state, each far beyond their sum */
    ROWS(target, 1, LSTM("i8", " q(0.3:3)", " q(0.4:-2)", H, " q(0.05:2)", W8));
    ROWS(target, 1, LSTM("i8", " q(0.3:3)", " q(0.4:-2)", H, " q(0.05:2)", W32));
    ROWS(target, 1, ONE("gru", "12", "i8", " q(0.3:3)", " q(0.3:3)", W8));
    ROWS(target, 1, DEEP("i8", Q, H, W8));
    ROWS(target, 1, CELL("i8", Q, H, W8));
    ROWS(target, 1, PROJECTED("i8", Q, " q(0.02:1)", " q(0.05:2)", W8));
}

#define Q16 " q(0.0002:0)"
#define H16 " q(0.000030517578125:0)"
#define START16 " q(0.0001:0)"

/* 16 bits: two steps of what real weights give. */
static void sixteen(const char *target)
{
    ROWS(target, 2, ONE("gru", "12", "i16", H16, H16, W32));
    ROWS(target, 2, ONE("gru", "12", "i16", START16, START16, W32));
    ROWS(target, 2, ONE("rnn_tanh", "4", "i16", H16, H16, W32));
    ROWS(target, 2, ONE("rnn_relu", "4", "i16", " q(0.00003:0)", " q(0.001:0)", W32));
    /* a state that might grow by its weights, and does not */
    ROWS(target, 2, ONE("rnn_relu", "4", "i16", " q(0.000003:0)", " q(0.00001:0)", W32));
    ROWS(target, 2, LSTM("i16", Q16, H16, H16, " q(0.0003:0)", W32));
    ROWS(target, 2, LSTM("i16", Q16, START16, H16, " q(0.0003:0)", W8));
    ROWS(target, 2, DEEP("i16", Q16, H16, W32));
    ROWS(target, 2, CELL("i16", Q16, H16, W32));
    ROWS(target, 2, PROJECTED("i16", Q16, START16, " q(0.0003:0)", W32));
}

/* Any widths, of one number too: a sum that is a single product.  u, h, y: domains of x, of the
 * state before and of the results. */
static void widths(const char *target, double within, const char *x, const char *u, const char *h,
                   const char *y)
{
    static const struct {
        const char *op;
        unsigned gates;
    } kind[] = {{"gru", 3}, {"rnn_tanh", 1}, {"lstm", 4}};
    uint32_t seed = 7;
    for (size_t i = 0; i < 6 * TC_COUNT(kind); i++) {
        unsigned in = 1 + lower_dice(&seed, 3), n = 1 + lower_dice(&seed, 3);
        bool cells = kind[i % 3].gates == 4;
        unsigned rows = kind[i % 3].gates * n;
        char text[1000], c[80] = "", to[80] = "";
        if (cells) {
            snprintf(c, sizeof c, ", %%9: %s[1,2,%u] q(%s)", x, n, h);
            snprintf(to, sizeof to, ", %s[1,2,%u] q(%s)", x, n, h);
        }
        snprintf(text, sizeof text,
                 "graph @t(%%0: %s[5,2,%u] q(%s), %%1: %s[1,2,%u] q(%s)%s) {\n"
                 "  %%3 = const ? : i8[%u,%u] q(0.0078125:0)\n"
                 "  %%4 = const ? : i8[%u,%u] q(0.0078125:0)\n"
                 "  %%5 = const ? : f32[%u]\n  %%6 = const ? : f32[%u]\n"
                 "  %%7, %%8%s = %s %%0, %%1%s, %%3, %%4, %%5, %%6 layers=1 bidirectional=false "
                 "batch_first=false has_bias=true : %s[5,2,%u] q(%s), %s[1,2,%u] q(%s)%s\n"
                 "  return %%7, %%8\n}\n",
                 x, in, u, x, n, h, c, rows, in, rows, n, rows, rows, cells ? ", %10" : "",
                 kind[i % 3].op, cells ? ", %9" : "", x, n, y, x, n, y, to);
        ROWS(target, within, text);
    }
}

int main(void)
{
    widths("TOSA-1.0+INT", 1, "i8", "0.3:3", "0.3:3", "0.0078125:0");
    widths("TOSA-1.0+INT", 1, "i8", "4:-5", "0.3:3", "0.0078125:0");
    widths("TOSA-1.0+INT", 1, "i8", "0.02:-5", "0.02:-5", "0.0078125:0");
    widths("TOSA-1.0+INT+int16", 2, "i16", "0.001:0", "0.001:0", "0.000030517578125:0");
    widths("TOSA-1.0+INT+int16", 2, "i16", "0.0001:0", "0.0001:0", "0.000030517578125:0");
    sixteen("TOSA-1.0+INT+int16");
    integers("TOSA-1.0+INT");
    integers("TOSA-1.0+INT+int16");
    ROWS("TOSA-1.0+INT", 1, LSTM("i8", Q, H, H, " q(0.05:2)", W32));
    ROWS("TOSA-1.0+FP", 1e-5, ONE("gru", "12", "f32", "", "", W32));
    ROWS("TOSA-1.0+FP", 1e-5, ONE("rnn_tanh", "4", "f32", "", "", W32));
    ROWS("TOSA-1.0+FP", 1e-5, ONE("rnn_relu", "4", "f32", "", "", W32));
    ROWS("TOSA-1.0+FP", 1e-5, LSTM("f32", "", "", "", "", W32));
    ROWS("TOSA-1.0+FP", 1e-5, DEEP("f32", "", "", W32));
    ROWS("TOSA-1.0+FP", 1e-5, CELL("f32", "", "", W32));
    ROWS("TOSA-1.0+FP", 1e-5, PROJECTED("f32", "", "", "", W32));
    return check_done();
}
