/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_select.c -- the pass `select-tflm-operators`: see tflm_select.h.
 *
 * TFLM-specific expansions, tried before ExecuTorch's. */
#include <math.h>
#include <stdlib.h>

#include "../num/load.h"
#include "tflm_forms.h"
#include "tflm_select.h"

/* ---- codes ---- */

/* Sums of 32 bits, which QUANTIZE does not make: divided, rounded and cast. */
static bool quantize_sum(tc_build *m, const tc_type *to)
{
    const tc_quant *q = to->quant;
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < to->rank; i++)
        dim[i] = i == q->axis ? to->dim[i] : 1;
    tc_tensor scale = ti_b_tensor(m, TC_f32, to->rank, dim);
    for (int64_t i = 0; i < q->count; i++) {
        if (q->zero[i])
            return false;
        ti_store_f64(scale, i, q->scale[i]);
    }
    tc_val x = ti_b_div(m, ti_b_in(m, 0), ti_b_const(m, scale, NULL));
    x = ti_b_1(m, round, ti_b_attr(m, round, 0), x);
    ti_cpu_give(m, 0, ti_b_typed(m, TC_OP_tosa_cast, NULL, &x, 1, to));
    return true;
}

/* QUANTIZE divides in f32 and rounds halves away from zero, to all codes of the type. */
static bool form_quantize(tc_build *m)
{
    const tc_attr_quantize *a = m->node->attr;
    const tc_type *to = ti_b_out_type(m, 0);
    tc_val x = ti_b_in(m, 0);
    int64_t lo = ti_dtype_min(to->dtype), hi = ti_dtype_max(to->dtype);
    if (to->dtype == TC_i32 && to->quant)
        return quantize_sum(m, to);
    if (m->node->n_in != 1 || a->axis >= 0 || !(a->scale > 0) || (a->away && a->divides &&
        a->qmin <= lo && a->qmax >= hi))
        return false;
    bool narrow = a->qmin > lo || a->qmax < hi;
    if (narrow)
        x = ti_b_clamp(m, x, (double)(a->qmin - a->zero) * a->scale,
                       (double)(a->qmax - a->zero) * a->scale);
    tc_attr_quantize whole = *a;
    whole.qmin = lo;
    whole.qmax = hi;
    whole.divides = whole.away = true;
    ti_cpu_give(m, 0, ti_b_typed(m, TC_OP_quantize, ti_b_keep(m, &whole), &x, 1, to));
    return true;
}

/* Codes as integers, whatever their scale: CAST ignores it. */
static bool form_dequantize(tc_build *m)
{
    const tc_attr_quantize *a = m->node->attr;
    if (a->scale != 1 || a->axis >= 0 || m->node->n_in != 1)
        return false;
    tc_val x = ti_b_tosa_cast(m, ti_b_in(m, 0), TC_f32);
    return ti_cpu_done(m, a->zero ? ti_b_add_n(m, x, -(double)a->zero) : x);
}

/* ---- scalars ---- */

static bool form_clamp(tc_build *m)
{
    const tc_attr_clamp *a = m->node->attr;
    tc_val x = ti_b_in(m, 0);
    if (isfinite(a->lo))
        x = ti_b_maximum(m, x, ti_b_number(m, x, a->lo));
    if (isfinite(a->hi))
        x = ti_b_minimum(m, x, ti_b_number(m, x, a->hi));
    return ti_cpu_done(m, x);
}

/* Whether axis i of an operand of `out` shape has one element, where the result has more. */
static bool is_spread(const tc_type *t, const tc_type *out, int i)
{
    int at = i - (out->rank - t->rank);
    return out->dim[i] != 1 && (at < 0 || t->dim[at] == 1);
}

