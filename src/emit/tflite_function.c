/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_function.c -- functions of one value in int8 programs: an operator of TensorFlow Lite Micro
 * where it has one; two or three where these are exact but for a rounding; else, for what 8 bits between
 * them would spoil, its operators on real numbers, between DEQUANTIZE and QUANTIZE. */
#include "tflite_int8.h"

enum { RELU_6 = 3 };

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

/* ---- tensors ---- */

static void set_codes(tc_tf8 *e, int64_t at, double scale, int64_t zero)
{
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    t->type = TFL_INT8;
    t->n_scale = 1;
    t->scale = ti_arena_copy(&e->w.ctx->arena, &scale, sizeof scale);
    t->zero = ti_arena_copy(&e->w.ctx->arena, &zero, sizeof zero);
}

/* Of a tensor's shape, with other codes. */
static int64_t codes_like(tc_tf8 *e, int64_t at, double scale, int64_t zero)
{
    const tc_tfw_tensor t = e->w.model.tensor[at];
    int64_t new = ti_tf8_like(e, at, t.rank, t.dim);
    set_codes(e, new, scale, zero);
    return new;
}

static void make_real(tc_tf8 *e, int64_t at)
{
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    t->type = TFL_FLOAT32;
    t->n_scale = 0;
    t->scale = NULL;
    t->zero = NULL;
}

/* Of a tensor's shape but for `ones` last axes, which are 1. */
static int64_t real_like(tc_tf8 *e, int64_t at, int64_t ones)
{
    const tc_tfw_tensor t = e->w.model.tensor[at];
    int64_t *dim = tc_new_n(&e->w.ctx->arena, int64_t, (size_t)t.rank + 1);
    for (int64_t i = 0; i < t.rank; i++)
        dim[i] = i < t.rank - ones ? t.dim[i] : 1;
    int64_t new = ti_tf8_like(e, at, t.rank, dim);
    make_real(e, new);
    return new;
}

static int64_t constant(tc_tf8 *e, int type, const void *data, size_t bytes)
{
    static const int64_t one = 1;
    tc_tfw_tensor t = {.name = "number", .type = type, .rank = 1, .dim = &one, .constant = true, .offset = -1};
    t.data = (tc_bytes){ti_arena_copy(&e->w.ctx->arena, data, bytes), bytes};
    return ti_tfw_add_tensor(&e->w, t);
}

static int64_t real_number(tc_tf8 *e, double v)
{
    float f = (float)v;
    return constant(e, TFL_FLOAT32, &f, sizeof f);
}

/* Code 127 of a scale that makes it the number. */
static int64_t code_number(tc_tf8 *e, double v)
{
    int8_t code = INT8_MAX;
    int64_t at = constant(e, TFL_INT8, &code, sizeof code);
    set_codes(e, at, (double)(float)(v / INT8_MAX), 0);
    return at;
}

/* ---- operators ---- */

/* The result in the layout of the operand. */
static void like_operand(tc_tf8 *e, const tc_node *node, int64_t *from, int64_t *to)
{
    bool last = e->last[node->in[0]] && type_of(e, node->out[0])->rank == type_of(e, node->in[0])->rank;
    *from = last ? ti_tf8_last(e, node->in[0]) : ti_tf8_plain(e, node->in[0]);
    *to = last ? ti_tf8_new_last(e, node->out[0]) : ti_tfw_tensor(&e->w, node->out[0]);
}

static void one(tc_tf8 *e, tc_tflm_name name, int version, int64_t from, int64_t to)
{
    ti_tf8_op(e, name, version, &from, 1, to);
}

static tc_tfw_op *two(tc_tf8 *e, tc_tflm_name name, int version, int64_t a, int64_t b, int64_t to)
{
    int64_t in[2] = {a, b};
    tc_tfw_op *op = ti_tf8_op(e, name, version, in, 2, to);
    ti_tf8_set(op, 0, 'b', 0);
    return op;
}

void ti_tf8_fixed(tc_tf8 *e, int64_t to, tc_tfw_op *op, double scale, int64_t zero)
{
    tc_tfw_tensor t = e->w.model.tensor[to];
    if (t.scale[0] == scale && t.zero[0] == zero)
        return;
    int64_t at = codes_like(e, to, scale, zero);
    op->out[0] = at;
    one(e, TC_TFLM_QUANTIZE, 2, at, to);
}

