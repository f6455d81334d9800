/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_sample.c -- builders of operators that interpolate in an image: deformable convolution and
 * pooling of regions. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* ---- DeformConv ----
 *
 *   y[o, p] = bias[o] + sum over c, k of w[o, c, k] mask[k, p] x[c, at k in p + offset[k, p]]
 *
 * For each tap k of the kernel x is sampled on a grid; the samples are concatenated as channels,
 * and the rest is a 1x1 convolution. */

typedef struct deform {
    int64_t kernel[2], stride[2], dilation[2], before[2], out[2], groups, offsets;
} deform;

static void two_of(tc_onnx_node *n, const char *name, int64_t missing, int64_t *out)
{
    tc_ints list = ti_onnx_ints(n, name);
    if (list.n && list.n != 2)
        ti_b_unsupported(&n->m, "'%s' has %d numbers; windows of two axes are supported", name,
                         list.n);
    for (int i = 0; i < 2; i++) {
        out[i] = list.n == 2 ? list.v[i] : missing;
        if (out[i] < 1 || out[i] > INT32_MAX / 4)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "'%s' is %" PRId64, name, out[i]);
    }
}

static deform deform_of(tc_onnx_node *n, const tc_type *x, const tc_type *w)
{
    deform d = {.groups = ti_onnx_int(n, "group", 1), .offsets = ti_onnx_int(n, "offset_group", 1)};
    tc_ints pads = ti_onnx_ints(n, "pads");
    if (x->rank != 4 || w->rank != 4) {
        ti_b_unsupported(&n->m, "DeformConv of a tensor of rank %d; 4 is supported", x->rank);
        return d;
    }
    two_of(n, "strides", 1, d.stride);
    two_of(n, "dilations", 1, d.dilation);
    if (pads.n && pads.n != 4)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%d pads, expected 4", pads.n);
    if (d.groups < 1 || d.offsets < 1 || x->dim[1] % d.offsets || x->dim[1] % d.groups)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%" PRId64 " channels in %" PRId64 " and %" PRId64 " groups",
                 x->dim[1], d.groups, d.offsets);
    for (int i = 0; i < 2 && n->m.status == TC_OK; i++) {
        int64_t after = pads.n ? pads.v[2 + i] : 0;
        d.kernel[i] = w->dim[2 + i];
        d.before[i] = pads.n ? pads.v[i] : 0;
        if (d.before[i] < 0 || after < 0 || d.before[i] > INT32_MAX / 4 || after > INT32_MAX / 4)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "a pad is out of range");
        int64_t slack = x->dim[2 + i] + d.before[i] + after - (d.kernel[i] - 1) * d.dilation[i] - 1;
        d.out[i] = slack / d.stride[i] + 1;
        if (slack < 0 || x->dim[2 + i] < 1)
            ti_b_bad(&n->m, TC_E_SHAPE, "the window does not fit the input");
    }
    return d;
}

/* Coordinate of tap k of each window along an axis, without offset: [out, 1] or [1, out]. */
static tc_val places(tc_build *m, const deform *d, int axis, int64_t k, tc_dtype dtype)
{
    int64_t dim[2] = {axis ? 1 : d->out[0], axis ? d->out[1] : 1};
    tc_tensor t = ti_b_tensor(m, dtype, 2, dim);
    for (int64_t o = 0; o < d->out[axis]; o++)
        ti_store_f64(t, o, (double)(o * d->stride[axis] - d->before[axis] + k * d->dilation[axis]));
    return ti_b_const(m, t, NULL);
}

/* A coordinate in the units of grid_sample, -1 to 1 over the whole extent: (2 p + 1) / extent -
 * 1 */
static tc_val normalized(tc_build *m, tc_val place, int64_t extent)
{
    place = ti_b_mul_n(m, place, 2 / (double)extent);
    return ti_b_add_n(m, place, 1 / (double)extent - 1);
}

