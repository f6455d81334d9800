/* SPDX-License-Identifier: Apache-2.0 */
/* int_range.c -- see int_range.h: intervals, followed from types, constants, indices and limits
 * through the operators of op.def's column `range`.
 *
 * A mutable buffer holds its initial value and what is written to it.  Assumed between -2^30 and
 * 2^30, it stays there for long enough if a call adds STRIDE at most: counters and positions.
 * Other state is unbounded. */
#include <math.h>

#include "int_range.h"

#include "../../num/load.h"

typedef tc_int_range range;

enum { STRIDE = 4096 };

static const range all = {-0x1p63, 0x1p63}, zero = {0, 0};

static range either(range a, range b) { return (range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)}; }

/* What leaves 64 bits wraps. */
static range wrapped(range r) { return r.lo >= all.lo && r.hi <= all.hi ? r : all; }

/* ---- types and constants ---- */

static range of_type(const tc_type *t)
{
    if (t->quant && t->quant->axis < 0) {
        const tc_quant *q = t->quant;
        double a = (double)(q->lo - q->zero[0]) * q->scale[0],
               b = (double)(q->hi - q->zero[0]) * q->scale[0];
        return wrapped((range){floor(a) - 1, ceil(b) + 1});
    }
    if (t->dtype == TC_bool)
        return (range){0, 1};
    if (!t->quant && ti_is_int(t->dtype) && tc_dtypes[t->dtype].bits <= 32)
        return (range){(double)ti_dtype_min(t->dtype), (double)ti_dtype_max(t->dtype)};
    return all;
}

static range of_constant(const tc_graph *g, tc_val v)
{
    const void *data = g->val[v]->data; /* of a buffer: at first */
    tc_tensor t = {ti_type_of(g, v), (void *)(uintptr_t)data};
    if (!t.data || t.type->quant || !ti_is_int(t.type->dtype))
        return of_type(ti_type_of(g, v));
    range r = zero;
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        double x = (double)ti_load_i64(t, i);
        r = i ? either(r, (range){x, x}) : (range){x, x};
    }
    return r;
}

/* ---- arithmetic ---- */

static range product(range a, range b)
{
    double v[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    return (range){fmin(fmin(v[0], v[1]), fmin(v[2], v[3])),
                   fmax(fmax(v[0], v[1]), fmax(v[2], v[3]))};
}

static range linear(const tc_node *node, range a, range b)
{
    if (node->op == TC_OP_mul)
        return wrapped(product(a, b));
    double alpha = ((const tc_attr_alpha *)node->attr)->alpha * (node->op == TC_OP_sub ? -1 : 1);
    range scaled = product(b, (range){alpha, alpha});
    return wrapped((range){a.lo + scaled.lo, a.hi + scaled.hi});
}

/* n elements or fewer, summed. */
static range summed(range a, double n)
{
    return wrapped((range){fmin(a.lo, 0) * n, fmax(a.hi, 0) * n});
}

/* By at least 1, cut or floored. */
static range quotient(range a, range b)
{
    if (b.lo < 1)
        return all;
    return (range){a.lo < 0 ? floor(a.lo / b.lo) : 0, a.hi > 0 ? a.hi / b.lo : 0};
}

static range limited(const tc_node *node, range a)
{
    double lo = 0, hi = INFINITY;
    if (node->op == TC_OP_clamp) {
        const tc_attr_clamp *c = node->attr;
        lo = c->lo;
        hi = fmax(c->hi, c->lo);
    }
    return (range){fmin(fmax(a.lo, lo), hi), fmax(fmin(a.hi, hi), lo)};
}

/* Not above what is not negative; of two negative ones the bits that both have, as wide as they. */
static range masked(range a, range b)
{
    if (a.lo >= 0 || b.lo >= 0)
        return (range){0, fmin(a.lo >= 0 ? a.hi : all.hi, b.lo >= 0 ? b.hi : all.hi)};
    double least = fmin(a.lo, b.lo) >= INT32_MIN ? INT32_MIN : all.lo;
    return (range){least, fmax(a.hi, b.hi)};
}

/* Everything that a node moves, its indices left out. */
static range moved(const tc_node *node, const range *of)
{
    range r = all;
    bool first = true;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || ti_among(tc_ops[node->op].places, i) ||
            (node->op == TC_OP_where && !i))
            continue;
        r = first ? of[node->in[i]] : either(r, of[node->in[i]]);
        first = false;
    }
    switch (node->op) {
    case TC_OP_pad: {
        double value = ((const tc_attr_pad *)node->attr)->value;
        return either(r, (range){value, value});
    }
    case TC_OP_tril:
    case TC_OP_triu:
    case TC_OP_im2col:
        return either(r, zero);
    case TC_OP_index_put:
        return ((const tc_attr_index_put *)node->attr)->accumulate ? all : r;
    default:
        return r;
    }
}

