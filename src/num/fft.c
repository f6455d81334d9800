/* SPDX-License-Identifier: Apache-2.0 */
/* fft.c -- Fourier transforms of any length over any axes, carried in f64; complex numbers and
 * their parts.
 *
 *   X[k] = norm * sum_j x[j] e^(-+ 2 pi i j k / n),  minus forward, plus inverse
 *
 * A line with an infinity or NaN is that very sum of products, so that what comes of them is the
 * same as in the matrices of expand-complex. */
#include <math.h>

#include "kernels.h"
#include "../base/real.h"
#include "load.h"
#include "strided.h"

typedef struct pair {
    double re, im;
} pair;

static pair times(pair a, pair b)
{
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* One transform: `root` holds the n-th roots of unity in its direction, `part` room for one factor.
 */
typedef struct tables {
    int64_t n;
    const pair *root;
    pair *part;
} tables;

static int64_t smallest_factor(int64_t n)
{
    for (int64_t p = 2; p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

/* out[0..n) = transform of x[0], x[step], ...: split by the smallest factor p of n into p
 * transforms of n / p, then joined.  Roots are taken from the table of the whole, t->n / n apart.
 */
static void transform(const tables *t, pair *out, const pair *x, int64_t n, int64_t step)
{
    if (n == 1) {
        out[0] = x[0];
        return;
    }
    int64_t p = smallest_factor(n), m = n / p, apart = t->n / n;
    for (int64_t r = 0; r < p; r++)
        transform(t, out + r * m, x + r * step, m, step * p);
    for (int64_t k = 0; k < m; k++) {
        for (int64_t r = 0; r < p; r++)
            t->part[r] = times(out[r * m + k], t->root[r * k * apart]);
        for (int64_t q = 0; q < p; q++) {
            pair sum = {0, 0};
            for (int64_t r = 0; r < p; r++) {
                pair v = times(t->part[r], t->root[r * q % p * m * apart]);
                sum = (pair){sum.re + v.re, sum.im + v.im};
            }
            out[q * m + k] = sum;
        }
    }
}

/* The sum by its definition; real: x has no imaginary parts, and neither have its mean and its
 * alternating sum. */
static void summed(const tables *t, pair *out, const pair *x, int64_t step, bool real)
{
    for (int64_t k = 0; k < t->n; k++) {
        pair sum = {0, 0};
        for (int64_t j = 0; j < t->n; j++) {
            pair v = x[j * step], root = t->root[j * k % t->n];
            v = real ? (pair){v.re * root.re, v.re * root.im} : times(v, root);
            sum = (pair){sum.re + v.re, sum.im + v.im};
        }
        out[k] = real && (k == 0 || 2 * k == t->n) ? (pair){sum.re, 0} : sum;
    }
}

static bool all_finite(const pair *x, int64_t n, int64_t step)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i * step].re) && isfinite(x[i * step].im);
    return finite;
}

static tables tables_for(tc_arena *arena, int64_t n, bool inverse)
{
    pair *root = tc_new_n(arena, pair, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        double angle = (inverse ? 2 : -2) * 3.14159265358979323846 * (double)i / (double)n;
        root[i] = (pair){ti_cos(angle), ti_sin(angle)};
    }
    return (tables){n, root, tc_new_n(arena, pair, (size_t)n)};
}

/* Every line along one axis of extent n, in place. */
static void along(tc_arena *arena, pair *data, int64_t outer, int64_t n, int64_t inner,
                  bool inverse, bool real)
{
    enum { LONGEST = 4096 };
    tc_mark mark = ti_arena_mark(arena);
    tables t = tables_for(arena, n, inverse);
    pair *line = tc_new_n(arena, pair, (size_t)n);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            pair *first = data + o * n * inner + i;
            if (n <= LONGEST && !all_finite(first, n, inner))
                summed(&t, line, first, inner, real);
            else
                transform(&t, line, first, n, inner);
            for (int64_t k = 0; k < n; k++)
                first[k * inner] = line[k];
        }
    ti_arena_rewind(arena, mark);
}

/* x as pairs with `axis` grown to extent n: the other half of a spectrum is the first half
 * mirrored. */
static pair *mirrored(tc_arena *arena, const pair *x, const tc_type *type, int64_t axis, int64_t n)
{
    int64_t half = type->dim[axis], inner = ti_extent(type, (int)axis + 1, type->rank);
    int64_t outer = ti_extent(type, 0, (int)axis);
    pair *full = tc_new_n(arena, pair, (size_t)(outer * n * inner));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t i = 0; i < inner; i++) {
                bool second = k >= half;
                pair v = x[(o * half + (second ? n - k : k)) * inner + i];
                full[(o * n + k) * inner + i] = second ? (pair){v.re, -v.im} : v;
            }
    return full;
}

