/* SPDX-License-Identifier: Apache-2.0 */
/* int_eltwise.h -- RESCALE and 32-bit arithmetic of TOSA over whole tensors, with the bits of num/.
 */
#ifndef TC_INT_ELTWISE_H
#define TC_INT_ELTWISE_H

#include "int8.h"

/* RESCALE by itself: x of type i8, i16 or i32 (with sign), narrow as in int8.h.
 * columns: channels when each has its own scale; otherwise TC_RESCALE_BLOCK, all alike. */
typedef struct tc_rescale {
    tc_dtype from;
    int32_t x_zero;
    size_t columns;
    tc_narrow narrow;
} tc_rescale;

enum { TC_RESCALE_BLOCK = 512 };

/* n elements; scratch: columns * 4 bytes, unless x is i32. */
void tc_rescale_run(const tc_rescale *r, const void *x, size_t n, void *y, void *scratch);

/* ADD, SUB and MUL (shift 0) of i32, results wrapped; operands as they are or repeated. */
typedef enum tc_int_op { TC_INT_add, TC_INT_sub, TC_INT_mul } tc_int_op;

/* How an operand meets the result, seen as rows of columns. */
typedef enum tc_spread {
    TC_SPREAD_none,    /* element by element */
    TC_SPREAD_one,     /* one number for all */
    TC_SPREAD_row,     /* one row, for every row */
    TC_SPREAD_column   /* one number a row */
} tc_spread;

typedef struct tc_int_binary {
    tc_int_op op;
    tc_spread a, b;
    size_t rows, columns;
} tc_int_binary;

void tc_int_binary_run(const tc_int_binary *e, const int32_t *a, const int32_t *b, int32_t *y);

#endif
