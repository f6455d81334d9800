/* SPDX-License-Identifier: Apache-2.0 */
/* window.c -- windows as columns and back, once per working type; im2col and col2im. */
#include "window.h"

#include "work.h"

#define NAME(f) f##_f32
#define T float
#include "window_body.h"

#define NAME(f) f##_f64
#define T double
#include "window_body.h"

#define NAME(f) f##_i64
#define T uint64_t
#include "window_body.h"

/* The window of im2col and col2im: two axes over a plane of size `in`. */
static tc_window flat_window(const int64_t *in, const tc_ints *kernel, const tc_ints *stride,
                             const tc_ints *pad, const tc_ints *dilation)
{
    tc_window w = {{1, in[0], in[1]},
                   {1, 0, 0},
                   {1, kernel->v[0], kernel->v[1]},
                   {1, stride->v[0], stride->v[1]},
                   {1, dilation->v[0], dilation->v[1]},
                   {0, pad->v[0], pad->v[1]}};
    for (int i = 1; i < 3; i++)
        w.out[i] =
            (w.in[i] + 2 * w.before[i] - w.dilation[i] * (w.kernel[i] - 1) - 1) / w.stride[i] + 1;
    return w;
}

void ti_num_im2col(tc_call *call)
{
    const tc_attr_im2col *a = call->attr;
    const tc_type *x = call->in[0].type;
    tc_window w = flat_window(&x->dim[x->rank - 2], &a->kernel, &a->stride, &a->pad, &a->dilation);
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work);
    void *out = ti_work_out(call, 0, work);
    int64_t channels = ti_window_plane(&w) ? tc_type_count(x) / ti_window_plane(&w) : 0;
    if (work == TC_WORK_f32)
        ti_gather_f32(&w, in, channels, 0, ti_window_lines(&w), false, out);
    else if (work == TC_WORK_f64)
        ti_gather_f64(&w, in, channels, 0, ti_window_lines(&w), false, out);
    else
        ti_gather_i64(&w, in, channels, 0, ti_window_lines(&w), false, out);
    ti_work_done(call, 0, work, out);
}

void ti_num_col2im(tc_call *call)
{
    const tc_attr_col2im *a = call->attr;
    const tc_type *y = call->out[0].type;
    tc_window w = flat_window(&y->dim[y->rank - 2], &a->kernel, &a->stride, &a->pad, &a->dilation);
    tc_work work = ti_work_of(y->dtype);
    const void *in = ti_work_in(call, 0, work);
    void *out = ti_work_out(call, 0, work);
    int64_t count = tc_type_count(y), channels = count ? count / ti_window_plane(&w) : 0;
    memset(out, 0, (size_t)count * ti_work_size(work));
    if (work == TC_WORK_f32)
        scatter_f32(&w, in, channels, 0, ti_window_lines(&w), out);
    else if (work == TC_WORK_f64)
        scatter_f64(&w, in, channels, 0, ti_window_lines(&w), out);
    else
        scatter_i64(&w, in, channels, 0, ti_window_lines(&w), out);
    ti_work_done(call, 0, work, out);
}
