/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_window.c -- importers of convolution, pooling and resampling. */
#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"
#include "pt2.h"

/* A list with one entry per axis; one entry applies to all, none means `missing`. */
static tc_ints per_axis(tc_pt2_node *n, const char *arg, int axes, int64_t missing)
{
    tc_ints list = ti_pt2_ints(n, arg);
    if (list.n == axes || n->m.status != TC_OK)
        return list;
    if (list.n > 1)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a list has neither one number nor one per axis");
    return ti_ints_fill(&n->m.ctx->arena, list.n == 1 ? list.v[0] : missing, axes);
}

/* Convolution */

/* before, after per axis. */
static tc_ints both_sides(tc_pt2_node *n, tc_ints one)
{
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)one.n * 2);
    for (int i = 0; i < one.n; i++)
        v[2 * i] = v[2 * i + 1] = one.v[i];
    return (tc_ints){2 * one.n, v};
}

/* padding="same": as much in all as the window reaches, the odd one at the end. */
static tc_ints same_padding(tc_pt2_node *n, const tc_type *w, tc_ints stride, tc_ints dilation)
{
    int axes = w->rank - 2;
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)axes * 2);
    for (int i = 0; i < axes && n->m.status == TC_OK; i++) {
        if (stride.v[i] != 1)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "padding 'same' needs stride 1");
        if (dilation.v[i] < 0 || dilation.v[i] > INT32_MAX)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "the dilation is out of range");
        else {
            int64_t total = dilation.v[i] * (w->dim[2 + i] - 1);
            v[2 * i] = total / 2;
            v[2 * i + 1] = total - total / 2;
        }
    }
    return (tc_ints){2 * axes, v};
}

static void bind_transposed(tc_pt2_node *n, tc_val x, tc_val w, tc_val b, int axes)
{
    tc_attr_conv_transpose *a = ti_b_attr(
        &n->m, conv_transpose, .stride = per_axis(n, "stride", axes, 1),
        .pad = per_axis(n, "padding", axes, 0), .out_pad = per_axis(n, "output_padding", axes, 0),
        .dilation = per_axis(n, "dilation", axes, 1), .groups = ti_pt2_int(n, "groups", 1));
    ti_pt2_bind(n, 0, ti_b_3(&n->m, conv_transpose, a, x, w, b));
}

/* extra: 1 when the operator is a transpose by its name. */
static void import_conv(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input"), w = ti_pt2_tensor(n, "weight"),
           b = ti_pt2_tensor_opt(n, "bias");
    TC_STOP(&n->m);
    const tc_type *type = ti_b_type(&n->m, w);
    int axes = type->rank - 2;
    if (axes < 1) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the weights have no axis to slide along");
        return;
    }
    if (n->row->extra != 0 || ti_pt2_bool(n, "transposed", false)) {
        bind_transposed(n, x, w, b, axes);
        return;
    }
    tc_attr_conv *a = ti_b_attr(&n->m, conv, .stride = per_axis(n, "stride", axes, 1),
                                .dilation = per_axis(n, "dilation", axes, 1),
                                .groups = ti_pt2_int(n, "groups", 1));
    const char *word =
        ti_text_ends(n->target, ".padding") ? ti_pt2_text(n, "padding", "valid") : NULL;
    if (word && ti_text_eq(word, "same"))
        a->pad = same_padding(n, type, a->stride, a->dilation);
    else if (word)
        a->pad = ti_ints_fill(&n->m.ctx->arena, 0, 2 * axes);
    else
        a->pad = both_sides(n, per_axis(n, "padding", axes, 0));
    if (word && !ti_text_eq(word, "same") && !ti_text_eq(word, "valid"))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the padding is neither 'same' nor 'valid'");
    ti_pt2_bind(n, 0, ti_b_3(&n->m, conv, a, x, w, b));
}

/* Pooling; extra: how many axes. */

/* The stride is the window unless it is given. */
static tc_ints pool_stride(tc_pt2_node *n, tc_ints kernel)
{
    tc_ints stride = ti_pt2_ints(n, "stride");
    return stride.n ? per_axis(n, "stride", kernel.n, 1) : kernel;
}

