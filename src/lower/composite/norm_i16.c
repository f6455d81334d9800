/* SPDX-License-Identifier: Apache-2.0 */
/* norm_i16.c -- norms, variances and lengths of rows for results of 16 bits, all in i32.
 *
 * Deviations have a fixed number of fraction bits, and are normalized by the largest of the row, so
 * that rows of any spread keep their precision.  Their squares are summed in two halves, the square
 * root has a second step of Newton's method, gain and bias have 30 bits.  Expensive on an NPU, and
 * within two steps of 16 bits. */
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

/* ---- rows brought to the same size ---- */

/* A row: real deviation = dev * 2^-raised * unit, n * (variance + eps) = square * 4^-raised *
 * square_unit. */
typedef struct level {
    tc_val dev, raised; /* i32; [rows, n] and [rows, 1] */
    tc_val square;      /* above 0 */
    double unit, square_unit;
} level;

/* x less its zero point, or less the mean of its row, with *times steps to a code: below 2^30. */
static tc_val deviation(tc_build *lw, tc_val x, const tc_type *from, int64_t n, bool centre,
                        double *times)
{
    const double most = 0x1p13;
    *times = centre && (double)n < most ? (double)n : most;
    tc_val d = ti_put_rescale(lw, x, *times, ti_zero_of(from), 0, TC_i32);
    if (!centre)
        return d;
    int coarser;
    tc_val sum = ti_put_row_total(lw, x, ti_zero_of(from), from->dtype == TC_i8 ? 256 : 32768,
                                  &coarser);
    return ti_b_tosa_sub(
        lw, d,
        (double)n < most ? sum
                         : ti_put_rescale(lw, sum, ldexp(most, coarser) / (double)n, 0, 0, TC_i32));
}

/* a * 2^n. */
static tc_val times_power(tc_build *lw, tc_val a, int n)
{
    return n >= 0 ? ti_b_tosa_logical_left_shift(lw, a, ti_b_like(lw, a, TC_i32, n))
                  : ti_put_rescale(lw, a, ldexp(1, n), 0, 0, TC_i32);
}

/* Sum of dev^2 / 2^31 * 2^(more - 15) over rows of n, below 2^30: halves apart, so that what many
 * small ones add up to is not lost. */
static tc_val squares(tc_build *lw, tc_val dev, int more)
{
    int coarser;
    tc_val p = ti_b_tosa_mul_shift(lw, dev, dev, 31);
    tc_val high = ti_put_rescale(lw, p, 0x1p-15, 0, 0, TC_i32);
    tc_val low = ti_b_tosa_sub(
        lw, p, ti_b_tosa_logical_left_shift(lw, high, ti_b_like(lw, high, TC_i32, 15)));
    high = ti_put_row_total(lw, high, 0, 0x1p15, &coarser); /* twice what they are */
    low = ti_put_row_total(lw, low, 0, 0x1p15, &coarser);
    low = ti_put_rescale(lw, low, ldexp(1, more + coarser - 15), 0, 0, TC_i32);
    return ti_b_tosa_add(lw, times_power(lw, high, more + coarser), low);
}

/* eps: what is added to the variance. */
static level levelled(tc_build *lw, tc_val x, const tc_type *from, double eps, bool centre)
{
    level r = {0};
    if (!x)
        return r;
    int last = ti_b_type(lw, x)->rank - 1;
    int64_t n = ti_b_type(lw, x)->dim[last];
    double times;
    tc_val d = deviation(lw, x, from, n, centre, &times);
    tc_val most = ti_put_row_max(lw, ti_b_tosa_abs(lw, d));
    int more = 16 - ti_bits_for(n); /* squares: 2^14 in a high half */
    r.unit = ti_scale_of(from) / times;
    r.square_unit = r.unit * r.unit * ldexp(1, 46 - more);
    /* eps is represented by at most 2^29 after 2 * raised shifts; more than that at once: coarser
     * squares */
    double added = eps * (double)n / r.square_unit;
    int coarser = added > 0x1p29 ? (int)ceil(ti_log2(added / 0x1p29)) : 0;
    added = ldexp(added, -coarser);
    int highest = added > 0 ? (int)fmin(30, floor(ti_log2(0x1p29 / added) / 2)) : 30;
    tc_val spare = ti_b_tosa_clz(lw, most);
    r.raised = ti_put_at_most(lw, ti_b_tosa_sub(lw, spare, ti_b_like(lw, spare, TC_i32, 2)), highest);
    r.dev = ti_b_tosa_logical_left_shift(lw, d, r.raised);
    r.square = squares(lw, r.dev, more);
    if (coarser)
        r.square = ti_put_rescale(lw, r.square, ldexp(1, -coarser), 0, 0, TC_i32);
    r.square_unit = ldexp(r.square_unit, coarser);
    if (added > 0) {
        tc_val less = ti_b_tosa_sub(lw, ti_b_like(lw, r.raised, TC_i32, highest), r.raised);
        less = ti_put_at_most(lw, ti_b_tosa_add(lw, less, less), 31);
        tc_val all = ti_b_like(lw, less, TC_i32, rint(ldexp(added, 2 * highest)));
        r.square =
            ti_b_tosa_add(lw, r.square, ti_b_tosa_arithmetic_right_shift(lw, all, less, true));
    }
    r.square = ti_put_at_least(lw, r.square, 1);
    return r;
}

/* ---- roots ---- */

/* With q = even / 2^31 and root = A / sqrt(q): one more step, 15 bits more. */
static const double root_one = 255 * TC_ROOT_ONE / 0x1p23; /* A */

