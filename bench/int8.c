/* SPDX-License-Identifier: Apache-2.0 */
/* int8.c -- int8 convolutions beside oneDNN's, one thread, on the shapes of small image networks.
 */
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/isa.h"
#include "fast/float.h"
#include "fast/int8.h"

void omp_set_num_threads(int n); /* libgomp's; clang comes without omp.h */

enum { ROUNDS = 8, RUNS = 40 };

/* input channels, output channels, extent, kernel, stride, groups */
static const int shapes[][6] = {
    {3, 32, 96, 3, 2, 1},     {32, 16, 48, 1, 1, 1},  {16, 96, 48, 1, 1, 1},
    {96, 96, 48, 3, 2, 96},   {144, 24, 24, 1, 1, 1}, {192, 64, 6, 1, 1, 1},
    {384, 384, 6, 3, 1, 384}, {960, 320, 3, 1, 1, 1}, {320, 1280, 3, 1, 1, 1},
    {64, 64, 32, 3, 1, 1},    {80, 80, 12, 7, 1, 80}, {96, 96, 8, 3, 1, 1}};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double ours(const int *s, int64_t oh)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_arena *arena = &ctx->arena;
    int64_t p = s[3] / 2, ic = s[0], oc = s[1], h = s[2], k = s[3];
    int64_t pad[4] = {p, p, p, p}, stride[2] = {s[4], s[4]}, dilation[2] = {1, 1};
    tc_attr_tosa_conv a = {{4, pad}, {2, stride}, {2, dilation}, false, TC_i32};
    const tc_type *x = ti_type_make(ctx, TC_i8, 4, (int64_t[]){1, h, h, ic});
    const tc_type *y = ti_type_make(ctx, TC_i8, 4, (int64_t[]){1, oh, oh, oc});
    bool depth = s[5] > 1;
    tc_tensor w =
        ti_tensor_new(arena, depth ? ti_type_make(ctx, TC_i8, 4, (int64_t[]){k, k, ic, 1})
                                   : ti_type_make(ctx, TC_i8, 4, (int64_t[]){oc, k, k, ic}));
    tc_tensor b = {ti_type_make(ctx, TC_i32, 1, &oc), tc_new_n(arena, int32_t, (size_t)oc)};
    memset(w.data, 3, tc_type_bytes(w.type));
    int32_t *m = tc_new_n(arena, int32_t, (size_t)oc + 16),
            *shift = tc_new_n(arena, int32_t, (size_t)oc + 16);
    for (int64_t i = 0; i < oc + 16; i++) {
        m[i] = 1 << 30;
        shift[i] = 40;
    }
    tc_narrow narrow = {m, shift, -5, -128, 127, TC_i8, NULL};
    tc_conv8 *conv = depth ? NULL : ti_conv8_new(ctx, &a, x, y, w, b, -3, &narrow);
    tc_depth8 *deep = depth ? ti_depth8_new(ctx, &a, x, y, w, b, -3, &narrow) : NULL;
    size_t bytes = depth ? ti_depth8_scratch(deep) : ti_conv8_scratch(conv);
    uintptr_t at = (uintptr_t)ti_arena_raw(arena, bytes + 63);
    void *scratch = (void *)((at + 63) / 64 * 64); /* as a plan has it */
    int8_t *in = tc_new_n(arena, int8_t, tc_type_bytes(x)),
           *out = tc_new_n(arena, int8_t, tc_type_bytes(y));
    double best = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double begin = now();
        for (int i = 0; i < RUNS; i++)
            if (depth)
                ti_depth8_run(deep, in, out, scratch);
            else
                ti_conv8_run(conv, in, out, scratch);
        double each = (now() - begin) / RUNS;
        best = each < best ? each : best;
    }
    tc_ctx_free(ctx);
    return best;
}

static double theirs(dnnl_engine_t engine, dnnl_stream_t stream, const int *s, int64_t oh,
                     const char **name)
{
    dnnl_dims_t x = {1, s[0], s[2], s[2]}, y = {1, s[1], oh, oh}, b = {s[1]},
                w = {s[1], s[0], s[3], s[3]};
    dnnl_dims_t grouped = {s[5], s[1] / s[5], s[0] / s[5], s[3], s[3]}, stride = {s[4], s[4]},
                pad = {s[3] / 2, s[3] / 2};
    dnnl_memory_desc_t xd, yd, wd, bd;
    dnnl_memory_desc_init_by_tag(&xd, 4, x, dnnl_s8, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&yd, 4, y, dnnl_s8, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&wd, s[5] > 1 ? 5 : 4, s[5] > 1 ? grouped : w, dnnl_s8,
                                 dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&bd, 1, b, dnnl_s32, dnnl_x);
    dnnl_convolution_desc_t desc;
    dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &xd,
                                       &wd, &bd, &yd, stride, pad, pad);
    float *scale = calloc((size_t)s[1], sizeof *scale);
    for (int i = 0; i < s[1]; i++)
        scale[i] = 0.01f;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_attr_create(&attr);
    dnnl_primitive_attr_set_output_scales(attr, s[1], 2, scale);
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive;
    if (dnnl_primitive_desc_create(&pd, &desc, attr, engine, NULL) != dnnl_success ||
        dnnl_primitive_create(&primitive, pd) != dnnl_success)
        return 0;
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, name);
    const struct {
        int arg;
        dnnl_query_t what;
        int index;
    } want[4] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0}, {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                 {DNNL_ARG_BIAS, dnnl_query_weights_md, 1}, {DNNL_ARG_DST, dnnl_query_dst_md, 0}};
    dnnl_exec_arg_t args[4];
    for (int i = 0; i < 4; i++) {
        args[i].arg = want[i].arg;
        dnnl_memory_create(&args[i].memory,
                           dnnl_primitive_desc_query_md(pd, want[i].what, want[i].index), engine,
                           DNNL_MEMORY_ALLOCATE);
    }
    double best = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double begin = now();
        for (int i = 0; i < RUNS; i++)
            dnnl_primitive_execute(primitive, stream, 4, args);
        dnnl_stream_wait(stream);
        double each = (now() - begin) / RUNS;
        best = each < best ? each : best;
    }
    return best; /* a benchmark's memory goes with the process */
}

int main(void)
{
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    omp_set_num_threads(1);
    dnnl_engine_create(&engine, dnnl_cpu, 0);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    printf("int8 convolutions (%s)\n", ti_isa_name(ti_isa()));
    printf("%-36s %10s %12s %8s\n", "in->out, extent, kernel/stride", "ours us", "oneDNN us",
           "ratio (aim 0.7)");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int *s = shapes[i];
        int64_t oh = (s[2] + 2 * (s[3] / 2) - s[3]) / s[4] + 1;
        const char *name = "";
        double a = ours(s, oh), b = theirs(engine, stream, s, oh, &name);
        char what[64];
        snprintf(what, sizeof what, "%d->%d, %d, %d/%d%s", s[0], s[1], s[2], s[3], s[4],
                 s[5] > 1 ? " depthwise" : "");
        printf("%-36s %10.1f %12.1f %8.2f  %s\n", what, 1e6 * a, 1e6 * b, b / a, name);
    }
    return 0;
}
