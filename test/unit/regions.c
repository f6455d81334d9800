/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c -- passes over the typed form of a region: the same numbers, to a step, in another
 * shape. */
#include "check.h"

#include <stdlib.h>

#include "run/eval.h"
#include "drive/passes.h"
#include "ir/ir_text.h"
#include "num/load.h"

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

static size_t count(const tc_graph *g, tc_op op)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->op == op;
    return n;
}

/* The largest difference of the outputs before and after the passes, in steps; *left: nodes of the
 * operator. */
static int64_t steps(const char *text, const char *passes, tc_op op, size_t *left)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parsed(ctx, text);
    tc_graph *g = ti_main(module);
    tc_tensor in[4], before[4], after[4];
    uint64_t seed = 7;
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            ti_store_i64(in[i], k, (int64_t)(seed >> 56) - 128);
        }
    }
    bool good = ti_eval(g, in, before, &ctx->arena) == TC_OK;
    good = good && ti_run_passes(ctx, module, passes, NULL) == TC_OK &&
           ti_eval(g, in, after, &ctx->arena) == TC_OK;
    CHECK(good);
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    int64_t worst = 0;
    for (size_t i = 0; good && i < g->n_out; i++) {
        CHECK(before[i].type == after[i].type);
        for (int64_t k = 0; k < tc_type_count(before[i].type); k++)
            worst = ti_max_i64(worst, llabs(ti_load_i64(before[i], k) - ti_load_i64(after[i], k)));
    }
    *left = count(g, op);
    tc_ctx_free(ctx);
    return worst;
}

static void patches(void)
{
    size_t left;
    CHECK(steps("graph @t(%0: i8[1,2,8,8] q(0.1:3)) {\n"
                "  %1 = const "
                "[1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16,17,18,19,20,21,22,23,24,25,26,27,"
                "28,29,30,31,"
                "-32] : i8[1,2,4,4] q(0.02:0)\n"
                "  %2 = conv %0, %1, none stride=[4,4] pad=[0,0,0,0] dilation=[1,1] groups=1 : "
                "i8[1,1,2,2] q(0.3:-5)\n"
                "  return %2\n}\n",
                "infer-types,fold-large-strides,remove-dead-code", TC_OP_slice, &left) == 0);
    CHECK(left > 8);
}

static void scales(void)
{
    size_t left;
    CHECK(steps("graph @t(%0: i8[1,2,4,4] q(0.1:3)) {\n"
                "  %1 = const [100,-20,-30,90] : i8[2,2,1,1] q(0.02:0)\n"
                "  %2 = const [1.5, -2] : f32[2]\n"
                "  %3 = conv %0, %1, %2 stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : "
                "i8[1,2,4,4] q(0.25:-5)\n"
                "  %4 = const [127,-60] : i8[1,2,1,1] q(0.01:0)\n"
                "  %5 = mul %3, %4 : i8[1,2,4,4] q(0.3:2)\n"
                "  return %5\n}\n",
                "infer-types,fold-weight-scales,remove-dead-code", TC_OP_mul, &left) <= 1);
    CHECK(left == 0);
    CHECK(steps("graph @t(%0: i8[3,2] q(0.1:3)) {\n"
                "  %1 = const [100,-20,-30,90] : i8[2,2] q(0.02:0)\n"
                "  %2 = linear %0, %1, none : i8[3,2] q(0.25:-5)\n"
                "  %3 = const [100] : i8[] q(0.0025:0)\n"
                "  %4 = mul %3, %2 : i8[3,2] q(0.07:2)\n"
                "  return %4\n}\n",
                "infer-types,fold-weight-scales,remove-dead-code", TC_OP_mul, &left) <= 1);
    CHECK(left == 0);
    /* somebody else reads the product */
    CHECK(steps("graph @t(%0: i8[3,2] q(0.1:3)) {\n"
                "  %1 = const [100,-20,-30,90] : i8[2,2] q(0.02:0)\n"
                "  %2 = linear %0, %1, none : i8[3,2] q(0.25:-5)\n"
                "  %3 = const [100] : i8[] q(0.0025:0)\n"
                "  %4 = mul %3, %2 : i8[3,2] q(0.07:2)\n"
                "  return %4, %2\n}\n",
                "infer-types,fold-weight-scales,remove-dead-code", TC_OP_mul, &left) == 0);
    CHECK(left == 1);
}

