/* SPDX-License-Identifier: Apache-2.0 */
/* shape_window.c -- the shape functions of windows and resampling. */
#include <math.h>

#include "shape_check.h"

/* Positions of a window along one axis; 0 when it does not fit. */
static int64_t places(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t dilation,
                      int64_t stride)
{
    int64_t slack = in + before + after - ((kernel - 1) * dilation + 1);
    return slack < 0 ? 0 : slack / stride + 1;
}

/* What conv and conv_transpose share: one to three axes, batch optional, groups, bias. */
static tc_status conv_operands(tc_infer *c, int64_t groups, bool transposed)
{
    TC_TRY(ti_need(c, 1, "weights"));
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1), *bias = ti_in(c, 2);
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_dtype(c, 1, "the weights"));
    TC_TRY(ti_need_dtype(c, 2, "the bias"));
    TC_TRY(ti_need_rank(c, w, "the weights", 3, 5));
    TC_TRY(ti_need_rank(c, x, "the input", w->rank - 1, w->rank));
    int64_t channels = x->dim[x->rank - w->rank + 1], split = w->dim[0];
    if (groups < 1 || split % groups)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%" PRId64 " %s channels do not fall into %" PRId64 " groups", split,
                        transposed ? "input" : "output", groups);
    if (transposed ? channels != split : channels % groups || channels / groups != w->dim[1])
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "the input has %" PRId64 " channels, the weights expect %" PRId64, channels,
                        transposed ? split : w->dim[1] * groups);
    if (!bias)
        return TC_OK;
    TC_TRY(ti_need_rank(c, bias, "the bias", 1, 1));
    return ti_need_extent(c, "the extent of the bias", bias->dim[0],
                          transposed ? w->dim[1] * groups : w->dim[0]);
}

/* x: [n?, c, ...]   weights: [oc, c / groups, ...]   result: [n?, oc, ...] */
tc_status ti_shape_conv(tc_infer *c)
{
    const tc_attr_conv *a = c->attr;
    TC_TRY(conv_operands(c, a->groups, false));
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1);
    int axes = w->rank - 2, first = x->rank - axes;
    TC_TRY(ti_need_list(c, "the stride", a->stride, axes, 1));
    TC_TRY(ti_need_list(c, "the dilation", a->dilation, axes, 1));
    TC_TRY(ti_need_list(c, "the padding", a->pad, 2 * axes, 0));
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank};
    c->out[0].dim[0] = x->dim[0];
    c->out[0].dim[first - 1] = w->dim[0];
    for (int i = 0; i < axes; i++) {
        int64_t n = places(x->dim[first + i], a->pad.v[2 * i], a->pad.v[2 * i + 1], w->dim[2 + i],
                           a->dilation.v[i], a->stride.v[i]);
        if (n < 1 || w->dim[2 + i] < 1)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "the window of %" PRId64 " does not fit the input of %" PRId64
                            " with its padding", (w->dim[2 + i] - 1) * a->dilation.v[i] + 1,
                            x->dim[first + i]);
        c->out[0].dim[first + i] = n;
    }
    return TC_OK;
}

/* x: [n?, c, ...]   weights: [c, oc / groups, ...]   result: [n?, oc, ...] */
tc_status ti_shape_conv_transpose(tc_infer *c)
{
    const tc_attr_conv_transpose *a = c->attr;
    TC_TRY(conv_operands(c, a->groups, true));
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1);
    int axes = w->rank - 2, first = x->rank - axes;
    TC_TRY(ti_need_list(c, "the stride", a->stride, axes, 1));
    TC_TRY(ti_need_list(c, "the dilation", a->dilation, axes, 1));
    TC_TRY(ti_need_list(c, "the padding", a->pad, axes, 0));
    TC_TRY(ti_need_list(c, "the output padding", a->out_pad, axes, 0));
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank};
    c->out[0].dim[0] = x->dim[0];
    c->out[0].dim[first - 1] = w->dim[1] * a->groups;
    for (int i = 0; i < axes; i++) {
        if (a->out_pad.v[i] >= a->stride.v[i] && a->out_pad.v[i] >= a->dilation.v[i])
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                            "the output padding %" PRId64
                            " must be smaller than the stride %" PRId64 " or the dilation %" PRId64,
                            a->out_pad.v[i], a->stride.v[i], a->dilation.v[i]);
        int64_t n = (x->dim[first + i] - 1) * a->stride.v[i] - 2 * a->pad.v[i] +
                    a->dilation.v[i] * (w->dim[2 + i] - 1) + a->out_pad.v[i] + 1;
        if (n < 0 || w->dim[2 + i] < 1)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "the padding of %" PRId64 " leaves nothing of the result (%" PRId64 ")",
                            a->pad.v[i], n);
        c->out[0].dim[first + i] = n;
    }
    return TC_OK;
}

