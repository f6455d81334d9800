/* SPDX-License-Identifier: Apache-2.0 */
/* select_rescale.c -- RESCALE, CLAMP, TABLE: parts of the operation before them where they can be,
 * else operations of their own.
 *
 *   RESCALE of 8 or 16 bits    U85: x + 0 with a factor; U55: a pool of one tap, to 32 bits as from
 *                              there; by channel a pool with a stream of scales
 *   RESCALE of 32 or 48 bits   U85: a pool that starts from its second operand's elements
 *                              U55: a product with a constant, whose shift is the output's
 *   CLAMP, TABLE               the same with bounds, or with a table
 *
 * INEXACT rounding, of results of 8 bits, is half up.  Unsigned values of 16 bits have a zero point
 * that no register holds, 32768: a bias of the stream subtracts it, another operation adds it. */
#include "select.h"

#include "../ir/tail.h"
#include "../npu/census.h"
#include "../num/fixed.h"

enum { BITS_15 = 0x7fff, CLIP_INT8 = 3, HALVES_AWAY = (1 << 30) + 1, HALF_OF_CODES = 128 };

/* ---- the parameters of a RESCALE ---- */

void ti_sel_reduce(int64_t *factor, int64_t *shift)
{
    while (*shift > 0 && *factor && *factor % 2 == 0) {
        *factor /= 2;
        --*shift;
    }
}

bool ti_sel_scale(tc_sel *s, const tc_node *node, tc_sel_scale *out)
{
    const tc_attr_tosa_rescale *a = node->attr;
    int64_t n_shift = 0;
    *out = (tc_sel_scale){
        .in_zero = (int32_t)ti_sel_number(s, node->in[3]),
        .out_zero = (int32_t)ti_sel_number(s, node->in[4]),
        .in_signed = !a->input_unsigned,
        .out_signed = !a->output_unsigned,
        .round = a->rounding_mode == TC_rounding_double ? TC_ROUND_DOUBLE : TC_ROUND_NATURAL};
    out->factor = ti_sel_numbers(s, node->in[1], &out->n);
    out->shift = ti_sel_numbers(s, node->in[2], &n_shift);
    if (!out->factor || !out->shift || !ti_is_const(s->g, node->in[3]) ||
        !ti_is_const(s->g, node->in[4])) {
        ti_hw_refuse(s->hw, node, "its factors are not constant");
        return false;
    }
    if (out->in_zero < 0 && !out->in_signed) /* unsigned values in a signed type */
        out->in_zero += ti_sel_bytes(s, node->in[0]) == 1 ? 256 : 65536;
    if (out->out_zero < 0 && !out->out_signed)
        out->out_zero += ti_sel_bytes(s, node->out[0]) == 1 ? 256 : 65536;
    return n_shift == out->n;
}

/* ---- the output stage ---- */

/* Bounds after the existing ones. */
static void set_bounds(tc_npu_op *op, int64_t lo, int64_t hi)
{
    op->lo = (int32_t)ti_clip(op->lo, lo, hi);
    op->hi = (int32_t)ti_clip(op->hi, lo, hi);
}

/* Results of 8 and 16 bits saturate; those of 32 bits are as they are. */
static void set_type(tc_sel *s, tc_npu_op *op, uint8_t bytes, bool is_signed, int32_t zero)
{
    ti_sel_map(&op->ofm, bytes, is_signed, zero);
    if (bytes > 2) {
        op->clip = ti_hw_is_u85(s->hw);
        op->lo = INT16_MIN;
        op->hi = -1;
        return;
    }
    int64_t top = INT64_C(1) << 8 * bytes;
    op->clip = 0;
    op->lo = (int32_t)(is_signed ? -top / 2 : 0);
    op->hi = (int32_t)(is_signed ? top / 2 - 1 : top - 1);
}

void ti_sel_plain_type(tc_sel *s, tc_npu_op *op, uint8_t bytes)
{
    set_type(s, op, bytes, true, 0);
}

void ti_sel_plain_output(tc_sel *s, tc_npu_op *op, tc_val v)
{
    ti_sel_plain_type(s, op, ti_sel_bytes(s, v));
}

