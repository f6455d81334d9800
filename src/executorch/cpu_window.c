/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_window.c -- windows and resampling: pools of one and three axes by those of two; resampling
 * of any kind by the weights that our own kernel gives for a single axis. */
#include "cpu_forms.h"

/* ---- pools ---- */

static tc_ints two(tc_build *m, int64_t a, int64_t b)
{
    return ti_ints_copy(&m->ctx->arena, (int64_t[]){a, b}, 2);
}

/* A pool with the attributes of its record, over axes i (or none: extent 1) and k of it. */
static const void *flat_pool(tc_build *m, int i, int k)
{
    const tc_attr_max_pool *p = m->node->attr;
    const tc_attr_avg_pool *q = m->node->attr;
    const tc_attr_size *s = m->node->attr;
#define PICK(list, none) two(m, i < 0 ? (none) : (list).v[i], k < 0 ? (none) : (list).v[k])
    switch (m->node->op) {
    case TC_OP_max_pool:
        return ti_b_attr(m, max_pool, PICK(p->kernel, 1), PICK(p->stride, 1), PICK(p->pad, 0),
                         PICK(p->dilation, 1), p->ceil);
    case TC_OP_avg_pool:
        return ti_b_attr(m, avg_pool, PICK(q->kernel, 1), PICK(q->stride, 1), PICK(q->pad, 0),
                         q->ceil, q->include_pad, i < 0 || k < 0 ? q->divisor : 0);
    default:
        return ti_b_attr(m, size, PICK(s->size, 1));
    }
#undef PICK
}

/* [.., c, w] as [.., c, 1, w] */
static bool pool_line(tc_build *m)
{
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t dim[TC_MAX_RANK + 1];
    for (int i = 0; i < t->rank - 1; i++)
        dim[i] = t->dim[i];
    dim[t->rank - 1] = 1;
    dim[t->rank] = t->dim[t->rank - 1];
    tc_val x = ti_b_reshape(m, ti_b_in(m, 0), t->rank + 1, dim);
    tc_node *made = ti_b_ops(m, m->node->op, flat_pool(m, -1, 0), &x, 1, m->node->n_out);
    for (int i = 0; made && i < m->node->n_out; i++)
        ti_cpu_give(m, i, made->out[i]);
    return true;
}

/* Planes first, then depth, as the height of planes whose width is the size of a plane. */
static bool pool_deep(tc_build *m)
{
    const tc_type *t = ti_b_in_type(m, 0), *out = ti_b_out_type(m, 0);
    const int64_t *d = t->dim + t->rank - 3, *o = out->dim + out->rank - 3;
    int64_t rows = tc_type_count(t) / (d[0] * d[1] * d[2]);
    tc_val x = ti_b_reshape(m, ti_b_in(m, 0), 3, (int64_t[]){rows * d[0], d[1], d[2]});
    tc_node *plane = ti_b_ops(m, m->node->op, flat_pool(m, 1, 2), &x, 1, 1);
    if (!plane)
        return true;
    x = ti_b_reshape(m, plane->out[0], 3, (int64_t[]){rows, d[0], o[1] * o[2]});
    tc_attr_size *attr = (tc_attr_size *)(uintptr_t)flat_pool(m, 0, -1);
    if (m->node->op == TC_OP_adaptive_avg_pool)
        attr->size = two(m, attr->size.v[0], o[1] * o[2]);
    tc_node *depth = ti_b_ops(m, m->node->op, attr, &x, 1, 1);
    return !depth || ti_cpu_done(m, depth->out[0]);
}

bool ti_cpu_form_max_pool(tc_build *m)
{
    int n = ((const tc_attr_max_pool *)m->node->attr)->kernel.n;
    if (!tc_type_count(ti_b_out_type(m, 0)))
        return false;
    if (n == 3 && !ti_b_is_read(m, 1))
        return pool_deep(m);
    return n == 1 && pool_line(m);
}

/* A mean of means is the mean where all windows are of one size. */
bool ti_cpu_form_avg_pool(tc_build *m)
{
    const tc_attr_avg_pool *a = m->node->attr;
    bool even = !a->ceil && !a->divisor;
    for (int i = 0; i < a->pad.n; i++)
        even = even && (a->include_pad || !a->pad.v[i]);
    if (!tc_type_count(ti_b_out_type(m, 0)))
        return false;
    if (a->kernel.n == 3)
        return even && pool_deep(m);
    return a->kernel.n == 1 && pool_line(m);
}

bool ti_cpu_form_adaptive_avg_pool(tc_build *m)
{
    const tc_attr_size *a = m->node->attr;
    if (!tc_type_count(ti_b_in_type(m, 0)))
        return false;
    return a->size.n == 3 ? pool_deep(m) : a->size.n == 1 && pool_line(m);
}

