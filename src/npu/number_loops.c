/* SPDX-License-Identifier: Apache-2.0 */
/* number_loops.c -- see number_loops.h. */
#include "number_loops.h"

#include "../num/lanes.h"

TC_LANES_BODY add_body(int64_t *v, size_t n, int64_t by)
{
    for (size_t i = 0; i < n; i++)
        v[i] = ti_wrap_add(v[i], by);
}
TC_LANES(, ti_npu_add_all, add_body, (int64_t *v, size_t n, int64_t by), (v, n, by))

TC_LANES_BODY clamp_body(int64_t *v, size_t n, int64_t lo, int64_t hi)
{
    for (size_t i = 0; i < n; i++) {
        int64_t x = v[i] < lo ? lo : v[i];
        v[i] = v[i] > hi ? hi : x;
    }
}
TC_LANES(, ti_npu_clamp_all, clamp_body, (int64_t *v, size_t n, int64_t lo, int64_t hi),
         (v, n, lo, hi))

TC_LANES_BODY wrap_body(int64_t *v, size_t n, uint64_t mask, uint64_t sign)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (int64_t)((((uint64_t)v[i] & mask) ^ sign) - sign);
}
TC_LANES(static, wrap, wrap_body, (int64_t *v, size_t n, uint64_t mask, uint64_t sign),
         (v, n, mask, sign))

void ti_npu_wrap_all(int64_t *v, size_t n, int bits)
{
    if (bits < 64)
        wrap(v, n, (UINT64_C(1) << bits) - 1, UINT64_C(1) << (bits - 1));
}

/* Not 0 where a number needs more than 32 bits. */
TC_LANES_BODY outside_body(const int64_t *v, size_t n, int64_t *not_32)
{
    int64_t outside = 0;
    for (size_t i = 0; i < n; i++)
        outside |= v[i] ^ (int32_t)v[i];
    *not_32 = outside;
}
TC_LANES(static, look_outside, outside_body, (const int64_t *v, size_t n, int64_t *not_32),
         (v, n, not_32))

/* Values of 32 bits: (v m + add) >> shift, with what is added to those from 0 up and below. */
typedef struct quick {
    int64_t m, up, down;
    int shift;
} quick;

TC_LANES_BODY scale_body(const int64_t *from, size_t n, const quick *by, int64_t *to)
{
    int64_t m = by->m, up = by->up, down = by->down;
    for (size_t i = 0; i < n; i++) {
        int64_t v = (int32_t)from[i];
        v = v * m + (v < 0 ? down : up);
        int64_t sign = -(int64_t)(v < 0); /* ti_asr(), for vectors */
        to[i] = (int64_t)((uint64_t)(v ^ sign) >> by->shift) ^ sign;
    }
}
TC_LANES(static, scale_quickly, scale_body,
         (const int64_t *from, size_t n, const quick *by, int64_t *to), (from, n, by, to))

void ti_npu_scale_all(const int64_t *from, size_t n, const tc_npu_scale *by, int64_t *to)
{
    int64_t not_32 = 1;
    if (by->multiplier <= INT32_MAX && by->shift < 63)
        look_outside(from, n, &not_32);
    if (not_32) {
        for (size_t i = 0; i < n; i++)
            to[i] = ti_npu_scale_by(from[i], by);
        return;
    }
    quick q = {.m = by->multiplier, .shift = by->shift};
    if (q.shift) {
        q.up = ti_npu_rounding(0, q.shift, by->round, by->double_bits);
        q.down = ti_npu_rounding(-1, q.shift, by->round, by->double_bits);
    }
    scale_quickly(from, n, &q, to);
}
