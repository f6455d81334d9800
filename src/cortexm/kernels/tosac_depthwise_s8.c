/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise_s8.c -- DEPTHWISE_CONV2D of int8, one result channel for each channel.
 *
 * Some channels at a time over the whole image.  A window's taps are rows y0 .. y1 and columns
 * x0 .. x1 inside the image, and others outside, which count as x_zero. */
#include "tosac_simd.h"

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

TOSAC_INLINE void store4(const tosac_window *p, int8_t *to, int32x4_t sum, const block *b, int32_t i)
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
typedef struct sums {
    int32_t v0, v1, v2, v3;
} sums;

typedef struct block {
    const int8_t *w;
    int32_t channels;
    sums bias;
    tosac_one by[4];
} block;

static block block_at(const tosac_window *p, const int8_t *w, const int32_t *bias, int32_t c)
{
    block b = {.w = w + c, .channels = tosac_min(p->in_c - c, 4)};
    int32_t start[4] = {0};
    for (int32_t i = 0; i < b.channels; i++) {
        start[i] = bias[c + i];
        b.by[i] = tosac_one_of(&p->q, c + i);
    }
    b.bias = (sums){start[0], start[1], start[2], start[3]};
    return b;
}

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

#else

typedef struct bytes {
    int32_t v0, v1, v2, v3;
} bytes;

TOSAC_INLINE bytes load(const int8_t *p) { return (bytes){p[0], p[1], p[2], p[3]}; }
TOSAC_INLINE bytes fill(int32_t v) { return (bytes){v, v, v, v}; }
TOSAC_INLINE bytes load_some(const int8_t *p, const block *b)
{
    const int32_t n = b->channels;
    return (bytes){p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0};
}

TOSAC_INLINE sums add(sums s, bytes x, bytes w)
{
    return (sums){tosac_add(s.v0, x.v0 * w.v0), tosac_add(s.v1, x.v1 * w.v1),
                  tosac_add(s.v2, x.v2 * w.v2), tosac_add(s.v3, x.v3 * w.v3)};
}

#endif

TOSAC_INLINE void store(const tosac_window *p, int8_t *to, sums s, const block *b)
{
    to[0] = tosac_requantize1(&p->q, s.v0, &b->by[0]);
    if (b->channels > 1)
        to[1] = tosac_requantize1(&p->q, s.v1, &b->by[1]);
    if (b->channels > 2)
        to[2] = tosac_requantize1(&p->q, s.v2, &b->by[2]);
    if (b->channels > 3)
        to[3] = tosac_requantize1(&p->q, s.v3, &b->by[3]);
}

#endif

/* ---- windows ---- */

/* Taps first .. last of `kernel`, `dilation` apart from `at` on, that are inside `extent`. */
typedef struct range {
    int32_t first, last;
} range;

static range inside(int32_t at, int32_t kernel, int32_t dilation, int32_t extent)
{
    range r = {0, kernel};
    if (at < 0)
        r.first = tosac_min((-at + dilation - 1) / dilation, kernel);
    if (at + (kernel - 1) * dilation >= extent)
        r.last = at >= extent ? r.first : tosac_max((extent - 1 - at) / dilation + 1, r.first);
    return r;
}

/* n taps outside. */
TOSAC_INLINE sums skip(const tosac_window *p, sums s, const int8_t *w, int32_t n, const block *b)
{
    for (; n > 0; n--, w += p->in_c)
        s = add(s, fill(p->x_zero), load_some(w, b));
    return s;
}

/* Some taps are outside, or there are fewer channels.  at: where the first tap reads, were it inside. */
static sums some_taps(const tosac_window *p, range ys, range xs, const int8_t *image, int32_t at,
                      const block *b)
{
    const int32_t row = p->kernel_w * p->in_c, step = p->dilation_w * p->in_c;
    const int32_t next = p->dilation_h * p->in_w * p->in_c;
    const int8_t *w = b->w + ys.first * row;
    sums s = skip(p, b->bias, b->w, ys.first * p->kernel_w, b);
    at += ys.first * next + xs.first * step;
    for (int32_t kh = ys.first; kh < ys.last; kh++, w += row, at += next) {
        const int8_t *r = w + xs.first * p->in_c, *from = xs.first < xs.last ? image + at : NULL;
        s = skip(p, s, w, xs.first, b);
        for (int32_t n = xs.last - xs.first; n > 0; n--, r += p->in_c, from += step)
            s = add(s, load_some(from, b), load_some(r, b));
        s = skip(p, s, r, p->kernel_w - xs.last, b);
    }
    return skip(p, s, w, (p->kernel_h - ys.last) * p->kernel_w, b);
}

TOSAC_INLINE sums all_taps(const tosac_window *p, const int8_t *x, const block *b)
{
    const int32_t c = p->in_c, step = p->dilation_w * c, row = p->kernel_w * c;
    const int32_t next = p->dilation_h * p->in_w * c;
    const int8_t *w = b->w, *end = w + p->kernel_h * row;
    sums s = b->bias;
    for (; w < end; x += next) {
        const int8_t *from = x, *last = w + row;
        for (; w < last; w += c, from += step)
            s = add(s, load(from), load(w));
    }
    return s;
}

static void image(const tosac_window *p, const int8_t *x, const block *b, int8_t *out)
{
    for (int32_t oy = 0; oy < p->out_h; oy++) {
        const int32_t y = oy * p->stride_h - p->top;
        const range ys = inside(y, p->kernel_h, p->dilation_h, p->in_h);
        const int32_t all = b->channels == LANES && ys.last - ys.first == p->kernel_h;
        int32_t left = -p->left, end = p->in_w - (p->kernel_w - 1) * p->dilation_w;
        for (int32_t ox = 0; ox < p->out_w; ox++, left += p->stride_w, out += p->out_c) {
            const int32_t at = (y * p->in_w + left) * p->in_c;
            if (all && left >= 0 && left < end) {
                store(p, out, all_taps(p, x + at, b), b);
            } else {
                range xs = inside(left, p->kernel_w, p->dilation_w, p->in_w);
                store(p, out, some_taps(p, ys, xs, x, at, b), b);
            }
        }
    }
}

void tosac_depthwise_s8(const tosac_window *p, const int8_t *x, const int8_t *w,
                        const int32_t *bias, int8_t *out)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t c = 0; c < p->in_c; c += LANES) {
            const block b = block_at(p, w, bias, c);
            image(p, x + c, &b, out + c);
        }
        x += p->in_h * p->in_w * p->in_c;
        out += p->out_h * p->out_w * p->out_c;
    }
}