/* The largest of each part of an axis. */
static tc_val largest_parts(tc_build *m, tc_val x, int64_t axis, int64_t n)
{
    enum { MOST = 64 };
    tc_val part[MOST];
    if (m->status != TC_OK || n > MOST)
        return TC_NONE;
    int64_t extent = ti_b_type(m, x)->dim[axis];
    for (int64_t i = 0; i < n; i++) {
        part[i] = ti_b_slice(m, x, axis, i * extent / n, ((i + 1) * extent + n - 1) / n, 1);
        part[i] = ti_b_amax(m, part[i], ti_ints_copy(&m->ctx->arena, &axis, 1), true);
    }
    return ti_b_cat(m, axis, part, (int)n);
}

bool ti_cpu_form_adaptive_max_pool(tc_build *m)
{
    const tc_attr_size *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int first = t->rank - a->size.n;
    tc_val x = ti_b_in(m, 0);
    if (ti_b_is_read(m, 1))
        return false;
    for (int i = 0; i < a->size.n && x; i++)
        x = largest_parts(m, x, first + i, a->size.v[i]);
    return x ? ti_cpu_done(m, x) : m->status != TC_OK;
}

/* ---- resampling ---- */

/* The weight of each of n input elements along an axis for each output: [n, out], by our own kernel
 * on n one-hot channels. */
static const float *axis_weights(tc_build *m, int i, int64_t n, int64_t out)
{
    const tc_attr_upsample *a = m->node->attr;
    tc_tensor x = ti_b_tensor(m, TC_f32, 3, (int64_t[]){1, n, n});
    tc_tensor y = ti_b_tensor(m, TC_f32, 3, (int64_t[]){1, n, out});
    memset(x.data, 0, tc_type_bytes(x.type));
    for (int64_t k = 0; k < n; k++)
        ((float *)x.data)[k * n + k] = 1;
    tc_attr_upsample one = {{1, &out},
                            a->scale.n ? (tc_floats){1, &a->scale.v[i]} : (tc_floats){0, NULL},
                            a->align_corners};
    tc_call call = {&one, 1, 1, &x, &y, &m->ctx->scratch, NULL};
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    tc_ops[m->node->op].kernel(&call);
    ti_arena_rewind(&m->ctx->scratch, mark);
    return y.data;
}

/* Each output copies one element of the operand: the one with weight 1. */
static tc_val resample_rows(tc_build *m, tc_val x, int64_t axis, const float *weight, int64_t n,
                            int64_t out)
{
    int64_t *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)out);
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < out; j++)
            row[j] = weight[k * out + j] != 0 ? k : row[j];
    return ti_b_pick(m, x, axis, row, out);
}

/* A product along the axis, brought to the end for it. */
static tc_val resample_product(tc_build *m, tc_val x, int64_t axis, const float *weight, int64_t n,
                               int64_t out)
{
    int32_t rank = ti_b_type(m, x)->rank;
    int64_t to_end[TC_MAX_RANK], back[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        to_end[i] = i < axis ? i : i + 1 < rank ? i + 1 : axis;
        back[to_end[i]] = i;
    }
    tc_val w = ti_b_data(m, ti_type_make(m->ctx, TC_f32, 2, (int64_t[]){n, out}), weight);
    tc_val y = ti_b_matmul(m, ti_b_permute(m, x, to_end), w);
    return m->status == TC_OK ? ti_b_permute(m, y, back) : TC_NONE;
}

bool ti_cpu_form_upsample_nearest(tc_build *m)
{
    const bool rows = ti_resize_kind(m->node->op) <= TC_RESIZE_NEAREST_EXACT;
    enum { MOST = 1 << 22 }; /* weights of an axis */
    const tc_type *t = ti_b_in_type(m, 0), *out = ti_b_out_type(m, 0);
    tc_val x = rows ? ti_b_in(m, 0) : ti_cpu_real(m, 0);
    if (!tc_type_count(t) || !tc_type_count(out) || (!rows && t->dtype == TC_f64))
        return false;
    for (int i = 0; i < t->rank - 2 && m->status == TC_OK; i++) {
        int64_t axis = i + 2, n = t->dim[axis], o = out->dim[axis];
        if (n * n > MOST || n * o > MOST)
            return false;
        const float *weight = axis_weights(m, i, n, o);
        x = rows ? resample_rows(m, x, axis, weight, n, o)
                 : resample_product(m, x, axis, weight, n, o);
    }
    return ti_cpu_done(m, x);
}

/* ---- windows as columns ---- */

/* For every tap of the kernel and every output: the index that it reads. */
static tc_val window_rows(tc_build *m, tc_val x, int64_t axis, int64_t kernel, int64_t places,
                          int64_t dilation, int64_t stride)
{
    int64_t *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)(kernel * places));
    for (int64_t k = 0; k < kernel; k++)
        for (int64_t o = 0; o < places; o++)
            row[k * places + o] = o * stride + k * dilation;
    return ti_b_pick(m, x, axis, row, kernel * places);
}

