/* SPDX-License-Identifier: Apache-2.0 */
/* real.c -- see real.h.
 *
 * Intermediate values are pairs: the sum of two f64 that do not overlap, good for some 100 bits.
 * Their products need no fused multiply-add, which not every machine has.  Everything rests on e^x
 * and sin, cos by their series; logarithm and arc tangent are one step of Newton's from a guess. */
#include "real.h"

typedef struct pair {
    double h, l;
} pair;

static const pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, per_ln2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56},
                  per_ln10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}, two_per_root_pi = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

/* ---- pairs ---- */

static pair fast_sum(double a, double b) /* |a| >= |b|, or a = 0 */
{
    double s = a + b;
    return (pair){s, b - (s - a)};
}

static pair sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (pair){s, (a - (s - t)) + (b - t)};
}

/* Two halves of 26 bits. */
static pair halves(double a)
{
    double t = 134217729.0 * a, h = t - (t - a);
    return (pair){h, a - h};
}

static pair product(double a, double b)
{
    double p = a * b;
    pair x = halves(a), y = halves(b);
    return (pair){p, ((x.h * y.h - p) + x.h * y.l + x.l * y.h) + x.l * y.l};
}

static pair add(pair a, pair b)
{
    pair s = sum(a.h, b.h), t = sum(a.l, b.l);
    s = fast_sum(s.h, s.l + t.h);
    return fast_sum(s.h, s.l + t.l);
}

static pair plus(pair a, double b)
{
    pair s = sum(a.h, b);
    return fast_sum(s.h, s.l + a.l);
}

static pair times(pair a, pair b)
{
    pair p = product(a.h, b.h);
    return fast_sum(p.h, p.l + (a.h * b.l + a.l * b.h));
}

static pair scaled(pair a, double b)
{
    pair p = product(a.h, b);
    return fast_sum(p.h, p.l + a.l * b);
}

static pair negative(pair a)
{
    return (pair){-a.h, -a.l};
}

static pair quotient(pair a, pair b)
{
    double q = a.h / b.h;
    pair r = add(a, negative(scaled(b, q)));
    double next = r.h / b.h;
    r = add(r, negative(scaled(b, next)));
    return plus(fast_sum(q, next), r.h / b.h);
}

static pair root(pair a)
{
    if (a.h <= 0)
        return (pair){sqrt(a.h), 0};
    double s = sqrt(a.h);
    pair r = add(a, negative(product(s, s)));
    return fast_sum(s, r.h / (2 * s));
}

/* ---- e^x, ln x ---- */

/* 1 / 2!, 1 / 3!, ... */
static const pair inverse_factorial[] = {
    {0x1.0000000000000p-1, 0x0.0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
};

/* e^x - 1 for |x| <= ln 2 / 2: of x / 256, then (1 + y)^2 - 1 eight times. */
static pair small_expm1(pair x)
{
    pair r = {x.h * 0x1p-8, x.l * 0x1p-8}, y = inverse_factorial[TC_COUNT(inverse_factorial) - 1];
    for (int i = (int)TC_COUNT(inverse_factorial) - 2; i >= 0; i--)
        y = add(times(y, r), inverse_factorial[i]);
    y = add(times(times(y, r), r), r);
    for (int i = 0; i < 8; i++)
        y = add(times(y, y), (pair){2 * y.h, 2 * y.l});
    return y;
}

/* e^x = (1 + result) 2^*n. */
static pair exp_parts(pair x, int *n)
{
    double k = nearbyint(x.h * per_ln2.h);
    *n = (int)k;
    /* ln 2 in three parts: k times the first is exact. */
    pair r = plus(x, -k * 0x1.62e42fefa3800p-1);
    r = add(r, negative(product(k, 0x1.ef35793c76730p-45)));
    return small_expm1(plus(r, -k * 0x1.f97b57a079a19p-103));
}

static double exp_of(pair x)
{
    if (!(x.h > -746))
        return isnan(x.h) ? x.h : 0;
    if (x.h > 710)
        return INFINITY;
    int n;
    pair y = plus(exp_parts(x, &n), 1);
    return n > -1021 ? ldexp(y.h * 0.5, n + 1) : ldexp(y.h, n);
}

/* |x.h| <= 745. */
static pair exp_pair(pair x)
{
    int n;
    pair y = plus(exp_parts(x, &n), 1);
    return (pair){ldexp(y.h, n), ldexp(y.l, n)};
}

/* e^x - 1 for |x.h| < 700. */
static pair expm1_pair(pair x)
{
    if (fabs(x.h) < 0x1p-40)
        return add(x, scaled(times(x, x), 0.5));
    int n;
    pair y = exp_parts(x, &n);
    y = (pair){ldexp(y.h, n), ldexp(y.l, n)};
    return n ? plus(plus(y, ldexp(1, n)), -1) : y;
}

/* ln x for a normal x.h > 0. */
static pair log_pair(pair x)
{
    int e;
    double m = frexp(x.h, &e);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), z = s * s, guess = 0;
    for (int i = 15; i >= 1; i -= 2)
        guess = guess * z + 2.0 / i;
    guess *= s;
    pair low = {m, ldexp(x.l, -e)};
    int n;
    pair t = plus(exp_parts((pair){-guess, 0}, &n), 1); /* |guess| <= ln 2 / 2 up to rounding */
    t = plus(times(low, (pair){ldexp(t.h, n), ldexp(t.l, n)}), -1);
    t = plus(t, -0.5 * t.h * t.h);
    t = plus(t, guess);
    return add(scaled(ln2, e), t);
}

