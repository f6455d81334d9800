/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reduce.c -- builders of reductions, of what finds places, and of running sums. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* The axes of a reduction: an attribute first, an input later.  none: nothing is to be done. */
static tc_ints axes_of(tc_onnx_node *n, const tc_type *x, bool *none)
{
    tc_ints axes = tc_onnx_list(n, "axes", 1);
    *none = axes.n == 0 && tc_onnx_int(n, "noop_with_empty_axes", 0);
    return tc_b_axes(&n->m, axes, x->rank);
}

/* What a reduction of nothing gives. */
static double of_nothing(tc_op op, tc_dtype t)
{
    bool real = tc_is_float(t);
    return op == TC_OP_amax ? (real            ? -INFINITY
                               : t == TC_bool  ? 0
                                               : (double)tc_dtype_min(t))
           : op == TC_OP_amin ? (real ? INFINITY : t == TC_bool ? 1 : (double)tc_dtype_max(t))
           : op == TC_OP_prod ? 1
                              : 0;
}

static tc_val reduce(tc_build *m, tc_op op, tc_val x, tc_ints axes, bool keep)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = tc_b_type(m, x);
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
        return tc_b_full(m, rank, dim, of_nothing(op, t->dtype), t->dtype);
    }
    if (extreme && t->dtype == TC_bool)
        op = op == TC_OP_amax ? TC_OP_any : TC_OP_all;
    if (!t->rank)
        return x;
    if (op == TC_OP_mean && !tc_is_float(t->dtype)) {
        tc_val real = tc_b_cast(m, x, TC_f64);
        real = tc_b_reduce(m, op, real, axes.v, axes.n, keep);
        return tc_b_cast(m, real, t->dtype);
    }
    return tc_b_reduce(m, op, x, axes.v, axes.n, keep);
}

/* extra: what is done around the row's operator. */
enum { PLAIN, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE };

static tc_val log_sum_exp(tc_build *m, tc_val x, tc_ints axes, bool keep)
{
    if (m->status != TC_OK || tc_type_count(tc_b_type(m, x)) == 0 || !axes.n) {
        tc_val e = tc_b_exp(m, x);
        return tc_b_log(m, reduce(m, TC_OP_sum, e, axes, keep));
    }
    return tc_b_1(m, logsumexp, tc_b_attr(m, axes, axes, keep), x);
}

void tc_onnx_build_reduce(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_onnx_need(n, 0), y;
    bool keep = tc_onnx_int(n, "keepdims", 1), none;
    TC_STOP(m);
    tc_dtype dtype = tc_b_dtype(m, x);
    tc_ints axes = axes_of(n, tc_b_type(m, x), &none);
    if (none)
        axes.n = 0;
    int kind = (int)n->row->extra;
    if (kind == L1)
        x = tc_b_abs(m, x);
    if (kind == L2 || kind == SUM_SQUARE)
        x = tc_b_mul(m, x, x);
    if (kind == LOG_SUM_EXP && !none)
        y = log_sum_exp(m, x, axes, keep);
    else
        y = none ? x : reduce(m, n->row->op, x, axes, keep);
    if (kind == L2)
        y = tc_b_sqrt(m, y);
    if (kind == LOG_SUM)
        y = tc_b_log(m, y);
    y = tc_b_cast(m, y, dtype);
    tc_onnx_bind(n, 0, none && kind == PLAIN ? tc_b_identity(m, y) : y);
}

/* Of equals the first, or with select_last_index the last: counted from the other end. */
static tc_val arg_of(tc_onnx_node *n, tc_op op, tc_val x, int axis, bool keep, bool last)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    int64_t extent = tc_b_type(m, x)->dim[axis];
    if (last)
        x = tc_b_flip(m, x, axis);
    tc_val at = tc_b_op(m, op, tc_b_attr(m, arg, axis, keep), &x, 1);
    if (!last)
        return at;
    tc_val end = tc_b_scalar_i64(m, TC_i64, extent - 1);
    return tc_b_sub(m, end, at);
}

