/* SPDX-License-Identifier: Apache-2.0 */
/* type.c -- element types and interned types. */
#include "type.h"

const tc_dtype_info tc_dtypes[TC_DTYPE_COUNT] = {
    [TC_none] = {.name = "none", .pt2 = -1, .tosa = -1, .et = -1},
#define DTYPE(name_, bytes_, bits_, kind_, pt2_, tosa_, et_, npy_)                                 \
    [TC_##name_] = {#name_, bytes_, bits_, TC_##kind_, pt2_, tosa_, et_, npy_},
#include "dtype.def"
};

tc_dtype ti_dtype_named(tc_str name)
{
    for (int t = 1; t < TC_DTYPE_COUNT; t++)
        if (ti_str_is(name, tc_dtypes[t].name))
            return (tc_dtype)t;
    return TC_none;
}

tc_dtype ti_dtype_from_pt2(int64_t code)
{
    for (int t = 1; t < TC_DTYPE_COUNT; t++)
        if (code >= 0 && tc_dtypes[t].pt2 == code)
            return (tc_dtype)t;
    return TC_none;
}

tc_dtype ti_dtype_from_tosa(int64_t code)
{
    for (int t = 1; t < TC_DTYPE_COUNT; t++)
        if (code >= 0 && tc_dtypes[t].tosa == code)
            return (tc_dtype)t;
    return TC_none;
}

tc_dtype ti_dtype_from_et(int64_t code)
{
    for (int t = 1; t < TC_DTYPE_COUNT; t++)
        if (code >= 0 && tc_dtypes[t].et == code)
            return (tc_dtype)t;
    return TC_none;
}

int64_t ti_dtype_min(tc_dtype t)
{
    const tc_dtype_info *info = &tc_dtypes[t];
    if (info->kind != TC_INT)
        return 0;
    return info->bits == 64 ? INT64_MIN : -(INT64_C(1) << (info->bits - 1));
}

int64_t ti_dtype_max(tc_dtype t)
{
    const tc_dtype_info *info = &tc_dtypes[t];
    int bits = info->kind == TC_INT ? info->bits - 1 : info->bits;
    return bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}

int64_t ti_dims_count(int32_t rank, const int64_t *dim)
{
    const int64_t most = INT64_C(1) << 40;
    if (rank < 0 || rank > TC_MAX_RANK)
        return -1;
    int64_t count = 1, nonzero = 1;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0 || dim[i] > INT32_MAX)
            return -1;
        if (dim[i] && nonzero > most / dim[i])
            return -1;
        nonzero *= dim[i] ? dim[i] : 1;
        count *= dim[i] ? dim[i] : 0;
    }
    return count;
}

bool ti_dims_open(int32_t rank, const int64_t *dim)
{
    int64_t known[TC_MAX_RANK];
    bool open = false;
    for (int i = 0; rank >= 0 && rank <= TC_MAX_RANK && i < rank; i++) {
        open = open || dim[i] == TC_OPEN;
        known[i] = dim[i] == TC_OPEN ? 1 : dim[i];
    }
    return open && ti_dims_count(rank, known) >= 0;
}

int64_t tc_type_count(const tc_type *type)
{
    int64_t count = 1;
    for (int i = 0; i < type->rank; i++)
        count *= type->dim[i];
    return count;
}

size_t tc_type_bytes(const tc_type *type)
{
    return (size_t)tc_type_count(type) * tc_dtypes[type->dtype].bytes;
}

/* The content of a quantized type as bytes, for interning. */
static void write_key(tc_buf *key, const tc_type *t)
{
    ti_buf_u8(key, (uint8_t)t->dtype);
    ti_buf_u8(key, (uint8_t)t->rank);
    ti_buf_put(key, t->dim, (size_t)t->rank * sizeof t->dim[0]);
    const tc_quant *q = t->quant;
    ti_buf_put(key, &q->axis, sizeof q->axis);
    ti_buf_put(key, &q->lo, sizeof q->lo);
    ti_buf_put(key, &q->hi, sizeof q->hi);
    ti_buf_put(key, q->scale, (size_t)q->count * sizeof q->scale[0]);
    ti_buf_put(key, q->zero, (size_t)q->count * sizeof q->zero[0]);
}

static const tc_quant *copy_quant(tc_arena *arena, const tc_quant *q)
{
    tc_quant *copy = tc_new(arena, tc_quant);
    *copy = *q;
    copy->scale = ti_arena_copy(arena, q->scale, (size_t)q->count * sizeof q->scale[0]);
    copy->zero = ti_arena_copy(arena, q->zero, (size_t)q->count * sizeof q->zero[0]);
    return copy;
}

