/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c -- see lower_move.h: element types and domains into one another.
 *
 * quantize:    clamp(round_half_even(x * (1 / scale)) + zero, lo, hi), in f32 as PyTorch computes
 *              it; the clamp goes before the rounding, its limits being integers.
 * dequantize:  (stored - zero) * scale. */
#include <math.h>

#include "lower_move.h"

#include "../../num/load.h"

/* ---- plain values ---- */

static tc_val not_zero(tc_build *lw, tc_val x)
{
    tc_val zero = x ? ti_b_like(lw, x, ti_b_dtype(lw, x), 0) : x;
    return ti_b_tosa_logical_not(lw, ti_b_tosa_equal(lw, x, zero));
}

static tc_val toward_zero(tc_build *lw, tc_val x)
{
    tc_val zero = x ? ti_b_like(lw, x, ti_b_dtype(lw, x), 0) : x;
    tc_val down = ti_b_tosa_floor(lw, x);
    tc_val up = ti_b_tosa_ceil(lw, x);
    return ti_b_tosa_select(lw, ti_b_tosa_greater(lw, zero, x), up, down);
}

static bool narrow_float(tc_dtype t) { return t == TC_e4m3 || t == TC_e5m2; }

/* What CAST converts in one step; the rest goes through f32. */
static bool direct(tc_dtype a, tc_dtype b)
{
    bool fa = ti_is_float(a), fb = ti_is_float(b);
    if (fa && fb)
        return a == TC_f32 || b == TC_f32 ||
               ((a == TC_f16 || b == TC_f16) && a != TC_bf16 && b != TC_bf16);
    return !narrow_float(a) && !narrow_float(b);
}

static tc_val from_bool(tc_build *lw, tc_val x, tc_dtype to)
{
    if (!ti_is_float(to) && ti_lower_has(lw, TC_FEATURE_INT))
        return ti_b_tosa_cast(lw, x, to);
    tc_dtype t = to == TC_f16 || to == TC_bf16 ? to : TC_f32;
    tc_val no = ti_b_like(lw, x, t, 0), yes = ti_b_like(lw, x, t, 1);
    x = ti_b_tosa_select(lw, x, yes, no);
    return ti_b_tosa_cast(lw, x, to);
}

static tc_val to_bool(tc_build *lw, tc_val x, tc_dtype from)
{
    if (!ti_is_float(from) && ti_lower_has(lw, TC_FEATURE_INT))
        return ti_b_tosa_cast(lw, x, TC_bool);
    if (!ti_is_float(from) || narrow_float(from))
        x = ti_b_tosa_cast(lw, x, TC_f32);
    return not_zero(lw, x);
}

static tc_val cast_constant(tc_build *lw, tc_val x, tc_dtype to)
{
    tc_tensor from = ti_b_constant(lw, x);
    tc_tensor y =
        ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, to, from.type->rank, from.type->dim));
    for (int64_t i = 0; i < tc_type_count(y.type) && !lw->lower->dry; i++) {
        if (ti_is_int(from.type->dtype))
            ti_store_i64(y, i, ti_load_i64(from, i));
        else
            ti_store_f64(y, i, ti_load_f64(from, i));
    }
    return ti_b_data(lw, y.type, y.data);
}

/* An i32 as what its low `bits` say with their sign, as i32 still: bits that every profile can
 * shift, u = low bits, u - 2^bits where the highest of them is set. */
static tc_val wrapped(tc_build *lw, tc_val x, int bits)
{
    if (ti_put_bound(lw, x) < ldexp(1, bits - 1))
        return x;
    tc_val above = ti_b_like(lw, x, TC_i32, 32 - bits),
           sign_at = ti_b_like(lw, x, TC_i32, bits - 1), width = ti_b_like(lw, x, TC_i32, bits);
    tc_val up = ti_b_tosa_logical_left_shift(lw, x, above);
    tc_val low = ti_b_tosa_logical_right_shift(lw, up, above);
    tc_val sign = ti_b_tosa_logical_right_shift(lw, low, sign_at);
    sign = ti_b_tosa_logical_left_shift(lw, sign, width);
    return ti_b_tosa_sub(lw, low, sign);
}

/* Between integers: fewer bits are the low ones.  CAST does that in the integer profile; the other
 * one converts through f32, which holds them. */
