/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_reduce.c -- builders of reductions, orders and norms on plain numbers. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_program.h"
#include "tflite_window.h"

/* The axes of input 1, each once. */
tc_ints tc_tfl_axes(tc_tfl_node *n, int rank)
{
    tc_ints list = tc_tfl_settled(n, 1);
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, TC_MAX_RANK);
    bool seen[TC_MAX_RANK] = {false};
    int k = 0;
    for (int i = 0; i < list.n && n->m.status == TC_OK && rank; i++)
        seen[tc_b_axis(&n->m, list.v[i], rank)] = true;
    for (int i = 0; i < rank; i++)
        if (seen[i])
            v[k++] = i;
    return (tc_ints){k, v};
}

/* The mean of few places, summed one after the other as the runtime does: the last bit decides
 * codes behind it.  TC_NONE: axes that are not side by side, or too many places. */
static tc_val mean_in_order(tc_tfl_node *n, tc_val x, tc_ints axes, bool keep)
{
    enum { FEW = 64 };
    tc_build *m = &n->m;
    const tc_type *t = tc_b_type(m, x);
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
    x = tc_b_reshape(m, x, 3, three);
    tc_val sum = tc_b_select(m, x, 1, 0);
    for (int64_t k = 1; k < three[1]; k++)
        sum = tc_b_add(m, sum, tc_b_select(m, x, 1, k));
    sum = tc_b_div(m, sum, tc_b_scalar(m, TC_f32, (double)three[1]));
    return tc_b_reshape(m, sum, rank, dim);
}

void tc_tfl_build_reduce(tc_tfl_node *n)
{
    tc_val x = tc_tfl_need(n, 0);
    TC_STOP(&n->m);
    tc_ints axes = tc_tfl_axes(n, tc_b_type(&n->m, x)->rank);
    tc_op op = n->row->op;
    tc_dtype dtype = tc_b_dtype(&n->m, x);
    bool keep = tc_tfl_bool(n, 0, false);
    if (!axes.n) {
        tc_tfl_bind(n, 0, x);
        return;
    }
    if (op == TC_OP_mean && tc_is_int(dtype)) { /* the sum, divided toward zero */
        int64_t count = 1;
        for (int i = 0; i < axes.n; i++)
            count *= tc_b_type(&n->m, x)->dim[axes.v[i]];
        x = tc_b_reduce(&n->m, TC_OP_sum, tc_b_cast(&n->m, x, TC_i64), axes.v, axes.n, keep);
        x = tc_b_2(&n->m, div, tc_b_attr(&n->m, div, TC_div_mode_trunc), x,
                   tc_b_scalar_i64(&n->m, TC_i64, count));
        tc_tfl_bind(n, 0, tc_b_cast(&n->m, x, dtype));
        return;
    }
    tc_val mean = op == TC_OP_mean ? mean_in_order(n, x, axes, keep) : TC_NONE;
    tc_tfl_bind(n, 0, mean ? mean : tc_b_reduce(&n->m, op, x, axes.v, axes.n, keep));
}

/* ARG_MAX and ARG_MIN, the axis gone; codes are as good as numbers. */
void tc_tfl_build_arg(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    int64_t axis = tc_tfl_settled_int(n, 1);
    const tc_tfl_tensor *t = tc_tfl_out_tensor(n, 0);
    if (m->status != TC_OK || !t)
        return;
    int at = tc_b_axis(m, axis, tc_b_type(m, x)->rank);
    tc_val y = tc_b_op(m, n->row->op, tc_b_attr(m, arg, at, false), &x, 1);
    tc_tfl_bind(n, 0, tc_b_cast(m, y, t->dtype));
}

/* The k largest of the last axis, and their places; of equal ones the first. */
void tc_tfl_build_topk(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    int64_t k = tc_tfl_settled_int(n, 1);
    const tc_tfl_tensor *t = tc_tfl_out_tensor(n, 1);
    TC_STOP(m);
    int rank = tc_b_type(m, x)->rank;
    if (rank < 1 || k < 0 || k > tc_b_type(m, x)->dim[rank - 1]) {
        tc_b_bad(m, TC_E_ARGUMENT, "the %" PRId64 " largest of an axis", k);
        return;
    }
    tc_node *node = tc_b_ops(m, TC_OP_topk, tc_b_attr(m, topk, k, rank - 1, true), &x, 1, 2);
    if (!node)
        return;
    tc_tfl_bind(n, 0, node->out[0]);
    if (t)
        tc_tfl_bind(n, 1, tc_b_cast(m, node->out[1], t->dtype));
}

