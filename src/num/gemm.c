/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c -- the matrix product, once per working type.
 *
 * Both operands are packed into panels, a four rows wide and b two vectors wide, so that the inner
 * loop reads straight ahead whatever the strides were and keeps its sums in registers. */
#include "gemm.h"

enum {
    ROWS = 4,       /* of a panel of a */
    DEPTH = 256,    /* products summed before they are added to c */
    COLUMNS = 1024, /* of b packed at a time */
};

#define NAME(f) f##_f32
#define T float
#include "gemm_body.h"
#undef NAME
#undef T

#define NAME(f) f##_f64
#define T double
#include "gemm_body.h"
#undef NAME
#undef T

#define NAME(f) f##_i64
#define T uint64_t
#include "gemm_body.h"
#undef NAME
#undef T

void tc_gemm(tc_work work, tc_arena *scratch, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
             int64_t c_row)
{
    if (work == TC_WORK_f32)
        tc_gemm_f32(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
    else if (work == TC_WORK_f64)
        tc_gemm_f64(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
    else
        tc_gemm_i64(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}
