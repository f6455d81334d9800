/* SPDX-License-Identifier: Apache-2.0 */
/* fixtures.c -- small models of known bug families: the float export and the quantized one give
 * what PyTorch gave, for every recorded vector. */
#include "trial.h"

#include "record.h"

/* "torch.float32" without "torch.". */
static const char *bare(const char *name)
{
    return name && ti_text_starts(name, "torch.") ? name + strlen("torch.") : name;
}

static bool vector_agrees(trial *t, const tc_json *vector)
{
    const tc_json *inputs = ti_json_get(vector, "inputs"),
                  *outputs = ti_json_get(vector, "outputs");
    bool quantized = ti_text_eq(t->check->file, "quantized.pt2");
    const char **path = tc_new_n(&t->ctx->arena, const char *, record_size(inputs));
    tc_tensor *out = tc_new_n(&t->ctx->arena, tc_tensor, t->g->n_out);
    size_t n = 0;
    for RECORD_EACH (it, inputs)
        path[n++] = trial_path(t, record_text(t->ctx, it, "file"));
    if (!trial_run(t, path, n, out))
        return false;
    if (record_size(outputs) != t->g->n_out) {
        failed(t->v, "%zu outputs, expected %zu", t->g->n_out, record_size(outputs));
        return false;
    }
    size_t i = 0;
    for RECORD_EACH (it, outputs) {
        const char *file = record_text(t->ctx, it, quantized ? "quant_file" : "float_file");
        const char *dtype = bare(record_text(t->ctx, it, "dtype"));
        double step = quantized ? record_number(ti_json_get(it, "qparams"), "scale") : 0;
        if (file && !trial_output(t, i, out[i], file, dtype, step, 1))
            return false;
        i++;
    }
    return true;
}

static bool agrees(trial *t, const tc_json *facts)
{
    t->v->n_equal = t->v->n_compared = 0;
    for RECORD_EACH (vector, ti_json_get(facts, "vectors"))
        if (!vector_agrees(t, vector))
            return false;
    return true;
}

static void run_fixture(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    const tc_json *facts = record_load(ctx, trial_path(&t, "case.json"));
    if (!facts)
        failed(v, "case.json cannot be read");
    else if (trial_read(&t) && trial_reference(&t) && agrees(&t, facts) && trial_tidied(&t) &&
             agrees(&t, facts))
        passed(v);
}

tc_status find_fixtures(checks *all, const char *folder, const char *name)
{
    static const char *const file[] = {"model.pt2", "quantized.pt2"};
    tc_arena *arena = &all->ctx->arena;
    const char **inside;
    size_t n;
    for (size_t i = 0; i < TC_COUNT(file); i++)
        if (access(ti_text_format(arena, "%s/%s", folder, file[i]), R_OK) == 0)
            add_check(all, &(check){.suite = "fixtures",
                                    .group = name,
                                    .name = ti_text_format(arena, "%s %s", name, file[i]),
                                    .folder = folder,
                                    .file = file[i],
                                    .run = run_fixture});
    TC_TRY(ti_folder_list(all->ctx, folder, &inside, &n));
    for (size_t i = 0; i < n; i++) {
        const char *path = ti_text_format(arena, "%s/%s", folder, inside[i]);
        if (ti_is_folder(path))
            TC_TRY(find_fixtures(
                all, path, *name ? ti_text_format(arena, "%s/%s", name, inside[i]) : inside[i]));
    }
    return TC_OK;
}
