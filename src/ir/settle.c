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

/* An operand, with its values where they are known. */
static tc_tensor operand(const tc_graph *g, const int64_t **known, tc_val val)
{
    tc_tensor t = ti_tensor_of(g, val);
    if (val && !t.data)
        t.data = (void *)(uintptr_t)known[val];
    return t;
}

/* An operator on shapes, with its operands. */
static bool makes_shape(const tc_graph *g, const tc_node *node)
{
    const tc_op_info *info = &tc_ops[node->op];
    return node->op >= TC_OP_tosa_dim && node->op < TC_OP_tosa_assert_equal_shape &&
           node->n_out == 1 && node->n_in >= info->min_in &&
           (info->max_in == TC_ANY || node->n_in <= info->max_in) &&
           (info->attr == TC_ATTR_none || node->attr) && ti_type_of(g, node->out[0]);
}

/* Whether operands and declared result are valid; no message. */
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

/* The kernel's result, or NULL where an operand is unknown or the result is undefined. */
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

/* Stores the node's result in known[] if it is a shape. */
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

/* The declared type with its open dimensions filled in; the others have to agree. */
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

/* A branch or loop: the graphs that it runs take its operands' types. */
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

/* The node's result types, into out[]. */
static tc_status types_of(const tc_graph *g, const tc_node *node, const int64_t **known,
                          tc_type *out)
{
    tc_ctx *ctx = g->module->ctx;
    tc_tensor *in = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_in);
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
    return info->shape(&call);
}

static tc_status settle_node(tc_graph *g, const tc_node *node, const int64_t **known)
{
    tc_type *out = tc_new_n(&g->module->ctx->scratch, tc_type, (size_t)node->n_out);
    TC_TRY(types_of(g, node, known, out));
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

/* ---- unknown ranks --------------------------------------------------------------------------- */

static tc_status no_rank(const tc_graph *g, tc_val val, const char *why)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_value *value = g->val[val];
    const tc_loc *loc = value->def ? value->def->loc : &(tc_loc){.file = g->module->file};
    tc_status status = ti_error(ctx, loc, TC_E_DYNAMIC, "tensor '%s' has no rank, and %s",
                                value->name ? value->name : "", why);
    ti_note(ctx, NULL, "declare its shape in the file; a dimension that is open is -1");
    return status;
}

/* Of operands with open sizes: an operator of one operand keeps the shape, one of several the rank,
 * RESHAPE has as many axes as its shape has values. */
static bool open_type(const tc_graph *g, const tc_node *node, const int64_t **known, tc_type *out)
{
    const tc_type *x = node->n_in ? ti_type_of(g, node->in[0]) : NULL;
    bool reshapes = node->op == TC_OP_tosa_reshape && node->n_in == 2;
    if (!x || node->n_out != 1 ||
        (!reshapes && !(tc_ops[node->op].traits & (T_ELTWISE | T_KEEPS))) ||
        (!reshapes && !(tc_ops[node->op].traits & T_ELTWISE) && node->n_in > 1))
        return false;
    const int64_t *to = reshapes ? known[node->in[1]] : NULL;
    int64_t rank = reshapes ? ti_type_of(g, node->in[1])->dim[0] : x->rank;
    if (rank < 0 || rank > TC_MAX_RANK)
        return false;
    out->rank = (int32_t)rank;
    for (int i = 0; i < out->rank; i++)
        out->dim[i] = to ? to[i] : reshapes || node->n_in > 1 ? TC_OPEN : x->dim[i];
    return true;
}

/* Operands of open sizes, and shapes or counts of rows that are not known. */
static bool is_undecided(const tc_graph *g, const tc_node *node, const int64_t **known)
{
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *t = ti_type_of(g, node->in[i]);
        if (t && (ti_type_open(t) || (t->dtype == TC_shape && !known[node->in[i]])))
            return true;
    }
    return node->op == TC_OP_tosa_row_gather && node->n_in == 3 && !ti_is_const(g, node->in[2]);
}

/* The node's results that lack one get a rank; `lacks`: by value. */
static tc_status rank_results(tc_graph *g, const tc_node *node, const int64_t **known,
                              const bool *lacks)
{
    tc_ctx *ctx = g->module->ctx;
    tc_type *out = tc_new_n(&ctx->scratch, tc_type, (size_t)node->n_out);
    tc_val first = TC_NONE;
    for (int i = node->n_out; i-- > 0;) {
        out[i] = *ti_type_of(g, node->out[i]);
        first = lacks[node->out[i]] ? node->out[i] : first;
    }
    if (!first)
        return TC_OK;
    if (ti_node_calls(node) || tc_ops[node->op].shape == tc_ops[TC_OP_tosa_custom].shape)
        return no_rank(g, first, "its operator does not decide it");
    if (!is_undecided(g, node, known))
        TC_TRY(types_of(g, node, known, out));
    else if (!open_type(g, node, known, out))
        return no_rank(g, first, "sizes that are open decide it");
    for (int i = 0; i < node->n_out; i++) {
        tc_value *value = g->val[node->out[i]];
        if (!lacks[node->out[i]])
            continue;
        if (out[i].dtype != value->type->dtype)
            return ti_error(ctx, node->loc, TC_E_MISMATCH,
                            "a result of '%s' is declared as %s without a rank, and is %s",
                            tc_ops[node->op].name, tc_dtypes[value->type->dtype].name,
                            ti_type_text(&ctx->arena, &out[i]));
        value->type = ti_type_intern(ctx, &out[i]);
    }
    return TC_OK;
}

tc_status ti_settle_ranks(tc_graph *g, const tc_val *val, size_t n)
{
    tc_ctx *ctx = g->module->ctx;
    tc_status status = TC_OK;
    if (!n)
        return TC_OK;
    bool *lacks = tc_new_n(&ctx->arena, bool, g->n_val);
    for (size_t i = 0; i < n; i++)
        lacks[val[i]] = true;
    for (size_t i = 0; i < n; i++)
        if (!g->val[val[i]]->def)
            return no_rank(g, val[i], "it is an input, which nothing decides");
    const int64_t **known = tc_new_n(&ctx->arena, const int64_t *, g->n_val);
    for (size_t i = 0; i < g->n_node && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        status = rank_results(g, g->node[i], known, lacks);
        ti_arena_rewind(&ctx->scratch, mark);
        if (status == TC_OK && g->node[i]->n_out)
            learn(&ctx->arena, g, g->node[i], known);
    }
    return status;
}
