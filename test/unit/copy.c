/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c -- a module and its copy: what passes do to one, the other does not see. */
#include "check.h"

#include "drive/passes.h"
#include "ir/ir_text.h"

/* Nodes that nobody reads stand in front, so that every value gets another number in a pass. */
static const char stateful[] = "graph @main(%0: f32[2]) {\n"
                               "  %1 = neg %0 : f32[2]\n"
                               "  %2 = neg %1 : f32[2]\n"
                               "  %3 = const [3, 4] : f32[2]\n"
                               "  %4 = add %3, %0 alpha=1 : f32[2]\n"
                               "  mutate %3 -> %4\n"
                               "  return %4\n"
                               "}\n";

static tc_module *parse(tc_ctx *ctx)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)stateful, sizeof stateful - 1};
    CHECK(ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) == TC_OK);
    return module;
}

static const char *text_of(tc_ctx *ctx, const tc_module *module)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_print(module, &(tc_print_options){0}, &out);
    return ti_buf_cstr(&out);
}

/* Which of the two is passed over makes no difference. */
static void test_passes(bool over_copy)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parse(ctx), *copy = ti_module_copy(module);
    tc_module *changed = over_copy ? copy : module, *left = over_copy ? module : copy;
    const char *before = text_of(ctx, left);
    CHECK(ti_run_passes(ctx, changed, "remove-dead-code", NULL) == TC_OK);
    CHECK(ti_main(changed)->mutation[0].before != ti_main(left)->mutation[0].before);
    CHECK(ti_text_eq(text_of(ctx, left), before));
    CHECK(!ti_text_eq(text_of(ctx, changed), before));
    CHECK(ti_run_passes(ctx, left, "remove-dead-code", NULL) == TC_OK);
    CHECK(ti_text_eq(text_of(ctx, left), text_of(ctx, changed)));
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
}

/* Both grow; neither writes into the other's lists. */
static void test_growth(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parse(ctx), *copy = ti_module_copy(module);
    tc_graph *g = ti_main(module), *h = ti_main(copy);
    tc_node *ours, *theirs;
    CHECK(ti_graph_emit(g, TC_OP_neg, NULL, &g->in[0], 1, 1, NULL, &ours) == TC_OK);
    CHECK(ti_graph_emit(h, TC_OP_abs, NULL, &h->in[0], 1, 1, NULL, &theirs) == TC_OK);
    CHECK(g->node[g->n_node - 1] == ours && h->node[h->n_node - 1] == theirs);
    CHECK(ti_def(g, ours->out[0]) == ours && ti_def(h, theirs->out[0]) == theirs);
    h->out[0] = theirs->out[0];
    h->mutation[0].after = theirs->out[0];
    CHECK(g->out[0] != h->out[0] && g->mutation[0].after == g->out[0]);
    tc_ctx_free(ctx);
}

int main(void)
{
    test_passes(false);
    test_passes(true);
    test_growth();
    return check_done();
}
