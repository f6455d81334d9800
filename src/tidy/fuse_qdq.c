/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_qdq.c -- an operator between dequantize and quantize is computed on integers.
 *
 * ONNX defines such a model as float arithmetic; runtimes fuse dequantize, operator and quantize
 * into one integer kernel, and that is what models are measured by.  With codes a, b, y, zero
 * points za, zb, zy and scales sa, sb, sy, all in f32 and halves to even:
 *
 *   product   y = round(sum (a - za)(b - zb) * (sa sb / sy)) + zy
 *   mean      y = round(sum (a - za) * (sa / (sy n))) + zy
 *   add       y = round(fma(a, sa / sy, fma(b, sb / sy, zy - (sa / sy za + sb / sy zb))))
 *   mul       y = round((a - za)(b - zb) * (sa sb / sy) + zy)
 *   window    y = round(mean (a - za) sa / sy + zy)
 *   resize    y = round(sum of four (a - za) sa times their weights / sy) + zy
 *   softmax   y = round(t[a] * floor(1 / sy) / sum t[a]) + zy, t a table of e^(sa a)
 *
 * Only where the file divides by its scales, as ONNX does.  ADD and MUL of two tensors are fused
 * where all three are of one kind: unsigned in the file, or signed and read by one operator alone,
 * which runtimes make unsigned. */
#include <float.h>
#include <math.h>

#include "tidy.h"

#include "../base/real.h"
#include "../num/load.h"

/* An operand: its codes, and what they mean. */
typedef struct side {
    const tc_node *def;  /* its dequantize, in `from` */
    tc_val codes;        /* in `to` */
    const float *scale;  /* n of them */
    int64_t n, zero;
    bool is_unsigned;
} side;

typedef struct unit {
    tc_build b;
    tc_rewrite *rw;
    const tc_node *op, *end; /* the operator, its quantize */
} unit;

/* ---- small steps ---- */

/* x / by in f32, over f64, where no pass makes it a product that is rounded otherwise. */
static tc_val quotient(unit *u, tc_val x, double by)
{
    tc_val wide = ti_b_cast(&u->b, x, TC_f64), divisor = ti_b_scalar(&u->b, TC_f64, by);
    wide = ti_b_div(&u->b, wide, divisor);
    return ti_b_cast(&u->b, wide, TC_f32);
}

/* codes - zero, as f32. */
static tc_val integers(unit *u, tc_val codes, int64_t zero)
{
    tc_dtype dtype = ti_type_of(u->rw->to, codes)->dtype;
    tc_attr_quantize a = {.scale = 1, .zero = zero, .axis = -1, .qmin = ti_dtype_min(dtype),
                          .qmax = ti_dtype_max(dtype), .dtype = TC_f32};
    return ti_b_1(&u->b, dequantize, ti_b_keep(&u->b, &a), codes);
}

/* round(x * factor) + zero; factors per channel of an axis, or one. */
static tc_val requantize(unit *u, tc_val x, const float *factor, int64_t n, int64_t axis,
                         int64_t zero)
{
    tc_attr_quantize a = *(const tc_attr_quantize *)u->end->attr;
    a.divides = false; /* by the f32 nearest to 1 / (1 / factor), which is the factor */
    a.zero = zero;
    a.axis = n == 1 ? -1 : axis;
    a.scale = n == 1 ? 1 / (double)factor[0] : 0;
    if (n == 1)
        return ti_b_1(&u->b, quantize, ti_b_keep(&u->b, &a), x);
    tc_tensor s = ti_b_tensor(&u->b, TC_f64, 1, &n), z = ti_b_tensor(&u->b, TC_i32, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        ((double *)s.data)[i] = 1 / (double)factor[i];
        ((int32_t *)z.data)[i] = (int32_t)zero;
    }
    tc_val scales = ti_b_data(&u->b, s.type, s.data);
    tc_val zeros = ti_b_data(&u->b, z.type, z.data);
    return ti_b_3(&u->b, quantize, ti_b_keep(&u->b, &a), x, scales, zeros);
}

/* Codes that x already is, but for rounding and clamping. */
static tc_val round_codes(unit *u, tc_val x, bool is_unsigned)
{
    static const float one = 1;
    return requantize(u, x, &one, 1, -1, is_unsigned ? -128 : 0);
}

