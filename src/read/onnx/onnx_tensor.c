/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_tensor.c -- tensors of an ONNX file: stored in it, or in an external file.
 *
 * Aligned bytes are used in place.  Four-bit integers become a byte each; other types are rejected
 * by name. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>

#include "../../num/load.h"
#include "../../wire/file.h"
#include "onnx_program.h"

/* ONNX's codes of element types. */
enum { FLOAT = 1, STRING = 8, FLOAT16 = 10, BFLOAT16 = 16, UINT4 = 21, INT4 = 22 };

static const struct {
    const char *name;
    tc_dtype is;
    uint8_t bits;
} types[] = {
    {"undefined", TC_none, 0},     {"float", TC_f32, 32},       {"uint8", TC_u8, 8},
    {"int8", TC_i8, 8},            {"uint16", TC_u16, 16},      {"int16", TC_i16, 16},
    {"int32", TC_i32, 32},         {"int64", TC_i64, 64},       {"string", TC_none, 0},
    {"bool", TC_bool, 8},          {"float16", TC_f16, 16},     {"double", TC_f64, 64},
    {"uint32", TC_u32, 32},        {"uint64", TC_u64, 64},      {"complex64", TC_c64, 64},
    {"complex128", TC_none, 0},    {"bfloat16", TC_bf16, 16},   {"float8e4m3fn", TC_e4m3, 8},
    {"float8e4m3fnuz", TC_none, 0}, {"float8e5m2", TC_e5m2, 8}, {"float8e5m2fnuz", TC_none, 0},
    {"uint4", TC_u8, 4},           {"int4", TC_i4, 4},          {"float4e2m1", TC_none, 0},
    {"float8e8m0", TC_none, 0},    {"uint2", TC_none, 0},       {"int2", TC_none, 0},
};

tc_dtype ti_onnx_dtype(int64_t code)
{
    return code >= 0 && code < (int64_t)TC_COUNT(types) ? types[code].is : TC_none;
}

const char *ti_onnx_dtype_name(int64_t code)
{
    return code >= 0 && code < (int64_t)TC_COUNT(types) ? types[code].name : "an unknown type";
}

/* ---- external files ---- */

static const char *entry(const TcOnnxPb__Tensor *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (t->external_data[i]->key && ti_text_eq(t->external_data[i]->key, key))
            return t->external_data[i]->value;
    return NULL;
}

static tc_status entry_number(tc_onnx *reader, const TcOnnxPb__Tensor *t, const tc_loc *loc,
                              const char *key, uint64_t missing, uint64_t *out)
{
    const char *text = entry(t, key);
    int64_t v = 0;
    *out = missing;
    if (!text)
        return TC_OK;
    if (!ti_text_to_i64(ti_str_of(text), &v) || v < 0)
        return ti_error(reader->ctx, loc, TC_E_FORMAT,
                        "the %s of its data in another file is '%.40s', expected a number of bytes",
                        key, text);
    *out = (uint64_t)v;
    return TC_OK;
}

/* No absolute path, and nowhere up. */
static bool stays_inside(const char *path)
{
    if (!*path || *path == '/' || strchr(path, '\\'))
        return false;
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (!at[2] || at[2] == '/'))
            return false;
    }
    return true;
}

static const char *folder_of(tc_arena *arena, const char *file)
{
    size_t n = (size_t)(ti_path_last(file) - file);
    return n ? ti_text_copy(arena, (tc_str){file, n}) : "./";
}

/* A link that leads out of the folder leaves it as well. */
static bool leads_outside(const char *folder, const char *path)
{
    char *top = realpath(folder, NULL), *whole = realpath(path, NULL);
    size_t n = top ? strlen(top) : 0;
    bool out = top && whole &&
               (strncmp(whole, top, n) != 0 || (n > 1 && whole[n] != '/'));
    free(top);
    free(whole);
    return out;
}

static tc_status open_beside(tc_onnx *reader, const char *location, const tc_loc *loc,
                             tc_input **out)
{
    const char *folder = folder_of(&reader->work, reader->file);
    const char *path = ti_text_format(&reader->ctx->arena, "%s%s", folder, location);
    if (!stays_inside(location) || leads_outside(folder, path))
        return ti_error(reader->ctx, loc, TC_E_FORMAT,
                        "its data is in '%s', which is not inside the model's folder",
                        location);
    void **at = ti_map_at(&reader->beside, ti_str_of(location));
    if (!*at) {
        tc_input *in;
        TC_TRY(ti_input_open(reader->ctx, path, &in));
        *at = in;
    }
    *out = *at;
    return TC_OK;
}

