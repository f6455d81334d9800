/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c -- see estimate.h.
 *
 * What is known of how Vela makes operations: a rescale, a clamp or a table behind an
 * operation becomes part of it where nobody else reads what is between; a widening rescale
 * becomes part of its only reader; reshapes, slices and joins are addresses; element-wise
 * operations follow each other in chains on U85; a matrix product on U55 is made column by column.
 * Tensors inside are in bricks, weights compress to their entropy. */
#include "estimate_item.h"

#include "../num/load.h"

#include "../ir/rewrite.h"

#include <math.h>

enum { CHAIN = 4, CHAIN_INPUTS = 3 }; /* operations, and maps that they read */

/* ---- element by element ---- */

static const struct {
    tc_op op;
    uint8_t mode, times; /* times: operations that it takes */
} pointwise[] = {
    {TC_OP_tosa_add, TC_EW_ADD, 1},
    {TC_OP_tosa_sub, TC_EW_SUB, 1},
    {TC_OP_tosa_mul, TC_EW_MUL, 1},
    {TC_OP_tosa_maximum, TC_EW_MAX, 1},
    {TC_OP_tosa_minimum, TC_EW_MIN, 1},
    {TC_OP_tosa_abs, TC_EW_ABS, 1},
    {TC_OP_tosa_negate, TC_EW_SUB, 1},
    {TC_OP_tosa_clz, TC_EW_CLZ, 1},
    {TC_OP_tosa_arithmetic_right_shift, TC_EW_SHR, 1},
    {TC_OP_tosa_logical_left_shift, TC_EW_SHL, 1},
    {TC_OP_tosa_logical_right_shift, TC_EW_LSR, 1},
    {TC_OP_tosa_bitwise_and, TC_EW_AND, 1},
    {TC_OP_tosa_bitwise_or, TC_EW_OR, 1},
    {TC_OP_tosa_bitwise_xor, TC_EW_XOR, 1},
    {TC_OP_tosa_bitwise_not, TC_EW_NOT, 1},
    {TC_OP_tosa_logical_and, TC_EW_AND, 1},
    {TC_OP_tosa_logical_or, TC_EW_OR, 1},
    {TC_OP_tosa_logical_xor, TC_EW_XOR, 1},
    {TC_OP_tosa_logical_not, TC_EW_NOT, 1},
    {TC_OP_tosa_equal, TC_EW_CMP_EQ, 1},
    {TC_OP_tosa_greater, TC_EW_CMP_GT, 1},
    {TC_OP_tosa_greater_equal, TC_EW_CMP_GE, 1},
    {TC_OP_tosa_intdiv, TC_EW_DIV, 1},
    {TC_OP_tosa_select, TC_EW_AND, 3},
};

static void set_broadcast(tc_npu_map *m, const tc_npu_map *out)
{
    if (m->broadcast & TC_BROADCAST_SCALAR)
        return;
    m->broadcast =
        (uint8_t)((m->h < out->h ? TC_BROADCAST_H : 0) | (m->w < out->w ? TC_BROADCAST_W : 0) |
                  (m->c < out->c ? TC_BROADCAST_C : 0));
}

/* MUL whose 32-bit products are not shifted. */
static bool is_whole(const tc_guesser *e, const tc_node *node)
{
    tc_tensor t = node->op == TC_OP_tosa_mul ? ti_tensor_of(e->g, node->in[2]) : (tc_tensor){0};
    return t.data && ti_is_const(e->g, node->in[2]) && ti_load_i64(t, 0) == 0;
}

