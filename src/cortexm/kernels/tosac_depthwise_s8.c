/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s8.c -- DEPTHWISE_CONV2D of int8: tosac_depthwise.h. */
#include "tosac_simd.h"

typedef int8_t element;

/* ---- a few channels: their bytes, their sums, and what does not change from pixel to pixel ---- */

#if TOSAC_ISA == TOSAC_ISA_MVE

enum { LANES = 16 };
typedef int8x16_t bytes;
/* Those of vector i are channels i, i + 4, i + 8, i + 12. */
typedef struct sums {
    int32x4_t v0, v1, v2, v3;
} sums;

typedef struct block {
    const int8_t *w;
    int32_t channels;
    sums bias;
    tosac_four by[4];
    mve_pred16_t lanes, four[4];
} block;

static block block_at(const tosac_window *p, const int8_t *w, const int32_t *bias, int32_t c)
{
    const uint32x4_t places = {0, 4, 8, 12}, by = vmulq_n_u32(places, (uint32_t)p->q.step);
    const int32_t left = p->in_c - c;
    block b = {.w = w + c, .channels = tosac_min(left, 16), .lanes = vctp8q((uint32_t)left)};
    int32x4_t start[4];
    for (int32_t i = 0; i < 4; i++) {
        const int32_t from = (c + i) * p->q.step;
        mve_pred16_t four = b.four[i] = vcmpltq_n_s32((int32x4_t)places, left - i);
        start[i] = vldrwq_gather_shifted_offset_z_s32(bias + c + i, places, four);
        b.by[i] = tosac_four_of(
            &p->q, vldrwq_gather_shifted_offset_z_s32(p->q.multiplier + from, by, four),
            vldrbq_gather_offset_z_s32(p->q.shift + from, by, four));
    }
    b.bias = (sums){start[0], start[1], start[2], start[3]};
    return b;
}

TOSAC_INLINE bytes load(const int8_t *p) { return vldrbq_s8(p); }
TOSAC_INLINE bytes load_some(const int8_t *p, const block *b) { return vldrbq_z_s8(p, b->lanes); }
TOSAC_INLINE bytes fill(int32_t v) { return vdupq_n_s8((int8_t)v); }

TOSAC_INLINE sums add(sums s, bytes x, bytes w)
{
    int16x8_t p = vmullbq_int_s8(x, w);
    s.v0 = vaddq_s32(s.v0, vmovlbq_s16(p));
    s.v2 = vaddq_s32(s.v2, vmovltq_s16(p));
    p = vmulltq_int_s8(x, w);
    s.v1 = vaddq_s32(s.v1, vmovlbq_s16(p));
    s.v3 = vaddq_s32(s.v3, vmovltq_s16(p));
    return s;
}

TOSAC_INLINE void store4(const tosac_window *p, int8_t *to, int32x4_t sum, const block *b,
                         int32_t i)
{
    const uint32x4_t places = {0, 4, 8, 12};
    vstrbq_scatter_offset_p_s32(to + i, places, tosac_requantize4(&p->q, sum, &b->by[i]),
                                b->four[i]);
}

TOSAC_INLINE void store(const tosac_window *p, int8_t *to, sums s, const block *b)
{
    store4(p, to, s.v0, b, 0);
    store4(p, to, s.v1, b, 1);
    store4(p, to, s.v2, b, 2);
    store4(p, to, s.v3, b, 3);
}

#else

enum { LANES = 4 };
typedef tosac_sums sums;
typedef tosac_block block;
#define block_at tosac_block_at

#if TOSAC_ISA == TOSAC_ISA_DSP

typedef uint32_t bytes;

TOSAC_INLINE bytes load(const int8_t *p) { return tosac_word(p); }
TOSAC_INLINE bytes fill(int32_t v) { return (uint8_t)v * 0x01010101u; }
TOSAC_INLINE bytes load_some(const int8_t *p, const block *b)
{
    uint32_t v = 0;
    if (b->channels == 4)
        return tosac_word(p);
    for (int32_t i = 0; i < b->channels; i++)
        v |= (uint32_t)(uint8_t)p[i] << 8 * i;
    return v;
}

TOSAC_INLINE sums add(sums s, bytes x, bytes w)
{
    int16x2_t xe = tosac_even(x), xo = tosac_odd(x), we = tosac_even(w), wo = tosac_odd(w);
    s.v0 = __smlabb(xe, we, s.v0);
    s.v1 = __smlabb(xo, wo, s.v1);
    s.v2 = __smlatt(xe, we, s.v2);
    s.v3 = __smlatt(xo, wo, s.v3);
    return s;
}

/* Two taps, by their interleaved weights. */
TOSAC_INLINE sums add_pair(sums s, const int8_t *x, const int8_t *y, const uint32_t w[4])
{
    const uint32_t a = tosac_word(x), b = tosac_word(y);
    const uint32_t low = (a & 0xffffu) | b << 16, high = a >> 16 | (b & 0xffff0000u);
    s.v0 = __smlad(tosac_even(low), (int16x2_t)w[0], s.v0);
    s.v1 = __smlad(tosac_odd(low), (int16x2_t)w[1], s.v1);
    s.v2 = __smlad(tosac_even(high), (int16x2_t)w[2], s.v2);
    s.v3 = __smlad(tosac_odd(high), (int16x2_t)w[3], s.v3);
    return s;
}

#endif
#endif

#if TOSAC_ISA != TOSAC_ISA_C
TOSAC_INLINE bytes weights(const int8_t *p) { return load(p); }
TOSAC_INLINE bytes weights_some(const int8_t *p, const block *b) { return load_some(p, b); }
#endif

#include "tosac_depthwise.h"

void tosac_depthwise_s8(const tosac_window *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int8_t *out)
{
    convolve(p, x, w, bias, out);
}
