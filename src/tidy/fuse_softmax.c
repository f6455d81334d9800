/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_softmax.c -- decomposed softmax, log_softmax, logsumexp and relatives become one operator.
 *
 *   log(1 + exp(x)), log1p(exp(x))  =>  softplus x
 *   log(softmax(x))                 =>  log_softmax x
 *   log(sigmoid(x))                 =>  log_sigmoid x
 *   log(sum(exp(x)))                =>  logsumexp x
 *   exp(x) / sum(exp(x))            =>  softmax x     the sum over one axis, with keepdim
 *   softmax(x - max(x))             =>  softmax x     which does that itself; log_softmax too
 *   log(y / (1 - y))                =>  logit x       y = clamp(x, 0, 1), both clamped from below
 *   logit(sigmoid(x))               =>  clamp x       to what eps leaves
 *   nan_to_num(softmax(y))          =>  where(any(m), softmax y, nan)     y = where(m, x, -inf)
 *   isnan(softmax(y))               =>  not any(m)    along the axis; softmax(y) != itself too
 *
 * The value in between has an exponential range: quantized uniformly, most of it falls on one code,
 * and one step is hundreds of steps after the logarithm.  A row that is masked everywhere is NaN in
 * float, which no code is: the mask determines those rows. */
#include "tidy.h"

#include <math.h>

#include "../base/real.h"
#include "../num/load.h"

/* The node that makes v, if it is of this operator. */
static const tc_node *made_by(const tc_rewrite *rw, tc_val v, tc_op op)
{
    const tc_node *def = v ? ti_def(rw->to, v) : NULL;
    return def && def->op == op && ti_rewrite_is_f32(rw, v) ? def : NULL;
}

/* A constant that is 1 everywhere and makes nothing larger. */
static bool is_one(const tc_rewrite *rw, tc_val v)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    return t.data && ti_rewrite_is_fixed(rw, v) && tc_type_count(t.type) == 1 &&
           ti_load_f64(t, 0) == 1;
}

/* x where v is 1 + e^x; else none. */
static tc_val one_and_exp(const tc_rewrite *rw, tc_val v)
{
    const tc_node *sum = made_by(rw, v, TC_OP_add);
    if (!sum || ((const tc_attr_alpha *)sum->attr)->alpha != 1)
        return TC_NONE;
    for (int i = 0; i < 2; i++) {
        const tc_node *e = made_by(rw, sum->in[i], TC_OP_exp);
        if (e && is_one(rw, sum->in[1 - i]) &&
            ti_type_of(rw->to, sum->in[i])->rank == ti_type_of(rw->to, v)->rank)
            return e->in[0];
    }
    return TC_NONE;
}

static tc_status put_softplus(tc_rewrite *rw, const tc_node *node, tc_val x, bool *done)
{
    tc_attr_softplus *a = tc_new(&rw->ctx->arena, tc_attr_softplus);
    *a = (tc_attr_softplus){.beta = 1, .threshold = 20}; /* e^-20 is negligible compared with 20 */
    return ti_rewrite_as(rw, node, TC_OP_softplus, a, x, done);
}

/* Below it, the ends of log(y / (1 - y)), both clamped, and of logit are the same but for rounding.
 * */
static const double LEAST_ODDS = 1e-4;

/* v without a clamp from below alone, with its bound in *lo; -1: none. */
static tc_val above(const tc_rewrite *rw, tc_val v, double *lo)
{
    const tc_node *c = made_by(rw, v, TC_OP_clamp);
    const tc_attr_clamp *a = c ? c->attr : NULL;
    *lo = -1;
    if (!a || a->hi < (double)INFINITY)
        return v;
    *lo = a->lo;
    return c->in[0];
}

/* x where v is y / (1 - y), y being x or x clamped to 0 .. 1, both clamped to eps from
 * below, where y is within 0 .. 1; else none. */
