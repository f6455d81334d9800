/* SPDX-License-Identifier: Apache-2.0 */
/* lower_conv.c -- convolutions of one, two and three axes.
 *
 * One axis is two, the first of extent 1.  Groups of one input channel are DEPTHWISE_CONV2D; other
 * groups are convolutions of slices, concatenated.  TOSA requires strides to divide evenly: what
 * the last window does not reach is removed from the padding, then from the input.  A stride beyond
 * the machine's becomes channels: rows and columns s apart are concatenated.  So are the planes
 * that a kernel reads at once, if the machine has no deep kernels or there is one plane only; a
 * kernel of three axes for each channel is the sum of those of its planes. */
#include "../move/lower_move.h"
#include "product.h"

enum { MOST_AXES = 3 };

/* A convolution with its channels last. */
typedef struct window {
    int axes; /* 2 or 3 */
    int64_t in[MOST_AXES], kernel[MOST_AXES], stride[MOST_AXES], dilation[MOST_AXES],
        pad[2 * MOST_AXES];
    int64_t batch, channels, groups, outputs; /* outputs: of all groups */
} window;

static window window_of(const tc_attr_conv *a, const tc_type *x, const tc_type *w)
{
    int given = w->rank - 2, more = given == 1;
    window v = {.axes = given + more,
                .groups = a->groups,
                .outputs = w->dim[0],
                .channels = w->dim[1] * a->groups,
                .batch = x->rank == w->rank ? x->dim[0] : 1};
    for (int i = 0; i < v.axes; i++) {
        int k = i - more;
        v.in[i] = k < 0 ? 1 : x->dim[x->rank - given + k];
        v.kernel[i] = k < 0 ? 1 : w->dim[2 + k];
        v.stride[i] = k < 0 ? 1 : a->stride.v[k];
        v.dilation[i] = k < 0 ? 1 : a->dilation.v[k];
        for (int side = 0; side < 2; side++)
            v.pad[2 * i + side] = k < 0 ? 0 : a->pad.v[2 * k + side];
    }
    return v;
}

/* x [n?,c,..] as [n,..,c], without what no window reaches. */
static tc_val input(tc_build *lw, tc_val x, window *v)
{
    int64_t dim[TC_MAX_RANK] = {v->batch, v->channels};
    for (int i = 0; i < v->axes; i++)
        dim[2 + i] = v->in[i];
    x = ti_b_tosa_channels_last(lw, ti_b_tosa_reshape(lw, x, v->axes + 2, dim));
    for (int i = 0; i < v->axes; i++) {
        int64_t reach =
            v->in[i] - 1 + v->pad[2 * i] + v->pad[2 * i + 1] - (v->kernel[i] - 1) * v->dilation[i];
        int64_t over = reach % v->stride[i], *after = &v->pad[2 * i + 1];
        int64_t off_pad = over < *after ? over : *after;
        *after -= off_pad;
        if (over > off_pad)
            x = ti_b_tosa_slice_axis(lw, x, 1 + i, 0, v->in[i] - (over - off_pad));
    }
    return x;
}

/* The longest step that divides the stride and that the machine takes. */
static int64_t step_within(const tc_build *lw, int64_t stride)
{
    int64_t step = stride, most = lw->lower->target->machine->can.stride;
    while (step > most || stride % step)
        step--;
    return step;
}

/* With strides beyond the machine's: at shorter steps, of which those that are wanted are taken. */
static tc_val put_conv(tc_build *lw, tc_product *p, tc_op op, const window *v, tc_val x, tc_val w,
                       tc_val bias)
{
    int64_t step[MOST_AXES];
    for (int i = 0; i < v->axes; i++)
        step[i] = step_within(lw, v->stride[i]);
    tc_window_shape shape = {v->axes, v->pad, step, v->dilation};
    ti_put_blocks(lw, p, &x, &w);
    x = ti_put_long_conv(lw, p, op, x, w, bias, &shape);
    for (int i = 0; i < v->axes; i++) {
        int64_t times = v->stride[i] / step[i];
        if (x && times > 1)
            x = ti_put_stepped(lw, x, 1 + i, 0, times,
                               (ti_b_type(lw, x)->dim[1 + i] + times - 1) / times);
    }
    return x;
}