/* Samples of one group's channels for number k of the kernel: [N, C / offsets, out, out]. */
static tc_val samples(tc_onnx_node *n, const deform *d, tc_val x, tc_val offset, tc_val mask,
                      int64_t group, int64_t k)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int64_t numbers = d->kernel[0] * d->kernel[1], first = 2 * (group * numbers + k);
    int64_t each = t->dim[1] / d->offsets;
    tc_val grid[2];
    for (int i = 0; i < 2; i++) { /* the file has rows first, grids have columns first */
        tc_val at = ti_b_select(m, offset, 1, first + i);
        tc_val from = places(m, d, i, i ? k % d->kernel[1] : k / d->kernel[1], t->dtype);
        at = ti_b_add(m, at, from);
        grid[1 - i] = normalized(m, at, t->dim[2 + i]);
    }
    tc_val both = ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, 3), grid, 2);
    x = ti_b_slice(m, x, 1, group * each, (group + 1) * each, 1);
    tc_attr_grid *a = ti_b_attr(m, grid, TC_sample_mode_bilinear, TC_sample_pad_zeros, false);
    tc_val y = ti_b_2(m, grid_sample, a, x, both);
    if (!mask)
        return y;
    tc_val by = ti_b_slice(m, mask, 1, group * numbers + k, group * numbers + k + 1, 1);
    return ti_b_mul(m, y, by);
}

void ti_onnx_build_deform_conv(tc_onnx_node *n)
{
    enum { MOST = 4096 };
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), w = ti_onnx_need(n, 1), offset = ti_onnx_need(n, 2),
           bias = ti_onnx_in(n, 3), mask = ti_onnx_in(n, 4);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *wt = ti_b_type(m, w);
    deform d = deform_of(n, t, wt);
    TC_STOP(m);
    int64_t numbers = d.kernel[0] * d.kernel[1];
    const tc_type *ot = ti_b_type(m, offset);
    if (ot->rank != 4 || ot->dim[1] != 2 * d.offsets * numbers || ot->dim[2] != d.out[0] ||
        ot->dim[3] != d.out[1] || ot->dim[0] != t->dim[0]) {
        ti_b_bad(m, TC_E_SHAPE, "the offsets do not fit the window");
        return;
    }
    if (numbers > MOST || d.offsets > MOST) {
        ti_b_unsupported(m, "DeformConv of a window of %" PRId64 " numbers", numbers);
        return;
    }
    tc_val *part = tc_new_n(&m->ctx->arena, tc_val, (size_t)numbers),
           *group = tc_new_n(&m->ctx->arena, tc_val, (size_t)d.offsets);
    for (int64_t k = 0; k < numbers && m->status == TC_OK; k++) {
        for (int64_t g = 0; g < d.offsets; g++)
            group[g] = samples(n, &d, x, offset, mask, g, k);
        part[k] = ti_b_cat(m, 1, group, (int)d.offsets);
    }
    tc_val all = ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, 2), part, (int)numbers);
    all = ti_b_reshape(m, all, 4, (int64_t[]){t->dim[0], t->dim[1] * numbers, d.out[0], d.out[1]});
    w = ti_b_reshape(m, w, 4, (int64_t[]){wt->dim[0], wt->dim[1] * numbers, 1, 1});
    int64_t one[2] = {1, 1};
    tc_attr_conv *a =
        ti_b_attr(m, conv, .stride = ti_ints_copy(&m->ctx->arena, one, 2),
                  .pad = ti_ints_fill(&m->ctx->arena, 0, 4),
                  .dilation = ti_ints_copy(&m->ctx->arena, one, 2), .groups = d.groups);
    ti_onnx_bind(n, 0, ti_b_op(m, TC_OP_conv, a, (tc_val[]){all, w, bias}, bias ? 3 : 2));
}

/* ---- RoiAlign ----
 *
 * Each region is cut into out x out cells, each cell sampled at ratio x ratio points.  A point more
 * than one step outside reads 0; a nearer one is moved onto the border. */

typedef struct align {
    int64_t out[2], ratio[2], extent[2], regions;
    double scale, shift, least;
    bool largest;
} align;

/* Coordinates of the samples along an axis: [regions, out * ratio]. */
static tc_val sample_places(tc_build *m, const align *a, tc_val rois, int axis)
{
    int64_t ratio = a->ratio[axis], count = a->out[axis] * ratio;
    tc_dtype dtype = ti_b_dtype(m, rois);
    tc_tensor t = ti_b_tensor(m, dtype, 2, (int64_t[]){1, count});
    for (int64_t i = 0; i < count; i++) {
        double cell = (double)(i / ratio), within = (double)(i % ratio) + 0.5;
        ti_store_f64(t, i, cell + within / (double)ratio);
    }
    tc_val from = ti_b_slice(m, rois, 1, 1 - axis, 2 - axis, 1), /* x1, y1, x2, y2 */
        to = ti_b_slice(m, rois, 1, 3 - axis, 4 - axis, 1), steps = ti_b_const(m, t, NULL);
    from = ti_b_mul_n(m, from, a->scale);
    to = ti_b_mul_n(m, to, a->scale);
    from = ti_b_add_n(m, from, -a->shift);
    to = ti_b_add_n(m, to, -a->shift);
    tc_val size = ti_b_sub(m, to, from);
    if (a->least > 0)
        size = ti_b_clamp(m, size, a->least, INFINITY);
    size = ti_b_mul_n(m, size, 1 / (double)a->out[axis]);
    size = ti_b_mul(m, size, steps);
    return ti_b_add(m, from, size);
}