static bool fits_register(const tc_sel *s, int64_t factor, int64_t shift)
{
    int64_t most = ti_hw_is_u85(s->hw) ? INT32_MAX : UINT32_MAX;
    return factor >= 0 && factor <= most && shift >= 0 && shift < 64;
}

/* A factor for each of c channels, of 15 bits where they are short. */
static bool fill_channels(tc_sel_channel_scales *k, const tc_sel_scale *q)
{
    for (int64_t i = 0; i < k->c; i++) {
        int64_t f = q->factor[q->n > 1 ? i : 0], n = q->shift[q->n > 1 ? i : 0];
        if (k->is_short && f > BITS_15) {
            bool twice = q->round == TC_ROUND_DOUBLE && n > 31; /* it depends on the shift */
            if (!twice)
                ti_sel_reduce(&f, &n);
            if (f > BITS_15)
                return false;
        }
        k->factor[i] = (int32_t)f;
        k->shift[i] = (uint8_t)n;
    }
    return true;
}

/* The same lists for every RESCALE with the same constants, so that they are packed once. */
static const tc_sel_channel_scales *channel_scales(tc_sel *s, const tc_node *node,
                                                   const tc_sel_scale *q, int64_t c, bool is_short)
{
    tc_sel_channel_scales **first = &s->value[node->in[1]].scales;
    for (const tc_sel_channel_scales *k = *first; k; k = k->next)
        if (k->shifts == node->in[2] && k->c == c && k->is_short == is_short)
            return k;
    tc_sel_channel_scales *k = tc_new(s->hw->arena, tc_sel_channel_scales);
    *k = (tc_sel_channel_scales){.next = *first,
                                 .shifts = node->in[2],
                                 .c = c,
                                 .is_short = is_short,
                                 .factor = tc_new_n(s->hw->arena, int32_t, (size_t)c),
                                 .shift = tc_new_n(s->hw->arena, uint8_t, (size_t)c)};
    k->fit = fill_channels(k, q);
    return *first = k;
}

/* The factor of a whole tensor goes into OFM_SCALE, that of channels into the scale stream. */
static bool take_scale(tc_sel *s, tc_hw_op *op, const tc_node *node, tc_sel_tail may)
{
    tc_sel_scale q;
    if (!ti_sel_scale(s, node, &q))
        return false;
    uint8_t bytes = ti_sel_bytes(s, node->out[0]);
    if (q.in_zero || (bytes > 2 && q.out_zero) || bytes > 4 || q.out_zero > INT16_MAX)
        return false;
    if (q.n > 1 && !may.channel)
        return false;
    if (may.channel) {
        const tc_sel_channel_scales *k =
            channel_scales(s, node, &q, op->op.ofm.c, op->op.acc_bits == 48);
        if (!k->fit)
            return false;
        op->factor = k->factor;
        op->shift = k->shift;
    } else {
        int64_t f = q.factor[0], n = q.shift[0];
        if (q.round == TC_ROUND_NATURAL)
            ti_sel_reduce(&f, &n);
        if (q.round == TC_ROUND_NATURAL && may.below_30 && f == HALVES_AWAY && n > 30) {
            q.round = TC_ROUND_SYMMETRIC;
            f = 1;
            n -= 30;
        }
        if (!fits_register(s, f, n) || (!may.scaled && (f != 1 || (n && !may.shifted))))
            return false;
        if (may.scaled || may.shifted) {
            op->op.ofm_scale.multiplier = (uint32_t)f;
            op->op.ofm_scale.shift = (uint8_t)n;
        }
    }
    if (may.scaled || may.shifted)
        op->op.ofm_scale.round = q.round;
    set_type(s, &op->op, bytes, q.out_signed, q.out_zero);
    return true;
}

