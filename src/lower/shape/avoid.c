/* SPDX-License-Identifier: Apache-2.0 */
/* avoid.c -- TOSA form: what Vela translates wrongly for a machine, said in another way, to the
 * bit.
 *
 * Each pass is one fault; a target lists those that concern it.  test/vela-faults has the smallest
 * graph of each, and tools/peer/vela_faults.py tells which of them a Vela still has.  Here are
 * those around shapes and slices, where a pause between two operations keeps Vela from joining
 * them: a CLAMP to everything.
 *
 *   settle    TRANSPOSE of a constant  =>  a constant
 *   apart     CONCAT or PAD of RESHAPE(MATMUL)  =>  with a pause in front of it
 *   lowest    RESHAPE(REDUCE_MIN), and REDUCE_MIN of what is reshaped  =>  with a pause in between
 *   slices    RESCALE from or to i32 of a SLICE, PAD, CONCAT or TILE, and those of such a RESCALE,
 *             which Vela makes a product and forgets where the slice lies  =>  with a pause in
 *             between, unless it is joined with a neighbour.  A RESHAPE of one likewise, where
 *             several read it
 *
 * avoid_numbers.c has those around numbers, avoid_products.c those around products, reductions and
 * choices. */
#include "../pass.h"

#include "../../ir/rewrite.h"
#include "../../num/load.h"
#include "avoid.h"
#include "order.h"

/* ---- making nodes ---- */

tc_status tc_avoid_put(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr,
                       const tc_val *in, int n, tc_val *out)
{
    tc_node *made;
    TC_TRY(tc_graph_emit(rw->to, op, attr, in, n, 1, like->loc, &made));
    *out = made->out[0];
    return TC_OK;
}

tc_status tc_avoid_put2(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr, tc_val a,
                        tc_val b, tc_val *out)
{
    return tc_avoid_put(rw, like, op, attr, (tc_val[]){a, b}, 2, out);
}

tc_val tc_avoid_number(tc_rewrite *rw, const tc_node *like, tc_dtype dtype, int rank, int64_t value)
{
    int64_t ones[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        ones[i] = 1;
    const tc_type *type = tc_type_make(rw->ctx, dtype, rank, ones);
    int32_t wide = (int32_t)value;
    int8_t narrow = (int8_t)value;
    const void *data = dtype == TC_i8 ? tc_arena_copy(&rw->ctx->arena, &narrow, sizeof narrow)
                                      : tc_arena_copy(&rw->ctx->arena, &wide, sizeof wide);
    return tc_graph_const(rw->to, type, data, NULL, like->loc);
}

void tc_avoid_take(tc_rewrite *rw, const tc_node *node, tc_val v, bool *done)
{
    rw->to->val[v]->type = tc_type_of(rw->from, node->out[0]);
    tc_rewrite_bind(rw, node->out[0], v);
    *done = true;
}

static tc_status pause_here(tc_rewrite *rw, const tc_node *like, tc_val x, tc_val *out)
{
    const tc_type *t = tc_type_of(rw->to, x);
    if (t->dtype == TC_bool)
        return tc_avoid_put2(rw, like, TC_OP_tosa_logical_or, NULL, x, x, out);
    if (t->dtype == TC_i32)
        return tc_avoid_put2(rw, like, TC_OP_tosa_add, NULL, x,
                             tc_avoid_number(rw, like, TC_i32, t->rank, 0), out);
    double lo = t->dtype == TC_i8 ? INT8_MIN : INT16_MIN, hi = -1 - lo;
    tc_attr_tosa_clamp a = {.min_val = lo, .max_val = hi, .nan_mode = TC_nan_mode_propagate};
    return tc_avoid_put(rw, like, TC_OP_tosa_clamp, tc_arena_copy(&rw->ctx->arena, &a, sizeof a),
                        &x, 1, out);
}

/* Of a slice of more than four axes that is read in another shape Vela takes the first plane for
 * all of them: there the slice pauses, and the shape comes behind it. */
tc_status tc_put_pause(tc_rewrite *rw, const tc_node *like, tc_val x, tc_val *out)
{
    const tc_node *cut = tc_behind_reshapes(rw->to, x);
    const tc_type *t = tc_type_of(rw->to, x);
    if (!cut || cut->op != TC_OP_tosa_slice || cut->out[0] == x ||
        tc_type_of(rw->to, cut->out[0])->rank <= 4)
        return pause_here(rw, like, x, out);
    TC_TRY(pause_here(rw, like, cut->out[0], out));
    tc_val shape = tc_rewrite_shape(rw, like, t->rank, t->dim);
    return tc_avoid_put2(rw, like, TC_OP_tosa_reshape, NULL, *out, shape, out);
}

bool tc_can_pause(const tc_type *t)
{
    return t->dtype == TC_i8 || t->dtype == TC_i16 || t->dtype == TC_i32;
}

tc_status tc_avoid_over(tc_module *module, tc_rewriter *rewriter)
{
    return tc_rewrite_module(module, &rewriter, 1, NULL);
}

/* ---- settle ---- */

static tc_status settle(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_transpose || !tc_is_const(rw->to, tc_rewrite_in(rw, node, 0)) ||
        tc_type_of(rw->from, node->out[0])->quant)
        return TC_OK;
    const tc_value *x = rw->to->val[tc_rewrite_in(rw, node, 0)];
    const int64_t *perm = ((const tc_attr_tosa_perms *)node->attr)->perms.v;
    tc_rewrite_bind(rw, node->out[0],
                    tc_graph_const(rw->to, tc_type_of(rw->from, node->out[0]),
                                   tc_transposed(&rw->ctx->arena, x->type, x->data, perm), x->name,
                                   node->loc));
    *done = true;
    return TC_OK;
}

