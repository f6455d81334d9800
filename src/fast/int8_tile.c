/* SPDX-License-Identifier: Apache-2.0 */
/* int8_tile.c -- see int8_tile.h.  A tile is a few rows by a group of panels, all of its sums in
 * registers. */
#include "int8_tile.h"

#include "finish_x86.h"

/* ---- packing ---- */

static size_t element_bytes(const tc_tile_form *form)
{
    return form->kept == TC_KEPT_u8 || form->kept == TC_KEPT_s8 ? 1 : 2;
}

enum { TILE_UNITS = 16, TILE_ROWS = 16, MOST_WASTE = 2 };

void ti_dense8_length(tc_dense8 *d, size_t length)
{
    d->length = length;
    d->units = (length * element_bytes(&d->form) + 3) / 4;
    d->by_tiles = ti_isa() == TC_ISA_amx && d->form.kept == TC_KEPT_u8 &&
                  d->units * MOST_WASTE >= TILE_UNITS;
    if (d->by_tiles)
        d->units = (d->units + TILE_UNITS - 1) / TILE_UNITS * TILE_UNITS;
}

size_t ti_dense8_overread(const tc_dense8 *d, size_t apart)
{
    return d->by_tiles ? (TILE_ROWS * apart + 63) / 64 * 64 : 0;
}

size_t ti_group_bytes(const tc_dense8 *d, const tc_group *g)
{
    return g->panels * d->form.width * 4 * d->n_segment * d->units;
}

size_t ti_dense8_bytes(const tc_dense8 *d)
{
    size_t bytes = 0;
    for (size_t i = 0; i < d->finish.n_group; i++)
        bytes += ti_group_bytes(d, &d->finish.group[i]);
    return bytes;
}

/* One column's elements, `apart` bytes from dword to dword. */
static void pack_column(const tc_dense8 *d, const int8_t *b, size_t step, int8_t *out, size_t apart)
{
    size_t k = 0;
    bool wide = element_bytes(&d->form) == 2;
    for (size_t s = 0; s < d->n_segment; s++)
        for (size_t u = 0; u < d->units; u++, out += apart) {
            int8_t byte[4] = {0};
            int16_t word[2] = {0};
            for (size_t e = 0; e < (wide ? 2u : 4u); e++)
                if (u * (wide ? 2 : 4) + e < d->length) {
                    byte[e] = b[k * step];
                    word[e % 2] = b[k++ * step];
                }
            memcpy(out, wide ? (void *)word : (void *)byte, 4);
        }
}

void ti_dense8_pack(const tc_dense8 *d, const int8_t *b, size_t column, size_t step, int8_t *out)
{
    for (size_t i = 0; i < d->finish.n_group; i++) {
        const tc_group *g = &d->finish.group[i];
        size_t slots = g->panels * d->form.width;
        if (g->columns < slots)
            memset(out, 0, ti_group_bytes(d, g));
        for (size_t s = 0; s < slots; s++) {
            size_t j = ti_group_column(d->form.width, g->panels, s);
            if (j < g->columns)
                pack_column(d, b + (g->first + j) * column, step, out + 4 * s, 4 * slots);
        }
        out += ti_group_bytes(d, g);
    }
}

/* ---- tiles ---- */

/* One group of a product, and its initial sums: by slot, and by row (or NULL). */
typedef struct side {
    const tc_dense8 *d;
    const tc_group *g;
    const int8_t *b;
    const int32_t *start, *more;
} side;

typedef void tile(const side *t, const uint8_t *const *row, uint8_t *y);

/* How many rows a tile takes when n are left, and which it is. */
typedef struct tile_choice {
    size_t rows;
    tile *run;
} tile_choice;

enum { PLAIN_WIDTH = 16 };

static void tile_plain(const side *t, const uint8_t *const *row, uint8_t *y)
{
    const tc_dense8 *d = t->d;
    const int8_t *b = t->b;
    int32_t sum[PLAIN_WIDTH];
    for (int j = 0; j < PLAIN_WIDTH; j++)
        sum[j] = (int32_t)((uint32_t)t->start[j] + (t->more ? (uint32_t)t->more[0] : 0));
    for (size_t s = 0; s < d->n_segment; s++) {
        const uint8_t *a = row[0] + d->segment[s];
        for (size_t u = 0; u < d->units; u++, a += 4, b += 4 * PLAIN_WIDTH) {
            int16_t x[2], w[2 * PLAIN_WIDTH];
            memcpy(x, a, sizeof x);
            memcpy(w, b, sizeof w);
            for (int j = 0; j < PLAIN_WIDTH; j++)
                sum[j] = (int32_t)((uint32_t)sum[j] +
                                   (uint32_t)(x[0] * w[2 * j] + x[1] * w[2 * j + 1]));
        }
    }
    ti_finish_slots(&d->finish, t->g, sum, 1, y);
}

