/* SPDX-License-Identifier: Apache-2.0 */
/* select_conv.c -- CONV2D, CONV3D, DEPTHWISE_CONV2D and TRANSPOSE_CONV2D of constant weights.
 *
 *   out = scale(sum (x - x_zp) (w - w_zp) + bias)
 *
 * The RESCALE after it is the scale stream; without one, U85 gives the accumulators as they are.
 *
 * All are windows over depth, rows and columns; an operation has two axes.  The third is one that
 * has a single tap, done output by output; if there is none, taps along columns are channels, which
 * are contiguous.  What else is too large for registers is cut (select_window.h).
 *
 *   TRANSPOSE_CONV2D   outputs by their remainder modulo the stride: each a convolution with
 *                      some of the taps, in reverse, that writes every so many rows and columns
 *   more taps than     are copied next to each other, as channels
 *   an operation has
 *   DEPTHWISE          of several results a channel, or with taps as channels: as a convolution of
 *                      16 channels at a time whose other weights are zeros */
#include "select_conv.h"

#include "../num/load.h"

enum { AXES = TC_CONV_AXES, TOGETHER = 16, MOST_TAPS = 64, MOST_WINDOW = 4096, MOST_EMPTY = 128, KEPT_ROWS = 4, KEPT_COLUMNS = 8 };

/* One element for all channels, or one each. */
static const int64_t *read_bias(tc_sel *s, tc_val v, int64_t channels)
{
    int64_t n, *out;
    const int64_t *x = ti_sel_numbers(s, v, &n);
    if (!x || n == channels)
        return x;
    out = tc_new_n(s->hw->arena, int64_t, (size_t)channels);
    for (int64_t i = 0; i < channels; i++)
        out[i] = x[0];
    return out;
}

/* Channels are contiguous: as they are in every view but a transposed or broadcast one. */
tc_view ti_sel_channels(tc_sel *s, const tc_node *node, tc_val v)
{
    tc_view view = ti_sel_view(s, v);
    int32_t last = view.rank - 1;
    if (s->hw->refused || last < 0 || view.dim[last] == 1 || view.stride[last] == 1)
        return view;
    tc_view copy = ti_sel_working(s, "channels last", s->hw->root[view.root].bytes, view.rank,
                                  view.dim);
    ti_sel_copy(s, node, &view, &copy);
    return copy;
}

/* int8 codes that are stored in memory as uint8 ones. */
static bool lies_unsigned(tc_sel *s, tc_val v, tc_view *out, int32_t *zero)
{
    const tc_node *down = s->value[v].made ? NULL : s->value[v].put_off;
    const tc_type *t = ti_type_of(s->g, v);
    tc_sel_scale q;
    if (!down || t->dtype != TC_i8 || !t->rank || !ti_sel_scale(s, down, &q))
        return false;
    tc_view view = ti_sel_view(s, down->in[0]);
    *zero = q.in_zero - q.out_zero;
    return !s->hw->refused && ti_view_reshape(&view, t->rank, t->dim, out) &&
           (t->dim[t->rank - 1] == 1 || out->stride[t->rank - 1] == 1);
}

tc_view ti_sel_codes(tc_sel *s, const tc_node *node, tc_val v, tc_npu_map *map)
{
    tc_view view;
    int32_t zero;
    if (!lies_unsigned(s, v, &view, &zero))
        return ti_sel_channels(s, node, v);
    map->is_signed = false;
    map->zero += zero;
    return view;
}

/* ---- the problem ---- */

/* Weights of one piece; pieces with the same taps have the same. */
typedef struct tc_sel_taps {
    tc_sel_steps tap[AXES];
    bool folded;
    const int16_t *v;
} taps;

