/* SPDX-License-Identifier: Apache-2.0 */
/* avoid.c -- TOSA form: what Vela translates wrongly for a machine, said in another way, to the
 * bit.
 *
 * Each pass is one fault; a target lists those that concern it.  test/vela-faults has the smallest
 * graph of each, and tools/peer/vela_faults.py tells which of them a Vela still has.
 *
 *   floors    a >> n, rounding down  =>  (max(a, lowest + h) - h) >> n rounding half up, h = 2^n /
 * 2 factors   RESCALE(f x + g y), f and g whole and unlike  =>  both by 2^e, the result by 2^-e,
 *             where the larger one becomes 2^19 (i8) or 2^14 (i16); else one by a MUL.  Where y is
 *             nothing but zeros, f x + f y
 *   wraps     CAST of i32 or i16 to fewer bits  =>  CAST of (x << k) >> k, which has room for it
 *   settle    TRANSPOSE of a constant  =>  a constant
 *   apart     CONCAT or PAD of RESHAPE(MATMUL)  =>  with a CLAMP to everything in front of it
 *   lowest    RESHAPE(REDUCE_MIN), and REDUCE_MIN of what is reshaped  =>  with such a CLAMP in
 * between
 *   slices    RESCALE from or to i32 of a SLICE, PAD, CONCAT or TILE, and those of such a RESCALE:
 * Vela makes it a product and forgets where the slice lies  =>  with such a CLAMP in between,
 * unless it is joined with a neighbour.  A RESHAPE of one likewise, where several read it reduced
 * REDUCE_MAX, _MIN, _SUM of a SLICE, PAD or CONCAT, which is forgotten  =>  likewise; CONCAT and
 * PAD of a REDUCE_MAX or _MIN over the last axis: the place is forgotten
 *
 * avoid_products.c has those around products and choices. */
#include "../pass.h"

#include "../../ir/rewrite.h"
#include "../../num/load.h"
#include "avoid.h"
#include "order.h"

/* ---- making nodes ---- */

/* A node of the new graph, from where `like` came; its one result. */
static tc_status put(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr,
                     const tc_val *in, int n, tc_val *out)
{
    tc_node *made;
    TC_TRY(tc_graph_emit(rw->to, op, attr, in, n, 1, like->loc, &made));
    *out = made->out[0];
    return TC_OK;
}

static tc_status put2(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr, tc_val a,
                      tc_val b, tc_val *out)
{
    return put(rw, like, op, attr, (tc_val[]){a, b}, 2, out);
}

/* An i32 or i8, with so many axes of extent 1. */
static tc_val number(tc_rewrite *rw, const tc_node *like, tc_dtype dtype, int rank, int64_t value)
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

/* What stands for the node's result: a value of the same numbers, with its type. */
static void take(tc_rewrite *rw, const tc_node *node, tc_val v, bool *done)
{
    rw->to->val[v]->type = tc_type_of(rw->from, node->out[0]);
    tc_rewrite_bind(rw, node->out[0], v);
    *done = true;
}

tc_status tc_put_pause(tc_rewrite *rw, const tc_node *like, tc_val x, tc_val *out)
{
    const tc_type *t = tc_type_of(rw->to, x);
    if (t->dtype == TC_bool)
        return put2(rw, like, TC_OP_tosa_logical_or, NULL, x, x, out);
    if (t->dtype == TC_i32)
        return put2(rw, like, TC_OP_tosa_add, NULL, x, number(rw, like, TC_i32, t->rank, 0), out);
    double lo = t->dtype == TC_i8 ? INT8_MIN : INT16_MIN, hi = -1 - lo;
    tc_attr_tosa_clamp a = {.min_val = lo, .max_val = hi, .nan_mode = TC_nan_mode_propagate};
    return put(rw, like, TC_OP_tosa_clamp, tc_arena_copy(&rw->ctx->arena, &a, sizeof a), &x, 1,
               out);
}

bool tc_can_pause(const tc_type *t)
{
    return t->dtype == TC_i8 || t->dtype == TC_i16 || t->dtype == TC_i32;
}

static tc_status over(tc_module *module, tc_rewriter *rewriter)
{
    return tc_rewrite_module(module, &rewriter, 1, NULL);
}

/* ---- floors ---- */

static tc_status put_shift(tc_rewrite *rw, const tc_node *like, tc_val a, tc_val b, tc_val *out)
{
    static const tc_attr_tosa_shift half_up = {.round = true};
    return put2(rw, like, TC_OP_tosa_arithmetic_right_shift, &half_up, a, b, out);
}

