/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c -- see settle.h. */
#include "settle.h"

bool ti_module_open(const tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++)
        for (size_t k = 1; k < module->graph[i]->n_val; k++) {
            const tc_type *t = module->graph[i]->val[k]->type;
            if (t && ti_type_open(t))
                return true;
        }
    return false;
}

/* ---- values of shapes ------------------------------------------------------------------------ */

/* An operand, with its numbers where they are known. */
static tc_tensor operand(const tc_graph *g, const int64_t **known, tc_val val)
{
    tc_tensor t = ti_tensor_of(g, val);
    if (val && !t.data)
        t.data = (void *)(uintptr_t)known[val];
    return t;
}

/* One of the operators on shapes, with as many operands as it has. */
static bool makes_shape(const tc_graph *g, const tc_node *node)
{
    const tc_op_info *info = &tc_ops[node->op];
    return node->op >= TC_OP_tosa_dim && node->op < TC_OP_tosa_assert_equal_shape &&
           node->n_out == 1 && node->n_in >= info->min_in &&
           (info->max_in == TC_ANY || node->n_in <= info->max_in) &&
           (info->attr == TC_ATTR_none || node->attr) && ti_type_of(g, node->out[0]);
}

/* Whether its operands are what they should be and its result as declared; says nothing. */
static bool declared_right(const tc_graph *g, const tc_node *node, const tc_tensor *in)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_op_info *info = &tc_ops[node->op];
    tc_type out = *ti_type_of(g, node->out[0]);
    tc_infer call = {ctx, node->loc, info->name, node->attr, node->n_in, 1, in, &out};
    tc_trial trial;
    ti_trial_begin(ctx, &trial);
    bool right = info->shape(&call) == TC_OK;
    ti_trial_end(ctx, &trial);
    return right && out.dtype == ti_type_of(g, node->out[0])->dtype &&
           ti_same_dims(&out, ti_type_of(g, node->out[0]));
}

/* The kernel's numbers, or NULL where an operand is not known or has no result. */
static const int64_t *evaluate(tc_arena *arena, const tc_graph *g, const tc_node *node,
                               const int64_t **known)
{
    tc_tensor *in = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = operand(g, known, node->in[i]);
        bool type_will_do = node->op == TC_OP_tosa_dim && in[i].type && !ti_type_open(in[i].type);
        if (!in[i].type || (!in[i].data && !type_will_do))
            return NULL;
    }
    if (!declared_right(g, node, in))
        return NULL;
    tc_tensor out = ti_tensor_new(arena, ti_type_of(g, node->out[0]));
    tc_call call = {node->attr, node->n_in, 1, in, &out, arena, NULL};
    tc_ops[node->op].kernel(&call);
    return call.error ? NULL : out.data;
}

/* Into known[], what the node makes if it makes a shape. */
static void learn(tc_arena *arena, const tc_graph *g, const tc_node *node, const int64_t **known)
{
    if (node->op == TC_OP_const && ti_type_of(g, node->out[0])->dtype == TC_shape)
        known[node->out[0]] = g->val[node->out[0]]->data;
    else if (makes_shape(g, node))
        known[node->out[0]] = evaluate(arena, g, node, known);
}

const int64_t **ti_known_shapes(tc_arena *arena, const tc_graph *g)
{
    const int64_t **known = tc_new_n(arena, const int64_t *, g->n_val);
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->n_out)
            learn(arena, g, g->node[i], known);
    return known;
}

/* ---- open sizes ------------------------------------------------------------------------------ */

static tc_status settle_graph(tc_graph *g, int depth);

/* The declared type with its open dimensions filled in; other ones have to agree. */
static tc_status settle_value(tc_graph *g, const tc_node *node, tc_val val, const tc_type *found)
{
    tc_value *value = g->val[val];
    tc_ctx *ctx = g->module->ctx;
    bool same = value->type->rank == found->rank && value->type->dtype == found->dtype;
    for (int i = 0; same && i < found->rank; i++)
        same = value->type->dim[i] == TC_OPEN || value->type->dim[i] == found->dim[i];
    if (!same || ti_type_open(found) || ti_dims_count(found->rank, found->dim) < 0)
        return ti_error(ctx, node->loc, TC_E_MISMATCH, "a result of '%s' is declared %s, and is %s",
                        tc_ops[node->op].name, ti_type_text(&ctx->arena, value->type),
                        ti_type_text(&ctx->arena, found));
    value->type = ti_type_intern(ctx, found);
    return TC_OK;
}

