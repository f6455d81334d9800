/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_int8.c -- see tflite_int8.h. */
#include "tflite_int8.h"

#include <math.h>

#include "../ir/rewrite.h"
#include "../num/load.h"

enum { NO_ACTIVATION = 0, RELU = 1, RELU_1 = 2, RELU_6 = 3, SAME = 0, VALID = 1 };

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

tc_tfw_op *ti_tf8_op(tc_tf8 *e, tc_tflm_name name, int version, const int64_t *in, size_t n, int64_t out)
{
    const tc_tflm_builtin *b = &tc_tflm_builtins[name];
    tc_tfw_op *op = ti_tfw_add_op(&e->w, n, 1);
    op->code = b->code;
    op->version = version;
    op->options = b->options;
    memcpy(op->in, in, n * sizeof *in);
    op->out[0] = out;
    return op;
}

/* ---- what has an int8 form ---- */

bool ti_tf8_is_code(const tc_type *t)
{
    return t->quant && t->quant->axis < 0 &&
           (t->dtype == TC_i8 || (t->dtype == TC_i16 && !t->quant->zero[0]));
}

/* Results of 16 bits are written with 8: their step is so many times larger. */
static const double OF_16_BITS = 32767.0 / 127.0;

void ti_tf8_narrow(tc_tf8 *e, int64_t at)
{
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    double scale = t->n_scale ? t->scale[0] * OF_16_BITS : 0;
    if (t->type != TFL_INT16 || !t->n_scale)
        return;
    t->type = TFL_INT8;
    t->scale = ti_arena_copy(&e->w.ctx->arena, &scale, sizeof scale);
    if (!t->constant)
        return;
    int8_t *code = ti_arena_raw(&e->w.ctx->arena, t->data.size / 2 + 1);
    for (size_t i = 0; i < t->data.size / 2; i++) {
        int16_t wide;
        memcpy(&wide, t->data.data + 2 * i, sizeof wide);
        code[i] = (int8_t)round(wide / OF_16_BITS);
    }
    t->data = (tc_bytes){(const uint8_t *)code, t->data.size / 2};
}

static double step_of(const tc_type *t)
{
    return (float)(t->quant->scale[0] * (t->dtype == TC_i16 ? OF_16_BITS : 1));
}

double ti_tf8_clipped(double v, double step, double zero)
{
    return fmin(fmax(zero + (isfinite(v) ? round(v / step) : v), INT8_MIN), INT8_MAX);
}

/* The activation whose codes are those between lo and hi; -1: none is. */
static int activation_of(const tc_type *t, double lo, double hi)
{
    static const struct {
        double lo, hi;
    } range[] = {[NO_ACTIVATION] = {-INFINITY, INFINITY},
                 [RELU] = {0, INFINITY},
                 [RELU_1] = {-1, 1},
                 [RELU_6] = {0, 6}};
    double s = step_of(t), z = (double)t->quant->zero[0];
    for (int i = 0; i < (int)TC_COUNT(range); i++)
        if (ti_tf8_clipped(lo, s, z) == ti_tf8_clipped(range[i].lo, s, z) &&
            ti_tf8_clipped(hi, s, z) == ti_tf8_clipped(range[i].hi, s, z))
            return i;
    return -1;
}

static void bounds_of(const tc_node *node, double *lo, double *hi)
{
    *lo = 0;
    *hi = INFINITY;
    if (node->op == TC_OP_clamp) {
        *lo = ((const tc_attr_clamp *)node->attr)->lo;
        *hi = ((const tc_attr_clamp *)node->attr)->hi;
    }
}

/* Its result is a sum, real or of 32 bits, and the one node that reads it is its activation. */
static bool is_fused(const tc_tf8 *e, const tc_node *node)
{
    bool product = node->op == TC_OP_conv || node->op == TC_OP_linear || node->op == TC_OP_add ||
                   node->op == TC_OP_mul || node->op == TC_OP_sub;
    tc_dtype sum = type_of(e, node->out[0])->dtype;
    return product && type_of(e, node->in[0])->quant && (sum == TC_f32 || sum == TC_i32) && e->readers[node->out[0]] == 1;
}

