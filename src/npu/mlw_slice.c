/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_slice.c -- see mlw_encode.h: the cheapest sequence of slices.
 *
 * A slice goes on, or a new one begins, at every BLOCK-th symbol:
 *
 *   cost[b + 1][s] = min(cost[b][s], min over t cost[b][t] + change[s]) + bits of block b in s
 *
 * for s = way of the weights and Rice parameter of the runs.  Then every end moves to the best
 * symbol nearby. */
#include "mlw_encode.h"

enum { BLOCK = 16, LANES = 16, STATES = LANES * TC_MLW_ZDIVS, NEVER = 2000 };
enum { UNFILLED = 6 }; /* bits, in the mean, of a slice's last chunk */

void ti_mlw_prices_init(tc_mlw_prices *out)
{
    enum { RICE = 6, MOST_QUOTIENT = 31 };
    for (int x = 0; x < TC_MLW_SYMBOLS; x++) {
        uint16_t *row = out->of[x];
        for (int d = 0; d < RICE; d++) {
            int q = x >> d;
            row[d] = (uint16_t)(q > MOST_QUOTIENT ? NEVER : q + 1 + d);
            row[d + TC_MLW_TRUNCATED] = (uint16_t)(q > 2 ? NEVER : (q ? 2 : 1) + d);
        }
        for (int w = TC_MLW_PLAIN; w < LANES; w++)
            row[w] = NEVER;
    }
}

/* Bits of symbol k and the run behind it. */
static uint32_t price(const tc_mlw_prices *prices, const tc_mlw_section *s, size_t k, uint8_t way,
                      uint8_t zdiv)
{
    uint16_t x = s->symbol[k];
    uint32_t bits = way < TC_MLW_PLAIN               ? prices->of[x][way]
                    : x < s->palette.plain_end ? s->palette.plain
                                               : NEVER;
    return s->run ? bits + (s->run[k + 1] >> zdiv) + 1 + zdiv : bits;
}

/* Bits of the symbols [at, at + n) in each way. */
static void block_ways(const tc_mlw_prices *prices, const tc_mlw_section *s, size_t at, size_t n,
                       uint16_t *sum)
{
    uint16_t total[LANES] = {0}, top = 0;
    for (size_t k = at; k < at + n; k++) {
        const uint16_t *row = prices->of[s->symbol[k]];
        for (int w = 0; w < LANES; w++)
            total[w] = (uint16_t)(total[w] + row[w]);
        top = s->symbol[k] > top ? s->symbol[k] : top;
    }
    if (top < s->palette.plain_end)
        total[TC_MLW_PLAIN] = (uint16_t)(n * s->palette.plain);
    memcpy(sum, total, sizeof total);
}

/* Bits of the runs behind them by Rice parameter. */
static void block_runs(const tc_mlw_section *s, size_t at, size_t n, uint32_t *sum)
{
    for (uint32_t d = 0; d < TC_MLW_ZDIVS; d++) {
        uint32_t bits = (uint32_t)n * (1 + d);
        for (size_t k = at + 1; k <= at + n; k++)
            bits += s->run[k] >> d;
        sum[d] = bits;
    }
}

/* What led to the states before a block. */
typedef struct step {
    uint64_t fresh; /* by state: a slice begins here, .. */
    uint8_t before; /* .. after one of this state */
} step;

static uint32_t change_bits(const tc_mlw_section *s, int way)
{
    uint32_t chunks = (way == TC_MLW_PLAIN ? 0u : 1u) + (s->run ? 1u : 0u);
    return TC_MLW_HEAD + UNFILLED * chunks;
}

static int cheapest(const uint32_t *cost, int n)
{
    int best = 0;
    for (int s = 1; s < n; s++)
        best = cost[s] < cost[best] ? s : best;
    return best;
}

