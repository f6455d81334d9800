/* SPDX-License-Identifier: Apache-2.0 */
/* resize.c -- upsampling (and down) of one to three axes: nearest, linear, cubic, with PyTorch's
 * coordinates.
 *
 * Every axis is a table: for each output index the input indices that it reads and their weights.
 * Coordinates are computed in f32 for all types but f64, which decides ties.  scale is the user's
 * factor, where one was given: then the step is 1 / factor and not the ratio of the extents. */
#include <math.h>

#include "resize.h"
#include "../base/real.h"
#include "work.h"

typedef tc_resize_axis axis;

/* How an axis is filled for output index o, from the step between outputs. */
typedef struct step {
    double value; /* already rounded to f32 where coordinates are f32 */
    bool wide;    /* coordinates are f64 */
    bool align_corners;
} step;

static double narrow(const step *s, double v) { return s->wide ? v : (double)(float)v; }

static step step_of(const axis *a, double scale, bool align_corners, bool wide)
{
    step s = {0, wide, align_corners};
    if (align_corners)
        s.value = a->out > 1 ? narrow(&s, (double)(a->in - 1) / (double)(a->out - 1)) : 0;
    else
        s.value = narrow(&s, scale > 0 ? 1 / scale : (double)a->in / (double)a->out);
    return s;
}

/* The input coordinate of output index o; product and difference round once. */
static double source(const step *s, int64_t o, bool may_be_negative)
{
    if (s->align_corners)
        return narrow(s, s->value * (double)o);
    double half = narrow(s, (double)o + 0.5);
    double at =
        s->wide ? ti_fma(s->value, half, -0.5) : (double)ti_fmaf((float)s->value, (float)half, -0.5f);
    return at < 0 && !may_be_negative ? 0 : at;
}

static int64_t clamp_place(double place, int64_t extent)
{
    return place >= (double)(extent - 1) ? extent - 1 : place < 0 ? 0 : (int64_t)place;
}

static void fill_nearest(const step *s, axis *a, bool exact)
{
    for (int64_t o = 0; o < a->out; o++) {
        double at = exact ? source(s, o, false) + 0.5 : narrow(s, s->value * (double)o);
        a->place[o] = clamp_place((double)floorf((float)at), a->in);
        a->weight[o] = 1;
    }
}

/* An axis that keeps its extent keeps its elements, whatever the factor. */
static void fill_linear(const step *s, axis *a)
{
    for (int64_t o = 0; o < a->out; o++) {
        double at = a->in == a->out ? (double)o : source(s, o, false);
        int64_t lo = clamp_place(at, a->in);
        double part = narrow(s, at - (double)lo);
        part = part > 1 ? 1 : part;
        a->place[2 * o] = lo;
        a->place[2 * o + 1] = lo + (lo < a->in - 1);
        a->weight[2 * o] = narrow(s, 1 - part);
        a->weight[2 * o + 1] = part;
    }
}

/* The cubic convolution kernel with a = -3/4, for distances up to 1 and from 1 to 2. */
static double cubic_near(double x) { return (1.25 * x - 2.25) * x * x + 1; }
static double cubic_far(double x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; }

static void fill_cubic(const step *s, axis *a)
{
    for (int64_t o = 0; o < a->out; o++) {
        double at = source(s, o, true), low = floor(at);
        double t = narrow(s, at - low);
        const double weight[] = {cubic_far(t + 1), cubic_near(t), cubic_near(1 - t),
                                 cubic_far(2 - t)};
        for (int i = 0; i < 4; i++) {
            a->place[4 * o + i] = clamp_place(low - 1 + i, a->in);
            a->weight[4 * o + i] = weight[i];
        }
    }
}

tc_resize_axis ti_resize_axis_of(tc_arena *arena, tc_resize_kind kind, const tc_attr_upsample *attr,
                                 int i, int64_t in, bool wide)
{
    static const int taps[] = {[TC_RESIZE_NEAREST] = 1,
                               [TC_RESIZE_NEAREST_EXACT] = 1,
                               [TC_RESIZE_LINEAR] = 2,
                               [TC_RESIZE_CUBIC] = 4};
    bool nearest = kind == TC_RESIZE_NEAREST || kind == TC_RESIZE_NEAREST_EXACT;
    axis a = {in, attr->size.v[i], taps[kind], NULL, NULL};
    a.place = tc_new_n(arena, int64_t, (size_t)(a.out * a.taps));
    a.weight = tc_new_n(arena, double, (size_t)(a.out * a.taps));
    step s =
        step_of(&a, attr->scale.n ? attr->scale.v[i] : 0, !nearest && attr->align_corners, wide);
    if (nearest)
        fill_nearest(&s, &a, kind == TC_RESIZE_NEAREST_EXACT);
    else if (kind == TC_RESIZE_LINEAR)
        fill_linear(&s, &a);
    else
        fill_cubic(&s, &a);
    return a;
}

/* The three axes of the call, those it does not resample first and of extent 1. */
static void fill_axes(tc_call *call, tc_resize_kind kind, axis out[3])
{
    int64_t *first_place = tc_new(call->scratch, int64_t);
    double *whole = tc_new(call->scratch, double);
    *whole = 1;
    const tc_attr_upsample *at = call->attr;
    const tc_type *x = call->in[0].type;
    int first = 3 - at->size.n;
    for (int i = 0; i < 3; i++)
        out[i] = i < first ? (axis){1, 1, 1, first_place, whole}
                           : ti_resize_axis_of(call->scratch, kind, at, i - first,
                                               x->dim[2 + i - first], x->dtype == TC_f64);
}

#define NAME(f) f##_f32
#define T float
#include "resize_body.h"

#define NAME(f) f##_f64
#define T double
#include "resize_body.h"

static void weighted(tc_call *call, tc_resize_kind kind)
{
    const tc_type *x = call->in[0].type;
    axis a[3];
    fill_axes(call, kind, a);
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work);
    void *out = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        resample_f32(x->dim[0] * x->dim[1], a, in, out);
    else
        resample_f64(x->dim[0] * x->dim[1], a, in, out);
    ti_work_done(call, 0, work, out);
}

/* Elements are copied as stored, whatever their type. */
static void nearest(tc_call *call, tc_resize_kind kind)
{
    const tc_type *x = call->in[0].type;
    size_t size = tc_dtypes[x->dtype].bytes;
    const char *in = call->in[0].data;
    char *out = call->out[0].data;
    axis a[3];
    fill_axes(call, kind, a);
    for (int64_t p = 0; p < x->dim[0] * x->dim[1]; p++)
        for (int64_t d = 0; d < a[0].out; d++)
            for (int64_t h = 0; h < a[1].out; h++) {
                int64_t line = ((p * a[0].in + a[0].place[d]) * a[1].in + a[1].place[h]) * a[2].in;
                for (int64_t w = 0; w < a[2].out; w++, out += size)
                    memcpy(out, in + (size_t)(line + a[2].place[w]) * size, size);
            }
}

void ti_num_upsample_nearest(tc_call *call) { nearest(call, TC_RESIZE_NEAREST); }
void ti_num_upsample_nearest_exact(tc_call *call) { nearest(call, TC_RESIZE_NEAREST_EXACT); }
void ti_num_upsample_linear(tc_call *call) { weighted(call, TC_RESIZE_LINEAR); }
void ti_num_upsample_cubic(tc_call *call) { weighted(call, TC_RESIZE_CUBIC); }
