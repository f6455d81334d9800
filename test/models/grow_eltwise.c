/* SPDX-License-Identifier: Apache-2.0 */
/* grow_eltwise.c -- operators on each element by itself. */
#include "models.h"

/* Into what the function is defined on: anything, above zero, inside (-1, 1), inside (0, 1). */
typedef enum ground { ANYWHERE, POSITIVE, INSIDE, CHANCE } ground;

static tc_val brought(garden *d, tc_val x, ground to)
{
    if (to == POSITIVE) {
        tc_val y = draw(2) ? PUT0(d, abs, x) : PUT0(d, sigmoid, x);
        return PUT(d, add, ((tc_attr_alpha){1}), y, scalar(d, 0.1 + (double)draw(8) / 4));
    }
    if (to == INSIDE)
        return draw(2) ? PUT(d, clamp, ((tc_attr_clamp){-0.9, 0.9}), x)
                       : PUT0(d, mul, PUT0(d, tanh, x), scalar(d, 0.9));
    return to == CHANCE ? PUT0(d, sigmoid, x) : x;
}

static void bare(garden *d)
{
    static const struct {
        tc_op op;
        ground on;
    } one[] = {
        {TC_OP_abs, 0},          {TC_OP_neg, 0},          {TC_OP_sign, 0},
        {TC_OP_floor, 0},        {TC_OP_ceil, 0},         {TC_OP_trunc, 0},
        {TC_OP_relu, 0},         {TC_OP_relu, 0},         {TC_OP_relu, 0},
        {TC_OP_square, 0},       {TC_OP_frac, 0},         {TC_OP_exp, INSIDE},
        {TC_OP_exp, 0},          {TC_OP_exp2, INSIDE},    {TC_OP_expm1, INSIDE},
        {TC_OP_log, POSITIVE},   {TC_OP_log2, POSITIVE},  {TC_OP_log10, POSITIVE},
        {TC_OP_log1p, POSITIVE}, {TC_OP_sqrt, POSITIVE},  {TC_OP_rsqrt, POSITIVE},
        {TC_OP_reciprocal, POSITIVE}, {TC_OP_sin, 0},     {TC_OP_cos, 0},
        {TC_OP_tan, INSIDE},     {TC_OP_asin, INSIDE},    {TC_OP_acos, INSIDE},
        {TC_OP_atan, 0},         {TC_OP_sinh, INSIDE},    {TC_OP_cosh, INSIDE},
        {TC_OP_tanh, 0},         {TC_OP_asinh, 0},        {TC_OP_acosh, POSITIVE},
        {TC_OP_atanh, INSIDE},   {TC_OP_erf, 0},          {TC_OP_erfc, 0},
        {TC_OP_erfinv, INSIDE},  {TC_OP_sigmoid, 0},      {TC_OP_log_sigmoid, 0},
        {TC_OP_silu, 0},         {TC_OP_silu, 0},         {TC_OP_mish, 0},
        {TC_OP_hardswish, 0},    {TC_OP_hardsigmoid, 0},  {TC_OP_softsign, 0},
        {TC_OP_logical_not, 0},  {TC_OP_isnan, 0},        {TC_OP_isinf, 0},
        {TC_OP_isfinite, 0},     {TC_OP_identity, 0},
    };
    tc_val x = some(d, TC_f32, 0, 6);
    size_t i = draw(TC_COUNT(one));
    if (!x)
        return;
    x = brought(d, x, one[i].on);
    if (one[i].op == TC_OP_acosh)
        x = PUT(d, add, ((tc_attr_alpha){1}), x, scalar(d, 1));
    keep(d, put(d, one[i].op, NULL, 0, 1, &x));
}