static tc_val cast_integer(tc_build *lw, tc_val x, tc_dtype from, tc_dtype to)
{
    if (ti_lower_has(lw, TC_FEATURE_INT))
        return ti_b_tosa_cast(lw, x, to);
    if (tc_dtypes[to].bits < tc_dtypes[from].bits) {
        if (from != TC_i32)
            x = ti_b_tosa_cast(lw, ti_b_tosa_cast(lw, x, TC_f32), TC_i32);
        x = wrapped(lw, x, tc_dtypes[to].bits);
    }
    return ti_b_tosa_cast(lw, ti_b_tosa_cast(lw, x, TC_f32), to);
}

/* Cut toward zero; what is beyond the type, but not beyond i32, wraps as it does on processors;
 * what is beyond i32, and NaN, is its least number, of which nothing is left in fewer bits. */
static tc_val cast_to_integer(tc_build *lw, tc_val x, tc_dtype to)
{
    tc_val most = x ? ti_b_like(lw, x, ti_b_dtype(lw, x), 0x1p31) : x,
           least = x ? ti_b_like(lw, x, ti_b_dtype(lw, x), -0x1p31) : x;
    x = ti_b_tosa_select(lw, ti_b_tosa_greater(lw, most, x), x, least);
    x = ti_b_tosa_cast(lw, toward_zero(lw, x), TC_i32);
    return to == TC_i32 || !x ? x : cast_integer(lw, x, TC_i32, to);
}

tc_val ti_put_cast(tc_build *lw, tc_val x, tc_dtype to)
{
    if (!x || ti_b_dtype(lw, x) == to)
        return x;
    if (ti_is_const(lw->g, x))
        return cast_constant(lw, x, to);
    tc_dtype from = ti_b_dtype(lw, x);
    if (from == TC_bool)
        return from_bool(lw, x, to);
    if (to == TC_bool)
        return to_bool(lw, x, from);
    if (!ti_is_float(from) && !ti_is_float(to))
        return cast_integer(lw, x, from, to);
    if (!direct(from, to))
        x = ti_b_tosa_cast(lw, x, TC_f32);
    return ti_is_float(from) && ti_is_int(to) ? cast_to_integer(lw, x, to)
                                              : ti_b_tosa_cast(lw, x, to);
}

/* ---- quantized ---- */

/* One number per channel on the domain's axis, or one for all; rank as t's. */
static tc_val scales(tc_build *lw, const tc_type *t, const tc_quant *q, bool inverse)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (q->axis >= 0)
        dim[q->axis] = q->count;
    double *s = tc_new_n(&lw->ctx->arena, double, (size_t)q->count);
    for (int i = 0; i < q->count; i++) {
        float scale = (float)q->scale[i];
        s[i] = inverse ? (double)(1.0f / scale) : (double)scale;
    }
    return ti_b_numbers(lw, TC_f32, t->rank, dim, s);
}

/* One zero point; false and a refusal when channels have their own. */
static bool one_zero(tc_build *lw, const tc_quant *q)
{
    for (int i = 1; i < q->count; i++)
        if (q->zero[i] != q->zero[0]) {
            ti_lower_refuse(lw, "its zero points differ by channel");
            return false;
        }
    return true;
}

static tc_val dequantize(tc_build *lw, tc_val x, const tc_type *from, tc_dtype to)
{
    const tc_quant *q = from->quant;
    if (from->dtype == TC_i48 || from->dtype == TC_u8 || from->dtype == TC_u16) {
        ti_lower_refuse(lw, "%s as float", tc_dtypes[from->dtype].name);
        return TC_NONE;
    }
    if (!one_zero(lw, q))
        return TC_NONE;
    if (q->zero[0])
        x = ti_put_rescale(lw, x, 1, q->zero[0], 0, TC_i32);
    x = ti_b_tosa_cast(lw, x, TC_f32);
    return ti_put_cast(lw, ti_b_tosa_mul(lw, x, scales(lw, from, q, false)), to);
}

/* Codes less their zero point.  NaN, for which CAST is undefined, becomes code 0, or the real value
 * 0 where ti_op_nan_is_zero says so; CLAMP would make the lowest code of it. */
