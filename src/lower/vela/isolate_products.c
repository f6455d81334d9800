/* SPDX-License-Identifier: Apache-2.0 */
/* isolate_products.c -- TOSA form: around what Vela translates wrongly of reductions, matrix
 * products and selects, as isolate_reshapes.c does: with a pause (pause.h) in between.
 *
 * isolate-reductions
 *     REDUCE_MAX, _MIN, _SUM, ARGMAX or CONV3D of a SLICE, PAD or CONCAT: Vela forgets the latter.
 *     So with CONCAT or PAD of a RESCALE of such a CONCAT, and with a pool or convolution over a
 *     SLICE of several images, padded or of more than four axes.  A reduction over one element is
 *     removed.
 *
 * isolate-matmul-slices
 *     MATMUL of a SLICE: Vela splits it into columns and forgets the offset of the slice.
 *
 * move-scalars-right
 *     Vela reads past a scalar left operand of rank > 4.  The operands are swapped if the operator
 *     is commutative; otherwise the scalar is broadcast as (b - b) + scalar.
 *
 * isolate-channel-rescales
 *     A per-channel RESCALE of a MATMUL, TILE, PAD, CONCAT or SLICE: Vela fuses it with the MATMUL,
 *     which takes one factor for all channels, or with each part, which takes the first one's.
 *
 * isolate-repeated-operands
 *     a + b where b is a, reshaped: both get one shape, so b is a pause of a, reshaped.  A view of
 *     a RESCALE that several elementwise operators read, whole or in slices, is one of a pause.
 *
 * isolate-select-operands
 *     A RESHAPE gives its own shape to its operand's memory.  A SELECT of the same value takes that
 *     shape, and other readers of a bool take the 0 and 1 of a reshaped output: the RESHAPE reads a
 *     pause; so does a SELECT of one of several RESHAPEs of a value, and a RESHAPE of a RESCALE
 *     that a SELECT and something else read.  A bool that is an output of the region holds 0 and 1,
 *     too: where something reads it, the output is a pause of it. */
#include "../lower_pass.h"

#include "../../ir/rewrite.h"
#include "pause.h"
#include "../layout/axis_order.h"

/* ---- isolate-reductions ---- */

/* A reduction over one number does nothing.  Joined or padded, it is read before it is there.  What
 * a region takes and gives has its domain beside its type: there it stays. */
static tc_status idle_reductions(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_reduce_max && node->op != TC_OP_tosa_reduce_min &&
        node->op != TC_OP_tosa_reduce_sum)
        return TC_OK;
    tc_val in = ti_rewrite_in(rw, node, 0);
    if (ti_type_of(rw->to, in) != ti_type_of(rw->from, node->out[0]))
        return TC_OK;
    return ti_rewrite_with(rw, node, in, done);
}

