/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_hybrid.c -- see tflite_hybrid.h. */
#include "tflite_hybrid.h"
#include "tflite_program.h"

#include <math.h>

#include "../../num/load.h"

/* To the nearest whole number, halves away from zero. */
static tc_val rounded(tc_build *m, tc_val x)
{
    tc_val half = ti_b_scalar(m, ti_b_dtype(m, x), 0.5);
    half = ti_b_copysign(m, half, x);
    x = ti_b_add(m, x, half);
    return ti_b_trunc(m, x);
}

static tc_val or_else(tc_build *m, tc_val x, double missing)
{
    tc_val zero = ti_b_scalar(m, ti_b_dtype(m, x), 0),
           other = ti_b_scalar(m, ti_b_dtype(m, x), missing);
    tc_val none = ti_b_eq(m, x, zero);
    return ti_b_where(m, none, other, x);
}

/* x / (largest / 127), integers of -127 .. 127. */
static tc_val symmetric(tc_build *m, tc_val x, const int64_t *axes, int n, tc_val *scale)
{
    tc_val size = ti_b_abs(m, x);
    size = ti_b_reduce(m, TC_OP_amax, size, axes, n, true);
    size = or_else(m, size, 127);
    tc_val most = ti_b_scalar(m, TC_f32, 127);
    *scale = ti_b_div(m, size, most);
    tc_val inverse = ti_b_div(m, most, size);
    x = ti_b_mul(m, x, inverse);
    return ti_b_clamp(m, rounded(m, x), -127, 127);
}

/* Codes of -128 .. 127 for the range from the least to the largest, less their zero. */
static tc_val asymmetric_codes(tc_build *m, tc_val x, const int64_t *axes, int n, tc_val *scale)
{
    tc_val lo = ti_b_reduce(m, TC_OP_amin, x, axes, n, true);
    tc_val hi = ti_b_reduce(m, TC_OP_amax, x, axes, n, true);
    lo = ti_b_clamp(m, lo, -INFINITY, 0);
    hi = ti_b_clamp(m, hi, 0, INFINITY);
    tc_val span = ti_b_cast(m, ti_b_sub(m, hi, lo), TC_f64); /* the difference is f32's */
    lo = ti_b_cast(m, lo, TC_f64);
    hi = ti_b_cast(m, hi, TC_f64);
    tc_val codes = ti_b_scalar(m, TC_f64, 255);
    tc_val step = ti_b_div(m, or_else(m, span, 255), codes);
    /* The end that is nearer to zero determines the zero point. */
    tc_val below = ti_b_div(m, lo, step), above = ti_b_div(m, hi, step);
    tc_val from_lo = ti_b_neg(m, ti_b_add_n(m, below, 128));
    tc_val from_hi = ti_b_neg(m, ti_b_add_n(m, above, -127));
    tc_val error_lo = ti_b_add_n(m, ti_b_neg(m, below), 128);
    tc_val error_hi = ti_b_add_n(m, above, 127);
    tc_val nearer = ti_b_lt(m, error_lo, error_hi);
    tc_val zero = ti_b_where(m, nearer, from_lo, from_hi);
    zero = ti_b_clamp(m, rounded(m, zero), -128, 127);
    tc_val none = ti_b_eq(m, span, ti_b_scalar(m, TC_f64, 0));
    zero = ti_b_where(m, none, ti_b_scalar(m, TC_f64, 0), zero);
    zero = ti_b_cast(m, zero, TC_f32);
    *scale = ti_b_cast(m, step, TC_f32);
    tc_val inverse = ti_b_div(m, ti_b_scalar(m, TC_f32, 1), *scale);
    x = rounded(m, ti_b_mul(m, x, inverse)); /* before the zero is added */
    x = ti_b_add(m, x, zero);
    x = ti_b_clamp(m, x, -128, 127);
    return ti_b_sub(m, x, zero);
}

/* Weights less their zero, as f32. */
static tc_val plain_weights(tc_build *m, tc_val w, const tc_tfl_tensor *t)
{
    bool any = false;
    for (int i = 0; i < t->n_scale; i++)
        any = any || t->zero[i] != 0;
    w = ti_b_cast(m, w, TC_f32);
    return any ? ti_b_add_n(m, w, (double)-t->zero[0]) : w;
}

