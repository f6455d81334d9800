/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.c -- tokenizers of every kind on texts in many scripts, beside what Hugging Face's
 * package gave (tools/peer/tokenizer_cases.py): every token, and the text that they go back to. */
#include "tosac/tosac.h"

#include <string.h>

#include "check.h"
#include "wire/file.h"
#include "wire/json.h"

static bool same_tokens(tc_ctx *ctx, const tc_tokenizer *t, const tc_json *row, int64_t *want,
                        size_t *n_want)
{
    tc_str text = ti_json_text(&ctx->arena, ti_json_get(row, "text"));
    const int64_t *got;
    size_t n = 0, k = 0;
    for (const tc_json *id = ti_json_first(ti_json_get(row, "ids")); id; id = id->next)
        ti_json_i64(id, &want[k++]);
    *n_want = k;
    tc_bytes bytes = {(const uint8_t *)text.p, text.n};
    return tc_tokenizer_encode(ctx, t, bytes, 1, &got, &n) == TC_OK && n == k &&
           (!n || memcmp(got, want, n * sizeof *got) == 0);
}

/* Bytes that are no character yet stay bytes here, and are a replacement character there. */
static bool same_text(tc_ctx *ctx, const tc_tokenizer *t, const tc_json *row, const int64_t *id,
                      size_t n)
{
    tc_str want = ti_json_text(&ctx->arena, ti_json_get(row, "decoded"));
    tc_bytes got;
    return tc_tokenizer_decode(ctx, t, id, n, 0, &got) == TC_OK &&
           got.size == want.n && (!want.n || memcmp(got.data, want.p, want.n) == 0);
}

static void compare(const char *path)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_tokenizer *t;
    tc_bytes file;
    const char *reason;
    size_t at, rows = 0;
    bool good = tc_tokenizer_open(ctx, path, &t) == TC_OK;
    good = good && ti_file_read(ctx, path, &file) == TC_OK;
    const tc_json *root = good ? ti_json_parse(&ctx->arena, file, &reason, &at) : NULL;
    for (const tc_json *row = ti_json_first(ti_json_get(root, "cases")); row;
         row = row->next, rows++) {
        int64_t id[512];
        size_t n;
        bool tokens = same_tokens(ctx, t, row, id, &n), back = same_text(ctx, t, row, id, n);
        if (!tokens || !back)
            fprintf(stderr, "%s: text %zu: other %s; %s\n", path, rows, tokens ? "text" : "tokens",
                    tc_diagnostics(ctx));
        good = good && tokens && back;
    }
    if (!good)
        fprintf(stderr, "%s: %s\n", path, tc_diagnostics(ctx));
    CHECK(good && rows > 20);
    tc_ctx_free(ctx);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const char **name;
    size_t n = 0;
    CHECK(ti_folder_list(ctx, TOSAC_FIXTURES "/tokenizer", &name, &n) == TC_OK && n >= 18);
    for (size_t i = 0; i < n; i++)
        compare(ti_text_format(&ctx->arena, TOSAC_FIXTURES "/tokenizer/%s", name[i]));
    tc_ctx_free(ctx);
    return check_done();
}
