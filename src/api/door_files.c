/* SPDX-License-Identifier: Apache-2.0 */
/* door_files.c -- results to .npy files, and file access. */
#include "../num/load.h"
#include "../wire/file.h"
#include "../wire/npy.h"
#include "../base/enter.h"

struct tc_npy_writer {
    tc_ctx *ctx;
    tc_file *file;
    tc_dtype dtype;
    bool widen; /* written as the float32 of the same values */
};

/* What the file holds of a type: its own bytes, or float32 of the same values. */
static const char *descr_of(tc_dtype t, bool raw, bool *widen)
{
    bool narrow = ti_is_float(t) && tc_dtypes[t].bytes < 4 && t != TC_f16;
    *widen = narrow && !raw;
    if (raw && t == TC_bf16)
        return "<V2";
    if (raw && (t == TC_e4m3 || t == TC_ue8m0))
        return "<V1";
    if (raw && narrow)
        return ti_is_block(t) ? "<u2" : "|u1";
    return tc_dtypes[t].npy;
}

static tc_status create(tc_ctx *ctx, const char *path, tc_dtype dtype, bool raw, int32_t rank,
                        const int64_t *dim, tc_npy_writer **out)
{
    if (dtype <= TC_none || dtype >= TC_DTYPE_COUNT || rank < 0 || rank > TC_MAX_RANK + 1)
        return ti_usage(ctx, "%s: there is no array of that type or rank", path);
    tc_npy_writer *w = tc_new(&ctx->arena, tc_npy_writer);
    *w = (tc_npy_writer){.ctx = ctx, .dtype = dtype};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_buf head;
    ti_buf_init(&head, &ctx->scratch);
    ti_npy_header(&head, descr_of(dtype, raw != 0, &w->widen), rank, dim);
    tc_status status = ti_file_create(ctx, path, &w->file);
    if (!status)
        status = ti_file_append(w->file, head.data, head.size);
    ti_arena_rewind(&ctx->scratch, mark);
    *out = w;
    return status;
}

tc_status tc_npy_create(tc_ctx *ctx, const char *path, tc_dtype dtype, bool raw, int32_t rank,
                        const int64_t *dim, tc_npy_writer **out)
{
    TC_ENTER(ctx, create(ctx, path, dtype, raw, rank, dim, out));
}

static tc_status append(tc_npy_writer *w, const tc_tensor *t)
{
    enum { STEP = 4096 };
    if (t->type->dtype != w->dtype)
        return ti_usage(w->ctx, "the array holds %s, not %s", tc_dtypes[w->dtype].name,
                        tc_dtypes[t->type->dtype].name);
    if (!w->widen)
        return ti_file_append(w->file, t->data, tc_type_bytes(t->type));
    float wide[STEP];
    int64_t count = tc_type_count(t->type);
    for (int64_t at = 0; at < count; at += STEP) {
        size_t n = (size_t)ti_min_i64(STEP, count - at);
        ti_read_f32(*t, at, n, wide);
        TC_TRY(ti_file_append(w->file, wide, n * sizeof *wide));
    }
    return TC_OK;
}

tc_status tc_npy_append(tc_npy_writer *writer, const tc_tensor *tensor)
{
    TC_ENTER(writer->ctx, append(writer, tensor));
}

tc_status tc_npy_commit(tc_npy_writer *writer)
{
    TC_ENTER(writer->ctx, ti_file_commit(writer->file));
}

tc_status tc_write_file(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    TC_ENTER(ctx, ti_file_write(ctx, path, bytes));
}

tc_status tc_make_folder(tc_ctx *ctx, const char *path)
{
    TC_ENTER(ctx, ti_folder_make(ctx, path));
}
