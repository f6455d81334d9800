/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_scalar.c -- see tflite_scalar.h.
 *
 * Numbers of 16 or 32 bits; f_k is one with k integer bits.  A product is the rounded upper half
 * of the double one, halves go up; what is divided by a power of two is rounded half away from
 * zero. */
#include "tflite_scalar.h"

#include <math.h>

#include "../../num/fixed.h"

static int64_t most(int bits) { return (INT64_C(1) << (bits - 1)) - 1; }

static int64_t saturated(int64_t v, int bits)
{
    return ti_max_i64(-most(bits) - 1, ti_min_i64(v, most(bits)));
}

static int64_t wrapped(int64_t v, int bits)
{
    return bits == 16 ? (int16_t)(uint16_t)v : (int32_t)(uint32_t)v;
}

static int64_t high(int64_t a, int64_t b, int bits)
{
    if (a == b && a == -most(bits) - 1)
        return most(bits);
    return ti_asr(a * b + (INT64_C(1) << (bits - 2)), bits - 1);
}

static int64_t divided(int64_t v, int by)
{
    int64_t half = INT64_C(1) << (by - 1);
    return v >= 0 ? (v + half) >> by : -((-v + half) >> by);
}

/* A constant of 32 bits as one of fewer. */
static int64_t constant(int32_t v, int bits) { return bits == 32 ? v : divided(v, 32 - bits); }

/* e^a, f_0, for a in [-1/4, 0): a series around -1/8. */
static int64_t exp_near(int64_t a, int bits)
{
    int64_t at_eighth = constant(1895147668, bits), third = constant(715827883, bits);
    int64_t x = wrapped(a + (INT64_C(1) << (bits - 4)), bits), x2 = high(x, x, bits),
            x3 = high(x2, x, bits), x4 = high(x2, x2, bits);
    int64_t rest = divided(high(divided(x4, 2) + x3, third, bits) + x2, 1);
    int64_t sum = at_eighth + high(at_eighth, wrapped(x + rest, bits), bits);
    return bits == 16 ? saturated(sum, bits) : wrapped(sum, bits);
}

int64_t ti_tfl_exp_below(int64_t a, int whole, int bits)
{
    static const int32_t part[] = {1672461947, 1302514674, 790015084, 290630308,
                                   39332535,   720401,     242};
    int fraction = bits - 1 - whole;
    int64_t quarter = INT64_C(1) << (fraction - 2);
    if (a == 0)
        return most(bits);
    if (whole > 5 && a < -(INT64_C(32) << fraction))
        return 0;
    int64_t rest = (a & (quarter - 1)) - quarter, left = rest - a;
    int64_t r = exp_near(saturated(rest * (INT64_C(1) << whole), bits), bits);
    for (int k = 0; k < (int)TC_COUNT(part); k++)
        if (whole > k - 2 && left & INT64_C(1) << (fraction + k - 2))
            r = high(r, constant(part[k], bits), bits);
    return r;
}

/* 2 / (1 + a), f_2, a f_0 in [0, 1): Newton's steps on 48/17 - 32/17 (1 + a) / 2. */
static int64_t inverse(int64_t a, int bits)
{
    int64_t sum = a + most(bits), half = (sum + (sum >= 0 ? 1 : -1)) / 2,
            one = INT64_C(1) << (bits - 3);
    int64_t x = constant(1515870810, bits) + high(half, constant(-1010580540, bits), bits);
    for (int i = 0; i < 3; i++) {
        int64_t error = wrapped(one - high(half, x, bits), bits);
        x = wrapped(x + saturated(high(x, error, bits) * 4, bits), bits);
    }
    return x;
}

/* 1 / (1 + a), both all fraction. */
static int64_t one_over(int64_t a, int bits) { return saturated(inverse(a, bits) * 2, bits); }

int16_t ti_tfl_logistic16(int16_t v)
{
    int64_t down = v > 0 ? -v : v; /* not past the least */
    if (v == 0)
        return 1 << 14;
    int64_t r = one_over(ti_tfl_exp_below(down, 3, 16), 16);
    return (int16_t)(v > 0 ? r : INT16_MAX - r);
}

int16_t ti_tfl_tanh16(int16_t v, int whole)
{
    int64_t down = v > 0 ? -v : v;
    if (v == 0)
        return 0;
    int64_t x = inverse(ti_tfl_exp_below(down, whole + 1, 16), 16);
    int64_t r = saturated((x - (1 << 13)) * 4, 16);
    return (int16_t)(v > 0 ? r : -r);
}

/* 65536 s(i / 24), s(x) = 1 / (1 + e^-x), raised by half of what a straight line misses in the
 * middle of a step: s''(x) / (16 * 24^2). */
static uint32_t sigmoid_at(uint32_t i)
{
    double s = 1 / (1 + exp(-(double)i / 24)), bend = s * (1 - s) * (1 - 2 * s);
    return i >= 255 ? 65535 : (uint32_t)floor(65536 * (s - bend / (16 * 24 * 24)) + 0.5);
}

int64_t ti_tfl_curve16(int64_t code, tc_tfl_factor f, bool tanh)
{
    int64_t v = code * f.fraction;
    if (f.shift > 0)
        v = ti_asr(v + (INT64_C(1) << (f.shift - 1)), f.shift);
    int bits = tanh ? 8 : 9;
    uint64_t size = (uint64_t)(v < 0 ? -v : v), at = size >> bits;
    int64_t part = (int64_t)(size & ((UINT64_C(1) << bits) - 1)), r;
    if (at >= 255)
        r = tanh ? INT64_C(0xFFFF) << 8 : INT64_C(0x7FFF) << 10;
    else {
        int64_t from = sigmoid_at((uint32_t)at), to = sigmoid_at((uint32_t)at + 1);
        r = (from << bits) + part * (to - from);
    }
    if (tanh)
        return ti_asr(v >= 0 ? r - (1 << 23) + 128 : (1 << 23) - r + 127, 8);
    return ti_asr(v >= 0 ? r + 512 : (1 << 25) - r + 511, 10);
}

static int zeros_of(uint32_t v)
{
    int n = 0;
    while (n < 32 && !(v >> (31 - n) & 1u))
        n++;
    return n;
}

tc_tfl_quotient ti_tfl_reciprocal(int32_t v)
{
    int zeros = zeros_of((uint32_t)v);
    uint32_t up = zeros < 32 ? (uint32_t)v << zeros : 0;
    return (tc_tfl_quotient){
        (int32_t)one_over((int32_t)(up - (UINT32_C(1) << 31)), 32), 31 - zeros};
}

int ti_tfl_sign_bits(int32_t v)
{
    return v >= 0 ? zeros_of((uint32_t)v) - 1 : zeros_of(~(uint32_t)v) - 1;
}

int32_t ti_tfl_divided(int32_t a, int32_t b, tc_tfl_factor f)
{
    a = b < 0 ? -a : a;
    tc_tfl_quotient inverse_b = ti_tfl_reciprocal(b < 0 ? -b : b);
    int room = ti_tfl_sign_bits(a), down = inverse_b.shift + room - f.shift;
    int64_t x = high((int64_t)a * (INT64_C(1) << room), inverse_b.fraction, 32);
    x = high(x, f.fraction, 32);
    return down > 31 ? 0 : down > 0 ? (int32_t)divided(x, down) : (int32_t)x;
}
