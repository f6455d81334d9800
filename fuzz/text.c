/* SPDX-License-Identifier: Apache-2.0 */
/* text.c -- text graphs: parse; what parses prints and parses again to the same; what verifies is
 * tidied and verifies again. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/pass.h"
#include "ir/text.h"

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz-text: %s\n", what);
        abort();
    }
}

static void round_trip(tc_ctx *ctx, const tc_module *module)
{
    tc_buf text, again;
    tc_buf_init(&text, &ctx->arena);
    tc_buf_init(&again, &ctx->arena);
    tc_print(module, &(tc_print_options){.locs = true}, &text);
    tc_module *back;
    must(tc_parse(ctx, "again", (tc_bytes){text.data, text.size}, (tc_bytes){0}, &back) == TC_OK,
         "what was printed does not parse");
    tc_print(back, &(tc_print_options){.locs = true}, &again);
    must(text.size == again.size && memcmp(text.data, again.data, text.size) == 0,
         "what was parsed prints differently");
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    static const uint8_t side[4096] = {1, 0, 1};
    tc_module *module;
    if (tc_parse(ctx, "fuzz", bytes, (tc_bytes){side, sizeof side}, &module) != TC_OK)
        return;
    round_trip(ctx, module);
    if (tc_infer_missing(ctx, module) != TC_OK || tc_verify(ctx, module) != TC_OK)
        return;
    tc_status status = tc_run_passes(ctx, module, "tidy", NULL);
    must(status != TC_BUG, tc_diagnostics(ctx));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, 64u << 20);
    return 0;
}
