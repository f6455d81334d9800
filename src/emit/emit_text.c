/* SPDX-License-Identifier: Apache-2.0 */
/* emit_text.c -- the text form and the file of large constants beside it. */
#include "../ir/ir_text.h"

#include "../wire/file.h"
#include "emit.h"

/* Both files are complete before either takes its name, and the text says which constants are its.
 */
static tc_status write_both(tc_ctx *ctx, const tc_side *side, const tc_buf *text, const char *path)
{
    tc_file *bin, *file;
    uint64_t hash = TC_SIDE_HASH;
    TC_TRY(tc_file_create(ctx, tc_text_format(&ctx->arena, "%s.bin", path), &bin));
    for (size_t i = 0; i < side->n_part; i++) {
        hash = tc_side_hash(hash, side->part[i]);
        TC_TRY(tc_file_append(bin, side->part[i].data, side->part[i].size));
    }
    const char *head = tc_text_format(&ctx->arena, "bin \"%s\"\n",
                                      tc_side_word(&ctx->arena, side->size, hash));
    TC_TRY(tc_file_create(ctx, path, &file));
    TC_TRY(tc_file_append(file, head, strlen(head)));
    TC_TRY(tc_file_append(file, text->data, text->size));
    TC_TRY(tc_file_commit(bin));
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
        return write_both(ctx, &side, &text, path);
    return tc_file_write(ctx, path, (tc_bytes){text.data, text.size});
}
