/* SPDX-License-Identifier: Apache-2.0 */
/* product.c -- matmul, linear, addmm, einsum, convolution and attention. */
#include "run_op.h"

static void test_matmul(tc_ctx *ctx)
{
    tc_tensor a = tensor_of(ctx, TC_f32, DIMS(2, 3), (double[]){1, 2, 3, 4, 5, 6});
    tc_tensor b = tensor_of(ctx, TC_f32, DIMS(3, 2), (double[]){1, -1, 0, 2, 3, 1});
    tc_tensor y = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){a, b}, 2);
    CHECK(has_dims(y, DIMS(2, 2)) && is_near(y, (double[]){10, 6, 22, 12}, 0));
    tc_tensor row = tensor_of(ctx, TC_f32, DIMS(3), (double[]){1, 0, -1});
    y = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){row, b}, 2);
    CHECK(has_dims(y, DIMS(2)) && is_near(y, (double[]){-2, -2}, 0));
    y = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){row, row}, 2);
    CHECK(y.type->rank == 0 && is_near(y, (double[]){2}, 0));
    tc_tensor big = noise(ctx, TC_f32, DIMS(2, 1, 4, 3), 1),
              wide = noise(ctx, TC_f32, DIMS(5, 3, 2), 2);
    y = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){big, wide}, 2);
    CHECK(has_dims(y, DIMS(2, 5, 4, 2)));
    tc_attr_einsum e = {"aqij,bjk->abik"};
    CHECK(same_numbers(y, run_ok(ctx, TC_OP_einsum, &e, (tc_tensor[]){big, wide}, 2), 1e-6));
    y = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){noise(ctx, TC_f32, DIMS(0, 3), 1), b}, 2);
    CHECK(has_dims(y, DIMS(0, 2)));
    tc_tensor out;
    CHECK(run_op(ctx, TC_OP_matmul, NULL, (tc_tensor[]){a, a}, 2, &out, 1) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "is 2, expected 3"));
    tc_tensor q = tensor_of(ctx, TC_i8, DIMS(1, 2), (double[]){100, 100});
    tc_tensor p = tensor_of(ctx, TC_i8, DIMS(2, 1), (double[]){1, 2});
    y = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){q, p}, 2);
    CHECK(y.type->dtype == TC_i8 && is_near(y, (double[]){44}, 0)); /* 300 wraps */
}

static void test_linear(tc_ctx *ctx)
{
    tc_tensor x = noise(ctx, TC_f32, DIMS(3, 2, 5), 3), w = noise(ctx, TC_f32, DIMS(4, 5), 4);
    tc_tensor b = noise(ctx, TC_f32, DIMS(4), 5), none = {NULL, NULL};
    tc_attr_einsum e = {"...k,nk->...n"};
    tc_tensor plain = run_ok(ctx, TC_OP_linear, NULL, (tc_tensor[]){x, w, none}, 3);
    CHECK(same_numbers(plain, run_ok(ctx, TC_OP_einsum, &e, (tc_tensor[]){x, w}, 2), 1e-6));
    tc_tensor y = run_ok(ctx, TC_OP_linear, NULL, (tc_tensor[]){x, w, b}, 3);
    tc_attr_addmm half = {2, 0.5};
    tc_tensor flat = x, by = run_ok(ctx, TC_OP_einsum, &(tc_attr_einsum){"ij->ji"}, &w, 1);
    flat.type = ti_type_make(ctx, TC_f32, DIMS(6, 5));
    tc_tensor z = run_ok(ctx, TC_OP_addmm, &half, (tc_tensor[]){b, flat, by}, 3);
    for (int i = 0; i < 24; i++) {
        double bias = ti_load_f64(b, i % 4), dot = ti_load_f64(plain, i);
        CHECK(fabs(ti_load_f64(y, i) - (dot + bias)) < 1e-5);
        CHECK(fabs(ti_load_f64(z, i) - (0.5 * dot + 2 * bias)) < 1e-5);
    }
}

