/* SPDX-License-Identifier: Apache-2.0 */
/* int_eltwise.c -- see int_eltwise.h.  The loops are plain C, compiled once for each level. */
#include "int_eltwise.h"

#include "fast.h"

/* x - zero as 32 bits. */
TC_INLINE void widen(tc_dtype from, const void *x, size_t at, size_t n, int32_t zero, int32_t *out)
{
    if (from == TC_i8)
        for (size_t i = 0; i < n; i++)
            out[i] = ((const int8_t *)x)[at + i] - zero;
    else
        for (size_t i = 0; i < n; i++)
            out[i] = ((const int16_t *)x)[at + i] - zero;
}

/* Wrapping arithmetic on one row. */
TC_INLINE void row_of(tc_int_op op, const int32_t *a, size_t step_a, const int32_t *b,
                      size_t step_b, int32_t *y, size_t n)
{
    switch (op) {
    case TC_INT_add:
        for (size_t i = 0; i < n; i++)
            y[i] = (int32_t)((uint32_t)a[i * step_a] + (uint32_t)b[i * step_b]);
        return;
    case TC_INT_sub:
        for (size_t i = 0; i < n; i++)
            y[i] = (int32_t)((uint32_t)a[i * step_a] - (uint32_t)b[i * step_b]);
        return;
    default:
        for (size_t i = 0; i < n; i++)
            y[i] = (int32_t)((uint32_t)a[i * step_a] * (uint32_t)b[i * step_b]);
    }
}

/* Steps are constants here, so that each case is a loop of its own. */
TC_INLINE void row_any(tc_int_op op, const int32_t *a, bool many_a, const int32_t *b, bool many_b,
                       int32_t *y, size_t n)
{
    if (many_a && many_b)
        row_of(op, a, 1, b, 1, y, n);
    else if (many_a)
        row_of(op, a, 1, b, 0, y, n);
    else if (many_b)
        row_of(op, a, 0, b, 1, y, n);
    else
        row_of(op, a, 0, b, 0, y, n);
}

TC_INLINE const int32_t *operand(tc_spread s, const int32_t *p, size_t row, size_t columns)
{
    return s == TC_SPREAD_none ? p + row * columns : s == TC_SPREAD_column ? p + row : p;
}

TC_INLINE void binary(const tc_int_binary *e, const int32_t *a, const int32_t *b, int32_t *y)
{
    bool many_a = e->a == TC_SPREAD_none || e->a == TC_SPREAD_row;
    bool many_b = e->b == TC_SPREAD_none || e->b == TC_SPREAD_row;
    for (size_t r = 0; r < e->rows; r++)
        row_any(e->op, operand(e->a, a, r, e->columns), many_a, operand(e->b, b, r, e->columns),
                many_b, y + r * e->columns, e->columns);
}

#define LEVEL(name, target)                                                                        \
    target static void widen_##name(tc_dtype from, const void *x, size_t at, size_t n,             \
                                    int32_t zero, int32_t *out)                                    \
    {                                                                                              \
        widen(from, x, at, n, zero, out);                                                          \
    }                                                                                              \
    target static void binary_##name(const tc_int_binary *e, const int32_t *a, const int32_t *b,   \
                                     int32_t *y)                                                   \
    {                                                                                              \
        binary(e, a, b, y);                                                                        \
    }

LEVEL(plain, )
#ifdef TC_X86
LEVEL(avx2, TC_AVX2)
LEVEL(avx512, TC_AVX512)
#define PICK(what)                                                                                 \
    (tc_isa_is_avx512(tc_fast_isa()) ? what##_avx512                                               \
     : tc_fast_isa() == TC_ISA_avx2  ? what##_avx2                                                 \
                                     : what##_plain)
#else
#define PICK(what) what##_plain
#endif

void tc_rescale_run(const tc_rescale *r, const void *x, size_t n, void *y, void *scratch)
{
    void (*widen_here)(tc_dtype, const void *, size_t, size_t, int32_t, int32_t *) = PICK(widen);
    size_t bytes = tc_dtypes[r->narrow.dtype].bytes;
    for (size_t at = 0; at < n; at += r->columns) {
        size_t some = n - at < r->columns ? n - at : r->columns;
        const int32_t *acc = r->from == TC_i32 ? (const int32_t *)x + at : scratch;
        if (r->from != TC_i32)
            widen_here(r->from, x, at, some, r->x_zero, scratch);
        tc_narrow_rows(&r->narrow, acc, some, 1, some, NULL, (uint8_t *)y + at * bytes);
    }
}

void tc_int_binary_run(const tc_int_binary *e, const int32_t *a, const int32_t *b, int32_t *y)
{
    PICK(binary)(e, a, b, y);
}
