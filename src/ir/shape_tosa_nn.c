/* SPDX-License-Identifier: Apache-2.0 */
/* shape_tosa_nn.c -- shape functions of TOSA: windows, matrix products, Fourier transforms,
 * resizing.
 */
#include "shape_tosa.h"

#include "../num/block_scaled.h"

/* a / b, which must be exact. */
static tc_status divide(const tc_infer *c, const char *what, int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || a % b != 0)
        return TC_REFUSE(c, "%s: %" PRId64 " is not a multiple of %" PRId64, what, a, b);
    *out = a / b;
    return TC_OK;
}

/* ---- pooling --------------------------------------------------------------------------------- */

/* x: [n, h, w, c].  pad: top, bottom, left, right, each smaller than the kernel along its axis. */
static tc_status pool(tc_infer *c, tc_ints kernel, tc_ints stride, tc_ints pad)
{
    const tc_type *x = ti_in(c, 0);
    int64_t dim[4];
    TC_TRY(ti_tosa_rank(c, 0, "input", 4));
    TC_TRY(ti_tosa_list(c, "kernel", kernel, 2, 1, INT32_MAX));
    TC_TRY(ti_tosa_list(c, "stride", stride, 2, 1, INT32_MAX));
    TC_TRY(ti_tosa_list(c, "pad", pad, 4, 0, INT32_MAX));
    dim[0] = x->dim[0];
    dim[3] = x->dim[3];
    for (int i = 0; i < 2; i++) {
        int64_t before = pad.v[2 * i], after = pad.v[2 * i + 1];
        if (before >= kernel.v[i] || after >= kernel.v[i])
            return TC_REFUSE(c,
                             "pad %" PRId64 ",%" PRId64 " is not smaller than the kernel, %" PRId64,
                             before, after, kernel.v[i]);
        TC_TRY(divide(c, "input + pad - kernel", x->dim[1 + i] + before + after - kernel.v[i],
                      stride.v[i], &dim[1 + i]));
        dim[1 + i]++;
    }
    ti_tosa_result(c, 0, x->dtype, 4, dim);
    return TC_OK;
}

tc_status ti_shape_tosa_avg_pool2d(tc_infer *c)
{
    const tc_attr_tosa_avg_pool *a = c->attr;
    TC_TRY(ti_tosa_single(c, 1, "input_zp"));
    TC_TRY(ti_tosa_single(c, 2, "output_zp"));
    return pool(c, a->kernel, a->stride, a->pad);
}

tc_status ti_shape_tosa_max_pool2d(tc_infer *c)
{
    const tc_attr_tosa_max_pool *a = c->attr;
    return pool(c, a->kernel, a->stride, a->pad);
}

/* Kernel, stride and pad are shapes, operands from `first` on. */
static tc_status adaptive_pool(tc_infer *c, int first)
{
    static const char *const name[] = {"kernel", "stride", "pad"};
    tc_ints list[3] = {{2, NULL}, {2, NULL}, {4, NULL}};
    for (int i = 0; i < 3; i++)
        TC_TRY(ti_tosa_values(c, first + i, name[i], list[i].n, &list[i].v));
    bool known = list[0].v && list[1].v && list[2].v;
    return known ? pool(c, list[0], list[1], list[2]) : TC_OK;
}

tc_status ti_shape_tosa_max_pool2d_adaptive(tc_infer *c)
{
    return adaptive_pool(c, 1);
}

tc_status ti_shape_tosa_avg_pool2d_adaptive(tc_infer *c)
{
    TC_TRY(ti_tosa_single(c, 1, "input_zp"));
    TC_TRY(ti_tosa_single(c, 2, "output_zp"));
    return adaptive_pool(c, 3);
}

/* ---- convolution ----------------------------------------------------------------------------- */

/* The accumulator type of conv and matmul for an element type. */
static tc_dtype sum_type(tc_dtype x)
{
    switch (x) {
    case TC_i4:
    case TC_i8:
        return TC_i32;
    case TC_i16:
        return TC_i48;
    case TC_e4m3:
    case TC_e5m2:
        return TC_f16;
    default:
        return x;
    }
}