static bool is_move(const tc_node *node)
{
    return node->op == TC_OP_permute || node->op == TC_OP_reshape;
}

/* The product whose sums these are, moved or not, before its activation; or NULL. */
static const tc_node *summed(const tc_tf8 *e, tc_val v)
{
    const tc_node *node = ti_def(e->w.g, v);
    while (node && is_move(node) && e->readers[node->out[0]] == 1)
        node = ti_def(e->w.g, node->in[0]);
    return node && is_fused(e, node) ? node : NULL;
}

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

/* The sums' 32-bit codes of a bias: one of real numbers, as a quantized export has it, is made so. */
static int64_t bias_of(tc_tf8 *e, const tc_node *node)
{
    tc_val v = node->n_in > 2 ? node->in[2] : TC_NONE;
    if (!v || type_of(e, v)->quant)
        return ti_tfw_tensor(&e->w, v);
    const tc_quant *x = type_of(e, node->in[0])->quant, *w = type_of(e, node->in[1])->quant;
    const tc_tensor real = ti_tensor_of(e->w.g, v);
    int64_t n = tc_type_count(real.type), at = ti_tf8_like(e, ti_tfw_tensor(&e->w, v), real.type->rank, real.type->dim);
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
    int64_t in[3] = {ti_tf8_last(e, node->in[0]), weights_of(e, node->in[1], depthwise), bias_of(e, node)};
    bool same = !is_bare(&win) && is_same(&win);
    if (!same && !is_bare(&win))
        in[0] = padded(e, in[0], &win);
    int64_t to = ti_tf8_new_last(e, out);
    int at = 0;
    tc_tfw_op *op = ti_tf8_op(e, depthwise ? TC_TFLM_DEPTHWISE_CONV_2D : TC_TFLM_CONV_2D, 3, in, 3, to);
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

/* Columns of weights that read a flattened [N,C,H,W] in the order [H,W,C]: the tensor of x too. */
static tc_val flattened(const tc_tf8 *e, tc_val x)
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
    tc_val image = flattened(e, node->in[0]);
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

static const char *put_product(tc_tf8 *e, const tc_node *node, tc_val out, int activation)
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

/* ---- one operand ---- */

static const char *put_softmax(tc_tf8 *e, const tc_node *node)
{
    const tc_type *t = type_of(e, node->in[0]);
    if (((const tc_attr_axis *)node->attr)->axis != t->rank - 1)
        return "its axis is not the last";
    int64_t from = ti_tf8_plain(e, node->in[0]), to = ti_tfw_tensor(&e->w, node->out[0]);
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_SOFTMAX, 2, &from, 1, to);
    ti_tf8_set(op, 0, 'f', 1);
    ti_tf8_fixed(e, to, op, 1.0 / 256, INT8_MIN);
    return NULL;
}

/* ---- pools and means ---- */

static const char *put_pool(tc_tf8 *e, const tc_node *node)
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
    tc_tfw_op *op = ti_tf8_op(e, max ? TC_TFLM_MAX_POOL_2D : TC_TFLM_AVERAGE_POOL_2D, 2, &from, 1, at);
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

static const char *put_global(tc_tf8 *e, const tc_node *node)
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

static const char *put_mean_of(tc_tf8 *e, const tc_node *node)
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

/* ---- movement ---- */

static const char *put_reshape(tc_tf8 *e, const tc_node *node)
{
    const tc_type *t = type_of(e, node->out[0]);
    const tc_node *reader = NULL;
    for (size_t k = 0; k < e->w.g->n_node && !reader; k++)
        if (e->w.g->node[k]->n_in && e->w.g->node[k]->in[0] == node->out[0])
            reader = e->w.g->node[k];
    bool folds = reader && reader->op == TC_OP_linear && e->readers[node->out[0]] == 1 &&
                 flattened(e, node->out[0]) && type_of(e, node->in[0])->dim[0] == 1;
    if (folds) /* into the columns of its weights */
        return NULL;
    int64_t from = ti_tf8_plain(e, node->in[0]), to = ti_tfw_tensor(&e->w, node->out[0]);
    ti_tf8_move(e, TC_TFLM_RESHAPE, from, ti_tf8_list(e, t->dim, t->rank), to);
    return NULL;
}

