/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_reduce.c -- reductions, scans and norms without a kernel. */
#include <math.h>

#include "cpu_forms.h"

/* Along two axes, of which the second has one number: exact, other than along one. */
bool ti_cpu_form_sum(tc_build *m)
{
    static const int64_t over[] = {1, 2};
    const tc_type *t = ti_b_in_type(m, 0);
    const tc_attr_axes *a = m->node->attr;
    if (a->axes.n != 1)
        return false;
    int64_t axis = a->axes.v[0], dim[] = {1, 1, 1, 1};
    for (int i = 0; i < t->rank; i++)
        dim[i < axis ? 0 : i == axis ? 1 : 3] *= t->dim[i];
    tc_val x = ti_b_reshape(m, ti_b_in(m, 0), 4, dim);
    x = ti_b_sum(m, x, ti_ints_copy(&m->ctx->arena, over, 2), false);
    const tc_type *y = ti_b_out_type(m, 0);
    return ti_cpu_done(m, ti_b_reshape(m, x, y->rank, y->dim));
}

/* One axis after the other. */
bool ti_cpu_form_prod(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    tc_val x = ti_b_in(m, 0);
    for (int i = 0; i < a->axes.n; i++)
        x = ti_b_prod(m, x, ti_ints_copy(&m->ctx->arena, &a->axes.v[i], 1), true);
    return ti_cpu_done(m, x);
}

/* most + ln(sum(e^(x - most))) */
bool ti_cpu_form_logsumexp(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    tc_val x = ti_cpu_real(m, 0), most = ti_b_amax(m, x, a->axes, true);
    tc_val zero = ti_b_number(m, most, 0);
    tc_val shift = ti_b_where(m, ti_b_isinf(m, most), zero, most);
    tc_val sum = ti_b_sum(m, ti_b_exp(m, ti_b_sub(m, x, shift)), a->axes, true);
    return ti_cpu_done(m, ti_b_add(m, shift, ti_b_log(m, sum)));
}

/* (sum |x|^ord)^(1/ord), and its limits at 0 and infinity. */
bool ti_cpu_form_norm(tc_build *m)
{
    const tc_attr_norm *a = m->node->attr;
    tc_val x = ti_cpu_real(m, 0), size = ti_b_abs(m, x), ord = ti_b_number(m, x, a->ord);
    if (isinf(a->ord))
        return ti_cpu_done(m, ti_b_op(m, a->ord > 0 ? TC_OP_amax : TC_OP_amin,
                                      ti_b_attr(m, axes, a->axes, a->keepdim), &size, 1));
    if (a->ord == 1)
        return ti_cpu_done(m, ti_b_sum(m, size, a->axes, a->keepdim));
    if (a->ord == 2)
        return ti_cpu_done(m, ti_b_sqrt(m, ti_b_sum(m, ti_b_mul(m, x, x), a->axes, a->keepdim)));
    if (a->ord == 0) {
        tc_val some = ti_b_ne(m, x, ti_b_number(m, x, 0));
        return ti_cpu_done(m, ti_b_sum(m, ti_b_cast(m, some, TC_f32), a->axes, a->keepdim));
    }
    tc_val sum = ti_b_sum(m, ti_b_pow(m, size, ord), a->axes, a->keepdim);
    return ti_cpu_done(m, ti_b_pow(m, sum, ti_b_number(m, x, 1 / a->ord)));
}

/* Row by row: each is the one before times its own. */
bool ti_cpu_form_cumprod(tc_build *m)
{
    enum { MOST = 256 };
    int64_t axis = ((const tc_attr_axis *)m->node->attr)->axis;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t n = t->rank ? t->dim[axis] : 1;
    if (n < 1 || n > MOST || !t->rank)
        return false;
    tc_val x = ti_b_cast(m, ti_b_in(m, 0), ti_b_out_type(m, 0)->dtype), row[MOST];
    for (int64_t i = 0; i < n; i++) {
        row[i] = ti_b_slice(m, x, axis, i, i + 1, 1);
        row[i] = i ? ti_b_mul(m, row[i - 1], row[i]) : row[i];
    }
    return ti_cpu_done(m, ti_b_cat(m, axis, row, (int)n));
}

