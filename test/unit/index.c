/* SPDX-License-Identifier: Apache-2.0 */
/* index.c -- reading and writing at places that tensors name; quantization and Fourier transforms.
 */
#include "graph.h"

#define X23 "%0 = const [1, 2, 3, 4, 5, 6] : f32[2,3]\n"
#define X222 "%0 = const [0, 1, 2, 3, 4, 5, 6, 7] : i32[2,2,2]\n"

static void test_index(void)
{
    SAME(
        X23
        "%1 = const [2, -3] : i64[2]\n%2 = index %0, none, %1\n%3 = const [3, 1, 6, 4] : f32[2,2]\n"
        "%4 = const [1, 0] : i32[2,1]\n%5 = index %0, %4, %1\n%6 = const [6, 4, 3, 1] : f32[2,2]\n"
        "return %2, %3, %5, %6\n");
    /* neighbours stay in place, the others come first */
    SAME(X222 "%1 = const [1, 1, 0] : i64[3]\n%2 = const [0, 1, 1] : i64[3]\n%3 = index %0, none, "
              "%1, %2\n"
              "%4 = const [2, 3, 1, 6, 7, 5] : i32[2,3]\n%5 = index %0, %1, none, %2\n"
              "%6 = const [4, 6, 5, 7, 1, 3] : i32[3,2]\nreturn %3, %4, %5, %6\n");
    FAILS(X23 "%1 = const [3] : i64[1]\n%2 = index %0, none, %1\nreturn %2\n",
          "index 3 is outside an axis of extent 3");
    FAILS(X23 "%1 = const [true, false] : bool[2]\n%2 = index %0, %1\nreturn %2\n", "by a mask");
    FAILS(X23 "%1 = const [0, 1] : i64[2]\n%2 = const [0, 1, 1] : i64[3]\n%3 = index %0, %1, "
              "%2\nreturn %3\n",
          "do not broadcast");
}

static void test_put(void)
{
    SAME(
        X23
        "%1 = const [0, 0] : i64[2]\n%2 = const [1, 1] : i64[2]\n%3 = const 10 : f32[]\n"
        "%4 = index_put %0, %3, %1, %2 accumulate=true\n%5 = const [1, 22, 3, 4, 5, 6] : f32[2,3]\n"
        "%6 = index_put %0, %3, none, %1 accumulate=false\n%7 = const [10, 2, 3, 10, 5, 6] : "
        "f32[2,3]\n"
        "return %4, %5, %6, %7\n");
    SAME(X23 "%1 = const [1] : i64[1]\n%2 = const [7, 8, 9] : f32[1,3]\n%3 = index_copy %0, %1, %2 "
             "axis=0\n"
             "%4 = const [1, 2, 3, 7, 8, 9] : f32[2,3]\n%5 = index_add %0, %1, %2 axis=0 alpha=2\n"
             "%6 = const [1, 2, 3, 18, 21, 24] : f32[2,3]\nreturn %3, %4, %5, %6\n");
    SAME(
        X23
        "%1 = const [true, false] : bool[2]\n%2 = const [0, 2] : i64[2]\n%3 = const [8, 9] : "
        "f32[2]\n"
        "%4 = index_put %0, %3, %1, %2 accumulate=false\n%5 = const [8, 2, 9, 4, 5, 6] : f32[2,3]\n"
        "%6 = const [false, true, false, true, false, false] : bool[2,3]\n"
        "%7 = index_put %0, %3, %6 accumulate=true\n%8 = const [1, 10, 3, 13, 5, 6] : f32[2,3]\n"
        "return %4, %5, %7, %8\n");
    FAILS(
        X23
        "%1 = const [true, true] : bool[2]\n%2 = const [0, 2, 1] : i64[3]\n%3 = const [8, 9, 7] : "
        "f32[3]\n"
        "%4 = index_put %0, %3, %1, %2 accumulate=false\nreturn %4\n",
        "do not broadcast");
    FAILS(X23 "%1 = const [1] : i64[1]\n%2 = const [7, 8] : f32[2]\n%3 = index_put %0, %2, %1 "
              "accumulate=false\n"
              "return %3\n",
          "puts [2] where there is room for [1,3]");
}

