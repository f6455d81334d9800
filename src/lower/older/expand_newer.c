/* SPDX-License-Identifier: Apache-2.0 */
/* expand_newer.c -- operators of TOSA 1.1, and types that 1.0's operators did not take.
 *
 *   MATMUL_T               TRANSPOSE, MATMUL; one B for all A: the rows of A concatenated,
 *                          of i16 TILE
 *   ROW_GATHER             GATHER of all the rows' elements
 *   *_POOL2D_ADAPTIVE      the plain ones, of constant shapes
 *   products of new types  CAST to f32, and of the result to its own type; mixed fp8 to f16: CAST to f16
 *   RESIZE of fp8          the same
 *   CAST, input_unsigned   BITWISE_AND with the bits; of i32 to floats by halves
 *   GATHER, SCATTER, CAST  bool as 0 and 1 of i32, or of f32 where the target has no integers */
#include "../lower.h"
#include "older.h"

typedef tc_status rule(tc_rewrite *rw, const tc_node *node, bool *done);

tc_ints ti_older_shape(tc_build *b, int i)
{
    tc_tensor t = ti_b_constant(b, ti_b_in(b, i));
    if (t.data)
        return ti_ints_copy(&b->ctx->arena, t.data, (int)tc_type_count(t.type));
    ti_b_bad(b, TC_E_TOSA_PROFILE, "operand %d of '%s' is no constant, as TOSA 1.0 wants it", i,
             tc_ops[b->node->op].name);
    return (tc_ints){0};
}

static tc_status max_pool(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    const tc_attr_tosa_nan *a = node->attr;
    tc_ints kernel = ti_older_shape(&b, 1), stride = ti_older_shape(&b, 2), pad = ti_older_shape(&b, 3);
    const void *attr = ti_b_attr(&b, tosa_max_pool, kernel, stride, pad, a->nan_mode);
    return ti_b_replace(&b, ti_b_1(&b, tosa_max_pool2d, attr, ti_b_in(&b, 0)), done);
}

static tc_status avg_pool(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    const tc_attr_tosa_acc *a = node->attr;
    tc_ints kernel = ti_older_shape(&b, 3), stride = ti_older_shape(&b, 4), pad = ti_older_shape(&b, 5);
    const void *attr = ti_b_attr(&b, tosa_avg_pool, kernel, stride, pad, a->acc_type);
    tc_val y = ti_b_3(&b, tosa_avg_pool2d, attr, ti_b_in(&b, 0), ti_b_in(&b, 1), ti_b_in(&b, 2));
    return ti_b_replace(&b, y, done);
}

/* ---- products ---- */

static bool is_8(tc_dtype t) { return t == TC_e4m3 || t == TC_e5m2; }

/* The type in which MATMUL of 1.0 multiplies these, of which it makes `out` or what is cast to it. */
static tc_dtype common_type(tc_dtype x, tc_dtype y, tc_dtype out)
{
    bool same = x == y;
    if (!ti_is_float(x) || (same && x == TC_f16 && out != TC_bf16) ||
        (same && x == TC_bf16 && out == TC_f32) || (same && is_8(x) && out == TC_f16))
        return x;
    return is_8(x) && is_8(y) && out == TC_f16 ? TC_f16 : TC_f32;
}

/* [n,h,c] x [n,c,w] of any types to `out`. */
static tc_val put_matmul(tc_build *b, tc_val x, tc_val y, tc_val x_zero, tc_val y_zero,
                         tc_dtype out)
{
    if (!x || !y)
        return TC_NONE;
    tc_dtype common = common_type(ti_b_dtype(b, x), ti_b_dtype(b, y), out);
    if (common != ti_b_dtype(b, x) || common != ti_b_dtype(b, y)) {
        x = ti_b_tosa_cast(b, x, common);
        y = ti_b_tosa_cast(b, y, common);
        x_zero = y_zero = ti_b_single(b, common, 1, 0);
    }
    const tc_type *s = ti_b_type(b, x), *t = ti_b_type(b, y);
    tc_dtype made = common == TC_f32 ? TC_f32 : out;
    const tc_type *type =
        ti_type_make(b->ctx, made, 3, (int64_t[]){s->dim[0], s->dim[1], t->dim[2]});
    tc_val in[] = {x, y, x_zero, y_zero};
    return ti_b_tosa_cast(b, ti_b_typed(b, TC_OP_tosa_matmul, NULL, in, 4, type), out);
}

static tc_status matmul(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val y = put_matmul(&b, ti_b_in(&b, 0), ti_b_in(&b, 1), ti_b_in(&b, 2), ti_b_in(&b, 3),
                          ti_b_out_type(&b, 0)->dtype);
    return ti_b_replace(&b, y, done);
}

