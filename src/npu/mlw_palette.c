/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_palette.c -- see mlw_encode.h.
 *
 * A palette of n entries holds the n commonest values, the commonest first: they are the symbols
 * 0 .. n - 1.  All others follow in the order of their folded values, from the smallest one (31 at
 * most) on: symbol n + folded - direct. */
#include "mlw_encode.h"

enum { RICE = 6, MOST_DIRECT = 31, MOST_SYMBOL = 511, FEWEST_BITS = 2 };

static int bits_of(uint32_t v)
{
    return v ? 32 - __builtin_clz(v) : 0;
}

/* Bits of the indices of n entries. */
static int index_bits(uint32_t n)
{
    return bits_of(n - 1);
}

/* The values that are not in the palette, as the palette grows. */
typedef struct rest {
    uint32_t times[TC_MLW_SYMBOLS];
    uint64_t n;
    int32_t lo, hi;           /* smallest and largest folded value; lo > hi: none */
    int32_t shift;            /* symbol - folded value */
    int64_t quotient[RICE];   /* the sum of all quotients, by Rice parameter */
    int64_t same[RICE][32];   /* how many have a remainder of their folded value */
} rest;

static void narrow(rest *r)
{
    while (r->lo <= r->hi && !r->times[r->lo])
        r->lo++;
    while (r->lo <= r->hi && !r->times[r->hi])
        r->hi--;
}

/* All but zeros that are runs.  Where only those are, one stands for a weight. */
static void begin(const tc_mlw_census *census, bool runs, rest *r)
{
    *r = (rest){.hi = MOST_SYMBOL};
    uint64_t all = 0;
    for (int f = 0; f <= MOST_SYMBOL; f++)
        all += census->times[f];
    for (int f = 0; f <= MOST_SYMBOL; f++) {
        uint32_t times = census->times[f];
        if (f == 0 && runs)
            times = all == times;
        r->times[f] = times;
        r->n += times;
        for (int d = 0; d < RICE && times; d++) {
            r->quotient[d] += (int64_t)times * (f >> d);
            r->same[d][f & ((1 << d) - 1)] += times;
        }
    }
    narrow(r);
}

/* Quotients change where a remainder passes its end. */
static void shift_to(rest *r, int32_t shift)
{
    for (; r->shift < shift; r->shift++)
        for (int d = 0; d < RICE; d++)
            r->quotient[d] += r->same[d][(-1 - r->shift) & ((1 << d) - 1)];
    for (; r->shift > shift; r->shift--)
        for (int d = 0; d < RICE; d++)
            r->quotient[d] -= r->same[d][-r->shift & ((1 << d) - 1)];
}

/* The commonest value; of several the smallest. */
static int32_t commonest(const rest *r)
{
    int32_t best = r->lo;
    for (int32_t f = r->lo; f <= r->hi; f++)
        best = r->times[f] > r->times[best] ? f : best;
    return best;
}

static uint32_t remove_value(rest *r, int32_t f)
{
    uint32_t times = r->times[f];
    for (int d = 0; d < RICE; d++) {
        r->quotient[d] -= (int64_t)times * ((f + r->shift) >> d);
        r->same[d][f & ((1 << d) - 1)] -= times;
    }
    r->times[f] = 0;
    r->n -= times;
    narrow(r);
    return times;
}

static int32_t direct_of(const rest *r)
{
    return r->lo > r->hi ? 0 : r->lo < MOST_DIRECT ? r->lo : MOST_DIRECT;
}

/* The palette as it grows. */
typedef struct growing {
    uint32_t size, top; /* the largest folded value */
    uint32_t times[TC_MLW_ENTRIES];
    uint64_t n;
} growing;

/* Weights whose symbol is less than 2^d. */
static uint64_t first_symbols(const growing *g, const rest *r, int d)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < g->size && k < 1u << d; k++)
        n += g->times[k];
    for (int32_t f = r->lo; f <= r->hi && f + r->shift < 1 << d; f++)
        n += r->times[f];
    return n;
}