static pair *load(tc_arena *arena, tc_tensor x)
{
    int64_t n = tc_type_count(x.type);
    pair *data = tc_new_n(arena, pair, (size_t)n);
    const float *parts = x.data;
    for (int64_t i = 0; i < n; i++)
        if (x.type->dtype == TC_c64)
            data[i] = (pair){(double)parts[2 * i], (double)parts[2 * i + 1]};
        else
            data[i].re = ti_load_f64(x, i);
    return data;
}

/* data, shaped like `wide`, into the result, whose extent along `axis` may be less. */
static void store(tc_tensor out, const pair *data, const tc_type *wide, int64_t axis, double scale)
{
    int64_t n = wide->dim[axis], kept = out.type->dim[axis];
    int64_t inner = ti_extent(wide, (int)axis + 1, wide->rank), count = tc_type_count(out.type);
    float *y = out.data;
    for (int64_t i = 0; i < count; i++) {
        pair v = data[(i / (kept * inner) * n + i / inner % kept) * inner + i % inner];
        if (out.type->dtype == TC_c64) {
            y[2 * i] = (float)(v.re * scale);
            y[2 * i + 1] = (float)(v.im * scale);
        } else {
            y[i] = (float)(v.re * scale);
        }
    }
}

/* A real signal's mean and, for even n, its alternating sum have no imaginary part. */
static void drop_imaginary(tc_tensor out, int64_t axis, int64_t n)
{
    int64_t kept = out.type->dim[axis], inner = ti_extent(out.type, (int)axis + 1, out.type->rank);
    float *y = out.data;
    for (int64_t i = 0; i < tc_type_count(out.type); i++) {
        int64_t k = i / inner % kept;
        if (k == 0 || 2 * k == n)
            y[2 * i + 1] = 0;
    }
}

double ti_fft_factor(const tc_attr_fft *a, double points)
{
    return a->norm == TC_fft_norm_by_n        ? 1 / points
           : a->norm == TC_fft_norm_by_sqrt_n ? 1 / sqrt(points)
                                              : 1;
}

void ti_num_fft(tc_call *c)
{
    const tc_attr_fft *a = c->attr;
    bool inverse = a->kind == TC_fft_kind_inverse || a->kind == TC_fft_kind_complex_to_real;
    tc_type wide = *c->in[0].type;
    int64_t last = a->axes.v[a->axes.n - 1];
    if (!tc_type_count(c->out[0].type))
        return;
    pair *data = load(c->scratch, c->in[0]);
    double points = 1;
    bool from_real = a->kind == TC_fft_kind_real_to_complex; /* its last axis goes first */
    for (int i = 0; i < a->axes.n; i++) {
        int64_t k = a->axes.v[from_real ? a->axes.n - 1 - i : i];
        if (k == last && a->kind == TC_fft_kind_complex_to_real) {
            data = mirrored(c->scratch, data, &wide, k, a->last);
            wide.dim[k] = a->last;
        }
        along(c->scratch, data, ti_extent(&wide, 0, (int)k), wide.dim[k],
              ti_extent(&wide, (int)k + 1, wide.rank), inverse, from_real && i == 0);
        points *= (double)wide.dim[k];
    }
    store(c->out[0], data, &wide, last, ti_fft_factor(a, points));
    if (from_real && a->axes.n == 1)
        drop_imaginary(c->out[0], last, wide.dim[last]);
}

static void part(tc_call *c, int which)
{
    const float *x = c->in[0].data;
    float *y = c->out[0].data;
    int64_t n = tc_type_count(c->out[0].type);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[2 * i + which];
}

void ti_num_real(tc_call *c) { part(c, 0); }
void ti_num_imag(tc_call *c) { part(c, 1); }

void ti_num_complex(tc_call *c)
{
    const tc_type *y = c->out[0].type;
    int64_t n = tc_type_count(y), step[2][TC_MAX_RANK] = {{0}};
    float *out = c->out[0].data;
    for (int k = 0; k < 2; k++) {
        const tc_type *x = c->in[k].type;
        int64_t own[TC_MAX_RANK];
        ti_steps(x, own);
        for (int i = 0; i < x->rank; i++)
            step[k][i + y->rank - x->rank] = x->dim[i] == 1 ? 0 : own[i];
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at[2] = {0, 0}, rest = i;
        for (int k = y->rank - 1; k >= 0; k--) {
            at[0] += rest % y->dim[k] * step[0][k];
            at[1] += rest % y->dim[k] * step[1][k];
            rest /= y->dim[k];
        }
        out[2 * i] = ((const float *)c->in[0].data)[at[0]];
        out[2 * i + 1] = ((const float *)c->in[1].data)[at[1]];
    }
}
