/* SPDX-License-Identifier: Apache-2.0 */
/* fast_int8.c -- the quick integer products give the bits of num/, at every level this machine has.
 */
#include "levels.h"

#include "fast/int16.h"
#include "fast/int8.h"
#include "fast/int_spread.h"
#include "num/call.h"
#include "num/kernels.h"
#include "num/load.h"

static tc_tensor random_i8(tc_ctx *ctx, int rank, const int64_t *dim, int64_t lo)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i8, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ((int8_t *)t.data)[i] = (int8_t)any(lo, 127);
    return t;
}

static tc_tensor one(tc_ctx *ctx, tc_dtype dtype, int64_t value)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 1, (int64_t[]){1}));
    if (dtype == TC_i8)
        *(int8_t *)t.data = (int8_t)value;
    else
        *(int32_t *)t.data = (int32_t)value;
    return t;
}

/* Multipliers and shifts for n channels, as num/ and fast/ want them. */
typedef struct scales {
    tc_tensor multiplier, shift;
    tc_narrow narrow;
} scales;

static scales random_scales(tc_ctx *ctx, int64_t n, tc_dtype dtype, int32_t zero)
{
    scales s;
    s.multiplier = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i32, 1, &n));
    s.shift = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i8, 1, &n));
    bool lefts = any(0, 3) == 0;
    int32_t *m = tc_new_n(&ctx->arena, int32_t, (size_t)n + 16);
    int32_t *sh = tc_new_n(&ctx->arena, int32_t, (size_t)n + 16);
    for (int64_t i = 0; i < n; i++) {
        ((int32_t *)s.multiplier.data)[i] = m[i] = (int32_t)any(1 << 30, INT32_MAX);
        sh[i] = (int32_t)any(lefts ? 26 : 32, 44);
        ((int8_t *)s.shift.data)[i] = (int8_t)sh[i];
    }
    for (int i = 0; i < 16; i++)
        sh[n + i] = 2;
    s.narrow = (tc_narrow){
        m, sh, zero, (int32_t)ti_dtype_min(dtype), (int32_t)ti_dtype_max(dtype), dtype, NULL};
    return s;
}

/* RESCALE by num/. */
static void rescaled(tc_ctx *ctx, tc_tensor acc, const scales *s, tc_tensor out)
{
    tc_attr_tosa_rescale attr = {true, TC_rounding_single, true, false, false};
    tc_tensor zero_out =
        ti_tensor_new(&ctx->arena, ti_type_make(ctx, out.type->dtype, 1, (int64_t[]){1}));
    memcpy(zero_out.data, &s->narrow.zero, tc_dtypes[out.type->dtype].bytes);
    tc_tensor in[5] = {acc, s->multiplier, s->shift, one(ctx, TC_i32, 0), zero_out};
    tc_call call = {&attr, 5, 1, in, &out, &ctx->scratch, NULL};
    ti_num_tosa_rescale(&call);
}

static bool same(tc_tensor a, tc_tensor b)
{
    return memcmp(a.data, b.data, tc_type_bytes(a.type)) == 0;
}

/* A CLAMP, and perhaps a TABLE, behind a RESCALE to bytes. */
static void activate(tc_ctx *ctx, tc_narrow *n, tc_tensor bytes)
{
    int8_t *v = bytes.data, *table = any(0, 1) ? tc_new_n(&ctx->arena, int8_t, 256) : NULL;
    n->lo = (int32_t)any(-128, 0);
    n->hi = (int32_t)any(0, 127);
    n->table = table;
    for (int i = 0; table && i < 256; i++)
        table[i] = (int8_t)any(-128, 127);
    for (int64_t i = 0; i < tc_type_count(bytes.type); i++) {
        int32_t c = v[i] < n->lo ? n->lo : v[i] > n->hi ? n->hi : v[i];
        v[i] = table ? table[c + 128] : (int8_t)c;
    }
}