/* Bits of all weights, in the cheapest way. */
static uint64_t weight_bits(const growing *g, const rest *r)
{
    uint64_t n = g->n + r->n, best = UINT64_MAX;
    int32_t top = r->lo <= r->hi ? r->hi + r->shift : (int32_t)g->size - 1;
    for (int d = 0; d < RICE; d++) {
        uint64_t bits = (uint64_t)r->quotient[d] + n * (uint64_t)(1 + d);
        for (uint32_t k = 0; k < g->size; k++)
            bits += (uint64_t)g->times[k] * (k >> d);
        best = bits < best ? bits : best;
        if (top >= 3 << d)
            continue;
        bits = n * (uint64_t)(2 + d) - first_symbols(g, r, d);
        best = bits < best ? bits : best;
    }
    if (!g->size || r->lo > r->hi) {
        int plain = g->size ? index_bits(g->size < 2 ? 2 : g->size) : bits_of((uint32_t)top);
        best = n * (uint64_t)plain < best && plain >= 1 ? n * (uint64_t)plain : best;
    }
    return best;
}

static uint64_t run_bits(const tc_mlw_census *census)
{
    uint64_t best = census->run_bits[0];
    for (int d = 1; d < TC_MLW_ZDIVS; d++)
        best = census->run_bits[d] < best ? census->run_bits[d] : best;
    return best;
}

static int entry_bits(uint32_t top)
{
    int bits = bits_of(top);
    return bits < FEWEST_BITS ? FEWEST_BITS : bits;
}

/* Into its place among the best. */
static void keep(tc_mlw_choice *out, size_t *n, size_t most, tc_mlw_choice c)
{
    size_t at = *n < most ? (*n)++ : most - 1;
    if (at == most - 1 && *n == most && out[at].bits && out[at].bits <= c.bits)
        return;
    for (; at > 0 && out[at - 1].bits > c.bits; at--)
        out[at] = out[at - 1];
    out[at] = c;
}

size_t ti_mlw_choose(const tc_mlw_census *census, tc_mlw_choice *out, size_t most)
{
    size_t n = 0;
    memset(out, 0, most * sizeof *out);
    for (int runs = 0; runs < 2; runs++) {
        rest r;
        growing g = {0};
        begin(census, runs, &r);
        for (;;) {
            shift_to(&r, (int32_t)g.size - direct_of(&r));
            bool one = g.size == 1 && r.lo <= r.hi; /* there are no palettes of one entry */
            if (!one && (r.lo > r.hi || r.hi + r.shift <= MOST_SYMBOL)) {
                uint64_t bits = weight_bits(&g, &r) + (runs ? run_bits(census) : 0) +
                                g.size * (uint64_t)entry_bits(g.top);
                keep(out, &n, most, (tc_mlw_choice){runs, (uint8_t)g.size, bits});
            }
            if (g.size == TC_MLW_ENTRIES || r.lo > r.hi)
                break;
            int32_t f = commonest(&r);
            g.top = (uint32_t)f > g.top ? (uint32_t)f : g.top;
            g.times[g.size] = remove_value(&r, f);
            g.n += g.times[g.size++];
        }
    }
    return n;
}

void ti_mlw_palette_make(const tc_mlw_census *census, const tc_mlw_choice *choice,
                         tc_mlw_palette *out)
{
    rest r;
    uint32_t top = 0;
    begin(census, choice->runs, &r);
    *out = (tc_mlw_palette){.runs = choice->runs, .size = choice->size};
    for (int k = 0; k < choice->size; k++) {
        int32_t f = commonest(&r);
        remove_value(&r, f);
        out->entry[k] = (uint16_t)f;
        top = (uint32_t)f > top ? (uint32_t)f : top;
    }
    if (out->size == 1)
        out->entry[out->size++] = 0;
    out->direct = (uint8_t)direct_of(&r);
    for (int f = 0; f <= MOST_SYMBOL; f++)
        out->symbol[f] = (uint16_t)(f - out->direct + out->size);
    for (int k = 0; k < choice->size; k++)
        out->symbol[out->entry[k]] = (uint16_t)k;
    if (out->size) {
        out->bits = (uint8_t)entry_bits(top);
        out->plain = (uint8_t)index_bits(out->size);
        out->plain_end = out->size;
    } else {
        out->bits = out->plain = (uint8_t)entry_bits((uint32_t)(r.hi - out->direct));
        out->plain_end = TC_MLW_SYMBOLS;
    }
}
