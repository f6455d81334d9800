/* SPDX-License-Identifier: Apache-2.0 */
/* exp_i16.c -- e^x, shares of a sum and tanh in i32, for results of 16 bits.
 *
 * TABLE of i16 has 513 entries of 16 bits and gives 7 bits more.  Two of them, the second with what
 * rounding left over in the first, give the knots of a curve to 30 bits; between the knots TABLE
 * goes straight, or a slope and a bend from two more are multiplied on.  Relative errors are below
 * 2^-17. */
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

bool ti_lower_fine(const tc_build *lw)
{
    return ti_lower_has(lw, TC_FEATURE_INT16) && lw->lower->target->machine->can.wide_tables;
}

static tc_val shift_left(tc_build *lw, tc_val a, int n)
{
    tc_val by = a ? ti_b_single(lw, ti_b_dtype(lw, a), ti_b_type(lw, a)->rank, n) : a;
    return n ? ti_b_tosa_logical_left_shift(lw, a, by) : a;
}
/* a * 2^-n, to the nearest, as `to`. */
static tc_val down(tc_build *lw, tc_val a, int n, tc_dtype to)
{
    return ti_put_rescale(lw, a, ldexp(1, -n), 0, 0, to);
}

void ti_put_halves(tc_build *lw, tc_val x, tc_val *high, tc_val *low)
{
    *high = down(lw, x, 15, TC_i16);
    tc_val wide = shift_left(lw, ti_put_widened(lw, *high, 0), 15);
    *low = down(lw, ti_b_tosa_sub(lw, x, wide), 0, TC_i16);
}

/* f at the knots of a TABLE, in steps of 1 / one: code c is at c / per_unit.  The result is i32 in
 * steps of 2^-14 / one: the first table has 7 bits below its steps, the second 15 + 7. */
static tc_val two_tables(tc_build *lw, tc_val code, double (*f)(double), double per_unit,
                         double one)
{
    double high[513], low[513];
    for (int i = 0; i < 513; i++) {
        double v = f((i * 128 - 32768) / per_unit) * one;
        high[i] = fmin(32767, fmax(-32768, rint(v)));
        low[i] = rint((v - high[i]) * 0x1p15);
    }
    tc_val rest = down(lw, ti_put_table(lw, code, TC_i16, low, 513), 8, TC_i32);
    return ti_b_tosa_add(lw, shift_left(lw, ti_put_table(lw, code, TC_i16, high, 513), 7), rest);
}

/* ---- e^-x ---- */

static double half_power(double x)
{
    return ti_exp2(-x);
}

/* 2^-y = 2^-n 2^-f with n the nearest integer: f is what a shift to the left leaves of y. */
static tc_val fine_exp(tc_build *lw, tc_val x, double scale)
{
    const double nothing = 21.7, limit = floor(nothing / scale); /* 31 halvings leave 0 */
    if (!x)
        return x;
    if (limit < 0x1p31 - 1)
        x = ti_b_tosa_minimum(lw, x, ti_b_like(lw, x, TC_i32, limit));
    tc_val y = ti_put_rescale(lw, x, scale / ti_log(2) * 0x1p24, 0, 0, TC_i32);
    tc_val n = ti_b_tosa_arithmetic_right_shift(lw, y, ti_b_like(lw, y, TC_i32, 24), true);
    tc_val code = down(lw, shift_left(lw, y, 8), 16, TC_i16);
    return ti_b_tosa_arithmetic_right_shift(lw, two_tables(lw, code, half_power, 65536, 0x1p14), n,
                                            true);
}

/* ---- shares ---- */

/* Sum over the last axis of n values up to 2^28, in steps of 2^-*bits: halves separately, because
 * both sums fit i32 for any n. */
static tc_val sum_of(tc_build *lw, tc_val e, int64_t n, int *bits)
{
    int last = e ? ti_b_type(lw, e)->rank - 1 : 0;
    *bits = 28;
    if (n < 8)
        return ti_b_tosa_reduce_sum(lw, e, last);
    int up = 14;
    while ((double)n * ldexp(1, 14 + up) > 0x1p30 && up > 0)
        up--;
    *bits = 14 + up;
    tc_val high = down(lw, e, 14, TC_i32), low = ti_b_tosa_sub(lw, e, shift_left(lw, high, 14));
    high = ti_b_tosa_reduce_sum(lw, high, last);
    low = ti_b_tosa_reduce_sum(lw, low, last);
    low = down(lw, low, 14 - up, TC_i32);
    return ti_b_tosa_add(lw, shift_left(lw, high, up), low);
}

