/* SPDX-License-Identifier: Apache-2.0 */
/* data_sizes.c -- the sizes that calibration data has, where a model leaves them open. */
#include "many_sizes.h"

#include "../read/read.h"

/* Axis `axis` of an input is times * SIZE + plus. */
typedef struct seen {
    size_t input;
    int axis;
    int64_t times, plus;
} seen;

/* The first axis that grows with size k: from the file, or by comparison with another size. */
static tc_status find_axis(tc_ctx *ctx, const tc_module *module, size_t k, seen *out, bool *found)
{
    const tc_graph *g = ti_main(module);
    const tc_open_size *size = &module->open.size[k];
    *found = false;
    for (size_t i = 0; i < g->n_in && size->input; i++) {
        const char *name = ti_value_of(g, g->in[i])->name;
        if (!name || !ti_text_eq(name, size->input))
            continue;
        *out = (seen){i, size->axis, 1, 0};
        *found = true;
        return TC_OK;
    }
    int64_t *value = tc_new_n(&ctx->arena, int64_t, module->open.n);
    tc_module *other;
    for (size_t i = 0; i < module->open.n; i++)
        value[i] = module->open.size[i].value;
    int64_t step = value[k] < size->hi ? 1 : -1;
    value[k] += step;
    if (value[k] < size->lo)
        return TC_OK;
    TC_TRY(ti_read_at(ctx, module, value, &other));
    const tc_graph *h = ti_main(other);
    for (size_t i = 0; i < g->n_in && i < h->n_in && !*found; i++) {
        const tc_type *t = ti_type_of(g, g->in[i]), *u = ti_type_of(h, h->in[i]);
        for (int axis = 0; axis < t->rank && t->rank == u->rank && !*found; axis++) {
            int64_t times = (u->dim[axis] - t->dim[axis]) * step;
            *out = (seen){i, axis, times, t->dim[axis] - times * size->value};
            *found = times > 0;
        }
    }
    return TC_OK;
}

/* An array holds one sample, several along an axis of their own, or several along the first axis;
 * whole: the first axis is a batch where it may be as long as that.  false: it is out of bounds. */
static bool take(const tc_npy *a, const tc_type *t, const tc_open_size *size, const seen *at,
                 bool whole, int64_t *value)
{
    int more = (int)a->rank - t->rank;
    if (more < 0 || more > 1)
        return true; /* its reader reports it */
    int64_t found = a->dim[at->axis + more];
    if (whole && (found - at->plus) / at->times > size->hi)
        whole = false;
    if (!more && at->axis == 0 &&
        !whole) /* a batch, or samples: the model's own where that divides it */
        found = found % t->dim[0] == 0 ? t->dim[0] : size->lo <= 1 ? at->times + at->plus : found;
    if ((found - at->plus) % at->times)
        return true;
    *value = (found - at->plus) / at->times;
    return *value >= size->lo && *value <= size->hi;
}

/* The sizes that a row of the data has; others stay as they are.  Returns the first that is out of
 * bounds; NULL: none is. */
static const tc_open_size *sizes_of_row(const tc_module *module, const seen *at, const bool *found,
                                        tc_npy *const *array, bool whole, int64_t *value)
{
    const tc_graph *g = ti_main(module);
    const tc_open_size *out = NULL;
    for (size_t k = 0; k < module->open.n; k++)
        if (found[k] && array[at[k].input] &&
            !take(array[at[k].input], ti_type_of(g, g->in[at[k].input]), &module->open.size[k], &at[k],
                  whole, &value[k]))
            out = out ? out : &module->open.size[k];
    return out;
}

static const char *bounds_text(tc_ctx *ctx, const tc_open_size *size)
{
    return size->hi > INT32_MAX
               ? ti_text_format(&ctx->arena, "%" PRId64 " or more", size->lo)
               : ti_text_format(&ctx->arena, "%" PRId64 " to %" PRId64, size->lo, size->hi);
}

static tc_sized_data *part_of(tc_sized_data *part, size_t *n, size_t n_size, const int64_t *value)
{
    size_t i = 0;
    while (i < *n && memcmp(part[i].value, value, n_size * sizeof *value))
        i++;
    *n += i == *n;
    return &part[i];
}

