/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c -- building graphs. */
#include "graph.h"

#include "../num/load.h"

tc_module *ti_module_new(tc_ctx *ctx, const char *file)
{
    tc_module *module = tc_new(&ctx->arena, tc_module);
    module->ctx = ctx;
    module->file = ti_intern_text(ctx, file);
    return module;
}

tc_graph ti_graph_empty(tc_module *module, const char *name)
{
    tc_graph g = {.module = module, .name = ti_intern_text(module->ctx, name)};
    tc_grow(&module->ctx->arena, g.val, g.n_val, g.cap_val);
    g.val[g.n_val++] = NULL; /* id 0 is none */
    return g;
}

tc_graph *ti_graph_new(tc_module *module, const char *name)
{
    tc_arena *arena = &module->ctx->arena;
    tc_graph *g = tc_new(arena, tc_graph);
    *g = ti_graph_empty(module, name);
    tc_grow(arena, module->graph, module->n_graph, module->cap_graph);
    return module->graph[module->n_graph++] = g;
}

/* Its own lists, without spare capacity: appending to one graph's list leaves the other's
 * unchanged. */
static tc_graph *graph_copy(const tc_graph *g, tc_module *module)
{
    tc_arena *arena = &module->ctx->arena;
    tc_graph *copy = ti_arena_copy(arena, g, sizeof *g);
    copy->module = module;
    copy->node = ti_arena_copy(arena, g->node, g->n_node * sizeof *g->node);
    copy->val = ti_arena_copy(arena, g->val, g->n_val * sizeof *g->val);
    copy->in = ti_arena_copy(arena, g->in, g->n_in * sizeof *g->in);
    copy->out = ti_arena_copy(arena, g->out, g->n_out * sizeof *g->out);
    copy->mutation = ti_arena_copy(arena, g->mutation, g->n_mutation * sizeof *g->mutation);
    copy->cap_node = g->n_node;
    copy->cap_val = g->n_val;
    copy->cap_in = g->n_in;
    copy->cap_out = g->n_out;
    copy->cap_mutation = g->n_mutation;
    return copy;
}

tc_module *ti_module_copy(const tc_module *module)
{
    tc_arena *arena = &module->ctx->arena;
    tc_module *copy = ti_arena_copy(arena, module, sizeof *module);
    copy->graph = tc_new_n(arena, tc_graph *, module->n_graph);
    copy->cap_graph = module->n_graph;
    for (size_t i = 0; i < module->n_graph; i++)
        copy->graph[i] = graph_copy(module->graph[i], copy);
    copy->signature.in =
        ti_arena_copy(arena, module->signature.in, module->signature.n_in * sizeof *module->signature.in);
    copy->signature.out =
        ti_arena_copy(arena, module->signature.out, module->signature.n_out * sizeof *module->signature.out);
    copy->state = NULL;
    return copy;
}

tc_graph *ti_module_find(const tc_module *module, const char *name)
{
    for (size_t i = 0; i < module->n_graph; i++)
        if (ti_text_eq(module->graph[i]->name, name))
            return module->graph[i];
    return NULL;
}

static tc_val new_value(tc_graph *g, const tc_type *type, const char *name, tc_node *def, int index)
{
    tc_arena *arena = &g->module->ctx->arena;
    tc_value *value = tc_new(arena, tc_value);
    *value = (tc_value){.type = type, .name = name, .def = def, .index = index};
    tc_grow(arena, g->val, g->n_val, g->cap_val);
    g->val[g->n_val] = value;
    return (tc_val)g->n_val++;
}

tc_val ti_graph_input(tc_graph *g, const tc_type *type, const char *name)
{
    tc_ctx *ctx = g->module->ctx;
    tc_val val = new_value(g, type, ti_intern_text(ctx, name), NULL, (int)g->n_in);
    tc_grow(&ctx->arena, g->in, g->n_in, g->cap_in);
    return g->in[g->n_in++] = val;
}

void ti_graph_read_instead(tc_graph *g, tc_val old, tc_val now)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == old)
                g->node[k]->in[i] = now;
    for (size_t i = 0; i < g->n_out; i++)
        if (g->out[i] == old)
            g->out[i] = now;
}

void ti_graph_to_front(tc_graph *g, size_t n)
{
    tc_arena *scratch = &g->module->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    tc_node **moved = tc_new_n(scratch, tc_node *, n);
    memcpy(moved, g->node + g->n_node - n, n * sizeof *moved);
    memmove(g->node + n, g->node, (g->n_node - n) * sizeof *moved);
    memcpy(g->node, moved, n * sizeof *moved);
    ti_arena_rewind(scratch, mark);
}

bool ti_graph_gives(const tc_graph *g, tc_val val)
{
    for (size_t i = 0; i < g->n_out; i++)
        if (g->out[i] == val)
            return true;
    return false;
}

bool ti_graph_takes(const tc_graph *g, tc_val val)
{
    for (size_t i = 0; i < g->n_in; i++)
        if (g->in[i] == val)
            return true;
    return false;
}

