/* SPDX-License-Identifier: Apache-2.0 */
/* shape_tosa.c -- shape functions of TOSA: elementwise operators, reductions, movement,
 * conversions. */
#include "shape_tosa.h"

#include "../num/block_scaled.h"

void ti_tosa_result(tc_infer *c, int i, tc_dtype dtype, int rank, const int64_t *dim)
{
    tc_type type = {.dtype = dtype, .rank = rank, .quant = c->out[i].quant};
    for (int k = 0; k < rank; k++)
        type.dim[k] = dim[k];
    c->out[i] = type;
}

tc_status ti_tosa_rank(const tc_infer *c, int i, const char *name, int rank)
{
    if (ti_in(c, i)->rank == rank)
        return TC_OK;
    return TC_REFUSE(c, "%s has rank %d, expected %d", name, ti_in(c, i)->rank, rank);
}

tc_status ti_tosa_single(const tc_infer *c, int i, const char *name)
{
    const tc_type *t = ti_in(c, i);
    if (t->rank == 1 && t->dim[0] == 1)
        return TC_OK;
    return TC_REFUSE(c, "%s has the shape %s, expected [1]", name,
                     ti_dims_text(&c->ctx->arena, t->rank, t->dim));
}

/* An axis of operand 0. */
static tc_status check_axis(const tc_infer *c, int64_t axis)
{
    int rank = ti_in(c, 0)->rank;
    if (axis >= 0 && axis < rank)
        return TC_OK;
    return TC_REFUSE(c, "axis is %" PRId64 ", the input has rank %d", axis, rank);
}

tc_status ti_tosa_list(const tc_infer *c, const char *name, tc_ints list, int n, int64_t lo,
                       int64_t hi)
{
    if (list.n != n)
        return TC_REFUSE(c, "%s has %d values, expected %d", name, list.n, n);
    for (int i = 0; i < n; i++)
        if (list.v[i] < lo || list.v[i] > hi)
            return TC_REFUSE(c, "%s[%d] is %" PRId64 ", allowed are %" PRId64 " to %" PRId64, name,
                             i, list.v[i], lo, hi);
    return TC_OK;
}

tc_status ti_tosa_values(const tc_infer *c, int i, const char *name, int64_t n, const int64_t **out)
{
    const tc_type *t = ti_in(c, i);
    *out = c->in[i].data;
    if (t->dtype != TC_shape)
        return TC_REFUSE(c, "%s is of type %s, expected a shape", name, tc_dtypes[t->dtype].name);
    if (t->rank != 1 || (n >= 0 && t->dim[0] != n))
        return TC_REFUSE(c, "%s has %" PRId64 " values, expected %" PRId64, name, tc_type_count(t),
                         n);
    if (!*out && c->out[0].dtype == TC_none)
        return TC_REFUSE(c, "%s is not a constant", name);
    return TC_OK;
}

/* ---- elementwise ----------------------------------------------------------------------------- */

/* The shape of the operands first .. last: equal ranks, and each dimension equal or 1. */
static tc_status broadcast(const tc_infer *c, int first, int last, tc_type *out)
{
    *out = *ti_in(c, first);
    for (int i = first + 1; i <= last; i++) {
        const tc_type *t = ti_in(c, i);
        if (t->rank != out->rank)
            return TC_REFUSE(c, "operands have ranks %d and %d, expected equal ones", out->rank,
                             t->rank);
        for (int k = 0; k < t->rank; k++) {
            if (out->dim[k] != t->dim[k] && out->dim[k] != 1 && t->dim[k] != 1)
                return TC_REFUSE(
                    c, "dimension %d is %" PRId64 " and %" PRId64 ", expected equal ones or 1", k,
                    out->dim[k], t->dim[k]);
            out->dim[k] = out->dim[k] == 1 ? t->dim[k] : out->dim[k];
        }
    }
    return TC_OK;
}

static tc_status broadcast_as(tc_infer *c, int first, int last, tc_dtype dtype)
{
    tc_type shape;
    TC_TRY(broadcast(c, first, last, &shape));
    ti_tosa_result(c, 0, dtype, shape.rank, shape.dim);
    return TC_OK;
}

