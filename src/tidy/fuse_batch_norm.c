/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_batch_norm.c -- batch norm, and per-channel constants, fold into the weights of the layer
 * before.
 *
 *   batch_norm(layer(x, w, b)) = layer(x, s w, s (b - mean) + bias)
 *   layer(x, w, b) s + t       = layer(x, s w, s b + t)
 *
 *   s = weight / sqrt(var + eps)
 *
 * where s and t belong to the output channel.  Done when statistics and weights are constant and
 * the layer has no other reader; only the rounding of the sums changes.
 *
 * fuse-batch-norm-f32 rounds every step to f32, in the order in which PT2E folds its norms,
 *
 *   r = 1 / sqrt(var + eps),  w' = w (weight r),  b' = ((b - mean) r) weight + bias,
 *
 * so that the layers give the same bits there and here. */
#include "tidy.h"

#include <math.h>

#include "../base/mapped.h"
#include "../num/load.h"

/* What each channel of the weights is multiplied by, and its new bias. */
typedef struct affine {
    int64_t n;
    double *scale, *shift;
} affine;

/* As f32 holds it.  A double of two f32 rounds to the f32 that their sum, product, quotient or
 * root rounds to at once. */
static double narrow(double v) { return (double)(float)v; }

static bool is_plain_float(const tc_type *type)
{
    return ti_is_float(type->dtype) && !type->quant && tc_dtypes[type->dtype].bytes >= 2;
}

/* All operands from `first` on are constants of plain floats, or left out. */
static bool all_fixed(const tc_rewrite *rw, const tc_node *node, int first)
{
    for (int i = first; i < node->n_in; i++)
        if (node->in[i] && (!ti_rewrite_is_fixed(rw, ti_rewrite_in(rw, node, i)) ||
                            !is_plain_float(ti_type_of(rw->from, node->in[i]))))
            return false;
    return true;
}

/* Whether axis 1 of the product's result is its output channel. */
static bool channel_second(const tc_rewrite *rw, const tc_node *product)
{
    int rank = ti_type_of(rw->from, product->out[0])->rank;
    switch (product->op) {
    case TC_OP_conv:
    case TC_OP_conv_transpose:
        return rank == ti_type_of(rw->from, product->in[1])->rank; /* with its batch axis */
    case TC_OP_linear:
        return rank == 2;
    default:
        return false;
    }
}

/* Element i of an optional operand. */
static double element(const tc_rewrite *rw, const tc_node *node, int operand, int64_t i,
                      double missing)
{
    if (operand >= node->n_in || !node->in[operand])
        return missing;
    return ti_load_f64(ti_tensor_of(rw->to, ti_rewrite_in(rw, node, operand)), i);
}

static void fold_single(const tc_rewrite *rw, const tc_node *norm, const tc_node *product,
                        const affine *a)
{
    double eps = narrow(((const tc_attr_eps *)norm->attr)->eps);
    for (int64_t c = 0; c < a->n; c++) {
        double root = narrow(sqrt(narrow(element(rw, norm, 4, c, 1) + eps)));
        double per_root = narrow(1 / root), weight = element(rw, norm, 1, c, 1);
        double bias = narrow(element(rw, product, 2, c, 0) - element(rw, norm, 3, c, 0));
        a->scale[c] = narrow(weight * per_root);
        a->shift[c] = narrow(narrow(bias * per_root) * weight) + element(rw, norm, 2, c, 0);
    }
}

static void fold_exact(const tc_rewrite *rw, const tc_node *norm, const tc_node *product,
                       const affine *a)
{
    double eps = ((const tc_attr_eps *)norm->attr)->eps;
    for (int64_t c = 0; c < a->n; c++) {
        double mean = element(rw, norm, 3, c, 0), var = element(rw, norm, 4, c, 1);
        a->scale[c] = element(rw, norm, 1, c, 1) / sqrt(var + eps);
        double shift = element(rw, norm, 2, c, 0) - mean * a->scale[c];
        a->shift[c] = a->scale[c] * element(rw, product, 2, c, 0) + shift;
    }
}

/* n neighbouring weights times a scale. */
static void scale_run(tc_tensor w, tc_tensor out, int64_t at, int64_t n, double scale)
{
    enum { BLOCK = 256 };
    double block[BLOCK];
    for (int64_t end = at + n; at < end; at += BLOCK) {
        size_t count = (size_t)ti_min_i64(BLOCK, end - at);
        ti_read_f64(w, at, count, block);
        for (size_t i = 0; i < count; i++)
            block[i] *= scale;
        ti_write_f64(out, at, count, block);
    }
}

/* Weights are [out, in/groups, ...]; of a transposed product [in, out/groups, ...]. */
static tc_val scaled_weights(tc_rewrite *rw, const tc_node *product, const affine *a)
{
    tc_val old = ti_rewrite_in(rw, product, 1);
    tc_tensor w = ti_tensor_of(rw->to, old), out = ti_tensor_new(&rw->ctx->arena, w.type);
    int64_t rows = w.type->dim[0], columns = w.type->dim[1], n = tc_type_count(w.type);
    if (product->op == TC_OP_conv_transpose) {
        int64_t per_group = rows / ((const tc_attr_conv_transpose *)product->attr)->groups;
        int64_t run = n ? n / (rows * columns) : 0;
        for (int64_t i = 0; run && i < rows * columns; i++)
            scale_run(w, out, i * run, run,
                      a->scale[i / columns / per_group * columns + i % columns]);
    } else
        for (int64_t r = 0; r < rows; r++)
            scale_run(w, out, r * (n / rows), n / rows, a->scale[r]);
    ti_mapped_forget(rw->ctx, w.data, tc_type_bytes(w.type));
    return ti_graph_const(rw->to, w.type, out.data, rw->to->val[old]->name, product->loc);
}

