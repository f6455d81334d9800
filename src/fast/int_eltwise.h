/* SPDX-License-Identifier: Apache-2.0 */
/* int_eltwise.h -- RESCALE, TABLE, integer arithmetic and sums of TOSA over whole tensors, with the
 * bits of num/. */
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
    /* one scale for all, by finish.h's formula */
    bool alike;
    int32_t m, left, right;
    int64_t half;
} tc_rescale;

enum { TC_RESCALE_BLOCK = 64 };

tc_rescale ti_rescale_make(tc_dtype from, int32_t x_zero, size_t columns, bool per_channel,
                           const tc_narrow *narrow);

/* n elements; scratch: columns * 4 bytes, unless x is i32 or scales are equal. */
void ti_rescale_run(const tc_rescale *r, const void *x, size_t n, void *y, void *scratch);

/* Results of 32 bits are wrapped. */
typedef enum tc_int_op {
    TC_INT_add,
    TC_INT_sub,
    TC_INT_mul,
    TC_INT_max,
    TC_INT_min,
    TC_INT_shl, /* by less than 32, as the next two */
    TC_INT_asr,
    TC_INT_asr_round, /* half up */
    /* of a alone */
    TC_INT_abs,
    TC_INT_clz,
    TC_INT_keep
} tc_int_op;

/* How an operand is broadcast to the result, seen as rows of columns. */
typedef enum tc_spread {
    TC_SPREAD_none,    /* element by element */
    TC_SPREAD_one,     /* one value for all */
    TC_SPREAD_row,     /* one row, for every row */
    TC_SPREAD_column   /* one value per row */
} tc_spread;

/* An operand of i8, i16 or i32, perhaps with a fused RESCALE to i32 (equal scales) or TABLE of 513
 * entries (of i16). */
typedef struct tc_int_operand {
    tc_dtype from;
    tc_spread spread;
    const tc_rescale *rescale;
    const int16_t *table;
} tc_int_operand;

typedef struct tc_int_binary {
    tc_int_op op;
    int32_t shift; /* of TC_INT_mul: of the 64-bit product, rounded half up */
    tc_int_operand a, b;
    size_t rows, columns;
    size_t outer; /* all of that n times, a row of an operand each time */
    tc_dtype to;            /* what is stored: i8, i16 or i32 */
    const tc_rescale *then; /* the result's RESCALE to `to` (scales alike), or NULL */
} tc_int_binary;

void ti_int_binary_run(const tc_int_binary *e, const void *a, const void *b, void *y);

/* Whether n shifts are valid for elements with that many bits. */
bool ti_int_shifts_fit(tc_dtype dtype, const void *x, size_t n, int bits);

/* x [outer][n][inner] over n, to i8, i16 or i32; op: add, max or min. */
typedef struct tc_int_reduce {
    tc_int_op op;
    tc_int_operand x;
    size_t outer, n, inner;
    tc_dtype to;
} tc_int_reduce;

size_t ti_int_reduce_scratch(const tc_int_reduce *r);
void ti_int_reduce_run(const tc_int_reduce *r, const void *x, void *y, void *scratch);

/* TABLE of i16: 513 entries, interpolated. */
void ti_table16_run(const int16_t *table, const int16_t *x, int32_t *y, size_t n);

/* GATHER of single 16-bit elements: y[i] = values[index[i]] for i < n; false, and y in part, when
 * an index is out of 0 .. most - 1. */
bool ti_gather16_run(const int16_t *values, size_t most, const int32_t *index, int16_t *y,
                     size_t n);

/* CLAMP of i8 or i16. */
void ti_clamp_run(tc_dtype dtype, int32_t lo, int32_t hi, const void *x, void *y, size_t n);

#endif
