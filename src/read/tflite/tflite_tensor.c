/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_tensor.c -- tensors of a graph: their types, quantization, and elements, which are used in
 * place where possible. */
#include <float.h>

#include "../../num/load.h"
#include "tflite_program.h"

/* ---- declared types ---- */

static double f32_at(tc_fb_vector list, size_t i)
{
    uint32_t bits = (uint32_t)ti_fb_list_i32(list, i);
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

/* Scales and zeros in separate tensors, one for each block of an axis. */
static void read_blocks(tc_tfl_tensor *t, tc_fb_table details)
{
    t->block_scale = ti_fb_i32(details, 0, -1);
    t->block_zero = ti_fb_i32(details, 1, -1);
    t->block = ti_fb_i32(details, 2, 0);
}

static tc_status read_quant(tc_tfl_scope *scope, tc_tfl_tensor *t, const tc_loc *loc)
{
    enum { BLOCKWISE = 2 };
    tc_arena *arena = &scope->reader->ctx->arena;
    tc_fb_table q = ti_fb_child(t->table, TENSOR_QUANT);
    if (!q.at)
        return TC_OK;
    tc_fb_vector scale = ti_fb_list(q, QUANT_SCALE, 4), zero = ti_fb_list(q, QUANT_ZERO, 8);
    t->axis = ti_fb_i32(q, QUANT_AXIS, 0);
    if (ti_fb_u8(q, QUANT_DETAILS_TYPE, 0) == BLOCKWISE)
        read_blocks(t, ti_fb_child(q, QUANT_DETAILS));
    if (!scale.n || scope->reader->fb.error)
        return TC_OK;
    if (zero.n > 1 && zero.n != scale.n)
        return ti_error(scope->reader->ctx, loc, TC_E_FORMAT, "%zu scales and %zu zero points",
                        scale.n, zero.n);
    t->n_scale = (int)ti_min_i64((int64_t)scale.n, INT32_MAX);
    t->scale = tc_new_n(arena, double, scale.n);
    t->zero = tc_new_n(arena, int64_t, scale.n);
    for (size_t i = 0; i < scale.n; i++) {
        t->scale[i] = f32_at(scale, i);
        if (!(t->scale[i] >= 0 && t->scale[i] <= FLT_MAX))
            return ti_error(scope->reader->ctx, loc, TC_E_FORMAT, "its scale is %g", t->scale[i]);
        t->zero[i] = zero.n ? (int64_t)ti_fb_list_u64(zero, zero.n == scale.n ? i : 0) : 0;
    }
    t->shifted = t->code == TFL_UINT8;
    int64_t down = t->shifted ? 128 : t->code == TFL_UINT4 ? 8 : 0;
    for (size_t i = 0; i < scale.n; i++) {
        if (t->zero[i] < INT32_MIN + down || t->zero[i] > INT32_MAX)
            return ti_error(scope->reader->ctx, loc, TC_E_FORMAT,
                            "its zero point is %" PRId64 ", past 32 bits", t->zero[i]);
        t->zero[i] -= down;
    }
    if (t->shifted)
        t->dtype = TC_i8;
    return TC_OK;
}

static tc_status describe(tc_tfl_scope *scope, size_t i, tc_tfl_tensor *t)
{
    tc_tfl *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_str name = ti_fb_string(t->table, TENSOR_NAME);
    tc_fb_vector shape = ti_fb_list(t->table, TENSOR_SHAPE, 4),
                 open = ti_fb_list(t->table, TENSOR_SIGNATURE, 4);
    t->name = name.n ? ti_intern(ctx, name) : ti_text_format(&ctx->arena, "tensor %zu", i);
    t->code = (int8_t)ti_fb_u8(t->table, TENSOR_TYPE, 0);
    t->dtype = ti_tfl_dtype_of(t->code);
    t->variable = ti_fb_u8(t->table, TENSOR_VARIABLE, 0) != 0;
    TC_TRY(ti_tfl_broken(reader));
    const tc_loc loc = {.file = reader->file,
                        .place = ti_text_format(&ctx->arena, "tensor '%.200s'", t->name)};
    if (shape.n > TC_MAX_RANK)
        return ti_unsupported(ctx, &loc, TC_E_UNSUPPORTED, "%zu axes; at most %d are supported",
                              shape.n, TC_MAX_RANK);
    t->rank = (int)shape.n;
    for (size_t k = 0; k < shape.n; k++) {
        t->dim[k] = ti_fb_list_i32(shape, k);
        t->open |= (uint32_t)(k < open.n && ti_fb_list_i32(open, k) < 0) << k;
    }
    TC_TRY(read_quant(scope, t, &loc));
    return ti_tfl_broken(reader);
}

/* Whether some of it has been compiled to the commands of an Ethos-U. */
static bool has_commands(const tc_tfl_scope *scope)
{
    tc_fb_vector ops = ti_fb_list(scope->graph, GRAPH_OPERATORS, 4);
    for (size_t i = 0; i < ops.n && !scope->reader->fb.error; i++) {
        tc_str custom;
        int version, code = ti_tfl_code(scope->reader, ti_fb_list_table(ops, i), &custom, &version);
        if (code == TC_TFL_CUSTOM && ti_str_is(custom, TC_TFL_ETHOSU))
            return true;
    }
    return false;
}

tc_status ti_tfl_tensors(tc_tfl_scope *scope, int64_t graph)
{
    tc_tfl *reader = scope->reader;
    scope->index = graph;
    scope->graph = ti_fb_list_table(reader->graphs, (size_t)graph);
    tc_fb_vector list = ti_fb_list(scope->graph, GRAPH_TENSORS, 4);
    TC_TRY(ti_tfl_broken(reader));
    scope->n_tensor = list.n;
    scope->tensor = tc_new_n(&reader->ctx->arena, tc_tfl_tensor, list.n);
    for (size_t i = 0; i < list.n; i++) {
        scope->tensor[i].table = ti_fb_list_table(list, i);
        TC_TRY(describe(scope, i, &scope->tensor[i]));
    }
    scope->settled = has_commands(scope);
    for (size_t i = 0; i < list.n && scope->settled; i++)
        scope->tensor[i].open = 0;
    return ti_tfl_broken(reader);
}

/* ---- elements ---- */

tc_bytes ti_tfl_buffer(tc_tfl *reader, int64_t i)
{
    if (i < 0 || (i && (uint64_t)i >= reader->buffers.n))
        ti_fb_fail(&reader->fb, reader->buffers.at, "a tensor names a buffer that does not exist");
    if (i <= 0 || reader->fb.error)
        return (tc_bytes){NULL, 0};
    tc_fb_table b = ti_fb_list_table(reader->buffers, (size_t)i);
    uint64_t at = ti_fb_u64(b, BUFFER_AT, 0), size = ti_fb_u64(b, BUFFER_SIZE, 0);
    if (at <= 1)
        return ti_fb_bytes(b, BUFFER_DATA);
    if (at > reader->bytes.size || size > reader->bytes.size - at) {
        ti_fb_fail(&reader->fb, b.at, "a buffer lies past the end of the file");
        return (tc_bytes){NULL, 0};
    }
    return (tc_bytes){reader->bytes.data + at, (size_t)size};
}

bool ti_tfl_has_numbers(const tc_tfl *reader, const tc_tfl_tensor *t)
{
    uint32_t i = ti_fb_u32(t->table, TENSOR_BUFFER, 0);
    if (!i || i >= reader->buffers.n)
        return false;
    tc_fb_table b = ti_fb_list_table(reader->buffers, i);
    return ti_fb_u64(b, BUFFER_AT, 0) > 1 ? ti_fb_u64(b, BUFFER_SIZE, 0) != 0
                                          : ti_fb_count(b, BUFFER_DATA) != 0;
}

static bool is_sparse(const tc_tfl_tensor *t)
{
    return ti_fb_has(t->table, TENSOR_SPARSITY);
}

/* Bits of one element as the file packs them. */
static int64_t bits_of(const tc_tfl_tensor *t)
{
    return t->code == TFL_INT4 || t->code == TFL_UINT4 ? 4
           : t->code == TFL_INT2                       ? 2
                                                       : 8 * (int64_t)tc_dtypes[t->dtype].bytes;
}

/* Element i of packed elements, sign first; uint4 as the int4 code 8 less. */
static int8_t unpacked(const uint8_t *p, int64_t i, int64_t bits, bool is_unsigned)
{
    int64_t per = 8 / bits;
    int v = p[i / per] >> (i % per * bits) & ((1 << bits) - 1), half = 1 << (bits - 1);
    return (int8_t)(is_unsigned ? v - half : (v ^ half) - half);
}

/* `count` elements in the file's form, in ours. */
static const void *converted(tc_tfl *reader, const tc_tfl_tensor *t, tc_bytes raw, int64_t count)
{
    tc_arena *arena = &reader->ctx->arena;
    size_t width = tc_dtypes[t->dtype].bytes;
    int64_t bits = bits_of(t);
    if (bits < 8) {
        int8_t *to = ti_arena_raw(arena, (size_t)count + 1);
        for (int64_t i = 0; i < count; i++)
            to[i] = unpacked(raw.data, i, bits, t->code == TFL_UINT4);
        return to;
    }
    if (t->shifted) {
        uint8_t *to = ti_arena_raw(arena, (size_t)count + 1);
        for (int64_t i = 0; i < count; i++)
            to[i] = raw.data[i] ^ 0x80;
        return to;
    }
    if ((uintptr_t)raw.data % width == 0)
        return raw.data;
    return ti_arena_copy(arena, raw.data, (size_t)count * width);
}

/* ---- sparse tensors ---- */

enum { MOST_LEVELS = 2 * TC_MAX_RANK };

typedef struct sparse {
    tc_tfl *reader;
    int rank, levels; /* axes; axes and blocks */
    int64_t order[MOST_LEVELS], block_of[MOST_LEVELS], dense[MOST_LEVELS], extent[MOST_LEVELS];
    bool csr[MOST_LEVELS];
    tc_fb_vector segments[MOST_LEVELS], indices[MOST_LEVELS];
    int width_s[MOST_LEVELS], width_i[MOST_LEVELS];
    const int64_t *dim;
    size_t bytes;
    const uint8_t *from;
    int64_t n_from, next;
    uint8_t *to;
    int64_t at[MOST_LEVELS];
    int64_t steps; /* that may still be taken: no file has its parts visited over and over */
} sparse;

/* Elements of a sparse index vector, of 4, 2 or 1 bytes. */
static tc_fb_vector index_list(tc_fb_table t, uint32_t field, int *width)
{
    static const int widths[] = {0, 4, 2, 1};
    uint32_t kind = ti_fb_u8(t, field, 0);
    *width = kind < TC_COUNT(widths) ? widths[kind] : 0;
    return *width ? ti_fb_list(ti_fb_child(t, field + 1), 0, (size_t)*width)
                  : (tc_fb_vector){t.fb, 0, 0};
}

static int64_t index_at(tc_fb_vector v, int width, int64_t i)
{
    if (i < 0 || (uint64_t)i >= v.n)
        return -1;
    const uint8_t *p = v.fb->data + v.at + (size_t)(i * width);
    return width == 4   ? (int64_t)(int32_t)ti_le32(p)
           : width == 2 ? (int64_t)(p[0] | p[1] << 8)
                        : (int64_t)p[0];
}

/* Index of the element at s->at among the dense ones; -1: outside. */
static int64_t dense_place(const sparse *s)
{
    int64_t place[TC_MAX_RANK] = {0}, flat = 0;
    for (int k = 0; k < s->levels; k++) {
        int64_t axis = s->order[k] < s->rank ? s->order[k] : s->block_of[s->order[k] - s->rank];
        if (s->order[k] < s->rank) {
            int64_t block = 1;
            for (int b = 0; b < s->levels; b++)
                if (s->order[b] >= s->rank && s->block_of[s->order[b] - s->rank] == axis)
                    block = s->extent[b];
            place[axis] += s->at[k] * block;
        } else
            place[axis] += s->at[k];
    }
    for (int i = 0; i < s->rank; i++) {
        if (place[i] < 0 || place[i] >= s->dim[i])
            return -1;
        flat = flat * s->dim[i] + place[i];
    }
    return flat;
}

/* All elements below level k; position: of its parents, in their order. */
static bool expand(sparse *s, int k, int64_t position)
{
    if (s->steps-- <= 0)
        return false;
    if (k == s->levels) {
        int64_t flat = dense_place(s);
        if (flat < 0 || s->next >= s->n_from)
            return false;
        memcpy(s->to + (size_t)flat * s->bytes, s->from + (size_t)s->next * s->bytes, s->bytes);
        s->next++;
        return true;
    }
    if (!s->csr[k]) {
        for (int64_t i = 0; i < s->dense[k]; i++) {
            s->at[k] = i;
            if (!expand(s, k + 1, position * s->dense[k] + i))
                return false;
        }
        return true;
    }
    int64_t first = index_at(s->segments[k], s->width_s[k], position),
            last = index_at(s->segments[k], s->width_s[k], position + 1);
    if (first < 0 || last < first)
        return false;
    for (int64_t i = first; i < last; i++) {
        s->at[k] = index_at(s->indices[k], s->width_i[k], i);
        if (s->at[k] < 0 || !expand(s, k + 1, i))
            return false;
    }
    return true;
}

static bool read_levels(sparse *s, tc_fb_table p)
{
    tc_fb_vector order = ti_fb_list(p, 0, 4), blocks = ti_fb_list(p, 1, 4),
                 meta = ti_fb_list(p, 2, 4);
    if (order.n > MOST_LEVELS || meta.n != order.n || order.n != (size_t)s->rank + blocks.n)
        return false;
    s->levels = (int)order.n;
    for (size_t i = 0; i < blocks.n; i++) {
        s->block_of[i] = ti_fb_list_i32(blocks, i);
        if (s->block_of[i] < 0 || s->block_of[i] >= s->rank)
            return false;
    }
    uint32_t seen = 0;
    for (size_t k = 0; k < order.n; k++) {
        tc_fb_table d = ti_fb_list_table(meta, k);
        s->order[k] = ti_fb_list_i32(order, k);
        if (s->order[k] < 0 || s->order[k] >= s->levels || seen >> s->order[k] & 1u)
            return false;
        seen |= 1u << s->order[k];
        s->csr[k] = ti_fb_u8(d, 0, 0) != 0;
        s->dense[k] = ti_fb_i32(d, 1, 0);
        s->extent[k] = s->dense[k];
        s->segments[k] = index_list(d, 2, &s->width_s[k]);
        s->indices[k] = index_list(d, 4, &s->width_i[k]);
        if (s->order[k] >= s->rank && (s->csr[k] || s->dense[k] < 1))
            return false;
    }
    return !s->reader->fb.error;
}

/* A sparse tensor with its zeros; NULL when the file does not fit together. */
static const void *densified(tc_tfl *reader, const tc_tfl_tensor *t, tc_bytes raw, int64_t count)
{
    sparse s = {.reader = reader, .rank = t->rank, .dim = t->dim};
    s.bytes = tc_dtypes[t->dtype].bytes;
    if (bits_of(t) < 8 || !read_levels(&s, ti_fb_child(t->table, TENSOR_SPARSITY)))
        return NULL;
    s.n_from = (int64_t)(raw.size / s.bytes);
    s.steps = 8 * (count + s.n_from) + 65536;
    s.from = converted(reader, t, raw, s.n_from);
    s.to = ti_arena_raw(&reader->ctx->arena, (size_t)count * s.bytes + 1);
    memset(s.to, t->shifted ? 0x80 : 0, (size_t)count * s.bytes);
    return expand(&s, 0, 0) ? s.to : NULL;
}

tc_status ti_tfl_load(tc_tfl_scope *scope, tc_tfl_tensor *t, const tc_loc *loc, tc_tensor *out)
{
    static const char empty[8];
    tc_tfl *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    *out = t->kept;
    if (out->data)
        return TC_OK;
    tc_bytes raw = ti_tfl_buffer(reader, (int64_t)ti_fb_u32(t->table, TENSOR_BUFFER, 0));
    if (ti_fb_u32(t->table, TENSOR_EXTERNAL, 0))
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "tensor '%s' has its numbers in another file", t->name);
    TC_TRY(ti_tfl_broken(reader));
    int64_t count = ti_dims_count(t->rank, t->dim);
    if (!raw.data && count != 0)
        return TC_OK;
    if (!t->dtype)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "tensor '%s' is of type %s, which is not supported", t->name,
                              ti_tfl_type_name(t->code));
    if (count < 0)
        return ti_error(ctx, loc, TC_E_TOO_LARGE, "tensor '%s' has the shape %s", t->name,
                        ti_dims_text(&ctx->arena, t->rank, t->dim));
    const tc_type *type = ti_type_make(ctx, t->dtype, t->rank, t->dim);
    bool sparse_one = is_sparse(t);
    if (!sparse_one && (int64_t)raw.size != (count * bits_of(t) + 7) / 8)
        return ti_error(ctx, loc, TC_E_TRUNCATED, "tensor '%s' has %zu bytes, its type %s needs "
                        "%" PRId64, t->name, raw.size, ti_type_text(&ctx->arena, type),
                        (count * bits_of(t) + 7) / 8);
    const void *data = !count       ? empty
                       : sparse_one ? densified(reader, t, raw, count)
                                    : converted(reader, t, raw, count);
    TC_TRY(ti_tfl_broken(reader));
    if (!data)
        return ti_error(ctx, loc, TC_E_FORMAT, "the sparse tensor '%s' is inconsistent",
                        t->name);
    *out = t->kept = (tc_tensor){type, (void *)(uintptr_t)data};
    return TC_OK;
}