static tc_status isolate_reductions(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool reduces = node->op == TC_OP_tosa_reduce_max || node->op == TC_OP_tosa_reduce_min ||
                   node->op == TC_OP_tosa_reduce_sum || node->op == TC_OP_tosa_argmax ||
                   node->op == TC_OP_tosa_conv3d;
    if (!reduces || !ti_is_cut(rw->to, ti_rewrite_in(rw, node, 0)) ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    return ti_pause_operands(rw, node, 1, done);
}

/* The padding of a window; empty when the operator has none. */
static tc_ints padding_of(const tc_node *node)
{
    switch (node->op) {
    case TC_OP_tosa_max_pool2d:
        return ((const tc_attr_tosa_max_pool *)node->attr)->pad;
    case TC_OP_tosa_avg_pool2d:
        return ((const tc_attr_tosa_avg_pool *)node->attr)->pad;
    case TC_OP_tosa_conv2d:
    case TC_OP_tosa_depthwise_conv2d:
        return ((const tc_attr_tosa_conv *)node->attr)->pad;
    default:
        return (tc_ints){0};
    }
}

/* Windows over a SLICE of several images: the padding is what lies beside it, and of a slice of
 * more than four axes the first image is all of them. */
static tc_status cut_images(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_ints pad = padding_of(node);
    bool padded = false;
    for (int i = 0; i < pad.n; i++)
        padded = padded || pad.v[i];
    if (!pad.n || ti_type_of(rw->from, node->in[0])->dim[0] == 1 ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *def = ti_behind_reshapes(rw->to, ti_rewrite_in(rw, node, 0));
    bool lost = def && def->op == TC_OP_tosa_slice &&
                (padded || ti_type_of(rw->to, def->out[0])->rank > 4);
    return lost ? ti_pause_operands(rw, node, 1, done) : TC_OK;
}

/* REDUCE_MAX or _MIN, reshaped or not. */
static bool is_extreme(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_behind_reshapes(g, v);
    return def && (def->op == TC_OP_tosa_reduce_max || def->op == TC_OP_tosa_reduce_min);
}

/* RESCALE of a CONCAT, PAD or TILE, whose parts it is fused with. */
static bool is_rescaled_join(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_behind_reshapes(g, v);
    if (!def || def->op != TC_OP_tosa_rescale || !ti_is_cut(g, def->in[0]))
        return false;
    return ti_behind_reshapes(g, def->in[0])->op != TC_OP_tosa_slice;
}

static tc_status joined_rescales(tc_rewrite *rw, const tc_node *node, bool *done)
{
    return ti_pause_parts(rw, node, is_rescaled_join, done);
}

static tc_status joined_extremes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    return ti_pause_parts(rw, node, is_extreme, done);
}

tc_status ti_lower_isolate_reductions(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {idle_reductions, isolate_reductions, joined_extremes,
                                             joined_rescales, cut_images};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}

/* ---- isolate-matmul-slices ---- */

static tc_status isolate_matmul_slices(tc_rewrite *rw, const tc_node *node, bool *done)
{
    uint32_t mask = 0;
    for (int i = 0; i < 2 && node->op == TC_OP_tosa_matmul; i++) {
        const tc_node *def = ti_behind_reshapes(rw->to, ti_rewrite_in(rw, node, i));
        if (def && def->op == TC_OP_tosa_slice && ti_can_pause(ti_type_of(rw->from, node->in[i])))
            mask |= 1u << i;
    }
    return mask ? ti_pause_operands(rw, node, mask, done) : TC_OK;
}

tc_status ti_lower_isolate_matmul_slices(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {isolate_matmul_slices};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}

/* ---- move-scalars-right ---- */

static bool swaps(tc_op op)
{
    return op == TC_OP_tosa_add || op == TC_OP_tosa_mul || op == TC_OP_tosa_maximum ||
           op == TC_OP_tosa_minimum;
}

static bool is_ordered(tc_op op)
{
    return op == TC_OP_tosa_sub || op == TC_OP_tosa_logical_left_shift ||
           op == TC_OP_tosa_arithmetic_right_shift;
}

static tc_status move_scalars_right(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!swaps(node->op) && !is_ordered(node->op))
        return TC_OK;
    const tc_type *left = ti_type_of(rw->from, node->in[0]),
                  *right = ti_type_of(rw->from, node->in[1]);
    bool lone = left->rank > 4 && tc_type_count(left) == 1 && tc_type_count(right) > 1;
    if (!lone || (is_ordered(node->op) && left->dtype != TC_i32))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_in(&b, 0), y = ti_b_in(&b, 1), third = ti_b_in(&b, 2);
    if (swaps(node->op))
        return ti_b_again(&b, (tc_val[]){y, x, third}, node->n_in, done);
    x = ti_b_tosa_add(&b, ti_b_tosa_sub(&b, y, y), x);
    return ti_b_again(&b, (tc_val[]){x, y, third}, node->n_in, done);
}

tc_status ti_lower_move_scalars_right(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {move_scalars_right};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}

/* ---- isolate-channel-rescales ---- */

static tc_status isolate_channel_rescales(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_rescale ||
        !((const tc_attr_tosa_rescale *)node->attr)->per_channel ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *def = ti_behind_reshapes(rw->to, ti_rewrite_in(rw, node, 0));
    bool joined =
        (def && def->op == TC_OP_tosa_matmul) || ti_is_cut(rw->to, ti_rewrite_in(rw, node, 0));
    return joined ? ti_pause_operands(rw, node, 1, done) : TC_OK;
}