/* x with its exponent moved into the normal range. */
static double normal(double x, double *more)
{
    bool tiny = x < 0x1p-1000;
    *more = tiny ? -200 : 0;
    return tiny ? x * 0x1p200 : x;
}

static double log_by(double x, pair by)
{
    if (!(x > 0) || isinf(x))
        return x == 0 ? -INFINITY : x > 0 ? x : NAN;
    double more;
    pair y = log_pair((pair){normal(x, &more), 0});
    y = times(add(y, scaled(ln2, more)), by);
    return y.h;
}

/* ln(1 + x), |x| < 2^900. */
static pair log1p_pair(pair x)
{
    if (fabs(x.h) < 0x1p-40)
        return add(x, scaled(times(x, x), -0.5));
    return log_pair(plus(x, 1));
}

double ti_exp(double x) { return exp_of((pair){x, 0}); }

double ti_exp2(double x)
{
    if (!(fabs(x) < 1100))
        return isnan(x) ? x : x > 0 ? INFINITY : 0;
    double n = nearbyint(x);
    return ldexp(exp_of(scaled(ln2, x - n)), (int)n);
}

double ti_expm1(double x)
{
    if (fabs(x) < 0x1p-60 || isnan(x))
        return x;
    return x > 690 ? ti_exp(x) : x < -60 ? -1 : expm1_pair((pair){x, 0}).h;
}

double ti_log(double x) { return log_by(x, (pair){1, 0}); }
double ti_log2(double x) { return log_by(x, per_ln2); }
double ti_log10(double x) { return log_by(x, per_ln10); }

double ti_log1p(double x)
{
    if (fabs(x) < 0x1p-60 || isnan(x))
        return x;
    if (x > 0x1p900)
        return ti_log(x);
    return x > -1 ? log1p_pair((pair){x, 0}).h : x == -1 ? -INFINITY : NAN;
}

/* 0: no integer, 1: odd, 2: even. */
static int parity(double y)
{
    if (floor(y) != y)
        return 0;
    return fabs(y) < 0x1p53 && fmod(y, 2) != 0 ? 1 : 2;
}

double ti_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y))
        return NAN;
    int whole = parity(y);
    double sign = whole == 1 && signbit(x) ? -1 : 1;
    if (x == 0)
        return y < 0 ? sign * INFINITY : sign * 0.0;
    if (isinf(y))
        return fabs(x) == 1 ? 1 : (fabs(x) > 1) == (y > 0) ? INFINITY : 0;
    if (isinf(x))
        return y > 0 ? sign * INFINITY : sign * 0.0;
    if (x < 0 && !whole)
        return NAN;
    double more;
    pair z = log_pair((pair){normal(fabs(x), &more), 0});
    z = add(z, scaled(ln2, more));
    if (fabs(y) > 0x1p100)
        return z.h == 0 ? 1 : (z.h > 0) == (y > 0) ? sign * INFINITY : sign * 0.0;
    return sign * exp_of(scaled(z, y));
}