/* x sigmoid(x) */
static void put_silu(tc_tf8 *e, int64_t from, int64_t to)
{
    int64_t s = codes_like(e, to, 1.0 / 256, INT8_MIN);
    one(e, TC_TFLM_LOGISTIC, 2, from, s);
    two(e, TC_TFLM_MUL, 2, from, s, to);
}

/* min(max(x + 3, 0), 6) / 6 */
static void put_hardsigmoid(tc_tf8 *e, int64_t from, int64_t to)
{
    int64_t sum = codes_like(e, to, (double)(float)(6.0 / 255), INT8_MIN);
    ti_tf8_set(two(e, TC_TFLM_ADD, 2, from, code_number(e, 3), sum), 0, 'b', RELU_6);
    two(e, TC_TFLM_MUL, 2, sum, code_number(e, 1.0 / 6), to);
}

/* ---- on real numbers ---- */

static int64_t real_one(tc_tf8 *e, tc_tflm_name name, int64_t from)
{
    int64_t to = real_like(e, from, 0);
    one(e, name, 1, from, to);
    return to;
}

/* Of the shape of a. */
static int64_t real_two(tc_tf8 *e, tc_tflm_name name, int64_t a, int64_t b)
{
    int64_t to = real_like(e, a, 0);
    two(e, name, 1, a, b, to);
    return to;
}

static int64_t real_mean(tc_tf8 *e, int64_t from, int64_t n)
{
    int64_t axis[8], rank = e->w.model.tensor[from].rank, to = real_like(e, from, n);
    for (int64_t i = 0; i < n && i < 8; i++)
        axis[i] = rank - n + i;
    two(e, TC_TFLM_MEAN, 1, from, ti_tf8_list(e, axis, n), to);
    ti_tf8_set(&e->w.model.op[e->w.model.n_op - 1], 0, 'b', 1);
    return to;
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): within 0.0005 of the form by erf. */
static int64_t real_gelu(tc_tf8 *e, int64_t x)
{
    const double sqrt_2_pi = 0.79788456080286536;
    int64_t cube = real_two(e, TC_TFLM_MUL, real_two(e, TC_TFLM_MUL, x, x), x);
    int64_t sum = real_two(e, TC_TFLM_ADD, x, real_two(e, TC_TFLM_MUL, cube, real_number(e, 0.044715)));
    int64_t t = real_one(e, TC_TFLM_TANH, real_two(e, TC_TFLM_MUL, sum, real_number(e, sqrt_2_pi)));
    int64_t half = real_two(e, TC_TFLM_MUL, x, real_number(e, 0.5));
    return real_two(e, TC_TFLM_ADD, half, real_two(e, TC_TFLM_MUL, half, t));
}

/* The operand as real numbers: a weight. */
static int64_t real_operand(tc_tf8 *e, tc_val v)
{
    int64_t at = ti_tf8_plain(e, v);
    if (!type_of(e, v)->quant)
        return at;
    int64_t to = real_like(e, at, 0);
    one(e, TC_TFLM_DEQUANTIZE, 2, at, to);
    return to;
}

static int64_t real_norm(tc_tf8 *e, const tc_node *node, int64_t x)
{
    const tc_attr_layer_norm *a = node->attr;
    bool layer = node->op == TC_OP_layer_norm;
    int64_t d = layer ? real_two(e, TC_TFLM_SUB, x, real_mean(e, x, a->n_axes)) : x;
    int64_t var = real_mean(e, real_two(e, TC_TFLM_MUL, d, d), a->n_axes);
    int64_t r = real_one(e, TC_TFLM_RSQRT, real_two(e, TC_TFLM_ADD, var, real_number(e, a->eps)));
    int64_t y = real_two(e, TC_TFLM_MUL, d, r);
    if (node->n_in > 1 && node->in[1])
        y = real_two(e, TC_TFLM_MUL, y, real_operand(e, node->in[1]));
    if (node->n_in > 2 && node->in[2])
        y = real_two(e, TC_TFLM_ADD, y, real_operand(e, node->in[2]));
    return y;
}

