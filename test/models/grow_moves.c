/* SPDX-License-Identifier: Apache-2.0 */
/* grow_moves.c -- numbers in other places: shapes, slices, joins, indices. */
#include "models.h"

static tc_dtype any_type(void) { return draw(6) ? TC_f32 : TC_none; }

static void reshaped(garden *d)
{
    tc_val x = some(d, any_type(), 1, 6);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t dim[8];
    int n = 0, at = (int)draw((uint64_t)t->rank);
    for (int i = 0; i < t->rank; i++)
        if (i == at && t->dim[i] % 2 == 0 && draw(2)) {
            dim[n++] = 2;
            dim[n++] = t->dim[i] / 2;
        } else if (i == at && i + 1 < t->rank && draw(2)) {
            dim[n++] = t->dim[i] * t->dim[i + 1];
            i++;
        } else if (i == at && draw(3) == 0) {
            dim[n++] = 1;
            dim[n++] = t->dim[i];
        } else
            dim[n++] = t->dim[i];
    if (draw(6) == 0) {
        dim[0] = tc_type_count(t);
        n = 1;
    }
    if (n <= 6)
        keep(d, PUT(d, reshape, ((tc_attr_shape){list(d, n, dim)}), x));
}

static void permuted(garden *d)
{
    tc_val x = some(d, any_type(), 2, 6);
    if (!x)
        return;
    int rank = type_at(d, x)->rank;
    int64_t perm[8];
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    for (int i = rank; i-- > 1;) {
        int k = (int)draw((uint64_t)i + 1);
        int64_t swap = perm[i];
        perm[i] = perm[k];
        perm[k] = swap;
    }
    keep(d, PUT(d, permute, ((tc_attr_perm){list(d, rank, perm)}), x));
}

static void sliced(garden *d)
{
    tc_val x = some(d, any_type(), 1, 6);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank), n = t->dim[axis];
    int64_t from = (int64_t)draw((uint64_t)n), to = from + 1 + (int64_t)draw((uint64_t)(n - from));
    tc_attr_slice a = {axis, from, to, draw(4) ? 1 : 1 + (int64_t)draw(3)};
    if (draw(4))
        keep(d, PUT(d, slice, a, x));
    else
        keep(d, PUT(d, select, ((tc_attr_select){axis, from}), x));
}

/* With itself, another of its shape, or a constant. */
static void joined(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5), in[5];
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int n = 1 + (int)draw(4);
    in[0] = x;
    for (int i = 1; i < n; i++) {
        tc_val y = some(d, TC_f32, t->rank, t->rank);
        in[i] = y && ti_same_dims(type_at(d, y), t)
                    ? y
                    : draw(2) ? x : constant(d, TC_f32, t->rank, t->dim, -1, 1);
    }
    tc_attr_axis a = {(int64_t)draw((uint64_t)t->rank)};
    keep(d, put(d, draw(4) ? TC_OP_cat : TC_OP_stack, &a, sizeof a, n, in));
}

static void cut(garden *d)
{
    tc_val x = some(d, any_type(), 1, 5), out[4];
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank), n = t->dim[axis];
    if (n > 1 && n <= 4 && draw(2)) {
        tc_attr_axis a = {axis};
        put_many(d, TC_OP_unbind, &a, sizeof a, 1, &x, (int)n, out);
        for (int64_t i = 0; i < n; i++)
            if (draw(3))
                keep(d, out[i]);
        return;
    }
    if (n < 2)
        return;
    int64_t part[2] = {1 + (int64_t)draw((uint64_t)n - 1)};
    part[1] = n - part[0];
    tc_attr_split a = {axis, list(d, 2, part)};
    put_many(d, TC_OP_split, &a, sizeof a, 1, &x, 2, out);
    keep(d, out[0]);
    if (draw(3))
        keep(d, out[1]);
}

