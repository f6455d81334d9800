/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_softmax.c -- softmax of codes and its logarithm, as the runtime computes them in
 * fixed point.
 *
 * int8: x - max has 256 values, whose powers of e (31 bits of fraction) are four tables of bytes;
 * the sum's inverse is found by three of Newton's steps.  int16: two tables of 513. */
#include <math.h>

#include "../../base/real.h"
#include "../../num/fixed_exp.h"
#include "../../num/load.h"
#include "../softmax_codes.h"
#include "tflite_scalar.h"

/* round(a b / 2^31) */
static int32_t high(int32_t a, int32_t b)
{
    if (a == b && a == INT32_MIN)
        return INT32_MAX;
    return (int32_t)ti_asr((int64_t)a * b + (INT64_C(1) << 30), 31);
}

/* 0 to -255 codes with 26 bits of fraction; 1: of those too far below. */
static void differences(double scale, double beta, int32_t *out)
{
    double f = fmin(beta * scale * (1 << 26), (double)INT32_MAX);
    tc_tfl_factor by = ti_tfl_factor_of(f);
    double radius = by.shift < 63 ? floor(31.0 * (1 << 26) / ldexp(1, by.shift)) : 0;
    for (int d = 0; d < 256; d++)
        out[d] = -d >= -radius ? high((int32_t)((uint32_t)-d << (by.shift & 31)), by.fraction) : 1;
}

/* Powers of e of 0 to -255 codes; 0 for those too far below. */
static void powers(double scale, double beta, int32_t *out)
{
    differences(scale, beta, out);
    for (int d = 0; d < 256; d++)
        out[d] = out[d] <= 0 ? (int32_t)ti_fixed_exp(out[d], 5, 32) : 0;
}

/* A 32-bit value for each of 256 codes, of which the last means 0. */
static tc_val wide_table(tc_build *m, tc_val code, const int32_t *v)
{
    tc_val sum = TC_NONE;
    for (int byte = 0; byte < 4; byte++) {
        int8_t table[256];
        for (int k = 0; k < 256; k++) /* code k - 128, which is -(255 - k) below the largest */
            table[k] = (int8_t)((int)((uint32_t)v[255 - k] >> (8 * byte) & 255) - 128);
        tc_val part = ti_tfl_table(m, code, table);
        part = ti_tfl_widen(m, part, -128, 8 * byte);
        sum = sum ? ti_tfl_two(m, TC_OP_tosa_add, sum, part) : part;
    }
    return sum;
}

/* 1 / h with 29 bits of fraction, h in [1/2, 1) with 31: Newton's steps on 48/17 - 32/17 h.  Of all
 * 2^30 values h only the least two give 2, none gives more. */
static tc_val newton(tc_build *m, tc_val half)
{
    tc_val x = ti_tfl_mul(m, half, ti_tfl_i32(m, half, -1010580540), 31);
    x = ti_tfl_two(m, TC_OP_tosa_add, x, ti_tfl_i32(m, half, 1515870810));
    for (int i = 0; i < 3; i++) {
        tc_val error = ti_tfl_mul(m, half, x, 31);
        error = ti_tfl_two(m, TC_OP_tosa_sub, ti_tfl_i32(m, half, 1 << 29), error);
        tc_val more = ti_tfl_mul(m, x, error, 31);
        more = ti_tfl_shift_left(m, more, ti_tfl_i32(m, half, 2));
        x = ti_tfl_two(m, TC_OP_tosa_add, x, more);
    }
    return x;
}

/* x with one bit of fraction more, at most INT32_MAX */
static tc_val doubled(tc_build *m, tc_val x)
{
    tc_val large = ti_tfl_two(m, TC_OP_tosa_greater, x, ti_tfl_i32(m, x, (1 << 30) - 1));
    tc_val twice = ti_tfl_shift_left(m, x, ti_tfl_i32(m, x, 1));
    return ti_b_tosa_select(m, large, ti_tfl_i32(m, x, INT32_MAX), twice);
}

/* 1 / (1 + a), a in [0, 1) with 31 bits of fraction */
static tc_val inverse(tc_build *m, tc_val a)
{
    tc_val half = ti_tfl_shift_right(m, a, ti_tfl_i32(m, a, 1), false);
    half = ti_tfl_two(m, TC_OP_tosa_add, half, ti_tfl_i32(m, a, 1 << 30));
    return doubled(m, newton(m, half));
}