static tc_val odds(const tc_rewrite *rw, tc_val v, double *eps)
{
    const tc_node *d = made_by(rw, v, TC_OP_div);
    double below;
    if (!d || ((const tc_attr_div *)d->attr)->mode != TC_div_mode_exact)
        return TC_NONE;
    tc_val y = above(rw, d->in[0], eps);
    const tc_node *rest = made_by(rw, above(rw, d->in[1], &below), TC_OP_sub);
    bool fits = rest && *eps == below && *eps <= LEAST_ODDS && *eps != 0 &&
                is_one(rw, rest->in[0]) && rest->in[1] == y &&
                ((const tc_attr_alpha *)rest->attr)->alpha == 1;
    if (!fits || *eps < 0)
        return fits ? y : TC_NONE;
    const tc_node *c = made_by(rw, y, TC_OP_clamp);
    const tc_attr_clamp *a = c ? c->attr : NULL;
    if (a && a->lo == 0 && a->hi == 1)
        return c->in[0];
    return made_by(rw, y, TC_OP_sigmoid) || made_by(rw, y, TC_OP_softmax) ? y : TC_NONE;
}

/* The logit of x; of a sigmoid it is what that was taken of, as far as eps lets it reach. */
static tc_status put_logit(tc_rewrite *rw, const tc_node *node, tc_val x, double eps, bool *done)
{
    const tc_node *s = made_by(rw, x, TC_OP_sigmoid);
    if (s && eps > 0) {
        tc_attr_clamp *a = tc_new(&rw->ctx->arena, tc_attr_clamp);
        double most = (double)(float)ti_log((1 - eps) / eps); /* the last bits are the library's */
        *a = (tc_attr_clamp){.lo = -most, .hi = most};
        return ti_rewrite_as(rw, node, TC_OP_clamp, a, s->in[0], done);
    }
    if (node->op == TC_OP_logit)
        return TC_OK;
    tc_attr_logit *a = tc_new(&rw->ctx->arena, tc_attr_logit);
    a->eps = eps;
    return ti_rewrite_as(rw, node, TC_OP_logit, a, x, done);
}

static tc_status logits(tc_rewrite *rw, const tc_node *node, bool *done)
{
    double eps = -1;
    if (node->op != TC_OP_log && node->op != TC_OP_logit)
        return TC_OK;
    tc_val x = ti_rewrite_in(rw, node, 0);
    if (!ti_rewrite_is_f32(rw, x))
        return TC_OK;
    if (node->op == TC_OP_logit)
        eps = ((const tc_attr_logit *)node->attr)->eps;
    else
        x = odds(rw, x, &eps);
    return x ? put_logit(rw, node, x, eps, done) : TC_OK;
}

static tc_status logarithm(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_log && node->op != TC_OP_log1p)
        return TC_OK;
    tc_val x = ti_rewrite_in(rw, node, 0);
    const tc_node *e = made_by(rw, x, TC_OP_exp), *p = made_by(rw, x, TC_OP_softmax),
                  *s = made_by(rw, x, TC_OP_sigmoid), *sum = made_by(rw, x, TC_OP_sum);
    if (node->op == TC_OP_log1p)
        return e ? put_softplus(rw, node, e->in[0], done) : TC_OK;
    if (p)
        return ti_rewrite_as(rw, node, TC_OP_log_softmax, p->attr, p->in[0], done);
    if (s)
        return ti_rewrite_as(rw, node, TC_OP_log_sigmoid, NULL, s->in[0], done);
    e = sum ? made_by(rw, sum->in[0], TC_OP_exp) : NULL;
    if (e)
        return ti_rewrite_as(rw, node, TC_OP_logsumexp, sum->attr, e->in[0], done);
    tc_val inside = one_and_exp(rw, x);
    return inside ? put_softplus(rw, node, inside, done) : TC_OK;
}

