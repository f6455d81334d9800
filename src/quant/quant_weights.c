/* SPDX-License-Identifier: Apache-2.0 */
/* quant_weights.c -- constants in integers.
 *
 *   weights   s[c] = largest magnitude of channel c / qmax                zero 0
 *             with observer mse: the s[c] of the least squared error
 *             in groups of input channels: see weight_grid.c
 *             times `step`: fewer codes, which a coded stream holds in fewer bits
 *   bias      s[c] = s_input * s_weight[c], 32 bits (48 for 16-bit input)  zero 0
 *   others    their own range; next to scores, the scores' domain
 *
 * A constant that two readers want in the same type is stored once. */
#include "apply.h"

#include <math.h>

#include "../base/mapped.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "../run/eval.h"
#include "weight_grid.h"
#include "observations.h"

/* ---- numbers ---- */

/* A value that depends on constants only, computed here if not yet folded. */
static tc_status evaluate(tc_apply *a, tc_val v, tc_tensor *out)
{
    const tc_graph *g = a->rw->from;
    *out = ti_tensor_of(g, v);
    if (!v || out->data)
        return TC_OK;
    tc_ctx *ctx = a->rw->ctx;
    const tc_node *def = ti_def(g, v);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, (size_t)def->n_in + 1);
    tc_tensor *result = tc_new_n(&ctx->arena, tc_tensor, (size_t)def->n_out);
    for (int i = 0; i < def->n_in; i++)
        TC_TRY(evaluate(a, def->in[i], &in[i]));
    TC_TRY(ti_eval_node((tc_graph *)(uintptr_t)g, def, in, result, &ctx->arena));
    *out = result[g->val[v]->index];
    return TC_OK;
}

/* Old constant v as codes of that type; weights: how they are rounded, or NULL for other
 * constants. */
static tc_status put_codes(tc_apply *a, tc_val v, const tc_type *type, const tc_setting *weights,
                           const tc_loc *loc, tc_val *out)
{
    struct {
        const tc_type *type;
        uint64_t v;
    } key = {type, v};
    void **made = ti_map_at(&a->made, (tc_str){(const char *)&key, sizeof key});
    if (!*made) {
        tc_rewrite *rw = a->rw;
        tc_tensor real, codes = {type, NULL};
        TC_TRY(evaluate(a, v, &real));
        if (weights)
            codes = ti_known_weights(a->config, rw->from->val[v]->name, real, type);
        bool known = codes.data && codes.type == type;
        if (!known)
            codes = ti_tensor_new(&rw->ctx->arena, type);
        if (known) {
            /* another program's codes */
        } else if (weights && weights->group) {
            tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
            tc_lattice l = ti_lattice_of(rw->ctx, &rw->ctx->scratch, real, type->quant, weights,
                                         (tc_importance){NULL, 1});
            ti_lattice_round(&l, real, codes);
            ti_arena_rewind(&rw->ctx->scratch, mark);
        } else
            ti_quantize_into(real, codes);
        ti_mapped_forget(rw->ctx, real.data, tc_type_bytes(real.type));
        const tc_node *def = ti_def(rw->from, v);
        tc_val val =
            ti_graph_const(rw->to, type, codes.data, rw->from->val[v]->name, def ? def->loc : loc);
        *made = (void *)(uintptr_t)val;
    }
    *out = (tc_val)(uintptr_t)*made;
    return TC_OK;
}

tc_status ti_apply_constant(tc_apply *a, tc_val v, const tc_type *type, const tc_loc *loc,
                            tc_val *out)
{
    return put_codes(a, v, type, NULL, loc, out);
}

/* ---- weights ---- */

/* The largest magnitude in each channel along the axis (-1: all in one). */
static void magnitudes(tc_tensor w, int axis, int64_t n, float *out)
{
    const float *x = w.data;
    int64_t inner = 1, count = tc_type_count(w.type);
    for (int i = axis + 1; axis >= 0 && i < w.type->rank; i++)
        inner *= w.type->dim[i];
    for (int64_t i = 0; i < count; i++) {
        float m = fabsf(x[i]);
        int64_t c = axis >= 0 ? i / inner % n : 0;
        if (m > out[c] && m < (float)INFINITY)
            out[c] = m;
    }
}

/* The mean of those that are not 0. */
static float usual_magnitude(const float *most, int64_t n)
{
    double sum = 0;
    int64_t some = 0;
    for (int64_t c = 0; c < n; c++) {
        sum += (double)most[c];
        some += most[c] > 0;
    }
    return some ? (float)(sum / (double)some) : 0;
}

