/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_index.c -- builders of operators that read and write at computed indices. */
#include "../../num/load.h"
#include "tflite.h"

/* The axis is replaced by the indices; the first batch_dims axes of both go together. */
void ti_tfl_build_gather(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), index = ti_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *i = ti_b_type(m, index);
    int axis = ti_b_axis(m, ti_tfl_int(n, 0, 0), t->rank);
    int64_t batch = ti_tfl_int(n, 1, 0), dim[2 * TC_MAX_RANK];
    batch = batch < 0 ? batch + i->rank : batch;
    if (!t->rank || batch < 0 || batch > i->rank || batch > axis) {
        ti_b_bad(m, TC_E_ARGUMENT, "axis %d with %" PRId64 " axes of batches", axis, batch);
        return;
    }
    int64_t batches = 1, before = 1, after = 1, count = 1;
    int rank = 0;
    for (int k = 0; k < t->rank; k++)
        *(k < batch  ? &batches
          : k < axis ? &before
          : k > axis ? &after
                     : &(int64_t){1}) *= t->dim[k];
    for (int k = 0; k < axis; k++)
        dim[rank++] = t->dim[k];
    for (int k = (int)batch; k < i->rank; k++) {
        count *= i->dim[k];
        dim[rank++] = i->dim[k];
    }
    for (int k = axis + 1; k < t->rank; k++)
        dim[rank++] = t->dim[k];
    index = ti_b_cast(m, index, TC_i64);
    if (batch == 0) {
        index = ti_b_flat(m, index);
        x = ti_b_index_select(m, x, index, axis);
    } else {
        x = ti_b_reshape(m, x, 4, (int64_t[]){batches, before, t->dim[axis], after});
        index = ti_b_reshape(m, index, 4, (int64_t[]){batches, 1, count, 1});
        index = ti_b_expand(m, index, 4, (int64_t[]){batches, before, count, after});
        x = ti_b_gather(m, x, index, 2);
    }
    ti_tfl_bind(n, 0, ti_b_reshape(m, x, rank, dim));
}

/* Rows of coordinates [.., k] as one number each, into the first k axes of dim joined: the sum of coordinate
 * times stride, but for axes of one element.  Flat. */
static tc_val join_coordinates(tc_tfl_node *n, tc_val index, int rank, const int64_t *dim)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *i = ti_b_type(m, index);
    int64_t k = i->rank ? i->dim[i->rank - 1] : 0, rows = 1;
    if (k < 1 || k > rank) {
        ti_b_bad(m, TC_E_SHAPE, "indices of %" PRId64 " coordinates into a tensor of rank %d", k,
                 rank);
        return TC_NONE;
    }
    for (int a = 0; a < i->rank - 1; a++)
        rows *= i->dim[a];
    tc_tensor stride = ti_b_tensor(m, TC_i64, 2, (int64_t[]){1, k});
    int64_t *by = stride.data;
    by[k - 1] = 1;
    for (int64_t c = k - 1; c > 0; c--)
        by[c - 1] = by[c] * dim[c];
    index = ti_b_reshape(m, ti_b_cast(m, index, TC_i64), 2, (int64_t[]){rows, k});
    if (k > 1)
        index = ti_b_mul(m, index, ti_b_const(m, stride, NULL));
    tc_val sum = TC_NONE;
    for (int64_t c = 0; c < k; c++) {
        if (dim[c] == 1 && (sum || c < k - 1))
            continue;
        tc_val one = ti_b_slice(m, index, 1, c, c + 1, 1);
        sum = sum ? ti_b_add(m, sum, one) : one;
    }
    return ti_b_flat(m, sum);
}

void ti_tfl_build_gather_nd(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), index = ti_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *i = ti_b_type(m, index);
    tc_val flat = join_coordinates(n, index, t->rank, t->dim);
    TC_STOP(m);
    int first = (int)i->dim[i->rank - 1];
    ti_tfl_bind(n, 0, ti_b_gather_nd(m, x, flat, i, first));
}

/* Updates at indices of base, which has the shape dim. */
static tc_val put_rows(tc_tfl_node *n, tc_val base, tc_val index, tc_val updates, int rank,
                       const int64_t *dim, tc_field_combine combine)
{
    tc_build *m = &n->m;
    tc_val flat = join_coordinates(n, index, rank, dim);
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *i = ti_b_type(m, index);
    int64_t first = i->dim[i->rank - 1], rows = 1, rest = 1,
            many = tc_type_count(ti_b_type(m, flat));
    for (int d = 0; d < rank; d++)
        *(d < first ? &rows : &rest) *= dim[d];
    base = ti_b_reshape(m, base, 2, (int64_t[]){rows, rest});
    updates = ti_b_reshape(m, updates, 2, (int64_t[]){many, rest});
    flat = ti_b_reshape(m, flat, 2, (int64_t[]){many, 1});
    flat = ti_b_expand(m, flat, 2, (int64_t[]){many, rest});
    tc_attr_scatter *a = ti_b_attr(m, scatter, .combine = combine, .include_self = true);
    base = ti_b_3(m, scatter, a, base, flat, updates);
    return ti_b_reshape(m, base, rank, dim);
}

