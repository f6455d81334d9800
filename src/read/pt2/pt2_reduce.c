/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_reduce.c -- importers of reductions, scans and sorts.
 *
 * PyTorch casts to the `dtype` argument before it adds up; a missing or empty list of axes means
 * all. */
#include <math.h>

#include "pt2_make.h"

/* self, in the element type that the sum is made in. */
static tc_val summand(tc_pt2_node *n)
{
    tc_val x = tc_pt2_tensor(n, "self");
    return tc_pt2_has(n, "dtype") ? tc_pt2_cast(n, x, tc_pt2_dtype(n, "dtype", TC_none)) : x;
}

/* self as real numbers: integers become f32, as PyTorch's default type has it. */
static tc_val real_self(tc_pt2_node *n)
{
    tc_val x = summand(n);
    return n->status == TC_OK && !tc_is_float(tc_pt2_type(n, x)->dtype) ? tc_pt2_cast(n, x, TC_f32)
                                                                        : x;
}

/* The argument "dim", or all axes. */
static tc_ints dim_list(tc_pt2_node *n, tc_val x)
{
    tc_ints dims = tc_pt2_ints(n, "dim");
    return n->status == TC_OK ? tc_pt2_axes(n, dims, tc_pt2_type(n, x)->rank) : dims;
}

static tc_val over(tc_pt2_node *n, tc_op op, tc_val x, tc_ints axes, bool keepdim)
{
    return tc_pt2_emit1(n, op, tc_pt2_attr(n, axes, axes, keepdim), x);
}

/* sum, mean, prod, amax, amin, all, any, logsumexp.  Integer sums asked for in another type are
 * cast back; complex numbers add up part by part. */
static void import_reduce(tc_pt2_node *n, const tc_pt2_row *row)
{
    bool real = row->op == TC_OP_logsumexp, keepdim = tc_pt2_bool(n, "keepdim", false);
    tc_val x = real ? real_self(n) : summand(n), y;
    tc_ints axes = dim_list(n, x);
    if (n->status != TC_OK)
        return;
    if (tc_pt2_type(n, x)->dtype == TC_c64 && (row->op == TC_OP_sum || row->op == TC_OP_mean)) {
        tc_val re = over(n, row->op, tc_pt2_emit1(n, TC_OP_real, NULL, x), axes, keepdim);
        tc_val im = over(n, row->op, tc_pt2_emit1(n, TC_OP_imag, NULL, x), axes, keepdim);
        y = tc_pt2_emit2(n, TC_OP_complex, NULL, re, im);
    } else
        y = over(n, row->op, x, axes, keepdim);
    if (tc_pt2_has(n, "dtype"))
        y = tc_pt2_cast(n, y, tc_pt2_dtype(n, "dtype", TC_none));
    tc_pt2_result(n, x, y, 0);
}

static void import_aminmax(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_ints axes = dim_list(n, x);
    bool keepdim = tc_pt2_bool(n, "keepdim", false);
    tc_val least = over(n, TC_OP_amin, x, axes, keepdim),
           most = over(n, TC_OP_amax, x, axes, keepdim);
    (void)row;
    if (n->status != TC_OK)
        return;
    tc_pt2_bind(n, 0, least);
    tc_pt2_bind(n, 1, most);
}

/* x != 0, counted. */
static void import_count_nonzero(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    (void)row;
    if (n->status != TC_OK)
        return;
    tc_ints axes = dim_list(n, x);
    tc_val zero = tc_pt2_const(n, tc_pt2_type(n, x)->dtype, 0);
    tc_pt2_result(n, x, over(n, TC_OP_sum, tc_pt2_emit2(n, TC_OP_ne, NULL, x, zero), axes, false),
                  0);
}

/* Sums and means of what is not NaN. */
static void import_nan_reduce(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = summand(n);
    bool keepdim = tc_pt2_bool(n, "keepdim", false);
    if (n->status != TC_OK)
        return;
    tc_ints axes = dim_list(n, x);
    tc_dtype t = tc_pt2_type(n, x)->dtype;
    tc_val odd = tc_pt2_emit1(n, TC_OP_isnan, NULL, x);
    tc_val sum =
        over(n, TC_OP_sum, tc_pt2_emit3(n, TC_OP_where, NULL, odd, tc_pt2_const(n, t, 0), x), axes,
             keepdim);
    if (row->op == TC_OP_mean) {
        tc_val count =
            over(n, TC_OP_sum, tc_pt2_emit1(n, TC_OP_logical_not, NULL, odd), axes, keepdim);
        sum = tc_pt2_emit2(n, TC_OP_div, tc_pt2_attr(n, div, TC_div_mode_exact), sum,
                           tc_pt2_cast(n, count, t));
    }
    tc_pt2_result(n, x, sum, 0);
}

