/* SPDX-License-Identifier: Apache-2.0 */
/* int_spread.c -- see int_spread.h.
 *
 *   TRANSPOSE_CONV2D   y[o] = sum of x[i] w[k] over o = stride i + out_pad + k: with zeros between
 *                      the pixels of x a convolution by the reversed kernel, padded by
 *                      out_pad + k - 1
 *   CONV3D             the input frames of an output frame, concatenated as channels */
#include "int_spread.h"

#include "int16.h"
#include "windows.h"

enum { MOST_ZEROS = 16 }; /* elements for each one of x */
static const double MOST_BYTES = 1 << 28;

struct tc_spread {
    const tc_conv8 *conv8;
    const tc_conv16 *conv16; /* one of them */
    void (*lay)(const tc_spread *s, const uint8_t *x, uint8_t *wide); /* onto zeros */
    int64_t dim[5];          /* of x; without frames [1] is 1 */
    int64_t wide[4];
    int64_t stride[3], frames, taps, before, apart; /* of frames, except stride */
    size_t pixel;            /* bytes of x */
    int8_t zero;
};

static size_t wide_bytes(const tc_spread *s)
{
    int64_t n = s->wide[0] * s->wide[1] * s->wide[2] * s->taps;
    return ((size_t)n * s->pixel + TC_OVERREAD + 63) / 64 * 64;
}

static tc_spread *spread_new(tc_ctx *ctx, tc_spread s, const tc_attr_tosa_conv *conv,
                             const tc_type *x, const tc_type *y, tc_tensor w, tc_tensor bias,
                             int32_t x_zero, const tc_narrow *narrow)
{
    s.zero = (int8_t)x_zero;
    s.pixel = (size_t)s.dim[4] * tc_dtypes[x->dtype].bytes;
    s.wide[3] = s.taps * s.dim[4];
    const tc_type *wide = ti_type_make(ctx, x->dtype, 4, s.wide);
    if (x->dtype == TC_i8)
        s.conv8 = ti_conv8_new(ctx, conv, wide, y, w, bias, x_zero, narrow);
    else
        s.conv16 = ti_conv16_new(ctx, conv, wide, y, w, bias, narrow);
    return s.conv8 || s.conv16 ? ti_arena_copy(&ctx->arena, &s, sizeof s) : NULL;
}

size_t ti_spread_scratch(const tc_spread *s)
{
    return wide_bytes(s) + (s->conv8 ? ti_conv8_scratch(s->conv8) : ti_conv16_scratch(s->conv16));
}

void ti_spread_run(const tc_spread *s, const void *x, void *y, void *scratch)
{
    uint8_t *wide = scratch, *rest = wide + wide_bytes(s);
    memset(wide, s->conv8 ? s->zero : 0, wide_bytes(s));
    s->lay(s, x, wide);
    if (s->conv8)
        ti_conv8_run(s->conv8, (const int8_t *)wide, y, rest);
    else
        ti_conv16_run(s->conv16, (const int16_t *)(const void *)wide, y, rest);
}

/* ---- TRANSPOSE_CONV2D ---- */

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

static void lay_pixels(const tc_spread *s, const uint8_t *x, uint8_t *wide)
{
    for (int64_t n = 0; n < s->dim[0]; n++)
        for (int64_t i = 0; i < s->dim[2]; i++)
            for (int64_t j = 0; j < s->dim[3]; j++, x += s->pixel)
                memcpy(wide + (size_t)((n * s->wide[1] + i * s->stride[1]) * s->wide[2] +
                                       j * s->stride[2]) * s->pixel,
                       x, s->pixel);
}

