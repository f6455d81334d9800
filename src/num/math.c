/* SPDX-License-Identifier: Apache-2.0 */
/* math.c -- functions of f32 in blocks.
 *
 * The frequent ones are f32 arithmetic throughout (math.h).  The others work in f64 with series
 * from the textbook, far enough that the result is the exact one rounded to f32 but for rare
 * near-ties. */
#include "math.h"
#include "../base/real.h"

#include "lanes.h"

static const double half_pi = 0x1.921fb54442d18p+0;

/* c[0] + c[1] x + ... + c[n-1] x^(n-1) */
static inline double poly(double x, const double *c, int n)
{
    double sum = c[n - 1];
    for (int i = n - 2; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* e^x - 1, and e^x when `whole`; x is clamped to -200 .. 200, past which an f32 is 0 or
 * infinity. */
static inline double exp_wide(double x, bool whole)
{
    static const double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,       1.0 / 120,
                               1.0 / 720,     1.0 / 5040,     1.0 / 40320,    1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
    const double shift = 0x1.8p52;
    double v = x < -200.0 ? -200.0 : x;
    v = v > 200.0 ? 200.0 : v;
    double shifted = v * 0x1.71547652b82fep+0 + shift, n = shifted - shift;
    double r = (v - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double q = r + r * r * poly(r, c, TC_COUNT(c)); /* e^r - 1 */
    double scale = ti_f64_of((ti_f64_bits(shifted) - ti_f64_bits(shift) + 1023) << 52);
    return whole ? q * scale + scale : q * scale + (scale - 1.0);
}

/* ln x = e ln 2 + 2 atanh(s), s = (m - 1) / (m + 1); x is not subnormal. */
static inline double log_wide(double x)
{
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9, 2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};
    uint64_t bits = ti_f64_bits(x);
    int64_t k = (int64_t)(bits - UINT64_C(0x3fe6a09e667f3bcd)) >> 52;
    double f = ti_f64_of(bits - ((uint64_t)k << 52)) - 1.0, s = f / (f + 2.0), z = s * s;
    double e = (double)k;
    double y = (2.0 * s + (s * z * poly(z, c, TC_COUNT(c)) + e * 0x1.a39ef35793c76p-33)) +
               e * 0x1.62e42feep-1;
    y = x < INFINITY ? y : x;
    double edge = x == 0.0 ? -(double)INFINITY : (double)NAN;
    return x > 0.0 ? y : edge;
}

/* ln(1 + x): a factor restores what rounding 1 + x lost. */
static inline double log1p_wide(double x)
{
    double u = 1.0 + x, d = u - 1.0;
    double y = log_wide(u);
    bool plain = d == 0.0 || !(u < INFINITY) || u <= 0.0;
    double fixed = y * (x / (plain ? 1.0 : d));
    return d == 0.0 ? x : plain ? y : fixed;
}

/* atan x, |x| <= 1: around 0, or around 1 through atan(x) = pi/4 + atan((x - 1) / (x + 1)). */
static inline double atan_unit(double x)
{
    static const double c[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11, 1.0 / 13,
                               -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25};
    double a = fabs(x);
    bool upper = a > 0.41421356237309503;
    double t = upper ? (a - 1.0) / (a + 1.0) : a, z = t * t;
    double y = t + t * z * poly(z, c, TC_COUNT(c));
    return copysign(upper ? half_pi / 2 + y : y, x);
}

static inline double atan_wide(double x)
{
    double inner = atan_unit(fabs(x) > 1.0 ? 1.0 / x : x);
    return fabs(x) > 1.0 ? copysign(half_pi, x) - inner : inner;
}

/* The angle of (x, y). */
static double atan2_wide(double y, double x)
{
    if (isnan(x) || isnan(y))
        return x + y;
    double ay = fabs(y), ax = fabs(x), angle;
    if (isinf(ax) && isinf(ay))
        angle = half_pi / 2;
    else if (ay > ax)
        angle = half_pi - atan_unit(ax / ay);
    else
        angle = ax == 0.0 ? 0.0 : atan_unit(ay / ax);
    return copysign(signbit(x) ? 2 * half_pi - angle : angle, y);
}

/* e^x^2 erfc x for 1 <= x <= 11:  Q(t) / (1 + 2x),  t = (x - 3) / (x + 3). */
static inline double erfcx_tail(double x)
{
    static const double c[] = {
        0x1.40c522d7e3fa1p+0,   -0x1.15c084baf8529p-3,  -0x1.85a15c4120d10p-5,
        0x1.09836662330b7p-3,   -0x1.e88b827694e94p-4,  0x1.17ca384d0cca7p-4,
        -0x1.8574268a45decp-6,  0x1.4b6e8a77e6d70p-9,   0x1.eecde6a6384cep-10,
        -0x1.9645a9b6272cbp-11, -0x1.a74142b271c4dp-14, 0x1.cb867fc3105e0p-14,
        -0x1.18fb93b7943fdp-20};
    return poly((x - 3.0) / (x + 3.0), c, TC_COUNT(c)) / (1.0 + 2.0 * x);
}

/* erfc x for x >= 1; 0 from 11 on. */
static inline double erfc_tail(double x)
{
    double v = x > 11.0 ? 11.0 : x;
    return exp_wide(-v * v, true) * erfcx_tail(v);
}

/* erf x for |x| <= 1, by its series: sum of (-1)^k x^(2k+1) / (k! (2k+1)), times 2 / sqrt(pi). */
static inline double erf_head(double x)
{
    static const double c[] = {1.0,
                               -1.0 / 3,
                               1.0 / 10,
                               -1.0 / 42,
                               1.0 / 216,
                               -1.0 / 1320,
                               1.0 / 9360,
                               -1.0 / 75600,
                               1.0 / 685440,
                               -1.0 / 6894720,
                               1.0 / 76204800,
                               -1.0 / 918086400,
                               1.0 / 11975040000,
                               -1.0 / 168129561600};
    return 0x1.20dd750429b6dp+0 * x * poly(x * x, c, TC_COUNT(c));
}

static inline double erfc_wide(double x)
{
    double a = fabs(x);
    double tail = erfc_tail(a);
    return a < 1.0 ? 1.0 - erf_head(x) : x < 0.0 ? 2.0 - tail : tail;
}

/* erfc's series far from 0, of over = 1 / x^2, without its first factor e^-x^2 / (x sqrt(pi)). */
static double erfc_series(double over)
{
    return over * (-0.5 + over * (0.75 + over * (-1.875 + over * (6.5625 - over * 29.53125))));
}

/* e^x^2 erfc x */
static double erfcx_wide(double x)
{
    if (x < 1.0)
        return exp_wide(x * x, true) * erfc_wide(x);
    return x < 11.0 ? erfcx_tail(x) : (1.0 + erfc_series(1.0 / (x * x))) * 0x1.20dd750429b6dp-1 / x;
}

static inline double sinh_wide(double x)
{
    double e = exp_wide(fabs(x), false);
    return copysign(0.5 * (e + e / (e + 1.0)), x);
}

static inline double cosh_wide(double x)
{
    double e = exp_wide(fabs(x), true);
    return 0.5 * (e + 1.0 / e);
}

static inline double asinh_wide(double x)
{
    double a = fabs(x), y = log1p_wide(a + a * a / (1.0 + sqrt(1.0 + a * a)));
    return a < INFINITY ? copysign(y, x) : x;
}

/* x tanh(ln(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). */
static inline double mish_wide(double x)
{
    double e = exp_wide(x > 20.0 ? 20.0 : x, true), n = e * (e + 2.0);
    return x < -150.0 ? x * 0.0 : x * (n / (n + 2.0));
}

/* x^y = e^(y ln |x|), with the sign of an odd power. */
static double pow_wide(double x, double y)
{
    double a = fabs(x);
    if (y == 0.0 || x == 1.0)
        return 1.0;
    if (isnan(x) || isnan(y))
        return x + y;
    double size = a == 1.0 ? 1.0 : exp_wide(y * log_wide(a), true);
    if (a == 0.0 ||
        isinf(a)) /* the logarithm is infinite: the power is exactly 0 or infinite */
        size = (a == 0.0) == (y > 0.0) ? 0.0 : (double)INFINITY;
    if (!signbit(x))
        return size;
    bool integer = floor(y) == y, odd = integer && floor(y / 2) != y / 2; /* infinity is even */
    if (!integer && a != 0.0 && !isinf(a))
        return (double)NAN;
    return odd ? -size : size;
}

/* ln(e^x + e^y) */
static double logaddexp_wide(double x, double y)
{
    if (x == y && isinf(x))
        return x;
    double most = x > y ? x : y, apart = fabs(x - y);
    return isnan(apart) ? apart : most + log1p_wide(exp_wide(-apart, true));
}

/* log2(2^x + 2^y) */
static double logaddexp2_wide(double x, double y)
{
    const double ln2 = 0x1.62e42fefa39efp-1;
    return logaddexp_wide(x * ln2, y * ln2) / ln2;
}

/* ln(erfc(-x / sqrt 2) / 2); far below 0 by the series of erfc, whose terms alternate. */
static double log_ndtr_wide(double x)
{
    double a = fabs(x) * 0x1.6a09e667f3bcdp-1;
    if (x >= 0.0)
        return log1p_wide(-0.5 * erfc_wide(a));
    if (a < 1.0)
        return log_wide(0.5 - 0.5 * erf_head(a));
    if (a < 10.0)
        return log_wide(0.5 * erfcx_tail(a)) - a * a;
    return log1p_wide(erfc_series(1.0 / (a * a))) - log_wide(a) - 0x1.43f89a3f0edd6p+0 - a * a;
}

/* Inverse of erf for f32: a first guess, then two of Halley's steps, each of which triples the
 * digits. */
static double erfinv_wide(double y)
{
    double a = fabs(y), x;
    if (!(a < 1.0))
        return a == 1.0 ? copysign((double)INFINITY, y) : (double)NAN;
    if (a < 0.5) {
        x = 0x1.c5bf891b4ef6bp-1 * (a + 0.2617993877991494 * a * a * a);
    } else { /* Winitzki's formula */
        double log_tail = log_wide((1.0 - a) * (1.0 + a)), m = 4.330746750799873 + log_tail / 2;
        x = sqrt(sqrt(m * m - log_tail / 0.147) - m);
    }
    for (int i = 0; i < 2; i++) {
        double off = x < 1.0 ? erf_head(x) - a : (1.0 - a) - erfc_tail(x);
        double step = off * 0x1.c5bf891b4ef6bp-1 * exp_wide(x * x, true);
        x -= step / (1.0 + x * step);
    }
    return copysign(x, y);
}

/* r and the quarter turn q with x = q pi/2 + r; |x| < 2^25. */
static inline double reduce(double x, uint64_t *q)
{
    const double shift = 0x1.8p52;
    double shifted = x * 0x1.45f306dc9c883p-1 + shift, n = shifted - shift;
    *q = ti_f64_bits(shifted) & 3;
    return ((x - n * 0x1.921fb54p+0) - n * 0x1.10b461p-30) - n * 0x1.a62633145c06ep-58;
}

/* The same for any finite f32 from 2^25 on: m 2^e times the bits of 2/pi that reach below 4. */
static double reduce_large(float x, uint64_t *q)
{
    static const uint32_t two_over_pi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                           0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561};
    uint32_t bits = ti_f32_bits(x);
    uint64_t m = (bits & 0x7fffff) | 0x800000;
    uint32_t first = (bits >> 23 & 0xff) - 152; /* e - 2: bits before this one give whole turns */
    uint32_t word = first / 32, by = first % 32;
    uint64_t w[4];
    for (uint32_t i = 0; i < 4; i++)
        w[i] = word + i < TC_COUNT(two_over_pi) ? two_over_pi[word + i] : 0;
    uint64_t high = w[0] << 32 | w[1], low = w[2] << 32 | w[3];
    if (by) {
        high = high << by | low >> (64 - by);
        low <<= by;
    }
    uint64_t turns = m * high + (m * (low >> 32) >> 32); /* in units of 2^-62 quarter turns */
    *q = (turns + (UINT64_C(1) << 61)) >> 62;
    double r = (double)(int64_t)(turns - (*q << 62)) * 0x1p-62 * half_pi;
    if (x < 0) {
        *q = (0 - *q) & 3;
        r = -r;
    }
    return r;
}

/* sin(q pi/2 + r) */
static inline double sin_quarter(double r, uint64_t q)
{
    static const double s[] = {-1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
                               -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
    static const double c[] = {1.0,         -1.0 / 2,       1.0 / 24,        -1.0 / 720,
                               1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200};
    double z = r * r;
    double odd = r * (1.0 + z * poly(z, s, TC_COUNT(s))), even = poly(z, c, TC_COUNT(c));
    double y = q & 1 ? even : odd;
    return q & 2 ? -y : y;
}

static inline double turn(double r, uint64_t q, int what)
{
    double s = sin_quarter(r, q), c = sin_quarter(r, q + 1);
    return what == 0 ? s : what == 1 ? c : s / c;
}

/* what: 0 sine, 1 cosine, 2 tangent. */
static inline void circular(const float *restrict x, float *restrict y, size_t n, int what)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t q;
        double r = reduce((double)x[i], &q);
        y[i] = (float)turn(r, q, what);
    }
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(x[i]) < 0x1p25f)) {
            uint64_t q;
            double r = isfinite(x[i]) ? reduce_large(x[i], &q) : (q = 0, (double)NAN);
            y[i] = (float)turn(r, q, what);
        }
}