static void elementwise(tc_guesser *e, const tc_node *node, uint8_t mode, int times)
{
    for (int k = 0; k < times; k++) {
        tc_guess *i = ti_guess_add(e, node, TC_NPU_KIND_ELEMENTWISE, mode);
        bool two = node->n_in > 1 && node->op != TC_OP_tosa_negate;
        i->op.ofm = ti_guess_map(e, node->out[0]);
        i->op.ifm = ti_guess_map(e, node->in[times > 1 ? 1 : 0]);
        if (two)
            i->op.ifm2 = ti_guess_map(e, node->in[times > 1 ? 2 : 1]);
        set_broadcast(&i->op.ifm, &i->op.ofm);
        if (two)
            set_broadcast(&i->op.ifm2, &i->op.ofm);
        if (two && !ti_guess_u85(e) &&
            i->op.ifm.broadcast) { /* only the second may be smaller there */
            tc_npu_map first = i->op.ifm;
            i->op.ifm = i->op.ifm2;
            i->op.ifm2 = first;
        }
        i->sums =
            i->op.ifm.bytes < 4 || (ti_guess_u85(e) && (mode == TC_EW_ADD || mode == TC_EW_SUB ||
                                                        is_whole(e, node)));
        ti_guess_makes(e, i, node->out[0]);
    }
}

/* ---- what becomes part of another ---- */

static double factor_of(const tc_guesser *e, const tc_node *rescale)
{
    if (((const tc_attr_tosa_rescale *)rescale->attr)->per_channel ||
        !ti_is_const(e->g, rescale->in[1]) || !ti_is_const(e->g, rescale->in[2]))
        return NAN;
    const tc_value *m = e->g->val[rescale->in[1]], *s = e->g->val[rescale->in[2]];
    double multiplier =
        m->type->dtype == TC_i32 ? *(const int32_t *)m->data : *(const int16_t *)m->data;
    return ldexp(multiplier, -(int)*(const int8_t *)s->data);
}

/* The only reader of a value, or of a reshape of it. */
static const tc_node *only_reader(const tc_guesser *e, tc_val v)
{
    const tc_node *r = e->readers[v] == 1 ? e->reader[v] : NULL;
    while (r && r->op == TC_OP_tosa_reshape)
        r = e->readers[r->out[0]] == 1 ? e->reader[r->out[0]] : NULL;
    return r;
}

/* What makes an operand for its reader alone, in this shape or another; or NULL. */
static const tc_node *made_for(const tc_guesser *e, tc_val v)
{
    const tc_node *def = e->readers[v] == 1 ? ti_def(e->g, v) : NULL;
    while (def && def->op == TC_OP_tosa_reshape)
        def = e->readers[def->in[0]] == 1 ? ti_def(e->g, def->in[0]) : NULL;
    return def;
}

/* Both operands are widened from the same type, each for this reader alone. */
static bool like_operands(const tc_guesser *e, const tc_node *reader, uint8_t bytes)
{
    for (int i = 0; i < 2 && i < reader->n_in; i++) {
        const tc_node *def = made_for(e, reader->in[i]);
        if (!def || def->op != TC_OP_tosa_rescale ||
            ti_guess_bytes(ti_type_of(e->g, def->in[0])) != bytes)
            return false;
    }
    return true;
}

static bool takes_wide(const tc_guesser *e, const tc_node *reader, double factor, uint8_t bytes)
{
    if (reader->op != TC_OP_tosa_abs && reader->op != TC_OP_tosa_reduce_sum &&
        !like_operands(e, reader, bytes))
        return false;
    switch (reader->op) {
    case TC_OP_tosa_mul:
        return factor == 1;
    case TC_OP_tosa_add:
    case TC_OP_tosa_sub:
        return true;
    case TC_OP_tosa_maximum:
    case TC_OP_tosa_minimum:
        return ti_guess_u85(e) || factor == 1;
    case TC_OP_tosa_abs:
    case TC_OP_tosa_reduce_sum:
        return factor == 1;
    default:
        return false;
    }
}

/* A value that nobody makes: it is another one's elements. */
static void shows(tc_guesser *e, tc_val v, tc_val of, bool shape)
{
    e->storage[v] = e->storage[of];
    e->maker[v] = e->maker[of];
    if (shape)
        e->flat[e->storage[of]] = true;
}

/* The item that makes a value, if what follows may join it; a reshape in between does not matter.
 */
