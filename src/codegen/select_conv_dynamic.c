/* SPDX-License-Identifier: Apache-2.0 */
/* select_conv_dynamic.c -- convolutions whose weights are not constant, and biases that are not.
 *
 *   CONV2D, CONV3D,     what each output's taps meet, contiguous: [outputs][taps * channels];
 *   TRANSPOSE_CONV2D    then the product of two matrices (select_matmul.c)
 *   DEPTHWISE_CONV2D    8 bits: tap by tap a product of elements, and a sum
 *                       16 bits: the product of matrices for every channel
 *
 * A bias of 32 bits is added afterwards.  One of 48 bits is where accumulators start, which an
 * operation keeps that is one block. */
#include "select_window.h"

enum { AXES = 3, KEPT_ROWS = 4, KEPT_COLUMNS = 8, KEPT_CHANNELS = 64 };

/* ---- biases ---- */

static bool is_zero(tc_sel *s, tc_val v)
{
    int64_t n;
    const int64_t *x = ti_sel_numbers(s, v, &n);
    for (int64_t i = 0; x && i < n; i++)
        if (x[i])
            return false;
    return x != NULL;
}

/* sums + bias */
void ti_sel_add_bias(tc_sel *s, const tc_node *node, const tc_view *sums, tc_val bias)
{
    tc_sel_operand a = ti_sel_operand_of(sums, 4), b = ti_sel_operand(s, bias);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
    tc_view to = ti_sel_result(s, node->out[0]);
    ti_sel_combine(s, &op, true, &a, &b, &to);
}

tc_view ti_sel_kept_bias(tc_sel *s, const tc_node *node, tc_val bias, int64_t channels)
{
    const int64_t dim[] = {KEPT_ROWS, KEPT_COLUMNS, channels};
    tc_view v = ti_sel_view(s, bias), to = ti_sel_working(s, "bias", 8, 3, dim);
    s->hw->root[to.root].h = 0;
    if (s->hw->refused)
        return to;
    v = ti_view_broadcast(&v, 3, dim);
    ti_sel_spread(s, node, &v, &to);
    return to;
}

/* Accumulators of one block from the bias, and the operation that goes on with them. */
static void emit_block(tc_sel *s, const tc_hw_op *op, const tc_view *bias)
{
    tc_hw_op start = ti_sel_op(s, op->node, TC_NPU_KIND_POOL, TC_POOL_NONE), then = *op;
    ti_sel_map(&start.op.ifm, 1, true, 0);
    start.op.ifm.used = false;
    ti_sel_map(&start.op.ifm2, 8, true, 0);
    start.op.ofm = op->op.ofm;
    start.op.ofm.used = false;
    start.op.ofm.bytes = 8;
    start.op.ofm.zero = 0;
    start.op.ofm.storage = TC_STORE_NONE;
    start.op.acc_bits = 48;
    start.op.acc_input = 2;
    start.op.acc_output = false;
    start.op.clip = 1;
    start.op.lo = INT16_MIN;
    start.op.hi = -1;
    start.ifm2 = *bias;
    memcpy(start.ifm2.dim, op->ofm.dim, 3 * sizeof *start.ifm2.dim);
    start.op.ifm2.h = start.op.window.ih = op->op.ofm.h;
    start.op.ifm2.w = start.op.window.iw = op->op.ofm.w;
    start.op.ifm2.c = start.op.depth = op->op.ofm.c;
    then.op.acc_input = 1;
    ti_sel_emit(s, &start);
    ti_sel_emit(s, &then);
}

