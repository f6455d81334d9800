/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_form.c -- operators as ExecuTorch's kernels: what the pass `select-cpu-kernels` makes of them
 * gives the same numbers, every node that is left has a kernel, and a program written and read back
 * still gives them. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "drive/passes.h"
#include "emit/emit.h"
#include "executorch/cpu_select.h"
#include "ir/ir_text.h"
#include "num/load.h"
#include "read/read.h"
#include "run/exec.h"

static const char *const cases[] = {
    "square %0 : f32[2,3,4]",
    "frac %0 : f32[2,3,4]",
    "exp2 %0 : f32[2,3,4]",
    "erfc %0 : f32[2,3,4]",
    "log_sigmoid %0 : f32[2,3,4]",
    "silu %0 : f32[2,3,4]",
    "mish %0 : f32[2,3,4]",
    "hardsigmoid %0 : f32[2,3,4]",
    "hardswish %0 : f32[2,3,4]",
    "softsign %0 : f32[2,3,4]",
    "softplus %0 beta=2 threshold=3 : f32[2,3,4]",
    "hardshrink %0 lambda=0.5 : f32[2,3,4]",
    "softshrink %0 lambda=0.5 : f32[2,3,4]",
    "threshold %0 threshold=0.1 value=-7 : f32[2,3,4]",
    "nan_to_num %0 nan=0 posinf=1 neginf=-1 : f32[2,3,4]",
    "isfinite %0 : bool[2,3,4]",
    "round %0 decimals=2 : f32[2,3,4]",
    "round %0 decimals=-1 : f32[2,3,4]",
    "fmax %0, %1 : f32[2,3,4]",
    "fmin %0, %1 : f32[2,3,4]",
    "hypot %0, %1 : f32[2,3,4]",
    "copysign %0, %1 : f32[2,3,4]",
    "logaddexp %0, %1 : f32[2,3,4]",
    "lerp %0, %1, %0 : f32[2,3,4]",
    "addcmul %0, %1, %0 value=2 : f32[2,3,4]",
    "addcdiv %0, %1, %1 value=0.5 : f32[2,3,4]",
    "fake_quantize %0 scale=0.03 zero=5 axis=-1 qmin=-100 qmax=100 dtype=f32 : f32[2,3,4]",
    "prod %0 axes=[0,2] keepdim=false : f32[3]",
    "std %0 axes=[1] keepdim=true correction=1 : f32[2,1,4]",
    "logsumexp %0 axes=[0,1] keepdim=false : f32[4]",
    "norm %0 axes=[1] keepdim=false ord=2 : f32[2,4]",
    "norm %0 axes=[1] keepdim=false ord=3 : f32[2,4]",
    "norm %0 axes=[0,1,2] keepdim=false ord=inf : f32[]",
    "norm %0 axes=[1] keepdim=true ord=0 : f32[2,1,4]",
    "cumprod %0 axis=1 : f32[2,3,4]",
    "matmul %0, %2 : f32[2,3,3]",
    "matmul %0, %3 : f32[2,3]",
    "matmul %4, %2 : f32[2,3]",
    "linear %0, %5, %19 : f32[2,3,3]",
    "linear %0, %5 : f32[2,3,3]",
    "einsum %0, %5 equation=\"abc,dc->bda\" : f32[3,3,2]",
    "einsum %0, %0 equation=\"abc,abd->acd\" : f32[2,4,4]",
    "einsum %0, %5, %5 equation=\"abc,dc,ef->ad\" : f32[2,3]",
    "einsum %0 equation=\"abc->ca\" : f32[4,2]",
    "sdpa %0, %1, %0 scale=0.5 causal=true gqa=false : f32[2,3,4]",
    "sdpa %0, %1, %0, %21 scale=0.5 causal=false gqa=false : f32[2,3,4]",
    "sdpa %0, %1, %0, %22 scale=0.5 causal=false gqa=false : f32[2,3,4]",
    "sdpa %0, %1, %0, %23 scale=0.5 causal=false gqa=false : f32[2,3,4]",
    "conv %0, %6 stride=[1] pad=[2,0] dilation=[1] groups=1 : f32[2,2,4]",
    "conv %7, %6 stride=[1] pad=[1,1] dilation=[1] groups=1 : f32[2,4]",
    "conv_transpose %7, %8 stride=[2] pad=[1] out_pad=[1] dilation=[1] groups=1 : f32[2,9]",
    "max_pool %0 kernel=[2] stride=[1] pad=[1] dilation=[1] ceil=false : f32[2,3,5]",
    "avg_pool %0 kernel=[2] stride=[2] pad=[0] ceil=false include_pad=true divisor=0 : f32[2,3,2]",
    "adaptive_avg_pool %0 size=[3] : f32[2,3,3]",
    "adaptive_avg_pool %9 size=[1,2,2] : f32[1,2,1,2,2]",
    "max_pool %9 kernel=[2,2,2] stride=[1,1,1] pad=[0,1,0] dilation=[1,1,1] ceil=false : "
    "f32[1,2,1,5,2]",
    "avg_pool %9 kernel=[2,1,2] stride=[1,1,1] pad=[0,0,0] ceil=false include_pad=true divisor=0 : "
    "f32[1,2,1,4,2]",
    "conv %9, %10 stride=[1,2,1] pad=[1,0,0,0,1,1] dilation=[1,1,1] groups=1 : f32[1,3,2,2,4]",
    "choose_qparams %0 qmin=-128 qmax=127 eps=0.001 symmetric=false zero=0 by_row=false : f64[1], "
    "i64[1]",
    "choose_qparams %5 qmin=-128 qmax=127 eps=1e-7 symmetric=true zero=3 by_row=true : f64[3], "
    "i64[3]",
    "upsample_nearest %0 size=[7] scale=[] align_corners=false : f32[2,3,7]",
    "upsample_nearest_exact %0 size=[6] scale=[1.5] align_corners=false : f32[2,3,6]",
    "upsample_linear %0 size=[7] scale=[] align_corners=true : f32[2,3,7]",
    "upsample_linear %9 size=[3,5,4] scale=[] align_corners=false : f32[1,2,3,5,4]",
    "upsample_cubic %11 size=[5,6] scale=[] align_corners=false : f32[1,2,5,6]",
    "im2col %11 kernel=[2,2] dilation=[1,1] pad=[1,0] stride=[1,2] : f32[1,8,10]",
    "channel_shuffle %12 factor=2 : f32[1,4,2,3]",
    "rms_norm %0, %4 n_axes=1 eps=1e-05 : f32[2,3,4]",
    "pad %0 pad=[0,0,1,1,2,1] mode=reflect value=0 : f32[2,5,7]",
    "pad %0 pad=[1,1,1,0,0,2] mode=circular value=0 : f32[4,4,6]",
    "pad %0 pad=[1,0,-1,1,0,-2] mode=constant value=3 : f32[3,3,2]",
    "pad %9 pad=[0,0,1,0,1,1,0,2,0,0] mode=replicate value=0 : f32[1,3,4,6,3]",
    "repeat_interleave %0 axis=1 repeats=3 : f32[2,9,4]",
    "triu %0 diagonal=1 : f32[2,3,4]",
    "as_strided %0 size=[2,3] stride=[5,2] offset=3 : f32[2,3]",
    "gru_cell %13, %14, %15, %16, none, none : f32[2,2]",
    "rnn_tanh_cell %13, %14, %17, %18, none, none : f32[2,2]",

    /* as they are */
    "glu %0 axis=2 : f32[2,3,2]",
    "logit %0 eps=0.1 : f32[2,3,4]",
    "topk %0 k=2 axis=2 largest=false : f32[2,3,2], i64[2,3,2]",
    "max_dim %0 axis=1 keepdim=true : f32[2,1,4], i64[2,1,4]",
    "var %0 axes=[0,2] keepdim=false correction=0 : f32[3]",
    "argmax %0 axis=2 keepdim=false : i64[2,3]",
    "cumsum %0 axis=1 : f32[2,3,4]",
    "pixel_shuffle %12 factor=2 : f32[1,1,4,6]",
    "group_norm %12, %3, %4 groups=2 eps=0.001 : f32[1,4,2,3]",
    "batch_norm %12, %3, none, %4, %3 eps=10 : f32[1,4,2,3]",
    "layer_norm %0, %3, %4 n_axes=1 eps=0.001 : f32[2,3,4]",
    "roll %0 shifts=[1,-1] axes=[0,2] : f32[2,3,4]",
    "flip %0 axes=[0,2] : f32[2,3,4]",
    "tril %0 diagonal=-1 : f32[2,3,4]",
    "unfold %0 axis=2 size=2 step=1 : f32[2,3,3,2]",
    "diagonal %0 offset=1 axis1=1 axis2=2 : f32[2,3]",
    "repeat %0 repeats=[2,1,3] : f32[4,3,12]",
    "stack %0, %1 axis=3 : f32[2,3,4,2]",
    "atan2 %0, %1 : f32[2,3,4]",
    "remainder %0, %1 : f32[2,3,4]",
    "fmod %0, %1 : f32[2,3,4]",
    "clamp_tensor %0, none, %1 : f32[2,3,4]",
    "pow %0, %1 : f32[2,3,4]",
    "div %0, %1 mode=floor : f32[2,3,4]",
    "div %0, %1 mode=trunc : f32[2,3,4]",
    "cast %0 dtype=i32 : i32[2,3,4]",
    "cast %0 dtype=f16 : f16[2,3,4]",
    "gelu %0 form=tanh : f32[2,3,4]",
    "elu %0 alpha=1.5 scale=2 input_scale=0.5 : f32[2,3,4]",
    "upsample_linear %12 size=[4,6] scale=[2,2] align_corners=false : f32[1,4,4,6]",
    "upsample_nearest %12 size=[3,7] scale=[] align_corners=false : f32[1,4,3,7]",
    "avg_pool %12 kernel=[2,2] stride=[1,1] pad=[1,1] ceil=false include_pad=false divisor=0 : "
    "f32[1,4,3,4]",
    "avg_pool %12 kernel=[2,2] stride=[1,1] pad=[1,1] ceil=false include_pad=true divisor=3 : "
    "f32[1,4,3,4]",
    "max_pool %12 kernel=[2,2] stride=[2,2] pad=[1,1] dilation=[1,1] ceil=true : f32[1,4,2,2], "
    "i64[1,4,2,2]",
    "adaptive_max_pool %12 size=[2,2] : f32[1,4,2,2], i64[1,4,2,2]",
    "select_scatter %0, %5 axis=0 index=1 : f32[2,3,4]",
    "log_softmax %0 axis=1 : f32[2,3,4]",
    "norm %0 axes=[1] keepdim=false ord=1 : f32[2,4]",
    "amin %0 axes=[0,1,2] keepdim=false : f32[]",
    "prod %0 axes=[0,1,2] keepdim=false : f32[]",
    "any %0 axes=[1] keepdim=false : bool[2,4]",
    "all %0 axes=[0,1,2] keepdim=false : bool[]",
    "sort %0 axis=1 descending=true : f32[2,3,4], i64[2,3,4]",
    "unbind %0 axis=1 : f32[2,4], f32[2,4], f32[2,4]",
    "min_dim %0 axis=0 keepdim=false : f32[3,4], i64[3,4]",
    "erfinv %14 : f32[2,2]",
    "sign %0 : f32[2,3,4]",
    "isinf %0 : bool[2,3,4]",
    "expand %3 shape=[2,4] : f32[2,4]",
    "pad %0 pad=[0,0,0,0,2,1] mode=replicate value=0 : f32[2,3,7]",
    "channel_shuffle %12 factor=2 : f32[1,4,2,3]",
    "xlogy %0, %1 : f32[2,3,4]",
    "addmm %4, %7, %20 beta=2 alpha=0.5 : f32[3,4]",
    "argmin %0 axis=0 keepdim=true : i64[1,3,4]",
};