/* A channel's scale, from its largest magnitude m and the layer's usual one.  Coarse codes of all
 * channels are one coded stream, which costs what its mean square does, and noise grows with the
 * square of scales: least of both lies half way, by logarithm, between scales for each channel and
 * one for all. */
static float channel_scale(const tc_setting *s, float m, float usual)
{
    float top = (float)ti_lattice_top(s), step = (float)ti_setting_step(s);
    return step > 1 ? fmaxf(step * sqrtf(m * usual), m) / top : m / top;
}

/* The least weight scale with which element i of the bias fits the accumulator, with a bit to
   spare.
 */
static double bias_needs(const tc_apply *a, const tc_type *x, tc_tensor bias, int64_t i)
{
    double most = tc_dtypes[x->dtype].bits > 8 ? 0x1p46 : 0x1p30;
    return a->config->anchor ? 0 : fabs(ti_load_f64(bias, i)) / (x->quant->scale[0] * most);
}

/* The type of weights v in another program, if the bias fits with it. */
static const tc_type *known_type(const tc_apply *a, tc_val v, const tc_type *x, tc_tensor w,
                                 tc_tensor bias, const tc_type *own)
{
    const tc_type *type =
        ti_known_weights(a->config, a->rw->from->val[v]->name, w, own).type;
    for (int64_t k = 0; type && bias.data && k < tc_type_count(bias.type); k++)
        if (type->quant->scale[k % type->quant->count] < bias_needs(a, x, bias, k))
            return own;
    return type ? type : own;
}

static tc_status weight_type(tc_apply *a, const tc_node *node, tc_val v, const tc_type *x, tc_tensor w,
                             const tc_type **out)
{
    tc_ctx *ctx = a->rw->ctx;
    const tc_setting *s = &a->flow.scheme[node->out[0]].weight;
    int axis = s->per_channel ? ti_role_channel_axis(node, w.type) : -1, b = ti_role_bias(node);
    int64_t n = axis >= 0 ? w.type->dim[axis] : 1;
    float *most = tc_new_n(&ctx->scratch, float, (size_t)n), widest = 0;
    double *scale = tc_new_n(&ctx->scratch, double, (size_t)n);
    int64_t *zero = tc_new_n(&ctx->scratch, int64_t, (size_t)n);
    tc_tensor bias = {NULL, NULL};
    if (b >= 0 && a->flow.fixed[node->in[b]])
        TC_TRY(evaluate(a, node->in[b], &bias));
    magnitudes(w, axis, n, most);
    for (int64_t c = 0; c < n; c++)
        widest = fmaxf(widest, most[c]);
    bool search = s->observer == TC_OBSERVER_mse && !s->group;
    if (search)
        ti_weights_search(ctx, w, axis, n, s->qmax, most);
    ti_mapped_forget(ctx, w.data, tc_type_bytes(w.type));
    float usual = usual_magnitude(most, n);
    for (int64_t c = 0; c < n; c++) { /* a channel of zeros may have any scale */
        float m = most[c] > 0 ? most[c] : widest > 0 ? widest : 1;
        scale[c] = fmax((double)channel_scale(s, m, usual), (double)(float)s->floor);
        for (int64_t k = c; bias.data && k < tc_type_count(bias.type); k += n)
            scale[c] = (double)(float)fmax(scale[c], bias_needs(a, x, bias, k));
    }
    int64_t top = ti_lattice_top(s);
    tc_quant q = {axis, (int32_t)n, s->group ? -top : s->qmin, top, scale, zero};
    tc_type type = *w.type;
    /* next to 16 bits, and in groups, 4-bit weights are stored as 8-bit */
    bool spread = s->dtype == TC_i4 && (s->group || tc_dtypes[x->dtype].bits > 8);
    type.dtype = spread ? TC_i8 : s->dtype;
    type.quant = &q;
    *out = known_type(a, v, x, w, bias, ti_type_intern(ctx, &type));
    return TC_OK;
}

/* ---- bias ---- */

/* The product's activation operand in the new graph; NULL: it is not quantized. */
static const tc_type *flowing(tc_apply *a, const tc_node *node, int weight)
{
    int other = node->op == TC_OP_matmul ? 1 - weight : node->op == TC_OP_addmm ? 3 - weight : 0;
    return ti_apply_read(a, node, node->in[other]);
}

/* Channel c's weight scale; with groups a transposed product's channels repeat those of one
 * group. */
static double weight_scale(const tc_type *w, int64_t c)
{
    return w->quant->scale[c % w->quant->count];
}