static tc_status matmul_t(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    const tc_type *s = ti_b_in_type(&b, 0), *t = ti_b_in_type(&b, 1), *to = ti_b_out_type(&b, 0);
    tc_val x = ti_b_in(&b, 0), y = ti_b_tosa_transpose(&b, ti_b_in(&b, 1), (int64_t[]){0, 2, 1});
    bool one = t->dim[0] != s->dim[0];
    if (one && to->dtype == TC_i48) /* which RESHAPE does not take */
        y = ti_b_tosa_tile(&b, y, (int64_t[]){s->dim[0], 1, 1});
    else if (one)
        x = ti_b_tosa_reshape(&b, x, 3, (int64_t[]){1, s->dim[0] * s->dim[1], s->dim[2]});
    tc_val product = put_matmul(&b, x, y, ti_b_in(&b, 2), ti_b_in(&b, 3), to->dtype);
    return ti_b_replace(&b, ti_b_tosa_reshape(&b, product, 3, to->dim), done);
}

/* The record with sums in f32. */
static const void *with_f32(tc_build *b)
{
    if (b->node->op == TC_OP_tosa_transpose_conv2d) {
        tc_attr_tosa_transpose_conv a = *(const tc_attr_tosa_transpose_conv *)b->node->attr;
        a.acc_type = TC_f32;
        return ti_b_keep(b, &a);
    }
    tc_attr_tosa_conv a = *(const tc_attr_tosa_conv *)b->node->attr;
    a.acc_type = TC_f32;
    return ti_b_keep(b, &a);
}

static tc_status conv(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    const tc_type *to = ti_b_out_type(&b, 0);
    tc_val in[5];
    for (int i = 0; i < 3; i++)
        in[i] = ti_b_tosa_cast(&b, ti_b_in(&b, i), TC_f32);
    in[3] = in[4] = ti_b_single(&b, TC_f32, 1, 0);
    const tc_type *type = ti_type_make(rw->ctx, TC_f32, to->rank, to->dim);
    tc_val y = ti_b_typed(&b, node->op, with_f32(&b), in, 5, type);
    return ti_b_replace(&b, ti_b_tosa_cast(&b, y, to->dtype), done);
}

static tc_status resize(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    const tc_type *to = ti_b_out_type(&b, 0);
    tc_val in[] = {ti_b_tosa_cast(&b, ti_b_in(&b, 0), TC_f32), ti_b_in(&b, 1), ti_b_in(&b, 2),
                   ti_b_in(&b, 3)};
    const tc_type *type = ti_type_make(rw->ctx, TC_f32, to->rank, to->dim);
    tc_val y = ti_b_typed(&b, node->op, node->attr, in, 4, type);
    return ti_b_replace(&b, ti_b_tosa_cast(&b, y, to->dtype), done);
}

/* ---- rows, and bools as integers or f32 ---- */

static tc_dtype number_type(const tc_rewrite *rw)
{
    const tc_target *t = rw->user;
    return !t || t->tosa >> TC_FEATURE_INT & 1u ? TC_i32 : TC_f32;
}

static tc_val as_number(tc_build *b, tc_val x, tc_dtype type)
{
    if (ti_b_dtype(b, x) != TC_bool)
        return x;
    tc_val one = ti_b_like(b, x, type, 1), zero = ti_b_like(b, x, type, 0);
    return ti_b_tosa_select(b, x, one, zero);
}

static tc_val as_truth(tc_build *b, tc_val x)
{
    return x ? ti_b_tosa_greater(b, x, ti_b_like(b, x, ti_b_dtype(b, x), 0)) : TC_NONE;
}

static tc_val put_gather(tc_build *b, tc_val values, tc_val indices)
{
    bool truth = ti_b_dtype(b, values) == TC_bool;
    values = as_number(b, values, number_type(b->rw));
    tc_val y = ti_b_tosa_gather(b, values, indices);
    return truth ? as_truth(b, y) : y;
}

static tc_status gather(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    if (ti_b_in_type(&b, 0)->dtype != TC_bool)
        return TC_OK;
    return ti_b_replace(&b, put_gather(&b, ti_b_in(&b, 0), ti_b_in(&b, 1)), done);
}

static tc_status scatter(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    if (ti_b_in_type(&b, 0)->dtype != TC_bool)
        return TC_OK;
    tc_val values = as_number(&b, ti_b_in(&b, 0), number_type(rw)),
           input = as_number(&b, ti_b_in(&b, 2), number_type(rw));
    tc_val y = ti_b_tosa_scatter(&b, values, ti_b_in(&b, 1), input);
    return ti_b_replace(&b, as_truth(&b, y), done);
}