static tc_val clamp_to_codes(tc_build *lw, tc_val x, const tc_quant *q)
{
    double lo = (double)(q->lo - q->zero[0]), hi = (double)(q->hi - q->zero[0]);
    double instead = ti_op_nan_is_zero(lw->node->op) ? 0 : (double)-q->zero[0];
    if (lo != instead && x) {
        tc_val number = ti_b_tosa_equal(lw, x, x);
        tc_val other = ti_b_single(lw, TC_f32, ti_b_type(lw, x)->rank, instead);
        x = ti_b_tosa_select(lw, number, x, other);
    }
    tc_attr_tosa_clamp *a = tc_new(&lw->ctx->arena, tc_attr_tosa_clamp);
    *a = (tc_attr_tosa_clamp){.min_val = lo, .max_val = hi, .nan_mode = TC_nan_mode_ignore};
    return ti_b_1(lw, tosa_clamp, a, x);
}

static tc_val quantize(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to)
{
    const tc_quant *q = to->quant;
    if (to->dtype == TC_i48 || to->dtype == TC_u8 || to->dtype == TC_u16) {
        ti_lower_refuse(lw, "float as %s", tc_dtypes[to->dtype].name);
        return TC_NONE;
    }
    if (!one_zero(lw, q))
        return TC_NONE;
    tc_val factor = scales(lw, from, q, true);
    x = ti_b_tosa_mul(lw, ti_put_cast(lw, x, TC_f32), factor);
    x = clamp_to_codes(lw, x, q);
    if (!q->zero[0])
        return ti_b_tosa_cast(lw, x, to->dtype);
    return ti_put_rescale(lw, ti_b_tosa_cast(lw, x, TC_i32), 1, 0, q->zero[0], to->dtype);
}

/* Channels that went along to another axis. */
static bool same_channels(const tc_type *a, const tc_type *b)
{
    const tc_quant *p = a->quant, *q = b->quant;
    return a->dtype == b->dtype && p->count == q->count && p->lo >= q->lo && p->hi <= q->hi &&
           memcmp(p->scale, q->scale, (size_t)p->count * sizeof *p->scale) == 0 &&
           memcmp(p->zero, q->zero, (size_t)p->count * sizeof *p->zero) == 0;
}

tc_val ti_put_convert(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to)
{
    if (!x)
        return x;
    const tc_quant *p = from->quant, *q = to->quant;
    if (!p && !q)
        return ti_put_cast(lw, x, to->dtype);
    if (p && q && p->axis >= 0 && q->axis >= 0 && same_channels(from, to))
        return x;
    if (q && q->axis >= 0 && !ti_same_dims(from, to)) {
        ti_lower_refuse(lw, "its result has a scale per channel");
        return TC_NONE;
    }
    if (p && q)
        return ti_put_domain(lw, x, from, to);
    if (!ti_lower_has(lw, TC_FEATURE_FP)) {
        ti_lower_refuse(lw, "it converts between float and integers, and the target has no floats");
        return TC_NONE;
    }
    return p ? dequantize(lw, x, from, to->dtype) : quantize(lw, x, from, to);
}

/* ---- quantize and dequantize as nodes: values of f16 and bf16, which the typed form leaves alone
 * ---- */

/* The plain type with the domain that the attributes name. */
static const tc_type *attr_type(tc_build *lw, const tc_node *node, const tc_type *plain)
{
    const tc_attr_quantize *a = node->attr;
    if (a->axis >= 0 || a->scale == 0) {
        ti_lower_refuse(lw, "its scales are operands");
        return NULL;
    }
    tc_quant q = {-1, 1, a->qmin, a->qmax, &a->scale, &a->zero};
    return ti_type_with(lw->ctx, plain, &q);
}

void ti_lower_quantize(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = attr_type(lw, node, ti_lower_result(lw, node, 0));
    if (to)
        out[0] = ti_put_convert(lw, ti_lower_in(lw, node, 0), ti_lower_type(lw, node, 0), to);
}

void ti_lower_dequantize(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = attr_type(lw, node, ti_lower_type(lw, node, 0));
    if (from)
        out[0] = ti_put_convert(lw, ti_lower_in(lw, node, 0), from, ti_lower_result(lw, node, 0));
}