/* The same where 1.1 permits other float accumulators: the declared one, if valid. */
static tc_dtype real_sum(const tc_infer *c, tc_dtype x)
{
    tc_dtype declared = ti_tosa_declared(c, TC_none);
    bool open = ti_is_float(x) && (declared == TC_f32 || declared == TC_f16);
    return open ? declared : ti_is_block(x) ? TC_f32 : sum_type(x);
}

/* bias: [channels] or [1]; zero points: [1]. */
static tc_status check_bias_at(const tc_infer *c, int at, int64_t channels)
{
    const tc_type *bias = ti_in(c, at);
    if (bias->rank != 1 || (bias->dim[0] != 1 && bias->dim[0] != channels))
        return TC_REFUSE(c, "bias has the shape %s, expected [1] or [%" PRId64 "]",
                         ti_dims_text(&c->ctx->arena, bias->rank, bias->dim), channels);
    return TC_OK;
}

static tc_status check_bias(const tc_infer *c, int64_t channels)
{
    TC_TRY(check_bias_at(c, 2, channels));
    TC_TRY(ti_tosa_single(c, 3, "input_zp"));
    return ti_tosa_single(c, 4, "weight_zp");
}

static tc_status check_channels(const tc_infer *c, int64_t x, int64_t weight)
{
    if (x == weight)
        return TC_OK;
    return TC_REFUSE(c, "the input has %" PRId64 " channels, the weights expect %" PRId64, x,
                     weight);
}

/* out[i] = (x - 1 + pad - (kernel - 1) * dilation) / stride + 1 along each of n axes. */
static tc_status windows(const tc_infer *c, const tc_attr_tosa_conv *a, int n, const int64_t *x,
                         const int64_t *kernel, int64_t *places)
{
    TC_TRY(ti_tosa_list(c, "pad", a->pad, 2 * n, 0, INT32_MAX));
    TC_TRY(ti_tosa_list(c, "stride", a->stride, n, 1, INT32_MAX));
    TC_TRY(ti_tosa_list(c, "dilation", a->dilation, n, 1, INT32_MAX));
    for (int i = 0; i < n; i++) {
        int64_t reach = (kernel[i] - 1) * a->dilation.v[i];
        TC_TRY(divide(c, "input - 1 + pad - (kernel - 1) * dilation",
                      x[i] - 1 + a->pad.v[2 * i] + a->pad.v[2 * i + 1] - reach, a->stride.v[i],
                      &places[i]));
        places[i]++;
    }
    return TC_OK;
}

/* x: [n, spatial.., c]   weight: [oc, kernel.., c]   result: [n, out.., oc] */
static tc_status conv(tc_infer *c, int axes)
{
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1);
    int64_t dim[TC_MAX_RANK];
    TC_TRY(ti_tosa_rank(c, 0, "input", axes + 2));
    TC_TRY(ti_tosa_rank(c, 1, "weight", axes + 2));
    TC_TRY(check_channels(c, x->dim[axes + 1], w->dim[axes + 1]));
    TC_TRY(check_bias(c, w->dim[0]));
    TC_TRY(windows(c, c->attr, axes, x->dim + 1, w->dim + 1, dim + 1));
    dim[0] = x->dim[0];
    dim[axes + 1] = w->dim[0];
    ti_tosa_result(c, 0, real_sum(c, x->dtype), axes + 2, dim);
    return TC_OK;
}

tc_status ti_shape_tosa_conv2d(tc_infer *c)
{
    return conv(c, 2);
}
tc_status ti_shape_tosa_conv3d(tc_infer *c)
{
    return conv(c, 3);
}

/* weight: [kh, kw, c, m]   result: [n, oh, ow, c * m] */
tc_status ti_shape_tosa_depthwise_conv2d(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1);
    int64_t dim[4];
    TC_TRY(ti_tosa_rank(c, 0, "input", 4));
    TC_TRY(ti_tosa_rank(c, 1, "weight", 4));
    TC_TRY(check_channels(c, x->dim[3], w->dim[2]));
    TC_TRY(check_bias(c, w->dim[2] * w->dim[3]));
    TC_TRY(windows(c, c->attr, 2, x->dim + 1, w->dim, dim + 1));
    dim[0] = x->dim[0];
    dim[3] = w->dim[2] * w->dim[3];
    ti_tosa_result(c, 0, real_sum(c, x->dtype), 4, dim);
    return TC_OK;
}

