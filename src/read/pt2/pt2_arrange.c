/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_arrange.c -- importers of operators that concatenate, repeat, rotate and pad tensors, and
 * read them along diagonals. */
#include "pt2.h"

/* Joining. */

/* x with as many axes as atleast_1d, _2d or _3d gives it. */
static tc_val at_least(tc_pt2_node *n, tc_val x, int rank)
{
    const tc_type *t = ti_b_type(&n->m, x);
    if (t->rank >= rank)
        return x;
    int64_t dim[3] = {1, 1, 1};
    if (t->rank == 1)
        dim[rank > 1 ? 1 : 0] = t->dim[0];
    if (t->rank == 2) {
        dim[0] = t->dim[0];
        dim[1] = t->dim[1];
    }
    return ti_b_reshape(&n->m, x, rank, dim);
}

/* Every tensor in the result's element type; old programs join lists of nothing, which are left
 * out. */
static void join(tc_pt2_node *n, tc_op op, tc_val *x, int count, int64_t axis)
{
    const tc_type *y = ti_pt2_result_type(n, 0);
    int kept = 0;
    for (int i = 0; y && i < count && n->m.status == TC_OK; i++) {
        const tc_type *t = ti_b_type(&n->m, x[i]);
        if (op == TC_OP_cat && t->rank == 1 && t->dim[0] == 0 &&
            (y->rank > 1 || (kept == 0 && i + 1 < count)))
            continue;
        x[kept++] = ti_b_cast(&n->m, x[i], y->dtype);
    }
    if (n->m.status == TC_OK && !kept)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "there is nothing to concatenate");
    const void *attr = ti_b_attr(&n->m, axis, axis);
    ti_pt2_result(n, ti_b_op(&n->m, op, attr, x, kept));
}

static void import_join(tc_pt2_node *n)
{
    int count;
    tc_val *x = ti_pt2_list_of(n, "tensors", &count);
    int64_t dim = ti_pt2_int(n, ti_pt2_has(n, "axis") ? "axis" : "dim", 0);
    const tc_type *y = ti_pt2_result_type(n, 0);
    if (n->m.status == TC_OK)
        join(n, n->row->op, x, count, ti_b_axis(&n->m, dim, y->rank));
}

/* hstack, vstack, dstack: extra is the least rank; the axis is the last of those. */
static void import_dim_stack(tc_pt2_node *n)
{
    int count, rank = (int)n->row->extra;
    tc_val *x = ti_pt2_list_of(n, "tensors", &count);
    for (int i = 0; i < count && n->m.status == TC_OK; i++)
        x[i] = at_least(n, x[i], rank);
    if (n->m.status != TC_OK || !count)
        return;
    int64_t axis = rank == 1 ? (ti_b_type(&n->m, x[0])->rank > 1) : rank == 2 ? 0 : 2;
    join(n, TC_OP_cat, x, count, axis);
}

/* Lists become columns. */
static void import_column_stack(tc_pt2_node *n)
{
    int count;
    tc_val *x = ti_pt2_list_of(n, "tensors", &count);
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        const tc_type *t = ti_b_type(&n->m, x[i]);
        int64_t column[2] = {tc_type_count(t), 1};
        if (t->rank < 2)
            x[i] = ti_b_reshape(&n->m, x[i], 2, column);
    }
    if (n->m.status == TC_OK)
        join(n, TC_OP_cat, x, count, 1);
}

/* Repeating and turning. */

static void import_repeat(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints given = ti_pt2_ints(n, ti_pt2_has(n, "repeats") ? "repeats" : "dims");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank, lead = given.n < rank ? rank - given.n : 0;
    int64_t *repeats = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)(given.n + lead));
    for (int i = 0; i < given.n + lead; i++)
        repeats[i] = i < lead ? 1 : given.v[i - lead];
    ti_pt2_result(n, ti_b_1(&n->m, repeat, ti_b_attr(&n->m, repeat, {given.n + lead, repeats}), x));
}

/* A quarter turn is a flip and a transpose, half a turn two flips. */
static void import_rot90(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t k = ((ti_pt2_int(n, "k", 1) % 4) + 4) % 4, plane[2] = {0, 1};
    tc_ints dims = ti_pt2_ints(n, "dims");
    TC_STOP(&n->m);
    for (int i = 0; i < dims.n && i < 2; i++)
        plane[i] = dims.v[i];
    for (int i = 0; i < 2; i++)
        plane[i] = ti_b_axis(&n->m, plane[i], ti_b_type(&n->m, x)->rank);
    tc_ints axes = k == 2   ? ti_ints_copy(&n->m.ctx->arena, plane, 2)
                   : k == 0 ? (tc_ints){0, NULL}
                            : ti_ints_copy(&n->m.ctx->arena, &plane[k == 1], 1);
    tc_val y = ti_b_1(&n->m, flip, ti_b_attr(&n->m, flip, axes), x);
    if (k % 2)
        y = ti_b_swap(&n->m, y, (int)plane[0], (int)plane[1]);
    ti_pt2_result(n, y);
}

