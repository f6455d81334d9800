/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c -- batch, layer, group and root-mean-square normalization.
 *
 * Means and variances are summed in f64, in two passes; the result is
 * (x - mean) * scale + bias in the working type. */
#include <math.h>

#include "lanes.h"
#include "sum.h"
#include "work.h"

#define NAME(f) f##_f32
#define T float
#include "norm_body.h"

TC_LANES(static, batch_norm_lanes, batch_norm_f32,
         (int64_t batch, int64_t channels, int64_t inner, const float *x, const float *weight,
          const float *bias, const float *mean, const float *variance, double eps, float *y),
         (batch, channels, inner, x, weight, bias, mean, variance, eps, y))
TC_LANES(static, layer_norm_lanes, layer_norm_f32,
         (int64_t rows, int64_t n, const float *x, const float *weight, const float *bias,
          double eps, float *y),
         (rows, n, x, weight, bias, eps, y))
TC_LANES(static, rms_norm_lanes, rms_norm_f32,
         (int64_t rows, int64_t n, const float *x, const float *weight, double eps, float *y),
         (rows, n, x, weight, eps, y))
TC_LANES(static, group_norm_lanes, group_norm_f32,
         (int64_t batch, int64_t groups, int64_t channels, int64_t inner, const float *x,
          const float *weight, const float *bias, double eps, float *y),
         (batch, groups, channels, inner, x, weight, bias, eps, y))

#define NAME(f) f##_f64
#define T double
#include "norm_body.h"

/* x: [n, channels, ...]; weight, bias, mean, variance: [channels]. */
void ti_num_batch_norm(tc_call *call)
{
    const tc_attr_eps *a = call->attr;
    const tc_type *t = call->in[0].type;
    int64_t batch = t->dim[0], channels = t->dim[1], inner = 1;
    for (int i = 2; i < t->rank; i++)
        inner *= t->dim[i];
    tc_work work = ti_work_of(t->dtype);
    const void *in[5];
    for (int i = 0; i < 5; i++)
        in[i] = ti_work_in(call, i, work);
    void *y = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        batch_norm_lanes(batch, channels, inner, in[0], in[1], in[2], in[3], in[4], a->eps, y);
    else
        batch_norm_f64(batch, channels, inner, in[0], in[1], in[2], in[3], in[4], a->eps, y);
    ti_work_done(call, 0, work, y);
}

/* How many elements are normalized together. */
static int64_t last_axes(const tc_type *t, int64_t n_axes)
{
    int64_t n = 1;
    for (int i = t->rank - (int)n_axes; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

void ti_num_layer_norm(tc_call *call)
{
    const tc_attr_layer_norm *a = call->attr;
    const tc_type *t = call->in[0].type;
    int64_t n = last_axes(t, a->n_axes), rows = n ? tc_type_count(t) / n : 0;
    tc_work work = ti_work_of(t->dtype);
    const void *x = ti_work_in(call, 0, work);
    const void *weight = ti_work_in(call, 1, work), *bias = ti_work_in(call, 2, work);
    void *y = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        layer_norm_lanes(rows, n, x, weight, bias, a->eps, y);
    else
        layer_norm_f64(rows, n, x, weight, bias, a->eps, y);
    ti_work_done(call, 0, work, y);
}

void ti_num_rms_norm(tc_call *call)
{
    const tc_attr_layer_norm *a = call->attr;
    const tc_type *t = call->in[0].type;
    int64_t n = last_axes(t, a->n_axes), rows = n ? tc_type_count(t) / n : 0;
    tc_work work = ti_work_of(t->dtype);
    const void *x = ti_work_in(call, 0, work), *weight = ti_work_in(call, 1, work);
    void *y = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        rms_norm_lanes(rows, n, x, weight, a->eps, y);
    else
        rms_norm_f64(rows, n, x, weight, a->eps, y);
    ti_work_done(call, 0, work, y);
}

/* x: [n, channels, ...]; the channels fall into groups. */
void ti_num_group_norm(tc_call *call)
{
    const tc_attr_group_norm *a = call->attr;
    const tc_type *t = call->in[0].type;
    int64_t inner = 1;
    for (int i = 2; i < t->rank; i++)
        inner *= t->dim[i];
    tc_work work = ti_work_of(t->dtype);
    const void *x = ti_work_in(call, 0, work);
    const void *weight = ti_work_in(call, 1, work), *bias = ti_work_in(call, 2, work);
    void *y = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        group_norm_lanes(t->dim[0], a->groups, t->dim[1] / a->groups, inner, x, weight, bias,
                         a->eps, y);
    else
        group_norm_f64(t->dim[0], a->groups, t->dim[1] / a->groups, inner, x, weight, bias, a->eps,
                       y);
    ti_work_done(call, 0, work, y);
}
