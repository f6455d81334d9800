/* SPDX-License-Identifier: Apache-2.0 */
/* math.c -- the f32 functions against libm's f64 ones, in units in the last place. */
#include "check.h"

#include "num/math.h"

/* The distance between two f32, or from one to an exact result, in steps of the result. */
static double off_by(float got, double exact)
{
    float near = (float)exact;
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (isinf(near) || isinf(got)) /* the step past the largest number counts as one */
        return got == near ? 0 : fabsf(got) == FLT_MAX || fabsf(near) == FLT_MAX ? 1 : INFINITY;
    int e;
    frexp(exact, &e);
    double step = ldexp(1.0, e - 24 < -149 ? -149 : e - 24);
    return fabs((double)got - exact) / step;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double log_sigmoid(double x)
{
    return (x < 0 ? x : 0) - log1p(exp(-fabs(x)));
}
static double mish(double x)
{
    return x < -150 ? x * 0.0 : x * tanh(log1p(exp(x)));
}
static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

typedef struct row {
    const char *name;
    tc_block_f32 *block;
    double (*exact)(double);
    double bound;
} row;

static const row rows[] = {
    {"exp", ti_exp_f32, exp, 1.0},
    {"log", ti_log_f32, log, 1.0},
    {"tanh", ti_tanh_f32, tanh, 2.0},
    {"sigmoid", ti_sigmoid_f32, sigmoid, 2.5},
    {"erf", ti_erf_f32, erf, 1.5},
    {"sqrt", ti_sqrt_f32, sqrt, 0.5},
    {"rsqrt", ti_rsqrt_f32, rsqrt, 0.51},
    {"exp2", ti_exp2_f32, exp2, 0.51},
    {"expm1", ti_expm1_f32, expm1, 0.51},
    {"log2", ti_log2_f32, log2, 0.51},
    {"log10", ti_log10_f32, log10, 0.51},
    {"log1p", ti_log1p_f32, log1p, 0.51},
    {"sin", ti_sin_f32, sin, 0.51},
    {"cos", ti_cos_f32, cos, 0.51},
    {"tan", ti_tan_f32, tan, 0.51},
    {"asin", ti_asin_f32, asin, 0.51},
    {"acos", ti_acos_f32, acos, 0.51},
    {"atan", ti_atan_f32, atan, 0.51},
    {"sinh", ti_sinh_f32, sinh, 0.51},
    {"cosh", ti_cosh_f32, cosh, 0.51},
    {"asinh", ti_asinh_f32, asinh, 0.51},
    {"acosh", ti_acosh_f32, acosh, 0.51},
    {"atanh", ti_atanh_f32, atanh, 0.51},
    {"erfc", ti_erfc_f32, erfc, 0.51},
    {"erfinv", ti_erfinv_f32, ti_erfinv, 0.51},
    {"log_sigmoid", ti_log_sigmoid_f32, log_sigmoid, 0.51},
    {"mish", ti_mish_f32, mish, 0.51},
    {"erfcx", ti_erfcx_f32, ti_erfcx, 0.51},
    {"log_ndtr", ti_log_ndtr_f32, ti_log_ndtr, 0.51},
};

static const float edges[] = {
    0.0f,        -0.0f,   1.0f,        -1.0f,     0.5f,     -0.5f,    2.0f,       INFINITY,
    -INFINITY,   NAN,     FLT_MAX,     -FLT_MAX,  FLT_MIN,  -FLT_MIN, 0x1p-149f,  -0x1p-149f,
    1e-30f,      0x1p24f, 88.72284f,   88.72283f, -103.97f, -104.1f,  89.0f,      1e10f,
    16777217.0f, 0.625f,  0.99999994f, 4.0f,      -87.4f,   3.0e38f,  1.5707964f, 3.1415927f};

/* Every result so far, bit by bit, whatever a NaN looks like. */
static uint32_t digest = 1;

static void digest_of(const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ (isnan(y[i]) ? 1 : ti_f32_bits(y[i]))) * 16777619u;
}

/* The whole range of f32 in steps of many bits, a dense walk around zero, and the edges. */
static void test_row(const row *r)
{
    enum { N = 1 << 12 };
    static float x[N], y[N];
    double worst = 0;
    float at = 0;
    for (uint32_t bits = 0; bits < 0xff000000u;) {
        for (size_t i = 0; i < N; i++, bits += 20011)
            x[i] = ti_f32_of(bits);
        r->block(x, y, N);
        digest_of(y, N);
        for (size_t i = 0; i < N; i++) {
            double off = off_by(y[i], r->exact((double)x[i]));
            if (off > worst)
                worst = off, at = x[i];
        }
    }
    for (int k = 0; k < 40; k++) {
        for (size_t i = 0; i < N; i++)
            x[i] = (float)((double)(k * N + (int)i) * 0.0001221 - 10);
        r->block(x, y, N);
        digest_of(y, N);
        for (size_t i = 0; i < N; i++) {
            double off = off_by(y[i], r->exact((double)x[i]));
            if (off > worst)
                worst = off, at = x[i];
        }
    }
    r->block(edges, y, TC_COUNT(edges));
    for (size_t i = 0; i < TC_COUNT(edges); i++) {
        double exact = r->exact((double)edges[i]), off = off_by(y[i], exact);
        if (off > worst)
            worst = off, at = edges[i];
        if (edges[i] == 0 && exact == 0)
            CHECK(!signbit(y[i]) == !signbit(exact));
    }
    if (worst > r->bound)
        fprintf(stderr, "%s(%a) is off by %g\n", r->name, (double)at, worst);
    CHECK(worst <= r->bound);
}

