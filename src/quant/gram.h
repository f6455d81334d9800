/* SPDX-License-Identifier: Apache-2.0 */
/* gram.h -- sums of products of columns, and the descent over codes that they allow. */
#ifndef TC_QUANT_GRAM_H
#define TC_QUANT_GRAM_H

#include "../base/base.h"

/* sum[i][j] += a[c][i] * b[c][j] over columns c = 0 .. m-1 in that order, for i < n, j < k; a and b
 * have `row` numbers from one column to the next. */
void tc_gram_add(float *sum, int64_t n, int64_t k, const float *a, const float *b, int64_t row,
                 int64_t m);

/* to[j] += by * x[j]. */
void tc_gram_axpy(float *to, float by, const float *x, int64_t n);

/* One row of weights in steps of its scale, and the codes that stand for it. */
typedef struct tc_gram_row {
    int64_t k;
    const float *want; /* weights / scale */
    float *code;       /* the codes, in and out */
    const int64_t *step; /* of number j: codes are its multiples; NULL: 1 */
    int64_t lo, hi;    /* code / step */
    const float *h;    /* k x k: sums of products of what the typed program feeds it */
    const float *c;    /* k x k: of what the real one has by what the typed one has */
    float reach;       /* codes stay within so many steps of `want` */
    float *slope;      /* room for k */
} tc_gram_row;

/* Codes that lower (want c - code h) ... : the squared error of want * real input against code *
 * its integer counterpart, one code at a time, as long as that helps; at most so many sweeps.
 * Returns by how much the error fell, in squared steps. */
double tc_gram_descend(const tc_gram_row *r, int sweeps);

#endif
