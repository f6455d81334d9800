/* SPDX-License-Identifier: Apache-2.0 */
/* product.c -- convolutions and linear layers: integer products into an accumulator of scale
 * input x weight, then one change of scale into the result's domain. */
#include <math.h>

#include "build.h"

#include "../num/load.h"

/* An integer product's operands, checked. */
typedef struct product {
    const tc_type *x, *w, *y;
    int64_t channels;
    tc_dtype acc;
    double *scale; /* of the accumulator, by output channel */
} product;

static bool start(tc_lower *lw, const tc_node *node, int64_t channels, product *p)
{
    p->x = tc_lower_type(lw, node, 0);
    p->w = tc_lower_type(lw, node, 1);
    p->y = tc_lower_result(lw, node, 0);
    p->channels = channels;
    if (!tc_is_activation(p->x) || !p->w->quant || !p->y->quant) {
        tc_lower_refuse(lw, "its operands or its result are not all quantized");
        return false;
    }
    if (!tc_is_const(lw->to, tc_lower_in(lw, node, 1))) {
        tc_lower_refuse(lw, "its weights are not constant");
        return false;
    }
    p->acc = p->x->dtype == TC_i16 ? TC_i48 : TC_i32;
    p->scale = tc_new_n(&lw->ctx->arena, double, (size_t)channels);
    for (int64_t c = 0; c < channels; c++)
        p->scale[c] = p->x->quant->scale[0] * p->w->quant->scale[p->w->quant->axis >= 0 ? c : 0];
    return true;
}

/* The bias in the accumulator's domain, one number per output channel. */
static tc_val bias(tc_lower *lw, const tc_node *node, const product *p)
{
    double *b = tc_new_n(&lw->ctx->arena, double, (size_t)p->channels);
    const tc_type *t = tc_lower_type(lw, node, 2);
    if (t && node->in[2]) {
        tc_tensor known = tc_tensor_of(lw->from, node->in[2]);
        if (!known.data) {
            tc_lower_refuse(lw, "its bias is not constant");
            return TC_NONE;
        }
        for (int64_t c = 0; c < p->channels; c++) {
            double stored = tc_load_f64(known, c);
            double real = t->quant ? tc_real(t, c, (int64_t)stored) : stored;
            b[c] = rint(real / p->scale[c]);
        }
    }
    return tc_put_numbers(lw, p->acc, 1, &p->channels, b);
}

/* An accumulator whose last axis is the channel, as the result's domain. */
static tc_val narrow(tc_lower *lw, tc_val acc, const product *p)
{
    const tc_quant *q = p->y->quant;
    if (p->y->dtype == p->acc)
        return acc;
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)p->channels);
    bool one = true;
    for (int64_t c = 0; c < p->channels; c++) {
        factor[c] = p->scale[c] / q->scale[0];
        one = one && factor[c] == factor[0];
    }
    acc = one ? tc_put_rescale(lw, acc, factor[0], 0, q->zero[0], p->y->dtype)
              : tc_put_rescale_channels(lw, acc, factor, 0, q->zero[0], p->y->dtype);
    return tc_put_codes(lw, acc, q);
}

/* CONV2D, or DEPTHWISE_CONV2D, on x [n,h,w,c]. */
static tc_val conv2d(tc_lower *lw, const tc_node *node, tc_op op, const product *p, tc_val x, tc_val w,
                     const int64_t *pad, const int64_t *stride, const int64_t *dilation)
{
    tc_attr_tosa_conv *a = tc_new(&lw->ctx->arena, tc_attr_tosa_conv);
    *a = (tc_attr_tosa_conv){.pad = tc_ints_copy(&lw->ctx->arena, pad, 4),
                             .stride = tc_ints_copy(&lw->ctx->arena, stride, 2),
                             .dilation = tc_ints_copy(&lw->ctx->arena, dilation, 2),
                             .acc_type = p->acc};
    tc_val in[] = {x, w, bias(lw, node, p), tc_put_zero_point(lw, x, p->x->quant->zero[0]),
                   tc_put_zero_point(lw, w, p->w->quant->zero[0])};
    return tc_put(lw, op, a, in, 5);
}

