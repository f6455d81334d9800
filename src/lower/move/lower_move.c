/* SPDX-License-Identifier: Apache-2.0 */
/* lower_move.c -- movement along whole axes, of any elements.
 *
 * If the result has another domain, what grows is converted before it is moved, what shrinks
 * after. */
#include "lower_move.h"
#include "../integer/lower_pool.h"

tc_val ti_move_in(tc_build *lw, const tc_node *node, int i)
{
    return ti_put_convert(lw, ti_lower_in(lw, node, i), ti_lower_type(lw, node, i),
                          ti_lower_result(lw, node, 0));
}

tc_val ti_move_out(tc_build *lw, const tc_node *node, tc_val moved, int i)
{
    return ti_put_convert(lw, moved, ti_lower_type(lw, node, 0), ti_lower_result(lw, node, i));
}

void ti_lower_move_same(tc_build *lw, const tc_node *node, tc_val *out)
{
    out[0] = ti_move_in(lw, node, 0);
}

void ti_lower_reshape(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    out[0] = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 0), t->rank, t->dim);
}

void ti_lower_permute(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_perm *a = node->attr;
    out[0] = ti_b_tosa_transpose(lw, ti_move_in(lw, node, 0), a->perm.v);
}

void ti_lower_expand(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    out[0] = ti_b_tosa_expand(lw, ti_move_in(lw, node, 0), t->rank, t->dim);
}

/* [outer, extent, inner] around an axis. */
static void three_axes(const tc_type *t, int axis, int64_t *outer, int64_t *inner)
{
    *outer = *inner = 1;
    for (int i = 0; i < t->rank; i++)
        if (i != axis)
            *(i < axis ? outer : inner) *= t->dim[i];
}

/* The kept elements are the r-th of `count` groups of `step` inside x, or ending in a border.
 */
tc_val ti_put_stepped(tc_build *lw, tc_val x, int axis, int64_t start, int64_t step, int64_t count)
{
    if (!x)
        return x;
    if (step == 1 || count == 1)
        return ti_b_tosa_slice_axis(lw, x, axis, start, count);
    const tc_type *t = ti_b_type(lw, x);
    int64_t outer, inner, extent = t->dim[axis], dim[TC_MAX_RANK];
    memcpy(dim, t->dim, sizeof dim);
    int rank = t->rank;
    three_axes(t, axis, &outer, &inner);
    int64_t past = start + count * step - extent, r = past > 0 ? past : 0, first = start - r;
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){outer, extent, inner});
    if (first < 0) { /* extent < count * step */
        x = ti_b_tosa_pad(lw, x, (int64_t[]){0, 0, -first, 0, 0, 0}, 0);
        first = 0;
    }
    x = ti_b_tosa_slice_axis(lw, x, 1, first, count * step);
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){outer, count, step, inner});
    x = ti_b_tosa_slice_axis(lw, x, 2, r, 1);
    dim[axis] = count;
    return ti_b_tosa_reshape(lw, x, rank, dim);
}

/* Whether a value has its channels on the last axis: a layer wrote it so, and what followed left
 * that axis where it was. */
static bool channels_lie_last(const tc_graph *g, tc_val v)
{
    enum { FAR = 64 };
    for (int i = 0; i < FAR; i++) {
        const tc_node *def = ti_def(g, v);
        if (!def || !def->n_in)
            return false;
        if (def->op == TC_OP_linear || def->op == TC_OP_layer_norm || def->op == TC_OP_rms_norm)
            return true;
        const tc_type *from = ti_type_of(g, def->in[0]), *to = ti_type_of(g, v);
        tc_ints perm = {0};
        if (def->op == TC_OP_permute)
            perm = ((const tc_attr_perm *)def->attr)->perm;
        if (perm.n == 4 && perm.v[1] == 2 && perm.v[2] == 3 && perm.v[3] == 1)
            return true;
        bool stays = tc_ops[def->op].traits & T_ELTWISE || def->op == TC_OP_slice ||
                     def->op == TC_OP_cat || def->op == TC_OP_roll || def->op == TC_OP_pad ||
                     def->op == TC_OP_reshape;
        if (!stays || !from->rank || !to->rank ||
            from->dim[from->rank - 1] != to->dim[to->rank - 1])
            return false;
        v = def->in[0];
    }
    return false;
}

/* Rows or columns of a plane on an NPU: windows of one element leave the channels where they are.
 */
static bool skips_in_plane(const tc_build *lw, const tc_node *node, const tc_attr_slice *a)
{
    const tc_type *t = ti_lower_type(lw, node, 0);
    return ti_is_activation(t) && t->rank == 4 && a->axis >= 2 && a->step > 1 &&
           a->step <= lw->lower->target->machine->cost.skip_step &&
           (a->axis == 3 || !channels_lie_last(lw->rw->from, node->in[0]));
}

static tc_val by_windows(tc_build *lw, tc_val x, const tc_attr_slice *a, int64_t count)
{
    int64_t one[] = {1, 1}, stride[] = {1, 1}, none[] = {0, 0, 0, 0};
    stride[a->axis - 2] = a->step;
    x = ti_b_tosa_slice_axis(lw, x, (int)a->axis, a->start, (count - 1) * a->step + 1);
    return ti_b_tosa_channels_first(
        lw, ti_put_max_pool(lw, ti_b_tosa_channels_last(lw, x), one, stride, none));
}

