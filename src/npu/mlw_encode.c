/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_encode.c -- see mlw_encode.h. */
#include "mlw_encode.h"

/* Counts the values and, between them, the runs of zeros. */
static void count(const uint16_t *folded, size_t n, tc_mlw_census *out)
{
    uint32_t run = 0;
    *out = (tc_mlw_census){0};
    for (size_t k = 0; k <= n; k++) {
        if (k < n)
            out->times[folded[k]]++;
        if (k < n && !folded[k]) {
            run++;
            continue;
        }
        for (uint32_t d = 0; d < TC_MLW_ZDIVS; d++)
            out->run_bits[d] += (run >> d) + 1 + d;
        run = 0;
    }
}

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

static void make_section(tc_arena *arena, const tc_mlw_prices *prices, const tc_mlw_census *census,
                         const tc_mlw_choice *choice, const uint16_t *folded, size_t n,
                         tc_mlw_section *out)
{
    ti_mlw_palette_make(census, choice, &out->palette);
    translate(arena, folded, n, out);
    ti_mlw_cut_slices(arena, prices, out);
}

/* The best of a few choices. */
static void plan(tc_arena *arena, const tc_mlw_prices *prices, const uint16_t *folded, size_t n,
                 tc_mlw_section *out)
{
    enum { TRIED = 3 };
    tc_mlw_census census;
    tc_mlw_choice choice[TRIED], best;
    uint64_t least = UINT64_MAX;
    count(folded, n, &census);
    size_t n_choice = ti_mlw_choose(&census, choice, TRIED);
    best = choice[0];
    for (size_t k = 0; k < n_choice && n_choice > 1; k++) {
        tc_mark mark = ti_arena_mark(arena);
        make_section(arena, prices, &census, &choice[k], folded, n, out);
        if (out->bits < least) {
            least = out->bits;
            best = choice[k];
        }
        ti_arena_rewind(arena, mark);
    }
    make_section(arena, prices, &census, &best, folded, n, out);
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
    tc_mlw_section section;
    plan(scratch, prices, folded, n, &section);
    enum { END = 32 }; /* bytes, padding included */
    uint8_t *out = ti_arena_raw(arena, (size_t)(ti_mlw_most_bits(&section) / 8) + END);
    tc_mlw_bits b = {.at = out};
    ti_mlw_write(&b, &section);
    size_t size = finish(&b, out);
    ti_arena_rewind(scratch, mark);
    return (tc_bytes){out, size};
}