/* RESCALE or CLAMP of a CAST to fewer bits: it is fused with what comes before, and nothing wraps.
 */
static tc_status wrapped_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if ((node->op != TC_OP_tosa_rescale && node->op != TC_OP_tosa_clamp) ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *def = ti_behind_reshapes(rw->to, ti_rewrite_in(rw, node, 0));
    bool narrows = def && def->op == TC_OP_tosa_cast &&
                   tc_dtypes[ti_type_of(rw->to, def->out[0])->dtype].bits <
                       tc_dtypes[ti_type_of(rw->to, def->in[0])->dtype].bits;
    return narrows ? ti_pause_operands(rw, node, 1, done) : TC_OK;
}

tc_status ti_lower_isolate_channel_rescales(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {isolate_channel_rescales, wrapped_first};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}

/* ---- isolate-repeated-operands ---- */

static bool compares(tc_op op)
{
    return op == TC_OP_tosa_greater || op == TC_OP_tosa_greater_equal || op == TC_OP_tosa_equal;
}

/* A RESCALE, seen through views and slices, one at least. */
static bool is_moved_rescale(const tc_graph *g, tc_val v)
{
    bool moved = false;
    const tc_node *def = ti_def(g, v);
    for (; def && (ti_is_view(g, def) || def->op == TC_OP_tosa_slice); def = ti_def(g, def->in[0]))
        moved = true;
    return moved && def && def->op == TC_OP_tosa_rescale;
}

/* The node with one pause of x as both operands. */
static tc_status pause_both(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_put_pause(&b, ti_b_in(&b, 0));
    return ti_b_again(&b, (tc_val[]){x, x, ti_b_in(&b, 2)}, node->n_in, done);
}

static tc_status isolate_repeated_operands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!swaps(node->op) && !is_ordered(node->op) && !compares(node->op))
        return TC_OK;
    const tc_type *a = ti_type_of(rw->from, node->in[0]), *b = ti_type_of(rw->from, node->in[1]);
    tc_build lw = ti_build_instead(rw, node);
    tc_val in[3] = {ti_b_in(&lw, 0), ti_b_in(&lw, 1), ti_b_in(&lw, 2)};
    tc_val one = ti_memory_of(rw->to, in[1]);
    if (!ti_can_pause(b) || ti_memory_of(rw->to, in[0]) != one)
        return TC_OK;
    if (in[0] == in[1])
        return is_moved_rescale(rw->to, in[0])
                   ? pause_both(rw, node, done)
                   : TC_OK;
    if (ti_same_dims(a, b))
        return TC_OK;
    tc_val shape = ti_b_shape(&lw, b->rank, b->dim);
    in[1] = ti_b_2(&lw, tosa_reshape, NULL, ti_put_pause(&lw, one), shape);
    return ti_b_again(&lw, in, node->n_in, done);
}

/* Operators that Vela computes a RESCALE anew for, in the shape before the view. */
static bool takes_rescale(tc_op op)
{
    return tc_ops[op].traits & T_ELTWISE && op != TC_OP_tosa_rescale && op != TC_OP_tosa_clamp &&
           op != TC_OP_tosa_table;
}

/* What becomes one with the operator that reads it. */
static bool is_passed_on(const tc_graph *g, const tc_node *node, bool wide)
{
    return node->op == TC_OP_tosa_slice ||
           (wide && node->op == TC_OP_tosa_rescale &&
            ti_type_of(g, node->out[0])->dtype == TC_i32);
}

/* How many such operators read each value, or slices of it; wide: either as i32, too. */
static void count_takers(const tc_graph *g, bool wide, uint32_t *taken)
{
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        if (is_passed_on(g, node, wide))
            taken[node->in[0]] += taken[node->out[0]];
        for (int j = 0; j < node->n_in && takes_rescale(node->op); j++)
            taken[node->in[j]]++;
    }
}

typedef struct takers {
    uint32_t *plain, *wide;
} takers;

/* A view of a RESCALE that several such operators read.  Behind a product of its own a RESCALE is
 * part of that, and not of those that read it as i32. */
