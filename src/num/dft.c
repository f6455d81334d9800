/* SPDX-License-Identifier: Apache-2.0 */
/* dft.c -- see dft.h.
 *
 * Rows that tell the window come first, or first in the second half: a row of the bin 0 is the window; a cosine and a sine of one bin have its size, the
 * root of the sum of their squares; and three neighbouring bins a, b, c of one phase tell it by
 *
 *   a + c = 2 b cos(t),   a - c = 2 sin(t) (b's other part),   t = 2 pi n / N
 *
 * Then each row has the bin whose two parts come nearest to it, by least squares, and at last each element of the
 * window is that which comes nearest in all rows. */
#include "dft.h"

#include <math.h>

#include "../base/real.h"

enum { SCANS = 64, SOLVES = 3 };

static const double NEAR = 1e-3; /* of guesses */

typedef struct seeker {
    tc_arena *arena;
    const float *w;
    int64_t rows, columns, length, points;
    double largest;     /* of all weights */
    double *window;     /* of `length`, */
    bool *open;         /* and where no row tells it */
    double *cos, *sin;  /* of 2 pi i / points */
    int32_t *bin;
    double *real, *imag;
    int scans;
} seeker;

static const float *row_of(const seeker *s, int64_t r) { return s->w + r * s->columns; }

