/* SPDX-License-Identifier: Apache-2.0 */
/* sink_transposes.c -- transposes inside a region are sunk, merged and cancelled.
 *
 * Nodes are taken in order.  A transpose is only recorded: its result is its operand, read in
 * another order of axes.  Operators that treat all axes alike, or name them, work on the stored
 * order; the others -- convolutions, matrix products, pools, outputs -- get the order they need by
 * a transpose that all readers share.  Where operands are stored in different orders, the one that
 * moves the fewest bytes wins; a backward walk finds the readers' preferred order.  Constants are
 * stored in the order that is read.
 *
 *     conv(T(x)) -> T' -> relu -> T -> conv   =>   conv -> relu -> conv */
#include "../../num/block_scaled.h"
#include "../lower.h"
#include "../lower_pass.h"
#include "stored_order.h"

/* The order that most of a value's readers prefer; weight 0: none. */
typedef struct wish {
    tc_order order;
    int64_t weight;
} wish;

typedef struct layout {
    tc_stored_graph store;
    wish *want;         /* by old value */
    const bool *pinned; /* by old value: read from outside, in the order of its type */
} layout;

typedef tc_status place_rule(layout *l, const tc_node *node);

/* How an operator goes with orders. */
typedef struct manner {
    place_rule *place; /* place_plain, place_conv: it needs its operands in logical order */
    int data;          /* operands that have the result's axes; 0: all of them */
} manner;
static manner manner_of(tc_op op);

static const int64_t *dims(const layout *l, tc_val old)
{
    return ti_type_of(l->store.rw->from, old)->dim;
}

/* ---- which order ---- */

/* Reductions go along the last stored axis: elsewhere the target moves everything there and back.
 */
static int64_t axis_cost(layout *l, const tc_node *node, const tc_order *order)
{
    if (!(tc_ops[node->op].traits & T_REDUCES))
        return 0;
    const tc_type *t = ti_type_of(l->store.rw->from, node->in[0]);
    int64_t axis = *(const int64_t *)node->attr; /* every reduction's record begins with it */
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != 1 && order->at[i] > order->at[axis])
            return ti_bytes_of(t) + ti_bytes_of(ti_type_of(l->store.rw->from, node->out[0]));
    return 0;
}

static bool per_channel(const tc_node *node)
{
    return node->op == TC_OP_tosa_rescale &&
           ((const tc_attr_tosa_rescale *)node->attr)->per_channel;
}

static bool last_axis_last(const tc_order *order)
{
    return order->rank == 0 || order->at[order->rank - 1] == order->rank - 1;
}

static int data_operands(const tc_node *node)
{
    int n = manner_of(node->op).data;
    return n ? n : node->n_in;
}

/* What it costs to work in this order: operands that move, and what the readers would have to move.
 */
static int64_t cost(layout *l, const tc_node *node, const tc_order *order)
{
    if (per_channel(node) && !last_axis_last(order))
        return INT64_MAX;
    int64_t sum = axis_cost(l, node, order);
    for (int i = 0; i < data_operands(node); i++)
        sum += ti_stored_cost(&l->store, node->in[i], order);
    const wish *w = &l->want[node->out[0]];
    if (w->weight && ti_order_moves(dims(l, node->out[0]), order, &w->order))
        sum += tc_type_count(ti_type_of(l->store.rw->from, node->out[0]));
    return sum;
}

/* The best of: the order of an operand, the one that is wanted, the plain one, the reduced axis
 * last. */
static tc_order choose(layout *l, const tc_node *node)
{
    int rank = ti_type_of(l->store.rw->from, node->out[0])->rank;
    tc_order best = ti_order_plain(rank), other;
    int64_t least = INT64_MAX, c;
    bool decided = false;
    for (int i = 0; i < data_operands(node); i++) {
        const tc_stored *s = &l->store.now[node->in[i]];
        if (!ti_is_const(l->store.rw->to, s->val) && (c = cost(l, node, &s->order)) < least) {
            best = s->order;
            least = c;
            decided = c == 0;
        }
    }
    if (!decided && l->want[node->out[0]].weight &&
        (c = cost(l, node, &l->want[node->out[0]].order)) < least) {
        best = l->want[node->out[0]].order;
        least = c;
    }
    other = ti_order_plain(rank);
    if (!decided && (c = cost(l, node, &other)) < least) {
        best = other;
        least = c;
    }
    return best;
}

