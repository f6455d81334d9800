/* SPDX-License-Identifier: Apache-2.0 */
/* put.c -- see put.h: nodes, constants and movement. */
#include "put.h"

#include "../target/judge.h"

#include <math.h>

#include "../num/load.h"

tc_val tc_put(tc_lower *lw, tc_op op, const void *attr, const tc_val *in, int n)
{
    if (lw->status != TC_OK)
        return TC_NONE;
    tc_node *node;
    lw->status = tc_graph_emit(lw->to, op, attr, in, n, 1, lw->node->loc, &node);
    return lw->status == TC_OK ? node->out[0] : TC_NONE;
}

tc_val tc_put1(tc_lower *lw, tc_op op, const void *attr, tc_val a)
{
    return tc_put(lw, op, attr, &a, 1);
}

tc_val tc_put2(tc_lower *lw, tc_op op, const void *attr, tc_val a, tc_val b)
{
    return tc_put(lw, op, attr, (tc_val[]){a, b}, 2);
}

tc_val tc_put3(tc_lower *lw, tc_op op, const void *attr, tc_val a, tc_val b, tc_val c)
{
    return tc_put(lw, op, attr, (tc_val[]){a, b, c}, 3);
}

/* ---- constants ---- */

tc_val tc_put_data(tc_lower *lw, const tc_type *type, const void *data)
{
    return lw->status == TC_OK ? tc_graph_const(lw->to, type, data, NULL, lw->node->loc) : TC_NONE;
}

tc_val tc_put_numbers(tc_lower *lw, tc_dtype dtype, int rank, const int64_t *dim, const double *x)
{
    tc_tensor t = tc_tensor_new(&lw->ctx->arena, tc_type_make(lw->ctx, dtype, rank, dim));
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n; i++) {
        if (tc_is_float(dtype)) {
            tc_store_f64(t, i, x[i]);
            continue;
        }
        double lo = (double)tc_dtype_min(dtype), hi = (double)tc_dtype_max(dtype), v = rint(x[i]);
        tc_store_i64(t, i,
                     v <= lo   ? tc_dtype_min(dtype)
                     : v >= hi ? tc_dtype_max(dtype)
                               : (int64_t)v);
    }
    return tc_put_data(lw, t.type, t.data);
}

tc_val tc_put_number(tc_lower *lw, tc_dtype dtype, int rank, double x)
{
    int64_t one[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    return tc_put_numbers(lw, dtype, rank, one, &x);
}

tc_val tc_put_zero_point(tc_lower *lw, tc_val like, int64_t zero)
{
    return like ? tc_put_number(lw, tc_put_type(lw, like)->dtype, 1, (double)zero) : TC_NONE;
}

tc_val tc_put_shape(tc_lower *lw, int n, const int64_t *extent)
{
    int64_t dim = n;
    const tc_type *type = tc_type_make(lw->ctx, TC_shape, 1, &dim);
    return tc_put_data(lw, type,
                       tc_arena_copy(&lw->ctx->arena, extent, (size_t)n * sizeof *extent));
}

tc_tensor tc_put_known(const tc_lower *lw, tc_val v)
{
    return v ? tc_tensor_of(lw->to, v) : (tc_tensor){NULL, NULL};
}

/* ---- movement ---- */

static bool has_dims(const tc_type *t, int rank, const int64_t *dim)
{
    return t->rank == rank && memcmp(t->dim, dim, (size_t)rank * sizeof *dim) == 0;
}

tc_val tc_put_reshape(tc_lower *lw, tc_val x, int rank, const int64_t *dim)
{
    if (!x || has_dims(tc_put_type(lw, x), rank, dim))
        return x;
    if (tc_is_const(lw->to, x)) /* the same numbers */
        return tc_put_data(lw, tc_type_make(lw->ctx, tc_put_type(lw, x)->dtype, rank, dim),
                           lw->to->val[x]->data);
    return tc_put2(lw, TC_OP_tosa_reshape, NULL, x, tc_put_shape(lw, rank, dim));
}

tc_val tc_put_transpose(tc_lower *lw, tc_val x, const int64_t *perm)
{
    if (!x)
        return x;
    int rank = tc_put_type(lw, x)->rank;
    bool same = true;
    for (int i = 0; i < rank; i++)
        same = same && perm[i] == i;
    if (same)
        return x;
    tc_attr_tosa_perms *a = tc_new(&lw->ctx->arena, tc_attr_tosa_perms);
    a->perms = tc_ints_copy(&lw->ctx->arena, perm, rank);
    return tc_put1(lw, TC_OP_tosa_transpose, a, x);
}

tc_val tc_put_slice(tc_lower *lw, tc_val x, const int64_t *start, const int64_t *size)
{
    if (!x || has_dims(tc_put_type(lw, x), tc_put_type(lw, x)->rank, size))
        return x;
    int rank = tc_put_type(lw, x)->rank;
    /* One after the other: compilers differ in which argument comes first. */
    tc_val extent = tc_put_shape(lw, rank, size), from = tc_put_shape(lw, rank, start);
    return tc_put3(lw, TC_OP_tosa_slice, NULL, x, from, extent);
}

tc_val tc_put_slice_axis(tc_lower *lw, tc_val x, int axis, int64_t start, int64_t size)
{
    if (!x)
        return x;
    int64_t from[TC_MAX_RANK] = {0}, extent[TC_MAX_RANK];
    memcpy(extent, tc_put_type(lw, x)->dim, sizeof extent);
    from[axis] = start;
    extent[axis] = size;
    return tc_put_slice(lw, x, from, extent);
}

/* i16 has no CONCAT without its extension: it goes through i32. */
tc_val tc_put_concat(tc_lower *lw, const tc_val *x, int n, int axis)
{
    if (n == 1)
        return x[0];
    if (n > TC_LEVEL_LIST) { /* as few joins as the level allows, and their join */
        int joins = (n + TC_LEVEL_LIST - 1) / TC_LEVEL_LIST, each = (n + joins - 1) / joins;
        tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)joins);
        for (int i = 0; i < joins; i++)
            part[i] = tc_put_concat(lw, x + i * each, i + 1 < joins ? each : n - i * each, axis);
        return tc_put_concat(lw, part, joins, axis);
    }
    tc_attr_tosa_axis *a = tc_new(&lw->ctx->arena, tc_attr_tosa_axis);
    a->axis = axis;
    bool wide = lw->target && n && x[0] && tc_put_type(lw, x[0])->dtype == TC_i16 &&
                !tc_lower_has(lw, TC_FEATURE_INT16); /* of TOSA already: as it was */
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)n);
    for (int i = 0; i < n; i++)
        part[i] = wide ? tc_put_rescale(lw, x[i], 1, 0, 0, TC_i32) : x[i];
    tc_val y = tc_put(lw, TC_OP_tosa_concat, a, part, n);
    return wide ? tc_put_rescale(lw, y, 1, 0, 0, TC_i16) : y;
}

