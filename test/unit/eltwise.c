/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise.c -- elementwise operators: promotion, broadcasting, integers, edges. */
#include "run_op.h"

#include "num/eltwise.h"

#define ONE(op_, attr_, t_, ...)                                                                   \
    run_ok(ctx, TC_OP_##op_, attr_,                                                                \
           (tc_tensor[]){tensor_of(ctx, TC_##t_, DIMS(TC_COUNT(((double[]){__VA_ARGS__}))),        \
                                   (double[]){__VA_ARGS__})},                                      \
           1)
#define NUMBERS(t_, ...)                                                                           \
    tensor_of(ctx, TC_##t_, DIMS(TC_COUNT(((double[]){__VA_ARGS__}))), (double[]){__VA_ARGS__})
#define NUMBER(t_, v_) tensor_of(ctx, TC_##t_, 0, NULL, (double[]){v_})
#define TWO(op_, attr_, x_, y_) run_ok(ctx, TC_OP_##op_, attr_, (tc_tensor[]){x_, y_}, 2)
#define THREE(op_, attr_, x_, y_, z_) run_ok(ctx, TC_OP_##op_, attr_, (tc_tensor[]){x_, y_, z_}, 3)
#define GIVES(t_, type_, ...)                                                                      \
    CHECK((t_).type->dtype == TC_##type_ && equal(t_, (double[]){__VA_ARGS__}))

static const tc_attr_alpha one = {1};
static const tc_attr_div cut = {TC_div_mode_trunc}, down = {TC_div_mode_floor},
                         exact = {TC_div_mode_exact};

/* Equal, NaN included. */
static bool equal(tc_tensor t, const double *v)
{
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        double x = ti_load_f64(t, i);
        if (x != v[i] && !(isnan(x) && isnan(v[i]))) {
            fprintf(stderr, "element %d is %.9g, expected %.9g\n", (int)i, x, v[i]);
            return false;
        }
    }
    return true;
}

static void test_promotion(tc_ctx *ctx)
{
    static const struct {
        tc_dtype a, b;
        int rank_a, rank_b;
        tc_dtype common;
    } row[] = {
        {TC_i8, TC_u8, 1, 1, TC_i16},     {TC_u8, TC_i32, 1, 1, TC_i32},
        {TC_bool, TC_u8, 1, 1, TC_u8},    {TC_i64, TC_f16, 1, 1, TC_f16},
        {TC_f16, TC_bf16, 1, 1, TC_f32},  {TC_f32, TC_f64, 1, 0, TC_f32},
        {TC_f32, TC_f64, 1, 1, TC_f64},   {TC_i8, TC_i64, 1, 0, TC_i8},
        {TC_i8, TC_f32, 1, 0, TC_f32},    {TC_bool, TC_i64, 1, 0, TC_i64},
        {TC_f16, TC_c64, 1, 0, TC_c64},   {TC_i64, TC_f32, 0, 1, TC_f32},
        {TC_e4m3, TC_f32, 1, 1, TC_none}, {TC_i16, TC_i64, 0, 0, TC_i64},
        {TC_u8, TC_i8, 1, 0, TC_u8},
    };
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        tc_type a = {.dtype = row[i].a, .rank = row[i].rank_a, .dim = {1}};
        tc_type b = {.dtype = row[i].b, .rank = row[i].rank_b, .dim = {1}};
        CHECK(ti_promote((tc_tensor[]){{&a, NULL}, {NULL, NULL}, {&b, NULL}}, 3) == row[i].common);
    }
    GIVES(TWO(mul, NULL, NUMBERS(i32, 3, 5), NUMBER(f32, 0.5)), f32, 1.5, 2.5);
    GIVES(TWO(eq, NULL, NUMBERS(f16, 0.0999755859375), NUMBER(f32, 0.1)), bool, 1);
    GIVES(TWO(mul, NULL, NUMBERS(f16, 1000), NUMBER(f32, 0.001)), f16, 1);
    GIVES(TWO(add, &one, NUMBERS(u8, 250, 1), NUMBER(i64, 300)), u8, 38, 45);
    GIVES(TWO(div, &exact, NUMBERS(i32, 7, -1), NUMBERS(i8, 2, 0)), f32, 3.5, -INFINITY);
}

