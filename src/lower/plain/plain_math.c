/* SPDX-License-Identifier: Apache-2.0 */
/* plain_math.c -- functions of one f32 that TOSA does not have, by formulas and polynomials.
 *
 * Errors are relative to the result unless said, with EXP, LOG and the rest rounded to f32: at most
 * 5e-7, and 1e-6 for erfc, erfinv and the inverse hyperbolic ones. */
#include <math.h>

#include "plain.h"

typedef tc_lower lower;

static tc_val op(lower *lw, tc_op o, tc_val x) { return tc_f_op(lw, o, x); }
#define EXP(x) op(lw, TC_OP_tosa_exp, x)
#define LOG(x) op(lw, TC_OP_tosa_log, x)
#define ABS(x) op(lw, TC_OP_tosa_abs, x)
#define RECIPROCAL(x) op(lw, TC_OP_tosa_reciprocal, x)
#define TANH(x) op(lw, TC_OP_tosa_tanh, x)
#define MUL(a, b) tc_put_mul(lw, a, b)
#define ADD(a, b) tc_put_add(lw, a, b)
#define SUB(a, b) tc_f_sub(lw, a, b)
#define PLUS(x, number) tc_f_add(lw, x, number)
#define TIMES(x, number) tc_f_scale(lw, x, number)
#define SELECT(c, a, b) tc_put_select(lw, c, a, b)
#define ABOVE(x, number) tc_f_above(lw, x, number)
#define BELOW(x, number) tc_f_below(lw, x, number)
#define FORMULA(name) static tc_val f_##name(lower *lw, tc_val x, const void *attr)
#define PLAIN(name, value)                                                                         \
    FORMULA(name)                                                                                  \
    {                                                                                              \
        (void)attr;                                                                                \
        return value;                                                                              \
    }

static const double half_pi = 1.5707963267948966, ln2 = 0.69314718055994531;

static tc_val with_sign(lower *lw, tc_val of, tc_val x)
{
    tc_val negative = tc_f_negate(lw, x);
    return SELECT(BELOW(of, 0), negative, x);
}

/* ---- exponentials and logarithms ---- */
PLAIN(expm1, tc_f_expm1(lw, x))
PLAIN(log1p, tc_f_log1p(lw, x))
PLAIN(log2, TIMES(LOG(x), 1 / ln2))
PLAIN(log10, TIMES(LOG(x), 0.43429448190325182))
PLAIN(exp2, tc_put2(lw, TC_OP_tosa_pow, NULL, tc_f_number(lw, x, 2), x))
PLAIN(sqrt, tc_f_sqrt(lw, x))

FORMULA(tan)
{
    (void)attr;
    tc_val below = op(lw, TC_OP_tosa_cos, x);
    return tc_f_divide(lw, op(lw, TC_OP_tosa_sin, x), below);
}

/* e^(x/2) squared: the halves keep the product from overflowing early. */
static tc_val half_exp(lower *lw, tc_val x, double sign)
{
    tc_val h = EXP(TIMES(x, 0.5 * sign));
    return MUL(TIMES(h, 0.5), h);
}

FORMULA(cosh)
{
    (void)attr;
    tc_val down = half_exp(lw, x, -1), up = half_exp(lw, x, 1);
    return ADD(up, down);
}

/* Below 1: the series to x^11. */
FORMULA(sinh)
{
    static const double c[] = {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800};
    (void)attr;
    tc_val near = MUL(x, tc_f_polynomial(lw, MUL(x, x), c, (int)TC_COUNT(c)));
    tc_val down = half_exp(lw, x, -1), up = half_exp(lw, x, 1), far = SUB(up, down);
    return SELECT(ABOVE(ABS(x), 1), far, near);
}

/* ---- inverse circular ---- */

/* asin of a = |x|: p = s + s z P(z), with z = a^2 and s = a up to 1/2, z = (1 - a) / 2 and s = sqrt
 * z above, where asin a = pi/2 - 2 p. */
static tc_val asin_part(lower *lw, tc_val a, tc_val big)
{
    static const double c[] = {0.16666666295154034, 0.075001030694463455, 0.044596654480320651,
                               0.03113158798446727, 0.017007307199547794, 0.033918645227128667};
    tc_val square = MUL(a, a), z = SELECT(big, TIMES(tc_f_from(lw, 1, a), 0.5), square);
    tc_val s = SELECT(big, tc_f_sqrt(lw, z), a);
    tc_val p = tc_f_polynomial(lw, z, c, (int)TC_COUNT(c));
    return ADD(s, MUL(MUL(s, z), p));
}

FORMULA(asin)
{
    (void)attr;
    tc_val a = ABS(x), big = ABOVE(a, 0.5), p = asin_part(lw, a, big);
    return with_sign(lw, x, SELECT(big, tc_f_from(lw, half_pi, TIMES(p, 2)), p));
}

