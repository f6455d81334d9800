/* SPDX-License-Identifier: Apache-2.0 */
/* load.h -- elements of any type as f32, f64 or i64, and back by PyTorch's rules of conversion.
 *
 * To an integer: toward zero, then the low bits of the type; values past the range (and NaN) give
 * what x86 gives, the smallest i32 or i64 before the low bits are taken.  To bool: not zero.
 * To a narrow float: through f32, to nearest even; e4m3, which has no infinity, saturates, and a
 * block-scaled number gets a scale of its own.  A u64 is its bit pattern as i64. A complex number
 * is read by its real part, and written with imaginary
 * part zero. */
#ifndef TC_LOAD_H
#define TC_LOAD_H

#include "block_scaled.h"
#include "half.h"
#include "type.h"

/* How elements are stored: X(dtype, type in C). */
#define TC_STORED_INTS(X)                                                                          \
    X(i4, int8_t)                                                                                  \
    X(i8, int8_t)                                                                                  \
    X(u8, uint8_t)                                                                                 \
    X(i16, int16_t)                                                                                \
    X(u16, uint16_t)                                                                               \
    X(i32, int32_t)                                                                                \
    X(u32, uint32_t)                                                                               \
    X(i48, int64_t)                                                                                \
    X(i64, int64_t)                                                                                \
    X(u64, uint64_t)                                                                               \
    X(shape, int64_t)

/* Narrow floats: X(dtype, type in C, how an f32 becomes one); tc_<dtype>_to_f32 is the way back. */
#define TC_STORED_HALVES(X)                                                                        \
    X(f16, uint16_t, ti_f32_to_f16)                                                                \
    X(bf16, uint16_t, ti_f32_to_bf16)                                                              \
    X(e4m3, uint8_t, ti_f32_to_e4m3_sat)                                                           \
    X(e5m2, uint8_t, ti_f32_to_e5m2)                                                               \
    X(e2m3, uint8_t, ti_f32_to_e2m3)                                                               \
    X(e3m2, uint8_t, ti_f32_to_e3m2)                                                               \
    X(e2m1, uint8_t, ti_f32_to_e2m1)                                                               \
    X(ue8m0, uint8_t, ti_f32_to_ue8m0)                                                             \
    X(mxint8, uint8_t, ti_f32_to_mxint8)                                                           \
    X(bs32_e4m3, uint16_t, ti_f32_to_bs32_e4m3)                                                    \
    X(bs32_e5m2, uint16_t, ti_f32_to_bs32_e5m2)                                                    \
    X(bs32_e2m3, uint16_t, ti_f32_to_bs32_e2m3)                                                    \
    X(bs32_e3m2, uint16_t, ti_f32_to_bs32_e3m2)                                                    \
    X(bs32_e2m1, uint16_t, ti_f32_to_bs32_e2m1)                                                    \
    X(bs32_mxint8, uint16_t, ti_f32_to_bs32_mxint8)

/* The low bits of v in an integer type; bool: not zero. */
static inline int64_t ti_wrap(tc_dtype t, int64_t v)
{
    const tc_dtype_info *info = &tc_dtypes[t];
    if (info->kind == TC_BOOL)
        return v != 0;
    if (info->bits >= 64)
        return v;
    uint64_t low = (uint64_t)v & ((UINT64_C(1) << info->bits) - 1);
    uint64_t sign = info->kind == TC_INT ? UINT64_C(1) << (info->bits - 1) : 0;
    return (int64_t)((low ^ sign) - sign);
}

