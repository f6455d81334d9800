/* SPDX-License-Identifier: Apache-2.0 */
/* block_scaled.h -- block-scaled numbers, as TOSA 1.1 has them (bs32_fp8ue8m0_<value>).
 *
 * 32 consecutive elements along the last axis share a scale, a power of two.  In memory every
 * element is its value's code in the low byte and the scale's in the high one, so that movement
 * moves scales too; in files values and scales are stored separately (tosa_schema.h). */
#ifndef TC_BLOCK_SCALED_H
#define TC_BLOCK_SCALED_H

#include "type.h"

enum { TC_BLOCK = 32 };

/* Scales: code c is 2^(c - 127), the last one NaN. */
enum { TC_SCALE_BIAS = 127, TC_SCALE_NAN = 255 };
float ti_ue8m0_to_f32(uint8_t bits);
uint8_t ti_f32_to_ue8m0(float value); /* the nearer power of two; negative numbers: NaN */

/* Values that are integers in units of 1/64. */
float ti_mxint8_to_f32(uint8_t bits);
uint8_t ti_f32_to_mxint8(float value); /* halves to even, held inside the range */

/* The type of a block-scaled type's values, and the block-scaled type of such values; TC_none:
 * there is none. */
tc_dtype ti_block_value(tc_dtype t);
tc_dtype ti_block_of(tc_dtype value);
static inline bool ti_is_block(tc_dtype t) { return ti_block_value(t) != TC_none; }

/* The value of a code. */
float ti_block_decode(tc_dtype value, uint8_t code);

/* n values as one block of this type.  Returns the scale's code:
 *
 *     e = floor(log2(m / limit)) + 1,  value = nearest(x / 2^e),  scale 2^e
 *
 * with m the largest magnitude and limit half a step past the type's largest value, so that no
 * value overflows; e4m3 takes e = ceil(log2(m / limit)), as half a step rounds down to its largest.
 * A block of zeros has the least scale, one with an infinity or NaN the scale NaN. */
uint8_t ti_block_encode(tc_dtype value, size_t n, const double *x, uint8_t *code);

/* n elements of a block-scaled type. */
void ti_block_read(tc_dtype t, const uint16_t *bits, size_t n, float *out);

/* value times scale, in f32. */
#define BLOCK(name)                                                                                \
    float ti_bs32_##name##_to_f32(uint16_t bits);                                                  \
    uint16_t ti_f32_to_bs32_##name(float value);
BLOCK(e4m3)
BLOCK(e5m2)
BLOCK(e2m3)
BLOCK(e3m2)
BLOCK(e2m1)
BLOCK(mxint8)
#undef BLOCK

#endif
