/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_index.c -- importers of operators that read and write at indices given by tensors.
 *
 * A mask of bools selects as many elements as it has ones.  To read there, the mask must be
 * constant, and becomes lists of indices; a scalar written there is a select between it and the old
 * value. */
#include "../../num/load.h"
#include <math.h>

#include "pt2.h"

static bool is_mask(const tc_pt2_node *n, tc_val index)
{
    tc_dtype t = index ? ti_b_type(&n->m, index)->dtype : TC_none;
    return t == TC_bool || t == TC_u8;
}

/* The indices as integers; `out` has room for one per axis.  The count, or -1 after a message. */
static int as_integers(tc_pt2_node *n, const tc_val *index, int count, tc_val *out)
{
    int k = 0;
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        int axes = is_mask(n, index[i]) ? ti_b_type(&n->m, index[i])->rank : 1;
        if (k + axes > TC_MAX_RANK) {
            ti_b_bad(&n->m, TC_E_SHAPE, "more indices than a tensor has axes");
        } else if (!is_mask(n, index[i])) {
            out[k] = index[i];
        } else if (!ti_pt2_places(n, index[i], out + k)) {
            ti_b_unsupported(&n->m,
                             "a mask that is not constant gives a result of unknown size");
        }
        k += axes;
    }
    return n->m.status == TC_OK ? k : -1;
}

static void import_index(tc_pt2_node *n)
{
    tc_val in[TC_MAX_RANK + 1] = {ti_pt2_tensor(n, "self")};
    int count;
    tc_val *index = ti_pt2_tensors(n, "indices", &count);
    int k = as_integers(n, index, count, in + 1);
    if (k >= 0)
        ti_pt2_result(n, ti_b_op(&n->m, TC_OP_index, NULL, in, k + 1));
}

/* x where the mask is false, `value` (one number) where it is true; the mask covers axes from `at`
 * on. */
static tc_val put_masked(tc_pt2_node *n, tc_val x, tc_val mask, int at, tc_val value,
                         bool accumulate)
{
    const tc_type *t = ti_b_type(&n->m, x), *m = ti_b_type(&n->m, mask);
    if (at + m->rank > t->rank) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the mask has more axes than the tensor");
        return TC_NONE;
    }
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        dim[i] = i >= at && i < at + m->rank ? m->dim[i - at] : 1;
    mask = ti_b_cast(&n->m, ti_b_reshape(&n->m, mask, t->rank, dim), TC_bool);
    value = ti_b_reshape(&n->m, value, 0, NULL);
    if (accumulate)
        value = ti_b_add(&n->m, x, value);
    return ti_b_where(&n->m, mask, value, x);
}

/* The position of the only index, or -1. */
static int only_index(const tc_val *index, int count)
{
    int at = -1;
    for (int i = 0; i < count; i++)
        if (index[i]) {
            if (at >= 0)
                return -1;
            at = i;
        }
    return at;
}

static void import_index_put(tc_pt2_node *n)
{
    tc_val in[TC_MAX_RANK + 2] = {ti_pt2_tensor(n, "self")};
    in[1] = ti_pt2_tensor(n, "values");
    int count;
    tc_val *index = ti_pt2_tensors(n, "indices", &count);
    bool accumulate = ti_pt2_bool(n, "accumulate", false);
    TC_STOP(&n->m);
    in[1] = ti_b_cast(&n->m, in[1], ti_b_type(&n->m, in[0])->dtype);
    int at = only_index(index, count);
    if (at >= 0 && is_mask(n, index[at]) && tc_type_count(ti_b_type(&n->m, in[1])) == 1) {
        ti_pt2_result(n, put_masked(n, in[0], index[at], at, in[1], accumulate));
        return;
    }
    for (int i = 0; i < count && i < TC_MAX_RANK; i++)
        in[i + 2] = is_mask(n, index[i]) ? ti_b_cast(&n->m, index[i], TC_bool) : index[i];
    if (count > TC_MAX_RANK)
        ti_b_bad(&n->m, TC_E_SHAPE, "more indices than a tensor has axes");
    const void *attr = ti_b_attr(&n->m, index_put, accumulate);
    ti_pt2_result(n, ti_b_op(&n->m, TC_OP_index_put, attr, in, count + 2));
}

/* 0, 1, ... each as often as the constant list `repeats` says; one entry applies to all `extent` of
 * them. */
