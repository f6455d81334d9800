/* SPDX-License-Identifier: Apache-2.0 */
/* fixtures.c -- small models of known bug families: the float export and the quantized one give
 * what PyTorch gave, for every recorded vector. */
#include "trial.h"

#include "wire/file.h"

#include <jansson.h>
#include <unistd.h>

static const char *text_of(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* "torch.float32" without "torch.". */
static const char *bare(const char *name)
{
    return name && tc_text_starts(name, "torch.") ? name + strlen("torch.") : name;
}

static bool vector_agrees(trial *t, json_t *vector)
{
    json_t *inputs = json_object_get(vector, "inputs"),
           *outputs = json_object_get(vector, "outputs"), *it;
    bool quantized = tc_text_eq(t->check->file, "quantized.pt2");
    const char **path = tc_new_n(&t->ctx->arena, const char *, json_array_size(inputs));
    tc_tensor *out = tc_new_n(&t->ctx->arena, tc_tensor, t->g->n_out);
    size_t i, n = 0;
    json_array_foreach(inputs, i, it) path[n++] = trial_path(t, text_of(it, "file"));
    if (!trial_run(t, path, n, out))
        return false;
    if (json_array_size(outputs) != t->g->n_out) {
        failed(t->v, "%zu outputs, expected %zu", t->g->n_out, json_array_size(outputs));
        return false;
    }
    json_array_foreach(outputs, i, it)
    {
        const char *file = text_of(it, quantized ? "quant_file" : "float_file");
        double step =
            quantized ? json_number_value(json_object_get(json_object_get(it, "qparams"), "scale"))
                      : 0;
        if (file && !trial_output(t, i, out[i], file, bare(text_of(it, "dtype")), step, 1))
            return false;
    }
    return true;
}

static bool agrees(trial *t, json_t *facts)
{
    size_t i;
    json_t *vector;
    t->v->n_equal = t->v->n_compared = 0;
    json_array_foreach(json_object_get(facts, "vectors"), i, vector)
    {
        if (!vector_agrees(t, vector))
            return false;
    }
    return true;
}

static void run_fixture(tc_ctx *ctx, const check *c, verdict *v)
{
    trial t = {.ctx = ctx, .check = c, .v = v};
    json_t *facts = json_load_file(trial_path(&t, "case.json"), 0, NULL);
    if (!facts)
        failed(v, "case.json cannot be read");
    else if (trial_read(&t) && trial_reference(&t) && agrees(&t, facts) && trial_tidied(&t) &&
             agrees(&t, facts))
        passed(v);
    json_decref(facts);
}

tc_status find_fixtures(checks *all, const char *folder, const char *name)
{
    static const char *const file[] = {"model.pt2", "quantized.pt2"};
    tc_arena *arena = &all->ctx->arena;
    const char **inside;
    size_t n;
    for (size_t i = 0; i < TC_COUNT(file); i++)
        if (access(tc_text_format(arena, "%s/%s", folder, file[i]), R_OK) == 0)
            add_check(all, &(check){.suite = "fixtures",
                                    .group = name,
                                    .name = tc_text_format(arena, "%s %s", name, file[i]),
                                    .folder = folder,
                                    .file = file[i],
                                    .run = run_fixture});
    TC_TRY(tc_folder_list(all->ctx, folder, &inside, &n));
    for (size_t i = 0; i < n; i++) {
        const char *path = tc_text_format(arena, "%s/%s", folder, inside[i]);
        if (tc_is_folder(path))
            TC_TRY(find_fixtures(
                all, path, *name ? tc_text_format(arena, "%s/%s", name, inside[i]) : inside[i]));
    }
    return TC_OK;
}
