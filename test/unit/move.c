/* SPDX-License-Identifier: Apache-2.0 */
/* move.c -- movement, padding, factories: each operator with its edges, and the walk behind them
 * against one element at a time. */
#include "graph.h"

#include "num/strided.h"

#define X23 "%0 = const [1, 2, 3, 4, 5, 6] : f32[2,3]\n"

static uint64_t seed = 7;

static int64_t dice(int64_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % sides;
}

static void move_plainly(char *to, const char *from, size_t bytes, const tc_axis *axis, int n)
{
    if (!n) {
        memcpy(to, from, bytes);
        return;
    }
    for (int64_t i = 0; i < axis->n; i++)
        move_plainly(to + i * axis->to * (int64_t)bytes, from + i * axis->from * (int64_t)bytes,
                     bytes, axis + 1, n - 1);
}

/* Any order of source axes, some repeated, some backwards, extents around the size of a block. */
static void test_walk(void)
{
    static char from[1 << 16], to[1 << 16], plain[1 << 16];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)dice(256);
    int good = 0, runs = 2000;
    for (int run = 0; run < runs; run++) {
        size_t bytes = (size_t)1 << dice(4);
        int n = (int)dice(5);
        tc_axis axis[5];
        int64_t extent[5], step = 1, first = 0;
        for (int i = 0; i < n; i++)
            extent[i] = 1 + dice(n < 3 ? 40 : 6);
        for (int i = n - 1; i >= 0; step *= extent[i--])
            axis[i] = (tc_axis){extent[i], step, 0};
        step = 1;
        for (int left = n; left; left--) {
            int k = (int)dice(n);
            while (axis[k].from)
                k = (k + 1) % n;
            axis[k].from = step;
            step *= extent[k];
        }
        for (int i = 0; i < n; i++)
            if (!dice(4)) {
                first += axis[i].from * (extent[i] - 1);
                axis[i].from = -axis[i].from;
            } else if (!dice(6))
                axis[i].from = 0;
        memset(to, 0, sizeof to);
        memset(plain, 0, sizeof plain);
        ti_move(to, from + first * (int64_t)bytes, bytes, axis, n);
        move_plainly(plain, from + first * (int64_t)bytes, bytes, axis, n);
        good += memcmp(to, plain, sizeof to) == 0;
    }
    CHECK(good == runs);
}

static void test_shapes(void)
{
    SAME(X23 "%1 = reshape %0 shape=[3,1,2]\n%2 = const [1, 2, 3, 4, 5, 6] : f32[3,1,2]\nreturn "
             "%1, %2\n");
    SAME(X23
         "%1 = permute %0 perm=[1,0]\n%2 = const [1, 4, 2, 5, 3, 6] : f32[3,2]\nreturn %1, %2\n");
    SAME("%0 = const [1, 2, 3] : i16[3,1]\n%1 = expand %0 shape=[2,3,2]\n"
         "%2 = const [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3] : i16[2,3,2]\nreturn %1, %2\n");
    SAME("%0 = const 4 : i8[]\n%1 = expand %0 shape=[2,0]\n%2 = const [] : i8[2,0]\n"
         "%3 = permute %0 perm=[]\n%4 = reshape %0 shape=[1]\n%5 = const [4] : i8[1]\nreturn %1, "
         "%2, %3, "
         "%0, %4, %5\n");
    FAILS(X23 "%1 = reshape %0 shape=[4]\nreturn %1\n",
          "[2,3] has 6 elements, the shape [4] does not");
    FAILS(X23 "%1 = expand %0 shape=[4,3]\nreturn %1\n", "[2,3] cannot be expanded to [4,3]");
    FAILS(X23 "%1 = permute %0 perm=[0,0]\nreturn %1\n", "names axis 0 twice");
}

