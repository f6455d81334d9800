/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_reduce.c -- importers of reductions, scans and sorts.
 *
 * PyTorch casts to the `dtype` argument before it adds up; a missing or empty list of axes means
 * all. */
#include <math.h>

#include "pt2.h"

/* Of a matrix this is the square root of all squares; other norms of matrices are something else.
 */
static void import_linalg_norm(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    int axes = ti_pt2_ints(n, "dim").n;
    TC_STOP(&n->m);
    bool vector = axes == 1 || (!axes && ti_b_type(&n->m, x)->rank == 1);
    if (ti_pt2_has(n, "ord") && !vector)
        ti_b_unsupported(&n->m, "a norm of matrices other than the default");
    ti_pt2_follow(n, "norm(cast(self, dtype=dtype?), axes=dim:all, keepdim:false, ord:2)");
}

/* Places of extremes. */

static tc_node *sorted(tc_pt2_node *n, tc_val x, int64_t dim, bool descending)
{
    TC_STOP_WITH(&n->m, NULL);
    const void *attr =
        ti_b_attr(&n->m, sort, ti_b_axis(&n->m, dim, ti_b_type(&n->m, x)->rank), descending);
    return ti_b_ops(&n->m, TC_OP_sort, attr, &x, 1, 2);
}

/* One element of the sorted row: the k-th, or the one in the middle, the lower of two. */
static void import_ranked(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    bool kth = n->row->extra != 0, whole = !kth && !ti_pt2_has(n, "dim"),
         keepdim = ti_pt2_bool(n, "keepdim", false);
    int64_t dim = ti_pt2_int(n, "dim", kth ? -1 : 0), k = kth ? ti_pt2_need_int(n, "k") : 0;
    x = whole ? ti_b_flat(&n->m, x) : x;
    const tc_node *node = sorted(n, x, dim, false);
    if (!node)
        return;
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, dim, t->rank), middle = t->rank ? (t->dim[axis] - 1) / 2 : 0;
    middle = kth ? k - 1 : middle;
    for (int i = 0; i < (whole ? 1 : 2); i++) {
        tc_val y = node->out[i];
        if (t->rank && keepdim)
            y = ti_pt2_slice(n, y, axis, middle, middle + 1, 1);
        else if (t->rank)
            y = ti_b_1(&n->m, select, ti_b_attr(&n->m, select, axis, middle), y);
        if (n->m.status == TC_OK)
            ti_pt2_bind(n, i, y);
    }
}

/* Neighbours subtracted, n times over; prepended and appended numbers take part. */
static void import_diff(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), ends[3] = {ti_pt2_tensor_opt(n, "prepend"), x};
    ends[2] = ti_pt2_tensor_opt(n, "append");
    int64_t times = ti_pt2_int(n, "n", 1), dim = ti_pt2_int(n, "dim", -1);
    TC_STOP(&n->m);
    int64_t axis = ti_b_axis(&n->m, dim, ti_b_type(&n->m, x)->rank);
    tc_val joined[3];
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (ends[i])
            joined[count++] = ti_b_cast(&n->m, ends[i], ti_b_type(&n->m, x)->dtype);
    if (count > 1)
        x = ti_b_op(&n->m, TC_OP_cat, ti_b_attr(&n->m, axis, axis), joined, count);
    bool is_bool = n->m.status == TC_OK && ti_b_type(&n->m, x)->dtype == TC_bool;
    for (int64_t i = 0; i < times && n->m.status == TC_OK; i++) {
        const tc_type *t = ti_b_type(&n->m, x);
        if (!t->rank || !t->dim[axis])
            break;
        tc_val next = ti_pt2_slice(n, x, axis, 1, t->dim[axis], 1),
               before = ti_pt2_slice(n, x, axis, 0, t->dim[axis] - 1, 1);
        x = is_bool ? ti_b_logical_xor(&n->m, next, before) : ti_b_sub(&n->m, next, before);
    }
    ti_pt2_result(n, x, x, 0);
}

const tc_pt2_row tc_pt2_reduce[] = {
    ROW("linalg_norm", import_linalg_norm, norm, 0),
    ROW("median median.dim", import_ranked, sort, 0),
    ROW("kthvalue", import_ranked, sort, 1),
    ROW("diff", import_diff, sub, 0),
    {0},
};
