/* SPDX-License-Identifier: Apache-2.0 */
/* half.c -- narrow floats, conversions of elements, quantized tensors.
 *
 * Narrow floats are compared with a second formulation: every code decoded by its formula, and
 * every rounding decided by the midpoints between neighbours, which is where decisions change. */
#include "check.h"

#include <float.h>
#include <math.h>

#include "num/load.h"
#include "num/quant.h"

typedef struct format {
    int exp, man;
    uint32_t most, overflow;
    float (*decode)(uint32_t code);
    uint32_t (*encode)(float value);
    uint32_t (*encode_f64)(double value); /* or NULL */
} format;

#define FORMAT(name)                                                                               \
    static float decode_##name(uint32_t code)                                                      \
    {                                                                                              \
        return ti_##name##_to_f32((TYPE)code);                                                     \
    }                                                                                              \
    static uint32_t encode_##name(float value)                                                     \
    {                                                                                              \
        return ti_f32_to_##name(value);                                                            \
    }
#define TYPE uint16_t
FORMAT(f16)
FORMAT(bf16)
#undef TYPE
#define TYPE uint8_t
FORMAT(e4m3)
FORMAT(e5m2)
static uint32_t wide_f16(double value)
{
    return ti_f64_to_f16(value);
}
static uint32_t wide_bf16(double value)
{
    return ti_f64_to_bf16(value);
}

static const format formats[] = {
    {5, 10, 0x7bff, 0x7c00, decode_f16, encode_f16, wide_f16},
    {8, 7, 0x7f7f, 0x7f80, decode_bf16, encode_bf16, wide_bf16},
    {4, 3, 0x7e, 0x7f, decode_e4m3, encode_e4m3, NULL},
    {5, 2, 0x7b, 0x7c, decode_e5m2, encode_e5m2, NULL},
};

/* The number of a finite, positive code by the textbook's formula. */
static double value_of(const format *f, uint32_t code)
{
    int bias = (1 << (f->exp - 1)) - 1, e = (int)(code >> f->man);
    double man = code & ((1u << f->man) - 1), one = 1u << f->man;
    return e ? ldexp(1 + man / one, e - bias) : ldexp(man / one, 1 - bias);
}

static bool encodes(const format *f, double value, uint32_t code)
{
    uint32_t sign = 1u << (f->exp + f->man);
    bool ok =
        !f->encode_f64 || (f->encode_f64(value) == code && f->encode_f64(-value) == (code | sign));
    if ((double)(float)value == value)
        ok = ok && f->encode((float)value) == code && f->encode(-(float)value) == (code | sign);
    return ok;
}

static void test_format(const format *f)
{
    int wrong = 0;
    uint32_t sign = 1u << (f->exp + f->man);
    for (uint32_t code = 0; code <= f->most; code++) {
        double value = value_of(f, code), next = value_of(f, code + 1);
        double mid = value + (next - value) / 2;
        uint32_t above = code == f->most ? f->overflow : code + 1;
        wrong += (double)f->decode(code) != value || (double)f->decode(code | sign) != -value;
        wrong += !encodes(f, value, code);
        wrong += !encodes(f, (double)nextafterf((float)mid, 0), code);
        wrong += !encodes(f, nextafter(mid, 0), code);
        wrong += !encodes(f, mid, code & 1 ? above : code);
        wrong += !encodes(f, nextafter(mid, INFINITY), above);
        wrong += !encodes(f, (double)nextafterf((float)mid, INFINITY), above);
        wrong += !encodes(f, nextafter(next, 0), above);
    }
    CHECK(wrong == 0);
    CHECK(f->encode(INFINITY) == f->overflow && f->encode(-FLT_MAX) == (f->overflow | sign));
    CHECK(isnan(f->decode(f->encode(NAN))));
    CHECK(signbit(f->decode(sign)) && f->encode(-0.0f) == sign);
    CHECK(f->encode(0x1p-149f) == 0 || f->exp == 8);
}