/* 1 / sqrt(even) = result * this. */
static double root_unit(void)
{
    return sqrt(0.5) / (4 * ti_pow(root_one, 3));
}

static tc_val finer_root(tc_build *lw, const tc_root *r)
{
    tc_val square = ti_b_tosa_mul_shift(lw, ti_b_tosa_mul_shift(lw, r->even, r->root, 15), r->root,
                                        15); /* 2 A^2 */
    tc_val rest =
        ti_b_tosa_sub(lw, ti_b_like(lw, square, TC_i32, rint(6 * root_one * root_one)), square);
    return ti_b_tosa_mul_shift(lw, r->root, rest, 15);
}

/* ---- norms ---- */

/* One number per index of an axis, in steps of unit. */
static tc_val constants(tc_build *lw, tc_val like, int axis, const double *x, int64_t n,
                        double unit)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    double *stored = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        stored[i] = x[i] / unit;
    if (!like)
        return like;
    dim[axis] = n;
    return ti_b_numbers(lw, TC_i32, ti_b_type(lw, like)->rank, dim, stored);
}

tc_val ti_put_normal_i16(tc_build *lw, tc_val x, const tc_type *from, double eps, bool centre,
                         double *unit)
{
    level l = levelled(lw, x, from, eps, centre);
    if (!l.square)
        return TC_NONE;
    int last = ti_b_type(lw, x)->rank - 1, most_half = 15;
    double n = (double)ti_b_type(lw, x)->dim[last];
    tc_root r = ti_put_root(lw, l.square);
    /* 1 / sqrt(square) = fine * 2^half * root_unit; no result is above sqrt(n) */
    tc_val fine = finer_root(lw, &r);
    fine = ti_b_tosa_arithmetic_right_shift(
        lw, fine, ti_b_tosa_sub(lw, ti_b_like(lw, r.half, TC_i32, most_half), r.half), true);
    *unit = ldexp(root_unit(), most_half) * sqrt(n) * l.unit / sqrt(l.square_unit);
    int down = (int)fmax(0, ceil(ti_log2(sqrt(n) / *unit)) - 29);
    *unit = ldexp(*unit, down);
    return ti_b_tosa_mul_shift(lw, l.dev, fine, down);
}

tc_val ti_put_affine_i16(tc_build *lw, tc_val x, double unit, int axis, const double *gain,
                         const double *bias, int64_t n, const tc_type *to)
{
    double most = fmax(ti_largest(gain, n), 1e-30), far = ti_largest(bias, n);
    double out = ti_scale_of(to);
    /* the bias fits in addition to the product */
    int more = far > 0 ? (int)fmax(0, ceil(ti_log2(far / (unit * most * 0x1p29)))) : 0;
    tc_val y =
        ti_b_tosa_mul_shift(lw, x, constants(lw, x, axis, gain, n, most / 0x1p30), 30 + more);
    unit *= ldexp(most, more);
    if (far > 0)
        y = ti_b_tosa_add(lw, y, constants(lw, y, axis, bias, n, unit));
    /* far beyond the codes everything saturates */
    double limit = floor(out * 0x1p17 / unit);
    if (unit / out >= 0.25 && limit < 0x1p31) {
        y = ti_put_at_least(lw, ti_put_at_most(lw, y, limit), -limit);
    }
    y = ti_put_rescale(lw, y, unit / out, 0, ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}

/* ---- variances and lengths ---- */

/* mantissa * 2^-down * unit, mantissa from 2^29 on, in the domain of `to`: what does not fit is at
 * its end. */
static tc_val floating(tc_build *lw, tc_val mantissa, tc_val down, double unit, const tc_type *to)
{
    double out = ti_scale_of(to), least = out * 0x1p17 / unit; /* mantissas that fill the codes */
    int at = (int)floor(ti_log2(0x1p29 / least));
    down = ti_b_tosa_sub(lw, down, ti_b_like(lw, down, TC_i32, at));
    down = ti_put_at_most(lw, ti_put_at_least(lw, down, 0), 31);
    tc_val y = ti_b_tosa_arithmetic_right_shift(lw, mantissa, down, true);
    return ti_put_rescale(lw, y, ldexp(unit, -at) / out, 0, ti_zero_of(to), to->dtype);
}

tc_val ti_put_spread_i16(tc_build *lw, tc_val x, const tc_type *from, bool centre, double divisor,
                         bool root, const tc_type *to)
{
    level l = levelled(lw, x, from, 0, centre);
    if (!l.square)
        return TC_NONE;
    if (root) { /* sqrt(even) = even / sqrt(even) */
        tc_root r = ti_put_root(lw, l.square);
        tc_val g = ti_b_tosa_mul_shift(lw, r.even, finer_root(lw, &r), 31);
        return floating(lw, g, ti_b_tosa_add(lw, r.half, l.raised),
                        0x1p31 * root_unit() * sqrt(l.square_unit / divisor), to);
    }
    tc_val zeros = ti_b_tosa_clz(lw, l.square);
    zeros = ti_b_tosa_sub(lw, zeros, ti_b_like(lw, zeros, TC_i32, 1));
    tc_val mantissa = ti_b_tosa_logical_left_shift(lw, l.square, zeros);
    zeros = ti_b_tosa_add(lw, zeros, ti_b_tosa_add(lw, l.raised, l.raised));
    return floating(lw, mantissa, zeros, l.square_unit / divisor, to);
}
