/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_move.c -- importers of operators that move elements.
 *
 * The declared shape of the result is used: reshape serves view, flatten, squeeze and the like.
 * unsqueeze_ and the like change a tensor's shape, not its elements: their results are views. */
#include "pt2_program.h"

static void import_reshape(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    const tc_type *shape = ti_pt2_result_type(n, 0);
    TC_STOP(&n->m);
    ti_pt2_result(n, ti_b_reshape_as(&n->m, x, shape));
}

static void import_broadcast_tensors(tc_pt2_node *n)
{
    int count;
    tc_val *x = ti_pt2_list_of(n, "tensors", &count);
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        tc_val y = ti_b_expand_as(&n->m, x[i], ti_pt2_result_type(n, i));
        TC_STOP(&n->m);
        ti_pt2_bind(n, i, y);
    }
}

/* Tensor i varies along axis i; "xy" has the first two the other way around. */
static void import_meshgrid(tc_pt2_node *n)
{
    int count;
    tc_val *x = ti_pt2_list_of(n, "tensors", &count);
    bool swapped = ti_text_eq(ti_pt2_text(n, "indexing", "ij"), "xy");
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        const tc_type *y = ti_pt2_result_type(n, i);
        if (!y)
            return;
        int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        int axis = swapped && i < 2 && count > 1 ? 1 - i : i;
        if (axis >= y->rank) {
            ti_b_bad(&n->m, TC_E_SHAPE, "more tensors than axes in the result");
            return;
        }
        dim[axis] = tc_type_count(ti_b_type(&n->m, x[i]));
        tc_val line = ti_b_reshape(&n->m, x[i], y->rank, dim);
        tc_val all = ti_b_expand_as(&n->m, line, y);
        if (n->m.status == TC_OK)
            ti_pt2_bind(n, i, all);
    }
}

/* Orders of axes. */

static void import_permute(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints dims = ti_pt2_ints(n, "dims");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    if (dims.n != rank) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the list of axes is not as long as the tensor's rank");
        return;
    }
    tc_ints perm = ti_b_axes(&n->m, dims, rank);
    ti_pt2_result(n, ti_b_permute(&n->m, x, perm.v));
}

/* transpose, swapaxes and swapdims differ in what they call the two axes. */
static void import_transpose(tc_pt2_node *n)
{
    const char *first = ti_pt2_has(n, "axis0") ? "axis0" : "dim0";
    const char *second = ti_pt2_has(n, "axis1") ? "axis1" : "dim1";
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t a = ti_pt2_need_int(n, first), b = ti_pt2_need_int(n, second);
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    tc_val y = ti_b_swap(&n->m, x, ti_b_axis(&n->m, a, rank), ti_b_axis(&n->m, b, rank));
    ti_pt2_result(n, y);
}

/* t: at most two axes, backwards. */
static void import_reversed(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    TC_STOP(&n->m);
    int64_t perm[TC_MAX_RANK];
    int rank = ti_b_type(&n->m, x)->rank;
    for (int i = 0; i < rank; i++)
        perm[i] = rank - 1 - i;
    ti_pt2_result(n, ti_b_permute(&n->m, x, perm));
}

/* Of matrices; a number is its own. */
static void import_matrix_transpose(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    if (rank == 0)
        import_reversed(n);
    else if (rank == 1)
        ti_b_bad(&n->m, TC_E_SHAPE, "a matrix has two axes or more");
    else
        ti_pt2_result(n, ti_b_swap(&n->m, x, rank - 2, rank - 1));
}

/* The matrix transposed, complex numbers conjugated. */
static void import_adjoint(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    if (n->m.status == TC_OK && ti_b_dtype(&n->m, x) == TC_c64 && ti_b_type(&n->m, x)->rank > 1) {
        int rank = ti_b_type(&n->m, x)->rank;
        x = ti_b_swap(&n->m, x, rank - 2, rank - 1);
        tc_val re = ti_b_real(&n->m, x), im = ti_b_imag(&n->m, x);
        ti_pt2_result(n, ti_b_complex(&n->m, re, ti_b_neg(&n->m, im)));
    } else
        import_matrix_transpose(n);
}

static void import_movedim(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints source = ti_pt2_ints(n, "source"), destination = ti_pt2_ints(n, "destination");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    if (source.n != destination.n || source.n > rank) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "source and destination are not equally many axes");
        return;
    }
    int64_t perm[TC_MAX_RANK];
    bool moved[TC_MAX_RANK] = {false}, taken[TC_MAX_RANK] = {false};
    for (int i = 0; i < source.n; i++) {
        int64_t from = ti_b_axis(&n->m, source.v[i], rank),
                to = ti_b_axis(&n->m, destination.v[i], rank);
        perm[to] = from;
        moved[from] = taken[to] = true;
    }
    for (int to = 0, from = 0; to < rank; to++) {
        if (taken[to])
            continue;
        while (from < rank && moved[from])
            from++;
        perm[to] = from++;
    }
    ti_pt2_result(n, rank ? ti_b_permute(&n->m, x, perm) : x);
}

/* Parts. */