/* ---- operands ---- */

/* How many operators read the codes of v, all of them through dequantize; -1: not only so. */
static int readers_of(const tc_rewrite *rw, tc_val v)
{
    const int64_t *count = rw->user;
    return count[v] > INT32_MAX ? -1 : (int)count[v];
}

static bool is_unsigned(const tc_rewrite *rw, tc_val codes, const tc_attr_quantize *a)
{
    const tc_node *def = ti_def(rw->from, codes);
    return a->biased || (def && def->op == TC_OP_quantize && readers_of(rw, codes) == 1);
}

/* The dequantize of operand i, with one scale, or one per channel of a constant operand. */
static bool take_side(const tc_rewrite *rw, const tc_node *node, int i, side *s)
{
    const tc_node *def = i < node->n_in ? ti_def(rw->from, node->in[i]) : NULL;
    if (!def || def->op != TC_OP_dequantize)
        return false;
    const tc_attr_quantize *a = def->attr;
    const tc_type *t = ti_type_of(rw->from, def->in[0]);
    if (a->dtype != TC_f32 || (t->dtype != TC_i8 && t->dtype != TC_i32))
        return false;
    *s = (side){.def = def, .codes = rw->now[def->in[0]], .n = 1, .zero = a->zero,
                .is_unsigned = is_unsigned(rw, def->in[0], a)};
    float *scale = tc_new_n(&rw->ctx->arena, float, 1);
    s->scale = scale;
    if (a->scale != 0) {
        scale[0] = (float)a->scale;
        return true;
    }
    if (def->n_in != 3 || !ti_rewrite_is_fixed(rw, rw->now[def->in[1]]) ||
        !ti_rewrite_is_fixed(rw, rw->now[def->in[2]]))
        return false;
    tc_tensor scales = ti_tensor_of(rw->to, rw->now[def->in[1]]),
              zeros = ti_tensor_of(rw->to, rw->now[def->in[2]]);
    s->n = tc_type_count(scales.type);
    s->scale = scale = tc_new_n(&rw->ctx->arena, float, (size_t)s->n);
    for (int64_t k = 0; k < s->n; k++) {
        scale[k] = (float)ti_load_f64(scales, k);
        if (ti_load_i64(zeros, k) != ti_load_i64(zeros, 0) || !(scale[k] > 0))
            return false;
    }
    s->zero = ti_load_i64(zeros, 0);
    return s->n > 0;
}

static const tc_attr_quantize *end_of(const unit *u)
{
    return u->end->attr;
}

/* ---- products ---- */

/* Weights, perhaps moved: permuted, reshaped. */
static tc_val moved_integers(unit *u, const tc_node *node, int i, side *s, int depth)
{
    enum { DEEPEST = 4 };
    if (take_side(u->rw, node, i, s))
        return integers(u, s->codes, s->zero);
    const tc_node *def = ti_def(u->rw->from, node->in[i]);
    if (!def || depth == DEEPEST || def->n_in != 1 ||
        (def->op != TC_OP_permute && def->op != TC_OP_reshape))
        return TC_NONE;
    tc_val x = moved_integers(u, def, 0, s, depth + 1);
    return x ? ti_b_op(&u->b, def->op, def->attr, &x, 1) : TC_NONE;
}

/* Whether the bias counts in steps of sa sb, as integers do that are added to the sum. */
static bool bias_fits(const side *bias, const side *a, const side *b, int64_t channels)
{
    if (bias->zero != 0 || (bias->n != 1 && bias->n != channels))
        return false;
    for (int64_t k = 0; k < channels; k++) {
        float step = a->scale[0] * b->scale[b->n == 1 ? 0 : k],
              own = bias->scale[bias->n == 1 ? 0 : k];
        if (!(fabsf(own - step) <= 1e-5f * step))
            return false;
    }
    return true;
}

