/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_window.c -- builders of convolution and pooling.
 *
 * Padding that our operators cannot have (one side only, wider than half a window) becomes a pad
 * operator before them. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* A window: one number per spatial axis; pad has before and after of each. */
typedef struct window {
    int axes;
    int64_t kernel[4], stride[4], dilation[4], pad[8], out[4];
    bool even, ceil;
} window;

static void take(tc_onnx_node *n, const char *name, int axes, int64_t missing, int64_t *out)
{
    tc_ints LIST_ = ti_onnx_ints(n, name);
    if (LIST_.n && LIST_.n != axes)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "'%s' has %d numbers, expected %d", name, LIST_.n, axes);
    for (int i = 0; i < axes; i++) {
        out[i] = LIST_.n == axes ? LIST_.v[i] : missing;
        if (out[i] < 0 || out[i] > INT32_MAX / 4) {
            ti_b_bad(&n->m, TC_E_ARGUMENT, "'%s' is %" PRId64, name, out[i]);
            out[i] = 1;
        }
    }
}

/* Padding by auto_pad: as much in all as ceil(in / stride) positions need. */
static void pad_by_word(tc_onnx_node *n, window *w, const int64_t *extent, const char *word)
{
    bool lower = ti_text_eq(word, "SAME_LOWER");
    for (int i = 0; i < w->axes; i++) {
        int64_t s = w->stride[i] ? w->stride[i] : 1, places = (extent[i] + s - 1) / s;
        int64_t total = (places - 1) * s + (w->kernel[i] - 1) * w->dilation[i] + 1 - extent[i];
        total = ti_max_i64(0, total);
        w->pad[2 * i] = lower ? total - total / 2 : total / 2;
        w->pad[2 * i + 1] = total - w->pad[2 * i];
    }
    if (!lower && !ti_text_eq(word, "SAME_UPPER"))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "auto_pad '%.40s'", word);
}

/* The window of a node over x; kernel: from weights, or NULL for the attribute. */
static window window_of(tc_onnx_node *n, const tc_type *x, const int64_t *kernel)
{
    window w = {.axes = x->rank - 2, .even = true, .ceil = ti_onnx_int(n, "ceil_mode", 0)};
    const char *word = ti_onnx_text(n, "auto_pad", "NOTSET");
    tc_ints pads = ti_onnx_ints(n, "pads");
    if (w.axes < 1 || w.axes > 3) {
        ti_b_unsupported(&n->m, "a window over a tensor of rank %d; 3 to 5 are supported", x->rank);
        w.axes = 0;
        return w;
    }
    take(n, "kernel_shape", w.axes, kernel ? 0 : 1, w.kernel);
    if (kernel)
        memcpy(w.kernel, kernel, (size_t)w.axes * sizeof *kernel);
    take(n, "strides", w.axes, 1, w.stride);
    take(n, "dilations", w.axes, 1, w.dilation);
    if (pads.n && pads.n != 2 * w.axes)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%d pads, expected %d", pads.n, 2 * w.axes);
    for (int i = 0; i < w.axes && n->m.status == TC_OK; i++) {
        w.pad[2 * i] = pads.n ? pads.v[i] : 0;
        w.pad[2 * i + 1] = pads.n ? pads.v[w.axes + i] : 0;
        if (!w.stride[i] || !w.dilation[i] || w.kernel[i] < 1 || w.pad[2 * i] < 0 ||
            w.pad[2 * i + 1] < 0 || w.pad[2 * i] > INT32_MAX / 4 ||
            w.pad[2 * i + 1] > INT32_MAX / 4)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "a window, stride, dilation or pad is out of range");
    }
    TC_STOP_WITH(&n->m, w);
    if (ti_text_eq(word, "VALID"))
        memset(w.pad, 0, sizeof w.pad);
    else if (!ti_text_eq(word, "NOTSET"))
        pad_by_word(n, &w, x->dim + 2, word);
    for (int i = 0; i < w.axes; i++) {
        int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
        int64_t slack = x->dim[2 + i] + w.pad[2 * i] + w.pad[2 * i + 1] - reach;
        w.out[i] = slack < 0 ? 0 : (slack + (w.ceil ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
        if (w.ceil && (w.out[i] - 1) * w.stride[i] >= x->dim[2 + i] + w.pad[2 * i])
            w.out[i]--; /* one that would begin in the padding after the input */
        w.even = w.even && w.pad[2 * i] == w.pad[2 * i + 1] && 2 * w.pad[2 * i] <= reach;
    }
    return w;
}

/* One number of each pair. */
static tc_ints befores(tc_build *m, const window *w)
{
    int64_t v[4];
    for (int i = 0; i < w->axes; i++)
        v[i] = w->pad[2 * i];
    return ti_ints_of(m, v, w->axes);
}

/* Padding as an operator; with what windows past the end read, where ceil_mode makes such
 * windows. */
static tc_val pad_in_front(tc_build *m, tc_val x, window *w, double value)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    for (int i = 0; i < w->axes; i++) {
        int64_t reach = (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
        pad[4 + 2 * i] = w->pad[2 * i];
        pad[5 + 2 * i] =
            ti_max_i64(w->pad[2 * i + 1], reach - t->dim[2 + i] - w->pad[2 * i]);
    }
    memset(w->pad, 0, sizeof w->pad);
    w->ceil = false;
    return ti_b_pad(m, x, pad, value);
}

void ti_onnx_build_conv(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), weight = ti_onnx_need(n, 1), bias = ti_onnx_in(n, 2);
    TC_STOP(m);
    bias = ti_onnx_whole_bias(n, x, weight, bias);
    window w = window_of(n, ti_b_type(m, x), ti_b_type(m, weight)->dim + 2);
    tc_attr_conv *a =
        ti_b_attr(m, conv, .stride = ti_ints_of(m, w.stride, w.axes), .pad = ti_ints_of(m, w.pad, 2 * w.axes),
                  .dilation = ti_ints_of(m, w.dilation, w.axes), .groups = ti_onnx_int(n, "group", 1));
    ti_onnx_bind(n, 0, ti_b_op(m, TC_OP_conv, a, (tc_val[]){x, weight, bias}, bias ? 3 : 2));
}

