/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_form.c -- operators that have no kernel of ExecuTorch's: what the pass `cpu` makes of them gives the same
 * numbers, and every node that is left has a kernel. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "ir/exec.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "num/load.h"
#include "plan/cpu.h"

static const char *const cases[] = {
    "square %0 : f32[2,3,4]", "frac %0 : f32[2,3,4]", "exp2 %0 : f32[2,3,4]", "erfc %0 : f32[2,3,4]",
    "log_sigmoid %0 : f32[2,3,4]", "silu %0 : f32[2,3,4]", "mish %0 : f32[2,3,4]", "hardsigmoid %0 : f32[2,3,4]",
    "hardswish %0 : f32[2,3,4]", "softsign %0 : f32[2,3,4]", "softplus %0 beta=2 threshold=3 : f32[2,3,4]",
    "hardshrink %0 lambda=0.5 : f32[2,3,4]", "softshrink %0 lambda=0.5 : f32[2,3,4]",
    "threshold %0 threshold=0.1 value=-7 : f32[2,3,4]", "nan_to_num %0 nan=0 posinf=1 neginf=-1 : f32[2,3,4]",
    "isfinite %0 : bool[2,3,4]", "round %0 decimals=2 : f32[2,3,4]", "round %0 decimals=-1 : f32[2,3,4]",
    "fmax %0, %1 : f32[2,3,4]", "fmin %0, %1 : f32[2,3,4]", "hypot %0, %1 : f32[2,3,4]",
    "copysign %0, %1 : f32[2,3,4]", "logaddexp %0, %1 : f32[2,3,4]", "lerp %0, %1, %0 : f32[2,3,4]",
    "addcmul %0, %1, %0 value=2 : f32[2,3,4]", "addcdiv %0, %1, %1 value=0.5 : f32[2,3,4]",
    "fake_quantize %0 scale=0.03 zero=5 axis=-1 qmin=-100 qmax=100 dtype=f32 : f32[2,3,4]",
    "prod %0 axes=[0,2] keepdim=false : f32[3]", "std %0 axes=[1] keepdim=true correction=1 : f32[2,1,4]",
    "logsumexp %0 axes=[0,1] keepdim=false : f32[4]", "norm %0 axes=[1] keepdim=false ord=2 : f32[2,4]",
    "norm %0 axes=[1] keepdim=false ord=3 : f32[2,4]", "norm %0 axes=[0,1,2] keepdim=false ord=inf : f32[]",
    "norm %0 axes=[1] keepdim=true ord=0 : f32[2,1,4]", "cumprod %0 axis=1 : f32[2,3,4]",
    "matmul %0, %2 : f32[2,3,3]", "matmul %0, %3 : f32[2,3]", "matmul %4, %2 : f32[2,3]",
    "linear %0, %5, %19 : f32[2,3,3]", "linear %0, %5 : f32[2,3,3]",
    "einsum %0, %5 equation=\"abc,dc->bda\" : f32[3,3,2]", "einsum %0, %0 equation=\"abc,abd->acd\" : f32[2,4,4]",
    "einsum %0, %5, %5 equation=\"abc,dc,ef->ad\" : f32[2,3]", "einsum %0 equation=\"abc->ca\" : f32[4,2]",
    "sdpa %0, %1, %0 scale=0.5 causal=true gqa=false : f32[2,3,4]",
    "conv %0, %6 stride=[1] pad=[2,0] dilation=[1] groups=1 : f32[2,2,4]",
    "conv %7, %6 stride=[1] pad=[1,1] dilation=[1] groups=1 : f32[2,4]",
    "conv_transpose %7, %8 stride=[2] pad=[1] out_pad=[1] dilation=[1] groups=1 : f32[2,9]",
    "max_pool %0 kernel=[2] stride=[1] pad=[1] dilation=[1] ceil=false : f32[2,3,5]",
    "avg_pool %0 kernel=[2] stride=[2] pad=[0] ceil=false include_pad=true divisor=0 : f32[2,3,2]",
    "adaptive_avg_pool %0 size=[3] : f32[2,3,3]", "adaptive_avg_pool %9 size=[1,2,2] : f32[1,2,1,2,2]",
    "max_pool %9 kernel=[2,2,2] stride=[1,1,1] pad=[0,1,0] dilation=[1,1,1] ceil=false : f32[1,2,1,5,2]",
    "avg_pool %9 kernel=[2,1,2] stride=[1,1,1] pad=[0,0,0] ceil=false include_pad=true divisor=0 : f32[1,2,1,4,2]",
    "conv %9, %10 stride=[1,2,1] pad=[1,0,0,0,1,1] dilation=[1,1,1] groups=1 : f32[1,3,2,2,4]",
    "upsample_nearest %0 size=[7] scale=[] align_corners=false : f32[2,3,7]",
    "upsample_nearest_exact %0 size=[6] scale=[1.5] align_corners=false : f32[2,3,6]",
    "upsample_linear %0 size=[7] scale=[] align_corners=true : f32[2,3,7]",
    "upsample_linear %9 size=[3,5,4] scale=[] align_corners=false : f32[1,2,3,5,4]",
    "upsample_cubic %11 size=[5,6] scale=[] align_corners=false : f32[1,2,5,6]",
    "im2col %11 kernel=[2,2] dilation=[1,1] pad=[1,0] stride=[1,2] : f32[1,8,10]",
    "channel_shuffle %12 factor=2 : f32[1,4,2,3]", "rms_norm %0, %4 n_axes=1 eps=1e-05 : f32[2,3,4]",
    "pad %0 pad=[0,0,1,1,2,1] mode=reflect value=0 : f32[2,5,7]", "pad %0 pad=[1,1,1,0,0,2] mode=circular value=0 : f32[4,4,6]",
    "pad %0 pad=[1,0,-1,1,0,-2] mode=constant value=3 : f32[3,3,2]", "pad %9 pad=[0,0,1,0,1,1,0,2,0,0] mode=replicate value=0 : f32[1,3,4,6,3]",
    "repeat_interleave %0 axis=1 repeats=3 : f32[2,9,4]", "triu %0 diagonal=1 : f32[2,3,4]",
    "as_strided %0 size=[2,3] stride=[5,2] offset=3 : f32[2,3]",
    "gru_cell %13, %14, %15, %16, none, none : f32[2,2]", "rnn_tanh_cell %13, %14, %17, %18, none, none : f32[2,2]",
};

