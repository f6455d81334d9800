/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_eltwise.c -- builders of elementwise operators on codes, several operands. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_fixed.h"

static float f32_scale(tc_tfl_node *n, const tc_tfl_tensor *t)
{
    return (float)ti_tfl_scale(n, t);
}

/* ---- sums ----
 *
 * Both operands are moved left by `left`, multiplied down to twice the larger scale, added, and
 * brought to the result's scale. */
typedef struct sum {
    tc_tfl_factor in[2], out;
    int left, sign; /* sign of the second operand */
    int64_t zero[2], to_zero;
    tc_tfl_range range;
    bool one_step[2]; /* the move and the factor in one rescale */
} sum;

/* An operand before the addition, as the runtime has it or in one step. */
static int32_t operand(const sum *s, int k, bool one_step, int64_t code)
{
    int32_t v = (int32_t)(code - s->zero[k]);
    if (!one_step)
        return ti_tfl_scaled((int32_t)((uint32_t)v << s->left), s->in[k]);
    return ti_tfl_scaled(v, (tc_tfl_factor){s->in[k].fraction, s->in[k].shift + s->left});
}

static int64_t result(const sum *s, int64_t total)
{
    int64_t y = ti_tfl_scaled((int32_t)total, s->out) + s->to_zero;
    return ti_max_i64(s->range.lo, ti_min_i64(y, s->range.hi));
}

/* Whether one step gives the same results for all pairs of int8 codes. */
static bool same_for_all(const sum *s)
{
    int32_t two[2][256], one[2][256];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 256; i++) {
            two[k][i] = operand(s, k, false, i - 128);
            one[k][i] = operand(s, k, true, i - 128);
        }
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++) {
            int64_t a = (int64_t)two[0][i] + s->sign * (int64_t)two[1][j],
                    b = (int64_t)one[0][i] + s->sign * (int64_t)one[1][j];
            if (a != b && result(s, a) != result(s, b))
                return false;
        }
    return true;
}

static tc_val scaled_operand(tc_build *m, const sum *s, int k, tc_val x)
{
    if (s->one_step[k]) {
        tc_tfl_factor f = {s->in[k].fraction, s->in[k].shift + s->left};
        return ti_tfl_rescale(m, x, &f, 1, s->zero[k], 0, TC_i32);
    }
    x = ti_tfl_widen(m, x, s->zero[k], s->left);
    return ti_tfl_rescale(m, x, &s->in[k], 1, 0, 0, TC_i32);
}

/* extra 1: the sum, 2: the difference */
static void add_or_subtract(tc_tfl_node *n, int sign)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t[2] = {ti_tfl_in_tensor(n, 0), ti_tfl_in_tensor(n, 1)},
                        *y = ti_tfl_out_tensor(n, 0);
    tc_val x[2];
    sum s = {.sign = sign};
    for (int k = 0; k < 2; k++) {
        x[k] = ti_tfl_need(n, k);
        if (!ti_tfl_is_codes(t[k]) || !ti_tfl_is_codes(y))
            ti_b_unsupported(m, "a sum of quantized numbers and others");
    }
    double a = ti_tfl_scale(n, t[0]), b = ti_tfl_scale(n, t[1]), c = ti_tfl_scale(n, y);
    TC_STOP(m);
    bool wide = y->dtype == TC_i16;
    double twice = 2 * fmax(a, b);
    s.left = wide ? 15 : 20;
    s.in[0] = ti_tfl_factor_of(a / twice);
    s.in[1] = ti_tfl_factor_of(b / twice);
    s.out = ti_tfl_factor_of(twice / (ldexp(1, s.left) * c));
    s.zero[0] = ti_tfl_zero(t[0]);
    s.zero[1] = ti_tfl_zero(t[1]);
    s.to_zero = ti_tfl_zero(y);
    s.range = ti_tfl_range_of(y, ti_tfl_enum(n, 0));
    for (int k = 0; k < 2; k++) /* a half is a shift, nothing is rounded */
        s.one_step[k] = s.in[k].fraction == 1 << 30;
    if (!wide && !(s.one_step[0] && s.one_step[1]) && same_for_all(&s))
        s.one_step[0] = s.one_step[1] = true;
    for (int k = 0; k < 2; k++)
        x[k] = scaled_operand(m, &s, k, x[k]);
    tc_val v = ti_tfl_two(m, sign > 0 ? TC_OP_tosa_add : TC_OP_tosa_sub, x[0], x[1]);
    v = ti_tfl_rescale(m, v, &s.out, 1, 0, s.to_zero, y->dtype);
    ti_tfl_bind(n, 0, ti_tfl_clamp(m, v, s.range));
}

