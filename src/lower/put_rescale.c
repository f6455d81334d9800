/* SPDX-License-Identifier: Apache-2.0 */
/* put_rescale.c -- see put.h: rescales, clamps and tables. */
#include <math.h>

#include "put.h"

#include "../base/real.h"
#include "../target/judge.h"

#include "../num/load.h"

/* A factor as TOSA's multiplier and shift: factor ~ multiplier * 2^-shift, multiplier of 31 (or 15)
 * bits. */
static void split(double factor, bool scale32, int32_t *multiplier, int8_t *shift)
{
    int bits = scale32 ? 31 : 15, exponent;
    double fraction =
        frexp(factor, &exponent); /* factor = fraction * 2^exponent, fraction in [1/2, 1) */
    double m = rint(ldexp(fraction, bits));
    if (m == ldexp(1, bits)) {
        m /= 2;
        exponent++;
    }
    int s = bits - exponent;
    if (s > 62) { /* too small for a full multiplier: fewer bits of it */
        m = rint(ldexp(m, 62 - s));
        s = 62;
    }
    if (s < 2) { /* saturates everything but zero */
        m = ldexp(1, bits) - 1;
        s = 2;
    }
    *multiplier = (int32_t)m;
    *shift = (int8_t)s;
}

/* What makes every step of a narrow result saturate, with shifts that still take every number of
 * `from` less its zero point. */
static double most_factor(tc_dtype from, tc_dtype to, int64_t in_zero)
{
    bool narrow = to != TC_i32 && to != TC_i48;
    return !narrow          ? 0x1p40
           : from == TC_i8  ? 0x1p20
           : from != TC_i16 ? 0x1p28
           : in_zero == 0   ? 0x1.fffffep14
                            : 0x1.fffffep13;
}

static bool is_narrow(tc_dtype d)
{
    return d == TC_i8 || d == TC_i16 || d == TC_u8 || d == TC_u16;
}

/* One limit for all, or for each index of the last axis. */
static tc_val limits(tc_build *lw, tc_val x, const double *limit, int64_t n, double sign)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    int rank = ti_b_type(lw, x)->rank;
    double *v = tc_new_n(&lw->ctx->scratch, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        v[i] = sign * limit[i];
    if (rank)
        dim[rank - 1] = n;
    return ti_b_numbers(lw, TC_i32, rank, dim, v);
}

/* x clamped so that no multiplier gets a value too large for its shift; what is clipped is far
 * beyond the last code.  An accumulator of 48 bits, which has no MINIMUM, is converted to 32
 * first. */