static tc_val reduced(tc_build *m, tc_op op, tc_val x)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t last = ti_b_type(m, x)->rank - 1;
    const void *a = op == TC_OP_tosa_reduce_sum
                        ? (const void *)ti_b_attr(m, tosa_axis, last)
                        : ti_b_attr(m, tosa_axis_nan, last, TC_nan_mode_propagate);
    return ti_b_op(m, op, a, &x, 1);
}

/* x - max over the last axis, i32 */
static tc_val below_largest(tc_build *m, tc_val x)
{
    tc_val most = reduced(m, TC_OP_tosa_reduce_max, x);
    x = ti_tfl_widen(m, x, 0, 0);
    most = ti_tfl_widen(m, most, 0, 0);
    return ti_tfl_two(m, TC_OP_tosa_sub, x, most);
}

static const tc_tfl_factor same = {1 << 30, 1};

/* Codes of int8 below the largest, 127; their powers of e, and the sum of these, 19 bits. */
static tc_val powers8(tc_build *m, tc_val x, const int32_t *power, tc_val *e, tc_val *sum)
{
    tc_val code = below_largest(m, x);
    code = ti_tfl_rescale(m, code, &same, 1, 0, 127, TC_i8);
    *e = wide_table(m, code, power);
    *sum = ti_tfl_shift_right(m, *e, ti_tfl_i32(m, *e, 12), true);
    *sum = reduced(m, TC_OP_tosa_reduce_sum, *sum);
    return code;
}

/* Whether e x / 2^30 may replace e doubled(x) / 2^31.  They are equal except for x = 2, where they
 * are e and, for e above 1/2, one less; after a shift by `down` or more that matters only where e
 * is half of what is shifted out. */
static bool plain_shares(const int32_t *power, int down)
{
    for (int d = 0; d < 256; d++)
        if (power[d] > 1 << 30 && power[d] % (1 << (down - 1)) == 0)
            return false;
    return true;
}

/* The sum, at least 2^19, is normalized to [1/2, 1): the runtime's use of its bits after the
 * leading one.  Results have 8 or 16 bits. */
tc_val ti_tfl_softmax8(tc_build *m, tc_val x, const int32_t *power, tc_dtype to)
{
    tc_val e, sum;
    powers8(m, x, power, &e, &sum);
    tc_val zeros = ti_b_tosa_clz(m, sum);
    tc_val up = ti_tfl_two(m, TC_OP_tosa_sub, zeros, ti_tfl_i32(m, sum, 1));
    tc_val by = newton(m, ti_tfl_shift_left(m, sum, up));
    int least = to == TC_i8 ? 23 : 15;
    bool plain = plain_shares(power, least);
    tc_val share = ti_tfl_mul(m, e, plain ? by : doubled(m, by), plain ? 30 : 31);
    tc_val down = ti_tfl_two(m, TC_OP_tosa_sub, ti_tfl_i32(m, sum, 12 + least), zeros);
    share = ti_tfl_shift_right(m, share, down, true);
    if (to == TC_i8)
        return ti_tfl_rescale(m, share, &same, 1, 0, -128, TC_i8);
    share = ti_tfl_two(m, TC_OP_tosa_sub, share, ti_tfl_i32(m, share, 1 << 15));
    return ti_tfl_rescale(m, share, &same, 1, 0, 0, TC_i16);
}

static tc_val softmax8(tc_tfl_node *n, tc_val x, double scale, double beta, tc_dtype to)
{
    int32_t power[256];
    powers(scale, beta, power);
    return ti_tfl_softmax8(&n->m, x, power, to);
}

/* The runtime's table of 513 entries, in double, and its interpolation. */
static tc_val table513(tc_build *m, tc_val x, double step_in, double zero, double (*of)(double))
{
    int64_t count = 513;
    tc_tensor t = ti_b_tensor(m, TC_i16, 1, &count);
    double out = 2.0 / 65535, from = step_in * (-32768 - zero), to = step_in * (32767 - zero),
           step = (to - from) / 512, by = 65536 / (out * 32767 - out * -32768);
    for (int i = 0; i < 512; i++) {
        double here = round(of(from + i * step) * by), next = of(from + (i + 1) * step) * by,
               mid = round(of(from + i * step + step / 2) * by);
        double bias = round((round((next + here) / 2) - mid) / 2);
        ti_store_i64(t, i, (int64_t)fmin(fmax(here - bias, -32768), 32767));
    }
    ti_store_i64(t, 512, (int64_t)fmin(fmax(round(of(to) * by), -32768), 32767));
    tc_val y = ti_b_tosa_table(m, x, ti_b_const(m, t, NULL));
    return ti_tfl_rescale(m, y, &(tc_tfl_factor){1 << 24, 0}, 1, 0, 0, TC_i16);
}

