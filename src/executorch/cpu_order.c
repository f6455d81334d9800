/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_order.c -- sorting, and scatters with equal indices: both by comparing all pairs, since no
 * kernel of ExecuTorch does either. */
#include <math.h>

#include "cpu_forms.h"

enum { MOST = 1 << 24 }; /* comparisons at once */

/* 0, 1, ... along an axis of a tensor of this rank. */
static tc_val counted(tc_build *m, int64_t n, int64_t axis, int32_t rank)
{
    int64_t *v = tc_new_n(&m->ctx->arena, int64_t, (size_t)n), dim[TC_MAX_RANK];
    for (int64_t i = 0; i < n; i++)
        v[i] = i;
    for (int32_t i = 0; i < rank; i++)
        dim[i] = i == axis ? n : 1;
    return ti_b_ints(m, v, rank, dim);
}

/* ---- sort ---- */

/* Whether the other is before: `other` smaller (larger), or equal and earlier; NaN is the
 * largest. */
static tc_val before(tc_build *m, tc_val own, tc_val other, tc_val earlier, bool descending)
{
    tc_val less = ti_b_binary(m, descending ? TC_OP_gt : TC_OP_lt, other, own);
    tc_val same = ti_b_eq(m, other, own);
    if (m->status == TC_OK && ti_is_float(ti_b_type(m, own)->dtype)) {
        tc_val a = ti_b_isnan(m, own), b = ti_b_isnan(m, other);
        tc_val smaller = descending ? a : b, larger = descending ? b : a;
        less = ti_b_logical_or(m, less, ti_b_logical_and(m, larger, ti_b_logical_not(m, smaller)));
        same = ti_b_logical_or(m, same, ti_b_logical_and(m, a, b));
    }
    return ti_b_logical_or(m, less, ti_b_logical_and(m, same, earlier));
}

/* The rank of an element is how many are before it; its index is stored at that rank. */
static bool sort_by_rank(tc_build *m)
{
    const tc_attr_sort *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t n = t->dim[a->axis], axis = a->axis, inner = axis + 1;
    if (t->rank + 1 > TC_MAX_RANK || tc_type_count(t) * n > MOST)
        return false;
    tc_val x = ti_b_in(m, 0), own = ti_b_unsqueeze(m, x, inner), other = ti_b_unsqueeze(m, x, axis);
    tc_val own_place = counted(m, n, axis, t->rank + 1);
    tc_val other_place = counted(m, n, inner, t->rank + 1);
    tc_val earlier = ti_b_lt(m, other_place, own_place);
    tc_val ahead = ti_b_cast(m, before(m, own, other, earlier, a->descending), TC_i64);
    tc_val rank = ti_b_sum(m, ahead, ti_ints_copy(&m->ctx->arena, &inner, 1), false);
    tc_val place = ti_b_expand(m, counted(m, n, axis, t->rank), t->rank, t->dim);
    tc_val from =
        ti_b_3(m, scatter, ti_b_attr(m, scatter, axis, TC_combine_set, true), place, rank, place);
    ti_cpu_give(m, 1, from);
    tc_val sorted = ti_b_gather(m, x, from, axis);
    return ti_cpu_done(m, sorted);
}

/* If only the values are read: the n largest or smallest of n.  The order of equals is unspecified
 * there, so indices go by rank. */
bool ti_cpu_form_sort(tc_build *m)
{
    const tc_attr_sort *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    if (!t->rank || !tc_type_count(t))
        return false;
    if (ti_b_is_read(m, 1))
        return sort_by_rank(m);
    tc_val x = ti_b_in(m, 0);
    tc_attr_topk *all = ti_b_attr(m, topk, t->dim[a->axis], a->axis, a->descending);
    tc_node *made = ti_b_ops(m, TC_OP_topk, all, &x, 1, 2);
    return !made || ti_cpu_done(m, made->out[0]);
}

/* ---- scatter ---- */

typedef struct meeting {
    tc_op reduce;   /* over all with equal index */
    tc_op with_own; /* and with what was there */
    double neutral; /* who is not there counts as this */
} meeting;

