/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h -- sums that stay accurate and are quick: eight running f64 totals, joined at the end.
 * Always inlined, so that they have the width of the loop they are in (lanes.h). */
#ifndef TC_SUM_H
#define TC_SUM_H

#include "../base/base.h"

#define TC_SUM(name, T, term)                                                                      \
    static inline __attribute__((always_inline)) double name(const T *x, int64_t n,                \
                                                             TC_UNUSED double mean)                \
    {                                                                                              \
        double s[8] = {0};                                                                         \
        int64_t i = 0;                                                                             \
        for (; i + 8 <= n; i += 8)                                                                 \
            for (int j = 0; j < 8; j++) {                                                          \
                double v = (double)x[i + j];                                                       \
                s[j] += term;                                                                      \
            }                                                                                      \
        for (; i < n; i++) {                                                                       \
            double v = (double)x[i];                                                               \
            s[i % 8] += term;                                                                      \
        }                                                                                          \
        return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));                  \
    }

TC_SUM(ti_sum_f32, float, v)                           /* sum of x */
TC_SUM(ti_sum_f64, double, v)
TC_SUM(ti_sum_squares_f32, float, (v - mean) * (v - mean)) /* sum of (x - mean)^2 */
TC_SUM(ti_sum_squares_f64, double, (v - mean) * (v - mean))
#undef TC_SUM

#endif
