/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_resize.c -- builders of resampling.
 *
 * Every mode of Resize works axis by axis, and along one axis each result is a fixed linear
 * combination of the operand's elements.  An operator of ours with the same coordinates is used;
 * else nearest becomes a selection of rows and the others a product with a constant matrix. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

enum { MOST_PLACES = 1 << 24 }; /* along an axis, and shares in its matrix */

typedef enum where {
    HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    PYTORCH,
    ALIGN,
    ASYMMETRIC,
    CROP,
    TF_HALF
} where;
typedef enum how { NEAREST, LINEAR, CUBIC } how;
typedef enum rounding { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL } rounding;

typedef struct resize {
    where place;
    how mode;
    rounding round;
    bool antialias, exclude, old;
    double cubic_a, outside;
    int rank;
    double scale[TC_MAX_RANK], roi[2 * TC_MAX_RANK];
    int64_t out[TC_MAX_RANK];
    bool given[TC_MAX_RANK]; /* the caller said the scale, not the size */
} resize;

static int word_of(tc_onnx_node *n, const char *name, const char *missing, const char *const *words,
                   int count)
{
    const char *word = ti_onnx_text(n, name, missing);
    for (int i = 0; i < count; i++)
        if (ti_text_eq(word, words[i]))
            return i;
    ti_b_unsupported(&n->m, "%s '%.60s' is not supported", name, word);
    return 0;
}

/* The centre of element x, divided by a scale, in f32 as runtimes do: ties round the same way. */
static double middle(double x, double s)
{
    float at = (float)(x + 0.5) / (float)s;
    return (double)(at - 0.5f);
}

/* Place i of the result in the operand's numbering. */
static double source(const resize *r, int axis, int64_t in, int64_t i)
{
    double s = r->scale[axis], out = (double)r->out[axis], x = (double)i;
    switch (r->place) {
    case ALIGN:
        out = r->given[axis] ? s * (double)in : out;
        return out != 1 ? x * ((double)in - 1) / (out - 1) : 0;
    case ASYMMETRIC:
        return (double)((float)x / (float)s);
    case PYTORCH:
        return out > 1 ? middle(x, s) : 0;
    case TF_HALF:
        return (x + 0.5) / s;
    case CROP: {
        double from = r->roi[axis], to = r->roi[r->rank + axis];
        return out > 1 ? from * ((double)in - 1) + x * (to - from) * ((double)in - 1) / (out - 1)
                       : 0.5 * (from + to) * ((double)in - 1);
    }
    case HALF_PIXEL_SYMMETRIC: {
        double exact = s * (double)in, adjust = out / exact, centre = (double)in / 2;
        return centre * (1 - adjust) + (x + 0.5) / s - 0.5;
    }
    case HALF_PIXEL:
        break;
    }
    return middle(x, s);
}

/* Not specified before operator set 11; runtimes take the element before, or after when
 * downsampling. */
static int64_t nearest(const resize *r, int axis, double x)
{
    double f = floor(x);
    bool half = x - f == 0.5;
    double at = r->old                     ? (r->scale[axis] < 1 ? ceil(x) : f)
                : r->round == FLOOR        ? f
                : r->round == CEIL         ? ceil(x)
                : half                     ? (r->round == PREFER_FLOOR ? f : f + 1)
                                           : floor(x + 0.5);
    return at < -1e9 ? 0 : at > 1e15 ? INT64_C(1) << 40 : (int64_t)at;
}

/* The weight of an element at distance d. */
static double weight_at(const resize *r, double d)
{
    double a = r->cubic_a;
    d = fabs(d);
    if (r->mode == LINEAR)
        return d < 1 ? 1 - d : 0;
    return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
           : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                   : 0;
}

/* One row of the matrix: the weights of the operand's elements in result i.  False if they are too
 * many, or too far away. */
static bool row_of(const resize *r, int axis, int64_t in, int64_t i, double *row)
{
    double x = source(r, axis, in, i), sum = 0;
    double shrink = r->antialias && r->scale[axis] < 1 ? r->scale[axis] : 1;
    double reach = (r->mode == LINEAR ? 1 : 2) / shrink;
    if (!(fabs(x) < 0x1p40) || !(reach * (double)r->out[axis] < 4.0 * MOST_PLACES))
        return false;
    int64_t from = (int64_t)floor(x - reach), to = (int64_t)ceil(x + reach);
    for (int64_t k = 0; k < in; k++)
        row[k] = 0;
    for (int64_t k = from; k <= to; k++) {
        double share = weight_at(r, (x - (double)k) * shrink);
        bool outside = k < 0 || k >= in;
        if (share == 0 || (outside && r->exclude))
            continue;
        row[outside ? (k < 0 ? 0 : in - 1) : k] += share;
        sum += share;
    }
    for (int64_t k = 0; k < in && sum != 0 && (r->exclude || r->antialias); k++)
        row[k] /= sum;
    return true;
}