/* The type of x; NEGATE's zero points have one element. */
tc_status ti_shape_tosa_same(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    for (int i = 1; i < c->n_in; i++)
        TC_TRY(ti_tosa_single(c, i, i == 1 ? "input_zp" : "output_zp"));
    ti_tosa_result(c, 0, x->dtype, x->rank, x->dim);
    return TC_OK;
}

tc_status ti_shape_tosa_broadcast(tc_infer *c)
{
    return broadcast_as(c, 0, 1, ti_in(c, 0)->dtype);
}

tc_status ti_shape_tosa_compare(tc_infer *c)
{
    return broadcast_as(c, 0, 1, TC_bool);
}

tc_status ti_shape_tosa_select(tc_infer *c)
{
    return broadcast_as(c, 0, 2, ti_in(c, 1)->dtype);
}

tc_status ti_shape_tosa_mul(tc_infer *c)
{
    tc_dtype x = ti_in(c, 0)->dtype;
    TC_TRY(ti_tosa_single(c, 2, "shift"));
    return broadcast_as(c, 0, 1, x == TC_i8 || x == TC_i16 ? TC_i32 : x);
}

/* 256 entries for i8, 513 for i16, the results of which have 7 bits more. */
tc_status ti_shape_tosa_table(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0), *table = ti_in(c, 1);
    int64_t entries = x->dtype == TC_i16 ? 513 : 256;
    if (table->rank != 1 || table->dim[0] != entries)
        return TC_REFUSE(c, "the table has the shape %s, expected [%" PRId64 "]",
                         ti_dims_text(&c->ctx->arena, table->rank, table->dim), entries);
    ti_tosa_result(c, 0, x->dtype == TC_i16 ? TC_i32 : x->dtype, x->rank, x->dim);
    return TC_OK;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Every reduction's record begins with its axis. */
static int64_t axis_of(const tc_infer *c)
{
    return *(const int64_t *)c->attr;
}

/* A non-empty axis: TOSA has no result for an empty one. */
static tc_status check_reduced(tc_infer *c)
{
    TC_TRY(check_axis(c, axis_of(c)));
    return ti_in(c, 0)->dim[axis_of(c)] ? TC_OK
                                        : TC_REFUSE(c, "axis %" PRId64 " is empty", axis_of(c));
}

tc_status ti_shape_tosa_reduce(tc_infer *c)
{
    tc_type type = *ti_in(c, 0);
    TC_TRY(check_reduced(c));
    type.dim[axis_of(c)] = 1;
    ti_tosa_result(c, 0, type.dtype, type.rank, type.dim);
    return TC_OK;
}

tc_status ti_shape_tosa_argmax(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    int64_t dim[TC_MAX_RANK] = {0};
    TC_TRY(check_reduced(c));
    for (int i = 0, k = 0; i < x->rank; i++)
        if (i != axis_of(c))
            dim[k++] = x->dim[i];
    ti_tosa_result(c, 0, c->out[0].dtype == TC_i64 ? TC_i64 : TC_i32, x->rank - 1, dim);
    return TC_OK;
}

/* ---- movement -------------------------------------------------------------------------------- */

tc_status ti_shape_tosa_concat(tc_infer *c)
{
    tc_type type = *ti_in(c, 0);
    int64_t axis = axis_of(c);
    TC_TRY(check_axis(c, axis));
    for (int i = 1; i < c->n_in; i++) {
        const tc_type *t = ti_in(c, i);
        TC_TRY(ti_tosa_rank(c, i, "an input", type.rank));
        for (int k = 0; k < type.rank; k++)
            if (k != axis && t->dim[k] != type.dim[k])
                return TC_REFUSE(
                    c, "dimension %d of input %d is %" PRId64 ", of the first it is %" PRId64, k, i,
                    t->dim[k], type.dim[k]);
        type.dim[axis] += t->dim[axis];
    }
    ti_tosa_result(c, 0, type.dtype, type.rank, type.dim);
    return TC_OK;
}

