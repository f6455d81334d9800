/* SPDX-License-Identifier: Apache-2.0 */
/* select_eltwise.c -- elementwise operators of two operands.
 *
 * An operand may come through a deferred RESCALE: of factor one it is a zero point, which
 * every operation has; other factors only ADD and SUB have.
 *
 *   U85   any factor of 31 bits on 8- and 16-bit operands
 *   U55   both whole and below 2^16; or one of them 2^19 (8 bits) or 2^14 (16 bits), the other any
 *
 * A factor may be rounded twice, of what was shifted left: U55 has 20 bits (8) and 15 (16) for
 * it. */
#include "select.h"

typedef tc_sel_operand operand;

static bool is_one(const operand *o)
{
    return o->factor == 1 && o->shift == 0;
}

static bool can_reshape(tc_sel *s, tc_val v, const tc_type *to)
{
    tc_view from = ti_sel_view(s, v), out;
    return !s->hw->refused && ti_view_reshape(&from, to->rank, to->dim, &out);
}

/* What was shifted left before the operand's RESCALE. */
static tc_val look_twice(tc_sel *s, operand *o, tc_val moved)
{
    const tc_node *node = s->value[moved].put_off;
    tc_sel_scale q;
    if (!ti_sel_scale(s, node, &q))
        return moved;
    o->double_bits = (uint8_t)ti_sel_moved_left(s, moved);
    o->shift -= o->double_bits;
    o->bytes = ti_sel_bytes(s, node->in[0]);
    o->is_signed = q.in_signed;
    o->zero = q.in_zero;
    return node->in[0];
}

/* The operand as it is read before the RESCALE, or as it is; padded: without a PAD that is not made. */
static operand look_at(tc_sel *s, tc_val v, bool through, bool padded)
{
    operand o = {.view = {.root = TC_NO_ROOT},
                 .bytes = ti_sel_bytes(s, v),
                 .is_signed = true,
                 .factor = 1,
                 .round = TC_ROUND_NATURAL};
    const tc_node *node = through && o.bytes > 1 ? s->value[v].put_off : NULL;
    const tc_type *shape = ti_type_of(s->g, v);
    tc_sel_scale q;
    if (node && node->out[0] != v && tc_type_count(shape) != 1 && !can_reshape(s, node->in[0], shape))
        node = NULL;
    if (node && ti_sel_scale(s, node, &q)) {
        o.put_off = node;
        o.bytes = ti_sel_bytes(s, node->in[0]);
        o.is_signed = q.in_signed;
        o.zero = q.in_zero;
        o.factor = q.factor[0];
        o.shift = q.shift[0];
        o.round = q.round;
        ti_sel_reduce(&o.factor, &o.shift);
        if (o.shift > 0 && q.round == TC_ROUND_DOUBLE) { /* its rounding depends on the shift */
            o.factor = q.factor[0];
            o.shift = q.shift[0];
        }
        v = node->in[0];
        if (o.bytes == 4)
            v = look_twice(s, &o, v);
    }
    if (ti_is_const(s->g, v) && tc_type_count(ti_type_of(s->g, v)) == 1) {
        o.is_number = true;
        o.number = ti_sel_number(s, v);
        if (!o.is_signed && o.number < 0)
            o.number += o.bytes == 1 ? 256 : 65536;
    } else if (padded && s->value[v].pad && ti_same_dims(ti_type_of(s->g, v), shape)) {
        o.pad = s->value[v].pad;
        o.view = ti_sel_view(s, o.pad->in[0]);
    } else {
        tc_view view = ti_sel_view(s, v);
        bool same = ti_same_dims(ti_type_of(s->g, v), shape);
        o.constant = ti_is_const(s->g, v) && same ? v : TC_NONE;
        if (s->hw->refused || !ti_view_reshape(&view, shape->rank, shape->dim, &o.view))
            o.view = view;
    }
    return o;
}

static operand look(tc_sel *s, tc_val v, bool through)
{
    return look_at(s, v, through, false);
}

/* ---- may RESCALEs of both operands be fused? ---- */

/* Its bits, where a factor is rounded twice. */
static bool bits_u55(const operand *o)
{
    return !o->double_bits || o->double_bits == (o->bytes == 1 ? 20 : 15);
}