tc_status tc_lower_settle(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_avoid_over(module, settle);
}

/* ---- apart ---- */

/* RESHAPE(MATMUL), with a RESCALE or without. */
static bool is_reshaped_product(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    if (!def || def->op != TC_OP_tosa_reshape)
        return false;
    def = tc_behind_reshapes(g, v);
    if (def && def->op == TC_OP_tosa_rescale)
        def = tc_def(g, def->in[0]);
    return def && def->op == TC_OP_tosa_matmul;
}

tc_status tc_pause_operands(tc_rewrite *rw, const tc_node *node, uint32_t mask, bool *done)
{
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tc_rewrite_in(rw, node, i);
        if (mask >> i & 1)
            TC_TRY(tc_put_pause(rw, node, in[i], &in[i]));
    }
    tc_node *made = tc_graph_add(rw->to, node->op, node->attr, in, node->n_in, 1, node->loc);
    tc_avoid_take(rw, node, made->out[0], done);
    return TC_OK;
}

tc_status tc_pause_parts(tc_rewrite *rw, const tc_node *node,
                         bool (*is)(const tc_graph *g, tc_val v), bool *done)
{
    bool concat = node->op == TC_OP_tosa_concat;
    if ((!concat && node->op != TC_OP_tosa_pad) ||
        !tc_can_pause(tc_type_of(rw->from, node->out[0])))
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tc_rewrite_in(rw, node, i);
        if ((i && !concat) || !is(rw->to, in[i]))
            continue;
        TC_TRY(tc_put_pause(rw, node, in[i], &in[i]));
        any = true;
    }
    if (!any)
        return TC_OK;
    tc_val y;
    TC_TRY(tc_avoid_put(rw, node, node->op, node->attr, in, node->n_in, &y));
    tc_avoid_take(rw, node, y, done);
    return TC_OK;
}

static tc_status apart(tc_rewrite *rw, const tc_node *node, bool *done)
{
    return tc_pause_parts(rw, node, is_reshaped_product, done);
}

tc_status tc_lower_apart(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_avoid_over(module, apart);
}

/* ---- lowest ---- */

/* RESHAPE(REDUCE_MIN) */
static tc_status lowest_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!tc_is_view(rw->from, node) || !tc_can_pause(tc_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *def = tc_rewrite_def(rw, node, 0);
    return def && def->op == TC_OP_tosa_reduce_min ? tc_pause_operands(rw, node, 1, done) : TC_OK;
}