/* Numbers that are far from the lowest i32: leading zeros, and those plus or minus a few. */
static bool is_small(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    if (!def)
        return false;
    if (def->op == TC_OP_const) {
        tc_tensor t = tc_tensor_of(g, v);
        for (int64_t i = 0; i < tc_type_count(t.type); i++)
            if (tc_load_i64(t, i) < -65536 || tc_load_i64(t, i) > 65536)
                return false;
        return true;
    }
    return def->op == TC_OP_tosa_clz || ((def->op == TC_OP_tosa_sub || def->op == TC_OP_tosa_add) &&
                                         is_small(g, def->in[0]) && is_small(g, def->in[1]));
}

/* Half of 2^n, 0 for n = 0: of a constant, or 2^max(n - 1, 0) * min(n, 1).  What is shifted has n's
 * shape: a lone number on the left, repeated over more than four axes, is read past its end. */
static tc_status put_half(tc_rewrite *rw, const tc_node *node, tc_val n, tc_val *out, int64_t *most)
{
    tc_tensor t = tc_tensor_of(rw->to, n);
    int rank = tc_type_of(rw->to, n)->rank;
    bool one_number = t.data && tc_type_count(t.type) == 1;
    if (one_number && tc_load_i64(t, 0) >= 0 && tc_load_i64(t, 0) < 32) {
        *most = (INT64_C(1) << tc_load_i64(t, 0)) / 2;
        *out = number(rw, node, TC_i32, rank, *most);
        return TC_OK;
    }
    static const tc_attr_tosa_nan nan = {.nan_mode = TC_nan_mode_propagate};
    tc_val one = number(rw, node, TC_i32, rank, 1), none = number(rw, node, TC_i32, rank, 0), k,
           some, ones;
    *most = 1 << 30;
    TC_TRY(put2(rw, node, TC_OP_tosa_sub, NULL, n, one, &k));
    TC_TRY(put2(rw, node, TC_OP_tosa_maximum, &nan, k, none, &k));
    TC_TRY(put2(rw, node, TC_OP_tosa_minimum, &nan, n, one, &some));
    TC_TRY(put2(rw, node, TC_OP_tosa_maximum, &nan, some, one, &ones));
    TC_TRY(put2(rw, node, TC_OP_tosa_logical_left_shift, NULL, ones, k, &k));
    return put(rw, node, TC_OP_tosa_mul, NULL, (tc_val[]){k, some, number(rw, node, TC_i8, 1, 0)},
               3, out);
}

static tc_status floors(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_arithmetic_right_shift ||
        ((const tc_attr_tosa_shift *)node->attr)->round ||
        tc_type_of(rw->from, node->out[0])->dtype != TC_i32)
        return TC_OK;
    static const tc_attr_tosa_nan nan = {.nan_mode = TC_nan_mode_propagate};
    tc_val a = tc_rewrite_in(rw, node, 0), n = tc_rewrite_in(rw, node, 1), half, low;
    int64_t most;
    TC_TRY(put_half(rw, node, n, &half, &most));
    int rank = tc_type_of(rw->to, half)->rank;
    if (!is_small(rw->to, a) || most > 65536) {
        low = number(rw, node, TC_i32, rank, INT32_MIN);
        if (tc_is_const(rw->to, half))
            low = number(rw, node, TC_i32, rank, INT32_MIN + most);
        else
            TC_TRY(put2(rw, node, TC_OP_tosa_add, NULL, half, low, &low));
        TC_TRY(put2(rw, node, TC_OP_tosa_maximum, &nan, a, low, &a));
    }
    TC_TRY(put2(rw, node, TC_OP_tosa_sub, NULL, a, half, &a));
    TC_TRY(put_shift(rw, node, a, n, &a));
    take(rw, node, a, done);
    return TC_OK;
}

tc_status tc_lower_floors(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return over(module, floors);
}

/* ---- factors ---- */

/* A RESCALE of i8 or i16 by one factor for all. */
typedef struct change {
    const tc_node *node;
    int64_t multiplier, shift;
} change;

static bool read_change(const tc_graph *g, const tc_node *node, change *c)
{
    if (!node || node->op != TC_OP_tosa_rescale)
        return false;
    const tc_attr_tosa_rescale *a = node->attr;
    for (int i = 1; i < 5; i++)
        if (!tc_is_const(g, node->in[i]))
            return false;
    if (tc_type_count(tc_type_of(g, node->in[1])) != 1 || !a->scale32 || a->input_unsigned ||
        a->output_unsigned)
        return false;
    *c = (change){node, tc_load_i64(tc_tensor_of(g, node->in[1]), 0),
                  tc_load_i64(tc_tensor_of(g, node->in[2]), 0)};
    return true;
}