/* x where v is x less the largest of its row along the axis; else v. */
static tc_val without_max(const tc_rewrite *rw, tc_val v, int64_t axis)
{
    const tc_node *less = made_by(rw, v, TC_OP_sub);
    if (!less || ((const tc_attr_alpha *)less->attr)->alpha != 1)
        return v;
    const tc_node *max = ti_def(rw->to, less->in[1]);
    if (!max || max->in[0] != less->in[0])
        return v;
    const tc_attr_axes *a = max->op == TC_OP_amax ? max->attr : NULL;
    const tc_attr_arg *b =
        max->op == TC_OP_max_dim && max->out[0] == less->in[1] ? max->attr : NULL;
    bool same = (a && a->keepdim && a->axes.n == 1 && a->axes.v[0] == axis) ||
                (b && b->keepdim && b->axis == axis);
    return same ? less->in[0] : v;
}

static tc_status around_max(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_softmax && node->op != TC_OP_log_softmax)
        return TC_OK;
    tc_val v = ti_rewrite_in(rw, node, 0),
           x = without_max(rw, v, ((const tc_attr_axis *)node->attr)->axis);
    return x != v ? ti_rewrite_as(rw, node, node->op, node->attr, x, done) : TC_OK;
}

static tc_status shares(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_div || ((const tc_attr_div *)node->attr)->mode != TC_div_mode_exact)
        return TC_OK;
    tc_val part = ti_rewrite_in(rw, node, 0);
    const tc_node *sum = made_by(rw, ti_rewrite_in(rw, node, 1), TC_OP_sum),
                  *e = made_by(rw, part, TC_OP_exp);
    const tc_attr_axes *a = sum ? sum->attr : NULL;
    if (!e || !a || sum->in[0] != part || !a->keepdim || a->axes.n != 1)
        return TC_OK;
    tc_attr_axis *axis = tc_new(&rw->ctx->arena, tc_attr_axis);
    axis->axis = a->axes.v[0];
    return ti_rewrite_as(rw, node, TC_OP_softmax, axis, without_max(rw, e->in[0], axis->axis),
                         done);
}

static bool is_minus_infinity(const tc_rewrite *rw, tc_val v)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    if (!t.data || !ti_rewrite_is_fixed(rw, v) || !ti_rewrite_is_f32(rw, v))
        return false;
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        if (ti_load_f64(t, i) != -(double)INFINITY)
            return false;
    return true;
}

/* The rows [.., 1] of a softmax over masked values that are not fully masked; none: not such a
 * softmax. */
static tc_val rows_seen(tc_build *b, const tc_node *softmax)
{
    const tc_rewrite *rw = b->rw;
    const tc_node *where = softmax ? made_by(rw, softmax->in[0], TC_OP_where) : NULL;
    bool first = where && is_minus_infinity(rw, where->in[1]);
    if (!first && !(where && is_minus_infinity(rw, where->in[2])))
        return TC_NONE;
    int64_t axis = ((const tc_attr_axis *)softmax->attr)->axis;
    tc_val counts = ti_b_expand_as(b, where->in[0], ti_type_of(rw->to, where->out[0]));
    counts = first ? ti_b_logical_not(b, counts) : counts;
    return ti_b_reduce(b, TC_OP_any, counts, &axis, 1, true);
}

static tc_status lost_rows(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool asks = node->op == TC_OP_isnan || (node->op == TC_OP_ne && node->in[0] == node->in[1]);
    if (!asks && node->op != TC_OP_nan_to_num)
        return TC_OK;
    tc_val y = ti_rewrite_in(rw, node, 0);
    tc_build b = ti_build_instead(rw, node);
    tc_val seen = rows_seen(&b, made_by(rw, y, TC_OP_softmax));
    if (!seen)
        return b.status;
    if (asks)
        y = ti_b_expand_as(&b, ti_b_logical_not(&b, seen), ti_b_out_type(&b, 0));
    else
        y = ti_b_where(&b, seen, y,
                       ti_b_scalar(&b, TC_f32, ((const tc_attr_nan_to_num *)node->attr)->nan));
    return ti_b_replace(&b, y, done);
}

TC_REWRITES(ti_tidy_fuse_softmax, logits, logarithm, shares, around_max, lost_rows)
