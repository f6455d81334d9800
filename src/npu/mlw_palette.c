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

static int entry_bits(uint32_t top)
{
    int bits = bits_of(top);
    return bits < FEWEST_BITS ? FEWEST_BITS : bits;
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
    int32_t lo, hi;         /* smallest and largest folded value; lo > hi: none */
    int32_t shift;          /* symbol - folded value */
    int64_t quotient[RICE]; /* the sum of all quotients, by Rice parameter */
    int64_t same[RICE][32]; /* how many have a remainder of their folded value */
} rest;

static void narrow(rest *r)
{
    while (r->lo <= r->hi && !r->times[r->lo])
        r->lo++;
    while (r->lo <= r->hi && !r->times[r->hi])
        r->hi--;
}

/* All but zeros that are runs.  If there are only those, one is a weight. */
static void begin(const tc_mlw_census *census, bool runs, rest *r)
{
    uint64_t n = 0;
    memcpy(r->times, census->times, sizeof r->times);
    for (int f = 1; f <= MOST_SYMBOL; f++)
        n += census->times[f];
    if (runs)
        r->times[0] = n ? 0 : 1;
    r->n = n + r->times[0];
    r->lo = 0;
    r->hi = MOST_SYMBOL;
    narrow(r);
}

/* With f = 2^d (f >> d) + f mod 2^d the quotients follow from the sum of all and the remainders. */
static void count_quotients(rest *r)
{
    enum { ALL = RICE - 1 };
    r->shift = 0;
    memset(r->quotient, 0, sizeof r->quotient);
    memset(r->same, 0, sizeof r->same);
    for (int32_t f = r->lo; f <= r->hi; f++) {
        r->quotient[0] += (int64_t)r->times[f] * f;
        r->same[ALL][f & ((1 << ALL) - 1)] += r->times[f];
    }
    for (int d = 0; d < RICE; d++) {
        int64_t left = 0;
        for (int k = 0; k < 1 << ALL && d < ALL; k++)
            r->same[d][k & ((1 << d) - 1)] += r->same[ALL][k];
        for (int k = 0; k < 1 << d; k++)
            left += r->same[d][k] * k;
        r->quotient[d] = (r->quotient[0] - left) / (1 << d);
    }
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

/* The commonest values, the commonest first; of several the smallest first.  How many. */
static uint32_t commonest(const rest *r, uint16_t *value)
{
    uint32_t n = 0, least = 0; /* times of the last one, where there is no room for more */
    for (int32_t f = r->lo; f <= r->hi; f++) {
        uint32_t times = r->times[f], at = n < TC_MLW_ENTRIES ? n : n - 1;
        if (times <= least)
            continue;
        for (; at > 0 && r->times[value[at - 1]] < times; at--)
            value[at] = value[at - 1];
        value[at] = (uint16_t)f;
        n += n < TC_MLW_ENTRIES;
        least = n < TC_MLW_ENTRIES ? 0 : r->times[value[n - 1]];
    }
    return n;
}

static uint32_t remove_value(rest *r, int32_t f)
{
    uint32_t times = r->times[f];
    r->times[f] = 0;
    r->n -= times;
    narrow(r);
    return times;
}

static void remove_quotients(rest *r, int32_t f, uint32_t times)
{
    for (int d = 0; d < RICE; d++) {
        r->quotient[d] -= (int64_t)times * ((f + r->shift) >> d);
        r->same[d][f & ((1 << d) - 1)] -= times;
    }
}

static int32_t direct_of(const rest *r)
{
    return r->lo > r->hi ? 0 : r->lo < MOST_DIRECT ? r->lo : MOST_DIRECT;
}

/* The palette as it grows. */
typedef struct growing {
    uint32_t size, top;   /* the largest folded value */
    uint64_t n;           /* weights */
    uint64_t low[RICE];   /* whose symbol is less than 2^d */
    uint64_t high[RICE];  /* the sum of their symbols, divided by 2^d */
} growing;

static void add_entry(growing *g, uint32_t f, uint32_t times)
{
    for (int d = 0; d < RICE; d++) {
        g->low[d] += g->size < 1u << d ? times : 0;
        g->high[d] += (uint64_t)times * (g->size >> d);
    }
    g->top = f > g->top ? f : g->top;
    g->n += times;
    g->size++;
}

/* Weights whose symbol is less than 2^d. */
static uint64_t first_symbols(const growing *g, const rest *r, int d)
{
    uint64_t n = g->low[d];
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
        uint64_t bits = (uint64_t)r->quotient[d] + g->high[d] + n * (uint64_t)(1 + d);
        best = bits < best ? bits : best;
        if (top >= 3 << d)
            continue;
        bits = n * (uint64_t)(2 + d) - first_symbols(g, r, d);
        best = bits < best ? bits : best;
    }
    int plain = g->size ? index_bits(g->size < 2 ? 2 : g->size) : entry_bits((uint32_t)top);
    enum { STRANGER = 40 }; /* bits for one that is not in the palette: a separate slice */
    uint64_t bits = n * (uint64_t)plain + (g->size ? r->n * STRANGER : 0);
    return bits < best ? bits : best;
}

