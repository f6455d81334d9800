/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_index.c -- builders of operators that read and write at computed indices. */
#include "../../num/load.h"
#include "onnx.h"

/* Indices counted from the front, i64: negative ones count from the end. */
static tc_val places(tc_onnx_node *n, tc_val index, int64_t extent)
{
    tc_build *m = &n->m;
    tc_tensor t;
    index = ti_b_cast(m, index, TC_i64);
    bool from_end = true;
    if (m->status == TC_OK && ti_is_const(m->g, index) && ti_b_known(m, index, &t)) {
        from_end = false;
        for (int64_t i = 0; i < tc_type_count(t.type); i++)
            from_end = from_end || ti_load_i64(t, i) < 0;
    }
    if (!from_end || m->status != TC_OK)
        return index;
    tc_val zero = ti_b_scalar_i64(m, TC_i64, 0), all = ti_b_scalar_i64(m, TC_i64, extent);
    tc_val below = ti_b_lt(m, index, zero), turned = ti_b_add(m, index, all);
    return ti_b_where(m, below, turned, index);
}

/* The axis is replaced by the shape of the indices. */
void ti_onnx_build_gather(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), index = ti_onnx_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *i = ti_b_type(m, index);
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", 0), t->rank), rank = 0;
    int64_t dim[2 * TC_MAX_RANK];
    for (int k = 0; k < axis; k++)
        dim[rank++] = t->dim[k];
    for (int k = 0; k < i->rank; k++)
        dim[rank++] = i->dim[k];
    for (int k = axis + 1; k < t->rank; k++)
        dim[rank++] = t->dim[k];
    if (!t->rank) {
        ti_b_bad(m, TC_E_SHAPE, "Gather from a single number");
        return;
    }
    index = places(n, index, t->dim[axis]);
    tc_tensor at;
    if (i->rank == 0 && m->status == TC_OK && ti_is_const(m->g, index) &&
        ti_b_known(m, index, &at)) {
        ti_onnx_bind(n, 0, ti_b_select(m, x, axis, ti_load_i64(at, 0)));
        return;
    }
    index = ti_b_flat(m, index);
    tc_val y = ti_b_index_select(m, x, index, axis);
    ti_onnx_bind(n, 0, ti_b_reshape(m, y, rank, dim));
}

void ti_onnx_build_gather_elements(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), index = ti_onnx_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", 0), t->rank);
    index = places(n, index, t->rank ? t->dim[axis] : 1);
    ti_onnx_bind(n, 0, ti_b_gather(m, x, index, axis));
}

/* How updates are combined with the old content. */
static tc_field_combine reduction(tc_onnx_node *n)
{
    static const struct {
        const char *word;
        tc_field_combine is;
    } words[] = {{"none", TC_combine_set}, {"add", TC_combine_add}, {"mul", TC_combine_prod},
                 {"max", TC_combine_amax}, {"min", TC_combine_amin}};
    const char *word = ti_onnx_text(n, "reduction", "none");
    for (size_t i = 0; i < TC_COUNT(words); i++)
        if (ti_text_eq(word, words[i].word))
            return words[i].is;
    ti_b_bad(&n->m, TC_E_ARGUMENT, "reduction '%.40s'", word);
    return TC_combine_set;
}

void ti_onnx_build_scatter_elements(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), index = ti_onnx_need(n, 1), updates = ti_onnx_need(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", 0), t->rank);
    index = places(n, index, t->rank ? t->dim[axis] : 1);
    tc_attr_scatter *a =
        ti_b_attr(m, scatter, .axis = axis, .combine = reduction(n), .include_self = true);
    ti_onnx_bind(n, 0, ti_b_3(m, scatter, a, x, index, updates));
}

/* Rows of coordinates [.., k] as one linear index each, into the first `batch` + k axes of t
 * joined: sum of coordinate * stride, and the batch index of the row.  Flat. */
static tc_val join_coordinates(tc_onnx_node *n, tc_val index, const tc_type *t, int batch)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *i = ti_b_type(m, index);
    if (i->rank < 1 || i->rank <= batch || i->dim[i->rank - 1] + batch > t->rank ||
        i->dim[i->rank - 1] < 1) {
        ti_b_bad(m, TC_E_SHAPE, "indices of %" PRId64 " coordinates into a tensor of rank %d",
                 i->rank ? i->dim[i->rank - 1] : 0, t->rank);
        return TC_NONE;
    }
    for (int a = 0; a < batch; a++)
        if (i->dim[a] != t->dim[a]) {
            ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " batches of indices for %" PRId64, i->dim[a],
                     t->dim[a]);
            return TC_NONE;
        }
    int k = (int)i->dim[i->rank - 1];
    int64_t rows = 1, batches = 1, stride = 1;
    for (int a = 0; a < i->rank - 1; a++)
        rows *= i->dim[a];
    for (int a = 0; a < batch; a++)
        batches *= t->dim[a];
    index = ti_b_reshape(m, index, 2, (int64_t[]){rows, k});
    tc_val flat = TC_NONE;
    for (int c = k - 1; c >= 0; c--) {
        tc_val one = ti_b_slice(m, index, 1, c, c + 1, 1);
        one = places(n, ti_b_flat(m, one), t->dim[batch + c]);
        one = ti_b_mul_n(m, one, (double)stride);
        flat = flat ? ti_b_add(m, flat, one) : one;
        stride *= t->dim[batch + c];
    }
    if (!batch || m->status != TC_OK)
        return flat;
    tc_tensor offset = ti_b_tensor(m, TC_i64, 1, &rows);
    for (int64_t r = 0; r < rows; r++)
        ((int64_t *)offset.data)[r] = r / (batches ? rows / batches : 1) * stride;
    return ti_b_add(m, flat, ti_b_const(m, offset, NULL));
}