static void test_specials(void)
{
    CHECK(isinf(ti_f16_to_f32(0x7c00)) && isnan(ti_f16_to_f32(0x7c01)));
    CHECK(isinf(ti_e5m2_to_f32(0xfc)) && isnan(ti_e5m2_to_f32(0x7d)));
    CHECK(isnan(ti_e4m3_to_f32(0x7f)) && isnan(ti_e4m3_to_f32(0xff)) &&
          ti_e4m3_to_f32(0x7e) == 448);
    CHECK(ti_f32_to_e4m3(464) == 0x7e && ti_f32_to_e4m3(465) == 0x7f);
    CHECK(ti_f32_to_e4m3_sat(465) == 0x7e && ti_f32_to_e4m3_sat(-INFINITY) == 0xfe);
    CHECK(ti_f32_to_e4m3_sat(NAN) == 0x7f && ti_f32_to_e4m3_sat(447) == 0x7e);
    CHECK(ti_f32_to_e5m2(61439) == 0x7b && ti_f32_to_e5m2(61440) == 0x7c);
}

static void test_wrap(void)
{
    CHECK(ti_wrap(TC_i8, 200) == -56 && ti_wrap(TC_u8, -1) == 255 && ti_wrap(TC_i4, 9) == -7);
    CHECK(ti_wrap(TC_bool, 256) == 1 && ti_wrap(TC_i48, INT64_C(1) << 47) == -(INT64_C(1) << 47));
    CHECK(ti_int_of(TC_i32, -2.9) == -2 && ti_int_of(TC_u8, -1.5) == 255);
    CHECK(ti_int_of(TC_i64, (double)NAN) == INT64_MIN && ti_int_of(TC_i32, 3e9) == INT32_MIN);
    CHECK(ti_int_of(TC_i8, 300.0) == 44 && ti_int_of(TC_bool, (double)NAN) == 1);
    CHECK(ti_int_of(TC_u64, 0x1.8p63) == (int64_t)0xc000000000000000);
}

/* Every code of the narrow types is a number of its own, and comes back. */
static void test_codes(void)
{
    for (uint32_t b = 0; b < 64; b++) {
        CHECK(ti_f32_to_e2m3(ti_e2m3_to_f32((uint8_t)b)) == b);
        CHECK(ti_f32_to_e3m2(ti_e3m2_to_f32((uint8_t)b)) == b);
        CHECK(b >= 16 || ti_f32_to_e2m1(ti_e2m1_to_f32((uint8_t)b)) == b);
    }
    for (uint32_t b = 0; b < 256; b++) {
        CHECK(ti_f32_to_mxint8(ti_mxint8_to_f32((uint8_t)b)) == b);
        CHECK(ti_f32_to_ue8m0(ti_ue8m0_to_f32((uint8_t)b)) == b);
    }
    CHECK(ti_e2m3_to_f32(0x1f) == 7.5f && ti_e3m2_to_f32(0x1f) == 28 && ti_e2m1_to_f32(7) == 6);
    CHECK(ti_e2m3_to_f32(1) == 0.125f && ti_e3m2_to_f32(1) == 0.0625f && ti_e2m1_to_f32(9) == -0.5f);
    CHECK(ti_f32_to_e2m1(100) == 7 && ti_f32_to_e3m2(-INFINITY) == 0x3f);
    CHECK(ti_ue8m0_to_f32(0) == 0x1p-127f && ti_ue8m0_to_f32(254) == 0x1p127f);
}

/* The scale of a block: just so large that nothing overflows; limits are half a step past the
 * largest value, and e4m3's limit fits. */
