/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_reduce.c -- builders of reductions, sorts and norms on unquantized tensors. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_program.h"
#include "tflite_window.h"

/* The axes of input 1, each once. */
tc_ints ti_tfl_axes(tc_tfl_node *n, int rank)
{
    tc_ints list = ti_tfl_settled(n, 1);
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, TC_MAX_RANK);
    bool seen[TC_MAX_RANK] = {false};
    int k = 0;
    for (int i = 0; i < list.n && n->m.status == TC_OK && rank; i++)
        seen[ti_b_axis(&n->m, list.v[i], rank)] = true;
    for (int i = 0; i < rank; i++)
        if (seen[i])
            v[k++] = i;
    return (tc_ints){k, v};
}

/* The mean of few elements, summed in sequence as the runtime does: the last bit decides codes
 * after it.  TC_NONE: axes that are not adjacent, or too many elements. */
static tc_val mean_in_order(tc_tfl_node *n, tc_val x, tc_ints axes, bool keep)
{
    enum { FEW = 64 };
    tc_build *m = &n->m;
    const tc_type *t = ti_b_type(m, x);
    int64_t dim[TC_MAX_RANK], three[3] = {1, 1, 1};
    int rank = 0, at = 0;
    if (!n->scope->reader->hybrid || t->dtype != TC_f32 ||
        axes.v[axes.n - 1] - axes.v[0] != axes.n - 1)
        return TC_NONE;
    for (int i = 0; i < t->rank; i++) {
        bool inside = at < axes.n && axes.v[at] == i;
        at += inside;
        three[inside ? 1 : i < axes.v[0] ? 0 : 2] *= t->dim[i];
        if (!inside || keep)
            dim[rank++] = inside ? 1 : t->dim[i];
    }
    if (three[1] < 1 || three[1] > FEW)
        return TC_NONE;
    x = ti_b_reshape(m, x, 3, three);
    tc_val sum = ti_b_select(m, x, 1, 0);
    for (int64_t k = 1; k < three[1]; k++)
        sum = ti_b_add(m, sum, ti_b_select(m, x, 1, k));
    sum = ti_b_div(m, sum, ti_b_scalar(m, TC_f32, (double)three[1]));
    return ti_b_reshape(m, sum, rank, dim);
}

void ti_tfl_build_reduce(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    TC_STOP(&n->m);
    tc_ints axes = ti_tfl_axes(n, ti_b_type(&n->m, x)->rank);
    tc_op op = n->row->op;
    tc_dtype dtype = ti_b_dtype(&n->m, x);
    bool keep = ti_tfl_bool(n, 0, false);
    if (!axes.n) {
        ti_tfl_bind(n, 0, x);
        return;
    }
    if (op == TC_OP_mean && ti_is_int(dtype)) { /* the sum, divided toward zero */
        int64_t count = ti_axes_count(ti_b_type(&n->m, x), axes);
        x = ti_b_reduce(&n->m, TC_OP_sum, ti_b_cast(&n->m, x, TC_i64), axes.v, axes.n, keep);
        x = ti_b_2(&n->m, div, ti_b_attr(&n->m, div, TC_div_mode_trunc), x,
                   ti_b_scalar_i64(&n->m, TC_i64, count));
        ti_tfl_bind(n, 0, ti_b_cast(&n->m, x, dtype));
        return;
    }
    tc_val mean = op == TC_OP_mean ? mean_in_order(n, x, axes, keep) : TC_NONE;
    ti_tfl_bind(n, 0, mean ? mean : ti_b_reduce(&n->m, op, x, axes.v, axes.n, keep));
}

/* ARG_MAX and ARG_MIN, the axis removed; codes work as well. */
void ti_tfl_build_arg(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t axis = ti_tfl_settled_int(n, 1);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    if (m->status != TC_OK || !t)
        return;
    int at = ti_b_axis(m, axis, ti_b_type(m, x)->rank);
    tc_val y = ti_b_op(m, n->row->op, ti_b_attr(m, arg, at, false), &x, 1);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, t->dtype));
}

/* The k largest of the last axis, and their indices; of equal ones the first. */
void ti_tfl_build_topk(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t k = ti_tfl_settled_int(n, 1);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 1);
    TC_STOP(m);
    int rank = ti_b_type(m, x)->rank;
    if (rank < 1 || k < 0 || k > ti_b_type(m, x)->dim[rank - 1]) {
        ti_b_bad(m, TC_E_ARGUMENT, "the %" PRId64 " largest of an axis", k);
        return;
    }
    tc_node *node = ti_b_ops(m, TC_OP_topk, ti_b_attr(m, topk, k, rank - 1, true), &x, 1, 2);
    if (!node)
        return;
    ti_tfl_bind(n, 0, node->out[0]);
    if (t)
        ti_tfl_bind(n, 1, ti_b_cast(m, node->out[1], t->dtype));
}