/* indices, updates, shape: sums at indices of zeros */
void ti_tfl_build_scatter_nd(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val index = ti_tfl_need(n, 0), updates = ti_tfl_need(n, 1);
    tc_ints shape = ti_tfl_shape(n, 2, 0, UINT32_MAX, NULL);
    if (m->status != TC_OK || shape.n > TC_MAX_RANK)
        return;
    tc_val base = ti_b_full(m, shape.n, shape.v, 0, ti_b_dtype(m, updates));
    ti_tfl_bind(n, 0, put_rows(n, base, index, updates, shape.n, shape.v, TC_combine_add));
}

/* indices, shape, values, default */
void ti_tfl_build_sparse_to_dense(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val index = ti_tfl_need(n, 0), values = ti_tfl_need(n, 2), missing = ti_tfl_need(n, 3);
    tc_ints shape = ti_tfl_shape(n, 1, 0, UINT32_MAX, NULL);
    if (m->status != TC_OK || shape.n > TC_MAX_RANK)
        return;
    const tc_type *i = ti_b_type(m, index);
    int64_t count = i->rank ? i->dim[0] : 1;
    if (i->rank < 2)
        index = ti_b_reshape(m, index, 2, (int64_t[]){count, 1});
    if (ti_b_type(m, values)->rank == 0)
        values = ti_b_expand(m, values, 1, &count);
    tc_val base = ti_b_expand(m, missing, shape.n, shape.v);
    ti_tfl_bind(n, 0, put_rows(n, base, index, values, shape.n, shape.v, TC_combine_set));
}

/* indices, depth, on, off; a new axis */
void ti_tfl_build_one_hot(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val index = ti_tfl_need(n, 0), on = ti_tfl_need(n, 2), off = ti_tfl_need(n, 3);
    int64_t depth = ti_tfl_settled_int(n, 1);
    TC_STOP(m);
    int rank = ti_b_type(m, index)->rank;
    int axis = ti_b_axis(m, ti_tfl_int(n, 0, 0), rank + 1);
    int64_t along[TC_MAX_RANK + 1];
    if (rank + 1 > TC_MAX_RANK || depth < 0 || depth > INT32_MAX) {
        ti_b_bad(m, TC_E_ARGUMENT, "a depth of %" PRId64, depth);
        return;
    }
    for (int i = 0; i <= rank; i++)
        along[i] = i == axis ? depth : 1;
    index = ti_b_unsqueeze(m, ti_b_cast(m, index, TC_i64), axis);
    tc_val every = ti_b_reshape(m, ti_b_arange(m, depth, TC_i64), rank + 1, along);
    tc_val hot = ti_b_eq(m, index, every);
    on = ti_b_reshape(m, on, 0, NULL);
    off = ti_b_reshape(m, off, 0, NULL);
    ti_tfl_bind(n, 0, ti_b_where(m, hot, on, off));
}

/* ids, table; rows of codes are dequantized */
void ti_tfl_build_embedding(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val index = ti_tfl_need(n, 0), x = ti_tfl_need(n, 1);
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 1), *to = ti_tfl_out_tensor(n, 0);
    if (m->status != TC_OK || !to)
        return;
    index = ti_b_flat(m, ti_b_cast(m, index, TC_i64));
    x = ti_b_index_select(m, x, index, 0);
    TC_STOP(m);
    if (ti_tfl_is_codes(t) && to->dtype == TC_f32) {
        int64_t count = t->n_scale, dim[TC_MAX_RANK] = {0};
        tc_tensor s = ti_b_tensor(m, TC_f32, 1, &count);
        for (int64_t i = 0; i < count; i++)
            ti_store_f64(s, i, t->scale[i]);
        tc_val scale = ti_b_const(m, s, NULL);
        if (count > 1) {
            if (t->axis != 0) {
                ti_b_unsupported(m, "scales along axis %d", t->axis);
                return;
            }
            const tc_type *type = ti_b_type(m, x);
            scale = ti_b_index_select(m, scale, index, 0);
            for (int i = 0; i < type->rank; i++)
                dim[i] = i ? 1 : type->dim[0];
            scale = ti_b_reshape(m, scale, type->rank, dim);
        }
        x = ti_b_cast(m, x, TC_f32);
        x = t->zero[0] ? ti_b_add_n(m, x, (double)-t->zero[0]) : x;
        x = ti_b_mul(m, x, scale);
    }
    ti_tfl_bind(n, 0, x);
}

