/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s8.c -- DEPTHWISE_CONV2D of int8: tosac_depthwise.h. */
#include "tosac_simd.h"

typedef int8_t element;
#define HAS_PAIRS (TOSAC_ISA != TOSAC_ISA_C)

/* ---- a few channels: their bytes, their sums, and what does not change from pixel to pixel ---- */

#if TOSAC_ISA == TOSAC_ISA_MVE

enum { LANES = 16 };
#define USUAL TOSAC_DOUBLE
typedef int8x16_t bytes;
/* Those of vector i are channels i, i + 4, i + 8, i + 12. */
typedef struct sums {
    int32x4_t v0, v1, v2, v3;
} sums;

typedef struct block {
    const int8_t *w;
    int32_t channels, usual;
    sums bias;
    tosac_four by[4];
    mve_pred16_t lanes;
} block;

static block block_at(const tosac_window *p, const int8_t *w, const int32_t *bias, int32_t c)
{
    const uint32x4_t places = {0, 4, 8, 12}, by = vmulq_n_u32(places, (uint32_t)p->q.step);
    const int32_t left = p->in_c - c;
    block b = {.w = w + c, .channels = tosac_min(left, 16), .lanes = vctp8q((uint32_t)left)};
    int32x4_t start[4];
    b.usual = p->q.rounding == USUAL;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t from = (c + i) * p->q.step;
        const mve_pred16_t four = vcmpltq_n_s32((int32x4_t)places, left - i);
        start[i] = vldrwq_gather_shifted_offset_z_s32(bias + c + i, places, four);
        b.by[i] = tosac_four_of(
            &p->q, vldrwq_gather_shifted_offset_z_s32(p->q.multiplier + from, by, four),
            vldrbq_gather_offset_z_s32(p->q.shift + from, by, four));
        b.usual &= !b.by[i].lefts;
    }
    b.bias = (sums){start[0], start[1], start[2], start[3]};
    return b;
}

TOSAC_INLINE bytes load(const int8_t *p) { return vldrbq_s8(p); }
TOSAC_INLINE bytes load_some(const int8_t *p, const block *b) { return vldrbq_z_s8(p, b->lanes); }
TOSAC_INLINE bytes fill(int32_t v) { return vdupq_n_s8((int8_t)v); }

/* 32-bit sums plus those of 16 bits, of channels 0, 2, 4 .. and 1, 3, 5 .. */
TOSAC_INLINE sums add_halves(sums s, int16x8_t even, int16x8_t odd)
{
    s.v0 = vaddq_s32(s.v0, vmovlbq_s16(even));
    s.v2 = vaddq_s32(s.v2, vmovltq_s16(even));
    s.v1 = vaddq_s32(s.v1, vmovlbq_s16(odd));
    s.v3 = vaddq_s32(s.v3, vmovltq_s16(odd));
    return s;
}

TOSAC_INLINE sums add(sums s, bytes x, bytes w)
{
    return add_halves(s, vmullbq_int_s8(x, w), vmulltq_int_s8(x, w));
}

/* Weights of two taps, whose products' sum fits 16 bits where none is -128. */
typedef struct pair_weights {
    int8_t of[2][LANES];
} pair_weights;

static int32_t put_weights(pair_weights *to, const int8_t *w, int32_t second)
{
    const bytes v = load(w);
    vstrbq_s8(to->of[second], v);
    if (!second)
        vstrbq_s8(to->of[1], vdupq_n_s8(0));
    return vminvq_s8(127, v) > -128;
}

