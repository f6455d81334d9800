/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c -- layer, root-mean-square and group norms in integers.
 *
 * Deviations from the mean as i16, the sum of their squares in i32, 1/sqrt of it once per row as a
 * power of two and a mantissa; these are multiplied on one after the other, so that rows of any
 * spread keep their precision. */
#include <math.h>

#include "composite.h"

static tc_val number32(tc_lower *lw, tc_val like, double x)
{
    return like ? tc_put_number(lw, TC_i32, tc_put_type(lw, like)->rank, x) : TC_NONE;
}

/* ---- deviations ---- */

enum { BY_CONV = 128 }; /* rows up to this long are centred by a matrix */

/* x * weights over the last axis as a 1x1 convolution, times factor, i16. */
static tc_val across(tc_lower *lw, tc_val x, int64_t zero, int64_t n_out, const double *weight,
                     double factor)
{
    const tc_type *t = tc_put_type(lw, x);
    int64_t n = t->dim[t->rank - 1], dim[TC_MAX_RANK];
    memcpy(dim, t->dim, sizeof dim);
    dim[t->rank - 1] = n_out;
    if (t->rank != 4)
        x = tc_put_reshape(lw, x, 4, (int64_t[]){1, 1, tc_type_count(t) / n, n});
    tc_val in[] = {x, tc_put_numbers(lw, TC_i8, 4, (int64_t[]){n_out, 1, 1, n}, weight),
                   tc_put_number(lw, TC_i32, 1, 0), tc_put_number(lw, TC_i8, 1, (double)zero),
                   tc_put_number(lw, TC_i8, 1, 0)};
    tc_val sum = tc_put(lw, TC_OP_tosa_conv2d, tc_conv_1x1(lw, TC_i32), in, 5);
    tc_val y = tc_put_rescale(lw, sum, factor, 0, 0, TC_i16);
    return tc_put_reshape(lw, y, t->rank, dim);
}

/* x - mean, n times too large: n times the identity less a matrix of ones. */
static tc_val centred_by_conv(tc_lower *lw, tc_val x, int64_t zero, int64_t n, double unit)
{
    double *w = tc_new_n(&lw->ctx->arena, double, (size_t)(n * n));
    for (int64_t i = 0; i < n * n; i++)
        w[i] = i / n == i % n ? (double)n - 1 : -1;
    return across(lw, x, zero, n, w, 1 / (unit * (double)n));
}

/* The mean of each row in steps of unit, i16. */
static tc_val row_mean(tc_lower *lw, tc_val x, int64_t zero, int64_t n, double unit)
{
    if (tc_put_type(lw, x)->dtype != TC_i8 || n > 65536)
        return tc_put_rescale(lw, tc_put_row_sum(lw, x, zero), 1 / (unit * (double)n), 0, 0,
                              TC_i16);
    double *w = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        w[i] = 1;
    return across(lw, x, zero, 1, w, 1 / (unit * (double)n));
}

tc_val tc_put_row_deviation(tc_lower *lw, tc_val x, int64_t zero, bool centre, double *unit)
{
    if (!x)
        return x;
    const tc_type *t = tc_put_type(lw, x);
    int64_t n = t->dim[t->rank - 1];
    *unit = t->dtype == TC_i8 ? 0x1p-7 : centre ? 2 : 1;
    if (centre && t->dtype == TC_i8 && n <= BY_CONV)
        return centred_by_conv(lw, x, zero, n, *unit);
    tc_val fine = *unit == 1 ? x : tc_put_rescale(lw, x, 1 / *unit, zero, 0, TC_i16);
    if (!centre)
        return fine;
    return tc_put_fused(lw, TC_OP_tosa_sub, (tc_term){fine, 0, 1},
                        (tc_term){row_mean(lw, x, zero, n, *unit), 0, 1}, 1, 0, TC_i16);
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

static int bits_of(int64_t n) /* 2^bits >= n */
{
    int bits = 0;
    while ((int64_t)1 << bits < n)
        bits++;
    return bits;
}

/* Sum over the last axis of d * d / 2^shift. */
static tc_val squares(tc_lower *lw, tc_val d, int shift)
{
    tc_val square = tc_put_product(lw, d, d, 0);
    if (shift)
        square = tc_put_rescale(lw, square, ldexp(1, -shift), 0, 0, TC_i32);
    return square ? tc_put_reduced(lw, TC_OP_tosa_reduce_sum, square,
                                   tc_put_type(lw, square)->rank - 1)
                  : square;
}

/* Long rows are summed in parts, whose squares keep more of their bits. */
tc_val tc_put_row_squares(tc_lower *lw, tc_val d, bool centred, int least, int *shift)
{
    if (!d)
        return d;
    const tc_type *t = tc_put_type(lw, d);
    int last = t->rank - 1;
    int64_t n = t->dim[last], part = n > 2048 && t->rank < 6 ? part_of(n, 512) : 1,
            dim[TC_MAX_RANK];
    *shift = (int)fmax(least, fmax(0, bits_of(n) - (centred ? 2 : 0)));
    int first = bits_of(part);
    if (part < 16 || first >= *shift)
        return squares(lw, d, *shift);
    memcpy(dim, t->dim, sizeof dim);
    dim[last] = n / part;
    dim[last + 1] = part;
    tc_val sum = squares(lw, tc_put_reshape(lw, d, t->rank + 1, dim), first);
    sum = tc_put_rescale(lw, tc_put_reshape(lw, sum, t->rank, dim), ldexp(1, first - *shift), 0, 0,
                         TC_i32);
    return tc_put_reduced(lw, TC_OP_tosa_reduce_sum, sum, last);
}

/* ---- rows of variance 1 ---- */

tc_val tc_put_row_normal(tc_lower *lw, tc_val x, const tc_type *from, double eps, bool centre,
                         double most, double *unit)
{
    if (!x)
        return x;
    const tc_type *t = tc_put_type(lw, x);
    double n = (double)t->dim[t->rank - 1], step, limit = fmin(most, sqrt(n));
    tc_val d = tc_put_row_deviation(lw, x, tc_zero_of(from), centre, &step);
    step *= tc_scale_of(from);
    double added = eps * n / (step * step);
    int shift = 0, least = added > 0x1p30 ? (int)ceil(log2(added)) - 30 : 0;
    tc_val v = tc_put_row_squares(lw, d, centre, least, &shift);
    v = tc_put2(lw, TC_OP_tosa_add, NULL, v, number32(lw, v, fmax(1, rint(ldexp(added, -shift)))));
    tc_root r = tc_put_root(lw, v);
    tc_val power =
        tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, number32(lw, r.half, 1), r.half);
    /* d * power is at most 2^(15.5 + shift / 2), because d^2 is part of the sum */
    double down = pow(2, -0.5 - shift / 2.0) * (32767.0 / 32768);
    tc_val even =
        tc_put_rescale(lw, tc_put_product(lw, d, tc_put_rescale(lw, power, 1, 0, 0, TC_i16), 0),
                       down, 0, 0, TC_i16);
    tc_val y = tc_put_product(lw, even, tc_put_rescale(lw, r.root, 1, 0, 0, TC_i16), 0);
    *unit = limit / 32767;
    return tc_put_rescale(lw, y, TC_ROOT_UNIT * sqrt(n * ldexp(1, -shift)) / (down * *unit), 0, 0,
                          TC_i16);
}

