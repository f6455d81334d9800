/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.c -- see sha256.h. */
#include "sha256.h"

#ifdef TC_X86
#include <immintrin.h>
#endif

enum { BLOCK = 64, WORDS = 8, ROUNDS = 64, LENGTH_AT = BLOCK - 8 };

typedef void take_blocks(uint32_t h[WORDS], const uint8_t *block, size_t n);

typedef struct state {
    take_blocks *take_blocks;
    uint32_t h[WORDS];
    uint8_t block[BLOCK];
    size_t held;    /* bytes of the block */
    uint64_t bytes; /* in all */
} state;

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t round_word[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* One round; the words are named anew by the caller instead of moved. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
    do {                                                                                           \
        uint32_t one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) +       \
                       round_word[i] + w[i];                                                       \
        d += one;                                                                                  \
        h = one + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));        \
    } while (0)

static void take_block(uint32_t *v, const uint8_t *block)
{
    uint32_t w[ROUNDS];
    uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    for (int i = 0; i < 16; i++) {
        const uint8_t *p = block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 16; i < ROUNDS; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < ROUNDS; i += WORDS) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    v[0] += a, v[1] += b, v[2] += c, v[3] += d, v[4] += e, v[5] += f, v[6] += g, v[7] += h;
}

static void take_blocks_plain(uint32_t h[WORDS], const uint8_t *block, size_t n)
{
    for (; n; n--, block += BLOCK)
        take_block(h, block);
}

#ifdef TC_X86
/* Four words at a time; the machine's two rounds take the state as (a b e f) and (c d g h), the highest word first. */
__attribute__((target("sha,sse4.1"))) static void take_blocks_x86(uint32_t h[WORDS], const uint8_t *block, size_t n)
{
    enum { HIGH_FIRST = 0x1b, PAIRS = 0xb1, UPPER = 0x0e, TOP_HALF = 0xf0, FOUR = 4 };
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)h), PAIRS),
            high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(h + FOUR)), HIGH_FIRST),
            abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, TOP_HALF);
    for (; n; n--, block += BLOCK) {
        __m128i w[FOUR], first = abef, second = cdgh;
        for (int i = 0; i < ROUNDS / FOUR; i++) {
            __m128i *now = &w[i % FOUR], last = w[(i + 3) % FOUR];
            if (i < FOUR)
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), order);
            else {
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % FOUR]), _mm_alignr_epi8(last, w[(i + 2) % FOUR], 4));
                *now = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i k = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(round_word + FOUR * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, UPPER));
        }
        abef = _mm_add_epi32(abef, first);
        cdgh = _mm_add_epi32(cdgh, second);
    }
    low = _mm_shuffle_epi32(abef, HIGH_FIRST);
    high = _mm_shuffle_epi32(cdgh, PAIRS);
    _mm_storeu_si128((__m128i *)h, _mm_blend_epi16(low, high, TOP_HALF));
    _mm_storeu_si128((__m128i *)(h + FOUR), _mm_alignr_epi8(high, low, 8));
}
#endif

static take_blocks *blocks_of(tc_isa isa)
{
#ifdef TC_X86
    if (ti_isa_hashes(isa))
        return take_blocks_x86;
#endif
    (void)isa;
    return take_blocks_plain;
}

static void take(state *s, const uint8_t *data, size_t n)
{
    s->bytes += n;
    while (n) {
        size_t part = BLOCK - s->held < n ? BLOCK - s->held : n;
        if (part == BLOCK) {
            part = n / BLOCK * BLOCK;
            s->take_blocks(s->h, data, n / BLOCK);
        } else {
            memcpy(s->block + s->held, data, part);
            s->held += part;
            if (s->held == BLOCK) {
                s->take_blocks(s->h, s->block, 1);
                s->held = 0;
            }
        }
        data += part;
        n -= part;
    }
}

void ti_sha256_hex(const tc_bytes *part, size_t n, char out[TC_SHA256_HEX + 1])
{
    ti_sha256_hex_by(ti_isa(), part, n, out);
}

void ti_sha256_hex_by(tc_isa isa, const tc_bytes *part, size_t n, char out[TC_SHA256_HEX + 1])
{
    static const uint8_t end = 0x80, zero = 0;
    state s = {.take_blocks = blocks_of(isa),
               .h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    for (size_t i = 0; i < n; i++)
        take(&s, part[i].data, part[i].size);
    uint64_t bits = s.bytes * 8;
    take(&s, &end, 1);
    while (s.held != LENGTH_AT)
        take(&s, &zero, 1);
    for (int i = 7; i >= 0; i--) {
        uint8_t b = (uint8_t)(bits >> 8 * i);
        take(&s, &b, 1);
    }
    for (int i = 0; i < TC_SHA256_HEX; i++)
        out[i] = "0123456789abcdef"[s.h[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out[TC_SHA256_HEX] = 0;
}
