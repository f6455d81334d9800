/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_kernels.h -- the integer operators of TOSA 1.0 in C11, bit-exact to the specification: what
 * all kernels share.
 *
 * No heap, no mutable data, no library but string.h.  Kernels use the instructions that the
 * compiler enables (TOSAC_ISA) and give the same bytes with and without them. */
#ifndef TOSAC_KERNELS_H
#define TOSAC_KERNELS_H

#include <stdint.h>
#include <string.h>

#define TOSAC_ISA_C 0
#define TOSAC_ISA_DSP 1
#define TOSAC_ISA_MVE 2
#ifndef TOSAC_ISA
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define TOSAC_ISA TOSAC_ISA_MVE
#elif defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#define TOSAC_ISA TOSAC_ISA_DSP
#else
#define TOSAC_ISA TOSAC_ISA_C
#endif
#endif

/* Parts of loops: a call would put their sums into memory; and what is seldom needed. */
#if defined(__GNUC__)
#define TOSAC_INLINE static inline __attribute__((always_inline))
#define TOSAC_APART static __attribute__((noinline, unused))
#else
#define TOSAC_INLINE static inline
#define TOSAC_APART static inline
#endif

_Static_assert((-1 >> 1) == -1, "negative numbers are shifted right with their sign");

/* ---- arithmetic: 32 bits, what does not fit keeps its low bits ---- */