/* Every way an axis can be repeated, against plain indexing. */
static void test_broadcast(tc_ctx *ctx)
{
    static const int64_t shape[][4] = {{2, 3, 4, 40}, {1, 3, 1, 1}, {2, 1, 4, 1},  {1, 1, 1, 40},
                                       {1, 1, 1, 1},  {2, 3, 4, 1}, {2, 1, 1, 40}, {1, 3, 4, 3},
                                       {2, 3, 1, 3},  {1, 1, 4, 3}};
    for (size_t a = 0; a < TC_COUNT(shape); a++)
        for (size_t b = 0; b < TC_COUNT(shape); b++) {
            if (shape[a][3] != shape[b][3] && shape[a][3] != 1 && shape[b][3] != 1)
                continue;
            tc_tensor x = noise(ctx, a % 2 ? TC_f32 : TC_f16, 4, shape[a], 1);
            tc_tensor y = noise(ctx, TC_f32, 4, shape[b], 2);
            tc_tensor z = TWO(sub, &one, x, y), w = THREE(where, NULL, TWO(gt, NULL, x, y), x, y);
            int64_t at = 0, wrong = 0, d[4];
            const int64_t *n = z.type->dim;
            for (d[0] = 0; d[0] < n[0]; d[0]++)
                for (d[1] = 0; d[1] < n[1]; d[1]++)
                    for (d[2] = 0; d[2] < n[2]; d[2]++)
                        for (d[3] = 0; d[3] < n[3]; d[3]++, at++) {
                            int64_t i = 0, k = 0;
                            for (int axis = 0; axis < 4; axis++) {
                                i = i * shape[a][axis] + (shape[a][axis] > 1 ? d[axis] : 0);
                                k = k * shape[b][axis] + (shape[b][axis] > 1 ? d[axis] : 0);
                            }
                            double p = ti_load_f64(x, i), q = ti_load_f64(y, k);
                            wrong +=
                                ti_load_f64(z, at) != p - q || ti_load_f64(w, at) != fmax(p, q);
                        }
            CHECK(wrong == 0 && at == tc_type_count(z.type));
        }
    tc_tensor out, in[2] = {noise(ctx, TC_f32, DIMS(2, 3), 1), noise(ctx, TC_f32, DIMS(2), 1)};
    CHECK(run_op(ctx, TC_OP_mul, NULL, in, 2, &out, 1) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "[2,3] and [2]") != NULL);
    tc_tensor none = tensor_of(ctx, TC_f32, DIMS(0, 3), NULL);
    CHECK(has_dims(TWO(mul, NULL, none, NUMBERS(f32, 1, 2, 3)), DIMS(0, 3)));
    tc_tensor many = noise(ctx, TC_f32, DIMS(5000), 3), twice = TWO(add, &one, many, many);
    CHECK(ti_load_f64(twice, 4999) == 2 * ti_load_f64(many, 4999));
}