static const char head[] =
    "graph @main(%0: f32[2,3,4], %1: f32[2,3,4], %2: f32[2,4,3], %3: f32[4], %4: "
    "f32[4], %5: f32[3,4], %6: f32[2,3,3],\n"
    "  %7: f32[3,4], %8: f32[3,2,4], %9: f32[1,2,2,4,3], %10: f32[3,2,2,2,2], %11: "
    "f32[1,2,4,5], %12: f32[1,4,2,3],\n"
    "  %13: f32[2,3], %14: f32[2,2], %15: f32[6,3], %16: f32[6,2], %17: f32[2,3], "
    "%18: f32[2,2], %19: f32[3], %20: f32[4,4], %21: bool[3,3], %22: f32[3,3]) {\n"
    "  %23 = const [true, false, true, false, false, false, false, true, true] : bool[3,3]\n";

/* Masks, of which the second row lets nothing through. */
static double masked(bool by_bool, int64_t k)
{
    bool kept = k / 3 != 1 && k != 2;
    return by_bool ? kept : kept ? (double)k / 8 : -(double)INFINITY;
}

static tc_tensor *inputs(tc_ctx *ctx, const tc_graph *g)
{
    uint32_t state = 7;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++) {
            state = state * 1664525u + 1013904223u;
            ti_store_f64(in[i], k,
                         i > 20 ? masked(in[i].type->dtype == TC_bool, k)
                                : ((double)(state >> 8) / (1 << 24) - 0.45) * 4);
        }
    }
    return in;
}