void ti_onnx_build_gather_nd(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), index = ti_onnx_need(n, 1);
    int64_t batch = ti_onnx_int(n, "batch_dims", 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *i = ti_b_type(m, index);
    if (batch < 0 || batch >= t->rank || batch >= i->rank) {
        ti_b_bad(m, TC_E_ARGUMENT, "batch_dims %" PRId64 " of rank %d", batch, t->rank);
        return;
    }
    tc_val flat = join_coordinates(n, ti_b_cast(m, index, TC_i64), t, (int)batch);
    TC_STOP(m);
    int first = (int)batch + (int)i->dim[i->rank - 1];
    ti_onnx_bind(n, 0, ti_b_gather_nd(m, x, flat, i, first));
}

void ti_onnx_build_scatter_nd(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), index = ti_onnx_need(n, 1), updates = ti_onnx_need(n, 2);
    tc_attr_scatter *a = ti_b_attr(m, scatter, .combine = reduction(n), .include_self = true);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *i = ti_b_type(m, index);
    tc_val flat = join_coordinates(n, ti_b_cast(m, index, TC_i64), t, 0);
    TC_STOP(m);
    int first = (int)i->dim[i->rank - 1];
    int64_t rows = 1, rest = 1, many = tc_type_count(ti_b_type(m, flat));
    for (int d = 0; d < t->rank; d++)
        *(d < first ? &rows : &rest) *= t->dim[d];
    x = ti_b_reshape(m, x, 2, (int64_t[]){rows, rest});
    updates = ti_b_reshape(m, updates, 2, (int64_t[]){many, rest});
    flat = ti_b_reshape(m, flat, 2, (int64_t[]){many, 1});
    flat = ti_b_expand(m, flat, 2, (int64_t[]){many, rest});
    x = ti_b_3(m, scatter, a, x, flat, updates);
    ti_onnx_bind(n, 0, ti_b_reshape(m, x, t->rank, t->dim));
}

/* values [off, on]; a new axis of extent `depth` */
void ti_onnx_build_one_hot(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val index = ti_onnx_need(n, 0), values = ti_onnx_need(n, 2);
    int64_t depth = ti_onnx_settled_int(n, 1, 0);
    TC_STOP(m);
    int rank = ti_b_type(m, index)->rank;
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", -1), rank + 1);
    int64_t along[TC_MAX_RANK + 1];
    for (int i = 0; i <= rank; i++)
        along[i] = i == axis ? depth : 1;
    if (rank + 1 > TC_MAX_RANK || depth < 0) {
        ti_b_bad(m, TC_E_ARGUMENT, "OneHot of depth %" PRId64, depth);
        return;
    }
    index = places(n, index, depth);
    index = ti_b_unsqueeze(m, index, axis);
    tc_val every = ti_b_reshape(m, ti_b_arange(m, depth, TC_i64), rank + 1, along);
    tc_val hot = ti_b_eq(m, index, every);
    tc_val off = ti_b_select(m, values, 0, 0), on = ti_b_select(m, values, 0, 1);
    ti_onnx_bind(n, 0, ti_b_where(m, hot, on, off));
}

/* ---- results whose shape depends on values ---- */

/* A number counts as a list of one. */
void ti_onnx_build_non_zero(tc_onnx_node *n)
{
    tc_tensor t;
    if (!ti_onnx_settled_tensor(n, 0, &t))
        return;
    if (!t.type->rank)
        t.type = ti_type_make(n->m.ctx, t.type->dtype, 1, (int64_t[]){1});
    ti_onnx_bind(n, 0, ti_b_const(&n->m, ti_b_nonzero(&n->m, t, false), NULL));
}

/* Rows (or, without axis, elements) where the condition holds. */
void ti_onnx_build_compress(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    tc_ints condition = ti_onnx_settled(n, 1);
    TC_STOP(m);
    bool flat = !ti_onnx_has(n, "axis");
    if (flat)
        x = ti_b_flat(m, x);
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", 0), ti_b_type(m, x)->rank);
    int64_t *list = tc_new_n(&m->ctx->arena, int64_t, (size_t)condition.n), found = 0;
    for (int i = 0; i < condition.n; i++)
        if (condition.v[i])
            list[found++] = i;
    tc_val rows = ti_b_list(m, list, found);
    ti_onnx_bind(n, 0, ti_b_index_select(m, x, rows, axis));
}
