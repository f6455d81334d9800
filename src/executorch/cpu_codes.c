/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_codes.c -- products of quantized values with constant weights, on their codes:
 *
 *   y = (x - zero) * w        as f32, which holds every sum of them
 *   result = y * scale + bias
 *
 * Sums of integers below 2^24 are exact in f32 in any order: every runtime gives the same values,
 * and rounding after them the same codes. */
#include "cpu_forms.h"

#include <math.h>

#include "../num/load.h"
#include "../num/strided.h"

/* The axis of the weights that the result's channels are; -1: no product of this kind. */
static int channel_axis(const tc_node *node)
{
    if (node->op == TC_OP_conv_transpose)
        return ((const tc_attr_conv_transpose *)node->attr)->groups == 1 ? 1 : -1;
    return node->op == TC_OP_conv || node->op == TC_OP_linear ? 0 : -1;
}

/* The axes of the result after that of its channels. */
static int axes_behind(const tc_node *node)
{
    if (node->op == TC_OP_linear)
        return 0;
    return node->op == TC_OP_conv ? ((const tc_attr_conv *)node->attr)->stride.n
                                  : ((const tc_attr_conv_transpose *)node->attr)->stride.n;
}

/* Channel of element i of the weights. */
static int64_t channel_of(const tc_type *w, int axis, int64_t i)
{
    return i / ti_extent(w, axis + 1, w->rank) % w->dim[axis];
}

/* w - zero as reals; false where a sum could go beyond what f32 holds exactly, x at most `most`. */
static bool weight_codes(tc_build *m, tc_tensor w, int axis, double most, tc_tensor *out)
{
    const tc_quant *q = w.type->quant;
    int64_t channels = w.type->dim[axis];
    double *sum = tc_new_n(&m->ctx->arena, double, (size_t)channels);
    *out = ti_b_tensor(m, TC_f32, w.type->rank, w.type->dim);
    for (int64_t i = 0; i < tc_type_count(w.type); i++) {
        int64_t c = channel_of(w.type, axis, i);
        int64_t code = ti_load_i64(w, i) - q->zero[q->axis < 0 ? 0 : c];
        ti_store_f64(*out, i, (double)code);
        sum[c] += fabs((double)code) * most;
        if (!(sum[c] < 0x1p24))
            return false;
    }
    return true;
}

/* One number for each channel, shaped to go with the result. */
static tc_val by_channel(tc_build *m, tc_val x, int64_t channels)
{
    int64_t dim[TC_MAX_RANK] = {channels, 1, 1, 1, 1, 1, 1, 1};
    return ti_b_reshape(m, x, 1 + axes_behind(m->node), dim);
}

bool ti_cpu_on_codes(tc_build *m, tc_val bias, tc_val *out)
{
    const tc_node *node = m->node;
    int axis = channel_axis(node);
    const tc_type *x = axis < 0 ? NULL : ti_b_in_type(m, 0);
    if (!x || !x->quant || x->quant->axis >= 0 || !ti_b_in_type(m, 1)->quant ||
        !ti_rewrite_is_fixed(m->rw, ti_b_in(m, 1)))
        return false;
    tc_tensor w = ti_tensor_of(m->g, ti_b_in(m, 1)), codes;
    const tc_quant *q = w.type->quant;
    double zero = (double)x->quant->zero[0];
    double most = fmax((double)x->quant->hi - zero, zero - (double)x->quant->lo);
    if (w.type->rank <= axis || (q->axis >= 0 && q->axis != axis) ||
        !weight_codes(m, w, axis, most, &codes))
        return false;
    int64_t channels = w.type->dim[axis];
    tc_tensor scale = ti_b_tensor(m, TC_f32, 1, &channels);
    for (int64_t c = 0; c < channels; c++)
        ti_store_f64(scale, c, x->quant->scale[0] * q->scale[q->axis < 0 ? 0 : c]);
    const void *whole = ti_b_attr(m, quantize, 1, x->quant->zero[0], -1, x->quant->lo, x->quant->hi,
                                  TC_f32, false, false, false);
    tc_val in[2] = {ti_b_in(m, 0)};
    in[0] = ti_b_op(m, TC_OP_dequantize, whole, in, 1);
    in[1] = ti_b_const(m, codes, NULL);
    tc_val y = ti_b_op(m, node->op, node->attr, in, 2);
    tc_val factor = ti_b_const(m, scale, NULL);
    y = ti_b_mul(m, y, by_channel(m, factor, channels));
    *out = bias ? ti_b_add(m, y, by_channel(m, bias, channels)) : y;
    return true;
}
