/* SPDX-License-Identifier: Apache-2.0 */
/* int8_depth.c -- DEPTHWISE_CONV2D of int8, one weight plane per channel.
 *
 *   sum (x - zx) w  =  sum x w  -  zx sum w
 *
 * with zx where the window leaves the image, so that every position has the same taps.  Taps are
 * taken in pairs: 16-bit products of two taps are summed exactly into 32 bits. */
#include "int8.h"

#include "fast.h"

enum { BLOCK = 32, MOST_TAPS = 1024, AT_ONCE = 16 };

struct tc_depth8 {
    int64_t n, ih, iw, c, oh, ow, kh, kw;
    int64_t pad_top, pad_left, stride_y, stride_x, dilation_y, dilation_x;
    size_t pairs, blocks;
    const int16_t *pair;  /* [block][pair][32][2], channels as `slot` places them */
    const int32_t *start; /* per channel, a whole number of blocks */
    int8_t outside;
    bool has_narrow;
    tc_narrow narrow;
};

/* Where channel j of a block stands: interleaving 16-bit lanes leaves channels 0-3 8-11 16-19 24-27
 * in one register and the others in the next. */
TC_INLINE size_t slot(size_t j)
{
    return j / 8 * 4 + j % 4 + (j % 8 < 4 ? 0 : BLOCK / 2);
}

tc_depth8 *tc_depth8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                         const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim; /* [kh, kw, c, 1] */
    int64_t taps = k[0] * k[1];
    if (k[3] != 1 || taps > MOST_TAPS)
        return NULL;
    tc_depth8 *d = tc_new(&ctx->arena, tc_depth8);
    *d = (tc_depth8){.n = x->dim[0], .ih = x->dim[1], .iw = x->dim[2], .c = x->dim[3],
                     .oh = y->dim[1], .ow = y->dim[2], .kh = k[0], .kw = k[1],
                     .pad_top = a->pad.v[0], .pad_left = a->pad.v[2],
                     .stride_y = a->stride.v[0], .stride_x = a->stride.v[1],
                     .dilation_y = a->dilation.v[0], .dilation_x = a->dilation.v[1],
                     .pairs = ((size_t)taps + 1) / 2, .outside = (int8_t)x_zero};
    size_t c = (size_t)d->c;
    d->blocks = (c + BLOCK - 1) / BLOCK;
    int16_t *pair = tc_new_n(&ctx->arena, int16_t, d->blocks * d->pairs * BLOCK * 2);
    int32_t *start = tc_new_n(&ctx->arena, int32_t, d->blocks * BLOCK);
    const int8_t *from = w.data;
    for (size_t j = 0; j < c; j++) {
        int32_t sum = 0;
        for (size_t t = 0; t < (size_t)taps; t++) {
            int8_t v = from[t * c + j];
            pair[((j / BLOCK * d->pairs + t / 2) * BLOCK + slot(j % BLOCK)) * 2 + t % 2] = v;
            sum += v;
        }
        uint32_t b = (uint32_t)((const int32_t *)bias.data)[bias.type->dim[0] == 1 ? 0 : j];
        start[j] = (int32_t)(b - (uint32_t)(x_zero * sum));
    }
    d->pair = pair;
    d->start = start;
    d->has_narrow = narrow != NULL;
    if (narrow)
        d->narrow = *narrow;
    return d;
}

size_t tc_depth8_scratch(const tc_depth8 *d)
{
    return d->blocks * BLOCK * (1 + AT_ONCE * sizeof(int32_t)) + 64;
}

/* The accumulators of up to 32 channels at one position. */
TC_INLINE void block_plain(const int8_t *const *tap, size_t pairs, size_t at, size_t n,
                           const int16_t *w, int32_t *acc)
{
    memset(acc, 0, BLOCK * sizeof *acc);
    for (size_t p = 0; p < pairs; p++, w += 2 * BLOCK) {
        const int8_t *x0 = tap[2 * p] + at, *x1 = tap[2 * p + 1] + at;
        for (size_t j = 0; j < n; j++)
            acc[j] = (int32_t)((uint32_t)acc[j] +
                               (uint32_t)(x0[j] * w[2 * slot(j)] + x1[j] * w[2 * slot(j) + 1]));
    }
}

#ifdef TC_X86
#include <immintrin.h>

