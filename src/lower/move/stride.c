/* SPDX-License-Identifier: Apache-2.0 */
/* stride.c -- see lower_move.h: any strides, by slices, reshapes and concatenation. */
#include "lower_move.h"

#include "../../num/load.h"

enum { MOST_AXES = 2 * TC_MAX_RANK, MOST_PIECES = 256 };

typedef struct view {
    int n;
    tc_stride axis[MOST_AXES]; /* by falling step */
} view;

static int64_t span(const view *v, int from)
{
    int64_t s = 1;
    for (int i = from; i < v->n; i++)
        s += (v->axis[i].size - 1) * v->axis[i].step;
    return s;
}

static int64_t count(const view *v, int from)
{
    int64_t n = 1;
    for (int i = from; i < v->n; i++)
        n *= v->axis[i].size;
    return n;
}

static void drop(view *v, int k)
{
    v->n--;
    memmove(v->axis + k, v->axis + k + 1, (size_t)(v->n - k) * sizeof *v->axis);
}

/* The shortest axis: the one to cut by hand. */
static int shortest(const view *v)
{
    int best = 0;
    for (int i = 1; i < v->n; i++)
        if (v->axis[i].size < v->axis[best].size)
            best = i;
    return best;
}

/* How many slices cut() will concatenate. */
static int64_t pieces(view v)
{
    int64_t n = 1;
    while (v.n && n <= MOST_PIECES) {
        int k = span(&v, 1) <= v.axis[0].step ? 0 : shortest(&v);
        if (span(&v, 1) > v.axis[0].step)
            n *= v.axis[k].size;
        drop(&v, k);
    }
    return n;
}

static tc_val cut(tc_build *lw, tc_val x, int64_t offset, view v);

/* One result per index of axis k, concatenated. */
static tc_val cut_each(tc_build *lw, tc_val x, int64_t offset, view v, int k)
{
    tc_stride axis = v.axis[k];
    drop(&v, k);
    tc_val *piece = tc_new_n(&lw->ctx->arena, tc_val, (size_t)axis.size);
    int64_t after = count(&v, k), before = count(&v, 0) / after;
    for (int64_t i = 0; i < axis.size; i++) {
        tc_val p = cut(lw, x, offset + i * axis.step, v);
        int64_t rows = p ? ti_b_type(lw, p)->dim[0] : 1;
        piece[i] = ti_b_tosa_reshape(lw, p, 4, (int64_t[]){rows, before, 1, after});
    }
    tc_val y = ti_put_join(lw, piece, (int)axis.size, 2);
    return y ? ti_b_tosa_reshape(lw, y, 2,
                                 (int64_t[]){ti_b_type(lw, y)->dim[0], before * axis.size * after})
             : y;
}

/* x [rows, extent] -> [rows, elements of the view of one row]. */
static tc_val cut(tc_build *lw, tc_val x, int64_t offset, view v)
{
    if (!x)
        return x;
    if (!v.n)
        return ti_b_tosa_slice_axis(lw, x, 1, offset, 1);
    tc_stride axis = v.axis[0];
    if (v.n == 1 && axis.step == 1)
        return ti_b_tosa_slice_axis(lw, x, 1, offset, axis.size);
    if (span(&v, 1) > axis.step)
        return cut_each(lw, x, offset, v, shortest(&v));
    /* Groups of `step` elements, each holding the rest of the view; the last one ends with x. */
    int64_t rows = ti_b_type(lw, x)->dim[0], extent = ti_b_type(lw, x)->dim[1];
    int64_t past = offset + axis.size * axis.step - extent, at = past > 0 ? past : 0,
            first = offset - at;
    if (first < 0) {
        x = ti_b_tosa_pad(lw, x, (int64_t[]){0, 0, -first, 0}, 0);
        first = 0;
    }
    x = ti_b_tosa_slice_axis(lw, x, 1, first, axis.size * axis.step);
    x = ti_b_tosa_reshape(lw, x, 2, (int64_t[]){rows * axis.size, axis.step});
    drop(&v, 0);
    x = cut(lw, x, at, v);
    return ti_b_tosa_reshape(lw, x, 2, (int64_t[]){rows, axis.size * count(&v, 0)});
}

