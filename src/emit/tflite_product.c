/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_product.c -- in int8 programs: convolutions, linear layers, sums and products of two
 * values, each with its activation; pools and means. */
#include "tflite_int8.h"

#include <math.h>

#include "../num/load.h"

enum { SAME = 0, VALID = 1 };

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

/* ---- products ---- */

/* Weights [O,I,(H,)W] as TensorFlow Lite has them: [O,H,W,I]; depthwise [1,H,W,O]. */
static int64_t weights_of(tc_tf8 *e, tc_val v, bool depthwise)
{
    const tc_type *t = type_of(e, v);
    int64_t o = t->dim[0], i = t->dim[1], h = t->rank == 4 ? t->dim[2] : 1, w = t->dim[t->rank - 1];
    int64_t dim[4] = {o, h, w, i}, step[4] = {i * h * w, w, 1, h * w};
    if (depthwise) {
        memcpy(dim, (int64_t[]){1, h, w, o}, sizeof dim);
        memcpy(step, (int64_t[]){0, w, 1, h * w}, sizeof step);
    }
    int64_t known = ti_tfw_tensor(&e->w, v);
    tc_tfw_tensor x = e->w.model.tensor[known];
    x.rank = 4;
    x.dim = ti_arena_copy(&e->w.ctx->arena, dim, sizeof dim);
    x.axis = depthwise ? 3 : 0;
    x.data = ti_tf8_reorder(e, v, dim, step);
    return ti_tfw_add_tensor(&e->w, x);
}

/* The sums' 32-bit codes of a bias: one of real numbers, as a quantized export has it, is made so.
 */
static int64_t bias_of(tc_tf8 *e, const tc_node *node)
{
    tc_val v = node->n_in > 2 ? node->in[2] : TC_NONE;
    if (!v || type_of(e, v)->quant)
        return ti_tfw_tensor(&e->w, v);
    const tc_quant *x = type_of(e, node->in[0])->quant, *w = type_of(e, node->in[1])->quant;
    const tc_tensor real = ti_tensor_of(e->w.g, v);
    int64_t n = tc_type_count(real.type), like = ti_tfw_tensor(&e->w, v),
            at = ti_tf8_like(e, like, real.type->rank, real.type->dim);
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    double *scale = tc_new_n(&e->w.ctx->arena, double, (size_t)n + 1);
    int32_t *code = tc_new_n(&e->w.ctx->arena, int32_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        scale[i] = x->scale[0] * w->scale[w->axis < 0 ? 0 : i];
        code[i] = (int32_t)fmin(fmax(round(ti_load_f64(real, i) / scale[i]), INT32_MIN), INT32_MAX);
    }
    t->type = TFL_INT32;
    t->n_scale = w->axis < 0 ? 1 : (int)n;
    t->scale = scale;
    t->zero = tc_new_n(&e->w.ctx->arena, int64_t, (size_t)n + 1);
    t->constant = true;
    t->data = (tc_bytes){(const uint8_t *)code, (size_t)n * sizeof *code};
    return at;
}

/* Why the operands are not what an int8 product takes; or NULL. */
static const char *check_product(const tc_tf8 *e, const tc_node *node)
{
    const tc_type *w = type_of(e, node->in[1]);
    tc_val bias = node->n_in > 2 ? node->in[2] : TC_NONE;
    if (!ti_is_const(e->w.g, node->in[1]) || w->dtype != TC_i8 || !w->quant)
        return "its weights are no int8 constants";
    if (bias && !ti_is_const(e->w.g, bias))
        return "its bias is no constant";
    return NULL;
}

typedef struct window {
    int64_t in[2], out[2], kernel[2], stride[2], dilation[2], pad[4]; /* pad: before, after */
} window;

