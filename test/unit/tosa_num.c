/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_num.c -- TOSA's kernels on numbers worked out by hand from the specification's formulas. */
#include "check.h"

#include <math.h>

#include "run/exec.h"
#include "num/fixed.h"
#include "num/kernels.h"
#include "num/load.h"

static tc_ctx *ctx;

#define COUNT(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define LIST(...) ((tc_ints){COUNT(__VA_ARGS__), (int64_t[]){__VA_ARGS__}})
#define DIM(...) COUNT(__VA_ARGS__), (int64_t[]){__VA_ARGS__}
#define INTS(...) (int64_t[]){__VA_ARGS__}
#define REALS(...) (double[]){__VA_ARGS__}

static tc_tensor room(tc_dtype dtype, int rank, const int64_t *dim)
{
    return ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, rank, dim));
}

static tc_tensor ints(tc_dtype dtype, int rank, const int64_t *dim, const int64_t *v)
{
    tc_tensor t = room(dtype, rank, dim);
    ti_write_i64(t, 0, (size_t)tc_type_count(t.type), v);
    return t;
}

static tc_tensor reals(tc_dtype dtype, int rank, const int64_t *dim, const double *v)
{
    tc_tensor t = room(dtype, rank, dim);
    ti_write_f64(t, 0, (size_t)tc_type_count(t.type), v);
    return t;
}

static tc_tensor one(tc_dtype dtype, int64_t v) { return ints(dtype, DIM(1), INTS(v)); }

static const char *trouble; /* what the last kernel said */

static tc_tensor run(tc_kernel *kernel, const void *attr, tc_tensor out, int n_in,
                     const tc_tensor *in)
{
    tc_call call = {attr, n_in, 1, in, &out, &ctx->scratch, NULL};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    kernel(&call);
    ti_arena_rewind(&ctx->scratch, mark);
    trouble = call.error;
    return out;
}
#define RUN(op, attr, out, ...)                                                                    \
    run(ti_num_tosa_##op, attr, out,                                                               \
        (int)(sizeof((tc_tensor[]){__VA_ARGS__}) / sizeof(tc_tensor)), (tc_tensor[]){__VA_ARGS__})

static bool is(tc_tensor t, const int64_t *v)
{
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        if (ti_load_i64(t, i) != v[i])
            return false;
    return trouble == NULL;
}

static bool is_real(tc_tensor t, const double *v)
{
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        double x = ti_load_f64(t, i);
        if (isnan(v[i]) ? !isnan(x) : x != v[i])
            return false;
    }
    return trouble == NULL;
}

static void test_fixed(void)
{
    CHECK(ti_asr(-1, 1) == -1 && ti_asr(-5, 1) == -3 && ti_asr(5, 1) == 2);
    CHECK(ti_asr(INT64_MIN, 63) == -1);
    /* halves up: 0.5, 1.5, -0.5, -1.5 */
    CHECK(ti_scale32(1, 1 << 30, 31) == 1 && ti_scale32(3, 1 << 30, 31) == 2);
    CHECK(ti_scale32(-1, 1 << 30, 31) == 0 && ti_scale32(-3, 1 << 30, 31) == -1);
    /* a quarter, and minus a half, by way of 31 bits */
    CHECK(ti_scale32(1, 1 << 30, 32) == 0 && ti_scale32_double(1, 1 << 30, 32) == 1);
    CHECK(ti_scale32(-2, 1 << 30, 32) == 0 && ti_scale32_double(-2, 1 << 30, 32) == -1);
    CHECK(ti_scale32_double(1, 1 << 30, 31) == 1); /* shift 31: one rounding */
    CHECK(ti_scale32(INT32_MAX, INT32_MAX, 62) == 1 && ti_scale32(INT32_MIN, INT32_MAX, 62) == -1);
    CHECK(ti_scale32_defined(-2, 0, 2) && ti_scale32_defined(1, 0, 2));
    CHECK(!ti_scale32_defined(2, 0, 2) && !ti_scale32_defined(-3, 0, 2));
    CHECK(!ti_scale32_defined(0, 1, 1) && !ti_scale32_defined(0, 1, 63) &&
          !ti_scale32_defined(0, -1, 5));
    CHECK(ti_scale16(INT64_C(1) << 40, 1 << 14, 50) == 16);
    tc_scale s = ti_reciprocal_scale(1);
    CHECK(s.multiplier == (1 << 30) + 1 && s.shift == 30);
    s = ti_reciprocal_scale(3);
    CHECK(s.multiplier == 1431655766 && s.shift == 32);
    s = ti_reciprocal_scale(4);
    CHECK(s.multiplier == (1 << 30) + 1 && s.shift == 32);
}