void ti_sin_f32(const float *x, float *y, size_t n)
{
    circular(x, y, n, 0);
}
void ti_cos_f32(const float *x, float *y, size_t n)
{
    circular(x, y, n, 1);
}
void ti_tan_f32(const float *x, float *y, size_t n)
{
    circular(x, y, n, 2);
}

/* y[i] = expression of v = x[i], or of w, the same as f64. */
#define BLOCK(name, expression)                                                                    \
    TC_LANES_BODY name##_body(const float *restrict x, float *restrict y, size_t n)                \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            float v = x[i];                                                                        \
            y[i] = expression;                                                                     \
        }                                                                                          \
    }                                                                                              \
    TC_LANES(, ti_##name##_f32, name##_body,                                                       \
             (const float *restrict x, float *restrict y, size_t n), (x, y, n))
#define BLOCK_WIDE(name, expression)                                                               \
    void ti_##name##_f32(const float *restrict x, float *restrict y, size_t n)                     \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            double w = (double)x[i];                                                               \
            y[i] = (float)(expression);                                                            \
        }                                                                                          \
    }

BLOCK(exp, ti_expf(v))
BLOCK(log, ti_logf(v))
BLOCK(tanh, ti_tanhf(v))
BLOCK(sigmoid, ti_sigmoidf(v))
BLOCK(erf, ti_erff(v))
BLOCK(silu, ti_sigmoidf(v) * v)
BLOCK(gelu_erf, v * 0.5f * (1.0f + ti_erff(v * 0x1.6a09e6p-1f)))
BLOCK(gelu_tanh, v * 0.5f * (1.0f + ti_tanhf(0x1.988454p-1f * (v + 0.044715f * (v * v * v)))))
BLOCK(sqrt, sqrtf(v))
BLOCK_WIDE(rsqrt, 1.0 / sqrt(w))

