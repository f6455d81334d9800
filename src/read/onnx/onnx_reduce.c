/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reduce.c -- builders of reductions, arg-reductions and running sums. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* The axes of a reduction: an attribute first, an input later.  none: nothing is to be done. */
static tc_ints axes_of(tc_onnx_node *n, const tc_type *x, bool *none)
{
    tc_ints axes = ti_onnx_list(n, "axes", 1);
    *none = axes.n == 0 && ti_onnx_int(n, "noop_with_empty_axes", 0);
    return ti_b_axes(&n->m, axes, x->rank);
}

/* What a reduction of nothing gives. */
static double of_nothing(tc_op op, tc_dtype t)
{
    bool real = ti_is_float(t);
    return op == TC_OP_amax ? (real            ? -INFINITY
                               : t == TC_bool  ? 0
                                               : (double)ti_dtype_min(t))
           : op == TC_OP_amin ? (real ? INFINITY : t == TC_bool ? 1 : (double)ti_dtype_max(t))
           : op == TC_OP_prod ? 1
                              : 0;
}

static tc_val reduce(tc_build *m, tc_op op, tc_val x, tc_ints axes, bool keep)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    bool extreme = op == TC_OP_amax || op == TC_OP_amin;
    if (tc_type_count(t) == 0 && op != TC_OP_mean) {
        int64_t dim[TC_MAX_RANK];
        int rank = 0;
        for (int i = 0; i < t->rank; i++) {
            bool gone = false;
            for (int k = 0; k < axes.n; k++)
                gone = gone || axes.v[k] == i;
            if (!gone || keep)
                dim[rank++] = gone ? 1 : t->dim[i];
        }
        return ti_b_full(m, rank, dim, of_nothing(op, t->dtype), t->dtype);
    }
    if (extreme && t->dtype == TC_bool)
        op = op == TC_OP_amax ? TC_OP_any : TC_OP_all;
    if (!t->rank)
        return x;
    if (op == TC_OP_mean && !ti_is_float(t->dtype)) {
        tc_val real = ti_b_cast(m, x, TC_f64);
        real = ti_b_reduce(m, op, real, axes.v, axes.n, keep);
        return ti_b_cast(m, real, t->dtype);
    }
    return ti_b_reduce(m, op, x, axes.v, axes.n, keep);
}

/* extra: what is done around the row's operator. */
enum { PLAIN, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE };

static tc_val log_sum_exp(tc_build *m, tc_val x, tc_ints axes, bool keep)
{
    if (m->status != TC_OK || tc_type_count(ti_b_type(m, x)) == 0 || !axes.n) {
        tc_val e = ti_b_exp(m, x);
        return ti_b_log(m, reduce(m, TC_OP_sum, e, axes, keep));
    }
    return ti_b_1(m, logsumexp, ti_b_attr(m, axes, axes, keep), x);
}

void ti_onnx_build_reduce(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), y;
    bool keep = ti_onnx_int(n, "keepdims", 1), none;
    TC_STOP(m);
    tc_dtype dtype = ti_b_dtype(m, x);
    tc_ints axes = axes_of(n, ti_b_type(m, x), &none);
    if (none)
        axes.n = 0;
    int kind = (int)n->row->extra;
    if (kind == L1)
        x = ti_b_abs(m, x);
    if (kind == L2 || kind == SUM_SQUARE)
        x = ti_b_mul(m, x, x);
    if (kind == LOG_SUM_EXP && !none)
        y = log_sum_exp(m, x, axes, keep);
    else
        y = none ? x : reduce(m, n->row->op, x, axes, keep);
    if (kind == L2)
        y = ti_b_sqrt(m, y);
    if (kind == LOG_SUM)
        y = ti_b_log(m, y);
    y = ti_b_cast(m, y, dtype);
    ti_onnx_bind(n, 0, none && kind == PLAIN ? ti_b_identity(m, y) : y);
}

/* Of equals the first, or with select_last_index the last: counted from the other end. */
static tc_val arg_of(tc_onnx_node *n, tc_op op, tc_val x, int axis, bool keep, bool last)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    int64_t extent = ti_b_type(m, x)->dim[axis];
    if (last)
        x = ti_b_flip(m, x, axis);
    tc_val at = ti_b_op(m, op, ti_b_attr(m, arg, axis, keep), &x, 1);
    if (!last)
        return at;
    tc_val end = ti_b_scalar_i64(m, TC_i64, extent - 1);
    return ti_b_sub(m, end, at);
}