static void test_integers(tc_ctx *ctx)
{
    GIVES(TWO(div, &cut, NUMBERS(i32, -7, 7, 6), NUMBERS(i32, 2, -2, 3)), i32, -3, -3, 2);
    GIVES(TWO(div, &down, NUMBERS(i32, -7, 7, 6), NUMBERS(i32, 2, -2, 3)), i32, -4, -4, 2);
    GIVES(TWO(remainder, NULL, NUMBERS(i8, -7, 7, 6), NUMBERS(i8, 2, -2, 3)), i8, 1, -1, 0);
    GIVES(TWO(fmod, NULL, NUMBERS(i8, -7, 7, 6), NUMBERS(i8, 2, -2, 3)), i8, -1, 1, 0);
    GIVES(TWO(div, &cut, NUMBERS(i8, -128), NUMBERS(i8, -1)), i8, -128);
    GIVES(TWO(pow, NULL, NUMBERS(i32, 3, -1, 2, 2), NUMBERS(i32, 4, -3, -1, 31)), i32, 81, -1, 0,
          INT32_MIN);
    GIVES(TWO(mul, NULL, NUMBERS(i8, 100), NUMBERS(i8, 3)), i8, 44);
    GIVES(TWO(shift_left, NULL, NUMBERS(i8, 3, 1, 1), NUMBERS(i8, 6, 8, -1)), i8, -64, 0, 0);
    GIVES(TWO(shift_right, NULL, NUMBERS(i8, -100, -1, 100), NUMBERS(i8, 3, 9, 7)), i8, -13, -1, 0);
    GIVES(TWO(bitwise_and, NULL, NUMBERS(bool, 1, 1), NUMBERS(bool, 1, 0)), bool, 1, 0);
    GIVES(TWO(add, &one, NUMBERS(bool, 1, 0), NUMBERS(bool, 1, 0)), bool, 1, 0);
    GIVES(ONE(bitwise_not, NULL, u8, 0, 5), u8, 255, 250);
    GIVES(ONE(bitwise_not, NULL, bool, 0, 1), bool, 1, 0);
    GIVES(ONE(abs, NULL, i8, -128, -5), i8, -128, 5);
    GIVES(ONE(sqrt, NULL, i64, 16, 0), f32, 4, 0);
    GIVES(ONE(clamp, (&(tc_attr_clamp){-INFINITY, 3}), i64, -9e18, 9), i64, -9e18, 3);
    tc_tensor out, in[2] = {NUMBERS(i32, 1, 2), NUMBERS(i32, 1, 0)};
    CHECK(run_op(ctx, TC_OP_div, &down, in, 2, &out, 1) == TC_BAD_MODEL);
    CHECK(run_op(ctx, TC_OP_remainder, NULL, in, 2, &out, 1) == TC_BAD_MODEL);
}

static void test_edges(tc_ctx *ctx)
{
    const double nan = (double)NAN, inf = (double)INFINITY;
    GIVES(TWO(maximum, NULL, NUMBERS(f32, nan, 1, 2), NUMBERS(f32, 1, nan, 3)), f32, nan, nan, 3);
    GIVES(TWO(fmin, NULL, NUMBERS(f32, nan, 1, 2), NUMBERS(f32, 1, nan, 3)), f32, 1, 1, 2);
    GIVES(ONE(clamp, (&(tc_attr_clamp){-1, 1}), f32, nan, inf, -inf, 0.5), f32, nan, 1, -1, 0.5);
    GIVES(ONE(clamp, (&(tc_attr_clamp){2, 1}), f32, 0, 5), f32, 1, 1);
    GIVES(ONE(relu, NULL, f32, nan, -3, 3), f32, nan, 0, 3);
    GIVES(ONE(sign, NULL, f32, nan, -3, 0), f32, 0, -1, 0);
    GIVES(ONE(round, (&(tc_attr_round){0}), f32, 0.5, 1.5, -2.5), f32, 0, 2, -2);
    GIVES(ONE(round, (&(tc_attr_round){-1}), f32, 25, 35), f32, 20, 40);
    GIVES(ONE(nan_to_num, (&(tc_attr_nan_to_num){1, 2, 3}), f32, nan, inf, -inf, 4), f32, 1, 2, 3,
          4);
    GIVES(ONE(isinf, NULL, f16, inf, 1, nan), bool, 1, 0, 0);
    GIVES(ONE(isfinite, NULL, i8, 1, 2), bool, 1, 1);
    GIVES(ONE(cast, (&(tc_attr_cast){TC_i8}), f32, 300, -1.9, 1e10), i8, 44, -1, 0);
    GIVES(ONE(cast, (&(tc_attr_cast){TC_bool}), f64, 1e-300, 0, nan), bool, 1, 0, 1);
    GIVES(ONE(cast, (&(tc_attr_cast){TC_f16}), i64, 2049, 70000), f16, 2048, inf);
    GIVES(TWO(div, &down, NUMBERS(f32, -7, 7, 1), NUMBERS(f32, 2, 0, inf)), f32, -4, inf, 0);
    GIVES(TWO(remainder, NULL, NUMBERS(f32, -7, 7, 5), NUMBERS(f32, 2, -2, inf)), f32, 1, -1, 5);
    GIVES(TWO(xlogy, NULL, NUMBERS(f32, 0, 0), NUMBERS(f32, 0, nan)), f32, 0, nan);
    GIVES(TWO(copysign, NULL, NUMBERS(i32, 3, -3), NUMBERS(f32, -0.0, 1)), f32, -3, 3);
    GIVES(TWO(logical_xor, NULL, NUMBERS(f32, nan, 0), NUMBERS(f32, 1, 2)), bool, 0, 1);
    GIVES(THREE(clamp_tensor, NULL, NUMBERS(f32, -5, 5), ((tc_tensor){NULL, NULL}),
                NUMBERS(f32, nan, 1)),
          f32, nan, 1);
    GIVES(THREE(lerp, NULL, NUMBERS(f32, 1, 2), NUMBERS(f32, 3, 4), NUMBER(f32, 0.25)), f32, 1.5,
          2.5);
    GIVES(THREE(addcdiv, (&(tc_attr_scale){2}), NUMBERS(f32, 1), NUMBERS(f32, 3), NUMBERS(f32, 4)),
          f32, 2.5);
    GIVES(TWO(pow, NULL, NUMBERS(f32, 4, -2, 0), NUMBER(f32, 0.5)), f32, 2, nan, 0);
}