static void with_numbers(garden *d)
{
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    double a = (double)draw(9) / 4 - 1;
    switch (draw(11)) {
    case 0:
        keep(d, PUT(d, gelu, ((tc_attr_gelu){draw(2) ? TC_gelu_form_erf : TC_gelu_form_tanh}), x));
        return;
    case 1:
        keep(d, PUT(d, softplus, ((tc_attr_softplus){1 + (double)draw(3), 20}), x));
        return;
    case 2:
        keep(d, PUT(d, elu, ((tc_attr_elu){1 + (double)draw(2) / 2, 1, 1}), x));
        return;
    case 3:
        keep(d, PUT(d, leaky_relu, ((tc_attr_slope){(double)draw(5) / 10}), x));
        return;
    case 4:
        keep(d, PUT(d, hardshrink, ((tc_attr_lambda){0.5}), x));
        return;
    case 5:
        keep(d, PUT(d, softshrink, ((tc_attr_lambda){0.5}), x));
        return;
    case 6:
        keep(d, PUT(d, threshold, ((tc_attr_threshold){a, (double)draw(3)}), x));
        return;
    case 7:
        keep(d, PUT(d, clamp, ((tc_attr_clamp){draw(6) ? a : -1.0 / 0.0, a + (double)draw(8) / 2}),
                    x));
        return;
    case 8:
        keep(d, PUT(d, nan_to_num, ((tc_attr_nan_to_num){0, 100, -100}), x));
        return;
    case 9:
        keep(d, PUT(d, round, ((tc_attr_round){0}), x));
        return;
    default:
        x = brought(d, x, CHANCE);
        keep(d, PUT(d, logit, ((tc_attr_logit){1e-3}), x));
    }
}

/* Of the same type, or one that broadcasts: a constant row, channel or number, or from the pool. */
static tc_val partner(garden *d, tc_val x, double lo, double hi)
{
    const tc_type *t = type_at(d, x);
    int64_t dim[8];
    for (int i = 0; i < 20; i++) {
        tc_val y = some(d, t->dtype, 0, 6);
        const tc_type *u = type_at(d, y);
        bool fits = y && u->rank <= t->rank;
        for (int k = 0; fits && k < u->rank; k++)
            fits = u->dim[k] == 1 || u->dim[k] == t->dim[t->rank - u->rank + k];
        if (fits && draw(3))
            return y;
    }
    int from = t->rank ? (int)draw((uint64_t)t->rank + 1) : 0;
    for (int k = from; k < t->rank; k++)
        dim[k - from] = draw(3) ? t->dim[k] : 1;
    return constant(d, t->dtype, t->rank - from, dim, lo, hi);
}

static void pair(garden *d)
{
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    tc_val y = partner(d, x, -1, 1);
    if (draw(4) == 0) {
        tc_val swap = x;
        x = y;
        y = swap;
    }
    tc_attr_alpha alpha = {draw(4) ? 1 : 0.5};
    switch (draw(9)) {
    case 0:
    case 1:
        keep(d, PUT(d, add, alpha, x, y));
        return;
    case 2:
        keep(d, PUT(d, sub, alpha, x, y));
        return;
    case 3:
    case 4:
        keep(d, PUT0(d, mul, x, y));
        return;
    case 5:
        keep(d, PUT(d, div, ((tc_attr_div){TC_div_mode_exact}), x, brought(d, y, POSITIVE)));
        return;
    default: {
        static const tc_op op[] = {TC_OP_maximum, TC_OP_minimum,  TC_OP_fmax,     TC_OP_fmin,
                                   TC_OP_atan2,   TC_OP_hypot,    TC_OP_copysign, TC_OP_logaddexp};
        keep(d, put(d, op[draw(TC_COUNT(op))], NULL, 0, 2, (tc_val[]){x, y}));
    }
    }
}

static void by_a_number(garden *d)
{
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    double c = 0.5 + (double)draw(8) / 2;
    switch (draw(6)) {
    case 0:
        keep(d, PUT0(d, pow, x, scalar(d, draw(2) ? 2 : 3)));
        return;
    case 1:
        keep(d, PUT0(d, pow, brought(d, x, POSITIVE), scalar(d, c - 2)));
        return;
    case 2:
        keep(d, PUT(d, div, ((tc_attr_div){(tc_field_div_mode)draw(3)}), x, scalar(d, c)));
        return;
    case 3:
        keep(d, PUT0(d, remainder, x, scalar(d, c)));
        return;
    case 4:
        keep(d, PUT0(d, fmod, x, scalar(d, c)));
        return;
    default:
        keep(d, PUT0(d, mul, x, scalar(d, c - 2)));
    }
}

