/* SPDX-License-Identifier: Apache-2.0 */
/* text.c -- text graphs: parse; what parses prints and parses again to the same; what verifies is
 * run on zeros where that is little work, then tidied, and verifies again. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "run/eval.h"
#include "drive/passes.h"
#include "ir/ir_text.h"

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
    ti_buf_init(&text, &ctx->arena);
    ti_buf_init(&again, &ctx->arena);
    ti_print(module, &(tc_print_options){.locs = true}, &text);
    tc_module *back;
    must(ti_parse(ctx, "again", (tc_bytes){text.data, text.size}, (tc_bytes){0}, &back) == TC_OK,
         "what was printed does not parse");
    ti_print(back, &(tc_print_options){.locs = true}, &again);
    must(text.size == again.size && memcmp(text.data, again.data, text.size) == 0,
         "what was parsed prints differently");
}

/* Small values, and nothing that may go on for ever. */
static bool runs_quickly(const tc_module *module)
{
    enum { MOST_BYTES = 4096, MOST_NODES = 64 };
    const tc_graph *g = ti_main(module);
    for (size_t i = 1; i < g->n_val; i++)
        if (tc_type_bytes(g->val[i]->type) > MOST_BYTES)
            return false;
    for (size_t k = 0; k < g->n_node; k++)
        if (tc_ops[g->node[k]->op].traits & T_CONTROL)
            return false;
    return g->n_node <= MOST_NODES;
}

/* Any result or message will do. */
static void run_on_zeros(tc_ctx *ctx, tc_module *module)
{
    tc_graph *g = ti_main(module);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        memset(in[i].data, 0, tc_type_bytes(in[i].type));
    }
    tc_status status = ti_eval(g, in, out, &ctx->arena);
    must(status != TC_BUG, tc_diagnostics(ctx));
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    static const uint8_t side[4096] = {1, 0, 1};
    tc_module *module;
    if (ti_parse(ctx, "fuzz", bytes, (tc_bytes){side, sizeof side}, &module) != TC_OK)
        return;
    round_trip(ctx, module);
    if (ti_infer_missing(ctx, module) != TC_OK || ti_verify(ctx, module) != TC_OK)
        return;
    if (runs_quickly(module))
        run_on_zeros(ctx, module);
    tc_status status = ti_run_passes(ctx, module, "tidy", NULL);
    must(status != TC_BUG, tc_diagnostics(ctx));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, 64u << 20);
    return 0;
}