/* All blocks; the state of the last. */
static int search(const tc_mlw_prices *prices, const tc_mlw_section *s, step *steps)
{
    int states = s->run ? STATES : LANES;
    uint32_t cost[STATES] = {0}, change[LANES], runs[TC_MLW_ZDIVS] = {0};
    uint16_t ways[LANES];
    for (int w = 0; w < LANES; w++)
        change[w] = change_bits(s, w);
    for (size_t at = 0; at < s->n; at += BLOCK, steps++) {
        size_t n = s->n - at < BLOCK ? s->n - at : BLOCK;
        int best = cheapest(cost, states);
        uint32_t least = cost[best];
        uint64_t fresh = 0;
        block_ways(prices, s, at, n, ways);
        if (s->run)
            block_runs(s, at, n, runs);
        for (int k = 0; k < states; k++) {
            uint32_t anew = least + change[k % LANES];
            bool is_fresh = anew < cost[k];
            fresh |= (uint64_t)is_fresh << k;
            cost[k] = (is_fresh ? anew : cost[k]) + ways[k % LANES] + runs[k / LANES];
        }
        *steps = (step){fresh, (uint8_t)best};
    }
    return cheapest(cost, states);
}

/* Where between two slices, `from` .. `to`, the second one best begins. */
static size_t best_end(const tc_mlw_prices *prices, const tc_mlw_section *s, const tc_mlw_slice *a,
                       const tc_mlw_slice *b, size_t from, size_t to)
{
    int64_t gain = 0, best = 0; /* of symbols that are in a */
    size_t at = from;
    for (size_t k = from; k < to; k++) {
        gain += (int64_t)price(prices, s, k, b->way, b->zdiv) -
                (int64_t)price(prices, s, k, a->way, a->zdiv);
        if (gain > best) {
            best = gain;
            at = k + 1;
        }
    }
    return at;
}

static void move_ends(const tc_mlw_prices *prices, tc_mlw_section *s)
{
    size_t begin = 0;
    for (size_t k = 0; k + 1 < s->n_slice; k++) {
        tc_mlw_slice *a = &s->slice[k], *b = a + 1;
        size_t end = begin + a->n, last = end + b->n,
               from = a->n > BLOCK ? end - BLOCK : begin + 1,
               to = b->n > BLOCK ? end + BLOCK : last - 1,
               at = best_end(prices, s, a, b, from, to);
        a->n = at - begin;
        b->n = last - at;
        begin = at;
    }
}

/* A slice has at most this many weights, also when its ends have moved. */
enum { MOST = 32767 };

/* Slices from the last to the first, then turned round. */
static void trace(tc_arena *arena, tc_mlw_section *s, const step *steps, int state)
{
    size_t cap = 0, end = s->n;
    s->slice = NULL;
    s->n_slice = 0;
    for (size_t b = (s->n + BLOCK - 1) / BLOCK; b-- > 0;) {
        bool fresh = b == 0 || steps[b].fresh >> state & 1,
             full = end - b * BLOCK > MOST - 4 * BLOCK;
        if (!fresh && !full)
            continue;
        tc_grow(arena, s->slice, s->n_slice, cap);
        s->slice[s->n_slice++] = (tc_mlw_slice){end - b * BLOCK, (uint8_t)(state % LANES),
                                                (uint8_t)(state / LANES)};
        end = b * BLOCK;
        if (fresh)
            state = steps[b].before;
    }
    for (size_t a = 0, b = s->n_slice; a + 1 < b; a++) {
        tc_mlw_slice t = s->slice[--b];
        s->slice[b] = s->slice[a];
        s->slice[a] = t;
    }
}

/* The bits of all slices, but for those of a run before the first symbol. */
static uint64_t count_bits(const tc_mlw_prices *prices, const tc_mlw_section *s)
{
    uint64_t bits = TC_MLW_PALETTE_HEAD + (uint64_t)s->palette.size * s->palette.bits;
    size_t at = 0;
    if (s->run)
        bits += (s->run[0] >> s->slice->zdiv) + 1 + s->slice->zdiv;
    for (const tc_mlw_slice *c = s->slice; c < s->slice + s->n_slice; c++) {
        bits += change_bits(s, c->way);
        for (size_t end = at + c->n; at < end; at++)
            bits += price(prices, s, at, c->way, c->zdiv);
    }
    return bits;
}

void ti_mlw_cut_slices(tc_arena *arena, const tc_mlw_prices *prices, tc_mlw_section *s)
{
    step *steps = ti_arena_raw(arena, (s->n / BLOCK + 1) * sizeof *steps);
    trace(arena, s, steps, search(prices, s, steps));
    move_ends(prices, s);
    s->bits = count_bits(prices, s);
}
