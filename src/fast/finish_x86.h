/* SPDX-License-Identifier: Apache-2.0 */
/* finish_x86.h -- finish.h's formula on registers; included where sums are made. */
#ifndef TC_FINISH_X86_H
#define TC_FINISH_X86_H

#include "finish.h"

#ifdef TC_X86
#include <immintrin.h>

enum { TC_512_PANELS = 4, TC_512_ROWS = 12, TC_256_PANELS = 2, TC_256_ROWS = 6 };

TC_AVX512 TC_INLINE __m512i tc_load512(const void *p) { return _mm512_loadu_si512(p); }
TC_AVX2 TC_INLINE __m256i tc_load256(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Every row of one panel: sums to scaled sums. */
TC_AVX512 TC_INLINE void tc_scale512(const tc_group *g, __m512i (*acc)[TC_512_PANELS],
                                     const int rows, const int p, const bool left)
{
    __m512i m0 = tc_load512(g->m0 + 16 * p), m1 = tc_load512(g->m1 + 16 * p);
    __m512i half0 = tc_load512(g->half0 + 8 * p), half1 = tc_load512(g->half1 + 8 * p);
    __m512i left0 = tc_load512(g->left0 + 8 * p), left1 = tc_load512(g->left1 + 8 * p);
    __m512i right = tc_load512(g->right + 16 * p);
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++) {
        __m512i v = acc[r][p];
        __m512i even = _mm512_add_epi64(_mm512_mul_epi32(v, m0), half0);
        __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(v, 32), m1), half1);
        if (left) {
            even = _mm512_sllv_epi64(even, left0);
            odd = _mm512_sllv_epi64(odd, left1);
        }
        v = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
        acc[r][p] = _mm512_srav_epi32(v, right);
    }
}

/* The bytes of one row, in order, from the first. */
TC_AVX512 TC_INLINE __m512i tc_bytes512(const __m512i *v, const int panels)
{
    if (panels == 1)
        return _mm512_castsi128_si512(_mm512_cvtsepi32_epi8(v[0]));
    if (panels == 2)
        return _mm512_castsi256_si512(_mm512_cvtsepi16_epi8(_mm512_packs_epi32(v[0], v[1])));
    if (panels == 3) {
        const __m512i three =
            _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
        __m512i all = _mm512_packs_epi16(_mm512_packs_epi32(v[0], v[1]),
                                         _mm512_packs_epi32(v[2], v[2]));
        return _mm512_permutexvar_epi32(three, all);
    }
    return _mm512_packs_epi16(_mm512_packs_epi32(v[0], v[1]), _mm512_packs_epi32(v[2], v[3]));
}

TC_AVX512 TC_INLINE void tc_store512(const tc_group *g, __m512i bytes, const int panels, uint8_t *y)
{
    if (g->columns < (size_t)panels * 16)
        _mm512_mask_storeu_epi8(y, (UINT64_C(1) << g->columns) - 1, bytes);
    else if (panels == 4)
        _mm512_storeu_si512(y, bytes);
    else if (panels == 1)
        _mm_storeu_si128((__m128i *)(void *)y, _mm512_castsi512_si128(bytes));
    else {
        _mm256_storeu_si256((__m256i *)(void *)y, _mm512_castsi512_si256(bytes));
        if (panels == 3)
            _mm_storeu_si128((__m128i *)(void *)(y + 32), _mm512_extracti32x4_epi32(bytes, 2));
    }
}

/* Words of one row to y: lanes of four columns from each panel in turn. */
TC_AVX512 TC_INLINE void tc_words512(const tc_finish *f, const tc_group *g, const __m512i *v,
                                     const int panels, uint8_t *y)
{
    int16_t word[TC_512_PANELS * 16];
    if (panels == 1) {
        _mm256_storeu_si256((__m256i *)(void *)word, _mm512_cvtsepi32_epi16(v[0]));
    } else if (panels == 2) {
        _mm512_storeu_si512(word, _mm512_packs_epi32(v[0], v[1]));
    } else { /* eight columns a lane; with three panels the last four of each second are none */
        __m512i a = _mm512_packs_epi32(v[0], v[1]);
        __m512i b = _mm512_packs_epi32(v[2], v[panels - 1]);
        const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                      high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        const __m512i low3 = _mm512_setr_epi64(0, 1, 8, 2, 3, 10, 4, 5),
                      high3 = _mm512_setr_epi64(12, 6, 7, 14, 0, 0, 0, 0);
        _mm512_storeu_si512(word, _mm512_permutex2var_epi64(a, panels == 3 ? low3 : low, b));
        _mm512_storeu_si512(word + 32, _mm512_permutex2var_epi64(a, panels == 3 ? high3 : high, b));
    }
    const __m512i lo = _mm512_set1_epi16((short)f->narrow.lo),
                  hi = _mm512_set1_epi16((short)f->narrow.hi);
    int16_t *to = (int16_t *)(void *)y + g->first;
#pragma GCC unroll 2
    for (int at = 0; at < panels * 16; at += 32) {
        __m512i all = _mm512_min_epi16(_mm512_max_epi16(tc_load512(word + at), lo), hi);
        size_t left = g->columns > (size_t)at ? g->columns - (size_t)at : 0;
        if (left >= 32)
            _mm512_storeu_si512(to + at, all);
        else
            _mm512_mask_storeu_epi16(to + at, (__mmask32)((UINT64_C(1) << left) - 1), all);
    }
}