/* Axes that each operand has, or spreads over, alike become one: kernels broadcast over few. */
static bool form_few_axes(tc_build *m)
{
    enum { MOST = 3, FEW = 4 };
    const tc_type *out = ti_b_out_type(m, 0);
    int n = m->node->n_in, group[TC_MAX_RANK] = {0}, last = 0;
    if (n > MOST || out->rank <= FEW || m->node->n_out != 1)
        return false;
    for (int i = 1; i < out->rank; i++) {
        bool alike = true;
        for (int k = 0; k < n; k++)
            alike = alike && is_spread(ti_b_in_type(m, k), out, i) == is_spread(ti_b_in_type(m, k), out, i - 1);
        last += !alike && out->dim[i] != 1;
        group[i] = last;
    }
    if (last + 1 >= out->rank)
        return false;
    tc_val in[MOST];
    for (int k = 0; k < n; k++) {
        const tc_type *t = ti_b_in_type(m, k);
        int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        for (int i = out->rank - t->rank; i < out->rank; i++)
            dim[group[i]] *= t->dim[i - (out->rank - t->rank)];
        in[k] = ti_b_reshape(m, ti_b_in(m, k), last + 1, dim);
    }
    tc_val y = ti_b_op(m, m->node->op, m->node->attr, in, n);
    ti_cpu_give(m, 0, ti_b_reshape(m, y, out->rank, out->dim));
    return true;
}

static bool form_sum_of(tc_build *m, tc_op op)
{
    const tc_attr_alpha *a = m->node->attr;
    if (a->alpha == 1)
        return form_few_axes(m);
    tc_val y = ti_b_mul_n(m, ti_b_in(m, 1), a->alpha);
    return ti_cpu_done(m, ti_b_binary(m, op, ti_b_in(m, 0), y));
}

static bool form_add(tc_build *m) { return form_sum_of(m, TC_OP_add); }
static bool form_sub(tc_build *m) { return form_sum_of(m, TC_OP_sub); }

static bool form_reciprocal(tc_build *m)
{
    tc_val x = ti_cpu_real(m, 0);
    return ti_cpu_done(m, ti_b_div(m, ti_b_number(m, x, 1), x));
}

/* Statistics over the last axes, then weight and bias. */
static bool form_layer_norm(tc_build *m)
{
    const tc_attr_layer_norm *a = m->node->attr;
    tc_val x = ti_cpu_real(m, 0), w = ti_b_in(m, 1), b = ti_b_in(m, 2);
    const tc_type *t = ti_b_type(m, x);
    TC_STOP_WITH(m, true);
    int64_t axis[TC_MAX_RANK];
    int n = (int)a->n_axes;
    for (int i = 0; i < n; i++)
        axis[i] = t->rank - n + i;
    tc_val mean = ti_b_reduce(m, TC_OP_mean, x, axis, n, true);
    tc_val d = ti_b_sub(m, x, mean);
    tc_val var = ti_b_reduce(m, TC_OP_mean, ti_b_square(m, d), axis, n, true);
    tc_val y = ti_b_mul(m, d, ti_b_rsqrt(m, ti_b_add_n(m, var, a->eps)));
    if (w)
        y = ti_b_mul(m, y, w);
    if (b)
        y = ti_b_add(m, y, b);
    return ti_cpu_done(m, y);
}

/* By channel, which is axis 1. */
static bool form_batch_norm(tc_build *m)
{
    const tc_attr_eps *a = m->node->attr;
    tc_val x = ti_cpu_real(m, 0), of[4];
    const tc_type *t = ti_b_type(m, x);
    TC_STOP_WITH(m, true);
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        dim[i] = i == 1 ? t->dim[1] : 1;
    for (int i = 0; i < 4; i++)
        of[i] = ti_b_in(m, i + 1) ? ti_b_reshape(m, ti_b_in(m, i + 1), t->rank, dim) : TC_NONE;
    enum { WEIGHT, BIAS, MEAN, VAR };
    tc_val scale = ti_b_rsqrt(m, ti_b_add_n(m, of[VAR], a->eps));
    tc_val y = ti_b_mul(m, ti_b_sub(m, x, of[MEAN]), scale);
    y = of[WEIGHT] ? ti_b_mul(m, y, of[WEIGHT]) : y;
    return ti_cpu_done(m, of[BIAS] ? ti_b_add(m, y, of[BIAS]) : y);
}

