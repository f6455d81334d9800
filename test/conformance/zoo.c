/* SPDX-License-Identifier: Apache-2.0 */
/* zoo.c -- trained models: results within 1e-3 of PyTorch's and the same best class for every
 * sample. Where a model hands its state back (silero_vad), the state is also fed back step by step.
 */
#include "compare.h"

#include "drive/passes.h"
#include "num/load.h"
#include "read/read.h"
#include "run/exec.h"
#include "wire/file.h"

#include <math.h>
#include <unistd.h>

enum { MOST = 4 }; /* inputs, and outputs, of a model here */
static const double bound = 1e-3;

typedef struct model {
    tc_ctx *ctx;
    const check *check;
    verdict *v;
    tc_module *module;
    tc_graph *g;
    tc_exec *exec;
    tc_data *data;
    tc_npy *want[MOST];
    size_t n_want;
    tc_tensor in[MOST], out[MOST];
} model;

static const char *there(model *m, const char *file)
{
    const char *path = ti_text_format(&m->ctx->arena, "%s/%s", m->check->folder, file);
    return access(path, R_OK) == 0 ? path : NULL;
}

static bool open_data(model *m)
{
    static const char *const input[] = {"test.npz", "test_x.npy", "test_h.npy", "test_c.npy"};
    static const char *const output[] = {"test_logits.npy", "logits.npy", "out_0.npy", "out_1.npy",
                                         "out_2.npy"};
    const char *path[MOST], *file;
    size_t n = 0, one;
    for (size_t i = 0; i < TC_COUNT(input); i++)
        if (n < MOST && (file = there(m, input[i])))
            path[n++] = file;
    if (ti_read_data(m->ctx, m->g, path, n, &m->data) != TC_OK)
        return false;
    for (size_t i = 0; i < TC_COUNT(output); i++)
        if (m->n_want < MOST && (file = there(m, output[i])) &&
            ti_npy_open(m->ctx, file, &m->want[m->n_want++], &one) != TC_OK)
            return false;
    return true;
}

static bool open_model(model *m)
{
    const char *path = ti_text_format(&m->ctx->arena, "%s/%s", m->check->folder, m->check->file);
    if (ti_read(m->ctx, path, &m->module) != TC_OK ||
        ti_run_passes(m->ctx, m->module, "tidy", NULL) != TC_OK)
        return false;
    m->g = ti_main(m->module);
    if (!open_data(m))
        return false;
    if (m->g->n_in > MOST || m->g->n_out > MOST || m->g->n_out != m->n_want) {
        ti_error(m->ctx, NULL, TC_E_DATA, "%zu outputs, %zu are recorded", m->g->n_out, m->n_want);
        return false;
    }
    for (size_t i = 0; i < m->g->n_in; i++)
        m->in[i] = ti_tensor_new(&m->ctx->arena, ti_type_of(m->g, m->g->in[i]));
    m->exec = ti_exec_new(m->ctx, m->module);
    return true;
}

static int64_t best(tc_tensor t, int64_t n)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (ti_load_f64(t, i) > ti_load_f64(t, at))
            at = i;
    return at;
}

