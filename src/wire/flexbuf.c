/* SPDX-License-Identifier: Apache-2.0 */
/* flexbuf.c -- see flexbuf.h. */
#include "flexbuf.h"

#include <string.h>

/* Types, the upper six bits of their byte; the lower two: log2 of the bytes of what is pointed at. */
enum { INT = 1, UINT = 2, FLOAT = 3, INT_AT = 6, UINT_AT = 7, FLOAT_AT = 8, MAP = 9, BOOL = 26 };

static bool is_width(uint64_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

static uint64_t unsigned_at(const uint8_t *p, size_t width)
{
    return width == 1 ? *p : width == 2 ? ti_le16(p) : width == 4 ? ti_le32(p) : ti_le64(p);
}

static int64_t signed_at(const uint8_t *p, size_t width)
{
    return width == 1   ? (int8_t)*p
           : width == 2 ? (int16_t)ti_le16(p)
           : width == 4 ? (int32_t)ti_le32(p)
                        : (int64_t)ti_le64(p);
}

static double float_at(const uint8_t *p, size_t width)
{
    uint32_t bits = width == 4 ? ti_le32(p) : 0;
    uint64_t wide = width == 8 ? ti_le64(p) : 0;
    float f;
    double d;
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &wide, sizeof d);
    return width == 8 ? d : (double)f;
}

/* Where the value at `at` points back to; false: outside. */
static bool follow(tc_bytes b, size_t at, size_t width, size_t *out)
{
    uint64_t back = unsigned_at(b.data + at, width);
    *out = back && back <= at ? at - (size_t)back : 0;
    return back && back <= at;
}

/* Whether n elements of `each` bytes are inside. */
static bool inside(tc_bytes b, size_t at, uint64_t n, size_t each)
{
    return at <= b.size && n <= (b.size - at) / each;
}

bool ti_flex_map(tc_bytes b, tc_flex_map *out)
{
    size_t width = b.size ? b.data[b.size - 1] : 0, at, keys;
    if (!is_width(width) || b.size < 2 + width || b.data[b.size - 2] >> 2 != MAP ||
        !follow(b, b.size - 2 - width, width, &at))
        return false;
    width = (size_t)1 << (b.data[b.size - 2] & 3);
    if (at < 3 * width)
        return false;
    uint64_t n = unsigned_at(b.data + at - width, width),
             key_width = unsigned_at(b.data + at - 2 * width, width);
    if (!is_width(key_width) || !follow(b, at - 3 * width, width, &keys) ||
        !inside(b, at, n, width + 1) || !inside(b, keys, n, (size_t)key_width))
        return false;
    *out = (tc_flex_map){b, (size_t)n, at, width, keys, (size_t)key_width};
    return true;
}

static bool has_key(const tc_flex_map *m, size_t i, const char *key)
{
    size_t at, length = strlen(key) + 1;
    return follow(m->bytes, m->key + i * m->key_width, m->key_width, &at) &&
           m->bytes.size - at >= length && memcmp(m->bytes.data + at, key, length) == 0;
}

static bool number_at(const tc_flex_map *m, size_t i, double *out)
{
    size_t at = m->value + i * m->width, width = m->width;
    unsigned tag = m->bytes.data[m->value + m->n * m->width + i], type = tag >> 2;
    if (type == INT_AT || type == UINT_AT || type == FLOAT_AT) {
        if (!follow(m->bytes, at, width, &at))
            return false;
        width = (size_t)1 << (tag & 3);
        type -= INT_AT - INT;
    }
    if (!inside(m->bytes, at, 1, width) || (type == FLOAT && width < 4))
        return false;
    const uint8_t *p = m->bytes.data + at;
    *out = type == FLOAT ? float_at(p, width)
           : type == INT ? (double)signed_at(p, width)
                         : (double)unsigned_at(p, width);
    return type == INT || type == UINT || type == FLOAT || type == BOOL;
}

bool ti_flex_number(const tc_flex_map *m, const char *key, double *out)
{
    for (size_t i = 0; i < m->n; i++)
        if (has_key(m, i, key))
            return number_at(m, i, out);
    return false;
}
