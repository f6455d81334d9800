/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_nn.c -- builders of normalizations and losses. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* One number per channel, shaped to go with a tensor of that rank. */
static tc_val per_channel(tc_build *m, tc_val x, int rank)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    TC_STOP_WITH(m, TC_NONE);
    dim[rank > 1 ? 1 : 0] = tc_type_count(ti_b_type(m, x));
    return ti_b_reshape(m, x, rank, dim);
}

/* (x - mean) / sqrt(mean of squares of that + eps), over axes; also mean and 1/sqrt() if used.
 */
static tc_val normalized(tc_build *m, tc_val x, const int64_t *axes, int n, double eps,
                         tc_val *mean, tc_val *inverse)
{
    tc_val middle = ti_b_reduce(m, TC_OP_mean, x, axes, n, true);
    tc_val away = ti_b_sub(m, x, middle);
    tc_val square = ti_b_mul(m, away, away);
    tc_val spread = ti_b_reduce(m, TC_OP_mean, square, axes, n, true);
    spread = ti_b_add_n(m, spread, eps);
    tc_val factor = ti_b_rsqrt(m, spread);
    if (mean)
        *mean = middle;
    if (inverse)
        *inverse = factor;
    return ti_b_mul(m, away, factor);
}

/* old * momentum + new * (1 - momentum) */
static tc_val running(tc_build *m, tc_val old, tc_val new_one, double momentum)
{
    old = ti_b_mul_n(m, old, momentum);
    new_one = ti_b_mul_n(m, ti_b_flat(m, new_one), 1 - momentum);
    return ti_b_add(m, old, new_one);
}

static void batch_norm_training(tc_onnx_node *n, tc_val x, const tc_val *p, double eps)
{
    tc_build *m = &n->m;
    double momentum = ti_onnx_float(n, "momentum", (double)0.9f);
    static const int64_t axes[] = {0, 2, 3, 4, 5, 6, 7};
    int rank = ti_b_type(m, x)->rank;
    tc_val mean = ti_b_reduce(m, TC_OP_mean, x, axes, rank - 1, true);
    tc_val away = ti_b_sub(m, x, mean);
    tc_val square = ti_b_mul(m, away, away);
    tc_val spread = ti_b_reduce(m, TC_OP_mean, square, axes, rank - 1, true);
    tc_val factor = ti_b_rsqrt(m, ti_b_add_n(m, spread, eps));
    tc_val y = ti_b_mul(m, away, factor);
    y = ti_b_mul(m, y, per_channel(m, p[0], rank));
    ti_onnx_bind(n, 0, ti_b_add(m, y, per_channel(m, p[1], rank)));
    ti_onnx_bind(n, 1, running(m, p[2], mean, momentum));
    ti_onnx_bind(n, 2, running(m, p[3], spread, momentum));
}

void ti_onnx_build_batch_norm(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), p[4];
    double eps = ti_onnx_float(n, "epsilon", (double)1e-5f);
    for (int i = 0; i < 4; i++)
        p[i] = ti_onnx_need(n, 1 + i);
    TC_STOP(m);
    tc_dtype dtype = ti_b_dtype(m, x);
    for (int i = 0; i < 4; i++)
        p[i] = ti_b_cast(m, p[i], dtype);
    if (ti_onnx_int(n, "training_mode", 0)) {
        batch_norm_training(n, x, p, eps);
        return;
    }
    ti_onnx_bind(n, 0,
                 ti_b_op(m, TC_OP_batch_norm, ti_b_attr(m, eps, eps),
                         (tc_val[]){x, p[0], p[1], p[2], p[3]}, 5));
}

