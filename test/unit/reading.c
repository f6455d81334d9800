/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c -- who reads a value: its life, its only reader, its tail of RESCALE, CLAMP and TABLE. */
#include "check.h"

#include "ir/ir_text.h"
#include "ir/lives.h"
#include "ir/rewrite.h"
#include "ir/tail.h"

static const tc_graph *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    CHECK(ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) == TC_OK);
    return ti_main(module);
}

/* ---- lives ---- */

static const char stateful[] = "graph @main(%0: f32[2], %1: f32[2]) {\n"
                               "  %2 = const [3, 4] : f32[2]\n"
                               "  %3 = reshape %0 shape=[1,2] : f32[1,2]\n"
                               "  %4 = add %2, %1 alpha=1 : f32[2]\n"
                               "  %5 = neg %3 : f32[1,2]\n"
                               "  %6 = neg %1 : f32[2]\n"
                               "  mutate %2 -> %4\n"
                               "  return %5\n"
                               "}\n";

static bool is_view(const tc_node *node)
{
    return node && node->op == TC_OP_reshape;
}

static tc_val root_of(const tc_graph *g, tc_val v)
{
    while (is_view(ti_def(g, v)))
        v = ti_def(g, v)->in[0];
    return v;
}

static bool lives(const tc_life *life, tc_val v, int32_t first, int32_t last)
{
    return life[v].first == first && life[v].last == last;
}

static void test_lives(tc_ctx *ctx)
{
    const tc_graph *g = parse(ctx, stateful);
    const tc_life *own = ti_graph_lives(&ctx->arena, g, NULL, NULL),
                  *shared = ti_graph_lives(&ctx->arena, g, root_of, is_view);
    tc_val x = g->in[0], y = g->in[1], view = g->node[1]->out[0], sum = g->node[2]->out[0],
           result = g->node[3]->out[0], unread = g->node[4]->out[0];
    CHECK(lives(own, x, 0, 1) && lives(shared, x, 0, 3)); /* what reads the view reads it */
    CHECK(lives(own, view, 1, 3) && !ti_is_used(shared[view]));
    CHECK(lives(own, y, 0, 4));
    CHECK(lives(own, g->mutation[0].before, 0, 5)); /* state is there all the time */
    CHECK(lives(own, sum, 2, 5));
    CHECK(lives(own, result, 3, 5));
    CHECK(lives(own, unread, 4, 4));
}

/* ---- tails ---- */

static const char product[] =
    "graph @main(%0: i8[1,2,2,4], %1: i8[2,2,2]) {\n"
    "  %2 = const [0] : i8[1]\n"
    "  %3 = tosa.matmul %1, %1, %2, %2 : i32[2,2,2]\n"
    "  %4 = const [4, 2] : shape[2]\n"
    "  %5 = tosa.reshape %3, %4 : i32[4,2]\n"
    "  %6 = const [1073741824] : i32[1]\n"
    "  %7 = const [31] : i8[1]\n"
    "  %8 = const [0] : i32[1]\n"
    "  %9 = tosa.rescale %5, %6, %7, %8, %2 scale32=true rounding_mode=single per_channel=false "
    "input_unsigned=false output_unsigned=false : i8[4,2]\n"
    "  %10 = tosa.clamp %9 min_val=-5 max_val=5 nan_mode=propagate : i8[4,2]\n"
    "  %11 = tosa.clamp %10 min_val=-4 max_val=4 nan_mode=propagate : i8[4,2]\n"
    "  %12 = tosa.maximum %11, %10 nan_mode=propagate : i8[4,2]\n"
    "  return %12\n"
    "}\n";

static void test_tail(tc_ctx *ctx)
{
    const tc_graph *g = parse(ctx, product);
    const tc_node **only = ti_only_readers(&ctx->arena, g), *sum = NULL, *view = NULL;
    for (size_t k = 0; k < g->n_node; k++) {
        sum = g->node[k]->op == TC_OP_tosa_matmul ? g->node[k] : sum;
        view = g->node[k]->op == TC_OP_tosa_reshape ? g->node[k] : view;
    }
    const tc_tail through = {g, NULL, only, true}, direct = {g, NULL, only, false};
    const tc_node *rescale = ti_tail_next(&through, sum->out[0]);
    CHECK(only[sum->out[0]] == view && !only[g->in[1]] && !only[g->out[0]]);
    CHECK(!ti_tail_next(&direct, sum->out[0]));
    CHECK(rescale && rescale->op == TC_OP_tosa_rescale);
    CHECK(ti_tail_next(&direct, view->out[0]) == rescale);
    CHECK(!ti_tail_next(&direct, rescale->in[1])); /* a constant is not its first operand */
    const tc_node *clamp = ti_tail_next(&direct, rescale->out[0]);
    CHECK(clamp && clamp->op == TC_OP_tosa_clamp);
    CHECK(!ti_tail_next(&direct, clamp->out[0])); /* two nodes read it */
    const uint32_t *readers = ti_graph_readers(ctx, g);
    CHECK(ti_tail_before(g, readers, clamp, false) == rescale);
    CHECK(ti_tail_before(g, readers, rescale, false) == view);
    CHECK(ti_tail_before(g, readers, rescale, true) == sum);
    CHECK(!ti_tail_before(g, readers, g->node[g->n_node - 2], false)); /* of what is read twice */
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_lives(ctx);
    test_tail(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