/* int8 codes as uint8 ones, by `by` = 128 more; or back, by -128. */
static bool only_moves(tc_sel *s, const tc_node *node, int by)
{
    const tc_attr_tosa_rescale *a = node->attr;
    tc_sel_scale q;
    if (node->op != TC_OP_tosa_rescale || ti_sel_bytes(s, node->in[0]) != 1 ||
        ti_sel_bytes(s, node->out[0]) != 1 || (by > 0 ? !a->output_unsigned : !a->input_unsigned) ||
        !ti_sel_scale(s, node, &q))
        return false;
    int64_t f = q.factor[0], n = q.shift[0];
    ti_sel_reduce(&f, &n);
    return q.n == 1 && f == 1 && n == 0 && q.out_zero - q.in_zero == by;
}

/* Results of 8 bits and their bounds without a sign. */
static bool take_up(tc_sel *s, tc_hw_op *op, const tc_node *node)
{
    tc_npu_op *o = &op->op;
    bool sum = o->kind == TC_NPU_KIND_CONV || o->kind == TC_NPU_KIND_DEPTHWISE ||
               (o->kind == TC_NPU_KIND_POOL && o->mode != TC_POOL_MAX) ||
               (o->kind == TC_NPU_KIND_ELEMENTWISE &&
                (o->mode == TC_EW_ADD || o->mode == TC_EW_SUB || o->mode == TC_EW_MUL));
    if (!sum || o->ofm.bytes != 1 || !o->ofm.is_signed || !only_moves(s, node, HALF_OF_CODES))
        return false;
    o->ofm.is_signed = false;
    o->ofm.zero += HALF_OF_CODES;
    o->lo += HALF_OF_CODES;
    o->hi += HALF_OF_CODES;
    return true;
}

/* 128 base + slope f, then / 128 with half up: that is base + (slope f + 64) / 128, a table whose
 * results have 16 bits. */
const tc_node *ti_sel_to_16_bits(tc_sel *s, const tc_node *table)
{
    const tc_node *next = ti_sel_only_reader(s, table->out[0]);
    tc_sel_scale q;
    if (ti_sel_dtype(s, table->out[0]) != TC_i32 || !next || next->op != TC_OP_tosa_rescale ||
        ti_sel_dtype(s, next->out[0]) != TC_i16 || !ti_sel_scale(s, next, &q))
        return NULL;
    int64_t f = q.factor[0], n = q.shift[0];
    ti_sel_reduce(&f, &n);
    bool same = q.n == 1 && f == 1 && n == 7 && !q.in_zero && !q.out_zero && q.out_signed;
    return same ? next : NULL;
}

/* 256 entries of 8 or 32 bits, or 513 of 16 as pairs of base and slope. */
static bool take_table(tc_sel *s, tc_hw_op *op, const tc_node *node)
{
    bool wide = ti_sel_dtype(s, node->in[0]) == TC_i16, u85 = ti_hw_is_u85(s->hw);
    int64_t n;
    const int64_t *x = ti_sel_numbers(s, node->in[1], &n);
    tc_dtype out = ti_sel_to_16_bits(s, node) ? TC_i16 : ti_sel_dtype(s, node->out[0]);
    bool codes = !wide && out == TC_i32; /* U55 clamps to 8 bits: only sums are known to do it */
    static const uint8_t of_u85[2][2] = {{TC_NPU_LOOKUP_I8_8, TC_NPU_LOOKUP_I8_32},
                                         {TC_NPU_LOOKUP_PAIRS_16, TC_NPU_LOOKUP_PAIRS_32}};
    uint8_t function = u85 ? of_u85[wide][out == TC_i32] : TC_NPU_LOOKUP;
    if (!x || n != (wide ? 513 : 256) || (out == TC_i32 && wide && !u85) ||
        (codes && !u85 && op->op.kind != TC_NPU_KIND_ELEMENTWISE) ||
        !ti_npu_looks_up(s->hw->machine, op->op.kind, function))
        return false;
    int32_t entry = codes ? 4 : 1, bytes = wide ? TC_NPU_LUT : 256 * entry;
    uint8_t *data = tc_new_n(s->hw->arena, uint8_t, (size_t)bytes);
    if (wide)
        for (int i = 0; i < 512; i++) {
            int64_t slope = x[i + 1] - x[i];
            if (slope < INT16_MIN || slope > INT16_MAX)
                return false;
            data[4 * i] = (uint8_t)x[i];
            data[4 * i + 1] = (uint8_t)(x[i] >> 8);
            data[4 * i + 2] = (uint8_t)slope;
            data[4 * i + 3] = (uint8_t)(slope >> 8);
        }
    else
        for (int i = 0; i < bytes; i++)
            data[i] = (uint8_t)(x[i / entry] >> 8 * (i % entry));
    op->table = ti_hw_table(s->hw, data, bytes);
    op->op.function = function;
    if (codes && !u85)
        op->op.clip = CLIP_INT8;
    op->op.ofm.bytes = out == TC_i16 ? 2 : ti_sel_bytes(s, node->out[0]);
    return true;
}

