/* SPDX-License-Identifier: Apache-2.0 */
/* element.c -- see element.h. */
#include "element.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "block_scaled.h"
#include "half.h"

/* The bits of a stored float, and back. */
static uint64_t get_bits(size_t bytes, const void *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes); /* little-endian */
    return bits;
}

static void put_bits(size_t bytes, uint64_t bits, void *at)
{
    memcpy(at, &bits, bytes);
}

static double float_value(tc_dtype dtype, uint64_t bits)
{
    float single;
    double real;
    switch (dtype) {
    case TC_f16:
        return (double)ti_f16_to_f32((uint16_t)bits);
    case TC_bf16:
        return (double)ti_bf16_to_f32((uint16_t)bits);
    case TC_e4m3:
        return (double)ti_e4m3_to_f32((uint8_t)bits);
    case TC_e5m2:
        return (double)ti_e5m2_to_f32((uint8_t)bits);
    case TC_ue8m0:
        return (double)ti_ue8m0_to_f32((uint8_t)bits);
    case TC_e2m3:
    case TC_e3m2:
    case TC_e2m1:
    case TC_mxint8:
        return (double)ti_block_decode(dtype, (uint8_t)bits);
    case TC_f32:
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    default:
        memcpy(&real, &bits, sizeof real);
        return real;
    }
}

/* The nearest float of the type, from text that strtod reads. */
static uint64_t nearest_bits(tc_dtype dtype, const char *text)
{
    float single = strtof(text, NULL);
    double real = strtod(text, NULL);
    uint64_t bits = 0;
    switch (dtype) {
    case TC_f16:
        return ti_f64_to_f16(real);
    case TC_bf16:
        return ti_f64_to_bf16(real);
    case TC_e4m3:
        return ti_f32_to_e4m3(single);
    case TC_e5m2:
        return ti_f32_to_e5m2(single);
    case TC_e2m3:
        return ti_f32_to_e2m3(single);
    case TC_e3m2:
        return ti_f32_to_e3m2(single);
    case TC_e2m1:
        return ti_f32_to_e2m1(single);
    case TC_ue8m0:
        return ti_f32_to_ue8m0(single);
    case TC_mxint8:
        return ti_f32_to_mxint8(single);
    case TC_f32:
        memcpy(&bits, &single, sizeof single);
        return bits;
    default:
        memcpy(&bits, &real, sizeof real);
        return bits;
    }
}

/* The canonical NaN: quiet, positive, no payload. */
static uint64_t plain_nan(tc_dtype dtype)
{
    switch (dtype) {
    case TC_f16:
        return 0x7e00;
    case TC_bf16:
        return 0x7fc0;
    case TC_e4m3:
        return 0x7f;
    case TC_e5m2:
        return 0x7e;
    case TC_ue8m0:
        return TC_SCALE_NAN;
    case TC_f32:
        return 0x7fc00000;
    default:
        return UINT64_C(0x7ff8000000000000);
    }
}

static void put_float(tc_buf *out, tc_dtype dtype, const void *at)
{
    uint64_t bits = get_bits(tc_dtypes[dtype].bytes, at);
    double value = float_value(dtype, bits);
    if (isnan(value)) {
        ti_buf_text(out, "nan");
        if (bits != plain_nan(dtype))
            ti_buf_printf(out, "(0x%" PRIx64 ")", bits);
        return;
    }
    if (isinf(value)) {
        ti_buf_text(out, value < 0 ? "-inf" : "inf");
        return;
    }
    char text[32];
    bool whole = fabs(value) < 1e15 && value == trunc(value);
    snprintf(text, sizeof text, "%.0f", value); /* 100, where %g would say 1e+02 */
    for (int digits = 1; !whole && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        bool coarse = tc_dtypes[dtype].bytes == 1 && dtype != TC_e4m3 && dtype != TC_e5m2;
        if (coarse ? strtod(text, NULL) == value : nearest_bits(dtype, text) == bits)
            break; /* a float type with few values prints the value itself: 7.5 rather than 8, which
                    * is out of range */
    }
    ti_buf_text(out, text);
}

