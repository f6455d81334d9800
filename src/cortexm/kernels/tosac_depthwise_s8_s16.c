/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s8_s16.c -- DEPTHWISE_CONV2D of int8 to int16: tosac_depthwise.h. */
#include "tosac_simd.h"

typedef int16_t result;
#define WIDER 1

#include "tosac_depthwise_s8.h"

void tosac_depthwise_s8_s16(const tosac_window *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int16_t *out)
{
    convolve(p, x, w, bias, out);
}