/* Dequantized weights [o, i] in blocks: each `block` elements of a row have their own scale. */
static tc_val of_blocks(tc_tfl_node *n, const tc_tfl_tensor *t, tc_val w)
{
    tc_build *m = &n->m;
    tc_val scales = ti_tfl_value(n->scope, t->block_scale, m->loc, &m->status);
    tc_tensor codes, scale;
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *type = ti_b_type(m, w);
    int64_t all = tc_type_count(type);
    if (t->block < 1 || type->rank != 2 || type->dim[1] % t->block || t->block_zero >= 0 ||
        !ti_b_known(m, w, &codes) || !ti_b_known(m, scales, &scale) ||
        tc_type_count(scale.type) != all / t->block) {
        ti_b_unsupported(m, "weights %s in blocks of %" PRId64, ti_type_text(&m->ctx->arena, type),
                         t->block);
        return TC_NONE;
    }
    tc_tensor real = ti_b_tensor(m, TC_f32, 2, type->dim);
    for (int64_t i = 0; i < all; i++)
        ti_store_f64(real, i, ti_load_f64(scale, i / t->block) * (double)ti_load_i64(codes, i));
    return ti_b_const(m, real, NULL);
}

/* (codes - zero) scale, the scales of several on axis `axis`. */
static tc_val real_weights(tc_build *m, tc_val w, const tc_tfl_tensor *t, int axis)
{
    int64_t dim[TC_MAX_RANK];
    int rank = t->n_scale > 1 ? ti_b_type(m, w)->rank : 0;
    for (int i = 0; i < rank; i++)
        dim[i] = i == axis ? t->n_scale : 1;
    tc_tensor s = ti_b_tensor(m, TC_f32, rank, dim);
    for (int i = 0; i < t->n_scale; i++)
        ti_store_f64(s, i, t->scale[i]);
    w = plain_weights(m, w, t);
    return ti_b_mul(m, w, ti_b_const(m, s, NULL));
}

tc_val ti_tfl_hybrid_codes(tc_build *m, tc_val x, int inner, bool asymmetric, tc_val *scale)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t axes[TC_MAX_RANK];
    int k = 0;
    for (int i = inner; i < ti_b_type(m, x)->rank; i++)
        axes[k++] = i;
    return asymmetric ? asymmetric_codes(m, x, axes, k, scale) : symmetric(m, x, axes, k, scale);
}

bool ti_tfl_hybrid_begin(tc_tfl_node *n, tc_tfl_hybrid *h, int xi, int wi, int inner, int w_axis,
                         bool asymmetric, tc_val *x, tc_val *w)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, wi), *real = ti_tfl_in_tensor(n, xi);
    TC_STOP_WITH(m, false);
    bool blocks = t && t->block && !t->n_scale && real && real->code == TFL_FLOAT32;
    if (blocks && n->scope->reader->real) {
        *w = of_blocks(n, t, *w);
        return m->status == TC_OK;
    }
    if (blocks) {
        *x = ti_tfl_hybrid_codes(m, *x, inner, true, &h->scale);
        *w = of_blocks(n, t, *w);
        h->weight = ti_b_scalar(m, TC_f32, 1);
        h->on = n->scope->reader->hybrid = true;
        return m->status == TC_OK;
    }
    if (!ti_tfl_is_codes(t) || !real || real->code != TFL_FLOAT32 || t->dtype != TC_i8)
        return true;
    if (t->n_scale > 1 && w_axis < 0) {
        ti_b_unsupported(m, "weights with %d scales", t->n_scale);
        return false;
    }
    if (n->scope->reader->real) {
        *w = real_weights(m, *w, t, w_axis);
        return m->status == TC_OK;
    }
    h->on = n->scope->reader->hybrid = true;
    h->asymmetric = asymmetric;
    *x = ti_tfl_hybrid_codes(m, *x, inner, asymmetric, &h->scale);
    *w = plain_weights(m, *w, t);
    int64_t count = t->n_scale;
    tc_tensor s = ti_b_tensor(m, TC_f32, 1, &count);
    for (int64_t i = 0; i < count; i++)
        ti_store_f64(s, i, t->scale[i]);
    h->weight = ti_b_const(m, s, NULL);
    return m->status == TC_OK;
}

/* y scale weight + bias, in the runtime's order: by the weights' scale first where the kernel does,
 * else by the product of both. */
tc_val ti_tfl_hybrid_end(tc_tfl_node *n, const tc_tfl_hybrid *h, tc_val y, tc_val bias)
{
    if (!h->on)
        return y;
    if (h->asymmetric && h->weight_first) {
        y = ti_b_mul(&n->m, y, h->weight);
        y = ti_b_mul(&n->m, y, h->scale);
    } else {
        tc_val both = ti_b_mul(&n->m, h->scale, h->weight);
        y = ti_b_mul(&n->m, y, both);
    }
    return bias ? ti_b_add(&n->m, y, bias) : y;
}
