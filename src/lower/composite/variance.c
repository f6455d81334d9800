/* SPDX-License-Identifier: Apache-2.0 */
/* variance.c -- variance, standard deviation and vector norms in integers.
 *
 * Sums of i8 are exact; i16 goes through deviations of two codes (moments.c), or all the way in i32
 * for a result of 16 bits (norm_i16.c).  The square root is taken of the sum itself, so that a
 * result is rounded once. */
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

/* A sum in i32: sum = real / unit. */
typedef struct total {
    tc_val val;
    double unit;
} total;

/* The operand's rows, what is reduced merged into the last axis. */
static tc_val rows_of(tc_build *lw, const tc_node *node, tc_ints axes, int64_t *n)
{
    *n = ti_axes_count(ti_lower_type(lw, node, 0), axes);
    if (!ti_lower_one_scale(lw, node))
        return TC_NONE;
    int64_t longest =
        ti_lower_result(lw, node, 0)->dtype == TC_i16 ? (int64_t)TC_LONGEST_I16 : 65535;
    if (*n > longest)
        ti_lower_refuse(lw, "it reduces more than %lld numbers", (long long)longest);
    return lw->status == TC_OK ? ti_put_axes_last(lw, ti_lower_in(lw, node, 0), axes) : TC_NONE;
}

/* Sum of (x - mean)^2: sum(x * x) - sum(x)^2 / n with a few more bits. */
static total squared_deviations(tc_build *lw, tc_val x, const tc_type *t, int64_t n)
{
    total r;
    if (t->dtype != TC_i8) {
        int shift = 0;
        tc_val d = ti_put_row_deviation(lw, x, ti_zero_of(t), true, &r.unit);
        r.val = ti_put_row_squares(lw, d, true, 0, &shift);
        r.unit = ldexp(r.unit * r.unit, shift) * ti_scale_of(t) * ti_scale_of(t);
        return r;
    }
    int more = (int)fmax(0, floor(ti_log2(0x1p16 / (double)n)));
    tc_val square =
        ti_put_row_sum(lw, ti_put_rescale(lw, ti_b_tosa_mul(lw, x, x), 1, 0, 0, TC_i16), 0);
    tc_val sum = ti_put_row_sum(lw, x, 0),
           mean = ti_put_rescale(lw, sum, 0x1p22 / (double)n, 0, 0, TC_i32);
    square = ti_b_tosa_logical_left_shift(lw, square, ti_b_like(lw, square, TC_i32, more));
    r.val = ti_b_tosa_sub(lw, square, ti_b_tosa_mul_shift(lw, sum, mean, 22 - more));
    r.unit = ldexp(ti_scale_of(t) * ti_scale_of(t), -more);
    return r;
}

static tc_val finish(tc_build *lw, const tc_node *node, tc_val x, double unit)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    x = ti_put_rescale(lw, x, unit / ti_scale_of(to), 0, ti_zero_of(to), to->dtype);
    return ti_b_tosa_reshape(lw, ti_put_codes(lw, x, to->quant), to->rank, to->dim);
}

/* The square root of a sum, which rounding may have left at -1. */
static tc_val rooted(tc_build *lw, const tc_node *node, total sum, double times)
{
    tc_val v = ti_b_tosa_maximum(lw, sum.val, ti_b_like(lw, sum.val, TC_i32, 0));
    return finish(lw, node, ti_put_square_root(lw, v),
                  TC_SQUARE_ROOT_UNIT * sqrt(sum.unit * times));
}

static bool is_wide(const tc_build *lw, const tc_node *node)
{
    return ti_lower_result(lw, node, 0)->dtype == TC_i16;
}

static tc_val shaped(tc_build *lw, const tc_node *node, tc_val x)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    return ti_b_tosa_reshape(lw, x ? ti_put_codes(lw, x, to->quant) : x, to->rank, to->dim);
}

void ti_lower_int_var(tc_build *lw, const tc_node *node, tc_val *out)
{
    const bool root = node->op == TC_OP_std;
    const tc_attr_var *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t n;
    tc_val x = rows_of(lw, node, a->axes, &n);
    if (x && !((double)n > a->correction))
        ti_lower_refuse(lw, "it divides by zero: %lld numbers, correction %g", (long long)n,
                        a->correction);
    if (!x || lw->status != TC_OK)
        return;
    if (is_wide(lw, node)) {
        out[0] = shaped(lw, node,
                        ti_put_spread_i16(lw, x, t, true, (double)n - a->correction, root,
                                          ti_lower_result(lw, node, 0)));
        return;
    }
    total sum = squared_deviations(lw, x, t, n);
    double times = 1 / ((double)n - a->correction);
    out[0] = root ? rooted(lw, node, sum, times) : finish(lw, node, sum.val, sum.unit * times);
}

/* ---- norms ---- */

/* Sum of squares of the real values. */
static total squares(tc_build *lw, tc_val x, const tc_type *t)
{
    double unit;
    int shift = 0;
    total r;
    if (t->dtype == TC_i8 && ti_b_type(lw, x)->dim[ti_b_type(lw, x)->rank - 1] <= 0x8000) {
        tc_val wide = ti_put_widened(lw, x, ti_zero_of(t));
        tc_val square = ti_b_tosa_mul(lw, ti_put_widened(lw, x, ti_zero_of(t)), wide);
        r.val = ti_b_tosa_reduce_sum(lw, square, square ? ti_b_type(lw, square)->rank - 1 : 0);
        r.unit = ti_scale_of(t) * ti_scale_of(t);
        return r;
    }
    tc_val d = ti_put_row_deviation(lw, x, ti_zero_of(t), false, &unit);
    r.val = ti_put_row_squares(lw, d, false, 0, &shift);
    r.unit = ldexp(unit * unit, shift) * ti_scale_of(t) * ti_scale_of(t);
    return r;
}

void ti_lower_int_norm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_norm *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t n;
    tc_val x = rows_of(lw, node, a->axes, &n);
    if (!x)
        return;
    if (a->ord == 2 && is_wide(lw, node)) {
        out[0] = shaped(lw, node,
                        ti_put_spread_i16(lw, x, t, false, 1, true, ti_lower_result(lw, node, 0)));
        return;
    }
    if (a->ord == 2) {
        out[0] = rooted(lw, node, squares(lw, x, t), 1);
        return;
    }
    if (a->ord != 1 && !isinf(a->ord)) {
        ti_lower_refuse(lw, "integers have norms of order 1, 2 and infinity, not %g", a->ord);
        return;
    }
    tc_val size = ti_b_tosa_abs(lw, ti_put_widened(lw, x, ti_zero_of(t)));
    tc_op op = a->ord == 1  ? TC_OP_tosa_reduce_sum
               : a->ord > 0 ? TC_OP_tosa_reduce_max
                            : TC_OP_tosa_reduce_min;
    out[0] = finish(lw, node, ti_b_tosa_reduce(lw, op, size, ti_b_type(lw, x)->rank - 1),
                    ti_scale_of(t));
}