#ifdef TC_X86

/* One dword of a row, in every lane. */
TC_INLINE int32_t dword(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

#define WIDTH 512
#include "int8_tile_body.h"
#define WIDTH 256
#include "int8_tile_body.h"

#define EACH_512(F)                                                                                \
    F(12, 1) F(8, 1) F(4, 1) F(2, 1) F(1, 1)                                                       \
    F(12, 2) F(8, 2) F(4, 2) F(2, 2) F(1, 2)                                                       \
    F(8, 3) F(6, 3) F(4, 3) F(3, 3) F(2, 3) F(1, 3)                                                \
    F(6, 4) F(5, 4) F(4, 4) F(3, 4) F(2, 4) F(1, 4)
#define EACH_256(F) F(6, 1) F(4, 1) F(2, 1) F(1, 1) F(6, 2) F(4, 2) F(3, 2) F(2, 2) F(1, 2)

#define TILE(name, target, of, R, P, words)                                                        \
    target static void name##_##R##x##P(const side *t, const uint8_t *const *row, uint8_t *y)      \
    {                                                                                              \
        of(t, row, y, R, P, words);                                                                \
    }
#define TILE_512(R, P)                                                                             \
    TILE(tile512, TC_AVX512, tile512, R, P, false) TILE(words512, TC_AVX512, tile512, R, P, true)
#define TILE_256(R, P) TILE(tile256, TC_AVX2, tile256, R, P, true)
EACH_512(TILE_512)
EACH_256(TILE_256)

/* The highest not above the rest; the lists are descending. */
static tile_choice choose_512(size_t panels, size_t left, bool words)
{
#define CHOOSE_512(R, P)                                                                           \
    if (panels == P && left >= R)                                                                  \
        return (tile_choice){R, words ? words512_##R##x##P : tile512_##R##x##P};
    EACH_512(CHOOSE_512)
    return (tile_choice){1, words ? words512_1x1 : tile512_1x1};
}

static tile_choice choose_256(size_t panels, size_t left)
{
#define CHOOSE_256(R, P)                                                                           \
    if (panels == P && left >= R)                                                                  \
        return (tile_choice){R, tile256_##R##x##P};
    EACH_256(CHOOSE_256)
    return (tile_choice){1, tile256_1x1};
}
#endif

#if defined(__aarch64__)
#include <arm_neon.h>

enum { NEON_ROWS = 4 };

TC_INLINE void begin_neon(const side *t, int32x4_t (*acc)[4], const int rows)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < 4; i++)
            acc[r][i] = vaddq_s32(vld1q_s32(t->start + 4 * i),
                                  vdupq_n_s32(t->more ? t->more[r] : 0));
}

TC_INLINE void finish_neon(const side *t, int32x4_t (*acc)[4], const int rows, uint8_t *y)
{
    int32_t sum[NEON_ROWS * PLAIN_WIDTH];
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < 4; i++)
            vst1q_s32(sum + r * PLAIN_WIDTH + 4 * i, acc[r][i]);
    ti_finish_slots(&t->d->finish, t->g, sum, (size_t)rows, y);
}

/* A row's dword against the dwords of four columns a register: dot products of bytes. */
TC_DOT TC_INLINE void tile_dot(const side *t, const uint8_t *const *row, uint8_t *y,
                               const int rows)
{
    const tc_dense8 *d = t->d;
    const int8_t *b = t->b;
    int32x4_t acc[NEON_ROWS][4];
    begin_neon(t, acc, rows);
    for (size_t s = 0; s < d->n_segment; s++) {
        size_t at = d->segment[s];
        for (size_t end = at + 4 * d->units; at < end; at += 4, b += 4 * PLAIN_WIDTH) {
            int8x16_t w[4] = {vld1q_s8(b), vld1q_s8(b + 16), vld1q_s8(b + 32), vld1q_s8(b + 48)};
            for (int r = 0; r < rows; r++) {
                int32_t v;
                memcpy(&v, row[r] + at, sizeof v);
                int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(v));
                for (int i = 0; i < 4; i++)
                    acc[r][i] = vdotq_s32(acc[r][i], w[i], x);
            }
        }
    }
    finish_neon(t, acc, rows, y);
}

