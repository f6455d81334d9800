/* SPDX-License-Identifier: Apache-2.0 */
/* pair_sum.h -- sums of products of 16-bit values, two products at a time.  For the files of this
 * folder. */
#ifndef TC_PAIR_SUM_H
#define TC_PAIR_SUM_H

#include <stdint.h>

enum { TC_PAIR_LANES = 16, TC_PAIR_PIXELS = 4 };

/* Pixels of one row, LANES channels of each: n runs of k pairs.  Run r of pixel p begins at
 * from + p pixel + run[r]; its weights, [k][LANES][2], follow those of the run before. */
typedef struct tc_pair_task {
    const int16_t *from, *weight;
    const int64_t *run;
    int64_t pixel, k;
    int32_t n;
} tc_pair_task;

/* The sums, which must fit 32 bits. */
void ti_pair_sum(const tc_pair_task *t, int32_t out[TC_PAIR_PIXELS][TC_PAIR_LANES]);

#endif
