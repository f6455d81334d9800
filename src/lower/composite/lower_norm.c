/* SPDX-License-Identifier: Apache-2.0 */
/* lower_norm.c -- layer, root-mean-square and group norms in integers.
 *
 * Rows of i8 that are not too long have a quicker way than moments.c: the sum of squared deviations
 * from the exact sums of x and x * x, and deviations that have the gain in them already from one
 * convolution.  1/sigma is one i16, which is good for rows of a standard deviation of a quarter of
 * a code and more. */
#include <float.h>
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

/* A norm over rows of i8: y = (x - mean) / sigma * gain + bias, or without the mean. */
typedef struct norm8 {
    int64_t n, zero;
    double scale, eps;
    bool centre;
    const double *gain, *bias;
    const tc_type *to;
} norm8;

/* Fraction bits of the sum of squares: as many as fit i32, with eps added; -1: eps is too large. */
static int fraction_of(const norm8 *p)
{
    double squares = (p->centre ? 0x1p14 : 0x1p16) * (double)p->n,
           added = p->eps * (double)p->n / (p->scale * p->scale);
    return (int)fmax(-1, floor(fmin(ti_log2(0x1p30 / squares), ti_log2(0x1p30 / fmax(added, 1)))));
}

/* Sum over the row as i32, of i8. */
static tc_val sum_of(tc_build *lw, tc_val x, int64_t n)
{
    double *w = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        w[i] = 1;
    return ti_put_across(lw, x, 0, 1, w, NULL, 0, TC_i32);
}

/* Sum of x * x over the row: a square of i8 around 0 has room in i16. */
static tc_val squares_of(tc_build *lw, tc_val x, const norm8 *p)
{
    if (!p->centre) {
        tc_val wide = ti_put_widened(lw, x, p->zero);
        tc_val square = ti_b_tosa_mul(lw, ti_put_widened(lw, x, p->zero), wide);
        return ti_b_tosa_reduce_sum(lw, square, ti_b_type(lw, x)->rank - 1);
    }
    return ti_put_row_sum(lw, ti_put_rescale(lw, ti_b_tosa_mul(lw, x, x), 1, 0, 0, TC_i16), 0);
}

/* Rows so short that n * sum(x * x) - sum(x)^2 fits i32, and eps rounded to a whole number is less
 * than half a percent of a variance of a sixteenth. */
static bool is_exact(const norm8 *p)
{
    double n = (double)p->n, added = p->eps * n * n / (p->scale * p->scale);
    return p->centre && 0x1p14 * n * n <= 0x1p30 && added < 0x1p30 && (added >= 16 || n >= 40);
}

/* n^2 * variance + eps. */
static tc_val exact_spread(tc_build *lw, tc_val x, tc_val sum, const norm8 *p)
{
    double n = (double)p->n, added = p->eps * n * n / (p->scale * p->scale);
    tc_val all = squares_of(lw, x, p);
    all = ti_put_rescale(lw, all, n, 0, 0, TC_i32); /* which the sum has room for */
    tc_val mean = ti_b_tosa_mul(lw, sum, sum);
    tc_val v = ti_b_tosa_sub(lw, all, mean);
    return ti_b_tosa_add(lw, v, ti_b_like(lw, v, TC_i32, fmax(1, rint(added))));
}

/* n * variance * 2^fraction + eps: sum(x * x) - sum(x)^2 / n. */
static tc_val spread_of(tc_build *lw, tc_val x, tc_val sum, const norm8 *p, int fraction)
{
    tc_val v = squares_of(lw, x, p);
    v = ti_b_tosa_logical_left_shift(lw, v, ti_b_like(lw, v, TC_i32, fraction));
    if (p->centre) {
        tc_val mean = ti_put_rescale(lw, sum, 0x1p22 / (double)p->n, 0, 0, TC_i32);
        v = ti_b_tosa_sub(lw, v, ti_b_tosa_mul_shift(lw, sum, mean, 22 - fraction));
    }
    double added = ldexp(p->eps * (double)p->n / (p->scale * p->scale), fraction);
    return ti_b_tosa_add(lw, v, ti_b_like(lw, v, TC_i32, fmax(2, rint(added))));
}

/* The largest 1 / sigma of a row that is not all the same: one code off in n is sqrt(n - 1) / n. */
static double largest_inverse(const norm8 *p)
{
    double least = p->n > 1 ? sqrt((double)p->n - 1) / (double)p->n : 1;
    return fmin(fmin(4, 1.01 / least), p->scale / sqrt(fmax(p->eps, 1e-30)));
}