static tc_status external(tc_onnx *reader, const TcOnnxPb__Tensor *t, const tc_loc *loc,
                          uint64_t expected, tc_bytes *out)
{
    tc_input *in = NULL;
    const char *location = entry(t, "location");
    if (!location)
        return ti_error(reader->ctx, loc, TC_E_FORMAT,
                        "its data is in another file, of which the name is missing");
    TC_TRY(open_beside(reader, location, loc, &in));
    uint64_t at, size;
    TC_TRY(entry_number(reader, t, loc, "offset", 0, &at));
    TC_TRY(entry_number(reader, t, loc, "length", expected, &size));
    if (size != expected)
        return ti_error(reader->ctx, loc, TC_E_FORMAT,
                        "%" PRIu64 " bytes in '%s', expected %" PRIu64, size, location, expected);
    if (at > ti_input_size(in) || size > ti_input_size(in) - at)
        return ti_error(reader->ctx, loc, TC_E_TRUNCATED,
                        "bytes %" PRIu64 " to %" PRIu64 " of '%s', which has %zu", at, at + size,
                        location, ti_input_size(in));
    return ti_input_part(in, at, (size_t)size, out); /* not above the size of `in` */
}

/* ---- elements ---- */

static void widen_nibbles(tc_tensor t, const uint8_t *packed)
{
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n; i++) {
        int nibble = packed[i / 2] >> (i % 2 ? 4 : 0) & 15;
        bool negative = t.type->dtype == TC_i4 && nibble > 7;
        ((uint8_t *)t.data)[i] = (uint8_t)(negative ? nibble - 16 : nibble);
    }
}

/* Bytes as stored in the file; used in place if the machine can read them so. */
static void from_raw(tc_onnx *reader, const tc_type *type, int code, tc_bytes raw, tc_tensor *out)
{
    if (types[code].bits == 4) {
        *out = ti_tensor_new(&reader->ctx->arena, type);
        widen_nibbles(*out, raw.data);
        return;
    }
    bool lies_well = (uintptr_t)raw.data % tc_dtypes[type->dtype].bytes == 0;
    if (lies_well && type->dtype != TC_bool) {
        *out = (tc_tensor){type, (void *)(uintptr_t)raw.data};
        return;
    }
    *out = ti_tensor_new(&reader->ctx->arena, type);
    if (raw.size)
        memcpy(out->data, raw.data, raw.size);
    for (size_t i = 0; type->dtype == TC_bool && i < raw.size; i++)
        ((uint8_t *)out->data)[i] = raw.data[i] != 0;
}

