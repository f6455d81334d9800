/* SPDX-License-Identifier: Apache-2.0 */
/* int16_matmul.c -- MATMUL of int16 as two products: b = 256 high + low, with a signed high byte
 * and a low byte without sign, both kept as words.
 *
 *   sum a b  =  256 sum a high  +  sum a low
 *
 * A product of the second kind is below 2^23, so that 256 of them fit 32 bits. */
#include "int16.h"

#include "finish_x86.h"
#include "int8_tile.h"

enum { AT_ONCE = 256 };

struct tc_matmul16 {
    size_t n, h, c, w;
    tc_dense8 *part; /* of so many elements each */
    size_t n_part;
    int8_t *packed; /* high and low of each b, if constant; NULL: packed for each run */
    bool narrows;
    tc_narrow narrow;
};

static size_t round_up(size_t n) { return (n + 63) / 64 * 64; }

static size_t rows_bytes(const tc_matmul16 *m)
{
    return round_up(TC_BLOCK_ROWS * m->c * sizeof(int16_t) + TC_OVERREAD);
}

/* Of the high bytes, or of the low ones. */
static size_t packed_bytes(const tc_matmul16 *m)
{
    size_t bytes = 0;
    for (size_t i = 0; i < m->n_part; i++)
        bytes += ti_dense8_bytes(&m->part[i]);
    return round_up(bytes);
}

size_t ti_matmul16_scratch(const tc_matmul16 *m)
{
    return rows_bytes(m) + (m->packed ? 0 : 2 * packed_bytes(m)) +
           TC_BLOCK_ROWS * m->w * (sizeof(int64_t) + sizeof(int32_t));
}

/* ---- packing ---- */

enum { MOST_COLUMNS = 32 };

TC_INLINE void pair_plain(const int16_t *a, const int16_t *b, size_t width, int16_t *high,
                          int16_t *low, size_t panels)
{
    for (size_t s = 0; s < width * panels; s++) {
        size_t j = ti_group_column(width, panels, s);
        high[2 * s] = (int16_t)(a[j] >> 8);
        high[2 * s + 1] = (int16_t)(b[j] >> 8);
        low[2 * s] = a[j] & 255;
        low[2 * s + 1] = b[j] & 255;
    }
}

#ifdef TC_X86
/* 32 columns of two rows: interleaving leaves them in the order of a group of two panels. */
TC_AVX512 static void pair_avx512(const int16_t *a, const int16_t *b, int16_t *high, int16_t *low)
{
    const __m512i byte = _mm512_set1_epi16(255);
    __m512i x = ti_load512(a), y = ti_load512(b);
    __m512i xh = _mm512_srai_epi16(x, 8), yh = _mm512_srai_epi16(y, 8);
    x = _mm512_and_si512(x, byte);
    y = _mm512_and_si512(y, byte);
    _mm512_storeu_si512(high, _mm512_unpacklo_epi16(xh, yh));
    _mm512_storeu_si512(high + 32, _mm512_unpackhi_epi16(xh, yh));
    _mm512_storeu_si512(low, _mm512_unpacklo_epi16(x, y));
    _mm512_storeu_si512(low + 32, _mm512_unpackhi_epi16(x, y));
}

TC_AVX2 static void pair_avx2(const int16_t *a, const int16_t *b, int16_t *high, int16_t *low)
{
    const __m256i byte = _mm256_set1_epi16(255);
    __m256i x = ti_load256(a), y = ti_load256(b);
    __m256i xh = _mm256_srai_epi16(x, 8), yh = _mm256_srai_epi16(y, 8);
    x = _mm256_and_si256(x, byte);
    y = _mm256_and_si256(y, byte);
    _mm256_storeu_si256((__m256i *)(void *)high, _mm256_unpacklo_epi16(xh, yh));
    _mm256_storeu_si256((__m256i *)(void *)(high + 16), _mm256_unpackhi_epi16(xh, yh));
    _mm256_storeu_si256((__m256i *)(void *)low, _mm256_unpacklo_epi16(x, y));
    _mm256_storeu_si256((__m256i *)(void *)(low + 16), _mm256_unpackhi_epi16(x, y));
}
#endif

static void pair(const tc_dense8 *d, const tc_group *g, const int16_t *a, const int16_t *b,
                 int16_t *high, int16_t *low)
{
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()) && g->panels == 2) {
        pair_avx512(a, b, high, low);
        return;
    }
    if (ti_isa() == TC_ISA_avx2 && g->panels == 2) {
        pair_avx2(a, b, high, low);
        return;
    }
#endif
    pair_plain(a, b, d->form.width, high, low, g->panels);
}

/* Rows of b that belong to a part, group after group. */
static void pack(const tc_matmul16 *m, const tc_dense8 *d, const int16_t *b, int8_t *high,
                 int8_t *low)
{
    size_t at = 0;
    for (size_t i = 0; i < d->finish.n_group; i++) {
        const tc_group *g = &d->finish.group[i];
        size_t slots = g->panels * d->form.width;
        for (size_t k = 0; k < d->length; k += 2, at += 4 * slots) {
            int16_t row[2][MOST_COLUMNS], *to[2] = {(int16_t *)(void *)(high + at),
                                                    (int16_t *)(void *)(low + at)};
            const int16_t *from = b + k * m->w + g->first;
            if (g->columns == slots && k + 1 < d->length) {
                pair(d, g, from, from + m->w, to[0], to[1]);
                continue;
            }
            memset(row, 0, sizeof row);
            for (size_t e = 0; e < 2 && k + e < d->length; e++)
                memcpy(row[e], from + e * m->w, g->columns * sizeof *b);
            pair(d, g, row[0], row[1], to[0], to[1]);
        }
    }
}