/* [c * m, 1, kh, kw] -> [kh, kw, c, m] */
static tc_val depthwise(tc_build *lw, const tc_node *node, tc_product *p, const window *v, tc_val x)
{
    int64_t dim[] = {v->kernel[0], v->kernel[1], v->channels, v->outputs / v->channels};
    int64_t last[] = {2, 3, 0, 1}, one[] = {2, 0, 1};
    tc_val w = ti_put_weights(lw, ti_lower_in(lw, node, 1), p->w->rank == 4 ? last : one, 4, dim);
    return put_conv(lw, p, TC_OP_tosa_depthwise_conv2d, v, x, w,
                    ti_product_bias(lw, node, p, 0, v->outputs));
}

/* The weights of one group, [oc, .., c]. */
static tc_val group_weights(tc_build *lw, tc_val w, const window *v, int64_t group)
{
    int64_t each = v->outputs / v->groups, perm[TC_MAX_RANK] = {0}, dim[TC_MAX_RANK] = {each};
    if (!w)
        return w;
    int rank = ti_b_type(lw, w)->rank;
    for (int i = 1; i < rank; i++)
        perm[i] = i + 1 < rank ? i + 1 : 1;
    for (int i = 0; i < v->axes; i++)
        dim[1 + i] = v->kernel[i];
    dim[1 + v->axes] = v->channels / v->groups;
    tc_tensor known = ti_b_constant(lw, w);
    if (v->groups == 1)
        return ti_put_weights(lw, w, perm, v->axes + 2, dim);
    if (!known.data)
        return ti_put_weights(lw, ti_b_tosa_slice_axis(lw, w, 0, group * each, each), perm,
                              v->axes + 2, dim);
    tc_type part = *known.type; /* a group's weights are contiguous */
    part.dim[0] = each;
    const tc_type *type = ti_type_intern(lw->ctx, &part);
    tc_val own =
        ti_b_data(lw, type, (const char *)known.data + (size_t)group * tc_type_bytes(type));
    return ti_put_weights(lw, own, perm, v->axes + 2, dim);
}

static tc_val grouped(tc_build *lw, const tc_node *node, tc_product *p, const window *v, tc_val x,
                      tc_val weights)
{
    int64_t each = v->outputs / v->groups, read = v->channels / v->groups;
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)v->groups);
    tc_op op = v->axes == 3 ? TC_OP_tosa_conv3d : TC_OP_tosa_conv2d;
    for (int64_t g = 0; g < v->groups; g++) {
        tc_val w = group_weights(lw, weights, v, g);
        tc_val own = ti_b_tosa_slice_axis(lw, x, v->axes + 1, g * read, read);
        tc_val made = put_conv(lw, p, op, v, own, w, ti_product_bias(lw, node, p, g * each, each));
        part[g] = ti_product_finish(lw, made, p, g * each, each);
    }
    return ti_put_join(lw, part, (int)v->groups, v->axes + 1);
}

/* ---- strides beyond the machine's ---- */

static bool strides_too_far(const tc_build *lw, const window *v, tc_tensor w)
{
    bool far = false, plain = v->axes == 2 && v->groups == 1 && w.data && w.type->dtype == TC_i8;
    for (int i = 0; i < v->axes; i++) {
        far = far || v->stride[i] > lw->lower->target->machine->can.stride;
        plain = plain && v->dilation[i] == 1;
    }
    return far && plain;
}

