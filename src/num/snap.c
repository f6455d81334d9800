/* SPDX-License-Identifier: Apache-2.0 */
/* snap.c -- see snap.h. */
#include "snap.h"

#include "lanes.h"

/* Past 2^22 the rounding by addition is wrong, but stays out of range, so the clamp gives the
 * same. */
TC_LANES_BODY snap_body(const tc_snap *grid, const float *restrict x, float *restrict y, size_t n)
{
    const tc_snap g = *grid;
    for (size_t i = 0; i < n; i++) {
        float q = ((x[i] * g.inverse + 0x1.8p23f) - 0x1.8p23f) + g.zero;
        q = q < g.lo ? g.lo : q;
        q = q > g.hi ? g.hi : q;
        q = q == q ? q : 0.0f;
        y[i] = (q - g.zero) * g.scale;
    }
}
TC_LANES(, ti_snap_f32, snap_body,
         (const tc_snap *grid, const float *restrict x, float *restrict y, size_t n),
         (grid, x, y, n))
