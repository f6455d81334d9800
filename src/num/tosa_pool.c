/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_pool.c -- AVG_POOL2D and MAX_POOL2D over the part of a window inside the input. */
#include "fixed.h"
#include "kernels.h"
#include "tosa.h"

/* Rows y0 .. y1 and columns x0 .. x1 (past the end) of one window, and where its image begins. */
typedef struct window {
    int64_t y0, y1, x0, x1;
    int64_t image, width, channels;
} window;

/* One element of the result from channel c of a window. */
typedef void pool_fn(tc_call *call, const window *w, int64_t c, int64_t at);

static void pool(tc_call *call, const int64_t *kernel, const int64_t *stride, const int64_t *pad,
                 pool_fn *fn)
{
    const int64_t *in = call->in[0].type->dim, *out = call->out[0].type->dim;
    int64_t at = 0;
    for (int64_t n = 0; n < out[0]; n++)
        for (int64_t oy = 0; oy < out[1]; oy++)
            for (int64_t ox = 0; ox < out[2]; ox++) {
                int64_t y = oy * stride[0] - pad[0], x = ox * stride[1] - pad[2];
                window w = {ti_max_i64(y, 0), ti_min_i64(y + kernel[0], in[1]),
                            ti_max_i64(x, 0), ti_min_i64(x + kernel[1], in[2]),
                            n * in[1] * in[2], in[2], in[3]};
                if (w.y0 >= w.y1 || w.x0 >= w.x1) {
                    call->error = "a window lies wholly in the padding";
                    return;
                }
                for (int64_t c = 0; c < in[3]; c++)
                    fn(call, &w, c, at++);
            }
}

#define EACH_TAP(w, c, place)                                                                      \
    for (int64_t y_ = (w)->y0; y_ < (w)->y1; y_++)                                                 \
        for (int64_t x_ = (w)->x0,                                                                 \
                     place = ((w)->image + y_ * (w)->width + x_) * (w)->channels + (c);            \
             x_ < (w)->x1; x_++, place += (w)->channels)

/* The mean of n elements is their sum times reciprocal_scale(n). */
static void mean_int(tc_call *call, const window *w, int64_t c, int64_t at)
{
    int64_t n = (w->y1 - w->y0) * (w->x1 - w->x0), sum = 0;
    EACH_TAP(w, c, place)
        sum = ti_wrap_add(sum, ti_load_i64(call->in[0], place));
    sum = ti_wrap_sub(sum, ti_wrap_mul(n, ti_zero_point(call->in[1])));
    tc_scale mean = ti_reciprocal_scale((uint32_t)n);
    if (!ti_scale32_defined(sum, mean.multiplier, mean.shift)) {
        call->error = "a sum is past 32 bits";
        return;
    }
    int64_t v = ti_wrap_add(ti_scale32((int32_t)sum, mean.multiplier, mean.shift),
                            ti_zero_point(call->in[2]));
    tc_dtype type = call->out[0].type->dtype;
    ti_store_i64(call->out[0], at, ti_clip(v, ti_dtype_min(type), ti_dtype_max(type)));
}

static void mean_real(tc_call *call, const window *w, int64_t c, int64_t at)
{
    double sum = 0;
    EACH_TAP(w, c, place)
        sum += ti_load_f64(call->in[0], place);
    sum /= (double)((w->y1 - w->y0) * (w->x1 - w->x0));
    ti_write_reals(call->out[0], at, 1, &sum);
}

void ti_num_tosa_avg_pool2d(tc_call *call)
{
    const tc_attr_tosa_avg_pool *a = call->attr;
    bool real = ti_is_float(call->in[0].type->dtype);
    pool(call, a->kernel.v, a->stride.v, a->pad.v, real ? mean_real : mean_int);
}

static void max_int(tc_call *call, const window *w, int64_t c, int64_t at)
{
    int64_t most = INT64_MIN;
    EACH_TAP(w, c, place)
        most = ti_max_i64(most, ti_load_i64(call->in[0], place));
    ti_store_i64(call->out[0], at, most);
}

/* Starting from a NaN that is ignored, or from less than everything. */
static void max_mode(tc_call *call, const window *w, int64_t c, int64_t at, tc_field_nan_mode mode)
{
    double most = mode == TC_nan_mode_ignore ? (double)NAN : -(double)INFINITY;
    EACH_TAP(w, c, place)
        most = ti_nan_max(mode, most, ti_load_f64(call->in[0], place));
    ti_write_reals(call->out[0], at, 1, &most);
}

static void max_real(tc_call *call, const window *w, int64_t c, int64_t at)
{
    max_mode(call, w, c, at, ((const tc_attr_tosa_max_pool *)call->attr)->nan_mode);
}

static void max_real_adaptive(tc_call *call, const window *w, int64_t c, int64_t at)
{
    max_mode(call, w, c, at, ((const tc_attr_tosa_nan *)call->attr)->nan_mode);
}

void ti_num_tosa_max_pool2d(tc_call *call)
{
    const tc_attr_tosa_max_pool *a = call->attr;
    bool real = ti_is_float(call->in[0].type->dtype);
    pool(call, a->kernel.v, a->stride.v, a->pad.v, real ? max_real : max_int);
}

/* Kernel, stride and pad are operands from `first` on. */
static void adaptive_pool(tc_call *call, int first, pool_fn *fn)
{
    const int64_t *kernel = ti_shape_values(call, first), *stride = ti_shape_values(call, first + 1),
                  *pad = ti_shape_values(call, first + 2);
    if (kernel && stride && pad)
        pool(call, kernel, stride, pad, fn);
}

void ti_num_tosa_max_pool2d_adaptive(tc_call *call)
{
    adaptive_pool(call, 1, ti_is_float(call->in[0].type->dtype) ? max_real_adaptive : max_int);
}

void ti_num_tosa_avg_pool2d_adaptive(tc_call *call)
{
    adaptive_pool(call, 3, ti_is_float(call->in[0].type->dtype) ? mean_real : mean_int);
}