static range of_result(const tc_graph *g, const tc_node *node, int i, const range *of)
{
    const tc_type *x = node->n_in && node->in[0] ? ti_type_of(g, node->in[0]) : NULL;
    const tc_type *y = ti_type_of(g, node->out[i]);
    range a = node->n_in && node->in[0] ? of[node->in[0]] : all,
          b = node->n_in > 1 && node->in[1] ? of[node->in[1]] : all;
    if (y->dtype != TC_i64)
        return of_type(y);
    switch (tc_ops[node->op].range) {
    case TC_RANGE_unknown:
        return all;
    case TC_RANGE_known:
        return of_constant(g, node->out[0]);
    case TC_RANGE_operand:
        return a;
    case TC_RANGE_either:
        return either(a, b);
    case TC_RANGE_larger:
        return (range){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
    case TC_RANGE_smaller:
        return (range){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
    case TC_RANGE_moved:
        return moved(node, of);
    case TC_RANGE_linear:
        return linear(node, a, b);
    case TC_RANGE_negated:
        return wrapped((range){-a.hi, -a.lo});
    case TC_RANGE_size:
        return wrapped((range){fmax(fmax(a.lo, -a.hi), 0), fmax(-a.lo, a.hi)});
    case TC_RANGE_limited:
        return limited(node, a);
    case TC_RANGE_masked:
        return masked(a, b);
    case TC_RANGE_sum:
        return summed(a, (double)(tc_type_count(x) / (tc_type_count(y) ? tc_type_count(y) : 1)));
    case TC_RANGE_running:
        return summed(a, (double)tc_type_count(x));
    case TC_RANGE_place:
        return (range){0, (double)tc_type_count(x)};
    case TC_RANGE_value_place:
        return i ? (range){0, (double)tc_type_count(x)} : a;
    case TC_RANGE_remainder:
        return (range){fmin(b.lo + 1, 0), fmax(b.hi - 1, 0)};
    case TC_RANGE_quotient:
        return quotient(a, b);
    case TC_RANGE_bucket:
        return (range){0, (double)tc_type_count(ti_type_of(g, node->in[1]))};
    }
    return all;
}

/* ---- a program ---- */

/* Its mutable buffers are in `kept`. */
static void follow(const tc_graph *g, const range *kept, range *of)
{
    of[0] = all;
    for (size_t i = 0; i < g->n_in; i++)
        of[g->in[i]] = of_type(ti_type_of(g, g->in[i]));
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_out; i++)
            of[node->out[i]] = of_result(g, node, i, of);
        for (size_t i = 0; i < g->n_mutation; i++)
            if (node->n_out && g->mutation[i].before == node->out[0])
                of[node->out[0]] = kept[i];
    }
}

tc_int_range *ti_int_ranges(tc_ctx *ctx, const tc_graph *g)
{
    static const range long_enough = {-0x1p30, 0x1p30};
    range *of = tc_new_n(&ctx->scratch, range, g->n_val + 1),
          *kept = tc_new_n(&ctx->scratch, range, g->n_mutation + 1);
    for (size_t i = 0; i < g->n_mutation; i++)
        kept[i] = long_enough;
    for (bool changed = true; changed;) {
        follow(g, kept, of);
        changed = false;
        for (size_t i = 0; i < g->n_mutation; i++) {
            range r = either(of_constant(g, g->mutation[i].before), of[g->mutation[i].after]);
            bool stays = r.lo >= long_enough.lo - STRIDE && r.hi <= long_enough.hi + STRIDE;
            if (!stays && kept[i].hi != all.hi) {
                kept[i] = all;
                changed = true;
            }
        }
    }
    return of;
}
