/* SPDX-License-Identifier: Apache-2.0 */
/* read.c -- looks at the first bytes and picks the reader. */
#include "../ir/verify.h"
#include "foreign.h"
#include "read_fixed.h"
#include "read_pte.h"
#include "read.h"

#include "../npu/program.h"
#include "../wire/file.h"

typedef tc_status reader(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);

/* By the first bytes; NULL: not a model. */
static reader *pick(const char *path, tc_bytes bytes)
{
    if (ti_looks_like_page(bytes))
        return NULL;
    if (ti_bytes_have(bytes, 0, "PK"))
        return ti_npu_looks_like_npz(bytes) ? ti_read_vela : ti_read_pt2;
    if (ti_npu_looks_like_backend(bytes))
        return ti_read_vela;
    if (ti_bytes_have(bytes, 4, "TOSA"))
        return ti_read_tosa;
    if (ti_tfl_looks_like(bytes))
        return ti_read_tflite;
    if (ti_bytes_have(bytes, 4, "ET12") || ti_bundle_looks_like(bytes))
        return ti_read_pte;
    if (ti_bytes_have(bytes, 0, "VGF1"))
        return ti_read_vgf;
    if (ti_text_graph_looks_like(path, bytes))
        return ti_read_text;
    if (ti_onnx_looks_like(bytes) || (ti_text_ends(path, ".onnx") && !ti_looks_foreign(bytes)))
        return ti_read_onnx;
    return NULL;
}

/* Sizes that were given for a file that has no open ones; other readers say so themselves. */
static void look_at_sizes(tc_ctx *ctx, const char *path, reader *read)
{
    const tc_read_options *o = ti_reading(ctx);
    const tc_loc loc = {.file = path};
    if (read == ti_read_pt2 || read == ti_read_onnx || read == ti_read_tflite)
        return;
    if (o->n_dim && !o->dim[0].used)
        ti_warning(ctx, &loc, TC_E_NO_EFFECT,
                   "--dim %s has no effect: only PyTorch exports and ONNX files have dynamic sizes",
                   o->dim[0].name);
    if (o->n_shape && !o->shape[0].used)
        ti_warning(ctx, &loc, TC_E_NO_EFFECT,
                   "--shape %s has no effect: the file has no open sizes, or no input of that name",
                   o->shape[0].input);
}

/* What holds of every model that was read. */
static tc_status look_over(tc_module *module)
{
    TC_TRY(ti_fixed_rest(module));
    TC_TRY(ti_check_places(module));
    return module->origin.real ? look_over(module->origin.real) : TC_OK;
}

tc_status ti_read(tc_ctx *ctx, const char *path, tc_module **out)
{
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    reader *read = pick(path, bytes);
    TC_TRY(read ? read(ctx, path, bytes, out) : ti_foreign_file(ctx, path, bytes));
    look_at_sizes(ctx, path, read);
    (*out)->origin.image = bytes;
    (*out)->open.image = (*out)->open.n ? bytes : (tc_bytes){NULL, 0};
    return look_over(*out);
}

tc_status ti_read_bytes(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_bytes side,
                        tc_module **out)
{
    reader *read = pick(file, bytes);
    if (!read)
        return ti_foreign_file(ctx, file, bytes);
    TC_TRY(read == ti_read_text ? ti_read_text_with(ctx, file, bytes, side, out)
                                : read(ctx, file, bytes, out));
    (*out)->origin.image = bytes;
    (*out)->open.image = (*out)->open.n ? bytes : (tc_bytes){NULL, 0};
    look_at_sizes(ctx, file, read);
    return look_over(*out);
}