static uint64_t run_bits(const tc_mlw_census *census)
{
    uint64_t best = census->run_bits[0];
    for (int d = 1; d < TC_MLW_ZDIVS; d++)
        best = census->run_bits[d] < best ? census->run_bits[d] : best;
    return best;
}

/* The best palette of none, [0], and of some entries, [1], from the smallest size on. */
static void grow(const tc_mlw_census *census, bool runs, tc_mlw_choice out[2])
{
    rest r;
    growing g = {0};
    uint64_t zeros = runs ? run_bits(census) : 0;
    uint16_t value[TC_MLW_ENTRIES];
    out[0] = (tc_mlw_choice){runs, 0, UINT64_MAX};
    out[1] = out[0];
    begin(census, runs, &r);
    count_quotients(&r);
    uint32_t most = commonest(&r, value);
    for (;;) {
        shift_to(&r, (int32_t)g.size - direct_of(&r));
        bool one = g.size == 1 && r.lo <= r.hi; /* there are no palettes of one entry */
        if (!one && (r.lo > r.hi || r.hi + r.shift <= MOST_SYMBOL)) {
            uint64_t bits = weight_bits(&g, &r) + zeros + g.size * (uint64_t)entry_bits(g.top);
            tc_mlw_choice *best = &out[g.size > 0];
            if (bits < best->bits)
                *best = (tc_mlw_choice){runs, (uint8_t)g.size, bits};
        }
        if (g.size == most)
            return;
        int32_t f = value[g.size];
        uint32_t times = remove_value(&r, f);
        remove_quotients(&r, f, times);
        add_entry(&g, (uint32_t)f, times);
    }
}

uint64_t ti_mlw_bits_without_runs(const tc_mlw_census *census)
{
    tc_mlw_choice by[2];
    grow(census, false, by);
    return by[0].bits < by[1].bits ? by[0].bits : by[1].bits;
}

size_t ti_mlw_choose(const tc_mlw_census *census, tc_mlw_choice *out)
{
    tc_mlw_choice all[TC_MLW_CHOICES];
    size_t n = 0;
    grow(census, false, all);
    grow(census, true, all + 2);
    for (size_t k = 0; k < TC_MLW_CHOICES; k++) {
        if (all[k].bits == UINT64_MAX)
            continue;
        size_t at = n++;
        for (; at > 0 && out[at - 1].bits > all[k].bits; at--)
            out[at] = out[at - 1];
        out[at] = all[k];
    }
    return n;
}

tc_mlw_choice ti_mlw_choose_alike(const tc_mlw_census *census, const tc_mlw_choice *like)
{
    tc_mlw_choice out[2] = {{like->runs, 0, 0}};
    if (!like->size)
        return out[0];
    grow(census, like->runs, out);
    return out[out[1].bits < out[0].bits];
}

void ti_mlw_palette_make(const tc_mlw_census *census, const tc_mlw_choice *choice,
                         tc_mlw_palette *out)
{
    rest r;
    uint32_t top = 0;
    begin(census, choice->runs, &r);
    *out = (tc_mlw_palette){.runs = choice->runs, .size = choice->size};
    uint16_t value[TC_MLW_ENTRIES];
    commonest(&r, value);
    for (int k = 0; k < choice->size; k++) {
        remove_value(&r, value[k]);
        out->entry[k] = value[k];
        top = value[k] > top ? value[k] : top;
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
