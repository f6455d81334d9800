/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_exp.h -- powers of e in fixed point, as TensorFlow Lite's and CMSIS-NN's kernels compute
 * them.
 *
 * Values of 16 or 32 bits; f_k has k integer bits.  A product is the rounded upper half of the
 * doubled one, halves up; division by a power of two rounds half away from zero. */
#ifndef TC_FIXED_EXP_H
#define TC_FIXED_EXP_H

#include "fixed.h"

static inline int64_t ti_fixed_most(int bits) { return (INT64_C(1) << (bits - 1)) - 1; }

static inline int64_t ti_fixed_saturated(int64_t v, int bits)
{
    return ti_max_i64(-ti_fixed_most(bits) - 1, ti_min_i64(v, ti_fixed_most(bits)));
}

static inline int64_t ti_fixed_wrapped(int64_t v, int bits)
{
    return bits == 16 ? (int16_t)(uint16_t)v : (int32_t)(uint32_t)v;
}

static inline int64_t ti_fixed_high(int64_t a, int64_t b, int bits)
{
    if (a == b && a == -ti_fixed_most(bits) - 1)
        return ti_fixed_most(bits);
    return ti_asr(a * b + (INT64_C(1) << (bits - 2)), bits - 1);
}

static inline int64_t ti_fixed_divided(int64_t v, int by)
{
    int64_t half = INT64_C(1) << (by - 1);
    return v >= 0 ? (v + half) >> by : -((-v + half) >> by);
}

/* A constant of 32 bits as one of fewer. */
static inline int64_t ti_fixed_constant(int32_t v, int bits) { return bits == 32 ? v : ti_fixed_divided(v, 32 - bits); }

/* e^a for a <= 0 with `whole` integer bits, of `bits` bits; the result is all fraction. */
int64_t ti_fixed_exp(int64_t a, int whole, int bits);

#endif