static const char *put_permute(tc_tf8 *e, const tc_node *node)
{
    tc_ints p = ((const tc_attr_perm *)node->attr)->perm;
    bool to_first = p.n == 4 && p.v[0] == 0 && p.v[1] == 3 && p.v[2] == 1 && p.v[3] == 2;
    bool to_last = p.n == 4 && p.v[0] == 0 && p.v[1] == 2 && p.v[2] == 3 && p.v[3] == 1;
    if (to_first && !e->last[node->in[0]]) {
        e->last[node->out[0]] = ti_tf8_plain(e, node->in[0]) + 1;
        return NULL;
    }
    if (to_last && e->last[node->in[0]] && !ti_is_const(e->w.g, node->in[0])) {
        e->w.of[node->out[0]] = e->last[node->in[0]];
        return NULL;
    }
    if (p.n > TC_TFLM_MOST_MOVED)
        return "it moves more axes than TRANSPOSE does";
    ti_tf8_move(e, TC_TFLM_TRANSPOSE, ti_tf8_plain(e, node->in[0]), ti_tf8_list(e, p.v, p.n),
                ti_tfw_tensor(&e->w, node->out[0]));
    return NULL;
}

/* Sums and what they are moved to have the codes of the activation that follows. */
static void take_codes(tc_tf8 *e, tc_val v, const tc_type *codes)
{
    const tc_type *t = type_of(e, v);
    e->w.g->val[v]->type = ti_type_with(
        e->w.ctx, ti_type_make(e->w.ctx, codes->dtype, t->rank, t->dim), codes->quant);
}

/* The product with its activation, and what moves its results after. */
static const char *put_fused(tc_tf8 *e, const tc_node *product, tc_val v, const tc_type *codes,
                             int activation)
{
    const tc_node *node = ti_def(e->w.g, v);
    take_codes(e, v, codes);
    if (node == product)
        return put_product(e, product, v, activation);
    const char *why = put_fused(e, product, node->in[0], codes, activation);
    return why                         ? why
           : node->op == TC_OP_permute ? put_permute(e, node)
                                       : put_reshape(e, node);
}

/* RELU_1 and bounds that are no activation: codes of the result, kept between them. */
static const char *put_alone(tc_tf8 *e, const tc_node *node, int kind)
{
    int64_t from, to;
    if (!ti_tf8_is_code(type_of(e, node->in[0])))
        return "its operand is no int8";
    ti_tf8_like_operand(e, node, 0, &from, &to);
    ti_tf8_op(e, kind == RELU ? TC_TFLM_RELU : kind == RELU_6 ? TC_TFLM_RELU6 : TC_TFLM_QUANTIZE, 2,
           &from, 1, to);
    return NULL;
}

static const char *put_activation(tc_tf8 *e, const tc_node *node)
{
    const tc_type *y = type_of(e, node->out[0]);
    const tc_node *product = summed(e, node->in[0]);
    double lo, hi;
    bounds_of(node, &lo, &hi);
    if (!ti_tf8_is_code(y))
        return "its result is no int8";
    int kind = activation_of(y, lo, hi), done = kind < 0 ? NO_ACTIVATION : kind;
    bool bounds = kind < 0 || (kind == RELU_1 && !product);
    const char *why = NULL;
    if (!product) {
        why = put_alone(e, node, done);
    } else if (ti_def(e->w.g, node->in[0]) == product) {
        why = put_product(e, product, node->out[0], done);
    } else {
        why = put_fused(e, product, node->in[0], y, done);
        e->w.of[node->out[0]] = e->w.of[node->in[0]];
        e->last[node->out[0]] = e->last[node->in[0]];
    }
    if (!why && bounds)
        ti_tf8_bounds(e, lo, hi);
    return why;
}