static void test_parts(void)
{
    SAME(X23 "%1 = slice %0 axis=1 start=0 end=3 step=2\n%2 = const [1, 3, 4, 6] : f32[2,2]\n"
             "%3 = slice %0 axis=0 start=1 end=1 step=1\n%4 = const [] : f32[0,3]\n"
             "%5 = select %0 axis=1 index=2\n%6 = const [3, 6] : f32[2]\nreturn %1, %2, %3, %4, "
             "%5, %6\n");
    SAME(X23 "%1, %2 = split %0 axis=1 sizes=[1,2]\n%3 = const [1, 4] : f32[2,1]\n"
             "%4 = const [2, 3, 5, 6] : f32[2,2]\n%5, %6 = unbind %0 axis=0\n%7 = const [1, 2, 3] "
             ": f32[3]\n"
             "%8 = const [4, 5, 6] : f32[3]\nreturn %1, %3, %2, %4, %5, %7, %6, %8\n");
    SAME(X23 "%1 = const [7, 8] : f32[2,1]\n%2 = slice_scatter %0, %1 axis=1 start=1 end=2 step=1\n"
             "%3 = const [1, 7, 3, 4, 8, 6] : f32[2,3]\n%4 = const [9, 9, 9] : f32[3]\n"
             "%5 = select_scatter %0, %4 axis=0 index=1\n%6 = const [1, 2, 3, 9, 9, 9] : f32[2,3]\n"
             "return %2, %3, %5, %6\n");
    FAILS(X23 "%1 = slice %0 axis=1 start=2 end=4 step=1\nreturn %1\n",
          "from 2 to 4 by 1 of an axis of extent 3");
    FAILS(X23 "%1 = select %0 axis=1 index=3\nreturn %1\n", "index 3 of an axis of extent 3");
    FAILS(X23 "%1, %2 = split %0 axis=1 sizes=[2,2]\nreturn %1\n", "is 2 long, 1 are left");
}

static void test_joins(void)
{
    SAME(X23 "%1 = const [7, 8] : f32[2,1]\n%2 = cat %0, %1, %0 axis=1\n"
             "%3 = const [1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 4, 5, 6] : f32[2,7]\n"
             "%4 = const [] : f32[2,0]\n%5 = cat %4, %1 axis=1\nreturn %2, %3, %5, %1\n");
    SAME("%0 = const [1, 2] : i64[2]\n%1 = const [3, 4] : i64[2]\n%2 = stack %0, %1 axis=1\n"
         "%3 = const [1, 3, 2, 4] : i64[2,2]\n%4 = stack %0, %1 axis=0\n%5 = const [1, 2, 3, 4] : "
         "i64[2,2]\n"
         "return %2, %3, %4, %5\n");
    FAILS(X23 "%1 = const [7] : f32[1,1]\n%2 = cat %0, %1 axis=1\nreturn %2\n",
          "is [1,1], operand 0 is [2,3]");
    FAILS(X23 "%1 = const [7, 8, 9] : f16[1,3]\n%2 = cat %0, %1 axis=0\nreturn %2\n",
          "f32 and f16");
}

static void test_repeats(void)
{
    SAME("%0 = const [1, 2] : u8[2]\n%1 = repeat %0 repeats=[2,2]\n%2 = const [1, 2, 1, 2, 1, 2, "
         "1, 2] : "
         "u8[2,4]\n"
         "%3 = repeat_interleave %0 axis=0 repeats=2\n%4 = const [1, 1, 2, 2] : u8[4]\n"
         "%5 = repeat %0 repeats=[0]\n%6 = const [] : u8[0]\nreturn %1, %2, %3, %4, %5, %6\n");
    SAME(X23 "%1 = flip %0 axes=[0,1]\n%2 = const [6, 5, 4, 3, 2, 1] : f32[2,3]\n"
             "%3 = roll %0 shifts=[1,-4] axes=[0,1]\n%4 = const [5, 6, 4, 2, 3, 1] : f32[2,3]\n"
             "%5 = roll %0 shifts=[2,2] axes=[1,1]\n%6 = const [3, 1, 2, 6, 4, 5] : f32[2,3]\n"
             "return %1, %2, %3, %4, %5, %6\n");
}