static bool may_clamp(const tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_clamp *a = node->attr;
    tc_dtype t = ti_sel_dtype(s, node->in[0]);
    return (t == TC_i8 || t == TC_i16) && a->min_val <= a->max_val;
}

static void take_clamp(tc_hw_op *op, const tc_node *node)
{
    const tc_attr_tosa_clamp *a = node->attr;
    set_bounds(&op->op, (int64_t)a->min_val, (int64_t)a->max_val);
}

/* The only reader, where the value itself is not needed. */
static const tc_node *reader_in_tail(const void *who, tc_val v)
{
    const tc_sel *s = who;
    return s->value[v].asked ? NULL : ti_sel_only_reader(s, v);
}

/* Fuses the node into the operation; false: it cannot; once: its result is saturated already. */
static bool take_node(tc_sel *s, tc_hw_op *op, const tc_node *node, tc_sel_tail may, bool once)
{
    switch (node->op) {
    case TC_OP_tosa_rescale:
        return (!once && take_scale(s, op, node, may)) || take_up(s, op, node);
    case TC_OP_tosa_clamp:
        if (!may.bounds || !op->op.ofm.is_signed || !may_clamp(s, node)) /* bounds have a sign */
            return false;
        take_clamp(op, node);
        return true;
    default:
        return may.bounds && op->op.ofm.is_signed && take_table(s, op, node);
    }
}

/* The results from v to the node's are those of one operation. */
static tc_val take_values(tc_sel *s, tc_val v, const tc_node *node)
{
    for (tc_val from = node->in[0]; from != v; from = ti_def(s->g, from)->in[0])
        s->value[from].taken = true;
    s->value[node->out[0]].taken = true;
    return node->out[0];
}

tc_val ti_sel_take_tail(tc_sel *s, tc_hw_op *op, tc_val v, tc_sel_tail may)
{
    const tc_tail tail = {s->g, reader_in_tail, s, true};
    bool once = op->op.ofm.bytes <= 2 && !may.scaled; /* saturated: the next one is another */
    const tc_node *next;
    while (op->table < 0 && (next = ti_tail_next(&tail, v)) && take_node(s, op, next, may, once)) {
        once = true;
        may.scaled = may.shifted = may.channel = false;
        may.bounds = next->op != TC_OP_tosa_table && op->op.ofm.bytes <= 2 && op->op.ofm.is_signed;
        v = take_values(s, v, next);
        const tc_node *more = next->op == TC_OP_tosa_table ? ti_sel_to_16_bits(s, next) : NULL;
        v = more ? take_values(s, v, more) : v;
    }
    return v;
}

void ti_sel_unit_scales(tc_sel *s, tc_hw_op *op, int64_t channels)
{
    int32_t *factor = tc_new_n(s->hw->arena, int32_t, (size_t)channels);
    for (int64_t i = 0; i < channels; i++)
        factor[i] = 1;
    op->factor = factor;
    op->shift = tc_new_n(s->hw->arena, uint8_t, (size_t)channels);
}

tc_view ti_sel_result_of(tc_sel *s, const tc_node *node, tc_val v)
{
    const tc_type *t = ti_type_of(s->g, node->out[0]);
    tc_view to = ti_sel_result(s, v), place = to;
    if (!ti_view_reshape(&to, t->rank, t->dim, &place))
        ti_hw_refuse(s->hw, node, "its result has no place in one piece");
    return place;
}

/* ---- by itself ---- */