/* A block-scaled number: its value, p, and the exponent of its scale, which may be nan: 1.5p-3. */
static void put_block(tc_buf *out, tc_dtype dtype, const void *at)
{
    uint64_t bits = get_bits(2, at);
    uint8_t code = (uint8_t)bits, scale = (uint8_t)(bits >> 8);
    tc_dtype value = ti_block_value(dtype);
    if (scale == TC_SCALE_NAN || isnan(float_value(value, code)))
        ti_buf_printf(out, "nan(0x%" PRIx64 ")", bits);
    else {
        put_float(out, value, &code);
        ti_buf_printf(out, "p%d", scale - TC_SCALE_BIAS);
    }
}

static int64_t get_int(tc_dtype dtype, const void *at)
{
    unsigned unused = 64u - 8u * tc_dtypes[dtype].bytes;
    uint64_t bits = get_bits(tc_dtypes[dtype].bytes, at) << unused;
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    /* Shift the sign back down; C leaves >> open for negative numbers. */
    return value < 0 ? ~(~value >> unused) : value >> unused;
}

void ti_element_put(tc_buf *out, tc_dtype dtype, const void *at)
{
    switch (tc_dtypes[dtype].kind) {
    case TC_BOOL:
        ti_buf_text(out, *(const uint8_t *)at ? "true" : "false");
        break;
    case TC_INT:
    case TC_SHAPE:
        ti_buf_printf(out, "%" PRId64, get_int(dtype, at));
        break;
    case TC_UINT:
        ti_buf_printf(out, "%" PRIu64, get_bits(tc_dtypes[dtype].bytes, at));
        break;
    case TC_COMPLEX:
        ti_buf_u8(out, '(');
        put_float(out, TC_f32, at);
        ti_buf_u8(out, ',');
        put_float(out, TC_f32, (const char *)at + 4);
        ti_buf_u8(out, ')');
        break;
    case TC_FLOAT:
        (ti_is_block(dtype) ? put_block : put_float)(out, dtype, at);
        break;
    }
}

static bool read_bool(tc_str text, void *at)
{
    bool yes = ti_str_is(text, "true");
    *(uint8_t *)at = yes;
    return yes || ti_str_is(text, "false");
}

static bool read_int(tc_dtype dtype, tc_str text, void *at)
{
    int64_t value;
    bool any = tc_dtypes[dtype].kind == TC_SHAPE; /* 64 bits, signed */
    if (!ti_text_to_i64(text, &value))
        return false;
    if (!any && (value < ti_dtype_min(dtype) || value > ti_dtype_max(dtype)))
        return false;
    put_bits(tc_dtypes[dtype].bytes, (uint64_t)value, at);
    return true;
}

static bool read_uint(tc_dtype dtype, tc_str text, void *at)
{
    char word[32], *end;
    if (text.n == 0 || text.n >= sizeof word || text.p[0] < '0' || text.p[0] > '9')
        return false;
    memcpy(word, text.p, text.n);
    word[text.n] = 0;
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (*end || errno || (tc_dtypes[dtype].bits < 64 && value >> tc_dtypes[dtype].bits))
        return false;
    put_bits(tc_dtypes[dtype].bytes, value, at);
    return true;
}

/* nan, or nan(0xBITS) with bits that are one. */
static bool read_nan(tc_dtype dtype, const char *word, void *at)
{
    uint64_t bits = plain_nan(dtype);
    if (word[3]) {
        char *end;
        if (!ti_text_starts(word, "nan(0x"))
            return false;
        bits = strtoull(word + 6, &end, 16);
        unsigned width = 8u * tc_dtypes[dtype].bytes;
        if (!ti_text_eq(end, ")") || (width < 64 && bits >> width) ||
            !isnan(float_value(dtype, bits)))
            return false;
    }
    put_bits(tc_dtypes[dtype].bytes, bits, at);
    return true;
}

static bool read_float(tc_dtype dtype, tc_str text, void *at)
{
    char word[64];
    if (text.n == 0 || text.n >= sizeof word)
        return false;
    memcpy(word, text.p, text.n);
    word[text.n] = 0;
    if (ti_text_starts(word, "nan"))
        return read_nan(dtype, word, at);
    bool infinite = ti_text_eq(word, "inf") || ti_text_eq(word, "-inf");
    double real;
    if (!infinite && (strspn(word, "+-.0123456789eE") != text.n || !ti_text_to_f64(text, &real)))
        return false;
    uint64_t bits = nearest_bits(dtype, word);
    put_bits(tc_dtypes[dtype].bytes, bits, at);
    /* e4m3 has no infinity: "inf" would become a NaN. */
    double value = float_value(dtype, bits);
    return infinite ? isinf(value) : isfinite(value);
}

