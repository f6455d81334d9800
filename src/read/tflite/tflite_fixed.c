/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_fixed.c -- see tflite_fixed.h. */
#include "tflite_fixed.h"

#include <math.h>

#include "../../num/fixed.h"
#include "../../num/load.h"
#include "tflite_program.h"

tc_tfl_factor ti_tfl_factor_of(double real)
{
    tc_tfl_factor f = {0, 0};
    if (!(real > 0) || !isfinite(real))
        return f;
    double q = frexp(real, &f.shift);
    int64_t fixed = (int64_t)round(q * 0x1p31);
    if (fixed == INT64_C(1) << 31) {
        fixed /= 2;
        f.shift++;
    }
    if (f.shift < -31)
        return (tc_tfl_factor){0, 0};
    f.fraction = (int32_t)fixed;
    return f;
}

int32_t ti_tfl_scaled(int32_t x, tc_tfl_factor f)
{
    int right = f.shift < 0 ? -f.shift : 0;
    int up = f.shift < 32 ? f.shift : 32; /* past 31 nothing is left in 32 bits */
    int64_t wide = up > 0 ? (int64_t)((uint64_t)(int64_t)x << up) : x;
    int64_t high = ti_asr((int64_t)(int32_t)wide * f.fraction + (INT64_C(1) << 30), 31);
    if (!right)
        return (int32_t)high;
    int64_t half = INT64_C(1) << (right - 1);
    return (int32_t)(high >= 0 ? (high + half) >> right : -((-high + half) >> right));
}

double ti_tfl_scale(tc_tfl_node *n, const tc_tfl_tensor *t)
{
    if (!t || t->n_scale != 1 || !(t->scale[0] > 0) || !isfinite(t->scale[0])) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "tensor '%s' has %d scales%s", t ? t->name : "",
                 t ? t->n_scale : 0,
                 t && t->n_scale == 1 ? ", which is not a positive number" : "");
        return 1;
    }
    return t->scale[0];
}

int64_t ti_tfl_zero(const tc_tfl_tensor *t)
{
    return t && t->n_scale ? t->zero[0] : 0;
}

tc_tfl_range ti_tfl_range_of(const tc_tfl_tensor *t, int activation)
{
    tc_tfl_range r = {ti_dtype_min(t->dtype), ti_dtype_max(t->dtype)};
    static const double lo[] = {[TFL_RELU] = 0, [TFL_RELU_N1_TO_1] = -1, [TFL_RELU6] = 0};
    static const double hi[] = {[TFL_RELU] = 0, [TFL_RELU_N1_TO_1] = 1, [TFL_RELU6] = 6};
    if (activation < TFL_RELU || activation > TFL_RELU6 || !t->n_scale)
        return r;
    float scale = (float)t->scale[0];
    double least = (double)roundf((float)lo[activation] / scale) + (double)t->zero[0],
           most = (double)roundf((float)hi[activation] / scale) + (double)t->zero[0];
    r.lo = ti_max_i64(r.lo, (int64_t)fmax(fmin(least, 1e9), -1e9));
    if (activation != TFL_RELU)
        r.hi = ti_min_i64(r.hi, (int64_t)fmax(fmin(most, 1e9), -1e9));
    r.lo = ti_min_i64(r.lo, r.hi);
    return r;
}

/* ---- constants ---- */

tc_val ti_tfl_const_of(tc_build *m, tc_dtype dtype, int rank, const int64_t *dim, const int64_t *v)
{
    TC_STOP_WITH(m, TC_NONE);
    tc_tensor t = ti_b_tensor(m, dtype, rank, dim);
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_i64(t, i, v[i]);
    return ti_b_const(m, t, NULL);
}

tc_val ti_tfl_number(tc_build *m, tc_dtype dtype, int rank, int64_t v)
{
    static const int64_t ones[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    return ti_tfl_const_of(m, dtype, rank, ones, &v);
}

/* ---- operators ---- */

/* An operator whose result has the operand's shape and this type. */
static tc_val converts(tc_build *m, tc_op op, const void *attr, const tc_val *in, int n_in,
                       tc_dtype to)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, in[0]);
    tc_node *node = ti_graph_add(m->g, op, attr, in, n_in, 1, m->loc);
    ti_value_of(m->g, node->out[0])->type = ti_type_make(m->ctx, to, t->rank, t->dim);
    m->status = ti_node_infer(m->g, node);
    return node->out[0];
}

tc_val ti_tfl_table(tc_build *m, tc_val x, const int8_t *v)
{
    int64_t n = 256;
    tc_tensor t = ti_b_tensor(m, TC_i8, 1, &n);
    memcpy(t.data, v, 256);
    tc_val table = ti_b_const(m, t, NULL);
    return ti_b_tosa_table(m, x, table);
}

