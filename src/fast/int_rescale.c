/* SPDX-License-Identifier: Apache-2.0 */
/* int_rescale.c -- RESCALE over a whole tensor; one scale for all of it stays in registers. */
#include "int_eltwise.h"

#include "finish_x86.h"

enum { MOST_SHIFT = 54 };

tc_rescale ti_rescale_make(tc_dtype from, int32_t x_zero, size_t columns, bool per_channel,
                           const tc_narrow *narrow)
{
    tc_rescale r = {.from = from, .x_zero = x_zero, .columns = columns, .narrow = *narrow};
    int32_t shift = narrow->shift[0];
    r.alike = !per_channel && shift <= MOST_SHIFT && narrow->zero >= -128 && narrow->zero <= 127;
    r.m = narrow->multiplier[0];
    r.left = shift < 32 ? 32 - shift : 0;
    r.right = shift < 32 ? 0 : shift - 32;
    if (r.alike)
        r.half = (INT64_C(1) << (shift - 1)) + narrow->zero * (INT64_C(1) << shift);
    return r;
}

/* x - zero as 32 bits. */
TC_INLINE int32_t element(tc_dtype from, const void *x, size_t i, int32_t zero)
{
    if (from == TC_i8)
        return ((const int8_t *)x)[i] - zero;
    if (from == TC_i16)
        return ((const int16_t *)x)[i] - zero;
    return (int32_t)((uint32_t)((const int32_t *)x)[i] - (uint32_t)zero);
}

TC_INLINE void put(tc_dtype to, void *y, size_t i, int32_t v)
{
    if (to == TC_i8)
        ((int8_t *)y)[i] = (int8_t)v;
    else if (to == TC_i16)
        ((int16_t *)y)[i] = (int16_t)v;
    else
        ((int32_t *)y)[i] = v;
}

/* From element `at` on, one by one. */
TC_INLINE void alike_from(const tc_rescale *r, const void *x, size_t at, size_t n, void *y)
{
    for (size_t i = at; i < n; i++) {
        uint64_t p = (uint64_t)((int64_t)element(r->from, x, i, r->x_zero) * r->m + r->half);
        int32_t v = (int32_t)((int64_t)(p << r->left) >> 32) >> r->right;
        v = v < r->narrow.lo ? r->narrow.lo : v > r->narrow.hi ? r->narrow.hi : v;
        put(r->narrow.dtype, y, i, v);
    }
}

static void alike_plain(const tc_rescale *r, const void *x, size_t n, void *y)
{
    alike_from(r, x, 0, n, y);
}

static void widen(tc_dtype from, const void *x, size_t at, size_t n, int32_t zero, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = element(from, x, at + i, zero);
}

#ifdef TC_X86

TC_AVX512 TC_INLINE __m512i load512(tc_dtype from, const void *x, size_t i)
{
    if (from == TC_i8)
        return _mm512_cvtepi8_epi32(
            _mm_loadu_si128((const __m128i *)(const void *)((const int8_t *)x + i)));
    if (from == TC_i16)
        return _mm512_cvtepi16_epi32(
            _mm256_loadu_si256((const __m256i *)(const void *)((const int16_t *)x + i)));
    return ti_load512((const int32_t *)x + i);
}

TC_AVX512 TC_INLINE void store512(tc_dtype to, void *y, size_t i, __m512i v)
{
    if (to == TC_i8)
        _mm_storeu_si128((__m128i *)(void *)((int8_t *)y + i), _mm512_cvtepi32_epi8(v));
    else if (to == TC_i16)
        _mm256_storeu_si256((__m256i *)(void *)((int16_t *)y + i), _mm512_cvtepi32_epi16(v));
    else
        ti_put512((int32_t *)y + i, v);
}

TC_AVX2 TC_INLINE __m256i load256(tc_dtype from, const void *x, size_t i)
{
    if (from == TC_i8)
        return _mm256_cvtepi8_epi32(
            _mm_loadl_epi64((const __m128i *)(const void *)((const int8_t *)x + i)));
    if (from == TC_i16)
        return _mm256_cvtepi16_epi32(
            _mm_loadu_si128((const __m128i *)(const void *)((const int16_t *)x + i)));
    return ti_load256((const int32_t *)x + i);
}

TC_AVX2 TC_INLINE void store256(tc_dtype to, void *y, size_t i, __m256i v)
{
    __m128i word = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    if (to == TC_i8)
        _mm_storel_epi64((__m128i *)(void *)((int8_t *)y + i), _mm_packs_epi16(word, word));
    else if (to == TC_i16)
        _mm_storeu_si128((__m128i *)(void *)((int16_t *)y + i), word);
    else
        ti_put256((int32_t *)y + i, v);
}

#define all64_512 _mm512_set1_epi64
#define all64_256 _mm256_set1_epi64x
#define WIDTH 512
#include "int_rescale_body.h"
#define WIDTH 256
#include "int_rescale_body.h"

/* A loop for each pair of types. */
#define PAIR(level, type, to)                                                                      \
    if (r->from == (type) && r->narrow.dtype == (to)) {                                            \
        alike_##level(r, type, to, x, n, y);                                                       \
        return;                                                                                    \
    }
#define FROM(level, type)                                                                          \
    PAIR(level, type, TC_i8) PAIR(level, type, TC_i16) PAIR(level, type, TC_i32)
#define LEVEL(level, target)                                                                       \
    target static void alike_all_##level(const tc_rescale *r, const void *x, size_t n, void *y)    \
    {                                                                                              \
        FROM(level, TC_i8) FROM(level, TC_i16) FROM(level, TC_i32)                                 \
    }
LEVEL(512, TC_AVX512)
LEVEL(256, TC_AVX2)
#endif

static void run_alike(const tc_rescale *r, const void *x, size_t n, void *y)
{
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()))
        alike_all_512(r, x, n, y);
    else if (ti_isa() == TC_ISA_avx2)
        alike_all_256(r, x, n, y);
    else
#endif
        alike_plain(r, x, n, y);
    if (r->narrow.table)
        ti_table8_run(r->narrow.table, y, y, n);
}

void ti_rescale_run(const tc_rescale *r, const void *x, size_t n, void *y, void *scratch)
{
    if (r->alike) {
        run_alike(r, x, n, y);
        return;
    }
    size_t bytes = tc_dtypes[r->narrow.dtype].bytes;
    for (size_t at = 0; at < n; at += r->columns) {
        size_t some = n - at < r->columns ? n - at : r->columns;
        const int32_t *acc = r->from == TC_i32 ? (const int32_t *)x + at : scratch;
        if (r->from != TC_i32)
            widen(r->from, x, at, some, r->x_zero, scratch);
        ti_narrow_rows(&r->narrow, acc, some, 1, some, NULL, (uint8_t *)y + at * bytes);
    }
}
