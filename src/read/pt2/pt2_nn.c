/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_nn.c -- importers of norms, softmax, distances and the recurrent operators. */
#include <float.h>
#include <math.h>

#include "pt2.h"

/* All axes but one. */
static tc_ints axes_but(tc_pt2_node *n, int rank, int64_t but)
{
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)rank);
    int32_t count = 0;
    for (int i = 0; i < rank; i++)
        if (i != but)
            v[count++] = i;
    return (tc_ints){count, v};
}

/* Norms */

static tc_val group_norm(tc_pt2_node *n, tc_val x, tc_val w, tc_val b, int64_t groups, double eps)
{
    return ti_b_3(&n->m, group_norm, ti_b_attr(&n->m, group_norm, groups, eps), x, w, b);
}

/* Mean and variance of the batch itself, by channel. */
static void batch_statistics(tc_pt2_node *n, tc_val x, tc_val *mean, tc_val *var)
{
    TC_STOP(&n->m);
    tc_ints axes = axes_but(n, ti_b_type(&n->m, x)->rank, 1);
    *mean = ti_b_1(&n->m, mean, ti_b_attr(&n->m, axes, axes, false), x);
    *var = ti_b_1(&n->m, var, ti_b_attr(&n->m, var, axes, false, 0), x);
}

/* By the statistics of the batch; one sample is a group per channel. */
static tc_val norm_by_batch(tc_pt2_node *n, tc_val x, tc_val w, tc_val b, double eps)
{
    const tc_type *t = ti_b_type(&n->m, x);
    tc_val mean = TC_NONE, var = TC_NONE;
    if (t->rank < 2) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the input has no channels");
        return TC_NONE;
    }
    if (t->dim[0] == 1)
        return group_norm(n, x, w, b, t->dim[1], eps);
    batch_statistics(n, x, &mean, &var);
    return ti_b_op(&n->m, TC_OP_batch_norm, ti_b_attr(&n->m, eps, eps),
                   (tc_val[]){x, w, b, mean, var}, 5);
}

/* old (1 - momentum) + new momentum */
static tc_val moved_on(tc_pt2_node *n, tc_val old, tc_val new, double momentum)
{
    tc_val kept = ti_b_mul_n(&n->m, old, 1 - momentum);
    return ti_b_add(&n->m, kept, ti_b_mul_n(&n->m, new, momentum));
}

/* In training: the statistics of the batch, results 1 and 2, move the running ones, which are
 * written where they are, or are results 3 and 4.  The running variance is the unbiased one. */
static void bind_statistics(tc_pt2_node *n, tc_val x, tc_val running_mean, tc_val running_var,
                            double eps)
{
    tc_val mean, var;
    double momentum = ti_pt2_float(n, "momentum", 0.1);
    batch_statistics(n, x, &mean, &var);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    double count = (double)tc_type_count(t) / (double)ti_max_i64(t->dim[1], 1);
    if (n->n_result > 2) {
        ti_pt2_bind(n, 1, mean);
        ti_pt2_bind(n, 2, ti_b_rsqrt(&n->m, ti_b_add_n(&n->m, var, eps)));
    }
    if (!running_mean || !running_var)
        return;
    tc_val unbiased = ti_b_mul_n(&n->m, var, count / (count - 1));
    mean = moved_on(n, running_mean, mean, momentum);
    var = moved_on(n, running_var, unbiased, momentum);
    if (n->n_result > 3) {
        ti_pt2_bind(n, n->n_result - 2, mean);
        ti_pt2_bind(n, n->n_result - 1, var);
    } else {
        ti_pt2_write_argument(n, "running_mean", mean);
        ti_pt2_write_argument(n, "running_var", var);
    }
}

