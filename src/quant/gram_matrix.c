/* SPDX-License-Identifier: Apache-2.0 */
/* gram_matrix.c -- see gram_matrix.h.
 *
 * With u the weights in steps, q the codes, x the real input and y the typed one, the error of a
 * row is
 *
 *   E(q) = sum over columns of (u x - q y)^2,   -dE/dq / 2 = u C - q H,
 *   C = sum x y',   H = sum y y'
 *
 * and code j alone is best at q_j + slope_j / H_jj.  Every loop runs over independent elements, so
 * vectors of any width give the same bits. */
#include "gram_matrix.h"

#include <math.h>

#include "../fast/outer.h"
#include "../num/lanes.h"

TC_LANES_BODY axpy(float *restrict to, float by, const float *restrict x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        to[j] += by * x[j];
}
TC_LANES(, ti_gram_axpy, axpy, (float *restrict to, float by, const float *restrict x, int64_t n),
         (to, by, x, n))

TC_LANES_BODY sums(double *restrict sum, const float *restrict x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        sum[j] += (double)x[j];
}
TC_LANES(, ti_gram_sum, sums, (double *restrict sum, const float *restrict x, int64_t n),
         (sum, x, n))

TC_LANES_BODY minus(float *restrict x, const float *restrict mean, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        x[j] -= mean[j];
}
TC_LANES(, ti_gram_centre, minus, (float *restrict x, const float *restrict mean, int64_t n),
         (x, mean, n))

TC_LANES_BODY errors(const float *restrict x, const float *restrict y, int64_t n,
                     double *restrict sum, double *restrict square)
{
    for (int64_t j = 0; j < n; j++) {
        double e = (double)x[j] - (double)y[j];
        sum[j] += e;
        square[j] += e * e;
    }
}
TC_LANES(, ti_gram_errors, errors,
         (const float *restrict x, const float *restrict y, int64_t n, double *restrict sum,
          double *restrict square),
         (x, y, n, sum, square))

TC_LANES_BODY dots(const float *restrict x, const float *restrict w, int64_t k, int64_t n,
                   float *restrict sum)
{
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t t = 0; t < k; t++)
        for (int64_t j = 0; j < n; j++)
            sum[j] += x[t * n + j] * w[t * n + j];
}
TC_LANES(, ti_gram_dots, dots,
         (const float *restrict x, const float *restrict w, int64_t k, int64_t n,
          float *restrict sum),
         (x, w, k, n, sum))

enum { ABREAST = 32, NEAR = 16 }; /* rows; elements of each at a time */

/* One row of them. */
typedef struct row {
    const float *want, *curve; /* curve: h's diagonal */
    float *code, *slope;
    const int64_t *step;
    int64_t next; /* the element that may move next */
    bool moved;   /* any number, in the sweep before */
} row;

/* slope[j] = sum of -code[i] * h[i][j] + want[i] * c[i][j] over i in order. */
static void find_slopes(const tc_gram_rows *r)
{
    int64_t n = r->n, k = r->k;
    if (r->pull)
        memcpy(r->slope, r->pull, (size_t)(n * k) * sizeof *r->slope);
    else
        memset(r->slope, 0, (size_t)(n * k) * sizeof *r->slope);
    if (n == 1) {
        for (int64_t j = 0; j < k; j++) {
            if (!r->pull)
                ti_gram_axpy(r->slope, r->want[j], r->c + j * k, k);
            ti_gram_axpy(r->slope, -r->code[j], r->h + j * k, k);
        }
        return;
    }
    float *want = r->room, *code = r->room + n * k; /* elements of all rows, interleaved */
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            want[j * n + i] = r->want[i * k + j];
            code[j * n + i] = -r->code[i * k + j];
        }
    const tc_outer both[] = {{code, n, r->h, k}, {want, n, r->c, k}};
    ti_outer_add(r->slope, k, n, k, k, both, r->pull ? 1 : 2);
}

/* The best code for element j by itself, within reach. */
static float best_code(const tc_gram_rows *r, const row *w, int64_t j)
{
    float step = w->step ? (float)w->step[j] : 1;
    float want = w->code[j] + w->slope[j] / w->curve[j], reach = r->reach * fabsf(step);
    float least = w->want[j] - reach, most = w->want[j] + reach;
    want = want > least ? want : least;
    want = want < most ? want : most;
    float q = nearbyintf(want / step), lo = (float)r->lo, hi = (float)r->hi;
    q = q > lo ? q : lo;
    q = q < hi ? q : hi;
    return q * step;
}

/* The next element from j on whose slope may move it.  One that asks for less than half a step
 * stays: codes are multiples of their steps, within reach or at an end. */
static int64_t next_steep(const tc_gram_rows *r, const row *w, int64_t j)
{
    const float half = 0.49F;
    if (!w->step)
        while (j < r->k && fabsf(w->slope[j]) < half * w->curve[j])
            j++;
    else
        while (j < r->k &&
               fabsf(w->slope[j]) < half * fabsf((float)w->step[j]) * w->curve[j])
            j++;
    return j;
}

/* Moves element j alone, where that helps; returns how much the error fell. */
static double settle(const tc_gram_rows *r, row *w, int64_t j)
{
    float curve = w->curve[j];
    if (!(curve > 0))
        return 0;
    float by = best_code(r, w, j) - w->code[j];
    double fall = 2 * (double)by * (double)w->slope[j] - (double)by * (double)by * (double)curve;
    if (by == 0 || !(fall > 0))
        return 0;
    w->code[j] += by;
    ti_gram_axpy(w->slope, -by, r->h + j * r->k, r->k);
    w->moved = true;
    return fall;
}

/* Each row by itself from its first element to its last, some elements of all rows at a time: rows
 * of h just read are in cache for the next. */
static double sweep(const tc_gram_rows *r, row *w, int64_t n)
{
    double gain = 0;
    for (int64_t i = 0; i < n; i++) {
        w[i].next = w[i].moved ? next_steep(r, &w[i], 0) : r->k;
        w[i].moved = false;
    }
    for (int64_t end = NEAR; end < r->k + NEAR; end += NEAR)
        for (int64_t i = 0; i < n; i++)
            while (w[i].next < ti_min_i64(end, r->k)) {
                gain += settle(r, &w[i], w[i].next);
                w[i].next = next_steep(r, &w[i], w[i].next + 1);
            }
    return gain;
}

double ti_gram_descend(const tc_gram_rows *r, int sweeps)
{
    double gain = 0;
    find_slopes(r);
    float *curve = r->room + 2 * r->n * r->k;
    for (int64_t j = 0; j < r->k; j++)
        curve[j] = r->h[j * r->k + j];
    for (int64_t first = 0; first < r->n; first += ABREAST) {
        row w[ABREAST];
        int64_t n = ti_min_i64(ABREAST, r->n - first);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = (first + i) * r->k;
            w[i] = (row){r->want + at,
                         curve,
                         r->code + at,
                         r->slope + at,
                         r->step ? r->step + at : NULL,
                         0,
                         true};
        }
        for (int s = 0; s < sweeps; s++)
            gain += sweep(r, w, n);
    }
    return gain;
}