static void test_einsum(tc_ctx *ctx)
{
    tc_tensor a = tensor_of(ctx, TC_f32, DIMS(2, 2), (double[]){1, 2, 3, 4});
    tc_tensor b = tensor_of(ctx, TC_f32, DIMS(2), (double[]){5, 7});
    const struct {
        const char *equation;
        int n_in, rank;
        double expected[8];
    } table[] = {
        {"ii->i", 1, 1, {1, 4}},     {"ii", 1, 0, {5}},
        {"ij->j", 1, 1, {4, 6}},     {"ba", 1, 2, {1, 3, 2, 4}},
        {"ij,j->i", 2, 1, {19, 43}}, {"ij , j -> ij", 2, 2, {5, 14, 15, 28}},
        {"ij,k->", 2, 0, {120}},     {"...j,j", 2, 1, {19, 43}},
        {"i...,k->k...", 2, 2, {20, 30, 28, 42}},
    };
    for (size_t i = 0; i < TC_COUNT(table); i++) {
        tc_attr_einsum e = {table[i].equation};
        tc_tensor y = run_ok(ctx, TC_OP_einsum, &e, (tc_tensor[]){a, b}, table[i].n_in);
        CHECK(y.type->rank == table[i].rank && is_near(y, table[i].expected, 1e-6));
    }
    const char *bad[] = {"ij",     "ij,j->k", "ij,j->ii", "i,j",
                         "ij,j,k", "i1,j",    "ij,j-",    "ij,j->j->"};
    tc_tensor out;
    for (size_t i = 0; i < TC_COUNT(bad); i++) {
        tc_attr_einsum e = {bad[i]};
        CHECK(run_op(ctx, TC_OP_einsum, &e, (tc_tensor[]){a, b}, 2, &out, 1) == TC_BAD_MODEL);
    }
}

/* conv(x, w) = w as a matrix times im2col(x). */
static void test_conv_by_columns(tc_ctx *ctx, tc_dtype dtype, int64_t stride, int64_t pad,
                                 int64_t dilation)
{
    tc_tensor x = noise(ctx, dtype, DIMS(2, 3, 9, 8), 7),
              w = noise(ctx, dtype, DIMS(5, 3, 3, 2), 8);
    tc_attr_conv conv = {INTS(stride, stride), INTS(pad, pad, pad, pad), INTS(dilation, dilation),
                         1};
    tc_attr_im2col columns = {INTS(3, 2), INTS(dilation, dilation), INTS(pad, pad),
                              INTS(stride, stride)};
    tc_tensor y = run_ok(ctx, TC_OP_conv, &conv, (tc_tensor[]){x, w}, 2);
    tc_tensor col = run_ok(ctx, TC_OP_im2col, &columns, &x, 1), flat = w;
    flat.type = ti_type_make(ctx, dtype, DIMS(5, 18));
    tc_attr_einsum e = {"ok,nkp->nop"};
    CHECK(same_numbers(y, run_ok(ctx, TC_OP_einsum, &e, (tc_tensor[]){flat, col}, 2), 1e-6));
}

/* A grouped convolution is its groups side by side; without a batch it is the same numbers. */
static void test_groups(tc_ctx *ctx)
{
    tc_tensor x = noise(ctx, TC_f32, DIMS(1, 4, 6), 9), w = noise(ctx, TC_f32, DIMS(8, 2, 3), 10);
    tc_tensor b = noise(ctx, TC_f32, DIMS(8), 11);
    tc_attr_conv grouped = {INTS(1), INTS(0, 1), INTS(1), 2},
                 single = {INTS(1), INTS(0, 1), INTS(1), 1};
    tc_tensor y = run_ok(ctx, TC_OP_conv, &grouped, (tc_tensor[]){x, w, b}, 3);
    CHECK(has_dims(y, DIMS(1, 8, 5)));
    for (int g = 0; g < 2; g++) {
        tc_tensor part[] = {{ti_type_make(ctx, TC_f32, DIMS(2, 6)), (float *)x.data + g * 12},
                            {ti_type_make(ctx, TC_f32, DIMS(4, 2, 3)), (float *)w.data + g * 24},
                            {ti_type_make(ctx, TC_f32, DIMS(4)), (float *)b.data + g * 4}};
        tc_tensor half = run_ok(ctx, TC_OP_conv, &single, part, 3);
        tc_tensor same = {half.type, (float *)y.data + g * 20};
        CHECK(has_dims(half, DIMS(4, 5)) && same_numbers(half, same, 1e-6));
    }
    tc_tensor out, odd = noise(ctx, TC_f32, DIMS(1, 5, 6), 1);
    CHECK(run_op(ctx, TC_OP_conv, &grouped, (tc_tensor[]){odd, w}, 2, &out, 1) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "has 5 channels, the weights expect 4"));
    tc_attr_conv far = {INTS(1), INTS(0, 0), INTS(9), 2};
    CHECK(run_op(ctx, TC_OP_conv, &far, (tc_tensor[]){x, w}, 2, &out, 1) == TC_BAD_MODEL);
    y = run_ok(ctx, TC_OP_conv, &grouped, (tc_tensor[]){noise(ctx, TC_f32, DIMS(0, 4, 6), 1), w},
               2);
    CHECK(has_dims(y, DIMS(0, 8, 5)));
}