static tc_guess *joins(const tc_guesser *e, tc_val v)
{
    int32_t i = e->maker[v];
    tc_val from = e->storage[v];
    return i != TC_GUESS_NONE && e->readers[v] == 1 && e->readers[from] == 1 &&
                   e->item[i].out == from && !e->item[i].activated
               ? &e->item[i]
               : NULL;
}

static void rescale(tc_guesser *e, const tc_node *node)
{
    tc_val in = node->in[0], out = node->out[0];
    uint8_t from = ti_guess_bytes(ti_type_of(e->g, in)), to = ti_guess_bytes(ti_type_of(e->g, out));
    tc_guess *before = joins(e, in);
    const tc_node *reader = only_reader(e, out);
    if (before && before->sums && from >= 4) {
        for (size_t k = e->n; k-- > 0 && e->item[k].node == before->node;)
            if (e->item[k].op.ofm.bytes == before->op.ofm.bytes &&
                e->item[k].op.kind != TC_NPU_KIND_ELEMENTWISE)
                e->item[k].op.ofm.bytes =
                    k == (size_t)(before - e->item) ? e->item[k].op.ofm.bytes : to;
        before->op.ofm.bytes = to;
        before->sums = false;
        ti_guess_scaled(before);
        ti_guess_makes(e, before, out);
        before->op.ofm.format = ti_guess_bricks(e, out) ? TC_NHCWB16 : TC_NHWC;
        return;
    }
    int32_t maker = e->maker[in];
    if (from >= 4 && to < 4 && maker != TC_GUESS_NONE && e->readers[in] == 1 &&
        e->item[maker].out == in &&
        e->item[maker].op.function) { /* of a table's result, so that its own elements come out */
        e->item[maker].op.ofm.bytes = to;
        ti_guess_makes(e, &e->item[maker], out);
        e->item[maker].op.ofm.format = ti_guess_bricks(e, out) ? TC_NHCWB16 : TC_NHWC;
        return;
    }
    if (from < 4 && to == 4 && reader && takes_wide(e, reader, factor_of(e, node), from)) {
        shows(e, out, in, false);
        return;
    }
    if (!ti_guess_u85(e) && from >= 4) {
        tc_guess *i = ti_guess_add(e, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
        i->op.ifm = ti_guess_map(e, in);
        i->op.ifm2 = i->op.ifm;
        i->op.ifm2.h = i->op.ifm2.w = i->op.ifm2.c = 1;
        i->op.ifm2.region = 0;
        i->op.ifm2.broadcast = TC_BROADCAST_SCALAR;
        i->op.ofm = ti_guess_map(e, out);
        ti_guess_makes(e, i, out);
        return;
    }
    ti_guess_scaled(ti_guess_copy(e, node, in, out));
}

static void activation(tc_guesser *e, const tc_node *node)
{
    tc_guess *before = joins(e, node->in[0]);
    bool table = node->op == TC_OP_tosa_table;
    uint8_t to = ti_guess_bytes(ti_type_of(e->g, node->out[0]));
    if (!before || before->op.ofm.bytes > 2 || before->op.kind == TC_NPU_KIND_RESIZE) {
        tc_guess *i = ti_guess_copy(e, node, node->in[0], node->out[0]);
        i->op.function = table ? (ti_guess_u85(e) ? 4 : 16) : 0;
        i->op.ofm.bytes =
            table && to == 4 ? 2 : to; /* a table's own elements; wider ones are made of them */
        i->activated = true;
        return;
    }
    before->op.function = table ? (ti_guess_u85(e) ? 4 : 16) : before->op.function;
    before->op.ofm.bytes = to;
    before->activated = true;
    ti_guess_makes(e, before, node->out[0]);
    before->op.ofm.format = ti_guess_bricks(e, node->out[0]) ? TC_NHCWB16 : TC_NHWC;
}

/* Parts that are computed are written to their place; others are copied there. */
static void concat(tc_guesser *e, const tc_node *node)
{
    for (int k = 0; k < node->n_in; k++) {
        tc_val v = node->in[k];
        bool computed = e->maker[v] != TC_GUESS_NONE && e->storage[v] == v && e->readers[v] == 1 &&
                        e->item[e->maker[v]].node->op != TC_OP_tosa_matmul;
        if (!computed) {
            tc_guess *i = ti_guess_copy(e, node, v, v);
            e->maker[v] = TC_GUESS_NONE;
            ti_guess_makes(e, i, node->out[0]);
        }
        e->maker[node->out[0]] =
            e->maker[node->out[0]] == TC_GUESS_NONE ? e->maker[v] : e->maker[node->out[0]];
    }
}

static void resize(tc_guesser *e, const tc_node *node)
{
    if (!ti_guess_u85(e)) {
        ti_guess_copy(e, node, node->in[0], node->out[0]);
        return;
    }
    tc_guess *i = ti_guess_add(e, node, TC_NPU_KIND_RESIZE, TC_RESIZE_BILINEAR);
    ti_guess_makes(e, i, node->out[0]);
    i->op.ifm = ti_guess_map(e, node->in[0]);
    i->op.ofm = ti_guess_map(e, node->out[0]);
    i->sums = true;
}

static void same_numbers(tc_guesser *e, const tc_node *node)
{
    shows(e, node->out[0], node->in[0], node->op == TC_OP_tosa_reshape);
}

static void copied(tc_guesser *e, const tc_node *node)
{
    ti_guess_copy(e, node, node->in[0], node->out[0]);
}

static void nothing(tc_guesser *e, const tc_node *node) { (void)e, (void)node; }

static void (*const by_op[TC_OP_COUNT])(tc_guesser *e, const tc_node *node) = {
    [TC_OP_const] = nothing,
    [TC_OP_tosa_conv2d] = ti_guess_conv,
    [TC_OP_tosa_depthwise_conv2d] = ti_guess_conv,
    [TC_OP_tosa_transpose_conv2d] = ti_guess_conv,
    [TC_OP_tosa_matmul] = ti_guess_matmul,
    [TC_OP_tosa_avg_pool2d] = ti_guess_pool,
    [TC_OP_tosa_max_pool2d] = ti_guess_pool,
    [TC_OP_tosa_reduce_sum] = ti_guess_reduce,
    [TC_OP_tosa_reduce_max] = ti_guess_reduce,
    [TC_OP_tosa_reduce_min] = ti_guess_reduce,
    [TC_OP_tosa_reduce_all] = ti_guess_reduce,
    [TC_OP_tosa_reduce_any] = ti_guess_reduce,
    [TC_OP_tosa_rescale] = rescale,
    [TC_OP_tosa_clamp] = activation,
    [TC_OP_tosa_table] = activation,
    [TC_OP_tosa_reshape] = same_numbers,
    [TC_OP_tosa_identity] = same_numbers,
    [TC_OP_tosa_slice] = same_numbers,
    [TC_OP_tosa_transpose] = ti_guess_transpose,
    [TC_OP_tosa_concat] = concat,
    [TC_OP_tosa_pad] = copied,
    [TC_OP_tosa_tile] = copied,
    [TC_OP_tosa_reverse] = copied,
    [TC_OP_tosa_cast] = copied,
    [TC_OP_tosa_resize] = resize,
};

static void visit(tc_guesser *e, const tc_node *node)
{
    if (by_op[node->op]) {
        by_op[node->op](e, node);
        return;
    }
    for (size_t i = 0; i < TC_COUNT(pointwise); i++)
        if (pointwise[i].op == node->op) {
            elementwise(e, node, pointwise[i].mode, pointwise[i].times);
            return;
        }
    e->unknown++;
}

/* One number a row, in every operand alike, is laid out as sixteen channels. */
static void compact(tc_npu_op *op)
{
    tc_npu_map *map[] = {&op->ifm, &op->ifm2, &op->ofm};
    bool copy = op->kind == TC_NPU_KIND_POOL && !op->transpose && op->window.kh == 1 &&
                op->window.kw == 1 && op->mode != TC_POOL_REDUCE_SUM && op->mode != TC_POOL_MAX;
    bool plain = op->kind == TC_NPU_KIND_ELEMENTWISE ||
                 (copy && (op->mode == TC_POOL_NONE || op->ifm.format == op->ofm.format));
    if (!plain || op->ofm.c != 1 || op->ifm.broadcast & ~TC_BROADCAST_SCALAR ||
        op->ifm2.broadcast & ~TC_BROADCAST_SCALAR)
        return;
    double n = (double)op->ofm.h * op->ofm.w;
    for (size_t i = 0; i < TC_COUNT(map); i++)
        if (!(map[i]->broadcast & TC_BROADCAST_SCALAR)) {
            map[i]->h = 1;
            map[i]->w = (int32_t)ceil(n / 16);
            map[i]->c = 16;
            map[i]->format = TC_NHWC;
        }
}

/* ---- chains of U85 ---- */

static bool continues(const tc_guesser *e, const tc_guess *a, const tc_guess *b,
                      const tc_npu_map **by)
{
    if (b->op.kind != TC_NPU_KIND_ELEMENTWISE || a->op.kind == TC_NPU_KIND_RESIZE ||
        a->op.transpose || e->readers[a->out] != 1 ||
        (a->op.kind == TC_NPU_KIND_POOL && a->op.mode == TC_POOL_NONE) ||
        a->op.ofm.h != b->op.ofm.h || a->op.ofm.w != b->op.ofm.w || a->op.ofm.c != b->op.ofm.c)
        return false;
    uint64_t base = (uint64_t)a->out << 32;
    *by = b->op.ifm.base[0] == base && !b->op.ifm.broadcast                        ? &b->op.ifm
          : b->op.ifm2.used && b->op.ifm2.base[0] == base && !b->op.ifm2.broadcast ? &b->op.ifm2
                                                                                   : NULL;
    return *by != NULL;
}

static void link_chains(tc_guesser *e)
{
    int length = 1, inputs = 1;
    for (size_t k = 1; k < e->n; k++) {
        tc_guess *a = &e->item[k - 1], *b = &e->item[k];
        const tc_npu_map *by;
        bool on = length < CHAIN && inputs < CHAIN_INPUTS && continues(e, a, b, &by);
        if (!on) {
            length = 1;
            inputs = b->op.ifm2.used ? 2 : 1;
            continue;
        }
        a->op.ofm.storage = TC_STORE_CHAIN;
        (by == &b->op.ifm ? &b->op.ifm : &b->op.ifm2)->storage = TC_STORE_CHAIN;
        length++;
        inputs += b->op.ifm2.used;
    }
}

/* Weights that are copied come in slices of channels, so that the first need not wait for the last.
 */
static bool next_item(void *user, tc_npu_op *op)
{
    enum { SLICE = 16 };
    tc_guesser *e = user;
    if (e->next == e->n)
        return false;
    *op = e->item[e->next].op;
    int32_t c = op->ofm.c;
    bool sliced = op->kind == TC_NPU_KIND_CONV && op->weights.region && c > 2 * SLICE &&
                  op->ofm.storage == TC_STORE_TILES && !op->transpose;
    if (!sliced) {
        e->next++;
        return true;
    }
    double share = (double)SLICE / c;
    bool rest = e->rest;
    op->ofm.c = rest ? c - SLICE : SLICE;
    op->weights.bytes[0] = (uint64_t)((double)op->weights.bytes[0] * (rest ? 1 - share : share));
    op->scale_bytes[0] = (uint64_t)((double)op->scale_bytes[0] * (rest ? 1 - share : share));
    if (rest)
        op->ofm.base[0] +=
            (uint64_t)(op->ofm.format == TC_NHCWB16 ? op->ofm.stride_c
                                                    : (int64_t)SLICE * op->ofm.bytes);
    e->rest = !rest;
    e->next += rest;
    return true;
}

/* Values that cannot lie in bricks of sixteen channels: read in another shape, or joined or cut
 * inside a brick. */
static void no_bricks(tc_guesser *e, const tc_node *node)
{
    const tc_type *out = node->n_out ? ti_type_of(e->g, node->out[0]) : NULL;
    bool join = node->op == TC_OP_tosa_concat, part = node->op == TC_OP_tosa_slice, inside = false;
    for (int i = 0; (join || part) && i < (join ? node->n_in : 1); i++) {
        const tc_type *in = ti_type_of(e->g, node->in[i]);
        int64_t a = in->rank ? in->dim[in->rank - 1] : 1,
                b = out->rank ? out->dim[out->rank - 1] : 1;
        inside = inside || (a != b && (join ? a : b) % 16 != 0);
    }
    for (int i = 0; inside && i < (join ? node->n_in : 1); i++)
        e->flat[node->in[i]] = true;
    if (inside && join)
        e->flat[node->out[0]] = true;
    if (node->op == TC_OP_tosa_reshape)
        e->flat[node->in[0]] = true;
}

/* By node: whether it acts, or somebody who matters reads what it makes. */
static const bool *live_nodes(tc_arena *arena, const tc_graph *g, const bool *pinned)
{
    bool *live = ti_arena_copy(arena, pinned, g->n_val * sizeof *pinned);
    bool *needed = tc_new_n(arena, bool, g->n_node);
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        needed[k] = (tc_ops[node->op].traits & (T_STATE | T_CONTROL)) ||
                    node->op == TC_OP_tosa_custom;
        for (int i = 0; i < node->n_out; i++)
            needed[k] = needed[k] || live[node->out[i]];
        for (int i = 0; needed[k] && i < node->n_in; i++)
            live[node->in[i]] = true;
    }
    return needed;
}