static tc_val product(unit *u)
{
    const tc_node *op = u->op;
    side a, b, bias;
    bool matmul = op->op == TC_OP_matmul;
    const tc_type *y = ti_type_of(u->rw->from, op->out[0]);
    int64_t axis = op->op == TC_OP_conv ? 1 : y->rank - 1, channels = y->dim[axis];
    bool biased = op->n_in > 2 && op->in[2];
    if (!take_side(u->rw, op, 0, &a) || a.n != 1 || (biased && matmul))
        return TC_NONE;
    tc_val w = moved_integers(u, op, 1, &b, 0);
    if (!w || (b.n != 1 && b.n != channels) ||
        (biased && (!take_side(u->rw, op, 2, &bias) || !bias_fits(&bias, &a, &b, channels))))
        return TC_NONE;
    float *factor = tc_new_n(&u->rw->ctx->arena, float, (size_t)b.n);
    for (int64_t k = 0; k < b.n; k++)
        factor[k] = a.scale[0] * b.scale[k] / (float)end_of(u)->scale;
    tc_val x = integers(u, a.codes, a.zero), c = biased ? integers(u, bias.codes, 0) : TC_NONE;
    x = ti_b_op(&u->b, op->op, op->attr, (tc_val[]){x, w, c}, biased ? 3 : 2);
    return requantize(u, x, factor, b.n, axis, end_of(u)->zero);
}

static tc_val mean(unit *u)
{
    side a;
    const tc_attr_axes *axes = u->op->attr;
    const tc_type *t = ti_type_of(u->rw->from, u->op->in[0]);
    bool whole = t->rank > 2 && axes->axes.n == t->rank - 2; /* a plane, not a row */
    int64_t n = 1;
    for (int i = 0; i < axes->axes.n; i++) {
        whole = whole && axes->axes.v[i] >= 2;
        n *= t->dim[axes->axes.v[i]];
    }
    if (!whole || !take_side(u->rw, u->op, 0, &a) || a.n != 1 ||
        a.is_unsigned != is_unsigned(u->rw, u->end->out[0], end_of(u)))
        return TC_NONE;
    float factor = a.scale[0] / ((float)end_of(u)->scale * (float)n);
    tc_val x = integers(u, a.codes, a.zero);
    x = ti_b_1(&u->b, sum, axes, x);
    return requantize(u, x, &factor, 1, -1, end_of(u)->zero);
}

/* ---- two tensors ---- */

/* Along the last axis that the result has, this operand is one number. */
static bool is_spread(const tc_type *x, const tc_type *y)
{
    int i = y->rank - 1;
    while (i > 0 && y->dim[i] == 1)
        i--;
    int own = i - (y->rank - x->rank);
    return y->rank && y->dim[i] != 1 && (own < 0 || x->dim[own] == 1);
}

/* Both sides as the kernels take them: the operand that is spread comes second. */
static bool take_two(unit *u, side s[2])
{
    const tc_type *y = ti_type_of(u->rw->from, u->op->out[0]);
    bool kind = is_unsigned(u->rw, u->end->out[0], end_of(u));
    for (int i = 0; i < 2; i++)
        if (!take_side(u->rw, u->op, i, &s[i]) || s[i].n != 1 || s[i].is_unsigned != kind ||
            ti_type_of(u->rw->from, s[i].def->in[0])->dtype != TC_i8)
            return false;
    if (is_spread(ti_type_of(u->rw->from, u->op->in[0]), y) &&
        !is_spread(ti_type_of(u->rw->from, u->op->in[1]), y)) {
        side first = s[0];
        s[0] = s[1];
        s[1] = first;
    }
    return true;
}

/* f32(f64(x) * factor + c): a product of eight by 24 bits and a sum, rounded once. */
static tc_val fused(unit *u, tc_val x, float factor, tc_val c)
{
    tc_val wide = ti_b_cast(&u->b, x, TC_f64), by = ti_b_scalar(&u->b, TC_f64, (double)factor),
           more = ti_b_cast(&u->b, c, TC_f64);
    wide = ti_b_mul(&u->b, wide, by);
    wide = ti_b_add(&u->b, wide, more);
    return ti_b_cast(&u->b, wide, TC_f32);
}

static tc_val add(unit *u)
{
    side s[2];
    if (((const tc_attr_alpha *)u->op->attr)->alpha != 1 || !take_two(u, s))
        return TC_NONE;
    int64_t down = s[0].is_unsigned ? 128 : 0;
    float sy = (float)end_of(u)->scale, ra = s[0].scale[0] / sy, rb = s[1].scale[0] / sy;
    float za = (float)(s[0].zero + down), zb = (float)(s[1].zero + down);
    float rest = rb * zb;
    float fixed = (float)(end_of(u)->zero + down) - ti_fmaf(ra, za, rest);
    tc_val a = integers(u, s[0].codes, -down), b = integers(u, s[1].codes, -down);
    tc_val y = ti_b_scalar(&u->b, TC_f32, (double)fixed);
    y = fused(u, b, rb, y);
    y = fused(u, a, ra, y);
    return round_codes(u, y, down);
}

