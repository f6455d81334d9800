/* SPDX-License-Identifier: Apache-2.0 */
/* int8_depth.c -- DEPTHWISE_CONV2D of int8, one weight plane per channel.
 *
 *   sum (x - zx) w  =  sum x w  -  zx sum w
 *
 * Consecutive channels are computed together, a few taps at a time: interleaving the bytes of four
 * taps (words of two) makes the taps of a channel adjacent, channels in the order that finish.h has
 * for groups of panels. */
#include "int16.h"

#include "finish_x86.h"
#include "windows.h"

/* How a level takes channels: elements, sums in a register, registers in a group, taps at once. */
typedef struct form {
    tc_kept kept;
    size_t width, most_panels, taps;
} form;

struct tc_depth8 {
    form form;
    tc_windows window;
    tc_finish finish;
    size_t units;          /* units of n taps, the last one padded by weights of zero */
    const size_t *tap;     /* bytes from a row's beginning, for all taps of all units */
    const uint8_t *packed; /* [group][unit][panel][width][taps] */
};

enum { PLAIN_WIDTH = 16, MOST_ROWS = 4 };

static form form_here(void)
{
    switch (ti_isa()) {
#ifdef TC_X86
    case TC_ISA_amx:
    case TC_ISA_avx512:
        return (form){TC_KEPT_u8, 16, 4, 4};
    case TC_ISA_avx2:
        return (form){TC_KEPT_s16, 8, 2, 2};
#endif
    default:
        return (form){TC_KEPT_s16, PLAIN_WIDTH, 1, 1};
    }
}

/* The same for elements of 16 bits. */
static form word_form_here(void)
{
    form f = form_here();
    bool pairs = f.taps > 1;
    return (form){TC_KEPT_i16, f.width, pairs ? 2 : 1, pairs ? 2 : 1};
}

static size_t weight_bytes(const form *f) { return f->kept == TC_KEPT_u8 ? 1 : 2; }

static size_t unit_bytes(const tc_depth8 *d, const tc_group *g)
{
    return g->panels * d->form.width * d->form.taps * weight_bytes(&d->form);
}

/* Offsets of the taps; those that pad the last unit read the first. */
static void find_taps(tc_ctx *ctx, tc_depth8 *d)
{
    size_t taps = d->window.n_segment;
    d->units = (taps + d->form.taps - 1) / d->form.taps;
    size_t *tap = tc_new_n(&ctx->arena, size_t, d->units * d->form.taps);
    for (size_t t = 0; t < d->units * d->form.taps; t++)
        tap[t] = d->window.segment[t < taps ? t : 0];
    d->tap = tap;
}

static void pack(tc_ctx *ctx, tc_depth8 *d, const int8_t *w)
{
    size_t bytes = 0, c = (size_t)d->window.ic, at = 0;
    for (size_t i = 0; i < d->finish.n_group; i++)
        bytes += d->units * unit_bytes(d, &d->finish.group[i]);
    uint8_t *out = ti_arena_raw(&ctx->arena, bytes);
    memset(out, 0, bytes);
    for (size_t i = 0; i < d->finish.n_group; i++) {
        const tc_group *g = &d->finish.group[i];
        size_t slots = g->panels * d->form.width, each = weight_bytes(&d->form);
        for (size_t t = 0; t < d->window.n_segment; t++)
            for (size_t s = 0; s < slots; s++) {
                size_t column = ti_group_column(d->form.width, g->panels, s);
                if (column >= g->columns)
                    continue;
                int16_t v = w[t * c + g->first + column];
                memcpy(out + at + t / d->form.taps * unit_bytes(d, g) +
                           (s * d->form.taps + t % d->form.taps) * each,
                       &v, each); /* little endian */
            }
        at += d->units * unit_bytes(d, g);
    }
    d->packed = out;
}

static tc_depth8 *make(tc_ctx *ctx, form f, const tc_attr_tosa_conv *a, const tc_type *x,
                       const tc_type *y, tc_tensor w, int32_t x_zero, const int32_t *start,
                       const tc_narrow *narrow)
{
    tc_depth8 *d = tc_new(&ctx->arena, tc_depth8);
    d->form = f;
    ti_windows_init(ctx, &d->window, a, x, y, w.type->dim[0], w.type->dim[1], f.kept, x_zero, true);
    ti_finish_init_even(ctx, &d->finish, (size_t)d->window.ic, f.width, f.most_panels, start,
                        narrow);
    find_taps(ctx, d);
    pack(ctx, d, w.data);
    return d;
}