/* The full result, of which `pads` are cut away (or, negative, added with the bias's number). */
void ti_onnx_build_conv_transpose(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), weight = ti_onnx_need(n, 1), bias = ti_onnx_in(n, 2);
    TC_STOP(m);
    bias = ti_onnx_whole_bias(n, x, weight, bias);
    const tc_type *t = ti_b_type(m, x);
    window w = {.axes = t->rank - 2};
    if (w.axes < 1 || w.axes > 3) {
        ti_b_unsupported(m, "a window over a tensor of rank %d; 3 to 5 are supported", t->rank);
        return;
    }
    int64_t out_pad[4], cut[8] = {0};
    take(n, "strides", w.axes, 1, w.stride);
    take(n, "dilations", w.axes, 1, w.dilation);
    take(n, "output_padding", w.axes, 0, out_pad);
    tc_ints pads = ti_onnx_ints(n, "pads"), shape = ti_onnx_ints(n, "output_shape");
    const char *word = ti_onnx_text(n, "auto_pad", "NOTSET");
    bool same = ti_text_eq(word, "SAME_UPPER") || ti_text_eq(word, "SAME_LOWER");
    if ((pads.n && pads.n != 2 * w.axes) || (shape.n && shape.n < w.axes))
        ti_b_bad(m, TC_E_ARGUMENT, "pads or output_shape do not fit the input");
    TC_STOP(m);
    bool plain = true;
    for (int i = 0; i < w.axes; i++) {
        int64_t reach = (ti_b_type(m, weight)->dim[2 + i] - 1) * w.dilation[i] + 1;
        int64_t full = (t->dim[2 + i] - 1) * w.stride[i] + reach + out_pad[i];
        int64_t before = pads.n ? pads.v[i] : 0, after = pads.n ? pads.v[w.axes + i] : 0;
        if (shape.n || same) {
            int64_t wanted = shape.n ? shape.v[shape.n - w.axes + i] : t->dim[2 + i] * w.stride[i];
            int64_t total = full - wanted;
            bool upper = ti_text_eq(word, "SAME_UPPER");
            before = total < 0 ? 0 : upper ? total / 2 : total - total / 2;
            after = total - before;
        } else if (ti_text_eq(word, "VALID"))
            before = after = 0;
        cut[2 * i] = before;
        cut[2 * i + 1] = after;
        plain = plain && before == after && before >= 0 &&
                (out_pad[i] < w.stride[i] || out_pad[i] < w.dilation[i]);
        w.pad[2 * i] = before;
    }
    tc_attr_conv_transpose *a =
        ti_b_attr(m, conv_transpose, .stride = ti_ints_of(m, w.stride, w.axes), .pad = befores(m, &w),
                  .out_pad = ti_ints_of(m, out_pad, w.axes), .dilation = ti_ints_of(m, w.dilation, w.axes),
                  .groups = ti_onnx_int(n, "group", 1));
    if (plain) {
        ti_onnx_bind(
            n, 0, ti_b_op(m, TC_OP_conv_transpose, a, (tc_val[]){x, weight, bias}, bias ? 3 : 2));
        return;
    }
    a->pad = a->out_pad = ti_ints_fill(&m->ctx->arena, 0, w.axes);
    tc_val y = ti_b_2(m, conv_transpose, a, x, weight);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    for (int i = 0; i < w.axes && m->status == TC_OK; i++) {
        pad[4 + 2 * i] = -cut[2 * i];
        pad[5 + 2 * i] = out_pad[i] - cut[2 * i + 1];
    }
    y = ti_b_pad(m, y, pad, 0);
    if (bias && m->status == TC_OK) {
        int64_t dim[TC_MAX_RANK] = {1, tc_type_count(ti_b_type(m, bias)), 1, 1, 1};
        bias = ti_b_reshape(m, bias, t->rank, dim);
        y = ti_b_add(m, y, bias);
    }
    ti_onnx_bind(n, 0, y);
}

