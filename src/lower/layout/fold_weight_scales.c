/* SPDX-License-Identifier: Apache-2.0 */
/* fold_weight_scales.c -- typed form: constant factors after a layer fold into the scales of its
 * weights.
 *
 *   mul(layer(x, w, b), g)  =>  layer(x, w', b')     g a scalar, or one per output channel; also
 *                                                    through a permute
 *   div(layer(x, w, b), g)  =>  the same with 1 / g
 *   rescale(layer(x, w, b)) =>  layer(x, w, b) with the other output type
 *
 * w' has the codes of w, negated where g is negative, and |g| times its scales: no weight is
 * rounded again, and one rounding is removed.  Where g is 0, so is w'.  Done where the layer has no
 * other reader. */
#include "../lower_pass.h"

#include <math.h>

#include "../../ir/build.h"
#include "../../num/load.h"

/* The factors after a product, by output channel. */
typedef struct factors {
    const tc_node *product; /* of the old graph */
    const tc_node *permute;    /* the permute after it, or NULL */
    tc_val result;          /* the old value that they give */
    int64_t n;
    double *g;
} factors;

static bool is_product(const tc_graph *g, const tc_node *node)
{
    if (!node || (node->op != TC_OP_conv && node->op != TC_OP_linear) ||
        !ti_is_const(g, node->in[1]))
        return false;
    const tc_type *w = ti_type_of(g, node->in[1]);
    bool known_bias = node->n_in < 3 || !node->in[2] || ti_is_const(g, node->in[2]);
    return w->quant && w->quant->axis <= 0 && tc_type_count(w) > 0 && known_bias;
}

/* Real number i of a constant. */
static double real_at(tc_tensor t, int64_t channel, int64_t i)
{
    return t.type->quant ? ti_real(t.type, channel, ti_load_i64(t, i)) : ti_load_f64(t, i);
}

/* Which axis of the result counts the output channels. */
static int channel_axis(const tc_graph *g, const factors *f)
{
    const tc_node *product = f->product;
    int rank = ti_type_of(g, product->out[0])->rank;
    int axis =
        product->op == TC_OP_linear ? rank - 1 : rank - (ti_type_of(g, product->in[1])->rank - 1);
    for (int i = 0; f->permute && i < rank; i++)
        if (((const tc_attr_perm *)f->permute->attr)->perm.v[i] == axis)
            return i;
    return axis;
}

/* A constant that has extent 1 on every axis but the channel's, in the result's axes. */
static bool read_factors(tc_rewrite *rw, tc_val c, int axis, factors *f)
{
    const tc_type *y = ti_type_of(rw->from, f->result), *t = ti_type_of(rw->from, c);
    tc_tensor x = ti_tensor_of(rw->from, c);
    int64_t count = tc_type_count(t);
    int offset = y->rank - t->rank;
    if (t->rank > y->rank || (t->quant && t->quant->axis >= 0) || (count != 1 && count != f->n))
        return false;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != 1 && (i + offset != axis || t->dim[i] != f->n))
            return false;
    for (int64_t k = 0; k < f->n; k++)
        f->g[k] = real_at(x, 0, count == 1 ? 0 : k);
    return true;
}

static tc_type scaled_type(tc_rewrite *rw, const tc_type *t, const factors *f, tc_quant *q)
{
    bool one = t->quant->axis < 0;
    for (int64_t c = 1; c < f->n; c++)
        one = one && f->g[c] == f->g[0];
    int64_t n = one ? 1 : f->n;
    double *scale = tc_new_n(&rw->ctx->arena, double, (size_t)n);
    int64_t *zero = tc_new_n(&rw->ctx->arena, int64_t, (size_t)n);
    for (int64_t c = 0; c < n; c++) {
        int64_t k = t->quant->axis < 0 ? 0 : c;
        scale[c] = t->quant->scale[k] * (f->g[c] == 0 ? 1 : fabs(f->g[c]));
        zero[c] = t->quant->zero[k];
    }
    *q = (tc_quant){one ? -1 : 0, (int32_t)n, t->quant->lo, t->quant->hi, scale, zero};
    tc_type type = *t;
    type.quant = q;
    return type;
}

enum { SELDOM = 12 }; /* one in this many: the error of rounding all of them again */

/* Whether every negative factor applies to codes that can be negated.  The lowest one has no
 * counterpart: where it is rare, the highest replaces it, one step off. */
static bool can_negate(tc_tensor t, const factors *f)
{
    int64_t run = tc_type_count(t.type) / f->n, lo = ti_dtype_min(t.type->dtype);
    for (int64_t c = 0; c < f->n; c++) {
        int64_t zero = t.type->quant->zero[t.type->quant->axis < 0 ? 0 : c], lowest = 0;
        for (int64_t i = 0; f->g[c] < 0 && i < run; i++)
            lowest += ti_load_i64(t, c * run + i) == lo;
        if ((f->g[c] < 0 && zero) || lowest * SELDOM > run)
            return false;
    }
    return true;
}

/* Whether stored elements change: a factor is negative or 0. */
static bool changes_numbers(const factors *f)
{
    for (int64_t c = 0; c < f->n; c++)
        if (f->g[c] <= 0)
            return true;
    return false;
}

/* A stored number for a factor's sign; that of 0 is nothing. */
static int64_t signed_by(const tc_type *t, int64_t zero, int64_t code, double g)
{
    int64_t most = ti_dtype_max(t->dtype);
    return g > 0 ? code : g == 0 ? zero : -code > most ? most : -code;
}