static tc_val repeated_places(tc_pt2_node *n, tc_val repeats, int64_t extent)
{
    tc_tensor r;
    int64_t total = 0, k = 0;
    TC_STOP_WITH(&n->m, TC_NONE);
    if (!ti_b_known(&n->m, repeats, &r)) {
        ti_b_unsupported(&n->m, "repeats that are not constant make a result of unknown size");
        return TC_NONE;
    }
    int64_t given = tc_type_count(r.type);
    enum { MOST = 1 << 24 };
    bool fits = given == extent || given == 1;
    for (int64_t i = 0; i < extent && fits; i++) {
        int64_t times = ti_load_i64(r, given == 1 ? 0 : i);
        fits = times >= 0 && times <= MOST && (total += times) <= MOST;
    }
    if (!fits) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "repeats that do not fit the axis");
        return TC_NONE;
    }
    int64_t *list = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)total);
    for (int64_t i = 0; i < extent; i++)
        for (int64_t times = ti_load_i64(r, given == 1 ? 0 : i); times > 0; times--)
            list[k++] = i;
    return ti_b_list(&n->m, list, total);
}

static void import_repeat_by_list(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), repeats = ti_pt2_tensor(n, "repeats");
    int64_t dim = ti_pt2_int(n, "dim", 0);
    x = ti_pt2_has(n, "dim") ? x : ti_b_flat(&n->m, x);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, dim, t->rank);
    tc_val index = repeated_places(n, repeats, t->rank ? t->dim[axis] : 1);
    ti_pt2_result(n, ti_b_index_select(&n->m, x, index, axis));
}

/* The indices themselves. */
static void import_repeat_places(tc_pt2_node *n)
{
    tc_val repeats = ti_pt2_tensor(n, "repeats");
    TC_STOP(&n->m);
    tc_val y = repeated_places(n, repeats, tc_type_count(ti_b_type(&n->m, repeats)));
    if (n->m.status == TC_OK)
        ti_pt2_result(n, ti_b_cast(&n->m, y, ti_b_type(&n->m, repeats)->dtype));
}

/* Negative indices count from the end: constants are normalized now, others at run time. */
static tc_val from_front(tc_pt2_node *n, tc_val index, int64_t extent)
{
    tc_tensor t;
    bool known = ti_b_known(&n->m, index, &t), negative = !known;
    for (int64_t i = 0; known && i < tc_type_count(t.type); i++)
        negative = negative || ti_load_i64(t, i) < 0;
    if (n->m.status != TC_OK || !negative)
        return index;
    tc_dtype dtype = ti_b_type(&n->m, index)->dtype;
    tc_val all = ti_b_scalar(&n->m, dtype, (double)extent), zero = ti_b_scalar(&n->m, dtype, 0);
    tc_val moved = ti_b_add(&n->m, index, all);
    tc_val below = ti_b_lt(&n->m, index, zero);
    tc_val y = ti_b_where(&n->m, below, moved, index);
    return known && ti_b_known(&n->m, y, &t) ? ti_graph_const(n->m.g, t.type, t.data, NULL,
                                                              n->m.loc) : y;
}

/* gather, after x and index have been broadcast together but along the axis. */
static void import_take_along_dim(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), index = ti_pt2_tensor(n, "indices");
    if (!ti_pt2_has(n, "dim")) {
        x = ti_b_flat(&n->m, x);
        index = ti_b_flat(&n->m, index);
    }
    int64_t dim = ti_pt2_int(n, "dim", 0);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x), *i = ti_b_type(&n->m, index);
    int64_t axis = ti_b_axis(&n->m, dim, t->rank), from[TC_MAX_RANK], at[TC_MAX_RANK];
    if (i->rank != t->rank) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the indices have another rank than the tensor");
        return;
    }
    for (int k = 0; k < t->rank; k++) {
        int64_t wide = t->dim[k] == 1 ? i->dim[k] : t->dim[k];
        from[k] = k == axis ? t->dim[k] : wide;
        at[k] = k == axis ? i->dim[k] : wide;
    }
    x = ti_b_expand(&n->m, x, t->rank, from);
    index = ti_b_expand(&n->m, index, t->rank, at);
    index = from_front(n, index, t->rank ? t->dim[axis] : 1);
    ti_pt2_result(n, ti_b_gather(&n->m, x, index, axis));
}

/* Rows replaced and added. */

static void import_index_fill(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), index = ti_pt2_tensor(n, "index"),
           value = ti_pt2_operand(n, "value", x);
    int64_t dim = ti_pt2_need_int(n, "dim");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, dim, t->rank), rows[TC_MAX_RANK];
    memcpy(rows, t->dim, sizeof rows);
    rows[axis] = tc_type_count(ti_b_type(&n->m, index));
    index = from_front(n, index, t->rank ? t->dim[axis] : 1);
    value = ti_b_expand(&n->m, ti_b_cast(&n->m, value, t->dtype), t->rank, rows);
    ti_pt2_result(n, ti_b_3(&n->m, index_copy, ti_b_attr(&n->m, axis, axis), x, index, value));
}