/* ---- hyperbolic ---- */

/* x + c x^3, which is the function where x is small; the limits of f(x) = x, too. */
static double cubic(double x, double c)
{
    return x == 0 || !isfinite(x) ? x : x + c * (x * x * x);
}

double ti_sinh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-30 || isnan(x) || isinf(x))
        return cubic(x, 1.0 / 6);
    if (a > 690) /* half of e^x, which may be past the largest number */
        return copysign(exp_of(plus(negative(ln2), a)), x);
    pair e = expm1_pair((pair){a, 0});
    e = add(e, quotient(e, plus(e, 1)));
    return copysign(0.5 * e.h, x);
}

double ti_cosh(double x)
{
    double a = fabs(x);
    if (!(a <= 690))
        return !isfinite(x) ? a : exp_of(plus(negative(ln2), a));
    pair e = exp_pair((pair){a, 0});
    return 0.5 * add(e, quotient((pair){1, 0}, e)).h;
}

double ti_tanh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-30 || isnan(x))
        return cubic(x, -1.0 / 3);
    if (a > 22)
        return copysign(1, x);
    pair e = expm1_pair((pair){2 * a, 0});
    return copysign(quotient(e, plus(e, 2)).h, x);
}

double ti_asinh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-30 || isnan(x) || isinf(x))
        return cubic(x, -1.0 / 6);
    if (a > 0x1p100)
        return copysign(ti_log(a) + ln2.h, x);
    pair z = product(a, a);
    z = plus(quotient(z, plus(root(plus(z, 1)), 1)), a); /* a^2 / (1 + sqrt(1 + a^2)) + a */
    return copysign(log1p_pair(z).h, x);
}

double ti_acosh(double x)
{
    if (!(x >= 1) || isinf(x))
        return x >= 1 ? x : NAN;
    if (x > 0x1p100)
        return ti_log(x) + ln2.h;
    pair t = sum(x, -1);
    return log1p_pair(add(t, root(times(t, plus(t, 2))))).h;
}

double ti_atanh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-30 || isnan(x))
        return cubic(x, 1.0 / 3);
    if (a >= 1)
        return a > 1 ? NAN : copysign(INFINITY, x);
    pair z = quotient((pair){2 * a, 0}, sum(1, -a));
    return copysign(0.5 * log1p_pair(z).h, x);
}

/* ---- circular ---- */

/* sin and cos for |x| <= pi/4 or slightly more. */
static void circle(pair x, pair *s, pair *c)
{
    pair z = times(x, x), odd = {1, 0}, even = {1, 0};
    for (int k = 26; k >= 2; k -= 2) {
        odd = plus(negative(quotient(times(odd, z), (pair){k * (k + 1.0), 0})), 1);
        even = plus(negative(quotient(times(even, z), (pair){k * (k - 1.0), 0})), 1);
    }
    *s = times(odd, x);
    *c = even;
}

/* The bits of 2 / pi. */
static const uint32_t two_per_pi[] = {
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
    0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
    0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B,
    0xBDF9283B, 0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7,
    0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1,
    0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D, 0xA9E39161, 0x5EE61B08,
};

/* r with |x| = q pi/2 + r, |r| <= pi/4, for finite |x| >= 1/2: of |x| = m 2^e times the bits of 2/pi
 * those that are neither whole turns nor too small. */
