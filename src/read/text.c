/* SPDX-License-Identifier: Apache-2.0 */
/* text.c -- the text form, with the file of large constants beside it when there is one. */
#include "../ir/text.h"

#include <unistd.h>

#include "../ir/verify.h"
#include "../wire/file.h"
#include "read.h"

tc_status tc_read_text_with(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_bytes side,
                            tc_module **out)
{
    tc_module *module;
    TC_TRY(tc_parse(ctx, file, bytes, side, &module));
    TC_TRY(tc_infer_missing(ctx, module));
    for (size_t i = 0; i < module->n_graph; i++)
        module->graph[i]->facts = TC_FACT_TYPED;
    TC_TRY(tc_verify(ctx, module));
    *out = module;
    return TC_OK;
}

tc_status tc_read_text(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    bool piped = tc_text_eq(file, "-");
    const char *beside = tc_text_format(&ctx->arena, "%s.bin", file);
    tc_bytes side = {NULL, 0};
    if (!piped && access(beside, F_OK) == 0)
        TC_TRY(tc_file_read(ctx, beside, &side));
    return tc_read_text_with(ctx, piped ? "<stdin>" : file, bytes, side, out);
}
