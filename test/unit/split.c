/* SPDX-License-Identifier: Apache-2.0 */
/* split.c -- regions, their borders, wide domains, and the checks between passes. */
#include "check.h"

#include <stdlib.h>

#include "run/eval.h"
#include "drive/passes.h"
#include "ir/ir_text.h"
#include "quant/quantizer.h"
#include "split/split.h"

#include "../../src/drive/checker.h"

static tc_module *parsed(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_verify(ctx, module) != TC_OK) {
        fprintf(stderr, "%s", tc_diagnostics(ctx));
        exit(1);
    }
    return module;
}

/* The accelerator takes everything but sigmoid. */
static bool all_but_sigmoid(void *who, const tc_graph *g, const tc_node *node, const char **why)
{
    (void)who, (void)g;
    *why = node->op == TC_OP_sigmoid ? "no sigmoid" : NULL;
    return !*why;
}

static size_t count(const tc_graph *g, tc_op op)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->op == op;
    return n;
}

static tc_status split(tc_ctx *ctx, tc_module *m, const char *cpu, tc_split_report *report)
{
    const char *const names[] = {cpu};
    tc_split_request r = {
        .target = "t", .ask = all_but_sigmoid, .cpu = names, .n_cpu = cpu != NULL};
    return ti_split(ctx, m, &r, report);
}

/* Before and after the split the same numbers come out. */
static bool same_result(tc_ctx *ctx, const char *text, tc_split_report *report, const char *cpu)
{
    tc_module *m = parsed(ctx, text);
    tc_graph *g = ti_main(m);
    tc_tensor in[3], before[4], after[4];
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++)
            ((float *)in[i].data)[k] = (float)(k - 1) * 0.5f + (float)i;
    }
    bool good = ti_eval(g, in, before, &ctx->arena) == TC_OK &&
                split(ctx, m, cpu, report) == TC_OK && ti_verify(ctx, m) == TC_OK &&
                ti_eval(ti_main(m), in, after, &ctx->arena) == TC_OK;
    for (size_t i = 0; good && i < g->n_out; i++)
        good = before[i].type == after[i].type &&
               memcmp(before[i].data, after[i].data, tc_type_bytes(after[i].type)) == 0;
    return good;
}

static void test_regions(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_split_report r;
    /* Two levels; the second branch needs no CPU and joins the first region. */
    const char *text =
        "graph @main(%0 \"x\": f32[4], %1 \"unread\": f32[4]) {\n"
        "  %2 = relu %0 : f32[4]\n  %3 = sigmoid %2 : f32[4]\n  %4 = neg %3 : f32[4]\n"
        "  %5 = abs %0 : f32[4]\n  %6 = add %4, %5 alpha=1 : f32[4]\n"
        "  return %6, %5, %0, %5\n}\n";
    CHECK(same_result(ctx, text, &r, NULL));
    CHECK(r.n_region == 2 && r.nodes[0] == 2 && r.nodes[1] == 2);
    CHECK(r.n_left == 1 && ti_text_eq(r.left[0].why, "no sigmoid"));
    CHECK(same_result(ctx, text, &r, "abs") && r.n_region == 2 && r.nodes[0] == 1 && r.n_left == 2);
    tc_ctx_free(ctx);
}

static void test_borders(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_split_report r;
    tc_module *m = parsed(
        ctx, "graph @main(%0: f32[2,2]) {\n"
             "  %1 = rescale %0 : i8[2,2] q(0.5:-3)\n  %2 = relu %1 : i8[2,2] q(0.25:-128)\n"
             "  %3 = permute %2 perm=[1,0] : i8[2,2] q(0.25:-128)\n  %4 = sigmoid %3 : f32[2,2]\n"
             "  return %4, %3\n}\n");
    CHECK(split(ctx, m, "rescale", &r) == TC_OK && ti_verify(ctx, m) == TC_OK);
    CHECK(r.n_region == 1 && r.nodes[0] == 2 && count(ti_main(m), TC_OP_call) == 1);
    const tc_graph *region = ti_module_find(m, r.region[0]);
    CHECK(region && region->n_in == 1 &&
          region->n_out == 1); /* what lies in between stays inside */
    CHECK(region &&
          ti_type_of(region, region->out[0]) == ti_type_of(ti_main(m), ti_main(m)->out[1]));
    CHECK(region && ti_type_of(region, region->out[0])->quant != NULL);
    tc_ctx_free(ctx);
}