/* [n, h, w, c] with its borders, h and w multiples of the strides -> [n, h/s, w/s, s s c] */
static tc_val strides_as_channels(tc_build *lw, tc_val x, const tc_product *p, const window *v)
{
    int64_t border[8] = {0}, block[2];
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    for (int i = 0; i < 2; i++) {
        int64_t extent = t->dim[1 + i] + v->pad[2 * i] + v->pad[2 * i + 1], s = v->stride[i];
        block[i] = (extent + s - 1) / s;
        border[2 * (1 + i)] = v->pad[2 * i];
        border[2 * (1 + i) + 1] = v->pad[2 * i + 1] + block[i] * s - extent;
    }
    x = ti_b_tosa_pad(lw, x, border, (double)ti_product_x_zero(p));
    int64_t rows = v->stride[0], inner = v->stride[1] * v->channels;
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){v->batch * block[0], rows, block[1], inner});
    tc_val *row = tc_new_n(&lw->ctx->arena, tc_val, (size_t)rows);
    for (int64_t i = 0; i < rows; i++)
        row[i] = ti_b_tosa_reshape(lw, ti_b_tosa_slice_axis(lw, x, 1, i, 1), 4,
                                   (int64_t[]){v->batch, block[0], block[1], inner});
    return ti_put_join(lw, row, (int)rows, 3);
}

/* [o, c, kh, kw] -> [o, (sy, sx, c), ceil(kh/s), ceil(kw/s)], zeros where the kernel ends */
static tc_val strided_weights(tc_build *lw, tc_tensor w, const tc_product *p, const window *v)
{
    const int64_t *s = v->stride, *k = v->kernel;
    int64_t kh = (k[0] + s[0] - 1) / s[0], kw = (k[1] + s[1] - 1) / s[1],
            channels = s[0] * s[1] * v->channels;
    tc_type type = *w.type;
    type.rank = 4;
    memcpy(type.dim, (int64_t[]){v->outputs, channels, kh, kw}, 4 * sizeof *type.dim);
    const tc_type *t = ti_type_intern(lw->ctx, &type);
    int8_t *out = ti_arena_raw(&lw->ctx->arena, tc_type_bytes(t));
    const int8_t *in = w.data;
    memset(out, (int)ti_product_w_zero(p), tc_type_bytes(t));
    for (int64_t o = 0; o < v->outputs; o++)
        for (int64_t c = 0; c < v->channels; c++)
            for (int64_t y = 0; y < k[0]; y++)
                for (int64_t x = 0; x < k[1]; x++) {
                    int64_t at = (y % s[0] * s[1] + x % s[1]) * v->channels + c;
                    out[((o * channels + at) * kh + y / s[0]) * kw + x / s[1]] =
                        in[((o * v->channels + c) * k[0] + y) * k[1] + x];
                }
    return ti_b_data(lw, t, out);
}

static void strides_gone(window *v)
{
    v->channels *= v->stride[0] * v->stride[1];
    for (int i = 0; i < 2; i++) {
        v->kernel[i] = (v->kernel[i] + v->stride[i] - 1) / v->stride[i];
        v->stride[i] = 1;
        v->pad[2 * i] = v->pad[2 * i + 1] = 0;
    }
}

/* ---- three axes as two ---- */

/* [n,d,h,w,c]: the planes that tap k of the depth sees, one for each of `count` results. */
static tc_val planes(tc_build *lw, tc_val x, const window *v, int64_t k, int64_t count)
{
    return ti_put_stepped(lw, x, 1, k * v->dilation[0], v->stride[0], count);
}

/* Zero points before and after the planes. */
static tc_val pad_depth(tc_build *lw, tc_val x, const tc_product *p, const window *v)
{
    return ti_b_tosa_pad(lw, x, (int64_t[10]){[2] = v->pad[0], [3] = v->pad[1]},
                         (double)ti_product_x_zero(p));
}