/* U55 and U65 have no accumulators of 32 bits to start from: x * factor by an elementwise product,
 * whose own factor is not used, only its shift.  Runs of channels with one shift. */
static void rescale_u55(tc_sel *s, const tc_node *node, const tc_sel_scale *q, tc_view from)
{
    const tc_type *t = ti_type_of(s->g, node->in[0]);
    int64_t channels = q->n > 1 ? q->n : 1;
    int32_t last = t->rank - 1;
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    ti_sel_map(&op.op.ifm, 4, true, 0);
    ti_sel_map(&op.op.ifm2, 4, true, 0);
    set_type(s, &op.op, ti_sel_bytes(s, node->out[0]), q->out_signed, q->out_zero);
    op.op.ofm_scale.round = q->round;
    tc_val v = node->out[0];
    if (channels == 1)
        v = ti_sel_take_tail(s, &op, v, (tc_sel_tail){.bounds = true});
    tc_view to = ti_sel_result(s, v), flat = to;
    if (!ti_view_reshape(&to, t->rank, t->dim, &flat)) {
        ti_hw_refuse(s->hw, node, "its result has no place in one piece");
        return;
    }
    for (int64_t c = 0, n; c < channels; c += n) {
        for (n = 1; c + n < channels && q->shift[c + n] == q->shift[c]; n++)
            ;
        int32_t *factor = tc_new_n(s->hw->arena, int32_t, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            factor[i] = (int32_t)q->factor[c + i];
        tc_view k = ti_sel_constant(s, "factors", 4, 1, (int64_t[]){n}, factor), part = from,
                out = flat;
        if (channels > 1) {
            part = ti_view_slice(&from, last, c, n);
            out = ti_view_slice(&flat, last, c, n);
        }
        k = ti_view_broadcast(&k, t->rank, part.dim);
        op.op.ofm_scale.shift = (uint8_t)q->shift[c];
        ti_sel_emit_parts(s, &op, &part, &k, &out);
    }
}

/* U85, one factor for all: the sum with 0. */
static bool rescale_sum(tc_sel *s, const tc_node *node, const tc_sel_scale *q)
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_ADD);
    if (q->n > 1 || ti_sel_bytes(s, node->in[0]) != 4 ||
        !take_scale(s, &op, node, (tc_sel_tail){.scaled = true}))
        return false;
    ti_sel_map(&op.op.ifm, 4, true, 0);
    ti_sel_map(&op.op.ifm2, 4, true, 0);
    op.op.ifm2.broadcast = TC_BROADCAST_SCALAR;
    op.op.ifm2.storage = TC_STORE_NONE;
    op.op.ifm2.h = op.op.ifm2.w = op.op.ifm2.c = 1;
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.bounds = true});
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result_of(s, node, v);
    ti_sel_emit_parts(s, &op, &from, NULL, &to);
    return true;
}

/* U85: accumulators start from the operand. */
static void rescale_u85(tc_sel *s, const tc_node *node, const tc_sel_scale *q)
{
    if (rescale_sum(s, node, q))
        return;
    const tc_type *t = ti_type_of(s->g, node->in[0]);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_NONE);
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    ti_sel_map(&op.op.ifm, 1, true, 0);
    op.op.ifm.used = false;
    ti_sel_map(&op.op.ifm2, bytes, true, 0);
    op.op.acc_input = 2;
    op.op.acc_bits = bytes == 8 ? 48 : 32;
    op.op.ofm.c = (int32_t)(t->rank ? t->dim[t->rank - 1] : 1);
    op.op.per_channel = q->n > 1;
    if (!take_scale(s, &op, node, (tc_sel_tail){.scaled = true, .channel = q->n > 1})) {
        ti_hw_refuse(s->hw, node, "its factors do not fit the machine's registers");
        return;
    }
    if (op.op.per_channel)
        op.bias = tc_new_n(s->hw->arena, int64_t, (size_t)op.op.ofm.c);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.bounds = true});
    tc_view from = op.op.per_channel ? ti_sel_channels(s, node, node->in[0])
                                     : ti_sel_view(s, node->in[0]),
            to = ti_sel_result_of(s, node, v);
    ti_sel_emit_parts(s, &op, NULL, &from, &to);
}