static pair reduced(double x, int *q)
{
    enum { WORDS = 8 };
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(fabs(x), &e), 53);
    e -= 53;
    int first = e < 34 ? 0 : (e - 2) / 32, point = 32 * (first + WORDS) - e; /* bits after the point */
    uint32_t w[WORDS + 4] = {0}; /* the product, lowest first */
    for (int half = 0; half < 2; half++) {
        uint64_t carry = 0, by = half ? m >> 32 : m & 0xffffffff;
        for (int i = 0; i < WORDS; i++) {
            carry += w[half + i] + by * two_per_pi[first + WORDS - 1 - i];
            w[half + i] = (uint32_t)carry;
            carry >>= 32;
        }
        w[half + WORDS] = (uint32_t)carry;
    }
    uint32_t f[WORDS] = {0}; /* the fraction, highest first */
    for (int i = 0; i < 7; i++) {
        int at = point - 32 * (i + 1), low = at < 0 ? -1 : at / 32;
        uint64_t two = low < 0 ? 0 : w[low] | (uint64_t)w[low + 1] << 32;
        f[i] = (uint32_t)(two >> (at & 31));
    }
    *q = (int)((w[point / 32] | (uint64_t)w[point / 32 + 1] << 32) >> (point & 31) & 3);
    bool past = f[0] >> 31;
    uint64_t carry = past;
    for (int i = 6; i >= 0 && past; i--) {
        carry += (uint32_t)~f[i];
        f[i] = (uint32_t)carry;
        carry >>= 32;
    }
    *q = (*q + past) & 3;
    pair r = {0, 0};
    for (int i = 0; i < 7; i++)
        r = plus(r, ldexp(f[i], -32 * (i + 1)));
    r = times(r, half_pi);
    return past ? negative(r) : r;
}

/* sin(x) and cos(x) for finite x. */
static void turned(double x, pair *s, pair *c)
{
    int q = 0;
    pair r = fabs(x) < 0.75 ? (pair){fabs(x), 0} : reduced(x, &q), a, b;
    circle(r, &a, &b);
    *s = q == 0 ? a : q == 1 ? b : q == 2 ? negative(a) : negative(b);
    *c = q == 0 ? b : q == 1 ? negative(a) : q == 2 ? negative(b) : a;
    if (x < 0)
        *s = negative(*s);
}

double ti_sin(double x)
{
    pair s, c;
    if (fabs(x) < 0x1p-30 || !isfinite(x))
        return isinf(x) ? NAN : cubic(x, -1.0 / 6);
    turned(x, &s, &c);
    return s.h;
}

double ti_cos(double x)
{
    pair s, c;
    if (!isfinite(x))
        return NAN;
    turned(x, &s, &c);
    return c.h;
}

double ti_tan(double x)
{
    pair s, c;
    if (fabs(x) < 0x1p-30 || !isfinite(x))
        return isinf(x) ? NAN : cubic(x, 1.0 / 3);
    turned(x, &s, &c);
    return quotient(s, c).h;
}

/* The angle of (x, y), y >= 0, neither 0 at once nor far from 1 both. */
static pair angle(pair y, pair x)
{
    double t = y.h < fabs(x.h) ? y.h / fabs(x.h) : fabs(x.h) / y.h, turn = 0;
    if (t > 0.41421356237309503) {
        t = (t - 1) / (t + 1);
        turn = 0.78539816339744828;
    }
    double z = t * t, guess = 0;
    for (int k = 19; k >= 1; k -= 2)
        guess = 1.0 / k - z * guess;
    guess = turn + guess * t;
    guess = y.h < fabs(x.h) ? guess : half_pi.h - guess;
    guess = x.h < 0 ? 2 * half_pi.h - guess : guess;
    pair s, c;
    turned(guess, &s, &c);
    pair d = quotient(add(times(y, c), negative(times(x, s))), add(times(x, c), times(y, s)));
    return plus(plus(d, -d.h * d.h * d.h / 3), guess);
}

double ti_atan2(double y, double x)
{
    double a = fabs(y), b = fabs(x);
    if (isnan(x) || isnan(y))
        return NAN;
    if (isinf(a) && isinf(b))
        a = b = 1;
    int e, f;
    frexp(a, &e);
    frexp(b, &f);
    if (a == 0 || isinf(b) || (b > 0 && e - f < -1080 && !signbit(x)))
        return signbit(x) ? copysign(2 * half_pi.h, y) : isinf(b) || a == 0 ? copysign(0, y) : y / x;
    if (b == 0 || isinf(a) || e - f > 1080)
        return copysign(half_pi.h, y);
    if (e - f < -60) /* the quotient, or pi, to the last bit */
        return signbit(x) ? copysign(2 * half_pi.h, y) : y / x;
    a = ldexp(a, -f);
    b = copysign(ldexp(b, -f), x);
    if (e - f > 60)
        return copysign(half_pi.h, y);
    return copysign(angle((pair){a, 0}, (pair){b, 0}).h, y);
}

