/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_make.c -- small steps that importers of movement, indexing and reductions are made of. */
#include "pt2.h"

tc_ints tc_pt2_dims(tc_pt2_node *n, const tc_type *type)
{
    return type ? tc_ints_copy(&n->m.ctx->arena, type->dim, type->rank) : (tc_ints){0, NULL};
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
    return tc_b_attr(&n->m, slice, axis, start, end, step);
}

tc_val tc_pt2_slice(tc_pt2_node *n, tc_val x, int64_t axis, int64_t start, int64_t end,
                    int64_t step)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    return tc_b_1(&n->m, slice, tc_pt2_slice_attr(n, tc_b_type(&n->m, x), axis, start, end, step),
                  x);
}

tc_val tc_pt2_mask(tc_pt2_node *n, const uint8_t *v, int32_t rank, const int64_t *dim)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    const tc_type *type = tc_type_make(n->m.ctx, TC_bool, rank, dim);
    void *data = tc_arena_copy(&n->m.ctx->arena, v, tc_type_bytes(type));
    return tc_graph_const(n->m.g, type, data, NULL, n->m.loc);
}

tc_val *tc_pt2_list_of(tc_pt2_node *n, const char *arg, int *count)
{
    tc_val *list = tc_pt2_tensors(n, arg, count);
    for (int i = 0; i < *count && n->m.status == TC_OK; i++)
        if (!list[i])
            tc_b_bad(&n->m, TC_E_ARGUMENT, "None in a list of tensors");
    *count = n->m.status == TC_OK ? *count : 0;
    return list;
}

void tc_pt2_result(tc_pt2_node *n, tc_val base, tc_val value, double view)
{
    TC_STOP(&n->m);
    tc_pt2_bind(n, 0, value);
    if (view != 0)
        tc_pt2_view(n, base, value);
}
