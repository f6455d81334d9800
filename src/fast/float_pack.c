/* SPDX-License-Identifier: Apache-2.0 */
/* float_pack.c -- see float_pack.h. */
#include "float_pack.h"

#include "../base/map.h"
#include "../num/turn.h"
#include "float.h"

size_t ti_packed_bytes(const tc_float_level *level, const tc_matrix *b)
{
    return (size_t)(b->groups * ti_matrix_depth(b) * ti_packed_columns(level, b->n)) *
           sizeof(float);
}

/* out[q * wide + i] = from[i * column + q], columns that follow each other being far apart. */
static void pack_turned(const float *from, int64_t column, int64_t rows, int64_t have, int64_t wide,
                        float *out)
{
    int64_t i = 0, bytes = sizeof *out;
    for (; i + 4 <= have; i += 4, from += 4 * column) {
        int64_t q = 0;
        for (; q + 4 <= rows; q += 4)
            ti_turn4(out + q * wide + i, wide * bytes, from + q, column * bytes, 4, 4);
        for (; q < rows; q++)
            for (int64_t e = 0; e < 4; e++)
                out[q * wide + i + e] = from[e * column + q];
    }
    for (; i < have; i++, from += column)
        for (int64_t q = 0; q < rows; q++)
            out[q * wide + i] = from[q];
}

/* Rows [first, first + rows) of a panel of `wide` columns, of which it has `have`. */
static void pack_panel(const tc_matrix *b, const float *data, int64_t first, int64_t rows,
                       int64_t have, int64_t wide, float *out)
{
    if (have < wide)
        memset(out, 0, (size_t)(rows * wide) * sizeof *out);
    if (b->step == 1 && b->taps == 1 && b->column != 1) {
        pack_turned(data + first, b->column, rows, have, wide, out);
        return;
    }
    for (int64_t q = first; q < first + rows; q++, out += wide) {
        const float *from = data + q / b->in * b->tap + q % b->in * b->step;
        if (b->column == 1)
            memcpy(out, from, (size_t)have * sizeof *out);
        else
            for (int64_t i = 0; i < have; i++)
                out[i] = from[i * b->column];
    }
}

void ti_pack(const tc_float_level *level, const tc_matrix *b, int64_t m, const float *data,
             float *out)
{
    int64_t depth = ti_matrix_depth(b);
    if (!m)
        pack_panel(b, data, 0, depth, b->n, b->n, out);
    for (int64_t g = 0; m && g < b->groups; g++)
        for (int64_t q = 0; q < depth; q += TC_GEMM_DEPTH) {
            int64_t rows = ti_min_i64(TC_GEMM_DEPTH, depth - q);
            for (int64_t j = 0, wide; j < b->n; j += wide) {
                wide = ti_float_vectors(level, b->n - j, m) * level->lanes;
                pack_panel(b, data + g * b->group + j * b->column, q, rows,
                           ti_min_i64(wide, b->n - j), wide, out);
                out += rows * wide;
            }
        }
}

/* Packed weights of one content. */
typedef struct packing {
    tc_matrix from;
    int rows; /* 0: none, 1: few, 2: many */
    const float *data;
    struct packing *next;
} packing;

/* A hash of their content: four chains at once, at memory bandwidth. */
static uint64_t content(const uint8_t *data, size_t size)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h[4] = {size, 1, 2, 3}, v[4];
    size_t i = 0;
    for (; i + sizeof v <= size; i += sizeof v) {
        memcpy(v, data + i, sizeof v);
        for (int k = 0; k < 4; k++) {
            h[k] = (h[k] ^ v[k]) * odd;
            h[k] ^= h[k] >> 29;
        }
    }
    return ti_hash(data + i, size - i, ti_hash(h, sizeof h, 0));
}

static const float *find_packing(const packing *p, const tc_matrix *from, int rows)
{
    while (p && !(p->rows == rows && memcmp(&p->from, from, sizeof *from) == 0))
        p = p->next;
    return p ? p->data : NULL;
}

/* The packed weights of a context.  The lists of an entry grow, and those found before an attempt
 * must not change: an attempt has its own map. */
typedef struct kept {
    tc_map packed;             /* by their content */
    const struct kept *before; /* those from before an attempt, or NULL */
    unsigned n_attempt;
} kept;

static kept *own_packed(tc_ctx *ctx)
{
    kept *own = TC_OWN(ctx, PACKED, kept);
    if (own->packed.n && own->n_attempt != ctx->n_attempt)
        own->before = ti_arena_copy(&ctx->arena, own, sizeof *own);
    if (!own->packed.arena || own->n_attempt != ctx->n_attempt)
        ti_map_init(&own->packed, &ctx->arena);
    own->n_attempt = ctx->n_attempt;
    return own;
}

const float *ti_packed_once(tc_ctx *ctx, const tc_float_level *level, const tc_matrix *b, int64_t m,
                            const float *data)
{
    size_t size = (size_t)(b->groups * ti_matrix_depth(b) * b->n) * sizeof(float);
    uint64_t key[2] = {content((const uint8_t *)data, size), size};
    tc_str name = {(const char *)key, sizeof key};
    int rows = !m ? 0 : m <= level->tall[4] ? 1 : 2;
    kept *own = own_packed(ctx);
    packing **at = (packing **)ti_map_at(&own->packed, name);
    const float *made = find_packing(*at, b, rows);
    for (const kept *k = own->before; k && !made; k = k->before)
        made = find_packing(ti_map_get(&k->packed, name), b, rows);
    if (made)
        return made;
    float *out = ti_arena_raw(&ctx->arena, ti_packed_bytes(level, b));
    ti_pack(level, b, m, data, out);
    packing *p = tc_new(&ctx->arena, packing);
    *p = (packing){*b, rows, out, *at};
    *at = p;
    return out;
}