static void try_conv(tc_ctx *ctx, bool depth)
{
    int64_t ic = any(1, 70), oc = depth ? ic : any(1, 90), kh = any(1, 4), kw = any(1, 4);
    int64_t pad[4] = {any(0, 2), any(0, 2), any(0, 2), any(0, 2)},
            stride[2] = {any(1, 2), any(1, 2)};
    int64_t dilation[2] = {any(1, 2), any(1, 2)}, ih = any(8, 14), iw = any(8, 14), n = any(1, 2);
    if (any(0, 9) == 0) { /* more than one strip */
        ih = any(30, 40);
        iw = any(50, 60);
        ic = any(60, 70);
        oc = depth ? ic : oc;
    }
    int64_t oh = (ih - 1 + pad[0] + pad[1] - (kh - 1) * dilation[0]) / stride[0] + 1;
    int64_t ow = (iw - 1 + pad[2] + pad[3] - (kw - 1) * dilation[1]) / stride[1] + 1;
    tc_attr_tosa_conv a = {{4, pad}, {2, stride}, {2, dilation}, false, TC_i32};
    tc_tensor x = random_i8(ctx, 4, (int64_t[]){n, ih, iw, ic}, -128);
    tc_tensor w = depth ? random_i8(ctx, 4, (int64_t[]){kh, kw, ic, 1}, -127)
                        : random_i8(ctx, 4, (int64_t[]){oc, kh, kw, ic}, -127);
    int64_t n_bias = any(0, 1) ? oc : 1;
    tc_tensor bias = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i32, 1, &n_bias));
    for (int64_t i = 0; i < n_bias; i++)
        ((int32_t *)bias.data)[i] = (int32_t)any(-100000, 100000);
    int32_t zero = (int32_t)any(-128, 127);
    tc_tensor in[5] = {x, w, bias, one(ctx, TC_i8, zero), one(ctx, TC_i8, 0)};
    tc_tensor acc =
        ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i32, 4, (int64_t[]){n, oh, ow, oc}));
    tc_call call = {&a, 5, 1, in, &acc, &ctx->scratch, NULL};
    if (depth)
        ti_num_tosa_depthwise_conv2d(&call);
    else
        ti_num_tosa_conv2d(&call);
    static const tc_dtype dtypes[] = {TC_i8, TC_i16, TC_i32};
    tc_dtype dtype = dtypes[any(0, 2)];
    scales s = random_scales(ctx, oc, dtype, dtype == TC_i8 ? (int32_t)any(-128, 127) : 0);
    tc_tensor want =
        ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 4, (int64_t[]){n, oh, ow, oc}));
    rescaled(ctx, acc, &s, want);
    if (dtype == TC_i8)
        activate(ctx, &s.narrow, want);

    tc_tensor got = ti_tensor_new(&ctx->arena, acc.type),
              got2 = ti_tensor_new(&ctx->arena, want.type);
    if (depth) {
        tc_depth8 *d = ti_depth8_new(ctx, &a, x.type, acc.type, w, bias, zero, NULL);
        ti_depth8_run(d, x.data, got.data, ti_arena_raw(&ctx->arena, ti_depth8_scratch(d)));
        d = ti_depth8_new(ctx, &a, x.type, acc.type, w, bias, zero, &s.narrow);
        ti_depth8_run(d, x.data, got2.data, ti_arena_raw(&ctx->arena, ti_depth8_scratch(d)));
    } else {
        tc_conv8 *c = ti_conv8_new(ctx, &a, x.type, acc.type, w, bias, zero, NULL);
        ti_conv8_run(c, x.data, got.data, ti_arena_raw(&ctx->arena, ti_conv8_scratch(c)));
        c = ti_conv8_new(ctx, &a, x.type, acc.type, w, bias, zero, &s.narrow);
        ti_conv8_run(c, x.data, got2.data, ti_arena_raw(&ctx->arena, ti_conv8_scratch(c)));
    }
    CHECK(same(got, acc));
    CHECK(same(got2, want));
}

