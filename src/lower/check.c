/* SPDX-License-Identifier: Apache-2.0 */
/* check.c -- translation validation: what each rule made, beside what its node means.
 *
 * The lowered graph runs on a sample; then every node of the typed graph is computed on the very
 * numbers that the lowered graph gave its operands.  So each difference is one rule's own. */
#include <math.h>

#include "build.h"

#include "../num/half.h"
#include "../num/load.h"

/* The tensor as the typed graph reads it: the same stored numbers, with their meaning. */
static tc_tensor typed(const tc_lower *lw, const tc_tensor *at, tc_val v)
{
    if (!v || tc_is_const(lw->from, v))
        return v ? tc_tensor_of(lw->from, v) : (tc_tensor){NULL, NULL};
    return (tc_tensor){tc_type_of(lw->from, v), lw->now[v] ? at[lw->now[v]].data : NULL};
}

typedef struct difference {
    double most, allowed;
    int64_t at;
} difference;

/* Steps of the domain; for plain numbers, their own unit.  Wide sums are as exact as f32 arithmetic
 * is. */
static difference compare(tc_tensor got, tc_tensor want)
{
    difference d = {0, 0, -1};
    tc_dtype t = want.type->dtype;
    int64_t n = tc_type_count(want.type);
    double top = 0;
    for (int64_t i = 0; i < n; i++) {
        double a = tc_load_f64(got, i), b = tc_load_f64(want, i), off = fabs(a - b);
        top = isfinite(b) && fabs(b) > top ? fabs(b) : top;
        if (a == b || (isnan(a) && isnan(b)))
            continue;
        if (!(off <= d.most)) {
            d.most = isnan(off) ? INFINITY : off;
            d.at = i;
        }
    }
    if (tc_is_float(t)) /* of the largest number: functions are right to 1e-5 in f32, and two
                           roundings to the format follow */
        d.allowed = fmax(top, 1e-3) * (1e-5 + (t == TC_f32 ? 0 : 2 * tc_float_unit(t)));
    else if (want.type->quant)
        d.allowed = tc_dtypes[t].bits > 16 ? fmax(2, ldexp(top, -16)) : t == TC_i16 ? 2 : 1;
    return d;
}

/* Attention with coarse shares: four steps of v besides. */
static double coarse_steps(const tc_lower *lw, const tc_node *node)
{
    if (node->op != TC_OP_sdpa || !((const tc_attr_sdpa *)node->attr)->coarse)
        return 0;
    const tc_type *v = tc_type_of(lw->from, node->in[2]), *y = tc_type_of(lw->from, node->out[0]);
    return v->quant && y->dtype == TC_i8 ? 4 * tc_scale_of(v) / tc_scale_of(y) : 0;
}

static tc_status wrong(const tc_lower *lw, const tc_node *node, int i, difference d, tc_tensor got,
                       tc_tensor want)
{
    const tc_type *t = want.type;
    const char *name = lw->from->val[node->out[i]]->name;
    tc_error(lw->ctx, node->loc, TC_E_PROMISE,
             "'%s' (%s) became TOSA that is off by %.3g%s at element %" PRId64
             ": %.9g, expected %.9g, allowed %.3g",
             name ? name : "?", tc_ops[node->op].name, d.most, t->quant ? " steps" : "", d.at,
             tc_load_f64(got, d.at), tc_load_f64(want, d.at), d.allowed);
    return TC_BUG;
}

static tc_status compare_node(const tc_lower *lw, const tc_node *node, const tc_tensor *at,
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
    TC_TRY(tc_eval_node((tc_graph *)(uintptr_t)lw->from, node, in, out, arena));
    for (int i = 0; i < node->n_out; i++) {
        tc_tensor got = typed(lw, at, node->out[i]);
        if (!got.data)
            continue;
        difference d = compare(got, out[i]);
        d.allowed += coarse_steps(lw, node);
        if (d.most > d.allowed)
            return wrong(lw, node, i, d, got, out[i]);
    }
    return TC_OK;
}

tc_status tc_lower_compare(const tc_lower *lw, const tc_tensor *in)
{
    tc_arena arena;
    tc_arena_init_like(&arena, &lw->ctx->arena);
    tc_tensor *at = tc_new_n(&arena, tc_tensor, lw->to->n_val);
    tc_status status = tc_eval_all(lw->to, in, at, &arena);
    for (size_t k = 0; k < lw->from->n_node && status == TC_OK; k++) {
        const tc_node *node = lw->from->node[k];
        if (node->op == TC_OP_const ||
            (tc_ops[node->op].traits & T_CONTROL)) /* its graphs are TOSA by now */
            continue;
        tc_mark mark = tc_arena_mark(&arena);
        status = compare_node(lw, node, at, &arena);
        tc_arena_rewind(&arena, mark);
    }
    tc_arena_free(&arena);
    return status;
}
