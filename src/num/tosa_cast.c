/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_cast.c -- CAST: integers keep their low bits, floats become the nearest integer (ties to
 * even), saturated, and everything becomes the nearest float; to and from block-scaled types too,
 * with scales in the type or separate. */
#include "kernels.h"
#include "tosa.h"

enum { RUN = 256 };

/* The specification does not define NaN; it becomes the low bits of the smallest i32, as in
 * load.h. */
static int64_t nearest(double v, tc_dtype type)
{
    int64_t lo = ti_dtype_min(type), hi = ti_dtype_max(type);
    double r = nearbyint(v);
    return isnan(r) ? INT32_MIN : r <= (double)lo ? lo : r >= (double)hi ? hi : (int64_t)r;
}

/* Block by block; scales go into the elements, or to `scale`. */
static void to_blocks(tc_call *call, tc_dtype value, uint8_t *scale)
{
    tc_tensor in = call->in[0], out = call->out[0];
    for (int64_t at = 0, n = tc_type_count(out.type); at < n; at += TC_BLOCK) {
        double x[TC_BLOCK];
        uint8_t code[TC_BLOCK];
        size_t most = (size_t)ti_min_i64(TC_BLOCK, n - at);
        ti_read_f64(in, at, most, x);
        uint8_t e = ti_block_encode(value, most, x, code);
        if (scale) {
            scale[at / TC_BLOCK] = e;
            memcpy((uint8_t *)out.data + at, code, most);
        } else
            for (size_t i = 0; i < most; i++)
                ((uint16_t *)out.data)[at + (int64_t)i] = (uint16_t)(e << 8 | code[i]);
    }
}

void ti_num_tosa_cast_to_block_scaled(tc_call *call)
{
    to_blocks(call, call->out[0].type->dtype, call->out[1].data);
}

/* One rounding, after the product. */
void ti_num_tosa_cast_from_block_scaled(tc_call *call)
{
    const uint8_t *scale = call->in[1].data;
    for (int64_t i = 0, n = tc_type_count(call->out[0].type); i < n; i++) {
        double v = (double)((float)ti_load_f64(call->in[0], i) *
                            ti_ue8m0_to_f32(scale[i / TC_BLOCK]));
        ti_write_reals(call->out[0], i, 1, &v);
    }
}

/* The bits of an integer of this type as unsigned. */
static uint64_t zero_extended(int64_t v, tc_dtype type)
{
    unsigned bits = tc_dtypes[type].bits;
    return bits < 64 ? (uint64_t)v & ((UINT64_C(1) << bits) - 1) : (uint64_t)v;
}

void ti_num_tosa_cast_unsigned(tc_call *call)
{
    tc_tensor in = call->in[0], out = call->out[0];
    bool to_real = ti_is_float(out.type->dtype);
    if (!ti_is_int(in.type->dtype)) {
        call->error = "the operand is no integer";
        return;
    }
    for (int64_t i = 0, n = tc_type_count(out.type); i < n; i++) {
        uint64_t whole = zero_extended(ti_load_i64(in, i), in.type->dtype);
        double real = (double)whole; /* exact: 32 bits at most go to floats */
        if (to_real)
            ti_write_reals(out, i, 1, &real);
        else
            ti_store_i64(out, i, out.type->dtype == TC_bool ? whole != 0 : (int64_t)whole);
    }
}

void ti_num_tosa_cast(tc_call *call)
{
    tc_tensor in = call->in[0], out = call->out[0];
    if (ti_is_block(out.type->dtype)) {
        to_blocks(call, ti_block_value(out.type->dtype), NULL);
        return;
    }
    bool from_real = ti_is_float(in.type->dtype), to_real = ti_is_float(out.type->dtype);
    int64_t count = tc_type_count(out.type), ints[RUN];
    double reals[RUN];
    for (int64_t at = 0; at < count; at += RUN) {
        size_t n = (size_t)ti_min_i64(RUN, count - at);
        if (from_real)
            ti_read_f64(in, at, n, reals);
        else
            ti_read_i64(in, at, n, ints);
        for (size_t i = 0; from_real && !to_real && i < n; i++)
            ints[i] =
                out.type->dtype == TC_bool ? reals[i] != 0 : nearest(reals[i], out.type->dtype);
        for (size_t i = 0; !from_real && to_real && i < n; i++)
            reals[i] = (double)ints[i]; /* exact: 32 bits at most */
        if (to_real)
            ti_write_reals(out, at, n, reals);
        else
            ti_write_i64(out, at, n, ints);
    }
}
