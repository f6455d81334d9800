/* SPDX-License-Identifier: Apache-2.0 */
/* select_reduce.c -- reductions of an axis.
 *
 *   REDUCE_SUM        of channels, where the axis is contiguous; else it is moved there first.
 *                     Of 8 and 16 bits, before a RESCALE of factor one, that is part of it.
 *                     Another axis of 8 and 16 bits also by a window of ones, where that costs less.
 *   REDUCE_MAX, _MIN  a pool whose window is the axis, at most 256 at a time (U55 has no MIN:
 *                     -1 - max(-1 - x)); or the larger of two halves, again and again: of 32 bits
 *                     always, of others where that costs less; or both, sixteen channels at a time
 *   REDUCE_ALL, _ANY  MIN and MAX of 0 and 1 */
#include "select_form.h"

enum { LONGEST = 256, LONGEST_SUM = 65536 };

/* ---- sums ---- */

typedef struct summing {
    tc_sel *s;
    const tc_hw_op *op;
    int64_t depth;
} summing;

/* Rows and columns of which all channels are summed. */
static bool sum_part(void *user, const tc_view *part)
{
    summing *x = user;
    tc_hw_op op = *x->op;
    op.ofm = part[0];
    op.ifm = part[1];
    op.op.ofm.h = op.op.ifm.h = op.op.window.ih = (int32_t)op.ofm.dim[0];
    op.op.ofm.w = op.op.ifm.w = op.op.window.iw = (int32_t)op.ofm.dim[1];
    op.op.ofm.c = 1;
    op.ifm.dim[2] = op.op.ifm.c = op.op.depth = (int32_t)x->depth;
    op.ifm.stride[2] = 1;
    ti_sel_emit(x->s, &op);
    return true;
}

void ti_sel_store_like(tc_hw_op *op, const tc_hw_op *like)
{
    op->op.ofm = like->op.ofm;
    op->op.lo = like->op.lo;
    op->op.hi = like->op.hi;
    op->op.clip = like->op.clip;
    op->op.function = like->op.function;
    op->table = like->table;
    op->op.ofm_scale.round = like->op.ofm_scale.round;
}