/* The weights less their zero point, [o][kd][kh][kw][i]; once for all nodes that read them. */
static const int16_t *read_weights(tc_sel *s, const tc_node *node)
{
    tc_tensor x = ti_tensor_of(s->g, node->in[1]);
    const tc_type *t = x.type;
    int64_t n = tc_type_count(t), zero = ti_sel_number(s, node->in[4]);
    bool depthwise = node->op == TC_OP_tosa_depthwise_conv2d;
    struct {
        const void *data;
        int64_t zero, depthwise;
    } key = {x.data, zero, depthwise};
    void **place = ti_map_at(&s->hw->kernel, (tc_str){(const char *)&key, sizeof key});
    if (*place)
        return *place;
    int16_t *w = *place = ti_arena_raw(s->hw->arena, (size_t)n * sizeof *w + 1);
    int64_t c = depthwise ? t->dim[2] * t->dim[3] : 1, all = n / c;
    if (t->dtype == TC_i8 && c == 1) {
        for (int64_t i = 0; i < n; i++)
            w[i] = (int16_t)(((const int8_t *)x.data)[i] - zero);
        return w;
    }
    for (int64_t j = 0; j < all; j++)
        for (int64_t i = 0; i < c; i++)
            w[i * all + j] = (int16_t)(ti_load_i64(x, j * c + i) - zero);
    return w;
}

static tc_sel_kernel read_kernel(tc_sel *s, const tc_node *node)
{
    const tc_type *t = ti_type_of(s->g, node->in[1]);
    tc_sel_kernel k = {.v = read_weights(s, node), .tap = {1, 1, 1}};
    if (node->op != TC_OP_tosa_depthwise_conv2d) {
        k.o = t->dim[0];
        k.i = t->dim[t->rank - 1];
        memcpy(&k.tap[5 - t->rank], t->dim + 1, (size_t)(t->rank - 2) * sizeof *k.tap);
        return k;
    }
    k.o = t->dim[2] * t->dim[3];
    k.i = 1;
    k.tap[1] = t->dim[0];
    k.tap[2] = t->dim[1];
    return k;
}

/* Channels [at, at + n), as a convolution whose weights of other channels are zeros. */
static tc_sel_kernel spread(tc_sel *s, const tc_sel_kernel *k, int64_t per, int64_t at, int64_t n)
{
    tc_sel_kernel out = {.o = n * per, .i = n};
    memcpy(out.tap, k->tap, sizeof out.tap);
    int64_t all = k->tap[0] * k->tap[1] * k->tap[2];
    int16_t *w = tc_new_n(s->hw->arena, int16_t, (size_t)(out.o * all * n));
    for (int64_t o = 0; o < out.o; o++)
        for (int64_t t = 0; t < all; t++)
            w[(o * all + t) * n + o / per] = k->v[(at * per + o) * all + t];
    out.v = w;
    return out;
}

/* ---- axes ---- */

static tc_sel_axis axis_of(const tc_sel_conv *c, int axis)
{
    int64_t out = c->out.dim[axis + 1];
    if (c->beside)
        return ti_sel_axis(out, out, 1, 1, 1, 0);
    return ti_sel_axis(c->in.dim[axis + 1], out, c->k.tap[axis], c->stride[axis],
                       c->dilation[axis], c->before[axis]);
}

/* Output q, q + stride, ... of a transposed one:  y = i * stride + pad + k. */
static void cut_transposed(const tc_sel_conv *c, int axis, tc_sel_pieces *to,
                           const tc_sel_limits *limits)
{
    const tc_attr_tosa_transpose_conv *a = c->node->attr;
    int64_t stride = axis ? a->stride.v[axis - 1] : 1, pad = axis ? a->out_pad.v[2 * axis - 2] : 0,
            out = c->out.dim[axis + 1], all = c->k.tap[axis];
    for (int64_t q = 0; q < stride && q < out; q++) {
        int64_t first = ((q - pad) % stride + stride) % stride, ahead = (q - pad - first) / stride,
                n = first < all ? (all - first + stride - 1) / stride : 0;
        tc_sel_axis p = ti_sel_axis(c->in.dim[axis + 1], (out - q + stride - 1) / stride, n, 1, 1,
                                    n - 1 - ahead);
        p.out.at = q;
        p.out.step = stride;
        p.tap = (tc_sel_steps){first + stride * (n - 1), -stride, n};
        ti_sel_cut_axis(to, p, limits);
    }
}

bool ti_sel_is_wide(const tc_sel_conv *c)
{
    const int64_t *n = c->k.tap;
    return n[0] == 1 && n[2] > MOST_TAPS && n[1] <= MOST_TAPS && n[1] * n[2] <= MOST_WINDOW &&
           c->dilation[1] == 1 && c->dilation[2] == 1;
}

/* Pieces of all axes; gives the axis that is done output by output.  Taps along columns are
 * channels where every axis has several, or an operation has not so many. */