/* A pooling window along one axis.  The last one must start inside the input or the padding before
 * it: with `ceil`, one that would start in the padding after it is dropped. */
static tc_status pool_axis(tc_infer *c, int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                           int64_t dilation, bool ceil_mode, int64_t *out)
{
    int64_t reach = (kernel - 1) * dilation + 1;
    if (2 * pad > reach)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "the padding %" PRId64 " is more than half of the window %" PRId64, pad,
                        reach);
    int64_t slack = in + 2 * pad - reach + (ceil_mode ? stride - 1 : 0);
    int64_t n = slack < 0 ? 0 : slack / stride + 1;
    if (ceil_mode && n && (n - 1) * stride >= in + pad)
        n--;
    if (n < 1)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "the window of %" PRId64 " does not fit the input of %" PRId64, reach, in);
    *out = n;
    return TC_OK;
}

static tc_status pool(tc_infer *c, tc_ints kernel, tc_ints stride, tc_ints pad, tc_ints dilation,
                      bool ceil_mode)
{
    const tc_type *x = ti_in(c, 0);
    int axes = kernel.n;
    if (axes < 1 || axes > 3)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the window has %d axes, expected 1 to 3",
                        axes);
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", axes + 1, axes + 2));
    TC_TRY(ti_need_list(c, "the window", kernel, axes, 1));
    TC_TRY(ti_need_list(c, "the stride", stride, axes, 1));
    TC_TRY(ti_need_list(c, "the padding", pad, axes, 0));
    TC_TRY(ti_need_list(c, "the dilation", dilation, axes, 1));
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank};
    memcpy(c->out[0].dim, x->dim, sizeof x->dim);
    for (int i = 0; i < axes; i++) {
        int at = x->rank - axes + i;
        TC_TRY(pool_axis(c, x->dim[at], kernel.v[i], stride.v[i], pad.v[i], dilation.v[i],
                         ceil_mode, &c->out[0].dim[at]));
    }
    return TC_OK;
}

/* The second result, if any, holds indices. */
static void index_result(tc_infer *c)
{
    if (c->n_out > 1) {
        c->out[1] = c->out[0];
        c->out[1].dtype = TC_i64;
    }
}

tc_status ti_shape_max_pool(tc_infer *c)
{
    const tc_attr_max_pool *a = c->attr;
    if (c->n_out < 1 || c->n_out > 2)
        return ti_error(c->ctx, c->loc, TC_E_STRUCTURE, "'%s' has %d results, expected 1 or 2",
                        c->op, c->n_out);
    TC_TRY(pool(c, a->kernel, a->stride, a->pad, a->dilation, a->ceil));
    index_result(c);
    return TC_OK;
}

tc_status ti_shape_avg_pool(tc_infer *c)
{
    const tc_attr_avg_pool *a = c->attr;
    static const int64_t ones[] = {1, 1, 1};
    if (a->divisor < 0 || a->divisor > INT32_MAX)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the divisor of '%s' is %" PRId64, c->op,
                        a->divisor);
    return pool(c, a->kernel, a->stride, a->pad, (tc_ints){a->kernel.n, ones}, a->ceil);
}

