/* SPDX-License-Identifier: Apache-2.0 */
/* int8.h -- integer products of TOSA, prepared once and run many times, with the bits of num/.
 *
 * Products are unsigned times signed bytes: x is kept as x + 128; a constant per output channel
 * corrects for that and the zero points. */
#ifndef TC_INT8_H
#define TC_INT8_H

#include "../num/attr.h"

/* RESCALE, then CLAMP or TABLE, as the epilogue of a product:
 *   y = table[clamp(((acc * multiplier[c] + 2^(shift[c] - 1)) >> shift[c]) + zero, lo, hi)]
 * Rounding is single; the lists have 16 entries more than channels, to be read in whole
 * registers. */
typedef struct tc_narrow {
    const int32_t *multiplier; /* one per channel */
    const int32_t *shift;
    int32_t zero, lo, hi;
    tc_dtype dtype;      /* of y: i8, i16 or i32 */
    const int8_t *table; /* 256 entries, or NULL; i8 only */
} tc_narrow;

typedef struct tc_conv8 tc_conv8;

/* CONV2D with int8 x and int8 (or int4, a byte each) weights, constant weights, bias and zero
 * points; weight zero point 0.  narrow: NULL when y is the int32 accumulator.  NULL: not supported
 * here. */
tc_conv8 *ti_conv8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x, const tc_type *y,
                       tc_tensor w, tc_tensor bias, int32_t x_zero, const tc_narrow *narrow);
size_t ti_conv8_scratch(const tc_conv8 *conv);
void ti_conv8_run(const tc_conv8 *conv, const int8_t *x, void *y, void *scratch);

/* DEPTHWISE_CONV2D, channel multiplier 1, under the same conditions. */
typedef struct tc_depth8 tc_depth8;
tc_depth8 *ti_depth8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                         const tc_narrow *narrow);
size_t ti_depth8_scratch(const tc_depth8 *conv);
void ti_depth8_run(const tc_depth8 *conv, const void *x, void *y, void *scratch);

/* MATMUL of int8: [n, h, c] x [n, c, w], zero points as given; narrow may be NULL. */
typedef struct tc_matmul8 tc_matmul8;
tc_matmul8 *ti_matmul8_new(tc_ctx *ctx, const tc_type *a, const tc_type *b, int32_t a_zero,
                           int32_t b_zero, const tc_narrow *narrow);
size_t ti_matmul8_scratch(const tc_matmul8 *m);
void ti_matmul8_run(const tc_matmul8 *m, const int8_t *a, const int8_t *b, void *y, void *scratch);

/* Accumulators of `rows` rows of n channels, ld apart, into rows of y, n apart, as `narrow` says.
 * start: to add to each channel first (16 to spare), or NULL. */
void ti_narrow_rows(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows, size_t n,
                    const int32_t *start, void *y);

#endif
