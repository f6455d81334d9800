/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.c -- explicit quantization, in the arithmetic of PyTorch's quantized_decomposed
 * operators:
 *
 *   quantize    clamp(round_half_even(x * f32(1 / scale)) + zero, qmin, qmax), all in f32
 *   dequantize  (f32(q) - zero) * f32(scale)
 *
 * With `divides`, as ONNX has it, quantize begins with x / f32(scale); with `away`, as TensorFlow
 * Lite has it, halves of that go away from zero. */
#include <math.h>

#include "kernels.h"
#include "load.h"
#include "strided.h"

/* The channel axis: outer blocks of `channels` rows of `inner` elements. */
typedef struct channels {
    int64_t outer, channels, inner;
} channels;

static channels channels_of(const tc_type *t, int64_t axis)
{
    if (axis < 0)
        return (channels){1, 1, tc_type_count(t)};
    return (channels){ti_extent(t, 0, (int)axis), t->dim[axis],
                      ti_extent(t, (int)axis + 1, t->rank)};
}

/* Scale and zero of channel k: from the attributes, or from operands 1 and 2. */
static double scale_of(const tc_call *c, int64_t k)
{
    const tc_attr_quantize *a = c->attr;
    return a->scale != 0 ? a->scale : ti_load_f64(c->in[1], a->axis < 0 ? 0 : k);
}

static int64_t zero_of(const tc_call *c, int64_t k)
{
    const tc_attr_quantize *a = c->attr;
    if (a->scale != 0)
        return a->zero;
    return c->n_in > 2 && c->in[2].type ? ti_load_i64(c->in[2], a->axis < 0 ? 0 : k) : 0;
}

/* To the nearest, ties to even: after adding 2^23 there are no fraction bits. */
static inline float round_even(float v)
{
    float a = fabsf(v), r = (a + 0x1p23f) - 0x1p23f;
    return a < 0x1p23f ? copysignf(r, v) : v;
}

/* The quantization of one channel. */
typedef struct grid {
    float scale, inverse, zero, lo, hi;
} grid;

static grid grid_of(const tc_call *c, int64_t k)
{
    const tc_attr_quantize *a = c->attr;
    double scale = scale_of(c, k);
    return (grid){(float)scale, (float)(1.0 / scale), (float)zero_of(c, k), (float)a->qmin,
                  (float)a->qmax};
}

/* NaN stays NaN. */
static inline float code_of(float x, const grid *g)
{
    float q = round_even(x * g->inverse) + g->zero;
    q = q < g->lo ? g->lo : q;
    return q > g->hi ? g->hi : q;
}

/* Narrow codes: past 2^22 this rounding is wrong, but stays out of range, so the clamp gives the
 * same; NaN becomes 0. */
static inline int32_t narrow_code(float x, const grid *g)
{
    float q = ((x * g->inverse + 0x1.8p23f) - 0x1.8p23f) + g->zero;
    q = q < g->lo ? g->lo : q;
    q = q > g->hi ? g->hi : q;
    return (int32_t)(q == q ? q : 0.0f);
}

#define NARROW(name, c_)                                                                           \
    static void name(const float *restrict x, void *data, int64_t start, int64_t n, const grid *g) \
    {                                                                                              \
        c_ *restrict out = (c_ *)data + start;                                                     \
        const grid own = *g;                                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (c_)narrow_code(x[i], &own);                                                  \
    }
NARROW(narrow_i8, int8_t)
NARROW(narrow_u8, uint8_t)
NARROW(narrow_i16, int16_t)
NARROW(narrow_u16, uint16_t)

/* Codes of n elements from `start` on; f32 cannot hold every bound of i32, so there the last clamp
 * is in integers. */
