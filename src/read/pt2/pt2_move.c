/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_move.c -- importers of operators that put numbers elsewhere.
 *
 * Where the file states the result's shape, that is what the operator is given: reshape serves
 * view, flatten, squeeze and their kin alike.  A row's `extra` is 1 when ATen returns a view, 0
 * for a copy; unsqueeze_ and its like change how a tensor is looked at, not its numbers, and are
 * views too. */
#include "pt2.h"

/* Numbers lie in memory in the order of x's axes: it is no transposed, strided or repeated view. */
static bool packed(const tc_pt2_node *n, tc_val x)
{
    const tc_node *def = tc_def(n->m.g, x);
    if (!def)
        return true;
    switch (def->op) {
    case TC_OP_permute:
    case TC_OP_expand:
    case TC_OP_diagonal:
    case TC_OP_as_strided:
    case TC_OP_unfold:
    case TC_OP_real:
    case TC_OP_imag:
        return false;
    case TC_OP_slice:
        return ((const tc_attr_slice *)def->attr)->axis == 0 &&
               ((const tc_attr_slice *)def->attr)->step == 1;
    case TC_OP_select:
        return ((const tc_attr_select *)def->attr)->axis == 0;
    case TC_OP_split:
        return ((const tc_attr_split *)def->attr)->axis == 0;
    case TC_OP_unbind:
        return ((const tc_attr_axis *)def->attr)->axis == 0;
    default:
        return true;
    }
}

static void import_reshape(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_ints shape = tc_pt2_dims(n, tc_pt2_result_type(n, 0));
    if (n->m.status != TC_OK)
        return;
    tc_pt2_result(n, x, tc_b_reshape(&n->m, x, shape.n, shape.v), row->extra != 0 && packed(n, x));
}

static void import_broadcast_tensors(tc_pt2_node *n, const tc_pt2_row *row)
{
    int count;
    tc_val *x = tc_pt2_list_of(n, "tensors", &count);
    (void)row;
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        tc_val y = tc_b_expand_as(&n->m, x[i], tc_pt2_result_type(n, i));
        if (n->m.status != TC_OK)
            return;
        tc_pt2_bind(n, i, y);
        tc_pt2_view(n, x[i], y);
    }
}

/* Tensor i varies along axis i; "xy" has the first two the other way around. */
static void import_meshgrid(tc_pt2_node *n, const tc_pt2_row *row)
{
    int count;
    tc_val *x = tc_pt2_list_of(n, "tensors", &count);
    bool swapped = tc_text_eq(tc_pt2_text(n, "indexing", "ij"), "xy");
    (void)row;
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        const tc_type *y = tc_pt2_result_type(n, i);
        if (!y)
            return;
        int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        int axis = swapped && i < 2 && count > 1 ? 1 - i : i;
        if (axis >= y->rank) {
            tc_b_bad(&n->m, TC_E_SHAPE, "more tensors than axes in the result");
            return;
        }
        dim[axis] = tc_type_count(tc_b_type(&n->m, x[i]));
        tc_val line = tc_b_reshape(&n->m, x[i], y->rank, dim);
        tc_val all = tc_b_expand_as(&n->m, line, y);
        if (n->m.status == TC_OK)
            tc_pt2_bind(n, i, all);
    }
}

/* Orders of axes. */

static void import_permute(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_ints dims = tc_pt2_ints(n, "dims");
    if (n->m.status != TC_OK)
        return;
    int rank = tc_b_type(&n->m, x)->rank;
    if (dims.n != rank) {
        tc_b_bad(&n->m, TC_E_ARGUMENT, "the list of axes is not as long as the tensor's rank");
        return;
    }
    tc_ints perm = tc_pt2_axes(n, dims, rank);
    tc_pt2_result(n, x, tc_b_permute(&n->m, x, perm.v), row->extra);
}

/* transpose, swapaxes and swapdims differ in what they call the two axes. */
static void import_transpose(tc_pt2_node *n, const tc_pt2_row *row)
{
    const char *first = tc_pt2_has(n, "axis0") ? "axis0" : "dim0";
    const char *second = tc_pt2_has(n, "axis1") ? "axis1" : "dim1";
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t a = tc_pt2_need_int(n, first), b = tc_pt2_need_int(n, second);
    if (n->m.status != TC_OK)
        return;
    int rank = tc_b_type(&n->m, x)->rank;
    tc_val y = tc_b_swap(&n->m, x, tc_b_axis(&n->m, a, rank), tc_b_axis(&n->m, b, rank));
    tc_pt2_result(n, x, y, row->extra);
}