static double largest_of(const float *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

static double largest_window(const seeker *s)
{
    double most = 0;
    for (int64_t n = 0; n < s->length; n++)
        most = fmax(most, fabs(s->window[n]));
    return most;
}

/* Rows of rounding errors: the sines of the bins 0 and N / 2. */
static bool is_zero(const seeker *s, const float *row)
{
    return largest_of(row, s->length) <= s->largest * 0x1p-24;
}

/* ---- numbers of points ---- */

static bool has_small_factors(int64_t n)
{
    static const int64_t factors[] = {2, 3, 5};
    for (size_t i = 0; i < TC_COUNT(factors); i++)
        while (n % factors[i] == 0)
            n /= factors[i];
    return n == 1;
}

/* The next number of points that a window of this length can have: any up to twice the length, then powers of two
 * up to four times it.  0: there is none. */
static int64_t next_points(const seeker *s, int64_t n)
{
    for (n = n ? n + 1 : s->length; n <= 4 * s->length && n <= TC_DFT_MOST; n++)
        if (has_small_factors(n) && (n <= 2 * s->length || !(n & (n - 1))))
            return n;
    return 0;
}

static void set_points(seeker *s, int64_t n)
{
    s->points = n;
    for (int64_t i = 0; i < n; i++) {
        double angle = 2 * 3.14159265358979323846 * (double)i / (double)n;
        s->cos[i] = 4 * i == n || 4 * i == 3 * n ? 0 : ti_cos(angle);
        s->sin[i] = 2 * i == n ? 0 : ti_sin(angle);
    }
}

/* ---- one row ---- */

typedef struct fit {
    double real, imag, distance; /* of the row's largest possible weight */
} fit;

/* How near the bin's parts come to the row. */
static fit fit_of(const seeker *s, const float *row, int64_t k)
{
    double cc = 0, ss = 0, cs = 0, rc = 0, rs = 0, top = largest_window(s);
    for (int64_t n = 0, i = 0; n < s->length; n++, i = (i + k) % s->points) {
        double c = s->window[n] * s->cos[i], m = -s->window[n] * s->sin[i], x = (double)row[n];
        cc += c * c;
        ss += m * m;
        cs += c * m;
        rc += x * c;
        rs += x * m;
    }
    double det = cc * ss - cs * cs;
    bool both = det > 1e-9 * cc * ss && ss > 1e-12 * cc;
    fit f = {both ? (rc * ss - rs * cs) / det : cc > 0 ? rc / cc : 0, both ? (rs * cc - rc * cs) / det : 0, 0};
    double least = 0x1p-21 * (fabs(f.real) + fabs(f.imag)); /* what is left of the other part */
    f.real = fabs(f.real) < least ? 0 : f.real;
    f.imag = fabs(f.imag) < least ? 0 : f.imag;
    for (int64_t n = 0, i = 0; n < s->length; n++, i = (i + k) % s->points)
        f.distance = fmax(f.distance, fabs((double)row[n] - s->window[n] * (f.real * s->cos[i] - f.imag * s->sin[i])));
    double size = sqrt(f.real * f.real + f.imag * f.imag) * top;
    f.distance = size > 0 ? f.distance / size : 1;
    return f;
}

/* The bin in which the row is loudest. */
static int64_t loudest_bin(const seeker *s, const float *row)
{
    int64_t best = 0;
    double most = -1;
    for (int64_t k = 0; k <= s->points / 2; k++) {
        double re = 0, im = 0;
        for (int64_t n = 0, i = 0; n < s->length; n++, i = (i + k) % s->points) {
            double x = (double)row[n] * s->window[n];
            re += x * s->cos[i];
            im += x * s->sin[i];
        }
        if (re * re + im * im > most) {
            most = re * re + im * im;
            best = k;
        }
    }
    return best;
}

static bool try_bin(const seeker *s, const float *row, int64_t k, double near, int64_t *bin, fit *out)
{
    if (k < 0 || 2 * k > s->points)
        return false;
    fit f = fit_of(s, row, k);
    if (f.distance > near)
        return false;
    *bin = k;
    *out = f;
    return true;
}

/* The row's bin: the one after the last row's, or the same, or wherever it is loudest. */
static bool bin_of(seeker *s, const float *row, int64_t last, int64_t *bin, fit *out)
{
    const int64_t likely[] = {last + 1, last, 0, 1};
    for (size_t i = 0; i < TC_COUNT(likely); i++)
        if (try_bin(s, row, likely[i], NEAR, bin, out))
            return true;
    if (s->scans++ >= SCANS)
        return false;
    int64_t k = loudest_bin(s, row);
    return try_bin(s, row, k, NEAR, bin, out) || try_bin(s, row, k - 1, NEAR, bin, out) ||
           try_bin(s, row, k + 1, NEAR, bin, out);
}

/* ---- windows ---- */

/* No row exceeds a multiple of the window anywhere. */
static bool covers(const seeker *s)
{
    double top = largest_window(s);
    if (!(top > 0))
        return false;
    for (int64_t r = 0; r < s->rows; r++) {
        const float *row = row_of(s, r);
        double size = 0;
        for (int64_t n = 0; n < s->length; n++)
            if (fabs(s->window[n]) >= top / 8)
                size = fmax(size, fabs((double)row[n] / s->window[n]));
        for (int64_t n = 0; n < s->length; n++)
            if (fabs((double)row[n]) > 2 * size * (fabs(s->window[n]) + NEAR * top) + s->largest * 0x1p-24)
                return false;
    }
    return true;
}

static void take_row(seeker *s, int64_t r)
{
    for (int64_t n = 0; n < s->length; n++)
        s->window[n] = (double)row_of(s, r)[n];
}

static void take_pair(seeker *s, int64_t a, int64_t b)
{
    for (int64_t n = 0; n < s->length; n++) {
        double x = (double)row_of(s, a)[n], y = (double)row_of(s, b)[n];
        s->window[n] = sqrt(x * x + y * y);
    }
}

/* By three rows from r on, with the points that are set. */
static bool take_three(seeker *s, int64_t r)
{
    const float *a = row_of(s, r), *b = row_of(s, r + 1), *c = row_of(s, r + 2);
    double top = fmax(largest_of(a, s->length), fmax(largest_of(b, s->length), largest_of(c, s->length)));
    for (int64_t n = 0; n < s->length; n++) {
        double x = (double)a[n], y = (double)b[n], z = (double)c[n], other = 0;
        if (fabs(x + z - 2 * y * s->cos[n]) > NEAR * top)
            return false;
        if (fabs(s->sin[n]) > NEAR)
            other = (x - z) / (2 * s->sin[n]);
        s->window[n] = sqrt(y * y + other * other);
    }
    return top > 0;
}

/* Each element by least squares over all rows. */
static void solve_window(seeker *s)
{
    for (int64_t n = 0; n < s->length; n++) {
        double xb = 0, bb = 0;
        for (int64_t r = 0; r < s->rows; r++) {
            int64_t i = (int64_t)s->bin[r] * n % s->points;
            double b = s->real[r] * s->cos[i] - s->imag[r] * s->sin[i];
            xb += (double)row_of(s, r)[n] * b;
            bb += b * b;
        }
        s->open[n] = !(bb > 0);
        s->window[n] = s->open[n] ? 0 : xb / bb;
    }
}

/* ---- the matrix ---- */

/* Bins of all rows, with the window and points that are set. */
static bool find_bins(seeker *s)
{
    int64_t last = -1, bin = 0;
    s->scans = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        fit f = {0, 0, 0};
        bool zero = is_zero(s, row_of(s, r));
        if (!zero && !bin_of(s, row_of(s, r), last, &bin, &f))
            return false;
        last = zero ? 0 : bin;
        s->bin[r] = zero ? 0 : (int32_t)bin;
        s->real[r] = f.real;
        s->imag[r] = f.imag;
    }
    return true;
}

