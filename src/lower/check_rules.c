/* SPDX-License-Identifier: Apache-2.0 */
/* check_rules.c -- translation validation: each rule's result against its node's.
 *
 * The lowered graph runs on a sample; then every node of the typed graph is computed on the lowered
 * graph's operands.  So each difference is due to one rule. */
#include <float.h>
#include <math.h>

#include "put.h"
#include "../base/real.h"
#include "../run/eval.h"
#include "composite/rnn_arith.h"
#include "composite/lower_rnn.h"

#include "../num/half.h"
#include "../num/load.h"

/* The tensor as the typed graph reads it: the same stored elements, with their domain. */
static tc_tensor typed(const tc_build *lw, const tc_tensor *at, tc_val v)
{
    if (!v || ti_is_const(lw->rw->from, v))
        return v ? ti_tensor_of(lw->rw->from, v) : (tc_tensor){NULL, NULL};
    return (tc_tensor){ti_type_of(lw->rw->from, v),
                       lw->rw->now[v] ? at[lw->rw->now[v]].data : NULL};
}

static double largest(tc_tensor t)
{
    double top = 0;
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        double x = fabs(ti_load_f64(t, i));
        top = isfinite(x) && x > top ? x : top;
    }
    return top;
}

typedef struct difference {
    double most, allowed;
    int64_t at;
} difference;

/* Steps of the domain; for plain values, their own unit.  Wide sums are as exact as f32 arithmetic
 * is.  overflows: which of the results are infinite, or NaN, follows from the order of a sum.
 * slack: by element, steps that are allowed it besides; or NULL. */
static difference compare(tc_tensor got, tc_tensor want, bool overflows, const double *slack)
{
    difference d = {0, 0, -1};
    tc_dtype t = want.type->dtype;
    int64_t n = tc_type_count(want.type);
    double top = 0;
    for (int64_t i = 0; i < n; i++) {
        double a = ti_load_f64(got, i), b = ti_load_f64(want, i), off = fabs(a - b);
        top = isfinite(b) && fabs(b) > top ? fabs(b) : top;
        if (a == b || (isnan(a) && isnan(b)) || (overflows && !(isfinite(a) && isfinite(b))))
            continue;
        off = slack ? fmax(0, off - slack[i]) : off;
        if (!(off <= d.most)) {
            d.most = isnan(off) ? INFINITY : off;
            d.at = i;
        }
    }
    if (ti_is_float(t)) /* of the largest number: functions are right to 1e-5 in f32, and two
                           roundings to the format follow */
        d.allowed = fmax(top, 1e-3) * (1e-5 + (t == TC_f32 ? 0 : 2 * ti_float_unit(t)));
    else if (want.type->quant)
        d.allowed = tc_dtypes[t].bits > 16 ? fmax(2, ldexp(top, -16)) : t == TC_i16 ? 2 : 1;
    return d;
}

/* Attention with coarse shares: four steps of v besides. */
static double coarse_steps(const tc_build *lw, const tc_node *node)
{
    if (node->op != TC_OP_sdpa || !((const tc_attr_sdpa *)node->attr)->coarse)
        return 0;
    const tc_type *v = ti_type_of(lw->rw->from, node->in[2]),
                  *y = ti_type_of(lw->rw->from, node->out[0]);
    return v->quant && y->dtype == TC_i8 ? 4 * ti_scale_of(v) / ti_scale_of(y) : 0;
}

/* i32 whose precision is that of a step on its way, of the largest result: the multiplier of a
 * 48-bit accumulator has 15 bits, and the table of a hypot 16-bit indices. */
static double wide_steps(const tc_build *lw, const tc_node *node, tc_tensor want)
{
    const tc_type *x = node->n_in && node->in[0] ? ti_type_of(lw->rw->from, node->in[0]) : NULL;
    if (want.type->dtype != TC_i32 || !want.type->quant || !x || !x->quant)
        return 0;
    bool product = node->op == TC_OP_conv || node->op == TC_OP_linear;
    return node->op == TC_OP_hypot ? ldexp(largest(want), -14)
           : product && tc_dtypes[x->dtype].bits > 8 ? ldexp(largest(want), -15)
                                                      : 0;
}