void ti_tfl_codes_add(tc_tfl_node *n) { add_or_subtract(n, 1); }
void ti_tfl_codes_sub(tc_tfl_node *n) { add_or_subtract(n, -1); }

/* ((a - z) (b - z)) by one factor */
void ti_tfl_codes_mul(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t[2] = {ti_tfl_in_tensor(n, 0), ti_tfl_in_tensor(n, 1)},
                        *y = ti_tfl_out_tensor(n, 0);
    tc_val a = ti_tfl_need(n, 0), b = ti_tfl_need(n, 1);
    if (!ti_tfl_is_codes(t[0]) || !ti_tfl_is_codes(t[1]) || !ti_tfl_is_codes(y))
        ti_b_unsupported(m, "a product of quantized numbers and others");
    float real = f32_scale(n, t[0]) * f32_scale(n, t[1]) / f32_scale(n, y);
    TC_STOP(m);
    tc_tfl_factor f = ti_tfl_factor_of((double)real);
    a = ti_tfl_widen(m, a, ti_tfl_zero(t[0]), 0);
    b = ti_tfl_widen(m, b, ti_tfl_zero(t[1]), 0);
    tc_val v = ti_tfl_mul(m, a, b, 0);
    v = ti_tfl_rescale(m, v, &f, 1, 0, ti_tfl_zero(y), y->dtype);
    ti_tfl_bind(n, 0, ti_tfl_clamp(m, v, ti_tfl_range_of(y, ti_tfl_enum(n, 0))));
}

/* (a - b)^2, operands by twice the larger scale; int8 ones are moved left by 7 */
void ti_tfl_codes_squared_difference(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t[2] = {ti_tfl_in_tensor(n, 0), ti_tfl_in_tensor(n, 1)},
                        *y = ti_tfl_out_tensor(n, 0);
    tc_val x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = ti_tfl_need(n, k);
        if (!ti_tfl_is_codes(t[k]) || !ti_tfl_is_codes(y) || t[k]->dtype != y->dtype)
            ti_b_unsupported(m, "SQUARED_DIFFERENCE of %s",
                             t[k] ? ti_tfl_type_name(t[k]->code) : "nothing");
    }
    double s[2] = {ti_tfl_scale(n, t[0]), ti_tfl_scale(n, t[1])}, c = ti_tfl_scale(n, y);
    TC_STOP(m);
    double twice = 2 * fmax(s[0], s[1]);
    int left = y->dtype == TC_i8 ? 7 : 0;
    for (int k = 0; k < 2; k++) {
        tc_tfl_factor f = ti_tfl_factor_of(s[k] / twice);
        x[k] = ti_tfl_widen(m, x[k], ti_tfl_zero(t[k]), left);
        x[k] = ti_tfl_rescale(m, x[k], &f, 1, 0, 0, TC_i32);
    }
    tc_tfl_factor f = ti_tfl_factor_of(twice * twice / (ldexp(1, 2 * left) * c));
    tc_val d = ti_tfl_two(m, TC_OP_tosa_sub, x[0], x[1]);
    d = ti_tfl_mul(m, d, d, 0);
    d = ti_tfl_rescale(m, d, &f, 1, 0, ti_tfl_zero(y), y->dtype);
    ti_tfl_bind(n, 0, d);
}

/* MAXIMUM and MINIMUM: the codes themselves, whose scales are one, as i32. */
void ti_tfl_codes_extreme(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val a = ti_tfl_need(n, 0), b = ti_tfl_need(n, 1);
    const tc_tfl_tensor *y = ti_tfl_out_tensor(n, 0);
    tc_op op = n->row->op == TC_OP_maximum ? TC_OP_tosa_maximum : TC_OP_tosa_minimum;
    if (m->status != TC_OK || !y)
        return;
    a = ti_tfl_widen(m, a, 0, 0);
    b = ti_tfl_widen(m, b, 0, 0);
    tc_val v = ti_tfl_two(m, op, a, b);
    ti_tfl_bind(n, 0, ti_tfl_rescale(m, v, &(tc_tfl_factor){1 << 30, 1}, 1, 0, 0, y->dtype));
}

