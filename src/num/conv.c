/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c -- convolution of one to three axes and its transpose, channels first, batch optional.
 *
 * The terms of a result are those of a product (gemm.h), by tap, then by channel; of the transpose,
 * too. */
#include "gemm.h"
#include "window.h"
#include "work.h"

/* One convolution, seen group by group. */
typedef struct shape {
    tc_window window;
    int64_t batch, groups;
    int64_t in_channels, out_channels; /* of one group */
} shape;

/* One tap that reads every position in order: the input is its own column matrix. */
static bool pointwise(const tc_window *w)
{
    for (int i = 0; i < 3; i++)
        if (w->kernel[i] != 1 || w->stride[i] != 1 || w->before[i] != 0 || w->in[i] != w->out[i])
            return false;
    return true;
}

/* Lines of columns that together stay around a megabyte. */
static int64_t lines_at_once(int64_t lines, int64_t width, int64_t depth)
{
    int64_t line = ti_max_i64(depth * width, 1), most = INT64_C(1) << 18;
    return ti_max_i64(1, ti_min_i64(lines, most / line));
}

/* The position from which a tap of a transposed window brings a number to `to`; -1: from none. */
static int64_t source(const tc_window *w, int axis, int64_t to, int64_t tap)
{
    int64_t at = to + w->before[axis] - tap * w->dilation[axis];
    return at < 0 || at % w->stride[axis] || at / w->stride[axis] >= w->out[axis]
               ? -1
               : at / w->stride[axis];
}

#define NAME(f) f##_f32
#define T float
#include "conv_body.h"

#define NAME(f) f##_f64
#define T double
#include "conv_body.h"

#define NAME(f) f##_i64
#define T uint64_t
#include "conv_body.h"

void ti_num_conv(tc_call *call)
{
    const tc_attr_conv *a = call->attr;
    const tc_type *x = call->in[0].type, *k = call->in[1].type, *y = call->out[0].type;
    int axes = k->rank - 2;
    bool batched = x->rank == k->rank;
    shape s = {.batch = batched ? x->dim[0] : 1, .groups = a->groups,
               .in_channels = k->dim[1], .out_channels = k->dim[0] / a->groups};
    ti_window_spread(&x->dim[x->rank - axes], axes, 1, 1, s.window.in);
    ti_window_spread(&y->dim[y->rank - axes], axes, 1, 1, s.window.out);
    ti_window_spread(&k->dim[2], axes, 1, 1, s.window.kernel);
    ti_window_spread(a->stride.v, axes, 1, 1, s.window.stride);
    ti_window_spread(a->dilation.v, axes, 1, 1, s.window.dilation);
    ti_window_spread(a->pad.v, axes, 2, 0, s.window.before);
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work), *weight = ti_work_in(call, 1, work);
    const void *bias = ti_work_in(call, 2, work);
    void *out = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        conv_f32(call->scratch, &s, in, weight, bias, out);
    else if (work == TC_WORK_f64)
        conv_f64(call->scratch, &s, in, weight, bias, out);
    else
        conv_i64(call->scratch, &s, in, weight, bias, out);
    ti_work_done(call, 0, work, out);
}

void ti_num_conv_transpose(tc_call *call)
{
    const tc_attr_conv_transpose *a = call->attr;
    const tc_type *x = call->in[0].type, *k = call->in[1].type, *y = call->out[0].type;
    int axes = k->rank - 2;
    bool batched = x->rank == k->rank;
    shape s = {.batch = batched ? x->dim[0] : 1, .groups = a->groups,
               .in_channels = k->dim[0] / a->groups, .out_channels = k->dim[1]};
    ti_window_spread(&y->dim[y->rank - axes], axes, 1, 1, s.window.in);
    ti_window_spread(&x->dim[x->rank - axes], axes, 1, 1, s.window.out);
    ti_window_spread(&k->dim[2], axes, 1, 1, s.window.kernel);
    ti_window_spread(a->stride.v, axes, 1, 1, s.window.stride);
    ti_window_spread(a->dilation.v, axes, 1, 1, s.window.dilation);
    ti_window_spread(a->pad.v, axes, 1, 0, s.window.before);
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work), *weight = ti_work_in(call, 1, work);
    const void *bias = ti_work_in(call, 2, work);
    void *out = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        conv_transpose_f32(call->scratch, &s, in, weight, bias, out);
    else if (work == TC_WORK_f64)
        conv_transpose_f64(call->scratch, &s, in, weight, bias, out);
    else
        conv_transpose_i64(call->scratch, &s, in, weight, bias, out);
    ti_work_done(call, 0, work, out);
}
