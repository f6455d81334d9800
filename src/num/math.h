/* SPDX-License-Identifier: Apache-2.0 */
/* math.h -- functions of f32, the same bits on every machine.
 *
 * Plain arithmetic only: add, subtract, multiply, divide, square root and integer operations on the
 * bits, so that compilers may turn the loops into vector code and may not change a result.
 * Bounds, in units in the last place of the exact result (tested by test/unit/math.c):
 * exp, log 1; erf 1.5; tanh 2; sigmoid 2.5; everything in math.c that works in f64 0.51.
 * NaN, infinities, zeros and their signs come out as in C's Annex F. */
#ifndef TC_MATH_H
#define TC_MATH_H

#include <float.h>
#include <math.h>

#include "half.h"

/* e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2; e^r by a polynomial. */
static inline float ti_expf(float x)
{
    const float shift = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
    float c = x < -104.0f ? -104.0f : x;
    c = c > 89.0f ? 89.0f : c;
    float shifted = c * 0x1.715476p+0f + shift;
    float n = shifted - shift;
    uint32_t k = ti_f32_bits(shifted) - ti_f32_bits(shift);
    float r = (c - n * 0.693359375f) -
              n * -0x1.bd0106p-13f; /* ln 2 in two parts; n times the first is exact */
    float p = 0x1.6a1a7p-10f;
    p = p * r + 0x1.123fc6p-7f;
    p = p * r + 0x1.555916p-5f;
    p = p * r + 0x1.55548ap-3f;
    p = p * r + 0x1.fffffcp-2f;
    float y = 1.0f + (r + r * r * p);
    /* 2^n in two factors, so that subnormal results round once. */
    uint32_t half = (uint32_t)((int32_t)k >> 1);
    return y * ti_f32_of((half + 127) << 23) * ti_f32_of((k - half + 127) << 23);
}

/* ln x = e ln 2 + ln m with sqrt(1/2) <= m < sqrt(2); ln(1 + f) = f - f^2/2 + f^3 P(f). */
static inline float ti_logf(float x)
{
    bool tiny = x < FLT_MIN;
    float v = tiny ? x * 0x1p23f : x;
    uint32_t bits = ti_f32_bits(v);
    int32_t k = (int32_t)(bits - 0x3f3504f3u) >> 23;
    float f = ti_f32_of(bits - ((uint32_t)k << 23)) - 1.0f, z = f * f;
    float e = (float)k - (tiny ? 23.0f : 0.0f);
    float p = 0x1.1457acp-4f;
    p = p * f - 0x1.de3c16p-4f;
    p = p * f + 0x1.e6f06ap-4f;
    p = p * f - 0x1.fc2206p-4f;
    p = p * f + 0x1.233768p-3f;
    p = p * f - 0x1.555c4ep-3f;
    p = p * f + 0x1.99a4b6p-3f;
    p = p * f - 0x1.000006p-2f;
    p = p * f + 0x1.555548p-2f;
    float y = (f * z * p + e * -0x1.bd0106p-13f) - 0.5f * z;
    y = (f + y) + e * 0.693359375f;
    y = x < INFINITY ? y : x;
    float edge = x == 0.0f ? -INFINITY : NAN;
    return x > 0.0f ? y : edge;
}

/* Near zero x + x^3 P(x^2), else 1 - 2 / (e^2|x| + 1). */
static inline float ti_tanhf(float x)
{
    float a = fabsf(x), z = x * x;
    float p = -0x1.722b06p-8f;
    p = p * z + 0x1.5157fep-6f;
    p = p * z - 0x1.b81dc2p-5f;
    p = p * z + 0x1.110646p-3f;
    p = p * z - 0x1.55552ep-2f;
    float near = a + a * z * p;
    float far = 1.0f - 2.0f / (ti_expf(2.0f * a) + 1.0f);
    return copysignf(a < 0.625f ? near : far, x);
}

/* 1 / (1 + e^-x), from e^-|x| on both sides so that nothing overflows. */
static inline float ti_sigmoidf(float x)
{
    float e = ti_expf(-fabsf(x));
    float top = x < 0.0f ? e : 1.0f;
    return top / (1.0f + e);
}

/* Up to 1 x + x P(x^2), beyond 1 - e^-Q(|x|); from 4 on it rounds to 1. */
static inline float ti_erff(float x)
{
    float a = fabsf(x), z = x * x;
    float p = 0x1.4ae4dp-14f;
    p = p * z - 0x1.a485ecp-11f;
    p = p * z + 0x1.5419f6p-8f;
    p = p * z - 0x1.b7fbb4p-6f;
    p = p * z + 0x1.ce2d2p-4f;
    p = p * z - 0x1.81273ep-2f;
    p = p * z + 0x1.06eba8p-3f;
    float c = a > 4.0f ? 4.0f : a;
    float q = 0x1.6bd7e2p-16f;
    q = q * c - 0x1.cec6p-12f;
    q = q * c + 0x1.138cbcp-8f;
    q = q * c - 0x1.9d0304p-6f;
    q = q * c + 0x1.bc1516p-4f;
    q = q * c + 0x1.443566p-1f;
    q = q * c + 0x1.212c0cp+0f;
    q = q * c - 0x1.8a5752p-13f;
    return a < 1.0f ? x + x * p : copysignf(1.0f - ti_expf(-q), x);
}

/* y[i] = f(x[i]) for n elements; x and y do not overlap. */
typedef void tc_block_f32(const float *x, float *y, size_t n);

extern tc_block_f32 ti_exp_f32, ti_log_f32, ti_tanh_f32, ti_sigmoid_f32, ti_erf_f32, ti_silu_f32,
    ti_gelu_erf_f32, ti_gelu_tanh_f32, ti_sqrt_f32, ti_rsqrt_f32;
extern tc_block_f32 ti_exp2_f32, ti_expm1_f32, ti_log2_f32, ti_log10_f32, ti_log1p_f32, ti_sin_f32,
    ti_cos_f32, ti_tan_f32, ti_asin_f32, ti_acos_f32, ti_atan_f32, ti_sinh_f32, ti_cosh_f32,
    ti_asinh_f32, ti_acosh_f32, ti_atanh_f32, ti_erfc_f32, ti_erfinv_f32, ti_log_sigmoid_f32,
    ti_mish_f32, ti_erfcx_f32, ti_log_ndtr_f32;

/* One element at a time. */
float ti_powf(float x, float y);
float ti_atan2f(float y, float x);
float ti_log1pf(float x);
float ti_expm1f(float x);
float ti_logaddexpf(float x, float y);
float ti_logaddexp2f(float x, float y);


/* Inverse of erf for f64, to its last bits. */
double ti_erfinv(double y);
double ti_erfcx(double x);
double ti_log_ndtr(double x);

#endif