static double dot(tc_tensor a, tc_tensor b)
{
    double sum = 0;
    for (int64_t i = 0; i < tc_type_count(a.type); i++)
        sum += ti_load_f64(a, i) * ti_load_f64(b, i);
    return sum;
}

/* <conv(x), y> = <x, conv_transpose(y)> */
static void test_conv_transpose(tc_ctx *ctx)
{
    tc_tensor x = noise(ctx, TC_f64, DIMS(2, 4, 7, 6), 12),
              w = noise(ctx, TC_f64, DIMS(6, 2, 3, 2), 13);
    tc_attr_conv conv = {INTS(2, 3), INTS(1, 1, 0, 0), INTS(1, 2), 2};
    tc_tensor y = run_ok(ctx, TC_OP_conv, &conv, (tc_tensor[]){x, w}, 2);
    CHECK(has_dims(y, DIMS(2, 6, 4, 2)));
    tc_tensor back = noise(ctx, TC_f64, 4, y.type->dim, 14);
    tc_attr_conv_transpose t = {INTS(2, 3), INTS(1, 0), INTS(0, 0), INTS(1, 2), 2};
    tc_tensor z = run_ok(ctx, TC_OP_conv_transpose, &t, (tc_tensor[]){back, w}, 2);
    CHECK(has_dims(z, DIMS(2, 4, 7, 6)));
    CHECK(fabs(dot(y, back) - dot(x, z)) < 1e-9);
    tc_attr_conv_transpose more = {INTS(2, 3), INTS(1, 0), INTS(1, 2), INTS(1, 2), 2};
    z = run_ok(ctx, TC_OP_conv_transpose, &more, (tc_tensor[]){back, w}, 2);
    CHECK(has_dims(z, DIMS(2, 4, 8, 8)));
}

static void test_attention(tc_ctx *ctx)
{
    tc_tensor q = noise(ctx, TC_f32, DIMS(2, 4, 3, 8), 15),
              k = noise(ctx, TC_f32, DIMS(2, 2, 5, 8), 16);
    tc_tensor v = noise(ctx, TC_f32, DIMS(2, 2, 5, 6), 17);
    tc_attr_sdpa a = {.gqa = true};
    tc_tensor y = run_ok(ctx, TC_OP_sdpa, &a, (tc_tensor[]){q, k, v}, 3);
    CHECK(has_dims(y, DIMS(2, 4, 3, 6)));
    /* With scale 0 every key weighs the same: the mean of the values, of head 1 for queries'
     * head 3. */
    double mean = 0;
    for (int i = 0; i < 5; i++)
        mean += ti_load_f64(v, 5 * 6 + i * 6) / 5;
    CHECK(fabs(ti_load_f64(y, 3 * 3 * 6) - mean) < 1e-6);
    /* Masked keys do not count; a row without any is zero. */
    tc_tensor mask = tensor_of(ctx, TC_bool, DIMS(3, 5),
                               (double[]){0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1});
    y = run_ok(ctx, TC_OP_sdpa, &a, (tc_tensor[]){q, k, v, mask}, 4);
    for (int i = 0; i < 6; i++) {
        CHECK(fabs(ti_load_f64(y, i) - ti_load_f64(v, 6 + i)) < 1e-6);
        CHECK(ti_load_f64(y, 6 + i) == 0);
    }
    tc_attr_sdpa causal = {.scale = 1, .causal = true, .gqa = true};
    y = run_ok(ctx, TC_OP_sdpa, &causal, (tc_tensor[]){q, k, v}, 3);
    for (int i = 0; i < 6; i++)
        CHECK(fabs(ti_load_f64(y, i) - ti_load_f64(v, i)) < 1e-6);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_matmul(ctx);
    test_linear(ctx);
    test_einsum(ctx);
    test_conv_by_columns(ctx, TC_f32, 1, 0, 1);
    test_conv_by_columns(ctx, TC_f64, 2, 1, 2);
    test_conv_by_columns(ctx, TC_i32, 3, 2, 1);
    test_groups(ctx);
    test_conv_transpose(ctx);
    test_attention(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
