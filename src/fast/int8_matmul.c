/* SPDX-License-Identifier: Apache-2.0 */
/* int8_matmul.c -- MATMUL of int8, the second operand packed for each run.
 *
 *   sum (a - za)(b - zb)  =  sum a b  -  za sum b  -  zb sum a  +  c za zb
 *
 * where a, kept without sign, is 128 more, and so is za. */
#include "int8_tile.h"

#include "finish_x86.h"

struct tc_matmul8 {
    size_t n, h, c, w;
    int32_t a_zero, b_zero;
    tc_dense8 dense;
    size_t slots; /* of all groups */
};

static const size_t no_offset[1] = {0};

tc_matmul8 *ti_matmul8_new(tc_ctx *ctx, const tc_type *a, const tc_type *b, int32_t a_zero,
                           int32_t b_zero, const tc_narrow *narrow)
{
    tc_matmul8 *m = tc_new(&ctx->arena, tc_matmul8);
    *m = (tc_matmul8){.n = (size_t)a->dim[0], .h = (size_t)a->dim[1], .c = (size_t)a->dim[2],
                      .w = (size_t)b->dim[2], .a_zero = a_zero, .b_zero = b_zero};
    tc_dense8 *d = &m->dense;
    d->form = ti_tile_form_here();
    m->a_zero += d->form.kept == TC_KEPT_u8 ? 128 : 0;
    const int32_t *none = tc_new_n(&ctx->arena, int32_t, m->w);
    ti_finish_init(ctx, &d->finish, m->w, d->form.width, d->form.most_panels, none, narrow);
    d->segment = no_offset;
    d->n_segment = 1;
    ti_dense8_length(d, m->c);
    for (size_t i = 0; i < d->finish.n_group; i++)
        m->slots += d->finish.group[i].panels * d->form.width;
    return m;
}

static size_t round_up(size_t n) { return (n + 63) / 64 * 64; }

/* Rows of a, packed b, initial sums by slot, and by row. */
static size_t kept_bytes(const tc_matmul8 *m)
{
    size_t each = m->dense.form.kept == TC_KEPT_s16 ? 2 : 1;
    return round_up(TC_BLOCK_ROWS * m->c * each + TC_OVERREAD) +
           ti_dense8_overread(&m->dense, m->c * each);
}

size_t ti_matmul8_scratch(const tc_matmul8 *m)
{
    return kept_bytes(m) + round_up(ti_dense8_bytes(&m->dense)) +
           (m->slots + TC_BLOCK_ROWS) * sizeof(int32_t);
}

/* ---- packing ---- */

#ifdef TC_X86

/* Four rows of 64 columns as quads: a register has columns 0-3 16-19 32-35 48-51, the next 4-7 ...
 * which is the order of a group of four panels; lanes of four columns go elsewhere for fewer. */
TC_AVX512 static void pack_avx512(const tc_matmul8 *m, const tc_group *g, const int8_t *b,
                                  int8_t *out)
{
    size_t panels = g->panels;
    __mmask64 in = g->columns >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << g->columns) - 1;
    for (size_t k = 0; k < 4 * m->dense.units; k += 4, out += panels * 64) {
        __m512i row[4];
        for (size_t i = 0; i < 4; i++)
            row[i] = _mm512_maskz_loadu_epi8(k + i < m->c ? in : 0,
                                             b + (k + i < m->c ? k + i : 0) * m->w + g->first);
        __m512i ab0 = _mm512_unpacklo_epi8(row[0], row[1]);
        __m512i ab1 = _mm512_unpackhi_epi8(row[0], row[1]);
        __m512i cd0 = _mm512_unpacklo_epi8(row[2], row[3]);
        __m512i cd1 = _mm512_unpackhi_epi8(row[2], row[3]);
        int8_t all[256];
        int8_t *to = panels == 4 ? out : all;
        _mm512_storeu_si512(to, _mm512_unpacklo_epi16(ab0, cd0));
        _mm512_storeu_si512(to + 64, _mm512_unpackhi_epi16(ab0, cd0));
        _mm512_storeu_si512(to + 128, _mm512_unpacklo_epi16(ab1, cd1));
        _mm512_storeu_si512(to + 192, _mm512_unpackhi_epi16(ab1, cd1));
        for (size_t four = 0; panels < 4 && four < 4 * panels; four++)
            memcpy(out + four % panels * 64 + four / panels * 16,
                   all + four % 4 * 64 + four / 4 * 16, 16);
    }
}

/* Sums over each slot's elements. */
TC_AVX512 static void sum_avx512(const int8_t *b, size_t units, size_t panels, int32_t *sum)
{
    const __m512i one = _mm512_set1_epi8(1);
    for (size_t p = 0; p < panels; p++) {
        __m512i s = _mm512_setzero_si512();
        for (size_t u = 0; u < units; u++)
            s = _mm512_dpbusd_epi32(s, one, ti_load512(b + (u * panels + p) * 64));
        _mm512_storeu_si512(sum + 16 * p, s);
    }
}