/* Codes shifted left by 8 and multiplied by their scales are compared; int16 ones directly. */
void ti_tfl_codes_compare(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x[2];
    enum { LEFT = 8 };
    for (int k = 0; k < 2; k++) {
        const tc_tfl_tensor *t = ti_tfl_in_tensor(n, k);
        tc_tfl_factor f = ti_tfl_factor_of(ti_tfl_scale(n, t));
        x[k] = ti_tfl_need(n, k);
        TC_STOP(m);
        bool wide = t->dtype == TC_i16;
        x[k] = ti_tfl_widen(m, x[k], wide ? 0 : ti_tfl_zero(t), wide ? 0 : LEFT);
        x[k] = wide ? x[k] : ti_tfl_rescale(m, x[k], &f, 1, 0, 0, TC_i32);
    }
    static const struct {
        tc_op from, to;
        bool swap, not;
    } how[] = {{TC_OP_eq, TC_OP_tosa_equal, false, false},
               {TC_OP_ne, TC_OP_tosa_equal, false, true},
               {TC_OP_gt, TC_OP_tosa_greater, false, false},
               {TC_OP_ge, TC_OP_tosa_greater_equal, false, false},
               {TC_OP_lt, TC_OP_tosa_greater, true, false},
               {TC_OP_le, TC_OP_tosa_greater_equal, true, false}};
    for (size_t i = 0; i < TC_COUNT(how); i++)
        if (how[i].from == n->row->op) {
            tc_val y = ti_tfl_two(m, how[i].to, x[how[i].swap], x[!how[i].swap]);
            ti_tfl_bind(n, 0, how[i].not ? ti_b_tosa_logical_not(m, y) : y);
        }
}

/* x >= z ? (x - z) by one factor : (x - z) (slope - z) by another. */
void ti_tfl_codes_prelu(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *t[2] = {ti_tfl_in_tensor(n, 0), ti_tfl_in_tensor(n, 1)},
                        *y = ti_tfl_out_tensor(n, 0);
    tc_val x = ti_tfl_need(n, 0), slope = ti_tfl_need(n, 1);
    float s = f32_scale(n, t[0]), a = f32_scale(n, t[1]), c = f32_scale(n, y);
    TC_STOP(m);
    int64_t zero = ti_tfl_zero(t[0]), to = ti_tfl_zero(y);
    tc_tfl_factor above = ti_tfl_factor_of((double)(s / c)),
                  below = ti_tfl_factor_of((double)(s * a / c));
    tc_val up = ti_tfl_rescale(m, x, &above, 1, zero, to, y->dtype);
    tc_val down = ti_tfl_clamp(m, x, (tc_tfl_range){ti_dtype_min(t[0]->dtype), zero});
    down = ti_tfl_widen(m, down, zero, 0);
    slope = ti_tfl_widen(m, slope, ti_tfl_zero(t[1]), 0);
    down = ti_tfl_mul(m, down, slope, 0);
    down = ti_tfl_rescale(m, down, &below, 1, 0, to, y->dtype);
    ti_tfl_bind(n, 0, ti_tfl_joined(m, TC_OP_tosa_add, up, down, to, y->dtype));
}

/* Codes of one domain after another; unlike ones of 8 bits are brought to the result's by a factor
 * in f32. */
void ti_tfl_codes_concatenation(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *y = ti_tfl_out_tensor(n, 0);
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) {
        const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
        in[i] = ti_tfl_need(n, i);
        float s = f32_scale(n, t), c = f32_scale(n, y);
        TC_STOP(m);
        if (s == c && ti_tfl_zero(t) == ti_tfl_zero(y))
            continue;
        if (y->dtype != TC_i8) /* int16 codes are moved whatever their scales */
            continue;
        int8_t table[256];
        float inverse = 1.0f / c, factor = s * inverse,
              bias = -(float)(ti_tfl_zero(t) + (t->shifted ? 128 : 0)) * factor;
        for (int k = 0; k < 256; k++) { /* of uint8 codes */
            double v = (double)roundf((float)k * factor + bias) + (double)ti_tfl_zero(y) + 128;
            table[k] = (int8_t)(fmax(fmin(v, 255), 0) - 128);
        }
        in[i] = ti_tfl_table(m, in[i], table);
    }
    if (m->status != TC_OK || n->n_in < 1)
        return;
    int axis = ti_b_axis(m, ti_tfl_int(n, 0, 0), ti_b_type(m, in[0])->rank);
    ti_tfl_bind(n, 0, ti_b_cat(m, axis, in, n->n_in));
}

/* A choice between codes of one domain. */
void ti_tfl_codes_select(tc_tfl_node *n) { n->row->build(n); }

/* Movement passes codes unchanged. */
void ti_tfl_codes_same(tc_tfl_node *n) { n->row->build(n); }
