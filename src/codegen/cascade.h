/* SPDX-License-Identifier: Apache-2.0 */
/* cascade.h -- operations that take turns: what the files of cascades share. */
#ifndef TC_CASCADE_H
#define TC_CASCADE_H

#include "hw.h"

enum { TC_CASCADE_LONGEST = 32 };

/* Of each operation of a cascade. */
typedef struct tc_cascade_size {
    int64_t room[TC_CASCADE_LONGEST];  /* rows of its output that are needed at the same time */
    int64_t turns[TC_CASCADE_LONGEST]; /* how many it takes */
    int64_t read[TC_CASCADE_LONGEST];  /* rows of its input, some of them again and again */
} tc_cascade_size;

/* cascade.c: n operations, each the only reader of the one before, so many rows of the last at a time. */
void ti_cascade_measure(const tc_hw_op *op, int n, int32_t rows, tc_cascade_size *out);

/* Operations in a row: rows of the last of them at a time; 0: one after the other. */
typedef struct tc_cascade_piece {
    int n;
    int32_t rows;
} tc_cascade_piece;

/* cascade_plan.c: cuts a run of operations into pieces, whose number it gives. */
int ti_cascade_plan(const tc_hw *hw, const tc_hw_op *op, int n, tc_cascade_piece *piece);

#endif