/* 1 / sigma in codes of x, i16 in steps of *unit. */
static tc_val inverse_sigma(tc_build *lw, tc_val x, tc_val sum, const norm8 *p, double *unit)
{
    int fraction = fraction_of(p);
    bool exact = is_exact(p);
    double n = (double)p->n, size = exact ? n : sqrt(ldexp(n, fraction));
    tc_root r =
        ti_put_root(lw, exact ? exact_spread(lw, x, sum, p) : spread_of(lw, x, sum, p, fraction));
    tc_val big = ti_b_tosa_logical_left_shift(lw, r.root, r.half);
    *unit = largest_inverse(p) / 32767;
    return ti_put_rescale(lw, big, TC_ROOT_UNIT * size / *unit, 0, 0, TC_i16);
}

/* (x - mean) * gain as i16 in steps of *unit codes, by one convolution.  NULL gain: 1. */
static tc_val deviation_by_conv(tc_build *lw, tc_val x, const norm8 *p, const double *gain,
                                double *unit)
{
    int64_t n = p->n;
    double *w = tc_new_n(&lw->ctx->arena, double, (size_t)(n * n)),
           most = gain ? fmax(ti_largest(gain, n), 1e-30) : 1;
    double *factor = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t o = 0; o < n; o++) {
        double g = gain ? gain[o] : 1;
        for (int64_t i = 0; i < n; i++)
            w[o * n + i] = (o == i ? (double)n - 1 : -1) * (g < 0 ? -1 : 1);
        factor[o] = fmax(128 * fabs(g) / (most * (double)n), 0x1p-30);
    }
    *unit = most / 128;
    return ti_put_across(lw, x, 0, n, w, factor, 0, TC_i16);
}

/* x - mean as i16, by a difference: x in i16 is a product with one. */
static tc_val deviation_by_parts(tc_build *lw, tc_val x, tc_val sum, int64_t n, double *unit)
{
    tc_val one = ti_b_single(lw, TC_i8, ti_b_type(lw, x)->rank, 1);
    *unit = 0x1p-7;
    tc_val fine = ti_put_rescale(lw, ti_b_tosa_mul(lw, x, one), 128, 0, 0, TC_i16);
    tc_val mean = ti_put_rescale(lw, sum, 128 / (double)n, 0, 0, TC_i16);
    return ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){fine, 0, 1}, (tc_term){mean, 0, 1}, 1, 0,
                        TC_i16);
}

/* Whether the gain can go into the convolution: weights of both signs fit up to 128. */
static bool gain_fits(const tc_build *lw, const norm8 *p)
{
    if (!p->centre || p->n > lw->lower->target->machine->cost.matrix_row)
        return false;
    for (int64_t i = 0; i < p->n && p->n > 128; i++)
        if (p->gain[i] < 0)
            return false;
    return true;
}

/* The gain is in the deviation: a product and, with a bias, a sum are all that is left. */
static tc_val folded(tc_build *lw, tc_val x, const norm8 *p)
{
    double sigma, step, most = ti_largest(p->bias, p->n), out = ti_scale_of(p->to);
    tc_val sum = sum_of(lw, x, p->n), r = inverse_sigma(lw, x, sum, p, &sigma),
           d = deviation_by_conv(lw, x, p, p->gain, &step);
    double unit =
        most > 0 ? (out * (double)(p->to->quant->hi - p->to->quant->lo + 1) + most) / 32767 : out;
    tc_val y = ti_b_tosa_mul(lw, d, r);
    if (most == 0)
        return ti_put_codes(
            lw, ti_put_rescale(lw, y, step * sigma / out, 0, ti_zero_of(p->to), p->to->dtype),
            p->to->quant);
    y = ti_put_rescale(lw, y, step * sigma / unit, 0, 0, TC_i16);
    double *none = tc_new_n(&lw->ctx->arena, double, (size_t)p->n);
    for (int64_t i = 0; i < p->n; i++)
        none[i] = 1;
    return y ? ti_put_affine(lw, y, unit, ti_b_type(lw, y)->rank - 1, none, p->bias, p->n, p->to)
             : y;
}

/* One gain for all, and no bias: the product itself is the result. */
static bool is_plain(const norm8 *p)
{
    for (int64_t i = 0; i < p->n; i++)
        if (p->gain[i] != p->gain[0] || p->bias[i] != 0)
            return false;
    return p->centre && p->gain[0] > 0;
}