/* ---- pooling ---- */

/* Indices in a padded plane as indices in the whole tensor without padding; column_major: the first
 * spatial axis fastest. */
static tc_val whole_places(tc_build *m, tc_val at, const tc_type *x, const int64_t *padded,
                           const int64_t *before, bool column_major)
{
    TC_STOP_WITH(m, TC_NONE);
    int axes = x->rank - 2;
    int64_t plane = 1;
    for (int i = 0; i < axes; i++)
        plane *= x->dim[2 + i];
    tc_val sum = TC_NONE, left = at;
    int64_t stride[4], s = 1;
    for (int i = 0; i < axes; i++) {
        int axis = column_major ? i : axes - 1 - i;
        stride[axis] = s;
        s *= x->dim[2 + axis];
    }
    for (int i = axes - 1; i >= 0; i--) {
        tc_val extent = ti_b_scalar_i64(m, TC_i64, padded[i]);
        tc_val c = ti_b_remainder(m, left, extent);
        left = ti_b_2(m, div, ti_b_attr(m, div, TC_div_mode_trunc), left, extent);
        c = ti_b_add_n(m, c, (double)-before[i]);
        c = ti_b_mul_n(m, c, (double)stride[i]);
        sum = sum ? ti_b_add(m, sum, c) : c;
    }
    int64_t dim[TC_MAX_RANK] = {x->dim[0], x->dim[1], 1, 1, 1};
    tc_tensor base = ti_b_tensor(m, TC_i64, x->rank, dim);
    for (int64_t i = 0; i < tc_type_count(base.type); i++)
        ((int64_t *)base.data)[i] = i * plane;
    return ti_b_add(m, sum, ti_b_const(m, base, NULL));
}

void ti_onnx_build_max_pool(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    window w = window_of(n, t, NULL);
    int results = ti_onnx_wants(n, 1) ? 2 : 1;
    int64_t before[4] = {0}, padded[4];
    if (!w.even) {
        for (int i = 0; i < w.axes; i++)
            before[i] = w.pad[2 * i];
        x = pad_in_front(m, x, &w,
                         ti_is_float(t->dtype) ? -INFINITY : (double)ti_dtype_min(t->dtype));
    }
    for (int i = 0; i < w.axes && m->status == TC_OK; i++)
        padded[i] = ti_b_type(m, x)->dim[2 + i];
    tc_attr_max_pool *a = ti_b_attr(m, max_pool, .kernel = ti_ints_of(m, w.kernel, w.axes),
                                    .stride = ti_ints_of(m, w.stride, w.axes), .pad = befores(m, &w),
                                    .dilation = ti_ints_of(m, w.dilation, w.axes), .ceil = w.ceil);
    tc_node *node = ti_b_ops(m, TC_OP_max_pool, a, &x, 1, results);
    if (!node)
        return;
    ti_onnx_bind(n, 0, node->out[0]);
    if (results == 2)
        ti_onnx_bind(n, 1, whole_places(m, node->out[1], t, padded, before,
                                        ti_onnx_int(n, "storage_order", 0)));
}