static void test_rescale(void)
{
    tc_attr_tosa_rescale a = {.scale32 = true, .rounding_mode = TC_rounding_single};
    tc_tensor x = ints(TC_i32, DIM(4), INTS(1, 3, -1, -3)), zero = one(TC_i32, 0);
    tc_tensor half = one(TC_i32, 1 << 30), quarter_shift = one(TC_i8, 32), shift = one(TC_i8, 31);
    tc_tensor out = room(TC_i32, DIM(4));
    CHECK(is(RUN(rescale, &a, out, x, half, shift, zero, zero), INTS(1, 2, 0, -1)));
    a.rounding_mode = TC_rounding_double;
    CHECK(is(RUN(rescale, &a, out, x, half, quarter_shift, zero, zero), INTS(1, 1, 0, -1)));

    /* each channel its own scale; saturation after the zero point */
    a = (tc_attr_tosa_rescale){
        .scale32 = true, .rounding_mode = TC_rounding_single, .per_channel = true};
    x = ints(TC_i32, DIM(2, 2), INTS(100, 100, -1000, -1000));
    tc_tensor m = ints(TC_i32, DIM(2), INTS(1 << 30, 1 << 30)),
              s = ints(TC_i8, DIM(2), INTS(30, 31));
    CHECK(is(RUN(rescale, &a, room(TC_i8, DIM(2, 2)), x, m, s, zero, one(TC_i8, 30)),
             INTS(127, 80, -128, -128)));

    /* unsigned in, unsigned out: 200 is stored as -56 */
    a = (tc_attr_tosa_rescale){
        .scale32 = true, .rounding_mode = TC_rounding_single, .input_unsigned = true};
    CHECK(is(RUN(rescale, &a, room(TC_i8, DIM(1)), one(TC_i8, -56), half, one(TC_i8, 30),
                 one(TC_i8, -128), one(TC_i8, 0)),
             INTS(72)));
    a.input_unsigned = false, a.output_unsigned = true;
    CHECK(is(RUN(rescale, &a, room(TC_i8, DIM(2)), ints(TC_i8, DIM(2), INTS(72, -128)), half,
                 one(TC_i8, 30), one(TC_i8, 0), one(TC_i8, -128)),
             INTS(-56, 0)));

    a = (tc_attr_tosa_rescale){.rounding_mode = TC_rounding_single};
    x = ints(TC_i48, DIM(2), INTS(INT64_C(1) << 40, -(INT64_C(1) << 40) - 1));
    CHECK(is(RUN(rescale, &a, room(TC_i16, DIM(2)), x, one(TC_i16, 1 << 14), one(TC_i8, 50),
                 one(TC_i48, 0), one(TC_i16, 0)),
             INTS(16, -16)));
    RUN(rescale, &a, room(TC_i16, DIM(2)), x, one(TC_i16, 1), one(TC_i8, 1), one(TC_i48, 0),
        one(TC_i16, 0));
    CHECK(trouble != NULL);
}

static void test_table(void)
{
    int64_t down[256], slope[513];
    for (int i = 0; i < 256; i++)
        down[i] = 127 - i;
    for (int i = 0; i < 513; i++)
        slope[i] = i * 10;
    CHECK(is(RUN(table, NULL, room(TC_i8, DIM(3)), ints(TC_i8, DIM(3), INTS(-128, 0, 127)),
                 ints(TC_i8, DIM(256), down)),
             INTS(127, -1, -128)));
    CHECK(is(RUN(table, NULL, room(TC_i32, DIM(4)), ints(TC_i16, DIM(4), INTS(-32768, 0, 1, 32767)),
                 ints(TC_i16, DIM(513), slope)),
             INTS(0, 327680, 327690, 655350)));
}

