/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c -- the largest and the mean of windows, fixed or tiling the plane ("adaptive"). */
#include <math.h>

#include "window.h"
#include "work.h"

/* The part of the input that one position reads: lo <= index < hi on each axis. */
typedef struct part {
    int64_t lo[3], hi[3];
    int64_t divisor; /* of a mean */
} part;

typedef part part_rule(const tc_window *w, const int64_t at[3]);

/* A window clipped to the input; taps stay on their grid. */
static part cut(const tc_window *w, const int64_t at[3])
{
    part p = {.divisor = 1};
    for (int i = 0; i < 3; i++) {
        int64_t lo = at[i] * w->stride[i] - w->before[i], step = w->dilation[i];
        p.hi[i] = ti_min_i64(lo + (w->kernel[i] - 1) * step + 1, w->in[i]);
        p.lo[i] = lo < 0 ? lo + (-lo + step - 1) / step * step : lo;
        p.divisor *= ti_max_i64(0, p.hi[i] - p.lo[i]);
    }
    return p;
}

/* The same for a mean that counts the padding: the divisor is the part of the window inside the
 * padded plane. */
static part cut_counting_pad(const tc_window *w, const int64_t at[3])
{
    part p = cut(w, at);
    p.divisor = 1;
    for (int i = 0; i < 3; i++) {
        int64_t lo = at[i] * w->stride[i] - w->before[i];
        p.divisor *= ti_min_i64(lo + w->kernel[i], w->in[i] + w->before[i]) - lo;
    }
    return p;
}

/* Position o of n reads floor(o * in / n) .. ceil((o + 1) * in / n). */
static part tile(const tc_window *w, const int64_t at[3])
{
    part p = {.divisor = 1};
    for (int i = 0; i < 3; i++) {
        p.lo[i] = at[i] * w->in[i] / w->out[i];
        p.hi[i] = ((at[i] + 1) * w->in[i] + w->out[i] - 1) / w->out[i];
        p.divisor *= p.hi[i] - p.lo[i];
    }
    return p;
}

#define NAME(f) f##_f32
#define T float
#define Acc double
#define MEAN(sum, n) ((sum) / (double)(n))
#define IS_NAN(v) isnan(v)
#include "pool_body.h"

#define NAME(f) f##_f64
#define T double
#include "pool_body.h"
#undef Acc
#undef MEAN
#undef IS_NAN

#define NAME(f) f##_i64
#define T int64_t
#define Acc uint64_t /* wraps */
#define MEAN(sum, n) ((int64_t)(sum) / (n))
#define IS_NAN(v) false
#include "pool_body.h"
#undef Acc
#undef MEAN
#undef IS_NAN

/* A window over the last n axes of x, each position once. */
static tc_window plain_window(const tc_type *x, const tc_type *y, int n)
{
    tc_window w;
    for (int i = 0; i < 3; i++) {
        bool there = i >= 3 - n;
        w.in[i] = there ? x->dim[x->rank - 3 + i] : 1;
        w.out[i] = there ? y->dim[y->rank - 3 + i] : 1;
        w.kernel[i] = w.stride[i] = w.dilation[i] = 1;
        w.before[i] = 0;
    }
    return w;
}

/* n values, one per axis, into the last of three. */
static void place(tc_ints list, int64_t out[3])
{
    for (int i = 0; i < list.n; i++)
        out[3 - list.n + i] = list.v[i];
}

static int64_t planes_of(const tc_type *x, int n)
{
    int64_t planes = 1;
    for (int i = 0; i < x->rank - n; i++)
        planes *= x->dim[i];
    return planes;
}

static void run_max(tc_call *call, const tc_window *w, part_rule *rule, int n)
{
    const tc_type *x = call->in[0].type;
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work);
    void *out = ti_work_out(call, 0, work);
    int64_t *index = call->n_out > 1 ? call->out[1].data : NULL;
    if (work == TC_WORK_f32)
        max_pool_f32(w, rule, planes_of(x, n), -INFINITY, in, out, index);
    else if (work == TC_WORK_f64)
        max_pool_f64(w, rule, planes_of(x, n), -INFINITY, in, out, index);
    else
        max_pool_i64(w, rule, planes_of(x, n), ti_dtype_min(x->dtype), in, out, index);
    ti_work_done(call, 0, work, out);
}

static void run_avg(tc_call *call, const tc_window *w, part_rule *rule, int64_t divisor, int n)
{
    const tc_type *x = call->in[0].type;
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work);
    void *out = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        avg_pool_f32(w, rule, divisor, planes_of(x, n), in, out);
    else if (work == TC_WORK_f64)
        avg_pool_f64(w, rule, divisor, planes_of(x, n), in, out);
    else
        avg_pool_i64(w, rule, divisor, planes_of(x, n), in, out);
    ti_work_done(call, 0, work, out);
}

void ti_num_max_pool(tc_call *call)
{
    const tc_attr_max_pool *a = call->attr;
    tc_window w = plain_window(call->in[0].type, call->out[0].type, a->kernel.n);
    place(a->kernel, w.kernel);
    place(a->stride, w.stride);
    place(a->dilation, w.dilation);
    place(a->pad, w.before);
    run_max(call, &w, cut, a->kernel.n);
}

void ti_num_avg_pool(tc_call *call)
{
    const tc_attr_avg_pool *a = call->attr;
    tc_window w = plain_window(call->in[0].type, call->out[0].type, a->kernel.n);
    place(a->kernel, w.kernel);
    place(a->stride, w.stride);
    place(a->pad, w.before);
    run_avg(call, &w, a->include_pad ? cut_counting_pad : cut, a->divisor, a->kernel.n);
}

void ti_num_adaptive_avg_pool(tc_call *call)
{
    const tc_attr_size *a = call->attr;
    tc_window w = plain_window(call->in[0].type, call->out[0].type, a->size.n);
    run_avg(call, &w, tile, 0, a->size.n);
}

void ti_num_adaptive_max_pool(tc_call *call)
{
    const tc_attr_size *a = call->attr;
    tc_window w = plain_window(call->in[0].type, call->out[0].type, a->size.n);
    run_max(call, &w, tile, a->size.n);
}