/* The source's elements in order where the mask is true: a running count of ones says which. */
static void import_masked_scatter(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), mask = ti_pt2_tensor(n, "mask"),
           source = ti_pt2_tensor(n, "source");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t last = tc_type_count(ti_b_type(&n->m, source)) - 1;
    if (last < 0 || !tc_type_count(t)) {
        ti_pt2_result(n, ti_b_identity(&n->m, x));
        return;
    }
    mask = ti_b_expand_as(&n->m, mask, t);
    source = ti_b_cast(&n->m, ti_b_flat(&n->m, source), t->dtype);
    tc_val count = ti_b_cumsum(&n->m, ti_b_flat(&n->m, mask), 0);
    count = ti_b_sub(&n->m, count, ti_b_scalar(&n->m, TC_i64, 1));
    count = ti_b_clamp(&n->m, count, 0, (double)last);
    tc_val next = ti_b_index_select(&n->m, source, count, 0);
    next = ti_b_reshape_as(&n->m, next, t);
    ti_pt2_result(n, ti_b_where(&n->m, mask, next, x));
}

/* The two axes of the diagonal first, then elements (i, j) of a matrix of rows. */
static void import_diagonal_scatter(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), source = ti_pt2_tensor(n, "src");
    int64_t offset = ti_pt2_int(n, "offset", 0), dim1 = ti_pt2_int(n, "dim1", 0),
            dim2 = ti_pt2_int(n, "dim2", 1);
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank, part = ti_b_type(&n->m, source)->rank;
    int64_t a = ti_b_axis(&n->m, dim1, rank), b = ti_b_axis(&n->m, dim2, rank);
    if (n->m.status != TC_OK || rank < 2 || part != rank - 1 || a == b) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the source is not a diagonal of the tensor");
        return;
    }
    int64_t there[TC_MAX_RANK] = {a, b}, back[TC_MAX_RANK], last[TC_MAX_RANK] = {part - 1};
    for (int i = 0, k = 2; i < rank; i++)
        if (i != a && i != b)
            there[k++] = i;
    for (int i = 0; i < rank; i++)
        back[there[i]] = i;
    for (int i = 1; i < part; i++)
        last[i] = i - 1;
    int64_t length = ti_b_type(&n->m, source)->dim[part - 1];
    int64_t *line = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)length);
    int64_t *column = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)length);
    for (int64_t i = 0; i < length; i++) {
        line[i] = i - ti_min_i64(offset, 0);
        column[i] = i + ti_max_i64(offset, 0);
    }
    tc_val in[4] = {ti_b_permute(&n->m, x, there)};
    in[1] = ti_b_permute(&n->m, source, last);
    in[2] = ti_b_list(&n->m, line, length);
    in[3] = ti_b_list(&n->m, column, length);
    tc_val y = ti_b_op(&n->m, TC_OP_index_put, ti_b_attr(&n->m, index_put, false), in, 4);
    ti_pt2_result(n, ti_b_permute(&n->m, y, back));
}

/* Tables. */

/* Whether row `place` of the list is in the bag: offset <= place < the next offset.  [bags, rows]
 */
static tc_val bag_members(tc_pt2_node *n, tc_val offsets, int64_t rows, bool closed)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    int64_t bags = ti_b_type(&n->m, offsets)->dim[0] - closed;
    offsets = ti_b_cast(&n->m, offsets, TC_i64);
    tc_val first = ti_pt2_slice(n, offsets, 0, 0, bags, 1),
           next = ti_pt2_slice(n, offsets, 0, 1, bags + closed, 1);
    if (!closed)
        next = ti_b_2(&n->m, cat, ti_b_attr(&n->m, axis, 0), next, ti_b_list(&n->m, &rows, 1));
    tc_val place = ti_b_arange(&n->m, rows, TC_i64);
    tc_val from = ti_b_ge(&n->m, place, ti_b_unsqueeze(&n->m, first, 1));
    tc_val before = ti_b_lt(&n->m, place, ti_b_unsqueeze(&n->m, next, 1));
    return ti_b_logical_and(&n->m, from, before);
}

/* Rows of a table gathered by number and, bag by bag, added up (mode 0), averaged (1) or the
 * largest taken (2): the sum is a product with the matrix of who is in which bag. */
