/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s8.c -- DEPTHWISE_CONV2D of int8: tosac_depthwise.h. */
#include "tosac_simd.h"

typedef int8_t result;
#define WIDER 0

#include "tosac_depthwise_s8.h"

void tosac_depthwise_s8(const tosac_window *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int8_t *out)
{
    convolve(p, x, w, bias, out);
}