static tc_val mul(unit *u)
{
    side s[2];
    if (!take_two(u, s))
        return TC_NONE;
    int64_t down = s[0].is_unsigned ? 128 : 0;
    float ratio = s[0].scale[0] * s[1].scale[0];
    ratio /= (float)end_of(u)->scale;
    tc_val a = integers(u, s[0].codes, s[0].zero), b = integers(u, s[1].codes, s[1].zero);
    tc_val y = ti_b_mul(&u->b, a, b), by = ti_b_scalar(&u->b, TC_f32, (double)ratio),
           zero = ti_b_scalar(&u->b, TC_f32, (double)(end_of(u)->zero + down));
    y = ti_b_mul(&u->b, y, by);
    y = ti_b_add(&u->b, y, zero);
    return round_codes(u, y, down);
}

/* ---- windows ---- */

/* Every stride-th number along an axis, from `start` on. */
static tc_val every(unit *u, tc_val x, int axis, int64_t start, int64_t stride, int64_t count)
{
    tc_attr_slice a = {axis, start, start + (count - 1) * stride + 1, stride};
    return ti_b_slice(&u->b, x, a.axis, a.start, a.end, a.step);
}

/* Number k of each window, counted from its front; windows do not leave the plane. */
static tc_val window_number(unit *u, tc_val x, const tc_attr_avg_pool *a, const tc_type *y,
                            int64_t k)
{
    for (int i = a->kernel.n - 1; i >= 0; k /= a->kernel.v[i--]) {
        int axis = y->rank - a->kernel.n + i;
        x = every(u, x, axis, k % a->kernel.v[i], a->stride.v[i], y->dim[axis]);
    }
    return x;
}

/* Means of few elements, added in f32 in sequence; else by the operator itself. */
static tc_val window_means(unit *u)
{
    enum { MOST = 64 };
    const tc_attr_avg_pool *a = u->op->attr;
    const tc_type *y = ti_type_of(u->rw->from, u->op->out[0]);
    tc_val x = u->rw->now[u->op->in[0]], sum = TC_NONE;
    int64_t count = 1;
    bool inside = !a->divisor && !a->ceil;
    for (int i = 0; i < a->kernel.n; i++) {
        count = count > MOST ? count : count * a->kernel.v[i];
        inside = inside && !a->pad.v[i];
    }
    if (!inside || count > MOST)
        return u->rw->now[u->op->out[0]];
    for (int64_t k = 0; k < count; k++) {
        tc_val next = window_number(u, x, a, y, k);
        sum = sum ? ti_b_add(&u->b, sum, next) : next;
    }
    return quotient(u, sum, (double)count);
}

/* The mean of each window of reals, then explicit steps. */
static tc_val window(unit *u)
{
    side a;
    if (!take_side(u->rw, u->op, 0, &a) || a.n != 1)
        return TC_NONE;
    tc_attr_quantize end = *end_of(u);
    int64_t down = a.is_unsigned ? 128 : 0;
    tc_val y = window_means(u);
    if (a.is_unsigned != is_unsigned(u->rw, u->end->out[0], &end)) /* not fused, but in f32 */
        return ti_b_1(&u->b, quantize, ti_b_keep(&u->b, &end), y);
    tc_val zero = ti_b_scalar(&u->b, TC_f32, (double)(end_of(u)->zero + down));
    y = quotient(u, y, (double)(float)end_of(u)->scale);
    y = ti_b_add(&u->b, y, zero);
    return round_codes(u, y, down);
}

/* ---- resampling ---- */

/* Of each result the number to one side of it along an axis. */
static tc_val beside(unit *u, tc_val x, int64_t axis, const tc_resize_axis *a, int which)
{
    int64_t *place = tc_new_n(&u->rw->ctx->arena, int64_t, (size_t)a->out);
    for (int64_t o = 0; o < a->out; o++)
        place[o] = a->place[2 * o + which];
    tc_val at = ti_b_list(&u->b, place, a->out);
    return ti_b_index_select(&u->b, x, at, axis);
}

