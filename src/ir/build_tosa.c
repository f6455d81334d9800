/* SPDX-License-Identifier: Apache-2.0 */
/* build_tosa.c -- verbs of TOSA's operators, without nodes that change nothing: see build.h. */
#include "build.h"

#include <math.h>

#include "../num/block_scaled.h"
#include "../num/load.h"

tc_val ti_b_tosa_mul_shift(tc_build *b, tc_val x, tc_val y, int shift)
{
    return ti_b_3(b, tosa_mul, NULL, x, y, ti_b_single(b, TC_i8, 1, shift));
}

tc_val ti_b_tosa_mul(tc_build *b, tc_val x, tc_val y)
{
    return ti_b_tosa_mul_shift(b, x, y, 0);
}

tc_val ti_b_tosa_clamp(tc_build *b, tc_val x, double lo, double hi)
{
    return ti_b_1(b, tosa_clamp, ti_b_attr(b, tosa_clamp, lo, hi, TC_nan_mode_propagate), x);
}

tc_val ti_b_tosa_cast(tc_build *b, tc_val x, tc_dtype dtype)
{
    if (!x || ti_b_dtype(b, x) == dtype)
        return x;
    const tc_type *t = ti_b_type(b, x);
    return ti_b_typed(b, TC_OP_tosa_cast, NULL, &x, 1,
                      ti_type_make(b->ctx, dtype, t->rank, t->dim));
}

tc_val ti_b_tosa_reduce(tc_build *b, tc_op op, tc_val x, int64_t axis)
{
    const void *attr = tc_ops[op].attr == TC_ATTR_tosa_axis_nan
                           ? (const void *)ti_b_attr(b, tosa_axis_nan, axis, TC_nan_mode_propagate)
                           : ti_b_attr(b, tosa_axis, axis);
    return ti_b_op(b, op, attr, &x, 1);
}

/* ---- constants ---- */

tc_val ti_b_numbers(tc_build *b, tc_dtype dtype, int rank, const int64_t *dim, const double *x)
{
    tc_mark mark = ti_arena_mark(&b->ctx->scratch);
    tc_tensor t = ti_tensor_new(&b->ctx->scratch, ti_type_make(b->ctx, dtype, rank, dim));
    int64_t n = tc_type_count(t.type);
    int64_t least = ti_dtype_min(dtype), most = ti_dtype_max(dtype);
    double lo = (double)least, hi = (double)most;
    bool real = ti_is_float(dtype);
    for (int64_t i = 0; i < n; i++) {
        double v = real ? x[i] : rint(x[i]);
        if (real)
            ti_store_f64(t, i, v);
        else if (dtype == TC_i8)
            ((int8_t *)t.data)[i] = (int8_t)(v <= lo ? lo : v >= hi ? hi : v);
        else
            ti_store_i64(t, i, v <= lo ? least : v >= hi ? most : (int64_t)v);
    }
    tc_val v = ti_b_copy(b, t.type, t.data);
    ti_arena_rewind(&b->ctx->scratch, mark);
    return v;
}

tc_val ti_b_single(tc_build *b, tc_dtype dtype, int rank, double x)
{
    int64_t one[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    return ti_b_numbers(b, dtype, rank, one, &x);
}

tc_val ti_b_zero_point(tc_build *b, tc_val like, int64_t zero)
{
    tc_dtype t = like ? ti_b_type(b, like)->dtype : TC_none;
    return like ? ti_b_single(b, ti_is_block(t) ? TC_f32 : t, 1, (double)zero) : TC_NONE;
}

tc_val ti_b_shape(tc_build *b, int n, const int64_t *extent)
{
    int64_t dim = n;
    const tc_type *type = ti_type_make(b->ctx, TC_shape, 1, &dim);
    return ti_b_copy(b, type, extent);
}

tc_tensor ti_b_constant(const tc_build *b, tc_val v)
{
    return v ? ti_tensor_of(b->g, v) : (tc_tensor){NULL, NULL};
}

tc_val ti_b_like(tc_build *b, tc_val x, tc_dtype dtype, double number)
{
    return x ? ti_b_single(b, dtype, ti_b_type(b, x)->rank, number) : TC_NONE;
}

/* ---- movement ---- */

tc_val ti_b_tosa_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim)
{
    if (!x || ti_has_dims(ti_b_type(b, x), rank, dim))
        return x;
    if (ti_is_const(b->g, x)) /* the same elements */
        return ti_b_data(b, ti_type_make(b->ctx, ti_b_type(b, x)->dtype, rank, dim),
                         b->g->val[x]->data);
    return ti_b_2(b, tosa_reshape, NULL, x, ti_b_shape(b, rank, dim));
}

