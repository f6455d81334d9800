/* SPDX-License-Identifier: Apache-2.0 */
/* int16.h -- products of 16-bit values and 8-bit weights, prepared once and run many times, with
 * the bits of num/. */
#ifndef TC_INT16_H
#define TC_INT16_H

#include "../num/attr.h"

typedef struct tc_linear16 tc_linear16;

/* CONV2D with int16 x, constant int8 weights and int48 bias, no zero points, kernel and steps of 1,
 * no padding; y is the int48 accumulator.  NULL when it is another. */
tc_linear16 *tc_linear16_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x, tc_tensor w,
                             tc_tensor bias);
void tc_linear16_run(const tc_linear16 *linear, const int16_t *x, int64_t *y);

#endif