static void test_conv(void)
{
    tc_attr_tosa_conv a = {LIST(0, 0, 0, 0), LIST(1, 1), LIST(1, 1), false, TC_i32};
    tc_tensor x = ints(TC_i8, DIM(1, 2, 2, 1), INTS(1, 2, 3, 4));
    tc_tensor w = ints(TC_i8, DIM(1, 2, 2, 1), INTS(1, 1, 1, 1)), bias = one(TC_i32, 10);
    tc_tensor z1 = one(TC_i8, 1), z0 = one(TC_i8, 0);
    CHECK(is(RUN(conv2d, &a, room(TC_i32, DIM(1, 1, 1, 1)), x, w, bias, z1, z0), INTS(16)));
    a.pad = LIST(1, 1, 1, 1); /* the frame counts nothing, whatever the zero point */
    CHECK(is(RUN(conv2d, &a, room(TC_i32, DIM(1, 3, 3, 1)), x, w, bias, z1, z0),
             INTS(10, 11, 11, 12, 16, 14, 12, 15, 13)));
    a.pad = LIST(0, 0, 0, 0), a.dilation = LIST(1, 1);
    CHECK(is(RUN(depthwise_conv2d, &a, room(TC_i32, DIM(1, 1, 1, 4)),
                 ints(TC_i8, DIM(1, 1, 1, 2), INTS(2, 3)),
                 ints(TC_i8, DIM(1, 1, 2, 2), INTS(1, 10, 100, -100)), one(TC_i32, 0), z0, z0),
             INTS(2, 20, 300, -300)));

    /* i16: sums of 48 bits, which saturate; i32 sums wrap */
    CHECK(is(RUN(conv2d, &a, room(TC_i48, DIM(1, 1, 1, 2)),
                 ints(TC_i16, DIM(1, 1, 1, 1), INTS(-32768)),
                 ints(TC_i8, DIM(2, 1, 1, 1), INTS(-128, 1)),
                 ints(TC_i48, DIM(2), INTS((INT64_C(1) << 47) - 1, 5)), one(TC_i16, 0), z0),
             INTS((INT64_C(1) << 47) - 1, -32763)));
    CHECK(is(RUN(conv2d, &a, room(TC_i32, DIM(1, 1, 1, 1)), ints(TC_i8, DIM(1, 1, 1, 1), INTS(100)),
                 ints(TC_i8, DIM(1, 1, 1, 1), INTS(100)), one(TC_i32, INT32_MAX - 4), z0, z0),
             INTS(INT32_MIN + 9995)));

    tc_attr_tosa_conv deep = {LIST(0, 0, 0, 0, 0, 0), LIST(1, 1, 1), LIST(1, 1, 1), false, TC_i32};
    CHECK(is(RUN(conv3d, &deep, room(TC_i32, DIM(1, 1, 1, 1, 1)),
                 ints(TC_i8, DIM(1, 2, 1, 1, 1), INTS(5, 7)),
                 ints(TC_i4, DIM(1, 2, 1, 1, 1), INTS(1, -7)), one(TC_i32, 0), z0, one(TC_i4, 0)),
             INTS(-44)));

    tc_attr_tosa_transpose_conv t = {LIST(0, 0, 0, 0), LIST(1, 2), false, TC_i32};
    x = ints(TC_i8, DIM(1, 1, 2, 1), INTS(1, 2));
    w = ints(TC_i8, DIM(1, 1, 2, 1), INTS(3, 4));
    CHECK(is(RUN(transpose_conv2d, &t, room(TC_i32, DIM(1, 1, 4, 1)), x, w, one(TC_i32, 0), z0, z0),
             INTS(3, 4, 6, 8)));
    t.out_pad = LIST(0, 0, -1, 1);
    CHECK(is(RUN(transpose_conv2d, &t, room(TC_i32, DIM(1, 1, 4, 1)), x, w, one(TC_i32, 0), z0, z0),
             INTS(4, 6, 8, 0)));

    tc_tensor fx = reals(TC_f16, DIM(1, 1, 1, 3), REALS(65504, 65504, -65504));
    tc_tensor fw = reals(TC_f16, DIM(1, 1, 1, 3), REALS(1, 1, 1)),
              fz = reals(TC_f16, DIM(1), REALS(0));
    CHECK(
        is_real(RUN(conv2d, &a, room(TC_f16, DIM(1, 1, 1, 1)), fx, fw, fz, fz, fz), REALS(65504)));
}