static int cut_axes(tc_sel_conv *c)
{
    bool beside = !c->depthwise && c->in.stride[3] == c->in.dim[4];
    int outer = 2;
    for (int i = AXES; i-- > 0;)
        if (c->k.tap[i] == 1 && (c->k.tap[outer] > 1 || c->out.dim[i + 1] <= c->out.dim[outer + 1]))
            outer = i;
    for (int i = 0; i < AXES; i++) {
        tc_sel_limits limits = {.taps = MOST_TAPS, .stride = 3, .dilation = 2};
        if (i == 2 && c->wide)
            limits.taps = (int32_t)(MOST_WINDOW / ti_min_i64(c->k.tap[1], MOST_TAPS));
        limits.folds = beside && i == 2 && c->k.tap[2] * c->in.dim[4] <= TC_HW_EXTENT;
        if (c->bias.root >= 0)
            limits.most = i == (outer == 0 ? 1 : 0) ? KEPT_ROWS : KEPT_COLUMNS;
        if (i == outer) {
            limits.single = true;
            limits.taps = c->k.tap[i] > 1 ? 0 : 1;
        }
        c->piece[i] = (tc_sel_pieces){.arena = c->s->hw->arena};
        if (c->node->op == TC_OP_tosa_transpose_conv2d && !c->beside)
            cut_transposed(c, i, &c->piece[i], &limits);
        else
            ti_sel_cut_axis(&c->piece[i], axis_of(c, i), &limits);
        if (c->piece[i].too_long)
            return -1;
    }
    return outer;
}

/* ---- operations ---- */

static bool same_taps(const taps *a, const taps *b)
{
    for (int i = 0; i < AXES; i++)
        if (a->tap[i].at != b->tap[i].at || a->tap[i].n != b->tap[i].n ||
            (a->tap[i].n > 1 && a->tap[i].step != b->tap[i].step))
            return false;
    return a->folded == b->folded;
}

/* In the order of the operation: of folded columns the taps after depth and rows, as channels. */
static const int16_t *weights_of(tc_sel_conv *c, const tc_sel_axis *const *a)
{
    const tc_sel_kernel *k = &c->k;
    taps t = {.tap = {a[0]->tap, a[1]->tap, a[2]->tap}, .folded = a[2]->folded};
    bool all = true;
    for (int i = 0; i < AXES; i++)
        all = all && !t.tap[i].at && t.tap[i].n == k->tap[i] &&
              (t.tap[i].n == 1 || t.tap[i].step == 1);
    if (all)
        return k->v;
    for (size_t i = 0; i < c->n_taps; i++)
        if (same_taps(&c->taps[i], &t))
            return c->taps[i].v;
    int16_t *w = tc_new_n(c->s->hw->arena, int16_t,
                          (size_t)(k->o * t.tap[0].n * t.tap[1].n * t.tap[2].n * k->i) + 1);
    int64_t n = 0;
    for (int64_t o = 0; o < k->o; o++)
        for (int64_t z = 0; z < t.tap[0].n; z++)
            for (int64_t y = 0; y < t.tap[1].n; y++)
                for (int64_t x = 0; x < t.tap[2].n; x++, n += k->i) {
                    int64_t at[AXES] = {t.tap[0].at + z * t.tap[0].step,
                                        t.tap[1].at + y * t.tap[1].step,
                                        t.tap[2].at + x * t.tap[2].step};
                    int64_t row = (o * k->tap[0] + at[0]) * k->tap[1] + at[1],
                            from = row * k->tap[2] + at[2];
                    memcpy(w + n, k->v + from * k->i, (size_t)k->i * sizeof *w);
                }
    t.v = w;
    tc_grow(c->s->hw->arena, c->taps, c->n_taps, c->cap_taps);
    c->taps[c->n_taps++] = t;
    return w;
}

static void emit(const tc_sel_conv *c, const tc_hw_op *op)
{
    if (c->bias.root < 0)
        ti_sel_emit(c->s, op);
    else
        ti_sel_emit_kept(c->s, op, &c->bias);
}