static int64_t places(int64_t in, int64_t pad, int64_t kernel, int64_t dilation, int64_t stride)
{
    return (in + 2 * pad - (dilation * (kernel - 1) + 1)) / stride + 1;
}

/* x: [n, c, h, w] to [n, c kh kw, oh ow] */
bool ti_cpu_form_im2col(tc_build *m)
{
    const tc_attr_im2col *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    const int64_t *hw = t->dim + t->rank - 2, *k = a->kernel.v, *p = a->pad.v;
    int64_t n = t->rank == 4 ? t->dim[0] : 1, c = t->dim[t->rank - 3];
    int64_t oh = places(hw[0], p[0], k[0], a->dilation.v[0], a->stride.v[0]);
    int64_t ow = places(hw[1], p[1], k[1], a->dilation.v[1], a->stride.v[1]);
    tc_val x = ti_b_reshape(m, ti_b_in(m, 0), 4, (int64_t[]){n, c, hw[0], hw[1]});
    tc_ints pad = ti_ints_copy(&m->ctx->arena, (int64_t[]){0, 0, 0, 0, p[0], p[0], p[1], p[1]}, 8);
    if (p[0] || p[1])
        x = ti_b_1(m, pad, ti_b_attr(m, pad, pad, TC_pad_mode_constant, 0), x);
    x = window_rows(m, x, 2, k[0], oh, a->dilation.v[0], a->stride.v[0]);
    x = window_rows(m, x, 3, k[1], ow, a->dilation.v[1], a->stride.v[1]);
    x = ti_b_reshape(m, x, 6, (int64_t[]){n, c, k[0], oh, k[1], ow});
    return ti_cpu_done(m, ti_b_permute(m, x, (int64_t[]){0, 1, 2, 4, 3, 5}));
}

/* x: [n, c kh kw, oh ow] added into [n, c, h, w] */
bool ti_cpu_form_col2im(tc_build *m)
{
    const tc_attr_col2im *a = m->node->attr;
    const int64_t *k = a->kernel.v, *s = a->size.v, *p = a->pad.v;
    int64_t h = s[0] + 2 * p[0], w = s[1] + 2 * p[1];
    int64_t oh = places(s[0], p[0], k[0], a->dilation.v[0], a->stride.v[0]);
    int64_t ow = places(s[1], p[1], k[1], a->dilation.v[1], a->stride.v[1]);
    int64_t each = k[0] * k[1] * oh * ow;
    if (!each || !tc_type_count(ti_b_in_type(m, 0)))
        return false;
    int64_t rows = tc_type_count(ti_b_in_type(m, 0)) / each,
            *at = tc_new_n(&m->ctx->arena, int64_t, (size_t)each);
    for (int64_t i = 0; i < each; i++) {
        int64_t x = i % ow, y = i / ow % oh, kx = i / (ow * oh) % k[1], ky = i / (ow * oh * k[1]);
        at[i] = (y * a->stride.v[0] + ky * a->dilation.v[0]) * w + x * a->stride.v[1] +
                kx * a->dilation.v[1];
    }
    tc_val source = ti_b_reshape(m, ti_b_in(m, 0), 2, (int64_t[]){rows, each});
    tc_tensor none = ti_b_tensor(m, ti_b_in_type(m, 0)->dtype, 2, (int64_t[]){rows, h * w});
    memset(none.data, 0, tc_type_bytes(none.type));
    tc_val zeros = ti_b_const(m, none, NULL);
    tc_val index = ti_b_ints(m, at, 1, &each);
    tc_val y = ti_b_op(m, TC_OP_index_put, ti_b_attr(m, index_put, true),
                       (tc_val[]){zeros, source, TC_NONE, index}, 4);
    y = ti_b_reshape(m, y, 3, (int64_t[]){rows, h, w});
    return ti_cpu_done(
        m, ti_b_slice(m, ti_b_slice(m, y, 1, p[0], p[0] + s[0], 1), 2, p[1], p[1] + s[1], 1));
}

bool ti_cpu_form_channel_shuffle(tc_build *m)
{
    int64_t groups = ((const tc_attr_factor *)m->node->attr)->factor;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t c = t->dim[1], rest = c && t->dim[0] ? tc_type_count(t) / (t->dim[0] * c) : 0;
    if (!rest || !groups)
        return false;
    tc_val x = ti_b_reshape(m, ti_b_in(m, 0), 4, (int64_t[]){t->dim[0], groups, c / groups, rest});
    return ti_cpu_done(m, ti_b_permute(m, x, (int64_t[]){0, 2, 1, 3}));
}
