/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_make.c -- the nodes that forms of the pass `select-cpu-kernels` are made of. */
#include "cpu_forms.h"

#include "../num/load.h"

tc_val tc_cpu_in(const tc_cpu_maker *m, int i)
{
    return i < m->node->n_in ? m->rw->now[m->node->in[i]] : TC_NONE;
}

const tc_type *tc_cpu_in_type(const tc_cpu_maker *m, int i)
{
    return tc_type_of(m->g, tc_cpu_in(m, i));
}

const tc_type *tc_cpu_out_type(const tc_cpu_maker *m, int i)
{
    return tc_type_of(m->rw->from, m->node->out[i]);
}

tc_val tc_cpu_make(tc_cpu_maker *m, tc_op op, const void *attr, const tc_val *in, int n_in)
{
    tc_node *made;
    if (m->status != TC_OK)
        return TC_NONE;
    m->status = tc_graph_emit(m->g, op, attr, in, n_in, 1, m->loc, &made);
    return m->status == TC_OK ? made->out[0] : TC_NONE;
}

tc_val tc_cpu_unary(tc_cpu_maker *m, tc_op op, tc_val x) { return tc_cpu_make(m, op, NULL, &x, 1); }

tc_val tc_cpu_binary(tc_cpu_maker *m, tc_op op, tc_val x, tc_val y)
{
    return tc_cpu_make(m, op, NULL, (tc_val[]){x, y}, 2);
}

bool tc_cpu_is_read(const tc_cpu_maker *m, int i)
{
    return i < m->node->n_out && m->rw->readers[m->node->out[i]] > 0;
}

tc_val tc_cpu_real(tc_cpu_maker *m, int i)
{
    tc_val x = tc_cpu_in(m, i);
    return x && tc_cpu_in_type(m, i)->dtype != TC_f64 ? tc_cpu_cast(m, x, TC_f32) : x;
}

void tc_cpu_give(tc_cpu_maker *m, int i, tc_val v)
{
    const tc_type *want = tc_cpu_out_type(m, i);
    if (m->status == TC_OK && !want->quant) {
        v = tc_cpu_cast(m, v, want->dtype);
        if (m->status == TC_OK && tc_type_count(tc_type_of(m->g, v)) == tc_type_count(want))
            v = tc_cpu_reshape(m, v, want->rank, want->dim);
    }
    if (m->status != TC_OK)
        return;
    if (tc_type_of(m->g, v) != want)
        m->status = tc_bug(
            m->ctx, m->loc, "the kernels for '%s' make %s, expected %s", tc_ops[m->node->op].name,
            tc_type_text(&m->ctx->arena, tc_type_of(m->g, v)), tc_type_text(&m->ctx->arena, want));
    else
        tc_rewrite_bind(m->rw, m->node->out[i], v);
}

tc_val tc_cpu_number(tc_cpu_maker *m, tc_val like, double value)
{
    return m->status == TC_OK ? tc_graph_scalar(m->g, tc_type_of(m->g, like)->dtype, value, m->loc)
                              : TC_NONE;
}

tc_val tc_cpu_ints(tc_cpu_maker *m, const int64_t *v, int32_t rank, const int64_t *dim)
{
    const tc_type *type = tc_type_make(m->ctx, TC_i64, rank, dim);
    return tc_graph_const(m->g, type, tc_arena_copy(&m->ctx->arena, v, tc_type_bytes(type)), NULL,
                          m->loc);
}

tc_val tc_cpu_add(tc_cpu_maker *m, tc_val x, tc_val y)
{
    return tc_cpu_make(m, TC_OP_add, TC_CPU_ATTR(m, alpha, 1), (tc_val[]){x, y}, 2);
}

tc_val tc_cpu_sub(tc_cpu_maker *m, tc_val x, tc_val y)
{
    return tc_cpu_make(m, TC_OP_sub, TC_CPU_ATTR(m, alpha, 1), (tc_val[]){x, y}, 2);
}