/* Outputs that meet nothing: the bias.  Weights of zero, and padding all but one row and column. */
static void emit_empty(tc_sel_conv *c, const tc_view *in, const tc_view *out)
{
    tc_hw_op op = c->op;
    int64_t i = c->depthwise ? c->k.o : 1;
    if (!c->zeros)
        c->zeros = tc_new_n(c->s->hw->arena, int16_t, (size_t)(c->k.o * i));
    op.weight = c->zeros;
    for (int64_t y = 0; y < out->dim[0]; y += MOST_EMPTY)
        for (int64_t x = 0; x < out->dim[1]; x += MOST_EMPTY) {
            int64_t h = ti_min_i64(MOST_EMPTY, out->dim[0] - y),
                    w = ti_min_i64(MOST_EMPTY, out->dim[1] - x);
            tc_view part = ti_view_slice(out, 0, y, h);
            op.ofm = ti_view_slice(&part, 1, x, w);
            op.ifm = ti_view_slice(in, 2, 0, i);
            op.ifm.dim[0] = op.ifm.dim[1] = 1;
            op.op.window = (tc_npu_window){1, 1, 1, 1, 1, 1, .top = (int32_t)h - 1,
                                           .left = (int32_t)w - 1};
            ti_sel_set_sizes(&op);
            emit(c, &op);
        }
}

/* The view without an axis. */
static tc_view without(const tc_view *v, int32_t axis)
{
    tc_view out = *v;
    out.rank--;
    for (int32_t i = axis; i < out.rank; i++) {
        out.dim[i] = v->dim[i + 1];
        out.stride[i] = v->stride[i + 1];
    }
    return out;
}

/* One piece of each axis; `outer` is that of which there is one output. */
static void emit_piece(tc_sel_conv *c, const tc_sel_axis *const *a, int outer, int64_t image)
{
    tc_hw_op op = c->op;
    tc_view in = ti_view_at(&c->in, image), out = ti_view_at(&c->out, image);
    bool empty = false;
    for (int i = 0; i < AXES; i++) {
        empty = empty || !a[i]->tap.n;
        tc_sel_steps n = a[i]->in;
        if (a[i]->folded) { /* windows of an output each, contiguous or overlapping */
            n.n = a[i]->out.n;
            n.step *= a[i]->stride;
        }
        in = ti_sel_steps_of(&in, i, &n);
        out = ti_sel_steps_of(&out, i, &a[i]->out);
    }
    int row = outer == 0 ? 1 : 0, column = outer == 2 ? 1 : 2;
    in = without(&in, outer);
    op.ofm = without(&out, outer);
    if (empty) {
        emit_empty(c, &in, &op.ofm);
        return;
    }
    op.weight = op.op.kind == TC_NPU_KIND_POOL ? NULL : weights_of(c, a);
    op.ifm = in;
    if (a[2]->folded)
        op.ifm.dim[2] *= a[2]->tap.n;
    ti_sel_set_window(&op, a[row], a[column]);
    emit(c, &op);
}

static bool emit_spread(tc_sel_conv *c, int64_t per);
static bool emit_contiguous(const tc_sel_conv *c);

bool ti_sel_emit_conv(tc_sel_conv *c)
{
    int outer = cut_axes(c);
    if (outer < 0)
        return c->depthwise ? emit_spread(c, 1) : !c->beside && !c->more && emit_contiguous(c);
    c->n_taps = 0;
    const tc_sel_pieces *p = c->piece;
    for (int64_t n = 0; n < c->out.dim[0]; n++)
        for (size_t z = 0; z < p[0].n; z++)
            for (size_t y = 0; y < p[1].n; y++)
                for (size_t x = 0; x < p[2].n; x++) {
                    const tc_sel_axis *const a[AXES] = {&p[0].v[z], &p[1].v[y], &p[2].v[x]};
                    emit_piece(c, a, outer, n);
                }
    return true;
}

/* More taps than an operation has: those of every output are copied next to each other, as channels. */
static bool emit_contiguous(const tc_sel_conv *c)
{
    tc_sel_conv part = *c;
    part.beside = true;
    part.k.i *= c->k.tap[0] * c->k.tap[1] * c->k.tap[2];
    part.k.tap[0] = part.k.tap[1] = part.k.tap[2] = 1;
    if (part.k.i > TC_HW_EXTENT)
        return false;
    part.in = ti_sel_taps_beside(c->s, c->node, &c->in, c->op.op.ifm.zero);
    return ti_sel_emit_conv(&part);
}