/* Two rows of 16 columns as pairs of words, which is the order of a group of two panels. */
TC_AVX2 static void pack_avx2(const tc_matmul8 *m, const tc_group *g, const int8_t *b, int8_t *out)
{
    for (size_t k = 0; k < m->c; k += 2, out += 64) {
        __m256i row[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (size_t i = 0; i < 2 && k + i < m->c; i++)
            row[i] = _mm256_cvtepi8_epi16(_mm_loadu_si128(
                (const __m128i *)(const void *)(b + (k + i) * m->w + g->first)));
        _mm256_storeu_si256((__m256i *)(void *)out, _mm256_unpacklo_epi16(row[0], row[1]));
        _mm256_storeu_si256((__m256i *)(void *)(out + 32), _mm256_unpackhi_epi16(row[0], row[1]));
    }
}
#endif

/* Sums over each slot's elements, from words or bytes. */
static void sum_plain(const tc_dense8 *d, const int8_t *b, size_t slots, int32_t *sum)
{
    memset(sum, 0, slots * sizeof *sum);
    bool wide = d->form.kept == TC_KEPT_s16;
    for (size_t u = 0; u < d->units; u++, b += 4 * slots)
        for (size_t s = 0; s < slots; s++) {
            int16_t word[2];
            memcpy(word, b + 4 * s, sizeof word);
            sum[s] += wide ? word[0] + word[1]
                           : b[4 * s] + b[4 * s + 1] + b[4 * s + 2] + b[4 * s + 3];
        }
}

/* One group, and the sums of its columns. */
static void pack_group(const tc_matmul8 *m, const tc_group *g, const int8_t *b, int8_t *out,
                       int32_t *sum)
{
    const tc_dense8 *d = &m->dense;
    size_t slots = g->panels * d->form.width;
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa())) {
        pack_avx512(m, g, b, out);
        sum_avx512(out, d->units, g->panels, sum);
        return;
    }
    if (ti_isa() == TC_ISA_avx2 && g->columns == 16) {
        pack_avx2(m, g, b, out);
        sum_plain(d, out, slots, sum);
        return;
    }
#endif
    tc_dense8 alone = *d;
    alone.finish.group = (tc_group *)(uintptr_t)g;
    alone.finish.n_group = 1;
    ti_dense8_pack(&alone, b, 1, m->w, out);
    sum_plain(d, out, slots, sum);
}

static void pack(const tc_matmul8 *m, const int8_t *b, int8_t *out, int32_t *start)
{
    const tc_finish *f = &m->dense.finish;
    uint32_t constant = (uint32_t)m->c * (uint32_t)(m->a_zero * m->b_zero);
    for (size_t i = 0; i < f->n_group; i++) {
        const tc_group *g = &f->group[i];
        size_t slots = g->panels * f->width;
        pack_group(m, g, b, out, start);
        for (size_t s = 0; s < slots; s++)
            start[s] = (int32_t)(constant - (uint32_t)m->a_zero * (uint32_t)start[s]);
        out += ti_group_bytes(&m->dense, g);
        start += slots;
    }
}

/* ---- rows ---- */

TC_INLINE void row_sums(const int8_t *a, size_t rows, size_t c, int32_t more, int32_t b_zero,
                        int32_t *out)
{
    for (size_t r = 0; r < rows; r++, a += c) {
        int32_t sum = more;
        for (size_t i = 0; i < c; i++)
            sum += a[i];
        out[r] = (int32_t)(0 - (uint32_t)b_zero * (uint32_t)sum);
    }
}

static void row_sums_plain(const int8_t *a, size_t rows, size_t c, int32_t more, int32_t b_zero,
                           int32_t *out)
{
    row_sums(a, rows, c, more, b_zero, out);
}

#ifdef TC_X86
TC_AVX2 static void row_sums_avx2(const int8_t *a, size_t rows, size_t c, int32_t more,
                                  int32_t b_zero, int32_t *out)
{
    row_sums(a, rows, c, more, b_zero, out);
}
#endif

/* Correction of each row: -zb times the sum of its elements as they are kept. */
static void add_rows(const tc_matmul8 *m, const int8_t *a, size_t rows, int32_t *out)
{
    int32_t more = m->dense.form.kept == TC_KEPT_u8 ? 128 * (int32_t)m->c : 0;
#ifdef TC_X86
    if (ti_isa() != TC_ISA_plain) {
        row_sums_avx2(a, rows, m->c, more, m->b_zero, out);
        return;
    }
#endif
    row_sums_plain(a, rows, m->c, more, m->b_zero, out);
}

void ti_matmul8_run(const tc_matmul8 *m, const int8_t *a, const int8_t *b, void *y, void *scratch)
{
    uint8_t *kept = scratch, *out = y;
    tc_dense8 d = m->dense;
    int8_t *packed = (int8_t *)kept + kept_bytes(m);
    int32_t *start = (int32_t *)(void *)(packed + round_up(ti_dense8_bytes(&d)));
    int32_t *more = start + m->slots;
    size_t each = d.form.kept == TC_KEPT_s16 ? 2 : 1;
    const uint8_t *row[TC_BLOCK_ROWS];
    for (size_t r = 0; r < TC_BLOCK_ROWS; r++)
        row[r] = kept + r * m->c * each;
    d.packed = packed;
    ti_dense8_begin(&d);
    for (size_t n = 0; n < m->n; n++, b += m->c * m->w) {
        pack(m, b, packed, start);
        for (size_t at = 0; at < m->h; at += TC_BLOCK_ROWS) {
            size_t rows = m->h - at < TC_BLOCK_ROWS ? m->h - at : TC_BLOCK_ROWS;
            ti_keep(d.form.kept, a, kept, rows * m->c);
            memset(kept + rows * m->c * each, 0, TC_OVERREAD);
            if (m->b_zero)
                add_rows(m, a, rows, more);
            ti_dense8_run(&d, row, rows, start, m->b_zero ? more : NULL, out);
            a += rows * m->c;
            out += rows * d.finish.row_bytes;
        }
    }
    ti_dense8_end(&d);
}
