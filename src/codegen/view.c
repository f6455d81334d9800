/* SPDX-License-Identifier: Apache-2.0 */
/* view.c -- see view.h. */
#include "view.h"

enum { MOST_VIEWS = 4 };

tc_view ti_view_dense(int32_t root, int32_t rank, const int64_t *dim)
{
    tc_view v = {.root = root, .rank = rank};
    int64_t stride = 1;
    for (int32_t i = rank; i-- > 0;) {
        v.dim[i] = dim[i];
        v.stride[i] = stride;
        stride *= dim[i];
    }
    return v;
}

int64_t ti_view_count(const tc_view *v)
{
    int64_t n = 1;
    for (int32_t i = 0; i < v->rank; i++)
        n *= v->dim[i];
    return n;
}

/* Axes without those of extent 1, neighbours that are one run merged. */
static tc_view merged(const tc_view *v)
{
    tc_view out = {.root = v->root, .at = v->at};
    for (int32_t i = 0; i < v->rank; i++) {
        if (v->dim[i] == 1)
            continue;
        int32_t last = out.rank - 1;
        if (out.rank && out.stride[last] == v->stride[i] * v->dim[i]) {
            out.dim[last] *= v->dim[i];
            out.stride[last] = v->stride[i];
            continue;
        }
        out.dim[out.rank] = v->dim[i];
        out.stride[out.rank++] = v->stride[i];
    }
    return out;
}

bool ti_view_reshape(const tc_view *v, int32_t rank, const int64_t *dim, tc_view *out)
{
    tc_view from = merged(v);
    int32_t axis = from.rank - 1;
    int64_t left = axis >= 0 ? from.dim[axis] : 1, step = axis >= 0 ? from.stride[axis] : 1;
    *out = (tc_view){.root = v->root, .rank = rank, .at = v->at};
    for (int32_t i = rank; i-- > 0;) {
        out->dim[i] = dim[i];
        if (dim[i] == 1) {
            out->stride[i] = step;
            continue;
        }
        if (left == 1 && axis > 0) {
            left = from.dim[--axis];
            step = from.stride[axis];
        }
        if (left % dim[i])
            return false;
        out->stride[i] = step;
        step *= dim[i];
        left /= dim[i];
    }
    return true;
}

tc_view ti_view_slice(const tc_view *v, int32_t axis, int64_t start, int64_t size)
{
    tc_view out = *v;
    out.at += start * v->stride[axis];
    out.dim[axis] = size;
    return out;
}

tc_view ti_view_transpose(const tc_view *v, const int64_t *perm)
{
    tc_view out = *v;
    for (int32_t i = 0; i < v->rank; i++) {
        out.dim[i] = v->dim[perm[i]];
        out.stride[i] = v->stride[perm[i]];
    }
    return out;
}

tc_view ti_view_move_axis(const tc_view *v, int32_t axis, int32_t to)
{
    int64_t perm[TC_VIEW_DIMS];
    for (int32_t i = 0, n = 0; i < v->rank; i++) {
        if (i == to) {
            perm[i] = axis;
            continue;
        }
        n += n == axis;
        perm[i] = n++;
    }
    return ti_view_transpose(v, perm);
}

tc_view ti_view_reverse(const tc_view *v, int32_t axis)
{
    tc_view out = *v;
    out.at += (v->dim[axis] - 1) * v->stride[axis];
    out.stride[axis] = -v->stride[axis];
    return out;
}

tc_view ti_view_at(const tc_view *v, int64_t i)
{
    tc_view out = {.root = v->root, .rank = v->rank - 1, .at = v->at + i * v->stride[0]};
    for (int32_t k = 0; k < out.rank; k++) {
        out.dim[k] = v->dim[k + 1];
        out.stride[k] = v->stride[k + 1];
    }
    return out;
}

tc_view ti_view_broadcast(const tc_view *v, int32_t rank, const int64_t *dim)
{
    tc_view out = {.root = v->root, .rank = rank, .at = v->at};
    for (int32_t i = 0; i < rank; i++) {
        int32_t k = i - (rank - v->rank);
        out.dim[i] = dim[i];
        out.stride[i] = k < 0 || (v->dim[k] == 1 && dim[i] != 1) ? 0 : v->stride[k];
    }
    return out;
}

tc_view ti_view_deepen(const tc_view *v)
{
    tc_view out = *v;
    out.dim[out.rank] = 1;
    out.stride[out.rank++] = 1;
    return out;
}

bool ti_view_is_dense(const tc_view *v)
{
    tc_view m = merged(v);
    return m.rank == 0 || (m.rank == 1 && m.stride[0] == 1);
}

/* ---- parts ---- */

typedef struct parts {
    int n;
    bool columns;
    tc_view_part *each;
    void *user;
} parts;

