/* SPDX-License-Identifier: Apache-2.0 */
/* int8_narrow.c -- RESCALE with its CLAMP or TABLE, over rows of accumulators. */
#include "../base/isa.h"
#include "int8.h"

/* One channel; the product is exact in 64 bits, the low 32 bits of the shifted sum are kept. */
TC_INLINE int32_t narrowed(const tc_narrow *n, int32_t acc, size_t c)
{
    int64_t wide = (int64_t)acc * n->multiplier[c] + (INT64_C(1) << (n->shift[c] - 1));
    int32_t v = (int32_t)((uint32_t)(uint64_t)(wide >> n->shift[c]) + (uint32_t)n->zero);
    v = v < n->lo ? n->lo : v;
    return v > n->hi ? n->hi : v;
}

TC_INLINE int32_t begun(int32_t acc, const int32_t *start, size_t c)
{
    return start ? (int32_t)((uint32_t)acc + (uint32_t)start[c]) : acc;
}

TC_INLINE void rows_any(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows,
                        size_t n, const int32_t *start, void *y)
{
    for (size_t r = 0; r < rows; r++, acc += ld)
        for (size_t c = 0; c < n; c++) {
            int32_t v = narrowed(narrow, begun(acc[c], start, c), c);
            if (narrow->dtype == TC_i8)
                ((int8_t *)y)[r * n + c] = (int8_t)v;
            else if (narrow->dtype == TC_i16)
                ((int16_t *)y)[r * n + c] = (int16_t)v;
            else
                ((int32_t *)y)[r * n + c] = v;
        }
}

static void rows_plain(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows,
                       size_t n, const int32_t *start, void *y)
{
    rows_any(narrow, acc, ld, rows, n, start, y);
}

#ifdef TC_X86
#include <immintrin.h>

TC_AVX2 static void rows_avx2(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows,
                              size_t n, const int32_t *start, void *y)
{
    rows_any(narrow, acc, ld, rows, n, start, y);
}

/* Sixteen channels of every row at a time: even and odd lanes as two vectors of 64-bit products. */
TC_AVX512 static void rows_avx512(const tc_narrow *n, const int32_t *acc, size_t ld, size_t rows,
                                  size_t columns, const int32_t *start, void *y)
{
    const __m512i one = _mm512_set1_epi64(1), zero = _mm512_set1_epi32(n->zero);
    const __m512i lo = _mm512_set1_epi32(n->lo), hi = _mm512_set1_epi32(n->hi);
    for (size_t c = 0; c < columns; c += 16) {
        __mmask16 in = (__mmask16)(columns - c >= 16 ? 0xffffu : (1u << (columns - c)) - 1);
        __m512i m0 = _mm512_loadu_si512(n->multiplier + c), m1 = _mm512_srli_epi64(m0, 32);
        __m512i s = _mm512_loadu_si512(n->shift + c);
        __m512i s0 = _mm512_and_si512(s, _mm512_set1_epi64(63)), s1 = _mm512_srli_epi64(s, 32);
        __m512i half0 = _mm512_sllv_epi64(one, _mm512_sub_epi64(s0, one));
        __m512i half1 = _mm512_sllv_epi64(one, _mm512_sub_epi64(s1, one));
        __m512i from = start ? _mm512_loadu_si512(start + c) : _mm512_setzero_si512();
        for (size_t r = 0; r < rows; r++) {
            __m512i v = _mm512_add_epi32(_mm512_maskz_loadu_epi32(in, acc + r * ld + c), from);
            __m512i p0 = _mm512_add_epi64(_mm512_mul_epi32(v, m0), half0);
            __m512i p1 = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(v, 32), m1), half1);
            p0 = _mm512_srav_epi64(p0, s0);
            p1 = _mm512_slli_epi64(_mm512_srav_epi64(p1, s1), 32);
            v = _mm512_add_epi32(_mm512_mask_blend_epi32(0xaaaa, p0, p1), zero);
            v = _mm512_min_epi32(_mm512_max_epi32(v, lo), hi);
            if (n->dtype == TC_i8)
                _mm512_mask_cvtepi32_storeu_epi8((int8_t *)y + r * columns + c, in, v);
            else if (n->dtype == TC_i16)
                _mm512_mask_cvtepi32_storeu_epi16((int16_t *)y + r * columns + c, in, v);
            else
                _mm512_mask_storeu_epi32((int32_t *)y + r * columns + c, in, v);
        }
    }
}
#endif

void ti_narrow_rows(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows, size_t n,
                    const int32_t *start, void *y)
{
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()))
        rows_avx512(narrow, acc, ld, rows, n, start, y);
    else if (ti_isa() == TC_ISA_avx2)
        rows_avx2(narrow, acc, ld, rows, n, start, y);
    else
#endif
        rows_plain(narrow, acc, ld, rows, n, start, y);
    if (narrow->table)
        for (size_t i = 0; i < rows * n; i++)
            ((int8_t *)y)[i] = narrow->table[((int8_t *)y)[i] + 128];
}