static bool every_node_has_a_kernel(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op != TC_OP_const && node->op != TC_OP_while_loop && !ti_cpu_is_view(node) &&
            !ti_cpu_kernel_for(g, node))
            return false;
    }
    return true;
}

static tc_tensor *run(tc_ctx *ctx, tc_module *module)
{
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, 1);
    ctx->reference_kernels = true;
    CHECK(ti_exec_run(ti_exec_new(ctx, module), inputs(ctx, ti_main(module)), out) == TC_OK);
    return out;
}

static bool close_to(const tc_tensor *a, const tc_tensor *b)
{
    if (a->type != b->type)
        return false;
    for (int64_t i = 0; i < tc_type_count(a->type); i++) {
        double x = ti_load_f64(*a, i), y = ti_load_f64(*b, i);
        if (!(fabs(x - y) <= 2e-5 * (1 + fabs(x))) && !(x != x && y != y) && x != y)
            return false;
    }
    return true;
}

/* The case as a graph; a type for each result stands behind the colon. */
static char *with_results(tc_ctx *ctx, const char *text)
{
    int n = 1;
    for (const char *at = strrchr(text, ':'); (at = strstr(at, "], ")); at++)
        n++;
    char *results = "%24";
    for (int i = 1; i < n; i++)
        results = ti_text_format(&ctx->arena, "%s, %%%d", results, 24 + i);
    return ti_text_format(&ctx->arena, "%s  %s = %s\n  return %%24\n}\n", head, results, text);
}