static void import_avg_pool(tc_pt2_node *n)
{
    int axes = (int)n->row->extra;
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints kernel = per_axis(n, "kernel_size", axes, 0);
    tc_attr_avg_pool *a = ti_b_attr(
        &n->m, avg_pool, .kernel = kernel, .stride = pool_stride(n, kernel),
        .pad = per_axis(n, "padding", axes, 0), .ceil = ti_pt2_bool(n, "ceil_mode", false),
        .include_pad = ti_pt2_bool(n, "count_include_pad", true),
        .divisor = ti_pt2_int(n, "divisor_override", 0));
    if (ti_pt2_has(n, "divisor_override") && a->divisor == 0)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the divisor is zero");
    ti_pt2_bind(n, 0, ti_b_1(&n->m, avg_pool, a, x));
}

/* Resampling; extra: how many axes. */

/* .vec: a size, or factors that the extents are multiplied with. */
static void sizes_of_vec(tc_pt2_node *n, const tc_type *x, int axes, tc_attr_upsample *a)
{
    a->size = ti_pt2_ints(n, "output_size");
    if (a->size.n || n->m.status != TC_OK)
        return;
    a->scale = ti_pt2_floats(n, "scale_factors");
    int64_t *size = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)axes);
    for (int i = 0; i < axes && i < a->scale.n; i++) {
        double extent = (double)x->dim[2 + i] * a->scale.v[i];
        size[i] = extent >= 0 && extent < INT32_MAX ? (int64_t)extent : -1;
    }
    a->size = (tc_ints){axes, size};
    if (a->scale.n != axes)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "sizes or factors are missing for some axes");
}

/* .default: a size, and factors that only determine coordinates; 0 where one is absent. */
static void sizes_of_default(tc_pt2_node *n, int axes, tc_attr_upsample *a)
{
    static const char *const name[] = {"scales_d", "scales_h", "scales_w"};
    double *scale = tc_new_n(&n->m.ctx->arena, double, (size_t)axes);
    bool any = false;
    for (int i = 0; i < axes; i++) {
        const char *arg = axes == 1 ? "scales" : name[3 - axes + i];
        scale[i] = ti_pt2_float(n, arg, 0);
        any = any || ti_pt2_has(n, arg);
    }
    a->size = per_axis(n, "output_size", axes, -1);
    a->scale = any ? (tc_floats){axes, scale} : (tc_floats){0, NULL};
}

/* The input, [batch, channels, ...] with `axes` more, and how it is resampled. */
static tc_attr_upsample *upsampling(tc_pt2_node *n, int axes, tc_val *x)
{
    bool vec = ti_text_ends(n->target, ".vec");
    *x = ti_pt2_tensor(n, vec ? "input" : "self");
    if (n->m.status == TC_OK && ti_b_type(&n->m, *x)->rank != axes + 2)
        ti_b_bad(&n->m, TC_E_SHAPE, "the input has another rank than the operator resamples");
    tc_attr_upsample *a =
        ti_b_attr(&n->m, upsample, .align_corners = ti_pt2_bool(n, "align_corners", false));
    if (n->m.status == TC_OK && vec)
        sizes_of_vec(n, ti_b_type(&n->m, *x), axes, a);
    else if (n->m.status == TC_OK)
        sizes_of_default(n, axes, a);
    return a;
}

static void import_upsample(tc_pt2_node *n)
{
    tc_val x;
    tc_attr_upsample *a = upsampling(n, (int)n->row->extra, &x);
    ti_pt2_bind(n, 0, ti_b_op(&n->m, n->row->op, a, (tc_val[]){x}, 1));
}

/* ---- resampling with antialias: a product with constant weights along each axis ---- */

/* How far a filter reaches, which is extra. */
enum { TRIANGLE = 1, CUBIC = 2, LANCZOS = 3 };

/* What a number at distance x counts; the cubic one is Catmull-Rom's, a = -1/2. */
static double filter(int64_t kind, double x)
{
    double t = ti_acos(-1) * x;
    x = fabs(x);
    if (!(x < (double)kind))
        return 0;
    if (kind == TRIANGLE)
        return 1 - x;
    if (kind == CUBIC)
        return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2;
    return x > 0 ? 3 * ti_sin(t) * ti_sin(t / 3) / (t * t) : 1;
}