/* Its share; at the border both are the same number, and half of it each. */
static float share(const tc_resize_axis *a, int64_t o, int which)
{
    return a->place[2 * o] == a->place[2 * o + 1] ? 0.5f : (float)a->weight[2 * o + which];
}

/* Four neighbours, each times its weight of both axes, in sequence; then quantize. */
static tc_val resample(unit *u)
{
    side s;
    tc_rewrite *rw = u->rw;
    const tc_attr_upsample *a = u->op->attr;
    const tc_type *t = ti_type_of(rw->from, u->op->in[0]);
    if (!take_side(rw, u->op, 0, &s) || a->size.n != 2 || t->rank != 4)
        return TC_NONE;
    tc_resize_axis h = ti_resize_axis_of(&rw->ctx->arena, TC_RESIZE_LINEAR, a, 0, t->dim[2], false),
                   w = ti_resize_axis_of(&rw->ctx->arena, TC_RESIZE_LINEAR, a, 1, t->dim[3], false);
    const tc_type *plane = ti_type_make(rw->ctx, TC_f32, 2, (int64_t[]){h.out, w.out});
    tc_val x = rw->now[u->op->in[0]], sum = TC_NONE;
    for (int k = 0; k < 4; k++) {
        tc_tensor by = ti_tensor_new(&rw->ctx->arena, plane);
        for (int64_t i = 0; i < h.out * w.out; i++)
            ((float *)by.data)[i] = share(&w, i % w.out, k % 2) * share(&h, i / w.out, k / 2);
        tc_val shares = ti_b_data(&u->b, plane, by.data);
        tc_val part = beside(u, x, 2, &h, k / 2);
        part = beside(u, part, 3, &w, k % 2);
        part = ti_b_mul(&u->b, part, shares);
        sum = sum ? ti_b_add(&u->b, sum, part) : part;
    }
    tc_attr_quantize end = *end_of(u);
    return ti_b_1(&u->b, quantize, ti_b_keep(&u->b, &end), sum);
}

/* ---- softmax ---- */

/* e^(s (i - 255)) times a number so large that sums of `count` of them just stay finite. */
static tc_val table(unit *u, float scale, int64_t count)
{
    enum { CODES = 256 };
    double up = ti_log((double)(FLT_MAX / (float)count));
    up = fmax(0, up - 5) / (double)scale;
    int64_t dim[2] = {CODES, 1};
    tc_tensor t = ti_b_tensor(&u->b, TC_f32, 2, dim);
    for (int i = 0; i < CODES; i++)
        ((float *)t.data)[i] = (float)ti_exp(((double)i - 255 + up) * (double)scale);
    return ti_b_data(&u->b, t.type, t.data);
}

/* The sum of all rows of an axis in f32, in sequence: rows added to a row of zeros. */
static tc_val sum_in_order(unit *u, tc_val x, const tc_type *t, int64_t axis)
{
    tc_rewrite *rw = u->rw;
    tc_type one = *t;
    one.dim[axis] = 1;
    tc_tensor zeros = ti_b_tensor(&u->b, TC_f32, one.rank, one.dim);
    memset(zeros.data, 0, tc_type_bytes(zeros.type));
    int64_t *first = tc_new_n(&rw->ctx->arena, int64_t, (size_t)t->dim[axis]);
    tc_val into = ti_b_data(&u->b, zeros.type, zeros.data);
    tc_val at = ti_b_list(&u->b, first, t->dim[axis]);
    return ti_b_3(&u->b, index_add, ti_b_attr(&u->b, index_add, axis, 1), into, at, x);
}

