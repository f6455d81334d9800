/* SPDX-License-Identifier: Apache-2.0 */
/* shape_tosa_dims.c -- shape functions of TOSA 1.1's operators on shapes: how many values there
 * are.  The kernels compute the values (num/tosa_dims.c). */
#include "shape_tosa.h"

static tc_status result(tc_infer *c, int64_t n)
{
    ti_tosa_result(c, 0, TC_shape, 1, &n);
    return TC_OK;
}

/* Operand i is a shape of n values. */
static tc_status length(const tc_infer *c, int i, int64_t *n)
{
    const tc_type *t = ti_in(c, i);
    if (t->dtype != TC_shape || t->rank != 1)
        return TC_REFUSE(c, "operand %d is %s, expected a shape", i,
                         ti_type_text(&c->ctx->arena, t));
    *n = t->dim[0];
    return TC_OK;
}

tc_status ti_shape_tosa_dim(tc_infer *c)
{
    const tc_attr_tosa_axis *a = c->attr;
    int rank = ti_in(c, 0)->rank;
    if (a->axis < 0 || a->axis >= rank)
        return TC_REFUSE(c, "axis is %" PRId64 ", the input has rank %d", a->axis, rank);
    return result(c, 1);
}

tc_status ti_shape_tosa_concat_shape(tc_infer *c)
{
    int64_t n = 0, total = 0;
    for (int i = 0; i < c->n_in; i++) {
        TC_TRY(length(c, i, &n));
        if (n < 1)
            return TC_REFUSE(c, "operand %d has no values", i);
        total += n;
    }
    return result(c, total);
}

tc_status ti_shape_tosa_shape_unary(tc_infer *c)
{
    int64_t n = 0;
    TC_TRY(length(c, 0, &n));
    return result(c, n);
}

/* Both have the same length. */
static tc_status same_length(const tc_infer *c, int64_t *n)
{
    int64_t m = 0;
    TC_TRY(length(c, 0, n));
    TC_TRY(length(c, 1, &m));
    if (*n != m)
        return TC_REFUSE(c, "the shapes have %" PRId64 " and %" PRId64 " values", *n, m);
    return TC_OK;
}

tc_status ti_shape_tosa_shape_binary(tc_infer *c)
{
    int64_t n = 0;
    TC_TRY(same_length(c, &n));
    return result(c, n);
}

/* shape, start [1], size [1]: tensors of i32. */
tc_status ti_shape_tosa_slice_shape(tc_infer *c)
{
    int64_t n = 0;
    TC_TRY(length(c, 0, &n));
    for (int i = 1; i < 3; i++) {
        TC_TRY(ti_tosa_single(c, i, i == 1 ? "start" : "size"));
        if (ti_in(c, i)->dtype != TC_i32)
            return TC_REFUSE(c, "%s is of type %s, expected i32", i == 1 ? "start" : "size",
                             tc_dtypes[ti_in(c, i)->dtype].name);
    }
    const int32_t *start = c->in[1].data, *size = c->in[2].data;
    if (!size && c->out[0].dtype == TC_none)
        return TC_REFUSE(c, "%s is not a constant", "size");
    if (size && (*size < 1 || *size > n))
        return TC_REFUSE(c, "%d of %" PRId64 " values are wanted", *size, n);
    if (start && (*start < 0 || (size && *start > n - *size)))
        return TC_REFUSE(c, "values from %d on are wanted of %" PRId64, *start, n);
    return size ? result(c, *size) : TC_OK;
}

/* Known values are compared. */
tc_status ti_shape_tosa_assert_equal_shape(tc_infer *c)
{
    const tc_attr_tosa_assert_equal *a = c->attr;
    const int64_t *x = c->in[0].data, *y = c->in[1].data;
    int64_t n = 0;
    TC_TRY(same_length(c, &n));
    for (int64_t i = 0; x && y && i < n; i++)
        if (x[i] != y[i] && !(a->allow_broadcast && (x[i] == 1 || y[i] == 1)))
            return TC_REFUSE(c, "value %" PRId64 " is %" PRId64 " and %" PRId64, i, x[i], y[i]);
    return TC_OK;
}
