/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_move.c -- movement without a kernel: gathers with constant indices. */
#include "cpu_forms.h"

/* ---- borders ---- */

/* The source index of each element of an axis with borders; computed by our own kernel. */
static tc_val border_rows(tc_build *m, tc_val x, int64_t axis, const tc_attr_pad *a)
{
    int64_t n = ti_b_type(m, x)->dim[axis], before = a->pad.v[2 * axis],
            after = a->pad.v[2 * axis + 1];
    int64_t pair[2] = {before, after}, out = n + before + after;
    tc_tensor in = ti_b_tensor(m, TC_i64, 1, &n);
    tc_tensor row = ti_b_tensor(m, TC_i64, 1, &out);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)in.data)[i] = i;
    tc_attr_pad one = {{2, pair}, a->mode, 0};
    tc_call call = {&one, 1, 1, &in, &row, &m->ctx->scratch, NULL};
    tc_ops[TC_OP_pad].kernel(&call);
    return ti_b_pick(m, x, axis, row.data, out);
}

/* Cropping apart from the zeros. */
static bool constant_borders(tc_build *m, const tc_attr_pad *a)
{
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t *pad = tc_new_n(&m->ctx->arena, int64_t, (size_t)a->pad.n);
    tc_val x = ti_b_in(m, 0);
    bool crops = false;
    for (int i = 0; i < t->rank; i++) {
        int64_t before = a->pad.v[2 * i], after = a->pad.v[2 * i + 1];
        pad[2 * i] = ti_max_i64(before, 0);
        pad[2 * i + 1] = ti_max_i64(after, 0);
        int64_t start = -ti_min_i64(before, 0), end = t->dim[i] + ti_min_i64(after, 0);
        if (start > end)
            return false;
        if (before >= 0 && after >= 0)
            continue;
        crops = true;
        x = ti_b_slice(m, x, i, start, end, 1);
    }
    tc_ints list = {a->pad.n, pad};
    return crops &&
           ti_cpu_done(m,
                       ti_b_1(m, pad, ti_b_attr(m, pad, list, TC_pad_mode_constant, a->value), x));
}

bool ti_cpu_form_pad(tc_build *m)
{
    const tc_attr_pad *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    tc_val x = ti_b_in(m, 0);
    if (a->mode == TC_pad_mode_constant)
        return constant_borders(m, a);
    for (int i = 0; i < t->rank && m->status == TC_OK; i++)
        if (a->pad.v[2 * i] || a->pad.v[2 * i + 1])
            x = border_rows(m, x, i, a);
    return ti_cpu_done(m, x);
}

/* ---- rows ---- */

bool ti_cpu_form_repeat_interleave(tc_build *m)
{
    const tc_attr_interleave *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t n = t->rank ? t->dim[a->axis] * a->repeats : 0,
            *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        row[i] = i / a->repeats;
    return t->rank && ti_cpu_done(m, ti_b_pick(m, ti_b_in(m, 0), a->axis, row, n));
}

/* Zero below a diagonal, by a mask of the last two axes. */
bool ti_cpu_form_triu(tc_build *m)
{
    const tc_attr_tri *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    if (t->rank < 2)
        return false;
    const int64_t *dim = t->dim + t->rank - 2;
    tc_tensor mask = ti_b_tensor(m, TC_bool, 2, dim);
    for (int64_t i = 0; i < dim[0] * dim[1]; i++)
        ((uint8_t *)mask.data)[i] = i % dim[1] - i / dim[1] >= a->diagonal;
    tc_val x = ti_b_in(m, 0), keep = ti_b_const(m, mask, NULL);
    return ti_cpu_done(m, ti_b_where(m, keep, x, ti_b_number(m, x, 0)));
}

/* Every element of the result by its index in the operand. */
bool ti_cpu_form_as_strided(tc_build *m)
{
    const tc_attr_as_strided *a = m->node->attr;
    int64_t n = tc_type_count(ti_b_in_type(m, 0)), out = tc_type_count(ti_b_out_type(m, 0));
    int64_t *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)out);
    for (int64_t i = 0; i < out; i++) {
        row[i] = a->offset;
        for (int64_t k = a->size.n - 1, rest = i; k >= 0; rest /= a->size.v[k--])
            row[i] += rest % a->size.v[k] * a->stride.v[k];
    }
    return ti_cpu_done(m, ti_b_pick(m, ti_b_reshape(m, ti_b_in(m, 0), 1, &n), 0, row, out));
}

/* ---- index in i64 ---- */

bool ti_cpu_form_gather(tc_build *m)
{
    tc_val in[3] = {ti_b_in(m, 0), ti_b_in(m, 1), ti_b_in(m, 2)};
    if (ti_b_in_type(m, 1)->dtype == TC_i64)
        return false;
    in[1] = ti_b_cast(m, in[1], TC_i64);
    return ti_cpu_done(m, ti_b_op(m, m->node->op, m->node->attr, in, m->node->n_in));
}

bool ti_cpu_form_scatter(tc_build *m)
{
    return ti_cpu_form_gather(m) || ti_cpu_scatter_meeting(m);
}

/* ---- rows replaced or added ---- */

static bool put_rows(tc_build *m, int64_t axis, tc_val source, bool add)
{
    tc_val in[TC_MAX_RANK + 2] = {ti_b_in(m, 0), source};
    in[2 + axis] = ti_b_cast(m, ti_b_in(m, 1), TC_i64);
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t n = tc_type_count(ti_b_in_type(m, 1));
    if (!t->rank)
        return false;
    in[2 + axis] = ti_b_reshape(m, in[2 + axis], 1, &n);
    return ti_cpu_done(
        m, ti_b_op(m, TC_OP_index_put, ti_b_attr(m, index_put, add), in, (int)(3 + axis)));
}

bool ti_cpu_form_index_copy(tc_build *m)
{
    return put_rows(m, ((const tc_attr_axis *)m->node->attr)->axis, ti_b_in(m, 2), false);
}

bool ti_cpu_form_index_add(tc_build *m)
{
    const tc_attr_index_add *a = m->node->attr;
    tc_val source = ti_b_in(m, 2);
    if (a->alpha != 1)
        source = ti_b_mul(m, source, ti_b_number(m, source, a->alpha));
    return put_rows(m, a->axis, source, true);
}