/* REDUCE_MIN of numbers that are read in another shape as well: it takes that one. */
static tc_status lowest_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const bool *reshaped = rw->user;
    if (node->op != TC_OP_tosa_reduce_min || !tc_can_pause(tc_type_of(rw->from, node->in[0])) ||
        !reshaped[tc_memory_of(rw->from, node->in[0])])
        return TC_OK;
    return tc_pause_operands(rw, node, 1, done);
}

tc_status tc_lower_lowest(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {lowest_first, lowest_last};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = tc_arena_mark(&ctx->scratch);
        tc_graph *g = module->graph[i];
        bool *reshaped = tc_new_n(&ctx->scratch, bool, g->n_val);
        for (size_t k = 0; k < g->n_node; k++)
            if (tc_is_view(g, g->node[k]))
                reshaped[tc_memory_of(g, g->node[k]->in[0])] = true;
        status = tc_rewrite_graph(g, rewriters, TC_COUNT(rewriters), reshaped);
        tc_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}

/* ---- slices ---- */

static bool is_wide_rescale(const tc_graph *g, const tc_node *node)
{
    return node && node->op == TC_OP_tosa_rescale &&
           (tc_type_of(g, node->in[0])->dtype == TC_i32 ||
            tc_type_of(g, node->out[0])->dtype == TC_i32);
}

/* What Vela computes in one operation, both changes of scale included: factors of one; of sums also
 * equal whole ones, or unlike ones of which the larger is 2^19 (i8) or 2^14 (i16). */
static bool is_joined(const tc_graph *g, const tc_node *node)
{
    bool sum = node->op == TC_OP_tosa_add || node->op == TC_OP_tosa_sub;
    if (!sum && node->op != TC_OP_tosa_mul && node->op != TC_OP_tosa_maximum &&
        node->op != TC_OP_tosa_minimum)
        return false;
    tc_avoid_change side[2];
    double factor[2];
    for (int i = 0; i < 2; i++) {
        if (!tc_avoid_read_change(g, tc_def(g, node->in[i]), &side[i]))
            return false;
        factor[i] = (double)side[i].multiplier / (double)(INT64_C(1) << side[i].shift);
    }
    tc_dtype a = tc_type_of(g, side[0].node->in[0])->dtype,
             b = tc_type_of(g, side[1].node->in[0])->dtype;
    if (a != b || (a != TC_i8 && a != TC_i16))
        return false;
    if (factor[0] == 1 && factor[1] == 1)
        return true;
    double top = a == TC_i8 ? 0x1p19 : 0x1p14, most = factor[0] > factor[1] ? factor[0] : factor[1];
    return sum && ((factor[0] == factor[1] && tc_avoid_whole(&side[0])) ||
                   (factor[0] != factor[1] && most == top));
}

/* Whether the RESCALE is taken in by what it reads. */
static bool is_taken_in(const tc_graph *g, const tc_node *rescale)
{
    const tc_node *def = tc_def(g, rescale->in[0]);
    if (!def)
        return false;
    if (tc_ops[def->op].traits & T_MAC || def->op == TC_OP_tosa_reduce_sum)
        return true;
    tc_avoid_change c;
    bool picks = def->op == TC_OP_tosa_maximum || def->op == TC_OP_tosa_minimum;
    return is_joined(g, def) && (!picks || (tc_avoid_read_change(g, rescale, &c) &&
                                            c.multiplier == INT64_C(1) << c.shift));
}

const tc_node *tc_behind_reshapes(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    while (def && tc_is_view(g, def))
        def = tc_def(g, def->in[0]);
    return def;
}

bool tc_is_view(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_tosa_transpose)
        return node->op == TC_OP_tosa_reshape;
    const tc_type *from = tc_type_of(g, node->in[0]);
    return tc_perm_is_reshape(from->rank, from->dim,
                              ((const tc_attr_tosa_perms *)node->attr)->perms.v);
}

tc_val tc_memory_of(const tc_graph *g, tc_val v)
{
    for (const tc_node *def; (def = tc_def(g, v)) != NULL && tc_is_view(g, def);)
        v = def->in[0];
    return v;
}