static bool is_sum(const tc_sel *s, uint8_t bytes) { return ti_hw_is_u85(s->hw) || bytes > 2; }

/* x + 0 where that is the faster one, and for results of 32 bits; or a pool of one tap. */
static void emit_pointwise(tc_sel *s, tc_hw_op *op, const tc_view *from, const tc_view *to)
{
    if (!is_sum(s, op->op.ofm.bytes) || op->op.per_channel) {
        ti_sel_emit_parts(s, op, from, NULL, to);
        return;
    }
    tc_sel_operand x = ti_sel_operand_of(from, op->op.ifm.bytes),
                   zero = ti_sel_operand_number(0, op->op.ifm.bytes);
    x.is_signed = zero.is_signed = op->op.ifm.is_signed;
    x.zero = op->op.ifm.zero;
    op->op.kind = TC_NPU_KIND_ELEMENTWISE;
    op->op.mode = TC_EW_ADD;
    op->op.param = TC_EW_ADD;
    ti_sel_combine(s, op, true, &x, &zero, to);
}

/* The stream of scales: of a factor each, or of a zero point that is too large for its register. */
static bool set_stream(tc_sel *s, tc_hw_op *op, const tc_node *node, const tc_sel_scale *q)
{
    const tc_type *t = ti_type_of(s->g, node->in[0]);
    int64_t c = t->rank ? t->dim[t->rank - 1] : 1;
    if (c > TC_HW_EXTENT || (q->n > 1 && q->n != c))
        return false;
    int64_t *bias = tc_new_n(s->hw->arena, int64_t, (size_t)c);
    int32_t *factor = tc_new_n(s->hw->arena, int32_t, (size_t)c);
    uint8_t *shift = tc_new_n(s->hw->arena, uint8_t, (size_t)c);
    for (int64_t i = 0; i < c; i++) {
        factor[i] = (int32_t)q->factor[q->n > 1 ? i : 0];
        shift[i] = (uint8_t)q->shift[q->n > 1 ? i : 0];
        bias[i] = q->in_zero > INT16_MAX ? -q->in_zero : 0;
    }
    op->op.ifm.zero = q->in_zero > INT16_MAX ? 0 : q->in_zero;
    op->op.ofm.c = (int32_t)c;
    op->op.per_channel = true;
    op->bias = bias;
    op->factor = factor;
    op->shift = shift;
    return true;
}

/* y + 32768 without its sign: 16384 twice. */
static void raise(tc_sel *s, const tc_node *node, const tc_sel_operand *y, const tc_view *to)
{
    enum { HALF = 16384 };
    tc_sel_operand half = ti_sel_operand_number(HALF, 2);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_ADD, 2);
    set_type(s, &op.op, 2, false, HALF);
    ti_sel_combine(s, &op, true, y, &half, to);
}

/* Other bits and another zero point, nothing else. */
static void recode_u55(tc_sel *s, const tc_node *node, const tc_sel_scale *q)
{
    tc_sel_operand x = ti_sel_operand(s, node->in[0]);
    uint8_t bytes = ti_sel_bytes(s, node->out[0]);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MAX, bytes);
    x.is_signed = q->in_signed;
    x.zero = q->in_zero;
    tc_sel_operand same = ti_sel_operand_same(s, &x);
    set_type(s, &op.op, bytes, q->out_signed, q->out_zero);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.bounds = true});
    tc_view to = ti_sel_result_of(s, node, v);
    ti_sel_combine(s, &op, true, &x, &same, &to);
}