/* Factors without a shift are not rounded. */
static bool factors_u55(const operand *a, const operand *b)
{
    int64_t fixed = a->bytes == 1 ? 1 << 19 : 1 << 14;
    bool whole = !a->shift && !b->shift && a->factor < 65536 && b->factor < 65536;
    bool first = b->factor == fixed && !b->shift, second = a->factor == fixed && !a->shift;
    return a->bytes <= 2 && (whole || first || second) && a->factor <= UINT32_MAX &&
           b->factor <= UINT32_MAX && bits_u55(a) && bits_u55(b);
}

static bool factors_u85(const operand *a, const operand *b)
{
    return a->bytes <= 2 && a->factor <= INT32_MAX && b->factor <= INT32_MAX && a->shift < 64 &&
           b->shift < 64;
}

/* Scalars have the type of the other operand. */
static void adapt_number(operand *x, const operand *other)
{
    if (!x->is_number)
        return;
    int64_t top = INT64_C(1) << (8 * other->bytes - 1),
            lo = other->is_signed ? -top : 0, hi = other->is_signed ? top - 1 : 2 * top - 1;
    if (x->bytes == other->bytes || x->number < lo || x->number > hi)
        return;
    if (x->zero < lo || x->zero > hi)
        return;
    x->bytes = other->bytes;
    x->is_signed = other->is_signed;
}

static bool fit_together(const tc_sel *s, const operand *a, const operand *b, bool scales)
{
    if (a->bytes != b->bytes)
        return false;
    if (is_one(a) && is_one(b))
        return true;
    return scales && (ti_hw_is_u85(s->hw) ? factors_u85(a, b) : factors_u55(a, b));
}

/* ---- the operation ---- */

static void set_factors(const tc_sel *s, tc_npu_op *op, const operand *a, const operand *b)
{
    if (ti_hw_is_u85(s->hw)) {
        op->ifm_scale = (tc_npu_scale){(uint32_t)a->factor, (uint8_t)a->shift, a->double_bits,
                                       a->round};
        op->ifm2_scale = (tc_npu_scale){(uint32_t)b->factor, (uint8_t)b->shift, b->double_bits,
                                        b->round};
        return;
    }
    op->ifm_scale.round = op->ifm2_scale.round = a->shift ? a->round : b->round;
    if (!a->shift && !b->shift && a->factor < 65536 && b->factor < 65536) {
        op->scale_mode = 0;
        op->ifm_scale.multiplier = (uint32_t)a->factor;
        op->ifm2_scale.multiplier = (uint32_t)b->factor;
        return;
    }
    int64_t fixed = a->bytes == 1 ? 1 << 19 : 1 << 14;
    bool first = b->factor == fixed && !b->shift;
    const operand *o = first ? a : b;
    op->scale_mode = first ? 1 : 2;
    op->ifm_scale.multiplier = (uint32_t)o->factor;
    op->ifm_scale.shift = (uint8_t)o->shift;
    op->ifm2_scale.multiplier = (uint32_t)fixed & 0xffff; /* not used, and written so by Vela */
}

/* A scalar that no register holds, as a constant of one element. */
static void place_number(tc_sel *s, operand *o)
{
    int64_t *x = tc_new(s->hw->arena, int64_t);
    *x = o->number;
    o->is_number = false;
    o->view = ti_sel_constant(s, "number", o->bytes, 0, NULL, x);
}

/* Broadcast on an axis in the U55's first operand, or in both: only the second may be. */
static bool broadcasts(const tc_view *v, int32_t rank, const int64_t *dim)
{
    tc_view b = ti_view_broadcast(v, rank, dim);
    for (int32_t i = 0; i < rank; i++)
        if (dim[i] > 1 && b.stride[i] == 0)
            return true;
    return false;
}

static void spread(tc_sel *s, const tc_node *node, operand *o, int32_t rank, const int64_t *dim)
{
    tc_view from = ti_view_broadcast(&o->view, rank, dim),
            to = ti_sel_working(s, "broadcast", o->bytes, rank, dim);
    ti_sel_spread(s, node, &from, &to);
    o->view = to;
}