static bool merges(const tc_view *v, int n, int32_t axis)
{
    for (int i = 0; i < n; i++)
        if (v[i].stride[axis] != v[i].stride[axis + 1] * v[i].dim[axis + 1])
            return false;
    return v[0].dim[axis] * v[0].dim[axis + 1] <= TC_HW_EXTENT;
}

static void merge(tc_view *v, int n, int32_t axis)
{
    for (int i = 0; i < n; i++) {
        v[i].dim[axis + 1] *= v[i].dim[axis];
        memmove(v[i].dim + axis, v[i].dim + axis + 1,
                (size_t)(v[i].rank - axis - 1) * sizeof *v[i].dim);
        memmove(v[i].stride + axis, v[i].stride + axis + 1,
                (size_t)(v[i].rank - axis - 1) * sizeof *v[i].stride);
        v[i].rank--;
    }
}

/* Channels are contiguous in every view, or broadcast. */
static bool has_channels(const tc_view *v, int n)
{
    int32_t last = v[0].rank - 1;
    if (last < 0)
        return false;
    for (int i = 0; i < n; i++)
        if (v[i].dim[last] > 1 && v[i].stride[last] != 1 && v[i].stride[last] != 0)
            return false;
    return true;
}

static void drop_ones(tc_view *v, int n)
{
    for (int32_t axis = v[0].rank; axis-- > 0;) {
        if (v[0].dim[axis] != 1)
            continue;
        for (int i = 0; i < n; i++) {
            memmove(v[i].dim + axis, v[i].dim + axis + 1,
                    (size_t)(v[i].rank - axis - 1) * sizeof *v[i].dim);
            memmove(v[i].stride + axis, v[i].stride + axis + 1,
                    (size_t)(v[i].rank - axis - 1) * sizeof *v[i].stride);
            v[i].rank--;
        }
    }
}

static void pad_front(tc_view *v)
{
    for (; v->rank < 3; v->rank++) {
        memmove(v->dim + 1, v->dim, (size_t)v->rank * sizeof *v->dim);
        memmove(v->stride + 1, v->stride, (size_t)v->rank * sizeof *v->stride);
        v->dim[0] = 1;
        v->stride[0] = v->dim[1] * v->stride[1];
    }
}

/* The first axis element by element. */
static bool one_by_one(const parts *p, const tc_view *v);

/* One axis fewer, where two are one in every view: the first two, so that rows stay rows of a
 * frame; any where there are no channels, and columns are not asked for. */
static bool merge_any(const parts *p, tc_view *v)
{
    int32_t rank = v[0].rank, end = v[0].dim[rank - 1] == 1 && !p->columns ? rank - 2 : 1;
    for (int32_t axis = 0; axis < end && rank > 3; axis++)
        if (v[0].dim[axis] == 1 || merges(v, p->n, axis)) {
            merge(v, p->n, axis);
            return true;
        }
    return false;
}

/* Rank 3 and more; cut until every extent fits and the rank is 3. */
static bool cut(const parts *p, tc_view *v)
{
    while (merge_any(p, v))
        ;
    if (v[0].rank > 3)
        return one_by_one(p, v);
    for (int32_t axis = 0; axis < 3; axis++)
        if (v[0].dim[axis] > TC_HW_EXTENT) {
            for (int64_t at = 0, size = v[0].dim[axis]; at < size; at += TC_HW_EXTENT) {
                tc_view part[MOST_VIEWS];
                for (int i = 0; i < p->n; i++)
                    part[i] =
                        ti_view_slice(&v[i], axis, at, ti_min_i64(TC_HW_EXTENT, size - at));
                if (!cut(p, part))
                    return false;
            }
            return true;
        }
    return p->each(p->user, v);
}

static bool one_by_one(const parts *p, const tc_view *v)
{
    for (int64_t k = 0; k < v[0].dim[0]; k++) {
        tc_view part[MOST_VIEWS];
        for (int i = 0; i < p->n; i++)
            part[i] = ti_view_at(&v[i], k);
        if (!cut(p, part))
            return false;
    }
    return true;
}

bool ti_view_parts(const tc_view *v, int n, bool columns, tc_view_part *each, void *user)
{
    parts p = {n, columns, each, user};
    tc_view w[MOST_VIEWS];
    memcpy(w, v, (size_t)n * sizeof *v);
    if (ti_view_count(&w[0]) == 0)
        return true;
    if (!has_channels(w, n)) {
        drop_ones(w, n);
        if (!has_channels(w, n) || w[0].rank == 0)
            for (int i = 0; i < n; i++)
                w[i] = ti_view_deepen(&w[i]);
    }
    for (int i = 0; i < n; i++)
        pad_front(&w[i]);
    return cut(&p, w);
}