static void test_matmul(void)
{
    tc_tensor a = ints(TC_i8, DIM(1, 1, 2), INTS(1, 2)),
              b = ints(TC_i8, DIM(1, 2, 2), INTS(3, 4, 5, 6));
    CHECK(is(RUN(matmul, NULL, room(TC_i32, DIM(1, 1, 2)), a, b, one(TC_i8, 1), one(TC_i8, 0)),
             INTS(5, 6)));
    CHECK(is(RUN(matmul, NULL, room(TC_i32, DIM(1, 1, 2)), a, b, one(TC_i8, 0), one(TC_i8, 3)),
             INTS(4, 7)));
    tc_tensor z = reals(TC_f32, DIM(1), REALS(0));
    CHECK(is_real(RUN(matmul, NULL, room(TC_f32, DIM(1, 1, 1)),
                      reals(TC_f32, DIM(1, 1, 3), REALS(1e20, 1, -1e20)),
                      reals(TC_f32, DIM(1, 3, 1), REALS(1, 1, 1)), z, z),
                  REALS(0)));
}

static void test_pool(void)
{
    tc_attr_tosa_avg_pool a = {LIST(2, 2), LIST(2, 2), LIST(0, 0, 0, 0), TC_i32};
    tc_tensor x = ints(TC_i8, DIM(1, 2, 2, 2), INTS(1, -1, 2, -2, 3, -3, 4, -4)), z = one(TC_i8, 0);
    CHECK(is(RUN(avg_pool2d, &a, room(TC_i8, DIM(1, 1, 1, 2)), x, z, z), INTS(3, -3)));
    CHECK(is(RUN(avg_pool2d, &a, room(TC_i8, DIM(1, 1, 1, 2)), x, one(TC_i8, -128), one(TC_i8, 0)),
             INTS(127, 126))); /* 130.5 and 125.5 */
    a = (tc_attr_tosa_avg_pool){LIST(3, 3), LIST(1, 1), LIST(1, 1, 1, 1), TC_i32};
    CHECK(is(RUN(avg_pool2d, &a, room(TC_i8, DIM(1, 2, 2, 2)), x, z, z),
             INTS(3, -3, 3, -3, 3, -3, 3, -3)));

    tc_attr_tosa_max_pool m = {LIST(1, 2), LIST(1, 1), LIST(0, 0, 1, 0), TC_nan_mode_propagate};
    tc_tensor f = reals(TC_f32, DIM(1, 1, 3, 1), REALS(-INFINITY, NAN, 5)),
              out = room(TC_f32, DIM(1, 1, 3, 1));
    CHECK(is_real(RUN(max_pool2d, &m, out, f), REALS(-INFINITY, NAN, NAN)));
    m.nan_mode = TC_nan_mode_ignore;
    CHECK(is_real(RUN(max_pool2d, &m, out, f), REALS(-INFINITY, -INFINITY, 5)));
}