/* 1 where a point is inside, in the samples' type. */
static tc_val counts(tc_build *m, tc_val at, int64_t extent)
{
    TC_STOP_WITH(m, TC_NONE);
    tc_dtype dtype = ti_b_dtype(m, at);
    tc_val lo = ti_b_scalar(m, dtype, -1), hi = ti_b_scalar(m, dtype, (double)extent);
    tc_val above = ti_b_ge(m, at, lo), below = ti_b_le(m, at, hi);
    tc_val both = ti_b_logical_and(m, above, below);
    return ti_b_cast(m, both, dtype);
}

/* The neighbours of each point, as i64, and their weights. */
typedef struct beside {
    tc_val place[2], share[2];
} beside;

static beside neighbours(tc_build *m, tc_val at, int64_t extent)
{
    beside b = {{TC_NONE}, {TC_NONE}};
    tc_val in = ti_b_clamp(m, at, 0, (double)(extent - 1));
    tc_val low = ti_b_floor(m, in);
    tc_val part = ti_b_sub(m, in, low), whole = ti_b_neg(m, part);
    b.share[0] = ti_b_add_n(m, whole, 1);
    b.share[1] = part;
    tc_val high = ti_b_add_n(m, low, 1);
    high = ti_b_clamp(m, high, 0, (double)(extent - 1));
    b.place[0] = ti_b_cast(m, low, TC_i64);
    b.place[1] = ti_b_cast(m, high, TC_i64);
    return b;
}

/* One of the four elements around each sample, times its weight: [regions, C, rows, columns]. */
static tc_val corner(tc_build *m, const align *a, tc_val x, const beside b[2], const tc_val use[2],
                     int row, int column)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t rows = a->out[0] * a->ratio[0], columns = a->out[1] * a->ratio[1],
            channels = ti_b_type(m, x)->dim[1];
    int64_t tall[4] = {a->regions, 1, rows, 1}, wide[4] = {a->regions, 1, 1, columns},
            flat[3] = {a->regions, channels, rows * columns},
            full[4] = {a->regions, channels, rows, columns};
    tc_val y = ti_b_reshape(m, b[0].place[row], 4, tall),
           c = ti_b_reshape(m, b[1].place[column], 4, wide);
    y = ti_b_mul(m, y, ti_b_scalar_i64(m, TC_i64, a->extent[1]));
    y = ti_b_add(m, y, c);
    y = ti_b_reshape(m, y, 3, (int64_t[]){a->regions, 1, rows * columns});
    y = ti_b_expand(m, y, 3, flat);
    tc_val v = ti_b_gather(m, x, y, 2);
    v = ti_b_reshape(m, v, 4, full);
    tc_val high = ti_b_mul(m, b[0].share[row], use[0]),
           broad = ti_b_mul(m, b[1].share[column], use[1]);
    high = ti_b_reshape(m, high, 4, tall);
    broad = ti_b_reshape(m, broad, 4, wide);
    tc_val share = ti_b_mul(m, high, broad);
    return ti_b_mul(m, v, share);
}

/* Each cell from its samples: their mean, or the largest. */
static tc_val per_cell(tc_build *m, const align *a, tc_val v)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t channels = ti_b_type(m, v)->dim[1];
    static const int64_t within[] = {3, 5};
    v = ti_b_reshape(
        m, v, 6, (int64_t[]){a->regions, channels, a->out[0], a->ratio[0], a->out[1], a->ratio[1]});
    return ti_b_reduce(m, a->largest ? TC_OP_amax : TC_OP_mean, v, within, 2, false);
}

