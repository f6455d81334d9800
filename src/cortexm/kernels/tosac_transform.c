/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_transform.c -- windows and their Fourier transforms, in float: products with matrices whose rows are
 * window * cos and window * -sin, by far fewer operations.
 *
 * An even number of points N is a transform of M = N / 2 complex numbers z[j] = x[2 j] + i x[2 j + 1], whose result is
 * taken apart:
 *
 *   X[k] = (Z[k] + Z'[M - k]) / 2 - i e^(-2 pi i k / N) (Z[k] - Z'[M - k]) / 2
 *
 * Z by steps of 4, 2, 3 and 5, each from one buffer to the other, in order without a permutation (Stockham). */
#include "tosac_float.h"

typedef struct complex_number {
    float re, im;
} complex_number;

static inline complex_number plus(complex_number a, complex_number b) { return (complex_number){a.re + b.re, a.im + b.im}; }
static inline complex_number minus(complex_number a, complex_number b) { return (complex_number){a.re - b.re, a.im - b.im}; }
static inline complex_number times(complex_number a, complex_number b)
{
    return (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static inline complex_number scaled(complex_number a, float by) { return (complex_number){a.re * by, a.im * by}; }
/* -i a. */
static inline complex_number turned(complex_number a) { return (complex_number){a.im, -a.re}; }

/* Of one step: m groups of r numbers, m * s apart in x; results are s apart in y; root: by s. */
typedef struct step {
    int32_t m, s;
    const complex_number *root;
} step;

static void by_four(step t, const complex_number *x, complex_number *y)
{
    const int32_t ms = t.m * t.s;
    for (int32_t p = 0; p < t.m; p++) {
        const complex_number w1 = t.root[p * t.s], w2 = t.root[2 * p * t.s], w3 = t.root[3 * p * t.s];
        for (int32_t q = 0; q < t.s; q++, x++, y++) {
            const complex_number a = x[0], b = x[ms], c = x[2 * ms], d = x[3 * ms];
            const complex_number ac = plus(a, c), bd = plus(b, d), a_c = minus(a, c), b_d = turned(minus(b, d));
            y[0] = plus(ac, bd);
            y[t.s] = times(plus(a_c, b_d), w1);
            y[2 * t.s] = times(minus(ac, bd), w2);
            y[3 * t.s] = times(minus(a_c, b_d), w3);
        }
        y += 3 * t.s;
    }
}

static void by_two(step t, const complex_number *x, complex_number *y)
{
    for (int32_t p = 0; p < t.m; p++, y += t.s)
        for (int32_t q = 0; q < t.s; q++, x++, y++) {
            const complex_number a = x[0], b = x[t.m * t.s];
            y[0] = plus(a, b);
            y[t.s] = times(minus(a, b), t.root[p * t.s]);
        }
}

static void by_three(step t, const complex_number *x, complex_number *y)
{
    const int32_t ms = t.m * t.s;
    for (int32_t p = 0; p < t.m; p++, y += 2 * t.s)
        for (int32_t q = 0; q < t.s; q++, x++, y++) {
            const complex_number a = x[0], bc = plus(x[ms], x[2 * ms]);
            const complex_number d = turned(scaled(minus(x[ms], x[2 * ms]), 0.866025404f));
            const complex_number e = minus(a, scaled(bc, 0.5f));
            y[0] = plus(a, bc);
            y[t.s] = times(plus(e, d), t.root[p * t.s]);
            y[2 * t.s] = times(minus(e, d), t.root[2 * p * t.s]);
        }
}

static void by_five(step t, const complex_number *x, complex_number *y)
{
    const float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f;
    const int32_t ms = t.m * t.s;
    for (int32_t p = 0; p < t.m; p++, y += 4 * t.s)
        for (int32_t q = 0; q < t.s; q++, x++, y++) {
            const complex_number a = x[0], be = plus(x[ms], x[4 * ms]), cd = plus(x[2 * ms], x[3 * ms]);
            const complex_number b_e = turned(minus(x[ms], x[4 * ms])), c_d = turned(minus(x[2 * ms], x[3 * ms]));
            const complex_number u = plus(a, plus(scaled(be, c1), scaled(cd, c2)));
            const complex_number v = plus(a, plus(scaled(be, c2), scaled(cd, c1)));
            const complex_number f = plus(scaled(b_e, s1), scaled(c_d, s2)), g = minus(scaled(b_e, s2), scaled(c_d, s1));
            y[0] = plus(a, plus(be, cd));
            y[t.s] = times(plus(u, f), t.root[p * t.s]);
            y[2 * t.s] = times(plus(v, g), t.root[2 * p * t.s]);
            y[3 * t.s] = times(minus(v, g), t.root[3 * p * t.s]);
            y[4 * t.s] = times(minus(u, f), t.root[4 * p * t.s]);
        }
}

/* The transform of m numbers of x; where it is: x or y. */
static complex_number *transform(const complex_number *root, int32_t m, complex_number *x, complex_number *y)
{
    static const struct {
        int32_t radix;
        void (*by)(step t, const complex_number *x, complex_number *y);
    } steps[] = {{4, by_four}, {2, by_two}, {3, by_three}, {5, by_five}};
    int32_t n = m, s = 1;
    for (int32_t i = 0; i < 4; i++)
        for (; n % steps[i].radix == 0; n /= steps[i].radix, s *= steps[i].radix) {
            steps[i].by((step){n / steps[i].radix, s, root}, x, y);
            complex_number *z = x;
            x = y;
            y = z;
        }
    return x;
}

/* The transform of 2 m real numbers from that of m complex ones, in place; x has room for m + 1. */
static void take_apart(const complex_number *turn, int32_t m, complex_number *x)
{
    x[m] = x[0];
    for (int32_t k = 0; 2 * k <= m; k++) {
        const complex_number a = x[k], b = {x[m - k].re, -x[m - k].im};
        const complex_number even = plus(a, b), odd = turned(times(minus(a, b), turn[k])), back = minus(even, odd);
        x[k] = plus(even, odd);
        x[m - k] = (complex_number){back.re, -back.im};
    }
}

/* The windowed samples at `at` of a line of x, zeros outside of it. */
static void put_window(const tosac_transform *p, const float *x, int32_t at, complex_number *z)
{
    const int32_t even = p->points % 2 == 0, first = tosac_clip(-at, 0, p->length),
                  end = tosac_clip(p->extent - at, first, p->length);
    float *to = &z->re;
    for (int32_t j = 0; j < (even ? p->points : 2 * p->points); j++)
        to[j] = 0;
    for (int32_t j = first; j < end; j++)
        to[even ? j : 2 * j] = x[at + j] * p->window[j];
}

/* One side's results: each the part of a bin, or a sum of both. */
static float *put_rows(const tosac_side *s, const complex_number *x, float *out)
{
    const float *part = &x->re;
    for (int32_t r = 0; r < s->rows; r++, out++) {
        const int32_t at = s->take[r];
        if (s->factor)
            *out = s->factor[2 * r] * part[2 * at] + s->factor[2 * r + 1] * part[2 * at + 1];
        else
            *out = at > 0 ? part[at - 1] : at < 0 ? -part[-at - 1] : 0.0f;
        if (s->bias)
            *out += s->bias[r];
    }
    return out;
}

void tosac_transform_f32(const tosac_transform *p, const float *x, float *out, float *other, float *scratch)
{
    const int32_t even = p->points % 2 == 0, m = even ? p->points / 2 : p->points;
    complex_number *a = (complex_number *)(void *)scratch, *b = a + m + 1;
    const complex_number *root = (const complex_number *)(const void *)p->root;
    const complex_number *turn = (const complex_number *)(const void *)p->turn;
    for (int32_t l = 0; l < p->lines; l++, x += p->extent)
        for (int32_t w = 0; w < p->windows; w++) {
            put_window(p, x, w * p->stride - p->before, a);
            complex_number *z = transform(root, m, a, b);
            if (even)
                take_apart(turn, m, z);
            out = put_rows(&p->side[0], z, out);
            if (p->side[1].rows)
                other = put_rows(&p->side[1], z, other);
        }
}
