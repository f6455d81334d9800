/* SPDX-License-Identifier: Apache-2.0 */
/* select_product.c -- U55, U65: a product of two computed matrices as a convolution whose weights the
 * machine makes itself.
 *
 *   C[m][n] = sum A[m][k] B[n][k]      rows m are columns of the convolution, k its input channels,
 *                                      n its output channels
 *
 * A weight stream may hold its weights as plain bytes, x for the weight w(x + 1): 0 is 0, 1 is 1, 2 is
 * -1, ..., 254 is -127, 255 is 128 (a slice without palette, DIROFS 1).  So a byte b of int8 becomes
 * the weight b + 1 by a table of 256 entries, and the order of weights is a matter of strides.
 *
 *   header   36 bits; with one weight of 8 bits and a second header they are 10 bytes: weight j >= 1
 *            of the walk is byte 9 + j.  Weight 0 is constant
 *   taps     two, on the same row: the first has the weight -(1 + zero point) everywhere, which
 *            weight 0 is one of; the second B's
 *   end      ones
 *
 * A template with all that is constant comes by DMA.  Copies through the table put B into it, a DMA
 * takes the stream to where the convolution reads it, as it would bring constant weights. */
#include "select_product.h"

#include "../npu/block_search.h"

enum { HEADER = 10, SLICE = 32768, TAPS = 2, GROUP = 8, BRICK = 16, DEPTH = 32 };

/* ---- the walk ---- */

/* Positions of weights in the stream, in an operation with so many channels and this block. */
typedef struct order {
    int64_t in, out;   /* channels */
    int64_t unit;      /* output channels of a microblock */
    int64_t block;     /* and of a block */
    bool part;         /* part-kernel order: of 8 input channels all taps, in fours */
} order;

/* Weights of `out` channels of a block. */
static int64_t block_weights(const order *o, int64_t out)
{
    int64_t taps = o->part ? ti_round_up(TAPS, 4) : TAPS;
    return ti_round_up(out, o->unit) * taps * ti_round_up(o->in, o->part ? GROUP : DEPTH);
}

static int64_t all_weights(const order *o)
{
    int64_t n = 0;
    for (int64_t at = 0; at < o->out; at += o->block)
        n += block_weights(o, ti_min_i64(o->block, o->out - at));
    return n;
}

/* Between microblocks' output channels, and between taps. */
static int64_t unit_step(const order *o)
{
    return o->unit * (o->part ? ti_round_up(TAPS, 4) * GROUP : TAPS * DEPTH);
}

static int64_t tap_step(const order *o)
{
    return o->unit * (o->part ? GROUP : DEPTH);
}

/* Of the first output channel of the block that begins at `out`, input channels from 8 * group on. */
static int64_t group_at(const order *o, int64_t out, int64_t group)
{
    int64_t n = ti_round_up(ti_min_i64(o->block, o->out - out), o->unit), units = n / o->unit,
            at = out / o->block * block_weights(o, o->block);
    if (o->part)
        return at + group * units * unit_step(o);
    return at + group / 4 * units * unit_step(o) + group % 4 * GROUP * o->unit;
}

/* ---- the template ---- */

typedef struct bits {
    uint8_t *byte;
    int at;
} bits;

static void put(bits *b, int n, int value)
{
    for (int i = 0; i < n; i++, b->at++)
        b->byte[b->at / 8] |= (uint8_t)((value >> i & 1) << b->at % 8);
}

/* A slice of n plain weights. */
static void put_slice(bits *b, int64_t n)
{
    put(b, 3, 6); /* no runs of zeros */
    put(b, 15, (int)n - 1);
    put(b, 3, 7); /* plain */
    put(b, 1, 0);
    put(b, 1, 1); /* what follows */
    put(b, 5, 1); /* DIROFS */
    put(b, 5, 0); /* no palette */
    put(b, 3, 6); /* 8 bits */
}

static uint8_t code_of(int64_t w)
{
    return (uint8_t)(w > 0 ? 2 * w - 1 : -2 * w);
}

static int64_t stream_bytes(const order *o)
{
    return ti_round_up(HEADER + all_weights(o), 16); /* one of them in the header, one byte of ones */
}

