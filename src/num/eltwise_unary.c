/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise_unary.c -- elementwise operators of one operand.
 *
 * An operator is an expression of x, the same for f32 and f64 (the functions are type-generic), or
 * a block function of math.c for f32 and one of base/real.h for f64; and one for integers where it is
 * defined. */
#include <tgmath.h>

#include "eltwise.h"
#include "fixed.h"
#include "../base/real.h"
#include "kernels.h"
#include "lanes.h"
#include "load.h"
#include "math.h"

/* The expression is computed in T itself: a literal such as 0.5 would make it double in the loop of
 * f32, and does not build. */
#define IN_TYPE(T, expression)                                                                     \
    _Static_assert(_Generic((expression), T: 1, int: 1, default: 0),                               \
                   "an expression in another type: write (real)0.5 for 0.5")

/* fn: out[i] = expression of x, elements of type T, which it calls `real`, giving elements of R. */
#define LOOP(fn, T, R, expression)                                                                 \
    TC_LANES_BODY fn##_body(tc_run *run)                                                           \
    {                                                                                              \
        typedef T real TC_UNUSED;                                                                  \
        const T *restrict in = run->in[0];                                                         \
        R *restrict out = run->out;                                                                \
        for (size_t i = 0; i < run->n; i++) {                                                      \
            T x = in[i];                                                                           \
            IN_TYPE(T, expression);                                                                \
            out[i] = (R)(expression);                                                              \
        }                                                                                          \
    }                                                                                              \
    TC_LANES(static, fn, fn##_body, (tc_run * run), (run))

/* The same with the attribute record a. */
#define LOOP_WITH(fn, record, T, expression)                                                       \
    static void fn(tc_run *run)                                                                    \
    {                                                                                              \
        typedef T real TC_UNUSED;                                                                  \
        const tc_attr_##record a = *(const tc_attr_##record *)run->attr;                           \
        const T *restrict in = run->in[0];                                                         \
        T *restrict out = run->out;                                                                \
        for (size_t i = 0; i < run->n; i++) {                                                      \
            T x = in[i];                                                                           \
            IN_TYPE(T, expression);                                                                \
            out[i] = (T)(expression);                                                              \
        }                                                                                          \
    }

/* Kernels compute in the type of the result; those that give bool, in that of the operand. */
#define KERNEL(name, f32_, f64_, i64_)                                                             \
    void ti_num_##name(tc_call *call)                                                              \
    {                                                                                              \
        static const tc_eltwise op = {{f32_, f64_, i64_}, 0};                                      \
        ti_eltwise_run(call, &op, call->out[0].type->dtype);                                       \
    }

#define FLOATS(name, expression)                                                                   \
    LOOP(name##_f32, float, float, expression)                                                     \
    LOOP(name##_f64, double, double, expression)                                                   \
    KERNEL(name, name##_f32, name##_f64, NULL)

#define FLOATS_AND_INTS(name, expression, int_expression)                                          \
    LOOP(name##_f32, float, float, expression)                                                     \
    LOOP(name##_f64, double, double, expression)                                                   \
    LOOP(name##_i64, int64_t, int64_t, int_expression)                                             \
    KERNEL(name, name##_f32, name##_f64, name##_i64)

#define FLOATS_WITH(name, record, expression)                                                      \
    LOOP_WITH(name##_f32, record, float, expression)                                               \
    LOOP_WITH(name##_f64, record, double, expression)                                              \
    KERNEL(name, name##_f32, name##_f64, NULL)

/* A block function of math.c, and its f64 counterpart. */
#define FUNCTION(name, wide_expression)                                                            \
    static void name##_f32(tc_run *run)                                                            \
    {                                                                                              \
        ti_##name##_f32(run->in[0], run->out, run->n);                                             \
    }                                                                                              \
    LOOP(name##_f64, double, double, wide_expression)                                              \
    KERNEL(name, name##_f32, name##_f64, NULL)

#define PREDICATE(name, expression, int_expression)                                                \
    LOOP(name##_f32, float, uint8_t, expression)                                                   \
    LOOP(name##_f64, double, uint8_t, expression)                                                  \
    LOOP(name##_i64, int64_t, uint8_t, int_expression)                                             \
    void ti_num_##name(tc_call *call)                                                              \
    {                                                                                              \
        static const tc_eltwise op = {{name##_f32, name##_f64, name##_i64}, TC_GIVES_BOOL};        \
        ti_eltwise_run(call, &op, call->in[0].type->dtype);                                        \
    }

/* The larger (smaller) of two; NaN in x wins. */
#define MOST(x, y) ((x) < (y) ? (y) : (x))
#define LEAST(x, y) ((x) > (y) ? (y) : (x))

FLOATS_AND_INTS(sign, (0 < x) - (x < 0), (0 < x) - (x < 0))
FLOATS_AND_INTS(floor, floor(x), x)
FLOATS_AND_INTS(ceil, ceil(x), x)
FLOATS_AND_INTS(trunc, trunc(x), x)
FLOATS_AND_INTS(relu, x < 0 ? 0 : x, x < 0 ? 0 : x)
FLOATS_AND_INTS(square, x *x, ti_wrap_mul(x, x))
FLOATS(frac, x - trunc(x))
FLOATS(reciprocal, 1 / x)
FLOATS(hardswish, x *LEAST(MOST(x + 3, 0), 6) / 6)
FLOATS(hardsigmoid, LEAST(MOST(x + 3, 0), 6) / 6)

FUNCTION(exp, ti_exp(x))
FUNCTION(exp2, ti_exp2(x))
FUNCTION(expm1, ti_expm1(x))
FUNCTION(log, ti_log(x))
FUNCTION(log2, ti_log2(x))
FUNCTION(log10, ti_log10(x))
FUNCTION(log1p, ti_log1p(x))
FUNCTION(sqrt, sqrt(x))
FUNCTION(rsqrt, 1 / sqrt(x))
FUNCTION(sin, ti_sin(x))
FUNCTION(cos, ti_cos(x))
FUNCTION(tan, ti_tan(x))
FUNCTION(asin, ti_asin(x))
FUNCTION(acos, ti_acos(x))
FUNCTION(atan, ti_atan(x))
FUNCTION(sinh, ti_sinh(x))
FUNCTION(cosh, ti_cosh(x))
FUNCTION(tanh, ti_tanh(x))
FUNCTION(asinh, ti_asinh(x))
FUNCTION(acosh, ti_acosh(x))
FUNCTION(atanh, ti_atanh(x))
FUNCTION(erf, ti_erf(x))
FUNCTION(erfc, ti_erfc(x))
FUNCTION(erfinv, ti_erfinv(x))
FUNCTION(sigmoid, 1 / (1 + ti_exp(-x)))
FUNCTION(log_sigmoid, LEAST(x, 0) - ti_log1p(ti_exp(-fabs(x))))
FUNCTION(silu, x / (1 + ti_exp(-x)))
FUNCTION(mish, x *ti_tanh(ti_log1p(ti_exp(x))))
FUNCTION(erfcx, ti_erfcx(x))
FUNCTION(log_ndtr, ti_log_ndtr(x))

FLOATS_WITH(leaky_relu, slope, x > 0 ? x : x * (real)a.slope)
FLOATS_WITH(softshrink, lambda,
            x > (real)a.lambda    ? x - (real)a.lambda
            : x < -(real)a.lambda ? x + (real)a.lambda
                                  : x * 0)

LOOP_WITH(elu_f32, elu, float,
          x > 0 ? x * (real)a.scale
                : ti_expm1f(x * (real)a.input_scale) * ((real)a.alpha * (real)a.scale))
LOOP_WITH(elu_f64, elu, double,
          x > 0 ? x * a.scale : ti_expm1(x * a.input_scale) * (a.alpha * a.scale))
KERNEL(elu, elu_f32, elu_f64, NULL)

LOOP_WITH(softplus_f32, softplus, float,
          x *(real)a.beta > (real)a.threshold ? x
                                              : ti_log1pf(ti_expf(x * (real)a.beta)) / (real)a.beta)
LOOP_WITH(softplus_f64, softplus, double,
          x *a.beta > a.threshold ? x : ti_log1p(ti_exp(x * a.beta)) / a.beta)
KERNEL(softplus, softplus_f32, softplus_f64, NULL)

/* 2 artanh(t), |t| < 1/4. */
static float logit_near_half(double t)
{
    double s = t * t;
    return (float)(t *
                   (2 + s * (2. / 3 + s * (2. / 5 + s * (2. / 7 + s * (2. / 9 + s * 2 / 11))))));
}

/* ln(x / (1 - x)), x clamped when eps is not negative; narrow floats round at every step.  Near
 * 1/2, where the quotient is close to 1, it is 2 artanh(2 x - 1). */
static float logit_f32_of(float x, float eps, tc_dtype t)
{
    float lo = ti_narrowed(t, eps), hi = ti_narrowed(t, 1.0f - lo);
    float z = eps < 0 ? x : LEAST(MOST(x, lo), hi);
    if (t == TC_f32 && z > 0.375f && z < 0.625f)
        return logit_near_half(2 * (double)z - 1);
    return ti_logf(ti_narrowed(t, z / ti_narrowed(t, 1.0f - z)));
}
static double logit_f64_of(double x, double eps)
{
    double z = eps < 0 ? x : LEAST(MOST(x, eps), 1.0 - eps);
    return ti_log(z / (1.0 - z));
}
LOOP_WITH(logit_f32, logit, float, logit_f32_of(x, (real)a.eps, run->dtype))
LOOP_WITH(logit_f64, logit, double, logit_f64_of(x, a.eps))
KERNEL(logit, logit_f32, logit_f64, NULL)

static void gelu_f32(tc_run *run)
{
    const tc_attr_gelu *a = run->attr;
    (a->form == TC_gelu_form_erf ? ti_gelu_erf_f32 : ti_gelu_tanh_f32)(run->in[0], run->out,
                                                                       run->n);
}
static double gelu_f64_of(double x, tc_field_gelu_form form)
{
    const double beta = 0x1.9884533d43651p-1; /* sqrt(2 / pi) */
    double inner = form == TC_gelu_form_erf ? ti_erf(x * 0x1.6a09e667f3bcdp-1)
                                            : ti_tanh(beta * (x + 0.044715 * x * x * x));
    return 0.5 * x * (1 + inner);
}
LOOP_WITH(gelu_f64, gelu, double, gelu_f64_of(x, a.form))
KERNEL(gelu, gelu_f32, gelu_f64, NULL)

/* A bound of an integer clamp in the operand's type, truncated to its low bits as in PyTorch;
 * infinite: none. */
static int64_t bound(tc_dtype t, double v)
{
    if (isinf(v))
        return v > 0 ? INT64_MAX : INT64_MIN;
    return ti_wrap(t, ti_trunc_i64(v));
}

TC_LANES_BODY between(const float *restrict in, float *restrict out, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++)
        out[i] = LEAST(MOST(in[i], lo), hi);
}
TC_LANES(static, keep_between, between,
         (const float *restrict in, float *restrict out, size_t n, float lo, float hi),
         (in, out, n, lo, hi))

static void clamp_f32(tc_run *run)
{
    const tc_attr_clamp *a = run->attr;
    float *out = run->out;
    if (!isnan(a->lo) && !isnan(a->hi))
        keep_between(run->in[0], out, run->n, (float)a->lo, (float)a->hi);
    else
        for (size_t i = 0; i < run->n; i++)
            out[i] = NAN;
}
LOOP_WITH(clamp_f64, clamp, double, isnan(a.lo) || isnan(a.hi) ? NAN : LEAST(MOST(x, a.lo), a.hi))
LOOP_WITH(clamp_i64, clamp, int64_t,
          LEAST(MOST(x, bound(run->dtype, a.lo)), bound(run->dtype, a.hi)))
KERNEL(clamp, clamp_f32, clamp_f64, clamp_i64)

LOOP_WITH(threshold_f32, threshold, float, x <= (real)a.threshold ? (real)a.value : x)
LOOP_WITH(threshold_f64, threshold, double, x <= (real)a.threshold ? (real)a.value : x)
LOOP_WITH(threshold_i64, threshold, int64_t, (double)x <= a.threshold ? ti_trunc_i64(a.value) : x)
KERNEL(threshold, threshold_f32, threshold_f64, threshold_i64)

#define REPLACED                                                                                   \
    isnan(x) ? (real)a.nan : x == INFINITY ? (real)a.posinf : x == -INFINITY ? (real)a.neginf : x
LOOP_WITH(nan_to_num_f32, nan_to_num, float, REPLACED)
LOOP_WITH(nan_to_num_f64, nan_to_num, double, REPLACED)
LOOP(nan_to_num_i64, int64_t, int64_t, x)
KERNEL(nan_to_num, nan_to_num_f32, nan_to_num_f64, nan_to_num_i64)

/* To the nearest multiple of 10^-decimals, as PyTorch computes it. */
static float round_f32_of(float x, int64_t decimals)
{
    float ten = (float)ti_pow(10.0, fabs((double)decimals));
    return decimals == 0 ? rint(x) : decimals > 0 ? rint(x * ten) / ten : rint(x / ten) * ten;
}
static double round_f64_of(double x, int64_t decimals)
{
    double ten = ti_pow(10.0, fabs((double)decimals));
    return decimals == 0 ? rint(x) : decimals > 0 ? rint(x * ten) / ten : rint(x / ten) * ten;
}
LOOP_WITH(round_f32, round, float, round_f32_of(x, a.decimals))
LOOP_WITH(round_f64, round, double, round_f64_of(x, a.decimals))
LOOP(round_i64, int64_t, int64_t, x)
KERNEL(round, round_f32, round_f64, round_i64)

/* ~x; for bool its opposite. */
static void bitwise_not_i64(tc_run *run)
{
    const int64_t *restrict in = run->in[0];
    int64_t *restrict out = run->out;
    bool truth = run->dtype == TC_bool;
    for (size_t i = 0; i < run->n; i++)
        out[i] = truth ? !in[i] : ~in[i];
}
KERNEL(bitwise_not, NULL, NULL, bitwise_not_i64)

PREDICATE(logical_not, x == 0, x == 0)
PREDICATE(isnan, x != x, x != x)
PREDICATE(isinf, fabs(x) == INFINITY, 0 * x)
PREDICATE(isfinite, fabs(x) < INFINITY, x == x)

LOOP(neg_f32, float, float, -x)
LOOP(neg_f64, double, double, -x)
LOOP(neg_i64, int64_t, int64_t, ti_wrap_neg(x))
static void neg_c64(tc_run *run)
{
    tc_run pairs = *run;
    pairs.n *= 2;
    neg_f32(&pairs);
}
void ti_num_neg(tc_call *call)
{
    static const tc_eltwise op = {{neg_f32, neg_f64, neg_i64, neg_c64}, 0};
    ti_eltwise_run(call, &op, call->out[0].type->dtype);
}

LOOP(abs_f32, float, float, fabs(x))
LOOP(abs_f64, double, double, fabs(x))
LOOP(abs_i64, int64_t, int64_t, x < 0 ? ti_wrap_neg(x) : x)
static void abs_c64(tc_run *run)
{
    const float *in = run->in[0];
    float *out = run->out;
    for (size_t i = 0; i < run->n; i++)
        out[i] = (float)ti_hypot((double)in[2 * i], (double)in[2 * i + 1]);
}
void ti_num_abs(tc_call *call)
{
    static const tc_eltwise op = {{abs_f32, abs_f64, abs_i64, abs_c64}, 0};
    ti_eltwise_run(call, &op, call->in[0].type->dtype);
}

void ti_num_cast(tc_call *call)
{
    ti_convert(call->in[0], call->out[0]);
}