static tc_val plain(tc_build *lw, tc_val x, const norm8 *p)
{
    double sigma, step;
    tc_val sum = sum_of(lw, x, p->n), r = inverse_sigma(lw, x, sum, p, &sigma);
    tc_val d = deviation_by_parts(lw, x, sum, p->n, &step);
    double factor = step * sigma * p->gain[0] / ti_scale_of(p->to);
    tc_val y =
        ti_put_rescale(lw, ti_b_tosa_mul(lw, d, r), factor, 0, ti_zero_of(p->to), p->to->dtype);
    return ti_put_codes(lw, y, p->to->quant);
}

/* x / sqrt(mean square + eps), as a product of i16 by i16.  Rows may be long as well as short:
 * where 1 / sigma is small, up to SPARE bits go there from x, which has 8,
 *
 *     (x 2^(SPARE - s)) (2^s / sigma),  s = what the row's 1 / sigma has room for */
static tc_val uncentred8(tc_build *lw, tc_val x, const norm8 *p, double *step)
{
    enum { SPARE = 6 };
    int fraction = fraction_of(p);
    tc_root r = ti_put_root(lw, spread_of(lw, x, TC_NONE, p, fraction));
    if (!r.half)
        return TC_NONE;
    double base = TC_ROOT_UNIT * sqrt(ldexp((double)p->n, fraction)),
           largest = fmin(4, p->scale / sqrt(fmax(p->eps, 1e-30)));
    int top = (int)fmin(15, fmax(0, ceil(ti_log2(largest / (0x1p15 * base)))));
    tc_val none = ti_b_like(lw, r.half, TC_i32, 0), spare = ti_b_like(lw, r.half, TC_i32, SPARE),
           one = ti_b_like(lw, r.half, TC_i32, 1), most = ti_b_like(lw, r.half, TC_i32, top);
    tc_val room = ti_b_tosa_sub(lw, most, r.half);
    room = ti_b_tosa_maximum(lw, room, none);
    room = ti_b_tosa_minimum(lw, room, spare);
    tc_val by = ti_b_tosa_add(lw, r.half, room);
    tc_val big = ti_b_tosa_logical_left_shift(lw, r.root, by);
    tc_val inverse = ti_put_rescale(lw, big, ldexp(1, -top), 0, 0, TC_i16);
    tc_val left = ti_b_tosa_sub(lw, spare, room);
    tc_val power = ti_b_tosa_logical_left_shift(lw, one, left);
    power = ti_put_rescale(lw, power, 1, 0, 0, TC_i8);
    tc_val d = ti_put_fused(lw, TC_OP_tosa_mul, (tc_term){x, p->zero, 1}, (tc_term){power, 0, 1}, 1,
                            0, TC_i16);
    *step = ldexp(base, top - SPARE);
    return ti_b_tosa_mul(lw, d, inverse);
}

/* Normalized rows as i16 in steps of *unit, which may saturate beyond `most`. */
static tc_val normal8(tc_build *lw, tc_val x, const norm8 *p, double most, double *unit)
{
    double sigma, step = 1;
    *unit = fmin(most, sqrt((double)p->n)) / 32767;
    if (!p->centre) {
        tc_val y = uncentred8(lw, x, p, &step);
        return ti_put_rescale(lw, y, step / *unit, 0, 0, TC_i16);
    }
    tc_val sum = sum_of(lw, x, p->n), r = inverse_sigma(lw, x, sum, p, &sigma);
    tc_val d = p->n <= 128 ? deviation_by_conv(lw, x, p, NULL, &step)
                           : deviation_by_parts(lw, x, sum, p->n, &step);
    return ti_put_rescale(lw, ti_b_tosa_mul(lw, d, r), step * sigma / *unit, 0, 0, TC_i16);
}

/* ---- rules ---- */

/* What |normalized| can be before every result has left the domain of `to`. */
static double most_of(const double *gain, const double *bias, int64_t n, const tc_type *to)
{
    double most = 0, span = ti_scale_of(to) * (double)(to->quant->hi - to->quant->lo + 1);
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, (span + fabs(bias[i])) / fmax(fabs(gain[i]), 1e-30));
    return most;
}

enum { FEW = 16 };

/* Of the largest square: beyond it, sums that hold both have too few bits for a result of 16. */
static const double MOST_EPS = 0x1p28;

/* How the operand is seen: rows of it, and the shape and axis that gain and bias go along. */
typedef struct view {
    int rank, back_rank, axis;
    int64_t row[TC_MAX_RANK], back[TC_MAX_RANK];
} view;

