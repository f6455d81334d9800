/* SPDX-License-Identifier: Apache-2.0 */
/* finish_x86.h -- finish.h's formula on registers; included where sums are computed. */
#ifndef TC_FINISH_X86_H
#define TC_FINISH_X86_H

#include "finish.h"

#ifdef TC_X86
#include <immintrin.h>

enum { TC_512_PANELS = 4, TC_512_ROWS = 12, TC_256_PANELS = 2, TC_256_ROWS = 6 };

TC_AVX512 TC_INLINE __m512i ti_load512(const void *p) { return _mm512_loadu_si512(p); }
TC_AVX2 TC_INLINE __m256i ti_load256(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

TC_AVX512 TC_INLINE void ti_put512(void *p, __m512i v) { _mm512_storeu_si512(p, v); }
TC_AVX2 TC_INLINE void ti_put256(void *p, __m256i v) { _mm256_storeu_si256((__m256i *)p, v); }

/* The high halves of 64-bit elements, interleaved. */
TC_AVX512 TC_INLINE __m512i ti_highs512(__m512i even, __m512i odd)
{
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
}
TC_AVX2 TC_INLINE __m256i ti_highs256(__m256i even, __m256i odd)
{
    return _mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xf5), odd, 0xaa);
}

/* acc + x . w of pairs of words, summed exactly; else of four bytes, those of x without sign. */
TC_AVX512 TC_INLINE __m512i ti_dot512(__m512i acc, __m512i x, __m512i w, const bool words)
{
    return words ? _mm512_dpwssd_epi32(acc, x, w) : _mm512_dpbusd_epi32(acc, x, w);
}
TC_AVX2 TC_INLINE __m256i ti_dot256(__m256i acc, __m256i x, __m256i w, const bool words)
{
    (void)words; /* there is no other case */
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, w));
}

/* The bytes of one row, in order, from the first. */
TC_AVX512 TC_INLINE __m512i ti_packed512(const __m512i *v, const int panels)
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

TC_AVX512 TC_INLINE void ti_bytes512(const tc_finish *f, const tc_group *g, const __m512i *v,
                                     const int panels, uint8_t *y)
{
    const __m512i lo = _mm512_set1_epi8((char)f->narrow.lo),
                  hi = _mm512_set1_epi8((char)f->narrow.hi);
    __m512i bytes = _mm512_min_epi8(_mm512_max_epi8(ti_packed512(v, panels), lo), hi);
    y += g->first;
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
TC_AVX512 TC_INLINE void ti_words512(const tc_finish *f, const tc_group *g, const __m512i *v,
                                     const int panels, uint8_t *y)
{
    int16_t word[TC_512_PANELS * 16];
    if (panels == 1) {
        _mm256_storeu_si256((__m256i *)(void *)word, _mm512_cvtsepi32_epi16(v[0]));
    } else if (panels == 2) {
        _mm512_storeu_si512(word, _mm512_packs_epi32(v[0], v[1]));
    } else { /* eight columns a lane; with three panels the last four of every second lane are
              * unused */
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
        __m512i all = _mm512_min_epi16(_mm512_max_epi16(ti_load512(word + at), lo), hi);
        size_t left = g->columns > (size_t)at ? g->columns - (size_t)at : 0;
        if (left >= 32)
            _mm512_storeu_si512(to + at, all);
        else
            _mm512_mask_storeu_epi16(to + at, (__mmask32)((UINT64_C(1) << left) - 1), all);
    }
}

/* The words of one row, in order. */
TC_AVX2 TC_INLINE __m256i ti_packed256(const __m256i *v, const int panels)
{
    __m256i words = _mm256_packs_epi32(v[0], v[panels - 1]);
    return panels == 1 ? _mm256_permute4x64_epi64(words, 0x08) : words; /* 0-3 0-3 4-7 4-7 */
}

TC_AVX2 TC_INLINE void ti_words256(const tc_finish *f, const tc_group *g, const __m256i *v,
                                   const int panels, uint8_t *y)
{
    const __m256i lo = _mm256_set1_epi16((short)f->narrow.lo),
                  hi = _mm256_set1_epi16((short)f->narrow.hi);
    int16_t word[16];
    ti_put256(word, _mm256_min_epi16(_mm256_max_epi16(ti_packed256(v, panels), lo), hi));
    memcpy(y + 2 * g->first, word, g->columns * sizeof *word);
}

TC_AVX2 TC_INLINE void ti_bytes256(const tc_finish *f, const tc_group *g, const __m256i *v,
                                   const int panels, uint8_t *y)
{
    const __m128i lo = _mm_set1_epi8((char)f->narrow.lo), hi = _mm_set1_epi8((char)f->narrow.hi);
    __m256i words = ti_packed256(v, panels);
    __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words),
                                    _mm256_extracti128_si256(words, 1));
    bytes = _mm_min_epi8(_mm_max_epi8(bytes, lo), hi);
    y += g->first;
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

#define WIDTH 512
#include "finish_body.h"
#define WIDTH 256
#include "finish_body.h"
#endif

#endif
