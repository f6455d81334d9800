/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_schema.c -- how numbers are packed in TOSA files; see tosa_schema.h. */
#include "tosa_schema.h"

#include "../num/load.h"

size_t ti_tosa_packed_bytes(tc_dtype dtype, size_t n)
{
    switch (dtype) {
    case TC_i4:
        return n / 2 + n % 2;
    case TC_i48:
        return n * 6;
    default:
        return n * tc_dtypes[dtype].bytes;
    }
}

bool ti_tosa_stored_plain(tc_dtype dtype)
{
    return dtype != TC_i4 && dtype != TC_i48 && dtype != TC_bool;
}

void ti_tosa_unpack(tc_dtype dtype, size_t n, const uint8_t *packed, void *out)
{
    switch (dtype) {
    case TC_i4: /* the even element in the low half */
        for (size_t i = 0; i < n; i++)
            ((int8_t *)out)[i] = (int8_t)ti_wrap(TC_i4, packed[i / 2] >> (i % 2 ? 4 : 0));
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
    switch (dtype) {
    case TC_i4:
        memset(packed, 0, ti_tosa_packed_bytes(dtype, n));
        for (size_t i = 0; i < n; i++)
            packed[i / 2] |= (uint8_t)((((const int8_t *)in)[i] & 15) << (i % 2 ? 4 : 0));
        break;
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
