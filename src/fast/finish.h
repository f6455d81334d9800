/* SPDX-License-Identifier: Apache-2.0 */
/* finish.h -- epilogue of sums in registers: RESCALE, clamp, narrowing.
 *
 * Columns (output channels) are taken in groups of panels, a panel being a register of sums.  With
 * p panels in a group, register lanes of four hold columns so that narrowing, which joins registers
 * lane by lane, leaves them in order: sum 4 l + i of panel k is column 4 p l + 4 k + i.
 *
 *   ((acc * m + 2^(s - 1)) >> s) + zero  =  high word of ((acc * m + half) << left) >> right
 *
 * with half = 2^(s - 1) + zero 2^s, left = max(0, 32 - s), right = max(0, s - 32). */
#ifndef TC_FINISH_H
#define TC_FINISH_H

#include "../base/isa.h"
#include "int8.h"

/* One group.  Lists by slot, panel after panel; those with two forms are for even and odd sums. */
typedef struct tc_group {
    size_t panels, first, columns; /* first column, and how many are real */
    const int32_t *start;          /* initial values of sums */
    const int32_t *m0, *m1;        /* multipliers; m1: those of odd sums at even indices */
    const int64_t *half0, *half1, *left0, *left1;
    const int32_t *right;
    bool shifts_left;
} tc_group;

typedef struct tc_finish {
    size_t width;      /* sums in a register */
    size_t columns;
    size_t row_bytes;  /* of y */
    bool narrows;      /* else y receives the sums */
    bool quick;        /* the formula above holds; otherwise ti_narrow_rows() serves */
    tc_narrow narrow;
    tc_group *group;
    size_t n_group;
} tc_finish;

/* For `columns` columns in groups of at most `most` panels of `width`.  start: by column; narrow
 * may be NULL. */
void ti_finish_init(tc_ctx *ctx, tc_finish *f, size_t columns, size_t width, size_t most,
                    const int32_t *start, const tc_narrow *narrow);

/* The same with groups of 1, 2 or 4 panels, the last one perhaps padded with columns; all of 2
 * where that is the most. */
void ti_finish_init_even(tc_ctx *ctx, tc_finish *f, size_t columns, size_t width, size_t most,
                         const int32_t *start, const tc_narrow *narrow);

/* The column of a group that a slot holds. */
static inline size_t ti_group_column(size_t width, size_t panels, size_t slot)
{
    size_t k = slot / width, at = slot % width;
    return at / 4 * 4 * panels + 4 * k + at % 4;
}

/* Sums of a group, slot by slot and rows after rows, to y (whose row is f->row_bytes). */
void ti_finish_slots(const tc_finish *f, const tc_group *g, const int32_t *sum, size_t rows,
                     uint8_t *y);

/* Bytes replaced by entries of a table of 256. */
void ti_table8_run(const int8_t *table, const int8_t *x, int8_t *y, size_t n);

#endif
