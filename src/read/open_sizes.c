/* SPDX-License-Identifier: Apache-2.0 */
/* open_sizes.c -- TOSA programs that leave sizes open: inputs get theirs from the caller, and the
 * others follow. */
#include "../ir/settle.h"
#include "read.h"
#include "read_options.h"

/* The array for input k: the file of that index, or the member of one archive of that name or
 * index. */
static tc_status array_for(tc_module *module, size_t k, tc_npy **out)
{
    const tc_graph *g = ti_main(module);
    const tc_read_options *o = ti_reading(module->ctx);
    const char *name = ti_value_of(g, g->in[k])->name;
    tc_npy *array;
    size_t n;
    TC_TRY(ti_sample_given_for(module->ctx, k, g->n_in, out));
    if (*out || !o->n_sample || !ti_text_ends(o->sample[0], ".npz"))
        return TC_OK;
    TC_TRY(ti_npy_open(module->ctx, o->sample[0], &array, &n));
    for (size_t i = 0; i < n && name && !*out; i++)
        if (array[i].name && ti_text_eq(array[i].name, name))
            *out = &array[i];
    if (!*out && n == g->n_in)
        *out = &array[k];
    return TC_OK;
}

/* The sizes of one sample: arrays may hold several, along an extra axis or along a first axis of
 * known size in the program. */
static const int64_t *sample_dims(tc_ctx *ctx, const tc_npy *array, const tc_type *t)
{
    if (array->rank != t->rank && array->rank != t->rank + 1)
        return array->dim;
    int64_t *dim = tc_new_n(&ctx->arena, int64_t, TC_MAX_RANK + 1);
    memcpy(dim, array->dim + (array->rank - t->rank), (size_t)t->rank * sizeof *dim);
    if (array->rank == t->rank && t->rank && t->dim[0] != TC_OPEN && dim[0] % t->dim[0] == 0)
        dim[0] = t->dim[0];
    return dim;
}

/* What is said of input k: by --shape, or by the data that it will get. */
static tc_status said(tc_module *module, size_t k, int32_t *rank, const int64_t **dim)
{
    const tc_graph *g = ti_main(module);
    const tc_type *t = ti_type_of(g, g->in[k]);
    tc_shape_given *given = ti_shape_given_for(module->ctx, ti_value_of(g, g->in[k])->name);
    tc_npy *sample = NULL;
    if (!given)
        TC_TRY(array_for(module, k, &sample));
    if (given)
        given->used = true;
    *rank = given ? given->rank : sample ? (int32_t)sample->rank : 0;
    *dim = given ? given->dim : sample ? sample_dims(module->ctx, sample, t) : NULL;
    if (!given && *rank == t->rank + 1)
        *rank = t->rank;
    return TC_OK;
}

/* The input's type with these dimensions. */
static tc_status settle_input(tc_module *module, size_t k, int32_t rank, const int64_t *dim)
{
    tc_ctx *ctx = module->ctx;
    tc_graph *g = ti_main(module);
    tc_value *value = ti_value_of(g, g->in[k]);
    tc_type type = *value->type;
    bool fits = rank == type.rank;
    for (int i = 0; fits && i < rank; i++) {
        fits = type.dim[i] == dim[i] || (type.dim[i] == TC_OPEN && dim[i] > 0);
        type.dim[i] = dim[i];
    }
    if (!fits || ti_dims_count(type.rank, type.dim) < 0)
        return ti_error(ctx, &(tc_loc){.file = module->file, .node = value->name}, TC_E_MISMATCH,
                        "input '%s' is %s, and %d sizes that do not fit are given",
                        value->name ? value->name : "", ti_type_text(&ctx->arena, value->type),
                        rank);
    value->type = ti_type_intern(ctx, &type);
    return TC_OK;
}

static tc_status still_open(tc_module *module, size_t k)
{
    const tc_graph *g = ti_main(module);
    const tc_value *value = ti_value_of(g, g->in[k]);
    const tc_loc loc = {.file = module->file, .node = value->name};
    const char *name = value->name ? value->name : ti_text_format(&module->ctx->arena, "%zu", k);
    tc_status status =
        ti_error(module->ctx, &loc, TC_E_DYNAMIC, "input '%s' leaves sizes open: %s", name,
                 ti_type_text(&module->ctx->arena, value->type));
    ti_note(module->ctx, &loc, "--shape %s=SIZE,SIZE,... settles them", name);
    return status;
}

tc_status ti_read_sizes(tc_module *module)
{
    if (!ti_module_open(module))
        return TC_OK;
    const tc_graph *g = ti_main(module);
    for (size_t k = 0; k < g->n_in; k++) {
        if (!ti_type_open(ti_type_of(g, g->in[k])))
            continue;
        int32_t rank;
        const int64_t *dim;
        TC_TRY(said(module, k, &rank, &dim));
        if (!dim)
            return ti_reading(module->ctx)->keep_open ? TC_OK : still_open(module, k);
        TC_TRY(settle_input(module, k, rank, dim));
    }
    return ti_settle(module);
}