BLOCK_WIDE(exp2, exp_wide(w * 0x1.62e42fefa39efp-1, true))
BLOCK_WIDE(expm1, copysign(exp_wide(w, false), w))
BLOCK_WIDE(log2, log_wide(w) * 0x1.71547652b82fep+0)
BLOCK_WIDE(log10, log_wide(w) * 0x1.bcb7b1526e50ep-2)
BLOCK_WIDE(log1p, log1p_wide(w))
BLOCK_WIDE(asin, atan_wide(w / sqrt((1.0 - w) * (1.0 + w))))
BLOCK_WIDE(acos, 2.0 * atan_wide(sqrt(1.0 - w) / sqrt(1.0 + w)))
BLOCK_WIDE(atan, atan_wide(w))
BLOCK_WIDE(sinh, sinh_wide(w))
BLOCK_WIDE(cosh, cosh_wide(w))
BLOCK_WIDE(asinh, asinh_wide(w))
BLOCK_WIDE(acosh, log1p_wide((w - 1.0) + sqrt(w - 1.0) * sqrt(w + 1.0)))
BLOCK_WIDE(atanh, copysign(0.5 * log1p_wide(2.0 * fabs(w) / (1.0 - fabs(w))), w))
BLOCK_WIDE(erfc, erfc_wide(w))
BLOCK_WIDE(erfinv, erfinv_wide(w))
BLOCK_WIDE(log_sigmoid, (w < 0.0 ? w : 0.0) - log1p_wide(exp_wide(-fabs(w), true)))
BLOCK_WIDE(mish, mish_wide(w))
BLOCK_WIDE(erfcx, erfcx_wide(w))
BLOCK_WIDE(log_ndtr, log_ndtr_wide(w))

