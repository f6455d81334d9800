/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c -- see rows.h. */
#include "rows.h"

#include "strided.h"

static bool named(tc_ints axes, int64_t axis)
{
    for (int i = 0; i < axes.n; i++)
        if (axes.v[i] == axis)
            return true;
    return false;
}

/* x's axes in the order kept, named; true when x has that order already. */
static bool named_last(const tc_type *x, tc_ints axes, int order[TC_MAX_RANK])
{
    int k = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < x->rank; i++)
            if (named(axes, i) == (pass == 1))
                order[k++] = i;
    for (int i = 0; i < x->rank; i++)
        if (order[i] != i)
            return false;
    return true;
}

tc_rows ti_rows_of(tc_arena *arena, tc_tensor x, tc_ints axes)
{
    int order[TC_MAX_RANK];
    int64_t step[TC_MAX_RANK];
    tc_axis axis[TC_MAX_RANK];
    tc_rows rows = {.x = x, .n_row = 1, .n = 1};
    bool in_order = named_last(x.type, axes, order);
    for (int i = 0; i < x.type->rank; i++)
        *(named(axes, i) ? &rows.n : &rows.n_row) *= x.type->dim[i];
    if (in_order || rows.n * rows.n_row == 0)
        return rows;
    ti_steps(x.type, step);
    int64_t to = 1;
    for (int i = x.type->rank - 1; i >= 0; i--) {
        axis[i] = (tc_axis){x.type->dim[order[i]], to, step[order[i]]};
        to *= axis[i].n;
    }
    rows.x = ti_tensor_new(arena, x.type);
    ti_move(rows.x.data, x.data, tc_dtypes[x.type->dtype].bytes, axis, x.type->rank);
    return rows;
}

tc_rows ti_rows_along(tc_arena *arena, tc_tensor x, int64_t axis)
{
    return ti_rows_of(arena, x, (tc_ints){x.type->rank > 0, &axis});
}

void ti_rows_back(tc_tensor out, int64_t axis, const void *rows, int64_t n)
{
    const tc_type *y = out.type;
    int64_t inner = y->rank ? ti_extent(y, (int)axis + 1, y->rank) : 1;
    int64_t outer = y->rank ? ti_extent(y, 0, (int)axis) : 1;
    tc_axis walk[] = {{outer, n * inner, n * inner}, {n, inner, 1}, {inner, 1, n}};
    ti_move(out.data, rows, tc_dtypes[y->dtype].bytes, walk, 3);
}
