/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_make.c -- small steps that importers of movement, indexing and reductions are made of. */
#include "pt2_make.h"

tc_ints tc_pt2_dims(tc_pt2_node *n, const tc_type *type)
{
    return type ? tc_ints_copy(&n->ctx->arena, type->dim, type->rank) : (tc_ints){0, NULL};
}

tc_val tc_pt2_reshape(tc_pt2_node *n, tc_val x, tc_ints shape)
{
    return tc_pt2_emit1(n, TC_OP_reshape, tc_pt2_attr(n, shape, shape), x);
}

tc_val tc_pt2_flat(tc_pt2_node *n, tc_val x)
{
    if (n->status != TC_OK)
        return TC_NONE;
    int64_t count = tc_type_count(tc_pt2_type(n, x));
    return tc_pt2_reshape(n, x, tc_ints_copy(&n->ctx->arena, &count, 1));
}

tc_val tc_pt2_permute(tc_pt2_node *n, tc_val x, const int64_t *perm)
{
    if (n->status != TC_OK)
        return TC_NONE;
    tc_ints list = tc_ints_copy(&n->ctx->arena, perm, tc_pt2_type(n, x)->rank);
    return tc_pt2_emit1(n, TC_OP_permute, tc_pt2_attr(n, perm, list), x);
}

tc_val tc_pt2_swap(tc_pt2_node *n, tc_val x, int64_t a, int64_t b)
{
    int64_t perm[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    perm[a] = b;
    perm[b] = a;
    return tc_pt2_permute(n, x, perm);
}

tc_val tc_pt2_expand(tc_pt2_node *n, tc_val x, tc_ints shape)
{
    return tc_pt2_emit1(n, TC_OP_expand, tc_pt2_attr(n, shape, shape), x);
}

tc_val tc_pt2_unsqueeze(tc_pt2_node *n, tc_val x, int64_t axis)
{
    if (n->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_pt2_type(n, x);
    int64_t dim[TC_MAX_RANK + 1];
    for (int i = 0; i <= t->rank; i++)
        dim[i] = i < axis ? t->dim[i] : i == axis ? 1 : t->dim[i - 1];
    return tc_pt2_reshape(n, x, tc_ints_copy(&n->ctx->arena, dim, t->rank + 1));
}

tc_val tc_pt2_full(tc_pt2_node *n, tc_ints shape, double value, tc_dtype dtype)
{
    return tc_pt2_emit(n, TC_OP_full, tc_pt2_attr(n, full, shape, value, dtype), NULL, 0);
}

static int64_t clamp_index(int64_t i, int64_t extent)
{
    return tc_max_i64(0, tc_min_i64(i < 0 ? i + extent : i, extent));
}

tc_attr_slice *tc_pt2_slice_attr(tc_pt2_node *n, const tc_type *x, int64_t axis, int64_t start,
                                 int64_t end, int64_t step)
{
    int64_t extent = x->rank ? x->dim[axis] : 0;
    start = clamp_index(start, extent);
    end = tc_max_i64(start, clamp_index(end, extent));
    return tc_pt2_attr(n, slice, axis, start, end, step);
}

tc_val tc_pt2_slice(tc_pt2_node *n, tc_val x, int64_t axis, int64_t start, int64_t end,
                    int64_t step)
{
    if (n->status != TC_OK)
        return TC_NONE;
    return tc_pt2_emit1(n, TC_OP_slice,
                        tc_pt2_slice_attr(n, tc_pt2_type(n, x), axis, start, end, step), x);
}

tc_val tc_pt2_list(tc_pt2_node *n, const int64_t *v, int64_t count)
{
    if (n->status != TC_OK)
        return TC_NONE;
    void *data = tc_arena_copy(&n->ctx->arena, v, (size_t)count * sizeof *v);
    return tc_graph_const(n->g, tc_type_make(n->ctx, TC_i64, 1, &count), data, NULL, n->loc);
}

tc_val tc_pt2_mask(tc_pt2_node *n, const uint8_t *v, int32_t rank, const int64_t *dim)
{
    if (n->status != TC_OK)
        return TC_NONE;
    const tc_type *type = tc_type_make(n->ctx, TC_bool, rank, dim);
    void *data = tc_arena_copy(&n->ctx->arena, v, tc_type_bytes(type));
    return tc_graph_const(n->g, type, data, NULL, n->loc);
}

tc_val *tc_pt2_list_of(tc_pt2_node *n, const char *arg, int *count)
{
    tc_val *list = tc_pt2_tensors(n, arg, count);
    for (int i = 0; i < *count && n->status == TC_OK; i++)
        if (!list[i])
            tc_pt2_bad(n, TC_E_ARGUMENT, "None in a list of tensors");
    *count = n->status == TC_OK ? *count : 0;
    return list;
}

tc_ints tc_pt2_axes(tc_pt2_node *n, tc_ints axes, int rank)
{
    int64_t list[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (axes.n > rank && !(rank == 0 && axes.n == 1))
        tc_pt2_bad(n, TC_E_ARGUMENT, "more axes than the tensor has");
    if (n->status != TC_OK)
        return (tc_ints){0, NULL};
    for (int i = 0; i < axes.n && i < TC_MAX_RANK; i++)
        list[i] = tc_pt2_axis(n, axes.v[i], rank);
    return tc_ints_copy(&n->ctx->arena, list, axes.n && rank ? axes.n : rank);
}

void tc_pt2_result(tc_pt2_node *n, tc_val base, tc_val value, double view)
{
    if (n->status != TC_OK)
        return;
    tc_pt2_bind(n, 0, value);
    if (view != 0)
        tc_pt2_view(n, base, value);
}