static void import_roll(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints shifts = ti_pt2_ints(n, "shifts"), dims = ti_pt2_ints(n, "dims");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    tc_val from = dims.n ? x : ti_b_flat(&n->m, x);
    int64_t *axes = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)(dims.n ? dims.n : 1));
    for (int i = 0; i < dims.n; i++)
        axes[i] = ti_b_axis(&n->m, dims.v[i], t->rank);
    const void *attr = ti_b_attr(&n->m, roll, shifts, {dims.n ? dims.n : 1, axes});
    tc_val y = ti_b_1(&n->m, roll, attr, from);
    ti_pt2_result(n, dims.n ? y : ti_b_reshape_as(&n->m, y, t));
}

/* Borders: PyTorch lists them from the last axis, ours from the first. */
static void pad(tc_pt2_node *n, tc_val x, tc_ints given, tc_field_pad_mode mode, double value)
{
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    if (given.n % 2 || given.n > 2 * rank) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the padding does not fit the tensor's rank");
        return;
    }
    int64_t list[2 * TC_MAX_RANK] = {0};
    for (int i = 0; i < given.n; i++)
        list[2 * (rank - 1 - i / 2) + i % 2] = given.v[i];
    tc_ints all = ti_ints_copy(&n->m.ctx->arena, list, 2 * rank);
    ti_pt2_result(n, ti_b_1(&n->m, pad, ti_b_attr(&n->m, pad, all, mode, value), x));
}

static void import_pad(tc_pt2_node *n)
{
    static const char *const mode[] = {"constant", "reflect", "replicate", "circular"};
    const char *name = ti_pt2_text(n, "mode", "constant");
    for (int i = 0; i < (int)TC_COUNT(mode); i++)
        if (ti_text_eq(name, mode[i])) {
            pad(n, ti_pt2_tensor(n, "self"), ti_pt2_ints(n, "pad"), (tc_field_pad_mode)i,
                ti_pt2_float(n, "value", 0));
            return;
        }
    ti_b_unsupported(&n->m, "a padding mode that is not known");
}

static void import_constant_pad(tc_pt2_node *n)
{
    pad(n, ti_pt2_tensor(n, "self"), ti_pt2_ints(n, "pad"), TC_pad_mode_constant,
        ti_pt2_float(n, "value", 0));
}

static void import_border_pad(tc_pt2_node *n)
{
    pad(n, ti_pt2_tensor(n, "self"), ti_pt2_ints(n, "padding"), (tc_field_pad_mode)n->row->extra,
        0);
}

/* Diagonals. */

static tc_val diagonal(tc_pt2_node *n, tc_val x, int64_t offset, int64_t dim1, int64_t dim2)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    int rank = ti_b_type(&n->m, x)->rank;
    int64_t a = ti_b_axis(&n->m, dim1, rank), b = ti_b_axis(&n->m, dim2, rank);
    return ti_b_1(&n->m, diagonal, ti_b_attr(&n->m, diagonal, offset, a, b), x);
}

/* The last axis of x on a diagonal of zeros, as two new last axes: every row holds x, shifted so
 * that its elements are in their columns, and keeps the one on the diagonal. */