static window window_of(const tc_type *x, const tc_type *y, const int64_t *kernel, tc_ints stride,
                        tc_ints pad, tc_ints dilation)
{
    window w = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0}};
    int n = x->rank - 2, both = pad.n == 2 * n ? 2 : 1;
    for (int i = 0, k = 2 - n; i < n; i++, k++) {
        w.in[k] = x->dim[2 + i];
        w.out[k] = y->dim[2 + i];
        w.kernel[k] = kernel[i];
        w.stride[k] = stride.v[i];
        w.dilation[k] = dilation.n ? dilation.v[i] : 1;
        w.pad[2 * k] = pad.v[both * i];
        w.pad[2 * k + 1] = pad.v[both * i + both - 1];
    }
    return w;
}

static bool is_same(const window *w)
{
    for (int k = 0; k < 2; k++) {
        int64_t span = (w->kernel[k] - 1) * w->dilation[k] + 1;
        int64_t total = (w->out[k] - 1) * w->stride[k] + span - w->in[k];
        total = total < 0 ? 0 : total;
        if (w->out[k] != (w->in[k] + w->stride[k] - 1) / w->stride[k] || w->pad[2 * k] != total / 2)
            return false;
    }
    return true;
}

static bool is_bare(const window *w)
{
    return !w->pad[0] && !w->pad[1] && !w->pad[2] && !w->pad[3];
}

/* x in a frame of its zero point, where the padding is neither SAME nor none. */
static int64_t padded(tc_tf8 *e, int64_t x, const window *w)
{
    const int64_t *d = e->w.model.tensor[x].dim;
    int64_t pads[8] = {0, 0, w->pad[0], w->pad[1], w->pad[2], w->pad[3], 0, 0};
    int64_t dim[4] = {d[0], d[1] + w->pad[0] + w->pad[1], d[2] + w->pad[2] + w->pad[3], d[3]};
    int64_t shape[2] = {4, 2}, list = ti_tfw_ints(&e->w, pads, 8, 2, shape);
    int64_t to = ti_tf8_like(e, x, 4, dim);
    ti_tf8_move(e, TC_TFLM_PAD, x, list, to);
    return to;
}

static const char *put_conv(tc_tf8 *e, const tc_node *node, tc_val out, int activation)
{
    const tc_attr_conv *a = node->attr;
    const tc_type *x = type_of(e, node->in[0]), *w = type_of(e, node->in[1]);
    if (x->rank != 3 && x->rank != 4)
        return "its windows have more than two axes";
    const char *why = check_product(e, node);
    if (why)
        return why;
    bool depthwise = a->groups == x->dim[1] && w->dim[1] == 1 && a->groups > 1;
    window win = window_of(x, type_of(e, out), w->dim + 2, a->stride, a->pad, a->dilation);
    int64_t in[3] = {ti_tf8_last(e, node->in[0])};
    in[1] = weights_of(e, node->in[1], depthwise);
    in[2] = bias_of(e, node);
    bool same = !is_bare(&win) && is_same(&win);
    if (!same && !is_bare(&win))
        in[0] = padded(e, in[0], &win);
    int64_t to = ti_tf8_new_last(e, out);
    int at = 0;
    tc_tflm_name name = depthwise ? TC_TFLM_DEPTHWISE_CONV_2D : TC_TFLM_CONV_2D;
    tc_tfw_op *op = ti_tf8_op(e, name, 3, in, 3, to);
    ti_tf8_set(op, at++, 'b', same ? SAME : VALID);
    ti_tf8_set(op, at++, 'i', (double)win.stride[1]);
    ti_tf8_set(op, at++, 'i', (double)win.stride[0]);
    if (depthwise)
        ti_tf8_set(op, at++, 'i', (double)(w->dim[0] / a->groups));
    ti_tf8_set(op, at++, 'b', activation);
    ti_tf8_set(op, at++, 'i', (double)win.dilation[1]);
    ti_tf8_set(op, at, 'i', (double)win.dilation[0]);
    return NULL;
}

