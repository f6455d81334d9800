/* SPDX-License-Identifier: Apache-2.0 */
/* read_text.c -- the text form, with the side file of large constants if there is one. */
#include "../ir/ir_text.h"

#include <unistd.h>

#include "../ir/verify.h"
#include "../wire/file.h"
#include "read.h"

/* Zero points are values of their storage type. */
static tc_status check_zeros(tc_ctx *ctx, const tc_graph *g)
{
    for (tc_val v = 1; v < g->n_val; v++) {
        const tc_value *value = g->val[v];
        const tc_quant *q = value->type ? value->type->quant : NULL;
        for (int32_t c = 0; q && c < q->count; c++)
            if (q->zero[c] < ti_dtype_min(value->type->dtype) ||
                q->zero[c] > ti_dtype_max(value->type->dtype))
                return ti_error(ctx,
                                value->def ? value->def->loc
                                           : &(tc_loc){.file = g->module->file},
                                TC_E_TYPE, "the zero point %" PRId64 " cannot be represented as %s",
                                q->zero[c], tc_dtypes[value->type->dtype].name);
    }
    return TC_OK;
}

tc_status ti_read_text_with(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_bytes side,
                            tc_module **out)
{
    tc_module *module;
    TC_TRY(ti_parse(ctx, file, bytes, side, &module));
    TC_TRY(ti_read_sizes(module));
    TC_TRY(ti_infer_missing(ctx, module));
    for (size_t i = 0; i < module->n_graph; i++) {
        module->graph[i]->facts = TC_FACT_TYPED;
        TC_TRY(check_zeros(ctx, module->graph[i]));
    }
    TC_TRY(ti_verify(ctx, module));
    *out = module;
    return TC_OK;
}

tc_status ti_read_text(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    bool piped = ti_text_eq(file, "-");
    const char *beside = ti_text_format(&ctx->arena, "%s.bin", file);
    tc_bytes side = {NULL, 0};
    if (!piped && access(beside, F_OK) == 0)
        TC_TRY(ti_file_read(ctx, beside, &side));
    return ti_read_text_with(ctx, piped ? "<stdin>" : file, bytes, side, out);
}
