/* SPDX-License-Identifier: Apache-2.0 */
/* int16.h -- products of 16-bit values and sums of 48 bits, prepared once and run many times, with
 * the bits of num/.
 *
 * Products of 16 and 8 bits are below 2^22: a channel is summed in 32 bits if its weights allow,
 * else in parts that fit.  A narrow is RESCALE from 48 bits, whose multipliers have 16; without
 * one, y is the sums, 64 bits each. */
#ifndef TC_INT16_H
#define TC_INT16_H

#include "int8.h"

/* CONV2D with int16 x, constant int8 weights and int48 bias, no zero points. */
typedef struct tc_conv16 tc_conv16;
tc_conv16 *ti_conv16_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, const tc_narrow *narrow);
size_t ti_conv16_scratch(const tc_conv16 *c);
void ti_conv16_run(const tc_conv16 *c, const int16_t *x, void *y, void *scratch);

/* DEPTHWISE_CONV2D of the same kind, channel multiplier 1; run as tc_depth8.  NULL when sums may
 * pass 32 bits. */
tc_depth8 *ti_depth16_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                          const tc_type *y, tc_tensor w, tc_tensor bias, const tc_narrow *narrow);

/* MATMUL of int16: [n, h, c] x [n, c, w], no zero points; b with data is a constant, and packed
 * here. */
typedef struct tc_matmul16 tc_matmul16;
tc_matmul16 *ti_matmul16_new(tc_ctx *ctx, const tc_type *a, tc_tensor b,
                             const tc_narrow *narrow);
size_t ti_matmul16_scratch(const tc_matmul16 *m);
void ti_matmul16_run(const tc_matmul16 *m, const int16_t *a, const int16_t *b, void *y,
                     void *scratch);

/* ---- shared inside fast/ ---- */

/* Whether a sum of int16 times these n weights, at stride `apart`, and a bias stays within 32
 * bits. */
bool ti_sum16_fits(const int8_t *w, size_t n, size_t apart, int64_t bias);

/* sum[i] += part[i] << left. */
void ti_sum48_add(int64_t *sum, const int32_t *part, size_t n, int left);

/* Rows of n sums to rows of y. */
void ti_sum48_finish(const tc_narrow *narrow, const int64_t *sum, size_t rows, size_t n,
                     uint8_t *y);

#endif
