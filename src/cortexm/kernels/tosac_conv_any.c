/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv_any.c -- convolutions of any types and kinds, written as in the specification. */
#include "tosac_simd.h"

/* Sums of n products of int16 by int8, without zero points. */
static int64_t products16(const int16_t *a, const int8_t *b, int32_t n)
{
    int64_t wide = 0;
#if TOSAC_ISA == TOSAC_ISA_MVE
    for (; n > 0; n -= 8, a += 8, b += 8) {
        const mve_pred16_t lanes = vctp16q((uint32_t)n);
        wide = vmlaldavaq_s16(wide, vldrhq_z_s16(a, lanes), vldrbq_z_s16(b, lanes));
    }
#else
#if TOSAC_ISA == TOSAC_ISA_DSP
    for (; n >= 4; n -= 4, a += 4, b += 4) {
        const tosac_pairs w = tosac_pairs_at(b);
        wide = __smlald(tosac_two(a), w.low, wide);
        wide = __smlald(tosac_two(a + 2), w.high, wide);
    }
#endif
    while (n > 0) { /* 256 products fit 32 bits */
        const int32_t part = tosac_min(n, 256);
        int32_t sum = 0;
        for (int32_t i = 0; i < part; i++)
            sum += a[i] * b[i];
        wide += sum;
        n -= part, a += part, b += part;
    }
#endif
    return wide;
}

/* The products of one tap of one window: channels of x from x_at on, weights from w_at on.  Sums of
 * int8 are of 32 bits and wrap. */
static int64_t products(const tosac_conv *p, const void *x, const void *w, int32_t x_at,
                        int32_t w_at, int32_t n)
{
    const int32_t x_zero = p->x_zero, w_zero = p->w_zero;
    uint32_t sum = 0;
    int64_t wide = 0;
    if (p->x == TOSAC_I16) {
        const int16_t *a = (const int16_t *)x + x_at;
        const int8_t *b = (const int8_t *)w + w_at;
        if (x_zero == 0 && w_zero == 0)
            return products16(a, b, n);
        for (int32_t i = 0; i < n; i++)
            wide += (int64_t)(a[i] - x_zero) * (b[i] - w_zero);
        return wide;
    }
    const int8_t *a = (const int8_t *)x + x_at;
    if (p->w == TOSAC_I4) {
        for (int32_t i = 0; i < n; i++)
            sum += (uint32_t)((a[i] - x_zero) *
                              ((int32_t)tosac_load(w, TOSAC_I4, w_at + i) - w_zero));
    } else {
        const int8_t *b = (const int8_t *)w + w_at;
        for (int32_t i = 0; i < n; i++)
            sum += (uint32_t)((a[i] - x_zero) * (b[i] - w_zero));
    }
    return (int32_t)sum;
}

/* Weights of an output channel: a row of packed int4 begins on a byte. */
static int32_t row_of(const tosac_conv *p)
{
    int32_t n = p->kernel[0] * p->kernel[1] * p->kernel[2] * p->in_c;
    return p->w == TOSAC_I4 ? n + n % 2 : n;
}

static int64_t window(const tosac_conv *p, const void *x, const void *w, int32_t image,
                      const int32_t o[3], int32_t oc)
{
    uint64_t sum = 0;
    int32_t k = 0;
    for (int32_t kd = 0; kd < p->kernel[0]; kd++)
        for (int32_t kh = 0; kh < p->kernel[1]; kh++)
            for (int32_t kw = 0; kw < p->kernel[2]; kw++, k++) {
                int32_t z = tosac_tap(p, 0, o[0], kd), y = tosac_tap(p, 1, o[1], kh), c = tosac_tap(p, 2, o[2], kw);
                if (z < 0 || y < 0 || c < 0)
                    continue;
                int32_t at = (image + (z * p->in[1] + y) * p->in[2] + c) * p->in_c;
                sum += (uint64_t)products(p, x, w, at, oc * row_of(p) + k * p->in_c, p->in_c);
            }
    return (int64_t)sum;
}

/* ---- depthwise: the taps inside are the same for all channels ---- */

