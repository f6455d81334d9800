/* SPDX-License-Identifier: Apache-2.0 */
/* mlw.c -- the standard weight format of all Ethos-U: slices of Golomb-Rice coded weights and runs
 * of zeros.
 *
 * Bits are taken from the least significant one of each byte.  A slice:
 *
 *   bits  field
 *      3  ZDIV     7 end of stream (skip to the next byte), 6 no runs of zeros, 0..3 the Rice
 *                  parameter of the runs
 *     15           number of weights - 1
 *      3  WDIV     0..5 Rice parameter of the weights; 7 plain: as many bits as a palette index
 *                  takes, PALBITS without a palette
 *      1  WTRUNC   a quotient of 2 ends there
 *      1  NEWPAL   a new palette follows:
 *      5  DIROFS   an index i of n entries or more stands for i - n + DIROFS
 *      5  PALSIZE  n > 0: n + 1 entries
 *      3  PALBITS  bits of an entry - 2, then the entries
 *
 * and then chunks: the unary parts of up to 12 weights and of some runs, followed by the remainders
 * of the chunk before.  Weights and runs are interleaved: neither gets far ahead of the other. */
#include "npu_weights.h"

typedef struct bits {
    const uint8_t *data;
    size_t size;
    uint64_t at; /* bit */
} bits;

/* n <= 32 bits; zeros past the end. */
static uint32_t get(bits *b, int n)
{
    size_t byte = (size_t)(b->at >> 3);
    uint64_t v = 0;
    if (byte + 8 <= b->size)
        memcpy(&v, b->data + byte, 8);
    else
        for (size_t i = 0; i < 8 && byte + i < b->size; i++)
            v |= (uint64_t)b->data[byte + i] << 8 * i;
    v >>= b->at & 7;
    b->at += (uint64_t)n;
    return (uint32_t)(v & ((UINT64_C(1) << n) - 1));
}

static bool over(const bits *b)
{
    return b->at > 8 * (uint64_t)b->size;
}

typedef struct values {
    tc_arena *arena;
    int16_t *v;
    size_t n, cap, most;
    bool full;
} values;

/* Room for n more; false: there are too many. */
static bool make_room(values *out, size_t n)
{
    if (n > out->most - out->n) {
        out->full = true;
        return false;
    }
    while (out->n + n > out->cap) {
        size_t cap = 2 * out->cap;
        int16_t *more = ti_arena_raw(out->arena, cap * sizeof *more);
        memcpy(more, out->v, out->n * sizeof *more);
        out->v = more;
        out->cap = cap;
    }
    return true;
}

static void put_zeros(values *out, size_t n)
{
    if (!n || !make_room(out, n))
        return;
    memset(out->v + out->n, 0, n * sizeof *out->v);
    out->n += n;
}

enum { WEIGHTS = 1 << 15, PALETTE = 32 };

typedef struct palette {
    uint32_t size, bits, direct;
    uint32_t entry[PALETTE];
} palette;

static void read_palette(bits *b, palette *p)
{
    p->direct = get(b, 5);
    p->size = get(b, 5);
    p->size += p->size > 0;
    p->bits = get(b, 3) + 2;
    for (uint32_t i = 0; i < p->size; i++)
        p->entry[i] = get(b, (int)p->bits);
}

/* Quotients that were read while their remainders are still to come. */
typedef struct quotients {
    uint32_t q[16];
    int n;
    bool any;
    uint32_t rest; /* of one that continues in the next chunk */
} quotients;

typedef struct slice {
    uint32_t n, nz; /* weights, runs */
    uint32_t zdiv, wdiv;
    bool runs, plain, truncated;
    uint32_t value[WEIGHTS], run[WEIGHTS + 1];
    uint32_t n_value, n_run; /* complete ones */
    uint32_t wpos, zpos;     /* of which the quotient is known */
    quotients w, z;
} slice;

/* Unary: each weight is 0, 10 or 11 twice over: a bit of `first`, and for every one there a bit of
 * `second`. 11 continues unless the slice is truncated. */
static void weight_quotients(bits *b, slice *s, uint32_t first, quotients *out)
{
    int most = s->plain && s->wdiv > 5 ? 8 : 12, ones = __builtin_popcount(first);
    uint32_t second = ones ? get(b, ones) : 0, left = s->n - s->wpos, rest = s->w.rest;
    *out = (quotients){.any = true};
    for (int i = 0; i < most && (uint32_t)out->n < left; i++) { /* no branch that is hard to foresee */
        uint32_t one = first >> i & 1, code = one + (one & second), ends = code < 2 || s->truncated;
        second >>= one;
        rest += code;
        out->q[out->n] = rest;
        out->n += (int)ends;
        rest &= ends - 1;
    }
    out->rest = rest;
    s->wpos += (uint32_t)out->n;
}