tc_val ti_tfl_clamp(tc_build *m, tc_val x, tc_tfl_range r)
{
    tc_dtype dtype = ti_b_dtype(m, x);
    if (m->status != TC_OK || (r.lo <= ti_dtype_min(dtype) && r.hi >= ti_dtype_max(dtype)))
        return m->status == TC_OK ? x : TC_NONE;
    tc_attr_tosa_clamp *a = ti_b_attr(m, tosa_clamp, .min_val = (double)r.lo,
                                      .max_val = (double)r.hi, .nan_mode = TC_nan_mode_propagate);
    return ti_b_1(m, tosa_clamp, a, x);
}

/* If the result's steps are finer by 2^28 or more only the sign counts: all but 0 saturates.  (The
 * runtime's arithmetic is undefined for such factors.) */
static tc_val sign_of(tc_build *m, tc_val x)
{
    int rank = ti_b_type(m, x)->rank;
    tc_val one = ti_tfl_number(m, TC_i32, rank, 1);
    x = ti_tfl_two(m, TC_OP_tosa_minimum, x, one);
    tc_val minus = ti_tfl_number(m, TC_i32, rank, -1);
    return ti_tfl_two(m, TC_OP_tosa_maximum, x, minus);
}

/* scale32 of an int32, scale16 of an int48. */
static tc_val rescale(tc_build *m, tc_val x, const tc_tfl_factor *f, int64_t n, int64_t in_zero,
                      int64_t out_zero, tc_dtype to, bool once)
{
    static const tc_tfl_factor past_ends = {1 << 30, 18};
    TC_STOP_WITH(m, TC_NONE);
    tc_dtype from = ti_b_dtype(m, x);
    bool wide = from == TC_i48, doubles = false;
    if (n == 1 && f->shift > 29 && from == TC_i32 && to != TC_i32) {
        x = sign_of(m, x);
        f = &past_ends;
    }
    tc_tensor factor = ti_b_tensor(m, wide ? TC_i16 : TC_i32, 1, &n),
              shift = ti_b_tensor(m, TC_i8, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        int64_t fraction = f[i].fraction;
        int down = wide ? 15 - f[i].shift : 31 - f[i].shift;
        if (wide)
            fraction = fraction < 0x7FFF0000 ? (fraction + (1 << 15)) >> 16 : 0x7FFF;
        if (!fraction) /* nothing is left of any sum, however large */
            down = 62;
        if (down < 2) {
            ti_b_unsupported(m, "a scale that is 2^%d times the result's", f[i].shift);
            return TC_NONE;
        }
        doubles = doubles || down > 31;
        ti_store_i64(factor, i, fraction);
        ti_store_i64(shift, i, down);
    }
    tc_attr_tosa_rescale *a = ti_b_attr(
        m, tosa_rescale, .scale32 = !wide,
        .rounding_mode = !wide && doubles && !once ? TC_rounding_double : TC_rounding_single,
        .per_channel = n > 1);
    tc_val in[5] = {x};
    in[1] = ti_b_const(m, factor, NULL);
    in[2] = ti_b_const(m, shift, NULL);
    in[3] = ti_tfl_number(m, from, 1, in_zero);
    in[4] = ti_tfl_number(m, to, 1, out_zero);
    return converts(m, TC_OP_tosa_rescale, a, in, 5, to);
}

tc_val ti_tfl_rescale(tc_build *m, tc_val x, const tc_tfl_factor *f, int64_t n, int64_t in_zero,
                      int64_t out_zero, tc_dtype to)
{
    return rescale(m, x, f, n, in_zero, out_zero, to, false);
}

tc_val ti_tfl_rescale_once(tc_build *m, tc_val x, const tc_tfl_factor *f, int64_t n,
                           int64_t out_zero, tc_dtype to)
{
    return rescale(m, x, f, n, 0, out_zero, to, true);
}

/* RESCALE by 2^30 / 2^n is for values below 2^(n - 1): where n would be less, the rest is a
 * shift. */
tc_val ti_tfl_widen(tc_build *m, tc_val x, int64_t zero, int shift)
{
    TC_STOP_WITH(m, TC_NONE);
    int bits = tc_dtypes[ti_b_type(m, x)->dtype].bits - (zero == 0), most = 29 - bits;
    bool fits = shift <= most;
    tc_tfl_factor f = {1 << 30, fits ? shift + 1 : 1};
    x = ti_tfl_rescale(m, x, &f, 1, zero, 0, TC_i32);
    if (fits || m->status != TC_OK)
        return x;
    return ti_tfl_two(m, TC_OP_tosa_logical_left_shift, x,
                      ti_tfl_number(m, TC_i32, ti_b_type(m, x)->rank, shift));
}

static const tc_tfl_factor same = {1 << 30, 1};

