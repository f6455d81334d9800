/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_move.c -- builders of movement, of values and codes alike. */
#include <math.h>

#include "../../num/load.h"
#include "tflite.h"

/* The stored value of zero in tensor t. */
static double zero_of(const tc_tfl_tensor *t)
{
    return ti_tfl_is_codes(t) ? (double)t->zero[0] : 0;
}

/* The shape is input 1, or if absent an option; -1: the remainder. */
void ti_tfl_build_reshape(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    const tc_tfl_tensor *s = ti_tfl_in_tensor(n, 1);
    bool listed = s && (s->code == TFL_INT32 || s->code == TFL_INT64) && s->rank == 1;
    tc_ints shape = listed ? ti_tfl_shape(n, 1, 0, 0, NULL) : ti_tfl_ints(n, 0);
    int64_t dim[TC_MAX_RANK], known = 1, all;
    int open = -1;
    TC_STOP(m);
    if (!listed && shape.n == 1 && shape.v[0] == 0)
        shape.n = 0; /* an old way to say rank 0 */
    if (shape.n > TC_MAX_RANK) {
        ti_b_unsupported(m, "%d axes; at most %d are supported", shape.n, TC_MAX_RANK);
        return;
    }
    all = tc_type_count(ti_b_type(m, x));
    for (int i = 0; i < shape.n; i++) {
        dim[i] = shape.v[i];
        if (dim[i] == -1 && open < 0)
            open = i;
        else if (dim[i] < 0 || (dim[i] && known > (INT64_C(1) << 40) / dim[i])) {
            ti_b_bad(m, TC_E_SHAPE, "a shape with an axis of %" PRId64, dim[i]);
            return;
        } else
            known *= dim[i];
    }
    if (open >= 0)
        dim[open] = known ? all / known : 0;
    if ((open >= 0 ? known * dim[open] : known) != all) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " numbers do not fit the shape %s", all,
                 ti_dims_text(&m->ctx->arena, shape.n, dim));
        return;
    }
    ti_tfl_bind(n, 0, ti_b_reshape(m, x, shape.n, dim));
}

void ti_tfl_build_squeeze(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints axes = ti_tfl_ints(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    bool gone[TC_MAX_RANK] = {false};
    for (int i = 0; i < axes.n; i++)
        gone[ti_b_axis(m, axes.v[i], t->rank)] = true;
    int64_t dim[TC_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != 1 || (axes.n && !gone[i]))
            dim[rank++] = t->dim[i];
    ti_tfl_bind(n, 0, ti_b_reshape(m, x, rank, dim));
}

void ti_tfl_build_expand_dims(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    int64_t axis = ti_tfl_settled_int(n, 1);
    TC_STOP(&n->m);
    int at = ti_b_axis(&n->m, axis, ti_b_type(&n->m, x)->rank + 1);
    ti_tfl_bind(n, 0, ti_b_unsqueeze(&n->m, x, at));
}

void ti_tfl_build_transpose(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints perm = ti_tfl_settled(n, 1);
    TC_STOP(m);
    int rank = ti_b_type(m, x)->rank;
    int64_t order[TC_MAX_RANK];
    uint32_t seen = 0;
    for (int i = 0; i < perm.n && i < rank; i++) {
        order[i] = ti_b_axis(m, perm.v[i], rank);
        seen |= 1u << order[i];
    }
    if (perm.n != rank || seen != (1u << rank) - 1u)
        ti_b_bad(m, TC_E_ARGUMENT, "an order of %d axes for a tensor of rank %d", perm.n, rank);
    ti_tfl_bind(n, 0, ti_b_permute(m, x, order));
}

void ti_tfl_build_concatenation(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1);
    for (int i = 0; i < n->n_in; i++)
        in[i] = ti_tfl_need(n, i);
    if (m->status != TC_OK || n->n_in < 1)
        return;
    int axis = ti_b_axis(m, ti_tfl_int(n, 0, 0), ti_b_type(m, in[0])->rank);
    tc_val y = ti_b_cat(m, axis, in, n->n_in);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, 1)));
}

void ti_tfl_build_pack(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1);
    for (int i = 0; i < n->n_in; i++)
        in[i] = ti_tfl_need(n, i);
    if (m->status != TC_OK || n->n_in < 1)
        return;
    int axis = ti_b_axis(m, ti_tfl_int(n, 1, 0), ti_b_type(m, in[0])->rank + 1);
    for (int i = 0; i < n->n_in; i++)
        in[i] = ti_b_unsqueeze(m, in[i], axis);
    ti_tfl_bind(n, 0, ti_b_cat(m, axis, in, n->n_in));
}

