/* SPDX-License-Identifier: Apache-2.0 */
/* function.c -- functions of one number as tables.
 *
 * The operator's own kernel is run on the real number of every code of the operand's domain; the results,
 * as codes of the result's domain, are the table.  So one rule serves every operator that computes each
 * element from one element, and every operator of more operands of which all but one are the same constant
 * everywhere.  For i8 nothing is lost.  lookup.c makes the TOSA nodes. */
#include <math.h>

#include "build.h"
#include "function.h"
#include "move.h"

#include "../num/load.h"
#include "../num/quant.h"

/* The one real number that a constant operand holds everywhere; as f32, the way the kernel would see it. */
static bool one_number(tc_lower *lw, tc_val v, float *x)
{
    tc_tensor t = tc_tensor_of(lw->from, v);
    int64_t n = t.type ? tc_type_count(t.type) : 0;
    if (!t.data || !n || (t.type->quant && t.type->quant->axis >= 0))
        return false;
    double first = tc_load_f64(t, 0);
    for (int64_t i = 1; i < n; i++)
        if (tc_load_f64(t, i) != first)
            return false;
    const tc_quant *q = t.type->quant;
    *x = q ? (float)((int64_t)first - q->zero[0]) * (float)q->scale[0] : (float)first;
    return true;
}

int tc_function_operand(tc_lower *lw, const tc_node *node)
{
    int which = -1;
    float unused;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || one_number(lw, node->in[i], &unused))
            continue;
        if (which >= 0)
            return -1;
        which = i;
    }
    return which < 0 && tc_lower_type(lw, node, 0) ? 0 : which; /* all constant: any will do */
}

/* The node's operator on n given numbers at operand `which`. */
static bool evaluate(tc_lower *lw, const tc_node *node, int which, tc_tensor x, tc_tensor *y)
{
    tc_graph g = tc_graph_empty(lw->to->module, "function");
    tc_val in[TC_MAX_RANK] = {0};
    tc_tensor operand[TC_MAX_RANK] = {{NULL, NULL}};
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i])
            continue;
        operand[i] = x;
        if (i != which) {
            bool prelu = node->op == TC_OP_prelu; /* its weight is a list */
            operand[i] = tc_tensor_new(&lw->ctx->arena, tc_type_make(lw->ctx, TC_f32, prelu, (int64_t[]){1}));
            if (!one_number(lw, node->in[i], operand[i].data))
                return false;
        }
        in[i] = tc_graph_input(&g, operand[i].type, NULL);
    }
    tc_node *made;
    lw->status = tc_graph_emit(&g, node->op, node->attr, in, node->n_in, 1, node->loc, &made);
    if (lw->status == TC_OK)
        lw->status = tc_eval_node(&g, made, operand, y, &lw->ctx->arena);
    return lw->status == TC_OK;
}

/* Results as codes, not yet rounded or clamped, in the arithmetic of tc_quantize_into; bools as 0 and 1. */
static void as_codes(tc_tensor y, const tc_quant *q, double *code)
{
    float inverse = q ? (float)(1.0 / q->scale[0]) : 1;
    for (int64_t i = 0; i < tc_type_count(y.type); i++) {
        float v = (float)tc_load_f64(y, i) * inverse;
        code[i] = v != v ? 0 : q ? (double)v + (double)q->zero[0] : (double)v;
    }
}

double *tc_function_codes(tc_lower *lw, const tc_node *node, int which)
{
    const tc_type *from = tc_lower_type(lw, node, which), *to = tc_lower_result(lw, node, 0);
    int64_t n = tc_lookup_count(from->dtype), lowest = tc_dtype_min(from->dtype);
    tc_tensor x = tc_tensor_new(&lw->ctx->arena, tc_type_make(lw->ctx, TC_f32, 1, &n)), y;
    for (int64_t i = 0; i < n; i++)
        ((float *)x.data)[i] = (float)(i + lowest - tc_zero_of(from)) * (float)tc_scale_of(from);
    if (!evaluate(lw, node, which, x, &y))
        return NULL;
    double *code = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    as_codes(y, to->quant, code);
    return code;
}

/* A table of zeros and ones, then bool. */
static tc_val truth(tc_lower *lw, tc_val x, const tc_type *from, const double *code)
{
    static const int64_t zero = 0;
    static const double one = 1;
    tc_quant q = {.axis = -1, .count = 1, .lo = 0, .hi = 1, .scale = &one, .zero = &zero};
    return tc_put_tosa_cast(lw, tc_put_lookup(lw, x, from, TC_i8, &q, code), TC_bool);
}

bool tc_lower_try_function(tc_lower *lw, const tc_node *node, tc_val *out)
{
    int which = tc_function_operand(lw, node);
    const tc_type *to = tc_lower_result(lw, node, 0);
    if (which < 0 || !tc_is_activation(tc_lower_type(lw, node, which)))
        return false;
    bool codes = to->quant && to->quant->axis < 0;
    if (!codes && to->dtype != TC_bool)
        return false;
    const tc_type *from = tc_lower_type(lw, node, which);
    const double *code = tc_function_codes(lw, node, which);
    if (!code)
        return true;
    tc_val x = tc_lower_in(lw, node, which);
    x = codes ? tc_put_lookup(lw, x, from, to->dtype, to->quant, code) : truth(lw, x, from, code);
    out[0] = tc_put_expand(lw, x, to->rank, to->dim);
    return true;
}

void tc_lower_int_function(tc_lower *lw, const tc_node *node, tc_val *out)
{
    if (!tc_lower_try_function(lw, node, out))
        tc_lower_refuse(lw, tc_function_operand(lw, node) < 0
                                ? "more than one of its operands is not the same constant everywhere"
                                : "its operand or its result is not quantized by one scale");
}