typedef struct binary {
    tc_npu_eltwise mode;
    bool commutes, scales; /* scales: operands may have factors */
    tc_sel_tail tail;
    uint8_t shift; /* of the result */
    uint8_t done;  /* how much of the shift of a RESCALE after it its operands have already */
} binary;

/* Which operand is the machine's first, what is copied and what a register holds: U55 broadcasts
 * its second operand only, and has scalars of 16 bits next to operands of 8 and 16. */
static void arrange(tc_sel *s, tc_hw_op *op, bool commutes, operand *a, operand *b, int32_t rank,
                    const int64_t *dim)
{
    bool u85 = ti_hw_is_u85(s->hw), swapped = false;
    if (a->is_number && b->is_number)
        place_number(s, a);
    if (!u85) {
        if (b->is_number && (b->bytes > 2 || b->number < INT16_MIN || b->number > INT16_MAX))
            place_number(s, b);
        if (a->is_number && (a->bytes > 2 || a->number < INT16_MIN || a->number > INT16_MAX))
            place_number(s, a);
        bool first = a->is_number || broadcasts(&a->view, rank, dim);
        bool second = b->is_number || broadcasts(&b->view, rank, dim);
        if (first && second && !a->is_number)
            spread(s, op->node, a, rank, dim);
        else if (first && second)
            spread(s, op->node, b, rank, dim), swapped = true;
        else
            swapped = first;
    }
    set_factors(s, &op->op, a, b);
    if (swapped) {
        operand c = *a;
        *a = *b;
        *b = c;
        op->op.swapped = true;
        if (commutes) { /* the same without the register */
            op->op.swapped = false;
            if (op->op.scale_mode)
                op->op.scale_mode ^= 3;
            else {
                tc_npu_scale t = op->op.ifm_scale;
                op->op.ifm_scale = op->op.ifm2_scale;
                op->op.ifm2_scale = t;
            }
        }
    }
    ti_sel_map(&op->op.ifm, a->bytes, a->is_signed, a->zero);
    ti_sel_map(&op->op.ifm2, b->bytes, b->is_signed, b->zero);
    if (a->is_number || b->is_number) {
        op->op.scalar = a->is_number ? a->number : b->number;
        tc_npu_map *m = a->is_number ? &op->op.ifm : &op->op.ifm2;
        m->broadcast = TC_BROADCAST_SCALAR;
        m->h = m->w = m->c = 1;
        m->storage = u85 ? TC_STORE_NONE : TC_STORE_TILES;
    }
}

static void emit_arranged(tc_sel *s, const tc_hw_op *op, const operand *a, const operand *b,
                          const tc_view *to)
{
    if (s->hw->refused)
        return;
    tc_view x = a->view, y = b->view;
    if (!a->is_number)
        x = ti_view_broadcast(&a->view, to->rank, to->dim);
    if (!b->is_number)
        y = ti_view_broadcast(&b->view, to->rank, to->dim);
    ti_sel_emit_parts(s, op, a->is_number ? NULL : &x, b->is_number ? NULL : &y, to);
}

/* x * 1, which is quicker on U55. */
static bool is_same(const tc_sel *s, const tc_npu_op *op, const operand *a, const operand *b)
{
    return !ti_hw_is_u85(s->hw) && op->mode == TC_EW_MUL && !op->function && b->is_number &&
           b->number - b->zero == 1 && a->bytes <= 2 && op->ofm.bytes <= 2 &&
           op->ofm_scale.multiplier == 1 && op->ofm_scale.shift == 0;
}

/* Which of both operands is padded: where, and with what. */
typedef struct padding {
    bool first; /* a is */
    int32_t axis;
    int64_t before, inner, behind, number;
} padding;

static padding padding_of(tc_sel *s, const operand *a, const operand *b)
{
    padding p = {.first = a->pad != NULL, .axis = -1};
    const tc_node *node = p.first ? a->pad : b->pad;
    const int64_t *n = node ? ti_sel_numbers(s, node->in[1], NULL) : NULL;
    const tc_type *t = n ? ti_type_of(s->g, node->in[0]) : NULL;
    for (int32_t i = 0; n && i < t->rank; i++)
        if (n[2 * i] || n[2 * i + 1])
            p = (padding){p.first, i, n[2 * i], t->dim[i], n[2 * i + 1], 0};
    if (node)
        p.number = ti_sel_number(s, node->in[2]);
    return p;
}

