/* SPDX-License-Identifier: Apache-2.0 */
/* cascade.h -- cascades in stripes of rows: what their files share. */
#ifndef TC_CASCADE_H
#define TC_CASCADE_H

#include "hw.h"

enum { TC_CASCADE_LONGEST = 32 };

/* Operations that make the same rows of one value, one after another: some of its channels each. */
typedef struct tc_cascade_step {
    const tc_hw_op *op;
    int n;
} tc_cascade_step;

/* Of each step of a cascade. */
typedef struct tc_cascade_size {
    int64_t room[TC_CASCADE_LONGEST];  /* rows of its output that are needed at the same time */
    int64_t turns[TC_CASCADE_LONGEST]; /* stripes */
    int64_t read[TC_CASCADE_LONGEST];  /* rows of its input, some of them again and again */
} tc_cascade_size;

/* cascade.c: n steps, each the only reader of the one before, in stripes of `rows` rows of the last. */
void ti_cascade_measure(const tc_cascade_step *step, int n, int32_t rows, tc_cascade_size *out);

/* Consecutive steps: rows of the last in a stripe; 0: one after the other, not striped. */
typedef struct tc_cascade_piece {
    int n;
    int32_t rows;
} tc_cascade_piece;

/* cascade_plan.c: cuts a run of steps into pieces, and returns how many. */
int ti_cascade_plan(tc_hw *hw, const tc_cascade_step *step, int n, tc_cascade_piece *piece);

#endif