void ti_sel_emit_kept(tc_sel *s, const tc_hw_op *op, const tc_view *bias)
{
    int64_t c = op->op.ofm.c, taps = (int64_t)op->op.window.kh * op->op.window.kw;
    bool depthwise = op->op.kind == TC_NPU_KIND_DEPTHWISE;
    for (int64_t at = 0; at < c; at += KEPT_CHANNELS) {
        int64_t n = ti_min_i64(KEPT_CHANNELS, c - at);
        tc_hw_op part = *op;
        tc_view b = ti_view_slice(bias, 2, at, n);
        part.ofm = ti_view_slice(&op->ofm, 2, at, n);
        part.op.ofm.c = (int32_t)n;
        if (depthwise) {
            part.ifm = ti_view_slice(&op->ifm, 2, at, n);
            part.op.ifm.c = part.op.depth = (int32_t)n;
        }
        if (op->op.weights_ifm2) {
            part.ifm2 = ti_view_slice(&op->ifm2, 1, at, n);
            part.op.ifm2.w = (int32_t)n;
        } else {
            part.weight += at * taps * (depthwise ? 1 : op->op.ifm.c);
            part.bias += at;
            part.factor += at;
            part.shift += at;
        }
        emit_block(s, &part, &b);
    }
}

/* ---- contiguous taps ---- */

/* How outputs and inputs of an axis meet at a tap. */
typedef struct meeting {
    tc_sel_steps in, out;
} meeting;

static meeting meet(const tc_node *node, int axis, int64_t in, int64_t out, int64_t tap)
{
    const tc_attr_tosa_transpose_conv *t = node->attr;
    const tc_attr_tosa_conv *a = node->attr;
    bool back = node->op == TC_OP_tosa_transpose_conv2d;
    int at = axis - (node->op == TC_OP_tosa_conv3d ? 0 : 1);
    if (at < 0)
        return (meeting){{0, 1, in}, {0, 1, out}};
    /* to = from * stride + ahead:  from outputs to inputs, or back. */
    int64_t stride = back ? t->stride.v[at] : a->stride.v[at],
            ahead = back ? t->out_pad.v[2 * at] + tap : tap * a->dilation.v[at] - a->pad.v[2 * at],
            many = back ? in : out, room = back ? out : in;
    int64_t lo = ahead < 0 ? (-ahead + stride - 1) / stride : 0,
            hi = room - 1 < ahead ? 0 : ti_min_i64(many, (room - 1 - ahead) / stride + 1),
            n = ti_max_i64(0, hi - lo);
    tc_sel_steps from = {lo, 1, n}, to = {lo * stride + ahead, stride, n};
    return back ? (meeting){from, to} : (meeting){to, from};
}

typedef struct walk {
    tc_sel *s;
    const tc_node *node;
    tc_view in;             /* [n][d][h][w][c] */
    int64_t out[5], tap[AXES];
} walk;

/* What tap t meets: of the input, and of a view [n][d][h][w].. of outputs; false: nothing. */
static bool meets(const walk *w, int64_t t, const tc_view *to, tc_view *from, tc_view *place)
{
    int64_t tap[AXES] = {t / (w->tap[1] * w->tap[2]), t / w->tap[2] % w->tap[1], t % w->tap[2]};
    *from = w->in;
    *place = *to;
    for (int i = 0; i < AXES; i++) {
        meeting m = meet(w->node, i, w->in.dim[i + 1], w->out[i + 1], tap[i]);
        if (!m.in.n)
            return false;
        *from = ti_sel_steps_of(from, i + 1, &m.in);
        *place = ti_sel_steps_of(place, i + 1, &m.out);
    }
    return true;
}

static int64_t taps_of(const walk *w)
{
    return w->tap[0] * w->tap[1] * w->tap[2];
}

/* [n][d][h][w][slots]: tap t's channel c at t * tap_step + c * c_step. */
static tc_view side_by_side(const walk *w, int64_t zero, int64_t tap_step, int64_t c_step)
{
    int64_t taps = taps_of(w), c = w->in.dim[4], outputs = ti_view_count(&w->in) / c,
            dim[5] = {w->out[0], w->out[1], w->out[2], w->out[3], taps * c};
    tc_view to, from, place;
    if (taps == 1 && meets(w, 0, &w->in, &from, &place) &&
        ti_view_count(&from) == ti_view_count(&w->in) &&
        outputs == dim[0] * dim[1] * dim[2] * dim[3])
        return w->in;
    to = ti_sel_working(w->s, "taps", w->s->hw->root[w->in.root].bytes, 5, dim);
    bool whole = true;
    for (int64_t t = 0; t < taps; t++)
        whole = whole && meets(w, t, &to, &from, &place) &&
                ti_view_count(&place) == ti_view_count(&to);
    if (!whole)
        ti_sel_fill(w->s, w->node, &to, zero);
    for (int64_t t = 0; t < taps && !w->s->hw->refused; t++) {
        tc_view slot = ti_view_slice(&to, 4, t * tap_step, c);
        slot.stride[4] = c_step;
        if (meets(w, t, &slot, &from, &place))
            ti_sel_copy(w->s, w->node, &from, &place);
    }
    return to;
}

