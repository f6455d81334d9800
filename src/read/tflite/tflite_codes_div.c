/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_div.c -- the quotient of codes.
 *
 * The runtime multiplies a, normalized to the left, by the reciprocal of b (31 bits), by the factor
 * of the scales, and shifts right.  Of 8 bits there are 65536 pairs: their quotients are a list.
 * Of 16 bits the part that depends on one operand is a list of 65536, and the rest is computed. A
 * quotient by zero uses the reciprocal of 0 as in the runtime.  A quotient shifted right past all
 * its bits is 0 here; the runtime's shift is undefined there. */
#include "tflite_scalar.h"

typedef struct quotient {
    int64_t zero[2], to_zero;
    tc_tfl_factor f;
    tc_tfl_range range;
} quotient;

static tc_val of_pairs(tc_build *m, const quotient *q, const tc_val *x)
{
    int64_t *v = tc_new_n(&m->ctx->arena, int64_t, 65536);
    for (int64_t a = 0; a < 256; a++)
        for (int64_t b = 0; b < 256; b++) {
            int32_t y = ti_tfl_divided((int32_t)(a - 128 - q->zero[0]),
                                       (int32_t)(b - 128 - q->zero[1]), q->f);
            v[256 * a + b] =
                ti_max_i64(q->range.lo, ti_min_i64(y + q->to_zero, q->range.hi));
        }
    tc_val a = ti_tfl_widen(m, x[0], -128, 8), b = ti_tfl_widen(m, x[1], -128, 0);
    tc_val at = ti_tfl_two(m, TC_OP_tosa_add, a, b);
    return ti_tfl_listed(m, at, ti_tfl_list(m, TC_i8, v, 65536));
}

static tc_val computed(tc_build *m, const quotient *q, const tc_val *x)
{
    enum { UP, ROOM, UP_MINUS, ROOM_MINUS, INVERSE, SHIFT, NEGATIVE, LISTS };
    int64_t *list[LISTS];
    tc_val at[LISTS];
    for (int k = 0; k < LISTS; k++)
        list[k] = tc_new_n(&m->ctx->arena, int64_t, 65536);
    for (int64_t code = -32768; code < 32768; code++) {
        int64_t i = code + 32768;
        int32_t a = (int32_t)(code - q->zero[0]), b = (int32_t)(code - q->zero[1]);
        for (int minus = 0; minus < 2; minus++) {
            int32_t v = minus ? -a : a;
            int room = ti_tfl_sign_bits(v);
            list[UP + 2 * minus][i] = (int64_t)v * (INT64_C(1) << room);
            list[ROOM + 2 * minus][i] = room;
        }
        tc_tfl_quotient inverse = ti_tfl_reciprocal(b < 0 ? -b : b);
        list[INVERSE][i] = inverse.fraction;
        list[SHIFT][i] = inverse.shift - q->f.shift;
        list[NEGATIVE][i] = b < 0;
    }
    for (int k = 0; k < LISTS; k++)
        at[k] = ti_tfl_by_code(m, x[k >= INVERSE], ti_tfl_list(m, TC_i32, list[k], 65536));
    /* all at the shape of the result */
    tc_val none[2];
    for (int k = 0; k < 2; k++)
        none[k] = ti_tfl_mul(m, at[k * INVERSE], ti_tfl_i32(m, at[k * INVERSE], 0), 0);
    tc_val full = ti_tfl_two(m, TC_OP_tosa_add, none[0], none[1]);
    for (int k = 0; k < LISTS; k++)
        at[k] = ti_tfl_two(m, TC_OP_tosa_add, at[k], full);
    tc_val minus = ti_tfl_two(m, TC_OP_tosa_greater, at[NEGATIVE], full);
    tc_val up = ti_b_tosa_select(m, minus, at[UP_MINUS], at[UP]);
    tc_val room = ti_b_tosa_select(m, minus, at[ROOM_MINUS], at[ROOM]);
    tc_val y = ti_tfl_mul(m, up, at[INVERSE], 31);
    y = ti_tfl_mul(m, y, ti_tfl_i32(m, y, q->f.fraction), 31);
    tc_val down = ti_tfl_two(m, TC_OP_tosa_add, room, at[SHIFT]);
    tc_val past = ti_tfl_two(m, TC_OP_tosa_greater, down, ti_tfl_i32(m, down, 31));
    down = ti_tfl_two(m, TC_OP_tosa_minimum, down, ti_tfl_i32(m, down, 31));
    down = ti_tfl_two(m, TC_OP_tosa_maximum, down, ti_tfl_i32(m, down, 0));
    /* halves away from zero: one less where it is negative and moved at all */
    tc_val sign = ti_tfl_shift_right(m, y, ti_tfl_i32(m, y, 31), false);
    tc_val moved = ti_tfl_two(m, TC_OP_tosa_minimum, down, ti_tfl_i32(m, down, 1));
    y = ti_tfl_two(m, TC_OP_tosa_add, y, ti_tfl_mul(m, sign, moved, 0));
    y = ti_tfl_shift_right(m, y, down, true);
    y = ti_b_tosa_select(m, past, full, y);
    y = ti_tfl_rescale(m, y, &(tc_tfl_factor){1 << 30, 1}, 1, 0, q->to_zero, TC_i16);
    return ti_tfl_clamp(m, y, q->range);
}

void ti_tfl_codes_div(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t[2] = {ti_tfl_in_tensor(n, 0), ti_tfl_in_tensor(n, 1)},
                        *y = ti_tfl_out_tensor(n, 0);
    tc_val x[2];
    float scale[2];
    quotient q;
    for (int k = 0; k < 2; k++) {
        x[k] = ti_tfl_need(n, k);
        scale[k] = (float)ti_tfl_scale(n, t[k]);
        q.zero[k] = ti_tfl_zero(t[k]);
    }
    float to = (float)ti_tfl_scale(n, y);
    TC_STOP(m);
    if (t[0]->code != y->code || t[1]->code != y->code) {
        ti_b_unsupported(m, "DIV of %s by %s to %s", ti_tfl_type_name(t[0]->code),
                         ti_tfl_type_name(t[1]->code), ti_tfl_type_name(y->code));
        return;
    }
    q.f = ti_tfl_factor_of((double)(scale[0] / (scale[1] * to)));
    q.to_zero = ti_tfl_zero(y);
    q.range = ti_tfl_range_of(y, ti_tfl_enum(n, 0));
    ti_tfl_bind(n, 0, y->dtype == TC_i8 ? of_pairs(m, &q, x) : computed(m, &q, x));
}