/* [out, in] for the axis. */
static tc_val matrix(tc_build *m, const resize *r, int axis, int64_t in, tc_dtype dtype)
{
    int64_t dim[2] = {r->out[axis], in};
    if (in < 1 || dim[0] > MOST_PLACES / in) {
        ti_b_bad(m, TC_E_TOO_LARGE, "an axis of %" PRId64 " resized to %" PRId64, in, dim[0]);
        return TC_NONE;
    }
    tc_tensor t = ti_b_tensor(m, dtype, 2, dim);
    double *row = tc_new_n(&m->ctx->arena, double, (size_t)in);
    for (int64_t i = 0; i < dim[0]; i++) {
        if (!row_of(r, axis, in, i, row)) {
            ti_b_bad(m, TC_E_ARGUMENT, "an axis of %" PRId64 " resized by %g", in, r->scale[axis]);
            return TC_NONE;
        }
        for (int64_t k = 0; k < in; k++)
            ti_store_f64(t, i * in + k, row[k]);
    }
    return ti_b_const(m, t, NULL);
}

static tc_val along_axis(tc_build *m, tc_val x, const resize *r, int axis)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int64_t in = t->dim[axis];
    if (r->mode == NEAREST) {
        int64_t *at = tc_new_n(&m->ctx->arena, int64_t, (size_t)r->out[axis]);
        for (int64_t i = 0; i < r->out[axis]; i++)
            at[i] = ti_max_i64(0, ti_min_i64(nearest(r, axis, source(r, axis, in, i)), in - 1));
        tc_val rows = ti_b_list(m, at, r->out[axis]);
        return ti_b_index_select(m, x, rows, axis);
    }
    tc_dtype real = t->dtype == TC_f64 ? TC_f64 : TC_f32, dtype = t->dtype;
    tc_val w = matrix(m, r, axis, in, real);
    x = ti_b_cast(m, x, real);
    x = ti_b_swap(m, x, axis, r->rank - 1);
    x = ti_b_2(m, linear, NULL, x, w);
    x = ti_b_swap(m, x, axis, r->rank - 1);
    if (!ti_is_float(dtype))
        x = ti_b_1(m, round, ti_b_attr(m, round, 0), x);
    return ti_b_cast(m, x, dtype);
}

/* With tf_crop_and_resize, coordinates outside of the operand read a constant. */
static tc_val mark_outside(tc_build *m, tc_val y, const resize *r, const tc_type *x)
{
    for (int axis = 0; axis < r->rank && m->status == TC_OK; axis++) {
        int64_t dim[TC_MAX_RANK];
        bool any = false;
        for (int i = 0; i < r->rank; i++)
            dim[i] = i == axis ? r->out[axis] : 1;
        tc_tensor t = ti_b_tensor(m, TC_bool, r->rank, dim);
        for (int64_t i = 0; i < r->out[axis]; i++) {
            double at = source(r, axis, x->dim[axis], i);
            bool out = at < 0 || at > (double)x->dim[axis] - 1;
            ((uint8_t *)t.data)[i] = out;
            any = any || out;
        }
        if (!any)
            continue;
        tc_val filler = ti_b_scalar(m, x->dtype, r->outside), mask = ti_b_const(m, t, NULL);
        y = ti_b_where(m, mask, filler, y);
    }
    return y;
}

