/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_fft.c -- fast Fourier transforms of real numbers, fixed-point ones with the rounding of TFLM's
 * (KISS FFT): each stage of radix p divides by p, a product rounds once, sums wrap.
 *
 * N real samples are N/2 complex ones.  Stages are in time order, radix 4 as long as it divides what
 * is left, then 2: samples go to the reverse of their digits, then for each stage, last digit first,
 *
 *   [rows, blocks, p, m]:  y_q = sum over s of  e^(-2 pi i (s j / (p m) + q s / p)) x_s / p,  j < m
 *
 * is elementwise arithmetic over all blocks at once, which every target has. */
#include "tflite_signal.h"

#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"

enum { MOST_STAGES = TC_MAX_RANK - 1, LEAST = 4, MOST = 1 << 14 };
static const double PI = 3.14159265358979323846;

typedef struct cpx {
    tc_val r, i;
} cpx;

typedef struct arith {
    tc_build *m;
    tc_dtype type, wide; /* as stored; in which it is computed */
    int fraction;        /* bits; 0: floats */
    bool inverse;
} arith;

/* ---- numbers ---- */

/* As stored: sums wrap. */
static tc_val wrap(const arith *a, tc_val x)
{
    return a->fraction ? ti_b_cast(a->m, ti_b_cast(a->m, x, a->type), a->wide) : x;
}

static tc_val plus(const arith *a, tc_val x, tc_val y) { return ti_b_add(a->m, x, y); }
static tc_val minus(const arith *a, tc_val x, tc_val y) { return ti_b_sub(a->m, x, y); }

static tc_val number(const arith *a, int64_t v) { return ti_b_scalar_i64(a->m, a->wide, v); }

/* A product's fraction, rounded. */
static tc_val rounded(const arith *a, tc_val x)
{
    if (!a->fraction)
        return x;
    x = plus(a, x, number(a, INT64_C(1) << (a->fraction - 1)));
    return ti_b_shift_right(a->m, x, number(a, a->fraction));
}

static int64_t top(const arith *a) { return (INT64_C(1) << a->fraction) - 1; }

/* x / by, in fixed point. */
static cpx divided(const arith *a, cpx x, int64_t by)
{
    if (!a->fraction)
        return x;
    tc_val factor = number(a, top(a) / by);
    x.r = rounded(a, ti_b_mul(a->m, x.r, factor));
    x.i = rounded(a, ti_b_mul(a->m, x.i, factor));
    return x;
}

/* Half of a sum, which C makes in i32, also of i16. */
static tc_val halved(const arith *a, tc_val x)
{
    if (!a->fraction)
        return ti_b_mul_n(a->m, x, 0.5);
    x = a->type == TC_i32 ? wrap(a, x) : x;
    return ti_b_shift_right(a->m, x, number(a, 1));
}

static cpx product(const arith *a, cpx x, cpx y)
{
    tc_val rr = ti_b_mul(a->m, x.r, y.r), ii = ti_b_mul(a->m, x.i, y.i),
           ri = ti_b_mul(a->m, x.r, y.i), ir = ti_b_mul(a->m, x.i, y.r);
    tc_val r = rounded(a, minus(a, rr, ii)), i = rounded(a, plus(a, ri, ir));
    return (cpx){r, i};
}

static cpx add(const arith *a, cpx x, cpx y)
{
    x.r = plus(a, x.r, y.r);
    x.i = plus(a, x.i, y.i);
    return x;
}

static cpx sub(const arith *a, cpx x, cpx y)
{
    x.r = minus(a, x.r, y.r);
    x.i = minus(a, x.i, y.i);
    return x;
}

static cpx wrapped(const arith *a, cpx x)
{
    x.r = wrap(a, x.r);
    x.i = wrap(a, x.i);
    return x;
}

/* ---- movement ---- */

