/* SPDX-License-Identifier: Apache-2.0 */
/* int_transposed.c -- see int_transposed.h.
 *
 * y[o] = sum of x[i] w[k] over o = stride i + out_pad + k.  With zeros between the pixels of x that
 * is a convolution by the kernel turned around, padded by out_pad + k - 1. */
#include "int_transposed.h"

#include "int16.h"
#include "windows.h"

enum { MOST_ZEROS = 16 }; /* numbers for each one of x */

struct tc_transposed {
    const tc_conv8 *conv8;
    const tc_conv16 *conv16; /* one of them */
    int64_t n, h, w, c, stride[2];
    int64_t wide_h, wide_w;
    size_t pixel; /* bytes */
    int8_t zero;
};

static tc_tensor turned(tc_ctx *ctx, tc_tensor w)
{
    const int64_t *d = w.type->dim;
    tc_tensor out = {w.type, ti_arena_raw(&ctx->arena, tc_type_bytes(w.type))};
    const int8_t *from = w.data;
    int8_t *to = out.data;
    for (int64_t o = 0; o < d[0]; o++)
        for (int64_t k = 0, taps = d[1] * d[2]; k < taps; k++)
            memcpy(to + (o * taps + taps - 1 - k) * d[3], from + (o * taps + k) * d[3],
                   (size_t)d[3]);
    return out;
}

static size_t wide_bytes(const tc_transposed *t)
{
    return ((size_t)(t->n * t->wide_h * t->wide_w) * t->pixel + TC_OVERREAD + 63) / 64 * 64;
}

tc_transposed *ti_transposed_new(tc_ctx *ctx, const tc_attr_tosa_transpose_conv *a,
                                 const tc_type *x, const tc_type *y, tc_tensor w, tc_tensor bias,
                                 int32_t x_zero, const tc_narrow *narrow)
{
    static const int64_t ones[2] = {1, 1};
    const int64_t *kernel = w.type->dim + 1, *stride = a->stride.v;
    int64_t *pad = tc_new_n(&ctx->arena, int64_t, 4);
    for (int i = 0; i < 4; i++)
        pad[i] = a->out_pad.v[i] + kernel[i / 2] - 1;
    if (stride[0] * stride[1] > MOST_ZEROS || pad[0] < 0 || pad[1] < 0 || pad[2] < 0 || pad[3] < 0)
        return NULL;
    tc_transposed *t = tc_new(&ctx->arena, tc_transposed);
    *t = (tc_transposed){.n = x->dim[0], .h = x->dim[1], .w = x->dim[2], .c = x->dim[3],
                         .stride = {stride[0], stride[1]},
                         .wide_h = (x->dim[1] - 1) * stride[0] + 1,
                         .wide_w = (x->dim[2] - 1) * stride[1] + 1,
                         .pixel = (size_t)x->dim[3] * tc_dtypes[x->dtype].bytes,
                         .zero = (int8_t)x_zero};
    tc_attr_tosa_conv *conv = tc_new(&ctx->arena, tc_attr_tosa_conv);
    *conv = (tc_attr_tosa_conv){.pad = {4, pad}, .stride = {2, ones}, .dilation = {2, ones},
                                .local_bound = a->local_bound, .acc_type = a->acc_type};
    const tc_type *wide =
        ti_type_make(ctx, x->dtype, 4, (int64_t[]){t->n, t->wide_h, t->wide_w, t->c});
    tc_tensor weight = turned(ctx, w);
    if (x->dtype == TC_i8)
        t->conv8 = ti_conv8_new(ctx, conv, wide, y, weight, bias, x_zero, narrow);
    else
        t->conv16 = ti_conv16_new(ctx, conv, wide, y, weight, bias, narrow);
    return t->conv8 || t->conv16 ? t : NULL;
}

size_t ti_transposed_scratch(const tc_transposed *t)
{
    return wide_bytes(t) + (t->conv8 ? ti_conv8_scratch(t->conv8) : ti_conv16_scratch(t->conv16));
}

void ti_transposed_run(const tc_transposed *t, const void *x, void *y, void *scratch)
{
    const uint8_t *from = x;
    uint8_t *wide = scratch, *rest = wide + wide_bytes(t);
    memset(wide, t->conv8 ? t->zero : 0, wide_bytes(t));
    for (int64_t n = 0; n < t->n; n++)
        for (int64_t i = 0; i < t->h; i++)
            for (int64_t j = 0; j < t->w; j++, from += t->pixel)
                memcpy(wide + (size_t)((n * t->wide_h + i * t->stride[0]) * t->wide_w +
                                       j * t->stride[1]) * t->pixel,
                       from, t->pixel);
    if (t->conv8)
        ti_conv8_run(t->conv8, (const int8_t *)wide, y, rest);
    else
        ti_conv16_run(t->conv16, (const int16_t *)(const void *)wide, y, rest);
}
