/* SPDX-License-Identifier: Apache-2.0 */
/* half.h -- f16, bf16, fp8, fp6 and fp4 to and from f32: exact one way, to nearest even the other. */
#ifndef TC_HALF_H
#define TC_HALF_H

#include "type.h"

float ti_e4m3_to_f32(uint8_t bits);
float ti_e5m2_to_f32(uint8_t bits);

uint8_t ti_f32_to_e4m3(float value);     /* past the range: NaN, as OFP8 and TOSA have it */
uint8_t ti_f32_to_e4m3_sat(float value); /* past the range: the largest value, as in PyTorch */
uint8_t ti_f32_to_e5m2(float value);     /* past the range: infinity */

/* fp6 and fp4: every code is finite; past the range, and for NaN, the largest. */
float ti_e2m3_to_f32(uint8_t bits);
float ti_e3m2_to_f32(uint8_t bits);
float ti_e2m1_to_f32(uint8_t bits);
uint8_t ti_f32_to_e2m3(float value);
uint8_t ti_f32_to_e3m2(float value);
uint8_t ti_f32_to_e2m1(float value);

/* From f64, rounded once. */
uint16_t ti_f64_to_f16(double value);
uint16_t ti_f64_to_bf16(double value);

/* The two frequent types, without branches, so that loops over them become vector code. */

static inline uint32_t ti_f32_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float ti_f32_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t ti_f64_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double ti_f64_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The exponent's bias goes from 15 to 127 by a product with 2^112, exact for subnormals too. */
static inline float ti_f16_to_f32(uint16_t bits)
{
    uint32_t size = (uint32_t)(bits & 0x7fff) << 13, sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t finite = ti_f32_bits(ti_f32_of(size) * 0x1p112f);
    return ti_f32_of(sign | (size >= 0x0f800000u ? 0x7f800000u | size : finite));
}

static inline float ti_bf16_to_f32(uint16_t bits)
{
    return ti_f32_of((uint32_t)bits << 16);
}

/* To nearest even: by a carry for normal values; for the others by adding 1/2, whose last bit is
 * the least f16. */
static inline uint16_t ti_f32_to_f16(float value)
{
    uint32_t bits = ti_f32_bits(value), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    uint32_t normal = (size - (112u << 23) + 0xfffu + (size >> 13 & 1)) >> 13;
    uint32_t small = ti_f32_bits(ti_f32_of(size) + 0.5f) - 0x3f000000u;
    uint32_t large = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t code = size < 0x38800000u ? small : normal;
    return (uint16_t)(sign | (size >= 0x47800000u ? large : code));
}

static inline uint16_t ti_f32_to_bf16(float value)
{
    uint32_t bits = ti_f32_bits(value), rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return (uint16_t)(nan ? (bits >> 16 & 0x8000u) | 0x7fc0u : rounded);
}

/* The largest relative rounding error of the format: 2^-p with p binary digits.  0: not a float. */
static inline double ti_float_unit(tc_dtype t)
{
    static const double unit[TC_DTYPE_COUNT] = {
        [TC_f64] = 0x1p-53, [TC_f32] = 0x1p-24, [TC_f16] = 0x1p-11,
        [TC_bf16] = 0x1p-8, [TC_e4m3] = 0x1p-4, [TC_e5m2] = 0x1p-3, [TC_e2m3] = 0x1p-4,
        [TC_e3m2] = 0x1p-3, [TC_e2m1] = 0x1p-2};
    return unit[t];
}

#endif