/* ---- nodes ---- */

static const tc_type *stored_type(layout *l, tc_val old, const tc_order *order)
{
    const tc_type *t = ti_type_of(l->store.rw->from, old);
    tc_order p = ti_order_plain(t->rank);
    if (ti_order_same(order, &p))
        return t;
    int64_t dim[TC_MAX_RANK];
    ti_order_dims(order, t->dim, dim);
    return ti_type_make(l->store.rw->ctx, t->dtype, t->rank, dim);
}

/* The node on operands in its chosen order; attr and the operands past the data as given. */
static void put(layout *l, const tc_node *node, const void *attr, const tc_val *in, int n,
                const tc_order *order)
{
    tc_val made =
        ti_stored_add(&l->store, node, node->op, attr, in, n, stored_type(l, node->out[0], order));
    tc_value *value = l->store.rw->to->val[made];
    value->name = l->store.rw->from->val[node->out[0]]->name;
    l->store.now[node->out[0]] = (tc_stored){.val = made, .order = *order};
}

static tc_val *operands(layout *l, const tc_node *node, const tc_order *order)
{
    tc_val *in = tc_new_n(&l->store.rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = i < data_operands(node) ? ti_stored_laid(&l->store, node, node->in[i], order)
                                        : ti_stored_plain(&l->store, node, node->in[i]);
    return in;
}

static place_rule place_plain;

/* Floats that become integers: those are not moved any more, which PRO-FP cannot. */
static bool becomes_integer(const layout *l, const tc_node *node)
{
    const tc_graph *g = l->store.rw->from;
    return node->op == TC_OP_tosa_cast && ti_is_float(ti_type_of(g, node->in[0])->dtype) &&
           ti_is_int(ti_type_of(g, node->out[0])->dtype);
}

/* To and from block-scaled types: elements along the last axis share a scale. */
static bool makes_blocks(const layout *l, const tc_node *node)
{
    const tc_graph *g = l->store.rw->from;
    return node->op == TC_OP_tosa_cast && (ti_is_block(ti_type_of(g, node->in[0])->dtype) ||
                                           ti_is_block(ti_type_of(g, node->out[0])->dtype));
}

static tc_status place_eltwise(layout *l, const tc_node *node)
{
    if (becomes_integer(l, node) || makes_blocks(l, node))
        return place_plain(l, node);
    tc_order order = choose(l, node);
    put(l, node, node->attr, operands(l, node, &order), node->n_in, &order);
    return TC_OK;
}

/* The axis by its stored number; every record that is given begins with it. */
static tc_status place_axis(layout *l, const tc_node *node)
{
    tc_order order = choose(l, node);
    int64_t axis = *(const int64_t *)node->attr;
    const void *attr;
    if (tc_ops[node->op].attr == TC_ATTR_tosa_axis_nan) {
        tc_attr_tosa_axis_nan a = *(const tc_attr_tosa_axis_nan *)node->attr;
        a.axis = order.at[axis];
        attr = ti_arena_copy(&l->store.rw->ctx->arena, &a, sizeof a);
    } else {
        tc_attr_tosa_axis a = {order.at[axis]};
        attr = ti_arena_copy(&l->store.rw->ctx->arena, &a, sizeof a);
    }
    put(l, node, attr, operands(l, node, &order), node->n_in, &order);
    return TC_OK;
}

/* Operand i holds `each` values per axis: SLICE's start and size, TILE's multiples, PAD's padding.
 */
static bool shape_operand(layout *l, const tc_node *node, int i, int each, const tc_order *order,
                          tc_val *in)
{
    tc_tensor t = ti_tensor_of(l->store.rw->from, node->in[i]);
    int64_t v[2 * TC_MAX_RANK];
    const int64_t *old = t.data;
    if (!old || t.type->dtype != TC_shape)
        return false;
    for (int k = 0; k < order->rank; k++)
        for (int e = 0; e < each; e++)
            v[each * order->at[k] + e] = old[each * k + e];
    in[i] = ti_stored_shape(&l->store, node, each * order->rank, v);
    return true;
}

static tc_status place_plain(layout *l, const tc_node *node);

static tc_status place_shaped(layout *l, const tc_node *node)
{
    tc_order order = choose(l, node);
    int each = node->op == TC_OP_tosa_pad ? 2 : 1, n_shape = node->op == TC_OP_tosa_slice ? 2 : 1;
    tc_val *in = operands(l, node, &order);
    for (int i = 1; i <= n_shape; i++)
        if (!shape_operand(l, node, i, each, &order, in))
            return place_plain(l, node);
    put(l, node, node->attr, in, node->n_in, &order);
    return TC_OK;
}

/* The chain so far; what was stored by an order begins one. */
static tc_chain chain_of(layout *l, tc_val old)
{
    const tc_stored *s = &l->store.now[old];
    return s->chain ? *s->chain : ti_chain_begin(ti_type_of(l->store.rw->from, old), s->order.at);
}

enum { RANK_MAX = 6 }; /* of a TRANSPOSE */

/* One step more of a chain; false: not this way. */
static bool chained(layout *l, const tc_node *node, const tc_chain *c)
{
    int64_t dim[TC_MAX_RANK], perm[TC_MAX_RANK];
    const tc_type *to = ti_type_of(l->store.rw->from, node->out[0]);
    tc_val x = l->store.now[node->in[0]].val;
    tc_order q = {.rank = to->rank};
    if (ti_chain_in_place(c, q.at)) {
        l->store.now[node->out[0]] = ti_stored_regrouped(&l->store, node, x, to, q);
        return true;
    }
    if (ti_stored_groups(c, dim, perm) > RANK_MAX)
        return false;
    l->store.now[node->out[0]] =
        (tc_stored){.val = x, .chain = ti_arena_copy(&l->store.rw->ctx->scratch, c, sizeof *c)};
    return true;
}

static tc_status place_transpose(layout *l, const tc_node *node)
{
    const int64_t *perm = ((const tc_attr_tosa_perms *)node->attr)->perms.v;
    if (l->store.now[node->in[0]].chain) {
        tc_chain c = chain_of(l, node->in[0]);
        ti_chain_permute(&c, perm, ti_type_of(l->store.rw->from, node->out[0]));
        if (chained(l, node, &c))
            return TC_OK;
        ti_stored_force(&l->store, node, node->in[0]);
    }
    const tc_stored *s = &l->store.now[node->in[0]];
    l->store.now[node->out[0]] =
        (tc_stored){.val = s->val, .order = ti_order_view(&s->order, perm)};
    return TC_OK;
}

static tc_status place_reshape(layout *l, const tc_node *node)
{
    const tc_stored *s = &l->store.now[node->in[0]];
    const tc_type *to = ti_type_of(l->store.rw->from, node->out[0]);
    tc_order q;
    if (!s->chain && ti_order_reshape(&s->order, dims(l, node->in[0]), to->rank, to->dim, &q)) {
        l->store.now[node->out[0]] = ti_stored_regrouped(&l->store, node, s->val, to, q);
        return TC_OK;
    }
    tc_chain c = chain_of(l, node->in[0]);
    if (tc_type_count(to) > 0 && ti_chain_reshape(&c, to) && chained(l, node, &c))
        return TC_OK;
    ti_stored_force(&l->store, node, node->in[0]);
    tc_val x = ti_stored_plain(&l->store, node, node->in[0]);
    l->store.now[node->out[0]] =
        ti_stored_regrouped(&l->store, node, x, to, ti_order_plain(to->rank));
    return TC_OK;
}

/* ---- products ---- */

/* A product over the last axis of x [n,h,w,k], whose factors are in another order in memory: the
 * weights [o,1,1,k] in that order, and x unchanged. */
static bool reorder_weights(layout *l, const tc_node *node, tc_val *x, tc_val *w)
{
    const tc_chain *c = l->store.now[node->in[0]].chain;
    tc_tensor old = ti_tensor_of(l->store.rw->from, node->in[1]);
    int rows = 0; /* factors before the last axis */
    if (!c || !old.data || old.type->dim[1] != 1 || old.type->dim[2] != 1)
        return false;
    while (rows < c->n && c->axis[rows] != 3)
        rows++;
    if (memcmp(c->from, c->at, (size_t)rows * sizeof *c->at) != 0 || c->n - rows >= TC_MAX_RANK)
        return false;
    tc_type split = {.dtype = old.type->dtype, .rank = 1 + c->n - rows, .dim = {old.type->dim[0]}};
    int64_t perm[TC_MAX_RANK] = {0};
    for (int i = 1; i < split.rank; i++) {
        split.dim[i] = c->size[c->at[rows + i - 1]];
        for (int k = 1; k < split.rank; k++)
            if (c->at[rows + k - 1] == c->from[rows + i - 1])
                perm[i] = k;
    }
    const tc_value *value = l->store.rw->from->val[node->in[1]];
    const void *data = ti_transposed(&l->store.rw->ctx->arena, &split, old.data, perm);
    *w = ti_graph_const(l->store.rw->to, old.type, data, value->name, value->def->loc);
    *x = ti_stored_reshape(&l->store, node, l->store.now[node->in[0]].val, 4, dims(l, node->in[0]));
    return true;
}

static tc_status place_conv(layout *l, const tc_node *node)
{
    tc_val x, w;
    if (!reorder_weights(l, node, &x, &w)) {
        ti_stored_force(&l->store, node, node->in[0]);
        return place_plain(l, node);
    }
    tc_val in[5] = {x, w};
    for (int i = 2; i < 5; i++)
        in[i] = ti_stored_plain(&l->store, node, node->in[i]);
    tc_order q = ti_order_plain(4);
    put(l, node, node->attr, in, 5, &q);
    return TC_OK;
}

/* As it is, on operands in the order of their types. */
static tc_status place_plain(layout *l, const tc_node *node)
{
    tc_rewrite *rw = l->store.rw;
    for (int i = 0; i < node->n_in; i++)
        rw->now[node->in[i]] = ti_stored_plain(&l->store, node, node->in[i]);
    ti_rewrite_copy(rw, node);
    for (int i = 0; i < node->n_out; i++)
        l->store.now[node->out[i]] =
            (tc_stored){.val = rw->now[node->out[i]],
                        .order = ti_order_plain(ti_type_of(rw->from, node->out[i])->rank)};
    return TC_OK;
}

static manner manner_of(tc_op op)
{
    static const manner special[TC_OP_COUNT] = {
        [TC_OP_tosa_mul] = {place_eltwise, 2},      [TC_OP_tosa_table] = {place_eltwise, 1},
        [TC_OP_tosa_rescale] = {place_eltwise, 1},  [TC_OP_tosa_negate] = {place_eltwise, 1},
        [TC_OP_tosa_identity] = {place_eltwise, 0}, [TC_OP_tosa_concat] = {place_axis, 0},
        [TC_OP_tosa_reverse] = {place_axis, 0},     [TC_OP_tosa_slice] = {place_shaped, 1},
        [TC_OP_tosa_tile] = {place_shaped, 1},      [TC_OP_tosa_pad] = {place_shaped, 1},
        [TC_OP_tosa_reshape] = {place_reshape, 1},  [TC_OP_tosa_transpose] = {place_transpose, 1},
    };
    if (special[op].place)
        return special[op];
    uint32_t traits = tc_ops[op].traits;
    if (op >= TC_OP_tosa_argmax && (traits & T_ELTWISE))
        return (manner){place_eltwise, 0};
    if (op >= TC_OP_tosa_argmax && (traits & T_REDUCES))
        return (manner){place_axis, 0};
    return (manner){op == TC_OP_tosa_conv2d ? place_conv : place_plain, 0};
}

/* ---- the look from the back ---- */

static void ask(layout *l, tc_val old, const tc_order *order, int64_t weight)
{
    wish *w = &l->want[old];
    if (!w->weight || ti_order_same(&w->order, order)) {
        w->order = *order;
        w->weight += weight;
    } else if (w->weight < weight) {
        *w = (wish){*order, weight - w->weight};
    } else {
        w->weight -= weight;
    }
}

static void ask_plain(layout *l, tc_val old)
{
    const tc_type *t = ti_type_of(l->store.rw->from, old);
    if (!old || ti_is_const(l->store.rw->from, old) || !t)
        return;
    tc_order p = ti_order_plain(t->rank);
    ask(l, old, &p, 1 + tc_type_count(t));
}

/* A node's preferred order of its operands, given that of its result. */
static void ask_operands(layout *l, const tc_node *node)
{
    const manner m = manner_of(node->op);
    const tc_graph *g = l->store.rw->from;
    const wish *w = node->n_out ? &l->want[node->out[0]] : NULL;
    bool strict = m.place == place_plain || m.place == place_conv || makes_blocks(l, node);
    for (int i = 0; i < node->n_in && strict; i++)
        ask_plain(l, node->in[i]);
    if (strict || !w->weight)
        return;
    for (int i = 0; i < data_operands(node); i++) {
        const tc_type *t = ti_type_of(g, node->in[i]);
        tc_order order = w->order;
        if (node->op == TC_OP_tosa_transpose)
            order = ti_order_unview(&w->order, ((const tc_attr_tosa_perms *)node->attr)->perms.v);
        if (node->op == TC_OP_tosa_reshape &&
            !ti_order_reshape(&w->order, dims(l, node->out[0]), t->rank, t->dim, &order))
            ask_plain(l, node->in[i]);
        else if (!ti_is_const(g, node->in[i]))
            ask(l, node->in[i], &order, ti_min_i64(w->weight, 1 + tc_type_count(t)));
    }
}

static void look_back(layout *l)
{
    const tc_graph *g = l->store.rw->from;
    for (size_t v = 1; v < g->n_val; v++)
        if (l->pinned[v])
            ask_plain(l, (tc_val)v);
    for (size_t k = g->n_node; k-- > 0;)
        ask_operands(l, g->node[k]);
}

/* ---- the pass ---- */

/* A value that is read from outside has its own node and its whole type, domain included. */
static void give(layout *l, const tc_node *node, tc_val old)
{
    tc_rewrite *rw = l->store.rw;
    const tc_type *type = ti_type_of(rw->from, old);
    ti_stored_force(&l->store, node, old);
    tc_val v = ti_stored_plain(&l->store, node, old);
    tc_value *value = rw->to->val[v];
    bool other = !value->def || value->data, taken = value->type->quant && value->type != type;
    if (other || taken)
        v = ti_stored_add(&l->store, node, TC_OP_tosa_identity, NULL, &v, 1, type);
    rw->to->val[v]->type = type;
    rw->now[old] = v;
}

static tc_status start(layout *l)
{
    tc_rewrite *rw = l->store.rw;
    tc_arena *scratch = &rw->ctx->scratch;
    const tc_graph *g = rw->from;
    l->store.now = tc_new_n(scratch, tc_stored, g->n_val);
    l->want = tc_new_n(scratch, wish, g->n_val);
    l->pinned = ti_graph_pinned(rw->ctx, g);
    ti_map_init(&l->store.laid, scratch);
    look_back(l);
    for (size_t i = 0; i < g->n_in; i++)
        l->store.now[g->in[i]] = (tc_stored){
            .val = rw->now[g->in[i]], .order = ti_order_plain(ti_type_of(g, g->in[i])->rank)};
    return TC_OK;
}

static tc_status place(tc_rewrite *rw, const tc_node *node, bool *done)
{
    layout *l = rw->user;
    if (!l->store.rw) {
        l->store.rw = rw;
        TC_TRY(start(l));
    }
    const manner m = manner_of(node->op);
    bool reads_chains =
        m.place == place_transpose || m.place == place_reshape || m.place == place_conv;
    for (int i = 0; i < node->n_in && !reads_chains; i++)
        ti_stored_force(&l->store, node, node->in[i]);
    TC_TRY(m.place(l, node));
    for (int i = 0; i < node->n_out; i++)
        if (l->pinned[node->out[i]])
            give(l, node, node->out[i]);
    *done = true;
    return TC_OK;
}

tc_status ti_lower_sink_transposes(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {place};
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        layout l = {0};
        tc_status status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &l);
        ti_arena_rewind(&ctx->scratch, mark);
        TC_TRY(status);
    }
    return TC_OK;
}