/* [out, in]: the filter, widened to an output step when downsampling, centred at each output; every
 * row sums to 1. */
static tc_val filter_rows(tc_pt2_node *n, int64_t kind, int64_t in, int64_t out, double step,
                          tc_dtype real)
{
    double wide = step > 1 ? step : 1;
    const tc_type *type = ti_type_make(n->m.ctx, real, 2, (int64_t[]){out, in});
    tc_tensor weight = ti_tensor_new(&n->m.ctx->arena, type);
    memset(weight.data, 0, tc_type_bytes(type));
    for (int64_t o = 0; o < out; o++) {
        double middle = step * ((double)o + 0.5), sum = 0;
        double from = fmax(0, trunc(middle - (double)kind * wide + 0.5));
        double to = fmin((double)in, trunc(middle + (double)kind * wide + 0.5));
        for (int64_t k = (int64_t)from; k < (int64_t)to; k++)
            sum += filter(kind, ((double)k - middle + 0.5) / wide);
        for (int64_t k = (int64_t)from; k < (int64_t)to; k++) {
            double share = filter(kind, ((double)k - middle + 0.5) / wide);
            ti_store_f64(weight, o * in + k, sum != 0 ? share / sum : share);
        }
    }
    return ti_graph_const(n->m.g, type, weight.data, NULL, n->m.loc);
}

static void import_antialias(tc_pt2_node *n)
{
    enum { MOST_PLACES = 1 << 24 }; /* weights of an axis */
    tc_val x;
    tc_attr_upsample *a = upsampling(n, 2, &x);
    TC_STOP(&n->m);
    tc_type t = *ti_b_type(&n->m, x);
    if (!ti_is_float(t.dtype)) {
        ti_b_unsupported(&n->m, "resampling integers with antialias is not supported; resample "
                                "floats and round them");
        return;
    }
    tc_dtype real = t.dtype == TC_f64 ? TC_f64 : TC_f32;
    x = ti_b_cast(&n->m, x, real);
    for (int i = 1; i >= 0 && n->m.status == TC_OK; i--) { /* columns first */
        int64_t in = t.dim[2 + i], out = a->size.n == 2 ? a->size.v[i] : 0;
        if (in < 1 || out < 1 || in > MOST_PLACES / out) {
            ti_b_bad(&n->m, TC_E_SHAPE, "an extent is out of range");
            return;
        }
        double scale = a->scale.n ? a->scale.v[i] : 0, step = (double)in / (double)out;
        step = a->align_corners ? (out > 1 ? (double)(in - 1) / (double)(out - 1) : 0)
               : scale > 0      ? 1 / scale
                                : step;
        tc_val w = filter_rows(n, (int64_t)n->row->extra, in, out, step, real);
        x = i ? x : ti_b_swap(&n->m, x, 2, 3);
        x = ti_b_2(&n->m, linear, NULL, x, w);
        x = i ? x : ti_b_swap(&n->m, x, 2, 3);
    }
    ti_pt2_bind(n, 0, ti_b_cast(&n->m, x, t.dtype));
}

/* Coordinate i of n points evenly over -1 .. 1: with align_corners at the ends, else at centres. */
static double even_place(int64_t i, int64_t n, bool align_corners)
{
    if (n <= 1)
        return 0;
    double x = -1 + 2 * (double)i / (double)(n - 1);
    return align_corners ? x : x * (double)(n - 1) / (double)n;
}

/* [points, axes + 1]: x, y, (z,) 1 of every point. */
static tc_val base_grid(tc_pt2_node *n, tc_dtype dtype, const int64_t *size, int axes,
                        bool align_corners)
{
    int64_t dim[2] = {1, axes + 1};
    for (int i = 0; i < axes; i++)
        dim[0] = size[i] < 0 || size[i] > INT32_MAX || dim[0] > INT32_MAX ? -1 : dim[0] * size[i];
    if (ti_dims_count(2, dim) < 0) {
        ti_b_bad(&n->m, TC_E_TOO_LARGE, "the size is out of range");
        return TC_NONE;
    }
    tc_tensor grid = ti_tensor_new(&n->m.ctx->arena, ti_type_make(n->m.ctx, dtype, 2, dim));
    for (int64_t p = 0; p < dim[0]; p++) {
        int64_t rest = p;
        for (int k = 0; k < axes; k++) { /* the last axis is x */
            int64_t extent = size[axes - 1 - k];
            ti_store_f64(grid, p * dim[1] + k, even_place(rest % extent, extent, align_corners));
            rest /= extent;
        }
        ti_store_f64(grid, p * dim[1] + axes, 1);
    }
    return ti_graph_const(n->m.g, grid.type, grid.data, NULL, n->m.loc);
}