static void test_reduce(void)
{
    tc_attr_tosa_axis a = {1};
    tc_tensor x = ints(TC_i32, DIM(2, 2, 2), INTS(1, 2, 3, 4, INT32_MAX, 6, 1, 8));
    CHECK(is(RUN(reduce_sum, &a, room(TC_i32, DIM(2, 1, 2)), x), INTS(4, 6, INT32_MIN, 14)));
    tc_attr_tosa_axis_nan m = {2, TC_nan_mode_propagate};
    CHECK(is(RUN(reduce_max, &m, room(TC_i32, DIM(2, 2, 1)), x), INTS(2, 4, INT32_MAX, 8)));
    CHECK(is(RUN(reduce_min, &m, room(TC_i32, DIM(2, 2, 1)), x), INTS(1, 3, 6, 1)));
    a.axis = 0;
    tc_tensor b = ints(TC_bool, DIM(2, 2), INTS(1, 0, 1, 1));
    CHECK(is(RUN(reduce_all, &a, room(TC_bool, DIM(1, 2)), b), INTS(1, 0)));
    CHECK(is(RUN(reduce_any, &a, room(TC_bool, DIM(1, 2)), b), INTS(1, 1)));
    CHECK(is_real(
        RUN(reduce_product, &a, room(TC_bf16, DIM(1)), reals(TC_bf16, DIM(3), REALS(2, -3, 4))),
        REALS(-24)));

    tc_attr_tosa_argmax g = {0, TC_nan_mode_propagate};
    CHECK(
        is(RUN(argmax, &g, room(TC_i32, 0, NULL), ints(TC_i8, DIM(4), INTS(3, 7, 7, 1))), INTS(1)));
    CHECK(
        is(RUN(argmax, &g, room(TC_i32, 0, NULL), ints(TC_i8, DIM(2), INTS(-128, -128))), INTS(0)));
    tc_tensor f = reals(TC_f32, DIM(4), REALS(1, NAN, 5, NAN));
    CHECK(is(RUN(argmax, &g, room(TC_i32, 0, NULL), f), INTS(1)));
    g.nan_mode = TC_nan_mode_ignore;
    CHECK(is(RUN(argmax, &g, room(TC_i32, 0, NULL), f), INTS(2)));
}

static void test_eltwise(void)
{
    tc_tensor a = ints(TC_i32, DIM(2, 1), INTS(3, -3)), b = ints(TC_i32, DIM(1, 2), INTS(1, 2));
    tc_tensor out = room(TC_i32, DIM(2, 2));
    CHECK(is(RUN(add, NULL, out, a, b), INTS(4, 5, -2, -1)));
    CHECK(is(RUN(sub, NULL, out, b, a), INTS(-2, -1, 4, 5)));
    CHECK(is(RUN(mul, NULL, out, a, b, one(TC_i8, 0)), INTS(3, 6, -3, -6)));
    CHECK(is(RUN(mul, NULL, out, a, b, one(TC_i8, 1)), INTS(2, 3, -1, -3)));
    CHECK(is(RUN(intdiv, NULL, out, a, b), INTS(3, 1, -3, -1)));
    RUN(intdiv, NULL, out, a, ints(TC_i32, DIM(1, 2), INTS(1, 0)));
    CHECK(trouble != NULL);
    CHECK(
        is(RUN(maximum, &(tc_attr_tosa_nan){TC_nan_mode_propagate}, out, a, b), INTS(3, 3, 1, 2)));
    CHECK(is(RUN(greater, NULL, room(TC_bool, DIM(2, 2)), a, b), INTS(1, 1, 0, 0)));
    tc_attr_tosa_shift up = {true}, down = {false};
    CHECK(is(RUN(arithmetic_right_shift, &up, out, a, b), INTS(2, 1, -1, -1)));
    CHECK(is(RUN(arithmetic_right_shift, &down, out, a, b), INTS(1, 0, -2, -1)));
    RUN(arithmetic_right_shift, &down, out, a, ints(TC_i32, DIM(1, 2), INTS(1, 32)));
    CHECK(trouble != NULL);
    CHECK(is(RUN(logical_right_shift, NULL, room(TC_i8, DIM(1)), one(TC_i8, -1), one(TC_i8, 4)),
             INTS(15)));
    CHECK(is(RUN(logical_left_shift, NULL, room(TC_i8, DIM(1)), one(TC_i8, 65), one(TC_i8, 1)),
             INTS(-126)));
    CHECK(is(RUN(clz, NULL, room(TC_i32, DIM(3)), ints(TC_i32, DIM(3), INTS(0, 1, -1))),
             INTS(32, 31, 0)));
    CHECK(is(RUN(negate, NULL, room(TC_i8, DIM(2)), ints(TC_i8, DIM(2), INTS(-128, 10)),
                 one(TC_i8, 0), one(TC_i8, 0)),
             INTS(127, -10)));
    CHECK(is(RUN(negate, NULL, room(TC_i8, DIM(1)), one(TC_i8, 10), one(TC_i8, 1), one(TC_i8, 2)),
             INTS(-7)));
    CHECK(is(RUN(bitwise_not, NULL, room(TC_i16, DIM(1)), one(TC_i16, 5)), INTS(-6)));
    CHECK(is(RUN(logical_not, NULL, room(TC_bool, DIM(2)), ints(TC_bool, DIM(2), INTS(0, 1))),
             INTS(1, 0)));
    CHECK(is(RUN(select, NULL, out, ints(TC_bool, DIM(2, 1), INTS(1, 0)), b,
                 ints(TC_i32, DIM(1, 1), INTS(9))),
             INTS(1, 2, 9, 9)));

    tc_attr_tosa_clamp c = {-1, 1, TC_nan_mode_propagate};
    tc_tensor f = reals(TC_f32, DIM(3), REALS(-5, NAN, 0.5));
    CHECK(is_real(RUN(clamp, &c, room(TC_f32, DIM(3)), f), REALS(-1, NAN, 0.5)));
    c.nan_mode = TC_nan_mode_ignore;
    CHECK(is_real(RUN(clamp, &c, room(TC_f32, DIM(3)), f), REALS(-1, -1, 0.5)));
    CHECK(
        is_real(RUN(reciprocal, NULL, room(TC_f32, DIM(2)), reals(TC_f32, DIM(2), REALS(4, -0.0))),
                REALS(0.25, -INFINITY)));
    CHECK(is_real(RUN(add, NULL, room(TC_f16, DIM(1)), reals(TC_f16, DIM(1), REALS(2048)),
                      reals(TC_f16, DIM(1), REALS(1))),
                  REALS(2048))); /* a half, to even */
}

