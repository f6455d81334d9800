/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s4.c -- DEPTHWISE_CONV2D of int8 by int4 weights: unpacked, they are those of
 * tosac_depthwise_s8. */
#include "tosac_kernels.h"

void tosac_depthwise_s4(const tosac_window *p, const int8_t *x, const uint8_t *w,
                        const int32_t *bias, int8_t *out, int8_t *unpacked)
{
    tosac_unpack4(w, p->kernel_h * p->kernel_w * p->in_c, unpacked);
    tosac_depthwise_s8(p, x, unpacked, bias, out);
}
