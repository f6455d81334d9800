/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.h -- the integer arithmetic that every exact kernel shares: shifts, saturation, scaling.
 *
 * The specification's apply_scale_32, apply_scale_16 and reciprocal_scale, each once, so that
 * interpreter, constant folder, fast kernels and emitted model agree bit for bit. */
#ifndef TC_FIXED_H
#define TC_FIXED_H

#include "../base/base.h"

/* Shift right, rounding toward minus infinity; C leaves v >> n open for negative v. */
static inline int64_t ti_asr(int64_t v, int n) { return v < 0 ? ~(~v >> n) : v >> n; }

/* Sums, differences, products and negatives that wrap. */
static inline int64_t ti_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t ti_wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t ti_wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline int64_t ti_wrap_neg(int64_t a)
{
    return (int64_t)(0 - (uint64_t)a);
}

static inline int64_t ti_clip(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Whether ti_scale32 is defined for these operands; TOSA calls the result unpredictable
 * otherwise. */
static inline bool ti_scale32_defined(int64_t value, int64_t multiplier, int64_t shift)
{
    if (multiplier < 0 || multiplier > INT32_MAX || shift < 2 || shift > 62)
        return false;
    int64_t half = INT64_C(1) << (shift - 1);
    return value >= -half && value < half && value >= INT32_MIN && value <= INT32_MAX;
}

/* value * multiplier / 2^shift, halves rounded up.
 *
 *   0 <= multiplier,  2 <= shift <= 62,  -2^(shift-1) <= value < 2^(shift-1)
 *
 * keep the product inside 63 bits and the result inside 32. */
static inline int32_t ti_scale32(int32_t value, int32_t multiplier, int shift)
{
    assert(ti_scale32_defined(value, multiplier, shift));
    int64_t half = INT64_C(1) << (shift - 1);
    return (int32_t)ti_asr((int64_t)value * multiplier + half, shift);
}

/* The same with the rounding of two steps, first to 31 fraction bits and away from zero, for
 * shifts past 31: DOUBLE_ROUND. */
static inline int32_t ti_scale32_double(int32_t value, int32_t multiplier, int shift)
{
    assert(ti_scale32_defined(value, multiplier, shift));
    int64_t round = INT64_C(1) << (shift - 1);
    if (shift > 31)
        round += value >= 0 ? INT64_C(1) << 30 : -(INT64_C(1) << 30);
    return (int32_t)ti_asr((int64_t)value * multiplier + round, shift);
}

/* Whether ti_scale16 is defined for these operands.  value has 48 bits; the result may still exceed
 * 32. */
static inline bool ti_scale16_defined(int64_t value, int64_t multiplier, int64_t shift)
{
    const int64_t limit = INT64_C(1) << 47;
    return multiplier >= 0 && multiplier <= INT16_MAX && shift >= 2 && shift <= 62 &&
           value >= -limit && value < limit;
}

/* The same for 48-bit values and 16-bit multipliers; the caller ensures that the result fits 32
 * bits. */
static inline int64_t ti_scale16(int64_t value, int16_t multiplier, int shift)
{
    assert(ti_scale16_defined(value, multiplier, shift));
    return ti_asr(value * multiplier + (INT64_C(1) << (shift - 1)), shift);
}

typedef struct tc_scale {
    int32_t multiplier;
    int32_t shift;
} tc_scale;

/* 1 / n as a multiplier and a shift, 1 <= n <= 2^32: with 2^(k-1) < n <= 2^k,
 * multiplier = floor((2^30 + 1) 2^k / n), at least 2^30, and shift = 30 + k. */
static inline tc_scale ti_reciprocal_scale(uint32_t n)
{
    assert(n > 0);
    int k = 0;
    while ((UINT64_C(1) << k) < n)
        k++;
    uint64_t multiplier = (((UINT64_C(1) << 30) + 1) << k) / n;
    return (tc_scale){(int32_t)multiplier, 30 + k};
}

/* TABLE with 513 entries: between entry (v + 32768) / 128 and the next, in 1/128ths of an entry.
 * The result has 23 bits. */
static inline int32_t ti_table16(const int16_t *table, int16_t v)
{
    int32_t at = (v + 32768) >> 7, rest = v & 127;
    return table[at] * 128 + (table[at + 1] - table[at]) * rest;
}

#endif