/* weight: [oc, kh, kw, c]   oh = (h - 1) * stride + out_pad before + after + kh */
tc_status ti_shape_tosa_transpose_conv2d(tc_infer *c)
{
    const tc_attr_tosa_transpose_conv *a = c->attr;
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1);
    int64_t dim[4];
    TC_TRY(ti_tosa_rank(c, 0, "input", 4));
    TC_TRY(ti_tosa_rank(c, 1, "weight", 4));
    TC_TRY(check_channels(c, x->dim[3], w->dim[3]));
    TC_TRY(check_bias(c, w->dim[0]));
    TC_TRY(ti_tosa_list(c, "out_pad", a->out_pad, 4, -INT32_MAX, INT32_MAX));
    TC_TRY(ti_tosa_list(c, "stride", a->stride, 2, 1, INT32_MAX));
    dim[0] = x->dim[0];
    dim[3] = w->dim[0];
    for (int i = 0; i < 2; i++) {
        int64_t before = a->out_pad.v[2 * i], after = a->out_pad.v[2 * i + 1],
                kernel = w->dim[1 + i];
        if (before <= -kernel || after <= -kernel)
            return TC_REFUSE(
                c, "out_pad %" PRId64 ",%" PRId64 " takes away the whole kernel, %" PRId64, before,
                after, kernel);
        dim[1 + i] = (x->dim[1 + i] - 1) * a->stride.v[i] + before + after + kernel;
        if (dim[1 + i] < 1)
            return TC_REFUSE(c, "the result has %" PRId64 " rows along axis %d", dim[1 + i], 1 + i);
    }
    ti_tosa_result(c, 0, real_sum(c, x->dtype), 4, dim);
    return TC_OK;
}

/* With separate scales: x, x_scale, weight, weight_scale, bias, pad, stride, dilation. */
tc_status ti_shape_tosa_conv2d_block_scaled(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 2);
    tc_attr_tosa_conv a = {.pad = {4, NULL}, .stride = {2, NULL}, .dilation = {2, NULL}};
    int64_t dim[4];
    TC_TRY(ti_tosa_rank(c, 0, "input", 4));
    TC_TRY(ti_tosa_rank(c, 2, "weight", 4));
    TC_TRY(ti_tosa_conv_scales(c));
    TC_TRY(check_channels(c, x->dim[3], w->dim[3]));
    TC_TRY(check_bias_at(c, 4, w->dim[0]));
    TC_TRY(ti_tosa_values(c, 5, "pad", 4, &a.pad.v));
    TC_TRY(ti_tosa_values(c, 6, "stride", 2, &a.stride.v));
    TC_TRY(ti_tosa_values(c, 7, "dilation", 2, &a.dilation.v));
    if (!a.pad.v || !a.stride.v || !a.dilation.v)
        return TC_OK;
    TC_TRY(windows(c, &a, 2, x->dim + 1, w->dim + 1, dim + 1));
    dim[0] = x->dim[0];
    dim[3] = w->dim[0];
    ti_tosa_result(c, 0, TC_f32, 4, dim);
    return TC_OK;
}

/* a: [n, h, c]   b: [n, c, w]   result: [n, h, w].  f16 and fp8 may accumulate in f16 or f32. */
tc_status ti_shape_tosa_matmul(tc_infer *c)
{
    const tc_type *a = ti_in(c, 0), *b = ti_in(c, 1);
    TC_TRY(ti_tosa_rank(c, 0, "A", 3));
    TC_TRY(ti_tosa_rank(c, 1, "B", 3));
    if (a->dim[0] != b->dim[0] || a->dim[2] != b->dim[1])
        return TC_REFUSE(c, "A has the shape %s and B %s, expected [n,h,c] and [n,c,w]",
                         ti_dims_text(&c->ctx->arena, 3, a->dim),
                         ti_dims_text(&c->ctx->arena, 3, b->dim));
    TC_TRY(ti_tosa_single(c, 2, "A_zp"));
    TC_TRY(ti_tosa_single(c, 3, "B_zp"));
    tc_dtype sum = a->dtype == TC_bf16 ? TC_f32 : sum_type(a->dtype);
    ti_tosa_result(c, 0, sum == TC_f16 ? ti_tosa_declared(c, sum) : sum, 3,
                   (int64_t[]){a->dim[0], a->dim[1], b->dim[2]});
    return TC_OK;
}

/* ---- Fourier transforms ---------------------------------------------------------------------- */

