/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_scalar.h -- functions of one number in fixed point, as the runtime computes them: what
 * tables are made of. */
#ifndef TC_TFLITE_SCALAR_H
#define TC_TFLITE_SCALAR_H

#include "tflite_fixed.h"

/* Of int16: the result is all fraction; logistic's operand has three integer bits. */
int16_t ti_tfl_logistic16(int16_t v);
int16_t ti_tfl_tanh16(int16_t v, int whole);
/* The same by straight lines between 256 points: logistic or tanh of code * f.fraction >> f.shift,
 * rounded, in steps of 10.7 / 2^17. */
int64_t ti_tfl_curve16(int64_t code, tc_tfl_factor f, bool tanh);

/* 1 / v = fraction 2^(-shift - 31) */
typedef struct tc_tfl_quotient {
    int32_t fraction;
    int shift;
} tc_tfl_quotient;
tc_tfl_quotient ti_tfl_reciprocal(int32_t v);
int ti_tfl_sign_bits(int32_t v); /* besides the sign itself; 31 for 0 */
/* a / b by a factor: through b's reciprocal. */
int32_t ti_tfl_divided(int32_t a, int32_t b, tc_tfl_factor f);

#endif