static void test_two(void)
{
    double pow_worst = 0, atan2_worst = 0, log_worst = 0;
    for (uint32_t i = 0; i < 400000; i++) {
        float x = ti_f32_of(i * 2654435761u), y = ti_f32_of(0x3c000000u + i * 40503u % 0x8000000u);
        y = i & 1 ? y : floorf(-y);
        float a = fabsf(x) < 1e6f ? x : (float)(i % 1000) * 0.01f - 5;
        pow_worst = fmax(pow_worst, off_by(ti_powf(x, y), pow((double)x, (double)y)));
        pow_worst = fmax(pow_worst, off_by(ti_powf(a, y), pow((double)a, (double)y)));
        atan2_worst = fmax(atan2_worst, off_by(ti_atan2f(x, y), atan2((double)x, (double)y)));
        double most = fmax((double)a, (double)y), least = fmin((double)a, (double)y);
        if (!isnan(x)) {
            double exact = most + log1p(exp(least - most));
            log_worst =
                fmax(log_worst, fabs((double)ti_logaddexpf(a, y) - exact) - fabs(exact) * 0x1p-24);
        }
    }
    CHECK(pow_worst <= 0.51);
    CHECK(atan2_worst <= 0.51);
    CHECK(log_worst <= 1e-12);
    for (size_t i = 0; i < TC_COUNT(edges); i++)
        for (size_t k = 0; k < TC_COUNT(edges); k++) {
            double x = (double)edges[i], y = (double)edges[k];
            CHECK(off_by(ti_powf(edges[i], edges[k]), pow(x, y)) <= 0.51);
            float angle = ti_atan2f(edges[i], edges[k]);
            CHECK(off_by(angle, atan2(x, y)) <= 0.51 &&
                  (isnan(angle) || !signbit(angle) == !signbit(x)));
        }
    CHECK(ti_powf(2, 10) == 1024 && ti_powf(-2, 3) == -8 && ti_powf(9, 0.5f) == 3);
    CHECK(ti_logaddexpf(INFINITY, INFINITY) == INFINITY && isnan(ti_logaddexpf(NAN, 1)));
    CHECK(ti_logaddexpf(-INFINITY, -INFINITY) == -INFINITY && ti_logaddexpf(-INFINITY, 3) == 3);
    CHECK(ti_logaddexp2f(3, 3) == 4 && ti_logaddexp2f(-INFINITY, 3) == 3);
    CHECK(isnan(ti_logaddexp2f(NAN, 1)) && ti_logaddexp2f(INFINITY, INFINITY) == INFINITY);
    CHECK(ti_logaddexp2f(-INFINITY, -INFINITY) == -INFINITY);
    CHECK(fabs(ti_erfcx(30.0) - 0.018795888861416751) < 1e-16);
    CHECK(fabs(ti_log_ndtr(-40.0) + 804.60844201375379) < 1e-11);
    CHECK(ti_expm1f(-0.0f) == 0 && ti_log1pf(0x1p-30f) == 0x1p-30f);
}

/* erf(erfinv(y)) = y, seen from the side where erf is steep enough to tell. */
static void test_erfinv(void)
{
    double worst = 0;
    for (int i = -999; i < 1000; i++) {
        double y = i / 1000.0;
        worst = fmax(worst, fabs(erf(ti_erfinv(y)) - y));
    }
    CHECK(worst < 5e-16);
    CHECK(isinf(ti_erfinv(1)) && isnan(ti_erfinv(1.5)) && ti_erfinv(0) == 0);
}

/* gelu and silu are compared by size: near -infinity gelu is a difference of equals in every form.
 */
static void test_gelu(void)
{
    float x[2000], erf_form[2000], tanh_form[2000], silu[2000];
    double worst = 0;
    for (int i = 0; i < 2000; i++)
        x[i] = (float)(i - 1000) * 0.01f;
    ti_gelu_erf_f32(x, erf_form, 2000);
    ti_gelu_tanh_f32(x, tanh_form, 2000);
    ti_silu_f32(x, silu, 2000);
    for (int i = 0; i < 2000; i++) {
        double v = (double)x[i];
        double exact = 0.5 * v * (1 + erf(v / sqrt(2))), k = sqrt(2 / acos(-1.0));
        double other = 0.5 * v * (1 + tanh(k * (v + 0.044715 * v * v * v)));
        worst = fmax(worst, fabs((double)erf_form[i] - exact) / fmax(1, fabs(v)));
        worst = fmax(worst, fabs((double)tanh_form[i] - other) / fmax(1, fabs(v)));
        worst = fmax(worst, fabs((double)silu[i] - v * sigmoid(v)) / fmax(1, fabs(v)));
    }
    CHECK(worst < 3e-7);
}

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        test_row(&rows[i]);
    CHECK(digest == 0x7cd83434u); /* the same bits from every compiler on every machine */
    test_two();
    test_erfinv();
    test_gelu();
    return check_done();
}