static void test_names(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_split_report r;
    tc_module *m =
        parsed(ctx, "graph @main(%0: f32[2]) {\n  %1 = relu %0 : f32[2]\n  return %1\n}\n");
    CHECK(split(ctx, m, "rely", &r) == TC_USAGE && strstr(tc_diagnostics(ctx), "'rely'"));
    tc_ctx_free(ctx);
}

/* A product between quantized values gets an accumulator of its own; the program's output stays
 * real. */
static void test_wide(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = parsed(
        ctx,
        "graph @main(%0: i8[1,2] q(0.5:3)) {\n"
        "  %1 = const [1, 2, 3, 4] : i8[2,2] q(axis=0; 0.1:0, 0.2:0)\n"
        "  %2 = linear %0, %1 : f32[1,2]\n  %3 = relu %2 : i8[1,2] q(1:0)\n  return %3, %2\n}\n");
    CHECK(ti_run_passes(ctx, m, "widen-accumulators", NULL) == TC_OK);
    const tc_graph *g = ti_main(m);
    CHECK(count(g, TC_OP_rescale) == 1 && ti_type_of(g, g->out[1])->dtype == TC_f32);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_type *t = ti_type_of(g, g->node[k]->out[0]);
        if (g->node[k]->op == TC_OP_linear)
            CHECK(t->dtype == TC_i32 && t->quant && t->quant->axis == 1 &&
                  t->quant->scale[1] == 0.5 * 0.2);
    }
    tc_ctx_free(ctx);
}

/* A pass that changes a number is caught, and the value is named. */
static void test_promises(void)
{
    static const tc_pass exact = {.name = "quiet", .numbers = TC_EXACT},
                         measured = {.name = "loud", .numbers = TC_APPROX};
    tc_ctx *ctx = tc_ctx_new();
    const char *shape = "graph @main(%%0: f32[2]) {\n  %%1 \"w\" = const [1, %s] : f32[2]\n"
                        "  %%2 \"product\" = mul %%0, %%1 : f32[2]\n  %%3 \"y\" = neg %%2 : "
                        "f32[2]\n  return %%3\n}\n";
    tc_module *a = parsed(ctx, ti_text_format(&ctx->arena, shape, "2")),
              *b = parsed(ctx, ti_text_format(&ctx->arena, shape, "2.5"));
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(a), ti_main(a)->in[0])),
              *list[] = {&in};
    ((float *)in.data)[0] = ((float *)in.data)[1] = 1;
    tc_checker c;
    ti_check_begin_with(&c, ctx, list, 1);
    CHECK(ti_check_pass(&c, a, &exact) == TC_OK && ti_check_pass(&c, a, &exact) == TC_OK);
    CHECK(ti_check_pass(&c, b, &measured) == TC_OK && ti_check_pass(&c, b, &exact) == TC_OK);
    int turn = c.turn;
    CHECK(ti_check_pass(&c, b, &exact) == TC_OK && c.turn == turn); /* it has not run again */
    const tc_graph *g = ti_main(b);
    g->val[g->node[0]->out[0]]->data = ti_main(a)->val[ti_main(a)->node[0]->out[0]]->data;
    CHECK(ti_check_pass(&c, b, &exact) == TC_BUG);
    CHECK(strstr(tc_diagnostics(ctx), "the pass 'quiet' changed 'w'") ||
          strstr(tc_diagnostics(ctx), "changed 'product'"));
    ti_check_end(&c);
    tc_ctx_free(ctx);
}

/* Two numbers that are alike change places within the promise: the choice between them is nobody's
 * fault.  One that changes by more is, with the choice or without; and a name that two values bear
 * blames neither. */
