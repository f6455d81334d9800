/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_move.c -- movement that has no kernel of its own: rows by number, where the numbers are
 * known. */
#include "cpu_forms.h"

/* ---- borders ---- */

/* Which place of an axis shows at each place of it with borders; the numbers come from our own
 * kernel. */
static tc_val border_rows(tc_build *m, tc_val x, int64_t axis, const tc_attr_pad *a)
{
    int64_t n = tc_b_type(m, x)->dim[axis], before = a->pad.v[2 * axis],
            after = a->pad.v[2 * axis + 1];
    int64_t pair[2] = {before, after}, out = n + before + after;
    tc_tensor in = tc_b_tensor(m, TC_i64, 1, &n);
    tc_tensor row = tc_b_tensor(m, TC_i64, 1, &out);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)in.data)[i] = i;
    tc_attr_pad one = {{2, pair}, a->mode, 0};
    tc_call call = {&one, 1, 1, &in, &row, &m->ctx->scratch, NULL};
    tc_ops[TC_OP_pad].kernel(&call);
    return tc_b_pick(m, x, axis, row.data, out);
}

/* Cropping apart from the zeros. */
static bool constant_borders(tc_build *m, const tc_attr_pad *a)
{
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t *pad = tc_new_n(&m->ctx->arena, int64_t, (size_t)a->pad.n);
    tc_val x = tc_b_in(m, 0);
    bool crops = false;
    for (int i = 0; i < t->rank; i++) {
        int64_t before = a->pad.v[2 * i], after = a->pad.v[2 * i + 1];
        pad[2 * i] = tc_max_i64(before, 0);
        pad[2 * i + 1] = tc_max_i64(after, 0);
        int64_t start = -tc_min_i64(before, 0), end = t->dim[i] + tc_min_i64(after, 0);
        if (start > end)
            return false;
        if (before >= 0 && after >= 0)
            continue;
        crops = true;
        x = tc_b_slice(m, x, i, start, end, 1);
    }
    tc_ints list = {a->pad.n, pad};
    return crops &&
           tc_cpu_done(m,
                       tc_b_1(m, pad, tc_b_attr(m, pad, list, TC_pad_mode_constant, a->value), x));
}

bool tc_cpu_form_pad(tc_build *m)
{
    const tc_attr_pad *a = m->node->attr;
    const tc_type *t = tc_b_in_type(m, 0);
    tc_val x = tc_b_in(m, 0);
    if (a->mode == TC_pad_mode_constant)
        return constant_borders(m, a);
    for (int i = 0; i < t->rank && m->status == TC_OK; i++)
        if (a->pad.v[2 * i] || a->pad.v[2 * i + 1])
            x = border_rows(m, x, i, a);
    return tc_cpu_done(m, x);
}

/* ---- rows ---- */

bool tc_cpu_form_repeat_interleave(tc_build *m)
{
    const tc_attr_interleave *a = m->node->attr;
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t n = t->rank ? t->dim[a->axis] * a->repeats : 0,
            *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        row[i] = i / a->repeats;
    return t->rank && tc_cpu_done(m, tc_b_pick(m, tc_b_in(m, 0), a->axis, row, n));
}

/* Zero below a diagonal, by a mask of the last two axes. */
bool tc_cpu_form_triu(tc_build *m)
{
    const tc_attr_tri *a = m->node->attr;
    const tc_type *t = tc_b_in_type(m, 0);
    if (t->rank < 2)
        return false;
    const int64_t *dim = t->dim + t->rank - 2;
    tc_tensor mask = tc_b_tensor(m, TC_bool, 2, dim);
    for (int64_t i = 0; i < dim[0] * dim[1]; i++)
        ((uint8_t *)mask.data)[i] = i % dim[1] - i / dim[1] >= a->diagonal;
    tc_val x = tc_b_in(m, 0), keep = tc_b_const(m, mask, NULL);
    return tc_cpu_done(m, tc_b_where(m, keep, x, tc_b_number(m, x, 0)));
}

/* Every number of the result by its place in the operand. */
bool tc_cpu_form_as_strided(tc_build *m)
{
    const tc_attr_as_strided *a = m->node->attr;
    int64_t n = tc_type_count(tc_b_in_type(m, 0)), out = tc_type_count(tc_b_out_type(m, 0));
    int64_t *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)out);
    for (int64_t i = 0; i < out; i++) {
        row[i] = a->offset;
        for (int64_t k = a->size.n - 1, rest = i; k >= 0; rest /= a->size.v[k--])
            row[i] += rest % a->size.v[k] * a->stride.v[k];
    }
    return tc_cpu_done(m, tc_b_pick(m, tc_b_reshape(m, tc_b_in(m, 0), 1, &n), 0, row, out));
}

/* ---- index in i64 ---- */

static bool long_index(tc_build *m)
{
    tc_val in[3] = {tc_b_in(m, 0), tc_b_in(m, 1), tc_b_in(m, 2)};
    if (tc_b_in_type(m, 1)->dtype == TC_i64)
        return false;
    in[1] = tc_b_cast(m, in[1], TC_i64);
    return tc_cpu_done(m, tc_b_op(m, m->node->op, m->node->attr, in, m->node->n_in));
}

bool tc_cpu_form_gather(tc_build *m)
{
    return long_index(m);
}
bool tc_cpu_form_index_select(tc_build *m)
{
    return long_index(m);
}
bool tc_cpu_form_scatter(tc_build *m)
{
    return long_index(m) || tc_cpu_scatter_meeting(m);
}

/* ---- rows replaced or added ---- */

static bool put_rows(tc_build *m, int64_t axis, tc_val source, bool add)
{
    tc_val in[TC_MAX_RANK + 2] = {tc_b_in(m, 0), source};
    in[2 + axis] = tc_b_cast(m, tc_b_in(m, 1), TC_i64);
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t n = tc_type_count(tc_b_in_type(m, 1));
    if (!t->rank)
        return false;
    in[2 + axis] = tc_b_reshape(m, in[2 + axis], 1, &n);
    return tc_cpu_done(
        m, tc_b_op(m, TC_OP_index_put, tc_b_attr(m, index_put, add), in, (int)(3 + axis)));
}

bool tc_cpu_form_index_copy(tc_build *m)
{
    return put_rows(m, ((const tc_attr_axis *)m->node->attr)->axis, tc_b_in(m, 2), false);
}

bool tc_cpu_form_index_add(tc_build *m)
{
    const tc_attr_index_add *a = m->node->attr;
    tc_val source = tc_b_in(m, 2);
    if (a->alpha != 1)
        source = tc_b_mul(m, source, tc_b_number(m, source, a->alpha));
    return put_rows(m, a->axis, source, true);
}
