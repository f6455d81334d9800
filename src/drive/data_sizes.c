/* SPDX-License-Identifier: Apache-2.0 */
/* data_sizes.c -- the sizes that calibration data has, where a model leaves them open. */
#include "many_sizes.h"

#include "../read/read.h"
#include "../wire/npy.h"
#include "model.h"

/* The array for an input: by its name, else by its place. */
static const tc_npy *array_of(const tc_graph *g, const tc_npy *array, size_t n, size_t input)
{
    const char *name = ti_input_name(g, input);
    for (size_t i = 0; i < n && name; i++)
        if (array[i].name && ti_text_eq(array[i].name, name))
            return &array[i];
    return input < n && n == g->n_in ? &array[input] : NULL;
}

/* Axis `axis` of an input is times * SIZE + plus. */
typedef struct seen {
    size_t input;
    int axis;
    int64_t times, plus;
} seen;

/* The first axis that grows with size k: what the file says, or what another size shows. */
static tc_status find_axis(tc_ctx *ctx, const tc_module *module, size_t k, seen *out, bool *found)
{
    const tc_graph *g = ti_main(module);
    const tc_open_size *size = &module->size[k];
    *found = false;
    for (size_t i = 0; i < g->n_in && size->input; i++) {
        const char *name = ti_value_of(g, g->in[i])->name;
        if (!name || !ti_text_eq(name, size->input))
            continue;
        *out = (seen){i, size->axis, 1, 0};
        *found = true;
        return TC_OK;
    }
    int64_t *value = tc_new_n(&ctx->arena, int64_t, module->n_size);
    tc_module *other;
    for (size_t i = 0; i < module->n_size; i++)
        value[i] = module->size[i].value;
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

/* An array holds one sample, several along an axis of their own, or several along the first axis. */
static void take(const tc_npy *a, const tc_type *t, const tc_open_size *size, const seen *at,
                 int64_t *value)
{
    int more = (int)a->rank - t->rank;
    if (more < 0 || more > 1)
        return;
    int64_t found = a->dim[at->axis + more];
    if (!more && at->axis == 0) /* a batch, or samples: the model's own where that divides it */
        found = found % t->dim[0] == 0 ? t->dim[0] : size->lo <= 1 ? at->times + at->plus : found;
    if ((found - at->plus) % at->times)
        return;
    found = (found - at->plus) / at->times;
    if (found >= size->lo && found <= size->hi)
        *value = found;
}

tc_status ti_sizes_of_data(tc_ctx *ctx, const tc_module *module, const tc_dataset *data,
                           int64_t *value)
{
    const tc_graph *g = ti_main(module);
    if (!data || !data->n_path || data->rules || ti_dataset_invented(data) ||
        !(ti_text_ends(data->path[0], ".npz") || ti_text_ends(data->path[0], ".npy")))
        return TC_OK;
    tc_npy *array;
    size_t n;
    TC_TRY(ti_npy_open(ctx, data->path[0], &array, &n));
    for (size_t k = 0; k < module->n_size; k++) {
        seen at;
        bool found;
        TC_TRY(find_axis(ctx, module, k, &at, &found));
        const tc_npy *a = found ? array_of(g, array, n, at.input) : NULL;
        if (a)
            take(a, ti_type_of(g, g->in[at.input]), &module->size[k], &at, &value[k]);
    }
    return TC_OK;
}