/* The slot of a type; common unquantized ones are found without allocating. */
static void **slot_of(tc_ctx *ctx, const tc_type *type)
{
    uint8_t plain[2 + sizeof type->dim];
    if (!type->quant) {
        size_t dims = (size_t)type->rank * sizeof type->dim[0];
        plain[0] = (uint8_t)type->dtype;
        plain[1] = (uint8_t)type->rank;
        memcpy(plain + 2, type->dim, dims);
        return ti_map_at(&ctx->types, (tc_str){(const char *)plain, 2 + dims});
    }
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_buf key;
    ti_buf_init(&key, &ctx->scratch);
    write_key(&key, type);
    void **slot = ti_map_at(&ctx->types, (tc_str){(const char *)key.data, key.size});
    ti_arena_rewind(&ctx->scratch, mark);
    return slot;
}

const tc_type *ti_type_intern(tc_ctx *ctx, const tc_type *type)
{
    assert(ti_dims_count(type->rank, type->dim) >= 0 || ti_type_open(type));
    void **slot = slot_of(ctx, type);
    if (!*slot) {
        tc_type *copy = tc_new(&ctx->arena, tc_type);
        copy->dtype = type->dtype;
        copy->rank = type->rank;
        memcpy(copy->dim, type->dim, (size_t)type->rank * sizeof type->dim[0]);
        copy->quant = type->quant ? copy_quant(&ctx->arena, type->quant) : NULL;
        *slot = copy;
    }
    return *slot;
}

const tc_type *ti_type_make(tc_ctx *ctx, tc_dtype dtype, int32_t rank, const int64_t *dim)
{
    tc_type type = {.dtype = dtype, .rank = rank};
    if (rank)
        memcpy(type.dim, dim, (size_t)rank * sizeof *dim);
    return ti_type_intern(ctx, &type);
}

const tc_type *ti_type_real(tc_ctx *ctx, const tc_type *type)
{
    return type && type->quant ? ti_type_make(ctx, TC_f32, type->rank, type->dim) : type;
}

const tc_type *ti_type_carried(tc_ctx *ctx, const tc_type *type)
{
    bool carried = type && type->dtype == TC_u8 && !type->quant;
    return carried ? ti_type_make(ctx, TC_i8, type->rank, type->dim) : type;
}

const tc_type *ti_type_with(tc_ctx *ctx, const tc_type *type, const tc_quant *quant)
{
    tc_type with = *type;
    with.quant = quant;
    return ti_type_intern(ctx, &with);
}

bool ti_same_quant(const tc_quant *a, const tc_quant *b)
{
    if (!a || !b)
        return a == b;
    return a->axis == b->axis && a->axis < 0 && a->lo == b->lo && a->hi == b->hi &&
           a->scale[0] == b->scale[0] && a->zero[0] == b->zero[0];
}

static void put_dims(tc_buf *out, int32_t rank, const int64_t *dim)
{
    ti_buf_u8(out, '[');
    for (int i = 0; i < rank; i++) {
        ti_buf_text(out, i ? "," : "");
        if (dim[i] == TC_OPEN)
            ti_buf_u8(out, '?');
        else
            ti_buf_printf(out, "%" PRId64, dim[i]);
    }
    ti_buf_u8(out, ']');
}

const char *ti_dims_text(tc_arena *arena, int32_t rank, const int64_t *dim)
{
    tc_buf out;
    ti_buf_init(&out, arena);
    put_dims(&out, rank, dim);
    return ti_buf_cstr(&out);
}

/* q(scale:zero), q(axis=0; scale:zero, ...), and " in lo..hi" when narrower than the storage. */
static void put_quant(tc_buf *out, const tc_type *t)
{
    const tc_quant *q = t->quant;
    ti_buf_text(out, " q(");
    if (q->axis >= 0)
        ti_buf_printf(out, "axis=%d; ", q->axis);
    for (int i = 0; i < q->count; i++) {
        char scale[32];
        tc_text_f64(q->scale[i], scale);
        ti_buf_printf(out, "%s%s:%" PRId64, i ? ", " : "", scale, q->zero[i]);
    }
    if (q->lo != ti_dtype_min(t->dtype) || q->hi != ti_dtype_max(t->dtype))
        ti_buf_printf(out, " in %" PRId64 "..%" PRId64, q->lo, q->hi);
    ti_buf_u8(out, ')');
}

const char *ti_type_text(tc_arena *arena, const tc_type *type)
{
    tc_buf out;
    ti_buf_init(&out, arena);
    ti_buf_text(&out, tc_dtypes[type->dtype].name);
    put_dims(&out, type->rank, type->dim);
    if (type->quant)
        put_quant(&out, type);
    return ti_buf_cstr(&out);
}

tc_tensor ti_tensor_new(tc_arena *arena, const tc_type *type)
{
    return (tc_tensor){type, ti_arena_raw(arena, tc_type_bytes(type))};
}