tc_val tc_put_extreme(tc_lower *lw, tc_op op, tc_val x, tc_val y)
{
    tc_attr_tosa_nan *a = tc_new(&lw->ctx->arena, tc_attr_tosa_nan);
    a->nan_mode = TC_nan_mode_propagate;
    return tc_put2(lw, op, a, x, y);
}

tc_val tc_put_pad(tc_lower *lw, tc_val x, const int64_t *before_after, double stored)
{
    if (!x)
        return x;
    const tc_type *t = tc_put_type(lw, x);
    bool any = false;
    for (int i = 0; i < 2 * t->rank; i++)
        any = any || before_after[i];
    if (!any)
        return x;
    tc_val with = tc_put_number(lw, t->dtype, 1, stored);
    tc_val ends = tc_put_shape(lw, 2 * t->rank, before_after);
    return tc_put3(lw, TC_OP_tosa_pad, NULL, x, ends, with);
}

tc_val tc_put_tile(tc_lower *lw, tc_val x, const int64_t *times)
{
    if (!x)
        return x;
    int rank = tc_put_type(lw, x)->rank;
    bool any = false;
    for (int i = 0; i < rank; i++)
        any = any || times[i] != 1;
    return any ? tc_put2(lw, TC_OP_tosa_tile, NULL, x, tc_put_shape(lw, rank, times)) : x;
}

tc_val tc_put_rank(tc_lower *lw, tc_val x, int rank)
{
    if (!x || tc_put_type(lw, x)->rank >= rank)
        return x;
    const tc_type *t = tc_put_type(lw, x);
    int64_t dim[TC_MAX_RANK] = {0};
    int more = rank - t->rank;
    for (int i = 0; i < rank; i++)
        dim[i] = i < more ? 1 : t->dim[i - more];
    return tc_put_reshape(lw, x, rank, dim);
}

tc_val tc_put_expand(tc_lower *lw, tc_val x, int rank, const int64_t *dim)
{
    x = tc_put_rank(lw, x, rank);
    if (!x)
        return x;
    int64_t times[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        times[i] = tc_put_type(lw, x)->dim[i] == dim[i] ? 1 : dim[i];
    return tc_put_tile(lw, x, times);
}

tc_val tc_put_axis_last(tc_lower *lw, tc_val x, int axis)
{
    if (!x)
        return x;
    int rank = tc_put_type(lw, x)->rank;
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i < axis ? i : i + 1 < rank ? i + 1 : axis;
    return tc_put_transpose(lw, x, perm);
}

tc_val tc_put_axis_back(tc_lower *lw, tc_val x, int axis)
{
    if (!x)
        return x;
    int rank = tc_put_type(lw, x)->rank;
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
    return tc_put_transpose(lw, x, perm);
}

tc_val tc_put_channels_last(tc_lower *lw, tc_val x)
{
    return !x || tc_put_type(lw, x)->rank < 3 ? x : tc_put_axis_last(lw, x, 1);
}

tc_val tc_put_channels_first(tc_lower *lw, tc_val x)
{
    return !x || tc_put_type(lw, x)->rank < 3 ? x : tc_put_axis_back(lw, x, 1);
}