/* Sums of windows: every channel convolved with ones. */
static tc_val window_sums(tc_build *m, tc_val x, window w)
{
    x = pad_in_front(m, x, &w, 0);
    TC_STOP_WITH(m, TC_NONE);
    int64_t channels = ti_b_type(m, x)->dim[1], dim[5] = {channels, 1};
    memcpy(dim + 2, w.kernel, (size_t)w.axes * sizeof *dim);
    tc_val ones = ti_b_full(m, w.axes + 2, dim, 1, ti_b_dtype(m, x));
    tc_attr_conv *a = ti_b_attr(m, conv, .stride = ti_ints_of(m, w.stride, w.axes),
                                .pad = ti_ints_fill(&m->ctx->arena, 0, 2 * w.axes),
                                .dilation = ti_ints_of(m, w.dilation, w.axes), .groups = channels);
    return ti_b_2(m, conv, a, x, ones);
}

/* How many elements of the input (with: and of its padding) window k of an axis covers. */
static int64_t held(const window *w, int i, int64_t extent, int64_t k, bool with_padding)
{
    int64_t step = w->dilation[i], first = k * w->stride[i] - w->pad[2 * i],
            from = with_padding ? -w->pad[2 * i] : 0,
            to = extent + (with_padding ? w->pad[2 * i + 1] : 0);
    int64_t skipped = first < from ? (from - first + step - 1) / step : 0,
            reached = first < to ? (to - 1 - first) / step + 1 : 0;
    return ti_max_i64(ti_min_i64(reached, w->kernel[i]) - skipped, 0);
}

/* One value for each position of the window, the same for all channels. */
static tc_val window_counts(tc_build *m, const tc_type *x, const window *w, bool with_padding)
{
    int64_t dim[5] = {1, 1};
    memcpy(dim + 2, w->out, (size_t)w->axes * sizeof *dim);
    if (m->status != TC_OK || ti_dims_count(w->axes + 2, dim) < 0)
        return TC_NONE;
    tc_tensor t = ti_b_tensor(m, x->dtype, w->axes + 2, dim);
    int64_t *along[4];
    for (int a = 0; a < w->axes; a++) {
        along[a] = tc_new_n(&m->ctx->arena, int64_t, (size_t)w->out[a]);
        for (int64_t k = 0; k < w->out[a]; k++)
            along[a][k] = held(w, a, x->dim[2 + a], k, with_padding);
    }
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        int64_t left = i, count = 1;
        for (int a = w->axes - 1; a >= 0; a--) {
            count *= along[a][left % w->out[a]];
            left /= w->out[a];
        }
        ti_store_i64(t, i, count);
    }
    return ti_b_const(m, t, NULL);
}

void ti_onnx_build_average_pool(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    bool include = ti_onnx_int(n, "count_include_pad", 0), near = true;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    window w = window_of(n, t, NULL);
    for (int i = 0; i < w.axes; i++)
        near = near && w.dilation[i] == 1;
    TC_STOP(m);
    if (w.even && near) {
        tc_attr_avg_pool *a = ti_b_attr(m, avg_pool, .kernel = ti_ints_of(m, w.kernel, w.axes),
                                        .stride = ti_ints_of(m, w.stride, w.axes), .pad = befores(m, &w),
                                        .ceil = w.ceil, .include_pad = include);
        ti_onnx_bind(n, 0, ti_b_1(m, avg_pool, a, x));
        return;
    }
    tc_val sum = window_sums(m, x, w), count = window_counts(m, t, &w, include);
    ti_onnx_bind(n, 0, ti_b_div(m, sum, count));
}

/* (sum |x|^p)^(1/p) */
static tc_val root(tc_build *m, tc_val x, double p)
{
    if (m->status != TC_OK || p == 1)
        return x;
    tc_val k = ti_b_scalar(m, ti_b_dtype(m, x), 1 / p);
    return p == 2 ? ti_b_sqrt(m, x) : ti_b_pow(m, x, k);
}

