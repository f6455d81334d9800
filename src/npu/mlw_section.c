/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_section.c -- see mlw_encode.h: where a new palette pays, and where zeros become runs or
 * values.
 *
 * The best palettes for the whole stream, with and without runs, compete at every BLOCK-th value:
 *
 *   cost[b + 1][p, s] = min(cost[b][p, s], best of p + slice, best of all + section of p) + bits
 *
 * for the way s of a slice of palette p.  The winners are the sections; their own palettes come
 * later. */
#include "mlw_encode.h"

enum { BLOCK = 16, LANES = TC_MLW_LANES };

/* A palette that competes. */
typedef struct rival {
    int32_t section;      /* bits of a new one */
    int32_t slice[LANES]; /* bits of a new slice, by its way */
    int zdivs;            /* 1 without runs */
    bool runs;
    uint16_t price[TC_MLW_SYMBOLS][LANES]; /* of a folded value */
    int32_t cost[TC_MLW_ZDIVS][LANES];
    int32_t begin[TC_MLW_ZDIVS][LANES]; /* block where the section began */
    int32_t best, best_begin;
} rival;

static void prepare(const tc_mlw_prices *prices, const tc_mlw_census *census,
                    const tc_mlw_palette *p, rival *r)
{
    r->runs = p->runs;
    r->zdivs = p->runs ? TC_MLW_ZDIVS : 1;
    r->section = TC_MLW_PALETTE_HEAD + p->size * p->bits;
    for (int f = 0; f < TC_MLW_SYMBOLS; f++) {
        if (!census->times[f])
            continue;
        if (f == 0 && p->runs) {
            memset(r->price[f], 0, sizeof r->price[f]);
            continue;
        }
        uint16_t x = p->symbol[f];
        bool none = x >= TC_MLW_SYMBOLS || (x < p->size && p->entry[x] != f);
        for (int w = 0; w < LANES; w++)
            r->price[f][w] = none ? TC_MLW_NEVER : prices->of[x][w];
        if (!none && x < p->plain_end)
            r->price[f][TC_MLW_PLAIN] = p->plain;
    }
    memset(r->begin, 0, sizeof r->begin);
    for (int w = 0; w < LANES; w++) {
        r->slice[w] = (int32_t)ti_mlw_slice_bits(w, p->runs);
        for (int z = 0; z < r->zdivs; z++)
            r->cost[z][w] = r->section;
    }
    r->best = r->section;
    r->best_begin = 0;
}

/* What runs of zeros take in a block: bits of their quotients, and how many end. */
typedef struct zero_runs {
    uint32_t at; /* in the run that is going on */
    int32_t quotient[TC_MLW_ZDIVS], ends;
} zero_runs;

static void count_zeros(const uint16_t *f, size_t n, zero_runs *z)
{
    uint32_t at = z->at;
    int32_t count[TC_MLW_ZDIVS] = {0};
    for (size_t k = 0; k < n; k++) {
        bool is = !f[k];
        at = is ? at + 1 : 0;
        count[0] += is;
        count[1] += is & !(at & 1);
        count[2] += is & !(at & 3);
        count[3] += is & !(at & 7);
    }
    *z = (zero_runs){.at = at, .ends = (int32_t)n - count[0]};
    memcpy(z->quotient, count, sizeof count);
}

/* In steps that are vectors. */
static inline int32_t least_of(const int32_t *cost)
{
    enum { STEP = 4 };
    int32_t least[STEP];
    memcpy(least, cost, sizeof least);
    for (int w = STEP; w < LANES; w += STEP)
        for (int k = 0; k < STEP; k++)
            least[k] = cost[w + k] < least[k] ? cost[w + k] : least[k];
    int32_t a = least[0] < least[1] ? least[0] : least[1],
            b = least[2] < least[3] ? least[2] : least[3];
    return a < b ? a : b;
}

/* Each way of a slice continues, or starts again; the least cost. */
static int32_t relax(int32_t *restrict cost, int32_t *restrict begin, const int32_t *restrict anew,
                     const int32_t *restrict bits, int32_t here)
{
    for (int w = 0; w < LANES; w++) {
        begin[w] = anew[w] < cost[w] ? here : begin[w];
        cost[w] = (anew[w] < cost[w] ? anew[w] : cost[w]) + bits[w];
    }
    return least_of(cost);
}

/* One block: a slice continues, or a new one begins, of this section or of a new one. */
static void advance(rival *r, const uint16_t *f, size_t n, const zero_runs *zeros, int32_t best,
                    int32_t block)
{
    uint16_t ways[LANES] = {0};
    for (size_t k = 0; k < n; k++)
        for (int w = 0; w < LANES; w++)
            ways[w] = (uint16_t)(ways[w] + r->price[f[k]][w]);
    bool enter = best + r->section < r->best;
    int32_t from = enter ? best + r->section : r->best, here = enter ? block : r->best_begin,
            anew[LANES], bits[LANES];
    for (int w = 0; w < LANES; w++)
        anew[w] = from + r->slice[w];
    r->best = INT32_MAX;
    for (int z = 0; z < r->zdivs; z++) {
        int32_t runs = r->runs ? zeros->quotient[z] + zeros->ends * (1 + z) : 0;
        for (int w = 0; w < LANES; w++)
            bits[w] = ways[w] + runs;
        int32_t least = relax(r->cost[z], r->begin[z], anew, bits, here), way = 0;
        if (least >= r->best)
            continue;
        while (r->cost[z][way] != least)
            way++;
        r->best = least;
        r->best_begin = r->begin[z][way];
    }
}

/* The cheapest of all: its number in the lowest bits, above it where its section began. */
enum { NUMBER = TC_MLW_RIVALS };
static int32_t winner(const rival *r, size_t n, int32_t *cost)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++)
        best = r[k].best < r[best].best ? k : best;
    *cost = r[best].best;
    return r[best].best_begin * NUMBER + (int32_t)best;
}

size_t ti_mlw_cut_sections(tc_arena *arena, const tc_mlw_prices *prices,
                           const tc_mlw_census *census, const tc_mlw_palette *palette,
                           size_t n_palette, const uint16_t *folded, size_t n, tc_mlw_cut **out)
{
    rival *rivals = ti_arena_raw(arena, n_palette * sizeof *rivals);
    int32_t *won = ti_arena_raw(arena, (n / BLOCK + 2) * sizeof *won), best, b = 0;
    zero_runs zeros = {0};
    for (size_t k = 0; k < n_palette; k++)
        prepare(prices, census, &palette[k], &rivals[k]);
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t length = n - at < BLOCK ? n - at : BLOCK;
        won[b] = winner(rivals, n_palette, &best);
        count_zeros(folded + at, length, &zeros);
        for (size_t k = 0; k < n_palette; k++)
            advance(&rivals[k], folded + at, length, &zeros, best, b);
        b++;
    }
    won[b] = winner(rivals, n_palette, &best);
    size_t n_cut = 0, cap = 0, end = n;
    for (int32_t w = won[b];; w = won[w / NUMBER]) {
        tc_grow(arena, *out, n_cut, cap);
        (*out)[n_cut++] = (tc_mlw_cut){(size_t)(w / NUMBER) * BLOCK, end, (size_t)(w % NUMBER)};
        end = (size_t)(w / NUMBER) * BLOCK;
        if (!end)
            return n_cut;
    }
}
