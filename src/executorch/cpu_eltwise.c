/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_eltwise.c -- functions of single numbers that have no kernel of their own, by their formulas.
 */
#include <math.h>

#include "cpu_forms.h"

#define UNARY(m, op, x) tc_cpu_unary(m, TC_OP_##op, x)
#define BINARY(m, op, x, y) tc_cpu_binary(m, TC_OP_##op, x, y)

/* x op number */
static tc_val plus(tc_cpu_maker *m, tc_val x, double k)
{
    return tc_cpu_add(m, x, tc_cpu_number(m, x, k));
}
static tc_val times(tc_cpu_maker *m, tc_val x, double k)
{
    return tc_cpu_mul(m, x, tc_cpu_number(m, x, k));
}
static tc_val above(tc_cpu_maker *m, tc_val x, double k)
{
    return BINARY(m, gt, x, tc_cpu_number(m, x, k));
}
static tc_val below(tc_cpu_maker *m, tc_val x, double k)
{
    return BINARY(m, lt, x, tc_cpu_number(m, x, k));
}

bool tc_cpu_form_square(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_in(m, 0);
    return tc_cpu_done(m, tc_cpu_mul(m, x, x));
}

bool tc_cpu_form_frac(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_in(m, 0);
    return tc_cpu_done(m, tc_cpu_sub(m, x, UNARY(m, trunc, x)));
}

bool tc_cpu_form_exp2(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0);
    return tc_cpu_done(m, BINARY(m, pow, tc_cpu_number(m, x, 2), x));
}

bool tc_cpu_form_erfc(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0), erf = UNARY(m, erf, x), one = tc_cpu_number(m, x, 1);
    return tc_cpu_done(m, tc_cpu_sub(m, one, erf));
}

static tc_val polynomial(tc_cpu_maker *m, tc_val x, const double *c, int n)
{
    tc_val y = tc_cpu_number(m, x, c[0]);
    for (int i = 1; i < n; i++)
        y = plus(m, tc_cpu_mul(m, y, x), c[i]);
    return y;
}

/* x p(w) with w = -ln(1 - x^2), one polynomial near 0 and one in sqrt(w) near the ends (M. Giles,
 * 2010). */
bool tc_cpu_form_erfinv(tc_cpu_maker *m)
{
    static const double middle[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                    -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                    -0.00417768164,  0.246640727,    1.50140941};
    static const double ends[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                  -0.00367342844,  0.00573950773,  -0.0076224613,
                                  0.00943887047,   1.00167406,     2.83297682};
    tc_val x = tc_cpu_real(m, 0), one = tc_cpu_number(m, x, 1);
    tc_val w = UNARY(m, neg, UNARY(m, log1p, UNARY(m, neg, tc_cpu_mul(m, x, x))));
    tc_val p = polynomial(m, plus(m, w, -2.5), middle, TC_COUNT(middle));
    tc_val q = polynomial(m, plus(m, UNARY(m, sqrt, w), -3), ends, TC_COUNT(ends));
    tc_val y = tc_cpu_mul(m, x, tc_cpu_where(m, below(m, w, 5), p, q));
    tc_val at_end = BINARY(m, eq, UNARY(m, abs, x), one);
    return tc_cpu_done(m,
                       tc_cpu_where(m, at_end, tc_cpu_mul(m, x, tc_cpu_number(m, x, INFINITY)), y));
}

/* min(x, 0) - ln(1 + e^-|x|) */
bool tc_cpu_form_log_sigmoid(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0);
    tc_val tail = UNARY(m, log1p, UNARY(m, exp, UNARY(m, neg, UNARY(m, abs, x))));
    return tc_cpu_done(m, tc_cpu_sub(m, tc_cpu_clamp(m, x, -INFINITY, 0), tail));
}

bool tc_cpu_form_silu(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0);
    return tc_cpu_done(m, tc_cpu_mul(m, x, UNARY(m, sigmoid, x)));
}

bool tc_cpu_form_mish(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0);
    return tc_cpu_done(m, tc_cpu_mul(m, x, UNARY(m, tanh, UNARY(m, log1p, UNARY(m, exp, x)))));
}

/* clamp(x + 3, 0, 6) / 6 */
static tc_val hard_sigmoid(tc_cpu_maker *m, tc_val x)
{
    tc_val six = tc_cpu_number(m, x, 6);
    return tc_cpu_div(m, tc_cpu_clamp(m, plus(m, x, 3), 0, 6), six);
}

bool tc_cpu_form_hardsigmoid(tc_cpu_maker *m)
{
    return tc_cpu_done(m, hard_sigmoid(m, tc_cpu_real(m, 0)));
}

bool tc_cpu_form_hardswish(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0), gate = tc_cpu_clamp(m, plus(m, x, 3), 0, 6);
    tc_val six = tc_cpu_number(m, x, 6);
    return tc_cpu_done(m, tc_cpu_div(m, tc_cpu_mul(m, x, gate), six));
}

bool tc_cpu_form_softsign(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0);
    return tc_cpu_done(m, tc_cpu_div(m, x, plus(m, UNARY(m, abs, x), 1)));
}