static tc_val power(tc_build *m, tc_val x, double p)
{
    TC_STOP_WITH(m, TC_NONE);
    if (p == 2)
        return ti_b_mul(m, x, x);
    x = ti_b_abs(m, x);
    tc_val k = ti_b_scalar(m, ti_b_dtype(m, x), p);
    return p == 1 ? x : ti_b_pow(m, x, k);
}

void ti_onnx_build_lp_pool(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    double p = (double)ti_onnx_int(n, "p", 2);
    TC_STOP(m);
    window w = window_of(n, ti_b_type(m, x), NULL);
    tc_val sum = window_sums(m, power(m, x, p), w);
    ti_onnx_bind(n, 0, root(m, sum, p));
}

/* The row's reduction over all spatial axes; Lp where it has none. */
void ti_onnx_build_global_pool(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    double p = (double)ti_onnx_int(n, "p", 2);
    static const int64_t axes[] = {2, 3, 4, 5, 6, 7};
    TC_STOP(m);
    int spatial = ti_b_type(m, x)->rank - 2;
    if (spatial < 1)
        ti_b_bad(m, TC_E_SHAPE, "a tensor without spatial axes");
    bool lp = n->row->op == TC_OP_norm;
    if (lp)
        x = power(m, x, p);
    x = ti_b_reduce(m, lp ? TC_OP_sum : n->row->op, x, axes, spatial, true);
    ti_onnx_bind(n, 0, lp ? root(m, x, p) : x);
}

/* Weights for the transpose of a convolution whose kernel k takes number k of the window. */
static tc_val one_each(tc_build *m, const window *w, int64_t numbers, tc_dtype dtype)
{
    int64_t dim[5] = {numbers, 1};
    memcpy(dim + 2, w->kernel, (size_t)w->axes * sizeof *dim);
    if (numbers < 1 || ti_dims_count(w->axes + 2, dim) < 0) {
        ti_b_bad(m, TC_E_TOO_LARGE, "a window of %" PRId64 " numbers", numbers);
        return TC_NONE;
    }
    tc_tensor t = ti_b_tensor(m, dtype, w->axes + 2, dim);
    memset(t.data, 0, tc_type_bytes(t.type));
    for (int64_t k = 0; k < numbers; k++)
        ti_store_f64(t, k * numbers + k, 1);
    return ti_b_const(m, t, NULL);
}

/* Columns [N, C k, positions] summed into the windows that they were taken from, each channel by
 * itself; then the padding is cropped. */
static tc_val sum_columns(tc_build *m, tc_val x, const window *w, tc_ints size)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t numbers = 1, places = 1, dim[5], pad[2 * TC_MAX_RANK] = {0};
    for (int i = 0; i < w->axes; i++) {
        int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1,
                room = size.v[i] + w->pad[2 * i] + w->pad[2 * i + 1] - reach;
        numbers *= w->kernel[i];
        dim[2 + i] = room < 0 ? 0 : room / w->stride[i] + 1;
        places *= dim[2 + i];
        int64_t made = (dim[2 + i] - 1) * w->stride[i] + reach;
        pad[4 + 2 * i] = -w->pad[2 * i];
        pad[5 + 2 * i] = size.v[i] + w->pad[2 * i] - made;
    }
    if (t->rank != 3 || numbers < 1 || t->dim[1] % numbers || t->dim[2] != places) {
        ti_b_bad(m, TC_E_SHAPE, "the columns do not fit the windows");
        return TC_NONE;
    }
    int64_t channels = t->dim[1] / numbers, out[5] = {t->dim[0], channels};
    memcpy(out + 2, size.v, (size_t)w->axes * sizeof *out);
    dim[0] = t->dim[0] * channels;
    dim[1] = numbers;
    x = ti_b_reshape(m, x, w->axes + 2, dim);
    tc_val kernel = one_each(m, w, numbers, t->dtype);
    tc_attr_conv_transpose *a = ti_b_attr(m, conv_transpose, .stride = ti_ints_of(m, w->stride, w->axes),
                                          .pad = ti_ints_fill(&m->ctx->arena, 0, w->axes),
                                          .out_pad = ti_ints_fill(&m->ctx->arena, 0, w->axes),
                                          .dilation = ti_ints_of(m, w->dilation, w->axes), .groups = 1);
    tc_val y = ti_b_2(m, conv_transpose, a, x, kernel);
    y = ti_b_pad(m, y, pad, 0);
    return ti_b_reshape(m, y, w->axes + 2, out);
}