static tc_status shared_views(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const takers *taken = rw->user;
    if (!ti_is_view(rw->from, node) || taken->wide[node->out[0]] < 2 ||
        !ti_can_pause(ti_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *def = ti_behind_reshapes(rw->to, ti_rewrite_in(rw, node, 0));
    if (!def || def->op != TC_OP_tosa_rescale)
        return TC_OK;
    const tc_node *sum = ti_def(rw->to, def->in[0]);
    bool part = sum && tc_ops[sum->op].traits & T_MAC;
    return part && taken->plain[node->out[0]] < 2 ? TC_OK : ti_pause_operands(rw, node, 1, done);
}

tc_status ti_lower_isolate_repeated_operands(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {isolate_repeated_operands, shared_views};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_graph *g = module->graph[i];
        takers taken = {tc_new_n(&ctx->scratch, uint32_t, g->n_val),
                        tc_new_n(&ctx->scratch, uint32_t, g->n_val)};
        count_takers(g, false, taken.plain);
        count_takers(g, true, taken.wide);
        status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &taken);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}

/* ---- isolate-select-operands ---- */

/* Who reads each value of the graph. */
typedef struct reading {
    const uint32_t *n; /* readers */
    bool *by_select;   /* a SELECT among them */
} reading;

static bool pausable(const tc_type *t)
{
    return ti_can_pause(t) || t->dtype == TC_bool;
}

static bool needs_own(const tc_graph *g, const reading *r, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    return pausable(t) && (r->by_select[v] || (t->dtype == TC_bool && r->n[v] > 1));
}

static bool is_rescaled(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    return def && def->op == TC_OP_tosa_rescale;
}

static tc_status isolate_select_operands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const reading *r = rw->user;
    uint32_t mask = 0;
    if (ti_is_view(rw->from, node))
        mask = needs_own(rw->from, r, node->in[0]) ||
               (is_rescaled(rw->from, node->in[0]) && needs_own(rw->from, r, node->out[0]) &&
                r->n[node->out[0]] > 1);
    for (int i = 0; i < 3 && node->op == TC_OP_tosa_select; i++) {
        const tc_node *def = ti_def(rw->from, node->in[i]);
        bool view = def && def->op == TC_OP_tosa_reshape && r->n[def->in[0]] > 1;
        if (def && def->op == TC_OP_tosa_transpose)
            view = ti_memory_of(rw->from, node->in[i]) != node->in[i];
        if (view && pausable(ti_type_of(rw->from, node->in[i])))
            mask |= 1u << i;
    }
    return mask ? ti_pause_operands(rw, node, mask, done) : TC_OK;
}

/* Bools that are results of the graph and read in it, by a SELECT or what makes its condition. */
static tc_status own_results(tc_graph *g, const reading *r)
{
    if (!g->n_out)
        return TC_OK;
    /* a copy of the graph from before the pass has the same list */
    g->out = ti_arena_copy(&g->module->ctx->arena, g->out, g->n_out * sizeof *g->out);
    g->cap_out = g->n_out;
    for (size_t i = 0; i < g->n_out; i++) {
        tc_val v = g->out[i];
        const tc_node *def = ti_def(g, v);
        if (!def || ti_type_of(g, v)->dtype != TC_bool || r->n[v] < 2)
            continue;
        tc_node *made;
        TC_TRY(ti_graph_emit(g, TC_OP_tosa_logical_or, NULL, (tc_val[]){v, v}, 2, 1, def->loc,
                             &made));
        g->out[i] = made->out[0];
    }
    return TC_OK;
}

tc_status ti_lower_isolate_select_operands(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {isolate_select_operands};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_graph *g = module->graph[i];
        reading r = {ti_graph_readers(ctx, g), tc_new_n(&ctx->scratch, bool, g->n_val)};
        for (size_t k = 0; k < g->n_node; k++)
            for (int j = 0; j < g->node[k]->n_in && g->node[k]->op == TC_OP_tosa_select; j++)
                r.by_select[g->node[k]->in[j]] = true;
        status = own_results(g, &r);
        if (status == TC_OK)
            status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &r);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