/* The axes that move by falling step, from[i]: which axis of the caller's each is. */
static view sorted(int rank, const tc_stride *axis, int *from)
{
    view v = {.n = 0};
    for (int i = 0; i < rank; i++) {
        if (axis[i].size == 1 || axis[i].step == 0)
            continue;
        int at = v.n++;
        for (; at > 0 && v.axis[at - 1].step < axis[i].step; at--) {
            v.axis[at] = v.axis[at - 1];
            from[at] = from[at - 1];
        }
        v.axis[at] = axis[i];
        from[at] = i;
    }
    return v;
}

/* Neighbours that walk through memory together are one axis. */
static view merged(view v)
{
    for (int i = 0; i + 1 < v.n;) {
        tc_stride *outer = &v.axis[i], *inner = outer + 1;
        if (outer->step == inner->step * inner->size) {
            *outer = (tc_stride){outer->size * inner->size, inner->step};
            drop(&v, i + 1);
        } else
            i++;
    }
    return v;
}

/* The elements of a view by their row-major indices, of rank 1. */
static tc_val pick_view(tc_build *lw, tc_val x, int64_t offset, const view *v)
{
    int64_t n = count(v, 0), at[MOST_AXES] = {0};
    tc_tensor index =
        ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, TC_i32, 2, (int64_t[]){1, n}));
    for (int64_t i = 0; i < n; i++) {
        int64_t element = offset;
        for (int k = 0; k < v->n; k++)
            element += at[k] * v->axis[k].step;
        ti_store_i64(index, i, element);
        for (int k = v->n - 1; k >= 0 && ++at[k] == v->axis[k].size; k--)
            at[k] = 0;
    }
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){1, tc_type_count(ti_b_type(lw, x)), 1});
    x = ti_put_gather(lw, x, ti_b_data(lw, index.type, index.data));
    return ti_b_tosa_reshape(lw, x, 1, &n);
}

/* From the order of falling steps to the caller's; axes of step 0 are repeated. */
static tc_val arrange(tc_build *lw, tc_val x, int rank, const tc_stride *axis, const view *v,
                      const int *from)
{
    int64_t dim[TC_MAX_RANK], times[TC_MAX_RANK], perm[TC_MAX_RANK];
    for (int i = 0; i < v->n; i++)
        dim[i] = v->axis[i].size;
    x = ti_b_tosa_reshape(lw, x, v->n, dim);
    int n = 0;
    for (int i = 0; i < rank; i++)
        for (int k = 0; k < v->n; k++)
            if (from[k] == i)
                perm[n++] = k;
    if (v->n)
        x = ti_b_tosa_transpose(lw, x, perm);
    for (int i = 0; i < rank; i++) {
        dim[i] = axis[i].step ? axis[i].size : 1;
        times[i] = axis[i].step ? 1 : axis[i].size;
    }
    return ti_b_tosa_tile(lw, ti_b_tosa_reshape(lw, x, rank, dim), times);
}

tc_val ti_put_strided(tc_build *lw, tc_val x, int64_t offset, int rank, const tc_stride *axis)
{
    if (!x)
        return x;
    int64_t extent = tc_type_count(ti_b_type(lw, x));
    int from[MOST_AXES];
    view order = sorted(rank, axis, from), v = merged(order);
    if (pieces(v) > MOST_PIECES)
        x = pick_view(lw, x, offset, &v);
    else
        x = cut(lw, ti_b_tosa_reshape(lw, x, 2, (int64_t[]){1, extent}), offset, v);
    return arrange(lw, x, rank, axis, &order, from);
}
