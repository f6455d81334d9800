/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c -- see finish.h. */
#include "finish.h"

enum { MOST_WIDTH = 64, MOST_SHIFT = 54 };

static void set_scale(tc_group *g, const tc_narrow *n, size_t slot, size_t column, int32_t *m0,
                      int32_t *m1, int64_t *half, int64_t *left, int32_t *right)
{
    int64_t shift = n->shift[column];
    m0[slot] = n->multiplier[column];
    if (slot % 2)
        m1[slot - 1] = n->multiplier[column];
    half[slot / 2] = (INT64_C(1) << (shift - 1)) + n->zero * (INT64_C(1) << shift);
    left[slot / 2] = shift < 32 ? 32 - shift : 0;
    right[slot] = (int32_t)(shift < 32 ? 0 : shift - 32);
    g->shifts_left = g->shifts_left || shift < 32;
}

static void fill_group(tc_ctx *ctx, const tc_finish *f, tc_group *g, const int32_t *start)
{
    tc_arena *arena = &ctx->arena;
    size_t slots = g->panels * f->width;
    int32_t *begin = tc_new_n(arena, int32_t, slots), *m0 = tc_new_n(arena, int32_t, slots),
            *m1 = tc_new_n(arena, int32_t, slots), *right = tc_new_n(arena, int32_t, slots);
    int64_t *half[2], *left[2];
    for (int i = 0; i < 2; i++) {
        half[i] = tc_new_n(arena, int64_t, slots / 2);
        left[i] = tc_new_n(arena, int64_t, slots / 2);
    }
    for (size_t s = 0; s < slots; s++) {
        size_t column = ti_group_column(f->width, g->panels, s);
        if (column >= g->columns)
            continue;
        column += g->first;
        begin[s] = start[column];
        if (f->quick)
            set_scale(g, &f->narrow, s, column, m0, m1, half[s % 2], left[s % 2], right);
    }
    g->start = begin;
    g->m0 = m0;
    g->m1 = m1;
    g->right = right;
    g->half0 = half[0];
    g->half1 = half[1];
    g->left0 = left[0];
    g->left1 = left[1];
}

/* Panels of the next group when n are left: a single one is the most expensive. */
static size_t next_panels(size_t left, size_t most, bool even)
{
    if (even)
        return left == 1 && most != 2 ? 1 : left <= 2 && most >= 2 ? 2 : most;
    if (left == most + 1 && most > 2)
        return most - 1;
    return left < most ? left : most;
}

static void init(tc_ctx *ctx, tc_finish *f, size_t columns, size_t width, size_t most, bool even,
                 const int32_t *start, const tc_narrow *narrow)
{
    *f = (tc_finish){.width = width, .columns = columns, .narrows = narrow != NULL};
    size_t panels = (columns + width - 1) / width;
    f->row_bytes = columns * (narrow ? tc_dtypes[narrow->dtype].bytes : sizeof(int32_t));
    f->quick = narrow != NULL;
    if (narrow)
        f->narrow = *narrow;
    for (size_t c = 0; narrow && c < columns; c++)
        f->quick = f->quick && narrow->shift[c] <= MOST_SHIFT;
    f->quick = f->quick && narrow->zero >= -128 && narrow->zero <= 127;
    f->group = tc_new_n(&ctx->arena, tc_group, panels);
    for (size_t at = 0; at < panels; at += f->group[f->n_group++].panels) {
        tc_group *g = &f->group[f->n_group];
        g->panels = next_panels(panels - at, most, even);
        g->first = at * width;
        g->columns = columns - g->first < g->panels * width ? columns - g->first
                                                            : g->panels * width;
        fill_group(ctx, f, g, start);
    }
}

void ti_finish_init(tc_ctx *ctx, tc_finish *f, size_t columns, size_t width, size_t most,
                    const int32_t *start, const tc_narrow *narrow)
{
    init(ctx, f, columns, width, most, false, start, narrow);
}

void ti_finish_init_even(tc_ctx *ctx, tc_finish *f, size_t columns, size_t width, size_t most,
                         const int32_t *start, const tc_narrow *narrow)
{
    init(ctx, f, columns, width, most, true, start, narrow);
}

void ti_finish_slots(const tc_finish *f, const tc_group *g, const int32_t *sum, size_t rows,
                     uint8_t *y)
{
    size_t slots = g->panels * f->width;
    int32_t row[MOST_WIDTH];
    tc_narrow n = f->narrow;
    n.table = NULL; /* comes later, for whole rows */
    if (f->narrows) {
        n.multiplier += g->first;
        n.shift += g->first;
    }
    for (size_t r = 0; r < rows; r++, sum += slots, y += f->row_bytes) {
        for (size_t s = 0; s < slots; s += 4)
            memcpy(row + ti_group_column(f->width, g->panels, s), sum + s, 4 * sizeof *sum);
        if (f->narrows)
            ti_narrow_rows(&n, row, g->columns, 1, g->columns, NULL,
                           y + g->first * tc_dtypes[n.dtype].bytes);
        else
            memcpy(y + g->first * sizeof *row, row, g->columns * sizeof *row);
    }
}

/* ---- tables ---- */

#ifdef TC_X86
#include <immintrin.h>

/* Four quarters of the table, each two registers of which a byte's low bits pick. */
#define TC_VBMI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")))
TC_VBMI static size_t table_vbmi(const int8_t *table, const int8_t *x, int8_t *y, size_t n)
{
    /* negative bytes have the first half */
    __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
    __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i v = _mm512_loadu_si512(x + i);
        __m512i low = _mm512_permutex2var_epi8(a, v, b), high = _mm512_permutex2var_epi8(c, v, d);
        _mm512_storeu_si512(y + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), high, low));
    }
    return i;
}
#endif

void ti_table8_run(const int8_t *table, const int8_t *x, int8_t *y, size_t n)
{
    size_t i = 0;
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()) && __builtin_cpu_supports("avx512vbmi"))
        i = table_vbmi(table, x, y, n);
#endif
    for (; i < n; i++)
        y[i] = table[x[i] + 128];
}
