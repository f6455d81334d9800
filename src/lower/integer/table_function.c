/* SPDX-License-Identifier: Apache-2.0 */
/* table_function.c -- elementwise functions as tables.
 *
 * The operator's own kernel is run on the real number of every code of the operand's domain; the
 * results, as codes of the result's domain, are the table.  So one rule serves every operator that
 * computes each element from one element, and every operator of more operands of which all but one
 * are the same constant everywhere.  Of two i8 operands there is a list of all pairs.  For i8 this
 * is exact.  table_lookup.c makes the TOSA nodes. */
#include <math.h>

#include "../put.h"
#include "../../run/eval.h"
#include "table_function.h"
#include "../move/lower_move.h"

#include "../../num/load.h"
#include "../../num/quant.h"

bool ti_function_number(tc_build *lw, tc_val v, float *x)
{
    tc_tensor t = ti_tensor_of(lw->rw->from, v);
    int64_t n = t.type ? tc_type_count(t.type) : 0;
    if (!t.data || !n || (t.type->quant && t.type->quant->axis >= 0))
        return false;
    double first = ti_load_f64(t, 0);
    for (int64_t i = 1; i < n; i++)
        if (ti_load_f64(t, i) != first)
            return false;
    const tc_quant *q = t.type->quant;
    *x = q ? (float)((int64_t)first - q->zero[0]) * (float)q->scale[0] : (float)first;
    return true;
}

int ti_function_operand(tc_build *lw, const tc_node *node)
{
    int which = -1;
    float unused;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || ti_function_number(lw, node->in[i], &unused))
            continue;
        if (which >= 0)
            return -1;
        which = i;
    }
    return which < 0 && ti_lower_type(lw, node, 0) ? 0 : which; /* all constant: any will do */
}

/* The node's operator on the given operands; what is not given is one constant number. */
static bool evaluate(tc_build *lw, const tc_node *node, const tc_tensor *given, tc_tensor *y)
{
    tc_tensor operand[TC_MAX_RANK] = {{NULL, NULL}};
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i])
            continue;
        operand[i] = given[i];
        if (!operand[i].data) {
            bool prelu = node->op == TC_OP_prelu; /* its weight is a list */
            operand[i] = ti_tensor_new(&lw->ctx->scratch,
                                       ti_type_make(lw->ctx, TC_f32, prelu, (int64_t[]){1}));
            if (!ti_function_number(lw, node->in[i], operand[i].data))
                return false;
        }
    }
    lw->status = ti_eval_operator(lw->g->module, node, operand, y, &lw->ctx->scratch);
    if (lw->status == TC_OK && ti_op_nan_is_zero(node->op) && y->type->dtype == TC_f32)
        ti_nan_to_zero(*y);
    return lw->status == TC_OK;
}

/* The real values of n codes from the lowest on. */
static tc_tensor all_reals(tc_build *lw, const tc_type *from, int rank, const int64_t *dim)
{
    tc_tensor x = ti_tensor_new(&lw->ctx->scratch, ti_type_make(lw->ctx, TC_f32, rank, dim));
    int64_t first = ti_dtype_min(from->dtype) - ti_zero_of(from);
    int64_t n = tc_type_count(x.type);
    float scale = (float)ti_scale_of(from);
    for (int64_t i = 0; i < n; i++)
        ((float *)x.data)[i] = (float)(i + first) * scale;
    return x;
}

/* Results as codes, not yet rounded or clamped, in the arithmetic of ti_quantize_into; bools as 0
 * and 1. */
static void as_codes(tc_tensor y, const tc_quant *q, double *code)
{
    float inverse = q ? (float)(1.0 / q->scale[0]) : 1;
    int64_t n = tc_type_count(y.type);
    const float *real = y.type->dtype == TC_f32 ? y.data : NULL;
    for (int64_t i = 0; i < n; i++) {
        float v = (real ? real[i] : (float)ti_load_f64(y, i)) * inverse;
        code[i] = v != v ? 0 : q ? (double)v + (double)q->zero[0] : (double)v;
    }
}