bool tc_is_cut(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_behind_reshapes(g, v);
    return def && (def->op == TC_OP_tosa_slice || def->op == TC_OP_tosa_pad ||
                   def->op == TC_OP_tosa_concat || def->op == TC_OP_tosa_tile);
}

/* The only reader of each value; NULL where there are more, or an output. */
typedef struct only_reader {
    const tc_node **node;
} only_reader;

static const tc_node **find_readers(tc_ctx *ctx, const tc_graph *g)
{
    const uint32_t *n = tc_graph_readers(ctx, g);
    const tc_node **reader = tc_new_n(&ctx->scratch, const tc_node *, g->n_val);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] && n[g->node[k]->in[i]] == 1)
                reader[g->node[k]->in[i]] = g->node[k];
    return reader;
}

/* A slice, as it is or through changes of scale that become one with the last. */
static bool is_cut_before(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_behind_reshapes(g, v);
    while (def && def->op == TC_OP_tosa_rescale && !is_wide_rescale(g, def)) {
        v = def->in[0];
        def = tc_behind_reshapes(g, v);
    }
    return tc_is_cut(g, v);
}

/* RESCALE(SLICE) */
static tc_status slice_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    if (!is_wide_rescale(rw->from, node) ||
        !is_cut_before(rw->to, tc_rewrite_in(rw, node, 0)) ||
        !tc_can_pause(tc_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *reader = only->node[node->out[0]];
    if (reader && is_joined(rw->from, reader))
        return TC_OK;
    tc_val x;
    TC_TRY(tc_put_pause(rw, node, tc_rewrite_in(rw, node, 0), &x));
    tc_val in[5] = {x, tc_rewrite_in(rw, node, 1), tc_rewrite_in(rw, node, 2),
                    tc_rewrite_in(rw, node, 3), tc_rewrite_in(rw, node, 4)};
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_rescale, node->attr, in, 5, 1, node->loc);
    tc_avoid_take(rw, node, made->out[0], done);
    return TC_OK;
}

/* CONCAT(RESCALE), PAD(RESCALE), SLICE(RESCALE) */
static tc_status slice_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    bool concat = node->op == TC_OP_tosa_concat;
    if ((!concat && node->op != TC_OP_tosa_pad && node->op != TC_OP_tosa_slice) ||
        !tc_can_pause(tc_type_of(rw->from, node->out[0])))
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tc_rewrite_in(rw, node, i);
        if (i && !concat)
            continue;
        const tc_node *def = tc_behind_reshapes(rw->to, in[i]),
                      *was = tc_behind_reshapes(rw->from, node->in[i]);
        bool alone =
            was && was->n_in && only->node[was->in[0]]; /* else what it reads stays as it is */
        if (!is_wide_rescale(rw->to, def) || (alone && is_taken_in(rw->to, def)))
            continue;
        TC_TRY(tc_put_pause(rw, node, in[i], &in[i]));
        any = true;
    }
    if (!any)
        return TC_OK;
    tc_val y;
    TC_TRY(tc_avoid_put(rw, node, node->op, node->attr, in, node->n_in, &y));
    tc_avoid_take(rw, node, y, done);
    return TC_OK;
}

/* RESHAPE(RESCALE) that several read: each gets a RESCALE of its own, in the shape before. */
static tc_status shape_last(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    if (!tc_is_view(rw->from, node) || only->node[node->out[0]] ||
        !is_wide_rescale(rw->to, tc_rewrite_def(rw, node, 0)) ||
        !tc_can_pause(tc_type_of(rw->from, node->in[0])))
        return TC_OK;
    const tc_node *was = tc_def(rw->from, node->in[0]);
    if (was && was->n_in && only->node[was->in[0]] &&
        is_taken_in(rw->to, tc_rewrite_def(rw, node, 0)))
        return TC_OK;
    return tc_pause_operands(rw, node, 1, done);
}

tc_status tc_lower_slices(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {slice_first, slice_last, shape_last};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = tc_arena_mark(&ctx->scratch);
        only_reader only = {find_readers(ctx, module->graph[i])};
        status = tc_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &only);
        tc_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