/* Who reads what, of those that are needed. */
static void find_readers(tc_ctx *ctx, tc_guesser *e, const bool *needed)
{
    const tc_graph *g = e->g;
    const uint32_t *all = ti_graph_readers(ctx, g);
    uint32_t *readers = ti_arena_copy(e->arena, all, g->n_val * sizeof *readers);
    e->reader = tc_new_n(e->arena, const tc_node *, g->n_val);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (needed[k])
                e->reader[g->node[k]->in[i]] = g->node[k];
            else
                readers[g->node[k]->in[i]]--;
    e->readers = readers;
}

void ti_estimate_graph(tc_ctx *ctx, tc_arena *arena, const tc_graph *g,
                       const tc_npu_machine *machine, const tc_npu_system *system,
                       tc_estimate_memo *memo, tc_estimate *out)
{
    tc_guesser e = {.arena = arena, .g = g, .m = machine, .s = system, .memo = memo};
    e.pinned = ti_graph_pinned(ctx, g);
    const bool *needed = live_nodes(arena, g, e.pinned);
    find_readers(ctx, &e, needed);
    e.cap = g->n_node + 1;
    e.item = ti_arena_raw(arena, e.cap * sizeof *e.item);
    e.maker = tc_new_n(arena, int32_t, g->n_val);
    e.storage = tc_new_n(arena, tc_val, g->n_val);
    e.flat = tc_new_n(arena, bool, g->n_val);
    for (size_t v = 0; v < g->n_val; v++) {
        e.maker[v] = TC_GUESS_NONE;
        e.storage[v] = (tc_val)v;
    }
    for (size_t k = 0; k < g->n_node; k++)
        if (needed[k])
            no_bricks(&e, g->node[k]);
    for (size_t k = 0; k < g->n_node; k++)
        if (needed[k])
            visit(&e, g->node[k]);
    for (size_t k = 0; k < e.n; k++)
        compact(&e.item[k].op);
    if (ti_guess_u85(&e))
        link_chains(&e);
    for (size_t k = 0; k < e.n; k++)
        if (!e.item[k].op.block.depth)
            ti_memo_block(memo, machine, &e.item[k].op);
    ti_npu_cost_ops(arena, machine, system, next_item, &e, &out->cost);
    out->n_unknown = e.unknown;
    out->node = tc_new_n(arena, const tc_node *, out->cost.n_op + 1);
    for (size_t i = 0; i < out->cost.n_op; i++)
        out->node[i] = e.item[out->cost.op[i].number].node;
}