/* The window and the factors in turns; the largest distance. */
static double refine(seeker *s)
{
    double most = 0;
    for (int i = 0; i < SOLVES; i++) {
        solve_window(s);
        most = 0;
        for (int64_t r = 0; r < s->rows; r++) {
            if (is_zero(s, row_of(s, r)))
                continue;
            fit f = fit_of(s, row_of(s, r), s->bin[r]);
            s->real[r] = f.real;
            s->imag[r] = f.imag;
            most = fmax(most, f.distance);
        }
    }
    return most;
}

/* Two rows of the middle say quickly whether all can have the points that are set. */
static bool may_be(const seeker *s)
{
    for (int64_t i = 1; i < 4; i += 2) {
        const float *row = row_of(s, s->rows * i / 4);
        int64_t k = is_zero(s, row) ? 0 : loudest_bin(s, row), bin;
        fit f;
        if (!is_zero(s, row) && !try_bin(s, row, k, NEAR, &bin, &f) && !try_bin(s, row, k - 1, NEAR, &bin, &f) &&
            !try_bin(s, row, k + 1, NEAR, &bin, &f))
            return false;
    }
    return true;
}

static bool explains(seeker *s, double *distance)
{
    if (!may_be(s) || !find_bins(s))
        return false;
    *distance = refine(s);
    return *distance <= TC_DFT_BOUND;
}

/* With a window that is a row, or the size of two. */
static bool known_window(seeker *s, double *distance)
{
    if (!covers(s))
        return false;
    for (int64_t n = next_points(s, 0); n; n = next_points(s, n)) {
        set_points(s, n);
        if (explains(s, distance))
            return true;
    }
    return false;
}

static bool seek(seeker *s, double *distance)
{
    int64_t half = s->rows / 2;
    const int64_t pairs[][2] = {{0, 1}, {0, half}, {1, half + 1}, {2, 3}};
    const int64_t singles[] = {0, half, 1};
    for (size_t i = 0; i < TC_COUNT(singles) && singles[i] < s->rows; i++) {
        take_row(s, singles[i]);
        if (known_window(s, distance))
            return true;
    }
    for (size_t i = 0; i < TC_COUNT(pairs); i++)
        if (pairs[i][0] != pairs[i][1] && pairs[i][0] < s->rows && pairs[i][1] < s->rows) {
            take_pair(s, pairs[i][0], pairs[i][1]);
            if (known_window(s, distance))
                return true;
        }
    for (int64_t n = next_points(s, 0); n; n = next_points(s, n)) {
        set_points(s, n);
        for (int64_t r = 0; r < 2 && r + 2 < s->rows; r++)
            if (take_three(s, r) && explains(s, distance))
                return true;
    }
    return false;
}

/* Factors that are 1 or -1 but for roundings, all of one size, become that; the size goes to the window. */
static bool settle(seeker *s)
{
    double size = 0;
    bool plain = true;
    for (int64_t r = 0; r < s->rows && !(size > 0); r++)
        size = fmax(fabs(s->real[r]), fabs(s->imag[r]));
    for (int64_t r = 0; r < s->rows; r++) {
        s->real[r] /= size;
        s->imag[r] /= size;
        double one = fabs(s->real[r]) + fabs(s->imag[r]);
        plain = plain && (s->real[r] == 0 || s->imag[r] == 0) && (one == 0 || fabs(one - 1) < TC_DFT_BOUND);
    }
    for (int64_t n = 0; n < s->length; n++)
        s->window[n] *= size;
    for (int64_t r = 0; r < s->rows && plain; r++) {
        s->real[r] = rint(s->real[r]);
        s->imag[r] = rint(s->imag[r]);
    }
    if (plain)
        solve_window(s);
    return plain;
}