static void test_layouts(tc_ctx *ctx)
{
    tc_tensor x = tensor_of(ctx, TC_f32, DIMS(1, 2, 2), (double[]){-1, 2, -3, 4});
    GIVES(TWO(prelu, NULL, x, NUMBERS(f32, 2, 10)), f32, -2, 2, -30, 4);
    GIVES(TWO(prelu, NULL, x, NUMBERS(f32, 3)), f32, -3, 2, -9, 4);
    tc_tensor out, in[2] = {x, NUMBERS(f32, 1, 2, 3)};
    CHECK(run_op(ctx, TC_OP_prelu, NULL, in, 2, &out, 1) == TC_BAD_MODEL);
    tc_tensor y = tensor_of(ctx, TC_f64, DIMS(2, 2), (double[]){1, 2, 0, 0});
    GIVES(run_ok(ctx, TC_OP_glu, &(tc_attr_axis){0}, &y, 1), f64, 0.5, 1);
    CHECK(is_near(run_ok(ctx, TC_OP_glu, &(tc_attr_axis){1}, &y, 1),
                  (double[]){1 / (1 + exp(-2.0)), 0}, 1e-15));
}

static void test_complex(tc_ctx *ctx)
{
    tc_tensor x = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_c64, 1, (int64_t[]){1}));
    memcpy(x.data, (float[]){3, 4}, 8);
    const float *z = TWO(mul, NULL, x, x).data;
    CHECK(z[0] == -7 && z[1] == 24);
    z = TWO(div, &exact, x, x).data;
    CHECK(z[0] == 1 && z[1] == 0);
    z = TWO(sub, &one, x, NUMBER(f32, 1)).data;
    CHECK(z[0] == 2 && z[1] == 4);
    GIVES(run_ok(ctx, TC_OP_abs, NULL, &x, 1), f32, 5);
    GIVES(TWO(ne, NULL, x, x), bool, 0);
    CHECK(((const float *)run_ok(ctx, TC_OP_neg, NULL, &x, 1).data)[1] == -4);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_promotion(ctx);
    test_broadcast(ctx);
    test_integers(ctx);
    test_edges(ctx);
    test_layouts(ctx);
    test_complex(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