static void take_slice(operand *o, int32_t axis, int64_t at, int64_t size)
{
    if (!o->is_number && o->view.dim[axis] > 1)
        o->view = ti_view_slice(&o->view, axis, at, size);
}

/* `op` for a part of the result: beside the padding, where the padded operand is a number, or between. */
static void emit_part(tc_sel *s, tc_hw_op op, bool commutes, operand a, operand b, const padding *p,
                      int64_t at, int64_t size, const tc_view *place)
{
    operand *padded = p->first ? &a : &b, *other = p->first ? &b : &a;
    if (!size || s->hw->refused)
        return;
    tc_view to = ti_view_slice(place, p->axis, at, size);
    take_slice(other, p->axis, at, size);
    if (at != p->before) {
        padded->is_number = true;
        padded->number = p->number + (padded->is_signed || p->number >= 0 ? 0
                                      : padded->bytes == 1               ? 256
                                                                         : 65536);
        padded->view = (tc_view){.root = TC_NO_ROOT};
    }
    op.op.swapped = false;
    op.op.scale_mode = 0;
    arrange(s, &op, commutes, &a, &b, to.rank, to.dim);
    emit_arranged(s, &op, &a, &b, &to);
}

/* The operation on what is not padded, and on each side of it with the number: no PAD is made. */
static void emit_padded(tc_sel *s, const tc_hw_op *op, const binary *f, const operand *a,
                        const operand *b, const tc_view *place)
{
    padding p = padding_of(s, a, b);
    emit_part(s, *op, f->commutes, *a, *b, &p, 0, p.before, place);
    emit_part(s, *op, f->commutes, *a, *b, &p, p.before, p.inner, place);
    emit_part(s, *op, f->commutes, *a, *b, &p, p.before + p.inner, p.behind, place);
}

static void emit_binary(tc_sel *s, const tc_node *node, const binary *f, operand a, operand b)
{
    const tc_type *out = ti_type_of(s->g, node->out[0]);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, (uint8_t)f->mode);
    bool padded = a.pad || b.pad;
    ti_sel_plain_output(s, &op.op, node->out[0]);
    op.op.ofm_scale.shift = f->shift;
    if (!padded)
        arrange(s, &op, f->commutes, &a, &b, out->rank, out->dim);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], f->tail);
    op.op.ofm_scale.shift = (uint8_t)(op.op.ofm_scale.shift - f->done);
    if (s->hw->refused)
        return;
    tc_view place = ti_sel_result_of(s, node, v);
    if (is_same(s, &op.op, &a, &b))
        ti_sel_as_maximum(&op.op);
    if (padded)
        emit_padded(s, &op, f, &a, &b, &place);
    else if (!s->hw->refused)
        emit_arranged(s, &op, &a, &b, &place);
}

/* ---- one by one ---- */

tc_sel_operand ti_sel_operand(tc_sel *s, tc_val v)
{
    return look(s, v, false);
}

tc_sel_operand ti_sel_operand_before(tc_sel *s, tc_val v)
{
    operand o = look(s, v, true);
    return is_one(&o) ? o : look(s, v, false);
}

tc_sel_operand ti_sel_operand_of(const tc_view *v, uint8_t bytes)
{
    return (operand){.view = *v,
                     .bytes = bytes,
                     .is_signed = true,
                     .factor = 1,
                     .round = TC_ROUND_NATURAL};
}

tc_sel_operand ti_sel_operand_number(int64_t number, uint8_t bytes)
{
    operand o = ti_sel_operand_of(&(tc_view){.root = TC_NO_ROOT}, bytes);
    o.is_number = true;
    o.number = number;
    return o;
}

tc_hw_op ti_sel_eltwise(const tc_sel *s, const tc_node *node, tc_npu_eltwise mode, uint8_t bytes)
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, (uint8_t)mode);
    bool u85 = ti_hw_is_u85(s->hw);
    ti_sel_map(&op.op.ofm, bytes, true, 0);
    op.op.clip = u85;
    op.op.lo = !u85 && bytes == 1 ? INT8_MIN : INT16_MIN;
    op.op.hi = u85 || bytes > 2 ? -1 : bytes == 1 ? INT8_MAX : INT16_MAX;
    return op;
}