static void repeated(garden *d)
{
    tc_val x = some(d, any_type(), 1, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t times[8], axis = (int64_t)draw((uint64_t)t->rank), shape[8];
    for (int i = 0; i < t->rank; i++) {
        times[i] = 1 + (draw(3) == 0);
        shape[i] = t->dim[i] == 1 ? 1 + (int64_t)draw(4) : t->dim[i];
    }
    switch (draw(3)) {
    case 0:
        keep(d, PUT(d, repeat, ((tc_attr_repeat){list(d, t->rank, times)}), x));
        return;
    case 1:
        keep(d, PUT(d, repeat_interleave, ((tc_attr_interleave){axis, 2}), x));
        return;
    default:
        keep(d, PUT(d, expand, ((tc_attr_shape){list(d, t->rank, shape)}), x));
    }
}

static void turned(garden *d)
{
    tc_val x = some(d, any_type(), 1, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank);
    if (draw(2))
        keep(d, PUT(d, flip, ((tc_attr_flip){same(d, 1, axis)}), x));
    else
        keep(d, PUT(d, roll,
                    ((tc_attr_roll){same(d, 1, (int64_t)draw(5) - 2), same(d, 1, axis)}), x));
}

static void padded(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_field_pad_mode mode = (tc_field_pad_mode)(draw(2) ? 0 : draw(4));
    int64_t pad[16] = {0};
    for (int i = t->rank > 2 ? t->rank - 2 : 0; i < t->rank; i++)
        for (int k = 0; k < 2; k++) {
            int64_t most = mode == TC_pad_mode_constant ? 3 : t->dim[i] < 3 ? t->dim[i] : 3;
            pad[2 * i + k] = most ? (int64_t)draw((uint64_t)most) : 0;
        }
    tc_attr_pad a = {list(d, 2 * t->rank, pad), mode, draw(3) ? 0 : (double)draw(5) / 2 - 1};
    keep(d, PUT(d, pad, a, x));
}

static void triangle(garden *d)
{
    tc_val x = some(d, TC_f32, 2, 4);
    if (!x)
        return;
    tc_attr_tri a = {(int64_t)draw(3) - 1};
    tc_attr_diagonal b = {0, type_at(d, x)->rank - 2, type_at(d, x)->rank - 1};
    switch (draw(3)) {
    case 0:
        keep(d, PUT(d, tril, a, x));
        return;
    case 1:
        keep(d, PUT(d, triu, a, x));
        return;
    default:
        keep(d, PUT(d, diagonal, b, x));
    }
}

static void windows(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank), n = t->dim[axis];
    tc_attr_unfold a = {axis, 1 + (int64_t)draw((uint64_t)n), 1 + (int64_t)draw(3)};
    keep(d, PUT(d, unfold, a, x));
}

static void looked_up(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank), n = 1 + (int64_t)draw(4), dim[8];
    memcpy(dim, t->dim, sizeof(int64_t) * (size_t)t->rank);
    dim[axis] = n;
    tc_val at = index_const(d, 1, &n, t->dim[axis]);
    tc_attr_axis a = {axis};
    switch (draw(4)) {
    case 0:
        keep(d, PUT(d, index_select, a, x, at));
        return;
    case 1:
        keep(d, PUT(d, gather, a, x, index_const(d, t->rank, dim, t->dim[axis])));
        return;
    case 2:
        keep(d, PUT0(d, index, x, index_const(d, 1, &n, t->dim[0])));
        return;
    default: {
        tc_val i = some(d, TC_i64, 1, 3);
        int64_t table[2] = {8, 1 + (int64_t)draw(8)};
        if (i)
            keep(d, PUT0(d, embedding, constant(d, TC_f32, 2, table, -1, 1),
                         PUT(d, clamp, ((tc_attr_clamp){0, 7}), i)));
    }
    }
}

static void written(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank), n = t->dim[axis], dim[8], one = 1;
    memcpy(dim, t->dim, sizeof(int64_t) * (size_t)t->rank);
    int64_t from = (int64_t)draw((uint64_t)n), to = from + 1 + (int64_t)draw((uint64_t)(n - from));
    switch (draw(6)) {
    case 0: {
        dim[axis] = to - from;
        tc_attr_slice a = {axis, from, to, 1};
        keep(d, PUT(d, slice_scatter, a, x, constant(d, TC_f32, t->rank, dim, -1, 1)));
        return;
    }
    case 1: {
        for (int i = (int)axis; i + 1 < t->rank; i++)
            dim[i] = t->dim[i + 1];
        tc_attr_select a = {axis, from};
        keep(d, PUT(d, select_scatter, a, x, constant(d, TC_f32, t->rank - 1, dim, -1, 1)));
        return;
    }
    case 2:
    case 3: {
        dim[axis] = 1;
        tc_val at = index_const(d, 1, &one, n), new = constant(d, TC_f32, t->rank, dim, -1, 1);
        keep(d, draw(2) ? PUT(d, index_copy, ((tc_attr_axis){axis}), x, at, new)
                        : PUT(d, index_add, ((tc_attr_index_add){axis, 1}), x, at, new));
        return;
    }
    case 4: {
        dim[axis] = 1;
        tc_attr_scatter a = {axis, draw(2) ? TC_combine_set : TC_combine_add, true};
        keep(d, PUT(d, scatter, a, x, index_const(d, t->rank, dim, n),
                    constant(d, TC_f32, t->rank, dim, -1, 1)));
        return;
    }
    default:
        keep(d, PUT(d, index_put, ((tc_attr_index_put){draw(2)}), x, scalar(d, 0.5),
                    index_const(d, 1, &one, t->dim[0])));
    }
}

static void sorted_into(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    double edge[3] = {-0.5, 0.1, 0.6};
    int64_t n = 3;
    if (!x)
        return;
    tc_val e = constant(d, TC_f32, 1, &n, edge[0], edge[0]);
    if (e)
        for (int i = 0; i < 3; i++)
            ((float *)(uintptr_t)d->g->val[e]->data)[i] = (float)edge[i];
    keep(d, PUT(d, bucketize, ((tc_attr_bucketize){draw(2)}), x, e));
}

const grow_entry grow_moves[] = {{reshaped, 8}, {permuted, 8}, {sliced, 8},    {joined, 8},
                                 {cut, 4},      {repeated, 3}, {turned, 3},    {padded, 4},
                                 {triangle, 2}, {windows, 1},  {looked_up, 4}, {written, 3},
                                 {sorted_into, 1}, {NULL, 0}};
