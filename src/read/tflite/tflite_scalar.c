/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_scalar.c -- see tflite_scalar.h, and num/fixed_exp.h for the arithmetic. */
#include "tflite_scalar.h"

#include <math.h>

#include "../../base/real.h"
#include "../../num/fixed_exp.h"

/* 2 / (1 + a), f_2, a f_0 in [0, 1): Newton's steps on 48/17 - 32/17 (1 + a) / 2. */
static int64_t inverse(int64_t a, int bits)
{
    int64_t sum = a + ti_fixed_most(bits), half = (sum + (sum >= 0 ? 1 : -1)) / 2,
            one = INT64_C(1) << (bits - 3);
    int64_t x = ti_fixed_constant(1515870810, bits) + ti_fixed_high(half, ti_fixed_constant(-1010580540, bits), bits);
    for (int i = 0; i < 3; i++) {
        int64_t error = ti_fixed_wrapped(one - ti_fixed_high(half, x, bits), bits);
        x = ti_fixed_wrapped(x + ti_fixed_saturated(ti_fixed_high(x, error, bits) * 4, bits), bits);
    }
    return x;
}

/* 1 / (1 + a), both all fraction. */
static int64_t one_over(int64_t a, int bits) { return ti_fixed_saturated(inverse(a, bits) * 2, bits); }

int16_t ti_tfl_logistic16(int16_t v)
{
    int64_t down = v > 0 ? -v : v; /* not past the least */
    if (v == 0)
        return 1 << 14;
    int64_t r = one_over(ti_fixed_exp(down, 3, 16), 16);
    return (int16_t)(v > 0 ? r : INT16_MAX - r);
}

int16_t ti_tfl_tanh16(int16_t v, int whole)
{
    int64_t down = v > 0 ? -v : v;
    if (v == 0)
        return 0;
    int64_t x = inverse(ti_fixed_exp(down, whole + 1, 16), 16);
    int64_t r = ti_fixed_saturated((x - (1 << 13)) * 4, 16);
    return (int16_t)(v > 0 ? r : -r);
}

/* 65536 s(i / 24), s(x) = 1 / (1 + e^-x), raised by half of what a straight line misses in the
 * middle of a step: s''(x) / (16 * 24^2). */
static uint32_t sigmoid_at(uint32_t i)
{
    double s = 1 / (1 + ti_exp(-(double)i / 24)), bend = s * (1 - s) * (1 - 2 * s);
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
    int64_t x = ti_fixed_high((int64_t)a * (INT64_C(1) << room), inverse_b.fraction, 32);
    x = ti_fixed_high(x, f.fraction, 32);
    return down > 31 ? 0 : down > 0 ? (int32_t)ti_fixed_divided(x, down) : (int32_t)x;
}