static cpx part(const arith *a, cpx x, int64_t axis, int64_t start, int64_t end)
{
    x.r = ti_b_slice(a->m, x.r, axis, start, end, 1);
    x.i = ti_b_slice(a->m, x.i, axis, start, end, 1);
    return x;
}

static cpx joined(const arith *a, int64_t axis, const cpx *x, int n)
{
    tc_val r[4], i[4];
    for (int k = 0; k < n; k++) {
        r[k] = x[k].r;
        i[k] = x[k].i;
    }
    cpx y = {.r = ti_b_cat(a->m, axis, r, n)};
    y.i = ti_b_cat(a->m, axis, i, n);
    return y;
}

static cpx shaped(const arith *a, cpx x, int rank, const int64_t *dim)
{
    x.r = ti_b_reshape(a->m, x.r, rank, dim);
    x.i = ti_b_reshape(a->m, x.i, rank, dim);
    return x;
}

/* [.., n] with that axis backwards. */
static cpx backwards(const arith *a, cpx x)
{
    x.r = ti_b_flip(a->m, x.r, 1);
    x.i = ti_b_flip(a->m, x.i, 1);
    return x;
}

/* ---- roots of unity ---- */

/* e^(i phase[k]), k < n, of that shape; the conjugates where the transform is inverse. */
static cpx roots(const arith *a, const double *phase, int64_t n, int rank, const int64_t *dim)
{
    tc_tensor r = ti_b_tensor(a->m, a->wide, rank, dim), i = ti_b_tensor(a->m, a->wide, rank, dim);
    for (int64_t k = 0; k < n && a->m->status == TC_OK; k++) {
        double c = ti_cos(phase[k]), s = a->inverse ? -ti_sin(phase[k]) : ti_sin(phase[k]);
        if (a->fraction) {
            ti_store_i64(r, k, (int64_t)floor(.5 + (double)top(a) * c));
            ti_store_i64(i, k, (int64_t)floor(.5 + (double)top(a) * s));
        } else {
            ((float *)r.data)[k] = (float)c;
            ((float *)i.data)[k] = (float)s;
        }
    }
    cpx y = {.r = ti_b_const(a->m, r, NULL)};
    y.i = ti_b_const(a->m, i, NULL);
    return y;
}

/* e^(-2 pi i s j / (p m)), s = 1 .. p - 1, j < m: [p - 1, m]. */
static cpx stage_roots(const arith *a, int64_t n, int64_t p, int64_t m)
{
    double *phase = tc_new_n(&a->m->ctx->arena, double, (size_t)(p * m));
    for (int64_t s = 1; s < p; s++)
        for (int64_t j = 0; j < m; j++)
            phase[(s - 1) * m + j] = -2 * PI * (double)(s * j * (n / (p * m))) / (double)n;
    return roots(a, phase, (p - 1) * m, 2, (int64_t[]){p - 1, m});
}

/* ---- stages: x [rows, blocks, p, m] ---- */

static cpx radix_2(const arith *a, cpx x, int64_t n, int64_t m)
{
    x = divided(a, x, 2);
    cpx first = part(a, x, 2, 0, 1), second = part(a, x, 2, 1, 2);
    second = product(a, second, stage_roots(a, n, 2, m));
    cpx y[2] = {add(a, first, second)};
    y[1] = sub(a, first, second);
    return wrapped(a, joined(a, 2, y, 2));
}

static cpx radix_4(const arith *a, cpx x, int64_t n, int64_t m)
{
    x = divided(a, x, 4);
    cpx first = part(a, x, 2, 0, 1), others = part(a, x, 2, 1, 4), s[3];
    others = product(a, others, stage_roots(a, n, 4, m));
    for (int k = 0; k < 3; k++)
        s[k] = part(a, others, 2, k, k + 1);
    cpx even = add(a, first, s[1]), odd = sub(a, first, s[1]), sum = add(a, s[0], s[2]),
        turned = sub(a, s[0], s[2]); /* times -i, or i if inverse, below */
    cpx y[4] = {add(a, even, sum)};
    y[2] = sub(a, even, sum);
    int right = a->inverse ? 3 : 1, left = 4 - right;
    y[right].r = plus(a, odd.r, turned.i);
    y[right].i = minus(a, odd.i, turned.r);
    y[left].r = minus(a, odd.r, turned.i);
    y[left].i = plus(a, odd.i, turned.r);
    return wrapped(a, joined(a, 2, y, 4));
}