/* Pairs of words: even ones of eight columns, then odd ones. */
TC_INLINE void tile_neon(const side *t, const uint8_t *const *row, uint8_t *y,
                               const int rows)
{
    const tc_dense8 *d = t->d;
    const int8_t *b = t->b;
    int32x4_t acc[NEON_ROWS][4];
    begin_neon(t, acc, rows);
    for (size_t s = 0; s < d->n_segment; s++) {
        size_t at = d->segment[s];
        for (size_t end = at + 4 * d->units; at < end; at += 4, b += 4 * PLAIN_WIDTH) {
            int16x8x2_t w[2] = {vld2q_s16((const int16_t *)(const void *)b),
                                vld2q_s16((const int16_t *)(const void *)(b + 32))};
            for (int r = 0; r < rows; r++) {
                int16_t x[2];
                memcpy(x, row[r] + at, sizeof x);
                for (int i = 0; i < 4; i++)
                    for (int k = 0; k < 2; k++) {
                        int16x8_t v = w[i / 2].val[k];
                        acc[r][i] = vmlal_n_s16(acc[r][i],
                                                i % 2 ? vget_high_s16(v) : vget_low_s16(v), x[k]);
                    }
            }
        }
    }
    finish_neon(t, acc, rows, y);
}

#define TILE_ARM(level, target, R)                                                                 \
    target static void tile_##level##_##R(const side *t, const uint8_t *const *row, uint8_t *y)    \
    {                                                                                              \
        tile_##level(t, row, y, R);                                                                \
    }
TILE_ARM(dot, TC_DOT, 4)
TILE_ARM(dot, TC_DOT, 1)
TILE_ARM(neon, , 4)
TILE_ARM(neon, , 1)
#endif

/* ---- which ---- */

tc_tile_form ti_tile_form_here(void)
{
    switch (ti_isa()) {
#ifdef TC_X86
    case TC_ISA_amx:
    case TC_ISA_avx512:
        return (tc_tile_form){TC_KEPT_u8, 16, TC_512_PANELS};
    case TC_ISA_avx2:
        return (tc_tile_form){TC_KEPT_s16, 8, TC_256_PANELS};
#endif
    case TC_ISA_dot:
        return (tc_tile_form){TC_KEPT_s8, PLAIN_WIDTH, 1};
    default:
        return (tc_tile_form){TC_KEPT_s16, PLAIN_WIDTH, 1};
    }
}

tc_tile_form ti_word_form_here(void)
{
    tc_tile_form form = ti_tile_form_here();
    form.kept = TC_KEPT_i16;
    return form;
}

static tile_choice choose(tc_kept kept, size_t panels, size_t left)
{
    bool words = kept == TC_KEPT_s16 || kept == TC_KEPT_i16;
    switch (ti_isa()) {
#ifdef TC_X86
    case TC_ISA_amx:
    case TC_ISA_avx512:
        return choose_512(panels, left, words);
    case TC_ISA_avx2:
        return choose_256(panels, left);
#endif
#if defined(__aarch64__)
    case TC_ISA_dot:
        if (!words)
            return left >= 4 ? (tile_choice){4, tile_dot_4} : (tile_choice){1, tile_dot_1};
        /* fall through */
    case TC_ISA_neon:
        return left >= 4 ? (tile_choice){4, tile_neon_4} : (tile_choice){1, tile_neon_1};
#endif
    default:
        (void)panels, (void)left, (void)words;
        return (tile_choice){1, tile_plain};
    }
}

void ti_dense8_begin(const tc_dense8 *d)
{
    if (d->by_tiles)
        ti_amx_begin();
}

void ti_dense8_end(const tc_dense8 *d)
{
    if (d->by_tiles)
        ti_amx_end();
}

int8_t *ti_dense8_memory(tc_ctx *ctx, const tc_dense8 *d)
{
    uintptr_t at = (uintptr_t)ti_arena_raw(&ctx->arena, ti_dense8_bytes(d) + 63);
    return (int8_t *)((at + 63) / 64 * 64);
}

void ti_dense8_run(const tc_dense8 *d, const uint8_t *const *row, size_t rows, const int32_t *start,
                   const int32_t *more, uint8_t *y)
{
    const tc_finish *f = &d->finish;
    const int8_t *b = d->packed;
    for (size_t i = 0; i < f->n_group; i++) {
        const tc_group *g = &f->group[i];
        if (d->by_tiles) {
            ti_amx_group(d, g, b, start ? start + g->first : g->start, more, row, rows, y);
            b += ti_group_bytes(d, g);
            continue;
        }
        side t = {d, g, b, start ? start + g->first : g->start, NULL};
        for (size_t r = 0; r < rows;) {
            tile_choice c = choose(d->form.kept, g->panels, rows - r);
            t.more = more ? more + r : NULL;
            c.run(&t, row + r, y + r * f->row_bytes);
            r += c.rows;
        }
        b += ti_group_bytes(d, g);
    }
    if (f->narrows && f->narrow.table) {
        int8_t *out = (int8_t *)y;
        ti_table8_run(f->narrow.table, out, out, rows * f->columns);
    }
}
