/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_encode.h -- the standard weight format of all Ethos-U, written; mlw.c has the format.
 *
 *    mlw_palette.c   which palette, and whether zeros are runs, from how often each value occurs
 *    mlw_rivals.c    which palettes are worth a try
 *    mlw_section.c   where a stream is cut into sections, each with its own palette
 *    mlw_slice.c     where slices end and how each is coded: the cheapest, by dynamic programming
 *    mlw_write.c     the bits
 *    mlw_encode.c    all of them in turn
 *
 * A weight is written as a symbol: its index in the palette, or what follows from its folded value
 * 2 |w| + (w < 0). */
#ifndef TC_MLW_ENCODE_H
#define TC_MLW_ENCODE_H

#include "../base/arena.h"

enum { TC_MLW_SYMBOLS = 512, TC_MLW_ENTRIES = 32, TC_MLW_ZDIVS = 4 };

/* The whole stream of n values, -255..255: a multiple of 16 bytes, in the arena; scratch is another
 * one.  None for no values. */
tc_bytes ti_mlw_encode(tc_arena *arena, tc_arena *scratch, const int16_t *v, size_t n);

static inline uint16_t ti_mlw_fold(int16_t w)
{
    return (uint16_t)(w < 0 ? 1 - 2 * w : 2 * w);
}

/* ---- palettes ---- */

/* What a palette is chosen by. */
typedef struct tc_mlw_census {
    uint32_t times[TC_MLW_SYMBOLS];  /* of a folded value */
    uint64_t run_bits[TC_MLW_ZDIVS]; /* all runs of zeros, by Rice parameter */
    uint32_t longest;                /* of the runs */
} tc_mlw_census;

typedef struct tc_mlw_palette {
    bool runs;
    uint8_t size, bits, direct;      /* entries, bits of one, folded value of the symbol `size` */
    uint8_t plain;                   /* bits of a plain symbol .. */
    uint16_t plain_end;              /* .. which are those below */
    uint16_t entry[TC_MLW_ENTRIES];  /* folded */
    uint16_t symbol[TC_MLW_SYMBOLS]; /* of a folded value */
} tc_mlw_palette;

/* A palette of the n commonest values, and the bits of all if one slice is written. */
typedef struct tc_mlw_choice {
    bool runs;
    uint8_t size;
    uint64_t bits;
} tc_mlw_choice;

/* The best with and without runs, with and without a palette; the best one first.  How many. */
enum { TC_MLW_CHOICES = 4 };
size_t ti_mlw_choose(const tc_mlw_census *census, tc_mlw_choice *out);
/* Bits of the best one without runs. */
uint64_t ti_mlw_bits_without_runs(const tc_mlw_census *census);
/* The best that has runs as another has, and no palette where that has none. */
tc_mlw_choice ti_mlw_choose_alike(const tc_mlw_census *census, const tc_mlw_choice *like);
void ti_mlw_palette_make(const tc_mlw_census *census, const tc_mlw_choice *choice,
                         tc_mlw_palette *out);

void ti_mlw_count(const uint16_t *folded, size_t n, tc_mlw_census *out);

/* Palettes that compete for the sections of a stream, and the stream's census.  How many. */
enum { TC_MLW_RIVALS = 12 };
size_t ti_mlw_find_rivals(tc_arena *arena, const uint16_t *folded, size_t n, tc_mlw_census *census,
                          tc_mlw_choice *choice, tc_mlw_palette *palette);

/* Bits of a slice's header, and of a new palette. */
enum { TC_MLW_HEAD = 23, TC_MLW_PALETTE_HEAD = 13 };

/* ---- slices ---- */

/* How a slice's weights are coded: the Rice parameter (0..5), truncated, or plain. */
enum { TC_MLW_TRUNCATED = 6, TC_MLW_PLAIN = 12, TC_MLW_WAYS = 13 };

typedef struct tc_mlw_slice {
    size_t n; /* weights */
    uint8_t way, zdiv;
} tc_mlw_slice;

/* What one palette is for. */
typedef struct tc_mlw_section {
    tc_mlw_palette palette;
    const uint16_t *symbol;
    const uint32_t *run; /* of zeros: before the first symbol, then after each; NULL without */
    size_t n;            /* symbols */
    tc_mlw_slice *slice;
    size_t n_slice;
    uint64_t bits; /* of all, if the chunks of a slice end where expected */
} tc_mlw_section;

/* Bits of each symbol in each way; a plain one and the rest of a row are never cheap. */
enum { TC_MLW_LANES = 16, TC_MLW_NEVER = 2000 };
typedef struct tc_mlw_prices {
    uint16_t of[TC_MLW_SYMBOLS][TC_MLW_LANES];
} tc_mlw_prices;
void ti_mlw_prices_init(tc_mlw_prices *out);

/* Bits of a slice without its symbols: the header, and the unused part of its last chunks. */
uint32_t ti_mlw_slice_bits(int way, bool runs);

/* Sets slice, n_slice and bits from the rest. */
void ti_mlw_cut_slices(tc_arena *arena, const tc_mlw_prices *prices, tc_mlw_section *section);

/* ---- sections ---- */

/* The values [begin, end), for which that palette is the best. */
typedef struct tc_mlw_cut {
    size_t begin, end, palette;
} tc_mlw_cut;

/* The cheapest cuts, the last one first; at most TC_MLW_RIVALS palettes.  How many. */
size_t ti_mlw_cut_sections(tc_arena *arena, const tc_mlw_prices *prices,
                           const tc_mlw_census *census, const tc_mlw_palette *palette,
                           size_t n_palette, const uint16_t *folded, size_t n, tc_mlw_cut **out);

/* ---- bits ---- */

/* The least significant one of each byte first; at most 32 at a time. */
typedef struct tc_mlw_bits {
    uint8_t *at;
    uint64_t held;
    int n_held;
} tc_mlw_bits;

static inline void ti_mlw_put(tc_mlw_bits *b, int n, uint32_t v)
{
    b->held |= (uint64_t)v << b->n_held;
    b->n_held += n;
    if (b->n_held < 32)
        return;
    for (int i = 0; i < 4; i++)
        b->at[i] = (uint8_t)(b->held >> 8 * i);
    b->at += 4;
    b->held >>= 32;
    b->n_held -= 32;
}

/* No more bits than this are written. */
uint64_t ti_mlw_most_bits(const tc_mlw_section *section);
void ti_mlw_write(tc_mlw_bits *bits, const tc_mlw_section *section);

#endif