/* x with `update` written at an index known at run time, clamped so that it fits. */
void ti_tfl_build_dynamic_update_slice(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), update = ti_tfl_need(n, 1), start = ti_tfl_need(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *u = ti_b_type(m, update);
    tc_tensor known;
    bool settled = ti_b_known(m, start, &known);
    if (u->rank != t->rank || tc_type_count(ti_b_type(m, start)) != t->rank) {
        ti_b_bad(m, TC_E_SHAPE, "%s into %s", ti_type_text(&m->ctx->arena, u),
                 ti_type_text(&m->ctx->arena, t));
        return;
    }
    start = ti_b_flat(m, ti_b_cast(m, start, TC_i64));
    tc_val flat = TC_NONE;
    int64_t stride = 1;
    for (int a = t->rank - 1; a >= 0 && m->status == TC_OK; a--) {
        int64_t along[TC_MAX_RANK];
        if (u->dim[a] > t->dim[a]) {
            ti_b_bad(m, TC_E_SHAPE, "axis %d: %" PRId64 " into %" PRId64, a, u->dim[a], t->dim[a]);
            return;
        }
        for (int i = 0; i < t->rank; i++)
            along[i] = i == a ? u->dim[a] : 1;
        tc_val from = settled ? ti_b_scalar_i64(m, TC_i64,
                                                ti_max_i64(0, ti_min_i64(ti_load_i64(known, a),
                                                                         t->dim[a] - u->dim[a])))
                              : ti_b_select(m, start, 0, a);
        if (!settled)
            from = ti_b_clamp(m, from, 0, (double)(t->dim[a] - u->dim[a]));
        tc_val at = ti_b_reshape(m, ti_b_arange(m, u->dim[a], TC_i64), t->rank, along);
        at = ti_b_mul_n(m, ti_b_add(m, at, from), (double)stride);
        flat = flat ? ti_b_add(m, flat, at) : at;
        stride *= t->dim[a];
    }
    flat = ti_b_expand(m, flat, u->rank, u->dim);
    tc_attr_scatter *s = ti_b_attr(m, scatter, .combine = TC_combine_set, .include_self = true);
    x = ti_b_flat(m, x);
    flat = ti_b_flat(m, flat);
    update = ti_b_flat(m, update);
    x = ti_b_3(m, scatter, s, x, flat, update);
    ti_tfl_bind(n, 0, ti_b_reshape(m, x, t->rank, t->dim));
}

/* Rows added, multiplied or compared by segment; extra: how, 0: sum, and the number of segments
 * follows from the ids (SEGMENT_SUM). */
void ti_tfl_build_segment(tc_tfl_node *n)
{
    static const struct {
        tc_field_combine combine;
        double start;
    } how[] = {{TC_combine_add, 0}, {TC_combine_add, 0}, {TC_combine_prod, 1},
               {TC_combine_amax, 0}, {TC_combine_amin, 0}};
    tc_build *m = &n->m;
    int which = (int)n->row->extra;
    tc_val x = ti_tfl_need(n, 0), index = ti_tfl_need(n, 1);
    int64_t segments = 0;
    if (which == 0) {
        tc_ints all = ti_tfl_settled(n, 1);
        for (int i = 0; i < all.n; i++)
            segments = ti_max_i64(segments, all.v[i] + 1);
    } else
        segments = ti_tfl_settled_int(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *i = ti_b_type(m, index);
    int64_t rows = tc_type_count(i), rest = rows ? tc_type_count(t) / rows : 1, dim[TC_MAX_RANK];
    int rank = 1 + t->rank - i->rank;
    if (rank < 1 || segments < 0 || segments > INT32_MAX) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " segments of rank %d", segments, t->rank);
        return;
    }
    dim[0] = segments;
    for (int k = 1; k < rank; k++)
        dim[k] = t->dim[i->rank + k - 1];
    double start = how[which].start;
    if (which > 2)
        start = ti_is_float(t->dtype) ? (double)3.402823466e38f : (double)ti_dtype_max(t->dtype);
    if (which == 3)
        start = ti_is_float(t->dtype) ? -start : (double)ti_dtype_min(t->dtype);
    x = ti_b_reshape(m, x, 2, (int64_t[]){rows, rest});
    index = ti_b_reshape(m, ti_b_cast(m, index, TC_i64), 2, (int64_t[]){rows, 1});
    index = ti_b_expand(m, index, 2, (int64_t[]){rows, rest});
    tc_val base = ti_b_full(m, 2, (int64_t[]){segments, rest}, start, t->dtype);
    tc_attr_scatter *a = ti_b_attr(m, scatter, .combine = how[which].combine, .include_self = true);
    tc_val y = ti_b_3(m, scatter, a, base, index, x);
    ti_tfl_bind(n, 0, ti_b_reshape(m, y, rank, dim));
}