bool ti_graph_keeps(const tc_graph *g, tc_val val)
{
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].before == val)
            return true;
    return false;
}

size_t ti_graph_bytes(const tc_graph *g, const tc_val *v, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += tc_type_bytes(ti_type_of(g, v[i]));
    return bytes;
}

void ti_graph_output(tc_graph *g, tc_val val)
{
    tc_grow(&g->module->ctx->arena, g->out, g->n_out, g->cap_out);
    g->out[g->n_out++] = val;
}

tc_node *ti_graph_add(tc_graph *g, tc_op op, const void *attr, const tc_val *in, int n_in,
                      int n_out, const tc_loc *loc)
{
    static const tc_loc nowhere;
    tc_arena *arena = &g->module->ctx->arena;
    tc_node *node = tc_new(arena, tc_node);
    *node = (tc_node){
        .op = op, .n_in = n_in, .n_out = n_out, .attr = attr, .loc = loc ? loc : &nowhere};
    node->in = ti_arena_copy(arena, in, (size_t)n_in * sizeof *in);
    node->out = tc_new_n(arena, tc_val, (size_t)n_out);
    for (int i = 0; i < n_out; i++)
        node->out[i] = new_value(g, NULL, NULL, node, i);
    tc_grow(arena, g->node, g->n_node, g->cap_node);
    return g->node[g->n_node++] = node;
}

tc_val ti_graph_const(tc_graph *g, const tc_type *type, const void *data, const char *name,
                      const tc_loc *loc)
{
    static const char empty[1];
    tc_node *node = ti_graph_add(g, TC_OP_const, NULL, NULL, 0, 1, loc);
    tc_value *value = g->val[node->out[0]];
    value->type = type;
    value->data = data ? data : empty; /* a constant always has data, even of 0 bytes */
    value->name = ti_intern_text(g->module->ctx, name);
    return node->out[0];
}

tc_val ti_graph_scalar(tc_graph *g, tc_dtype dtype, double value, const tc_loc *loc)
{
    tc_ctx *ctx = g->module->ctx;
    tc_tensor one = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 0, NULL));
    ti_store_f64(one, 0, value);
    return ti_graph_const(g, one.type, one.data, NULL, loc);
}

void ti_graph_mutate(tc_graph *g, tc_val before, tc_val after)
{
    tc_grow(&g->module->ctx->arena, g->mutation, g->n_mutation, g->cap_mutation);
    g->mutation[g->n_mutation++] = (tc_mutation){before, after};
    if (before && g->val[before])
        g->val[before]->state = true;
}

tc_tensor ti_tensor_of(const tc_graph *g, tc_val v)
{
    if (!v)
        return (tc_tensor){NULL, NULL};
    if (g->val[v]->state) /* its contents are known at run time only */
        return (tc_tensor){g->val[v]->type, NULL};
    /* Kernels never write to their operands. */
    return (tc_tensor){g->val[v]->type, (void *)(uintptr_t)g->val[v]->data};
}

tc_status ti_graph_emit(tc_graph *g, tc_op op, const void *attr, const tc_val *in, int n_in,
                        int n_out, const tc_loc *loc, tc_node **node)
{
    tc_node *added = ti_graph_add(g, op, attr, in, n_in, n_out, loc);
    if (node)
        *node = added;
    return ti_node_infer(g, added);
}

bool ti_module_has_state(const tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++) {
        const tc_graph *g = module->graph[i];
        if (g->n_mutation)
            return true;
        for (size_t k = 0; k < g->n_node; k++)
            if (g->node[k]->op == TC_OP_tosa_variable)
                return true;
    }
    return false;
}

int ti_node_calls(const tc_node *node)
{
    bool control = (tc_ops[node->op].traits & T_CONTROL) && node->attr;
    const tc_attr_tflite_op *kept = node->attr;
    if (control && node->op == TC_OP_tflite_op)
        return *kept->graph ? 1 : 0;
    return !control ? 0 : node->op == TC_OP_call || node->op == TC_OP_call_times ? 1 : 2;
}

tc_graph *ti_node_callee(const tc_module *module, const tc_node *node, int which)
{
    assert(which < ti_node_calls(node));
    const tc_field *field = &tc_attrs[tc_ops[node->op].attr].field[which];
    const char *name = *(const char *const *)((const char *)node->attr + field->at);
    return name ? ti_module_find(module, name) : NULL;
}

const tc_node *ti_reader_of_data(const tc_graph *g, const void *data, tc_op op, bool other)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in && (node->op == op) != other; i++)
            if (ti_is_const(g, node->in[i]) && g->val[node->in[i]]->data == data)
                return node;
    }
    return NULL;
}

bool ti_is_tied(const tc_graph *g, tc_val v)
{
    enum { WORTH = 1 << 16 }; /* numbers; a smaller table is not worth a product */
    const void *data = ti_is_const(g, v) ? g->val[v]->data : NULL;
    return data && tc_type_count(ti_type_of(g, v)) >= WORTH &&
           ti_reader_of_data(g, data, TC_OP_embedding, false) &&
           ti_reader_of_data(g, data, TC_OP_linear, false);
}
