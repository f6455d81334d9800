/* SPDX-License-Identifier: Apache-2.0 */
/* float_tile_body.h -- the loops of float_tile.h with vectors V of L lanes; float_tile.c includes
 * it once per level, with NAME, TARGET, LOAD and the others, and how many REGISTERS there are. */

/* The rows' results in c, of which the last vector has `some` columns, or all L. */
TARGET TC_INLINE void NAME(put)(const int tall, const int wide, const tc_panel *p,
                                float *const *c, const int64_t some, V (*s)[4])
{
    V w[4];
    if (!p->more && p->bias) {
        UNROLL for (int j = 0; j < wide; j++)
            w[j] = j < wide - 1 || some == L ? LOAD(p->bias + j * L)
                                             : LOAD_SOME(p->bias + j * L, some);
        UNROLL for (int r = 0; r < tall; r++)
            UNROLL for (int j = 0; j < wide; j++)
                s[r][j] = w[j] + s[r][j];
    }
    UNROLL for (int r = 0; r < tall; r++)
        UNROLL for (int j = 0; j < wide; j++) {
            float *to = c[r] + p->at + j * L;
            bool whole = j < wide - 1 || some == L;
            V v = s[r][j];
            if (p->more)
                v = (whole ? LOAD(to) : LOAD_SOME(to, some)) + v;
            if (whole)
                STORE(to, v);
            else
                STORE_SOME(to, v, some);
        }
}

/* `tall` rows by `wide` vectors, in registers. */
TARGET TC_INLINE void NAME(tile)(const int tall, const int wide, const tc_panel *p, int64_t first)
{
    V s[12][4], w[4];
    float *const *c = p->to + first;
    UNROLL for (int r = 0; r < tall; r++)
        UNROLL for (int j = 0; j < wide; j++)
            s[r][j] = SET(0.0f);
    for (int e = 0; e < p->n_piece; e++) {
        const tc_piece *at = &p->piece[e];
        const float *a[12], *b = p->b + at->k * wide * L;
        UNROLL for (int r = 0; r < tall; r++)
            a[r] = p->row[first + r] + at->offset;
        for (int64_t k = 0; k < at->length; k++, b += wide * L) {
            UNROLL for (int j = 0; j < wide; j++)
                w[j] = LOAD(b + j * L);
            UNROLL for (int r = 0; r < tall; r++) {
                V x = SET(a[r][k]);
                UNROLL for (int j = 0; j < wide; j++)
                    s[r][j] += x * w[j];
            }
        }
    }
    if (p->columns >= wide * L)
        NAME(put)(tall, wide, p, c, L, s);
    else
        NAME(put)(tall, wide, p, c, p->columns - (wide - 1) * L, s);
}

#define TILE(tall, wide)                                                                           \
    TARGET static __attribute__((noinline)) void NAME(tile_##tall##_##wide)(const tc_panel *p,     \
                                                                            int64_t first)         \
    {                                                                                              \
        NAME(tile)(tall, wide, p, first);                                                          \
    }
#if REGISTERS == 32
#define TILES(F)                                                                                   \
    F(1, 1) F(2, 1) F(3, 1) F(4, 1) F(5, 1) F(6, 1) F(7, 1) F(8, 1) F(9, 1) F(10, 1) F(11, 1)      \
    F(12, 1) F(1, 2) F(2, 2) F(3, 2) F(4, 2) F(5, 2) F(6, 2) F(7, 2) F(8, 2) F(9, 2) F(10, 2)      \
    F(11, 2) F(12, 2) F(1, 3) F(2, 3) F(3, 3) F(4, 3) F(5, 3) F(6, 3) F(7, 3) F(8, 3) F(1, 4)      \
    F(2, 4) F(3, 4) F(4, 4) F(5, 4) F(6, 4)
#define TALL {0, 12, 12, 8, 6}
#else
#define TILES(F)                                                                                   \
    F(1, 1) F(2, 1) F(3, 1) F(4, 1) F(5, 1) F(6, 1) F(7, 1) F(8, 1) F(9, 1) F(10, 1) F(1, 2)       \
    F(2, 2) F(3, 2) F(4, 2) F(5, 2) F(1, 3) F(2, 3) F(3, 3) F(1, 4) F(2, 4)
