/* SPDX-License-Identifier: Apache-2.0 */
/* round_blocks.c -- CAST to block-scaled types in f32 arithmetic, bit-exact.
 *
 * Of a block with the largest magnitude m, the scale 2^e is the least that makes m fit the value
 * type (block_scaled.h): one more than the largest k with limit * 2^k <= m, for e4m3 < m.  All 254
 * limits are compared at once; of the powers of two that belong to those that hold the largest is
 * the scale, and the least of the inverse ones its inverse.  Then
 *
 *     y = x * 2^-e,  rounded to a multiple of the step at |y| (halves to even, by CAST to i32)
 *
 * and the sign, of zeros too, is that of x.  A block with an infinity or NaN is NaN throughout. */
#include "older.h"

#include <float.h>
#include <math.h>

#include "../../num/block_scaled.h"

enum { LEAST = -TC_SCALE_BIAS, MOST = TC_SCALE_BIAS, LIMITS = MOST - LEAST };

/* A value type: the largest value that rounds to its largest, as steps * 2^unit; the exponents of
 * its normal values; fraction bits. */
typedef struct {
    tc_dtype dtype;
    double limit;
    int least, most, fraction;
} value_type;

static const value_type types[] = {
    {TC_e4m3, 464, -6, 8, 3},  {TC_e5m2, 61440, -14, 15, 2}, {TC_e2m3, 7.75, 0, 2, 3},
    {TC_e3m2, 30, -2, 4, 2},   {TC_e2m1, 7, 0, 2, 1},        {TC_mxint8, 127.5 / 64, 0, 0, 6},
};

static const value_type *type_of(tc_dtype dtype)
{
    const value_type *t = types;
    while (t->dtype != dtype)
        t++;
    return t;
}

/* A row of constants, one for each limit k: f(k + LEAST). */
static tc_val row(tc_build *b, double factor, int first, int step)
{
    double x[LIMITS];
    for (int k = 0; k < LIMITS; k++)
        x[k] = ldexp(factor, first + step * k);
    return ti_b_numbers(b, TC_f32, 2, (int64_t[]){1, LIMITS}, x);
}

static tc_val number(tc_build *b, double x) { return ti_b_single(b, TC_f32, 2, x); }

/* 2^e and 2^-e of every block, [blocks, 1]; x is [blocks, 32]. */
static void find_scales(tc_build *b, tc_val x, const value_type *t, tc_val *scale, tc_val *inverse)
{
    tc_val size = ti_b_tosa_reduce(b, TC_OP_tosa_reduce_max, ti_b_tosa_abs(b, x), 1);
    tc_val limits = row(b, t->limit, LEAST, 1), powers = row(b, 1, LEAST + 1, 1);
    tc_val inverses = row(b, 1, -LEAST - 1, -1);
    tc_val least = number(b, ldexp(1, LEAST)), most = number(b, ldexp(1, MOST));
    tc_val holds = t->dtype == TC_e4m3 ? ti_b_tosa_greater(b, size, limits)
                                       : ti_b_tosa_greater_equal(b, size, limits);
    powers = ti_b_tosa_select(b, holds, powers, least);
    inverses = ti_b_tosa_select(b, holds, inverses, most);
    *scale = ti_b_tosa_reduce(b, TC_OP_tosa_reduce_max, powers, 1);
    *inverse = ti_b_tosa_reduce(b, TC_OP_tosa_reduce_min, inverses, 1);
    tc_val largest = number(b, (double)FLT_MAX), nan = number(b, NAN);
    tc_val finite = ti_b_tosa_greater_equal(b, largest, size);
    *scale = ti_b_tosa_select(b, finite, *scale, nan);
}

/* The step between values of the type at a magnitude, and its inverse. */
static void find_steps(tc_build *b, tc_val size, const value_type *t, tc_val *step, tc_val *inverse)
{
    *step = number(b, ldexp(1, t->least - t->fraction));
    *inverse = number(b, ldexp(1, t->fraction - t->least));
    for (int e = t->least + 1; e <= t->most; e++) {
        tc_val from = number(b, ldexp(1, e)), wider = number(b, ldexp(1, e - t->fraction));
        tc_val narrower = number(b, ldexp(1, t->fraction - e));
        tc_val holds = ti_b_tosa_greater_equal(b, size, from);
        *step = ti_b_tosa_select(b, holds, wider, *step);
        *inverse = ti_b_tosa_select(b, holds, narrower, *inverse);
    }
}

/* MXINT8: integers, whose zero has no sign; the largest scale may be too small. */
static tc_val round_to_integers(tc_build *b, tc_val y, const value_type *t)
{
    tc_val inverse = number(b, ldexp(1, t->fraction)), step = number(b, ldexp(1, -t->fraction));
    tc_val held = ti_b_tosa_clamp(b, ti_b_tosa_mul(b, y, inverse), INT8_MIN, INT8_MAX);
    tc_val whole = ti_b_tosa_cast(b, held, TC_i32);
    return ti_b_tosa_mul(b, ti_b_tosa_cast(b, whole, TC_f32), step);
}

static tc_val round_to(tc_build *b, tc_val y, const value_type *t)
{
    if (t->dtype == TC_mxint8)
        return round_to_integers(b, y, t);
    tc_val size = ti_b_tosa_abs(b, y), step, inverse, zero = number(b, 0);
    find_steps(b, size, t, &step, &inverse);
    tc_val whole = ti_b_tosa_cast(b, ti_b_tosa_mul(b, size, inverse), TC_i32);
    size = ti_b_tosa_mul(b, ti_b_tosa_cast(b, whole, TC_f32), step);
    tc_val negative = ti_b_tosa_greater(b, zero, y), minus = number(b, -1), plus = number(b, 1);
    tc_val sign = ti_b_tosa_select(b, negative, minus, plus);
    tc_val none = ti_b_tosa_equal(b, y, zero);
    return ti_b_tosa_select(b, none, y, ti_b_tosa_mul(b, size, sign));
}

tc_val ti_older_round(tc_build *b, tc_val x, tc_dtype value, bool fp8, tc_val *values,
                      tc_val *scales)
{
    const value_type *t = type_of(value);
    const tc_type *type = x ? ti_b_type(b, x) : NULL;
    if (!type)
        return TC_NONE;
    tc_val scale, inverse;
    int64_t dim[TC_MAX_RANK], blocks = tc_type_count(type) / TC_BLOCK;
    memcpy(dim, type->dim, (size_t)type->rank * sizeof *dim);
    tc_val rows = ti_b_tosa_reshape(b, x, 2, (int64_t[]){blocks, TC_BLOCK});
    find_scales(b, rows, t, &scale, &inverse);
    tc_val y = ti_b_tosa_mul(b, rows, inverse);
    bool by_cast = fp8 && (value == TC_e4m3 || value == TC_e5m2);
    y = by_cast ? ti_b_tosa_cast(b, ti_b_tosa_cast(b, y, value), TC_f32) : round_to(b, y, t);
    if (values)
        *values = ti_b_tosa_reshape(b, y, type->rank, dim);
    y = ti_b_tosa_reshape(b, ti_b_tosa_mul(b, y, scale), type->rank, dim);
    dim[type->rank - 1] /= TC_BLOCK;
    if (scales)
        *scales = ti_b_tosa_reshape(b, scale, type->rank, dim);
    return y;
}