static tc_status make_bias(tc_apply *a, tc_val v, const tc_type *x, const tc_type *w, tc_val *out)
{
    tc_rewrite *rw = a->rw;
    tc_ctx *ctx = rw->ctx;
    tc_tensor real;
    TC_TRY(evaluate(a, v, &real));
    int64_t n = real.type->rank ? real.type->dim[real.type->rank - 1] : 1;
    bool wide = tc_dtypes[x->dtype].bits > 8, channels = w->quant->count > 1 && real.type->rank;
    int64_t *zero = tc_new_n(&ctx->scratch, int64_t, (size_t)n);
    double *scale = tc_new_n(&ctx->scratch, double, (size_t)n);
    for (int64_t c = 0; c < n; c++)
        scale[c] = (double)(float)(x->quant->scale[0] * weight_scale(w, c));
    tc_type type = *real.type;
    type.dtype = wide ? TC_i48 : TC_i32;
    int64_t most = ti_dtype_max(type.dtype), least = wide ? ti_dtype_min(type.dtype) : -most;
    tc_quant q = {
        channels ? type.rank - 1 : -1, channels ? (int32_t)n : 1, least, most, scale, zero};
    type.quant = &q;
    tc_tensor codes = ti_tensor_new(&ctx->arena, ti_type_intern(ctx, &type));
    for (int64_t i = 0; i < tc_type_count(&type); i++) {
        double code = nearbyint(ti_load_f64(real, i) / scale[channels ? i % n : 0]);
        ti_store_i64(codes, i,
                     code < (double)least  ? least
                     : code < (double)most ? (int64_t)code
                                           : most);
    }
    const tc_value *old = rw->from->val[v];
    *out = ti_graph_const(rw->to, codes.type, codes.data, old->name, old->def->loc);
    return TC_OK;
}

/* The type that the weights of the product have, constant or not; x: what they meet. */
static tc_status weights_of(tc_apply *a, const tc_node *node, int i, const tc_type *x,
                            const tc_type **out)
{
    tc_tensor w;
    *out = ti_apply_read(a, node, node->in[i]);
    if (*out || !a->flow.fixed[node->in[i]])
        return TC_OK;
    TC_TRY(evaluate(a, node->in[i], &w));
    return weight_type(a, node, node->in[i], x, w, out);
}

static tc_status bias(tc_apply *a, const tc_node *node, int i, tc_val *out)
{
    int weight = node->op == TC_OP_addmm ? 2 : 1;
    const tc_type *x = flowing(a, node, weight), *w;
    if (!x)
        return ti_apply_real(a, node->in[i], node->loc, out);
    TC_TRY(weights_of(a, node, weight, x, &w));
    if (!w)
        return ti_apply_real(a, node->in[i], node->loc, out);
    return make_bias(a, node->in[i], x, w, out);
}

/* ---- ordinary values ---- */

static const double LEAST_CONSTANT = 0x1p-120;

/* A constant that grows with a size: its elements at the largest size count too. */
static void see_largest(const tc_apply *a, tc_val v, tc_ends *ends)
{
    const tc_graph *g = a->config->largest;
    tc_tensor t = g && v < g->n_val ? ti_tensor_of(g, v) : (tc_tensor){NULL, NULL};
    if (t.data && t.type->dtype == TC_f32 && t.type->rank == ti_type_of(a->rw->from, v)->rank)
        ti_ends_see(ends, t.data, tc_type_count(t.type));
}

tc_status ti_apply_own(tc_apply *a, tc_val v, tc_setting s, const tc_type **out)
{
    tc_tensor real;
    tc_ends ends = ti_ends_none();
    TC_TRY(evaluate(a, v, &real));
    ti_ends_see(&ends, real.data, tc_type_count(real.type));
    see_largest(a, v, &ends);
    if (!a->config->anchor && ends.lo <= ends.hi && (ends.lo != 0 || ends.hi != 0))
        s.floor = LEAST_CONSTANT; /* what was observed may be noise; these values are intended */
    tc_grid grid = s.observer == TC_OBSERVER_fixed
                       ? (tc_grid){(double)(float)s.scale, s.zero}
                       : ti_grid_of(&s, (double)ends.lo, (double)ends.hi);
    *out = ti_apply_type(a->rw->ctx, real.type, s.dtype, s.qmin, s.qmax, grid.scale, grid.zero);
    return TC_OK;
}

/* Infinities, or values that stand for them. */
static tc_status is_unbounded(tc_apply *a, tc_val v, bool *out)
{
    tc_tensor real;
    TC_TRY(evaluate(a, v, &real));
    *out = false;
    for (int64_t i = 0; i < tc_type_count(real.type) && !*out; i++)
        *out = !(fabsf(((const float *)real.data)[i]) < TC_HUGE);
    return TC_OK;
}

/* Whether the node's result depends on operand v only as "far away".  A factor of 300, or an
 * operand of a difference of similar size, is an ordinary value. */
