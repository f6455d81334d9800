/* SPDX-License-Identifier: Apache-2.0 */
/* int8_conv.c -- CONV2D and MATMUL of int8 as inner products of packed bytes.
 *
 *   sum (x - zx) w  =  sum (x + 128) w  -  (zx + 128) sum w
 *
 * Output positions are taken a tile at a time: their windows become rows of bytes, places outside
 * the image holding zx + 128, and every row meets every panel of 16 output channels. */
#include "int8.h"

#include "fast.h"

enum { TILE = TC_TILE_ROWS };

struct tc_conv8 {
    int64_t n, ih, iw, ic, oh, ow, oc, kh, kw;
    int64_t pad_top, pad_left, stride_y, stride_x, dilation_y, dilation_x;
    size_t k_quads, panel_bytes, panels;
    const int8_t *packed;
    const int32_t *start; /* per channel: bias and what the zero points take back */
    uint8_t outside;      /* zx + 128 */
    bool flat;            /* every position reads just itself */
    bool has_narrow;
    tc_narrow narrow;
};

/* Row-major [n][k] bytes to [panel][k / 4][16][4], zeros where there is nothing. */
static void pack_panels(const int8_t *w, size_t n, size_t k, size_t row, size_t column, int8_t *out,
                        size_t panel_bytes)
{
    memset(out, 0, (n + TC_PANEL - 1) / TC_PANEL * panel_bytes);
    for (size_t j = 0; j < n; j++) {
        int8_t *panel = out + j / TC_PANEL * panel_bytes + j % TC_PANEL * 4;
        for (size_t i = 0; i < k; i++)
            panel[i / 4 * 64 + i % 4] = w[j * row + i * column];
    }
}

tc_conv8 *tc_conv8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x, const tc_type *y,
                       tc_tensor w, tc_tensor bias, int32_t x_zero, const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim;
    size_t depth = (size_t)(k[1] * k[2] * k[3]);
    tc_conv8 *c = tc_new(&ctx->arena, tc_conv8);
    *c = (tc_conv8){.n = x->dim[0], .ih = x->dim[1], .iw = x->dim[2], .ic = x->dim[3],
                    .oh = y->dim[1], .ow = y->dim[2], .oc = y->dim[3], .kh = k[1], .kw = k[2],
                    .pad_top = a->pad.v[0], .pad_left = a->pad.v[2],
                    .stride_y = a->stride.v[0], .stride_x = a->stride.v[1],
                    .dilation_y = a->dilation.v[0], .dilation_x = a->dilation.v[1],
                    .k_quads = tc_gemm8_quads(depth), .outside = (uint8_t)(x_zero + 128)};
    c->panel_bytes = c->k_quads * 64;
    c->flat = c->kh == 1 && c->kw == 1 && c->stride_y == 1 && c->stride_x == 1 && c->oh == c->ih &&
              c->ow == c->iw;
    c->panels = ((size_t)c->oc + TC_PANEL - 1) / TC_PANEL;
    int8_t *packed = tc_arena_raw(&ctx->arena, c->panels * c->panel_bytes);
    pack_panels(w.data, (size_t)c->oc, depth, depth, 1, packed, c->panel_bytes);
    c->packed = packed;
    int32_t *start = tc_new_n(&ctx->arena, int32_t, c->panels * TC_PANEL);
    const int32_t *b = bias.data;
    for (size_t j = 0; j < (size_t)c->oc; j++) {
        int64_t sum = 0;
        for (size_t i = 0; i < depth; i++)
            sum += ((const int8_t *)w.data)[j * depth + i];
        uint32_t from = (uint32_t)b[bias.type->dim[0] == 1 ? 0 : j];
        start[j] = (int32_t)(from - (uint32_t)(x_zero + 128) * (uint32_t)(uint64_t)sum);
    }
    c->start = start;
    c->has_narrow = narrow != NULL;
    if (narrow)
        c->narrow = *narrow;
    return c;
}

static size_t row_bytes(const tc_conv8 *c)
{
    return c->k_quads * 4;
}

size_t tc_conv8_scratch(const tc_conv8 *c)
{
    return TILE * row_bytes(c) + TILE * c->panels * TC_PANEL * sizeof(int32_t);
}

