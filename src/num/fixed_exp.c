/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_exp.c -- see fixed_exp.h. */
#include "fixed_exp.h"

/* e^a, f_0, for a in [-1/4, 0): a series around -1/8. */
static int64_t exp_near(int64_t a, int bits)
{
    int64_t at_eighth = ti_fixed_constant(1895147668, bits), third = ti_fixed_constant(715827883, bits);
    int64_t x = ti_fixed_wrapped(a + (INT64_C(1) << (bits - 4)), bits), x2 = ti_fixed_high(x, x, bits),
            x3 = ti_fixed_high(x2, x, bits), x4 = ti_fixed_high(x2, x2, bits);
    int64_t rest = ti_fixed_divided(ti_fixed_high(ti_fixed_divided(x4, 2) + x3, third, bits) + x2, 1);
    int64_t sum = at_eighth + ti_fixed_high(at_eighth, ti_fixed_wrapped(x + rest, bits), bits);
    return bits == 16 ? ti_fixed_saturated(sum, bits) : ti_fixed_wrapped(sum, bits);
}

int64_t ti_fixed_exp(int64_t a, int whole, int bits)
{
    static const int32_t part[] = {1672461947, 1302514674, 790015084, 290630308,
                                   39332535,   720401,     242};
    int fraction = bits - 1 - whole;
    int64_t quarter = INT64_C(1) << (fraction - 2);
    if (a == 0)
        return ti_fixed_most(bits);
    if (whole > 5 && a < -(INT64_C(32) << fraction))
        return 0;
    int64_t rest = (a & (quarter - 1)) - quarter, left = rest - a;
    int64_t r = exp_near(ti_fixed_saturated(rest * (INT64_C(1) << whole), bits), bits);
    for (int k = 0; k < (int)TC_COUNT(part); k++)
        if (whole > k - 2 && left & INT64_C(1) << (fraction + k - 2))
            r = ti_fixed_high(r, ti_fixed_constant(part[k], bits), bits);
    return r;
}
