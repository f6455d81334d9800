/* SPDX-License-Identifier: Apache-2.0 */
/* outer.h -- sums of outer products: many short columns into one matrix that stays in cache.
 *
 * Each element adds its products in the order of the columns, rounding after each product and each
 * addition, so every level gives the same bits. */
#ifndef TC_OUTER_H
#define TC_OUTER_H

#include "../base/base.h"

/* Column c of a: a[c * a_step + i];  of b: b[c * b_step + j]. */
typedef struct tc_outer {
    const float *a;
    int64_t a_step;
    const float *b;
    int64_t b_step;
} tc_outer;

/* sum[i * row + j] += a[c][i] * b[c][j] over c = 0 .. m-1 in that order, for i < n, j < k; with two
 * pairs, the second one's product follows the first one's at each c. */
void ti_outer_add(float *sum, int64_t row, int64_t n, int64_t k, int64_t m, const tc_outer *pair,
                  int n_pair);

enum { TC_OUTER_LANES = 32 }; /* lanes that are fastest */

/* By lanes: sum[(i * k + j) * lanes + l] += a[c][i][l] * b[c][j][l] over c = 0 .. m-1 in that
 * order, for i, j < k and l < lanes; a[c][i][l] is a[c * step + i * apart + l], b the same. half:
 * at least those with j >= i; the others may or may not be computed. */
void ti_outer_add_lanes(float *sum, int64_t lanes, int64_t k, int64_t m, const float *a,
                        const float *b, int64_t step, int64_t apart, bool half);

#endif