double *ti_function_codes(tc_build *lw, const tc_node *node, int which)
{
    const tc_type *from = ti_lower_type(lw, node, which), *to = ti_lower_result(lw, node, 0);
    int64_t n = ti_lookup_count(from->dtype);
    tc_tensor given[TC_MAX_RANK] = {{NULL, NULL}}, y;
    given[which] = all_reals(lw, from, 1, &n);
    if (!evaluate(lw, node, given, &y))
        return NULL;
    double *code = tc_new_n(&lw->ctx->scratch, double, (size_t)n);
    as_codes(y, to->quant, code);
    return code;
}

/* How a result is stored in tables: its own codes, or zeros and ones for a bool. */
typedef struct stored {
    tc_dtype dtype;
    const tc_quant *quant;
} stored;

static bool storage(const tc_type *to, stored *s)
{
    static const int64_t zero = 0;
    static const double one = 1;
    static const tc_quant truth = {
        .axis = -1, .count = 1, .lo = 0, .hi = 1, .scale = &one, .zero = &zero};
    *s = to->dtype == TC_bool ? (stored){TC_i8, &truth} : (stored){to->dtype, to->quant};
    return s->quant && s->quant->axis < 0;
}

static tc_val finished(tc_build *lw, tc_val y, const tc_type *to)
{
    return ti_b_tosa_expand(lw, to->dtype == TC_bool ? ti_b_tosa_cast(lw, y, TC_bool) : y, to->rank,
                            to->dim);
}

bool ti_lower_try_function(tc_build *lw, const tc_node *node, tc_val *out)
{
    int which = ti_function_operand(lw, node);
    const tc_type *to = ti_lower_result(lw, node, 0);
    stored s;
    if (which < 0 || !ti_is_activation(ti_lower_type(lw, node, which)) || !storage(to, &s))
        return false;
    const double *code = ti_function_codes(lw, node, which);
    if (!code)
        return true;
    tc_val x = ti_lower_in(lw, node, which);
    out[0] = finished(
        lw, ti_put_lookup(lw, x, ti_lower_type(lw, node, which), s.dtype, s.quant, code), to);
    return true;
}

/* ---- two operands ---- */

/* Exactly two operands that are not one number everywhere, both i8. */
static bool two_operands(tc_build *lw, const tc_node *node, int *pair)
{
    int n = 0;
    float unused;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || ti_function_number(lw, node->in[i], &unused))
            continue;
        const tc_type *t = ti_lower_type(lw, node, i);
        if (n == 2 || !ti_is_activation(t) || t->dtype != TC_i8)
            return false;
        pair[n++] = i;
    }
    return n == 2;
}

bool ti_lower_try_pair(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    int pair[2];
    stored s;
    if (!lw->lower->target->machine->can.gathers || !two_operands(lw, node, pair) ||
        !storage(to, &s))
        return false;
    tc_tensor given[TC_MAX_RANK] = {{NULL, NULL}}, y;
    tc_val at[2];
    for (int i = 0; i < 2; i++) {
        given[pair[i]] = all_reals(lw, ti_lower_type(lw, node, pair[i]), 2,
                                   i ? (int64_t[]){1, 256} : (int64_t[]){256, 1});
        tc_val x = ti_b_tosa_rank(lw, ti_lower_in(lw, node, pair[i]), to->rank);
        at[i] = ti_put_rescale(lw, x, i ? 1 : 256, -128, 0, TC_i32);
    }
    if (!evaluate(lw, node, given, &y))
        return true;
    double *code = tc_new_n(&lw->ctx->scratch, double, 65536);
    as_codes(y, to->quant, code);
    tc_val sum = ti_b_tosa_add(lw, at[0], at[1]);
    out[0] = finished(lw, ti_put_listed(lw, sum, s.dtype, s.quant, code), to);
    return true;
}

void ti_lower_int_function(tc_build *lw, const tc_node *node, tc_val *out)
{
    if (!ti_lower_try_function(lw, node, out) && !ti_lower_try_wide(lw, node, out) &&
        !ti_lower_try_pair(lw, node, out))
        ti_lower_refuse(lw, ti_function_operand(lw, node) < 0
                                ? "more of its operands vary than a table can have"
                                : "its operand or its result does not have one scale");
}