/* The factor as a whole number that 15 bits hold, or 0. */
static int64_t whole(const change *c)
{
    int64_t one = INT64_C(1) << c->shift;
    return c->multiplier % one == 0 && c->multiplier / one <= INT16_MAX ? c->multiplier / one : 0;
}

/* The same RESCALE by another factor. */
static tc_status put_change(tc_rewrite *rw, const change *c, int64_t multiplier, int64_t shift,
                            tc_val x, tc_val *out)
{
    tc_val in[5] = {x, number(rw, c->node, TC_i32, 1, multiplier), TC_NONE, c->node->in[3],
                    c->node->in[4]};
    in[2] = number(rw, c->node, TC_i8, 1, shift);
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_rescale, c->node->attr, in, 5, 1, c->node->loc);
    rw->to->val[made->out[0]]->type = tc_type_of(rw->to, c->node->out[0]);
    *out = made->out[0];
    return TC_OK;
}

/* 1 as RESCALE's multiplier and shift; multipliers use 31 bits, as numbers must fit the shift. */
enum { UNIT = 1 << 30, UNIT_SHIFT = 30 };

/* x by its whole factor, as a product: Vela does not join that with the sum. */
static tc_status put_times(tc_rewrite *rw, const change *c, int64_t factor, tc_val *out)
{
    tc_val x;
    TC_TRY(put_change(rw, c, UNIT, UNIT_SHIFT, c->node->in[0], &x));
    int rank = tc_type_of(rw->to, x)->rank;
    tc_val in[3] = {x, number(rw, c->node, TC_i32, rank, factor)};
    in[2] = number(rw, c->node, TC_i8, 1, 0);
    return put(rw, c->node, TC_OP_tosa_mul, NULL, in, 3, out);
}

static bool is_power_of_two(int64_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static int log2_of(int64_t v)
{
    int n = 0;
    while (v >> (n + 1))
        n++;
    return n;
}

/* The sum behind the RESCALE `node` of the old graph, whose operands have unlike whole factors. */
static bool unlike(tc_rewrite *rw, const tc_node *node, const tc_node **sum, change side[2],
                   int64_t factor[2])
{
    if (node->op != TC_OP_tosa_rescale || rw->readers[node->in[0]] != 1)
        return false;
    const tc_node *def = tc_rewrite_def(rw, node, 0);
    if (!def || (def->op != TC_OP_tosa_add && def->op != TC_OP_tosa_sub) ||
        tc_dtypes[tc_type_of(rw->from, node->out[0])->dtype].bytes > 2)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!read_change(rw->to, tc_def(rw->to, def->in[i]), &side[i]))
            return false;
        factor[i] = whole(&side[i]);
    }
    tc_dtype a = tc_type_of(rw->to, side[0].node->in[0])->dtype,
             b = tc_type_of(rw->to, side[1].node->in[0])->dtype;
    *sum = def;
    return factor[0] && factor[1] && factor[0] != factor[1] && a == b &&
           (a == TC_i8 || a == TC_i16);
}

/* A constant that stands for nothing: any factor serves it. */
static bool is_nothing(const tc_graph *g, const change *c)
{
    tc_tensor t = tc_tensor_of(g, c->node->in[0]);
    int64_t zero = tc_load_i64(tc_tensor_of(g, c->node->in[3]), 0);
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        if (tc_load_i64(t, i) != zero)
            return false;
    return t.data != NULL;
}

static tc_status factors(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *sum;
    change side[2], last;
    int64_t factor[2];
    tc_val in[2], y, shift;
    if (!unlike(rw, node, &sum, side, factor))
        return TC_OK;
    int larger = factor[1] > factor[0];
    shift = tc_rewrite_in(rw, node, 2);
    int top = tc_type_of(rw->to, side[0].node->in[0])->dtype == TC_i8 ? 19 : 14;
    int e = top - log2_of(factor[larger]);
    bool known = read_change(rw->from, node, &last);
    int idle = is_nothing(rw->to, &side[0]) ? 0 : is_nothing(rw->to, &side[1]) ? 1 : -1;
    if (idle >= 0) {
        const change *other = &side[1 - idle];
        in[1 - idle] = sum->in[1 - idle];
        TC_TRY(put_change(rw, &side[idle], other->multiplier, other->shift, side[idle].node->in[0],
                          &in[idle]));
        TC_TRY(put2(rw, sum, sum->op, sum->attr, in[0], in[1], &y));
    } else if (known && is_power_of_two(factor[larger]) && last.shift + e <= 62 &&
               ((const tc_attr_tosa_rescale *)node->attr)->rounding_mode != TC_rounding_double) {
        for (int i = 0; i < 2; i++) { /* factor * 2^e = multiplier * 2^-shift */
            int up = UNIT_SHIFT - log2_of(factor[i]);
            TC_TRY(put_change(rw, &side[i], factor[i] << up, up - e, side[i].node->in[0], &in[i]));
        }
        TC_TRY(put2(rw, sum, sum->op, sum->attr, in[0], in[1], &y));
        shift = number(rw, node, TC_i8, 1, last.shift + e);
    } else {
        in[0] = sum->in[0];
        in[1] = sum->in[1];
        TC_TRY(put_times(rw, &side[larger], factor[larger], &in[larger]));
        TC_TRY(put2(rw, sum, sum->op, sum->attr, in[0], in[1], &y));
    }
    tc_val all[5] = {y, tc_rewrite_in(rw, node, 1), shift, tc_rewrite_in(rw, node, 3),
                     tc_rewrite_in(rw, node, 4)};
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_rescale, node->attr, all, 5, 1, node->loc);
    take(rw, node, made->out[0], done);
    return TC_OK;
}

