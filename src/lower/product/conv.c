/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c -- convolutions of one, two and three axes.
 *
 * One axis is two, the first of extent 1.  Groups of one input channel are DEPTHWISE_CONV2D; other
 * groups are convolutions of slices, joined.  TOSA wants strides to come out even: what the last
 * window does not reach is taken off the padding, then off the input. */
#include "../move/move.h"
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
static tc_val input(tc_lower *lw, tc_val x, window *v)
{
    int64_t dim[TC_MAX_RANK] = {v->batch, v->channels};
    for (int i = 0; i < v->axes; i++)
        dim[2 + i] = v->in[i];
    x = tc_put_channels_last(lw, tc_put_reshape(lw, x, v->axes + 2, dim));
    for (int i = 0; i < v->axes; i++) {
        int64_t reach =
            v->in[i] - 1 + v->pad[2 * i] + v->pad[2 * i + 1] - (v->kernel[i] - 1) * v->dilation[i];
        int64_t over = reach % v->stride[i], *after = &v->pad[2 * i + 1];
        int64_t off_pad = over < *after ? over : *after;
        *after -= off_pad;
        if (over > off_pad)
            x = tc_put_slice_axis(lw, x, 1 + i, 0, v->in[i] - (over - off_pad));
    }
    return x;
}

static tc_val put_conv(tc_lower *lw, const tc_product *p, tc_op op, const window *v, tc_val x,
                       tc_val w, tc_val bias)
{
    tc_window_shape shape = {v->axes, v->pad, v->stride, v->dilation};
    return tc_put_conv(lw, op, x, tc_product_x_zero(p), w, tc_product_w_zero(p), bias, &shape,
                       p->acc);
}

/* [c * m, 1, kh, kw] -> [kh, kw, c, m] */
static tc_val depthwise(tc_lower *lw, const tc_node *node, const tc_product *p, const window *v,
                        tc_val x)
{
    int64_t dim[] = {v->kernel[0], v->kernel[1], v->channels, v->outputs / v->channels};
    int64_t last[] = {2, 3, 0, 1}, one[] = {2, 0, 1};
    tc_val w = tc_put_weights(lw, tc_lower_in(lw, node, 1), p->w->rank == 4 ? last : one, 4, dim);
    return put_conv(lw, p, TC_OP_tosa_depthwise_conv2d, v, x, w,
                    tc_product_bias(lw, node, p, 0, v->outputs));
}

/* The weights of one group, [oc, .., c]. */
static tc_val group_weights(tc_lower *lw, tc_val w, const window *v, int64_t group)
{
    int64_t each = v->outputs / v->groups, perm[TC_MAX_RANK] = {0}, dim[TC_MAX_RANK] = {each};
    if (!w)
        return w;
    int rank = tc_put_type(lw, w)->rank;
    for (int i = 1; i < rank; i++)
        perm[i] = i + 1 < rank ? i + 1 : 1;
    for (int i = 0; i < v->axes; i++)
        dim[1 + i] = v->kernel[i];
    dim[1 + v->axes] = v->channels / v->groups;
    tc_tensor known = tc_put_known(lw, w);
    if (v->groups == 1)
        return tc_put_weights(lw, w, perm, v->axes + 2, dim);
    if (!known.data)
        return tc_put_weights(lw, tc_put_slice_axis(lw, w, 0, group * each, each), perm,
                              v->axes + 2, dim);
    tc_type part = *known.type; /* a group's weights lie together */
    part.dim[0] = each;
    const tc_type *type = tc_type_intern(lw->ctx, &part);
    tc_val own =
        tc_put_data(lw, type, (const char *)known.data + (size_t)group * tc_type_bytes(type));
    return tc_put_weights(lw, own, perm, v->axes + 2, dim);
}

static tc_val grouped(tc_lower *lw, const tc_node *node, const tc_product *p, const window *v,
                      tc_val x)
{
    int64_t each = v->outputs / v->groups, read = v->channels / v->groups;
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)v->groups);
    tc_op op = v->axes == 3 ? TC_OP_tosa_conv3d : TC_OP_tosa_conv2d;
    for (int64_t g = 0; g < v->groups; g++) {
        tc_val w = group_weights(lw, tc_lower_in(lw, node, 1), v, g);
        tc_val own = tc_put_slice_axis(lw, x, v->axes + 1, g * read, read);
        tc_val made = put_conv(lw, p, op, v, own, w, tc_product_bias(lw, node, p, g * each, each));
        part[g] = tc_product_finish(lw, made, p, g * each, each);
    }
    return tc_put_join(lw, part, (int)v->groups, v->axes + 1);
}

void tc_lower_conv(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_type *w = tc_lower_type(lw, node, 1), *y = tc_lower_result(lw, node, 0);
    tc_product p;
    if (!tc_product_start(lw, node, w->dim[0], &p))
        return;
    if (w->dtype == TC_i16) {
        tc_lower_refuse(lw, "its weights are i16");
        return;
    }
    window v = window_of(node->attr, p.x, w);
    tc_val x = input(lw, tc_lower_in(lw, node, 0), &v);
    if (v.axes == 2 && v.groups > 1 && v.groups == v.channels)
        x = tc_product_finish(lw, depthwise(lw, node, &p, &v, x), &p, 0, v.outputs);
    else
        x = grouped(lw, node, &p, &v, x);
    out[0] = tc_put_reshape(lw, tc_put_channels_first(lw, x), y->rank, y->dim);
}