/* batch_norm and its native forms; of evaluation only the normalized result is made. */
static void import_batch_norm(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input"), w = ti_pt2_tensor_opt(n, "weight"),
           b = ti_pt2_tensor_opt(n, "bias");
    tc_val mean = ti_pt2_tensor_opt(n, "running_mean"), var = ti_pt2_tensor_opt(n, "running_var");
    double eps = ti_pt2_float(n, "eps", 1e-5);
    bool training = ti_pt2_bool(n, "training", false);
    TC_STOP(&n->m);
    tc_val y = TC_NONE;
    if (mean && var && !training)
        y = ti_b_op(&n->m, TC_OP_batch_norm, ti_b_attr(&n->m, eps, eps),
                    (tc_val[]){x, w, b, mean, var}, 5);
    else
        y = norm_by_batch(n, x, w, b, eps);
    ti_pt2_bind(n, 0, y);
    if (training && (n->n_result > 1 || (mean && var)))
        bind_statistics(n, x, mean, var, eps);
}

/* How many last axes are normalized; they must be those of the input. */
static int64_t normalized_axes(tc_pt2_node *n, tc_val x)
{
    tc_ints shape = ti_pt2_ints(n, "normalized_shape");
    TC_STOP_WITH(&n->m, 0);
    const tc_type *t = ti_b_type(&n->m, x);
    for (int i = 0; i < shape.n; i++)
        if (shape.n > t->rank || shape.v[i] != t->dim[t->rank - shape.n + i]) {
            ti_b_bad(&n->m, TC_E_SHAPE, "normalized_shape is not that of the input's last axes");
            break;
        }
    return shape.n;
}

static void import_layer_norm(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input"), w = ti_pt2_tensor_opt(n, "weight"),
           b = ti_pt2_tensor_opt(n, "bias");
    tc_attr_layer_norm *a =
        ti_b_attr(&n->m, layer_norm, normalized_axes(n, x), ti_pt2_float(n, "eps", 1e-5));
    ti_pt2_bind(n, 0, ti_b_3(&n->m, layer_norm, a, x, w, b));
}

/* Without an eps: the distance from 1 to the next number of the type that it is computed in. */
static void import_rms_norm(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input"), w = ti_pt2_tensor_opt(n, "weight");
    int64_t axes = normalized_axes(n, x);
    TC_STOP(&n->m);
    double missing = ti_b_type(&n->m, x)->dtype == TC_f64 ? DBL_EPSILON : (double)FLT_EPSILON;
    tc_attr_layer_norm *a = ti_b_attr(&n->m, layer_norm, axes, ti_pt2_float(n, "eps", missing));
    ti_pt2_bind(n, 0, ti_b_2(&n->m, rms_norm, a, x, w));
}

/* v * g / |v|, the norm over all axes but dim; the second result is the norm. */
static void import_weight_norm(tc_pt2_node *n)
{
    tc_val v = ti_pt2_tensor(n, "v"), g = ti_pt2_tensor(n, "g");
    int64_t dim = ti_pt2_int(n, "dim", 0);
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, v)->rank;
    tc_ints axes = axes_but(n, rank, dim == -1 ? -1 : ti_b_axis(&n->m, dim, rank));
    tc_val norm = ti_b_1(&n->m, norm, ti_b_attr(&n->m, norm, axes, true, 2), v);
    tc_val scale = ti_b_div(&n->m, g, norm);
    ti_pt2_bind(n, 0, ti_b_mul(&n->m, v, scale));
    if (n->n_result > 1)
        ti_pt2_bind(n, 1, norm);
}

/* Softmax */

/* Distances */

static tc_val length(tc_pt2_node *n, tc_val x, tc_ints axes, double eps)
{
    tc_val norm = ti_b_1(&n->m, norm, ti_b_attr(&n->m, norm, axes, false, 2), x);
    return ti_b_clamp(&n->m, norm, eps, INFINITY);
}

