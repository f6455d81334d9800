/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_column.c -- see composite.h: a constant column appended to a matrix.
 *
 * If convolutions made the matrix, perhaps concatenated and reshaped since, each of them gets one
 * channel more, of weights 0 and the constant as its bias: no copy is needed. */
#include "composite.h"

#include "../../num/load.h"

typedef struct column {
    tc_build *lw;
    int64_t zero;
    int number; /* less the zero point */
} column;

static bool is_zero(const tc_build *lw, tc_val v, int64_t zero)
{
    tc_tensor t = ti_b_constant(lw, v);
    return t.data && tc_type_count(t.type) == 1 && ti_load_i64(t, 0) == zero;
}

/* A convolution of 8 bits and its rescale, all constants known. */
static bool is_product(const column *c, const tc_node *rescale)
{
    const tc_attr_tosa_rescale *a = rescale->attr;
    const tc_node *conv = ti_def(c->lw->g, rescale->in[0]);
    if (!conv || conv->op != TC_OP_tosa_conv2d || !a->scale32 || a->input_unsigned ||
        a->output_unsigned || !is_zero(c->lw, rescale->in[3], 0) ||
        !is_zero(c->lw, rescale->in[4], c->zero) || !is_zero(c->lw, conv->in[4], 0))
        return false;
    tc_tensor w = ti_b_constant(c->lw, conv->in[1]);
    return w.data && w.type->dtype == TC_i8 && ti_b_constant(c->lw, conv->in[2]).data &&
           ti_b_constant(c->lw, rescale->in[1]).data && ti_b_constant(c->lw, rescale->in[2]).data &&
           ti_b_dtype(c->lw, conv->out[0]) == TC_i32;
}

static int64_t last_of(const column *c, tc_val v)
{
    const tc_type *t = ti_b_type(c->lw, v);
    return t->rank ? t->dim[t->rank - 1] : 0;
}

/* TRANSPOSE that leaves the last axis where it is, or none. */
static const tc_attr_tosa_perms *moves_rows(const tc_node *node)
{
    const tc_attr_tosa_perms *a = node->op == TC_OP_tosa_transpose ? node->attr : NULL;
    return a && a->perms.n && a->perms.v[a->perms.n - 1] == (int64_t)a->perms.n - 1 ? a : NULL;
}

static bool can_grow(const column *c, tc_val v)
{
    const tc_node *def = ti_def(c->lw->g, v);
    if (!def || ti_b_dtype(c->lw, v) != TC_i8)
        return false;
    if (def->op == TC_OP_tosa_rescale)
        return is_product(c, def);
    if (def->op == TC_OP_tosa_reshape)
        return last_of(c, def->in[0]) == last_of(c, v) && can_grow(c, def->in[0]);
    if (moves_rows(def))
        return can_grow(c, def->in[0]);
    if (def->op != TC_OP_tosa_concat ||
        ((const tc_attr_tosa_axis *)def->attr)->axis == ti_b_type(c->lw, v)->rank - 1)
        return false;
    for (int i = 0; i < def->n_in; i++)
        if (!can_grow(c, def->in[i]))
            return false;
    return true;
}

/* A constant [n, ..], or one element for all n, with `more` appended. */
static tc_val longer(const column *c, tc_val v, int64_t n, int64_t more)
{
    tc_tensor t = ti_b_constant(c->lw, v);
    int64_t dim[TC_MAX_RANK], all = tc_type_count(t.type), each = all == 1 ? 1 : all / n;
    double *x = tc_new_n(&c->lw->ctx->arena, double, (size_t)((n + 1) * each));
    memcpy(dim, t.type->dim, sizeof dim);
    dim[0] = n + 1;
    for (int64_t i = 0; i < (n + 1) * each; i++)
        x[i] = i >= n * each ? (double)more : ti_load_f64(t, all == 1 ? 0 : i);
    return ti_b_numbers(c->lw, t.type->dtype, t.type->rank, dim, x);
}

static tc_val grown_product(const column *c, const tc_node *rescale)
{
    const tc_node *conv = ti_def(c->lw->g, rescale->in[0]);
    int64_t n = last_of(c, conv->out[0]);
    tc_val in[5] = {conv->in[0], TC_NONE, TC_NONE, conv->in[3], conv->in[4]};
    in[1] = longer(c, conv->in[1], n, 0);
    in[2] = longer(c, conv->in[2], n, c->number);
    tc_val y = ti_b_op(c->lw, TC_OP_tosa_conv2d, conv->attr, in, 5);
    tc_attr_tosa_rescale *a =
        ti_arena_copy(&c->lw->ctx->arena, rescale->attr, sizeof(tc_attr_tosa_rescale));
    a->per_channel = true;
    tc_val by[5] = {y, TC_NONE, TC_NONE, rescale->in[3], rescale->in[4]};
    by[1] = longer(c, rescale->in[1], n, 1 << 30); /* times one */
    by[2] = longer(c, rescale->in[2], n, 30);
    TC_STOP_WITH(c->lw, TC_NONE);
    const tc_type *t = ti_b_type(c->lw, y);
    return ti_b_typed(c->lw, TC_OP_tosa_rescale, a, by, 5,
                      ti_type_make(c->lw->ctx, TC_i8, t->rank, t->dim));
}

static tc_val grown(const column *c, tc_val v)
{
    const tc_node *def = ti_def(c->lw->g, v);
    const tc_type *t = ti_b_type(c->lw, v);
    if (def->op == TC_OP_tosa_rescale)
        return grown_product(c, def);
    if (def->op == TC_OP_tosa_reshape) {
        int64_t dim[TC_MAX_RANK];
        memcpy(dim, t->dim, sizeof dim);
        dim[t->rank - 1]++;
        return ti_b_tosa_reshape(c->lw, grown(c, def->in[0]), t->rank, dim);
    }
    if (moves_rows(def)) {
        const int64_t *perm = moves_rows(def)->perms.v;
        return ti_b_tosa_transpose(c->lw, grown(c, def->in[0]), perm);
    }
    tc_val *part = tc_new_n(&c->lw->ctx->arena, tc_val, (size_t)def->n_in);
    int axis = (int)((const tc_attr_tosa_axis *)def->attr)->axis, n = def->n_in;
    for (int i = 0; i < n; i++) /* the graph may move while it grows */
        part[i] = grown(c, ti_def(c->lw->g, v)->in[i]);
    return ti_put_concat(c->lw, part, n, axis);
}

tc_val ti_put_column(tc_build *lw, tc_val v, int64_t zero, int number)
{
    column c = {lw, zero, number};
    return v && can_grow(&c, v) ? grown(&c, v) : TC_NONE;
}
