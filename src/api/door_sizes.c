/* SPDX-License-Identifier: Apache-2.0 */
/* door_sizes.c -- programs that leave sizes open, at the sizes that data has. */
#include "../base/enter.h"
#include "../drive/many_sizes.h"
#include "../drive/model.h"
#include "../ir/settle.h"
#include "../ir/verify.h"
#include "../read/read.h"

typedef struct course {
    tc_ctx *ctx;
    const char *path;
    tc_model_options o;
    tc_dataset *data;
    tc_model *look; /* with sizes open */
    tc_data_rows rows;
    bool *left;    /* by row: not assigned to a size yet */
    size_t *first; /* by row: the index of its first sample */
} course;

/* Sizes are open, or methods are for several. */
static bool is_open(const course *s)
{
    const tc_module *m = s->look->module;
    return ti_module_open(m) || m->open.n || (m->origin.n_method > 1 && !s->o.method);
}

static tc_status look(course *s)
{
    tc_model_options o = s->o;
    o.unchecked = true;
    o.open_sizes = true;
    o.dequantize = false;
    o.data = NULL;
    o.n_data = 0;
    return tc_model_open(s->ctx, s->path, &o, &s->look);
}

static tc_status at_sizes(const course *s, tc_npy *const *array, tc_model **out)
{
    tc_ctx *ctx = s->ctx;
    const tc_module *m = s->look->module;
    tc_module *settled;
    int64_t *value = tc_new_n(&ctx->arena, int64_t, m->open.n);
    TC_TRY(ti_row_sizes(ctx, m, array, value));
    TC_TRY(ti_read_at(ctx, m, value, &settled));
    *out = ti_model_of(ctx, s->path, settled);
    return ti_verify(ctx, settled);
}

/* The model at the sizes of a row. */
static tc_status at_row(const course *s, size_t r, tc_model **out)
{
    tc_ctx *ctx = s->ctx;
    tc_npy *const *array = s->rows.array + r * s->rows.n_in;
    tc_read_options *reading = ti_reading(ctx);
    reading->row = array;
    reading->n_row = s->rows.n_in;
    tc_status status = s->look->module->open.n ? at_sizes(s, array, out)
                                               : tc_model_open(ctx, s->path, &s->o, out);
    reading->row = NULL;
    reading->n_row = 0;
    return status;
}

/* The remaining rows that fit a model; row r is among them, and where it does not fit that is
 * reported when it is read. */
static tc_sized_model take_rows(const course *s, size_t r, const tc_model *model, size_t **count)
{
    tc_arena *arena = &s->ctx->arena;
    bool *taken = tc_new_n(arena, bool, s->rows.n);
    tc_sized_model part = {.size = sizeof part, .model = model};
    for (size_t k = r; k < s->rows.n; k++) {
        size_t n = s->left[k]
                       ? ti_row_samples(ti_main(model->module), s->rows.array + k * s->rows.n_in)
                       : 0;
        taken[k] = k == r || n;
        if (taken[k]) {
            s->left[k] = false;
            (*count)[k] = n;
            part.n_sample += n;
        }
    }
    part.data = ti_arena_copy(arena, s->data, sizeof *s->data);
    part.data->taken = taken;
    return part;
}

/* Samples are numbered row by row. */
static void number_samples(const course *s, const size_t *count, tc_sized_model *part, size_t n)
{
    size_t *before = tc_new_n(&s->ctx->arena, size_t, s->rows.n + 1);
    for (size_t k = 0; k < s->rows.n; k++)
        before[k + 1] = before[k] + count[k];
    for (size_t i = 0; i < n; i++) {
        size_t *number = tc_new_n(&s->ctx->arena, size_t, part[i].n_sample + 1), at = 0;
        for (size_t k = 0; k < s->rows.n; k++)
            for (size_t j = 0; part[i].data->taken[k] && j < count[k]; j++)
                number[at++] = before[k] + j;
        part[i].number = number;
    }
}

/* What was examined is what would be read again: data has no part in it. */
static bool is_read(const course *s)
{
    static const char *const kinds[] = {".pt2", ".tosa", ".vgf", ".pte", ".ir"};
    bool known = false;
    for (size_t i = 0; i < TC_COUNT(kinds); i++)
        known = known || ti_text_ends(s->path, kinds[i]);
    return known && s->look && !s->o.dequantize;
}

static tc_status one_size(const course *s, const tc_sized_model **out, size_t *n)
{
    tc_model *model = s->look;
    if (!is_read(s))
        TC_TRY(tc_model_open(s->ctx, s->path, &s->o, &model));
    else if (!s->o.unchecked)
        TC_TRY(ti_verify(s->ctx, model->module));
    tc_sized_model *part = tc_new(&s->ctx->arena, tc_sized_model);
    *part = (tc_sized_model){.size = sizeof *part, .model = model, .data = s->data};
    *out = part;
    *n = 1;
    return TC_OK;
}

static tc_status open_sizes(tc_ctx *ctx, const char *path, const tc_model_options *options,
                            tc_dataset *data, const tc_sized_model **out, size_t *n)
{
    course s = {.ctx = ctx, .path = path, .o = TC_TAKE(tc_model_options, options), .data = data};
    if (!ti_dataset_files(data))
        return one_size(&s, out, n);
    tc_hold hold = ti_hold_begin(ctx);
    if (look(&s) != TC_OK)
        s.look = NULL;
    bool open = s.look && is_open(&s);
    if (!open && is_read(&s))
        ti_hold_keep(ctx, hold);
    else
        ti_hold_drop(ctx, hold);
    if (!open)
        return one_size(&s, out, n);
    const tc_graph *g = ti_main(s.look->module);
    TC_TRY(ti_data_rows(ctx, g, data->path, data->n_path, &s.rows));
    s.left = tc_new_n(&ctx->arena, bool, s.rows.n);
    for (size_t r = 0; r < s.rows.n; r++)
        s.left[r] = !data->taken || data->taken[r];
    tc_sized_model *part = tc_new_n(&ctx->arena, tc_sized_model, s.rows.n + 1);
    size_t *count = tc_new_n(&ctx->arena, size_t, s.rows.n);
    *n = 0;
    for (size_t r = 0; r < s.rows.n; r++) {
        tc_model *model;
        if (!s.left[r])
            continue;
        TC_TRY(at_row(&s, r, &model));
        part[(*n)++] = take_rows(&s, r, model, &count);
    }
    if (*n > 1)
        number_samples(&s, count, part, *n);
    *out = part;
    return TC_OK;
}

tc_status tc_model_open_sizes(tc_ctx *ctx, const char *path, const tc_model_options *options,
                              tc_dataset *data, const tc_sized_model **out, size_t *n)
{
    TC_ENTER(ctx, open_sizes(ctx, path, options, data, out, n));
}
