/* SPDX-License-Identifier: Apache-2.0 */
/* door_tokens.c -- texts as tokens. */
#include "../base/enter.h"
#include "../text/token.h"

tc_status tc_tokenizer_open(tc_ctx *ctx, const char *path, tc_tokenizer **out)
{
    TC_ENTER(ctx, ti_tokens_open(ctx, path, out));
}

tc_status tc_tokenizer_encode(tc_ctx *ctx, const tc_tokenizer *tokenizer, tc_bytes text,
                              bool special, const int64_t **out, size_t *n)
{
    TC_ENTER(ctx, ti_tokens_encode(ctx, tokenizer, text, special != 0, out, n));
}

tc_status tc_tokenizer_decode(tc_ctx *ctx, const tc_tokenizer *tokenizer, const int64_t *token,
                              size_t n, bool continues, tc_bytes *out)
{
    TC_ENTER(ctx, ti_tokens_decode(ctx, tokenizer, token, n, continues != 0, out));
}