/* ---- rules ---- */

/* What |normalized| can be before every result has left the domain of `to`. */
static double most_of(const double *gain, const double *bias, int64_t n, const tc_type *to)
{
    double most = 0, span = tc_scale_of(to) * (double)(to->quant->hi - to->quant->lo + 1);
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, (span + fabs(bias[i])) / fmax(fabs(gain[i]), 1e-30));
    return most;
}

/* Rows [.., n] of the operand, normalized, then back to its shape with gain and bias along `axis`
 * of that shape. */
static tc_val normalized(tc_lower *lw, const tc_node *node, int rank, const int64_t *dim,
                         double eps, bool centre, int axis, int back_rank, const int64_t *back,
                         const double *gain, const double *bias)
{
    const tc_type *xt = tc_lower_type(lw, node, 0), *yt = tc_lower_result(lw, node, 0);
    if (!gain || !bias)
        return TC_NONE;
    int64_t n = back[axis];
    double unit;
    tc_val x = tc_put_reshape(lw, tc_lower_in(lw, node, 0), rank, dim);
    x = tc_put_row_normal(lw, x, xt, eps, centre, most_of(gain, bias, n, yt), &unit);
    x = tc_put_affine(lw, tc_put_reshape(lw, x, back_rank, back), unit, axis, gain, bias, n, yt);
    return tc_put_reshape(lw, x, yt->rank, yt->dim);
}

static void over_last(tc_lower *lw, const tc_node *node, tc_val *out, bool centre)
{
    const tc_attr_layer_norm *a = node->attr;
    const tc_type *t = tc_lower_type(lw, node, 0);
    if (!tc_lower_one_scale(lw, node))
        return;
    int keep = t->rank - (int)a->n_axes;
    int64_t dim[TC_MAX_RANK], n = 1;
    for (int i = 0; i < t->rank; i++) {
        if (i < keep)
            dim[i] = t->dim[i];
        else
            n *= t->dim[i];
    }
    dim[keep] = n;
    const double *gain = tc_lower_known(lw, node, 1, n, 1),
                 *bias = tc_lower_known(lw, node, centre ? 2 : node->n_in, n, 0);
    out[0] = normalized(lw, node, keep + 1, dim, a->eps, centre, keep, keep + 1, dim, gain, bias);
}

void tc_lower_int_layer_norm(tc_lower *lw, const tc_node *node, tc_val *out)
{
    over_last(lw, node, out, true);
}
void tc_lower_int_rms_norm(tc_lower *lw, const tc_node *node, tc_val *out)
{
    over_last(lw, node, out, false);
}

void tc_lower_int_group_norm(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_group_norm *a = node->attr;
    const tc_type *t = tc_lower_type(lw, node, 0);
    if (!tc_lower_one_scale(lw, node))
        return;
    int64_t rows[] = {t->dim[0], a->groups, tc_type_count(t) / (t->dim[0] * a->groups)};
    int64_t back[] = {t->dim[0], t->dim[1], tc_type_count(t) / (t->dim[0] * t->dim[1])};
    const double *gain = tc_lower_known(lw, node, 1, t->dim[1], 1),
                 *bias = tc_lower_known(lw, node, 2, t->dim[1], 0);
    out[0] = normalized(lw, node, 3, rows, a->eps, true, 1, 3, back, gain, bias);
}
