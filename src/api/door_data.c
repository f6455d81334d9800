/* SPDX-License-Identifier: Apache-2.0 */
/* door_data.c -- samples as callers provide them. */
#include "../base/enter.h"
#include "../data/dataset.h"
#include "../drive/model.h"

static tc_status take_files(tc_ctx *ctx, const char *const *path, size_t n, tc_dataset **out)
{
    tc_dataset *d = tc_new(&ctx->arena, tc_dataset);
    *d = (tc_dataset){.ctx = ctx, .n_path = n};
    d->path = tc_new_n(&ctx->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        d->path[i] = ti_intern_text(ctx, path[i]);
    *out = d;
    return TC_OK;
}

tc_status tc_dataset_open(tc_ctx *ctx, const char *const *path, size_t n, tc_dataset **out)
{
    TC_ENTER(ctx, take_files(ctx, path, n, out));
}

static tc_status preprocess(tc_ctx *ctx, tc_dataset *data, const char *rules)
{
    tc_rules *r = tc_new(&ctx->arena, tc_rules);
    TC_TRY(ti_rules_parse(ctx, rules, r));
    data->rules = r;
    return TC_OK;
}

tc_status tc_dataset_preprocess(tc_ctx *ctx, tc_dataset *data, const char *rules)
{
    TC_ENTER(ctx, preprocess(ctx, data, rules));
}

const char *tc_dataset_file(const tc_dataset *data, size_t k)
{
    return ti_dataset_file(data, k);
}

static tc_status take_callback(tc_ctx *ctx, size_t n, tc_sample_read *read, void *user,
                               tc_dataset **out)
{
    if (!read)
        return ti_usage(ctx, "a dataset without files needs a function that reads samples");
    *out = tc_new(&ctx->arena, tc_dataset);
    **out = (tc_dataset){.ctx = ctx, .n = n, .read = read, .user = user};
    return TC_OK;
}

tc_status tc_dataset_new(tc_ctx *ctx, size_t n, tc_sample_read *read, void *user,
                              tc_dataset **out)
{
    TC_ENTER(ctx, take_callback(ctx, n, read, user, out));
}

void tc_dataset_repeat(tc_dataset *data, size_t n)
{
    data->repeat = n;
}

void tc_dataset_limit(tc_dataset *data, size_t n)
{
    data->most = n;
}

tc_status tc_dataset_bind(tc_ctx *ctx, tc_dataset *data, const tc_model *model, size_t *samples,
                          tc_join_kind *join, int64_t *extent)
{
    TC_ENTER(ctx, ti_bind_dataset(ctx, data, ti_main(model->module), samples, join, extent));
}

static tc_status sample(tc_ctx *ctx, tc_dataset *data, size_t k, const tc_tensor *in, size_t n_in)
{
    if (!data->bound)
        return ti_usage(ctx, "the dataset is not bound to a model");
    if (k >= data->samples.n || n_in != data->bound->n_in)
        return ti_usage(ctx, "sample %zu with %zu tensors: there are %zu with %zu", k, n_in,
                        data->samples.n, data->bound->n_in);
    return data->samples.read(data->samples.from, k, in);
}

tc_status tc_dataset_sample(tc_ctx *ctx, tc_dataset *data, size_t k, const tc_tensor *in,
                            size_t n_in)
{
    TC_ENTER(ctx, sample(ctx, data, k, in, n_in));
}