/* The rows of x that the result shows, from a start that is known when the program runs. */
static tc_val rows_of(tc_pt2_node *n, const char *start, const tc_type *x, int64_t dim,
                      const tc_type *part)
{
    int64_t step = ti_pt2_int(n, "step", 1), axis = dim;
    if (!part || n->m.status != TC_OK || axis >= x->rank || axis >= part->rank)
        return TC_NONE;
    return ti_pt2_rows_from(n, start, x->dim[axis], part->dim[axis], step);
}

static void pick_rows(tc_pt2_node *n, tc_val x)
{
    int64_t dim = ti_pt2_int(n, "dim", 0);
    const tc_type *y = ti_pt2_result_type(n, 0);
    TC_STOP(&n->m);
    int64_t axis = ti_b_axis(&n->m, dim, ti_b_type(&n->m, x)->rank);
    tc_val rows = rows_of(n, "start", ti_b_type(&n->m, x), axis, y);
    ti_pt2_result(n, ti_b_index_select(&n->m, x, rows, axis));
}

static void import_slice(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    if (ti_pt2_later(n, "start")) {
        pick_rows(n, x);
        return;
    }
    int64_t dim = ti_pt2_int(n, "dim", 0), start = ti_pt2_int(n, "start", 0);
    int64_t end = ti_pt2_int(n, "end", INT64_MAX), step = ti_pt2_int(n, "step", 1);
    TC_STOP(&n->m);
    tc_val y = ti_pt2_slice(n, x, ti_b_axis(&n->m, dim, ti_b_type(&n->m, x)->rank), start, end,
                            step);
    ti_pt2_result(n, y);
}

static void import_narrow(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    if (ti_pt2_later(n, "start")) {
        pick_rows(n, x);
        return;
    }
    int64_t dim = ti_pt2_need_int(n, "dim"), start = ti_pt2_need_int(n, "start");
    int64_t length = ti_pt2_need_int(n, "length");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, dim, t->rank), extent = t->rank ? t->dim[axis] : 0;
    start = start < 0 ? start + extent : start;
    if (start < 0 || start > extent || length < 0 || length > extent - start) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the part reaches past the axis");
        return;
    }
    ti_pt2_result(n, ti_pt2_slice(n, x, axis, start, start + length, 1));
}

/* The axis and the index there, counted from the front. */
static tc_attr_select *select_attr(tc_pt2_node *n, tc_val x)
{
    int64_t dim = ti_pt2_need_int(n, "dim"), index = ti_pt2_need_int(n, "index");
    TC_STOP_WITH(&n->m, NULL);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, dim, t->rank);
    return ti_b_attr(&n->m, select, axis, index < 0 && t->rank ? index + t->dim[axis] : index);
}

/* One row, by a number that is known when the program runs. */
static tc_val row_of(tc_pt2_node *n, tc_val x, int64_t *axis)
{
    int64_t dim = ti_pt2_need_int(n, "dim");
    TC_STOP_WITH(&n->m, TC_NONE);
    const tc_type *t = ti_b_type(&n->m, x);
    *axis = ti_b_axis(&n->m, dim, t->rank);
    return ti_pt2_rows_from(n, "index", t->rank ? t->dim[*axis] : 1, 1, 1);
}

static void import_select(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    if (ti_pt2_later(n, "index")) {
        int64_t axis = 0;
        const tc_type *y = ti_pt2_result_type(n, 0);
        tc_val row = row_of(n, x, &axis);
        TC_STOP(&n->m);
        ti_pt2_result(n, ti_b_reshape_as(&n->m, ti_b_index_select(&n->m, x, row, axis), y));
        return;
    }
    const void *attr = select_attr(n, x);
    ti_pt2_result(n, ti_b_1(&n->m, select, attr, x));
}

/* x with `part` instead of these rows. */
static void write_rows(tc_pt2_node *n, tc_val x, tc_val rows, tc_val part, int64_t axis)
{
    TC_STOP(&n->m);
    part = ti_b_cast(&n->m, part, ti_b_type(&n->m, x)->dtype);
    ti_pt2_result(n, ti_b_3(&n->m, index_copy, ti_b_attr(&n->m, axis, axis), x, rows, part));
}

static void import_select_scatter(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), part = ti_pt2_tensor(n, "src");
    if (ti_pt2_later(n, "index")) {
        int64_t axis = 0;
        tc_val row = row_of(n, x, &axis);
        write_rows(n, x, row, ti_b_unsqueeze(&n->m, part, axis), axis);
        return;
    }
    const tc_attr_select *a = select_attr(n, x);
    if (n->m.status == TC_OK)
        part = ti_b_cast(&n->m, part, ti_b_type(&n->m, x)->dtype);
    ti_pt2_result(n, ti_b_2(&n->m, select_scatter, a, x, part));
}

