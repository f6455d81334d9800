/* SPDX-License-Identifier: Apache-2.0 */
/* lower_move.h -- what the movement rules share: conversions of element types, and any strides.
 */
#ifndef TC_LOWER_MOVE_H
#define TC_LOWER_MOVE_H

#include "../put.h"

/* Stored elements of type `from` as stored elements of `to`: another domain, quantized or
 * dequantized (with floats in the target), or another element type.  The shape is x's own. */
tc_val ti_put_convert(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to);
/* Another element type, plain values: as PyTorch's casts (toward zero from float to integer). */
tc_val ti_put_cast(tc_build *lw, tc_val x, tc_dtype to);

/* Operand i in the domain of result 0, its own shape. */
tc_val ti_move_in(tc_build *lw, const tc_node *node, int i);
/* A part of operand 0 in the type of result i: moved is stored as operand 0 is. */
tc_val ti_move_out(tc_build *lw, const tc_node *node, tc_val moved, int i);

/* x[start], x[start + step], ...: count of them along an axis. */
tc_val ti_put_stepped(tc_build *lw, tc_val x, int axis, int64_t start, int64_t step, int64_t count);

/* An axis of a strided view. */
typedef struct tc_stride {
    int64_t size, step;
} tc_stride;
/* The element at (i0, i1, ...) is x's element offset + i0 * step0 + i1 * step1 + ..., in row-major
 * order. Slices, reshapes and concatenation; windows that overlap are cut out one by one, by GATHER
 * when there are many. */
tc_val ti_put_strided(tc_build *lw, tc_val x, int64_t offset, int rank, const tc_stride *axis);

/* Rows of values [n,k,c] by indices [n,w] (i32): [n,w,c].  bool goes through another type. */
tc_val ti_put_gather(tc_build *lw, tc_val values, tc_val indices);
/* Any number of tensors in one, 64 at a time; the list is used up. */
tc_val ti_put_join(tc_build *lw, tc_val *x, int n, int axis);

/* An axis backwards. */
tc_val ti_put_reverse(tc_build *lw, tc_val x, int axis);

#endif
