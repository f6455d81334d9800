/* SPDX-License-Identifier: Apache-2.0 */
/* replace_selects.c -- typed form: select by a computed condition, for machines without bool.
 *
 *   where(c, x, y)  =>  x * m + y * n      m: 1 where c holds, 0 elsewhere; n = 1 - m
 *
 * bit-exact: both products and the sum have the result's own type.  The CPU computes m and n, as it
 * does c.
 *
 *   index_copy(y, i, x), one index  =>  where(0 1 2 .. == i, x, y), in the same way
 *
 * since such machines do not write to computed indices either. */
#include "../lower_pass.h"
#include "../layout/typed_move.h"

#include "../../ir/rewrite.h"
#include "../../num/load.h"

/* 1 where c holds, as i8 of scale 1. */
static tc_val as_numbers(tc_build *b, tc_val c)
{
    const tc_type *t = ti_type_of(b->g, c);
    double one = 1;
    int64_t zero = 0;
    tc_quant q = {-1, 1, -128, 127, &one, &zero};
    tc_type type = {.dtype = TC_i8, .rank = t->rank, .quant = &q};
    memcpy(type.dim, t->dim, sizeof type.dim);
    tc_attr_cast *a = tc_new(&b->ctx->arena, tc_attr_cast);
    a->dtype = TC_f32;
    return ti_b_typed(b, TC_OP_cast, a, &c, 1, ti_type_intern(b->ctx, &type));
}

/* x in the domain of `to`, in its own shape. */
static tc_val in_domain(tc_build *b, tc_val x, const tc_type *to)
{
    const tc_type *t = ti_type_of(b->g, x);
    if (t->dtype == to->dtype && t->quant->scale[0] == to->quant->scale[0] &&
        t->quant->zero[0] == to->quant->zero[0] && t->quant->lo == to->quant->lo &&
        t->quant->hi == to->quant->hi)
        return x;
    return ti_b_typed(b, TC_OP_rescale, NULL, &x, 1, ti_type_dims(b->ctx, to, t->rank, t->dim));
}

static const tc_type *broadcast(tc_ctx *ctx, const tc_type *domain, const tc_type *x,
                                const tc_type *y)
{
    int rank = x->rank > y->rank ? x->rank : y->rank;
    int64_t dim[TC_MAX_RANK];
    for (int i = 1; i <= rank; i++) {
        int64_t a = i <= x->rank ? x->dim[x->rank - i] : 1;
        int64_t c = i <= y->rank ? y->dim[y->rank - i] : 1;
        dim[rank - i] = a == 1 ? c : a;
    }
    return ti_type_dims(ctx, domain, rank, dim);
}

static tc_val where_kept(tc_build *b, tc_val x, tc_val kept, const tc_type *to)
{
    TC_STOP_WITH(b, TC_NONE);
    const tc_type *y = broadcast(b->ctx, to, ti_type_of(b->g, x), ti_type_of(b->g, kept));
    return ti_b_typed(b, TC_OP_mul, NULL, (tc_val[]){x, kept}, 2, y);
}

/* x where c holds, y elsewhere, instead of the node's result. */
static tc_status choose(tc_rewrite *rw, const tc_node *node, tc_build *b, tc_val c, tc_val x,
                        tc_val y, bool *done)
{
    const tc_type *to = ti_type_of(rw->from, node->out[0]);
    TC_TRY(b->status);
    tc_val no = ti_b_typed(b, TC_OP_logical_not, NULL, &c, 1, ti_type_of(b->g, c));
    tc_val kept = as_numbers(b, c);
    x = where_kept(b, in_domain(b, x, to), kept, to);
    kept = as_numbers(b, no);
    y = where_kept(b, in_domain(b, y, to), kept, to);
    tc_attr_alpha *one = tc_new(&rw->ctx->arena, tc_attr_alpha);
    one->alpha = 1;
    tc_val sum = ti_b_typed(b, TC_OP_add, one, (tc_val[]){x, y}, 2, to);
    TC_TRY(b->status);
    return ti_rewrite_with(rw, node, sum, done);
}

static tc_status without_bools(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_where || ti_is_const(rw->to, ti_rewrite_in(rw, node, 0)) ||
        !ti_is_narrow(ti_type_of(rw->from, node->out[0])) ||
        !ti_is_narrow(ti_type_of(rw->from, node->in[1])) ||
        !ti_is_narrow(ti_type_of(rw->from, node->in[2])))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return choose(rw, node, &b, ti_rewrite_in(rw, node, 0), ti_rewrite_in(rw, node, 1),
                  ti_rewrite_in(rw, node, 2), done);
}

/* [1,..,n,..,1]: true at the index. */
static tc_val at_place(tc_build *b, tc_val index, int rank, int64_t axis, int64_t n)
{
    const tc_type *t = ti_type_of(b->g, index);
    tc_tensor number = ti_tensor_new(&b->ctx->arena, ti_type_make(b->ctx, t->dtype, 1, &n));
    for (int64_t i = 0; i < n; i++)
        ti_store_i64(number, i, i);
    tc_val all = ti_graph_const(b->g, number.type, number.data, NULL, b->loc);
    tc_val c = ti_b_typed(b, TC_OP_eq, NULL, (tc_val[]){all, index}, 2,
                          ti_type_make(b->ctx, TC_bool, 1, &n));
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = i == axis ? n : 1;
    return b->status == TC_OK ? ti_typed_reshape(b, c, rank, dim) : c;
}

static tc_status without_places(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_index_copy || ti_is_const(rw->to, ti_rewrite_in(rw, node, 1)))
        return TC_OK;
    const tc_type *y = ti_type_of(rw->from, node->in[0]), *i = ti_type_of(rw->from, node->in[1]),
                  *x = ti_type_of(rw->from, node->in[2]);
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis;
    if (tc_type_count(i) != 1 || i->rank > 1 || !y->rank || x->rank != y->rank ||
        !ti_is_narrow(y) || !ti_is_narrow(x) || !ti_is_narrow(ti_type_of(rw->from, node->out[0])))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val c = at_place(&b, ti_rewrite_in(rw, node, 1), y->rank, axis, y->dim[axis]);
    return choose(rw, node, &b, c, ti_rewrite_in(rw, node, 2), ti_rewrite_in(rw, node, 0), done);
}

TC_REWRITES(ti_lower_replace_selects, without_bools, without_places)
