/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_slice.c -- see mlw_encode.h: the cheapest sequence of slices.
 *
 * A slice continues, or a new one begins, at every BLOCK-th symbol:
 *
 *   cost[b + 1][s] = min(cost[b][s], min over t cost[b][t] + change[s]) + bits of block b in s
 *
 * for s = way of the weights and Rice parameter of the runs.  Then every end moves to the best
 * symbol nearby. */
#include "mlw_encode.h"

enum { BLOCK = 16, LANES = TC_MLW_LANES, STATES = LANES * TC_MLW_ZDIVS, NEVER = TC_MLW_NEVER };
enum { UNFILLED = 3 }; /* bits, in the mean, of a last chunk, where ends move */

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

uint32_t ti_mlw_slice_bits(int way, bool runs)
{
    uint32_t chunks = (way == TC_MLW_PLAIN ? 0u : 1u) + (runs ? 1u : 0u);
    return TC_MLW_HEAD + UNFILLED * chunks;
}

/* Bits of symbol k and the run after it. */
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

/* Bits of the runs after them by Rice parameter. */
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
    return ti_mlw_slice_bits(way, s->run != NULL);
}

/* All blocks: bits, and the state of the last. */
static uint64_t search(const tc_mlw_prices *prices, const tc_mlw_section *s, step *steps,
                       int *state)
{
    enum { NUMBER = 6 }; /* bits of a state's */
    int zdivs = s->run ? TC_MLW_ZDIVS : 1;
    uint64_t best = UINT64_C(1) << 36; /* cost and number of the cheapest state: none yet */
    uint32_t cost[STATES] = {0}, change[LANES], runs[TC_MLW_ZDIVS] = {0};
    uint16_t ways[LANES];
    for (int w = 0; w < LANES; w++)
        change[w] = change_bits(s, w);
    for (uint32_t k = 0; k < STATES && s->run; k++) /* the run before the first symbol */
        cost[k] = (s->run[0] >> k / LANES) + 1 + k / LANES;
    for (size_t at = 0; at < s->n; at += BLOCK, steps++) {
        size_t n = s->n - at < BLOCK ? s->n - at : BLOCK;
        uint32_t least = (uint32_t)(best >> NUMBER);
        *steps = (step){0, (uint8_t)(best & (STATES - 1))};
        block_ways(prices, s, at, n, ways);
        if (s->run)
            block_runs(s, at, n, runs);
        best = UINT64_MAX;
        for (int z = 0; z < zdivs; z++)
            for (int w = 0; w < TC_MLW_WAYS; w++) {
                int k = z * LANES + w;
                uint32_t anew = least + change[w];
                bool is_fresh = anew < cost[k];
                steps->fresh |= (uint64_t)is_fresh << k;
                cost[k] = (is_fresh ? anew : cost[k]) + ways[w] + runs[z];
                uint64_t key = (uint64_t)cost[k] << NUMBER | (uint64_t)k;
                best = key < best ? key : best;
            }
    }
    *state = (int)(best & (STATES - 1));
    return best >> NUMBER;
}

/* Unary positions of a slice so far: chunks have room for a certain number of them. */
typedef struct filled {
    uint64_t weights, runs;
} filled;

static void fill(const tc_mlw_section *s, const tc_mlw_slice *c, size_t k, filled *to)
{
    uint32_t q = (uint32_t)s->symbol[k] >> c->way % TC_MLW_TRUNCATED;
    to->weights += c->way < TC_MLW_TRUNCATED ? q / 2 + 1 : c->way < TC_MLW_PLAIN;
    if (s->run)
        to->runs += (s->run[k + 1] >> c->zdiv) + 1;
}

/* Positions that stay empty. */
static int64_t unfilled(const tc_mlw_slice *c, const filled *to)
{
    enum { WEIGHTS = 12 };
    uint64_t runs = c->zdiv < 3 ? 12 : 8;
    return (int64_t)((WEIGHTS - to->weights % WEIGHTS) % WEIGHTS +
                     (runs - to->runs % runs) % runs);
}

/* Where between two slices, `from` .. `to`, the second one best begins; the first has begun at
 * `begin`. */
static size_t best_end(const tc_mlw_prices *prices, const tc_mlw_section *s, const tc_mlw_slice *a,
                       const tc_mlw_slice *b, size_t begin, size_t from, size_t to)
{
    filled so_far = {0};
    if (s->run && !begin)
        so_far.runs = (s->run[0] >> a->zdiv) + 1;
    for (size_t k = begin; k < from; k++)
        fill(s, a, k, &so_far);
    int64_t gain = 0, best = -unfilled(a, &so_far); /* of symbols that are in a */
    size_t at = from;
    for (size_t k = from; k < to; k++) {
        fill(s, a, k, &so_far);
        gain += (int64_t)price(prices, s, k, b->way, b->zdiv) -
                (int64_t)price(prices, s, k, a->way, a->zdiv);
        if (gain - unfilled(a, &so_far) > best) {
            best = gain - unfilled(a, &so_far);
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
               at = best_end(prices, s, a, b, begin, from, to);
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

void ti_mlw_cut_slices(tc_arena *arena, const tc_mlw_prices *prices, tc_mlw_section *s)
{
    step *steps = ti_arena_raw(arena, (s->n / BLOCK + 1) * sizeof *steps);
    int state;
    s->bits = search(prices, s, steps, &state);
    trace(arena, s, steps, state);
    move_ends(prices, s);
    s->bits += change_bits(s, s->slice->way) + TC_MLW_PALETTE_HEAD +
               (uint64_t)s->palette.size * s->palette.bits;
    for (size_t k = 1; k < s->n_slice; k++) /* ends that are for their length only */
        if (s->slice[k].way == s->slice[k - 1].way && s->slice[k].zdiv == s->slice[k - 1].zdiv)
            s->bits += change_bits(s, s->slice[k].way);
}