/* Toward zero; NaN and what does not fit: INT64_MIN. */
static inline int64_t ti_trunc_i64(double v)
{
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

/* A real value as an integer (or bool) of type t. */
static inline int64_t ti_int_of(tc_dtype t, double v)
{
    const tc_dtype_info *info = &tc_dtypes[t];
    if (info->kind == TC_BOOL)
        return v != 0;
    if (t == TC_u64 && v >= 0x1p63 && v < 0x1p64)
        return (int64_t)(uint64_t)v;
    bool narrow = info->kind == TC_INT && info->bits <= 32;
    if (narrow && !(v > -0x1p31 - 1 && v < 0x1p31))
        return ti_wrap(t, INT32_MIN);
    return ti_wrap(t, ti_trunc_i64(v));
}

static inline double ti_load_f64(tc_tensor t, int64_t i)
{
    const void *p = t.data;
    switch (t.type->dtype) {
#define X(t_, c_)                                                                                  \
    case TC_##t_:                                                                                  \
        return (double)((const c_ *)p)[i];
        TC_STORED_INTS(X)
        X(f32, float)
        X(f64, double)
#undef X
#define X(t_, c_, from_)                                                                           \
    case TC_##t_:                                                                                  \
        return (double)ti_##t_##_to_f32(((const c_ *)p)[i]);
        TC_STORED_HALVES(X)
#undef X
    case TC_bool:
        return ((const uint8_t *)p)[i] != 0;
    case TC_c64:
        return (double)((const float *)p)[2 * i];
    default:
        return 0;
    }
}

static inline int64_t ti_load_i64(tc_tensor t, int64_t i)
{
    const void *p = t.data;
    switch (t.type->dtype) {
#define X(t_, c_)                                                                                  \
    case TC_##t_:                                                                                  \
        return (int64_t)((const c_ *)p)[i];
        TC_STORED_INTS(X)
#undef X
    case TC_bool:
        return ((const uint8_t *)p)[i] != 0;
    default:
        return ti_trunc_i64(ti_load_f64(t, i));
    }
}

static inline void ti_store_f64(tc_tensor t, int64_t i, double v)
{
    void *p = t.data;
    switch (t.type->dtype) {
#define X(t_, c_)                                                                                  \
    case TC_##t_:                                                                                  \
        ((c_ *)p)[i] = (c_)ti_int_of(TC_##t_, v);                                                  \
        break;
        TC_STORED_INTS(X)
        X(bool, uint8_t)
#undef X
#define X(t_, c_, from_)                                                                           \
    case TC_##t_:                                                                                  \
        ((c_ *)p)[i] = from_((float)v);                                                   \
        break;
        TC_STORED_HALVES(X)
#undef X
    case TC_f32:
        ((float *)p)[i] = (float)v;
        break;
    case TC_f64:
        ((double *)p)[i] = v;
        break;
    case TC_c64:
        ((float *)p)[2 * i] = (float)v;
        ((float *)p)[2 * i + 1] = 0;
        break;
    default:
        break;
    }
}

static inline void ti_store_i64(tc_tensor t, int64_t i, int64_t v)
{
    void *p = t.data;
    switch (t.type->dtype) {
#define X(t_, c_)                                                                                  \
    case TC_##t_:                                                                                  \
        ((c_ *)p)[i] = (c_)ti_wrap(TC_##t_, v);                                                    \
        break;
        TC_STORED_INTS(X)
        X(bool, uint8_t)
#undef X
    case TC_f32:
        ((float *)p)[i] = (float)v;
        break;
    default: /* f64 rounds as i64 does; narrow floats are reached through f32 */
        ti_store_f64(t, i, t.type->dtype == TC_f64 ? (double)v : (double)(float)v);
    }
}

/* Elements start .. start + n of a tensor's buffer, and back. */
void ti_read_f32(tc_tensor t, int64_t start, size_t n, float *out);
void ti_read_f64(tc_tensor t, int64_t start, size_t n, double *out);
void ti_read_i64(tc_tensor t, int64_t start, size_t n, int64_t *out);
void ti_write_f32(tc_tensor t, int64_t start, size_t n, const float *in);
void ti_write_f64(tc_tensor t, int64_t start, size_t n, const double *in);
void ti_write_i64(tc_tensor t, int64_t start, size_t n, const int64_t *in);

/* All of a tensor as f32 (f64): its own buffer when that is what it holds, else a copy in the
 * arena. */
const float *ti_as_f32(tc_arena *arena, tc_tensor t);
const double *ti_as_f64(tc_arena *arena, tc_tensor t);

#endif
