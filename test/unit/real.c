/* SPDX-License-Identifier: Apache-2.0 */
/* real.c -- the f64 functions beside the C library's wider ones, in units in the last place; and
 * their bits, which are the same on every machine. */
#include "check.h"

#include <float.h>

#include "base/real.h"
#include "base/map.h"

static uint64_t seed;

static double any_of(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * ((double)(seed >> 11) * 0x1p-53);
}

/* How far `got` is from the exact result, in steps of f64 there. */
static double off_by(double got, long double exact)
{
    double near = (double)exact;
    if (isnan(got) || isnan(near))
        return isnan(got) && isnan(near) ? 0 : INFINITY;
    if (isinf(got) || isinf(near) || near == 0)
        return got == near && !signbit(got) == !signbit(near) ? 0 : INFINITY;
    int e;
    frexp(near, &e);
    double step = ldexp(1, e - 53 < -1074 ? -1074 : e - 53);
    return fabs((double)((long double)got - exact)) / step;
}

#if LDBL_MANT_DIG == 64
#define ROW(name, lo, hi) {#name, ti_##name, name##l, lo, hi}
#else /* nothing wider is here, or it is emulated: bits alone are looked at */
#define ROW(name, lo, hi) {#name, ti_##name, NULL, lo, hi}
#endif

typedef struct row {
    const char *name;
    double (*own)(double);
    long double (*wide)(long double);
    double lo, hi;
} row;

static const row rows[] = {
    ROW(exp, -700, 709),    ROW(exp2, -1000, 1023), ROW(expm1, -40, 40),  ROW(log, 0.5, 2),
    ROW(log, 1e-300, 1e300), ROW(log2, 1e-3, 1e3),  ROW(log10, 1e-3, 1e3), ROW(log1p, -0.999, 10),
    ROW(sinh, -30, 30),     ROW(cosh, -30, 30),     ROW(tanh, -3, 3),     ROW(asinh, -30, 30),
    ROW(acosh, 1, 30),      ROW(atanh, -1, 1),      ROW(sin, -100, 100),  ROW(cos, -100, 100),
    ROW(tan, -100, 100),    ROW(sin, -1e15, 1e15),  ROW(cos, -1e300, 1e300), ROW(asin, -1, 1),
    ROW(acos, -1, 1),       ROW(atan, -5, 5),       ROW(erf, -5, 5),      ROW(erfc, -5, 26),
};

static const double edges[] = {0.0,   -0.0,      INFINITY, -INFINITY, NAN,   1,    -1,
                               1e308, -1e308,    0x1p-40,  1e-20,     0.5,   2,    700,
                               -700,  0x1p-1074, 709.7,    1e20,      -1e20, 0.75, -0.75};

/* Numbers of the range, some of them small. */
static double argument(const row *r, int i)
{
    double x = any_of(r->lo, r->hi);
    return i % 4 ? x : x * ldexp(1, -(int)any_of(0, 40));
}

static void test_bounds(void)
{
    for (size_t k = 0; rows[0].wide && k < TC_COUNT(rows); k++) {
        double worst = 0;
        seed = 1;
        for (int i = 0; i < 20000; i++) {
            double x = argument(&rows[k], i);
            worst = fmax(worst, off_by(rows[k].own(x), rows[k].wide((long double)x)));
        }
        for (size_t i = 0; i < TC_COUNT(edges); i++)
            worst = fmax(worst, off_by(rows[k].own(edges[i]), rows[k].wide((long double)edges[i])));
        CHECK_ROW(rows[k].name, worst < 0.52);
    }
}

static void test_pairs(void)
{
    double worst[3] = {0};
    seed = 1;
    for (int i = 0; i < 20000; i++) {
        double x = any_of(-1, 1) * ldexp(1, (int)any_of(-20, 20)), y = any_of(-30, 30);
#if LDBL_MANT_DIG == 64
        worst[0] = fmax(worst[0], off_by(ti_pow(fabs(x), y), powl(fabs(x), y)));
        worst[1] = fmax(worst[1], off_by(ti_atan2(x, y), atan2l(x, y)));
        worst[2] = fmax(worst[2], off_by(ti_hypot(x, y), hypotl(x, y)));
#endif
        double z = i % 2 ? any_of(-1, 1) : -x * y * (1 + floor(any_of(0, 8)) * 0x1p-52);
#ifdef __linux__ /* elsewhere the library's may round twice */
        CHECK(ti_fma(x, y, z) == fma(x, y, z));
        CHECK(ti_fmaf((float)x, (float)y, (float)z) == fmaf((float)x, (float)y, (float)z));
#endif
    }
    for (int i = 0; i < 3; i++)
        CHECK(worst[i] < 0.52);
    for (size_t i = 0; i < TC_COUNT(edges); i++)
        for (size_t k = 0; k < TC_COUNT(edges); k++) {
            double x = edges[i], y = edges[k];
            CHECK(off_by(ti_pow(x, y), pow(x, y)) <= 1);
            CHECK(off_by(ti_atan2(x, y), atan2(x, y)) <= 1);
            CHECK(off_by(ti_hypot(x, y), hypot(x, y)) <= 1);
        }
    for (int i = 0; i < 23; i++) {
        double ten = 1;
        for (int k = 0; k < i; k++)
            ten *= 10;
        CHECK(ti_pow(10, i) == ten && ti_log10(ten) == i);
    }
    for (int i = -1074; i < 1024; i++)
        CHECK(ti_log2(ldexp(1, i)) == i && ti_exp2(i) == ldexp(1, i));
}

static uint64_t hashed(uint64_t h, double v)
{
    return isnan(v) ? ti_hash("nan", 3, h) : ti_hash(&v, sizeof v, h);
}

static void test_bits(void)
{
    uint64_t h = 0;
    seed = 7;
    for (size_t k = 0; k < TC_COUNT(rows); k++)
        for (int i = 0; i < 2000; i++)
            h = hashed(h, rows[k].own(argument(&rows[k], i)));
    for (int i = 0; i < 2000; i++) {
        double x = any_of(0, 9), y = any_of(-30, 30);
        h = hashed(hashed(h, ti_pow(x, y)), ti_atan2(x, y));
        h = hashed(hashed(h, ti_hypot(x, y)), ti_fma(x, y, -x));
    }
    CHECK(h == UINT64_C(0xc214498e41bb2df3));
    if (check_failed)
        fprintf(stderr, "bits of real.c: %016llx\n", (unsigned long long)h);
}

int main(void)
{
    test_bounds();
    test_pairs();
    test_bits();
    return check_done();
}
