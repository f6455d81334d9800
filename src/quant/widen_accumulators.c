/* SPDX-License-Identifier: Apache-2.0 */
/* widen_accumulators.c -- every intermediate of integer arithmetic gets its own domain.
 *
 * A product of quantized operands with a real result in the typed form has an accumulator: i32 of
 * scale input x weight, by output channel; of 16-bit operands one that fits i32.  A sum has 19 (14)
 * bits below the coarser operand's step, none where the steps are equal. Movement propagates such a
 * domain.  Where a real value is needed, at the program's outputs and in other graphs, a rescale
 * converts it. */
#include <math.h>

#include "quantizer.h"

#include "../ir/build.h"

static const tc_type *wide_type(tc_ctx *ctx, const tc_type *real, tc_dtype dtype, int axis,
                                int64_t n, const double *scale)
{
    int64_t *zero = tc_new_n(&ctx->scratch, int64_t, (size_t)n);
    tc_quant q = {axis, (int32_t)n, ti_dtype_min(dtype), ti_dtype_max(dtype), scale, zero};
    tc_type type = *real;
    type.dtype = dtype;
    type.quant = &q;
    return ti_type_intern(ctx, &type);
}

static const tc_type *operand(const tc_rewrite *rw, const tc_node *node, int i)
{
    return i < node->n_in ? ti_type_of(rw->to, rw->now[node->in[i]]) : NULL;
}

/* One pair for the whole tensor, 8 or 16 bits. */
static bool narrow(const tc_type *t)
{
    return t && t->quant && t->quant->axis < 0 && t->dtype != TC_none &&
           tc_dtypes[t->dtype].bits <= 16;
}

/* The axis of the output channels of a layer, in the weights and in the result. */
static bool channel_axes(const tc_node *node, const tc_type *w, const tc_type *y, int *in_w,
                         int *in_y)
{
    int spatial = w->rank - 2;
    *in_w = node->op == TC_OP_conv_transpose ? 1 : 0;
    *in_y = node->op == TC_OP_linear ? y->rank - 1 : y->rank - 1 - spatial;
    return node->op == TC_OP_conv || node->op == TC_OP_linear ||
           (node->op == TC_OP_conv_transpose &&
            ((const tc_attr_conv_transpose *)node->attr)->groups == 1);
}

/* The domain that every reader of a value clamps it into, also after permutes; NULL when they are
 * not all clamps, or differ. */
static const tc_quant *clamped_into(const tc_rewrite *rw, tc_val v, tc_dtype *dtype)
{
    const tc_quant *q = NULL;
    for (size_t k = 0; k < rw->from->n_node; k++)
        for (int i = 0; i < rw->from->node[k]->n_in; i++) {
            const tc_node *reader = rw->from->node[k];
            if (reader->in[i] != v)
                continue;
            const tc_type *t = ti_type_of(rw->from, reader->out[0]);
            bool clamps = reader->op == TC_OP_relu || reader->op == TC_OP_clamp ||
                          reader->op == TC_OP_rescale;
            bool permutes = reader->op == TC_OP_permute && !ti_graph_gives(rw->from, reader->out[0]);
            const tc_quant *into = permutes                ? clamped_into(rw, reader->out[0], dtype)
                                   : clamps && narrow(t) ? t->quant
                                                         : NULL;
            if (!into || (q && q != into))
                return NULL;
            q = into;
            *dtype = permutes ? *dtype : t->dtype;
        }
    return q;
}

static const tc_type *in_domain(tc_ctx *ctx, const tc_type *real, tc_dtype dtype, const tc_quant *q)
{
    tc_type type = *real;
    type.dtype = dtype;
    type.quant = q;
    return ti_type_intern(ctx, &type);
}

/* A norm of each channel that is only clamped takes the clamp's domain. */
static const tc_type *normed(const tc_rewrite *rw, const tc_node *node)
{
    tc_dtype dtype = TC_none;
    const tc_quant *q =
        narrow(operand(rw, node, 0)) ? clamped_into(rw, node->out[0], &dtype) : NULL;
    return q ? in_domain(rw->ctx, ti_type_of(rw->from, node->out[0]), dtype, q) : NULL;
}

/* A function of one quantized value and constants that is only clamped: likewise. */
static const tc_type *clamped(const tc_rewrite *rw, const tc_node *node)
{
    tc_dtype dtype = TC_none;
    int values = 0;
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *t = operand(rw, node, i);
        bool fixed = node->in[i] && ti_rewrite_is_fixed(rw, rw->now[node->in[i]]);
        if (!fixed && !narrow(t))
            return NULL;
        values += !fixed;
    }
    const tc_quant *q = values == 1 ? clamped_into(rw, node->out[0], &dtype) : NULL;
    q = ti_graph_gives(rw->from, node->out[0]) ? NULL : q;
    return q ? in_domain(rw->ctx, ti_type_of(rw->from, node->out[0]), dtype, q) : NULL;
}