/* ln(1 + e^(beta x)) / beta, and x itself where beta x is past the threshold. */
bool tc_cpu_form_softplus(tc_cpu_maker *m)
{
    const tc_attr_softplus *a = m->node->attr;
    tc_val x = tc_cpu_real(m, 0), y = times(m, x, a->beta);
    tc_val beta = tc_cpu_number(m, x, a->beta);
    tc_val soft = tc_cpu_div(m, UNARY(m, log1p, UNARY(m, exp, y)), beta);
    return tc_cpu_done(m, tc_cpu_where(m, above(m, y, a->threshold), x, soft));
}

bool tc_cpu_form_hardshrink(tc_cpu_maker *m)
{
    const tc_attr_lambda *a = m->node->attr;
    tc_val x = tc_cpu_real(m, 0), lambda = tc_cpu_number(m, x, a->lambda);
    tc_val small = BINARY(m, le, UNARY(m, abs, x), lambda);
    return tc_cpu_done(m, tc_cpu_where(m, small, tc_cpu_number(m, x, 0), x));
}

bool tc_cpu_form_softshrink(tc_cpu_maker *m)
{
    const tc_attr_lambda *a = m->node->attr;
    tc_val x = tc_cpu_real(m, 0), zero = times(m, x, 0); /* NaN stays */
    tc_val up = plus(m, x, a->lambda);
    tc_val y = tc_cpu_where(m, below(m, x, -a->lambda), up, zero);
    tc_val down = plus(m, x, -a->lambda);
    return tc_cpu_done(m, tc_cpu_where(m, above(m, x, a->lambda), down, y));
}

bool tc_cpu_form_threshold(tc_cpu_maker *m)
{
    const tc_attr_threshold *a = m->node->attr;
    tc_val x = tc_cpu_in(m, 0), low = BINARY(m, le, x, tc_cpu_number(m, x, a->threshold));
    return tc_cpu_done(m, tc_cpu_where(m, low, tc_cpu_number(m, x, a->value), x));
}

bool tc_cpu_form_nan_to_num(tc_cpu_maker *m)
{
    const tc_attr_nan_to_num *a = m->node->attr;
    tc_val x = tc_cpu_in(m, 0), y = x;
    if (!tc_is_float(tc_cpu_type(m, x)->dtype))
        return tc_cpu_done(m, x);
    tc_val instead = tc_cpu_number(m, x, a->nan);
    y = tc_cpu_where(m, UNARY(m, isnan, x), instead, y);
    instead = tc_cpu_number(m, x, a->posinf);
    y = tc_cpu_where(m, BINARY(m, eq, x, tc_cpu_number(m, x, INFINITY)), instead, y);
    instead = tc_cpu_number(m, x, a->neginf);
    tc_val lowest = BINARY(m, eq, x, tc_cpu_number(m, x, -INFINITY));
    return tc_cpu_done(m, tc_cpu_where(m, lowest, instead, y));
}

bool tc_cpu_form_isfinite(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_in(m, 0), infinite = UNARY(m, isinf, x), nan = UNARY(m, isnan, x);
    return tc_cpu_done(m, UNARY(m, logical_not, BINARY(m, logical_or, nan, infinite)));
}

bool tc_cpu_form_round(tc_cpu_maker *m)
{
    const tc_attr_round *a = m->node->attr;
    double k = pow(10, fabs((double)a->decimals));
    tc_val x = tc_cpu_real(m, 0), unit = tc_cpu_number(m, x, k);
    tc_val y = a->decimals > 0 ? tc_cpu_mul(m, x, unit) : tc_cpu_div(m, x, unit);
    y = tc_cpu_make(m, TC_OP_round, TC_CPU_ATTR(m, round, 0), &y, 1);
    return tc_cpu_done(m, a->decimals > 0 ? tc_cpu_div(m, y, unit) : tc_cpu_mul(m, y, unit));
}

/* ---- two and three operands ---- */

/* The one that is not NaN, else what `op` says. */
static bool but_nan(tc_cpu_maker *m, tc_op op)
{
    tc_val x = tc_cpu_in(m, 0), y = tc_cpu_in(m, 1);
    tc_val best = tc_cpu_binary(m, op, x, y);
    tc_val or_x = tc_cpu_where(m, UNARY(m, isnan, y), x, best);
    return tc_cpu_done(m, tc_cpu_where(m, UNARY(m, isnan, x), y, or_x));
}

bool tc_cpu_form_fmax(tc_cpu_maker *m)
{
    return but_nan(m, TC_OP_maximum);
}
bool tc_cpu_form_fmin(tc_cpu_maker *m)
{
    return but_nan(m, TC_OP_minimum);
}

/* Largest * sqrt(1 + (smallest / largest)^2), so that squares do not overflow. */
bool tc_cpu_form_hypot(tc_cpu_maker *m)
{
    tc_val x = UNARY(m, abs, tc_cpu_real(m, 0)), y = UNARY(m, abs, tc_cpu_real(m, 1));
    tc_val big = BINARY(m, maximum, x, y), small = BINARY(m, minimum, x, y);
    tc_val zero = BINARY(m, eq, big, tc_cpu_number(m, big, 0));
    tc_val plain = BINARY(m, logical_or, UNARY(m, isinf, big), zero);
    tc_val ratio = tc_cpu_div(m, small, big);
    tc_val length = tc_cpu_mul(m, big, UNARY(m, sqrt, plus(m, tc_cpu_mul(m, ratio, ratio), 1)));
    return tc_cpu_done(m, tc_cpu_where(m, plain, big, length));
}

