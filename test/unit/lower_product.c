/* SPDX-License-Identifier: Apache-2.0 */
/* lower_product.c -- convolutions, linear layers and matrix products as TOSA, beside the typed form. */
#include "lower_check.h"

static const char INT[] = "TOSA-1.0+INT";

static void linear(void)
{
    LOWERS(INT, 1, "graph @t(%0: i8[2,9] q(0.05:-3)) {\n"
                   "  %1 = const ? : i8[4,9] q(axis=0; 0.02:0, 0.01:0, 0.03:0, 0.02:0)\n"
                   "  %2 = const ? : i32[4] q(axis=0; 0.001:0, 0.0005:0, 0.0015:0, 0.001:0)\n"
                   "  %3 = linear %0, %1, %2 : i8[2,4] q(0.1:5)\n"
                   "  return %3\n}\n");
    REFUSES("TOSA-1.0+INT", "graph @t(%0: i8[2,9] q(0.05:-3), %1: i8[4,9] q(0.02:0)) {\n"
                            "  %2 = linear %0, %1, none : i8[2,4] q(0.1:5)\n"
                            "  return %2\n}\n", "weights are not constant");
}

static void conv(void)
{
    LOWERS(INT, 1, "graph @t(%0: i8[1,3,8,8] q(0.05:-3)) {\n"
                   "  %1 = const ? : i8[4,3,3,3] q(axis=0; 0.02:0, 0.01:0, 0.03:0, 0.02:0)\n"
                   "  %2 = conv %0, %1, none stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1 : i8[1,4,8,8] q(0.1:5)\n"
                   "  return %2\n}\n");
}

int main(void)
{
    linear();
    conv();
    return check_done();
}
