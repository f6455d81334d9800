/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c -- see labels.h. */
#include "labels.h"

#include <stdlib.h>

#include "../num/load.h"
#include "../read/data.h"
#include "../wire/file.h"
#include "dataset.h"

/* One for each sample; where only the first ones count, more are no fault. */
static tc_status check_count(tc_ctx *ctx, const char *file, const tc_dataset *data, size_t found,
                             size_t n)
{
    if (found == n || (data->most && found > n))
        return TC_OK;
    return ti_error(ctx, &(tc_loc){.file = file}, TC_E_DATA, "%zu label%s for %zu samples", found,
                    found == 1 ? "" : "s", n);
}

static tc_status from_npy(tc_ctx *ctx, const char *path, const tc_dataset *data, size_t n,
                          int64_t *out)
{
    tc_npy *array;
    size_t count;
    TC_TRY(ti_npy_open(ctx, path, &array, &count));
    tc_dtype dtype = count == 1 ? ti_data_dtype(array) : TC_none;
    if (!ti_is_int(dtype))
        return ti_error(ctx, &(tc_loc){.file = path}, TC_E_DATA,
                        "labels must be one array of integers");
    TC_TRY(check_count(ctx, path, data, (size_t)array->count, n));
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_tensor t = ti_tensor_new(&ctx->scratch, ti_type_make(ctx, dtype, 1, &array->count));
    tc_status status = ti_npy_read(ctx, array, 0, array->count, t.data);
    for (size_t i = 0; i < n && status == TC_OK; i++)
        out[i] = ti_load_i64(t, (int64_t)i);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* The last word of each line that has one. */
static tc_status from_text(tc_ctx *ctx, const char *path, const tc_dataset *data, size_t n,
                           int64_t *out)
{
    tc_bytes bytes;
    size_t found = 0, line = 0;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    const char *at = (const char *)bytes.data, *end = at + bytes.size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        line++;
        while (stop > at && strchr(" \t\r,;\"", stop[-1]))
            stop--;
        const char *word = stop;
        while (word > at && !strchr(" \t,;\"", word[-1]))
            word--;
        tc_str text = {word, (size_t)(stop - word)};
        int64_t v = 0;
        bool number = ti_text_to_i64(text, &v);
        if (text.n && !number && line > 1)
            return ti_error(
                ctx, &(tc_loc){.file = path, .place = ti_text_format(&ctx->arena, "%zu", line)},
                TC_E_DATA, "'%.*s' is not a label: expected an integer", (int)text.n, text.p);
        if (number && found < n)
            out[found] = v;
        found += number;
        at = next;
    }
    return check_count(ctx, path, data, found, n);
}

static const char *folder_of(tc_ctx *ctx, const char *path)
{
    const char *end = ti_path_last(path);
    if (end == path)
        return "";
    const char *begin = --end;
    while (begin > path && !ti_path_ends_part(begin[-1]))
        begin--;
    return ti_intern(ctx, (tc_str){begin, (size_t)(end - begin)});
}

static tc_status from_folders(tc_ctx *ctx, const tc_dataset *data, size_t n, size_t classes,
                              tc_labels *out)
{
    tc_map seen;
    const char **of = tc_new_n(&ctx->arena, const char *, n + 1);
    ti_map_init(&seen, &ctx->arena);
    for (size_t k = 0; k < n; k++) {
        const char *file = ti_dataset_file(data, k);
        if (!file) {
            tc_status status = ti_usage(
                ctx, "--labels by-folder needs images in folders; these samples are arrays");
            ti_note(ctx, NULL, "--labels FILE is a .npy or a text file of labels");
            return status;
        }
        of[k] = folder_of(ctx, file);
        *ti_map_at(&seen, ti_str_of(of[k])) = data ? (void *)(uintptr_t)1 : NULL;
    }
    out->n_name = seen.n;
    out->name = tc_new_n(&ctx->arena, const char *, seen.n + 1);
    for (size_t i = 0; i < seen.n; i++)
        out->name[i] = ti_intern(ctx, seen.entry[i].key);
    qsort(out->name, out->n_name, sizeof *out->name, ti_by_text);
    if (out->n_name > classes)
        return ti_error(ctx, NULL, TC_E_DATA, "%zu folders, but the program has %zu classes",
                        out->n_name, classes);
    for (size_t k = 0; k < n; k++) {
        const char **found = bsearch(&of[k], out->name, out->n_name, sizeof *out->name, ti_by_text);
        out->of[k] = found - out->name;
    }
    return TC_OK;
}

tc_status ti_read_labels(tc_ctx *ctx, const char *how, const tc_dataset *data, size_t n,
                         size_t classes, tc_labels *out)
{
    *out = (tc_labels){0};
    if (!how)
        return TC_OK;
    out->of = tc_new_n(&ctx->arena, int64_t, n + 1);
    bool folders = ti_text_eq(how, "by-folder");
    TC_TRY(folders ? from_folders(ctx, data, n, classes, out)
           : ti_text_ends(how, ".npy") || ti_text_ends(how, ".npz")
               ? from_npy(ctx, how, data, n, out->of)
               : from_text(ctx, how, data, n, out->of));
    for (size_t k = 0; k < n; k++)
        if (out->of[k] < 0 || out->of[k] >= (int64_t)classes)
            return ti_error(ctx, &(tc_loc){.file = how}, TC_E_DATA,
                            "label %" PRId64 " of sample %zu: the program has %zu classes",
                            out->of[k], k, classes);
    return TC_OK;
}
