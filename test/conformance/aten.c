/* SPDX-License-Identifier: Apache-2.0 */
/* aten.c -- one operator, one case: the exported program is read, printed, parsed back equal, verified,
 * and evaluated to what PyTorch gave, with the reference kernels and again tidied and planned; its quantized
 * export too, within a step. */
#include "compare.h"

#include "ir/exec.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "read/read.h"
#include "wire/file.h"

#include <jansson.h>
#include <stdio.h>

/* PyTorch's name of an element type, ours, and how near a float result has to be. */
static const struct {
    const char *torch;
    tc_dtype dtype;
    double relative;
} types[] = {
    {"float32", TC_f32, 1e-5},       {"float64", TC_f64, 1e-5},    {"float16", TC_f16, 0x1p-9},
    {"bfloat16", TC_bf16, 0x1p-6},   {"bool", TC_bool, 0},         {"int8", TC_i8, 0},
    {"uint8", TC_u8, 0},             {"int16", TC_i16, 0},         {"int32", TC_i32, 0},
    {"int64", TC_i64, 0},            {"float8_e4m3fn", TC_e4m3, 0x1p-2}, {"float8_e5m2", TC_e5m2, 0x1p-2},
};

typedef struct trial {
    tc_ctx *ctx;
    const check *check;
    verdict *v;
    json_t *expected, *qparams; /* of the outputs */
    tc_module *module;
    tc_graph *g;
} trial;

static const char *path_of(const trial *t, const char *file)
{
    return tc_text_format(&t->ctx->arena, "%s/%s", t->check->folder, file);
}

static bool says(trial *t, tc_status status, const char *what)
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
    tc_buf_init(&once, &ctx->arena);
    tc_buf_init(&twice, &ctx->arena);
    tc_print(t->module, &options, &once);
    if (!says(t, tc_parse(ctx, t->module->file, (tc_bytes){once.data, once.size}, (tc_bytes){NULL, 0}, &back),
              "parse back"))
        return false;
    if (!tc_module_equal(t->module, back)) {
        failed(t->v, "the text form reads back as another graph");
        return false;
    }
    tc_print(back, &options, &twice);
    if (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0) {
        failed(t->v, "printing what was parsed gives another text");
        return false;
    }
    return true;
}

static bool evaluate(trial *t, json_t *inputs, tc_tensor *out)
{
    tc_ctx *ctx = t->ctx;
    const char **path = tc_new_n(&ctx->arena, const char *, json_array_size(inputs));
    size_t n = 0, i;
    json_t *input;
    json_array_foreach(inputs, i, input)
    {
        const char *file = json_string_value(json_object_get(input, "file"));
        if (file)
            path[n++] = path_of(t, file);
    }
    tc_data *data;
    if (!says(t, tc_read_data(ctx, t->g, path, n, &data), "data"))
        return false;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, t->g->n_in);
    for (i = 0; i < t->g->n_in; i++)
        in[i] = tc_tensor_new(&ctx->arena, tc_type_of(t->g, t->g->in[i]));
    tc_exec *exec = tc_exec_new(ctx, t->module);
    return says(t, tc_data_sample(data, 0, in), "data") && says(t, tc_exec_run(exec, in, out), "run");
}

static bool same_type(trial *t, size_t i, tc_tensor got, json_t *expected, const tc_npy *want, double *relative)
{
    const char *name = json_string_value(json_object_get(expected, "dtype"));
    tc_dtype dtype = TC_none;
    for (size_t k = 0; name && k < TC_COUNT(types); k++)
        if (tc_text_eq(types[k].torch, name)) {
            dtype = types[k].dtype;
            *relative = types[k].relative;
        }
    bool same = got.type->dtype == dtype && got.type->rank == want->rank;
    for (int k = 0; same && k < want->rank; k++)
        same = got.type->dim[k] == want->dim[k];
    if (!same)
        failed(t->v, "output %zu is %s, expected %s%s", i, tc_type_text(&t->ctx->arena, got.type),
               tc_dtypes[dtype].name, tc_dims_text(&t->ctx->arena, want->rank, want->dim));
    return same;
}

static bool output_agrees(trial *t, size_t i, tc_tensor got, json_t *expected)
{
    tc_npy *want;
    size_t n;
    allowance allowed = {0};
    const char *file = json_string_value(json_object_get(expected, "file"));
    if (!says(t, tc_npy_open(t->ctx, path_of(t, file), &want, &n), "recorded result"))
        return false;
    if (!same_type(t, i, got, expected, want, &allowed.relative))
        return false;
    allowed.step = json_number_value(json_object_get(json_array_get(t->qparams, i), "scale"));
    if (close_enough(t->ctx, got, want, 0, &allowed, t->v))
        return true;
    char words[300];
    snprintf(words, sizeof words, "%.299s", t->v->words);
    failed(t->v, "output %zu: %s", i, words);
    return false;
}