tc_status ti_shape_tosa_pad(tc_infer *c)
{
    tc_type type = *ti_in(c, 0);
    const int64_t *pad;
    if (type.rank < 1)
        return TC_REFUSE(c, "the input has rank %d, expected 1 or more", type.rank);
    TC_TRY(ti_tosa_values(c, 1, "padding", 2 * type.rank, &pad));
    TC_TRY(ti_tosa_single(c, 2, "pad_const"));
    if (!pad)
        return TC_OK;
    TC_TRY(ti_tosa_list(c, "padding", (tc_ints){2 * type.rank, pad}, 2 * type.rank, 0, INT32_MAX));
    for (int i = 0; i < type.rank; i++)
        type.dim[i] += pad[2 * i] + pad[2 * i + 1];
    ti_tosa_result(c, 0, type.dtype, type.rank, type.dim);
    return TC_OK;
}

tc_status ti_shape_tosa_reshape(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    const int64_t *dim;
    TC_TRY(ti_tosa_values(c, 1, "shape", -1, &dim));
    int64_t rank = ti_in(c, 1)->dim[0];
    if (!dim)
        return TC_OK;
    if (rank > TC_MAX_RANK || ti_dims_count((int32_t)rank, dim) != tc_type_count(x))
        return TC_REFUSE(c, "%" PRId64 " elements do not fit the shape %s", tc_type_count(x),
                         rank > TC_MAX_RANK ? "of that many dimensions"
                                            : ti_dims_text(&c->ctx->arena, (int32_t)rank, dim));
    ti_tosa_result(c, 0, x->dtype, (int)rank, dim);
    return TC_OK;
}

tc_status ti_shape_tosa_reverse(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(check_axis(c, axis_of(c)));
    ti_tosa_result(c, 0, x->dtype, x->rank, x->dim);
    return TC_OK;
}

tc_status ti_shape_tosa_slice(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    const int64_t *start, *size;
    if (x->rank < 1)
        return TC_REFUSE(c, "the input has rank %d, expected 1 or more", x->rank);
    TC_TRY(ti_tosa_values(c, 1, "start", x->rank, &start));
    TC_TRY(ti_tosa_values(c, 2, "size", x->rank, &size));
    if (!start || !size)
        return TC_OK;
    if (ti_is_block(x->dtype) && start[x->rank - 1] % TC_BLOCK)
        return TC_REFUSE(c, "start is %" PRId64 " along the last axis, inside a block of %d",
                         start[x->rank - 1], TC_BLOCK);
    for (int i = 0; i < x->rank; i++)
        if (start[i] < 0 || size[i] < 1 || start[i] > x->dim[i] || size[i] > x->dim[i] - start[i])
            return TC_REFUSE(c,
                             "axis %d has %" PRId64 " elements, %" PRId64 " of them from %" PRId64
                             " on are wanted",
                             i, x->dim[i], size[i], start[i]);
    ti_tosa_result(c, 0, x->dtype, x->rank, size);
    return TC_OK;
}

tc_status ti_shape_tosa_tile(tc_infer *c)
{
    tc_type type = *ti_in(c, 0);
    const int64_t *multiples;
    if (type.rank < 1)
        return TC_REFUSE(c, "the input has rank %d, expected 1 or more", type.rank);
    TC_TRY(ti_tosa_values(c, 1, "multiples", type.rank, &multiples));
    if (!multiples)
        return TC_OK;
    TC_TRY(ti_tosa_list(c, "multiples", (tc_ints){type.rank, multiples}, type.rank, 1, INT32_MAX));
    for (int i = 0; i < type.rank; i++)
        type.dim[i] *= multiples[i];
    ti_tosa_result(c, 0, type.dtype, type.rank, type.dim);
    return TC_OK;
}

tc_status ti_shape_tosa_transpose(tc_infer *c)
{
    const tc_attr_tosa_perms *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    int64_t dim[TC_MAX_RANK] = {0};
    uint32_t seen = 0;
    if (x->rank < 1)
        return TC_REFUSE(c, "the input has rank %d, expected 1 or more", x->rank);
    TC_TRY(ti_tosa_list(c, "perms", a->perms, x->rank, 0, x->rank - 1));
    for (int i = 0; i < x->rank; i++) {
        if (seen & 1u << a->perms.v[i])
            return TC_REFUSE(c, "perms names axis %" PRId64 " twice", a->perms.v[i]);
        seen |= 1u << a->perms.v[i];
        dim[i] = x->dim[a->perms.v[i]];
    }
    if (ti_is_block(x->dtype) && a->perms.v[x->rank - 1] != x->rank - 1)
        return TC_REFUSE(c, "the last axis of %s does not stay the last",
                         tc_dtypes[x->dtype].name);
    ti_tosa_result(c, 0, x->dtype, x->rank, dim);
    return TC_OK;
}

