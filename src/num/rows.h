/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h -- the axes that an operator works along, made contiguous. */
#ifndef TC_ROWS_H
#define TC_ROWS_H

#include "call.h"

/* n_row rows of n elements each, contiguous; x.type gives their element type only. */
typedef struct tc_rows {
    tc_tensor x;
    int64_t n_row, n;
} tc_rows;

/* The elements of each reduction: the named axes come last, in their order. Where they are last
 * already this is x itself, else a copy in `arena`. */
tc_rows ti_rows_of(tc_arena *arena, tc_tensor x, tc_ints axes);

/* One axis; a tensor of rank 0 has one row of one element. */
tc_rows ti_rows_along(tc_arena *arena, tc_tensor x, int64_t axis);

/* Rows back into the shape of `out`, whose axis `axis` they ran along. */
void ti_rows_back(tc_tensor out, int64_t axis, const void *rows, int64_t n);

#endif