static const uint8_t *make_template(tc_arena *arena, const order *o, int64_t zero)
{
    int64_t all = all_weights(o), size = stream_bytes(o);
    uint8_t *data = tc_new_n(arena, uint8_t, (size_t)size), *weight = data + HEADER - 1;
    uint8_t first = code_of(-(1 + zero));
    for (int64_t at = 0; at < o->out; at += o->block)
        for (int64_t i = 0; i < o->in; i++)
            for (int64_t n = 0, c = ti_min_i64(o->block, o->out - at); n < c; n++)
                weight[group_at(o, at, i / GROUP) + n / o->unit * unit_step(o) +
                       n % o->unit * GROUP + i % GROUP] = first;
    memset(data, 0, HEADER);
    memset(weight + all, 0xff, (size_t)(size - (HEADER - 1) - all));
    bits b = {data, 0};
    put_slice(&b, 1);
    put(&b, 8, first);
    put_slice(&b, all - 1);
    return data;
}

/* The constant; an existing one of equal bytes is reused. */
static int32_t template_root(tc_sel *s, const order *o, int64_t zero)
{
    tc_hw *hw = s->hw;
    int64_t size = stream_bytes(o);
    const uint8_t *data = make_template(hw->arena, o, zero);
    for (size_t i = 0; i < hw->n_root; i++)
        if (hw->root[i].kind == TC_ROOT_CONSTANT && hw->root[i].count * hw->root[i].bytes == size &&
            !memcmp(hw->root[i].data, data, (size_t)size))
            return (int32_t)i;
    return ti_sel_constant(s, "weights to be made", 1, 1, &size, data).root;
}

/* ---- operations ---- */

static void copy_root(tc_sel *s, const tc_node *node, int32_t from, int32_t to)
{
    const tc_root *r = &s->hw->root[from];
    int64_t dim[3] = {1, 1, r->count};
    uint8_t fast = ti_hw_fast_region(s->hw);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_DMA, 0);
    op.ifm = ti_view_dense(from, 3, dim);
    op.ofm = ti_view_dense(to, 3, dim);
    op.op.ifm.bytes = op.op.ofm.bytes = 1;
    op.op.dma = (tc_npu_dma){.src_region = r->kind == TC_ROOT_CONSTANT ? 0 : fast,
                             .dst_region = fast,
                             .bytes = (uint64_t)r->count,
                             .rows = 1,
                             .planes = 1};
    ti_sel_emit(s, &op);
}

static void move(tc_sel *s, const tc_hw_op *op, const tc_view *from, const tc_view *to)
{
    tc_hw_op o = *op;
    tc_sel_operand a = ti_sel_operand_of(from, 1), b = ti_sel_operand_number(INT8_MIN, 1);
    ti_sel_combine(s, &o, true, &a, &b, to);
}

/* Eight input channels of a block's output channels: b is [n][k], n of whole microblocks and the
 * rest. */
static void copy_group(tc_sel *s, const tc_hw_op *op, const order *o, const tc_view *b, int64_t out,
                       int64_t group, int32_t stream)
{
    int64_t n = ti_min_i64(o->block, o->out - out), k = ti_min_i64(GROUP, o->in - group * GROUP),
            whole = n / o->unit, rest = n % o->unit;
    tc_view from = {b->root, 3, b->at + out * b->stride[0] + group * GROUP,
                    {whole, o->unit, k}, {o->unit * b->stride[0], b->stride[0], 1}},
            to = {stream, 3, HEADER - 1 + group_at(o, out, group) + tap_step(o),
                  {whole, o->unit, k}, {unit_step(o), GROUP, 1}};
    if (whole)
        move(s, op, &from, &to);
    from.at += whole * from.stride[0];
    to.at += whole * to.stride[0];
    from.dim[0] = to.dim[0] = 1;
    from.dim[1] = to.dim[1] = rest;
    from.stride[0] = rest * from.stride[1];
    to.stride[0] = rest * to.stride[1];
    if (rest)
        move(s, op, &from, &to);
}

static tc_hw_op through_table(tc_sel *s, const tc_node *node)
{
    uint8_t *table = tc_new_n(s->hw->arena, uint8_t, 256);
    for (int i = 0; i < 256; i++)
        table[i] = code_of(i - 127);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MAX, 1);
    ti_sel_map(&op.op.ofm, 1, true, 0);
    op.op.lo = INT8_MIN;
    op.op.hi = INT8_MAX;
    op.op.function = TC_NPU_LOOKUP;
    op.table = ti_hw_table(s->hw, table, 256);
    return op;
}

