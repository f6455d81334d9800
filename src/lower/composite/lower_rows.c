/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rows.c -- see composite.h: integers along the last axis, and one number per row. */
#include <math.h>

#include "composite.h"

/* Into how many parts n is cut: at least this many, and without a remainder if such a count is
 * near. */
static int64_t parts_of(int64_t n, int64_t least)
{
    for (int64_t parts = least; parts <= 8 * least && parts < n; parts++)
        if (n % parts == 0)
            return parts;
    return least;
}

tc_val ti_put_long_sum(tc_build *lw, tc_val x, const int64_t span[3], double most, int *down)
{
    int64_t n = span[1];
    x = ti_b_tosa_reshape(lw, x, 3, span);
    *down = 0;
    if ((double)n * most <= 0x1p31)
        return ti_b_tosa_reduce_sum(lw, x, 1);
    int64_t parts = parts_of(n, (int64_t)ceil((double)n * most / 0x1p30));
    int64_t each = (n + parts - 1) / parts, all = each * parts;
    if (all > n)
        x = ti_b_tosa_pad(lw, x, (int64_t[]){0, 0, 0, all - n, 0, 0}, 0);
    while ((int64_t)1 << *down < parts)
        (*down)++;
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){span[0], parts, each, span[2]});
    x = ti_b_tosa_reduce_sum(lw, x, 2);
    x = ti_put_rescale(lw, x, ldexp(1, -*down), 0, 0, TC_i32);
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){span[0], parts, span[2]});
    return ti_b_tosa_reduce_sum(lw, x, 1);
}

tc_val ti_put_row_total(tc_build *lw, tc_val x, int64_t zero, double most, int *down)
{
    *down = 0;
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    int last = t->rank - 1;
    int64_t n = t->dim[last], dim[TC_MAX_RANK];
    x = t->dtype == TC_i32 ? x : ti_put_widened(lw, x, zero);
    if ((double)n * most <= 0x1p31)
        return ti_b_tosa_reduce_sum(lw, x, last);
    memcpy(dim, t->dim, sizeof dim);
    dim[last] = 1;
    x = ti_put_long_sum(lw, x, (int64_t[]){tc_type_count(t) / n, n, 1}, most, down);
    return ti_b_tosa_reshape(lw, x, t->rank, dim);
}

tc_val ti_put_widened(tc_build *lw, tc_val x, int64_t zero)
{
    return ti_put_rescale(lw, x, 1, zero, 0, TC_i32);
}

/* An operand of an i32 operator. */
static tc_val widened(tc_build *lw, tc_term t)
{
    bool as_is = t.val && ti_b_dtype(lw, t.val) == TC_i32 && t.factor == 1;
    return as_is ? t.val : ti_put_rescale(lw, t.val, t.factor, t.zero, 0, TC_i32);
}

tc_val ti_put_fused(tc_build *lw, tc_op op, tc_term a, tc_term b, double factor, int64_t zero,
                    tc_dtype to)
{
    tc_val x = widened(lw, a), y = widened(lw, b);
    if (op == TC_OP_tosa_mul)
        x = ti_b_tosa_mul(lw, x, y);
    else if (op == TC_OP_tosa_maximum || op == TC_OP_tosa_minimum) {
        tc_attr_tosa_nan *nan = tc_new(&lw->ctx->arena, tc_attr_tosa_nan);
        nan->nan_mode = TC_nan_mode_propagate;
        x = ti_b_op(lw, op, nan, (tc_val[]){x, y}, 2);
    } else
        x = ti_b_binary(lw, op, x, y);
    return to == TC_i32 && factor == 1 ? x : ti_put_rescale(lw, x, factor, 0, zero, to);
}

tc_val ti_put_row_max(tc_build *lw, tc_val x)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    const tc_machine *m = lw->lower->target->machine;
    int last = t->rank - 1;
    if (t->dtype == TC_i32 ? m->can.reduces_i32 : m->npu != NULL) /* in one of several forms */
        return ti_b_tosa_reduce_max(lw, x, last);
    if (ti_lower_any_size(lw)) /* a tree of halves has as many steps as the row is long */
        return ti_put_rescale(
            lw, ti_b_tosa_reduce_max(lw, ti_put_rescale(lw, x, 1, 0, 0, TC_i32), last), 1, 0, 0,
            t->dtype);
    for (int64_t n = t->dim[last]; n > 1; n -= n / 2) {
        int64_t half = n - n / 2; /* the halves share the middle of an odd row */
        tc_val front = ti_b_tosa_slice_axis(lw, x, last, 0, half),
               back = ti_b_tosa_slice_axis(lw, x, last, n - half, half);
        x = ti_put_fused(lw, TC_OP_tosa_maximum, (tc_term){front, 0, 1}, (tc_term){back, 0, 1}, 1,
                         0, t->dtype);
    }
    return x;
}

double ti_largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* ---- reciprocals: a first guess from a table of 256, then one step of Newton's method ---- */

static tc_val less(tc_build *lw, double a, tc_val b)
{
    return ti_b_tosa_sub(lw, ti_b_like(lw, b, TC_i32, a), b);
}

static tc_val minus(tc_build *lw, tc_val a, double b)
{
    return ti_b_tosa_sub(lw, a, ti_b_like(lw, a, TC_i32, b));
}