void ti_sel_combine(tc_sel *s, tc_hw_op *op, bool commutes, const tc_sel_operand *a,
                    const tc_sel_operand *b, const tc_view *to)
{
    if (s->hw->refused)
        return;
    operand x = *a, y = b ? *b : (operand){.view = {.root = TC_NO_ROOT}};
    if (b) {
        arrange(s, op, commutes, &x, &y, to->rank, to->dim);
        emit_arranged(s, op, &x, &y, to);
        return;
    }
    if (x.is_number)
        place_number(s, &x);
    if (!ti_hw_is_u85(s->hw) && broadcasts(&x.view, to->rank, to->dim))
        spread(s, op->node, &x, to->rank, to->dim);
    ti_sel_map(&op->op.ifm, x.bytes, x.is_signed, x.zero);
    x.view = ti_view_broadcast(&x.view, to->rank, to->dim);
    ti_sel_emit_parts(s, op, &x.view, NULL, to);
}

tc_sel_operand ti_sel_step(tc_sel *s, tc_hw_op *op, bool commutes, const tc_sel_operand *a,
                           const tc_sel_operand *b)
{
    const tc_view *v[] = {&a->view, b ? &b->view : NULL};
    int64_t dim[TC_VIEW_DIMS];
    int32_t rank = 0;
    for (int k = 0; k < 2; k++)
        if (v[k] && v[k]->root >= 0 && v[k]->rank > rank)
            rank = v[k]->rank;
    for (int32_t i = 0; i < rank; i++)
        dim[i] = 1;
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; v[k] && v[k]->root >= 0 && i < v[k]->rank; i++) {
            int64_t *d = &dim[rank - v[k]->rank + i];
            *d = *d == 1 ? v[k]->dim[i] : *d;
        }
    tc_view to = ti_sel_working(s, "working", op->op.ofm.bytes, rank, dim);
    ti_sel_combine(s, op, commutes, a, b, &to);
    operand o = ti_sel_operand_of(&to, op->op.ofm.bytes);
    o.is_signed = op->op.ofm.is_signed;
    return o;
}

tc_sel_operand ti_sel_operand_same(const tc_sel *s, const tc_sel_operand *x)
{
    operand o = ti_sel_operand_number(0, x->bytes);
    o.is_signed = x->is_signed;
    if (ti_hw_is_u85(s->hw))
        return o;
    o.zero = x->zero;
    o.number = !x->is_signed ? 0 : x->bytes == 1 ? INT8_MIN : INT16_MIN;
    return o;
}

/* A constant of 8 or 16 bits in 32, where it is stored as it is. */
static bool widen_constant(tc_sel *s, operand *a)
{
    const tc_root *r = &s->hw->root[a->view.root];
    if (r->kind != TC_ROOT_CONSTANT || !ti_view_is_dense(&a->view) || a->view.at ||
        ti_view_count(&a->view) != r->count)
        return false;
    int32_t *wide = tc_new_n(s->hw->arena, int32_t, (size_t)r->count + 1);
    for (int64_t i = 0; i < r->count; i++) {
        uint64_t bits = 0;
        for (int b = 0; b < a->bytes; b++)
            bits |= (uint64_t)((const uint8_t *)r->data)[i * a->bytes + b] << 8 * b;
        uint64_t sign = a->is_signed ? UINT64_C(1) << (8 * a->bytes - 1) : 0;
        wide[i] = (int32_t)((int64_t)((bits ^ sign) - sign) - a->zero);
    }
    a->view = ti_sel_constant(s, "widened", 4, a->view.rank, a->view.dim, wide);
    return true;
}

tc_sel_operand ti_sel_widened(tc_sel *s, const tc_node *node, const tc_sel_operand *a)
{
    operand o = *a;
    if (s->hw->refused || o.bytes == 4)
        return o;
    if (o.is_number)
        return ti_sel_operand_number(o.number - o.zero, 4);
    if (widen_constant(s, &o))
        return ti_sel_operand_of(&o.view, 4);
    tc_hw_op op = ti_sel_eltwise(s, node, ti_hw_is_u85(s->hw) ? TC_EW_ADD : TC_EW_MAX, 4);
    operand same = ti_sel_operand_same(s, &o);
    return ti_sel_step(s, &op, true, &o, &same);
}

