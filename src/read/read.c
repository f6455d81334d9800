/* SPDX-License-Identifier: Apache-2.0 */
/* read.c -- looks at the first bytes and picks the reader. */
#include "../ir/verify.h"
#include "read_fixed.h"
#include "read_pte.h"
#include "read.h"

#include "../npu/program.h"
#include "../wire/file.h"

typedef tc_status reader(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);

static bool has(tc_bytes bytes, size_t at, const char *magic)
{
    size_t n = strlen(magic);
    return bytes.size >= at + n && memcmp(bytes.data + at, magic, n) == 0;
}

/* Text has no zero bytes, and nothing but white space below ' ' near its beginning. */
static bool is_text(tc_bytes bytes)
{
    for (size_t i = 0; i < bytes.size && i < 256; i++)
        if (bytes.data[i] < ' ' && !strchr("\t\n\r", bytes.data[i] ? bytes.data[i] : 1))
            return false;
    return bytes.size > 0;
}

/* A web page, which a download that failed leaves under the model's name. */
static bool is_page(tc_bytes bytes)
{
    static const char *const word[] = {"<!DOCTYPE", "<!doctype", "<html", "<HTML", "<?xml"};
    size_t at = 0;
    while (at < bytes.size && strchr(" \t\r\n", bytes.data[at] ? bytes.data[at] : 1))
        at++;
    for (size_t i = 0; i < TC_COUNT(word); i++)
        if (has(bytes, at, word[i]))
            return true;
    return false;
}

/* By the first bytes; NULL when they are no model. */
static reader *pick(const char *path, tc_bytes bytes)
{
    if (is_page(bytes))
        return NULL;
    if (has(bytes, 0, "PK"))
        return ti_npu_looks_like_npz(bytes) ? ti_read_vela : ti_read_pt2;
    if (ti_npu_looks_like_backend(bytes))
        return ti_read_vela;
    if (has(bytes, 4, "TOSA"))
        return ti_read_tosa;
    if (ti_tfl_looks_like(bytes))
        return ti_read_tflite;
    if (has(bytes, 4, "ET12") || ti_bundle_looks_like(bytes))
        return ti_read_pte;
    if (has(bytes, 0, "VGF1"))
        return ti_read_vgf;
    if (ti_onnx_looks_like(bytes) || ti_text_ends(path, ".onnx"))
        return ti_read_onnx;
    return is_text(bytes) ? ti_read_text : NULL;
}

static tc_status no_model(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    const tc_loc loc = {.file = path};
    tc_status status = ti_error(ctx, &loc, TC_E_FORMAT,
                                is_page(bytes) ? "this is a web page (HTML), not a model: the download "
                                                 "gave a page in the file's place"
                                               : "this is not a model that tosac reads");
    ti_note(ctx, &loc,
            "it reads PyTorch exports (.pt2), ONNX models (.onnx), TensorFlow Lite models "
            "(.tflite), TOSA flatbuffers (.tosa), VGF "
            "files (.vgf), "
            "ExecuTorch programs (.pte, .bpte), Vela's streams (_vela.npz, .bin) and text graphs (.ir)");
    return status;
}

static void look_at_dims(tc_ctx *ctx, const char *path, reader *read)
{
    const tc_read_options *o = ti_reading(ctx);
    if (read && read != ti_read_pt2 && read != ti_read_onnx && read != ti_read_tflite && o->n_dim &&
        !o->dim[0].used)
        ti_warning(ctx, &(tc_loc){.file = path}, TC_E_NO_EFFECT,
                   "--dim %s has no effect: only PyTorch exports and ONNX files have dynamic sizes",
                   o->dim[0].name);
}

/* What holds of every model that was read. */
static tc_status look_over(tc_module *module)
{
    TC_TRY(ti_fixed_rest(module));
    TC_TRY(ti_check_places(module));
    return module->real ? look_over(module->real) : TC_OK;
}

tc_status ti_read(tc_ctx *ctx, const char *path, tc_module **out)
{
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    reader *read = pick(path, bytes);
    look_at_dims(ctx, path, read);
    TC_TRY(read ? read(ctx, path, bytes, out) : no_model(ctx, path, bytes));
    (*out)->image = (*out)->n_size ? bytes : (tc_bytes){NULL, 0};
    return look_over(*out);
}

tc_status ti_read_bytes(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_bytes side,
                        tc_module **out)
{
    reader *read = pick(file, bytes);
    look_at_dims(ctx, file, read);
    if (!read)
        return no_model(ctx, file, bytes);
    TC_TRY(read == ti_read_text ? ti_read_text_with(ctx, file, bytes, side, out)
                                : read(ctx, file, bytes, out));
    (*out)->image = (*out)->n_size ? bytes : (tc_bytes){NULL, 0};
    return look_over(*out);
}
