/* SPDX-License-Identifier: Apache-2.0 */
/* narrow_integers.c -- i64 becomes i32 around the nodes that a target takes.
 *
 * TOSA 1.0 has no i64, and PyTorch's integers are i64.  A node that reads or makes i64 is tried
 * with i32 instead, where no value changes: indices into tensors fit; for others the range is
 * derived from constants, indices and narrow types.  If the target takes it, casts are placed
 * around it; inputs and outputs of the program keep their types. */
#include "int_range.h"

#include "../../ir/rewrite.h"
#include "../../num/load.h"

typedef struct narrowing {
    const tc_target *target;
    const tc_int_range *of; /* by value of `from` */
    tc_val *in_32;          /* by value of `from`: the same elements as i32 in `to`, or none */
    bool *is_place; /* by value of `from`: all readers use it as an index, or its low 32 bits */
} narrowing;

static bool names_places(const tc_node *node, int i)
{
    return ti_among(tc_ops[node->op].places, i);
}

static bool is_plain_int(const tc_type *t)
{
    return t && ti_is_int(t->dtype) && !t->quant;
}

/* Right in the low 32 bits whatever the high ones are: moves elements, or adds and multiplies
 * integers; floats, codes and bools depend on all bits. */
static bool is_modular(const tc_graph *g, const tc_node *node)
{
    if (tc_ops[node->op].traits & T_MOVES)
        return true;
    bool whole = tc_ops[node->op].traits & T_MODULAR && is_plain_int(ti_type_of(g, node->out[0]));
    for (int i = 0; i < node->n_in && whole; i++) {
        const tc_type *t = ti_type_of(g, node->in[i]);
        whole = !t || t->dtype == TC_bool || is_plain_int(t);
    }
    return whole;
}

/* Keeps the low 32 bits of the integers that it reads, or fewer. */
static bool drops_high(const tc_graph *g, const tc_node *node)
{
    const tc_type *t = ti_type_of(g, node->out[0]);
    return node->op == TC_OP_cast && is_plain_int(t) && tc_dtypes[t->dtype].bits <= 32;
}

/* ---- 32-bit forms ---- */

static const tc_type *as_32(tc_ctx *ctx, const tc_type *t)
{
    return ti_type_make(ctx, TC_i32, t->rank, t->dim);
}

static tc_val small_constant(tc_rewrite *rw, tc_graph *g, tc_val v, const tc_loc *loc)
{
    tc_tensor from = ti_tensor_of(rw->to, v);
    tc_tensor to = ti_tensor_new(&rw->ctx->arena, as_32(rw->ctx, from.type));
    for (int64_t i = 0; i < tc_type_count(to.type); i++)
        ti_store_i64(to, i, ti_load_i64(from, i));
    return ti_graph_const(g, to.type, to.data, rw->to->val[v]->name, loc);
}

static tc_val put_cast(tc_rewrite *rw, tc_val v, tc_dtype dtype, const tc_loc *loc)
{
    tc_attr_cast *a = tc_new(&rw->ctx->arena, tc_attr_cast);
    a->dtype = dtype;
    const tc_type *t = ti_type_of(rw->to, v);
    tc_node *node = ti_graph_add(rw->to, TC_OP_cast, a, &v, 1, 1, loc);
    rw->to->val[node->out[0]]->type = ti_type_make(rw->ctx, dtype, t->rank, t->dim);
    return node->out[0];
}

/* The value of `from` as i32 in `to`. */
static tc_val small_form(tc_rewrite *rw, tc_val old, const tc_loc *loc)
{
    narrowing *n = rw->user;
    tc_val v = rw->now[old];
    if (!n->in_32[old])
        n->in_32[old] = ti_is_const(rw->to, v) ? small_constant(rw, rw->to, v, loc)
                                               : put_cast(rw, v, TC_i32, loc);
    return n->in_32[old];
}

/* ---- one node ---- */

static bool touches_i64(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && ti_type_of(g, node->in[i])->dtype == TC_i64)
            return true;
    for (int i = 0; i < node->n_out; i++)
        if (ti_type_of(g, node->out[i])->dtype == TC_i64)
            return true;
    return false;
}

/* Whether i32 instead of i64 gives the same values. */
static bool is_safe(const tc_rewrite *rw, const tc_node *node)
{
    const narrowing *n = rw->user;
    bool place = node->n_out == 1 && is_modular(rw->from, node) &&
                 (n->is_place[node->out[0]] || drops_high(rw->from, node));
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && ti_type_of(rw->from, node->in[i])->dtype == TC_i64 &&
            !ti_int_range_fits(n->of[node->in[i]]) && !place && !names_places(node, i))
            return false;
    for (int i = 0; i < node->n_out; i++)
        if (ti_type_of(rw->from, node->out[i])->dtype == TC_i64 && !place &&
            !ti_int_range_fits(n->of[node->out[i]]))
            return false;
    return true;
}

