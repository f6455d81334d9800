/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_rescale.c -- RESCALE: (x - input_zp) * multiplier / 2^shift + output_zp, saturated to the
 * type of the result, with one multiplier or one per channel of the last axis. */
#include "fixed.h"
#include "kernels.h"
#include "tosa.h"

/* A stored element of an unsigned type. */
static int64_t unsigned_of(tc_dtype type, int64_t v)
{
    return v & (int64_t)(UINT64_MAX >> (64 - tc_dtypes[type].bits));
}

/* INEXACT_ROUND: half up, with room for an error of 2^-22 of the result.  The specification's test
 * requires that negative values use that room upward, and never pass the exact quotient's next
 * integer. */
static int64_t scaled_inexact(int64_t v, int64_t multiplier, int shift)
{
    int64_t product = v * multiplier, half = INT64_C(1) << (shift - 1);
    if (product >= 0)
        return ti_asr(product + half, shift);
    int64_t toward_zero = -ti_asr(-product, shift);
    return ti_min_i64(ti_asr(product + half + (-product >> 22), shift), toward_zero);
}

static int64_t scaled(tc_call *call, int64_t v, int64_t multiplier, int64_t shift)
{
    const tc_attr_tosa_rescale *a = call->attr;
    if (a->scale32 ? !ti_scale32_defined(v, multiplier, shift)
                   : !ti_scale16_defined(v, multiplier, shift)) {
        call->error =
            "a multiplier is negative, a shift outside 2..62, or a value too large for it";
        return 0;
    }
    if (a->rounding_mode == TC_rounding_inexact)
        v = scaled_inexact(v, multiplier, (int)shift);
    else if (!a->scale32)
        v = ti_scale16(v, (int16_t)multiplier, (int)shift);
    else if (a->rounding_mode == TC_rounding_double)
        v = ti_scale32_double((int32_t)v, (int32_t)multiplier, (int)shift);
    else
        v = ti_scale32((int32_t)v, (int32_t)multiplier, (int)shift);
    if (v < INT32_MIN || v > INT32_MAX)
        call->error = "a scaled value is past 32 bits";
    return v;
}

void ti_num_tosa_rescale(tc_call *call)
{
    const tc_attr_tosa_rescale *a = call->attr;
    const tc_type *in = call->in[0].type, *out = call->out[0].type;
    int64_t input_zp = ti_load_i64(call->in[3], 0), output_zp = ti_load_i64(call->in[4], 0);
    if (a->input_unsigned)
        input_zp = unsigned_of(in->dtype, input_zp);
    if (a->output_unsigned)
        output_zp = unsigned_of(out->dtype, output_zp);
    int64_t lo = a->output_unsigned ? 0 : ti_dtype_min(out->dtype);
    int64_t hi = a->output_unsigned ? unsigned_of(out->dtype, -1) : ti_dtype_max(out->dtype);

    int64_t channels = a->per_channel && in->rank ? in->dim[in->rank - 1] : 1;
    int64_t count = tc_type_count(out);
    for (int64_t i = 0; i < count && !call->error; i++) {
        int64_t c = i % channels, v = ti_load_i64(call->in[0], i);
        if (a->input_unsigned)
            v = unsigned_of(in->dtype, v);
        v = scaled(call, ti_wrap_sub(v, input_zp), ti_load_i64(call->in[1], c),
                   ti_load_i64(call->in[2], c));
        ti_store_i64(call->out[0], i, ti_clip(ti_wrap_add(v, output_zp), lo, hi));
    }
}