void ti_tfl_build_unpack(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axis = ti_b_axis(m, ti_tfl_int(n, 1, 0), t->rank);
    if (!t->rank || n->n_out > t->dim[axis])
        ti_b_bad(m, TC_E_SHAPE, "%d parts of an axis of %" PRId64, n->n_out,
                 t->rank ? t->dim[axis] : 0);
    for (int i = 0; i < n->n_out && m->status == TC_OK; i++)
        ti_tfl_bind(n, i, ti_b_select(m, x, axis, i));
}

static void cut(tc_tfl_node *n, tc_val x, int axis, const int64_t *size)
{
    int64_t at = 0;
    for (int i = 0; i < n->n_out && n->m.status == TC_OK; i++) {
        ti_tfl_bind(n, i, ti_b_slice(&n->m, x, axis, at, at + size[i], 1));
        at += size[i];
    }
}

void ti_tfl_build_split(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t axis = ti_tfl_settled_int(n, 0);
    tc_val x = ti_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int at = ti_b_axis(m, axis, t->rank);
    if (n->n_out < 1 || !t->rank || t->dim[at] % n->n_out) {
        ti_b_bad(m, TC_E_SHAPE, "%d equal parts of an axis of %" PRId64, n->n_out,
                 t->rank ? t->dim[at] : 0);
        return;
    }
    int64_t *size = tc_new_n(&m->ctx->arena, int64_t, (size_t)n->n_out);
    for (int i = 0; i < n->n_out; i++)
        size[i] = t->dim[at] / n->n_out;
    cut(n, x, at, size);
}

