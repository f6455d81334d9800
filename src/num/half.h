/* SPDX-License-Identifier: Apache-2.0 */
/* half.h -- f16, bf16 and fp8 to and from f32: exact one way, to nearest even the other. */
#ifndef TC_HALF_H
#define TC_HALF_H

#include "../base/base.h"

float tc_f16_to_f32(uint16_t bits);
float tc_bf16_to_f32(uint16_t bits);
float tc_e4m3_to_f32(uint8_t bits);
float tc_e5m2_to_f32(uint8_t bits);

uint16_t tc_f32_to_f16(float value);
uint16_t tc_f32_to_bf16(float value);
uint8_t tc_f32_to_e4m3(float value);     /* past the range: NaN, as OFP8 and TOSA have it */
uint8_t tc_f32_to_e4m3_sat(float value); /* past the range: the largest number, as PyTorch has it */
uint8_t tc_f32_to_e5m2(float value);     /* past the range: infinity */

/* The same from f64, rounded once. */
uint16_t tc_f64_to_f16(double value);
uint16_t tc_f64_to_bf16(double value);

#endif
