/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_encode.c -- see mlw_encode.h. */
#include "mlw_encode.h"

/* Values into symbols and runs.  Where all are zeros, the first is a weight. */
static void translate(tc_arena *arena, const uint16_t *folded, size_t n, tc_mlw_section *s)
{
    const tc_mlw_palette *p = &s->palette;
    uint16_t *symbol = ti_arena_raw(arena, n * sizeof *symbol);
    s->symbol = symbol;
    s->run = NULL;
    s->n = n;
    if (!p->runs) {
        for (size_t k = 0; k < n; k++)
            symbol[k] = p->symbol[folded[k]];
        return;
    }
    uint32_t *run = ti_arena_raw(arena, (n + 1) * sizeof *run), zeros = 0;
    size_t m = 0;
    for (size_t k = 0; k < n; k++) {
        if (!folded[k]) {
            zeros++;
            continue;
        }
        run[m] = zeros;
        symbol[m++] = p->symbol[folded[k]];
        zeros = 0;
    }
    if (!m) {
        run[m] = 0;
        symbol[m++] = p->symbol[0];
        zeros--;
    }
    run[m] = zeros;
    s->run = run;
    s->n = m;
}

/* Sections of a stream. */
typedef struct sections {
    tc_mlw_section *of;
    size_t n, cap;
    uint64_t most; /* bits */
} sections;

static void make_section(tc_arena *arena, const tc_mlw_prices *prices, const tc_mlw_census *census,
                         const tc_mlw_choice *choice, const uint16_t *folded, size_t n,
                         tc_mlw_section *out)
{
    ti_mlw_palette_make(census, choice, &out->palette);
    translate(arena, folded, n, out);
    ti_mlw_cut_slices(arena, prices, out);
}

/* The sections, each with the palette that is best for it, of the kind that won it. */
static void plan(tc_arena *arena, const tc_mlw_prices *prices, const uint16_t *folded, size_t n,
                 sections *out)
{
    tc_mlw_census census;
    tc_mlw_choice choice[TC_MLW_RIVALS];
    tc_mlw_palette palette[TC_MLW_RIVALS];
    tc_mlw_cut *cut = NULL;
    size_t rivals = ti_mlw_find_rivals(arena, folded, n, &census, choice, palette),
           n_cut = ti_mlw_cut_sections(arena, prices, &census, palette, rivals, folded, n, &cut);
    for (size_t k = n_cut; k-- > 0;) {
        const uint16_t *from = folded + cut[k].begin;
        size_t length = cut[k].end - cut[k].begin;
        tc_mlw_choice own = choice[cut[k].palette];
        if (n_cut > 1) {
            ti_mlw_count(from, length, &census);
            own = ti_mlw_choose_alike(&census, &own);
        }
        tc_grow(arena, out->of, out->n, out->cap);
        make_section(arena, prices, &census, &own, from, length, &out->of[out->n]);
        out->most += ti_mlw_most_bits(&out->of[out->n++]);
    }
}

/* The end: ZDIV 7, and ones. */
static size_t finish(tc_mlw_bits *b, uint8_t *begin)
{
    ti_mlw_put(b, 3, 7);
    while (b->n_held & 7)
        ti_mlw_put(b, 1, 1);
    while (b->n_held || (b->at - begin) % 16)
        ti_mlw_put(b, 8, 255);
    return (size_t)(b->at - begin);
}

tc_bytes ti_mlw_encode(tc_arena *arena, tc_arena *scratch, const int16_t *v, size_t n)
{
    if (!n)
        return (tc_bytes){0};
    tc_mark mark = ti_arena_mark(scratch);
    tc_mlw_prices *prices = ti_arena_raw(scratch, sizeof *prices);
    uint16_t *folded = ti_arena_raw(scratch, n * sizeof *folded);
    ti_mlw_prices_init(prices);
    for (size_t k = 0; k < n; k++)
        folded[k] = ti_mlw_fold(v[k]);
    enum { PART = 1 << 24, END = 32 }; /* values, so that counts of bits fit 31; bytes */
    sections all = {0};
    for (size_t at = 0; at < n; at += PART)
        plan(scratch, prices, folded + at, n - at < PART ? n - at : PART, &all);
    uint8_t *out = ti_arena_raw(arena, (size_t)(all.most / 8) + END);
    tc_mlw_bits b = {.at = out};
    for (size_t k = 0; k < all.n; k++)
        ti_mlw_write(&b, &all.of[k]);
    size_t size = finish(&b, out);
    ti_arena_rewind(scratch, mark);
    return (tc_bytes){out, size};
}