/* 16 channels at a time. */
static bool emit_spread(tc_sel_conv *c, int64_t per)
{
    tc_sel_conv part = *c;
    part.depthwise = false;
    part.op.op.kind = TC_NPU_KIND_CONV;
    for (int64_t at = 0, all = c->in.dim[4]; at < all; at += TOGETHER) {
        int64_t n = ti_min_i64(TOGETHER, all - at), first = at * per;
        part.k = spread(c->s, &c->k, per, at, n);
        part.in = ti_view_slice(&c->in, 4, at, n);
        part.out = ti_view_slice(&c->out, 4, first, n * per);
        part.op.bias = c->op.bias + first;
        part.op.factor = c->op.factor + first;
        part.op.shift = c->op.shift + first;
        part.zeros = NULL;
        if (c->bias.root >= 0)
            part.bias = ti_view_slice(&c->bias, 2, first, n * per);
        if (!ti_sel_emit_conv(&part))
            return false;
    }
    return true;
}

/* U85: sums of every channel's elements, with weights of 1, are quicker as a pool, but not along
 * one axis; outputs meet all taps. */
static void try_sum(tc_sel_conv *c)
{
    const tc_attr_tosa_conv *a = c->node->attr;
    tc_hw_op *op = &c->op;
    int64_t n = c->k.o * c->k.tap[0] * c->k.tap[1] * c->k.tap[2];
    bool alike = ti_hw_is_u85(c->s->hw) && c->depthwise && op->op.acc_bits == 32 &&
                 c->k.tap[1] > 1 && c->k.tap[2] > 1 && c->k.o == c->in.dim[4] && !a->pad.v[0] && !a->pad.v[1] && !a->pad.v[2] &&
                 !a->pad.v[3];
    for (int64_t i = 0; i < n && alike; i++)
        alike = c->k.v[i] == 1;
    for (int64_t i = 0; i < c->k.o && alike; i++)
        alike = !op->bias[i] && op->factor[i] == op->factor[0] && op->shift[i] == op->shift[0];
    bool wide = ti_sel_is_wide(c);
    if (!alike || (c->k.tap[2] > MOST_TAPS && !wide))
        return;
    c->wide = wide;
    op->op.kind = TC_NPU_KIND_POOL;
    op->op.mode = TC_POOL_SUM;
    op->op.param = TC_POOL_SUM;
    op->op.per_channel = false;
    op->op.ofm_scale.multiplier = (uint32_t)op->factor[0];
    op->op.ofm_scale.shift = op->shift[0];
    op->bias = NULL;
    op->factor = NULL;
    op->shift = NULL;
}

/* The RESCALE after it, or the accumulators themselves; gives where they go. */
static bool set_output(tc_sel_conv *c)
{
    tc_sel *s = c->s;
    const tc_node *node = c->node;
    tc_hw_op *op = &c->op;
    tc_val v =
        ti_sel_take_tail(s, op, node->out[0], (tc_sel_tail){.scaled = true, .channel = true});
    if (!op->factor) {
        if (op->op.acc_bits == 40) {
            ti_hw_refuse(s->hw, node, "its sums of 40 bits are read without a RESCALE");
            return false;
        }
        ti_sel_unit_scales(s, op, c->k.o);
        ti_sel_plain_output(s, &op->op, node->out[0]);
    } else
        v = ti_sel_take_tail(s, op, v, (tc_sel_tail){.bounds = op->op.ofm.bytes <= 2});
    c->out = ti_sel_result_of(s, node, v);
    return !s->hw->refused;
}

/* Sums to which the bias is added afterwards, or accumulators that start from it. */
static bool set_output_of_bias(tc_sel_conv *c)
{
    tc_sel *s = c->s;
    const tc_type *out = ti_type_of(s->g, c->node->out[0]);
    c->op.bias = tc_new_n(s->hw->arena, int64_t, (size_t)c->k.o);
    if (c->op.op.acc_bits == 40) {
        ti_hw_refuse(s->hw, c->node, "its bias is not constant");
        return false;
    }
    if (c->op.op.acc_bits == 48) {
        c->bias = ti_sel_kept_bias(s, c->node, c->node->in[2], c->k.o);
        return !s->hw->refused && set_output(c);
    }
    ti_sel_unit_scales(s, &c->op, c->k.o);
    ti_sel_plain_output(s, &c->op.op, c->node->out[0]);
    c->out = ti_sel_working(s, "sums", 4, out->rank, out->dim);
    return true;
}