void ti_tfl_build_split_v(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints sizes = ti_tfl_settled(n, 1);
    int64_t axis = ti_tfl_settled_int(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int at = ti_b_axis(m, axis, t->rank), open = -1;
    int64_t left = t->rank ? t->dim[at] : 0;
    int64_t *size = tc_new_n(&m->ctx->arena, int64_t, (size_t)sizes.n + 1);
    bool good = sizes.n == n->n_out && t->rank;
    for (int i = 0; i < sizes.n && good; i++) {
        size[i] = sizes.v[i];
        good = size[i] >= -1 && size[i] <= left && !(size[i] < 0 && open >= 0);
        if (size[i] < 0)
            open = i;
        else
            left -= size[i];
    }
    if (!good || (open < 0 && left)) {
        ti_b_bad(m, TC_E_SHAPE, "%d parts do not fit an axis of %" PRId64, sizes.n,
                 t->rank ? t->dim[at] : 0);
        return;
    }
    if (open >= 0)
        size[open] = left;
    cut(n, x, at, size);
}

/* A bound or step past every axis is as good as one a little past it. */
static int64_t near_axis(int64_t v)
{
    const int64_t far = INT64_C(1) << 40;
    return ti_max_i64(-far, ti_min_i64(v, far));
}

void ti_tfl_build_slice(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints begin = ti_tfl_settled(n, 1), size = ti_tfl_settled(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    for (int i = 0; i < t->rank && m->status == TC_OK; i++) {
        int64_t from = i < begin.n ? near_axis(begin.v[i]) : 0;
        int64_t to = i < size.n && size.v[i] >= 0 && size.v[i] <= t->dim[i] ? from + size.v[i]
                                                                            : t->dim[i];
        if (begin.n != t->rank || size.n != t->rank || from < 0 || from > to || to > t->dim[i] ||
            size.v[i] > t->dim[i])
            ti_b_bad(m, TC_E_SHAPE, "a slice outside of axis %d", i);
        x = ti_b_slice(m, x, i, from, to, 1);
    }
    ti_tfl_bind(n, 0, x);
}

/* One axis of a strided slice: [start, stop) by step, then turned around where it goes down. */
static tc_val stride_axis(tc_build *m, tc_val x, int axis, int64_t start, int64_t stop,
                          int64_t step)
{
    if (step > 0)
        return ti_b_slice(m, x, axis, start, ti_max_i64(start, stop), step);
    int64_t count = start > stop ? (start - stop - step - 1) / -step : 0;
    int64_t first = count ? start + (count - 1) * step : 0;
    x = ti_b_slice(m, x, axis, first, count ? start + 1 : 0, -step);
    return ti_b_flip(m, x, axis);
}

/* Masks: a set bit is an axis whose bound is left out, that is new, or that goes. */
void ti_tfl_build_strided_slice(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints begin = ti_tfl_settled(n, 1), end = ti_tfl_settled(n, 2), step = ti_tfl_settled(n, 3);
    int64_t no_begin = ti_tfl_int(n, 0, 0), no_end = ti_tfl_int(n, 1, 0),
            rest = ti_tfl_int(n, 2, 0), fresh = ti_tfl_int(n, 3, 0), gone = ti_tfl_int(n, 4, 0);
    bool offset = ti_tfl_bool(n, 5, false);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axis = 0, rank = 0, named = 0;
    int64_t dim[TC_MAX_RANK + 1];
    if (begin.n != end.n || begin.n != step.n || begin.n > TC_MAX_RANK) {
        ti_b_bad(m, TC_E_SHAPE, "bounds of %d, %d and %d axes", begin.n, end.n, step.n);
        return;
    }
    for (int i = 0; i < begin.n; i++)
        named += !(fresh >> i & 1) && !(rest >> i & 1);
    for (int i = 0; i < begin.n && m->status == TC_OK; i++) {
        if (rest >> i & 1) {
            for (int k = t->rank - named; k > 0 && axis < t->rank && rank < TC_MAX_RANK; k--)
                dim[rank++] = t->dim[axis++];
            continue;
        }
        if (fresh >> i & 1) {
            if (rank <= TC_MAX_RANK)
                dim[rank++] = 1;
            continue;
        }
        if (axis >= t->rank || !step.v[i]) {
            ti_b_bad(m, TC_E_SHAPE, "a step of %" PRId64 " on axis %d of rank %d", step.v[i], axis,
                     t->rank);
            return;
        }
        int64_t all = t->dim[axis], s = near_axis(step.v[i]), from = near_axis(begin.v[i]),
                to = near_axis(end.v[i]) + (offset ? from : 0);
        int64_t low = s > 0 ? 0 : -1, high = s > 0 ? all : all - 1;
        from = from < 0 ? from + all : from;
        to = to < 0 && !(offset && end.v[i] >= 0 && begin.v[i] >= 0) ? to + all : to;
        if (gone >> i & 1) {
            from = no_begin >> i & 1 ? (s > 0 ? 0 : all - 1) : from;
            if (from < 0 || from >= all) {
                ti_b_bad(m, TC_E_SHAPE, "place %" PRId64 " of an axis of %" PRId64, begin.v[i],
                         all);
                return;
            }
            x = ti_b_slice(m, x, axis++, from, from + 1, 1);
            continue;
        }
        from = no_begin >> i & 1 ? (s > 0 ? 0 : all - 1) : ti_max_i64(low, ti_min_i64(from, high));
        to = no_end >> i & 1 ? (s > 0 ? all : -1) : ti_max_i64(low, ti_min_i64(to, high));
        x = stride_axis(m, x, axis, from, to, s);
        if (m->status == TC_OK && rank <= TC_MAX_RANK)
            dim[rank++] = ti_b_type(m, x)->dim[axis];
        axis++;
    }
    while (axis < t->rank && rank < TC_MAX_RANK)
        dim[rank++] = t->dim[axis++];
    ti_tfl_bind(n, 0, ti_b_reshape(m, x, rank, dim));
}

/* Pairs [rank, 2] of input 1; PADV2 has the number that is put in as input 2. */
void ti_tfl_build_pad(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints pad = ti_tfl_settled(n, 1);
    double value = zero_of(ti_tfl_in_tensor(n, 0));
    tc_tensor t;
    if (ti_tfl_has(n, 2) && ti_tfl_settled_tensor(n, 2, &t))
        value = tc_type_count(t.type) ? ti_load_f64(t, 0) : 0;
    TC_STOP(m);
    if (pad.n != 2 * ti_b_type(m, x)->rank)
        ti_b_bad(m, TC_E_SHAPE, "%d sizes of borders for rank %d", pad.n, ti_b_type(m, x)->rank);
    for (int i = 0; i < pad.n && m->status == TC_OK; i++)
        if (pad.v[i] < 0)
            ti_b_bad(m, TC_E_ARGUMENT, "a border of %" PRId64, pad.v[i]);
    ti_tfl_bind(n, 0, ti_b_pad(m, x, pad.v, value));
}

/* REFLECT leaves the edge out, SYMMETRIC repeats it: parts of x, turned around. */
void ti_tfl_build_mirror_pad(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints pad = ti_tfl_settled(n, 1);
    int skip = ti_tfl_enum(n, 0) == 0;
    TC_STOP(m);
    int rank = ti_b_type(m, x)->rank;
    if (pad.n != 2 * rank) {
        ti_b_bad(m, TC_E_SHAPE, "%d sizes of borders for rank %d", pad.n, rank);
        return;
    }
    for (int i = 0; i < rank && m->status == TC_OK; i++) {
        int64_t all = ti_b_type(m, x)->dim[i], before = pad.v[2 * i], after = pad.v[2 * i + 1];
        if (before < 0 || after < 0 || before > all - skip || after > all - skip) {
            ti_b_bad(m, TC_E_ARGUMENT,
                     "borders of %" PRId64 " and %" PRId64 " mirrored from "
                     "%" PRId64,
                     before, after, all);
            return;
        }
        tc_val part[3];
        int k = 0;
        if (before) {
            tc_val edge = ti_b_slice(m, x, i, skip, skip + before, 1);
            part[k++] = ti_b_flip(m, edge, i);
        }
        part[k++] = x;
        if (after) {
            tc_val edge = ti_b_slice(m, x, i, all - skip - after, all - skip, 1);
            part[k++] = ti_b_flip(m, edge, i);
        }
        x = ti_b_cat(m, i, part, k);
    }
    ti_tfl_bind(n, 0, x);
}

void ti_tfl_build_tile(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints times = ti_tfl_settled(n, 1);
    TC_STOP(m);
    if (times.n != ti_b_type(m, x)->rank)
        ti_b_bad(m, TC_E_SHAPE, "%d repeats for rank %d", times.n, ti_b_type(m, x)->rank);
    ti_tfl_bind(n, 0, ti_b_1(m, repeat, ti_b_attr(m, repeat, times), x));
}

static void bind_expanded(tc_tfl_node *n, tc_val x, tc_ints shape)
{
    if (n->m.status == TC_OK && shape.n > TC_MAX_RANK)
        ti_b_unsupported(&n->m, "%d axes; at most %d are supported", shape.n, TC_MAX_RANK);
    ti_tfl_bind(n, 0, ti_b_expand(&n->m, x, shape.n, shape.v));
}

void ti_tfl_build_broadcast_to(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    tc_ints shape = ti_tfl_shape(n, 1, 0, UINT32_MAX, NULL);
    bind_expanded(n, x, shape);
}

void ti_tfl_build_reverse(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    tc_ints axes = ti_tfl_settled(n, 1);
    TC_STOP(&n->m);
    for (int i = 0; i < axes.n && n->m.status == TC_OK; i++)
        x = ti_b_flip(&n->m, x, ti_b_axis(&n->m, axes.v[i], ti_b_type(&n->m, x)->rank));
    ti_tfl_bind(n, 0, x);
}

/* The first n elements of each batch are reversed. */
void ti_tfl_build_reverse_sequence(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), lengths = ti_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int seq = ti_b_axis(m, ti_tfl_int(n, 0, 0), t->rank),
        batch = ti_b_axis(m, ti_tfl_int(n, 1, 0), t->rank);
    int64_t along[TC_MAX_RANK], across[TC_MAX_RANK];
    if (m->status != TC_OK || !t->rank)
        return;
    for (int i = 0; i < t->rank; i++) {
        along[i] = i == seq ? t->dim[i] : 1;
        across[i] = i == batch ? t->dim[i] : 1;
    }
    tc_val place = ti_b_reshape(m, ti_b_arange(m, t->dim[seq], TC_i64), t->rank, along);
    tc_val length = ti_b_reshape(m, ti_b_cast(m, lengths, TC_i64), t->rank, across);
    tc_val turned = ti_b_add_n(m, ti_b_sub(m, length, place), -1);
    tc_val inside = ti_b_lt(m, place, length);
    tc_val at = ti_b_where(m, inside, turned, place);
    at = ti_b_expand(m, at, t->rank, t->dim);
    ti_tfl_bind(n, 0, ti_b_gather(m, x, at, seq));
}

/* ---- between channels and space, channels last ---- */

/* [n, h, w, b b c] -> [n, h b, w b, c] (extra 0), and back (1) */
void ti_tfl_build_depth_space(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t b = ti_tfl_int(n, 0, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    const int64_t *d = t->dim;
    bool to_depth = n->row->extra == 1;
    static const int64_t perm[] = {0, 1, 3, 2, 4, 5};
    if (t->rank != 4 || b < 1 || b > INT32_MAX ||
        (to_depth ? d[1] % b || d[2] % b : d[3] % (b * b))) {
        ti_b_bad(m, TC_E_SHAPE, "blocks of %" PRId64 " in %s", b, ti_type_text(&m->ctx->arena, t));
        return;
    }
    if (to_depth) {
        x = ti_b_reshape(m, x, 6, (int64_t[]){d[0], d[1] / b, b, d[2] / b, b, d[3]});
        x = ti_b_permute(m, x, perm);
        x = ti_b_reshape(m, x, 4, (int64_t[]){d[0], d[1] / b, d[2] / b, d[3] * b * b});
    } else {
        x = ti_b_reshape(m, x, 6, (int64_t[]){d[0], d[1], d[2], b, b, d[3] / (b * b)});
        x = ti_b_permute(m, x, perm);
        x = ti_b_reshape(m, x, 4, (int64_t[]){d[0], d[1] * b, d[2] * b, d[3] / (b * b)});
    }
    ti_tfl_bind(n, 0, x);
}

/* SPACE_TO_BATCH_ND: axes 1 .. k, padded, cut into blocks whose elements go before the batch. */
void ti_tfl_build_space_to_batch(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints block = ti_tfl_settled(n, 1), pads = ti_tfl_settled(n, 2);
    TC_STOP(m);
    int rank = ti_b_type(m, x)->rank, k = block.n;
    int64_t pad[2 * TC_MAX_RANK] = {0}, wide[2 * TC_MAX_RANK], perm[2 * TC_MAX_RANK],
            dim[TC_MAX_RANK], share = 1;
    if (k < 1 || k > rank - 1 || rank + k > TC_MAX_RANK || pads.n != 2 * k) {
        ti_b_bad(m, TC_E_SHAPE, "blocks of %d axes of rank %d", k, rank);
        return;
    }
    for (int i = 0; i < 2 * k; i++)
        pad[2 + i] = ti_max_i64(pads.v[i], 0);
    x = ti_b_pad(m, x, pad, zero_of(ti_tfl_in_tensor(n, 0)));
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int at = 0, to = 0;
    wide[at++] = t->dim[0];
    for (int i = 0; i < k; i++) {
        if (block.v[i] < 1 || t->dim[1 + i] % block.v[i]) {
            ti_b_bad(m, TC_E_SHAPE, "blocks of %" PRId64 " in an axis of %" PRId64, block.v[i],
                     t->dim[1 + i]);
            return;
        }
        share *= block.v[i];
        wide[at++] = t->dim[1 + i] / block.v[i];
        wide[at++] = block.v[i];
        perm[to++] = 2 + 2 * i;
    }
    dim[0] = t->dim[0] * share;
    perm[to++] = 0;
    for (int i = 0; i < k; i++) {
        perm[to++] = 1 + 2 * i;
        dim[1 + i] = wide[1 + 2 * i];
    }
    for (int i = 1 + k; i < rank; i++) {
        dim[i] = t->dim[i];
        perm[to++] = at;
        wide[at++] = t->dim[i];
    }
    x = ti_b_reshape(m, x, at, wide);
    x = ti_b_permute(m, x, perm);
    ti_tfl_bind(n, 0, ti_b_reshape(m, x, rank, dim));
}

/* And back, with the borders cut off. */
void ti_tfl_build_batch_to_space(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints block = ti_tfl_settled(n, 1), crop = ti_tfl_settled(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int rank = t->rank, k = block.n, at = 0, to = 0;
    int64_t wide[2 * TC_MAX_RANK], perm[2 * TC_MAX_RANK], dim[TC_MAX_RANK], share = 1;
    if (k < 1 || k > rank - 1 || rank + k > TC_MAX_RANK || crop.n != 2 * k) {
        ti_b_bad(m, TC_E_SHAPE, "blocks of %d axes of rank %d", k, rank);
        return;
    }
    for (int i = 0; i < k; i++) {
        if (block.v[i] < 1 || block.v[i] > INT32_MAX || share > INT32_MAX) {
            ti_b_bad(m, TC_E_ARGUMENT, "blocks of %" PRId64, block.v[i]);
            return;
        }
        share *= block.v[i];
        wide[at++] = block.v[i];
    }
    if (t->dim[0] % share) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " blocks in a batch of %" PRId64, share, t->dim[0]);
        return;
    }
    wide[at++] = dim[0] = t->dim[0] / share;
    for (int i = 1; i < rank; i++)
        wide[at++] = t->dim[i];
    perm[to++] = k;
    for (int i = 0; i < k; i++) {
        perm[to++] = k + 1 + i;
        perm[to++] = i;
        dim[1 + i] = t->dim[1 + i] * block.v[i];
    }
    for (int i = 1 + k; i < rank; i++) {
        perm[to++] = k + i;
        dim[i] = t->dim[i];
    }
    x = ti_b_reshape(m, x, at, wide);
    x = ti_b_permute(m, x, perm);
    x = ti_b_reshape(m, x, rank, dim);
    for (int i = 0; i < k && m->status == TC_OK; i++) {
        int64_t from = crop.v[2 * i], end = dim[1 + i] - crop.v[2 * i + 1];
        if (from < 0 || crop.v[2 * i + 1] < 0 || from > end)
            ti_b_bad(m, TC_E_SHAPE, "negative padding that is larger than the input");
        x = ti_b_slice(m, x, 1 + i, from, end, 1);
    }
    ti_tfl_bind(n, 0, x);
}

/* ---- shapes and factories ---- */

void ti_tfl_build_shape(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    if (m->status != TC_OK || !t)
        return;
    const tc_type *type = ti_b_type(m, x);
    tc_val y = n->row->extra == 1 ? ti_b_scalar_i64(m, TC_i32, type->rank)
                                  : ti_b_list(m, type->dim, type->rank);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, t->dtype ? t->dtype : TC_i32));
}

