/* SPDX-License-Identifier: Apache-2.0 */
/* window.c -- pooling, resampling, grid sampling, shuffles, windows as columns. */
#include "run_op.h"

static tc_tensor counting(tc_ctx *ctx, tc_dtype dtype, int rank, const int64_t *dim)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_f64(t, i, (double)i);
    return t;
}

static void test_max_pool(tc_ctx *ctx)
{
    tc_tensor x = tensor_of(ctx, TC_f32, DIMS(1, 1, 5), (double[]){3, 1, NAN, 2, 2}), out[2];
    tc_attr_max_pool a = {INTS(2), INTS(2), INTS(0), INTS(1), false};
    CHECK(run_op(ctx, TC_OP_max_pool, &a, &x, 1, out, 2) == TC_OK);
    CHECK(has_dims(out[0], DIMS(1, 1, 2)) && ti_load_f64(out[0], 0) == 3 &&
          isnan(ti_load_f64(out[0], 1)));
    CHECK(is_near(out[1], (double[]){0, 2}, 0));
    /* ceil: one window more, cut at the end. */
    a.ceil = true;
    CHECK(run_op(ctx, TC_OP_max_pool, &a, &x, 1, out, 2) == TC_OK);
    CHECK(has_dims(out[0], DIMS(1, 1, 3)) && ti_load_i64(out[1], 2) == 4);
    /* ... but none that would begin in the padding behind the input. */
    tc_attr_max_pool late = {INTS(2), INTS(3), INTS(1), INTS(1), true};
    tc_tensor y = run_ok(ctx, TC_OP_max_pool, &late, &x, 1);
    CHECK(has_dims(y, DIMS(1, 1, 2)));
    tc_tensor four = counting(ctx, TC_f32, DIMS(1, 4));
    tc_attr_max_pool edge = {INTS(2), INTS(5), INTS(1), INTS(1), true};
    CHECK(has_dims(run_ok(ctx, TC_OP_max_pool, &edge, &four, 1), DIMS(1, 1)));
    /* Taps three apart. */
    tc_attr_max_pool wide = {INTS(2), INTS(1), INTS(1), INTS(3), false};
    y = run_ok(ctx, TC_OP_max_pool, &wide, &four, 1);
    CHECK(has_dims(y, DIMS(1, 3)) && is_near(y, (double[]){2, 3, 1}, 0));
    tc_attr_max_pool deep = {INTS(2), INTS(1), INTS(2), INTS(1), false};
    CHECK(run_op(ctx, TC_OP_max_pool, &deep, &four, 1, out, 1) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "the padding 2 is more than half of the window 2"));
    tc_tensor low = tensor_of(ctx, TC_i8, DIMS(1, 2), (double[]){-128, -128});
    tc_attr_max_pool pair = {INTS(2), INTS(2), INTS(0), INTS(1), false};
    CHECK(is_near(run_ok(ctx, TC_OP_max_pool, &pair, &low, 1), (double[]){-128}, 0));
    y = run_ok(ctx, TC_OP_max_pool, &pair, (tc_tensor[]){counting(ctx, TC_f32, DIMS(0, 2, 4))}, 1);
    CHECK(has_dims(y, DIMS(0, 2, 2)));
}

