/* SPDX-License-Identifier: Apache-2.0 */
/* gram.c -- see gram.h.
 *
 * With u the weights in steps, q the codes, x the real input and y the typed one, the error of a
 * row is
 *
 *   E(q) = sum over columns of (u x - q y)^2,   -dE/dq / 2 = u C - q H,   C = sum x y',  H = sum y
 * y'
 *
 * and code j alone is best at q_j + slope_j / H_jj.  Every loop runs over independent numbers, so
 * vectors of any width give the same bits. */
#include "gram.h"

#include <math.h>

#include "../num/lanes.h"

TC_LANES_BODY axpy(float *restrict to, float by, const float *restrict x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        to[j] += by * x[j];
}
TC_LANES(, tc_gram_axpy, axpy, (float *restrict to, float by, const float *restrict x, int64_t n),
         (to, by, x, n))

/* Four columns at a time over one row of the sum. */
TC_LANES_BODY add_four(float *restrict to, const float *restrict a, int64_t a_row,
                       const float *restrict b, int64_t b_row, int64_t n)
{
    float a0 = a[0], a1 = a[a_row], a2 = a[2 * a_row], a3 = a[3 * a_row];
    const float *b1 = b + b_row, *b2 = b + 2 * b_row, *b3 = b + 3 * b_row;
    for (int64_t j = 0; j < n; j++)
        to[j] = to[j] + a0 * b[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
}
TC_LANES(static, four, add_four,
         (float *restrict to, const float *restrict a, int64_t a_row, const float *restrict b,
          int64_t b_row, int64_t n),
         (to, a, a_row, b, b_row, n))

void tc_gram_add(float *sum, int64_t n, int64_t k, const float *a, const float *b, int64_t row,
                 int64_t m)
{
    int64_t whole = m - m % 4;
    for (int64_t c = 0; c < whole; c += 4)
        for (int64_t i = 0; i < n; i++)
            four(sum + i * k, a + c * row + i, row, b + c * row, row, k);
    for (int64_t c = whole; c < m; c++)
        for (int64_t i = 0; i < n; i++)
            tc_gram_axpy(sum + i * k, a[c * row + i], b + c * row, k);
}

/* The best code for number j by itself, within reach. */
static float best_code(const tc_gram_row *r, int64_t j)
{
    float step = r->step ? (float)r->step[j] : 1, curve = r->h[j * r->k + j];
    float want = r->code[j] + r->slope[j] / curve;
    float reach = r->reach * fabsf(step);
    want = fminf(fmaxf(want, r->want[j] - reach), r->want[j] + reach);
    float q = fminf(fmaxf(nearbyintf(want / step), (float)r->lo), (float)r->hi);
    return q * step;
}

double tc_gram_descend(const tc_gram_row *r, int sweeps)
{
    double gain = 0;
    memset(r->slope, 0, (size_t)r->k * sizeof *r->slope);
    for (int64_t j = 0; j < r->k; j++) {
        tc_gram_axpy(r->slope, r->want[j], r->c + j * r->k, r->k);
        tc_gram_axpy(r->slope, -r->code[j], r->h + j * r->k, r->k);
    }
    for (int s = 0; s < sweeps; s++) {
        bool moved = false;
        for (int64_t j = 0; j < r->k; j++) {
            float curve = r->h[j * r->k + j];
            if (!(curve > 0))
                continue;
            float by = best_code(r, j) - r->code[j];
            double fall =
                2 * (double)by * (double)r->slope[j] - (double)by * (double)by * (double)curve;
            if (by == 0 || !(fall > 0))
                continue;
            gain += fall;
            r->code[j] += by;
            tc_gram_axpy(r->slope, -by, r->h + j * r->k, r->k);
            moved = true;
        }
        if (!moved)
            break;
    }
    return gain;
}