/* Running sums, maybe from the end, maybe without the number itself. */
void ti_tfl_build_cumsum(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t axis = ti_tfl_settled_int(n, 1);
    bool exclusive = ti_tfl_bool(n, 0, false), reverse = ti_tfl_bool(n, 1, false);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int at = ti_b_axis(m, axis, t->rank);
    x = reverse ? ti_b_flip(m, x, at) : x;
    if (exclusive && t->rank && t->dim[at]) {
        int64_t pad[2 * TC_MAX_RANK] = {0};
        pad[2 * at] = 1;
        x = ti_b_slice(m, x, at, 0, t->dim[at] - 1, 1);
        x = ti_b_pad(m, x, pad, 0);
    }
    tc_val y = ti_b_cumsum(m, x, at);
    y = ti_b_cast(m, y, t->dtype);
    ti_tfl_bind(n, 0, reverse ? ti_b_flip(m, y, at) : y);
}

/* x / max(sqrt(sum of squares of the last axis), 1e-6) */
void ti_tfl_build_l2_norm(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    TC_STOP(m);
    int64_t last = ti_b_type(m, x)->rank - 1;
    if (last < 0) {
        ti_b_bad(m, TC_E_SHAPE, "the norm of a single number");
        return;
    }
    tc_val size = ti_b_reduce(m, TC_OP_sum, ti_b_mul(m, x, x), &last, 1, true);
    size = ti_b_clamp(m, ti_b_sqrt(m, size), 1e-6, INFINITY);
    tc_val y = ti_b_div(m, x, size);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, 0)));
}

/* x (bias + alpha * sum of squares of the channels within radius) ^ -beta; the last of them is not
 * counted. */
void ti_tfl_build_local_norm(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t radius = ti_tfl_int(n, 0, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int last = t->rank - 1;
    if (last < 0 || radius < 0 || radius > 1024) {
        ti_b_bad(m, TC_E_ARGUMENT, "a radius of %" PRId64, radius);
        return;
    }
    radius = ti_min_i64(radius, t->dim[last]);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    pad[2 * last] = pad[2 * last + 1] = radius;
    tc_val square = ti_b_pad(m, ti_b_mul(m, x, x), pad, 0), sum = TC_NONE;
    for (int64_t i = 0; i < ti_max_i64(2 * radius, 1) && m->status == TC_OK; i++) {
        tc_val part = ti_b_slice(m, square, last, i, i + t->dim[last], 1);
        sum = sum ? ti_b_add(m, sum, part) : part;
    }
    sum = ti_b_mul_n(m, sum, ti_tfl_float(n, 2, 0));
    sum = ti_b_add_n(m, sum, ti_tfl_float(n, 1, 0));
    tc_val factor = ti_b_pow(m, sum, ti_b_scalar(m, TC_f32, -ti_tfl_float(n, 3, 0)));
    ti_tfl_bind(n, 0, ti_b_mul(m, x, factor));
}

/* [.., h, w] -> [.., fft_h, fft_w / 2 + 1], real to complex; input 1: the extents. */
void ti_tfl_build_rfft2d(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    tc_ints length = ti_tfl_settled(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int64_t pad[2 * TC_MAX_RANK] = {0}, axes[2] = {t->rank - 2, t->rank - 1};
    if (length.n != 2 || t->rank < 2 || length.v[0] < 1 || length.v[1] < 1 ||
        length.v[0] > 1 << 20 || length.v[1] > 1 << 20) {
        ti_b_bad(m, TC_E_SHAPE, "a transform of %d axes", length.n);
        return;
    }
    for (int i = 0; i < 2; i++) /* negative ones cut */
        pad[2 * axes[i] + 1] = length.v[i] - t->dim[axes[i]];
    x = ti_b_pad(m, x, pad, 0);
    tc_attr_fft *a = ti_b_attr(m, fft, .axes = ti_ints_copy(&m->ctx->arena, axes, 2),
                               .kind = TC_fft_kind_real_to_complex, .norm = TC_fft_norm_none);
    ti_tfl_bind(n, 0, ti_b_1(m, fft, a, x));
}