static tc_val held(tc_build *lw, tc_val x, double *factor, int64_t n, int64_t *in_zero)
{
    tc_dtype from = ti_b_dtype(lw, x);
    double most = ti_put_bound(lw, x) + fabs((double)*in_zero), steepest = 0;
    if (isinf(most) && ti_put_is_given(lw, x)) /* what rules make themselves fits */
        most = 0x1p31;
    for (int64_t i = 0; i < n; i++) {
        factor[i] = fmin(factor[i], 0x1p28); /* one step is beyond every code already */
        steepest = fmax(steepest, factor[i]);
    }
    if (isinf(most) || most * steepest < 0x1p29 || steepest < 0.25)
        if (from != TC_i48 || isinf(most) || most * steepest < 0x1p30)
            return x;
    if (from == TC_i48) {
        int down = (int)fmax(0, ceil(ti_log2(most / 0x1p30)));
        x = ti_put_rescale(lw, x, ldexp(1, -down), 0, 0, TC_i32);
        for (int64_t i = 0; i < n; i++)
            factor[i] = ldexp(factor[i], down);
        return x ? held(lw, x, factor, n, in_zero) : x;
    }
    if (*in_zero) /* so that the limits are symmetric */
        x = ti_b_tosa_sub(lw, x, limits(lw, x, &(double){(double)*in_zero}, 1, 1));
    *in_zero = 0;
    double *limit = tc_new_n(&lw->ctx->scratch, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        limit[i] = fmin(0x1p31 - 1, floor(0x1p28 / fmax(factor[i], 0x1p-30)));
    x = ti_b_tosa_minimum(lw, x, limits(lw, x, limit, n, 1));
    return x ? ti_b_tosa_maximum(lw, x, limits(lw, x, limit, n, -1)) : x;
}

/* Sums that become codes are rounded as the target rounds; what is between them, once.  By shifts
 * up to 31 both are the same. */
static tc_field_rounding rounding(const tc_build *lw, tc_dtype from, tc_dtype to, tc_tensor shift)
{
    bool far = false;
    for (int64_t i = 0; i < tc_type_count(shift.type); i++)
        far = far || ti_load_i64(shift, i) > 31;
    return far && from == TC_i32 && is_narrow(to) && lw->lower->target->machine->can.rounds_twice
               ? TC_rounding_double
               : TC_rounding_single;
}

/* factor: it may be changed. */
static tc_val rescale_by(tc_build *lw, tc_val x, double *factor, int64_t n, int64_t in_zero,
                         int64_t out_zero, tc_dtype to)
{
    tc_dtype wide = ti_b_dtype(lw, x);
    if (is_narrow(to) && (wide == TC_i32 || wide == TC_i48))
        x = held(lw, x, factor, n, &in_zero);
    if (!x)
        return x;
    tc_dtype from = ti_b_dtype(lw, x);
    bool scale32 = from != TC_i48;
    tc_tensor mult =
        ti_tensor_new(&lw->ctx->scratch, ti_type_make(lw->ctx, scale32 ? TC_i32 : TC_i16, 1, &n));
    tc_tensor shift = ti_tensor_new(&lw->ctx->scratch, ti_type_make(lw->ctx, TC_i8, 1, &n));
    for (int64_t i = 0; i < n; i++) {
        int32_t m;
        if (!(factor[i] >= 0 && (is_narrow(to) || factor[i] <= 0x1p40))) {
            ti_lower_refuse(lw, "a factor of %g", factor[i]);
            return TC_NONE;
        }
        split(fmin(factor[i], most_factor(from, to, in_zero)), scale32, &m,
                       (int8_t *)shift.data + i);
        ti_store_i64(mult, i, m);
    }
    tc_attr_tosa_rescale *a = tc_new(&lw->ctx->arena, tc_attr_tosa_rescale);
    *a = (tc_attr_tosa_rescale){.scale32 = scale32,
                                .rounding_mode = rounding(lw, from, to, shift),
                                .per_channel = n > 1,
                                .input_unsigned = from == TC_u8 || from == TC_u16,
                                .output_unsigned = to == TC_u8 || to == TC_u16};
    tc_val in[5] = {x, ti_b_copy(lw, mult.type, mult.data)};
    in[2] = ti_b_copy(lw, shift.type, shift.data);
    in[3] = ti_b_single(lw, from, 1, (double)in_zero);
    in[4] = ti_b_single(lw, to, 1, (double)out_zero);
    const tc_type *t = ti_b_type(lw, x);
    return ti_b_typed(lw, TC_OP_tosa_rescale, a, in, 5, ti_type_make(lw->ctx, to, t->rank, t->dim));
}

static tc_val rescale(tc_build *lw, tc_val x, const double *by, int64_t n, int64_t in_zero,
                      int64_t out_zero, tc_dtype to)
{
    if (!x)
        return x;
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    double *factor = ti_arena_copy(&lw->ctx->scratch, by, (size_t)n * sizeof *by);
    tc_val y = rescale_by(lw, x, factor, n, in_zero, out_zero, to);
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return y;
}

tc_val ti_put_rescale(tc_build *lw, tc_val x, double factor, int64_t in_zero, int64_t out_zero,
                      tc_dtype to)
{
    return rescale(lw, x, &factor, 1, in_zero, out_zero, to);
}

tc_val ti_put_rescale_channels(tc_build *lw, tc_val x, const double *factor, int64_t in_zero,
                               int64_t out_zero, tc_dtype to)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    return rescale(lw, x, factor, t->dim[t->rank - 1], in_zero, out_zero, to);
}

tc_val ti_put_cut(tc_build *lw, tc_val x, const double *step, int64_t n, double limit, double unit)
{
    if (!x)
        return x;
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    int rank = ti_b_type(lw, x)->rank;
    double *most = tc_new_n(&lw->ctx->arena, double, 3 * (size_t)n), *least = most + n,
           *factor = least + n;
    for (int64_t i = 0; i < n; i++) {
        most[i] = fmin(ceil(limit / step[i]), 0x1p31 - 1);
        least[i] = -most[i];
        factor[i] = fmin(step[i], limit) / unit;
    }
    dim[rank ? rank - 1 : 0] = n;
    x = ti_b_tosa_minimum(lw, x, ti_b_numbers(lw, TC_i32, rank, dim, most));
    x = ti_b_tosa_maximum(lw, x, ti_b_numbers(lw, TC_i32, rank, dim, least));
    return x ? rescale(lw, x, factor, n, 0, 0, TC_i32) : x;
}

/* CLAMP of 16 bits is EXT-INT16: without it, the larger and the smaller of two i32. */
static tc_val clamp_wide(tc_build *lw, tc_val x, double lo, double hi)
{
    int rank = ti_b_type(lw, x)->rank;
    x = ti_put_rescale(lw, x, 1, 0, 0, TC_i32);
    x = ti_b_tosa_maximum(lw, x, ti_b_single(lw, TC_i32, rank, lo));
    x = ti_b_tosa_minimum(lw, x, ti_b_single(lw, TC_i32, rank, hi));
    return ti_put_rescale(lw, x, 1, 0, 0, TC_i16);
}

