/* SPDX-License-Identifier: Apache-2.0 */
/* shape_tosa_block.c -- shape functions of TOSA 1.1: transposed products, runs of rows, and the
 * deprecated operators on block-scaled values with separate scales. */
#include "shape_tosa.h"

#include "../num/block_scaled.h"

/* a: [n, h, c]   b: [d, w, c], d 1 or n   result: [n, h, w] */
static tc_status transposed_product(tc_infer *c, int b_at, tc_dtype sum)
{
    const tc_type *a = ti_in(c, 0), *b = ti_in(c, b_at);
    TC_TRY(ti_tosa_rank(c, 0, "A", 3));
    TC_TRY(ti_tosa_rank(c, b_at, "B", 3));
    if ((b->dim[0] != 1 && b->dim[0] != a->dim[0]) || a->dim[2] != b->dim[2])
        return TC_REFUSE(c, "A has the shape %s and B %s, expected [n,h,c] and [n,w,c] or [1,w,c]",
                         ti_dims_text(&c->ctx->arena, 3, a->dim),
                         ti_dims_text(&c->ctx->arena, 3, b->dim));
    ti_tosa_result(c, 0, sum, 3, (int64_t[]){a->dim[0], a->dim[1], b->dim[1]});
    return TC_OK;
}

/* Floats may be accumulated in f32, and some in bf16 or f16: the declared type says which. */
tc_status ti_shape_tosa_matmul_t(tc_infer *c)
{
    tc_dtype a = ti_in(c, 0)->dtype;
    TC_TRY(ti_tosa_single(c, 2, "A_zp"));
    TC_TRY(ti_tosa_single(c, 3, "B_zp"));
    return transposed_product(c, 1,
                              a == TC_i8    ? TC_i32
                              : a == TC_i16 ? TC_i48
                                            : ti_tosa_declared(c, TC_f32));
}

/* values [n, k, c], indices [n, w]: the shape of `rows` rows of values for each index. */
static tc_status gathered(tc_infer *c, int out, const tc_type *values, const tc_type *indices,
                          int64_t rows)
{
    if (values->rank != 3 || indices->rank != 2 || values->dim[0] != indices->dim[0])
        return TC_REFUSE(c, "values have the shape %s and indices %s, expected [n,k,c] and [n,w]",
                         ti_dims_text(&c->ctx->arena, values->rank, values->dim),
                         ti_dims_text(&c->ctx->arena, indices->rank, indices->dim));
    ti_tosa_result(c, out, values->dtype, 3,
                   (int64_t[]){values->dim[0], indices->dim[1] * rows, values->dim[2]});
    return TC_OK;
}

/* row_count, operand i: one i32.  0 when it is unknown, which is valid if the results are
 * declared. */
static tc_status row_count(const tc_infer *c, int i, int64_t *rows)
{
    TC_TRY(ti_tosa_single(c, i, "row_count"));
    if (ti_in(c, i)->dtype != TC_i32)
        return TC_REFUSE(c, "row_count is of type %s, expected i32",
                         tc_dtypes[ti_in(c, i)->dtype].name);
    const int32_t *known = c->in[i].data;
    if ((!known && c->out[0].dtype == TC_none) || (known && *known < 1))
        return TC_REFUSE(c, "row_count is %s", known ? "below 1" : "not a constant");
    *rows = known ? *known : 0;
    return TC_OK;
}

tc_status ti_shape_tosa_row_gather(tc_infer *c)
{
    int64_t rows;
    TC_TRY(row_count(c, 2, &rows));
    return rows ? gathered(c, 0, ti_in(c, 0), ti_in(c, 1), rows) : TC_OK;
}

/* ---- separate scales
 * -------------------------------------------------------------------------- */

static int64_t block_size(const tc_infer *c)
{
    return ((const tc_attr_tosa_block *)c->attr)->block_size;
}

/* Only blocks of 32 have scales. */
static tc_status check_size(const tc_infer *c)
{
    if (block_size(c) == TC_BLOCK)
        return TC_OK;
    return TC_REFUSE(c, "block_size is %" PRId64 ", expected %d", block_size(c), TC_BLOCK);
}