static void import_embedding_bag(tc_pt2_node *n)
{
    tc_val table = ti_pt2_tensor(n, "weight"), index = ti_pt2_tensor(n, "indices");
    tc_val offsets = ti_pt2_tensor(n, "offsets"),
           weight = ti_pt2_tensor_opt(n, "per_sample_weights");
    int64_t mode = ti_pt2_int(n, "mode", 0), padding = ti_pt2_int(n, "padding_idx", -1);
    bool closed = ti_pt2_bool(n, "include_last_offset", false);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, table), *list = ti_b_type(&n->m, index);
    if (list->rank != 1 || ti_b_type(&n->m, offsets)->rank != 1 || t->rank != 2 || mode < 0 ||
        mode > 2 || !ti_is_float(t->dtype)) {
        ti_b_unsupported(&n->m, "bags of other than a list of rows of floats");
        return;
    }
    tc_val rows = ti_b_embedding(&n->m, table, index);
    tc_val in = bag_members(n, offsets, list->dim[0], closed);
    if (padding >= 0)
        in = ti_b_logical_and(&n->m, in,
                              ti_b_ne(&n->m, index,
                                      ti_b_scalar(&n->m, list->dtype, (double)padding)));
    if (weight)
        rows = ti_b_mul(&n->m, rows, ti_b_unsqueeze(&n->m, weight, 1));
    int64_t one = 1;
    tc_ints axis = ti_ints_copy(&n->m.ctx->arena, &one, 1);
    tc_val share = ti_b_cast(&n->m, in, t->dtype), y;
    if (mode == 2) {
        tc_val wide = ti_b_unsqueeze(&n->m, in, 2);
        tc_val none = ti_b_scalar(&n->m, t->dtype, -INFINITY);
        tc_val each = ti_b_where(&n->m, wide, rows, none);
        tc_val most = ti_b_1(&n->m, amax, ti_b_attr(&n->m, axes, axis, false), each);
        tc_val some = ti_b_1(&n->m, any, ti_b_attr(&n->m, axes, axis, true), in);
        y = ti_b_where(&n->m, some, most, ti_b_scalar(&n->m, t->dtype, 0));
    } else
        y = ti_b_matmul(&n->m, share, rows);
    if (mode == 1) {
        tc_val count = ti_b_1(&n->m, sum, ti_b_attr(&n->m, axes, axis, true), share);
        count = ti_b_clamp(&n->m, count, 1, INFINITY);
        y = ti_b_div(&n->m, y, count);
    }
    ti_pt2_bind(n, 0, y);
}

/* Each number compared with 0, 1, ... along a new last axis. */
static void import_one_hot(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    const tc_type *y = ti_pt2_result_type(n, 0);
    TC_STOP(&n->m);
    int64_t classes = y->rank ? y->dim[y->rank - 1] : 0;
    tc_val number = ti_b_arange(&n->m, classes, TC_i64);
    tc_val same = ti_b_eq(&n->m, ti_b_unsqueeze(&n->m, x, ti_b_type(&n->m, x)->rank), number);
    ti_pt2_result(n, ti_b_cast(&n->m, same, TC_i64));
}

/* The index of each element of x in its own sorted row: how many are before it. */
static tc_val searched_rows(tc_pt2_node *n, tc_val x, tc_val rows, bool right)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    int rank = ti_b_type(&n->m, rows)->rank;
    if (ti_b_type(&n->m, x)->rank != rank || rank >= TC_MAX_RANK) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the numbers have another rank than the sorted sequences");
        return TC_NONE;
    }
    rows = ti_b_unsqueeze(&n->m, rows, rank - 1);
    x = ti_b_unsqueeze(&n->m, x, rank);
    tc_val after = right ? ti_b_gt(&n->m, rows, x) : ti_b_ge(&n->m, rows, x);
    int64_t last = rank;
    tc_ints axes = ti_ints_copy(&n->m.ctx->arena, &last, 1);
    return ti_b_sum(&n->m, ti_b_logical_not(&n->m, after), axes, false);
}

/* bucketize(self, boundaries) and searchsorted(sorted_sequence, self), with one sequence for all or
 * one for each row. */
static void import_bucketize(tc_pt2_node *n)
{
    tc_val edges = ti_pt2_tensor(n, n->row->extra != 0 ? "sorted_sequence" : "boundaries");
    tc_val x = ti_pt2_operand(n, "self", edges), order = ti_pt2_tensor_opt(n, "sorter");
    bool right =
        ti_pt2_bool(n, "right", false) || ti_text_eq(ti_pt2_text(n, "side", "left"), "right");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, edges)->rank;
    if (order)
        edges = ti_b_gather(&n->m, edges, order, rank - 1);
    tc_val y = rank == 1
                   ? ti_b_2(&n->m, bucketize, ti_b_attr(&n->m, bucketize, right), x, edges)
                   : searched_rows(n, x, edges, right);
    ti_pt2_result(n, ti_pt2_bool(n, "out_int32", false) ? ti_b_cast(&n->m, y, TC_i32) : y);
}