/* Taps first .. last of an axis that are inside. */
typedef struct range {
    int32_t first, last;
} range;

static range inside(const tosac_conv *p, int axis, int32_t o)
{
    range r = {0, p->kernel[axis]};
    while (r.first < r.last && tosac_tap(p, axis, o, r.first) < 0)
        r.first++;
    while (r.first < r.last && tosac_tap(p, axis, o, r.last - 1) < 0)
        r.last--;
    return r;
}

/* Products of a row of taps, in 32 bits. */
TOSAC_INLINE int32_t row(const tosac_conv *p, const void *x, const void *w, int32_t from, int32_t by,
                         int32_t n)
{
    const int32_t step = p->dilation[2] * p->in_c;
    uint32_t sum = 0;
    for (; n > 0; n--, from += step, by += p->out_c) {
        const int32_t a = p->x == TOSAC_I16 ? ((const int16_t *)x)[from]
                                            : ((const int8_t *)x)[from];
        const int32_t b = p->w == TOSAC_I4 ? (int32_t)tosac_load(w, TOSAC_I4, by)
                                           : ((const int8_t *)w)[by];
        sum += (uint32_t)((a - p->x_zero) * (b - p->w_zero));
    }
    return (int32_t)sum;
}

/* Sums of int8 wrap; of int16, 128 products fit. */
static int64_t channel(const tosac_conv *p, const void *x, const void *w, int32_t at, int32_t w_at,
                       range ys, range xs)
{
    const int32_t down = p->dilation[1] * p->in[2] * p->in_c, n = xs.last - xs.first;
    int64_t sum = 0;
    for (int32_t kh = ys.first; kh < ys.last; kh++, at += down, w_at += p->kernel[2] * p->out_c)
        for (int32_t k = 0; k < n; k += 128)
            sum += row(p, x, w, at + k * p->dilation[2] * p->in_c, w_at + k * p->out_c,
                       tosac_min(n - k, 128));
    return sum;
}

static void depthwise(const tosac_conv *p, const void *x, const void *w, const void *bias,
                      void *out, int32_t image, int32_t oy, int32_t ox, int32_t at)
{
    const range ys = inside(p, 1, oy), xs = inside(p, 2, ox);
    const int32_t each = p->out_c / p->in_c;
    const int32_t y = oy * p->stride[1] - p->before[1] + ys.first * p->dilation[1];
    const int32_t c = ox * p->stride[2] - p->before[2] + xs.first * p->dilation[2];
    const int32_t from = (image + y * p->in[2] + c) * p->in_c;
    const int32_t w_at = (ys.first * p->kernel[2] + xs.first) * p->out_c;
    for (int32_t ic = 0, oc = 0; ic < p->in_c; ic++)
        for (int32_t i = 0; i < each; i++, oc++) {
            const int64_t sum = channel(p, x, w, from + ic, w_at + oc, ys, xs);
            tosac_store_sum(&p->q, out, p->result, at + oc, oc,
                            sum + tosac_load(bias, p->bias, oc * p->bias_step));
        }
}

/* ---- all ---- */

void tosac_conv_any(const tosac_conv *p, const void *x, const void *w, const void *bias, void *out)
{
    int32_t at = 0, o[3];
    for (int32_t n = 0; n < p->batches; n++)
        for (o[0] = 0; o[0] < p->out[0]; o[0]++)
            for (o[1] = 0; o[1] < p->out[1]; o[1]++)
                for (o[2] = 0; o[2] < p->out[2]; o[2]++) {
                    const int32_t image = n * p->in[0] * p->in[1] * p->in[2];
                    if (p->depthwise) {
                        depthwise(p, x, w, bias, out, image, o[1], o[2], at);
                        at += p->out_c;
                        continue;
                    }
                    for (int32_t oc = 0; oc < p->out_c; oc++) {
                        int64_t sum = window(p, x, w, image, o, oc);
                        sum = (int64_t)((uint64_t)sum +
                                        (uint64_t)tosac_load(bias, p->bias, oc * p->bias_step));
                        tosac_store_sum(&p->q, out, p->result, at++, oc, sum);
                    }
                }
}