static double one_over(double v) { return 1 / (1 + v); }

static tc_val softmax16(tc_tfl_node *n, tc_val x, double scale, double beta)
{
    tc_build *m = &n->m;
    tc_tfl_factor f = ti_tfl_factor_of((double)((float)scale * (float)beta) / (10.0 / 65535.0));
    tc_val d = below_largest(m, x);
    d = ti_tfl_rescale(m, d, &f, 1, 0, 0, TC_i32);
    d = ti_tfl_two(m, TC_OP_tosa_add, d, ti_tfl_i32(m, d, 32767));
    d = ti_tfl_rescale(m, d, &same, 1, 0, 0, TC_i16);
    tc_val e = table513(m, d, 10.0 / 65535, 32767, ti_exp);
    e = ti_tfl_widen(m, e, 0, 0);
    tc_val sum = reduced(m, TC_OP_tosa_reduce_sum, e);
    tc_val zeros = ti_b_tosa_clz(m, sum);
    tc_val up = ti_tfl_two(m, TC_OP_tosa_sub, zeros, ti_tfl_i32(m, sum, 1));
    tc_val part = ti_tfl_shift_left(m, sum, up);
    part = ti_tfl_shift_right(m, part, ti_tfl_i32(m, sum, 14), true);
    part = ti_tfl_two(m, TC_OP_tosa_sub, part, ti_tfl_i32(m, sum, (1 << 15) + (1 << 16)));
    part = ti_tfl_rescale(m, part, &same, 1, 0, 0, TC_i16);
    tc_val by = table513(m, part, 1.0 / 65535, -32768, one_over);
    by = ti_tfl_widen(m, by, 0, 0);
    tc_val y = ti_tfl_mul(m, e, by, 0);
    tc_val down = ti_tfl_two(m, TC_OP_tosa_sub, ti_tfl_i32(m, sum, 31), zeros);
    y = ti_tfl_shift_right(m, y, down, true);
    y = ti_tfl_rescale(m, y, &same, 1, 0, 0, TC_i16);
    return ti_tfl_clamp(m, y, (tc_tfl_range){0, 32767});
}

void ti_tfl_codes_softmax(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0), *y = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0);
    double scale = ti_tfl_scale(n, t), beta = ti_tfl_float(n, 0, 0);
    if (m->status != TC_OK || !y)
        return;
    bool to_wide = t->code == TFL_INT8 && y->code == TFL_INT16;
    if ((y->dtype != t->dtype && !to_wide) || ti_b_type(m, x)->rank < 1) {
        ti_b_unsupported(m, "SOFTMAX from %s to %s", ti_tfl_type_name(t->code),
                         ti_tfl_type_name(y->code));
        return;
    }
    ti_tfl_bind(n, 0, t->dtype == TC_i8 ? softmax8(n, x, scale, beta, y->dtype)
                                        : softmax16(n, x, scale, beta));
}

/* ---- the logarithm ---- */

static tc_val plus(tc_build *m, tc_val a, tc_val b)
{
    return ti_tfl_two(m, TC_OP_tosa_add, a, b);
}

/* x times a constant with 31 bits of fraction */
static tc_val times(tc_build *m, tc_val x, int32_t by)
{
    return ti_tfl_mul(m, x, ti_tfl_i32(m, x, by), 31);
}

/* (12 - zeros) +- 1/4 with 25 bits of fraction */
static tc_val exponent(tc_build *m, tc_val zeros, int sign)
{
    tc_val e = ti_tfl_less(m, ti_tfl_i32(m, zeros, 12), zeros);
    e = ti_tfl_shift_left(m, e, ti_tfl_i32(m, zeros, 25));
    return plus(m, e, ti_tfl_i32(m, zeros, sign * (1 << 23)));
}

/* log z with 26 bits of fraction, z >= 1 with 19: z = r 2^k, r around 2^(-1/4), either shifted or
 * times sqrt(2); then a quotient of polynomials in q = 2 (r - 2^(-1/4)). */