tc_val ti_put_clamp(tc_build *lw, tc_val x, double lo, double hi)
{
    if (x && ti_b_dtype(lw, x) == TC_i16 && !ti_lower_has(lw, TC_FEATURE_INT16))
        return clamp_wide(lw, x, lo, hi);
    return ti_b_tosa_clamp(lw, x, lo, hi);
}

tc_val ti_put_codes(tc_build *lw, tc_val x, const tc_quant *q)
{
    if (!x)
        return x;
    tc_dtype d = ti_b_dtype(lw, x);
    int64_t spare =
        d ==
        TC_i16; /* the lowest code of 16 bits is within a step of the next: no operator for that */
    if ((d != TC_i8 && d != TC_i16) ||
        (q->lo <= ti_dtype_min(d) + spare && q->hi >= ti_dtype_max(d)))
        return x;
    return ti_put_clamp(lw, x, (double)q->lo, (double)q->hi);
}

double ti_scale_factor(double from, double to)
{
    int exponent;
    double plain = from / to;
    return frexp(plain, &exponent) == 0.5 ? plain : from * (double)(float)(1.0 / to);
}

tc_val ti_put_domain(tc_build *lw, tc_val x, const tc_type *from, const tc_type *type)
{
    const tc_quant *p = from->quant, *q = type->quant;
    if (!x)
        return x;
    int axis = p->axis >= 0 ? p->axis : q->axis;
    if (axis < 0) {
        if (from->dtype == type->dtype && p->scale[0] == q->scale[0] && p->zero[0] == q->zero[0])
            return p->lo < q->lo || p->hi > q->hi ? ti_put_codes(lw, x, q) : x;
        x = ti_put_rescale(lw, x, ti_scale_factor(p->scale[0], q->scale[0]), p->zero[0], q->zero[0],
                           type->dtype);
        return ti_put_codes(lw, x, q);
    }
    int64_t n = p->axis >= 0 ? p->count : q->count;
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t c = 0; c < n; c++) {
        int64_t i = p->axis >= 0 ? c : 0, j = q->axis >= 0 ? c : 0;
        factor[c] = ti_scale_factor(p->scale[i], q->scale[j]);
        if (p->zero[i] != p->zero[0] || q->zero[j] != q->zero[0]) {
            ti_lower_refuse(lw, "its zero points differ by channel");
            return TC_NONE;
        }
    }
    x = ti_put_rescale_channels(lw, ti_b_tosa_axis_last(lw, x, axis), factor, p->zero[0],
                                q->zero[0], type->dtype);
    return ti_b_tosa_axis_back(lw, ti_put_codes(lw, x, q), axis);
}

bool ti_is_activation(const tc_type *t)
{
    return t && t->quant && t->quant->axis < 0 && (t->dtype == TC_i8 || t->dtype == TC_i16);
}

/* ---- tables ---- */

tc_val ti_put_table(tc_build *lw, tc_val x, tc_dtype entries, const double *entry, int n)
{
    int64_t dim = n;
    return x ? ti_b_tosa_table(lw, x, ti_b_numbers(lw, entries, 1, &dim, entry)) : x;
}

/* i16 has no CONCAT without its extension: it goes through i32. */
tc_val ti_put_concat(tc_build *lw, const tc_val *x, int n, int axis)
{
    if (n == 1)
        return x[0];
    if (n > TC_LEVEL_LIST) { /* as few CONCATs as the level allows, and theirs */
        int joins = (n + TC_LEVEL_LIST - 1) / TC_LEVEL_LIST, each = (n + joins - 1) / joins;
        tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)joins);
        for (int i = 0; i < joins; i++)
            part[i] = ti_put_concat(lw, x + i * each, i + 1 < joins ? each : n - i * each, axis);
        return ti_put_concat(lw, part, joins, axis);
    }
    bool wide = lw->lower && n && x[0] && ti_b_dtype(lw, x[0]) == TC_i16 &&
                !ti_lower_has(lw, TC_FEATURE_INT16); /* TOSA already: unchanged */
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)n);
    for (int i = 0; i < n; i++)
        part[i] = wide ? ti_put_rescale(lw, x[i], 1, 0, 0, TC_i32) : x[i];
    tc_val y = ti_b_op(lw, TC_OP_tosa_concat, ti_b_attr(lw, tosa_axis, axis), part, n);
    return wide ? ti_put_rescale(lw, y, 1, 0, 0, TC_i16) : y;
}