static void try_matmul(tc_ctx *ctx)
{
    int64_t n = any(1, 3), h = any(1, 60), c = any(1, 70), w = any(1, 70);
    tc_tensor a = random_i8(ctx, 3, (int64_t[]){n, h, c}, -128),
              b = random_i8(ctx, 3, (int64_t[]){n, c, w}, -128);
    int32_t za = (int32_t)any(-128, 127), zb = (int32_t)(any(0, 1) ? any(-128, 127) : 0);
    tc_tensor in[4] = {a, b, one(ctx, TC_i8, za), one(ctx, TC_i8, zb)};
    tc_tensor want = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i32, 3, (int64_t[]){n, h, w}));
    tc_tensor got = ti_tensor_new(&ctx->arena, want.type);
    tc_call call = {NULL, 4, 1, in, &want, &ctx->scratch, NULL};
    ti_num_tosa_matmul(&call);
    tc_matmul8 *m = ti_matmul8_new(ctx, a.type, b.type, za, zb, NULL);
    ti_matmul8_run(m, a.data, b.data, got.data,
                   ti_arena_raw(&ctx->arena, ti_matmul8_scratch(m)));
    CHECK(same(got, want));
    scales s = random_scales(ctx, w, TC_i8, (int32_t)any(-128, 127));
    tc_tensor bytes = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i8, 3, want.type->dim));
    tc_tensor got2 = ti_tensor_new(&ctx->arena, bytes.type);
    rescaled(ctx, want, &s, bytes);
    m = ti_matmul8_new(ctx, a.type, b.type, za, zb, &s.narrow);
    ti_matmul8_run(m, a.data, b.data, got2.data,
                   ti_arena_raw(&ctx->arena, ti_matmul8_scratch(m)));
    CHECK(same(got2, bytes));
}

/* RESCALE of 48-bit sums by num/, and as fast/ wants it. */
static tc_narrow rescaled48(tc_ctx *ctx, tc_tensor acc, tc_tensor out)
{
    int64_t n = acc.type->dim[acc.type->rank - 1], n_one = 1;
    tc_tensor m = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i16, 1, &n));
    tc_tensor shift = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i8, 1, &n));
    int32_t *wide_m = tc_new_n(&ctx->arena, int32_t, (size_t)n + 16);
    int32_t *wide_s = tc_new_n(&ctx->arena, int32_t, (size_t)n + 16);
    for (int64_t i = 0; i < n + 16; i++) {
        wide_m[i] = (int32_t)any(1 << 14, INT16_MAX);
        wide_s[i] = (int32_t)any(24, 40);
        if (i < n) {
            ((int16_t *)m.data)[i] = (int16_t)wide_m[i];
            ((int8_t *)shift.data)[i] = (int8_t)wide_s[i];
        }
    }
    tc_attr_tosa_rescale attr = {false, TC_rounding_single, true, false, false};
    tc_tensor none48 = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i48, 1, &n_one));
    tc_tensor none16 = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i16, 1, &n_one));
    memset(none48.data, 0, sizeof(int64_t));
    memset(none16.data, 0, sizeof(int16_t));
    tc_tensor in[5] = {acc, m, shift, none48, none16};
    tc_call call = {&attr, 5, 1, in, &out, &ctx->scratch, NULL};
    ti_num_tosa_rescale(&call);
    CHECK(!call.error);
    return (tc_narrow){wide_m, wide_s, 0, INT16_MIN, INT16_MAX, TC_i16, NULL};
}

static tc_tensor random_i16(tc_ctx *ctx, int rank, const int64_t *dim, bool full)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i16, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ((int16_t *)t.data)[i] = (int16_t)(full ? INT16_MIN : any(INT16_MIN, INT16_MAX));
    return t;
}