/* An index of 256 for u in [lo, 2^31): entry i is u = middle + step * i. */
static tc_val index_of(tc_build *lw, tc_val u, double lo, double *middle, double *step)
{
    *middle = (lo + 0x1p31) / 2;
    *step = (0x1p31 - lo) / 256;
    return ti_put_rescale(lw, minus(lw, u, *middle), 1 / *step, 0, 0, TC_i8);
}

/* Entries of 128..255, kept as i8: ADD 0, which several may read, costs less than a
 * rescale for each of them. */
static tc_val guess(tc_build *lw, tc_val index, const double *entry)
{
    tc_val t = ti_put_table(lw, index, TC_i8, entry, 256);
    if (!t)
        return t;
    tc_term none = {ti_b_single(lw, TC_i8, ti_b_type(lw, t)->rank, 0), 0, 1};
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){t, -128, 1}, none, 1, 0, TC_i32);
}

/* With q = mantissa / 2^31 in [1/2, 1) and the guess t = 255 * 1/2q: r = t (2 - 2 q t / 255). */
tc_inverse ti_put_inverse(tc_build *lw, tc_val x)
{
    tc_inverse r = {.zeros = ti_b_tosa_clz(lw, x)};
    tc_val u = ti_b_tosa_logical_left_shift(lw, x, minus(lw, r.zeros, 1));
    r.mantissa = u;
    double middle, step, entry[256];
    r.index = index_of(lw, u, 0x1p30, &middle, &step);
    for (int i = 0; i < 256; i++)
        entry[i] = rint(127.5 * 0x1p31 / (middle + step * (i - 128))) - 128;
    tc_val t = guess(lw, r.index, entry);
    r.excess = ti_b_tosa_mul_shift(lw, u, t, 9);
    r.inverse = ti_b_tosa_mul_shift(lw, t, less(lw, 2 * TC_INVERSE_ONE, r.excess), 22);
    return r;
}

/* With q = value * 4^half / 2^31 in [1/4, 1) and the guess t = 255 / (2 sqrt(q)): r = t (3 - 4 q
 * t^2 / 255^2) / 2. */
tc_root ti_put_root(tc_build *lw, tc_val x)
{
    tc_val spare = minus(lw, ti_b_tosa_clz(lw, x), 1);
    tc_root r = {.half = ti_b_tosa_arithmetic_right_shift(lw, spare,
                                                          ti_b_like(lw, spare, TC_i32, 1), false)};
    tc_val twice = ti_b_tosa_logical_left_shift(lw, r.half, ti_b_like(lw, r.half, TC_i32, 1));
    tc_val u = ti_b_tosa_logical_left_shift(lw, x, twice);
    double middle, step, entry[256];
    tc_val index = index_of(lw, u, 0x1p29, &middle, &step);
    for (int i = 0; i < 256; i++)
        entry[i] = rint(127.5 / sqrt((middle + step * (i - 128)) / 0x1p31)) - 128;
    tc_val t = guess(lw, index, entry);
    tc_val square = ti_b_tosa_mul_shift(lw, ti_b_tosa_mul_shift(lw, u, t, 8), t, 8);
    r.root = ti_b_tosa_mul_shift(lw, t, less(lw, 3 * TC_ROOT_ONE, square), 23);
    r.even = u;
    return r;
}

tc_val ti_put_square_root(tc_build *lw, tc_val x)
{
    tc_root r = ti_put_root(lw, x);
    return ti_b_tosa_arithmetic_right_shift(lw, ti_b_tosa_mul_shift(lw, r.even, r.root, 16), r.half,
                                            true);
}

/* ---- matrices ---- */

tc_val ti_put_matrices(tc_build *lw, tc_val a, int64_t a_zero, tc_val b, int64_t b_zero)
{
    if (!a || !b)
        return TC_NONE;
    const tc_type *ta = ti_b_type(lw, a), *tb = ti_b_type(lw, b);
    tc_val in[4] = {a, b, ti_b_zero_point(lw, a, a_zero)};
    in[3] = ti_b_zero_point(lw, b, b_zero);
    tc_dtype acc = ta->dtype == TC_i8 ? TC_i32 : ta->dtype == TC_i16 ? TC_i48 : TC_f32;
    int64_t dim[] = {ta->dim[0], ta->dim[1], tb->dim[2]};
    return ti_b_typed(lw, TC_OP_tosa_matmul, NULL, in, 4, ti_type_make(lw->ctx, acc, 3, dim));
}

/* ---- an axis as the row ---- */

tc_val ti_put_axes_last(tc_build *lw, tc_val x, tc_ints axes)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    int64_t perm[TC_MAX_RANK], dim[TC_MAX_RANK + 1];
    bool gone[TC_MAX_RANK] = {false};
    int kept = 0, n = 0;
    for (int i = 0; i < axes.n; i++)
        gone[axes.v[i]] = true;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->rank; i++)
            if (gone[i] == pass) {
                perm[n++] = i;
                if (!pass)
                    dim[kept++] = t->dim[i];
            }
    dim[kept] = ti_axes_count(t, axes);
    return ti_b_tosa_reshape(lw, ti_b_tosa_transpose(lw, x, perm), kept + 1, dim);
}