tc_depth8 *ti_depth8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, int32_t x_zero,
                         const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim; /* [kh, kw, c, 1] */
    if (k[3] != 1)
        return NULL;
    form f = form_here();
    size_t c = (size_t)k[2], taps = (size_t)(k[0] * k[1]);
    int32_t *start = tc_new_n(&ctx->arena, int32_t, c);
    int32_t zero = x_zero + (f.kept == TC_KEPT_u8 ? 128 : 0);
    for (size_t j = 0; j < c; j++) {
        int64_t sum = 0;
        for (size_t t = 0; t < taps; t++)
            sum += ((const int8_t *)w.data)[t * c + j];
        uint32_t b = (uint32_t)((const int32_t *)bias.data)[bias.type->dim[0] == 1 ? 0 : j];
        start[j] = (int32_t)(b - (uint32_t)zero * (uint32_t)(uint64_t)sum);
    }
    return make(ctx, f, a, x, y, w, x_zero, start, narrow);
}

tc_depth8 *ti_depth16_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                          const tc_type *y, tc_tensor w, tc_tensor bias, const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim;
    if (k[3] != 1 || !narrow)
        return NULL;
    size_t c = (size_t)k[2], taps = (size_t)(k[0] * k[1]);
    int32_t *start = tc_new_n(&ctx->arena, int32_t, c);
    for (size_t j = 0; j < c; j++) {
        int64_t b = ((const int64_t *)bias.data)[tc_type_count(bias.type) == 1 ? 0 : j];
        if (!ti_sum16_fits((const int8_t *)w.data + j, taps, c, b))
            return NULL;
        start[j] = (int32_t)b;
    }
    return make(ctx, word_form_here(), a, x, y, w, 0, start, narrow);
}

size_t ti_depth8_scratch(const tc_depth8 *d) { return ti_windows_bytes(&d->window); }

/* Channels of one group at `rows` positions. */
typedef void kernel(const tc_depth8 *d, const tc_group *g, const uint8_t *w,
                    const uint8_t *const *row, size_t rows, uint8_t *y);

static void group_plain(const tc_depth8 *d, const tc_group *g, const uint8_t *w,
                        const uint8_t *const *row, size_t rows, uint8_t *y)
{
    const int16_t *weight = (const int16_t *)(const void *)w;
    for (size_t r = 0; r < rows; r++, y += d->finish.row_bytes) {
        int32_t sum[PLAIN_WIDTH];
        memcpy(sum, g->start, sizeof sum);
        for (size_t u = 0; u < d->units; u++) {
            int16_t x[PLAIN_WIDTH];
            memcpy(x, row[r] + d->tap[u] + 2 * g->first, sizeof x);
            for (size_t j = 0; j < PLAIN_WIDTH; j++)
                sum[j] = (int32_t)((uint32_t)sum[j] +
                                   (uint32_t)(x[j] * weight[u * PLAIN_WIDTH + j]));
        }
        ti_finish_slots(&d->finish, g, sum, 1, y);
    }
}

#ifdef TC_X86

