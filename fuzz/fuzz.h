/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h -- what every fuzz target is: any bytes in, an answer or a message out, and memory given
 * back. */
#ifndef TC_FUZZ_H
#define TC_FUZZ_H

#include "base/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs `body` in a context of its own that may use at most `limit` bytes: running out is an
 * answer. */
static inline void fuzz_in_context(void (*body)(tc_ctx *, tc_bytes), tc_bytes bytes, size_t limit)
{
    tc_ctx *ctx = tc_ctx_new();
    if (setjmp(ctx->oom) == 0) {
        ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
        ctx->arena.limit = ctx->scratch.limit = limit;
        body(ctx, bytes);
    }
    tc_ctx_free(ctx);
}

#endif