static void put_codes(tc_tensor out, int64_t start, int64_t n, const float *x, const grid *g,
                      int64_t qmax)
{
    bool tame = fabsf(g->zero) <= 0x1p20f;
    switch (tame ? out.type->dtype : TC_none) {
    case TC_i8:
        narrow_i8(x, out.data, start, n, g);
        return;
    case TC_u8:
        narrow_u8(x, out.data, start, n, g);
        return;
    case TC_i16:
        narrow_i16(x, out.data, start, n, g);
        return;
    case TC_u16:
        narrow_u16(x, out.data, start, n, g);
        return;
    default:
        break;
    }
    for (int64_t i = 0; i < n; i++) {
        float code = code_of(x[i], g);
        if (code == code)
            ti_store_i64(out, start + i, ti_min_i64(ti_trunc_i64((double)code), qmax));
        else
            ti_store_f64(out, start + i, NAN);
    }
}

void ti_num_quantize(tc_call *c)
{
    const tc_attr_quantize *a = c->attr;
    channels s = channels_of(c->in[0].type, a->axis);
    const float *x = ti_as_f32(c->scratch, c->in[0]);
    float *quotient =
        a->divides ? ti_arena_raw(c->scratch, (size_t)s.inner * sizeof *quotient) : NULL;
    for (int64_t row = 0; row < s.outer * s.channels; row++) {
        grid g = grid_of(c, row % s.channels);
        const float *from = x + row * s.inner;
        for (int64_t i = 0; quotient && i < s.inner; i++)
            quotient[i] = a->away ? roundf(from[i] / g.scale) : from[i] / g.scale;
        g.inverse = quotient ? 1 : g.inverse;
        put_codes(c->out[0], row * s.inner, s.inner, quotient ? quotient : from, &g, a->qmax);
    }
}

void ti_num_fake_quantize(tc_call *c)
{
    const tc_attr_quantize *a = c->attr;
    channels s = channels_of(c->in[0].type, a->axis);
    const float *x = ti_as_f32(c->scratch, c->in[0]);
    float *y = ti_arena_raw(c->scratch, (size_t)s.inner * sizeof *y);
    for (int64_t row = 0; row < s.outer * s.channels; row++) {
        grid g = grid_of(c, row % s.channels);
        for (int64_t i = 0; i < s.inner; i++)
            y[i] = (code_of(x[row * s.inner + i], &g) - g.zero) * g.scale;
        ti_write_f32(c->out[0], row * s.inner, (size_t)s.inner, y);
    }
}

/* v rounded to the narrow float type. */
static float rounded(tc_dtype t, float v)
{
    return t == TC_f16    ? ti_f16_to_f32(ti_f32_to_f16(v))
           : t == TC_bf16 ? ti_bf16_to_f32(ti_f32_to_bf16(v))
                          : v;
}

/* y = (q - zero) * scale for stored integers with a difference that f32 holds exactly, or for any
 * by subtracting in f32. */
#define SPREAD(name, c_)                                                                           \
    static void name(const void *q, int64_t start, int64_t n, float zero, float scale, float *y)   \
    {                                                                                              \
        const c_ *x = (const c_ *)q + start;                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = ((float)x[i] - zero) * scale;                                                   \
    }
SPREAD(spread_i8, int8_t)
SPREAD(spread_u8, uint8_t)
SPREAD(spread_i16, int16_t)
SPREAD(spread_i32, int32_t)

typedef void spread(const void *q, int64_t start, int64_t n, float zero, float scale, float *y);

static spread *spread_of(tc_dtype t)
{
    return t == TC_i8    ? spread_i8
           : t == TC_u8  ? spread_u8
           : t == TC_i16 ? spread_i16
           : t == TC_i32 ? spread_i32
                         : NULL;
}

/* Per tensor the subtraction is in the result's type, so rounded twice when it is narrow. */
static void dequantize_whole(tc_call *c)
{
    tc_dtype t = c->out[0].type->dtype;
    int64_t n = tc_type_count(c->out[0].type);
    double scale = scale_of(c, 0), zero = (double)zero_of(c, 0);
    float scale32 = (float)scale, zero32 = (float)zero;
    spread *quick = t == TC_f32 ? spread_of(c->in[0].type->dtype) : NULL;
    if (quick) {
        quick(c->in[0].data, 0, n, zero32, scale32, c->out[0].data);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double q = ti_load_f64(c->in[0], i);
        if (t == TC_f64)
            ti_store_f64(c->out[0], i, (q - zero) * scale);
        else
            ti_store_f64(c->out[0], i,
                         (double)(rounded(t, rounded(t, (float)q) - zero32) * scale32));
    }
}