/* Before operator set 21 scale and bias have one number for each group. */
void ti_onnx_build_group_norm(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), p[2];
    p[0] = ti_onnx_need(n, 1);
    p[1] = ti_onnx_need(n, 2);
    double eps = ti_onnx_float(n, "epsilon", (double)1e-5f);
    int64_t groups = ti_onnx_int(n, "num_groups", 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int64_t channels = t->rank > 1 ? t->dim[1] : 1;
    for (int i = 0; i < 2 && groups > 0 && m->status == TC_OK; i++)
        if (tc_type_count(ti_b_type(m, p[i])) == groups && groups != channels) {
            p[i] = ti_b_reshape(m, p[i], 2, (int64_t[]){groups, 1});
            p[i] = ti_b_expand(m, p[i], 2, (int64_t[]){groups, channels / groups});
            p[i] = ti_b_flat(m, p[i]);
        }
    tc_attr_group_norm *a = ti_b_attr(m, group_norm, groups, eps);
    ti_onnx_bind(n, 0, ti_b_3(m, group_norm, a, x, p[0], p[1]));
}

/* Over the axes from `axis` on; extra 1: by the root of the mean of squares alone.  What has more
 * results, or parameters of another shape, is computed step by step. */
void ti_onnx_build_layer_norm(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), weight = ti_onnx_in(n, 1), bias = ti_onnx_in(n, 2);
    double eps = ti_onnx_float(n, "epsilon", (double)1e-5f);
    bool rms = n->row->extra != 0;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", -1), t->rank), count = t->rank - axis;
    bool fits = true;
    for (int k = 0; k < 2; k++) {
        tc_val p = k ? bias : weight;
        const tc_type *w = p ? ti_b_type(m, p) : NULL;
        fits = fits && (!w || (w->rank == count &&
                               memcmp(w->dim, t->dim + axis, (size_t)count * sizeof *w->dim) == 0 &&
                               w->dtype == t->dtype));
    }
    bool more = ti_onnx_wants(n, 1) || ti_onnx_wants(n, 2);
    tc_attr_layer_norm *a = ti_b_attr(m, layer_norm, count, eps);
    if (fits && !more) {
        ti_onnx_bind(n, 0,
                     rms ? ti_b_2(m, rms_norm, a, x, weight)
                         : ti_b_3(m, layer_norm, a, x, weight, bias));
        return;
    }
    int64_t axes[TC_MAX_RANK];
    for (int i = 0; i < count; i++)
        axes[i] = axis + i;
    tc_val mean = TC_NONE, inverse, y;
    if (rms) {
        tc_val square = ti_b_mul(m, x, x);
        tc_val size = ti_b_reduce(m, TC_OP_mean, square, axes, count, true);
        inverse = ti_b_rsqrt(m, ti_b_add_n(m, size, eps));
        y = ti_b_mul(m, x, inverse);
    } else
        y = normalized(m, x, axes, count, eps, &mean, &inverse);
    y = weight ? ti_b_mul(m, y, weight) : y;
    ti_onnx_bind(n, 0, bias ? ti_b_add(m, y, bias) : y);
    ti_onnx_bind(n, 1, mean);
    ti_onnx_bind(n, 2, inverse);
}

/* (x - mean) / (sqrt(variance) + 1e-9) */
void ti_onnx_build_mean_variance_norm(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    tc_ints axes = ti_onnx_ints(n, "axes");
    TC_STOP(m);
    if (!axes.n)
        axes = ti_ints_copy(&m->ctx->arena, (int64_t[]){0, 2, 3}, 3);
    axes = ti_b_axes(&n->m, axes, ti_b_type(m, x)->rank);
    tc_val mean = ti_b_reduce(m, TC_OP_mean, x, axes.v, axes.n, true);
    tc_val away = ti_b_sub(m, x, mean);
    tc_val square = ti_b_mul(m, away, away);
    tc_val spread = ti_b_reduce(m, TC_OP_mean, square, axes.v, axes.n, true);
    spread = ti_b_sqrt(m, spread);
    spread = ti_b_add_n(m, spread, 1e-9);
    ti_onnx_bind(n, 0, ti_b_div(m, away, spread));
}

