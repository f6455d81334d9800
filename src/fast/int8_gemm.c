/* SPDX-License-Identifier: Apache-2.0 */
/* int8_gemm.c -- the inner product of bytes: 6 rows by 4 panels of 16 columns at a time in
 * registers, 32 by 2 in tiles. */
#include "fast.h"
#include "int8.h"

enum { MOST_ROWS = 6, MOST_PANELS = 4 };

static void gemm_plain(const uint8_t *a, size_t lda, int rows, const int8_t *b, size_t panel_bytes,
                       int panels, size_t k_quads, int32_t *c, size_t ldc)
{
    for (int p = 0; p < panels; p++)
        for (int r = 0; r < rows; r++) {
            const uint8_t *x = a + (size_t)r * lda;
            const int8_t *w = b + (size_t)p * panel_bytes;
            uint32_t sum[TC_PANEL] = {0};
            for (size_t q = 0; q < k_quads; q++, x += 4, w += 4 * TC_PANEL)
                for (int j = 0; j < TC_PANEL; j++)
                    sum[j] += (uint32_t)(x[0] * w[4 * j] + x[1] * w[4 * j + 1] +
                                         x[2] * w[4 * j + 2] + x[3] * w[4 * j + 3]);
            memcpy(c + (size_t)r * ldc + p * TC_PANEL, sum, sizeof sum);
        }
}

#ifdef TC_X86
#include <immintrin.h>