/* int16 by int8: ends of the range too, where sums are largest. */
static void try_conv16(tc_ctx *ctx, bool depth)
{
    bool full = any(0, 3) == 0;
    int64_t ic = any(0, 3) ? any(1, 70) : any(250, 800), oc = depth ? ic : any(1, 70);
    int64_t kh = any(1, 3), kw = any(1, 3), ih = any(3, 8), iw = any(3, 8), one_bias = 1;
    int64_t pad[4] = {any(0, 1), any(0, 1), any(0, 1), any(0, 1)};
    int64_t stride[2] = {any(1, 2), any(1, 2)}, dilation[2] = {1, any(1, 2)};
    int64_t oh = (ih - 1 + pad[0] + pad[1] - (kh - 1) * dilation[0]) / stride[0] + 1;
    int64_t ow = (iw - 1 + pad[2] + pad[3] - (kw - 1) * dilation[1]) / stride[1] + 1;
    if (ow < 1 || iw + pad[2] + pad[3] < (kw - 1) * dilation[1] + 1)
        return;
    tc_attr_tosa_conv a = {{4, pad}, {2, stride}, {2, dilation}, false, TC_i48};
    tc_tensor x = random_i16(ctx, 4, (int64_t[]){1, ih, iw, ic}, full);
    tc_tensor w = depth ? random_i8(ctx, 4, (int64_t[]){kh, kw, ic, 1}, -127)
                        : random_i8(ctx, 4, (int64_t[]){oc, kh, kw, ic}, -127);
    for (int64_t i = 0; full && i < tc_type_count(w.type); i++)
        ((int8_t *)w.data)[i] = -127;
    int64_t *bias_dim = any(0, 1) ? &oc : &one_bias, scale = any(0, 1) ? 1000 : 1000000;
    tc_tensor bias = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i48, 1, bias_dim));
    for (int64_t i = 0; i < *bias_dim; i++)
        ((int64_t *)bias.data)[i] = (int64_t)any(-100000, 100000) * scale;
    tc_tensor zero = random_i16(ctx, 1, &one_bias, false);
    memset(zero.data, 0, sizeof(int16_t));
    tc_tensor in[5] = {x, w, bias, zero, one(ctx, TC_i8, 0)};
    int64_t dim[4] = {1, oh, ow, oc};
    tc_tensor want = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i48, 4, dim));
    tc_tensor narrow = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i16, 4, dim));
    tc_tensor got = ti_tensor_new(&ctx->arena, want.type),
              got2 = ti_tensor_new(&ctx->arena, narrow.type);
    tc_call call = {&a, 5, 1, in, &want, &ctx->scratch, NULL};
    if (depth)
        ti_num_tosa_depthwise_conv2d(&call);
    else
        ti_num_tosa_conv2d(&call);
    tc_narrow n = rescaled48(ctx, want, narrow);
    if (depth) {
        tc_depth8 *d = ti_depth16_new(ctx, &a, x.type, want.type, w, bias, &n);
        if (!d) { /* a bias past 32 bits */
            CHECK(scale == 1000000);
            return;
        }
        ti_depth8_run(d, x.data, got2.data, ti_arena_raw(&ctx->arena, ti_depth8_scratch(d)));
    } else {
        tc_conv16 *c = ti_conv16_new(ctx, &a, x.type, want.type, w, bias, NULL);
        ti_conv16_run(c, x.data, got.data, ti_arena_raw(&ctx->arena, ti_conv16_scratch(c)));
        CHECK(same(got, want));
        c = ti_conv16_new(ctx, &a, x.type, want.type, w, bias, &n);
        ti_conv16_run(c, x.data, got2.data, ti_arena_raw(&ctx->arena, ti_conv16_scratch(c)));
    }
    CHECK(same(got2, narrow));
}