/* a - b, wrapping as 64-bit integers do. */
static int64_t minus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* Per channel the subtraction is in integers; up to 16 bits f32 gives the same. */
void ti_num_dequantize(tc_call *c)
{
    const tc_attr_quantize *a = c->attr;
    if (a->axis < 0) {
        dequantize_whole(c);
        return;
    }
    channels s = channels_of(c->in[0].type, a->axis);
    spread *quick = c->out[0].type->dtype == TC_f32 && tc_dtypes[c->in[0].type->dtype].bits <= 16
                        ? spread_of(c->in[0].type->dtype) : NULL;
    for (int64_t row = 0; row < s.outer * s.channels; row++) {
        float scale = (float)scale_of(c, row % s.channels);
        int64_t zero = zero_of(c, row % s.channels), start = row * s.inner;
        if (quick && zero >= -INT16_MAX && zero <= INT16_MAX) {
            quick(c->in[0].data, start, s.inner, (float)zero, scale,
                  (float *)c->out[0].data + start);
            continue;
        }
        for (int64_t i = start; i < start + s.inner; i++)
            ti_store_f64(c->out[0], i,
                         (double)((float)minus(ti_load_i64(c->in[0], i), zero) * scale));
    }
}

/* The range of n elements of x, widened to contain 0; 0 and 0 when there are none. */
static void range_of(tc_tensor x, int64_t from, int64_t n, float *low, float *high)
{
    *low = *high = 0;
    for (int64_t i = from; i < from + n; i++) {
        float v = (float)ti_load_f64(x, i);
        *low = v < *low ? v : *low;
        *high = v > *high ? v : *high;
    }
}

void ti_num_choose_qparams(tc_call *c)
{
    const tc_attr_choose_qparams *a = c->attr;
    float low, high, span = (float)((double)a->qmax - (double)a->qmin);
    int64_t rows = tc_type_count(c->out[0].type), n = tc_type_count(c->in[0].type);
    for (int64_t r = 0; r < rows; r++) {
        range_of(c->in[0], r * (n / rows), n / rows, &low, &high);
        float scale = a->symmetric ? fmaxf(-low, high) / (span / 2) : (high - low) / span;
        scale = fmaxf(scale, (float)a->eps);
        int64_t zero = a->zero;
        if (!a->symmetric)
            zero = ti_max_i64(
                a->qmin,
                ti_min_i64(a->qmax, minus(a->qmin, ti_trunc_i64((double)round_even(low / scale)))));
        ti_store_f64(c->out[0], r, (double)scale);
        ti_store_i64(c->out[1], r, zero);
    }
}

/* Real values from one domain into another, through f32; either side may be f32 itself. */
void ti_num_rescale(tc_call *c)
{
    const tc_quant *from = c->in[0].type->quant, *to = c->out[0].type->quant;
    channels in = channels_of(c->in[0].type, from ? from->axis : -1);
    channels out = channels_of(c->out[0].type, to ? to->axis : -1);
    int64_t n = tc_type_count(c->in[0].type);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i / in.inner % in.channels, m = i / out.inner % out.channels;
        float real =
            from ? (float)minus(ti_load_i64(c->in[0], i), from->zero[k]) * (float)from->scale[k]
                 : ((const float *)c->in[0].data)[i];
        if (!to) {
            ((float *)c->out[0].data)[i] = real;
            continue;
        }
        double code = (double)round_even(real * (float)(1.0 / to->scale[m])) + (double)to->zero[m];
        code = code != code ? 0 : code < (double)to->lo ? (double)to->lo : code;
        ti_store_i64(c->out[0], i, code < (double)to->hi ? (int64_t)code : to->hi);
    }
}
