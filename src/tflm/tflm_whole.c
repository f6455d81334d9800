/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_whole.c -- expansions of the pass `select-tflm-operators` on integers and bools.
 *
 * TFLM sums floats only, and has almost nothing on 64 bits.  Counts are exact sums of floats, and
 * i64 results are computed as i32 and cast: the casts cancel between operators, and at the end of
 * the program its result is i32 (ti_tflm_narrow_results). */
#include <math.h>

#include "../num/load.h"
#include "../target/cpu.h"
#include "tflm_forms.h"
#include "tflm_select.h"

/* ---- how large ---- */

static double most_of_constant(tc_tensor t)
{
    double most = 0;
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        most = fmax(most, fabs(ti_is_float(t.type->dtype) ? ti_load_f64(t, i)
                                                          : (double)ti_load_i64(t, i)));
    return most;
}

/* No number of v is larger in size; INFINITY: nothing is known. */
static double most_of(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    const tc_node *def = ti_def(g, v);
    if (t->quant)
        return INFINITY;
    if (t->dtype == TC_bool)
        return 1;
    if (ti_is_const(g, v))
        return most_of_constant(ti_tensor_of(g, v));
    if (ti_is_int(t->dtype) && tc_dtypes[t->dtype].bits <= 16)
        return fmax(-(double)ti_dtype_min(t->dtype), (double)ti_dtype_max(t->dtype));
    switch (def ? def->op : TC_OP_COUNT) {
    case TC_OP_where: return fmax(most_of(g, def->in[1]), most_of(g, def->in[2]));
    case TC_OP_cast:
    case TC_OP_identity:
    case TC_OP_reshape: return most_of(g, def->in[0]);
    default: return INFINITY;
    }
}

/* ---- forms ---- */

/* v, of i32, becomes the node's result in its shape; a result of i64 is a cast of it, last. */
static bool give_whole(tc_build *m, tc_val v)
{
    const tc_type *t = ti_b_out_type(m, 0);
    return ti_cpu_done(m, ti_b_reshape(m, v, t->rank, t->dim));
}

/* Floats are exact while every part of the sum is at most this. */
static const double EXACT = 0x1p24;

bool ti_tflm_form_sum(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    tc_val x = ti_b_in(m, 0);
    if (ti_is_float(t->dtype) || most_of(m->g, x) * (double)ti_axes_count(t, a->axes) > EXACT)
        return false;
    x = ti_b_sum(m, ti_b_cast(m, x, TC_f32), a->axes, a->keepdim);
    return give_whole(m, ti_b_cast(m, x, TC_i32));
}

static tc_val as_real(tc_build *m, tc_val x)
{
    if (!ti_is_const(m->g, x))
        return ti_b_cast(m, x, TC_f32);
    tc_tensor from = ti_tensor_of(m->g, x);
    tc_tensor to = ti_b_tensor(m, TC_f32, from.type->rank, from.type->dim);
    for (int64_t i = 0; i < tc_type_count(to.type); i++)
        ti_store_f64(to, i, (double)ti_load_i64(from, i));
    return ti_b_const(m, to, NULL);
}

/* SELECT_V2 supports no elements of more than 16 bits but floats. */
bool ti_tflm_form_where(tc_build *m)
{
    tc_val x = ti_b_in(m, 1), y = ti_b_in(m, 2);
    if (!ti_is_int(ti_b_out_type(m, 0)->dtype) || most_of(m->g, x) > EXACT ||
        most_of(m->g, y) > EXACT)
        return false;
    x = as_real(m, x);
    y = as_real(m, y);
    x = ti_b_where(m, ti_b_in(m, 0), x, y);
    return give_whole(m, ti_b_cast(m, x, TC_i32));
}

static tc_val truth(tc_build *m)
{
    tc_val x = ti_b_in(m, 0);
    return ti_b_dtype(m, x) == TC_bool ? x : ti_b_ne(m, x, ti_b_number(m, x, 0));
}

bool ti_tflm_form_all(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    return ti_cpu_done(m, ti_b_all(m, truth(m), a->axes, a->keepdim));
}

/* not all(not x) */
bool ti_tflm_form_any(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    tc_val none = ti_b_all(m, ti_b_logical_not(m, truth(m)), a->axes, a->keepdim);
    return ti_cpu_done(m, ti_b_logical_not(m, none));
}

/* A product of truth is whether all are true. */
bool ti_tflm_form_prod(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    if (ti_b_dtype(m, ti_b_in(m, 0)) != TC_bool)
        return ti_cpu_form_prod(m);
    tc_val y = ti_b_all(m, ti_b_in(m, 0), a->axes, a->keepdim);
    return give_whole(m, ti_b_cast(m, y, TC_i32));
}

/* ARG_MAX and ARG_MIN: indices of i32, without the axis. */
bool ti_tflm_form_arg(tc_build *m)
{
    const tc_attr_arg *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t dim[TC_MAX_RANK];
    int rank = 0;
    bool plain = !a->keepdim && ti_b_out_type(m, 0)->dtype == TC_i32;
    if (t->dtype != TC_f32 || !t->rank || plain)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (i != a->axis)
            dim[rank++] = t->dim[i];
    tc_val x = ti_b_in(m, 0);
    return give_whole(m, ti_b_typed(m, m->node->op, ti_b_attr(m, arg, a->axis, false), &x, 1,
                                    ti_type_make(m->ctx, TC_i32, rank, dim)));
}