static void test_move(void)
{
    tc_tensor x = ints(TC_i16, DIM(2, 3), INTS(1, 2, 3, 4, 5, 6));
    CHECK(is(RUN(transpose, &(tc_attr_tosa_perms){LIST(1, 0)}, room(TC_i16, DIM(3, 2)), x),
             INTS(1, 4, 2, 5, 3, 6)));
    CHECK(is(RUN(reverse, &(tc_attr_tosa_axis){1}, room(TC_i16, DIM(2, 3)), x),
             INTS(3, 2, 1, 6, 5, 4)));
    tc_tensor start = ints(TC_shape, DIM(2), INTS(1, 1)), size = ints(TC_shape, DIM(2), INTS(1, 2));
    CHECK(is(RUN(slice, NULL, room(TC_i16, DIM(1, 2)), x, start, size), INTS(5, 6)));
    CHECK(is(RUN(tile, NULL, room(TC_i16, DIM(2, 4)), ints(TC_i16, DIM(1, 2), INTS(7, 8)),
                 ints(TC_shape, DIM(2), INTS(2, 2))),
             INTS(7, 8, 7, 8, 7, 8, 7, 8)));
    CHECK(is(RUN(pad, NULL, room(TC_i16, DIM(2, 4)), ints(TC_i16, DIM(1, 2), INTS(7, 8)),
                 ints(TC_shape, DIM(4), INTS(1, 0, 1, 1)), one(TC_i16, -1)),
             INTS(-1, -1, -1, -1, -1, 7, 8, -1)));
    tc_tensor y = ints(TC_i16, DIM(2, 1), INTS(8, 9));
    CHECK(is(RUN(concat, &(tc_attr_tosa_axis){1}, room(TC_i16, DIM(2, 4)), x, y),
             INTS(1, 2, 3, 8, 4, 5, 6, 9)));
    tc_tensor values = ints(TC_i8, DIM(1, 3, 2), INTS(1, 2, 3, 4, 5, 6)),
              at = ints(TC_i32, DIM(1, 2), INTS(2, 0));
    CHECK(is(RUN(gather, NULL, room(TC_i8, DIM(1, 2, 2)), values, at), INTS(5, 6, 1, 2)));
    CHECK(is(RUN(scatter, NULL, room(TC_i8, DIM(1, 3, 2)), values, at,
                 ints(TC_i8, DIM(1, 2, 2), INTS(9, 8, 7, 6))),
             INTS(7, 6, 3, 4, 9, 8)));
    RUN(gather, NULL, room(TC_i8, DIM(1, 2, 2)), values, ints(TC_i32, DIM(1, 2), INTS(0, 3)));
    CHECK(trouble != NULL);
    CHECK(is(RUN(identity, NULL, room(TC_i16, 0, NULL), ints(TC_i16, 0, NULL, INTS(5))), INTS(5)));
}