void ti_sel_scale_sums(tc_sel *s, const tc_hw_op *scaled, const tc_view *sums, const tc_view *to)
{
    tc_hw_op op = ti_sel_op(s, scaled->node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    tc_sel_operand x = ti_sel_operand_of(sums, 4),
                   f = ti_sel_operand_number(scaled->op.ofm_scale.multiplier, 4);
    ti_sel_store_like(&op, scaled);
    op.op.ofm_scale.shift = scaled->op.ofm_scale.shift;
    ti_sel_combine(s, &op, true, &x, &f, to);
}

/* The same by a window of ones along the axis, whose channels stay where they are.  Sums of 16 bits have
 * wide accumulators, whose factors are short: they are scaled by another operation. */
static void sum_window(tc_sel *s, const tc_hw_op *sum, const tc_view *from, const tc_view *to,
                       int32_t axis)
{
    int64_t c = from->dim[from->rank - 1], taps = from->dim[axis];
    const tc_npu_scale *q = &sum->op.ofm_scale;
    bool wide = sum->op.ifm.bytes == 2, apart = wide && (q->multiplier != 1 || q->shift);
    tc_hw_op op = ti_sel_op(s, sum->node, TC_NPU_KIND_DEPTHWISE, 0);
    int16_t *weight = tc_new_n(s->hw->arena, int16_t, (size_t)(c * taps));
    int32_t *factor = tc_new_n(s->hw->arena, int32_t, (size_t)c);
    uint8_t *shift = tc_new_n(s->hw->arena, uint8_t, (size_t)c);
    for (int64_t i = 0; i < c * taps; i++)
        weight[i] = 1;
    for (int64_t i = 0; i < c; i++) {
        factor[i] = apart ? 1 : (int32_t)q->multiplier;
        shift[i] = apart ? 0 : (uint8_t)q->shift;
    }
    op.op.ifm = sum->op.ifm;
    op.op.acc_bits = !wide ? 32 : ti_hw_is_u85(s->hw) ? 48 : 40;
    op.op.per_channel = true;
    op.weight = weight;
    op.bias = tc_new_n(s->hw->arena, int64_t, (size_t)c);
    op.factor = factor;
    op.shift = shift;
    if (apart) {
        ti_sel_plain_type(s, &op.op, 4);
        tc_view sums = ti_sel_working(s, "sums", 4, to->rank, to->dim);
        ti_sel_pool_axis(s, &op, *from, sums, axis);
        ti_sel_scale_sums(s, sum, &sums, to);
        return;
    }
    ti_sel_store_like(&op, sum);
    ti_sel_pool_axis(s, &op, *from, *to, axis);
}

static bool may_be_window(const tc_sel *s, const tc_hw_op *op, const tc_view *from,
                          const tc_view *to, int32_t axis)
{
    enum { TAPS = 64 };
    int32_t last = from->rank - 1;
    return !s->hw->judges && axis < last && from->stride[last] == 1 && to->stride[last] == 1 &&
           from->dim[last] > 1 && from->dim[axis] <= TAPS && op->op.ifm.bytes <= 2 &&
           op->op.ofm_scale.multiplier <= INT32_MAX;
}

/* The sum of all channels, which are next to each other. */
static void sum_channels(tc_sel *s, const tc_hw_op *op, const tc_view *from, const tc_view *to)
{
    int32_t last = from->rank - 1;
    tc_view views[2] = {*to, ti_view_slice(from, last, 0, 1)};
    summing each = {s, op, from->dim[last]};
    ti_view_parts(views, 2, false, sum_part, &each);
}

/* Of x * x (fold_squares.c): of a product in 16 bits, or of all pixels by each other. */
static void sum_squares(tc_sel *s, const tc_node *node)
{
    tc_view x = ti_sel_channels(s, node, node->in[0]);
    tc_hw_op sum = ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_REDUCE_SUM),
             mul = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    ti_sel_map(&sum.op.ifm, 2, true, 0);
    ti_sel_plain_output(s, &sum.op, node->out[0]);
    tc_val v = ti_sel_take_tail(s, &sum, node->out[0], (tc_sel_tail){.scaled = true, .bounds = true});
    tc_view place = ti_sel_result_of(s, node, v);
    if (s->hw->refused)
        return;
    tc_sel_ways ways = ti_sel_ways(s, node);
    ti_sel_map(&mul.op.ifm, 1, true, 0);
    ti_sel_map(&mul.op.ifm2, 1, true, 0);
    ti_sel_plain_type(s, &mul.op, 2);
    tc_view squares = ti_sel_working(s, "squares", 2, x.rank, x.dim);
    ti_sel_emit_parts(s, &mul, &x, &x, &squares);
    sum_channels(s, &sum, &squares, &place);
    if (s->hw->refused || s->hw->judges)
        return;
    ti_sel_plain(&ways);
    ti_sel_form(&ways, TC_SEL_PIXELS, ti_sel_pixel_products(s, &sum, &x, &place));
}

void ti_npu_select_reduce_sum(tc_sel *s, const tc_node *node)
{
    if (node->n_in == 2) {
        sum_squares(s, node);
        return;
    }
    const tc_attr_tosa_axis *a = node->attr;
    const tc_type *t = ti_type_of(s->g, node->in[0]);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_REDUCE_SUM);
    const tc_node *before = s->value[node->in[0]].put_off;
    tc_val x = node->in[0];
    tc_sel_scale q;
    ti_sel_map(&op.op.ifm, ti_sel_bytes(s, x), true, 0);
    if (before && before->out[0] == x && ti_sel_scale(s, before, &q)) {
        int64_t f = q.factor[0], n = q.shift[0];
        ti_sel_reduce(&f, &n);
        if (f == 1 && !n) {
            x = before->in[0];
            ti_sel_map(&op.op.ifm, ti_sel_bytes(s, x), q.in_signed, q.in_zero);
        }
    }
    int64_t depth = t->dim[a->axis];
    if (depth > LONGEST_SUM) {
        ti_hw_refuse(s->hw, node, "sums of more than %d numbers have no rule yet", LONGEST_SUM);
        return;
    }
    tc_view from = ti_sel_view(s, x), whole = from;
    if (s->hw->refused)
        return;
    tc_sel_ways ways = ti_sel_ways(s, node);
    from = ti_view_move_axis(&from, (int32_t)a->axis, from.rank - 1);
    if (depth > 1 && from.stride[from.rank - 1] != 1) {
        tc_view moved = ti_sel_working(s, "axis last", s->hw->root[from.root].bytes, from.rank,
                                       from.dim);
        ti_sel_copy(s, node, &from, &moved);
        from = moved;
    }
    ti_sel_plain_output(s, &op.op, node->out[0]);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0],
                                (tc_sel_tail){.scaled = true, .bounds = true});
    tc_view place = ti_sel_result_of(s, node, v);
    if (s->hw->refused)
        return;
    tc_view moved = ti_view_move_axis(&place, (int32_t)a->axis, place.rank - 1);
    sum_channels(s, &op, &from, &moved);
    if (!s->hw->refused && may_be_window(s, &op, &whole, &place, (int32_t)a->axis)) {
        ti_sel_plain(&ways);
        sum_window(s, &op, &whole, &place, (int32_t)a->axis);
        ti_sel_form(&ways, TC_SEL_WINDOW, true);
    }
}