/* The attributes with i32 instead of i64. */
static const void *small_attr(tc_ctx *ctx, const tc_node *node)
{
    if (node->op != TC_OP_cast || ((const tc_attr_cast *)node->attr)->dtype != TC_i64)
        return node->attr;
    tc_attr_cast *a = tc_new(&ctx->arena, tc_attr_cast);
    a->dtype = TC_i32;
    return a;
}

static void give_types(tc_rewrite *rw, const tc_node *node, tc_graph *g, tc_node *made)
{
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_type_of(rw->from, node->out[i]);
        g->val[made->out[i]]->type = t->dtype == TC_i64 ? as_32(rw->ctx, t) : t;
    }
}

/* A graph of nothing but the node in its 32-bit form: is it sound, and does the target, if there is
 * one, take it? */
static bool is_taken(tc_rewrite *rw, const tc_node *node)
{
    const narrowing *n = rw->user;
    tc_graph trial = ti_graph_empty(rw->from->module, rw->from->name);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *t = ti_type_of(rw->from, node->in[i]);
        tc_val v = rw->now[node->in[i]];
        if (!t)
            continue;
        bool small = t->dtype == TC_i64;
        if (ti_is_const(rw->to, v))
            in[i] = small ? small_constant(rw, &trial, v, node->loc)
                          : ti_graph_const(&trial, t, rw->to->val[v]->data, NULL, node->loc);
        else
            in[i] = ti_graph_input(&trial, small ? as_32(rw->ctx, t) : t, NULL);
    }
    tc_node *made = ti_graph_add(&trial, node->op, small_attr(rw->ctx, node), in, node->n_in,
                                 node->n_out, node->loc);
    give_types(rw, node, &trial, made);
    for (int i = 0; i < node->n_out; i++)
        if (rw->readers[node->out[i]])
            ti_graph_output(&trial, made->out[i]);
    const char *why;
    if (n->target)
        return ti_lower_can(ti_lower_ask(rw->ctx, &trial, n->target), made, &why) &&
               ti_node_infer(&trial, made) == TC_OK;
    tc_hold hold = ti_hold_begin(rw->ctx);
    bool sound = ti_node_infer(&trial, made) == TC_OK;
    ti_hold_drop(rw->ctx, hold);
    return sound;
}

/* The node on 32-bit operands; its 64-bit results are separate casts. */
static void put_small(tc_rewrite *rw, const tc_node *node)
{
    narrowing *n = rw->user;
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i])
            in[i] = ti_type_of(rw->from, node->in[i])->dtype == TC_i64
                        ? small_form(rw, node->in[i], node->loc)
                        : rw->now[node->in[i]];
    tc_node *made = ti_graph_add(rw->to, node->op, small_attr(rw->ctx, node), in, node->n_in,
                                 node->n_out, node->loc);
    give_types(rw, node, rw->to, made);
    for (int i = 0; i < node->n_out; i++) {
        tc_val v = made->out[i];
        if (ti_type_of(rw->from, node->out[i])->dtype == TC_i64) {
            n->in_32[node->out[i]] = v;
            v = put_cast(rw, v, TC_i64, node->loc);
        }
        ti_rewrite_bind(rw, node->out[i], v);
    }
}

static tc_status narrow_node(tc_rewrite *rw, const tc_node *node, bool *done)
{
    narrowing *n = rw->user;
    if (node->op == TC_OP_const || (tc_ops[node->op].traits & T_CONTROL) ||
        !touches_i64(rw->from, node) || !is_safe(rw, node))
        return TC_OK;
    bool widening = node->op == TC_OP_cast && ti_type_of(rw->from, node->in[0])->dtype == TC_i32;
    if (widening) { /* is the other form of its operand */
        n->in_32[node->out[0]] = rw->now[node->in[0]];
        return TC_OK;
    }
    if (!is_taken(rw, node))
        return TC_OK;
    put_small(rw, node);
    *done = true;
    return TC_OK;
}

static void find_places(const tc_graph *g, bool *is_place)
{
    for (size_t v = 1; v < g->n_val; v++)
        is_place[v] = true;
    for (size_t i = 0; i < g->n_out; i++)
        is_place[g->out[i]] = false;
    for (size_t i = 0; i < g->n_mutation; i++)
        is_place[g->mutation[i].after] = false;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool on = node->n_out == 1 && is_modular(g, node) &&
                  (is_place[node->out[0]] || drops_high(g, node));
        for (int i = 0; i < node->n_in; i++)
            if (!names_places(node, i) && !on)
                is_place[node->in[i]] = false;
    }
}

tc_status ti_lower_narrow(tc_ctx *ctx, tc_module *module, const tc_target *target)
{
    tc_graph *g = ti_main(module);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    narrowing n = {.target = target,
                   .of = ti_int_ranges(ctx, g),
                   .in_32 = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                   .is_place = tc_new_n(&ctx->scratch, bool, g->n_val)};
    find_places(g, n.is_place);
    static tc_rewriter *const rewriters[] = {narrow_node};
    tc_status status = ti_rewrite_graph(g, rewriters, 1, &n);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