TC_INLINE void copy_plain(const int8_t *from, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)((uint8_t)from[i] ^ 0x80);
}

#ifdef TC_X86
#include <immintrin.h>

TC_AVX512 TC_INLINE void copy_avx512(const int8_t *from, uint8_t *to, size_t n)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), flip));
    if (i < n) {
        __mmask64 in = (UINT64_C(1) << (n - i)) - 1;
        _mm512_mask_storeu_epi8(to + i, in,
                                _mm512_xor_si512(_mm512_maskz_loadu_epi8(in, from + i), flip));
    }
}
#endif

/* The windows of `some` output positions from `at` on as rows of bytes; a function for each level.
 */
#define GATHER(level, target)                                                                      \
    target static void window_##level(const tc_conv8 *c, const int8_t *x, int64_t n, int64_t oy,   \
                                      int64_t ox, uint8_t *row)                                    \
    {                                                                                              \
        size_t depth = (size_t)c->ic;                                                              \
        for (int64_t ky = 0; ky < c->kh; ky++) {                                                   \
            int64_t iy = oy * c->stride_y - c->pad_top + ky * c->dilation_y;                       \
            int64_t ix = ox * c->stride_x - c->pad_left;                                           \
            const int8_t *line = x + ((n * c->ih + iy) * c->iw) * c->ic;                           \
            bool inside = iy >= 0 && iy < c->ih;                                                   \
            if (inside && c->dilation_x == 1 && ix >= 0 && ix + c->kw <= c->iw) {                  \
                copy_##level(line + ix * c->ic, row, (size_t)c->kw * depth);                       \
                row += (size_t)c->kw * depth;                                                      \
                continue;                                                                          \
            }                                                                                      \
            for (int64_t kx = 0; kx < c->kw; kx++, ix += c->dilation_x, row += depth)              \
                if (inside && ix >= 0 && ix < c->iw)                                               \
                    copy_##level(line + ix * c->ic, row, depth);                                   \
                else                                                                               \
                    memset(row, c->outside, depth);                                                \
        }                                                                                          \
    }                                                                                              \
    target static void gather_##level(const tc_conv8 *c, const int8_t *x, int64_t at, size_t some, \
                                      uint8_t *rows, size_t lda)                                   \
    {                                                                                              \
        int64_t n = at / (c->oh * c->ow), oy = at / c->ow % c->oh, ox = at % c->ow;                \
        for (size_t r = 0; r < some; r++, rows += lda) {                                           \
            if (c->flat)                                                                           \
                copy_##level(x + (at + (int64_t)r) * c->ic, rows, (size_t)c->ic);                  \
            else                                                                                   \
                window_##level(c, x, n, oy, ox, rows);                                             \
            if (++ox == c->ow) {                                                                   \
                ox = 0;                                                                            \
                oy = oy + 1 == c->oh ? 0 : oy + 1;                                                 \
                n += oy == 0;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }

GATHER(plain, )
#ifdef TC_X86
GATHER(avx512, TC_AVX512)
#endif

/* Rows of accumulators, with what each channel starts from, to their place in y. */
static void store_rows(const tc_narrow *narrow, const int32_t *acc, size_t ld, size_t rows,
                       size_t n, const int32_t *start, uint8_t *y)
{
    if (narrow) {
        tc_narrow_rows(narrow, acc, ld, rows, n, start, y);
        return;
    }
    int32_t *out = (int32_t *)(void *)y;
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < n; j++)
            out[r * n + j] = (int32_t)((uint32_t)acc[r * ld + j] + (uint32_t)start[j]);
}

void tc_conv8_run(const tc_conv8 *c, const int8_t *x, void *y, void *scratch)
{
    size_t lda = row_bytes(c), ld = c->panels * TC_PANEL, n = (size_t)c->oc;
    uint8_t *rows = scratch, *out = y;
    int32_t *acc = (int32_t *)(void *)(rows + TILE * lda);
    size_t each = n * (c->has_narrow ? tc_dtypes[c->narrow.dtype].bytes : sizeof *acc);
    int64_t positions = c->n * c->oh * c->ow;
    void (*gather)(const tc_conv8 *, const int8_t *, int64_t, size_t, uint8_t *, size_t) =
        gather_plain;
#ifdef TC_X86
    if (tc_isa_is_avx512(tc_fast_isa()))
        gather = gather_avx512;
#endif
    memset(rows, 0, TILE * lda);
    for (int64_t at = 0; at < positions; at += TILE) {
        size_t some = (size_t)tc_min_i64(TILE, positions - at);
        gather(c, x, at, some, rows, lda);
        tc_gemm8_run(&(tc_gemm8){rows, lda, some, c->packed, c->k_quads, c->panels, acc, ld});
        store_rows(c->has_narrow ? &c->narrow : NULL, acc, ld, some, n, c->start,
                   out + (size_t)at * each);
    }
}

/* ---- MATMUL ----
 *   sum (a - za)(b - zb)  =  sum (a + 128) b  -  (za + 128) sum b  -  zb sum a  +  c za zb */

typedef struct matmul_sizes {
    size_t h, c, w, k_quads, panel_bytes, panels, lda;
} matmul_sizes;

static matmul_sizes sizes_of(const tc_type *a, const tc_type *b)
{
    matmul_sizes s = {.h = (size_t)a->dim[1], .c = (size_t)a->dim[2], .w = (size_t)b->dim[2]};
    s.k_quads = tc_gemm8_quads(s.c);
    s.panel_bytes = s.k_quads * 64;
    s.panels = (s.w + TC_PANEL - 1) / TC_PANEL;
    s.lda = s.k_quads * 4;
    return s;
}

size_t tc_matmul8_scratch(const tc_type *a, const tc_type *b)
{
    matmul_sizes s = sizes_of(a, b);
    return s.panels * s.panel_bytes + TILE * s.lda +
           (TILE + 1) * s.panels * TC_PANEL * sizeof(int32_t);
}

void tc_matmul8_run(const tc_type *at, const int8_t *a, int32_t a_zero, const tc_type *bt,
                    const int8_t *b, int32_t b_zero, const tc_narrow *narrow, void *y,
                    void *scratch)
{
    matmul_sizes s = sizes_of(at, bt);
    int8_t *packed = scratch;
    uint8_t *rows = (uint8_t *)scratch + s.panels * s.panel_bytes, *out = y;
    int32_t *acc = (int32_t *)(void *)(rows + TILE * s.lda);
    size_t ld = s.panels * TC_PANEL;
    int32_t *column = acc + TILE * ld;
    size_t each = s.w * (narrow ? tc_dtypes[narrow->dtype].bytes : sizeof *acc);
    for (size_t n = 0; n < (size_t)at->dim[0]; n++, b += s.c * s.w) {
        pack_panels(b, s.w, s.c, 1, s.w, packed, s.panel_bytes);
        memset(column, 0, ld * sizeof *column);
        for (size_t i = 0; i < s.c; i++)
            for (size_t j = 0; j < s.w; j++)
                column[j] += b[i * s.w + j];
        for (size_t j = 0; j < s.w; j++)
            column[j] = (int32_t)((uint32_t)s.c * (uint32_t)(a_zero * b_zero) -
                                  (uint32_t)(a_zero + 128) * (uint32_t)column[j]);
        memset(rows, 0, TILE * s.lda);
        for (size_t first = 0; first < s.h; first += TILE) {
            size_t some = (size_t)tc_min_i64(TILE, (int64_t)(s.h - first));
            for (size_t r = 0; r < some; r++)
                copy_plain(a + r * s.c, rows + r * s.lda, s.c);
            tc_gemm8_run(&(tc_gemm8){rows, s.lda, some, packed, s.k_quads, s.panels, acc, ld});
            for (size_t r = 0; b_zero && r < some; r++) {
                int64_t sum = 0;
                for (size_t i = 0; i < s.c; i++)
                    sum += a[r * s.c + i];
                for (size_t j = 0; j < s.w; j++)
                    acc[r * ld + j] = (int32_t)((uint32_t)acc[r * ld + j] -
                                                (uint32_t)b_zero * (uint32_t)(uint64_t)sum);
            }
            store_rows(narrow, acc, ld, some, s.w, column, out);
            a += some * s.c;
            out += some * each;
        }
    }
}