/* Operands in groups of as many as TFLM joins at once, until there are no more. */
static void join(tc_tf8 *e, int64_t *in, size_t n, int64_t axis, int64_t to)
{
    while (n > TC_TFLM_MOST_JOINED) {
        size_t groups = 0;
        for (size_t i = 0, some; i < n; i += some) {
            some = n - i < TC_TFLM_MOST_JOINED ? n - i : TC_TFLM_MOST_JOINED;
            tc_tfw_tensor t = e->w.model.tensor[in[i]];
            int64_t dim[TC_MAX_RANK];
            memcpy(dim, t.dim, (size_t)t.rank * sizeof *dim);
            for (size_t k = 1; k < some; k++)
                dim[axis] += e->w.model.tensor[in[i + k]].dim[axis];
            int64_t part = some > 1 ? ti_tf8_like(e, to, t.rank, dim) : in[i];
            if (some > 1)
                join(e, in + i, some, axis, part);
            in[groups++] = part;
        }
        n = groups;
    }
    ti_tf8_set(ti_tf8_op(e, TC_TFLM_CONCATENATION, 2, in, n, to), 0, 'i', (double)axis);
}

static const char *put_cat(tc_tf8 *e, const tc_node *node)
{
    static const int64_t where[] = {0, 3, 1, 2};
    const tc_type *y = type_of(e, node->out[0]);
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis;
    bool last = y->rank == 4;
    const char *why = ti_tf8_other_codes(e, node, 0);
    if (why)
        return why;
    for (int i = 0; i < node->n_in; i++)
        last = last && ti_tf8_is_last(e, node->in[i]);
    int64_t *in = tc_new_n(&e->w.ctx->arena, int64_t, (size_t)node->n_in);
    int64_t to = last ? ti_tf8_new_last(e, node->out[0]) : ti_tfw_tensor(&e->w, node->out[0]);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_tf8_with_codes(e, last ? ti_tf8_last(e, node->in[i]) : ti_tf8_plain(e, node->in[i]), to);
    join(e, in, (size_t)node->n_in, last ? where[axis] : axis, to);
    return NULL;
}

/* Rows of a table of codes. */
static const char *put_rows(tc_tf8 *e, const tc_node *node)
{
    enum { MOST_AXES = 4 };
    const tc_type *index = type_of(e, node->in[1]);
    if (index->dtype != TC_i32)
        return "its indices have not 32 bits";
    if (type_of(e, node->out[0])->rank > MOST_AXES)
        return "its result has more than 4 axes";
    int64_t in[2] = {ti_tf8_plain(e, node->in[0]), ti_tf8_plain(e, node->in[1])};
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_GATHER, 2, in, 2, ti_tfw_tensor(&e->w, node->out[0]));
    ti_tf8_set(op, 0, 'i', node->op == TC_OP_embedding ? 0 : (double)((const tc_attr_axis *)node->attr)->axis);
    return NULL;
}

/* Floats to codes, codes to floats, codes to others. */
static const char *put_rescale(tc_tf8 *e, const tc_node *node)
{
    const tc_type *x = type_of(e, node->in[0]), *y = type_of(e, node->out[0]);
    int64_t from, to;
    if (!(x->quant ? ti_tf8_is_code(x) : x->dtype == TC_f32) || !(y->quant ? ti_tf8_is_code(y) : y->dtype == TC_f32))
        return "it converts other types than f32 and int8";
    ti_tf8_like_operand(e, node, 0, &from, &to);
    ti_tf8_op(e, y->quant ? TC_TFLM_QUANTIZE : TC_TFLM_DEQUANTIZE, 2, &from, 1, to);
    return NULL;
}

/* ---- the program ---- */

typedef const char *putter(tc_tf8 *e, const tc_node *node);

static const char *put_unfused(tc_tf8 *e, const tc_node *node)
{
    const tc_type *y = type_of(e, node->out[0]);
    return is_fused(e, node) ? NULL
           : ti_tf8_is_code(y)      ? put_product(e, node, node->out[0], NO_ACTIVATION)
                             : "its result is no int8";
}

