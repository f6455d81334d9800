/* SPDX-License-Identifier: Apache-2.0 */
/* int_transposed.h -- TRANSPOSE_CONV2D of 8 and 16 bits, prepared once and run many times, with the
 * bits of num/. */
#ifndef TC_INT_TRANSPOSED_H
#define TC_INT_TRANSPOSED_H

#include "int8.h"

/* Operands as those of tc_conv8 where x is int8, of tc_conv16 where it is int16.  NULL when this is
 * not for us: strides so large that nearly all products would be with zeros, or results cut by whole
 * kernels, which is no TOSA. */
typedef struct tc_transposed tc_transposed;
tc_transposed *ti_transposed_new(tc_ctx *ctx, const tc_attr_tosa_transpose_conv *a,
                                 const tc_type *x, const tc_type *y, tc_tensor w, tc_tensor bias,
                                 int32_t x_zero, const tc_narrow *narrow);
size_t ti_transposed_scratch(const tc_transposed *t);
void ti_transposed_run(const tc_transposed *t, const void *x, void *y, void *scratch);

#endif