/* rows x panels sums to rows of y. */
TC_AVX512 TC_INLINE void tc_finish512(const tc_finish *f, const tc_group *g,
                                      __m512i (*acc)[TC_512_PANELS], const int rows,
                                      const int panels, uint8_t *y)
{
    if (!f->quick || f->narrow.dtype == TC_i32) {
        int32_t sum[TC_512_ROWS * TC_512_PANELS * 16];
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                _mm512_storeu_si512(sum + (r * panels + p) * 16, acc[r][p]);
        tc_finish_slots(f, g, sum, (size_t)rows, y);
        return;
    }
#pragma GCC unroll 4
    for (int p = 0; p < panels; p++)
        if (g->shifts_left)
            tc_scale512(g, acc, rows, p, true);
        else
            tc_scale512(g, acc, rows, p, false);
    if (f->narrow.dtype == TC_i16) {
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
            tc_words512(f, g, acc[r], panels, y + (size_t)r * f->row_bytes);
        return;
    }
    const __m512i lo = _mm512_set1_epi8((char)f->narrow.lo),
                  hi = _mm512_set1_epi8((char)f->narrow.hi);
    y += g->first;
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++, y += f->row_bytes) {
        __m512i bytes = tc_bytes512(acc[r], panels);
        tc_store512(g, _mm512_min_epi8(_mm512_max_epi8(bytes, lo), hi), panels, y);
    }
}

TC_AVX2 TC_INLINE void tc_scale256(const tc_group *g, __m256i (*acc)[TC_256_PANELS],
                                   const int rows, const int p)
{
    __m256i m0 = tc_load256(g->m0 + 8 * p), m1 = tc_load256(g->m1 + 8 * p);
    __m256i half0 = tc_load256(g->half0 + 4 * p), half1 = tc_load256(g->half1 + 4 * p);
    __m256i left0 = tc_load256(g->left0 + 4 * p), left1 = tc_load256(g->left1 + 4 * p);
    __m256i right = tc_load256(g->right + 8 * p);
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++) {
        __m256i v = acc[r][p];
        __m256i even = _mm256_add_epi64(_mm256_mul_epi32(v, m0), half0);
        __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(v, 32), m1), half1);
        if (g->shifts_left) {
            even = _mm256_sllv_epi64(even, left0);
            odd = _mm256_sllv_epi64(odd, left1);
        }
        v = _mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xf5), odd, 0xaa);
        acc[r][p] = _mm256_srav_epi32(v, right);
    }
}

TC_AVX2 TC_INLINE void tc_store256(const tc_group *g, __m128i bytes, const int panels, uint8_t *y)
{
    if (g->columns < (size_t)panels * 8) {
        uint8_t some[16];
        _mm_storeu_si128((__m128i *)(void *)some, bytes);
        memcpy(y, some, g->columns);
    } else if (panels == 2) {
        _mm_storeu_si128((__m128i *)(void *)y, bytes);
    } else {
        _mm_storel_epi64((__m128i *)(void *)y, bytes);
    }
}

TC_AVX2 TC_INLINE void tc_finish256(const tc_finish *f, const tc_group *g,
                                    __m256i (*acc)[TC_256_PANELS], const int rows,
                                    const int panels, uint8_t *y)
{
    if (!f->quick || f->narrow.dtype == TC_i32) {
        int32_t sum[TC_256_ROWS * TC_256_PANELS * 8];
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
            for (int p = 0; p < panels; p++)
                _mm256_storeu_si256((__m256i *)(void *)(sum + (r * panels + p) * 8), acc[r][p]);
        tc_finish_slots(f, g, sum, (size_t)rows, y);
        return;
    }
#pragma GCC unroll 2
    for (int p = 0; p < panels; p++)
        tc_scale256(g, acc, rows, p);
    bool bytes = f->narrow.dtype == TC_i8;
    const __m128i lo = _mm_set1_epi8((char)f->narrow.lo), hi = _mm_set1_epi8((char)f->narrow.hi);
    const __m256i lo16 = _mm256_set1_epi16((short)f->narrow.lo),
                  hi16 = _mm256_set1_epi16((short)f->narrow.hi);
    y += g->first * (bytes ? 1 : 2);
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++, y += f->row_bytes) {
        __m256i words = _mm256_packs_epi32(acc[r][0], acc[r][panels - 1]);
        if (panels == 1) /* 0-3 0-3 4-7 4-7 */
            words = _mm256_permute4x64_epi64(words, 0x08);
        if (!bytes) {
            int16_t word[16];
            words = _mm256_min_epi16(_mm256_max_epi16(words, lo16), hi16);
            _mm256_storeu_si256((__m256i *)(void *)word, words);
            memcpy(y, word, g->columns * sizeof *word);
            continue;
        }
        __m128i byte = _mm_packs_epi16(_mm256_castsi256_si128(words),
                                        _mm256_extracti128_si256(words, 1));
        tc_store256(g, _mm_min_epi8(_mm_max_epi8(byte, lo), hi), panels, y);
    }
}
#endif

#endif
