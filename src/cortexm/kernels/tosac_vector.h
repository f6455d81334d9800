/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_vector.h -- elementwise arithmetic on four elements at a time, for cores with MVE: each
 * function as its namesake of tosac_kernels.h. */
#ifndef TOSAC_VECTOR_H
#define TOSAC_VECTOR_H

#include "tosac_simd.h"

#if TOSAC_ISA == TOSAC_ISA_MVE

typedef int32x4_t tosac_v;

#define tosac_vnumber(v) vdupq_n_s32(v)

static inline tosac_v tosac_vload_int8_t(const int8_t *p, mve_pred16_t l)
{
    return vldrbq_z_s32(p, l);
}
static inline tosac_v tosac_vload_int16_t(const int16_t *p, mve_pred16_t l)
{
    return vldrhq_z_s32(p, l);
}
static inline tosac_v tosac_vload_int32_t(const int32_t *p, mve_pred16_t l)
{
    return vldrwq_z_s32(p, l);
}
static inline tosac_v tosac_vload_uint8_t(const uint8_t *p, mve_pred16_t l)
{
    return vreinterpretq_s32_u32(vldrbq_z_u32(p, l));
}
/* The low bits. */
static inline void tosac_vstore_int8_t(int8_t *p, tosac_v v, mve_pred16_t l)
{
    vstrbq_p_s32(p, v, l);
}
static inline void tosac_vstore_int16_t(int16_t *p, tosac_v v, mve_pred16_t l)
{
    vstrhq_p_s32(p, v, l);
}
static inline void tosac_vstore_int32_t(int32_t *p, tosac_v v, mve_pred16_t l)
{
    vstrwq_p_s32(p, v, l);
}
static inline void tosac_vstore_uint8_t(uint8_t *p, tosac_v v, mve_pred16_t l)
{
    vstrbq_p_u32(p, vreinterpretq_u32_s32(v), l);
}

static inline tosac_v tosac_vclip(tosac_v v, int32_t lo, int32_t hi)
{
    return vminq_s32(vmaxq_s32(v, vdupq_n_s32(lo)), vdupq_n_s32(hi));
}
static inline tosac_v tosac_vlsl(tosac_v a, tosac_v s) { return vshlq_s32(a, s); }
static inline tosac_v tosac_vasr(tosac_v a, tosac_v s) { return vshlq_s32(a, vnegq_s32(s)); }
static inline tosac_v tosac_vasr_round(tosac_v a, tosac_v s) { return vrshlq_s32(a, vnegq_s32(s)); }
/* -128 .. 127, -32768 .. 32767 by the low bits. */
static inline tosac_v tosac_vwrap(tosac_v v, int32_t bits)
{
    return vshlq_s32(vshlq_s32(v, vdupq_n_s32(32 - bits)), vdupq_n_s32(bits - 32));
}
/* 1 where the lanes are of the predicate, else 0. */
static inline tosac_v tosac_vtruth(mve_pred16_t p)
{
    return vpselq_s32(vdupq_n_s32(1), vdupq_n_s32(0), p);
}
static inline tosac_v tosac_vselect(tosac_v c, tosac_v a, tosac_v b)
{
    return vpselq_s32(a, b, vcmpneq_n_s32(c, 0));
}
static inline tosac_v tosac_vtable(const int8_t *table, tosac_v x)
{
    return vldrbq_gather_offset_s32(table, vreinterpretq_u32_s32(vaddq_n_s32(x, 128)));
}

/* TABLE of 513 entries. */
static inline tosac_v tosac_vtable16(const int16_t *table, tosac_v v)
{
    const uint32x4_t at = vreinterpretq_u32_s32(vshrq_n_s32(vaddq_n_s32(v, 32768), 7));
    const tosac_v low = vldrhq_gather_shifted_offset_s32(table, at);
    const tosac_v high = vldrhq_gather_shifted_offset_s32(table + 1, at);
    return vaddq_s32(vshlq_n_s32(low, 7),
                     vmulq_s32(vsubq_s32(high, low), vandq_s32(v, vdupq_n_s32(127))));
}
/* a * b / 2^s, halves up, by both halves of the product. */
static inline tosac_v tosac_vmul_shift(tosac_v a, tosac_v b, int32_t s)
{
    const tosac_v high = vmulhq_s32(a, b);
    if (s == 32)
        return vrmulhq_s32(a, b);
    if (s > 32)
        return vrshlq_s32(high, vdupq_n_s32(32 - s));
    const uint32x4_t low = vreinterpretq_u32_s32(vmulq_s32(a, b));
    return vaddq_s32(vshlq_s32(high, vdupq_n_s32(32 - s)),
                     vreinterpretq_s32_u32(vrshlq_u32(low, vdupq_n_s32(-s))));
}

/* RESCALE by multipliers and shifts of their own. */
static inline tosac_v tosac_vscale_each(tosac_rounding rounding, tosac_v v, tosac_v m, tosac_v s)
{
    const tosac_v by = vsubq_s32(vdupq_n_s32(rounding == TOSAC_DOUBLE ? 31 : 32), s);
    return tosac_scale4(rounding, 1, v, &(tosac_four){m, by, 1});
}

/* RESCALE by one multiplier and shift; see tosac_requantize4. */
static inline tosac_v tosac_vscale_double(tosac_v v, int32_t m, int32_t s)
{
    if (s < 31)
        v = vshlq_s32(v, vdupq_n_s32(31 - s));
    v = vqrdmulhq_n_s32(v, m);
    if (s > 31)
        v = vrshlq_s32(vaddq_s32(v, vshrq_n_s32(v, 31)), vdupq_n_s32(31 - s));
    return v;
}
static inline tosac_v tosac_vscale(tosac_v v, int32_t m, int32_t s)
{
    if (s > 32)
        return vrshlq_s32(vmulhq_s32(v, vdupq_n_s32(m)), vdupq_n_s32(32 - s));
    if (s < 32)
        v = vshlq_s32(v, vdupq_n_s32(32 - s));
    return vrmulhq_s32(v, vdupq_n_s32(m));
}

#endif
#endif
