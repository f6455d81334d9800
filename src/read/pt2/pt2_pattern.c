/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_pattern.c -- importers of operators that lay tensors out in a pattern: products of all pairs,
 * powers side by side, blocks along a diagonal, running sums of exponentials. */
#include "pt2_make.h"

/* The tensor with leading axes of extent 1 up to the rank. */
static tc_val with_rank(tc_pt2_node *n, tc_val x, int rank)
{
    if (n->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_pt2_type(n, x);
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = i < rank - t->rank ? 1 : t->dim[i - (rank - t->rank)];
    return tc_pt2_reshape(n, x, tc_ints_copy(&n->ctx->arena, dim, rank));
}

/* kron(a, b)[i p + k, ...] = a[i, ...] b[k, ...]: each axis of a stands before its own of b. */
static void import_kron(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val a = tc_pt2_tensor(n, "self"), b = tc_pt2_tensor(n, "other");
    (void)row;
    if (n->status != TC_OK)
        return;
    int rank = tc_pt2_type(n, a)->rank > tc_pt2_type(n, b)->rank ? tc_pt2_type(n, a)->rank
                                                                 : tc_pt2_type(n, b)->rank;
    if (2 * rank > TC_MAX_RANK) {
        tc_pt2_unsupported(n, "tensors of more than four axes");
        return;
    }
    a = with_rank(n, a, rank);
    b = with_rank(n, b, rank);
    if (n->status != TC_OK)
        return;
    int64_t of_a[TC_MAX_RANK], of_b[TC_MAX_RANK], out[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        of_a[2 * i] = tc_pt2_type(n, a)->dim[i];
        of_b[2 * i + 1] = tc_pt2_type(n, b)->dim[i];
        of_a[2 * i + 1] = of_b[2 * i] = 1;
        out[i] = of_a[2 * i] * of_b[2 * i + 1];
    }
    a = tc_pt2_reshape(n, a, tc_ints_copy(&n->ctx->arena, of_a, 2 * rank));
    b = tc_pt2_reshape(n, b, tc_ints_copy(&n->ctx->arena, of_b, 2 * rank));
    tc_val y = tc_pt2_emit2(n, TC_OP_mul, NULL, a, b);
    tc_pt2_result(n, TC_NONE, tc_pt2_reshape(n, y, tc_ints_copy(&n->ctx->arena, out, rank)), 0);
}

/* x^0 .. x^(N - 1) side by side; extra: powers rise from left to right without being asked to. */
static void import_vander(tc_pt2_node *n, const tc_pt2_row *row)
{
    enum { MOST = 1024 };
    tc_val x = tc_pt2_tensor(n, "x");
    if (n->status != TC_OK)
        return;
    const tc_type *t = tc_pt2_type(n, x);
    int64_t count = tc_pt2_int(n, "N", t->rank ? t->dim[t->rank - 1] : 1);
    bool rising = row->extra != 0 || tc_pt2_bool(n, "increasing", false);
    if (n->status == TC_OK && (count < 1 || count > MOST || t->rank < 1))
        tc_pt2_unsupported(n, "so many powers, or powers of no row");
    if (n->status != TC_OK)
        return;
    tc_val *power = tc_new_n(&n->ctx->arena, tc_val, (size_t)count), last = TC_NONE;
    for (int64_t k = 0; k < count; k++) {
        last = !k       ? tc_pt2_full(n, tc_pt2_dims(n, t), 1, t->dtype)
               : k == 1 ? x
                        : tc_pt2_emit2(n, TC_OP_mul, NULL, last, x);
        power[rising ? k : count - 1 - k] = last;
    }
    tc_val y = tc_pt2_emit(n, TC_OP_stack, tc_pt2_attr(n, axis, t->rank), power, (int)count);
    tc_pt2_result(n, TC_NONE, y, 0);
}

/* Matrices one behind the other along the diagonal, zeros elsewhere. */
static void import_block_diag(tc_pt2_node *n, const tc_pt2_row *row)
{
    int count;
    tc_val *block = tc_pt2_list_of(n, "tensors", &count);
    const tc_type *y = tc_pt2_result_type(n, 0);
    (void)row;
    if (n->status != TC_OK || !y || y->rank != 2 || !count)
        return;
    int64_t before = 0;
    for (int i = 0; i < count && n->status == TC_OK; i++) {
        tc_val x = tc_pt2_cast(n, with_rank(n, block[i], 2), y->dtype);
        if (n->status != TC_OK)
            return;
        int64_t columns = tc_pt2_type(n, x)->dim[1];
        int64_t pad[4] = {0, 0, before, y->dim[1] - before - columns};
        before += columns;
        tc_attr_pad *a = tc_pt2_attr(n, pad, .pad = tc_ints_copy(&n->ctx->arena, pad, 4),
                                     .mode = TC_pad_mode_constant);
        block[i] = tc_pt2_emit1(n, TC_OP_pad, a, x);
    }
    tc_val all = tc_pt2_emit(n, TC_OP_cat, tc_pt2_attr(n, axis, 0), block, count);
    tc_pt2_result(n, TC_NONE, all, 0);
}

/* All combinations of one number of each list, the last list running fastest. */
static void import_cartesian(tc_pt2_node *n, const tc_pt2_row *row)
{
    int count;
    tc_val *list = tc_pt2_list_of(n, "tensors", &count);
    (void)row;
    if (n->status != TC_OK)
        return;
    if (count == 1) {
        tc_pt2_result(n, TC_NONE, tc_pt2_emit1(n, TC_OP_identity, NULL, list[0]), 0);
        return;
    }
    int64_t dim[TC_MAX_RANK], own[TC_MAX_RANK];
    if (count < 1 || count > TC_MAX_RANK) {
        tc_pt2_unsupported(n, "more than eight lists");
        return;
    }
    for (int i = 0; i < count; i++)
        dim[i] = tc_type_count(tc_pt2_type(n, list[i]));
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++)
            own[k] = k == i ? dim[i] : 1;
        tc_val x = tc_pt2_reshape(n, list[i], tc_ints_copy(&n->ctx->arena, own, count));
        x = tc_pt2_expand(n, x, tc_ints_copy(&n->ctx->arena, dim, count));
        list[i] = tc_pt2_flat(n, x);
    }
    tc_pt2_result(n, TC_NONE,
                  tc_pt2_emit(n, TC_OP_stack, tc_pt2_attr(n, axis, 1), list, count), 0);
}