/* ---- products ---- */

static walk walk_over(tc_sel *s, const tc_node *node, const tc_view *in)
{
    const tc_type *out = ti_type_of(s->g, node->out[0]), *k = ti_type_of(s->g, node->in[1]);
    walk w = {.s = s, .node = node, .in = *in, .tap = {1, 1, 1}};
    w.out[0] = out->dim[0];
    w.out[1] = 1;
    memcpy(&w.out[6 - out->rank], out->dim + 1, (size_t)(out->rank - 1) * sizeof *w.out);
    if (node->op == TC_OP_tosa_depthwise_conv2d)
        memcpy(w.tap + 1, k->dim, 2 * sizeof *w.tap);
    else
        memcpy(&w.tap[5 - k->rank], k->dim + 1, (size_t)(k->rank - 2) * sizeof *w.tap);
    return w;
}

static walk walk_of(tc_sel *s, const tc_node *node)
{
    tc_view in = ti_sel_channels(s, node, node->in[0]);
    in = s->hw->refused ? in : ti_sel_volumes(&in);
    return walk_over(s, node, &in);
}

tc_view ti_sel_taps_beside(tc_sel *s, const tc_node *node, const tc_view *in, int64_t zero)
{
    walk w = walk_over(s, node, in);
    return side_by_side(&w, zero, in->dim[4], 1);
}

/* The weights as wide as the input, less their zero point if that takes an operation. */
static tc_view widened(tc_sel *s, const tc_node *node, tc_view w, uint8_t bytes, int32_t *zero)
{
    uint8_t had = s->hw->root[w.root].bytes;
    if (had == bytes)
        return w;
    tc_sel_operand a = ti_sel_operand_of(&w, had), b = ti_sel_operand_number(0, had);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, bytes);
    tc_view to = ti_sel_working(s, "weights", bytes, w.rank, w.dim);
    a.zero = *zero;
    *zero = 0;
    ti_sel_combine(s, &op, true, &a, &b, &to);
    return to;
}

/* The view, copied where it cannot be of this shape. */
static tc_view shaped(tc_sel *s, const tc_node *node, const tc_view *v, int32_t rank,
                      const int64_t *dim)
{
    tc_view out;
    if (ti_view_reshape(v, rank, dim, &out) && (dim[rank - 1] == 1 || out.stride[rank - 1] == 1))
        return out;
    tc_view copy = ti_sel_working(s, "in order", s->hw->root[v->root].bytes, v->rank, v->dim);
    ti_sel_copy(s, node, v, &copy);
    ti_view_reshape(&copy, rank, dim, &out);
    return out;
}

static void conv(tc_sel *s, const tc_node *node, const int32_t zero[2])
{
    walk w = walk_of(s, node);
    tc_view k = ti_sel_view(s, node->in[1]);
    if (s->hw->refused)
        return;
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    int64_t c = w.in.dim[4], oc = w.out[4], n = w.out[0] * w.out[1] * w.out[2] * w.out[3];
    int64_t depth = taps_of(&w) * c;
    tc_sel_product p = {.zero = {zero[0], zero[1]}};
    k = widened(s, node, k, bytes, &p.zero[1]);
    tc_view x = side_by_side(&w, zero[0], c, 1);
    x = shaped(s, node, &x, 3, (int64_t[]){1, n, depth});
    k = shaped(s, node, &k, 3, (int64_t[]){1, oc, depth});
    p.direct = is_zero(s, node->in[2]);
    if (!p.direct && bytes == 2)
        p.bias = ti_sel_kept_bias(s, node, node->in[2], oc);
    else
        p.bias.root = TC_NO_ROOT;
    p.direct = p.direct || bytes == 2;
    ti_sel_product_of(s, node, &p, &x, &k, node->in[2]);
}

