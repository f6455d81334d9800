/* SPDX-License-Identifier: Apache-2.0 */
/* results.c -- see results.h. */
#include "results.h"

#include "../num/load.h"
#include "../wire/file.h"

#include <math.h>
#include <stdio.h>

enum { STEP = 4096 };

/* What the file holds of a type: its own bytes, or float32 of the same values. */
static const char *descr_of(tc_dtype t, bool raw, bool *widen)
{
    *widen = !raw && (t == TC_bf16 || t == TC_e4m3 || t == TC_e5m2);
    if (raw && t == TC_bf16)
        return "<V2";
    if (raw && t == TC_e4m3)
        return "<V1";
    if (raw && t == TC_e5m2)
        return "|u1";
    return tc_dtypes[t].npy;
}

/* The shape of all samples together. */
static void join_dims(tc_result *r, tc_sample_join join, int64_t extent, int64_t samples)
{
    const tc_type *t = r->type;
    bool along_first = join == TC_JOIN_FIRST && t->rank > 0 && t->dim[0] == extent;
    int shift = join != TC_JOIN_NONE && !along_first;
    r->rank = t->rank + shift;
    for (int i = 0; i < t->rank; i++)
        r->dim[i + shift] = t->dim[i];
    if (shift)
        r->dim[0] = samples;
    else if (along_first)
        r->dim[0] *= samples;
}

static tc_status start_file(tc_results *all, tc_result *r, const char *folder, size_t i)
{
    tc_ctx *ctx = all->ctx;
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    bool widen;
    tc_buf head;
    tc_buf_init(&head, &ctx->scratch);
    tc_npy_header(&head, descr_of(r->type->dtype, all->raw, &widen), r->rank, r->dim);
    const char *path = tc_text_format(&ctx->scratch, "%s/output_%zu.npy", folder, i);
    tc_status status = tc_file_create(ctx, path, &r->file);
    if (!status)
        status = tc_file_append(r->file, head.data, head.size);
    tc_arena_rewind(&ctx->scratch, mark);
    return status;
}

static const char *output_name(const tc_graph *g, size_t i)
{
    const tc_module *m = g->module;
    size_t at = 0; /* among the ports that are tensors */
    for (size_t k = 0; k < m->n_out_port; k++)
        if (m->out_port[k].val != TC_NONE && at++ == i)
            return m->out_port[k].name;
    return g->val[g->out[i]]->name;
}

tc_status tc_results_new(tc_ctx *ctx, const tc_graph *g, const tc_data *data, const char *folder,
                         bool raw, tc_results **out)
{
    int64_t extent;
    tc_sample_join join = tc_data_join(data, &extent);
    tc_results *all = *out = tc_new(&ctx->arena, tc_results);
    *all = (tc_results){.ctx = ctx, .raw = raw, .n = g->n_out};
    all->result = tc_new_n(&ctx->arena, tc_result, g->n_out);
    if (folder)
        TC_TRY(tc_folder_make(ctx, folder));
    for (size_t i = 0; i < g->n_out; i++) {
        tc_result *r = &all->result[i];
        *r = (tc_result){.type = tc_type_of(g, g->out[i]), .least = INFINITY, .most = -INFINITY};
        r->name = output_name(g, i);
        join_dims(r, join, extent, (int64_t)tc_data_samples(data));
        if (folder)
            TC_TRY(start_file(all, r, folder, i));
    }
    return TC_OK;
}

static void look_at(tc_result *r, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i] != v[i]) {
            r->n_nan++;
            continue;
        }
        r->least = fmin(r->least, v[i]);
        r->most = fmax(r->most, v[i]);
        r->sum += v[i];
    }
    r->count += (int64_t)n;
}

static tc_status add(tc_results *all, tc_result *r, tc_tensor out)
{
    double v[STEP];
    float narrow[STEP];
    bool widen;
    descr_of(r->type->dtype, all->raw, &widen);
    int64_t count = tc_type_count(r->type);
    for (int64_t at = 0; at < count; at += STEP) {
        size_t n = (size_t)tc_min_i64(STEP, count - at);
        tc_read_f64(out, at, n, v);
        look_at(r, v, n);
        if (r->file && widen) {
            tc_read_f32(out, at, n, narrow);
            TC_TRY(tc_file_append(r->file, narrow, n * sizeof *narrow));
        }
    }
    if (r->file && !widen)
        TC_TRY(tc_file_append(r->file, out.data, tc_type_bytes(r->type)));
    return TC_OK;
}

tc_status tc_results_add(tc_results *all, const tc_tensor *out)
{
    for (size_t i = 0; i < all->n; i++)
        TC_TRY(add(all, &all->result[i], out[i]));
    return TC_OK;
}

tc_status tc_results_commit(tc_results *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->result[i].file)
            TC_TRY(tc_file_commit(all->result[i].file));
    return TC_OK;
}

static const char *number(double v, char out[32])
{
    snprintf(out, 32, "%.6g", v);
    return out;
}

static const char *type_text(tc_arena *arena, const tc_result *r)
{
    return tc_text_format(arena, "%s%s", tc_dtypes[r->type->dtype].name,
                          tc_dims_text(arena, r->rank, r->dim));
}

static void print_row(const tc_result *r, size_t i, int name_width, int type_width,
                      const char *type)
{
    char a[32], b[32], c[32];
    int64_t n = r->count - r->n_nan;
    printf("%-6zu  %-*s  %-*s %12s %12s %12s", i, name_width, r->name ? r->name : "-", type_width,
           type, n ? number(r->least, a) : "-", n ? number(r->most, b) : "-",
           n ? number(r->sum / (double)n, c) : "-");
    if (r->n_nan)
        printf("  %" PRId64 " of %" PRId64 " are NaN", r->n_nan, r->count);
    printf("\n");
}

void tc_results_print(const tc_results *all)
{
    tc_arena *scratch = &all->ctx->scratch;
    tc_mark mark = tc_arena_mark(scratch);
    const char **type = tc_new_n(scratch, const char *, all->n);
    int name_width = 4, type_width = 4;
    for (size_t i = 0; i < all->n; i++) {
        type[i] = type_text(scratch, &all->result[i]);
        int name = all->result[i].name ? (int)strlen(all->result[i].name) : 0,
            wide = (int)strlen(type[i]);
        name_width = name > name_width ? name : name_width;
        type_width = wide > type_width ? wide : type_width;
    }
    printf("%-6s  %-*s  %-*s %12s %12s %12s\n", "output", name_width, "name", type_width, "type",
           "min", "max", "mean");
    for (size_t i = 0; i < all->n; i++)
        print_row(&all->result[i], i, name_width, type_width, type[i]);
    tc_arena_rewind(scratch, mark);
}

void tc_results_json(const tc_results *all, tc_json_out *out)
{
    tc_json_open(out, "outputs", '[');
    for (size_t i = 0; i < all->n; i++) {
        const tc_result *r = &all->result[i];
        int64_t n = r->count - r->n_nan;
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "name", r->name);
        tc_json_put_text(out, "dtype", tc_dtypes[r->type->dtype].name);
        tc_json_open(out, "shape", '[');
        for (int k = 0; k < r->rank; k++)
            tc_json_put_int(out, NULL, r->dim[k]);
        tc_json_close(out, ']');
        if (n) {
            tc_json_put_real(out, "min", r->least);
            tc_json_put_real(out, "max", r->most);
            tc_json_put_real(out, "mean", r->sum / (double)n);
        }
        tc_json_put_int(out, "nan", r->n_nan);
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}