static void test_rows(void)
{
    SAME(X23
         "%1 = const [2, 0] : i32[2]\n%2 = index_select %0, %1 axis=1\n%3 = const [3, 1, 6, 4] : "
         "f32[2,2]\n"
         "%4 = const [0, 2, 1, 1] : i64[2,2]\n%5 = gather %0, %4 axis=1\n%6 = const [1, 3, 5, 5] : "
         "f32[2,2]\n"
         "%7 = const [1, 0] : i64[2]\n%8 = embedding %0, %7\n%9 = const [4, 5, 6, 1, 2, 3] : "
         "f32[2,3]\n"
         "return %2, %3, %5, %6, %8, %9\n");
    SAME("%0 = const [1, 3, 3, 5] : f32[4]\n%1 = const [3, 0, 9, nan] : f32[4]\n"
         "%2 = bucketize %1, %0 right=false\n%3 = const [1, 0, 4, 4] : i64[4]\n"
         "%4 = bucketize %1, %0 right=true\n%5 = const [3, 0, 4, 4] : i64[4]\nreturn %2, %3, %4, "
         "%5\n");
}

#define SCATTER(how, self, result)                                                                 \
    SAME("%0 = const [1, 2, 3] : f32[3]\n%1 = const [0, 0, 2] : i64[3]\n%2 = const [4, 5, 6] : "   \
         "f32[3]\n"                                                                                \
         "%3 = scatter %0, %1, %2 axis=0 combine=" how " include_self=" self                       \
         "\n%4 = const " result " : f32[3]\nreturn %3, %4\n")

static void test_scatter(void)
{
    SCATTER("set", "true", "[5, 2, 6]");
    SCATTER("add", "true", "[10, 2, 9]");
    SCATTER("add", "false", "[9, 2, 6]");
    SCATTER("prod", "true", "[20, 2, 18]");
    SCATTER("amax", "true", "[5, 2, 6]");
    SCATTER("amin", "true", "[1, 2, 3]");
    SCATTER("amin", "false", "[4, 2, 6]");
    SCATTER("mean", "false", "[4.5, 2, 6]");
}