/* t: at most two axes, backwards. */
static void import_reversed(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    if (n->m.status != TC_OK)
        return;
    int64_t perm[TC_MAX_RANK];
    int rank = tc_b_type(&n->m, x)->rank;
    for (int i = 0; i < rank; i++)
        perm[i] = rank - 1 - i;
    tc_pt2_result(n, x, tc_b_permute(&n->m, x, perm), row->extra);
}

static void import_matrix_transpose(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    if (n->m.status != TC_OK)
        return;
    int rank = tc_b_type(&n->m, x)->rank;
    if (rank < 2) {
        tc_b_bad(&n->m, TC_E_SHAPE, "a matrix has two axes or more");
        return;
    }
    tc_pt2_result(n, x, tc_b_swap(&n->m, x, rank - 2, rank - 1), row->extra);
}

static void import_movedim(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_ints source = tc_pt2_ints(n, "source"), destination = tc_pt2_ints(n, "destination");
    if (n->m.status != TC_OK)
        return;
    int rank = tc_b_type(&n->m, x)->rank;
    if (source.n != destination.n || source.n > rank) {
        tc_b_bad(&n->m, TC_E_ARGUMENT, "source and destination are not equally many axes");
        return;
    }
    int64_t perm[TC_MAX_RANK];
    bool moved[TC_MAX_RANK] = {false}, taken[TC_MAX_RANK] = {false};
    for (int i = 0; i < source.n; i++) {
        int64_t from = tc_b_axis(&n->m, source.v[i], rank),
                to = tc_b_axis(&n->m, destination.v[i], rank);
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
    tc_pt2_result(n, x, rank ? tc_b_permute(&n->m, x, perm) : x, rank ? row->extra : 0);
}

/* Parts. */

static void import_slice(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t dim = tc_pt2_int(n, "dim", 0), start = tc_pt2_int(n, "start", 0);
    int64_t end = tc_pt2_int(n, "end", INT64_MAX), step = tc_pt2_int(n, "step", 1);
    if (n->m.status != TC_OK)
        return;
    tc_val y = tc_pt2_slice(n, x, tc_b_axis(&n->m, dim, tc_b_type(&n->m, x)->rank), start, end,
                            step);
    tc_pt2_result(n, x, y, row->extra);
}

static void import_narrow(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t dim = tc_pt2_need_int(n, "dim"), start = tc_pt2_need_int(n, "start");
    int64_t length = tc_pt2_need_int(n, "length");
    if (n->m.status != TC_OK)
        return;
    const tc_type *t = tc_b_type(&n->m, x);
    int64_t axis = tc_b_axis(&n->m, dim, t->rank), extent = t->rank ? t->dim[axis] : 0;
    start = start < 0 ? start + extent : start;
    if (start < 0 || start > extent || length < 0 || length > extent - start) {
        tc_b_bad(&n->m, TC_E_ARGUMENT, "the part reaches past the axis");
        return;
    }
    tc_pt2_result(n, x, tc_pt2_slice(n, x, axis, start, start + length, 1), row->extra);
}

/* The axis and the place there, counted from the front. */
static tc_attr_select *select_attr(tc_pt2_node *n, tc_val x)
{
    int64_t dim = tc_pt2_need_int(n, "dim"), index = tc_pt2_need_int(n, "index");
    if (n->m.status != TC_OK)
        return NULL;
    const tc_type *t = tc_b_type(&n->m, x);
    int64_t axis = tc_b_axis(&n->m, dim, t->rank);
    return tc_b_attr(&n->m, select, axis, index < 0 && t->rank ? index + t->dim[axis] : index);
}

static void import_select(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    const void *attr = select_attr(n, x);
    tc_pt2_result(n, x, tc_b_1(&n->m, select, attr, x), row->extra);
}

static void import_select_scatter(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), part = tc_pt2_tensor(n, "src");
    const tc_attr_select *a = select_attr(n, x);
    (void)row;
    if (n->m.status == TC_OK)
        part = tc_b_cast(&n->m, part, tc_b_type(&n->m, x)->dtype);
    tc_pt2_result(n, x, tc_b_2(&n->m, select_scatter, a, x, part), 0);
}