static tc_val logarithm(tc_build *m, tc_val z)
{
    const int32_t root_half = 1518500250, middle = 1805811301, log_2 = 1488522236;
    tc_val zeros = ti_b_tosa_clz(m, z), one = ti_tfl_i32(m, z, 1);
    tc_val up = ti_tfl_less(m, zeros, one), most = ti_tfl_i32(m, z, INT32_MAX);
    tc_val high_z = ti_tfl_shift_left(m, z, up);
    /* r as half of what is shifted, times sqrt(2) */
    tc_val a = times(m, high_z, root_half);
    tc_val past = ti_tfl_two(m, TC_OP_tosa_greater, a, ti_tfl_i32(m, z, (1 << 30) - 1));
    a = ti_tfl_shift_left(m, a, one);
    a = ti_b_tosa_select(m, past, most, a);
    tc_val a_exponent = exponent(m, zeros, 1);
    /* r unchanged, if z sqrt(1/2) has no additional leading zero */
    tc_val b_zeros = ti_b_tosa_clz(m, times(m, z, root_half));
    past = ti_tfl_two(m, TC_OP_tosa_greater, b_zeros, zeros);
    tc_val b = ti_b_tosa_select(m, past, most, high_z);
    tc_val b_exponent = exponent(m, ti_tfl_less(m, b_zeros, one), -1);
    tc_val r = ti_tfl_two(m, TC_OP_tosa_minimum, a, b);
    tc_val k = ti_tfl_two(m, TC_OP_tosa_maximum, a_exponent, b_exponent);
    tc_val p = ti_tfl_shift_right(m, r, one, false);
    p = plus(m, p, ti_tfl_i32(m, z, middle / 2 + 1));
    tc_val q = ti_tfl_less(m, r, ti_tfl_i32(m, z, middle));
    q = plus(m, q, q);
    tc_val square = ti_tfl_mul(m, q, q, 31);
    tc_val top = ti_tfl_mul(m, q, r, 31), cube = ti_tfl_mul(m, q, square, 31);
    top = plus(m, top, times(m, cube, 117049297));
    tc_val below = plus(m, ti_tfl_i32(m, z, 1057819769), q);
    below = plus(m, below, times(m, square, 127690142));
    below = ti_tfl_mul(m, p, below, 31);
    below = plus(m, below, times(m, q, 638450708));
    below = inverse(m, below);
    /* top / 64, halves away from zero */
    tc_val size = ti_b_tosa_abs(m, top);
    size = ti_tfl_shift_right(m, size, ti_tfl_i32(m, z, 6), true);
    tc_val minus = ti_tfl_less(m, ti_tfl_i32(m, z, 0), size);
    past = ti_tfl_two(m, TC_OP_tosa_greater, top, ti_tfl_i32(m, z, -1));
    top = ti_b_tosa_select(m, past, size, minus);
    top = ti_tfl_mul(m, top, below, 31);
    tc_val log = plus(m, times(m, k, log_2), top);
    return ti_tfl_shift_left(m, log, one);
}

/* x - max - log of the sum of powers, in steps of 1/16; -16 and less is the least code. */
void ti_tfl_codes_log_softmax(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0), *y = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0), e, sum;
    double scale = ti_tfl_scale(n, t), step = ti_tfl_scale(n, y);
    if (m->status != TC_OK || !t || !y)
        return;
    if (t->dtype != TC_i8 || y->code != t->code || step * 16 != 1 || ti_tfl_zero(y) != 127 ||
        ti_b_type(m, x)->rank < 1) {
        ti_b_unsupported(m, "LOG_SOFTMAX from %s to %s other than in steps of 1/16 up to 0",
                         ti_tfl_type_name(t->code), ti_tfl_type_name(y->code));
        return;
    }
    int32_t down[256], power[256];
    powers(scale, 1, power);
    differences(scale, 1, down);
    for (int d = 0; d < 256; d++)
        down[d] = down[d] > 0 || down[d] < -(1 << 30) ? 1 << 30 : -down[d];
    tc_val code = powers8(m, x, power, &e, &sum), far = wide_table(m, code, down);
    far = plus(m, far, logarithm(m, sum));
    far = ti_tfl_shift_right(m, far, ti_tfl_i32(m, far, 22), true);
    far = ti_tfl_less(m, ti_tfl_i32(m, far, 127), far);
    ti_tfl_bind(n, 0, ti_tfl_rescale(m, far, &same, 1, 0, 0, TC_i8));
}