/* a b, or with the last two axes of b turned; its last axis has `last` elements. */
static int64_t real_product(tc_tf8 *e, int64_t a, int64_t b, bool turned, int64_t last)
{
    int64_t to = real_like(e, a, 0), in[2] = {a, b};
    int64_t *dim = (int64_t *)(uintptr_t)e->w.model.tensor[to].dim;
    dim[e->w.model.tensor[to].rank - 1] = last;
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_BATCH_MATMUL, 1, in, 2, to);
    ti_tf8_set(op, 0, 'b', 0);
    ti_tf8_set(op, 1, 'b', turned);
    return to;
}

/* softmax(q k^T scale + mask) v */
static int64_t real_attention(tc_tf8 *e, const tc_node *node, int64_t q)
{
    const tc_attr_sdpa *a = node->attr;
    const tc_type *k = type_of(e, node->in[1]), *v = type_of(e, node->in[2]);
    int64_t scores = real_product(e, q, real_operand(e, node->in[1]), true, k->dim[k->rank - 2]);
    scores = real_two(e, TC_TFLM_MUL, scores, real_number(e, a->scale));
    if (node->n_in > 3 && node->in[3])
        scores = real_two(e, TC_TFLM_ADD, scores, real_operand(e, node->in[3]));
    int64_t p = real_like(e, scores, 0);
    ti_tf8_set(ti_tf8_op(e, TC_TFLM_SOFTMAX, 1, &scores, 1, p), 0, 'f', 1);
    return real_product(e, p, real_operand(e, node->in[2]), false, v->dim[v->rank - 1]);
}

static bool has_attention(const tc_tf8 *e, const tc_node *node)
{
    const tc_attr_sdpa *a = node->attr;
    const tc_type *mask = node->n_in > 3 && node->in[3] ? type_of(e, node->in[3]) : NULL;
    return !a->causal && !a->gqa && (!mask || mask->dtype == TC_f32 || mask->quant);
}

static void between_reals(tc_tf8 *e, const tc_node *node, int64_t from, int64_t to)
{
    int64_t x = real_like(e, from, 0);
    one(e, TC_TFLM_DEQUANTIZE, 2, from, x);
    int64_t y = node->op == TC_OP_gelu   ? real_gelu(e, x)
                : node->op == TC_OP_sdpa ? real_attention(e, node, x)
                                         : real_norm(e, node, x);
    one(e, TC_TFLM_QUANTIZE, 1, y, to);
    e->real++;
}

/* ---- by operator ---- */

const char *ti_tf8_function(tc_tf8 *e, const tc_node *node)
{
    int64_t from, to;
    if (type_of(e, node->out[0])->rank > 4)
        return "it has more than four axes";
    if (node->op == TC_OP_sdpa && !has_attention(e, node))
        return "it is causal, or grouped, or its mask is none of numbers";
    if (node->op == TC_OP_layer_norm || node->op == TC_OP_rms_norm || node->op == TC_OP_sdpa) {
        from = ti_tf8_plain(e, node->in[0]);
        to = ti_tfw_tensor(&e->w, node->out[0]);
        between_reals(e, node, from, to);
        return NULL;
    }
    like_operand(e, node, &from, &to);
    switch (node->op) {
    case TC_OP_sigmoid:
        ti_tf8_fixed(e, to, ti_tf8_op(e, TC_TFLM_LOGISTIC, 2, &from, 1, to), 1.0 / 256, INT8_MIN);
        break;
    case TC_OP_tanh:
        ti_tf8_fixed(e, to, ti_tf8_op(e, TC_TFLM_TANH, 2, &from, 1, to), 1.0 / 128, 0);
        break;
    case TC_OP_silu: put_silu(e, from, to); break;
    case TC_OP_hardsigmoid: put_hardsigmoid(e, from, to); break;
    case TC_OP_gelu: between_reals(e, node, from, to); break;
    case TC_OP_hardswish: one(e, TC_TFLM_HARD_SWISH, 1, from, to); break;
    default:
        ti_tf8_set(ti_tf8_op(e, TC_TFLM_LEAKY_RELU, 2, &from, 1, to), 0, 'f',
                   ((const tc_attr_slope *)node->attr)->slope);
    }
    return NULL;
}
