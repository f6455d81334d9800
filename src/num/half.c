/* SPDX-License-Identifier: Apache-2.0 */
/* half.c -- narrow floats.
 *
 * Every format is a sign, `exp` bits of exponent and `man` bits of significand.  Rounding works on
 * the integer significand of the f64 (which holds every f32 exactly), so it happens once. */
#include "half.h"

typedef struct format {
    int exp, man;
    uint32_t most;     /* code of the largest finite value */
    uint32_t overflow; /* code past it */
    uint32_t nan;
} format;

static const format f16 = {5, 10, 0x7bff, 0x7c00, 0x7e00};
static const format bf16 = {8, 7, 0x7f7f, 0x7f80, 0x7fc0};
static const format e4m3 = {4, 3, 0x7e, 0x7f, 0x7f};
static const format e5m2 = {5, 2, 0x7b, 0x7c, 0x7f};
/* Every code is finite: past the range, and for NaN, the largest. */
static const format e2m3 = {2, 3, 0x1f, 0x1f, 0x1f};
static const format e3m2 = {3, 2, 0x1f, 0x1f, 0x1f};
static const format e2m1 = {2, 1, 0x07, 0x07, 0x07};

/* The code of the nearest value, ties to even. */
static uint32_t encode(format f, double value)
{
    uint64_t bits = ti_f64_bits(value), mantissa = bits & ((UINT64_C(1) << 52) - 1);
    uint32_t sign = (uint32_t)(bits >> 63) << (f.exp + f.man);
    int biased = (int)(bits >> 52 & 0x7ff), bias = (1 << (f.exp - 1)) - 1;
    if (biased == 0x7ff)
        return sign | (mantissa ? f.nan : f.overflow);

    /* The exponent of the result; below the normal ones significands lose bits. */
    int e = biased - 1023 + bias;
    int drop = 52 - f.man + (e < 1 ? 1 - e : 0);
    if (drop > 54 || biased == 0)
        return sign;
    uint64_t whole = mantissa | UINT64_C(1) << 52;
    uint64_t kept = whole >> drop, rest = whole & ((UINT64_C(1) << drop) - 1);
    uint64_t half = UINT64_C(1) << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));

    /* A normal `kept` carries its leading one, which counts one exponent; so does a carry. */
    uint64_t code = ((uint64_t)(e < 1 ? 0 : e - 1) << f.man) + kept;
    return sign | (code > f.most ? f.overflow : (uint32_t)code);
}

/* A code as f32; codes past the largest value are an infinity and NaNs. */
static float decode(format f, uint32_t code)
{
    uint32_t size = code & ((1u << (f.exp + f.man)) - 1), man = code & ((1u << f.man) - 1);
    uint32_t sign = (code & 1u << (f.exp + f.man)) ? 1u << 31 : 0;
    uint32_t e = size >> f.man, bias = (1u << (f.exp - 1)) - 1;
    if (size > f.most)
        return ti_f32_of(sign | 0x7f800000u | man << (23 - f.man));
    if (e == 0) { /* man * 2^(1 - bias - f.man): both factors and the product are exact */
        float least = ti_f32_of((127 + 1 - bias - (uint32_t)f.man) << 23);
        return sign ? -(float)man * least : (float)man * least;
    }
    return ti_f32_of(sign | (e + 127 - bias) << 23 | man << (23 - f.man));
}

/* Only the code of all ones of e4m3 is special: NaN. */
float ti_e4m3_to_f32(uint8_t bits)
{
    if ((bits & 0x7f) == 0x7f)
        return ti_f32_of((uint32_t)bits >> 7 << 31 | 0x7fc00000u);
    return decode(e4m3, bits);
}
float ti_e5m2_to_f32(uint8_t bits) { return decode(e5m2, bits); }
float ti_e2m3_to_f32(uint8_t bits) { return decode(e2m3, bits); }
float ti_e3m2_to_f32(uint8_t bits) { return decode(e3m2, bits); }
float ti_e2m1_to_f32(uint8_t bits) { return decode(e2m1, bits); }

uint8_t ti_f32_to_e4m3(float value) { return (uint8_t)encode(e4m3, (double)value); }
uint8_t ti_f32_to_e5m2(float value) { return (uint8_t)encode(e5m2, (double)value); }
uint8_t ti_f32_to_e2m3(float value) { return (uint8_t)encode(e2m3, (double)value); }
uint8_t ti_f32_to_e3m2(float value) { return (uint8_t)encode(e3m2, (double)value); }
uint8_t ti_f32_to_e2m1(float value) { return (uint8_t)encode(e2m1, (double)value); }
uint16_t ti_f64_to_f16(double value) { return (uint16_t)encode(f16, value); }
uint16_t ti_f64_to_bf16(double value) { return (uint16_t)encode(bf16, value); }

uint8_t ti_f32_to_e4m3_sat(float value)
{
    uint8_t code = ti_f32_to_e4m3(value);
    return (code & 0x7f) == 0x7f && value == value ? (uint8_t)(code - 1) : code;
}