#define TALL {0, 10, 5, 3, 2}
#endif
TILES(TILE)

static void NAME(panel)(int vectors, const tc_panel *p)
{
    static const int most[] = TALL;
    static void (*const tile[13][5])(const tc_panel *, int64_t) = {
#define ROW(tall, wide) [tall][wide] = NAME(tile_##tall##_##wide),
        TILES(ROW)
#undef ROW
    };
    /* As many rows in each tile as in the others. */
    int64_t tiles = (p->rows + most[vectors] - 1) / most[vectors], at = 0;
    for (int64_t i = 0; i < tiles; i++) {
        int64_t next = p->rows * (i + 1) / tiles;
        tile[next - at][vectors](p, at);
        at = next;
    }
}

/* `many` pixels of a line by `wide` vectors of channels, or, with some > 0, by `some` channels.
 * tap: those inside, the same for all pixels. */
TARGET TC_INLINE void NAME(pixels)(const int many, const int wide, const tc_depth *d,
                                   const int64_t tap[2][2], const float *x, const float *w,
                                   const float *bias, float *y, int64_t some)
{
    V s[4][4];
    int64_t n = d->channels, step = d->stride[1] * n;
    UNROLL for (int p = 0; p < many; p++)
        UNROLL for (int j = 0; j < wide; j++)
            s[p][j] = SET(0.0f);
    for (int64_t h = tap[0][0]; h < tap[0][1]; h++)
        for (int64_t v = tap[1][0]; v < tap[1][1]; v++) {
            const float *f = x + (h * d->dilation[0] * d->in[1] + v * d->dilation[1]) * n;
            const float *g = w + (h * d->kernel[1] + v) * n;
            UNROLL for (int j = 0; j < wide; j++) {
                V u = some ? LOAD_SOME(g + j * L, some) : LOAD(g + j * L);
                UNROLL for (int p = 0; p < many; p++) {
                    const float *at = f + p * step + j * L;
                    s[p][j] += (some ? LOAD_SOME(at, some) : LOAD(at)) * u;
                }
            }
        }
    UNROLL for (int p = 0; p < many; p++)
        UNROLL for (int j = 0; j < wide; j++) {
            const float *b = bias + j * L;
            float *to = y + p * n + j * L;
            if (some)
                STORE_SOME(to, LOAD_SOME(b, some) + s[p][j], some);
            else
                STORE(to, LOAD(b) + s[p][j]);
        }
}

/* Four pixels next to each other, stride 1 and `taps` taps a line: each input is loaded once for
 * all of them.  The terms of one result come in order, since q rises. */
TARGET TC_INLINE void NAME(slide)(const int taps, const tc_depth *d, const int64_t tap[2][2],
                                  const float *x, const float *w, const float *bias, float *y)
{
    V s[4], u[8];
    int64_t n = d->channels;
    UNROLL for (int p = 0; p < 4; p++)
        s[p] = SET(0.0f);
    for (int64_t h = tap[0][0]; h < tap[0][1]; h++) {
        const float *f = x + h * d->dilation[0] * d->in[1] * n, *g = w + h * taps * n;
        UNROLL for (int k = 0; k < taps; k++)
            u[k] = LOAD(g + k * n);
        UNROLL for (int q = 0; q < taps + 3; q++) {
            V v = LOAD(f + q * n);
            UNROLL for (int p = 0; p < 4; p++)
                if (q - p >= 0 && q - p < taps)
                    s[p] += v * u[q - p];
        }
    }
    V b = LOAD(bias);
    UNROLL for (int p = 0; p < 4; p++)
        STORE(y + p * n, b + s[p]);
}

#define PIXELS const tc_depth *d, const int64_t tap[2][2], const float *x, const float *w,         \
               const float *bias, float *y
