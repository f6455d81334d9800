/* SPDX-License-Identifier: Apache-2.0 */
/* select_pool.c -- MAX_POOL2D and AVG_POOL2D.
 *
 * An average divides by the taps inside the image.  U85 does so itself, in windows up to 8 x 8; U55
 * where there is padding, else its factor is the reciprocal:
 *
 *   k = ceil(log2 n), factor = (2^30 + 1) 2^k / n, shift = 30 + k     (TOSA's)
 *
 * Larger windows are cut until all taps of a piece are inside; then U85, too, has a sum and this
 * factor.  More than 256 taps along an axis are the largest of parts, or a sum of sums. */
#include "select_window.h"

#include "../num/fixed.h"

enum { MOST_TAPS = 256, MOST_COUNTED = 8 };

typedef struct pooling {
    tc_sel *s;
    tc_hw_op op;
    bool most, by_factor; /* by_factor: an average whose taps are all inside */
    bool parts;           /* a window has more taps than an operation */
    tc_sel_pieces y, x;
} pooling;

static void cut(pooling *p, const tc_node *node)
{
    const tc_type *in = ti_type_of(p->s->g, node->in[0]), *out = ti_type_of(p->s->g, node->out[0]);
    const tc_attr_tosa_max_pool *m = node->attr;
    const tc_attr_tosa_avg_pool *a = node->attr;
    tc_ints kernel = p->most ? m->kernel : a->kernel, stride = p->most ? m->stride : a->stride,
            pad = p->most ? m->pad : a->pad;
    tc_sel_axis y = ti_sel_axis(in->dim[1], out->dim[1], kernel.v[0], stride.v[0], 1, pad.v[0]),
                x = ti_sel_axis(in->dim[2], out->dim[2], kernel.v[1], stride.v[1], 1, pad.v[2]);
    p->by_factor = !p->most && (y.tap.n > MOST_COUNTED || x.tap.n > MOST_COUNTED);
    tc_sel_limits limits = {
        .taps = MOST_TAPS, .stride = 3, .dilation = 1, .inside = p->by_factor};
    p->y = p->x = (tc_sel_pieces){.arena = p->s->hw->arena};
    ti_sel_cut_axis(&p->y, y, &limits);
    ti_sel_cut_axis(&p->x, x, &limits);
    p->parts = p->y.too_long || p->x.too_long;
    if (!p->parts)
        return;
    limits.inside = true;
    limits.taps = INT32_MAX;
    p->y = p->x = (tc_sel_pieces){.arena = p->s->hw->arena};
    ti_sel_cut_axis(&p->y, y, &limits);
    ti_sel_cut_axis(&p->x, x, &limits);
}

/* The reciprocal of n taps, where the machine does not divide. */
static void set_divisor(const pooling *p, tc_npu_op *op)
{
    bool u85 = ti_hw_is_u85(p->s->hw);
    const tc_npu_window *w = &op->window;
    if (p->most || (u85 && !p->by_factor) || w->top || w->left || w->bottom || w->right)
        return;
    tc_scale r = ti_reciprocal_scale((uint32_t)(w->kh * w->kw));
    op->ofm_scale.multiplier = (uint32_t)r.multiplier;
    op->ofm_scale.shift = (uint8_t)r.shift;
    op->mode = u85 ? TC_POOL_SUM : TC_POOL_AVERAGE;
    op->param = op->mode;
}

static void emit_piece(const pooling *p, const tc_sel_axis *y, const tc_sel_axis *x,
                       const tc_view *in, const tc_view *out)
{
    tc_hw_op op = p->op;
    op.ifm = ti_sel_steps_of(in, 0, &y->in);
    op.ifm = ti_sel_steps_of(&op.ifm, 1, &x->in);
    op.ofm = ti_sel_steps_of(out, 0, &y->out);
    op.ofm = ti_sel_steps_of(&op.ofm, 1, &x->out);
    ti_sel_set_window(&op, y, x);
    set_divisor(p, &op.op);
    ti_sel_emit(p->s, &op);
}

/* Taps [at, at + n) of a piece. */
static tc_sel_axis taps_of(const tc_sel_axis *a, int64_t at, int64_t n)
{
    tc_sel_axis out = *a;
    out.tap.n = n;
    out.in.at += at * a->in.step;
    out.in.n -= a->tap.n - n;
    return out;
}

/* Two values of the same shape, combined into the first. */
static void join(tc_sel *s, const tc_node *node, bool most, const tc_view *a, const tc_view *b)
{
    uint8_t bytes = s->hw->root[a->root].bytes;
    tc_hw_op op = ti_sel_eltwise(s, node, most ? TC_EW_MAX : TC_EW_ADD, bytes);
    tc_sel_operand x = ti_sel_operand_of(a, bytes), y = ti_sel_operand_of(b, bytes);
    ti_sel_combine(s, &op, true, &x, &y, a);
}