/* log of the running sum of e^x, by doubling: after step k every place has the sum of the 2^k
 * numbers up to it, and no sum leaves the numbers there are. */
static void import_logcumsumexp(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    (void)row;
    if (n->status != TC_OK)
        return;
    const tc_type *t = tc_pt2_type(n, x);
    int64_t axis = tc_pt2_axis(n, tc_pt2_need_int(n, "dim"), t->rank);
    int64_t extent = t->rank ? t->dim[axis] : 1;
    for (int64_t step = 1; step < extent && n->status == TC_OK; step *= 2) {
        tc_val head = tc_pt2_slice(n, x, axis, 0, step, 1);
        tc_val tail = tc_pt2_slice(n, x, axis, step, extent, 1);
        tc_val before = tc_pt2_slice(n, x, axis, 0, extent - step, 1);
        tc_val both = tc_pt2_emit2(n, TC_OP_logaddexp, NULL, tail, before);
        x = tc_pt2_emit2(n, TC_OP_cat, tc_pt2_attr(n, axis, axis), head, both);
    }
    if (extent <= 1)
        x = tc_pt2_emit1(n, TC_OP_identity, NULL, x);
    tc_pt2_result(n, TC_NONE, x, 0);
}

const tc_pt2_row tc_pt2_pattern[] = {
    {"aten.kron.default", import_kron, TC_OP_mul, 0},
    {"aten.vander.default", import_vander, TC_OP_stack, 0},
    {"aten.linalg_vander.default", import_vander, TC_OP_stack, 1},
    {"aten.block_diag.default", import_block_diag, TC_OP_cat, 0},
    {"aten.cartesian_prod.default", import_cartesian, TC_OP_stack, 0},
    {"aten.logcumsumexp.default", import_logcumsumexp, TC_OP_logaddexp, 0},
    {NULL, NULL, TC_OP_COUNT, 0},
};
