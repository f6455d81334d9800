/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c -- replays corpora through a fuzz target with any compiler.
 *
 *   fuzz-NAME FILE-OR-FOLDER... */
#include "fuzz.h"

#include "wire/file.h"

#include <stdio.h>

static size_t replayed;

static tc_status replay(tc_ctx *ctx, const char *path)
{
    tc_bytes bytes;
    const char **name;
    size_t n;
    if (!ti_is_folder(path)) {
        TC_TRY(ti_file_read(ctx, path, &bytes));
        LLVMFuzzerTestOneInput(bytes.data, bytes.size);
        replayed++;
        return TC_OK;
    }
    TC_TRY(ti_folder_list(ctx, path, &name, &n));
    for (size_t i = 0; i < n; i++)
        TC_TRY(replay(ctx, ti_text_format(&ctx->arena, "%s/%s", path, name[i])));
    return TC_OK;
}

int main(int argc, char **argv)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_status status = TC_OK;
    for (int i = 1; i < argc && !status; i++)
        status = replay(ctx, argv[i]);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    printf("%zu passed, %d failed\n", replayed, status != TC_OK);
    return (int)status;
}