/* The sum divided by the number of taps. */
static void divide(const pooling *p, const tc_view *sums, int64_t taps, const tc_view *to)
{
    tc_scale r = ti_reciprocal_scale((uint32_t)taps);
    tc_hw_op op = ti_sel_op(p->s, p->op.node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    tc_sel_operand x = ti_sel_operand_of(sums, 4), f = ti_sel_operand_number(r.multiplier, 4);
    op.op.ofm = p->op.op.ofm;
    op.op.lo = p->op.op.lo;
    op.op.hi = p->op.op.hi;
    op.op.ofm_scale.shift = (uint8_t)r.shift;
    ti_sel_combine(p->s, &op, true, &x, &f, to);
}

/* 256 x 256 taps at a time. */
static void emit_parts(const pooling *p, const tc_sel_axis *y, const tc_sel_axis *x,
                       const tc_view *in, const tc_view *out)
{
    pooling part = *p;
    bool u85 = ti_hw_is_u85(p->s->hw);
    uint8_t bytes = p->most ? p->op.op.ofm.bytes : 4;
    const int64_t dim[] = {y->out.n, x->out.n, out->dim[2]};
    tc_view all = ti_sel_working(p->s, "parts", bytes, 3, dim),
            to = ti_sel_steps_of(out, 0, &y->out);
    to = ti_sel_steps_of(&to, 1, &x->out);
    if (!p->most) {
        part.op.op.mode = u85 ? TC_POOL_SUM : TC_POOL_AVERAGE;
        part.op.op.param = part.op.op.mode;
        ti_sel_map(&part.op.op.ofm, 4, true, 0);
        part.op.op.clip = u85;
        part.op.op.lo = INT16_MIN;
        part.op.op.hi = -1;
    }
    for (int64_t i = 0; i < y->tap.n; i += MOST_TAPS)
        for (int64_t k = 0; k < x->tap.n; k += MOST_TAPS) {
            tc_sel_axis a = taps_of(y, i, ti_min_i64(MOST_TAPS, y->tap.n - i)),
                        b = taps_of(x, k, ti_min_i64(MOST_TAPS, x->tap.n - k));
            tc_view one = i || k ? ti_sel_working(p->s, "part", bytes, 3, dim) : all;
            part.op.ifm = ti_sel_steps_of(in, 0, &a.in);
            part.op.ifm = ti_sel_steps_of(&part.op.ifm, 1, &b.in);
            part.op.ofm = one;
            ti_sel_set_window(&part.op, &a, &b);
            ti_sel_emit(p->s, &part.op);
            if (i || k)
                join(p->s, p->op.node, p->most, &all, &one);
        }
    if (p->most)
        ti_sel_copy(p->s, p->op.node, &all, &to);
    else
        divide(p, &all, y->tap.n * x->tap.n, &to);
}

void ti_npu_select_pool(tc_sel *s, const tc_node *node)
{
    pooling p = {.s = s, .most = node->op == TC_OP_tosa_max_pool2d};
    p.op = ti_sel_op(s, node, TC_NPU_KIND_POOL, p.most ? TC_POOL_MAX : TC_POOL_AVERAGE);
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    cut(&p, node);
    if (p.y.too_long || p.x.too_long || bytes > 2) {
        ti_hw_refuse(s->hw, node, "its window is larger than one operation's");
        return;
    }
    int32_t in_zero = p.most ? 0 : (int32_t)ti_sel_number(s, node->in[1]),
            out_zero = p.most ? 0 : (int32_t)ti_sel_number(s, node->in[2]);
    ti_sel_map(&p.op.op.ifm, bytes, true, in_zero);
    ti_sel_plain_output(s, &p.op.op, node->out[0]);
    p.op.op.ofm.zero = out_zero;
    tc_view from = p.most ? ti_sel_channels(s, node, node->in[0])
                          : ti_sel_codes(s, node, node->in[0], &p.op.op.ifm);
    tc_val v = node->out[0];
    if (!p.parts)
        v = ti_sel_take_tail(
            s, &p.op, v, (tc_sel_tail){.scaled = p.most && ti_hw_is_u85(s->hw), .bounds = true});
    tc_view place = ti_sel_result_of(s, node, v);
    if (s->hw->refused)
        return;
    for (int64_t n = 0; n < place.dim[0]; n++) {
        tc_view in = ti_view_at(&from, n), o = ti_view_at(&place, n);
        for (size_t i = 0; i < p.y.n; i++)
            for (size_t k = 0; k < p.x.n; k++)
                (p.parts ? emit_parts : emit_piece)(&p, &p.y.v[i], &p.x.v[k], &in, &o);
    }
}
