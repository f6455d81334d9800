/* SPDX-License-Identifier: Apache-2.0 */
/* move_window.c -- windows and blocks: views with strides, and axes split, exchanged and merged. */
#include "lower_move.h"

static void steps(const tc_type *t, int64_t *step)
{
    int64_t walk = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = walk;
        walk *= t->dim[i];
    }
}

void ti_lower_as_strided(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_as_strided *a = node->attr;
    tc_stride axis[TC_MAX_RANK];
    for (int i = 0; i < a->size.n; i++)
        axis[i] = (tc_stride){a->size.v[i], a->stride.v[i]};
    out[0] = ti_put_strided(lw, ti_move_in(lw, node, 0), a->offset, a->size.n, axis);
}

void ti_lower_unfold(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_unfold *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t step[TC_MAX_RANK];
    steps(t, step);
    tc_stride axis[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        axis[i] = (tc_stride){y->dim[i], i == a->axis ? step[i] * a->step : step[i]};
    axis[t->rank] = (tc_stride){a->size, t->rank ? step[a->axis] : 1};
    out[0] = ti_put_strided(lw, ti_move_in(lw, node, 0), 0, y->rank, axis);
}

/* The stored zero. */
static double zero_of(const tc_type *t) { return t->quant ? (double)t->quant->zero[0] : 0; }

/* [n,c,h,w] (or without n) -> [n, c kh kw, oh ow]. */
void ti_lower_im2col(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_im2col *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    const int64_t *spatial = t->dim + t->rank - 2;
    int64_t n = t->rank == 4 ? t->dim[0] : 1, c = t->dim[t->rank - 3], count[2], dim[2];
    for (int i = 0; i < 2; i++) {
        dim[i] = spatial[i] + 2 * a->pad.v[i];
        count[i] = (dim[i] - a->dilation.v[i] * (a->kernel.v[i] - 1) - 1) / a->stride.v[i] + 1;
    }
    tc_val x = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 0), 4,
                                 (int64_t[]){n, c, spatial[0], spatial[1]});
    x = ti_b_tosa_pad(lw, x,
                      (int64_t[]){0, 0, 0, 0, a->pad.v[0], a->pad.v[0], a->pad.v[1], a->pad.v[1]},
                      zero_of(y));
    tc_stride axis[] = {{n * c, dim[0] * dim[1]},
                        {a->kernel.v[0], a->dilation.v[0] * dim[1]},
                        {a->kernel.v[1], a->dilation.v[1]},
                        {count[0], a->stride.v[0] * dim[1]},
                        {count[1], a->stride.v[1]}};
    x = ti_put_strided(lw, x, 0, 5, axis);
    out[0] = ti_b_tosa_reshape(lw, x, y->rank, y->dim);
}

/* x [n,c,oh,ow] spread by the strides into [n,c,h,w], its first element at (top, left); zeros
 * elsewhere. */
static tc_val spread(tc_build *lw, tc_val x, const int64_t *stride, const int64_t *at,
                     const int64_t *size)
{
    if (!x)
        return x;
    int64_t n = ti_b_type(lw, x)->dim[0], oh = ti_b_type(lw, x)->dim[1],
            ow = ti_b_type(lw, x)->dim[2];
    x = ti_b_tosa_reshape(lw, x, 5, (int64_t[]){n, oh, 1, ow, 1});
    x = ti_b_tosa_pad(lw, x, (int64_t[]){0, 0, 0, 0, 0, stride[0] - 1, 0, 0, 0, stride[1] - 1}, 0);
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){n, oh * stride[0], ow * stride[1]});
    int64_t span[] = {(oh - 1) * stride[0] + 1, (ow - 1) * stride[1] + 1};
    x = ti_b_tosa_slice(lw, x, (int64_t[]){0, 0, 0}, (int64_t[]){n, span[0], span[1]});
    return ti_b_tosa_pad(
        lw, x,
        (int64_t[]){0, 0, at[0], size[0] - at[0] - span[0], at[1], size[1] - at[1] - span[1]}, 0);
}

/* Every tap of the kernel spread over the padded plane, summed; then the padding goes. */
static tc_val fold_sum(tc_build *lw, tc_val x, const tc_attr_col2im *a, int64_t planes)
{
    int64_t size[2], count[2];
    for (int i = 0; i < 2; i++) {
        size[i] = a->size.v[i] + 2 * a->pad.v[i];
        count[i] = (size[i] - a->dilation.v[i] * (a->kernel.v[i] - 1) - 1) / a->stride.v[i] + 1;
    }
    int64_t places = a->kernel.v[0] * a->kernel.v[1];
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){planes, places, count[0], count[1]});
    tc_val sum = TC_NONE;
    for (int64_t k = 0; k < places; k++) {
        int64_t at[] = {k / a->kernel.v[1] * a->dilation.v[0],
                        k % a->kernel.v[1] * a->dilation.v[1]};
        tc_val one = ti_b_tosa_reshape(lw, ti_b_tosa_slice_axis(lw, x, 1, k, 1), 3,
                                       (int64_t[]){planes, count[0], count[1]});
        one = spread(lw, one, a->stride.v, at, size);
        sum = sum ? ti_b_tosa_add(lw, sum, one) : one;
    }
    return ti_b_tosa_slice(lw, sum, (int64_t[]){0, a->pad.v[0], a->pad.v[1]},
                           (int64_t[]){planes, a->size.v[0], a->size.v[1]});
}

