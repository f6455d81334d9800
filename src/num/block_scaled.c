/* SPDX-License-Identifier: Apache-2.0 */
/* block_scaled.c -- block-scaled numbers; see block_scaled.h. */
#include "block_scaled.h"

#include <math.h>

#include "half.h"

typedef struct {
    tc_dtype value, block;
    float (*decode)(uint8_t);
    uint8_t (*encode)(float);
    double limit;      /* half a step past the largest value */
    bool limit_fits;   /* which is rounded down to it */
    uint8_t undefined; /* the code where the scale is NaN */
} row;

static const row rows[] = {
    {TC_e4m3, TC_bs32_e4m3, ti_e4m3_to_f32, ti_f32_to_e4m3, 464, true, 0x7f},
    {TC_e5m2, TC_bs32_e5m2, ti_e5m2_to_f32, ti_f32_to_e5m2, 61440, false, 0x7e},
    {TC_e2m3, TC_bs32_e2m3, ti_e2m3_to_f32, ti_f32_to_e2m3, 7.75, false, 24},
    {TC_e3m2, TC_bs32_e3m2, ti_e3m2_to_f32, ti_f32_to_e3m2, 30, false, 28},
    {TC_e2m1, TC_bs32_e2m1, ti_e2m1_to_f32, ti_f32_to_e2m1, 7, false, 6},
    {TC_mxint8, TC_bs32_mxint8, ti_mxint8_to_f32, ti_f32_to_mxint8, 127.5 / 64, false, 127},
};

static const row *row_of(tc_dtype value)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].value == value)
            return &rows[i];
    return NULL;
}

tc_dtype ti_block_value(tc_dtype t)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].block == t)
            return rows[i].value;
    return TC_none;
}

tc_dtype ti_block_of(tc_dtype value)
{
    const row *r = row_of(value);
    return r ? r->block : TC_none;
}

float ti_block_decode(tc_dtype value, uint8_t code)
{
    const row *r = row_of(value);
    return r ? r->decode(code) : 0;
}

float ti_ue8m0_to_f32(uint8_t bits)
{
    return bits == TC_SCALE_NAN ? NAN : bits ? ti_f32_of((uint32_t)bits << 23) : 0x1p-127f;
}

uint8_t ti_f32_to_ue8m0(float value)
{
    if (!(value >= 0) || isinf(value))
        return TC_SCALE_NAN;
    int e;
    float f = frexpf(value, &e); /* f * 2^e, f in [0.5, 1) */
    int code = e - 1 + (f > 0.75f) + TC_SCALE_BIAS;
    return (uint8_t)(value == 0 || code < 0 ? 0 : code > 254 ? 254 : code);
}

float ti_mxint8_to_f32(uint8_t bits)
{
    return (float)(int8_t)bits / 64;
}

uint8_t ti_f32_to_mxint8(float value)
{
    double v = nearbyint((double)value * 64);
    return (uint8_t)(int8_t)(v >= 127 || isnan(v) ? 127 : v <= -128 ? -128 : v);
}

/* e of block_scaled.h, inside the range of scales; m > 0. */
static int exponent(const row *r, double m)
{
    int p, q;
    double f = frexp(m, &p), g = frexp(r->limit, &q);
    int e = f > g || (f == g && !r->limit_fits) ? p - q + 1 : p - q;
    return e < -TC_SCALE_BIAS ? -TC_SCALE_BIAS : e > TC_SCALE_BIAS ? TC_SCALE_BIAS : e;
}

uint8_t ti_block_encode(tc_dtype value, size_t n, const double *x, uint8_t *code)
{
    const row *r = row_of(value);
    double m = 0;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        finite = finite && isfinite(x[i]);
        m = fabs(x[i]) > m ? fabs(x[i]) : m;
    }
    if (!finite || !r) {
        memset(code, r ? r->undefined : 0, n);
        return TC_SCALE_NAN;
    }
    int e = m > 0 ? exponent(r, m) : -TC_SCALE_BIAS;
    double factor = ldexp(1, -e);
    for (size_t i = 0; i < n; i++)
        code[i] = r->encode((float)(x[i] * factor));
    return (uint8_t)(e + TC_SCALE_BIAS);
}

void ti_block_read(tc_dtype t, const uint16_t *bits, size_t n, float *out)
{
    enum { CODES = 256 };
    float number[CODES];
    const row *r = row_of(ti_block_value(t));
    for (unsigned code = 0; r && code < CODES; code++)
        number[code] = r->decode((uint8_t)code);
    for (size_t i = 0; r && i < n; i++)
        out[i] = number[bits[i] & 0xff] * ti_ue8m0_to_f32((uint8_t)(bits[i] >> 8));
}

static float product(tc_dtype value, uint16_t bits)
{
    return ti_block_decode(value, (uint8_t)bits) * ti_ue8m0_to_f32((uint8_t)(bits >> 8));
}

static uint16_t alone(tc_dtype value, float x)
{
    uint8_t code;
    uint8_t scale = ti_block_encode(value, 1, &(double){(double)x}, &code);
    return (uint16_t)(scale << 8 | code);
}

#define BLOCK(name)                                                                                \
    float ti_bs32_##name##_to_f32(uint16_t bits) { return product(TC_##name, bits); }              \
    uint16_t ti_f32_to_bs32_##name(float value) { return alone(TC_##name, value); }
BLOCK(e4m3)
BLOCK(e5m2)
BLOCK(e2m3)
BLOCK(e3m2)
BLOCK(e2m1)
BLOCK(mxint8)