tc_val tc_cpu_mul(tc_cpu_maker *m, tc_val x, tc_val y) { return tc_cpu_binary(m, TC_OP_mul, x, y); }

tc_val tc_cpu_div(tc_cpu_maker *m, tc_val x, tc_val y)
{
    return tc_cpu_make(m, TC_OP_div, TC_CPU_ATTR(m, div, TC_div_mode_exact), (tc_val[]){x, y}, 2);
}

tc_val tc_cpu_where(tc_cpu_maker *m, tc_val c, tc_val x, tc_val y)
{
    return tc_cpu_make(m, TC_OP_where, NULL, (tc_val[]){c, x, y}, 3);
}

tc_val tc_cpu_clamp(tc_cpu_maker *m, tc_val x, double lo, double hi)
{
    return tc_cpu_make(m, TC_OP_clamp, TC_CPU_ATTR(m, clamp, lo, hi), &x, 1);
}

tc_val tc_cpu_cast(tc_cpu_maker *m, tc_val x, tc_dtype dtype)
{
    if (m->status != TC_OK || tc_type_of(m->g, x)->dtype == dtype)
        return x;
    return tc_cpu_make(m, TC_OP_cast, TC_CPU_ATTR(m, cast, dtype), &x, 1);
}

/* An operator that gives x another shape: nothing where it has that already. */
static tc_val shaped(tc_cpu_maker *m, tc_op op, tc_val x, int32_t rank, const int64_t *dim)
{
    if (m->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_type_of(m->g, x);
    bool same = t->rank == rank;
    for (int32_t i = 0; i < rank && same; i++)
        same = t->dim[i] == dim[i];
    if (same)
        return x;
    tc_ints shape = tc_ints_copy(&m->ctx->arena, dim, rank);
    return tc_cpu_make(m, op, TC_CPU_ATTR(m, shape, shape), &x, 1);
}

tc_val tc_cpu_reshape(tc_cpu_maker *m, tc_val x, int32_t rank, const int64_t *dim)
{
    return shaped(m, TC_OP_reshape, x, rank, dim);
}

tc_val tc_cpu_expand(tc_cpu_maker *m, tc_val x, int32_t rank, const int64_t *dim)
{
    return shaped(m, TC_OP_expand, x, rank, dim);
}

tc_val tc_cpu_permute(tc_cpu_maker *m, tc_val x, const int64_t *perm)
{
    if (m->status != TC_OK)
        return TC_NONE;
    tc_ints order = tc_ints_copy(&m->ctx->arena, perm, tc_type_of(m->g, x)->rank);
    return tc_cpu_make(m, TC_OP_permute, TC_CPU_ATTR(m, perm, order), &x, 1);
}

tc_val tc_cpu_slice(tc_cpu_maker *m, tc_val x, int64_t axis, int64_t start, int64_t end)
{
    return tc_cpu_make(m, TC_OP_slice, TC_CPU_ATTR(m, slice, axis, start, end, 1), &x, 1);
}

tc_val tc_cpu_cat(tc_cpu_maker *m, const tc_val *x, int n, int64_t axis)
{
    return n == 1 ? x[0] : tc_cpu_make(m, TC_OP_cat, TC_CPU_ATTR(m, axis, axis), x, n);
}

tc_val tc_cpu_reduce(tc_cpu_maker *m, tc_op op, tc_val x, tc_ints axes, bool keepdim)
{
    return tc_cpu_make(m, op, TC_CPU_ATTR(m, axes, axes, keepdim), &x, 1);
}

tc_val tc_cpu_matmul(tc_cpu_maker *m, tc_val x, tc_val y)
{
    return tc_cpu_binary(m, TC_OP_matmul, x, y);
}

tc_val tc_cpu_pick(tc_cpu_maker *m, tc_val x, int64_t axis, const int64_t *row, int64_t n)
{
    tc_val index = tc_cpu_ints(m, row, 1, &n);
    return tc_cpu_make(m, TC_OP_index_select, TC_CPU_ATTR(m, axis, axis), (tc_val[]){x, index}, 2);
}