static void test_avg_pool(tc_ctx *ctx)
{
    tc_tensor x = tensor_of(ctx, TC_f32, DIMS(1, 1, 3, 3), (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    tc_attr_avg_pool a = {INTS(3, 3), INTS(2, 2), INTS(1, 1), false, true, 0};
    CHECK(is_near(run_ok(ctx, TC_OP_avg_pool, &a, &x, 1),
                  (double[]){12 / 9., 16 / 9., 24 / 9., 28 / 9.}, 1e-6));
    a.include_pad = false;
    CHECK(is_near(run_ok(ctx, TC_OP_avg_pool, &a, &x, 1), (double[]){3, 4, 6, 7}, 1e-6));
    a.divisor = 2;
    CHECK(is_near(run_ok(ctx, TC_OP_avg_pool, &a, &x, 1), (double[]){6, 8, 12, 14}, 1e-6));
    /* ceil: the last window counts what of it lies inside the padded plane. */
    tc_tensor line = tensor_of(ctx, TC_f32, DIMS(1, 4), (double[]){1, 2, 3, 4});
    tc_attr_avg_pool late = {INTS(3), INTS(2), INTS(1), true, true, 0};
    CHECK(is_near(run_ok(ctx, TC_OP_avg_pool, &late, &line, 1), (double[]){1, 3, 2}, 1e-6));
    tc_attr_size two = {INTS(2)}, three = {INTS(3)};
    CHECK(
        is_near(run_ok(ctx, TC_OP_adaptive_avg_pool, &two, &line, 1), (double[]){1.5, 3.5}, 1e-6));
    CHECK(is_near(run_ok(ctx, TC_OP_adaptive_avg_pool, &three, &line, 1), (double[]){1.5, 2.5, 3.5},
                  1e-6));
    tc_tensor out[2];
    CHECK(run_op(ctx, TC_OP_adaptive_max_pool, &three, &line, 1, out, 2) == TC_OK);
    CHECK(is_near(out[0], (double[]){2, 3, 4}, 0) && is_near(out[1], (double[]){1, 2, 3}, 0));
}

static void test_upsample(tc_ctx *ctx)
{
    tc_tensor x = counting(ctx, TC_f32, DIMS(1, 1, 3));
    const struct {
        tc_op op;
        int64_t size;
        double scale;
        bool align_corners;
        double expected[8];
    } table[] = {
        {TC_OP_upsample_nearest, 5, 0, false, {0, 0, 1, 1, 2}},
        {TC_OP_upsample_nearest_exact, 5, 0, false, {0, 0, 1, 2, 2}},
        {TC_OP_upsample_nearest, 7, 0, false, {0, 0, 0, 1, 1, 2, 2}},
        {TC_OP_upsample_nearest, 2, 0, false, {0, 1}},
        {TC_OP_upsample_nearest_exact, 2, 0, false, {0, 2}},
        {TC_OP_upsample_nearest, 7, 2.5, false, {0, 0, 0, 1, 1, 2, 2}},
        {TC_OP_upsample_linear, 5, 0, true, {0, 0.5, 1, 1.5, 2}},
        {TC_OP_upsample_linear, 6, 0, false, {0, 0.25, 0.75, 1.25, 1.75, 2}},
        {TC_OP_upsample_linear, 1, 0, true, {0}},
        {TC_OP_upsample_linear, 3, 1.3, false, {0, 1, 2}},
        {TC_OP_upsample_cubic,
         6,
         0,
         false,
         {-0.10546875, 0.19140625, 0.66796875, 1.33203125, 1.80859375, 2.10546875}},
    };
    for (size_t i = 0; i < TC_COUNT(table); i++) {
        tc_attr_upsample a = {INTS(table[i].size), FLOATS(table[i].scale), table[i].align_corners};
        tc_tensor y = run_ok(ctx, table[i].op, &a, &x, 1);
        CHECK(has_dims(y, DIMS(1, 1, table[i].size)) && is_near(y, table[i].expected, 1e-6));
    }
    /* Bilinear is linear along one axis, then along the other. */
    tc_tensor image = noise(ctx, TC_f64, DIMS(2, 1, 4, 3), 1), rows = image;
    tc_attr_upsample both = {INTS(6, 5), {0, NULL}, false}, last = {INTS(5), {0, NULL}, false};
    tc_attr_upsample first = {INTS(6, 5), {0, NULL}, false};
    tc_tensor y = run_ok(ctx, TC_OP_upsample_linear, &both, &image, 1);
    rows.type = ti_type_make(ctx, TC_f64, DIMS(2, 4, 3));
    tc_tensor half = run_ok(ctx, TC_OP_upsample_linear, &last, &rows, 1);
    half.type = ti_type_make(ctx, TC_f64, DIMS(2, 1, 4, 5));
    CHECK(same_numbers(y, run_ok(ctx, TC_OP_upsample_linear, &first, &half, 1), 1e-12));
    tc_tensor out, whole = counting(ctx, TC_u8, DIMS(1, 1, 3));
    CHECK(run_op(ctx, TC_OP_upsample_linear, &last, &whole, 1, &out, 1) == TC_BAD_MODEL);
    CHECK(is_near(run_ok(ctx, TC_OP_upsample_nearest, &last, &whole, 1), (double[]){0, 0, 1, 1, 2},
                  0));
}

static void test_grid_sample(tc_ctx *ctx)
{
    tc_tensor x = tensor_of(ctx, TC_f32, DIMS(1, 1, 2, 2), (double[]){1, 2, 3, 4});
    tc_tensor grid =
        tensor_of(ctx, TC_f32, DIMS(1, 1, 4, 2), (double[]){-1, -1, 0, 0, 1, -1, 2, 1});
    const struct {
        tc_attr_grid a;
        double expected[4];
    } table[] = {
        {{TC_sample_mode_bilinear, TC_sample_pad_zeros, true}, {1, 2.5, 2, 2}},
        {{TC_sample_mode_bilinear, TC_sample_pad_border, true}, {1, 2.5, 2, 4}},
        {{TC_sample_mode_bilinear, TC_sample_pad_zeros, false}, {0.25, 2.5, 0.5, 0}},
        {{TC_sample_mode_bilinear, TC_sample_pad_border, false}, {1, 2.5, 2, 4}},
        {{TC_sample_mode_nearest, TC_sample_pad_border, true}, {1, 1, 2, 4}},
        {{TC_sample_mode_bilinear, TC_sample_pad_reflection, true}, {1, 2.5, 2, 3.5}},
        {{TC_sample_mode_bicubic, TC_sample_pad_border, true}, {1, 2.5, 2, 4.09375}},
    };
    for (size_t i = 0; i < TC_COUNT(table); i++) {
        tc_tensor y = run_ok(ctx, TC_OP_grid_sample, &table[i].a, (tc_tensor[]){x, grid}, 2);
        CHECK(has_dims(y, DIMS(1, 1, 1, 4)) && is_near(y, table[i].expected, 1e-6));
    }
    tc_tensor volume = noise(ctx, TC_f32, DIMS(2, 3, 4, 3, 2), 2),
              places = noise(ctx, TC_f32, DIMS(2, 5, 1, 1, 3), 3);
    tc_tensor y = run_ok(ctx, TC_OP_grid_sample, &table[0].a, (tc_tensor[]){volume, places}, 2);
    CHECK(has_dims(y, DIMS(2, 3, 5, 1, 1)));
}

static void test_moves(tc_ctx *ctx)
{
    tc_attr_factor two = {2};
    tc_tensor x = counting(ctx, TC_i8, DIMS(8, 1, 2));
    tc_tensor y = run_ok(ctx, TC_OP_pixel_shuffle, &two, &x, 1);
    CHECK(has_dims(y, DIMS(2, 2, 4)));
    CHECK(is_near(y, (double[]){0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}, 0));
    CHECK(same_numbers(run_ok(ctx, TC_OP_pixel_unshuffle, &two, &y, 1), x, 0));
    tc_tensor channels = counting(ctx, TC_f16, DIMS(1, 4, 1));
    y = run_ok(ctx, TC_OP_channel_shuffle, &two, &channels, 1);
    CHECK(is_near(y, (double[]){0, 2, 1, 3}, 0));
    tc_tensor out, odd = counting(ctx, TC_f32, DIMS(1, 3, 1));
    CHECK(run_op(ctx, TC_OP_channel_shuffle, &two, &odd, 1, &out, 1) == TC_BAD_MODEL);
    /* Every element comes back as often as a window saw it. */
    tc_tensor plane = tensor_of(ctx, TC_i32, DIMS(1, 3, 3), (double[]){1, 1, 1, 1, 1, 1, 1, 1, 1});
    tc_attr_im2col in = {INTS(2, 2), INTS(1, 1), INTS(0, 0), INTS(1, 1)};
    tc_attr_col2im back = {INTS(3, 3), INTS(2, 2), INTS(1, 1), INTS(0, 0), INTS(1, 1)};
    tc_tensor col = run_ok(ctx, TC_OP_im2col, &in, &plane, 1);
    CHECK(has_dims(col, DIMS(4, 4)));
    CHECK(is_near(run_ok(ctx, TC_OP_col2im, &back, &col, 1), (double[]){1, 2, 1, 2, 4, 2, 1, 2, 1},
                  0));
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_max_pool(ctx);
    test_avg_pool(ctx);
    test_upsample(ctx);
    test_grid_sample(ctx);
    test_moves(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
