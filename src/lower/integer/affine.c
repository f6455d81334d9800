/* SPDX-License-Identifier: Apache-2.0 */
/* affine.c -- a gain and a bias per channel, and batch norm, which is nothing else. */
#include <math.h>

#include "../composite/composite.h"

#include "../../num/load.h"

/* The real values of a constant operand, or `otherwise` if absent; NULL: it is not constant. */
const double *ti_lower_known(tc_build *lw, const tc_node *node, int i, int64_t n, double otherwise)
{
    double *x = tc_new_n(&lw->ctx->scratch, double, (size_t)n);
    const tc_type *t = ti_lower_type(lw, node, i);
    tc_tensor c = t ? ti_tensor_of(lw->rw->from, node->in[i]) : (tc_tensor){NULL, NULL};
    if (t && !c.data) {
        ti_lower_refuse(lw, "its weight or its bias is not constant");
        return NULL;
    }
    for (int64_t k = 0; k < n; k++)
        x[k] = !t ? otherwise : t->quant ? ti_real(t, k, ti_load_i64(c, k)) : ti_load_f64(c, k);
    return x;
}

static bool all_same(const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return true;
}

/* One number per index of `axis`, in units that use all of i16; at least `least` to a unit. */
static tc_val constants(tc_build *lw, tc_val like, int axis, const double *x, int64_t n,
                        double *unit)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    double *stored = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    *unit = fmax(ti_largest(x, n), 1e-30) / 32767;
    for (int64_t i = 0; i < n; i++)
        stored[i] = x[i] / *unit;
    dim[axis] = n;
    return like ? ti_b_numbers(lw, TC_i16, ti_b_type(lw, like)->rank, dim, stored) : TC_NONE;
}

/* x * gain[c] + bias[c] by MUL and ADD. */
static tc_val affine_by_parts(tc_build *lw, tc_val x, double unit, int axis, const double *gain,
                              const double *bias, int64_t n, const tc_type *to)
{
    double out = ti_scale_of(to), u, most = ti_largest(bias, n);
    bool flat = all_same(gain, n) && gain[0] > 0, biased = most > 0;
    if (flat && !biased)
        return ti_put_rescale(lw, x, unit * gain[0] / out, 0, ti_zero_of(to), to->dtype);
    double between = fmin(unit * 32767 * ti_largest(gain, n),
                          out * (double)(to->quant->hi - to->quant->lo) + most) /
                     32767;
    if (flat)
        between = unit * gain[0];
    else {
        tc_val g = constants(lw, x, axis, gain, n, &u);
        x = ti_b_tosa_mul(lw, x, g);
        if (!biased)
            return ti_put_rescale(lw, x, unit * u / out, 0, ti_zero_of(to), to->dtype);
        x = ti_put_rescale(lw, x, unit * u / between, 0, 0, TC_i16);
    }
    tc_val b = constants(lw, x, axis, bias, n, &u);
    double one = fmax(between, u) / 0x1p14;
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){x, 0, between / one},
                        (tc_term){b, 0, u / one}, one / out, ti_zero_of(to), to->dtype);
}

bool ti_lower_one_scale(tc_build *lw, const tc_node *node)
{
    if (!ti_is_activation(ti_lower_type(lw, node, 0)) ||
        !ti_is_activation(ti_lower_result(lw, node, 0)))
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
    return lw->status == TC_OK;
}

tc_attr_tosa_conv *ti_conv_1x1(tc_build *lw, tc_dtype acc)
{
    tc_attr_tosa_conv *a = tc_new(&lw->ctx->arena, tc_attr_tosa_conv);
    *a = (tc_attr_tosa_conv){.pad = ti_ints_fill(&lw->ctx->arena, 0, 4),
                             .stride = ti_ints_fill(&lw->ctx->arena, 1, 2),
                             .dilation = ti_ints_fill(&lw->ctx->arena, 1, 2),
                             .acc_type = acc};
    return a;
}