/* An axis that is not the last is moved there and back. */
static bool on_last_axis(tc_build *m)
{
    const tc_attr_axis *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int last = t->rank - 1;
    if (a->axis == last || last < 1)
        return false;
    tc_val x = ti_b_swap(m, ti_b_in(m, 0), (int)a->axis, last);
    x = ti_b_op(m, m->node->op, ti_b_attr(m, axis, last), &x, 1);
    return ti_cpu_done(m, ti_b_swap(m, x, (int)a->axis, last));
}

/* ---- movement ---- */

static bool form_select(tc_build *m)
{
    const tc_attr_select *a = m->node->attr;
    tc_val x = ti_b_slice(m, ti_b_in(m, 0), a->axis, a->index, a->index + 1, 1);
    const tc_type *t = ti_b_out_type(m, 0);
    ti_cpu_give(m, 0, ti_b_reshape(m, x, t->rank, t->dim));
    return true;
}

static bool form_split(tc_build *m)
{
    const tc_attr_split *a = m->node->attr;
    int64_t at = 0;
    for (int i = 0; i < m->node->n_out; at += a->sizes.v[i++])
        if (ti_b_is_read(m, i))
            ti_cpu_give(m, i, ti_b_slice(m, ti_b_in(m, 0), a->axis, at, at + a->sizes.v[i], 1));
    return true;
}

static bool form_unbind(tc_build *m)
{
    const tc_attr_axis *a = m->node->attr;
    for (int i = 0; i < m->node->n_out; i++) {
        if (!ti_b_is_read(m, i))
            continue;
        const tc_type *t = ti_b_out_type(m, i);
        tc_val x = ti_b_slice(m, ti_b_in(m, 0), a->axis, i, i + 1, 1);
        ti_cpu_give(m, i, ti_b_reshape(m, x, t->rank, t->dim));
    }
    return true;
}

static bool form_stack(tc_build *m)
{
    const tc_attr_axis *a = m->node->attr;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)m->node->n_in);
    for (int i = 0; i < m->node->n_in; i++)
        in[i] = ti_b_unsqueeze(m, ti_b_in(m, i), a->axis);
    ti_cpu_give(m, 0, ti_b_cat(m, a->axis, in, m->node->n_in));
    return true;
}

/* The end of each axis before its beginning. */
static bool form_roll(tc_build *m)
{
    const tc_attr_roll *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    tc_val x = ti_b_in(m, 0);
    for (int i = 0; i < a->axes.n; i++) {
        int64_t axis = a->axes.v[i], n = t->dim[axis], from = n ? ((-a->shifts.v[i]) % n + n) % n : 0;
        if (!from)
            continue;
        tc_val part[2];
        part[0] = ti_b_slice(m, x, axis, from, n, 1);
        part[1] = ti_b_slice(m, x, axis, 0, from, 1);
        x = ti_b_cat(m, axis, part, 2);
    }
    return ti_cpu_done(m, x);
}

/* Axes of one element are left out, and those that stay neighbours become one: TRANSPOSE takes few. */
static bool form_permute(tc_build *m)
{
    const tc_ints perm = ((const tc_attr_perm *)m->node->attr)->perm;
    const tc_type *t = ti_b_in_type(m, 0), *out = ti_b_out_type(m, 0);
    int64_t dim[TC_MAX_RANK], moved[TC_MAX_RANK], before = -1;
    int at[TC_MAX_RANK], group[TC_MAX_RANK], n = 0; /* by the result's axis; by the operand's */
    for (int i = 0; i < perm.n; i++) {
        int64_t axis = perm.v[i];
        if (t->dim[axis] == 1)
            continue;
        bool next = before >= 0;
        for (int64_t k = before + 1; k < axis && next; k++)
            next = t->dim[k] == 1;
        next = next && axis > before;
        if (!next)
            at[n++] = (int)axis;
        group[axis] = n - 1;
        before = axis;
    }
    if (n < 2 || n >= perm.n)
        return false;
    int order[TC_MAX_RANK] = {0}; /* groups by their first axis of the operand */
    for (int g = 0; g < n; g++)
        for (int k = 0; k < n; k++)
            order[g] += at[k] < at[g];
    for (int g = 0; g < n; g++) {
        dim[order[g]] = 1;
        moved[g] = order[g];
    }
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != 1)
            dim[order[group[i]]] *= t->dim[i];
    tc_val y = ti_b_permute(m, ti_b_reshape(m, ti_b_in(m, 0), n, dim), moved);
    ti_cpu_give(m, 0, ti_b_reshape(m, y, out->rank, out->dim));
    return true;
}

