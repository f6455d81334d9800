/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s8_s16.c -- CONV2D and fully connected layers of int8 to int16: tosac_conv2d.h. */
#include "tosac_vector.h"

typedef int16_t result;
#define RAW 0
#define WIDE 0
#define put4 tosac_vstore_int16_t

#include "tosac_conv2d_s8.h"

void tosac_conv2d_s8_s16(const tosac_window *p, const int8_t *x, const int8_t *w, const int32_t *bias,
                     int16_t *out, int8_t *columns)
{
    convolve(p, x, w, bias, out, columns);
}
