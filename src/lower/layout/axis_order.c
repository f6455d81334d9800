/* SPDX-License-Identifier: Apache-2.0 */
/* axis_order.c -- see axis_order.h. */
#include "axis_order.h"

tc_order ti_order_plain(int rank)
{
    tc_order p = {.rank = rank};
    for (int i = 0; i < rank; i++)
        p.at[i] = (uint8_t)i;
    return p;
}

bool ti_order_same(const tc_order *a, const tc_order *b)
{
    return a->rank == b->rank && memcmp(a->at, b->at, (size_t)a->rank) == 0;
}

tc_order ti_order_view(const tc_order *x, const int64_t *perm)
{
    tc_order y = {.rank = x->rank};
    for (int i = 0; i < x->rank; i++)
        y.at[i] = x->at[perm[i]];
    return y;
}

tc_order ti_order_unview(const tc_order *y, const int64_t *perm)
{
    tc_order x = {.rank = y->rank};
    for (int i = 0; i < y->rank; i++)
        x.at[perm[i]] = y->at[i];
    return x;
}

void ti_order_dims(const tc_order *p, const int64_t *dim, int64_t *stored)
{
    for (int i = 0; i < p->rank; i++)
        stored[p->at[i]] = dim[i];
}

void ti_order_perm(const tc_order *from, const tc_order *to, int64_t *perm)
{
    for (int i = 0; i < from->rank; i++)
        perm[to->at[i]] = from->at[i];
}

bool ti_perm_is_reshape(int rank, const int64_t *dim, const int64_t *perm)
{
    int64_t last = -1;
    for (int i = 0; i < rank; i++) {
        if (dim[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return false;
        last = perm[i];
    }
    return true;
}

bool ti_order_moves(const int64_t *dim, const tc_order *from, const tc_order *to)
{
    int64_t stored[TC_MAX_RANK], perm[TC_MAX_RANK];
    ti_order_dims(from, dim, stored);
    ti_order_perm(from, to, perm);
    return !ti_perm_is_reshape(from->rank, stored, perm);
}

/* ---- reshapes ---- */

/* The axes of more than one element, in order. */
typedef struct axes {
    int n;
    int axis[TC_MAX_RANK];
    int64_t dim[TC_MAX_RANK];
} axes;

static axes real_axes(int rank, const int64_t *dim)
{
    axes a = {0};
    for (int i = 0; i < rank; i++)
        if (dim[i] != 1) {
            a.dim[a.n] = dim[i];
            a.axis[a.n++] = i;
        }
    return a;
}

/* The ends of the smallest groups from a0 and b0 on whose extents have one product. */
static bool next_group(const axes *a, const axes *b, int a0, int b0, int *a1, int *b1)
{
    int64_t pa = a->dim[a0], pb = b->dim[b0];
    int i = a0 + 1, k = b0 + 1;
    while (pa != pb) {
        if (pa < pb && i < a->n)
            pa *= a->dim[i++];
        else if (pb < pa && k < b->n)
            pb *= b->dim[k++];
        else
            return false;
    }
    *a1 = i;
    *b1 = k;
    return true;
}

/* Whether axes a0 .. a1 follow each other in memory. */
static bool side_by_side(const axes *a, const int *place, int a0, int a1)
{
    for (int i = a0 + 1; i < a1; i++)
        if (place[a->axis[i]] != place[a->axis[i - 1]] + 1)
            return false;
    return true;
}

/* By logical axis: its position among the real axes in memory. */
static void places(const tc_order *p, const axes *a, int *place)
{
    for (int i = 0; i < a->n; i++) {
        place[a->axis[i]] = 0;
        for (int k = 0; k < a->n; k++)
            place[a->axis[i]] += p->at[a->axis[k]] < p->at[a->axis[i]];
    }
}

/* Real axes of the result by their keys (all different); an axis of extent 1 stays after the one
 * before. */
static tc_order by_keys(int rank, const int64_t *dim, const int *key)
{
    tc_order q = {.rank = rank};
    int full[TC_MAX_RANK], last = -1;
    for (int i = 0; i < rank; i++)
        full[i] = last = dim[i] == 1 ? last : key[i];
    for (int i = 0; i < rank; i++)
        for (int k = 0; k < rank; k++)
            q.at[i] = (uint8_t)(q.at[i] + (full[k] < full[i] || (full[k] == full[i] && k < i)));
    return q;
}

bool ti_order_reshape(const tc_order *p, const int64_t *dim, int to_rank, const int64_t *to_dim,
                      tc_order *q)
{
    axes a = real_axes(p->rank, dim), b = real_axes(to_rank, to_dim);
    int place[TC_MAX_RANK], key[TC_MAX_RANK] = {0};
    for (int i = 0; i < a.n; i++)
        if (a.dim[i] == 0)
            return false;
    places(p, &a, place);
    int a0 = 0, b0 = 0;
    while (a0 < a.n || b0 < b.n) {
        int a1, b1;
        if (a0 == a.n || b0 == b.n || !next_group(&a, &b, a0, b0, &a1, &b1) ||
            !side_by_side(&a, place, a0, a1))
            return false;
        for (int k = b0; k < b1; k++)
            key[b.axis[k]] = place[a.axis[a0]] * TC_MAX_RANK + k - b0;
        a0 = a1;
        b0 = b1;
    }
    *q = by_keys(to_rank, to_dim, key);
    return true;
}

/* ---- constants ---- */

/* n elements, `step` of them apart. */
static void copy_run(char *to, const char *from, int64_t n, int64_t step, size_t bytes)
{
    if (bytes == 1)
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i * step];
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * bytes, from + (size_t)(i * step) * bytes, bytes);
}

const void *ti_transposed(tc_arena *arena, const tc_type *x, const void *data, const int64_t *perm)
{
    size_t bytes = tc_dtypes[x->dtype].bytes;
    int64_t step[TC_MAX_RANK], dim[TC_MAX_RANK], at[TC_MAX_RANK] = {0}, walk = 1, from = 0;
    int last = x->rank - 1;
    char *to = ti_arena_raw(arena, tc_type_bytes(x));
    if (last < 0 || tc_type_count(x) == 0)
        return last < 0 ? data : to;
    for (int i = last; i >= 0; i--) {
        step[i] = walk;
        walk *= x->dim[i];
    }
    for (int i = 0; i <= last; i++)
        dim[i] = x->dim[perm[i]];
    for (int64_t i = 0, n = tc_type_count(x); i < n; i += dim[last]) {
        copy_run(to + (size_t)i * bytes, (const char *)data + (size_t)from * bytes, dim[last],
                 step[perm[last]], bytes);
        for (int k = last - 1; k >= 0; k--) {
            from += step[perm[k]];
            if (++at[k] < dim[k])
                break;
            from -= dim[k] * step[perm[k]];
            at[k] = 0;
        }
    }
    return to;
}
