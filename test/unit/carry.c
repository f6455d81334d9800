/* SPDX-License-Identifier: Apache-2.0 */
/* carry.c -- branches and loops hand on integers, and compute the same. */
#include "lower_check.h"

#include "quant/quantizer.h"

/* The largest difference after the pass, or -1; *reals: how many f32 values control flow still
 * reads or makes. */
static double carried(const char *text, int *reals)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *before = lower_parse(ctx, lower_expand(ctx, text)),
              *after = lower_parse(ctx, lower_expand(ctx, text));
    double most = -1;
    *reals = 0;
    if (before && after && ti_quant_quantize_control_flow(ctx, after) == TC_OK &&
        ti_verify(ctx, after) == TC_OK) {
        tc_graph *g = ti_main(after);
        tc_tensor in[4], x[4], y[4];
        uint32_t seed = 5;
        for (size_t i = 0; i < g->n_in; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            lower_fill(in[i], false, &seed);
        }
        if (ti_eval(ti_main(before), in, x, &ctx->arena) == TC_OK &&
            ti_eval(g, in, y, &ctx->arena) == TC_OK)
            for (size_t i = 0; i < g->n_out; i++)
                most = fmax(most, lower_distance(x[i], y[i]));
        for (size_t k = 0; k < g->n_node; k++) {
            const tc_node *node = g->node[k];
            bool control = node->op == TC_OP_cond || node->op == TC_OP_while_loop;
            for (int i = 0; control && i < node->n_in; i++)
                *reals += ti_type_of(g, node->in[i])->dtype == TC_f32;
            for (int i = 0; control && i < node->n_out; i++)
                *reals += ti_type_of(g, node->out[i])->dtype == TC_f32;
        }
    }
    if (most < 0)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return most;
}

int main(void)
{
    int reals;
    CHECK(carried("graph @t(%0: bool[1], %1: i8[9] q(0.05:3)) {\n  %2 = rescale %1 : f32[9]\n"
                  "  %3 = cond %0, %2 then_graph=\"a\" else_graph=\"b\" : f32[9]\n  %4 = rescale "
                  "%3 : i8[9] q(0.1:0)\n"
                  "  return %4\n}\n"
                  "graph @a(%0: f32[9]) {\n  %1 = rescale %0 : i8[9] q(0.06:0)\n  %2 = neg %1 : "
                  "i8[9] q(0.06:1)\n"
                  "  %3 = rescale %2 : f32[9]\n  return %3\n}\n"
                  "graph @b(%0: f32[9]) {\n  return %0\n}\n",
                  &reals) == 0);
    CHECK(reals == 0);
    CHECK(carried("graph @t(%0: i8[9] q(0.01:3)) {\n  %1 = rescale %0 : f32[9]\n"
                  "  %2 = while_loop %1 cond_graph=\"c\" body_graph=\"b\" : f32[9]\n  %3 = rescale "
                  "%2 : i8[9] q(0.1:0)\n"
                  "  return %3\n}\n"
                  "graph @c(%0: f32[9]) {\n  %1 = amax %0 axes=[0] keepdim=false : f32[]\n  %2 = "
                  "const 5 : f32[]\n"
                  "  %3 = lt %1, %2 : bool[]\n  return %3\n}\n"
                  "graph @b(%0: f32[9]) {\n  %1 = rescale %0 : i8[9] q(0.06:0)\n  %2 = const [100] "
                  ": i8[1] q(0.01:0)\n"
                  "  %3 = add %1, %2 alpha=1 : i8[9] q(0.08:-100)\n  %4 = rescale %3 : f32[9]\n  "
                  "return %4\n}\n",
                  &reals) <= 1);
    CHECK(reals == 0);
    /* readers that want different things get real numbers */
    CHECK(carried("graph @t(%0: bool[1], %1: i8[9] q(0.05:3)) {\n  %2 = rescale %1 : f32[9]\n"
                  "  %3 = cond %0, %2 then_graph=\"a\" else_graph=\"b\" : f32[9]\n  return %3\n}\n"
                  "graph @a(%0: f32[9]) {\n  %1 = neg %0 : f32[9]\n  return %1\n}\n"
                  "graph @b(%0: f32[9]) {\n  return %0\n}\n", &reals) == 0);
    CHECK(reals == 1);
    return check_done();
}