/* Two windows of 2x2, turned by one, two heads of width 2: all of them at once. */
static void attention(void)
{
    size_t left;
    const char *text = "graph @t(%0: i8[1,2,4,4] q(0.1:3)) {\n"
                       "  %1 = roll %0 shifts=[-1] axes=[2] : i8[1,2,4,4] q(0.1:3)\n"
                       "  %2 = reshape %1 shape=[1,1,2,2,2,4] : i8[1,1,2,2,2,4] q(0.1:3)\n"
                       "  %3 = permute %2 perm=[0,1,3,2,4,5] : i8[1,1,2,2,2,4] q(0.1:3)\n"
                       "  %4 = reshape %3 shape=[2,4,4] : i8[2,4,4] q(0.1:3)\n"
                       "  %5 = const [1,2,3,-4, 5,-6,7,8, 9,-10,11,12, -13,14,15,16, 17,18,-19,20, "
                       "21,22,23,-24, 25,-26,27,28, "
                       "29,30,-31,32, -33,34,35,36, 37,-38,39,40, 41,42,-43,44, 45,46,47,-48] : "
                       "i8[12,4] q(0.02:0)\n"
                       "  %6 = linear %4, %5, none : i8[2,4,12] q(0.25:1)\n"
                       "  %7 = reshape %6 shape=[2,4,3,2,2] : i8[2,4,3,2,2] q(0.25:1)\n"
                       "  %8 = permute %7 perm=[2,0,3,1,4] : i8[3,2,2,4,2] q(0.25:1)\n"
                       "  %9, %10, %11 = unbind %8 axis=0 : i8[2,2,4,2] q(0.25:1), i8[2,2,4,2] "
                       "q(0.25:1), i8[2,2,4,2] q(0.25:1)\n"
                       "  %12 = const [90] : i8[] q(0.008:0)\n"
                       "  %13 = mul %9, %12 : i8[2,2,4,2] q(0.2:0)\n"
                       "  %14 = permute %10 perm=[0,1,3,2] : i8[2,2,2,4] q(0.25:1)\n"
                       "  %15 = matmul %13, %14 : i8[2,2,4,4] q(3:-3)\n"
                       "  %16 = const "
                       "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,"
                       "-12,-13,-14,-15,"
                       "-16] : i8[1,2,4,4] q(0.1:0)\n"
                       "  %17 = add %15, %16 alpha=1 : i8[2,2,4,4] q(3:0)\n"
                       "  %18 = softmax %17 axis=3 : i8[2,2,4,4] q(0.00390625:-128)\n"
                       "  %19 = matmul %18, %11 : i8[2,2,4,2] q(0.25:2)\n"
                       "  %20 = permute %19 perm=[0,2,1,3] : i8[2,4,2,2] q(0.25:2)\n"
                       "  %21 = reshape %20 shape=[2,4,4] : i8[2,4,4] q(0.25:2)\n"
                       "  %22 = const [10,20,-30,40, 50,-60,70,80, -90,100,110,120, 13,-23,33,43] "
                       ": i8[4,4] q(0.01:0)\n"
                       "  %23 = linear %21, %22, none : i8[2,4,4] q(0.06:-1)\n"
                       "  %24 = reshape %23 shape=[1,1,2,2,2,4] : i8[1,1,2,2,2,4] q(0.06:-1)\n"
                       "  %25 = permute %24 perm=[0,1,3,2,4,5] : i8[1,1,2,2,2,4] q(0.06:-1)\n"
                       "  %26 = reshape %25 shape=[1,2,4,4] : i8[1,2,4,4] q(0.06:-1)\n"
                       "  %27 = add %0, %26 alpha=1 : i8[1,2,4,4] q(0.1:0)\n"
                       "  return %27\n}\n";
    CHECK(steps(text, "infer-types,tile-attention,remove-dead-code", TC_OP_softmax, &left) <= 1);
    CHECK(left == 1);
    CHECK(steps(text, "infer-types,tile-attention,remove-dead-code", TC_OP_unbind, &left) <= 1);
    CHECK(left == 0);
    CHECK(steps(text,
                "infer-types,tile-attention,remove-dead-code,fold-weight-scales,remove-dead-code",
                TC_OP_mul, &left) <=
          4); /* the query is rounded once less */
    CHECK(left == 0);
}

/* Patches of 2x2 as batches, behind a 1x1 convolution, and back before another: no number moves but
 * by stride and concatenation. */
static void unfold_and_fold(void)
{
    size_t left;
    const char *text = "graph @t(%0: i8[1,2,8,6] q(0.1:3)) {\n"
                       "  %1 = const [100,-20,-30,90] : i8[2,2,1,1] q(0.02:0)\n"
                       "  %2 = conv %0, %1, none stride=[1,1] pad=[0,0,0,0] dilation=[1,1] "
                       "groups=1 : i8[1,2,8,6] q(0.25:-5)\n"
                       "  %3 = reshape %2 shape=[8,2,3,2] : i8[8,2,3,2] q(0.25:-5)\n"
                       "  %4 = permute %3 perm=[0,2,1,3] : i8[8,3,2,2] q(0.25:-5)\n"
                       "  %5 = reshape %4 shape=[1,2,12,4] : i8[1,2,12,4] q(0.25:-5)\n"
                       "  %6 = permute %5 perm=[0,3,2,1] : i8[1,4,12,2] q(0.25:-5)\n"
                       "  %7 = reshape %6 shape=[4,12,2] : i8[4,12,2] q(0.25:-5)\n"
                       "  %8 = softmax %7 axis=1 : i8[4,12,2] q(0.00390625:-128)\n"
                       "  %9 = reshape %8 shape=[1,4,12,2] : i8[1,4,12,2] q(0.00390625:-128)\n"
                       "  %10 = permute %9 perm=[0,3,2,1] : i8[1,2,12,4] q(0.00390625:-128)\n"
                       "  %11 = reshape %10 shape=[8,3,2,2] : i8[8,3,2,2] q(0.00390625:-128)\n"
                       "  %12 = permute %11 perm=[0,2,1,3] : i8[8,2,3,2] q(0.00390625:-128)\n"
                       "  %13 = reshape %12 shape=[1,2,8,6] : i8[1,2,8,6] q(0.00390625:-128)\n"
                       "  %14 = conv %13, %1, none stride=[1,1] pad=[0,0,0,0] dilation=[1,1] "
                       "groups=1 : i8[1,2,8,6] q(0.02:-5)\n"
                       "  %15 = silu %14 : i8[1,2,8,6] q(0.02:0)\n"
                       "  return %15, %7\n}\n";
    CHECK(steps(text, "infer-types,tile-transposes,remove-dead-code", TC_OP_conv, &left) <= 1);
    CHECK(left == 8);
}

int main(void)
{
    attention();
    unfold_and_fold();
    patches();
    scales();
    return check_done();
}
