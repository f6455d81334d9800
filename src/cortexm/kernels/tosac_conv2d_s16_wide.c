/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s16_wide.c -- CONV2D and fully connected layers of int16 whose sums fit 32 bits but for the bias:
 * tosac_conv2d.h. */
#include "tosac_vector.h"

typedef int16_t result;
#define RAW 0
#define WIDE 1
#define put4 tosac_vstore_int16_t

#include "tosac_conv2d_s16.h"

void tosac_conv2d_s16_wide(const tosac_window *p, const int16_t *x, const int8_t *w,
                      const int64_t *bias, int16_t *out, int16_t *columns)
{
    convolve(p, x, w, bias, out, columns);
}