/* |x| with the sign of y; the sign of a zero shows in its reciprocal. */
bool tc_cpu_form_copysign(tc_cpu_maker *m)
{
    tc_val x = UNARY(m, abs, tc_cpu_real(m, 0)), y = tc_cpu_real(m, 1);
    tc_val minus_zero = below(m, UNARY(m, reciprocal, y), 0);
    tc_val minus = BINARY(m, logical_or, below(m, y, 0), minus_zero);
    return tc_cpu_done(m, tc_cpu_where(m, minus, UNARY(m, neg, x), x));
}

/* max + ln(1 + e^-|x - y|) */
bool tc_cpu_form_logaddexp(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0), y = tc_cpu_real(m, 1), big = BINARY(m, maximum, x, y);
    tc_val gap = UNARY(m, neg, UNARY(m, abs, tc_cpu_sub(m, x, y)));
    tc_val soft = tc_cpu_add(m, big, UNARY(m, log1p, UNARY(m, exp, gap)));
    return tc_cpu_done(m, tc_cpu_where(m, UNARY(m, isinf, big), big, soft));
}

bool tc_cpu_form_xlogy(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0), y = tc_cpu_real(m, 1), zero = tc_cpu_number(m, x, 0);
    tc_val number = UNARY(m, logical_not, UNARY(m, isnan, y));
    tc_val none = BINARY(m, logical_and, BINARY(m, eq, x, zero), number);
    return tc_cpu_done(m, tc_cpu_where(m, none, zero, tc_cpu_mul(m, x, UNARY(m, log, y))));
}

/* x + w (y - x), from y's side where w is at least one half. */
bool tc_cpu_form_lerp(tc_cpu_maker *m)
{
    tc_val x = tc_cpu_real(m, 0), y = tc_cpu_real(m, 1), w = tc_cpu_real(m, 2),
           gap = tc_cpu_sub(m, y, x);
    tc_val near_x = tc_cpu_add(m, x, tc_cpu_mul(m, w, gap));
    tc_val near_y = tc_cpu_sub(m, y, tc_cpu_mul(m, gap, tc_cpu_sub(m, tc_cpu_number(m, w, 1), w)));
    return tc_cpu_done(m, tc_cpu_where(m, below(m, UNARY(m, abs, w), 0.5), near_x, near_y));
}

static bool add_scaled(tc_cpu_maker *m, tc_val product)
{
    const tc_attr_scale *a = m->node->attr;
    return tc_cpu_done(m, tc_cpu_make(m, TC_OP_add, TC_CPU_ATTR(m, alpha, a->value),
                                      (tc_val[]){tc_cpu_in(m, 0), product}, 2));
}

bool tc_cpu_form_addcmul(tc_cpu_maker *m)
{
    return add_scaled(m, tc_cpu_mul(m, tc_cpu_in(m, 1), tc_cpu_in(m, 2)));
}
bool tc_cpu_form_addcdiv(tc_cpu_maker *m)
{
    return add_scaled(m, tc_cpu_div(m, tc_cpu_in(m, 1), tc_cpu_in(m, 2)));
}

/* A weight for each channel, or one for all. */
bool tc_cpu_form_prelu(tc_cpu_maker *m)
{
    const tc_type *t = tc_cpu_in_type(m, 0), *weight = tc_cpu_in_type(m, 1);
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        dim[i] = i == (t->rank > 1) ? tc_type_count(weight) : 1;
    tc_val x = tc_cpu_in(m, 0), w = tc_cpu_reshape(m, tc_cpu_in(m, 1), t->rank, dim);
    tc_val below_zero = tc_cpu_mul(m, x, w);
    return tc_cpu_done(m, tc_cpu_where(m, above(m, x, 0), x, below_zero));
}

/* dequantize(quantize(x)) */
bool tc_cpu_form_fake_quantize(tc_cpu_maker *m)
{
    tc_attr_quantize *a = tc_arena_copy(&m->ctx->arena, m->node->attr, sizeof *a);
    tc_val in[3] = {tc_cpu_in(m, 0), tc_cpu_in(m, 1), tc_cpu_in(m, 2)};
    bool narrow = a->qmin >= -128 && a->qmax <= 127;
    a->dtype = narrow ? TC_i8 : TC_i32;
    tc_val codes = tc_cpu_make(m, TC_OP_quantize, a, in, m->node->n_in);
    tc_attr_quantize *back = tc_arena_copy(&m->ctx->arena, a, sizeof *a);
    back->dtype = tc_cpu_out_type(m, 0)->dtype;
    in[0] = codes;
    return tc_cpu_done(m, tc_cpu_make(m, TC_OP_dequantize, back, in, m->node->n_in));
}