/* One dword of a row, in every lane. */
TC_INLINE int32_t dword(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

TC_AVX512 TC_INLINE void tile512(const uint8_t *a, size_t lda, const int rows, const int8_t *b,
                                 size_t panel_bytes, const int panels, size_t k_quads, int32_t *c,
                                 size_t ldc)
{
    __m512i acc[MOST_ROWS][MOST_PANELS];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            acc[r][p] = _mm512_setzero_si512();
    for (size_t q = 0; q < k_quads; q++) {
        __m512i w[MOST_PANELS];
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            w[p] = _mm512_loadu_si512(b + (size_t)p * panel_bytes + q * 64);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            __m512i x = _mm512_set1_epi32(dword(a + (size_t)r * lda + 4 * q));
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                acc[r][p] = _mm512_dpbusd_epi32(acc[r][p], x, w[p]);
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            _mm512_storeu_si512(c + (size_t)r * ldc + p * TC_PANEL, acc[r][p]);
}

/* Every number of rows and panels is a loop of its own, unrolled. */
#define ROWS(R)                                                                                    \
    case R:                                                                                        \
        switch (panels) {                                                                          \
        case 4:                                                                                    \
            tile512(a, lda, R, b, panel_bytes, 4, k_quads, c, ldc);                                \
            return;                                                                                \
        case 3:                                                                                    \
            tile512(a, lda, R, b, panel_bytes, 3, k_quads, c, ldc);                                \
            return;                                                                                \
        case 2:                                                                                    \
            tile512(a, lda, R, b, panel_bytes, 2, k_quads, c, ldc);                                \
            return;                                                                                \
        default:                                                                                   \
            tile512(a, lda, R, b, panel_bytes, 1, k_quads, c, ldc);                                \
            return;                                                                                \
        }

TC_AVX512 static void gemm_avx512(const uint8_t *a, size_t lda, int rows, const int8_t *b,
                                  size_t panel_bytes, int panels, size_t k_quads, int32_t *c,
                                  size_t ldc)
{
    switch (rows) {
        ROWS(6)
        ROWS(5)
        ROWS(4)
        ROWS(3)
        ROWS(2)
        ROWS(1)
    default:
        return;
    }
}

/* Without dot products of bytes: both sides widened to 16 bits, pairs summed exactly.
 * Eight columns' quads are two registers of four columns; their halves are joined at the end. */
TC_AVX2 static void gemm_avx2(const uint8_t *a, size_t lda, int rows, const int8_t *b,
                              size_t panel_bytes, int panels, size_t k_quads, int32_t *c,
                              size_t ldc)
{
    for (int p = 0; p < panels; p++)
        for (int r = 0; r < rows; r += 2) {
            bool two = r + 1 < rows;
            const uint8_t *x0 = a + (size_t)r * lda, *x1 = two ? x0 + lda : x0;
            const int8_t *w = b + (size_t)p * panel_bytes;
            __m256i s0[4], s1[4];
            for (int i = 0; i < 4; i++)
                s0[i] = s1[i] = _mm256_setzero_si256();
            for (size_t q = 0; q < k_quads; q++, w += 64) {
                __m256i y0 = _mm256_broadcastq_epi64(
                    _mm_cvtepu8_epi16(_mm_cvtsi32_si128(dword(x0 + 4 * q))));
                __m256i y1 = _mm256_broadcastq_epi64(
                    _mm_cvtepu8_epi16(_mm_cvtsi32_si128(dword(x1 + 4 * q))));
                for (int i = 0; i < 4; i++) {
                    __m256i v = _mm256_cvtepi8_epi16(
                        _mm_loadu_si128((const __m128i *)(const void *)(w + 16 * i)));
                    s0[i] = _mm256_add_epi32(s0[i], _mm256_madd_epi16(y0, v));
                    s1[i] = _mm256_add_epi32(s1[i], _mm256_madd_epi16(y1, v));
                }
            }
            for (int i = 0; i < 4;
                 i += 2) { /* (a0 a1)(b0 b1).. pairs to sums, back in column order */
                __m256i h0 = _mm256_permute4x64_epi64(_mm256_hadd_epi32(s0[i], s0[i + 1]), 0xd8);
                __m256i h1 = _mm256_permute4x64_epi64(_mm256_hadd_epi32(s1[i], s1[i + 1]), 0xd8);
                int32_t *to = c + (size_t)r * ldc + p * TC_PANEL + 4 * i;
                _mm256_storeu_si256((__m256i *)(void *)to, h0);
                if (two)
                    _mm256_storeu_si256((__m256i *)(void *)(to + ldc), h1);
            }
        }
}

/* Eight tiles of 16 rows of 64 bytes: 0-3 the sums of 32 rows by 32 columns, 4-5 rows of a, 6-7
 * panels of b. */
#define TC_AMX __attribute__((target("amx-tile,amx-int8")))

TC_AMX static void gemm_amx(const tc_gemm8 *g)
{
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        config.bytes[t] = 64;
        config.rows[t] = 16;
    }
    _tile_loadconfig(&config);
    size_t panel_bytes = g->quads * 64, lda = g->lda, ldc = g->ldc * sizeof(int32_t);
    for (size_t p = 0; p < g->panels; p += 2) {
        bool two = p + 1 < g->panels;
        for (size_t r = 0; r < g->rows; r += 32) {
            bool low = r + 16 < g->rows;
            const uint8_t *a = g->a + r * lda;
            const int8_t *b = g->b + p * panel_bytes;
            int32_t *c = g->c + r * g->ldc + p * TC_PANEL;
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            for (size_t k = 0; k < panel_bytes; k += 1024, a += 64, b += 1024) {
                _tile_loadd(4, a, lda);
                _tile_loadd(6, b, 64);
                _tile_dpbusd(0, 4, 6);
                if (two) {
                    _tile_loadd(7, b + panel_bytes, 64);
                    _tile_dpbusd(1, 4, 7);
                }
                if (low) {
                    _tile_loadd(5, a + 16 * lda, lda);
                    _tile_dpbusd(2, 5, 6);
                    if (two)
                        _tile_dpbusd(3, 5, 7);
                }
            }
            _tile_stored(0, c, ldc);
            if (two)
                _tile_stored(1, c + TC_PANEL, ldc);
            if (low)
                _tile_stored(2, c + 16 * g->ldc, ldc);
            if (low && two)
                _tile_stored(3, c + 16 * g->ldc + TC_PANEL, ldc);
        }
    }
    _tile_release();
}
#endif

#if defined(__aarch64__)
#include <arm_neon.h>

/* Both sides widened to 16 bits; four columns a register. */
static void gemm_neon(const uint8_t *a, size_t lda, int rows, const int8_t *b, size_t panel_bytes,
                      int panels, size_t k_quads, int32_t *c, size_t ldc)
{
    for (int p = 0; p < panels; p++)
        for (int r = 0; r < rows; r++) {
            const uint8_t *x = a + (size_t)r * lda;
            const int8_t *w = b + (size_t)p * panel_bytes;
            int32x4_t sum[TC_PANEL / 4];
            for (int i = 0; i < TC_PANEL / 4; i++)
                sum[i] = vdupq_n_s32(0);
            for (size_t q = 0; q < k_quads; q++, x += 4, w += 4 * TC_PANEL)
                for (int i = 0; i < TC_PANEL / 4; i++) {
                    int8x16_t v = vld1q_s8(w + 16 * i);
                    int16x8_t lo = vmovl_s8(vget_low_s8(v)), hi = vmovl_s8(vget_high_s8(v));
                    int16x4_t y = {x[0], x[1], x[2], x[3]};
                    int32x4_t p0 = vmull_s16(vget_low_s16(lo), y),
                              p1 = vmull_s16(vget_high_s16(lo), y);
                    int32x4_t p2 = vmull_s16(vget_low_s16(hi), y),
                              p3 = vmull_s16(vget_high_s16(hi), y);
                    sum[i] = vaddq_s32(sum[i], vpaddq_s32(vpaddq_s32(p0, p1), vpaddq_s32(p2, p3)));
                }
            for (int i = 0; i < TC_PANEL / 4; i++)
                vst1q_s32(c + (size_t)r * ldc + p * TC_PANEL + 4 * i, sum[i]);
        }
}
#endif

typedef void block(const uint8_t *a, size_t lda, int rows, const int8_t *b, size_t panel_bytes,
                   int panels, size_t k_quads, int32_t *c, size_t ldc);

static block *block_here(void)
{
    switch (tc_fast_isa()) {
#ifdef TC_X86
    case TC_ISA_avx512:
        return gemm_avx512;
    case TC_ISA_avx2:
        return gemm_avx2;
#endif
#if defined(__aarch64__)
    case TC_ISA_neon:
        return gemm_neon;
#endif
    default:
        return gemm_plain;
    }
}

void tc_gemm8_run(const tc_gemm8 *g)
{
#ifdef TC_X86
    if (tc_fast_isa() == TC_ISA_amx) {
        gemm_amx(g);
        return;
    }
#endif
    block *here = block_here();
    size_t panel_bytes = g->quads * 64;
    for (size_t p = 0; p < g->panels; p += MOST_PANELS) {
        int some = (int)tc_min_i64(MOST_PANELS, (int64_t)(g->panels - p));
        for (size_t r = 0; r < g->rows; r += MOST_ROWS) {
            int lines = (int)tc_min_i64(MOST_ROWS, (int64_t)(g->rows - r));
            here(g->a + r * g->lda, g->lda, lines, g->b + p * panel_bytes, panel_bytes, some,
                 g->quads, g->c + r * g->ldc + p * TC_PANEL, g->ldc);
        }
    }
}
