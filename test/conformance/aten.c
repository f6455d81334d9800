/* SPDX-License-Identifier: Apache-2.0 */
/* aten.c -- one operator, one case: the exported program is read, printed, parsed back equal,
 * verified, and evaluated to what PyTorch gave, with the reference kernels and again tidied and
 * planned; its quantized export too, within a step. */
#include "lowered.h"

#include "wire/file.h"

#include <jansson.h>

/* What meta.json says of one model file. */
typedef struct record {
    json_t *inputs, *expected, *qparams;
    double steps; /* that a quantized result of 16 bits may be off; of 8 bits: one */
} record;

static const char *text_of(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool outputs_agree(trial *t, const record *r, const tc_tensor *out)
{
    size_t i, n = 0;
    json_t *expected;
    json_array_foreach(r->expected, i, expected)
    {
        const char *file = text_of(expected, "file");
        json_t *q = json_array_get(r->qparams, n);
        double step = json_number_value(json_object_get(q, "scale")), steps = 1;
        if (json_is_object(q) && text_of(q, "dtype") && tc_text_eq(text_of(q, "dtype"), "int16"))
            steps = r->steps;
        if (!file)
            continue;
        if (n < t->g->n_out &&
            !trial_output(t, n, out[n], file, text_of(expected, "dtype"), step, steps))
            return false;
        n++;
    }
    if (n != t->g->n_out)
        failed(t->v, "%zu outputs, expected %zu", t->g->n_out, n);
    return n == t->g->n_out;
}

static const char **input_files(const trial *t, const record *r, size_t *n)
{
    const char **path = tc_new_n(&t->ctx->arena, const char *, json_array_size(r->inputs));
    size_t i;
    json_t *input;
    *n = 0;
    json_array_foreach(r->inputs, i, input)
    {
        const char *file = text_of(input, "file");
        if (file)
            path[(*n)++] = trial_path(t, file);
    }
    return path;
}

static bool agrees(trial *t, const record *r)
{
    size_t n;
    const char **path = input_files(t, r, &n);
    t->v->n_equal = t->v->n_compared = 0;
    memset(t->v->n_off, 0, sizeof t->v->n_off);
    tc_tensor *out = tc_new_n(&t->ctx->arena, tc_tensor, t->g->n_out);
    return trial_run(t, path, n, out) && outputs_agree(t, r, out);
}

/* The part of meta.json that is about this file. */
static bool find_record(const char *file, json_t *meta, record *r)
{
    size_t i;
    json_t *q;
    *r = (record){json_object_get(meta, "inputs"), json_object_get(meta, "expected"), NULL, 1};
    if (tc_text_eq(file, "model.pt2"))
        return true;
    json_array_foreach(json_object_get(meta, "quantized"), i, q)
    {
        if (!tc_text_eq(text_of(q, "file"), file))
            continue;
        r->expected = json_object_get(q, "expected");
        r->qparams = json_object_get(q, "output_qparams");
        return true;
    }
    return false;
}

static void try_file(trial *t, json_t *meta)
{
    record r;
    bool comparable = json_is_true(json_object_get(meta, "deterministic")) &&
                      !json_is_string(json_object_get(meta, "eager_error"));
    if (!find_record(t->check->file, meta, &r))
        failed(t->v, "meta.json does not speak of it");
    else if (trial_read(t) && (!comparable || (trial_reference(t) && agrees(t, &r) &&
                                               trial_tidied(t) && agrees(t, &r))))
        passed(t->v);
}

static void run_aten(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    json_t *meta = json_load_file(trial_path(&t, "meta.json"), 0, NULL);
    if (meta)
        try_file(&t, meta);
    else
        failed(v, "meta.json cannot be read");
    json_decref(meta);
}

static void run_lowered(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    json_t *meta = json_load_file(trial_path(&t, "meta.json"), 0, NULL);
    record r;
    size_t n;
    if (!meta || !find_record(c->file, meta, &r))
        failed(v, "meta.json does not speak of it");
    else {
        r.steps = 2;
        const char **path = input_files(&t, &r, &n);
        if (trial_compiled(&t, c->target, path, n) && agrees(&t, &r))
            passed(v);
    }
    json_decref(meta);
}

static bool has_label(json_t *meta, const char *label)
{
    size_t i;
    json_t *l;
    json_array_foreach(json_object_get(meta, "labels"), i,
                       l) if (tc_text_eq(json_string_value(l), label)) return true;
    return false;
}

/* The target that the suite compiles this file for; NULL: none. */
static const char *lowered_target(json_t *meta, const char *file)
{
    size_t i;
    json_t *p;
    if (!json_is_true(json_object_get(meta, "deterministic")) ||
        json_is_string(json_object_get(meta, "eager_error")))
        return NULL;
    if (tc_text_eq(file, "model.pt2")) {
        if (!has_label(meta, "FP"))
            return NULL;
        json_array_foreach(
            json_object_get(meta, "pipelines"), i,
            p) if (tc_text_eq(text_of(p, "label"), "FP")) return text_of(p, "tosa_spec");
        return "TOSA-1.0+FP";
    }
    json_array_foreach(json_object_get(meta, "quantized"), i,
                       p) if (tc_text_eq(text_of(p, "file"), file) &&
                              json_is_true(json_object_get(p, "has_qdq")) &&
                              has_label(meta, "INT")) return text_of(p, "tosa_spec");
    return NULL;
}

/* The same cases again, compiled. */
static void find_lowered(checks *all, const check *c)
{
    check lowered = *c;
    json_t *meta =
        json_load_file(tc_text_format(&all->ctx->arena, "%s/meta.json", c->folder), 0, NULL);
    const char *target = meta ? lowered_target(meta, c->file) : NULL;
    if (target) {
        lowered.suite = "lowered";
        lowered.name = tc_text_format(&all->ctx->arena, "%s for %s", c->name, target);
        lowered.target = tc_text_format(&all->ctx->arena, "%s", target);
        lowered.run = run_lowered;
        add_check(all, &lowered);
    }
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
        if (tc_text_ends(file[i], ".pt2")) {
            check c = {.suite = "aten",
                       .group = op,
                       .name = tc_text_format(arena, "%s/%s %s", op, name, file[i]),
                       .folder = path,
                       .file = file[i],
                       .run = run_aten};
            add_check(all, &c);
            find_lowered(all, &c);
        }
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
