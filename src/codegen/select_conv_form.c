/* SPDX-License-Identifier: Apache-2.0 */
/* select_conv_form.c -- other forms of a convolution (form.def), the first two of int8.
 *
 *   PAIRS    1 x 1 from 17..32 channels to 2..16: two pixels of a row at a time, as twice the
 *            channels; the weights of one next to those of the other, zeros elsewhere
 *   PLANES   an image [c][h][w] is copied plane by plane into [h][w/2][2 c]; strides are [2, 1] then:
 *            tap k of channel c becomes tap floor((k - p)/2) of channel 2 c + (k - p) mod 2, p the
 *            padding on the left
 *   ZEROS    a transposed one of stride 2 x 2: output y meets place j of the input with a zero
 *            behind every row and column by tap y - pad - j, so that it is a convolution with the taps
 *            in reverse, pad + taps - 1 before the first; one operation, in place of one for each
 *            remainder of outputs */
#include "select_conv.h"

enum { ROW = 3, CHANNEL = 4, COLUMN = 2 }; /* axes of views; of kernels, strides and padding */

static bool is_plain(const tc_sel_conv *c)
{
    return c->node->op == TC_OP_tosa_conv2d && c->op.op.kind == TC_NPU_KIND_CONV &&
           c->op.op.ifm.bytes == 1 && c->in.dim[0] == 1 && c->k.tap[0] == 1;
}

static bool steps_by(const tc_sel_conv *c, int64_t stride)
{
    return c->stride[1] == stride && c->stride[2] == stride && c->dilation[1] == 1 &&
           c->dilation[2] == 1;
}

/* ---- PAIRS ---- */

static bool may_pair(const tc_sel_conv *c)
{
    enum { FROM = 32, TO = 16, MANY = 1024 };
    return c->k.tap[1] == 1 && c->k.tap[2] == 1 && steps_by(c, 1) && !c->before[1] &&
           !c->before[2] && c->k.i > TO && c->k.i <= FROM && c->k.o > 1 && c->k.o <= TO &&
           c->op.op.ofm.bytes == 1 && c->in.dim[ROW] % 2 == 0 &&
           c->in.dim[ROW] == c->out.dim[ROW] && c->in.dim[2] == c->out.dim[2] &&
           c->in.dim[2] * c->in.dim[ROW] >= MANY && c->in.stride[ROW] == c->k.i &&
           c->out.stride[ROW] == c->k.o;
}

/* [o][i] as [2 o][2 i]. */
static const int16_t *twice(tc_arena *arena, const tc_sel_kernel *k)
{
    int16_t *w = tc_new_n(arena, int16_t, (size_t)(4 * k->o * k->i));
    for (int64_t side = 0; side < 2; side++)
        for (int64_t o = 0; o < k->o; o++)
            memcpy(w + (side * k->o + o) * 2 * k->i + side * k->i, k->v + o * k->i,
                   (size_t)k->i * sizeof *w);
    return w;
}

static const void *again(tc_arena *arena, const void *data, int64_t n, size_t bytes)
{
    char *out = ti_arena_raw(arena, 2 * (size_t)n * bytes);
    memcpy(out, data, (size_t)n * bytes);
    memcpy(out + (size_t)n * bytes, data, (size_t)n * bytes);
    return out;
}

static void pair(tc_view *v)
{
    v->dim[ROW] /= 2;
    v->stride[ROW] *= 2;
    v->dim[CHANNEL] *= 2;
}

static bool emit_pairs(const tc_sel_conv *c)
{
    tc_arena *arena = c->s->hw->arena;
    tc_sel_conv p = *c;
    pair(&p.in);
    pair(&p.out);
    p.k.v = twice(arena, &c->k);
    p.k.o *= 2;
    p.k.i *= 2;
    p.op.op.ofm.c = (int32_t)p.k.o;
    p.op.bias = again(arena, c->op.bias, c->k.o, sizeof *p.op.bias);
    p.op.factor = again(arena, c->op.factor, c->k.o, sizeof *p.op.factor);
    p.op.shift = again(arena, c->op.shift, c->k.o, sizeof *p.op.shift);
    return ti_sel_emit_conv(&p);
}