/* Powers have 31 bits of their frame's largest part, or of the floor where that is larger, and so
 * have their sums: a band that is far below both has less of them.  In steps of the logarithm. */
static double *band_slack(const tc_node *node, const tc_tensor *in, tc_tensor want, tc_arena *arena)
{
    if (node->op != TC_OP_log_bands || !want.type->quant || !in[0].type->quant ||
        !in[1].type->quant)
        return NULL;
    const tc_attr_bands *a = node->attr;
    const tc_quant *q = in[1].type->quant;
    int64_t k = in[1].type->dim[1], n = in[1].type->dim[0],
            rows = k ? tc_type_count(in[0].type) / k : 0;
    double *slack = tc_new_n(arena, double, (size_t)(rows * n) + 1),
           unit = in[0].type->quant->scale[0], step = a->octave / want.type->quant->scale[0], gain = 0;
    for (int64_t c = 0; c < n; c++) {
        double sum = 0;
        for (int64_t i = 0; i < k; i++)
            sum += fabs(ti_load_f64(in[1], c * k + i));
        gain = fmax(gain, sum * q->scale[q->axis >= 0 ? c : 0]);
    }
    for (int64_t r = 0; r < rows; r++) {
        double most = 0;
        for (int64_t i = r * k; i < (r + 1) * k; i++)
            most = fmax(most, fmax(fabs(ti_load_f64(in[0], i)), fabs(ti_load_f64(in[2], i))));
        double bit = gain * most * most * unit * unit * 0x1p-27 + a->floor * 0x1p-27;
        for (int64_t c = 0; c < n; c++) {
            double sum = ti_exp2(ti_real(want.type, 0, ti_load_i64(want, r * n + c)) / a->octave);
            slack[r * n + c] = fabs(step) * ti_log2(1 + 5 * bit / sum);
        }
    }
    return slack;
}

/* ---- what grows with a node's size ---- */

/* The terms of each of its sums; 1: it has none. */
static int64_t terms_of(const tc_graph *g, const tc_node *node)
{
    const tc_type *x = ti_type_of(g, node->in[0]), *y = ti_type_of(g, node->out[0]);
    const tc_type *w = node->n_in > 1 && node->in[1] ? ti_type_of(g, node->in[1]) : NULL;
    int64_t longest = 1;
    for (int i = 0; i < x->rank; i++)
        longest = x->dim[i] > longest ? x->dim[i] : longest;
    switch (node->op) {
    case TC_OP_conv:
    case TC_OP_linear:
        return w->dim[0] ? tc_type_count(w) / w->dim[0] : 1;
    case TC_OP_matmul:
        return x->rank ? x->dim[x->rank - 1] : 1;
    case TC_OP_cumsum:
    case TC_OP_softmax:
    case TC_OP_log_softmax:
        return longest;
    case TC_OP_sum:
    case TC_OP_mean:
    case TC_OP_logsumexp:
    case TC_OP_var:
    case TC_OP_std:
    case TC_OP_norm:
        return tc_type_count(y) ? tc_type_count(x) / tc_type_count(y) : 1;
    default:
        return 1;
    }
}

