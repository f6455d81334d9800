/* SPDX-License-Identifier: Apache-2.0 */
/* shape_reduce.c -- types of reductions, scans and sorts. */
#include "shape_check.h"

/* x without the axes, or with extent 1 there. */
static void shrink(const tc_type *x, tc_ints axes, bool keepdim, tc_dtype dtype, tc_type *out)
{
    *out = (tc_type){.dtype = dtype};
    for (int i = 0; i < x->rank; i++) {
        bool gone = false;
        for (int k = 0; k < axes.n; k++)
            gone = gone || axes.v[k] == i;
        if (!gone)
            out->dim[out->rank++] = x->dim[i];
        else if (keepdim)
            out->dim[out->rank++] = 1;
    }
}

static tc_status reduce(tc_infer *c, tc_ints axes, bool keepdim, tc_dtype dtype)
{
    TC_TRY(ti_need_axes(c, axes, c->in[0].type->rank));
    shrink(c->in[0].type, axes, keepdim, dtype, &c->out[0]);
    return TC_OK;
}

static tc_status need_real(tc_infer *c)
{
    if (ti_is_float(c->in[0].type->dtype))
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "'%s' of %s: only real numbers have one", c->op,
                    tc_dtypes[c->in[0].type->dtype].name);
}

static tc_status need_order(tc_infer *c)
{
    if (tc_dtypes[c->in[0].type->dtype].kind != TC_COMPLEX)
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "'%s' of complex numbers, which have no order",
                    c->op);
}

/* These axes are not empty. */
static tc_status need_some(tc_infer *c, tc_ints axes)
{
    const tc_type *x = c->in[0].type;
    TC_TRY(need_order(c));
    for (int i = 0; i < axes.n; i++)
        if (axes.v[i] < x->rank && x->dim[axes.v[i]] == 0)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "'%s' over axis %" PRId64 ", which has extent 0", c->op, axes.v[i]);
    return TC_OK;
}

/* Integers and bools add up in i64. */
tc_status ti_shape_sum(tc_infer *c)
{
    const tc_attr_axes *a = c->attr;
    tc_dtype t = c->in[0].type->dtype;
    if (tc_dtypes[t].kind == TC_COMPLEX)
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED, "'%s' of complex numbers", c->op);
    return reduce(c, a->axes, a->keepdim, ti_is_float(t) ? t : TC_i64);
}

tc_status ti_shape_mean(tc_infer *c)
{
    const tc_attr_axes *a = c->attr;
    TC_TRY(need_real(c));
    return reduce(c, a->axes, a->keepdim, c->in[0].type->dtype);
}

tc_status ti_shape_reduce(tc_infer *c)
{
    const tc_attr_axes *a = c->attr;
    TC_TRY(reduce(c, a->axes, a->keepdim, c->in[0].type->dtype));
    return need_some(c, a->axes);
}

/* all and any of bytes are bytes, as in PyTorch. */
tc_status ti_shape_reduce_bool(tc_infer *c)
{
    const tc_attr_axes *a = c->attr;
    return reduce(c, a->axes, a->keepdim, c->in[0].type->dtype == TC_u8 ? TC_u8 : TC_bool);
}

tc_status ti_shape_var(tc_infer *c)
{
    const tc_attr_var *a = c->attr;
    TC_TRY(need_real(c));
    return reduce(c, a->axes, a->keepdim, c->in[0].type->dtype);
}

tc_status ti_shape_norm(tc_infer *c)
{
    const tc_attr_norm *a = c->attr;
    TC_TRY(need_real(c));
    TC_TRY(reduce(c, a->axes, a->keepdim, c->in[0].type->dtype));
    return a->ord < 0 || a->ord > 1e300 ? need_some(c, a->axes) : TC_OK;
}

static tc_status along(tc_infer *c, const tc_attr_arg *a, tc_dtype dtype, tc_type *out)
{
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axis(c, a->axis, x->rank));
    tc_ints axes = {x->rank > 0, &a->axis};
    TC_TRY(need_some(c, axes));
    shrink(x, axes, a->keepdim, dtype, out);
    return TC_OK;
}

tc_status ti_shape_arg(tc_infer *c)
{
    return along(c, c->attr, TC_i64, &c->out[0]);
}

tc_status ti_shape_max_dim(tc_infer *c)
{
    TC_TRY(along(c, c->attr, c->in[0].type->dtype, &c->out[0]));
    return along(c, c->attr, TC_i64, &c->out[1]);
}

static void values_and_indices(tc_infer *c, const tc_type *type)
{
    c->out[0] = c->out[1] = *type;
    c->out[1].dtype = TC_i64;
    c->out[1].quant = NULL;
}

tc_status ti_shape_sort(tc_infer *c)
{
    const tc_attr_sort *a = c->attr;
    TC_TRY(ti_need_axis(c, a->axis, c->in[0].type->rank));
    TC_TRY(need_order(c));
    values_and_indices(c, c->in[0].type);
    return TC_OK;
}

tc_status ti_shape_topk(tc_infer *c)
{
    const tc_attr_topk *a = c->attr;
    tc_type y = *c->in[0].type;
    TC_TRY(need_order(c));
    TC_TRY(ti_need_axis(c, a->axis, y.rank));
    int64_t extent = y.rank ? y.dim[a->axis] : 1;
    if (a->k < 0 || a->k > extent)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'topk' of %" PRId64 " from an axis of extent %" PRId64, a->k, extent);
    if (!y.rank && a->k == 0)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'topk' of 0 from a tensor of rank 0");
    if (y.rank)
        y.dim[a->axis] = a->k;
    values_and_indices(c, &y);
    return TC_OK;
}

tc_status ti_shape_cumulative(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    c->out[0] = *c->in[0].type;
    tc_dtype t = c->out[0].dtype;
    if (tc_dtypes[t].kind == TC_COMPLEX)
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED, "'%s' of complex numbers", c->op);
    c->out[0].dtype = ti_is_float(t) ? t : TC_i64;
    return ti_need_axis(c, a->axis, c->out[0].rank);
}