static void set_axes(tc_sel_conv *c)
{
    const tc_attr_tosa_conv *a = c->node->attr;
    int ahead = ti_type_of(c->s->g, c->node->in[0])->rank == 5 ? 0 : 1;
    for (int i = 0; i < AXES; i++) {
        bool has = i >= ahead && c->node->op != TC_OP_tosa_transpose_conv2d;
        c->stride[i] = has ? a->stride.v[i - ahead] : 1;
        c->dilation[i] = has ? a->dilation.v[i - ahead] : 1;
        c->before[i] = has ? a->pad.v[2 * (i - ahead)] : 0;
    }
}

/* ---- many small operations as a larger one ---- */

/* Cycles, about, of the products of so many outputs; and of an operation before it has any. */
static double products(const tc_sel_conv *c, double outputs)
{
    const tc_sel_kernel *k = &c->k;
    double all = (double)(k->o * k->i * k->tap[0] * k->tap[1] * k->tap[2]) * c->op.op.ifm.bytes;
    return outputs * all * (c->depthwise ? 8 : 1) / c->s->hw->machine->macs;
}

static double beginning(const tc_sel_conv *c)
{
    const tc_sel_kernel *k = &c->k;
    double weights = (double)(k->o * k->i * k->tap[0] * k->tap[1] * k->tap[2]);
    return 100 + weights / (ti_hw_is_u85(c->s->hw) ? 4 : 1);
}

/* The kernel with zeros between its taps. */
static tc_sel_kernel with_gaps(tc_sel *s, const tc_sel_kernel *k, const int64_t *gap)
{
    tc_sel_kernel out = *k;
    for (int i = 0; i < AXES; i++)
        out.tap[i] = (k->tap[i] - 1) * gap[i] + 1;
    int64_t all = out.tap[0] * out.tap[1] * out.tap[2];
    int16_t *w = tc_new_n(s->hw->arena, int16_t, (size_t)(k->o * all * k->i));
    const int16_t *from = k->v;
    for (int64_t o = 0; o < k->o; o++)
        for (int64_t z = 0; z < k->tap[0]; z++)
            for (int64_t y = 0; y < k->tap[1]; y++)
                for (int64_t x = 0; x < k->tap[2]; x++, from += k->i) {
                    int64_t row = (o * out.tap[0] + z * gap[0]) * out.tap[1] + y * gap[1],
                            at = row * out.tap[2] + x * gap[2];
                    memcpy(w + at * k->i, from, (size_t)k->i * sizeof *w);
                }
    out.v = w;
    return out;
}

/* Dilation is outputs by their remainder, an operation each; or, of small planes, zeros in the
 * kernel. */
static void fill_gaps(tc_sel_conv *c)
{
    enum { DILATION = 2 };
    int64_t gap[AXES], parts = 1, outputs = 1;
    double wider = 1.25; /* zeros are quick to read, but are multiplied like all others */
    for (int i = 0; i < AXES; i++) {
        int64_t d = c->dilation[i], n = c->k.tap[i], out = c->out.dim[i + 1];
        gap[i] = 1;
        outputs *= out;
        if (d <= DILATION || n == 1 || out == 1)
            continue;
        if (c->stride[i] > 1 || (n - 1) * d >= MOST_TAPS)
            return;
        gap[i] = d % DILATION ? d : d / DILATION;
        parts *= ti_min_i64(d, out);
        wider *= (double)((n - 1) * gap[i] + 1) / (double)n;
    }
    double all = products(c, (double)outputs);
    if (parts == 1 || wider * all >= (double)parts * beginning(c) + all)
        return;
    c->k = with_gaps(c->s, &c->k, gap);
    for (int i = 0; i < AXES; i++)
        c->dilation[i] /= gap[i];
}

static bool emit_any(tc_sel_conv *c, int64_t per)
{
    return per > 1 ? emit_spread(c, per) : ti_sel_emit_conv(c);
}

/* Strides that no operation has are outputs one by one; or, of small planes, more outputs by a stride
 * that one has, of which some are left out. */