/* Our own operators: two or more leading axes stay, and coordinates are PyTorch's. */
static tc_val as_upsample(tc_build *m, tc_val x, const resize *r)
{
    const tc_type *t = ti_b_type(m, x);
    int axes = t->rank - 2;
    bool leading = axes >= 1 && axes <= 3 && r->out[0] == t->dim[0] && r->out[1] == t->dim[1];
    bool exact = true, whole = true;
    double scale[3] = {0};
    for (int i = 0; leading && i < axes; i++) {
        scale[i] = r->given[2 + i] ? r->scale[2 + i] : 0;
        exact = exact && (double)r->out[2 + i] == r->scale[2 + i] * (double)t->dim[2 + i];
        whole = whole && r->out[2 + i] % t->dim[2 + i] == 0;
    }
    if (!leading || r->antialias || r->exclude || !ti_is_float(t->dtype))
        return TC_NONE;
    bool half = r->place == HALF_PIXEL || (r->place == PYTORCH && exact);
    for (int i = 0; i < axes; i++)
        half = half && (r->place == HALF_PIXEL || r->out[2 + i] > 1);
    bool shrinks = false;
    for (int i = 0; i < axes; i++)
        shrinks = shrinks || (r->old && r->scale[2 + i] < 1);
    bool floor_places =
        r->mode == NEAREST && r->place == ASYMMETRIC && r->round == FLOOR && !shrinks;
    bool to_nearest = r->round == PREFER_FLOOR || r->round == PREFER_CEIL;
    bool same_centres = r->mode == NEAREST && half && whole && to_nearest; /* none on a border */
    tc_attr_upsample *a =
        ti_b_attr(m, upsample, .size = ti_ints_copy(&m->ctx->arena, r->out + 2, axes),
                  .scale = {exact ? 0 : axes, ti_arena_copy(&m->ctx->arena, scale, sizeof scale)},
                  .align_corners = r->place == ALIGN);
    if (!exact && !(scale[0] > 0))
        a->scale.n = 0;
    if (r->mode == NEAREST && exact && (floor_places || same_centres))
        return ti_b_1(m, upsample_nearest, a, x);
    if (r->mode == LINEAR && exact && (half || r->place == ALIGN))
        return ti_b_1(m, upsample_linear, a, x);
    if (r->mode == CUBIC && exact && axes == 2 && r->cubic_a == -0.75 &&
        (half || r->place == ALIGN))
        return ti_b_1(m, upsample_cubic, a, x);
    return TC_NONE;
}

static tc_val resample(tc_build *m, tc_val x, const resize *r)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    tc_val y = r->place == CROP ? TC_NONE : as_upsample(m, x, r);
    if (y || m->status != TC_OK)
        return y;
    y = x;
    for (int axis = 0; axis < r->rank; axis++)
        if (r->out[axis] != t->dim[axis] || r->scale[axis] != 1 || r->place == CROP)
            y = along_axis(m, y, r, axis);
    if (r->place == CROP)
        y = mark_outside(m, y, r, t);
    return y == x ? ti_b_identity(m, x) : y;
}

/* keep_aspect_ratio_policy: one scale for all axes that are resized. */
static void keep_ratio(tc_onnx_node *n, resize *r, const tc_type *x, const int *axis, int count)
{
    const char *policy = ti_onnx_text(n, "keep_aspect_ratio_policy", "stretch");
    if (ti_text_eq(policy, "stretch"))
        return;
    bool larger = ti_text_eq(policy, "not_smaller");
    double scale = larger ? 0 : INFINITY;
    for (int i = 0; i < count; i++)
        scale = larger ? fmax(scale, r->scale[axis[i]]) : fmin(scale, r->scale[axis[i]]);
    for (int i = 0; i < count; i++) {
        double out = floor(scale * (double)x->dim[axis[i]] + 0.5);
        if (!(out >= 0 && out <= MOST_PLACES)) {
            ti_b_bad(&n->m, TC_E_TOO_LARGE, "an axis resized by %g", scale);
            return;
        }
        r->scale[axis[i]] = scale;
        r->out[axis[i]] = (int64_t)out;
    }
}

static void scales_and_sizes(tc_onnx_node *n, resize *r, const tc_type *x, tc_floats scales,
                             tc_ints sizes, tc_ints axes)
{
    int count = axes.n ? axes.n : x->rank, axis[TC_MAX_RANK] = {0};
    if ((scales.n && scales.n != count) || (!scales.n && sizes.n != count) || count > TC_MAX_RANK) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "scales or sizes do not fit the input of rank %d", x->rank);
        return;
    }
    for (int i = 0; i < x->rank; i++) {
        r->scale[i] = 1;
        r->out[i] = x->dim[i];
    }
    for (int i = 0; i < count; i++) {
        int at = axis[i] = ti_b_axis(&n->m, axes.n ? axes.v[i] : i, x->rank);
        r->given[at] = scales.n > 0;
        r->scale[at] = scales.n ? scales.v[i] : (double)sizes.v[i] / (double)x->dim[at];
        double size = scales.n ? floor((double)x->dim[at] * scales.v[i]) : (double)sizes.v[i];
        if (!(size >= 1 && size < INT32_MAX) || !(r->scale[at] > 0) || x->dim[at] < 1) {
            ti_b_bad(&n->m, TC_E_ARGUMENT, "axis %d of %" PRId64 " resized to %g", at, x->dim[at],
                     size);
            return;
        }
        r->out[at] = (int64_t)size;
    }
    if (!scales.n)
        keep_ratio(n, r, x, axis, count);
    for (int i = 0; i < x->rank; i++)
        if (r->out[i] > MOST_PLACES || ti_dims_count(x->rank, r->out) < 0) {
            ti_b_bad(&n->m, TC_E_TOO_LARGE, "an axis of %" PRId64 " resized to %" PRId64, x->dim[i],
                     r->out[i]);
            return;
        }
}

