/* SPDX-License-Identifier: Apache-2.0 */
/* int_spread.h -- TRANSPOSE_CONV2D and CONV3D of 8 and 16 bits as a CONV2D over a rearranged input,
 * prepared once and run many times, with the bits of num/. */
#ifndef TC_INT_SPREAD_H
#define TC_INT_SPREAD_H

#include "int8.h"

/* Operands as those of tc_conv8 where x is int8, of tc_conv16 where it is int16. */
typedef struct tc_spread tc_spread;

/* NULL: not supported here: strides so large that nearly all products would be with zeros, or
 * results cropped by whole kernels, which is not valid TOSA. */
tc_spread *ti_transposed_new(tc_ctx *ctx, const tc_attr_tosa_transpose_conv *a, const tc_type *x,
                             const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                             const tc_narrow *narrow);
/* NULL: the rearranged input would be too large. */
tc_spread *ti_conv3d_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                         const tc_narrow *narrow);

size_t ti_spread_scratch(const tc_spread *s);
void ti_spread_run(const tc_spread *s, const void *x, void *y, void *scratch);

#endif