FORMULA(acos)
{
    (void)attr;
    tc_val a = ABS(x), big = ABOVE(a, 0.5), p = asin_part(lw, a, big), twice = TIMES(p, 2);
    tc_val left = tc_f_from(lw, 2 * half_pi, twice), far = SELECT(BELOW(x, 0), left, twice);
    return SELECT(big, far, tc_f_from(lw, half_pi, with_sign(lw, x, p)));
}

PLAIN(atan, tc_f_atan(lw, x))

/* ---- inverse hyperbolic ---- */

/* Past 2^20, ln 2x. */
static tc_val or_log(lower *lw, tc_val a, tc_val y)
{
    tc_val log = PLUS(LOG(a), ln2);
    return SELECT(ABOVE(a, 1048576), log, y);
}

/* log1p(a + a^2 / (1 + sqrt(1 + a^2))) */
FORMULA(asinh)
{
    (void)attr;
    tc_val a = ABS(x), z = MUL(a, a), root = tc_f_sqrt(lw, PLUS(z, 1));
    tc_val y = tc_f_log1p(lw, ADD(a, tc_f_divide(lw, z, PLUS(root, 1))));
    return with_sign(lw, x, or_log(lw, a, y));
}

/* log1p(t + sqrt(2 t + t^2)), t = x - 1 */
FORMULA(acosh)
{
    (void)attr;
    tc_val t = PLUS(x, -1), root = tc_f_sqrt(lw, MUL(t, PLUS(t, 2)));
    return or_log(lw, x, tc_f_log1p(lw, ADD(t, root)));
}

/* log1p(2 a / (1 - a)) / 2, a = |x| */
FORMULA(atanh)
{
    (void)attr;
    tc_val a = ABS(x), rest = tc_f_from(lw, 1, a);
    tc_val y = tc_f_log1p(lw, tc_f_divide(lw, TIMES(a, 2), rest));
    return with_sign(lw, x, TIMES(y, 0.5));
}

/* ---- the error function ---- */

/* t e^(P(t) - a^2), t = 1 / (1 + a/2), a = |x|; error of P 6e-9. */
FORMULA(erfc)
{
    static const double c[] = {-1.2655730217837213, 1.0016931113979513,   0.35453902003042792,
                               0.22484001322250421, -0.70550023596535816, 1.644303979633434,
                               -3.5035709643630102, 4.1761395105700458,   -2.7404545717323998,
                               0.95179638568085978, -0.13821322097652461};
    (void)attr;
    tc_val a = ABS(x), t = RECIPROCAL(PLUS(TIMES(a, 0.5), 1));
    tc_val square = MUL(a, a);
    tc_val y = MUL(t, EXP(SUB(tc_f_polynomial(lw, t, c, (int)TC_COUNT(c)), square)));
    tc_val left = tc_f_from(lw, 2, y);
    return SELECT(BELOW(x, 0), left, y);
}

/* x P(w - 2.5), or from w = 5 on x Q(sqrt(w) - 3), w = -ln((1 - x)(1 + x)). */
FORMULA(erfinv)
{
    static const double near[] = {
        1.5014094215763234,      0.24664072612115071,    -0.0041777077446614004,
        -0.0012537075153333391,  0.00021860219395869278, -4.3967812525146997e-06,
        -3.5288595493763642e-06, 3.4372705962001821e-07, 2.8534789974603312e-08};
    static const double far[] = {
        2.8329770823047196,     1.0016746175563571,     0.0094320241977776491,
        -0.0076326505962495987, 0.0057840321630929694,  -0.003633730651006791,
        0.0012533314651146535,  6.0807067546057319e-05, -0.00013185994793807286};
    (void)attr;
    tc_val above = PLUS(x, 1), w = tc_f_negate(lw, LOG(MUL(tc_f_from(lw, 1, x), above)));
    tc_val p = tc_f_polynomial(lw, PLUS(w, -2.5), near, (int)TC_COUNT(near));
    tc_val q = tc_f_polynomial(lw, PLUS(tc_f_sqrt(lw, w), -3), far, (int)TC_COUNT(far));
    tc_val y = MUL(x, SELECT(ABOVE(w, 5), q, p));
    tc_val end = tc_f_equals(lw, ABS(x), 1);
    return SELECT(end, with_sign(lw, x, tc_f_number(lw, x, INFINITY)), y);
}

/* ---- activations ---- */

PLAIN(silu, MUL(x, op(lw, TC_OP_tosa_sigmoid, x)))
PLAIN(hardswish, MUL(x, TIMES(tc_put_clamp(lw, PLUS(x, 3), 0, 6), 1.0 / 6)))
PLAIN(hardsigmoid, TIMES(tc_put_clamp(lw, PLUS(x, 3), 0, 6), 1.0 / 6))
PLAIN(softsign, tc_f_divide(lw, x, PLUS(ABS(x), 1)))

/* ln(1 + e^x) = max(x, 0) + log1p(e^-|x|) */
static tc_val softplus(lower *lw, tc_val x)
{
    tc_val more = tc_f_log1p(lw, EXP(tc_f_negate(lw, ABS(x))));
    return ADD(tc_put_clamp(lw, x, 0, INFINITY), more);
}

