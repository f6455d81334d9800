/* SPDX-License-Identifier: Apache-2.0 */
/* sink_reshapes.c -- TOSA form: CONCATs and SLICEs of contiguous parts, in the shape of their
 * producer or reader.
 *
 *   CONCAT(RESHAPE(x), RESHAPE(y), ..)  =>  RESHAPE(CONCAT(x, y, ..)), along the last axis, too
 *   RESHAPE(SLICE(x))                   =>  SLICE(RESHAPE(x))
 *   RESHAPE(RESHAPE(x))                 =>  RESHAPE(x)
 *
 * along the first axis that has more than one element.  A slice is read and a part of a
 * CONCAT is written in place, but not always through a reshape: that may take a copy. */
#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../put.h"

/* The first axis of more than one element; all before it are 1. */
static int first_axis(const tc_type *t)
{
    int i = 0;
    while (i < t->rank - 1 && t->dim[i] == 1)
        i++;
    return i;
}

static int64_t behind(const tc_type *t, int axis)
{
    int64_t n = 1;
    for (int i = axis + 1; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

/* What is reshaped, where it is read here alone. */
static tc_val source_of(const tc_rewrite *rw, const tc_node *node, int i)
{
    const tc_node *def = ti_rewrite_def(rw, node, i);
    return def && def->op == TC_OP_tosa_reshape && rw->readers[node->in[i]] == 1 ? def->in[0]
                                                                                 : TC_NONE;
}

static bool alike(const tc_type *a, const tc_type *b, int axis)
{
    return a->rank == b->rank && first_axis(b) == axis &&
           memcmp(a->dim + axis + 1, b->dim + axis + 1,
                  (size_t)(a->rank - axis - 1) * sizeof *a->dim) == 0;
}

/* The same but for the last axis, which is as long as the part's. */
static bool rows_alike(const tc_type *a, const tc_type *b, const tc_type *part)
{
    return a->rank == b->rank && a->rank <= 4 && b->dim[b->rank - 1] == part->dim[part->rank - 1] &&
           memcmp(a->dim, b->dim, (size_t)(a->rank - 1) * sizeof *a->dim) == 0;
}

/* A CONCAT along the last axis: the axes before it may be viewed in the parts' shape. */
static tc_status joins_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_concat || node->n_in < 2)
        return TC_OK;
    const tc_type *to = ti_type_of(rw->from, node->out[0]), *first = NULL;
    if (((const tc_attr_tosa_axis *)node->attr)->axis != to->rank - 1 || !tc_type_count(to))
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = source_of(rw, node, i);
        const tc_node *def = in[i] ? ti_def(rw->to, in[i]) : NULL;
        const tc_type *t = in[i] ? ti_type_of(rw->to, in[i]) : NULL;
        first = i ? first : t;
        if (!def || def->op != TC_OP_tosa_slice || t->rank == 0 ||
            !rows_alike(first, t, ti_type_of(rw->from, node->in[i])))
            return TC_OK;
    }
    tc_build lw = ti_build_instead(rw, node);
    tc_val y = ti_put_concat(&lw, in, node->n_in, first->rank - 1);
    return ti_b_replace(&lw, ti_b_tosa_reshape(&lw, y, to->rank, to->dim), done);
}

static tc_status joins(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_concat || node->n_in < 2)
        return TC_OK;
    const tc_type *to = ti_type_of(rw->from, node->out[0]), *first = NULL;
    int axis = 0;
    if (((const tc_attr_tosa_axis *)node->attr)->axis != first_axis(to) || !tc_type_count(to))
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = source_of(rw, node, i);
        const tc_type *t = in[i] ? ti_type_of(rw->to, in[i]) : NULL;
        if (!t || t->rank == 0 || t->rank > 4)
            return TC_OK;
        axis = i ? axis : first_axis(t);
        first = i ? first : t;
        if (!alike(first, t, axis))
            return TC_OK;
    }
    tc_build lw = ti_build_instead(rw, node);
    tc_val y = ti_put_concat(&lw, in, node->n_in, axis);
    return ti_b_replace(&lw, ti_b_tosa_reshape(&lw, y, to->rank, to->dim), done);
}

/* Along the first axis of its operand alone. */
static bool is_run(const tc_graph *g, const tc_node *slice)
{
    const tc_type *x = ti_type_of(g, slice->in[0]), *y = ti_type_of(g, slice->out[0]);
    int axis = first_axis(x);
    return ti_is_const(g, slice->in[1]) && x->rank > 0 &&
           memcmp(x->dim + axis + 1, y->dim + axis + 1,
                  (size_t)(x->rank - axis - 1) * sizeof *x->dim) == 0;
}

static tc_status slices(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *slice = node->op == TC_OP_tosa_reshape ? ti_rewrite_def(rw, node, 0) : NULL;
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    if (!slice || slice->op != TC_OP_tosa_slice || rw->readers[node->in[0]] != 1 ||
        !tc_type_count(y) || y->rank == 0 || y->rank > 4 || !is_run(rw->to, slice))
        return TC_OK;
    const tc_type *x = ti_type_of(rw->to, slice->in[0]);
    int from = first_axis(x), to = first_axis(y);
    int64_t row = behind(y, to), start[TC_MAX_RANK] = {0}, dim[TC_MAX_RANK];
    int64_t at = ((const int64_t *)rw->to->val[slice->in[1]]->data)[from] * behind(x, from);
    if (at % row || tc_type_count(x) % row)
        return TC_OK;
    memcpy(dim, y->dim, sizeof dim);
    dim[to] = tc_type_count(x) / row;
    start[to] = at / row;
    tc_build lw = ti_build_instead(rw, node);
    const tc_node *shaped = ti_def(rw->to, slice->in[0]);
    bool again = shaped && shaped->op == TC_OP_tosa_reshape;
    tc_val in[3] = {ti_b_tosa_reshape(&lw, again ? shaped->in[0] : slice->in[0], y->rank, dim)};
    in[1] = ti_b_shape(&lw, y->rank, start);
    in[2] = ti_b_shape(&lw, y->rank, y->dim);
    return ti_b_replace(&lw, ti_b_op(&lw, TC_OP_tosa_slice, NULL, in, 3), done);
}

/* One reshape for two, or for none. */
static tc_status once(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *before = node->op == TC_OP_tosa_reshape ? ti_rewrite_def(rw, node, 0) : NULL;
    const tc_type *y = node->n_out ? ti_type_of(rw->from, node->out[0]) : NULL;
    if (!before || before->op != TC_OP_tosa_reshape || y->quant)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val v = ti_b_tosa_reshape(&lw, before->in[0], y->rank, y->dim);
    TC_TRY(lw.status);
    if (ti_type_of(rw->to, v) != y)
        return TC_OK;
    return ti_rewrite_with(rw, node, v, done);
}

TC_REWRITES(ti_lower_sink_reshapes, once, joins, joins_last, slices)