/* Quantized: the same codes, other scales.  Real: the products. */
static tc_val scaled(tc_rewrite *rw, const tc_node *like, tc_val old, const factors *f)
{
    tc_tensor t = ti_tensor_of(rw->from, old);
    int64_t run = tc_type_count(t.type) / f->n;
    tc_quant q;
    tc_type type = t.type->quant ? scaled_type(rw, t.type, f, &q) : *t.type;
    if (t.type->quant && !changes_numbers(f))
        return ti_graph_const(rw->to, ti_type_intern(rw->ctx, &type), t.data,
                              rw->from->val[old]->name, like->loc);
    tc_tensor out = ti_tensor_new(&rw->ctx->arena, ti_type_intern(rw->ctx, &type));
    for (int64_t c = 0; c < f->n; c++)
        for (int64_t i = c * run; i < (c + 1) * run; i++) {
            if (t.type->quant)
                ti_store_i64(out, i,
                             signed_by(t.type, t.type->quant->zero[t.type->quant->axis < 0 ? 0 : c],
                                       ti_load_i64(t, i), f->g[c]));
            else
                ti_store_f64(out, i, f->g[c] * ti_load_f64(t, i));
        }
    return ti_graph_const(rw->to, out.type, out.data, rw->from->val[old]->name, like->loc);
}

static bool all_finite(const factors *f)
{
    for (int64_t c = 0; c < f->n; c++)
        if (!isfinite(f->g[c]))
            return false;
    return true;
}

static bool fits(tc_rewrite *rw, const factors *f)
{
    const tc_graph *g = rw->from;
    const tc_node *p = f->product;
    tc_tensor w = ti_tensor_of(g, p->in[1]);
    if (w.type->dim[0] != f->n || !can_negate(w, f))
        return false;
    if (p->n_in < 3 || !p->in[2])
        return true;
    tc_tensor b = ti_tensor_of(g, p->in[2]);
    return b.type->rank == 1 && b.type->dim[0] == f->n && (!b.type->quant || can_negate(b, f));
}

/* The product with other weights, giving the node's own type; its axes permuted where they were. */
static tc_status put(tc_rewrite *rw, const tc_node *node, const factors *f, bool *done)
{
    const tc_node *p = f->product;
    tc_type type = *ti_type_of(rw->from, node->out[0]);
    memcpy(type.dim, ti_type_of(rw->from, p->out[0])->dim, sizeof type.dim);
    tc_val in[3] = {rw->now[p->in[0]], f->g ? scaled(rw, p, p->in[1], f) : rw->now[p->in[1]],
                    TC_NONE};
    if (p->n_in > 2 && p->in[2])
        in[2] = f->g ? scaled(rw, p, p->in[2], f) : rw->now[p->in[2]];
    tc_build b = ti_build_instead(rw, node);
    tc_val y = ti_b_typed(&b, p->op, p->attr, in, p->n_in, ti_type_intern(rw->ctx, &type));
    TC_TRY(b.status);
    return f->permute ? ti_rewrite_as(rw, node, TC_OP_permute, f->permute->attr, y, done)
                   : ti_b_replace(&b, y, done);
}

static bool find(tc_rewrite *rw, tc_val old, factors *f)
{
    const tc_graph *g = rw->from;
    *f = (factors){.product = ti_def(g, old), .result = old};
    if (f->product && f->product->op == TC_OP_permute && rw->readers[old] == 1) {
        f->permute = f->product;
        old = f->permute->in[0];
        f->product = ti_def(g, old);
    }
    return is_product(g, f->product) && rw->readers[old] == 1 && ti_type_of(g, old)->quant;
}

static tc_status fold_factor(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    bool divides =
        node->op == TC_OP_div && ((const tc_attr_div *)node->attr)->mode == TC_div_mode_exact;
    if ((node->op != TC_OP_mul && !divides) || !ti_is_narrow(ti_type_of(g, node->out[0])))
        return TC_OK;
    factors f;
    int i = 0;
    while (i < 2 && !(ti_is_const(g, node->in[1 - i]) && find(rw, node->in[i], &f)))
        i++;
    if (i == 2 || (divides && i == 1) ||
        !ti_same_dims(ti_type_of(g, f.result), ti_type_of(g, node->out[0])))
        return TC_OK;
    tc_mark mark = ti_arena_mark(&rw->ctx->scratch);
    f.n = ti_type_of(g, f.product->in[1])->dim[0];
    f.g = tc_new_n(&rw->ctx->scratch, double, (size_t)f.n);
    if (read_factors(rw, node->in[1 - i], channel_axis(g, &f), &f)) {
        for (int64_t c = 0; divides && c < f.n; c++)
            f.g[c] = 1 / f.g[c];
        *done = all_finite(&f) && fits(rw, &f);
    }
    tc_status status = *done ? put(rw, node, &f, done) : TC_OK;
    ti_arena_rewind(&rw->ctx->scratch, mark);
    return status;
}

/* Whether the first domain reaches as far as the second: it cuts nothing off that the second keeps.
 */
static bool reaches(const tc_type *first, const tc_type *second)
{
    double half = second->quant->scale[0] / 2;
    return ti_real(first, 0, first->quant->lo) <= ti_real(second, 0, second->quant->lo) + half &&
           ti_real(first, 0, first->quant->hi) >= ti_real(second, 0, second->quant->hi) - half;
}

static tc_status fold_rescale(tc_rewrite *rw, const tc_node *node, bool *done)
{
    factors f;
    if (node->op != TC_OP_rescale || !find(rw, node->in[0], &f))
        return TC_OK;
    const tc_type *x = ti_type_of(rw->from, node->in[0]), *y = ti_type_of(rw->from, node->out[0]);
    if (!ti_is_narrow(x) || !ti_is_narrow(y) || !reaches(x, y))
        return TC_OK;
    *done = true;
    return put(rw, node, &f, done);
}

TC_REWRITES(ti_lower_fold_weight_scales, fold_factor, fold_rescale)
