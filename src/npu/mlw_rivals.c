/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_rivals.c -- see mlw_encode.h: which palettes compete for a stream.
 *
 * Pieces of the stream with similar distributions form a kind; nearly all streams have one, and the
 * best palettes for the whole stream compete.  Where there are more, the best one of each kind does
 * too. */
#include "mlw_encode.h"

enum { PIECE = 512, PIECES = 64, BINS = 64, KINDS = TC_MLW_RIVALS - TC_MLW_CHOICES };

/* Nonzero values, by magnitude; zeros come from padding. */
typedef struct spread {
    uint32_t n, bin[BINS];
} spread;

static spread spread_of(const tc_mlw_census *census)
{
    spread s = {0};
    for (int f = 1; f < TC_MLW_SYMBOLS; f++)
        s.bin[f * BINS / TC_MLW_SYMBOLS] += census->times[f];
    for (int b = 0; b < BINS; b++)
        s.n += s.bin[b];
    return s;
}

/* 0: equal; 2: no value in common. */
static double distance(const spread *a, const spread *b)
{
    double sum = 0, per_a = 1.0 / a->n, per_b = 1.0 / b->n;
    for (int k = 0; k < BINS; k++) {
        double d = a->bin[k] * per_a - b->bin[k] * per_b;
        sum += d < 0 ? -d : d;
    }
    return sum;
}

static void add(tc_mlw_census *to, const tc_mlw_census *from)
{
    for (int f = 0; f < TC_MLW_SYMBOLS; f++)
        to->times[f] += from->times[f];
    for (int d = 0; d < TC_MLW_ZDIVS; d++)
        to->run_bits[d] += from->run_bits[d];
    to->longest = from->longest > to->longest ? from->longest : to->longest;
}

typedef struct kinds {
    size_t n;
    tc_mlw_census census[KINDS];
    spread spread[KINDS];
} kinds;

/* To the kind that a piece is most like, or to a new one. */
static void sort_in(kinds *all, const tc_mlw_census *piece)
{
    enum { FEW = 64 };
    const double alike = 0.6;
    spread s = spread_of(piece);
    if (s.n < FEW)
        return;
    double least = 2;
    size_t nearest = 0;
    for (size_t k = 0; k < all->n; k++) {
        double d = distance(&s, &all->spread[k]);
        nearest = d < least ? k : nearest;
        least = d < least ? d : least;
    }
    if (!all->n || (least > alike && all->n < KINDS)) {
        nearest = all->n++;
        all->census[nearest] = (tc_mlw_census){0};
        all->spread[nearest] = (spread){0};
    }
    add(&all->census[nearest], piece);
    all->spread[nearest].n += s.n;
    for (int b = 0; b < BINS; b++)
        all->spread[nearest].bin[b] += s.bin[b];
}

/* Counts the values and, between them, the runs of zeros. */
void ti_mlw_count(const uint16_t *folded, size_t n, tc_mlw_census *out)
{
    *out = (tc_mlw_census){0};
    for (size_t k = 0; k < n; k++) {
        out->times[folded[k]]++;
        if (folded[k])
            continue;
        uint32_t run = 1;
        for (; k + 1 < n && !folded[k + 1]; k++)
            run++;
        out->times[0] += run - 1;
        out->longest = run > out->longest ? run : out->longest;
        for (uint32_t d = 0; d < TC_MLW_ZDIVS; d++)
            out->run_bits[d] += run >> d;
    }
    for (uint32_t d = 0; d < TC_MLW_ZDIVS; d++) /* one after each weight, one before the first */
        out->run_bits[d] += (uint64_t)(n - out->times[0] + 1) * (1 + d);
}

/* Runs are worth a try where they look good, or one is so long that a section may pay. */
static size_t without_idle_runs(const tc_mlw_census *census, tc_mlw_choice *choice, size_t n)
{
    enum { LONG = 32 };
    size_t kept = 0;
    uint64_t best = choice[0].bits;
    for (size_t k = 0; k < n; k++)
        if (!choice[k].runs || census->longest >= LONG || choice[k].bits - best < best / 8)
            choice[kept++] = choice[k];
    return kept;
}

size_t ti_mlw_find_rivals(tc_arena *arena, const uint16_t *folded, size_t n, tc_mlw_census *census,
                          tc_mlw_choice *choice, tc_mlw_palette *palette)
{
    size_t step = n / PIECES < PIECE ? PIECE : n / PIECES;
    kinds *all = ti_arena_raw(arena, sizeof *all);
    all->n = 0;
    *census = (tc_mlw_census){0};
    for (size_t at = 0; at < n; at += step) {
        tc_mlw_census piece;
        ti_mlw_count(folded + at, n - at < step ? n - at : step, &piece);
        if (n > step)
            sort_in(all, &piece);
        add(census, &piece);
    }
    size_t rivals = without_idle_runs(census, choice, ti_mlw_choose(census, choice));
    for (size_t k = 0; k < rivals; k++)
        ti_mlw_palette_make(census, &choice[k], &palette[k]);
    for (size_t k = 0; k < all->n && all->n > 1; k++) {
        tc_mlw_choice own[TC_MLW_CHOICES];
        ti_mlw_choose(&all->census[k], own);
        choice[rivals] = own[0];
        ti_mlw_palette_make(&all->census[k], &own[0], &palette[rivals++]);
    }
    return rivals;
}