/* The complex transform of [rows, n], n a power of two. */
static cpx complex_fft(const arith *a, cpx x, int64_t rows, int64_t n)
{
    int64_t p[MOST_STAGES], perm[TC_MAX_RANK] = {0}, dim[TC_MAX_RANK] = {rows}, m = 1;
    int stages = 0;
    for (int64_t left = n; left > 1; left /= p[stages - 1])
        p[stages++] = left % 4 ? 2 : 4;
    for (int k = 0; k < stages; k++) {
        dim[1 + k] = p[stages - 1 - k];
        perm[1 + k] = stages - k;
    }
    x = shaped(a, x, stages + 1, dim);
    x.r = ti_b_permute(a->m, x.r, perm);
    x.i = ti_b_permute(a->m, x.i, perm);
    for (int k = stages - 1; k >= 0; m *= p[k], k--) {
        x = shaped(a, x, 4, (int64_t[]){rows, n / (p[k] * m), p[k], m});
        x = p[k] == 4 ? radix_4(a, x, n, m) : radix_2(a, x, n, m);
    }
    return shaped(a, x, 2, (int64_t[]){rows, n});
}

/* ---- real numbers ---- */

/* The roots between the two halves of a real transform: k = 1 .. n / 2. */
static cpx half_roots(const arith *a, int64_t n)
{
    double *phase = tc_new_n(&a->m->ctx->arena, double, (size_t)n);
    for (int64_t k = 0; k < n / 2; k++)
        phase[k] = -PI * ((double)(k + 1) / (double)n + .5);
    return roots(a, phase, n / 2, 1, (int64_t[]){n / 2});
}

static bool start(tc_tfl_node *n, int64_t length, tc_dtype type, bool inverse, arith *a)
{
    *a = (arith){&n->m, type, type == TC_i16 ? TC_i32 : type == TC_i32 ? TC_i64 : TC_f32,
                 type == TC_i16 ? 15 : type == TC_i32 ? 31 : 0, inverse};
    if (type != TC_i16 && type != TC_i32 && type != TC_f32)
        ti_b_bad(&n->m, TC_E_TYPE, "a transform of numbers that are not i16, i32 or f32");
    else if (length < LEAST || length > MOST || length & (length - 1))
        ti_b_unsupported(&n->m, "a transform of %" PRId64 " samples: a power of two up to %d is read",
                         length, MOST);
    return n->m.status == TC_OK;
}

/* [rows, n, 2] as real and imaginary parts, and back. */
static cpx pairs(const arith *a, tc_val x)
{
    x = ti_b_cast(a->m, x, a->wide);
    cpx y = {.r = ti_b_select(a->m, x, 2, 0)};
    y.i = ti_b_select(a->m, x, 2, 1);
    return y;
}

static tc_val unpaired(const arith *a, cpx x)
{
    tc_val in[] = {ti_b_unsqueeze(a->m, x.r, 2), TC_NONE};
    in[1] = ti_b_unsqueeze(a->m, x.i, 2);
    return ti_b_cast(a->m, ti_b_cat(a->m, 2, in, 2), a->type);
}

static tc_val negated(const arith *a, tc_val x) { return wrap(a, ti_b_neg(a->m, x)); }

/* z the transform of x[2 k] + i x[2 k + 1], f = z_k / 2, g = conj(z_(n-k)) / 2, w = -i e^(-pi i k / n):
 *   y_k = (f + g + (f - g) w) / 2,  y_(n-k) = conj(f + g - (f - g) w) / 2 */