static void import_slice_scatter(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), part = ti_pt2_tensor(n, "src");
    if (ti_pt2_later(n, "start")) {
        int64_t axis = ti_pt2_int(n, "dim", 0);
        TC_STOP(&n->m);
        const tc_type *t = ti_b_type(&n->m, x);
        axis = ti_b_axis(&n->m, axis, t->rank);
        tc_val rows = rows_of(n, "start", t, axis, ti_b_type(&n->m, part));
        write_rows(n, x, rows, part, axis);
        return;
    }
    int64_t dim = ti_pt2_int(n, "dim", 0), start = ti_pt2_int(n, "start", 0);
    int64_t end = ti_pt2_int(n, "end", INT64_MAX), step = ti_pt2_int(n, "step", 1);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    const void *attr = ti_pt2_slice_attr(n, t, ti_b_axis(&n->m, dim, t->rank), start, end, step);
    part = ti_b_cast(&n->m, part, t->dtype);
    ti_pt2_result(n, ti_b_2(&n->m, slice_scatter, attr, x, part));
}

/* The file has the length of each piece.  `axis` < 0: the argument "dim". */
static void split_along(tc_pt2_node *n, int64_t axis)
{
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t dim = axis < 0 ? ti_pt2_int(n, "dim", 0) : axis;
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    dim = ti_b_axis(&n->m, dim, t->rank);
    int64_t *sizes = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)n->n_result);
    for (int i = 0; i < n->n_result; i++) {
        const tc_type *piece = ti_pt2_result_type(n, i);
        if (!piece)
            return;
        sizes[i] = dim < piece->rank ? piece->dim[dim] : 0;
    }
    const void *attr = ti_b_attr(&n->m, split, dim, {n->n_result, sizes});
    tc_node *node = ti_b_ops(&n->m, TC_OP_split, attr, &x, 1, n->n_result);
    for (int i = 0; node && i < n->n_result; i++)
        ti_pt2_bind(n, i, node->out[i]);
}

static void import_split(tc_pt2_node *n)
{
    split_along(n, -1);
}
static void import_vsplit(tc_pt2_node *n)
{
    split_along(n, 0);
}
static void import_dsplit(tc_pt2_node *n)
{
    split_along(n, 2);
}

static void import_hsplit(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    if (n->m.status == TC_OK)
        split_along(n, ti_b_type(&n->m, x)->rank > 1);
}

const tc_pt2_row tc_pt2_move[] = {
    VIEW_ROW("view view_as _reshape_alias _unsafe_view unflatten.int squeeze squeeze.dim "
             "squeeze.dims unsqueeze squeeze_ squeeze_.dim squeeze_.dims unsqueeze_",
             import_reshape, reshape, PART),
    VIEW_ROW("atleast_1d atleast_2d atleast_3d", import_reshape, reshape, PART_SAME),
    VIEW_ROW("reshape reshape_as ravel", import_reshape, reshape, RESHAPED),
    VIEW_ROW("flatten.using_ints", import_reshape, reshape, RESHAPED_SAME),
    ROW("view_copy _reshape_alias_copy _reshape_copy squeeze_copy squeeze_copy.dim "
        "squeeze_copy.dims unsqueeze_copy", import_reshape, reshape, 0),
    VIEW_ROW("broadcast_tensors", import_broadcast_tensors, expand, PART),
    VIEW_ROW("meshgrid meshgrid.indexing", import_meshgrid, expand, PART),
    VIEW_ROW("permute", import_permute, permute, PART),
    ROW("permute_copy", import_permute, permute, 0),
    VIEW_ROW("transpose.int swapaxes swapdims transpose_ swapaxes_ swapdims_", import_transpose,
             permute, PART),
    ROW("transpose_copy.int", import_transpose, permute, 0),
    VIEW_ROW("t t_ numpy_T", import_reversed, permute, PART),
    ROW("t_copy", import_reversed, permute, 0),
    VIEW_ROW("mT", import_matrix_transpose, permute, PART),
    VIEW_ROW("mH adjoint matrix_H", import_adjoint, permute, PART),
    VIEW_ROW("movedim.int movedim.intlist moveaxis.int moveaxis.intlist", import_movedim, permute,
             PART),
    VIEW_ROW("slice.Tensor", import_slice, slice, PART),
    ROW("slice_copy.Tensor", import_slice, slice, 0),
    VIEW_ROW("narrow", import_narrow, slice, PART),
    ROW("narrow_copy", import_narrow, slice, 0),
    VIEW_ROW("select.int", import_select, select, PART),
    ROW("select_copy.int", import_select, select, 0),
    ROW("select_scatter", import_select_scatter, select_scatter, 0),
    ROW("slice_scatter", import_slice_scatter, slice_scatter, 0),
    VIEW_ROW("split.Tensor split.sizes split_with_sizes chunk tensor_split.sections "
        "tensor_split.indices", import_split, split, PART),
    ROW("split_copy.Tensor split_with_sizes_copy unsafe_split.Tensor unsafe_split_with_sizes "
        "unsafe_chunk", import_split, split, 0),
    VIEW_ROW("hsplit.int hsplit.array", import_hsplit, split, PART),
    VIEW_ROW("vsplit.int vsplit.array", import_vsplit, split, PART),
    VIEW_ROW("dsplit.int dsplit.array", import_dsplit, split, PART),
    {0},
};