void ti_tfl_build_fill(tc_tfl_node *n)
{
    tc_ints shape = ti_tfl_shape(n, 0, 0, UINT32_MAX, NULL);
    tc_val x = ti_tfl_need(n, 1);
    bind_expanded(n, x, shape);
}

void ti_tfl_build_range(tc_tfl_node *n)
{
    tc_tensor t[3];
    tc_build *m = &n->m;
    for (int i = 0; i < 3; i++)
        if (!ti_tfl_settled_tensor(n, i, &t[i]))
            return;
    double from = ti_load_f64(t[0], 0), to = ti_load_f64(t[1], 0), step = ti_load_f64(t[2], 0);
    double count = step != 0 ? ceil((to - from) / step) : -1;
    if (!(count <= 1 << 28) || step == 0) {
        ti_b_bad(m, TC_E_ARGUMENT, "a range from %g to %g by %g", from, to, step);
        return;
    }
    tc_attr_arange *a =
        ti_b_attr(m, arange, from, step, count > 0 ? (int64_t)count : 0, t[0].type->dtype);
    ti_tfl_bind(n, 0, ti_b_0(m, arange, a));
}

/* The shape that two shapes broadcast to. */
void ti_tfl_build_broadcast_args(tc_tfl_node *n)
{
    tc_ints a = ti_tfl_settled(n, 0), b = ti_tfl_settled(n, 1);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    if (n->m.status != TC_OK || !t)
        return;
    int rank = a.n > b.n ? a.n : b.n;
    int64_t *dim = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)rank + 1);
    for (int i = 0; i < rank; i++) {
        int64_t x = i - (rank - a.n) >= 0 ? a.v[i - (rank - a.n)] : 1,
                y = i - (rank - b.n) >= 0 ? b.v[i - (rank - b.n)] : 1;
        if (x != y && x != 1 && y != 1)
            ti_b_bad(&n->m, TC_E_SHAPE, "%" PRId64 " and %" PRId64 " do not broadcast", x, y);
        dim[i] = x == 1 ? y : x;
    }
    tc_val list = ti_b_list(&n->m, dim, rank);
    ti_tfl_bind(n, 0, ti_b_cast(&n->m, list, t->dtype));
}

/* What is there already: DENSIFY of what was made dense when it was read. */
void ti_tfl_build_identity(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    ti_tfl_bind(n, 0, x);
}