static tc_val shifted_bias(tc_rewrite *rw, const tc_node *product, const affine *a)
{
    const tc_type *w = ti_type_of(rw->from, product->in[1]);
    const tc_type *type = ti_type_make(rw->ctx, w->dtype, 1, &a->n);
    tc_tensor out = ti_tensor_new(&rw->ctx->arena, type);
    for (int64_t c = 0; c < a->n; c++)
        ti_store_f64(out, c, a->shift[c]);
    return ti_graph_const(rw->to, type, out.data, NULL, product->loc);
}

static bool fits(const tc_rewrite *rw, const tc_node *norm, const tc_node *product)
{
    return product && channel_second(rw, product) && rw->readers[norm->in[0]] == 1 &&
           is_plain_float(ti_type_of(rw->from, norm->in[0])) &&
           ti_type_of(rw->from, norm->in[0]) == ti_type_of(rw->from, norm->out[0]) &&
           all_fixed(rw, norm, 1) && all_fixed(rw, product, 1);
}

/* The product instead of the node that follows it. */
static tc_status take_affine(tc_rewrite *rw, const tc_node *node, const tc_node *product,
                             const affine *a, bool *done)
{
    tc_val in[3] = {ti_rewrite_in(rw, product, 0)};
    in[1] = scaled_weights(rw, product, a);
    in[2] = shifted_bias(rw, product, a);
    tc_build b = ti_build_instead(rw, node);
    b.loc = product->loc;
    return ti_b_replace(&b, ti_b_op(&b, product->op, product->attr, in, 3), done);
}

/* batch_norm(product(x, w, b)) => product(x, w', b') */
static tc_status fuse_norm(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *product = node->op == TC_OP_batch_norm ? ti_def(rw->from, node->in[0]) : NULL;
    if (!fits(rw, node, product))
        return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    int64_t n = ti_type_of(rw->from, node->out[0])->dim[1];
    affine a = {n, tc_new_n(&rw->ctx->scratch, double, (size_t)n),
                tc_new_n(&rw->ctx->scratch, double, (size_t)n)};
    const bool *single = rw->user;
    (*single ? fold_single : fold_exact)(rw, node, product, &a);
    tc_status status = take_affine(rw, node, product, &a, done);
    ti_arena_rewind(&rw->ctx->scratch, mark);
    return status;
}

/* ---- constants by channel ---- */

/* The axis of the output channels in the product's result; -1: none. */
static int channel_axis(const tc_rewrite *rw, const tc_node *product)
{
    const tc_type *out = ti_type_of(rw->from, product->out[0]);
    return product->op == TC_OP_linear    ? out->rank - 1
           : channel_second(rw, product) ? 1
                                         : -1;
}

/* Whether a constant has a number for each channel of the result, and nothing else. */
static bool is_by_channel(const tc_type *constant, const tc_type *out, int axis)
{
    for (int i = 0; i < constant->rank; i++) {
        int at = out->rank - constant->rank + i;
        if (at < 0 || constant->dim[i] != (at == axis ? out->dim[axis] : 1))
            return false;
    }
    return constant->rank >= out->rank - axis && out->dim[axis] > 1;
}

/* product(x, w, b) * s, or + t  =>  product(x, w', b') */
static tc_status fuse_constant(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool adds = node->op == TC_OP_add && ((const tc_attr_alpha *)node->attr)->alpha == 1;
    if (!adds && node->op != TC_OP_mul)
        return TC_OK;
    int k = ti_rewrite_is_fixed(rw, ti_rewrite_in(rw, node, 0)) ? 0 : 1;
    const tc_node *product = ti_def(rw->from, node->in[1 - k]);
    int axis = product ? channel_axis(rw, product) : -1;
    const tc_type *out = ti_type_of(rw->from, node->out[0]), *c = ti_type_of(rw->from, node->in[k]);
    if (axis < 0 || !ti_rewrite_is_fixed(rw, ti_rewrite_in(rw, node, k)) || !is_plain_float(c) ||
        rw->readers[node->in[1 - k]] != 1 || rw->readers[product->in[1]] != 1 ||
        ti_type_of(rw->from, node->in[1 - k]) != out ||
        !is_by_channel(c, out, axis) || !all_fixed(rw, product, 1))
        return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    tc_tensor t = ti_tensor_of(rw->to, ti_rewrite_in(rw, node, k));
    size_t n = (size_t)out->dim[axis];
    affine a = {(int64_t)n, tc_new_n(&rw->ctx->scratch, double, n),
                tc_new_n(&rw->ctx->scratch, double, n)};
    for (int64_t i = 0; i < a.n; i++) {
        a.scale[i] = adds ? 1 : ti_load_f64(t, i);
        a.shift[i] = a.scale[i] * element(rw, product, 2, i, 0) + (adds ? ti_load_f64(t, i) : 0);
    }
    tc_status status = take_affine(rw, node, product, &a, done);
    ti_arena_rewind(&rw->ctx->scratch, mark);
    return status;
}

TC_REWRITES(ti_tidy_fold_channel_constants, fuse_constant)

static tc_status fuse(tc_module *module, bool single)
{
    static tc_rewriter *const rewriters[] = {fuse_norm};
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), &single);
}

tc_status ti_tidy_fuse_batch_norm(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return fuse(module, false);
}

tc_status ti_tidy_fuse_batch_norm_f32(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return fuse(module, true);
}
