/* SPDX-License-Identifier: Apache-2.0 */
/* arm_nnfunctions.h -- the functions of CMSIS-NN that models in C call, as plain loops: what a call says, in
 * the order of its arguments.
 *
 * Scratch is written over before anything is read: what lies in it by mistake is lost.  A function that
 * needs scratch and has none fails.  ARM_MATH_MVEI: a fully connected layer has kernel sums, and no bias. */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;
typedef struct { int32_t w, h; } cmsis_nn_tile;
typedef struct { void *buf; int32_t size; } cmsis_nn_context;
typedef struct { int32_t n, h, w, c; } cmsis_nn_dims;
typedef struct { int32_t *multiplier, *shift; } cmsis_nn_per_channel_quant_params;
typedef struct { int32_t multiplier, shift; } cmsis_nn_per_tensor_quant_params;
typedef struct { int32_t min, max; } cmsis_nn_activation;
typedef struct {
    int32_t input_offset, output_offset;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;
typedef struct {
    int32_t input_offset, output_offset, ch_mult;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;
typedef struct {
    cmsis_nn_tile stride, padding;
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;
typedef struct {
    int32_t input_offset, filter_offset, output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;
typedef struct {
    const bool adj_x, adj_y;
    cmsis_nn_fc_params fc_params;
} cmsis_nn_bmm_params;

/* v * m * 2^(shift - 31), rounded twice. */
static inline int32_t stub_scaled(int32_t v, int32_t m, int32_t shift)
{
    int64_t product = (int64_t)v * (1 << (shift > 0 ? shift : 0)) * m;
    int64_t high = (product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (INT64_C(1) << 31);
    int64_t unit = INT64_C(1) << (shift < 0 ? -shift : 0), half = unit / 2;
    return (int32_t)(high >= 0 ? (high + half) / unit : -((-high + half) / unit));
}

static inline int8_t stub_code(int32_t v, int32_t zero, cmsis_nn_activation a)
{
    v += zero;
    return (int8_t)(v < a.min ? a.min : v > a.max ? a.max : v);
}

static inline bool stub_scratch(const cmsis_nn_context *context, bool needed)
{
    if (context->buf)
        memset(context->buf, 0x5A, (size_t)context->size);
    return !needed || (context->buf && (uintptr_t)context->buf % 16 == 0);
}

/* One window of a convolution: channel c of x by the weights of channel o; c < 0: all channels. */
static inline int32_t stub_window(const cmsis_nn_conv_params *p, const cmsis_nn_dims *x, const int8_t *from,
                                  const cmsis_nn_dims *w, const int8_t *weights, int32_t y, int32_t col, int32_t o,
                                  int32_t c)
{
    int32_t sum = 0, first = c < 0 ? 0 : c, last = c < 0 ? x->c : c + 1;
    for (int32_t i = 0; i < w->h; i++)
        for (int32_t j = 0; j < w->w; j++) {
            int32_t at_y = y * p->stride.h - p->padding.h + i * p->dilation.h;
            int32_t at_x = col * p->stride.w - p->padding.w + j * p->dilation.w;
            if (at_y < 0 || at_y >= x->h || at_x < 0 || at_x >= x->w)
                continue;
            for (int32_t k = first; k < last; k++) {
                int8_t weight = c < 0 ? weights[((o * w->h + i) * w->w + j) * w->c + k] : weights[(i * w->w + j) * w->c + o];
                sum += (from[(at_y * x->w + at_x) * x->c + k] + p->input_offset) * weight;
            }
        }
    return sum;
}

static inline void stub_conv(const cmsis_nn_conv_params *p, const cmsis_nn_per_channel_quant_params *q,
                             const cmsis_nn_dims *x, const int8_t *from, const cmsis_nn_dims *w, const int8_t *weights,
                             const int32_t *bias, const cmsis_nn_dims *y, int8_t *to, int32_t each)
{
    for (int32_t n = 0; n < x->n; n++, from += x->h * x->w * x->c)
        for (int32_t i = 0; i < y->h; i++)
            for (int32_t j = 0; j < y->w; j++)
                for (int32_t o = 0; o < y->c; o++) {
                    int32_t sum = stub_window(p, x, from, w, weights, i, j, o, each ? o / each : -1);
                    sum += bias ? bias[o] : 0;
                    *to++ = stub_code(stub_scaled(sum, q->multiplier[o], q->shift[o]), p->output_offset, p->activation);
                }
}

static inline arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_conv_params *p, const cmsis_nn_per_channel_quant_params *q,
    const cmsis_nn_dims *x, const int8_t *from, const cmsis_nn_dims *w, const int8_t *weights,
    const cmsis_nn_dims *b, const int32_t *bias, const cmsis_nn_dims *y, int8_t *to)
{
    bool plain = w->h == 1 && w->w == 1 && p->padding.h == 0 && p->padding.w == 0;
    bool row = x->h == 1 && w->h == 1 && !plain && p->dilation.w == 1 && p->stride.w * x->c % 4 == 0;
    int32_t total = (y->w - 1) * p->stride.w + w->w - x->w, pad = p->padding.w;
#ifdef ARM_MATH_MVEI /* what its kernel for rows gets wrong */
    if (row && ((total != 2 * pad && total != 2 * pad + 1) || (p->stride.w != 1 && total - pad > 1)))
        return ARM_CMSIS_NN_ARG_ERROR;
#endif
    (void)row, (void)total, (void)pad;
    if (!stub_scratch(context, !plain) || w->n != y->c || w->c != x->c || b->c != y->c)
        return ARM_CMSIS_NN_ARG_ERROR;
    stub_conv(p, q, x, from, w, weights, bias, y, to, 0);
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *p, const cmsis_nn_per_channel_quant_params *q,
    const cmsis_nn_dims *x, const int8_t *from, const cmsis_nn_dims *w, const int8_t *weights,
    const cmsis_nn_dims *b, const int32_t *bias, const cmsis_nn_dims *y, int8_t *to)
{
    const cmsis_nn_conv_params conv = {p->input_offset, p->output_offset, p->stride, p->padding, p->dilation, p->activation};
#ifdef ARM_MATH_MVEI /* it reads beside a bias that is not there */
    if (!bias && y->c > 124)
        return ARM_CMSIS_NN_ARG_ERROR;
#endif
    if (!stub_scratch(context, false) || w->n != 1 || w->c != y->c || x->c * p->ch_mult != y->c || b->c != y->c)
        return ARM_CMSIS_NN_ARG_ERROR;
    stub_conv(&conv, q, x, from, w, weights, bias, y, to, p->ch_mult);
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *context, const cmsis_nn_fc_params *p, const cmsis_nn_per_tensor_quant_params *q,
    const cmsis_nn_dims *x, const int8_t *from, const cmsis_nn_dims *w, const int8_t *weights,
    const cmsis_nn_dims *b, const int32_t *bias, const cmsis_nn_dims *y, int8_t *to)
{
    const int32_t *sums = context->buf;
#ifdef ARM_MATH_MVEI
    if (!sums || bias || context->size != 4 * w->c)
        return ARM_CMSIS_NN_ARG_ERROR;
#endif
    if (w->n != x->c || w->c != y->c || b->c != y->c || x->n != y->n)
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t n = 0; n < x->n; n++)
        for (int32_t o = 0; o < w->c; o++) {
            int32_t sum = sums ? sums[o] : bias ? bias[o] : 0, offset = sums ? 0 : p->input_offset;
            for (int32_t i = 0; i < w->n; i++)
                sum += (from[n * w->n + i] + offset) * (weights[o * w->n + i] + p->filter_offset);
            *to++ = stub_code(stub_scaled(sum, q->multiplier, q->shift), p->output_offset, p->activation);
        }
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status arm_batch_matmul_s8(
    const cmsis_nn_context *context, const cmsis_nn_bmm_params *p, const cmsis_nn_per_tensor_quant_params *q,
    const cmsis_nn_dims *a, const int8_t *left, const cmsis_nn_dims *b, const int8_t *right, const cmsis_nn_dims *y,
    int8_t *to)
{
    const cmsis_nn_fc_params *f = &p->fc_params;
#ifdef ARM_MATH_MVEI
    bool needed = true;
#else
    bool needed = false;
#endif
    if (!stub_scratch(context, needed) || a->n != b->n || a->c != b->c || y->n != a->n || y->w != a->w || y->c != b->w)
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t n = 0; n < a->n; n++)
        for (int32_t i = 0; i < a->w; i++)
            for (int32_t j = 0; j < b->w; j++) {
                int32_t sum = 0;
                for (int32_t k = 0; k < a->c; k++)
                    sum += (left[(n * a->w + i) * a->c + k] + f->input_offset) *
                           (right[(n * b->w + j) * b->c + k] + f->filter_offset);
                *to++ = stub_code(stub_scaled(sum, q->multiplier, q->shift), f->output_offset, f->activation);
            }
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *a, const int8_t *b, int32_t a_offset, int32_t a_m, int32_t a_shift, int32_t b_offset, int32_t b_m,
    int32_t b_shift, int32_t left, int8_t *to, int32_t offset, int32_t m, int32_t shift, int32_t lo, int32_t hi, int32_t n)
{
    const cmsis_nn_activation bounds = {lo, hi};
    if (left != 20) /* with another DSP's gives wrong numbers */
        return ARM_CMSIS_NN_ARG_ERROR;
    for (int32_t i = 0; i < n; i++) {
        int32_t sum = stub_scaled((a[i] + a_offset) * (1 << left), a_m, a_shift) +
                      stub_scaled((b[i] + b_offset) * (1 << left), b_m, b_shift);
        to[i] = stub_code(stub_scaled(sum, m, shift), offset, bounds);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *a, const int8_t *b, int32_t a_offset,
                                                         int32_t b_offset, int8_t *to, int32_t offset, int32_t m,
                                                         int32_t shift, int32_t lo, int32_t hi, int32_t n)
{
    const cmsis_nn_activation bounds = {lo, hi};
    for (int32_t i = 0; i < n; i++)
        to[i] = stub_code(stub_scaled((a[i] + a_offset) * (b[i] + b_offset), m, shift), offset, bounds);
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status stub_pool(const cmsis_nn_pool_params *p, const cmsis_nn_dims *x, const int8_t *from,
                                            const cmsis_nn_dims *w, const cmsis_nn_dims *y, int8_t *to, bool mean)
{
    for (int32_t n = 0; n < x->n; n++, from += x->h * x->w * x->c)
        for (int32_t at = 0; at < y->h * y->w * y->c; at++) {
            int32_t c = at % y->c, j = at / y->c % y->w, i = at / y->c / y->w, sum = 0, most = INT8_MIN, count = 0;
            for (int32_t tap = 0; tap < w->h * w->w; tap++) {
                int32_t at_y = i * p->stride.h - p->padding.h + tap / w->w;
                int32_t at_x = j * p->stride.w - p->padding.w + tap % w->w;
                if (at_y < 0 || at_y >= x->h || at_x < 0 || at_x >= x->w)
                    continue;
                int32_t v = from[(at_y * x->w + at_x) * x->c + c];
                most = v > most ? v : most;
                sum += v;
                count++;
            }
            if (!count)
                return ARM_CMSIS_NN_ARG_ERROR;
            *to++ = stub_code(!mean ? most : (sum > 0 ? sum + count / 2 : sum - count / 2) / count, 0, p->activation);
        }
    return ARM_CMSIS_NN_SUCCESS;
}

static inline arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *context, const cmsis_nn_pool_params *p,
                                                 const cmsis_nn_dims *x, const int8_t *from, const cmsis_nn_dims *w,
                                                 const cmsis_nn_dims *y, int8_t *to)
{
#if defined(ARM_MATH_DSP) && !defined(ARM_MATH_MVEI)
    bool needed = true;
#else
    bool needed = false;
#endif
    return stub_scratch(context, needed) ? stub_pool(p, x, from, w, y, to, true) : ARM_CMSIS_NN_ARG_ERROR;
}

static inline arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *context, const cmsis_nn_pool_params *p,
                                                  const cmsis_nn_dims *x, const int8_t *from, const cmsis_nn_dims *w,
                                                  const cmsis_nn_dims *y, int8_t *to)
{
    (void)context;
    return stub_pool(p, x, from, w, y, to, false);
}

#endif
