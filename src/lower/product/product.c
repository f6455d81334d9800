/* SPDX-License-Identifier: Apache-2.0 */
/* product.c -- see product.h. */
#include "../layout/axis_order.h"
#include "product.h"

#include <math.h>

#include "../../num/load.h"
#include "../move/lower_move.h"

/* ---- operands ---- */

/* One zero point for all channels. */
static bool one_zero(const tc_quant *q)
{
    for (int32_t c = 1; c < q->count; c++)
        if (q->zero[c] != q->zero[0])
            return false;
    return true;
}

static bool start_quantized(tc_build *lw, tc_product *p)
{
    tc_dtype w = p->w->dtype;
    if (!ti_is_activation(p->x) || !p->w->quant || !p->y->quant)
        ti_lower_refuse(lw, "its operands or its result are not all quantized");
    else if (w != TC_i8 && w != TC_i4 && !(w == TC_i16 && p->x->dtype == TC_i16))
        ti_lower_refuse(lw, "its weights are %s", tc_dtypes[w].name);
    else if (!one_zero(p->w->quant))
        ti_lower_refuse(lw, "the zero points of its weights differ by channel");
    else if (p->x->dtype == TC_i16 && ti_zero_of(p->x))
        ti_lower_refuse(lw, "its i16 operand has a zero point");
    TC_STOP_WITH(lw, false);
    p->made = p->acc = ti_product_made(p->x->dtype);
    p->scale = tc_new_n(&lw->ctx->arena, double, (size_t)p->channels);
    for (int64_t c = 0; c < p->channels; c++)
        p->scale[c] = ti_scale_of(p->x) *
                      p->w->quant->scale[p->w->quant->axis >= 0 ? c % p->w->quant->count : 0];
    return true;
}

static bool start_plain(tc_build *lw, tc_product *p)
{
    tc_dtype t = p->x->dtype;
    if (!ti_is_float(t) || p->w->dtype != t) {
        ti_lower_refuse(lw, "its operands are %s and %s", tc_dtypes[t].name,
                        tc_dtypes[p->w->dtype].name);
        return false;
    }
    p->made = ti_product_made(t);
    p->acc = t == TC_e4m3 || t == TC_e5m2 ? TC_f16 : TC_f32;
    return true;
}

bool ti_product_start(tc_build *lw, const tc_node *node, int64_t channels, tc_product *p)
{
    *p = (tc_product){.x = ti_lower_type(lw, node, 0), .w = ti_lower_type(lw, node, 1),
                      .y = ti_lower_result(lw, node, 0), .channels = channels, .unit = 1};
    if (node->op == TC_OP_linear || node->op == TC_OP_conv)
        for (int i = 0; i < 2; i++)
            p->block[i] = ti_product_block(lw, node, i);
    return p->x->quant || p->w->quant || p->y->quant ? start_quantized(lw, p) : start_plain(lw, p);
}

int64_t ti_product_x_zero(const tc_product *p) { return p->scale ? ti_zero_of(p->x) : 0; }
int64_t ti_product_w_zero(const tc_product *p) { return p->scale ? ti_zero_of(p->w) : 0; }

/* ---- bias and result ---- */

tc_val ti_product_bias(tc_build *lw, const tc_node *node, const tc_product *p, int64_t first,
                       int64_t n)
{
    double *b = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    const tc_type *t = ti_lower_type(lw, node, 2);
    if (!t)
        return ti_b_single(lw, p->made, 1, 0);
    tc_tensor known = ti_tensor_of(lw->rw->from, node->in[2]);
    if (!known.data && !p->scale)
        return ti_put_cast(lw, ti_b_tosa_slice_axis(lw, ti_lower_in(lw, node, 2), 0, first, n),
                           p->made);
    if (!known.data) {
        ti_lower_refuse(lw, "its bias is not constant");
        return TC_NONE;
    }
    for (int64_t c = 0; c < n; c++) {
        double stored = ti_load_f64(known, first + c);
        double real = t->quant ? ti_real(t, first + c, (int64_t)stored) : stored;
        b[c] = p->scale ? rint(real / p->scale[first + c]) : real;
    }
    return ti_b_numbers(lw, p->made, 1, &n, b);
}

tc_val ti_product_finish(tc_build *lw, tc_val made, const tc_product *p, int64_t first, int64_t n)
{
    if (!p->scale)
        return ti_put_cast(lw, made, p->y->dtype);
    const tc_quant *q = p->y->quant;
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    bool one = true, same = p->y->dtype == p->made;
    for (int64_t c = 0; c < n; c++) {
        int64_t own = q->axis >= 0 ? (first + c) % q->count : 0;
        factor[c] = ti_scale_factor(p->scale[first + c] / p->unit, q->scale[own]);
        one = one && factor[c] == factor[0];
        same = same && factor[c] == 1;
    }
    if (same)
        return made;
    made = one ? ti_put_rescale(lw, made, factor[0], 0, q->zero[0], p->y->dtype)
               : ti_put_rescale_channels(lw, made, factor, 0, q->zero[0], p->y->dtype);
    return ti_put_codes(lw, made, q);
}

/* ---- weights ---- */

enum { LONG = 32768 }; /* sums of more products have their bound looked at (split_accumulators.c) */

tc_val ti_put_weights(tc_build *lw, tc_val w, const int64_t *perm, int rank, const int64_t *dim)
{
    tc_tensor from = ti_b_constant(lw, w);
    if (!w || !from.data)
        return ti_b_tosa_reshape(lw, ti_b_tosa_transpose(lw, w, perm), rank, dim);
    tc_dtype dtype =
        from.type->dtype == TC_i4 && !ti_lower_has(lw, TC_FEATURE_INT4) ? TC_i8 : from.type->dtype;
    const void *data = from.data; /* an i4 is stored in a byte, so it is an i8 too */
    bool bounded = tc_type_count(from.type) / dim[0] > LONG || dim[0] * dim[1] > LONG;
    if ((!lw->lower->dry || bounded) && !ti_perm_is_reshape(from.type->rank, from.type->dim, perm))
        data = ti_transposed(&lw->ctx->arena, from.type, from.data, perm);
    return ti_b_data(lw, ti_type_make(lw->ctx, dtype, rank, dim), data);
}

tc_val ti_put_conv(tc_build *lw, tc_op op, tc_val x, int64_t x_zero, tc_val w, int64_t w_zero,
                   tc_val bias, const tc_window_shape *shape, tc_dtype acc)
{
    static const int64_t none[] = {0, 0, 0, 0, 0, 0}, once[] = {1, 1, 1};
    tc_arena *arena = &lw->ctx->arena;
    tc_attr_tosa_conv *a = tc_new(arena, tc_attr_tosa_conv);
    *a = (tc_attr_tosa_conv){
        .pad = ti_ints_copy(arena, shape->pad ? shape->pad : none, 2 * shape->axes),
        .stride = ti_ints_copy(arena, shape->stride ? shape->stride : once, shape->axes),
        .dilation = ti_ints_copy(arena, shape->dilation ? shape->dilation : once, shape->axes),
        .acc_type = acc};
    tc_val in[5] = {x, w, bias, ti_b_zero_point(lw, x, x_zero)};
    in[4] = ti_b_zero_point(lw, w, w_zero);
    return ti_b_op(lw, op, a, in, 5);
}

tc_val ti_put_rows_by(tc_build *lw, tc_product *p, tc_val x, tc_val w, tc_val bias)
{
    return ti_put_long_conv(lw, p, TC_OP_tosa_conv2d, x, w, bias, &(tc_window_shape){.axes = 2});
}