PLAIN(log_sigmoid, tc_f_negate(lw, softplus(lw, tc_f_negate(lw, x))))

/* x n / (n + 2), n = e^x (e^x + 2); from 20 on the quotient is 1. */
FORMULA(mish)
{
    (void)attr;
    tc_val e = EXP(tc_put_clamp(lw, x, -INFINITY, 20)), n = MUL(e, PLUS(e, 2));
    return MUL(x, tc_f_divide(lw, n, PLUS(n, 2)));
}

FORMULA(gelu)
{
    const tc_attr_gelu *a = attr;
    tc_val phi;
    if (a->form == TC_gelu_form_tanh) /* sqrt(2/pi) (x + 0.044715 x^3) */
        phi = TANH(TIMES(MUL(x, PLUS(TIMES(MUL(x, x), 0.044715), 1)), 0.79788456080286541));
    else
        phi = op(lw, TC_OP_tosa_erf, TIMES(x, 0.70710678118654752));
    tc_val twice = PLUS(phi, 1);
    return MUL(TIMES(x, 0.5), twice);
}

FORMULA(softplus)
{
    const tc_attr_softplus *a = attr;
    tc_val scaled = TIMES(x, a->beta), soft = TIMES(softplus(lw, scaled), 1 / a->beta);
    return SELECT(ABOVE(scaled, a->threshold), x, soft);
}

FORMULA(elu)
{
    const tc_attr_elu *a = attr;
    tc_val below = TIMES(tc_f_expm1(lw, a->input_scale == 1 ? x : TIMES(x, a->input_scale)),
                         a->alpha * a->scale);
    tc_val right = a->scale == 1 ? x : TIMES(x, a->scale);
    return SELECT(ABOVE(x, 0), right, below);
}

FORMULA(leaky_relu)
{
    const tc_attr_slope *a = attr;
    tc_val other = TIMES(x, a->slope);
    return a->slope >= 0 && a->slope <= 1 ? tc_f_max(lw, x, other, true)
                                          : SELECT(ABOVE(x, 0), x, other);
}

/* ln(x / (1 - x)); around a half, where the quotient is hardly known to differ from 1,
 * 2 artanh(t) = 2 t (1 + t^2 / 3 + t^4 / 5 + ...) of t = 2 x - 1. */
FORMULA(logit)
{
    static const double c[] = {2, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11};
    const tc_attr_logit *a = attr;
    if (a->eps >= 0)
        x = tc_put_clamp(lw, x, fmin(a->eps, 1 - a->eps), 1 - a->eps);
    tc_val far = LOG(tc_f_divide(lw, x, tc_f_from(lw, 1, x))), t = tc_f_add(lw, TIMES(x, 2), -1);
    tc_val near = tc_f_polynomial(lw, tc_put_mul(lw, t, t), c, (int)TC_COUNT(c));
    near = tc_put_mul(lw, t, near);
    return SELECT(tc_f_below(lw, ABS(t), 0.25), near, far);
}

FORMULA(hardshrink)
{
    double lambda = ((const tc_attr_lambda *)attr)->lambda;
    tc_val size = ABS(x);
    tc_val inside = tc_put2(lw, TC_OP_tosa_greater_equal, NULL, tc_f_number(lw, x, lambda), size);
    return SELECT(inside, tc_f_number(lw, x, 0), x);
}

FORMULA(softshrink)
{
    double lambda = ((const tc_attr_lambda *)attr)->lambda;
    return SUB(x, tc_put_clamp(lw, x, -lambda, lambda));
}

FORMULA(nan_to_num)
{
    const tc_attr_nan_to_num *a = attr;
    tc_val instead = tc_f_number(lw, x, a->nan);
    x = SELECT(tc_put2(lw, TC_OP_tosa_equal, NULL, x, x), x, instead);
    instead = tc_f_number(lw, x, a->posinf);
    x = SELECT(tc_f_equals(lw, x, INFINITY), instead, x);
    instead = tc_f_number(lw, x, a->neginf);
    return SELECT(tc_f_equals(lw, x, -INFINITY), instead, x);
}

tc_f_function *tc_f_formula(tc_op o)
{
#define ROW(name) [TC_OP_##name] = f_##name
    static tc_f_function *const formula[TC_OP_COUNT] = {
        ROW(expm1),      ROW(log1p),       ROW(log2),  ROW(log10),      ROW(exp2),
        ROW(sqrt),       ROW(tan),         ROW(cosh),  ROW(sinh),       ROW(asin),
        ROW(acos),       ROW(atan),        ROW(asinh), ROW(acosh),      ROW(atanh),
        ROW(erfc),       ROW(erfinv),      ROW(silu),  ROW(hardswish),  ROW(hardsigmoid),
        ROW(softsign),   ROW(log_sigmoid), ROW(mish),  ROW(gelu),       ROW(softplus),
        ROW(elu),        ROW(leaky_relu),  ROW(logit), ROW(hardshrink), ROW(softshrink),
        ROW(nan_to_num),
    };
    return formula[o];
}