/* Which interval between the boundaries x falls into; one that is equal counts as passed. */
void ti_tfl_build_bucketize(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints bits = ti_tfl_ints(n, 0);
    int64_t count = bits.n;
    tc_tensor t = ti_b_tensor(m, TC_f32, 1, &count);
    for (int i = 0; i < bits.n; i++) {
        uint32_t word = (uint32_t)bits.v[i];
        memcpy((float *)t.data + i, &word, sizeof word);
    }
    tc_val edges = ti_b_const(m, t, NULL);
    x = ti_b_cast(m, x, TC_f32);
    tc_val y = ti_b_2(m, bucketize, ti_b_attr(m, bucketize, true), x, edges);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, TC_i32));
}

/* extra 0: x on the diagonal of zeros; 1: the diagonal of x replaced by input 1 */
void ti_tfl_build_matrix_diag(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), d = n->row->extra == 1 ? ti_tfl_need(n, 1) : x;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    bool put = n->row->extra == 1;
    int rank = put ? t->rank : t->rank + 1;
    if (rank < 2 || rank > TC_MAX_RANK) {
        ti_b_bad(m, TC_E_SHAPE, "a diagonal of rank %d", t->rank);
        return;
    }
    int64_t rows = put ? t->dim[rank - 2] : t->dim[t->rank - 1], columns = t->dim[t->rank - 1],
            dim[TC_MAX_RANK];
    for (int i = 0; i < rank - 2; i++)
        dim[i] = t->dim[i];
    dim[rank - 2] = rows;
    dim[rank - 1] = columns;
    if (rows > columns) { /* the diagonal has as many elements as columns: along them */
        d = ti_b_unsqueeze(m, d, rank - 2);
    } else
        d = ti_b_unsqueeze(m, d, rank - 1);
    d = ti_b_expand(m, d, rank, dim);
    if (m->status == TC_OK && ti_dims_count(2, dim + rank - 2) < 0)
        ti_b_bad(m, TC_E_TOO_LARGE, "a diagonal of %" PRId64 " by %" PRId64, rows, columns);
    TC_STOP(m);
    tc_tensor mask = ti_b_tensor(m, TC_bool, 2, (int64_t[]){rows, columns});
    for (int64_t i = 0; i < rows * columns; i++)
        ((uint8_t *)mask.data)[i] = i / columns == i % columns;
    tc_val rest = put ? x : ti_b_scalar(m, t->dtype, 0);
    tc_val on = ti_b_const(m, mask, NULL);
    ti_tfl_bind(n, 0, ti_b_where(m, on, d, rest));
}

/* [count, rank]: the indices of nonzeros, in order. */
void ti_tfl_build_where(tc_tfl_node *n)
{
    tc_tensor t;
    if (ti_tfl_settled_tensor(n, 0, &t))
        ti_tfl_bind(n, 0, ti_b_const(&n->m, ti_b_nonzero(&n->m, t, true), NULL));
}

/* Values in order of first occurrence, and which of them each is. */
void ti_tfl_build_unique(tc_tfl_node *n)
{
    tc_tensor t;
    const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 1);
    if (!ti_tfl_settled_tensor(n, 0, &t) || !to)
        return;
    int64_t all = tc_type_count(t.type), found = 0;
    if (all > 1 << 14) {
        ti_b_unsupported(&n->m, "UNIQUE of %" PRId64 " numbers", all);
        return;
    }
    size_t wide = tc_dtypes[t.type->dtype].bytes;
    tc_tensor which = ti_b_tensor(&n->m, to->dtype, 1, &all);
    const char *data = t.data;
    char *kept = ti_arena_raw(&n->m.ctx->arena, (size_t)all * wide + 1);
    for (int64_t i = 0; i < all; i++) {
        int64_t k = 0;
        while (k < found && memcmp(kept + (size_t)k * wide, data + (size_t)i * wide, wide) != 0)
            k++;
        if (k == found)
            memcpy(kept + (size_t)found++ * wide, data + (size_t)i * wide, wide);
        ti_store_i64(which, i, k);
    }
    tc_tensor out = {ti_type_make(n->m.ctx, t.type->dtype, 1, &found), kept};
    ti_tfl_bind(n, 0, ti_b_const(&n->m, out, NULL));
    ti_tfl_bind(n, 1, ti_b_const(&n->m, which, NULL));
}
