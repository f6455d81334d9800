/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_schema.c -- how elements are packed in TOSA files; see tosa_schema.h. */
#include "tosa_schema.h"

#include "../num/load.h"

size_t ti_tosa_packed_bytes(tc_dtype dtype, size_t n)
{
    size_t bits = tc_dtypes[dtype].bits;
    if (dtype == TC_bool)
        return n;
    return bits < 8 ? n / 8 * bits + (n % 8 * bits + 7) / 8 : n * (bits / 8);
}

bool ti_tosa_stored_plain(tc_dtype dtype)
{
    return dtype != TC_bool && tc_dtypes[dtype].bits == 8 * tc_dtypes[dtype].bytes;
}

/* Codes of less than eight bits are stored one after the other, from the lowest bit up. */
static uint8_t get_code(const uint8_t *packed, size_t i, unsigned bits)
{
    size_t at = i * bits;
    unsigned shift = (unsigned)(at % 8), both = packed[at / 8];
    if (shift + bits > 8)
        both |= (unsigned)packed[at / 8 + 1] << 8;
    return (uint8_t)(both >> shift & ((1u << bits) - 1));
}

static void put_code(uint8_t *packed, size_t i, unsigned bits, uint8_t code)
{
    size_t at = i * bits;
    unsigned shift = (unsigned)(at % 8), both = (code & ((1u << bits) - 1)) << shift;
    packed[at / 8] |= (uint8_t)both;
    if (shift + bits > 8)
        packed[at / 8 + 1] |= (uint8_t)(both >> 8);
}

/* Values of a block-scaled tensor, its scales apart. */
static void unpack_values(unsigned bits, size_t n, const uint8_t *packed, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = bits < 8 ? get_code(packed, i, bits) : packed[i];
}

void ti_tosa_unpack_scales(size_t n, const uint8_t *scale, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint16_t)(out[i] | scale[i / TC_BLOCK] << 8);
}

void ti_tosa_pack_scales(size_t n, const uint16_t *in, uint8_t *scale)
{
    for (size_t i = 0; i < n; i += TC_BLOCK)
        scale[i / TC_BLOCK] = (uint8_t)(in[i] >> 8);
}

void ti_tosa_unpack(tc_dtype dtype, size_t n, const uint8_t *packed, void *out)
{
    unsigned bits = tc_dtypes[dtype].bits;
    if (ti_is_block(dtype)) {
        unpack_values(bits, n, packed, out);
        return;
    }
    switch (dtype) {
    case TC_i4:
        for (size_t i = 0; i < n; i++)
            ((int8_t *)out)[i] = (int8_t)ti_wrap(TC_i4, get_code(packed, i, bits));
        break;
    case TC_e2m3:
    case TC_e3m2:
    case TC_e2m1:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = get_code(packed, i, bits);
        break;
    case TC_i48:
        for (size_t i = 0; i < n; i++) {
            const uint8_t *p = packed + 6 * i;
            ((int64_t *)out)[i] =
                ti_wrap(TC_i48, (int64_t)(ti_le32(p) | (uint64_t)ti_le16(p + 4) << 32));
        }
        break;
    case TC_bool:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = packed[i] != 0;
        break;
    default:
        if (n)
            memcpy(out, packed, n * tc_dtypes[dtype].bytes);
    }
}

void ti_tosa_pack(tc_dtype dtype, size_t n, const void *in, uint8_t *packed)
{
    unsigned bits = tc_dtypes[dtype].bits, wide = tc_dtypes[dtype].bytes;
    if (ti_is_block(dtype) || (bits < 8 && dtype != TC_bool)) { /* the low byte has the code */
        memset(packed, 0, ti_tosa_packed_bytes(dtype, n));
        for (size_t i = 0; i < n; i++)
            put_code(packed, i, bits, ((const uint8_t *)in)[i * wide]);
        return;
    }
    switch (dtype) {
    case TC_i48:
        for (size_t i = 0; i < 6 * n; i++)
            packed[i] = (uint8_t)((uint64_t)((const int64_t *)in)[i / 6] >> 8 * (i % 6));
        break;
    default:
        if (n)
            memcpy(packed, in, n * tc_dtypes[dtype].bytes);
    }
}

double ti_tosa_number(tc_dtype dtype, const uint8_t *packed)
{
    int64_t room = 0;
    ti_tosa_unpack(dtype, 1, packed, &room);
    return ti_load_f64((tc_tensor){&(tc_type){.dtype = dtype}, &room}, 0);
}

void ti_tosa_put_number(tc_dtype dtype, double value, uint8_t *packed)
{
    int64_t room = 0;
    ti_store_f64((tc_tensor){&(tc_type){.dtype = dtype}, &room}, 0, value);
    ti_tosa_pack(dtype, 1, &room, packed);
}

const char *ti_tosa_spelled(tc_arena *arena, const char *op_name)
{
    char *text =
        ti_text_copy(arena, ti_str_of(ti_text_starts(op_name, "tosa_") ? op_name + 5 : op_name));
    for (char *p = text; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
    return text;
}
