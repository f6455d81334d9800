/* SPDX-License-Identifier: Apache-2.0 */
/* inner_values.c -- see inner_values.h.
 *
 * Nodes of the typed program and what the rules made of them bear the name of the same node of the
 * model.  Of those that share a name, the one value that others read is what the node computes: it
 * is known on both sides, when on both sides there is one. */
#include "inner_values.h"

#include "../drive/model.h"

/* ---- one graph ---- */

typedef struct inliner {
    tc_ctx *ctx;
    tc_graph *to;
} inliner;

static bool remembers(tc_op op)
{
    return op == TC_OP_tosa_variable || op == TC_OP_tosa_variable_read ||
           op == TC_OP_tosa_variable_write;
}

static bool put_node(inliner *in, const tc_graph *from, const tc_node *node, tc_val *at)
{
    tc_graph *to = in->to;
    if (remembers(node->op) || ti_node_calls(node))
        return false;
    if (node->op == TC_OP_const) {
        const tc_value *v = ti_value_of(from, node->out[0]);
        at[node->out[0]] = ti_graph_const(to, v->type, v->data, v->name, node->loc);
        return !v->state;
    }
    tc_mark mark = ti_arena_mark(&in->ctx->scratch);
    tc_val *operand = tc_new_n(&in->ctx->scratch, tc_val, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        operand[i] = at[node->in[i]];
    tc_node *copy =
        ti_graph_add(to, node->op, node->attr, operand, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        const tc_value *v = ti_value_of(from, node->out[i]);
        to->val[copy->out[i]]->type = v->type;
        at[node->out[i]] = copy->out[i];
    }
    ti_arena_rewind(&in->ctx->scratch, mark);
    return true;
}

static bool put_region(inliner *in, const tc_graph *body, const tc_node *call, tc_val *outer)
{
    tc_val *at = tc_new_n(&in->ctx->arena, tc_val, body->n_val);
    for (size_t i = 0; i < body->n_in; i++)
        at[body->in[i]] = outer[call->in[i]];
    for (size_t k = 0; k < body->n_node; k++)
        if (!put_node(in, body, body->node[k], at))
            return false;
    for (size_t i = 0; i < body->n_out; i++)
        outer[call->out[i]] = at[body->out[i]];
    return true;
}

static tc_graph *inlined(tc_ctx *ctx, const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    tc_module *m = ti_module_new(ctx, module->file);
    inliner in = {ctx, ti_graph_new(m, g->name)};
    tc_val *at = tc_new_n(&ctx->arena, tc_val, g->n_val);
    bool whole = !g->n_mutation;
    for (size_t i = 0; i < g->n_in; i++)
        at[g->in[i]] =
            ti_graph_input(in.to, ti_type_of(g, g->in[i]), ti_value_of(g, g->in[i])->name);
    for (size_t k = 0; k < g->n_node && whole; k++) {
        const tc_node *node = g->node[k];
        const tc_graph *body = node->op == TC_OP_call ? ti_node_callee(module, node, 0) : NULL;
        whole = body ? put_region(&in, body, node, at) : put_node(&in, g, node, at);
    }
    for (size_t i = 0; i < g->n_out && whole; i++)
        ti_graph_output(in.to, at[g->out[i]]);
    return whole ? in.to : NULL;
}

/* ---- what leaves the nodes of one name ---- */

#define SEVERAL UINT32_MAX

static const char *name_of(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    return def && def->op != TC_OP_const ? def->loc->node : NULL;
}

static void leaves(tc_map *out, const tc_graph *g, tc_val v, const char *reader)
{
    const char *name = v ? name_of(g, v) : NULL;
    if (!name || (reader && ti_text_eq(name, reader)))
        return;
    void **slot = ti_map_at(out, ti_str_of(name));
    uintptr_t now = (uintptr_t)*slot;
    *slot = (void *)(now == 0 || now == v ? (uintptr_t)v : (uintptr_t)SEVERAL);
}

static void find_leaving(tc_ctx *ctx, const tc_graph *g, tc_map *out)
{
    ti_map_init(out, &ctx->arena);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            leaves(out, g, g->node[k]->in[i], g->node[k]->loc->node ? g->node[k]->loc->node : "");
    for (size_t i = 0; i < g->n_out; i++)
        leaves(out, g, g->out[i], NULL);
}

/* ---- under their names ---- */

/* x: [n, c, ...] as stored channels last: [n, ..., c]. */
static bool is_channels_last(const tc_type *typed, const tc_type *stored)
{
    int rank = typed->rank;
    bool same = rank == stored->rank && rank > 2 && typed->dim[0] == stored->dim[0] &&
                typed->dim[1] == stored->dim[rank - 1];
    for (int i = 2; i < rank && same; i++)
        same = typed->dim[i] == stored->dim[i - 1];
    return same;
}

static bool same_shape(const tc_type *a, const tc_type *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

/* Whether moving the channels to the end leaves every element at its address. */
static bool moves_nothing(const tc_type *t)
{
    int64_t rest = 1;
    for (int i = 2; i < t->rank; i++)
        rest *= t->dim[i];
    return t->rank < 3 || rest == 1 || t->dim[1] == 1;
}

/* The same rows in another arrangement, as far as shapes show. */
static bool same_rows(const tc_type *typed, const tc_type *stored)
{
    return typed->rank && stored->rank && tc_type_count(typed) == tc_type_count(stored) &&
           typed->dim[typed->rank - 1] == stored->dim[stored->rank - 1];
}

static tc_val reshaped(tc_ctx *ctx, tc_graph *g, tc_val v, const tc_type *type)
{
    const tc_loc *loc = ti_def(g, v)->loc;
    int64_t rank = type->rank;
    tc_val in[] = {v, ti_graph_const(g, ti_type_make(ctx, TC_shape, 1, &rank),
                                     ti_ints_copy(&ctx->arena, type->dim, type->rank).v, NULL, loc)};
    tc_node *node = ti_graph_add(g, TC_OP_tosa_reshape, NULL, in, 2, 1, loc);
    g->val[node->out[0]]->type = type;
    return node->out[0];
}

/* The same elements, typed; perm: where each axis comes from. */
static tc_val retyped(tc_ctx *ctx, tc_graph *g, tc_val v, const tc_type *type, const int64_t *perm)
{
    tc_attr_tosa_perms *attr = tc_new(&ctx->arena, tc_attr_tosa_perms);
    attr->perms = ti_ints_copy(&ctx->arena, perm, type->rank);
    tc_node *node = ti_graph_add(g, TC_OP_tosa_transpose, attr, &v, 1, 1, ti_def(g, v)->loc);
    g->val[node->out[0]]->type = type;
    return node->out[0];
}

/* Why the stored value cannot be shown as the typed one; NULL: it can.  *rows: it can, provided
 * that its rows are in the same order. */
static const char *unlike(tc_ctx *ctx, const tc_type *typed, const tc_type *stored, bool *rows)
{
    bool first = same_shape(typed, stored), last = is_channels_last(typed, stored);
    if (!typed->quant)
        return "it is real in the typed program";
    if (stored->dtype != typed->dtype)
        return ti_text_format(&ctx->arena, "the target keeps it as %s, not as %s",
                              tc_dtypes[stored->dtype].name, tc_dtypes[typed->dtype].name);
    if (!first && !last) {
        tc_type bare = *stored;
        bare.quant = NULL;
        *rows = same_rows(typed, stored) && (!stored->quant || stored->quant == typed->quant);
        return ti_text_format(&ctx->arena, "the target has it as %s, in another order", ti_type_text(&ctx->arena, &bare));
    }
    if (first && last && !moves_nothing(typed))
        return "its shape does not tell the order of its axes";
    return stored->quant && stored != typed ? "it has another scale there" : NULL;
}

/* The value in the order and with the type of the typed program. */
static tc_val as_typed(tc_ctx *ctx, tc_graph *g, tc_val v, const tc_type *typed)
{
    bool first = same_shape(typed, ti_type_of(g, v));
    int64_t perm[TC_MAX_RANK] = {0};
    if (!first && !is_channels_last(typed, ti_type_of(g, v)))
        return reshaped(ctx, g, v, typed);
    for (int i = 1; i < typed->rank; i++)
        perm[i] = first ? i : i == 1 ? typed->rank - 1 : i - 1;
    return retyped(ctx, g, v, typed, perm);
}

/* Why the value t of the typed program cannot be taken from p of the other; NULL: it can. */
static const char *why_not(tc_ctx *ctx, const tc_graph *typed, uintptr_t t, const tc_graph *g,
                           uintptr_t p, bool *rows)
{
    if (t == SEVERAL || p == SEVERAL)
        return "several values of it are read";
    if (!p)
        return "it is fused with its readers";
    if (!typed->val[t]->name)
        return "factors were moved between it and its neighbours";
    return unlike(ctx, ti_type_of(typed, (tc_val)t), ti_type_of(g, (tc_val)p), rows);
}

tc_model *ti_compiled_watched(tc_ctx *ctx, const tc_compiled *c, tc_map *why)
{
    const tc_graph *typed = c->work.typed ? ti_main(c->work.typed) : NULL;
    tc_graph *g = typed && !typed->n_mutation ? inlined(ctx, c->module) : NULL;
    tc_map in_typed, in_program;
    if (!g)
        return NULL;
    find_leaving(ctx, typed, &in_typed);
    find_leaving(ctx, g, &in_program);
    for (size_t i = 0; i < in_typed.n; i++) {
        uintptr_t t = (uintptr_t)in_typed.entry[i].value,
                  p = (uintptr_t)ti_map_get(&in_program, in_typed.entry[i].key);
        bool rows = false;
        const char *reason = why_not(ctx, typed, t, g, p, &rows);
        if (reason && why)
            *ti_map_at(why, in_typed.entry[i].key) = (void *)(uintptr_t)reason;
        if (reason && !rows)
            continue;
        tc_val v = as_typed(ctx, g, (tc_val)p, ti_type_of(typed, (tc_val)t));
        g->val[v]->name = typed->val[t]->name;
        ti_graph_output(g, v);
    }
    return ti_model_of(ctx, c->model ? c->model->name : "program", g->module);
}