static double root_mean_square(tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = t.type->quant && t.type->quant->axis < 0
                       ? ti_real(t.type, 0, ti_load_i64(t, i))
                       : ti_load_f64(t, i) * (t.type->quant ? t.type->quant->scale[0] : 1);
        sum += isfinite(x) ? x * x : 0;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

/* Sums of the node, on their way, may leave f32. */
static bool may_overflow(const tc_build *lw, const tc_node *node, const tc_tensor *in)
{
    if (!node->n_in || !node->in[0] || !ti_is_float(in[0].type->dtype))
        return false;
    double k = (double)terms_of(lw->rw->from, node), x = largest(in[0]), by = 1;
    if (node->op == TC_OP_conv || node->op == TC_OP_linear || node->op == TC_OP_matmul)
        by = largest(in[1]);
    else if (node->op == TC_OP_norm)
        by = x;
    else if (node->op == TC_OP_var || node->op == TC_OP_std)
        return false; /* their rules scale large values down first */
    return k > 1 && k * x * by > (double)FLT_MAX;
}

/* What a node means is computed in f32: a sum of K terms of root mean square r, of either sign, is
 * about sqrt(K) r on its way, or the largest result where they have one sign, and each of its K
 * additions rounds it by up to 2^-24: 2 sqrt(K) 2^-24 of it, in another order.  Terms that cancel
 * leave less than that.  top: the largest result, a real number. */
static double long_sum(const tc_build *lw, const tc_node *node, const tc_tensor *in, double top)
{
    double k = (double)terms_of(lw->rw->from, node);
    bool product = node->op == TC_OP_conv || node->op == TC_OP_linear || node->op == TC_OP_matmul;
    if (k < 2)
        return 0;
    double r = root_mean_square(in[0]) * (product ? root_mean_square(in[1]) : 1);
    r /= node->op == TC_OP_mean ? k : 1;
    return 2 * sqrt(k) * 0x1p-24 * fmax(top, sqrt(k) * r);
}

/* How far a value is from 0 at most. */
static double reach(const tc_type *t)
{
    const tc_quant *q = t->quant;
    return q ? q->scale[0] * fmax(fabs((double)(q->lo - q->zero[0])),
                                  fabs((double)(q->hi - q->zero[0])))
             : 0;
}

static bool is_recurrent(const tc_node *node)
{
    return node->op >= TC_OP_lstm && node->op <= TC_OP_rnn_relu_cell;
}

/* A recurrent layer of 16 bits has its state in its own steps, 1/32512 of 1 or of the range of its
 * results and its initial state: u steps of the result each.  One step in time is right to two of
 * them, as any rule of 16 bits, and propagates by rows of weights of norm g (1 at most, else the
 * state itself grows): a normal variable of variance (2 u)^2 / 3 sum g^2i, of which the largest of
 * n is sqrt(2 ln n) as far.  Where the target has no tables for exact sums, those that go into tanh
 * are rounded to steps s of their own, which it hands on as they are at most: s^2 / 12 more. */
static double carried_steps(const tc_build *lw, const tc_node *node, tc_tensor want)
{
    const tc_type *x = ti_type_of(lw->rw->from, node->in[0]);
    if (!is_recurrent(node) || want.type->dtype != TC_i16)
        return 0;
    double g = 0, sum = 0, far = fmax(1, reach(ti_type_of(lw->rw->from, node->in[1])));
    for (int i = 2; i < node->n_in; i++) {
        tc_tensor w = node->in[i] && ti_is_const(lw->rw->from, node->in[i])
                          ? ti_tensor_of(lw->rw->from, node->in[i])
                          : (tc_tensor){0};
        if (w.type && w.type->rank == 2 && w.data)
            g = fmax(g, root_mean_square(w) * sqrt((double)w.type->dim[1]));
    }
    for (int i = 0; i < node->n_out; i++)
        far = fmax(far, reach(ti_type_of(lw->rw->from, node->out[i])));
    g = fmin(g, 1);
    bool cell = x->rank < 3;
    int64_t steps = cell ? 1 : x->dim[0] > x->dim[1] ? x->dim[0] : x->dim[1];
    for (int64_t i = 0; i < steps && i < 4096; i++)
        sum += ti_pow(g, 2 * (double)i);
    double scale = want.type->quant->scale[0], u = far * TC_SHARE_UNIT / scale;
    double s = ti_lower_fine(lw) ? 0 : ti_rnn_sum_unit(node->op, want.type) / scale;
    double variance = ((cell ? 0 : 4 * u * u / 3) + s * s / 12) * sum;
    return sqrt(2 * ti_log(fmax(2, (double)tc_type_count(want.type))) * variance);
}

/* The logarithm of a sum is the difference of the largest term m and of log(sum e^(x - m)), which
 * is ln n at most: f32 has it to their last bits. */
static double difference_of(const tc_build *lw, const tc_node *node, tc_tensor want)
{
    if (node->op != TC_OP_logsumexp || !ti_is_float(want.type->dtype))
        return 0;
    return 0x1p-22 * (largest(want) + ti_log((double)terms_of(lw->rw->from, node)));
}

/* A recurrent layer blends values up to 1, or to its initial state: f32 has the result to their
 * last bits. */
static double blend_of(const tc_node *node, const tc_tensor *in, tc_tensor want)
{
    bool blends = is_recurrent(node) && ti_is_float(want.type->dtype);
    return blends ? 0x1p-22 * fmax(1, largest(in[1])) : 0;
}

/* Scores s of attention that are rounded twice, 2^-23 s apart, give shares of the values that are
 * e^that apart, and so again what they are divided by. */
static double shares_of(const tc_node *node, const tc_tensor *in, tc_tensor want)
{
    if (node->op != TC_OP_sdpa || !ti_is_float(want.type->dtype) || !in[0].type->rank)
        return 0;
    const tc_attr_sdpa *a = node->attr;
    double terms = (double)in[0].type->dim[in[0].type->rank - 1];
    double score = fabs(a->scale) * terms * largest(in[0]) * largest(in[1]);
    return 0x1p-22 * score * largest(in[2]);
}

/* In steps of the result, or in its own unit. */
static double by_size(const tc_build *lw, const tc_node *node, const tc_tensor *in, tc_tensor want)
{
    const tc_quant *q = want.type->quant;
    double step = q ? q->scale[0] : 1;
    if (!node->n_in || !node->in[0] || (!q && !ti_is_float(want.type->dtype)))
        return 0;
    return long_sum(lw, node, in, largest(want) * step) / step + carried_steps(lw, node, want) +
           difference_of(lw, node, want) + shares_of(node, in, want) + blend_of(node, in, want);
}

static tc_status wrong(const tc_build *lw, const tc_node *node, int i, difference d, tc_tensor got,
                       tc_tensor want)
{
    const tc_type *t = want.type;
    const char *name = lw->rw->from->val[node->out[i]]->name;
    ti_error(lw->ctx, node->loc, TC_E_PROMISE,
             "'%s' (%s) became TOSA that is off by %.3g%s at element %" PRId64
             ": %.9g, expected %.9g, allowed %.3g",
             name ? name : "?", tc_ops[node->op].name, d.most, t->quant ? " steps" : "", d.at,
             ti_load_f64(got, d.at), ti_load_f64(want, d.at), d.allowed);
    return TC_BUG;
}

static tc_status compare_node(const tc_build *lw, const tc_node *node, const tc_tensor *at,
                              tc_arena *arena)
{
    tc_tensor *in = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
    tc_tensor *out = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = typed(lw, at, node->in[i]);
        if (node->in[i] && !in[i].data)
            return TC_OK; /* lowered together with its reader */
    }
    /* Evaluation reads the graph only. */
    TC_TRY(ti_eval_node((tc_graph *)(uintptr_t)lw->rw->from, node, in, out, arena));
    bool overflows = may_overflow(lw, node, in);
    for (int i = 0; i < node->n_out; i++) {
        tc_tensor got = typed(lw, at, node->out[i]);
        if (!got.data)
            continue;
        difference d = compare(got, out[i], overflows, band_slack(node, in, out[i], arena));
        d.allowed += coarse_steps(lw, node) + wide_steps(lw, node, out[i]);
        d.allowed += d.most > d.allowed ? by_size(lw, node, in, out[i]) : 0;
        if (d.most > d.allowed)
            return wrong(lw, node, i, d, got, out[i]);
    }
    return TC_OK;
}

tc_status ti_lower_compare(const tc_build *lw, const tc_tensor *in)
{
    tc_arena arena;
    ti_arena_init_like(&arena, &lw->ctx->arena);
    tc_tensor *at = tc_new_n(&arena, tc_tensor, lw->g->n_val);
    tc_status status = ti_eval_all(lw->g, in, at, &arena);
    for (size_t k = 0; k < lw->rw->from->n_node && status == TC_OK; k++) {
        const tc_node *node = lw->rw->from->node[k];
        if (node->op == TC_OP_const ||
            (tc_ops[node->op].traits & T_CONTROL)) /* its graphs are TOSA by now */
            continue;
        tc_mark mark = ti_arena_mark(&arena);
        status = compare_node(lw, node, at, &arena);
        ti_arena_rewind(&arena, mark);
    }
    ti_arena_free(&arena);
    return status;
}
