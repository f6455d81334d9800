/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h -- v * m / 2^n with every rounding that the machines have, exact for any width. */
#ifndef TC_SCALE_H
#define TC_SCALE_H

#include "../num/fixed.h"
#include "npu_op.h"

__extension__ typedef __int128 tc_npu_wide;

/* What is added before the shift; n > 0, k: dbl_rnd.  With D = n > 31 - k ? 2^(30-k) : 0
 *
 *   double      2^(n-1) + (v < 0 ? -D : D)        natural    2^(n-1)
 *   double up   2^(n-1) + D                       symmetric  2^(n-1) - (v < 0)
 *   to zero     v m < 0 ? 2^n - 1 : 0             down       0                     */
static inline int64_t ti_npu_rounding(int64_t v, int n, tc_npu_round round, int k)
{
    int64_t half = INT64_C(1) << (n - 1), more = n > 31 - k && k <= 30 ? INT64_C(1) << (30 - k) : 0;
    switch (round) {
    case TC_ROUND_DOUBLE:
        return half + (v < 0 ? -more : more);
    case TC_ROUND_NATURAL:
        return half;
    case TC_ROUND_DOUBLE_UP:
        return half + more;
    case TC_ROUND_SYMMETRIC:
        return half - (v < 0);
    case TC_ROUND_TO_ZERO:
        return v < 0 ? (half - 1) + half : 0;
    case TC_ROUND_DOWN:
        return 0;
    }
    return half;
}

/* floor((v m + rounding) / 2^n); 0 <= n <= 63.  The low 64 bits, should there be more. */
static inline int64_t ti_npu_scaled(int64_t v, uint32_t m, int n, tc_npu_round round, int k)
{
    if (n == 0)
        return ti_wrap_mul(v, m);
    int64_t add = ti_npu_rounding(v, n, round, k);
    if (v == (int32_t)v && m <= INT32_MAX && n < 63) /* |v m| < 2^62, |add| < 2^62 + 2^31 */
        return ti_asr(v * (int64_t)m + add, n);
    return (int64_t)(((tc_npu_wide)v * m + add) >> n);
}

static inline int64_t ti_npu_scale_by(int64_t v, const tc_npu_scale *s)
{
    return ti_npu_scaled(v, s->multiplier, s->shift, s->round, s->double_bits);
}

/* The low bits of v, as a number with or without a sign. */
static inline int64_t ti_npu_wrapped(int64_t v, int bits, bool is_signed)
{
    if (bits >= 64)
        return v;
    uint64_t low = (uint64_t)v & ((UINT64_C(1) << bits) - 1);
    uint64_t sign = is_signed ? UINT64_C(1) << (bits - 1) : 0;
    return (int64_t)((low ^ sign) - sign);
}

#endif