static tc_val softmax(unit *u)
{
    side s;
    const tc_attr_axis *a = u->op->attr;
    const tc_type *t = ti_type_of(u->rw->from, u->op->in[0]);
    if (!take_side(u->rw, u->op, 0, &s) || s.n != 1 || t->rank >= TC_MAX_RANK ||
        t->dim[a->axis] < 1 || s.is_unsigned != is_unsigned(u->rw, u->end->out[0], end_of(u)))
        return TC_NONE;
    int64_t axis = a->axis, dim[TC_MAX_RANK];
    tc_attr_axes along = {{1, &axis}, true};
    along.axes = ti_ints_copy(&u->rw->ctx->arena, &axis, 1);
    float steps = floorf(1.0f / (float)end_of(u)->scale);
    tc_val codes = ti_b_cast(&u->b, s.codes, TC_i32);
    tc_val most = ti_b_1(&u->b, amax, ti_b_keep(&u->b, &along), codes);
    tc_val top = ti_b_scalar(&u->b, TC_i32, 255);
    codes = ti_b_sub(&u->b, codes, most);
    codes = ti_b_add(&u->b, codes, top);
    tc_val powers = table(u, s.scale[0], t->dim[a->axis]);
    tc_val e = ti_b_embedding(&u->b, powers, codes);
    memcpy(dim, t->dim, sizeof *dim * (size_t)t->rank);
    tc_attr_shape shape = {ti_ints_copy(&u->rw->ctx->arena, dim, t->rank)};
    e = ti_b_1(&u->b, reshape, ti_b_keep(&u->b, &shape), e);
    tc_val sum = sum_in_order(u, e, t, axis);
    tc_val by = ti_b_scalar(&u->b, TC_f32, (double)steps);
    e = ti_b_mul(&u->b, e, by);
    e = ti_b_div(&u->b, e, sum);
    static const float one = 1;
    return requantize(u, e, &one, 1, -1, end_of(u)->zero);
}

/* ---- the pass ---- */

typedef tc_val join(unit *u);

static join *join_of(tc_op op)
{
    switch (op) {
    case TC_OP_conv:
    case TC_OP_linear:
    case TC_OP_matmul:
        return product;
    case TC_OP_mean:
        return mean;
    case TC_OP_avg_pool:
        return window;
    case TC_OP_add:
        return add;
    case TC_OP_mul:
        return mul;
    case TC_OP_upsample_linear:
        return resample;
    case TC_OP_softmax:
        return softmax;
    default:
        return NULL;
    }
}

/* What quantize's own clamp does as well. */
static bool is_idle(const tc_rewrite *rw, const tc_node *node, const tc_attr_quantize *end)
{
    (void)rw;
    return node->op == TC_OP_relu && end->zero == end->qmin;
}

static tc_status as_unit(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_attr_quantize *a = node->attr;
    if (node->op != TC_OP_quantize || !a->divides || a->axis != -1 || a->scale == 0 ||
        a->dtype != TC_i8)
        return TC_OK;
    const tc_node *op = ti_def(rw->from, node->in[0]);
    if (op && rw->readers[op->out[0]] == 1 && is_idle(rw, op, a))
        op = ti_def(rw->from, op->in[0]);
    if (!op || op->n_out != 1 || rw->readers[op->out[0]] != 1 || !join_of(op->op))
        return TC_OK;
    unit u = {ti_build_instead(rw, node), rw, op, node};
    tc_val y = join_of(op->op)(&u);
    return y || u.b.status != TC_OK ? ti_b_replace(&u.b, y, done) : TC_OK;
}

/* By value: how many operators, and the caller for one, read it through dequantize. */
static int64_t *count_readers(tc_ctx *ctx, const tc_graph *g)
{
    const int64_t others = (int64_t)INT32_MAX + 1;
    int64_t *count = tc_new_n(&ctx->arena, int64_t, g->n_val),
            *reads = tc_new_n(&ctx->arena, int64_t, g->n_val);
    const bool *pinned = ti_graph_pinned(ctx, g);
    for (size_t v = 0; v < g->n_val; v++) {
        reads[v] = pinned[v];
        count[v] = pinned[v] ? others : 0;
    }
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            reads[g->node[k]->in[i]]++;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in; i++)
            count[node->in[i]] +=
                node->op == TC_OP_dequantize && i == 0 ? reads[node->out[0]] : others;
    }
    return count;
}

static bool has_units(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_quantize &&
            ((const tc_attr_quantize *)g->node[k]->attr)->divides)
            return true;
    return false;
}

tc_status ti_tidy_fuse_qdq(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {as_unit};
    for (size_t i = 0; i < module->n_graph; i++)
        if (has_units(module->graph[i]))
            TC_TRY(ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters),
                                    count_readers(ctx, module->graph[i])));
    return TC_OK;
}