tc_status ti_shape_adaptive(tc_infer *c)
{
    const tc_attr_size *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    int axes = a->size.n;
    if (axes < 1 || axes > 3)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the size has %d axes, expected 1 to 3",
                        axes);
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", axes + 1, axes + 2));
    TC_TRY(ti_need_list(c, "the size", a->size, axes, 0));
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank};
    memcpy(c->out[0].dim, x->dim, sizeof x->dim);
    for (int i = 0; i < axes; i++) {
        if (x->dim[x->rank - axes + i] == 0)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE, "'%s' of an empty plane", c->op);
        c->out[0].dim[x->rank - axes + i] = a->size.v[i];
    }
    index_result(c);
    return TC_OK;
}

/* x: [n, c, ...] with one to three axes to resample. */
tc_status ti_shape_upsample(tc_infer *c)
{
    const tc_attr_upsample *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    int axes = a->size.n;
    if (axes < 1 || axes > 3)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the size has %d axes, expected 1 to 3",
                        axes);
    if (!strstr(c->op, "nearest"))
        TC_TRY(ti_need_float(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", axes + 2, axes + 2));
    TC_TRY(ti_need_list(c, "the size", a->size, axes, 1));
    if (a->scale.n && a->scale.n != axes)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "%d scales for %d axes", a->scale.n, axes);
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank};
    memcpy(c->out[0].dim, x->dim, sizeof x->dim);
    for (int i = 0; i < axes; i++) {
        if (a->scale.n && !isfinite(a->scale.v[i]))
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the scale of '%s' is not finite",
                            c->op);
        if (x->dim[2 + i] == 0)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE, "'%s' of an empty plane", c->op);
        c->out[0].dim[2 + i] = a->size.v[i];
    }
    return TC_OK;
}

/* x: [n, c, (d,) h, w]   grid: [n, (od,) oh, ow, axes]   result: [n, c, (od,) oh, ow] */
tc_status ti_shape_grid_sample(tc_infer *c)
{
    const tc_attr_grid *a = c->attr;
    TC_TRY(ti_need(c, 1, "grid"));
    const tc_type *x = ti_in(c, 0), *grid = ti_in(c, 1);
    TC_TRY(ti_need_float(c, x));
    TC_TRY(ti_need_dtype(c, 1, "the grid"));
    TC_TRY(ti_need_rank(c, x, "the input", 4, 5));
    TC_TRY(ti_need_rank(c, grid, "the grid", x->rank, x->rank));
    TC_TRY(ti_need_extent(c, "the batch of the grid", grid->dim[0], x->dim[0]));
    TC_TRY(
        ti_need_extent(c, "the last extent of the grid", grid->dim[grid->rank - 1], x->rank - 2));
    if (a->mode == TC_sample_mode_bicubic && x->rank != 4)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "bicubic sampling takes an input of rank 4, not %d", x->rank);
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank, .dim = {x->dim[0], x->dim[1]}};
    for (int i = 2; i < x->rank; i++) {
        if (x->dim[i] == 0)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE, "'%s' of an empty plane", c->op);
        c->out[0].dim[i] = grid->dim[i - 1];
    }
    return TC_OK;
}

static tc_status factor_and_rank(tc_infer *c, int64_t factor)
{
    TC_TRY(ti_need_rank(c, ti_in(c, 0), "the input", 3, TC_MAX_RANK));
    if (factor < 1 || factor > INT16_MAX)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the factor of '%s' is %" PRId64, c->op,
                        factor);
    c->out[0] = *ti_in(c, 0);
    return TC_OK;
}

tc_status ti_shape_pixel_shuffle(tc_infer *c)
{
    int64_t f = ((const tc_attr_factor *)c->attr)->factor;
    TC_TRY(factor_and_rank(c, f));
    int64_t *dim = &c->out[0].dim[c->out[0].rank - 3];
    if (dim[0] % (f * f))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%" PRId64 " channels do not divide by %" PRId64 " squared", dim[0], f);
    dim[0] /= f * f;
    dim[1] *= f;
    dim[2] *= f;
    return TC_OK;
}