static tc_status row_gather(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    tc_tensor count = ti_b_constant(&b, ti_b_in(&b, 2));
    tc_val index = ti_b_in(&b, 1);
    const tc_type *t = ti_b_type(&b, index);
    if (!count.data) {
        ti_b_bad(&b, TC_E_TOSA_PROFILE, "row_count of '%s' is no constant", tc_ops[node->op].name);
        return b.status;
    }
    int64_t rows = *(const int32_t *)count.data;
    if (rows > 1) {
        tc_val first = ti_b_tosa_reshape(&b, index, 3, (int64_t[]){t->dim[0], t->dim[1], 1});
        double *step = tc_new_n(&rw->ctx->scratch, double, (size_t)rows);
        for (int64_t i = 0; i < rows; i++)
            step[i] = (double)i;
        tc_val steps = ti_b_numbers(&b, TC_i32, 3, (int64_t[]){1, 1, rows}, step);
        index = ti_b_tosa_reshape(&b, ti_b_tosa_add(&b, first, steps), 2,
                                  (int64_t[]){t->dim[0], t->dim[1] * rows});
    }
    return ti_b_replace(&b, put_gather(&b, ti_b_in(&b, 0), index), done);
}

static tc_status cast(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_in(&b, 0);
    tc_dtype from = ti_b_dtype(&b, x), to = ti_b_out_type(&b, 0)->dtype;
    if (from == TC_bool && to == TC_f32)
        return ti_b_replace(&b, as_number(&b, x, TC_f32), done);
    if (from != TC_f32 || to != TC_bool)
        return TC_OK;
    tc_val zero = ti_b_like(&b, x, TC_f32, 0); /* NaN is none, so it is true */
    return ti_b_replace(&b, ti_b_tosa_logical_not(&b, ti_b_tosa_equal(&b, x, zero)), done);
}

static tc_val low_bits(tc_build *b, tc_val x, double mask)
{
    return ti_b_tosa_bitwise_and(b, x, ti_b_like(b, x, TC_i32, mask));
}

/* The upper half of 32 bits times 65536, and the lower: one rounding. */
static tc_val unsigned_32(tc_build *b, tc_val x)
{
    tc_val half = ti_b_like(b, x, TC_i32, 16);
    tc_val high = ti_b_tosa_cast(b, ti_b_tosa_logical_right_shift(b, x, half), TC_f32),
           low = ti_b_tosa_cast(b, low_bits(b, x, 0xffff), TC_f32);
    tc_val factor = ti_b_like(b, high, TC_f32, 65536);
    return ti_b_tosa_add(b, ti_b_tosa_mul(b, high, factor), low);
}

static tc_status cast_unsigned(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_in(&b, 0);
    tc_dtype from = ti_b_dtype(&b, x), to = ti_b_out_type(&b, 0)->dtype;
    bool wider = tc_dtypes[to].bits > tc_dtypes[from].bits;
    if (from == TC_i32 && to == TC_bf16) {
        ti_b_bad(&b, TC_E_TOSA_PROFILE, "CAST with input_unsigned from i32 to bf16 %s",
                 "would round twice in TOSA 1.0");
        return b.status;
    }
    if (from == TC_i32 && ti_is_float(to))
        x = unsigned_32(&b, x);
    else if (from != TC_i32 && (wider || ti_is_float(to)))
        x = low_bits(&b, ti_b_tosa_cast(&b, x, TC_i32), from == TC_i8 ? 0xff : 0xffff);
    return ti_b_replace(&b, ti_b_tosa_cast(&b, x, to), done);
}

static const struct {
    tc_op op;
    rule *rule;
} rules[] = {
    {TC_OP_tosa_max_pool2d_adaptive, max_pool},
    {TC_OP_tosa_avg_pool2d_adaptive, avg_pool},
    {TC_OP_tosa_matmul_t, matmul_t},
    {TC_OP_tosa_matmul, matmul},
    {TC_OP_tosa_conv2d, conv},
    {TC_OP_tosa_conv3d, conv},
    {TC_OP_tosa_depthwise_conv2d, conv},
    {TC_OP_tosa_transpose_conv2d, conv},
    {TC_OP_tosa_resize, resize},
    {TC_OP_tosa_row_gather, row_gather},
    {TC_OP_tosa_gather, gather},
    {TC_OP_tosa_scatter, scatter},
    {TC_OP_tosa_cast, cast},
    {TC_OP_tosa_cast_unsigned, cast_unsigned},
};

static tc_status expand(tc_rewrite *rw, const tc_node *node, bool *done)
{
    for (size_t i = 0; i < TC_COUNT(rules); i++)
        if (rules[i].op == node->op && ti_tosa_is_new(rw->from, node))
            return rules[i].rule(rw, node, done);
    return TC_OK;
}

tc_status ti_lower_expand_newer(tc_ctx *ctx, tc_module *module, const tc_target *target)
{
    (void)ctx;
    static tc_rewriter *const rewriters[] = {expand};
    return ti_rewrite_module(module, rewriters, 1, (void *)(uintptr_t)target);
}
