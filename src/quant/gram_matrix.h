/* SPDX-License-Identifier: Apache-2.0 */
/* gram_matrix.h -- sums of products of columns, and the descent over codes that they allow. */
#ifndef TC_GRAM_MATRIX_H
#define TC_GRAM_MATRIX_H

#include "../base/base.h"

/* to[j] += by * x[j]. */
void ti_gram_axpy(float *to, float by, const float *x, int64_t n);

/* sum[j] += x[j];  x[j] -= mean[j];  sum[j] += e and square[j] += e * e with e = x[j] - y[j]. */
void ti_gram_sum(double *sum, const float *x, int64_t n);
void ti_gram_centre(float *x, const float *mean, int64_t n);
void ti_gram_errors(const float *x, const float *y, int64_t n, double *sum, double *square);

/* sum[j] = sum of x[t][j] * w[t][j] over t < k in order; n elements from one t to the next. */
void ti_gram_dots(const float *x, const float *w, int64_t k, int64_t n, float *sum);

/* Contiguous rows of weights in steps of their scales, and their codes. */
typedef struct tc_gram_rows {
    int64_t n, k;
    const float *want;   /* weights / scale */
    float *code;         /* the codes, in and out */
    const int64_t *step; /* codes are its multiples; NULL: 1 */
    int64_t lo, hi;      /* code / step */
    const float *h;      /* k x k: sums of products of the typed program's inputs */
    const float *c;      /* k x k: of the real program's inputs by the typed one's */
    const float *pull;   /* not NULL: want c, n rows of k, and c is not read */
    float reach;         /* codes stay within this many steps of `want` */
    float *slope;        /* room for n * k */
    float *room;         /* for (2 n + 1) k */
} tc_gram_rows;

/* Codes that lower (want c - code h) ... : the squared error of want * real input against code *
 * its integer counterpart, one code at a time, as long as that helps; at most n sweeps. Returns how
 * much the error fell, in squared steps. */
double ti_gram_descend(const tc_gram_rows *r, int sweeps);

#endif
