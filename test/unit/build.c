/* SPDX-License-Identifier: Apache-2.0 */
/* build.c -- the builder's promise: what changes nothing makes no node, and after a failure nothing
 * is made; its verbs give the types that they should. */
#include "check.h"

#include "ir/build.h"

static const tc_type *dims(tc_ctx *ctx, tc_dtype dtype, int64_t a, int64_t b)
{
    return ti_type_make(ctx, dtype, 2, (int64_t[]){a, b});
}

static void leaves_out_nothing(tc_build *b, tc_val x)
{
    size_t before = b->g->n_node;
    CHECK(ti_b_reshape(b, x, 2, (int64_t[]){2, 3}) == x);
    CHECK(ti_b_permute(b, x, (int64_t[]){0, 1}) == x);
    CHECK(ti_b_expand(b, x, 2, (int64_t[]){2, 3}) == x);
    CHECK(ti_b_slice(b, x, 1, 0, 3, 1) == x);
    CHECK(ti_b_cast(b, x, TC_f32) == x);
    CHECK(ti_b_cat(b, 0, &x, 1) == x);
    CHECK(ti_b_pad(b, x, (int64_t[]){0, 0, 0, 0}, 1) == x);
    CHECK(ti_b_mul_n(b, x, 1) == x);
    CHECK(ti_b_tosa_reshape(b, x, 2, (int64_t[]){2, 3}) == x);
    CHECK(ti_b_tosa_transpose(b, x, (int64_t[]){0, 1}) == x);
    CHECK(ti_b_tosa_tile(b, x, (int64_t[]){1, 1}) == x);
    CHECK(ti_b_tosa_cast(b, x, TC_f32) == x);
    CHECK(b->g->n_node == before && b->status == TC_OK);
    b->every = true;
    CHECK(ti_b_permute(b, x, (int64_t[]){0, 1}) != x);
    b->every = false;
}

static void gives_types(tc_build *b, tc_val x)
{
    tc_ctx *ctx = b->ctx;
    CHECK(ti_b_type(b, ti_b_swap(b, x, 0, 1)) == dims(ctx, TC_f32, 3, 2));
    CHECK(ti_b_type(b, ti_b_slice(b, x, 1, 0, 3, 2)) == dims(ctx, TC_f32, 2, 2));
    CHECK(ti_b_type(b, ti_b_cat(b, 0, (tc_val[]){x, x}, 2)) == dims(ctx, TC_f32, 4, 3));
    CHECK(ti_b_dtype(b, ti_b_gt(b, x, ti_b_number(b, x, 1))) == TC_bool);
    CHECK(ti_b_type(b, ti_b_softmax(b, x, 1)) == dims(ctx, TC_f32, 2, 3));
    CHECK(ti_b_type(b, ti_b_tosa_reduce_max(b, x, 1)) == dims(ctx, TC_f32, 2, 1));
    CHECK(ti_b_type(b, ti_b_like(b, x, TC_i32, 7)) == dims(ctx, TC_i32, 1, 1));
    /* Codes keep their scale. */
    static const double scale[] = {0.5};
    static const int64_t zero[] = {3};
    tc_quant q = {.axis = -1, .count = 1, .scale = scale, .zero = zero, .lo = -128, .hi = 127};
    const tc_type *coded = ti_type_with(ctx, dims(ctx, TC_i8, 2, 3), &q);
    tc_val codes = ti_graph_input(b->g, coded, "codes");
    CHECK(ti_b_type(b, ti_b_swap(b, codes, 0, 1)) == ti_type_with(ctx, dims(ctx, TC_i8, 3, 2), &q));
    CHECK(ti_b_type(b, ti_b_slice(b, codes, 1, 1, 2, 1)) ==
          ti_type_with(ctx, dims(ctx, TC_i8, 2, 1), &q));
    CHECK(ti_b_type(b, ti_b_cat(b, 1, (tc_val[]){codes, codes}, 2)) ==
          ti_type_with(ctx, dims(ctx, TC_i8, 2, 6), &q));
    CHECK(b->status == TC_OK);
}

static void stops(tc_build *b, tc_val x)
{
    ti_b_unsupported(b, "it is %s", "broken");
    size_t nodes = b->g->n_node;
    CHECK(b->status == TC_UNSUPPORTED);
    CHECK(!ti_b_exp(b, x) && !ti_b_add(b, x, x) && !ti_b_softmax(b, x, 0));
    CHECK(!ti_b_swap(b, x, 0, 1) && !ti_b_scalar(b, TC_f32, 1) && !ti_b_cat(b, 0, &x, 1));
    CHECK(!ti_b_list(b, (int64_t[]){1}, 1) && !ti_b_full(b, 0, NULL, 1, TC_f32));
    CHECK(!ti_b_typed(b, TC_OP_tosa_cast, NULL, &x, 1, dims(b->ctx, TC_i8, 2, 3)));
    ti_b_bad(b, TC_E_ARGUMENT, "a second message");
    CHECK(b->g->n_node == nodes && b->status == TC_UNSUPPORTED);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = ti_module_new(ctx, "build");
    tc_build b = {.ctx = ctx, .g = ti_graph_new(module, "main")};
    tc_val x = ti_graph_input(b.g, dims(ctx, TC_f32, 2, 3), "x");
    leaves_out_nothing(&b, x);
    gives_types(&b, x);
    /* A wrong shape is a message of the shape rule's, and the end. */
    tc_build wrong = b;
    CHECK(!ti_b_matmul(&wrong, x, x) && wrong.status != TC_OK);
    stops(&b, x);
    tc_ctx_free(ctx);
    return check_done();
}
