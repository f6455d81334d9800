/* SPDX-License-Identifier: Apache-2.0 */
/* emit_text.c -- the text form and the side file of large constants. */
#include "../ir/ir_text.h"

#include "../wire/file.h"
#include "emit.h"

/* Both files are complete before either gets its name, and the text identifies its side file.
 */
static tc_status write_both(tc_ctx *ctx, const tc_side *side, const tc_buf *text, const char *path)
{
    tc_file *bin, *file;
    uint64_t hash = TC_SIDE_HASH;
    TC_TRY(ti_file_create(ctx, ti_text_format(&ctx->arena, "%s.bin", path), &bin));
    for (size_t i = 0; i < side->n_part; i++) {
        hash = ti_side_hash(hash, side->part[i]);
        TC_TRY(ti_file_append(bin, side->part[i].data, side->part[i].size));
    }
    const char *head = ti_text_format(&ctx->arena, "bin \"%s\"\n",
                                      ti_side_word(&ctx->arena, side->size, hash));
    TC_TRY(ti_file_create(ctx, path, &file));
    TC_TRY(ti_file_append(file, head, strlen(head)));
    TC_TRY(ti_file_append(file, text->data, text->size));
    TC_TRY(ti_file_commit(bin));
    return ti_file_commit(file);
}

tc_status ti_write_text(tc_ctx *ctx, const tc_module *module, const char *made_by, const char *path)
{
    tc_side side;
    tc_buf text;
    ti_side_init(&side, &ctx->arena);
    ti_buf_init(&text, &ctx->arena);
    ti_buf_printf(&text, "made_by \"%s\"\n", made_by);
    ti_print(module, &(tc_print_options){.locs = true, .side = &side}, &text);
    if (side.n_part)
        return write_both(ctx, &side, &text, path);
    return ti_file_write(ctx, path, (tc_bytes){text.data, text.size});
}