tc_val ti_tf8_flattened(const tc_tf8 *e, tc_val x)
{
    const tc_node *node = ti_def(e->w.g, x);
    if (!node || node->op != TC_OP_reshape || type_of(e, x)->rank != 2)
        return TC_NONE;
    const tc_type *t = type_of(e, node->in[0]);
    bool fits = t->rank == 4 && t->dim[0] == type_of(e, x)->dim[0] && !e->w.of[x] &&
                e->last[node->in[0]];
    return fits ? node->in[0] : TC_NONE;
}

static int64_t flat_weights(tc_tf8 *e, tc_val v, const tc_type *image)
{
    const int64_t *d = image->dim;
    int64_t o = type_of(e, v)->dim[0], plane = d[2] * d[3];
    int64_t dim[4] = {o, d[2], d[3], d[1]}, step[4] = {d[1] * plane, d[3], 1, plane};
    int64_t known = ti_tfw_tensor(&e->w, v);
    tc_tfw_tensor t = e->w.model.tensor[known];
    t.data = ti_tf8_reorder(e, v, dim, step);
    return ti_tfw_add_tensor(&e->w, t);
}

static const char *put_linear(tc_tf8 *e, const tc_node *node, tc_val out, int activation)
{
    const tc_type *x = type_of(e, node->in[0]), *w = type_of(e, node->in[1]);
    const char *why = check_product(e, node);
    if (why || w->rank != 2)
        return why ? why : "its weights are no matrix";
    tc_val image = ti_tf8_flattened(e, node->in[0]);
    int64_t in[3];
    if (image) {
        in[0] = ti_tf8_like(e, ti_tf8_last(e, image), 2, x->dim);
        ti_tf8_move(e, TC_TFLM_RESHAPE, ti_tf8_last(e, image), ti_tf8_list(e, x->dim, 2), in[0]);
        in[1] = flat_weights(e, node->in[1], type_of(e, image));
    } else {
        in[0] = ti_tf8_plain(e, node->in[0]);
        in[1] = ti_tfw_tensor(&e->w, node->in[1]);
    }
    in[2] = bias_of(e, node);
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_FULLY_CONNECTED, x->rank == 2 ? 4 : 5, in, 3,
                           ti_tfw_tensor(&e->w, out));
    ti_tf8_set(op, 0, 'b', activation);
    if (x->rank != 2)
        ti_tf8_set(op, 2, 'b', 1);
    return NULL;
}

static const char *put_pair(tc_tf8 *e, const tc_node *node, tc_val out, int activation)
{
    const tc_attr_alpha *a = node->attr;
    const tc_type *y = type_of(e, out);
    bool last = y->rank == 4 || y->rank == 3;
    if (node->op != TC_OP_mul && a->alpha != 1)
        return "its second operand has a factor";
    if (y->rank > 4)
        return "it has more than four axes";
    bool some = false;
    for (int i = 0; i < 2; i++) {
        last = last && ti_tf8_is_last(e, node->in[i]);
        some = some || e->last[node->in[i]];
        last = last && (type_of(e, node->in[i])->rank == y->rank || (y->rank == 4));
    }
    last = last && some;
    int64_t in[2], to = last ? ti_tf8_new_last(e, out) : ti_tfw_tensor(&e->w, out);
    for (int i = 0; i < 2; i++)
        in[i] = last ? ti_tf8_last(e, node->in[i]) : ti_tf8_plain(e, node->in[i]);
    tc_tfw_op *op = ti_tf8_op(e, node->op == TC_OP_add   ? TC_TFLM_ADD
                              : node->op == TC_OP_sub ? TC_TFLM_SUB
                                                      : TC_TFLM_MUL,
                           2, in, 2, to);
    ti_tf8_set(op, 0, 'b', activation);
    return NULL;
}

const char *ti_tf8_product(tc_tf8 *e, const tc_node *node, tc_val out, int activation)
{
    for (int i = 0; i < 2; i++)
        if (!type_of(e, node->in[i])->quant)
            return "an operand is real";
    if (!ti_tf8_is_code(type_of(e, out)))
        return "its result is no int8";
    return node->op == TC_OP_conv     ? put_conv(e, node, out, activation)
           : node->op == TC_OP_linear ? put_linear(e, node, out, activation)
                                      : put_pair(e, node, out, activation);
}

