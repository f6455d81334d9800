/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_packed.c -- DEPTHWISE_CONV2D of int8 by weights of 2 to 7 bits: unpacked, they are
 * those of tosac_depthwise_s8. */
#include "tosac_kernels.h"

void tosac_depthwise_packed(const tosac_window *p, const int8_t *x, const tosac_packed *w,
                            const int32_t *bias, int8_t *out, int8_t *unpacked)
{
    tosac_unpack(w->bytes, w->bits, p->kernel_h * p->kernel_w * p->in_c, unpacked);
    tosac_depthwise_s8(p, x, unpacked, bias, out);
}
