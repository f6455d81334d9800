/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c -- reductions, scans and sorts, each with its edges: no elements, rank 0, NaN, equals.
 */
#include "graph.h"

#define X23 "%0 = const [1, 2, 3, 4, 5, 6] : f32[2,3]\n"
#define NANS "%0 = const [1, nan, 3, 7, 9, 8] : f32[2,3]\n"

static void test_sums(void)
{
    SAME(X23 "%1 = sum %0 axes=[1] keepdim=false\n%2 = const [6, 15] : f32[2]\nreturn %1, %2\n");
    SAME(X23 "%1 = sum %0 axes=[0] keepdim=true\n%2 = const [5, 7, 9] : f32[1,3]\nreturn %1, %2\n");
    SAME(X23 "%1 = sum %0 axes=[0,1] keepdim=false\n%2 = const 21 : f32[]\nreturn %1, %2\n");
    SAME(X23 "%1 = mean %0 axes=[0,1] keepdim=true\n%2 = const [3.5] : f32[1,1]\nreturn %1, %2\n");
    SAME(X23 "%1 = prod %0 axes=[1] keepdim=false\n%2 = const [6, 120] : f32[2]\nreturn %1, %2\n");
    SAME("%0 = const [true, false, true] : bool[3]\n%1 = sum %0 axes=[0] keepdim=false\n"
         "%2 = const 2 : i64[]\nreturn %1, %2\n");
    SAME("%0 = const [100, 100] : i8[2]\n%1 = sum %0 axes=[0] keepdim=false\n"
         "%2 = const 200 : i64[]\n%3 = prod %0 axes=[0] keepdim=false\n%4 = const 10000 : i64[]\n"
         "return %1, %2, %3, %4\n");
    SAME("%0 = const 5 : f32[]\n%1 = sum %0 axes=[] keepdim=false\n%2 = const 5 : f32[]\nreturn "
         "%1, %2\n");
    SAME(
        "%0 = const [] : f32[2,0]\n%1 = sum %0 axes=[1] keepdim=false\n%2 = const [0, 0] : f32[2]\n"
        "%3 = mean %0 axes=[1] keepdim=false\n%4 = const [nan, nan] : f32[2]\n"
        "%5 = prod %0 axes=[1] keepdim=false\n%6 = const [1, 1] : f32[2]\n"
        "%7 = sum %0 axes=[0] keepdim=false\n%8 = const [] : f32[0]\nreturn %1, %2, %3, %4, %5, "
        "%6, %7, %8\n");
    FAILS(X23 "%1 = sum %0 axes=[2] keepdim=false\nreturn %1\n",
          "over axis 2 of a tensor of rank 2");
    FAILS(X23 "%1 = sum %0 axes=[1,1] keepdim=false\nreturn %1\n", "names axis 1 twice");
    FAILS("%0 = const [1] : i32[1]\n%1 = mean %0 axes=[0] keepdim=false\nreturn %1\n",
          "'mean' of i32");
}

/* Axis 0 and 2 of three: neither first nor last, so the numbers are laid out anew. */
static void test_axes(void)
{
    SAME("%0 = arange start=0 step=1 count=24 dtype=f32\n%1 = reshape %0 shape=[2,3,4]\n"
         "%2 = sum %1 axes=[0,2] keepdim=false\n%3 = const [60, 92, 124] : f32[3]\n"
         "%4 = sum %1 axes=[1] keepdim=false\n%5 = const [12, 15, 18, 21, 48, 51, 54, 57] : "
         "f32[2,4]\n"
         "%6 = amax %1 axes=[0,1] keepdim=true\n%7 = const [20, 21, 22, 23] : f32[1,1,4]\n"
         "return %2, %3, %4, %5, %6, %7\n");
}

