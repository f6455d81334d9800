/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_unpack.c -- weights of 2 to 7 bits as int8. */
#include "tosac_simd.h"

#if TOSAC_ISA == TOSAC_ISA_MVE

/* Eight at a time: each is in two neighbouring bytes. */
TOSAC_INLINE int16x8_t eight(const uint8_t *packed, uint16x8_t byte, int16x8_t up, int16x8_t down)
{
    const uint16x8_t low = vldrbq_gather_offset_u16(packed, byte);
    const uint16x8_t high = vldrbq_gather_offset_u16(packed + 1, byte);
    const int16x8_t both = vreinterpretq_s16_u16(vsliq_n_u16(low, high, 8));
    return vshlq_s16(vshlq_s16(both, up), down);
}

void tosac_unpack(const uint8_t *packed, int32_t bits, int32_t k, int8_t *to)
{
    const uint16x8_t at = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)bits);
    const uint16x8_t byte = vshrq_n_u16(at, 3);
    const int16x8_t up = vsubq_s16(vdupq_n_s16((int16_t)(16 - bits)),
                                   vreinterpretq_s16_u16(vandq_u16(at, vdupq_n_u16(7))));
    const int16x8_t down = vdupq_n_s16((int16_t)(bits - 16));
    for (; k >= 8; k -= 8, packed += bits, to += 8)
        vstrbq_s16(to, eight(packed, byte, up, down));
    for (int32_t i = 0, rest = 0; i < k; i++, rest += bits) {
        const uint32_t two = (uint32_t)packed[rest >> 3] | (uint32_t)packed[(rest >> 3) + 1] << 8;
        to[i] = (int8_t)((int32_t)(two << (32 - bits - (rest & 7))) >> (32 - bits));
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
