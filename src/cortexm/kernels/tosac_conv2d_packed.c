/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_packed.c -- CONV2D and fully connected layers of int8 by weights of 2 to 7 bits: some
 * rows at a time are unpacked, and are then those of tosac_conv2d_s8. */
#include "tosac_kernels.h"

void tosac_conv2d_packed(const tosac_window *p, const int8_t *x, const tosac_packed *w,
                         const int32_t *bias, int8_t *out, int8_t *columns, int8_t *rows)
{
    const int32_t k = p->kernel_h * p->kernel_w * p->in_c, bytes = (k * w->bits + 7) / 8;
    const uint8_t *from = w->bytes;
    for (int32_t oc = 0; oc < p->out_c; oc += w->rows) {
        tosac_window part = *p;
        part.out_c = tosac_min(p->out_c - oc, w->rows);
        part.q.multiplier += oc * p->q.step;
        part.q.shift += oc * p->q.step;
        for (int32_t i = 0; i < part.out_c; i++, from += bytes)
            tosac_unpack(from, w->bits, k, rows + i * k);
        tosac_conv2d_s8(&part, x, rows, bias + oc, out + oc, columns);
    }
}
