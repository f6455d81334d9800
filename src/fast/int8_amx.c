/* SPDX-License-Identifier: Apache-2.0 */
/* int8_amx.c -- sixteen rows by a group of panels in tiles of bytes: one tile of rows, one of
 * columns at a time, up to four of sums, which are finished from memory. */
#include "int8_tile.h"

#include "finish_x86.h"

#if defined(TC_X86) && defined(__linux__) /* isa.c finds tiles on such machines only */

#define TC_AMX __attribute__((target("amx-tile,amx-int8")))

enum { ROWS = 16, AT_ONCE = 4 };

/* A constant: compilers assume that only its first word is read. */
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} eight_tiles = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64},
                 {ROWS, ROWS, ROWS, ROWS, ROWS, ROWS, ROWS, ROWS}};

TC_AMX void ti_amx_begin(void) { _tile_loadconfig(&eight_tiles); }

TC_AMX void ti_amx_end(void) { _tile_release(); }

/* Sums of 16 rows that are `apart` bytes from each other, slot by slot. */
TC_AMX TC_INLINE void sums(const tc_dense8 *d, const int8_t *b, const uint8_t *row, size_t apart,
                           const int panels, int32_t *sum)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t s = 0; s < d->n_segment; s++) {
        const uint8_t *a = row + d->segment[s];
        for (size_t u = 0; u < d->units; u += ROWS, a += 64, b += ROWS * 64 * panels) {
            _tile_loadd(4, a, apart);
            _tile_loadd(5, b, 64 * panels);
            _tile_dpbusd(0, 4, 5);
            if (panels > 1) {
                _tile_loadd(6, b + 64, 64 * panels);
                _tile_dpbusd(1, 4, 6);
            }
            if (panels > 2) {
                _tile_loadd(7, b + 128, 64 * panels);
                _tile_dpbusd(2, 4, 7);
            }
            if (panels > 3) {
                _tile_loadd(5, b + 192, 64 * panels);
                _tile_dpbusd(3, 4, 5);
            }
        }
    }
    _tile_stored(0, sum, 64 * panels);
    if (panels > 1)
        _tile_stored(1, sum + 16, 64 * panels);
    if (panels > 2)
        _tile_stored(2, sum + 32, 64 * panels);
    if (panels > 3)
        _tile_stored(3, sum + 48, 64 * panels);
}

TC_AVX512 TC_INLINE void finish_rows(const tc_dense8 *d, const tc_group *g, const int32_t *start,
                                     const int32_t *more, const int32_t *sum, uint8_t *y,
                                     const int rows, const int panels)
{
    __m512i acc[AT_ONCE][TC_512_PANELS];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        __m512i row = _mm512_set1_epi32(more ? more[r] : 0);
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            acc[r][p] = _mm512_add_epi32(
                row, _mm512_add_epi32(ti_load512(sum + (r * panels + p) * 16),
                                      ti_load512(start + 16 * p)));
    }
    ti_finish512(&d->finish, g, acc, rows, panels, y);
}

#define GROUP(P)                                                                                   \
    TC_AVX512 static void finish_##P(const tc_dense8 *d, const tc_group *g, const int32_t *start,  \
                                     const int32_t *more, const int32_t *sum, size_t rows,         \
                                     uint8_t *y)                                                   \
    {                                                                                              \
        size_t r = 0;                                                                              \
        for (; r + AT_ONCE <= rows; r += AT_ONCE)                                                  \
            finish_rows(d, g, start, more ? more + r : NULL, sum + r * P * 16,                     \
                        y + r * d->finish.row_bytes, AT_ONCE, P);                                  \
        for (; r < rows; r++)                                                                      \
            finish_rows(d, g, start, more ? more + r : NULL, sum + r * P * 16,                     \
                        y + r * d->finish.row_bytes, 1, P);                                        \
    }                                                                                              \
    TC_AMX static void sums_##P(const tc_dense8 *d, const int8_t *b, const uint8_t *row,           \
                                size_t apart, int32_t *sum)                                        \
    {                                                                                              \
        sums(d, b, row, apart, P, sum);                                                            \
    }
GROUP(1)
GROUP(2)
GROUP(3)
GROUP(4)

static const struct {
    void (*sums)(const tc_dense8 *, const int8_t *, const uint8_t *, size_t, int32_t *);
    void (*finish)(const tc_dense8 *, const tc_group *, const int32_t *, const int32_t *,
                   const int32_t *, size_t, uint8_t *);
} of_panels[] = {{sums_1, finish_1}, {sums_2, finish_2}, {sums_3, finish_3}, {sums_4, finish_4}};

void ti_amx_group(const tc_dense8 *d, const tc_group *g, const int8_t *b, const int32_t *start,
                  const int32_t *more, const uint8_t *const *row, size_t rows, uint8_t *y)
{
    int32_t sum[ROWS * TC_512_PANELS * 16];
    size_t kind = g->panels - 1;
    for (size_t r = 0, n; r < rows; r += n) {
        ptrdiff_t apart = r + 1 < rows ? row[r + 1] - row[r] : 0;
        for (n = 1; n < ROWS && r + n < rows && row[r + n] - row[r + n - 1] == apart;)
            n++;
        if (apart < 0 || n == 1) /* the next one is not adjacent */
            apart = 0;
        of_panels[kind].sums(d, b, row[r], (size_t)apart, sum);
        of_panels[kind].finish(d, g, start, more ? more + r : NULL, sum, n,
                               y + r * d->finish.row_bytes);
    }
}

#else

void ti_amx_begin(void) {}
void ti_amx_end(void) {}

void ti_amx_group(const tc_dense8 *d, const tc_group *g, const int8_t *b, const int32_t *start,
                  const int32_t *more, const uint8_t *const *row, size_t rows, uint8_t *y)
{
    (void)d, (void)g, (void)b, (void)start, (void)more, (void)row, (void)rows, (void)y;
}

#endif
