/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s16.c -- DEPTHWISE_CONV2D of int16 whose sums fit 32 bits: tosac_depthwise.h. */
#include "tosac_simd.h"

typedef int16_t element;
#define HAS_PAIRS (TOSAC_ISA == TOSAC_ISA_DSP)

/* ---- a few channels: their elements, sums, and what does not change from pixel to pixel ---- */

#if TOSAC_ISA == TOSAC_ISA_MVE

enum { LANES = 8 };
#define USUAL TOSAC_SINGLE
/* Those of vector i are channels i, i + 2, i + 4, i + 6. */
typedef struct sums {
    int32x4_t v0, v1;
} sums;

typedef struct block {
    const int8_t *w;
    int32_t channels, usual;
    sums bias;
    tosac_four by[2];
    mve_pred16_t lanes;
} block;

static block block_at(const tosac_window *p, const int8_t *w, const int32_t *bias, int32_t c)
{
    const uint32x4_t places = {0, 2, 4, 6}, by = vmulq_n_u32(places, (uint32_t)p->q.step);
    const int32_t left = p->in_c - c;
    block b = {.w = w + c, .channels = tosac_min(left, 8), .lanes = vctp16q((uint32_t)left)};
    int32x4_t start[2];
    b.usual = p->q.rounding == USUAL;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t from = (c + i) * p->q.step;
        const mve_pred16_t four = vcmpltq_n_s32((int32x4_t)places, left - i);
        start[i] = vldrwq_gather_shifted_offset_z_s32(bias + c + i, places, four);
        b.by[i] = tosac_four_of(
            &p->q, vldrwq_gather_shifted_offset_z_s32(p->q.multiplier + from, by, four),
            vldrbq_gather_offset_z_s32(p->q.shift + from, by, four));
        b.usual &= !b.by[i].lefts;
    }
    b.bias = (sums){start[0], start[1]};
    return b;
}

TOSAC_INLINE int16x8_t load(const int16_t *p) { return vldrhq_s16(p); }
TOSAC_INLINE int16x8_t load_some(const int16_t *p, const block *b) { return vldrhq_z_s16(p, b->lanes); }
TOSAC_INLINE int16x8_t weights(const int8_t *p) { return vldrbq_s16(p); }
TOSAC_INLINE int16x8_t weights_some(const int8_t *p, const block *b) { return vldrbq_z_s16(p, b->lanes); }
TOSAC_INLINE int16x8_t fill(int32_t v) { return vdupq_n_s16((int16_t)v); }

TOSAC_INLINE sums add(sums s, int16x8_t x, int16x8_t w)
{
    return (sums){vaddq_s32(s.v0, vmullbq_int_s16(x, w)), vaddq_s32(s.v1, vmulltq_int_s16(x, w))};
}

TOSAC_INLINE void store(const tosac_window *p, int16_t *to, sums s, const block *b)
{
    int32x4_t v[2] = {s.v0, s.v1};
    if (b->usual)
        for (int32_t i = 0; i < 2; i++)
            v[i] = tosac_scale4(USUAL, 0, v[i], &b->by[i]);
    else
        for (int32_t i = 0; i < 2; i++)
            v[i] = tosac_scale4(p->q.rounding, b->by[i].lefts, v[i], &b->by[i]);
    /* without a zero point */
    int16x8_t all = vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), v[0]), v[1]);
    all = vmaxq_s16(all, vdupq_n_s16((int16_t)p->q.lo));
    vstrhq_p_s16(to, vminq_s16(all, vdupq_n_s16((int16_t)p->q.hi)), b->lanes);
}

#else

enum { LANES = 4 };
typedef tosac_sums sums;
typedef tosac_block block;
#define block_at tosac_block_at
typedef tosac_pair_weights pair_weights;
#define put_weights tosac_put_pair

#if TOSAC_ISA == TOSAC_ISA_DSP

/* Elements 0 and 1, 2 and 3; weights 0 and 2, 1 and 3. */
typedef struct values {
    int16x2_t a, b;
} values;

TOSAC_INLINE values load(const int16_t *p) { return (values){tosac_two(p), tosac_two(p + 2)}; }
TOSAC_INLINE values fill(int32_t v)
{
    const uint32_t two = ((uint32_t)v & 0xffffu) * 0x10001u;
    return (values){(int16x2_t)two, (int16x2_t)two};
}
TOSAC_INLINE values load_some(const int16_t *p, const block *b)
{
    int16_t v[4] = {0};
    memcpy(v, p, (size_t)b->channels * sizeof *v);
    return load(v);
}
TOSAC_INLINE values weights(const int8_t *p)
{
    const uint32_t v = tosac_word(p);
    return (values){tosac_even(v), tosac_odd(v)};
}
TOSAC_INLINE values weights_some(const int8_t *p, const block *b)
{
    int8_t v[4] = {0};
    memcpy(v, p, (size_t)b->channels);
    return weights(v);
}

TOSAC_INLINE sums add(sums s, values x, values w)
{
    s.v0 = __smlabb(x.a, w.a, s.v0);
    s.v1 = __smlatb(x.a, w.b, s.v1);
    s.v2 = __smlabt(x.b, w.a, s.v2);
    s.v3 = __smlatt(x.b, w.b, s.v3);
    return s;
}

/* Two taps, by their interleaved weights. */
TOSAC_INLINE sums add_pair(sums s, const int16_t *x, const int16_t *y, const pair_weights *w)
{
    const uint32_t a = (uint32_t)tosac_two(x), b = (uint32_t)tosac_two(y);
    const uint32_t c = (uint32_t)tosac_two(x + 2), d = (uint32_t)tosac_two(y + 2);
    s.v0 = __smlad(tosac_lows(a, b), (int16x2_t)w->of[0], s.v0);
    s.v1 = __smlad(tosac_highs(a, b), (int16x2_t)w->of[1], s.v1);
    s.v2 = __smlad(tosac_lows(c, d), (int16x2_t)w->of[2], s.v2);
    s.v3 = __smlad(tosac_highs(c, d), (int16x2_t)w->of[3], s.v3);
    return s;
}

#endif
#endif

#include "tosac_depthwise.h"

void tosac_depthwise_s16(const tosac_window *p, const int16_t *x, const int8_t *w,
                         const int32_t *bias, int16_t *out)
{
    convolve(p, x, w, bias, out);
}
