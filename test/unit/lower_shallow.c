/* SPDX-License-Identifier: Apache-2.0 */
/* lower_shallow.c -- operators on seven and eight axes become ones on at most six, bit-exact. */
#include "lower_check.h"

/* The deepest tensor of any node but a reshape. */
static int deepest(const tc_graph *g)
{
    int most = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_reshape || node->op == TC_OP_const)
            continue;
        for (int i = 0; i < node->n_in; i++)
            most =
                ti_type_of(g, node->in[i])->rank > most ? ti_type_of(g, node->in[i])->rank : most;
        for (int i = 0; i < node->n_out; i++)
            most =
                ti_type_of(g, node->out[i])->rank > most ? ti_type_of(g, node->out[i])->rank : most;
    }
    return most;
}

static bool same(const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes full = lower_expand(ctx, text);
    tc_module *before = lower_parse(ctx, full), *after = lower_parse(ctx, full);
    bool good = before && after &&
                ti_run_passes(ctx, after, "reduce-rank,remove-dead-code", NULL) == TC_OK &&
                ti_verify(ctx, after) == TC_OK && deepest(ti_main(after)) <= 6;
    if (good) {
        const tc_graph *g = ti_main(before);
        tc_tensor in[4], a[1], b[1];
        uint32_t seed = 3;
        for (size_t i = 0; i < g->n_in; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            lower_fill(in[i], false, &seed);
        }
        good = ti_eval(ti_main(before), in, a, &ctx->arena) == TC_OK &&
               ti_eval(ti_main(after), in, b, &ctx->arena) == TC_OK &&
               lower_distance(a[0], b[0]) == 0;
    }
    if (!good)
        fprintf(stderr, "%s%s\n", text, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

#define ONE(x, op, y) "graph @t(%0: " x ") {\n  %1 = " op " : " y "\n  return %1\n}\n"

int main(void)
{
    CHECK(same("graph @t(%0: i8[2,1,2,3,2,2,3,2] q(0.05:3), %1: i8[3,2,1,3,1] q(0.1:0)) {\n"
               "  %2 = add %0, %1 alpha=1 : i8[2,1,2,3,2,2,3,2] q(0.2:0)\n  return %2\n}\n"));
    CHECK(same("graph @t(%0: f32[2,2,2,2,2,2,2], %1: f32[1,1,1,1,1,1,1]) {\n"
               "  %2 = mul %0, %1 : f32[2,2,2,2,2,2,2]\n  return %2\n}\n"));
    CHECK(same(ONE("f32[2,1,2,1,2,2,3,1]", "expand %0 shape=[2,1,2,5,2,2,3,4]",
                   "f32[2,1,2,5,2,2,3,4]")));
    CHECK(same(ONE("i8[1,2,3,2,3,2,3,4] q(0.05:3)", "permute %0 perm=[0,1,3,5,2,4,6,7]",
                   "i8[1,2,2,2,3,3,3,4] q(0.05:3)")));
    CHECK(same(ONE("f32[2,3,2,3,2,3,2,3]", "permute %0 perm=[7,5,3,1,6,4,2,0]",
                   "f32[3,3,3,3,2,2,2,2]")));
    CHECK(same(ONE("f32[2,3,4,5,2,3,2]", "permute %0 perm=[6,5,4,3,2,1,0]", "f32[2,3,2,5,4,3,2]")));
    CHECK(same(ONE("f32[2,3,1,5,2,3,2]", "amax %0 axes=[3,4,6] keepdim=false", "f32[2,3,1,3]")));
    CHECK(
        same(ONE("f32[2,3,1,5,2,3,2]", "amax %0 axes=[0,2,6] keepdim=true", "f32[1,3,1,5,2,3,1]")));
    CHECK(same(ONE("i8[2,3,1,5,2,3,2] q(0.05:3)", "slice %0 axis=3 start=1 end=5 step=2",
                   "i8[2,3,1,2,2,3,2] q(0.05:3)")));
    CHECK(same(ONE("f32[2,3,1,5,2,3,2]", "select %0 axis=5 index=1", "f32[2,3,1,5,2,2]")));
    CHECK(same("graph @t(%0: f32[2,1,2,3,2,2,3], %1: f32[2,1,2,4,2,2,3]) {\n"
               "  %2 = cat %0, %1 axis=3 : f32[2,1,2,7,2,2,3]\n  return %2\n}\n"));
    return check_done();
}