static void test_diagonals(void)
{
    SAME(X23 "%1 = diagonal %0 offset=0 axis1=0 axis2=1\n%2 = const [1, 5] : f32[2]\n"
             "%3 = diagonal %0 offset=-1 axis1=0 axis2=1\n%4 = const [4] : f32[1]\n"
             "%5 = diagonal %0 offset=5 axis1=0 axis2=1\n%6 = const [] : f32[0]\n"
             "%7 = tril %0 diagonal=0\n%8 = const [1, 0, 0, 4, 5, 0] : f32[2,3]\n"
             "%9 = triu %0 diagonal=1\n%10 = const [0, 2, 3, 0, 0, 6] : f32[2,3]\n"
             "%11 = tril %0 diagonal=-9\n%12 = const [0, 0, 0, 0, 0, 0] : f32[2,3]\n"
             "return %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12\n");
    SAME(X23
         "%1 = as_strided %0 size=[2,2] stride=[1,3] offset=1\n%2 = const [2, 5, 3, 6] : f32[2,2]\n"
         "%3 = unfold %0 axis=1 size=2 step=1\n%4 = const [1, 2, 2, 3, 4, 5, 5, 6] : f32[2,2,2]\n"
         "return %1, %2, %3, %4\n");
    FAILS(X23 "%1 = as_strided %0 size=[2,2] stride=[1,3] offset=3\nreturn %1\n",
          "element 7 of a tensor of 6");
    FAILS("%0 = const [1] : f32[1]\n%1 = tril %0 diagonal=0\nreturn %1\n",
          "rank 1, expected 2 or more");
}

static void test_pads(void)
{
    SAME(X23 "%1 = pad %0 pad=[0,1,-1,2] mode=constant value=9\n"
             "%2 = const [2, 3, 9, 9, 5, 6, 9, 9, 9, 9, 9, 9] : f32[3,4]\n"
             "%3 = pad %0 pad=[0,0,2,1] mode=reflect value=0\n"
             "%4 = const [3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5] : f32[2,6]\n"
             "%5 = pad %0 pad=[1,0,0,2] mode=replicate value=0\n"
             "%6 = const [1, 2, 3, 3, 3, 1, 2, 3, 3, 3, 4, 5, 6, 6, 6] : f32[3,5]\n"
             "%7 = pad %0 pad=[0,0,1,1] mode=circular value=0\n"
             "%8 = const [3, 1, 2, 3, 1, 6, 4, 5, 6, 4] : f32[2,5]\nreturn %1, %2, %3, %4, %5, %6, "
             "%7, %8\n");
    SAME(X23
         "%1 = pad %0 pad=[0,0,-1,-1] mode=constant value=9\n%2 = const [2, 5] : f32[2,1]\nreturn "
         "%1, %2\n");
    FAILS(X23 "%1 = pad %0 pad=[0,0,3,0] mode=reflect value=0\nreturn %1\n",
          "by 3 and 0 at axis 1 of extent 3");
}

static void test_factories(void)
{
    SAME("%0 = full shape=[2,2] value=2.5 dtype=f32\n%1 = const [2.5, 2.5, 2.5, 2.5] : f32[2,2]\n"
         "%2 = full shape=[] value=7 dtype=bool\n%3 = const true : bool[]\n"
         "%4 = arange start=5 step=-2 count=3 dtype=i32\n%5 = const [5, 3, 1] : i32[3]\n"
         "%6 = eye rows=2 columns=3 dtype=i8\n%7 = const [1, 0, 0, 0, 1, 0] : i8[2,3]\n"
         "return %0, %1, %2, %3, %4, %5, %6, %7\n");
    SAME("%0 = linspace start=0 end=1 steps=5 dtype=f32\n%1 = const [0, 0.25, 0.5, 0.75, 1] : "
         "f32[5]\n"
         "%2 = linspace start=3 end=9 steps=1 dtype=f32\n%3 = const [3] : f32[1]\n"
         "%4 = linspace start=0 end=10 steps=4 dtype=i32\n%5 = const [0, 3, 6, 10] : i32[4]\n"
         "return %0, %1, %2, %3, %4, %5\n");
    FAILS("%0 = full shape=[99999999999] value=1 dtype=f32\nreturn %0\n",
          "'full' of shape [99999999999]");
}

int main(void)
{
    test_walk();
    test_shapes();
    test_parts();
    test_joins();
    test_repeats();
    test_diagonals();
    test_pads();
    test_factories();
    return check_done();
}