static void run_quotients(bits *b, slice *s, quotients *out)
{
    int length = s->zdiv < 3 ? 12 : 8;
    uint32_t unary = get(b, length), rest = s->z.rest;
    *out = (quotients){.any = true};
    for (int i = 0; i < length; i++)
        if (unary >> i & 1)
            rest++;
        else {
            out->q[out->n++] = rest;
            rest = 0;
        }
    out->rest = rest;
    s->zpos += (uint32_t)out->n;
}

/* Values of these quotients, and of remainders of n bits, at most `most`; returns how many. */
static uint32_t numbers(bits *b, const quotients *from, uint32_t bits_each, uint32_t most,
                        uint32_t *to)
{
    uint32_t n = (uint32_t)from->n < most ? (uint32_t)from->n : most;
    uint32_t at_once = bits_each ? 32 / bits_each : n, mask = (UINT32_C(1) << bits_each) - 1;
    for (uint32_t i = 0; i < n; i += at_once) {
        uint32_t count = n - i < at_once ? n - i : at_once;
        uint64_t low = get(b, (int)(count * bits_each));
        for (uint32_t k = 0; k < count; k++, low >>= bits_each)
            to[i + k] = (from->q[i + k] << bits_each) + ((uint32_t)low & mask);
    }
    return n;
}

/* The remainders of what the chunk before left. */
static void remainders(bits *b, slice *s)
{
    s->n_value += numbers(b, &s->w, s->wdiv, s->n - s->n_value, s->value + s->n_value);
    s->n_run += numbers(b, &s->z, s->zdiv, s->nz - s->n_run, s->run + s->n_run);
}

static bool read_chunks(bits *b, slice *s)
{
    for (;;) {
        int64_t ahead = s->runs ? (int64_t)s->wpos - s->zpos : 0;
        bool we = s->wpos < s->n && ahead < 8, ze = s->runs && ahead >= 0 && s->zpos < s->nz;
        uint32_t first = we && !s->plain ? get(b, 12) : 0;
        quotients w = {.rest = s->w.rest}, z = {.rest = s->z.rest};
        if (ze)
            run_quotients(b, s, &z);
        if (we)
            weight_quotients(b, s, first, &w);
        remainders(b, s);
        s->w = w;
        s->z = z;
        if (over(b))
            return false;
        if (!we && !ze)
            return s->n_value == s->n && (!s->runs || s->n_run == s->nz);
    }
}

static void put_slice(const slice *s, const palette *p, bool fresh, values *out)
{
    uint32_t run = 0;
    if (s->runs && fresh)
        put_zeros(out, s->run[run++]);
    if (!s->runs && !make_room(out, s->n))
        return;
    for (uint32_t i = 0; i < s->n && !out->full; i++) {
        uint32_t x = s->value[i], v = x < p->size ? p->entry[x] : x - p->size + p->direct;
        int16_t magnitude = (int16_t)(v >> 1 & 0x3fff);
        if (s->runs && !make_room(out, 1))
            return;
        out->v[out->n++] = v & 1 ? (int16_t)-magnitude : magnitude;
        if (s->runs)
            put_zeros(out, s->run[run++]);
    }
}

static int log2_up(uint32_t n)
{
    return n <= 1 ? 0 : 32 - __builtin_clz(n - 1);
}

int16_t *ti_npu_mlw_decode(tc_arena *arena, tc_bytes stream, size_t most, size_t *n)
{
    enum { END = 7, NO_RUNS = 6 };
    bits b = {stream.data, stream.size, 0};
    values out = {.arena = arena, .most = most};
    palette p = {0};
    slice *s = ti_arena_raw(arena, sizeof *s); /* a quarter of a megabyte, of which little is used */
    out.cap = 4096;
    out.v = ti_arena_raw(arena, out.cap * sizeof *out.v);
    while (8 * (uint64_t)stream.size >= b.at + 3) {
        uint32_t zdiv = get(&b, 3);
        if (zdiv == END) {
            b.at = (b.at + 7) & ~UINT64_C(7);
            continue;
        }
        if (zdiv == 4 || zdiv == 5)
            return NULL;
        s->n = get(&b, 15) + 1;
        s->wdiv = get(&b, 3);
        s->truncated = get(&b, 1);
        bool fresh = get(&b, 1);
        if (fresh)
            read_palette(&b, &p);
        if (s->wdiv == 6 || over(&b))
            return NULL;
        s->zdiv = zdiv;
        s->runs = zdiv != NO_RUNS;
        s->plain = s->wdiv == 7;
        if (s->plain)
            s->wdiv = p.size ? (uint32_t)log2_up(p.size) : p.bits;
        s->nz = s->n + fresh;
        s->n_value = s->n_run = s->wpos = s->zpos = 0;
        s->w = s->z = (quotients){0};
        if (!read_chunks(&b, s))
            return NULL;
        put_slice(s, &p, fresh, &out);
        if (out.full)
            return NULL;
    }
    *n = out.n;
    return out.v;
}