/* Sums are moved with their product. */
static const char *put_moved(tc_tf8 *e, const tc_node *node)
{
    return summed(e, node->in[0])      ? NULL
           : node->op == TC_OP_permute ? put_permute(e, node)
                                       : put_reshape(e, node);
}

/* On codes.  Movement that is not here, and what has no codes, goes by its row; functions of one value
 * that are not, by a table. */
static putter *const put[TC_OP_COUNT] = {
    [TC_OP_conv] = put_unfused,         [TC_OP_linear] = put_unfused,
    [TC_OP_add] = put_unfused,          [TC_OP_sub] = put_unfused,
    [TC_OP_mul] = put_unfused,          [TC_OP_relu] = put_activation,
    [TC_OP_clamp] = put_activation,     [TC_OP_softmax] = put_softmax,
    [TC_OP_sigmoid] = ti_tf8_function,  [TC_OP_tanh] = ti_tf8_function,
    [TC_OP_silu] = ti_tf8_function,     [TC_OP_hardsigmoid] = ti_tf8_function,
    [TC_OP_hardswish] = ti_tf8_function, [TC_OP_leaky_relu] = ti_tf8_function,
    [TC_OP_matmul] = ti_tf8_matmul,     [TC_OP_where] = ti_tf8_either,
    [TC_OP_maximum] = ti_tf8_larger,    [TC_OP_minimum] = ti_tf8_larger,
    [TC_OP_amax] = ti_tf8_largest,      [TC_OP_amin] = ti_tf8_largest,
    [TC_OP_argmax] = ti_tf8_place,      [TC_OP_argmin] = ti_tf8_place,
    [TC_OP_pad] = ti_tf8_pad,
    [TC_OP_slice] = ti_tf8_parts,       [TC_OP_select] = ti_tf8_parts,
    [TC_OP_split] = ti_tf8_parts,       [TC_OP_unbind] = ti_tf8_parts,
    [TC_OP_max_pool] = put_pool,        [TC_OP_avg_pool] = put_pool,
    [TC_OP_adaptive_avg_pool] = put_global, [TC_OP_mean] = put_mean_of,
    [TC_OP_reshape] = put_moved,        [TC_OP_permute] = put_moved,
    [TC_OP_cat] = put_cat,              [TC_OP_rescale] = put_rescale,
    [TC_OP_embedding] = put_rows,       [TC_OP_index_select] = put_rows,
};

/* Whether the operator computes on codes alone, as most do, or only moves what it is given. */
static bool on_codes(const tc_tf8 *e, const tc_node *node)
{
    bool ends = node->op == TC_OP_rescale || is_move(node) || put[node->op] == put_unfused ||
                put[node->op] == put_activation || put[node->op] == ti_tf8_place ||
                put[node->op] == put_rows || put[node->op] == ti_tf8_either;
    return ends || (node->n_in && ti_tf8_is_code(type_of(e, node->in[0])) &&
                    ti_tf8_is_code(type_of(e, node->out[0])));
}

/* NULL, or why the node has no operator. */
static const char *put_operator(tc_tf8 *e, const tc_node *node)
{
    bool sees_codes = node->op == TC_OP_quantize || node->op == TC_OP_dequantize;
    bool codes = ti_node_quantized(e->w.g, node) && !sees_codes;
    if (put[node->op] && (codes || is_move(node)))
        return on_codes(e, node) ? put[node->op](e, node) : "it computes on other types than int8";
    if (codes && !(tc_ops[node->op].traits & T_MOVES))
        return "TensorFlow Lite Micro has no int8 operator for it";
    return ti_tf8_row(e, node);
}

static bool is_read(const tc_tf8 *e, const tc_node *node)
{
    bool read = false;
    for (int i = 0; i < node->n_out; i++)
        read = read || e->readers[node->out[i]];
    return read;
}