/* Variances: `extra` 1 when the mean is a second result. */

static double correction_of(tc_pt2_node *n)
{
    if (tc_pt2_has(n, "unbiased"))
        return tc_pt2_bool(n, "unbiased", true);
    return tc_pt2_float(n, "correction", 1);
}

static void import_var(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_ints axes = dim_list(n, x);
    bool keepdim = tc_pt2_bool(n, "keepdim", false);
    tc_val y = tc_pt2_emit1(n, row->op, tc_pt2_attr(n, var, axes, keepdim, correction_of(n)), x);
    tc_pt2_result(n, x, y, 0);
    if (row->extra == 0)
        return;
    tc_val mean = over(n, TC_OP_mean, x, axes, keepdim);
    if (n->status == TC_OK)
        tc_pt2_bind(n, 1, mean);
}

/* Norms of vectors; "ord" or "p" is a number, or one of the infinities. */
static void import_norm(tc_pt2_node *n, const tc_pt2_row *row)
{
    const char *name = tc_pt2_has(n, "p") ? "p" : "ord";
    tc_val x = summand(n);
    tc_ints axes = dim_list(n, x);
    double ord = tc_pt2_float(n, name, 2);
    (void)row;
    const void *attr = tc_pt2_attr(n, norm, axes, tc_pt2_bool(n, "keepdim", false), ord);
    tc_pt2_result(n, x, tc_pt2_emit1(n, TC_OP_norm, attr, x), 0);
}

/* Of a matrix this is the square root of all squares; other norms of matrices are something else.
 */
static void import_linalg_norm(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int axes = tc_pt2_ints(n, "dim").n;
    if (n->status != TC_OK)
        return;
    bool vector = axes == 1 || (!axes && tc_pt2_type(n, x)->rank == 1);
    if (tc_pt2_has(n, "ord") && !vector)
        tc_pt2_unsupported(n, "a norm of matrices other than the default");
    import_norm(n, row);
}

/* Places of extremes. */

/* Along one axis, or over all elements as one line. */
static void import_arg(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    bool keepdim = tc_pt2_bool(n, "keepdim", false), whole = !tc_pt2_has(n, "dim");
    int64_t dim = tc_pt2_int(n, "dim", 0);
    if (n->status != TC_OK)
        return;
    int64_t axis = whole ? 0 : tc_pt2_axis(n, dim, tc_pt2_type(n, x)->rank);
    tc_val from = whole ? tc_pt2_flat(n, x) : x;
    tc_val y = tc_pt2_emit1(n, row->op, tc_pt2_attr(n, arg, axis, keepdim && !whole), from);
    if (whole && keepdim)
        y = tc_pt2_reshape(n, y, tc_pt2_dims(n, tc_pt2_result_type(n, 0)));
    tc_pt2_result(n, x, y, 0);
}

static void bind_pair(tc_pt2_node *n, const tc_node *node)
{
    for (int i = 0; node && i < 2; i++)
        tc_pt2_bind(n, i, node->out[i]);
}

static void import_max_dim(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t dim = tc_pt2_need_int(n, "dim");
    bool keepdim = tc_pt2_bool(n, "keepdim", false);
    if (n->status != TC_OK)
        return;
    const void *attr = tc_pt2_attr(n, arg, tc_pt2_axis(n, dim, tc_pt2_type(n, x)->rank), keepdim);
    bind_pair(n, tc_pt2_emit_many(n, row->op, attr, &x, 1, 2));
}

static void import_topk(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t k = tc_pt2_need_int(n, "k"), dim = tc_pt2_int(n, "dim", -1);
    bool largest = tc_pt2_bool(n, "largest", true);
    (void)row;
    if (n->status != TC_OK)
        return;
    const void *attr =
        tc_pt2_attr(n, topk, k, tc_pt2_axis(n, dim, tc_pt2_type(n, x)->rank), largest);
    bind_pair(n, tc_pt2_emit_many(n, TC_OP_topk, attr, &x, 1, 2));
}

static tc_node *sorted(tc_pt2_node *n, tc_val x, int64_t dim, bool descending)
{
    if (n->status != TC_OK)
        return NULL;
    const void *attr =
        tc_pt2_attr(n, sort, tc_pt2_axis(n, dim, tc_pt2_type(n, x)->rank), descending);
    return tc_pt2_emit_many(n, TC_OP_sort, attr, &x, 1, 2);
}

