/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c -- see trial.h. */
#include "trial.h"

#include "drive/passes.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "read/read.h"
#include "run/exec.h"

#include <stdio.h>

/* PyTorch's name of an element type, ours, and how near a float result has to be. */
static const struct {
    const char *torch;
    tc_dtype dtype;
    double relative;
} types[] = {
    {"float32", TC_f32, 1e-5},
    {"float64", TC_f64, 1e-5},
    {"float16", TC_f16, 0x1p-9},
    {"bfloat16", TC_bf16, 0x1p-6},
    {"float8_e4m3fn", TC_e4m3, 0x1p-2},
    {"float8_e5m2", TC_e5m2, 0x1p-2},
    {"bool", TC_bool, 0},
    {"int8", TC_i8, 0},
    {"uint8", TC_u8, 0},
    {"int16", TC_i16, 0},
    {"int32", TC_i32, 0},
    {"int64", TC_i64, 0},
};

const char *trial_path(const trial *t, const char *file)
{
    return ti_text_format(&t->ctx->arena, "%s/%s", t->check->folder, file);
}

bool trial_says(trial *t, tc_status status, const char *what)
{
    if (status != TC_OK)
        failed_with(t->v, t->ctx, what);
    return status == TC_OK;
}

/* Printing and parsing give the same graph, and the same text again. */
static bool survives_text(trial *t)
{
    tc_ctx *ctx = t->ctx;
    tc_print_options options = {.locs = true};
    tc_buf once, twice;
    tc_module *back;
    ti_buf_init(&once, &ctx->arena);
    ti_buf_init(&twice, &ctx->arena);
    ti_print(t->module, &options, &once);
    tc_bytes text = {once.data, once.size};
    if (!trial_says(t, ti_parse(ctx, t->module->file, text, (tc_bytes){NULL, 0}, &back),
                    "parse back"))
        return false;
    if (!ti_module_equal(t->module, back)) {
        failed(t->v, "the text form reads back as another graph");
        return false;
    }
    ti_print(back, &options, &twice);
    if (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0) {
        failed(t->v, "printing what was parsed gives another text");
        return false;
    }
    return true;
}

bool trial_read(trial *t)
{
    return trial_says(t, ti_read(t->ctx, trial_path(t, t->check->file), &t->module), "read") &&
           trial_says(t, ti_verify(t->ctx, t->module), "verify") && survives_text(t);
}

bool trial_reference(trial *t)
{
    t->ctx->reference_kernels = true;
    t->g = ti_main(t->module);
    return true;
}

bool trial_tidied(trial *t)
{
    t->ctx->reference_kernels = false;
    bool good = trial_says(t, ti_run_passes(t->ctx, t->module, "tidy", NULL), "tidy");
    t->g = ti_main(t->module);
    return good;
}

bool trial_run(trial *t, const char *const *path, size_t n, tc_tensor *out)
{
    tc_ctx *ctx = t->ctx;
    tc_data *data;
    if (!trial_says(t, ti_read_data(ctx, t->g, path, n, &data), "data"))
        return false;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, t->g->n_in);
    for (size_t i = 0; i < t->g->n_in; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(t->g, t->g->in[i]));
    tc_exec *exec = ti_exec_new(ctx, t->module);
    return trial_says(t, ti_data_sample(data, 0, in), "data") &&
           trial_says(t, ti_exec_run(exec, in, out), "run");
}

static bool same_type(trial *t, size_t i, tc_tensor got, const char *torch_type, const tc_npy *want,
                      double *relative)
{
    tc_dtype dtype = TC_none;
    for (size_t k = 0; torch_type && k < TC_COUNT(types); k++)
        if (ti_text_eq(types[k].torch, torch_type)) {
            dtype = types[k].dtype;
            *relative = types[k].relative;
        }
    bool same = got.type->dtype == dtype && got.type->rank == want->rank;
    for (int k = 0; same && k < want->rank; k++)
        same = got.type->dim[k] == want->dim[k];
    if (!same)
        failed(t->v, "output %zu is %s, expected %s%s", i, ti_type_text(&t->ctx->arena, got.type),
               tc_dtypes[dtype].name, ti_dims_text(&t->ctx->arena, want->rank, want->dim));
    return same;
}

bool trial_output(trial *t, size_t i, tc_tensor got, const char *file, const char *torch_type,
                  double step, double steps)
{
    tc_npy *want;
    size_t n;
    allowance allowed = {.step = step, .steps = steps};
    if (!trial_says(t, ti_npy_open(t->ctx, trial_path(t, file), &want, &n), "recorded result") ||
        !same_type(t, i, got, torch_type, want, &allowed.relative))
        return false;
    if (close_enough(t->ctx, got, want, 0, &allowed, t->v))
        return true;
    char words[300];
    snprintf(words, sizeof words, "%.299s", t->v->words);
    failed(t->v, "%s, output %zu: %s", t->ctx->reference_kernels ? "reference" : "tidied", i,
           words);
    return false;
}
