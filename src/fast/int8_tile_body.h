/* SPDX-License-Identifier: Apache-2.0 */
/* int8_tile_body.h -- int8_tile.c's tile in registers. */
#include "width_x86.h"

TARGET TC_INLINE void W(tile)(const side *t, const uint8_t *const *row, uint8_t *y, const int rows,
                              const int panels, const bool words)
{
    const tc_dense8 *d = t->d;
    const int8_t *b = t->b;
    V acc[ROWS][PANELS];
    const uint8_t *a[ROWS];
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++) {
        a[r] = row[r];
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            acc[r][p] = W(ti_load)(t->start + LANES * p);
    }
    if (t->more)
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                acc[r][p] = MM(add_epi32)(acc[r][p], MM(set1_epi32)(t->more[r]));
    size_t units = d->units;
    for (size_t s = 0; s < d->n_segment; s++) {
        size_t at = d->segment[s];
        for (size_t end = at + 4 * units; at < end; at += 4, b += 4 * LANES * panels) {
            V w[PANELS];
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                w[p] = W(ti_load)(b + 4 * LANES * p);
#pragma GCC unroll 12
            for (int r = 0; r < rows; r++) {
                V x = MM(set1_epi32)(dword(a[r] + at));
#pragma GCC unroll 4
                for (int p = 0; p < panels; p++)
                    acc[r][p] = W(ti_dot)(acc[r][p], x, w[p], words);
            }
        }
    }
    W(ti_finish)(&d->finish, t->g, acc, rows, panels, y);
}
#undef WIDTH
#include "width_x86.h"