/* x / (bias + alpha / size * sum of squares of neighbouring channels)^beta */
void ti_onnx_build_lrn(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    int64_t size = ti_onnx_int(n, "size", 1);
    double alpha = ti_onnx_float(n, "alpha", (double)0.0001f),
           beta = ti_onnx_float(n, "beta", 0.75), bias = ti_onnx_float(n, "bias", 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    if (size < 1 || size > 256 || t->rank < 2) {
        ti_b_bad(m, TC_E_ARGUMENT, "LRN over %" PRId64 " channels", size);
        return;
    }
    int64_t pad[2 * TC_MAX_RANK] = {0};
    pad[2] = (size - 1) / 2;
    pad[3] = size - 1 - pad[2];
    tc_val square = ti_b_pad(m, ti_b_mul(m, x, x), pad, 0), sum = TC_NONE;
    for (int64_t i = 0; i < size; i++) {
        tc_val part = ti_b_slice(m, square, 1, i, i + t->dim[1], 1);
        sum = sum ? ti_b_add(m, sum, part) : part;
    }
    sum = ti_b_mul_n(m, sum, alpha / (double)size);
    sum = ti_b_add_n(m, sum, bias);
    tc_val power = ti_b_scalar(m, t->dtype, beta);
    sum = ti_b_pow(m, sum, power);
    ti_onnx_bind(n, 0, ti_b_div(m, x, sum));
}

/* ---- losses ---- */

/* -weight[target] * x[target], 0 where the target is to be ignored; all of them, their sum or their
 * weighted mean. */
static tc_val likelihood_loss(tc_onnx_node *n, tc_val x, tc_val target, tc_val weight)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    const char *how = ti_onnx_text(n, "reduction", "mean");
    const tc_type *t = ti_b_type(m, x);
    target = ti_b_cast(m, target, TC_i64);
    tc_val used = TC_NONE, zero = ti_b_scalar(m, t->dtype, 0);
    if (ti_onnx_has(n, "ignore_index")) {
        tc_val ignored = ti_b_scalar_i64(m, TC_i64, ti_onnx_int(n, "ignore_index", 0));
        tc_val first = ti_b_scalar_i64(m, TC_i64, 0);
        used = ti_b_ne(m, target, ignored);
        target = ti_b_where(m, used, target, first);
    }
    tc_val at = ti_b_unsqueeze(m, target, 1);
    tc_val chosen = ti_b_gather(m, x, at, 1);
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *shape = ti_b_type(m, target);
    chosen = ti_b_reshape(m, chosen, shape->rank, shape->dim);
    tc_val loss = ti_b_neg(m, chosen), share;
    if (weight) {
        tc_val flat = ti_b_flat(m, target);
        share = ti_b_index_select(m, weight, flat, 0);
        share = ti_b_reshape(m, share, shape->rank, shape->dim);
    } else
        share = ti_b_full(m, shape->rank, shape->dim, 1, t->dtype);
    if (used)
        share = ti_b_where(m, used, share, zero);
    loss = ti_b_mul(m, loss, share);
    if (ti_text_eq(how, "none") || m->status != TC_OK)
        return loss;
    static const int64_t axes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    tc_val sum = ti_b_reduce(m, TC_OP_sum, loss, axes, shape->rank, false);
    if (ti_text_eq(how, "sum"))
        return sum;
    tc_val all = ti_b_reduce(m, TC_OP_sum, share, axes, shape->rank, false);
    return ti_b_div(m, sum, all);
}

void ti_onnx_build_likelihood_loss(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0), target = ti_onnx_need(n, 1), weight = ti_onnx_in(n, 2);
    ti_onnx_bind(n, 0, likelihood_loss(n, x, target, weight));
}

void ti_onnx_build_cross_entropy(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0), target = ti_onnx_need(n, 1), weight = ti_onnx_in(n, 2);
    tc_val log = ti_b_log_softmax(&n->m, x, 1);
    ti_onnx_bind(n, 0, likelihood_loss(n, log, target, weight));
    ti_onnx_bind(n, 1, log);
}