static void test_resize(void)
{
    tc_attr_tosa_resize linear = {TC_resize_mode_bilinear}, nearest = {TC_resize_mode_nearest};
    tc_tensor x = ints(TC_i8, DIM(1, 1, 2, 1), INTS(10, 20)),
              none = ints(TC_shape, DIM(2), INTS(0, 0));
    tc_tensor scale = ints(TC_shape, DIM(4), INTS(1, 1, 2, 1)),
              back = ints(TC_shape, DIM(2), INTS(0, -1));
    CHECK(is(RUN(resize, &linear, room(TC_i32, DIM(1, 1, 3, 1)), x, scale, none, none),
             INTS(20, 30, 40)));
    CHECK(is(RUN(resize, &nearest, room(TC_i8, DIM(1, 1, 3, 1)), x, scale, none, none),
             INTS(10, 20, 20)));
    CHECK(is(RUN(resize, &nearest, room(TC_i8, DIM(1, 1, 4, 1)), x, scale, back, none),
             INTS(10, 10, 20, 20)));
    CHECK(is(RUN(resize, &linear, room(TC_i32, DIM(1, 1, 4, 1)), x, scale, back, none),
             INTS(20, 20, 30, 40)));
    CHECK(is_real(RUN(resize, &linear, room(TC_f32, DIM(1, 1, 3, 1)),
                      reals(TC_f32, DIM(1, 1, 2, 1), REALS(1, 2)), scale, none, none),
                  REALS(1, 1.5, 2)));
}

static void test_cast(void)
{
    CHECK(is(RUN(cast, NULL, room(TC_i8, DIM(2)), ints(TC_i32, DIM(2), INTS(300, -129))),
             INTS(44, 127)));
    tc_tensor f = reals(TC_f32, DIM(5), REALS(2.5, 3.5, -2.5, 1e10, -INFINITY));
    CHECK(is(RUN(cast, NULL, room(TC_i32, DIM(5)), f), INTS(2, 4, -2, INT32_MAX, INT32_MIN)));
    CHECK(is(RUN(cast, NULL, room(TC_i8, DIM(5)), f), INTS(2, 4, -2, 127, -128)));
    CHECK(is(RUN(cast, NULL, room(TC_bool, DIM(2)), ints(TC_i16, DIM(2), INTS(0, -256))),
             INTS(0, 1)));
    /* 2^30 (1 + 1/256) + 1 is past the half way to 2^30 (1 + 1/128) by less than f32 shows */
    CHECK(is_real(RUN(cast, NULL, room(TC_bf16, DIM(1)), one(TC_i32, (1 << 30) + (1 << 22) + 1)),
                  REALS(0x1p30 * (1 + 1.0 / 128))));
}

static void test_fft(void)
{
    tc_tensor out[2] = {room(TC_f32, DIM(1, 1, 3)), room(TC_f32, DIM(1, 1, 3))};
    tc_tensor x = reals(TC_f32, DIM(1, 1, 4), REALS(1, 2, 3, 4));
    tc_call call = {&(tc_attr_tosa_rfft){false}, 1, 2, &x, out, &ctx->scratch, NULL};
    ti_num_tosa_rfft2d(&call);
    CHECK(is_real(out[0], REALS(10, -2, -2)) && is_real(out[1], REALS(0, 2, 0)));
    tc_tensor both[2] = {x, reals(TC_f32, DIM(1, 1, 4), REALS(0, 0, 0, 0))};
    tc_tensor full[2] = {room(TC_f32, DIM(1, 1, 4)), room(TC_f32, DIM(1, 1, 4))};
    tc_call inverse = {&(tc_attr_tosa_fft){true, false}, 2, 2, both, full, &ctx->scratch, NULL};
    ti_num_tosa_fft2d(&inverse);
    CHECK(is_real(full[0], REALS(10, -2, -2, -2)) && is_real(full[1], REALS(0, -2, 0, 2)));
}

static tc_val typed(tc_graph *g, tc_op op, const void *attr, const tc_val *in, int n_in,
                    const tc_type *type)
{
    tc_node *node = ti_graph_add(g, op, attr, in, n_in, type != NULL, NULL);
    if (!type)
        return TC_NONE;
    g->val[node->out[0]]->type = type;
    return node->out[0];
}