TARGET static __attribute__((noinline)) void NAME(slide3)(PIXELS)
{
    NAME(slide)(3, d, tap, x, w, bias, y);
}
#if REGISTERS == 32
TARGET static __attribute__((noinline)) void NAME(slide5)(PIXELS)
{
    NAME(slide)(5, d, tap, x, w, bias, y);
}
TARGET static __attribute__((noinline)) void NAME(slide7)(PIXELS)
{
    NAME(slide)(7, d, tap, x, w, bias, y);
}
#endif
TARGET static __attribute__((noinline)) void NAME(four_by_two)(PIXELS)
{
    NAME(pixels)(4, 2, d, tap, x, w, bias, y, 0);
}
TARGET static __attribute__((noinline)) void NAME(four_by_one)(PIXELS)
{
    NAME(pixels)(4, 1, d, tap, x, w, bias, y, 0);
}
TARGET static __attribute__((noinline)) void NAME(one_by_four)(PIXELS)
{
    NAME(pixels)(1, 4, d, tap, x, w, bias, y, 0);
}
TARGET static __attribute__((noinline)) void NAME(one_by_one)(PIXELS)
{
    NAME(pixels)(1, 1, d, tap, x, w, bias, y, 0);
}
TARGET static __attribute__((noinline)) void NAME(four_by_some)(PIXELS, int64_t some)
{
    NAME(pixels)(4, 1, d, tap, x, w, bias, y, some);
}
TARGET static __attribute__((noinline)) void NAME(one_by_some)(PIXELS, int64_t some)
{
    NAME(pixels)(1, 1, d, tap, x, w, bias, y, some);
}

typedef void NAME(form)(PIXELS);

/* All channels of one or four pixels. */
static void NAME(channels)(bool four, PIXELS)
{
    int64_t n = d->channels, c = 0;
    NAME(form) *slide = NULL;
    if (four && d->stride[1] == 1 && d->dilation[1] == 1)
        slide = d->kernel[1] == 3 ? NAME(slide3)
#if REGISTERS == 32
                : d->kernel[1] == 5 ? NAME(slide5)
                : d->kernel[1] == 7 ? NAME(slide7)
#endif
                                    : NULL;
    NAME(form) *broad = four ? NAME(four_by_two) : NAME(one_by_four);
    NAME(form) *single = slide ? slide : four ? NAME(four_by_one) : NAME(one_by_one);
    int64_t wide = four ? 2 * L : 4 * L;
    for (; !slide && c + wide <= n; c += wide)
        broad(d, tap, x + c, w + c, bias + c, y + c);
    for (; c + L <= n; c += L)
        single(d, tap, x + c, w + c, bias + c, y + c);
    if (c < n)
        (four ? NAME(four_by_some) : NAME(one_by_some))(d, tap, x + c, w + c, bias + c, y + c,
                                                        n - c);
}

/* Taps [lo, hi) that are inside, at coordinate `at` of an axis. */
static void NAME(inside)(const tc_depth *d, int axis, int64_t at, int64_t tap[2])
{
    int64_t gap = d->dilation[axis], left = d->in[axis] - at;
    tap[0] = at < 0 ? (-at + gap - 1) / gap : 0;
    tap[1] = left <= 0 ? 0 : ti_min_i64((left + gap - 1) / gap, d->kernel[axis]);
}

static void NAME(depth)(const tc_depth *d, int64_t line, const float *x, const float *w,
                        const float *bias, float *y)
{
    int64_t tap[2][2], top = line * d->stride[0] - d->before[0];
    NAME(inside)(d, 0, top, tap[0]);
    for (int64_t i = 0; i < d->out[1];) {
        int64_t left = i * d->stride[1] - d->before[1];
        int64_t reach = left + 3 * d->stride[1] + (d->kernel[1] - 1) * d->dilation[1];
        bool four = i + 4 <= d->out[1] && left >= 0 && reach < d->in[1];
        NAME(inside)(d, 1, left, tap[1]);
        NAME(channels)(four, d, (const int64_t(*)[2])tap,
                       x + (top * d->in[1] + left) * d->channels, w, bias, y + i * d->channels);
        i += four ? 4 : 1;
    }
}

static const tc_float_level NAME(level) = {L, TALL, NAME(panel), NAME(depth)};

#undef TILE
#undef TILES
#undef TALL
#undef PIXELS
#undef NAME
#undef TARGET
#undef V
#undef L
#undef LOAD
#undef STORE
#undef LOAD_SOME
#undef STORE_SOME
#undef SET
#undef REGISTERS
