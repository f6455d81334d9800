/* SPDX-License-Identifier: Apache-2.0 */
/* moments.c -- rows of any integers normalized to mean 0 and variance 1.
 *
 * Deviations from the mean as i16, the sum of their squares in i32, 1/sqrt of it once per row as a
 * power of two and a mantissa; these are multiplied on one after the other, so that rows of any
 * spread keep their precision. */
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

/* ---- deviations ---- */

/* Weights as i8 with a zero point if they need one. */
static tc_val weights8(tc_build *lw, const double *weight, int64_t n_out, int64_t n, double *zero)
{
    double lo = 0, hi = 0, *w = tc_new_n(&lw->ctx->arena, double, (size_t)(n_out * n));
    for (int64_t i = 0; i < n_out * n; i++) {
        lo = fmin(lo, weight[i]);
        hi = fmax(hi, weight[i]);
    }
    *zero = hi > 127 ? -128 - lo : 0;
    for (int64_t i = 0; i < n_out * n; i++)
        w[i] = weight[i] + *zero;
    return ti_b_numbers(lw, TC_i8, 4, (int64_t[]){n_out, 1, 1, n}, w);
}

tc_val ti_put_across(tc_build *lw, tc_val x, int64_t zero, int64_t n_out, const double *weight,
                     const double *factor, int64_t out_zero, tc_dtype to)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    int64_t n = t->dim[t->rank - 1], dim[TC_MAX_RANK];
    double weight_zero;
    memcpy(dim, t->dim, sizeof dim);
    dim[t->rank - 1] = n_out;
    if (t->rank != 4)
        x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, 1, tc_type_count(t) / n, n});
    tc_val w = weights8(lw, weight, n_out, n, &weight_zero);
    tc_val in[5] = {x, w, ti_b_single(lw, TC_i32, 1, 0)};
    in[3] = ti_b_single(lw, TC_i8, 1, (double)zero);
    in[4] = ti_b_single(lw, TC_i8, 1, weight_zero);
    tc_val y = ti_b_op(lw, TC_OP_tosa_conv2d, ti_conv_1x1(lw, TC_i32), in, 5);
    if (to != TC_i32)
        y = ti_put_rescale_channels(lw, y, factor, 0, out_zero, to);
    return ti_b_tosa_reshape(lw, y, t->rank, dim);
}

tc_val ti_put_row_deviation(tc_build *lw, tc_val x, int64_t zero, bool centre, double *unit)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    *unit = t->dtype == TC_i8 ? 0x1p-7 : centre ? 2 : 1;
    tc_val fine = *unit == 1 ? x : ti_put_rescale(lw, x, 1 / *unit, zero, 0, TC_i16);
    if (!centre)
        return fine;
    int down;
    tc_val sum = ti_put_row_total(lw, x, zero, t->dtype == TC_i8 ? 256 : 32768, &down);
    double factor = ldexp(1, down) / (*unit * (double)t->dim[t->rank - 1]);
    tc_val mean = ti_put_rescale(lw, sum, factor, 0, 0, TC_i16);
    return ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){fine, 0, 1}, (tc_term){mean, 0, 1}, 1, 0,
                        TC_i16);
}

/* ---- sums of squares ---- */

/* The largest divisor of n that is at most `most`. */
static int64_t part_of(int64_t n, int64_t most)
{
    for (int64_t k = most < n ? most : n; k > 1; k--)
        if (n % k == 0)
            return k;
    return 1;
}

/* Sum over the last axis of d * d / 2^shift. */
static tc_val squares(tc_build *lw, tc_val d, int shift)
{
    tc_val square = ti_b_tosa_mul(lw, d, d);
    if (shift)
        square = ti_put_rescale(lw, square, ldexp(1, -shift), 0, 0, TC_i32);
    return square ? ti_b_tosa_reduce_sum(lw, square, ti_b_type(lw, square)->rank - 1) : square;
}

/* Long rows are summed in parts, whose squares keep more of their bits. */
tc_val ti_put_row_squares(tc_build *lw, tc_val d, bool centred, int least, int *shift)
{
    if (!d)
        return d;
    const tc_type *t = ti_b_type(lw, d);
    int last = t->rank - 1;
    int64_t n = t->dim[last], part = n > 2048 && t->rank < 6 ? part_of(n, 512) : 1,
            dim[TC_MAX_RANK];
    *shift = (int)fmax(least, fmax(0, ti_bits_for(n) - (centred ? 2 : 0)));
    int first = ti_bits_for(part);
    if (part < 16 || first >= *shift)
        return squares(lw, d, *shift);
    memcpy(dim, t->dim, sizeof dim);
    dim[last] = n / part;
    dim[last + 1] = part;
    tc_val sum = squares(lw, ti_b_tosa_reshape(lw, d, t->rank + 1, dim), first);
    sum = ti_put_rescale(lw, ti_b_tosa_reshape(lw, sum, t->rank, dim), ldexp(1, first - *shift), 0,
                         0, TC_i32);
    return ti_b_tosa_reduce_sum(lw, sum, last);
}

/* ---- rows of variance 1 ---- */

/* Of squares, so that eps fits: half of it is taken from the 15 bits of a deviation, and 9 are left
 * for a result of 8. */
enum { MOST_SHIFT = 12 };

tc_val ti_put_row_normal(tc_build *lw, tc_val x, const tc_type *from, double eps, bool centre,
                         double most, double *unit)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    double n = (double)t->dim[t->rank - 1], step, limit = fmin(most, sqrt(n));
    tc_val d = ti_put_row_deviation(lw, x, ti_zero_of(from), centre, &step);
    step *= ti_scale_of(from);
    double added = eps * n / (step * step);
    int shift = 0, least = added > 0x1p30 ? (int)ceil(ti_log2(added)) - 30 : 0;
    if (least > MOST_SHIFT) {
        ti_lower_refuse(lw, "its values are negligible against eps, %g: 32 bits do not hold both",
                        eps);
        return TC_NONE;
    }
    tc_val v = ti_put_row_squares(lw, d, centre, least, &shift);
    v = ti_b_tosa_add(lw, v, ti_b_like(lw, v, TC_i32, fmax(1, rint(ldexp(added, -shift)))));
    tc_root r = ti_put_root(lw, v);
    tc_val power = ti_b_tosa_logical_left_shift(lw, ti_b_like(lw, r.half, TC_i32, 1), r.half);
    /* d * power is at most 2^(15.5 + shift / 2), because d^2 is part of the sum */
    double down = ti_pow(2, -0.5 - shift / 2.0) * (32767.0 / 32768);
    tc_val even = ti_put_rescale(
        lw, ti_b_tosa_mul(lw, d, ti_put_rescale(lw, power, 1, 0, 0, TC_i16)), down, 0, 0, TC_i16);
    tc_val y = ti_b_tosa_mul(lw, even, ti_put_rescale(lw, r.root, 1, 0, 0, TC_i16));
    *unit = limit / 32767;
    return ti_put_rescale(lw, y, TC_ROOT_UNIT * sqrt(n * ldexp(1, -shift)) / (down * *unit), 0, 0,
                          TC_i16);
}