double ti_atan(double x) { return ti_atan2(x, 1); }

/* sqrt(1 - x^2) */
static pair across(double x)
{
    return root(times(sum(1, -x), sum(1, x)));
}

double ti_asin(double x)
{
    double a = fabs(x);
    if (a < 0x1p-30 || !(a < 1))
        return a == 1 ? copysign(half_pi.h, x) : a < 1 ? cubic(x, 1.0 / 6) : NAN;
    return copysign(angle((pair){a, 0}, across(a)).h, x);
}

double ti_acos(double x)
{
    if (!(fabs(x) < 1))
        return x == 1 ? 0 : x == -1 ? 2 * half_pi.h : NAN;
    return angle(across(x), (pair){x, 0}).h;
}

/* ---- errors ---- */

/* erf for 0 <= x <= 3: 2 / sqrt(pi) e^-x^2 (x + 2 x^3 / 3 + 4 x^5 / 15 + ...) */
static pair erf_series(double x)
{
    pair z = product(x, x), term = {x, 0}, all = term;
    for (int k = 3; term.h > all.h * 0x1p-70; k += 2) {
        term = quotient(times(term, (pair){2 * z.h, 2 * z.l}), (pair){k, 0});
        all = add(all, term);
    }
    return times(times(all, exp_pair(negative(z))), two_per_root_pi);
}

/* erfc(x) e^x^2 for x >= 3, by its continued fraction. */
static pair erfc_fraction(double x)
{
    double f = x;
    for (int k = 60; k > 8; k--)
        f = x + 0.5 * k / f;
    pair y = {f, 0};
    for (int k = 8; k >= 1; k--)
        y = plus(quotient((pair){0.5 * k, 0}, y), x);
    return quotient(scaled(two_per_root_pi, 0.5), y);
}

/* erfc for 3 <= x <= 28; the last results are subnormal. */
static double erfc_tail(double x)
{
    int n;
    pair e = plus(exp_parts(negative(product(x, x)), &n), 1);
    return ldexp(times(e, erfc_fraction(x)).h, n);
}

double ti_erfc(double x)
{
    if (isnan(x))
        return x;
    if (x < 0)
        return x < -6 ? 2 : x > -3 ? plus(erf_series(-x), 1).h : 2 - ti_erfc(-x);
    if (x < 3)
        return plus(negative(erf_series(x)), 1).h;
    return x > 28 ? 0 : erfc_tail(x);
}

double ti_erf(double x)
{
    double a = fabs(x);
    if (isnan(x) || a < 0x1p-1000)
        return x * two_per_root_pi.h;
    return copysign(a < 3 ? erf_series(a).h : 1 - ti_erfc(a), x);
}

/* ---- hypot and fma ---- */

double ti_hypot(double x, double y)
{
    if (isinf(x) || isinf(y))
        return INFINITY;
    int e, f;
    frexp(x, &e);
    frexp(y, &f);
    if (x == 0 || y == 0 || isnan(x) || isnan(y))
        return fabs(x) + fabs(y);
    e = e > f ? e : f;
    double a = ldexp(x, -e), b = ldexp(y, -e);
    return ldexp(root(add(product(a, a), product(b, b))).h, e);
}

/* a + b whose last bit says whether anything was lost: it is odd then, so that one more rounding, to
 * fewer bits, is right. */
static double odd_sum(double a, double b)
{
    pair s = sum(a, b);
    uint64_t bits;
    memcpy(&bits, &s.h, sizeof bits);
    if (s.l != 0 && !(bits & 1)) {
        bits += (s.l > 0) == (s.h > 0) ? 1 : (uint64_t)-1;
        memcpy(&s.h, &bits, sizeof bits);
    }
    return s.h;
}

double ti_fma(double x, double y, double z)
{
    pair p = product(x, y), low = sum(z, p.l), high = sum(p.h, low.h);
    return high.h + odd_sum(low.l, high.l);
}

float ti_fmaf(float x, float y, float z)
{
    return (float)odd_sum((double)x * (double)y, (double)z);
}