/* Rows combined with those of the source: scatter, with the same index for all of a row. */
static void import_index_reduce(tc_pt2_node *n)
{
    static const char *const word[] = {"prod", "mean", "amax", "amin"};
    static const tc_field_combine combine[] = {TC_combine_prod, TC_combine_mean, TC_combine_amax,
                                               TC_combine_amin};
    tc_val x = ti_pt2_tensor(n, "self"), index = ti_pt2_tensor(n, "index"),
           source = ti_pt2_tensor(n, "source");
    const char *how = ti_pt2_text(n, "reduce", "");
    int64_t dim = ti_pt2_need_int(n, "dim"), column[TC_MAX_RANK];
    size_t k = 0;
    TC_STOP(&n->m);
    while (k < TC_COUNT(word) && !ti_text_eq(word[k], how))
        k++;
    if (k == TC_COUNT(word)) {
        ti_b_unsupported(&n->m, "a way to combine rows that is not known");
        return;
    }
    const tc_type *t = ti_b_type(&n->m, source);
    int axis = ti_b_axis(&n->m, dim, t->rank);
    for (int i = 0; i < t->rank; i++)
        column[i] = i == axis ? t->dim[i] : 1;
    index = ti_b_expand_as(&n->m, ti_b_reshape(&n->m, index, t->rank, column), t);
    source = ti_b_cast(&n->m, source, ti_b_type(&n->m, x)->dtype);
    bool self = ti_pt2_bool(n, "include_self", true);
    const void *attr = ti_b_attr(&n->m, scatter, axis, combine[k], self);
    ti_pt2_result(n, ti_b_3(&n->m, scatter, attr, x, index, source));
}

/* Elements scattered back to the indices in their plane that they came from, zeros elsewhere. */
static void import_max_unpool(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), index = ti_pt2_tensor(n, "indices");
    const tc_type *y = ti_pt2_result_type(n, 0);
    int plane = (int)n->row->extra;
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int lead = t->rank - plane;
    if (lead < 1 || y->rank != t->rank) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the numbers have no channels");
        return;
    }
    int64_t from[TC_MAX_RANK], to[TC_MAX_RANK];
    memcpy(from, t->dim, sizeof from);
    memcpy(to, y->dim, sizeof to);
    for (int i = lead + 1; i < t->rank; i++) {
        from[lead] *= t->dim[i];
        to[lead] *= y->dim[i];
    }
    x = ti_b_reshape(&n->m, x, lead + 1, from);
    index = ti_b_reshape(&n->m, index, lead + 1, from);
    tc_val zeros = ti_b_full(&n->m, lead + 1, to, 0, t->dtype);
    const void *attr = ti_b_attr(&n->m, scatter, lead, TC_combine_set, true);
    tc_val flat = ti_b_3(&n->m, scatter, attr, zeros, index, x);
    ti_pt2_result(n, ti_b_reshape_as(&n->m, flat, y));
}

const tc_pt2_row tc_pt2_index[] = {
    ROW("index.Tensor _unsafe_index.Tensor", import_index, index, 0),
    ROW("index_put _index_put_impl _unsafe_index_put", import_index_put, index_put, 0),
    ROW("repeat_interleave.self_Tensor", import_repeat_by_list, index_select, 0),
    ROW("repeat_interleave.Tensor", import_repeat_places, const, 0),
    ROW("take_along_dim", import_take_along_dim, gather, 0),
    ROW("index_fill.int_Scalar index_fill.int_Tensor", import_index_fill, index_copy, 0),
    ROW("masked_scatter", import_masked_scatter, where, 0),
    ROW("diagonal_scatter", import_diagonal_scatter, index_put, 0),
    ROW("embedding_bag embedding_bag.padding_idx _embedding_bag _embedding_bag_forward_only",
        import_embedding_bag, embedding, 0),
    ROW("one_hot", import_one_hot, eq, 0),
    ROW("bucketize.Tensor bucketize.Scalar", import_bucketize, bucketize, 0),
    ROW("searchsorted.Tensor searchsorted.Scalar", import_bucketize, bucketize, 1),
    ROW("index_reduce", import_index_reduce, scatter, 0),
    ROW("max_unpool2d", import_max_unpool, scatter, 2),
    ROW("max_unpool3d", import_max_unpool, scatter, 3),
    {0},
};
