/* SPDX-License-Identifier: Apache-2.0 */
/* snap.h -- values rounded to a grid: quantize and dequantize at once. */
#ifndef TC_SNAP_H
#define TC_SNAP_H

#include "../base/base.h"

/* The grid scale (q - zero), lo <= q <= hi, in f32. */
typedef struct tc_snap {
    float scale, inverse, zero, lo, hi;
} tc_snap;

/* Whether zero and codes are small enough for the fast rounding. */
static inline bool ti_snap_fits(int64_t zero, int64_t lo, int64_t hi)
{
    const int64_t most = 1 << 20;
    return -most <= zero && zero <= most && -most <= lo && hi <= most;
}

static inline tc_snap ti_snap_make(double scale, int64_t zero, int64_t lo, int64_t hi)
{
    return (tc_snap){(float)scale, (float)(1.0 / scale), (float)zero, (float)lo, (float)hi};
}

/* y = dequantize(quantize(x)), bit for bit as the operators of these names compute it; NaN is code
 * 0. */
void ti_snap_f32(const tc_snap *grid, const float *x, float *y, size_t n);

#endif
