/* SPDX-License-Identifier: Apache-2.0 */
/* weight_fixed.c -- see weight_fixed.h. */
#include "weight_fixed.h"

enum { HEAD = 32, ALIGN = 32, TABLE = 16, SMALL = 4, MOST = 255 };

int ti_npu_fixed_bits(int32_t different, int32_t lo, int32_t hi, bool bytes)
{
    if (!bytes && different <= TABLE)
        return different <= SMALL ? 2 : 4;
    return hi - lo <= 255 ? 8 : 0;
}

size_t ti_npu_fixed_bytes(size_t n, int bits)
{
    size_t bytes = HEAD + (n * (size_t)bits + 7) / 8;
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* The header's fields. */
typedef struct form {
    int bits;
    int32_t adjust;
    int16_t table[TABLE];
    int32_t n_table;
    uint8_t index[2 * MOST + 1]; /* of a value + MOST in the table */
} form;

static void look(const int16_t *v, size_t n, bool bytes, form *out)
{
    bool seen[2 * MOST + 1] = {0};
    int32_t different = 0, lo = 0, hi = 0;
    *out = (form){0};
    for (size_t k = 0; k < n; k++) {
        if (seen[v[k] + MOST])
            continue;
        seen[v[k] + MOST] = true;
        lo = !different || v[k] < lo ? v[k] : lo;
        hi = !different || v[k] > hi ? v[k] : hi;
        if (different < TABLE) {
            out->index[v[k] + MOST] = (uint8_t)different;
            out->table[out->n_table++] = v[k];
        }
        different++;
    }
    out->bits = ti_npu_fixed_bits(different, lo, hi, bytes);
    if (out->bits == 8)
        out->adjust = lo < -128 ? -128 - lo : hi > 127 ? 127 - hi : 0;
}

static void put_head(uint8_t *head, const form *f)
{
    enum { ADJUST = 13, ENTRIES = 112, ENTRY = 9 };
    head[0] = f->bits == 8 ? 1 : f->bits == 2 ? 2 : 0;
    head[ADJUST] = (uint8_t)f->adjust;
    for (int32_t i = 0; i < f->n_table; i++) {
        int v = f->table[i], folded = v < 0 ? -2 * v + 1 : 2 * v, at = ENTRIES + ENTRY * i;
        head[at / 8] |= (uint8_t)(folded << at % 8);
        head[at / 8 + 1] |= (uint8_t)(folded >> (8 - at % 8));
    }
}

tc_bytes ti_npu_fixed_encode(tc_arena *arena, const int16_t *v, size_t n, bool bytes)
{
    form f;
    look(v, n, bytes, &f);
    if (!f.bits)
        return (tc_bytes){0};
    size_t size = ti_npu_fixed_bytes(n, f.bits), each = (size_t)(8 / f.bits);
    uint8_t *data = tc_new_n(arena, uint8_t, size), *to = data + HEAD;
    put_head(data, &f);
    if (f.bits == 8)
        for (size_t k = 0; k < n; k++)
            to[k] = (uint8_t)(v[k] + f.adjust);
    else
        for (size_t k = 0; k < n; k++)
            to[k / each] |= (uint8_t)(f.index[v[k] + MOST] << k % each * (size_t)f.bits);
    return (tc_bytes){data, size};
}