tc_status ti_row_sizes(tc_ctx *ctx, const tc_module *module, tc_npy *const *array, int64_t *value)
{
    seen *at = tc_new_n(&ctx->arena, seen, module->open.n);
    bool *found = tc_new_n(&ctx->arena, bool, module->open.n);
    for (size_t k = 0; k < module->open.n; k++) {
        value[k] = module->open.size[k].value;
        TC_TRY(find_axis(ctx, module, k, &at[k], &found[k]));
    }
    const tc_open_size *out = sizes_of_row(module, at, found, array, true, value);
    return out ? ti_error(ctx, array[0]->loc, TC_E_DATA, "%s is %" PRId64 ", the model takes %s",
                          out->word, value[out - module->open.size], bounds_text(ctx, out))
               : TC_OK;
}

tc_status ti_split_by_size(tc_ctx *ctx, const tc_module *module, tc_dataset *data,
                           tc_sized_data **out, size_t *n)
{
    tc_arena *arena = &ctx->arena;
    const tc_graph *g = ti_main(module);
    size_t n_size = module->open.n;
    int64_t *own = tc_new_n(arena, int64_t, n_size);
    tc_data_rows rows = {0};
    for (size_t k = 0; k < n_size; k++)
        own[k] = module->open.size[k].value;
    if (data && ti_dataset_files(data))
        TC_TRY(ti_data_rows(ctx, g, data->path, data->n_path, &rows));
    tc_sized_data *part = *out = tc_new_n(arena, tc_sized_data, rows.n + 1);
    *n = 0;
    if (!rows.n) {
        part[(*n)++] = (tc_sized_data){.value = own, .data = data};
        return TC_OK;
    }
    seen *at = tc_new_n(arena, seen, n_size);
    bool *found = tc_new_n(arena, bool, n_size);
    const tc_open_size *bound = NULL;
    size_t left_out = 0;
    for (size_t k = 0; k < n_size; k++)
        TC_TRY(find_axis(ctx, module, k, &at[k], &found[k]));
    for (size_t r = 0; r < rows.n; r++) {
        if (data->taken && !data->taken[r])
            continue;
        int64_t *value = ti_arena_copy(arena, own, n_size * sizeof *own);
        const tc_open_size *beyond =
            sizes_of_row(module, at, found, rows.array + r * rows.n_in, false, value);
        if (beyond) {
            bound = beyond;
            left_out++;
            continue;
        }
        tc_sized_data *p = part_of(part, n, n_size, value);
        if (!p->value) {
            p->value = value;
            p->data = ti_arena_copy(arena, data, sizeof *data);
            p->data->taken = p->taken = tc_new_n(arena, bool, rows.n);
        }
        p->taken[r] = true;
        p->n_row++;
    }
    if (!*n)
        return ti_error(ctx, &(tc_loc){.file = data->path[0]}, TC_E_DATA,
                        "all samples are out of bounds: %s is %s", bound->word,
                        bounds_text(ctx, bound));
    if (left_out)
        ti_warning(ctx, &(tc_loc){.file = data->path[0]}, TC_E_DATA,
                   "%zu of %zu arrays are left out: %s is %s here", left_out, rows.n, bound->word,
                   bounds_text(ctx, bound));
    return TC_OK;
}

const char *ti_sizes_text(tc_ctx *ctx, const tc_module *module, const int64_t *value)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    for (size_t i = 0; i < module->open.n; i++)
        ti_buf_printf(&b, "%s%s=%" PRId64, i ? ", " : "", module->open.size[i].word, value[i]);
    return ti_buf_cstr(&b);
}

tc_status ti_observe_sizes(tc_ctx *ctx, const tc_module *module, const tc_sized_data *part,
                           size_t n, tc_compile_request *request)
{
    tc_quant_size *size = tc_new_n(&ctx->arena, tc_quant_size, n);
    request->sizes.calib = size;
    request->sizes.n_calib = 0;
    if (n && request->data.labels)
        return ti_usage(ctx, "labels are for samples of one size; the calibration data has %zu",
                        n + 1);
    for (size_t i = 0; i < n; i++) {
        tc_compile_request r = *request;
        r.data.calib = part[i].data;
        const char *text = ti_sizes_text(ctx, module, part[i].value);
        const tc_module *ready = ti_ready_at(ctx, &r, module, part[i].value);
        if (!ready) {
            ti_warning(ctx, NULL, TC_E_DATA,
                       "calibration samples of %s are left out: the model does not compile there",
                       text);
            continue;
        }
        tc_quant_size *new = &size[request->sizes.n_calib++];
        *new = (tc_quant_size){.module = ready, .text = text};
        TC_TRY(ti_open_dataset(ctx, part[i].data, ti_main(ready), &new->samples));
    }
    return TC_OK;
}