static void compared(garden *d)
{
    static const tc_op op[] = {TC_OP_eq, TC_OP_ne, TC_OP_lt, TC_OP_le, TC_OP_gt, TC_OP_ge};
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    tc_val y = draw(2) ? scalar(d, (double)draw(5) / 4 - 0.5) : partner(d, x, -1, 1);
    tc_val is = put(d, op[draw(TC_COUNT(op))], NULL, 0, 2, (tc_val[]){x, y});
    if (draw(3) == 0)
        is = PUT0(d, logical_not, is);
    if (draw(3) == 0) {
        keep(d, is);
        return;
    }
    tc_val other = draw(3) == 0 ? scalar(d, draw(3) ? 0 : -1e4) : partner(d, x, -1, 1);
    keep(d, draw(2) ? PUT0(d, where, is, x, other) : PUT0(d, where, is, other, x));
}

static void three(garden *d)
{
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    tc_val y = partner(d, x, -1, 1), z = partner(d, x, 0.25, 1);
    tc_attr_scale s = {0.5};
    switch (draw(5)) {
    case 0:
        keep(d, PUT0(d, clamp_tensor, x, draw(4) ? y : TC_NONE, z));
        return;
    case 1:
        keep(d, PUT0(d, lerp, x, y, draw(2) ? scalar(d, 0.25) : z));
        return;
    case 2:
        keep(d, PUT(d, addcmul, s, x, y, z));
        return;
    case 3:
        keep(d, PUT(d, addcdiv, s, x, y, brought(d, z, POSITIVE)));
        return;
    default: {
        const tc_type *t = type_at(d, x);
        if (t->rank > 1)
            keep(d, PUT0(d, prelu, x, constant(d, TC_f32, 1, &t->dim[1], 0, 0.5)));
    }
    }
}

static void gated(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5);
    const tc_type *t = type_at(d, x);
    for (int64_t i = 0; x && i < t->rank; i++)
        if (t->dim[i] % 2 == 0) {
            keep(d, PUT(d, glu, ((tc_attr_axis){i}), x));
            return;
        }
}

static void of_bools(garden *d)
{
    static const tc_op op[] = {TC_OP_logical_and, TC_OP_logical_or, TC_OP_logical_xor};
    tc_val x = some(d, TC_bool, 0, 6);
    if (!x)
        return;
    keep(d, draw(3) ? put(d, op[draw(3)], NULL, 0, 2, (tc_val[]){x, partner(d, x, 0, 1)})
                    : PUT(d, cast, ((tc_attr_cast){TC_f32}), x));
}

static void of_integers(garden *d)
{
    static const tc_op op[] = {TC_OP_mul,         TC_OP_maximum,    TC_OP_minimum,
                               TC_OP_bitwise_and, TC_OP_bitwise_or, TC_OP_bitwise_xor};
    tc_dtype type = draw(2) ? TC_i64 : TC_i32;
    tc_val x = some(d, type, 0, 6);
    if (!x)
        return;
    tc_val y = partner(d, x, -3, 3);
    switch (draw(5)) {
    case 0:
        keep(d, PUT(d, add, ((tc_attr_alpha){1}), x, y));
        return;
    case 1:
        keep(d, PUT(d, sub, ((tc_attr_alpha){1}), x, y));
        return;
    case 2:
        keep(d, PUT(d, cast, ((tc_attr_cast){TC_f32}), x));
        return;
    case 3:
        keep(d, draw(2) ? PUT0(d, abs, x) : PUT0(d, neg, x));
        return;
    default:
        keep(d, put(d, op[draw(TC_COUNT(op))], NULL, 0, 2, (tc_val[]){x, y}));
    }
}

static void another_type(garden *d)
{
    static const tc_dtype to[] = {TC_i32, TC_i64, TC_bool, TC_f16, TC_i8, TC_f64, TC_bf16};
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    tc_dtype type = to[draw(TC_COUNT(to))];
    if (type == TC_i32 || type == TC_i64) /* what a float past the type becomes is not defined */
        x = PUT(d, clamp, ((tc_attr_clamp){-2e9, 2e9}), x);
    x = PUT(d, cast, ((tc_attr_cast){type}), x);
    keep(d, draw(2) ? x : PUT(d, cast, ((tc_attr_cast){TC_f32}), x));
}

const grow_entry grow_eltwise[] = {
    {bare, 12},    {with_numbers, 8}, {pair, 14},    {by_a_number, 4}, {compared, 4}, {three, 3},
    {gated, 2},    {of_bools, 2},     {of_integers, 2}, {another_type, 1}, {NULL, 0}};