/* The node's result i as places of 32 bits, cast. */
static void give_place(tc_build *m, tc_op op, int i)
{
    const tc_type *t = ti_b_out_type(m, i);
    tc_val x = ti_b_in(m, 0);
    tc_val y = ti_b_typed(m, op, m->node->attr, &x, 1, ti_type_make(m->ctx, TC_i32, t->rank, t->dim));
    ti_cpu_give(m, i, ti_b_cast(m, y, TC_i64));
}

/* The largest or smallest, and its place. */
bool ti_tflm_form_extreme(tc_build *m)
{
    const tc_attr_arg *a = m->node->attr;
    bool most = m->node->op == TC_OP_max_dim;
    tc_val x = ti_b_in(m, 0);
    if (ti_b_is_read(m, 0)) {
        int64_t *axis = tc_new(&m->ctx->arena, int64_t);
        *axis = a->axis;
        const tc_attr_axes *axes = ti_b_attr(m, axes, (tc_ints){1, axis}, a->keepdim);
        ti_cpu_give(m, 0, ti_b_typed(m, most ? TC_OP_amax : TC_OP_amin, axes, &x, 1, ti_b_out_type(m, 0)));
    }
    if (ti_b_is_read(m, 1))
        give_place(m, most ? TC_OP_argmax : TC_OP_argmin, 1);
    return true;
}

static tc_status narrow_place(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build m = ti_build_instead(rw, node);
    bool place = node->op == TC_OP_argmax || node->op == TC_OP_argmin;
    bool both = node->op == TC_OP_max_dim || node->op == TC_OP_min_dim;
    if (place && ti_b_out_type(&m, 0)->dtype == TC_i64)
        give_place(&m, node->op, 0);
    else if (both)
        ti_tflm_form_extreme(&m);
    else
        return TC_OK;
    *done = true;
    return m.status;
}

/* x is not itself. */
bool ti_tflm_form_isnan(tc_build *m)
{
    tc_val x = ti_b_in(m, 0);
    return ti_cpu_done(m, ti_b_ne(m, x, x));
}

tc_status ti_tflm_narrow_places(tc_module *module)
{
    static tc_rewriter *const rewriters[] = {narrow_place};
    return ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), NULL);
}

static bool is_widened(const tc_graph *g, const tc_node *node)
{
    return node && node->op == TC_OP_cast && ti_type_of(g, node->out[0])->dtype == TC_i64 &&
           ti_type_of(g, node->in[0])->dtype == TC_i32;
}

/* Bool from a number, numbers from bool, and i64 that was i32 before. */
bool ti_tflm_form_cast(tc_build *m)
{
    const tc_type *from = ti_b_in_type(m, 0), *to = ti_b_out_type(m, 0);
    tc_val x = ti_b_in(m, 0);
    if (from->quant || to->quant)
        return false;
    if (is_widened(m->g, ti_def(m->g, x)))
        return ti_cpu_done(m, ti_def(m->g, x)->in[0]);
    if (from->dtype == TC_bool && to->dtype != TC_bool) {
        tc_val one = ti_b_scalar(m, TC_f32, 1), zero = ti_b_scalar(m, TC_f32, 0);
        tc_val y = ti_b_where(m, x, one, zero);
        return ti_cpu_done(m, to->dtype == TC_i64 ? ti_b_cast(m, y, TC_i32) : y);
    }
    return false;
}

/* ---- results ---- */

/* The cast of i32 to i64 has no reader but the results of the program. */
bool ti_tflm_is_result_alone(const tc_graph *g, const tc_node *node)
{
    if (!is_widened(g, node))
        return false;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == node->out[0])
                return false;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].after == node->out[0])
            return false;
    return true;
}

/* What the cast reads; inputs and buffers, which are not the program's to give, as a copy. */
static tc_val narrow_form(tc_graph *g, const tc_node *cast)
{
    tc_val x = cast->in[0];
    const tc_node *def = ti_def(g, ti_cpu_root(g, x));
    if (def && def->op != TC_OP_const)
        return x;
    tc_node *copy = ti_graph_add(g, TC_OP_identity, NULL, &x, 1, 1, cast->loc);
    g->val[copy->out[0]]->type = ti_type_of(g, x);
    return copy->out[0];
}

void ti_tflm_narrow_results(tc_ctx *ctx, tc_module *module)
{
    tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_out; i++) {
        const tc_node *def = ti_def(g, g->out[i]);
        tc_val wide = g->out[i];
        if (!is_widened(g, def))
            continue;
        ti_warning(ctx, def->loc, TC_E_TYPE,
                   "result %zu is i64, which TensorFlow Lite Micro does not compute with: in the "
                   "file it is i32, the same numbers",
                   i);
        tc_val small = narrow_form(g, def);
        for (size_t k = i; k < g->n_out; k++)
            g->out[k] = g->out[k] == wide ? small : g->out[k];
        for (size_t k = 0; k < module->signature.n_out; k++)
            if (module->signature.out[k].val == wide)
                module->signature.out[k].val = small;
    }
}
