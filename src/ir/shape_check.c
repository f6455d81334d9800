/* SPDX-License-Identifier: Apache-2.0 */
/* shape_check.c -- see shape_check.h. */
#include "shape_check.h"

tc_status ti_need_operands(tc_infer *c, int n)
{
    for (int i = 0; i < n; i++)
        if (i >= c->n_in || !c->in[i].type)
            return ti_error(c->ctx, c->loc, TC_E_STRUCTURE, "operand %d of '%s' is left out", i,
                            c->op);
    return TC_OK;
}

tc_status ti_need_axis(tc_infer *c, int64_t axis, int rank)
{
    if (axis >= 0 && axis < (rank ? rank : 1))
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                    "'%s' along axis %" PRId64 " of a tensor of rank %d", c->op, axis, rank);
}

tc_status ti_need_axes(tc_infer *c, tc_ints axes, int rank)
{
    bool seen[TC_MAX_RANK] = {false};
    for (int i = 0; i < axes.n; i++) {
        if (axes.v[i] < 0 || axes.v[i] >= rank)
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                            "'%s' over axis %" PRId64 " of a tensor of rank %d", c->op, axes.v[i],
                            rank);
        if (seen[axes.v[i]])
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' names axis %" PRId64 " twice",
                            c->op, axes.v[i]);
        seen[axes.v[i]] = true;
    }
    return TC_OK;
}

tc_status ti_need_integers(tc_infer *c, int i)
{
    if (ti_is_int(c->in[i].type->dtype))
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "operand %d of '%s' is %s, expected integers", i,
                    c->op, tc_dtypes[c->in[i].type->dtype].name);
}

tc_status ti_need_same_dtype(tc_infer *c, int i, int j)
{
    tc_dtype a = c->in[i].type->dtype, b = c->in[j].type->dtype;
    if (a == b)
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "operands %d and %d of '%s' are %s and %s", i, j,
                    c->op, tc_dtypes[a].name, tc_dtypes[b].name);
}

tc_status ti_need_count(tc_infer *c, const char *what, tc_ints list, int n)
{
    if (list.n == n)
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' has %d %s, expected %d", c->op, list.n,
                    what, n);
}