/* sum(a * b) / (max(|a|, eps) * max(|b|, eps)) */
static void import_cosine_similarity(tc_pt2_node *n)
{
    tc_val a = ti_pt2_tensor(n, "x1"), b = ti_pt2_tensor(n, "x2");
    double eps = ti_pt2_float(n, "eps", 1e-8);
    int64_t dim = ti_pt2_int(n, "dim", 1);
    tc_val product = ti_b_mul(&n->m, a, b);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, product);
    tc_ints axes = ti_ints_fill(&n->m.ctx->arena, ti_b_axis(&n->m, dim, t->rank), 1);
    tc_attr_shape *common = ti_b_attr(&n->m, shape,
                                      ti_ints_copy(&n->m.ctx->arena, t->dim, t->rank));
    a = ti_same_dims(ti_b_type(&n->m, a), t) ? a : ti_b_1(&n->m, expand, common, a);
    b = ti_same_dims(ti_b_type(&n->m, b), t) ? b : ti_b_1(&n->m, expand, common, b);
    tc_val dot = ti_b_1(&n->m, sum, ti_b_attr(&n->m, axes, axes, false), product);
    a = length(n, a, axes, eps);
    b = length(n, b, axes, eps);
    tc_val lengths = ti_b_mul(&n->m, a, b);
    ti_pt2_bind(n, 0, ti_b_div(&n->m, dot, lengths));
}

/* Recurrent */

/* Operands: x, the states, then the weights layer by layer; results: all steps, the last states. */
static void import_recurrent(tc_pt2_node *n)
{
    int n_state = 1, n_param;
    tc_val x = ti_pt2_tensor(n, "input"), one = TC_NONE, *state = &one;
    if (n->row->op == TC_OP_lstm)
        state = ti_pt2_tensors(n, "hx", &n_state);
    else
        one = ti_pt2_tensor(n, "hx");
    tc_val *param = ti_pt2_tensors(n, "params", &n_param);
    tc_attr_rnn *a = ti_b_attr(&n->m, rnn, .layers = ti_pt2_int(n, "num_layers", 1),
                               .bidirectional = ti_pt2_bool(n, "bidirectional", false),
                                   .batch_first = ti_pt2_bool(n, "batch_first", false),
                                       .has_bias = ti_pt2_bool(n, "has_biases", true));
    if (ti_pt2_bool(n, "train", false) && ti_pt2_float(n, "dropout", 0) != 0)
        ti_b_unsupported(&n->m, "dropout is for training; export the model in eval mode");
    TC_STOP(&n->m);
    tc_val *in = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)(1 + n_state + n_param));
    in[0] = x;
    memcpy(in + 1, state, (size_t)n_state * sizeof *in);
    memcpy(in + 1 + n_state, param, (size_t)n_param * sizeof *in);
    int results = tc_ops[n->row->op].n_out;
    tc_node *node = ti_b_ops(&n->m, n->row->op, a, in, 1 + n_state + n_param, results);
    for (int i = 0; node && i < results; i++)
        ti_pt2_bind(n, i, node->out[i]);
}

const tc_pt2_row tc_pt2_nn[] = {
    ROW("batch_norm _native_batch_norm_legit_no_training _native_batch_norm_legit "
        "_native_batch_norm_legit.no_stats _native_batch_norm_legit_functional "
        "_batch_norm_no_update native_batch_norm", import_batch_norm, const, 0),
    ROW("layer_norm native_layer_norm", import_layer_norm, const, 0),
    ROW("rms_norm _fused_rms_norm", import_rms_norm, const, 0),
    ROW("_weight_norm _weight_norm_interface", import_weight_norm, const, 0),
    ROW("cosine_similarity", import_cosine_similarity, const, 0),
    ROW("lstm.input", import_recurrent, lstm, 0),
    ROW("gru.input", import_recurrent, gru, 0),
    ROW("rnn_tanh.input", import_recurrent, rnn_tanh, 0),
    ROW("rnn_relu.input", import_recurrent, rnn_relu, 0),
    {0},
};