/* The convolution on matrix n. */
static void set_views(tc_hw_op *op, const tc_sel_made *p, int64_t n, int64_t at, int64_t out)
{
    tc_view a = ti_view_at(&p->a, n), to = ti_view_at(&p->to, n);
    int64_t rows = a.dim[0];
    to = ti_view_slice(&to, 1, at, out);
    op->ifm = (tc_view){a.root, 3, a.at, {TAPS, rows, a.dim[1]}, {0, a.stride[0], 1}};
    op->ofm = (tc_view){to.root, 3, to.at, {1, rows, out}, {rows * to.stride[0], to.stride[0], 1}};
    op->op.ifm.h = op->op.window.ih = op->op.window.kh = TAPS;
    op->op.ifm.w = op->op.ofm.w = op->op.window.iw = (int32_t)rows;
    op->op.ifm.c = op->op.depth = (int32_t)a.dim[1];
    op->op.ofm.h = 1;
    op->op.ofm.c = (int32_t)out;
}

static void choose_block(tc_hw *hw, tc_hw_op *op, int64_t weights)
{
    tc_hw one = *hw;
    one.op = op;
    one.n_op = one.cap_op = 1;
    ti_hw_maps(&one);
    ti_npu_best_block(hw->machine, hw->options->system, &op->op, (double)weights);
    op->fixed = true;
}

/* Output channels [at, at + out) of all matrices; false: more weights than a slice has. */
static bool emit_channels(tc_sel *s, const tc_sel_made *p, int64_t at, int64_t out)
{
    tc_hw *hw = s->hw;
    tc_hw_op op = p->op, copy = through_table(s, op.node);
    order o = {p->a.dim[2], out, hw->machine->microblock[0].depth, out, false};
    op.bias += at;
    op.factor += at;
    op.shift += at;
    set_views(&op, p, 0, at, out);
    choose_block(hw, &op, all_weights(&o));
    o.block = op.op.block.depth;
    o.part = op.op.window.part_kernel;
    if (all_weights(&o) > SLICE + 1)
        return false;
    int32_t source = template_root(s, &o, p->zero),
            stream = ti_hw_root(hw, "weights in the making", TC_ROOT_VALUE, 1, stream_bytes(&o));
    op.made = ti_hw_root(hw, "weights made", TC_ROOT_VALUE, 1, stream_bytes(&o));
    op.op.weights = (tc_npu_weights){.region = ti_hw_fast_region(hw),
                                     .bytes = {(uint64_t)stream_bytes(&o)}};
    op.op.scale_bytes[0] = 10 * (uint64_t)out;
    copy_root(s, op.node, source, stream);
    for (int64_t n = 0; n < p->a.dim[0]; n++) {
        tc_view b = ti_view_at(&p->b, n);
        b = ti_view_slice(&b, 0, at, out);
        for (int64_t c = 0; c < out; c += o.block)
            for (int64_t g = 0; g * GROUP < o.in; g++)
                copy_group(s, &copy, &o, &b, c, g, stream);
        copy_root(s, op.node, stream, op.made);
        set_views(&op, p, n, at, out);
        ti_sel_emit(s, &op);
    }
    return true;
}

bool ti_sel_product_fits(const tc_hw *hw, const tc_sel_made *p)
{
    bool rows = p->a.dim[1] == 1 || p->a.stride[1] > 0;
    return hw->machine->cores == 1 && rows && hw->root[p->a.root].kind != TC_ROOT_CONSTANT &&
           p->zero < INT8_MAX && hw->root[p->a.root].bytes == 1 && hw->root[p->b.root].bytes == 1;
}

bool ti_sel_emit_product(tc_sel *s, const tc_sel_made *p)
{
    int64_t all = p->to.dim[2], deep = TAPS * ti_round_up(p->a.dim[2], DEPTH),
            most = SLICE / deep / BRICK * BRICK;
    if (most < BRICK)
        return false;
    for (int64_t at = 0; at < all; at += most)
        if (!emit_channels(s, p, at, ti_min_i64(most, all - at)))
            return false;
    return true;
}