tc_val ti_put_fine_sum(tc_build *lw, tc_val x, double scale, int *bits)
{
    *bits = 0;
    const tc_type *t = x ? ti_b_type(lw, x) : NULL;
    return x ? sum_of(lw, fine_exp(lw, x, scale), ti_lower_longest(lw, t->dim[t->rank - 1]),
                        bits) : x;
}

tc_val ti_put_fine_inverse(tc_build *lw, const tc_inverse *r)
{
    const double one = TC_FINE_ONE;
    tc_val rest = ti_b_tosa_mul_shift(lw, r->mantissa, r->inverse, 15);
    rest = ti_b_tosa_sub(lw, ti_b_like(lw, rest, TC_i32, 2 * one), rest);
    return ti_b_tosa_mul_shift(lw, r->inverse, rest, 15);
}

/* e^-x over its sum: the largest e is 2^28, so that the sum is 1 or more and its reciprocal 1 or
 * less; of a row that is nothing but far away, 1 too. */
tc_val ti_put_fine_shares(tc_build *lw, tc_val x, double scale, double *unit)
{
    if (!x)
        return x;
    int bits;
    const tc_type *t = ti_b_type(lw, x);
    tc_val e = fine_exp(lw, x, scale);
    tc_val sum = sum_of(lw, e, ti_lower_longest(lw, t->dim[t->rank - 1]), &bits);
    sum = ti_b_tosa_maximum(lw, sum, ti_b_like(lw, sum, TC_i32, ldexp(1, bits)));
    tc_inverse r = ti_put_inverse(lw, sum);
    tc_val fine = ti_put_fine_inverse(lw, &r);
    tc_val less = ti_b_tosa_sub(lw, ti_b_like(lw, r.zeros, TC_i32, 31 - bits), r.zeros);
    fine = ti_b_tosa_arithmetic_right_shift(lw, fine, less, true);
    *unit = 0x1p15 / TC_FINE_ONE * TC_INVERSE_UNIT * 0x1p31;
    return ti_b_tosa_mul_shift(lw, e, fine, 28);
}

/* ---- tanh ---- */

/* Of the parabola through three points of tanh, h * cos(pi / 6) round x and at x: value, slope and
 * bend. */
static const double reach = 1.0 / 64 * 0.8660254037844386;

static double value_at(double x)
{
    return ti_tanh(x);
}
static double rise_at(double x)
{
    return (ti_tanh(x + reach) - ti_tanh(x - reach)) / (2 * reach);
}
static double bend_at(double x)
{
    return (ti_tanh(x + reach) + ti_tanh(x - reach) - 2 * ti_tanh(x)) / (2 * reach * reach);
}

/* 512 parabolas from -8 to 8. */
tc_val ti_put_fine_tanh(tc_build *lw, tc_val x, double unit)
{
    const double limit = floor(7.98 / unit);
    double rise[513], bend[513];
    if (!x)
        return x;
    if (limit < 0x1p31 - 1) {
        x = ti_b_tosa_minimum(lw, x, ti_b_like(lw, x, TC_i32, limit));
        x = ti_b_tosa_maximum(lw, x, ti_b_like(lw, x, TC_i32, -limit));
    }
    x = ti_put_rescale(lw, x, unit * 0x1p26, 0, 0, TC_i32);
    for (int i = 0; i < 513; i++) {
        rise[i] = rint(rise_at((i - 256) / 32.0) * 0x1p14);
        bend[i] = rint(bend_at((i - 256) / 32.0) * 0x1p15);
    }
    tc_val knot = down(lw, x, 21, TC_i16), code = shift_left(lw, knot, 7);
    tc_val r = ti_b_tosa_sub(
        lw, x, ti_put_rescale(lw, knot, 0x1p21, 0, 0, TC_i32));            /* 2^26 is 1 */
    tc_val f = two_tables(lw, code, value_at, 4096, 0x1p15);               /* 2^29 is 1 */
    tc_val more = ti_b_tosa_mul_shift(lw, r, ti_put_table(lw, code, TC_i16, bend, 513), 27);
    more = ti_b_tosa_add(lw, more, ti_put_table(lw, code, TC_i16, rise, 513));
    return ti_b_tosa_add(lw, f, ti_b_tosa_mul_shift(lw, r, more, 18));
}
