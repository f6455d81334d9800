/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_reduce.c -- REDUCE_* along one axis, which stays with extent 1, and ARGMAX, which drops it.
 *
 * A tensor is seen as [outer, n, inner] with the axis in the middle; a row of `inner` results is
 * kept while the axis is walked, so that memory is read in order. */
#include "kernels.h"
#include "tosa.h"

typedef int64_t int_fn(int64_t so_far, int64_t v);
typedef double real_fn(tc_field_nan_mode mode, double so_far, double v);

typedef struct axis_view {
    int64_t outer, n, inner;
} axis_view;

static axis_view view_of(const tc_type *t, int64_t axis)
{
    axis_view v = {1, t->dim[axis], 1};
    for (int i = 0; i < axis; i++)
        v.outer *= t->dim[i];
    for (int i = (int)axis + 1; i < t->rank; i++)
        v.inner *= t->dim[i];
    return v;
}

static void reduce_ints(tc_call *call, int64_t axis, int_fn *fn)
{
    axis_view v = view_of(call->in[0].type, axis);
    size_t inner = (size_t)v.inner;
    int64_t *so_far = tc_new_n(call->scratch, int64_t, inner);
    int64_t *next = tc_new_n(call->scratch, int64_t, inner);
    for (int64_t o = 0; o < v.outer; o++) {
        ti_read_i64(call->in[0], o * v.n * v.inner, inner, so_far);
        for (int64_t k = 1; k < v.n; k++) {
            ti_read_i64(call->in[0], (o * v.n + k) * v.inner, inner, next);
            for (size_t i = 0; i < inner; i++)
                so_far[i] = fn(so_far[i], next[i]);
        }
        ti_write_i64(call->out[0], o * v.inner, inner, so_far);
    }
}

static void reduce_reals(tc_call *call, int64_t axis, tc_field_nan_mode mode, real_fn *fn)
{
    axis_view v = view_of(call->in[0].type, axis);
    size_t inner = (size_t)v.inner;
    double *so_far = tc_new_n(call->scratch, double, inner);
    double *next = tc_new_n(call->scratch, double, inner);
    for (int64_t o = 0; o < v.outer; o++) {
        ti_read_f64(call->in[0], o * v.n * v.inner, inner, so_far);
        for (int64_t k = 1; k < v.n; k++) {
            ti_read_f64(call->in[0], (o * v.n + k) * v.inner, inner, next);
            for (size_t i = 0; i < inner; i++)
                so_far[i] = fn(mode, so_far[i], next[i]);
        }
        ti_write_reals(call->out[0], o * v.inner, inner, so_far);
    }
}

static int64_t int_sum(int64_t a, int64_t b) { return ti_wrap_add(a, b); }
static int64_t int_and(int64_t a, int64_t b) { return a & b; }
static int64_t int_or(int64_t a, int64_t b) { return a | b; }
static double real_sum(tc_field_nan_mode mode, double a, double b) { return (void)mode, a + b; }
static double real_product(tc_field_nan_mode mode, double a, double b) { return (void)mode, a * b; }

/* A function may be missing: bool has no product, floats have no all. */
static void reduce(tc_call *call, int64_t axis, tc_field_nan_mode mode, int_fn *ints,
                   real_fn *reals)
{
    bool real = ti_is_float(call->in[0].type->dtype);
    if (real ? !reals : !ints)
        call->error = "it is not for this element type";
    else if (real)
        reduce_reals(call, axis, mode, reals);
    else
        reduce_ints(call, axis, ints);
}

static void reduce_plain(tc_call *call, int_fn *ints, real_fn *reals)
{
    const tc_attr_tosa_axis *a = call->attr;
    reduce(call, a->axis, TC_nan_mode_propagate, ints, reals);
}

static void reduce_nan(tc_call *call, int_fn *ints, real_fn *reals)
{
    const tc_attr_tosa_axis_nan *a = call->attr;
    reduce(call, a->axis, a->nan_mode, ints, reals);
}

void ti_num_tosa_reduce_all(tc_call *call) { reduce_plain(call, int_and, NULL); }
void ti_num_tosa_reduce_any(tc_call *call) { reduce_plain(call, int_or, NULL); }
void ti_num_tosa_reduce_sum(tc_call *call) { reduce_plain(call, int_sum, real_sum); }
void ti_num_tosa_reduce_product(tc_call *call) { reduce_plain(call, NULL, real_product); }
void ti_num_tosa_reduce_max(tc_call *call) { reduce_nan(call, ti_max_i64, ti_nan_max); }
void ti_num_tosa_reduce_min(tc_call *call) { reduce_nan(call, ti_min_i64, ti_nan_min); }

/* Whether v replaces the largest so far.  The first of equals stays, and so does the first NaN,
 * unless NaNs are ignored. */
static bool takes_over(tc_field_nan_mode mode, double most, double v)
{
    if (mode == TC_nan_mode_ignore)
        return v > most || (isnan(most) && !isnan(v));
    return v > most || (isnan(v) && !isnan(most));
}

/* Of 64 bits: the first of the largest. */
static int64_t argmax_i64(const int64_t *x, int64_t n, int64_t step)
{
    int64_t best = 0;
    for (int64_t k = 1; k < n; k++)
        best = x[k * step] > x[best * step] ? k : best;
    return best;
}

/* Every other type that ARGMAX takes fits f64. */
void ti_num_tosa_argmax(tc_call *call)
{
    const tc_attr_tosa_argmax *a = call->attr;
    axis_view v = view_of(call->in[0].type, a->axis);
    bool wide = call->in[0].type->dtype == TC_i64;
    for (int64_t o = 0; o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++) {
            int64_t from = o * v.n * v.inner + i, best = 0;
            if (wide) {
                best = argmax_i64((const int64_t *)call->in[0].data + from, v.n, v.inner);
                ti_store_i64(call->out[0], o * v.inner + i, best);
                continue;
            }
            double most = ti_load_f64(call->in[0], from);
            for (int64_t k = 1; k < v.n; k++) {
                double next = ti_load_f64(call->in[0], from + k * v.inner);
                if (takes_over(a->nan_mode, most, next)) {
                    most = next;
                    best = k;
                }
            }
            ti_store_i64(call->out[0], o * v.inner + i, best);
        }
}