static const meeting meetings[] = {
    [TC_combine_add] = {TC_OP_sum, TC_OP_add, 0},
    [TC_combine_mean] = {TC_OP_sum, TC_OP_add, 0},
    [TC_combine_prod] = {TC_OP_prod, TC_OP_mul, 1},
    [TC_combine_amax] = {TC_OP_amax, TC_OP_maximum, -INFINITY},
    [TC_combine_amin] = {TC_OP_amin, TC_OP_minimum, INFINITY},
};

static double neutral_of(const meeting *k, tc_dtype dtype)
{
    if (ti_is_float(dtype) || isfinite(k->neutral))
        return k->neutral;
    double least = -ldexp(1, 8 * (int)tc_dtypes[dtype].bytes - 1);
    return k->neutral < 0 ? least : -least - (dtype == TC_i64 ? 1024 : 1);
}

/* Elements reduced over the axis; the last axis, the indices of the result, replaces it.
 */
static tc_val met(tc_build *m, tc_op op, tc_val x, int64_t axis)
{
    int64_t perm[TC_MAX_RANK];
    tc_val y =
        ti_b_op(m, op, ti_b_attr(m, axes, ti_ints_copy(&m->ctx->arena, &axis, 1), false), &x, 1);
    TC_STOP_WITH(m, TC_NONE);
    int32_t rank = ti_b_type(m, y)->rank;
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
    return ti_b_permute(m, y, perm);
}

static tc_val averaged(tc_build *m, tc_val sum, tc_val count)
{
    TC_STOP_WITH(m, TC_NONE);
    tc_dtype dtype = ti_b_type(m, sum)->dtype;
    count = ti_b_cast(m, ti_b_clamp(m, count, 1, INFINITY), dtype);
    return ti_b_2(m, div,
                  ti_b_attr(m, div, ti_is_float(dtype) ? TC_div_mode_exact : TC_div_mode_floor),
                  sum, count);
}

/* Whether the index covers x but for the axis, as it mostly does. */
static bool covers(const tc_type *x, const tc_type *index, int64_t axis)
{
    for (int32_t i = 0; i < x->rank; i++)
        if (i != axis && x->dim[i] != index->dim[i])
            return false;
    return x->rank == index->rank;
}

bool ti_cpu_scatter_meeting(tc_build *m)
{
    const tc_attr_scatter *a = m->node->attr;
    const tc_type *x = ti_b_in_type(m, 0), *at = ti_b_in_type(m, 1);
    if (a->combine == TC_combine_set || !x->rank || x->rank + 1 > TC_MAX_RANK ||
        !covers(x, at, a->axis) || tc_type_count(at) * x->dim[a->axis] > MOST)
        return false;
    const meeting *k = &meetings[a->combine];
    tc_val own = ti_b_in(m, 0), source = ti_b_in(m, 2);
    for (int32_t i = 0; i < x->rank; i++)
        if (ti_b_in_type(m, 2)->dim[i] != at->dim[i])
            source = ti_b_slice(m, source, i, 0, at->dim[i], 1);
    tc_val place = counted(m, x->dim[a->axis], x->rank, x->rank + 1);
    tc_val meant = ti_b_unsqueeze(m, ti_b_cast(m, ti_b_in(m, 1), TC_i64), x->rank);
    tc_val here = ti_b_eq(m, meant, place);
    tc_val neutral = ti_b_number(m, source, neutral_of(k, x->dtype));
    tc_val each = ti_b_where(m, here, ti_b_unsqueeze(m, source, x->rank), neutral);
    tc_val all = met(m, k->reduce, each, a->axis);
    tc_val count = met(m, TC_OP_sum, ti_b_cast(m, here, TC_i64), a->axis);
    if (a->include_self) {
        all = k->with_own == TC_OP_add ? ti_b_add(m, own, all)
                                       : ti_b_binary(m, k->with_own, own, all);
        count = ti_b_add(m, count, ti_b_number(m, count, 1));
    }
    if (a->combine == TC_combine_mean)
        all = averaged(m, all, count);
    if (!a->include_self)
        all = ti_b_where(m, ti_b_gt(m, count, ti_b_number(m, count, 0)), all, own);
    return ti_cpu_done(m, all);
}
