/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_rms_norm.c -- a decomposed RMS norm becomes one operator.
 *
 *   x * rsqrt(mean(x ^ 2) + eps)  =>  rms_norm x        the mean over the last axis
 *   rms_norm x * w                =>  rms_norm x, w     w constant along that axis
 *
 * Quantized as one operator, its intermediate values are not rounded to 8 bits. */
#include "tidy.h"

#include "../num/load.h"

/* The one number that a constant holds. */
static bool number_of(const tc_rewrite *rw, tc_val v, double *x)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    if (!t.data || !ti_rewrite_is_fixed(rw, v) || tc_type_count(t.type) != 1)
        return false;
    *x = ti_load_f64(t, 0);
    return true;
}

/* v is x * x. */
static bool is_square(const tc_rewrite *rw, tc_val v, tc_val x)
{
    const tc_node *def = ti_def(rw->to, v);
    return def && def->op == TC_OP_mul && def->in[0] == x && def->in[1] == x;
}

/* v is the mean of x ^ 2 over the last axis, which stays. */
static bool is_mean_square(const tc_rewrite *rw, tc_val v, tc_val x)
{
    const tc_node *def = ti_def(rw->to, v);
    const tc_attr_axes *a = def && def->op == TC_OP_mean ? def->attr : NULL;
    const tc_type *t = ti_type_of(rw->to, x);
    return a && a->keepdim && a->axes.n == 1 && a->axes.v[0] == t->rank - 1 &&
           is_square(rw, def->in[0], x);
}

/* v is rsqrt(mean(x ^ 2) + eps). */
static bool is_inverse_rms(const tc_rewrite *rw, tc_val v, tc_val x, double *eps)
{
    const tc_node *root = ti_def(rw->to, v),
                  *sum = root && root->op == TC_OP_rsqrt ? ti_def(rw->to, root->in[0]) : NULL;
    if (!sum || sum->op != TC_OP_add || ((const tc_attr_alpha *)sum->attr)->alpha != 1)
        return false;
    for (int i = 0; i < 2; i++)
        if (number_of(rw, sum->in[i], eps) && is_mean_square(rw, sum->in[1 - i], x))
            return *eps >= 0;
    return false;
}

static tc_status put_norm(tc_rewrite *rw, const tc_node *node, tc_val x, tc_val weight,
                          tc_attr_layer_norm attr, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    return ti_b_replace(&b, ti_b_2(&b, rms_norm, ti_b_keep(&b, &attr), x, weight), done);
}

static tc_status spelled_norm(tc_rewrite *rw, const tc_node *node, bool *done)
{
    double eps;
    for (int i = 0; node->op == TC_OP_mul && i < 2; i++) {
        tc_val x = ti_rewrite_in(rw, node, i), r = ti_rewrite_in(rw, node, 1 - i);
        if (ti_rewrite_is_f32(rw, x) && ti_type_of(rw->to, x)->rank > 0 && is_inverse_rms(rw, r, x, &eps))
            return put_norm(rw, node, x, TC_NONE, (tc_attr_layer_norm){.n_axes = 1, .eps = eps},
                            done);
    }
    return TC_OK;
}

/* Nothing but the node reads old value v. */
static bool is_read_once(const tc_graph *g, tc_val v)
{
    int n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            n += g->node[k]->in[i] == v;
    for (size_t i = 0; i < g->n_out; i++)
        n += g->out[i] == v;
    for (size_t i = 0; i < g->n_mutation; i++)
        n += g->mutation[i].after == v;
    return n == 1;
}

/* A constant that is one number for each index of the last axis of x, as [n]; or none. */
static tc_val weight_of(tc_rewrite *rw, tc_val v, const tc_type *x, const tc_loc *loc)
{
    tc_tensor w = ti_tensor_of(rw->to, v);
    int64_t n = x->dim[x->rank - 1];
    if (!w.data || !ti_rewrite_is_fixed(rw, v) || !ti_rewrite_is_f32(rw, v) || !w.type->rank ||
        w.type->rank > x->rank || w.type->dim[w.type->rank - 1] != n || tc_type_count(w.type) != n)
        return TC_NONE;
    if (w.type->rank == 1)
        return v;
    return ti_graph_const(rw->to, ti_type_make(rw->ctx, TC_f32, 1, &n), w.data, NULL, loc);
}

static tc_status weighted_norm(tc_rewrite *rw, const tc_node *node, bool *done)
{
    for (int i = 0; node->op == TC_OP_mul && i < 2; i++) {
        tc_val y = ti_rewrite_in(rw, node, i);
        const tc_node *norm = ti_def(rw->to, y);
        if (!norm || norm->op != TC_OP_rms_norm || norm->in[1] || !ti_rewrite_is_f32(rw, y))
            continue;
        const tc_attr_layer_norm *a = norm->attr;
        tc_val w = weight_of(rw, ti_rewrite_in(rw, node, 1 - i), ti_type_of(rw->to, y), node->loc);
        if (w && a->n_axes == 1 && is_read_once(rw->from, node->in[i]))
            return put_norm(rw, node, norm->in[0], w, *a, done);
    }
    return TC_OK;
}

TC_REWRITES(ti_tidy_fuse_rms_norm, spelled_norm, weighted_norm)