void ti_onnx_build_arg(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    TC_STOP(&n->m);
    int axis = ti_b_axis(&n->m, ti_onnx_int(n, "axis", 0), ti_b_type(&n->m, x)->rank);
    bool keep = ti_onnx_int(n, "keepdims", 1), last = ti_onnx_int(n, "select_last_index", 0);
    ti_onnx_bind(n, 0, arg_of(n, n->row->op, x, axis, keep, last));
}

/* Before operator set 13 everything from the axis on is one row. */
static tc_val as_rows(tc_onnx_node *n, tc_val x, int64_t missing_axis, int *axis)
{
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t first = 1, second = 1;
    *axis = ti_b_axis(&n->m, ti_onnx_int(n, "axis", missing_axis), t->rank);
    if (n->version >= 13 || n->m.status != TC_OK)
        return x;
    if (*axis == t->rank - 1)
        return x;
    for (int i = 0; i < t->rank; i++)
        *(i < *axis ? &first : &second) *= t->dim[i];
    *axis = 1;
    return ti_b_reshape(&n->m, x, 2, (int64_t[]){first, second});
}

/* The row's operator along an axis: Softmax, LogSoftmax, Hardmax. */
void ti_onnx_build_softmax(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), y;
    int axis;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    x = as_rows(n, x, n->version >= 13 ? -1 : 1, &axis);
    if (n->row->op == TC_OP_argmax && m->status == TC_OK) {
        int64_t extent = ti_b_type(m, x)->dim[axis], dim[TC_MAX_RANK];
        int rank = ti_b_type(m, x)->rank;
        for (int i = 0; i < rank; i++)
            dim[i] = i == axis ? extent : 1;
        tc_val at = arg_of(n, TC_OP_argmax, x, axis, true, false);
        tc_val every = ti_b_arange(m, extent, TC_i64);
        every = ti_b_reshape(m, every, rank, dim);
        y = ti_b_cast(m, ti_b_eq(m, at, every), t->dtype);
    } else
        y = ti_b_op(m, n->row->op, ti_b_attr(m, axis, axis), &x, 1);
    ti_onnx_bind(n, 0, ti_b_reshape(m, y, t->rank, t->dim));
}

/* The row's running sum or product; exclusive: up to the one before; reverse: from the end. */
void ti_onnx_build_cumulative(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    int64_t where = ti_onnx_settled_int(n, 1, 0);
    bool exclusive = ti_onnx_int(n, "exclusive", 0), reverse = ti_onnx_int(n, "reverse", 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int axis = ti_b_axis(m, where, t->rank);
    if (reverse)
        x = ti_b_flip(m, x, axis);
    if (exclusive && m->status == TC_OK && t->rank) {
        int64_t pad[2 * TC_MAX_RANK] = {0};
        pad[2 * axis] = 1;
        pad[2 * axis + 1] = -1;
        x = ti_b_pad(m, x, pad, n->row->op == TC_OP_cumprod ? 1 : 0);
    }
    tc_val y = ti_b_op(m, n->row->op, ti_b_attr(m, axis, axis), &x, 1);
    y = ti_b_cast(m, y, t->dtype);
    ti_onnx_bind(n, 0, reverse ? ti_b_flip(m, y, axis) : y);
}

/* x / (sum |x|^p)^(1/p) along an axis; 0 where that is 0. */
void ti_onnx_build_lp_normalization(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), size;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int64_t axis = ti_b_axis(m, ti_onnx_int(n, "axis", -1), t->rank);
    if (ti_onnx_int(n, "p", 2) == 1) {
        size = ti_b_abs(m, x);
        size = ti_b_reduce(m, TC_OP_sum, size, &axis, 1, true);
    } else {
        size = ti_b_mul(m, x, x);
        size = ti_b_reduce(m, TC_OP_sum, size, &axis, 1, true);
        size = ti_b_sqrt(m, size);
    }
    tc_val zero = ti_b_scalar(m, t->dtype, 0), one = ti_b_scalar(m, t->dtype, 1);
    tc_val empty = ti_b_eq(m, size, zero);
    size = ti_b_where(m, empty, one, size);
    ti_onnx_bind(n, 0, ti_b_div(m, x, size));
}