/* Quantized elements are summed as 32-bit steps of the operand's scale. */
void ti_lower_col2im(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_col2im *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t planes = tc_type_count(y) / (a->size.v[0] * a->size.v[1]);
    tc_val x = ti_lower_in(lw, node, 0);
    if (t->quant && (!ti_is_activation(t) || !ti_is_activation(y))) {
        ti_lower_refuse(lw, "only its operand or only its result is quantized");
        return;
    }
    if (t->quant)
        x = ti_put_rescale(lw, x, 1, ti_zero_of(t), 0, TC_i32);
    x = fold_sum(lw, x, a, planes);
    if (t->quant)
        x = ti_put_codes(
            lw, ti_put_rescale(lw, x, ti_scale_of(t) / ti_scale_of(y), 0, ti_zero_of(y), y->dtype),
            y->quant);
    out[0] = ti_b_tosa_reshape(lw, x, y->rank, y->dim);
}

/* x as [planes, a, b, ...] of six axes, its axes exchanged, and the result's shape. */
static tc_val blocks(tc_build *lw, const tc_node *node, int rank, const int64_t *dim,
                     const int64_t *perm)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_val x = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 0), rank, dim);
    return ti_b_tosa_reshape(lw, ti_b_tosa_transpose(lw, x, perm), y->rank, y->dim);
}

/* ---- blocks of 2 x 2 on an NPU: a convolution by zeros and ones costs a tenth of moving six axes
 * ---- */

/* Whether the rule may multiply: elements of 8 bits, few channels in a block. */
static bool as_product(const tc_build *lw, const tc_node *node, int64_t r)
{
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t most =
        t->dim[t->rank - 3] > y->dim[y->rank - 3] ? t->dim[t->rank - 3] : y->dim[y->rank - 3];
    return r == 2 && ti_is_activation(t) && t->dtype == TC_i8 && t->rank == 4 &&
           most <= lw->lower->target->machine->cost.block_channels;
}

/* By a kernel [out,2,2,in] of zeros and ones: one where channel oc, or ic, is that of the position
 * in the block. */
static tc_val by_ones(tc_build *lw, const tc_node *node, bool apart)
{
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t in = t->dim[1], n = y->dim[1], dim[] = {n, 2, 2, in};
    double *one = tc_new_n(&lw->ctx->arena, double, (size_t)(n * 4 * in));
    for (int64_t few = 0; few < (apart ? n : in); few++)
        for (int64_t place = 0; place < 4; place++) {
            int64_t many = few * 4 + place, oc = apart ? few : many, ic = apart ? many : few;
            one[(oc * 4 + place) * in + ic] = 1;
        }
    tc_val x = ti_b_tosa_channels_last(lw, ti_move_in(lw, node, 0)),
           w = ti_b_numbers(lw, TC_i8, 4, dim, one);
    tc_attr_tosa_transpose_conv *spread = tc_new(&lw->ctx->arena, tc_attr_tosa_transpose_conv);
    tc_attr_tosa_conv *gather = tc_new(&lw->ctx->arena, tc_attr_tosa_conv);
    tc_ints two = ti_ints_fill(&lw->ctx->arena, 2, 2), none = ti_ints_fill(&lw->ctx->arena, 0, 4);
    *spread = (tc_attr_tosa_transpose_conv){.out_pad = none, .stride = two, .acc_type = TC_i32};
    *gather = (tc_attr_tosa_conv){.pad = none,
                                  .stride = two,
                                  .dilation = ti_ints_fill(&lw->ctx->arena, 1, 2),
                                  .acc_type = TC_i32};
    tc_val operand[5] = {x, w, ti_b_single(lw, TC_i32, 1, 0)};
    operand[3] = ti_b_zero_point(lw, x, ti_zero_of(t));
    operand[4] = ti_b_zero_point(lw, w, 0);
    tc_val acc = ti_b_op(lw, apart ? TC_OP_tosa_transpose_conv2d : TC_OP_tosa_conv2d,
                         apart ? (const void *)spread : gather, operand, 5);
    return ti_b_tosa_channels_first(lw, ti_put_rescale(lw, acc, 1, 0, ti_zero_of(t), TC_i8));
}

/* [.., c r r, h, w] -> [.., c, h r, w r]. */
void ti_lower_pixel_shuffle(tc_build *lw, const tc_node *node, tc_val *out)
{
    int64_t r = ((const tc_attr_factor *)node->attr)->factor;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t h = t->dim[t->rank - 2], w = t->dim[t->rank - 1],
            planes = tc_type_count(t) / (h * w * r * r);
    out[0] = as_product(lw, node, r)
                 ? by_ones(lw, node, true)
                 : blocks(lw, node, 5, (int64_t[]){planes, r, r, h, w}, (int64_t[]){0, 3, 1, 4, 2});
}

void ti_lower_pixel_unshuffle(tc_build *lw, const tc_node *node, tc_val *out)
{
    int64_t r = ((const tc_attr_factor *)node->attr)->factor;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t h = t->dim[t->rank - 2] / r, w = t->dim[t->rank - 1] / r,
            planes = tc_type_count(t) / (h * w * r * r);
    out[0] = as_product(lw, node, r)
                 ? by_ones(lw, node, false)
                 : blocks(lw, node, 5, (int64_t[]){planes, h, r, w, r}, (int64_t[]){0, 2, 4, 1, 3});
}

/* [n, g c, ..] -> [n, c g, ..]. */
void ti_lower_channel_shuffle(tc_build *lw, const tc_node *node, tc_val *out)
{
    int64_t g = ((const tc_attr_factor *)node->attr)->factor;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t n = t->dim[0], c = t->dim[1] / g, rest = tc_type_count(t) / (n * g * c);
    out[0] = blocks(lw, node, 4, (int64_t[]){n, g, c, rest}, (int64_t[]){0, 2, 1, 3});
}
