/* SPDX-License-Identifier: Apache-2.0 */
/* world.c -- small models taken from real ones, compiled for each target that their case names and
 * run on the recorded vectors, state carried on where the vectors are calls of one run.
 *
 *   regions   no more than the case says
 *   numbers   float targets: 1e-4 of the largest; integer ones: the case's signal-to-noise ratio
 *             beside float, or its steps beside the quantized export; integers are equal
 *
 * Ethos-U targets are run as their regions' TOSA: Vela is not asked here. */
#include "trial.h"

#include <math.h>
#include <stdlib.h>

#include "drive/driver.h"
#include "num/load.h"
#include "record.h"
#include "run/exec.h"

typedef struct world {
    trial t;
    const tc_json *facts, *vectors;
    bool typed, real; /* a quantized export; a target that computes with floats */
    double *noise, *signal; /* by output, over all vectors */
} world;

/* ---- compiling ---- */

static bool compile(world *w)
{
    trial *t = &w->t;
    tc_ctx *ctx = t->ctx;
    const char *calib = record_text(ctx, w->facts, "calib");
    const char *data = calib ? trial_path(t, calib) : NULL;
    tc_dataset *samples = NULL;
    if (!w->real && !w->typed && data &&
        !trial_says(t, tc_dataset_open(ctx, &data, 1, &samples), "data"))
        return false;
    tc_compile_request r = {.model = trial_path(t, t->check->file),
                            .target = ti_text_eq(t->check->target, "cpu+int8") ? "cpu"
                                                                             : t->check->target,
                            .config = w->real ? NULL : record_text(ctx, w->facts, "quant"),
                            .data.calib = samples};
    tc_compiled c = {0};
    if (!trial_says(t, ti_compile_stages(ctx, &r, &c), "compile"))
        return false;
    const tc_json *most = ti_json_get(ti_json_get(w->facts, "regions"), t->check->target);
    int64_t n;
    if (ti_json_i64(most, &n) && (int64_t)c.n_region > n) {
        failed(t->v, "%zu regions, at most %" PRId64 " expected", c.n_region, n);
        return false;
    }
    t->module = c.module;
    t->g = ti_main(c.module);
    return true;
}

/* ---- comparing ---- */

static bool add_noise(world *w, size_t i, tc_tensor got, tc_npy *want)
{
    tc_ctx *ctx = w->t.ctx;
    tc_tensor all = ti_tensor_new(
        &ctx->arena, ti_type_make(ctx, ti_data_dtype(want), got.type->rank, got.type->dim));
    if (!trial_says(&w->t, ti_npy_read(ctx, want, 0, want->count, all.data), "recorded result"))
        return false;
    for (int64_t e = 0; e < want->count; e++) {
        double x = ti_load_f64(got, e), y = ti_load_f64(all, e);
        if (!isfinite(y) && (x == y || (x != x && y != y)))
            continue;
        if (!isfinite(x) || !isfinite(y)) {
            failed(w->t.v, "output %zu: element %" PRId64 " is %g, expected %g", i, e, x, y);
            return false;
        }
        w->noise[i] += (x - y) * (x - y);
        w->signal[i] += y * y;
    }
    return true;
}

static bool same_shape(tc_tensor got, const tc_npy *want)
{
    bool same = got.type->rank == want->rank;
    for (int k = 0; same && k < want->rank; k++)
        same = got.type->dim[k] == want->dim[k];
    return same;
}

static bool output_agrees(world *w, size_t i, tc_tensor got, const tc_json *output)
{
    trial *t = &w->t;
    tc_npy *want;
    size_t n;
    const char *file = record_text(t->ctx, output, w->typed ? "quant_file" : "float_file");
    if (!file || !trial_says(t, ti_npy_open(t->ctx, trial_path(t, file), &want, &n), "result"))
        return !file;
    if (!same_shape(got, want)) {
        failed(t->v, "output %zu is %s, expected %s", i, ti_type_text(&t->ctx->arena, got.type),
               ti_dims_text(&t->ctx->arena, want->rank, want->dim));
        return false;
    }
    if (!w->typed && !w->real && ti_is_float(ti_data_dtype(want)))
        return add_noise(w, i, got, want);
    const char *dtype = record_text(t->ctx, output, "dtype");
    bool half = dtype && strstr(dtype, "float16");
    double scale = record_number(ti_json_get(output, "qparams"), "scale");
    allowance a = {.relative = half && strstr(dtype, "bfloat") ? 2e-2 : half ? 2e-3 : 1e-4,
                   .step = w->typed ? scale : 0,
                   .steps = record_number(w->facts, "steps")};
    if (w->typed && scale == 0) /* a result that is not quantized: steps of the finest 8 bits */
        a.relative = (a.steps > 0 ? a.steps : 1) / 127;
    return close_enough(t->ctx, got, want, 0, &a, t->v);
}

