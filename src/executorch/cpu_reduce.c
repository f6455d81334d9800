/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_reduce.c -- reductions, scans and norms without a kernel of their own. */
#include <math.h>

#include "cpu_forms.h"

/* One axis after the other. */
bool tc_cpu_form_prod(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    tc_val x = tc_b_in(m, 0);
    for (int i = 0; i < a->axes.n; i++)
        x = tc_b_prod(m, x, tc_ints_copy(&m->ctx->arena, &a->axes.v[i], 1), true);
    return tc_cpu_done(m, x);
}

/* most + ln(sum(e^(x - most))) */
bool tc_cpu_form_logsumexp(tc_build *m)
{
    const tc_attr_axes *a = m->node->attr;
    tc_val x = tc_cpu_real(m, 0), most = tc_b_amax(m, x, a->axes, true);
    tc_val zero = tc_b_number(m, most, 0);
    tc_val shift = tc_b_where(m, tc_b_isinf(m, most), zero, most);
    tc_val sum = tc_b_sum(m, tc_b_exp(m, tc_b_sub(m, x, shift)), a->axes, true);
    return tc_cpu_done(m, tc_b_add(m, shift, tc_b_log(m, sum)));
}

/* (sum |x|^ord)^(1/ord), and what becomes of it at 0 and at infinity. */
bool tc_cpu_form_norm(tc_build *m)
{
    const tc_attr_norm *a = m->node->attr;
    tc_val x = tc_cpu_real(m, 0), size = tc_b_abs(m, x), ord = tc_b_number(m, x, a->ord);
    if (isinf(a->ord))
        return tc_cpu_done(m, tc_b_op(m, a->ord > 0 ? TC_OP_amax : TC_OP_amin,
                                      tc_b_attr(m, axes, a->axes, a->keepdim), &size, 1));
    if (a->ord == 1)
        return tc_cpu_done(m, tc_b_sum(m, size, a->axes, a->keepdim));
    if (a->ord == 2)
        return tc_cpu_done(m, tc_b_sqrt(m, tc_b_sum(m, tc_b_mul(m, x, x), a->axes, a->keepdim)));
    if (a->ord == 0) {
        tc_val some = tc_b_ne(m, x, tc_b_number(m, x, 0));
        return tc_cpu_done(m, tc_b_sum(m, tc_b_cast(m, some, TC_f32), a->axes, a->keepdim));
    }
    tc_val sum = tc_b_sum(m, tc_b_pow(m, size, ord), a->axes, a->keepdim);
    return tc_cpu_done(m, tc_b_pow(m, sum, tc_b_number(m, x, 1 / a->ord)));
}

/* Row by row: each is the one before times its own. */
bool tc_cpu_form_cumprod(tc_build *m)
{
    enum { MOST = 256 };
    int64_t axis = ((const tc_attr_axis *)m->node->attr)->axis;
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t n = t->rank ? t->dim[axis] : 1;
    if (n < 1 || n > MOST || !t->rank)
        return false;
    tc_val x = tc_b_cast(m, tc_b_in(m, 0), tc_b_out_type(m, 0)->dtype), row[MOST];
    for (int64_t i = 0; i < n; i++) {
        row[i] = tc_b_slice(m, x, axis, i, i + 1, 1);
        row[i] = i ? tc_b_mul(m, row[i - 1], row[i]) : row[i];
    }
    return tc_cpu_done(m, tc_b_cat(m, axis, row, (int)n));
}

/* How many of the boundaries lie below x, or not above it. */
bool tc_cpu_form_bucketize(tc_build *m)
{
    const tc_attr_bucketize *a = m->node->attr;
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t dim[TC_MAX_RANK], last = t->rank;
    if (t->rank == TC_MAX_RANK)
        return false;
    memcpy(dim, t->dim, sizeof dim);
    dim[t->rank] = 1;
    tc_val x = tc_b_reshape(m, tc_b_in(m, 0), t->rank + 1, dim);
    tc_val past = tc_b_binary(m, a->right ? TC_OP_ge : TC_OP_gt, x, tc_b_in(m, 1));
    return tc_cpu_done(m, tc_b_sum(m, past, tc_ints_copy(&m->ctx->arena, &last, 1), false));
}

/* x / sqrt(mean(x^2) + eps) * weight */
bool tc_cpu_form_rms_norm(tc_build *m)
{
    const tc_attr_layer_norm *a = m->node->attr;
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t axis[TC_MAX_RANK];
    for (int i = 0; i < a->n_axes; i++)
        axis[i] = t->rank - a->n_axes + i;
    tc_ints axes = tc_ints_copy(&m->ctx->arena, axis, (int32_t)a->n_axes);
    tc_val x = tc_cpu_real(m, 0), mean = tc_b_mean(m, tc_b_mul(m, x, x), axes, true);
    tc_val y = tc_b_mul(m, x, tc_b_rsqrt(m, tc_b_add(m, mean, tc_b_number(m, x, a->eps))));
    return tc_cpu_done(m, tc_b_in(m, 1) ? tc_b_mul(m, y, tc_cpu_real(m, 1)) : y);
}

/* x / y of f32, rounded once: kernels multiply by 1 / y where y is one number, and a last place
 * more or less in a scale is another code for the numbers at its ends. */
static tc_val ratio(tc_build *m, tc_val x, tc_val y)
{
    tc_val wide_x = tc_b_cast(m, x, TC_f64), wide_y = tc_b_cast(m, y, TC_f64);
    return tc_b_cast(m, tc_b_div(m, wide_x, wide_y), TC_f32);
}

/* The range of x, widened to hold 0, over the codes; in f32, as PyTorch has it. */
bool tc_cpu_form_choose_qparams(tc_build *m)
{
    const tc_attr_choose_qparams *a = m->node->attr;
    const tc_type *t = tc_b_in_type(m, 0);
    int64_t all[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    tc_ints axes = tc_ints_copy(&m->ctx->arena, all + a->by_row, t->rank - a->by_row);
    if (!tc_type_count(t))
        return false;
    tc_val x = tc_b_cast(m, tc_b_in(m, 0), TC_f32);
    tc_val low = tc_b_clamp(m, tc_b_amin(m, x, axes, false), -INFINITY, 0);
    tc_val high = tc_b_clamp(m, tc_b_amax(m, x, axes, false), 0, INFINITY);
    float codes = (float)((double)a->qmax - (double)a->qmin);
    tc_val span = tc_b_number(m, high, (double)(a->symmetric ? codes / 2 : codes));
    tc_val reach = a->symmetric ? tc_b_maximum(m, tc_b_neg(m, low), high) : tc_b_sub(m, high, low);
    tc_val scale = tc_b_clamp(m, ratio(m, reach, span), (double)(float)a->eps, INFINITY);
    const tc_type *out = tc_b_out_type(m, 1);
    tc_val zero = tc_b_number(m, scale, (double)a->zero);
    zero = a->symmetric ? tc_b_expand(m, zero, out->rank, out->dim) : zero;
    if (!a->symmetric) {
        const void *whole = tc_b_attr(m, round, 0);
        tc_val down = ratio(m, low, scale);
        down = tc_b_1(m, round, whole, down);
        zero = tc_b_sub(m, tc_b_number(m, scale, (double)a->qmin), down);
        zero = tc_b_clamp(m, zero, (double)a->qmin, (double)a->qmax);
    }
    tc_cpu_give(m, 0, scale);
    tc_cpu_give(m, 1, zero);
    return true;
}