/* In groups of as many as there may be, whose joints are joined. */
static bool form_cat(tc_build *m)
{
    const tc_attr_axis *a = m->node->attr;
    int n = m->node->n_in, groups = 0;
    if (n <= TC_TFLM_MOST_JOINED)
        return false;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n);
    for (int i = 0; i < n; i++)
        in[i] = ti_b_in(m, i);
    for (int i = 0, some; i < n; i += some) {
        some = n - i < TC_TFLM_MOST_JOINED ? n - i : TC_TFLM_MOST_JOINED;
        in[groups++] = some > 1 ? ti_b_cat(m, a->axis, in + i, some) : in[i];
    }
    return ti_cpu_done(m, ti_b_cat(m, a->axis, in, groups));
}

/* ---- the pass ---- */

static tc_cpu_form *const own[TC_OP_COUNT] = {
    [TC_OP_quantize] = form_quantize,   [TC_OP_dequantize] = form_dequantize,
    [TC_OP_clamp] = form_clamp,         [TC_OP_sum] = ti_tflm_form_sum,
    [TC_OP_all] = ti_tflm_form_all,     [TC_OP_any] = ti_tflm_form_any,
    [TC_OP_prod] = ti_tflm_form_prod,   [TC_OP_argmax] = ti_tflm_form_arg,
    [TC_OP_max_dim] = ti_tflm_form_extreme, [TC_OP_min_dim] = ti_tflm_form_extreme,
    [TC_OP_isnan] = ti_tflm_form_isnan,
    [TC_OP_argmin] = ti_tflm_form_arg,  [TC_OP_where] = ti_tflm_form_where,
    [TC_OP_add] = form_add,             [TC_OP_sub] = form_sub,
    [TC_OP_reciprocal] = form_reciprocal, [TC_OP_cast] = ti_tflm_form_cast,
    [TC_OP_layer_norm] = form_layer_norm, [TC_OP_softmax] = on_last_axis,
    [TC_OP_log_softmax] = on_last_axis, [TC_OP_select] = form_select,
    [TC_OP_split] = form_split,         [TC_OP_unbind] = form_unbind,
    [TC_OP_cat] = form_cat,             [TC_OP_roll] = form_roll,
    [TC_OP_permute] = form_permute,
    [TC_OP_stack] = form_stack,         [TC_OP_conv] = ti_tflm_form_conv,
    [TC_OP_max_pool] = ti_tflm_form_max_pool, [TC_OP_avg_pool] = ti_tflm_form_avg_pool,
    [TC_OP_batch_norm] = form_batch_norm, [TC_OP_adaptive_avg_pool] = ti_tflm_form_adaptive,
    [TC_OP_conv_transpose] = ti_tflm_form_conv_transpose,
    [TC_OP_upsample_nearest] = ti_tflm_form_upsample,
    [TC_OP_upsample_nearest_exact] = ti_tflm_form_upsample,
    [TC_OP_upsample_linear] = ti_tflm_form_upsample,
    [TC_OP_upsample_cubic] = ti_tflm_form_upsample,
};

static bool has_few(tc_op op)
{
    return TC_OP_IN(op, TC_OP_mul, TC_OP_div, TC_OP_maximum, TC_OP_minimum, TC_OP_eq, TC_OP_ne, TC_OP_lt,
                    TC_OP_le, TC_OP_gt, TC_OP_ge, TC_OP_logical_and, TC_OP_logical_or);
}

static tc_cpu_form *own_form(tc_op op) { return has_few(op) ? form_few_axes : own[op]; }

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): within 0.0005 of the form by erf. */
static bool form_gelu(tc_build *m)
{
    const double sqrt_2_pi = 0.79788456080286536;
    tc_val x = ti_cpu_real(m, 0);
    tc_val cube = ti_b_mul(m, ti_b_square(m, x), x);
    tc_val sum = ti_b_add(m, x, ti_b_mul_n(m, cube, 0.044715));
    tc_val t = ti_b_1(m, tanh, NULL, ti_b_mul_n(m, sum, sqrt_2_pi));
    tc_val half = ti_b_mul_n(m, x, 0.5);
    return ti_cpu_done(m, ti_b_add(m, half, ti_b_mul(m, half, t)));
}