tc_val ti_b_tosa_transpose(tc_build *b, tc_val x, const int64_t *perm)
{
    if (!x)
        return x;
    int rank = ti_b_type(b, x)->rank;
    bool same = true;
    for (int i = 0; i < rank; i++)
        same = same && perm[i] == i;
    if (same)
        return x;
    tc_ints perms = ti_ints_copy(&b->ctx->arena, perm, rank);
    return ti_b_1(b, tosa_transpose, ti_b_attr(b, tosa_perms, perms), x);
}

tc_val ti_b_tosa_slice(tc_build *b, tc_val x, const int64_t *start, const int64_t *size)
{
    if (!x || ti_has_dims(ti_b_type(b, x), ti_b_type(b, x)->rank, size))
        return x;
    int rank = ti_b_type(b, x)->rank;
    /* In sequence: C leaves the order of arguments open. */
    tc_val extent = ti_b_shape(b, rank, size), from = ti_b_shape(b, rank, start);
    return ti_b_3(b, tosa_slice, NULL, x, from, extent);
}

tc_val ti_b_tosa_slice_axis(tc_build *b, tc_val x, int axis, int64_t start, int64_t size)
{
    if (!x)
        return x;
    int64_t from[TC_MAX_RANK] = {0}, extent[TC_MAX_RANK];
    memcpy(extent, ti_b_type(b, x)->dim, sizeof extent);
    from[axis] = start;
    extent[axis] = size;
    return ti_b_tosa_slice(b, x, from, extent);
}

tc_val ti_b_tosa_pad(tc_build *b, tc_val x, const int64_t *before_after, double stored)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(b, x);
    bool any = false;
    for (int i = 0; i < 2 * t->rank; i++)
        any = any || before_after[i];
    if (!any)
        return x;
    tc_val with = ti_b_single(b, t->dtype, 1, stored);
    tc_val ends = ti_b_shape(b, 2 * t->rank, before_after);
    return ti_b_3(b, tosa_pad, NULL, x, ends, with);
}

tc_val ti_b_tosa_tile(tc_build *b, tc_val x, const int64_t *times)
{
    if (!x)
        return x;
    int rank = ti_b_type(b, x)->rank;
    bool any = false;
    for (int i = 0; i < rank; i++)
        any = any || times[i] != 1;
    return any ? ti_b_2(b, tosa_tile, NULL, x, ti_b_shape(b, rank, times)) : x;
}

tc_val ti_b_tosa_rank(tc_build *b, tc_val x, int rank)
{
    if (!x || ti_b_type(b, x)->rank >= rank)
        return x;
    const tc_type *t = ti_b_type(b, x);
    int64_t dim[TC_MAX_RANK] = {0};
    int more = rank - t->rank;
    for (int i = 0; i < rank; i++)
        dim[i] = i < more ? 1 : t->dim[i - more];
    return ti_b_tosa_reshape(b, x, rank, dim);
}

tc_val ti_b_tosa_expand(tc_build *b, tc_val x, int rank, const int64_t *dim)
{
    x = ti_b_tosa_rank(b, x, rank);
    if (!x)
        return x;
    int64_t times[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        times[i] = ti_b_type(b, x)->dim[i] == dim[i] ? 1 : dim[i];
    return ti_b_tosa_tile(b, x, times);
}

tc_val ti_b_tosa_axis_last(tc_build *b, tc_val x, int axis)
{
    if (!x)
        return x;
    int rank = ti_b_type(b, x)->rank;
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i < axis ? i : i + 1 < rank ? i + 1 : axis;
    return ti_b_tosa_transpose(b, x, perm);
}

tc_val ti_b_tosa_axis_back(tc_build *b, tc_val x, int axis)
{
    if (!x)
        return x;
    int rank = ti_b_type(b, x)->rank;
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
    return ti_b_tosa_transpose(b, x, perm);
}

tc_val ti_b_tosa_channels_last(tc_build *b, tc_val x)
{
    return !x || ti_b_type(b, x)->rank < 3 ? x : ti_b_tosa_axis_last(b, x, 1);
}

tc_val ti_b_tosa_channels_first(tc_build *b, tc_val x)
{
    return !x || ti_b_type(b, x)->rank < 3 ? x : ti_b_tosa_axis_back(b, x, 1);
}