tc_val ti_tfl_rfft(tc_tfl_node *node, tc_val x, int64_t length, tc_dtype type)
{
    arith arithmetic, *a = &arithmetic;
    if (!x || !start(node, length, type, false, a))
        return TC_NONE;
    int64_t n = length / 2, h = n / 2, rows = tc_type_count(ti_b_type(a->m, x)) / length;
    cpx z = pairs(a, ti_b_reshape(a->m, x, 3, (int64_t[]){rows, n, 2}));
    z = complex_fft(a, z, rows, n);
    cpx zero = divided(a, part(a, z, 1, 0, 1), 2), f = divided(a, part(a, z, 1, 1, h + 1), 2),
        g = backwards(a, part(a, z, 1, n - h, n));
    g.i = negated(a, g.i);
    g = divided(a, g, 2);
    cpx sum = add(a, f, g), turned = sub(a, f, g);
    turned = wrapped(a, product(a, turned, half_roots(a, n)));
    cpx low = {.r = halved(a, plus(a, sum.r, turned.r))}, high;
    low.i = halved(a, plus(a, sum.i, turned.i));
    high.r = halved(a, minus(a, sum.r, turned.r));
    high.i = halved(a, minus(a, turned.i, sum.i));
    cpx ends[2] = {{.r = plus(a, zero.r, zero.i)}};
    ends[1].r = minus(a, zero.r, zero.i);
    ends[0].i = ends[1].i = ti_b_full(a->m, 2, (int64_t[]){rows, 1}, 0, a->wide);
    cpx all[4] = {ends[0]};
    all[1] = part(a, low, 1, 0, h - 1);
    all[2] = backwards(a, high);
    all[3] = ends[1];
    if (h == 1) { /* nothing between */
        all[1] = all[2];
        all[2] = all[3];
    }
    return unpaired(a, wrapped(a, joined(a, 1, all, h == 1 ? 3 : 4)));
}

tc_val ti_tfl_irfft(tc_tfl_node *node, tc_val x, int64_t length, tc_dtype type)
{
    arith arithmetic, *a = &arithmetic;
    if (!x || !start(node, length, type, true, a))
        return TC_NONE;
    int64_t n = length / 2, h = n / 2, rows = tc_type_count(ti_b_type(a->m, x)) / (length + 2);
    cpx z = pairs(a, ti_b_reshape(a->m, x, 3, (int64_t[]){rows, n + 1, 2}));
    cpx first = part(a, z, 1, 0, 1), last = part(a, z, 1, n, n + 1), zero, all[3];
    zero.r = wrap(a, plus(a, first.r, last.r));
    zero.i = wrap(a, minus(a, first.r, last.r));
    all[0] = divided(a, zero, 2);
    cpx f = divided(a, part(a, z, 1, 1, h + 1), 2), g = backwards(a, part(a, z, 1, n - h, n));
    g.i = negated(a, g.i);
    g = divided(a, g, 2);
    cpx sum = add(a, f, g), turned = sub(a, f, g);
    turned = wrapped(a, product(a, turned, half_roots(a, n)));
    cpx low = wrapped(a, add(a, sum, turned)), high = wrapped(a, sub(a, sum, turned));
    high.i = negated(a, high.i);
    all[1] = part(a, low, 1, 0, h - 1);
    all[2] = backwards(a, high);
    if (h == 1)
        all[1] = all[2];
    z = complex_fft(a, joined(a, 1, all, h == 1 ? 2 : 3), rows, n);
    if (!a->fraction) {
        z.r = ti_b_div(a->m, z.r, ti_b_number(a->m, z.r, (double)length));
        z.i = ti_b_div(a->m, z.i, ti_b_number(a->m, z.i, (double)length));
    }
    return unpaired(a, z);
}
