/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_quant.c -- builders of conversions between real values and codes. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_fixed.h"

/* Scales and zeros of t as our operators have them, on x. */
static tc_val step(tc_tfl_node *n, tc_op op, tc_val x, const tc_tfl_tensor *t)
{
    tc_build *m = &n->m;
    tc_attr_quantize a = {.axis = -1,
                          .dtype = op == TC_OP_quantize ? t->dtype : TC_f32,
                          .qmin = ti_dtype_min(t->dtype),
                          .qmax = ti_dtype_max(t->dtype),
                          .divides = op == TC_OP_quantize,
                          .away = op == TC_OP_quantize};
    TC_STOP_WITH(m, TC_NONE);
    if (t->n_scale == 1) {
        a.scale = ti_tfl_scale(n, t);
        a.zero = t->zero[0];
        return ti_b_op(m, op, ti_arena_copy(&m->ctx->arena, &a, sizeof a), &x, 1);
    }
    int64_t count = t->n_scale;
    const tc_type *type = ti_b_type(m, x);
    if (t->block || t->axis < 0 || t->axis >= type->rank || type->dim[t->axis] != count) {
        ti_b_unsupported(m, "%d scales along axis %d%s", t->n_scale, t->axis,
                         t->block ? " in blocks" : "");
        return TC_NONE;
    }
    tc_tensor s = ti_b_tensor(m, TC_f32, 1, &count);
    for (int64_t i = 0; i < count; i++)
        ti_store_f64(s, i, t->scale[i]);
    a.axis = t->axis;
    tc_val scale = ti_b_const(m, s, NULL), zero = ti_tfl_const_of(m, TC_i32, 1, &count, t->zero);
    return ti_b_op(m, op, ti_arena_copy(&m->ctx->arena, &a, sizeof a), (tc_val[]){x, scale, zero},
                   3);
}

tc_val ti_tfl_real(tc_tfl_node *n, int i)
{
    tc_val x = ti_tfl_need(n, i);
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    TC_STOP_WITH(&n->m, TC_NONE);
    if (ti_is_float(ti_b_dtype(&n->m, x))) /* narrow ones */
        return ti_b_cast(&n->m, x, TC_f32);
    if (!t->n_scale) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "tensor '%s' has no scale", t->name);
        return TC_NONE;
    }
    if (t->dtype == TC_i32) { /* (x - zero) scale */
        x = ti_b_cast(&n->m, x, TC_f32);
        x = t->zero[0] ? ti_b_add_n(&n->m, x, (double)-t->zero[0]) : x;
        return ti_b_mul_n(&n->m, x, ti_tfl_scale(n, t));
    }
    return step(n, TC_OP_dequantize, x, t);
}

void ti_tfl_build_dequantize(tc_tfl_node *n)
{
    tc_val x = ti_tfl_real(n, 0);
    if (n->m.status == TC_OK)
        ti_tfl_bind(n, 0, x);
}

void ti_tfl_codes_dequantize(tc_tfl_node *n) { ti_tfl_build_dequantize(n); }

static tc_val plus(tc_build *m, tc_val x, int64_t by)
{
    TC_STOP_WITH(m, TC_NONE);
    return ti_tfl_two(m, TC_OP_tosa_add, x, ti_tfl_number(m, TC_i32, ti_b_type(m, x)->rank, by));
}

/* From real values, or from other codes. */
void ti_tfl_codes_quantize(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    const tc_tfl_tensor *from = ti_tfl_in_tensor(n, 0), *to = ti_tfl_out_tensor(n, 0);
    if (m->status != TC_OK || !to)
        return;
    if (from->code == TFL_FLOAT32) {
        ti_tfl_bind(n, 0, step(n, TC_OP_quantize, x, to));
        return;
    }
    double a = ti_tfl_scale(n, from), b = ti_tfl_scale(n, to);
    TC_STOP(m);
    tc_tfl_factor f = ti_tfl_factor_of(a / b);
    if (from->dtype != TC_i8 && from->dtype != TC_i16 && from->dtype != TC_i32) {
        ti_b_unsupported(m, "QUANTIZE from %s to %s", ti_tfl_type_name(from->code),
                         ti_tfl_type_name(to->code));
        return;
    }
    int64_t in_zero = ti_tfl_zero(from), out_zero = ti_tfl_zero(to);
    if (from->dtype != TC_i8 && in_zero) { /* RESCALE takes zero points off 8 bits only */
        x = from->dtype == TC_i16 ? ti_tfl_widen(m, x, 0, 0) : x;
        x = plus(m, x, -in_zero);
        in_zero = 0;
    }
    bool later = to->dtype != TC_i8 && out_zero;
    x = ti_tfl_rescale(m, x, &f, 1, in_zero, later ? 0 : out_zero, later ? TC_i32 : to->dtype);
    if (later)
        x = ti_tfl_rescale(m, plus(m, x, out_zero), &(tc_tfl_factor){1 << 30, 1}, 1, 0, 0,
                           to->dtype);
    ti_tfl_bind(n, 0, x);
}

void ti_tfl_build_quantize(tc_tfl_node *n) { ti_tfl_codes_quantize(n); }