static tc_node *sorted_self(tc_pt2_node *n)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t dim = tc_pt2_int(n, "dim", -1);
    return sorted(n, x, dim, tc_pt2_bool(n, "descending", false));
}

static void import_sort(tc_pt2_node *n, const tc_pt2_row *row)
{
    (void)row;
    bind_pair(n, sorted_self(n));
}

static void import_argsort(tc_pt2_node *n, const tc_pt2_row *row)
{
    const tc_node *node = sorted_self(n);
    (void)row;
    if (node)
        tc_pt2_bind(n, 0, node->out[1]);
}

static void import_msort(tc_pt2_node *n, const tc_pt2_row *row)
{
    const tc_node *node = sorted(n, tc_pt2_tensor(n, "self"), 0, false);
    (void)row;
    if (node)
        tc_pt2_bind(n, 0, node->out[0]);
}

/* One element of the sorted row: the k-th, or the one in the middle, the lower of two. */
static void import_ranked(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    bool kth = row->extra != 0, whole = !kth && !tc_pt2_has(n, "dim"),
         keepdim = tc_pt2_bool(n, "keepdim", false);
    int64_t dim = tc_pt2_int(n, "dim", kth ? -1 : 0), k = kth ? tc_pt2_need_int(n, "k") : 0;
    x = whole ? tc_pt2_flat(n, x) : x;
    const tc_node *node = sorted(n, x, dim, false);
    if (!node)
        return;
    const tc_type *t = tc_pt2_type(n, x);
    int64_t axis = tc_pt2_axis(n, dim, t->rank), middle = t->rank ? (t->dim[axis] - 1) / 2 : 0;
    middle = kth ? k - 1 : middle;
    for (int i = 0; i < (whole ? 1 : 2); i++) {
        tc_val y = node->out[i];
        if (t->rank && keepdim)
            y = tc_pt2_slice(n, y, axis, middle, middle + 1, 1);
        else if (t->rank)
            y = tc_pt2_emit1(n, TC_OP_select, tc_pt2_attr(n, select, axis, middle), y);
        if (n->status == TC_OK)
            tc_pt2_bind(n, i, y);
    }
}

static void import_scan(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = summand(n);
    int64_t dim = tc_pt2_need_int(n, "dim");
    if (n->status != TC_OK)
        return;
    tc_val y = tc_pt2_emit1(n, row->op,
                            tc_pt2_attr(n, axis, tc_pt2_axis(n, dim, tc_pt2_type(n, x)->rank)), x);
    if (tc_pt2_has(n, "dtype"))
        y = tc_pt2_cast(n, y, tc_pt2_dtype(n, "dtype", TC_none));
    tc_pt2_result(n, x, y, 0);
}

/* Neighbours subtracted, n times over; prepended and appended numbers take part. */
static void import_diff(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), ends[3] = {tc_pt2_tensor_opt(n, "prepend"), x};
    ends[2] = tc_pt2_tensor_opt(n, "append");
    int64_t times = tc_pt2_int(n, "n", 1), dim = tc_pt2_int(n, "dim", -1);
    (void)row;
    if (n->status != TC_OK)
        return;
    int64_t axis = tc_pt2_axis(n, dim, tc_pt2_type(n, x)->rank);
    tc_val joined[3];
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (ends[i])
            joined[count++] = tc_pt2_cast(n, ends[i], tc_pt2_type(n, x)->dtype);
    if (count > 1)
        x = tc_pt2_emit(n, TC_OP_cat, tc_pt2_attr(n, axis, axis), joined, count);
    bool is_bool = n->status == TC_OK && tc_pt2_type(n, x)->dtype == TC_bool;
    for (int64_t i = 0; i < times && n->status == TC_OK; i++) {
        const tc_type *t = tc_pt2_type(n, x);
        if (!t->rank || !t->dim[axis])
            break;
        tc_val next = tc_pt2_slice(n, x, axis, 1, t->dim[axis], 1),
               before = tc_pt2_slice(n, x, axis, 0, t->dim[axis] - 1, 1);
        x = is_bool ? tc_pt2_emit2(n, TC_OP_logical_xor, NULL, next, before)
                    : tc_pt2_emit2(n, TC_OP_sub, tc_pt2_attr(n, alpha, 1), next, before);
    }
    tc_pt2_result(n, x, x, 0);
}