/* Scales have the shape of the values, but on the last axis: one for each block. */
static tc_status scales_of(const tc_infer *c, const tc_type *values, tc_type *scales)
{
    int last = values->rank - 1;
    TC_TRY(check_size(c));
    if (last < 0 || values->dim[last] % TC_BLOCK)
        return TC_REFUSE(c, "values have the shape %s, expected a last axis of whole blocks of %d",
                         ti_dims_text(&c->ctx->arena, values->rank, values->dim), TC_BLOCK);
    *scales = *values;
    scales->dtype = TC_ue8m0;
    scales->dim[last] /= TC_BLOCK;
    return TC_OK;
}

/* Operand `at` has values, the next one their scales. */
static tc_status check_scales(const tc_infer *c, int at)
{
    tc_type want;
    const tc_type *scales = ti_in(c, at + 1);
    TC_TRY(scales_of(c, ti_in(c, at), &want));
    if (scales->dtype == TC_ue8m0 && ti_same_dims(scales, &want))
        return TC_OK;
    return TC_REFUSE(c, "the scales are %s, expected %s", ti_type_text(&c->ctx->arena, scales),
                     ti_type_text(&c->ctx->arena, &want));
}

tc_status ti_shape_tosa_matmul_t_block_scaled(tc_infer *c)
{
    TC_TRY(check_scales(c, 0));
    TC_TRY(check_scales(c, 2));
    return transposed_product(c, 2, TC_f32);
}

tc_status ti_shape_tosa_cast_from_block_scaled(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(check_scales(c, 0));
    ti_tosa_result(c, 0, ti_tosa_declared(c, TC_f32), x->rank, x->dim);
    return TC_OK;
}

tc_status ti_shape_tosa_cast_to_block_scaled(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    tc_type scales;
    if (c->out[0].dtype == TC_none)
        return TC_REFUSE(c, "the result's element type must be declared, from %s",
                         tc_dtypes[x->dtype].name);
    TC_TRY(scales_of(c, x, &scales));
    ti_tosa_result(c, 0, c->out[0].dtype, x->rank, x->dim);
    ti_tosa_result(c, 1, TC_ue8m0, scales.rank, scales.dim);
    return TC_OK;
}

/* The operands from the first on that are values, or values and scales; `after` others follow. */
static tc_status check_list(const tc_infer *c, int after)
{
    int n = c->n_in - after;
    if (n != c->n_out)
        return TC_REFUSE(c, "%d tensors become %d", n, c->n_out);
    if (n == 1 && block_size(c) != 1)
        return TC_REFUSE(c, "block_size is %" PRId64 " without scales, expected 1", block_size(c));
    return n == 2 ? check_scales(c, 0) : TC_OK;
}

tc_status ti_shape_tosa_reshape_block_scaled(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    const int64_t *dim;
    TC_TRY(check_list(c, 1));
    TC_TRY(ti_tosa_values(c, c->n_in - 1, "new_value_shape", -1, &dim));
    if (!dim)
        return TC_OK;
    int64_t rank = ti_in(c, c->n_in - 1)->dim[0];
    if (rank > TC_MAX_RANK || ti_dims_count((int32_t)rank, dim) != tc_type_count(x))
        return TC_REFUSE(c, "%" PRId64 " elements do not fit the shape", tc_type_count(x));
    ti_tosa_result(c, 0, x->dtype, (int)rank, dim);
    if (c->n_out < 2)
        return TC_OK;
    tc_type scales;
    TC_TRY(scales_of(c, &c->out[0], &scales));
    ti_tosa_result(c, 1, TC_ue8m0, scales.rank, scales.dim);
    return TC_OK;
}

tc_status ti_shape_tosa_row_gather_block_scaled(tc_infer *c)
{
    int64_t rows;
    TC_TRY(check_list(c, 2));
    TC_TRY(row_count(c, c->n_in - 1, &rows));
    for (int i = 0; rows && i < c->n_out; i++)
        TC_TRY(gathered(c, i, ti_in(c, i), ti_in(c, c->n_in - 2), rows));
    return TC_OK;
}

/* The scales of conv2d's operands; shape_tosa_nn.c has the rest. */
tc_status ti_tosa_conv_scales(const tc_infer *c)
{
    TC_TRY(check_scales(c, 0));
    return check_scales(c, 2);
}