float ti_powf(float x, float y)
{
    return (float)pow_wide((double)x, (double)y);
}

float ti_atan2f(float y, float x)
{
    return (float)atan2_wide((double)y, (double)x);
}

float ti_log1pf(float x)
{
    return (float)log1p_wide((double)x);
}

float ti_expm1f(float x)
{
    return (float)copysign(exp_wide((double)x, false), (double)x);
}

float ti_logaddexpf(float x, float y)
{
    return (float)logaddexp_wide((double)x, (double)y);
}

float ti_logaddexp2f(float x, float y)
{
    return (float)logaddexp2_wide((double)x, (double)y);
}

double ti_erfcx(double x)
{
    return x < 25.0 ? ti_exp(x * x) * ti_erfc(x)
                    : (1.0 + erfc_series(1.0 / (x * x))) * 0x1.20dd750429b6dp-1 / x;
}

double ti_log_ndtr(double x)
{
    double a = fabs(x) * 0x1.6a09e667f3bcdp-1;
    if (x >= 0.0)
        return ti_log1p(-0.5 * ti_erfc(a));
    if (a < 25.0)
        return ti_log(0.5 * ti_erfc(a));
    return ti_log1p(erfc_series(1.0 / (a * a))) - ti_log(a) - 0x1.43f89a3f0edd6p+0 - a * a;
}

double ti_erfinv(double y)
{
    double a = fabs(y), x = erfinv_wide(a);
    for (int i = 0; i < 2 && isfinite(x); i++) {
        double off = x < 1.0 ? ti_erf(x) - a : (1.0 - a) - ti_erfc(x);
        double step = off * 0x1.c5bf891b4ef6bp-1 * ti_exp(x * x);
        x -= step / (1.0 + x * step);
    }
    return copysign(x, y);
}
