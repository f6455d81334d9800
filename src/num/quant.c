/* SPDX-License-Identifier: Apache-2.0 */
/* quant.c -- between stored integers and their real values.
 *
 * The arithmetic is that of PyTorch's reference operators: f32 multiplications, by the scale one
 * way and by the f32 of its reciprocal the other. */
#include "quant.h"

#include <math.h>

#include "lanes.h"
#include "load.h"

/* A tensor seen from its channel axis: outer blocks of `channels` rows of `inner` elements. */
typedef struct rows {
    int64_t outer, channels, inner;
} rows;

static rows rows_of(const tc_type *t)
{
    rows r = {1, 1, tc_type_count(t)};
    int axis = t->quant->axis;
    if (axis < 0)
        return r;
    r.channels = t->dim[axis];
    r.inner = 1;
    for (int i = 0; i < t->rank; i++) {
        r.outer *= i < axis ? t->dim[i] : 1;
        r.inner *= i > axis ? t->dim[i] : 1;
    }
    return r;
}

/* (code - zero) * scale, of 8 bits: the difference is exact in f32. */
TC_LANES_BODY real8(const int8_t *restrict q, float zero, float scale, float *restrict out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = ((float)q[i] - zero) * scale;
}
TC_LANES(static, real_of_i8, real8,
         (const int8_t *restrict q, float zero, float scale, float *restrict out, int64_t n),
         (q, zero, scale, out, n))

tc_tensor ti_dequantized(tc_ctx *ctx, tc_arena *arena, tc_tensor q)
{
    const tc_type *t = q.type;
    tc_tensor real = ti_tensor_new(arena, ti_type_make(ctx, TC_f32, t->rank, t->dim));
    float *out = real.data;
    rows r = rows_of(t);
    int64_t at = 0;
    for (int64_t o = 0; o < r.outer; o++)
        for (int64_t c = 0; c < r.channels; c++) {
            float scale = (float)t->quant->scale[c];
            int64_t zero = t->quant->zero[c];
            if (t->dtype == TC_i8 && zero >= INT8_MIN && zero <= INT8_MAX) {
                real_of_i8((const int8_t *)q.data + at, (float)zero, scale, out + at, r.inner);
                at += r.inner;
                continue;
            }
            for (int64_t i = 0; i < r.inner; i++, at++)
                out[at] = (float)(ti_load_i64(q, at) - zero) * scale;
        }
    return real;
}

/* clamp(round_half_even(x * inverse) + zero, lo, hi); NaN becomes code 0, as it does in PyTorch. */
static int64_t quantized(float x, float inverse, const tc_quant *q, int64_t zero)
{
    double code = (double)nearbyintf(x * inverse) + (double)zero;
    if (code != code)
        return 0;
    if (code < (double)q->lo)
        return q->lo;
    return code < (double)q->hi ? (int64_t)code : q->hi;
}

/* The same to 8 bits in f32: past 2^22 the rounding by addition is wrong, but stays out of range, so
 * that the clamp gives the same. */
TC_LANES_BODY code8(const float *restrict x, float inverse, const float *restrict grid,
                    int8_t *restrict out, int64_t n)
{
    float zero = grid[0], lo = grid[1], hi = grid[2];
    for (int64_t i = 0; i < n; i++) {
        float q = ((x[i] * inverse + 0x1.8p23f) - 0x1.8p23f) + zero;
        q = q < lo ? lo : q;
        q = q > hi ? hi : q;
        q = q == q ? q : 0.0f;
        out[i] = (int8_t)q;
    }
}
TC_LANES(static, codes_of_f32, code8,
         (const float *restrict x, float inverse, const float *restrict grid, int8_t *restrict out,
          int64_t n),
         (x, inverse, grid, out, n))

void ti_quantize_into(tc_tensor real, tc_tensor out)
{
    const float *x = real.data;
    const tc_quant *q = out.type->quant;
    rows r = rows_of(out.type);
    bool small = out.type->dtype == TC_i8 && q->lo >= INT8_MIN && q->hi <= INT8_MAX;
    int64_t at = 0;
    for (int64_t o = 0; o < r.outer; o++)
        for (int64_t c = 0; c < r.channels; c++) {
            float inverse = (float)(1.0 / q->scale[c]);
            int64_t zero = q->zero[c];
            if (small && zero >= INT8_MIN && zero <= INT8_MAX) {
                const float grid[] = {(float)zero, (float)q->lo, (float)q->hi};
                codes_of_f32(x + at, inverse, grid, (int8_t *)out.data + at, r.inner);
                at += r.inner;
                continue;
            }
            for (int64_t i = 0; i < r.inner; i++, at++)
                ti_store_i64(out, at, quantized(x[at], inverse, q, zero));
        }
}

void ti_nan_to_zero(tc_tensor real)
{
    float *x = real.data;
    int64_t n = tc_type_count(real.type);
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] == x[i] ? x[i] : 0;
}