static void import_slice_scatter(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), part = tc_pt2_tensor(n, "src");
    int64_t dim = tc_pt2_int(n, "dim", 0), start = tc_pt2_int(n, "start", 0);
    int64_t end = tc_pt2_int(n, "end", INT64_MAX), step = tc_pt2_int(n, "step", 1);
    (void)row;
    if (n->m.status != TC_OK)
        return;
    const tc_type *t = tc_b_type(&n->m, x);
    const void *attr = tc_pt2_slice_attr(n, t, tc_b_axis(&n->m, dim, t->rank), start, end, step);
    part = tc_b_cast(&n->m, part, t->dtype);
    tc_pt2_result(n, x, tc_b_2(&n->m, slice_scatter, attr, x, part), 0);
}

/* The file says how long each piece is.  `axis` < 0: the argument "dim". */
static void split_along(tc_pt2_node *n, const tc_pt2_row *row, int64_t axis)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t dim = axis < 0 ? tc_pt2_int(n, "dim", 0) : axis;
    if (n->m.status != TC_OK)
        return;
    const tc_type *t = tc_b_type(&n->m, x);
    dim = tc_b_axis(&n->m, dim, t->rank);
    int64_t *sizes = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)n->n_result);
    for (int i = 0; i < n->n_result; i++) {
        const tc_type *piece = tc_pt2_result_type(n, i);
        if (!piece)
            return;
        sizes[i] = dim < piece->rank ? piece->dim[dim] : 0;
    }
    const void *attr = tc_b_attr(&n->m, split, dim, {n->n_result, sizes});
    tc_node *node = tc_b_ops(&n->m, TC_OP_split, attr, &x, 1, n->n_result);
    for (int i = 0; node && i < n->n_result; i++) {
        tc_pt2_bind(n, i, node->out[i]);
        if (row->extra != 0)
            tc_pt2_view(n, x, node->out[i]);
    }
}

static void import_split(tc_pt2_node *n, const tc_pt2_row *row)
{
    split_along(n, row, -1);
}
static void import_vsplit(tc_pt2_node *n, const tc_pt2_row *row)
{
    split_along(n, row, 0);
}
static void import_dsplit(tc_pt2_node *n, const tc_pt2_row *row)
{
    split_along(n, row, 2);
}

static void import_hsplit(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    if (n->m.status == TC_OK)
        split_along(n, row, tc_b_type(&n->m, x)->rank > 1);
}

