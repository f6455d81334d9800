/* SPDX-License-Identifier: Apache-2.0 */
/* int8_narrow.c -- RESCALE with its CLAMP or TABLE, over rows of accumulators. */
#include "fast.h"
#include "int8.h"

/* One channel; the product is exact in 64 bits, the low 32 bits of the shifted sum are kept. */
TC_INLINE int32_t narrowed(const tc_narrow *n, int32_t acc, size_t c)
{
    int64_t wide = (int64_t)acc * n->multiplier[c] + (INT64_C(1) << (n->shift[c] - 1));
    int32_t v = (int32_t)((uint32_t)(uint64_t)(wide >> n->shift[c]) + (uint32_t)n->zero);
    v = v < n->lo ? n->lo : v;
    return v > n->hi ? n->hi : v;
}

/* Columns [from, n) of one row. */
TC_INLINE void row_plain(const tc_narrow *narrow, const int32_t *acc, size_t from, size_t n, void *y)
{
    switch (narrow->dtype) {
    case TC_i8:
        for (size_t c = from; c < n; c++)
            ((int8_t *)y)[c] = (int8_t)narrowed(narrow, acc[c], c);
        return;
    case TC_i16:
        for (size_t c = from; c < n; c++)
            ((int16_t *)y)[c] = (int16_t)narrowed(narrow, acc[c], c);
        return;
    default:
        for (size_t c = from; c < n; c++)
            ((int32_t *)y)[c] = narrowed(narrow, acc[c], c);
    }
}

#ifdef TC_X86
#include <immintrin.h>

/* Up to sixteen channels: even and odd lanes as two vectors of 64-bit products. */
TC_AVX512 TC_INLINE __m512i narrow16(const tc_narrow *n, const int32_t *acc, size_t c, __mmask16 in)
{
    __m512i v = _mm512_maskz_loadu_epi32(in, acc + c), m = _mm512_loadu_si512(n->multiplier + c);
    __m512i s = _mm512_loadu_si512(n->shift + c), one = _mm512_set1_epi64(1);
    __m512i s0 = _mm512_and_si512(s, _mm512_set1_epi64(63)), s1 = _mm512_srli_epi64(s, 32);
    __m512i p0 = _mm512_mul_epi32(v, m);
    __m512i p1 = _mm512_mul_epi32(_mm512_srli_epi64(v, 32), _mm512_srli_epi64(m, 32));
    p0 = _mm512_add_epi64(p0, _mm512_sllv_epi64(one, _mm512_sub_epi64(s0, one)));
    p1 = _mm512_add_epi64(p1, _mm512_sllv_epi64(one, _mm512_sub_epi64(s1, one)));
    p0 = _mm512_srav_epi64(p0, s0);
    p1 = _mm512_slli_epi64(_mm512_srav_epi64(p1, s1), 32);
    __m512i r = _mm512_mask_blend_epi32(0xaaaa, p0, p1);
    r = _mm512_add_epi32(r, _mm512_set1_epi32(n->zero));
    r = _mm512_max_epi32(r, _mm512_set1_epi32(n->lo));
    return _mm512_min_epi32(r, _mm512_set1_epi32(n->hi));
}

TC_AVX512 static void row_avx512(const tc_narrow *narrow, const int32_t *acc, size_t n, void *y)
{
    for (size_t c = 0; c < n; c += 16) {
        __mmask16 in = (__mmask16)(n - c >= 16 ? 0xffffu : (1u << (n - c)) - 1);
        __m512i r = narrow16(narrow, acc, c, in);
        if (narrow->dtype == TC_i8)
            _mm512_mask_cvtepi32_storeu_epi8((int8_t *)y + c, in, r);
        else if (narrow->dtype == TC_i16)
            _mm512_mask_cvtepi32_storeu_epi16((int16_t *)y + c, in, r);
        else
            _mm512_mask_storeu_epi32((int32_t *)y + c, in, r);
    }
}

TC_AVX2 static void row_avx2(const tc_narrow *narrow, const int32_t *acc, size_t n, void *y)
{
    row_plain(narrow, acc, 0, n, y);
}
#endif

void tc_narrow_rows(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows, size_t n,
                    void *y, size_t y_ld)
{
    size_t bytes = tc_dtypes[narrow->dtype].bytes;
    tc_isa isa = tc_fast_isa();
    for (size_t r = 0; r < rows; r++) {
        uint8_t *to = (uint8_t *)y + r * y_ld * bytes;
#ifdef TC_X86
        if (tc_isa_is_avx512(isa))
            row_avx512(narrow, acc + r * ld, n, to);
        else if (isa == TC_ISA_avx2)
            row_avx2(narrow, acc + r * ld, n, to);
        else
#endif
            row_plain(narrow, acc + r * ld, 0, n, to);
        if (narrow->table)
            for (size_t c = 0; c < n; c++)
                to[c] = (uint8_t)narrow->table[(int8_t)to[c] + 128];
    }
    (void)isa;
}
