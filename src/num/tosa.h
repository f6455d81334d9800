/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.h -- what the TOSA kernels share.
 *
 * Integer kernels compute in int64_t, floating-point kernels in double; a result is wrapped or
 * rounded once, when it is stored (load.h).  They are defined on the types of TOSA 1.0, as target/
 * verifies, and safe on any. */
#ifndef TC_TOSA_H
#define TC_TOSA_H

#include <math.h>

#include "call.h"
#include "fixed.h"
#include "load.h"

/* The value of a zero point; floating-point tensors have none. */
static inline int64_t ti_zero_point(tc_tensor t)
{
    return ti_is_float(t.type->dtype) ? 0 : ti_load_i64(t, 0);
}

/* Is operand i stored in elements as wide as the result's?  Movement copies bits. */
static inline bool ti_same_width(tc_call *call, int i)
{
    if (tc_dtypes[call->in[i].type->dtype].bytes == tc_dtypes[call->out[0].type->dtype].bytes)
        return true;
    call->error = "operands are of different element types";
    return false;
}

/* The values of a shape operand, or NULL with a message. */
static inline const int64_t *ti_shape_values(tc_call *call, int i)
{
    if (call->in[i].type->dtype == TC_shape)
        return call->in[i].data;
    call->error = "an operand is not a shape";
    return NULL;
}

/* All of an integer tensor minus its zero point, in the arena. */
static inline int32_t *ti_centered(tc_arena *arena, tc_tensor t, tc_tensor zero_point)
{
    size_t count = (size_t)tc_type_count(t.type);
    int64_t zero = ti_zero_point(zero_point), part[256];
    int32_t *all = ti_arena_raw(arena, count * sizeof *all);
    for (size_t at = 0; at < count; at += TC_COUNT(part)) {
        size_t n = count - at < TC_COUNT(part) ? count - at : TC_COUNT(part);
        ti_read_i64(t, (int64_t)at, n, part);
        for (size_t i = 0; i < n; i++)
            all[at + i] = (int32_t)ti_wrap_sub(part[i], zero);
    }
    return all;
}

/* Sums of products into a tensor.  Where the specification is silent, as its reference model: i32
 * sums wrap, i48 sums saturate. */
static inline void ti_write_sums(tc_tensor t, int64_t start, size_t n, int64_t *sum)
{
    if (t.type->dtype == TC_i48)
        for (size_t i = 0; i < n; i++)
            sum[i] = ti_clip(sum[i], ti_dtype_min(TC_i48), ti_dtype_max(TC_i48));
    ti_write_i64(t, start, n, sum);
}

/* Real values into a tensor, rounded once; ti_write_f64 goes through f32, as PyTorch does. */
static inline void ti_write_reals(tc_tensor t, int64_t start, size_t n, const double *in)
{
    uint16_t *out = (uint16_t *)t.data + start;
    if (t.type->dtype == TC_f16)
        for (size_t i = 0; i < n; i++)
            out[i] = ti_f64_to_f16(in[i]);
    else if (t.type->dtype == TC_bf16)
        for (size_t i = 0; i < n; i++)
            out[i] = ti_f64_to_bf16(in[i]);
    else if (t.type->dtype == TC_e4m3) /* past the range: NaN */
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)t.data)[start + (int64_t)i] = ti_f32_to_e4m3((float)in[i]);
    else
        ti_write_f64(t, start, n, in);
}

/* The larger and the smaller; NaN wins, or loses when it is to be ignored. */
static inline double ti_nan_max(tc_field_nan_mode mode, double a, double b)
{
    if (isnan(a) || isnan(b))
        return mode != TC_nan_mode_ignore ? (double)NAN : isnan(a) ? b : a;
    return a >= b ? a : b;
}
static inline double ti_nan_min(tc_field_nan_mode mode, double a, double b)
{
    if (isnan(a) || isnan(b))
        return mode != TC_nan_mode_ignore ? (double)NAN : isnan(a) ? b : a;
    return a < b ? a : b;
}

/* The nearest value of the accumulator type: bf16, f16, or f32 itself. */
static inline float ti_kept(tc_dtype t, float v)
{
    return t == TC_bf16  ? ti_bf16_to_f32(ti_f32_to_bf16(v))
           : t == TC_f16 ? ti_f16_to_f32(ti_f32_to_f16(v))
                         : v;
}

#endif