static tc_val embed(tc_pt2_node *n, tc_val x, int64_t offset)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t side = t->rank && offset > -INT32_MAX && offset < INT32_MAX
                       ? t->dim[t->rank - 1] + (offset < 0 ? -offset : offset) : -1;
    if (t->rank < 1 || t->rank >= TC_MAX_RANK || side < 0 || side > 1 << 13) {
        ti_b_unsupported(&n->m, "a diagonal of this rank or length");
        return TC_NONE;
    }
    int64_t border[2 * TC_MAX_RANK] = {0}, dim[TC_MAX_RANK];
    border[2 * (t->rank - 1) + (offset < 0)] = offset < 0 ? -offset : offset;
    tc_ints borders = ti_ints_copy(&n->m.ctx->arena, border, 2 * t->rank);
    tc_val row =
        ti_b_1(&n->m, pad, ti_b_attr(&n->m, pad, borders, TC_pad_mode_constant, 0), x);
    row = ti_b_unsqueeze(&n->m, row, t->rank - 1);
    memcpy(dim, t->dim, sizeof dim);
    dim[t->rank - 1] = dim[t->rank] = side;
    row = ti_b_expand(&n->m, row, t->rank + 1, dim);
    uint8_t *keep = tc_new_n(&n->m.ctx->arena, uint8_t, (size_t)(side * side));
    for (int64_t i = 0; i < side; i++)
        if (i + offset >= 0 && i + offset < side)
            keep[i * side + i + offset] = 1;
    const tc_type *square = ti_type_make(n->m.ctx, TC_bool, 2, (int64_t[]){side, side});
    tc_val mask = ti_b_const(&n->m, (tc_tensor){square, keep}, NULL);
    return ti_b_where(&n->m, mask, row, ti_b_scalar(&n->m, t->dtype, 0));
}

static void import_diag_embed(tc_pt2_node *n)
{
    int64_t offset = ti_pt2_int(n, "offset", 0), dim1 = ti_pt2_int(n, "dim1", -2),
            dim2 = ti_pt2_int(n, "dim2", -1);
    tc_val y = embed(n, ti_pt2_tensor(n, "self"), offset);
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, y)->rank, from = 0;
    int64_t a = ti_b_axis(&n->m, dim1, rank), b = ti_b_axis(&n->m, dim2, rank), perm[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i == a ? rank - 2 : i == b ? rank - 1 : from++;
    ti_pt2_result(n, ti_b_permute(&n->m, y, perm));
}

static void import_diag(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t offset = ti_pt2_int(n, "diagonal", 0);
    TC_STOP(&n->m);
    bool matrix = ti_b_type(&n->m, x)->rank == 2;
    ti_pt2_result(n, matrix ? diagonal(n, x, offset, 0, 1) : embed(n, x, offset));
}

/* All elements of x on a diagonal. */
static void import_diagflat(tc_pt2_node *n)
{
    tc_val x = ti_b_flat(&n->m, ti_pt2_tensor(n, "self"));
    ti_pt2_result(n, embed(n, x, ti_pt2_int(n, "offset", 0)));
}

/* One number on the diagonal; wrap: it begins again below the square that a high matrix ends with. */
static void import_fill_diagonal(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), value = ti_pt2_operand(n, "fill_value", x);
    bool wrap = ti_pt2_bool(n, "wrap", false);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t count = tc_type_count(t), side = t->rank ? t->dim[0] : 0, step = 0;
    for (int i = 0; i < t->rank; i++) {
        side = ti_min_i64(side, t->dim[i]);
        step = step * t->dim[i] + 1;
    }
    int64_t most = wrap && t->rank == 2 ? count : ti_min_i64(count, side * step);
    tc_tensor mask = ti_b_tensor(&n->m, TC_bool, t->rank, t->dim);
    for (int64_t i = 0; i < most && step; i += step)
        ((uint8_t *)mask.data)[i] = 1;
    value = ti_b_cast(&n->m, value, t->dtype);
    ti_pt2_result(n, ti_b_where(&n->m, ti_b_const(&n->m, mask, NULL), value, x));
}

const tc_pt2_row tc_pt2_arrange[] = {
    ROW("cat concat concatenate", import_join, cat, 0),
    ROW("stack", import_join, stack, 0),
    ROW("hstack", import_dim_stack, cat, 1),
    ROW("vstack row_stack", import_dim_stack, cat, 2),
    ROW("dstack", import_dim_stack, cat, 3),
    ROW("column_stack", import_column_stack, cat, 0),
    ROW("repeat tile", import_repeat, repeat, 0),
    ROW("rot90", import_rot90, flip, 0),
    ROW("roll", import_roll, roll, 0),
    ROW("pad", import_pad, pad, 0),
    ROW("constant_pad_nd", import_constant_pad, pad, 0),
    ROW("reflection_pad1d reflection_pad2d reflection_pad3d",
        import_border_pad, pad, TC_pad_mode_reflect),
    ROW("replication_pad1d replication_pad2d replication_pad3d",
        import_border_pad, pad, TC_pad_mode_replicate),
    ROW("diag_embed", import_diag_embed, where, 0),
    ROW("diag", import_diag, diagonal, 0),
    ROW("diagflat", import_diagflat, where, 0),
    ROW("fill_diagonal", import_fill_diagonal, where, 0),
    {0},
};