/* Running sums, maybe from the end, maybe without the number itself. */
void tc_tfl_build_cumsum(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    int64_t axis = tc_tfl_settled_int(n, 1);
    bool exclusive = tc_tfl_bool(n, 0, false), reverse = tc_tfl_bool(n, 1, false);
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x);
    int at = tc_b_axis(m, axis, t->rank);
    x = reverse ? tc_b_flip(m, x, at) : x;
    if (exclusive && t->rank && t->dim[at]) {
        int64_t pad[2 * TC_MAX_RANK] = {0};
        pad[2 * at] = 1;
        x = tc_b_slice(m, x, at, 0, t->dim[at] - 1, 1);
        x = tc_b_pad(m, x, pad, 0);
    }
    tc_val y = tc_b_cumsum(m, x, at);
    y = tc_b_cast(m, y, t->dtype);
    tc_tfl_bind(n, 0, reverse ? tc_b_flip(m, y, at) : y);
}

/* x / max(sqrt(sum of squares of the last axis), 1e-6) */
void tc_tfl_build_l2_norm(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    TC_STOP(m);
    int64_t last = tc_b_type(m, x)->rank - 1;
    if (last < 0) {
        tc_b_bad(m, TC_E_SHAPE, "the norm of a single number");
        return;
    }
    tc_val size = tc_b_reduce(m, TC_OP_sum, tc_b_mul(m, x, x), &last, 1, true);
    size = tc_b_clamp(m, tc_b_sqrt(m, size), 1e-6, INFINITY);
    tc_val y = tc_b_div(m, x, size);
    tc_tfl_bind(n, 0, tc_tfl_activate(m, y, tc_tfl_enum(n, 0)));
}

/* x (bias + alpha * sum of squares of the channels within radius) ^ -beta; the last of them is not
 * counted. */
void tc_tfl_build_local_norm(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    int64_t radius = tc_tfl_int(n, 0, 0);
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x);
    int last = t->rank - 1;
    if (last < 0 || radius < 0 || radius > 1024) {
        tc_b_bad(m, TC_E_ARGUMENT, "a radius of %" PRId64, radius);
        return;
    }
    radius = tc_min_i64(radius, t->dim[last]);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    pad[2 * last] = pad[2 * last + 1] = radius;
    tc_val square = tc_b_pad(m, tc_b_mul(m, x, x), pad, 0), sum = TC_NONE;
    for (int64_t i = 0; i < tc_max_i64(2 * radius, 1) && m->status == TC_OK; i++) {
        tc_val part = tc_b_slice(m, square, last, i, i + t->dim[last], 1);
        sum = sum ? tc_b_add(m, sum, part) : part;
    }
    sum = tc_b_mul_n(m, sum, tc_tfl_float(n, 2, 0));
    sum = tc_b_add_n(m, sum, tc_tfl_float(n, 1, 0));
    tc_val factor = tc_b_pow(m, sum, tc_b_scalar(m, TC_f32, -tc_tfl_float(n, 3, 0)));
    tc_tfl_bind(n, 0, tc_b_mul(m, x, factor));
}

/* [.., h, w] -> [.., fft_h, fft_w / 2 + 1], real to complex; input 1: the extents. */
void tc_tfl_build_rfft2d(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    tc_ints length = tc_tfl_settled(n, 1);
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x);
    int64_t pad[2 * TC_MAX_RANK] = {0}, axes[2] = {t->rank - 2, t->rank - 1};
    if (length.n != 2 || t->rank < 2 || length.v[0] < 1 || length.v[1] < 1 ||
        length.v[0] > 1 << 20 || length.v[1] > 1 << 20) {
        tc_b_bad(m, TC_E_SHAPE, "a transform of %d axes", length.n);
        return;
    }
    for (int i = 0; i < 2; i++) /* negative ones cut */
        pad[2 * axes[i] + 1] = length.v[i] - t->dim[axes[i]];
    x = tc_b_pad(m, x, pad, 0);
    tc_attr_fft *a = tc_b_attr(m, fft, .axes = tc_ints_copy(&m->ctx->arena, axes, 2),
                               .kind = TC_fft_kind_real_to_complex, .norm = TC_fft_norm_none);
    tc_tfl_bind(n, 0, tc_b_1(m, fft, a, x));
}
