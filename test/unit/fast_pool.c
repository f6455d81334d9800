/* SPDX-License-Identifier: Apache-2.0 */
/* fast_pool.c -- pooling and PReLU with channels last give the bits of num/, at every level this
 * machine has. */
#include "levels.h"

#include <math.h>

#include "fast/fast_pool.h"
#include "num/call.h"
#include "num/kernels.h"

static float number(void)
{
    int64_t which = any(0, 40);
    return which == 0 ? NAN : which == 1 ? -INFINITY : which == 2 ? -0.0f : (float)any(-99, 99) / 8;
}

/* [n, h, w, c] from [n, c, h, w], or back. */
static void turn(const float *from, const int64_t *d, bool back, float *to)
{
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++)
            for (int64_t p = 0; p < d[2] * d[3]; p++) {
                int64_t first = (n * d[1] + c) * d[2] * d[3] + p;
                int64_t last = (n * d[2] * d[3] + p) * d[1] + c;
                to[back ? first : last] = from[back ? last : first];
            }
}

static tc_tensor random_f32(tc_ctx *ctx, int rank, const int64_t *dim)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_f32, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ((float *)t.data)[i] = number();
    return t;
}

static bool same(tc_tensor a, const float *b)
{
    for (int64_t i = 0; i < tc_type_count(a.type); i++) {
        float v = ((const float *)a.data)[i];
        if (isnan(v) ? !isnan(b[i]) : memcmp(&v, &b[i], sizeof v) != 0)
            return false;
    }
    return true;
}

static void try_max(tc_ctx *ctx)
{
    int64_t d[4] = {any(1, 2), any(1, 40), any(5, 9), any(5, 9)};
    int64_t kernel[2] = {any(1, 3), any(1, 3)}, stride[2] = {any(1, 2), any(1, 3)};
    int64_t pad[2] = {kernel[0] / 2, kernel[1] / 2}, dilation[2] = {any(1, 2), any(1, 2)};
    int64_t e[4] = {d[0], d[1], 0, 0};
    for (int i = 0; i < 2; i++)
        e[2 + i] = (d[2 + i] + 2 * pad[i] - (kernel[i] - 1) * dilation[i] - 1) / stride[i] + 1;
    tc_tensor x = random_f32(ctx, 4, d), want = random_f32(ctx, 4, e);
    tc_attr_max_pool a = {{2, kernel}, {2, stride}, {2, pad}, {2, dilation}, false};
    tc_call call = {&a, 1, 1, &x, &want, &ctx->scratch, NULL};
    ti_num_max_pool(&call);
    float *in = tc_new_n(&ctx->arena, float, (size_t)tc_type_count(x.type));
    float *out = tc_new_n(&ctx->arena, float, (size_t)tc_type_count(want.type));
    float *back = tc_new_n(&ctx->arena, float, (size_t)tc_type_count(want.type));
    turn(x.data, d, false, in);
    tc_max_pool p = {TC_f32, d[0], d[2], d[3], d[1], e[2], e[3],
                     {kernel[0], kernel[1]}, {stride[0], stride[1]}, {pad[0], pad[1]},
                     {dilation[0], dilation[1]}};
    ti_max_pool_run(&p, in, out);
    turn(out, e, true, back);
    CHECK(same(want, back));
}

static void try_max_int(tc_ctx *ctx, tc_dtype dtype)
{
    int64_t d[4] = {any(1, 2), any(5, 9), any(5, 9), any(1, 70)};
    int64_t kernel[2] = {any(2, 3), any(2, 3)}, stride[2] = {any(1, 2), any(1, 3)};
    int64_t pad[4] = {any(0, 1), 1, any(0, 1), 1}, e[4] = {d[0], 0, 0, d[3]};
    for (int i = 0; i < 2; i++)
        e[1 + i] = (d[1 + i] + pad[2 * i] + pad[2 * i + 1] - kernel[i]) / stride[i] + 1;
    tc_tensor x = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 4, d));
    for (size_t i = 0; i < tc_type_bytes(x.type); i++)
        ((uint8_t *)x.data)[i] = (uint8_t)any(0, 255);
    tc_tensor want = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 4, e));
    tc_tensor got = ti_tensor_new(&ctx->arena, want.type);
    tc_attr_tosa_max_pool a = {{2, kernel}, {2, stride}, {4, pad}, TC_nan_mode_propagate};
    tc_call call = {&a, 1, 1, &x, &want, &ctx->scratch, NULL};
    ti_num_tosa_max_pool2d(&call);
    CHECK(!call.error);
    tc_max_pool p = {dtype, d[0], d[1], d[2], d[3], e[1], e[2],
                     {kernel[0], kernel[1]}, {stride[0], stride[1]}, {pad[0], pad[2]}, {1, 1}};
    ti_max_pool_run(&p, x.data, got.data);
    CHECK(memcmp(want.data, got.data, tc_type_bytes(want.type)) == 0);
}

static void try_prelu(tc_ctx *ctx)
{
    int64_t d[4] = {any(1, 2), any(1, 40), any(1, 9), any(1, 9)};
    tc_tensor x = random_f32(ctx, 4, d), w = random_f32(ctx, 1, &d[1]);
    tc_tensor want = random_f32(ctx, 4, d);
    tc_tensor in[2] = {x, w};
    tc_call call = {NULL, 2, 1, in, &want, &ctx->scratch, NULL};
    ti_num_prelu(&call);
    size_t n = (size_t)tc_type_count(x.type), c = (size_t)d[1];
    float *turned = tc_new_n(&ctx->arena, float, n), *out = tc_new_n(&ctx->arena, float, n),
          *back = tc_new_n(&ctx->arena, float, n);
    turn(x.data, d, false, turned);
    ti_prelu_run(turned, w.data, n / c, c, out);
    turn(out, d, true, back);
    CHECK(same(want, back));
}

static void checks(void)
{
    for (int i = 0; i < 60; i++) {
        tc_ctx *ctx = tc_ctx_new();
        try_max(ctx);
        try_max_int(ctx, TC_i8);
        try_max_int(ctx, TC_i16);
        try_prelu(ctx);
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    try_levels(checks);
    return check_done();
}
