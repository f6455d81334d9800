/* SPDX-License-Identifier: Apache-2.0 */
/* other_sizes.c -- a model that leaves sizes open, read again with others. */
#include "read.h"

tc_status ti_read_at(tc_ctx *ctx, const tc_module *of, const int64_t *value, tc_module **out)
{
    tc_read_options *o = ti_reading(ctx);
    const tc_read_options kept = *o;
    tc_dim_given *dim = tc_new_n(&ctx->arena, tc_dim_given, kept.n_dim + of->open.n);
    size_t n = 0;
    for (size_t i = 0; i < of->open.n; i++)
        dim[n++] = (tc_dim_given){.name = of->open.size[i].name, .value = value[i]};
    for (size_t i = 0; i < kept.n_dim; i++) /* what was settled before stays; but not by order */
        if (!ti_dim_open(&kept.dim[i]) && kept.dim[i].symbol)
            dim[n++] = (tc_dim_given){.name = kept.dim[i].symbol, .value = kept.dim[i].value};
    o->dim = dim;
    o->n_dim = o->cap_dim = n;
    o->open_dims = false;
    tc_status status = ti_read_bytes(ctx, of->file, of->open.image, (tc_bytes){NULL, 0}, out);
    o->dim = kept.dim;
    o->n_dim = kept.n_dim;
    o->cap_dim = kept.cap_dim;
    o->open_dims = kept.open_dims;
    return status;
}