/* ---- extremes ---- */

typedef struct pooling {
    tc_sel *s;
    const tc_hw_op *op;
    int64_t length, stride; /* of the axis that is columns in the input */
} pooling;

static bool pool_part(void *user, const tc_view *part)
{
    pooling *x = user;
    tc_hw_op op = *x->op;
    op.ofm = part[0];
    op.ifm = part[1];
    op.op.ofm.h = op.op.ifm.h = op.op.window.ih = (int32_t)op.ofm.dim[0];
    op.op.ofm.w = 1;
    op.op.ofm.c = op.op.ifm.c = op.op.depth = (int32_t)op.ofm.dim[2];
    op.ifm.dim[1] = op.op.ifm.w = op.op.window.iw = op.op.window.kw = (int32_t)x->length;
    op.ifm.stride[1] = x->stride;
    ti_sel_emit(x->s, &op);
    return true;
}

void ti_sel_pool_axis(tc_sel *s, const tc_hw_op *op, tc_view from, tc_view to, int32_t axis)
{
    int32_t last = from.rank - 1;
    bool apart = axis == last || (from.dim[last] > 1 && from.stride[last] != 1) ||
                 (to.dim[last] > 1 && to.stride[last] != 1);
    if (apart) {
        from = ti_view_deepen(&from);
        to = ti_view_deepen(&to);
    }
    from = ti_view_move_axis(&from, axis, from.rank - 2);
    to = ti_view_move_axis(&to, axis, to.rank - 2);
    pooling each = {s, op, from.dim[from.rank - 2], from.stride[from.rank - 2]};
    tc_view views[2] = {to, ti_view_slice(&from, from.rank - 2, 0, 1)};
    ti_view_parts(views, 2, true, pool_part, &each);
}

static tc_view working_like(tc_sel *s, const char *name, const tc_view *v, int32_t axis, int64_t n)
{
    int64_t dim[TC_VIEW_DIMS];
    memcpy(dim, v->dim, sizeof dim);
    dim[axis] = n;
    return ti_sel_working(s, name, s->hw->root[v->root].bytes, v->rank, dim);
}

tc_hw_op ti_sel_extreme(tc_sel *s, const tc_node *node, tc_npu_kind kind, uint8_t mode,
                        uint8_t bytes)
{
    tc_hw_op op = ti_sel_op(s, node, kind, mode);
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    if (kind == TC_NPU_KIND_ELEMENTWISE)
        ti_sel_map(&op.op.ifm2, bytes, true, 0);
    ti_sel_plain_type(s, &op.op, bytes);
    return op;
}

/* -1 - x, as U55 has it. */
static tc_view flipped(tc_sel *s, const tc_node *node, const tc_view *x, const tc_view *to)
{
    tc_hw_op op = ti_sel_extreme(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_SUB,
                                 s->hw->root[x->root].bytes);
    op.op.scalar = -1;
    op.op.swapped = true;
    op.op.ifm2.broadcast = TC_BROADCAST_SCALAR;
    op.op.ifm2.h = op.op.ifm2.w = op.op.ifm2.c = 1;
    ti_sel_emit_parts(s, &op, x, NULL, to);
    return *to;
}

/* Windows of at most 256 at a time. */
static void extreme_narrow(tc_sel *s, const tc_node *node, bool most, tc_view x, tc_view to,
                           int32_t axis)
{
    bool flips = !most && !ti_hw_is_u85(s->hw);
    tc_hw_op op = ti_sel_extreme(s, node, TC_NPU_KIND_POOL,
                                 most || flips ? TC_POOL_MAX : TC_POOL_MIN,
                                 s->hw->root[x.root].bytes);
    if (flips) {
        tc_view y = working_like(s, "complement", &x, axis, x.dim[axis]);
        x = flipped(s, node, &x, &y);
    }
    while (x.dim[axis] > LONGEST) {
        int64_t parts = (x.dim[axis] + LONGEST - 1) / LONGEST;
        tc_view next = working_like(s, "extremes", &x, axis, parts);
        for (int64_t i = 0; i < parts; i++) {
            tc_view piece = ti_view_slice(&x, axis, i * LONGEST,
                                          ti_min_i64(LONGEST, x.dim[axis] - i * LONGEST)),
                    one = ti_view_slice(&next, axis, i, 1);
            ti_sel_pool_axis(s, &op, piece, one, axis);
        }
        x = next;
    }
    if (!flips) {
        ti_sel_pool_axis(s, &op, x, to, axis);
        return;
    }
    tc_view y = working_like(s, "extreme", &x, axis, 1);
    ti_sel_pool_axis(s, &op, x, y, axis);
    flipped(s, node, &y, &to);
}

