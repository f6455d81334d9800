/* SPDX-License-Identifier: Apache-2.0 */
/* mlw_write.c -- see mlw_encode.h: the bits of slices, in chunks as mlw.c reads them. */
#include "mlw_encode.h"

enum { POSITIONS = 12 }; /* of unary parts in a chunk */

/* What is left of a unary part, and what comes after it in the next chunk. */
typedef struct side {
    uint32_t left;      /* of the quotient that is being written .. */
    bool open;          /* .. if one is */
    uint32_t div;       /* Rice parameter */
    size_t n, at;       /* symbols, complete ones */
    uint32_t rest[POSITIONS]; /* remainders of this chunk */
    int n_rest;
} side;

static void put_rests(tc_mlw_bits *b, side *s)
{
    if (s->div)
        for (int k = 0; k < s->n_rest; k++)
            ti_mlw_put(b, (int)s->div, s->rest[k]);
    s->n_rest = 0;
}

/* One chunk's unary parts of weights: a position is 0, 10 or 11, its first bit in `first`, its
 * second in `second`.  11 goes on unless it is truncated. */
typedef struct unary {
    uint32_t first, second;
    int n_second;
} unary;

static unary weight_chunk(side *s, const uint16_t *x, bool truncated)
{
    unary u = {0};
    for (int j = 0; j < POSITIONS && s->at < s->n; j++) {
        if (!s->open)
            s->left = (uint32_t)x[s->at] >> s->div;
        s->open = s->left > 1 && !truncated;
        if (s->left) {
            u.first |= 1u << j;
            u.second |= (uint32_t)(s->left > 1) << u.n_second++;
        }
        if (s->open)
            s->left -= 2;
        else
            s->rest[s->n_rest++] = x[s->at++] & ((1u << s->div) - 1);
    }
    return u;
}

/* Plain weights have remainders only. */
static void plain_chunk(side *s, const uint16_t *x)
{
    int most = s->div > 5 ? 8 : POSITIONS;
    while (s->n_rest < most && s->at < s->n)
        s->rest[s->n_rest++] = x[s->at++];
}

/* Ones, and a zero behind each quotient. */
static uint32_t run_chunk(side *s, const uint32_t *run, int length)
{
    uint32_t u = 0;
    for (int j = 0; j < length && s->at < s->n;) {
        if (!s->open)
            s->left = run[s->at] >> s->div;
        uint32_t room = (uint32_t)(length - j), ones = s->left < room ? s->left : room;
        u |= ((1u << ones) - 1) << j;
        j += (int)ones;
        s->left -= ones;
        s->open = j == length;
        if (s->open)
            break;
        j++;
        s->rest[s->n_rest++] = run[s->at++] & ((1u << s->div) - 1);
    }
    return u;
}

typedef struct chunks {
    bool plain, truncated;
    const uint16_t *x;
    const uint32_t *run; /* NULL: no runs */
} chunks;

/* Weights and runs keep in step; remainders follow a chunk later. */
static void put_chunks(tc_mlw_bits *b, const chunks *c, side *w, side *z)
{
    int length = z->div < 3 ? POSITIONS : 8;
    for (;;) {
        int64_t ahead = c->run ? (int64_t)w->at - (int64_t)z->at : 0;
        bool we = w->at < w->n && ahead < 8, ze = c->run && ahead >= 0 && z->at < z->n;
        side w_before = *w, z_before = *z;
        unary u = {0};
        uint32_t ones = 0;
        w->n_rest = z->n_rest = 0;
        if (we && c->plain)
            plain_chunk(w, c->x);
        else if (we)
            u = weight_chunk(w, c->x, c->truncated);
        if (ze)
            ones = run_chunk(z, c->run, length);
        if (we && !c->plain)
            ti_mlw_put(b, POSITIONS, u.first);
        if (ze)
            ti_mlw_put(b, length, ones);
        ti_mlw_put(b, u.n_second, u.second);
        put_rests(b, &w_before);
        put_rests(b, &z_before);
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
    const uint16_t *x = s->symbol;
    const uint32_t *run = s->run;
    bool fresh = true;
    for (const tc_mlw_slice *c = s->slice; c < s->slice + s->n_slice; c++, fresh = false) {
        chunks how = {.plain = c->way == TC_MLW_PLAIN,
                      .truncated = c->way >= TC_MLW_TRUNCATED,
                      .x = x,
                      .run = run};
        side w = {.n = c->n, .div = how.plain ? p->plain : c->way % TC_MLW_TRUNCATED},
             z = {.n = run ? c->n + fresh : 0, .div = c->zdiv};
        put_head(b, p, c, fresh);
        put_chunks(b, &how, &w, &z);
        x += c->n;
        run = run ? run + z.n : NULL;
    }
}