void ti_lower_slice(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_slice *a = node->attr;
    int64_t count = ti_lower_result(lw, node, 0)->dim[a->axis];
    if (skips_in_plane(lw, node, a)) {
        out[0] = ti_move_out(lw, node, by_windows(lw, ti_lower_in(lw, node, 0), a, count), 0);
        return;
    }
    tc_val x = ti_put_stepped(lw, ti_lower_in(lw, node, 0), (int)a->axis, a->start, a->step, count);
    out[0] = ti_move_out(lw, node, x, 0);
}

void ti_lower_select(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_select *a = node->attr;
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_val x = ti_b_tosa_slice_axis(lw, ti_lower_in(lw, node, 0), (int)a->axis, a->index, 1);
    out[0] = ti_b_tosa_reshape(lw, ti_move_out(lw, node, x, 0), t->rank, t->dim);
}

tc_val ti_put_join(tc_build *lw, tc_val *x, int n, int axis)
{
    enum { MOST = 64 };
    while (n > MOST) {
        int groups = 0;
        for (int i = 0; i < n; i += MOST)
            x[groups++] = ti_put_concat(lw, x + i, n - i < MOST ? n - i : MOST, axis);
        n = groups;
    }
    return n ? ti_put_concat(lw, x, n, axis) : TC_NONE;
}

/* Operands without elements, which PyTorch concatenates with anything, are left out. */
void ti_lower_cat(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axis *a = node->attr;
    tc_val *x = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in);
    int n = 0;
    for (int i = 0; i < node->n_in; i++)
        if (tc_type_count(ti_lower_type(lw, node, i)))
            x[n++] = ti_move_in(lw, node, i);
    out[0] = ti_put_join(lw, x, n, (int)a->axis);
}

void ti_lower_stack(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axis *a = node->attr;
    tc_type t = *ti_lower_result(lw, node, 0);
    t.dim[a->axis] = 1;
    tc_val *x = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        x[i] = ti_b_tosa_reshape(lw, ti_move_in(lw, node, i), t.rank, t.dim);
    out[0] = ti_put_join(lw, x, node->n_in, (int)a->axis);
}

void ti_lower_split(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_split *a = node->attr;
    tc_val x = ti_lower_in(lw, node, 0);
    int64_t at = 0;
    for (int i = 0; i < node->n_out; i++) {
        int64_t size = ti_lower_result(lw, node, i)->dim[a->axis];
        if (lw->rw->readers[node->out[i]] && size)
            out[i] = ti_move_out(lw, node, ti_b_tosa_slice_axis(lw, x, (int)a->axis, at, size), i);
        at += size;
    }
}

void ti_lower_unbind(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axis *a = node->attr;
    tc_val x = ti_lower_in(lw, node, 0);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_lower_result(lw, node, i);
        if (lw->rw->readers[node->out[i]])
            out[i] = ti_b_tosa_reshape(
                lw, ti_move_out(lw, node, ti_b_tosa_slice_axis(lw, x, (int)a->axis, i, 1), i),
                t->rank, t->dim);
    }
}

void ti_lower_repeat(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_repeat *a = node->attr;
    tc_val x = ti_b_tosa_rank(lw, ti_move_in(lw, node, 0), ti_lower_result(lw, node, 0)->rank);
    out[0] = ti_b_tosa_tile(lw, x, a->repeats.v);
}

void ti_lower_repeat_interleave(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_interleave *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t outer, inner;
    three_axes(t, (int)a->axis, &outer, &inner);
    tc_val x = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 0), 4,
                                 (int64_t[]){outer, t->dim[a->axis], 1, inner});
    x = ti_b_tosa_tile(lw, x, (int64_t[]){1, 1, a->repeats, 1});
    out[0] = ti_b_tosa_reshape(lw, x, y->rank, y->dim);
}

/* If a machine does not reverse the last axis, one of extent 1 is appended. */
tc_val ti_put_reverse(tc_build *lw, tc_val x, int axis)
{
    if (!x || ti_b_type(lw, x)->dim[axis] == 1)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    bool apart = !lw->lower->target->machine->can.reverses_last;
    int64_t outer, inner;
    three_axes(t, axis, &outer, &inner);
    x = apart ? ti_b_tosa_reshape(lw, x, 3, (int64_t[]){outer, t->dim[axis], inner}) : x;
    return ti_b_tosa_reshape(lw, ti_b_tosa_reverse(lw, x, apart ? 1 : axis), t->rank, t->dim);
}

void ti_lower_flip(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_flip *a = node->attr;
    tc_val x = ti_move_in(lw, node, 0);
    for (int i = 0; i < a->axes.n; i++)
        x = ti_put_reverse(lw, x, (int)a->axes.v[i]);
    out[0] = x;
}

static tc_val roll_axis(tc_build *lw, tc_val x, int axis, int64_t shift)
{
    if (!x)
        return x;
    int64_t n = ti_b_type(lw, x)->dim[axis], by = ((shift % n) + n) % n;
    if (!by)
        return x;
    tc_val part[2] = {ti_b_tosa_slice_axis(lw, x, axis, n - by, by)};
    part[1] = ti_b_tosa_slice_axis(lw, x, axis, 0, n - by);
    return ti_put_concat(lw, part, 2, axis);
}

void ti_lower_roll(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_roll *a = node->attr;
    tc_val x = ti_move_in(lw, node, 0);
    for (int i = 0; i < a->axes.n; i++)
        x = roll_axis(lw, x, (int)a->axes.v[i], a->shifts.v[i]);
    out[0] = x;
}