void ti_onnx_build_col2im(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    tc_ints size = ti_onnx_settled(n, 1), kernel = ti_onnx_settled(n, 2),
            pads = ti_onnx_ints(n, "pads");
    TC_STOP(m);
    window w = {.axes = size.n};
    if (size.n < 1 || size.n > 3 || kernel.n != size.n) {
        ti_b_unsupported(m, "Col2Im of %d axes; one to three are supported", size.n);
        return;
    }
    take(n, "strides", w.axes, 1, w.stride);
    take(n, "dilations", w.axes, 1, w.dilation);
    bool even = true;
    for (int i = 0; i < w.axes; i++) {
        w.kernel[i] = kernel.v[i];
        w.pad[2 * i] = pads.n == 2 * w.axes ? pads.v[i] : 0;
        w.pad[2 * i + 1] = pads.n == 2 * w.axes ? pads.v[w.axes + i] : 0;
        even = even && w.pad[2 * i] == w.pad[2 * i + 1];
        if (kernel.v[i] < 1 || kernel.v[i] > INT32_MAX / 4 || size.v[i] < 1 ||
            size.v[i] > INT32_MAX / 4 || !w.stride[i] || !w.dilation[i] || w.pad[2 * i] < 0 ||
            w.pad[2 * i + 1] < 0 ||
            w.pad[2 * i] > INT32_MAX / 4 || w.pad[2 * i + 1] > INT32_MAX / 4)
            ti_b_bad(m, TC_E_ARGUMENT, "a window, stride, dilation or pad is out of range");
    }
    TC_STOP(m);
    if (!even || w.axes != 2) {
        ti_onnx_bind(n, 0, sum_columns(m, x, &w, size));
        return;
    }
    tc_attr_col2im *a =
        ti_b_attr(m, col2im, .size = size, .kernel = kernel, .dilation = ti_ints_of(m, w.dilation, 2),
                  .pad = befores(m, &w), .stride = ti_ints_of(m, w.stride, 2));
    ti_onnx_bind(n, 0, ti_b_1(m, col2im, a, x));
}

/* Values put where a pooling found them, zeros elsewhere. */
void ti_onnx_build_max_unpool(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), index = ti_onnx_need(n, 1);
    tc_ints shape = n->n_in > 2 ? ti_onnx_settled(n, 2) : (tc_ints){0, NULL};
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axes = t->rank - 2;
    int64_t kernel[4] = {1, 1, 1, 1}, stride[4], dim[TC_MAX_RANK];
    if (axes < 1 || axes > 3 || (shape.n && shape.n != t->rank)) {
        ti_b_bad(m, TC_E_SHAPE, "MaxUnpool of a tensor of rank %d", t->rank);
        return;
    }
    take(n, "kernel_shape", axes, 1, kernel);
    take(n, "strides", axes, 1, stride);
    tc_ints pads = ti_onnx_ints(n, "pads");
    dim[0] = t->dim[0];
    dim[1] = t->dim[1];
    for (int i = 0; i < axes; i++) {
        int64_t cut = pads.n == 2 * axes ? pads.v[i] + pads.v[axes + i] : 0;
        dim[2 + i] = (t->dim[2 + i] - 1) * stride[i] - cut + kernel[i];
    }
    int64_t count = ti_dims_count(t->rank, dim), pad[2 * TC_MAX_RANK] = {0};
    if (count < 0) {
        ti_b_bad(m, TC_E_TOO_LARGE, "the result of MaxUnpool");
        return;
    }
    tc_val zeros = ti_b_full(m, 1, &count, 0, t->dtype);
    tc_val flat = ti_b_flat(m, x), at = ti_b_flat(m, index);
    tc_attr_scatter *a = ti_b_attr(m, scatter, .combine = TC_combine_set, .include_self = true);
    tc_val y = ti_b_3(m, scatter, a, zeros, at, flat);
    y = ti_b_reshape(m, y, t->rank, dim);
    /* The window's own output shape holds; output_shape adds zeros at the end. */
    for (int i = 0; shape.n && i < t->rank; i++)
        pad[2 * i + 1] = shape.v[i] - dim[i];
    ti_onnx_bind(n, 0, ti_b_pad(m, y, pad, 0));
}