static inline int32_t tosac_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}
static inline int32_t tosac_sub(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}
static inline int32_t tosac_mul(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}
static inline int32_t tosac_max(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int32_t tosac_min(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t tosac_clip(int32_t v, int32_t lo, int32_t hi)
{
    return tosac_min(tosac_max(v, lo), hi);
}
static inline int32_t tosac_abs(int32_t a) { return a < 0 ? tosac_sub(0, a) : a; }

/* a * b / 2^s, halves up, 1 <= s <= 63. */
static inline int32_t tosac_mul_shift(int32_t a, int32_t b, int32_t s)
{
    uint64_t p = (uint64_t)((int64_t)a * b) + (UINT64_C(1) << (s - 1));
    return (int32_t)((int64_t)p >> s);
}
/* Toward zero; by zero: 0. */
static inline int32_t tosac_div(int32_t a, int32_t b)
{
    return b == 0 ? 0 : b == -1 ? tosac_sub(0, a) : a / b;
}
/* Shifts by 0..31. */
static inline int32_t tosac_asr(int32_t a, int32_t s) { return a >> (s & 31); }
static inline int32_t tosac_asr_round(int32_t a, int32_t s)
{
    s &= 31;
    return s ? (a >> s) + ((a >> (s - 1)) & 1) : a;
}
static inline int32_t tosac_lsl(int32_t a, int32_t s) { return (int32_t)((uint32_t)a << (s & 31)); }
static inline int32_t tosac_lsr(uint32_t a, int32_t s) { return (int32_t)(a >> (s & 31)); }

static inline int32_t tosac_clz(int32_t a)
{
#if defined(__GNUC__)
    return a ? __builtin_clz((uint32_t)a) : 32;
#else
    int32_t n = 0;
    while (n < 32 && !((uint32_t)a >> (31 - n) & 1u))
        n++;
    return n;
#endif
}

/* ---- RESCALE ---- */

/* v * m / 2^s, halves up; 0 <= m, 2 <= s <= 62. */
static inline int32_t tosac_scale(int32_t v, int32_t m, int32_t s)
{
    int64_t p = (int64_t)v * m + (INT64_C(1) << (s - 1));
    return s >= 32 ? (int32_t)(p >> 32) >> (s - 32) : (int32_t)(p >> s);
}
/* The same, rounded first to 31 bits of fraction and away from zero: DOUBLE_ROUND. */
static inline int32_t tosac_scale_double(int32_t v, int32_t m, int32_t s)
{
    int64_t p = (int64_t)v * m + (INT64_C(1) << (s - 1));
    if (s > 31)
        p += v >= 0 ? INT64_C(1) << 30 : -(INT64_C(1) << 30);
    return s >= 32 ? (int32_t)(p >> 32) >> (s - 32) : (int32_t)(p >> s);
}
/* The same for 48-bit values and 15-bit multipliers. */
static inline int32_t tosac_scale_wide(int64_t v, int32_t m, int32_t s)
{
    return (int32_t)((v * m + (INT64_C(1) << (s - 1))) >> s);
}
/* INEXACT_ROUND: negative results may be 2^-22 of their size too large, and no more than the next
 * integer. */
static inline int32_t tosac_scale_inexact(int64_t v, int32_t m, int32_t s)
{
    int64_t p = v * m, half = INT64_C(1) << (s - 1);
    if (p >= 0)
        return (int32_t)((p + half) >> s);
    int64_t most = -(-p >> s), near = (p + half + (-p >> 22)) >> s;
    return (int32_t)(near < most ? near : most);
}

/* TABLE of 513 entries: between two of them, in 128ths. */
static inline int32_t tosac_table16(const int16_t *table, int32_t v)
{
    int32_t at = (v + 32768) >> 7, rest = v & 127;
    return table[at] * 128 + (table[at + 1] - table[at]) * rest;
}

/* ---- sums of products ---- */

typedef enum tosac_rounding {
    TOSAC_SINGLE,
    TOSAC_DOUBLE,
    TOSAC_WIDE,   /* 48-bit sums, 15-bit multipliers */
    TOSAC_INEXACT
} tosac_rounding;

/* Epilogue of a sum: RESCALE, then CLAMP; multiplier NULL: none. */
typedef struct tosac_requant {
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t step; /* 1: multiplier and shift for each channel; 0: one for all */
    tosac_rounding rounding;
    int32_t zero, lo, hi; /* of the result, lo and hi with its zero point */
} tosac_requant;

static inline int32_t tosac_requantize(const tosac_requant *q, int64_t sum, int32_t channel)
{
    int32_t m = q->multiplier[channel * q->step], s = q->shift[channel * q->step], v;
    if (q->rounding == TOSAC_DOUBLE)
        v = tosac_scale_double((int32_t)sum, m, s);
    else if (q->rounding == TOSAC_SINGLE)
        v = tosac_scale((int32_t)sum, m, s);
    else if (q->rounding == TOSAC_WIDE)
        v = tosac_scale_wide(sum, m, s);
    else
        v = tosac_scale_inexact(sum, m, s);
    return tosac_clip(v, q->lo - q->zero, q->hi - q->zero) + q->zero;
}

/* Types of elements, by what they are to kernels that take several. */
typedef enum tosac_type {
    TOSAC_I4, /* two in a byte, the first one low; rows of output channels begin on a byte */
    TOSAC_I8,
    TOSAC_I16,
    TOSAC_I32,
    TOSAC_I48,
    TOSAC_F32 /* to kernels of tosac_float.h alone */
} tosac_type;

static inline int64_t tosac_load(const void *p, tosac_type type, int32_t i)
{
    switch (type) {
    case TOSAC_I8:
        return ((const int8_t *)p)[i];
    case TOSAC_I16:
        return ((const int16_t *)p)[i];
    case TOSAC_I32:
        return ((const int32_t *)p)[i];
    case TOSAC_I48:
        return ((const int64_t *)p)[i];
    default:
        return (int8_t)(((const uint8_t *)p)[i / 2] << (i % 2 ? 0 : 4)) >> 4;
    }
}

static inline void tosac_store(void *p, tosac_type type, int32_t i, int64_t v)
{
    if (type == TOSAC_I8)
        ((int8_t *)p)[i] = (int8_t)v;
    else if (type == TOSAC_I16)
        ((int16_t *)p)[i] = (int16_t)v;
    else if (type == TOSAC_I32)
        ((int32_t *)p)[i] = (int32_t)v;
    else
        ((int64_t *)p)[i] = v;
}

/* A sum with its bias in stored form: rescaled, or saturated to 48 bits, or of 32. */
static inline void tosac_store_sum(const tosac_requant *q, void *out, tosac_type type, int32_t at,
                                   int32_t channel, int64_t sum)
{
    const int64_t limit = INT64_C(1) << 47;
    if (q->rounding == TOSAC_SINGLE || q->rounding == TOSAC_DOUBLE)
        sum = (int32_t)sum; /* i32 wraps */
    else
        sum = sum < -limit ? -limit : sum >= limit ? limit - 1 : sum;
    tosac_store(out, type, at, q->multiplier ? tosac_requantize(q, sum, channel) : sum);
}

/* k 4-bit elements as bytes. */
static inline void tosac_unpack4(const uint8_t *packed, int32_t k, int8_t *to)
{
    for (int32_t i = 0; i < k / 2; i++, packed++) {
        *to++ = (int8_t)((int8_t)(*packed << 4) >> 4);
        *to++ = (int8_t)((int8_t)*packed >> 4);
    }
    if (k & 1)
        *to = (int8_t)((int8_t)(*packed << 4) >> 4);
}

/* CONV2D, CONV3D, DEPTHWISE_CONV2D and TRANSPOSE_CONV2D of any types; images are one deep.  Weights
 * [oc, kernel, c]; depthwise [kernel, oc]. */
typedef struct tosac_conv {
    int32_t batches, in[3], in_c, out[3], out_c;
    int32_t kernel[3], stride[3], before[3], dilation[3];
    int32_t x_zero, w_zero;
    int32_t bias_step; /* 0: one for all */
    uint8_t depthwise, transposed;
    tosac_type x, w, bias, result;
    tosac_requant q; /* without multiplier: WIDE for sums of 48 bits, SINGLE for 32 */
} tosac_conv;
void tosac_conv_any(const tosac_conv *p, const void *x, const void *w, const void *bias, void *out);

/* Where tap k of the window at output o reads along an axis; -1: outside. */
static inline int32_t tosac_tap(const tosac_conv *p, int axis, int32_t o, int32_t k)
{
    int32_t at = o * p->stride[axis] - p->before[axis] + k * p->dilation[axis];
    if (p->transposed) {
        at = o + p->before[axis] - k;
        if (at < 0 || at % p->stride[axis] != 0)
            return -1;
        at /= p->stride[axis];
    }
    return at >= 0 && at < p->in[axis] ? at : -1;
}

/* CONV2D and DEPTHWISE_CONV2D of int8 by int8 weights to int8, or of int16 to int16.  bias: with -x_zero times the sum of
 * the weights in it, so that every tap counts; those outside the image have x_zero. */
typedef struct tosac_window {
    int32_t batches, in_h, in_w, in_c, out_h, out_w, out_c;
    int32_t pixel; /* elements from pixel to pixel of the result: out_c, or more */
    int32_t kernel_h, kernel_w, stride_h, stride_w, top, left, dilation_h, dilation_w;
    int32_t x_zero;
    tosac_requant q; /* DOUBLE or SINGLE */
} tosac_window;
/* columns: TOSAC_COLUMNS windows, kernel_h * kernel_w * in_c elements each; NULL where windows are one
 * pixel, without padding, and stride_w is 1. */
#define TOSAC_COLUMNS(isa) ((isa) == TOSAC_ISA_C ? 1 : (isa) == TOSAC_ISA_DSP ? 2 : 4)
void tosac_conv2d_s8(const tosac_window *p, const int8_t *x, const int8_t *w, const int32_t *bias,
                     int8_t *out, int8_t *columns);
/* The same to int16, and to sums without a RESCALE. */
void tosac_conv2d_s8_s16(const tosac_window *p, const int8_t *x, const int8_t *w,
                         const int32_t *bias, int16_t *out, int8_t *columns);
void tosac_conv2d_s8_s32(const tosac_window *p, const int8_t *x, const int8_t *w,
                         const int32_t *bias, int32_t *out, int8_t *columns);
void tosac_depthwise_s8(const tosac_window *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int8_t *out);
/* Weights of 2 to 7 bits: each row of them, or of a depthwise convolution all, from a whole byte on,
 * the lowest bits first; a byte after the last.  `rows` are unpacked at a time. */
typedef struct tosac_packed {
    const uint8_t *bytes;
    int32_t bits, rows;
} tosac_packed;
void tosac_unpack(const uint8_t *packed, int32_t bits, int32_t k, int8_t *to);
/* rows: room for w->rows of them as int8; unpacked: for all weights. */
void tosac_conv2d_packed(const tosac_window *p, const int8_t *x, const tosac_packed *w,
                         const int32_t *bias, int8_t *out, int8_t *columns, int8_t *rows);
void tosac_depthwise_packed(const tosac_window *p, const int8_t *x, const tosac_packed *w,
                            const int32_t *bias, int8_t *out, int8_t *unpacked);
/* int16 without zero points; every sum fits 32 bits.  RESCALE of 48-bit sums by m and s is SINGLE by
 * m * 2^16 and s + 16. */
void tosac_conv2d_s16(const tosac_window *p, const int16_t *x, const int8_t *w,
                      const int32_t *bias, int16_t *out, int16_t *columns);
void tosac_depthwise_s16(const tosac_window *p, const int16_t *x, const int8_t *w,
                         const int32_t *bias, int16_t *out);
/* Sums that fit 32 bits without their bias; RESCALE as it is. */
void tosac_conv2d_s16_wide(const tosac_window *p, const int16_t *x, const int8_t *w,
                           const int64_t *bias, int16_t *out, int16_t *columns);

/* Sums of x [outer, n, inner] along n, plus bias, and their RESCALE by one factor: int8 and int16, whose
 * sums fit 32 bits; q: SINGLE or DOUBLE, of int16 as above. */
typedef struct tosac_added {
    int32_t outer, n, inner, bias;
    tosac_type type, result;
    tosac_requant q;
} tosac_added;
void tosac_sum(const tosac_added *p, const void *x, void *out);

/* MATMUL: a [n, h, c], b [n, c, w], result [n, h, w]. */
typedef struct tosac_matmul {
    int32_t n, h, c, w, a_zero, b_zero;
    tosac_type type, result;
    tosac_requant q;
} tosac_matmul;
void tosac_matmul_any(const tosac_matmul *p, const void *a, const void *b, void *out);

/* ---- windows, axes, indices ---- */

typedef struct tosac_pool {
    int32_t batches, in_h, in_w, channels, out_h, out_w;
    int32_t kernel_h, kernel_w, stride_h, stride_w, top, left;
    int32_t x_zero, out_zero;
    tosac_type type;
} tosac_pool;
void tosac_max_pool(const tosac_pool *p, const void *x, void *out);
void tosac_avg_pool(const tosac_pool *p, const void *x, void *out);

/* x is [outer, n, inner]; the axis in the middle goes. */
typedef enum tosac_reduction {
    TOSAC_SUM,
    TOSAC_MAX,
    TOSAC_MIN,
    TOSAC_ALL,
    TOSAC_ANY,
    TOSAC_PRODUCT /* of floats */
} tosac_reduction;
void tosac_reduce(tosac_reduction what, tosac_type type, int32_t outer, int32_t n, int32_t inner,
                  const void *x, void *out);
void tosac_argmax(tosac_type type, int32_t outer, int32_t n, int32_t inner, const void *x,
                  int32_t *out);

/* Elements of `size` bytes along `rank` axes; axis: extent, step of the source, step of the
 * destination, in elements, outermost first. */
void tosac_move(const int32_t (*axis)[3], int32_t rank, int32_t size, const void *from, void *to);

/* values [n, k], indices [n, w], out [n, w]: rows of `row` bytes.  What is outside is left out. */
void tosac_gather(int32_t n, int32_t k, int32_t w, int32_t row, const void *values,
                  const int32_t *indices, void *out);
void tosac_scatter(int32_t n, int32_t k, int32_t w, int32_t row, const void *values,
                   const int32_t *indices, const void *input, void *out);

/* out row o at o * d + offset = i * n + rest of the input's rows. */
typedef struct tosac_resize {
    int32_t batches, in_h, in_w, channels, out_h, out_w;
    int32_t y_n, y_d, y_offset, x_n, x_d, x_offset;
    tosac_type type, result;
} tosac_resize;
void tosac_resize_nearest(const tosac_resize *p, const void *x, void *out);
void tosac_resize_bilinear(const tosac_resize *p, const void *x, void *out);

#endif