/* values [n, k, c] and indices [n, w] of a batch. */
static tc_status check_indices(const tc_infer *c)
{
    TC_TRY(ti_tosa_rank(c, 0, "values", 3));
    TC_TRY(ti_tosa_rank(c, 1, "indices", 2));
    if (ti_in(c, 0)->dim[0] != ti_in(c, 1)->dim[0])
        return TC_REFUSE(c, "values have a batch of %" PRId64 ", indices of %" PRId64,
                         ti_in(c, 0)->dim[0], ti_in(c, 1)->dim[0]);
    return TC_OK;
}

tc_status ti_shape_tosa_gather(tc_infer *c)
{
    const tc_type *values = ti_in(c, 0), *indices = ti_in(c, 1);
    TC_TRY(check_indices(c));
    ti_tosa_result(c, 0, values->dtype, 3,
                   (int64_t[]){values->dim[0], indices->dim[1], values->dim[2]});
    return TC_OK;
}

/* values [n, k, c], indices [n, w], input [n, w, c], w <= k. */
tc_status ti_shape_tosa_scatter(tc_infer *c)
{
    const tc_type *values = ti_in(c, 0), *indices = ti_in(c, 1), *input = ti_in(c, 2);
    TC_TRY(check_indices(c));
    TC_TRY(ti_tosa_rank(c, 2, "input", 3));
    int64_t want[3] = {values->dim[0], indices->dim[1], values->dim[2]};
    if (memcmp(input->dim, want, sizeof want) != 0)
        return TC_REFUSE(c, "input has the shape %s, expected %s",
                         ti_dims_text(&c->ctx->arena, 3, input->dim),
                         ti_dims_text(&c->ctx->arena, 3, want));
    if (values->dim[1] < indices->dim[1])
        return TC_REFUSE(c, "%" PRId64 " rows do not fit into %" PRId64 " places", indices->dim[1],
                         values->dim[1]);
    ti_tosa_result(c, 0, values->dtype, 3, values->dim);
    return TC_OK;
}

/* ---- conversions, and types known by declaration only
 * ----------------------------------------- */

tc_status ti_shape_tosa_convert(tc_infer *c)
{
    const tc_type *x = ti_in(c, 0);
    if (c->out[0].dtype == TC_none)
        return TC_REFUSE(c, "the result's element type must be declared, from %s",
                         tc_dtypes[x->dtype].name);
    ti_tosa_result(c, 0, c->out[0].dtype, x->rank, x->dim);
    return TC_OK;
}

/* One multiplier and shift, or one for each channel. */
tc_status ti_shape_tosa_rescale(tc_infer *c)
{
    const tc_attr_tosa_rescale *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    static const char *const name[] = {"input", "multiplier", "shift", "input_zp", "output_zp"};
    if (a->per_channel && x->rank < 1)
        return TC_REFUSE(c, "per_channel needs an input of rank 1 or more, not %d", x->rank);
    int64_t n = a->per_channel ? x->dim[x->rank - 1] : 1;
    for (int i = 1; i < 3; i++)
        if (ti_in(c, i)->rank != 1 || ti_in(c, i)->dim[0] != n)
            return TC_REFUSE(c, "%s has the shape %s, expected [%" PRId64 "]", name[i],
                             ti_dims_text(&c->ctx->arena, ti_in(c, i)->rank, ti_in(c, i)->dim), n);
    for (int i = 3; i < 5; i++)
        TC_TRY(ti_tosa_single(c, i, name[i]));
    return ti_shape_tosa_convert(c);
}

tc_status ti_shape_tosa_declared(tc_infer *c)
{
    for (int i = 0; i < c->n_out; i++)
        if (c->out[i].dtype == TC_none)
            return TC_REFUSE(c, "the type of result %d must be declared", i);
    return TC_OK;
}

tc_status ti_shape_tosa_nothing(tc_infer *c)
{
    (void)c;
    assert(c->n_out == 0);
    return TC_OK;
}