/* TRANSPOSE_CONV2D of 8 and of 16 bits: kernels smaller than the stride too, and results cut at their edges. */
static void try_transposed(tc_ctx *ctx, bool wide)
{
    int64_t ic = any(1, 40), oc = any(1, 40), kernel[2] = {any(1, 4), any(1, 4)}, one_bias = 1;
    int64_t stride[2] = {any(1, 4), any(1, 4)}, in_dim[4] = {any(1, 2), any(1, 7), any(1, 7), ic};
    int64_t pad[4], dim[4] = {in_dim[0], 0, 0, oc};
    for (int i = 0; i < 4; i++)
        pad[i] = any(1 - kernel[i / 2], 3);
    for (int i = 0; i < 2; i++) {
        dim[1 + i] = (in_dim[1 + i] - 1) * stride[i] + pad[2 * i] + pad[2 * i + 1] + kernel[i];
        if (dim[1 + i] < 1)
            return;
    }
    tc_dtype sum = wide ? TC_i48 : TC_i32, dtype = wide ? TC_i16 : TC_i8;
    tc_attr_tosa_transpose_conv a = {{4, pad}, {2, stride}, false, sum};
    tc_tensor x = wide ? random_i16(ctx, 4, in_dim, false) : random_i8(ctx, 4, in_dim, -128);
    tc_tensor w = random_i8(ctx, 4, (int64_t[]){oc, kernel[0], kernel[1], ic}, -127);
    tc_tensor bias = ti_tensor_new(&ctx->arena, ti_type_make(ctx, sum, 1, &one_bias));
    ti_store_i64(bias, 0, any(-100000, 100000));
    int32_t zero = wide ? 0 : (int32_t)any(-128, 127);
    tc_tensor x_zero = random_i16(ctx, 1, &one_bias, false);
    memset(x_zero.data, 0, sizeof(int16_t));
    tc_tensor in[5] = {x, w, bias, wide ? x_zero : one(ctx, TC_i8, zero), one(ctx, TC_i8, 0)};
    tc_tensor want = ti_tensor_new(&ctx->arena, ti_type_make(ctx, sum, 4, dim)),
              narrow = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 4, dim));
    tc_tensor got = ti_tensor_new(&ctx->arena, want.type),
              got2 = ti_tensor_new(&ctx->arena, narrow.type);
    tc_call call = {&a, 5, 1, in, &want, &ctx->scratch, NULL};
    ti_num_tosa_transpose_conv2d(&call);
    scales s = random_scales(ctx, oc, dtype, wide ? 0 : (int32_t)any(-128, 127));
    tc_narrow n = s.narrow;
    if (wide)
        n = rescaled48(ctx, want, narrow);
    else
        rescaled(ctx, want, &s, narrow);
    tc_spread *t = ti_transposed_new(ctx, &a, x.type, want.type, w, bias, zero, NULL);
    ti_spread_run(t, x.data, got.data, ti_arena_raw(&ctx->arena, ti_spread_scratch(t)));
    CHECK(same(got, want));
    t = ti_transposed_new(ctx, &a, x.type, want.type, w, bias, zero, &n);
    ti_spread_run(t, x.data, got2.data, ti_arena_raw(&ctx->arena, ti_spread_scratch(t)));
    CHECK(same(got2, narrow));
}