/* ---- the rules ---- */

/* 8 bits next to 16: the same values in 16; factor and zero point stay. */
static void widen(tc_sel *s, const tc_node *node, operand *o)
{
    const int32_t rank = o->view.rank;
    if (o->constant) {
        const tc_type *t = ti_type_of(s->g, o->constant);
        int64_t n;
        const int64_t *x = ti_sel_numbers(s, o->constant, &n);
        int16_t *wide = tc_new_n(s->hw->arena, int16_t, (size_t)n + 1);
        for (int64_t i = 0; i < n; i++)
            wide[i] = (int16_t)(o->is_signed ? x[i] : x[i] & 255);
        o->view = ti_sel_constant(s, "16 bits", 2, t->rank, t->dim, wide);
    } else {
        tc_hw_op op = ti_sel_pointwise(s, node);
        ti_sel_map(&op.op.ifm, 1, o->is_signed, 0);
        ti_sel_map(&op.op.ofm, 2, true, 0);
        op.op.lo = INT16_MIN;
        op.op.hi = INT16_MAX;
        tc_view to = ti_sel_working(s, "16 bits", 2, rank, o->view.dim);
        ti_sel_emit_parts(s, &op, &o->view, NULL, &to);
        o->view = to;
    }
    o->bytes = 2;
    o->is_signed = true;
}

static void widen_one(tc_sel *s, const tc_node *node, operand *a, operand *b)
{
    if (s->hw->refused || a->is_number || b->is_number || a->bytes + b->bytes != 3)
        return;
    widen(s, node, a->bytes == 1 ? a : b);
}

/* The shift to the right of the RESCALE that is all that follows, to the bytes; 0: it is another. */
static int64_t shift_behind(tc_sel *s, const tc_node *node, uint8_t bytes)
{
    const tc_node *next = ti_sel_only_reader(s, node->out[0]);
    tc_sel_scale q;
    if (!next || next->op != TC_OP_tosa_rescale || next->in[0] != node->out[0] ||
        s->value[node->out[0]].asked || ti_sel_bytes(s, next->out[0]) != bytes ||
        !ti_sel_scale(s, next, &q))
        return 0;
    int64_t factor = q.factor[0], shift = q.shift[0];
    ti_sel_reduce(&factor, &shift);
    bool plain = q.n == 1 && !q.in_zero && q.out_zero <= INT16_MAX && q.round == TC_ROUND_NATURAL;
    return plain && factor == 1 && shift < 32 ? shift : 0;
}

/* x / 2^n, half up. */
static int64_t halved(int64_t x, int64_t n)
{
    int64_t one = INT64_C(1) << n, y = x + one / 2;
    return y >= 0 ? y / one : -((one - 1 - y) / one);
}

/* (2^n x + c) / 2^n with half up is x + c / 2^n with half up: where constant c can be expressed
 * in the bytes of x.  sign: of c.  false: it is no such sum. */
static bool shift_constant(tc_sel *s, const tc_node *node, const operand *x, tc_val c, int sign,
                           binary *f, operand *out)
{
    int64_t n = ti_is_const(s->g, c) && x->bytes <= 2 ? shift_behind(s, node, x->bytes) : 0, count,
            top = INT64_C(1) << (8 * x->bytes - 1);
    if (!n || !x->is_signed || x->is_number || x->shift || x->factor != INT64_C(1) << n)
        return false;
    const tc_type *t = ti_type_of(s->g, c);
    const int64_t *from = ti_sel_numbers(s, c, &count);
    uint8_t *data = tc_new_n(s->hw->arena, uint8_t, (size_t)count * x->bytes + 1);
    int64_t number = 0;
    for (int64_t i = 0; i < count; i++) {
        number = halved(sign * from[i], n);
        if (number < -top || number >= top)
            return false;
        for (int b = 0; b < x->bytes; b++)
            data[i * x->bytes + b] = (uint8_t)((uint64_t)number >> 8 * b);
    }
    tc_view view = ti_sel_constant(s, "shifted", x->bytes, t->rank, t->dim, data);
    *out = count == 1 ? ti_sel_operand_number(number, x->bytes)
                      : ti_sel_operand_of(&view, x->bytes);
    f->done = (uint8_t)n;
    return true;
}