/* The bytes of four taps of 16 * panels channels, a channel's adjacent. */
TC_AVX512 TC_INLINE void taps512(const uint8_t *row, const size_t *tap, const int panels,
                                 __m512i *out)
{
    if (panels == 4) {
        __m512i a = ti_load512(row + tap[0]), b = ti_load512(row + tap[1]),
                c = ti_load512(row + tap[2]), e = ti_load512(row + tap[3]);
        __m512i ab0 = _mm512_unpacklo_epi8(a, b), ab1 = _mm512_unpackhi_epi8(a, b);
        __m512i ce0 = _mm512_unpacklo_epi8(c, e), ce1 = _mm512_unpackhi_epi8(c, e);
        out[0] = _mm512_unpacklo_epi16(ab0, ce0);
        out[1] = _mm512_unpackhi_epi16(ab0, ce0);
        out[2] = _mm512_unpacklo_epi16(ab1, ce1);
        out[3] = _mm512_unpackhi_epi16(ab1, ce1);
    } else if (panels == 2) { /* eight channels in the low half of each lane */
        const __m512i spread = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
        __m512i x[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            x[i] = _mm512_permutexvar_epi64(
                spread, _mm512_castsi256_si512(
                            _mm256_loadu_si256((const __m256i *)(const void *)(row + tap[i]))));
        __m512i ab = _mm512_unpacklo_epi8(x[0], x[1]), ce = _mm512_unpacklo_epi8(x[2], x[3]);
        out[0] = _mm512_unpacklo_epi16(ab, ce);
        out[1] = _mm512_unpackhi_epi16(ab, ce);
    } else { /* four in the first quarter */
        const __m512i spread = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        __m512i x[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            x[i] = _mm512_permutexvar_epi32(
                spread, _mm512_castsi128_si512(
                            _mm_loadu_si128((const __m128i *)(const void *)(row + tap[i]))));
        out[0] = _mm512_unpacklo_epi16(_mm512_unpacklo_epi8(x[0], x[1]),
                                       _mm512_unpacklo_epi8(x[2], x[3]));
    }
}

TC_AVX512 TC_INLINE void rows512(const tc_depth8 *d, const tc_group *g, const uint8_t *w,
                                 const uint8_t *const *row, uint8_t *y, const int rows,
                                 const int panels)
{
    __m512i acc[MOST_ROWS][TC_512_PANELS];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            acc[r][p] = ti_load512(g->start + 16 * p);
    for (size_t u = 0; u < d->units; u++, w += 64 * panels)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            __m512i x[TC_512_PANELS];
            taps512(row[r] + g->first, d->tap + 4 * u, panels, x);
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                acc[r][p] = _mm512_dpbusd_epi32(acc[r][p], x[p], ti_load512(w + 64 * p));
        }
    ti_finish512(&d->finish, g, acc, rows, panels, y);
}

#define WIDTH 512
#include "int8_depth_body.h"
#define WIDTH 256
#include "int8_depth_body.h"

/* Four positions at a time, then one by one. */
#define GROUP(name, target, of)                                                                    \
    target static void name(const tc_depth8 *d, const tc_group *g, const uint8_t *w,               \
                            const uint8_t *const *row, size_t rows, uint8_t *y)                    \
    {                                                                                              \
        size_t r = 0;                                                                              \
        for (; r + 4 <= rows; r += 4)                                                              \
            of(d, g, w, row + r, y + r * d->finish.row_bytes, 4);                                  \
        for (; r < rows; r++)                                                                      \
            of(d, g, w, row + r, y + r * d->finish.row_bytes, 1);                                  \
    }
#define rows512_4(...) rows512(__VA_ARGS__, 4)
#define rows512_2(...) rows512(__VA_ARGS__, 2)
#define rows512_1(...) rows512(__VA_ARGS__, 1)
GROUP(group512_4, TC_AVX512, rows512_4)
GROUP(group512_2, TC_AVX512, rows512_2)
GROUP(group512_1, TC_AVX512, rows512_1)
GROUP(group512_words, TC_AVX512, words512)
GROUP(group256, TC_AVX2, words256)
#endif

static kernel *kernel_for(const tc_depth8 *d, size_t panels)
{
    switch (ti_isa()) {
#ifdef TC_X86
    case TC_ISA_amx:
    case TC_ISA_avx512:
        if (d->form.kept == TC_KEPT_i16)
            return group512_words;
        return panels == 4 ? group512_4 : panels == 2 ? group512_2 : group512_1;
    case TC_ISA_avx2:
        return group256;
#endif
    default:
        (void)d, (void)panels;
        return group_plain;
    }
}

typedef struct run {
    const tc_depth8 *d;
    uint8_t *y;
} run;

static void run_block(void *who, const uint8_t *const *row, size_t rows, size_t at)
{
    const run *r = who;
    const tc_depth8 *d = r->d;
    const tc_finish *f = &d->finish;
    uint8_t *y = r->y + at * f->row_bytes;
    const uint8_t *w = d->packed;
    for (size_t i = 0; i < f->n_group; i++) {
        const tc_group *g = &f->group[i];
        kernel_for(d, g->panels)(d, g, w, row, rows, y);
        w += d->units * unit_bytes(d, g);
    }
    if (f->narrows && f->narrow.table)
        ti_table8_run(f->narrow.table, (const int8_t *)y, (int8_t *)y, rows * f->columns);
}

void ti_depth8_run(const tc_depth8 *d, const void *x, void *y, void *scratch)
{
    ti_windows_walk(&d->window, x, scratch, run_block, &(run){d, y});
}
