/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s8.c -- CONV2D and fully connected layers of int8: tosac_conv2d.h. */
#include "tosac_vector.h"

typedef int8_t result;
#define RAW 0
#define WIDE 0
#define put4 tosac_vstore_int8_t

#include "tosac_conv2d_s8.h"

void tosac_conv2d_s8(const tosac_window *p, const int8_t *x, const int8_t *w, const int32_t *bias,
                     int8_t *out, int8_t *columns)
{
    convolve(p, x, w, bias, out, columns);
}