/* All regions, each of its own row of x [regions, C, points]. */
static tc_val aligned(tc_build *m, const align *a, tc_val x, tc_val rois)
{
    beside b[2];
    tc_val use[2], y = TC_NONE;
    for (int i = 0; i < 2; i++) {
        tc_val at = sample_places(m, a, rois, i);
        b[i] = neighbours(m, at, a->extent[i]);
        use[i] = counts(m, at, a->extent[i]);
    }
    for (int k = 0; k < 4 && m->status == TC_OK; k++) {
        tc_val v = corner(m, a, x, b, use, k / 2, k % 2);
        if (a->largest)
            v = per_cell(m, a, v); /* of the four shares of all samples the largest */
        y = !y ? v : a->largest ? ti_b_maximum(m, y, v) : ti_b_add(m, y, v);
    }
    return a->largest ? y : per_cell(m, a, y);
}

/* One region after the other, each with a sample for each step that its cells are wide. */
static tc_val by_region(tc_build *m, const align *a, tc_val x, tc_val rois, tc_tensor known)
{
    tc_val *part = tc_new_n(&m->ctx->arena, tc_val, (size_t)a->regions + 1);
    for (int64_t k = 0; k < a->regions && m->status == TC_OK; k++) {
        align one = *a;
        one.regions = 1;
        for (int i = 0; i < 2; i++) {
            double from = ti_load_f64(known, 4 * k + 1 - i), to = ti_load_f64(known, 4 * k + 3 - i);
            float size = (float)(to * a->scale - a->shift) - (float)(from * a->scale - a->shift);
            size = a->least > 0 ? fmaxf(size, (float)a->least) : size;
            float ratio = ceilf(size / (float)a->out[i]);
            if (!(ratio <= 64)) {
                ti_b_unsupported(m, "a region whose cells are more than 64 elements wide");
                return TC_NONE;
            }
            one.ratio[i] = ratio < 1 ? 1 : (int64_t)ratio;
        }
        tc_val own = ti_b_slice(m, x, 0, k, k + 1, 1);
        tc_val roi = ti_b_slice(m, rois, 0, k, k + 1, 1);
        part[k] = aligned(m, &one, own, roi);
    }
    return m->status == TC_OK ? ti_b_cat(m, 0, part, (int)a->regions) : TC_NONE;
}

void ti_onnx_build_roi_align(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), rois = ti_onnx_need(n, 1), batch = ti_onnx_need(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *r = ti_b_type(m, rois);
    const char *missing = n->version < 16 ? "output_half_pixel" : "half_pixel";
    const char *mode = ti_onnx_text(n, "coordinate_transformation_mode", missing);
    bool half = ti_text_eq(mode, "half_pixel");
    align a = {.out = {ti_onnx_int(n, "output_height", 1), ti_onnx_int(n, "output_width", 1)},
               .scale = ti_onnx_float(n, "spatial_scale", 1),
               .shift = half ? 0.5 : 0, .least = half ? 0 : 1,
               .largest = ti_text_eq(ti_onnx_text(n, "mode", "avg"), "max")};
    if (t->rank != 4 || r->rank != 2 || r->dim[1] != 4 || t->dim[2] < 1 || t->dim[3] < 1) {
        ti_b_bad(m, TC_E_SHAPE, "RoiAlign of tensors of rank %d and %d", t->rank, r->rank);
        return;
    }
    int64_t ratio = a.ratio[0] = a.ratio[1] = ti_onnx_int(n, "sampling_ratio", 0);
    tc_tensor known;
    if (ratio < 1 && !ti_b_settled(m, rois, &known)) {
        ti_b_unsupported(m, "RoiAlign with regions that are not constant needs sampling_ratio");
        return;
    }
    if (a.out[0] < 1 || a.out[1] < 1 || a.out[0] > 1 << 12 || a.out[1] > 1 << 12 || ratio > 64) {
        ti_b_bad(m, TC_E_ARGUMENT, "regions of %" PRId64 " x %" PRId64 " cells", a.out[0],
                 a.out[1]);
        return;
    }
    a.regions = r->dim[0];
    a.extent[0] = t->dim[2];
    a.extent[1] = t->dim[3];
    x = ti_b_reshape(m, x, 3, (int64_t[]){t->dim[0], t->dim[1], t->dim[2] * t->dim[3]});
    x = ti_b_index_select(m, x, batch, 0);
    bool each = ratio < 1 && a.regions > 0;
    a.ratio[0] = a.ratio[1] = ratio < 1 ? 1 : ratio;
    ti_onnx_bind(n, 0, each ? by_region(m, &a, x, rois, known) : aligned(m, &a, x, rois));
}