static void test_quantize(void)
{
    SAME("%0 = const [0.25, 0.75, -0.25, 100, -100, nan] : f32[6]\n"
         "%1 = quantize %0 scale=0.5 zero=3 axis=-1 qmin=-128 qmax=127 dtype=i8\n"
         "%2 = const [3, 5, 3, 127, -128, 0] : i8[6]\n"
         "%3 = dequantize %2 scale=0.5 zero=3 axis=-1 qmin=-128 qmax=127 dtype=f32\n"
         "%4 = const [0, 1, 0, 62, -65.5, -1.5] : f32[6]\n"
         "%5 = fake_quantize %4 scale=0.5 zero=3 axis=-1 qmin=0 qmax=7 dtype=none\n"
         "%6 = const [0, 1, 0, 2, -1.5, -1.5] : f32[6]\nreturn %1, %2, %3, %4, %5, %6\n");
    SAME("%0 = const [1, 2, 3, 4] : f32[2,2]\n%1 = const [0.5, 2] : f32[2]\n%2 = const [0, 1] : "
         "i64[2]\n"
         "%3 = quantize %0, %1, %2 scale=0 zero=0 axis=1 qmin=-128 qmax=127 dtype=i8\n"
         "%4 = const [2, 2, 6, 3] : i8[2,2]\n"
         "%5 = dequantize %4, %1, none scale=0 zero=0 axis=0 qmin=-128 qmax=127 dtype=f32\n"
         "%6 = const [1, 1, 12, 6] : f32[2,2]\nreturn %3, %4, %5, %6\n");
    SAME("%0 = const [3000000000.0, -3000000000.0] : f32[2]\n"
         "%1 = quantize %0 scale=1 zero=0 axis=-1 qmin=-2147483647 qmax=2147483647 dtype=i32\n"
         "%2 = const [2147483647, -2147483648] : i32[2]\nreturn %1, %2\n");
    SAME("%0 = const [-1, 3] : f32[2]\n%1, %2 = choose_qparams %0 qmin=-128 qmax=127 eps=1e-5 "
         "symmetric=false zero=0 by_row=false\n"
         "%3 = const [0.01568627543747425] : f64[1]\n%4 = const [-64] : i64[1]\nreturn %1, %3, %2, "
         "%4\n");
    SAME("%0 = const [-1, 3, 0, 1.5] : f32[2,2]\n%1, %2 = choose_qparams %0 qmin=-3 qmax=3 eps=0.75 "
         "symmetric=true zero=0 by_row=true\n"
         "%3 = const [1, 0.75] : f64[2]\n%4 = const [0, 0] : i64[2]\nreturn %1, %3, %2, %4\n");
    SAME("%0 = const [10, -10] : i8[2] q(0.5:0)\n%1 = rescale %0 : i16[2] q(0.25:1)\n"
         "%2 = const [21, -19] : i16[2] q(0.25:1)\nreturn %1, %2\n");
    FAILS("%0 = const [1] : f32[1]\n%1 = quantize %0 scale=1 zero=0 axis=-1 qmin=-129 qmax=127 "
          "dtype=i8\nreturn %1\n",
          "codes -129 to 127 in i8");
    FAILS("%0 = const [1, 2] : f32[2]\n%1 = const [1] : f32[1]\n"
          "%2 = quantize %0, %1 scale=0 zero=0 axis=0 qmin=0 qmax=127 dtype=i8\nreturn %2\n",
          "has 1 numbers, expected 2");
}

/* A unit step, a constant and lengths with several, one and no small factors. */
static void test_fft(void)
{
    CLOSE("%0 = const [1, 0, 0, 0, 0, 0] : f32[6]\n%1 = fft %0 axes=[0] kind=real_to_complex "
          "norm=none "
          "last=0\n"
          "%2 = real %1\n%3 = const [1, 1, 1, 1] : f32[4]\n%4 = imag %1\n%5 = const [0, 0, 0, 0] : "
          "f32[4]\n"
          "return %2, %3, %4, %5\n");
    CLOSE("%0 = const [1, 5, -2, 3, 0, 4, 9] : f32[7]\n%1 = fft %0 axes=[0] kind=real_to_complex "
          "norm=none last=0\n"
          "%2 = fft %1 axes=[0] kind=complex_to_real norm=by_n last=7\nreturn %2, %0\n");
    CLOSE(
        "%0 = const [0, 1, 2, 3] : f32[4]\n%1 = const [0, 0, 0, 0] : f32[4]\n%2 = complex %0, %1\n"
        "%3 = fft %2 axes=[0] kind=forward norm=none last=0\n%4 = real %3\n%5 = const [6, -2, -2, "
        "-2] "
        ": f32[4]\n"
        "%6 = imag %3\n%7 = const [0, 2, 0, -2] : f32[4]\n%8 = fft %3 axes=[0] kind=inverse "
        "norm=by_n "
        "last=0\n"
        "%9 = real %8\nreturn %4, %5, %6, %7, %9, %0\n");
    CLOSE("%0 = const [1, 2, 3, 4, 5, 6] : f32[3,2]\n"
          "%1 = fft %0 axes=[1,0] kind=real_to_complex norm=by_sqrt_n last=0\n"
          "%2 = fft %1 axes=[1,0] kind=complex_to_real norm=by_sqrt_n last=3\nreturn %2, %0\n");
    FAILS("%0 = const [1] : i32[1]\n%1 = real %0\nreturn %1\n", "is i32, expected c64");
}

int main(void)
{
    test_index();
    test_put();
    test_rows();
    test_scatter();
    test_quantize();
    test_fft();
    return check_done();
}
