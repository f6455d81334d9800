/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h -- the one matrix product under matmul, conv, attention, einsum and the recurrent cells.
 */
#ifndef TC_GEMM_H
#define TC_GEMM_H

#include "work.h"

enum { TC_GEMM_DEPTH = 256 }; /* products summed before they are added to c */

/* c += a b  with  a: m x k,  b: k x n,  c: m x n.
 *
 * a_row, a_col, b_row, b_col: elements from one row or column to the next, a transpose or a slice
 * has other strides.  c has rows c_row apart and contiguous columns, and overlaps neither operand.
 * Sums run over k in order, in blocks whose totals are added to c, multiply, then add: the same bits
 * on every machine, and those of fast/float.h.
 * Integers wrap. */
void ti_gemm_f32(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                 int64_t a_col, const float *b, int64_t b_row, int64_t b_col, float *c,
                 int64_t c_row);
void ti_gemm_f64(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const double *a, int64_t a_row,
                 int64_t a_col, const double *b, int64_t b_row, int64_t b_col, double *c,
                 int64_t c_row);
void ti_gemm_i64(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const uint64_t *a,
                 int64_t a_row, int64_t a_col, const uint64_t *b, int64_t b_row, int64_t b_col,
                 uint64_t *c, int64_t c_row);

/* The same in a working type; a, b and c are arrays of it. */
void ti_gemm(tc_work work, tc_arena *scratch, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
             int64_t c_row);

#endif