/* A branch or loop: the graphs that it runs have its operands' types. */
static tc_status settle_calls(tc_graph *g, const tc_node *node, int depth)
{
    enum { DEEPEST = 64 };
    int first = node->op == TC_OP_tosa_cond_if; /* past the condition */
    if (depth == DEEPEST)
        return ti_error(g->module->ctx, node->loc, TC_E_STRUCTURE, "graphs are nested %d deep",
                        DEEPEST);
    for (int which = 0; which < ti_node_calls(node); which++) {
        tc_graph *sub = ti_node_callee(g->module, node, which);
        if (!sub || sub->n_in != (size_t)(node->n_in - first))
            return ti_error(g->module->ctx, node->loc, TC_E_STRUCTURE,
                            "a graph of '%s' is missing or has other inputs",
                            tc_ops[node->op].name);
        for (size_t i = 0; i < sub->n_in; i++)
            TC_TRY(settle_value(sub, node, sub->in[i], ti_type_of(g, node->in[(int)i + first])));
        TC_TRY(settle_graph(sub, depth + 1));
        bool gives = which + 1 == ti_node_calls(node); /* the body, or a branch */
        for (int i = 0; gives && i < node->n_out && (size_t)i < sub->n_out; i++)
            TC_TRY(settle_value(g, node, node->out[i], ti_type_of(sub, sub->out[i])));
    }
    return TC_OK;
}

static tc_status settle_node(tc_graph *g, const tc_node *node, const int64_t **known)
{
    tc_ctx *ctx = g->module->ctx;
    tc_tensor *in = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_in);
    tc_type *out = tc_new_n(&ctx->scratch, tc_type, (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = operand(g, known, node->in[i]);
        if (!in[i].type)
            return ti_error(ctx, node->loc, TC_E_STRUCTURE, "operand %d of '%s' is left out", i,
                            tc_ops[node->op].name);
    }
    for (int i = 0; i < node->n_out; i++)
        out[i] = *ti_type_of(g, node->out[i]);
    const tc_op_info *info = &tc_ops[node->op];
    if (node->n_in < info->min_in || (info->max_in != TC_ANY && node->n_in > info->max_in) ||
        (info->n_out != TC_ANY && node->n_out != info->n_out) ||
        (info->attr != TC_ATTR_none && !node->attr) || !info->shape)
        return ti_error(ctx, node->loc, TC_E_STRUCTURE, "'%s' has other operands or results",
                        info->name);
    tc_infer call = {ctx, node->loc, info->name, node->attr, node->n_in, node->n_out, in, out};
    TC_TRY(info->shape(&call));
    for (int i = 0; i < node->n_out; i++)
        TC_TRY(settle_value(g, node, node->out[i], &out[i]));
    return TC_OK;
}

static tc_status settle_graph(tc_graph *g, int depth)
{
    tc_ctx *ctx = g->module->ctx;
    const int64_t **known = tc_new_n(&ctx->arena, const int64_t *, g->n_val);
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_node *node = g->node[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_status status = TC_OK;
        if (ti_node_calls(node))
            status = settle_calls(g, node, depth);
        else if (node->op != TC_OP_const)
            status = settle_node(g, node, known);
        ti_arena_rewind(&ctx->scratch, mark);
        TC_TRY(status);
        if (node->n_out)
            learn(&ctx->arena, g, node, known);
    }
    return TC_OK;
}

tc_status ti_settle(tc_module *module)
{
    return settle_graph(ti_main(module), 0);
}

static bool operands_open(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (ti_type_open(ti_type_of(g, node->in[i])))
            return true;
    for (int i = 0; i < node->n_out; i++)
        if (ti_type_open(ti_type_of(g, node->out[i])))
            return true;
    return false;
}

tc_status ti_check_shapes(tc_graph *g)
{
    tc_ctx *ctx = g->module->ctx;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const int64_t **known = NULL;
    tc_status worst = TC_OK;
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_node *node = g->node[i];
        bool asserts = node->op == TC_OP_tosa_assert_equal_shape;
        if ((!asserts && !ti_node_late(g, node)) || operands_open(g, node))
            continue;
        known = known ? known : ti_known_shapes(&ctx->scratch, g);
        tc_status status = settle_node(g, node, known);
        worst = status ? status : worst;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return worst;
}