static bool power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static tc_status check_fft(const tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_tosa_rank(c, 0, "input_real", 3));
    if (!power_of_two(x->dim[1]) || !power_of_two(x->dim[2]))
        return TC_REFUSE(c,
                         "height and width are %" PRId64 " and %" PRId64 ", expected powers of two",
                         x->dim[1], x->dim[2]);
    return TC_OK;
}

tc_status ti_shape_tosa_fft2d(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(check_fft(c));
    if (!ti_same_dims(x, ti_in(c, 1)))
        return TC_REFUSE(c, "the imaginary input has the shape %s, the real one %s",
                         ti_dims_text(&c->ctx->arena, ti_in(c, 1)->rank, ti_in(c, 1)->dim),
                         ti_dims_text(&c->ctx->arena, 3, x->dim));
    for (int i = 0; i < 2; i++)
        ti_tosa_result(c, i, x->dtype, 3, x->dim);
    return TC_OK;
}

/* Half of the spectrum: the other half is symmetric. */
tc_status ti_shape_tosa_rfft2d(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(check_fft(c));
    for (int i = 0; i < 2; i++)
        ti_tosa_result(c, i, x->dtype, 3, (int64_t[]){x->dim[0], x->dim[1], x->dim[2] / 2 + 1});
    return TC_OK;
}

/* ---- resizing -------------------------------------------------------------------------------- */

enum { RESIZE_DIM = 16384, RESIZE_NUMERATOR = 2048 };

/* out = ((in - 1) * n - offset + border) / d + 1 with 0 < n <= 2048, 0 < d < 16 n,
 * -n <= offset < 16 n, -16 n <= border < n. */
static tc_status resized(const tc_infer *c, int64_t in, int64_t n, int64_t d, int64_t offset,
                         int64_t border, int64_t *places)
{
    if (n < 1 || n > RESIZE_NUMERATOR || d < 1 || d >= 16 * n)
        return TC_REFUSE(c,
                         "scale is %" PRId64 "/%" PRId64
                         ", allowed are 1 to %d over 1 to 16 times that less one",
                         n, d, RESIZE_NUMERATOR);
    if (offset < -n || offset >= 16 * n)
        return TC_REFUSE(c, "offset is %" PRId64 ", allowed are %" PRId64 " to %" PRId64, offset,
                         -n, 16 * n - 1);
    if (border < -16 * n || border >= n)
        return TC_REFUSE(c, "border is %" PRId64 ", allowed are %" PRId64 " to %" PRId64, border,
                         -16 * n, n - 1);
    TC_TRY(divide(c, "(input - 1) * numerator - offset + border", (in - 1) * n - offset + border, d,
                  places));
    ++*places;
    if (in >= RESIZE_DIM || *places >= RESIZE_DIM)
        return TC_REFUSE(c, "%" PRId64 " rows become %" PRId64 ", allowed are less than %d", in,
                         *places, RESIZE_DIM);
    return TC_OK;
}

/* x: [n, h, w, c]   scale: [y numerator, y denominator, x numerator, x denominator] */
tc_status ti_shape_tosa_resize(tc_infer *c)
{
    const tc_attr_tosa_resize *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    const int64_t *scale, *offset, *border;
    TC_TRY(ti_tosa_rank(c, 0, "input", 4));
    if (ti_is_block(x->dtype) && a->mode == TC_resize_mode_bilinear)
        return TC_REFUSE(c, "numbers of %s cannot be mixed", tc_dtypes[x->dtype].name);
    TC_TRY(ti_tosa_values(c, 1, "scale", 4, &scale));
    TC_TRY(ti_tosa_values(c, 2, "offset", 2, &offset));
    TC_TRY(ti_tosa_values(c, 3, "border", 2, &border));
    if (!scale || !offset || !border)
        return TC_OK;
    int64_t dim[4] = {x->dim[0], 0, 0, x->dim[3]};
    for (int i = 0; i < 2; i++)
        TC_TRY(resized(c, x->dim[1 + i], scale[2 * i], scale[2 * i + 1], offset[i], border[i],
                       &dim[1 + i]));
    bool sums = a->mode == TC_resize_mode_bilinear && !ti_is_float(x->dtype);
    ti_tosa_result(c, 0, sums ? sum_type(x->dtype) : x->dtype, 4, dim);
    return TC_OK;
}