/* The same as a 1x1 depthwise convolution over the last axis of i8 or i16. */
static tc_val affine_by_conv(tc_build *lw, tc_val x, int64_t zero, double unit, const double *gain,
                             const double *bias, int64_t n, const tc_type *to)
{
    const tc_type *t = ti_b_type(lw, x);
    double *w = tc_new_n(&lw->ctx->arena, double, (size_t)n),
           *b = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        double g = unit * fabs(gain[i]) / 64, least = fmax(ti_scale_of(to), fabs(bias[i])) / 0x1p20;
        w[i] = g < least ? rint(64 * gain[i] * unit / (least * 64)) : gain[i] < 0 ? -64 : 64;
        g = fmax(g, least);
        b[i] = bias[i] / g;
        factor[i] = g / ti_scale_of(to);
    }
    tc_dtype acc = t->dtype == TC_i8 ? TC_i32 : TC_i48;
    tc_val four =
        t->rank == 4 ? x : ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, 1, tc_type_count(t) / n, n});
    tc_val in[5] = {four, ti_b_numbers(lw, TC_i8, 4, (int64_t[]){1, 1, n, 1}, w)};
    in[2] = ti_b_numbers(lw, acc, 1, &n, b);
    in[3] = ti_b_single(lw, t->dtype, 1, (double)zero);
    in[4] = ti_b_single(lw, TC_i8, 1, 0);
    tc_val y = ti_b_op(lw, TC_OP_tosa_depthwise_conv2d, ti_conv_1x1(lw, acc), in, 5);
    y = ti_put_rescale_channels(lw, y, factor, 0, ti_zero_of(to), to->dtype);
    return ti_b_tosa_reshape(lw, y, t->rank, t->dim);
}

/* Whether a convolution's accumulator, in which biases are rounded, has coarser steps than the
 * result for some channel: one step of x is more than 64 of the result. */
static bool is_coarse_by_conv(double unit, const double *gain, int64_t n, const tc_type *to)
{
    return unit * ti_largest(gain, n) / 64 > ti_scale_of(to);
}

tc_val ti_put_affine(tc_build *lw, tc_val x, double unit, int axis, const double *gain,
                     const double *bias, int64_t n, const tc_type *to)
{
    if (!x || !gain || !bias)
        return TC_NONE;
    bool plain = all_same(gain, n) && gain[0] > 0 && ti_largest(bias, n) == 0;
    if (lw->lower->target->machine->cost.affine_by_conv && ti_lower_has(lw, TC_FEATURE_INT16) &&
        axis == ti_b_type(lw, x)->rank - 1 && !plain && !is_coarse_by_conv(unit, gain, n, to))
        x = affine_by_conv(lw, x, 0, unit, gain, bias, n, to);
    else
        x = affine_by_parts(lw, x, unit, axis, gain, bias, n, to);
    return ti_put_codes(lw, x, to->quant);
}

/* What batch_norm does to a channel: x * gain + bias. */
void ti_lower_int_batch_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_eps *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!ti_lower_one_scale(lw, node))
        return;
    int64_t n = t->dim[1];
    const double *w = ti_lower_known(lw, node, 1, n, 1), *b = ti_lower_known(lw, node, 2, n, 0),
                 *mean = ti_lower_known(lw, node, 3, n, 0);
    const double *variance = ti_lower_known(lw, node, 4, n, 1);
    if (!w || !b || !mean || !variance)
        return;
    double *gain = tc_new_n(&lw->ctx->arena, double, (size_t)n),
           *bias = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        gain[i] = w[i] / sqrt(variance[i] + a->eps);
        bias[i] = b[i] - mean[i] * gain[i];
    }
    tc_val x = ti_b_tosa_channels_last(lw, ti_lower_in(lw, node, 0));
    double unit = ti_scale_of(t);
    bool wide = t->dtype == TC_i8 && is_coarse_by_conv(unit, gain, n, to);
    if (wide) { /* products and biases by 16 bits */
        x = ti_put_rescale(lw, x, 128, ti_zero_of(t), 0, TC_i16);
        unit /= 128;
    }
    if (t->dtype == TC_i8 && !wide)
        x = ti_put_codes(lw, affine_by_conv(lw, x, ti_zero_of(t), unit, gain, bias, n, to),
                         to->quant);
    else
        x = ti_put_affine(lw, x, unit, t->rank - 1, gain, bias, n, to);
    out[0] = ti_b_tosa_channels_first(lw, x);
}