static void test_blocks(void)
{
    static const struct {
        tc_dtype value;
        double x;
        int e, code;
    } row[] = {
        {TC_e4m3, 464, 0, 0x7e},        {TC_e4m3, 464.1, 1, 0x77},    {TC_e5m2, 61440, 1, 0x78},
        {TC_e5m2, 61439, 0, 0x7b},      {TC_e2m3, 7.75, 1, 24},       {TC_e3m2, 30, 1, 28},
        {TC_e2m1, 6.9, 0, 7},           {TC_e2m1, -7, 1, 8 | 6},      {TC_mxint8, 127.5 / 64, 1, 64},
        {TC_mxint8, -127.0 / 64, 0, 129}, {TC_e2m1, 0x1p-149, -127, 0}, {TC_e4m3, 0x1.fp127, 120, 0x78},
    };
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        double x[2] = {row[i].x, 0};
        uint8_t code[2];
        uint8_t scale = ti_block_encode(row[i].value, 2, x, code);
        CHECK_ROW(tc_dtypes[row[i].value].name,
                  scale == row[i].e + 127 && code[0] == row[i].code && code[1] == 0);
    }
    uint8_t code[2];
    CHECK(ti_block_encode(TC_e4m3, 2, (double[]){0, -0.0}, code) == 0 && code[1] == 0x80);
    CHECK(ti_block_encode(TC_e2m1, 2, (double[]){1, (double)INFINITY}, code) == 255 && code[0] == 6);
    CHECK(ti_bs32_e2m1_to_f32(127 << 8 | 7) == 6 && ti_bs32_mxint8_to_f32(128 << 8 | 0x80) == -4);
    CHECK(isnan(ti_bs32_e4m3_to_f32(255 << 8)) && isinf(ti_bs32_e5m2_to_f32(254 << 8 | 0x7b)));
}

/* Small numbers survive every type, in runs and one by one. */
static void test_runs(tc_ctx *ctx)
{
    for (int d = 1; d < TC_DTYPE_COUNT; d++) {
        if (d == TC_bool || d == TC_e2m1 || d == TC_ue8m0 || d == TC_mxint8 || d == TC_bs32_e2m1)
            continue; /* bool, and what has no 7 */
        tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, (tc_dtype)d, 1, (int64_t[]){9}));
        float f[4] = {0, 1, 2, 7};
        double g[4];
        int64_t k[4];
        ti_write_f32(t, 0, 9, (float[9]){0});
        ti_write_f32(t, 3, 4, f);
        ti_read_i64(t, 3, 4, k);
        ti_write_i64(t, 4, 4, k);
        ti_read_f64(t, 4, 4, g);
        ti_write_f64(t, 5, 4, g);
        ti_read_f32(t, 5, 4, f);
        CHECK(f[0] == 0 && f[1] == 1 && f[2] == 2 && f[3] == 7);
        CHECK(ti_load_f64(t, 8) == 7 && ti_load_i64(t, 7) == 2 && ti_load_f64(t, 2) == 0);
        CHECK(ti_as_f32(&ctx->arena, t)[8] == 7 && ti_as_f64(&ctx->arena, t)[7] == 2);
    }
}

static void test_quant(tc_ctx *ctx)
{
    tc_quant q = {1, 2, -127, 127, (double[]){0.5, 0.25}, (int64_t[]){-3, 0}};
    const tc_type *plain = ti_type_make(ctx, TC_i8, 2, (int64_t[]){2, 2});
    tc_tensor real = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_f32, 2, (int64_t[]){2, 2}));
    tc_tensor out = ti_tensor_new(&ctx->arena, ti_type_with(ctx, plain, &q));
    memcpy(real.data, (float[]){1.25f, 0.375f, -1000, 1000}, 16);
    ti_quantize_into(real, out);
    const int8_t *code = out.data;
    CHECK(code[0] == -1 && code[1] == 2 && code[2] == -127 && code[3] == 127);
    const float *back = ti_dequantized(ctx, &ctx->arena, out).data;
    CHECK(back[0] == 1 && back[1] == 0.5f && back[2] == -62 && back[3] == 31.75f);
    ((float *)real.data)[0] = NAN;
    ti_quantize_into(real, out);
    CHECK(code[0] == 0); /* as PyTorch converts it */
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    for (size_t i = 0; i < TC_COUNT(formats); i++)
        test_format(&formats[i]);
    test_specials();
    test_wrap();
    test_codes();
    test_blocks();
    test_runs(ctx);
    test_quant(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