/* Elements in typed fields; narrow floats are stored as bits in int32_data. */
static tc_status from_fields(tc_onnx *reader, const TcOnnxPb__Tensor *t, const tc_type *type,
                             const tc_loc *loc, tc_tensor *out)
{
    size_t n = (size_t)tc_type_count(type), have = 0;
    tc_dtype dtype = type->dtype;
    *out = ti_tensor_new(&reader->ctx->arena, type);
    if (types[t->data_type].bits == 4) {
        have = t->n_int32_data * 2 >= n ? n : 0;
        for (size_t i = 0; i < have; i++) {
            int nibble = t->int32_data[i / 2] >> (i % 2 ? 4 : 0) & 15;
            ((uint8_t *)out->data)[i] =
                (uint8_t)(dtype == TC_i4 && nibble > 7 ? nibble - 16 : nibble);
        }
    } else if (dtype == TC_f32 || dtype == TC_c64) {
        size_t count = dtype == TC_c64 ? 2 * n : n;
        have = t->n_float_data == count ? n : t->n_float_data;
        if (have == n && n)
            memcpy(out->data, t->float_data, count * sizeof(float));
    } else if (dtype == TC_f64) {
        have = t->n_double_data;
        for (size_t i = 0; i < have && i < n; i++)
            ((double *)out->data)[i] = t->double_data[i];
    } else if (dtype == TC_i64) {
        have = t->n_int64_data;
        for (size_t i = 0; i < have && i < n; i++)
            ((int64_t *)out->data)[i] = t->int64_data[i];
    } else if (dtype == TC_u32 || dtype == TC_u64) {
        have = t->n_uint64_data;
        for (size_t i = 0; i < have && i < n; i++)
            ti_store_i64(*out, (int64_t)i, (int64_t)t->uint64_data[i]);
    } else if (ti_is_float(dtype)) {
        have = t->n_int32_data;
        for (size_t i = 0; i < have && i < n; i++)
            if (tc_dtypes[dtype].bytes == 2)
                ((uint16_t *)out->data)[i] = (uint16_t)t->int32_data[i];
            else
                ((uint8_t *)out->data)[i] = (uint8_t)t->int32_data[i];
    } else {
        have = t->n_int32_data;
        for (size_t i = 0; i < have && i < n; i++) {
            if (dtype != TC_bool && (t->int32_data[i] < ti_dtype_min(dtype) ||
                                     t->int32_data[i] > ti_dtype_max(dtype)))
                return ti_error(reader->ctx, loc, TC_E_FORMAT, "number %zu is %d, not an %s", i,
                                t->int32_data[i], tc_dtypes[dtype].name);
            ti_store_i64(*out, (int64_t)i, t->int32_data[i]);
        }
    }
    if (have == n)
        return TC_OK;
    return ti_error(reader->ctx, loc, TC_E_TRUNCATED, "%zu numbers for a tensor of %zu", have, n);
}

static const tc_loc *loc_of(tc_onnx *reader, const TcOnnxPb__Tensor *t, const tc_loc *loc)
{
    if (!t->name || !*t->name)
        return loc;
    tc_loc *own = tc_new(&reader->ctx->arena, tc_loc);
    own->file = reader->file;
    own->place = ti_text_format(&reader->ctx->arena, "tensor '%.200s'", t->name);
    return own;
}

tc_status ti_onnx_load(tc_onnx *reader, const TcOnnxPb__Tensor *t, const tc_loc *at, tc_tensor *out)
{
    tc_ctx *ctx = reader->ctx;
    const tc_loc *loc = loc_of(reader, t, at);
    tc_dtype dtype = ti_onnx_dtype(t->data_type);
    if (t->data_type == STRING)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "strings: tosac computes on numbers only");
    if (dtype == TC_none)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED, "element type %d (%s) is not supported",
                              t->data_type, ti_onnx_dtype_name(t->data_type));
    if (t->n_dims > TC_MAX_RANK)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED, "%zu axes; at most %d are supported",
                              t->n_dims, TC_MAX_RANK);
    int64_t count = ti_dims_count((int32_t)t->n_dims, t->dims);
    if (count < 0)
        return ti_error(ctx, loc, TC_E_TOO_LARGE, "shape %s",
                        ti_dims_text(&reader->work, (int32_t)t->n_dims, t->dims));
    uint64_t bytes = ((uint64_t)count * types[t->data_type].bits + 7) / 8;
    const tc_type *type;
    tc_bytes raw = {NULL, 0};
    bool has_raw = t->has_raw_data || t->has_raw_at;
    if (t->has_raw_at)
        raw = (tc_bytes){reader->bytes.data + t->raw_at, (size_t)t->raw_size};
    else if (t->has_raw_data)
        raw = (tc_bytes){t->raw_data.data, t->raw_data.len};
    if (t->data_location == 1) {
        TC_TRY(external(reader, t, loc, bytes, &raw));
        has_raw = true;
    }
    if (has_raw && raw.size != bytes)
        return ti_error(ctx, loc, TC_E_TRUNCATED, "%zu bytes of data, expected %" PRIu64, raw.size,
                        bytes);
    type = ti_type_make(ctx, dtype, (int32_t)t->n_dims, t->dims);
    if (!has_raw)
        return from_fields(reader, t, type, loc, out);
    if (!t->has_raw_at && t->data_location != 1) /* in memory that goes when the reading is done */
        raw.data = ti_arena_copy(&ctx->arena, raw.data, raw.size);
    from_raw(reader, type, t->data_type, raw, out);
    return TC_OK;
}