/* How many of the boundaries are below x, or not above it; all of them where x is NaN. */
bool ti_cpu_form_bucketize(tc_build *m)
{
    const tc_attr_bucketize *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t dim[TC_MAX_RANK], last = t->rank;
    if (t->rank == TC_MAX_RANK)
        return false;
    memcpy(dim, t->dim, sizeof dim);
    dim[t->rank] = 1;
    tc_val x = ti_b_reshape(m, ti_b_in(m, 0), t->rank + 1, dim);
    tc_val before = ti_b_binary(m, a->right ? TC_OP_lt : TC_OP_le, x, ti_b_in(m, 1));
    tc_val past = ti_b_logical_not(m, before);
    return ti_cpu_done(m, ti_b_sum(m, past, ti_ints_copy(&m->ctx->arena, &last, 1), false));
}

/* x / sqrt(mean(x^2) + eps) * weight */
bool ti_cpu_form_rms_norm(tc_build *m)
{
    const tc_attr_layer_norm *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t axis[TC_MAX_RANK];
    for (int i = 0; i < a->n_axes; i++)
        axis[i] = t->rank - a->n_axes + i;
    tc_ints axes = ti_ints_copy(&m->ctx->arena, axis, (int32_t)a->n_axes);
    tc_val x = ti_cpu_real(m, 0), mean = ti_b_mean(m, ti_b_mul(m, x, x), axes, true);
    tc_val y = ti_b_mul(m, x, ti_b_rsqrt(m, ti_b_add(m, mean, ti_b_number(m, x, a->eps))));
    return ti_cpu_done(m, ti_b_in(m, 1) ? ti_b_mul(m, y, ti_cpu_real(m, 1)) : y);
}

/* x / y of f32, rounded once: kernels multiply by 1 / y where y is a scalar, and a difference in
 * the last place of a scale changes codes at its ends. */
static tc_val ratio(tc_build *m, tc_val x, tc_val y)
{
    tc_val wide_x = ti_b_cast(m, x, TC_f64), wide_y = ti_b_cast(m, y, TC_f64);
    return ti_b_cast(m, ti_b_div(m, wide_x, wide_y), TC_f32);
}

/* The range of x, widened to hold 0, over the codes; in f32, as PyTorch has it. */
bool ti_cpu_form_choose_qparams(tc_build *m)
{
    const tc_attr_choose_qparams *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t all[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    tc_ints axes = ti_ints_copy(&m->ctx->arena, all + a->by_row, t->rank - a->by_row);
    if (!tc_type_count(t))
        return false;
    tc_val x = ti_b_cast(m, ti_b_in(m, 0), TC_f32);
    tc_val low = ti_b_clamp(m, ti_b_amin(m, x, axes, false), -INFINITY, 0);
    tc_val high = ti_b_clamp(m, ti_b_amax(m, x, axes, false), 0, INFINITY);
    float codes = (float)((double)a->qmax - (double)a->qmin);
    tc_val span = ti_b_number(m, high, (double)(a->symmetric ? codes / 2 : codes));
    tc_val reach = a->symmetric ? ti_b_maximum(m, ti_b_neg(m, low), high) : ti_b_sub(m, high, low);
    tc_val scale = ti_b_clamp(m, ratio(m, reach, span), (double)(float)a->eps, INFINITY);
    const tc_type *out = ti_b_out_type(m, 1);
    tc_val zero = ti_b_number(m, scale, (double)a->zero);
    zero = a->symmetric ? ti_b_expand(m, zero, out->rank, out->dim) : zero;
    if (!a->symmetric) {
        const void *whole = ti_b_attr(m, round, 0);
        tc_val down = ratio(m, low, scale);
        down = ti_b_1(m, round, whole, down);
        zero = ti_b_sub(m, ti_b_number(m, scale, (double)a->qmin), down);
        zero = ti_b_clamp(m, zero, (double)a->qmin, (double)a->qmax);
    }
    ti_cpu_give(m, 0, scale);
    ti_cpu_give(m, 1, zero);
    return true;
}