/* Written as a file and read again. */
static tc_module *written(tc_ctx *ctx, tc_module *module)
{
    tc_module *back = NULL;
    tc_bytes bytes;
    tc_memory memory = ti_plan_memory(ctx, module, NULL);
    tc_emit_method forward = {.name = "forward", .module = module, .memory = &memory};
    bool made = ti_emit_methods(ctx, &forward, 1, &bytes) == TC_OK &&
                ti_read_pte(ctx, "written.pte", bytes, &back) == TC_OK &&
                ti_verify(ctx, back) == TC_OK;
    return made ? back : NULL;
}

static void try_text(tc_ctx *ctx, const char *all, const char *text)
{
    tc_module *before = NULL, *after = NULL;
    tc_bytes bytes = {(const uint8_t *)all, strlen(all)};
    bool read = ti_parse(ctx, "case", bytes, (tc_bytes){NULL, 0}, &before) == TC_OK &&
                ti_parse(ctx, "case", bytes, (tc_bytes){NULL, 0}, &after) == TC_OK &&
                ti_verify(ctx, before) == TC_OK;
    bool made = read && ti_run_passes(ctx, after, "program", NULL) == TC_OK;
    bool same = made && every_node_has_a_kernel(ti_main(after)) &&
                close_to(run(ctx, before), run(ctx, after));
    tc_module *back = same ? written(ctx, after) : NULL;
    same = same && back && close_to(run(ctx, before), run(ctx, back));
    CHECK(read && made && same);
    if (!same)
        fprintf(stderr, "%s: read %d, made %d\n%s", text, read, made, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

static void try_case(const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    try_text(ctx, with_results(ctx, text), text);
}

/* Loops: counted, and as long as numbers are small; what is given may be a constant, a view, or
 * what another loop leaves. */
static const char *const loops[] = {
    /* two numbers change places, a view of one is added to what is read from around the loop */
    "graph @main(%0: f32[2,3], %1: f32[2,3], %2: f32[3,2]) {\n"
    "  %3 = const [0] : i64[]\n"
    "  %4, %5, %6 = while_loop %3, %0, %1, %2 cond_graph=\"c\" body_graph=\"b\" : i64[], f32[2,3], "
    "f32[2,3]\n"
    "  %7 = add %5, %0 alpha=1 : f32[2,3]\n  %8 = sub %7, %6 alpha=1 : f32[2,3]\n  return %8\n}\n"
    "graph @c(%0: i64[], %1: f32[2,3], %2: f32[2,3], %3: f32[3,2]) {\n"
    "  %4 = const [5] : i64[]\n  %5 = lt %0, %4 : bool[]\n  return %5\n}\n"
    "graph @b(%0: i64[], %1: f32[2,3], %2: f32[2,3], %3: f32[3,2]) {\n"
    "  %4 = const [1] : i64[]\n  %5 = add %0, %4 alpha=1 : i64[]\n"
    "  %6 = reshape %1 shape=[3,2] : f32[3,2]\n  %7 = mul %6, %3 : f32[3,2]\n"
    "  %8 = reshape %7 shape=[2,3] : f32[2,3]\n  return %5, %2, %8\n}\n",
    /* a loop in a loop, and one that never runs */
    "graph @main(%0: f32[4]) {\n"
    "  %1 = const [0.5, 1, 2, 4] : f32[4]\n"
    "  %2 = while_loop %0, %1 cond_graph=\"c\" body_graph=\"b\" : f32[4]\n"
    "  %3 = while_loop %2, %0 cond_graph=\"never\" body_graph=\"b\" : f32[4]\n"
    "  %4 = add %3, %0 alpha=1 : f32[4]\n  return %4\n}\n"
    "graph @never(%0: f32[4], %1: f32[4]) {\n  %2 = const [false] : bool[]\n  return %2\n}\n"
    "graph @c(%0: f32[4], %1: f32[4]) {\n"
    "  %2 = amax %0 axes=[0] keepdim=false : f32[]\n  %3 = const [100] : f32[]\n"
    "  %4 = lt %2, %3 : bool[]\n  return %4\n}\n"
    "graph @b(%0: f32[4], %1: f32[4]) {\n"
    "  %2 = while_loop %0, %1 cond_graph=\"small\" body_graph=\"inner\" : f32[4]\n"
    "  %3 = const [1] : f32[]\n  %4 = add %2, %3 alpha=1 : f32[4]\n"
    "  %5 = abs %4 : f32[4]\n  return %5\n}\n"
    "graph @small(%0: f32[4], %1: f32[4]) {\n"
    "  %2 = sum %0 axes=[0] keepdim=false : f32[]\n  %3 = const [20] : f32[]\n"
    "  %4 = lt %2, %3 : bool[]\n  return %4\n}\n"
    "graph @inner(%0: f32[4], %1: f32[4]) {\n"
    "  %2 = square %0 : f32[4]\n  %3 = add %2, %1 alpha=1 : f32[4]\n  return %3\n}\n",
};

/* Every byte of a program with a loop changed, one at a time: it is read or turned down in words,
 * jumps that make no loop among them. */
static void try_broken(const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)}, file = {NULL, 0};
    bool made = ti_parse(ctx, "case", bytes, (tc_bytes){NULL, 0}, &module) == TC_OK &&
                ti_verify(ctx, module) == TC_OK &&
                ti_run_passes(ctx, module, "program", NULL) == TC_OK;
    tc_memory memory = {0};
    if (made)
        memory = ti_plan_memory(ctx, module, NULL);
    tc_emit_method forward = {.name = "forward", .module = module, .memory = &memory};
    CHECK(made && ti_emit_methods(ctx, &forward, 1, &file) == TC_OK);
    int no_loop = 0, odd = 0, silent = 0;
    for (size_t i = 0; i < file.size; i++)
        for (int bit = 0; bit < 4; bit++) {
            tc_ctx *other = tc_ctx_new();
            uint8_t *copy = ti_arena_copy(&other->arena, file.data, file.size);
            copy[i] = (uint8_t)(copy[i] ^ 1 << bit);
            tc_module *back = NULL;
            bool good = ti_read_pte(other, "broken.pte", (tc_bytes){copy, file.size}, &back) ==
                            TC_OK &&
                        ti_verify(other, back) == TC_OK;
            const char *words = tc_diagnostics(other);
            no_loop += strstr(words, "that is not a loop as tosac writes it") != NULL;
            odd += strstr(words, "without an exit") || strstr(words, "without a copy");
            silent += !good && !*words;
            tc_ctx_free(other);
        }
    CHECK(no_loop > 0 && odd > 0 && !silent);
    tc_ctx_free(ctx);
}

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(cases); i++)
        try_case(cases[i]);
    for (size_t i = 0; i < TC_COUNT(loops); i++)
        try_text(tc_ctx_new(), loops[i], "a loop");
    try_broken(loops[0]);
    return check_done();
}