static bool output_agrees(model *m, size_t k, size_t i)
{
    tc_ctx *ctx = m->ctx;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_tensor got = m->out[i], want = ti_tensor_new(&ctx->scratch, got.type);
    int64_t n = tc_type_count(got.type);
    int64_t first = (int64_t)k * n;
    double worst = 0;
    bool good =
        first + n <= m->want[i]->count && ti_data_convert(ctx, m->want[i], first, &want) == TC_OK;
    if (!good)
        failed_with(m->v, ctx, "recorded result");
    for (int64_t e = 0; good && e < n; e++) {
        double error = fabs(ti_load_f64(got, e) - ti_load_f64(want, e));
        worst = error > worst || error != error ? error : worst;
    }
    if (good && !(worst < bound)) {
        failed(m->v, "sample %zu, output %zu: error %.3g, allowed %.3g", k, i, worst, bound);
        good = false;
    }
    bool classes = m->g->n_out == 1 && got.type->rank == 2;
    if (good && classes && best(got, n) != best(want, n)) {
        failed(m->v, "sample %zu: the best class is another", k);
        good = false;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return good;
}

static bool step(model *m, size_t k)
{
    if (ti_exec_run(m->exec, m->in, m->out) != TC_OK) {
        failed_with(m->v, m->ctx, "run");
        return false;
    }
    for (size_t i = 0; i < m->g->n_out; i++)
        if (!output_agrees(m, k, i))
            return false;
    return true;
}

/* Samples spread evenly over the recorded ones. */
static bool samples_agree(model *m)
{
    size_t all = ti_data_samples(m->data), n = all < m->check->samples ? all : m->check->samples;
    for (size_t i = 0; i < n; i++) {
        size_t k = i * all / n;
        if (ti_data_sample(m->data, k, m->in) != TC_OK) {
            failed_with(m->v, m->ctx, "data");
            return false;
        }
        if (!step(m, k))
            return false;
    }
    return true;
}

/* Outputs 1, 2, ... are what inputs 1, 2, ... will be: the recorded run again, from its own state.
 */
static bool feedback_agrees(model *m)
{
    size_t n = ti_data_samples(m->data);
    tc_tensor state[MOST];
    for (size_t i = 1; i < m->g->n_in; i++)
        state[i] = ti_tensor_new(&m->ctx->arena, m->in[i].type);
    for (size_t k = 0; k < n && k < 25 * m->check->samples; k++) {
        if (ti_data_sample(m->data, k, m->in) != TC_OK) {
            failed_with(m->v, m->ctx, "data");
            return false;
        }
        for (size_t i = 1; k > 0 && i < m->g->n_in; i++)
            memcpy(m->in[i].data, state[i].data, tc_type_bytes(state[i].type));
        if (!step(m, k))
            return false;
        for (size_t i = 1; i < m->g->n_in; i++)
            memcpy(state[i].data, m->out[i].data, tc_type_bytes(state[i].type));
    }
    return true;
}

static bool is_recurrent(const model *m)
{
    bool same = m->g->n_in > 1 && m->g->n_in == m->g->n_out;
    for (size_t i = 1; same && i < m->g->n_in; i++)
        same = ti_type_of(m->g, m->g->in[i]) == ti_type_of(m->g, m->g->out[i]);
    return same;
}

static void run_zoo(tc_ctx *ctx, const check *c, verdict *v)
{
    model m = {.ctx = ctx, .check = c, .v = v};
    if (!open_model(&m))
        failed_with(v, ctx, "read");
    else if (samples_agree(&m) && (!is_recurrent(&m) || feedback_agrees(&m)))
        passed(v);
}

static tc_status find_in(checks *all, const char *folder, size_t samples)
{
    const char **name;
    size_t n;
    tc_arena *arena = &all->ctx->arena;
    TC_TRY(ti_folder_list(all->ctx, folder, &name, &n));
    for (size_t i = 0; i < n; i++) {
        const char *path = ti_text_format(arena, "%s/%s", folder, name[i]);
        if (access(ti_text_format(arena, "%s/model.pt2", path), R_OK) == 0)
            add_check(all, &(check){.suite = "zoo",
                                    .group = name[i],
                                    .name = ti_text_format(arena, "%s model.pt2", name[i]),
                                    .folder = path,
                                    .file = "model.pt2",
                                    .samples = samples,
                                    .run = run_zoo});
    }
    return TC_OK;
}

tc_status find_zoo(checks *all, const char *folder, size_t samples)
{
    TC_TRY(find_in(all, folder, samples));
    return find_in(all, ti_text_format(&all->ctx->arena, "%s/small", folder), samples);
}