/* ---- channel by channel ---- */

/* acc[outputs] += x * w, tap by tap. */
static void depthwise_narrow(tc_sel *s, const tc_node *node, const int32_t zero[2])
{
    const tc_type *kt = ti_type_of(s->g, node->in[1]);
    walk w = walk_of(s, node);
    tc_view k = ti_sel_view(s, node->in[1]);
    if (s->hw->refused)
        return;
    int64_t c = kt->dim[2], per = kt->dim[3], all[6];
    memcpy(all, w.out, 4 * sizeof *all);
    all[4] = c;
    all[5] = per;
    tc_view sums = ti_sel_working(s, "sums", 4, 6, all), from, place;
    ti_sel_fill(s, node, &sums, 0);
    for (int64_t t = 0; t < taps_of(&w) && !s->hw->refused; t++) {
        if (!meets(&w, t, &sums, &from, &place))
            continue;
        tc_view weights = ti_view_at(&k, t / w.tap[2]);
        weights = ti_view_at(&weights, t % w.tap[2]);
        from = ti_view_deepen(&from);
        tc_sel_operand a = ti_sel_operand_of(&from, 1), b = ti_sel_operand_of(&weights, 1);
        a.zero = zero[0];
        b.zero = zero[1];
        tc_hw_op mul = ti_sel_eltwise(s, node, TC_EW_MUL, 4),
                 add = ti_sel_eltwise(s, node, TC_EW_ADD, 4);
        tc_view product = ti_sel_working(s, "products", 4, 6, place.dim);
        ti_sel_combine(s, &mul, true, &a, &b, &product);
        tc_sel_operand x = ti_sel_operand_of(&place, 4), y = ti_sel_operand_of(&product, 4);
        ti_sel_combine(s, &add, true, &x, &y, &place);
    }
    tc_view flat;
    ti_view_reshape(&sums, 4, (int64_t[]){w.out[0], w.out[2], w.out[3], c * per}, &flat);
    ti_sel_add_bias(s, node, &flat, node->in[2]);
}

/* A product of matrices a channel. */
static void depthwise_wide(tc_sel *s, const tc_node *node, const int32_t zero[2])
{
    const tc_type *kt = ti_type_of(s->g, node->in[1]);
    walk w = walk_of(s, node);
    tc_view k = ti_sel_view(s, node->in[1]);
    if (s->hw->refused)
        return;
    int64_t c = kt->dim[2], per = kt->dim[3], taps = taps_of(&w),
            n = w.out[0] * w.out[1] * w.out[2] * w.out[3];
    tc_sel_product p = {.zero = {zero[0], zero[1]}, .direct = true};
    k = widened(s, node, k, 2, &p.zero[1]);
    k = ti_view_transpose(&k, (int64_t[]){2, 3, 0, 1});
    k = shaped(s, node, &k, 3, (int64_t[]){c, per, taps});
    tc_view x = side_by_side(&w, zero[0], 1, taps);
    x = shaped(s, node, &x, 3, (int64_t[]){n, c, taps});
    x = ti_view_transpose(&x, (int64_t[]){1, 0, 2});
    p.bias.root = TC_NO_ROOT;
    if (!is_zero(s, node->in[2]))
        p.bias = ti_sel_kept_bias(s, node, node->in[2], c * per);
    ti_sel_product_of(s, node, &p, &x, &k, node->in[2]);
}

void ti_sel_conv_dynamic(tc_sel *s, const tc_node *node)
{
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    bool depthwise = node->op == TC_OP_tosa_depthwise_conv2d;
    int32_t zero[2] = {(int32_t)ti_sel_number(s, node->in[3]),
                       (int32_t)ti_sel_number(s, node->in[4])};
    if (bytes == 2 && !ti_hw_is_u85(s->hw))
        ti_hw_refuse(s->hw, node, "its weights are not constant");
    if (s->hw->refused)
        return;
    if (!depthwise)
        conv(s, node, zero);
    else if (bytes == 1)
        depthwise_narrow(s, node, zero);
    else
        depthwise_wide(s, node, zero);
}