/* Whether the squares of a row of n can leave f32, where the model's own norm is zero. */
static bool squares_leave_f32(const tc_type *t, int64_t n)
{
    double top = ti_scale_of(t) * fmax((double)(ti_zero_of(t) - t->quant->lo),
                                        (double)(t->quant->hi - ti_zero_of(t)));
    return (double)n * top * top > (double)FLT_MAX;
}

static tc_val normalized(tc_build *lw, const tc_node *node, const view *v, double eps, bool centre,
                         const double *gain, const double *bias)
{
    const tc_type *xt = ti_lower_type(lw, node, 0), *yt = ti_lower_result(lw, node, 0);
    tc_val x = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 0), v->rank, v->row);
    if (!(eps >= 0) || isinf(eps))
        ti_lower_refuse(lw, "eps is %g", eps);
    if (!centre && squares_leave_f32(xt, v->row[v->rank - 1]))
        ti_lower_refuse(lw, "the squares of its values leave f32");
    if (!gain || !bias || !x || lw->status != TC_OK)
        return TC_NONE;
    norm8 p = {v->row[v->rank - 1], ti_zero_of(xt), ti_scale_of(xt), eps, centre, gain, bias, yt};
    bool along_row = v->rank == v->back_rank && v->axis == v->rank - 1;
    bool quick = xt->dtype == TC_i8 && p.n <= 65536 && fraction_of(&p) >= 0;
    int64_t n = v->back[v->axis];
    bool few = xt->dtype == TC_i16 && p.n <= FEW; /* their deviations may be few codes of many */
    if ((yt->dtype == TC_i16 || few) && p.n <= TC_LONGEST_I16) {
        double step, top = p.scale * (xt->dtype == TC_i8 ? 0x1p7 : 0x1p15);
        if (eps > MOST_EPS * top * top)
            ti_lower_refuse(lw, "its values are negligible against eps, %g", eps);
        x = ti_put_normal_i16(lw, x, xt, eps, centre, &step);
        x = ti_put_affine_i16(lw, ti_b_tosa_reshape(lw, x, v->back_rank, v->back), step, v->axis,
                              gain, bias, n, yt);
        return ti_b_tosa_reshape(lw, x, yt->rank, yt->dim);
    }
    if (quick && along_row && gain_fits(lw, &p))
        return ti_b_tosa_reshape(lw, folded(lw, x, &p), yt->rank, yt->dim);
    if (quick && along_row && is_plain(&p))
        return ti_b_tosa_reshape(lw, plain(lw, x, &p), yt->rank, yt->dim);
    double unit, most = most_of(gain, bias, n, yt);
    x = quick ? normal8(lw, x, &p, most, &unit)
              : ti_put_row_normal(lw, x, xt, eps, centre, most, &unit);
    x = ti_put_affine(lw, ti_b_tosa_reshape(lw, x, v->back_rank, v->back), unit, v->axis, gain,
                      bias, n, yt);
    return ti_b_tosa_reshape(lw, x, yt->rank, yt->dim);
}

void ti_lower_int_layer_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const bool centre = node->op == TC_OP_layer_norm;
    const tc_attr_layer_norm *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    if (!ti_lower_one_scale(lw, node))
        return;
    int keep = t->rank - (int)a->n_axes;
    view v = {.rank = keep + 1, .back_rank = keep + 1, .axis = keep};
    memcpy(v.row, t->dim, sizeof v.row);
    for (int i = keep + 1; i < t->rank; i++)
        v.row[keep] *= t->dim[i];
    memcpy(v.back, v.row, sizeof v.back);
    const double *gain = ti_lower_known(lw, node, 1, v.row[keep], 1);
    const double *bias = ti_lower_known(lw, node, centre ? 2 : node->n_in, v.row[keep], 0);
    out[0] = normalized(lw, node, &v, a->eps, centre, gain, bias);
}

void ti_lower_int_group_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_group_norm *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    if (!ti_lower_one_scale(lw, node))
        return;
    int64_t n = t->dim[0], c = t->dim[1], all = tc_type_count(t);
    view v = {.rank = 3,
              .back_rank = 3,
              .axis = 1,
              .row = {n, a->groups, all / (n * a->groups)},
              .back = {n, c, all / (n * c)}};
    const double *gain = ti_lower_known(lw, node, 1, c, 1),
                 *bias = ti_lower_known(lw, node, 2, c, 0);
    out[0] = normalized(lw, node, &v, a->eps, true, gain, bias);
}
