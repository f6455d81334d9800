/* SPDX-License-Identifier: Apache-2.0 */
/* finish_body.h -- the part of finish_x86.h common to all widths. */
#include "width_x86.h"

/* Every row of one panel: sums to scaled sums. */
TARGET TC_INLINE void W(ti_scale)(const tc_group *g, V (*acc)[PANELS], const int rows, const int p,
                                  const bool left)
{
    V m0 = W(ti_load)(g->m0 + LANES * p), m1 = W(ti_load)(g->m1 + LANES * p);
    V half0 = W(ti_load)(g->half0 + LANES / 2 * p), half1 = W(ti_load)(g->half1 + LANES / 2 * p);
    V left0 = W(ti_load)(g->left0 + LANES / 2 * p), left1 = W(ti_load)(g->left1 + LANES / 2 * p);
    V right = W(ti_load)(g->right + LANES * p);
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++) {
        V v = acc[r][p];
        V even = MM(add_epi64)(MM(mul_epi32)(v, m0), half0);
        V odd = MM(add_epi64)(MM(mul_epi32)(MM(srli_epi64)(v, 32), m1), half1);
        if (left) {
            even = MM(sllv_epi64)(even, left0);
            odd = MM(sllv_epi64)(odd, left1);
        }
        acc[r][p] = MM(srav_epi32)(W(ti_highs)(even, odd), right);
    }
}

/* rows x panels sums to rows of y. */
TARGET TC_INLINE void W(ti_finish)(const tc_finish *f, const tc_group *g, V (*acc)[PANELS],
                                   const int rows, const int panels, uint8_t *y)
{
    if (!f->quick || f->narrow.dtype == TC_i32) {
        int32_t sum[ROWS * PANELS * LANES];
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                W(ti_put)(sum + (r * panels + p) * LANES, acc[r][p]);
        ti_finish_slots(f, g, sum, (size_t)rows, y);
        return;
    }
#pragma GCC unroll 4
    for (int p = 0; p < panels; p++)
        if (g->shifts_left)
            W(ti_scale)(g, acc, rows, p, true);
        else
            W(ti_scale)(g, acc, rows, p, false);
    if (f->narrow.dtype == TC_i16) {
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
            W(ti_words)(f, g, acc[r], panels, y + (size_t)r * f->row_bytes);
        return;
    }
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++)
        W(ti_bytes)(f, g, acc[r], panels, y + (size_t)r * f->row_bytes);
}
#undef WIDTH
#include "width_x86.h"