static int64_t run_once(tc_exec *exec, int64_t x)
{
    tc_tensor in = one(TC_i32, x), out;
    return ti_exec_run(exec, &in, &out) == TC_OK ? ti_load_i64(out, 0) : INT64_MIN;
}

/* A variable that starts at 5 and gains the input in every run. */
static void test_variable(void)
{
    static const int32_t five = 5;
    const tc_type *type = ti_type_make(ctx, TC_i32, DIM(1));
    tc_attr_tosa_variable name = {ti_intern_text(ctx, "count")};
    tc_module *module = ti_module_new(ctx, "test");
    tc_graph *g = ti_graph_new(module, "main");
    tc_val x = ti_graph_input(g, type, "x"), initial = ti_graph_const(g, type, &five, NULL, NULL);
    typed(g, TC_OP_tosa_variable, &name, &initial, 1, type);
    tc_val before = typed(g, TC_OP_tosa_variable_read, &name, NULL, 0, type);
    tc_val sum = typed(g, TC_OP_tosa_add, NULL, (tc_val[]){before, x}, 2, type);
    typed(g, TC_OP_tosa_variable_write, &name, &sum, 1, NULL);
    ti_graph_output(g, typed(g, TC_OP_tosa_variable_read, &name, NULL, 0, type));
    tc_exec *exec = ti_exec_new(ctx, module);
    CHECK(run_once(exec, 1) == 6 && run_once(exec, 10) == 16 && run_once(exec, -6) == 10);
    ti_exec_reset(exec);
    CHECK(run_once(exec, 0) == 5);
}

/* Doubles the input until it passes 100. */
static void test_while(void)
{
    static const int32_t hundred = 100;
    const tc_type *type = ti_type_make(ctx, TC_i32, DIM(1)),
                  *truth = ti_type_make(ctx, TC_bool, DIM(1));
    tc_module *module = ti_module_new(ctx, "test");
    tc_graph *g = ti_graph_new(module, "main"), *cond = ti_graph_new(module, "cond");
    tc_graph *body = ti_graph_new(module, "body");
    tc_attr_tosa_while loop = {cond->name, body->name};
    tc_val x = ti_graph_input(g, type, "x"), y = ti_graph_input(cond, type, "y"),
           z = ti_graph_input(body, type, "z");
    tc_val most = ti_graph_const(cond, type, &hundred, NULL, NULL);
    ti_graph_output(cond,
                    typed(cond, TC_OP_tosa_greater_equal, NULL, (tc_val[]){most, y}, 2, truth));
    ti_graph_output(body, typed(body, TC_OP_tosa_add, NULL, (tc_val[]){z, z}, 2, type));
    ti_graph_output(g, typed(g, TC_OP_tosa_while_loop, &loop, &x, 1, type));
    tc_exec *exec = ti_exec_new(ctx, module);
    CHECK(run_once(exec, 3) == 192 && run_once(exec, 101) == 101 && run_once(exec, 100) == 200);
}

/* A branch that runs its own graph again is stopped with a message. */
static void test_endless(void)
{
    static const uint8_t yes = 1;
    const tc_type *type = ti_type_make(ctx, TC_i32, DIM(1)),
                  *truth = ti_type_make(ctx, TC_bool, DIM(1));
    tc_module *module = ti_module_new(ctx, "test");
    tc_graph *g = ti_graph_new(module, "main");
    tc_attr_tosa_cond_if again = {g->name, g->name};
    tc_val x = ti_graph_input(g, type, "x"), go = ti_graph_const(g, truth, &yes, NULL, NULL);
    ti_graph_output(g, typed(g, TC_OP_tosa_cond_if, &again, (tc_val[]){go, x}, 2, type));
    CHECK(run_once(ti_exec_new(ctx, module), 1) == INT64_MIN);
}

int main(void)
{
    ctx = tc_ctx_new();
    test_fixed();
    test_rescale();
    test_table();
    test_conv();
    test_matmul();
    test_pool();
    test_reduce();
    test_eltwise();
    test_move();
    test_resize();
    test_cast();
    test_fft();
    test_variable();
    test_while();
    test_endless();
    tc_ctx_free(ctx);
    return check_done();
}
