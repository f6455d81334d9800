/* SPDX-License-Identifier: Apache-2.0 */
/* read_bundle.c -- ExecuTorch programs with test vectors, every number checked before it is used. */
#include "read_pte.h"

typedef struct reader {
    tc_ctx *ctx;
    const char *file;
    tc_fb fb;
} reader;

bool ti_bundle_looks_like(tc_bytes bytes)
{
    return bytes.size > 8 && memcmp(bytes.data + 4, TC_BUNDLE_IDENTIFIER, 4) == 0;
}

static tc_status broken(reader *r, size_t at, const char *what)
{
    tc_loc loc = {.file = r->file, .place = ti_text_format(&r->ctx->arena, "byte %zu", at)};
    return ti_error(r->ctx, &loc, TC_E_FORMAT, "%s", what);
}

static tc_status sound(reader *r)
{
    return r->fb.error ? broken(r, r->fb.error_at, r->fb.error) : TC_OK;
}

static bool in_order(tc_bytes order)
{
    for (size_t i = 0; i < order.size; i++)
        if (order.data[i] != i)
            return false;
    return true;
}

static tc_status read_tensor(reader *r, tc_fb_table t, tc_tensor *out)
{
    tc_dtype dtype = ti_dtype_from_et((int8_t)ti_fb_u8(t, BP_TENSOR_DTYPE, 0));
    tc_fb_vector sizes = ti_fb_list(t, BP_TENSOR_SIZES, 4);
    tc_bytes data = ti_fb_bytes(t, BP_TENSOR_DATA), order = ti_fb_bytes(t, BP_TENSOR_ORDER);
    int64_t dim[TC_MAX_RANK];
    TC_TRY(sound(r));
    if (!dtype || sizes.n > TC_MAX_RANK || order.size != sizes.n)
        return broken(r, t.at, "a tensor of a test vector has a type or a rank that tosac has not");
    if (!in_order(order))
        return ti_unsupported(r->ctx, &(tc_loc){.file = r->file}, TC_E_UNSUPPORTED,
                              "a tensor of a test vector with its axes in another order");
    for (size_t i = 0; i < sizes.n; i++)
        dim[i] = ti_fb_list_i32(sizes, i);
    if (ti_dims_count((int32_t)sizes.n, dim) < 0)
        return broken(r, t.at, "a tensor of a test vector has a size below zero, or is too large");
    out->type = ti_type_make(r->ctx, dtype, (int32_t)sizes.n, dim);
    if (tc_type_bytes(out->type) != data.size)
        return broken(r, t.at, "a tensor of a test vector has fewer or more bytes than its type");
    bool aligned = (uintptr_t)data.data % tc_dtypes[dtype].bytes == 0;
    out->data = data.size && aligned ? (void *)(uintptr_t)data.data
                                     : ti_arena_copy(&r->ctx->arena, data.size ? data.data : (const uint8_t *)"",
                                                     data.size);
    return TC_OK;
}

static tc_status read_value(reader *r, tc_fb_table t, tc_bundle_value *out)
{
    tc_fb_table in = ti_fb_child(t, BP_VALUE);
    uint64_t bits;
    switch (ti_fb_u8(t, BP_VALUE_TYPE, 0)) {
    case BP_TENSOR:
        return read_tensor(r, in, &out->tensor);
    case BP_INT:
        out->number = (tc_cpu_value){.kind = TC_CPU_INT, .i = ti_fb_i64(in, BP_SCALAR, 0)};
        return TC_OK;
    case BP_BOOL:
        out->number = (tc_cpu_value){.kind = TC_CPU_BOOL, .i = ti_fb_u8(in, BP_SCALAR, 0) != 0};
        return TC_OK;
    case BP_DOUBLE:
        bits = ti_fb_u64(in, BP_SCALAR, 0);
        out->number = (tc_cpu_value){.kind = TC_CPU_REAL};
        memcpy(&out->number.r, &bits, sizeof bits);
        return TC_OK;
    default:
        TC_TRY(sound(r));
        return broken(r, t.at, "a value of a test vector is of a kind that does not exist");
    }
}

static tc_status read_values(reader *r, tc_fb_table t, uint32_t field, tc_bundle_value **out,
                             size_t *n)
{
    tc_fb_vector list = ti_fb_list(t, field, 4);
    *out = tc_new_n(&r->ctx->arena, tc_bundle_value, list.n + 1);
    *n = list.n;
    for (size_t i = 0; i < list.n; i++)
        TC_TRY(read_value(r, ti_fb_list_table(list, i), &(*out)[i]));
    return sound(r);
}

static tc_status read_suite(reader *r, tc_fb_table t, tc_bundle_suite *out)
{
    tc_fb_vector list = ti_fb_list(t, BP_SUITE_CASES, 4);
    out->method = ti_intern(r->ctx, ti_fb_string(t, BP_SUITE_METHOD));
    out->test = tc_new_n(&r->ctx->arena, tc_bundle_case, list.n + 1);
    out->n_test = list.n;
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table one = ti_fb_list_table(list, i);
        tc_bundle_case *test = &out->test[i];
        TC_TRY(read_values(r, one, BP_CASE_INPUTS, &test->in, &test->n_in));
        TC_TRY(read_values(r, one, BP_CASE_OUTPUTS, &test->out, &test->n_out));
    }
    return sound(r);
}

tc_status ti_bundle_open(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_bundle *out)
{
    reader r = {.ctx = ctx, .file = name};
    ti_fb_init(&r.fb, bytes, TC_BUNDLE_IDENTIFIER);
    tc_fb_table root = ti_fb_root(&r.fb);
    tc_fb_vector list = ti_fb_list(root, BP_SUITES, 4);
    *out = (tc_bundle){.program = ti_fb_bytes(root, BP_PROGRAM), .n_suite = list.n};
    TC_TRY(sound(&r));
    out->suite = tc_new_n(&ctx->arena, tc_bundle_suite, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        TC_TRY(read_suite(&r, ti_fb_list_table(list, i), &out->suite[i]));
    TC_TRY(sound(&r));
    if (!out->program.size || ti_bundle_looks_like(out->program))
        return broken(&r, root.at, "there is no program in the bundle");
    return TC_OK;
}