/* An i48 accumulator can only be rescaled.  Clamping keeps the order, so that a product which is
 * only clamped may be in the clamp's domain already; any other is i32 of one scale, coarser by what
 * k products of 16 by 8 bits need. */
static const tc_type *from_i48(const tc_rewrite *rw, const tc_node *node, const tc_type *y,
                               const double *scale, int64_t n, int64_t k)
{
    tc_dtype dtype = TC_none;
    const tc_quant *q = clamped_into(rw, node->out[0], &dtype);
    if (q && !ti_graph_gives(rw->from, node->out[0]))
        return in_domain(rw->ctx, y, dtype, q);
    double most = scale[0];
    for (int64_t c = 1; c < n; c++)
        most = fmax(most, scale[c]);
    for (; k > 256; k /= 2)
        most *= 2;
    return wide_type(rw->ctx, y, TC_i32, -1, 1, &most);
}

/* The largest |code - zero| of a type. */
static double reach(const tc_type *t)
{
    double most = 0;
    for (int64_t c = 0; c < t->quant->count; c++)
        most = fmax(most, fmax((double)t->quant->hi - (double)t->quant->zero[c],
                               (double)t->quant->zero[c] - (double)t->quant->lo));
    return most;
}

static const tc_type *accumulator(const tc_rewrite *rw, const tc_node *node)
{
    const tc_type *x = operand(rw, node, 0), *w = operand(rw, node, 1),
                  *y = ti_type_of(rw->from, node->out[0]);
    if (!narrow(x) || !w || !w->quant || tc_dtypes[w->dtype].bits > 16)
        return NULL;
    tc_dtype acc = tc_dtypes[x->dtype].bits > 8 || tc_dtypes[w->dtype].bits > 8 ? TC_i48 : TC_i32;
    int in_w, in_y;
    int64_t n = w->quant->count;
    if (!channel_axes(node, w, y, &in_w, &in_y)) {
        if (node->op != TC_OP_matmul || w->quant->axis >= 0)
            return NULL;
        in_w = -1;
    }
    if (w->quant->axis >= 0 && w->quant->axis != in_w)
        return NULL;
    double *scale = tc_new_n(&rw->ctx->scratch, double, (size_t)n);
    for (int64_t c = 0; c < n; c++)
        scale[c] = x->quant->scale[0] * w->quant->scale[c];
    int64_t k = in_w < 0 ? w->dim[w->rank - 2] : tc_type_count(w) / w->dim[in_w];
    if (acc == TC_i48)
        return from_i48(rw, node, y, scale, n, in_w < 0 ? tc_type_count(w) : k);
    if ((double)k * reach(x) * reach(w) > INT32_MAX)
        return NULL; /* i32 does not hold the sum */
    return wide_type(rw->ctx, y, acc, w->quant->axis >= 0 ? in_y : -1, n, scale);
}

static const tc_type *sum(const tc_rewrite *rw, const tc_node *node)
{
    const tc_type *x = operand(rw, node, 0), *y = operand(rw, node, 1);
    const tc_attr_alpha *a = node->attr;
    if (!narrow(x) || !narrow(y))
        return clamped(rw, node);
    if (a->alpha == 0)
        return NULL;
    int below = tc_dtypes[x->dtype].bits > 8 || tc_dtypes[y->dtype].bits > 8 ? 14 : 19;
    double sx = x->quant->scale[0], sy = fabs(a->alpha) * y->quant->scale[0];
    double scale = sx == sy ? sx : ldexp(fmax(sx, sy), -below);
    return wide_type(rw->ctx, ti_type_of(rw->from, node->out[0]), TC_i32, -1, 1, &scale);
}

/* The larger or the smaller of two: the same, without a factor. */
static const tc_type *extreme(const tc_rewrite *rw, const tc_node *node)
{
    const tc_type *x = operand(rw, node, 0), *y = operand(rw, node, 1);
    if (!narrow(x) || !narrow(y))
        return NULL;
    double sx = x->quant->scale[0], sy = y->quant->scale[0];
    double scale = sx == sy ? sx : ldexp(fmax(sx, sy), -14);
    return wide_type(rw->ctx, ti_type_of(rw->from, node->out[0]), TC_i32, -1, 1, &scale);
}

static const tc_type *multiple(const tc_rewrite *rw, const tc_node *node)
{
    const tc_type *x = operand(rw, node, 0), *y = operand(rw, node, 1);
    if (!narrow(x) || !narrow(y))
        return clamped(rw, node);
    double scale = x->quant->scale[0] * y->quant->scale[0];
    return wide_type(rw->ctx, ti_type_of(rw->from, node->out[0]), TC_i32, -1, 1, &scale);
}

static bool is_wide(const tc_type *t) { return t && t->quant && tc_dtypes[t->dtype].bits > 16; }