/* Whether tap k of the depth sees anything but padding. */
static bool sees_input(const window *v, int64_t k, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i * v->stride[0] + k * v->dilation[0] - v->pad[0];
        if (at >= 0 && at < v->in[0])
            return true;
    }
    return false;
}

/* The window of one plane, of n of them. */
static window plane_of(const window *v, int64_t count)
{
    window flat = *v;
    flat.axes = 2;
    flat.batch = v->batch * count;
    for (int i = 0; i < 2; i++) {
        flat.in[i] = v->in[i + 1];
        flat.kernel[i] = v->kernel[i + 1];
        flat.stride[i] = v->stride[i + 1];
        flat.dilation[i] = v->dilation[i + 1];
        flat.pad[2 * i] = v->pad[2 * i + 2];
        flat.pad[2 * i + 1] = v->pad[2 * i + 3];
    }
    return flat;
}

/* [n,d,h,w,c] -> [n d, h, w, c] */
static tc_val as_batch(tc_build *lw, tc_val x)
{
    if (!x)
        return x;
    const int64_t *dim = ti_b_type(lw, x)->dim;
    return ti_b_tosa_reshape(lw, x, 4, (int64_t[]){dim[0] * dim[1], dim[2], dim[3], dim[4]});
}

/* [o, c, kd, kh, kw] of the taps in `tap` as [o, (taps, c), kh, kw]. */
static tc_val planes_of_weights(tc_build *lw, tc_tensor w, const int64_t *tap, int64_t taps)
{
    const int64_t *dim = w.type->dim;
    int64_t o = dim[0], c = dim[1], kd = dim[2], plane = dim[3] * dim[4];
    tc_type type = *w.type;
    type.rank = 4;
    memcpy(type.dim, (int64_t[]){o, taps * c, dim[3], dim[4]}, 4 * sizeof *type.dim);
    const tc_type *t = ti_type_intern(lw->ctx, &type);
    char *out = ti_arena_raw(&lw->ctx->arena, tc_type_bytes(t));
    const char *in = w.data;
    plane *= tc_dtypes[t->dtype].bytes;
    for (int64_t i = 0; i < o; i++)
        for (int64_t k = 0; k < taps; k++)
            for (int64_t ch = 0; ch < c; ch++)
                memcpy(out + ((i * taps + k) * c + ch) * plane,
                       in + ((i * c + ch) * kd + tap[k]) * plane, (size_t)plane);
    return ti_b_data(lw, t, out);
}

static bool is_flat(const tc_build *lw, const window *v, tc_tensor w)
{
    bool deep = lw->lower->target->machine->can.deep_kernels && v->in[0] > 1;
    return v->axes == 3 && v->groups == 1 && w.data && w.type->dtype == TC_i8 && !deep;
}

/* The planes that one result reads, concatenated as channels, and the weights likewise. */
static tc_val depth_as_channels(tc_build *lw, tc_val x, const tc_product *p, window *v, tc_tensor w,
                                tc_val *weights)
{
    int64_t count = p->y->dim[p->y->rank - 3], taps = 0,
            *tap = tc_new_n(&lw->ctx->arena, int64_t, (size_t)v->kernel[0]);
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)v->kernel[0]);
    x = pad_depth(lw, x, p, v);
    for (int64_t k = 0; k < v->kernel[0]; k++)
        if (sees_input(v, k, count) || (k + 1 == v->kernel[0] && !taps)) {
            part[taps] = planes(lw, x, v, k, count);
            tap[taps++] = k;
        }
    *weights = planes_of_weights(lw, w, tap, taps);
    *v = plane_of(v, count);
    v->channels *= taps;
    return as_batch(lw, ti_put_join(lw, part, (int)taps, 4));
}

