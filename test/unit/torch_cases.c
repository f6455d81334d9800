/* SPDX-License-Identifier: Apache-2.0 */
/* torch_cases.c -- exported programs beside what eager PyTorch gave: those of test/fixture/torch, every
 * output in its place, Python's numbers among them; and those of test/fixture/views, random programs
 * of views and changes in place, called twice with their state kept. */
#include "tosac/tosac.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "num/load.h"
#include "read/data.h"
#include "wire/file.h"
#include "wire/npy.h"

/* The recorded array of that name, or NULL. */
static tc_npy *array(tc_npy *all, size_t n, char kind, size_t i)
{
    char name[32];
    snprintf(name, sizeof name, "%c%zu", kind, i);
    for (size_t k = 0; k < n; k++)
        if (strcmp(all[k].name, name) == 0)
            return &all[k];
    return NULL;
}

/* Call k of those that are stacked along the first axis; k < 0: there is one, and the array is it. */
static tc_tensor numbers(tc_ctx *ctx, tc_npy *a, int k)
{
    int skip = k < 0 ? 0 : 1;
    tc_tensor t = ti_tensor_new(
        &ctx->arena, ti_type_make(ctx, ti_data_dtype(a), a->rank - skip, a->dim + skip));
    int64_t count = tc_type_count(t.type);
    CHECK(ti_npy_read(ctx, a, (k < 0 ? 0 : k) * count, count, t.data) == TC_OK);
    return t;
}

static bool agree(tc_tensor got, tc_tensor want)
{
    bool same = got.data && got.type == want.type;
    for (int64_t i = 0; same && i < tc_type_count(want.type); i++) {
        double x = ti_load_f64(got, i), y = ti_load_f64(want, i);
        same = ti_is_float(want.type->dtype) ? fabs(x - y) <= 1e-5 * (1 + fabs(y)) : x == y;
    }
    return same;
}

/* Inputs in, outputs compared; false with the output that differs, or none. */
static bool call(tc_ctx *ctx, tc_program *p, tc_npy *all, size_t n, int k, size_t *output)
{
    bool good = true;
    for (size_t i = 0; good && array(all, n, 'i', i); i++)
        good = tc_program_bind_input(p, i, numbers(ctx, array(all, n, 'i', i), k).data) == TC_OK;
    good = good && tc_program_run(p) == TC_OK;
    size_t i = 0;
    for (; good && array(all, n, 'o', i); i++)
        good = i < tc_program_output_count(p) &&
               agree(tc_program_result(p, i), numbers(ctx, array(all, n, 'o', i), k));
    *output = i;
    return good && i == tc_program_output_count(p);
}

static void run(const char *folder, const char *name, int calls)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model;
    tc_program *p = NULL;
    tc_npy *all = NULL;
    size_t n = 0, output = 0;
    const char *stem = ti_text_format(&ctx->arena, "%s/%s", folder, name);
    bool good = ti_npy_open(ctx, ti_text_format(&ctx->arena, "%s.npz", stem), &all, &n) == TC_OK &&
                tc_model_open(ctx, ti_text_format(&ctx->arena, "%s.pt2", stem), NULL, &model) ==
                    TC_OK &&
                tc_program_new(ctx, model, NULL, &p) == TC_OK;
    for (int k = 0; good && k < calls; k++)
        good = call(ctx, p, all, n, calls > 1 ? k : -1, &output);
    if (!good)
        fprintf(stderr, "%s, output %zu: %s\n", name, output, tc_diagnostics(ctx));
    CHECK(good);
    tc_ctx_free(ctx);
}

static size_t run_all(const char *folder, int calls)
{
    tc_ctx *ctx = tc_ctx_new();
    const char **name;
    size_t n = 0, cases = 0;
    CHECK(ti_folder_list(ctx, folder, &name, &n) == TC_OK);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(name[i]);
        if (length > 4 && strcmp(name[i] + length - 4, ".pt2") == 0) {
            run(folder, ti_text_copy(&ctx->arena, (tc_str){name[i], length - 4}), calls);
            cases++;
        }
    }
    tc_ctx_free(ctx);
    return cases;
}

int main(void)
{
    CHECK(run_all(TOSAC_FIXTURES "/torch", 1) >= 10);
    CHECK(run_all(TOSAC_FIXTURES "/views", 2) >= 30);
    return check_done();
}
