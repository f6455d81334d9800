/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_packed.c -- CONV2D, fully connected layers and DEPTHWISE_CONV2D of int8 by weights of 2 to 7
 * bits: unpacked, some rows at a time, they are those of tosac_conv2d_s8 and tosac_depthwise_s8. */
#include "tosac_simd.h"

#if TOSAC_ISA == TOSAC_ISA_MVE

/* Eight at a time: each is in two neighbouring bytes. */
void tosac_unpack(const uint8_t *packed, int32_t bits, int32_t k, int8_t *to)
{
    const uint16x8_t at = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)bits);
    const uint16x8_t byte = vshrq_n_u16(at, 3);
    const int16x8_t up = vsubq_s16(vdupq_n_s16((int16_t)(16 - bits)),
                                   vreinterpretq_s16_u16(vandq_u16(at, vdupq_n_u16(7))));
    const int16x8_t down = vdupq_n_s16((int16_t)(bits - 16));
    for (; k > 0; k -= 8, packed += bits, to += 8) {
        const mve_pred16_t lanes = vctp16q((uint32_t)k);
        const uint16x8_t low = vldrbq_gather_offset_z_u16(packed, byte, lanes);
        const uint16x8_t high = vldrbq_gather_offset_z_u16(packed + 1, byte, lanes);
        const int16x8_t both = vreinterpretq_s16_u16(vsliq_n_u16(low, high, 8));
        vstrbq_p_s16(to, vshlq_s16(vshlq_s16(both, up), down), lanes);
    }
}

#else

void tosac_unpack(const uint8_t *packed, int32_t bits, int32_t k, int8_t *to)
{
    const int32_t rest = 32 - bits;
    uint32_t have = 0;
    int32_t n = 0;
    if (bits == 4) {
        tosac_unpack4(packed, k, to);
        return;
    }
    for (int8_t *end = to + k; to < end; n -= bits, have >>= bits) {
        if (n < bits) {
            have |= (uint32_t)*packed++ << n;
            n += 8;
        }
        *to++ = (int8_t)((int32_t)(have << rest) >> rest);
    }
}

#endif

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

void tosac_depthwise_packed(const tosac_window *p, const int8_t *x, const tosac_packed *w,
                            const int32_t *bias, int8_t *out, int8_t *unpacked)
{
    tosac_unpack(w->bytes, w->bits, p->kernel_h * p->kernel_w * p->in_c, unpacked);
    tosac_depthwise_s8(p, x, unpacked, bias, out);
}