const tc_pt2_row tc_pt2_move[] = {
    {"aten.view.default", import_reshape, TC_OP_reshape, 1},
    {"aten._unsafe_view.default", import_reshape, TC_OP_reshape, 0},
    {"aten.view_copy.default", import_reshape, TC_OP_reshape, 0},
    {"aten.view_as.default", import_reshape, TC_OP_reshape, 1},
    {"aten.reshape.default", import_reshape, TC_OP_reshape, 1},
    {"aten.reshape_as.default", import_reshape, TC_OP_reshape, 1},
    {"aten._reshape_alias.default", import_reshape, TC_OP_reshape, 1},
    {"aten._reshape_alias_copy.default", import_reshape, TC_OP_reshape, 0},
    {"aten._reshape_copy.default", import_reshape, TC_OP_reshape, 0},
    {"aten.ravel.default", import_reshape, TC_OP_reshape, 1},
    {"aten.flatten.using_ints", import_reshape, TC_OP_reshape, 1},
    {"aten.unflatten.int", import_reshape, TC_OP_reshape, 1},
    {"aten.squeeze.default", import_reshape, TC_OP_reshape, 1},
    {"aten.squeeze.dim", import_reshape, TC_OP_reshape, 1},
    {"aten.squeeze.dims", import_reshape, TC_OP_reshape, 1},
    {"aten.squeeze_copy.default", import_reshape, TC_OP_reshape, 0},
    {"aten.squeeze_copy.dim", import_reshape, TC_OP_reshape, 0},
    {"aten.squeeze_copy.dims", import_reshape, TC_OP_reshape, 0},
    {"aten.unsqueeze.default", import_reshape, TC_OP_reshape, 1},
    {"aten.unsqueeze_copy.default", import_reshape, TC_OP_reshape, 0},
    {"aten.squeeze_.default", import_reshape, TC_OP_reshape, 1},
    {"aten.squeeze_.dim", import_reshape, TC_OP_reshape, 1},
    {"aten.squeeze_.dims", import_reshape, TC_OP_reshape, 1},
    {"aten.unsqueeze_.default", import_reshape, TC_OP_reshape, 1},
    {"aten.atleast_1d.default", import_reshape, TC_OP_reshape, 1},
    {"aten.atleast_2d.default", import_reshape, TC_OP_reshape, 1},
    {"aten.atleast_3d.default", import_reshape, TC_OP_reshape, 1},

    {"aten.broadcast_tensors.default", import_broadcast_tensors, TC_OP_expand, 1},
    {"aten.meshgrid.default", import_meshgrid, TC_OP_expand, 0},
    {"aten.meshgrid.indexing", import_meshgrid, TC_OP_expand, 0},

    {"aten.permute.default", import_permute, TC_OP_permute, 1},
    {"aten.permute_copy.default", import_permute, TC_OP_permute, 0},
    {"aten.transpose.int", import_transpose, TC_OP_permute, 1},
    {"aten.transpose_copy.int", import_transpose, TC_OP_permute, 0},
    {"aten.swapaxes.default", import_transpose, TC_OP_permute, 1},
    {"aten.swapdims.default", import_transpose, TC_OP_permute, 1},
    {"aten.t.default", import_reversed, TC_OP_permute, 1},
    {"aten.t_copy.default", import_reversed, TC_OP_permute, 0},
    {"aten.transpose_.default", import_transpose, TC_OP_permute, 1},
    {"aten.swapaxes_.default", import_transpose, TC_OP_permute, 1},
    {"aten.swapdims_.default", import_transpose, TC_OP_permute, 1},
    {"aten.t_.default", import_reversed, TC_OP_permute, 1},
    {"aten.numpy_T.default", import_reversed, TC_OP_permute, 1},
    {"aten.mT.default", import_matrix_transpose, TC_OP_permute, 1},
    {"aten.adjoint.default", import_matrix_transpose, TC_OP_permute, 1},
    {"aten.movedim.int", import_movedim, TC_OP_permute, 1},
    {"aten.movedim.intlist", import_movedim, TC_OP_permute, 1},
    {"aten.moveaxis.int", import_movedim, TC_OP_permute, 1},
    {"aten.moveaxis.intlist", import_movedim, TC_OP_permute, 1},

    {"aten.slice.Tensor", import_slice, TC_OP_slice, 1},
    {"aten.slice_copy.Tensor", import_slice, TC_OP_slice, 0},
    {"aten.narrow.default", import_narrow, TC_OP_slice, 1},
    {"aten.narrow_copy.default", import_narrow, TC_OP_slice, 0},
    {"aten.select.int", import_select, TC_OP_select, 1},
    {"aten.select_copy.int", import_select, TC_OP_select, 0},
    {"aten.select_scatter.default", import_select_scatter, TC_OP_select_scatter, 0},
    {"aten.slice_scatter.default", import_slice_scatter, TC_OP_slice_scatter, 0},
    {"aten.split.Tensor", import_split, TC_OP_split, 1},
    {"aten.split.sizes", import_split, TC_OP_split, 1},
    {"aten.split_copy.Tensor", import_split, TC_OP_split, 0},
    {"aten.split_with_sizes.default", import_split, TC_OP_split, 1},
    {"aten.split_with_sizes_copy.default", import_split, TC_OP_split, 0},
    {"aten.unsafe_split.Tensor", import_split, TC_OP_split, 0},
    {"aten.unsafe_split_with_sizes.default", import_split, TC_OP_split, 0},
    {"aten.chunk.default", import_split, TC_OP_split, 1},
    {"aten.unsafe_chunk.default", import_split, TC_OP_split, 0},
    {"aten.tensor_split.sections", import_split, TC_OP_split, 1},
    {"aten.tensor_split.indices", import_split, TC_OP_split, 1},
    {"aten.hsplit.int", import_hsplit, TC_OP_split, 1},
    {"aten.hsplit.array", import_hsplit, TC_OP_split, 1},
    {"aten.vsplit.int", import_vsplit, TC_OP_split, 1},
    {"aten.vsplit.array", import_vsplit, TC_OP_split, 1},
    {"aten.dsplit.int", import_dsplit, TC_OP_split, 1},
    {"aten.dsplit.array", import_dsplit, TC_OP_split, 1},
    {NULL, NULL, TC_OP_COUNT, 0},
};