/* theta: [n, axes, axes + 1]; the grid is base theta^T, point by point. */
static void import_affine_grid(tc_pt2_node *n)
{
    tc_val theta = ti_pt2_tensor(n, "theta");
    tc_ints size = ti_pt2_ints(n, "size");
    bool align_corners = ti_pt2_bool(n, "align_corners", false);
    int axes = size.n - 2;
    if (n->m.status == TC_OK &&
        (axes < 2 || axes > 3 || !ti_is_float(ti_b_type(&n->m, theta)->dtype)))
        ti_b_bad(&n->m, TC_E_ARGUMENT,
                   "a size of four or five numbers and a float theta are expected");
    TC_STOP(&n->m);
    tc_val base = base_grid(n, ti_b_type(&n->m, theta)->dtype, size.v + 2, axes, align_corners);
    tc_attr_einsum *e = ti_b_attr(&n->m, einsum, ti_intern_text(n->m.ctx, "pk,nck->npc"));
    tc_val y = ti_b_2(&n->m, einsum, e, base, theta);
    TC_STOP(&n->m);
    int64_t dim[5] = {ti_b_type(&n->m, y)->dim[0]};
    memcpy(dim + 1, size.v + 2, (size_t)axes * sizeof *dim);
    dim[axes + 1] = axes;
    tc_attr_shape *shape = ti_b_attr(&n->m, shape, ti_ints_copy(&n->m.ctx->arena, dim, axes + 2));
    ti_pt2_bind(n, 0, ti_b_1(&n->m, reshape, shape, y));
}

/* Channels and space */

const tc_pt2_row tc_pt2_window[] = {
    ROW("conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding convolution "
        "_convolution _convolution.deprecated", import_conv, const, 0),
    ROW("conv_transpose1d conv_transpose2d.input conv_transpose3d.input", import_conv, const, 1),
    ROW("avg_pool1d", import_avg_pool, const, 1),
    ROW("avg_pool2d", import_avg_pool, const, 2),
    ROW("avg_pool3d", import_avg_pool, const, 3),
    ROW("upsample_nearest1d.vec upsample_nearest1d", import_upsample, upsample_nearest, 1),
    ROW("upsample_nearest2d.vec upsample_nearest2d", import_upsample, upsample_nearest, 2),
    ROW("upsample_nearest3d.vec upsample_nearest3d", import_upsample, upsample_nearest, 3),
    ROW("_upsample_nearest_exact1d.vec _upsample_nearest_exact1d",
        import_upsample, upsample_nearest_exact, 1),
    ROW("_upsample_nearest_exact2d.vec _upsample_nearest_exact2d",
        import_upsample, upsample_nearest_exact, 2),
    ROW("_upsample_nearest_exact3d.vec _upsample_nearest_exact3d",
        import_upsample, upsample_nearest_exact, 3),
    ROW("upsample_linear1d.vec upsample_linear1d", import_upsample, upsample_linear, 1),
    ROW("upsample_bilinear2d.vec upsample_bilinear2d", import_upsample, upsample_linear, 2),
    ROW("upsample_trilinear3d.vec upsample_trilinear3d", import_upsample, upsample_linear, 3),
    ROW("upsample_bicubic2d.vec upsample_bicubic2d", import_upsample, upsample_cubic, 2),
    ROW("_upsample_bilinear2d_aa.vec _upsample_bilinear2d_aa", import_antialias, const, TRIANGLE),
    ROW("_upsample_bicubic2d_aa.vec _upsample_bicubic2d_aa", import_antialias, const, CUBIC),
    ROW("_upsample_lanczos2d_aa.vec _upsample_lanczos2d_aa", import_antialias, const, LANCZOS),
    ROW("affine_grid_generator", import_affine_grid, const, 0),
    {0},
};
