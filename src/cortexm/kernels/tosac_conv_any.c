/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv_any.c -- convolutions of any types and kinds, written to be read beside the
 * specification. */
#include "tosac_kernels.h"

/* Where tap k of the window at place o reads along an axis; -1: outside. */
static int32_t tap(const tosac_conv *p, int axis, int32_t o, int32_t k)
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
    int32_t k = 0, each = p->depthwise ? p->out_c / p->in_c : 1;
    for (int32_t kd = 0; kd < p->kernel[0]; kd++)
        for (int32_t kh = 0; kh < p->kernel[1]; kh++)
            for (int32_t kw = 0; kw < p->kernel[2]; kw++, k++) {
                int32_t z = tap(p, 0, o[0], kd), y = tap(p, 1, o[1], kh), c = tap(p, 2, o[2], kw);
                if (z < 0 || y < 0 || c < 0)
                    continue;
                int32_t at = (image + (z * p->in[1] + y) * p->in[2] + c) * p->in_c;
                sum +=
                    (uint64_t)(p->depthwise
                                   ? products(p, x, w, at + oc / each, k * p->out_c + oc, 1)
                                   : products(p, x, w, at, oc * row_of(p) + k * p->in_c, p->in_c));
            }
    return (int64_t)sum;
}

void tosac_conv_any(const tosac_conv *p, const void *x, const void *w, const void *bias, void *out)
{
    int32_t at = 0, o[3];
    for (int32_t n = 0; n < p->batches; n++)
        for (o[0] = 0; o[0] < p->out[0]; o[0]++)
            for (o[1] = 0; o[1] < p->out[1]; o[1]++)
                for (o[2] = 0; o[2] < p->out[2]; o[2]++)
                    for (int32_t oc = 0; oc < p->out_c; oc++) {
                        int32_t image = n * p->in[0] * p->in[1] * p->in[2];
                        int64_t sum = window(p, x, w, image, o, oc);
                        sum = (int64_t)((uint64_t)sum +
                                        (uint64_t)tosac_load(bias, p->bias, oc * p->bias_step));
                        tosac_store_sum(&p->q, out, p->result, at++, oc, sum);
                    }
}