/* A sum of which one operand is constant, and the other as its result will be. */
static bool sum_with_constant(tc_sel *s, const tc_node *node, binary *f, operand *a, operand *b)
{
    bool add = f->mode == TC_EW_ADD;
    if (f->mode != TC_EW_ADD && f->mode != TC_EW_SUB)
        return false;
    if (shift_constant(s, node, a, node->in[1], add ? 1 : -1, f, b))
        f->mode = TC_EW_ADD;
    else if (!shift_constant(s, node, b, node->in[0], 1, f, a))
        return false;
    f->commutes = f->mode == TC_EW_ADD;
    a->factor = b->factor = 1;
    return true;
}

/* A padded operand next to a tensor that is not, of as many bytes: nothing else need be made of it. */
static bool stays_padded(const tc_sel *s, const operand *a, const operand *b, bool scales)
{
    return !a->pad != !b->pad && !a->is_number && !b->is_number && !a->constant && !b->constant &&
           fit_together(s, a, b, scales);
}

static void select_binary(tc_sel *s, const tc_node *node, binary f)
{
    operand a = look_at(s, node->in[0], true, true), b = look_at(s, node->in[1], true, true);
    if (s->hw->refused)
        return;
    if (stays_padded(s, &a, &b, f.scales)) {
        emit_binary(s, node, &f, a, b);
        return;
    }
    a = look(s, node->in[0], true);
    b = look(s, node->in[1], true);
    adapt_number(&a, &b);
    adapt_number(&b, &a);
    operand wide_a = a, wide_b = b;
    wide_a.bytes = wide_b.bytes = a.bytes > b.bytes ? a.bytes : b.bytes;
    if (fit_together(s, &wide_a, &wide_b, f.scales))
        widen_one(s, node, &a, &b);
    if (!fit_together(s, &a, &b, f.scales) && !sum_with_constant(s, node, &f, &a, &b)) {
        a = look(s, node->in[0], false);
        b = look(s, node->in[1], false);
    }
    if (s->hw->refused)
        return;
    if (a.bytes > 2) /* no operation has a factor of its own next to 32 bits */
        f.tail.scaled = f.tail.scaled && (f.mode == TC_EW_ADD || f.mode == TC_EW_SUB);
    emit_binary(s, node, &f, a, b);
}

static void binary_of(tc_sel *s, const tc_node *node, tc_npu_eltwise mode, bool commutes,
                      bool scales, tc_sel_tail tail)
{
    select_binary(s, node, (binary){mode, commutes, scales, tail, 0, 0});
}

void ti_npu_select_sum(tc_sel *s, const tc_node *node)
{
    bool add = node->op == TC_OP_tosa_add;
    binary_of(s, node, add ? TC_EW_ADD : TC_EW_SUB, add, true,
                  (tc_sel_tail){.scaled = true, .bounds = true});
}

/* Products of 32 bits are shifted right, half up; then the output's scale is taken. */
void ti_npu_select_mul(tc_sel *s, const tc_node *node)
{
    bool wide = ti_sel_dtype(s, node->in[0]) == TC_i32;
    int64_t shift = wide ? ti_sel_number(s, node->in[2]) : 0;
    if (shift < 0 || shift > 63) {
        ti_hw_refuse(s->hw, node, "its shift is outside 0..63");
        return;
    }
    select_binary(s, node,
                  (binary){TC_EW_MUL, true, false,
                           (tc_sel_tail){.scaled = !shift, .shifted = !shift, .bounds = true},
                           (uint8_t)shift, 0});
}

void ti_npu_select_extreme(tc_sel *s, const tc_node *node)
{
    binary_of(s, node, node->op == TC_OP_tosa_maximum ? TC_EW_MAX : TC_EW_MIN, true,
                  ti_hw_is_u85(s->hw), (tc_sel_tail){.scaled = ti_hw_is_u85(s->hw), .bounds = true});
}