void tc_onnx_build_arg(tc_onnx_node *n)
{
    tc_val x = tc_onnx_need(n, 0);
    TC_STOP(&n->m);
    int axis = tc_b_axis(&n->m, tc_onnx_int(n, "axis", 0), tc_b_type(&n->m, x)->rank);
    bool keep = tc_onnx_int(n, "keepdims", 1), last = tc_onnx_int(n, "select_last_index", 0);
    tc_onnx_bind(n, 0, arg_of(n, n->row->op, x, axis, keep, last));
}

/* Before operator set 13 everything from the axis on is one row. */
static tc_val as_rows(tc_onnx_node *n, tc_val x, int64_t missing_axis, int *axis)
{
    const tc_type *t = tc_b_type(&n->m, x);
    int64_t first = 1, second = 1;
    *axis = tc_b_axis(&n->m, tc_onnx_int(n, "axis", missing_axis), t->rank);
    if (n->version >= 13 || n->m.status != TC_OK)
        return x;
    if (*axis == t->rank - 1)
        return x;
    for (int i = 0; i < t->rank; i++)
        *(i < *axis ? &first : &second) *= t->dim[i];
    *axis = 1;
    return tc_b_reshape(&n->m, x, 2, (int64_t[]){first, second});
}

/* The row's operator along an axis: Softmax, LogSoftmax, Hardmax. */
void tc_onnx_build_softmax(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_onnx_need(n, 0), y;
    int axis;
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x);
    x = as_rows(n, x, n->version >= 13 ? -1 : 1, &axis);
    if (n->row->op == TC_OP_argmax && m->status == TC_OK) {
        int64_t extent = tc_b_type(m, x)->dim[axis], dim[TC_MAX_RANK];
        int rank = tc_b_type(m, x)->rank;
        for (int i = 0; i < rank; i++)
            dim[i] = i == axis ? extent : 1;
        tc_val at = arg_of(n, TC_OP_argmax, x, axis, true, false);
        tc_val every = tc_b_arange(m, extent, TC_i64);
        every = tc_b_reshape(m, every, rank, dim);
        y = tc_b_cast(m, tc_b_eq(m, at, every), t->dtype);
    } else
        y = tc_b_op(m, n->row->op, tc_b_attr(m, axis, axis), &x, 1);
    tc_onnx_bind(n, 0, tc_b_reshape(m, y, t->rank, t->dim));
}

/* The row's running sum or product; exclusive: up to the one before; reverse: from the end. */
void tc_onnx_build_cumulative(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_onnx_need(n, 0);
    int64_t where = tc_onnx_settled_int(n, 1, 0);
    bool exclusive = tc_onnx_int(n, "exclusive", 0), reverse = tc_onnx_int(n, "reverse", 0);
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x);
    int axis = tc_b_axis(m, where, t->rank);
    if (reverse)
        x = tc_b_flip(m, x, axis);
    if (exclusive && m->status == TC_OK && t->rank) {
        int64_t pad[2 * TC_MAX_RANK] = {0};
        pad[2 * axis] = 1;
        pad[2 * axis + 1] = -1;
        x = tc_b_pad(m, x, pad, n->row->op == TC_OP_cumprod ? 1 : 0);
    }
    tc_val y = tc_b_op(m, n->row->op, tc_b_attr(m, axis, axis), &x, 1);
    y = tc_b_cast(m, y, t->dtype);
    tc_onnx_bind(n, 0, reverse ? tc_b_flip(m, y, axis) : y);
}

/* x / (sum |x|^p)^(1/p) along an axis; 0 where that is 0. */
void tc_onnx_build_lp_normalization(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_onnx_need(n, 0), size;
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x);
    int64_t axis = tc_b_axis(m, tc_onnx_int(n, "axis", -1), t->rank);
    if (tc_onnx_int(n, "p", 2) == 1) {
        size = tc_b_abs(m, x);
        size = tc_b_reduce(m, TC_OP_sum, size, &axis, 1, true);
    } else {
        size = tc_b_mul(m, x, x);
        size = tc_b_reduce(m, TC_OP_sum, size, &axis, 1, true);
        size = tc_b_sqrt(m, size);
    }
    tc_val zero = tc_b_scalar(m, t->dtype, 0), one = tc_b_scalar(m, t->dtype, 1);
    tc_val empty = tc_b_eq(m, size, zero);
    size = tc_b_where(m, empty, one, size);
    tc_onnx_bind(n, 0, tc_b_div(m, x, size));
}