/* 8 and 16 bits to 8 and 16; U85 also to 32. */
static void rescale_narrow(tc_sel *s, const tc_node *node, const tc_sel_scale *q)
{
    tc_hw_op op = ti_sel_pointwise(s, node);
    ti_sel_map(&op.op.ifm, ti_sel_bytes(s, node->in[0]), q->in_signed, q->in_zero);
    int64_t f = q->factor[0], n = q->shift[0];
    if (q->round == TC_ROUND_NATURAL)
        ti_sel_reduce(&f, &n);
    uint8_t bytes = ti_sel_bytes(s, node->out[0]);
    bool stream = q->n > 1 || q->in_zero > INT16_MAX, high = q->out_zero > INT16_MAX;
    op.op.ofm_scale = (tc_npu_scale){.multiplier = (uint32_t)f, .shift = (uint8_t)n,
                                     .round = q->round};
    if ((stream && !set_stream(s, &op, node, q)) || (!stream && !fits_register(s, f, n)) ||
        (bytes > 2 && q->out_zero) || bytes > 4) {
        ti_hw_refuse(s->hw, node, "its factors do not fit the machine's registers");
        return;
    }
    if (!ti_hw_is_u85(s->hw) && !stream && !high && f == 1 && n == 0 && bytes <= 2 &&
        !ti_is_const(s->g, node->in[0])) {
        recode_u55(s, node, q);
        return;
    }
    set_type(s, &op.op, bytes, high || q->out_signed, high ? 0 : q->out_zero);
    tc_view from = stream        ? ti_sel_channels(s, node, node->in[0])
                   : q->in_signed ? ti_sel_codes(s, node, node->in[0], &op.op.ifm)
                                  : ti_sel_view(s, node->in[0]);
    if (s->hw->refused)
        return;
    if (high) {
        tc_view to = ti_sel_working(s, "signed", bytes, from.rank, from.dim);
        emit_pointwise(s, &op, &from, &to);
        tc_sel_operand y = ti_sel_operand_of(&to, bytes);
        to = ti_sel_result(s, node->out[0]);
        raise(s, node, &y, &to);
        return;
    }
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.bounds = true});
    tc_view to = ti_sel_result_of(s, node, v);
    emit_pointwise(s, &op, &from, &to);
}

/* To 32 bits U55 goes through 32 bits: its scales are documented for fewer bits. */
static void rescale_wider_u55(tc_sel *s, const tc_node *node, const tc_sel_scale *q)
{
    tc_sel_operand x = ti_sel_operand(s, node->in[0]);
    if (q->in_zero > INT16_MAX || q->out_zero) {
        ti_hw_refuse(s->hw, node, "its zero point does not fit the machine's registers");
        return;
    }
    x.is_signed = q->in_signed;
    x.zero = q->in_zero;
    if (x.is_number && !x.is_signed && x.number < 0)
        x.number += x.bytes == 1 ? 256 : 65536;
    int64_t f = q->factor[0], n = q->shift[0];
    if (q->round == TC_ROUND_NATURAL)
        ti_sel_reduce(&f, &n);
    if (q->n == 1 && f == 1 && n == 0) {
        tc_sel_operand same = ti_sel_operand_same(s, &x);
        tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MAX, 4);
        tc_view to = ti_sel_result(s, node->out[0]);
        ti_sel_combine(s, &op, true, &x, &same, &to);
        return;
    }
    if (q->n == 1 && n == 0 && f > 1 && f <= UINT8_MAX && x.is_signed && !x.is_number) {
        tc_sel_operand by = ti_sel_operand_number(f / 2, x.bytes); /* the other half is its zero */
        by.zero = (int32_t)(f / 2 - f);
        tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MUL, 4);
        tc_view to = ti_sel_result(s, node->out[0]);
        ti_sel_combine(s, &op, true, &x, &by, &to);
        return;
    }
    if (x.is_number) {
        int64_t *all = tc_new(s->hw->arena, int64_t);
        *all = x.number - x.zero;
        const tc_type *t = ti_type_of(s->g, node->in[0]);
        rescale_u55(s, node, q, ti_sel_constant(s, "number", 4, t->rank, t->dim, all));
        return;
    }
    x = ti_sel_widened(s, node, &x);
    if (!s->hw->refused)
        rescale_u55(s, node, q, x.view);
}

