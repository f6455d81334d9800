/* SPDX-License-Identifier: Apache-2.0 */
/* channel_affine.c -- quantized values times and plus a constant of each channel.
 *
 * One DEPTHWISE_CONV2D of 1x1: its weights are a power of two with the factor's sign, the factor
 * itself is in the rescale of its channel; a summand is the bias, its weight chosen so that
 * little of it is rounded away.  Fewer operations than MUL or ADD, and machines that read the
 * constants of elementwise operators slowly are spared that. */
#include "channel_affine.h"

#include <math.h>

#include "../product/product.h"

#include "../../num/load.h"

enum { WEIGHT = 64 };

/* A constant operand: its real values along the one axis on which it varies. */
typedef struct channels {
    int axis;
    int64_t n;
    double *real;
} channels;

static bool channels_of(tc_build *lw, const tc_arg *a, channels *c)
{
    tc_tensor t = ti_b_constant(lw, a->val);
    if (!t.data || !ti_is_activation(a->type))
        return false;
    c->axis = -1;
    for (int i = 0; i < t.type->rank; i++)
        if (t.type->dim[i] > 1) {
            if (c->axis >= 0)
                return false;
            c->axis = i;
        }
    if (c->axis < 0)
        return false;
    c->n = t.type->dim[c->axis];
    c->real = tc_new_n(&lw->ctx->arena, double, (size_t)c->n);
    for (int64_t i = 0; i < c->n; i++)
        c->real[i] = ti_real(a->type, 0, ti_load_i64(t, i));
    return true;
}

/* x with the axis last as [n,h,w,c]; false when the axis is neither the last nor the channels of a
 * plane. */
static bool arranged(tc_build *lw, tc_val *x, const channels *c)
{
    if (!*x)
        return true;
    const tc_type *t = ti_b_type(lw, *x);
    if (t->dim[c->axis] != c->n)
        return false;
    if (c->axis == t->rank - 1) {
        *x = ti_b_tosa_reshape(lw, *x, 4, (int64_t[]){1, 1, tc_type_count(t) / c->n, c->n});
        return true;
    }
    if (c->axis != 1 || t->rank != 4)
        return false;
    *x = ti_b_tosa_channels_last(lw, *x);
    return true;
}

static tc_val depthwise(tc_build *lw, tc_val x, int64_t zero, int64_t n, const double *weight,
                        const double *bias)
{
    tc_val w = ti_b_numbers(lw, TC_i8, 4, (int64_t[]){1, 1, n, 1}, weight);
    tc_val summand = bias ? ti_b_numbers(lw, TC_i32, 1, &n, bias) : ti_b_single(lw, TC_i32, 1, 0);
    return ti_put_conv(lw, TC_OP_tosa_depthwise_conv2d, x, zero, w, 0, summand,
                       &(tc_window_shape){.axes = 2}, TC_i32);
}

static tc_val back(tc_build *lw, tc_val y, const channels *c, const tc_type *to)
{
    if (c->axis != to->rank - 1)
        y = ti_b_tosa_channels_first(lw, y);
    return ti_b_tosa_reshape(lw, y, to->rank, to->dim);
}

static bool suits(const tc_arg *x, const tc_type *to)
{
    return x->type->dtype == TC_i8 && ti_is_activation(x->type) && ti_is_activation(to);
}

/* x * by, or on channels that are not `wanted` the code at the end of the domain on the side of
 * `never`.  wanted NULL: all are. */
static bool products(tc_build *lw, const tc_arg *x, const tc_arg *by, const bool *wanted,
                     double never, const tc_type *to, tc_val *y)
{
    channels c;
    tc_val v = x->val;
    if (!suits(x, to) || ti_b_constant(lw, v).data || !channels_of(lw, by, &c) ||
        !arranged(lw, &v, &c))
        return false;
    double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)c.n);
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)c.n);
    double *bias = wanted ? tc_new_n(&lw->ctx->arena, double, (size_t)c.n) : NULL;
    for (int64_t i = 0; i < c.n; i++) {
        bool zero = c.real[i] == 0, out = wanted && !wanted[i];
        weight[i] = zero || out ? 0 : copysign(WEIGHT, c.real[i]);
        double scale = zero || out ? ti_scale_of(to) : ti_scale_of(x->type) * fabs(c.real[i]);
        factor[i] = ti_scale_factor(scale, ti_scale_of(to)) / WEIGHT;
        if (bias)
            bias[i] = out ? copysign(0x1p16 * WEIGHT, never) : 0;
    }
    v = depthwise(lw, v, ti_zero_of(x->type), c.n, weight, bias);
    v = ti_put_codes(lw, ti_put_rescale_channels(lw, v, factor, 0, ti_zero_of(to), to->dtype),
                     to->quant);
    *y = back(lw, v, &c, to);
    return true;
}

bool ti_put_channel_times(tc_build *lw, const tc_arg *x, const tc_arg *by, const tc_type *to,
                          tc_val *y)
{
    return products(lw, x, by, NULL, 0, to, y);
}

bool ti_put_channel_bound(tc_build *lw, tc_op op, const tc_arg *x, const tc_arg *by,
                          const bool *wanted, const tc_type *to, tc_val *y)
{
    return products(lw, x, by, wanted, op == TC_OP_tosa_maximum ? -1 : 1, to, y);
}

/* The weight from 64 to 127 by which the summand, in steps of x, comes nearest to a whole number.
 */
static double weight_for(double steps)
{
    double best = WEIGHT, least = 1;
    for (double w = WEIGHT; w <= 127; w++) {
        double off = fabs(steps * w - rint(steps * w)) / w;
        if (off < least) {
            least = off;
            best = w;
        }
    }
    return best;
}

bool ti_put_channel_plus(tc_build *lw, const tc_arg *x, const tc_arg *more, double by,
                         const tc_type *to, tc_val *y)
{
    channels c;
    tc_val v = x->val;
    if (!suits(x, to) || ti_b_constant(lw, v).data || !channels_of(lw, more, &c))
        return false;
    double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)c.n);
    double *bias = tc_new_n(&lw->ctx->arena, double, (size_t)c.n);
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)c.n);
    for (int64_t i = 0; i < c.n; i++) {
        double steps = by * c.real[i] / ti_scale_of(x->type);
        weight[i] = weight_for(steps);
        bias[i] = rint(steps * weight[i]);
        factor[i] = ti_scale_factor(ti_scale_of(x->type), ti_scale_of(to)) / weight[i];
        if (fabs(bias[i]) > 0x1p28)
            return false;
    }
    if (!arranged(lw, &v, &c))
        return false;
    v = depthwise(lw, v, ti_zero_of(x->type), c.n, weight, bias);
    v = ti_put_codes(lw, ti_put_rescale_channels(lw, v, factor, 0, ti_zero_of(to), to->dtype),
                     to->quant);
    *y = back(lw, v, &c, to);
    return true;
}