static tc_status is_far(tc_apply *a, const tc_node *node, tc_val v, bool *out)
{
    tc_op op = node->op;
    tc_val y = node->out[0];
    bool arithmetic = op == TC_OP_add || op == TC_OP_sub || op == TC_OP_mul || op == TC_OP_div;
    *out = a->flow.huge[v];
    if (!*out || !arithmetic || a->flow.huge[y] || a->flow.score[y])
        return TC_OK;
    return is_unbounded(a, v, out);
}

/* A summand or a bound of powers: their codes, and at least 1 of what is positive, since the
 * logarithm of 0 is far from that of any number. */
static tc_status among_powers(tc_apply *a, tc_val v, const tc_type *result, const tc_loc *loc,
                              tc_val *out)
{
    tc_type type = *ti_type_of(a->rw->from, v);
    tc_tensor real;
    type.dtype = result->dtype;
    type.quant = result->quant;
    TC_TRY(put_codes(a, v, ti_type_intern(a->rw->ctx, &type), NULL, loc, out));
    TC_TRY(evaluate(a, v, &real));
    int32_t *code = (int32_t *)(uintptr_t)ti_tensor_of(a->rw->to, *out).data;
    for (int64_t i = 0; i < tc_type_count(real.type); i++)
        if (code[i] == 0 && ti_load_f64(real, i) > 0)
            code[i] = 1;
    return TC_OK;
}

/* The result's domain, if it is a power spectrum's. */
static const tc_domain *spectral(const tc_apply *a, const tc_node *node, tc_spectral kind)
{
    int32_t of = a->domains->of[node->out[0]];
    const tc_domain *d = of >= 0 ? &a->domains->domain[of] : NULL;
    return d && d->spectral == kind && d->setting.dtype == TC_i32 ? d : NULL;
}

/* The range of its own elements, of the result's kind; NULL: it stays real. */
static tc_status own_type(tc_apply *a, const tc_node *node, int i, const tc_type **out)
{
    tc_val v = node->in[i];
    const tc_type *result = ti_apply_domain(a, node->out[0]);
    tc_setting s = a->flow.scheme[node->out[0]].act;
    if (result)
        s = a->domains->domain[a->domains->of[node->out[0]]].setting;
    if (spectral(a, node, TC_SPECTRAL_part) || spectral(a, node, TC_SPECTRAL_power))
        s = (tc_setting){.dtype = TC_i16, .qmin = -32767, .qmax = 32767, .symmetric = true};
    bool far;
    TC_TRY(is_far(a, node, v, &far));
    if (!far) {
        TC_TRY(ti_apply_own(a, v, s, out));
        bool masks = result && a->domains->domain[a->domains->of[node->out[0]]].unmasked >= 0;
        if (!masks || (*out)->quant->scale[0] <= result->quant->scale[0])
            return TC_OK;
    }
    *out = NULL;
    if (result) { /* far or infinite values saturate where the result does */
        tc_type type = *ti_type_of(a->rw->from, v);
        type.dtype = result->dtype;
        type.quant = result->quant;
        *out = ti_type_intern(a->rw->ctx, &type);
    }
    return TC_OK;
}

tc_status ti_apply_fixed_operand(tc_apply *a, const tc_node *node, int i, tc_val *out)
{
    tc_mark mark = ti_arena_mark(&a->rw->ctx->scratch);
    const tc_type *x = NULL, *type = NULL;
    tc_status status = TC_OK;
    bool weight = ti_role_weight(node, i), is_bias = ti_role_bias(node) == i;
    const tc_setting *how = &a->flow.scheme[node->out[0]].weight;
    bool sums = node->op == TC_OP_add || node->op == TC_OP_maximum || node->op == TC_OP_hypot;
    if (sums && spectral(a, node, TC_SPECTRAL_power)) {
        status = among_powers(a, node->in[i], ti_apply_domain(a, node->out[0]), node->loc, out);
        ti_arena_rewind(&a->rw->ctx->scratch, mark);
        return status;
    }
    if (is_bias)
        status = bias(a, node, i, out);
    else if (weight) {
        x = how->dtype != TC_none ? flowing(a, node, i) : NULL;
        if (x)
            status = weights_of(a, node, i, x, &type);
    } else
        status = own_type(a, node, i, &type);
    if (status == TC_OK && type)
        status = put_codes(a, node->in[i], type, weight ? how : NULL, node->loc, out);
    else if (status == TC_OK && !is_bias)
        status = ti_apply_real(a, node->in[i], node->loc, out);
    ti_arena_rewind(&a->rw->ctx->scratch, mark);
    return status;
}