/* All parts of one b: high, then low. */
static void pack_both(const tc_matmul16 *m, const int16_t *b, int8_t *to)
{
    for (size_t i = 0, at = 0; i < m->n_part; at += ti_dense8_bytes(&m->part[i]), i++)
        pack(m, &m->part[i], b + i * AT_ONCE * m->w, to + at, to + packed_bytes(m) + at);
}

tc_matmul16 *ti_matmul16_new(tc_ctx *ctx, const tc_type *a, tc_tensor known_b,
                             const tc_narrow *narrow)
{
    const tc_type *b = known_b.type;
    tc_matmul16 *m = tc_new(&ctx->arena, tc_matmul16);
    *m = (tc_matmul16){.n = (size_t)a->dim[0], .h = (size_t)a->dim[1], .c = (size_t)a->dim[2],
                       .w = (size_t)b->dim[2], .narrows = narrow != NULL};
    if (narrow)
        m->narrow = *narrow;
    const int32_t *none = tc_new_n(&ctx->arena, int32_t, m->w);
    m->n_part = (m->c + AT_ONCE - 1) / AT_ONCE;
    m->part = tc_new_n(&ctx->arena, tc_dense8, m->n_part);
    for (size_t i = 0; i < m->n_part; i++) {
        tc_dense8 *d = &m->part[i];
        size_t *at = tc_new(&ctx->arena, size_t);
        *at = i * AT_ONCE * sizeof(int16_t);
        d->form = ti_word_form_here();
        ti_finish_init_even(ctx, &d->finish, m->w, d->form.width,
                            d->form.most_panels < 2 ? 1 : 2, none, NULL);
        d->segment = at;
        d->n_segment = 1;
        ti_dense8_length(d, m->c - i * AT_ONCE < AT_ONCE ? m->c - i * AT_ONCE : AT_ONCE);
    }
    if (known_b.data) {
        size_t each = 2 * packed_bytes(m);
        m->packed = ti_arena_raw(&ctx->arena, m->n * each);
        for (size_t i = 0; i < m->n; i++)
            pack_both(m, (const int16_t *)known_b.data + i * m->c * m->w, m->packed + i * each);
    }
    return m;
}


/* Rows of a with n bytes left: in place, or a copy that may be read past its end. */
static void take_rows(const tc_matmul16 *m, const int16_t *a, size_t some, size_t left,
                      uint8_t *copy, const uint8_t **row)
{
    size_t each = m->c * sizeof *a, bytes = some * each;
    const uint8_t *from = (const uint8_t *)a;
    if (left < bytes + TC_OVERREAD) {
        memcpy(copy, a, bytes);
        memset(copy + bytes, 0, TC_OVERREAD);
        from = copy;
    }
    for (size_t r = 0; r < TC_BLOCK_ROWS; r++)
        row[r] = from + (r < some ? r : 0) * each;
}

void ti_matmul16_run(const tc_matmul16 *m, const int16_t *a, const int16_t *b, void *y,
                     void *scratch)
{
    uint8_t *rows = scratch, *out = y;
    int8_t *room = (int8_t *)rows + rows_bytes(m);
    int64_t *sum = (int64_t *)(void *)(room + (m->packed ? 0 : 2 * packed_bytes(m)));
    int32_t *part = (int32_t *)(sum + TC_BLOCK_ROWS * m->w);
    size_t each = m->w * (m->narrows ? tc_dtypes[m->narrow.dtype].bytes : sizeof *sum);
    const uint8_t *row[TC_BLOCK_ROWS];
    const int16_t *end = a + m->n * m->h * m->c;
    for (size_t n = 0; n < m->n; n++, b += m->c * m->w) {
        const int8_t *packed = m->packed ? m->packed + n * 2 * packed_bytes(m) : room;
        if (!m->packed)
            pack_both(m, b, room);
        for (size_t first = 0; first < m->h; first += TC_BLOCK_ROWS) {
            size_t some = m->h - first < TC_BLOCK_ROWS ? m->h - first : TC_BLOCK_ROWS;
            take_rows(m, a, some, (size_t)(end - a) * sizeof *a, rows, row);
            memset(sum, 0, some * m->w * sizeof *sum);
            for (size_t i = 0, at = 0; i < m->n_part; at += ti_dense8_bytes(&m->part[i]), i++)
                for (int low = 0; low < 2; low++) {
                    tc_dense8 d = m->part[i];
                    d.packed = (int8_t *)(uintptr_t)packed + (low ? packed_bytes(m) : 0) + at;
                    ti_dense8_run(&d, row, some, NULL, NULL, (uint8_t *)part);
                    ti_sum48_add(sum, part, some * m->w, low ? 0 : 8);
                }
            ti_sum48_finish(m->narrows ? &m->narrow : NULL, sum, some, m->w, out);
            a += some * m->c;
            out += some * each;
        }
    }
}