/* Operand i has a domain now, a wide one or that of the clamp after it. */
static bool gained(const tc_rewrite *rw, const tc_node *node, int i)
{
    const tc_type *t = operand(rw, node, i);
    return t && t->quant && ti_type_of(rw->from, node->in[i])->dtype == TC_f32;
}

/* Movement of one such value: the same domain, unless it splits the channel axis; else NULL. */
static const tc_type *moved(const tc_rewrite *rw, const tc_node *node, tc_val result)
{
    const tc_type *x = operand(rw, node, 0);
    if (!gained(rw, node, 0))
        return NULL;
    int real = 0;
    for (int i = 0; i < node->n_in; i++)
        real += operand(rw, node, i) && ti_type_of(rw->from, node->in[i])->dtype == TC_f32;
    tc_quant q = *x->quant;
    if (real != 1 || (q.axis >= 0 && node->op != TC_OP_permute))
        return NULL;
    for (int j = 0; q.axis >= 0 && j < x->rank; j++)
        if (((const tc_attr_perm *)node->attr)->perm.v[j] == x->quant->axis)
            q.axis = j;
    tc_type type = *ti_type_of(rw->from, result);
    type.dtype = x->dtype;
    type.quant = &q;
    return ti_type_intern(rw->ctx, &type);
}

static const tc_type *wide(const tc_rewrite *rw, const tc_node *node)
{
    switch (node->op) {
    case TC_OP_conv:
    case TC_OP_linear:
    case TC_OP_conv_transpose:
    case TC_OP_matmul:
        return accumulator(rw, node);
    case TC_OP_add:
    case TC_OP_sub:
        return sum(rw, node);
    case TC_OP_mul:
        return multiple(rw, node);
    case TC_OP_maximum:
    case TC_OP_minimum:
        return extreme(rw, node);
    case TC_OP_batch_norm:
        return normed(rw, node);
    default:
        return NULL;
    }
}

static tc_val as_real(tc_build *b, tc_val v)
{
    const tc_type *t = ti_b_type(b, v);
    return is_wide(t) ? ti_b_rescale(b, v, ti_type_make(b->ctx, TC_f32, t->rank, t->dim)) : v;
}

/* The node on its rewritten operands; result i has type[i]. */
static tc_status remake(tc_rewrite *rw, const tc_node *node, bool real, const tc_type *const *type)
{
    const bool *wanted = rw->user; /* by old value: a real value is needed */
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    tc_build b = ti_build_instead(rw, node);
    for (int i = 0; i < node->n_in; i++)
        in[i] = real ? as_real(&b, ti_b_in(&b, i)) : ti_b_in(&b, i);
    TC_TRY(b.status);
    tc_node *copy =
        ti_graph_add(rw->to, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        tc_value *value = rw->to->val[copy->out[i]];
        value->type = type[i];
        value->name = rw->from->val[node->out[i]]->name;
    }
    TC_TRY(ti_node_infer(rw->to, copy));
    for (int i = 0; i < node->n_out; i++)
        rw->now[node->out[i]] = wanted[node->out[i]] ? as_real(&b, copy->out[i]) : copy->out[i];
    return b.status;
}

static tc_status widen_sums(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
    if (!v || ti_type_of(rw->from, v)->dtype != TC_f32)
        return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    const tc_type *type = wide(rw, node);
    ti_arena_rewind(&rw->ctx->scratch, mark);
    *done = type != NULL;
    return type ? remake(rw, node, false, &type) : TC_OK;
}

/* Moves keep such a domain, or read real values; so do results of other graphs. */
static tc_status carry(tc_rewrite *rw, const tc_node *node, bool *done)
{
    uint32_t traits = tc_ops[node->op].traits;
    bool any = false, all = true;
    for (int i = 0; i < node->n_in; i++)
        any = any || gained(rw, node, i);
    if (!any || !(traits & (T_MOVES | T_CONTROL)))
        return TC_OK;
    const tc_type **type = tc_new_n(&rw->ctx->arena, const tc_type *, (size_t)node->n_out);
    for (int i = 0; i < node->n_out; i++) {
        type[i] = traits & T_MOVES ? moved(rw, node, node->out[i]) : NULL;
        all = all && type[i];
    }
    for (int i = 0; i < node->n_out; i++)
        type[i] = all ? type[i] : ti_type_of(rw->from, node->out[i]);
    *done = true;
    return remake(rw, node, !all, type);
}

static tc_status widen_graph(tc_ctx *ctx, tc_graph *g)
{
    static tc_rewriter *const rewriters[] = {widen_sums, carry};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *wanted = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t i = 0; i < g->n_out; i++)
        wanted[g->out[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        wanted[g->mutation[i].after] = true;
    tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), wanted);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

tc_status ti_quant_widen_accumulators(tc_ctx *ctx, tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++)
        TC_TRY(widen_graph(ctx, module->graph[i]));
    return TC_OK;
}