tc_status tc_lower_factors(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return over(module, factors);
}

/* ---- wraps ---- */

/* An i16 as i32. */
static tc_status widen(tc_rewrite *rw, const tc_node *like, const tc_type *from, tc_val *x)
{
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_cast, NULL, x, 1, 1, like->loc);
    *x = made->out[0];
    tc_value_of(rw->to, *x)->type = tc_type_make(rw->ctx, TC_i32, from->rank, from->dim);
    return tc_node_infer(rw->to, made);
}

static tc_status wraps(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_cast)
        return TC_OK;
    const tc_type *from = tc_type_of(rw->from, node->in[0]),
                  *t = tc_type_of(rw->from, node->out[0]);
    bool narrows = from->dtype == TC_i32 ? t->dtype == TC_i8 || t->dtype == TC_i16
                                         : from->dtype == TC_i16 && t->dtype == TC_i8;
    if (!narrows)
        return TC_OK;
    tc_val x = tc_rewrite_in(rw, node, 0);
    if (from->dtype == TC_i16)
        TC_TRY(widen(rw, node, from, &x));
    tc_val n = number(rw, node, TC_i32, t->rank, 32 - tc_dtypes[t->dtype].bits);
    TC_TRY(put2(rw, node, TC_OP_tosa_logical_left_shift, NULL, x, n, &x));
    TC_TRY(put_shift(rw, node, x, n, &x)); /* the low bits are 0: nothing is rounded */
    *done = true;
    return tc_rewrite_as(rw, node, TC_OP_tosa_cast, NULL, x);
}

tc_status tc_lower_wraps(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return over(module, wraps);
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
    return over(module, settle);
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
    take(rw, node, made->out[0], done);
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
    TC_TRY(put(rw, node, node->op, node->attr, in, node->n_in, &y));
    take(rw, node, y, done);
    return TC_OK;
}

static tc_status apart(tc_rewrite *rw, const tc_node *node, bool *done)
{
    return tc_pause_parts(rw, node, is_reshaped_product, done);
}

tc_status tc_lower_apart(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return over(module, apart);
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
    change side[2];
    double factor[2];
    for (int i = 0; i < 2; i++) {
        if (!read_change(g, tc_def(g, node->in[i]), &side[i]))
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
    return sum &&
           ((factor[0] == factor[1] && whole(&side[0])) || (factor[0] != factor[1] && most == top));
}

/* Whether the RESCALE is taken in by what it reads. */
static bool is_taken_in(const tc_graph *g, const tc_node *rescale)
{
    const tc_node *def = tc_def(g, rescale->in[0]);
    if (!def)
        return false;
    if (tc_ops[def->op].traits & T_MAC || def->op == TC_OP_tosa_reduce_sum)
        return true;
    change c;
    bool picks = def->op == TC_OP_tosa_maximum || def->op == TC_OP_tosa_minimum;
    return is_joined(g, def) &&
           (!picks || (read_change(g, rescale, &c) && c.multiplier == INT64_C(1) << c.shift));
}

const tc_node *tc_behind_reshapes(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    while (def && def->op == TC_OP_tosa_reshape)
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

/* RESCALE(SLICE) */
static tc_status slice_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const only_reader *only = rw->user;
    if (!is_wide_rescale(rw->from, node) || !tc_is_cut(rw->to, tc_rewrite_in(rw, node, 0)) ||
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
    take(rw, node, made->out[0], done);
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
    TC_TRY(put(rw, node, node->op, node->attr, in, node->n_in, &y));
    take(rw, node, y, done);
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
