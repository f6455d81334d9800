/* SPDX-License-Identifier: Apache-2.0 */
/* int8_depth_body.h -- int8_depth.c on words, two taps at a time; two panels of channels. */
#include "width_x86.h"

TARGET TC_INLINE void W(words)(const tc_depth8 *d, const tc_group *g, const uint8_t *w,
                               const uint8_t *const *row, uint8_t *y, const int rows)
{
    V acc[MOST_ROWS][PANELS];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int p = 0; p < 2; p++)
            acc[r][p] = W(ti_load)(g->start + LANES * p);
    for (size_t u = 0; u < d->units; u++, w += 8 * LANES) {
        V w0 = W(ti_load)(w), w1 = W(ti_load)(w + 4 * LANES);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *from = row[r] + 2 * g->first;
            V a = W(ti_load)(from + d->tap[2 * u]), b = W(ti_load)(from + d->tap[2 * u + 1]);
            acc[r][0] = W(ti_dot)(acc[r][0], MM(unpacklo_epi16)(a, b), w0, true);
            acc[r][1] = W(ti_dot)(acc[r][1], MM(unpackhi_epi16)(a, b), w1, true);
        }
    }
    W(ti_finish)(&d->finish, g, acc, rows, 2, y);
}
#undef WIDTH
#include "width_x86.h"