const tc_pt2_row tc_pt2_reduce[] = {
    {"aten.sum.default", import_reduce, TC_OP_sum, 0},
    {"aten.sum.dim_IntList", import_reduce, TC_OP_sum, 0},
    {"aten.mean.default", import_reduce, TC_OP_mean, 0},
    {"aten.mean.dim", import_reduce, TC_OP_mean, 0},
    {"aten.prod.default", import_reduce, TC_OP_prod, 0},
    {"aten.prod.dim_int", import_reduce, TC_OP_prod, 0},
    {"aten.amax.default", import_reduce, TC_OP_amax, 0},
    {"aten.amin.default", import_reduce, TC_OP_amin, 0},
    {"aten.max.default", import_reduce, TC_OP_amax, 0},
    {"aten.min.default", import_reduce, TC_OP_amin, 0},
    {"aten.all.default", import_reduce, TC_OP_all, 0},
    {"aten.all.dim", import_reduce, TC_OP_all, 0},
    {"aten.all.dims", import_reduce, TC_OP_all, 0},
    {"aten.any.default", import_reduce, TC_OP_any, 0},
    {"aten.any.dim", import_reduce, TC_OP_any, 0},
    {"aten.any.dims", import_reduce, TC_OP_any, 0},
    {"aten.logsumexp.default", import_reduce, TC_OP_logsumexp, 0},
    {"aten.nansum.default", import_nan_reduce, TC_OP_sum, 0},
    {"aten.nanmean.default", import_nan_reduce, TC_OP_mean, 0},
    {"aten.aminmax.default", import_aminmax, TC_OP_amin, 0},
    {"aten.count_nonzero.default", import_count_nonzero, TC_OP_sum, 0},
    {"aten.count_nonzero.dim_IntList", import_count_nonzero, TC_OP_sum, 0},

    {"aten.var.default", import_var, TC_OP_var, 0},
    {"aten.var.dim", import_var, TC_OP_var, 0},
    {"aten.var.correction", import_var, TC_OP_var, 0},
    {"aten.std.default", import_var, TC_OP_std, 0},
    {"aten.std.dim", import_var, TC_OP_std, 0},
    {"aten.std.correction", import_var, TC_OP_std, 0},
    {"aten.var_mean.default", import_var, TC_OP_var, 1},
    {"aten.var_mean.dim", import_var, TC_OP_var, 1},
    {"aten.var_mean.correction", import_var, TC_OP_var, 1},
    {"aten.std_mean.default", import_var, TC_OP_std, 1},
    {"aten.std_mean.dim", import_var, TC_OP_std, 1},
    {"aten.std_mean.correction", import_var, TC_OP_std, 1},

    {"aten.norm.Scalar", import_norm, TC_OP_norm, 0},
    {"aten.norm.ScalarOpt_dim", import_norm, TC_OP_norm, 0},
    {"aten.norm.ScalarOpt_dtype", import_norm, TC_OP_norm, 0},
    {"aten.norm.ScalarOpt_dim_dtype", import_norm, TC_OP_norm, 0},
    {"aten.linalg_vector_norm.default", import_norm, TC_OP_norm, 0},
    {"aten.frobenius_norm.dim", import_norm, TC_OP_norm, 0},
    {"aten.linalg_norm.default", import_linalg_norm, TC_OP_norm, 0},

    {"aten.argmax.default", import_arg, TC_OP_argmax, 0},
    {"aten.argmin.default", import_arg, TC_OP_argmin, 0},
    {"aten.max.dim", import_max_dim, TC_OP_max_dim, 0},
    {"aten.min.dim", import_max_dim, TC_OP_min_dim, 0},
    {"aten.topk.default", import_topk, TC_OP_topk, 0},
    {"aten.sort.default", import_sort, TC_OP_sort, 0},
    {"aten.sort.stable", import_sort, TC_OP_sort, 0},
    {"aten.argsort.default", import_argsort, TC_OP_sort, 0},
    {"aten.argsort.stable", import_argsort, TC_OP_sort, 0},
    {"aten.msort.default", import_msort, TC_OP_sort, 0},
    {"aten.median.default", import_ranked, TC_OP_sort, 0},
    {"aten.median.dim", import_ranked, TC_OP_sort, 0},
    {"aten.kthvalue.default", import_ranked, TC_OP_sort, 1},
    {"aten.cumsum.default", import_scan, TC_OP_cumsum, 0},
    {"aten.cumprod.default", import_scan, TC_OP_cumprod, 0},
    {"aten.diff.default", import_diff, TC_OP_sub, 0},
    {NULL, NULL, TC_OP_COUNT, 0},
};
