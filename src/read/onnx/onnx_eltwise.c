/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_eltwise.c -- builders of elementwise operators. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* The row's operator between all inputs; extra: divided by their number. */
void ti_onnx_build_variadic(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    for (int i = 1; i < n->n_in; i++) {
        tc_val y = ti_onnx_need(n, i);
        x = ti_b_binary(&n->m, n->row->op, x, y);
    }
    if (n->row->extra != 0 && n->n_in > 1)
        x = ti_b_mul_n(&n->m, x, 1.0 / n->n_in);
    ti_onnx_bind(n, 0, x);
}

void ti_onnx_build_bit_shift(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0), y = ti_onnx_need(n, 1);
    bool left = ti_text_eq(ti_onnx_text(n, "direction", ""), "LEFT");
    tc_op op = left ? TC_OP_shift_left : TC_OP_shift_right;
    ti_onnx_bind(n, 0, ti_b_op(&n->m, op, NULL, (tc_val[]){x, y}, 2));
}

void ti_onnx_build_cast(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    int64_t to = ti_onnx_int(n, "to", 0);
    tc_dtype dtype = ti_onnx_need_dtype(n, to);
    tc_val y = ti_b_cast(&n->m, x, dtype);
    enum { UINT4 = 21 };
    if (to == UINT4 && n->m.status == TC_OK) /* kept in a byte */
        y = ti_b_bitwise_and(&n->m, y, ti_b_scalar_i64(&n->m, TC_u8, 15));
    ti_onnx_bind(n, 0, y);
}

/* ---- activations with parameters ---- */

void ti_onnx_build_hard_sigmoid(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    double alpha = ti_onnx_float(n, "alpha", (double)0.2f), beta = ti_onnx_float(n, "beta", 0.5);
    if (fabs(alpha - 1.0 / 6) < 1e-7 && beta == 0.5) {
        ti_onnx_bind(n, 0, ti_b_hardsigmoid(&n->m, x));
        return;
    }
    TC_STOP(&n->m);
    tc_dtype dtype = ti_b_dtype(&n->m, x);
    tc_val start = ti_b_scalar(&n->m, dtype, beta);
    tc_attr_alpha *a = ti_b_attr(&n->m, alpha, alpha);
    tc_val y = ti_b_op(&n->m, TC_OP_add, a, (tc_val[]){start, x}, 2);
    ti_onnx_bind(n, 0, ti_b_clamp(&n->m, y, 0, 1));
}

/* x < -lambd: x + bias;  x > lambd: x - bias;  else 0 */
void ti_onnx_build_shrink(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    double bias = ti_onnx_float(n, "bias", 0), lambd = ti_onnx_float(n, "lambd", 0.5);
    TC_STOP(&n->m);
    tc_dtype dtype = ti_b_dtype(&n->m, x);
    tc_val zero = ti_b_scalar(&n->m, dtype, 0), up = ti_b_add_n(&n->m, x, bias),
           down = ti_b_add_n(&n->m, x, -bias);
    tc_val lo = ti_b_scalar(&n->m, ti_is_float(dtype) ? dtype : TC_f32, -lambd),
           hi = ti_b_scalar(&n->m, ti_is_float(dtype) ? dtype : TC_f32, lambd);
    tc_val below = ti_b_lt(&n->m, x, lo), above = ti_b_gt(&n->m, x, hi);
    tc_val y = ti_b_where(&n->m, above, down, zero);
    ti_onnx_bind(n, 0, ti_b_where(&n->m, below, up, y));
}

/* min(max(x, lo), hi); bounds are attributes before operator set 11, then inputs. */
void ti_onnx_build_clip(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0), lo = ti_onnx_in(n, 1), hi = ti_onnx_in(n, 2);
    tc_tensor t;
    double least = ti_onnx_float(n, "min", -INFINITY), most = ti_onnx_float(n, "max", INFINITY);
    bool known = !lo || ti_b_known(&n->m, lo, &t);
    if (lo && known)
        least = ti_load_f64(t, 0);
    bool known_too = !hi || ti_b_known(&n->m, hi, &t);
    if (hi && known_too)
        most = ti_load_f64(t, 0);
    TC_STOP(&n->m);
    if (!known || !known_too) {
        tc_val y = lo ? ti_b_maximum(&n->m, x, lo) : x;
        ti_onnx_bind(n, 0, hi ? ti_b_minimum(&n->m, y, hi) : y);
        return;
    }
    bool bounded = least > -INFINITY || most < INFINITY;
    bool relu = least == 0 && most >= (double)3.402823466e38f;
    ti_onnx_bind(n, 0,
                 relu      ? ti_b_relu(&n->m, x)
                 : bounded ? ti_b_clamp(&n->m, x, least, fmax(least, most))
                           : x);
}

/* slope: one number, one per channel (as our operator has it), or any that broadcasts to x. */
void ti_onnx_build_prelu(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0), slope = ti_onnx_need(n, 1);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x), *s = ti_b_type(&n->m, slope);
    int64_t count = tc_type_count(s);
    bool per_channel =
        t->rank > 1 && count == t->dim[1] && s->rank == t->rank - 1 && s->dim[0] == count;
    if ((count == 1 || per_channel) && ti_is_float(t->dtype)) {
        slope = ti_b_flat(&n->m, slope);
        ti_onnx_bind(n, 0, ti_b_prelu(&n->m, x, slope));
        return;
    }
    tc_val zero = ti_b_scalar(&n->m, t->dtype, 0), scaled = ti_b_mul(&n->m, x, slope);
    tc_val below = ti_b_lt(&n->m, x, zero);
    ti_onnx_bind(n, 0, ti_b_where(&n->m, below, scaled, x));
}

/* At inference nothing is dropped; the mask is all true. */
void ti_onnx_build_dropout(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_tensor t;
    bool training = false, drops = ti_onnx_float(n, "ratio", 0.5) != 0;
    tc_val ratio = ti_onnx_in(n, 1);
    if (ratio && ti_b_settled(&n->m, ratio, &t))
        drops = ti_load_f64(t, 0) != 0;
    if (ti_onnx_has_in(n, 2))
        training = ti_onnx_settled_int(n, 2, 0) != 0;
    if (training && drops)
        ti_b_unsupported(&n->m, "Dropout in training mode: its result is random");
    TC_STOP(&n->m);
    ti_onnx_bind(n, 0, ti_b_identity(&n->m, x));
    const tc_type *type = ti_b_type(&n->m, x);
    if (ti_onnx_wants(n, 1))
        ti_onnx_bind(n, 1, ti_b_full(&n->m, type->rank, type->dim, 1, TC_bool));
}