static bool quiet_enough(world *w)
{
    double wanted = record_number(w->facts, "sqnr_db");
    for (size_t i = 0; i < w->t.g->n_out; i++) {
        double ratio = w->noise[i] > 0 ? 10 * log10(fmax(w->signal[i], 1e-30) / w->noise[i]) : 999;
        if (ratio < wanted) {
            failed(w->t.v, "output %zu: %.1f dB, wanted %g", i, ratio, wanted);
            return false;
        }
    }
    return true;
}

/* ---- running ---- */

static bool call(world *w, tc_exec *exec, const tc_json *vector)
{
    trial *t = &w->t;
    const tc_json *inputs = ti_json_get(vector, "inputs");
    const char **path = tc_new_n(&t->ctx->arena, const char *, record_size(inputs) + 1);
    tc_tensor *in = tc_new_n(&t->ctx->arena, tc_tensor, t->g->n_in + 1),
              *out = tc_new_n(&t->ctx->arena, tc_tensor, t->g->n_out + 1);
    size_t n = 0, i = 0;
    tc_data *data;
    for RECORD_EACH (it, inputs)
        path[n++] = trial_path(t, record_text(t->ctx, it, "file"));
    for (size_t k = 0; k < t->g->n_in; k++)
        in[k] = ti_tensor_new(&t->ctx->arena, ti_type_of(t->g, t->g->in[k]));
    if (n && (!trial_says(t, ti_read_data(t->ctx, t->g, path, n, &data), "data") ||
              !trial_says(t, ti_data_sample(data, 0, in), "data")))
        return false;
    if (!trial_says(t, ti_exec_run(exec, in, out), "run"))
        return false;
    for RECORD_EACH (output, ti_json_get(vector, "outputs")) {
        if (i == t->g->n_out) {
            failed(t->v, "%zu outputs, more expected", t->g->n_out);
            return false;
        }
        if (!output_agrees(w, i, out[i], output))
            return false;
        i++;
    }
    return true;
}

static bool all_calls(world *w)
{
    trial *t = &w->t;
    tc_exec *exec = ti_exec_new(t->ctx, t->module);
    bool carried = record_true(w->facts, "sequence");
    w->noise = tc_new_n(&t->ctx->arena, double, t->g->n_out + 1);
    w->signal = tc_new_n(&t->ctx->arena, double, t->g->n_out + 1);
    for RECORD_EACH (vector, w->vectors) {
        if (!call(w, exec, vector))
            return false;
        if (!carried)
            ti_exec_reset(exec);
    }
    return w->typed || w->real || quiet_enough(w);
}

static void run_world(tc_ctx *ctx, const check *c, verdict *v)
{
    world w = {.t = {.ctx = ctx, .check = c, .v = v}};
    w.facts = record_load(ctx, trial_path(&w.t, "case.json"));
    w.vectors = ti_json_get(w.facts, "vectors");
    w.typed = ti_text_eq(c->file, "quantized.pt2");
    w.real = ti_text_eq(c->target, "cpu") || ti_text_ends(c->target, "+FP");
    if (!w.vectors)
        failed(v, "case.json cannot be read");
    else if (compile(&w) && all_calls(&w))
        passed(v);
}

tc_status find_world(checks *all, const char *folder)
{
    tc_ctx *ctx = all->ctx;
    const char **name;
    size_t n;
    TC_TRY(ti_folder_list(ctx, folder, &name, &n));
    for (size_t i = 0; i < n; i++) {
        const char *path = ti_text_format(&ctx->arena, "%s/%s", folder, name[i]);
        const char *record = ti_text_format(&ctx->arena, "%s/case.json", path);
        const tc_json *facts = ti_is_folder(path) ? record_load(ctx, record) : NULL;
        if (!facts || ti_json_get(facts, "dims")) /* sizes of one's own: test/cli/sizes has them */
            continue;
        bool typed =
            access(ti_text_format(&ctx->arena, "%s/quantized.pt2", path), R_OK) == 0;
        for RECORD_EACH (target, ti_json_get(facts, "targets")) {
            const char *text = record_string(ctx, target);
            add_check(all, &(check){.suite = "world",
                                    .group = name[i],
                                    .name = ti_text_format(&ctx->arena, "%s for %s", name[i], text),
                                    .folder = path,
                                    .file = typed ? "quantized.pt2" : "model.pt2",
                                    .target = text,
                                    .run = run_world});
        }
    }
    return TC_OK;
}