tc_spread *ti_transposed_new(tc_ctx *ctx, const tc_attr_tosa_transpose_conv *a, const tc_type *x,
                             const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                             const tc_narrow *narrow)
{
    static const int64_t ones[2] = {1, 1};
    const int64_t *d = x->dim, *kernel = w.type->dim + 1, *stride = a->stride.v;
    int64_t *pad = tc_new_n(&ctx->arena, int64_t, 4);
    for (int i = 0; i < 4; i++)
        pad[i] = a->out_pad.v[i] + kernel[i / 2] - 1;
    if (stride[0] * stride[1] > MOST_ZEROS || pad[0] < 0 || pad[1] < 0 || pad[2] < 0 || pad[3] < 0)
        return NULL;
    tc_attr_tosa_conv *conv = tc_new(&ctx->arena, tc_attr_tosa_conv);
    *conv = (tc_attr_tosa_conv){.pad = {4, pad}, .stride = {2, ones}, .dilation = {2, ones},
                                .local_bound = a->local_bound, .acc_type = a->acc_type};
    tc_spread s = {.lay = lay_pixels, .dim = {d[0], 1, d[1], d[2], d[3]}, .taps = 1,
                   .wide = {d[0], (d[1] - 1) * stride[0] + 1, (d[2] - 1) * stride[1] + 1},
                   .stride = {1, stride[0], stride[1]}};
    return spread_new(ctx, s, conv, x, y, turned(ctx, w), bias, x_zero, narrow);
}

/* ---- CONV3D ---- */

/* [o][kd][kh][kw][i] as [o][kh][kw][kd][i]. */
static tc_tensor frames_last(tc_ctx *ctx, tc_tensor w)
{
    const int64_t *d = w.type->dim;
    int64_t flat[4] = {d[0], d[2], d[3], d[1] * d[4]}, taps = d[2] * d[3];
    tc_tensor out = {ti_type_make(ctx, w.type->dtype, 4, flat),
                     ti_arena_raw(&ctx->arena, tc_type_bytes(w.type))};
    const int8_t *from = w.data;
    int8_t *to = out.data;
    for (int64_t o = 0; o < d[0]; o++)
        for (int64_t f = 0; f < d[1]; f++)
            for (int64_t k = 0; k < taps; k++, from += d[4])
                memcpy(to + ((o * taps + k) * d[1] + f) * d[4], from, (size_t)d[4]);
    return out;
}

static void lay_frames(const tc_spread *s, const uint8_t *x, uint8_t *wide)
{
    int64_t pixels = s->wide[1] * s->wide[2];
    for (int64_t n = 0; n < s->dim[0]; n++)
        for (int64_t o = 0; o < s->frames; o++, wide += (size_t)(pixels * s->taps) * s->pixel)
            for (int64_t k = 0; k < s->taps; k++) {
                int64_t f = o * s->stride[0] - s->before + k * s->apart;
                if (f < 0 || f >= s->dim[1])
                    continue;
                const uint8_t *from = x + (size_t)((n * s->dim[1] + f) * pixels) * s->pixel;
                for (int64_t i = 0; i < pixels; i++)
                    memcpy(wide + (size_t)(i * s->taps + k) * s->pixel, from + (size_t)i * s->pixel,
                           s->pixel);
            }
}

tc_spread *ti_conv3d_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                         const tc_narrow *narrow)
{
    const int64_t *d = x->dim, *o = y->dim;
    double bytes = (double)d[0] * (double)o[1] * (double)d[2] * (double)d[3] *
                   (double)w.type->dim[1] * (double)d[4] * (double)tc_dtypes[x->dtype].bytes;
    if (bytes > MOST_BYTES)
        return NULL;
    tc_attr_tosa_conv *conv = tc_new(&ctx->arena, tc_attr_tosa_conv);
    *conv = (tc_attr_tosa_conv){.pad = {4, a->pad.v + 2}, .stride = {2, a->stride.v + 1},
                                .dilation = {2, a->dilation.v + 1}, .local_bound = a->local_bound,
                                .acc_type = a->acc_type};
    tc_spread s = {.lay = lay_frames, .dim = {d[0], d[1], d[2], d[3], d[4]},
                   .wide = {d[0] * o[1], d[2], d[3]}, .taps = w.type->dim[1], .frames = o[1],
                   .stride = {a->stride.v[0]}, .before = a->pad.v[0], .apart = a->dilation.v[0]};
    const tc_type *flat =
        ti_type_make(ctx, y->dtype, 4, (int64_t[]){d[0] * o[1], o[2], o[3], o[4]});
    return spread_new(ctx, s, conv, x, flat, frames_last(ctx, w), bias, x_zero, narrow);
}