bool ti_sel_may_halve(const tc_sel *s, const tc_view *x)
{
    int64_t cache = s->hw->options->system->cache;
    return !s->hw->refused && !s->hw->judges &&
           (!cache || ti_view_count(x) * s->hw->root[x->root].bytes <= cache);
}

void ti_sel_halves(tc_sel *s, const tc_hw_op *op, tc_view x, tc_view to, int32_t axis)
{
    while (x.dim[axis] > 1 && !s->hw->refused) {
        int64_t n = x.dim[axis], half = (n + 1) / 2; /* both have the element in the middle */
        tc_view a = ti_view_slice(&x, axis, 0, half), b = ti_view_slice(&x, axis, n - half, half),
                y = half == 1 ? to : working_like(s, "extremes", &x, axis, half);
        tc_hw_op step = *op;
        if (half > 1) {
            step.op.function = 0;
            step.table = -1;
        }
        ti_sel_emit_parts(s, &step, &a, &b, &y);
        x = y;
    }
}

/* Channels that are next to each other, sixteen at a time as columns of a pool: each is read once.  What
 * is left are sixteen; those behind the last sixteen are taken with some of them again. */
static bool extreme_columns(tc_sel *s, const tc_node *node, bool most, const tc_hw_op *op, tc_view x,
                            tc_view to, int32_t axis)
{
    enum { COLUMN = 16, FEWEST = 3 };
    int32_t last = x.rank - 1;
    int64_t n = x.dim[axis], columns = n / COLUMN, end = columns * COLUMN;
    if (axis != last || x.stride[last] != 1 || columns < FEWEST || columns > LONGEST ||
        x.rank >= TC_VIEW_DIMS - 1 || (!most && !ti_hw_is_u85(s->hw)))
        return false;
    tc_view cut = ti_view_slice(&x, axis, 0, end), y = working_like(s, "extremes", &x, axis, COLUMN),
            place = ti_view_deepen(&y);
    cut = ti_view_deepen(&cut);
    cut.dim[last] = columns;
    cut.stride[last] = COLUMN;
    cut.dim[last + 1] = place.dim[last + 1] = COLUMN;
    cut.stride[last + 1] = place.stride[last + 1] = 1;
    place.dim[last] = 1;
    tc_hw_op pool = ti_sel_extreme(s, node, TC_NPU_KIND_POOL, most ? TC_POOL_MAX : TC_POOL_MIN,
                                   s->hw->root[x.root].bytes);
    ti_sel_pool_axis(s, &pool, cut, place, last);
    if (end < n) {
        tc_view rest = ti_view_slice(&x, axis, n - COLUMN, COLUMN),
                all = working_like(s, "extremes", &x, axis, COLUMN);
        ti_sel_emit_parts(s, op, &y, &rest, &all);
        y = all;
    }
    ti_sel_halves(s, op, y, to, axis);
    return !s->hw->refused;
}

void ti_npu_select_reduce_extreme(tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_axis *a = node->attr; /* begins every record of a reduction */
    int32_t axis = (int32_t)a->axis;
    bool most = node->op == TC_OP_tosa_reduce_max || node->op == TC_OP_tosa_reduce_any;
    tc_view x = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]);
    if (s->hw->refused)
        return;
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    tc_sel_ways ways = ti_sel_ways(s, node);
    tc_hw_op op = ti_sel_extreme(s, node, TC_NPU_KIND_ELEMENTWISE, most ? TC_EW_MAX : TC_EW_MIN,
                                 bytes);
    if (x.dim[axis] == 1)
        ti_sel_copy(s, node, &x, &to);
    else if (bytes > 2)
        ti_sel_halves(s, &op, x, to, axis);
    else {
        extreme_narrow(s, node, most, x, to, axis);
        if (!ti_sel_may_halve(s, &x))
            return;
        ti_sel_plain(&ways);
        ti_sel_halves(s, &op, x, to, axis);
        ti_sel_form(&ways, TC_SEL_HALVES, true);
        bool done = extreme_columns(s, node, most, &op, x, to, axis);
        ti_sel_form(&ways, TC_SEL_COLUMNS, done);
    }
}