static void test_choices(void)
{
    static const tc_pass close = {.name = "round", .numbers = TC_CLOSE};
    tc_ctx *ctx = tc_ctx_new();
    const char *shape = "graph @main(%%0: f32[2]) {\n  %%1 \"w\" = const [9, 9] : f32[2]\n"
                        "  %%2 \"w\" = const [0, %s] : f32[2]\n"
                        "  %%3 \"sum\" = add %%0, %%2 alpha=1 : f32[2]\n"
                        "  %%4 \"best\" = argmax %%3 axis=0 keepdim=false : i64[]\n"
                        "  return %%4\n}\n";
    tc_module *a = parsed(ctx, ti_text_format(&ctx->arena, shape, "-1e-6")),
              *b = parsed(ctx, ti_text_format(&ctx->arena, shape, "1e-6")),
              *far = parsed(ctx, ti_text_format(&ctx->arena, shape, "-0.5"));
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(a), ti_main(a)->in[0])),
              *list[] = {&in};
    ((float *)in.data)[0] = ((float *)in.data)[1] = 1;
    tc_checker c;
    ti_check_begin_with(&c, ctx, list, 1);
    CHECK(ti_check_pass(&c, a, &close) == TC_OK && ti_check_pass(&c, b, &close) == TC_OK);
    CHECK(strstr(tc_diagnostics(ctx), "'best' chooses differently"));
    CHECK(ti_check_pass(&c, far, &close) == TC_BUG);
    CHECK(strstr(tc_diagnostics(ctx), "changed 'sum'"));
    ti_check_end(&c);
    tc_ctx_free(ctx);
}

/* Codes that turn add up on their way: that is said, and is no mistake, where each value by itself
 * moves a step at most, in a hundredth of its codes.  More of them, by more, or elsewhere is one. */
static void test_turned(void)
{
    static const tc_pass close = {.name = "close", .numbers = TC_CLOSE};
    static const struct {
        int turned, by, late; /* codes of 'a'; by so many steps; steps of 'y' computed from it */
        bool right;
    } row[] = {{1, 1, 0, true}, {2, 1, 0, true}, {20, 1, 0, false}, {1, 2, 0, false},
               {1, 1, 1, false}, {0, 0, 9, false}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *m[2];
        for (int after = 0; after < 2; after++) {
            tc_buf moves, text;
            ti_buf_init(&moves, &ctx->arena);
            ti_buf_init(&text, &ctx->arena);
            for (int i = 0; i < 200; i++)
                ti_buf_printf(&moves, "%s%d", i ? ", " : "", after && i < row[k].turned ? row[k].by : 0);
            ti_buf_u8(&moves, 0);
            ti_buf_printf(&text,
                          "graph @main(%%0 \"x\": i8[200] q(1:0)) {\n"
                          "  %%1 = const [%s] : i8[200] q(1:0)\n"
                          "  %%2 \"a\" = add %%0, %%1 alpha=1 : i8[200] q(1:0)\n"
                          "  %%3 = const %d : i8[] q(0.0078125:0)\n"
                          "  %%4 \"y\" = add %%2, %%3 alpha=1 : i8[200] q(0.0078125:0)\n"
                          "  return %%4\n}\n",
                          (const char *)moves.data, after ? row[k].late : 0);
            ti_buf_u8(&text, 0);
            m[after] = parsed(ctx, (const char *)text.data);
        }
        tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(m[0]), ti_main(m[0])->in[0])),
                  *list[] = {&in};
        memset(in.data, 0, 200);
        tc_checker c;
        ti_check_begin_with(&c, ctx, list, 1);
        CHECK(ti_check_pass(&c, m[0], &close) == TC_OK);
        CHECK((ti_check_pass(&c, m[1], &close) == TC_OK) == row[k].right);
        CHECK(row[k].right == !!strstr(tc_diagnostics(ctx), "roundings that turn add up"));
        ti_check_end(&c);
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    test_regions();
    test_borders();
    test_names();
    test_wide();
    test_promises();
    test_choices();
    test_turned();
    return check_done();
}