static bool emit_strides(tc_sel_conv *c, int64_t per)
{
    enum { STRIDE = 3 };
    tc_sel_conv more = *c;
    tc_sel_steps kept[AXES];
    int64_t dim[TC_VIEW_DIMS], parts = 1, bytes = c->op.op.ofm.bytes;
    memcpy(dim, c->out.dim, sizeof dim);
    for (int i = 0; i < AXES; i++) {
        int64_t n = c->out.dim[i + 1], less = ti_min_i64(c->stride[i], STRIDE);
        while (c->stride[i] % less)
            less--;
        kept[i] = (tc_sel_steps){0, n > 1 ? c->stride[i] / less : 1, n};
        dim[i + 1] = (n - 1) * kept[i].step + 1;
        more.stride[i] = n > 1 ? less : 1;
        parts *= kept[i].step > 1 && (i < 2 || c->depthwise) ? n : 1; /* columns may be channels */
    }
    double outputs = (double)(dim[1] * dim[2] * dim[3]), beside = beginning(c);
    bool small = outputs * (double)(c->k.o * bytes) <=
                 2.0 * (double)(ti_view_count(&c->in) / c->in.dim[0] * c->op.op.ifm.bytes);
    if (parts == 1 || !small || c->bias.root >= 0 ||
        products(c, outputs) + beside >= (double)parts * beside)
        return emit_any(c, per);
    more.more = true;
    more.out = ti_sel_working(c->s, "more", (uint8_t)bytes, 5, dim);
    tc_view from = more.out;
    for (int i = 0; i < AXES; i++)
        from = ti_sel_steps_of(&from, i + 1, &kept[i]);
    if (!emit_any(&more, per))
        return emit_any(c, per);
    ti_sel_copy(c->s, c->node, &from, &c->out);
    return true;
}

void ti_npu_select_conv(tc_sel *s, const tc_node *node)
{
    bool u85 = ti_hw_is_u85(s->hw);
    const tc_type *in = ti_type_of(s->g, node->in[0]), *out = ti_type_of(s->g, node->out[0]);
    tc_sel_conv c = {.s = s,
                     .node = node,
                     .depthwise = node->op == TC_OP_tosa_depthwise_conv2d,
                     .bias = {.root = TC_NO_ROOT}};
    if (out->dim[out->rank - 1] > TC_HW_EXTENT || in->dim[in->rank - 1] > TC_HW_EXTENT) {
        ti_hw_refuse(s->hw, node, "it has more than %d channels", TC_HW_EXTENT);
        return;
    }
    if (!ti_is_const(s->g, node->in[1])) {
        ti_sel_conv_dynamic(s, node);
        return;
    }
    c.op = ti_sel_op(s, node, c.depthwise ? TC_NPU_KIND_DEPTHWISE : TC_NPU_KIND_CONV, 0);
    c.k = read_kernel(s, node);
    tc_hw_op *op = &c.op;
    op->bias = read_bias(s, node->in[2], c.k.o);
    bool is_constant = op->bias != NULL;
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    ti_sel_map(&op->op.ifm, bytes, true, (int32_t)ti_sel_number(s, node->in[3]));
    op->op.acc_bits = bytes == 2 ? (u85 ? 48 : 40) : 32;
    op->op.ofm.c = (int32_t)c.k.o;
    op->op.per_channel = true;
    tc_view image = ti_sel_image(s, node);
    tc_sel_ways with_image = ti_sel_ways(s, node);
    tc_view from = ti_sel_codes(s, node, node->in[0], &op->op.ifm);
    if (s->hw->refused || !(is_constant ? set_output(&c) : set_output_of_bias(&c)))
        return;
    tc_view sums = c.out;
    c.in = ti_sel_volumes(&from);
    c.out = ti_sel_volumes(&c.out);
    set_axes(&c);
    fill_gaps(&c);
    if (is_constant)
        try_sum(&c);
    tc_sel_ways alone = ti_sel_ways(s, node);
    if (!emit_strides(&c, c.depthwise ? c.k.o / in->dim[3] : 1))
        ti_hw_refuse(s->hw, node, "its window is larger than one operation's");
    if (!is_constant && c.bias.root < 0)
        ti_sel_add_bias(s, node, &sums, node->in[2]);
    else if (is_constant && !s->hw->refused)
        ti_sel_conv_forms(&c, &image, &alone, image.root >= 0 ? &with_image : &alone);
}