/* nan(0xSSCC): a NaN scale or code; else VALUEpEXPONENT. */
static bool read_block(tc_dtype dtype, tc_str text, void *at)
{
    tc_dtype value = ti_block_value(dtype);
    char word[16], *end;
    if (text.n > 6 && memcmp(text.p, "nan(0x", 6) == 0 && text.n < sizeof word) {
        memcpy(word, text.p, text.n);
        word[text.n] = 0;
        uint64_t bits = strtoull(word + 6, &end, 16);
        put_bits(2, bits, at);
        return ti_text_eq(end, ")") && bits <= 0xffff &&
               (bits >> 8 == TC_SCALE_NAN || isnan(float_value(value, bits & 0xff)));
    }
    const char *p = text.n ? memchr(text.p, 'p', text.n) : NULL;
    int64_t e;
    uint8_t code;
    if (!p || !read_float(value, (tc_str){text.p, (size_t)(p - text.p)}, &code) ||
        !ti_text_to_i64((tc_str){p + 1, text.n - (size_t)(p + 1 - text.p)}, &e) ||
        e < -TC_SCALE_BIAS || e > TC_SCALE_BIAS)
        return false;
    put_bits(2, (uint64_t)(e + TC_SCALE_BIAS) << 8 | code, at);
    return true;
}

/* (real,imaginary) */
static bool read_complex(tc_str text, void *at)
{
    if (text.n < 5 || text.p[0] != '(' || text.p[text.n - 1] != ')')
        return false;
    tc_str inside = {text.p + 1, text.n - 2};
    const char *comma = memchr(inside.p, ',', inside.n);
    if (!comma)
        return false;
    size_t n = (size_t)(comma - inside.p);
    return read_float(TC_f32, (tc_str){inside.p, n}, at) &&
           read_float(TC_f32, (tc_str){comma + 1, inside.n - n - 1}, (char *)at + 4);
}

bool ti_element_read(tc_dtype dtype, tc_str text, void *at)
{
    switch (tc_dtypes[dtype].kind) {
    case TC_BOOL:
        return read_bool(text, at);
    case TC_INT:
    case TC_SHAPE:
        return read_int(dtype, text, at);
    case TC_UINT:
        return read_uint(dtype, text, at);
    case TC_COMPLEX:
        return read_complex(text, at);
    case TC_FLOAT:
        return ti_is_block(dtype) ? read_block(dtype, text, at) : read_float(dtype, text, at);
    }
    return false;
}

/* Codes of narrow floats that use all their bits, and one scale for every block. */
static bool floats_valid(const tc_type *type, const void *data)
{
    tc_dtype value = ti_block_value(type->dtype);
    unsigned bits = tc_dtypes[type->dtype].bits;
    int64_t n = tc_type_count(type), last = type->rank ? type->dim[type->rank - 1] : 1;
    if (value == TC_none) {
        for (int64_t i = 0; bits < 8 && i < n; i++)
            if (((const uint8_t *)data)[i] >> bits)
                return false;
        return true;
    }
    const uint16_t *at = data;
    for (int64_t i = 0; i < n; i++)
        if ((at[i] & 0xff) >> bits || at[i] >> 8 != at[i - i % last % TC_BLOCK] >> 8)
            return false;
    return true;
}

bool ti_elements_valid(const tc_type *type, const void *data)
{
    if (tc_dtypes[type->dtype].kind == TC_FLOAT)
        return floats_valid(type, data);
    if (type->dtype != TC_bool && type->dtype != TC_i4 && type->dtype != TC_i48)
        return true;
    size_t bytes = tc_dtypes[type->dtype].bytes;
    int64_t lo = ti_dtype_min(type->dtype), hi = ti_dtype_max(type->dtype);
    const char *at = data;
    for (int64_t i = 0, n = tc_type_count(type); i < n; i++, at += bytes) {
        int64_t value = get_int(type->dtype, at);
        if (value < lo || value > hi)
            return false;
    }
    return true;
}
