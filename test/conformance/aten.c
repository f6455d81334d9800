/* SPDX-License-Identifier: Apache-2.0 */
/* aten.c -- one operator, one case: the exported program is read, printed, parsed back equal,
 * verified, and evaluated to what PyTorch gave, with the reference kernels and again tidied and
 * planned; its quantized export too, within a step. */
#include "lowered.h"

#include "record.h"

/* What meta.json says of one model file. */
typedef struct record {
    const tc_json *inputs, *expected, *qparams;
    double steps; /* that a quantized result of 16 bits may be off; of 8 bits: one */
} record;

static bool outputs_agree(trial *t, const record *r, const tc_tensor *out)
{
    size_t n = 0;
    for RECORD_EACH (expected, r->expected) {
        const char *file = record_text(t->ctx, expected, "file");
        const tc_json *q = record_at(r->qparams, n);
        double step = record_number(q, "scale"), steps = 1;
        if (record_is(t->ctx, q, "dtype", "int16"))
            steps = r->steps;
        if (!file)
            continue;
        if (n < t->g->n_out &&
            !trial_output(t, n, out[n], file, record_text(t->ctx, expected, "dtype"), step, steps))
            return false;
        n++;
    }
    if (n != t->g->n_out)
        failed(t->v, "%zu outputs, expected %zu", t->g->n_out, n);
    return n == t->g->n_out;
}

static const char **input_files(const trial *t, const record *r, size_t *n)
{
    const char **path = tc_new_n(&t->ctx->arena, const char *, record_size(r->inputs));
    *n = 0;
    for RECORD_EACH (input, r->inputs) {
        const char *file = record_text(t->ctx, input, "file");
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
static bool find_record(tc_ctx *ctx, const char *file, const tc_json *meta, record *r)
{
    *r = (record){ti_json_get(meta, "inputs"), ti_json_get(meta, "expected"), NULL, 1};
    if (ti_text_eq(file, "model.pt2"))
        return true;
    for RECORD_EACH (q, ti_json_get(meta, "quantized")) {
        if (!record_is(ctx, q, "file", file))
            continue;
        r->expected = ti_json_get(q, "expected");
        r->qparams = ti_json_get(q, "output_qparams");
        return true;
    }
    return false;
}

/* What PyTorch gave can be compared with. */
static bool is_comparable(const tc_json *meta)
{
    return record_true(meta, "deterministic") &&
           !ti_json_is(ti_json_get(meta, "eager_error"), TC_JSON_TEXT);
}

static void try_file(trial *t, const tc_json *meta)
{
    record r;
    bool comparable = is_comparable(meta);
    if (!find_record(t->ctx, t->check->file, meta, &r))
        failed(t->v, "meta.json does not speak of it");
    else if (trial_read(t) && (!comparable || (trial_reference(t) && agrees(t, &r) &&
                                               trial_tidied(t) && agrees(t, &r))))
        passed(t->v);
}

static void run_aten(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    const tc_json *meta = record_load(ctx, trial_path(&t, "meta.json"));
    if (meta)
        try_file(&t, meta);
    else
        failed(v, "meta.json cannot be read");
}

static void run_lowered(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    const tc_json *meta = record_load(ctx, trial_path(&t, "meta.json"));
    record r;
    size_t n;
    if (!meta || !find_record(ctx, c->file, meta, &r))
        failed(v, "meta.json does not speak of it");
    else {
        r.steps = 2;
        const char **path = input_files(&t, &r, &n);
        if (trial_compiled(&t, c->target, path, n) && agrees(&t, &r))
            passed(v);
    }
}

/* As a program of ExecuTorch's kernels alone: written, read back and run. */
static void run_program(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    const tc_json *meta = record_load(ctx, trial_path(&t, "meta.json"));
    record r;
    if (!meta || !find_record(ctx, c->file, meta, &r))
        failed(v, "meta.json does not speak of it");
    else if (trial_program(&t) && agrees(&t, &r))
        passed(v);
}

static bool has_label(tc_ctx *ctx, const tc_json *meta, const char *label)
{
    for RECORD_EACH (l, ti_json_get(meta, "labels")) {
        const char *text = record_string(ctx, l);
        if (text && ti_text_eq(text, label))
            return true;
    }
    return false;
}

/* The target that the suite compiles this file for; NULL: none. */
static const char *lowered_target(tc_ctx *ctx, const tc_json *meta, const char *file)
{
    if (!is_comparable(meta))
        return NULL;
    if (ti_text_eq(file, "model.pt2")) {
        if (!has_label(ctx, meta, "FP"))
            return NULL;
        for RECORD_EACH (p, ti_json_get(meta, "pipelines"))
            if (record_is(ctx, p, "label", "FP"))
                return record_text(ctx, p, "tosa_spec");
        return "TOSA-1.0+FP";
    }
    for RECORD_EACH (q, ti_json_get(meta, "quantized"))
        if (record_is(ctx, q, "file", file) && record_true(q, "has_qdq") &&
            has_label(ctx, meta, "INT"))
            return record_text(ctx, q, "tosa_spec");
    return NULL;
}

/* The same cases again, as programs for the CPU. */
static void find_program(checks *all, const check *c)
{
    check program = *c;
    const tc_json *meta =
        record_load(all->ctx, ti_text_format(&all->ctx->arena, "%s/meta.json", c->folder));
    if (!meta || !is_comparable(meta))
        return;
    program.suite = "programs";
    program.name = ti_text_format(&all->ctx->arena, "%s for cpu", c->name);
    program.run = run_program;
    add_check(all, &program);
}

/* The same cases again, compiled. */
static void find_lowered(checks *all, const check *c)
{
    check lowered = *c;
    const tc_json *meta =
        record_load(all->ctx, ti_text_format(&all->ctx->arena, "%s/meta.json", c->folder));
    const char *target = meta ? lowered_target(all->ctx, meta, c->file) : NULL;
    if (target) {
        lowered.suite = "lowered";
        lowered.name = ti_text_format(&all->ctx->arena, "%s for %s", c->name, target);
        lowered.target = target;
        lowered.run = run_lowered;
        add_check(all, &lowered);
    }
}

static tc_status find_case(checks *all, const char *folder, const char *op, const char *name)
{
    tc_arena *arena = &all->ctx->arena;
    const char *path = ti_text_format(arena, "%s/%s/%s", folder, op, name), **file;
    size_t n;
    if (!ti_is_folder(path))
        return TC_OK;
    TC_TRY(ti_folder_list(all->ctx, path, &file, &n));
    for (size_t i = 0; i < n; i++)
        if (ti_text_ends(file[i], ".pt2")) {
            check c = {.suite = "aten",
                       .group = op,
                       .name = ti_text_format(arena, "%s/%s %s", op, name, file[i]),
                       .folder = path,
                       .file = file[i],
                       .run = run_aten};
            add_check(all, &c);
            find_lowered(all, &c);
            find_program(all, &c);
        }
    return TC_OK;
}

tc_status find_aten(checks *all, const char *folder)
{
    const char **op, **name;
    size_t n_op, n;
    TC_TRY(ti_folder_list(all->ctx, folder, &op, &n_op));
    for (size_t i = 0; i < n_op; i++) {
        const char *path = ti_text_format(&all->ctx->arena, "%s/%s", folder, op[i]);
        if (!ti_is_folder(path))
            continue;
        TC_TRY(ti_folder_list(all->ctx, path, &name, &n));
        for (size_t k = 0; k < n; k++)
            TC_TRY(find_case(all, folder, op[i], name[k]));
    }
    return TC_OK;
}
