/* SPDX-License-Identifier: Apache-2.0 */
/* typed_move.c -- see typed_move.h. */
#include "tile_values.h"
#include "typed_move.h"

const tc_type *tc_typed_dims(tc_ctx *ctx, const tc_type *type, int rank, const int64_t *dim)
{
    tc_type t = {.dtype = type->dtype, .rank = rank, .quant = type->quant};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return tc_type_intern(ctx, &t);
}

tc_val tc_typed_node(tc_typed *b, tc_op op, const void *attr, const tc_val *in, int n,
                     const tc_type *type)
{
    TC_STOP_WITH(b, TC_NONE);
    tc_node *node = tc_graph_add(b->to, op, attr, in, n, 1, b->loc);
    b->to->val[node->out[0]]->type = type;
    b->status = tc_node_infer(b->to, node);
    return b->status == TC_OK ? node->out[0] : TC_NONE;
}

tc_val tc_typed_reshape(tc_typed *b, tc_val x, int rank, const int64_t *dim)
{
    const tc_type *t = tc_type_of(b->to, x);
    if (b->status != TC_OK ||
        (t->rank == rank && memcmp(t->dim, dim, (size_t)rank * sizeof *dim) == 0))
        return x;
    const tc_node *def = tc_def(b->to, x);
    if (def && def->op == TC_OP_reshape &&
        tc_same_quant(tc_type_of(b->to, def->in[0])->quant, t->quant))
        return tc_typed_reshape(b, def->in[0], rank, dim);
    tc_attr_shape a = {tc_ints_copy(&b->ctx->arena, dim, rank)};
    return tc_typed_node(b, TC_OP_reshape, tc_arena_copy(&b->ctx->arena, &a, sizeof a), &x, 1,
                         tc_typed_dims(b->ctx, t, rank, dim));
}

tc_val tc_typed_permute(tc_typed *b, tc_val x, const int64_t *perm)
{
    const tc_type *t = tc_type_of(b->to, x);
    int64_t dim[TC_MAX_RANK];
    bool same = true;
    for (int i = 0; b->status == TC_OK && i < t->rank; i++) {
        dim[i] = t->dim[perm[i]];
        same = same && perm[i] == i;
    }
    if (b->status != TC_OK || same)
        return x;
    tc_attr_perm a = {tc_ints_copy(&b->ctx->arena, perm, t->rank)};
    return tc_typed_node(b, TC_OP_permute, tc_arena_copy(&b->ctx->arena, &a, sizeof a), &x, 1,
                         tc_typed_dims(b->ctx, t, t->rank, dim));
}

tc_val tc_typed_slice(tc_typed *b, tc_val x, int axis, int64_t start, int64_t end, int64_t step)
{
    const tc_type *t = tc_type_of(b->to, x);
    if (b->status != TC_OK || (start == 0 && end == t->dim[axis] && step == 1))
        return x;
    int64_t dim[TC_MAX_RANK];
    memcpy(dim, t->dim, sizeof dim);
    dim[axis] = (end - start + step - 1) / step;
    tc_attr_slice a = {.axis = axis, .start = start, .end = end, .step = step};
    return tc_typed_node(b, TC_OP_slice, tc_arena_copy(&b->ctx->arena, &a, sizeof a), &x, 1,
                         tc_typed_dims(b->ctx, t, t->rank, dim));
}

tc_val tc_typed_cat(tc_typed *b, const tc_val *x, int n, int axis)
{
    if (b->status != TC_OK || n == 1)
        return x[0];
    const tc_type *t = tc_type_of(b->to, x[0]);
    int64_t dim[TC_MAX_RANK];
    memcpy(dim, t->dim, sizeof dim);
    for (int i = 1; i < n; i++)
        dim[axis] += tc_type_of(b->to, x[i])->dim[axis];
    tc_attr_axis a = {axis};
    return tc_typed_node(b, TC_OP_cat, tc_arena_copy(&b->ctx->arena, &a, sizeof a), x, n,
                         tc_typed_dims(b->ctx, t, t->rank, dim));
}