/* ---- PLANES ---- */

tc_view ti_sel_image(const tc_sel *s, const tc_node *node)
{
    const tc_sel_value *v = &s->value[node->in[0]];
    tc_view none = {.root = TC_NO_ROOT};
    return v->lazy && v->readers == 1 && ti_sel_is_image(s->hw, &v->view) ? v->view : none;
}

static bool may_pair_columns(const tc_sel_conv *c, const tc_view *image)
{
    return image->root >= 0 && steps_by(c, 2) && c->in.dim[ROW] % 2 == 0 && c->k.tap[2] >= 2;
}

static int64_t half_down(int64_t v)
{
    return (v - (v & 1)) / 2;
}

/* [o][kh][kw][c] as [o][kh][taps][2 c] for pairs of columns, the first of which is `first` pairs from
 * the window's own. */
static const int16_t *paired_weights(const tc_sel_conv *c, int64_t first, int64_t taps)
{
    const tc_sel_kernel *k = &c->k;
    int64_t rows = k->o * k->tap[1];
    int16_t *w = tc_new_n(c->s->hw->arena, int16_t, (size_t)(rows * taps * 2 * k->i));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t x = 0; x < k->tap[2]; x++)
            for (int64_t i = 0; i < k->i; i++) {
                int64_t at = x - c->before[COLUMN], to = half_down(at) - first;
                w[(row * taps + to) * 2 * k->i + 2 * i + (at & 1)] =
                    k->v[(row * k->tap[2] + x) * k->i + i];
            }
    return w;
}

static bool emit_planes(const tc_sel_conv *c, const tc_view *image)
{
    tc_sel_conv p = *c;
    int64_t dim[] = {1, image->dim[1], image->dim[2] / 2, 2 * image->dim[3]},
            first = half_down(-c->before[COLUMN]),
            taps = half_down(c->k.tap[2] - 1 - c->before[COLUMN]) - first + 1;
    if (p.out.dim[ROW] - dim[2] + first + taps - 1 < 0)
        return false;
    tc_view pairs = ti_sel_working(c->s, "pairs of columns", 1, 4, dim);
    ti_sel_copy_planes(c->s, c->node, image, &pairs);
    p.in = ti_sel_volumes(&pairs);
    p.k.v = paired_weights(c, first, taps);
    p.k.tap[2] = taps;
    p.k.i *= 2;
    p.stride[COLUMN] = 1;
    p.before[COLUMN] = -first;
    return ti_sel_emit_conv(&p);
}

/* ---- ZEROS ---- */

static bool may_be_zeros(const tc_sel_conv *c)
{
    enum { MOST_BEFORE = 127, MOST_TAPS = 64 };
    if (c->node->op != TC_OP_tosa_transpose_conv2d || ti_hw_is_u85(c->s->hw)) /* U85: no stream has it */
        return false;
    const tc_attr_tosa_transpose_conv *a = c->node->attr;
    bool may = !c->beside && c->bias.root < 0;
    for (int i = 0; i < 2; i++) {
        int64_t before = a->out_pad.v[2 * i] + c->k.tap[i + 1] - 1;
        may = may && a->stride.v[i] == 2 && before >= 0 && before <= MOST_BEFORE &&
              c->k.tap[i + 1] <= MOST_TAPS;
    }
    return may;
}

/* Taps of both axes in reverse. */
static const int16_t *reversed(tc_arena *arena, const tc_sel_kernel *k)
{
    int64_t taps = k->tap[1] * k->tap[2];
    int16_t *w = tc_new_n(arena, int16_t, (size_t)(k->o * taps * k->i));
    for (int64_t o = 0; o < k->o; o++)
        for (int64_t t = 0; t < taps; t++)
            memcpy(w + (o * taps + t) * k->i, k->v + (o * taps + taps - 1 - t) * k->i,
                   (size_t)k->i * sizeof *w);
    return w;
}

