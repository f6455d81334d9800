/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_pattern.c -- importers of structured operators: products of all pairs, powers in columns,
 * blocks along a diagonal, running sums of exponentials. */
#include "pt2.h"

/* The tensor with leading axes of extent 1 up to the rank. */
static tc_val with_rank(tc_pt2_node *n, tc_val x, int rank)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = i < rank - t->rank ? 1 : t->dim[i - (rank - t->rank)];
    return ti_b_reshape(&n->m, x, rank, dim);
}

/* kron(a, b)[i p + k, ...] = a[i, ...] b[k, ...]: each axis of a is before its counterpart of b. */
static void import_kron(tc_pt2_node *n)
{
    tc_val a = ti_pt2_tensor(n, "self"), b = ti_pt2_tensor(n, "other");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, a)->rank > ti_b_type(&n->m, b)->rank ? ti_b_type(&n->m, a)->rank
                                                                 : ti_b_type(&n->m, b)->rank;
    if (2 * rank > TC_MAX_RANK) {
        ti_b_unsupported(&n->m, "tensors of more than four axes");
        return;
    }
    a = with_rank(n, a, rank);
    b = with_rank(n, b, rank);
    TC_STOP(&n->m);
    int64_t of_a[TC_MAX_RANK], of_b[TC_MAX_RANK], out[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        of_a[2 * i] = ti_b_type(&n->m, a)->dim[i];
        of_b[2 * i + 1] = ti_b_type(&n->m, b)->dim[i];
        of_a[2 * i + 1] = of_b[2 * i] = 1;
        out[i] = of_a[2 * i] * of_b[2 * i + 1];
    }
    a = ti_b_reshape(&n->m, a, 2 * rank, of_a);
    b = ti_b_reshape(&n->m, b, 2 * rank, of_b);
    tc_val y = ti_b_mul(&n->m, a, b);
    ti_pt2_result(n, ti_b_reshape(&n->m, y, rank, out));
}

/* x^0 .. x^(N - 1) in columns; extra: powers rise from left to right by default. */
static void import_vander(tc_pt2_node *n)
{
    enum { MOST = 1024 };
    tc_val x = ti_pt2_tensor(n, "x");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t count = ti_pt2_int(n, "N", t->rank ? t->dim[t->rank - 1] : 1);
    bool rising = n->row->extra != 0 || ti_pt2_bool(n, "increasing", false);
    if (n->m.status == TC_OK && (count < 1 || count > MOST || t->rank < 1))
        ti_b_unsupported(&n->m, "too many powers, or powers of no row");
    TC_STOP(&n->m);
    tc_val *power = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)count), last = TC_NONE;
    for (int64_t k = 0; k < count; k++) {
        last = !k       ? ti_b_full(&n->m, t->rank, t->dim, 1, t->dtype)
               : k == 1 ? x
                        : ti_b_mul(&n->m, last, x);
        power[rising ? k : count - 1 - k] = last;
    }
    tc_val y = ti_b_op(&n->m, TC_OP_stack, ti_b_attr(&n->m, axis, t->rank), power, (int)count);
    ti_pt2_result(n, y);
}

/* Block-diagonal matrix, zeros elsewhere. */
static void import_block_diag(tc_pt2_node *n)
{
    int count;
    tc_val *block = ti_pt2_list_of(n, "tensors", &count);
    const tc_type *y = ti_pt2_result_type(n, 0);
    if (n->m.status != TC_OK || !y || y->rank != 2 || !count)
        return;
    int64_t before = 0;
    for (int i = 0; i < count && n->m.status == TC_OK; i++) {
        tc_val x = ti_b_cast(&n->m, with_rank(n, block[i], 2), y->dtype);
        TC_STOP(&n->m);
        int64_t columns = ti_b_type(&n->m, x)->dim[1];
        int64_t pad[4] = {0, 0, before, y->dim[1] - before - columns};
        before += columns;
        tc_attr_pad *a = ti_b_attr(&n->m, pad, .pad = ti_ints_copy(&n->m.ctx->arena, pad, 4),
                                   .mode = TC_pad_mode_constant);
        block[i] = ti_b_1(&n->m, pad, a, x);
    }
    tc_val all = ti_b_op(&n->m, TC_OP_cat, ti_b_attr(&n->m, axis, 0), block, count);
    ti_pt2_result(n, all);
}

/* All combinations of one number of each list, the last list running fastest. */
static void import_cartesian(tc_pt2_node *n)
{
    int count;
    tc_val *list = ti_pt2_list_of(n, "tensors", &count);
    TC_STOP(&n->m);
    if (count == 1) {
        ti_pt2_result(n, ti_b_identity(&n->m, list[0]));
        return;
    }
    int64_t dim[TC_MAX_RANK], own[TC_MAX_RANK];
    if (count < 1 || count > TC_MAX_RANK) {
        ti_b_unsupported(&n->m, "more than eight lists");
        return;
    }
    for (int i = 0; i < count; i++)
        dim[i] = tc_type_count(ti_b_type(&n->m, list[i]));
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++)
            own[k] = k == i ? dim[i] : 1;
        tc_val x = ti_b_reshape(&n->m, list[i], count, own);
        x = ti_b_expand(&n->m, x, count, dim);
        list[i] = ti_b_flat(&n->m, x);
    }
    ti_pt2_result(n, ti_b_op(&n->m, TC_OP_stack, ti_b_attr(&n->m, axis, 1), list, count));
}

/* log of the running sum of e^x, by doubling: after step k every element has the sum of the 2^k
 * values up to it, and no sum overflows. */
static void import_logcumsumexp(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, ti_pt2_need_int(n, "dim"), t->rank);
    int64_t extent = t->rank ? t->dim[axis] : 1;
    for (int64_t step = 1; step < extent && n->m.status == TC_OK; step *= 2) {
        tc_val head = ti_pt2_slice(n, x, axis, 0, step, 1);
        tc_val tail = ti_pt2_slice(n, x, axis, step, extent, 1);
        tc_val before = ti_pt2_slice(n, x, axis, 0, extent - step, 1);
        tc_val both = ti_b_logaddexp(&n->m, tail, before);
        x = ti_b_2(&n->m, cat, ti_b_attr(&n->m, axis, axis), head, both);
    }
    if (extent <= 1)
        x = ti_b_identity(&n->m, x);
    ti_pt2_result(n, x);
}

const tc_pt2_row tc_pt2_pattern[] = {
    ROW("kron", import_kron, mul, 0),
    ROW("vander", import_vander, stack, 0),
    ROW("linalg_vander", import_vander, stack, 1),
    ROW("block_diag", import_block_diag, cat, 0),
    VIEW_ROW("cartesian_prod", import_cartesian, stack, ITSELF),
    ROW("logcumsumexp", import_logcumsumexp, logaddexp, 0),
    {0},
};
