/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_write.c -- see mlw_encode.h: the bits of slices, in chunks as mlw.c reads them. */
#include "mlw_encode.h"

enum { POSITIONS = 12 }; /* of unary parts in a chunk */

/* The weights of a slice, or its runs, on their way. */
typedef struct side {
    const uint16_t *weight; /* symbols, or .. */
    const uint32_t *run;    /* .. runs of zeros */
    bool plain, truncated;
    int div;                /* Rice parameter */
    size_t n, at;           /* how many; those whose unary part is done */
    size_t from, to;        /* of the chunk before: those whose remainders are next */
    bool open;              /* one more has begun */
    uint64_t unary, second; /* bits that are begun and not written yet .. */
    int n_unary, n_second;  /* .. and how many.  Runs: unary is the rest of a quotient */
} side;

/* One chunk's unary parts of weights.  A position is 0, 10 or 11; first bits are together, then
 * second ones.  11 continues unless it is truncated: a quotient q is q / 2 times 11, then 0 or
 * 10. */
static void weight_chunk(side *s)
{
    for (;;) {
        if (s->open && s->n_unary > POSITIONS)
            return;
        s->at += s->open;
        s->open = s->n_unary < POSITIONS && s->at < s->n;
        if (!s->open)
            return;
        uint32_t q = (uint32_t)s->weight[s->at] >> s->div, pairs = q / 2,
                 ones = s->truncated ? q > 0 : (q + 1) / 2;
        s->unary |= ((UINT64_C(1) << ones) - 1) << s->n_unary;
        s->second |= ((UINT64_C(1) << pairs) - 1) << s->n_second;
        s->n_unary += s->truncated ? 1 : (int)pairs + 1;
        s->n_second += (int)ones;
    }
}

/* Plain weights have remainders only. */
static void plain_chunk(side *s)
{
    size_t most = s->div > 5 ? 8 : POSITIONS;
    s->at = s->n - s->at < most ? s->n : s->at + most;
}

/* The same for runs: ones, and a zero after each quotient. */
static uint32_t run_chunk(side *s, int length)
{
    uint32_t bits = 0;
    for (int j = 0; j < length && s->at < s->n; j++) {
        if (!s->open)
            s->unary = s->run[s->at] >> s->div;
        uint64_t room = (uint64_t)(length - j);
        s->open = s->unary >= room;
        uint32_t ones = (uint32_t)(s->open ? room : s->unary);
        bits |= ((1u << ones) - 1) << j;
        s->unary -= ones;
        j += (int)ones;
        s->at += !s->open;
    }
    return bits;
}

/* First bits of the weights, those of the runs, second bits of the weights. */
static void put_unary(tc_mlw_bits *b, side *s, int length, uint32_t runs)
{
    uint32_t first = (uint32_t)s->unary & ((1u << POSITIONS) - 1);
    int ones = __builtin_popcount(first);
    ti_mlw_put(b, POSITIONS, first);
    ti_mlw_put(b, length, runs);
    ti_mlw_put(b, ones, (uint32_t)s->second & ((1u << ones) - 1));
    s->unary >>= POSITIONS;
    s->second >>= ones;
    s->n_unary = s->n_unary < POSITIONS ? 0 : s->n_unary - POSITIONS;
    s->n_second -= ones;
}

/* Remainders of the chunk before. */
static inline void put_remainders(tc_mlw_bits *b, side *s)
{
    enum { MANY = 23 }; /* and one of 9 bits: as many as are written at a time */
    uint32_t held = 0, mask = (1u << s->div) - 1;
    int n = 0;
    for (size_t k = s->from; k < s->to && s->div; k++) {
        held |= ((s->weight ? s->weight[k] : s->run[k]) & mask) << n;
        n += s->div;
        if (n <= MANY)
            continue;
        ti_mlw_put(b, n, held);
        held = 0;
        n = 0;
    }
    ti_mlw_put(b, n, held);
    s->from = s->to;
    s->to = s->at;
}

/* Weights and runs keep in step; remainders follow a chunk later. */
static void put_chunks(tc_mlw_bits *b, side *w, side *z)
{
    for (;;) {
        int64_t ahead = z->run ? (int64_t)w->at - (int64_t)z->at : 0;
        bool we = w->at < w->n && ahead < 8, ze = z->run && ahead >= 0 && z->at < z->n;
        int length = !ze ? 0 : z->div < 3 ? POSITIONS : 8;
        uint32_t runs = ze ? run_chunk(z, length) : 0;
        if (we && !w->plain) {
            weight_chunk(w);
            put_unary(b, w, length, runs);
        } else {
            if (we)
                plain_chunk(w);
            ti_mlw_put(b, length, runs);
        }
        put_remainders(b, w);
        put_remainders(b, z);
        if (!we && !ze)
            return;
    }
}

static void put_head(tc_mlw_bits *b, const tc_mlw_palette *p, const tc_mlw_slice *c, bool fresh)
{
    enum { NO_RUNS = 6, PLAIN = 7 };
    bool truncated = c->way >= TC_MLW_TRUNCATED && c->way < TC_MLW_PLAIN;
    ti_mlw_put(b, 3, p->runs ? c->zdiv : NO_RUNS);
    ti_mlw_put(b, 15, (uint32_t)c->n - 1);
    ti_mlw_put(b, 3, c->way == TC_MLW_PLAIN ? PLAIN : c->way % TC_MLW_TRUNCATED);
    ti_mlw_put(b, 1, truncated);
    ti_mlw_put(b, 1, fresh);
    if (!fresh)
        return;
    ti_mlw_put(b, 5, p->direct);
    ti_mlw_put(b, 5, p->size ? p->size - 1u : 0);
    ti_mlw_put(b, 3, p->bits - 2u);
    for (int k = 0; k < p->size; k++)
        ti_mlw_put(b, p->bits, p->entry[k]);
}

uint64_t ti_mlw_most_bits(const tc_mlw_section *s)
{
    return s->bits + 2 * POSITIONS * s->n_slice;
}

void ti_mlw_write(tc_mlw_bits *b, const tc_mlw_section *s)
{
    const tc_mlw_palette *p = &s->palette;
    const uint16_t *weight = s->symbol;
    const uint32_t *run = s->run;
    bool fresh = true;
    for (const tc_mlw_slice *c = s->slice; c < s->slice + s->n_slice; c++, fresh = false) {
        bool plain = c->way == TC_MLW_PLAIN;
        side w = {.weight = weight,
                  .plain = plain,
                  .truncated = c->way >= TC_MLW_TRUNCATED,
                  .div = plain ? p->plain : c->way % TC_MLW_TRUNCATED,
                  .n = c->n},
             z = {.run = run, .div = c->zdiv, .n = run ? c->n + fresh : 0};
        put_head(b, p, c, fresh);
        put_chunks(b, &w, &z);
        weight += c->n;
        run = run ? run + z.n : NULL;
    }
}