/* Each channel by its own kernel: the sum over its planes of what each gives. */
static tc_val deep_depthwise(tc_build *lw, const tc_node *node, tc_product *p, const window *v,
                             tc_val x, tc_val w)
{
    int64_t count = p->y->dim[p->y->rank - 3], last[] = {2, 3, 0, 1};
    window flat = plane_of(v, count);
    int64_t dim[] = {flat.kernel[0], flat.kernel[1], v->channels, v->outputs / v->channels},
            plane[] = {v->outputs, 1, flat.kernel[0], flat.kernel[1]};
    tc_val sum = TC_NONE;
    double terms = (double)(v->kernel[0] * v->kernel[1] * v->kernel[2]);
    if (p->scale && terms * 256 * 256 >= ti_product_limit(lw, p->made)) {
        ti_lower_refuse(lw, "its sums are too long for their accumulator");
        return TC_NONE;
    }
    x = pad_depth(lw, x, p, v);
    for (int64_t k = 0; k < v->kernel[0]; k++) {
        if (!sees_input(v, k, count) && (sum || k + 1 < v->kernel[0]))
            continue;
        tc_tensor known = w ? ti_b_constant(lw, w) : (tc_tensor){0};
        tc_val own = known.data
                         ? planes_of_weights(lw, known, &k, 1)
                         : ti_b_tosa_reshape(lw, ti_b_tosa_slice_axis(lw, w, 2, k, 1), 4, plane);
        own = ti_put_weights(lw, own, last, 4, dim);
        tc_val bias =
            sum ? ti_b_single(lw, p->made, 1, 0) : ti_product_bias(lw, node, p, 0, v->outputs);
        tc_val in = as_batch(lw, planes(lw, x, v, k, count));
        tc_val made = put_conv(lw, p, TC_OP_tosa_depthwise_conv2d, &flat, in, own, bias);
        sum = sum ? ti_b_tosa_add(lw, sum, made) : made;
    }
    return sum;
}

/* [n d, h, w, c] as [n, d, h, w, c], of a result with three axes. */
static tc_val as_depth(tc_build *lw, tc_val x, const tc_type *y, int64_t batch, int64_t channels)
{
    const int64_t *dim = y->dim + y->rank - 3;
    return ti_b_tosa_reshape(lw, x, 5, (int64_t[]){batch, dim[0], dim[1], dim[2], channels});
}

void ti_lower_conv(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *w = ti_lower_type(lw, node, 1), *y = ti_lower_result(lw, node, 0);
    tc_product p;
    if (!ti_product_start(lw, node, w->dim[0], &p))
        return;
    if (w->dtype == TC_i16) {
        ti_lower_refuse(lw, "its weights are i16");
        return;
    }
    window v = window_of(node->attr, p.x, w);
    tc_val x = input(lw, ti_product_in(lw, node, 0), &v), weights = ti_product_in(lw, node, 1);
    tc_tensor known = weights ? ti_b_constant(lw, weights) : (tc_tensor){0};
    int64_t batch = v.batch, given = v.axes;
    if (is_flat(lw, &v, known)) {
        x = depth_as_channels(lw, x, &p, &v, known, &weights);
        known = ti_b_constant(lw, weights);
    }
    if (strides_too_far(lw, &v, known)) {
        x = strides_as_channels(lw, x, &p, &v);
        weights = strided_weights(lw, known, &p, &v);
        strides_gone(&v);
    }
    bool by_channel = v.groups > 1 && v.groups == v.channels;
    if (by_channel && v.axes == 2)
        x = depthwise(lw, node, &p, &v, x);
    else if (by_channel && p.made != TC_i48)
        x = deep_depthwise(lw, node, &p, &v, x, weights);
    else
        x = grouped(lw, node, &p, &v, x, weights);
    if (by_channel && (v.axes == 2 || p.made != TC_i48))
        x = ti_product_finish(lw, x, &p, 0, v.outputs);
    if (given == 3)
        x = as_depth(lw, x, y, batch, v.outputs);
    out[0] = ti_b_tosa_reshape(lw, ti_b_tosa_channels_first(lw, x), y->rank, y->dim);
}