static tc_status put_node(tc_tf8 *e, size_t k)
{
    const tc_node *node = e->w.g->node[k];
    if (node->op == TC_OP_const || !is_read(e, node))
        return TC_OK;
    size_t n_op = e->w.model.n_op;
    const char *why = put_operator(e, node);
    if (why && ti_tf8_is_table(e, node)) {
        e->w.model.n_op = n_op;
        return ti_tf8_table(e, node);
    }
    if (!why)
        return TC_OK;
    if (e->lack) {
        tc_grow(&e->w.ctx->arena, e->lack->node, e->lack->n, e->lack->cap);
        e->lack->node[e->lack->n++] = k;
        return TC_OK;
    }
    tc_status status = ti_unsupported(e->w.ctx, node->loc, TC_E_UNSUPPORTED,
                                      "'%s' has no form in an int8 .tflite: %s",
                                      tc_ops[node->op].name, why);
    ti_note(e->w.ctx, NULL, "--emit c has integers for it; -t cpu writes a .tflite that computes it in float");
    return status;
}

static int64_t *ports(tc_tf8 *e, const tc_val *v, size_t n, bool made)
{
    int64_t *at = tc_new_n(&e->w.ctx->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        at[i] = made ? ti_tf8_plain(e, v[i]) : ti_tfw_tensor(&e->w, v[i]);
    return at;
}

/* Variables are read once, before anything is computed: whatever reads the copies reads what they
 * held. */
static const int64_t *put_reads(tc_tf8 *e)
{
    const tc_graph *g = e->w.g;
    int64_t *variable = tc_new_n(&e->w.ctx->arena, int64_t, g->n_mutation + 1);
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_val v = g->mutation[i].before;
        const tc_type *t = type_of(e, v);
        variable[i] = ti_tfw_tensor(&e->w, v);
        int64_t copy = ti_tf8_like(e, variable[i], t->rank, t->dim);
        ti_tfw_copy(&e->w, variable[i], copy);
        e->w.of[v] = copy + 1;
    }
    return variable;
}

static tc_status put_writes(tc_tf8 *e, const int64_t *variable)
{
    const tc_graph *g = e->w.g;
    int64_t *after = tc_new_n(&e->w.ctx->arena, int64_t, g->n_mutation + 1);
    for (size_t i = 0; i < g->n_mutation; i++)
        after[i] = ti_tf8_plain(e, g->mutation[i].after);
    return ti_tfw_writes(&e->w, variable, after);
}

tc_status ti_write_tflite_int8(tc_ctx *ctx, tc_module *typed, const char *by, tc_tf8_lack *lack,
                               tc_bytes *out)
{
    const tc_graph *g = ti_main(typed);
    tc_tflm_plan plan = {.offset = tc_new_n(&ctx->arena, int64_t, g->n_val)};
    const tc_tflite_request request = {typed, &plan, NULL, 0, by};
    tc_tf8 e = {.w = {.ctx = ctx, .request = &request, .module = typed, .g = g,
                      .of = tc_new_n(&ctx->arena, int64_t, g->n_val)},
                .last = tc_new_n(&ctx->arena, int64_t, g->n_val),
                .readers = ti_graph_readers(ctx, g),
                .lack = lack};
    ti_map_init(&e.w.numbers, &ctx->arena);
    e.w.model.description = by;
    e.w.model.graph = "main";
    e.w.model.in = ports(&e, g->in, g->n_in, false);
    e.w.model.n_in = g->n_in;
    const int64_t *variable = put_reads(&e);
    for (size_t k = 0; k < g->n_node; k++)
        TC_TRY(put_node(&e, k));
    if (lack && lack->n)
        return TC_OK;
    TC_TRY(put_writes(&e, variable));
    e.w.model.out = ports(&e, g->out, g->n_out, true);
    e.w.model.n_out = g->n_out;
    for (size_t i = 0; i < e.w.model.n_tensor; i++)
        ti_tf8_narrow(&e, (int64_t)i);
    return ti_emit_tflite(ctx, &e.w.model, out);
}
