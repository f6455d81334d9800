/* SPDX-License-Identifier: Apache-2.0 */
/* int16_sum.c -- 48-bit sums from partial sums. */
#include "int16.h"

#include "../base/isa.h"

bool ti_sum16_fits(const int8_t *w, size_t n, size_t apart, int64_t bias)
{
    const int64_t most = INT32_MAX;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += w[i * apart] < 0 ? -w[i * apart] : w[i * apart];
    return bias <= most && bias >= -most && sum * 32768 + (bias < 0 ? -bias : bias) <= most;
}

TC_INLINE void add(int64_t *sum, const int32_t *part, size_t n, int left)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += (int64_t)part[i] * (INT64_C(1) << left);
}

TC_INLINE void scale(const tc_narrow *narrow, const int64_t *restrict sum, size_t n,
                     int64_t *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        int64_t half = INT64_C(1) << (narrow->shift[i] - 1);
        int64_t v = ((sum[i] * narrow->multiplier[i] + half) >> narrow->shift[i]) + narrow->zero;
        v = v < narrow->lo ? narrow->lo : v;
        y[i] = v > narrow->hi ? narrow->hi : v;
    }
}

TC_INLINE void put(tc_dtype dtype, const int64_t *sum, size_t n, uint8_t *y)
{
    if (dtype == TC_i8)
        for (size_t i = 0; i < n; i++)
            ((int8_t *)y)[i] = (int8_t)sum[i];
    else if (dtype == TC_i16)
        for (size_t i = 0; i < n; i++)
            ((int16_t *)(void *)y)[i] = (int16_t)sum[i];
    else
        for (size_t i = 0; i < n; i++)
            ((int32_t *)(void *)y)[i] = (int32_t)sum[i];
}

TC_INLINE void finish(const tc_narrow *narrow, const int64_t *sum, size_t rows, size_t n,
                      uint8_t *y)
{
    enum { AT_ONCE = 64 };
    int64_t some[AT_ONCE];
    size_t bytes = tc_dtypes[narrow->dtype].bytes;
    for (size_t r = 0; r < rows; r++, sum += n, y += n * bytes)
        for (size_t at = 0; at < n; at += AT_ONCE) {
            size_t k = n - at < AT_ONCE ? n - at : AT_ONCE;
            tc_narrow part = *narrow;
            part.multiplier += at;
            part.shift += at;
            scale(&part, sum + at, k, some);
            put(narrow->dtype, some, k, y + at * bytes);
        }
}

#define LEVEL(name, target)                                                                        \
    target static void add_##name(int64_t *sum, const int32_t *part, size_t n, int left)           \
    {                                                                                              \
        add(sum, part, n, left);                                                                   \
    }                                                                                              \
    target static void finish_##name(const tc_narrow *narrow, const int64_t *sum, size_t rows,     \
                                     size_t n, uint8_t *y)                                         \
    {                                                                                              \
        finish(narrow, sum, rows, n, y);                                                           \
    }
LEVEL(plain, )
#ifdef TC_X86
LEVEL(avx2, TC_AVX2)
LEVEL(avx512, TC_AVX512)
#define PICK(what)                                                                                 \
    (ti_isa_is_avx512(ti_isa()) ? what##_avx512                                               \
     : ti_isa() == TC_ISA_avx2  ? what##_avx2                                                 \
                                     : what##_plain)
#else
#define PICK(what) what##_plain
#endif

void ti_sum48_add(int64_t *sum, const int32_t *part, size_t n, int left)
{
    PICK(add)(sum, part, n, left);
}

void ti_sum48_finish(const tc_narrow *narrow, const int64_t *sum, size_t rows, size_t n, uint8_t *y)
{
    if (narrow)
        PICK(finish)(narrow, sum, rows, n, y);
    else
        memcpy(y, sum, rows * n * sizeof *sum);
}