/* Of so many inputs, outputs and taps: padding, and what the window slides over. */
static bool set_places(int64_t in, int64_t out, int64_t taps, int32_t before, int32_t *after,
                       int32_t *places)
{
    enum { MOST_AFTER = 255 };
    int64_t all = out + taps - 1 - before, n = ti_min_i64(all, 2 * in - 1);
    *places = (int32_t)n;
    *after = (int32_t)(all - n);
    return n > 0 && *after <= MOST_AFTER;
}

static bool emit_zeros(const tc_sel_conv *c)
{
    const tc_attr_tosa_transpose_conv *a = c->node->attr;
    int64_t kh = c->k.tap[1], kw = c->k.tap[2];
    tc_hw_op op = c->op;
    op.weight = reversed(c->s->hw->arena, &c->k);
    for (int64_t n = 0; n < c->out.dim[0]; n++) {
        tc_view in = ti_view_at(&c->in, n), out = ti_view_at(&c->out, n);
        op.ifm = ti_view_at(&in, 0);
        op.ofm = ti_view_at(&out, 0);
        tc_npu_window w = {.kh = (int32_t)kh,
                           .kw = (int32_t)kw,
                           .stride_y = 1,
                           .stride_x = 1,
                           .dilation_y = 1,
                           .dilation_x = 1,
                           .top = (int32_t)(a->out_pad.v[0] + kh - 1),
                           .left = (int32_t)(a->out_pad.v[2] + kw - 1),
                           .upscale = TC_UPSCALE_ZEROS};
        if (!set_places(op.ifm.dim[0], op.ofm.dim[0], kh, w.top, &w.bottom, &w.ih) ||
            !set_places(op.ifm.dim[1], op.ofm.dim[1], kw, w.left, &w.right, &w.iw))
            return false;
        op.ifm.dim[0] = (w.ih + 1) / 2;
        op.ifm.dim[1] = (w.iw + 1) / 2;
        ti_sel_set_sizes(&op);
        op.op.window = w;
        ti_sel_emit(c->s, &op);
    }
    return true;
}

/* ---- WIDE ---- */

static bool may_be_wide(const tc_sel_conv *c)
{
    bool one = !c->depthwise || c->k.o == c->in.dim[4];
    return one && !c->wide && !c->beside && c->bias.root < 0 && c->op.factor && ti_sel_is_wide(c) &&
           c->node->op != TC_OP_tosa_transpose_conv2d;
}

static bool emit_wide(const tc_sel_conv *c)
{
    tc_sel_conv wide = *c;
    wide.wide = true;
    return ti_sel_emit_conv(&wide);
}

/* ---- */

void ti_sel_conv_forms(const tc_sel_conv *c, const tc_view *image, tc_sel_ways *alone, tc_sel_ways *ways)
{
    if (c->s->hw->judges || c->s->hw->n_op == alone->first)
        return;
    if (may_be_zeros(c)) {
        ti_sel_plain(alone);
        ti_sel_form(alone, TC_SEL_ZEROS, emit_zeros(c));
    }
    if (may_be_wide(c)) {
        ti_sel_plain(alone);
        ti_sel_form(alone, TC_SEL_WIDE, emit_wide(c));
        return;
    }
    if (!is_plain(c))
        return;
    bool pairs = may_pair(c), planes = may_pair_columns(c, image);
    if (image->root >= 0 ? !planes : !pairs)
        return;
    ti_sel_plain(ways);
    if (planes)
        ti_sel_form(ways, TC_SEL_PLANES, emit_planes(c, image));
    else
        ti_sel_form(ways, TC_SEL_PAIRS, emit_pairs(c));
}