TOSAC_INLINE sums add_pair(sums s, const int8_t *x, const int8_t *y, const pair_weights *w)
{
#if defined(__GNUC__)
    /* there is no register for all: the second weights are loaded twice */
    __asm__("vldrb.8 q4, [%[x]]\n"
            "vldrb.8 q5, [%[w]]\n"
            "vmullb.s8 q6, q4, q5\n"
            "vmullt.s8 q7, q4, q5\n"
            "vldrb.8 q4, [%[y]]\n"
            "vldrb.8 q5, [%[w], #16]\n"
            "vmullb.s8 q5, q4, q5\n"
            "vadd.i16 q6, q6, q5\n"
            "vldrb.8 q5, [%[w], #16]\n"
            "vmullt.s8 q5, q4, q5\n"
            "vadd.i16 q7, q7, q5\n"
            "vmovlb.s16 q4, q6\n"
            "vadd.i32 %q[v0], %q[v0], q4\n"
            "vmovlt.s16 q5, q6\n"
            "vadd.i32 %q[v2], %q[v2], q5\n"
            "vmovlb.s16 q4, q7\n"
            "vadd.i32 %q[v1], %q[v1], q4\n"
            "vmovlt.s16 q5, q7\n"
            "vadd.i32 %q[v3], %q[v3], q5\n"
            : [v0] "+w"(s.v0), [v1] "+w"(s.v1), [v2] "+w"(s.v2), [v3] "+w"(s.v3)
            : [x] "r"(x), [y] "r"(y), [w] "r"(w), "m"(*(const int8_t(*)[LANES])x),
              "m"(*(const int8_t(*)[LANES])y), "m"(*w)
            : "q4", "q5", "q6", "q7");
    return s;
#else
    const bytes a = load(x), b = load(y), v = load(w->of[0]), u = load(w->of[1]);
    return add_halves(s, vaddq_s16(vmullbq_int_s8(a, v), vmullbq_int_s8(b, u)),
                      vaddq_s16(vmulltq_int_s8(a, v), vmulltq_int_s8(b, u)));
#endif
}

TOSAC_INLINE void store(const tosac_window *p, int8_t *to, sums s, const block *b)
{
    int32x4_t v[4] = {s.v0, s.v1, s.v2, s.v3};
    if (b->usual)
        for (int32_t i = 0; i < 4; i++)
            v[i] = tosac_scale4(USUAL, 0, v[i], &b->by[i]);
    else
        for (int32_t i = 0; i < 4; i++)
            v[i] = tosac_scale4(p->q.rounding, b->by[i].lefts, v[i], &b->by[i]);
    /* to 16 bits, plus the zero point, to 8 bits, all saturating */
    int16x8_t even = vqmovnbq_s32(vdupq_n_s16(0), v[0]), odd = vqmovnbq_s32(vdupq_n_s16(0), v[1]);
    even = vqaddq_n_s16(vqmovntq_s32(even, v[2]), (int16_t)p->q.zero);
    odd = vqaddq_n_s16(vqmovntq_s32(odd, v[3]), (int16_t)p->q.zero);
    bytes all = vqmovntq_s16(vqmovnbq_s16(vdupq_n_s8(0), even), odd);
    all = vmaxq_s8(all, vdupq_n_s8((int8_t)p->q.lo));
    vstrbq_p_s8(to, vminq_s8(all, vdupq_n_s8((int8_t)p->q.hi)), b->lanes);
}

#else

enum { LANES = 4 };
typedef tosac_sums sums;
typedef tosac_block block;
#define block_at tosac_block_at
typedef tosac_pair_weights pair_weights;
#define put_weights tosac_put_pair

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
TOSAC_INLINE sums add_pair(sums s, const int8_t *x, const int8_t *y, const pair_weights *w)
{
    const uint32_t a = tosac_word(x), b = tosac_word(y);
    const uint32_t low = (uint32_t)tosac_lows(a, b), high = (uint32_t)tosac_highs(a, b);
    s.v0 = __smlad(tosac_even(low), (int16x2_t)w->of[0], s.v0);
    s.v1 = __smlad(tosac_odd(low), (int16x2_t)w->of[1], s.v1);
    s.v2 = __smlad(tosac_even(high), (int16x2_t)w->of[2], s.v2);
    s.v3 = __smlad(tosac_odd(high), (int16x2_t)w->of[3], s.v3);
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