static void test_largest(void)
{
    SAME(NANS "%1 = amax %0 axes=[1] keepdim=false\n%2 = const [nan, 9] : f32[2]\n"
              "%3 = amin %0 axes=[1] keepdim=false\n%4 = const [nan, 7] : f32[2]\n"
              "%5 = argmax %0 axis=1 keepdim=false\n%6 = const [1, 1] : i64[2]\n"
              "%7 = argmin %0 axis=1 keepdim=true\n%8 = const [1, 0] : i64[2,1]\n"
              "return %1, %2, %3, %4, %5, %6, %7, %8\n");
    SAME("%0 = const [3, 1, 3, 1] : i32[4]\n%1, %2 = max_dim %0 axis=0 keepdim=false\n"
         "%3, %4 = min_dim %0 axis=0 keepdim=false\n%5 = const 3 : i32[]\n%6 = const 0 : i64[]\n"
         "%7 = const 1 : i32[]\n%8 = const 1 : i64[]\nreturn %1, %5, %2, %6, %3, %7, %4, %8\n");
    SAME("%0 = const 4 : f32[]\n%1, %2 = max_dim %0 axis=0 keepdim=true\n%3 = const 4 : f32[]\n"
         "%4 = const 0 : i64[]\nreturn %1, %3, %2, %4\n");
    FAILS("%0 = const [] : f32[0]\n%1 = amax %0 axes=[0] keepdim=false\nreturn %1\n",
          "which has extent 0");
    SAME("%0 = const [0, 2, 1, 1] : u8[2,2]\n%1 = all %0 axes=[1] keepdim=false\n%2 = const [0, 1] "
         ": u8[2]\n"
         "return %1, %2\n");
    SAME("%0 = const [0, nan, 0, 0] : f32[2,2]\n%1 = any %0 axes=[1] keepdim=false\n"
         "%2 = const [true, false] : bool[2]\n%3 = all %0 axes=[0] keepdim=false\n"
         "%4 = const [false, false] : bool[2]\nreturn %1, %2, %3, %4\n");
}

static void test_spread(void)
{
    CLOSE(X23 "%1 = var %0 axes=[1] keepdim=false correction=1\n%2 = const [1, 1] : f32[2]\n"
              "%3 = std %0 axes=[0,1] keepdim=false correction=0\n%4 = const 1.7078251 : f32[]\n"
              "return %1, %2, %3, %4\n");
    SAME("%0 = const [2] : f32[1]\n%1 = var %0 axes=[0] keepdim=false correction=1\n%2 = const nan "
         ": f32[]\n"
         "return %1, %2\n");
    CLOSE(X23 "%1 = norm %0 axes=[1] keepdim=false ord=1\n%2 = const [6, 15] : f32[2]\n"
              "%3 = norm %0 axes=[0] keepdim=false ord=inf\n%4 = const [4, 5, 6] : f32[3]\n"
              "%5 = norm %0 axes=[0,1] keepdim=false ord=2\n%6 = const 9.5393925 : f32[]\n"
              "%7 = norm %0 axes=[1] keepdim=false ord=0\n%8 = const [3, 3] : f32[2]\n"
              "return %1, %2, %3, %4, %5, %6, %7, %8\n");
    CLOSE(
        "%0 = const [1000, 1000, -inf, -inf] : f32[2,2]\n%1 = logsumexp %0 axes=[1] keepdim=false\n"
        "%2 = const [1000.69314718, -inf] : f32[2]\nreturn %1, %2\n");
}

static void test_scans(void)
{
    SAME(X23 "%1 = cumsum %0 axis=0\n%2 = const [1, 2, 3, 5, 7, 9] : f32[2,3]\n"
             "%3 = cumprod %0 axis=1\n%4 = const [1, 2, 6, 4, 20, 120] : f32[2,3]\nreturn %1, %2, "
             "%3, %4\n");
    SAME("%0 = const [true, true] : bool[2]\n%1 = cumsum %0 axis=0\n%2 = const [1, 2] : i64[2]\n"
         "%3 = const 7 : f32[]\n%4 = cumsum %3 axis=0\nreturn %1, %2, %3, %4\n");
}

static void test_sorts(void)
{
    SAME("%0 = const [2, nan, 1, 2] : f32[4]\n%1, %2 = sort %0 axis=0 descending=false\n"
         "%3 = const [1, 2, 2, nan] : f32[4]\n%4 = const [2, 0, 3, 1] : i64[4]\n"
         "%5, %6 = sort %0 axis=0 descending=true\n%7 = const [nan, 2, 2, 1] : f32[4]\n"
         "%8 = const [1, 0, 3, 2] : i64[4]\nreturn %1, %3, %2, %4, %5, %7, %6, %8\n");
    SAME("%0 = const [5, 1, 4, 2, 6, 3] : i32[3,2]\n%1, %2 = topk %0 k=2 axis=0 largest=true\n"
         "%3 = const [6, 3, 5, 2] : i32[2,2]\n%4 = const [2, 2, 0, 1] : i64[2,2]\n"
         "%5, %6 = topk %0 k=1 axis=1 largest=false\n%7 = const [1, 2, 3] : i32[3,1]\n"
         "%8 = const [1, 1, 1] : i64[3,1]\nreturn %1, %3, %2, %4, %5, %7, %6, %8\n");
    FAILS(X23 "%1, %2 = topk %0 k=4 axis=1 largest=true\nreturn %1\n",
          "'topk' of 4 from an axis of extent 3");
}

int main(void)
{
    test_sums();
    test_axes();
    test_largest();
    test_spread();
    test_scans();
    test_sorts();
    return check_done();
}