/* Of 8 bits that come and go, near is enough. */
static tc_cpu_form *form_between_codes(tc_op op) { return op == TC_OP_gelu ? form_gelu : own_form(op); }

/* Of a change of domain only what the file encodes the same way. */
static bool is_ready(const tc_graph *g, const tc_node *node)
{
    const tc_attr_quantize *a = node->attr;
    if (node->op == TC_OP_quantize && !(a->divides && a->away))
        return false;
    if (node->op == TC_OP_tflite_op || tc_ops[node->op].traits & T_CONST) /* which are folded */
        return true;
    return ti_tflm_row_for(g, node) || ti_tflm_is_result_alone(g, node);
}

/* What stays of i64 has no builtin: the way out is in the model. */
static void tell_way_out(tc_ctx *ctx, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        const tc_type *t = node->n_in ? ti_type_of(g, node->in[0]) : NULL;
        if (t && t->dtype == TC_i64 && node->op != TC_OP_tflite_op && !is_ready(g, node)) {
            ti_note(ctx, NULL, "integers of 64 bits: in the model, x.to(torch.int32) before what computes with "
                               "them; a .pte has kernels for int64");
            return;
        }
    }
}

/* Movement in parts stays on codes. */
static void tell_real(tc_ctx *ctx, const tc_module *module, const tc_node *const *node, size_t n_node)
{
    const tc_loc loc = {.file = module->file};
    const tc_node **real = tc_new_n(&ctx->arena, const tc_node *, n_node + 1);
    size_t n = 0;
    for (size_t i = 0; i < n_node; i++)
        if (!(tc_ops[node[i]->op].traits & T_MOVES && form_between_codes(node[i]->op)))
            real[n++] = node[i];
    if (!n)
        return;
    ti_warning(ctx, &loc, TC_E_FALLBACK,
               "'%s'%s computed in float: TensorFlow Lite Micro has no int8 operator for %s "
               "(--emit c has integers)",
               tc_ops[real[0]->op].name,
               n > 1 ? ti_text_format(&ctx->arena, " and %zu more operators are", n - 1) : " is",
               n > 1 ? "them" : "it");
}

tc_status ti_tflm_select_around_codes(tc_ctx *ctx, tc_module *module, const size_t *place, size_t n)
{
    const tc_graph *g = ti_main(module);
    const tc_node **real = tc_new_n(&ctx->arena, const tc_node *, n + 1);
    size_t n_real = 0;
    for (size_t i = 0; i < n; i++)
        if (ti_node_quantized(g, g->node[place[i]]))
            real[n_real++] = g->node[place[i]];
    tell_real(ctx, module, real, n_real);
    qsort(real, n_real, sizeof *real, ti_cpu_by_address);
    const tc_cpu_library tflm = {is_ready, form_between_codes, "builtin operator in TensorFlow Lite Micro",
                                 false, true, real, n_real};
    tc_status status = ti_cpu_select(ctx, module, &tflm);
    if (status != TC_OK) {
        tell_way_out(ctx, ti_main(module));
        ti_note(ctx, NULL, "--emit c has it in integers; -t cpu with a .pte has more kernels");
    }
    TC_TRY(status);
    ti_tflm_narrow_results(ctx, module);
    return TC_OK;
}

tc_status ti_tflm_select_tflm_operators(tc_ctx *ctx, tc_module *module)
{
    static const tc_cpu_library tflm = {is_ready, own_form,
                                        "builtin operator in TensorFlow Lite Micro", .only_finite = false};
    tc_status status = ti_cpu_select(ctx, module, &tflm);
    if (status != TC_OK)
        tell_way_out(ctx, ti_main(module));
    TC_TRY(status);
    ti_tflm_narrow_results(ctx, module);
    if (!module->origin.source.size) /* variables of a .tflite start as they do there */
        ti_tflm_start_state(module);
    return TC_OK;
}