/* The largest distance of a weight from what is found, of its row's largest possible one. */
static double distance_of(const seeker *s, const tc_dft *d)
{
    double most = 0, top = largest_window(s);
    for (int64_t r = 0; r < d->rows; r++) {
        double p = (double)d->real[r], q = (double)d->imag[r], size = sqrt(p * p + q * q) * top;
        for (int64_t n = 0, i = 0; n < d->length; n++, i = (i + d->bin[r]) % d->points) {
            double is = (double)d->window[n] * (p * s->cos[i] - q * s->sin[i]);
            most = fmax(most, fabs((double)row_of(s, r)[n] - is) / (size > 0 ? size : s->largest));
        }
    }
    return most;
}

static const float *rounded(tc_arena *arena, const double *x, int64_t n)
{
    float *y = tc_new_n(arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

/* Columns of zeros at the end are no part of the window. */
static int64_t length_of(const float *w, int64_t rows, int64_t columns, double least)
{
    int64_t n = columns;
    for (; n > 0; n--)
        for (int64_t r = 0; r < rows; r++)
            if (fabs((double)w[r * columns + n - 1]) > least)
                return n;
    return n;
}

bool ti_dft_find(tc_arena *arena, const float *w, int64_t rows, int64_t length, tc_dft *out)
{
    double largest = largest_of(w, rows * length), distance = 1;
    if (rows < 2 || length < 2 || length > TC_DFT_MOST || !(largest > 0) || !isfinite(largest))
        return false;
    seeker s = {.arena = arena, .w = w, .rows = rows, .columns = length, .largest = largest};
    s.length = length_of(w, rows, length, 0);
    if (s.length < TC_DFT_LEAST)
        return false;
    tc_mark mark = ti_arena_mark(arena);
    s.window = tc_new_n(arena, double, (size_t)s.length);
    s.open = tc_new_n(arena, bool, (size_t)s.length);
    s.cos = tc_new_n(arena, double, (size_t)(4 * s.length));
    s.sin = tc_new_n(arena, double, (size_t)(4 * s.length));
    s.bin = tc_new_n(arena, int32_t, (size_t)rows);
    s.real = tc_new_n(arena, double, (size_t)rows);
    s.imag = tc_new_n(arena, double, (size_t)rows);
    if (!seek(&s, &distance)) {
        ti_arena_rewind(arena, mark);
        return false;
    }
    bool plain = settle(&s);
    *out = (tc_dft){.points = s.points,
                    .rows = rows,
                    .length = s.length,
                    .window = rounded(arena, s.window, s.length),
                    .open = s.open,
                    .bin = s.bin,
                    .real = rounded(arena, s.real, rows),
                    .imag = rounded(arena, s.imag, rows),
                    .plain = plain};
    out->residual = distance_of(&s, out);
    return out->residual <= TC_DFT_BOUND;
}

/* ---- operations ---- */

double ti_dft_quick_operations(const tc_dft *d)
{
    static const struct {
        int64_t radix;
        double butterfly; /* with its factors */
    } steps[] = {{4, 34}, {2, 10}, {3, 28}, {5, 72}};
    bool even = d->points % 2 == 0;
    int64_t m = even ? d->points / 2 : d->points, left = m;
    double all = (double)d->length + (even ? 5 * (double)d->points : 0) + (double)d->rows * (d->plain ? 0 : 3);
    for (size_t i = 0; i < TC_COUNT(steps); i++)
        for (; left % steps[i].radix == 0; left /= steps[i].radix)
            all += steps[i].butterfly * (double)(m / steps[i].radix);
    return all;
}

double ti_dft_matrix_operations(const tc_dft *d) { return 2 * (double)d->rows * (double)d->length; }
