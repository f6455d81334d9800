/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_eltwise.c -- builders of elementwise operators. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* The row's operator between all inputs; extra: divided by their number. */
void tc_onnx_build_variadic(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0);
    for (int i = 1; i < n->n_in; i++) {
        tc_val y = tc_onnx_need(n, i);
        x = tc_b_binary(&n->m, n->row->op, x, y);
    }
    if (n->row->extra != 0 && n->n_in > 1)
        x = tc_b_mul_n(&n->m, x, 1.0 / n->n_in);
    tc_onnx_bind(n, 0, x);
}

void tc_onnx_build_bit_shift(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0), y = tc_onnx_need(n, 1);
    bool left = tc_text_eq(tc_onnx_text(n, "direction", ""), "LEFT");
    tc_op op = left ? TC_OP_shift_left : TC_OP_shift_right;
    tc_onnx_bind(n, 0, tc_b_op(&n->m, op, NULL, (tc_val[]){x, y}, 2));
}

void tc_onnx_build_cast(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0);
    int64_t to = tc_onnx_int(n, "to", 0);
    tc_dtype dtype = tc_onnx_need_dtype(n, to);
    tc_val y = tc_b_cast(&n->m, x, dtype);
    enum { UINT4 = 21 };
    if (to == UINT4 && n->m.status == TC_OK) /* kept in a byte */
        y = tc_b_bitwise_and(&n->m, y, tc_b_scalar_i64(&n->m, TC_u8, 15));
    tc_onnx_bind(n, 0, y);
}

/* ---- activations with parameters ---- */

void tc_onnx_build_hard_sigmoid(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0);
    double alpha = tc_onnx_float(n, "alpha", (double)0.2f), beta = tc_onnx_float(n, "beta", 0.5);
    if (fabs(alpha - 1.0 / 6) < 1e-7 && beta == 0.5) {
        tc_onnx_bind(n, 0, tc_b_hardsigmoid(&n->m, x));
        return;
    }
    TC_STOP(&n->m);
    tc_dtype dtype = tc_b_dtype(&n->m, x);
    tc_val start = tc_b_scalar(&n->m, dtype, beta);
    tc_attr_alpha *a = tc_b_attr(&n->m, alpha, alpha);
    tc_val y = tc_b_op(&n->m, TC_OP_add, a, (tc_val[]){start, x}, 2);
    tc_onnx_bind(n, 0, tc_b_clamp(&n->m, y, 0, 1));
}

/* x < -lambd: x + bias;  x > lambd: x - bias;  else 0 */
void tc_onnx_build_shrink(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0);
    double bias = tc_onnx_float(n, "bias", 0), lambd = tc_onnx_float(n, "lambd", 0.5);
    TC_STOP(&n->m);
    tc_dtype dtype = tc_b_dtype(&n->m, x);
    tc_val zero = tc_b_scalar(&n->m, dtype, 0), up = tc_b_add_n(&n->m, x, bias),
           down = tc_b_add_n(&n->m, x, -bias);
    tc_val lo = tc_b_scalar(&n->m, tc_is_float(dtype) ? dtype : TC_f32, -lambd),
           hi = tc_b_scalar(&n->m, tc_is_float(dtype) ? dtype : TC_f32, lambd);
    tc_val below = tc_b_lt(&n->m, x, lo), above = tc_b_gt(&n->m, x, hi);
    tc_val y = tc_b_where(&n->m, above, down, zero);
    tc_onnx_bind(n, 0, tc_b_where(&n->m, below, up, y));
}

/* min(max(x, lo), hi); bounds are attributes before operator set 11, then inputs. */
void tc_onnx_build_clip(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0), lo = tc_onnx_in(n, 1), hi = tc_onnx_in(n, 2);
    tc_tensor t;
    double least = tc_onnx_float(n, "min", -INFINITY), most = tc_onnx_float(n, "max", INFINITY);
    bool known = !lo || tc_b_known(&n->m, lo, &t);
    if (lo && known)
        least = tc_load_f64(t, 0);
    bool known_too = !hi || tc_b_known(&n->m, hi, &t);
    if (hi && known_too)
        most = tc_load_f64(t, 0);
    TC_STOP(&n->m);
    if (!known || !known_too) {
        tc_val y = lo ? tc_b_maximum(&n->m, x, lo) : x;
        tc_onnx_bind(n, 0, hi ? tc_b_minimum(&n->m, y, hi) : y);
        return;
    }
    bool bounded = least > -INFINITY || most < INFINITY;
    bool relu = least == 0 && most >= (double)3.402823466e38f;
    tc_onnx_bind(n, 0,
                 relu      ? tc_b_relu(&n->m, x)
                 : bounded ? tc_b_clamp(&n->m, x, least, fmax(least, most))
                           : x);
}

/* slope: one number, one per channel (as our operator has it), or any that broadcasts to x. */
void tc_onnx_build_prelu(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0), slope = tc_onnx_need(n, 1);
    TC_STOP(&n->m);
    const tc_type *t = tc_b_type(&n->m, x), *s = tc_b_type(&n->m, slope);
    int64_t count = tc_type_count(s);
    bool per_channel =
        t->rank > 1 && count == t->dim[1] && s->rank == t->rank - 1 && s->dim[0] == count;
    if ((count == 1 || per_channel) && tc_is_float(t->dtype)) {
        slope = tc_b_flat(&n->m, slope);
        tc_onnx_bind(n, 0, tc_b_prelu(&n->m, x, slope));
        return;
    }
    tc_val zero = tc_b_scalar(&n->m, t->dtype, 0), scaled = tc_b_mul(&n->m, x, slope);
    tc_val below = tc_b_lt(&n->m, x, zero);
    tc_onnx_bind(n, 0, tc_b_where(&n->m, below, scaled, x));
}

/* At inference nothing is dropped; the mask is all true. */
void tc_onnx_build_dropout(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0);
    tc_tensor t;
    bool training = false, drops = tc_onnx_float(n, "ratio", 0.5) != 0;
    tc_val ratio = tc_onnx_in(n, 1);
    if (ratio && tc_b_settled(&n->m, ratio, &t))
        drops = tc_load_f64(t, 0) != 0;
    if (tc_onnx_has_in(n, 2))
        training = tc_onnx_settled_int(n, 2, 0) != 0;
    if (training && drops)
        tc_b_unsupported(&n->m, "Dropout in training mode: its result is random");
    TC_STOP(&n->m);
    tc_onnx_bind(n, 0, tc_b_identity(&n->m, x));
    const tc_type *type = tc_b_type(&n->m, x);
    if (tc_onnx_wants(n, 1))
        tc_onnx_bind(n, 1, tc_b_full(&n->m, type->rank, type->dim, 1, TC_bool));
}