tc_val ti_tfl_down(tc_build *m, tc_val x)
{
    if (ti_tfl_keeps_shifts(m, x))
        return ti_tfl_keep_shift(m, x, -128);
    return ti_tfl_rescale(m, ti_b_cast(m, x, TC_i16), &same, 1, 0, -128, TC_i8);
}

tc_val ti_tfl_up(tc_build *m, tc_val x)
{
    if (ti_tfl_keeps_shifts(m, x))
        return ti_tfl_keep_shift(m, x, 128);
    return ti_b_cast(m, ti_tfl_rescale(m, x, &same, 1, -128, 0, TC_i16), TC_u8);
}

/* Leading ones for the shorter shape. */
static void same_rank(tc_build *m, tc_val *a, tc_val *b)
{
    TC_STOP(m);
    const tc_type *s = ti_b_type(m, *a), *t = ti_b_type(m, *b);
    int rank = s->rank > t->rank ? s->rank : t->rank;
    tc_val *each[] = {a, b};
    for (int k = 0; k < 2; k++) {
        const tc_type *type = ti_b_type(m, *each[k]);
        int64_t dim[TC_MAX_RANK];
        for (int i = 0; i < rank; i++)
            dim[i] = i < rank - type->rank ? 1 : type->dim[i - (rank - type->rank)];
        *each[k] = ti_b_reshape(m, *each[k], rank, dim);
    }
}

tc_val ti_tfl_two(tc_build *m, tc_op op, tc_val a, tc_val b)
{
    same_rank(m, &a, &b);
    const void *attr = op == TC_OP_tosa_maximum || op == TC_OP_tosa_minimum
                           ? ti_b_attr(m, tosa_nan, TC_nan_mode_propagate)
                           : NULL;
    return ti_b_op(m, op, attr, (tc_val[]){a, b}, 2);
}

tc_val ti_tfl_mul(tc_build *m, tc_val a, tc_val b, int shift)
{
    same_rank(m, &a, &b);
    tc_val down = ti_tfl_number(m, TC_i8, 1, shift);
    return ti_b_op(m, TC_OP_tosa_mul, NULL, (tc_val[]){a, b, down}, 3);
}

tc_val ti_tfl_shift_right(tc_build *m, tc_val a, tc_val b, bool round)
{
    same_rank(m, &a, &b);
    return ti_b_op(m, TC_OP_tosa_arithmetic_right_shift, ti_b_attr(m, tosa_shift, round),
                   (tc_val[]){a, b}, 2);
}

tc_val ti_tfl_narrow_two(tc_build *m, tc_op op, tc_val a, tc_val b, int64_t zero, tc_dtype type)
{
    a = ti_tfl_widen(m, a, zero, 0);
    b = ti_tfl_widen(m, b, zero, 0);
    tc_val y = ti_tfl_two(m, op, a, b);
    return ti_tfl_rescale(m, y, &(tc_tfl_factor){1 << 30, 1}, 1, 0, zero, type);
}

tc_val ti_tfl_joined(tc_build *m, tc_op op, tc_val up, tc_val down, int64_t zero, tc_dtype type)
{
    up = ti_tfl_clamp(m, up, (tc_tfl_range){zero, ti_dtype_max(type)});
    return ti_tfl_narrow_two(m, op, up, down, zero, type);
}

tc_val ti_tfl_list(tc_build *m, tc_dtype dtype, const int64_t *v, int64_t n)
{
    return ti_tfl_const_of(m, dtype, 3, (int64_t[]){1, n, 1}, v);
}

tc_val ti_tfl_listed(tc_build *m, tc_val x, tc_val list)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *type = ti_b_type(m, x);
    tc_val at = ti_b_reshape(m, x, 2, (int64_t[]){1, tc_type_count(type)});
    at = ti_b_tosa_gather(m, list, at);
    return ti_b_reshape(m, at, type->rank, type->dim);
}

tc_val ti_tfl_by_code(tc_build *m, tc_val x, tc_val list)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *type = ti_b_type(m, x);
    tc_val at = ti_tfl_widen(m, x, 0, 0);
    at = ti_b_flat(m, at);
    at = ti_tfl_two(m, TC_OP_tosa_add, at,
                    ti_tfl_number(m, TC_i32, 1, -ti_dtype_min(type->dtype)));
    at = ti_tfl_listed(m, at, list);
    return ti_b_reshape(m, at, type->rank, type->dim);
}

/* By a factor that is greater by 2^-30: a half is more than a half then, and nothing else that is
 * less than 2^30 comes as far. */
tc_val ti_tfl_halves_away(tc_build *m, tc_val x, int shift, int64_t zero, tc_dtype to)
{
    tc_val twice = ti_tfl_two(m, TC_OP_tosa_add, x, x); /* 2 x */
    return ti_tfl_rescale_once(m, twice, &(tc_tfl_factor){(1 << 30) + 1, -shift}, 1, zero, to);
}
