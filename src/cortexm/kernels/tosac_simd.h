/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_simd.h -- the instructions that kernels use, by TOSAC_ISA. */
#ifndef TOSAC_SIMD_H
#define TOSAC_SIMD_H

#include "tosac_kernels.h"

#if TOSAC_ISA == TOSAC_ISA_DSP
#include <arm_acle.h>

/* Four bytes from anywhere, as one load. */
static inline uint32_t tosac_word(const int8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
/* Bytes 0 and 2, or 1 and 3, as two int16. */
static inline int16x2_t tosac_even(uint32_t v) { return __sxtb16((int8x4_t)v); }
static inline int16x2_t tosac_odd(uint32_t v)
{
    int16x2_t r;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(v));
    return r;
}
/* The low halves of two words, or the high ones, as two int16. */
static inline int16x2_t tosac_lows(uint32_t a, uint32_t b)
{
    int16x2_t r;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
static inline int16x2_t tosac_highs(uint32_t a, uint32_t b)
{
    int16x2_t r;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(r) : "r"(b), "r"(a));
    return r;
}
/* Two int16 from anywhere. */
static inline int16x2_t tosac_two(const int16_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return (int16x2_t)v;
}
/* Four bytes as two pairs of int16. */
typedef struct tosac_pairs {
    int16x2_t low, high;
} tosac_pairs;

static inline tosac_pairs tosac_pairs_at(const int8_t *p)
{
    const uint32_t v = tosac_word(p), e = (uint32_t)tosac_even(v), o = (uint32_t)tosac_odd(v);
    return (tosac_pairs){tosac_lows(e, o), tosac_highs(e, o)};
}
#endif

#if TOSAC_ISA == TOSAC_ISA_MVE
#include <arm_mve.h>

/* Multipliers and shifts of four channels, prepared: sums are times m, and then shifted, each by its
 * lane's: to the right where it is negative, and where it is not, which few are, to the left before. */
typedef struct tosac_four {
    int32x4_t m, by;
    int32_t lefts; /* some lane shifts left */
} tosac_four;

static inline tosac_four tosac_four_of(const tosac_requant *q, int32x4_t m, int32x4_t s)
{
    const int32x4_t by = vsubq_s32(vdupq_n_s32(q->rounding == TOSAC_DOUBLE ? 31 : 32), s);
    return (tosac_four){m, by, vmaxvq_s32(-1, by) >= (q->rounding == TOSAC_SINGLE ? 0 : 1)};
}

/* RESCALE of four sums but for the zero point.  Where rounding and lefts are known to the compiler, what they do not need goes. */
TOSAC_INLINE int32x4_t tosac_scale4(tosac_rounding rounding, int32_t lefts, int32x4_t v,
                                    const tosac_four *f)
{
    const int32x4_t right = lefts ? vminq_s32(f->by, vdupq_n_s32(0)) : f->by;
    const int32x4_t left = lefts ? vshlq_s32(v, vmaxq_s32(f->by, vdupq_n_s32(0))) : v;
    if (rounding == TOSAC_DOUBLE) {
        /* v m / 2^31, halves up; then / 2^(s-31), halves away from zero */
        v = vqrdmulhq_s32(left, f->m);
        v = vaddq_s32(v, vshrq_n_s32(vandq_s32(v, right), 31));
        return vrshlq_s32(v, right);
    }
    /* s > 32: what of v m is above 2^32, then / 2^(s-32), halves up; else at once */
    const int32x4_t far = vrshlq_s32(vmulhq_s32(v, f->m), right);
    return lefts ? vpselq_s32(far, vrmulhq_s32(left, f->m), vcmpltq_n_s32(right, 0)) : far;
}

/* tosac_requantize of four sums. */
static inline int32x4_t tosac_requantize4(const tosac_requant *q, int32x4_t v, const tosac_four *f)
{
    v = tosac_scale4(q->rounding, f->lefts, v, f);
    v = vmaxq_s32(vaddq_n_s32(v, q->zero), vdupq_n_s32(q->lo));
    return vminq_s32(v, vdupq_n_s32(q->hi));
}

#else

/* The multiplier and shift of a channel, prepared. */
typedef struct tosac_one {
    int32_t m, s;
    int32_t far;   /* s > 32: then */
    int32_t right; /* s - 32, */
    int32_t half;  /* 2^(s-33), the upper half of 2^(s-1), */
    int32_t twice; /* and -1 for DOUBLE, else 0 */
} tosac_one;

static inline tosac_one tosac_one_of(const tosac_requant *q, int32_t channel)
{
    int32_t s = q->shift[channel * q->step], far = s > 32;
    return (tosac_one){q->multiplier[channel * q->step], s, far, s - 32,
                       far ? (int32_t)(UINT32_C(1) << (s - 33)) : 0,
                       q->rounding == TOSAC_DOUBLE ? -1 : 0};
}

/* s <= 32: factors of a half or more, which few channels have. */
TOSAC_APART int32_t tosac_scale_near(int32_t v, const tosac_one *c)
{
    return c->twice ? tosac_scale_double(v, c->m, c->s) : tosac_scale(v, c->m, c->s);
}

/* tosac_requantize of a sum: v m + 2^(s-1), and 2^30 or -2^30 by the sign of v, is all computed in
 * the upper half. */
static inline int32_t tosac_requantize1(const tosac_requant *q, int32_t v, const tosac_one *c)
{
    if (c->far) {
        int32_t sign = (v >> 31) & c->twice;
        uint32_t low = ((uint32_t)c->twice & 0x40000000u) | ((uint32_t)sign & 0x80000000u);
        int64_t round = (int64_t)((uint64_t)(uint32_t)(c->half + sign) << 32 | low);
        v = (int32_t)(((int64_t)v * c->m + round) >> 32) >> c->right;
    } else {
        v = tosac_scale_near(v, c);
    }
    return tosac_clip(v + q->zero, q->lo, q->hi);
}

/* Four channels of a depthwise convolution, or the last ones. */
typedef struct tosac_sums {
    int32_t v0, v1, v2, v3;
} tosac_sums;

typedef struct tosac_block {
    const int8_t *w;
    int32_t channels;
    tosac_sums bias;
    tosac_one by[4];
} tosac_block;

/* Weights of two taps of a depthwise convolution, interleaved for each of four channels. */
typedef struct tosac_pair_weights {
    uint32_t of[4];
} tosac_pair_weights;

static inline int32_t tosac_put_pair(tosac_pair_weights *to, const int8_t *w, int32_t second)
{
    for (int32_t i = 0; i < 4; i++) {
        const uint32_t v = (uint32_t)w[i] & 0xffffu;
        to->of[i] = second ? to->of[i] | v << 16 : v;
    }
    return 1;
}

static inline tosac_block tosac_block_at(const tosac_window *p, const int8_t *w,
                                         const int32_t *bias, int32_t c)
{
    tosac_block b = {.w = w + c, .channels = tosac_min(p->in_c - c, 4)};
    int32_t start[4] = {0};
    for (int32_t i = 0; i < b.channels; i++) {
        start[i] = bias[c + i];
        b.by[i] = tosac_one_of(&p->q, c + i);
    }
    b.bias = (tosac_sums){start[0], start[1], start[2], start[3]};
    return b;
}
#endif

#endif