static bool outputs_agree(trial *t, const tc_tensor *out)
{
    size_t i, n = 0;
    json_t *expected;
    json_array_foreach(t->expected, i, expected)
    {
        if (!json_object_get(expected, "file"))
            continue;
        if (n < t->g->n_out && !output_agrees(t, n, out[n], expected))
            return false;
        n++;
    }
    if (n != t->g->n_out)
        failed(t->v, "%zu outputs, expected %zu", t->g->n_out, n);
    return n == t->g->n_out;
}

/* The part of meta.json that is about this file. */
static bool choose_expected(trial *t, json_t *meta)
{
    size_t i;
    json_t *q;
    t->expected = json_object_get(meta, "expected");
    if (tc_text_eq(t->check->file, "model.pt2"))
        return true;
    json_array_foreach(json_object_get(meta, "quantized"), i, q)
    {
        if (!tc_text_eq(json_string_value(json_object_get(q, "file")), t->check->file))
            continue;
        t->expected = json_object_get(q, "expected");
        t->qparams = json_object_get(q, "output_qparams");
        return true;
    }
    return false;
}

/* As the module is after some more passes, by the reference kernels or as a user runs it. */
static bool agrees(trial *t, json_t *meta, const char *passes, bool reference)
{
    t->ctx->reference_kernels = reference;
    if (!says(t, tc_run_passes(t->ctx, t->module, passes, NULL), passes))
        return false;
    t->g = tc_main(t->module);
    t->v->n_equal = t->v->n_compared = 0;
    tc_tensor *out = tc_new_n(&t->ctx->arena, tc_tensor, t->g->n_out);
    if (evaluate(t, json_object_get(meta, "inputs"), out) && outputs_agree(t, out))
        return true;
    char words[300];
    snprintf(words, sizeof words, "%.299s", t->v->words);
    failed(t->v, "after %s: %s", passes, words);
    return false;
}

static void try_file(trial *t, json_t *meta)
{
    if (!choose_expected(t, meta)) {
        failed(t->v, "meta.json does not speak of it");
        return;
    }
    if (!says(t, tc_read(t->ctx, path_of(t, t->check->file), &t->module), "read") ||
        !says(t, tc_verify(t->ctx, t->module), "verify") || !survives_text(t))
        return;
    bool comparable = json_is_true(json_object_get(meta, "deterministic")) &&
                      !json_is_string(json_object_get(meta, "eager_error"));
    if (!comparable || (agrees(t, meta, "infer", true) && agrees(t, meta, "tidy", false) &&
                        agrees(t, meta, "types", true) && survives_text(t) && agrees(t, meta, "simulate,tidy", false)))
        passed(t->v);
}

static void run_aten(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    json_t *meta = json_load_file(path_of(&t, "meta.json"), 0, NULL);
    if (meta)
        try_file(&t, meta);
    else
        failed(v, "meta.json cannot be read");
    json_decref(meta);
}

static tc_status find_case(checks *all, const char *folder, const char *op, const char *name)
{
    tc_arena *arena = &all->ctx->arena;
    const char *path = tc_text_format(arena, "%s/%s/%s", folder, op, name), **file;
    size_t n;
    if (!tc_is_folder(path))
        return TC_OK;
    TC_TRY(tc_folder_list(all->ctx, path, &file, &n));
    for (size_t i = 0; i < n; i++)
        if (tc_text_ends(file[i], ".pt2"))
            add_check(all, &(check){.suite = "aten",
                                    .group = op,
                                    .name = tc_text_format(arena, "%s/%s %s", op, name, file[i]),
                                    .folder = path,
                                    .file = file[i],
                                    .run = run_aten});
    return TC_OK;
}

tc_status find_aten(checks *all, const char *folder)
{
    const char **op, **name;
    size_t n_op, n;
    TC_TRY(tc_folder_list(all->ctx, folder, &op, &n_op));
    for (size_t i = 0; i < n_op; i++) {
        const char *path = tc_text_format(&all->ctx->arena, "%s/%s", folder, op[i]);
        if (!tc_is_folder(path))
            continue;
        TC_TRY(tc_folder_list(all->ctx, path, &name, &n));
        for (size_t k = 0; k < n; k++)
            TC_TRY(find_case(all, folder, op[i], name[k]));
    }
    return TC_OK;
}