TC_AVX512 static void block_avx512(const int8_t *const *tap, size_t pairs, size_t at, size_t n,
                                   const int16_t *w, int32_t *acc)
{
    __mmask32 in = n >= BLOCK ? 0xffffffffu : (1u << n) - 1;
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i second =
        _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    __m512i lo = _mm512_setzero_si512(), hi = lo;
    for (size_t p = 0; p < pairs; p++, w += 2 * BLOCK) {
        __m512i x0 = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(in, tap[2 * p] + at));
        __m512i x1 = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(in, tap[2 * p + 1] + at));
        lo = _mm512_dpwssd_epi32(lo, _mm512_unpacklo_epi16(x0, x1), _mm512_loadu_si512(w));
        hi = _mm512_dpwssd_epi32(hi, _mm512_unpackhi_epi16(x0, x1), _mm512_loadu_si512(w + BLOCK));
    }
    _mm512_storeu_si512(acc, _mm512_permutex2var_epi32(lo, first, hi));
    _mm512_storeu_si512(acc + 16, _mm512_permutex2var_epi32(lo, second, hi));
}

TC_AVX2 static void block_avx2(const int8_t *const *tap, size_t pairs, size_t at, size_t n,
                               const int16_t *w, int32_t *acc)
{
    block_plain(tap, pairs, at, n, w, acc);
}
#endif

static void block_c(const int8_t *const *tap, size_t pairs, size_t at, size_t n, const int16_t *w,
                    int32_t *acc)
{
    block_plain(tap, pairs, at, n, w, acc);
}

/* Where each tap of a position reads its channels. */
static void find_taps(const tc_depth8 *d, const int8_t *x, int64_t n, int64_t oy, int64_t ox,
                      const int8_t *outside, const int8_t **tap)
{
    for (int64_t ky = 0; ky < d->kh; ky++)
        for (int64_t kx = 0; kx < d->kw; kx++) {
            int64_t iy = oy * d->stride_y - d->pad_top + ky * d->dilation_y;
            int64_t ix = ox * d->stride_x - d->pad_left + kx * d->dilation_x;
            bool in = iy >= 0 && iy < d->ih && ix >= 0 && ix < d->iw;
            *tap++ = in ? x + ((n * d->ih + iy) * d->iw + ix) * d->c : outside;
        }
    *tap = outside; /* an odd number of taps: its weight is zero */
}

/* Rows of accumulators to y; returns where the next ones go. */
static uint8_t *store(const tc_depth8 *d, const int32_t *acc, size_t ld, size_t rows, size_t n,
                      uint8_t *y)
{
    if (d->has_narrow) {
        tc_narrow_rows(&d->narrow, acc, ld, rows, n, d->start, y);
        return y + rows * n * tc_dtypes[d->narrow.dtype].bytes;
    }
    int32_t *out = (int32_t *)(void *)y;
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < n; j++)
            out[r * n + j] = (int32_t)((uint32_t)acc[r * ld + j] + (uint32_t)d->start[j]);
    return y + rows * n * sizeof *acc;
}

void tc_depth8_run(const tc_depth8 *d, const int8_t *x, void *y, void *scratch)
{
    void (*block)(const int8_t *const *, size_t, size_t, size_t, const int16_t *, int32_t *) =
        block_c;
#ifdef TC_X86
    if (tc_isa_is_avx512(tc_fast_isa()))
        block = block_avx512;
    else if (tc_fast_isa() == TC_ISA_avx2)
        block = block_avx2;
#endif
    const int8_t *tap[MOST_TAPS + 1];
    size_t c = (size_t)d->c, padded = d->blocks * BLOCK;
    int32_t *acc = scratch;
    int8_t *outside = (int8_t *)(acc + AT_ONCE * padded);
    uint8_t *out = y;
    memset(outside, d->outside, padded);
    int64_t positions = d->n * d->oh * d->ow;
    for (int64_t at = 0; at < positions; at += AT_ONCE) {
        size_t some = (size_t)tc_min_i64(AT_ONCE, positions - at);
        for (size_t r = 0; r < some; r++) {
            int64_t p = at + (int64_t)r;
            find_taps(d, x, p / (d->oh * d->ow), p / d->ow % d->oh, p % d->ow, outside, tap);
            for (size_t b = 0; b < d->blocks; b++)
                block(tap, d->pairs, b * BLOCK, (size_t)tc_min_i64(BLOCK, (int64_t)(c - b * BLOCK)),
                      d->pair + b * d->pairs * BLOCK * 2, acc + r * padded + b * BLOCK);
        }
        out = store(d, acc, padded, some, c, out);
    }
}
