/* SPDX-License-Identifier: Apache-2.0 */
/* pair_sum.c -- see pair_sum.h.  Every version gives the same bits: integers, and none overflows. */
#include "pair_sum.h"

#include <string.h>

enum { LANES = TC_PAIR_LANES, PIXELS = TC_PAIR_PIXELS };

#if defined(__x86_64__)
#include <immintrin.h>

/* A pair in every lane. */
static inline int32_t pair_at(const int16_t *x)
{
    int32_t pair;
    memcpy(&pair, x, sizeof pair);
    return pair;
}

__attribute__((target("avx512f,avx512bw"))) static void sum_512(const tc_pair_task *t,
                                                                int32_t out[PIXELS][LANES])
{
    const int16_t *w = t->weight;
    __m512i acc[PIXELS];
    for (int p = 0; p < PIXELS; p++)
        acc[p] = _mm512_setzero_si512();
    for (int32_t r = 0; r < t->n; r++) {
        const int16_t *x = t->from + t->run[r];
        for (int64_t k = 0; k < t->k; k++, x += 2, w += 2 * LANES) {
            __m512i weight = _mm512_loadu_si512(w);
            for (int p = 0; p < PIXELS; p++)
                acc[p] = _mm512_add_epi32(
                    acc[p], _mm512_madd_epi16(_mm512_set1_epi32(pair_at(x + p * t->pixel)), weight));
        }
    }
    for (int p = 0; p < PIXELS; p++)
        _mm512_storeu_si512(out[p], acc[p]);
}

__attribute__((target("avx2"))) static void sum_256(const tc_pair_task *t,
                                                    int32_t out[PIXELS][LANES])
{
    const int16_t *w = t->weight;
    __m256i acc[PIXELS][2];
    for (int p = 0; p < PIXELS; p++)
        acc[p][0] = acc[p][1] = _mm256_setzero_si256();
    for (int32_t r = 0; r < t->n; r++) {
        const int16_t *x = t->from + t->run[r];
        for (int64_t k = 0; k < t->k; k++, x += 2, w += 2 * LANES) {
            __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)w),
                    high = _mm256_loadu_si256((const __m256i *)(const void *)(w + LANES));
            for (int p = 0; p < PIXELS; p++) {
                __m256i pair = _mm256_set1_epi32(pair_at(x + p * t->pixel));
                acc[p][0] = _mm256_add_epi32(acc[p][0], _mm256_madd_epi16(pair, low));
                acc[p][1] = _mm256_add_epi32(acc[p][1], _mm256_madd_epi16(pair, high));
            }
        }
    }
    for (int p = 0; p < PIXELS; p++)
        for (int h = 0; h < 2; h++)
            _mm256_storeu_si256((__m256i *)(void *)(out[p] + 8 * h), acc[p][h]);
}
#endif

static void sum_plain(const tc_pair_task *t, int32_t out[PIXELS][LANES])
{
    const int16_t *w = t->weight;
    memset(out, 0, PIXELS * sizeof *out);
    for (int32_t r = 0; r < t->n; r++) {
        const int16_t *x = t->from + t->run[r];
        for (int64_t k = 0; k < t->k; k++, x += 2, w += 2 * LANES)
            for (int p = 0; p < PIXELS; p++)
                for (int j = 0; j < LANES; j++)
                    out[p][j] += x[p * t->pixel] * w[2 * j] + x[p * t->pixel + 1] * w[2 * j + 1];
    }
}

void ti_pair_sum(const tc_pair_task *t, int32_t out[PIXELS][LANES])
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw")) {
        sum_512(t, out);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        sum_256(t, out);
        return;
    }
#endif
    sum_plain(t, out);
}
