/* SPDX-License-Identifier: Apache-2.0 */
/* cli_results.c -- see cli_results.h. */
#include "cli_results.h"

#include <math.h>

/* The shape of all samples together. */
static void join_dims(cli_result *r, cli_results_shape shape)
{
    const tc_type *t = r->type;
    bool along_first = shape.join == TC_JOINED_FIRST && t->rank > 0 && t->dim[0] == shape.extent;
    int shift = shape.join != TC_JOINED_NOT && !along_first;
    r->rank = t->rank + shift;
    for (int i = 0; i < t->rank; i++)
        r->dim[i + shift] = t->dim[i];
    if (shift)
        r->dim[0] = (int64_t)shape.samples;
    else if (along_first)
        r->dim[0] *= (int64_t)shape.samples;
}

tc_status cli_results_new(cli *c, const tc_program *program, cli_results_shape shape,
                          const char *folder, bool raw, cli_results **out)
{
    cli_results *all = *out = cli_memory(1, sizeof *all);
    *all = (cli_results){.c = c, .n = tc_program_output_count(program), .folder = folder,
                         .number = shape.number, .raw = raw,
                         .digits = snprintf(NULL, 0, "%zu", shape.all ? shape.all - 1 : 0)};
    all->result = cli_memory(all->n, sizeof *all->result);
    if (folder)
        CLI_TRY(tc_make_folder(c->ctx, folder));
    for (size_t i = 0; i < all->n; i++) {
        cli_result *r = &all->result[i];
        tc_port_info port = {.size = sizeof port};
        tc_program_output(program, i, &port);
        *r = (cli_result){
            .name = port.name, .type = port.type, .least = INFINITY, .most = -INFINITY};
        join_dims(r, shape);
        if (folder && shape.number)
            CLI_TRY(tc_make_folder(c->ctx, cli_format("%s/output_%zu", folder, i)));
        else if (folder)
            CLI_TRY(tc_npy_create(c->ctx, cli_format("%s/output_%zu.npy", folder, i),
                                  r->type->dtype, raw, r->rank, r->dim, &r->file));
    }
    return TC_OK;
}

static void look_at(cli_result *r, const double *v, size_t n)
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

static tc_status add(cli_result *r, tc_tensor out)
{
    enum { STEP = 4096 };
    double v[STEP];
    int64_t count = tc_type_count(r->type);
    for (int64_t at = 0; at < count; at += STEP) {
        size_t n = (size_t)(count - at < STEP ? count - at : STEP);
        tc_tensor_get_f64(&out, at, n, v);
        look_at(r, v, n);
    }
    return r->file ? tc_npy_append(r->file, &out) : TC_OK;
}

/* The next sample's file, where each has one. */
static tc_status add_file(const cli_results *all, size_t i, tc_tensor out)
{
    if (!all->folder || !all->number)
        return TC_OK;
    const char *path = cli_format("%s/output_%zu/%0*zu.npy", all->folder, i, all->digits,
                                  all->number[all->n_added]);
    tc_npy_writer *file;
    CLI_TRY(tc_npy_create(all->c->ctx, path, out.type->dtype, all->raw, out.type->rank,
                          out.type->dim, &file));
    CLI_TRY(tc_npy_append(file, &out));
    return tc_npy_commit(file); /* no more than one is open */
}

tc_status cli_results_add(cli_results *all, const tc_tensor *out)
{
    for (size_t i = 0; i < all->n; i++) {
        CLI_TRY(add(&all->result[i], out[i]));
        CLI_TRY(add_file(all, i, out[i]));
    }
    all->n_added++;
    return TC_OK;
}

tc_status cli_results_commit(cli_results *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->result[i].file)
            CLI_TRY(tc_npy_commit(all->result[i].file));
    return TC_OK;
}

static const char *number(double v, char out[32])
{
    snprintf(out, 32, "%.6g", v);
    return out;
}

static const char *type_text(const cli_result *r)
{
    cli_text text = {0};
    cli_put(&text, "%s[", tc_dtype_name(r->type->dtype));
    for (int i = 0; i < r->rank; i++)
        cli_put(&text, "%s%" PRId64, i ? "," : "", r->dim[i]);
    cli_put(&text, "]");
    return text.p;
}

static void print_row(const cli_result *r, size_t i, int name_width, int type_width,
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

void cli_results_print(const cli_results *all)
{
    const char **type = cli_memory(all->n, sizeof *type);
    int name_width = 4, type_width = 4;
    for (size_t i = 0; i < all->n; i++) {
        type[i] = type_text(&all->result[i]);
        int name = all->result[i].name ? (int)strlen(all->result[i].name) : 0,
            wide = (int)strlen(type[i]);
        name_width = name > name_width ? name : name_width;
        type_width = wide > type_width ? wide : type_width;
    }
    printf("%-6s  %-*s  %-*s %12s %12s %12s\n", "output", name_width, "name", type_width, "type",
           "min", "max", "mean");
    for (size_t i = 0; i < all->n; i++)
        print_row(&all->result[i], i, name_width, type_width, type[i]);
}

void cli_results_json(const cli_results *all, cli_json_out *out)
{
    cli_json_open(out, "outputs", '[');
    for (size_t i = 0; i < all->n; i++) {
        const cli_result *r = &all->result[i];
        int64_t n = r->count - r->n_nan;
        cli_json_open(out, NULL, '{');
        cli_json_put_text(out, "name", r->name);
        cli_json_put_text(out, "dtype", tc_dtype_name(r->type->dtype));
        cli_json_open(out, "shape", '[');
        for (int k = 0; k < r->rank; k++)
            cli_json_put_int(out, NULL, r->dim[k]);
        cli_json_close(out, ']');
        if (n) {
            cli_json_put_real(out, "min", r->least);
            cli_json_put_real(out, "max", r->most);
            cli_json_put_real(out, "mean", r->sum / (double)n);
        }
        cli_json_put_int(out, "nan", r->n_nan);
        cli_json_close(out, '}');
    }
    cli_json_close(out, ']');
}