static void try_conv3d(tc_ctx *ctx, bool wide)
{
    int64_t ic = any(1, 20), oc = any(1, 40), one_bias = 1, in_dim[5] = {any(1, 2), 0, 0, 0, ic};
    int64_t dim[5] = {in_dim[0], 0, 0, 0, oc}, w_dim[5] = {oc, 0, 0, 0, ic};
    int64_t pad[6], stride[3], dilation[3];
    for (int i = 0; i < 3; i++) {
        in_dim[1 + i] = any(4, 7);
        w_dim[1 + i] = any(1, 3);
        stride[i] = any(1, 2);
        dilation[i] = any(1, 2);
        pad[2 * i] = any(0, 2);
        pad[2 * i + 1] = any(0, 2);
        int64_t room = in_dim[1 + i] - 1 + pad[2 * i] + pad[2 * i + 1] - (w_dim[1 + i] - 1) * dilation[i];
        if (room < 0)
            return;
        dim[1 + i] = room / stride[i] + 1;
    }
    tc_dtype sum = wide ? TC_i48 : TC_i32, dtype = wide ? TC_i16 : TC_i8;
    tc_attr_tosa_conv a = {{6, pad}, {3, stride}, {3, dilation}, false, sum};
    tc_tensor x = wide ? random_i16(ctx, 5, in_dim, false) : random_i8(ctx, 5, in_dim, -128);
    tc_tensor w = random_i8(ctx, 5, w_dim, -127);
    tc_tensor bias = ti_tensor_new(&ctx->arena, ti_type_make(ctx, sum, 1, &one_bias));
    ti_store_i64(bias, 0, any(-100000, 100000));
    int32_t zero = wide ? 0 : (int32_t)any(-128, 127);
    tc_tensor x_zero = random_i16(ctx, 1, &one_bias, false);
    memset(x_zero.data, 0, sizeof(int16_t));
    tc_tensor in[5] = {x, w, bias, wide ? x_zero : one(ctx, TC_i8, zero), one(ctx, TC_i8, 0)};
    tc_tensor want = ti_tensor_new(&ctx->arena, ti_type_make(ctx, sum, 5, dim)),
              narrow = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 5, dim));
    tc_tensor got = ti_tensor_new(&ctx->arena, want.type),
              got2 = ti_tensor_new(&ctx->arena, narrow.type);
    tc_call call = {&a, 5, 1, in, &want, &ctx->scratch, NULL};
    ti_num_tosa_conv3d(&call);
    scales s = random_scales(ctx, oc, dtype, wide ? 0 : (int32_t)any(-128, 127));
    tc_narrow n = s.narrow;
    if (wide)
        n = rescaled48(ctx, want, narrow);
    else
        rescaled(ctx, want, &s, narrow);
    tc_spread *t = ti_conv3d_new(ctx, &a, x.type, want.type, w, bias, zero, NULL);
    ti_spread_run(t, x.data, got.data, ti_arena_raw(&ctx->arena, ti_spread_scratch(t)));
    CHECK(same(got, want));
    t = ti_conv3d_new(ctx, &a, x.type, want.type, w, bias, zero, &n);
    ti_spread_run(t, x.data, got2.data, ti_arena_raw(&ctx->arena, ti_spread_scratch(t)));
    CHECK(same(got2, narrow));
}

static void try_matmul16(tc_ctx *ctx)
{
    bool full = any(0, 3) == 0;
    int64_t n = any(1, 3), h = any(1, 110), c = any(0, 3) ? any(1, 70) : any(250, 600);
    int64_t w = any(1, 80), one_zero = 1;
    tc_tensor a = random_i16(ctx, 3, (int64_t[]){n, h, c}, full),
              b = random_i16(ctx, 3, (int64_t[]){n, c, w}, full && any(0, 1));
    tc_tensor zero = random_i16(ctx, 1, &one_zero, false);
    memset(zero.data, 0, sizeof(int16_t));
    tc_tensor in[4] = {a, b, zero, zero};
    int64_t dim[3] = {n, h, w};
    tc_tensor want = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i48, 3, dim));
    tc_tensor narrow = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i16, 3, dim));
    tc_tensor got = ti_tensor_new(&ctx->arena, want.type),
              got2 = ti_tensor_new(&ctx->arena, narrow.type);
    tc_call call = {NULL, 4, 1, in, &want, &ctx->scratch, NULL};
    ti_num_tosa_matmul(&call);
    tc_narrow s = rescaled48(ctx, want, narrow);
    tc_tensor unknown = {b.type, NULL};
    tc_matmul16 *m = ti_matmul16_new(ctx, a.type, unknown, NULL);
    ti_matmul16_run(m, a.data, b.data, got.data,
                    ti_arena_raw(&ctx->arena, ti_matmul16_scratch(m)));
    CHECK(same(got, want));
    m = ti_matmul16_new(ctx, a.type, any(0, 1) ? b : unknown, &s);
    ti_matmul16_run(m, a.data, b.data, got2.data,
                    ti_arena_raw(&ctx->arena, ti_matmul16_scratch(m)));
    CHECK(same(got2, narrow));
}

static void checks(void)
{
    for (int i = 0; i < 60; i++) {
        tc_ctx *ctx = tc_ctx_new();
        try_conv(ctx, false);
        try_conv(ctx, true);
        try_matmul(ctx);
        try_conv16(ctx, false);
        try_conv16(ctx, true);
        try_matmul16(ctx);
        try_transposed(ctx, false);
        try_transposed(ctx, true);
        try_conv3d(ctx, false);
        try_conv3d(ctx, true);
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    try_levels(checks);
    return check_done();
}