void ti_onnx_build_resize(tc_onnx_node *n)
{
    static const char *const places[] = {"half_pixel",    "half_pixel_symmetric",
                                         "pytorch_half_pixel", "align_corners",
                                         "asymmetric",    "tf_crop_and_resize",
                                         "tf_half_pixel_for_nn"};
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                         "ceil"};
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    resize r = {.cubic_a = ti_onnx_float(n, "cubic_coeff_a", -0.75),
                .exclude = ti_onnx_int(n, "exclude_outside", 0),
                .antialias = ti_onnx_int(n, "antialias", 0),
                .outside = ti_onnx_float(n, "extrapolation_value", 0)};
    r.mode = (how)word_of(n, "mode", "nearest", modes, 3);
    bool old = r.old = n->version < 11;
    r.place = old ? ASYMMETRIC
                  : (where)word_of(n, "coordinate_transformation_mode", "half_pixel", places, 7);
    r.round = old ? FLOOR : (rounding)word_of(n, "nearest_mode", "round_prefer_floor", rounds, 4);
    tc_floats scales = {0, NULL}, roi = {0, NULL};
    tc_ints sizes = {0, NULL}, axes = ti_onnx_ints(n, "axes");
    int at = old ? 1 : 2;
    bool has_scales = ti_onnx_has_in(n, at), has_sizes = ti_onnx_has_in(n, 3);
    if (n->version < 9 && ti_onnx_has(n, "scales"))
        scales = ti_onnx_floats(n, "scales");
    else if (has_scales)
        scales = ti_onnx_settled_floats(n, at);
    if (!scales.n && has_sizes)
        sizes = ti_onnx_settled(n, 3);
    if (r.place == CROP && ti_onnx_has_in(n, 1))
        roi = ti_onnx_settled_floats(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    r.rank = t->rank;
    for (int i = 0; i < t->rank; i++) {
        r.roi[i] = 0;
        r.roi[t->rank + i] = 1;
    }
    int count = axes.n ? axes.n : t->rank;
    for (int i = 0; i < count && roi.n == 2 * count; i++) {
        int axis = ti_b_axis(m, axes.n ? axes.v[i] : i, t->rank);
        r.roi[axis] = roi.v[i];
        r.roi[t->rank + axis] = roi.v[count + i];
    }
    scales_and_sizes(n, &r, t, scales, sizes, axes);
    ti_onnx_bind(n, 0, resample(m, x, &r));
}

/* Coordinates evenly over -1 .. 1 of each axis, times theta [N, axes, axes + 1]. */
void ti_onnx_build_affine_grid(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val theta = ti_onnx_need(n, 0);
    tc_ints size = ti_onnx_settled(n, 1);
    bool align = ti_onnx_int(n, "align_corners", 0);
    TC_STOP(m);
    int axes = size.n - 2;
    if (axes < 2 || axes > 3) {
        ti_b_bad(m, TC_E_ARGUMENT, "AffineGrid for %d axes", axes);
        return;
    }
    int64_t places = 1, dim[5] = {size.v[0]};
    for (int i = 0; i < axes; i++) {
        places *= size.v[2 + i];
        dim[1 + i] = size.v[2 + i];
    }
    dim[1 + axes] = axes;
    if (ti_dims_count(axes + 2, dim) < 0) {
        ti_b_bad(m, TC_E_TOO_LARGE, "AffineGrid of %" PRId64 " places", places);
        return;
    }
    tc_dtype dtype = ti_b_dtype(m, theta);
    tc_tensor t = ti_b_tensor(m, dtype, 2, (int64_t[]){places, axes + 1});
    for (int64_t i = 0; i < places; i++) {
        int64_t left = i;
        for (int a = axes - 1; a >= 0; a--) {
            double extent = (double)dim[1 + a], k = (double)(left % dim[1 + a]);
            double at =
                align ? (extent > 1 ? -1 + 2 * k / (extent - 1) : 0) : (2 * k + 1) / extent - 1;
            ti_store_f64(t, i * (axes + 1) + (axes - 1 - a), at);
            left /= dim[1 + a];
        }
        ti_store_f64(t, i * (axes + 1) + axes, 1);
    }
    tc_val grid = ti_b_const(m, t, NULL);
    theta = ti_b_swap(m, theta, 1, 2);
    tc_val y = ti_b_matmul(m, grid, theta);
    ti_onnx_bind(n, 0, ti_b_reshape(m, y, axes + 2, dim));
}