/* Constant weights in another order of axes, laid out once. */
static tc_val weights(tc_lower *lw, tc_val w, const int64_t *perm, int rank, const int64_t *dim)
{
    tc_tensor from = tc_put_known(lw, w);
    const tc_type *t = from.type;
    if (lw->dry)
        return tc_put_data(lw, tc_type_make(lw->ctx, t->dtype, rank, dim), from.data);
    int64_t step[TC_MAX_RANK], out_dim[TC_MAX_RANK], walk = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = walk;
        walk *= t->dim[i];
    }
    for (int i = 0; i < t->rank; i++)
        out_dim[i] = t->dim[perm[i]];
    tc_tensor to = tc_tensor_new(&lw->ctx->arena, tc_type_make(lw->ctx, t->dtype, rank, dim));
    int64_t at[TC_MAX_RANK] = {0}, n = tc_type_count(t);
    size_t bytes = tc_dtypes[t->dtype].bytes;
    for (int64_t i = 0; i < n; i++) {
        int64_t from_at = 0;
        for (int k = 0; k < t->rank; k++)
            from_at += at[k] * step[perm[k]];
        memcpy((char *)to.data + (size_t)i * bytes, (const char *)from.data + (size_t)from_at * bytes, bytes);
        for (int k = t->rank - 1; k >= 0 && ++at[k] == out_dim[k]; k--)
            at[k] = 0;
    }
    return tc_put_data(lw, to.type, to.data);
}

void tc_lower_int_conv(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_conv *a = node->attr;
    const tc_type *wt = tc_lower_type(lw, node, 1), *xt = tc_lower_type(lw, node, 0);
    product p;
    if (!start(lw, node, wt->dim[0], &p))
        return;
    bool depthwise = a->groups > 1 && a->groups == xt->dim[1] && wt->dim[1] == 1;
    if (xt->rank != 4 || wt->rank != 4 || (a->groups > 1 && !depthwise)) {
        tc_lower_refuse(lw, "a grouped convolution, or one of other than two axes");
        return;
    }
    tc_val x = tc_put_channels_last(lw, tc_lower_in(lw, node, 0)), w = tc_lower_in(lw, node, 1), acc;
    if (depthwise) { /* [c * m, 1, kh, kw] -> [kh, kw, c, m] */
        int64_t m = wt->dim[0] / xt->dim[1], dim[] = {wt->dim[2], wt->dim[3], xt->dim[1], m};
        w = weights(lw, w, (int64_t[]){2, 3, 0, 1}, 4, dim);
        acc = conv2d(lw, node, TC_OP_tosa_depthwise_conv2d, &p, x, w, a->pad.v, a->stride.v, a->dilation.v);
    } else {
        int64_t dim[] = {wt->dim[0], wt->dim[2], wt->dim[3], wt->dim[1]};
        w = weights(lw, w, (int64_t[]){0, 2, 3, 1}, 4, dim);
        acc = conv2d(lw, node, TC_OP_tosa_conv2d, &p, x, w, a->pad.v, a->stride.v, a->dilation.v);
    }
    out[0] = tc_put_channels_first(lw, narrow(lw, acc, &p));
}

/* A 1x1 convolution over [1,1,rows,k]. */
void tc_lower_int_linear(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_type *wt = tc_lower_type(lw, node, 1), *xt = tc_lower_type(lw, node, 0);
    const tc_type *yt = tc_lower_result(lw, node, 0);
    product p;
    if (!start(lw, node, wt->dim[0], &p))
        return;
    int64_t k = wt->dim[1], rows = tc_type_count(xt) / k;
    tc_val x = tc_put_reshape(lw, tc_lower_in(lw, node, 0), 4, (int64_t[]){1, 1, rows, k});
    tc_val w = weights(lw, tc_lower_in(lw, node, 1), (int64_t[]){0, 1}, 4, (int64_t[]){wt->dim[0], 1, 1, k});
    tc_val acc = conv2d(lw, node, TC_OP_tosa_conv2d, &p, x, w, (int64_t[]){0, 0, 0, 0}, (int64_t[]){1, 1},
                        (int64_t[]){1, 1});
    out[0] = tc_put_reshape(lw, narrow(lw, acc, &p), yt->rank, yt->dim);
}