void ti_npu_select_rescale_alone(tc_sel *s, const tc_node *node)
{
    tc_sel_scale q;
    if (!ti_sel_scale(s, node, &q))
        return;
    uint8_t in = ti_sel_bytes(s, node->in[0]), out = ti_sel_bytes(s, node->out[0]);
    if (in <= 2 && out > 2 && !ti_hw_is_u85(s->hw))
        rescale_wider_u55(s, node, &q);
    else if (in <= 2)
        rescale_narrow(s, node, &q);
    else if (ti_hw_is_u85(s->hw))
        rescale_u85(s, node, &q);
    else if (in == 4 && !q.in_zero && q.out_zero <= INT16_MAX && !(out > 2 && q.out_zero))
        rescale_u55(s, node, &q, ti_sel_view(s, node->in[0]));
    else if (in == 4)
        ti_hw_refuse(s->hw, node, "its zero points do not fit the machine's registers");
    else
        ti_hw_refuse(s->hw, node, "the machine has no numbers of 48 bits");
}

int ti_sel_moved_left(tc_sel *s, tc_val v)
{
    const tc_node *node = s->value[v].put_off;
    tc_sel_scale q;
    if (!node || node->out[0] != v || ti_sel_bytes(s, node->in[0]) > 2 ||
        !ti_sel_scale(s, node, &q))
        return 0;
    int64_t f = q.factor[0], n = q.shift[0];
    ti_sel_reduce(&f, &n);
    int k = 0;
    for (; f > 1 && f % 2 == 0; f /= 2)
        k++;
    return f == 1 && n == 0 ? k : 0;
}

/* Sums scale operands twice: what was shifted left is multiplied, and rounded both times. */
static bool second_scale(tc_sel *s, const tc_node *node, const tc_sel_scale *q)
{
    const tc_node *reader = ti_sel_only_reader(s, node->out[0]);
    bool sum = reader && (reader->op == TC_OP_tosa_add || reader->op == TC_OP_tosa_sub);
    int k = sum && ti_sel_dtype(s, node->in[0]) == TC_i32 ? ti_sel_moved_left(s, node->in[0]) : 0;
    return k && q->round == TC_ROUND_DOUBLE && !q->in_zero && q->shift[0] >= k;
}

/* A reader may be able to fuse it into an operand: it is deferred. */
bool ti_sel_put_off(tc_sel *s, const tc_node *node)
{
    tc_sel_scale q;
    if (!ti_sel_scale(s, node, &q))
        return false;
    if (only_moves(s, node, -HALF_OF_CODES)) { /* a zero point of its reader */
        s->value[node->out[0]].put_off = node;
        return true;
    }
    bool may = (ti_sel_bytes(s, node->in[0]) <= 2 || second_scale(s, node, &q)) &&
               ti_sel_dtype(s, node->out[0]) == TC_i32 && q.n == 1 && !q.out_zero &&
               q.in_zero <= INT16_MAX;
    if (may)
        s->value[node->out[0]].put_off = node;
    return may;
}

void ti_npu_select_rescale(tc_sel *s, const tc_node *node)
{
    if (!ti_sel_put_off(s, node) && !s->hw->refused)
        ti_npu_select_rescale_alone(s, node);
}

/* CLAMP, TABLE after something that cannot fuse them. */
void ti_npu_select_pointwise(tc_sel *s, const tc_node *node)
{
    tc_hw_op op = ti_sel_pointwise(s, node);
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    set_type(s, &op.op, bytes, true, 0);
    bool taken = bytes <= 2;
    if (is_sum(s, bytes == 1 ? ti_sel_bytes(s, node->out[0]) : 2))
        op.op.kind = TC_NPU_KIND_ELEMENTWISE;
    if (taken && node->op == TC_OP_tosa_clamp)
        take_clamp(&op, node);
    else if (taken)
        taken = take_table(s, &op, node);
    if (!taken) {
        ti_hw_refuse(s->hw, node, "numbers of this type have no such operation");
        return;
    }
    tc_val v = node->out[0];
    const tc_node *more = node->op == TC_OP_tosa_table ? ti_sel_to_16_bits(s, node) : NULL;
    if (node->op == TC_OP_tosa_clamp)
        v = ti_sel_take_tail(s, &op, v, (tc_sel_tail){.bounds = true});
    else if (more) {
        v = more->out[0];
        s->value[v].taken = true;
    }
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result_of(s, node, v);
    emit_pointwise(s, &op, &from, &to);
}