/* ---- pools and means ---- */

const char *ti_tf8_pool(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_max_pool *m = node->attr;
    const tc_attr_avg_pool *a = node->attr;
    const tc_type *x = type_of(e, node->in[0]);
    bool max = node->op == TC_OP_max_pool;
    window w = window_of(x, type_of(e, node->out[0]), max ? m->kernel.v : a->kernel.v,
                         max ? m->stride : a->stride, max ? m->pad : a->pad,
                         max ? m->dilation : (tc_ints){0});
    bool same = !is_bare(&w) && is_same(&w);
    if (w.dilation[0] != 1 || w.dilation[1] != 1 || (max ? m->ceil : a->ceil))
        return "its windows are dilated, or reach past the end";
    if (!same && !is_bare(&w))
        return "its padding is not TensorFlow Lite's SAME";
    if (!max && ((same && a->include_pad) || a->divisor))
        return "its mean counts the padding";
    int64_t from = ti_tf8_last(e, node->in[0]), to = ti_tf8_new_last(e, node->out[0]), at = to;
    if (type_of(e, node->out[0])->quant->scale[0] != x->quant->scale[0] ||
        type_of(e, node->out[0])->quant->zero[0] != x->quant->zero[0])
        at = ti_tf8_like(e, from, 4, e->w.model.tensor[to].dim);
    tc_tflm_name name = max ? TC_TFLM_MAX_POOL_2D : TC_TFLM_AVERAGE_POOL_2D;
    tc_tfw_op *op = ti_tf8_op(e, name, 2, &from, 1, at);
    ti_tf8_set(op, 0, 'b', same ? SAME : VALID);
    ti_tf8_set(op, 1, 'i', (double)w.stride[1]);
    ti_tf8_set(op, 2, 'i', (double)w.stride[0]);
    ti_tf8_set(op, 3, 'i', (double)w.kernel[1]);
    ti_tf8_set(op, 4, 'i', (double)w.kernel[0]);
    if (at != to)
        ti_tf8_op(e, TC_TFLM_QUANTIZE, 2, &at, 1, to);
    return NULL;
}

static void put_mean(tc_tf8 *e, int64_t from, const int64_t *axes, int64_t n, bool keep, int64_t to)
{
    int64_t in[2] = {from, ti_tf8_list(e, axes, n)};
    ti_tf8_set(ti_tf8_op(e, TC_TFLM_MEAN, 2, in, 2, to), 0, 'b', keep);
}

const char *ti_tf8_global(tc_tf8 *e, const tc_node *node)
{
    static const int64_t plane[] = {1, 2};
    const tc_ints size = ((const tc_attr_size *)node->attr)->size;
    for (int i = 0; i < size.n; i++)
        if (size.v[i] != 1)
            return "it has more than one window";
    int64_t from = ti_tf8_last(e, node->in[0]);
    put_mean(e, from, plane, 2, true, ti_tf8_new_last(e, node->out[0]));
    return NULL;
}

const char *ti_tf8_mean(tc_tf8 *e, const tc_node *node)
{
    static const int64_t plane[] = {1, 2};
    const tc_attr_axes *a = node->attr;
    bool image = type_of(e, node->in[0])->rank == 4 && a->axes.n == 2 && a->axes.v[0] == 2 &&
                 a->axes.v[1] == 3 && e->last[node->in[0]];
    if (image && a->keepdim)
        put_mean(e, ti_tf8_last(e, node->in[0]), plane, 2, true, ti_tf8_new_last(e, node->out[0]));
    else if (image)
        put_mean(e, ti_tf8_last(e, node->in[0]), plane, 2, false,
                 ti_tfw_tensor(&e->w, node->out[0]));
    else
        put_mean(e, ti_tf8_plain(e, node->in[0]), a->axes.v, a->axes.n, a->keepdim,
                 ti_tfw_tensor(&e->w, node->out[0]));
    return NULL;
}
