/* SPDX-License-Identifier: Apache-2.0 */
/* text.c -- the text form and the file of large constants beside it. */
#include "../ir/text.h"

#include "../wire/file.h"
#include "emit.h"

static tc_status write_side(tc_ctx *ctx, const tc_side *side, const char *path)
{
    tc_file *file;
    TC_TRY(tc_file_create(ctx, tc_text_format(&ctx->arena, "%s.bin", path), &file));
    for (size_t i = 0; i < side->n_part; i++)
        TC_TRY(tc_file_append(file, side->part[i].data, side->part[i].size));
    return tc_file_commit(file);
}

tc_status tc_write_text(tc_ctx *ctx, const tc_module *module, const char *path)
{
    tc_side side;
    tc_buf text;
    tc_side_init(&side, &ctx->arena);
    tc_buf_init(&text, &ctx->arena);
    tc_print(module, &(tc_print_options){.locs = true, .side = &side}, &text);
    if (side.n_part)
        TC_TRY(write_side(ctx, &side, path));
    return tc_file_write(ctx, path, (tc_bytes){text.data, text.size});
}
