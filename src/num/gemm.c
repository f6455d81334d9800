/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c -- the matrix product, once per working type, and for f32 once per width of vectors.
 *
 * Both operands are packed into panels, a four rows wide and b two vectors wide, so that the inner
 * loop reads sequentially for any strides and keeps its sums in registers.  Lanes are independent,
 * so every width gives the same bits. */
#include "gemm.h"

#include "../base/isa.h"

enum {
    ROWS = 4,       /* of a panel of a */
    COLUMNS = 1024, /* of b packed at a time */
};

#define NAME(f) f##_f32
#define T float
#define BYTES 16
#define TARGET
#include "gemm_body.h"

#define NAME(f) f##_f64
#define T double
#define BYTES 16
#define TARGET
#include "gemm_body.h"

#define NAME(f) f##_i64
#define T uint64_t
#define BYTES 16
#define TARGET
#include "gemm_body.h"

#if defined(__x86_64__)
#define NAME(f) f##_f32_256
#define T float
#define BYTES 32
#define TARGET __attribute__((target("avx2")))
#include "gemm_body.h"

#define NAME(f) f##_f32_512
#define T float
#define BYTES 64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#include "gemm_body.h"

#endif

/* Few columns fill no wide vectors. */
void ti_gemm_f32(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                 int64_t a_col, const float *b, int64_t b_row, int64_t b_col, float *c,
                 int64_t c_row)
{
#if defined(__x86_64__)
    if (n > WIDTH_f32_256 && ti_isa_is_avx512(ti_isa()))
        product_f32_512(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
    else if (n > WIDTH_f32 && (ti_isa_is_avx512(ti_isa()) || ti_isa() == TC_ISA_avx2))
        product_f32_256(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
    else
#endif
        product_f32(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void ti_gemm_f64(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const double *a, int64_t a_row,
                 int64_t a_col, const double *b, int64_t b_row, int64_t b_col, double *c,
                 int64_t c_row)
{
    product_f64(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void ti_gemm_i64(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const uint64_t *a,
                 int64_t a_row, int64_t a_col, const uint64_t *b, int64_t b_row, int64_t b_col,
                 uint64_t *c, int64_t c_row)
{
    product_i64(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void ti_gemm(tc_work work, tc_arena *scratch, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
             int64_t c_row)
{
    if (work == TC_WORK_f32)
        ti_gemm_f32(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
    else if (work == TC_WORK_f64)
        ti_gemm_f64(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
    else
        ti_gemm_i64(scratch, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}