static const char head[] =
    "graph @main(%0: f32[2,3,4], %1: f32[2,3,4], %2: f32[2,4,3], %3: f32[4], %4: f32[4], %5: f32[3,4], %6: f32[2,3,3],\n"
    "  %7: f32[3,4], %8: f32[3,2,4], %9: f32[1,2,2,4,3], %10: f32[3,2,2,2,2], %11: f32[1,2,4,5], %12: f32[1,4,2,3],\n"
    "  %13: f32[2,3], %14: f32[2,2], %15: f32[6,3], %16: f32[6,2], %17: f32[2,3], %18: f32[2,2], %19: f32[3]) {\n  %20 = ";

static tc_tensor *inputs(tc_ctx *ctx, const tc_graph *g)
{
    uint32_t state = 7;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = tc_tensor_new(&ctx->arena, tc_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++) {
            state = state * 1664525u + 1013904223u;
            tc_store_f64(in[i], k, ((double)(state >> 8) / (1 << 24) - 0.45) * 4);
        }
    }
    return in;
}

static bool every_node_has_a_kernel(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op != TC_OP_const && !tc_cpu_is_view(node) && !tc_cpu_kernel_for(g, node))
            return false;
    }
    return true;
}

static tc_tensor *run(tc_ctx *ctx, tc_module *module)
{
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, 1);
    ctx->reference_kernels = true;
    CHECK(tc_exec_run(tc_exec_new(ctx, module), inputs(ctx, tc_main(module)), out) == TC_OK);
    return out;
}

static bool close_to(const tc_tensor *a, const tc_tensor *b)
{
    if (a->type != b->type)
        return false;
    for (int64_t i = 0; i < tc_type_count(a->type); i++) {
        double x = tc_load_f64(*a, i), y = tc_load_f64(*b, i);
        if (!(fabs(x - y) <= 2e-5 * (1 + fabs(x))) && !(x != x && y != y) && x != y)
            return false;
    }
    return true;
}

static void try_case(const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *before = NULL, *after = NULL;
    char *all = tc_text_format(&ctx->arena, "%s%s\n  return %%20\n}\n", head, text);
    tc_bytes bytes = {(const uint8_t *)all, strlen(all)};
    bool read = tc_parse(ctx, "case", bytes, (tc_bytes){NULL, 0}, &before) == TC_OK &&
                tc_parse(ctx, "case", bytes, (tc_bytes){NULL, 0}, &after) == TC_OK && tc_verify(ctx, before) == TC_OK;
    bool made = read && tc_run_passes(ctx, after, "program", NULL) == TC_OK;
    bool same = made && every_node_has_a_kernel(tc_main(after)) && close_to(run(ctx, before), run(ctx, after));
    CHECK(read && made && same);
    if (!same)
        fprintf(stderr, "%s: read %d, made %d\n%s", text, read, made, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(cases); i++)
        try_case(cases[i]);
    return check_done();
}