tc_status ti_shape_pixel_unshuffle(tc_infer *c)
{
    int64_t f = ((const tc_attr_factor *)c->attr)->factor;
    TC_TRY(factor_and_rank(c, f));
    int64_t *dim = &c->out[0].dim[c->out[0].rank - 3];
    if (dim[1] % f || dim[2] % f)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "a plane of %" PRId64 " x %" PRId64 " does not divide by %" PRId64, dim[1],
                        dim[2], f);
    dim[0] *= f * f;
    dim[1] /= f;
    dim[2] /= f;
    return TC_OK;
}

tc_status ti_shape_channel_shuffle(tc_infer *c)
{
    int64_t f = ((const tc_attr_factor *)c->attr)->factor;
    TC_TRY(factor_and_rank(c, f));
    if (c->out[0].dim[1] % f)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%" PRId64 " channels do not fall into %" PRId64 " groups",
                        c->out[0].dim[1], f);
    return TC_OK;
}

/* The lists of im2col and col2im, and how many windows a plane has. */
static tc_status columns(tc_infer *c, const int64_t *plane, tc_ints kernel, tc_ints stride,
                         tc_ints pad, tc_ints dilation, int64_t *count)
{
    TC_TRY(ti_need_list(c, "the window", kernel, 2, 1));
    TC_TRY(ti_need_list(c, "the stride", stride, 2, 1));
    TC_TRY(ti_need_list(c, "the padding", pad, 2, 0));
    TC_TRY(ti_need_list(c, "the dilation", dilation, 2, 1));
    if (kernel.v[0] * kernel.v[1] > INT32_MAX / 4)
        return ti_error(c->ctx, c->loc, TC_E_TOO_LARGE, "the window of %" PRId64 " x %" PRId64
                        " is too large", kernel.v[0], kernel.v[1]);
    *count = 1;
    for (int i = 0; i < 2; i++) {
        int64_t n = places(plane[i], pad.v[i], pad.v[i], kernel.v[i], dilation.v[i], stride.v[i]);
        if (n < 1)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "the window of %" PRId64 " does not fit the plane of %" PRId64,
                            (kernel.v[i] - 1) * dilation.v[i] + 1, plane[i]);
        *count *= n;
    }
    return TC_OK;
}

/* x: [n?, c, h, w]   result: [n?, c * taps, windows] */
tc_status ti_shape_im2col(tc_infer *c)
{
    const tc_attr_im2col *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", 3, 4));
    int64_t count;
    TC_TRY(columns(c, &x->dim[x->rank - 2], a->kernel, a->stride, a->pad, a->dilation, &count));
    tc_type *y = c->out;
    *y = (tc_type){.dtype = x->dtype, .rank = x->rank - 1, .dim = {x->dim[0]}};
    y->dim[y->rank - 2] = x->dim[x->rank - 3] * a->kernel.v[0] * a->kernel.v[1];
    y->dim[y->rank - 1] = count;
    return TC_OK;
}

/* x: [n?, c * taps, windows]   result: [n?, c, h, w] */
tc_status ti_shape_col2im(tc_infer *c)
{
    const tc_attr_col2im *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", 2, 3));
    TC_TRY(ti_need_list(c, "the size", a->size, 2, 1));
    int64_t count;
    TC_TRY(columns(c, a->size.v, a->kernel, a->stride, a->pad, a->dilation, &count));
    int64_t taps = a->kernel.v[0] * a->kernel.v[1], rows = x->dim[x->rank - 2];
    if (rows % taps)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%" PRId64 " rows do not divide by the %" PRId64 " taps of the window",
                        rows, taps);
    TC_TRY(ti_need_extent(c, "the number of windows", x->dim[x->rank - 1], count));
    tc_type *y = c->out;
    *y = (tc_type){.dtype = x->dtype, .rank = x->rank + 1, .dim = {x->dim[0]}};
    y->dim[y->rank - 3] = rows / taps;
    y->dim[y->rank - 2] = a->size.v[0];
    y->dim[y->rank - 1] = a->size.v[1];
    return TC_OK;
}
